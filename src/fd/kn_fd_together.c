/* kn_fd_together.c: left sides of one size on a small table, each checked for all its right sides at once (kn_fd.h).
 *
 * Two rows that agree on X are an exception of X -> A for every A in which they differ: of such a pair the set of columns
 * in which it agrees says all, and the rows are not looked at again. The exceptions of all right sides are counted in
 * one go: bit A of the i-th word is bit i of the count of A, and adding a set is a carry that dies out after about two
 * words. The counts begin as far below a power of two as the budget is, so that a carry out of the last word says that a
 * right side has fallen.
 *
 * The left sides come in lexicographic order. For those that share all but their last column, the rows that agree on
 * the shared columns are kept in parts: pairs as one set, three rows as three, larger groups as rows. For the last column
 *   1. the pairs and triples that agree in it are counted;
 *   2. of disjoint pairs within groups, those that agree in it are counted for a bound: whichever value is kept in a
 *      group, one row of a pair that differs is an exception. Most left sides have fallen by now;
 *   3. the groups are split by it, and the exceptions of each right side that is left are counted by its values.
 *
 * Threads: a left side is checked by one worker, so nothing depends on their number but the order of what is found.
 *
 * Cost: for each left side that falls some hundred operations, for one that holds the rows that agree on it; for all but its
 * last column a split of the rows that agree on the columns before, shared by neighbours. Memory, for each worker: 20 bytes
 * × rows × columns of a left side. Limit: KN_FD_SMALL different rows, whose numbers, twice as many, have 16 bits.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fd.h"
#include "kn_parallel.h"

#define WHAT "searching dependencies"

enum {
    RANGE = 256,  /* left sides that a worker takes at a time, at most, and ranges of a level, if it has so many */
    STEP = 16,    /* columns that are compared at a time */
    FEW = 8,      /* rows that are compared with each other rather than looked up */
    PATIENCE = 64 /* left sides between two looks at the clock */
};

/* ---- Counting ---- */

/* Of each right side how many exceptions there are, `words` binary digits of it; `over`: more than the budget. */
typedef struct counts {
    int      words;
    uint64_t word[64];
    uint64_t over;
} counts;

static counts counts_begin(int64_t budget)
{
    counts   c = {.words = 64 - __builtin_clzll((uint64_t)budget)};
    uint64_t begin = (((uint64_t)1 << c.words) - 1) - (uint64_t)budget;
    for (int i = 0; i < c.words; i++) c.word[i] = begin >> i & 1 ? UINT64_MAX : 0;
    return c;
}

static inline void count_from(counts *c, uint64_t set, int digit)
{
    for (int i = digit; i < c->words && set; i++) {
        uint64_t carry = c->word[i] & set;
        c->word[i] ^= set;
        set = carry;
    }
    c->over |= set;
}

static inline void count(counts *c, uint64_t set, int64_t times)
{
    if (times == 1) {
        count_from(c, set, 0);
        return;
    }
    if (times >> c->words) {
        c->over |= set;
        return;
    }
    for (; times; times &= times - 1) count_from(c, set, __builtin_ctzll((uint64_t)times));
}

static int64_t counted(const counts *c, int64_t budget, int right)
{
    uint64_t sum = 0;
    for (int i = 0; i < c->words; i++) sum |= (c->word[i] >> right & 1) << i;
    return (int64_t)(sum - ((((uint64_t)1 << c->words) - 1) - (uint64_t)budget));
}

/* ---- Parts ---- */

/* The rows that agree on some columns with others. Two or three of weight 1 are the sets of columns in which they agree;
 * more, or of other weights, are rows. */
typedef struct part {
    int       column; /* the last one */
    size_t    pairs, triples, groups, row_count, bounds;
    bool      bounded;
    uint64_t *pair;
    uint64_t (*triple)[3]; /* the first and the second row, the first and the third, the second and the third */
    uint16_t *rows;        /* of group g: [starts[g], starts[g + 1]) */
    uint16_t *starts;
    uint64_t *bound; /* of disjoint pairs inside groups, once `bounded` */
} part;

typedef struct job {
    kn_fd_search  *search;
    uint16_t      *columns; /* codes from 0 on, column by column ... */
    uint16_t      *rows;    /* ... and row by row: `stride` of each */
    size_t         stride;
    kn_fd_many    *candidates;
    int            size; /* columns of each left side */
    struct worker *workers;
    atomic_bool    late;
} job;

typedef struct worker {
    job          *job;
    part          parts[KN_FD_COLUMNS]; /* by the number of columns */
    int           made;                 /* so many of them stand for a left side: */
    uint64_t      path;                 /* this one */
    uint16_t     *moved;                /* scratch of a split: rows, by value */
    uint16_t     *size, *code;
    uint16_t     *slot; /* per code; all 0 between uses */
    int64_t      *sums; /* the same */
    kn_fd_result *found;
    size_t        found_count, found_capacity;
    int64_t       asked;
    int           patience;
} worker;

static bool part_make(part *p, kn_context *ctx, size_t rows)
{
    /* One more of each: the next place is written to before it is known whether it is taken. */
    return p->bound || (KN_ALLOC(ctx, p->pair, rows / 2 + 2) && KN_ALLOC(ctx, p->triple, rows / 3 + 2) &&
                        KN_ALLOC(ctx, p->rows, rows + 1) && KN_ALLOC(ctx, p->starts, rows / 2 + 2) &&
                        KN_ALLOC(ctx, p->bound, rows / 2 + 1));
}

static void part_free(part *p)
{
    KN_FREE(p->pair, p->triple, p->rows, p->starts, p->bound);
}

static inline const kn_fd_data *data_of(const worker *w)
{
    return w->job->search->data;
}

static inline const uint16_t *column_of(const worker *w, int column)
{
    return w->job->columns + (size_t)column * data_of(w)->rows;
}

/* The columns in which two rows agree. What is behind the last column is equal, and asked for by nobody. */
static inline uint64_t agree_of(const worker *w, uint32_t a, uint32_t b)
{
    size_t          stride = w->job->stride;
    const uint16_t *x = w->job->rows + a * stride, *y = w->job->rows + b * stride;
    uint64_t        set = 0;
#ifdef __SSE2__
    for (size_t c = 0; c < stride; c += STEP) {
        __m128i low =
            _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)(x + c)), _mm_loadu_si128((const __m128i *)(y + c)));
        __m128i high = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)(x + c + STEP / 2)),
                                       _mm_loadu_si128((const __m128i *)(y + c + STEP / 2)));
        set |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)) << c;
    }
#else
    for (size_t c = 0; c < stride; c++) set |= (uint64_t)(x[c] == y[c]) << c;
#endif
    return set;
}

static inline int64_t weight_of(const worker *w, uint32_t row)
{
    return data_of(w)->freq->counts[row];
}

/* Few rows: by comparing them with each other. */
static uint32_t split_few(worker *w, const uint16_t *rows, uint32_t n, const uint16_t *code)
{
    uint32_t groups = 0, at = 0, open = (1u << n) - 1;
    while (open) {
        uint32_t first = (uint32_t)__builtin_ctz(open), same = 0, begin = at;
        for (uint32_t i = first; i < n; i++) same |= (uint32_t)(code[rows[i]] == code[rows[first]]) << i;
        open &= ~same;
        if ((same & (same - 1)) == 0) continue;
        for (; same; same &= same - 1) w->moved[at++] = rows[__builtin_ctz(same)];
        w->size[groups++] = (uint16_t)(at - begin);
    }
    return groups;
}

/* Splits rows by a column: `moved` has those of each value that several of them have, value by value; how many such
 * values there are, and in `size` the rows of each. */
static uint32_t split(worker *w, const uint16_t *rows, uint32_t n, int column)
{
    const uint16_t *code = column_of(w, column);
    uint32_t        values = 0, groups = 0, at = 0, alone = n;
    if (n <= FEW) return split_few(w, rows, n, code);
    for (uint32_t i = 0; i < n; i++) {
        uint16_t v = code[rows[i]];
        w->code[values] = v;
        values += w->slot[v]++ == 0;
    }
    for (uint32_t i = 0; i < values; i++) {
        uint16_t *slot = &w->slot[w->code[i]], many = *slot;
        *slot = (uint16_t)(many == 1 ? alone++ : at);
        if (many == 1) continue;
        at += many;
        w->size[groups++] = many;
    }
    for (uint32_t i = 0; i < n; i++) w->moved[w->slot[code[rows[i]]]++] = rows[i];
    for (uint32_t i = 0; i < values; i++) w->slot[w->code[i]] = 0;
    return groups;
}

/* Adds rows that agree on the columns of a part. */
static void add_rows(const worker *w, part *p, const uint16_t *rows, uint32_t n)
{
    bool light = n <= 3 && weight_of(w, rows[0]) == 1 && weight_of(w, rows[1]) == 1;
    if (light && n == 2) {
        p->pair[p->pairs++] = agree_of(w, rows[0], rows[1]);
    } else if (light && weight_of(w, rows[2]) == 1) {
        uint64_t *sets = p->triple[p->triples++];
        sets[0] = agree_of(w, rows[0], rows[1]);
        sets[1] = agree_of(w, rows[0], rows[2]);
        sets[2] = agree_of(w, rows[1], rows[2]);
    } else {
        memcpy(p->rows + p->row_count, rows, n * sizeof *rows);
        p->row_count += n;
        p->starts[++p->groups] = (uint16_t)p->row_count;
    }
}

static void part_clear(part *p, int column)
{
    p->column = column;
    p->pairs = p->triples = p->groups = p->row_count = p->bounds = 0;
    p->starts[0] = 0;
    p->bounded = false;
}

/* Of three rows those that agree in a column: all, or two (whose set is returned), or none. */
static inline uint64_t two_of(const uint64_t *sets, int column, bool *all)
{
    uint64_t a = -(sets[0] >> column & 1), b = -(sets[1] >> column & 1), c = -(sets[2] >> column & 1);
    *all = a & b & 1;
    return ((sets[0] & a) | (sets[1] & b) | (sets[2] & c)) & ~(a & b);
}

/* Splits a part by one more column. */
static void refine(worker *w, const part *from, part *to, int column)
{
    part_clear(to, column);
    for (size_t i = 0; i < from->pairs; i++) {
        to->pair[to->pairs] = from->pair[i];
        to->pairs += from->pair[i] >> column & 1;
    }
    for (size_t i = 0; i < from->triples; i++) {
        bool     all;
        uint64_t two = two_of(from->triple[i], column, &all);
        memcpy(to->triple[to->triples], from->triple[i], sizeof *to->triple);
        to->triples += all;
        to->pair[to->pairs] = two;
        to->pairs += two != 0;
    }
    for (size_t g = 0; g < from->groups; g++) {
        uint32_t n = (uint32_t)(from->starts[g + 1] - from->starts[g]), at = 0;
        uint32_t groups = split(w, from->rows + from->starts[g], n, column);
        for (uint32_t v = 0; v < groups; at += w->size[v++]) add_rows(w, to, w->moved + at, w->size[v]);
    }
}

/* ---- One left side ---- */

/* Exceptions of one right side among rows. */
static int64_t exceptions(worker *w, const uint16_t *rows, uint32_t n, int column)
{
    const uint16_t *code = column_of(w, column);
    int64_t         all = 0, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t weight = weight_of(w, rows[i]), *sum = &w->sums[code[rows[i]]];
        all += weight;
        *sum += weight;
        if (*sum > most) most = *sum;
    }
    for (uint32_t i = 0; i < n; i++) w->sums[code[rows[i]]] = 0;
    return all - most;
}

/* Those of three rows, by their sets. */
static inline void count_three(counts *c, const uint64_t *sets, uint64_t alive)
{
    uint64_t some = sets[0] | sets[1] | sets[2], all = sets[0] & sets[1];
    count(c, some & ~all & alive, 1);
    count(c, ~some & alive, 2);
}

/* Those of rows that agree on the left side. Most of them agree on what it determines, too. */
static void count_rows(worker *w, counts *c, const uint16_t *rows, uint32_t n, uint64_t alive)
{
    uint64_t differ = 0;
    for (uint32_t i = 1; i < n; i++) differ |= ~agree_of(w, rows[0], rows[i]);
    for (uint64_t right = alive & differ; right; right &= right - 1)
        count(c, right & -right, exceptions(w, rows, n, __builtin_ctzll(right)));
}

/* Disjoint pairs of rows inside groups. */
static void bound(const worker *w, part *p)
{
    for (size_t g = 0; g < p->groups; g++)
        for (uint32_t i = p->starts[g]; i + 1 < p->starts[g + 1]; i += 2)
            p->bound[p->bounds++] = agree_of(w, p->rows[i], p->rows[i + 1]);
    p->bounded = true;
}

/* 1: pairs and triples. */
static void check_sets(const part *p, int column, uint64_t right, counts *c)
{
    for (size_t i = 0; i < p->pairs; i++) {
        uint64_t alive = right & ~c->over;
        if (!alive) return;
        if (p->pair[i] >> column & 1) count(c, ~p->pair[i] & alive, 1);
    }
    for (size_t i = 0; i < p->triples; i++) {
        uint64_t alive = right & ~c->over;
        bool     all;
        if (!alive) return;
        uint64_t two = two_of(p->triple[i], column, &all);
        if (two) count(c, ~two & alive, 1);
        if (all) count_three(c, p->triple[i], alive);
    }
}

/* 2: what falls for the rows of groups at least. */
static uint64_t check_bounds(const part *p, int column, uint64_t right, counts c)
{
    for (size_t i = 0; i < p->bounds; i++) {
        uint64_t alive = right & ~c.over;
        if (!alive) break;
        if (p->bound[i] >> column & 1) count(&c, ~p->bound[i] & alive, 1);
    }
    return c.over;
}

/* Which of `right` fall for the rows of a part that agree in one more column? */
static uint64_t check(worker *w, part *p, int column, uint64_t right, counts *c)
{
    check_sets(p, column, right, c);
    if (!(right & ~c->over)) return right;
    if (!p->bounded) bound(w, p);
    c->over |= check_bounds(p, column, right, *c);
    for (size_t g = 0; g < p->groups && right & ~c->over; g++) { /* 3 */
        uint32_t n = (uint32_t)(p->starts[g + 1] - p->starts[g]), at = 0;
        uint32_t groups = split(w, p->rows + p->starts[g], n, column);
        for (uint32_t v = 0; v < groups && right & ~c->over; at += w->size[v++])
            count_rows(w, c, w->moved + at, w->size[v], right & ~c->over);
    }
    return right & c->over;
}

/* Makes the parts of all columns of a left side but the last. */
static bool prepare(worker *w, uint64_t left)
{
    kn_context *ctx = w->job->search->ctx;
    uint64_t    rest = left;
    int         depth = 0, want = w->job->size - 1;
    for (; depth < want && depth + 1 < w->made && w->parts[depth + 1].column == __builtin_ctzll(rest); depth++)
        rest &= rest - 1;
    for (; depth < want; depth++, rest &= rest - 1) {
        if (!part_make(&w->parts[depth + 1], ctx, data_of(w)->rows)) return false;
        refine(w, &w->parts[depth], &w->parts[depth + 1], __builtin_ctzll(rest));
    }
    w->made = want + 1;
    return true;
}

static bool check_candidate(worker *w, kn_fd_many *x)
{
    int64_t  budget = w->job->search->budget;
    counts   c = counts_begin(budget);
    uint64_t asked = x->right;
    if (!prepare(w, x->left)) return false;
    x->right = check(w, &w->parts[w->job->size - 1], 63 - __builtin_clzll(x->left), asked, &c);
    for (uint64_t holds = asked & ~x->right; holds; holds &= holds - 1) {
        int a = __builtin_ctzll(holds);
        if (!KN_GROW(w->job->search->ctx, &w->found, &w->found_capacity, w->found_count + 1)) return false;
        w->found[w->found_count++] = (kn_fd_result){x->left, a, counted(&c, budget, a)};
    }
    w->asked += __builtin_popcountll(asked);
    return true;
}

static kn_status check_range(void *arg, int64_t begin, int64_t end, int number, kn_error *err)
{
    job    *j = arg;
    worker *w = &j->workers[number];
    for (int64_t i = begin; i < end; i++) {
        if (++w->patience % PATIENCE == 0 && kn_fd_clock_passed(j->search->clock)) atomic_store(&j->late, true);
        if (atomic_load_explicit(&j->late, memory_order_relaxed)) return KN_OK;
        if (!check_candidate(w, &j->candidates[i])) return kn_fail_memory(err, j->search->ctx, WHAT);
    }
    kn_progress_add(j->search->ctx, (uint64_t)(end - begin));
    return KN_OK;
}

/* ---- All of them ---- */

/* Numbers the values of each column anew: there are no more than rows. */
static bool make_codes(job *j)
{
    const kn_fd_data *d = j->search->data;
    kn_context       *ctx = j->search->ctx;
    uint32_t         *number = NULL;
    j->stride = ((size_t)d->columns + STEP - 1) / STEP * STEP;
    if (!KN_ALLOC(ctx, j->columns, (size_t)d->rows * (size_t)d->columns + 1) ||
        !KN_ALLOC_ZERO(ctx, j->rows, (size_t)d->rows * j->stride + 1) || !KN_ALLOC(ctx, number, d->most_codes))
        return false;
    for (int c = 0; c < d->columns; c++) {
        uint32_t values = 0;
        memset(number, 0, d->most_codes * sizeof *number);
        for (uint32_t i = 0; i < d->rows; i++) {
            uint32_t *n = &number[kn_fd_row(d, i)[c]];
            if (*n == 0) *n = ++values;
            j->columns[(size_t)c * d->rows + i] = (uint16_t)(*n - 1);
            j->rows[i * j->stride + (size_t)c] = (uint16_t)(*n - 1);
        }
    }
    kn_free(number);
    return true;
}

/* The part of no columns: all rows. */
static bool worker_make(worker *w, job *j)
{
    const kn_fd_data *d = j->search->data;
    kn_context       *ctx = j->search->ctx;
    size_t            rows = d->rows + 1;
    w->job = j;
    if (!KN_ALLOC(ctx, w->moved, 2 * rows) || !KN_ALLOC(ctx, w->size, rows) || !KN_ALLOC(ctx, w->code, rows) ||
        !KN_ALLOC_ZERO(ctx, w->slot, rows) || !KN_ALLOC_ZERO(ctx, w->sums, rows) || !part_make(&w->parts[0], ctx, rows))
        return false;
    for (uint32_t i = 0; i < d->rows; i++) w->moved[i] = (uint16_t)i;
    part_clear(&w->parts[0], -1);
    if (d->rows > 1) add_rows(w, &w->parts[0], w->moved, d->rows);
    w->made = 1;
    return true;
}

static void worker_free(worker *w)
{
    for (int i = 0; i < KN_FD_COLUMNS; i++) part_free(&w->parts[i]);
    KN_FREE(w->moved, w->size, w->code, w->slot, w->sums, w->found);
}

static bool take(kn_fd_search *s, const worker *w)
{
    for (size_t i = 0; i < w->found_count; i++)
        if (!kn_fd_search_found(s, w->found[i].right, w->found[i].left, w->found[i].removed)) return false;
    s->checked += w->asked;
    s->refuted += w->asked - (int64_t)w->found_count;
    return true;
}

kn_status kn_fd_check_many(kn_fd_search *search, kn_fd_many *candidates, size_t count, kn_error *err)
{
    kn_fd_search *s = search;
    int           workers = kn_context_threads(s->ctx);
    job           j = {.search = s, .candidates = candidates};
    kn_status     st = KN_OK;
    if (count == 0) return KN_OK;
    j.size = __builtin_popcountll(candidates[0].left);
    if (!KN_ALLOC_ZERO(s->ctx, j.workers, (size_t)workers)) return kn_fail_memory(err, s->ctx, WHAT);
    if (!make_codes(&j)) st = kn_fail_memory(err, s->ctx, WHAT);
    for (int i = 0; i < workers && st == KN_OK; i++)
        if (!worker_make(&j.workers[i], &j)) st = kn_fail_memory(err, s->ctx, WHAT);
    int64_t range = (int64_t)(count / RANGE);
    if (range < 1) range = 1;
    if (range > RANGE) range = RANGE;
    if (st == KN_OK) st = kn_parallel_for(s->ctx, (int64_t)count, range, check_range, &j, err);
    for (int i = 0; i < workers && st == KN_OK; i++)
        if (!take(s, &j.workers[i])) st = kn_fail_memory(err, s->ctx, WHAT);
    s->late = atomic_load(&j.late);
    for (int i = 0; i < workers; i++) worker_free(&j.workers[i]);
    KN_FREE(j.workers, j.columns, j.rows);
    return st;
}
