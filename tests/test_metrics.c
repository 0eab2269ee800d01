/* test_metrics.c: metrics of plans: every kind of cell against a naive twin that adds up cell by cell; full-domain plans
 * against the objective too; the examples of docs/metrics.md; the same figures on any number of threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "utility_testing.h"

#include <kanon/measure.h>

#include "kn_alloc.h"
#include "kn_metrics.h"
#include "kn_objective.h"

/* ---- Full-domain plans ---- */

static kn_plan *node_plan(kn_context *ctx, const world *w, const int *levels, const int *class_of, int classes,
                          const bool *suppressed)
{
    kn_error err = KN_ERROR_INIT;
    kn_plan *plan = NULL;
    uint32_t number[MOST_ROWS], released = 0;
    for (int c = 0; c < classes; c++) number[c] = suppressed[c] ? KN_CLASS_SUPPRESSED : released++;
    assert_ok(kn_plan_create(&plan, ctx, w->rows, w->quasi_count, released, &err), err);
    plan->level_count = w->quasi_count;
    plan->levels = kn_alloc_array(ctx, MOST_QUASI, sizeof *plan->levels);
    assert_non_null(plan->levels);
    memcpy(plan->levels, levels, (size_t)w->quasi_count * sizeof *levels);
    for (int r = 0; r < w->rows; r++) {
        uint32_t class_index = number[class_of[r]];
        plan->class_of_row[r] = class_index;
        if (class_index == KN_CLASS_SUPPRESSED) {
            plan->suppressed++;
            continue;
        }
        plan->class_rows[class_index]++;
        for (int q = 0; q < w->quasi_count; q++)
            plan->cells[class_index * (uint32_t)w->quasi_count + (uint32_t)q] = (kn_cell){
                KN_CELL_NODE,
                kn_hierarchy_of_code(w->hierarchies[q], kn_table_code(w->table, q, r), (uint32_t)levels[q]), 0};
    }
    return plan;
}

static void check_node(kn_context *ctx, const world *w, kn_rng *rng)
{
    int      levels[MOST_QUASI], class_of[MOST_ROWS], k = 1 + (int)kn_rng_below(rng, 4);
    bool     suppressed[MOST_ROWS];
    kn_ratio weights[MOST_QUASI];
    kn_error err = KN_ERROR_INIT;
    random_levels(w, rng, levels);
    random_weights(w, rng, weights);
    int classes = twin_classes(w, levels, class_of);
    for (int c = 0; c < classes; c++) suppressed[c] = kn_rng_below(rng, 3) == 0;
    kn_plan                   *plan = node_plan(ctx, w, levels, class_of, classes, suppressed);
    const kn_hierarchy *const *hierarchies = (const kn_hierarchy *const *)w->hierarchies;
    const char                *reason = NULL;
    if (!kn_plan_validate(plan, w->table, w->quasi, hierarchies, &reason)) fail_msg("not valid: %s", reason);
    kn_metrics *m = NULL;
    assert_ok(kn_metrics_of_plan(&m, ctx, w->table, w->quasi, hierarchies, weights, plan, k, &err), err);
    for (kn_metric metric = 0; metric < KN_METRICS; metric++) {
        long double expected = twin_metric(w, metric, levels, class_of, classes, suppressed, weights, k);
        assert_near(m->value[metric], expected, "metric");
        kn_objective *o = NULL;
        assert_ok(kn_objective_make(&o, ctx, w->table, w->quasi, hierarchies, w->quasi_count, weights, metric, k, &err),
                  err);
        kn_node_sums s = {.suppressed = plan->suppressed, .classes = plan->classes};
        for (int r = 0; r < w->rows; r++)
            for (int p = 0; p < w->rows; p++)
                if (class_of[r] == class_of[p]) (*(suppressed[class_of[r]] ? &s.suppressed_squares : &s.squares))++;
        s.rows = w->rows - plan->suppressed;
        for (int r = 0; r < w->rows && o->cells; r++)
            for (int q = 0; q < w->quasi_count && !suppressed[class_of[r]]; q++)
                s.cells += o->costs[q][(size_t)levels[q] * (o->codes[q] + 1) + kn_table_code(w->table, q, r)];
        assert_near(kn_objective_value(o, kn_objective_loss(o, &s)), (long double)m->value[metric], "objective");
        kn_objective_free(o);
    }
    kn_metrics_free(m);
    kn_plan_free(plan);
}

static void full_domain_plans_agree_with_twin_and_objective(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *ctx = testing_context(2);
    kn_rng_init(&rng, testing_seed(), 2);
    for (int round = 0; round < testing_rounds(1500); round++) {
        world w;
        world_make(&w, ctx, &rng);
        check_node(ctx, &w, &rng);
        world_free(&w);
    }
    testing_context_free(ctx);
}

/* ---- Plans with every kind of cell ---- */

/* What a cell covers, as the twin knows it. */
typedef struct twin_cover_of {
    long double lm, ncp, prec;
    int         rows;
} twin_cover_of;

static int leaf_of_code(const world *w, int q, uint32_t code)
{
    size_t      length;
    const char *text = kn_table_text(w->table, q, code, &length);
    if (!text) return MISSING_NODE;
    int id = (int)strtol(text + 1, NULL, 10);
    for (int leaf = 0; leaf < w->trees[q].leaves; leaf++)
        if (w->trees[q].path[leaf][w->trees[q].depth[leaf]] == id) return leaf;
    fail_msg("no such leaf");
    return 0;
}

/* Some values, in a hierarchy (`plain` false) or without one. */
static twin_cover_of cover_of_codes(const world *w, int q, const bool *covered, bool plain)
{
    const tree   *t = &w->trees[q];
    uint32_t      values = kn_table_distinct(w->table, q);
    int           n = 0, level = 0, domain = plain ? (int)values : t->leaves;
    bool          missing = covered[values];
    twin_cover_of out = {0, 0, 0, 0};
    for (uint32_t c = 0; c < values; c++) n += covered[c];
    for (int r = 0; r < w->rows; r++) out.rows += covered[kn_table_code(w->table, q, r)];
    if (n > 1) {
        out.lm = (long double)(n - 1) / (domain - 1);
        out.ncp = (long double)n / domain;
    }
    for (level = 0; level < t->height; level++) { /* the lowest level at which all are one */
        int  node = -2;
        bool one = true;
        for (uint32_t c = 0; c <= values; c++) {
            if (!covered[c]) continue;
            int here = twin_node(t, leaf_of_code(w, q, c), level);
            one = one && (node == -2 || node == here);
            node = here;
        }
        if (one) break;
    }
    out.prec = plain ? out.lm : n + missing > 1 ? (long double)level / t->height : 0;
    return out;
}

typedef struct planned {
    kn_plan      *plan;
    twin_cover_of covers[MOST_ROWS][MOST_QUASI]; /* per class */
} planned;

static void node_cell(const world *w, kn_rng *rng, int q, const int *rows, int count, kn_cell *cell,
                      twin_cover_of *cover)
{
    const tree *t = &w->trees[q];
    int         level = (int)kn_rng_below(rng, (uint64_t)t->height + 1), node;
    for (;; level++) {
        node = twin_node(t, w->leaf[rows[0]][q], level);
        bool one = true;
        for (int i = 1; i < count; i++) one = one && twin_node(t, w->leaf[rows[i]][q], level) == node;
        if (one) break;
    }
    *cell = (kn_cell){KN_CELL_NODE,
                      kn_hierarchy_of_code(w->hierarchies[q], kn_table_code(w->table, q, rows[0]), (uint32_t)level), 0};
    int covered = twin_cover(t, node);
    *cover = (twin_cover_of){0, 0, (long double)twin_level(t, w->leaf[rows[0]][q], level) / t->height,
                             twin_rows(w, q, node)};
    if (covered > 1) {
        cover->lm = (long double)(covered - 1) / (t->leaves - 1);
        cover->ncp = (long double)covered / t->leaves;
    }
}

/* A random cell that covers the rows. */
static void random_cell(const world *w, kn_rng *rng, int q, bool plain, const int *rows, int count, kn_plan *plan,
                        kn_cell *cell, twin_cover_of *cover)
{
    uint32_t values = kn_table_distinct(w->table, q), low = values, high = 0, members = 0;
    bool     covered[MOST_ROWS + 1] = {false};
    for (int i = 0; i < count; i++) {
        uint32_t code = kn_table_code(w->table, q, rows[i]);
        covered[code] = true;
        if (code < low) low = code;
        if (code > high) high = code;
    }
    uint64_t kind = kn_rng_below(rng, 5);
    if (kind == 0 && !plain) {
        node_cell(w, rng, q, rows, count, cell, cover);
        return;
    }
    if (kind == 1 && high < values) {
        low = (uint32_t)kn_rng_below(rng, low + 1);
        high += (uint32_t)kn_rng_below(rng, values - high);
        *cell = (kn_cell){KN_CELL_RANGE, low, high};
        for (uint32_t c = low; c <= high; c++) covered[c] = true;
    } else if (kind == 2 && low == high) {
        *cell = (kn_cell){KN_CELL_VALUE, low, 0};
    } else if (kind == 3) {
        *cell = (kn_cell){KN_CELL_STAR, 0, 0};
        /* A root says the same; above one leaf there is nothing to lose but the level. */
        uint64_t domain = plain ? values : (uint64_t)w->trees[q].leaves;
        *cover = (twin_cover_of){domain > 1, domain > 1, 1, w->rows};
        return;
    } else {
        for (uint32_t c = 0; c <= values; c++) covered[c] = covered[c] || kn_rng_below(rng, 4) == 0;
        *cell = (kn_cell){KN_CELL_SET, (uint32_t)plan->member_count, 0};
        for (uint32_t c = 0; c <= values; c++)
            if (covered[c]) plan->members[plan->member_count + members++] = c;
        plan->member_count += members;
        cell->b = members;
    }
    *cover = cover_of_codes(w, q, covered, plain);
}

static void random_plan(planned *out, kn_context *ctx, const world *w, kn_rng *rng, const bool *plain)
{
    kn_error err = KN_ERROR_INIT;
    uint32_t classes = w->rows ? 1 + (uint32_t)kn_rng_below(rng, (uint64_t)w->rows / 2 + 1) : 0;
    assert_ok(kn_plan_create(&out->plan, ctx, w->rows, w->quasi_count, classes, &err), err);
    kn_plan *plan = out->plan;
    plan->members = kn_alloc_array(ctx, MOST_ROWS * MOST_QUASI * (MOST_LEAVES + 2), sizeof *plan->members);
    assert_non_null(plan->members);
    for (int r = 0; r < w->rows; r++) {
        uint32_t class_index = (uint32_t)kn_rng_below(rng, classes + 1);
        if ((uint32_t)r < classes) class_index = (uint32_t)r; /* none is empty */
        plan->class_of_row[r] = class_index < classes ? class_index : KN_CLASS_SUPPRESSED;
        if (class_index < classes)
            plan->class_rows[class_index]++;
        else
            plan->suppressed++;
    }
    for (uint32_t c = 0; c < classes; c++) {
        int rows[MOST_ROWS], count = 0;
        for (int r = 0; r < w->rows; r++)
            if (plan->class_of_row[r] == c) rows[count++] = r;
        for (int q = 0; q < w->quasi_count; q++)
            random_cell(w, rng, q, plain[q], rows, count, plan, &plan->cells[(int)c * w->quasi_count + q],
                        &out->covers[c][q]);
    }
}

static void twin_of_plan(const world *w, const planned *p, long double (*sums)[4], long double *dm_star)
{
    for (int q = 0; q < w->quasi_count; q++)
        for (int r = 0; r < w->rows; r++) {
            const tree   *t = &w->trees[q];
            int           leaf = w->leaf[r][q], node = leaf == MISSING_NODE ? leaf : t->path[leaf][t->depth[leaf]];
            twin_cover_of c = {1, 1, 1, w->rows};
            if (p->plan->class_of_row[r] != KN_CLASS_SUPPRESSED) c = p->covers[p->plan->class_of_row[r]][q];
            sums[q][0] += c.lm;
            sums[q][1] += c.ncp;
            sums[q][2] += c.prec;
            sums[q][3] += log2l((long double)c.rows / twin_rows(w, q, node));
        }
    *dm_star = 0;
    for (int r = 0; r < w->rows; r++)
        for (int s = 0; s < w->rows; s++) {
            bool same = p->plan->class_of_row[r] == p->plan->class_of_row[s];
            for (int q = 0; same && q < w->quasi_count && p->plan->class_of_row[r] == KN_CLASS_SUPPRESSED; q++)
                same = w->leaf[r][q] == w->leaf[s][q];
            *dm_star += same;
        }
}

static void check_plan(kn_context *ctx, const world *w, kn_rng *rng)
{
    planned             p = {0};
    bool                plain[MOST_QUASI];
    const kn_hierarchy *hierarchies[MOST_QUASI];
    kn_ratio            weights[MOST_QUASI];
    kn_error            err = KN_ERROR_INIT;
    long double         sums[MOST_QUASI][4] = {{0}}, dm_star, total[4] = {0}, all = 0;
    for (int q = 0; q < w->quasi_count; q++) {
        plain[q] = kn_rng_below(rng, 3) == 0;
        hierarchies[q] = plain[q] ? NULL : w->hierarchies[q];
    }
    random_plan(&p, ctx, w, rng, plain);
    random_weights(w, rng, weights);
    twin_of_plan(w, &p, sums, &dm_star);
    kn_metrics *m = NULL;
    assert_ok(kn_metrics_of_plan(&m, ctx, w->table, w->quasi, hierarchies, weights, p.plan, 3, &err), err);
    for (int q = 0; q < w->quasi_count; q++) {
        long double weight = (long double)weights[q].numerator / (long double)weights[q].denominator;
        long double n = w->rows ? w->rows : 1;
        all += weight;
        for (int i = 0; i < 4; i++) total[i] += weight * sums[q][i];
        assert_near(m->per_attribute[q].lm, sums[q][0] / n, "lm of an attribute");
        assert_near(m->per_attribute[q].ncp, sums[q][1] / n, "ncp of an attribute");
        assert_near(m->per_attribute[q].prec, 1 - sums[q][2] / n, "prec of an attribute");
        assert_near(m->per_attribute[q].entropy, sums[q][3], "entropy of an attribute");
    }
    long double cells = w->rows ? all * w->rows : 1;
    assert_near(m->value[KN_METRIC_LM], total[0] / cells, "lm");
    assert_near(m->value[KN_METRIC_NCP], total[1] / cells, "ncp");
    assert_near(m->value[KN_METRIC_PREC], 1 - total[2] / cells, "prec");
    assert_near(m->value[KN_METRIC_ENTROPY], total[3], "entropy");
    assert_near(m->value[KN_METRIC_DM_STAR], dm_star, "dm_star");
    kn_metrics_free(m);
    assert_ok(kn_metrics_of_release(&m, ctx, w->table, w->quasi, hierarchies, weights, p.plan, 3, &err), err);
    assert_near(m->value[KN_METRIC_LM], total[0] / cells, "lm of a release");
    assert_true(isnan(m->value[KN_METRIC_DM_STAR]) == (p.plan->suppressed > 0));
    kn_metrics_free(m);
    kn_plan_free(p.plan);
}

static void any_plan_agrees_with_the_twin(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *ctx = testing_context(2);
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < testing_rounds(3000); round++) {
        world w;
        world_make(&w, ctx, &rng);
        check_plan(ctx, &w, &rng);
        world_free(&w);
    }
    testing_context_free(ctx);
}

/* ---- Intervals without a hierarchy ---- */

static void intervals_cost_their_width(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    const char *const names[] = {"age", "height", "born"};
    const char *const cells[] = {"20", "1.5",  "2000-01-01", "30", "1.75", "2000-01-11",
                                 "35", "1.75", "2000-01-31", "60", "2",    "2000-04-10"};
    const int         quasi[] = {0, 1, 2};
    kn_table         *t = NULL;
    kn_plan          *plan = NULL;
    kn_metrics       *m = NULL;
    kn_error          err = KN_ERROR_INIT;
    assert_ok(make_table(&t, ctx, names, 3, cells, 4, NULL, &err), err);
    assert_int_equal(t->columns[1].type, KN_TYPE_DECIMAL);
    assert_int_equal(t->columns[2].type, KN_TYPE_DATE);
    assert_ok(kn_plan_create(&plan, ctx, 4, 3, 1, &err), err);
    plan->class_rows[0] = 3; /* the first three; the last is suppressed */
    plan->class_of_row[3] = KN_CLASS_SUPPRESSED;
    plan->suppressed = 1;
    plan->cells[0] = (kn_cell){KN_CELL_RANGE, 0, 2}; /* 20-35 of 20-60      */
    plan->cells[1] = (kn_cell){KN_CELL_RANGE, 0, 1}; /* 1.5-1.75 of 1.5-2   */
    plan->cells[2] = (kn_cell){KN_CELL_RANGE, 0, 2}; /* 30 days of 100      */
    const kn_hierarchy *none[] = {NULL, NULL, NULL};
    assert_ok(kn_metrics_of_plan(&m, ctx, t, quasi, none, NULL, plan, 3, &err), err);
    const long double expected[] = {(3 * 15 / 40.0L + 1) / 4, (3 * 0.5L + 1) / 4, (3 * 0.3L + 1) / 4};
    for (int q = 0; q < 3; q++) {
        assert_near(m->per_attribute[q].lm, expected[q], "lm");
        assert_near(m->per_attribute[q].ncp, expected[q], "ncp");
        assert_near(m->per_attribute[q].prec, 1 - expected[q], "prec");
    }
    assert_near(m->per_attribute[0].entropy, 3 * log2l(3) + 2, "entropy");
    assert_near(m->value[KN_METRIC_LM], (expected[0] + expected[1] + expected[2]) / 3, "lm");
    assert_near(m->value[KN_METRIC_DM], 13, "dm");
    assert_near(m->value[KN_METRIC_DM_STAR], 10, "dm_star");
    assert_near(m->value[KN_METRIC_C_AVG], 1, "c_avg");
    kn_metrics_free(m);
    kn_plan_free(plan);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* ---- The example of docs/metrics.md ---- */

static void the_manual_is_right(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    const char *const names[] = {"age", "city"};
    const char *const cells[] = {"23", "Lyon", "24", "Lyon", "31", "Paris", "38", "Lille", "52", "Nice"};
    const int         quasi[] = {0, 1};
    kn_table         *t = NULL;
    kn_plan          *plan = NULL;
    kn_metrics       *m = NULL;
    kn_error          err = KN_ERROR_INIT;
    assert_ok(make_table(&t, ctx, names, 2, cells, 5, NULL, &err), err);
    kn_hierarchy *h[] = {hierarchy_of(ctx, "23;20-29;*\n24;20-29;*\n31;30-39;*\n38;30-39;*\n52;50-59;*\n", t, 0),
                         hierarchy_of(ctx, "Paris;North;*\nLille;North;*\nLyon;South;*\nNice;South;*\n", t, 1)};
    assert_ok(kn_plan_create(&plan, ctx, 5, 2, 2, &err), err);
    plan->level_count = 2;
    plan->levels = kn_alloc_array(ctx, 2, sizeof *plan->levels);
    assert_non_null(plan->levels);
    plan->levels[0] = plan->levels[1] = 1;
    for (int r = 0; r < 4; r++) {
        plan->class_of_row[r] = (uint32_t)r / 2;
        for (int q = 0; q < 2; q++)
            plan->cells[r / 2 * 2 + q] =
                (kn_cell){KN_CELL_NODE, kn_hierarchy_of_code(h[q], kn_table_code(t, q, r), 1), 0};
    }
    plan->class_of_row[4] = KN_CLASS_SUPPRESSED;
    plan->suppressed = 1;
    plan->class_rows[0] = plan->class_rows[1] = 2;
    assert_ok(kn_metrics_of_plan(&m, ctx, t, quasi, (const kn_hierarchy *const *)h, NULL, plan, 2, &err), err);
    assert_near(m->per_attribute[0].lm, 2 / 5.0L, "lm of age");
    assert_near(m->per_attribute[1].lm, 7 / 15.0L, "lm of city");
    assert_near(m->value[KN_METRIC_LM], 13 / 30.0L, "lm");
    assert_near(m->per_attribute[0].ncp, 13 / 25.0L, "ncp of age");
    assert_near(m->per_attribute[1].ncp, 3 / 5.0L, "ncp of city");
    assert_near(m->value[KN_METRIC_NCP], 14 / 25.0L, "ncp");
    assert_near(m->value[KN_METRIC_PREC], 2 / 5.0L, "prec");
    assert_near(m->per_attribute[0].entropy, 4 + log2l(5), "entropy of age");
    assert_near(m->per_attribute[1].entropy, 2 * log2l(1.5L) + 2 + log2l(5), "entropy of city");
    assert_near(m->value[KN_METRIC_DM], 13, "dm");
    assert_near(m->value[KN_METRIC_DM_STAR], 9, "dm_star");
    assert_near(m->value[KN_METRIC_C_AVG], 1, "c_avg");
    kn_metrics_free(m);
    kn_plan_free(plan);
    kn_hierarchy_free(h[0]);
    kn_hierarchy_free(h[1]);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* ---- From files alone ---- */

/* What kn_measure reads: both files and a spec. */
typedef struct files {
    const char *original, *release;
    kn_spec    *spec;
} files;

static size_t put_cell(char *to, const tree *t, int node)
{
    if (node == MISSING_NODE) return (size_t)sprintf(to, ",");
    if (node == ROOT) return (size_t)sprintf(to, "*,");
    for (int leaf = 0; leaf < t->leaves; leaf++)
        if (t->path[leaf][t->depth[leaf]] == node) return (size_t)sprintf(to, "v%d,", node);
    return (size_t)sprintf(to, "g%d,", node);
}

static files write_files(kn_context *ctx, const world *w, const int *levels, const int *class_of,
                         const bool *suppressed, bool drop, const kn_ratio *weights, int k, int number)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static char              original[8192], release[8192], text[4096];
    char                     name[64];
    kn_error                 err = KN_ERROR_INIT;
    size_t                   o = 0, r = 0;
    files                    f = {NULL, NULL, NULL};
    assert_ok(kn_spec_create(&f.spec, ctx, &err), err);
    for (int q = 0; q < w->quasi_count; q++) {
        const tree *t = &w->trees[q];
        size_t      used = 0;
        for (int leaf = 0; leaf < t->leaves; leaf++) {
            for (int d = t->depth[leaf]; d > 0; d--)
                used += (size_t)sprintf(text + used, "%c%d;", d == t->depth[leaf] ? 'v' : 'g', t->path[leaf][d]);
            used += (size_t)sprintf(text + used, "*\n");
        }
        snprintf(name, sizeof name, "h%d-%d.csv", number, q);
        snprintf(text + used + 1, sizeof text - used - 1, "{type: text, weight: %llu, hierarchy: \"%s\"}",
                 (unsigned long long)weights[q].numerator, testing_file(name, text, used));
        assert_ok(kn_spec_set_role(f.spec, names[q], KN_ROLE_QUASI, &err), err);
        assert_ok(kn_spec_set_attribute(f.spec, names[q], text + used + 1, "test", &err), err);
        o += (size_t)sprintf(original + o, "%s,", names[q]);
        r += (size_t)sprintf(release + r, "%s,", names[q]);
    }
    o += (size_t)sprintf(original + o, "s\n");
    r += (size_t)sprintf(release + r, "s\n");
    for (int row = 0; row < w->rows; row++) {
        bool gone = suppressed[class_of[row]];
        for (int q = 0; q < w->quasi_count; q++) {
            const tree *t = &w->trees[q];
            int         leaf = w->leaf[row][q];
            o += put_cell(original + o, t, twin_node(t, leaf, 0));
            if (!gone) r += put_cell(release + r, t, twin_node(t, leaf, levels[q]));
            if (gone && !drop) r += (size_t)sprintf(release + r, "*,");
        }
        o += (size_t)sprintf(original + o, "x\n");
        if (!gone || !drop) r += (size_t)sprintf(release + r, gone ? "*\n" : "x\n");
    }
    kn_model model = KN_MODEL_INIT;
    model.k = k;
    assert_ok(kn_spec_set_model(f.spec, &model, &err), err);
    snprintf(name, sizeof name, "o%d.csv", number);
    f.original = testing_file(name, original, o);
    snprintf(name, sizeof name, "r%d.csv", number);
    f.release = testing_file(name, release, r);
    return f;
}

static const char *text_file(const char *name, const char *text)
{
    return testing_file(name, text, strlen(text));
}

static kn_status measure_files(kn_measure_report **out, kn_context *ctx, const files *f, kn_error *err)
{
    kn_measure_options options = KN_MEASURE_OPTIONS_INIT;
    options.originals = &f->original;
    options.original_count = 1;
    options.release = f->release;
    return kn_measure(out, ctx, f->spec, &options, err);
}

static void releases_are_measured_from_files(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *ctx = testing_context(1);
    kn_rng_init(&rng, testing_seed(), 6);
    for (int round = 0; round < testing_rounds(100); round++) {
        world              w;
        int                levels[MOST_QUASI], class_of[MOST_ROWS], k = 1 + (int)kn_rng_below(&rng, 4), released = 0;
        bool               suppressed[MOST_ROWS], any = false;
        kn_ratio           weights[MOST_QUASI];
        kn_measure_report *m = NULL;
        kn_error           err = KN_ERROR_INIT;
        world_make(&w, ctx, &rng);
        random_levels(&w, &rng, levels);
        for (int q = 0; q < w.quasi_count; q++) weights[q] = (kn_ratio){1 + kn_rng_below(&rng, 3), 1};
        int classes = twin_classes(&w, levels, class_of);
        for (int c = 0; c < classes; c++) any = (suppressed[c] = kn_rng_below(&rng, 4) == 0) || any;
        files f = write_files(ctx, &w, levels, class_of, suppressed, kn_rng_below(&rng, 2), weights, k, round);
        assert_ok(measure_files(&m, ctx, &f, &err), err);
        for (kn_metric metric = 0; metric < KN_METRICS; metric++) {
            long double expected = twin_metric(&w, metric, levels, class_of, classes, suppressed, weights, k);
            if (metric == KN_METRIC_DM_STAR && any) /* the levels are guessed: never too high */
                assert_true(isnan(m->metrics[metric]) || m->metrics[metric] <= (double)expected);
            else
                assert_near(m->metrics[metric], expected, kn_metric_name(metric));
        }
        for (int r = 0; r < w.rows; r++) released += !suppressed[class_of[r]];
        assert_int_equal(m->rows, w.rows);
        assert_int_equal(m->released, released);
        assert_int_equal(m->suppressed, w.rows - released);
        kn_measure_report_free(m);
        kn_spec_free(f.spec);
        world_free(&w);
    }
    testing_context_free(ctx);
}

static void measuring_may_run_out_of_memory(void **state)
{
    (void)state;
    kn_context *plain = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    const char *hierarchy = text_file("m-h.csv", "x;g;*\ny;g;*\nz;f;*\n");
    char        text[300];
    files       f = {text_file("m-o.csv", "a,n,s\nx,1,p\ny,2,q\nz,,q\nz,5,q\n"),
                     text_file("m-r.csv", "a,n,s\ng,1-2,p\ng,[1-2],q\n{x;z},,q\n*,*,*\n"), NULL};
    assert_ok(kn_spec_create(&f.spec, plain, &err), err);
    snprintf(text, sizeof text, "{hierarchy: \"%s\"}", hierarchy);
    assert_ok(kn_spec_set_role(f.spec, "a", KN_ROLE_QUASI, &err), err);
    assert_ok(kn_spec_set_role(f.spec, "n", KN_ROLE_QUASI, &err), err);
    assert_ok(kn_spec_set_attribute(f.spec, "a", text, "test", &err), err);
    kn_status st = KN_MEMORY;
    for (int64_t at = 0; st != KN_OK; at += testing_step()) {
        testing_allocator  memory = {.refuse_at = at};
        kn_context        *ctx = NULL;
        kn_measure_report *m = NULL;
        st = testing_refusing_context(&ctx, &memory, 1, &err);
        if (st == KN_OK) st = measure_files(&m, ctx, &f, &err);
        if (st != KN_OK) {
            if (st != KN_MEMORY) fail_msg("request %d: %s", (int)at, err.message);
        } else {
            assert_int_equal(m->classes, 2); /* 1-2 and [1-2] are the same */
            assert_int_equal(m->k, 1);
            assert_true(isnan(m->metrics[KN_METRIC_DM_STAR]));
        }
        kn_measure_report_free(m);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
    kn_spec_free(f.spec);
    testing_context_free(plain);
}

/* ---- Threads and memory ---- */

static void threads_do_not_matter(void **state)
{
    (void)state;
    enum { ROWS = 60000, CLASSES = 30000 };
    double             values[2][KN_METRICS];
    long double        spans = 0;
    const char *const  names[] = {"a"};
    static char        texts[ROWS][12];
    static const char *cells[ROWS];
    for (int r = 0; r < ROWS; r++) {
        snprintf(texts[r], sizeof texts[r], "%d.%d", r % 997, r % 7);
        cells[r] = texts[r];
    }
    for (int run = 0; run < 2; run++) {
        kn_context         *ctx = testing_context(run ? 8 : 1);
        kn_table           *t = NULL;
        kn_plan            *plan = NULL;
        kn_metrics         *m = NULL;
        kn_error            err = KN_ERROR_INIT;
        const int           quasi = 0;
        const kn_hierarchy *none = NULL;
        assert_ok(make_table(&t, ctx, names, 1, cells, ROWS, NULL, &err), err);
        uint32_t values_count = kn_table_distinct(t, 0);
        assert_ok(kn_plan_create(&plan, ctx, ROWS, 1, CLASSES, &err), err);
        for (uint32_t c = 0; c < CLASSES; c++) {
            plan->class_rows[c] = 1 + c % 2;
            plan->cells[c] =
                (kn_cell){KN_CELL_RANGE, c % (values_count / 2), values_count / 2 + c % (values_count / 2)};
        }
        const double *numbers = t->columns[0].dict.decimals;
        long double   width = (long double)numbers[values_count - 1] - numbers[0];
        spans = 0;
        for (uint32_t c = 0; c < CLASSES; c++)
            spans += ((long double)numbers[plan->cells[c].b] - numbers[plan->cells[c].a]) / width *
                     (long double)plan->class_rows[c];
        for (int r = 0; r < ROWS; r++) plan->class_of_row[r] = r < 45000 ? 0 : KN_CLASS_SUPPRESSED;
        plan->suppressed = 15000;
        assert_ok(kn_metrics_of_plan(&m, ctx, t, &quasi, &none, NULL, plan, 3, &err), err);
        memcpy(values[run], m->value, sizeof values[run]);
        kn_metrics_free(m);
        kn_plan_free(plan);
        kn_table_free(t);
        testing_context_free(ctx);
    }
    assert_memory_equal(values[0], values[1], sizeof values[0]);
    assert_near(values[0][KN_METRIC_LM], (spans + 15000) / ROWS, "lm");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_context *plain = testing_context(1);
    kn_rng      rng;
    world       w;
    planned     p = {0};
    const bool  with[MOST_QUASI] = {false};
    kn_rng_init(&rng, 11, 0);
    for (;;) { /* with suppressed rows, so that dm_star has work */
        world_make(&w, plain, &rng);
        random_plan(&p, plain, &w, &rng, with);
        if (p.plan->suppressed > 0) break;
        kn_plan_free(p.plan);
        world_free(&w);
    }
    for (int node = 0; node < 2; node++) {
        if (node) {
            p.plan->level_count = w.quasi_count;
            p.plan->levels = kn_alloc_zero(plain, sizeof(int) * MOST_QUASI);
            assert_non_null(p.plan->levels);
        }
        kn_status st = KN_MEMORY;
        for (int64_t at = 0; st != KN_OK; at += testing_step()) {
            testing_allocator memory = {.refuse_at = at};
            kn_context       *ctx = NULL;
            kn_metrics       *m = NULL;
            kn_error          err = KN_ERROR_INIT;
            st = testing_refusing_context(&ctx, &memory, 1, &err);
            if (st == KN_OK)
                st = kn_metrics_of_plan(&m, ctx, w.table, w.quasi, (const kn_hierarchy *const *)w.hierarchies, NULL,
                                        p.plan, 2, &err);
            if (st != KN_OK) assert_int_equal(st, KN_MEMORY);
            kn_metrics_free(m);
            kn_context_free(ctx);
            assert_int_equal(memory.live, 0);
        }
    }
    kn_plan_free(p.plan);
    world_free(&w);
    testing_context_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_domain_plans_agree_with_twin_and_objective),
        cmocka_unit_test(any_plan_agrees_with_the_twin),
        cmocka_unit_test(intervals_cost_their_width),
        cmocka_unit_test(the_manual_is_right),
        cmocka_unit_test(releases_are_measured_from_files),
        cmocka_unit_test(measuring_may_run_out_of_memory),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
