/* test_database.c: databases in and out through every back end; keys drawn anew; schemas that are no snowflakes.
 *
 * PostgreSQL: only where KANON_TEST_POSTGRES names a server to play with (tests/postgres/run starts one).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <kanon/generate.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "database_testing.h"
#include "kn_database_roles.h"
#include "kn_database_write.h"
#include "kn_spec.h"
#include "testing.h"

/* ---- Places ---- */

static const char *scratch(const char *name)
{
    static char paths[16][300];
    static int  next;
    char       *path = paths[next++ % 16];
    const char *file = testing_file("scratch", "", 0);
    snprintf(path, sizeof paths[0], "%.*s/%s", (int)(strrchr(file, '/') - file), file, name);
    return path;
}

static void remove_tree(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char inside[600];
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.') unlink(inside);
    }
    closedir(dir);
    rmdir(path);
}

/* How many things stand in the folder of a path: what a failed run left behind shows. */
static int neighbours(const char *path)
{
    char folder[300];
    int  count = 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

static const char *server(void)
{
    return getenv("KANON_TEST_POSTGRES");
}

static void server_runs(const char *sql)
{
    PGconn   *conn = PQconnectdb(server());
    PGresult *result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail_msg("%s", PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
}

static char *server_says(const char *sql)
{
    PGconn   *conn = PQconnectdb(server());
    PGresult *result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) fail_msg("%s", PQerrorMessage(conn));
    char *out = strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
    PQfinish(conn);
    return out;
}

/* ---- A release that changes nothing but keys ---- */

typedef struct plain_release {
    const kn_database *db;
    kn_release_rows    rows[RDB_TABLES];
    uint32_t          *row[RDB_TABLES]; /* of the original */
    uint32_t          *parent[RDB_TABLES];
} plain_release;

static bool plain_cell(const void *arg, int table, int column, int64_t row, kn_string *out)
{
    const plain_release *p = arg;
    const kn_table      *t = p->db->tables[table].table;
    out->data = kn_table_text(t, column, kn_table_code(t, column, p->row[table][row]), &out->size);
    return out->data != NULL;
}

static void plain_make(plain_release *p, const kn_forest *f)
{
    uint32_t *number = calloc((size_t)f->nodes + 1, sizeof *number);
    *p = (plain_release){.db = f->db};
    for (int t = 0; t < f->db->table_count; t++) {
        size_t rows = (size_t)f->db->tables[t].table->rows + 1;
        p->row[t] = calloc(rows, sizeof(uint32_t));
        p->parent[t] = calloc(rows, sizeof(uint32_t));
        p->rows[t].parent = f->db->tables[t].parent >= 0 ? p->parent[t] : NULL;
    }
    for (int64_t e = 0; e < f->entities; e++)
        for (uint64_t node = f->start[e]; node < f->start[e + 1]; node++) {
            int     t = f->table[node];
            int64_t at = p->rows[t].rows++;
            number[node] = (uint32_t)at;
            p->row[t][at] = f->row[node];
            if (f->parent[node] != KN_FOREST_NONE) p->parent[t][at] = number[f->start[e] + f->parent[node]];
        }
    free(number);
}

static void plain_free(plain_release *p)
{
    for (int t = 0; t < RDB_TABLES; t++) {
        free(p->row[t]);
        free(p->parent[t]);
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All trees of a database, sorted: what a release must keep. */
static char *all_trees(kn_context *ctx, const kn_database *db, kn_forest **keep)
{
    kn_forest *f = NULL;
    kn_error   err = KN_ERROR_INIT;
    char      *text = NULL;
    size_t     size = 0;
    assert_ok(kn_forest_build(&f, ctx, db, &err), err);
    char **trees = calloc((size_t)f->entities + 1, sizeof *trees);
    FILE  *to = open_memstream(&text, &size);
    for (int64_t e = 0; e < f->entities; e++) trees[e] = forest_tree(f, e, f->start[e], true);
    qsort(trees, (size_t)f->entities, sizeof *trees, compare_texts);
    for (int64_t e = 0; e < f->entities; e++) {
        fprintf(to, "%s\n", trees[e]);
        free(trees[e]);
    }
    fclose(to);
    free(trees);
    if (keep)
        *keep = f;
    else
        kn_forest_free(f);
    return text;
}

/* Rows stand in the order of their cells, column by column: keys by number, missing cells last. */
static void check_order(const kn_database_table *t)
{
    for (int64_t row = 1; row < kn_table_rows(t->table); row++) {
        int order = 0;
        for (int c = 0; c < kn_table_columns(t->table) && order == 0; c++) {
            kn_string a = {NULL, 0}, b = {NULL, 0};
            bool      key = t->columns[c].key || t->columns[c].foreign || t->columns[c].joined;
            a.data = kn_table_text(t->table, c, kn_table_code(t->table, c, row - 1), &a.size);
            b.data = kn_table_text(t->table, c, kn_table_code(t->table, c, row), &b.size);
            if (!a.data || !b.data)
                order = (b.data != NULL) - (a.data != NULL);
            else if (key && a.size != b.size)
                order = a.size < b.size ? -1 : 1;
            else
                order = kn_string_compare(a, b);
        }
        assert_true(order <= 0);
    }
}

/* Keys that a table draws for itself are 1 .. rows; columns that were not released are gone. */
static void check_written(const kn_database *from, const kn_database *to)
{
    assert_int_equal(from->table_count, to->table_count);
    for (int t = 0; t < from->table_count; t++) {
        const kn_database_table *a = &from->tables[t], *b = &to->tables[t];
        int                      released = 0;
        for (int c = 0; c < a->table->column_count; c++) {
            bool stays = kn_database_released(&a->columns[c]);
            int  at = kn_table_find(b->table, a->table->columns[c].name);
            released += stays;
            assert_true(stays == (at >= 0));
            if (stays && a->columns[c].key && !a->columns[c].foreign) {
                assert_int_equal(kn_table_distinct(b->table, at), kn_table_rows(b->table));
                for (uint32_t v = 0; v < kn_table_distinct(b->table, at); v++) {
                    size_t      size = 0;
                    const char *text = kn_table_text(b->table, at, v, &size);
                    char        digits[20] = "";
                    assert_true(size < sizeof digits);
                    memcpy(digits, text, size);
                    assert_in_range(strtoul(digits, NULL, 10), 1, kn_table_rows(b->table));
                }
            }
        }
        assert_int_equal(released, kn_table_columns(b->table));
        check_order(b);
        assert_int_equal(a->key_count, b->key_count);
        assert_int_equal(a->link >= 0, b->link >= 0);
    }
}

/* What was released stays declared; a column of keys or an identifier that is gone must not be. */
static void released_spec(const rdb *r, rdb *out)
{
    *out = *r;
    for (int t = 0; t < r->tables; t++) {
        int count = 0;
        for (int i = 0; i < r->spec[t].attribute_count; i++)
            if (r->spec[t].attributes[i].role != KN_ROLE_IDENTIFIER)
                out->table[t].attributes[count++] = r->spec[t].attributes[i];
        out->spec[t].attributes = out->table[t].attributes;
        out->spec[t].attribute_count = count;
    }
}

static bool any_column(const void *arg, const char *table, const char *column)
{
    (void)arg;
    return table && column;
}

/* Cells that nobody looks at are missing where an engine has them, keys are read all the same. */
static void check_unread(kn_database_writer *w, const kn_database_options *options, const kn_database *all)
{
    kn_error           err = KN_ERROR_INIT;
    kn_database       *some = NULL;
    kn_database_unread unread = {NULL, any_column};
    bool               folder = kn_database_writer_folder(w) != NULL;
    assert_ok(kn_database_writer_read(&some, w, options, &unread, &err), err);
    assert_int_equal(some->table_count, all->table_count);
    for (int t = 0; t < all->table_count; t++) {
        const kn_database_table *a = &all->tables[t], *s = &some->tables[t];
        assert_int_equal(kn_table_rows(s->table), kn_table_rows(a->table));
        assert_int_equal(kn_table_columns(s->table), kn_table_columns(a->table));
        for (int c = 0; c < kn_table_columns(a->table); c++) {
            const kn_database_column *d = &a->columns[c];
            bool                      read = folder || d->key || d->foreign || d->joined;
            assert_int_equal(kn_table_distinct(s->table, c), read ? kn_table_distinct(a->table, c) : 0);
        }
    }
    kn_database_free(some);
}

static void round_trip(kn_context *ctx, const rdb *r, const char *source, const char *target, uint64_t seed)
{
    kn_error            err = KN_ERROR_INIT;
    kn_forest          *f = NULL;
    plain_release       p;
    kn_database_writer *w = NULL;
    rdb                 spec;
    kn_database        *db = rdb_read(ctx, r, source), *back = NULL;
    char               *before = all_trees(ctx, db, &f);
    plain_make(&p, f);
    kn_database_rows rows = {.db = db, .tables = p.rows, .cell = plain_cell, .arg = &p, .seed = seed};
    assert_ok(kn_database_writer_open(&w, ctx, target, NULL, &err), err);
    assert_ok(kn_database_writer_write(w, &rows, &err), err);
    released_spec(r, &spec);
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    options.tables = spec.spec;
    options.table_count = spec.tables;
    assert_ok(kn_database_writer_read(&back, w, &options, NULL, &err), err); /* before the commit */
    assert_int_equal(kn_table_rows(kn_database_content(back, 0)), p.rows[0].rows);
    check_unread(w, &options, back);
    kn_database_free(back);
    assert_ok(kn_database_writer_commit(w, &err), err);
    back = rdb_read(ctx, &spec, target);
    check_written(db, back);
    char *after = all_trees(ctx, back, NULL);
    assert_string_equal(before, after);
    free(before);
    free(after);
    kn_database_free(back);
    kn_forest_free(f);
    kn_database_free(db);
    plain_free(&p);
}

static void test_round_trips(void **state)
{
    (void)state;
    uint64_t    seed = testing_seed();
    kn_context *ctx = testing_context(2);
    for (int round = 0; round < 30; round++) {
        kn_rng rng;
        char   sqlite[320], sqlite_out[320], folder[320], folder_out[320];
        kn_rng_init(&rng, seed, (uint64_t)round);
        rdb *r = rdb_random(&rng, (int)kn_rng_below(&rng, 30));
        snprintf(sqlite, sizeof sqlite, "sqlite:%s", scratch("in.db"));
        snprintf(sqlite_out, sizeof sqlite_out, "sqlite:%s", scratch("out.db"));
        snprintf(folder, sizeof folder, "%s", scratch("in"));
        snprintf(folder_out, sizeof folder_out, "%s/", scratch("out"));
        mkdir(folder, 0700);
        rdb_write_sqlite(r, sqlite + strlen("sqlite:"));
        rdb_write_folder(r, folder);
        round_trip(ctx, r, sqlite, sqlite_out, seed);
        round_trip(ctx, r, folder, folder_out, seed + 1);
        remove_tree(folder_out);
        round_trip(ctx, r, sqlite, folder_out, seed + 2);
        round_trip(ctx, r, folder, sqlite_out, seed + 3);
        remove_tree(folder_out);
        remove_tree(folder);
        rdb_free(r);
    }
    testing_context_free(ctx);
}

/* Reading a SQLite file and the folder with the same rows gives the same trees. */
static void test_same_everywhere(void **state)
{
    (void)state;
    uint64_t    seed = testing_seed();
    kn_context *ctx = testing_context(2);
    for (int round = 0; round < 10; round++) {
        kn_rng rng;
        char   sqlite[320], folder[320];
        kn_rng_init(&rng, seed, (uint64_t)round + 100);
        rdb *r = rdb_random(&rng, 20);
        snprintf(sqlite, sizeof sqlite, "sqlite:%s", scratch("same.db"));
        snprintf(folder, sizeof folder, "%s", scratch("same"));
        mkdir(folder, 0700);
        rdb_write_sqlite(r, sqlite + strlen("sqlite:"));
        rdb_write_folder(r, folder);
        kn_database *a = rdb_read(ctx, r, sqlite), *b = rdb_read(ctx, r, folder);
        char        *x = all_trees(ctx, a, NULL), *y = all_trees(ctx, b, NULL);
        assert_string_equal(x, y);
        free(x);
        free(y);
        kn_database_free(a);
        kn_database_free(b);
        remove_tree(folder);
        rdb_free(r);
    }
    testing_context_free(ctx);
}

/* Equal seeds give equal bytes on any number of threads; another seed other keys. */
static void test_seed(void **state)
{
    (void)state;
    kn_rng rng;
    char   folder[320], *texts[3] = {0};
    kn_rng_init(&rng, 99, 0);
    rdb *r = rdb_random(&rng, 25);
    snprintf(folder, sizeof folder, "%s", scratch("seed-in"));
    mkdir(folder, 0700);
    rdb_write_folder(r, folder);
    for (int i = 0; i < 3; i++) {
        char        out[320], path[400];
        kn_context *ctx = testing_context(i == 1 ? 3 : 1);
        snprintf(out, sizeof out, "%s/", scratch("seed-out"));
        round_trip(ctx, r, folder, out, i == 2 ? 8 : 7);
        snprintf(path, sizeof path, "%spersons.csv", out);
        texts[i] = testing_contents(path, NULL);
        assert_true(texts[i][0] != '\0');
        remove_tree(out);
        testing_context_free(ctx);
    }
    assert_string_equal(texts[0], texts[1]);
    assert_string_not_equal(texts[0], texts[2]);
    for (int i = 0; i < 3; i++) free(texts[i]);
    remove_tree(folder);
    rdb_free(r);
}

/* ---- Schemas ---- */

static kn_database *read_sql(kn_context *ctx, const char *sql)
{
    sqlite3     *file = NULL;
    char        *message = NULL, name[320];
    kn_database *db = NULL;
    kn_error     err = KN_ERROR_INIT;
    const char  *path = scratch("schema.db");
    unlink(path);
    assert_int_equal(sqlite3_open(path, &file), SQLITE_OK);
    if (sqlite3_exec(file, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
    sqlite3_close(file);
    snprintf(name, sizeof name, "sqlite:%s", path);
    assert_ok(kn_database_read(&db, ctx, name, NULL, &err), err);
    return db;
}

typedef struct schema_case {
    const char *sql, *person;
    int         problems;
    const char *rules, *words; /* of the first problem: rule, something in its message or advice */
} schema_case;

static void test_snowflakes(void **state)
{
    (void)state;
    static const schema_case cases[] = {
        {"CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, pid REFERENCES p);"
         "CREATE TABLE b(cid REFERENCES c(id), x)",
         "p", 0, "", ""},
        {"CREATE TABLE p(id); CREATE TABLE c(x)", "p", 2, "unreached", "\"c\""},
        {"CREATE TABLE z(id INTEGER PRIMARY KEY, x); CREATE TABLE p(id INTEGER PRIMARY KEY, z REFERENCES z)", "p", 2,
         "person-link", "(z: {reference: true}); otherwise leave the link out (p: {ignore: [z]})"},
        {"CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE k(id INTEGER PRIMARY KEY);"
         "CREATE TABLE c(pid REFERENCES p, kid REFERENCES k)",
         "p", 2, "two-links", "(k: {reference: true}); otherwise leave the link out (c: {ignore: [kid]})"},
        {"CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE a(id INTEGER PRIMARY KEY, b REFERENCES b(id));"
         "CREATE TABLE b(id INTEGER PRIMARY KEY, a REFERENCES a(id))",
         "p", 3, "cycle", "\"a\" and \"b\""},
        {"CREATE TABLE p(id INTEGER PRIMARY KEY, boss REFERENCES p(id))", "p", 1, "cycle", "rows of itself"},
        {"CREATE TABLE p(id TEXT PRIMARY KEY); INSERT INTO p VALUES (NULL)", "p", 1, "parent-key", "\"p\""},
    };
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const schema_case *c = &cases[i];
        kn_database       *db = read_sql(ctx, c->sql);
        kn_schema         *schema = NULL;
        kn_error           err = KN_ERROR_INIT;
        bool               found = c->problems == 0;
        db->whole = false; /* as if these tables had been listed */
        assert_ok(kn_schema_look(&schema, ctx, db, c->person, &err), err);
        assert_int_equal(schema->problem_count, c->problems);
        assert_int_equal(schema->snowflake, c->problems == 0);
        for (int p = 0; p < schema->problem_count; p++) {
            char words[1000];
            snprintf(words, sizeof words, "%s; %s", schema->problems[p].message, schema->problems[p].advice);
            found = found ||
                    (strcmp(kn_schema_rule_name(schema->problems[p].rule), c->rules) == 0 && strstr(words, c->words));
        }
        assert_true(found);
        kn_status status = kn_database_choose(db, c->person, &err);
        assert_int_equal(status, c->problems == 0 ? KN_OK : KN_INPUT);
        if (c->problems == 0) assert_int_equal(schema->tables[kn_database_find(db, "b")].place, KN_SCHEMA_FAMILY);
        kn_schema_free(schema);
        kn_database_free(db);
    }
    testing_context_free(ctx);
}

/* Nobody says which table: the one with the largest family; rows in the air are counted. */
static void test_look(void **state)
{
    (void)state;
    kn_context  *ctx = testing_context(1);
    kn_error     err = KN_ERROR_INIT;
    kn_schema   *s = NULL;
    kn_database *db = read_sql(ctx, "CREATE TABLE Person(Id INTEGER PRIMARY KEY, n TEXT); CREATE TABLE lone(x);"
                                    "CREATE TABLE c(id TEXT PRIMARY KEY, pid INT REFERENCES PERSON(ID), g REAL);"
                                    "CREATE TABLE b(cid REFERENCES c, w BLOB);"
                                    "INSERT INTO Person VALUES (1,'007'),(2,''),(3,NULL);"
                                    "INSERT INTO c VALUES ('x',1,0.1),('y',NULL,1e300),('z',9,2.0);"
                                    "INSERT INTO b VALUES ('x',x'00ff'),('y',NULL),('q',NULL),('z',NULL)");
    assert_ok(kn_schema_look(&s, ctx, db, NULL, &err), err);
    assert_string_equal(s->tables[s->person].name, "Person");
    assert_true(s->chosen && s->snowflake && s->problem_count == 0);
    int c = kn_database_find(db, "c"), b = kn_database_find(db, "b");
    assert_int_equal(s->tables[c].links[0].missing, 1);
    assert_int_equal(s->tables[c].links[0].dangling, 1);
    assert_int_equal(s->tables[c].orphans, 2);
    assert_int_equal(s->tables[b].orphans, 3);
    assert_int_equal(s->tables[kn_database_find(db, "lone")].place, KN_SCHEMA_OUTSIDE);
    assert_non_null(strstr(s->tables[kn_database_find(db, "lone")].reason, "left out"));
    const kn_table *person = kn_database_content(db, s->person);
    assert_int_equal(kn_table_type(person, 1), KN_TYPE_TEXT);
    assert_int_equal(kn_table_missing(person, 1), 1); /* NULL; an empty text is a value */
    assert_int_equal(kn_table_distinct(person, 1), 2);
    assert_int_equal(kn_table_type(kn_database_content(db, c), 2), KN_TYPE_DECIMAL);
    size_t      size = 0;
    const char *text = kn_table_text(kn_database_content(db, b), 1, 0, &size);
    assert_memory_equal(text, "\\x00ff", 6);
    assert_ok(kn_schema_write_svg(s, ctx, scratch("schema.svg"), &err), err);
    kn_schema_free(s);
    kn_database_free(db);
    testing_context_free(ctx);
}

/* A number is spelled as printf's shortest of 15 to 17 digits that is the number again, however it was found. */
static void test_numbers(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    kn_context   *ctx = testing_context(1);
    kn_rng        rng;
    kn_database  *db = NULL;
    kn_error      err = KN_ERROR_INIT;
    sqlite3      *file = NULL;
    sqlite3_stmt *insert = NULL;
    char          name[320], expected[64];
    double       *values = malloc(COUNT * sizeof *values);
    const char   *path = scratch("numbers.db");
    unlink(path);
    kn_rng_init(&rng, testing_seed(), 17);
    assert_int_equal(sqlite3_open(path, &file), SQLITE_OK);
    assert_int_equal(sqlite3_exec(file, "CREATE TABLE t(x TEXT, v BLOB); BEGIN", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(file, "INSERT INTO t VALUES ('a', ?1)", -1, &insert, NULL), SQLITE_OK);
    for (int i = 0; i < COUNT; i++) {
        static const double powers[] = {1, 10, 100, 1000, 10000, 100000, 3, 7};
        int64_t             whole = (int64_t)kn_rng_below(&rng, i % 3 ? 100000000 : 20000000000000) - 50000000;
        uint64_t            bits = kn_rng_next(&rng);
        values[i] = (double)whole / powers[kn_rng_below(&rng, 8)];
        if (i % 16 == 0) memcpy(&values[i], &bits, sizeof bits);
        if (i % 16 == 1) values[i] *= 1e-9;
        if (!(values[i] - values[i] == 0)) values[i] = i % 2 ? -0.0 : 0.0;
        sqlite3_bind_double(insert, 1, values[i]);
        assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    assert_int_equal(sqlite3_exec(file, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(file);
    snprintf(name, sizeof name, "sqlite:%s", path);
    kn_attribute        as_text = {.name = "v", .type = KN_TYPE_TEXT, .weight = {1, 1}};
    kn_spec_table       table = {.name = "t", .attribute_count = 1, .attributes = &as_text};
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    options.tables = &table;
    options.table_count = 1;
    assert_ok(kn_database_read(&db, ctx, name, &options, &err), err);
    const kn_table *t = kn_database_content(db, 0);
    for (int i = 0; i < COUNT; i++) {
        size_t      size = 0;
        const char *text = kn_table_text(t, 1, kn_table_code(t, 1, i), &size);
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(expected, sizeof expected, "%.*g", digits, values[i]);
            if (strtod(expected, NULL) == values[i]) break;
        }
        assert_int_equal(size, strlen(expected));
        assert_memory_equal(text, expected, size);
    }
    free(values);
    kn_database_free(db);
    testing_context_free(ctx);
}

/* ---- Synthetic students ---- */

/* One obligatory course, two or three of each kind of elective, none twice; books are of the course. */
static void test_students(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_spec    *spec = NULL;
    kn_forest  *f = NULL;
    char        folder[320], file[400];
    snprintf(folder, sizeof folder, "%s", scratch("school"));
    assert_ok(kn_generate_students(ctx, folder, 300, testing_seed(), &err), err);
    assert_int_equal(kn_generate_students(ctx, folder, 1, 1, &err), KN_USAGE); /* not empty */
    snprintf(file, sizeof file, "%s/release.yaml", folder);
    assert_ok(kn_spec_read(&spec, ctx, file, &err), err);
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    kn_database        *db = NULL;
    options.tables = spec->tables;
    options.table_count = spec->table_count;
    assert_ok(kn_database_read(&db, ctx, spec->inputs[0], &options, &err), err);
    assert_ok(kn_database_choose(db, spec->entity_table, &err), err);
    assert_ok(kn_database_roles(db, spec->tables, spec->table_count, &err), err);
    assert_ok(kn_forest_build(&f, ctx, db, &err), err);
    assert_int_equal(f->entities, 300);
    const kn_table *courses = kn_database_content(db, 1), *books = kn_database_content(db, 2);
    for (int64_t e = 0; e < f->entities; e++) {
        int      kinds[3] = {0};
        uint64_t root = f->start[e];
        for (uint32_t i = 0; i < f->child_count[root]; i++) {
            uint64_t    node = root + f->first_child[root] + i;
            uint32_t    leaf = kn_forest_leaf(f, node, 0);
            size_t      size = 0, book_size = 0;
            const char *name = kn_table_text(courses, 2, kn_table_code(courses, 2, f->row[node]), &size);
            const char *technical =
                "Algorithms Databases Networks Graphics Algebra Number Theory Optics Circuits Signals";
            const char *obligatory = "Calculus Mechanics Composition Statistics";
            char        course[40] = "";
            memcpy(course, name, size);
            kinds[strstr(obligatory, course) ? 0 : strstr(technical, course) ? 1 : 2]++;
            if (i > 0) assert_int_not_equal(leaf, kn_forest_leaf(f, node - 1, 0));
            assert_in_range(f->child_count[node], 1, 2);
            for (uint32_t b = 0; b < f->child_count[node]; b++) {
                uint64_t    at = root + f->first_child[node] + b;
                const char *book = kn_table_text(books, 1, kn_table_code(books, 1, f->row[at]), &book_size);
                assert_int_equal(book_size, size + 2);
                assert_memory_equal(book, course, size);
            }
        }
        assert_int_equal(kinds[0], 1);
        assert_in_range(kinds[1], 2, 3);
        assert_in_range(kinds[2], 2, 3);
    }
    kn_forest_free(f);
    kn_database_free(db);
    kn_spec_free(spec);
    remove_tree(folder);
    testing_context_free(ctx);
}

/* ---- Release files ---- */

static void test_release_file(void **state)
{
    (void)state;
    static const char text[] =
        "input: sqlite:school.db\n"
        "output: postgresql://h/db#rel\n"
        "entity: {table: s, key: id}\n"
        "tables:\n"
        "  s: {attributes: {gpa: sensitive}}\n"
        "  c: {key: [id, no], parent: {table: s, column: id}, attributes: {x: {role: quasi, type: text}, y: keep}}\n"
        "  b: {key: [], parent: {table: c, columns: [id, no]}}\n";
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_spec    *spec = NULL;
    assert_ok(kn_spec_parse(&spec, ctx, "some/where/r.yaml", "r.yaml", text, strlen(text), &err), err);
    assert_string_equal(spec->inputs[0], "sqlite:some/where/school.db");
    assert_string_equal(spec->output, "postgresql://h/db#rel");
    assert_string_equal(spec->entity_table, "s");
    assert_int_equal(spec->table_count, 3);
    assert_true(spec->tables[0].has_key && spec->tables[0].key_count == 1); /* entity says it */
    assert_string_equal(spec->tables[0].key[0], "id");
    assert_int_equal(spec->tables[1].key_count, 2);
    assert_string_equal(spec->tables[1].parent, "s");
    assert_int_equal(spec->tables[1].attribute_count, 2);
    assert_int_equal(spec->tables[1].attributes[0].type, KN_TYPE_TEXT);
    assert_int_equal(spec->tables[1].attributes[1].role, KN_ROLE_KEEP);
    assert_true(spec->tables[2].has_key && spec->tables[2].key_count == 0);
    assert_int_equal(spec->tables[2].parent_column_count, 2);
    assert_int_equal(spec->tables[2].line, 7);
    assert_int_equal(kn_spec_set(spec, "tables", "{a: {parent: {table: b}}}", "--tables", &err), KN_USAGE);
    assert_int_equal(spec->table_count, 3); /* as before */
    assert_ok(kn_spec_set(spec, "tables", "{a: {}}", "--tables", &err), err);
    assert_int_equal(spec->table_count, 1);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* ---- What can go wrong ---- */

static void expect_failure(kn_context *ctx, const char *input, kn_status status, const char *words)
{
    kn_error     err = KN_ERROR_INIT;
    kn_database *db = NULL;
    kn_status    found = kn_database_read(&db, ctx, input, NULL, &err);
    if (found != status || !strstr(err.message, words)) fail_msg("%s: %d %s", input, found, err.message);
    assert_null(db);
}

static void test_bad_input(void **state)
{
    (void)state;
    char        name[320];
    kn_context *ctx = testing_context(1);
    expect_failure(ctx, "sqlite:/nowhere/x.db", KN_INPUT, "cannot be opened");
    expect_failure(ctx, "nowhere/", KN_INPUT, "cannot be read");
    expect_failure(ctx, "file.csv", KN_USAGE, "not a database");
    const char *text =
        "this is no database, but it is long enough to be looked at as a header of one, so it seems......";
    snprintf(name, sizeof name, "sqlite:%s", testing_file("text.db", text, strlen(text)));
    expect_failure(ctx, name, KN_INPUT, "not a SQLite file");
    mkdir(scratch("empty"), 0700);
    expect_failure(ctx, scratch("empty"), KN_INPUT, "no tables");
    remove_tree(scratch("empty"));
    /* Passwords are never shown, whatever is wrong with the rest. */
    static const char *const servers[] = {"postgresql://me:s3cret@127.0.0.1:1/db",
                                          "postgresql:host=127.0.0.1 port=1 password=s3cret",
                                          "postgresql://me:s3cret@[::1/db",
                                          "postgresql://me:s3cret%zz@127.0.0.1/db",
                                          "postgresql:password='s3cret",
                                          "postgresql://127.0.0.1:1/db?password=s3cret",
                                          "postgresql://me:s3cret@127.0.0.1:s3cret/db"};
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        kn_error     err = KN_ERROR_INIT;
        kn_database *db = NULL;
        kn_status    status = kn_database_read(&db, ctx, servers[i], NULL, &err);
        assert_true(status == KN_IO || status == KN_USAGE);
        assert_true(err.message[0] && !strstr(err.message, "s3cret"));
    }
    testing_context_free(ctx);
}

static void test_roles(void **state)
{
    (void)state;
    kn_context         *ctx = testing_context(1);
    kn_error            err = KN_ERROR_INIT;
    kn_attribute        id = {.name = "id", .role = KN_ROLE_QUASI, .has_role = true, .weight = {1, 1}};
    kn_attribute        none = {.name = "nothing", .role = KN_ROLE_QUASI, .has_role = true, .weight = {1, 1}};
    kn_spec_table       quasi_key = {.name = "p", .attribute_count = 1, .attributes = &id};
    kn_spec_table       no_column = {.name = "p", .attribute_count = 1, .attributes = &none};
    const kn_spec_table no_table = {.name = "q"};
    kn_database        *db = read_sql(ctx, "CREATE TABLE p(id INTEGER PRIMARY KEY, x)");
    assert_int_equal(kn_database_roles(db, &quasi_key, 1, &err), KN_INPUT);
    assert_non_null(strstr(err.message, "part of a key"));
    assert_int_equal(kn_database_roles(db, &no_column, 1, &err), KN_INPUT);
    assert_int_equal(kn_database_roles(db, &no_table, 1, &err), KN_INPUT);
    kn_database_free(db);
    testing_context_free(ctx);
}

/* A target that cannot be written, and one that must not be: nothing is left, nothing is lost. */
static void test_bad_targets(void **state)
{
    (void)state;
    kn_context         *ctx = testing_context(1);
    kn_error            err = KN_ERROR_INIT;
    kn_database_writer *w = NULL;
    char                folder[320];
    snprintf(folder, sizeof folder, "%s/", scratch("full"));
    mkdir(folder, 0700);
    testing_file("full/precious.txt", "mine", 4);
    assert_int_equal(kn_database_writer_open(&w, ctx, folder, NULL, &err), KN_USAGE);
    assert_non_null(strstr(err.message, "not empty"));
    assert_int_equal(kn_database_writer_open(&w, ctx, "sqlite:/nowhere/at/all.db", NULL, &err), KN_IO);
    assert_int_equal(kn_database_writer_open(&w, ctx, "/nowhere/at/all/", NULL, &err), KN_IO);
    assert_int_equal(kn_database_writer_open(&w, ctx, "x.csv", NULL, &err), KN_USAGE);
    assert_null(w);
    testing_context_free(ctx);
}

/* A release given up half way leaves nothing. */
static void test_abort(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    for (int i = 0; i < 2; i++) {
        char                target[320];
        kn_error            err = KN_ERROR_INIT;
        kn_database_writer *w = NULL;
        const char         *path = scratch("given-up");
        if (i == 0)
            snprintf(target, sizeof target, "sqlite:%s", path);
        else
            snprintf(target, sizeof target, "%s/", path);
        int before = neighbours(path);
        assert_ok(kn_database_writer_open(&w, ctx, target, NULL, &err), err);
        assert_true(neighbours(path) > before);
        kn_database_writer_abort(w);
        assert_int_equal(neighbours(path), before);
    }
    testing_context_free(ctx);
}

static void test_write_memory(void **state)
{
    (void)state;
    kn_rng rng;
    char   source[320];
    kn_rng_init(&rng, 12, 0);
    rdb *r = rdb_random(&rng, 10);
    snprintf(source, sizeof source, "sqlite:%s", scratch("memory.db"));
    rdb_write_sqlite(r, source + strlen("sqlite:"));
    int before = neighbours(scratch("x"));
    for (int kind = 0; kind < 2; kind++) {
        kn_status status = KN_MEMORY;
        for (int64_t refuse = 0; status != KN_OK; refuse++) {
            testing_allocator   memory = {.refuse_at = -1};
            kn_context         *ctx = NULL;
            kn_error            err = KN_ERROR_INIT;
            kn_forest          *f = NULL;
            kn_database_writer *w = NULL;
            plain_release       p;
            char                target[320];
            assert_ok(testing_refusing_context(&ctx, &memory, 1, &err), err);
            kn_database *db = rdb_read(ctx, r, source);
            assert_ok(kn_forest_build(&f, ctx, db, &err), err);
            plain_make(&p, f);
            kn_database_rows rows = {.db = db, .tables = p.rows, .cell = plain_cell, .arg = &p, .seed = 1};
            if (kind == 0)
                snprintf(target, sizeof target, "sqlite:%s", scratch("memory-out"));
            else
                snprintf(target, sizeof target, "%s/", scratch("memory-out"));
            memory.refuse_at = memory.requests + refuse;
            status = kn_database_writer_open(&w, ctx, target, NULL, &err);
            if (status == KN_OK) {
                status = kn_database_writer_write(w, &rows, &err);
                kn_database_writer_abort(w);
            }
            assert_true(status == KN_OK || status == KN_MEMORY);
            plain_free(&p);
            kn_forest_free(f);
            kn_database_free(db);
            kn_context_free(ctx);
            assert_int_equal(memory.live, 0);
            assert_int_equal(neighbours(scratch("x")), before);
        }
    }
    rdb_free(r);
}

/* ---- PostgreSQL ---- */

static void test_postgres(void **state)
{
    (void)state;
    if (!server()) skip(); /* tests/postgres/run starts one, and fails where a test skips */
    uint64_t    seed = testing_seed();
    kn_context *ctx = testing_context(2);
    for (int round = 0; round < 12; round++) {
        kn_rng rng;
        char   source[500], target[500], sqlite[320];
        kn_rng_init(&rng, seed, (uint64_t)round + 200);
        rdb  *r = rdb_random(&rng, (int)kn_rng_below(&rng, 25));
        char *rows = rdb_sql(r), *sql = malloc(strlen(rows) + 200);
        sprintf(sql,
                "DROP SCHEMA IF EXISTS src CASCADE; DROP SCHEMA IF EXISTS rel CASCADE; CREATE SCHEMA src; "
                "SET search_path = src; %s",
                rows);
        server_runs(sql);
        free(rows);
        free(sql);
        snprintf(source, sizeof source, "%s#src", server());
        snprintf(target, sizeof target, "%s#rel", server());
        snprintf(sqlite, sizeof sqlite, "sqlite:%s", scratch("pg.db"));
        round_trip(ctx, r, source, target, seed);
        round_trip(ctx, r, source, sqlite, seed);
        server_runs("DROP SCHEMA rel CASCADE");
        rdb_write_sqlite(r, sqlite + strlen("sqlite:"));
        round_trip(ctx, r, sqlite, target, seed + 1);
        rdb_free(r);
    }
    testing_context_free(ctx);
}

/* Types: keys of integers and UUIDs stay so; quasi-identifiers become text. */
static void test_postgres_types(void **state)
{
    (void)state;
    if (!server()) skip(); /* tests/postgres/run starts one, and fails where a test skips */
    server_runs("DROP SCHEMA IF EXISTS src CASCADE; DROP SCHEMA IF EXISTS rel CASCADE; CREATE SCHEMA src;"
                "CREATE TABLE src.p(id uuid PRIMARY KEY, age int, pay numeric(10,2), born date);"
                "CREATE TABLE src.c(id bigint PRIMARY KEY, pid uuid REFERENCES src.p, q varchar(3));"
                "INSERT INTO src.p VALUES ('11111111-2222-4333-8444-555555555555', 30, 12.50, '1990-02-03');"
                "INSERT INTO src.c VALUES (77, '11111111-2222-4333-8444-555555555555', 'abc'), (78, NULL, 'x')");
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    char              source[500], target[500];
    kn_attribute      p_attributes[] = {{.name = "age", .role = KN_ROLE_QUASI, .has_role = true, .weight = {1, 1}},
                                        {.name = "pay", .role = KN_ROLE_SENSITIVE, .has_role = true, .weight = {1, 1}}};
    kn_hierarchy_spec none = KN_HIERARCHY_SPEC_INIT;
    p_attributes[0].hierarchy = p_attributes[1].hierarchy = none;
    const kn_spec_table spec[] = {{.name = "p", .attribute_count = 2, .attributes = p_attributes}, {.name = "c"}};
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    kn_database        *db = NULL;
    kn_forest          *f = NULL;
    plain_release       p;
    kn_database_writer *w = NULL;
    options.tables = spec;
    options.table_count = 2;
    snprintf(source, sizeof source, "%s#src", server());
    snprintf(target, sizeof target, "%s#rel", server());
    assert_ok(kn_database_read(&db, ctx, source, &options, &err), err);
    assert_ok(kn_database_choose(db, "p", &err), err);
    assert_ok(kn_database_roles(db, spec, 2, &err), err);
    assert_ok(kn_forest_build(&f, ctx, db, &err), err);
    assert_int_equal(f->missing[1], 1);
    plain_make(&p, f);
    kn_database_rows rows = {.db = db, .tables = p.rows, .cell = plain_cell, .arg = &p, .seed = 3};
    assert_ok(kn_database_writer_open(&w, ctx, target, NULL, &err), err);
    assert_ok(kn_database_writer_write(w, &rows, &err), err);
    char *hidden = server_says("SELECT count(*) FROM pg_namespace WHERE nspname = 'rel'");
    assert_string_equal(hidden, "0"); /* nothing is seen before the commit */
    free(hidden);
    assert_ok(kn_database_writer_commit(w, &err), err);
    char *types =
        server_says("SELECT string_agg(table_name || '.' || column_name || ' ' || data_type, ', ' ORDER BY 1) FROM "
                    "(SELECT * FROM information_schema.columns WHERE table_schema = 'rel' ORDER BY 3, 4) x");
    assert_non_null(strstr(types, "p.id uuid"));
    assert_non_null(strstr(types, "p.age text"));
    assert_non_null(strstr(types, "p.pay numeric"));
    assert_non_null(strstr(types, "c.id bigint"));
    assert_non_null(strstr(types, "c.pid uuid"));
    assert_null(strstr(types, "born"));
    free(types);
    char *joined = server_says("SELECT count(*) FROM rel.p JOIN rel.c ON c.pid = p.id");
    assert_string_equal(joined, "1");
    free(joined);
    /* A schema that is there is not touched. */
    assert_int_equal(kn_database_writer_open(&w, ctx, target, NULL, &err), KN_INPUT);
    assert_non_null(strstr(err.message, "rel"));
    plain_free(&p);
    kn_forest_free(f);
    kn_database_free(db);
    testing_context_free(ctx);
}

/* The server goes away while a release is being written: an error, and nothing of it there. */
static void test_postgres_gone(void **state)
{
    (void)state;
    if (!server()) skip(); /* tests/postgres/run starts one, and fails where a test skips */
    kn_context         *ctx = testing_context(1);
    kn_error            err = KN_ERROR_INIT;
    char                target[500];
    kn_database_writer *w = NULL;
    kn_database  *db = read_sql(ctx, "CREATE TABLE p(id INTEGER PRIMARY KEY, x); INSERT INTO p VALUES (1,2),(2,3)");
    kn_forest    *f = NULL;
    plain_release p;
    snprintf(target, sizeof target, "%s#gone", server());
    assert_ok(kn_database_choose(db, "p", &err), err);
    assert_ok(kn_database_roles(db, NULL, 0, &err), err);
    assert_ok(kn_forest_build(&f, ctx, db, &err), err);
    plain_make(&p, f);
    kn_database_rows rows = {.db = db, .tables = p.rows, .cell = plain_cell, .arg = &p, .seed = 3};
    assert_ok(kn_database_writer_open(&w, ctx, target, NULL, &err), err);
    assert_ok(kn_database_writer_write(w, &rows, &err), err);
    free(server_says("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'kanon'"));
    assert_int_equal(kn_database_writer_commit(w, &err), KN_IO);
    char *left = server_says("SELECT count(*) FROM pg_namespace WHERE nspname = 'gone'");
    assert_string_equal(left, "0");
    free(left);
    plain_free(&p);
    kn_forest_free(f);
    kn_database_free(db);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trips),    cmocka_unit_test(test_same_everywhere),
                                       cmocka_unit_test(test_seed),           cmocka_unit_test(test_snowflakes),
                                       cmocka_unit_test(test_look),           cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_bad_input),      cmocka_unit_test(test_roles),
                                       cmocka_unit_test(test_release_file),   cmocka_unit_test(test_students),
                                       cmocka_unit_test(test_bad_targets),    cmocka_unit_test(test_abort),
                                       cmocka_unit_test(test_write_memory),   cmocka_unit_test(test_postgres),
                                       cmocka_unit_test(test_postgres_types), cmocka_unit_test(test_postgres_gone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
