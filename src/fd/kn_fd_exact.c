/* kn_fd_exact.c: all minimal exact dependencies (kn_fd.h).
 *
 * Two rows that agree in exactly the columns D refute X -> A for every X inside D and every A outside. So the minimal left
 * sides of A are the minimal sets with a column outside each such D without A: minimal hitting sets of the complements. The
 * pairs of rows are too many to look at, but few different D matter. As in HyFD (Papenbrock, Naumann: "A hybrid approach to
 * functional dependency discovery", SIGMOD 2016) the search guesses and checks:
 *   1. compare rows that are likely to agree in much: neighbours among the rows with the same value of each column, and rows
 *      further apart as long as that brings new sets;
 *   2. for each A, from the maximal D without A, compute the left sides that nothing refutes yet (kn_fd_hitting);
 *   3. hold them against the data, small ones first (kn_fd_validate). What holds is minimal, since every smaller left side is
 *      refuted by a pair that was seen. What fails comes with pairs that refute it: back to 2.
 * A left side is checked once, whatever happens to others. A search that the clock stops has listed only what is right.
 *
 * Cost: 1. about rows × columns² ; 2. the maximal sets × left sides of each A; 3. see there. Memory beyond the data: the
 * agree sets seen (24 bytes each) and the candidates.
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fd.h"
#include "kn_parallel.h"

enum {
    BATCH = 8192, /* candidates checked before the next look at the clock and at what was refuted */
    YIELD = 200   /* comparisons that a new set may cost in step 1 */
};

typedef struct exact {
    kn_fd_search *search;
    kn_context   *ctx;
    kn_fd_pool    agree;
    size_t        spread;                 /* of these, how many the columns know    */
    kn_fd_list    fresh;                  /* those they do not, the largest first   */
    kn_fd_list    maximal[KN_FD_COLUMNS]; /* per A: sets without A                  */
    kn_fd_list    open[KN_FD_COLUMNS];    /* per A: left sides to be checked        */
    kn_fd_list    valid[KN_FD_COLUMNS];   /* per A: left sides that hold, sorted    */
    bool          dirty[KN_FD_COLUMNS];
    bool          cut[KN_FD_COLUMNS];
    kn_fd_pool    sample[KN_FD_COLUMNS]; /* of step 1, per column                  */
} exact;

static kn_status no_memory(const exact *e, kn_error *err)
{
    return kn_fail_memory(err, e->ctx, "searching dependencies");
}

/* ---- Step 1: pairs of rows ---- */

/* Compares rows `apart` places apart in each cluster of a column. */
static bool compare_rows(exact *e, int column, uint32_t apart, uint64_t *comparisons, uint64_t *added)
{
    const kn_fd_data     *d = e->search->data;
    const kn_fd_clusters *k = &d->clusters[column];
    uint64_t              last = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        for (uint32_t m = k->starts[i] + apart; m < k->starts[i + 1]; m++) {
            uint64_t set = kn_fd_agree(d, k->members[m - apart], k->members[m]);
            bool     fresh = false;
            ++*comparisons;
            if (set == last) continue;
            last = set;
            if (!kn_fd_pool_add(&e->sample[column], e->ctx, set, &fresh)) return false;
            *added += fresh;
        }
    }
    return true;
}

static kn_status sample_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    exact *e = arg;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        uint64_t comparisons, added;
        uint32_t apart = 1;
        do {
            comparisons = added = 0;
            if (!compare_rows(e, (int)c, apart++, &comparisons, &added)) return no_memory(e, err);
        } while (added > 0 && added * YIELD >= comparisons && !kn_fd_clock_passed(e->search->clock));
    }
    return KN_OK;
}

static kn_status sample(exact *e, kn_error *err)
{
    const kn_fd_data *d = e->search->data;
    bool              added;
    KN_TRY(kn_parallel_for(e->ctx, d->columns, 1, sample_columns, e, err));
    for (int c = 0; c < d->columns; c++) {
        for (size_t i = 0; i < e->sample[c].list.count; i++)
            if (!kn_fd_pool_add(&e->agree, e->ctx, e->sample[c].list.sets[i], &added)) return no_memory(e, err);
        kn_fd_pool_free(&e->sample[c]);
    }
    return KN_OK;
}

/* ---- Step 2: left sides that nothing refutes ---- */

static int compare_large_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    int      n = __builtin_popcountll(y) - __builtin_popcountll(x);
    return n ? n : x < y ? -1 : x > y;
}

static kn_status induce_column(exact *e, int a, kn_error *err)
{
    const kn_fd_search *s = e->search;
    int                 columns = s->data->columns;
    uint64_t            all = columns == KN_FD_COLUMNS ? UINT64_MAX : kn_fd_bit(columns) - 1;
    for (size_t i = 0; i < e->fresh.count; i++) {
        bool changed;
        if (e->fresh.sets[i] & kn_fd_bit(a)) continue;
        if (!kn_fd_maximal_add(&e->maximal[a], e->ctx, e->fresh.sets[i], &changed)) return no_memory(e, err);
        e->dirty[a] |= changed;
    }
    if (!e->dirty[a]) return KN_OK;
    e->dirty[a] = false;
    e->open[a].count = 0;
    KN_TRY(kn_fd_hitting(&e->open[a], &e->cut[a], s->clock, &e->maximal[a], all & ~kn_fd_bit(a), s->max_left, err));
    size_t kept = 0;
    for (size_t i = 0; i < e->open[a].count; i++)
        if (!kn_fd_list_has(&e->valid[a], e->open[a].sets[i])) e->open[a].sets[kept++] = e->open[a].sets[i];
    e->open[a].count = kept;
    return KN_OK;
}

static kn_status induce_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    for (int64_t a = begin; a < end; a++) KN_TRY(induce_column(arg, (int)a, err));
    return KN_OK;
}

static kn_status induce(exact *e, kn_error *err)
{
    e->fresh.count = 0;
    for (; e->spread < e->agree.list.count; e->spread++)
        if (!kn_fd_list_add(&e->fresh, e->ctx, e->agree.list.sets[e->spread])) return no_memory(e, err);
    if (e->fresh.count > 1) qsort(e->fresh.sets, e->fresh.count, sizeof *e->fresh.sets, compare_large_first);
    return kn_parallel_for(e->ctx, e->search->data->columns, 1, induce_columns, e, err);
}

/* ---- Step 3: checking ---- */

static kn_status take(exact *e, const kn_fd_candidate *c, size_t count, size_t *refuted, kn_error *err)
{
    kn_fd_search *s = e->search;
    for (size_t i = 0; i < count; i++) {
        s->checked += __builtin_popcountll(c[i].right);
        *refuted += (size_t)__builtin_popcountll(c[i].broken);
        for (uint64_t right = c[i].right & ~c[i].broken; right; right &= right - 1) {
            int a = __builtin_ctzll(right);
            if (!kn_fd_search_add(s, c[i].left, a, 0) || !kn_fd_list_add(&e->valid[a], e->ctx, c[i].left))
                return no_memory(e, err);
        }
    }
    s->refuted += (int64_t)*refuted;
    return KN_OK;
}

static void sort_valid(exact *e)
{
    for (int a = 0; a < e->search->data->columns; a++) kn_fd_list_sort(&e->valid[a]);
}

/* Drops what was checked from the lists of left sides; the candidates are all that were open. */
static void forget_checked(exact *e, const kn_fd_candidate *c, size_t count)
{
    for (int a = 0; a < e->search->data->columns; a++) e->open[a].count = 0;
    for (size_t i = 0; i < count; i++)
        for (uint64_t right = c[i].right; right; right &= right - 1) {
            kn_fd_list *open = &e->open[__builtin_ctzll(right)];
            open->sets[open->count++] = c[i].left; /* there was room for it before */
        }
}

/* *again: something was refuted or is left. */
static kn_status check(exact *e, bool *again, kn_error *err)
{
    kn_fd_search    *s = e->search;
    kn_fd_candidate *c = NULL;
    size_t           count = 0, at = 0;
    *again = false;
    kn_status st = kn_fd_candidates_make(&c, &count, s->data, e->open, err);
    while (at < count && st == KN_OK) {
        size_t n = count - at < BATCH ? count - at : BATCH, refuted = 0;
        bool   done = false;
        st = kn_fd_validate(&done, s->data, s->clock, c + at, n, 0, &e->agree, err);
        if (st != KN_OK) break;
        s->late = !done;
        if (!done) break;
        st = take(e, c + at, n, &refuted, err);
        kn_progress_add(e->ctx, n);
        at += n;
        *again |= refuted > 0;
        if (refuted * 8 > n) break; /* what was learnt spares more than it costs to think again */
    }
    if (st == KN_OK) {
        forget_checked(e, c + at, count - at);
        sort_valid(e);
    }
    kn_free(c);
    return st;
}

static kn_status run(exact *e, kn_error *err)
{
    kn_fd_search *s = e->search;
    for (int a = 0; a < s->data->columns; a++) {
        e->dirty[a] = true;
        /* No column is constant: some two rows that differ in A agree at least in nothing. */
        if (!kn_fd_list_add(&e->maximal[a], e->ctx, 0)) return no_memory(e, err);
    }
    KN_TRY(sample(e, err));
    for (bool again = true; again && !s->late;) {
        KN_TRY(induce(e, err));
        s->rounds++;
        if (kn_cancelled(e->ctx)) return kn_fail_cancelled(err);
        if (kn_fd_clock_passed(s->clock)) {
            s->late = true;
            break;
        }
        KN_TRY(check(e, &again, err));
    }
    for (int a = 0; a < s->data->columns; a++) s->cut |= e->cut[a];
    s->agree_sets = (int64_t)e->agree.list.count;
    return KN_OK;
}

kn_status kn_fd_exact(kn_fd_search *search, kn_error *err)
{
    kn_context *ctx = search->data->ctx;
    exact      *e = kn_alloc_zero(ctx, sizeof *e);
    if (!e) return kn_fail_memory(err, ctx, "searching dependencies");
    e->search = search;
    e->ctx = ctx;
    kn_status st = run(e, err);
    for (int c = 0; c < KN_FD_COLUMNS; c++) {
        kn_fd_list_free(&e->maximal[c]);
        kn_fd_list_free(&e->open[c]);
        kn_fd_list_free(&e->valid[c]);
        kn_fd_pool_free(&e->sample[c]);
    }
    kn_fd_list_free(&e->fresh);
    kn_fd_pool_free(&e->agree);
    kn_free(e);
    return st;
}
