/* test_miracle.c: multi-relational k-anonymity: the paper's example, and on random databases what every plan must be:
 * k-anonymous, made of originals or their ancestors, injective; the same as the plain algorithm's, on any number of
 * threads and for any order of rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "relational_testing.h"

#include <math.h>

#include "kn_alloc.h"
#include "kn_relational.h"

/* ---- What a plan releases, from the data alone ---- */

typedef struct released {
    const test_data *data;
    bool            *kept[MOST_TABLES];         /* per row of the data */
    char (*label[MOST_TABLES])[MOST_QUASI][24]; /* what its cells show */
    char **tree;                                /* per person: quasi-identifiers of the whole tree; NULL: dropped */
    char **full;                                /* ... with sensitive values                                      */
} released;

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The subtree of a row as a text, children sorted. */
static char *subtree_text(const released *r, int t, int row, bool sensitive)
{
    char  *children[64], head[128];
    int    count = 0;
    size_t at = (size_t)snprintf(head, sizeof head, "(%d", t), size;
    for (int q = 0; q < r->data->table[t].quasi_count; q++)
        at += (size_t)snprintf(head + at, sizeof head - at, " %s", r->label[t][row][q]);
    if (sensitive) at += (size_t)snprintf(head + at, sizeof head - at, " =%d", r->data->table[t].row[row].sensitive);
    size = at + 2;
    for (int u = 1; u < r->data->tables; u++)
        for (int i = 0; r->data->table[u].parent == t && i < r->data->table[u].rows; i++) {
            if (!r->kept[u][i] || r->data->table[u].row[i].parent != row) continue;
            assert_true(count < 64);
            children[count] = subtree_text(r, u, i, sensitive);
            size += strlen(children[count++]);
        }
    qsort(children, (size_t)count, sizeof *children, compare_texts);
    char *text = malloc(size);
    if (!text) abort();
    strcpy(text, head);
    for (int i = 0; i < count; i++) {
        strcat(text, children[i]);
        free(children[i]);
    }
    return strcat(text, ")");
}

/* Writes the release down row by row; fails if a row is shown twice or a label is neither its value nor above it. */
static released release(const test_data *d, const test_forest *f, const kn_database_plan *plan)
{
    released r = {.data = d};
    int      persons = d->table[0].rows;
    for (int t = 0; t < d->tables; t++) {
        r.kept[t] = calloc((size_t)d->table[t].rows + 1, sizeof(bool));
        r.label[t] = calloc((size_t)d->table[t].rows + 1, sizeof *r.label[t]);
    }
    for (uint32_t c = 0; c < plan->classes; c++)
        for (int64_t m = 0; m < kn_database_plan_size(plan, c); m++) {
            const uint32_t *rows = kn_database_plan_rows(plan, c, m);
            for (uint32_t v = 0; v < kn_database_plan_nodes(plan, c); v++) {
                uint64_t node = plan->node_start[c] + v;
                int      t = plan->table[node], row = f->original[t][rows[v]];
                assert_false(r.kept[t][row]);
                r.kept[t][row] = true;
                for (int q = 0; q < d->table[t].quasi_count; q++) {
                    const kn_database_table *table = &f->db->tables[t];
                    uint32_t                 shown = plan->values[node * (uint64_t)plan->width + (uint64_t)q];
                    const kn_hierarchy      *h = table->columns[table->quasi[q]].hierarchy;
                    kn_string                label = kn_hierarchy_text(h, shown);
                    memcpy(r.label[t][row][q], label.data, label.size);
                    const test_tree *tree = &d->table[t].trees[q];
                    int              leaf = d->table[t].row[row].quasi[q];
                    bool             above = leaf < 0 && (shown == h->leaves || shown == h->nodes - 1);
                    for (int level = 0; leaf >= 0 && level < tree->levels; level++)
                        above |= strcmp(tree->path[leaf][level], r.label[t][row][q]) == 0;
                    assert_true(above);
                }
            }
        }
    r.tree = calloc((size_t)persons, sizeof *r.tree);
    r.full = calloc((size_t)persons, sizeof *r.full);
    for (int p = 0; p < persons; p++) {
        if (!r.kept[0][p]) continue;
        r.tree[p] = subtree_text(&r, 0, p, false);
        r.full[p] = subtree_text(&r, 0, p, true);
    }
    for (int t = 1; t < d->tables; t++) /* nothing hangs in the air */
        for (int i = 0; i < d->table[t].rows; i++)
            if (r.kept[t][i]) assert_true(r.kept[d->table[t].parent][d->table[t].row[i].parent]);
    return r;
}

static void free_release(released *r)
{
    for (int t = 0; t < r->data->tables; t++) {
        free(r->kept[t]);
        free(r->label[t]);
    }
    for (int p = 0; p < r->data->table[0].rows; p++) {
        free(r->tree[p]);
        free(r->full[p]);
    }
    free(r->tree);
    free(r->full);
}

/* How many leaves a label covers. */
static int cover(const test_tree *tree, const char *label)
{
    int count = 0;
    for (int leaf = 0; leaf < tree->leaves; leaf++) {
        bool under = false;
        for (int level = 0; level < tree->levels; level++) under |= strcmp(tree->path[leaf][level], label) == 0;
        count += under;
    }
    return count > 0 ? count : 1; /* a missing cell that is shown */
}

/* k-anonymity of whole trees, LM and DM, all from texts. */
static void check_release(const released *r, const test_forest *f, const kn_database_plan *plan, int k, kn_context *ctx)
{
    const test_data       *d = r->data;
    double                 lost = 0, dm = 0;
    int                    cells = 0, persons = d->table[0].rows;
    kn_relational_metrics *metrics;
    kn_error               err = KN_ERROR_INIT;
    for (int p = 0; p < persons; p++) {
        int same = 0;
        for (int o = 0; r->tree[p] && o < persons; o++) same += r->tree[o] && strcmp(r->tree[p], r->tree[o]) == 0;
        if (r->tree[p]) assert_true(same >= k);
        dm += r->tree[p] ? same : persons;
    }
    assert_ok(kn_relational_measure(&metrics, ctx, f->forest, plan, &err), err);
    for (int t = 0; t < d->tables; t++) {
        double table_lost = 0;
        int weight = (int)f->db->tables[t].weight, table_cells = d->table[t].rows * (d->table[t].quasi_count + weight);
        for (int i = 0; i < d->table[t].rows; i++) table_lost += r->kept[t][i] ? 0 : weight;
        for (int i = 0; i < d->table[t].rows; i++)
            for (int q = 0; q < d->table[t].quasi_count; q++) {
                const test_tree *tree = &d->table[t].trees[q];
                table_lost += r->kept[t][i] ? (cover(tree, r->label[t][i][q]) - 1.0) / (tree->leaves - 1.0) : 1.0;
            }
        lost += table_lost;
        cells += table_cells;
        if (table_cells > 0) assert_true(fabs(metrics->tables[t].lm - table_lost / table_cells) < 1e-9);
    }
    assert_true(fabs(metrics->lm - lost / cells) < 1e-9);
    assert_true(fabs(metrics->dm - dm) < 1e-6);
    kn_relational_metrics_free(metrics);
}

/* ---- Running ---- */

static kn_database_plan *run(kn_context *ctx, const kn_relational_problem *problem, kn_relational_counters *counters)
{
    kn_database_plan *plan = NULL;
    bool              found;
    kn_error          err = KN_ERROR_INIT;
    const char       *reason = "";
    assert_ok(kn_relational_search(&plan, &found, counters, ctx, problem, &err), err);
    assert_int_equal(found, plan != NULL);
    if (plan && !kn_database_plan_validate(plan, problem->forest, &reason)) fail_msg("%s", reason);
    return plan;
}

static void assert_same_plan(const kn_database_plan *a, const kn_database_plan *b)
{
    assert_int_equal(a != NULL, b != NULL);
    if (!a) return;
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->suppressed, b->suppressed);
    uint64_t nodes = a->node_start[a->classes], members = a->member_start[a->classes], rows = a->row_start[a->classes];
    assert_memory_equal(a->node_start, b->node_start, (a->classes + 1) * sizeof *a->node_start);
    assert_memory_equal(a->member_start, b->member_start, (a->classes + 1) * sizeof *a->member_start);
    assert_memory_equal(a->class_of_entity, b->class_of_entity, (size_t)a->entities * sizeof *a->class_of_entity);
    assert_memory_equal(a->table, b->table, nodes * sizeof *a->table);
    assert_memory_equal(a->parent, b->parent, nodes * sizeof *a->parent);
    assert_memory_equal(a->values, b->values, nodes * (uint64_t)a->width * sizeof *a->values);
    assert_memory_equal(a->members, b->members, members * sizeof *a->members);
    assert_memory_equal(a->rows, b->rows, rows * sizeof *a->rows);
}

/* ---- The paper's example ---- */

static void set_tree(test_tree *tree, int leaves, int levels, const char *const *paths)
{
    tree->leaves = leaves;
    tree->levels = levels;
    for (int leaf = 0; leaf < leaves; leaf++)
        for (int level = 0; level < levels; level++) strcpy(tree->path[leaf][level], paths[leaf * levels + level]);
}

/* Students, the courses they take, the books they use. Persons have no quasi-identifier of their own. */
static test_data students(void)
{
    static const char *const courses[] = {"Math",   "Science", "Any",      "CS",     "Science",
                                          "Any",    "Physics", "Science",  "Any",    "History",
                                          "Social", "Any",     "Religion", "Social", "Any"};
    static const char *const books[] = {
        "Calc",         "Math book",     "Science book", "Any book",     "Discrete",      "Math book",   "Science book",
        "Any book",     "Dyn",           "Physics book", "Science book", "Any book",      "Optics",      "Physics book",
        "Science book", "Any book",      "Am.Hist",      "History book", "Social book",   "Any book",    "Eur.Hist",
        "History book", "Social book",   "Any book",     "Bible",        "Religion book", "Social book", "Any book",
        "World Rel",    "Religion book", "Social book",  "Any book"};
    static const int gpa[] = {372, 234, 271, 400};
    static const int taken[][3] = {{0, 0, 93}, {0, 2, 91}, {0, 3, 85}, {1, 1, 78}, {1, 2, 82}, {1, 4, 74},
                                   {2, 3, 66}, {2, 4, 88}, {2, 2, 70}, {3, 3, 98}, {3, 4, 95}};
    static const int used[][3] = {{0, 1, 30}, {1, 0, 41}, {1, 2, 52}, {2, 5, 23}, {3, 1, 33}, {4, 2, 50},
                                  {5, 7, 19}, {6, 5, 27}, {7, 6, 12}, {8, 3, 44}, {9, 4, 25}, {10, 6, 11}};
    test_data        d = {.tables = 3};
    d.table[0].parent = -1;
    d.table[1] = (test_table){.parent = 0, .depth = 1, .quasi_count = 1};
    d.table[2] = (test_table){.parent = 1, .depth = 2, .quasi_count = 1};
    set_tree(&d.table[1].trees[0], 5, 3, courses);
    set_tree(&d.table[2].trees[0], 8, 4, books);
    for (int i = 0; i < 4; i++) *add_row(&d.table[0]) = (test_row){.sensitive = gpa[i]};
    for (int i = 0; i < 11; i++) *add_row(&d.table[1]) = (test_row){taken[i][0], {taken[i][1]}, taken[i][2]};
    for (int i = 0; i < 12; i++) *add_row(&d.table[2]) = (test_row){used[i][0], {used[i][1]}, used[i][2]};
    return d;
}

static void check_students(const test_data *d, const test_forest *f, const kn_database_plan *plan, kn_context *ctx)
{
    static const char *const shown_courses[] = {"Science", "Physics",  "Social", "Science", "Physics", "Social",
                                                "History", "Religion", NULL,     "History", "Religion"};
    static const char *const shown_books[] = {"Discrete", NULL,  "Dyn",          "Social book",
                                              "Discrete", "Dyn", "Social book",  "History book",
                                              "Bible",    NULL,  "History book", "Bible"};
    kn_relational_metrics   *metrics;
    kn_error                 err = KN_ERROR_INIT;
    released                 r = release(d, f, plan);
    assert_int_equal(plan->classes, 2);
    assert_string_equal(r.tree[0], r.tree[1]);
    assert_string_equal(r.tree[2], r.tree[3]);
    for (int i = 0; i < 11; i++) {
        assert_int_equal(r.kept[1][i], shown_courses[i] != NULL);
        if (shown_courses[i]) assert_string_equal(r.label[1][i][0], shown_courses[i]);
    }
    for (int i = 0; i < 12; i++) {
        assert_int_equal(r.kept[2][i], shown_books[i] != NULL);
        if (shown_books[i]) assert_string_equal(r.label[2][i][0], shown_books[i]);
    }
    assert_ok(kn_relational_measure(&metrics, ctx, f->forest, plan, &err), err);
    assert_true(metrics->lm == 79.0 / 322.0); /* M10 */
    assert_true(fabs(metrics->lm_released - 0.1321) < 5e-5);
    assert_true(metrics->dm == 8);
    assert_int_equal(metrics->cells, 23);
    assert_int_equal(metrics->deleted, 3);
    kn_relational_metrics_free(metrics);
    free_release(&r);
}

static void test_students(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    test_data   d = students();
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(20); round++) {
        test_forest f = make_forest(ctx, &d, round ? &rng : NULL);
        for (int variant = 0; variant < 10; variant++) {
            kn_relational_problem  problem = KN_RELATIONAL_PROBLEM_INIT;
            kn_relational_counters counters;
            problem.forest = f.forest;
            problem.threshold = (kn_ratio){round % 2 ? 3 : 1, 10};
            problem.clustering = (kn_clustering)(round % KN_CLUSTERINGS);
            problem.method = (kn_method)(KN_METHOD_MIRACLE + variant / 2 % 3);
            problem.matching = variant >= 6 ? KN_MATCHING_EXACT : KN_MATCHING_GREEDY;
            problem.reference = variant % 2;
            kn_database_plan *plan = run(ctx, &problem, &counters);
            check_students(&d, &f, plan, ctx);
            kn_database_plan_free(plan);
        }
        test_forest_free(&f);
    }
    free_data(&d);
    testing_context_free(ctx);
}

/* ---- Random databases ---- */

static void random_promise(kn_model *m, kn_rng *rng)
{
    m->kind = (kn_model_kind)(KN_MODEL_DISTINCT + below(rng, KN_MODEL_DELTA - KN_MODEL_DISTINCT + 1));
    m->attribute = "s";
    m->l = (kn_ratio){2 + (uint64_t)below(rng, 2), 1};
    m->c = (kn_ratio){3, 1};
    m->k = below(rng, 4);
    m->bound = (kn_ratio){2 + (uint64_t)below(rng, 6), 10}; /* t and alpha */
    if (m->kind >= KN_MODEL_BETA_BASIC) m->bound = (kn_ratio){1 + (uint64_t)below(rng, 5), 2};
}

static kn_relational_problem random_problem(kn_rng *rng, const test_data *d, const kn_forest *forest,
                                            kn_relational_promise *promises)
{
    static const kn_ratio thresholds[] = {{0, 1}, {1, 20}, {1, 10}, {3, 10}, {1, 1}};
    static const int      limits[] = {1, 2, 5, 150};
    kn_relational_problem problem = KN_RELATIONAL_PROBLEM_INIT;
    problem.forest = forest;
    problem.method = (kn_method)(KN_METHOD_MIRACLE + below(rng, 4));
    problem.k = 1 + below(rng, 5);
    problem.threshold = thresholds[below(rng, 5)];
    problem.climit = limits[below(rng, 4)];
    problem.seed = below(rng, 2) ? kn_rng_next(rng) : 0;
    problem.leftovers = below(rng, 3) ? KN_LEFTOVERS_ABSORB : KN_LEFTOVERS_DROP;
    if (problem.method != KN_METHOD_MIRACLE_X_LEVEL && below(rng, 3) == 0) problem.matching = KN_MATCHING_EXACT;
    if (below(rng, 2)) problem.clustering = (kn_clustering)below(rng, KN_CLUSTERINGS);
    if (problem.method != KN_METHOD_DMIRACLE) return problem;
    problem.repair = (kn_diversity)below(rng, KN_DIVERSITIES);
    if (problem.repair == KN_DIVERSITY_DISTANCE) problem.clustering = KN_CLUSTERING_CDGH;
    problem.promises = promises;
    problem.promise_count = 1 + below(rng, 2);
    for (int i = 0; i < problem.promise_count; i++) {
        int table = below(rng, d->tables);
        promises[i] = (kn_relational_promise){table, 2 + d->table[table].quasi_count, KN_MODEL_INIT};
        random_promise(&promises[i].model, rng);
        kn_model_kind kind = promises[i].model.kind;
        if (kind > KN_MODEL_RECURSIVE && kind != KN_MODEL_ALPHA_K && problem.repair == KN_DIVERSITY_DISTANCE)
            problem.repair = KN_DIVERSITY_MERGE;
    }
    return problem;
}

static bool diverse(const kn_model *m, const int *counts, int64_t size)
{
    int    count[PROMISED_VALUES], distinct = 0, tail = 0;
    double l = (double)m->l.numerator, entropy = 0;
    memcpy(count, counts, sizeof count);
    for (int a = 0; a < PROMISED_VALUES; a++)
        for (int b = a + 1; b < PROMISED_VALUES; b++)
            if (count[b] > count[a]) {
                int swap = count[a];
                count[a] = count[b];
                count[b] = swap;
            }
    for (int a = 0; a < PROMISED_VALUES; a++) {
        double share = count[a] / (double)size;
        distinct += count[a] > 0;
        if (count[a] > 0) entropy -= share * log(share);
        if (a >= (int)l - 1) tail += count[a];
    }
    if (m->kind == KN_MODEL_DISTINCT) return distinct >= l;
    return m->kind == KN_MODEL_ENTROPY ? entropy >= log(l) - 1e-9 : count[0] < 3 * tail;
}

/* The sensitive values of every node, counted by hand. */
static void check_promises(const kn_relational_problem *problem, const test_data *d, const test_forest *f,
                           const kn_database_plan *plan)
{
    for (int i = 0; i < problem->promise_count; i++) {
        const kn_model *m = &problem->promises[i].model;
        int             t = problem->promises[i].table, all[PROMISED_VALUES] = {0};
        for (int row = 0; row < d->table[t].rows; row++) all[d->table[t].row[row].sensitive]++;
        for (uint32_t c = 0; c < plan->classes; c++)
            for (uint32_t v = 0; v < kn_database_plan_nodes(plan, c); v++) {
                int     count[PROMISED_VALUES] = {0};
                int64_t size = kn_database_plan_size(plan, c);
                if (plan->table[plan->node_start[c] + v] != t) continue;
                for (int64_t member = 0; member < size; member++)
                    count[d->table[t].row[f->original[t][kn_database_plan_rows(plan, c, member)[v]]].sensitive]++;
                assert_true(m->kind > KN_MODEL_RECURSIVE ? naive_promise(m, count, all) : diverse(m, count, size));
            }
    }
}

/* The same release, whatever the order of rows: persons as texts, sorted. */
static void assert_same_release(const released *a, const released *b)
{
    int          persons = a->data->table[0].rows;
    const char **x = calloc((size_t)persons, sizeof *x), **y = calloc((size_t)persons, sizeof *y);
    for (int p = 0; p < persons; p++) {
        x[p] = a->full[p] ? a->full[p] : "";
        y[p] = b->full[p] ? b->full[p] : "";
    }
    qsort(x, (size_t)persons, sizeof *x, compare_texts);
    qsort(y, (size_t)persons, sizeof *y, compare_texts);
    for (int p = 0; p < persons; p++) assert_string_equal(x[p], y[p]);
    free(x);
    free(y);
}

/* `made`: plans that keep each kind of promise. */
static void check_random(kn_context *const *contexts, kn_rng *rng, int *made)
{
    int       persons = 1 + below(rng, below(rng, 4) ? 25 : 90);
    test_data d =
        below(rng, 2) ? ragged_data(rng, persons) : random_data(rng, persons, 1 + below(rng, below(rng, 3) ? 3 : 5));
    test_forest            f = make_forest(contexts[0], &d, NULL), shuffled = make_forest(contexts[0], &d, rng);
    kn_relational_promise  promises[2];
    kn_relational_problem  problem = random_problem(rng, &d, f.forest, promises);
    kn_relational_counters first, counters;
    kn_database_plan      *plan = run(contexts[0], &problem, &first);
    int                    k = problem.method == KN_METHOD_DMIRACLE && problem.k < 2 ? 2 : (int)problem.k;
    if (plan) {
        released r = release(&d, &f, plan);
        check_release(&r, &f, plan, k, contexts[0]);
        check_promises(&problem, &d, &f, plan);
        for (int i = 0; i < problem.promise_count; i++) made[promises[i].model.kind]++;
        if (problem.leftovers == KN_LEFTOVERS_ABSORB && !problem.promise_count) assert_int_equal(plan->suppressed, 0);
        kn_relational_problem other = problem;
        other.forest = shuffled.forest;
        kn_database_plan *again = run(contexts[1], &other, &counters);
        assert_non_null(again);
        assert_memory_equal(&counters, &first, sizeof first);
        released s = release(&d, &shuffled, again);
        assert_same_release(&r, &s);
        free_release(&s);
        kn_database_plan_free(again);
        free_release(&r);
    } else {
        assert_true(problem.promise_count > 0 || d.table[0].rows < k);
    }
    for (int i = 1; i < 3; i++) {
        kn_database_plan *again = run(contexts[i], &problem, &counters);
        assert_same_plan(plan, again);
        assert_memory_equal(&counters, &first, sizeof first);
        kn_database_plan_free(again);
    }
    problem.reference = true;
    kn_database_plan *plain = run(contexts[0], &problem, &counters);
    assert_same_plan(plan, plain);
    assert_int_equal(first.clusters, counters.clusters);
    assert_int_equal(first.cuts, counters.cuts);
    assert_int_equal(first.merged, counters.merged);
    assert_int_equal(first.absorbed, counters.absorbed);
    assert_int_equal(first.suppressed, counters.suppressed);
    assert_true(first.largest_share == counters.largest_share);
    kn_database_plan_free(plain);
    kn_database_plan_free(plan);
    test_forest_free(&f);
    test_forest_free(&shuffled);
    free_data(&d);
}

static void test_random(void **state)
{
    (void)state;
    kn_context *contexts[] = {testing_context(1), testing_context(2), testing_context(8)};
    uint64_t    seed = testing_seed();
    int         made[KN_MODEL_KINDS] = {0};
    for (uint64_t round = 0; round < (uint64_t)testing_rounds(300); round++) {
        kn_rng rng;
        kn_rng_init(&rng, seed, round);
        check_random(contexts, &rng, made);
    }
    for (int kind = KN_MODEL_DISTINCT; kind <= KN_MODEL_DELTA; kind++) assert_true(made[kind] >= testing_least(2));
    for (int i = 0; i < 3; i++) testing_context_free(contexts[i]);
}

/* ---- The first way of section 5.2 ---- */

/* Four persons: two and two have the same quasi-identifier, and the same sensitive value. */
static void test_distance(void **state)
{
    (void)state;
    kn_context           *ctx = testing_context(2);
    test_data             d = {.tables = 1, .table[0] = {.parent = -1, .quasi_count = 1}};
    kn_relational_promise promise = {0, 3, {.kind = KN_MODEL_DISTINCT, .attribute = "s", .l = {2, 1}}};
    random_tree(&d.table[0].trees[0], &(kn_rng){{1, 2, 3, 4}});
    for (int i = 0; i < 4; i++) *add_row(&d.table[0]) = (test_row){.quasi = {i / 2}, .sensitive = i / 2};
    for (int variant = 0; variant < 4; variant++) {
        test_forest            f = make_forest(ctx, &d, NULL);
        kn_relational_problem  problem = KN_RELATIONAL_PROBLEM_INIT;
        kn_relational_counters counters;
        problem.forest = f.forest;
        problem.method = KN_METHOD_DMIRACLE;
        problem.promises = &promise;
        problem.promise_count = 1;
        problem.reference = variant % 2;
        problem.threshold = (kn_ratio){1, 1};
        problem.climit = 2;
        problem.repair = variant & 2 ? KN_DIVERSITY_DISTANCE : KN_DIVERSITY_MERGE;
        kn_database_plan *plan = run(ctx, &problem, &counters);
        /* Nearest to each is who shares the value: two classes fail and become one. Kept apart, each finds another. (Their
         * trees are then equal, so that the plan has one class either way.) */
        assert_int_equal(plan->suppressed, 0);
        assert_int_equal(counters.merged, variant & 2 ? 0 : 1);
        kn_database_plan_free(plan);
        promise.model.l = (kn_ratio){3, 1}; /* there are two values only */
        assert_null(run(ctx, &problem, &counters));
        promise.model.l = (kn_ratio){2, 1};
        test_forest_free(&f);
    }
    free_data(&d);
    testing_context_free(ctx);
}

/* ---- Ten thousand persons ---- */

/* Like the paper's students: two to three of 22 courses, one or two of the course's four books each. */
static test_data many_students(kn_rng *rng, int persons)
{
    test_data d = {.tables = 3};
    d.table[0] = (test_table){.parent = -1, .quasi_count = 1};
    d.table[1] = (test_table){.parent = 0, .depth = 1, .quasi_count = 2};
    d.table[2] = (test_table){.parent = 1, .depth = 2, .quasi_count = 1};
    for (int t = 0; t < 3; t++)
        for (int q = 0; q < d.table[t].quasi_count; q++) {
            test_tree *tree = &d.table[t].trees[q];
            tree->leaves = 8;
            tree->levels = 4;
            for (int leaf = 0; leaf < 8; leaf++)
                for (int level = 0; level < 4; level++)
                    snprintf(tree->path[leaf][level], 24, "%d-%d", level, leaf >> level);
        }
    for (int p = 0; p < persons; p++) {
        *add_row(&d.table[0]) = (test_row){.quasi = {below(rng, 2)}, .sensitive = below(rng, 4)};
        for (int n = 2 + below(rng, 2); n > 0; n--) {
            int course = below(rng, 8), at = d.table[1].rows;
            *add_row(&d.table[1]) = (test_row){p, {course, below(rng, 2)}, below(rng, 4)};
            for (int b = 1 + below(rng, 2); b > 0; b--)
                *add_row(&d.table[2]) = (test_row){at, {(course + below(rng, 3)) % 8}, below(rng, 4)};
        }
    }
    return d;
}

static void test_pair_evaluations(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 3);
    bool        small = TESTING_SANITIZED && !testing_full();
    test_data   d = many_students(&rng, small ? 1500 : 10000);
    test_forest f = make_forest(ctx, &d, NULL);
    for (int method = 0; method < 3; method++) {
        kn_relational_problem  problem = KN_RELATIONAL_PROBLEM_INIT;
        kn_relational_counters few, many;
        problem.forest = f.forest;
        problem.method = (kn_method)(KN_METHOD_MIRACLE + method);
        problem.k = 10;
        kn_database_plan *plan = run(ctx, &problem, &few);
        problem.reference = true;
        kn_database_plan *plain = run(ctx, &problem, &many);
        assert_same_plan(plan, plain);
        print_message("%s: %lld pair evaluations instead of %lld, %lld distances (%lld by bounds) instead of %lld\n",
                      kn_method_name(problem.method), (long long)few.pair_evaluations, (long long)many.pair_evaluations,
                      (long long)few.distances, (long long)few.skipped, (long long)many.distances);
        assert_true(few.pair_evaluations * (small ? 2 : 10) <= many.pair_evaluations);
        kn_database_plan_free(plan);
        kn_database_plan_free(plain);
    }
    test_forest_free(&f);
    free_data(&d);
    testing_context_free(ctx);
}

/* Persons of several groups, with runs made ahead (eight threads) and without: the plain algorithm's plans, and equal counters. */
static void test_runs(void **state)
{
    (void)state;
    static const int     k[] = {2, 5, 9};
    static const int64_t climit[] = {3, 150, 5000};
    kn_context          *contexts[] = {testing_context(1), testing_context(8), testing_context(3)};
    kn_rng               rng;
    kn_rng_init(&rng, testing_seed(), 4);
    test_data   d = many_students(&rng, TESTING_SANITIZED ? 300 : 700);
    test_forest f = make_forest(contexts[0], &d, NULL);
    for (int variant = 0; variant < 18; variant++) {
        kn_relational_problem  problem = KN_RELATIONAL_PROBLEM_INIT;
        kn_relational_counters first, counters;
        problem.forest = f.forest;
        problem.method = variant % 2 ? KN_METHOD_MIRACLE_X_LEVEL : KN_METHOD_MIRACLE_X;
        problem.k = k[variant / 2 % 3];
        problem.climit = climit[variant / 6];
        problem.seed = variant % 3 == 0; /* 0: as the trees follow each other */
        problem.reference = true;
        kn_database_plan *plain = run(contexts[0], &problem, &first);
        problem.reference = false;
        for (int i = 0; i < 3; i++) {
            kn_relational_counters before = counters;
            kn_database_plan      *plan = run(contexts[i], &problem, &counters);
            assert_same_plan(plain, plan);
            if (i > 0) assert_memory_equal(&counters, &before, sizeof before);
            kn_database_plan_free(plan);
        }
        kn_database_plan_free(plain);
    }
    test_forest_free(&f);
    free_data(&d);
    for (int i = 0; i < 3; i++) testing_context_free(contexts[i]);
}

/* ---- What can go wrong ---- */

/* Refuses each request for memory in turn. */
static void refuse_each(const kn_relational_problem *problem, int threads, int64_t step)
{
    bool done = false;
    /* Far from the beginning many requests are alike: larger steps. */
    for (int64_t refuse = 0; !done; refuse += (refuse < 300 ? 1 : 37) * step * testing_step()) {
        testing_allocator      memory = {.refuse_at = refuse};
        kn_context            *failing = NULL;
        kn_database_plan      *plan = NULL;
        kn_relational_metrics *metrics = NULL;
        kn_relational_counters counters;
        kn_error               err = KN_ERROR_INIT;
        bool                   found;
        kn_status              st = testing_refusing_context(&failing, &memory, threads, &err);
        if (st == KN_OK) st = kn_relational_search(&plan, &found, &counters, failing, problem, &err);
        if (st == KN_OK) st = kn_relational_measure(&metrics, failing, problem->forest, plan, &err);
        done = st == KN_OK;
        if (!done) assert_int_equal(st, KN_MEMORY);
        kn_relational_metrics_free(metrics);
        kn_database_plan_free(plan);
        kn_context_free(failing);
        assert_int_equal(memory.live, 0);
    }
}

static void test_memory(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, 7, 0);
    test_data             d = many_students(&rng, 21);
    test_forest           f = make_forest(ctx, &d, NULL);
    kn_relational_promise promise = {1, 4, {.kind = KN_MODEL_DISTINCT, .attribute = "s", .l = {2, 1}}};
    for (int variant = 0; variant < 10 + KN_CLUSTERINGS - 1; variant++) {
        kn_relational_problem problem = KN_RELATIONAL_PROBLEM_INIT;
        problem.forest = f.forest;
        if (variant >= 10) problem.clustering = (kn_clustering)(variant - 9);
        problem.method = variant < 8 ? (kn_method)(KN_METHOD_MIRACLE + variant % 4) : KN_METHOD_DMIRACLE;
        problem.repair = variant == 8 || variant == 9 ? KN_DIVERSITY_DISTANCE : KN_DIVERSITY_MERGE;
        problem.k = 4;
        problem.reference = variant >= 4 && variant < 10 && variant != 8;
        if (problem.method == KN_METHOD_DMIRACLE) {
            problem.promises = &promise;
            problem.promise_count = 1;
        } else if (problem.method != KN_METHOD_MIRACLE_X_LEVEL) {
            problem.matching = KN_MATCHING_EXACT;
        }
        refuse_each(&problem, 1, 1);
    }
    test_forest_free(&f);
    free_data(&d);
    testing_context_free(ctx);
}

/* Runs that are made ahead. */
static void test_memory_runs(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, 7, 1);
    test_data             d = many_students(&rng, 21);
    test_forest           f = make_forest(ctx, &d, NULL);
    kn_relational_problem problem = KN_RELATIONAL_PROBLEM_INIT;
    problem.forest = f.forest;
    problem.method = KN_METHOD_MIRACLE_X;
    problem.k = 4;
    refuse_each(&problem, 8, 3);
    test_forest_free(&f);
    free_data(&d);
    testing_context_free(ctx);
}

static void test_cancelled(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    kn_rng_init(&rng, 8, 0);
    test_data   d = many_students(&rng, 50);
    test_forest f = make_forest(ctx, &d, NULL);
    kn_context_cancel(ctx);
    for (int variant = 0; variant < 2 * KN_CLUSTERINGS; variant++) {
        kn_relational_problem  problem = KN_RELATIONAL_PROBLEM_INIT;
        kn_relational_counters counters;
        kn_database_plan      *plan;
        kn_error               err = KN_ERROR_INIT;
        bool                   found;
        problem.forest = f.forest;
        problem.reference = variant % 2;
        problem.clustering = (kn_clustering)(variant / 2);
        assert_int_equal(kn_relational_search(&plan, &found, &counters, ctx, &problem, &err), KN_CANCELLED);
        assert_null(plan);
    }
    kn_context_reset_cancel(ctx);
    test_forest_free(&f);
    free_data(&d);
    testing_context_free(ctx);
}

static void assert_usage(kn_context *ctx, const kn_relational_problem *problem)
{
    kn_relational_counters counters;
    kn_database_plan      *plan;
    kn_error               err = KN_ERROR_INIT;
    bool                   found;
    assert_int_equal(kn_relational_search(&plan, &found, &counters, ctx, problem, &err), KN_USAGE);
    assert_null(plan);
}

static void test_options(void **state)
{
    (void)state;
    kn_context           *ctx = testing_context(1);
    test_data             d = students();
    test_forest           f = make_forest(ctx, &d, NULL);
    kn_relational_problem good = KN_RELATIONAL_PROBLEM_INIT, bad;
    good.forest = f.forest;
    bad = good;
    bad.k = 0;
    assert_usage(ctx, &bad);
    bad = good;
    bad.climit = 0;
    assert_usage(ctx, &bad);
    bad = good;
    bad.threshold.denominator = 0;
    assert_usage(ctx, &bad);
    bad = good;
    bad.method = KN_METHOD_MIRACLE_X_LEVEL;
    bad.matching = KN_MATCHING_EXACT;
    assert_usage(ctx, &bad);
    bad = good;
    bad.method = KN_METHOD_DMIRACLE;
    assert_usage(ctx, &bad);
    kn_relational_promise promise = {1, 3, {.kind = KN_MODEL_K, .k = 2}};
    bad.promises = &promise;
    bad.promise_count = 1;
    assert_usage(ctx, &bad);
    promise = (kn_relational_promise){1, 3, {.kind = KN_MODEL_DISTINCT, .l = {2, 1}}};
    bad.repair = KN_DIVERSITY_DISTANCE;
    bad.clustering = KN_CLUSTERING_MDAV;
    assert_usage(ctx, &bad);
    bad.repair = KN_DIVERSITY_MERGE;
    promise = (kn_relational_promise){1, 99, {.kind = KN_MODEL_DISTINCT, .l = {2, 1}}};
    assert_usage(ctx, &bad);
    kn_relational_counters counters;
    bad = good;
    bad.k = 5; /* more than there are persons */
    assert_null(run(ctx, &bad, &counters));
    bad = good;
    bad.method = KN_METHOD_BITMAP;
    assert_usage(ctx, &bad);
    test_forest_free(&f);
    free_data(&d);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_students),         cmocka_unit_test(test_distance),  cmocka_unit_test(test_random),
        cmocka_unit_test(test_pair_evaluations), cmocka_unit_test(test_runs),      testing_alone(test_memory),
        cmocka_unit_test(test_memory_runs),      cmocka_unit_test(test_cancelled), testing_alone(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
