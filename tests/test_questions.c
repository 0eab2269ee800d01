/* test_questions.c: the twelve questions, in both readings, against brute force over all subsets and all budgets on small
 * random tables; the published algorithm and the fast one; persons as well as rows; 1, 2 and 8 threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/questions.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_rng.h"

enum { MOST_COLUMNS = 6, MOST_ROWS = 60, MOST_SETS = 1 << MOST_COLUMNS };

static const char *const names[] = {"a", "b", "c", "d", "e", "f"};

typedef struct sheet {
    int       columns, rows;
    int       cell[MOST_ROWS][MOST_COLUMNS];
    int       person[MOST_ROWS];
    kn_table *table;
} sheet;

static sheet random_sheet(kn_context *ctx, kn_rng *rng)
{
    sheet s = {.columns = 1 + (int)kn_rng_below(rng, MOST_COLUMNS), .rows = 1 + (int)kn_rng_below(rng, MOST_ROWS - 1)};
    char  text[MOST_ROWS * 64];
    int   n = 0;
    for (int c = 0; c < s.columns; c++) n += sprintf(text + n, "%s,", names[c]);
    n += sprintf(text + n, "who\n");
    int copies = 1 + (int)kn_rng_below(rng, 4); /* rows come several times, so that larger k are reached */
    for (int r = 0; r < s.rows; r++) {
        for (int c = 0; c < s.columns; c++) {
            s.cell[r][c] = r % copies ? s.cell[r - 1][c] : (int)kn_rng_below(rng, 1 + kn_rng_below(rng, 4));
            n += sprintf(text + n, "v%d,", s.cell[r][c]);
        }
        s.person[r] = (int)kn_rng_below(rng, 1 + (uint64_t)s.rows / 2);
        n += sprintf(text + n, "p%d\n", s.person[r]);
    }
    char       name[32];
    static int serial;
    snprintf(name, sizeof name, "questions%d.csv", serial++ % 20);
    kn_error err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&s.table, ctx, testing_file(name, text, (size_t)n), NULL, &err), err);
    return s;
}

/* ---- Brute force ---- */

/* The crowd of each row on a set: rows, or different persons, that agree with it. */
static void crowds_of(const sheet *s, unsigned set, bool persons, int *crowds)
{
    for (int r = 0; r < s->rows; r++) {
        bool seen[MOST_ROWS] = {false};
        crowds[r] = 0;
        for (int q = 0; q < s->rows; q++) {
            bool agree = true;
            for (int c = 0; c < s->columns && agree; c++) agree = !(set >> c & 1) || s->cell[r][c] == s->cell[q][c];
            if (!agree || (persons && seen[s->person[q]])) continue;
            seen[s->person[q]] = true;
            crowds[r]++;
        }
    }
}

/* docs/errata.md 1.1, literally: while all rows of the smallest size fit into what is left of the budget, and another size
 * remains, they go. */
static int k_after(const int *crowds, int rows, int budget, int *removed)
{
    bool gone[MOST_ROWS] = {false};
    *removed = 0;
    for (;;) {
        int smallest = 0, of_it = 0, others = 0;
        for (int r = 0; r < rows; r++)
            if (!gone[r] && (smallest == 0 || crowds[r] < smallest)) smallest = crowds[r];
        for (int r = 0; r < rows; r++) {
            if (gone[r]) continue;
            of_it += crowds[r] == smallest;
            others += crowds[r] != smallest;
        }
        if (others == 0 || *removed + of_it > budget) return smallest;
        *removed += of_it;
        for (int r = 0; r < rows; r++) gone[r] |= crowds[r] == smallest;
    }
}

/* Question 9: the smallest (at least) or largest (at most) number of rows; -1: none. */
static int removal(const int *crowds, int rows, int k, bool at_most)
{
    int answer = -1, removed = 0;
    for (int budget = 0; budget <= rows; budget++) {
        int  reached = k_after(crowds, rows, budget, &removed);
        bool fits = at_most ? reached <= k : reached >= k;
        if (fits && (at_most || answer < 0)) answer = budget;
    }
    return answer;
}

static unsigned mask_of(kn_column_set set)
{
    unsigned mask = 0;
    for (int i = 0; i < set.count; i++) mask |= 1u << set.columns[i];
    return mask;
}

static bool listed(const kn_column_set *sets, int64_t count, unsigned mask)
{
    int found = 0;
    for (int64_t i = 0; i < count; i++) found += mask_of(sets[i]) == mask;
    assert_true(found <= 1);
    return found == 1;
}

/* ---- The comparisons ---- */

static void compare_borders(const sheet *s, const kn_sets_options *o, const kn_sets_diagnosis *d)
{
    bool holds[MOST_SETS];
    int  crowds[MOST_ROWS], removed = 0, sets = 1 << s->columns;
    int  budget = o->suppress_mode == KN_SUPPRESS_GIVEN ? (int)kn_fraction_of(o->suppress, s->rows) : 0;
    for (int set = 0; set < sets; set++) {
        crowds_of(s, (unsigned)set, o->entity != NULL, crowds);
        int k = k_after(crowds, s->rows, budget, &removed);
        holds[set] = o->at_most ? k > o->k : k >= o->k;
    }
    int64_t maximal = 0, minimal = 0;
    for (int set = 0; set < sets; set++) {
        bool largest = holds[set], smallest = !holds[set];
        for (int c = 0; c < s->columns; c++) {
            if (set >> c & 1)
                smallest = smallest && holds[set & ~(1 << c)];
            else
                largest = largest && !holds[set | 1 << c];
        }
        maximal += largest;
        minimal += smallest;
        assert_int_equal(listed(d->maximal, d->maximal_count, (unsigned)set), largest);
        assert_int_equal(listed(d->minimal_violating, d->minimal_count, (unsigned)set), smallest);
    }
    assert_int_equal(d->maximal_count, maximal);
    assert_int_equal(d->minimal_count, minimal);
    assert_true(d->complete);
}

static void compare_figures(const sheet *s, const kn_sets_options *o, const kn_sets_diagnosis *d)
{
    int budget = o->suppress_mode == KN_SUPPRESS_GIVEN ? (int)kn_fraction_of(o->suppress, s->rows) : 0;
    assert_int_equal(d->set_count, (1 << s->columns) - 1);
    for (int64_t i = 0; i < d->set_count; i++) {
        const kn_set_answer *a = &d->sets[i];
        int                  crowds[MOST_ROWS], removed = 0;
        crowds_of(s, mask_of(a->set), o->entity != NULL, crowds);
        int k = k_after(crowds, s->rows, budget, &removed);
        assert_int_equal(a->k, k);
        if (o->suppress_mode == KN_SUPPRESS_ASKED && o->k > 0)
            assert_int_equal(a->removed, removal(crowds, s->rows, (int)o->k, o->at_most));
        if (o->suppress_mode == KN_SUPPRESS_ASKED && o->k == 0) {
            assert_true(a->step_count > 0);
            for (int64_t j = 0; j < a->step_count; j++) {
                assert_int_equal(k_after(crowds, s->rows, (int)a->steps[j].removed, &removed), a->steps[j].k);
                assert_int_equal(removed, a->steps[j].removed);
            }
            assert_int_equal(k_after(crowds, s->rows, s->rows, &removed), a->steps[a->step_count - 1].k);
        }
        if (i > 0) assert_true(a->set.count >= d->sets[i - 1].set.count);
    }
}

static void questions_with_unknown_s(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    static const int threads[] = {1, 2, 8};
    for (int round = 0; round < testing_rounds(700); round++) {
        kn_context     *ctx = testing_context(threads[round % 3]);
        sheet           s = random_sheet(ctx, &rng);
        kn_sets_options o = KN_SETS_OPTIONS_INIT;
        o.over = names;
        o.over_count = s.columns;
        o.entity = kn_rng_below(&rng, 3) == 0 ? "who" : NULL;
        o.k = (int64_t)kn_rng_below(&rng, 6);
        o.at_most = o.k > 0 && kn_rng_below(&rng, 2);
        o.suppress_mode = (kn_suppress_mode)kn_rng_below(&rng, 3);
        o.suppress = (kn_fraction){kn_rng_below(&rng, 11), 10};
        if (o.suppress_mode != KN_SUPPRESS_GIVEN) o.suppress.numerator = 0;
        o.algorithm = (kn_set_algorithm)kn_rng_below(&rng, 2);
        kn_sets_diagnosis *d = NULL;
        kn_error           err = KN_ERROR_INIT;
        assert_ok(kn_diagnose_sets(&d, ctx, s.table, &o, &err), err);
        assert_int_equal(d->rows, s.rows);
        if (o.k > 0 && o.suppress_mode != KN_SUPPRESS_ASKED)
            compare_borders(&s, &o, d);
        else
            compare_figures(&s, &o, d);
        kn_sets_diagnosis_free(d);
        kn_table_free(s.table);
        testing_context_free(ctx);
    }
}

static void questions_with_a_given_s(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 2);
    for (int round = 0; round < testing_rounds(400); round++) {
        kn_context         *ctx = testing_context(1 + round % 2);
        sheet               s = random_sheet(ctx, &rng);
        kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
        o.quasi = names;
        o.quasi_count = s.columns;
        o.entity = kn_rng_below(&rng, 3) == 0 ? "who" : NULL;
        kn_diagnosis *d = NULL;
        kn_error      err = KN_ERROR_INIT;
        assert_ok(kn_diagnose(&d, ctx, s.table, &o, &err), err);
        int crowds[MOST_ROWS], removed = 0;
        crowds_of(&s, (1u << s.columns) - 1, o.entity != NULL, crowds);
        assert_int_equal(d->k, k_after(crowds, s.rows, 0, &removed));
        for (int k = 1; k < 9; k++) {
            assert_int_equal(kn_diagnosis_removal(d, k, false), removal(crowds, s.rows, k, false));
            assert_int_equal(kn_diagnosis_removal(d, k, true), removal(crowds, s.rows, k, true));
        }
        for (int64_t i = 0; i < kn_diagnosis_steps(d); i++) {
            kn_step step = kn_diagnosis_step(d, i);
            assert_int_equal(k_after(crowds, s.rows, (int)step.removed, &removed), step.k);
            assert_int_equal(removed, step.removed);
        }
        kn_diagnosis_free(d);
        kn_table_free(s.table);
        testing_context_free(ctx);
    }
}

/* The largest sets that hold within a size: the partial answer says that it is partial. */
static void a_largest_size_gives_a_partial_answer(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < testing_rounds(60); round++) {
        kn_context *ctx = testing_context(2);
        sheet       s = random_sheet(ctx, &rng);
        while (s.columns < 4) {
            kn_table_free(s.table);
            s = random_sheet(ctx, &rng);
        }
        kn_sets_options o = KN_SETS_OPTIONS_INIT;
        o.over = names;
        o.over_count = s.columns;
        o.max_size = 2;
        kn_sets_diagnosis *d = NULL;
        kn_error           err = KN_ERROR_INIT;
        assert_ok(kn_diagnose_sets(&d, ctx, s.table, &o, &err), err);
        assert_false(d->complete);
        assert_non_null(d->why_partial);
        assert_int_equal(d->set_count, s.columns + s.columns * (s.columns - 1) / 2);
        for (int64_t i = 0; i < d->set_count; i++) {
            int crowds[MOST_ROWS], removed = 0;
            crowds_of(&s, mask_of(d->sets[i].set), false, crowds);
            assert_int_equal(d->sets[i].k, k_after(crowds, s.rows, 0, &removed));
        }
        kn_sets_diagnosis_free(d);
        kn_table_free(s.table);
        testing_context_free(ctx);
    }
}

/* More columns than the walk over all subsets takes: level by level, with "k = 1 is final". */
static void many_columns_go_level_by_level(void **state)
{
    (void)state;
    enum { COLUMNS = 13, ROWS = 40 };
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 4);
    char        text[8192];
    int         n = 0, cell[ROWS][COLUMNS];
    const char *over[COLUMNS];
    char        column_names[COLUMNS][16];
    for (int c = 0; c < COLUMNS; c++) {
        snprintf(column_names[c], sizeof column_names[c], "c%d", c);
        over[c] = column_names[c];
        n += sprintf(text + n, "%s%s", c ? "," : "", over[c]);
    }
    n += sprintf(text + n, "\n");
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            cell[r][c] = (int)kn_rng_below(&rng, 2);
            n += sprintf(text + n, "%s%d", c ? "," : "", cell[r][c]);
        }
        n += sprintf(text + n, "\n");
    }
    kn_context        *ctx = testing_context(2);
    kn_table          *table = NULL;
    kn_error           err = KN_ERROR_INIT;
    kn_sets_diagnosis *d = NULL;
    kn_sets_options    o = KN_SETS_OPTIONS_INIT;
    o.over = over;
    o.over_count = COLUMNS;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("many.csv", text, (size_t)n), NULL, &err), err);
    assert_ok(kn_diagnose_sets(&d, ctx, table, &o, &err), err);
    assert_int_equal(d->set_count, (1 << COLUMNS) - 1);
    assert_true(d->calls < d->set_count); /* the rule spared some */
    for (int64_t i = 0; i < d->set_count; i++) {
        unsigned mask = mask_of(d->sets[i].set);
        int      k = ROWS;
        for (int r = 0; r < ROWS; r++) {
            int crowd = 0;
            for (int q = 0; q < ROWS; q++) {
                bool agree = true;
                for (int c = 0; c < COLUMNS && agree; c++) agree = !(mask >> c & 1) || cell[r][c] == cell[q][c];
                crowd += agree;
            }
            if (crowd < k) k = crowd;
        }
        assert_int_equal(d->sets[i].k, k);
    }
    kn_sets_diagnosis_free(d);
    kn_table_free(table);
    testing_context_free(ctx);
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, 5, 5);
    kn_context        *ctx = testing_context(1);
    sheet              s = random_sheet(ctx, &rng);
    kn_error           err = KN_ERROR_INIT;
    kn_sets_diagnosis *d = NULL;
    kn_sets_options    o = KN_SETS_OPTIONS_INIT;
    assert_int_equal(kn_diagnose_sets(&d, ctx, s.table, &o, &err), KN_USAGE);
    static const char *const twice[] = {"a", "a"};
    o.over = twice;
    o.over_count = 2;
    assert_int_equal(kn_diagnose_sets(&d, ctx, s.table, &o, &err), KN_USAGE);
    static const char *const nowhere[] = {"a", "zz"};
    o.over = nowhere;
    assert_int_equal(kn_diagnose_sets(&d, ctx, s.table, &o, &err), KN_INPUT);
    o.over_count = 1;
    o.entity = "a";
    assert_int_equal(kn_diagnose_sets(&d, ctx, s.table, &o, &err), KN_USAGE);
    o.entity = NULL;
    o.k = -1;
    assert_int_equal(kn_diagnose_sets(&d, ctx, s.table, &o, &err), KN_USAGE);
    assert_null(d);
    kn_table_free(s.table);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_with_unknown_s),
        cmocka_unit_test(questions_with_a_given_s),
        cmocka_unit_test(a_largest_size_gives_a_partial_answer),
        cmocka_unit_test(many_columns_go_level_by_level),
        cmocka_unit_test(bad_questions_are_refused),
    };
    return cmocka_run_group_tests_name("questions", tests, NULL, NULL);
}
