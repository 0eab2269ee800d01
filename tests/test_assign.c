/* test_assign.c: the assignment of rows to rows at the least cost (kn_miracle_assign.c): against all assignments where there
 * are few, and where there are many against the definition of the first one, row by row. Costs are few, so that there are
 * many equal optima; more than 64 columns need more than one word.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <stdlib.h>

#include "kn_miracle.h"
#include "kn_rng.h"

enum { MOST = 140 };

typedef struct task {
    uint32_t rows, columns;
    int64_t  cost[MOST * MOST];
    uint32_t chosen[MOST];
    void    *room;
} task;

static int64_t total(const task *t, const uint32_t *chosen)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < t->rows; i++) sum += t->cost[i * t->columns + chosen[i]];
    return sum;
}

static void random_costs(task *t, kn_rng *rng, uint32_t rows, uint32_t columns)
{
    uint64_t kinds = 1 + kn_rng_below(rng, 9);
    t->rows = rows;
    t->columns = columns;
    for (uint32_t i = 0; i < rows * columns; i++) t->cost[i] = (int64_t)kn_rng_below(rng, kinds) - 3;
}

static void assert_assignment(const task *t, const uint32_t *chosen)
{
    bool taken[MOST] = {false};
    for (uint32_t i = 0; i < t->rows; i++) {
        assert_true(chosen[i] < t->columns && !taken[chosen[i]]);
        taken[chosen[i]] = true;
    }
}

/* Tries all, the lexicographically smaller first. */
static void try_all(const task *t, uint32_t row, uint32_t *now, bool *taken, uint32_t *best, int64_t *least)
{
    if (row == t->rows) {
        if (total(t, now) >= *least) return;
        *least = total(t, now);
        memcpy(best, now, t->rows * sizeof *best);
        return;
    }
    for (uint32_t j = 0; j < t->columns; j++) {
        if (taken[j]) continue;
        taken[j] = true;
        now[row] = j;
        try_all(t, row + 1, now, taken, best, least);
        taken[j] = false;
    }
}

static void test_all_assignments(void **state)
{
    (void)state;
    task  *t = calloc(1, sizeof *t);
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 0);
    t->room = malloc(kn_assign_room(MOST));
    for (int round = 0; round < testing_rounds(2000); round++) {
        uint32_t columns = 1 + (uint32_t)kn_rng_below(&rng, 6), now[MOST], best[MOST], any[MOST];
        bool     taken[MOST] = {false};
        int64_t  least = INT64_MAX;
        random_costs(t, &rng, 1 + (uint32_t)kn_rng_below(&rng, columns), columns);
        try_all(t, 0, now, taken, best, &least);
        kn_assign(t->cost, t->rows, t->columns, true, t->chosen, t->room);
        assert_memory_equal(t->chosen, best, t->rows * sizeof *best);
        kn_assign(t->cost, t->rows, t->columns, false, any, t->room);
        assert_assignment(t, any);
        assert_true(total(t, any) == least);
    }
    free(t->room);
    free(t);
}

/* Every row takes the first column for which, with the rows before it where they are, the least total is still reached:
 * earlier columns of that row, forbidden one at a time, must cost more. */
static void test_first(void **state)
{
    (void)state;
    task  *t = calloc(1, sizeof *t), *forced = calloc(1, sizeof *forced);
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    t->room = malloc(kn_assign_room(MOST));
    for (int round = 0; round < testing_rounds(6); round++) {
        uint32_t columns = 60 + (uint32_t)kn_rng_below(&rng, MOST - 60), any[MOST];
        random_costs(t, &rng, columns - (uint32_t)kn_rng_below(&rng, 20), columns);
        kn_assign(t->cost, t->rows, t->columns, true, t->chosen, t->room);
        kn_assign(t->cost, t->rows, t->columns, false, any, t->room);
        assert_assignment(t, t->chosen);
        assert_true(total(t, t->chosen) == total(t, any));
        for (int trial = 0; trial < 20; trial++) {
            uint32_t row = (uint32_t)kn_rng_below(&rng, t->rows), earlier = (uint32_t)kn_rng_below(&rng, t->columns);
            if (earlier >= t->chosen[row]) continue;
            *forced = *t;
            for (uint32_t i = 0; i <= row; i++) /* the rows up to it may not move */
                for (uint32_t j = 0; j < t->columns; j++)
                    if (j != (i < row ? t->chosen[i] : earlier)) forced->cost[i * t->columns + j] = 1000000;
            kn_assign(forced->cost, t->rows, t->columns, false, any, t->room);
            assert_true(total(forced, any) > total(t, t->chosen));
        }
    }
    free(t->room);
    free(forced);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_assignments), cmocka_unit_test(test_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
