/* kn_request_json.c: parts of a request as JSON (kn_request_json.h). Numbers have 15 digits, so that 0.05 stays 0.05; what JSON
 * cannot write (infinity, not a number) is null.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_request_json.h"

#include <math.h>

#include "kn_error.h"

/* ---- Members; a failure shows as a NULL that the last call reports ---- */

void kn_json_set(json_t *object, const char *key, json_t *value, bool *ok)
{
    if (!object || !value || json_object_set_new(object, key, value) != 0) *ok = false;
}

void kn_json_append(json_t *array, json_t *value, bool *ok)
{
    if (!array || !value || json_array_append_new(array, value) != 0) *ok = false;
}

json_t *kn_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Names come from a UTF-8 file; a name that is no UTF-8 was set through the API and is shown as far as it can be. */
json_t *kn_json_text(const char *value)
{
    json_t *t = json_string(value);
    return t ? t : json_string("?");
}

json_t *kn_json_ratio(kn_ratio r)
{
    if (r.denominator == 1 && r.numerator <= INT64_MAX) return json_integer((json_int_t)r.numerator);
    return kn_json_number((double)r.numerator / (double)r.denominator);
}

/* ---- Models ---- */

static const char *bound_name(kn_model_kind kind)
{
    static const char *const names[KN_MODEL_KINDS] = {
        [KN_MODEL_T_EQUAL] = "t",         [KN_MODEL_T_ORDERED] = "t",     [KN_MODEL_T_HIERARCHICAL] = "t",
        [KN_MODEL_ALPHA_K] = "alpha",     [KN_MODEL_BETA_BASIC] = "beta", [KN_MODEL_BETA_ENHANCED] = "beta",
        [KN_MODEL_DELTA] = "delta",       [KN_MODEL_PRESENCE] = "max",    [KN_MODEL_MAX_RISK] = "risk",
        [KN_MODEL_AVERAGE_RISK] = "risk",
    };
    return names[kind];
}

json_t *kn_json_model(const kn_model *m, bool *ok)
{
    json_t     *o = json_object();
    const char *variant = kn_model_variant(m->kind), *bound = bound_name(m->kind);
    bool closeness = m->kind == KN_MODEL_T_EQUAL || m->kind == KN_MODEL_T_ORDERED || m->kind == KN_MODEL_T_HIERARCHICAL;
    kn_json_set(o, "model", kn_json_text(kn_model_name(m->kind)), ok);
    if (variant) kn_json_set(o, closeness ? "distance" : "kind", kn_json_text(variant), ok);
    if (m->attribute) kn_json_set(o, "attribute", kn_json_text(m->attribute), ok);
    if (m->kind == KN_MODEL_K || m->kind == KN_MODEL_ALPHA_K || m->kind == KN_MODEL_K_MAP)
        kn_json_set(o, "k", json_integer(m->k), ok);
    if (m->kind == KN_MODEL_DISTINCT || m->kind == KN_MODEL_ENTROPY || m->kind == KN_MODEL_RECURSIVE)
        kn_json_set(o, "l", kn_json_ratio(m->l), ok);
    if (m->kind == KN_MODEL_RECURSIVE) kn_json_set(o, "c", kn_json_ratio(m->c), ok);
    if (m->kind == KN_MODEL_PRESENCE) kn_json_set(o, "min", kn_json_ratio(m->low), ok);
    if (bound) kn_json_set(o, bound, kn_json_ratio(m->bound), ok);
    return o;
}

/* ---- Hierarchies ---- */

static json_t *texts(const char *const *list, int count, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < count; i++) kn_json_append(a, kn_json_text(list[i]), ok);
    return a;
}

static json_t *breaks(const kn_hierarchy_spec *h, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < h->break_count; i++) kn_json_append(a, texts(h->breaks[i].points, h->breaks[i].count, ok), ok);
    return a;
}

static json_t *steps(unsigned calendar, bool *ok)
{
    static const char *const names[] = {"day", "month", "quarter", "year", "decade"};
    json_t                  *a = json_array();
    for (unsigned i = 0; i < 5; i++)
        if (calendar == 0 ? i > 0 : calendar >> i & 1) kn_json_append(a, kn_json_text(names[i]), ok);
    return a;
}

json_t *kn_json_hierarchy(const kn_hierarchy_spec *h, bool *ok)
{
    json_t *o = json_object();
    char    delimiter[2] = {h->delimiter, '\0'};
    switch (h->kind) {
    case KN_HIERARCHY_MASK:
        kn_json_set(o, "mask", kn_json_text(h->mask_left ? "left" : "right"), ok);
        kn_json_set(o, "step", json_integer(h->mask_step > 0 ? h->mask_step : 1), ok);
        kn_json_set(o, "character", kn_json_text(h->mask ? h->mask : "*"), ok);
        kn_json_set(o, "pad", json_boolean(h->mask_pad), ok);
        break;
    case KN_HIERARCHY_RANGES:
        kn_json_set(o, "ranges", texts(h->widths, h->width_count, ok), ok);
        kn_json_set(o, "origin", kn_json_text(h->origin ? h->origin : "0"), ok);
        break;
    case KN_HIERARCHY_BREAKS: kn_json_set(o, "breaks", breaks(h, ok), ok); break;
    case KN_HIERARCHY_CALENDAR: kn_json_set(o, "calendar", steps(h->calendar, ok), ok); break;
    case KN_HIERARCHY_PREFIX: kn_json_set(o, "prefix", kn_json_text(h->separator), ok); break;
    case KN_HIERARCHY_SUPPRESS: kn_json_set(o, "suppress", json_true(), ok); break;
    case KN_HIERARCHY_FILE:
        kn_json_set(o, "file", json_true(), ok);
        if (h->delimiter) kn_json_set(o, "delimiter", kn_json_text(delimiter), ok);
        break;
    case KN_HIERARCHY_TAXONOMY: kn_json_set(o, "taxonomy", json_true(), ok); break;
    }
    return o;
}

/* ---- The request ---- */

int64_t kn_request_k(const kn_spec *spec)
{
    int64_t k = spec->kmn.k;
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        if ((m->kind == KN_MODEL_K || m->kind == KN_MODEL_ALPHA_K) && m->k > k) k = m->k;
    }
    return k;
}

const char *kn_suppressed_name(kn_suppressed mode)
{
    static const char *const names[] = {"star", "drop", "keep-sensitive"};
    return names[mode];
}

static void set_table_request(json_t *o, const kn_spec *spec, bool *ok)
{
    json_t *quasi = json_array(), *rows = NULL;
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role == KN_ROLE_QUASI)
            kn_json_append(quasi, kn_json_text(spec->attributes[i].name), ok);
    kn_json_set(o, "quasi", quasi, ok);
    if (spec->suppression_is_count) {
        rows = json_object();
        kn_json_set(rows, "rows", json_integer(spec->suppression_rows), ok);
    }
    kn_fraction share = spec->suppression;
    kn_json_set(o, "suppression", rows ? rows : kn_json_number((double)share.numerator / (double)share.denominator),
                ok);
}

json_t *kn_json_requested(const kn_spec *spec, bool *ok)
{
    json_t  *o = json_object(), *models = json_array();
    kn_shape shape = kn_spec_shape(spec);
    for (int i = 0; i < spec->model_count; i++) kn_json_append(models, kn_json_model(&spec->models[i], ok), ok);
    if (kn_request_k(spec) > 0) kn_json_set(o, "k", json_integer(kn_request_k(spec)), ok);
    if (shape == KN_SHAPE_RECORDS) {
        kn_json_set(o, "m", json_integer(spec->kmn.m), ok);
        kn_json_set(o, "n", json_integer(spec->kmn.n), ok);
    }
    kn_json_set(o, "models", models, ok);
    if (shape == KN_SHAPE_TABLE) set_table_request(o, spec, ok);
    return o;
}

json_t *kn_json_files(const char *const *names, const char *const *digests, int count, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < count; i++) {
        json_t *o = json_object();
        kn_json_set(o, "name", kn_json_text(names[i]), ok);
        kn_json_set(o, "sha256", kn_json_text(digests[i]), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

/* ---- The text ---- */

static int add_piece(const char *piece, size_t size, void *to)
{
    kn_buffer_append(to, piece, size);
    return ((kn_buffer *)to)->failed ? -1 : 0;
}

kn_status kn_json_dump(kn_buffer *to, json_t *root, bool ok, kn_error *err)
{
    ok = ok && json_dump_callback(root, add_piece, to, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0;
    json_decref(root);
    kn_buffer_char(to, '\n');
    return ok && !to->failed ? KN_OK : kn_fail_memory(err, to->ctx, "writing the certificate");
}
