/* kn_json_parse.c: JSON as a stream of tokens. See the header.
 *
 * Cost: each byte is read once. Memory: one piece of the file and the longest text. Limits: KN_JSON_MAX_DEPTH lists and
 * objects inside each other, texts of KN_JSON_MAX_TEXT bytes. Reference: RFC 8259; Unicode 15, table 3-7.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_json_parse.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_utf8.h"

enum { PIECE = 1 << 18 };

/* ---- Bytes ---- */

kn_status kn_json_open(kn_json *j, kn_context *ctx, kn_source *source, bool many, kn_error *err)
{
    memset(j, 0, sizeof *j);
    j->ctx = ctx;
    j->source = source;
    j->file = kn_source_name(source);
    j->many = many;
    kn_buffer_init(&j->scratch, ctx);
    j->buffer = kn_alloc(ctx, PIECE);
    return j->buffer ? KN_OK : kn_fail_memory(err, ctx, "reading JSON");
}

void kn_json_close(kn_json *j)
{
    kn_free(j->buffer);
    j->buffer = NULL;
    kn_buffer_free(&j->scratch);
}

kn_status kn_json_fail(const kn_json *j, kn_error *err, const char *message)
{
    return kn_fail_at(err, KN_INPUT, j->file, j->line, j->column, "%s", message);
}

static void take_place(kn_json *j)
{
    j->line = j->lines + 1;
    j->column = (int64_t)(j->offset + j->at - j->line_start - j->inside) + 1;
}

/* Fails at the next byte. */
static kn_status fail_here(kn_json *j, kn_error *err, const char *message)
{
    take_place(j);
    return kn_fail_at(err, KN_INPUT, j->file, j->line, j->column, "not JSON: %s", message);
}

/* Makes sure that there is a byte at `at`, unless the file has ended. */
static kn_status more(kn_json *j, kn_error *err)
{
    if (j->at < j->filled || j->ended) return KN_OK;
    j->offset += j->filled;
    j->at = j->filled = 0;
    KN_TRY(kn_source_read(j->source, j->buffer, PIECE, &j->filled, err));
    kn_progress_add(j->ctx, j->filled);
    j->ended = j->filled < PIECE;
    return kn_cancelled(j->ctx) ? kn_fail_cancelled(err) : KN_OK;
}

/* The next byte, without consuming it; -1: the file has ended. */
static kn_status peek(kn_json *j, int *out, kn_error *err)
{
    KN_TRY(more(j, err));
    *out = j->at < j->filled ? (unsigned char)j->buffer[j->at] : -1;
    return KN_OK;
}

static kn_status pass_space(kn_json *j, int *next, kn_error *err)
{
    for (;;) {
        KN_TRY(peek(j, next, err));
        if (*next == '\n') {
            j->lines++;
            j->line_start = j->offset + j->at + 1;
            j->inside = 0;
        } else if (*next != ' ' && *next != '\t' && *next != '\r') {
            return KN_OK;
        }
        j->at++;
    }
}

/* ---- Texts ---- */

static kn_status keep(kn_json *j, const char *bytes, size_t size, kn_error *err)
{
    if (j->scratch.size + size > KN_JSON_MAX_TEXT) return fail_here(j, err, "a text that is too long");
    kn_buffer_append(&j->scratch, bytes, size);
    return j->scratch.failed ? kn_fail_memory(err, j->ctx, "reading JSON") : KN_OK;
}

static kn_status hex4(kn_json *j, uint32_t *out, kn_error *err)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        int c;
        KN_TRY(peek(j, &c, err));
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c - 'A' + 10;
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
            return fail_here(j, err, "four hexadecimal digits are expected after \\u");
        *out = *out << 4 | (uint32_t)digit;
        j->at++;
    }
    return KN_OK;
}

/* After "\u". */
static kn_status unicode_escape(kn_json *j, kn_error *err)
{
    uint32_t c = 0, low = 0;
    KN_TRY(hex4(j, &c, err));
    if (c >= 0xd800 && c < 0xdc00) {
        for (int i = 0; i < 2; i++) {
            int next;
            KN_TRY(peek(j, &next, err));
            if (next != "\\u"[i]) return fail_here(j, err, "half of a surrogate pair");
            j->at++;
        }
        KN_TRY(hex4(j, &low, err));
        if (low < 0xdc00 || low > 0xdfff) return fail_here(j, err, "half of a surrogate pair");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c <= 0xdfff) {
        return fail_here(j, err, "half of a surrogate pair");
    }
    if (c == 0) return fail_here(j, err, "a NUL in a text");
    char bytes[4];
    return keep(j, bytes, kn_utf8_put(bytes, c), err);
}

static kn_status escape(kn_json *j, kn_error *err)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int               c;
    j->at++; /* the backslash */
    KN_TRY(peek(j, &c, err));
    if (c == 'u') {
        j->at++;
        return unicode_escape(j, err);
    }
    const char *found = c > 0 ? strchr(from, c) : NULL;
    if (!found) return fail_here(j, err, "no such escape");
    j->at++;
    return keep(j, &to[found - from], 1, err);
}

/* One character that is not ASCII: all its bytes, which may be in two pieces. */
static kn_status wide_character(kn_json *j, kn_error *err)
{
    char   bytes[4];
    size_t size = 0;
    int    lead, c;
    KN_TRY(peek(j, &lead, err));
    size_t  wanted = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    int64_t line = j->lines + 1, column = (int64_t)(j->offset + j->at - j->line_start - j->inside) + 1;
    for (; size < wanted; size++) {
        KN_TRY(peek(j, &c, err));
        if (c < 0x80) break; /* or the end */
        bytes[size] = (char)c;
        j->at++;
        j->inside += size > 0;
    }
    if (size == wanted && kn_utf8_check(bytes, size) == size) return keep(j, bytes, size, err);
    return kn_fail_at(err, KN_INPUT, j->file, line, column, "not JSON: bytes that are not UTF-8");
}

/* After the opening quote. */
static kn_status text(kn_json *j, kn_error *err)
{
    j->at++;
    kn_buffer_clear(&j->scratch);
    for (;;) {
        int c;
        KN_TRY(peek(j, &c, err));
        if (c < 0) return fail_here(j, err, "the file ends inside a text");
        size_t end = j->at;
        while (end < j->filled && (unsigned char)j->buffer[end] >= 0x20 && (unsigned char)j->buffer[end] < 0x80 &&
               j->buffer[end] != '"' && j->buffer[end] != '\\')
            end++;
        if (end > j->at) {
            KN_TRY(keep(j, j->buffer + j->at, end - j->at, err));
            j->at = end;
            continue;
        }
        if (c < 0x20) return fail_here(j, err, "a control character in a text");
        if (c == '"') break;
        KN_TRY(c == '\\' ? escape(j, err) : wide_character(j, err));
    }
    j->at++;
    const char *bytes = kn_buffer_text(&j->scratch);
    if (!bytes) return kn_fail_memory(err, j->ctx, "reading JSON");
    j->text = (kn_string){bytes, j->scratch.size};
    return KN_OK;
}

/* ---- Numbers and words ---- */

/* Appends digits; at least one. */
static kn_status digits(kn_json *j, kn_error *err)
{
    for (size_t count = 0;; count++) {
        int c;
        KN_TRY(peek(j, &c, err));
        if (c < '0' || c > '9') return count ? KN_OK : fail_here(j, err, "a digit is expected");
        KN_TRY(keep(j, &j->buffer[j->at], 1, err));
        j->at++;
    }
}

static kn_status take(kn_json *j, const char *any_of, bool *taken, kn_error *err)
{
    int c;
    KN_TRY(peek(j, &c, err));
    *taken = c > 0 && strchr(any_of, c);
    if (!*taken) return KN_OK;
    KN_TRY(keep(j, &j->buffer[j->at], 1, err));
    j->at++;
    return KN_OK;
}

static kn_status number(kn_json *j, kn_error *err)
{
    bool taken;
    kn_buffer_clear(&j->scratch);
    KN_TRY(take(j, "-", &taken, err));
    KN_TRY(take(j, "0", &taken, err));
    if (!taken) KN_TRY(digits(j, err));
    KN_TRY(take(j, ".", &taken, err));
    if (taken) KN_TRY(digits(j, err));
    KN_TRY(take(j, "eE", &taken, err));
    if (taken) {
        KN_TRY(take(j, "+-", &taken, err));
        KN_TRY(digits(j, err));
    }
    const char *bytes = kn_buffer_text(&j->scratch);
    if (!bytes) return kn_fail_memory(err, j->ctx, "reading JSON");
    j->kind = KN_JSON_NUMBER;
    j->text = (kn_string){bytes, j->scratch.size};
    return KN_OK;
}

static kn_status word(kn_json *j, const char *wanted, kn_json_kind kind, kn_error *err)
{
    for (const char *w = wanted; *w; w++, j->at++) {
        int c;
        KN_TRY(peek(j, &c, err));
        if (c != *w) return fail_here(j, err, "no such word");
    }
    j->kind = kind;
    j->text = kn_string_of(wanted);
    return KN_OK;
}

/* ---- Grammar ---- */

static kn_status begin(kn_json *j, bool object, kn_error *err)
{
    if (j->depth >= KN_JSON_MAX_DEPTH) return fail_here(j, err, "lists and objects nest too deeply");
    j->in_object[j->depth++] = object;
    j->first = true;
    j->kind = object ? KN_JSON_OBJECT : KN_JSON_LIST;
    j->at++;
    return KN_OK;
}

static kn_status end(kn_json *j)
{
    j->kind = j->in_object[--j->depth] ? KN_JSON_OBJECT_END : KN_JSON_LIST_END;
    j->first = false;
    j->done = j->depth == 0;
    j->at++;
    return KN_OK;
}

static kn_status value(kn_json *j, int c, kn_error *err)
{
    j->first = false;
    j->after_key = false;
    switch (c) {
    case '{': return begin(j, true, err);
    case '[': return begin(j, false, err);
    case '"':
        j->kind = KN_JSON_TEXT;
        KN_TRY(text(j, err));
        break;
    case 't': KN_TRY(word(j, "true", KN_JSON_TRUE, err)); break;
    case 'f': KN_TRY(word(j, "false", KN_JSON_FALSE, err)); break;
    case 'n': KN_TRY(word(j, "null", KN_JSON_NULL, err)); break;
    default:
        if (c != '-' && (c < '0' || c > '9'))
            return fail_here(j, err, c < 0 ? "the file ends too early" : "a value is expected");
        KN_TRY(number(j, err));
    }
    j->done = j->depth == 0;
    return KN_OK;
}

static kn_status key(kn_json *j, int c, kn_error *err)
{
    if (c != '"') return fail_here(j, err, c < 0 ? "the file ends too early" : "a name in quotes is expected");
    KN_TRY(text(j, err));
    KN_TRY(pass_space(j, &c, err));
    if (c != ':') return fail_here(j, err, "a colon is expected");
    j->at++;
    j->kind = KN_JSON_KEY;
    j->after_key = true;
    j->first = false;
    return KN_OK;
}

/* At the beginning of a document, or after its end. */
static kn_status outside(kn_json *j, int c, kn_error *err)
{
    if (c < 0 && (j->done || j->many)) {
        j->kind = KN_JSON_END;
        return KN_OK;
    }
    if (j->done && !j->many) return fail_here(j, err, "something follows the document");
    return value(j, c, err);
}

kn_status kn_json_next(kn_json *j, kn_error *err)
{
    int c;
    if (j->offset == 0 && j->at == 0 && !j->ended) { /* a byte order mark */
        KN_TRY(more(j, err));
        if (j->filled >= 3 && memcmp(j->buffer, "\xef\xbb\xbf", 3) == 0) {
            j->at = 3;
            j->line_start = 3;
        }
    }
    KN_TRY(pass_space(j, &c, err));
    take_place(j);
    j->text = (kn_string){"", 0};
    if (j->depth == 0) return outside(j, c, err);
    bool object = j->in_object[j->depth - 1];
    if (!j->after_key && c == (object ? '}' : ']')) return end(j);
    if (!j->after_key && !j->first) {
        if (c != ',') return fail_here(j, err, c < 0 ? "the file ends too early" : "a comma is expected");
        j->at++;
        KN_TRY(pass_space(j, &c, err));
        take_place(j);
    }
    return object && !j->after_key ? key(j, c, err) : value(j, c, err);
}

kn_status kn_json_skip(kn_json *j, kn_error *err)
{
    if (j->kind != KN_JSON_OBJECT && j->kind != KN_JSON_LIST) return KN_OK;
    for (int depth = j->depth - 1; j->depth > depth;) KN_TRY(kn_json_next(j, err));
    return KN_OK;
}
