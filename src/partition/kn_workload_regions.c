/* kn_workload_regions.c: predicates → intervals of a dimension's line (kn_workload_regions.h).
 *
 * For a quasi-identifier with numbers or dates and no hierarchy the line is its values; for any other its positions:
 * the leaves of its hierarchy, or its values in their order. How many rows satisfy a query is counted over the
 * distinct combinations of the columns that the workload names.
 *
 * Cost: one grouping of the table, then per query O(values of its columns + combinations).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_workload_regions.h"

#include <math.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_workload_eval_view.h"

static const char what[] = "preparing a workload";

/* A column that the workload names. */
typedef struct named {
    int                 column; /* of the table                           */
    int                 quasi;  /* -1: none                               */
    const kn_hierarchy *hierarchy;
    kn_eval_column      eval;
    kn_eval_domain      domain;
    uint8_t            *match; /* scratch: codes, or leaves              */
} named;

typedef struct job {
    kn_context                 *ctx;
    kn_region_queries          *out;
    kn_arena                    scratch; /* of one query */
    const kn_workload          *workload;
    const kn_partition_problem *problem;
    const kn_region_rules      *rules;
    const char                **names;
    int                         count;
    named                      *columns;
    kn_freq                    *freq;
} job;

static void *room(kn_arena *arena, size_t count, size_t size)
{
    return kn_arena_alloc(arena, (count + 1) * size);
}

void kn_region_queries_free(kn_region_queries *queries)
{
    if (queries->arena.ctx) kn_arena_free(&queries->arena);
    *queries = (kn_region_queries){.count = 0};
}

/* ---- Columns ---- */

static kn_status no_column(const job *j, const char *name, kn_error *err)
{
    const kn_table *t = j->problem->table;
    const char    **known = kn_alloc_array(j->ctx, (size_t)t->column_count + 1, sizeof *known);
    if (!known) return kn_fail_memory(err, j->ctx, what);
    for (int c = 0; c < t->column_count; c++) known[c] = t->columns[c].name;
    kn_status st = kn_workload_no_column(j->workload, name, "what is read of the input", known, t->column_count, err);
    kn_free(known);
    return st;
}

static kn_status find_columns(job *j, kn_error *err)
{
    const kn_partition_problem *p = j->problem;
    KN_TRY(kn_workload_columns(&j->names, &j->count, j->ctx, j->workload, err));
    j->columns = room(&j->out->arena, (size_t)j->count, sizeof *j->columns);
    if (!j->columns) return kn_fail_memory(err, j->ctx, what);
    for (int i = 0; i < j->count; i++) {
        named *n = &j->columns[i];
        *n = (named){.column = kn_table_find(p->table, j->names[i]), .quasi = -1};
        if (n->column < 0) return no_column(j, j->names[i], err);
        const kn_column *column = &p->table->columns[n->column];
        int              at = j->rules->spec ? kn_spec_find(j->rules->spec, j->names[i]) : -1;
        for (int q = 0; q < p->quasi_count; q++)
            if (p->quasi[q] == n->column) n->quasi = q;
        n->hierarchy = n->quasi >= 0 && p->hierarchies ? p->hierarchies[n->quasi] : NULL;
        n->eval = (kn_eval_column){.name = j->names[i],
                                   .format = at >= 0 ? j->rules->spec->attributes[at].format : NULL,
                                   .original = column,
                                   .hierarchy = n->hierarchy};
        kn_eval_input input = {.columns = &n->eval,
                               .column_count = 1,
                               .decimal = j->rules->spec ? j->rules->spec->csv.decimal : '.',
                               .timezone = j->rules->timezone};
        KN_TRY(kn_eval_domain_make(&n->domain, &j->out->arena, &input, 0, err));
        size_t most = n->domain.leaves > column->dict.count ? n->domain.leaves : column->dict.count;
        n->match = room(&j->out->arena, most + 1, 1);
        if (!n->match) return kn_fail_memory(err, j->ctx, what);
    }
    return KN_OK;
}

/* ---- Predicates ---- */

static kn_status intervals_of_values(kn_region_predicate *to, job *j, const named *n, const kn_condition *condition,
                                     kn_error *err)
{
    kn_region_interval *intervals = room(&j->out->arena, (size_t)condition->interval_count, sizeof *intervals);
    if (!intervals) return kn_fail_memory(err, j->ctx, what);
    for (int i = 0; i < condition->interval_count; i++) {
        const kn_interval *in = &condition->intervals[i];
        intervals[i] =
            (kn_region_interval){in->low == INT64_MIN ? -INFINITY : kn_line_number(&n->domain.line, in->low),
                                 in->high == INT64_MAX ? INFINITY : kn_line_number(&n->domain.line, in->high)};
    }
    to->interval_count = condition->interval_count;
    to->intervals = intervals;
    return KN_OK;
}

static kn_status intervals_of_positions(kn_region_predicate *to, job *j, const named *n, const kn_condition *condition,
                                        kn_error *err)
{
    uint32_t positions = n->hierarchy ? n->domain.leaves : n->eval.original->dict.count, count = 0;
    if (n->hierarchy)
        kn_eval_match_leaves(n->match, &n->domain, condition);
    else
        kn_eval_match(n->match, &n->domain, condition);
    for (uint32_t p = 0; p < positions; p++) count += n->match[p] && (p == 0 || !n->match[p - 1]);
    kn_region_interval *intervals = room(&j->out->arena, count, sizeof *intervals);
    if (!intervals) return kn_fail_memory(err, j->ctx, what);
    to->interval_count = 0;
    to->intervals = intervals;
    for (uint32_t p = 0; p < positions; p++) {
        if (!n->match[p]) continue;
        if (p == 0 || !n->match[p - 1]) intervals[to->interval_count++].low = p;
        intervals[to->interval_count - 1].high = p;
    }
    return KN_OK;
}

static kn_status make_predicate(kn_region_predicate *to, job *j, const named *n, const kn_condition *condition,
                                kn_error *err)
{
    *to = (kn_region_predicate){.quasi = n->quasi};
    if (!n->hierarchy && kn_line_ordered(&n->domain.line)) return intervals_of_values(to, j, n, condition, err);
    return intervals_of_positions(to, j, n, condition, err);
}

/* The predicates of a query on one column; NULL: there are none. */
static kn_status condition_on(const kn_condition **out, job *j, const kn_query *query, int column, kn_error *err)
{
    const kn_predicate **same = room(&j->scratch, (size_t)query->predicate_count, sizeof *same);
    kn_condition        *condition = room(&j->scratch, 1, sizeof *condition);
    int                  count = 0;
    if (!same || !condition) return kn_fail_memory(err, j->ctx, what);
    *out = NULL;
    for (int p = 0; p < query->predicate_count; p++)
        if (strcmp(query->predicates[p].attribute, j->names[column]) == 0) same[count++] = &query->predicates[p];
    if (count == 0) return KN_OK;
    KN_TRY(kn_condition_make(condition, &j->scratch, &j->columns[column].domain.line, same, count, j->workload->path,
                             err));
    *out = condition;
    return KN_OK;
}

/* ---- Weights ---- */

/* Rows that satisfy all conditions, and those on columns that are not quasi-identifiers. */
static kn_status count_rows(double *all, double *others, job *j, const kn_condition *const *conditions, kn_error *err)
{
    uint8_t **match = room(&j->scratch, (size_t)j->count, sizeof *match);
    if (!match) return kn_fail_memory(err, j->ctx, what);
    for (int c = 0; c < j->count; c++) {
        match[c] = conditions[c] ? room(&j->scratch, (size_t)j->columns[c].eval.original->dict.count + 1, 1) : NULL;
        if (!conditions[c]) continue;
        if (!match[c]) return kn_fail_memory(err, j->ctx, what);
        kn_eval_match(match[c], &j->columns[c].domain, conditions[c]);
    }
    *all = *others = 0;
    for (int64_t i = 0; i < j->freq->classes; i++) {
        bool holds = true, in_others = true;
        for (int c = 0; c < j->count && in_others; c++) {
            if (!match[c] || match[c][kn_freq_code(j->freq, i, c)]) continue;
            holds = false;
            if (j->columns[c].quasi < 0) in_others = false;
        }
        if (in_others) *others += (double)j->freq->counts[i];
        if (holds && in_others) *all += (double)j->freq->counts[i];
    }
    return KN_OK;
}

static kn_status add_query(job *j, const kn_query *query, kn_error *err)
{
    kn_region_query     *to = &j->out->queries[j->out->count];
    const kn_condition **conditions = room(&j->scratch, (size_t)j->count, sizeof *conditions);
    double               all = 0, others = 0, rows = (double)kn_table_total(j->problem->table);
    kn_region_predicate *predicates = room(&j->out->arena, (size_t)j->count, sizeof *predicates);
    if (!conditions || !predicates) return kn_fail_memory(err, j->ctx, what);
    *to = (kn_region_query){.predicates = predicates};
    for (int c = 0; c < j->count; c++) {
        KN_TRY(condition_on(&conditions[c], j, query, c, err));
        if (conditions[c] && j->columns[c].quasi >= 0)
            KN_TRY(make_predicate(&predicates[to->predicate_count++], j, &j->columns[c], conditions[c], err));
    }
    if (to->predicate_count == 0) return KN_OK; /* no cut changes its answer */
    KN_TRY(count_rows(&all, &others, j, conditions, err));
    to->weight = query->weight / (all > 1 ? all : 1) * (rows > 0 ? others / rows : 0);
    j->out->count += to->weight > 0;
    return KN_OK;
}

static kn_status make(job *j, kn_error *err)
{
    KN_TRY(find_columns(j, err));
    j->out->queries = room(&j->out->arena, (size_t)j->workload->query_count, sizeof *j->out->queries);
    int *columns = room(&j->out->arena, (size_t)j->count, sizeof *columns);
    if (!j->out->queries || !columns) return kn_fail_memory(err, j->ctx, what);
    if (j->count == 0) return KN_OK;
    for (int c = 0; c < j->count; c++) columns[c] = j->columns[c].column;
    KN_TRY(kn_freq_of_table(&j->freq, j->ctx, j->problem->table, columns, j->count, err));
    for (int q = 0; q < j->workload->query_count; q++) {
        KN_TRY(add_query(j, &j->workload->queries[q], err));
        kn_arena_free(&j->scratch);
    }
    return KN_OK;
}

kn_status kn_region_queries_make(kn_region_queries *out, kn_context *ctx, const kn_workload *workload,
                                 const kn_partition_problem *problem, const kn_region_rules *rules, kn_error *err)
{
    job j = {.ctx = ctx, .out = out, .workload = workload, .problem = problem, .rules = rules};
    *out = (kn_region_queries){.count = 0};
    kn_arena_init(&out->arena, ctx);
    kn_arena_init(&j.scratch, ctx);
    kn_status st = make(&j, err);
    kn_arena_free(&j.scratch);
    kn_freq_free(j.freq);
    kn_free(j.names);
    if (st != KN_OK) kn_region_queries_free(out);
    return st;
}
