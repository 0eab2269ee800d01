/* kn_spec_privacy.c: `privacy:`: a list of models, each a mapping of its name to its parameters.
 *
 * Which parameters a model takes is a table; whether their values make sense is checked by kn_model_check.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_error.h"
#include "kn_field.h"

enum { MOST_MODELS = 1000 };

typedef enum parameter {
    ATTRIBUTE,
    KIND,
    DISTANCE,
    K,
    L,
    C,
    T,
    ALPHA,
    BETA,
    DELTA,
    MIN,
    MAX,
    RISK,
    PARAMETERS,
    NONE = PARAMETERS
} parameter;

static const char *const parameter_names[PARAMETERS] = {"attribute", "kind", "distance", "k",   "l",   "c",   "t",
                                                        "alpha",     "beta", "delta",    "min", "max", "risk"};

/* The models by name. `main` must be given; a model with `alone` may be written "max-risk: 0.2". */
static const struct family {
    const char *name;
    parameter   main;
    bool        alone;
    parameter   variant; /* what chooses among the kinds of that name */
    parameter   others[2];
} families[] = {
    {"k", K, true, NONE, {NONE, NONE}},
    {"l-diversity", L, false, KIND, {ATTRIBUTE, C}},
    {"t-closeness", T, false, DISTANCE, {ATTRIBUTE, NONE}},
    {"alpha-k", ALPHA, false, NONE, {ATTRIBUTE, K}},
    {"beta-likeness", BETA, false, KIND, {ATTRIBUTE, NONE}},
    {"delta-disclosure", DELTA, false, NONE, {ATTRIBUTE, NONE}},
    {"k-map", K, true, NONE, {NONE, NONE}},
    {"delta-presence", MAX, false, NONE, {MIN, NONE}},
    {"max-risk", RISK, true, NONE, {NONE, NONE}},
    {"average-risk", RISK, true, NONE, {NONE, NONE}},
};
enum { FAMILIES = sizeof families / sizeof *families };

static bool takes(const struct family *f, parameter p)
{
    return p == f->main || p == f->variant || p == f->others[0] || p == f->others[1];
}

/* The value of each parameter that is given. */
static kn_status find_parameters(kn_reader *r, const struct family *f, const kn_yaml *value,
                                 const kn_yaml *given[PARAMETERS])
{
    if (f->alone && value->kind == KN_YAML_TEXT) {
        given[f->main] = value;
        return KN_OK;
    }
    const char *names[PARAMETERS];
    parameter   meaning[PARAMETERS];
    size_t      count = 0, found = 0;
    for (int p = 0; p < PARAMETERS; p++)
        if (takes(f, (parameter)p)) {
            names[count] = parameter_names[p];
            meaning[count++] = (parameter)p;
        }
    KN_TRY(kn_want_map(r, value, "a mapping of parameters"));
    for (const kn_yaml *key = value->first; key; key = key->next) {
        KN_TRY(kn_read_key(r, key, names, count, &found));
        given[meaning[found]] = key->value;
    }
    if (given[f->main]) return KN_OK;
    return kn_field_fail(r, value, "%s needs '%s'", f->name, parameter_names[f->main]);
}

static kn_status read_variant(kn_reader *r, const struct family *f, const kn_yaml *value, kn_model_kind *out)
{
    const char   *names[KN_MODEL_KINDS];
    kn_model_kind kinds[KN_MODEL_KINDS];
    size_t        count = 0, found = 0;
    if (!value) return kn_model_parse(f->name, NULL, out) ? KN_OK : kn_fail(r->err, KN_INTERNAL, "%s", f->name);
    for (int k = 0; k < KN_MODEL_KINDS; k++) {
        const char *variant = kn_model_variant((kn_model_kind)k);
        kinds[count] = (kn_model_kind)k;
        if (variant && kn_model_parse(f->name, variant, &kinds[count]) && kinds[count] == (kn_model_kind)k)
            names[count++] = variant;
    }
    KN_TRY(kn_read_word(r, value, names, count, f->variant == KIND ? "a kind" : "a distance", &found));
    *out = kinds[found];
    return KN_OK;
}

static kn_status read_numbers(kn_reader *r, const kn_yaml *const given[PARAMETERS], kn_model *m)
{
    static const parameter bounds[] = {T, ALPHA, BETA, DELTA, MAX, RISK};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (given[bounds[i]]) KN_TRY(kn_read_ratio(r, given[bounds[i]], &m->bound));
    if (given[K]) KN_TRY(kn_read_whole(r, given[K], 1, INT64_MAX, &m->k));
    if (given[L]) KN_TRY(kn_read_ratio(r, given[L], &m->l));
    if (given[MIN]) KN_TRY(kn_read_ratio(r, given[MIN], &m->low));
    if (!given[C]) return KN_OK;
    if (m->kind != KN_MODEL_RECURSIVE) return kn_field_fail(r, given[C], "c goes with kind: recursive");
    KN_TRY(kn_read_ratio(r, given[C], &m->c));
    return m->c.numerator > 0 ? KN_OK : kn_field_fail(r, given[C], "c must be greater than 0");
}

/* Calls kn_model_check; its message gets the place of the main parameter. A column that is not named may be found
 * later. */
static kn_status check_model(kn_reader *r, const struct family *f, const kn_yaml *place, const kn_model *model)
{
    kn_error wrong = KN_ERROR_INIT;
    kn_model m = *model;
    if (!m.attribute && takes(f, ATTRIBUTE)) m.attribute = "?";
    return kn_model_check(&m, &wrong) == KN_OK ? KN_OK : kn_field_fail(r, place, "%s", wrong.message);
}

static kn_status read_model(kn_reader *r, const kn_yaml *key, kn_model *out)
{
    const char    *names[FAMILIES + 1];
    const kn_yaml *given[PARAMETERS] = {NULL};
    size_t         found = 0;
    kn_model       m = KN_MODEL_INIT;
    for (size_t i = 0; i < FAMILIES; i++) names[i] = families[i].name;
    names[FAMILIES] = "k-mn"; /* read elsewhere; listed here for "did you mean"                  */
    KN_TRY(kn_read_key(r, key, names, FAMILIES + 1, &found));
    const struct family *f = &families[found];
    KN_TRY(find_parameters(r, f, key->value, given));
    KN_TRY(read_variant(r, f, f->variant == NONE ? NULL : given[f->variant], &m.kind));
    if (given[ATTRIBUTE]) KN_TRY(kn_read_text(r, given[ATTRIBUTE], "the name of a column", &m.attribute));
    KN_TRY(read_numbers(r, given, &m));
    if (m.kind == KN_MODEL_RECURSIVE && !given[C]) return kn_field_fail(r, key->value, "kind: recursive needs 'c'");
    KN_TRY(check_model(r, f, given[f->main], &m));
    *out = m;
    return KN_OK;
}

kn_status kn_read_privacy(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec *spec = target;
    if (value->kind != KN_YAML_LIST) return kn_field_fail(r, value, "a list of models is expected here: [k: 5]");
    if (value->count > MOST_MODELS) return kn_field_fail(r, value, "more than %d models", MOST_MODELS);
    spec->model_count = 0;
    spec->kmn = (kn_kmn){0, 0, 0};
    for (const kn_yaml *item = value->first; item; item = item->next) {
        kn_model m;
        KN_TRY(kn_want_map(r, item, "a model"));
        if (item->count != 1)
            return kn_field_fail(r, item, "each model is an item of its own: a mapping of its name to its parameters");
        if (strcmp(item->first->text, "k-mn") == 0) {
            KN_TRY(kn_read_kmn(r, item->first->value));
            continue;
        }
        KN_TRY(read_model(r, item->first, &m));
        if (!kn_spec_add_model(r->inner, &m, kn_field_place(r, item))) return kn_field_memory(r);
    }
    kn_spec_join_models(r->inner);
    return KN_OK;
}
