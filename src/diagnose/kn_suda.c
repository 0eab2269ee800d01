/* kn_suda.c: special uniques: all minimal sample uniques (MSUs) of a table, scores of rows, contributions of columns.
 *
 * An MSU of a row is a set of columns on which the row differs from every other row, and no proper subset of which has
 * that property. Sources: Elliot, Manning and Ford, A computational algorithm for handling the special uniques problem
 * (2002); Elliot et al., SUDA: a program for detecting special uniques (2005); Manning, Haglin and Keane, A recursive
 * search algorithm for statistical disclosure assessment, Data Mining and Knowledge Discovery 16 (2008): SUDA2.
 *
 * The score of a row adds up Π_{i=s}^{min(M, n-1)} (n − i) for each of its MSUs of s columns, with n columns in all and
 * M the largest size looked at: with M = n these are (n − s)!, the ways to grow the MSU to the whole set.
 *
 * The search goes size by size over sets of columns; "items" are the distinct rows, "candidates" the rows that are unique
 * on all columns: only they can have MSUs.
 * - Each set X of s columns has a bitmap unique(X) of the candidates that are unique on it. A set on which every candidate
 *   is unique is finished: no superset has an MSU. So, as in Apriori, X is looked at only if all its subsets of s − 1
 *   columns are unfinished, and their bitmaps say at once which of X's uniques are not minimal.
 * - X's own uniques come from the partition of the items by X's first s − 1 columns, which keeps only groups of two or
 *   more items with a candidate among them: inside each group, a value of X's last column that occurs once. This is
 *   SUDA2's search by shrinking lists of rows. Each worker keeps the partitions of the prefix it is at.
 * - The sets of one size are worked on in parallel, the sums then taken in parallel by rows: no locks, and the same
 *   additions in the same order on any number of threads.
 *
 * Cost: per set the rows that share its prefix with a candidate. Memory: bitmaps of the sets of one size (candidates/8
 * bytes each), keys of the distinct rows, partitions per worker. Limit: 2^32 − 2 distinct rows, 65,535 columns.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_suda.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_hash.h"
#include "kn_options.h"
#include "kn_parallel.h"
#include "kn_quasi.h"

#define WHAT "searching special uniques"

#define NONE UINT32_MAX

enum { ALL_SIZES_UP_TO = 10, DEFAULT_SIZE = 3, BATCH_BYTES = 8 << 20 };

/* Sets of one size, in lexicographic order, and the candidates that are unique on each. */
typedef struct level {
    int       size;
    int64_t   count;
    uint16_t *sets;   /* count × size, ascending columns */
    uint64_t *unique; /* count × words; NULL: not needed */
} level;

/* Items in groups: group g is items[starts[g]] to items[starts[g + 1] - 1]. */
typedef struct partition {
    uint32_t *items;
    uint32_t *starts;
    uint32_t  groups;
    size_t    item_room, start_room;
} partition;

/* One code of the current column, inside a group. */
typedef struct slot {
    uint32_t count;
    uint32_t place; /* of its next item in the refined partition */
    bool     live;  /* has a candidate */
} slot;

typedef struct worker {
    partition *path; /* path[d]: the items by the first d columns of `prefix` */
    uint16_t  *prefix;
    int        depth;
    slot      *slots; /* all zero between groups */
    uint32_t  *codes; /* of a group's items */
    int64_t   *column_msus;
    int64_t    msus;
} worker;

typedef struct search {
    kn_context     *ctx;
    const kn_table *table;
    int            *columns; /* of the table, those with most values first: their partitions are the smallest */
    int            *asked;   /* where each of them stood among the names */
    int             n, max_size;
    kn_freq        *freq;
    uint32_t       *candidate; /* per item: its number among the candidates, or NONE */
    uint32_t        candidates;
    size_t          words; /* of a bitmap */
    worker         *workers;
    int             worker_count;
    kn_suda        *suda;
    double         *scores; /* per candidate */
    int64_t        *counts; /* of MSUs, per candidate */
    int            *smallest;
    double         *shares; /* per candidate and column; or NULL */
    /* the sets being worked on */
    const level *below; /* of the size before */
    level       *now;
    int64_t     *heads; /* first set of each run with one prefix */
    int64_t      runs;
    size_t       batch_bytes;
    int64_t      first, last; /* sets of the batch */
    int64_t      first_run;   /* that has sets in the batch */
    uint64_t    *msu;         /* per set of the batch: its MSUs, and uniques that are none */
} search;

/* ---- Sets ---- */

static void level_free(level *l)
{
    KN_FREE(l->sets, l->unique);
    *l = (level){0, 0, NULL, NULL};
}

/* The number of the set {without the member at `skip`} of `set` in the level of one size less, or -1. */
static int64_t find_subset(const level *l, const uint16_t *set, int skip)
{
    int64_t low = 0, high = l->count;
    while (low < high) {
        int64_t         middle = low + (high - low) / 2;
        const uint16_t *at = l->sets + middle * l->size;
        int             i = 0;
        while (i < l->size && at[i] == set[i + (i >= skip)]) i++;
        if (i == l->size) return middle;
        if (at[i] < set[i + (i >= skip)])
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

/* Sets of one more column all of whose subsets are unfinished (the join of Apriori). */
static kn_status grow_sets(level *out, const search *s, const level *from, kn_error *err)
{
    int       size = from->size + 1;
    size_t    room = 0;
    void     *sets = NULL;
    kn_status st = KN_OK;
    *out = (level){size, 0, NULL, NULL};
    for (int64_t i = 0; i < from->count && st == KN_OK; i++) {
        const uint16_t *a = from->sets + i * from->size;
        if (kn_cancelled(s->ctx)) st = kn_fail_cancelled(err);
        for (int64_t j = i + 1; j < from->count && st == KN_OK; j++) {
            const uint16_t *b = from->sets + j * from->size;
            if (memcmp(a, b, (size_t)(from->size - 1) * sizeof *a) != 0) break;
            if (!kn_grow(s->ctx, &sets, &room, (size_t)(out->count + 1) * (size_t)size, sizeof *a)) {
                st = kn_fail_memory(err, s->ctx, WHAT);
                break;
            }
            uint16_t *set = (uint16_t *)sets + out->count * size;
            memcpy(set, a, (size_t)from->size * sizeof *a);
            set[from->size] = b[from->size - 1];
            bool open = true;
            for (int skip = 0; skip < size - 2 && open; skip++) open = find_subset(from, set, skip) >= 0;
            out->count += open;
        }
    }
    out->sets = sets;
    if (st != KN_OK) level_free(out);
    return st;
}

static kn_status single_sets(level *out, const search *s, kn_error *err)
{
    *out = (level){1, s->n, kn_alloc_array(s->ctx, (size_t)s->n, sizeof *out->sets), NULL};
    if (!out->sets) return kn_fail_memory(err, s->ctx, WHAT);
    for (int c = 0; c < s->n; c++) out->sets[c] = (uint16_t)c;
    return KN_OK;
}

/* Where the prefix (all columns but the last) changes. */
static kn_status find_runs(search *s, kn_error *err)
{
    const level *l = s->now;
    s->runs = 0;
    s->heads = kn_alloc_array(s->ctx, (size_t)l->count + 1, sizeof *s->heads);
    if (!s->heads) return kn_fail_memory(err, s->ctx, WHAT);
    for (int64_t i = 0; i < l->count; i++) {
        const uint16_t *set = l->sets + i * l->size;
        if (i == 0 || memcmp(set, set - l->size, (size_t)(l->size - 1) * sizeof *set) != 0) s->heads[s->runs++] = i;
    }
    s->heads[s->runs] = l->count;
    return KN_OK;
}

/* ---- Partitions ---- */

static bool partition_reserve(kn_context *ctx, partition *p, size_t items)
{
    return KN_GROW(ctx, &p->items, &p->item_room, items) && KN_GROW(ctx, &p->starts, &p->start_room, items / 2 + 2);
}

/* Counts a group's codes of a column. */
static void count_codes(const search *s, worker *w, const uint32_t *items, uint32_t size, int column)
{
    for (uint32_t i = 0; i < size; i++) {
        w->codes[i] = kn_freq_code(s->freq, items[i], column);
        w->slots[w->codes[i]].count++;
    }
}

/* Splits the groups by one more column and keeps those of two or more items with a candidate. */
static kn_status refine(const search *s, worker *w, partition *to, const partition *from, int column, kn_error *err)
{
    if (!partition_reserve(s->ctx, to, from->starts[from->groups])) return kn_fail_memory(err, s->ctx, WHAT);
    uint32_t end = 0;
    to->groups = 0;
    for (uint32_t g = 0; g < from->groups; g++) {
        const uint32_t *items = from->items + from->starts[g];
        uint32_t        size = from->starts[g + 1] - from->starts[g];
        count_codes(s, w, items, size, column);
        for (uint32_t i = 0; i < size; i++) w->slots[w->codes[i]].live |= s->candidate[items[i]] != NONE;
        for (uint32_t i = 0; i < size; i++) {
            slot *at = &w->slots[w->codes[i]];
            if (at->count < 2 || !at->live) continue;
            if (at->place == 0) { /* places are kept one too high: 0 is "none yet" */
                to->starts[to->groups++] = end;
                at->place = end + 1;
                end += at->count;
            }
            to->items[at->place++ - 1] = items[i];
        }
        for (uint32_t i = 0; i < size; i++) w->slots[w->codes[i]] = (slot){0, 0, false};
    }
    to->starts[to->groups] = end;
    return KN_OK;
}

/* Brings the worker to a prefix, from as deep as its old one agrees with it. */
static kn_status walk_to(const search *s, worker *w, const uint16_t *prefix, int length, kn_error *err)
{
    int same = 0;
    while (same < w->depth && same < length && w->prefix[same] == prefix[same]) same++;
    w->depth = same;
    for (int d = same; d < length; d++) {
        KN_TRY(refine(s, w, &w->path[d + 1], &w->path[d], prefix[d], err));
        w->prefix[d] = prefix[d];
        w->depth = d + 1;
    }
    return KN_OK;
}

/* Marks the candidates that are alone in their group with their code, unless `known` already holds them. */
static void mark_unique(const search *s, worker *w, const partition *p, int column, const uint64_t *known,
                        uint64_t *msu)
{
    for (uint32_t g = 0; g < p->groups; g++) {
        const uint32_t *items = p->items + p->starts[g];
        uint32_t        size = p->starts[g + 1] - p->starts[g];
        count_codes(s, w, items, size, column);
        for (uint32_t i = 0; i < size; i++) {
            uint32_t c = s->candidate[items[i]];
            if (w->slots[w->codes[i]].count != 1 || c == NONE) continue;
            uint64_t bit = (uint64_t)1 << (c % 64);
            if (!(known && known[c / 64] & bit)) msu[c / 64] |= bit;
        }
        for (uint32_t i = 0; i < size; i++) w->slots[w->codes[i]].count = 0;
    }
}

/* ---- One size ---- */

/* The MSUs of one set. With `unique` given, it is filled in too. */
static void search_set(const search *s, worker *w, int64_t index)
{
    const level    *l = s->now;
    const uint16_t *set = l->sets + index * l->size;
    uint64_t       *msu = s->msu + (size_t)(index - s->first) * s->words * 2, *known = msu + s->words;
    memset(msu, 0, s->words * 2 * sizeof *msu);
    for (int skip = 0; skip < l->size - 1; skip++) {
        const uint64_t *part = s->below->unique + (size_t)find_subset(s->below, set, skip) * s->words;
        for (size_t i = 0; i < s->words; i++) known[i] |= part[i];
    }
    mark_unique(s, w, &w->path[l->size - 1], set[l->size - 1], l->size > 1 ? known : NULL, msu);
    if (!l->unique) return;
    const uint64_t *first = NULL; /* unique on the prefix: not in the partition, so not marked */
    if (l->size > 1) first = s->below->unique + (size_t)find_subset(s->below, set, l->size - 1) * s->words;
    uint64_t *unique = l->unique + (size_t)index * s->words;
    for (size_t i = 0; i < s->words; i++) unique[i] = known[i] | msu[i] | (first ? first[i] : 0);
}

/* The runs begin to end, as far as they lie in the batch. */
static kn_status search_runs(void *arg, int64_t begin, int64_t end, int worker_index, kn_error *err)
{
    search *s = arg;
    worker *w = &s->workers[worker_index];
    for (int64_t run = s->first_run + begin; run < s->first_run + end; run++) {
        int64_t from = s->heads[run] > s->first ? s->heads[run] : s->first;
        int64_t to = s->heads[run + 1] < s->last ? s->heads[run + 1] : s->last;
        KN_TRY(walk_to(s, w, s->now->sets + from * s->now->size, s->now->size - 1, err));
        for (int64_t i = from; i < to; i++) {
            if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
            search_set(s, w, i);
        }
        kn_progress_add(s->ctx, (uint64_t)(to - from));
    }
    return KN_OK;
}

/* Adds the batch's MSUs up for the candidates of some words of the bitmaps. */
static kn_status add_up(void *arg, int64_t begin, int64_t end, int worker_index, kn_error *err)
{
    (void)err;
    search *s = arg;
    worker *w = &s->workers[worker_index];
    int     size = s->now->size;
    double  points = s->suda->points[size];
    for (int64_t set = s->first; set < s->last; set++) {
        const uint64_t *msu = s->msu + (size_t)(set - s->first) * s->words * 2;
        const uint16_t *columns = s->now->sets + set * size;
        for (int64_t word = begin; word < end; word++) {
            for (uint64_t bits = msu[word]; bits; bits &= bits - 1) {
                size_t c = (size_t)word * 64 + (size_t)__builtin_ctzll(bits);
                s->scores[c] += points;
                if (s->counts[c]++ == 0) s->smallest[c] = size;
                w->msus++;
                for (int i = 0; i < size; i++) {
                    w->column_msus[columns[i]]++;
                    if (s->shares) s->shares[c * (size_t)s->n + columns[i]] += points;
                }
            }
        }
    }
    return KN_OK;
}

/* Adds the workers' counts of this size. */
static void collect_counts(search *s)
{
    double points = s->suda->points[s->now->size];
    for (int i = 0; i < s->worker_count; i++) {
        worker *w = &s->workers[i];
        s->suda->msus_by_size[s->now->size] += w->msus;
        s->suda->msus += w->msus;
        w->msus = 0;
    }
    s->suda->total += points * (double)s->suda->msus_by_size[s->now->size];
    for (int c = 0; c < s->n; c++) {
        int64_t msus = 0;
        for (int i = 0; i < s->worker_count; i++) {
            msus += s->workers[i].column_msus[c];
            s->workers[i].column_msus[c] = 0;
        }
        s->suda->column_msus[s->asked[c]] += msus;
        s->suda->column_share[s->asked[c]] += points * (double)msus;
    }
}

/* Takes out the sets on which every candidate is unique. */
static void drop_finished(search *s)
{
    level   *l = s->now;
    int64_t  kept = 0;
    uint64_t tail = s->candidates % 64 ? ((uint64_t)1 << s->candidates % 64) - 1 : UINT64_MAX;
    for (int64_t i = 0; i < l->count; i++) {
        const uint64_t *unique = l->unique + (size_t)i * s->words;
        size_t          full = 0;
        while (full + 1 < s->words && unique[full] == UINT64_MAX) full++;
        if (full + 1 == s->words && unique[full] == tail) continue;
        memmove(l->sets + kept * l->size, l->sets + i * l->size, (size_t)l->size * sizeof *l->sets);
        memmove(l->unique + (size_t)kept * s->words, unique, s->words * sizeof *unique);
        kept++;
    }
    l->count = kept;
}

static kn_status search_batches(search *s, kn_error *err)
{
    int64_t batch = (int64_t)(s->batch_bytes / (s->words * 2 * sizeof *s->msu)) + 1;
    if (batch > s->now->count) batch = s->now->count;
    s->msu = kn_alloc_array(s->ctx, (size_t)batch * s->words * 2, sizeof *s->msu);
    if (!s->msu) return kn_fail_memory(err, s->ctx, WHAT);
    s->first_run = 0;
    for (s->first = 0; s->first < s->now->count; s->first = s->last) {
        s->last = s->first + batch < s->now->count ? s->first + batch : s->now->count;
        int64_t end = s->first_run;
        while (end < s->runs && s->heads[end] < s->last) end++;
        KN_TRY(kn_parallel_for(s->ctx, end - s->first_run, 1, search_runs, s, err));
        KN_TRY(kn_parallel_for(s->ctx, (int64_t)s->words, 16, add_up, s, err));
        s->first_run = s->heads[end] > s->last ? end - 1 : end; /* the last run may go on */
    }
    return KN_OK;
}

/* All sets of one size; `keep`: their bitmaps are needed for the next. */
static kn_status search_level(search *s, bool keep, kn_error *err)
{
    if (keep) {
        s->now->unique = kn_alloc_array(s->ctx, (size_t)s->now->count * s->words, sizeof *s->now->unique);
        if (!s->now->unique) return kn_fail_memory(err, s->ctx, WHAT);
    }
    kn_status st = find_runs(s, err);
    kn_progress_begin(s->ctx, "searching special uniques", "sets", (uint64_t)s->now->count);
    if (st == KN_OK) st = search_batches(s, err);
    kn_progress_end(s->ctx);
    KN_FREE(s->heads, s->msu);
    s->heads = NULL;
    s->msu = NULL;
    if (st != KN_OK) return st;
    collect_counts(s);
    if (keep) drop_finished(s);
    return KN_OK;
}

static kn_status search_levels(search *s, kn_error *err)
{
    level     below = {0, 0, NULL, NULL}, now = {0, 0, NULL, NULL};
    kn_status st = single_sets(&now, s, err);
    while (st == KN_OK && now.count > 0) {
        bool last = now.size == s->max_size;
        s->below = &below;
        s->now = &now;
        st = search_level(s, !last, err);
        if (last) s->suda->partial = now.size < s->n;
        if (last || st != KN_OK) break;
        level_free(&below);
        below = now;
        st = grow_sets(&now, s, &below, err);
    }
    level_free(&below);
    level_free(&now);
    return st;
}

/* ---- Before and after ---- */

static uint32_t codes_of(const search *s, int column)
{
    return kn_column_cardinality(&s->table->columns[column]);
}

static kn_status make_worker(search *s, worker *w, kn_error *err)
{
    size_t items = (size_t)s->freq->classes, most_codes = codes_of(s, s->columns[0]);
    w->path = kn_alloc_array_zero(s->ctx, (size_t)s->max_size + 1, sizeof *w->path);
    w->prefix = kn_alloc_array(s->ctx, (size_t)s->max_size + 1, sizeof *w->prefix);
    w->slots = kn_alloc_array_zero(s->ctx, most_codes + 1, sizeof *w->slots);
    w->codes = kn_alloc_array(s->ctx, items + 1, sizeof *w->codes);
    w->column_msus = kn_alloc_array_zero(s->ctx, (size_t)s->n, sizeof *w->column_msus);
    if (!w->path || !w->prefix || !w->slots || !w->codes || !w->column_msus) return kn_fail_memory(err, s->ctx, WHAT);
    partition *all = &w->path[0];
    if (!partition_reserve(s->ctx, all, items)) return kn_fail_memory(err, s->ctx, WHAT);
    for (size_t i = 0; i < items; i++) all->items[i] = (uint32_t)i;
    all->starts[0] = 0;
    all->starts[1] = (uint32_t)items;
    all->groups = 1;
    return KN_OK;
}

static void free_worker(const search *s, worker *w)
{
    for (int d = 0; d <= s->max_size && w->path; d++) {
        KN_FREE(w->path[d].items, w->path[d].starts);
    }
    KN_FREE(w->path, w->prefix, w->slots, w->codes, w->column_msus);
}

static kn_status prepare(search *s, bool row_columns, kn_error *err)
{
    s->candidate = kn_alloc_array(s->ctx, (size_t)s->freq->classes + 1, sizeof *s->candidate);
    if (!s->candidate) return kn_fail_memory(err, s->ctx, WHAT);
    for (int64_t i = 0; i < s->freq->classes; i++) s->candidate[i] = s->freq->counts[i] == 1 ? s->candidates++ : NONE;
    s->suda->unique_rows = s->candidates;
    size_t n = (size_t)s->candidates;
    s->words = (n + 63) / 64;
    s->scores = kn_alloc_array_zero(s->ctx, n + 1, sizeof *s->scores);
    s->counts = kn_alloc_array_zero(s->ctx, n + 1, sizeof *s->counts);
    s->smallest = kn_alloc_array_zero(s->ctx, n + 1, sizeof *s->smallest);
    if (row_columns) s->shares = kn_alloc_array_zero(s->ctx, (n + 1) * (size_t)s->n, sizeof *s->shares);
    s->workers = kn_alloc_array_zero(s->ctx, (size_t)s->worker_count, sizeof *s->workers);
    if (!s->scores || !s->counts || !s->smallest || !s->workers || (row_columns && !s->shares))
        return kn_fail_memory(err, s->ctx, WHAT);
    for (int i = 0; i < s->worker_count; i++) KN_TRY(make_worker(s, &s->workers[i], err));
    return KN_OK;
}

static kn_status order_columns(search *s, kn_error *err)
{
    s->asked = kn_alloc_array(s->ctx, (size_t)s->n, sizeof *s->asked);
    if (!s->asked) return kn_fail_memory(err, s->ctx, WHAT);
    for (int i = 0; i < s->n; i++) { /* by insertion: stable, and columns are few */
        int column = s->columns[i], at = i;
        for (; at > 0 && codes_of(s, s->columns[at - 1]) < codes_of(s, column); at--) {
            s->columns[at] = s->columns[at - 1];
            s->asked[at] = s->asked[at - 1];
        }
        s->columns[at] = column;
        s->asked[at] = i;
    }
    return KN_OK;
}

static kn_status make_result(search *s, const kn_suda_options *o, kn_error *err)
{
    kn_suda *r = s->suda;
    size_t   sizes = (size_t)s->max_size + 1, n = (size_t)s->n;
    r->rows = s->table->rows;
    r->columns = s->n;
    r->max_size = s->max_size;
    r->msus_by_size = kn_alloc_array_zero(s->ctx, sizes, sizeof *r->msus_by_size);
    r->points = kn_alloc_array_zero(s->ctx, sizes, sizeof *r->points);
    r->column_msus = kn_alloc_array_zero(s->ctx, n, sizeof *r->column_msus);
    r->column_share = kn_alloc_array_zero(s->ctx, n, sizeof *r->column_share);
    r->scores = kn_alloc_array_zero(s->ctx, (size_t)r->rows + 1, sizeof *r->scores);
    if (!r->msus_by_size || !r->points || !r->column_msus || !r->column_share || !r->scores)
        return kn_fail_memory(err, s->ctx, WHAT);
    int last = s->max_size < s->n - 1 ? s->max_size : s->n - 1;
    for (int size = 1; size <= s->max_size; size++) {
        r->points[size] = 1;
        for (int i = size; i <= last; i++) r->points[size] *= s->n - i;
    }
    KN_TRY(kn_freq_of_table(&s->freq, s->ctx, s->table, s->columns, s->n, err));
    int64_t missing = kn_quasi_missing(s->freq, s->table, s->columns, s->n, o->missing == KN_MISSING_DROP, NULL, NULL);
    r->dropped = o->missing == KN_MISSING_DROP ? missing : 0;
    if (s->freq->classes >= (int64_t)UINT32_MAX)
        return kn_fail(err, KN_USAGE, "there are too many distinct rows to search for special uniques");
    return KN_OK;
}

/* Finds the rows of the candidates: the keys of all rows are looked up among theirs. */
typedef struct row_finder {
    search   *s;
    uint32_t *slots; /* items that are candidates, by hash of their key */
    size_t    mask;
    uint32_t *of_row; /* candidate, or NONE */
} row_finder;

static kn_status find_rows(void *arg, int64_t begin, int64_t end, int worker_index, kn_error *err)
{
    (void)worker_index;
    (void)err;
    const row_finder *f = arg;
    const search     *s = f->s;
    const kn_layout  *layout = &s->freq->layout;
    uint64_t          key[UINT8_MAX + 1];
    for (int64_t row = begin; row < end; row++) {
        memset(key, 0, (size_t)layout->words * sizeof *key);
        for (int q = 0; q < s->n; q++)
            key[layout->fields[q].word] |= (uint64_t)kn_column_code(&s->table->columns[s->columns[q]], row)
                                           << layout->fields[q].shift;
        size_t at = kn_hash_words(key, layout->words) & f->mask;
        for (; f->slots[at] != NONE; at = (at + 1) & f->mask)
            if (memcmp(s->freq->keys + (size_t)f->slots[at] * (size_t)layout->words, key,
                       (size_t)layout->words * sizeof *key) == 0)
                break;
        f->of_row[row] = f->slots[at] == NONE ? NONE : s->candidate[f->slots[at]];
    }
    return KN_OK;
}

static kn_status locate(row_finder *f, search *s, kn_error *err)
{
    size_t size = 16, words = (size_t)s->freq->layout.words;
    while (size < (size_t)s->candidates * 2) size *= 2;
    f->mask = size - 1;
    f->slots = kn_alloc_array(s->ctx, size, sizeof *f->slots);
    f->of_row = kn_alloc_array(s->ctx, (size_t)s->table->rows + 1, sizeof *f->of_row);
    if (!f->slots || !f->of_row) return kn_fail_memory(err, s->ctx, WHAT);
    for (size_t i = 0; i < size; i++) f->slots[i] = NONE;
    for (int64_t i = 0; i < s->freq->classes; i++) {
        if (s->candidate[i] == NONE) continue;
        size_t at = kn_hash_words(s->freq->keys + (size_t)i * words, (int)words) & f->mask;
        while (f->slots[at] != NONE) at = (at + 1) & f->mask;
        f->slots[at] = (uint32_t)i;
    }
    return kn_parallel_for(s->ctx, s->table->rows, 16384, find_rows, f, err);
}

/* From candidates to rows of the table, in their order. */
static kn_status write_rows(search *s, const uint32_t *of_row, kn_error *err)
{
    kn_suda *r = s->suda;
    size_t   n = (size_t)s->n;
    for (uint32_t c = 0; c < s->candidates; c++) r->special_count += s->counts[c] > 0;
    r->special = kn_alloc_array(s->ctx, (size_t)r->special_count + 1, sizeof *r->special);
    if (!r->special) return kn_fail_memory(err, s->ctx, WHAT);
    if (s->shares) {
        r->row_columns = kn_alloc_array(s->ctx, ((size_t)r->special_count + 1) * n, sizeof *r->row_columns);
        if (!r->row_columns) return kn_fail_memory(err, s->ctx, WHAT);
    }
    size_t at = 0;
    for (int64_t row = 0; row < r->rows; row++) {
        uint32_t c = of_row[row];
        if (c == NONE || s->counts[c] == 0) continue;
        r->scores[row] = s->scores[c];
        r->special[at] =
            (kn_special_row){kn_table_number(s->table, row) - 1, s->scores[c], s->counts[c], s->smallest[c]};
        for (size_t q = 0; s->shares && q < n; q++)
            r->row_columns[at * n + (size_t)s->asked[q]] = s->shares[(size_t)c * n + q] / s->scores[c];
        at++;
    }
    for (size_t q = 0; q < n && r->total > 0; q++) r->column_share[q] /= r->total;
    return KN_OK;
}

static kn_status run(search *s, const kn_suda_options *o, kn_error *err)
{
    KN_TRY(kn_quasi_find(&s->columns, s->ctx, s->table, "", o->quasi, o->quasi_count, err));
    KN_TRY(order_columns(s, err));
    KN_TRY(make_result(s, o, err));
    KN_TRY(prepare(s, o->row_columns, err));
    if (s->candidates > 0) KN_TRY(search_levels(s, err));
    row_finder f = {s, NULL, 0, NULL};
    kn_status  st = locate(&f, s, err);
    if (st == KN_OK) st = write_rows(s, f.of_row, err);
    KN_FREE(f.slots, f.of_row);
    return st;
}

static kn_status check_options(const kn_suda_options *o, kn_error *err)
{
    if (o->quasi_count < 1) return kn_fail(err, KN_USAGE, "the set of quasi-identifiers is empty");
    if (o->quasi_count > UINT16_MAX) return kn_fail(err, KN_USAGE, "too many columns to search for special uniques");
    if (o->max_size < 0) return kn_fail(err, KN_USAGE, "the largest size of a set must be at least 1");
    if (o->missing == KN_MISSING_WILDCARD)
        return kn_fail(err, KN_USAGE,
                       "special uniques are not searched with missing cells as wildcards: choose "
                       "\"value\" or \"drop\"");
    return KN_OK;
}

kn_status kn_suda_search(kn_suda **out, kn_context *ctx, const kn_table *table, const kn_suda_options *options,
                         kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    return kn_suda_search_with(out, ctx, table, options, BATCH_BYTES, err);
}

kn_status kn_suda_search_with(kn_suda **out, kn_context *ctx, const kn_table *table, const kn_suda_options *options,
                              size_t batch_bytes, kn_error *err)
{
    *out = NULL;
    KN_OPTIONS(kn_suda_options, KN_SUDA_OPTIONS_INIT, options, "special unique options", err);
    KN_TRY(check_options(options, err));
    int n = options->quasi_count, most = options->max_size;
    if (most == 0) most = n <= ALL_SIZES_UP_TO ? n : DEFAULT_SIZE;
    search s = {.ctx = ctx, .table = table, .n = n, .max_size = most < n ? most : n};
    s.batch_bytes = batch_bytes;
    s.worker_count = kn_context_threads(ctx);
    s.suda = kn_alloc_zero(ctx, sizeof *s.suda);
    if (!s.suda) return kn_fail_memory(err, s.ctx, WHAT);
    kn_status st = run(&s, options, err);
    for (int i = 0; i < s.worker_count && s.workers; i++) free_worker(&s, &s.workers[i]);
    KN_FREE(s.workers, s.columns, s.asked, s.candidate, s.scores, s.counts, s.smallest, s.shares);
    kn_freq_free(s.freq);
    if (st != KN_OK)
        kn_suda_free(s.suda);
    else
        *out = s.suda;
    return st;
}

void kn_suda_free(kn_suda *suda)
{
    if (!suda) return;
    KN_FREE(suda->msus_by_size, suda->points, suda->scores, suda->column_msus, suda->column_share, suda->special,
            suda->row_columns, suda);
}
