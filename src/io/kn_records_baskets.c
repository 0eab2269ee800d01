/* kn_records_baskets.c: one record per line, its values between delimiters.
 *
 * Spaces around values are dropped, empty values skipped. A value in double quotes may hold the delimiter, and a
 * quote if it is doubled. An empty line is an empty basket. Bytes are UTF-8. Paper: section III (n = 0, flat records).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_records_collect.h"
#include "kn_utf8.h"

enum { PIECE = 1 << 18 };

typedef struct lines {
    kn_collector *c;
    char          delimiter;
    char         *buffer;
    size_t        capacity, filled, at;
    bool          ended;
    int64_t       line;
    kn_buffer     value;
} lines;

static int64_t column_of(const char *line, const char *at)
{
    return (int64_t)kn_utf8_length(line, (size_t)(at - line)) + 1;
}

static kn_status add_value(lines *l, kn_string text, const char *line, const char *at, kn_error *err)
{
    int64_t node = 0, column = column_of(line, at);
    for (size_t i = 0;; i++) { /* nothing but spaces: no value */
        if (i == text.size) return KN_OK;
        if (text.data[i] != ' ' && text.data[i] != '\t') break;
    }
    KN_TRY(kn_collector_node(l->c, -1, 0, l->line, column, &node, err));
    return kn_collector_value(l->c, node, text, err);
}

/* A quoted value: *at is after the opening quote, then after the closing one. */
static kn_status quoted(lines *l, const char *line, const char **at, const char *end, kn_error *err)
{
    const char *p = *at;
    kn_buffer_clear(&l->value);
    for (;; p++) {
        if (p == end)
            return kn_fail_at(err, KN_INPUT, l->c->file, l->line, column_of(line, *at - 1),
                              "a quote that is not closed");
        if (*p == '"' && (p + 1 == end || p[1] != '"')) break;
        p += *p == '"';
        kn_buffer_char(&l->value, *p);
    }
    if (l->value.failed) return kn_fail_memory(err, l->c->ctx, "reading tree records");
    kn_string text = {l->value.data, l->value.size};
    KN_TRY(add_value(l, text, line, *at - 1, err));
    for (p++; p < end && *p != l->delimiter; p++)
        if (*p != ' ' && *p != '\t')
            return kn_fail_at(err, KN_INPUT, l->c->file, l->line, column_of(line, p), "text after a closing quote");
    *at = p;
    return KN_OK;
}

static kn_status read_line(lines *l, const char *line, size_t size, kn_error *err)
{
    const char *at = line, *end = line + size;
    size_t      wrong = kn_utf8_check(line, size);
    if (wrong < size)
        return kn_fail_at(err, KN_INPUT, l->c->file, l->line, column_of(line, line + wrong), "not UTF-8, or a NUL");
    const char *stray = memchr(line, '\r', size);
    if (stray)
        return kn_fail_at(err, KN_INPUT, l->c->file, l->line, column_of(line, stray),
                          "a carriage return inside a line");
    kn_collector_begin(l->c, l->line, 1);
    while (at < end) {
        while (at < end && (*at == ' ' || *at == '\t') && *at != l->delimiter) at++;
        if (at < end && *at == '"') {
            at++;
            KN_TRY(quoted(l, line, &at, end, err));
        } else {
            const char *stop = memchr(at, l->delimiter, (size_t)(end - at));
            if (!stop) stop = end;
            KN_TRY(add_value(l, (kn_string){at, (size_t)(stop - at)}, line, at, err));
            at = stop;
        }
        at += at < end; /* the delimiter */
    }
    return kn_collector_end(l->c, err);
}

static kn_status fill(lines *l, kn_error *err)
{
    size_t got = 0, wanted;
    if (l->at > 0) memmove(l->buffer, l->buffer + l->at, l->filled - l->at);
    l->filled -= l->at;
    l->at = 0;
    wanted = l->filled > PIECE ? l->filled : PIECE; /* a long line is searched a few times, not many       */
    if (l->filled >= KN_RECORDS_MAX_RECORD)
        return kn_fail_at(err, KN_INPUT, l->c->file, l->line, 0, "a line of more than %d bytes", KN_RECORDS_MAX_RECORD);
    if (!KN_GROW(l->c->ctx, &l->buffer, &l->capacity, l->filled + wanted))
        return kn_fail_memory(err, l->c->ctx, "reading tree records");
    KN_TRY(kn_source_read(l->c->source, l->buffer + l->filled, wanted, &got, err));
    kn_progress_add(l->c->ctx, got);
    l->filled += got;
    l->ended = got < wanted;
    return KN_OK;
}

static kn_status read_lines(lines *l, kn_error *err)
{
    KN_TRY(fill(l, err));
    if (l->filled >= 3 && memcmp(l->buffer, "\xef\xbb\xbf", 3) == 0) l->at = 3;
    for (;;) {
        const char *line = l->buffer + l->at, *stop = memchr(line, '\n', l->filled - l->at);
        if (!stop && !l->ended) {
            KN_TRY(fill(l, err));
            continue;
        }
        if (!stop && l->at == l->filled) return KN_OK;
        size_t size = stop ? (size_t)(stop - line) : l->filled - l->at;
        l->line++;
        l->at += size + (stop != NULL);
        KN_TRY(read_line(l, line, size && line[size - 1] == '\r' ? size - 1 : size, err));
    }
}

kn_status kn_baskets_read(kn_collector *c, kn_error *err)
{
    if (c->options->class_count != 1) return kn_fail(err, KN_USAGE, "%s: baskets have values of one class", c->file);
    lines l = {.c = c, .delimiter = c->options->delimiter ? c->options->delimiter : ','};
    c->layout->delimiter = l.delimiter;
    if (l.delimiter == '"' || l.delimiter == '\n' || l.delimiter == '\r')
        return kn_fail(err, KN_USAGE, "%s: a quote or a line end cannot stand between values", c->file);
    kn_buffer_init(&l.value, c->ctx);
    kn_status st = read_lines(&l, err);
    kn_buffer_free(&l.value);
    kn_free(l.buffer);
    return st;
}
