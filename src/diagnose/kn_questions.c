/* kn_questions.c: the questions with unknown S (3, 4, 7, 8, 10 and 12 of section 4.1) of the privacy diagnosis centre.
 *
 * Questions 3 and 7 ask for the borders of the sets that hold; questions 4, 8, 10 and 12 for a figure for every set.
 * The fast way reads the table once, into a frequency set of all columns, and projects: borders are found from both
 * sides (kn_borders.h), figures of up to 12 columns by a walk over all subsets (kn_subsets.h), of more columns level
 * by level, where "k = 1 is final" (section 4.3) spares every superset of a set with k = 1. KN_SETS_PAPER runs
 * Algorithms 1 to 3 as published, one scan of the table per set, and counts the calls as the paper does
 * (docs/errata.md 1.4, 1.6).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/questions.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_apriori.h"
#include "kn_arena.h"
#include "kn_borders.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_options.h"
#include "kn_quasi.h"
#include "kn_subsets.h"
#include "kn_suppression.h"

#define WHAT "searching sets of columns"

enum { WALK_COLUMNS = 12, MOST_COLUMNS = 62 };
static const int64_t most_sets = (int64_t)1 << 20;

/* The answer and the arena its lists live in; the public part comes first. */
typedef struct answer {
    kn_sets_diagnosis public;
    kn_arena arena;
} answer;

typedef struct question {
    kn_context            *ctx;
    const kn_table        *table;
    const kn_sets_options *opt;
    answer                *out;
    int                   *columns; /* of the table; the entity last, where there is one */
    int                    count;   /* without the entity                                */
    kn_freq               *freq;    /* the fast way: all columns                         */
    kn_subsets_base        base;
    int64_t                k;     /* sets hold from this k on                          */
    uint64_t              *masks; /* every set asked for: smaller ones first           */
    _Atomic int64_t        calls;
} question;

/* ---- Before the search ---- */

/* Is it a search that a time limit can stop? */
static bool limited(const kn_sets_options *o)
{
    return o->k > 0 && o->suppress_mode != KN_SUPPRESS_ASKED && o->algorithm == KN_SETS_FAST;
}

static kn_status check_options(const kn_sets_options *o, kn_error *err)
{
    if (o->over_count < 1) return kn_fail(err, KN_USAGE, "the list of columns to search is empty");
    if (o->k < 0) return kn_fail(err, KN_USAGE, "k must be at least 1");
    if (o->max_size < 0) return kn_fail(err, KN_USAGE, "the largest set size must be at least 1");
    if (!(o->time_limit >= 0)) return kn_fail(err, KN_USAGE, "the time limit must not be negative");
    if (o->time_limit > 0 && !limited(o))
        return kn_fail(err, KN_USAGE,
                       "a time limit stops only the fast search for sets with a given k; give k, or no time limit");
    if (o->suppress_mode != KN_SUPPRESS_GIVEN && o->suppress.numerator > 0)
        return kn_fail(err, KN_USAGE, "a suppression budget was given, but no rows may be removed");
    return KN_OK;
}

static kn_status find_columns(question *q, kn_error *err)
{
    const kn_sets_options *o = q->opt;
    q->count = o->over_count;
    if (o->entity && q->table->counts) return kn_quasi_fail_counted(err);
    q->columns = kn_alloc_array(q->ctx, (size_t)q->count + 1, sizeof *q->columns);
    if (!q->columns) return kn_fail_memory(err, q->ctx, WHAT);
    for (int i = 0; i <= q->count; i++) {
        const char *name = i < q->count ? o->over[i] : o->entity;
        if (!name) break;
        q->columns[i] = kn_table_find(q->table, name);
        if (q->columns[i] < 0) return kn_table_no_column(q->table, "there is", name, err);
        for (int j = 0; j < i; j++)
            if (q->columns[j] == q->columns[i]) return kn_fail(err, KN_USAGE, "column \"%s\" is named twice", name);
    }
    return KN_OK;
}

/* ---- The k of one set ---- */

/* The k a set reaches, after suppression where rows may be removed. */
static kn_status reached(question *q, const int64_t *sizes, const int64_t *rows, int64_t classes, int64_t *k,
                         int64_t *removed, kn_error *err)
{
    *removed = 0;
    *k = kn_subsets_smallest(sizes, classes);
    if (q->out->public.budget == 0) return KN_OK;
    kn_size_count *counts = NULL;
    int64_t        n = 0;
    KN_TRY(kn_size_counts_make(&counts, &n, q->ctx, sizes, rows, classes, err));
    kn_step step = kn_suppression_step(counts, n, kn_suppression_sizes(counts, n, q->out->public.budget));
    *k = step.k;
    *removed = step.removed;
    kn_free(counts);
    return KN_OK;
}

/* Algorithm 1: one scan of the table. */
static kn_status scan(question *q, uint64_t set, kn_subsets_visit visit, void *arg, kn_error *err)
{
    int  n = 0;
    int *columns = kn_alloc_array(q->ctx, (size_t)q->count + 1, sizeof *columns);
    if (!columns) return kn_fail_memory(err, q->ctx, WHAT);
    for (int c = 0; c < q->count; c++)
        if (set >> c & 1) columns[n++] = q->columns[c];
    kn_freq  *freq = NULL;
    int64_t  *persons = NULL;
    kn_status st = q->opt->entity
                       ? kn_freq_distinct(&freq, &persons, q->ctx, q->table, columns, n, q->columns[q->count], err)
                       : kn_freq_of_table(&freq, q->ctx, q->table, columns, n, err);
    if (st == KN_OK) st = visit(arg, set, persons ? persons : freq->counts, freq->counts, freq->classes, err);
    KN_FREE(columns, persons);
    kn_freq_free(freq);
    return st;
}

static kn_status evaluate(question *q, const uint64_t *sets, int64_t count, kn_subsets_visit visit, void *arg,
                          kn_error *err)
{
    atomic_fetch_add(&q->calls, count);
    if (q->opt->algorithm == KN_SETS_FAST) return kn_subsets_evaluate_list(&q->base, sets, count, visit, arg, err);
    for (int64_t i = 0; i < count; i++) {
        if (kn_cancelled(q->ctx)) return kn_fail_cancelled(err);
        KN_TRY(scan(q, sets[i], visit, arg, err));
        kn_progress_add(q->ctx, 1);
    }
    return KN_OK;
}

/* ---- Questions 3 and 7: borders ---- */

/* A mask of several words as a list of columns in the arena. */
static bool keep_set(question *q, kn_column_set *out, const uint64_t *words)
{
    int n = 0;
    for (int c = 0; c < q->count; c++) n += (int)(words[c / 64] >> (c % 64) & 1);
    int *columns = kn_arena_alloc(&q->out->arena, ((size_t)n + 1) * sizeof *columns);
    if (!columns) return false;
    n = 0;
    for (int c = 0; c < q->count; c++)
        if (words[c / 64] >> (c % 64) & 1) columns[n++] = c;
    *out = (kn_column_set){n, columns};
    return true;
}

static int by_size_then_columns(const void *a, const void *b)
{
    const kn_column_set *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? -1 : 1;
    for (int i = 0; i < x->count; i++)
        if (x->columns[i] != y->columns[i]) return x->columns[i] < y->columns[i] ? -1 : 1;
    return 0;
}

static kn_status keep_sets(question *q, kn_column_set **out, int64_t *count, const uint64_t *masks, int64_t n,
                           int words, kn_error *err)
{
    kn_column_set *sets = kn_arena_alloc(&q->out->arena, ((size_t)n + 1) * sizeof *sets);
    if (!sets) return kn_fail_memory(err, q->ctx, WHAT);
    for (int64_t i = 0; i < n; i++)
        if (!keep_set(q, &sets[i], masks + i * words)) return kn_fail_memory(err, q->ctx, WHAT);
    qsort(sets, (size_t)n, sizeof *sets, by_size_then_columns);
    *out = sets;
    *count = n;
    return KN_OK;
}

typedef struct level_test {
    question       *q;
    const uint64_t *sets; /* ascending */
    int64_t         count;
    bool           *holds;
} level_test;

static kn_status judge_set(void *arg, uint64_t set, const int64_t *sizes, const int64_t *rows, int64_t classes,
                           kn_error *err)
{
    level_test *t = arg;
    int64_t     k = 0, removed = 0;
    KN_TRY(reached(t->q, sizes, rows, classes, &k, &removed, err));
    const uint64_t *at = bsearch(&set, t->sets, (size_t)t->count, sizeof set, kn_compare_u64);
    if (at) t->holds[at - t->sets] = k >= t->q->k;
    return KN_OK;
}

static kn_status test_level(void *arg, const uint64_t *sets, int64_t count, bool *holds, kn_error *err)
{
    level_test level = {arg, sets, count, holds};
    return evaluate(arg, sets, count, judge_set, &level, err);
}

static void cut_short(question *q, const char *why)
{
    q->out->public.complete = q->out->public.minimal_complete = false;
    q->out->public.why_partial = why;
}

/* Algorithm 2. */
static kn_status borders_by_level(question *q, kn_error *err)
{
    kn_sets_diagnosis *d = &q->out->public;
    kn_apriori_result  r;
    if (q->count > MOST_COLUMNS)
        return kn_fail(err, KN_USAGE, "the published algorithm is limited to %d columns", MOST_COLUMNS);
    KN_TRY(kn_apriori(&r, q->ctx, q->count, q->opt->max_size, test_level, q, err));
    kn_status st = keep_sets(q, &d->maximal, &d->maximal_count, r.maximal.masks, r.maximal.count, 1, err);
    if (st == KN_OK)
        st = keep_sets(q, &d->minimal_violating, &d->minimal_count, r.minimal_violating.masks,
                       r.minimal_violating.count, 1, err);
    if (!r.complete) cut_short(q, "sets larger than the size asked for were not looked at");
    kn_apriori_free(&r);
    return st;
}

static kn_status borders_by_dualization(question *q, kn_error *err)
{
    kn_sets_diagnosis *d = &q->out->public;
    kn_borders_options o = {
        .k = q->k, .budget = d->budget, .max_size = q->opt->max_size, .time_limit = q->opt->time_limit};
    kn_borders b;
    KN_TRY(kn_borders_find(&b, q->ctx, q->freq, &o, err));
    kn_status st = keep_sets(q, &d->maximal, &d->maximal_count, b.maximal.sets, b.maximal.count, b.maximal.words, err);
    if (st == KN_OK)
        st = keep_sets(q, &d->minimal_violating, &d->minimal_count, b.minimal_violating.sets, b.minimal_violating.count,
                       b.minimal_violating.words, err);
    atomic_fetch_add(&q->calls, b.evaluations);
    if (!b.complete) cut_short(q, b.why_partial);
    d->minimal_complete = b.minimal_complete;
    kn_borders_free(&b);
    return st;
}

/* The empty set has one class, the whole table: if even that is smaller than k, nothing holds. */
static kn_status find_borders(question *q, kn_error *err)
{
    kn_sets_diagnosis *d = &q->out->public;
    bool               persons = q->opt->entity != NULL;
    int64_t            all = persons ? q->table->columns[q->columns[q->count]].dict.count : kn_table_total(q->table);
    if (all < q->k) {
        d->minimal_violating = kn_arena_alloc(&q->out->arena, sizeof *d->minimal_violating);
        if (!d->minimal_violating) return kn_fail_memory(err, q->ctx, WHAT);
        d->minimal_violating[0] = (kn_column_set){0, NULL};
        d->minimal_count = 1;
        return KN_OK;
    }
    /* Dualization counts rows; persons go level by level on projections. */
    if (q->opt->algorithm == KN_SETS_PAPER || persons) return borders_by_level(q, err);
    return borders_by_dualization(q, err);
}

/* ---- Questions 4, 8, 10 and 12: a figure for every set ---- */

static int64_t count_sets(int columns, int max_size)
{
    double  choose = 1;
    int64_t sum = 0;
    for (int s = 1; s <= columns && s <= max_size; s++) {
        choose = choose * (columns - s + 1) / s;
        if (choose > (double)most_sets) return most_sets + 1;
        sum += (int64_t)(choose + 0.5);
    }
    return sum;
}

/* Appends all sets of one size, in lexicographic order of their columns. */
static void list_sets(question *q, int size, int from, uint64_t chosen, int64_t *at)
{
    if (size == 0) {
        q->masks[(*at)++] = chosen;
        return;
    }
    for (int c = from; c + size <= q->count; c++) list_sets(q, size - 1, c + 1, chosen | (uint64_t)1 << c, at);
}

/* Finds sets by mask among the sets asked for. */
typedef struct place {
    uint64_t mask;
    int64_t  index;
} place;

static int by_mask(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->mask < y->mask ? -1 : x->mask > y->mask;
}

typedef struct listing {
    question *q;
    place    *places;
    int64_t   count;
} listing;

static int64_t index_of(const listing *l, uint64_t mask)
{
    place        key = {mask, 0};
    const place *found = bsearch(&key, l->places, (size_t)l->count, sizeof key, by_mask);
    return found ? found->index : -1;
}

static kn_status keep_steps(question *q, kn_set_answer *one, const kn_size_count *counts, int64_t n, kn_error *err)
{
    one->steps = kn_alloc_array(q->ctx, (size_t)n, sizeof *one->steps);
    if (!one->steps) return kn_fail_memory(err, q->ctx, WHAT);
    one->step_count = n;
    int64_t removed = 0;
    for (int64_t i = 0; i < n; i++) {
        one->steps[i] = (kn_step){counts[i].size, removed};
        removed += counts[i].rows;
    }
    return KN_OK;
}

static kn_status note_set(void *arg, uint64_t set, const int64_t *sizes, const int64_t *rows, int64_t classes,
                          kn_error *err)
{
    listing *l = arg;
    int64_t  i = index_of(l, set);
    if (i < 0) return KN_OK; /* the walk also visits the empty set */
    question      *q = l->q;
    kn_set_answer *one = &q->out->public.sets[i];
    if (q->opt->suppress_mode != KN_SUPPRESS_ASKED)
        return reached(q, sizes, rows, classes, &one->k, &one->removed, err);
    kn_size_count *counts = NULL;
    int64_t        n = 0;
    KN_TRY(kn_size_counts_make(&counts, &n, q->ctx, sizes, rows, classes, err));
    kn_status st = KN_OK;
    one->k = n > 0 ? counts[0].size : 0;
    if (q->opt->k > 0)
        one->removed = kn_suppression_removal(counts, n, q->opt->k, q->opt->at_most);
    else
        st = keep_steps(q, one, counts, n, err);
    kn_free(counts);
    return st;
}

/* "k = 1 is final": is the k of a set known to be 1 from one of its subsets? */
static bool known_to_be_one(const listing *l, uint64_t set)
{
    for (uint64_t rest = set; rest; rest &= rest - 1) {
        int64_t i = index_of(l, set & ~(rest & -rest));
        if (i >= 0 && l->q->out->public.sets[i].k == 1) return true;
    }
    return false;
}

/* Level by level; only k is asked, so supersets of a set with k = 1 need no evaluation. */
static kn_status figures_by_level(question *q, listing *l, kn_error *err)
{
    uint64_t *todo = kn_alloc_array(q->ctx, (size_t)l->count, sizeof *todo);
    if (!todo) return kn_fail_memory(err, q->ctx, WHAT);
    kn_status st = KN_OK;
    bool      only_k = q->opt->suppress_mode != KN_SUPPRESS_ASKED;
    for (int64_t i = 0; i < l->count && st == KN_OK;) {
        int     size = __builtin_popcountll(q->masks[i]);
        int64_t n = 0;
        for (; i < l->count && __builtin_popcountll(q->masks[i]) == size; i++) {
            if (only_k && known_to_be_one(l, q->masks[i]))
                q->out->public.sets[i].k = 1;
            else
                todo[n++] = q->masks[i];
        }
        st = evaluate(q, todo, n, note_set, l, err);
    }
    kn_free(todo);
    return st;
}

/* The sets asked for, smallest first, and where to find them. */
static kn_status list_all_sets(question *q, listing *l, int largest, kn_error *err)
{
    kn_sets_diagnosis *d = &q->out->public;
    int64_t            at = 0;
    d->set_count = l->count;
    for (int size = 1; size <= largest; size++) list_sets(q, size, 0, 0, &at);
    for (int64_t i = 0; i < l->count; i++) {
        l->places[i] = (place){q->masks[i], i};
        if (!keep_set(q, &d->sets[i].set, &q->masks[i])) return kn_fail_memory(err, q->ctx, WHAT);
    }
    qsort(l->places, (size_t)l->count, sizeof *l->places, by_mask);
    return KN_OK;
}

static kn_status find_figures(question *q, kn_error *err)
{
    kn_sets_diagnosis *d = &q->out->public;
    int                largest = q->opt->max_size > 0 && q->opt->max_size < q->count ? q->opt->max_size : q->count;
    int64_t            n = q->count <= MOST_COLUMNS ? count_sets(q->count, largest) : most_sets + 1;
    if (n > most_sets)
        return kn_fail(err, KN_USAGE,
                       "%d columns have too many subsets to list; give k, fewer columns or a smaller largest size",
                       q->count);
    if (largest < q->count) cut_short(q, "sets larger than the size asked for were not looked at");
    d->sets = kn_alloc_array_zero(q->ctx, (size_t)n, sizeof *d->sets);
    q->masks = kn_alloc_array(q->ctx, (size_t)n, sizeof *q->masks);
    listing   l = {q, kn_alloc_array(q->ctx, (size_t)n, sizeof *l.places), n};
    kn_status st = d->sets && q->masks && l.places ? KN_OK : kn_fail_memory(err, q->ctx, WHAT);
    if (st == KN_OK) st = list_all_sets(q, &l, largest, err);
    if (st == KN_OK) {
        kn_progress_begin(q->ctx, "diagnosing sets", "sets", (uint64_t)n);
        if (q->opt->algorithm == KN_SETS_FAST && largest == q->count && q->count <= WALK_COLUMNS) {
            atomic_fetch_add(&q->calls, n);
            st = kn_subsets_evaluate_all(&q->base, note_set, &l, err);
        } else {
            st = figures_by_level(q, &l, err);
        }
        kn_progress_end(q->ctx);
    }
    kn_free(l.places);
    return st;
}

/* ---- The whole ---- */

static kn_status answer_question(question *q, kn_error *err)
{
    const kn_sets_options *o = q->opt;
    KN_TRY(find_columns(q, err));
    q->out->public.rows = kn_table_total(q->table);
    if (o->suppress_mode == KN_SUPPRESS_GIVEN)
        q->out->public.budget = kn_fraction_of(o->suppress, kn_table_total(q->table));
    q->k = o->at_most && o->k < INT64_MAX ? o->k + 1 : o->k;
    if (o->algorithm == KN_SETS_FAST) {
        KN_TRY(kn_freq_of_table(&q->freq, q->ctx, q->table, q->columns, q->count + (o->entity != NULL), err));
        q->base = (kn_subsets_base){q->ctx, q->freq, q->count, o->entity != NULL};
    }
    bool borders = o->k > 0 && o->suppress_mode != KN_SUPPRESS_ASKED;
    KN_TRY(borders ? find_borders(q, err) : find_figures(q, err));
    q->out->public.calls = atomic_load(&q->calls);
    return KN_OK;
}

kn_status kn_diagnose_sets(kn_sets_diagnosis **out, kn_context *ctx, const kn_table *table,
                           const kn_sets_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_sets_options, KN_SETS_OPTIONS_INIT, options, "set options", err);
    KN_TRY(check_options(options, err));
    answer *a = kn_alloc_zero(ctx, sizeof *a);
    if (!a) return kn_fail_memory(err, ctx, WHAT);
    kn_arena_init(&a->arena, ctx);
    a->public.complete = a->public.minimal_complete = true;
    question  q = {.ctx = ctx, .table = table, .opt = options, .out = a};
    kn_status st = answer_question(&q, err);
    KN_FREE(q.columns, q.masks);
    kn_freq_free(q.freq);
    if (st != KN_OK) {
        kn_sets_diagnosis_free(&a->public);
        return st;
    }
    *out = &a->public;
    return KN_OK;
}

void kn_sets_diagnosis_free(kn_sets_diagnosis *diagnosis)
{
    if (!diagnosis) return;
    answer *a = (answer *)(void *)diagnosis;
    for (int64_t i = 0; i < diagnosis->set_count; i++) kn_free(diagnosis->sets[i].steps);
    kn_free(diagnosis->sets);
    kn_arena_free(&a->arena);
    kn_free(a);
}
