/* test_distribution.c: how values are spread before and after: every kind of cell against a naive twin that shares out cell by
 * cell; bars that add up to what was counted; ranges of numbers and dates that hold what they say; columns of one value, of
 * nothing, of very many texts; clean when memory runs out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "utility_testing.h"

#include "kn_alloc.h"
#include "kn_distribution.h"
#include "kn_marginal.h"
#include "kn_value.h"

enum { MOST_CELLS = 60 };

/* Shares are rounded to 2^-60 of a cell, and added up as doubles. */
static void close_to(double found, long double expected, const char *what)
{
    if (!(fabsl((long double)found - expected) <= 1e-9L * (1 + fabsl(expected))))
        fail_msg("%s: found %.17g, expected %.17Lg", what, found, expected);
}

/* ---- The naive twin ---- */

typedef struct twin {
    long double shares[MOST_LEAVES + 1]; /* per value, the last "missing" */
    long double absent, star;
    int64_t     after;
} twin;

static bool below(const kn_hierarchy *h, uint32_t leaf, uint32_t node)
{
    for (uint32_t n = leaf; n != KN_NODE_NONE; n = h->parent[n])
        if (n == node) return true;
    return false;
}

/* Shares a node out leaf by leaf; a leaf goes to the values that are it. */
static void twin_share_node(twin *t, const kn_hierarchy *h, uint32_t values, uint32_t node, long double cells)
{
    int leaves = 0;
    for (uint32_t l = 0; l < h->leaves; l++) leaves += below(h, l, node);
    if (node == h->leaves) t->shares[values] += cells;
    if (node == h->leaves) return;
    if (node > h->leaves && kn_string_equal(kn_hierarchy_text(h, node), (kn_string){"*", 1})) {
        t->star += cells;
        return;
    }
    for (uint32_t l = 0; l < h->leaves; l++) {
        bool found = false;
        if (!below(h, l, node)) continue;
        for (uint32_t v = 0; v < values; v++) {
            if (h->leaf_of_code[v] != l) continue;
            t->shares[v] += cells / leaves; /* in these trees no two values are one leaf */
            found = true;
        }
        if (!found) t->absent += cells / leaves;
    }
}

static void twin_add(twin *t, const kn_plan *plan, const kn_cell *cell, const kn_hierarchy *h, uint32_t values,
                     int64_t cells)
{
    t->after += cells;
    switch (cell->kind) {
    case KN_CELL_VALUE: t->shares[cell->a] += cells; break;
    case KN_CELL_NODE: twin_share_node(t, h, values, cell->a, cells); break;
    case KN_CELL_RANGE:
        for (uint32_t v = cell->a; v <= cell->b; v++) t->shares[v] += (long double)cells / (cell->b - cell->a + 1);
        break;
    case KN_CELL_SET:
        for (uint32_t i = 0; i < cell->b; i++) t->shares[plan->members[cell->a + i]] += (long double)cells / cell->b;
        break;
    default: t->star += cells; break;
    }
}

/* A cell of any kind; sets draw their members from `members`. */
static kn_cell random_cell(kn_rng *rng, const kn_hierarchy *h, uint32_t values, kn_plan *plan)
{
    switch (values == 0 ? 4 + kn_rng_below(rng, 2) : kn_rng_below(rng, 6)) {
    case 0: return (kn_cell){KN_CELL_VALUE, (uint32_t)kn_rng_below(rng, (uint64_t)values + 1), 0};
    case 1: {
        uint32_t a = (uint32_t)kn_rng_below(rng, values), b = (uint32_t)kn_rng_below(rng, values);
        return (kn_cell){KN_CELL_RANGE, a < b ? a : b, a < b ? b : a};
    }
    case 2: {
        uint32_t first = (uint32_t)plan->member_count, count = 0;
        for (uint32_t v = 0; v <= values; v++)
            if (kn_rng_below(rng, 2) == 0) plan->members[first + count++] = v;
        plan->member_count += count;
        return (kn_cell){count > 0 ? KN_CELL_SET : KN_CELL_STAR, first, count};
    }
    case 4: return (kn_cell){KN_CELL_STAR, 0, 0};
    default: return (kn_cell){KN_CELL_NODE, (uint32_t)kn_rng_below(rng, h->nodes), 0};
    }
}

static void check_bars(const kn_distribution *d, const kn_spread *s, const twin *t)
{
    int64_t     before = 0, values = 0, shown = 0;
    long double after = 0, differences = 0;
    for (int i = 0; i < d->bar_count; i++) {
        before += d->bars[i].before;
        after += d->bars[i].after;
        shown += d->bars[i].kind == KN_BAR_VALUE;
        if (i > 0 && d->bars[i].kind == KN_BAR_VALUE && !d->ordered)
            assert_true(d->bars[i - 1].before >= d->bars[i].before);
        if (d->bars[i].kind == KN_BAR_VALUE) {
            assert_int_equal(d->bars[i].before, s->before[d->bars[i].value]);
            close_to(d->bars[i].after, t->shares[d->bars[i].value], "a bar");
        }
        if (d->bars[i].kind == KN_BAR_MISSING) close_to(d->bars[i].after, t->shares[s->values], "missing");
        if (d->bars[i].kind == KN_BAR_STAR) close_to(d->bars[i].after, t->star, "stars");
    }
    long double absent = t->absent;
    for (uint32_t v = 0; v <= s->values; v++) {
        values += v < s->values && s->before[v] > 0;
        if (v < s->values && s->before[v] == 0) absent += t->shares[v];
        if (v < s->values && s->before[v] == 0) continue;
        differences +=
            fabsl((d->before ? (long double)s->before[v] / d->before : 0) - (d->after ? t->shares[v] / d->after : 0));
    }
    if (d->after) differences += (absent + t->star) / d->after;
    assert_int_equal(before, d->before);
    assert_int_equal(t->after, d->after);
    close_to((double)after, d->after, "all cells");
    assert_int_equal(values, d->values);
    assert_int_equal(d->folded, d->values - shown);
    if (d->before > 0 && d->after == 0)
        assert_true(isnan(d->distance));
    else
        close_to(d->distance, differences / 2, "the distance");
}

static void any_cells_agree_with_the_twin(void **state)
{
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < testing_rounds(600); round++) {
        world    w;
        kn_error err = KN_ERROR_INIT;
        kn_plan *plan = NULL;
        world_make(&w, ctx, &rng);
        assert_ok(kn_plan_create(&plan, ctx, w.rows, 1, 1, &err), err);
        for (int q = 0; q < w.quasi_count; q++) {
            const kn_hierarchy *h = w.hierarchies[q];
            uint32_t            values = w.table->columns[q].dict.count;
            twin                t = {0};
            kn_spread           s;
            kn_distribution     d;
            kn_free(plan->members);
            plan->members = kn_alloc_array(ctx, MOST_CELLS * (MOST_LEAVES + 2), sizeof *plan->members);
            plan->member_count = 0;
            assert_non_null(plan->members);
            assert_ok(kn_spread_open(&s, ctx, values, h, &err), err);
            kn_marginal_count(s.before, w.table, q);
            for (int c = (int)kn_rng_below(&rng, MOST_CELLS); c > 0; c--) {
                kn_cell cell = random_cell(&rng, h, values, plan);
                int64_t cells = 1 + (int64_t)kn_rng_below(&rng, 1000);
                kn_spread_cell(&s, plan, &cell, cells);
                twin_add(&t, plan, &cell, h, values, cells);
            }
            assert_ok(kn_spread_finish(&s, &err), err);
            kn_distribution_make(&d, &s, kn_distribution_order_of(&w.table->columns[q]));
            check_bars(&d, &s, &t);
            kn_spread_close(&s);
        }
        kn_plan_free(plan);
        world_free(&w);
    }
    testing_context_free(ctx);
}

/* ---- Numbers and dates ---- */

static kn_table *number_table(kn_context *ctx, kn_rng *rng, kn_type type, int rows)
{
    static const char *const name[] = {"n"};
    char(*texts)[40] = calloc((size_t)rows, sizeof *texts);
    const char **cells = calloc((size_t)rows, sizeof *cells);
    kn_table    *table = NULL;
    kn_error     err = KN_ERROR_INIT;
    int64_t      spread = (int64_t)1 << kn_rng_below(rng, 40), from = (int64_t)kn_rng_below(rng, 1000) - 500;
    assert_true(texts && cells);
    for (int r = 0; r < rows; r++) {
        int64_t number = from + (int64_t)kn_rng_below(rng, (uint64_t)spread);
        int     year, month, day;
        kn_civil_from_days(number % 700000, &year, &month, &day);
        if (type == KN_TYPE_DATE)
            snprintf(texts[r], sizeof *texts, "%04d-%02d-%02d", year, month, day);
        else if (type == KN_TYPE_DATETIME)
            snprintf(texts[r], sizeof *texts, "%04d-%02d-%02d %02d:%02d:00", year, month, day, (int)(spread % 24),
                     r % 60);
        else if (type == KN_TYPE_DECIMAL)
            snprintf(texts[r], sizeof *texts, "%lld.%d", (long long)number, r % 8 + 1);
        else
            snprintf(texts[r], sizeof *texts, "%lld", (long long)number);
        cells[r] = kn_rng_below(rng, 20) == 0 ? NULL : texts[r];
    }
    assert_ok(make_table(&table, ctx, name, 1, cells, rows, &type, &err), err);
    free(texts);
    free(cells);
    return table;
}

/* How many rows hold a whole number between the ends of a label. */
static int64_t rows_between(const kn_table *table, const char *label)
{
    long long low, high;
    int64_t   rows = 0;
    if (sscanf(label, "%lld to %lld", &low, &high) != 2 && sscanf(label, "%lld–%lld", &low, &high) != 2) {
        assert_int_equal(sscanf(label, "%lld", &low), 1);
        high = low;
    }
    for (int64_t r = 0; r < table->rows; r++) {
        uint32_t code = kn_column_code(&table->columns[0], r);
        if (code == table->columns[0].dict.count) continue;
        int64_t value = table->columns[0].dict.integers[code];
        rows += value >= low && value <= high;
    }
    return rows;
}

static void ranges_hold_what_they_say(void **state)
{
    static const kn_type types[] = {KN_TYPE_INTEGER, KN_TYPE_DECIMAL, KN_TYPE_DATE, KN_TYPE_DATETIME};
    kn_context          *ctx = testing_context(1);
    kn_rng               rng;
    int                  drawn[4] = {0};
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(200); round++) {
        int             kind = (int)kn_rng_below(&rng, 4);
        kn_table       *table = number_table(ctx, &rng, types[kind], 1 + (int)kn_rng_below(&rng, 400));
        kn_error        err = KN_ERROR_INIT;
        kn_spread       s;
        kn_distribution d;
        int64_t         before = 0, present = table->rows - table->columns[0].missing;
        assert_ok(kn_spread_open(&s, ctx, table->columns[0].dict.count, NULL, &err), err);
        kn_marginal_count(s.before, table, 0);
        if (present > 0) kn_spread_range(&s, 0, s.values - 1, present); /* one interval for all */
        kn_spread_star(&s, table->columns[0].missing);
        assert_ok(kn_spread_finish(&s, &err), err);
        kn_distribution_make(&d, &s, kn_distribution_order_of(&table->columns[0]));
        long double after = 0;
        for (int i = 0; i < d.bar_count; i++) {
            before += d.bars[i].before;
            after += d.bars[i].after;
            if (d.bars[i].kind != KN_BAR_RANGE) continue;
            drawn[kind]++;
            assert_true(strlen(d.bars[i].label) > 0 && strlen(d.bars[i].label) < sizeof d.bars[i].label - 1);
            if (types[kind] == KN_TYPE_INTEGER)
                assert_int_equal(rows_between(table, d.bars[i].label), d.bars[i].before);
        }
        assert_int_equal(before, table->rows);
        close_to((double)after, table->rows, "all cells");
        assert_true(d.distance >= 0 && d.distance <= 1);
        kn_spread_close(&s);
        kn_table_free(table);
    }
    for (int i = 0; i < 4; i++) assert_true(drawn[i] > 0);
    testing_context_free(ctx);
}

/* ---- Edges ---- */

/* A column of texts whose cells the release shows as they are, or not at all. */
static void check_column(const char *const *cells, int64_t rows, bool shown, kn_distribution *out)
{
    static const char *const name[] = {"c"};
    static const kn_type     type = KN_TYPE_TEXT;
    kn_context              *ctx = testing_context(1);
    kn_table                *table = NULL;
    kn_error                 err = KN_ERROR_INIT;
    kn_spread                s;
    assert_ok(make_table(&table, ctx, name, 1, cells, rows, &type, &err), err);
    assert_ok(kn_spread_open(&s, ctx, table->columns[0].dict.count, NULL, &err), err);
    kn_marginal_count(s.before, table, 0);
    for (uint32_t v = 0; v <= s.values; v++)
        shown ? kn_spread_value(&s, v, s.before[v]) : kn_spread_star(&s, s.before[v]);
    assert_ok(kn_spread_finish(&s, &err), err);
    kn_distribution_make(out, &s, kn_distribution_order_of(&table->columns[0]));
    kn_spread_close(&s);
    kn_table_free(table);
    testing_context_free(ctx);
}

static void columns_of_one_value_or_none(void **state)
{
    const char     *same[] = {"x", "x", "x"}, *missing[] = {NULL, NULL};
    kn_distribution d;
    (void)state;
    check_column(same, 3, true, &d);
    assert_int_equal(d.bar_count, 1);
    assert_true(d.distance == 0 && d.values == 1 && d.folded == 0);
    check_column(same, 3, false, &d);
    assert_int_equal(d.bar_count, 2);
    assert_true(d.distance == 1 && d.bars[1].kind == KN_BAR_STAR && d.bars[1].after == 3);
    check_column(missing, 2, true, &d);
    assert_int_equal(d.bar_count, 1);
    assert_true(d.bars[0].kind == KN_BAR_MISSING && d.distance == 0 && d.values == 0);
    check_column(missing, 0, true, &d);
    assert_int_equal(d.bar_count, 0);
    assert_true(d.distance == 0);
}

static void a_million_texts_are_folded(void **state)
{
    enum { TEXTS = 1000000 };
    char(*texts)[12] = calloc(TEXTS, sizeof *texts);
    const char    **cells = calloc(TEXTS + 5, sizeof *cells);
    kn_distribution d;
    (void)state;
    assert_true(texts && cells);
    for (int i = 0; i < TEXTS; i++) {
        snprintf(texts[i], sizeof *texts, "t%d", i);
        cells[i] = texts[i];
    }
    for (int i = 0; i < 5; i++) cells[TEXTS + i] = texts[77];
    check_column(cells, TEXTS + 5, true, &d);
    assert_int_equal(d.values, TEXTS);
    assert_int_equal(d.folded, TEXTS - 12);
    assert_int_equal(d.bars[0].before, 6);
    assert_int_equal(d.bars[12].kind, KN_BAR_OTHERS);
    assert_int_equal(d.bars[12].before, TEXTS + 5 - 6 - 11);
    assert_true(d.bars[12].after == (double)d.bars[12].before && d.distance == 0);
    free(cells);
    free(texts);
}

/* Two values that are one leaf of the hierarchy share what it gets; a root that is no "*" is shared by all. */
static void two_values_of_a_leaf_share_it(void **state)
{
    static const char *const name[] = {"c"}, *const cells[] = {"1", "1.0", "2"};
    static const kn_type type = KN_TYPE_TEXT;
    kn_context          *ctx = testing_context(1);
    kn_table            *table = NULL;
    kn_error             err = KN_ERROR_INIT;
    kn_spread            s;
    (void)state;
    assert_ok(make_table(&table, ctx, name, 1, cells, 3, &type, &err), err);
    kn_hierarchy *h = hierarchy_of(ctx, "1;all\n1.0;all\n2;all\n3;all\n", table, 0);
    h->leaf_of_code[1] = h->leaf_of_code[0];
    assert_ok(kn_spread_open(&s, ctx, 3, h, &err), err);
    kn_marginal_count(s.before, table, 0);
    kn_spread_node(&s, h->nodes - 1, 8);
    kn_spread_node(&s, h->leaf_of_code[0], 3);
    assert_ok(kn_spread_finish(&s, &err), err);
    assert_true(s.shares[0] == 2.5 && s.shares[1] == 2.5 && s.shares[2] == 2 && s.absent == 4 && s.star == 0);
    kn_spread_close(&s);
    kn_hierarchy_free(h);
    kn_table_free(table);
    testing_context_free(ctx);
}

static void every_allocation_may_fail(void **state)
{
    kn_context *plain = testing_context(1);
    kn_rng      rng;
    world       w;
    kn_status   st = KN_MEMORY;
    (void)state;
    kn_rng_init(&rng, 7, 0);
    world_make(&w, plain, &rng);
    for (int64_t at = 0; st != KN_OK; at++) {
        testing_allocator memory = {.refuse_at = at};
        kn_context       *ctx = NULL;
        kn_spread         s = {0};
        kn_error          err = KN_ERROR_INIT;
        st = testing_refusing_context(&ctx, &memory, 1, &err);
        if (st == KN_OK) st = kn_spread_open(&s, ctx, w.table->columns[0].dict.count, w.hierarchies[0], &err);
        if (st == KN_OK) st = kn_spread_finish(&s, &err);
        if (st != KN_OK) assert_int_equal(st, KN_MEMORY);
        kn_spread_close(&s);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
    world_free(&w);
    testing_context_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cells_agree_with_the_twin), cmocka_unit_test(ranges_hold_what_they_say),
        cmocka_unit_test(columns_of_one_value_or_none),  cmocka_unit_test(a_million_texts_are_folded),
        cmocka_unit_test(two_values_of_a_leaf_share_it), cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
