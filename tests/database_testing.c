/* database_testing.c: see database_testing.h. Nothing here is shared with the code under test. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "database_testing.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_database_roles.h"
#include "testing.h"

static int below(kn_rng *rng, int n)
{
    return (int)kn_rng_below(rng, (uint64_t)n);
}

static char *copy(const char *text)
{
    char *out = text ? strdup(text) : NULL;
    if (text && !out) abort();
    return out;
}

/* ---- Making ---- */

static void random_columns(rdb_table *t, kn_rng *rng)
{
    static const char *const names[] = {"name", "color", "size", "note", "Say \"x\"", "grade"};
    static const kn_role     roles[] = {KN_ROLE_IDENTIFIER, KN_ROLE_QUASI, KN_ROLE_QUASI,
                                        KN_ROLE_SENSITIVE,  KN_ROLE_KEEP,  KN_ROLE_QUASI};
    for (int i = 0; i < 6; i++) {
        if (below(rng, 3) == 0 && !(i == 1 && t->parent >= 0)) continue;
        strcpy(t->column[t->columns], names[i]);
        t->role[t->columns++] = roles[i];
    }
    if (t->columns == 0) {
        strcpy(t->column[t->columns], "color");
        t->role[t->columns++] = KN_ROLE_QUASI;
    }
}

/* Keys: persons one or two columns; others one of their own, or the parent's and a number, or none. */
static void random_keys(rdb *db, int table, kn_rng *rng)
{
    rdb_table *t = &db->table[table];
    if (t->parent < 0) {
        t->key_count = 1 + below(rng, 2);
        for (int i = 0; i < t->key_count; i++) sprintf(t->column[t->columns++], "pid%d", i);
        return;
    }
    const rdb_table *p = &db->table[t->parent];
    int              kind = below(rng, 3);
    t->link_count = p->key_count;
    t->link_from = kind == 0 ? 1 : 0;
    if (kind == 0) strcpy(t->column[t->columns++], "own");
    for (int i = 0; i < p->key_count; i++) sprintf(t->column[t->columns++], "up%d", i);
    if (kind == 1) strcpy(t->column[t->columns++], "line");
    t->key_count = kind == 0 ? 1 : kind == 1 && p->key_count < 3 ? t->columns : 0;
}

static void key_cells(rdb *db, int table, int row, kn_rng *rng)
{
    rdb_table *t = &db->table[table];
    char       text[40];
    char     **cell = t->cell[row];
    for (int c = 0; c < t->columns; c++) {
        if (c >= t->key_count && (t->parent < 0 || c >= t->link_from + t->link_count)) break;
        sprintf(text, c % 2 ? "%d" : "k%04d", row * 7 + 3);
        cell[c] = copy(text);
    }
    if (t->parent < 0) return;
    const rdb_table *p = &db->table[t->parent];
    int              up = p->rows > 0 ? below(rng, p->rows) : -1, kind = below(rng, 30);
    for (int i = 0; i < t->link_count; i++) {
        char **to = &cell[t->link_from + i];
        bool   in_key = t->link_from + i < t->key_count;
        free(*to);
        *to = NULL;
        if (kind == 0 && !in_key) continue; /* missing; a key never is */
        sprintf(text, "no such %d", row);
        *to = copy(up < 0 || kind == 1 ? text : p->cell[up][i]);
    }
}

static void data_cells(rdb_table *t, int row, kn_rng *rng)
{
    static const char *const odd[] = {"", "a,b", "say \"hi\"", "two\nlines", "tab\there", "back\\slash", "é", "\\N"};
    for (int c = 0; c < t->columns; c++) {
        char text[32];
        if (t->cell[row][c] || c < t->key_count || (t->parent >= 0 && c < t->link_from + t->link_count)) continue;
        if (below(rng, 12) == 0) continue;
        sprintf(text,
                t->role[c] == KN_ROLE_IDENTIFIER ? "Person %d"
                : t->role[c] == KN_ROLE_QUASI    ? "q%d"
                                                 : "%d",
                t->role[c] == KN_ROLE_QUASI ? below(rng, 3) : below(rng, 1000));
        t->cell[row][c] = copy(t->role[c] == KN_ROLE_KEEP ? odd[1 + below(rng, 7)] : text);
    }
}

static void describe(rdb *db, int table)
{
    rdb_table *t = &db->table[table];
    int        count = 0, first = t->key_count;
    if (t->parent >= 0 && t->link_from + t->link_count > first) first = t->link_from + t->link_count;
    for (int c = first; c < t->columns; c++) {
        kn_hierarchy_spec none = KN_HIERARCHY_SPEC_INIT;
        t->attributes[count++] = (kn_attribute){.name = t->column[c],
                                                .role = t->role[c],
                                                .type = KN_TYPE_TEXT,
                                                .hierarchy = none,
                                                .weight = {1, 1},
                                                .has_role = true};
    }
    for (int i = 0; i < t->key_count; i++) t->key[i] = t->column[i];
    for (int i = 0; i < t->link_count; i++) t->link[i] = t->column[t->link_from + i];
    db->spec[table] = (kn_spec_table){.name = t->name,
                                      .has_key = true,
                                      .key_count = t->key_count,
                                      .key = t->key,
                                      .parent = t->parent >= 0 ? db->table[t->parent].name : NULL,
                                      .parent_column_count = t->link_count,
                                      .parent_columns = t->link,
                                      .attribute_count = count,
                                      .attributes = t->attributes};
}

rdb *rdb_random(kn_rng *rng, int persons)
{
    rdb *db = calloc(1, sizeof *db);
    int  depth[RDB_TABLES] = {0};
    if (!db) abort();
    db->tables = 1 + below(rng, 5);
    for (int t = 0; t < db->tables; t++) {
        rdb_table *table = &db->table[t];
        int        parent = t > 0 ? below(rng, t) : -1;
        while (parent > 0 && (depth[parent] >= 3 || db->table[parent].key_count == 0)) parent--;
        sprintf(table->name, t == 0 ? "persons" : "t%d", t);
        table->parent = parent;
        depth[t] = parent >= 0 ? depth[parent] + 1 : 0;
        random_keys(db, t, rng);
        random_columns(table, rng);
        table->rows = t == 0 ? persons : below(rng, 1 + 3 * persons);
        table->cell = calloc((size_t)table->rows + 1, sizeof *table->cell);
        if (!table->cell) abort();
        for (int r = 0; r < table->rows; r++) {
            key_cells(db, t, r, rng);
            data_cells(table, r, rng);
        }
        describe(db, t);
    }
    return db;
}

void rdb_free(rdb *db)
{
    for (int t = 0; t < db->tables; t++) {
        for (int r = 0; r < db->table[t].rows; r++)
            for (int c = 0; c < RDB_COLUMNS; c++) free(db->table[t].cell[r][c]);
        free(db->table[t].cell);
    }
    free(db);
}

void rdb_shuffle(rdb *db, kn_rng *rng)
{
    for (int t = 0; t < db->tables; t++)
        for (int r = db->table[t].rows; r-- > 1;) {
            int   other = below(rng, r + 1);
            char *row[RDB_COLUMNS];
            memcpy(row, db->table[t].cell[r], sizeof row);
            memcpy(db->table[t].cell[r], db->table[t].cell[other], sizeof row);
            memcpy(db->table[t].cell[other], row, sizeof row);
        }
}

/* ---- Writing ---- */

static void put_quoted(FILE *f, const char *text, char quote)
{
    fputc(quote, f);
    for (; *text; text++) {
        if (*text == quote) fputc(quote, f);
        fputc(*text, f);
    }
    fputc(quote, f);
}

void rdb_write_folder(const rdb *db, const char *folder)
{
    for (int t = 0; t < db->tables; t++) {
        const rdb_table *table = &db->table[t];
        char             path[500];
        snprintf(path, sizeof path, "%s/%s.csv", folder, table->name);
        FILE *f = fopen(path, "wb");
        if (!f) abort();
        for (int r = -1; r < table->rows; r++) {
            for (int c = 0; c < table->columns; c++) {
                const char *text = r < 0 ? table->column[c] : table->cell[r][c];
                if (c) fputc(',', f);
                if (text)
                    put_quoted(f, text, '"');
                else if (table->columns == 1)
                    fputs("\"\"", f);
            }
            fputc('\n', f);
        }
        if (fclose(f) != 0) abort();
    }
}

static void put_columns(FILE *f, const rdb_table *t, int from, int count)
{
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "(", f);
        put_quoted(f, t->column[from + i], '"');
    }
    fputc(')', f);
}

/* Key columns of odd numbers hold digits alone: let them be integers. */
static void put_create(FILE *f, const rdb *db, int number)
{
    const rdb_table *t = &db->table[number];
    fprintf(f, "CREATE TABLE %s (", t->name);
    for (int c = 0; c < t->columns; c++) {
        put_quoted(f, t->column[c], '"');
        fputs(" text, ", f);
    }
    if (t->key_count) {
        fputs("PRIMARY KEY ", f);
        put_columns(f, t, 0, t->key_count);
    }
    if (t->parent >= 0) {
        fprintf(f, "%sFOREIGN KEY ", t->key_count ? ", " : "");
        put_columns(f, t, t->link_from, t->link_count);
        fprintf(f, " REFERENCES %s ", db->table[t->parent].name);
        put_columns(f, &db->table[t->parent], 0, t->link_count);
    }
    if (!t->key_count && t->parent < 0) fputs("CHECK (true)", f);
    fputs(");\n", f);
}

/* Rows that name nobody cannot be put into a server that checks: there they are left out. */
static char *sql_of(const rdb *db, bool all)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *f = open_memstream(&text, &size);
    if (!f) abort();
    for (int t = 0; t < db->tables; t++) {
        const rdb_table *table = &db->table[t];
        put_create(f, db, t);
        for (int r = 0; r < table->rows; r++) {
            int up = rdb_parent(db, t, r);
            if (!all && (up == -2 || up == -3)) continue;
            fprintf(f, "INSERT INTO %s VALUES (", table->name);
            for (int c = 0; c < table->columns; c++) {
                if (c) fputs(", ", f);
                if (table->cell[r][c])
                    put_quoted(f, table->cell[r][c], '\'');
                else
                    fputs("NULL", f);
            }
            fputs(");\n", f);
        }
    }
    fclose(f);
    return text;
}

char *rdb_sql(const rdb *db)
{
    return sql_of(db, false);
}

void rdb_write_sqlite(const rdb *db, const char *path)
{
    sqlite3 *file = NULL;
    char    *sql = sql_of(db, true), *message = NULL;
    remove(path);
    assert_int_equal(sqlite3_open(path, &file), SQLITE_OK);
    assert_int_equal(sqlite3_exec(file, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN", NULL, NULL, NULL),
                     SQLITE_OK);
    if (sqlite3_exec(file, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
    assert_int_equal(sqlite3_exec(file, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(file);
    free(sql);
}

kn_database *rdb_read(kn_context *ctx, const rdb *db, const char *input)
{
    static const char *const empty[] = {""};
    kn_database_options      options = KN_DATABASE_OPTIONS_INIT;
    kn_csv_options           csv = KN_CSV_OPTIONS_INIT;
    kn_database             *out = NULL;
    kn_error                 err = KN_ERROR_INIT;
    const char              *reason = NULL;
    options.csv = &csv;
    options.tables = db->spec;
    options.table_count = db->tables;
    if (!strchr(input, ':')) { /* a folder: an empty cell is missing, nothing else */
        csv.na = empty;
        csv.na_count = 1;
    }
    assert_ok(kn_database_read(&out, ctx, input, &options, &err), err);
    if (!kn_database_validate(out, &reason)) fail_msg("%s", reason);
    assert_ok(kn_database_choose(out, "persons", &err), err);
    assert_ok(kn_database_roles(out, db->spec, db->tables, &err), err);
    return out;
}

/* ---- Trees ---- */

int rdb_parent(const rdb *db, int table, int row)
{
    const rdb_table *t = &db->table[table];
    if (t->parent < 0) return 0;
    const rdb_table *p = &db->table[t->parent];
    for (int i = 0; i < t->link_count; i++)
        if (!t->cell[row][t->link_from + i]) return -1;
    for (int r = 0; r < p->rows; r++) {
        bool same = true;
        for (int i = 0; i < t->link_count && same; i++)
            same = p->cell[r][i] && strcmp(p->cell[r][i], t->cell[row][t->link_from + i]) == 0;
        if (same) return rdb_parent(db, t->parent, r) < 0 ? -3 : r;
    }
    return -2;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *join_tree(const char *own, char **children, int count)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *f = open_memstream(&text, &size);
    if (!f) abort();
    qsort(children, (size_t)count, sizeof *children, compare_texts);
    fprintf(f, "(%s", own);
    for (int i = 0; i < count; i++) {
        fputs(children[i], f);
        free(children[i]);
    }
    fputc(')', f);
    fclose(f);
    return text;
}

static bool told(bool has_role, kn_role role, bool all)
{
    return has_role && (role == KN_ROLE_QUASI || (all && (role == KN_ROLE_SENSITIVE || role == KN_ROLE_KEEP)));
}

static void add_cell(char *to, const char *text, size_t size, bool there)
{
    if (!there)
        strcat(to, "|~");
    else
        sprintf(to + strlen(to), "|=%.*s", (int)size, text);
}

char *rdb_tree(const rdb *db, int table, int row, bool all)
{
    const rdb_table *t = &db->table[table];
    char             own[1000], *children[2000];
    int              count = 0;
    strcpy(own, t->name);
    for (int i = 0; i < db->spec[table].attribute_count; i++) {
        int c = t->columns - db->spec[table].attribute_count + i;
        if (!told(true, t->role[c], all)) continue;
        const char *text = t->cell[row][c];
        add_cell(own, text, text ? strlen(text) : 0, text != NULL);
    }
    for (int u = 0; u < db->tables; u++)
        for (int r = 0; db->table[u].parent == table && r < db->table[u].rows; r++)
            if (rdb_parent(db, u, r) == row) children[count++] = rdb_tree(db, u, r, all);
    return join_tree(own, children, count);
}

char *forest_tree(const kn_forest *f, int64_t entity, uint64_t node, bool all)
{
    const kn_database_table *t = &f->db->tables[f->table[node]];
    char                     own[1000], *children[2000];
    strcpy(own, t->name);
    for (int c = 0; c < t->table->column_count; c++) {
        if (!told(t->columns[c].has_role, t->columns[c].role, all)) continue;
        size_t      size = 0;
        const char *text = kn_table_text(t->table, c, kn_table_code(t->table, c, f->row[node]), &size);
        add_cell(own, text, size, text != NULL);
    }
    for (uint32_t i = 0; i < f->child_count[node]; i++)
        children[i] = forest_tree(f, entity, f->start[entity] + f->first_child[node] + i, all);
    return join_tree(own, children, (int)f->child_count[node]);
}
