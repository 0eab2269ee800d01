/* kn_certificate.c: the texts that stand beside a release. See kn_certificate.h for what each may hold.
 *
 * Keys keep their order; numbers have 15 digits, so that 0.05 stays 0.05; what JSON cannot write (infinity, not a number)
 * is null. Cost: negligible; the row map is made in parallel, some 8 bytes per row.
 */
#include "kn_certificate.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"

/* ---- Members; a failure shows as a NULL that the last call reports ---- */

/* Adds a member and takes `value` over. `*ok` becomes false where memory is out. */
static void set(json_t *object, const char *key, json_t *value, bool *ok)
{
    if (!object || !value || json_object_set_new(object, key, value) != 0) *ok = false;
}

static void append(json_t *array, json_t *value, bool *ok)
{
    if (!array || !value || json_array_append_new(array, value) != 0) *ok = false;
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Names come from a UTF-8 file; a name that is no UTF-8 was set through the API and is shown as far as it can be. */
static json_t *text(const char *value)
{
    json_t *t = json_string(value);
    return t ? t : json_string("?");
}

static json_t *ratio(kn_ratio r)
{
    if (r.denominator == 1 && r.numerator <= INT64_MAX) return json_integer((json_int_t)r.numerator);
    return number((double)r.numerator / (double)r.denominator);
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
static json_t *model_object(const kn_model *m, bool *ok)
{
    json_t     *o = json_object();
    const char *variant = kn_model_variant(m->kind), *bound = bound_name(m->kind);
    bool closeness = m->kind == KN_MODEL_T_EQUAL || m->kind == KN_MODEL_T_ORDERED || m->kind == KN_MODEL_T_HIERARCHICAL;
    set(o, "model", text(kn_model_name(m->kind)), ok);
    if (variant) set(o, closeness ? "distance" : "kind", text(variant), ok);
    if (m->attribute) set(o, "attribute", text(m->attribute), ok);
    if (m->kind == KN_MODEL_K || m->kind == KN_MODEL_ALPHA_K || m->kind == KN_MODEL_K_MAP)
        set(o, "k", json_integer(m->k), ok);
    if (m->kind == KN_MODEL_DISTINCT || m->kind == KN_MODEL_ENTROPY || m->kind == KN_MODEL_RECURSIVE)
        set(o, "l", ratio(m->l), ok);
    if (m->kind == KN_MODEL_RECURSIVE) set(o, "c", ratio(m->c), ok);
    if (m->kind == KN_MODEL_PRESENCE) set(o, "min", ratio(m->low), ok);
    if (bound) set(o, bound, ratio(m->bound), ok);
    return o;
}

static json_t *requested_object(const kn_spec *spec, bool *ok)
{
    json_t *o = json_object(), *models = json_array();
    for (int i = 0; i < spec->model_count; i++) {
        if (spec->models[i].kind == KN_MODEL_K) set(o, "k", json_integer(spec->models[i].k), ok);
        append(models, model_object(&spec->models[i], ok), ok);
    }
    set(o, "models", models, ok);
    if (spec->suppression_is_count) {
        json_t *rows = json_object();
        set(rows, "rows", json_integer(spec->suppression_rows), ok);
        set(o, "suppression", rows, ok);
    } else {
        kn_ratio share = {spec->suppression.numerator, spec->suppression.denominator};
        set(o, "suppression", number((double)share.numerator / (double)share.denominator), ok);
    }
    return o;
}

static json_t *models_array(const kn_release_result *r, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < r->model_count; i++) {
        json_t *o = model_object(&r->models[i].model, ok);
        set(o, "reached", number(r->models[i].reached), ok);
        append(a, o, ok);
    }
    return a;
}

/* ---- Parts of the certificate ---- */

static const char *suppressed_name(kn_suppressed mode)
{
    switch (mode) {
    case KN_SUPPRESSED_STAR: return "star";
    case KN_SUPPRESSED_DROP: return "drop";
    case KN_SUPPRESSED_KEEP_SENSITIVE: return "keep-sensitive";
    }
    return "?";
}

static json_t *options_object(const kn_spec *spec, bool *ok)
{
    json_t *o = json_object();
    set(o, "utility", text(kn_metric_name(spec->utility)), ok);
    set(o, "suppressed", text(suppressed_name(spec->suppressed)), ok);
    set(o, "missing", text(kn_missing_name(spec->missing)), ok);
    set(o, "undeclared", text(spec->undeclared_refuse ? "refuse" : "drop"), ok);
    set(o, "keep-order", json_boolean(spec->keep_order), ok);
    set(o, "force", json_boolean(spec->force), ok);
    set(o, "time-limit", spec->time_limit > 0 ? number(spec->time_limit) : json_null(), ok);
    if (spec->entity) set(o, "entity", text(spec->entity), ok);
    return o;
}

static json_t *dependencies_array(const kn_spec *spec, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < spec->dependency_count; i++) append(a, text(spec->dependencies[i]), ok);
    return a;
}

static json_t *columns_array(const kn_certificate_input *in, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0, quasi = 0; i < in->spec->attribute_count; i++) {
        const kn_attribute *attribute = &in->spec->attributes[i];
        json_t             *o = json_object();
        set(o, "name", text(attribute->name), ok);
        set(o, "role", text(kn_role_name(attribute->role)), ok);
        if (attribute->role == KN_ROLE_IDENTIFIER)
            set(o, "released", text(attribute->pseudonym_key_file ? "pseudonym" : "no"), ok);
        if (attribute->role == KN_ROLE_QUASI && quasi < in->result->attribute_count) {
            const kn_release_attribute *loss = &in->result->attributes[quasi++];
            if (loss->height >= 0) set(o, "level", json_integer(loss->level), ok);
            if (loss->height >= 0) set(o, "height", json_integer(loss->height), ok);
            set(o, "lm", number(loss->lm), ok);
            set(o, "ncp", number(loss->ncp), ok);
            set(o, "prec", number(loss->prec), ok);
            set(o, "entropy", number(loss->entropy), ok);
        }
        append(a, o, ok);
    }
    return a;
}

static json_t *node_array(const kn_release_result *r, bool *ok)
{
    if (r->level_count == 0) return json_null();
    json_t *a = json_array();
    for (int i = 0; i < r->level_count; i++) append(a, json_integer(r->levels[i]), ok);
    return a;
}

static json_t *metrics_object(const kn_release_result *r, bool *ok)
{
    json_t *o = json_object();
    for (int m = 0; m < KN_METRICS; m++) set(o, kn_metric_name((kn_metric)m), number(r->metrics[m]), ok);
    return o;
}

static json_t *counters_object(const kn_release_result *r, bool *ok)
{
    json_t *o = json_object();
    for (int i = 0; i < r->counter_count; i++) {
        double value = r->counters[i].value;
        bool   whole = fabs(value) < 9e15 && value == floor(value);
        set(o, r->counters[i].name, whole ? json_integer((json_int_t)value) : number(value), ok);
    }
    return o;
}

static int add_piece(const char *piece, size_t size, void *to)
{
    kn_buffer_append(to, piece, size);
    return ((kn_buffer *)to)->failed ? -1 : 0;
}

static kn_status dump(kn_buffer *to, json_t *root, bool ok, kn_error *err)
{
    ok = ok && json_dump_callback(root, add_piece, to, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0;
    json_decref(root);
    kn_buffer_char(to, '\n');
    return ok && !to->failed ? KN_OK : kn_fail_memory(err, to->ctx, "writing the certificate");
}

kn_status kn_certificate_render(kn_buffer *to, const kn_certificate_input *in, kn_error *err)
{
    const kn_release_result *r = in->result;
    bool                     ok = true;
    json_t                  *o = json_object();
    set(o, "kanon-certificate", json_integer(1), &ok);
    set(o, "method", text(kn_method_name(r->method)), &ok);
    set(o, "options", options_object(in->spec, &ok), &ok);
    set(o, "utility", text(kn_metric_name(r->utility)), &ok);
    set(o, "node", node_array(r, &ok), &ok);
    set(o, "k", json_integer(r->k), &ok);
    set(o, "requested", requested_object(in->spec, &ok), &ok);
    set(o, "models", models_array(r, &ok), &ok);
    set(o, "rows", json_integer(r->rows), &ok);
    set(o, "suppressed", json_integer(r->suppressed), &ok);
    set(o, "classes", json_integer(r->classes), &ok);
    set(o, "missing_cells", json_integer(in->missing_cells), &ok);
    set(o, "missing_dropped", json_integer(r->missing_dropped), &ok);
    set(o, "metrics", metrics_object(r, &ok), &ok);
    if (r->region_bound > 0) {
        json_t *bounds = json_object();
        set(bounds, "class_rows", json_integer(r->region_bound), &ok);
        set(bounds, "c_avg", number(r->c_avg_bound), &ok);
        set(bounds, "dm", number(r->dm_bound), &ok);
        set(o, "bounds", bounds, &ok);
    }
    set(o, "columns", columns_array(in, &ok), &ok);
    if (in->spec->dependency_count > 0 && !in->spec->allow_broken) /* all of them hold: the verifier said so */
        set(o, "dependencies", dependencies_array(in->spec, &ok), &ok);
    set(o, "complete", json_boolean(r->complete), &ok);
    set(o, "optimal", json_boolean(r->optimal), &ok);
    set(o, "lattice", number(r->lattice), &ok);
    set(o, "counters", counters_object(r, &ok), &ok);
    set(o, "verified", json_true(), &ok);
    set(o, "assignment", text(in->assignment), &ok);
    set(o, "sha256", text(r->sha256), &ok);
    set(o, "version", in->version ? text(in->version) : json_null(), &ok);
    return dump(to, o, ok, err);
}

/* ---- The private file ---- */

static json_t *inputs_array(const kn_certificate_input *in, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < in->spec->input_count; i++) {
        json_t *o = json_object();
        set(o, "path", text(in->spec->inputs[i]), ok);
        set(o, "sha256", text(in->digests[i]), ok);
        append(a, o, ok);
    }
    return a;
}

static json_t *before_object(const kn_release_result *r, bool *ok)
{
    json_t *o = json_object(), *models = json_array();
    set(o, "k", json_integer(r->k_before), ok);
    for (int i = 0; i < r->model_count; i++) {
        json_t *m = model_object(&r->models[i].model, ok);
        set(m, "reached", number(r->models[i].original), ok);
        append(models, m, ok);
    }
    set(o, "models", models, ok);
    return o;
}

kn_status kn_private_render(kn_buffer *to, const kn_certificate_input *in, kn_error *err)
{
    const kn_release_result *r = in->result;
    bool                     ok = true;
    json_t                  *o = json_object(), *dropped = json_array();
    for (int i = 0; i < r->dropped_count; i++) append(dropped, text(r->dropped[i]), &ok);
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, in->seed); /* a string: JSON's readers keep 53 bits of a number */
    set(o, "kanon-private", json_integer(1), &ok);
    set(o, "release_sha256", text(r->sha256), &ok);
    set(o, "seed", text(seed), &ok);
    set(o, "inputs", inputs_array(in, &ok), &ok);
    set(o, "rows_in", json_integer(r->rows_in), &ok);
    set(o, "missing_dropped", json_integer(r->missing_dropped), &ok);
    set(o, "budget", json_integer(in->budget), &ok);
    set(o, "suppressed", json_integer(r->suppressed), &ok);
    set(o, "average_suppressed", json_integer(r->average_suppressed), &ok);
    set(o, "before", before_object(r, &ok), &ok);
    set(o, "dropped_columns", dropped, &ok);
    set(o, "rowmap", json_boolean(in->rowmap), &ok);
    set(o, "version", in->version ? text(in->version) : json_null(), &ok);
    return dump(to, o, ok, err);
}

/* ---- The row map ---- */

enum { PIECE_ROWS = 1 << 15, LONGEST = 20 };

typedef struct map_pieces {
    kn_context    *ctx;
    const int64_t *map;
    int64_t        count;
} map_pieces;

/* Decimal digits and a line end; printf would take longer than the rest of the run. */
static size_t put_row(char *to, uint64_t row)
{
    char   digits[LONGEST];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + row % 10);
        row /= 10;
    } while (row > 0);
    for (size_t i = 0; i < n; i++) to[i] = digits[n - 1 - i];
    to[n] = '\n';
    return n + 1;
}

static kn_status map_piece(void *arg, int64_t piece, kn_buffer *to, kn_error *err)
{
    const map_pieces *p = arg;
    int64_t           first = piece * PIECE_ROWS, end = first + PIECE_ROWS;
    if (end > p->count) end = p->count;
    char *room = kn_buffer_reserve(to, (size_t)(end - first) * (LONGEST + 1));
    if (!room) return kn_fail_memory(err, p->ctx, "writing the row map");
    for (int64_t i = first; i < end; i++) {
        size_t n = put_row(room, (uint64_t)p->map[i] + 1);
        room += n;
        to->size += n;
    }
    return KN_OK;
}

kn_status kn_rowmap_write(kn_output *output, kn_context *ctx, const int64_t *map, int64_t count, kn_error *err)
{
    static const char first[] = "kanon-rowmap 1\n";
    map_pieces        p = {ctx, map, count};
    kn_output_write(output, first, sizeof first - 1);
    return kn_output_pieces(output, (count + PIECE_ROWS - 1) / PIECE_ROWS, map_piece, &p, err);
}
