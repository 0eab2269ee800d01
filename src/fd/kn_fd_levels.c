/* kn_fd_levels.c: the search with a budget, level by level, as long as that is little work (kn_fd.h).
 *
 * All left sides of one column, then those of two, and so on (TANE), for all right sides together: X -> A is checked
 * if A fails for every X without one of its columns, so what holds is minimal. A check that fails ends as soon as the
 * budget is used up: where the table or the budget is small, looking for the border between what fails and what holds
 * (kn_fd_advance.c) costs more than checking all that lies below it. Small tables are checked for all right sides at
 * once (kn_fd_together.c), larger ones with a small budget like any other (kn_fd_validate.c). Where left sides hold that
 * are short, and many do, the levels end by themselves, and the search with them. Else they end where the next one is too
 * much work: then what fails is handed over, each set that is inside no larger one.
 *
 * If X determines A without exceptions, a set with both splits the rows no further than without A: no minimal left side
 * has both, and such sets are left out, with all that are larger.
 *
 * Cost: the checks of all levels, and for each candidate one look-up for each of its columns. Memory: 16 bytes for each
 * left side that fails or is a candidate, 32 to 64 for each of the last level.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fd.h"
#include "kn_hash.h"
#include "kn_parallel.h"

#define WHAT "searching dependencies"

enum {
    SOON = 128,      /* exceptions of a budget that is used up soon */
    BATCH = 1 << 14, /* left sides of a larger table that are checked at once */
    RANGE = 1 << 8,  /* left sides that a worker extends at a time */
    LITTLE = 64,     /* a level that is this part of the work is looked at in any case; a larger one only ... */
    AT_ONCE = 16,    /* of a small table so many times as large, and ... */
    YIELD = 64       /* ... if one dependency in so many of the level before holds */
};

/* Left sides of one size and the right sides for which they fail (or are to be checked), in lexicographic order. */
typedef struct level {
    size_t      count, capacity;
    kn_fd_many *sets;
} level;

/* Those of a level by hash. */
typedef struct finder {
    size_t      slots;
    kn_fd_many *slot; /* right 0: free */
} finder;

typedef struct levels {
    kn_fd_search *search;
    level         level[KN_FD_COLUMNS + 1]; /* what fails, by size */
    int           size;                     /* of the last one */
    finder        finder;                   /* of it */
    level        *extended;                 /* candidates from each of its ranges */
    kn_fd_pool    useless;                  /* sets with a column that the others determine without exception */
    size_t        known;                    /* so many of the results are in it, if they belong there */
    int64_t       asked, held;              /* dependencies that were checked for it */
} levels;

static void level_free(level *l)
{
    kn_free(l->sets);
    *l = (level){0};
}

static bool level_add(level *l, kn_context *ctx, uint64_t left, uint64_t right)
{
    if (l->count == l->capacity && !KN_GROW(ctx, &l->sets, &l->capacity, l->count + 1)) return false;
    l->sets[l->count++] = (kn_fd_many){left, right};
    return true;
}

static size_t slot_of(const finder *f, uint64_t left)
{
    size_t at = (size_t)kn_hash_word(left) & (f->slots - 1);
    while (f->slot[at].right && f->slot[at].left != left) at = (at + 1) & (f->slots - 1);
    return at;
}

static bool finder_make(finder *f, kn_context *ctx, const level *l)
{
    kn_free(f->slot);
    f->slots = 16;
    while (f->slots < 2 * l->count) f->slots *= 2;
    if (!KN_ALLOC_ZERO(ctx, f->slot, f->slots)) return false;
    for (size_t i = 0; i < l->count; i++) f->slot[slot_of(f, l->sets[i].left)] = l->sets[i];
    return true;
}

/* ---- Candidates ---- */

/* The right sides out of `right` for which every part of `left` without one of `columns` fails. */
static uint64_t parts_fail(const finder *f, uint64_t left, uint64_t columns, uint64_t right)
{
    for (; columns && right; columns &= columns - 1) right &= f->slot[slot_of(f, left & ~(columns & -columns))].right;
    return right;
}

/* Two left sides that differ in their last columns alone make a candidate. */
static kn_status extend_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    levels      *x = arg;
    const level *l = &x->level[x->size];
    level       *out = &x->extended[begin / RANGE];
    (void)worker;
    for (size_t i = (size_t)begin; i < (size_t)end; i++) {
        uint64_t first = l->sets[i].left, shared = first & ~kn_fd_bit(63 - __builtin_clzll(first));
        for (size_t j = i + 1;
             j < l->count && (l->sets[j].left & (kn_fd_bit(63 - __builtin_clzll(first)) - 1)) == shared; j++) {
            uint64_t left = first | l->sets[j].left;
            uint64_t right = parts_fail(&x->finder, left, shared, l->sets[i].right & l->sets[j].right & ~left);
            if (!right || kn_fd_pool_has(&x->useless, left)) continue;
            if (!level_add(out, x->search->ctx, left, right)) return kn_fail_memory(err, x->search->ctx, WHAT);
        }
    }
    return KN_OK;
}

static kn_status join_ranges(levels *x, level *out, size_t ranges, kn_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < ranges; i++) count += x->extended[i].count;
    if (!KN_ALLOC(x->search->ctx, out->sets, count + 1)) return kn_fail_memory(err, x->search->ctx, WHAT);
    for (size_t i = 0; i < ranges; i++) {
        if (x->extended[i].count)
            memcpy(out->sets + out->count, x->extended[i].sets, x->extended[i].count * sizeof *out->sets);
        out->count += x->extended[i].count;
    }
    return KN_OK;
}

static kn_status extend(levels *x, level *out, kn_error *err)
{
    const level *l = &x->level[x->size];
    kn_context  *ctx = x->search->ctx;
    size_t       ranges = l->count / RANGE + 1;
    if (!finder_make(&x->finder, ctx, l) || !KN_ALLOC_ZERO(ctx, x->extended, ranges))
        return kn_fail_memory(err, ctx, WHAT);
    kn_status st = kn_parallel_for(ctx, (int64_t)l->count, RANGE, extend_range, x, err);
    if (st == KN_OK) st = join_ranges(x, out, ranges, err);
    for (size_t i = 0; i < ranges; i++) level_free(&x->extended[i]);
    kn_free(x->extended);
    return st;
}

/* X -> A without exceptions: a set with both says what it says without A, so it is the left side of nothing minimal.
 * Without it there is none that is larger. */
static bool note_useless(levels *x)
{
    kn_fd_search *s = x->search;
    bool          added, ok = true;
    for (; x->known < s->count && ok; x->known++) {
        const kn_fd_result *r = &s->results[x->known];
        if (r->removed == 0 && r->left) ok = kn_fd_pool_add(&x->useless, s->ctx, r->left | kn_fd_bit(r->right), &added);
    }
    return ok;
}

/* Each left side of one column more for which all its parts fail. */
static kn_status make_candidates(levels *x, level *out, kn_error *err)
{
    const level *l = &x->level[x->size];
    if (x->size > 0) return extend(x, out, err);
    for (int c = 0; c < x->search->data->columns; c++)
        if (l->sets[0].right & ~kn_fd_bit(c) &&
            !level_add(out, x->search->ctx, kn_fd_bit(c), l->sets[0].right & ~kn_fd_bit(c)))
            return kn_fail_memory(err, x->search->ctx, WHAT);
    return KN_OK;
}

/* ---- A level ---- */

static bool take(kn_fd_search *s, kn_fd_many *sets, const kn_fd_candidate *c, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int at = 0;
        for (uint64_t right = c[i].right; right; right &= right - 1, at++) {
            s->checked++;
            if (c[i].broken & right & -right)
                s->refuted++;
            else if (!kn_fd_search_found(s, __builtin_ctzll(right), c[i].left, c[i].removed[at]))
                return false;
        }
        sets[i].right = c[i].broken;
    }
    return true;
}

/* The same as kn_fd_check_many, and faster where there are many rows of which few need to be looked at. */
static kn_status check_apart(kn_fd_search *s, kn_fd_many *sets, size_t count, kn_error *err)
{
    kn_fd_effort     effort = {.budget = s->budget};
    kn_fd_candidate *c = kn_alloc_array(s->ctx, BATCH, sizeof *c);
    kn_status        st = c ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
    for (size_t at = 0, n; at < count && st == KN_OK && !s->late; at += n) {
        bool done = false;
        n = count - at < BATCH ? count - at : BATCH;
        for (size_t i = 0; i < n; i++) c[i] = (kn_fd_candidate){.left = sets[at + i].left, .right = sets[at + i].right};
        int64_t *removed = kn_fd_candidates_reserve(s->ctx, c, n);
        st = removed ? kn_fd_validate(&done, s->data, s->clock, c, n, &effort, err) : kn_fail_memory(err, s->ctx, WHAT);
        s->late = !done;
        if (done && !take(s, sets + at, c, n)) st = kn_fail_memory(err, s->ctx, WHAT);
        if (done) kn_progress_add(s->ctx, n);
        kn_free(removed);
    }
    kn_free(c);
    return st;
}

static bool together(const kn_fd_search *s)
{
    return s->data->rows <= KN_FD_SMALL && !s->apart;
}

/* Checks the candidates; those that fail are the next level. */
static kn_status check_level(levels *x, level *candidates, kn_error *err)
{
    kn_fd_search *s = x->search;
    int64_t       checked = s->checked, refuted = s->refuted;
    size_t        kept = 0;
    KN_TRY(together(s) ? kn_fd_check_many(s, candidates->sets, candidates->count, err)
                       : check_apart(s, candidates->sets, candidates->count, err));
    x->asked = s->checked - checked;
    x->held = x->asked - (s->refuted - refuted);
    s->rounds++;
    if (s->late) return KN_OK;
    if (!note_useless(x)) return kn_fail_memory(err, s->ctx, WHAT);
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->sets[i].right) candidates->sets[kept++] = candidates->sets[i];
    candidates->count = kept;
    x->level[++x->size] = *candidates;
    s->whole = x->size;
    *candidates = (level){0};
    return KN_OK;
}

/* ---- What fails and is inside nothing larger that does, for the search that goes on ---- */

static bool hand_over_level(levels *x, int size, uint64_t *covered)
{
    kn_fd_search *s = x->search;
    const level  *l = &x->level[size];
    for (size_t i = 0; i < l->count; i++) {
        size_t at = slot_of(&x->finder, l->sets[i].left);
        for (uint64_t right = l->sets[i].right & ~covered[at]; right; right &= right - 1) {
            int a = __builtin_ctzll(right);
            if (!kn_fd_list_add(&s->failing[a], s->ctx, l->sets[i].left)) return false;
            s->changed[a] = true;
        }
    }
    return true;
}

static kn_status hand_over(levels *x, kn_error *err)
{
    kn_context *ctx = x->search->ctx;
    bool        ok = true;
    for (int size = 0; size <= x->size && ok; size++) {
        uint64_t *covered = NULL;
        ok = finder_make(&x->finder, ctx, &x->level[size]) && KN_ALLOC_ZERO(ctx, covered, x->finder.slots);
        for (size_t i = 0; ok && size < x->size && i < x->level[size + 1].count; i++) {
            kn_fd_many above = x->level[size + 1].sets[i];
            for (uint64_t rest = above.left; rest; rest &= rest - 1)
                covered[slot_of(&x->finder, above.left & ~(rest & -rest))] |= above.right;
        }
        ok = ok && hand_over_level(x, size, covered);
        kn_free(covered);
    }
    return ok ? KN_OK : kn_fail_memory(err, ctx, WHAT);
}

/* ---- All of it ---- */

static bool worthwhile(const levels *x, size_t count)
{
    const kn_fd_search *s = x->search;
    double work = (double)count * (double)s->data->rows, most = s->level_work * (together(s) ? AT_ONCE : 1);
    return work * LITTLE <= s->level_work || (work <= most && x->held * YIELD >= x->asked);
}

static bool cheap(const kn_fd_search *s)
{
    return s->level_work > 0 && (s->data->rows <= KN_FD_SMALL || s->budget <= SOON);
}

/* One level more; *more: it is not the last. */
static kn_status climb(levels *x, level *candidates, bool *more, kn_error *err)
{
    kn_fd_search *s = x->search;
    *more = false;
    KN_TRY(make_candidates(x, candidates, err));
    if (candidates->count == 0 || x->size == s->max_left) {
        s->cut |= candidates->count > 0;
        s->settled = true;
        return KN_OK;
    }
    if (!worthwhile(x, candidates->count)) return KN_OK;
    KN_TRY(check_level(x, candidates, err));
    *more = !s->late;
    return KN_OK;
}

static kn_status run(levels *x, kn_error *err)
{
    kn_fd_search *s = x->search;
    kn_status     st = KN_OK;
    for (bool more = true; more && st == KN_OK;) {
        level candidates = {0};
        st = climb(x, &candidates, &more, err);
        level_free(&candidates);
    }
    if (st != KN_OK || s->settled || s->late) return st;
    for (int a = 0; a < s->data->columns; a++) kn_fd_list_sort(&s->valid[a]);
    return hand_over(x, err);
}

kn_status kn_fd_levels(kn_fd_search *search, kn_error *err)
{
    kn_fd_search *s = search;
    levels       *x = NULL;
    uint64_t      open = 0;
    kn_status     st = KN_OK;
    for (int a = 0; a < s->data->columns; a++)
        if (s->failing[a].count == 1 && s->failing[a].sets[0] == 0) open |= kn_fd_bit(a);
    s->settled = open == 0;
    if (s->late || s->settled || !cheap(s)) return KN_OK;
    for (int a = 0; a < s->data->columns; a++)
        if (open & kn_fd_bit(a)) s->failing[a].count = 0; /* the empty set: it is handed over like the others */
    if (!KN_ALLOC_ZERO(s->ctx, x, 1)) return kn_fail_memory(err, s->ctx, WHAT);
    x->search = s;
    st = level_add(&x->level[0], s->ctx, 0, open) ? run(x, err) : kn_fail_memory(err, s->ctx, WHAT);
    for (int i = 0; i <= KN_FD_COLUMNS; i++) level_free(&x->level[i]);
    kn_fd_pool_free(&x->useless);
    KN_FREE(x->finder.slot, x);
    return st;
}
