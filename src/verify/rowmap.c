/* rowmap.c: kn_verify_rowmap.h. Memory: the file's text and 8 bytes per line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_verify_rowmap.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_error.h"
#include "kn_source.h"
#include "kn_string.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"

/* One line without its end; false at the end of the text. */
static bool next_line(const kn_buffer *text, size_t *at, kn_string *line)
{
    if (*at >= text->size) return false;
    size_t end = *at;
    while (end < text->size && text->data[end] != '\n') end++;
    *line = (kn_string){text->data + *at, end - *at};
    *at = end + 1;
    if (line->size > 0 && line->data[line->size - 1] == '\r') line->size--;
    return true;
}

static bool read_number(kn_string line, int64_t *out)
{
    if (line.size == 0 || line.size > 18) return false;
    *out = 0;
    for (size_t i = 0; i < line.size; i++) {
        if (line.data[i] < '0' || line.data[i] > '9') return false;
        *out = *out * 10 + (line.data[i] - '0');
    }
    return *out > 0;
}

static kn_status parse(int64_t **out, int64_t *count, kn_context *ctx, const kn_buffer *text, const char *path,
                       const char *what, kn_error *err)
{
    size_t    at = 0, capacity = 0;
    kn_string line;
    if (!next_line(text, &at, &line) || !kn_string_equal(line, kn_string_of("kanon-rowmap 1")))
        return kn_fail_at(err, KN_INPUT, path, 1, 0, "this is not a row map: the first line is not \"kanon-rowmap 1\"");
    for (*count = 0; next_line(text, &at, &line); ++*count) {
        void *map = *out;
        if (!kn_grow(ctx, &map, &capacity, (size_t)*count + 1, sizeof **out)) return kn_fail_memory(err, ctx, WHAT);
        *out = map;
        if (!read_number(line, &(*out)[*count]))
            return kn_fail_at(err, KN_INPUT, path, *count + 2, 0, "not the number of a %s", what);
        (*out)[*count]--;
    }
    return KN_OK;
}

static kn_status read_file(int64_t **out, int64_t *count, kn_context *ctx, const char *path, const char *what,
                           kn_error *err)
{
    kn_source *source = NULL;
    kn_buffer  text;
    KN_TRY(kn_source_open(&source, ctx, path, err));
    kn_buffer_init(&text, ctx);
    kn_status st = kn_vread_all(source, &text, SIZE_MAX, err);
    if (st == KN_OK) st = parse(out, count, ctx, &text, path, what, err);
    kn_buffer_free(&text);
    kn_source_free(source);
    return st;
}

kn_status kn_vrowmap_once(const int64_t *given, const char *path, kn_error *err)
{
    if (!given || !path) return KN_OK;
    return kn_fail(err, KN_USAGE, "a row map was given twice, as a file and in memory; give one of them");
}

kn_status kn_vrowmap_take(int64_t **map, int64_t *count, kn_context *ctx, const int64_t *given, int64_t given_count,
                          const char *path, const char *what, kn_error *err)
{
    if (!given) return read_file(map, count, ctx, path, what, err);
    *count = given_count;
    *map = kn_alloc_array(ctx, (size_t)given_count + 1, sizeof **map);
    if (!*map) return kn_fail_memory(err, ctx, WHAT);
    if (given_count > 0) memcpy(*map, given, (size_t)given_count * sizeof **map);
    return KN_OK;
}
