/* kn_answer_read.c: a file → a document: what the program printed with --json, a certificate, a private file
 * (kn_document_read in kanon/document.h).
 *
 * The first field says which answer it is ("answer", "kanon-certificate", "kanon-private"), and so which table of fields it is
 * read by: a field that is not in the table, or is of another type, is refused. Such a file may come from anybody. Cost: linear
 * in the file. Limits: those of kn_json_parse.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kn_answer.h"
#include "kn_certificate_fields.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_json_parse.h"
#include "kn_private_fields.h"
#include "kn_value.h"

enum { MOST_KEY = 256 };

typedef struct reading {
    kn_context  *ctx;
    kn_json      json;
    kn_document *doc;
    kn_error    *err;
} reading;

static kn_status read_object(reading *r, kn_to to, const kn_fields *fields);

static kn_status refuse(reading *r, const char *message)
{
    return kn_json_fail(&r->json, r->err, message);
}

static kn_status next_key(reading *r, char key[MOST_KEY])
{
    KN_TRY(kn_json_next(&r->json, r->err));
    key[0] = '\0';
    if (r->json.kind == KN_JSON_OBJECT_END) return KN_OK;
    if (r->json.text.size >= MOST_KEY) return refuse(r, "there is no field with such a name");
    memcpy(key, r->json.text.data, r->json.text.size);
    key[r->json.text.size] = '\0';
    return KN_OK;
}

static double number(const reading *r)
{
    kn_decimal value;
    return kn_parse_decimal(r->json.text, '.', &value) ? (value.negative ? -fabs(value.nearest) : value.nearest) : NAN;
}

static const kn_field_row *row_named(const kn_fields *fields, const char *key)
{
    for (int i = 0; fields && i < fields->count; i++)
        if (strcmp(fields->rows[i].name, key) == 0) return &fields->rows[i];
    return NULL;
}

/* ---- Lists ---- */

static kn_status read_texts(reading *r, kn_to list)
{
    for (;;) {
        KN_TRY(kn_json_next(&r->json, r->err));
        if (r->json.kind == KN_JSON_LIST_END) return KN_OK;
        if (r->json.kind != KN_JSON_TEXT) return refuse(r, "only texts may stand in this list");
        kn_append_bytes(list, r->json.text.data, r->json.text.size);
    }
}

static void append_number(reading *r, kn_to list, kn_field_type type)
{
    int64_t whole;
    bool    is_whole = kn_parse_integer(r->json.text, &whole);
    if (type == KN_F_LEVELS)
        kn_append_level(list, is_whole && whole >= 0 && whole <= INT32_MAX ? (int)whole : -1);
    else if (type == KN_F_COUNTS && is_whole)
        kn_append_integer(list, whole);
    else
        kn_append_number(list, number(r));
}

static kn_status read_list(reading *r, kn_to list, const kn_field_row *row)
{
    kn_field_type type = kn_field_kind(row);
    for (;;) {
        KN_TRY(kn_json_next(&r->json, r->err));
        switch (r->json.kind) {
        case KN_JSON_LIST_END: return KN_OK;
        case KN_JSON_TEXT: kn_append_bytes(list, r->json.text.data, r->json.text.size); break;
        case KN_JSON_NUMBER: append_number(r, list, type); break;
        case KN_JSON_OBJECT: KN_TRY(read_object(r, kn_append_object(list), row->of)); break;
        case KN_JSON_LIST: KN_TRY(read_texts(r, kn_append_list(list))); break;
        case KN_JSON_NULL:
            if (type == KN_F_LEVELS)
                kn_append_level(list, -1);
            else
                kn_append_number(list, NAN);
            break;
        default: return refuse(r, "something else stands in this list than its field allows");
        }
    }
}

/* A document has its list of notes from the beginning. */
static kn_status read_notes(reading *r)
{
    for (;;) {
        KN_TRY(kn_json_next(&r->json, r->err));
        if (r->json.kind == KN_JSON_LIST_END) return KN_OK;
        if (r->json.kind != KN_JSON_TEXT) return refuse(r, "notes are texts");
        kn_put_note(r->doc, "%.*s", (int)r->json.text.size, r->json.text.data);
    }
}

/* ---- Objects ---- */

static void put_number(reading *r, kn_to to, const char *key, const kn_field_row *row)
{
    int64_t whole;
    if (!(row->type & KN_F_OR_NUMBER) && kn_parse_integer(r->json.text, &whole))
        kn_put_integer(to, key, whole);
    else
        kn_put_number(to, key, number(r));
}

static kn_status read_figures(reading *r, kn_to figures)
{
    char key[MOST_KEY];
    for (;;) {
        int64_t whole;
        KN_TRY(next_key(r, key));
        if (r->json.kind == KN_JSON_OBJECT_END) return KN_OK;
        KN_TRY(kn_json_next(&r->json, r->err));
        if (r->json.kind != KN_JSON_NUMBER && r->json.kind != KN_JSON_NULL) return refuse(r, "not a figure");
        double value = r->json.kind == KN_JSON_NULL ? NAN : number(r);
        kn_put_figure(figures, key, value, kn_parse_integer(r->json.text, &whole));
    }
}

/* The value of a field; the token is its first. */
static kn_status read_value(reading *r, kn_to to, const char *key, const kn_field_row *row)
{
    switch (r->json.kind) {
    case KN_JSON_TEXT: kn_put_bytes(to, key, r->json.text.data, r->json.text.size); return KN_OK;
    case KN_JSON_NUMBER: put_number(r, to, key, row); return KN_OK;
    case KN_JSON_TRUE:
    case KN_JSON_FALSE: kn_put_boolean(to, key, r->json.kind == KN_JSON_TRUE); return KN_OK;
    case KN_JSON_NULL: kn_put_null(to, key); return KN_OK;
    case KN_JSON_LIST: return read_list(r, kn_put_list(to, key), row);
    case KN_JSON_OBJECT: break;
    default: return refuse(r, "not a document of kanon");
    }
    if (kn_field_kind(row) == KN_F_FIGURES) return read_figures(r, kn_put_object(to, key));
    return read_object(r, kn_put_object(to, key), row->of);
}

/* To the end of an object. Fields that the top of a document has from the beginning are "answer", which was compared, and
 * "notes". */
static kn_status read_object(reading *r, kn_to to, const kn_fields *fields)
{
    char key[MOST_KEY];
    for (;;) {
        KN_TRY(next_key(r, key));
        if (r->json.kind == KN_JSON_OBJECT_END) return KN_OK;
        const kn_field_row *row = row_named(fields, key);
        if (!row)
            return refuse(r,
                          "there is no field of this name; documents are read by the version of kanon that wrote them");
        KN_TRY(kn_json_next(&r->json, r->err));
        if (to.node == kn_document_top(r->doc).node && strcmp(key, "notes") == 0 && r->json.kind == KN_JSON_LIST)
            KN_TRY(read_notes(r));
        else
            KN_TRY(read_value(r, to, key, row));
    }
}

/* ---- Which answer it is ---- */

static bool is_text(const reading *r, const char *text)
{
    return r->json.kind == KN_JSON_TEXT && r->json.text.size == strlen(text) &&
           memcmp(r->json.text.data, text, r->json.text.size) == 0;
}

static const kn_fields *named(const reading *r)
{
    for (int i = 0; kn_answer_at(i); i++)
        if (is_text(r, kn_answer_name(i)) && row_named(kn_answer_at(i), "answer")) return kn_answer_at(i);
    return NULL;
}

/* The version of a certificate or private file, then its shape: the tables of the three shapes in their order. */
static kn_status begin_versioned(reading *r, const char *key, int64_t version, const kn_fields *const tables[KN_SHAPES])
{
    int64_t found;
    char    second[MOST_KEY];
    KN_TRY(kn_json_next(&r->json, r->err));
    if (r->json.kind != KN_JSON_NUMBER || !kn_parse_integer(r->json.text, &found))
        return refuse(r, "its version should be a number");
    if (found != version)
        return kn_fail(r->err, KN_INPUT, "%s: %s is %" PRId64 "; this program reads %" PRId64, r->json.file, key, found,
                       version);
    KN_TRY(next_key(r, second));
    if (strcmp(second, "shape") != 0) return refuse(r, "its second field should be \"shape\"");
    KN_TRY(kn_json_next(&r->json, r->err));
    for (int s = 0; s < KN_SHAPES; s++) {
        if (!is_text(r, kn_shape_name((kn_shape)s))) continue;
        KN_TRY(kn_document_begin(&r->doc, r->ctx, tables[s], r->err));
        kn_put_integer(kn_document_top(r->doc), key, found);
        kn_put_text(kn_document_top(r->doc), "shape", kn_shape_name((kn_shape)s));
        return read_object(r, kn_document_top(r->doc), tables[s]);
    }
    return refuse(r, "there is no such shape");
}

static kn_status read_top(reading *r)
{
    static const kn_fields *const certificates[] = {&kn_certificate_of_table, &kn_certificate_of_database,
                                                    &kn_certificate_of_records};
    static const kn_fields *const privates[] = {&kn_private_of_table, &kn_private_of_database, &kn_private_of_records};
    static const char other[] = "not a document of kanon: one begins with \"answer\", \"kanon-certificate\" or "
                                "\"kanon-private\"";
    char              key[MOST_KEY];
    KN_TRY(kn_json_next(&r->json, r->err));
    if (r->json.kind != KN_JSON_OBJECT) return refuse(r, other);
    KN_TRY(next_key(r, key));
    if (strcmp(key, "kanon-certificate") == 0) return begin_versioned(r, key, 2, certificates);
    if (strcmp(key, "kanon-private") == 0) return begin_versioned(r, key, 3, privates);
    if (strcmp(key, "answer") != 0) return refuse(r, other);
    KN_TRY(kn_json_next(&r->json, r->err));
    const kn_fields *fields = named(r);
    if (!fields) return refuse(r, "there is no such answer; kanon help answers lists them");
    KN_TRY(kn_document_begin(&r->doc, r->ctx, fields, r->err));
    return read_object(r, kn_document_top(r->doc), fields);
}

static kn_status read_source(reading *r, kn_source *source)
{
    kn_error wrong = KN_ERROR_INIT;
    KN_TRY(kn_json_open(&r->json, r->ctx, source, false, r->err));
    KN_TRY(read_top(r));
    KN_TRY(kn_json_next(&r->json, r->err)); /* refuses anything after it */
    kn_document *doc = r->doc;
    r->doc = NULL;
    kn_status st = kn_document_end(&r->doc, doc, &wrong);
    if (st == KN_MEMORY) return kn_fail_memory(r->err, r->ctx, "reading a document");
    return st == KN_OK ? KN_OK : kn_fail(r->err, KN_INPUT, "%s: %s", r->json.file, wrong.message);
}

kn_status kn_document_read(kn_document **out, kn_context *ctx, const char *path, kn_error *err)
{
    reading    r = {.ctx = ctx, .err = err};
    kn_source *source = NULL;
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_TRY(kn_source_open(&source, ctx, path, err));
    kn_status st = read_source(&r, source);
    if (st == KN_OK)
        *out = r.doc;
    else
        kn_document_free(r.doc);
    kn_json_close(&r.json);
    kn_source_free(source);
    return st;
}
