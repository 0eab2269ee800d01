/* kn_fd_validate.c: many candidates X -> A checked on the data at once (kn_fd.h).
 *
 * The left sides form a trie: a node is a column, its path a set. Starting with the rows that share a value of a node's
 * column, a walk goes down the trie and splits the rows by one more column at each step; rows that end up alone can
 * break nothing and drop out (TANE's stripped partitions, but never stored: one cluster is followed through all
 * candidates that begin with its column, and its few rows stay in the cache, row by row). At the end of a left side
 * the rows of each part agree on X, and A is looked at:
 *   - exact: the first two rows that differ in A break X -> A, which is not looked at again; the columns in which
 *     these two agree rule out more than this one candidate, so they are handed back. Neighbours in a part are
 *     similar rows, so they agree on much;
 *   - with a budget: the rows beyond the most frequent A are exceptions; once they are more than the budget, the
 *     candidate falls. Exceptions of a candidate that holds are counted exactly.
 * A branch without live candidates is skipped. Two rows need no splitting: with a budget they go down to the nodes whose
 * columns they agree in, and to no others; three to FRIENDS rows are split only by columns in which two of them agree.
 *
 * To guess, some clusters of the first column are looked at, evenly spread, and the budget is their share of it and a
 * standard deviation more. Whole clusters: in a sample of single rows few would agree on anything.
 *
 * Threads: tasks are pieces of the clusters of one first column, cut by position. Exact: each task walks with flags
 * of its own, so what it hands back does not depend on the others. With a budget the exceptions are summed up between
 * tasks: whether a sum passes the budget does not depend on who added first, nor does a sum that does not.
 *
 * Cost: rows of each trie node's parts, summed up over the nodes; far less for candidates that fail. Memory, for
 * each worker: 20 bytes × rows of the largest cluster (with a budget 28), a copy of up to 16,384 rows, and 12 bytes
 * (with a budget 20) for each candidate.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fd.h"
#include "kn_parallel.h"

enum {
    TASK_PARTS = 16, /* pieces of one column's clusters */
    GUESS = 16,      /* to guess, look at one cluster in so many at most, and at */
    ENOUGH = 16,     /* so many at least, if there are */
    NEAR = 1 << 14,  /* rows that are copied before they are walked */
    FEW = 12,        /* rows that are compared with each other rather than looked up */
    FRIENDS = 5,     /* rows that are compared in all columns before they are split by one ... */
    CROWD = 128,     /* ... if there are so many nodes below */
    SHARED = 4       /* exceptions that are not worth telling the other workers of */
};

/* ---- Candidates ---- */

/* The bits of a set in reverse, so that sets with the same first columns stand together. */
static uint64_t reversed(uint64_t x)
{
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(x);
}

static int compare_candidates(const void *a, const void *b)
{
    uint64_t x = reversed(((const kn_fd_candidate *)a)->left), y = reversed(((const kn_fd_candidate *)b)->left);
    return x > y ? -1 : x < y;
}

static int compare_sizes(const void *a, const void *b)
{
    int x = __builtin_popcountll(((const kn_fd_candidate *)a)->left);
    int y = __builtin_popcountll(((const kn_fd_candidate *)b)->left);
    return x != y ? x - y : compare_candidates(a, b);
}

kn_status kn_fd_candidates_make(kn_fd_candidate **out, size_t *count, const kn_fd_data *data, const kn_fd_list *left,
                                kn_error *err)
{
    size_t all = 0, kept = 0;
    for (int c = 0; c < data->columns; c++) all += left[c].count;
    *count = 0;
    *out = kn_alloc_array(data->ctx, all + 1, sizeof **out);
    if (!*out) return kn_fail_memory(err, data->ctx, "searching dependencies");
    kn_fd_candidate *list = *out;
    all = 0;
    for (int c = 0; c < data->columns; c++)
        for (size_t i = 0; i < left[c].count; i++)
            list[all++] = (kn_fd_candidate){.left = left[c].sets[i], .right = kn_fd_bit(c)};
    if (all > 1) qsort(list, all, sizeof *list, compare_sizes);
    for (size_t i = 0; i < all; i++) {
        if (kept > 0 && list[kept - 1].left == list[i].left)
            list[kept - 1].right |= list[i].right;
        else
            list[kept++] = list[i];
    }
    *count = kept;
    return KN_OK;
}

/* ---- The trie ---- */

/* Nodes in the order of a depth-first walk: the children of i are i + 1, end[i + 1], end[end[i + 1]], ... below
 * end[i]. */
typedef struct trie {
    uint32_t  nodes;
    uint8_t  *column;
    uint32_t *end;
    uint32_t *parent;
    uint64_t *below; /* the columns of the children ...                        */
    uint32_t *first; /* ... and where they begin in `children`                 */
    uint32_t *children;
    uint32_t *live;      /* candidates at and below                                */
    uint64_t *right;     /* of the candidate that ends here; 0: none               */
    uint32_t *candidate; /* its number                                             */
    size_t   *pair;      /* with a budget: where the exceptions of its first right side stand */
} trie;

static void trie_free(trie *t)
{
    KN_FREE(t->column, t->end, t->parent, t->below, t->first, t->children, t->live, t->right, t->candidate, t->pair);
}

static bool trie_allocate(trie *t, kn_context *ctx, size_t nodes)
{
    return KN_ALLOC(ctx, t->column, nodes) && KN_ALLOC(ctx, t->end, nodes) && KN_ALLOC(ctx, t->parent, nodes) &&
           KN_ALLOC_ZERO(ctx, t->below, nodes) && KN_ALLOC_ZERO(ctx, t->first, nodes + 1) &&
           KN_ALLOC(ctx, t->children, nodes) && KN_ALLOC_ZERO(ctx, t->live, nodes) &&
           KN_ALLOC_ZERO(ctx, t->right, nodes) && KN_ALLOC_ZERO(ctx, t->candidate, nodes) &&
           KN_ALLOC_ZERO(ctx, t->pair, nodes);
}

static size_t shared_prefix(uint64_t a, uint64_t b)
{
    uint64_t differ = a ^ b;
    uint64_t below = differ ? (differ & -differ) - 1 : UINT64_MAX;
    return (size_t)__builtin_popcountll(a & below);
}

static size_t count_nodes(const kn_fd_candidate *c, size_t count)
{
    size_t   nodes = 1;
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        nodes += (size_t)__builtin_popcountll(c[i].left) - shared_prefix(c[i].left, last);
        last = c[i].left;
    }
    return nodes;
}

/* Adds the path of a candidate below what it shares with the one before; `path` holds the nodes of that one. */
static void trie_add(trie *t, const kn_fd_candidate *c, uint32_t number, uint32_t *path, uint64_t last)
{
    size_t   depth = shared_prefix(c->left, last);
    uint64_t rest = c->left;
    for (size_t i = 0; i < depth; i++) rest &= rest - 1;
    for (; rest; rest &= rest - 1) {
        uint32_t node = t->nodes++;
        t->column[node] = (uint8_t)__builtin_ctzll(rest);
        t->parent[node] = path[depth];
        path[++depth] = node;
    }
    uint32_t node = path[depth];
    t->right[node] = c->right;
    t->candidate[node] = number;
}

/* By column, as they are in the walk. Where each node's begin stands one ahead until they are filled in. */
static void link_children(trie *t)
{
    uint32_t next = 0;
    for (uint32_t n = 1; n < t->nodes; n++) {
        t->below[t->parent[n]] |= kn_fd_bit(t->column[n]);
        t->first[t->parent[n] + 1]++;
    }
    for (uint32_t n = 0; n < t->nodes; n++) {
        uint32_t count = t->first[n + 1];
        t->first[n + 1] = next;
        next += count;
    }
    for (uint32_t n = 1; n < t->nodes; n++) t->children[t->first[t->parent[n] + 1]++] = n;
}

/* The candidates are sorted already. */
static kn_status trie_make(trie *t, kn_context *ctx, const kn_fd_candidate *c, size_t count, size_t *pairs,
                           kn_error *err)
{
    size_t nodes = count_nodes(c, count);
    if (nodes >= UINT32_MAX || !trie_allocate(t, ctx, nodes)) return kn_fail_memory(err, ctx, "searching dependencies");
    uint32_t path[KN_FD_COLUMNS + 1] = {0};
    uint64_t last = 0;
    t->nodes = 1;
    *pairs = 0;
    for (size_t i = 0; i < count; i++) {
        trie_add(t, &c[i], (uint32_t)i, path, last);
        last = c[i].left;
    }
    for (uint32_t n = 0; n < t->nodes; n++) {
        t->end[n] = n + 1;
        t->pair[n] = *pairs;
        *pairs += (size_t)__builtin_popcountll(t->right[n]);
    }
    for (uint32_t n = t->nodes - 1; n > 0; n--) {
        uint32_t up = t->parent[n];
        t->live[n] += t->right[n] != 0;
        t->live[up] += t->live[n];
        if (t->end[n] > t->end[up]) t->end[up] = t->end[n];
    }
    link_children(t);
    return KN_OK;
}

/* How many bits are set: inline, where the processor's instruction may not be there. */
static inline uint32_t count_bits(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(x * 0x0101010101010101u >> 56);
}

/* The child whose column is the lowest of `columns`, which are children's. */
static inline uint32_t child_at(const trie *t, uint32_t node, uint64_t columns)
{
    return t->children[t->first[node] + count_bits(t->below[node] & ((columns & -columns) - 1))];
}

/* ---- Walking ---- */

typedef struct task {
    uint32_t   node;        /* of the first column                       */
    uint32_t   first, last; /* its clusters                       */
    uint64_t  *broken;      /* exact, out: per node from `node` on; NULL: none */
    kn_fd_list agree;       /* exact, out                               */
} task;

typedef struct job {
    const kn_fd_data   *data;
    kn_fd_clock        *clock;
    const trie         *trie;
    const kn_fd_effort *effort;
    int64_t             budget;
    uint32_t            stride[KN_FD_COLUMNS]; /* of the clusters of a first column, one in so many is looked at */
    int64_t             limit[KN_FD_COLUMNS];  /* exceptions allowed in those                                    */
    _Atomic int64_t    *removed;               /* with a budget: per pair */
    size_t              pairs, most_rows, most_codes; /* rows of the largest cluster */
    task               *tasks;
    struct walker      *walkers;
    atomic_bool         late;
} job;

/* Of one worker. */
typedef struct walker {
    job            *job;
    uint64_t       *alive; /* per node: right sides not broken yet   */
    uint32_t       *live;  /* per node: candidates at and below      */
    int64_t        *own;   /* with a budget: per pair, not yet added */
    const uint32_t *codes,
        *ids; /* what `rows` are numbers of: row by row; ids: their numbers in the data, NULL: the same */
    const int64_t *weights;
    uint32_t      *near_codes; /* a copy of the rows of a small cluster, and their weights */
    int64_t       *near_weights;
    uint32_t      *rows;                        /* of the current cluster                 */
    uint32_t      *moved, *group, *size, *code; /* scratch of a split */
    uint32_t      *slot;                        /* per code of the column with most: group + 1; all 0 between uses */
    int64_t       *sums;                        /* per group: weights                     */
    uint32_t (*ranges)[2];                      /* a stack */
    size_t   range_count, range_capacity;
    task    *task;
    uint64_t work; /* rows seen since the clock was last asked */
    bool     made, stop, failed;
} walker;

static const uint32_t *row_of(const walker *w, uint32_t i)
{
    return w->codes + (size_t)w->rows[i] * (size_t)w->job->data->columns;
}

/* The columns in which two rows agree. */
static inline uint64_t agree_of(const walker *w, const uint32_t *x, const uint32_t *y)
{
    uint64_t set = 0;
    for (int c = 0; c < w->job->data->columns; c++) set |= (uint64_t)(x[c] == y[c]) << c;
    return set;
}

static bool push_range(walker *w, uint32_t first, uint32_t last)
{
    if (!KN_GROW(w->job->data->ctx, &w->ranges, &w->range_capacity, w->range_count + 1)) {
        w->failed = true;
        return false;
    }
    w->ranges[w->range_count][0] = first;
    w->ranges[w->range_count++][1] = last;
    return true;
}

/* The same for few rows: the slots of a column with many values lie far apart, these codes do not. */
static uint32_t group_few(walker *w, int column, uint32_t first, uint32_t last)
{
    uint32_t groups = 0;
    for (uint32_t i = first; i < last; i++) {
        uint32_t code = row_of(w, i)[column], g = 0;
        while (g < groups && w->code[g] != code) g++;
        if (g == groups) {
            w->code[groups] = code;
            w->size[groups++] = 0;
        }
        w->group[i - first] = g;
        w->size[g]++;
    }
    return groups;
}

/* Numbers the values of a column among rows [first, last) in order of appearance. */
static uint32_t group_rows(walker *w, int column, uint32_t first, uint32_t last)
{
    uint32_t groups = 0;
    if (last - first <= FEW) return group_few(w, column, first, last);
    for (uint32_t i = first; i < last; i++) {
        uint32_t code = row_of(w, i)[column], g = w->slot[code];
        if (g == 0) {
            g = w->slot[code] = ++groups;
            w->size[g - 1] = 0;
            w->code[g - 1] = code;
        }
        w->group[i - first] = g - 1;
        w->size[g - 1]++;
    }
    for (uint32_t g = 0; g < groups; g++) w->slot[w->code[g]] = 0;
    return groups;
}

/* Splits rows [first, last) by a column; pushes the parts of two or more. Keeps the order of rows inside a part. */
static void split(walker *w, int column, uint32_t first, uint32_t last)
{
    if (last - first == 2) {
        if (row_of(w, first)[column] == row_of(w, first + 1)[column]) (void)push_range(w, first, last);
        return;
    }
    uint32_t groups = group_rows(w, column, first, last), at = first;
    if (groups == 1) (void)push_range(w, first, last);
    if (groups == 1 || groups == last - first) return;
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t n = w->size[g];
        w->size[g] = at - first;
        if (n > 1 && !push_range(w, at, at + n)) return;
        at += n;
    }
    for (uint32_t i = first; i < last; i++) w->moved[w->size[w->group[i - first]]++] = w->rows[i];
    memcpy(w->rows + first, w->moved, (size_t)(last - first) * sizeof *w->rows);
}

static void drop(walker *w, uint32_t node, uint64_t right)
{
    w->alive[node] &= ~right;
    if (w->alive[node]) return;
    for (uint32_t n = node; n > 0; n = w->job->trie->parent[n]) w->live[n]--;
}

/* Exact: rows [first, last) agree on the left side of `node`. */
static void test_exact(walker *w, uint32_t node, uint32_t first, uint32_t last)
{
    uint64_t broken = 0;
    for (uint64_t right = w->alive[node]; right; right &= right - 1) {
        int      c = __builtin_ctzll(right);
        uint32_t code = row_of(w, first)[c], i = first + 1;
        while (i < last && row_of(w, i)[c] == code) i++;
        if (i == last) continue;
        broken |= kn_fd_bit(c);
        if (!w->job->effort->agree) continue;
        uint32_t a = w->rows[i - 1], b = w->rows[i];
        uint64_t agree = kn_fd_agree(w->job->data, w->ids ? w->ids[a] : a, w->ids ? w->ids[b] : b);
        if (!kn_fd_list_add(&w->task->agree, w->job->data->ctx, agree)) w->failed = true;
    }
    if (!broken) return;
    w->task->broken[node - w->task->node] |= broken;
    drop(w, node, broken);
}

static int64_t few_exceptions(const walker *w, int column, uint32_t first, uint32_t last)
{
    const int64_t *weights = w->weights;
    uint32_t       codes[FEW], groups = 0;
    int64_t        sums[FEW], all = 0, most = 0;
    for (uint32_t i = first; i < last; i++) {
        uint32_t code = row_of(w, i)[column], g = 0;
        int64_t  weight = weights[w->rows[i]];
        while (g < groups && codes[g] != code) g++;
        if (g == groups) {
            codes[groups] = code;
            sums[groups++] = 0;
        }
        sums[g] += weight;
        all += weight;
        if (sums[g] > most) most = sums[g];
    }
    return all - most;
}

/* Exceptions of one right side among rows that agree on the left. */
static int64_t exceptions(walker *w, int column, uint32_t first, uint32_t last)
{
    const int64_t *weights = w->weights;
    if (last - first <= FEW) return few_exceptions(w, column, first, last);
    uint32_t groups = group_rows(w, column, first, last);
    if (groups == 1) return 0;
    int64_t all = 0, most = 0;
    memset(w->sums, 0, (size_t)groups * sizeof *w->sums);
    for (uint32_t i = first; i < last; i++) w->sums[w->group[i - first]] += weights[w->rows[i]];
    for (uint32_t g = 0; g < groups; g++) {
        all += w->sums[g];
        if (w->sums[g] > most) most = w->sums[g];
    }
    return all - most;
}

/* Adds what this worker counted for a pair to the sum of all; returns the sum. */
static int64_t share(walker *w, size_t pair)
{
    int64_t own = w->own[pair];
    w->own[pair] = 0;
    return atomic_fetch_add_explicit(&w->job->removed[pair], own, memory_order_relaxed) + own;
}

/* The candidate falls once all workers together have seen more than the limit. */
static void add_exceptions(walker *w, uint32_t node, int column, size_t pair, int64_t count)
{
    int64_t limit = w->job->limit[w->job->trie->column[w->task->node]];
    w->own[pair] += count;
    if (w->own[pair] > (limit < SHARED ? limit : limit / 32 + SHARED) && share(w, pair) > limit)
        drop(w, node, kn_fd_bit(column));
}

/* Where the exceptions of a right side stand. */
static inline size_t pair_of(const trie *t, uint32_t node, int column)
{
    return t->pair[node] + count_bits(t->right[node] & (kn_fd_bit(column) - 1));
}

/* With a budget: those of the right sides in which not all rows are known to agree. */
static void test_budget(walker *w, uint32_t node, uint32_t first, uint32_t last, uint64_t differ)
{
    for (uint64_t right = w->alive[node] & differ; right; right &= right - 1) {
        int     c = __builtin_ctzll(right);
        int64_t count = exceptions(w, c, first, last);
        if (count > 0) add_exceptions(w, node, c, pair_of(w->job->trie, node, c), count);
    }
}

static void worked(walker *w, uint64_t rows)
{
    w->work += rows;
    if (w->work <= 1 << 20) return;
    w->work = 0;
    w->stop = kn_fd_clock_passed(w->job->clock);
    if (w->stop) atomic_store_explicit(&w->job->late, true, memory_order_relaxed);
}

/* With a budget: two rows that agree in these columns, among them the left side of `node`. Returns how many nodes were seen. */
static uint64_t visit_two(walker *w, uint32_t node, uint64_t agree, int64_t weight)
{
    const trie *t = w->job->trie;
    uint64_t    seen = 1;
    for (uint64_t right = w->alive[node] & ~agree; right; right &= right - 1) {
        int c = __builtin_ctzll(right);
        add_exceptions(w, node, c, pair_of(t, node, c), weight);
    }
    for (uint64_t next = t->below[node] & agree; next; next &= next - 1) {
        uint32_t child = child_at(t, node, next);
        if (w->live[child]) seen += visit_two(w, child, agree, weight);
    }
    return seen;
}

static void begin_two(walker *w, uint32_t node, uint32_t first)
{
    const uint32_t *x = row_of(w, first), *y = row_of(w, first + 1);
    int64_t         a = w->weights[w->rows[first]], b = w->weights[w->rows[first + 1]];
    worked(w, visit_two(w, node, agree_of(w, x, y), a < b ? a : b));
}

/* In which columns do two of a few rows agree, and in which all? */
static void compare_few(const walker *w, uint32_t first, uint32_t last, uint64_t *some, uint64_t *all)
{
    *some = 0;
    *all = UINT64_MAX;
    for (uint32_t i = first; i < last; i++)
        for (uint32_t j = i + 1; j < last; j++) {
            uint64_t agree = agree_of(w, row_of(w, i), row_of(w, j));
            *some |= agree;
            *all &= agree;
        }
}

static void visit(walker *w, uint32_t node, uint32_t first, uint32_t last)
{
    const trie *t = w->job->trie;
    uint64_t    some = UINT64_MAX, all = 0;
    if (w->job->budget > 0 && last - first == 2) {
        begin_two(w, node, first);
        return;
    }
    worked(w, last - first);
    if (w->job->budget > 0 && last - first <= FRIENDS && t->end[node] - node > CROWD)
        compare_few(w, first, last, &some, &all);
    if (w->alive[node]) {
        if (w->job->budget > 0)
            test_budget(w, node, first, last, ~all);
        else
            test_exact(w, node, first, last);
    }
    for (uint32_t child = node + 1; child < t->end[node] && !w->stop && !w->failed; child = t->end[child]) {
        if (w->live[child] == 0 || !(some >> t->column[child] & 1)) continue;
        size_t base = w->range_count;
        split(w, t->column[child], first, last);
        for (size_t i = base, end = w->range_count; i < end && w->live[child] && !w->stop && !w->failed; i++)
            visit(w, child, w->ranges[i][0], w->ranges[i][1]);
        w->range_count = base;
    }
}

/* The rows of a cluster are scattered over the data; since they are visited many times, they are copied together. */
static void take_cluster(walker *w, const uint32_t *members, uint32_t n)
{
    const kn_fd_data *d = w->job->data;
    bool              near = n <= NEAR;
    w->codes = near ? w->near_codes : d->codes;
    w->weights = near ? w->near_weights : d->freq->counts;
    w->ids = near ? members : NULL;
    if (!near) memcpy(w->rows, members, n * sizeof *w->rows);
    for (uint32_t i = 0; i < n && near; i++) {
        memcpy(w->near_codes + (size_t)i * (size_t)d->columns, kn_fd_row(d, members[i]),
               (size_t)d->columns * sizeof *w->codes);
        w->near_weights[i] = d->freq->counts[members[i]];
        w->rows[i] = i;
    }
}

static kn_status run_task(walker *w, task *k, kn_error *err)
{
    const trie           *t = w->job->trie;
    const kn_fd_clusters *clusters = &w->job->data->clusters[t->column[k->node]];
    uint32_t              nodes = t->end[k->node] - k->node;
    kn_context           *ctx = w->job->data->ctx;
    w->task = k;
    if (w->job->budget == 0 && !KN_ALLOC_ZERO(ctx, k->broken, nodes))
        return kn_fail_memory(err, ctx, "searching dependencies");
    memcpy(w->alive + k->node, t->right + k->node, nodes * sizeof *w->alive);
    memcpy(w->live + k->node, t->live + k->node, nodes * sizeof *w->live);
    uint32_t stride = w->job->stride[t->column[k->node]];
    for (uint32_t i = k->first; i < k->last && w->live[k->node] && !w->stop && !w->failed; i++) {
        if (i % stride != stride / 2) continue;
        uint32_t begin = clusters->starts[i], n = clusters->starts[i + 1] - begin;
        take_cluster(w, clusters->members + begin, n);
        w->range_count = 0;
        visit(w, k->node, 0, n);
    }
    if (w->job->budget > 0) {
        size_t end = t->end[k->node] < t->nodes ? t->pair[t->end[k->node]] : w->job->pairs;
        for (size_t p = t->pair[k->node]; p < end; p++)
            if (w->own[p]) (void)share(w, p);
    }
    return w->failed ? kn_fail_memory(err, ctx, "searching dependencies") : KN_OK;
}

/* ---- Setting up ---- */

/* The largest cluster that any task meets. */
static size_t most_rows(const job *j, int tasks)
{
    size_t most = 2;
    for (int i = 0; i < tasks; i++) {
        const kn_fd_clusters *c = &j->data->clusters[j->trie->column[j->tasks[i].node]];
        for (uint32_t n = j->tasks[i].first; n < j->tasks[i].last; n++)
            if (c->starts[n + 1] - c->starts[n] > most) most = c->starts[n + 1] - c->starts[n];
    }
    return most;
}

/* One more than the highest code of the columns that rows are grouped by: those of left sides but for the first, whose clusters
 * are there, and with a budget the right sides. */
static size_t most_codes(const job *j)
{
    const trie *t = j->trie;
    uint64_t    columns = 0;
    size_t      most = 1;
    for (uint32_t n = 1; n < t->nodes; n++)
        columns |= (t->parent[n] ? kn_fd_bit(t->column[n]) : 0) | (j->budget > 0 ? t->right[n] : 0);
    for (; columns; columns &= columns - 1) {
        uint32_t codes = j->data->codes_of[__builtin_ctzll(columns)];
        if (codes > most) most = codes;
    }
    return most;
}

/* Made by the thread that works with it: the system clears its pages there. */
static bool walker_make(walker *w, job *j)
{
    kn_context *ctx = j->data->ctx;
    size_t      rows = j->most_rows, near = rows < NEAR ? rows : NEAR;
    w->job = j;
    w->made = true;
    if (j->budget > 0 && (!KN_ALLOC_ZERO(ctx, w->own, j->pairs + 1) || !KN_ALLOC(ctx, w->sums, rows))) return false;
    return KN_ALLOC(ctx, w->alive, j->trie->nodes) && KN_ALLOC(ctx, w->live, j->trie->nodes) &&
           KN_ALLOC(ctx, w->rows, rows) && KN_ALLOC(ctx, w->moved, rows) && KN_ALLOC(ctx, w->group, rows) &&
           KN_ALLOC(ctx, w->size, rows) && KN_ALLOC(ctx, w->code, rows) &&
           KN_ALLOC(ctx, w->near_codes, near * (size_t)j->data->columns) && KN_ALLOC(ctx, w->near_weights, near) &&
           KN_ALLOC_ZERO(ctx, w->slot, j->most_codes);
}

static void walker_free(walker *w)
{
    KN_FREE(w->alive, w->live, w->own, w->near_codes, w->near_weights, w->rows, w->moved, w->group, w->size, w->code,
            w->slot, w->sums, w->ranges);
    *w = (walker){0};
}

static kn_status free_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const job *j = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) walker_free(&j->walkers[i]);
    return KN_OK;
}

/* By all threads, since giving pages back takes as long as getting them; by one where a cancelled context runs no range. */
static void free_walkers(job *j, int workers)
{
    if (!j->walkers) return;
    if (kn_parallel_for(j->data->ctx, workers, 1, free_range, j, NULL) != KN_OK)
        (void)free_range(j, 0, workers, 0, NULL);
    kn_free(j->walkers);
}

static kn_status run_tasks(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    job    *j = arg;
    walker *w = &j->walkers[worker];
    if (!w->made && !walker_make(w, j)) return kn_fail_memory(err, j->data->ctx, "searching dependencies");
    for (int64_t i = begin; i < end; i++) KN_TRY(run_task(w, &j->tasks[i], err));
    return KN_OK;
}

/* Which clusters are looked at, and how many exceptions these may have: their share of the budget. */
static void set_limits(job *j)
{
    for (int c = 0; c < j->data->columns; c++) {
        const kn_fd_clusters *k = &j->data->clusters[c];
        uint32_t              stride = j->effort->guess ? k->count / ENOUGH : 1;
        uint64_t              rows = 0;
        j->stride[c] = stride = stride < 1 ? 1 : stride > GUESS ? GUESS : stride;
        j->limit[c] = j->budget;
        if (stride == 1) continue;
        for (uint32_t i = stride / 2; i < k->count; i += stride) rows += k->starts[i + 1] - k->starts[i];
        double fair = (double)j->budget * (double)rows / (double)k->starts[k->count];
        j->limit[c] = (int64_t)(fair + sqrt(fair)); /* + what chance may bring about */
    }
}

/* Cuts the clusters of each first column into pieces of about equally many rows. */
static int make_tasks(job *j, task *tasks)
{
    int count = 0;
    for (uint32_t node = 1; node < j->trie->nodes; node = j->trie->end[node]) {
        const kn_fd_clusters *c = &j->data->clusters[j->trie->column[node]];
        uint32_t              first = 0, all = c->count ? c->starts[c->count] : 0, part = all / TASK_PARTS + 1024;
        while (first < c->count) {
            uint32_t last = first + 1;
            while (last < c->count && c->starts[last + 1] - c->starts[first] <= part) last++;
            tasks[count++] = (task){.node = node, .first = first, .last = last};
            first = last;
        }
    }
    return count;
}

/* What the tasks found, in their order. */
static bool collect_exact(const job *j, int tasks, kn_fd_candidate *candidates)
{
    const trie *t = j->trie;
    for (int i = 0; i < tasks; i++) {
        const task *k = &j->tasks[i];
        for (uint32_t n = k->node; n < t->end[k->node]; n++)
            if (k->broken[n - k->node]) candidates[t->candidate[n]].broken |= k->broken[n - k->node];
        bool added;
        for (size_t a = 0; a < k->agree.count; a++)
            if (!kn_fd_pool_add(j->effort->agree, j->data->ctx, k->agree.sets[a], &added)) return false;
    }
    return true;
}

static void collect_budget(const job *j, kn_fd_candidate *candidates)
{
    const trie *t = j->trie;
    int64_t     limit = 0;
    for (uint32_t n = 1; n < t->nodes; n++) {
        if (t->parent[n] == 0) limit = j->limit[t->column[n]];
        if (!t->right[n]) continue;
        kn_fd_candidate *c = &candidates[t->candidate[n]];
        size_t           pair = t->pair[n];
        int              at = 0;
        for (uint64_t right = t->right[n]; right; right &= right - 1, at++, pair++) {
            int64_t removed = atomic_load_explicit(&j->removed[pair], memory_order_relaxed);
            if (removed > limit) c->broken |= right & -right;
            if (c->removed && !j->effort->guess) c->removed[at] = removed;
        }
    }
}

static kn_status run(job *j, kn_fd_candidate *candidates, int tasks, kn_error *err)
{
    kn_context *ctx = j->data->ctx;
    j->most_rows = most_rows(j, tasks);
    j->most_codes = most_codes(j);
    KN_TRY(kn_parallel_for(ctx, tasks, 1, run_tasks, j, err));
    if (atomic_load(&j->late)) return kn_cancelled(ctx) ? kn_fail_cancelled(err) : KN_OK;
    if (j->budget > 0)
        collect_budget(j, candidates);
    else if (!collect_exact(j, tasks, candidates))
        return kn_fail_memory(err, ctx, "searching dependencies");
    return KN_OK;
}

kn_status kn_fd_validate(bool *done, const kn_fd_data *data, kn_fd_clock *clock, kn_fd_candidate *candidates,
                         size_t count, const kn_fd_effort *effort, kn_error *err)
{
    kn_context *ctx = data->ctx;
    trie        t = {0};
    job         j = {.data = data, .clock = clock, .trie = &t, .effort = effort, .budget = effort->budget};
    int         workers = kn_context_threads(ctx), tasks = 0;
    *done = false;
    if (kn_fd_clock_passed(clock)) return kn_cancelled(ctx) ? kn_fail_cancelled(err) : KN_OK;
    if (count > 1) qsort(candidates, count, sizeof *candidates, compare_candidates);
    for (size_t i = 0; i < count; i++) candidates[i].broken = 0;
    kn_status st = trie_make(&t, ctx, candidates, count, &j.pairs, err);
    if (st == KN_OK) {
        j.tasks = kn_alloc_array_zero(ctx, (size_t)data->columns * (TASK_PARTS * 2 + 2) + 1, sizeof *j.tasks);
        j.walkers = kn_alloc_array_zero(ctx, (size_t)workers, sizeof *j.walkers);
        if (j.budget > 0) j.removed = kn_alloc_array_zero(ctx, j.pairs + 1, sizeof *j.removed);
        if (!j.tasks || !j.walkers || (j.budget > 0 && !j.removed))
            st = kn_fail_memory(err, ctx, "searching dependencies");
    }
    if (st == KN_OK) {
        set_limits(&j);
        tasks = make_tasks(&j, j.tasks);
        st = run(&j, candidates, tasks, err);
        *done = st == KN_OK && !atomic_load(&j.late);
    }
    for (int i = 0; i < tasks; i++) {
        kn_free(j.tasks[i].broken);
        kn_fd_list_free(&j.tasks[i].agree);
    }
    free_walkers(&j, workers);
    KN_FREE(j.tasks, j.removed);
    trie_free(&t);
    return st;
}
