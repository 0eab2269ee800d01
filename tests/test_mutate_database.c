/* test_mutate_database.c: releases that were changed: the verifier of databases accepts them exactly where a naive check on
 * texts does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verify_database_testing.h"

/* ---- Mutations ---- */

typedef struct mutant {
    world  *w;
    texts   d;
    kn_rng *rng;
    int     t; /* a table with rows, and a row of it */
    grid   *g;
    int     row;
} mutant;

static bool any_row(mutant *m, bool child)
{
    for (int tries = 0; tries < 20; tries++) {
        m->t = below(m->rng, m->w->data.tables);
        m->g = grid_of(&m->d, m->t);
        if (m->g->rows == 0 || (child && m->t == 0)) continue;
        m->row = below(m->rng, m->g->rows);
        return true;
    }
    return false;
}

static char *cell_of(mutant *m, const char *name)
{
    return m->g->cell[m->row][column_of(m->g, name)];
}

static char *quasi_of(mutant *m, const test_tree **tree)
{
    int  q = below(m->rng, m->w->data.table[m->t].quasi_count);
    char name[16];
    snprintf(name, sizeof name, "q%d", q);
    *tree = &m->w->data.table[m->t].trees[q];
    return cell_of(m, name);
}

static void remove_row(grid *g, int row)
{
    memmove(g->cell + row, g->cell + row + 1, (size_t)(g->rows - row - 1) * sizeof *g->cell);
    g->rows--;
}

/* Keys are 1 .. rows again. */
static void renumber(mutant *m)
{
    for (int t = 0; t < m->w->data.tables; t++) {
        grid *g = grid_of(&m->d, t);
        for (int row = 0; row < g->rows; row++) {
            char old[CELL], new[CELL];
            strcpy(old, g->cell[row][column_of(g, "id")]);
            snprintf(new, sizeof new, "#%d", row + 1);
            strcpy(g->cell[row][column_of(g, "id")], new);
            for (int u = 1; u < m->w->data.tables; u++) {
                grid *child = grid_of(&m->d, u);
                for (int i = 0; m->w->data.table[u].parent == t && i < child->rows; i++)
                    if (strcmp(child->cell[i][column_of(child, "up")], old) == 0)
                        strcpy(child->cell[i][column_of(child, "up")], new);
            }
        }
    }
    for (int t = 0; t < m->w->data.tables; t++) {
        grid *g = grid_of(&m->d, t);
        for (int row = 0; row < g->rows; row++)
            for (int c = 0; c < g->columns; c++)
                if (g->cell[row][c][0] == '#') memmove(g->cell[row][c], g->cell[row][c] + 1, CELL - 1);
    }
}

/* Removes a row and everything below it. */
static void remove_subtree(mutant *m, int t, int row)
{
    char  id[CELL];
    grid *g = grid_of(&m->d, t);
    strcpy(id, g->cell[row][column_of(g, "id")]);
    for (int u = 1; u < m->w->data.tables; u++) {
        grid *child = grid_of(&m->d, u);
        for (int i = child->rows - 1; m->w->data.table[u].parent == t && i >= 0; i--)
            if (i < child->rows && strcmp(child->cell[i][column_of(child, "up")], id) == 0) remove_subtree(m, u, i);
    }
    remove_row(g, row);
}

/* Copies a row and everything below it, to hang from `up`. */
static void copy_subtree(mutant *m, int t, int row, const char *up)
{
    grid *g = grid_of(&m->d, t);
    int   to = grid_add(g);
    char  old[CELL], new[CELL];
    memcpy(g->cell[to], g->cell[row], sizeof *g->cell);
    strcpy(old, g->cell[row][column_of(g, "id")]);
    snprintf(new, sizeof new, "%d", g->rows);
    strcpy(g->cell[to][column_of(g, "id")], new);
    if (up) strcpy(g->cell[to][column_of(g, "up")], up);
    for (int u = 1; u < m->w->data.tables; u++) {
        grid *child = grid_of(&m->d, u);
        int   rows = child->rows;
        for (int i = 0; m->w->data.table[u].parent == t && i < rows; i++)
            if (strcmp(child->cell[i][column_of(child, "up")], old) == 0) copy_subtree(m, u, i, new);
    }
}

static void swap_cells(char *a, char *b)
{
    char keep[CELL];
    memcpy(keep, a, CELL);
    memmove(a, b, CELL);
    memcpy(b, keep, CELL);
}

/* ---- One change each; false: not here ---- */

static bool other_leaf(mutant *m)
{
    const test_tree *tree;
    if (!any_row(m, false)) return false;
    char *cell = quasi_of(m, &tree);
    strcpy(cell, tree->path[below(m->rng, tree->leaves)][0]);
    return true;
}

static bool lower_label(mutant *m)
{
    const test_tree *tree;
    for (int tries = 0; tries < 30 && any_row(m, false); tries++) {
        char *cell = quasi_of(m, &tree);
        for (int leaf = 0; leaf < tree->leaves; leaf++)
            for (int level = 1; level < tree->levels; level++)
                if (strcmp(tree->path[leaf][level], cell) == 0) {
                    strcpy(cell, tree->path[leaf][level - 1]);
                    return true;
                }
    }
    return false;
}

static bool raise_label(mutant *m)
{
    const test_tree *tree;
    if (!any_row(m, false)) return false;
    strcpy(quasi_of(m, &tree), "*");
    return true;
}

/* Everybody's: still k-anonymous, still above the original. */
static bool raise_column(mutant *m)
{
    if (!any_row(m, false)) return false;
    for (m->row = 0; m->row < m->g->rows; m->row++) strcpy(cell_of(m, "q0"), "*");
    return true;
}

static bool lower_column(mutant *m)
{
    if (!any_row(m, false)) return false;
    const test_tree *tree = &m->w->data.table[m->t].trees[0];
    for (m->row = 0; m->row < m->g->rows; m->row++) strcpy(cell_of(m, "q0"), tree->path[0][0]);
    return true;
}

static bool unknown_label(mutant *m)
{
    const test_tree *tree;
    if (!any_row(m, false)) return false;
    strcpy(quasi_of(m, &tree), "none of them");
    return true;
}

static bool blank_label(mutant *m)
{
    const test_tree *tree;
    if (!any_row(m, false)) return false;
    strcpy(quasi_of(m, &tree), "");
    return true;
}

static bool blank_column(mutant *m)
{
    if (!any_row(m, false)) return false;
    for (m->row = 0; m->row < m->g->rows; m->row++) strcpy(cell_of(m, "q0"), "");
    return true;
}

static bool change_sensitive(mutant *m)
{
    if (!any_row(m, false)) return false;
    snprintf(cell_of(m, "s"), CELL, "%d", below(m->rng, 4));
    return true;
}

static bool unknown_sensitive(mutant *m)
{
    if (!any_row(m, false)) return false;
    strcpy(cell_of(m, "s"), "77");
    return true;
}

static bool blank_sensitive(mutant *m)
{
    if (!any_row(m, false)) return false;
    strcpy(cell_of(m, "s"), "");
    return true;
}

static bool swap_sensitive(mutant *m)
{
    if (!any_row(m, false)) return false;
    int s = column_of(m->g, "s");
    swap_cells(m->g->cell[m->row][s], m->g->cell[below(m->rng, m->g->rows)][s]);
    return true;
}

static bool swap_quasi(mutant *m)
{
    if (!any_row(m, false)) return false;
    int q = column_of(m->g, "q0");
    swap_cells(m->g->cell[m->row][q], m->g->cell[below(m->rng, m->g->rows)][q]);
    return true;
}

static bool add_child(mutant *m)
{
    if (!any_row(m, true)) return false;
    char up[CELL];
    strcpy(up, cell_of(m, "up"));
    copy_subtree(m, m->t, m->row, up);
    return true;
}

static bool remove_child(mutant *m)
{
    if (!any_row(m, true)) return false;
    remove_subtree(m, m->t, m->row);
    renumber(m);
    return true;
}

static bool leave_gap(mutant *m)
{
    if (!any_row(m, false)) return false;
    remove_subtree(m, m->t, m->row);
    return true;
}

static bool remove_person(mutant *m)
{
    grid *g = grid_of(&m->d, 0);
    if (g->rows == 0) return false;
    remove_subtree(m, 0, below(m->rng, g->rows));
    renumber(m);
    return true;
}

/* Everybody whose tree is that of one person: the rest is still good. */
static bool remove_class(mutant *m)
{
    grid *g = grid_of(&m->d, 0);
    naive n = {m->w, &m->d, &m->w->original};
    if (g->rows == 0) return false;
    char *tree = naive_tree(&n, 0, below(m->rng, g->rows));
    for (int p = g->rows - 1; p >= 0; p--) {
        char *other = naive_tree(&n, 0, p);
        if (strcmp(tree, other) == 0) remove_subtree(m, 0, p);
        free(other);
    }
    free(tree);
    renumber(m);
    return true;
}

static bool remove_table_rows(mutant *m)
{
    if (!any_row(m, true)) return false;
    while (m->g->rows > 0) remove_subtree(m, m->t, m->g->rows - 1);
    renumber(m);
    return true;
}

static bool move_child(mutant *m)
{
    if (!any_row(m, true)) return false;
    grid *up = grid_of(&m->d, m->w->data.table[m->t].parent);
    snprintf(cell_of(m, "up"), CELL, "%s", up->cell[below(m->rng, up->rows)][column_of(up, "id")]);
    return true;
}

static bool swap_parents(mutant *m)
{
    if (!any_row(m, true)) return false;
    int up = column_of(m->g, "up");
    swap_cells(m->g->cell[m->row][up], m->g->cell[below(m->rng, m->g->rows)][up]);
    return true;
}

static bool copy_person(mutant *m)
{
    grid *g = grid_of(&m->d, 0);
    if (g->rows == 0) return false;
    copy_subtree(m, 0, below(m->rng, g->rows), NULL);
    return true;
}

static bool dangle(mutant *m)
{
    if (!any_row(m, true)) return false;
    strcpy(cell_of(m, "up"), "999");
    return true;
}

static bool blank_up(mutant *m)
{
    if (!any_row(m, true)) return false;
    strcpy(cell_of(m, "up"), "");
    return true;
}

static bool same_id(mutant *m)
{
    if (!any_row(m, false) || m->g->rows < 2) return false;
    int id = column_of(m->g, "id"), other = (m->row + 1) % m->g->rows;
    strcpy(m->g->cell[m->row][id], m->g->cell[other][id]);
    return true;
}

static bool blank_id(mutant *m)
{
    if (!any_row(m, false)) return false;
    strcpy(cell_of(m, "id"), "");
    return true;
}

/* Consistent everywhere, so that all joins stay: only the key itself is wrong. */
static bool rename_key(mutant *m, const char *front)
{
    char old[CELL], new[CELL];
    if (!any_row(m, false)) return false;
    strcpy(old, cell_of(m, "id"));
    snprintf(new, sizeof new, "%.5s%.10s", front, old);
    strcpy(cell_of(m, "id"), new);
    for (int u = 1; u < m->w->data.tables; u++) {
        grid *child = grid_of(&m->d, u);
        for (int i = 0; m->w->data.table[u].parent == m->t && i < child->rows; i++)
            if (strcmp(child->cell[i][column_of(child, "up")], old) == 0)
                strcpy(child->cell[i][column_of(child, "up")], new);
    }
    return true;
}

static bool letter_key(mutant *m)
{
    return rename_key(m, "k");
}

static bool zero_key(mutant *m)
{
    return rename_key(m, "0");
}

static bool large_key(mutant *m)
{
    return rename_key(m, "9000");
}

static bool old_keys(mutant *m)
{
    grid *g = grid_of(&m->d, 0);
    if (g->rows == 0) return false;
    for (int row = 0; row < g->rows; row++)
        for (int i = 0; i < m->w->persons; i++)
            if (strcmp(g->cell[row][column_of(g, "id")], m->w->released_id[i]) == 0) {
                m->t = 0;
                m->g = g;
                for (int u = 1; u < m->w->data.tables; u++) {
                    grid *child = grid_of(&m->d, u);
                    for (int c = 0; m->w->data.table[u].parent == 0 && c < child->rows; c++)
                        if (strcmp(child->cell[c][column_of(child, "up")], m->w->released_id[i]) == 0)
                            strcpy(child->cell[c][column_of(child, "up")], m->w->original_id[i]);
                }
                strcpy(g->cell[row][column_of(g, "id")], m->w->original_id[i]);
                break;
            }
    return true;
}

static void add_column(grid *g, const char *name, const char *text)
{
    strcpy(g->name[g->columns], name);
    for (int row = 0; row < g->rows; row++) strcpy(g->cell[row][g->columns], text);
    g->columns++;
}

static bool undeclared_column(mutant *m)
{
    add_column(grid_of(&m->d, 0), "up", "r-1-0");
    return true;
}

static bool strange_column(mutant *m)
{
    if (!any_row(m, false)) return false;
    add_column(m->g, "note", "x");
    return true;
}

static bool rename_column(mutant *m)
{
    if (!any_row(m, false)) return false;
    strcpy(m->g->name[below(m->rng, m->g->columns)], "renamed");
    return true;
}

static bool drop_column(mutant *m)
{
    if (!any_row(m, false)) return false;
    int c = below(m->rng, m->g->columns);
    for (int i = c; i + 1 < m->g->columns; i++) {
        strcpy(m->g->name[i], m->g->name[i + 1]);
        for (int row = 0; row < m->g->rows; row++) memcpy(m->g->cell[row][i], m->g->cell[row][i + 1], CELL);
    }
    m->g->columns--;
    return true;
}

static bool drop_table(mutant *m)
{
    int t = m->d.tables - 1;
    if (t == 0) return false;
    free(m->d.grid[t].cell);
    m->d.tables--;
    return true;
}

static bool strange_table(mutant *m)
{
    grid *g = &m->d.grid[m->d.tables++];
    memset(g, 0, sizeof *g);
    strcpy(g->table, "people");
    g->columns = 1;
    strcpy(g->name[0], "name");
    strcpy(g->cell ? g->cell[0][0] : (grid_add(g), g->cell[0][0]), "somebody");
    return true;
}

static bool swap_tables(mutant *m)
{
    if (m->w->data.tables < 2) return false;
    char name[16];
    strcpy(name, m->d.grid[0].table);
    strcpy(m->d.grid[0].table, m->d.grid[1].table);
    strcpy(m->d.grid[1].table, name);
    return true;
}

static bool shuffle_rows(mutant *m)
{
    for (int t = 0; t < m->w->data.tables; t++) {
        grid *g = grid_of(&m->d, t);
        for (int i = g->rows - 1; i > 0; i--) {
            int  j = below(m->rng, i + 1);
            char keep[MOST_COLUMNS][CELL];
            memcpy(keep, g->cell[i], sizeof keep);
            memmove(g->cell[i], g->cell[j], sizeof keep);
            memcpy(g->cell[j], keep, sizeof keep);
        }
    }
    return true;
}

static bool new_numbers(mutant *m)
{
    shuffle_rows(m);
    renumber(m);
    return true;
}

static bool nobody(mutant *m)
{
    for (int t = 0; t < m->w->data.tables; t++) grid_of(&m->d, t)->rows = 0;
    return true;
}

static bool swap_columns(mutant *m)
{
    if (!any_row(m, false)) return false;
    int a = column_of(m->g, "id"), b = column_of(m->g, "s");
    swap_cells(m->g->name[a], m->g->name[b]);
    return true;
}

static bool two_mutations(mutant *m)
{
    return swap_sensitive(m) && swap_sensitive(m) && raise_column(m);
}

typedef struct change {
    const char *name;
    bool (*apply)(mutant *m);
    bool always; /* wrong whatever the data are */
} change;

static const change changes[] = {
    {"a value in another's place", other_leaf, false},
    {"a lower label", lower_label, false},
    {"a raised label in one row", raise_label, false},
    {"a raised column", raise_column, false},
    {"one value for a column", lower_column, false},
    {"an unknown label", unknown_label, true},
    {"a label taken away", blank_label, false},
    {"a column of labels taken away", blank_column, false},
    {"another sensitive value", change_sensitive, false},
    {"an unknown sensitive value", unknown_sensitive, true},
    {"a sensitive value taken away", blank_sensitive, true},
    {"sensitive values swapped", swap_sensitive, false},
    {"labels swapped", swap_quasi, false},
    {"a row more", add_child, false},
    {"a row less", remove_child, false},
    {"a gap in the keys", leave_gap, false},
    {"a person less", remove_person, false},
    {"a class less", remove_class, false},
    {"a table emptied", remove_table_rows, false},
    {"a row moved to another parent", move_child, false},
    {"parents swapped", swap_parents, false},
    {"a person twice", copy_person, false},
    {"a row that names no parent", dangle, true},
    {"a foreign key taken away", blank_up, true},
    {"a key twice", same_id, true},
    {"a key taken away", blank_id, true},
    {"a key with a letter", letter_key, true},
    {"a key with a zero in front", zero_key, true},
    {"a key that is too large", large_key, true},
    {"the original's keys", old_keys, true},
    {"a column without a role", undeclared_column, true},
    {"a column of its own", strange_column, true},
    {"a column renamed", rename_column, true},
    {"a column less", drop_column, true},
    {"a table less", drop_table, true},
    {"a table more", strange_table, true},
    {"two tables swapped", swap_tables, false},
    {"rows in another order", shuffle_rows, false},
    {"new numbers", new_numbers, false},
    {"nobody", nobody, false},
    {"two columns' names swapped", swap_columns, false},
    {"several at once", two_mutations, false},
};

enum { CHANGES = sizeof changes / sizeof *changes };

static void judge(kn_context **ctx, world *w, mutant *m, const change *o, int *refused, int *kept)
{
    const char *folder = scratch("mutant");
    texts_write(&m->d, folder);
    for (int with_map = 0; with_map < 2; with_map++) {
        bool                       valid = naive_valid(w, &m->d, with_map);
        kn_database_verify_report *r = verify(ctx, w, folder, with_map);
        if (r->ok != valid || (o->always && r->ok)) {
            print_problems(r);
            fail_msg("%s, %s a map: the verifier says %s, the twin %s", o->name, with_map ? "with" : "without",
                     r->ok ? "good" : "bad", valid ? "good" : "bad");
        }
        if (!r->ok) {
            bool models = true;
            for (int i = 0; i < r->model_count; i++) models = models && r->models[i].holds;
            assert_true(r->problem_count > 0 || !models);
        }
        ++*(r->ok ? kept : refused);
        kn_database_verify_report_free(r);
    }
}

static void test_mutations(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *ctx[2];
    int         refused[CHANGES] = {0}, kept[CHANGES] = {0}, all = 0;
    kn_rng_init(&rng, testing_seed(), 2);
    contexts(ctx);
    for (int round = 0; round < 9; round++) {
        world                 w;
        kn_relational_problem problem = random_problem(&rng);
        char                  privacy[40];
        snprintf(privacy, sizeof privacy, "[{k: %d}]", (int)problem.k);
        if (make_world(&w, ctx[0], &rng, &problem, privacy, -1, false))
            for (int o = 0; o < CHANGES; o++) {
                mutant m = {.w = &w, .d = texts_copy(&w.release), .rng = &rng};
                if (changes[o].apply(&m)) judge(ctx, &w, &m, &changes[o], &refused[o], &kept[o]);
                grid_free(&m.d);
            }
        free_world(&w);
    }
    for (int o = 0; o < CHANGES; o++) {
        all += refused[o] > 0;
        printf("  %-32s refused %3d, still good %3d\n", changes[o].name, refused[o], kept[o]);
    }
    assert_true(all >= 30); /* each change bites somewhere, but for a few */
    contexts_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
