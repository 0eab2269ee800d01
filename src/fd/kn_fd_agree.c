/* kn_fd_agree.c: failures of the exact search: sets of columns in which two rows agree (kn_fd.h).
 *
 * There are too many pairs of rows to compare, but few of their agree sets matter: the maximal ones without A. As in
 * HyFD (Papenbrock, Naumann: "A hybrid approach to functional dependency discovery", SIGMOD 2016) rows are compared
 * that are likely to agree in much: neighbours among the rows with the same value of each column, and rows further
 * apart as long as that brings new sets. What this misses, the checks find (kn_fd_validate.c returns the pairs that
 * refute).
 *
 * Threads: the clusters are cut into pieces by position. A piece collects what its column did not have before this distance;
 * pieces are joined in their order, so that nothing depends on who compared.
 *
 * Cost: rows × columns² for each distance; then, for each A, agree sets × maximal ones among them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_fd.h"
#include "kn_parallel.h"

#define WHAT "searching dependencies"

enum {
    YIELD = 200,    /* comparisons that a new set may cost */
    PIECE = 1 << 14 /* rows that a worker compares at a time */
};

/* ---- Comparing rows ---- */

/* Some rows of a column's clusters, by place, each compared with the one `apart` places before it in its cluster. */
typedef struct piece {
    int        column;
    uint32_t   begin, end;
    uint64_t   comparisons;
    kn_fd_pool fresh; /* what the column's pool does not have yet */
} piece;

typedef struct sampling {
    kn_fd_search *search;
    uint32_t      apart;
    piece        *pieces;
    uint32_t      first[KN_FD_COLUMNS + 1]; /* per column: its pieces                */
    kn_fd_pool    found[KN_FD_COLUMNS];     /* per column: what its clusters brought */
    bool          ended[KN_FD_COLUMNS];     /* per column: it brought too little     */
} sampling;

/* The cluster that a place is in. */
static uint32_t cluster_at(const kn_fd_clusters *k, uint32_t place)
{
    uint32_t low = 0, high = k->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (k->starts[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool compare_rows(const sampling *p, piece *x)
{
    const kn_fd_data     *d = p->search->data;
    const kn_fd_clusters *k = &d->clusters[x->column];
    uint64_t              last = 0;
    for (uint32_t i = cluster_at(k, x->begin); i < k->count && k->starts[i] < x->end; i++) {
        uint32_t m = k->starts[i] + p->apart, end = k->starts[i + 1] < x->end ? k->starts[i + 1] : x->end;
        for (m = m > x->begin ? m : x->begin; m < end; m++) {
            uint64_t set = kn_fd_agree(d, k->members[m - p->apart], k->members[m]);
            bool     added;
            x->comparisons++;
            if (set == last) continue;
            last = set;
            if (kn_fd_pool_has(&p->found[x->column], set)) continue;
            if (!kn_fd_pool_add(&x->fresh, d->ctx, set, &added)) return false;
        }
    }
    return true;
}

static kn_status compare_pieces(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const sampling *p = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        if (!compare_rows(p, &p->pieces[i])) return kn_fail_memory(err, p->search->ctx, WHAT);
    return KN_OK;
}

/* What the pieces of each column found, in their order: is it worth going on? */
static kn_status join_pieces(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    sampling *p = arg;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        kn_fd_pool *found = &p->found[c];
        size_t      known = found->list.count;
        uint64_t    comparisons = 0;
        for (uint32_t i = p->first[c]; i < p->first[c + 1]; i++) {
            const kn_fd_list *fresh = &p->pieces[i].fresh.list;
            bool              added;
            comparisons += p->pieces[i].comparisons;
            for (size_t s = 0; s < fresh->count; s++)
                if (!kn_fd_pool_add(found, p->search->ctx, fresh->sets[s], &added))
                    return kn_fail_memory(err, p->search->ctx, WHAT);
        }
        uint64_t added = found->list.count - known;
        p->ended[c] = added == 0 || added * YIELD < comparisons;
    }
    return KN_OK;
}

/* Cuts the clusters of the columns that are gone on with. */
static bool make_pieces(sampling *p)
{
    const kn_fd_data *d = p->search->data;
    uint32_t          count = 0;
    for (int c = 0; c < d->columns; c++) {
        uint32_t rows = d->clusters[c].starts[d->clusters[c].count];
        p->first[c] = count;
        count += p->ended[c] ? 0 : rows / PIECE + (rows % PIECE != 0);
    }
    p->first[d->columns] = count;
    p->pieces = kn_alloc_array_zero(d->ctx, (size_t)count + 1, sizeof *p->pieces);
    for (int c = 0; c < d->columns && p->pieces; c++)
        for (uint32_t i = p->first[c]; i < p->first[c + 1]; i++) {
            uint32_t rows = d->clusters[c].starts[d->clusters[c].count], begin = (i - p->first[c]) * PIECE;
            p->pieces[i] = (piece){.column = c, .begin = begin, .end = rows - begin > PIECE ? begin + PIECE : rows};
        }
    return p->pieces != NULL;
}

/* All columns at one distance; *more: some are worth the next one. */
static kn_status compare_apart(sampling *p, bool *more, kn_error *err)
{
    kn_context *ctx = p->search->ctx;
    int         columns = p->search->data->columns;
    if (!make_pieces(p)) return kn_fail_memory(err, ctx, WHAT);
    kn_status st = kn_parallel_for(ctx, p->first[columns], 1, compare_pieces, p, err);
    if (st == KN_OK) st = kn_parallel_for(ctx, columns, 1, join_pieces, p, err);
    for (uint32_t i = 0; i < p->first[columns]; i++) kn_fd_pool_free(&p->pieces[i].fresh);
    kn_free(p->pieces);
    *more = false;
    for (int c = 0; c < columns; c++) *more |= !p->ended[c];
    return st;
}

kn_status kn_fd_agree_begin(kn_fd_search *search, kn_error *err)
{
    sampling  p = {.search = search};
    int       columns = search->data->columns;
    bool      added, more = columns > 0;
    kn_status st = KN_OK;
    while (more && st == KN_OK) {
        p.apart++;
        st = compare_apart(&p, &more, err);
        more = more && !kn_fd_clock_passed(search->clock);
    }
    for (int c = 0; c < columns; c++) {
        for (size_t i = 0; i < p.found[c].list.count && st == KN_OK; i++)
            if (!kn_fd_pool_add(&search->agree, search->ctx, p.found[c].list.sets[i], &added))
                st = kn_fail_memory(err, search->ctx, WHAT);
        kn_fd_pool_free(&p.found[c]);
    }
    return st;
}

/* ---- To the right sides ---- */

typedef struct spreading {
    kn_fd_search   *search;
    const uint64_t *sets; /* the largest first, so that few are taken back */
    size_t          count;
} spreading;

static int compare_large_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    int      n = __builtin_popcountll(y) - __builtin_popcountll(x);
    return n ? n : x < y ? -1 : x > y;
}

static kn_status spread_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const spreading *p = arg;
    (void)worker;
    for (int64_t a = begin; a < end; a++)
        for (size_t i = 0; i < p->count; i++)
            if (!(p->sets[i] & kn_fd_bit((int)a)) && !kn_fd_search_failed(p->search, (int)a, p->sets[i]))
                return kn_fail_memory(err, p->search->ctx, WHAT);
    return KN_OK;
}

kn_status kn_fd_agree_spread(kn_fd_search *search, kn_error *err)
{
    kn_fd_list fresh = {0};
    kn_status  st = KN_OK;
    for (; search->spread < search->agree.list.count && st == KN_OK; search->spread++)
        if (!kn_fd_list_add(&fresh, search->ctx, search->agree.list.sets[search->spread]))
            st = kn_fail_memory(err, search->ctx, WHAT);
    if (fresh.count > 1) qsort(fresh.sets, fresh.count, sizeof *fresh.sets, compare_large_first);
    spreading p = {search, fresh.sets, fresh.count};
    if (st == KN_OK) st = kn_parallel_for(search->ctx, search->data->columns, 1, spread_columns, &p, err);
    kn_fd_list_free(&fresh);
    return st;
}
