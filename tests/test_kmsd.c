/* test_kmsd.c: K-MSD and K-MSD-AG: the paper's Tables 7, 9 and 10, a plain twin on random tables, and what every result
 * must be: k-anonymous, values raised only along their hierarchy, dependencies kept.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_kmsd.h"
#include "kn_mdg.h"
#include "kn_rng.h"

enum { MOST_QUASI = 5, MOST_ROWS = 60 };

/* ---- The paper's tables ---- */

static const char table1[] =
    "Country,Sex,Zip,Department,Phone,Salary\n"
    "USA,Female,02142,Maths,8515257,15000K\nUSA,Female,02139,Chemistry,8515226,26000K\n"
    "Japan,Male,02138,Physics1,8515411,18000K\nJapan,Male,02142,Physics2,8515412,11000K\n"
    "Korea,Female,02138,Computer1,8515628,34000K\nJapan,Female,02141,Computer2,8515629,28000K\n"
    "Canada,Male,02142,Business,8515338,16000K\nCanada,Male,02138,Management,8515326,12000K\n";

static const char *const table1_trees[] = {
    "USA;North America;*\nCanada;North America;*\nJapan;Asia;*\nKorea;Asia;*\n", "Female;*\nMale;*\n",
    "02138;0213*;021**;*****\n02139;0213*;021**;*****\n02141;0214*;021**;*****\n02142;0214*;021**;*****\n",
    "Maths;Maths;Teaching;*\nChemistry;Chemistry;Teaching;*\nPhysics1;Physics;Teaching;*\nPhysics2;Physics;Teaching;*\n"
    "Computer1;Computer;Teaching;*\nComputer2;Computer;Teaching;*\nBusiness;Business;Teaching;*\n"
    "Management;Management;Teaching;*\n",
    "8515257;851525*;85152**;8515***;851****;85*****;8******;*******\n"
    "8515226;851522*;85152**;8515***;851****;85*****;8******;*******\n"
    "8515411;851541*;85154**;8515***;851****;85*****;8******;*******\n"
    "8515412;851541*;85154**;8515***;851****;85*****;8******;*******\n"
    "8515628;851562*;85156**;8515***;851****;85*****;8******;*******\n"
    "8515629;851562*;85156**;8515***;851****;85*****;8******;*******\n"
    "8515338;851533*;85153**;8515***;851****;85*****;8******;*******\n"
    "8515326;851532*;85153**;8515***;851****;85*****;8******;*******\n"};

static const char *const table7[8][5] = {
    {"USA", "Female", "021**", "Teaching", "85152**"},  {"USA", "Female", "021**", "Teaching", "85152**"},
    {"Japan", "Male", "021**", "Physics", "851541*"},   {"Japan", "Male", "021**", "Physics", "851541*"},
    {"Asia", "Female", "021**", "Computer", "851562*"}, {"Asia", "Female", "021**", "Computer", "851562*"},
    {"Canada", "Male", "021**", "Teaching", "85153**"}, {"Canada", "Male", "021**", "Teaching", "85153**"}};

static const char *const table10[8][5] = {
    {"USA", "Female", "021**", "Teaching", "8515***"},  {"USA", "Female", "021**", "Teaching", "8515***"},
    {"Japan", "Male", "021**", "Physics", "851541*"},   {"Japan", "Male", "021**", "Physics", "851541*"},
    {"Asia", "Female", "021**", "Computer", "851562*"}, {"Asia", "Female", "021**", "Computer", "851562*"},
    {"Canada", "Male", "021**", "Teaching", "8515***"}, {"Canada", "Male", "021**", "Teaching", "8515***"}};

static const char table8[] =
    "Zip,Age\n02138,15\n02139,20\n02141,23\n02142,28\n02138,35\n02138,35\n02138,46\n02138,46\n";

static const char *const table8_trees[] = {
    "02138;0213*;021**;*****\n02139;0213*;021**;*****\n02141;0214*;021**;*****\n02142;0214*;021**;*****\n",
    "15;10-20;0-20;*\n20;10-20;0-20;*\n23;20-30;20-40;*\n28;20-30;20-40;*\n35;30-40;20-40;*\n46;40-50;40-60;*\n"};

static const char *const table9[8][2] = {{"0213*", "10-20"}, {"0213*", "10-20"}, {"0214*", "20-30"}, {"0214*", "20-30"},
                                         {"02138", "35"},    {"02138", "35"},    {"02138", "46"},    {"02138", "46"}};

/* ---- Settings ---- */

typedef struct setting {
    kn_context         *ctx;
    kn_table           *table;
    int                 quasi_count;
    int                 quasi[MOST_QUASI];
    kn_hierarchy       *made[MOST_QUASI];
    const kn_hierarchy *trees[MOST_QUASI];
    kn_requirements    *requirements;
    kn_model            models[2];
    kn_kmsd_problem     problem;
} setting;

static setting make_setting(kn_context *ctx, const char *text, const char *const *trees, int quasi_count, int k, int l,
                            const char *sensitive)
{
    static int        serial;
    setting           s = {.ctx = ctx, .quasi_count = quasi_count};
    kn_error          err = KN_ERROR_INIT;
    kn_csv_options    csv = KN_CSV_OPTIONS_INIT;
    kn_column_type    types[8];
    const char *const names[] = {"Country", "Sex", "Zip", "Department", "Phone", "Age"};
    char              name[64];
    for (int i = 0; i < 6; i++) types[i] = (kn_column_type){names[i], KN_TYPE_TEXT, NULL};
    snprintf(name, sizeof name, "table%d.csv", serial++ % 40);
    const char *path = testing_file(name, text, strlen(text));
    assert_ok(kn_table_read_csv(&s.table, ctx, path, &csv, &err), err);
    int count = 0;
    for (int i = 0; i < 6; i++)
        if (kn_table_find(s.table, names[i]) >= 0) types[count++] = types[i];
    kn_table_free(s.table);
    csv.types = types;
    csv.type_count = count;
    assert_ok(kn_table_read_csv(&s.table, ctx, path, &csv, &err), err);
    for (int q = 0; q < quasi_count; q++) {
        kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
        snprintf(name, sizeof name, "tree%d-%d.csv", q, serial++ % 40);
        spec.path = testing_file(name, trees[q], strlen(trees[q]));
        s.quasi[q] = q;
        assert_ok(kn_hierarchy_make(&s.made[q], ctx, s.table, q, &spec, true, &err), err);
        s.trees[q] = s.made[q];
    }
    s.models[0] = (kn_model){.kind = KN_MODEL_K, .k = k};
    s.models[1] = (kn_model){.kind = KN_MODEL_DISTINCT, .attribute = sensitive, .l = {(uint64_t)l, 1}};
    kn_requirements_options options = {s.models, l > 1 ? 2 : 1, -1, NULL, false};
    assert_ok(kn_requirements_make(&s.requirements, ctx, s.table, &options, &err), err);
    return s;
}

static kn_kmsd_problem problem_of(const setting *s)
{
    return (kn_kmsd_problem){.table = s->table,
                             .quasi_count = s->quasi_count,
                             .quasi = s->quasi,
                             .hierarchies = s->trees,
                             .requirements = s->requirements};
}

static void free_setting(setting *s)
{
    kn_requirements_free(s->requirements);
    for (int q = 0; q < s->quasi_count; q++) kn_hierarchy_free(s->made[q]);
    kn_table_free(s->table);
}

/* The node that a row shows. */
static uint32_t shown(const setting *s, const kn_plan *plan, int row, int q)
{
    const kn_cell *cell = &plan->cells[plan->class_of_row[row] * (uint32_t)s->quasi_count + (uint32_t)q];
    return cell->kind == KN_CELL_VALUE ? s->trees[q]->leaf_of_code[cell->a] : cell->a;
}

static void assert_shows(const setting *s, const kn_plan *plan, int row, int q, const char *text)
{
    kn_string label = kn_hierarchy_text(s->trees[q], shown(s, plan, row, q));
    if (label.size != strlen(text) || memcmp(label.data, text, label.size) != 0)
        fail_msg("row %d, column %d: %.*s instead of %s", row, q, (int)label.size, label.data, text);
}

static kn_plan *run(const setting *s, const kn_kmsd_problem *problem)
{
    kn_plan         *plan = NULL;
    bool             found;
    kn_kmsd_counters counters;
    kn_error         err = KN_ERROR_INIT;
    const char      *reason = "";
    assert_ok(kn_kmsd_search(&plan, &found, &counters, s->ctx, problem, &err), err);
    assert_true(found);
    if (!kn_plan_validate(plan, s->table, s->quasi, s->trees, &reason)) fail_msg("%s", reason);
    return plan;
}

static void test_papers_tables(void **state)
{
    (void)state;
    kn_context     *ctx = testing_context(2);
    setting         s = make_setting(ctx, table1, table1_trees, 5, 2, 1, NULL);
    kn_kmsd_problem problem = problem_of(&s);
    kn_plan        *plan = run(&s, &problem);
    for (int r = 0; r < 8; r++)
        for (int q = 0; q < 5; q++) assert_shows(&s, plan, r, q, table7[r][q]);
    kn_plan_free(plan);
    kn_association department_phone = {1u << 3, 1u << 4};
    problem.associations = &department_phone;
    problem.association_count = 1;
    plan = run(&s, &problem);
    for (int r = 0; r < 8; r++)
        for (int q = 0; q < 5; q++) assert_shows(&s, plan, r, q, table10[r][q]);
    kn_plan_free(plan);
    free_setting(&s);

    s = make_setting(ctx, table8, table8_trees, 2, 2, 1, NULL);
    problem = problem_of(&s);
    kn_association zip_age = {1, 2};
    problem.associations = &zip_age;
    problem.association_count = 1;
    problem.changed_groups_only = true;
    plan = run(&s, &problem);
    for (int r = 0; r < 8; r++)
        for (int q = 0; q < 2; q++) assert_shows(&s, plan, r, q, table9[r][q]);
    kn_plan_free(plan);
    problem.changed_groups_only = false; /* by Definition 8 the rows whose Zip did not change go too */
    plan = run(&s, &problem);
    for (int r = 4; r < 8; r++) {
        assert_shows(&s, plan, r, 0, "02138");
        assert_shows(&s, plan, r, 1, "*");
    }
    kn_plan_free(plan);
    free_setting(&s);
    testing_context_free(ctx);
}

/* ---- The twin ---- */

typedef struct twin {
    const setting        *s;
    int                   k, rows;
    const kn_association *fds;
    int                   fd_count;
    uint32_t              node[MOST_QUASI][MOST_ROWS];
} twin;

static bool same_label(const twin *t, int q, uint32_t a, uint32_t b)
{
    return t->s->trees[q]->label[a] == t->s->trees[q]->label[b];
}

static bool same_group(const twin *t, uint64_t set, int a, int b)
{
    for (int q = 0; q < t->s->quasi_count; q++)
        if ((set >> q & 1) && !same_label(t, q, t->node[q][a], t->node[q][b])) return false;
    return true;
}

static bool below(const kn_hierarchy *h, uint32_t node, uint32_t up)
{
    for (; node != KN_NODE_NONE; node = h->parent[node])
        if (node == up) return true;
    return false;
}

static int count_below(const twin *t, int q, const int *rows, int n, uint32_t up)
{
    int count = 0;
    for (int i = 0; i < n; i++) count += below(t->s->trees[q], t->node[q][rows[i]], up);
    return count;
}

static int count_equal(const twin *t, int q, const int *rows, int n, uint32_t node)
{
    int count = 0;
    for (int i = 0; i < n; i++) count += t->node[q][rows[i]] == node;
    return count;
}

static int gd(const kn_hierarchy *h, uint32_t node, uint32_t up)
{
    int changes = 0;
    for (; node != up; node = h->parent[node]) changes += h->label[node] != h->label[h->parent[node]];
    return changes;
}

/* One partner of s: the next by kind, distance and first row. Returns how many rows rose. */
static int twin_partner(twin *t, int q, const int *rows, int n, uint32_t s, int missing)
{
    const kn_hierarchy *h = t->s->trees[q];
    for (int kind = 0; kind < 3; kind++) {
        int best = -1, best_gd = 0;
        for (int i = 0; i < n; i++) {
            uint32_t node = t->node[q][rows[i]];
            int      own = count_equal(t, q, rows, n, node);
            int      its = own < t->k ? 0 : own > t->k ? 1 : 2;
            if (node == s || its != kind || !below(h, node, s)) continue;
            if (best < 0 || gd(h, node, s) < best_gd) {
                best = i;
                best_gd = gd(h, node, s);
            }
        }
        if (best < 0) continue;
        uint32_t node = t->node[q][rows[best]];
        int      own = count_equal(t, q, rows, n, node), take = own, taken = 0;
        if (kind == 1) take = own - t->k < missing ? own - t->k : missing;
        for (int i = 0; i < n && taken < take; i++)
            if (t->node[q][rows[i]] == node) {
                t->node[q][rows[i]] = s;
                taken++;
            }
        return taken;
    }
    return 0;
}

static void twin_mdg(twin *t, int q, const int *rows, int n)
{
    const kn_hierarchy *h = t->s->trees[q];
    for (;;) {
        int      best_gd = 0;
        uint32_t best = KN_NODE_NONE, target = 0;
        for (int i = 0; i < n; i++) {
            uint32_t v = t->node[q][rows[i]], s = v;
            if (count_equal(t, q, rows, n, v) >= t->k) continue;
            while (count_below(t, q, rows, n, s) < t->k) s = h->parent[s];
            if (best == KN_NODE_NONE || gd(h, v, s) < best_gd) {
                best = v;
                best_gd = gd(h, v, s);
                target = s;
            }
        }
        if (best == KN_NODE_NONE) return;
        for (int i = 0; i < n; i++)
            if (t->node[q][rows[i]] == best) t->node[q][rows[i]] = target;
        for (int have; (have = count_equal(t, q, rows, n, target)) < t->k;)
            if (twin_partner(t, q, rows, n, target, t->k - have) == 0) break;
    }
}

static int violations(const twin *t, uint64_t done, int q)
{
    int count = 0;
    for (int a = 0; a < t->rows; a++) {
        int  same = 0;
        bool first = true;
        for (int b = 0; b < t->rows; b++) {
            bool equal = same_group(t, done | (uint64_t)1 << q, a, b);
            same += equal;
            if (equal && b < a) first = false;
        }
        count += first && same < t->k;
    }
    return count;
}

static void twin_step(twin *t, uint64_t *done, uint64_t among)
{
    int best = -1, fewest = 0, seen[MOST_ROWS] = {0};
    for (int q = 0; q < t->s->quasi_count; q++) {
        if (!(among & ~*done & (uint64_t)1 << q)) continue;
        int v = violations(t, *done, q);
        if (best < 0 || v < fewest) {
            best = q;
            fewest = v;
        }
    }
    int groups[MOST_ROWS]; /* the groups as they are now: MDG must not see its own changes */
    for (int a = 0; a < t->rows; a++)
        for (groups[a] = 0; !same_group(t, *done, a, groups[a]); groups[a]++) {
        }
    for (int a = 0; a < t->rows; a++) {
        int rows[MOST_ROWS], n = 0;
        if (seen[groups[a]]++) continue;
        for (int b = 0; b < t->rows; b++)
            if (groups[b] == groups[a]) rows[n++] = b;
        twin_mdg(t, best, rows, n);
    }
    *done |= (uint64_t)1 << best;
}

static bool anonymous(const twin *t, uint64_t set)
{
    for (int a = 0; a < t->rows; a++) {
        int same = 0;
        for (int b = 0; b < t->rows; b++) same += same_group(t, set, a, b);
        if (same < t->k) return false;
    }
    return true;
}

/* Sets of one size in the order of the quasi-identifiers. */
static bool earlier(uint64_t a, uint64_t b)
{
    for (int q = 0; q < MOST_QUASI; q++)
        if ((a >> q & 1) != (b >> q & 1)) return a >> q & 1;
    return false;
}

static void twin_kmsd(twin *t, uint64_t among)
{
    uint64_t done = 0;
    for (uint64_t set = 1; set <= among; set++) {
        int more = __builtin_popcountll(set) - __builtin_popcountll(done);
        if ((set & ~among) || more < 0 || (more == 0 && !earlier(set, done))) continue;
        if (anonymous(t, set)) done = set;
    }
    if (done == 0) twin_step(t, &done, among);
    while (among & ~done) twin_step(t, &done, among);
}

static bool twin_ag(twin *t, uint64_t left, uint64_t right)
{
    bool     changed = false;
    uint32_t now[MOST_QUASI][MOST_ROWS];
    memcpy(now, t->node, sizeof now);
    for (int q = 0; q < t->s->quasi_count; q++)
        for (int a = 0; (right >> q & 1) && a < t->rows; a++) {
            uint32_t meet = t->node[q][a];
            for (int b = 0; b < t->rows; b++)
                if (same_group(t, left, a, b)) meet = kn_hierarchy_lca(t->s->trees[q], meet, t->node[q][b]);
            now[q][a] = meet;
            changed |= !same_label(t, q, meet, t->node[q][a]);
        }
    memcpy(t->node, now, sizeof now);
    return changed;
}

static void twin_kmsd_ag(twin *t)
{
    uint64_t all = ((uint64_t)1 << t->s->quasi_count) - 1, done = 0;
    int      most = 0;
    for (int i = 0; i < t->fd_count; i++) {
        int times = 0;
        for (int j = 0; j < t->fd_count; j++) times += t->fds[i].left == t->fds[j].left;
        if (times > most) {
            most = times;
            done = t->fds[i].left;
        }
    }
    twin_kmsd(t, done);
    while (all & ~done) {
        int ready = -1;
        for (int i = t->fd_count - 1; i >= 0; i--)
            if (!(t->fds[i].left & ~done) && (t->fds[i].right & ~done)) ready = i;
        if (ready >= 0) {
            twin_ag(t, t->fds[ready].left, t->fds[ready].right & ~done);
            done |= t->fds[ready].right;
        } else
            twin_step(t, &done, all);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < t->fd_count; i++) changed |= twin_ag(t, t->fds[i].left, t->fds[i].right & ~t->fds[i].left);
    }
}

/* ---- Random tables ---- */

static setting random_setting(kn_context *ctx, kn_rng *rng, int rows, int k, int l)
{
    static char text[MOST_ROWS * 64 + 200], tree[MOST_QUASI][4000];
    const char *trees[MOST_QUASI];
    int         quasi = 1 + (int)kn_rng_below(rng, MOST_QUASI), n = 0;
    for (int q = 0; q < quasi; q++) n += sprintf(text + n, "q%d,", q);
    n += sprintf(text + n, "s\n");
    for (int r = 0; r < rows; r++) {
        for (int q = 0; q < quasi; q++) {
            int v = (int)kn_rng_below(rng, 1 + kn_rng_below(rng, 9));
            if (kn_rng_below(rng, 25) == 0)
                n += sprintf(text + n, ",");
            else
                n += sprintf(text + n, "v%d,", v);
        }
        n += sprintf(text + n, "s%d\n", r < 3 ? r : (int)kn_rng_below(rng, 3));
    }
    for (int q = 0; q < quasi; q++) {
        int at = 0, fan = 2 + (int)kn_rng_below(rng, 3);
        for (int v = 0; v < 9; v++) /* a leaf may have a parent of its own name, as in the paper */
            at += kn_rng_below(rng, 6) == 0 ? sprintf(tree[q] + at, "v%d;v%d;h%d;*\n", v, v, v / (fan * 2))
                                            : sprintf(tree[q] + at, "v%d;g%d;h%d;*\n", v, v / fan, v / (fan * 2));
        trees[q] = tree[q];
    }
    return make_setting(ctx, text, trees, quasi, k, l, "s");
}

static int random_fds(kn_rng *rng, int quasi, kn_association *fds)
{
    int count = quasi < 2 ? 0 : (int)kn_rng_below(rng, 4);
    for (int i = 0; i < count; i++) {
        uint64_t all = ((uint64_t)1 << quasi) - 1;
        do {
            fds[i].left = 1 + kn_rng_below(rng, all);
            fds[i].right = (1 + kn_rng_below(rng, all)) & ~fds[i].left;
        } while (fds[i].right == 0);
    }
    return count;
}

static void test_against_the_twin(void **state)
{
    kn_rng rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(250); round++) {
        kn_context     *ctx = testing_context(1 + (int)kn_rng_below(&rng, 2));
        int             rows = 6 + (int)kn_rng_below(&rng, MOST_ROWS - 6), k = 1 + (int)kn_rng_below(&rng, 5);
        setting         s = random_setting(ctx, &rng, rows, k, 1);
        kn_association  fds[4];
        kn_kmsd_problem problem = problem_of(&s);
        twin            t = {.s = &s, .k = k, .rows = rows, .fds = fds};
        problem.association_count = t.fd_count = random_fds(&rng, s.quasi_count, fds);
        problem.associations = fds;
        for (int q = 0; q < s.quasi_count; q++)
            for (int r = 0; r < rows; r++) t.node[q][r] = s.trees[q]->leaf_of_code[kn_table_code(s.table, q, r)];
        if (t.fd_count > 0)
            twin_kmsd_ag(&t);
        else
            twin_kmsd(&t, ((uint64_t)1 << s.quasi_count) - 1);
        kn_plan *plan = run(&s, &problem);
        for (int r = 0; r < rows; r++)
            for (int q = 0; q < s.quasi_count; q++) assert_true(same_label(&t, q, shown(&s, plan, r, q), t.node[q][r]));
        assert_true(anonymous(&t, ((uint64_t)1 << s.quasi_count) - 1));
        for (int i = 0; i < t.fd_count; i++) /* kept, whether they held before or not */
            for (int a = 0; a < rows; a++)
                for (int b = 0; b < a; b++)
                    if (same_group(&t, fds[i].left, a, b)) assert_true(same_group(&t, fds[i].right, a, b));
        kn_plan_free(plan);
        free_setting(&s);
        testing_context_free(ctx);
    }
}

/* Models beyond k: merged or suppressed, never released. */
static void check_models(uint64_t seed)
{
    kn_rng rng;
    kn_rng_init(&rng, seed, 2);
    for (int round = 0; round < testing_rounds(150); round++) {
        kn_context      *ctx = testing_context(1 + (int)kn_rng_below(&rng, 2));
        int              rows = 6 + (int)kn_rng_below(&rng, MOST_ROWS - 6), k = 1 + (int)kn_rng_below(&rng, 4);
        int              l = 2 + (int)kn_rng_below(&rng, 2), suppressed = 0;
        setting          s = random_setting(ctx, &rng, rows, k, l);
        kn_association   fds[4];
        kn_kmsd_problem  problem = problem_of(&s);
        kn_plan         *plan = NULL;
        bool             found;
        kn_kmsd_counters counters;
        kn_error         err = KN_ERROR_INIT;
        const char      *reason = "";
        problem.association_count = random_fds(&rng, s.quasi_count, fds);
        problem.associations = fds;
        problem.budget = (int64_t)kn_rng_below(&rng, 10);
        assert_ok(kn_kmsd_search(&plan, &found, &counters, ctx, &problem, &err), err);
        assert_true(found); /* three values among three rows at least: all rows together hold */
        if (!kn_plan_validate(plan, s.table, s.quasi, s.trees, &reason)) fail_msg("%s", reason);
        for (uint32_t c = 0; c < plan->classes; c++) {
            bool has[4] = {false};
            int  values = 0, size = 0;
            for (int r = 0; r < rows; r++) {
                if (plan->class_of_row[r] != c) continue;
                size++;
                uint32_t v = kn_table_code(s.table, s.quasi_count, r);
                values += !has[v];
                has[v] = true;
            }
            assert_true(size >= k && values >= l);
        }
        for (int r = 0; r < rows; r++) suppressed += plan->class_of_row[r] == KN_CLASS_SUPPRESSED;
        assert_true(suppressed <= problem.budget && suppressed == plan->suppressed);
        kn_plan_free(plan);
        free_setting(&s);
        testing_context_free(ctx);
    }
}

static void test_models(void **state)
{
    (void)state;
    check_models(testing_seed());
    check_models(1794811961429463); /* a union came to show what a suppressed class had shown, and was taken for it */
}

/* ---- One large group with many rare values ---- */

static void test_large_group(void **state)
{
    enum { ROWS = 60000, RARE = 6000, K = 5 };
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    char       *text = malloc(ROWS * 8 + 100), *tree = malloc((size_t)(RARE + 1) * 48);
    size_t      n = (size_t)sprintf(text, "Zip\n"), m = 0;
    for (int r = 0; r < ROWS; r++) n += (size_t)sprintf(text + n, "%d\n", r % 10 == 0 ? 10000 + r / 10 % RARE : 99999);
    for (int v = 0; v < RARE; v++)
        m += (size_t)sprintf(tree + m, "%d;%d*;%d**;%d***;*\n", 10000 + v, 1000 + v / 10, 100 + v / 100, 10 + v / 1000);
    sprintf(tree + m, "99999;9999*;999**;99***;*\n");
    const char *trees[] = {tree};
    setting     s = make_setting(ctx, text, trees, 1, K, 1, NULL);
    uint32_t   *nodes = malloc(ROWS * sizeof *nodes), *rows = malloc(ROWS * sizeof *rows);
    kn_mdg     *mdg = NULL;
    int64_t     steps = 0;
    for (uint32_t r = 0; r < ROWS; r++) {
        rows[r] = r;
        nodes[r] = s.trees[0]->leaf_of_code[kn_table_code(s.table, 0, r)];
    }
    assert_ok(kn_mdg_make(&mdg, ctx, s.trees[0], &err), err);
    assert_ok(kn_mdg_group(mdg, rows, ROWS, K, nodes, &steps, &err), err);
    for (int r = 0; r < ROWS; r++) /* ten rare neighbours share a parent: one step up is enough for all */
        assert_int_equal(s.trees[0]->level[nodes[r]], r % 10 == 0 ? 1 : 0);
    kn_mdg_free(mdg);
    free(nodes);
    free(rows);
    free(text);
    free(tree);
    free_setting(&s);
    testing_context_free(ctx);
}

static void test_same_on_any_number_of_threads(void **state)
{
    (void)state;
    uint64_t seed = testing_seed();
    for (uint64_t round = 0; round < (uint64_t)testing_rounds(20); round++) {
        kn_plan    *plans[3];
        kn_context *contexts[3];
        setting     settings[3];
        for (int i = 0; i < 3; i++) {
            kn_rng         rng;
            kn_association fds[4];
            kn_rng_init(&rng, seed, 50 + round);
            contexts[i] = testing_context(i == 2 ? 8 : i + 1);
            settings[i] = random_setting(contexts[i], &rng, MOST_ROWS, 2, 1);
            kn_kmsd_problem problem = problem_of(&settings[i]);
            problem.association_count = random_fds(&rng, settings[i].quasi_count, fds);
            problem.associations = fds;
            plans[i] = run(&settings[i], &problem);
            assert_int_equal(plans[i]->classes, plans[0]->classes);
            assert_memory_equal(plans[i]->class_of_row, plans[0]->class_of_row, MOST_ROWS * sizeof(uint32_t));
            assert_memory_equal(plans[i]->cells, plans[0]->cells,
                                plans[0]->classes * (size_t)plans[0]->quasi_count * sizeof(kn_cell));
        }
        for (int i = 0; i < 3; i++) {
            kn_plan_free(plans[i]);
            free_setting(&settings[i]);
            testing_context_free(contexts[i]);
        }
    }
}

static void test_refused_memory(void **state)
{
    kn_status status = KN_MEMORY;
    (void)state;
    for (int64_t at = 0; status != KN_OK; at += testing_step()) {
        testing_allocator memory = {.refuse_at = -1};
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        kn_rng            rng;
        kn_plan          *plan = NULL;
        bool              found;
        kn_kmsd_counters  counters;
        kn_association    fd = {1, 2};
        assert_ok(testing_refusing_context(&ctx, &memory, 2, &err), err);
        setting s;
        for (uint64_t seed = 1;; seed++) { /* one with several attributes */
            kn_rng_init(&rng, seed, 7);
            s = random_setting(ctx, &rng, 30, 3, 2);
            if (s.quasi_count >= 3) break;
            free_setting(&s);
        }
        kn_kmsd_problem problem = problem_of(&s);
        problem.associations = &fd;
        problem.association_count = 1;
        memory.refuse_at = memory.requests + at;
        status = kn_kmsd_search(&plan, &found, &counters, ctx, &problem, &err);
        assert_true(status == KN_OK || status == KN_MEMORY);
        memory.refuse_at = -1;
        kn_plan_free(plan);
        free_setting(&s);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_papers_tables),
        cmocka_unit_test(test_against_the_twin),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_large_group),
        cmocka_unit_test(test_same_on_any_number_of_threads),
        cmocka_unit_test(test_refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
