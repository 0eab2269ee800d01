/* kn_certificate_parts.c: JSON members, models and counters of certificates (kn_certificate_parts.h). */
#include "kn_certificate_parts.h"

#include <math.h>

#include "kn_error.h"

/* ---- Members; a failure shows as a NULL that the last call reports ---- */

/* Adds a member and takes `value` over. `*ok` becomes false where memory is out. */
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
    switch (kind) {
    case KN_MODEL_T_EQUAL:
    case KN_MODEL_T_ORDERED:
    case KN_MODEL_T_HIERARCHICAL: return "t";
    case KN_MODEL_ALPHA_K: return "alpha";
    case KN_MODEL_BETA_BASIC:
    case KN_MODEL_BETA_ENHANCED: return "beta";
    case KN_MODEL_DELTA: return "delta";
    case KN_MODEL_PRESENCE: return "max";
    case KN_MODEL_MAX_RISK:
    case KN_MODEL_AVERAGE_RISK: return "risk";
    case KN_MODEL_K:
    case KN_MODEL_DISTINCT:
    case KN_MODEL_ENTROPY:
    case KN_MODEL_RECURSIVE:
    case KN_MODEL_K_MAP:
    case KN_MODEL_KINDS: break;
    }
    return NULL;
}

/* The model as an object: its name, variant, attribute and parameters. */
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

json_t *kn_json_reached(const kn_release_model *models, int count, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < count; i++) {
        json_t *o = kn_json_model(&models[i].model, ok);
        kn_json_set(o, "reached", kn_json_number(models[i].reached), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

json_t *kn_json_counters(const kn_release_counter *counters, int count, bool *ok)
{
    json_t *o = json_object();
    for (int i = 0; i < count; i++) {
        double value = counters[i].value;
        bool   whole = fabs(value) < 9e15 && value == floor(value);
        kn_json_set(o, counters[i].name, whole ? json_integer((json_int_t)value) : kn_json_number(value), ok);
    }
    return o;
}

static double two_digits(double value)
{
    if (value == 0 || !isfinite(value)) return value;
    double scale = pow(10, 1 - floor(log10(fabs(value))));
    return round(value * scale) / scale;
}

json_t *kn_json_chosen(const kn_advice *advice, bool exact, bool *ok)
{
    json_t *o = json_object(), *among = json_array();
    for (int i = 0; i < advice->candidate_count; i++) {
        const kn_advice_candidate *c = &advice->candidates[i];
        if (c->state != KN_ADVICE_KEPT && c->state != KN_ADVICE_STOPPED) continue;
        json_t *one = json_object();
        kn_json_set(one, "method", kn_json_text(kn_method_name(c->method)), ok);
        kn_json_set(one, "loss", kn_json_number(exact ? c->loss : two_digits(c->loss)), ok);
        if (exact) kn_json_set(one, "suppressed", json_integer(c->suppressed), ok);
        kn_json_append(among, one, ok);
    }
    kn_json_set(o, "by", kn_json_text("auto"), ok);
    kn_json_set(o, "metric", kn_json_text(advice->metric), ok);
    kn_json_set(o, "among", among, ok);
    return o;
}

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
