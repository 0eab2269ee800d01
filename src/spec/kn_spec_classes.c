/* kn_spec_classes.c: `record:`, `classes:` and `k-mn:` of tree records.
 *
 * Classes are a mapping, or a list, in the order in which they nest; a list replaces an earlier one as a whole. It is
 * in the spec's arena and is never changed in place, so that a failed change leaves the old one as it was.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_error.h"
#include "kn_field.h"

enum { MOST_CLASSES = 1000, MOST_LABELS = 64 };

/* ---- One class ---- */

static kn_status read_value(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_class *c = target;
    KN_TRY(kn_read_text(r, value, "\"@ATTRIBUTE\", \"text\" or a key", &c->value));
    return strcmp(c->value, "@") != 0 ? KN_OK : kn_field_fail(r, value, "the name of an attribute is expected after @");
}

static kn_status check_path(kn_reader *r, const kn_yaml *value, const char *path)
{
    bool inside = false, good = path[0] != '/' && path[strlen(path) - 1] != '/';
    for (const char *at = path; *at; at++) { /* a condition of resources, in brackets, may hold slashes */
        if (*at == '[' || *at == ']') inside = *at == '[';
        good = good && (inside || strncmp(at, "//", 2) != 0);
    }
    return good ? KN_OK : kn_field_fail(r, value, "a path is names with one / between them");
}

static kn_status read_path(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_class *c = target;
    KN_TRY(kn_read_text(r, value, "a key or a path of them", &c->path));
    return check_path(r, value, c->path);
}

static kn_status read_broader(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_class *c = target;
    KN_TRY(kn_read_text(r, value, "a path of keys", &c->broader));
    return check_path(r, value, c->broader);
}

static kn_status read_class_hierarchy(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_class *c = target;
    c->has_hierarchy = true;
    KN_TRY(kn_read_hierarchy(r, value, &c->hierarchy));
    if (c->hierarchy.population)
        return kn_field_fail(r, value, "the population of a hierarchy is for one table; leave it out");
    c->hierarchy.decimal = r->inner->state.spec.csv.decimal;
    return KN_OK;
}

static kn_status read_class_role(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_either(r, value, "quasi", "sensitive", "a role of a class", target);
}

static kn_status read_class_weight(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_class *c = target;
    KN_TRY(kn_read_ratio(r, value, &c->weight));
    return c->weight.numerator > 0 ? KN_OK : kn_field_fail(r, value, "a weight is greater than 0");
}

/* true: a value may be known to be absent; relations: it may be known not to stand below another. */
static kn_status read_negative(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_class *c = target;
    c->negative_relations = value->kind == KN_YAML_TEXT && strcmp(value->text, "relations") == 0;
    c->negative = false;
    if (c->negative_relations || kn_read_bool(r, value, &c->negative) == KN_OK) return KN_OK;
    return kn_field_fail(r, value, "none of true, false and relations");
}

static kn_status read_class(kn_reader *r, const kn_yaml *key, const kn_yaml *value, kn_spec_class *c)
{
    static const kn_key keys[] = {{"value", read_value, 0},
                                  {"path", read_path, 0},
                                  {"broader", read_broader, 0},
                                  {"hierarchy", read_class_hierarchy, 0},
                                  {"role", read_class_role, offsetof(kn_spec_class, sensitive)},
                                  {"negative", read_negative, 0},
                                  {"weight", read_class_weight, 0},
                                  KN_KEYS_END};
    kn_place            place = kn_field_place(r, key);
    if (key->size == 0) return kn_field_fail(r, key, "the name of a class is empty");
    *c = (kn_spec_class){
        .weight = {1, 1}, .hierarchy = KN_HIERARCHY_SPEC_INIT, .line = place.line, .column = place.column};
    c->name = kn_arena_strndup(&r->inner->arena, key->text, key->size);
    if (!c->name) return kn_field_memory(r);
    if (value && !kn_yaml_missing(value)) KN_TRY(kn_read_map(r, value, keys, c));
    if ((c->negative || c->negative_relations) && c->sensitive)
        return kn_field_fail(r, key,
                             "class \"%s\": nobody is assumed to know values of a sensitive class, nor that they are "
                             "absent",
                             c->name);
    if (c->sensitive && c->weight.numerator != c->weight.denominator)
        return kn_field_fail(r, key, "class \"%s\": sensitive values stay as they are; leave the weight out", c->name);
    return KN_OK;
}

/* An item of a list: a name, or a mapping of one name. */
static kn_status read_item(kn_reader *r, const kn_yaml *item, kn_spec_class *c)
{
    if (item->kind == KN_YAML_TEXT && !kn_yaml_missing(item)) return read_class(r, item, NULL, c);
    if (item->kind != KN_YAML_MAP || item->count != 1)
        return kn_field_fail(r, item, "each class is an item of its own: its name, or a mapping of it");
    return read_class(r, item->first, item->first->value, c);
}

static const char *place_of(const kn_spec_class *c)
{
    return c->path ? c->path : c->name;
}

kn_status kn_read_classes(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec *spec = target;
    if (value->kind == KN_YAML_TEXT) return kn_field_fail(r, value, "a mapping or a list of classes is expected here");
    if (value->count == 0 || value->count > MOST_CLASSES)
        return kn_field_fail(r, value, "from 1 to %d classes are expected here", MOST_CLASSES);
    kn_spec_class *list = kn_arena_alloc(&r->inner->arena, value->count * sizeof *list);
    int            count = 0;
    if (!list) return kn_field_memory(r);
    for (const kn_yaml *item = value->first; item; item = item->next) {
        if (value->kind == KN_YAML_MAP)
            KN_TRY(read_class(r, item, item->value, &list[count]));
        else
            KN_TRY(read_item(r, item, &list[count]));
        for (int i = 0; i < count; i++) {
            if (strcmp(list[i].name, list[count].name) == 0)
                return kn_field_fail(r, item, "class \"%s\" is given twice", list[i].name);
            if (strcmp(place_of(&list[i]), place_of(&list[count])) == 0)
                return kn_field_fail(r, item, "classes \"%s\" and \"%s\" have one path", list[i].name,
                                     list[count].name);
        }
        count++;
    }
    spec->classes = list;
    spec->class_count = count;
    return KN_OK;
}

kn_status kn_read_record(kn_reader *r, const kn_yaml *value, void *target)
{
    const char *record;
    KN_TRY(kn_read_text(r, value, "an element, a key or a path of them", &record));
    size_t size = strlen(record);
    if (record[size - 1] == '/' || strstr(record, "//"))
        return kn_field_fail(r, value, "a path is names with one / between them");
    ((kn_spec *)target)->record = record;
    return KN_OK;
}

/* ---- The promise ---- */

static kn_status read_m(kn_reader *r, const kn_yaml *value, void *target)
{
    int64_t m = 0;
    KN_TRY(kn_read_whole(r, value, 1, MOST_LABELS, &m));
    ((kn_kmn *)target)->m = (int)m;
    return KN_OK;
}

static kn_status read_n(kn_reader *r, const kn_yaml *value, void *target)
{
    int64_t n = 0;
    KN_TRY(kn_read_whole(r, value, 0, MOST_LABELS * (MOST_LABELS - 1) / 2, &n));
    ((kn_kmn *)target)->n = (int)n;
    return KN_OK;
}

kn_status kn_read_kmn(kn_reader *r, const kn_yaml *value)
{
    static const kn_key keys[] = {
        {"k", kn_read_positive, offsetof(kn_kmn, k)}, {"m", read_m, 0}, {"n", read_n, 0}, KN_KEYS_END};
    kn_kmn *out = &r->inner->state.spec.kmn, found = {0, 0, 0};
    if (out->k > 0) return kn_field_fail(r, value, "this model is given twice");
    KN_TRY(kn_want_map(r, value, "a mapping like {k: 3, m: 2, n: 1}"));
    KN_TRY(kn_read_map(r, value, keys, &found));
    if (found.k == 0 || found.m == 0) return kn_field_fail(r, value, "k-mn needs 'k' and 'm'");
    if (found.n > found.m * (found.m - 1) / 2)
        return kn_field_fail(r, value, "n is at most m (m - 1) / 2, here %d: there are no more relations",
                             found.m * (found.m - 1) / 2);
    *out = found;
    return KN_OK;
}

kn_status kn_spec_set_kmn(kn_spec *spec, kn_kmn kmn, kn_error *err)
{
    if (kmn.k < 1 || kmn.m < 1 || kmn.m > MOST_LABELS || kmn.n < 0)
        return kn_fail(err, KN_USAGE, "k-mn: k must be at least 1, m from 1 to %d, n at least 0", MOST_LABELS);
    if (kmn.n > kmn.m * (kmn.m - 1) / 2)
        return kn_fail(err, KN_USAGE, "k-mn: n is at most m (m - 1) / 2, here %d: there are no more relations",
                       kmn.m * (kmn.m - 1) / 2);
    kn_spec_inside(spec)->state.spec.kmn = kmn;
    return KN_OK;
}
