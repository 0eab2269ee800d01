/* records/private.c: kn_records_private.h. Keys keep their order; equal runs give equal bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_records_private.h"

#include <string.h>

#include "kn_names.h"
#include "kn_private_parts.h"

static json_t *options_object(const kn_spec *spec, bool *ok)
{
    json_t *o = json_object();
    if (spec->method == KN_METHOD_GCS) kn_json_set(o, "g", json_integer(spec->g), ok);
    kn_json_set(o, "semantics", kn_json_text(kn_semantics_name(spec->semantics)), ok);
    kn_json_set(o, "strict-structure", json_boolean(spec->strict_structure), ok);
    kn_json_set(o, "time-limit", spec->time_limit > 0 ? kn_json_number(spec->time_limit) : json_null(), ok);
    return o;
}

static json_t *metrics_object(const kn_records_result *r, bool *ok)
{
    json_t *o = json_object();
    kn_json_set(o, "rpd", kn_json_number(r->rpd), ok);
    kn_json_set(o, "ml2", kn_json_number(r->ml2), ok);
    kn_json_set(o, "dml2", kn_json_number(r->dml2), ok);
    kn_json_set(o, "node_survival", kn_json_number(r->node_survival), ok);
    kn_json_set(o, "relation_survival", kn_json_number(r->relation_survival), ok);
    return o;
}

static void set_figures(json_t *o, const kn_records_result *r, bool *ok)
{
    kn_json_set(o, "records", json_integer(r->records), ok);
    kn_json_set(o, "k", json_integer(r->k), ok);
    kn_json_set(o, "models", kn_json_reached(r->models, r->model_count, ok), ok);
    if (r->largest_share > 0) kn_json_set(o, "largest_share", kn_json_number(r->largest_share), ok);
    kn_json_set(o, "values", json_integer(r->values), ok);
    kn_json_set(o, "values_original", json_integer(r->values_original), ok);
    kn_json_set(o, "nodes", json_integer(r->nodes), ok);
    kn_json_set(o, "nodes_original", json_integer(r->nodes_original), ok);
    kn_json_set(o, "relations", json_integer(r->relations), ok);
    kn_json_set(o, "relations_original", json_integer(r->relations_original), ok);
    kn_json_set(o, "metrics", metrics_object(r, ok), ok);
    kn_json_set(o, "complete", json_boolean(r->complete), ok);
    kn_json_set(o, "counters", kn_json_counters(r->counters, r->counter_count, ok), ok);
}

static json_t *label(const kn_vocabulary *v, uint32_t value)
{
    kn_string text = kn_vocabulary_label(v, value);
    json_t   *t = json_stringn(text.data, text.size);
    return t ? t : json_string("?");
}

static json_t *vanished_array(const kn_records_private_input *in, bool *ok)
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

kn_status kn_records_private_render(kn_buffer *to, const kn_records_private_input *in, kn_error *err)
{
    const kn_records_result *r = in->result;
    bool                     ok = true;
    json_t                  *o = json_object(), *dropped = json_array();
    bool                     server = kn_name_server(in->spec->inputs[0]) != NULL; /* its name may hold a password */
    for (int i = 0; i < r->dropped_count; i++) kn_json_append(dropped, kn_json_text(r->dropped[i]), &ok);
    kn_json_set(o, "kanon-private", json_integer(2), &ok);
    kn_json_set(o, "release_sha256", kn_json_text(r->sha256), &ok);
    kn_json_set(o, "input", server ? json_null() : kn_json_text(in->spec->inputs[0]), &ok);
    kn_json_set(o, "input_sha256", in->digest ? kn_json_text(in->digest) : json_null(), &ok);
    kn_json_set(o, "method", kn_json_text(kn_method_name(r->method)), &ok);
    if (r->advice) kn_json_set(o, "chosen", kn_json_chosen(r->advice, &ok), &ok);
    kn_json_set(o, "options", options_object(in->spec, &ok), &ok);
    set_figures(o, r, &ok);
    kn_json_set(o, "disassociations", vanished_array(in, &ok), &ok);
    kn_json_set(o, "dropped", dropped, &ok);
    kn_json_set(o, "rowmap", json_boolean(in->rowmap), &ok);
    kn_json_set(o, "version", in->version ? kn_json_text(in->version) : json_null(), &ok);
    return kn_json_dump(to, o, ok, err);
}
