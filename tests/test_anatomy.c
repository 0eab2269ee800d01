/* test_anatomy.c: anatomized releases: on random databases every group is what cannot be told apart, lists the values that
 * its rows have and is as diverse as promised; nothing sensitive stays in the rows; names do not clash; and what a folder
 * holds in the end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "relational_testing.h"

#include <math.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_anatomy.h"
#include "kn_database_roles.h"
#include "kn_relational.h"

/* ---- A plan of diverse classes ---- */

static kn_database_plan *diverse_plan(kn_context *ctx, kn_rng *rng, const kn_forest *forest, const test_data *d,
                                      kn_relational_promise *promises, int *promised)
{
    static const kn_model_kind kinds[] = {KN_MODEL_DISTINCT, KN_MODEL_ENTROPY, KN_MODEL_RECURSIVE};
    kn_relational_problem      problem = KN_RELATIONAL_PROBLEM_INIT;
    kn_relational_counters     counters;
    kn_database_plan          *plan;
    kn_error                   err = KN_ERROR_INIT;
    bool                       found;
    kn_model_kind              kind = kinds[below(rng, 3)];
    problem.forest = forest;
    problem.method = KN_METHOD_DMIRACLE;
    problem.k = 2 + below(rng, 2);
    problem.threshold = (kn_ratio){(uint64_t)below(rng, 3), 2};
    problem.repair = (kn_diversity)below(rng, KN_DIVERSITIES);
    problem.promises = promises;
    problem.promise_count = *promised = below(rng, 2) ? d->tables : 1; /* more are kept where less is promised */
    for (int t = 0; t < d->tables; t++) {
        promises[t] = (kn_relational_promise){t, 2 + d->table[t].quasi_count, KN_MODEL_INIT};
        promises[t].model.kind = kind;
        promises[t].model.attribute = "s";
        promises[t].model.l = (kn_ratio){2, 1};
        promises[t].model.c = (kn_ratio){3, 1};
    }
    assert_ok(kn_relational_search(&plan, &found, &counters, ctx, &problem, &err), err);
    return plan;
}

/* ---- The twin: what cannot be told apart, as texts ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The generalized subtree below a node of a class. */
static char *subtree_text(const kn_database_plan *p, uint32_t c, uint32_t v)
{
    uint64_t at = p->node_start[c] + v;
    char    *below_it[64], head[128];
    size_t   size = (size_t)snprintf(head, sizeof head, "(%d", p->table[at]) + 2;
    uint32_t count = 0;
    for (int q = 0; q < p->width; q++) {
        size_t used = strlen(head);
        size +=
            (size_t)snprintf(head + used, sizeof head - used, " %u", p->values[at * (uint64_t)p->width + (uint64_t)q]);
    }
    for (uint32_t i = 1; i < kn_database_plan_nodes(p, c); i++) {
        if (p->parent[p->node_start[c] + i] != v) continue;
        assert_true(count < 64);
        below_it[count] = subtree_text(p, c, i);
        size += strlen(below_it[count++]);
    }
    qsort(below_it, count, sizeof *below_it, compare_texts);
    char *text = malloc(size);
    if (!text) abort();
    strcpy(text, head);
    for (uint32_t i = 0; i < count; i++) {
        strcat(text, below_it[i]);
        free(below_it[i]);
    }
    return strcat(text, ")");
}

/* The class, and the subtrees on the way from the root: rows with the same text are one group. */
static char *group_text(const kn_database_plan *p, uint32_t c, uint32_t v)
{
    char    *own = subtree_text(p, c, v), number[16];
    uint32_t up = p->parent[p->node_start[c] + v];
    snprintf(number, sizeof number, "%u", c);
    char *above = up == KN_FOREST_NONE ? NULL : group_text(p, c, up);
    char *text = malloc(strlen(own) + strlen(above ? above : number) + 2);
    if (!text) abort();
    sprintf(text, "%s/%s", above ? above : number, own);
    free(above);
    free(own);
    return text;
}

typedef struct twin {
    char **group[MOST_TABLES]; /* per row of the kn_table: its group's text; NULL: not released */
    int   *person[MOST_TABLES];
} twin;

static twin make_twin(const test_data *d, const kn_database_plan *p)
{
    twin w = {0};
    for (int t = 0; t < d->tables; t++) {
        w.group[t] = calloc((size_t)d->table[t].rows + 1, sizeof(char *));
        w.person[t] = calloc((size_t)d->table[t].rows + 1, sizeof(int));
    }
    for (uint32_t c = 0; c < p->classes; c++)
        for (int64_t m = 0; m < kn_database_plan_size(p, c); m++)
            for (uint32_t v = 0; v < kn_database_plan_nodes(p, c); v++) {
                int      t = p->table[p->node_start[c] + v];
                uint32_t row = kn_database_plan_rows(p, c, m)[v];
                w.group[t][row] = group_text(p, c, v);
                w.person[t][row] = (int)p->members[p->member_start[c] + (uint64_t)m];
            }
    return w;
}

static void free_twin(twin *w, const test_data *d)
{
    for (int t = 0; t < d->tables; t++) {
        for (int i = 0; i < d->table[t].rows; i++) free(w->group[t][i]);
        free(w->group[t]);
        free(w->person[t]);
    }
}

/* ---- Checks ---- */

static void cell_text(const kn_database_rows *rows, int table, const char *column, int64_t row, char *out)
{
    kn_string text;
    int       c = kn_table_find(rows->db->tables[table].table, column);
    assert_true(c >= 0);
    assert_true(kn_database_released(&rows->db->tables[table].columns[c]));
    strcpy(out, "");
    if (!rows->cell(rows->arg, table, c, row, &text)) return;
    memcpy(out, text.data, text.size);
    out[text.size] = '\0';
}

/* The rows of an original table: all that the plan keeps, once, under their parents, with original values. */
static void check_rows(const kn_anatomy *a, const test_data *d, const test_forest *f, const twin *w, int t)
{
    static const char *const quasi[] = {"q0", "q1", "q2"};
    const kn_database_rows  *rows = kn_anatomy_rows(a);
    int                      kept = 0;
    bool                    *seen = calloc((size_t)d->table[t].rows + 1, sizeof *seen);
    for (int i = 0; i < d->table[t].rows; i++) kept += w->group[t][i] != NULL;
    assert_int_equal(rows->tables[t].rows, kept);
    assert_true(kn_table_find(rows->db->tables[t].table, "s") < 0);
    for (int64_t row = 0; row < rows->tables[t].rows; row++) {
        uint32_t        from = kn_anatomy_original(a, t, row);
        const test_row *original = &d->table[t].row[f->original[t][from]];
        char            text[64], number[16];
        assert_non_null(w->group[t][from]);
        assert_false(seen[from]);
        seen[from] = true;
        for (int q = 0; q < d->table[t].quasi_count; q++) {
            cell_text(rows, t, quasi[q], row, text);
            assert_string_equal(text, original->quasi[q] < 0 ? "" : d->table[t].trees[q].path[original->quasi[q]][0]);
        }
        cell_text(rows, t, "group", row, text);
        snprintf(number, sizeof number, "%u", kn_anatomy_group(a, t, row));
        assert_string_equal(text, number);
        if (t == 0) continue;
        uint32_t up = kn_anatomy_original(a, d->table[t].parent, rows->tables[t].parent[row]);
        assert_int_equal(f->original[d->table[t].parent][up], original->parent);
    }
    free(seen);
}

/* Same number if and only if same text; numbers are 1 .. as many; all members have equally many rows. */
static int check_groups(const kn_anatomy *a, const twin *w, int t)
{
    int64_t rows = kn_anatomy_rows(a)->tables[t].rows;
    int     most = 0, *named = calloc((size_t)rows + 2, sizeof *named);
    for (int64_t i = 0; i < rows; i++) {
        uint32_t x = kn_anatomy_original(a, t, i), group = kn_anatomy_group(a, t, i);
        int      mine = 0;
        assert_true(group >= 1 && group <= rows);
        named[group] = 1;
        if ((int)group > most) most = (int)group;
        for (int64_t j = 0; j < rows; j++) {
            uint32_t y = kn_anatomy_original(a, t, j);
            bool     same = strcmp(w->group[t][x], w->group[t][y]) == 0;
            assert_int_equal(group == kn_anatomy_group(a, t, j), same);
            mine += same && w->person[t][x] == w->person[t][y];
        }
        for (int64_t j = 0; j < rows; j++) { /* anybody else in the group */
            uint32_t y = kn_anatomy_original(a, t, j);
            int      theirs = 0;
            if (kn_anatomy_group(a, t, j) != group || i % 7) continue;
            for (int64_t o = 0; o < rows; o++)
                theirs +=
                    kn_anatomy_group(a, t, o) == group && w->person[t][kn_anatomy_original(a, t, o)] == w->person[t][y];
            assert_int_equal(theirs, mine);
        }
    }
    for (int g = 1; g <= most; g++) assert_true(named[g]);
    free(named);
    return most;
}

/* The list of a table: exactly the values of the group's rows, counted by hand (values are 0 .. 3); and diverse. */
static void check_list(const kn_anatomy *a, const test_data *d, const test_forest *f, int t, int groups,
                       const kn_model *model)
{
    const kn_database_rows *rows = kn_anatomy_rows(a);
    int                     list = kn_anatomy_list(a, t, 2 + d->table[t].quasi_count);
    int(*count)[4] = calloc((size_t)groups + 1, sizeof *count);
    char name[32], group[32], value[32], number[32];
    snprintf(name, sizeof name, "t%d_sensitive", t);
    assert_true(list >= d->tables);
    assert_string_equal(rows->db->tables[list].name, name);
    for (int64_t row = 0; row < rows->tables[t].rows; row++)
        count[kn_anatomy_group(a, t, row)][d->table[t].row[f->original[t][kn_anatomy_original(a, t, row)]].sensitive]++;
    for (int g = 1; g <= groups; g++) {
        int    total = 0, distinct = 0, most = 0;
        double entropy = 0;
        for (int v = 0; v < 4; v++) total += count[g][v];
        for (int v = 0; v < 4; v++) {
            double share = count[g][v] / (double)total;
            distinct += count[g][v] > 0;
            if (count[g][v] > 0) entropy -= share * log(share);
            if (count[g][v] > most) most = count[g][v];
        }
        if (!model) continue;
        switch (model->kind) {
        case KN_MODEL_DISTINCT: assert_true(distinct >= 2); break;
        case KN_MODEL_ENTROPY: assert_true(entropy >= log(2) - 1e-9); break;
        default: assert_true(most < 3 * (total - most)); break;
        }
    }
    for (int64_t row = 0; row < rows->tables[list].rows; row++) {
        cell_text(rows, list, "group", row, group);
        cell_text(rows, list, "s", row, value);
        cell_text(rows, list, "count", row, number);
        int g = atoi(group), v = atoi(value);
        assert_true(g >= 1 && g <= groups && atoi(number) >= 1);
        assert_int_equal(count[g][v], atoi(number));
        count[g][v] = 0;
    }
    for (int g = 1; g <= groups; g++)
        for (int v = 0; v < 4; v++) assert_int_equal(count[g][v], 0); /* all of it was listed */
    free(count);
}

/* Few values, so that siblings are equal, with what hangs below them. */
static void narrow(test_data *d, kn_rng *rng)
{
    int values = 1 + below(rng, 2);
    for (int t = 1; t < d->tables; t++)
        for (int i = 0; i < d->table[t].rows; i++)
            for (int q = 0; q < d->table[t].quasi_count; q++) d->table[t].row[i].quasi[q] &= values - 1;
}

static int check_random(kn_context *ctx, kn_rng *rng)
{
    test_data d = random_data(rng, 2 + below(rng, 40), 1 + below(rng, 3));
    if (below(rng, 2)) narrow(&d, rng);
    test_forest           f = make_forest(ctx, &d, rng);
    kn_relational_promise promises[MOST_TABLES];
    int                   promised;
    kn_database_plan     *plan = diverse_plan(ctx, rng, f.forest, &d, promises, &promised);
    kn_anatomy           *a, *again;
    kn_error              err = KN_ERROR_INIT;
    int                   shared = 0;
    if (plan) {
        uint64_t seed = kn_rng_next(rng);
        int64_t  groups = 0;
        twin     w = make_twin(&d, plan);
        assert_ok(kn_anatomy_make(&a, ctx, f.forest, plan, seed, &err), err);
        assert_ok(kn_anatomy_make(&again, ctx, f.forest, plan, seed, &err), err);
        assert_string_equal(kn_anatomy_group_name(a), "group");
        assert_string_equal(kn_anatomy_count_name(a), "count");
        for (int t = 0; t < d.tables; t++) {
            check_rows(a, &d, &f, &w, t);
            int of_table = check_groups(a, &w, t);
            check_list(a, &d, &f, t, of_table, t < promised ? &promises[t].model : NULL);
            groups += of_table;
            for (int64_t row = 0; row < kn_anatomy_rows(a)->tables[t].rows; row++)
                assert_int_equal(kn_anatomy_group(a, t, row), kn_anatomy_group(again, t, row));
        }
        assert_int_equal(kn_anatomy_groups(a), groups);
        shared = groups < (int64_t)plan->node_start[plan->classes];
        kn_anatomy_free(a);
        kn_anatomy_free(again);
        free_twin(&w, &d);
    }
    kn_database_plan_free(plan);
    test_forest_free(&f);
    free_data(&d);
    return shared;
}

static void test_random(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    uint64_t    seed = testing_seed();
    int         shared = 0;
    for (uint64_t round = 0; round < (uint64_t)testing_rounds(150); round++) {
        kn_rng rng;
        kn_rng_init(&rng, seed, round);
        shared += check_random(ctx, &rng);
    }
    assert_true(shared > 0); /* equal siblings did come up */
    testing_context_free(ctx);
}

/* ---- Names, several sensitive columns, missing values; on disk ---- */

static kn_table *read_text(kn_context *ctx, const char *name, const char *text, const char *key)
{
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    kn_column_type types[] = {{key, KN_TYPE_TEXT, NULL}, {"pid", KN_TYPE_TEXT, NULL}};
    kn_table      *table;
    kn_error       err = KN_ERROR_INIT;
    csv.types = types;
    csv.type_count = strstr(text, "pid") ? 2 : 1;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file(name, text, strlen(text)), &csv, &err), err);
    return table;
}

/* Persons with a note that is kept and a name that is not; visits with two sensitive columns; columns and a table whose
 * names are in the way. */
static kn_database *clinic(kn_context *ctx)
{
    static const char *const persons =
        "id,name,Group,note,salary\n1,Ann,a,x,10\n2,Bob,a,y,\n3,Cy,b,x,10\n4,Di,b,y,30\n";
    static const char *const visits =
        "vid,pid,COUNT,disease,cost\n1,1,7,flu,5\n2,2,8,gout,6\n3,3,7,flu,5\n4,4,9,mumps,5\n";
    static const char *const other = "oid,pid\n1,1\n2,2\n3,3\n4,4\n";
    kn_attribute             p[] = {{.name = "name", .role = KN_ROLE_IDENTIFIER, .has_role = true, .weight = {1, 1}},
                                    {.name = "Group", .role = KN_ROLE_QUASI, .has_role = true, .weight = {1, 1}},
                                    {.name = "note", .role = KN_ROLE_KEEP, .has_role = true, .weight = {1, 1}},
                                    {.name = "salary", .role = KN_ROLE_SENSITIVE, .has_role = true, .weight = {1, 1}}};
    kn_attribute             v[] = {{.name = "COUNT", .role = KN_ROLE_QUASI, .has_role = true, .weight = {1, 1}},
                                    {.name = "disease", .role = KN_ROLE_SENSITIVE, .has_role = true, .weight = {1, 1}},
                                    {.name = "cost", .role = KN_ROLE_SENSITIVE, .has_role = true, .weight = {1, 1}}};
    kn_spec_table            specs[] = {{.name = "person", .attribute_count = 4, .attributes = p},
                                        {.name = "visit", .attribute_count = 3, .attributes = v}};
    const char *const id[] = {"id"}, *const vid[] = {"vid"}, *const oid[] = {"oid"}, *const pid[] = {"pid"};
    kn_database *db;
    kn_error     err = KN_ERROR_INIT;
    p[1].hierarchy.decimal = v[0].hierarchy.decimal = '.';
    assert_ok(kn_database_create(&db, ctx, "test", &err), err);
    assert_ok(kn_database_add(db, "person", read_text(ctx, "person.csv", persons, "id"), &err), err);
    assert_ok(kn_database_add(db, "visit", read_text(ctx, "visit.csv", visits, "vid"), &err), err);
    assert_ok(kn_database_add(db, "Person_Sensitive", read_text(ctx, "other.csv", other, "oid"), &err), err);
    assert_ok(kn_database_set_key(db, 0, id, 1, &err), err);
    assert_ok(kn_database_set_key(db, 1, vid, 1, &err), err);
    assert_ok(kn_database_set_key(db, 2, oid, 1, &err), err);
    assert_ok(kn_database_link(db, 1, pid, 1, "person", NULL, &err), err);
    assert_ok(kn_database_link(db, 2, pid, 1, "person", NULL, &err), err);
    assert_ok(kn_database_choose(db, "person", &err), err);
    assert_ok(kn_database_roles(db, specs, 2, &err), err);
    return db;
}

static kn_database_plan *one_class(kn_context *ctx, const kn_forest *forest)
{
    kn_relational_problem  problem = KN_RELATIONAL_PROBLEM_INIT;
    kn_relational_counters counters;
    kn_database_plan      *plan;
    kn_error               err = KN_ERROR_INIT;
    bool                   found;
    problem.forest = forest;
    problem.k = 4;
    assert_ok(kn_relational_search(&plan, &found, &counters, ctx, &problem, &err), err);
    assert_true(found);
    return plan;
}

static char *file_text(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", folder, name);
    return testing_contents(path, NULL);
}

static void assert_file(const char *folder, const char *name, const char *text)
{
    char *is = file_text(folder, name);
    assert_string_equal(is, text);
    free(is);
}

/* The lists hang from nothing: a catalog has them as tables without keys. */
static void check_sqlite(kn_context *ctx, const kn_anatomy *a, const char *beside)
{
    char                target[512];
    kn_database_writer *writer;
    kn_database        *back;
    kn_error            err = KN_ERROR_INIT;
    snprintf(target, sizeof target, "sqlite:%s.db", beside);
    assert_ok(kn_database_writer_open(&writer, ctx, target, NULL, &err), err);
    assert_ok(kn_database_writer_write(writer, kn_anatomy_rows(a), &err), err);
    assert_ok(kn_database_writer_read(&back, writer, NULL, NULL, &err), err);
    assert_int_equal(back->table_count, 6);
    int list = kn_database_find(back, "visit_cost"), rows = kn_database_find(back, "visit");
    assert_true(list >= 0 && rows >= 0);
    assert_int_equal(back->tables[list].table->rows, 2);
    assert_int_equal(back->tables[list].key_count, 0);
    assert_int_equal(back->tables[list].foreign_count, 0);
    assert_string_equal(back->tables[list].columns[2].declared, "bigint");
    assert_int_equal(back->tables[rows].table->rows, 4);
    assert_int_equal(back->tables[rows].foreign_count, 1);
    kn_database_free(back);
    kn_database_writer_abort(writer);
}

static void test_written(void **state)
{
    (void)state;
    kn_context         *ctx = testing_context(1);
    kn_database        *db = clinic(ctx);
    kn_forest          *forest;
    kn_anatomy         *a;
    kn_database_writer *writer;
    kn_error            err = KN_ERROR_INIT;
    char                folder[512];
    const char         *beside = testing_file("beside", "", 0);
    assert_ok(kn_forest_build(&forest, ctx, db, &err), err);
    kn_database_plan *plan = one_class(ctx, forest);
    assert_ok(kn_anatomy_make(&a, ctx, forest, plan, 5, &err), err);
    assert_string_equal(kn_anatomy_group_name(a), "group_2");
    assert_string_equal(kn_anatomy_count_name(a), "count_2");
    assert_int_equal(kn_anatomy_list(a, 0, 4), 3);
    assert_int_equal(kn_anatomy_list(a, 1, 3), 4);
    assert_int_equal(kn_anatomy_list(a, 1, 4), 5);
    assert_int_equal(kn_anatomy_list(a, 0, 3), -1);
    assert_int_equal(kn_anatomy_groups(a), 2);
    assert_int_equal(kn_anatomy_group(a, 2, 0), 0);
    snprintf(folder, sizeof folder, "%s-anatomy/", beside);
    assert_ok(kn_database_writer_open(&writer, ctx, folder, NULL, &err), err);
    assert_ok(kn_database_writer_write(writer, kn_anatomy_rows(a), &err), err);
    assert_ok(kn_database_writer_commit(writer, &err), err);
    assert_file(folder, "person_sensitive_2.csv", "group_2,salary,count_2\n1,10,2\n1,30,1\n1,,1\n");
    assert_file(folder, "visit_disease.csv", "group_2,disease,count_2\n1,flu,2\n1,gout,1\n1,mumps,1\n");
    assert_file(folder, "visit_cost.csv", "group_2,cost,count_2\n1,5,3\n1,6,1\n");
    char *persons = file_text(folder, "person.csv"), *visits = file_text(folder, "visit.csv");
    assert_non_null(strstr(persons, "id,Group,note,group_2\n"));
    assert_non_null(strstr(persons, ",a,x,1\n"));
    assert_non_null(strstr(persons, ",b,y,1\n"));
    assert_non_null(strstr(visits, "vid,pid,COUNT,group_2\n"));
    assert_non_null(strstr(visits, ",9,1\n"));
    assert_null(strstr(persons, "30"));
    assert_null(strstr(visits, "flu"));
    free(persons);
    free(visits);
    const char *const files[] = {"person.csv",        "visit.csv",     "Person_Sensitive.csv", "person_sensitive_2.csv",
                                 "visit_disease.csv", "visit_cost.csv"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s%s", folder, files[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    check_sqlite(ctx, a, beside);
    kn_anatomy_free(a);
    kn_database_plan_free(plan);
    kn_forest_free(forest);
    kn_database_free(db);
    testing_context_free(ctx);
}

static void test_memory(void **state)
{
    (void)state;
    kn_context  *ctx = testing_context(1);
    kn_database *db = clinic(ctx);
    kn_forest   *forest;
    kn_error     err = KN_ERROR_INIT;
    bool         done = false;
    assert_ok(kn_forest_build(&forest, ctx, db, &err), err);
    kn_database_plan *plan = one_class(ctx, forest);
    for (int64_t refuse = 0; !done; refuse++) {
        testing_allocator memory = {.refuse_at = refuse};
        kn_context       *failing = NULL;
        kn_anatomy       *a = NULL;
        kn_status         st = testing_refusing_context(&failing, &memory, 1, &err);
        if (st == KN_OK) st = kn_anatomy_make(&a, failing, forest, plan, 1, &err);
        done = st == KN_OK;
        if (!done) {
            assert_int_equal(st, KN_MEMORY);
            assert_null(a);
        }
        kn_anatomy_free(a);
        kn_context_free(failing);
        assert_int_equal(memory.live, 0);
    }
    kn_database_plan_free(plan);
    kn_forest_free(forest);
    kn_database_free(db);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        testing_alone(test_written),
        testing_alone(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
