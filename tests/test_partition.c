/* test_partition.c: the Mondrian family against plain recursion over lists of rows, and what every partition must be:
 * large enough, covering, disjoint, without an allowable cut left, within the bound, the same on any number of threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/spec.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_exchange.h"
#include "kn_mondrian.h"
#include "kn_neighbours.h"
#include "kn_rng.h"

enum { MOST_DIMENSIONS = 4, MOST_ROWS = 160 };

/* ---- A random problem ---- */

typedef struct setting {
    kn_table            *table;
    int                  dimensions;
    int                  quasi[MOST_DIMENSIONS];
    kn_hierarchy        *made[MOST_DIMENSIONS];
    const kn_hierarchy  *hierarchies[MOST_DIMENSIONS];
    bool                 ordered[MOST_DIMENSIONS];
    kn_model             models[2];
    kn_requirements     *requirements;
    kn_partition_problem problem;
} setting;

static kn_table *random_table(kn_context *ctx, kn_rng *rng, int rows, bool missing)
{
    static int serial;
    char       name[32], *text = malloc((size_t)rows * 64 + 64);
    size_t     n = (size_t)sprintf(text, "a,b,c,d,s\n");
    int        spread = 2 + (int)kn_rng_below(rng, 12);
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < MOST_DIMENSIONS; c++) {
            int v = (int)kn_rng_below(rng, (uint64_t)spread);
            if (missing && kn_rng_below(rng, 10) == 0)
                n += (size_t)sprintf(text + n, ",");
            else if (c < 2)
                n += (size_t)sprintf(text + n, "%d,", v * v); /* uneven gaps between numbers */
            else
                n += (size_t)sprintf(text + n, "%c%c,", 'a' + v / 4, 'a' + v % 4);
        }
        n += (size_t)sprintf(text + n, "s%d\n", (int)kn_rng_below(rng, 3));
    }
    snprintf(name, sizeof name, "points%d.csv", serial++ % 20);
    const char *path = testing_file(name, text, n);
    free(text);
    kn_table *table = NULL;
    kn_error  err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, path, NULL, &err), err);
    return table;
}

static setting random_setting(kn_context *ctx, kn_rng *rng, int rows, bool missing, bool trees)
{
    setting s = {.dimensions = 1 + (int)kn_rng_below(rng, MOST_DIMENSIONS)};
    s.table = random_table(ctx, rng, rows, missing);
    kn_error    err = KN_ERROR_INIT;
    const char *widths[] = {"5", "20", "60"};
    for (int q = 0; q < s.dimensions; q++) {
        kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
        s.quasi[q] = (q + (int)kn_rng_below(rng, 2) * 2) % MOST_DIMENSIONS;
        for (int other = 0; other < q; other++)
            if (s.quasi[other] == s.quasi[q]) s.quasi[q] = -1;
        if (s.quasi[q] < 0) { /* that column is taken: fewer dimensions */
            s.dimensions = q;
            break;
        }
        if (!trees || kn_rng_below(rng, 3) == 0) continue;
        bool number = kn_table_type(s.table, s.quasi[q]) == KN_TYPE_INTEGER;
        spec.kind = number ? KN_HIERARCHY_RANGES : KN_HIERARCHY_MASK;
        spec.widths = widths;
        spec.width_count = 3;
        assert_ok(kn_hierarchy_make(&s.made[q], ctx, s.table, s.quasi[q], &spec, false, &err), err);
        s.hierarchies[q] = s.made[q];
        s.ordered[q] = kn_rng_below(rng, 3) == 0;
    }
    return s;
}

static void finish_setting(setting *s, kn_context *ctx, int64_t k, int l, kn_method method, kn_choose choose)
{
    kn_error err = KN_ERROR_INIT;
    s->models[0] = (kn_model){.kind = KN_MODEL_K, .k = k};
    s->models[1] = (kn_model){.kind = KN_MODEL_DISTINCT, .attribute = "s", .l = {(uint64_t)l, 1}};
    kn_requirements_options options = {s->models, l > 1 ? 2 : 1, -1, NULL, false};
    assert_ok(kn_requirements_make(&s->requirements, ctx, s->table, &options, &err), err);
    s->problem = (kn_partition_problem){.table = s->table,
                                        .quasi_count = s->dimensions,
                                        .quasi = s->quasi,
                                        .hierarchies = s->hierarchies,
                                        .ordered = s->ordered,
                                        .requirements = s->requirements,
                                        .method = method,
                                        .choose = choose};
}

static void free_setting(setting *s)
{
    kn_requirements_free(s->requirements);
    for (int q = 0; q < s->dimensions; q++) kn_hierarchy_free(s->made[q]);
    kn_table_free(s->table);
}

/* ---- The naive twin: strict and relaxed, on lists of rows ---- */

typedef struct twin {
    const setting *s;
    int            k, l;
    bool           relaxed;
    int            class_of[MOST_ROWS];
    int            classes;
} twin;

static const kn_column *column_of(const setting *s, int q)
{
    return &s->table->columns[s->quasi[q]];
}

static uint32_t position(const setting *s, int q, int row)
{
    uint32_t code = kn_column_code(column_of(s, q), row);
    return s->hierarchies[q] ? s->hierarchies[q]->leaf_of_code[code] : code;
}

static uint32_t missing_position(const setting *s, int q)
{
    return s->hierarchies[q] ? kn_hierarchy_leaves(s->hierarchies[q]) : column_of(s, q)->dict.count;
}

static bool by_nodes(const setting *s, int q)
{
    return s->hierarchies[q] && !s->ordered[q];
}

static bool may_be_class(const twin *t, const int *rows, int n)
{
    bool seen[4] = {false};
    int  values = 0;
    for (int i = 0; i < n; i++) {
        uint32_t v = kn_table_code(t->s->table, 4, rows[i]);
        values += !seen[v];
        seen[v] = true;
    }
    return n >= t->k && values >= t->l;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double number_at(const setting *s, int q, uint32_t code)
{
    return (double)column_of(s, q)->dict.integers[code];
}

static double width_of(const setting *s, int q, uint32_t low, uint32_t high)
{
    uint32_t positions = missing_position(s, q);
    if (low == high) return 0;
    if (high == positions) return 1;
    if (by_nodes(s, q)) {
        uint32_t node = kn_hierarchy_lca_span(s->hierarchies[q], low, high);
        return (kn_hierarchy_cover(s->hierarchies[q], node) - 1.0) / (positions - 1.0);
    }
    if (!s->hierarchies[q] && column_of(s, q)->type == KN_TYPE_INTEGER)
        return (number_at(s, q, high) - number_at(s, q, low)) / (number_at(s, q, positions - 1) - number_at(s, q, 0));
    return (double)(high - low) / (positions - 1.0);
}

/* Splits rows by "low <= position <= high"; true if both sides may be classes. */
static bool split(const twin *t, int q, uint32_t low, uint32_t high, const int *rows, int n, int *first, int *nf,
                  int *second, int *ns)
{
    *nf = *ns = 0;
    for (int i = 0; i < n; i++) {
        uint32_t p = position(t->s, q, rows[i]);
        if (p >= low && p <= high)
            first[(*nf)++] = rows[i];
        else
            second[(*ns)++] = rows[i];
    }
    return *nf > 0 && *ns > 0 && may_be_class(t, first, *nf) && may_be_class(t, second, *ns);
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Rows below the median, then those that equal it by row number, then the rest: the first half is one side. */
static bool halve(const twin *t, int q, uint32_t median, const int *rows, int n, int *first, int *nf, int *second,
                  int *ns)
{
    int sorted[MOST_ROWS], count = 0;
    int own[MOST_ROWS];
    memcpy(own, rows, (size_t)n * sizeof *own);
    qsort(own, (size_t)n, sizeof *own, compare_ints);
    for (int part = 0; part < 3; part++)
        for (int i = 0; i < n; i++) {
            uint32_t p = position(t->s, q, own[i]);
            if ((p < median && part == 0) || (p == median && part == 1) || (p > median && part == 2))
                sorted[count++] = own[i];
        }
    *nf = n / 2;
    *ns = n - n / 2;
    memcpy(first, sorted, (size_t)*nf * sizeof *first);
    memcpy(second, sorted + *nf, (size_t)*ns * sizeof *second);
    return may_be_class(t, first, *nf) && may_be_class(t, second, *ns);
}

static bool twin_children(const twin *t, int q, const int *rows, int n, uint32_t low, uint32_t high, int *first,
                          int *nf, int *second, int *ns)
{
    const kn_hierarchy *h = t->s->hierarchies[q];
    uint32_t            parent = kn_hierarchy_lca_span(h, low, high), tried[4];
    for (int tries = 0; tries < 4; tries++) {
        uint32_t best = KN_NODE_NONE;
        int      best_gap = 0;
        for (uint32_t c = kn_hierarchy_child(h, parent); c != KN_NODE_NONE; c = kn_hierarchy_sibling(h, c)) {
            int  in = 0;
            bool seen = false;
            for (int i = 0; i < n; i++) in += kn_hierarchy_covers(h, c, position(t->s, q, rows[i]));
            for (int i = 0; i < tries; i++) seen |= tried[i] == c;
            int gap = abs(2 * in - n);
            if (!seen && in >= t->k && n - in >= t->k && (best == KN_NODE_NONE || gap < best_gap)) {
                best = c;
                best_gap = gap;
            }
        }
        if (best == KN_NODE_NONE) return false;
        if (split(t, q, h->first[best], h->last[best] - 1, rows, n, first, nf, second, ns)) return true;
        tried[tries] = best;
    }
    return false;
}

static bool twin_cut(const twin *t, int q, const int *rows, int n, int *first, int *nf, int *second, int *ns)
{
    uint32_t sorted[MOST_ROWS], none = missing_position(t->s, q);
    for (int i = 0; i < n; i++) sorted[i] = position(t->s, q, rows[i]);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_numbers);
    uint32_t low = sorted[0], high = sorted[n - 1], median = sorted[(n + 1) / 2 - 1];
    if (low == high) return false;
    if (high == none && split(t, q, 0, none - 1, rows, n, first, nf, second, ns)) return true;
    if (t->relaxed) return halve(t, q, median, rows, n, first, nf, second, ns);
    if (by_nodes(t->s, q)) {
        for (int i = n - 1; high == none; i--) high = sorted[i];
        return low != high && twin_children(t, q, rows, n, low, high, first, nf, second, ns);
    }
    if (split(t, q, 0, median, rows, n, first, nf, second, ns)) return true;
    return median > 0 && split(t, q, 0, median - 1, rows, n, first, nf, second, ns);
}

static void twin_anonymize(twin *t, const int *rows, int n)
{
    int  first[MOST_ROWS], second[MOST_ROWS], nf = 0, ns = 0;
    bool used[MOST_DIMENSIONS] = {false};
    for (int round = 0; round < t->s->dimensions; round++) {
        int    best = -1;
        double most = -1;
        for (int q = 0; q < t->s->dimensions; q++) {
            uint32_t low = UINT32_MAX, high = 0;
            for (int i = 0; i < n; i++) {
                uint32_t p = position(t->s, q, rows[i]);
                if (p < low) low = p;
                if (p > high) high = p;
            }
            double width = width_of(t->s, q, low, high);
            if (used[q] || width <= most) continue;
            most = width;
            best = q;
        }
        used[best] = true;
        if (!twin_cut(t, best, rows, n, first, &nf, second, &ns)) continue;
        twin_anonymize(t, first, nf);
        twin_anonymize(t, second, ns);
        return;
    }
    for (int i = 0; i < n; i++) t->class_of[rows[i]] = t->classes;
    t->classes++;
}

/* ---- Properties of regions ---- */

static int region_rows(const kn_space *space, kn_region region, int *rows)
{
    for (uint32_t i = region.begin; i < region.end; i++) rows[i - region.begin] = (int)kn_space_row(space, i);
    return (int)(region.end - region.begin);
}

/* No cut of an ordered dimension leaves k rows on both sides; no child of a node has k rows beside k others. */
static void assert_minimal(const twin *t, const int *rows, int n)
{
    for (int q = 0; q < t->s->dimensions; q++) {
        uint32_t none = missing_position(t->s, q);
        int      a[MOST_ROWS], b[MOST_ROWS], na, nb;
        if (by_nodes(t->s, q)) {
            const kn_hierarchy *h = t->s->hierarchies[q];
            uint32_t            low = UINT32_MAX, high = 0;
            for (int i = 0; i < n; i++) {
                uint32_t p = position(t->s, q, rows[i]);
                if (p == none) continue;
                low = p < low ? p : low;
                high = p > high ? p : high;
            }
            if (low > high) continue;
            uint32_t parent = kn_hierarchy_lca_span(h, low, high);
            for (uint32_t c = kn_hierarchy_child(h, parent); c != KN_NODE_NONE; c = kn_hierarchy_sibling(h, c))
                assert_false(split(t, q, h->first[c], h->last[c] - 1, rows, n, a, &na, b, &nb));
        } else
            for (uint32_t p = 0; p <= none; p++) assert_false(split(t, q, 0, p, rows, n, a, &na, b, &nb));
    }
}

static bool disjoint(const twin *t, const int *a, int na, const int *b, int nb)
{
    for (int q = 0; q < t->s->dimensions; q++) {
        bool meet = false;
        for (int i = 0; i < na && !meet; i++)
            for (int j = 0; j < nb && !meet; j++) meet = position(t->s, q, a[i]) == position(t->s, q, b[j]);
        if (!meet) return true;
    }
    return false;
}

static int most_copies(const setting *s)
{
    int most = 0;
    for (int a = 0; a < s->table->rows; a++) {
        int copies = 0;
        for (int b = 0; b < s->table->rows; b++) {
            bool same = true;
            for (int q = 0; q < s->dimensions; q++) same &= position(s, q, a) == position(s, q, b);
            copies += same;
        }
        if (copies > most) most = copies;
    }
    return most;
}

static void check_regions(const twin *t, const kn_space *space, const kn_regions *regions)
{
    int  rows[MOST_ROWS], other[MOST_ROWS], covered = 0;
    bool plain = true;
    for (int q = 0; q < t->s->dimensions; q++) plain &= !t->s->hierarchies[q];
    int bound = 2 * t->s->dimensions * (t->k - 1) + most_copies(t->s);
    for (size_t r = 0; r < regions->count; r++) {
        int n = region_rows(space, regions->items[r], rows);
        covered += n;
        assert_true(may_be_class(t, rows, n));
        for (int i = 1; i < n; i++) assert_int_equal(t->class_of[rows[i]], t->class_of[rows[0]]);
        if (t->relaxed) {
            if (t->l == 1 && n >= 2 * t->k) /* only equal points, or missing cells that could not be halved */
                for (int q = 0; q < t->s->dimensions; q++)
                    for (int i = 1; i < n; i++)
                        assert_int_equal(position(t->s, q, rows[i]), position(t->s, q, rows[0]));
            continue;
        }
        if (t->l == 1) assert_minimal(t, rows, n);
        if (t->l == 1 && plain) assert_true(n <= bound);
        for (size_t o = 0; o < r; o++)
            assert_true(disjoint(t, rows, n, other, region_rows(space, regions->items[o], other)));
    }
    assert_int_equal(covered, t->s->table->rows);
    assert_int_equal(regions->count, t->classes);
}

static void test_against_the_twin(void **state)
{
    kn_rng rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(400); round++) {
        kn_context *ctx = testing_context(1 + (int)kn_rng_below(&rng, 2));
        int         rows = 2 + (int)kn_rng_below(&rng, MOST_ROWS - 2), all[MOST_ROWS];
        setting     s = random_setting(ctx, &rng, rows, kn_rng_below(&rng, 3) == 0, kn_rng_below(&rng, 2));
        twin        t = {.s = &s, .k = 1 + (int)kn_rng_below(&rng, 6), .l = 1 + (int)kn_rng_below(&rng, 2)};
        kn_error    err = KN_ERROR_INIT;
        if (kn_table_distinct(s.table, 4) < 2) t.l = 1;
        t.relaxed = kn_rng_below(&rng, 3) == 0;
        for (int i = 0; i < rows; i++) all[i] = i;
        finish_setting(&s, ctx, t.k, t.l, t.relaxed ? KN_METHOD_MONDRIAN_RELAXED : KN_METHOD_MONDRIAN, KN_CHOOSE_RANGE);
        if (may_be_class(&t, all, rows)) {
            kn_space              space;
            kn_regions            regions;
            kn_partition_counters counters = {0};
            twin_anonymize(&t, all, rows);
            assert_ok(kn_space_make(&space, ctx, &s.problem, &err), err);
            assert_ok(kn_mondrian_run(&regions, &counters, &space, &s.problem, &err), err);
            check_regions(&t, &space, &regions);
            kn_space_free(&space);
            kn_free(regions.items);
        }
        free_setting(&s);
        testing_context_free(ctx);
    }
}

/* ---- Plans of every method, every choice, on any number of threads ---- */

static void check_plan(const setting *s, const kn_plan *plan, int k)
{
    const char *reason = "";
    if (!kn_plan_validate(plan, s->table, s->quasi, s->hierarchies, &reason)) fail_msg("%s", reason);
    assert_int_equal(plan->suppressed, 0);
    for (uint32_t c = 0; c < plan->classes; c++) assert_true(plan->class_rows[c] >= k);
}

static bool same_plans(const kn_plan *a, const kn_plan *b)
{
    return a->classes == b->classes && a->member_count == b->member_count &&
           memcmp(a->class_of_row, b->class_of_row, (size_t)a->rows * sizeof *a->class_of_row) == 0 &&
           memcmp(a->cells, b->cells, (size_t)a->classes * (size_t)a->quasi_count * sizeof *a->cells) == 0 &&
           (a->member_count == 0 || memcmp(a->members, b->members, a->member_count * sizeof *a->members) == 0);
}

enum { METHODS = 4 };
static const kn_method methods[METHODS] = {KN_METHOD_MONDRIAN, KN_METHOD_MONDRIAN_RELAXED, KN_METHOD_MONDRIAN_1D,
                                           KN_METHOD_MONDRIAN_BEST};

static void test_plans(void **state)
{
    kn_rng   rng;
    uint64_t seed = testing_seed();
    (void)state;
    for (int round = 0; round < testing_rounds(200); round++) {
        kn_plan    *plans[3] = {NULL};
        kn_context *contexts[3];
        setting     settings[3];
        kn_rng_init(&rng, seed, 1000 + (uint64_t)round);
        int rows = 2 + (int)kn_rng_below(&rng, round % 20 == 0 ? 5000 : MOST_ROWS), k = 1 + (int)kn_rng_below(&rng, 9);
        kn_method method = methods[kn_rng_below(&rng, METHODS)];
        kn_choose choose = (kn_choose)kn_rng_below(&rng, 3);
        bool      missing = kn_rng_below(&rng, 3) == 0, trees = kn_rng_below(&rng, 2), found[3];
        for (int i = 0; i < 3; i++) {
            kn_rng                again;
            kn_partition_counters counters;
            kn_error              err = KN_ERROR_INIT;
            contexts[i] = testing_context(i == 2 ? 8 : i + 1);
            kn_rng_init(&again, seed, 2000 + (uint64_t)round);
            settings[i] = random_setting(contexts[i], &again, rows, missing, trees);
            finish_setting(&settings[i], contexts[i], k, 1, method, choose);
            assert_ok(kn_partition_search(&plans[i], &found[i], &counters, contexts[i], &settings[i].problem, &err),
                      err);
            assert_int_equal(found[i], rows >= k);
            if (found[i]) check_plan(&settings[i], plans[i], k);
            if (found[i]) assert_true(same_plans(plans[i], plans[0]));
        }
        for (int i = 0; i < 3; i++) {
            kn_plan_free(plans[i]);
            free_setting(&settings[i]);
            testing_context_free(contexts[i]);
        }
    }
}

/* A value is released the same way in every row, and no further cut through the whole table is allowable. */
static void test_single_dimensional(void **state)
{
    kn_rng rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < testing_rounds(200); round++) {
        kn_context           *ctx = testing_context(1);
        int                   rows = 2 + (int)kn_rng_below(&rng, MOST_ROWS - 2), k = 1 + (int)kn_rng_below(&rng, 6);
        setting               s = random_setting(ctx, &rng, rows, false, false);
        kn_error              err = KN_ERROR_INIT;
        kn_plan              *plan = NULL;
        bool                  found;
        kn_partition_counters counters;
        finish_setting(&s, ctx, k, 1, KN_METHOD_MONDRIAN_1D, KN_CHOOSE_RANGE);
        assert_ok(kn_partition_search(&plan, &found, &counters, ctx, &s.problem, &err), err);
        for (int a = 0; found && a < rows; a++)
            for (int b = 0; b < a; b++)
                for (int q = 0; q < s.dimensions; q++) {
                    if (position(&s, q, a) != position(&s, q, b)) continue;
                    const kn_cell *x = &plan->cells[plan->class_of_row[a] * (uint32_t)s.dimensions + (uint32_t)q];
                    const kn_cell *y = &plan->cells[plan->class_of_row[b] * (uint32_t)s.dimensions + (uint32_t)q];
                    assert_int_equal(x->kind, y->kind);
                    if (x->kind == KN_CELL_SET)
                        assert_memory_equal(plan->members + x->a, plan->members + y->a, x->b * sizeof *plan->members);
                    else
                        assert_true(x->a == y->a && x->b == y->b);
                }
        for (int q = 0; found && q < s.dimensions; q++)
            for (uint32_t p = 0; p + 1 < missing_position(&s, q); p++) {
                bool allowable = true, divides = false;
                for (uint32_t c = 0; c < plan->classes && allowable; c++) {
                    int before = 0, after = 0;
                    for (int r = 0; r < rows; r++)
                        if (plan->class_of_row[r] == c) position(&s, q, r) <= p ? before++ : after++;
                    allowable = (before == 0 || before >= k) && (after == 0 || after >= k);
                    divides |= before > 0 && after > 0;
                }
                assert_false(allowable && divides);
            }
        kn_plan_free(plan);
        free_setting(&s);
        testing_context_free(ctx);
    }
}

/* Lost cells, by the loss that mondrian-best lowers. */
static double loss_of(const setting *s, const kn_plan *plan)
{
    double sum = 0;
    for (uint32_t c = 0; c < plan->classes; c++)
        for (int q = 0; q < s->dimensions; q++) {
            const kn_cell   *cell = &plan->cells[c * (uint32_t)s->dimensions + (uint32_t)q];
            const kn_column *column = column_of(s, q);
            double           domain = missing_position(s, q) - 1.0, share = 0;
            if (cell->kind == KN_CELL_STAR) share = 1;
            if (cell->kind == KN_CELL_NODE) share = (kn_hierarchy_cover(s->hierarchies[q], cell->a) - 1.0) / domain;
            if (cell->kind == KN_CELL_SET) share = (cell->b - 1.0) / domain;
            if (cell->kind == KN_CELL_RANGE && !s->hierarchies[q])
                share = (number_at(s, q, cell->b) - number_at(s, q, cell->a)) /
                        (number_at(s, q, column->dict.count - 1) - number_at(s, q, 0));
            if (cell->kind == KN_CELL_RANGE && s->hierarchies[q])
                share = (double)(s->hierarchies[q]->leaf_of_code[cell->b] - s->hierarchies[q]->leaf_of_code[cell->a]) /
                        domain;
            sum += share * (double)plan->class_rows[c];
        }
    return sum;
}

/* Never worse than mondrian, and better on the whole. */
static void test_best(void **state)
{
    kn_rng rng;
    double plain = 0, best = 0;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 4);
    for (int round = 0; round < testing_rounds(60); round++) {
        kn_context           *ctx = testing_context(2);
        int                   rows = 50 + (int)kn_rng_below(&rng, 1500), k = 2 + (int)kn_rng_below(&rng, 8);
        setting               s = random_setting(ctx, &rng, rows, kn_rng_below(&rng, 3) == 0, kn_rng_below(&rng, 2));
        kn_error              err = KN_ERROR_INIT;
        kn_plan              *plans[2] = {NULL};
        bool                  found;
        kn_partition_counters counters;
        finish_setting(&s, ctx, k, 1 + (int)kn_rng_below(&rng, 2), KN_METHOD_MONDRIAN, KN_CHOOSE_RANGE);
        assert_ok(kn_partition_search(&plans[0], &found, &counters, ctx, &s.problem, &err), err);
        assert_true(found);
        s.problem.method = KN_METHOD_MONDRIAN_BEST;
        assert_ok(kn_partition_search(&plans[1], &found, &counters, ctx, &s.problem, &err), err);
        check_plan(&s, plans[1], k);
        double a = loss_of(&s, plans[0]), b = loss_of(&s, plans[1]);
        assert_true(b <= a * (1 + 1e-9) + 1e-9);
        plain += a;
        best += b;
        for (int i = 0; i < 2; i++) kn_plan_free(plans[i]);
        free_setting(&s);
        testing_context_free(ctx);
    }
    assert_true(best < 0.9 * plain);
}

/* ---- Points that change classes ---- */

/* rows × loss of a class, from its records one by one. */
static double plain_loss(const kn_space *space, const uint32_t *records, uint32_t count)
{
    double sum = 0;
    for (int q = 0; q < space->count; q++) {
        const kn_dimension *d = &space->dimensions[q];
        kn_span             span = {UINT32_MAX, 0};
        uint32_t            distinct = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t p = kn_space_position(space, d, records[i]);
            bool     seen = false;
            for (uint32_t j = 0; j < i; j++) seen |= kn_space_position(space, d, records[j]) == p;
            distinct += !seen;
            span.low = p < span.low ? p : span.low;
            span.high = p > span.high ? p : span.high;
        }
        sum += kn_space_loss(d, span, distinct);
    }
    return sum * count;
}

/* The classes of an exchange, record by record: at least k, no record twice or lost; returns their loss. */
static double check_classes(const setting *s, const kn_space *space, const kn_exchange_classes *classes, int k, int l)
{
    static uint32_t records[2000];
    static bool     used[2000];
    twin            t = {.s = s, .k = k, .l = l};
    double          sum = 0;
    uint32_t        covered = 0;
    memset(used, 0, sizeof used);
    for (uint32_t c = 0; c < classes->count; c++) {
        static int rows[2000];
        uint32_t   n = 0;
        for (uint32_t i = c ? classes->ends[c - 1] : 0; i < classes->ends[c]; i++) {
            uint32_t p = classes->members[i];
            assert_false(used[p]);
            used[p] = true;
            for (uint32_t r = classes->first[p]; r < classes->first[p + 1]; r++) {
                rows[n] = (int)kn_space_row(space, r);
                records[n++] = r;
            }
        }
        if (n == 0) continue;
        assert_true(may_be_class(&t, rows, (int)n));
        sum += plain_loss(space, records, n);
        covered += n;
    }
    assert_int_equal(covered, space->rows);
    return sum;
}

/* The points of finished regions, as an exchange takes them: equal records of a region that are adjacent. */
static kn_exchange_classes list_classes(const kn_space *space, const kn_regions *regions, uint32_t *first,
                                        uint32_t *members, uint32_t *ends)
{
    uint32_t points = 0;
    for (size_t r = 0; r < regions->count; r++) {
        for (uint32_t i = regions->items[r].begin; i < regions->items[r].end; i++) {
            bool same = i > regions->items[r].begin;
            for (int q = 0; q < space->count && same; q++)
                same = kn_space_position(space, &space->dimensions[q], i) ==
                       kn_space_position(space, &space->dimensions[q], i - 1);
            if (same) continue;
            members[points] = points;
            first[points++] = i;
        }
        ends[r] = points;
    }
    first[points] = space->rows;
    return (kn_exchange_classes){first, members, ends, (uint32_t)regions->count, (uint32_t)regions->count + 3};
}

/* The losses that are updated step by step are those of the records; without heat they never rise, with heat the classes
 * are good all the same. */
static void test_exchange(void **state)
{
    static uint32_t first[2000], members[2000], ends[2000];
    kn_rng          rng;
    int64_t         changes = 0;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 9);
    for (int round = 0; round < testing_rounds(80); round++) {
        kn_context           *ctx = testing_context(1);
        int                   rows = 20 + (int)kn_rng_below(&rng, 400), k = 2 + (int)kn_rng_below(&rng, 5);
        int                   l = 1 + (int)kn_rng_below(&rng, 2);
        setting               s = random_setting(ctx, &rng, rows, kn_rng_below(&rng, 3) == 0, kn_rng_below(&rng, 2));
        kn_error              err = KN_ERROR_INIT;
        kn_space              space;
        kn_regions            regions;
        kn_partition_counters counters = {0};
        kn_row_judge          judge;
        kn_exchange          *exchange = NULL;
        finish_setting(&s, ctx, k, l, KN_METHOD_MONDRIAN, KN_CHOOSE_RANGE);
        assert_ok(kn_space_make(&space, ctx, &s.problem, &err), err);
        assert_ok(kn_mondrian_run(&regions, &counters, &space, &s.problem, &err), err);
        assert_ok(kn_region_judge_make(&judge, &space, &s.problem, &err), err);
        assert_ok(kn_exchange_make(&exchange, &space, NULL, &judge, 2000, &err), err);
        kn_exchange_classes classes = list_classes(&space, &regions, first, members, ends);
        double              plain = check_classes(&s, &space, &classes, k, l), before, after;
        for (int heat = 2; heat >= 0; heat--) {
            kn_exchange_heat hot = {heat * 0.5, heat * 0.5, 30, (uint64_t)round, (uint64_t)heat};
            assert_ok(kn_exchange_run(&before, &after, &changes, exchange, &classes, &hot, &err), err);
            assert_float_equal(before, plain, 1e-6);
            plain = check_classes(&s, &space, &classes, k, l);
            assert_float_equal(after, plain, 1e-6);
            if (heat == 0) assert_true(after <= before + 1e-9);
            uint32_t kept = 0; /* empty classes are not given again */
            for (uint32_t c = 0; c < classes.count; c++)
                if (classes.ends[c] > (c ? classes.ends[c - 1] : 0)) classes.ends[kept++] = classes.ends[c];
            classes.count = kept;
        }
        kn_exchange_free(exchange);
        kn_row_judge_free(&judge);
        kn_space_free(&space);
        kn_free(regions.items);
        free_setting(&s);
        testing_context_free(ctx);
    }
    assert_true(changes > 1000);
}

/* All records of all regions, one by one. */
static double loss_of_regions(const kn_space *space, const kn_regions *regions)
{
    static uint32_t records[3000];
    double          sum = 0;
    for (size_t r = 0; r < regions->count; r++) {
        uint32_t n = 0;
        for (uint32_t i = regions->items[r].begin; i < regions->items[r].end; i++) records[n++] = i;
        sum += plain_loss(space, records, n);
    }
    return sum;
}

/* Many groups: what neighbours do never loses more, and is the same on any number of threads. */
static void test_neighbours(void **state)
{
    kn_rng  rng;
    double  lost = 0, left = 0;
    int64_t changes = 0;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 10);
    for (int round = 0; round < 6; round++) { /* with this seed the first three lose nothing */
        uint64_t  seed = kn_rng_next(&rng);
        uint32_t  kept[3000];
        kn_region found[3000];
        size_t    count = 0;
        for (int threads = 1; threads <= 3; threads += 2) {
            kn_rng                again;
            kn_context           *ctx = testing_context(threads);
            kn_error              err = KN_ERROR_INIT;
            kn_space              space;
            kn_regions            regions;
            kn_partition_counters counters = {0};
            kn_rng_init(&again, seed, 1);
            setting s = random_setting(ctx, &again, 1000 + 200 * round, round % 2, round % 3 != 0);
            finish_setting(&s, ctx, 2 + round % 3, 1 + round % 2, KN_METHOD_MONDRIAN, KN_CHOOSE_RANGE);
            assert_ok(kn_space_make(&space, ctx, &s.problem, &err), err);
            assert_ok(kn_mondrian_run(&regions, &counters, &space, &s.problem, &err), err);
            double before = loss_of_regions(&space, &regions);
            assert_ok(kn_neighbours_improve(&regions, &changes, &space, &s.problem, 256, &err), err);
            double after = loss_of_regions(&space, &regions);
            assert_true(after <= before + 1e-9);
            lost += before;
            left += after;
            if (threads > 1) {
                assert_int_equal(count, regions.count);
                assert_memory_equal(found, regions.items, count * sizeof *found);
                for (uint32_t i = 0; i < space.rows; i++) assert_int_equal(kept[i], kn_space_row(&space, i));
            }
            count = regions.count;
            memcpy(found, regions.items, count * sizeof *found);
            for (uint32_t i = 0; i < space.rows; i++) kept[i] = kn_space_row(&space, i);
            kn_space_free(&space);
            kn_free(regions.items);
            free_setting(&s);
            testing_context_free(ctx);
        }
    }
    assert_true(changes > 100 && left < lost);
}

static void test_refused_memory(void **state)
{
    (void)state;
    for (int way = 0; way < 2 * METHODS; way++) { /* memory is gone, or missing for once */
        bool done = false;
        for (int64_t at = 0; !done; at++) {
            testing_allocator     memory = {.refuse_at = -1, .once = way >= METHODS};
            kn_context           *ctx = NULL;
            kn_error              err = KN_ERROR_INIT;
            kn_rng                rng;
            kn_plan              *plan = NULL;
            bool                  found;
            kn_partition_counters counters;
            assert_ok(testing_refusing_context(&ctx, &memory, 2, &err), err);
            kn_rng_init(&rng, 5, 5);
            setting s = random_setting(ctx, &rng, 60, true, true);
            finish_setting(&s, ctx, 3, 2, methods[way % METHODS], KN_CHOOSE_RANGE);
            memory.refuse_at = memory.requests + at;
            kn_status status = kn_partition_search(&plan, &found, &counters, ctx, &s.problem, &err);
            assert_true(status == KN_OK || status == KN_MEMORY);
            done = status == KN_OK && memory.requests <= memory.refuse_at;
            memory.refuse_at = -1;
            kn_plan_free(plan);
            free_setting(&s);
            kn_context_free(ctx);
            assert_int_equal(memory.live, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_twin),   cmocka_unit_test(test_plans),
        cmocka_unit_test(test_single_dimensional), cmocka_unit_test(test_best),
        cmocka_unit_test(test_exchange),           cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
