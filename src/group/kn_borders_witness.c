/* kn_borders_witness.c: the minimal violating sets, row by row (budget 0).
 *
 * S violates k when some row has fewer than k rows, itself included, that agree with it on S. Such a row, a witness,
 * has fewer than k copies over all columns: every other row has its k companions for any S. So only those rows are
 * examined, each against the whole table, and the minimal sets of all witnesses together, without those that contain
 * another, are the minimal violating sets. In a table that is k-anonymous except for a few rows this needs a few scans,
 * however many maximal sets there are.
 *
 * For one witness w with c copies: the columns in which a row differs from w are that row's difference set. S puts w
 * at risk when the rows whose difference sets S does not hit sum up to less than k - c. (k = 2: S hits all of them;
 * these are SUDA2's minimal sample uniques, Manning, Haglin, Keane 2008.)
 *   1. Difference sets, from the packed keys: one xor and an addition per word find the fields that differ.
 *   2. In order of size, a row is left out when rows kept before it whose difference sets lie inside its own sum up to
 *      k - c: whenever it agrees on S they do, and they suffice. Few rows remain.
 *   3. Minimal hitting sets (kn_dualize.c) of the rows with k - c copies alone. Where the others can make up k - c
 *      together, a hitting set that still leaves them is answered with a new edge: the smallest union of difference
 *      sets, found greedily, inside which k - c rows lie. Its complement holds at w, so S has to hit it.
 * Branches that contain a set known from earlier witnesses are not followed.
 *
 * Witnesses are taken in batches, in parallel; a batch sees what the batches before it found, so that the work does
 * not depend on the number of threads. Cost: witnesses × combinations × words of a key, plus the hitting sets of each.
 * Memory: 6 bytes for each combination and worker.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_borders_search.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "searching sets of columns"

enum { MOST_WORDS = 256, BATCH = 256 };

typedef struct worker {
    kn_hitting  hitting;
    uint32_t   *order;    /* combinations by distance          */
    uint16_t   *distance; /* columns in which each differs     */
    uint64_t   *flags;    /* kept difference sets, in key form */
    size_t      flag_capacity;
    kn_set_list kept; /* the same as sets of columns       */
    int64_t    *rows; /* of each                           */
    size_t      row_capacity;
} worker;

typedef struct engine {
    kn_border_search *search;
    uint64_t          high[MOST_WORDS]; /* top bit of each field of a key */
    uint64_t          low[MOST_WORDS];  /* its other bits                 */
    kn_set_trie       known;
    int64_t           batch[BATCH]; /* witnesses of the current batch */
    kn_set_list       found[BATCH];
    bool              full[BATCH];
    worker           *workers;
    int               threads;
} engine;

typedef struct visit {
    engine      *e;
    worker      *w;
    kn_set_list *found;
    int64_t      need; /* other rows needed to reach k        */
    int64_t      evaluations;
    bool         full;
} visit;

/* ---- Difference sets ---- */

static void make_masks(engine *e)
{
    const kn_layout *layout = &e->search->freq->layout;
    for (int c = 0; c < layout->columns; c++) {
        kn_field f = layout->fields[c];
        if (f.bits == 0) continue;
        uint64_t top = (uint64_t)1 << (f.shift + f.bits - 1);
        e->high[f.word] |= top;
        e->low[f.word] |= top - ((uint64_t)1 << f.shift);
    }
}

/* The top bit of every field in which two words differ: adding all ones carries into it unless the rest is zero. */
static inline uint64_t differing(uint64_t a, uint64_t b, uint64_t high, uint64_t low)
{
    uint64_t x = a ^ b;
    return (((x & low) + low) | x) & high;
}

/* Sorts the combinations by the number of columns in which they differ from the witness. */
static void sort_by_distance(const engine *e, worker *w, int64_t witness)
{
    const kn_freq  *freq = e->search->freq;
    int             words = freq->layout.words;
    const uint64_t *mine = freq->keys + witness * words;
    int64_t         start[258] = {0};
    for (int64_t i = 0; i < freq->classes; i++) {
        const uint64_t *key = freq->keys + i * words;
        int             n = 0;
        for (int j = 0; j < words; j++) n += __builtin_popcountll(differing(key[j], mine[j], e->high[j], e->low[j]));
        w->distance[i] = (uint16_t)n;
        start[n + 1]++;
    }
    for (int n = 1; n < 258; n++) start[n] += start[n - 1];
    for (int64_t i = 0; i < freq->classes; i++) w->order[start[w->distance[i]]++] = (uint32_t)i;
}

static bool inside(const uint64_t *a, const uint64_t *b, int words)
{
    uint64_t out = 0;
    for (int i = 0; i < words; i++) out |= a[i] & ~b[i];
    return out == 0;
}

/* Do rows kept so far, with difference sets inside this one, suffice? `last`: which did the last time. */
static bool outdone(const worker *w, const uint64_t *flags, int words, int64_t need, int64_t *last)
{
    int64_t rows = 0;
    if (*last < w->kept.count && w->rows[*last] >= need && inside(w->flags + *last * words, flags, words)) return true;
    for (int64_t i = 0; i < w->kept.count; i++) {
        if (!inside(w->flags + i * words, flags, words)) continue;
        rows += w->rows[i];
        if (rows < need) continue;
        *last = i;
        return true;
    }
    return false;
}

static bool keep(const engine *e, worker *w, const uint64_t *flags, int64_t rows)
{
    const kn_layout *layout = &e->search->freq->layout;
    size_t           n = (size_t)w->kept.count, words = (size_t)layout->words;
    uint64_t         set[4] = {0};
    for (int c = 0; c < layout->columns; c++) {
        kn_field f = layout->fields[c];
        if (f.bits && flags[f.word] >> (f.shift + f.bits - 1) & 1) kn_bitset_set(set, (size_t)c);
    }
    if (!KN_GROW(e->search->ctx, &w->flags, &w->flag_capacity, (n + 1) * words)) return false;
    if (!KN_GROW(e->search->ctx, &w->rows, &w->row_capacity, n + 1)) return false;
    memcpy(w->flags + n * words, flags, words * sizeof *flags);
    w->rows[n] = rows;
    return kn_set_list_add(&w->kept, set);
}

/* The rows that matter to the witness. */
static kn_status collect_rows(const engine *e, worker *w, int64_t witness, int64_t need, kn_error *err)
{
    const kn_freq  *freq = e->search->freq;
    int             words = freq->layout.words;
    const uint64_t *mine = freq->keys + witness * words;
    int64_t         last = 0;
    w->kept.count = 0;
    sort_by_distance(e, w, witness);
    for (int64_t i = 1; i < freq->classes; i++) { /* the first is the witness itself */
        if (i % 4096 == 0) {
            if (kn_cancelled(e->search->ctx)) return kn_fail_cancelled(err);
            if (kn_deadline_passed(&e->search->deadline)) return KN_OK; /* the search will not start */
        }
        int64_t         row = w->order[i];
        const uint64_t *key = freq->keys + row * words;
        uint64_t        flags[MOST_WORDS];
        for (int j = 0; j < words; j++) flags[j] = differing(key[j], mine[j], e->high[j], e->low[j]);
        if (outdone(w, flags, words, need, &last)) continue;
        if (!keep(e, w, flags, freq->counts[row])) return kn_fail_memory(err, e->search->ctx, WHAT);
    }
    return KN_OK;
}

/* ---- One witness ---- */

static bool hits(const uint64_t *a, const uint64_t *b, int words)
{
    for (int i = 0; i < words; i++)
        if (a[i] & b[i]) return true;
    return false;
}

/* Rows whose difference sets lie inside `set`. */
static int64_t rows_inside(const worker *w, const uint64_t *set)
{
    int64_t rows = 0;
    for (int64_t i = 0; i < w->kept.count; i++)
        if (inside(kn_set_list_get(&w->kept, i), set, w->kept.words)) rows += w->rows[i];
    return rows;
}

/* Adds to `edge` the difference set, among those that `set` does not hit, that makes it grow least. */
static void grow_edge(const worker *w, const uint64_t *set, uint64_t *edge)
{
    int     words = w->kept.words;
    int64_t best = -1;
    size_t  fewest = SIZE_MAX;
    for (int64_t i = 0; i < w->kept.count; i++) {
        const uint64_t *diff = kn_set_list_get(&w->kept, i);
        if (hits(diff, set, words) || inside(diff, edge, words)) continue;
        size_t more = 0;
        for (int j = 0; j < words; j++) more += (size_t)__builtin_popcountll(diff[j] & ~edge[j]);
        if (more >= fewest) continue;
        fewest = more;
        best = i;
    }
    if (best < 0) return;
    const uint64_t *diff = kn_set_list_get(&w->kept, best);
    for (int j = 0; j < words; j++) edge[j] |= diff[j];
}

/* A set of columns, as small as possible, that `set` does not hit and whose complement holds at the witness. */
static void make_edge(const visit *v, const uint64_t *set, uint64_t *edge)
{
    const worker *w = v->w;
    while (rows_inside(w, edge) < v->need) grow_edge(w, set, edge);
    for (int c = 0; c < v->e->search->columns; c++) {
        if (!kn_bitset_test(edge, (size_t)c)) continue;
        kn_bitset_clear(edge, (size_t)c);
        if (rows_inside(w, edge) < v->need) kn_bitset_set(edge, (size_t)c);
    }
}

static bool enter(void *arg, const uint64_t *set)
{
    const visit *v = arg;
    return !kn_set_trie_has_subset(&v->e->known, set);
}

static kn_status leaf(void *arg, const uint64_t *set, const uint16_t *chosen, int size, uint64_t *edge, bool *more,
                      kn_error *err)
{
    (void)chosen, (void)size;
    visit  *v = arg;
    worker *w = v->w;
    int64_t rows = 0;
    if (v->evaluations >= v->e->search->max_looks) {
        v->full = w->hitting.stop = true;
        return KN_OK;
    }
    if (++v->evaluations % 256 == 0) kn_progress_add(v->e->search->ctx, 0); /* one row can take long: report progress */
    for (int64_t i = 0; i < w->kept.count && rows < v->need; i++)
        if (!hits(kn_set_list_get(&w->kept, i), set, w->kept.words)) rows += w->rows[i];
    *more = rows >= v->need;
    if (*more) {
        make_edge(v, set, edge);
        return KN_OK;
    }
    if (v->found->count >= v->e->search->max_sets) v->full = w->hitting.stop = true;
    if (v->full) return KN_OK;
    return kn_set_list_add(v->found, set) ? KN_OK : kn_fail_memory(err, v->e->search->ctx, WHAT);
}

static kn_status search_witness(engine *e, worker *w, int64_t i, kn_error *err)
{
    kn_border_search *s = e->search;
    if (kn_deadline_passed(&s->deadline)) return KN_OK;
    visit v = {e, w, &e->found[i], s->k - s->freq->counts[e->batch[i]], 0, false};
    KN_TRY(collect_rows(e, w, e->batch[i], v.need, err));
    kn_hitting_truncate(&w->hitting, 0);
    for (int64_t r = 0; r < w->kept.count; r++)
        if (w->rows[r] >= v.need) KN_TRY(kn_hitting_add(&w->hitting, kn_set_list_get(&w->kept, r), err));
    w->hitting.visitor = (kn_hitting_visitor){&v, enter, leaf};
    KN_TRY(kn_hitting_search(&w->hitting, NULL, NULL, err));
    e->full[i] = v.full;
    atomic_fetch_add(&s->evaluations, v.evaluations);
    kn_progress_add(s->ctx, 1);
    return KN_OK;
}

static kn_status run_batch(void *arg, int64_t begin, int64_t end, int worker_index, kn_error *err)
{
    engine *e = arg;
    for (int64_t i = begin; i < end; i++) KN_TRY(search_witness(e, &e->workers[worker_index], i, err));
    return KN_OK;
}

/* ---- All witnesses ---- */

static kn_status merge(engine *e, int64_t count, kn_error *err)
{
    kn_border_search *s = e->search;
    for (int64_t i = 0; i < count; i++) {
        kn_set_list *found = &e->found[i];
        s->full |= e->full[i];
        for (int64_t j = 0; j < found->count; j++) {
            const uint64_t *set = kn_set_list_get(found, j);
            if (kn_set_trie_has_subset(&e->known, set)) continue;
            if (!kn_set_list_add(&s->minimal, set) || !kn_set_trie_add(&e->known, set))
                return kn_fail_memory(err, e->search->ctx, WHAT);
        }
        kn_set_list_free(found);
    }
    s->full |= atomic_load(&s->evaluations) > s->max_looks;
    if (s->minimal.count <= s->max_sets) return KN_OK;
    KN_TRY(kn_set_list_minimize(&s->minimal, err));
    s->full |= s->minimal.count > s->max_sets;
    return KN_OK;
}

static kn_status run(engine *e, kn_error *err)
{
    kn_border_search *s = e->search;
    const kn_freq    *freq = s->freq;
    int64_t           next = 0, size = 1;
    while (next < freq->classes && !s->full) {
        int64_t count = 0;
        for (; next < freq->classes && count < size; next++)
            if (freq->counts[next] < s->k) e->batch[count++] = next;
        KN_TRY(kn_parallel_for(s->ctx, count, 1, run_batch, e, err));
        KN_TRY(merge(e, count, err));
        s->late = kn_deadline_passed(&s->deadline);
        if (s->late) break;
        if (size < BATCH) size *= 2; /* small at first: what the first find spares the others */
    }
    for (int i = 0; i < e->threads; i++) s->cut |= e->workers[i].hitting.cut;
    return kn_set_list_minimize(&s->minimal, err);
}

static kn_status prepare(engine *e, kn_error *err)
{
    kn_border_search *s = e->search;
    size_t            n = (size_t)s->freq->classes + 1;
    e->threads = kn_context_threads(s->ctx);
    e->workers = kn_alloc_array_zero(s->ctx, (size_t)e->threads, sizeof *e->workers);
    if (!e->workers) return kn_fail_memory(err, e->search->ctx, WHAT);
    for (int i = 0; i < e->threads; i++) {
        worker *w = &e->workers[i];
        kn_set_list_init(&w->kept, s->ctx, s->words);
        KN_TRY(kn_hitting_init(&w->hitting, s->ctx, s->columns, err));
        w->hitting.max_size = s->max_size;
        w->hitting.deadline = &s->deadline;
        w->order = kn_alloc_array(s->ctx, n, sizeof *w->order);
        w->distance = kn_alloc_array(s->ctx, n, sizeof *w->distance);
        if (!w->order || !w->distance) return kn_fail_memory(err, e->search->ctx, WHAT);
    }
    make_masks(e);
    return KN_OK;
}

kn_status kn_borders_by_witnesses(kn_border_search *search, kn_error *err)
{
    engine *e = kn_alloc_zero(search->ctx, sizeof *e);
    if (!e) return kn_fail_memory(err, search->ctx, WHAT);
    e->search = search;
    kn_set_trie_init(&e->known, search->ctx, search->words);
    for (int i = 0; i < BATCH; i++) kn_set_list_init(&e->found[i], search->ctx, search->words);
    int64_t witnesses = 0;
    for (int64_t i = 0; i < search->freq->classes; i++) witnesses += search->freq->counts[i] < search->k;
    kn_status st = prepare(e, err);
    kn_progress_begin(search->ctx, "threatening sets", "rows", (uint64_t)witnesses);
    if (st == KN_OK) st = run(e, err);
    kn_progress_end(search->ctx);
    for (int i = 0; i < BATCH; i++) kn_set_list_free(&e->found[i]);
    for (int i = 0; e->workers && i < e->threads; i++) {
        worker *w = &e->workers[i];
        kn_hitting_free(&w->hitting);
        kn_set_list_free(&w->kept);
        KN_FREE(w->order, w->distance, w->flags, w->rows);
    }
    kn_free(e->workers);
    kn_set_trie_free(&e->known);
    kn_free(e);
    return st;
}
