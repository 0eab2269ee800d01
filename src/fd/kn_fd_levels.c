/* kn_fd_levels.c: the search with a budget, level by level, as long as that is little work (kn_fd.h).
 *
 * All left sides of one column, then those of two, and so on (TANE), for all right sides together: X -> A is checked
 * if A fails for every X without one of its columns, so what holds is minimal. A check that fails ends as soon as the
 * budget is used up: where the table or the budget is small, looking for the border between what fails and what holds
 * (kn_fd_advance.c) costs more than checking all that lies below it. (4,000 rows × 34 columns, 1 % exceptions: 2 us for
 * a check instead of 92; 30,000 × 15: 55 instead of 356, but 16 times as many.) Where left sides hold that are short,
 * and many do, the levels end by themselves, and the search with them. Else they end where the next one is too much
 * work: then what fails is handed over, each set that is inside no larger one.
 *
 * Cost: the checks of all levels. Memory: 24 to 28 bytes for each left side of two levels, 32 for each candidate, and
 * 8 for each dependency of a batch.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fd.h"
#include "kn_hash.h"

#define WHAT "searching dependencies"

enum {
    CHEAP = 1 << 13, /* rows that a check may have to look at, or ... */
    SOON = 64,       /* ... of which it looks at so many for each exception of the budget, until it knows better */
    BATCH = 1 << 14, /* left sides that are checked at once */
    LITTLE = 64,     /* a level that is this part of the work is looked at in any case; a larger one only ... */
    YIELD = 64       /* ... if one dependency in so many of the level before holds */
};

/* The left sides of one size that fail for some right side, in lexicographic order. */
typedef struct level {
    size_t    count, slots;
    uint64_t *left, *failing; /* and for which */
    uint64_t *covered;        /* those for which a larger left side fails, too */
    uint32_t *slot;           /* number + 1; 0: free */
} level;

typedef struct levels {
    kn_fd_search    *search;
    level            now;
    kn_fd_candidate *candidates;
    size_t           count, capacity;
    int64_t          asked, held; /* dependencies of the last level */
} levels;

static void level_free(level *l)
{
    KN_FREE(l->left, l->failing, l->covered, l->slot);
    *l = (level){0};
}

/* With space for so many. */
static bool level_make(level *l, kn_context *ctx, size_t most)
{
    l->slots = 16;
    while (l->slots < 2 * most) l->slots *= 2;
    return most < UINT32_MAX && KN_ALLOC(ctx, l->left, most + 1) && KN_ALLOC(ctx, l->failing, most + 1) &&
           KN_ALLOC_ZERO(ctx, l->covered, most + 1) && KN_ALLOC_ZERO(ctx, l->slot, l->slots);
}

static size_t slot_of(const level *l, uint64_t left)
{
    size_t at = (size_t)kn_hash_word(left) & (l->slots - 1);
    while (l->slot[at] && l->left[l->slot[at] - 1] != left) at = (at + 1) & (l->slots - 1);
    return at;
}

static void level_add(level *l, uint64_t left, uint64_t failing)
{
    l->left[l->count] = left;
    l->failing[l->count++] = failing;
    l->slot[slot_of(l, left)] = (uint32_t)l->count;
}

/* ---- Candidates ---- */

/* The right sides for which every part of `left` with one column less fails. */
static uint64_t all_parts_fail(const level *l, uint64_t left)
{
    uint64_t right = ~left;
    for (uint64_t rest = left; rest && right; rest &= rest - 1) {
        uint32_t part = l->slot[slot_of(l, left & ~(rest & -rest))];
        right &= part ? l->failing[part - 1] : 0;
    }
    return right;
}

/* Each left side by its first columns and one more. */
static bool make_candidates(levels *x)
{
    const level *l = &x->now;
    int          columns = x->search->data->columns;
    x->count = 0;
    for (size_t i = 0; i < l->count; i++)
        for (int c = l->left[i] ? 64 - __builtin_clzll(l->left[i]) : 0; c < columns; c++) {
            uint64_t left = l->left[i] | kn_fd_bit(c), right = all_parts_fail(l, left);
            if (!right) continue;
            if (!KN_GROW(x->search->ctx, &x->candidates, &x->capacity, x->count + 1)) return false;
            x->candidates[x->count++] = (kn_fd_candidate){.left = left, .right = right};
        }
    return true;
}

/* ---- A level ---- */

static bool take(levels *x, const kn_fd_candidate *c, size_t count)
{
    kn_fd_search *s = x->search;
    for (size_t i = 0; i < count; i++) {
        int at = 0;
        for (uint64_t right = c[i].right; right; right &= right - 1, at++) {
            int a = __builtin_ctzll(right);
            x->asked++;
            if (c[i].broken & kn_fd_bit(a)) continue;
            x->held++;
            if (!kn_fd_search_found(s, a, c[i].left, c[i].removed[at])) return false;
        }
    }
    return true;
}

static kn_status check_level(levels *x, kn_error *err)
{
    kn_fd_search *s = x->search;
    kn_fd_effort  effort = {.budget = s->budget};
    kn_status     st = KN_OK;
    x->asked = x->held = 0;
    for (size_t at = 0, n; at < x->count && st == KN_OK && !s->late; at += n) {
        kn_fd_candidate *c = x->candidates + at;
        bool             done = false;
        n = x->count - at < BATCH ? x->count - at : BATCH;
        int64_t *removed = kn_fd_candidates_reserve(s->ctx, c, n);
        st = removed ? kn_fd_validate(&done, s->data, s->clock, c, n, &effort, err) : kn_fail_memory(err, s->ctx, WHAT);
        s->late = !done;
        if (done && !take(x, c, n)) st = kn_fail_memory(err, s->ctx, WHAT);
        if (done) kn_progress_add(s->ctx, n);
        kn_free(removed);
    }
    s->checked += x->asked;
    s->refuted += x->asked - x->held;
    s->rounds++;
    return st;
}

/* What fails and is inside nothing larger that does, so far. */
static bool hand_over(kn_fd_search *s, const level *l)
{
    for (size_t i = 0; i < l->count; i++)
        for (uint64_t right = l->failing[i] & ~l->covered[i]; right; right &= right - 1) {
            int a = __builtin_ctzll(right);
            if (!kn_fd_list_add(&s->failing[a], s->ctx, l->left[i])) return false;
            s->changed[a] = true;
        }
    return true;
}

/* The next level: the candidates that fail. */
static kn_status advance(levels *x, kn_error *err)
{
    kn_fd_search *s = x->search;
    level         next = {0}, *l = &x->now;
    bool          ok = level_make(&next, s->ctx, x->count);
    for (size_t i = 0; ok && i < x->count; i++) {
        const kn_fd_candidate *c = &x->candidates[i];
        if (!c->broken) continue;
        level_add(&next, c->left, c->broken);
        for (uint64_t rest = c->left; rest; rest &= rest - 1)
            l->covered[l->slot[slot_of(l, c->left & ~(rest & -rest))] - 1] |= c->broken;
    }
    ok = ok && hand_over(s, l);
    level_free(l);
    *l = next;
    return ok ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
}

/* ---- All of it ---- */

static bool worthwhile(const levels *x)
{
    const kn_fd_search *s = x->search;
    double              work = (double)x->count * (double)s->data->rows;
    return work * LITTLE <= s->level_work || (work <= s->level_work && x->held * YIELD >= x->asked);
}

static bool cheap(const kn_fd_search *s)
{
    return s->level_work > 0 && (s->data->rows <= CHEAP || s->budget <= CHEAP / SOON);
}

static kn_status run(levels *x, kn_error *err)
{
    kn_fd_search *s = x->search;
    for (int size = 1;; size++) {
        if (!make_candidates(x)) return kn_fail_memory(err, s->ctx, WHAT);
        if (x->count == 0 || size > s->max_left || !worthwhile(x)) {
            s->cut |= x->count > 0 && size > s->max_left;
            s->settled = x->count == 0 || size > s->max_left;
            break;
        }
        KN_TRY(check_level(x, err));
        if (s->late) return KN_OK;
        KN_TRY(advance(x, err));
    }
    if (s->settled) return KN_OK;
    for (int a = 0; a < s->data->columns; a++) kn_fd_list_sort(&s->valid[a]);
    return hand_over(s, &x->now) ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
}

kn_status kn_fd_levels(kn_fd_search *search, kn_error *err)
{
    kn_fd_search *s = search;
    levels        x = {.search = s};
    uint64_t      open = 0;
    kn_status     st = KN_OK;
    for (int a = 0; a < s->data->columns; a++)
        if (s->failing[a].count == 1 && s->failing[a].sets[0] == 0) open |= kn_fd_bit(a);
    s->settled = open == 0;
    if (s->late || s->settled || !cheap(s)) return KN_OK;
    for (int a = 0; a < s->data->columns; a++)
        if (open & kn_fd_bit(a)) s->failing[a].count = 0; /* the empty set: it is handed over like the others */
    if (!level_make(&x.now, s->ctx, 1)) st = kn_fail_memory(err, s->ctx, WHAT);
    if (st == KN_OK) {
        level_add(&x.now, 0, open);
        st = run(&x, err);
    }
    level_free(&x.now);
    kn_free(x.candidates);
    return st;
}
