/* verify_database_testing.h: releases of random databases made through the methods and the writer, as plain texts that tests
 * can change, and a naive twin of the verifier: canonical texts of trees, every way of pairing rows tried.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_DATABASE_TESTING_H
#define VERIFY_DATABASE_TESTING_H

#include "relational_testing.h"

#include <dirent.h>
#include <kanon/verify.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_anatomy.h"
#include "kn_database_release.h"
#include "kn_database_roles.h"
#include "kn_relational.h"

enum { MOST_COLUMNS = 8, CELL = 24, PERSONS = 14 };

/* ---- A database as texts ---- */

typedef struct grid {
    char table[32];
    int  columns, rows, capacity;
    char name[MOST_COLUMNS][CELL];
    char (*cell)[MOST_COLUMNS][CELL]; /* "": missing */
} grid;

typedef struct texts {
    int  tables;
    grid grid[2 * MOST_TABLES + 1];
} texts;

static inline void *must(void *p)
{
    if (!p) abort();
    return p;
}

static inline void grid_free(texts *d)
{
    for (int t = 0; t < d->tables; t++) free(d->grid[t].cell);
    d->tables = 0;
}

static inline int grid_add(grid *g)
{
    if (g->rows == g->capacity) {
        g->capacity = g->capacity ? 2 * g->capacity : 16;
        g->cell = must(realloc(g->cell, (size_t)g->capacity * sizeof *g->cell));
    }
    memset(g->cell[g->rows], 0, sizeof *g->cell);
    return g->rows++;
}

static inline texts texts_copy(const texts *d)
{
    texts out = *d;
    for (int t = 0; t < d->tables; t++) {
        out.grid[t].capacity = d->grid[t].rows + 1;
        out.grid[t].cell = must(malloc((size_t)out.grid[t].capacity * sizeof *out.grid[t].cell));
        if (d->grid[t].rows > 0)
            memcpy(out.grid[t].cell, d->grid[t].cell, (size_t)d->grid[t].rows * sizeof *d->grid[t].cell);
    }
    return out;
}

/* Cells hold neither quotes nor delimiters. */
static inline void parse_line(char *line, char (*cells)[CELL], int *count)
{
    *count = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *at = line; at;) {
        char *end = strchr(at, ',');
        if (end) *end = 0;
        size_t size = strlen(at);
        if (size >= 2 && at[0] == '"') { /* an empty text, or a cell that was quoted */
            at[size - 1] = 0;
            at++;
        }
        assert_true(strlen(at) < CELL && *count < MOST_COLUMNS);
        strcpy(cells[(*count)++], at);
        at = end ? end + 1 : NULL;
    }
}

static inline void grid_read(grid *g, const char *folder, const char *table)
{
    char path[700], line[1000];
    int  count;
    memset(g, 0, sizeof *g);
    snprintf(g->table, sizeof g->table, "%s", table);
    snprintf(path, sizeof path, "%s/%s.csv", folder, table);
    FILE *f = must(fopen(path, "r"));
    must(fgets(line, sizeof line, f));
    parse_line(line, g->name, &g->columns);
    while (fgets(line, sizeof line, f)) {
        int row = grid_add(g);
        parse_line(line, g->cell[row], &count);
        assert_int_equal(count, g->columns);
    }
    fclose(f);
}

static inline void remove_tree(const char *folder)
{
    char path[700];
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') remove(path);
    }
    if (dir) closedir(dir);
    rmdir(folder);
}

static inline void texts_write(const texts *d, const char *folder)
{
    char path[700];
    remove_tree(folder);
    mkdir(folder, 0700);
    for (int t = 0; t < d->tables; t++) {
        const grid *g = &d->grid[t];
        snprintf(path, sizeof path, "%s/%s.csv", folder, g->table);
        FILE *f = must(fopen(path, "w"));
        for (int row = -1; row < g->rows; row++)
            for (int c = 0; c < g->columns; c++)
                fprintf(f, "%s%s", row < 0 ? g->name[c] : g->cell[row][c], c == g->columns - 1 ? "\n" : ",");
        fclose(f);
    }
}

static inline int column_of(const grid *g, const char *name)
{
    for (int c = 0; c < g->columns; c++)
        if (strcmp(g->name[c], name) == 0) return c;
    return -1;
}

static inline grid *grid_of(texts *d, int table)
{
    char name[16];
    snprintf(name, sizeof name, "t%d", table);
    for (int t = 0; t < d->tables; t++)
        if (strcmp(d->grid[t].table, name) == 0) return &d->grid[t];
    return NULL;
}

static const char *scratch(const char *name)
{
    static char rooms[4][400];
    static int  next;
    char       *room = rooms[next++ % 4];
    snprintf(room, 400, "%s", testing_file("scratch", "", 0));
    snprintf(strrchr(room, '/') + 1, 100, "%s", name);
    return room;
}

/* ---- A world: data, spec, release ---- */

typedef struct world {
    test_data              data;
    int                    k;
    kn_spec               *spec;
    char                   in[400], out[400], map[400];
    texts                  original, release;
    int                    persons;                                                        /* released */
    char                   released_id[PERSONS * 4][CELL], original_id[PERSONS * 4][CELL]; /* the map */
    kn_relational_metrics *metrics;
    kn_relational_counters counters;
} world;

static inline void write_original(world *w, kn_rng *rng)
{
    snprintf(w->in, sizeof w->in, "%s", scratch("in"));
    remove_tree(w->in);
    mkdir(w->in, 0700);
    for (int t = 0; t < w->data.tables; t++) {
        test_table *table = &w->data.table[t];
        int        *order = must(malloc((size_t)(table->rows + 1) * sizeof *order));
        char        path[500];
        for (int i = 0; i < table->rows; i++) order[i] = i;
        char *text = table_text(table, t, order);
        snprintf(path, sizeof path, "%s/t%d.csv", w->in, t);
        FILE *f = must(fopen(path, "w"));
        fputs(text, f);
        for (int i = 0; t > 0 && i < below(rng, 3); i++) { /* rows that are nobody's */
            fprintf(f, "x%d-%d,%s", t, i, below(rng, 2) ? "nowhere" : "");
            for (int q = 0; q < table->quasi_count; q++) fprintf(f, ",%s", table->trees[q].path[0][0]);
            fputs(",1\n", f);
        }
        fclose(f);
        free(text);
        free(order);
    }
}

static inline kn_spec *make_spec(kn_context *ctx, const test_data *d, const char *in, const char *privacy)
{
    char     text[6000];
    size_t   at = 0;
    kn_spec *spec = NULL;
    kn_error err = KN_ERROR_INIT;
#define PUT(...) at += (size_t)snprintf(text + at, sizeof text - at, __VA_ARGS__)
    PUT("kanon: 1\ninput: %s/\noutput: nowhere/\nentity: {table: t0, key: id}\nprivacy: %s\ntables:\n", in, privacy);
    for (int t = 0; t < d->tables; t++) {
        PUT("  t%d:\n    key: id\n", t);
        if (t > 0) PUT("    parent: {table: t%d, column: up}\n", d->table[t].parent);
        PUT("    attributes:\n");
        for (int q = 0; q < d->table[t].quasi_count; q++)
            PUT("      q%d: {role: quasi, type: text, hierarchy: %s}\n", q,
                strrchr(tree_file(&d->table[t].trees[q], t, q), '/') + 1);
        char own[32];
        snprintf(own, sizeof own, "t%d.s", t);
        bool tree = strstr(privacy, "hierarchical") && strstr(privacy, own);
        if (tree) testing_file("values.csv", PROMISED_TREE, strlen(PROMISED_TREE));
        PUT("      s: {role: sensitive%s}\n", tree ? ", hierarchy: values.csv" : "");
    }
#undef PUT
    assert_ok(kn_spec_read(&spec, ctx, testing_file("release.yaml", text, at), &err), err);
    return spec;
}

static inline void write_map(world *w)
{
    snprintf(w->map, sizeof w->map, "%s", scratch("map.csv"));
    FILE *f = must(fopen(w->map, "w"));
    fprintf(f, "released id,original id\n");
    for (int i = 0; i < w->persons; i++) fprintf(f, "%s,%s\n", w->released_id[i], w->original_id[i]);
    fclose(f);
}

static inline void write_release(world *w, kn_context *ctx, const kn_forest *forest, const kn_database_plan *plan,
                                 uint64_t seed)
{
    kn_error             err = KN_ERROR_INIT;
    kn_database_release *release = NULL;
    kn_anatomy          *anatomy = NULL;
    kn_database_writer  *writer = NULL;
    kn_key_map           keys;
    char                 target[402];
    snprintf(w->out, sizeof w->out, "%s", scratch("out"));
    remove_tree(w->out);
    snprintf(target, sizeof target, "%s/", w->out);
    if (w->spec->anatomy)
        assert_ok(kn_anatomy_make(&anatomy, ctx, forest, plan, seed, &err), err);
    else
        assert_ok(kn_database_release_make(&release, ctx, forest->db, plan, seed, &err), err);
    const kn_database_rows *rows = anatomy ? kn_anatomy_rows(anatomy) : kn_database_release_rows(release);
    assert_ok(kn_key_map_draw(&keys, ctx, rows, &err), err);
    assert_ok(kn_database_writer_open(&writer, ctx, target, NULL, &err), err);
    assert_ok(kn_database_writer_write_keys(writer, rows, &keys, &err), err);
    assert_ok(kn_database_writer_commit(writer, &err), err);
    w->persons = (int)rows->tables[0].rows;
    for (int i = 0; i < w->persons; i++) {
        uint32_t row = anatomy ? kn_anatomy_original(anatomy, 0, i) : kn_database_release_original(release, 0, i);
        snprintf(w->released_id[i], CELL, "%u", keys.new_key[0][i]);
        strcpy(w->original_id[i], w->original.grid[0].cell[row][column_of(&w->original.grid[0], "id")]);
    }
    kn_key_map_free(&keys);
    kn_database_release_free(release);
    kn_anatomy_free(anatomy);
    write_map(w);
}

/* false: there is no release. */
static inline bool make_release(world *w, kn_context *ctx, const kn_relational_problem *asked, int promise_table,
                         uint64_t seed)
{
    kn_error              err = KN_ERROR_INIT;
    kn_database          *db = NULL;
    kn_forest            *forest = NULL;
    kn_database_plan     *plan = NULL;
    kn_database_options   options = KN_DATABASE_OPTIONS_INIT;
    kn_relational_problem problem = *asked;
    kn_relational_promise promise;
    bool                  found;
    options.tables = w->spec->tables;
    options.table_count = w->spec->table_count;
    assert_ok(kn_database_read(&db, ctx, w->in, &options, &err), err);
    assert_ok(kn_database_choose(db, "t0", &err), err);
    assert_ok(kn_database_roles(db, w->spec->tables, w->spec->table_count, &err), err);
    assert_ok(kn_forest_build(&forest, ctx, db, &err), err);
    problem.forest = forest;
    problem.k = w->k;
    if (promise_table >= 0) {
        promise = (kn_relational_promise){promise_table, kn_table_find(db->tables[promise_table].table, "s"),
                                          w->spec->models[1]};
        problem.promises = &promise;
        problem.promise_count = 1;
    }
    assert_ok(kn_relational_search(&plan, &found, &w->counters, ctx, &problem, &err), err);
    if (found) {
        assert_ok(kn_relational_measure(&w->metrics, ctx, forest, plan, &err), err);
        write_release(w, ctx, forest, plan, seed);
        w->release.tables = w->data.tables;
        for (int t = 0; t < w->data.tables; t++) {
            char name[16];
            snprintf(name, sizeof name, "t%d", t);
            grid_read(&w->release.grid[t], w->out, name);
        }
    }
    kn_database_plan_free(plan);
    kn_forest_free(forest);
    kn_database_free(db);
    return found;
}

/* The table of a promise stands for the '#'. */
static inline void format_privacy(char *out, size_t size, const char *privacy, int table)
{
    const char *at = strchr(privacy, '#');
    if (at)
        snprintf(out, size, "%.*st%d%s", (int)(at - privacy), privacy, table, at + 1);
    else
        snprintf(out, size, "%s", privacy);
}

static inline void set_anatomy(kn_spec *spec)
{
    kn_error err = KN_ERROR_INIT;
    assert_ok(kn_spec_set(spec, "options", "{anatomy: true}", "test", &err), err);
}

static inline bool make_world(world *w, kn_context *ctx, kn_rng *rng, kn_relational_problem *problem,
                              const char *privacy, int promise_table, bool anatomy)
{
    memset(w, 0, sizeof *w);
    w->data = random_data(rng, 4 + below(rng, PERSONS - 3), 1 + below(rng, 3));
    if (promise_table >= w->data.tables) promise_table = 0;
    char text[200];
    w->k = (int)problem->k;
    format_privacy(text, sizeof text, privacy, promise_table);
    write_original(w, rng);
    w->spec = make_spec(ctx, &w->data, w->in, text);
    if (promise_table >= 0 && anatomy) set_anatomy(w->spec);
    w->original.tables = w->data.tables;
    for (int t = 0; t < w->data.tables; t++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", t);
        grid_read(&w->original.grid[t], w->in, name);
    }
    return make_release(w, ctx, problem, w->spec->model_count > 1 ? promise_table : -1, kn_rng_next(rng));
}

static inline void free_world(world *w)
{
    grid_free(&w->original);
    grid_free(&w->release);
    free_data(&w->data);
    kn_spec_free(w->spec);
    kn_relational_metrics_free(w->metrics);
}

/* ---- The naive twin: texts, and every way tried ---- */

typedef struct naive {
    world *w;
    texts *release;
    texts *original;
} naive;

static inline int parent_row(texts *d, const test_data *data, int t, int row)
{
    grid       *g = grid_of(d, t), *up = grid_of(d, data->table[t].parent);
    const char *key = g->cell[row][column_of(g, "up")];
    for (int i = 0; key[0] && i < up->rows; i++)
        if (strcmp(up->cell[i][column_of(up, "id")], key) == 0) return i;
    return -1;
}

static inline bool good_key(const char *text, int rows)
{
    char expected[CELL];
    int  number = atoi(text);
    snprintf(expected, sizeof expected, "%d", number);
    return number >= 1 && number <= rows && strcmp(text, expected) == 0;
}

/* Columns and keys. */
static inline bool naive_schema(naive *n)
{
    const test_data *d = &n->w->data;
    if (n->release->tables != d->tables) return false;
    for (int t = 0; t < d->tables; t++) {
        grid *g = grid_of(n->release, t);
        if (!g) return false;
        int wanted = 2 + d->table[t].quasi_count + (t > 0);
        if (g->columns != wanted || column_of(g, "id") < 0 || column_of(g, "s") < 0) return false;
        if (t > 0 && column_of(g, "up") < 0) return false;
        for (int q = 0; q < d->table[t].quasi_count; q++) {
            char name[16];
            snprintf(name, sizeof name, "q%d", q);
            if (column_of(g, name) < 0) return false;
        }
        for (int row = 0; row < g->rows; row++) {
            const char *id = g->cell[row][column_of(g, "id")];
            if (!good_key(id, g->rows)) return false;
            for (int other = 0; other < row; other++)
                if (strcmp(g->cell[other][column_of(g, "id")], id) == 0) return false;
        }
    }
    for (int t = 1; t < d->tables; t++)
        for (int row = 0; row < grid_of(n->release, t)->rows; row++)
            if (parent_row(n->release, d, t, row) < 0) return false;
    return true;
}

static inline int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline char *naive_tree(naive *n, int t, int row)
{
    grid  *g = grid_of(n->release, t);
    char  *children[200], head[200];
    int    count = 0;
    size_t at = (size_t)snprintf(head, sizeof head, "(%d", t);
    for (int q = 0; q < n->w->data.table[t].quasi_count; q++) {
        char name[16];
        snprintf(name, sizeof name, "q%d", q);
        at += (size_t)snprintf(head + at, sizeof head - at, " %s", g->cell[row][column_of(g, name)]);
    }
    size_t size = at + 2;
    for (int u = 1; u < n->w->data.tables; u++)
        for (int i = 0; n->w->data.table[u].parent == t && i < grid_of(n->release, u)->rows; i++) {
            if (parent_row(n->release, &n->w->data, u, i) != row) continue;
            assert_true(count < 200);
            children[count] = naive_tree(n, u, i);
            size += strlen(children[count++]);
        }
    qsort(children, (size_t)count, sizeof *children, compare_texts);
    char *text = must(malloc(size));
    strcpy(text, head);
    for (int i = 0; i < count; i++) {
        strcat(text, children[i]);
        free(children[i]);
    }
    return strcat(text, ")");
}

static inline bool naive_k(naive *n)
{
    int   persons = grid_of(n->release, 0)->rows;
    char *trees[200];
    bool  good = true;
    assert_true(persons < 200);
    for (int p = 0; p < persons; p++) trees[p] = naive_tree(n, 0, p);
    for (int p = 0; p < persons; p++) {
        int same = 0;
        for (int o = 0; o < persons; o++) same += strcmp(trees[p], trees[o]) == 0;
        good = good && same >= n->w->k;
    }
    for (int p = 0; p < persons; p++) free(trees[p]);
    return good;
}

static inline bool naive_cells(naive *n, int t, int original, int released)
{
    const test_table *table = &n->w->data.table[t];
    grid             *g = grid_of(n->release, t), *o = grid_of(n->original, t);
    if (strcmp(g->cell[released][column_of(g, "s")], o->cell[original][column_of(o, "s")]) != 0) return false;
    for (int q = 0; q < table->quasi_count; q++) {
        const test_tree *tree = &table->trees[q];
        char             name[16];
        snprintf(name, sizeof name, "q%d", q);
        const char *shown = g->cell[released][column_of(g, name)], *was = o->cell[original][column_of(o, name)];
        bool        good = strcmp(shown, was) == 0 || (was[0] == 0 && strcmp(shown, "*") == 0);
        for (int leaf = 0; leaf < tree->leaves; leaf++)
            for (int level = 0; strcmp(tree->path[leaf][0], was) == 0 && level < tree->levels; level++)
                good = good || strcmp(tree->path[leaf][level], shown) == 0;
        if (!good) return false;
    }
    return true;
}

static inline bool naive_contains(naive *n, int t, int original, int released);

/* Gives the i-th released child each original in turn. */
static inline bool naive_deal(naive *n, int t, const int *released, int count, const int *originals, int many, int i,
                       bool *used)
{
    if (i == count) return true;
    for (int o = 0; o < many; o++) {
        if (used[o] || !naive_contains(n, t, originals[o], released[i])) continue;
        used[o] = true;
        if (naive_deal(n, t, released, count, originals, many, i + 1, used)) return true;
        used[o] = false;
    }
    return false;
}

static inline bool naive_contains(naive *n, int t, int original, int released)
{
    if (!naive_cells(n, t, original, released)) return false;
    for (int u = 1; u < n->w->data.tables; u++) {
        int  mine[64], theirs[64], count = 0, many = 0;
        bool used[64] = {false};
        if (n->w->data.table[u].parent != t) continue;
        for (int i = 0; i < grid_of(n->release, u)->rows; i++)
            if (parent_row(n->release, &n->w->data, u, i) == released) mine[count++] = i;
        for (int i = 0; i < grid_of(n->original, u)->rows; i++)
            if (parent_row(n->original, &n->w->data, u, i) == original) theirs[many++] = i;
        if (!naive_deal(n, u, mine, count, theirs, many, 0, used)) return false;
    }
    return true;
}

static inline bool naive_augment(bool *edge, int n, int o, int p, int *owner, bool *seen)
{
    for (int i = 0; i < o; i++) {
        if (!edge[p * o + i] || seen[i]) continue;
        seen[i] = true;
        if (owner[i] >= 0 && !naive_augment(edge, n, o, owner[i], owner, seen)) continue;
        owner[i] = p;
        return true;
    }
    return false;
}

static inline bool naive_search(naive *n)
{
    int   persons = grid_of(n->release, 0)->rows, many = grid_of(n->original, 0)->rows;
    bool *edge = must(malloc((size_t)(persons * many) + 1)), good = true;
    int   owner[200];
    for (int o = 0; o < many; o++) owner[o] = -1;
    for (int p = 0; p < persons; p++)
        for (int o = 0; o < many; o++) edge[p * many + o] = naive_contains(n, 0, o, p);
    for (int p = 0; p < persons && good; p++) {
        bool seen[200] = {false};
        good = naive_augment(edge, persons, many, p, owner, seen);
    }
    free(edge);
    return good;
}

static inline bool naive_map(naive *n)
{
    grid *g = grid_of(n->release, 0), *o = grid_of(n->original, 0);
    if (g->rows != n->w->persons) return false;
    for (int i = 0; i < n->w->persons; i++) {
        int released = -1, original = -1;
        for (int row = 0; row < g->rows; row++)
            if (strcmp(g->cell[row][column_of(g, "id")], n->w->released_id[i]) == 0) released = row;
        for (int row = 0; row < o->rows; row++)
            if (strcmp(o->cell[row][column_of(o, "id")], n->w->original_id[i]) == 0) original = row;
        if (released < 0 || original < 0 || !naive_contains(n, 0, original, released)) return false;
    }
    return true;
}

static inline bool naive_valid(world *w, texts *release, bool with_map)
{
    naive n = {w, release, &w->original};
    return naive_schema(&n) && naive_k(&n) && (with_map ? naive_map(&n) : naive_search(&n));
}

/* ---- Verifying ---- */

/* No message holds a cell: labels and values all look like these. */
static inline void check_words(const kn_database_verify_report *r)
{
    for (int i = 0; i < r->problem_count; i++)
        for (const char *at = r->problems[i]; *at; at++) {
            bool inside = at > r->problems[i] && (at[-1] == ' ' || at[-1] == '"');
            if (inside && (at[0] == 'v' || at[0] == 'g') && at[1] >= '0' && at[1] <= '9')
                fail_msg("a cell in a message: %s", r->problems[i]);
        }
}

static inline void assert_same_report(const kn_database_verify_report *a, const kn_database_verify_report *b)
{
    assert_int_equal(a->ok, b->ok);
    assert_int_equal(a->assignment, b->assignment);
    assert_int_equal(a->persons, b->persons);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->k, b->k);
    assert_memory_equal(&a->lm, &b->lm, sizeof a->lm);
    assert_memory_equal(&a->dm, &b->dm, sizeof a->dm);
    assert_int_equal(a->problem_count, b->problem_count);
    for (int i = 0; i < a->problem_count; i++) assert_string_equal(a->problems[i], b->problems[i]);
    for (int i = 0; i < a->model_count; i++) {
        assert_int_equal(a->models[i].holds, b->models[i].holds);
        assert_int_equal(a->models[i].classes, b->models[i].classes);
    }
}

/* The same on one thread and on three. */
static inline kn_database_verify_report *verify(kn_context **ctx, world *w, const char *release, bool with_map)
{
    kn_database_verify_report *r[2] = {NULL, NULL};
    kn_error                   err = KN_ERROR_INIT;
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    options.release = release;
    options.map_path = with_map ? w->map : NULL;
    for (int i = 0; i < 2; i++) assert_ok(kn_verify_database(&r[i], ctx[i], w->spec, &options, &err), err);
    assert_same_report(r[0], r[1]);
    check_words(r[0]);
    kn_database_verify_report_free(r[1]);
    return r[0];
}

static inline void print_problems(const kn_database_verify_report *r)
{
    printf("assignment %s, persons %lld, k %lld\n", kn_assignment_name(r->assignment), (long long)r->persons,
           (long long)r->k);
    for (int i = 0; i < r->problem_count; i++) printf("  - %s\n", r->problems[i]);
}

static inline void check_accepted(kn_context **ctx, world *w, bool with_map)
{
    kn_database_verify_report *r = verify(ctx, w, w->out, with_map);
    if (!r->ok) {
        print_problems(r);
        fail_msg("a good release is refused");
    }
    assert_int_equal(r->assignment, KN_ASSIGNMENT_PROVED);
    assert_int_equal(r->persons, w->persons);
    assert_int_equal(r->dropped, w->data.table[0].rows - w->persons);
    assert_true(r->k >= w->k);
    assert_true(fabs(r->lm - w->metrics->lm) < 1e-9);
    assert_true(fabs(r->dm - w->metrics->dm) < 1e-6);
    for (int t = 0; t < r->table_count; t++) {
        assert_true(fabs(r->tables[t].lm - w->metrics->tables[t].lm) < 1e-9);
        assert_int_equal(r->tables[t].rows, w->release.grid[t].rows);
        assert_int_equal(r->tables[t].deleted * w->data.table[t].quasi_count, w->metrics->tables[t].deleted);
    }
    for (int i = 0; i < r->model_count; i++) assert_true(r->models[i].holds);
    assert_true(naive_valid(w, &w->release, with_map));
    kn_database_verify_report_free(r);
}

static inline kn_relational_problem random_problem(kn_rng *rng)
{
    static const kn_method methods[] = {KN_METHOD_MIRACLE, KN_METHOD_MIRACLE_X,
                                                   KN_METHOD_MIRACLE_X_LEVEL};
    kn_relational_problem             p = KN_RELATIONAL_PROBLEM_INIT;
    p.method = methods[below(rng, 3)];
    p.k = 2 + below(rng, 2);
    p.leftovers = below(rng, 2) ? KN_LEFTOVERS_DROP : KN_LEFTOVERS_ABSORB;
    p.seed = (uint64_t)below(rng, 3);
    return p;
}

static inline void contexts(kn_context **ctx)
{
    ctx[0] = testing_context(1);
    ctx[1] = testing_context(3);
}

static inline void contexts_free(kn_context **ctx)
{
    testing_context_free(ctx[0]);
    testing_context_free(ctx[1]);
}

#endif
