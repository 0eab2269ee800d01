/* kn_fd_levels.c: all minimal approximate dependencies: X -> A with at most so many exceptions (kn_fd.h).
 *
 * The fewest rows to remove (g3) only fall when a column is added to X, so the left sides that hold are closed upwards, but
 * no pair of rows refutes one: the search goes level by level, as TANE does (Huhtala, Kärkkäinen, Porkka, Toivonen: "TANE: an
 * efficient algorithm for discovering functional and approximate dependencies", Computer Journal 42(2), 1999). X is a
 * candidate for A when X without any one column fails for A; all candidates of a level are checked together
 * (kn_fd_validate), which gives up on one as soon as its exceptions pass the budget. A column that all others together
 * do not determine is no right side at all, and this is asked first.
 *
 * Cost: one check for each left side that fails, and for each minimal one that holds, for each A. Memory: the candidates and
 * failures of one level.
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fd.h"
#include "kn_parallel.h"

enum { BATCH = 4096 }; /* left sides checked before the next look at the clock */

typedef struct levels {
    kn_fd_search *search;
    kn_context   *ctx;
    uint64_t      wanted;                /* right sides that are possible at all            */
    kn_fd_list    failed[KN_FD_COLUMNS]; /* per A: left sides of the last level, ascending */
    kn_fd_list    open[KN_FD_COLUMNS];   /* per A: candidates of this level                */
    int64_t      *removed;               /* per candidate and right side of a batch        */
    size_t        removed_capacity;
} levels;

static kn_status no_memory(const levels *l, kn_error *err)
{
    return kn_fail_memory(err, l->ctx, "searching dependencies");
}

/* ---- The next level ---- */

/* Do all parts of `set` with one column less fail? Those without one of its two lowest columns are known to. */
static bool all_fail(const kn_fd_list *failed, uint64_t set)
{
    uint64_t rest = set & (set - 1);
    for (rest &= rest - 1; rest; rest &= rest - 1)
        if (!kn_fd_list_has(failed, set & ~(rest & -rest))) return false;
    return true;
}

/* Sets that differ in their lowest column only stand together. */
static kn_status join_column(levels *l, int a, kn_error *err)
{
    const kn_fd_list *failed = &l->failed[a];
    kn_fd_list       *open = &l->open[a];
    open->count = 0;
    for (size_t i = 0; i < failed->count; i++) {
        uint64_t set = failed->sets[i], rest = set & (set - 1);
        for (size_t j = i + 1; j < failed->count && (failed->sets[j] & (failed->sets[j] - 1)) == rest; j++) {
            uint64_t both = set | failed->sets[j];
            if (all_fail(failed, both) && !kn_fd_list_add(open, l->ctx, both)) return no_memory(l, err);
        }
    }
    return KN_OK;
}

static kn_status join_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    for (int64_t a = begin; a < end; a++) KN_TRY(join_column(arg, (int)a, err));
    return KN_OK;
}

/* Single columns. */
static kn_status first_level(levels *l, kn_error *err)
{
    int columns = l->search->data->columns;
    for (int a = 0; a < columns; a++)
        for (int c = 0; c < columns && l->wanted & kn_fd_bit(a); c++)
            if (c != a && !kn_fd_list_add(&l->open[a], l->ctx, kn_fd_bit(c))) return no_memory(l, err);
    return KN_OK;
}

/* ---- Checking ---- */

/* Gives each candidate of a batch a place for its exceptions. */
static bool make_room(levels *l, kn_fd_candidate *c, size_t count)
{
    size_t pairs = 0;
    void  *removed = l->removed;
    for (size_t i = 0; i < count; i++) pairs += (size_t)__builtin_popcountll(c[i].right);
    if (!kn_grow(l->ctx, &removed, &l->removed_capacity, pairs + 1, sizeof *l->removed)) return false;
    l->removed = removed;
    pairs = 0;
    for (size_t i = 0; i < count; i++) {
        c[i].removed = l->removed + pairs;
        pairs += (size_t)__builtin_popcountll(c[i].right);
    }
    return true;
}

static bool take(levels *l, const kn_fd_candidate *c, size_t count)
{
    kn_fd_search *s = l->search;
    for (size_t i = 0; i < count; i++) {
        const int64_t *removed = c[i].removed;
        for (uint64_t right = c[i].right; right; right &= right - 1, removed++) {
            int a = __builtin_ctzll(right);
            s->checked++;
            if (!(c[i].broken & kn_fd_bit(a))) {
                if (!kn_fd_search_add(s, c[i].left, a, *removed)) return false;
                continue;
            }
            s->refuted++;
            if (!kn_fd_list_add(&l->failed[a], l->ctx, c[i].left)) return false;
        }
    }
    return true;
}

/* Checks what is open; what fails becomes `failed`. */
static kn_status check_level(levels *l, kn_error *err)
{
    kn_fd_search    *s = l->search;
    kn_fd_candidate *c = NULL;
    size_t           count = 0;
    kn_status        st = kn_fd_candidates_make(&c, &count, s->data, l->open, err);
    for (int a = 0; a < s->data->columns; a++) l->failed[a].count = 0;
    for (size_t at = 0; at < count && st == KN_OK && !s->late;) {
        size_t n = count - at < BATCH ? count - at : BATCH;
        bool   done = false;
        st = make_room(l, c + at, n) ? KN_OK : no_memory(l, err);
        if (st == KN_OK) st = kn_fd_validate(&done, s->data, s->clock, c + at, n, s->budget, NULL, err);
        if (st != KN_OK) break;
        s->late = !done;
        if (done && !take(l, c + at, n)) st = no_memory(l, err);
        kn_progress_add(l->ctx, n);
        at += n;
    }
    for (int a = 0; a < s->data->columns; a++) kn_fd_list_sort(&l->failed[a]);
    kn_free(c);
    return st;
}

/* Which right sides are constant already, and which are possible at all? */
static kn_status first_look(levels *l, kn_error *err)
{
    kn_fd_search     *s = l->search;
    const kn_fd_data *d = s->data;
    kn_fd_candidate  *c = NULL;
    size_t            count = 0;
    bool              done = true;
    uint64_t          all = d->columns == KN_FD_COLUMNS ? UINT64_MAX : kn_fd_bit(d->columns) - 1;
    for (int a = 0; a < d->columns; a++) {
        if (d->constant_error[a] <= s->budget) {
            if (!kn_fd_search_add(s, 0, a, d->constant_error[a])) return no_memory(l, err);
        } else if (d->columns > 1 && !kn_fd_list_add(&l->open[a], l->ctx, all & ~kn_fd_bit(a)))
            return no_memory(l, err);
    }
    kn_status st = kn_fd_candidates_make(&c, &count, d, l->open, err);
    if (st == KN_OK) st = kn_fd_validate(&done, d, s->clock, c, count, s->budget, NULL, err);
    for (size_t i = 0; i < count && st == KN_OK; i++) l->wanted |= c[i].right & ~c[i].broken;
    s->late = !done;
    s->rounds++;
    s->checked += (int64_t)count;
    s->refuted += (int64_t)count - __builtin_popcountll(l->wanted);
    for (int a = 0; a < d->columns; a++) l->open[a].count = 0;
    kn_free(c);
    return st;
}

static bool any_open(const levels *l)
{
    for (int a = 0; a < l->search->data->columns; a++)
        if (l->open[a].count > 0) return true;
    return false;
}

static kn_status run(levels *l, kn_error *err)
{
    kn_fd_search *s = l->search;
    KN_TRY(first_look(l, err));
    if (!s->late) KN_TRY(first_level(l, err));
    for (int size = 1; any_open(l) && !s->late; size++) {
        s->cut = size > s->max_left;
        if (s->cut) break;
        s->rounds++;
        KN_TRY(check_level(l, err));
        if (!s->late) KN_TRY(kn_parallel_for(l->ctx, s->data->columns, 1, join_columns, l, err));
    }
    return KN_OK;
}

kn_status kn_fd_approximate(kn_fd_search *search, kn_error *err)
{
    kn_context *ctx = search->data->ctx;
    levels     *l = kn_alloc_zero(ctx, sizeof *l);
    if (!l) return kn_fail_memory(err, ctx, "searching dependencies");
    l->search = search;
    l->ctx = ctx;
    kn_status st = run(l, err);
    for (int c = 0; c < KN_FD_COLUMNS; c++) {
        kn_fd_list_free(&l->failed[c]);
        kn_fd_list_free(&l->open[c]);
    }
    kn_free(l->removed);
    kn_free(l);
    return st;
}
