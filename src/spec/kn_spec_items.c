/* kn_spec_items.c: a column of sets (role: set) and the promise about it, k-mn: what they need, and what they cannot be combined with.
 *
 * The promise is about the rows that somebody finds who knows all quasi-identifiers of a person and up to m items. So each row must be a
 * person of its own, k must be promised of the quasi-identifiers too, and what counts otherwise is refused.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_error.h"
#include "kn_spec.h"

const kn_attribute *kn_spec_items_column(const kn_spec *spec)
{
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].has_role && spec->attributes[i].role == KN_ROLE_SET) return &spec->attributes[i];
    return NULL;
}

/* Why the rest of the request does not go with a set; NULL: it does. */
static const char *unfit(const kn_spec *spec)
{
    if (spec->entity_count > 0)
        return "each row must be a person of its own, and entity says that persons have several; leave one of them out";
    if (spec->csv.count)
        return "rows that are counted (role: count) are equal, and sets tell them apart; leave one of them out";
    if (spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE)
        return "suppressed: keep-sensitive makes a class of rows that show no sets; use star or drop";
    if (spec->keep_recipe) return "a recipe does not hold how sets were generalized; leave keep-recipe out";
    if (spec->dependency_count > 0) return "dependencies are not judged beside sets; leave them out";
    return NULL;
}

static const char *unfit_column(const kn_attribute *a, const kn_attribute *set)
{
    if (a->role == KN_ROLE_SET && a != set) return "it is a second set; a table has one";
    if (a->role == KN_ROLE_SET && a->type != KN_TYPE_AUTO && a->type != KN_TYPE_TEXT)
        return "items of a set are texts; leave the type out";
    if (a->role == KN_ROLE_SET && a->has_hierarchy && a->hierarchy.population)
        return "only the hierarchy of a quasi-identifier carries a population; leave it out";
    if (a->pseudonym_key_file)
        return "a pseudonym may link several rows, and beside a set each row must be a person of its own; leave it out";
    return NULL;
}

static kn_status check_kmn(const kn_spec_inner *inner, const kn_attribute *set, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    kn_place       place = inner->state.places[KN_FIELD_PRIVACY];
    int64_t        k = 0;
    if (spec->kmn.k == 0)
        return kn_spec_fail_place(inner, (kn_place){set->line, set->column}, err,
                                  "column \"%s\" is a set, of which k-mn must be promised (privacy: [{k: 5}, {k-mn: "
                                  "{k: 5, m: 2, n: 0}}])",
                                  set->name);
    if (spec->kmn.n > 0)
        return kn_spec_fail_place(inner, place, err,
                                  "k-mn: between the items of a set there are no relations; write n: 0");
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        if (m->kind != KN_MODEL_K)
            return kn_spec_fail_place(inner, inner->state.model_places[i], err,
                                      "%s: beside a set (column \"%s\") only k and k-mn can be promised",
                                      kn_model_name(m->kind), set->name);
        if (m->k > k) k = m->k;
    }
    if (k >= spec->kmn.k) return KN_OK;
    return kn_spec_fail_place(inner, place, err,
                              "k-mn: who knows items may know all quasi-identifiers, too: promise of these a k of at "
                              "least %lld",
                              (long long)spec->kmn.k);
}

kn_status kn_spec_check_items(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec      *spec = &inner->state.spec;
    const kn_attribute *set = kn_spec_items_column(spec);
    kn_shape            shape = kn_spec_shape(spec);
    if (!set && spec->kmn.k > 0 && shape != KN_SHAPE_RECORDS)
        return kn_spec_fail_place(inner, inner->state.places[KN_FIELD_PRIVACY], err,
                                  "k-mn (--kmn): it is a promise about records that are trees, or about sets in a "
                                  "column (role: set); of %s without one promise k",
                                  shape == KN_SHAPE_TABLE ? "a table" : "a database");
    if (!set) return KN_OK;
    const char *why = unfit(spec);
    if (why)
        return kn_spec_fail_place(inner, (kn_place){set->line, set->column}, err, "column \"%s\" is a set: %s",
                                  set->name, why);
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        why = unfit_column(a, set);
        if (why)
            return kn_spec_fail_place(inner, (kn_place){a->line, a->column}, err, "column \"%s\": %s", a->name, why);
    }
    return check_kmn(inner, set, err);
}
