/* private.c: the private file beside a release of any shape (kn_private.h; docs/certificate.md explains every key). Keys keep
 * their order; equal runs give equal bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_private.h"

#include <inttypes.h>
#include <jansson.h>
#include <kanon/catalogue.h>
#include <math.h>
#include <stdio.h>

#include "kn_request_json.h"

/* ---- What was asked and tried ---- */

static void set_table_options(json_t *o, const kn_spec *spec, bool *ok)
{
    kn_json_set(o, "utility", kn_json_text(kn_metric_name(spec->utility)), ok);
    kn_json_set(o, "suppressed", kn_json_text(kn_suppressed_name(spec->suppressed)), ok);
    kn_json_set(o, "missing", kn_json_text(kn_missing_name(spec->missing)), ok);
    kn_json_set(o, "undeclared", kn_json_text(spec->undeclared_refuse ? "refuse" : "drop"), ok);
    kn_json_set(o, "keep-order", json_boolean(spec->keep_order), ok);
    kn_json_set(o, "force", json_boolean(spec->force), ok);
    kn_json_set(o, "time-limit", spec->time_limit > 0 ? kn_json_number(spec->time_limit) : json_null(), ok);
    if (spec->entity) kn_json_set(o, "entity", kn_json_text(spec->entity), ok);
}

static void set_database_options(json_t *o, const kn_spec *spec, bool *ok)
{
    kn_json_set(o, "threshold", kn_json_ratio(spec->threshold), ok);
    kn_json_set(o, "climit", json_integer(spec->climit), ok);
    kn_json_set(o, "matching", kn_json_text(kn_matching_name(spec->matching)), ok);
    kn_json_set(o, "leftovers", kn_json_text(kn_leftovers_name(spec->leftovers)), ok);
    if (spec->method == KN_METHOD_DMIRACLE) {
        kn_json_set(o, "diversity", kn_json_text(kn_diversity_name(spec->diversity)), ok);
        kn_json_set(o, "anatomy", json_boolean(spec->anatomy), ok);
    }
    if (spec->method == KN_METHOD_BITMAP) kn_json_set(o, "complete", json_boolean(spec->complete), ok);
}

static void set_records_options(json_t *o, const kn_spec *spec, bool *ok)
{
    if (spec->method == KN_METHOD_GCS) kn_json_set(o, "g", json_integer(spec->g), ok);
    kn_json_set(o, "semantics", kn_json_text(kn_semantics_name(spec->semantics)), ok);
    kn_json_set(o, "strict-structure", json_boolean(spec->strict_structure), ok);
    kn_json_set(o, "time-limit", spec->time_limit > 0 ? kn_json_number(spec->time_limit) : json_null(), ok);
}

static json_t *inputs_array(const kn_private_input *in, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < in->input_count; i++) {
        json_t *o = json_object();
        kn_json_set(o, "path", in->inputs[i] ? kn_json_text(in->inputs[i]) : json_null(), ok);
        kn_json_set(o, "sha256", in->input_digests ? kn_json_text(in->input_digests[i]) : json_null(), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

/* How method: auto came to its method: the metric, and those that had a release, each with its loss. */
static json_t *chosen_object(const kn_advice *advice, bool *ok)
{
    json_t *o = json_object(), *among = json_array();
    for (int i = 0; i < advice->candidate_count; i++) {
        const kn_advice_candidate *c = &advice->candidates[i];
        if (c->state != KN_ADVICE_KEPT && c->state != KN_ADVICE_STOPPED) continue;
        json_t *one = json_object();
        kn_json_set(one, "method", kn_json_text(kn_method_name(c->method)), ok);
        kn_json_set(one, "loss", kn_json_number(c->loss), ok);
        kn_json_set(one, "suppressed", json_integer(c->suppressed), ok);
        kn_json_append(among, one, ok);
    }
    kn_json_set(o, "by", kn_json_text("auto"), ok);
    kn_json_set(o, "metric", kn_json_text(advice->metric), ok);
    kn_json_set(o, "among", among, ok);
    return o;
}

static json_t *counters_object(const kn_release_head *h, bool *ok)
{
    json_t *o = json_object();
    for (int i = 0; i < h->counter_count; i++) {
        double value = h->counters[i].value;
        bool   whole = fabs(value) < 9e15 && value == floor(value);
        kn_json_set(o, h->counters[i].name, whole ? json_integer((json_int_t)value) : kn_json_number(value), ok);
    }
    return o;
}

static void set_search(json_t *o, const kn_private_input *in, kn_shape shape, bool *ok)
{
    const kn_release_head *h = in->head;
    json_t                *options = json_object();
    kn_json_set(o, "method", kn_json_text(kn_method_name(h->method)), ok);
    if (h->advice) kn_json_set(o, "chosen", chosen_object(h->advice, ok), ok);
    switch (shape) {
    case KN_SHAPE_TABLE: set_table_options(options, in->spec, ok); break;
    case KN_SHAPE_DATABASE: set_database_options(options, in->spec, ok); break;
    case KN_SHAPE_RECORDS: set_records_options(options, in->spec, ok); break;
    }
    kn_json_set(o, "options", options, ok);
    kn_json_set(o, "requested", kn_json_requested(in->spec, ok), ok);
    kn_json_set(o, "complete", json_boolean(h->complete), ok);
    kn_json_set(o, "counters", counters_object(h, ok), ok);
}

/* ---- What came of it ---- */

static json_t *reached_array(const kn_release_head *h, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < h->model_count; i++) {
        json_t *o = kn_json_model(&h->models[i].model, ok);
        kn_json_set(o, "reached", kn_json_number(h->models[i].reached), ok);
        kn_json_set(o, "original", kn_json_number(h->models[i].original), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

/* Of every shape; records have no classes. */
static void set_reached(json_t *o, const kn_release_head *h, kn_shape shape, bool *ok)
{
    if (shape != KN_SHAPE_RECORDS) {
        kn_json_set(o, "suppressed", json_integer(h->suppressed), ok);
        kn_json_set(o, "classes", json_integer(h->classes), ok);
        kn_json_set(o, "k_before", json_integer(h->k_before), ok);
    }
    kn_json_set(o, "k", json_integer(h->k), ok);
    kn_json_set(o, "models", reached_array(h, ok), ok);
    if (h->largest_share > 0) kn_json_set(o, "largest_share", kn_json_number(h->largest_share), ok);
}

/* ---- Tables ---- */

static json_t *columns_array(const kn_spec *spec, const kn_release_result *r, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0, quasi = 0; i < spec->attribute_count; i++) {
        const kn_attribute *attribute = &spec->attributes[i];
        json_t             *o = json_object();
        kn_json_set(o, "name", kn_json_text(attribute->name), ok);
        kn_json_set(o, "role", kn_json_text(kn_role_name(attribute->role)), ok);
        if (attribute->role == KN_ROLE_IDENTIFIER)
            kn_json_set(o, "released", kn_json_text(attribute->pseudonym_key_file ? "pseudonym" : "no"), ok);
        if (attribute->role == KN_ROLE_QUASI && quasi < r->attribute_count) {
            const kn_release_attribute *loss = &r->attributes[quasi++];
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

static void set_bounds(json_t *o, const kn_release_result *r, bool *ok)
{
    if (r->region_bound <= 0) return;
    json_t *bounds = json_object();
    kn_json_set(bounds, "class_rows", json_integer(r->region_bound), ok);
    kn_json_set(bounds, "c_avg", kn_json_number(r->c_avg_bound), ok);
    kn_json_set(bounds, "dm", kn_json_number(r->dm_bound), ok);
    kn_json_set(o, "bounds", bounds, ok);
}

static void set_table(json_t *o, const kn_private_input *in, bool *ok)
{
    const kn_release_result *r = (const kn_release_result *)(const void *)in->head;
    json_t                  *metrics = json_object();
    for (int m = 0; m < KN_METRICS; m++)
        kn_json_set(metrics, kn_metric_name((kn_metric)m), kn_json_number(r->metrics[m]), ok);
    kn_json_set(o, "node", node_array(r, ok), ok);
    kn_json_set(o, "optimal", json_boolean(r->optimal), ok);
    kn_json_set(o, "lattice", kn_json_number(r->lattice), ok);
    kn_json_set(o, "rows_in", json_integer(r->rows_in), ok);
    kn_json_set(o, "rows", json_integer(r->rows), ok);
    kn_json_set(o, "missing_cells", json_integer(r->missing_cells), ok);
    kn_json_set(o, "missing_dropped", json_integer(r->missing_dropped), ok);
    kn_json_set(o, "budget", json_integer(in->budget), ok);
    kn_json_set(o, "average_suppressed", json_integer(r->average_suppressed), ok);
    kn_json_set(o, "metrics", metrics, ok);
    set_bounds(o, r, ok);
    kn_json_set(o, "columns", columns_array(in->spec, r, ok), ok);
}

/* ---- Databases ---- */

static json_t *tables_array(const kn_database_result *r, bool *ok)
{
    json_t *a = json_array();
    for (int t = 0; t < r->table_count; t++) {
        const kn_release_table *table = &r->tables[t];
        json_t                 *o = json_object();
        kn_json_set(o, "name", kn_json_text(table->name), ok);
        kn_json_set(o, "rows_in", json_integer(table->rows_in), ok);
        kn_json_set(o, "orphans", json_integer(table->orphans), ok);
        kn_json_set(o, "deleted", json_integer(table->deleted), ok);
        kn_json_set(o, "rows", json_integer(table->rows), ok);
        kn_json_set(o, "lm", kn_json_number(table->lm), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

static void set_database(json_t *o, const kn_private_input *in, bool *ok)
{
    const kn_database_result *r = (const kn_database_result *)(const void *)in->head;
    json_t                   *metrics = json_object();
    kn_json_set(metrics, "lm", kn_json_number(r->lm), ok);
    kn_json_set(metrics, "dm", kn_json_number(r->dm), ok);
    kn_json_set(o, "persons_in", json_integer(r->persons_in), ok);
    kn_json_set(o, "persons", json_integer(r->persons), ok);
    kn_json_set(o, "metrics", metrics, ok);
    kn_json_set(o, "tables", tables_array(r, ok), ok);
}

/* ---- Records ---- */

static json_t *label(const kn_vocabulary *v, uint32_t value)
{
    kn_string text = kn_vocabulary_label(v, value);
    json_t   *t = json_stringn(text.data, text.size);
    return t ? t : json_string("?");
}

static json_t *vanished_array(const kn_private_input *in, bool *ok)
{
    json_t *a = json_array();
    for (int64_t i = 0; i < in->plan->disassociation_count; i++) {
        json_t *pair = json_array();
        kn_json_append(pair, label(in->vocabulary, in->plan->disassociations[i].ancestor), ok);
        kn_json_append(pair, label(in->vocabulary, in->plan->disassociations[i].descendant), ok);
        kn_json_append(a, pair, ok);
    }
    return a;
}

static void set_records(json_t *o, const kn_private_input *in, bool *ok)
{
    const kn_records_result *r = (const kn_records_result *)(const void *)in->head;
    json_t                  *metrics = json_object();
    kn_json_set(metrics, "rpd", kn_json_number(r->rpd), ok);
    kn_json_set(metrics, "ml2", kn_json_number(r->ml2), ok);
    kn_json_set(metrics, "dml2", kn_json_number(r->dml2), ok);
    kn_json_set(metrics, "node_survival", kn_json_number(r->node_survival), ok);
    kn_json_set(metrics, "relation_survival", kn_json_number(r->relation_survival), ok);
    kn_json_set(o, "records", json_integer(r->records), ok);
    kn_json_set(o, "values", json_integer(r->values), ok);
    kn_json_set(o, "values_original", json_integer(r->values_original), ok);
    kn_json_set(o, "nodes", json_integer(r->nodes), ok);
    kn_json_set(o, "nodes_original", json_integer(r->nodes_original), ok);
    kn_json_set(o, "relations", json_integer(r->relations), ok);
    kn_json_set(o, "relations_original", json_integer(r->relations_original), ok);
    kn_json_set(o, "metrics", metrics, ok);
    kn_json_set(o, "disassociations", vanished_array(in, ok), ok);
}

/* ---- All of it ---- */

kn_status kn_private_render(kn_buffer *to, const kn_private_input *in, kn_error *err)
{
    const kn_release_head *h = in->head;
    kn_shape               shape = kn_spec_shape(in->spec);
    bool                   ok = true;
    json_t                *o = json_object(), *dropped = json_array();
    char                   seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, in->seed); /* a string: JSON's readers keep 53 bits of a number */
    for (int i = 0; i < h->dropped_count; i++) kn_json_append(dropped, kn_json_text(h->dropped[i]), &ok);
    kn_json_set(o, "kanon-private", json_integer(3), &ok);
    kn_json_set(o, "shape", kn_json_text(kn_shape_name(shape)), &ok);
    if (in->folder)
        kn_json_set(o, "files", kn_json_files(in->files, in->digests, in->file_count, &ok), &ok);
    else if (in->file_count == 1)
        kn_json_set(o, "release_sha256", kn_json_text(in->digests[0]), &ok);
    kn_json_set(o, "seed", kn_json_text(seed), &ok);
    kn_json_set(o, "inputs", inputs_array(in, &ok), &ok);
    set_search(o, in, shape, &ok);
    set_reached(o, h, shape, &ok);
    switch (shape) {
    case KN_SHAPE_TABLE: set_table(o, in, &ok); break;
    case KN_SHAPE_DATABASE: set_database(o, in, &ok); break;
    case KN_SHAPE_RECORDS: set_records(o, in, &ok); break;
    }
    kn_json_set(o, "dropped", dropped, &ok);
    kn_json_set(o, "rowmap", json_boolean(in->spec->keep_rowmap), &ok);
    kn_json_set(o, "version", in->version ? kn_json_text(in->version) : json_null(), &ok);
    return kn_json_dump(to, o, ok, err);
}
