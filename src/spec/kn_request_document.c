/* kn_request_document.c: parts of a request as parts of a document (kn_request_document.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_request_document.h"

#include "kn_error.h"

void kn_put_ratio(kn_to to, const char *key, kn_ratio r)
{
    if (r.denominator == 1 && r.numerator <= INT64_MAX)
        kn_put_integer(to, key, (int64_t)r.numerator);
    else
        kn_put_number(to, key, (double)r.numerator / (double)r.denominator);
}

/* ---- Models ---- */

const char *kn_request_bound(kn_model_kind kind)
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

void kn_put_request_model(kn_to to, const kn_model *m)
{
    const char *variant = kn_model_variant(m->kind), *bound = kn_request_bound(m->kind);
    bool closeness = m->kind == KN_MODEL_T_EQUAL || m->kind == KN_MODEL_T_ORDERED || m->kind == KN_MODEL_T_HIERARCHICAL;
    kn_put_text(to, "model", kn_model_name(m->kind));
    if (variant) kn_put_text(to, closeness ? "distance" : "kind", variant);
    if (m->attribute) kn_put_text(to, "attribute", m->attribute);
    if (m->kind == KN_MODEL_K || m->kind == KN_MODEL_ALPHA_K || m->kind == KN_MODEL_K_MAP)
        kn_put_integer(to, "k", m->k);
    if (m->kind == KN_MODEL_DISTINCT || m->kind == KN_MODEL_ENTROPY || m->kind == KN_MODEL_RECURSIVE)
        kn_put_ratio(to, "l", m->l);
    if (m->kind == KN_MODEL_RECURSIVE) kn_put_ratio(to, "c", m->c);
    if (m->kind == KN_MODEL_PRESENCE) kn_put_ratio(to, "min", m->low);
    if (bound) kn_put_ratio(to, bound, m->bound);
}

/* ---- Hierarchies ---- */

static const kn_field_row hierarchy_rows[] = {
    KN_VALUE("mask", KN_REQUEST_(KN_F_TEXT), "of a mask: the side from which characters are hidden"),
    KN_VALUE("step", KN_REQUEST_(KN_F_COUNT), "of a mask: characters hidden per level"),
    KN_VALUE("character", KN_REQUEST_(KN_F_TEXT), "of a mask: what stands for a hidden character"),
    KN_VALUE("pad", KN_REQUEST_(KN_F_BOOLEAN), "of a mask: whether shorter values count as filled up with it"),
    KN_VALUE("ranges", KN_REQUEST_(KN_F_TEXTS), "of ranges: their widths, level by level"),
    KN_VALUE("origin", KN_REQUEST_(KN_F_TEXT), "of ranges: where one begins"),
    KN_VALUE("breaks", KN_REQUEST_(KN_F_TEXT_LISTS), "of breaks: the cut points, level by level"),
    KN_VALUE("calendar", KN_REQUEST_(KN_F_TEXTS), "of a calendar: its steps"),
    KN_VALUE("prefix", KN_REQUEST_(KN_F_TEXT), "of prefixes: what stands between their parts"),
    KN_VALUE("suppress", KN_REQUEST_(KN_F_BOOLEAN), "true: a value or nothing"),
    KN_VALUE("file", KN_REQUEST_(KN_F_BOOLEAN), "true: it was given by a file"),
    KN_VALUE("delimiter", KN_REQUEST_(KN_F_TEXT), "of a file: what stands between its labels, where it was given"),
    KN_VALUE("taxonomy", KN_REQUEST_(KN_F_BOOLEAN), "true: it was given by a taxonomy file"),
};
const kn_fields kn_hierarchy_part = KN_FIELDS_PUT("hierarchy", hierarchy_rows);

static void put_steps(kn_to to, unsigned calendar)
{
    static const char *const names[] = {"day", "month", "quarter", "year", "decade"};
    kn_to                    list = kn_put_list(to, "calendar");
    for (unsigned i = 0; i < 5; i++)
        if (calendar == 0 ? i > 0 : calendar >> i & 1) kn_append_text(list, names[i]);
}

static void put_breaks(kn_to to, const kn_hierarchy_spec *h)
{
    kn_to list = kn_put_list(to, "breaks");
    for (int i = 0; i < h->break_count; i++) {
        kn_to points = kn_append_list(list);
        for (int p = 0; p < h->breaks[i].count; p++) kn_append_text(points, h->breaks[i].points[p]);
    }
}

void kn_put_hierarchy(kn_to to, const char *key, const kn_hierarchy_spec *h)
{
    if (!h) {
        kn_put_null(to, key);
        return;
    }
    kn_to o = kn_put_object(to, key);
    char  delimiter[2] = {h->delimiter, '\0'};
    switch (h->kind) {
    case KN_HIERARCHY_MASK:
        kn_put_text(o, "mask", h->mask_left ? "left" : "right");
        kn_put_integer(o, "step", h->mask_step > 0 ? h->mask_step : 1);
        kn_put_text(o, "character", h->mask ? h->mask : "*");
        kn_put_boolean(o, "pad", h->mask_pad);
        break;
    case KN_HIERARCHY_RANGES:
        kn_put_texts(o, "ranges", h->widths, h->width_count);
        kn_put_text(o, "origin", h->origin ? h->origin : "0");
        break;
    case KN_HIERARCHY_BREAKS: put_breaks(o, h); break;
    case KN_HIERARCHY_CALENDAR: put_steps(o, h->calendar); break;
    case KN_HIERARCHY_PREFIX: kn_put_text(o, "prefix", h->separator); break;
    case KN_HIERARCHY_SUPPRESS: kn_put_boolean(o, "suppress", true); break;
    case KN_HIERARCHY_GROUPS: break; /* of a file, which is named */
    case KN_HIERARCHY_FILE:
        kn_put_boolean(o, "file", true);
        if (h->delimiter) kn_put_text(o, "delimiter", delimiter);
        break;
    case KN_HIERARCHY_TAXONOMY: kn_put_boolean(o, "taxonomy", true); break;
    }
}

/* ---- The request ---- */

static const kn_field_row model_rows[] = {KN_REQUEST_MODEL_ROWS};
static const kn_fields    model_part = KN_FIELDS_PUT("requested_model", model_rows);

static const kn_field_row rows_rows[] = {KN_VALUE("rows", KN_F_ROWS | KN_F_PUBLIC, "at most so many")};
static const kn_fields    rows_part = KN_FIELDS_PUT("budget", rows_rows);

static const kn_field_row kmn_rows[] = {
    KN_VALUE("k", KN_F_ROWS | KN_F_PUBLIC,
             "whoever knows the quasi-identifiers and so many items finds at least k rows"),
    KN_VALUE("m", KN_F_COUNT | KN_F_PUBLIC, "items of a person that somebody may know"),
    KN_VALUE("n", KN_F_COUNT | KN_F_PUBLIC, "relations between them: 0"),
};
static const kn_fields kmn_part = KN_FIELDS_PUT("k_mn", kmn_rows);

static const kn_field_row requested_rows[] = {
    KN_VALUE("k", KN_REQUEST_(KN_F_COUNT), "the largest k among the promises of k, alpha-k and k-mn"),
    KN_VALUE("m", KN_REQUEST_(KN_F_COUNT), "of records: how many values somebody may know"),
    KN_VALUE("n", KN_REQUEST_(KN_F_COUNT), "of records: how many relations between them"),
    KN_VALUE_OF("models", KN_F_LIST | KN_F_PUBLIC, &model_part, "every promise with its thresholds"),
    KN_VALUE("quasi", KN_REQUEST_(KN_F_TEXTS), "of a table: the quasi-identifiers, in the order they were declared"),
    KN_VALUE_OF("k-mn", KN_REQUEST_(KN_F_OBJECT), &kmn_part,
                "of a table with a column of sets: what is promised of it"),
    KN_VALUE_OF("suppression", KN_REQUEST_(KN_F_OBJECT) | KN_F_OR_NUMBER, &rows_part,
                "of a table: rows that may be suppressed, as a share or as a number of rows"),
};
const kn_fields kn_requested_part = KN_FIELDS_PUT("requested", requested_rows);

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
    switch (mode) {
    case KN_SUPPRESSED_STAR: return "star";
    case KN_SUPPRESSED_DROP: return "drop";
    case KN_SUPPRESSED_KEEP_SENSITIVE: return "keep-sensitive";
    }
    return "?";
}

void kn_put_requested(kn_to to, const char *key, const kn_spec *spec)
{
    kn_to    o = kn_put_object(to, key), models = kn_put_list(o, "models");
    kn_shape shape = kn_spec_shape(spec);
    for (int i = 0; i < spec->model_count; i++) kn_put_request_model(kn_append_object(models), &spec->models[i]);
    if (kn_request_k(spec) > 0) kn_put_integer(o, "k", kn_request_k(spec));
    if (shape == KN_SHAPE_RECORDS) {
        kn_put_integer(o, "m", spec->kmn.m);
        kn_put_integer(o, "n", spec->kmn.n);
    }
    if (shape != KN_SHAPE_TABLE) return;
    if (spec->kmn.k > 0) {
        kn_to kmn = kn_put_object(o, "k-mn");
        kn_put_integer(kmn, "k", spec->kmn.k);
        kn_put_integer(kmn, "m", spec->kmn.m);
        kn_put_integer(kmn, "n", spec->kmn.n);
    }
    kn_to quasi = kn_put_list(o, "quasi");
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role == KN_ROLE_QUASI) kn_append_text(quasi, spec->attributes[i].name);
    if (spec->suppression_is_count)
        kn_put_integer(kn_put_object(o, "suppression"), "rows", spec->suppression_rows);
    else
        kn_put_number(o, "suppression", (double)spec->suppression.numerator / (double)spec->suppression.denominator);
}

/* ---- Files ---- */

static const kn_field_row file_rows[] = {
    KN_VALUE("name", KN_F_TEXT | KN_F_PUBLIC, "the file's name"),
    KN_VALUE("sha256", KN_F_TEXT | KN_F_PUBLIC, "its SHA-256"),
};
const kn_fields kn_file_part = KN_FIELDS_PUT("file", file_rows);

void kn_put_files(kn_to to, const char *key, const char *const *names, const char *const *digests, int count)
{
    kn_to list = kn_put_list(to, key);
    for (int i = 0; i < count; i++) {
        kn_to one = kn_append_object(list);
        kn_put_text(one, "name", names[i]);
        kn_put_text(one, "sha256", digests[i]);
    }
}

/* ---- The text ---- */

kn_status kn_document_render(kn_buffer *to, kn_document *doc, kn_error *err)
{
    char  *text = NULL;
    size_t size = 0;
    KN_TRY(kn_document_end(&doc, doc, err));
    kn_status st = kn_document_json(&text, &size, doc, err);
    if (st == KN_OK) kn_buffer_append(to, text, size);
    if (st == KN_OK && to->failed) st = kn_fail_memory(err, to->ctx, "writing the certificate");
    kn_text_free(text);
    kn_document_free(doc);
    return st;
}
