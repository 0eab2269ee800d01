/* kn_fd_agree.c: failures of the exact search: sets of columns in which two rows agree (kn_fd.h).
 *
 * There are too many pairs of rows to compare, but few of their agree sets matter: the maximal ones without A. As in
 * HyFD (Papenbrock, Naumann: "A hybrid approach to functional dependency discovery", SIGMOD 2016) rows are compared
 * that are likely to agree in much: neighbours among the rows with the same value of each column, and rows further
 * apart as long as that brings new sets. What this misses, the checks find (kn_fd_validate.c returns the pairs that
 * refute).
 *
 * Cost: rows × columns² for each distance; then, for each A, agree sets × maximal ones among them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "kn_error.h"
#include "kn_fd.h"
#include "kn_parallel.h"

#define WHAT "searching dependencies"

enum { YIELD = 200 }; /* comparisons that a new set may cost */

/* ---- Comparing rows ---- */

typedef struct sampling {
    kn_fd_search *search;
    kn_fd_pool    found[KN_FD_COLUMNS]; /* per column: what its clusters brought */
} sampling;

/* Compares rows `apart` places apart in each cluster of a column. */
static bool compare_rows(sampling *p, int column, uint32_t apart, uint64_t *comparisons, uint64_t *added)
{
    const kn_fd_data     *d = p->search->data;
    const kn_fd_clusters *k = &d->clusters[column];
    uint64_t              last = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        for (uint32_t m = k->starts[i] + apart; m < k->starts[i + 1]; m++) {
            uint64_t set = kn_fd_agree(d, k->members[m - apart], k->members[m]);
            bool     fresh = false;
            ++*comparisons;
            if (set == last) continue;
            last = set;
            if (!kn_fd_pool_add(&p->found[column], d->ctx, set, &fresh)) return false;
            *added += fresh;
        }
    }
    return true;
}

static kn_status compare_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    sampling *p = arg;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        uint64_t comparisons, added;
        uint32_t apart = 1;
        do {
            comparisons = added = 0;
            if (!compare_rows(p, (int)c, apart++, &comparisons, &added))
                return kn_fail_memory(err, p->search->ctx, WHAT);
        } while (added > 0 && added * YIELD >= comparisons && !kn_fd_clock_passed(p->search->clock));
    }
    return KN_OK;
}

kn_status kn_fd_agree_begin(kn_fd_search *search, kn_error *err)
{
    sampling  p = {.search = search};
    int       columns = search->data->columns;
    bool      added;
    kn_status st = kn_parallel_for(search->ctx, columns, 1, compare_columns, &p, err);
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
