/* test_demo.c: the attack on a database as trees: candidates and certain values against a naive twin that tries every way
 * to pair rows, on random databases and random releases; the two ways that fail, and miracle-x, which does not; the paper's
 * students; mistakes; every failure of memory.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "relational_testing.h"

#include <kanon/attack.h>
#include <sys/stat.h>

#include "kn_alloc.h"
#include "kn_demo.h"
#include "kn_demo_release.h"
#include "kn_relational.h"

/* ---- The twin: rows as they stand in the data, cells as texts ---- */

enum { MOST_ROWS = 64 };

/* What a person shows: rows of the data, each with its labels. */
typedef struct shown_person {
    int  count;
    int  table[MOST_ROWS], row[MOST_ROWS], parent[MOST_ROWS]; /* parent: an index into these */
    char label[MOST_ROWS][MOST_QUASI][24];
} shown_person;

static void show_person(shown_person *to, const test_forest *f, const kn_database_plan *plan, uint32_t c, int64_t m)
{
    const uint32_t *rows = kn_database_plan_rows(plan, c, m);
    to->count = (int)kn_database_plan_nodes(plan, c);
    assert_true(to->count <= MOST_ROWS);
    for (int v = 0; v < to->count; v++) {
        uint64_t                 node = plan->node_start[c] + (uint64_t)v;
        const kn_database_table *t = &f->db->tables[plan->table[node]];
        to->table[v] = plan->table[node];
        to->row[v] = f->original[plan->table[node]][rows[v]];
        to->parent[v] = v == 0 ? -1 : (int)plan->parent[node];
        for (int q = 0; q < t->quasi_count; q++) {
            const kn_hierarchy *h = t->columns[t->quasi[q]].hierarchy;
            uint32_t            cell = plan->values[node * (uint64_t)plan->width + (uint64_t)q];
            kn_string           text = kn_hierarchy_text(h, cell);
            snprintf(to->label[v][q], 24, "%.*s", cell == h->leaves ? 0 : (int)text.size, text.data);
        }
    }
}

static bool twin_covers(const test_table *t, const test_row *row, char labels[MOST_QUASI][24])
{
    for (int q = 0; q < t->quasi_count; q++) {
        const test_tree *tree = &t->trees[q];
        bool             covered = strcmp(labels[q], "*") == 0 || (row->quasi[q] < 0 && !labels[q][0]);
        for (int level = 0; row->quasi[q] >= 0 && level < tree->levels; level++)
            covered = covered || strcmp(labels[q], tree->path[row->quasi[q]][level]) == 0;
        if (!covered) return false;
    }
    return true;
}

static bool twin_consistent(const test_data *d, int table, int row, shown_person *p, int at, bool deleted);

/* Gives the released children from number `next` on different known rows, in every way there is. */
static bool twin_assign(const test_data *d, int table, int parent, shown_person *p, int at, int next, bool *used,
                        bool deleted)
{
    const test_table *t = &d->table[table];
    while (next < p->count && (p->parent[next] != at || p->table[next] != table)) next++;
    if (next == p->count) {
        for (int r = 0; r < t->rows && !deleted; r++)
            if (t->row[r].parent == parent && !used[r]) return false;
        return true;
    }
    for (int r = 0; r < t->rows; r++) {
        if (t->row[r].parent != parent || used[r] || !twin_consistent(d, table, r, p, next, deleted)) continue;
        used[r] = true;
        if (twin_assign(d, table, parent, p, at, next + 1, used, deleted)) return true;
        used[r] = false;
    }
    return false;
}

static bool twin_consistent(const test_data *d, int table, int row, shown_person *p, int at, bool deleted)
{
    if (!twin_covers(&d->table[table], &d->table[table].row[row], p->label[at])) return false;
    for (int u = 1; u < d->tables; u++) {
        if (d->table[u].parent != table) continue;
        bool *used = calloc((size_t)d->table[u].rows + 1, sizeof *used);
        bool  ok = twin_assign(d, u, row, p, at, 0, used, deleted);
        free(used);
        if (!ok) return false;
    }
    return true;
}

/* How often each of the four sensitive values stands in a person's rows of a table. */
static void twin_values(const test_data *d, const shown_person *p, int table, int counts[4])
{
    memset(counts, 0, 4 * sizeof *counts);
    for (int v = 0; v < p->count; v++)
        if (p->table[v] == table) counts[d->table[table].row[p->row[v]].sensitive]++;
}

typedef struct twin_result {
    int64_t candidates;
    bool    certain[MOST_TABLES], itself;
} twin_result;

static twin_result twin_attack(const test_data *d, int person, shown_person *people, int count, bool deleted)
{
    twin_result result = {0};
    int         values[MOST_TABLES][4], now[4];
    bool        same[MOST_TABLES];
    memset(values, 0, sizeof values);
    for (int i = 0; i < count; i++) {
        if (!twin_consistent(d, 0, person, &people[i], 0, deleted)) continue;
        result.itself = result.itself || people[i].row[0] == person;
        for (int t = 0; t < d->tables; t++) {
            twin_values(d, &people[i], t, now);
            if (result.candidates == 0) {
                memcpy(values[t], now, sizeof now);
                same[t] = true;
            }
            same[t] = same[t] && memcmp(values[t], now, sizeof now) == 0;
        }
        result.candidates++;
    }
    for (int t = 0; t < d->tables && result.candidates > 0; t++)
        result.certain[t] = same[t] && values[t][0] + values[t][1] + values[t][2] + values[t][3] > 0;
    return result;
}

/* ---- Holding the two against each other ---- */

static kn_demo_found attack_all(kn_context *ctx, const test_data *d, const test_forest *f, const kn_database_plan *plan,
                                bool deleted)
{
    kn_error          err = KN_ERROR_INIT;
    kn_demo_found     found;
    kn_demo_sensitive sensitive[MOST_TABLES];
    int64_t          *targets = malloc((size_t)(f->forest->entities + 1) * sizeof *targets);
    for (int t = 0; t < d->tables; t++)
        sensitive[t] = (kn_demo_sensitive){t, kn_table_find(f->db->tables[t].table, "s")};
    for (int64_t e = 0; e < f->forest->entities; e++) targets[e] = e;
    kn_demo_input in = {.forest = f->forest,
                        .plan = plan,
                        .deleted = deleted,
                        .target_count = f->forest->entities,
                        .targets = targets,
                        .sensitive_count = d->tables,
                        .sensitive = sensitive};
    assert_ok(kn_demo_count(&found, ctx, &in, &err), err);
    free(targets);
    return found;
}

/* Two trees at a time, without what rejects most pairs before. */
static void check_pairs(kn_context *ctx, const test_data *d, const test_forest *f, const kn_database_plan *plan,
                        bool deleted)
{
    kn_error         err = KN_ERROR_INIT;
    kn_tree_matcher *matcher;
    shown_person    *shown = malloc(sizeof *shown);
    kn_tree_match    in = {.forest = f->forest, .plan = plan, .deleted = deleted};
    assert_ok(kn_tree_matcher_make(&matcher, ctx, &in, &err), err);
    for (uint32_t c = 0; c < plan->classes; c++) {
        show_person(shown, f, plan, c, 0);
        for (int64_t e = 0; e < f->forest->entities; e++) {
            bool is;
            assert_ok(kn_tree_consistent(&is, matcher, e, c, &err), err);
            int person = f->original[0][f->forest->row[f->forest->start[e]]];
            assert_int_equal(is, twin_consistent(d, 0, person, shown, 0, deleted));
        }
    }
    kn_tree_matcher_free(matcher);
    free(shown);
}

/* Candidates and certain values of everybody; at least `least` candidates each. Returns who is found. */
static int check_plan(kn_context *ctx, const test_data *d, const test_forest *f, const kn_database_plan *plan,
                      bool deleted, int64_t least)
{
    int           persons = (int)f->forest->entities, unique = 0, count = 0;
    shown_person *people = malloc((size_t)(persons + 1) * sizeof *people);
    for (uint32_t c = 0; c < plan->classes; c++)
        for (int64_t m = 0; m < kn_database_plan_size(plan, c); m++) show_person(&people[count++], f, plan, c, m);
    kn_demo_found found = attack_all(ctx, d, f, plan, deleted);
    for (int e = 0; e < persons; e++) {
        int         person = f->original[0][f->forest->row[f->forest->start[e]]];
        twin_result twin = twin_attack(d, person, people, count, deleted);
        assert_int_equal(found.candidates[e], twin.candidates);
        for (int t = 0; t < d->tables; t++) assert_int_equal(found.certain[e * d->tables + t], twin.certain[t]);
        if (count == persons) assert_true(twin.itself); /* the attacker is never led astray */
        assert_true(twin.candidates >= least);
        unique += twin.candidates == 1;
    }
    check_pairs(ctx, d, f, plan, deleted);
    kn_demo_found_free(&found);
    free(people);
    return unique;
}

/* ---- Random releases ---- */

/* Each person a class; every cell some ancestor of its value; with `deleted`, some rows and all below them go. */
static kn_database_plan *random_plan(kn_context *ctx, const kn_forest *f, kn_rng *rng, bool deleted)
{
    kn_error          err = KN_ERROR_INIT;
    kn_database_plan *p;
    int               width = 1, strength = below(rng, 4);
    uint64_t          at = 0;
    for (int t = 0; t < f->db->table_count; t++)
        if (f->db->tables[t].quasi_count > width) width = f->db->tables[t].quasi_count;
    assert_ok(kn_database_plan_create(&p, ctx, f->entities, (uint32_t)f->entities, f->nodes, f->nodes, width, &err),
              err);
    for (int64_t e = 0; e < f->entities; e++) {
        uint64_t  first = f->start[e], nodes = f->start[e + 1] - first, base = at;
        uint32_t *place = malloc((size_t)nodes * sizeof *place); /* in the released tree */
        for (uint64_t v = 0; v < nodes; v++) {
            uint32_t up = f->parent[first + v];
            place[v] = KN_FOREST_NONE;
            if (v > 0 && (place[up] == KN_FOREST_NONE || (deleted && below(rng, 4) == 0))) continue;
            const kn_database_table *t = &f->db->tables[f->table[first + v]];
            place[v] = (uint32_t)(at - base);
            p->table[at] = f->table[first + v];
            p->parent[at] = v == 0 ? KN_FOREST_NONE : place[up];
            p->rows[at] = f->row[first + v];
            if (v > 0 && p->child_count[base + place[up]]++ == 0) p->first_child[base + place[up]] = place[v];
            for (int q = 0; q < t->quasi_count; q++) {
                const kn_hierarchy *h = t->columns[t->quasi[q]].hierarchy;
                uint32_t            level = (uint32_t)below(rng, (int)h->height + 1);
                if (below(rng, 4) > strength) level = 0;
                p->values[at * (uint64_t)width + (uint64_t)q] =
                    kn_hierarchy_ancestor(h, kn_forest_leaf(f, first + v, q), level);
            }
            at++;
        }
        free(place);
        p->class_of_entity[e] = (uint32_t)e;
        p->members[e] = (uint32_t)e;
        p->member_start[e + 1] = (uint64_t)e + 1;
        p->node_start[e + 1] = p->row_start[e + 1] = at;
    }
    return p;
}

static void test_random_releases(void **state)
{
    kn_rng      rng;
    kn_context *contexts[] = {testing_context(1), testing_context(3)};
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(200); round++) {
        kn_context       *ctx = contexts[round % 8 == 0];
        test_data         d = random_data(&rng, 2 + below(&rng, 14), 3);
        test_forest       f = make_forest(ctx, &d, &rng);
        bool              deleted = round % 2;
        kn_database_plan *plan = random_plan(ctx, f.forest, &rng, deleted);
        check_plan(ctx, &d, &f, plan, deleted, 1);
        kn_database_plan_free(plan);
        test_forest_free(&f);
        free_data(&d);
    }
    testing_context_free(contexts[0]);
    testing_context_free(contexts[1]);
}

/* ---- The three ways on random databases ---- */

/* Rows of the outer join below one row, along tables. */
static int64_t twin_join_rows(const test_data *d, const int *tables, int count, int row)
{
    int64_t rows = 0;
    for (int r = 0; count > 1 && r < d->table[tables[1]].rows; r++)
        if (d->table[tables[1]].row[r].parent == row) rows += twin_join_rows(d, tables + 1, count - 1, r);
    return rows ? rows : 1;
}

/* A table by itself: every combination of cells stands there k times. */
static void check_alone(const test_data *d, const kn_database_plan *plan, int64_t k)
{
    for (int t = 0; t < d->tables; t++) {
        uint64_t nodes = plan->node_start[plan->classes];
        size_t   width = (size_t)plan->width * sizeof *plan->values;
        for (uint64_t v = 0; v < nodes && d->table[t].rows >= k; v++) {
            if (plan->table[v] != t) continue;
            int64_t alike = 0;
            for (uint32_t c = 0; c < plan->classes; c++)
                for (uint64_t w = plan->node_start[c]; w < plan->node_start[c + 1]; w++)
                    if (plan->table[w] == t && memcmp(plan->values + v * (uint64_t)plan->width,
                                                      plan->values + w * (uint64_t)plan->width, width) == 0)
                        alike += kn_database_plan_size(plan, c);
            assert_true(alike >= k);
        }
    }
}

static int count_paths(const test_data *d, kn_demo_join *joins, int tables[MOST_TABLES][MOST_TABLES])
{
    int count = 0;
    for (int t = 0; t < d->tables; t++) {
        bool leaf = true;
        for (int u = 0; u < d->tables; u++) leaf = leaf && d->table[u].parent != t;
        if (!leaf) continue;
        joins[count] = (kn_demo_join){d->table[t].depth + 1, tables[count], 0};
        for (int at = d->table[t].depth, u = t; at >= 0; at--, u = d->table[u].parent) tables[count][at] = u;
        count++;
    }
    return count;
}

static void test_three_ways(void **state)
{
    kn_rng      rng;
    kn_error    err = KN_ERROR_INIT;
    kn_context *contexts[] = {testing_context(1), testing_context(3)};
    int         unique[2] = {0};
    (void)state;
    kn_rng_init(&rng, testing_seed(), 2);
    for (int round = 0; round < testing_rounds(100); round++) {
        kn_context            *ctx = contexts[round % 8 == 0];
        int64_t                k = 2 + below(&rng, 3);
        test_data              d = random_data(&rng, (int)k + below(&rng, 20), 3);
        test_forest            f = make_forest(ctx, &d, &rng);
        kn_demo_join           joins[MOST_TABLES];
        int                    tables[MOST_TABLES][MOST_TABLES], count = count_paths(&d, joins, tables);
        kn_database_plan      *plan;
        kn_relational_problem  problem = KN_RELATIONAL_PROBLEM_INIT;
        kn_relational_counters counters;
        bool                   found;
        assert_ok(kn_demo_release(&plan, ctx, f.forest, joins, count, k, &err), err);
        for (int i = 0; i < count; i++) {
            int64_t rows = 0;
            for (int p = 0; p < d.table[0].rows; p++) rows += twin_join_rows(&d, tables[i], joins[i].table_count, p);
            assert_int_equal(joins[i].rows, rows);
        }
        unique[0] += check_plan(ctx, &d, &f, plan, false, 1);
        kn_database_plan_free(plan);
        for (int t = 0; t < d.tables; t++) {
            tables[t][0] = t;
            joins[t] = (kn_demo_join){1, tables[t], 0};
        }
        assert_ok(kn_demo_release(&plan, ctx, f.forest, joins, d.tables, k, &err), err);
        check_alone(&d, plan, k);
        unique[1] += check_plan(ctx, &d, &f, plan, false, 1);
        kn_database_plan_free(plan);
        problem.forest = f.forest;
        problem.method = KN_METHOD_MIRACLE_X;
        problem.k = k;
        assert_ok(kn_relational_search(&plan, &found, &counters, ctx, &problem, &err), err);
        assert_true(found);
        check_plan(ctx, &d, &f, plan, true, k);
        kn_database_plan_free(plan);
        test_forest_free(&f);
        free_data(&d);
    }
    assert_true(unique[0] > 0 && unique[1] > 0); /* both ways give people away */
    testing_context_free(contexts[0]);
    testing_context_free(contexts[1]);
}

/* ---- Generalized keys ---- */

/* Can the rows of a person, from the i-th of a join on, be different rows that cover them, of classes that hold one? */
static bool twin_keys(const kn_demo_keyed *keyed, size_t row, size_t end, int64_t person, bool *used)
{
    if (row == end) return true;
    for (uint32_t class = 0; class < kn_demo_keyed_classes(keyed); class ++) {
        int64_t       low, high;
        size_t        count;
        const size_t *rows = kn_demo_keyed_rows(keyed, class, &count);
        kn_demo_keyed_range(keyed, class, &low, &high);
        if (person < low || person > high || !kn_demo_keyed_covers(keyed, class, row)) continue;
        size_t i = 0;
        while (i < count && used[rows[i]]) i++;
        if (i == count) continue; /* rows of a class are alike: any of them */
        used[rows[i]] = true;
        bool rest = twin_keys(keyed, row + 1, end, person, used);
        used[rows[i]] = false;
        if (rest) return true;
    }
    return false;
}

/* All ways to give rows of a person, from the i-th of a join on, to different rows: do they show the same sensitive values of
 * a table, those of the first way? */
typedef struct twin_ways {
    const kn_demo_keyed *keyed;
    const test_data     *d;
    const test_forest   *f;
    int                  table;
    bool                *used;
    int                  now[4], first[4];
    bool                 any;
    int                  left; /* ways that are still looked at */
} twin_ways;

static bool twin_same(twin_ways *w, size_t row, size_t end, int64_t person)
{
    if (row == end) {
        if (!w->any) memcpy(w->first, w->now, sizeof w->now);
        w->any = true;
        return memcmp(w->first, w->now, sizeof w->now) == 0;
    }
    for (uint32_t class = 0; class < kn_demo_keyed_classes(w->keyed); class ++) {
        int64_t       low, high;
        size_t        count;
        const size_t *rows = kn_demo_keyed_rows(w->keyed, class, &count);
        kn_demo_keyed_range(w->keyed, class, &low, &high);
        if (person < low || person > high || !kn_demo_keyed_covers(w->keyed, class, row)) continue;
        for (size_t i = 0; i < count && w->left-- > 0; i++) {
            uint64_t node = kn_demo_keyed_node(w->keyed, rows[i], w->table);
            if (w->used[rows[i]]) continue;
            int *value =
                &w->now[node == UINT64_MAX
                            ? 0
                            : w->d->table[w->table].row[w->f->original[w->table][w->f->forest->row[node]]].sensitive];
            w->used[rows[i]] = true;
            *value += node != UINT64_MAX;
            bool same = twin_same(w, row + 1, end, person);
            *value -= node != UINT64_MAX;
            w->used[rows[i]] = false;
            if (!same) return false;
        }
    }
    return true;
}

/* What is said to follow does, whoever of the candidates it is. */
static void check_certain(const twin_ways *of, int64_t target, const bool *candidates, int64_t persons)
{
    const size_t *first = kn_demo_keyed_first(of->keyed);
    twin_ways     w = *of;
    w.left = 20000;
    w.used = calloc(first[persons] + 1, sizeof *w.used);
    for (int64_t p = 0; p < persons; p++)
        if (candidates[p]) assert_true(twin_same(&w, first[target], first[target + 1], p));
    free(w.used);
}

/* Every class has k rows, covers them and holds their persons; candidates are those of the twin. */
static void check_keys(kn_context *ctx, const test_data *d, const test_forest *f, kn_demo_join *joins, int count,
                       int64_t k, int *found_one, int *certain)
{
    kn_demo_sensitive sensitive[MOST_TABLES];
    for (int t = 0; t < d->tables; t++) sensitive[t] = (kn_demo_sensitive){t, 2 + d->table[t].quasi_count};
    kn_demo_keyed *keyed[MOST_TABLES] = {NULL};
    int64_t        targets[64], persons = f->forest->entities;
    kn_error       err = KN_ERROR_INIT;
    kn_demo_found  found;
    for (int j = 0; j < count; j++) {
        assert_ok(kn_demo_keyed_make(&keyed[j], ctx, f->forest, &joins[j], k, &err), err);
        const size_t *first = kn_demo_keyed_first(keyed[j]);
        for (uint32_t class = 0; class < kn_demo_keyed_classes(keyed[j]); class ++) {
            size_t        size;
            int64_t       low, high;
            const size_t *rows = kn_demo_keyed_rows(keyed[j], class, &size);
            kn_demo_keyed_range(keyed[j], class, &low, &high);
            assert_true((int64_t)size >= k || kn_demo_keyed_classes(keyed[j]) == 1);
            for (size_t i = 0; i < size; i++) {
                int64_t e = 0;
                while (first[e + 1] <= rows[i]) e++;
                int64_t person = f->forest->row[f->forest->start[e]];
                assert_true(kn_demo_keyed_covers(keyed[j], class, rows[i]));
                assert_true(low <= person && person <= high);
            }
        }
    }
    for (int64_t e = 0; e < persons; e++) targets[e] = e;
    kn_demo_keys_input in = {f->forest, count, keyed, persons, targets, d->tables, sensitive};
    assert_ok(kn_demo_count_keys(&found, ctx, &in, &err), err);
    for (int64_t e = 0; e < persons; e++) {
        int64_t candidates = 0;
        bool    is[64] = {false};
        for (int64_t p = 0; p < persons; p++) {
            bool fits = true;
            for (int j = 0; j < count; j++) {
                const size_t *first = kn_demo_keyed_first(keyed[j]);
                bool         *used = calloc(first[persons] + 1, sizeof *used);
                fits = fits && twin_keys(keyed[j], first[e], first[e + 1], p, used);
                free(used);
            }
            candidates += is[p] = fits;
        }
        for (int t = 0; t < d->tables; t++) {
            int j = 0;
            if (!found.certain[e * d->tables + t]) continue;
            while (!kn_demo_keyed_has(keyed[j], t)) j++;
            check_certain(&(twin_ways){.keyed = keyed[j], .d = d, .f = f, .table = t}, e, is, persons);
            ++*certain;
        }
        assert_int_equal(found.candidates[e], candidates);
        assert_true(candidates > 0); /* the target itself */
        *found_one += candidates == 1;
    }
    kn_demo_found_free(&found);
    for (int j = 0; j < count; j++) kn_demo_keyed_free(keyed[j]);
}

static void test_generalized_keys(void **state)
{
    (void)state;
    kn_context *contexts[] = {testing_context(1), testing_context(3)};
    uint64_t    seed = testing_seed();
    int         found_one = 0, certain = 0;
    for (uint64_t round = 0; round < (uint64_t)testing_rounds(40); round++) {
        kn_rng rng;
        kn_rng_init(&rng, seed, 1000 + round);
        test_data    d = random_data(&rng, 2 + below(&rng, 12), 2);
        test_forest  f = make_forest(contexts[0], &d, &rng);
        int          tables[MOST_TABLES][MOST_TABLES], alone[MOST_TABLES];
        kn_demo_join paths[MOST_TABLES], single[MOST_TABLES];
        int          count = count_paths(&d, paths, tables);
        for (int t = 0; t < d.tables; t++) {
            alone[t] = t;
            single[t] = (kn_demo_join){1, &alone[t], 0};
        }
        check_keys(contexts[round % 2], &d, &f, paths, count, 2 + below(&rng, 2), &found_one, &certain);
        check_keys(contexts[round % 2], &d, &f, single, d.tables, 2 + below(&rng, 2), &found_one, &certain);
        test_forest_free(&f);
        free_data(&d);
    }
    print_message("%d persons found, %d lists of values\n", found_one, certain);
    assert_true(found_one > 0 && certain > 0); /* the tables are k-anonymous */
    for (int i = 0; i < 2; i++) testing_context_free(contexts[i]);
}

/* ---- Keys join what a join shows ---- */

/* Person a has the rows x, x, y, person b has y; k = 2. The join is cut between x and y: with x everybody is a, with y it
 * may be a or b. Still the key says that it is the same person who shows a with x. */
static void test_narrowest(void **state)
{
    static const struct {
        int parent, value;
    } below_them[] = {{0, 0}, {0, 0}, {0, 1}, {1, 1}};
    kn_error          err = KN_ERROR_INIT;
    kn_context       *ctx = testing_context(1);
    test_data         d = {.tables = 2};
    int               tables[] = {0, 1};
    kn_demo_join      join = {2, tables, 0};
    kn_database_plan *plan;
    (void)state;
    for (int t = 0; t < 2; t++) {
        d.table[t].parent = t - 1;
        d.table[t].depth = t;
        d.table[t].quasi_count = 1;
        d.table[t].trees[0] = (test_tree){2, 2, {{"a", "*"}, {"b", "*"}}};
    }
    for (int i = 0; i < 2; i++) add_row(&d.table[0])->quasi[0] = i;
    for (int i = 0; i < 4; i++)
        *add_row(&d.table[1]) = (test_row){.parent = below_them[i].parent, .quasi = {below_them[i].value}};
    test_forest f = make_forest(ctx, &d, NULL);
    assert_ok(kn_demo_release(&plan, ctx, f.forest, &join, 1, 2, &err), err);
    assert_int_equal(join.rows, 4);
    assert_int_equal(plan->classes, 2);
    const kn_hierarchy *h = f.db->tables[0].columns[f.db->tables[0].quasi[0]].hierarchy;
    assert_int_equal(plan->values[0], 0);
    assert_int_equal(plan->values[plan->node_start[1] * (uint64_t)plan->width], h->nodes - 1);
    assert_int_equal(check_plan(ctx, &d, &f, plan, false, 1), 2);
    kn_database_plan_free(plan);
    test_forest_free(&f);
    free_data(&d);
    testing_context_free(ctx);
}

/* ---- The paper's students, through the public function ---- */

static const char students_csv[] = "Sid,GPA\nS1,3.72\nS2,2.34\nS3,2.71\nS4,4.00\n";
static const char courses_csv[] = "SCid,Sid,Course,Grade\nSC1,S1,Math,93\nSC2,S1,Physics,91\nSC3,S1,History,85\n"
                                  "SC4,S2,CS,78\nSC5,S2,Physics,82\nSC6,S2,Religion,74\nSC7,S3,History,66\n"
                                  "SC8,S3,Religion,88\nSC9,S3,Physics,70\nSC10,S4,History,98\nSC11,S4,Religion,95\n";
static const char books_csv[] = "SCid,Book,Price\nSC1,Discrete,30\nSC2,Calc,41\nSC2,Dyn,52\nSC3,Eur.Hist,23\n"
                                "SC4,Discrete,33\nSC5,Dyn,50\nSC6,World Rel,19\nSC7,Eur.Hist,27\nSC8,Bible,12\n"
                                "SC9,Optics,44\nSC10,Am.Hist,25\nSC11,Bible,11\n";
static const char course_dgh[] = "Math;Science;Any\nCS;Science;Any\nPhysics;Science;Any\nHistory;Social;Any\n"
                                 "Religion;Social;Any\n";
static const char book_dgh[] =
    "Calc;Math book;Science book;Any book\nDiscrete;Math book;Science book;Any book\n"
    "Dyn;Physics book;Science book;Any book\nOptics;Physics book;Science book;Any book\n"
    "Am.Hist;History book;Social book;Any book\nEur.Hist;History book;Social book;Any book\n"
    "Bible;Religion book;Social book;Any book\nWorld Rel;Religion book;Social book;Any book\n";

#define HEAD "kanon: 1\ninput: school/\nentity: {table: students, key: Sid}\nprivacy: [{k: 2}]\ntables:\n"
#define STUDENTS "  students: {key: Sid, attributes: {GPA: {role: sensitive}}}\n"
#define COURSES                                                                                                        \
    "  courses: {key: SCid, parent: {table: students, column: Sid},\n"                                                 \
    "            attributes: {Course: {role: quasi, hierarchy: course.dgh}, Grade: {role: sensitive}}}\n"
#define BOOKS                                                                                                          \
    "  books: {parent: {table: courses, column: SCid},\n"                                                              \
    "          attributes: {Book: {role: quasi, hierarchy: book.dgh}, Price: {role: sensitive}}}\n"

/* Writes the files; returns the path of the release file. */
static const char *write_school(const char *name, const char *text)
{
    const char *spec = testing_file(name, text, strlen(text));
    char        folder[512];
    snprintf(folder, sizeof folder, "%.*sschool", (int)(strrchr(spec, '/') - spec + 1), spec);
    (void)mkdir(folder, 0700);
    testing_file("school/students.csv", students_csv, sizeof students_csv - 1);
    testing_file("school/courses.csv", courses_csv, sizeof courses_csv - 1);
    testing_file("school/books.csv", books_csv, sizeof books_csv - 1);
    testing_file("course.dgh", course_dgh, sizeof course_dgh - 1);
    testing_file("book.dgh", book_dgh, sizeof book_dgh - 1);
    return spec;
}

static kn_status demo(kn_attack_demo_report **out, kn_context *ctx, const char *path,
                      const kn_attack_demo_options *options, kn_error *err)
{
    kn_spec  *spec = NULL;
    kn_status st = kn_spec_read(&spec, ctx, path, err);
    *out = NULL;
    if (st == KN_OK) st = kn_attack_demo(out, ctx, spec, options, err);
    kn_spec_free(spec);
    return st;
}

/* Tp and T1, as in Tables 5 and 6: everybody is found by their courses, S1 among them. */
static void check_courses(const kn_attack_demo_report *r)
{
    assert_int_equal(r->k, 2);
    assert_int_equal(r->persons, 4);
    assert_int_equal(r->targets, 4);
    assert_int_equal(r->path_count, 1);
    assert_int_equal(r->paths[0].rows, 11);
    assert_int_equal(r->sensitive_count, 2);
    for (int way = 0; way <= KN_DEMO_LOCAL; way++) {
        assert_int_equal(r->ways[way].unique, 4);
        assert_int_equal(r->ways[way].below, 4);
        assert_int_equal(r->ways[way].least, 1);
        assert_true(r->ways[way].mean == 1);
        assert_int_equal(r->ways[way].certain[0], 4); /* GPA: "disclosure of Chris's GPA" */
        assert_int_equal(r->ways[way].certain[1], 4); /* Grade */
    }
    /* Keys as ranges: Science of S1 and S2, Physics of S1 to S3, Religion of S2 to S4: only S2 is in all three. */
    for (int way = KN_DEMO_UNIVERSAL_NDGH; way <= KN_DEMO_LOCAL_NDGH; way++) {
        assert_int_equal(r->ways[way].unique, 1);
        assert_int_equal(r->ways[way].below, 1);
        assert_int_equal(r->ways[way].least, 1);
        assert_true(r->ways[way].mean == 2);
    }
    /* S1 with S2, S3 with S4. */
    assert_int_equal(r->ways[KN_DEMO_KANON].none, 0);
    assert_int_equal(r->ways[KN_DEMO_KANON].below, 0);
    assert_int_equal(r->ways[KN_DEMO_KANON].least, 2);
    assert_true(r->ways[KN_DEMO_KANON].mean == 2);
    assert_int_equal(r->ways[KN_DEMO_KANON].certain[0], 0);
    assert_int_equal(r->ways[KN_DEMO_KANON].certain[1], 0);
    assert_int_equal(r->example, 1);
    assert_int_equal(r->example_rows[1], 3);
    assert_int_equal(r->example_candidates[KN_DEMO_UNIVERSAL], 1);
    assert_int_equal(r->example_candidates[KN_DEMO_LOCAL], 1);
    assert_int_equal(r->example_candidates[KN_DEMO_KANON], 2);
}

static void test_students(void **state)
{
    kn_error               err = KN_ERROR_INIT;
    kn_attack_demo_report *r;
    kn_attack_demo_options o = KN_ATTACK_DEMO_OPTIONS_INIT;
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        kn_context *ctx = testing_context(threads);
        assert_ok(demo(&r, ctx, write_school("two.yaml", HEAD STUDENTS COURSES), &o, &err), err);
        check_courses(r);
        kn_attack_demo_report_free(r);
        assert_ok(demo(&r, ctx, write_school("three.yaml", HEAD STUDENTS COURSES BOOKS), &o, &err), err);
        assert_int_equal(r->paths[0].rows, 12); /* the course with two books twice */
        assert_int_equal(r->paths[0].table_count, 3);
        assert_int_equal(r->example, 1);
        assert_int_equal(r->example_rows[2], 4);
        assert_int_equal(r->ways[KN_DEMO_UNIVERSAL].least, 1);
        assert_int_equal(r->ways[KN_DEMO_LOCAL].least, 1);
        assert_int_equal(r->ways[KN_DEMO_KANON].least, 2);
        assert_int_equal(r->ways[KN_DEMO_KANON].below, 0);
        kn_attack_demo_report_free(r);
        testing_context_free(ctx);
    }
    assert_string_equal(kn_demo_way_name(KN_DEMO_LOCAL), "local");
    assert_string_equal(kn_demo_way_name(KN_DEMO_LOCAL_NDGH), "local-ndgh");
}

/* A table with fewer than k rows shows "*" by itself; a sample is the same each time. */
static void test_options(void **state)
{
    kn_error               err = KN_ERROR_INIT;
    kn_attack_demo_report *r, *again;
    kn_attack_demo_options o = KN_ATTACK_DEMO_OPTIONS_INIT;
    kn_context            *ctx = testing_context(2);
    const char            *spec = write_school("three.yaml", HEAD STUDENTS COURSES BOOKS);
    (void)state;
    o.k = 4;
    o.targets = 2;
    assert_ok(demo(&r, ctx, spec, &o, &err), err);
    assert_ok(demo(&again, ctx, spec, &o, &err), err);
    assert_int_equal(r->k, 4);
    assert_int_equal(r->persons, 4);
    assert_int_equal(r->targets, 2);
    assert_int_equal(again->example, r->example);
    assert_true(r->sensitive[0].targets == 2);
    assert_false(r->tables[1].small);
    assert_int_equal(r->ways[KN_DEMO_KANON].least, 4);
    kn_attack_demo_report_free(r);
    kn_attack_demo_report_free(again);
    static const char one_book[] = "SCid,Book,Price\nSC1,Discrete,30\n";
    testing_file("school/books.csv", one_book, sizeof one_book - 1);
    o.targets = 0;
    assert_ok(demo(&r, ctx, spec, &o, &err), err);
    assert_true(r->tables[2].small);
    assert_int_equal(r->tables[2].rows, 1);
    kn_attack_demo_report_free(r);
    testing_context_free(ctx);
}

static void refuse(kn_context *ctx, const char *spec, int64_t k, kn_status status, const char *words)
{
    kn_error               err = KN_ERROR_INIT;
    kn_attack_demo_report *r;
    kn_attack_demo_options o = KN_ATTACK_DEMO_OPTIONS_INIT;
    o.k = k;
    assert_int_equal(demo(&r, ctx, spec, &o, &err), status);
    assert_null(r);
    if (!strstr(err.message, words)) fail_msg("\"%s\" does not say \"%s\"", err.message, words);
}

static void test_mistakes(void **state)
{
    kn_context *ctx = testing_context(1);
    (void)state;
    refuse(ctx, write_school("a.yaml", "kanon: 1\ninput: school/students.csv\n"), 0, KN_USAGE, "lists no tables");
    refuse(ctx, write_school("b.yaml", HEAD STUDENTS), 0, KN_INPUT, "no column is a quasi-identifier");
    refuse(ctx, write_school("c.yaml", HEAD STUDENTS COURSES), 1, KN_USAGE, "at least 2");
    refuse(ctx, write_school("c.yaml", HEAD STUDENTS COURSES), 5, KN_INPUT, "there are 4 persons, fewer than k = 5");
    refuse(ctx, write_school("d.yaml", HEAD STUDENTS "  towns: {key: Town}\n"), 2, KN_INPUT, "towns");
    testing_context_free(ctx);
}

/* ---- No memory ---- */

static void test_no_memory(void **state)
{
    const char *spec = write_school("three.yaml", HEAD STUDENTS COURSES BOOKS);
    kn_status   st = KN_MEMORY;
    int64_t     refused = 0;
    (void)state;
    for (; st != KN_OK; refused += testing_step()) {
        assert_true(refused < 20000);
        testing_allocator      counts = {.refuse_at = refused};
        kn_attack_demo_options o = KN_ATTACK_DEMO_OPTIONS_INIT;
        kn_context            *ctx = NULL;
        kn_error               err = KN_ERROR_INIT;
        kn_attack_demo_report *r = NULL;
        st = testing_refusing_context(&ctx, &counts, 1, &err);
        if (st == KN_OK) st = demo(&r, ctx, spec, &o, &err);
        if (st != KN_OK && st != KN_MEMORY) fail_msg("refused %d: %s", (int)refused, err.message);
        if (st == KN_OK) assert_int_equal(r->ways[KN_DEMO_KANON].least, 2);
        kn_attack_demo_report_free(r);
        kn_context_free(ctx);
        assert_int_equal(counts.live, 0);
    }
    assert_true(refused > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_releases),
        cmocka_unit_test(test_three_ways),
        cmocka_unit_test(test_generalized_keys),
        testing_alone(test_narrowest),
        cmocka_unit_test(test_students),
        cmocka_unit_test(test_options),
        testing_alone(test_mistakes),
        testing_alone(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
