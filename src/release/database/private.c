/* database/private.c: kn_database_private.h. Keys keep their order; equal runs give equal bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_database_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kn_private_parts.h"

static json_t *options_object(const kn_spec *spec, bool *ok)
{
    json_t *o = json_object();
    kn_json_set(o, "threshold", kn_json_ratio(spec->threshold), ok);
    kn_json_set(o, "climit", json_integer(spec->climit), ok);
    kn_json_set(o, "matching", kn_json_text(kn_matching_name(spec->matching)), ok);
    kn_json_set(o, "leftovers", kn_json_text(kn_leftovers_name(spec->leftovers)), ok);
    if (spec->method == KN_METHOD_DMIRACLE) {
        kn_json_set(o, "diversity", kn_json_text(kn_diversity_name(spec->diversity)), ok);
        kn_json_set(o, "anatomy", json_boolean(spec->anatomy), ok);
    }
    if (spec->method == KN_METHOD_BITMAP) kn_json_set(o, "complete", json_boolean(spec->complete), ok);
    return o;
}

static json_t *requested_object(const kn_spec *spec, bool *ok)
{
    json_t *o = json_object(), *models = json_array();
    for (int i = 0; i < spec->model_count; i++) {
        if (spec->models[i].kind == KN_MODEL_K) kn_json_set(o, "k", json_integer(spec->models[i].k), ok);
        kn_json_append(models, kn_json_model(&spec->models[i], ok), ok);
    }
    kn_json_set(o, "models", models, ok);
    return o;
}

static json_t *tables_array(const kn_database_private_input *in, bool *ok)
{
    json_t *a = json_array();
    for (int t = 0; t < in->result->table_count; t++) {
        const kn_release_table *table = &in->result->tables[t];
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

static json_t *files_array(const kn_database_private_input *in, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < in->file_count; i++) {
        json_t *o = json_object();
        kn_json_set(o, "name", kn_json_text(in->files[i]), ok);
        kn_json_set(o, "sha256", kn_json_text(in->digests[i]), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

static void set_figures(json_t *o, const kn_database_result *r, bool *ok)
{
    json_t *metrics = json_object();
    kn_json_set(o, "persons_in", json_integer(r->persons_in), ok);
    kn_json_set(o, "persons", json_integer(r->persons), ok);
    kn_json_set(o, "suppressed", json_integer(r->suppressed), ok);
    kn_json_set(o, "classes", json_integer(r->classes), ok);
    kn_json_set(o, "k", json_integer(r->k), ok);
    kn_json_set(o, "k_before", json_integer(r->k_before), ok);
    kn_json_set(o, "models", kn_json_reached(r->models, r->model_count, ok), ok);
    if (r->largest_share > 0) kn_json_set(o, "largest_share", kn_json_number(r->largest_share), ok);
    kn_json_set(metrics, "lm", kn_json_number(r->lm), ok);
    kn_json_set(metrics, "dm", kn_json_number(r->dm), ok);
    kn_json_set(o, "metrics", metrics, ok);
    kn_json_set(o, "counters", kn_json_counters(r->counters, r->counter_count, ok), ok);
}

kn_status kn_database_private_render(kn_buffer *to, const kn_database_private_input *in, kn_error *err)
{
    const kn_database_result *r = in->result;
    bool                      ok = true;
    json_t                   *o = json_object(), *dropped = json_array();
    char                      seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, in->seed); /* a string: JSON's readers keep 53 bits of a number */
    for (int i = 0; i < r->dropped_count; i++) kn_json_append(dropped, kn_json_text(r->dropped[i]), &ok);
    kn_json_set(o, "kanon-private", json_integer(2), &ok);
    if (in->file_count == 1)
        kn_json_set(o, "release_sha256", kn_json_text(in->digests[0]), &ok);
    else if (in->file_count > 1)
        kn_json_set(o, "files", files_array(in, &ok), &ok);
    kn_json_set(o, "key_seed", kn_json_text(seed), &ok);
    kn_json_set(o, "input", kn_json_text(in->source), &ok);
    kn_json_set(o, "method", kn_json_text(kn_method_name(r->method)), &ok);
    if (r->advice) kn_json_set(o, "chosen", kn_json_chosen(r->advice, &ok), &ok);
    kn_json_set(o, "options", options_object(in->spec, &ok), &ok);
    kn_json_set(o, "requested", requested_object(in->spec, &ok), &ok);
    set_figures(o, r, &ok);
    kn_json_set(o, "tables", tables_array(in, &ok), &ok);
    kn_json_set(o, "dropped_columns", dropped, &ok);
    kn_json_set(o, "rowmap", json_boolean(in->rowmap), &ok);
    kn_json_set(o, "version", in->version ? kn_json_text(in->version) : json_null(), &ok);
    return kn_json_dump(to, o, ok, err);
}
