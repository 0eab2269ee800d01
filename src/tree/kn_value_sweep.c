/* kn_value_sweep.c: ValueCheck (Algorithm 1) of a cut whose parent passed, many rows at a time, for up to three values.
 *
 * Interface: kn_candidate.h. Some thousand rows in parallel: for each value the set of those that have it, as bits; a
 * combination adds to its support what its sets have in common. Only combinations with a new value are counted, and
 * if the same specialization passed with the parent's own parent, only those that have a value of both. As many rows as
 * the sets have space for are one range, and several workers may count them (kn_parallel_share): who helps uses arrays of its own candidate. Cost: one
 * step per row and value, and one per combination and 512 rows; where somebody helps, one per combination and range.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_candidate.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "checking combinations of values"

enum {
    WORDS = 15 * KN_BLOCK_LANES /* see kn_blocks.c */,
    MOST_CELLS = 1 << 22,
    MOST_SHARED = 1 << 17 /* cells: beyond that adding up would take too long */
};

/* Supports: of the i-th new value, of it with the j-th place, of both with the z-th. */
typedef struct supports {
    size_t    places;
    uint32_t  second; /* the places of the second value: from `second` ... */
    uint32_t  end;    /* ... to before `end`; all of them, or the recent ones */
    bool      pairs;  /* only combinations and rows with a recent value are counted */
    int32_t  *one, *two, *three;
    uint64_t *sets;   /* per place WORDS words; then those of a pair */
    uint32_t *set_of; /* per value at or below the cut: where its set begins */
    size_t    used;   /* rows in the sets                                    */
    int64_t   counted;
} supports;

bool kn_value_sweep_fits(const kn_candidate *c)
{
    return !kn_is_whole(c) && c->problem->m <= 3 && (uint64_t)c->new_count * c->places * c->places <= MOST_CELLS;
}

/* ---- Counting ---- */

/* With a second value, and a third. */
static void count_second(const kn_candidate *c, supports *x, uint32_t i, uint32_t j, size_t words)
{
    const uint64_t *a = x->sets + (size_t)i * WORDS, *b = x->sets + (size_t)j * WORDS;
    uint64_t       *both = x->sets + x->places * WORDS, some = 0;
    for (size_t w = 0; w < words; w++) some |= both[w] = a[w] & b[w];
    if (!some) return;
    x->two[i * x->places + j] += (int32_t)c->blocks.common(both, both, words);
    x->counted++;
    if (c->problem->m < 3) return;
    int32_t *cells = x->three + (i * x->places + j) * x->places;
    /* Each set once; with a recent second value it may occur again, and is then counted separately. */
    for (uint32_t z = x->pairs ? 0 : j + 1; z < x->places; z++)
        if (z != i && z != j) cells[z] += (int32_t)c->blocks.common(both, x->sets + (size_t)z * WORDS, words);
    x->counted += (int64_t)x->places;
}

static void count_block(const kn_candidate *c, supports *x, size_t rows)
{
    size_t words = kn_block_words(rows);
    for (uint32_t i = 0; i < c->new_count; i++) {
        const uint64_t *set = x->sets + (size_t)i * WORDS;
        uint32_t        here = c->blocks.common(set, set, words);
        if (here == 0) continue;
        x->one[i] += (int32_t)here;
        x->counted++;
        for (uint32_t j = x->pairs ? x->second : i + 1; c->problem->m > 1 && j < x->end; j++)
            count_second(c, x, i, j, words);
    }
    memset(x->sets, 0, x->places * WORDS * sizeof *x->sets);
}

/* Has a row one of the recent values? Its values ascend. */
static bool has_recent(const kn_candidate *c, uint32_t row)
{
    const kn_synopsis *s = c->synopsis;
    uint32_t           end = s->vocabulary->end[c->since];
    for (uint64_t i = s->value_start[row]; i < s->value_start[row + 1]; i++) {
        uint32_t value = kn_synopsis_value(s, i);
        if (value >= c->since) return value < end;
    }
    return false;
}

static void count_row(const kn_candidate *c, supports *x, uint32_t row)
{
    const kn_synopsis *s = c->synopsis;
    for (int64_t left = s->rows.weight[row], count; left > 0; left -= count) {
        uint64_t *word = x->sets + x->used / 64, bits = kn_block_run(x->used, left, &count);
        for (uint64_t j = s->value_start[row]; j < s->value_start[row + 1]; j++)
            word[x->set_of[kn_synopsis_value(s, j)]] |= bits;
        x->used += (size_t)count;
        if (x->used < WORDS * 64) continue;
        count_block(c, x, x->used);
        x->used = 0;
    }
}

/* ---- By several workers ---- */

typedef struct sharing {
    kn_candidate   *c;
    supports       *own;
    supports        view;   /* as they were before: for those who help, to put their own arrays into */
    const uint64_t *recent; /* NULL: rows are asked one by one */
    uint32_t       *first;  /* word of each range; one more    */
    uint32_t        ranges;
    pthread_mutex_t lock; /* guards what was counted by those who help */
    int32_t        *sums;
    int64_t         counted;
} sharing;

/* The rows with the specialized value; where only pairs count, those that have a recent value, too. */
static uint64_t rows_of_word(const sharing *y, size_t word)
{
    return y->recent ? y->c->has[word] & y->recent[word] : y->c->has[word];
}

static size_t cells_of(const supports *x, const kn_candidate *c)
{
    size_t pairs = c->new_count * x->places;
    return c->new_count + pairs + (c->problem->m > 2 ? pairs * x->places : 0);
}

/* The same supports, 0, in arrays of `mine`. */
static bool lend(supports *x, const kn_candidate *c, kn_candidate *mine)
{
    size_t sets = (x->places + 1) * WORDS, cells = cells_of(x, c), two = (size_t)(x->two - x->one),
           three = (size_t)(x->three - x->one);
    if (!KN_GROW(c->ctx, &mine->blocks.sets, &mine->blocks.sets_capacity, sets) ||
        !KN_GROW(c->ctx, &mine->cells[1], &mine->cells_capacity[1], cells + 1))
        return false;
    memset(mine->blocks.sets, 0, sets * sizeof *mine->blocks.sets);
    memset(mine->cells[1], 0, cells * sizeof *mine->cells[1]);
    x->sets = mine->blocks.sets;
    x->one = mine->cells[1];
    x->two = x->one + two;
    x->three = x->one + three;
    x->used = 0;
    x->counted = 0;
    return true;
}

static bool gather(sharing *y, const supports *x)
{
    size_t cells = cells_of(x, y->c);
    bool   ok = true;
    pthread_mutex_lock(&y->lock);
    if (!y->sums) ok = KN_ALLOC_ZERO(y->c->ctx, y->sums, cells + 1);
    for (size_t i = 0; ok && i < cells; i++) y->sums[i] += x->one[i];
    y->counted += x->counted;
    pthread_mutex_unlock(&y->lock);
    return ok;
}

static void count_words(const sharing *y, supports *x, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        for (uint64_t left = rows_of_word(y, i); left; left &= left - 1) {
            uint32_t row = (uint32_t)(i * 64 + (unsigned)__builtin_ctzll(left));
            if (y->recent || !x->pairs || has_recent(y->c, row)) count_row(y->c, x, row);
        }
    if (x->used > 0) count_block(y->c, x, x->used);
    x->used = 0;
}

static kn_status count_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    sharing      *y = arg;
    kn_candidate *mine = y->c->team[worker];
    supports      lent = y->view, *x = y->own;
    if (mine != y->c) {
        x = &lent;
        if (!lend(x, y->c, mine)) return kn_fail_memory(err, y->c->ctx, WHAT);
    }
    for (int64_t i = begin; i < end; i++) {
        if (kn_cancelled(y->c->ctx)) return kn_fail_cancelled(err);
        count_words(y, x, y->first[i], y->first[i + 1]);
    }
    return mine == y->c || gather(y, x) ? KN_OK : kn_fail_memory(err, y->c->ctx, WHAT);
}

/* As many rows each as the sets have space for: so they are filled as often as by one worker alone, but for the last of them. */
static bool find_ranges(sharing *y)
{
    size_t words = kn_bitset_words(y->c->synopsis->rows.count), rows = 0, most = 1;
    for (size_t i = 0; i < words; i++) rows += (size_t)__builtin_popcountll(rows_of_word(y, i));
    most += rows / ((WORDS - 1) * 64) + 1;
    if (!KN_ALLOC(y->c->ctx, y->first, most + 1)) return false;
    rows = y->ranges = 0;
    for (size_t i = 0; i < words; i++) {
        size_t here = (size_t)__builtin_popcountll(rows_of_word(y, i));
        if (i == 0 || rows + here > WORDS * 64) {
            y->first[y->ranges++] = (uint32_t)i;
            rows = 0;
        }
        rows += here;
    }
    y->first[y->ranges] = (uint32_t)words;
    return true;
}

static kn_status count_rows(kn_candidate *c, supports *x, kn_error *err)
{
    sharing y = {.c = c, .own = x, .view = *x, .recent = x->pairs ? kn_synopsis_set(c->synopsis, c->since) : NULL};
    if (!find_ranges(&y)) return kn_fail_memory(err, c->ctx, WHAT);
    pthread_mutex_init(&y.lock, NULL);
    int64_t   grain = cells_of(x, c) > MOST_SHARED ? y.ranges : 1;
    kn_status st = kn_parallel_share(c->ctx, c->worker, y.ranges, grain, count_range, &y, err);
    pthread_mutex_destroy(&y.lock);
    for (size_t i = 0; y.sums && i < cells_of(x, c); i++) x->one[i] += y.sums[i];
    c->combinations.counted += x->counted + y.counted;
    KN_FREE(y.first, y.sums);
    return st;
}

/* ---- Telling ---- */

static bool is_rare(const kn_candidate *c, int32_t support)
{
    return support > 0 && support < c->problem->k;
}

/* Says which values are rare together. */
static bool note_rare(kn_candidate *c, int count, uint32_t i, uint32_t j, uint32_t z)
{
    uint32_t places[3] = {i, j, z};
    for (int at = 0; at < count; at++) c->combinations.chosen[at] = c->value_of[places[at]];
    c->combinations.chosen_count = count;
    return true;
}

/* Small ones first: they exclude most other cuts. */
static bool find_rare(kn_candidate *c, const supports *x)
{
    size_t n = x->places;
    for (uint32_t i = 0; i < c->new_count && !x->pairs; i++)
        if (is_rare(c, x->one[i])) return note_rare(c, 1, i, 0, 0);
    for (uint32_t i = 0; i < c->new_count; i++)
        for (uint32_t j = 0; j < n; j++)
            if (is_rare(c, x->two[i * n + j])) return note_rare(c, 2, i, j, 0);
    for (uint32_t i = 0; i < c->new_count; i++)
        for (uint32_t j = x->pairs ? x->second : i + 1; j < x->end; j++)
            for (uint32_t z = 0; c->problem->m > 2 && z < n; z++)
                if (is_rare(c, x->three[(i * n + j) * n + z])) return note_rare(c, 3, i, j, z);
    return false;
}

/* The recent values, if they are adjacent among the places: then one of them must be the second. Else all are used. */
static void choose_second(const kn_candidate *c, supports *x)
{
    const uint32_t *end = c->synopsis->vocabulary->end;
    uint32_t        first = UINT32_MAX, last = 0, count = 0;
    x->second = 0;
    x->end = (uint32_t)x->places;
    if (c->since == KN_NONE) return;
    for (uint32_t child = c->since + 1; child < end[c->since]; child = end[child]) {
        uint32_t place = c->place_of[child];
        if (place == KN_NONE) continue; /* no record has it */
        if (place < first) first = place;
        if (place >= last) last = place + 1;
        count++;
    }
    x->pairs = count > 0 && last - first == count;
    if (!x->pairs) return;
    x->second = first;
    x->end = last;
}

static bool make_supports(const kn_candidate *c, supports *x)
{
    const kn_vocabulary *v = c->synopsis->vocabulary;
    size_t               news = c->new_count, pairs = news * x->places, triples = pairs * x->places;
    if (!KN_ALLOC_ZERO(c->ctx, x->one, news + pairs + (c->problem->m > 2 ? triples : 0) + 1) ||
        !KN_ALLOC_ZERO(c->ctx, x->sets, (x->places + 1) * WORDS) || !KN_ALLOC(c->ctx, x->set_of, (size_t)v->nodes + 1))
        return false;
    x->two = x->one + news;
    x->three = x->two + pairs;
    for (uint32_t i = 0; i < v->nodes; i++) x->set_of[i] = c->place_of[c->cut_of[i]] * WORDS;
    return true;
}

kn_status kn_value_sweep(kn_candidate *c, bool *ok, kn_error *err)
{
    supports x = {.places = c->places};
    *ok = true;
    choose_second(c, &x);
    kn_status st = KN_OK;
    if (!make_supports(c, &x) ||
        !kn_combinations_prepare(&c->combinations, c->synopsis->vocabulary->nodes, (size_t)c->problem->m + 1))
        st = kn_fail_memory(err, c->ctx, WHAT);
    if (st == KN_OK) st = count_rows(c, &x, err);
    if (st == KN_OK) *ok = !find_rare(c, &x);
    KN_FREE(x.one, x.sets, x.set_of);
    return st;
}
