/* kn_kmsd.c: the K-MSD and K-MSD-AG algorithms (kn_kmsd.h; sections 5 and 6.1.2 of the paper, docs/errata.md R1 to R7).
 *
 * K-MSD: the largest set of quasi-identifiers that is already k-anonymous is the basis (found by kn_borders, not by
 * trying subsets); if there is none, the attribute with the fewest violating values is made k-anonymous by MDG. Then,
 * until all attributes are included: the one with the fewest violating (group, value) pairs is generalized by MDG
 * inside each group of rows that so far show the same.
 *
 * K-MSD-AG begins with the left side that occurs most often, makes it k-anonymous by K-MSD, and prefers AG(X, Y) over
 * a K-MSD step whenever a dependency's left side is included. At the end AG is repeated until nothing changes, since
 * with more than one dependency a later step may undo an earlier one (the paper's Theorem 6 does not hold there).
 *
 * Cost: O(attributes² × rows) for choosing the next attribute, and MDG's (kn_mdg.c) for each attribute and group;
 * groups are processed in parallel. Memory: 4 bytes per row and attribute, 12 per row for groups, MDG's per thread.
 * Limits: 64 quasi-identifiers, 2^32 - 2 rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_kmsd.h"

#include "kn_alloc.h"
#include "kn_borders.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_kmsd_internal.h"
#include "kn_mdg.h"
#include "kn_pages.h"
#include "kn_parallel.h"

#define WHAT "generalizing"

enum {
    ROWS = 1 << 14,      /* of a range            */
    GROUP_ROWS = 1 << 12 /* whose groups are one  */
};

static uint64_t bit(int q)
{
    return (uint64_t)1 << q;
}

/* ---- One K-MSD step ---- */

typedef struct mdg_job {
    kn_kmsd_run       *run;
    const kn_grouping *grouping;
    int                attribute;
    kn_mdg           **workers;
    int64_t           *steps;
} mdg_job;

/* The first group whose rows begin there or later. */
static uint32_t group_at(const kn_grouping *g, int64_t place)
{
    uint32_t low = 0, high = g->groups;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->starts[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The groups whose rows begin among [begin, end) of all. */
static kn_status mdg_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    mdg_job           *job = arg;
    const kn_grouping *g = job->grouping;
    for (uint32_t i = group_at(g, begin), last = group_at(g, end); i < last; i++) {
        if (kn_cancelled(job->run->ctx)) return kn_fail_cancelled(err);
        KN_TRY(kn_mdg_group(job->workers[worker], g->members + g->starts[i], g->sizes[i], job->run->k,
                            job->run->nodes[job->attribute], &job->steps[worker], err));
        kn_progress_add(job->run->ctx, g->sizes[i]);
    }
    return KN_OK;
}

static kn_status free_mdg_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    kn_mdg **workers = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) {
        kn_mdg_free(workers[i]);
        workers[i] = NULL;
    }
    return KN_OK;
}

/* MDG of one attribute in every group. */
static kn_status generalize(kn_kmsd_run *run, kn_grouping *grouping, int attribute, kn_error *err)
{
    size_t    threads = (size_t)kn_context_threads(run->ctx);
    mdg_job   job = {run, grouping, attribute, NULL, NULL};
    kn_status status = kn_grouping_list(grouping, err);
    job.workers = kn_alloc_array_zero(run->ctx, threads, sizeof *job.workers);
    job.steps = kn_alloc_array_zero(run->ctx, threads, sizeof *job.steps);
    if (status == KN_OK && (!job.workers || !job.steps)) status = kn_fail_memory(err, run->ctx, WHAT);
    for (size_t i = 0; status == KN_OK && i < threads; i++)
        status = kn_mdg_make(&job.workers[i], run->ctx, run->problem->hierarchies[attribute], err);
    kn_progress_begin(run->ctx, WHAT, "rows", run->rows);
    if (status == KN_OK) status = kn_parallel_for(run->ctx, run->rows, GROUP_ROWS, mdg_range, &job, err);
    kn_progress_end(run->ctx);
    for (size_t i = 0; job.steps && i < threads; i++) run->counters->steps += job.steps[i];
    if (job.workers && kn_parallel_for(run->ctx, (int64_t)threads, 1, free_mdg_range, job.workers, NULL) != KN_OK)
        (void)free_mdg_range(job.workers, 0, (int64_t)threads, 0, NULL); /* a cancelled context runs no range */
    run->counters->groups += grouping->groups;
    KN_FREE(job.workers, job.steps);
    return status;
}

/* Includes the attribute of `among` with the fewest violations. */
static kn_status take_next(kn_kmsd_run *run, uint64_t *done, uint64_t among, kn_error *err)
{
    kn_grouping grouping;
    int         best = -1;
    int64_t     fewest = 0;
    kn_status   status = kn_kmsd_group(&grouping, run, *done, err);
    if (status != KN_OK) return status;
    for (int q = 0; status == KN_OK && q < run->problem->quasi_count; q++) {
        int64_t violations = 0; /* distinct (group, value) pairs with fewer than k rows */
        if (!(among & ~*done & bit(q))) continue;
        status = kn_grouping_count(&violations, &grouping, run->nodes[q], run->problem->hierarchies[q], run->k, err);
        if (best < 0 || violations < fewest) {
            best = q;
            fewest = violations;
        }
    }
    if (status == KN_OK && fewest > 0) status = generalize(run, &grouping, best, err);
    kn_kmsd_keep(run, &grouping, *done); /* the next step refines it by the attribute that was generalized */
    if (status == KN_OK) *done |= bit(best);
    return status;
}

/* ---- The basis ---- */

static int lowest(uint64_t set)
{
    return __builtin_ctzll(set);
}

/* Is a before b in the order of the quasi-identifiers? (both of one size) */
static bool listed_before(uint64_t a, uint64_t b)
{
    uint64_t differ = a ^ b;
    return differ && (a & bit(lowest(differ)));
}

/* The largest k-anonymous subset of `among`; 0: there is none. */
static kn_status find_basis(uint64_t *out, const kn_kmsd_run *run, uint64_t among, kn_error *err)
{
    int                columns[64], index[64], count = 0;
    kn_borders_options options = {.k = run->k};
    kn_borders         borders = {0};
    kn_freq           *freq = NULL;
    *out = 0;
    for (int q = 0; q < run->problem->quasi_count; q++)
        if (among & bit(q)) {
            columns[count] = run->problem->quasi[q];
            index[count++] = q;
        }
    kn_status status = kn_freq_of_table(&freq, run->ctx, run->problem->table, columns, count, err);
    if (status == KN_OK) status = kn_borders_find(&borders, run->ctx, freq, &options, err);
    for (int64_t i = 0; status == KN_OK && i < borders.maximal.count; i++) {
        uint64_t set = 0;
        for (int c = 0; c < count; c++)
            if (borders.maximal.sets[i] & bit(c)) set |= bit(index[c]);
        int more = __builtin_popcountll(set) - __builtin_popcountll(*out);
        if (more > 0 || (more == 0 && listed_before(set, *out))) *out = set;
    }
    kn_borders_free(&borders);
    kn_freq_free(freq);
    return status;
}

/* K-MSD on a set of columns. */
static kn_status kmsd(kn_kmsd_run *run, uint64_t among, kn_error *err)
{
    uint64_t done = 0;
    KN_TRY(find_basis(&done, run, among, err));
    if (run->counters->basis == 0) run->counters->basis = done;
    if (done == 0) {
        KN_TRY(
            take_next(run, &done, among, err)); /* one group of all rows: the attribute with fewest violating values */
        if (run->counters->basis == 0) run->counters->basis = done;
    }
    while (among & ~done) KN_TRY(take_next(run, &done, among, err));
    return KN_OK;
}

/* ---- K-MSD-AG ---- */

/* The left side that occurs most often, ties by first listed (R6). */
static uint64_t favourite_left(const kn_kmsd_problem *problem)
{
    uint64_t best = 0;
    int      most = 0;
    for (int i = 0; i < problem->association_count; i++) {
        int times = 0;
        for (int j = 0; j < problem->association_count; j++)
            times += problem->associations[j].left == problem->associations[i].left;
        if (times > most) {
            most = times;
            best = problem->associations[i].left;
        }
    }
    return best;
}

static kn_status kmsd_ag(kn_kmsd_run *run, kn_error *err)
{
    const kn_kmsd_problem *problem = run->problem;
    uint64_t               done = favourite_left(problem);
    int64_t                raised;
    KN_TRY(kmsd(run, done, err));
    run->counters->basis = done;
    while (kn_kmsd_all(run) & ~done) {
        const kn_association *ready = NULL;
        for (int i = 0; !ready && i < problem->association_count; i++)
            if (!(problem->associations[i].left & ~done) && (problem->associations[i].right & ~done))
                ready = &problem->associations[i];
        if (ready) {
            KN_TRY(kn_kmsd_associate(run, ready->left, ready->right & ~done, &raised, err));
            done |= ready->right;
        } else
            KN_TRY(take_next(run, &done, kn_kmsd_all(run), err));
    }
    return problem->changed_groups_only ? KN_OK : kn_kmsd_repair(run, err);
}

/* ---- The run ---- */

typedef struct leaf_job {
    const kn_hierarchy *h;
    const kn_column    *column;
    uint32_t           *nodes;
} leaf_job;

static kn_status leaf_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const leaf_job *job = arg;
    for (int64_t row = begin; row < end; row++)
        job->nodes[row] = job->h->leaf_of_code[kn_column_code(job->column, row)];
    return KN_OK;
}

static kn_status begin(kn_kmsd_run *run, kn_error *err)
{
    const kn_kmsd_problem *p = run->problem;
    if (!KN_ALLOC_ZERO(run->ctx, run->nodes, (size_t)p->quasi_count) ||
        !KN_ALLOC_ZERO(run->ctx, run->suppressed, (size_t)run->rows + 1))
        return kn_fail_memory(err, run->ctx, WHAT);
    for (int q = 0; q < p->quasi_count; q++) {
        run->nodes[q] = kn_alloc_array(run->ctx, (size_t)run->rows + 1, sizeof **run->nodes);
        if (!run->nodes[q]) return kn_fail_memory(err, run->ctx, WHAT);
        leaf_job job = {p->hierarchies[q], &p->table->columns[p->quasi[q]], run->nodes[q]};
        KN_TRY(kn_parallel_for(run->ctx, run->rows, ROWS, leaf_range, &job, err));
    }
    return KN_OK;
}

static kn_status search(kn_plan **out, bool *found, kn_kmsd_run *run, kn_error *err)
{
    KN_TRY(begin(run, err));
    KN_TRY(run->problem->association_count > 0 ? kmsd_ag(run, err) : kmsd(run, kn_kmsd_all(run), err));
    KN_TRY(kn_kmsd_merge(run, found, err));
    return *found ? kn_kmsd_plan(out, run, err) : KN_OK;
}

typedef struct freeing {
    kn_context *ctx;
    void       *blocks[64 + 2];
    int         count;
} freeing;

static kn_status free_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    freeing *f = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) {
        kn_pages_give_back(f->ctx, f->blocks[i]);
        kn_free(f->blocks[i]);
        f->blocks[i] = NULL;
    }
    return KN_OK;
}

/* Giving memory back takes its time: all threads do, or one where a cancelled context runs no range. */
static void free_run(kn_kmsd_run *run)
{
    freeing f = {.ctx = run->ctx, .blocks = {run->kept.group_of, run->kept.members}, .count = 2};
    for (int q = 0; run->nodes && q < run->problem->quasi_count; q++) f.blocks[f.count++] = run->nodes[q];
    run->kept.group_of = run->kept.members = NULL;
    if (kn_parallel_for(run->ctx, f.count, 1, free_range, &f, NULL) != KN_OK) (void)free_range(&f, 0, f.count, 0, NULL);
    kn_grouping_free(&run->kept);
    KN_FREE(run->nodes, run->suppressed);
}

kn_status kn_kmsd_search(kn_plan **out, bool *found, kn_kmsd_counters *counters, kn_context *ctx,
                         const kn_kmsd_problem *problem, kn_error *err)
{
    kn_kmsd_run run = {.ctx = ctx, .problem = problem, .counters = counters};
    *out = NULL;
    *found = false;
    *counters = (kn_kmsd_counters){0};
    if (problem->quasi_count > 64) return kn_fail(err, KN_USAGE, "kmsd takes at most 64 quasi-identifiers");
    if (problem->table->rows >= UINT32_MAX - 1)
        return kn_fail(err, KN_USAGE, "kmsd takes at most 4,294,967,294 rows; this table has more");
    run.rows = (uint32_t)problem->table->rows;
    if (run.rows == 0 || problem->requirements->k > run.rows) return KN_OK;
    run.k = (uint32_t)problem->requirements->k;
    kn_status status = search(out, found, &run, err);
    free_run(&run);
    return status;
}
