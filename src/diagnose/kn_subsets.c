/* kn_subsets.c: class sizes of many sets of columns, by projection instead of rescanning.
 *
 * One set is projected from the base. All subsets are visited by a depth-first walk in which each set is projected from
 * one that has a single column more; columns are dropped in order of decreasing numbers of values, so that the column
 * given up last, which decides how large the source is, has few. The walk is cut into tasks by what happens to the first
 * few columns. Cost of all subsets: the sum of the class counts of their sources; memory: a chain of sets per worker.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_subsets.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

enum { MOST_COLUMNS = 63, TASK_COLUMNS = 4 };

int64_t kn_subsets_smallest(const int64_t *sizes, int64_t classes)
{
    int64_t smallest = classes > 0 ? sizes[0] : 0;
    for (int64_t i = 1; i < classes; i++)
        if (sizes[i] < smallest) smallest = sizes[i];
    return smallest;
}

/* Gives the visitor a set's classes; with an entity column, its distinct values are the sizes. */
static kn_status visit_freq(const kn_subsets_base *base, uint64_t set, const kn_freq *freq, kn_subsets_visit visit,
                            void *arg, kn_error *err)
{
    if (!base->has_entity) return visit(arg, set, freq->counts, freq->counts, freq->classes, err);
    kn_freq *folded = NULL;
    int64_t *starts = NULL;
    KN_TRY(kn_freq_fold(&folded, &starts, freq, freq->layout.columns - 1, err));
    for (int64_t i = 0; i < folded->classes; i++) starts[i] = starts[i + 1] - starts[i];
    kn_status st = visit(arg, set, starts, folded->counts, folded->classes, err);
    kn_free(starts);
    kn_freq_free(folded);
    return st;
}

/* `from` holds the columns of `have` (and the entity); keeps those of `keep` ⊆ have. */
static kn_status project(kn_freq **out, const kn_subsets_base *base, const kn_freq *from, uint64_t have, uint64_t keep,
                         kn_error *err)
{
    kn_rollup by[MOST_COLUMNS] = {{0}};
    int       at = 0;
    for (int c = 0; c < base->columns; c++)
        if (have >> c & 1) by[at++].drop = !(keep >> c & 1);
    /* Persons are counted by folding, which needs order; rows do not. */
    return base->has_entity ? kn_freq_rollup(out, from, by, err) : kn_freq_rollup_unsorted(out, from, by, err);
}

static uint64_t all_columns(const kn_subsets_base *base)
{
    return ((uint64_t)1 << base->columns) - 1;
}

static kn_status evaluate(const kn_subsets_base *base, uint64_t set, kn_subsets_visit visit, void *arg, kn_error *err)
{
    if (set == all_columns(base)) return visit_freq(base, set, base->freq, visit, arg, err);
    kn_freq *freq = NULL;
    KN_TRY(project(&freq, base, base->freq, all_columns(base), set, err));
    kn_status st = visit_freq(base, set, freq, visit, arg, err);
    kn_freq_free(freq);
    return st;
}

typedef struct list_job {
    const kn_subsets_base *base;
    const uint64_t        *sets;
    kn_subsets_visit       visit;
    void                  *arg;
} list_job;

static kn_status evaluate_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    list_job *job = arg;
    for (int64_t i = begin; i < end; i++) {
        KN_TRY(evaluate(job->base, job->sets[i], job->visit, job->arg, err));
        kn_progress_add(job->base->ctx, 1);
    }
    return KN_OK;
}

kn_status kn_subsets_evaluate_list(const kn_subsets_base *base, const uint64_t *sets, int64_t count,
                                   kn_subsets_visit visit, void *arg, kn_error *err)
{
    list_job job = {base, sets, visit, arg};
    return kn_parallel_for(base->ctx, count, 1, evaluate_range, &job, err);
}

/* ---- All subsets ---- */

typedef struct walk {
    const kn_subsets_base *base;
    kn_subsets_visit       visit;
    void                  *arg;
    int                    order[MOST_COLUMNS]; /* columns, those with most values first */
    int                    task_columns;
} walk;

/* Visits the set `have` and all its subsets that lack only columns order[from], order[from + 1], ... */
static kn_status descend(const walk *w, const kn_freq *freq, uint64_t have, int from, kn_error *err)
{
    if (kn_cancelled(w->base->ctx)) return kn_fail_cancelled(err);
    KN_TRY(visit_freq(w->base, have, freq, w->visit, w->arg, err));
    kn_progress_add(w->base->ctx, 1);
    for (int i = from; i < w->base->columns; i++) {
        uint64_t without = have & ~((uint64_t)1 << w->order[i]);
        kn_freq *projected = NULL;
        KN_TRY(project(&projected, w->base, freq, have, without, err));
        kn_status st = descend(w, projected, without, i + 1, err);
        kn_freq_free(projected);
        if (st != KN_OK) return st;
    }
    return KN_OK;
}

/* Task t drops those of the first columns (in order) whose bits are set in t. */
static kn_status walk_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    const walk *w = arg;
    for (int64_t t = begin; t < end; t++) {
        uint64_t have = all_columns(w->base);
        for (int i = 0; i < w->task_columns; i++)
            if (t >> i & 1) have &= ~((uint64_t)1 << w->order[i]);
        kn_freq *freq = NULL;
        if (have != all_columns(w->base))
            KN_TRY(project(&freq, w->base, w->base->freq, all_columns(w->base), have, err));
        kn_status st = descend(w, freq ? freq : w->base->freq, have, w->task_columns, err);
        kn_freq_free(freq);
        if (st != KN_OK) return st;
    }
    return KN_OK;
}

kn_status kn_subsets_evaluate_all(const kn_subsets_base *base, kn_subsets_visit visit, void *arg, kn_error *err)
{
    walk w = {.base = base, .visit = visit, .arg = arg};
    for (int c = 0; c < base->columns; c++) {
        int at = c;
        for (; at > 0 && base->freq->layout.fields[w.order[at - 1]].bits < base->freq->layout.fields[c].bits; at--)
            w.order[at] = w.order[at - 1];
        w.order[at] = c;
    }
    w.task_columns = base->columns < TASK_COLUMNS ? base->columns : TASK_COLUMNS;
    return kn_parallel_for(base->ctx, (int64_t)1 << w.task_columns, 1, walk_range, &w, err);
}
