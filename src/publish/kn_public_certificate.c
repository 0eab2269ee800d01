/* kn_public_certificate.c: the facts of a release as its certificate (kn_public.h; docs/certificate.md explains every key).
 * Keys keep their order; equal facts and requests give equal bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <math.h>

#include "kn_error.h"
#include "kn_public.h"
#include "kn_request_json.h"

/* ---- The request ---- */

static const char *suppressed_name(kn_suppressed mode)
{
    switch (mode) {
    case KN_SUPPRESSED_STAR: return "star";
    case KN_SUPPRESSED_DROP: return "drop";
    case KN_SUPPRESSED_KEEP_SENSITIVE: return "keep-sensitive";
    }
    return "?";
}

static json_t *options_object(const kn_public *p, bool *ok)
{
    const kn_spec *spec = p->spec;
    json_t        *o = json_object();
    if (p->shape == KN_PUBLIC_TABLE) {
        kn_json_set(o, "suppressed", kn_json_text(suppressed_name(spec->suppressed)), ok);
        kn_json_set(o, "missing", kn_json_text(kn_missing_name(spec->missing)), ok);
        kn_json_set(o, "keep-order", json_boolean(spec->keep_order), ok);
        if (p->missing && *p->missing) kn_json_set(o, "missing-text", kn_json_text(p->missing), ok);
        if (spec->spreadsheet_safe) kn_json_set(o, "spreadsheet-safe", json_true(), ok);
        if (p->linked) kn_json_set(o, "entity", json_true(), ok);
    }
    if (p->shape == KN_PUBLIC_DATABASE && spec->anatomy) kn_json_set(o, "anatomy", json_true(), ok);
    if (p->shape == KN_PUBLIC_RECORDS) {
        kn_json_set(o, "semantics", kn_json_text(kn_semantics_name(spec->semantics)), ok);
        kn_json_set(o, "strict-structure", json_boolean(spec->strict_structure), ok);
    }
    if (spec->csv.decimal == ',') kn_json_set(o, "decimal", kn_json_text(","), ok);
    return o;
}

static json_t *quasi_names(const kn_spec *spec, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role == KN_ROLE_QUASI) kn_json_append(a, kn_json_text(spec->attributes[i].name), ok);
    return a;
}

static json_t *requested_object(const kn_public *p, bool *ok)
{
    const kn_spec *spec = p->spec;
    json_t        *o = json_object(), *models = json_array();
    int64_t        k = kn_public_asked_k(spec);
    for (int i = 0; i < spec->model_count; i++) kn_json_append(models, kn_json_model(&spec->models[i], ok), ok);
    if (k > 0) kn_json_set(o, "k", json_integer(k), ok);
    if (p->shape == KN_PUBLIC_RECORDS) {
        kn_json_set(o, "m", json_integer(spec->kmn.m), ok);
        kn_json_set(o, "n", json_integer(spec->kmn.n), ok);
    }
    kn_json_set(o, "models", models, ok);
    if (p->shape != KN_PUBLIC_TABLE) return o;
    kn_json_set(o, "quasi", quasi_names(spec, ok), ok);
    if (spec->suppression_is_count) {
        json_t *rows = json_object();
        kn_json_set(rows, "rows", json_integer(spec->suppression_rows), ok);
        kn_json_set(o, "suppression", rows, ok);
    } else {
        kn_fraction share = spec->suppression;
        kn_json_set(o, "suppression", kn_json_number((double)share.numerator / (double)share.denominator), ok);
    }
    return o;
}

/* ---- Columns ---- */

static json_t *hierarchy_of(bool has, const kn_hierarchy_spec *h, bool *ok)
{
    return has ? kn_json_hierarchy(h, ok) : json_null();
}

static bool has_levels(const kn_public *p)
{
    return p->shape == KN_PUBLIC_TABLE && !p->spec->method_auto &&
           kn_method_family(p->spec->method) == KN_FAMILY_FULL_DOMAIN;
}

static json_t *level_or_null(int level)
{
    return level >= 0 ? json_integer(level) : json_null();
}

static json_t *column_object(const kn_public *p, const kn_public_column *c, bool *ok)
{
    json_t *o = json_object();
    kn_json_set(o, "name", kn_json_text(c->name), ok);
    if (!c->attribute) return o;
    const kn_attribute *a = c->attribute;
    kn_json_set(o, "role", kn_json_text(kn_role_name(a->role)), ok);
    if (c->pseudonym) kn_json_set(o, "released", kn_json_text("pseudonym"), ok);
    if (a->type != KN_TYPE_AUTO) kn_json_set(o, "type", kn_json_text(kn_type_name(a->type)), ok);
    if (a->format) kn_json_set(o, "format", kn_json_text(a->format), ok);
    if (a->role == KN_ROLE_QUASI || a->has_hierarchy)
        kn_json_set(o, "hierarchy", hierarchy_of(a->has_hierarchy, &a->hierarchy, ok), ok);
    if (a->role != KN_ROLE_QUASI) return o;
    if (a->weight.numerator != a->weight.denominator) kn_json_set(o, "weight", kn_json_ratio(a->weight), ok);
    kn_json_set(o, "labels", json_integer(c->labels), ok);
    kn_json_set(o, "stars", json_integer(c->stars), ok);
    if (has_levels(p)) kn_json_set(o, "level", level_or_null(c->level), ok);
    if (!p->spec->anatomy || p->shape != KN_PUBLIC_DATABASE) kn_json_set(o, "lm", kn_json_number(c->lm), ok);
    return o;
}

static json_t *columns_array(const kn_public *p, const kn_public_part *part, bool *ok)
{
    json_t *a = json_array();
    for (int c = 0; c < part->column_count; c++) kn_json_append(a, column_object(p, &part->columns[c], ok), ok);
    return a;
}

static json_t *tables_array(const kn_public *p, bool *ok)
{
    json_t *a = json_array();
    for (int t = 0; t < p->part_count; t++) {
        json_t *o = json_object();
        kn_json_set(o, "name", kn_json_text(p->parts[t].name), ok);
        kn_json_set(o, "rows", json_integer(p->parts[t].rows), ok);
        kn_json_set(o, "columns", columns_array(p, &p->parts[t], ok), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

static json_t *classes_array(const kn_spec *spec, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < spec->class_count; i++) {
        const kn_spec_class *c = &spec->classes[i];
        json_t              *o = json_object();
        kn_json_set(o, "name", kn_json_text(c->name), ok);
        kn_json_set(o, "role", kn_json_text(c->sensitive ? "sensitive" : "quasi"), ok);
        if (c->negative) kn_json_set(o, "negative", json_true(), ok);
        kn_json_set(o, "hierarchy", hierarchy_of(c->has_hierarchy, &c->hierarchy, ok), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

/* In the order in which the quasi-identifiers were declared. */
static json_t *node_array(const kn_public *p, bool *ok)
{
    if (!has_levels(p)) return json_null();
    json_t *a = json_array();
    for (int i = 0; i < p->spec->attribute_count; i++) {
        if (p->spec->attributes[i].role != KN_ROLE_QUASI) continue;
        for (int c = 0; c < p->parts[0].column_count; c++)
            if (p->parts[0].columns[c].attribute == &p->spec->attributes[i])
                kn_json_append(a, level_or_null(p->parts[0].columns[c].level), ok);
    }
    return a;
}

/* ---- Figures ---- */

static json_t *count_or_null(int64_t count)
{
    return count > 0 ? json_integer(count) : json_null();
}

static json_t *sizes_array(const kn_public *p, bool *ok)
{
    json_t *a = json_array();
    for (int64_t i = 0; i < p->size_count; i++) {
        json_t *o = json_object();
        kn_json_set(o, "size", json_integer(p->sizes[i].size), ok);
        kn_json_set(o, "classes", json_integer(p->sizes[i].classes), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

static json_t *models_array(const kn_public *p, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < p->spec->model_count; i++) {
        json_t *o = kn_json_model(&p->spec->models[i], ok);
        kn_json_set(o, "in_release", kn_json_number(p->in_release[i]), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

static json_t *metrics_object(const kn_public *p, bool *ok)
{
    json_t *o = json_object();
    kn_json_set(o, "lm", kn_json_number(p->lm), ok);
    kn_json_set(o, "dm", kn_json_number(p->dm), ok);
    if (p->shape == KN_PUBLIC_TABLE) kn_json_set(o, "c_avg", kn_json_number(p->c_avg), ok);
    return o;
}

static void set_classes(json_t *o, const kn_public *p, bool *ok)
{
    kn_json_set(o, "k", count_or_null(p->k), ok);
    kn_json_set(o, "classes", p->classes >= 0 ? json_integer(p->classes) : json_null(), ok);
    if (p->classes < 0) return;
    kn_json_set(o, "sizes", sizes_array(p, ok), ok);
    kn_json_set(o, "metrics", metrics_object(p, ok), ok);
}

static void set_table(json_t *o, const kn_public *p, bool *ok)
{
    kn_json_set(o, "columns", columns_array(p, &p->parts[0], ok), ok);
    if (p->spec->dependency_count > 0 && !p->spec->allow_broken) { /* all of them hold: the verifier said so */
        json_t *a = json_array();
        for (int i = 0; i < p->spec->dependency_count; i++)
            kn_json_append(a, kn_json_text(p->spec->dependencies[i]), ok);
        kn_json_set(o, "dependencies", a, ok);
    }
    kn_json_set(o, "node", node_array(p, ok), ok);
    kn_json_set(o, "rows", json_integer(p->units), ok);
    if (p->suppressed >= 0) kn_json_set(o, "suppressed", json_integer(p->suppressed), ok);
    set_classes(o, p, ok);
}

static void set_shape(json_t *o, const kn_public *p, bool *ok)
{
    switch (p->shape) {
    case KN_PUBLIC_TABLE: set_table(o, p, ok); break;
    case KN_PUBLIC_DATABASE:
        kn_json_set(o, "tables", tables_array(p, ok), ok);
        kn_json_set(o, "persons", json_integer(p->units), ok);
        set_classes(o, p, ok);
        break;
    case KN_PUBLIC_RECORDS:
        kn_json_set(o, "classes_of_nodes", classes_array(p->spec, ok), ok);
        kn_json_set(o, "records", json_integer(p->units), ok);
        kn_json_set(o, "nodes", json_integer(p->nodes), ok);
        kn_json_set(o, "relations", json_integer(p->relations), ok);
        kn_json_set(o, "values", json_integer(p->values), ok);
        break;
    }
    kn_json_set(o, "models", models_array(p, ok), ok);
}

static json_t *files_array(const kn_public_seal *seal, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < seal->file_count; i++) {
        json_t *o = json_object();
        kn_json_set(o, "name", kn_json_text(seal->names[i]), ok);
        kn_json_set(o, "sha256", kn_json_text(seal->digests[i]), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

kn_status kn_public_certificate(kn_buffer *to, const kn_public *p, const kn_public_seal *seal, kn_error *err)
{
    static const char *const shapes[] = {"table", "database", "records"};
    bool                     ok = true;
    json_t                  *o = json_object();
    kn_json_set(o, "kanon-certificate", json_integer(2), &ok);
    kn_json_set(o, "shape", kn_json_text(shapes[p->shape]), &ok);
    kn_json_set(o, "method", kn_json_text(p->spec->method_auto ? "auto" : kn_method_name(p->spec->method)), &ok);
    kn_json_set(o, "options", options_object(p, &ok), &ok);
    kn_json_set(o, "requested", requested_object(p, &ok), &ok);
    set_shape(o, p, &ok);
    kn_json_set(o, "verified", json_true(), &ok);
    if (seal->folder)
        kn_json_set(o, "files", files_array(seal, &ok), &ok);
    else if (seal->file_count == 1)
        kn_json_set(o, "sha256", kn_json_text(seal->digests[0]), &ok);
    kn_json_set(o, "version", seal->version ? kn_json_text(seal->version) : json_null(), &ok);
    return kn_json_dump(to, o, ok, err);
}
