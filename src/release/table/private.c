/* table/private.c: what stands beside a released table for its owner (kn_private.h): the private file and the row map. Keys keep
 * their order. Cost: negligible; the row map is made in parallel, some 8 bytes per row.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_private.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_private_parts.h"

static json_t *requested_object(const kn_spec *spec, bool *ok)
{
    json_t *o = json_object(), *models = json_array();
    for (int i = 0; i < spec->model_count; i++) {
        if (spec->models[i].kind == KN_MODEL_K) kn_json_set(o, "k", json_integer(spec->models[i].k), ok);
        kn_json_append(models, kn_json_model(&spec->models[i], ok), ok);
    }
    kn_json_set(o, "models", models, ok);
    if (spec->suppression_is_count) {
        json_t *rows = json_object();
        kn_json_set(rows, "rows", json_integer(spec->suppression_rows), ok);
        kn_json_set(o, "suppression", rows, ok);
    } else {
        kn_ratio share = {spec->suppression.numerator, spec->suppression.denominator};
        kn_json_set(o, "suppression", kn_json_number((double)share.numerator / (double)share.denominator), ok);
    }
    return o;
}

/* ---- What was asked and done ---- */

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
    kn_json_set(o, "utility", kn_json_text(kn_metric_name(spec->utility)), ok);
    kn_json_set(o, "suppressed", kn_json_text(suppressed_name(spec->suppressed)), ok);
    kn_json_set(o, "missing", kn_json_text(kn_missing_name(spec->missing)), ok);
    kn_json_set(o, "undeclared", kn_json_text(spec->undeclared_refuse ? "refuse" : "drop"), ok);
    kn_json_set(o, "keep-order", json_boolean(spec->keep_order), ok);
    kn_json_set(o, "force", json_boolean(spec->force), ok);
    kn_json_set(o, "time-limit", spec->time_limit > 0 ? kn_json_number(spec->time_limit) : json_null(), ok);
    if (spec->entity) kn_json_set(o, "entity", kn_json_text(spec->entity), ok);
    return o;
}

static json_t *columns_array(const kn_private_input *in, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0, quasi = 0; i < in->spec->attribute_count; i++) {
        const kn_attribute *attribute = &in->spec->attributes[i];
        json_t             *o = json_object();
        kn_json_set(o, "name", kn_json_text(attribute->name), ok);
        kn_json_set(o, "role", kn_json_text(kn_role_name(attribute->role)), ok);
        if (attribute->role == KN_ROLE_IDENTIFIER)
            kn_json_set(o, "released", kn_json_text(attribute->pseudonym_key_file ? "pseudonym" : "no"), ok);
        if (attribute->role == KN_ROLE_QUASI && quasi < in->result->attribute_count) {
            const kn_release_attribute *loss = &in->result->attributes[quasi++];
            if (loss->height >= 0) kn_json_set(o, "level", json_integer(loss->level), ok);
            if (loss->height >= 0) kn_json_set(o, "height", json_integer(loss->height), ok);
            kn_json_set(o, "lm", kn_json_number(loss->lm), ok);
            kn_json_set(o, "ncp", kn_json_number(loss->ncp), ok);
            kn_json_set(o, "prec", kn_json_number(loss->prec), ok);
            kn_json_set(o, "entropy", kn_json_number(loss->entropy), ok);
        }
        kn_json_append(a, o, ok);
    }
    return a;
}

static json_t *node_array(const kn_release_result *r, bool *ok)
{
    if (r->level_count == 0) return json_null();
    json_t *a = json_array();
    for (int i = 0; i < r->level_count; i++) kn_json_append(a, json_integer(r->levels[i]), ok);
    return a;
}

static json_t *metrics_object(const kn_release_result *r, bool *ok)
{
    json_t *o = json_object();
    for (int m = 0; m < KN_METRICS; m++)
        kn_json_set(o, kn_metric_name((kn_metric)m), kn_json_number(r->metrics[m]), ok);
    return o;
}

static void set_bounds(json_t *o, const kn_release_result *r, bool *ok)
{
    if (r->region_bound <= 0) return;
    json_t *bounds = json_object();
    kn_json_set(bounds, "class_rows", json_integer(r->region_bound), ok);
    kn_json_set(bounds, "c_avg", kn_json_number(r->c_avg_bound), ok);
    kn_json_set(bounds, "dm", kn_json_number(r->dm_bound), ok);
    kn_json_set(o, "bounds", bounds, ok);
}

/* ---- The private file ---- */

static json_t *inputs_array(const kn_private_input *in, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < in->spec->input_count; i++) {
        json_t *o = json_object();
        kn_json_set(o, "path", kn_json_text(in->spec->inputs[i]), ok);
        kn_json_set(o, "sha256", kn_json_text(in->digests[i]), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

static void set_search(json_t *o, const kn_private_input *in, bool *ok)
{
    const kn_release_result *r = in->result;
    kn_json_set(o, "method", kn_json_text(kn_method_name(r->method)), ok);
    if (r->advice) kn_json_set(o, "chosen", kn_json_chosen(r->advice, ok), ok);
    kn_json_set(o, "options", options_object(in->spec, ok), ok);
    kn_json_set(o, "requested", requested_object(in->spec, ok), ok);
    kn_json_set(o, "node", node_array(r, ok), ok);
    kn_json_set(o, "complete", json_boolean(r->complete), ok);
    kn_json_set(o, "optimal", json_boolean(r->optimal), ok);
    kn_json_set(o, "lattice", kn_json_number(r->lattice), ok);
    kn_json_set(o, "counters", kn_json_counters(r->counters, r->counter_count, ok), ok);
}

static void set_figures(json_t *o, const kn_private_input *in, bool *ok)
{
    const kn_release_result *r = in->result;
    kn_json_set(o, "rows_in", json_integer(r->rows_in), ok);
    kn_json_set(o, "rows", json_integer(r->rows), ok);
    kn_json_set(o, "missing_cells", json_integer(r->missing_cells), ok);
    kn_json_set(o, "missing_dropped", json_integer(r->missing_dropped), ok);
    kn_json_set(o, "budget", json_integer(in->budget), ok);
    kn_json_set(o, "suppressed", json_integer(r->suppressed), ok);
    kn_json_set(o, "average_suppressed", json_integer(r->average_suppressed), ok);
    kn_json_set(o, "classes", json_integer(r->classes), ok);
    kn_json_set(o, "k", json_integer(r->k), ok);
    kn_json_set(o, "k_before", json_integer(r->k_before), ok);
    kn_json_set(o, "models", kn_json_reached(r->models, r->model_count, ok), ok);
    kn_json_set(o, "metrics", metrics_object(r, ok), ok);
    set_bounds(o, r, ok);
    kn_json_set(o, "columns", columns_array(in, ok), ok);
}

kn_status kn_private_render(kn_buffer *to, const kn_private_input *in, kn_error *err)
{
    const kn_release_result *r = in->result;
    bool                     ok = true;
    json_t                  *o = json_object(), *dropped = json_array();
    for (int i = 0; i < r->dropped_count; i++) kn_json_append(dropped, kn_json_text(r->dropped[i]), &ok);
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, in->seed); /* a string: JSON's readers keep 53 bits of a number */
    kn_json_set(o, "kanon-private", json_integer(2), &ok);
    kn_json_set(o, "release_sha256", kn_json_text(r->sha256), &ok);
    kn_json_set(o, "seed", kn_json_text(seed), &ok);
    kn_json_set(o, "inputs", inputs_array(in, &ok), &ok);
    set_search(o, in, &ok);
    set_figures(o, in, &ok);
    kn_json_set(o, "dropped_columns", dropped, &ok);
    kn_json_set(o, "rowmap", json_boolean(in->rowmap), &ok);
    kn_json_set(o, "version", in->version ? kn_json_text(in->version) : json_null(), &ok);
    return kn_json_dump(to, o, ok, err);
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
