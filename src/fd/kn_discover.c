/* kn_discover.c: discovery of functional dependencies: the public functions.
 *
 * Interface: kn_discover_dependencies, kn_discovery_list (kanon/dependencies.h). The table becomes rows of codes
 * (kn_fd_data.c), the search runs over it (kn_fd_search.c), and its result is translated back to columns of the
 * table: a column of the search may represent several equivalent ones, each of which may take its place; these
 * determine each other.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fd.h"
#include "kn_meter.h"
#include "kn_options.h"
#include "kn_sort.h"

#define WHAT "searching dependencies"

/* ---- The answer in columns of the table ---- */

/* Sets here are of positions in the list of columns asked for, which are in the order of the table. */
typedef struct answer {
    kn_context       *ctx;
    const kn_fd_data *data;
    const int        *columns; /* of the table, ascending */
    int               column_count;
    uint64_t          said[KN_FD_COLUMNS]; /* per column of the search: the positions that say the same */
    kn_fd_result     *results;
    size_t            count, capacity;
} answer;

static int position_of(const answer *a, int column)
{
    int i = 0;
    while (a->columns[i] != column) i++;
    return i;
}

static bool answer_add(answer *a, uint64_t left, int right, int64_t removed)
{
    if (!KN_GROW(a->ctx, &a->results, &a->capacity, a->count + 1)) return false;
    a->results[a->count++] = (kn_fd_result){left, right, removed};
    return true;
}

/* Every choice of columns for those of `rest`, joined with `left`, determines every column of `right`. */
static bool expand(answer *a, uint64_t rest, uint64_t left, uint64_t right, int64_t removed)
{
    if (!rest) {
        for (; right; right &= right - 1)
            if (!answer_add(a, left, __builtin_ctzll(right), removed)) return false;
        return true;
    }
    for (uint64_t said = a->said[__builtin_ctzll(rest)]; said; said &= said - 1)
        if (!expand(a, rest & (rest - 1), left | (said & -said), right, removed)) return false;
    return true;
}

/* Equivalent columns determine each other, unless they are (nearly) constant. */
static bool add_equivalent(answer *a, int64_t budget)
{
    const kn_fd_data *d = a->data;
    for (int c = 0; c < d->columns; c++) {
        if (d->constant_error[c] <= budget) continue;
        for (uint64_t x = a->said[c]; x; x &= x - 1)
            for (uint64_t y = a->said[c] & ~(x & -x); y; y &= y - 1)
                if (!answer_add(a, x & -x, __builtin_ctzll(y), 0)) return false;
    }
    return true;
}

static bool make_answer(answer *a, const kn_fd_search *s)
{
    const kn_fd_data *d = a->data;
    for (int c = 0; c < d->columns; c++)
        for (int i = 0; i < d->member_count[c]; i++) a->said[c] |= kn_fd_bit(position_of(a, d->members[c][i]));
    for (int i = 0; i < d->constant_count; i++)
        if (!answer_add(a, 0, position_of(a, d->constants[i]), 0)) return false;
    for (size_t i = 0; i < s->count; i++)
        if (!expand(a, s->results[i].left, 0, a->said[s->results[i].right], s->results[i].removed)) return false;
    return add_equivalent(a, s->budget);
}

/* Smaller left sides come first, then the one with the first column that the other lacks: as numbers with their bits turned
 * round, the larger. The key has no room for the last seven; `compare` looks at all. */
static uint64_t key_of(uint64_t left)
{
    uint64_t turned = __builtin_bswap64(left);
    turned = (turned >> 4 & UINT64_C(0x0F0F0F0F0F0F0F0F)) | (turned & UINT64_C(0x0F0F0F0F0F0F0F0F)) << 4;
    turned = (turned >> 2 & UINT64_C(0x3333333333333333)) | (turned & UINT64_C(0x3333333333333333)) << 2;
    turned = (turned >> 1 & UINT64_C(0x5555555555555555)) | (turned & UINT64_C(0x5555555555555555)) << 1;
    return (uint64_t)__builtin_popcountll(left) << 57 | ~turned >> 7;
}

/* Of two with left sides of one size. */
static int compare(const void *arg, uint64_t x, uint64_t y)
{
    const kn_fd_result *results = arg, *a = &results[x], *b = &results[y];
    uint64_t            differ = a->left ^ b->left;
    if (differ) return a->left & differ & -differ ? -1 : 1;
    return a->right - b->right;
}

static kn_status sort_answer(kn_sort_record **out, const answer *a, kn_error *err)
{
    kn_sort_record *order = *out = kn_alloc_array(a->ctx, a->count + 1, sizeof *order);
    if (!order) return kn_fail_memory(err, a->ctx, WHAT);
    for (size_t i = 0; i < a->count; i++) order[i] = (kn_sort_record){key_of(a->results[i].left), i};
    return kn_sort_records(a->ctx, order, a->count, compare, a->results, err);
}

static kn_status write_answer(kn_discovery *out, answer *a, kn_error *err)
{
    size_t          sides = 0;
    kn_sort_record *order = NULL;
    for (size_t i = 0; i < a->count; i++) sides += (size_t)__builtin_popcountll(a->results[i].left);
    /* One block: the dependencies, then their left sides. */
    out->found = kn_alloc(a->ctx, a->count * sizeof *out->found + sides * sizeof(int) + 1);
    kn_status st = out->found ? sort_answer(&order, a, err) : kn_fail_memory(err, a->ctx, WHAT);
    if (st != KN_OK) {
        kn_free(order);
        return st;
    }
    int *at = (int *)(out->found + a->count);
    for (size_t i = 0; i < a->count; i++) {
        const kn_fd_result *r = &a->results[order[i].id];
        out->found[i] = (kn_found_dependency){__builtin_popcountll(r->left), at, a->columns[r->right], r->removed};
        for (uint64_t left = r->left; left; left &= left - 1) *at++ = a->columns[__builtin_ctzll(left)];
    }
    out->count = (int64_t)a->count;
    kn_free(order);
    return KN_OK;
}

/* ---- The run ---- */

static kn_status search(kn_discovery *out, kn_context *ctx, const kn_fd_data *data, const int *columns, int count,
                        const kn_discover_options *o, kn_fd_clock *clock, kn_error *err)
{
    kn_fd_search s = {.ctx = ctx,
                      .data = data,
                      .clock = clock,
                      .budget = kn_fraction_of(o->error, data->freq->rows),
                      .max_left = KN_FD_COLUMNS,
                      .level_work = KN_FD_LEVEL_WORK};
    answer       a = {.ctx = ctx, .data = data, .columns = columns, .column_count = count};
    if (o->max_left > 0 && o->max_left < KN_FD_COLUMNS) s.max_left = o->max_left;
    kn_progress_begin(ctx, "searching", "candidates", 0);
    kn_status st = kn_fd_search_run(&s, err);
    kn_progress_end(ctx);
    if (st == KN_OK && !make_answer(&a, &s)) st = kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) st = write_answer(out, &a, err);
    out->combinations = data->rows;
    out->budget = s.budget;
    out->checked = s.checked;
    out->refuted = s.refuted;
    out->agree_sets = (int64_t)s.agree.list.count;
    out->rounds = s.rounds;
    out->complete = !s.late && !s.cut;
    out->complete_left = out->complete || s.whole > count ? count : s.whole;
    out->why_partial = s.late ? "the time limit was reached" : s.cut ? "longer left sides were not searched" : NULL;
    kn_fd_search_free(&s);
    kn_free(a.results);
    return st;
}

static int compare_columns(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static kn_status find_columns(int *columns, int *count, const kn_table *table, const kn_discover_options *o,
                              kn_error *err)
{
    *count = o->columns ? o->column_count : table->column_count;
    if (*count < 1) return kn_fail(err, KN_USAGE, "no columns to search");
    if (*count > KN_FD_COLUMNS)
        return kn_fail(err, KN_USAGE, "%d columns are too many to search for dependencies: choose at most %d", *count,
                       KN_FD_COLUMNS);
    for (int i = 0; i < *count; i++) {
        columns[i] = o->columns ? kn_table_find(table, o->columns[i]) : i;
        if (columns[i] < 0) return kn_table_no_column(table, "there is", o->columns[i], err);
        for (int j = 0; j < i; j++)
            if (columns[j] == columns[i]) return kn_fail(err, KN_USAGE, "column \"%s\" is named twice", o->columns[i]);
    }
    qsort(columns, (size_t)*count, sizeof *columns, compare_columns);
    return KN_OK;
}

/* The table, the search, and what they took. A caller that measures already is not disturbed. */
static kn_status measured(kn_discovery *out, kn_context *ctx, const kn_table *table, const int *columns, int count,
                          const kn_discover_options *o, kn_fd_clock *clock, kn_error *err)
{
    kn_fd_data *data = NULL;
    double      start = kn_clock_seconds();
    bool        own = !ctx->meter.on;
    if (own) kn_meter_start(ctx, NULL);
    kn_effort begin = kn_meter_read(ctx);
    kn_status st = kn_fd_data_make(&data, ctx, table, columns, count, err);
    if (st == KN_OK) st = search(out, ctx, data, columns, count, o, clock, err);
    kn_effort end = kn_meter_read(ctx);
    if (own) kn_meter_stop(ctx);
    kn_fd_data_free(data);
    out->seconds = kn_clock_seconds() - start;
    out->work = (double)(end.work - begin.work) * 1e-9;
    out->span = (double)(end.span - begin.span) * 1e-9;
    return st;
}

kn_status kn_discover_dependencies(kn_discovery **out, kn_context *ctx, const kn_table *table,
                                   const kn_discover_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_discover_options, KN_DISCOVER_OPTIONS_INIT, options, "discovery options", err);
    const kn_discover_options *o = options;
    int                        columns[KN_FD_COLUMNS], count = 0;
    kn_fd_clock                clock;
    if (o->error.denominator == 0 || o->error.numerator > o->error.denominator)
        return kn_fail(err, KN_USAGE, "the error must be a share between 0 and 1");
    if (o->max_left < 0)
        return kn_fail(err, KN_USAGE, "the largest left side must be a number of columns, or 0 for any");
    if (!(o->time_limit >= 0))
        return kn_fail(err, KN_USAGE, "the time limit must be a number of seconds, or 0 for none");
    KN_TRY(find_columns(columns, &count, table, o, err));
    kn_fd_clock_start(&clock, ctx, o->time_limit);
    kn_discovery *d = kn_alloc_zero(ctx, sizeof *d);
    if (!d) return kn_fail_memory(err, ctx, WHAT);
    d->rows = kn_table_total(table);
    kn_status st = measured(d, ctx, table, columns, count, o, &clock, err);
    if (st != KN_OK)
        kn_discovery_free(d);
    else
        *out = d;
    return st;
}

void kn_discovery_free(kn_discovery *discovery)
{
    if (!discovery) return;
    KN_FREE(discovery->found, discovery);
}

/* ---- As dependencies ---- */

static bool same_left(const kn_found_dependency *a, const kn_found_dependency *b)
{
    return a->left_count == b->left_count && memcmp(a->left, b->left, (size_t)a->left_count * sizeof *a->left) == 0;
}

kn_status kn_discovery_list(kn_dependency_list **out, kn_context *ctx, const kn_discovery *discovery,
                            const kn_table *table, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    const kn_found_dependency *f = discovery->found;
    const char                *left[KN_FD_COLUMNS], *right[KN_FD_COLUMNS];
    kn_dependency_list        *list = kn_alloc_zero(ctx, sizeof *list);
    kn_status                  st = KN_OK;
    if (list) list->items = kn_alloc_array(ctx, (size_t)discovery->count + 1, sizeof *list->items);
    if (!list || !list->items) st = kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK && discovery->count > INT32_MAX) st = kn_fail(err, KN_USAGE, "too many dependencies to list");
    for (int64_t i = 0, next; i < discovery->count && st == KN_OK; i = next) {
        for (next = i; next < discovery->count && same_left(&f[i], &f[next]); next++)
            right[next - i] = kn_table_name(table, f[next].right);
        for (int c = 0; c < f[i].left_count; c++) left[c] = kn_table_name(table, f[i].left[c]);
        if (f[i].left_count == 0) continue;
        st = kn_dependency_make(&list->items[list->count], ctx, KN_DEPENDENCY_FUNCTIONAL, 0, left, f[i].left_count,
                                right, (int)(next - i), err);
        if (st == KN_OK) list->count++;
    }
    if (st != KN_OK)
        kn_dependency_list_free(list);
    else
        *out = list;
    return st;
}
