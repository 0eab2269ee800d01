/* test_bitmap.c: the single-table way through rows of bits: the paper's Table 7, and on random databases the same classes
 * and the same rows as a plain program that works on arrays of texts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "relational_testing.h"

#include <math.h>

#include "kn_alloc.h"
#include "kn_bitmap.h"
#include "kn_relational.h"

/* ---- The twin: every person is a list of texts, every cluster a list of persons ---- */

typedef struct fact {
    char text[256];  /* "t1(v3,v0)#1>t2(v1)#1" */
    int  table, row; /* of the data */
} fact;

typedef struct person {
    fact facts[160];
    int  count;
    int  row; /* of the person table */
} person;

typedef struct group {
    int *members, size;
} group;

typedef struct twin {
    const test_data         *data;
    const kn_bitmap_problem *problem;
    person                  *persons;
    int                      count;
    char (*columns)[256]; /* all facts */
    int    column_count;
    group *open, *done;
    int    open_count, done_count;
} twin;

static void cell_text(const test_data *d, int t, int row, int q, char *out)
{
    int leaf = d->table[t].row[row].quasi[q];
    strcpy(out, leaf < 0 ? "?" : d->table[t].trees[q].path[leaf][0]);
}

static void own_text(const test_data *d, int t, int row, char *out)
{
    char cell[24];
    sprintf(out, "t%d(", t);
    for (int q = 0; q < d->table[t].quasi_count; q++) {
        cell_text(d, t, row, q, cell);
        strcat(out, cell);
        strcat(out, ",");
    }
    strcat(out, ")");
}

/* The forest gives the order of siblings; texts and numbers are made here. */
static void read_person(person *p, const test_data *d, const test_forest *f, int64_t entity)
{
    const kn_forest *forest = f->forest;
    uint64_t         begin = forest->start[entity], end = forest->start[entity + 1];
    char             own[96];
    assert_true(end - begin <= 160);
    p->count = 0;
    p->row = f->original[0][forest->row[begin]];
    for (uint64_t n = begin + 1; n < end; n++) {
        fact    *me = &p->facts[p->count];
        uint32_t up = forest->parent[n];
        int      number = 1;
        me->table = forest->table[n];
        me->row = f->original[me->table][forest->row[n]];
        own_text(d, me->table, me->row, own);
        for (;; number++) { /* the first number that this person has not used */
            bool used = false;
            snprintf(me->text, sizeof me->text, "%s>%s#%d", up ? p->facts[up - 1].text : "", own, number);
            for (int i = 0; i < p->count; i++) used |= strcmp(p->facts[i].text, me->text) == 0;
            if (!used) break;
        }
        p->count++;
    }
}

static bool has(const person *p, const char *text)
{
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->facts[i].text, text) == 0) return true;
    return false;
}

/* How many leaves the lowest group that covers all of them has; missing cells meet others in the root. */
static double root_loss(const test_tree *tree, const test_data *d, const twin *w, const group *a, const group *b, int q)
{
    int count = 0, leaves[200];
    for (int side = 0; side < 2; side++) {
        const group *g = side ? b : a;
        for (int m = 0; m < g->size; m++) leaves[count++] = d->table[0].row[w->persons[g->members[m]].row].quasi[q];
    }
    for (int level = 0; level < tree->levels; level++) {
        bool same = true;
        int  cover = 0;
        for (int i = 0; i < count; i++)
            same &= leaves[i] == leaves[0] || (leaves[0] >= 0 && leaves[i] >= 0 &&
                                               strcmp(tree->path[leaves[i]][level], tree->path[leaves[0]][level]) == 0);
        if (!same) continue;
        if (leaves[0] < 0) return 0;
        for (int leaf = 0; leaf < tree->leaves; leaf++)
            cover += strcmp(tree->path[leaf][level], tree->path[leaves[0]][level]) == 0;
        return (cover - 1.0) / (tree->leaves - 1.0);
    }
    return 1;
}

/* LM of the row that all members of both become. */
static double twin_distance(const twin *w, const group *a, const group *b)
{
    const test_data *d = w->data;
    double           sum = 0;
    for (int q = 0; q < d->table[0].quasi_count; q++) sum += root_loss(&d->table[0].trees[q], d, w, a, b, q);
    for (int c = 0; c < w->column_count; c++) {
        int ones = 0, size = a->size + b->size;
        for (int side = 0; side < 2; side++) {
            const group *g = side ? b : a;
            for (int m = 0; m < g->size; m++) ones += has(&w->persons[g->members[m]], w->columns[c]);
        }
        if (ones == size || (w->problem->complete && ones == 0)) continue;
        sum++;
    }
    return sum / (w->column_count + d->table[0].quasi_count);
}

static void take_members(group *to, const group *from)
{
    to->members = realloc(to->members, (size_t)(to->size + from->size) * sizeof(int));
    memcpy(to->members + to->size, from->members, (size_t)from->size * sizeof(int));
    to->size += from->size;
}

static group remove_group(group *groups, int *count, int at)
{
    group g = groups[at];
    (*count)--;
    memmove(groups + at, groups + at + 1, (size_t)(*count - at) * sizeof *groups);
    return g;
}

/* Of nearly equal distances the first: sums of fractions are not exact here. */
static int twin_nearest(const twin *w, const group *g, const group *groups, int from, int count, double *least)
{
    int at = -1;
    for (int i = from; i < count; i++) {
        double d = twin_distance(w, groups + i, g);
        if (at >= 0 && d >= *least - 1e-9) continue;
        at = i;
        *least = d;
    }
    return at;
}

static void twin_run(twin *w, const uint32_t *order)
{
    const kn_bitmap_problem *p = w->problem;
    double                   least = 0, threshold = (double)p->threshold.numerator / (double)p->threshold.denominator;
    w->open = calloc((size_t)w->count + 1, sizeof *w->open);
    w->done = calloc((size_t)w->count + 1, sizeof *w->done);
    for (int i = 0; i < w->count; i++) {
        int   who = (int)order[i];
        group alone = {&who, 1};
        int   at = twin_nearest(w, &alone, w->open, 0, w->open_count, &least);
        if (at < 0 || (least > threshold + 1e-9 && w->open_count < p->climit)) at = w->open_count++;
        take_members(&w->open[at], &alone);
        if (w->open[at].size < p->k) continue;
        w->done[w->done_count++] = remove_group(w->open, &w->open_count, at);
        w->open[w->open_count] = (group){0};
    }
    while (w->open_count > 1) {
        group first = w->open[0];
        int   at = twin_nearest(w, &first, w->open, 1, w->open_count, &least);
        group other = remove_group(w->open, &w->open_count, at);
        take_members(&w->open[0], &other);
        free(other.members);
        if (w->open[0].size >= p->k) w->done[w->done_count++] = remove_group(w->open, &w->open_count, 0);
    }
    for (int m = 0; w->open_count > 0 && p->leftovers == KN_LEFTOVERS_ABSORB && m < w->open[0].size; m++) {
        group alone = {w->open[0].members + m, 1};
        int   at = twin_nearest(w, &alone, w->done, 0, w->done_count, &least);
        take_members(&w->done[at], &alone);
    }
}

static twin make_twin(const test_data *d, const test_forest *f, const kn_bitmap_problem *problem)
{
    twin w = {.data = d, .problem = problem, .count = (int)f->forest->entities};
    w.persons = calloc((size_t)w.count + 1, sizeof *w.persons);
    w.columns = calloc((size_t)f->forest->nodes + 1, sizeof *w.columns);
    for (int e = 0; e < w.count; e++) {
        read_person(&w.persons[e], d, f, e);
        for (int i = 0; i < w.persons[e].count; i++) {
            bool known = false;
            for (int c = 0; c < w.column_count; c++) known |= strcmp(w.columns[c], w.persons[e].facts[i].text) == 0;
            if (!known) strcpy(w.columns[w.column_count++], w.persons[e].facts[i].text);
        }
    }
    return w;
}

static void free_twin(twin *w)
{
    for (int i = 0; i < w->open_count; i++) free(w->open[i].members);
    for (int i = 0; i < w->done_count; i++) free(w->done[i].members);
    free(w->open);
    free(w->done);
    free(w->persons);
    free(w->columns);
}

static bool kept_by_twin(const twin *w, const group *g, const char *text)
{
    for (int m = 0; m < g->size; m++)
        if (!has(&w->persons[g->members[m]], text)) return false;
    return true;
}

/* ---- Plan and twin ---- */

/* Which rows of the data the plan keeps, and what the root shows. */
static void check_member(const twin *w, const group *g, const test_forest *f, const kn_database_plan *plan, uint32_t c,
                         int64_t m)
{
    const person   *p = &w->persons[plan->members[plan->member_start[c] + (uint64_t)m]];
    const uint32_t *rows = kn_database_plan_rows(plan, c, m);
    uint32_t        nodes = kn_database_plan_nodes(plan, c), kept = 1;
    for (int i = 0; i < p->count; i++) {
        bool shown = false, wanted = kept_by_twin(w, g, p->facts[i].text);
        for (uint32_t v = 1; v < nodes; v++)
            shown |= plan->table[plan->node_start[c] + v] == p->facts[i].table &&
                     f->original[p->facts[i].table][rows[v]] == p->facts[i].row;
        assert_int_equal(shown, wanted);
        kept += wanted;
    }
    assert_int_equal(kept, nodes);
}

/* Below the root everything is shown as it was. */
static void check_leaves(const kn_forest *forest, const kn_database_plan *plan)
{
    for (uint32_t c = 0; c < plan->classes; c++)
        for (uint64_t v = plan->node_start[c] + 1; v < plan->node_start[c + 1]; v++) {
            const kn_database_table *t = &forest->db->tables[plan->table[v]];
            for (int q = 0; q < t->quasi_count; q++)
                assert_true(plan->values[v * (uint64_t)plan->width + (uint64_t)q] <=
                            t->columns[t->quasi[q]].hierarchy->leaves); /* a leaf, or "missing" */
        }
}

/* What all members of a group show, as one text. */
static void row_text(const twin *w, const group *g, char *out)
{
    const test_data *d = w->data;
    for (int c = 0; c < w->column_count; c++) {
        int ones = 0;
        for (int m = 0; m < g->size; m++) ones += has(&w->persons[g->members[m]], w->columns[c]);
        *out++ = ones == g->size ? '1' : ones == 0 && w->problem->complete ? '0' : '*';
    }
    *out = '\0';
    for (int q = 0; q < d->table[0].quasi_count; q++) {
        const test_tree *tree = &d->table[0].trees[q];
        int              first = d->table[0].row[w->persons[g->members[0]].row].quasi[q], level = 0;
        for (int m = 1; m < g->size; m++) {
            int leaf = d->table[0].row[w->persons[g->members[m]].row].quasi[q];
            if (leaf == first) continue;
            if (leaf < 0 || first < 0) level = tree->levels - 1;
            while (leaf >= 0 && first >= 0 && strcmp(tree->path[leaf][level], tree->path[first][level]) != 0) level++;
        }
        sprintf(out + strlen(out), ",%s", level == tree->levels - 1 ? "*" : first < 0 ? "?" : tree->path[first][level]);
    }
}

/* LM and DM of the bitmap itself, and the zeros that stay. */
static void check_loss(const twin *w, const kn_bitmap_counters *counters)
{
    double  lm = 0, dm = 0;
    int     kept = 0;
    int64_t absent = 0;
    size_t  size = (size_t)w->column_count + 128;
    char   *texts = malloc(size * (size_t)(w->done_count + 1));
    if (!texts) abort();
    for (int i = 0; i < w->done_count; i++) {
        group nobody = {0};
        row_text(w, &w->done[i], texts + size * (size_t)i);
        lm += w->done[i].size * twin_distance(w, &w->done[i], &nobody);
        kept += w->done[i].size;
        for (const char *at = texts + size * (size_t)i; *at && *at != ','; at++)
            absent += *at == '0' ? w->done[i].size : 0;
    }
    for (int i = 0; i < w->done_count; i++)
        for (int j = 0; j < w->done_count; j++)
            if (strcmp(texts + size * (size_t)i, texts + size * (size_t)j) == 0)
                dm += w->done[i].size * (double)w->done[j].size;
    assert_true(fabs(counters->lm - (lm + w->count - kept) / w->count) < 1e-9);
    assert_true(fabs(counters->dm - dm - (double)(w->count - kept) * w->count) < 1e-6);
    assert_int_equal(counters->absent_kept, absent);
    free(texts);
}

static void check_twin(const twin *w, const test_forest *f, const kn_database_plan *plan,
                       const kn_bitmap_counters *counters)
{
    int kept = 0;
    assert_int_equal(counters->bits, w->column_count);
    assert_true(plan->classes <= (uint32_t)w->done_count);
    for (int i = 0; i < w->done_count; i++) {
        const group *g = &w->done[i];
        uint32_t     c = plan->class_of_entity[g->members[0]];
        kept += g->size;
        for (int m = 0; m < g->size; m++) {
            int64_t at = -1;
            assert_int_equal(plan->class_of_entity[g->members[m]], c);
            for (int64_t j = 0; j < kn_database_plan_size(plan, c); j++)
                if (plan->members[plan->member_start[c] + (uint64_t)j] == (uint32_t)g->members[m]) at = j;
            assert_true(at >= 0);
            check_member(w, g, f, plan, c, at);
        }
    }
    assert_int_equal(plan->suppressed, w->count - kept);
    check_loss(w, counters);
}

static kn_database_plan *run(kn_context *ctx, const kn_bitmap_problem *problem, kn_bitmap_counters *counters)
{
    kn_database_plan *plan = NULL;
    bool              found;
    kn_error          err = KN_ERROR_INIT;
    const char       *reason = "";
    assert_ok(kn_bitmap_search(&plan, &found, counters, ctx, problem, &err), err);
    assert_int_equal(found, plan != NULL);
    if (plan && !kn_database_plan_validate(plan, problem->forest, &reason)) fail_msg("%s", reason);
    assert_true(counters->conversion_seconds >= 0);
    counters->conversion_seconds = 0;
    return plan;
}

static void assert_same_plan(const kn_database_plan *a, const kn_database_plan *b)
{
    assert_int_equal(a->classes, b->classes);
    uint64_t nodes = a->node_start[a->classes], rows = a->row_start[a->classes];
    assert_memory_equal(a->node_start, b->node_start, (a->classes + 1) * sizeof *a->node_start);
    assert_memory_equal(a->class_of_entity, b->class_of_entity, (size_t)a->entities * sizeof *a->class_of_entity);
    assert_memory_equal(a->values, b->values, nodes * (uint64_t)a->width * sizeof *a->values);
    assert_memory_equal(a->rows, b->rows, rows * sizeof *a->rows);
}

static kn_bitmap_problem random_problem(kn_rng *rng, const kn_forest *forest)
{
    static const kn_ratio thresholds[] = {{0, 1}, {1, 20}, {1, 10}, {3, 10}, {4, 5}, {1, 1}};
    static const int      limits[] = {1, 2, 5, 150};
    kn_bitmap_problem     problem = KN_BITMAP_PROBLEM_INIT;
    problem.forest = forest;
    problem.k = 1 + below(rng, 4);
    problem.threshold = thresholds[below(rng, 6)];
    problem.climit = limits[below(rng, 4)];
    problem.seed = below(rng, 2) ? kn_rng_next(rng) : 0;
    problem.leftovers = below(rng, 3) ? KN_LEFTOVERS_ABSORB : KN_LEFTOVERS_DROP;
    problem.complete = below(rng, 2);
    return problem;
}

/* The order of persons, drawn as the seed says. */
static void twin_order(uint32_t *order, int count, uint64_t seed)
{
    kn_rng rng;
    kn_rng_init(&rng, seed, 0);
    for (int i = 0; i < count; i++) order[i] = (uint32_t)i;
    for (int i = count - 1; seed && i > 0; i--) {
        int      j = below(&rng, i + 1);
        uint32_t swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

/* Fewer values, so that facts repeat and persons share them. */
static void narrow(test_data *d, kn_rng *rng)
{
    int values = 1 + below(rng, 3);
    for (int t = 1; t < d->tables; t++)
        for (int i = 0; i < d->table[t].rows; i++)
            for (int q = 0; q < d->table[t].quasi_count; q++)
                if (d->table[t].row[i].quasi[q] >= 0) d->table[t].row[i].quasi[q] %= values;
}

static void check_random(kn_context *const *contexts, kn_rng *rng)
{
    test_data d = random_data(rng, 1 + below(rng, below(rng, 4) ? 24 : 90), 1 + below(rng, 3));
    narrow(&d, rng);
    test_forest        f = make_forest(contexts[0], &d, NULL);
    kn_bitmap_problem  problem = random_problem(rng, f.forest);
    kn_bitmap_counters first, counters;
    uint32_t           order[128];
    bool               small = true;
    for (int64_t e = 0; e < f.forest->entities; e++) small &= f.forest->start[e + 1] - f.forest->start[e] <= 160;
    kn_database_plan *plan = run(contexts[0], &problem, &first);
    if (small && plan) {
        twin w = make_twin(&d, &f, &problem);
        twin_order(order, w.count, problem.seed);
        twin_run(&w, order);
        check_twin(&w, &f, plan, &first);
        check_leaves(f.forest, plan);
        free_twin(&w);
    }
    for (uint32_t c = 0; plan && c < plan->classes; c++) assert_true(kn_database_plan_size(plan, c) >= problem.k);
    assert_int_equal(plan != NULL, f.forest->entities >= problem.k);
    for (int i = 1; plan && i < 3; i++) {
        kn_database_plan *again = run(contexts[i], &problem, &counters);
        assert_same_plan(plan, again);
        assert_memory_equal(&counters, &first, sizeof first);
        kn_database_plan_free(again);
    }
    if (plan) { /* other tools work on it */
        kn_relational_metrics *metrics;
        kn_error               err = KN_ERROR_INIT;
        assert_ok(kn_relational_measure(&metrics, contexts[0], f.forest, plan, &err), err);
        assert_true(metrics->lm >= 0 && metrics->lm <= 1);
        kn_relational_metrics_free(metrics);
    }
    kn_database_plan_free(plan);
    test_forest_free(&f);
    free_data(&d);
}

static void test_random(void **state)
{
    (void)state;
    kn_context *contexts[] = {testing_context(1), testing_context(2), testing_context(8)};
    uint64_t    seed = testing_seed();
    for (uint64_t round = 0; round < (uint64_t)testing_rounds(250); round++) {
        kn_rng rng;
        kn_rng_init(&rng, seed, round);
        check_random(contexts, &rng);
    }
    for (int i = 0; i < 3; i++) testing_context_free(contexts[i]);
}

/* ---- By hand ---- */

static void flat_tree(test_tree *tree, int leaves)
{
    tree->leaves = leaves;
    tree->levels = 2;
    for (int leaf = 0; leaf < leaves; leaf++) {
        sprintf(tree->path[leaf][0], "v%d", leaf);
        strcpy(tree->path[leaf][1], "*");
    }
}

/* The courses of Table 3 and their books: S1 and S2 both take Physics with Dyn; S3 and S4 History and Religion. */
static test_data table_seven(void)
{
    static const int taken[][2] = {{0, 0}, {0, 2}, {0, 3}, {1, 1}, {1, 2}, {1, 4},
                                   {2, 3}, {2, 4}, {2, 2}, {3, 3}, {3, 4}};
    static const int used[][2] = {{0, 1}, {1, 0}, {1, 2}, {2, 5}, {3, 1}, {4, 2},
                                  {5, 7}, {6, 5}, {7, 6}, {8, 3}, {9, 4}, {10, 6}};
    test_data        d = {.tables = 3};
    d.table[0].parent = -1;
    d.table[1] = (test_table){.parent = 0, .depth = 1, .quasi_count = 1};
    d.table[2] = (test_table){.parent = 1, .depth = 2, .quasi_count = 1};
    flat_tree(&d.table[1].trees[0], 5);
    flat_tree(&d.table[2].trees[0], 8);
    for (int i = 0; i < 4; i++) *add_row(&d.table[0]) = (test_row){.sensitive = i};
    for (int i = 0; i < 11; i++) *add_row(&d.table[1]) = (test_row){taken[i][0], {taken[i][1]}, i};
    for (int i = 0; i < 12; i++) *add_row(&d.table[2]) = (test_row){used[i][0], {used[i][1]}, i};
    return d;
}

static void test_table_seven(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    test_data   d = table_seven();
    test_forest f = make_forest(ctx, &d, NULL);
    for (int complete = 0; complete < 2; complete++) {
        kn_bitmap_problem  problem = KN_BITMAP_PROBLEM_INIT;
        kn_bitmap_counters counters;
        problem.forest = f.forest;
        problem.complete = complete;
        kn_database_plan *plan = run(ctx, &problem, &counters);
        assert_int_equal(counters.bits, 5 + 9); /* Math, CS, Physics, History, Religion; nine (course, book) */
        assert_int_equal(counters.columns, 14);
        assert_int_equal(counters.repeated, 0);
        assert_int_equal(plan->classes, 2);
        int64_t entity[4];
        for (int i = 0; i < 4; i++) entity[i] = f.forest->entity_of_row[i];
        uint32_t science = plan->class_of_entity[entity[0]], social = plan->class_of_entity[entity[2]];
        assert_int_equal(plan->class_of_entity[entity[1]], science);
        assert_int_equal(plan->class_of_entity[entity[3]], social);
        assert_true(science != social);
        assert_int_equal(kn_database_plan_nodes(plan, science), 3); /* Physics and Dyn: no Science, no Social */
        assert_int_equal(kn_database_plan_nodes(plan, social), 4);  /* History, Religion, Religion > Bible    */
        /* S1, S2 have 11 of 14 facts between them, S3, S4 have 7 (Physics and Optics are S3's, two History books). */
        assert_int_equal(counters.absent_kept, complete ? 2 * (14 - 11) + 2 * (14 - 7) : 0);
        kn_database_plan_free(plan);
    }
    test_forest_free(&f);
    free_data(&d);
    testing_context_free(ctx);
}

/* A fact that a person has several times: what all have often enough is kept, children with their numbered parents. */
static void test_repeated(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    test_data   d = table_seven();
    for (int t = 0; t < 3; t++) d.table[t].rows = 0;
    for (int p = 0; p < 2; p++) {
        *add_row(&d.table[0]) = (test_row){.sensitive = p};
        for (int n = 0; n < 2 + p; n++) { /* two and three times the same course, each with the same book */
            *add_row(&d.table[1]) = (test_row){p, {2}, n};
            *add_row(&d.table[2]) = (test_row){d.table[1].rows - 1, {3}, n};
        }
    }
    test_forest        f = make_forest(ctx, &d, NULL);
    kn_bitmap_problem  problem = KN_BITMAP_PROBLEM_INIT;
    kn_bitmap_counters counters;
    problem.forest = f.forest;
    kn_database_plan *plan = run(ctx, &problem, &counters);
    assert_int_equal(counters.bits, 6); /* course #1, #2, #3, and a book below each */
    assert_int_equal(counters.repeated, 2);
    assert_int_equal(plan->classes, 1);
    assert_int_equal(kn_database_plan_nodes(plan, 0), 1 + 2 + 2);
    kn_database_plan_free(plan);
    test_forest_free(&f);
    free_data(&d);
    testing_context_free(ctx);
}

/* ---- What can go wrong ---- */

static void test_memory(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, 7, 0);
    test_data d = random_data(&rng, 41, 3);
    while (d.tables < 3) {
        free_data(&d);
        d = random_data(&rng, 41, 3);
    }
    test_forest f = make_forest(ctx, &d, NULL);
    for (int variant = 0; variant < 2; variant++) {
        bool done = false;
        for (int64_t refuse = 0; !done; refuse += testing_step()) {
            testing_allocator  memory = {.refuse_at = refuse};
            kn_context        *failing = NULL;
            kn_database_plan  *plan = NULL;
            kn_bitmap_problem  problem = KN_BITMAP_PROBLEM_INIT;
            kn_bitmap_counters counters;
            kn_error           err = KN_ERROR_INIT;
            bool               found;
            problem.forest = f.forest;
            problem.k = 3;
            problem.complete = variant;
            kn_status st = testing_refusing_context(&failing, &memory, 1, &err);
            if (st == KN_OK) st = kn_bitmap_search(&plan, &found, &counters, failing, &problem, &err);
            done = st == KN_OK;
            if (!done) assert_int_equal(st, KN_MEMORY);
            kn_database_plan_free(plan);
            kn_context_free(failing);
            assert_int_equal(memory.live, 0);
        }
    }
    test_forest_free(&f);
    free_data(&d);
    testing_context_free(ctx);
}

static void assert_fails(kn_context *ctx, const kn_bitmap_problem *problem, kn_status status)
{
    kn_bitmap_counters counters;
    kn_database_plan  *plan;
    kn_error           err = KN_ERROR_INIT;
    bool               found;
    assert_int_equal(kn_bitmap_search(&plan, &found, &counters, ctx, problem, &err), status);
    assert_null(plan);
    assert_false(found);
}

static void test_options(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(2);
    test_data         d = table_seven();
    test_forest       f = make_forest(ctx, &d, NULL);
    kn_bitmap_problem good = KN_BITMAP_PROBLEM_INIT, bad;
    good.forest = f.forest;
    bad = good;
    bad.k = 0;
    assert_fails(ctx, &bad, KN_USAGE);
    bad = good;
    bad.climit = 0;
    assert_fails(ctx, &bad, KN_USAGE);
    bad = good;
    bad.threshold.denominator = 0;
    assert_fails(ctx, &bad, KN_USAGE);
    bad = good;
    bad.k = 5; /* more than there are persons: no plan, no failure */
    assert_fails(ctx, &bad, KN_OK);
    kn_context_cancel(ctx);
    assert_fails(ctx, &good, KN_CANCELLED);
    kn_context_reset_cancel(ctx);
    test_forest_free(&f);
    free_data(&d);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(test_table_seven), testing_alone(test_repeated),   cmocka_unit_test(test_random),
        testing_alone(test_memory),      cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
