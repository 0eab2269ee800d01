/* kn_workload_eval.c: each query's answer on the original and on the release (slides, "Workload-Driven Quality";
 * docs/errata.md 3.7).
 *
 * A query's predicates are joined per column into a condition. On the original a row matches or not. On the release
 * each cell has, for each condition, a share that satisfies it; a combination of cells with n rows is expected to
 * hold n times the product of its shares, at least n if all its cells lie inside, at most n if all touch. Suppressed
 * rows may have any values: they count in the upper bound and not in the estimate.
 *
 * SUM and AVG multiply by the mean of the part of the cell that satisfies the query: the published mean of the class
 * where the whole cell does, otherwise the middle of that part. MIN and MAX look at the ends of that part (published:
 * of the class's range) in the combinations where at least half a row is expected, or in all that touch if there is
 * none.
 *
 * The relative error is |estimate - original| / max(|original|, 1) of COUNT and SUM, and |estimate - original| /
 * (largest - smallest value of the column) of the others, which do not grow with the rows; 1 where one side knows no
 * value and the other does.
 *
 * Cost: per query O(cells of the columns it names + combinations × its columns); parallel over queries. Memory: per
 * worker the views of one query's columns.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_workload_eval.h"

#include <math.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_error.h"
#include "kn_nearest.h"
#include "kn_parallel.h"
#include "kn_workload_eval_view.h"

static const char what[] = "answering a workload";

typedef struct job {
    const kn_eval_input *input;
    kn_context          *ctx;
    kn_eval_domain      *domains; /* per column */
    kn_answer           *answers;
} job;

/* One query while it is evaluated. */
typedef struct asked {
    const job      *j;
    const kn_query *query;
    kn_arena       *arena;
    int             count; /* columns with a condition */
    int            *columns;
    kn_condition   *conditions;
    uint8_t       **match;     /* per condition: codes of the original */
    int             attribute; /* column; -1: COUNT                */
    int             own;       /* the condition on it; -1: none    */
    kn_answer      *answer;
} asked;

/* ---- Columns ---- */

static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

kn_status kn_workload_columns(const char ***out, int *count, kn_context *ctx, const kn_workload *workload,
                              kn_error *err)
{
    const char **names = NULL;
    size_t       capacity = 0;
    *count = 0;
    for (int q = 0; q < workload->query_count; q++) {
        const kn_query *query = &workload->queries[q];
        for (int p = -1; p < query->predicate_count; p++) {
            const char *name = p < 0 ? query->attribute : query->predicates[p].attribute;
            if (!name || find_name(names, *count, name) >= 0) continue;
            if (!KN_GROW(ctx, &names, &capacity, (size_t)*count + 1)) {
                kn_free(names);
                return kn_fail_memory(err, ctx, what);
            }
            names[(*count)++] = name;
        }
    }
    *out = names;
    return KN_OK;
}

kn_status kn_workload_no_column(const kn_workload *workload, const char *name, const char *where,
                                const char *const *names, int count, kn_error *err)
{
    kn_nearest near = {.text = name};
    int64_t    line = 0, column = 0;
    for (int i = 0; i < count; i++) kn_nearest_try(&near, names[i]);
    for (int q = 0; q < workload->query_count && line == 0; q++) {
        const kn_query *query = &workload->queries[q];
        if (query->attribute && strcmp(query->attribute, name) == 0) {
            line = query->attribute_line;
            column = query->attribute_column;
        }
        for (int p = 0; p < query->predicate_count && line == 0; p++)
            if (strcmp(query->predicates[p].attribute, name) == 0) {
                line = query->predicates[p].line;
                column = query->predicates[p].column;
            }
    }
    return kn_fail_at(err, KN_INPUT, workload->path, line, column, "%s has no column \"%s\"%s%s%s", where, name,
                      KN_MEANT(near));
}

/* ---- Preparing a query ---- */

static int column_of(const job *j, const char *name)
{
    for (int c = 0; c < j->input->column_count; c++)
        if (strcmp(j->input->columns[c].name, name) == 0) return c;
    return -1;
}

static kn_status join_predicates(asked *a, kn_error *err)
{
    const kn_query      *q = a->query;
    const job           *j = a->j;
    size_t               n = (size_t)q->predicate_count;
    const kn_predicate **same = kn_arena_alloc(a->arena, (n + 1) * sizeof *same);
    a->columns = kn_arena_alloc(a->arena, (n + 1) * sizeof *a->columns);
    a->conditions = kn_arena_alloc(a->arena, (n + 1) * sizeof *a->conditions);
    a->match = kn_arena_alloc(a->arena, (n + 1) * sizeof *a->match);
    if (!same || !a->columns || !a->conditions || !a->match) return kn_fail_memory(err, a->j->ctx, what);
    for (size_t p = 0; p < n; p++) {
        int  column = column_of(j, q->predicates[p].attribute), count = 0;
        bool seen = false;
        if (column < 0)
            return kn_workload_no_column(j->input->workload, q->predicates[p].attribute, "the original", NULL, 0, err);
        for (int i = 0; i < a->count; i++) seen = seen || a->columns[i] == column;
        if (seen) continue;
        for (size_t other = p; other < n; other++)
            if (column_of(j, q->predicates[other].attribute) == column) same[count++] = &q->predicates[other];
        a->columns[a->count] = column;
        KN_TRY(kn_condition_make(&a->conditions[a->count], a->arena, &j->domains[column].line, same, count,
                                 j->input->workload->path, err));
        a->count++;
    }
    return KN_OK;
}

static kn_status prepare(asked *a, kn_error *err)
{
    const job *j = a->j;
    KN_TRY(join_predicates(a, err));
    a->attribute = a->own = -1;
    if (a->query->attribute) {
        a->attribute = column_of(j, a->query->attribute);
        if (a->attribute < 0)
            return kn_workload_no_column(j->input->workload, a->query->attribute, "the original", NULL, 0, err);
        if (!kn_line_numbers(&j->domains[a->attribute].line))
            return kn_fail_at(err, KN_INPUT, j->input->workload->path, a->query->attribute_line,
                              a->query->attribute_column, "%s needs numbers: column \"%s\" is of type %s",
                              kn_aggregate_name(a->query->aggregate), a->query->attribute,
                              kn_type_name(j->domains[a->attribute].line.type));
    }
    for (int i = 0; i < a->count; i++) {
        if (a->columns[i] == a->attribute) a->own = i;
        const kn_eval_domain *d = &j->domains[a->columns[i]];
        a->match[i] = kn_arena_alloc(a->arena, (size_t)d->column->original->dict.count + 1);
        if (!a->match[i]) return kn_fail_memory(err, a->j->ctx, what);
        kn_eval_match(a->match[i], d, &a->conditions[i]);
    }
    return KN_OK;
}

/* ---- The original ---- */

static double code_number(const kn_eval_domain *d, uint32_t code)
{
    const kn_dictionary *dict = &d->column->original->dict;
    return code < dict->count ? kn_line_number(&d->line, kn_line_key_of_code(&d->line, dict, code)) : NAN;
}

static double finish(kn_aggregate aggregate, double rows, double count, double sum, double low, double high)
{
    switch (aggregate) {
    case KN_AGGREGATE_COUNT: return rows;
    case KN_AGGREGATE_SUM: return count > 0 ? sum : NAN;
    case KN_AGGREGATE_AVG: return count > 0 ? sum / count : NAN;
    case KN_AGGREGATE_MIN: return low;
    default: return high;
    }
}

static void answer_original(asked *a)
{
    const kn_eval_side *side = &a->j->input->original;
    double              rows = 0, count = 0, sum = 0, low = NAN, high = NAN;
    for (int64_t i = 0; i < side->count; i++) {
        bool holds = true;
        for (int c = 0; holds && c < a->count; c++) holds = a->match[c][side->codes[a->columns[c]][i]];
        if (!holds) continue;
        double n = (double)side->rows[i];
        rows += n;
        if (a->attribute < 0) continue;
        double value = code_number(&a->j->domains[a->attribute], side->codes[a->attribute][i]);
        if (isnan(value)) continue;
        count += n;
        sum += n * value;
        if (!(value >= low)) low = value;
        if (!(value <= high)) high = value;
    }
    a->answer->original = finish(a->query->aggregate, rows, count, sum, low, high);
}

/* ---- The release ---- */

typedef struct found {
    double rows, lower, upper;           /* expected, certain, possible                                        */
    double count, sum;                   /* of rows with a number, expected                                    */
    double sum_lower, sum_upper;         /* what the sum must lie between                                      */
    double even_lower, even_upper, even; /* sums of the smallest and largest means of certain rows; those rows */
    double low, high;                    /* of everything that touches                                         */
    double likely_low, likely_high;      /* of combinations with half a row                                    */
    double certain_low, certain_high;    /* MIN is at most, MAX at least this                                  */
    bool   partial;                      /* something touches without lying inside                             */
} found;

static double lesser(double a, double b)
{
    return a < b || isnan(b) ? a : b;
}

static double greater(double a, double b)
{
    return a > b || isnan(b) ? a : b;
}

/* What is known of the numbers behind a combination. */
typedef struct known {
    kn_spread spread;
    bool      exact_mean; /* the mean is that of its rows, not a guess              */
    bool      exact_ends; /* some row has the smallest, some the largest value      */
} known;

/* Published figures are of the whole class: where the query takes part of the cell, only the range is of use. */
static known consult_summary(const asked *a, known k, int64_t combination, bool whole_cell, bool whole_class)
{
    const kn_eval_input *in = a->j->input;
    if (!in->class_of || in->class_of[combination] == UINT32_MAX) return k;
    size_t              at = (size_t)in->class_of[combination] * (size_t)in->column_count + (size_t)a->attribute;
    const kn_published *p = &in->published[at];
    if (isnan(p->mean) || isnan(p->low) || isnan(p->high)) return k;
    a->answer->source = KN_ANSWER_PUBLISHED;
    if (!whole_cell) {
        kn_spread s = k.spread;
        s.low = greater(s.low, p->low);
        s.high = lesser(s.high, p->high);
        if (s.low > s.high) return k;
        if (s.mean < s.low || s.mean > s.high) s.mean = s.low / 2 + s.high / 2;
        return (known){s, false, false};
    }
    /* Where a condition on another column takes some rows of the class, the mean of all is a guess. */
    return (known){{p->mean, p->low, p->high, k.spread.complete}, whole_class, whole_class};
}

static void add_numbers(found *f, const known *k, double n, double expected, bool inside)
{
    const kn_spread *s = &k->spread;
    bool             certain = inside && s->complete;
    if (isnan(s->mean)) return;
    f->count += expected;
    f->sum += expected * s->mean;
    f->low = lesser(f->low, s->low);
    f->high = greater(f->high, s->high);
    if (expected >= 0.5) {
        f->likely_low = lesser(f->likely_low, s->low);
        f->likely_high = greater(f->likely_high, s->high);
    }
    double smallest = k->exact_mean ? s->mean : s->low, largest = k->exact_mean ? s->mean : s->high;
    if (!certain) {
        f->partial = true;
        f->sum_lower += s->low < 0 ? n * s->low : 0;
        f->sum_upper += s->high > 0 ? n * s->high : 0;
        return;
    }
    f->sum_lower += n * smallest;
    f->sum_upper += n * largest;
    f->even_lower += n * smallest;
    f->even_upper += n * largest;
    f->even += n;
    f->certain_low = lesser(f->certain_low, k->exact_ends ? s->low : s->high);
    f->certain_high = greater(f->certain_high, k->exact_ends ? s->high : s->low);
}

typedef struct views {
    kn_view  **views; /* per condition */
    kn_spread *spreads;
} views;

static kn_status make_views(asked *a, views *v, kn_error *err)
{
    v->views = kn_arena_alloc(a->arena, ((size_t)a->count + 1) * sizeof *v->views);
    if (!v->views) return kn_fail_memory(err, a->j->ctx, what);
    for (int c = 0; c < a->count; c++) {
        const kn_eval_domain *d = &a->j->domains[a->columns[c]];
        v->views[c] = kn_arena_alloc(a->arena, ((size_t)d->released + 1) * sizeof **v->views);
        uint32_t *hits = kn_arena_alloc(a->arena, ((size_t)d->leaves + 1) * sizeof *hits);
        if (!v->views[c] || !hits) return kn_fail_memory(err, a->j->ctx, what);
        kn_eval_views(v->views[c], d, &a->conditions[c], a->match[c], hits);
    }
    v->spreads = NULL;
    if (a->attribute < 0) return KN_OK;
    const kn_eval_domain *d = &a->j->domains[a->attribute];
    uint32_t              values = d->column->original->dict.count;
    v->spreads = kn_arena_alloc(a->arena, ((size_t)d->released + 1) * sizeof *v->spreads);
    uint8_t *match = a->own >= 0 ? a->match[a->own] : kn_arena_alloc(a->arena, (size_t)values + 1);
    if (!v->spreads || !match) return kn_fail_memory(err, a->j->ctx, what);
    if (a->own < 0) kn_eval_match(match, d, NULL);
    kn_eval_spreads(v->spreads, d, a->own >= 0 ? &a->conditions[a->own] : NULL, match);
    return KN_OK;
}

/* Does the query take whole classes or nothing of them? Conditions on other columns split them. */
static bool takes_whole_classes(const asked *a)
{
    for (int c = 0; c < a->count; c++)
        if (a->j->input->columns[a->columns[c]].shown) return false;
    return true;
}

static void add_combination(asked *a, found *f, const views *v, int64_t i, bool whole_class)
{
    const kn_eval_side *side = &a->j->input->release;
    double              n = (double)side->rows[i], expected = n;
    uint32_t            flags = KN_VIEW_TOUCHES | KN_VIEW_INSIDE;
    for (int c = 0; c < a->count; c++) {
        const kn_view *view = &v->views[c][side->codes[a->columns[c]][i]];
        expected *= view->share;
        flags &= view->flags;
    }
    if (!(flags & KN_VIEW_TOUCHES) || n == 0) return;
    bool inside = flags & KN_VIEW_INSIDE;
    f->rows += expected;
    f->upper += n;
    if (inside) f->lower += n;
    if (a->attribute < 0) return;
    uint32_t code = side->codes[a->attribute][i];
    known    k = {v->spreads[code], false, false};
    bool     whole = a->own < 0 || (v->views[a->own][code].flags & KN_VIEW_INSIDE);
    k.exact_mean = k.exact_ends = k.spread.low == k.spread.high;
    if (!a->j->domains[a->attribute].column->shown) k = consult_summary(a, k, i, whole, whole_class && inside);
    add_numbers(f, &k, n, expected, inside);
}

/* Suppressed rows may be anything that the query asks for. */
static void add_suppressed(asked *a, found *f, const views *v)
{
    double n = (double)a->j->input->suppressed;
    bool   touches = n > 0;
    for (int c = 0; c < a->count; c++)
        touches = touches && (v->views[c][a->j->domains[a->columns[c]].released].flags & KN_VIEW_TOUCHES);
    if (!touches) return;
    f->upper += n;
    if (a->attribute < 0) return;
    known k = {v->spreads[a->j->domains[a->attribute].released], false, false};
    add_numbers(f, &k, n, 0, false);
}

static void set_answer(asked *a, const found *f)
{
    kn_answer *r = a->answer;
    double     low = isnan(f->likely_low) ? f->low : f->likely_low;
    double     high = isnan(f->likely_high) ? f->high : f->likely_high;
    r->estimate = finish(a->query->aggregate, f->rows, f->count, f->sum, low, high);
    switch (a->query->aggregate) {
    case KN_AGGREGATE_COUNT:
        r->lower = f->lower;
        r->upper = f->upper;
        return;
    case KN_AGGREGATE_SUM:
        r->lower = isnan(f->low) ? NAN : f->sum_lower;
        r->upper = isnan(f->low) ? NAN : f->sum_upper;
        return;
    case KN_AGGREGATE_AVG:
        r->lower = f->partial ? f->low : f->even > 0 ? f->even_lower / f->even : NAN;
        r->upper = f->partial ? f->high : f->even > 0 ? f->even_upper / f->even : NAN;
        return;
    case KN_AGGREGATE_MIN:
        r->lower = f->low;
        r->upper = isnan(f->certain_low) ? f->high : f->certain_low;
        return;
    default: r->lower = isnan(f->certain_high) ? f->low : f->certain_high; r->upper = f->high;
    }
}

static kn_status answer_release(asked *a, kn_error *err)
{
    const kn_eval_side *side = &a->j->input->release;
    views               v;
    found f = {.low = NAN, .high = NAN, .likely_low = NAN, .likely_high = NAN, .certain_low = NAN, .certain_high = NAN};
    bool  whole = takes_whole_classes(a);
    KN_TRY(make_views(a, &v, err));
    a->answer->source = KN_ANSWER_COUNTED;
    if (a->attribute >= 0)
        a->answer->source = a->j->domains[a->attribute].column->shown ? KN_ANSWER_EXACT : KN_ANSWER_CELLS;
    for (int64_t i = 0; i < side->count; i++) add_combination(a, &f, &v, i, whole);
    add_suppressed(a, &f, &v);
    if (a->answer->source == KN_ANSWER_CELLS && isnan(f.low) && a->j->input->class_of)
        a->answer->source = KN_ANSWER_PUBLISHED; /* nothing had to be guessed */
    set_answer(a, &f);
    return KN_OK;
}

/* ---- Errors ---- */

static double relative_error(const asked *a)
{
    const kn_answer *r = a->answer;
    if (isnan(r->original) || isnan(r->estimate)) return isnan(r->original) == isnan(r->estimate) ? 0 : 1;
    double off = fabs(r->estimate - r->original), scale = fabs(r->original);
    if (off == 0) return 0;
    if (a->query->aggregate == KN_AGGREGATE_COUNT || a->query->aggregate == KN_AGGREGATE_SUM)
        return off / (scale > 1 ? scale : 1);
    const kn_eval_domain *d = &a->j->domains[a->attribute];
    double                extent = d->most - d->least;
    return extent > 0 ? off / extent : 1;
}

static kn_status answer_queries(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const job *j = arg;
    kn_arena   arena;
    kn_status  st = KN_OK;
    (void)worker;
    kn_arena_init(&arena, j->ctx);
    for (int64_t q = begin; st == KN_OK && q < end; q++) {
        asked a = {.j = j, .query = &j->input->workload->queries[q], .arena = &arena, .answer = &j->answers[q]};
        *a.answer = (kn_answer){0};
        st = prepare(&a, err);
        if (st == KN_OK) {
            answer_original(&a);
            st = answer_release(&a, err);
        }
        if (st == KN_OK) a.answer->error = relative_error(&a);
        kn_arena_free(&arena);
    }
    return st;
}

kn_status kn_workload_eval(kn_answer *answers, kn_context *ctx, const kn_eval_input *input, kn_error *err)
{
    kn_arena arena;
    job      j = {.input = input, .ctx = ctx, .answers = answers};
    kn_arena_init(&arena, ctx);
    j.domains = kn_arena_alloc(&arena, ((size_t)input->column_count + 1) * sizeof *j.domains);
    kn_status st = j.domains ? KN_OK : kn_fail_memory(err, ctx, what);
    for (int c = 0; st == KN_OK && c < input->column_count; c++)
        st = kn_eval_domain_make(&j.domains[c], &arena, input, c, err);
    if (st == KN_OK) st = kn_parallel_for(ctx, input->workload->query_count, 1, answer_queries, &j, err);
    kn_arena_free(&arena);
    return st;
}
