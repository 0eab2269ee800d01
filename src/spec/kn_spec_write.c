/* kn_spec_write.c: a spec of a table → a release file (kn_spec_write.h) that kn_spec_read turns into the same spec.
 *
 * Fields with their default value are left out. Texts are in double quotes, so that they mean the same in YAML and
 * JSON.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_spec_write.h"

#include <inttypes.h>
#include <kanon/recipe.h>
#include <string.h>

#include "kn_error.h"
#include "kn_request_document.h"
#include "kn_spec.h"

typedef struct writer {
    kn_buffer *to;
    bool       inexact; /* a number could not be written */
} writer;

/* ---- Values ---- */

static void put_text(const writer *w, const char *text)
{
    kn_buffer_char(w->to, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            kn_buffer_format(w->to, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            kn_buffer_format(w->to, "\\u%04x", c);
        else
            kn_buffer_char(w->to, (char)c);
    }
    kn_buffer_char(w->to, '"');
}

static void put_texts(const writer *w, const char *const *texts, int count)
{
    kn_buffer_char(w->to, '[');
    for (int i = 0; i < count; i++) {
        if (i > 0) kn_buffer_add(w->to, ", ");
        put_text(w, texts[i]);
    }
    kn_buffer_char(w->to, ']');
}

/* Exactly, with at most 18 digits, as kn_ratio_parse reads it. */
static void put_ratio(writer *w, uint64_t numerator, uint64_t denominator)
{
    uint64_t power = 1;
    int      decimals = 0;
    for (; decimals < 18 && (denominator == 0 || power % denominator != 0); decimals++) power *= 10;
    if (denominator == 0 || power % denominator != 0 || numerator > UINT64_MAX / (power / denominator)) {
        w->inexact = true;
        return;
    }
    numerator *= power / denominator;
    kn_buffer_format(w->to, "%" PRIu64, numerator / power);
    if (decimals > 0) kn_buffer_format(w->to, ".%0*" PRIu64, decimals, numerator % power);
}

/* Begins a field on a new line; its value follows. */
static void field(const writer *w, const char *name)
{
    kn_buffer_format(w->to, "\n%s: ", name);
}

static void put_field(const writer *w, const char *name, const char *text)
{
    field(w, name);
    put_text(w, text);
}

static void put_true(const writer *w, const char *name, bool value)
{
    if (value) kn_buffer_format(w->to, "\n%s: true", name);
}

/* ---- Reading ---- */

static void put_reading(const writer *w, const kn_csv_options *csv)
{
    char delimiter[2] = {csv->delimiter, '\0'}, decimal[2] = {csv->decimal, '\0'};
    if (csv->delimiter) put_field(w, "delimiter", delimiter);
    if (csv->no_header) kn_buffer_add(w->to, "\nheader: false");
    if (csv->encoding != KN_ENCODING_UTF8)
        put_field(w, "encoding", csv->encoding == KN_ENCODING_LATIN_1 ? "latin-1" : "windows-1252");
    if (csv->decimal != '.') put_field(w, "decimal", decimal);
    if (csv->timezone) put_field(w, "timezone", csv->timezone);
    if (!csv->na) return;
    field(w, "na");
    put_texts(w, csv->na, csv->na_count);
}

/* ---- Attributes ---- */

static void put_calendar(const writer *w, unsigned calendar)
{
    static const char *const steps[] = {"day", "month", "quarter", "year", "decade"};
    bool                     first = true;
    kn_buffer_add(w->to, calendar ? "calendar: [" : "calendar: all");
    for (unsigned i = 0; i < 5 && calendar; i++) {
        if (!(calendar >> i & 1)) continue;
        kn_buffer_format(w->to, "%s%s", first ? "" : ", ", steps[i]);
        first = false;
    }
    if (calendar) kn_buffer_char(w->to, ']');
}

static void put_mask(const writer *w, const kn_hierarchy_spec *h)
{
    kn_buffer_format(w->to, "mask: %s", h->mask_left ? "left" : "right");
    if (h->mask_step > 0) kn_buffer_format(w->to, ", step: %d", h->mask_step);
    if (h->mask_pad) kn_buffer_add(w->to, ", pad: true");
    if (!h->mask) return;
    kn_buffer_add(w->to, ", character: ");
    put_text(w, h->mask);
}

static void put_ranges(const writer *w, const kn_hierarchy_spec *h)
{
    kn_buffer_add(w->to, "ranges: ");
    put_texts(w, h->widths, h->width_count);
    if (!h->origin) return;
    kn_buffer_add(w->to, ", origin: ");
    put_text(w, h->origin);
}

static void put_breaks(const writer *w, const kn_hierarchy_spec *h)
{
    kn_buffer_add(w->to, "breaks: [");
    for (int i = 0; i < h->break_count; i++) {
        if (i > 0) kn_buffer_add(w->to, ", ");
        put_texts(w, h->breaks[i].points, h->breaks[i].count);
    }
    kn_buffer_char(w->to, ']');
}

/* Writes a hierarchy; files are left out. */
static void put_hierarchy(const writer *w, const kn_hierarchy_spec *h)
{
    if (h->kind == KN_HIERARCHY_FILE || h->kind == KN_HIERARCHY_TAXONOMY) return;
    if (h->kind == KN_HIERARCHY_SUPPRESS) {
        kn_buffer_add(w->to, ", hierarchy: suppress");
        return;
    }
    kn_buffer_add(w->to, ", hierarchy: {");
    if (h->kind == KN_HIERARCHY_MASK) put_mask(w, h);
    if (h->kind == KN_HIERARCHY_RANGES) put_ranges(w, h);
    if (h->kind == KN_HIERARCHY_BREAKS) put_breaks(w, h);
    if (h->kind == KN_HIERARCHY_CALENDAR) put_calendar(w, h->calendar);
    if (h->kind == KN_HIERARCHY_PREFIX) {
        kn_buffer_add(w->to, "prefix: ");
        put_text(w, h->separator);
    }
    kn_buffer_char(w->to, '}');
}

static void put_attribute(writer *w, const kn_attribute *a)
{
    kn_buffer_add(w->to, "\n  ");
    put_text(w, a->name);
    kn_buffer_format(w->to, ": {role: %s", kn_role_name(a->role));
    if (a->type != KN_TYPE_AUTO) kn_buffer_format(w->to, ", type: %s", kn_type_name(a->type));
    if (a->format) {
        kn_buffer_add(w->to, ", format: ");
        put_text(w, a->format);
    }
    if (a->has_hierarchy) put_hierarchy(w, &a->hierarchy);
    if (a->separator) {
        kn_buffer_add(w->to, ", separator: ");
        put_text(w, a->separator);
    }
    if (a->cut_by_order) kn_buffer_add(w->to, ", cuts: order");
    if (a->weight.numerator != a->weight.denominator) {
        kn_buffer_add(w->to, ", weight: ");
        put_ratio(w, a->weight.numerator, a->weight.denominator);
    }
    if (a->pseudonym_key_file) {
        kn_buffer_add(w->to, ", pseudonym: {key-file: ");
        put_text(w, a->pseudonym_key_file);
        kn_buffer_char(w->to, '}');
    }
    if (a->min_level >= 0) kn_buffer_format(w->to, ", min-level: %" PRId64, a->min_level);
    if (a->max_level >= 0) kn_buffer_format(w->to, ", max-level: %" PRId64, a->max_level);
    kn_buffer_char(w->to, '}');
}

/* ---- Promises ---- */

static void put_parameter(writer *w, const char *name, kn_ratio value)
{
    kn_buffer_format(w->to, ", %s: ", name);
    put_ratio(w, value.numerator, value.denominator);
}

static void put_model(writer *w, const kn_model *m)
{
    const char *variant = kn_model_variant(m->kind), *bound = kn_request_bound(m->kind);
    bool        distance = m->kind >= KN_MODEL_T_EQUAL && m->kind <= KN_MODEL_T_HIERARCHICAL;
    kn_buffer_format(w->to, "\n  - %s: {", kn_model_name(m->kind));
    size_t begin = w->to->size;
    if (m->attribute) {
        kn_buffer_add(w->to, ", attribute: ");
        put_text(w, m->attribute);
    }
    if (variant) kn_buffer_format(w->to, ", %s: %s", distance ? "distance" : "kind", variant);
    if (m->kind == KN_MODEL_K || m->kind == KN_MODEL_ALPHA_K || m->kind == KN_MODEL_K_MAP)
        kn_buffer_format(w->to, ", k: %" PRId64, m->k);
    if (m->kind >= KN_MODEL_DISTINCT && m->kind <= KN_MODEL_RECURSIVE) put_parameter(w, "l", m->l);
    if (m->kind == KN_MODEL_RECURSIVE) put_parameter(w, "c", m->c);
    if (m->kind == KN_MODEL_PRESENCE) put_parameter(w, "min", m->low);
    if (bound) put_parameter(w, bound, m->bound);
    if (!w->to->failed && w->to->size > begin + 2) { /* without the first comma */
        memmove(w->to->data + begin, w->to->data + begin + 2, w->to->size - begin - 2);
        w->to->size -= 2;
    }
    kn_buffer_char(w->to, '}');
}

static void put_attributes(writer *w, const kn_spec *spec)
{
    int count = 0;
    for (int i = 0; i < spec->attribute_count; i++) {
        if (spec->attributes[i].role == KN_ROLE_COUNT) continue;
        if (count++ == 0) kn_buffer_add(w->to, "\nattributes:");
        put_attribute(w, &spec->attributes[i]);
    }
}

/* A list of none is left out: "privacy:" with nothing below is not read. */
static void put_promises(writer *w, const kn_spec *spec)
{
    if (spec->model_count > 0 || spec->kmn.k > 0) kn_buffer_add(w->to, "\nprivacy:");
    for (int i = 0; i < spec->model_count; i++) put_model(w, &spec->models[i]);
    if (spec->kmn.k > 0)
        kn_buffer_format(w->to, "\n  - k-mn: {k: %" PRId64 ", m: %d, n: %d}", spec->kmn.k, spec->kmn.m, spec->kmn.n);
    if (spec->suppression_is_count)
        kn_buffer_format(w->to, "\nsuppression: {rows: %" PRId64 "}", spec->suppression_rows);
    else if (spec->suppression.numerator > 0) {
        field(w, "suppression");
        put_ratio(w, spec->suppression.numerator, spec->suppression.denominator);
    }
    if (spec->suppressed != KN_SUPPRESSED_STAR) put_field(w, "suppressed", kn_suppressed_name(spec->suppressed));
    if (spec->dependency_count == 0) return;
    field(w, "dependencies");
    put_texts(w, spec->dependencies, spec->dependency_count);
}

/* ---- All of it ---- */

static void put_levels(const writer *w, const kn_spec *spec)
{
    bool named = spec->level_count > 0 && spec->level_names[0];
    if (spec->level_count == 0) return;
    field(w, "levels");
    kn_buffer_char(w->to, named ? '{' : '[');
    for (int i = 0; i < spec->level_count; i++) {
        if (i > 0) kn_buffer_add(w->to, ", ");
        if (named) put_text(w, spec->level_names[i]);
        kn_buffer_format(w->to, "%s%d", named ? ": " : "", spec->levels[i]);
    }
    kn_buffer_char(w->to, named ? '}' : ']');
}

static void put_method(const writer *w, const kn_spec *spec)
{
    put_field(w, "method", spec->method_auto ? "auto" : kn_method_name(spec->method));
    if (spec->utility != KN_METRIC_LM) put_field(w, "utility", kn_metric_name(spec->utility));
    if (spec->workload) put_field(w, "workload", spec->workload);
    bool choose = spec->choose != KN_CHOOSE_RANGE;
    if (!choose && !spec->input_order && !spec->allow_broken) return;
    field(w, "options");
    kn_buffer_char(w->to, '{');
    if (choose) kn_buffer_format(w->to, "choose: %s", kn_choose_name(spec->choose));
    if (spec->input_order) kn_buffer_format(w->to, "%srow-order: input", choose ? ", " : "");
    if (spec->allow_broken) kn_buffer_format(w->to, "%sallow-broken: true", choose || spec->input_order ? ", " : "");
    kn_buffer_char(w->to, '}');
}

kn_status kn_spec_write(kn_buffer *to, const kn_spec *spec, kn_error *err)
{
    writer w = {.to = to};
    kn_buffer_add(to, "kanon: 1");
    put_reading(&w, &spec->csv);
    put_attributes(&w, spec);
    if (spec->entity_count > 0) {
        field(&w, "entity");
        put_texts(&w, spec->entity_columns, spec->entity_count);
    }
    if (spec->undeclared_refuse) put_field(&w, "undeclared", "refuse");
    if (spec->missing != KN_MISSING_VALUE) put_field(&w, "missing", kn_missing_name(spec->missing));
    put_promises(&w, spec);
    put_method(&w, spec);
    put_levels(&w, spec);
    if (spec->summary) put_field(&w, "summary", "side");
    put_true(&w, "spreadsheet-safe", spec->spreadsheet_safe);
    put_true(&w, "keep-order", spec->keep_order);
    put_true(&w, "force", spec->force);
    put_true(&w, "replace", spec->replace);
    kn_buffer_char(to, '\n');
    if (w.inexact) return kn_fail(err, KN_USAGE, "a number of the request is no decimal of at most 18 digits");
    return to->failed ? kn_fail_memory(err, to->ctx, "writing a request") : KN_OK;
}
