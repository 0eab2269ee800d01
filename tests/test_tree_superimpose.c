/* test_tree_superimpose.c: the synopsis of many records against the definition: every record is one row, no two rows are equal, their
 * order does not depend on the number of threads; and memory that runs out where the rows of a cut are several ranges.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tree_testing.h"

#include "kn_synopsis.h"
#include "tpch_records.h"

enum { LEAVES = 6, MOST_MEMBERS = 64 };

/* Three classes of LEAVES leaves that nest; each record has few of them, some none, so that many are equal. */
static kn_records *few_kinds(kn_context *ctx, int64_t count)
{
    kn_error    err = KN_ERROR_INIT;
    kn_records *r;
    kn_rng      rng;
    uint64_t    at = 0, seed = testing_seed();
    int         depths[3 * (1 + LEAVES)];
    for (int i = 0; i < 3 * (1 + LEAVES); i++) depths[i] = i % (1 + LEAVES) ? 2 : 1;
    kn_vocabulary *v = tree_vocabulary(ctx, 3 * (1 + LEAVES), depths, NULL);
    assert_ok(kn_records_create(&r, ctx, v, true, count, (uint64_t)count * LEAVES * 3, &err), err);
    for (int64_t t = 0; t < count; t++) {
        kn_rng_init(&rng, seed, (uint64_t)(t * 40503 % 4000)); /* equal ones are far apart */
        uint32_t first = (uint32_t)at, up[3] = {KN_RECORDS_ROOT, 0, 0};
        for (uint32_t leaf = 0; leaf < 3 * LEAVES && at - first < 3 * LEAVES; leaf++) {
            uint32_t class = leaf % 3;
            if (kn_rng_below(&rng, 3) || (class > 0 && up[class] == 0)) continue;
            /* Siblings ascend, for leaves do. */
            r->parent[at] = class ? up[class] - 1 : KN_RECORDS_ROOT;
            r->value[at++] = 2 + class * (1 + LEAVES) + leaf / 3;
            if (class < 2) up[class + 1] = (uint32_t)at - first;
            if (class == 0) up[2] = 0;
        }
        r->start[t + 1] = at;
    }
    r->nodes = at;
    return r;
}

/* Baskets that all begin alike, with more items than a sort key has space for; 1024 kinds of them. */
static kn_records *alike_baskets(kn_context *ctx, int64_t count)
{
    enum { ALL = 12, BITS = 10, ITEMS = ALL + BITS };
    kn_error    err = KN_ERROR_INIT;
    kn_records *r;
    uint64_t    at = 0;
    int         depths[1 + ITEMS] = {1};
    for (int i = 1; i <= ITEMS; i++) depths[i] = 2;
    kn_vocabulary *v = tree_vocabulary(ctx, 1 + ITEMS, depths, NULL);
    assert_ok(kn_records_create(&r, ctx, v, true, count, (uint64_t)count * ITEMS, &err), err);
    for (int64_t t = 0; t < count; t++) {
        for (uint32_t i = 0; i < ITEMS; i++) {
            if (i >= ALL && !(t * 7 >> (i - ALL) & 1)) continue;
            r->parent[at] = KN_RECORDS_ROOT;
            r->value[at++] = v->nodes - ITEMS + i;
        }
        r->start[t + 1] = at;
    }
    r->nodes = at;
    return r;
}

/* The nodes of the synopsis that a record has, in its order. */
static uint32_t members_of(const kn_synopsis *s, const kn_records *r, int64_t t, uint32_t *members)
{
    uint64_t from = r->start[t], size = r->start[t + 1] - from;
    assert_true(size <= MOST_MEMBERS);
    for (uint64_t i = 0; i < size; i++) {
        uint32_t up = r->parent[from + i], above = up == KN_RECORDS_ROOT ? KN_SYNOPSIS_ROOT : members[up], node = 0;
        while (node < s->nodes && (s->parent[node] != above || s->value[node] != r->value[from + i])) node++;
        assert_true(node < s->nodes);
        members[i] = node;
    }
    return (uint32_t)size;
}

/* Each record is one row, and rows that begin alike are in the order of the first records that they are. */
static void check_rows(const kn_synopsis *s, const kn_records *r)
{
    const kn_rows *rows = &s->rows;
    int64_t       *found = calloc(rows->count + 1, sizeof *found), *first = calloc(rows->count + 1, sizeof *first);
    assert_true(found && first);
    for (int64_t t = 0; t < r->count; t++) {
        uint32_t members[MOST_MEMBERS], size = members_of(s, r, t, members), row = 0, same = 0;
        for (uint32_t i = 0; i < rows->count; i++) {
            if (rows->start[i + 1] - rows->start[i] != size ||
                memcmp(rows->members + rows->start[i], members, size * sizeof *members) != 0)
                continue;
            row = i;
            same++;
        }
        assert_int_equal(same, 1);
        if (found[row]++ == 0) first[row] = t;
    }
    int width = 1, fit;
    while (s->nodes >= (uint32_t)1 << width) width++;
    fit = 64 / width;
    for (uint32_t i = 0; i < rows->count; i++) assert_int_equal(found[i], rows->weight[i]);
    for (uint32_t i = 1; i < rows->count; i++) {
        const uint32_t *mine = rows->members + rows->start[i], *other = rows->members + rows->start[i - 1];
        int64_t         order = 0;
        for (int j = 0; j < fit && order == 0; j++) {
            int64_t here = mine + j < rows->members + rows->start[i + 1] ? (int64_t)mine[j] : -1;
            int64_t there = other + j < mine ? (int64_t)other[j] : -1;
            order = here - there;
        }
        assert_true(order > 0 || (order == 0 && first[i] > first[i - 1]));
    }
    free(found);
    free(first);
}

static void check_same_synopsis(const kn_synopsis *a, const kn_synopsis *b)
{
    const kn_rows *x = &a->rows, *y = &b->rows;
    assert_int_equal(a->nodes, b->nodes);
    assert_memory_equal(a->parent, b->parent, a->nodes * sizeof *a->parent);
    assert_memory_equal(a->value, b->value, a->nodes * sizeof *a->value);
    assert_int_equal(x->count, y->count);
    assert_memory_equal(x->start, y->start, ((size_t)x->count + 1) * sizeof *x->start);
    assert_memory_equal(x->members, y->members, x->start[x->count] * sizeof *x->members);
    assert_memory_equal(x->weight, y->weight, x->count * sizeof *x->weight);
    assert_memory_equal(a->value_start, b->value_start, ((size_t)x->count + 1) * sizeof *a->value_start);
    assert_memory_equal(a->narrow_values, b->narrow_values, a->value_start[x->count] * sizeof *a->narrow_values);
}

static void check_threads(kn_records *(*make)(kn_context *, int64_t), int64_t count)
{
    const int    threads[] = {1, 2, 8};
    kn_context  *ctx[3];
    kn_records  *records[3];
    kn_synopsis *s[3];
    kn_error     err = KN_ERROR_INIT;
    for (int i = 0; i < 3; i++) {
        ctx[i] = testing_context(threads[i]);
        records[i] = make(ctx[i], count);
        assert_ok(kn_synopsis_make(&s[i], ctx[i], records[i], &err), err);
        if (i > 0) check_same_synopsis(s[i], s[0]);
    }
    check_rows(s[0], records[0]);
    assert_true(s[0]->rows.count < count);
    for (int i = 0; i < 3; i++) {
        kn_synopsis_free(s[i]);
        kn_records_free(records[i]);
        testing_context_free(ctx[i]);
    }
}

/* More records than one range of any kind has; as few as are one row; none. */
static void test_equal_records(void **state)
{
    (void)state;
    check_threads(few_kinds, 9000);
    check_threads(alike_baskets, 6000);
}

static kn_records *trees(kn_context *ctx, int64_t count)
{
    return tpch_records(ctx, count, 5);
}

/* Nearly all records differ. */
static void test_different_records(void **state)
{
    (void)state;
    const int    threads[] = {1, 8};
    kn_context  *ctx[2];
    kn_records  *records[2];
    kn_synopsis *s[2];
    kn_error     err = KN_ERROR_INIT;
    for (int i = 0; i < 2; i++) {
        ctx[i] = testing_context(threads[i]);
        records[i] = trees(ctx[i], 12000);
        assert_ok(kn_synopsis_make(&s[i], ctx[i], records[i], &err), err);
    }
    check_same_synopsis(s[1], s[0]);
    int64_t weight = 0;
    for (uint32_t i = 0; i < s[0]->rows.count; i++) weight += s[0]->rows.weight[i];
    assert_int_equal(weight, 12000);
    for (int i = 0; i < 2; i++) {
        kn_synopsis_free(s[i]);
        kn_records_free(records[i]);
        testing_context_free(ctx[i]);
    }
}

/* ---- Memory that runs out ---- */

/* The records stay; the requests of the call are refused from the at-th on. Returns whether it succeeded. */
static bool synopsis_without(kn_records *(*make)(kn_context *, int64_t), int64_t count, int64_t at)
{
    testing_allocator memory = {.refuse_at = -1};
    kn_error          err = KN_ERROR_INIT;
    kn_context       *ctx;
    kn_synopsis      *s;
    assert_ok(testing_refusing_context(&ctx, &memory, 1, &err), err);
    kn_records *records = make(ctx, count);
    memory.requests = 0;
    memory.refuse_at = at;
    kn_status st = kn_synopsis_make(&s, ctx, records, &err);
    memory.refuse_at = -1;
    assert_true(st == KN_OK || st == KN_MEMORY);
    kn_synopsis_free(s);
    kn_records_free(records);
    kn_context_free(ctx);
    assert_int_equal(memory.live, 0);
    return st == KN_OK;
}

static void test_memory_of_synopsis(void **state)
{
    (void)state;
    for (int64_t at = 0; !synopsis_without(alike_baskets, 2100, at);) at++;
    for (int64_t at = 0; !synopsis_without(few_kinds, 300, at);) at++;
}

/* A search whose first cuts are merged by ranges and whose ValueChecks are several ranges. */
static void test_memory_of_search(void **state)
{
    (void)state;
    bool done = false;
    for (int64_t at = 0; !done; at += 3 * testing_step()) {
        testing_allocator memory = {.refuse_at = -1};
        kn_error          err = KN_ERROR_INIT;
        kn_context       *ctx;
        kn_tree_result   *r;
        assert_ok(testing_refusing_context(&ctx, &memory, 2, &err), err);
        kn_records     *records = tpch_records(ctx, 20000, 19);
        kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
        problem.records = records;
        problem.k = 200;
        problem.m = 3;
        problem.n = 2;
        problem.g = 1;
        memory.requests = 0;
        memory.refuse_at = at;
        kn_status st = kn_tree_search(&r, ctx, &problem, &err);
        memory.refuse_at = -1;
        done = st == KN_OK;
        if (!done) assert_int_equal(st, KN_MEMORY);
        kn_tree_result_free(r);
        kn_records_free(records);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_records),
        cmocka_unit_test(test_different_records),
        cmocka_unit_test(test_memory_of_synopsis),
        cmocka_unit_test(test_memory_of_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
