/* kn_model_sets.c: every privacy model over many sets of columns.
 *
 * Per sensitive column the rows are grouped by (all columns, sensitive) once. A set is rolled up from there by dropping
 * columns and folded into classes with histograms; the sets are distributed to the workers. Cost per set: the distinct
 * combinations of all columns, grouped again, and the models'. Memory: one rolled-up set per worker.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_figures.h"
#include "kn_options.h"
#include "kn_parallel.h"

#define WHAT "measuring privacy models over sets of columns"

typedef struct over {
    const kn_inquiry *inquiry;
    kn_freq         **finest; /* per sensitive column */
    kn_model_sets    *sets;
} over;

/* ---- One set ---- */

typedef struct rolled {
    kn_freq      *fine; /* (set, sensitive) */
    kn_freq      *classes;
    kn_class_list list;
    kn_rollup    *by;
    uint32_t     *missing;
} rolled;

static void rolled_free(rolled *r)
{
    KN_FREE(r->by, r->missing, r->list.histograms.starts);
    kn_free(r->list.histograms.codes); /* the counts are those of `fine` */
    kn_freq_free(r->classes);
    kn_freq_free(r->fine);
}

/* Rolls one sensitive column's combinations up to a set. The result must be freed even on failure. */
static kn_status roll_up(rolled *r, const over *o, uint64_t set, int sensitive, kn_error *err)
{
    const kn_inquiry *q = o->inquiry;
    int               columns = q->options->quasi_count, kept = 0;
    *r = (rolled){.fine = NULL};
    r->by = kn_alloc_array_zero(q->ctx, (size_t)columns + 1, sizeof *r->by);
    r->missing = kn_alloc_array(q->ctx, (size_t)columns, sizeof *r->missing);
    if (!r->by || !r->missing) return kn_fail_memory(err, q->ctx, WHAT);
    for (int c = 0; c < columns; c++) {
        const kn_column *column = &q->table->columns[q->quasi[c]];
        r->by[c].drop = !(set >> c & 1);
        if (!r->by[c].drop) r->missing[kept++] = column->missing > 0 ? column->dict.count : UINT32_MAX;
    }
    KN_TRY(kn_freq_rollup(&r->fine, o->finest[sensitive], r->by, err));
    KN_TRY(kn_freq_fold(&r->classes, &r->list.histograms.starts, r->fine, kept, err));
    r->list.histograms.codes = kn_alloc_array(q->ctx, (size_t)r->fine->classes + 1, sizeof *r->list.histograms.codes);
    if (!r->list.histograms.codes) return kn_fail_memory(err, q->ctx, WHAT);
    for (int64_t j = 0; j < r->fine->classes; j++) r->list.histograms.codes[j] = kn_freq_code(r->fine, j, kept);
    r->list.histograms.counts = r->fine->counts;
    r->list.classes = r->classes;
    r->list.missing = q->options->missing == KN_MISSING_DROP ? r->missing : NULL;
    return KN_OK;
}

/* `violates` is made with the first sensitive column's classes. */
static kn_status measure_column(kn_model_set *set, const over *o, int s, uint8_t **violates, int worker, kn_error *err)
{
    rolled    r;
    kn_status st = roll_up(&r, o, set->columns, s, err);
    if (st == KN_OK && !*violates) {
        *violates = kn_alloc_array_zero(o->inquiry->ctx, (size_t)r.classes->classes + 1, sizeof **violates);
        if (!*violates) st = kn_fail_memory(err, o->inquiry->ctx, WHAT);
    }
    if (st == KN_OK) {
        kn_tally tally;
        r.list.violates = *violates;
        kn_tally_begin(&tally, set->verdicts, 0); /* the verdicts of earlier columns stay */
        kn_tally_add(&tally, o->inquiry, s, &r.list, 0, r.classes->classes, worker);
        kn_tally_end(&tally, o->inquiry, s);
        set->dropped = tally.dropped;
        set->classes = tally.classes;
        set->k = tally.smallest;
        set->figures[s] = tally.figures;
        kn_count_violations(r.classes, *violates, &set->violating_classes, &set->violating_rows);
        set->holds = set->violating_classes == 0 && (tally.classes > 0 || o->inquiry->options->requirement_count == 0);
    }
    rolled_free(&r);
    return st;
}

static kn_status measure_sets(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const over             *o = arg;
    const kn_model_options *options = o->inquiry->options;
    for (int64_t i = begin; i < end; i++) {
        kn_model_set *set = &o->sets->sets[i];
        uint8_t      *violates = NULL;
        kn_status     st = KN_OK;
        kn_tally      blank;
        kn_tally_begin(&blank, set->verdicts, options->requirement_count);
        for (int s = 0; s < options->sensitive_count && st == KN_OK; s++)
            st = measure_column(set, o, s, &violates, worker, err);
        kn_free(violates);
        if (st != KN_OK) return st;
    }
    return KN_OK;
}

/* ---- All sets ---- */

static kn_status check_sets(const kn_model_options *o, const uint64_t *sets, int64_t count, kn_error *err)
{
    if (o->quasi_count > 64) return kn_fail(err, KN_USAGE, "sets of more than 64 quasi-identifiers are not possible");
    if (!sets && o->quasi_count > KN_MODEL_ALL_SETS_MAX)
        return kn_fail(err, KN_USAGE, "all sets of %d quasi-identifiers are too many: at most %d are possible",
                       o->quasi_count, KN_MODEL_ALL_SETS_MAX);
    for (int64_t i = 0; sets && i < count; i++) {
        if (sets[i] == 0) return kn_fail(err, KN_USAGE, "a set of quasi-identifiers is empty");
        if (o->quasi_count < 64 && sets[i] >> o->quasi_count != 0)
            return kn_fail(err, KN_USAGE, "a set names a quasi-identifier that was not given");
    }
    return sets && count < 0 ? kn_fail(err, KN_USAGE, "the number of sets is negative") : KN_OK;
}

/* All figures and all verdicts are in one block each, which the first set owns. */
static kn_status make_sets(kn_model_sets **out, const kn_inquiry *q, const uint64_t *sets, int64_t count, kn_error *err)
{
    const kn_model_options *o = q->options;
    size_t                  n = (size_t)count, sensitive = (size_t)o->sensitive_count;
    size_t                  requirements = (size_t)o->requirement_count;
    kn_model_sets          *made = kn_alloc_zero(q->ctx, sizeof *made);
    if (!made) return kn_fail_memory(err, q->ctx, WHAT);
    *made = (kn_model_sets){count, o->sensitive_count, o->requirement_count, NULL};
    made->sets = kn_alloc_array_zero(q->ctx, n + 1, sizeof *made->sets);
    if (made->sets) {
        made->sets[0].figures = kn_alloc_array_zero(q->ctx, n * sensitive + 1, sizeof *made->sets[0].figures);
        made->sets[0].verdicts = kn_alloc_array_zero(q->ctx, n * requirements + 1, sizeof *made->sets[0].verdicts);
    }
    if (!made->sets || !made->sets[0].figures || !made->sets[0].verdicts) {
        kn_model_sets_free(made);
        return kn_fail_memory(err, q->ctx, WHAT);
    }
    for (size_t i = 0; i < n; i++) {
        made->sets[i].columns = sets ? sets[i] : (uint64_t)i + 1;
        made->sets[i].figures = made->sets[0].figures + i * sensitive;
        made->sets[i].verdicts = made->sets[0].verdicts + i * requirements;
    }
    *out = made;
    return KN_OK;
}

static kn_status group_finest(over *o, kn_error *err)
{
    const kn_inquiry       *q = o->inquiry;
    const kn_model_options *options = q->options;
    int                     columns = options->quasi_count;
    o->finest = kn_alloc_array_zero(q->ctx, (size_t)options->sensitive_count, sizeof(kn_freq *));
    int      *all = kn_alloc_array(q->ctx, (size_t)columns + 1, sizeof *all);
    kn_status st = o->finest && all ? KN_OK : kn_fail_memory(err, q->ctx, WHAT);
    for (int c = 0; c < columns && st == KN_OK; c++) all[c] = q->quasi[c];
    for (int s = 0; s < options->sensitive_count && st == KN_OK; s++) {
        all[columns] = q->sensitive[s];
        st = kn_freq_of_table(&o->finest[s], q->ctx, q->table, all, columns + 1, err);
    }
    kn_free(all);
    return st;
}

static kn_status measure(kn_model_sets **made, const kn_inquiry *q, const uint64_t *sets, int64_t count, kn_error *err)
{
    over      o = {.inquiry = q};
    kn_status st = group_finest(&o, err);
    if (st == KN_OK) st = make_sets(made, q, sets, count, err);
    if (st == KN_OK) {
        o.sets = *made;
        st = kn_parallel_for(q->ctx, count, 1, measure_sets, &o, err);
    }
    for (int s = 0; o.finest && s < q->options->sensitive_count; s++) kn_freq_free(o.finest[s]);
    kn_free(o.finest);
    return st;
}

kn_status kn_model_over_sets(kn_model_sets **out, kn_context *ctx, const kn_table *table,
                             const kn_model_options *options, const uint64_t *sets, int64_t set_count, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_model_options, KN_MODEL_OPTIONS_INIT, options, "model options", err);
    kn_inquiry     q;
    kn_model_sets *made = NULL;
    kn_status      st = kn_inquiry_begin(&q, ctx, table, options, err);
    if (st == KN_OK) st = check_sets(options, sets, set_count, err);
    if (st == KN_OK) {
        int64_t count = sets ? set_count : ((int64_t)1 << options->quasi_count) - 1;
        st = measure(&made, &q, sets, count, err);
    }
    kn_inquiry_end(&q);
    if (st == KN_OK)
        *out = made;
    else
        kn_model_sets_free(made);
    return st;
}

void kn_model_sets_free(kn_model_sets *sets)
{
    if (!sets) return;
    if (sets->sets) {
        KN_FREE(sets->sets[0].figures, sets->sets[0].verdicts);
    }
    KN_FREE(sets->sets, sets);
}
