/* kn_dependency.c: dependencies as text: reading "a, b -> c", "a ->> b", "a -3-> b", and writing them again.
 *
 * Interface: kanon/dependencies.h. Cost: linear in the text, quadratic in the number of columns named (looking for
 * one that occurs twice). A dependency and all its strings are one block of memory.
 *
 * The grammar:  names arrow names;  names = name {"," name};  arrow = "->" | "->>" | "-" digits "->".
 * An unquoted name ends before a comma or an arrow and is stripped of blanks. The arrow with digits needs a blank or
 * a quote before it, since "-3" is a fine end of a name.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/dependencies.h>
#include <stdint.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_dependency_text.h"
#include "kn_error.h"
#include "kn_string.h"

/* ---- Making one ---- */

const char *kn_dependency_kind_name(kn_dependency_kind kind)
{
    static const char *const names[] = {"functional", "multivalued", "multiset"};
    return names[kind];
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool needs_quotes(const char *name)
{
    size_t n = strlen(name);
    return n == 0 || blank(name[0]) || blank(name[n - 1]) || name[0] == '"' || name[0] == '\'' || strchr(name, ',') ||
           strstr(name, "->") || name[n - 1] == '-'; /* "a- -> b" would be legal, but hard to read               */
}

void kn_dependency_name(kn_buffer *b, const char *name)
{
    if (!needs_quotes(name)) {
        kn_buffer_add(b, name);
        return;
    }
    kn_buffer_char(b, '"');
    kn_buffer_doubled(b, name, strlen(name));
    kn_buffer_char(b, '"');
}

static void write_side(kn_buffer *b, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (i > 0) kn_buffer_add(b, ", ");
        kn_dependency_name(b, names[i]);
    }
}

static const char *copy_text(char **at, const char *text)
{
    size_t n = strlen(text) + 1;
    char  *copy = *at;
    memcpy(copy, text, n);
    *at += n;
    return copy;
}

/* One block: the struct, the pointers, the texts. */
static kn_dependency *assemble(kn_context *ctx, const kn_dependency *from, const char *text)
{
    size_t names = (size_t)from->left_count + (size_t)from->right_count;
    size_t bytes = strlen(text) + 1;
    for (int i = 0; i < from->left_count; i++) bytes += strlen(from->left[i]) + 1;
    for (int i = 0; i < from->right_count; i++) bytes += strlen(from->right[i]) + 1;
    kn_dependency *d = kn_alloc(ctx, sizeof *d + names * sizeof(char *) + bytes);
    if (!d) return NULL;
    const char **name = (const char **)(d + 1);
    char        *at = (char *)(name + names);
    *d = *from;
    d->left = name;
    d->right = name + from->left_count;
    for (int i = 0; i < from->left_count; i++) *name++ = copy_text(&at, from->left[i]);
    for (int i = 0; i < from->right_count; i++) *name++ = copy_text(&at, from->right[i]);
    d->text = copy_text(&at, text);
    return d;
}

static kn_status make(kn_dependency **out, kn_context *ctx, const kn_dependency *from, kn_error *err)
{
    kn_buffer b;
    kn_buffer_init(&b, ctx);
    write_side(&b, from->left, from->left_count);
    if (from->kind == KN_DEPENDENCY_MULTISET)
        kn_buffer_format(&b, " -%lld-> ", (long long)from->k);
    else
        kn_buffer_add(&b, from->kind == KN_DEPENDENCY_MULTIVALUED ? " ->> " : " -> ");
    write_side(&b, from->right, from->right_count);
    const char *text = kn_buffer_text(&b);
    *out = text ? assemble(ctx, from, text) : NULL;
    kn_buffer_free(&b);
    return *out ? KN_OK : kn_fail_memory(err, ctx, "a dependency");
}

static const char *name_of(const kn_dependency *d, int i)
{
    return i < d->left_count ? d->left[i] : d->right[i - d->left_count];
}

/* The index, over left and right side, of an earlier equal name; -1: none. */
static int repeated(const kn_dependency *d)
{
    for (int i = 1; i < d->left_count + d->right_count; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(name_of(d, i), name_of(d, j)) == 0) return i;
    return -1;
}

kn_status kn_dependency_make(kn_dependency **out, kn_context *ctx, kn_dependency_kind kind, int64_t k,
                             const char *const *left, int left_count, const char *const *right, int right_count,
                             kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    kn_dependency from = {.kind = kind,
                          .k = kind == KN_DEPENDENCY_MULTISET ? k : 0,
                          .left_count = left_count,
                          .right_count = right_count,
                          .left = left,
                          .right = right};
    if (left_count < 1 || right_count < 1) return kn_fail(err, KN_USAGE, "a side of a dependency is empty");
    if (kind == KN_DEPENDENCY_MULTISET && k < 2)
        return kn_fail(err, KN_USAGE, "a multiset dependency needs a k of at least 2");
    int twice = repeated(&from);
    if (twice >= 0) return kn_fail(err, KN_USAGE, "column \"%s\" stands twice in a dependency", name_of(&from, twice));
    return make(out, ctx, &from, err);
}

void kn_dependency_free(kn_dependency *dependency)
{
    kn_free(dependency);
}

void kn_dependency_list_free(kn_dependency_list *list)
{
    if (!list) return;
    for (int i = 0; i < list->count; i++) kn_dependency_free(list->items[i]);
    kn_free(list->items);
    kn_free(list);
}

/* ---- Reading ---- */

typedef struct reader {
    kn_context *ctx;
    const char *text, *at;
    char     *names; /* the names read so far, each with a NUL; at most as long as the text                           */
    size_t    used;
    size_t   *offsets;   /* of each name in `names` */
    size_t   *positions; /* of each name in the text */
    size_t    offset_capacity, position_capacity;
    int       count;
    kn_error *err;
} reader;

static kn_status wrong(reader *r, const char *at, const char *what)
{
    int64_t position = at - r->text + 1;
    kn_fail(r->err, KN_INPUT, "dependency \"%.300s\", character %lld: %s", r->text, (long long)position, what);
    if (r->err) r->err->column = position;
    return KN_INPUT;
}

static void skip_blanks(reader *r)
{
    while (blank(*r->at)) r->at++;
}

/* The length of the arrow at `at`; 0: there is none. The digits of a multiset arrow count only after a blank or a
 * quote. */
static size_t arrow_length(const reader *r, const char *at)
{
    if (at[0] != '-') return 0;
    if (at[1] == '>') return at[2] == '>' ? 3 : 2;
    size_t n = strspn(at + 1, "0123456789");
    bool   apart = at == r->text || blank(at[-1]) || at[-1] == '"' || at[-1] == '\'';
    return n > 0 && apart && at[n + 1] == '-' && at[n + 2] == '>' ? n + 3 : 0;
}

static bool begin_name(reader *r)
{
    void *offsets = r->offsets, *positions = r->positions;
    bool  room = kn_grow(r->ctx, &offsets, &r->offset_capacity, (size_t)r->count + 1, sizeof *r->offsets);
    room = room && kn_grow(r->ctx, &positions, &r->position_capacity, (size_t)r->count + 1, sizeof *r->positions);
    r->offsets = offsets;
    r->positions = positions;
    if (!room) return false;
    r->offsets[r->count] = r->used;
    r->positions[r->count] = (size_t)(r->at - r->text);
    r->count++;
    return true;
}

static kn_status read_quoted(reader *r)
{
    const char *start = r->at;
    char        quote = *r->at++;
    for (;; r->at++) {
        if (*r->at == '\0') return wrong(r, start, "the quote is never closed");
        if (*r->at == quote && *++r->at != quote) break;
        r->names[r->used++] = *r->at;
    }
    r->names[r->used++] = '\0';
    return KN_OK;
}

static kn_status read_plain(reader *r)
{
    const char *start = r->at;
    while (*r->at && *r->at != ',' && arrow_length(r, r->at) == 0) r->at++;
    size_t n = (size_t)(r->at - start);
    while (n > 0 && blank(start[n - 1])) n--;
    if (n == 0) return wrong(r, start, "a column name is missing");
    memcpy(r->names + r->used, start, n);
    r->used += n;
    r->names[r->used++] = '\0';
    return KN_OK;
}

/* Names up to an arrow or the end. */
static kn_status read_side(reader *r)
{
    for (;;) {
        skip_blanks(r);
        if (!begin_name(r)) return kn_fail_memory(r->err, r->ctx, "a dependency");
        KN_TRY(*r->at == '"' || *r->at == '\'' ? read_quoted(r) : read_plain(r));
        skip_blanks(r);
        if (*r->at == '\0' || arrow_length(r, r->at) > 0) return KN_OK;
        if (*r->at != ',') return wrong(r, r->at, "a comma or an arrow is expected behind a quoted name");
        r->at++;
    }
}

static kn_status read_arrow(reader *r, kn_dependency *d)
{
    const char *start = r->at;
    size_t      n = arrow_length(r, start);
    if (n == 0) return wrong(r, start, "an arrow is missing: ->, ->> or -k->");
    r->at += n;
    d->kind = n == 2 ? KN_DEPENDENCY_FUNCTIONAL : KN_DEPENDENCY_MULTIVALUED;
    if (start[1] == '>') return KN_OK;
    d->kind = KN_DEPENDENCY_MULTISET;
    for (const char *c = start + 1; *c != '-'; c++) {
        if (d->k > (INT64_MAX - 9) / 10) return wrong(r, start, "this k is too large");
        d->k = d->k * 10 + (*c - '0');
    }
    return d->k >= 2 ? KN_OK : wrong(r, start, "the k of a multiset dependency is at least 2");
}

static kn_status read_all(reader *r, kn_dependency *d)
{
    skip_blanks(r);
    if (arrow_length(r, r->at) > 0) return wrong(r, r->at, "the left side is empty");
    if (*r->at == '\0') return wrong(r, r->at, "a dependency is expected, such as a, b -> c");
    KN_TRY(read_side(r));
    d->left_count = r->count;
    KN_TRY(read_arrow(r, d));
    skip_blanks(r);
    if (*r->at == '\0') return wrong(r, r->at, "the right side is empty");
    KN_TRY(read_side(r));
    d->right_count = r->count - d->left_count;
    return *r->at ? wrong(r, r->at, "there is a second arrow") : KN_OK;
}

static kn_status finish(kn_dependency **out, reader *r, kn_dependency *d)
{
    const char **names = kn_alloc_array(r->ctx, (size_t)r->count, sizeof *names);
    if (!names) return kn_fail_memory(r->err, r->ctx, "a dependency");
    for (int i = 0; i < r->count; i++) names[i] = r->names + r->offsets[i];
    d->left = names;
    d->right = names + d->left_count;
    int       twice = repeated(d);
    kn_status st;
    if (twice < 0)
        st = make(out, r->ctx, d, r->err);
    else
        st = wrong(r, r->text + r->positions[twice], "this column stands there already: each stands once, on one side");
    kn_free(names);
    return st;
}

kn_status kn_dependency_parse(kn_dependency **out, kn_context *ctx, const char *text, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    /* A name and its NUL are no longer than the name and the comma, arrow or end after it. */
    reader        r = {.ctx = ctx, .text = text, .at = text, .names = kn_alloc(ctx, strlen(text) + 2), .err = err};
    kn_dependency d = {0};
    kn_status     st = r.names ? read_all(&r, &d) : kn_fail_memory(err, ctx, "a dependency");
    if (st == KN_OK) st = finish(out, &r, &d);
    kn_free(r.names);
    kn_free(r.offsets);
    kn_free(r.positions);
    return st;
}
