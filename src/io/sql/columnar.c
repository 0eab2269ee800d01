/* sql/columnar.c: tables that come as Arrow batches: what a name means, and the statement that reads it. Interface: kn_columnar.h.
 *
 * A source that DuckDB reads becomes one SELECT of the columns that are wanted. Columns keep their types where Arrow's
 * cells have the text that a CSV file would have; numbers too long for that, UUIDs and enumerations are read as text;
 * nested columns, intervals and bytes are refused by name.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_columnar.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_context.h"
#include "kn_duckdb.h"
#include "kn_duckdb_source.h"
#include "kn_engine_source.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_names.h"
#include "kn_options.h"
#include "kn_parts.h"

#define WHAT "reading a table by DuckDB"
#define COUNTS "(rows)" /* the column of counts of grouped rows */

enum { LOOK = 100000, WORTH = 60 }; /* so many rows are looked at; at most so many per cent of them may differ */

/* ---- Names ---- */

static bool is_json_lines(const char *name)
{
    static const char *const endings[] = {".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"};
    size_t                   size = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (size > n && strcasecmp(name + size - n, endings[i]) == 0) return true;
    }
    return false;
}

/* A file that begins and ends as Parquet does, whatever its name. */
static bool looks_like_parquet(const char *path)
{
    struct stat info;
    char        first[4] = {0}, last[4] = {0};
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 12) return false;
    FILE *file = fopen(path, "rbe");
    if (!file) return false;
    bool read = fread(first, 1, 4, file) == 4 && fseek(file, -4, SEEK_END) == 0 && fread(last, 1, 4, file) == 4;
    fclose(file);
    return read && memcmp(first, "PAR1", 4) == 0 && memcmp(last, "PAR1", 4) == 0;
}

kn_columnar_kind kn_columnar_kind_of(const kn_context *ctx, const char *name)
{
    if (kn_memory_batches(ctx, name)) return KN_COLUMNAR_MEMORY;
    if (kn_name_duckdb(name)) return KN_COLUMNAR_DUCKDB;
    if (kn_name_engine(name)) return KN_COLUMNAR_ENGINE;
    if (kn_name_sqlite(name) || kn_name_server(name)) return KN_COLUMNAR_NONE;
    if (is_json_lines(name)) return KN_COLUMNAR_JSON_LINES;
    if (kn_parts_is_parquet(name) || kn_parts_folder(name)) return KN_COLUMNAR_PARQUET;
    return looks_like_parquet(kn_memory_path(ctx, name)) ? KN_COLUMNAR_PARQUET : KN_COLUMNAR_NONE;
}

bool kn_columnar_has_bytes(const kn_context *ctx, const char *name)
{
    struct stat info;
    if (!kn_columnar_kind_of(ctx, name)) return true;
    return stat(kn_memory_path(ctx, name), &info) == 0 && S_ISREG(info.st_mode);
}

bool kn_columnar_volatile(const char *name)
{
    return kn_duckdb_source_query(name);
}

/* ---- Statements ---- */

void kn_columnar_put_path(kn_buffer *to, const kn_context *ctx, const char *name)
{
    const char *path = kn_memory_path(ctx, name);
    struct stat info;
    bool        there = stat(path, &info) == 0, folder = there && S_ISDIR(info.st_mode);
    kn_buffer_char(to, '\'');
    for (const char *c = path; *c; c++) {
        if (*c == '\'') kn_buffer_char(to, '\'');
        if (there && strchr("*?[", *c))
            kn_buffer_format(to, "[%c]", *c);
        else
            kn_buffer_char(to, *c);
    }
    kn_buffer_add(to, folder ? "/**/*.parquet'" : "'");
}

static void put_names(kn_buffer *to, const kn_context *ctx, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        kn_buffer_add(to, i > 0 ? ", " : "[");
        kn_columnar_put_path(to, ctx, names[i]);
    }
    kn_buffer_char(to, ']');
}

/* `together`: with the columns of all Parquet files, not of the first one alone. */
static void put_files(kn_buffer *to, const kn_context *ctx, const char *const *names, int count, bool parquet,
                      bool together)
{
    bool partitioned = false;
    for (int i = 0; i < count; i++) partitioned = partitioned || (parquet && kn_parts_partitioned(names[i]));
    kn_buffer_add(to, parquet ? "read_parquet(" : "read_json(");
    put_names(to, ctx, names, count);
    if (parquet) /* values of folders as they are written: "01" is no number */
        kn_buffer_format(to, ", hive_partitioning = %s, hive_types_autocast = false%s)", partitioned ? "true" : "false",
                         together ? ", union_by_name = true" : "");
    else /* types by all rows of all files: a later one neither fails nor changes */
        kn_buffer_add(to, ", format = 'newline_delimited', sample_size = -1, maximum_sample_files = -1)");
}

/* What stands behind FROM. */
static kn_status put_relation(kn_buffer *to, kn_context *ctx, const char *const *names, int count, kn_error *err)
{
    kn_columnar_kind kind = kn_columnar_kind_of(ctx, names[0]);
    if (kind == KN_COLUMNAR_DUCKDB) return kn_duckdb_source_put(to, ctx, names[0], err);
    put_files(to, ctx, names, count, kind == KN_COLUMNAR_PARQUET, false);
    return KN_OK;
}

/* How a column is read. */
typedef enum reading { PLAIN, AS_TEXT, REFUSED } reading;

static reading reading_of(int type, bool json)
{
    if (json) return REFUSED;
    switch (type) {
    case KN_DDB_TIMESTAMP:
    case KN_DDB_DATE:
    case KN_DDB_TIME:
    case KN_DDB_VARCHAR:
    case KN_DDB_DECIMAL:
    case KN_DDB_TIMESTAMP_S:
    case KN_DDB_TIMESTAMP_MS:
    case KN_DDB_TIMESTAMP_NS:
    case KN_DDB_TIMESTAMP_TZ: return PLAIN;
    case KN_DDB_HUGEINT:
    case KN_DDB_UHUGEINT:
    case KN_DDB_ENUM:
    case KN_DDB_UUID:
    case KN_DDB_TIME_TZ:
    case KN_DDB_TIME_NS:
    case KN_DDB_BIGNUM:
    case KN_DDB_NULL: return AS_TEXT;
    default: return type >= KN_DDB_BOOLEAN && type <= KN_DDB_DOUBLE ? PLAIN : REFUSED;
    }
}

static const char *word_of(int type, bool json)
{
    switch (type) {
    case KN_DDB_LIST:
    case KN_DDB_ARRAY: return "holds lists";
    case KN_DDB_STRUCT:
    case KN_DDB_MAP:
    case KN_DDB_UNION: return "holds structures";
    case KN_DDB_INTERVAL: return "holds intervals of time";
    case KN_DDB_BLOB:
    case KN_DDB_BIT: return "holds bytes, not text";
    default: return json ? "holds JSON, nested or of several types" : "is of a type that kanon does not read";
    }
}

static bool is_wanted(const char *name, const char *const *columns, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(columns[i], name) == 0) return true;
    return !columns;
}

/* The columns as a list of expressions; of no column that exists: all. */
static kn_status put_select(kn_buffer *to, const kn_duckdb_columns *all, const char *name, const char *const *columns,
                            int count, kn_error *err)
{
    int taken = 0;
    for (int i = 0; i < all->count; i++) taken += is_wanted(all->names[i], columns, count);
    if (taken == 0) columns = NULL;
    kn_buffer_add(to, "SELECT ");
    for (int i = 0, first = 1; i < all->count; i++) {
        if (!is_wanted(all->names[i], columns, count)) continue;
        reading how = reading_of(all->types[i], all->json[i]);
        if (how == REFUSED)
            return kn_fail(err, KN_INPUT,
                           "%.300s: column \"%.200s\" %s; kanon reads plain columns: leave it out, or "
                           "select what it holds (duckdb:?query=SELECT ...)",
                           name, all->names[i], word_of(all->types[i], all->json[i]));
        kn_buffer_add(to, first ? "" : ", ");
        if (how == AS_TEXT) kn_buffer_add(to, "CAST(");
        kn_duckdb_name(to, all->names[i]);
        if (how == AS_TEXT) kn_buffer_add(to, " AS VARCHAR) AS ");
        if (how == AS_TEXT) kn_duckdb_name(to, all->names[i]);
        first = 0;
    }
    return KN_OK;
}

/* ---- Texts of JSON ---- */

/* JSON has no such values: DuckDB takes texts for them, and would write them its own way. */
static bool is_guessed(int type)
{
    switch (type) {
    case KN_DDB_DATE:
    case KN_DDB_TIME:
    case KN_DDB_TIMESTAMP:
    case KN_DDB_TIMESTAMP_NS:
    case KN_DDB_TIMESTAMP_TZ:
    case KN_DDB_UUID: return true;
    default: return false;
    }
}

/* The type to which a number or truth value of JSON is cast; NULL: it is a text. */
static const char *cast_of(int type)
{
    switch (type) {
    case KN_DDB_BOOLEAN: return "BOOLEAN";
    case KN_DDB_BIGINT: return "BIGINT";
    case KN_DDB_UBIGINT: return "UBIGINT";
    case KN_DDB_DOUBLE: return "DOUBLE";
    case KN_DDB_HUGEINT: return "HUGEINT";
    default: return NULL;
    }
}

/* One cell, of a column of the JSON in it. */
static void put_json_cell(kn_buffer *to, const kn_duckdb_columns *all, int column)
{
    const char *cast = cast_of(all->types[column]);
    bool        plain = cast || is_guessed(all->types[column]) || all->types[column] == KN_DDB_VARCHAR;
    kn_buffer_add(to, cast ? "CAST(" : "");
    kn_duckdb_name(to, all->names[column]);
    if (plain && !all->json[column]) kn_buffer_add(to, " ->> '$'");
    if (cast) kn_buffer_format(to, " AS %s)", cast);
    kn_buffer_add(to, " AS ");
    kn_duckdb_name(to, all->names[column]);
}

/* Where DuckDB guessed, every cell is read as JSON, and the texts are as they are. */
static void keep_texts(kn_buffer *relation, kn_duckdb_columns *all, const kn_context *ctx, const char *const *names,
                       int count)
{
    bool guessed = false;
    for (int i = 0; i < all->count; i++) guessed = guessed || is_guessed(all->types[i]);
    if (!guessed) return;
    kn_buffer_clear(relation);
    kn_buffer_add(relation, "(SELECT ");
    for (int i = 0; i < all->count; i++) {
        kn_buffer_add(relation, i > 0 ? ", " : "");
        put_json_cell(relation, all, i);
        if (is_guessed(all->types[i])) all->types[i] = KN_DDB_VARCHAR;
    }
    kn_buffer_add(relation, " FROM read_json(");
    put_names(relation, ctx, names, count);
    kn_buffer_add(relation, ", format = 'newline_delimited', sample_size = -1, maximum_sample_files = -1, "
                            "maximum_depth = 1))");
}

/* ---- Are parts alike? ---- */

/* The first file says what the columns are, and DuckDB casts those of the others: 1.5 becomes 2. Whole numbers of any width
 * stay what they are, or do not fit. */
static kn_status check_types(kn_duckdb *db, const kn_duckdb_columns *all, const char *const *names, int count,
                             const char *const *columns, int column_count, kn_error *err)
{
    static const char kind[] = "CASE WHEN duckdb_type IN ('TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'UTINYINT', "
                               "'USMALLINT', 'UINTEGER', 'UBIGINT') THEN '' WHEN duckdb_type = '\"NULL\"' AND NOT "
                               "nothing THEN NULL ELSE duckdb_type END";
    kn_buffer         sql;
    int64_t           other = -1;
    int               wanted = 0;
    kn_buffer_init(&sql, db->ctx);
    kn_buffer_add(&sql, "WITH s AS MATERIALIZED (FROM parquet_schema(");
    put_names(&sql, db->ctx, names, count);
    kn_buffer_add(&sql, ")) SELECT CAST(coalesce(min(n), -1) AS BIGINT) FROM (SELECT n FROM s JOIN (VALUES ");
    for (int i = 0; i < all->count; i++) {
        if (!is_wanted(all->names[i], columns, column_count)) continue;
        kn_buffer_format(&sql, "%s(%d, ", wanted++ > 0 ? ", " : "", i);
        kn_duckdb_text(&sql, all->names[i]);
        kn_buffer_add(&sql, all->types[i] == KN_DDB_NULL ? ", true)" : ", false)");
    }
    kn_buffer_format(&sql,
                     ") AS w(n, called, nothing) ON lower(name) = lower(called) AND type IS NOT NULL GROUP BY n HAVING "
                     "count(*) = count(DISTINCT file_name) AND (count(DISTINCT %s) > 1 OR count(*) < (SELECT "
                     "count(DISTINCT file_name) FROM s)))",
                     kind);
    const char *text = kn_buffer_text(&sql);
    kn_status   st = !text        ? kn_fail_memory(err, db->ctx, WHAT)
                     : wanted > 0 ? kn_duckdb_number(&other, db, text, kn_path_name(db->ctx, names[0]), err)
                                  : KN_OK;
    kn_buffer_free(&sql);
    if (st != KN_OK || other < 0) return st;
    return kn_fail(
        err, KN_INPUT,
        "%.300s: column \"%.200s\" is not in every file, or not of one type: DuckDB would change its values; "
        "write the files alike, or cast it (duckdb:?query=SELECT ...)",
        kn_path_name(db->ctx, names[0]), all->names[other]);
}

/* What the first file does not have would be left out without a word. */
static kn_status check_columns(kn_duckdb *db, const kn_duckdb_columns *all, const char *const *names, int count,
                               kn_error *err)
{
    kn_buffer sql;
    int64_t   columns = 0;
    kn_buffer_init(&sql, db->ctx);
    kn_buffer_add(&sql, "SELECT count(*) FROM (DESCRIBE SELECT * FROM ");
    put_files(&sql, db->ctx, names, count, true, true);
    kn_buffer_char(&sql, ')');
    const char *text = kn_buffer_text(&sql);
    kn_status   st = text ? kn_duckdb_number(&columns, db, text, kn_path_name(db->ctx, names[0]), err)
                          : kn_fail_memory(err, db->ctx, WHAT);
    kn_buffer_free(&sql);
    if (st != KN_OK || columns == all->count) return st;
    return kn_fail(
        err, KN_INPUT,
        "%.300s: a later file has a column that the first one does not have; write the files alike, or choose "
        "columns (duckdb:?query=SELECT ...)",
        kn_path_name(db->ctx, names[0]));
}

static kn_status check_alike(kn_duckdb *db, const kn_duckdb_columns *all, const char *const *names, int count,
                             const char *const *columns, int column_count, kn_error *err)
{
    if (kn_columnar_kind_of(db->ctx, names[0]) != KN_COLUMNAR_PARQUET) return KN_OK;
    if (count == 1 && !kn_parts_folder(names[0]) && !names[0][kn_parts_root(names[0])]) return KN_OK;
    KN_TRY(check_types(db, all, names, count, columns, column_count, err));
    return check_columns(db, all, names, count, err);
}

/* ---- Opening ---- */

typedef struct missing_part {
    const char *pattern; /* NULL: all parts of a folder are meant */
    char        path[PATH_MAX];
} missing_part;

static bool is_there(void *arg, const char *path)
{
    missing_part *missing = arg;
    struct stat   info;
    if (stat(path, &info) == 0 || (missing->pattern && !kn_parts_matches(missing->pattern, path))) return true;
    snprintf(missing->path, sizeof missing->path, "%s", path);
    return false;
}

/* DuckDB leaves out a part that is a link to nothing, and rows with it. */
static kn_status check_parts(const char *name, kn_error *err)
{
    size_t       root = kn_parts_root(name);
    missing_part missing = {.pattern = name[root] ? name : NULL};
    if (missing.pattern || kn_parts_folder(name)) kn_parts_each(name, root, is_there, &missing);
    if (!*missing.path) return KN_OK;
    return kn_fail(err, KN_IO, "%.300s: a link to a file that is not there; repair it, or take it out of the folder",
                   missing.path);
}

/* In the words of the other files, and before DuckDB is looked for. A pattern, or an address, is DuckDB's to judge. */
static kn_status check_file(const kn_context *ctx, const char *name, kn_error *err)
{
    struct stat info;
    const char *path = kn_memory_path(ctx, name);
    if (strpbrk(path, "*?[") || strstr(path, "://") || stat(path, &info) == 0) return KN_OK;
    bool mistaken = errno == ENOENT || errno == EACCES || errno == ENOTDIR;
    return kn_fail(err, mistaken ? KN_INPUT : KN_IO, "%s: cannot open: %s", kn_path_name(ctx, name), strerror(errno));
}

static kn_status check_names(const kn_context *ctx, const char *const *names, int count, kn_error *err)
{
    kn_columnar_kind kind = kn_columnar_kind_of(ctx, names[0]);
    for (int i = 1; i < count; i++)
        if (kn_columnar_kind_of(ctx, names[i]) != kind)
            return kn_fail(err, KN_USAGE, "%.300s and %.300s: files of one table are all of one format", names[0],
                           names[i]);
    if (count > 1 && kind != KN_COLUMNAR_PARQUET && kind != KN_COLUMNAR_JSON_LINES)
        return kn_fail(err, KN_USAGE, "%.300s: such a table is an input by itself", names[0]);
    for (int i = 0; i < count && (kind == KN_COLUMNAR_PARQUET || kind == KN_COLUMNAR_JSON_LINES); i++)
        KN_TRY(check_file(ctx, names[i], err));
    for (int i = 0; i < count && kind == KN_COLUMNAR_PARQUET; i++) KN_TRY(check_parts(names[i], err));
    return KN_OK;
}

/* A connection to the file of a name, or to none. */
static kn_status connect_to(kn_duckdb **out, kn_context *ctx, const char *name, kn_error *err)
{
    char     *path = NULL;
    kn_status st = kn_name_duckdb(name) ? kn_duckdb_source_file(&path, ctx, name, err) : KN_OK;
    *out = NULL;
    if (st == KN_OK) st = kn_duckdb_open(out, ctx, path, kn_path_name(ctx, name), err);
    kn_free(path);
    return st;
}

/* The statement that reads a source, through a connection that can execute it. */
typedef struct opened {
    kn_duckdb        *db;
    kn_duckdb_columns columns;
    kn_buffer         relation, sql;
    const char       *counts; /* the column of counts, if rows that are equal come as one; NULL: all rows come */
} opened;

static void end_opened(opened *o)
{
    kn_duckdb_close(o->db);
    kn_duckdb_columns_free(&o->columns);
    kn_buffer_free(&o->relation);
    kn_buffer_free(&o->sql);
}

static kn_status describe(opened *o, kn_context *ctx, const char *const *names, int count, kn_error *err)
{
    *o = (opened){.db = NULL};
    kn_buffer_init(&o->relation, ctx);
    kn_buffer_init(&o->sql, ctx);
    KN_TRY(check_names(ctx, names, count, err));
    KN_TRY(connect_to(&o->db, ctx, names[0], err));
    KN_TRY(put_relation(&o->relation, ctx, names, count, err));
    kn_buffer_add(&o->sql, "SELECT * FROM ");
    kn_buffer_append(&o->sql, o->relation.data, o->relation.size);
    const char *sql = kn_buffer_text(&o->sql);
    if (!sql || !kn_buffer_text(&o->relation)) return kn_fail_memory(err, ctx, WHAT);
    KN_TRY(kn_duckdb_describe(&o->columns, o->db, sql, kn_path_name(ctx, names[0]), err));
    if (kn_columnar_kind_of(ctx, names[0]) == KN_COLUMNAR_JSON_LINES)
        keep_texts(&o->relation, &o->columns, ctx, names, count);
    return kn_buffer_text(&o->relation) ? KN_OK : kn_fail_memory(err, ctx, WHAT);
}

static kn_status select_columns(opened *o, const char *name, const char *const *columns, int count, kn_error *err)
{
    kn_buffer_clear(&o->sql);
    KN_TRY(put_select(&o->sql, &o->columns, name, columns, count, err));
    if (o->counts) kn_buffer_format(&o->sql, ", count(*) AS \"%s\"", o->counts);
    kn_buffer_format(&o->sql, " FROM %s%s", o->relation.data, o->counts ? " GROUP BY ALL" : "");
    return kn_buffer_text(&o->sql) ? KN_OK : kn_fail_memory(err, o->db->ctx, WHAT);
}

/* Is grouping worth it? By the first rows: where most of them are alone, about as many classes as rows would come. */
static kn_status choose_grouping(opened *o, const char *name, const char *const *columns, int count, kn_error *err)
{
    int64_t percent = 100;
    if (is_wanted(COUNTS, columns, count)) return KN_OK; /* the name is taken */
    kn_buffer_clear(&o->sql);
    kn_buffer_add(&o->sql, "WITH f AS MATERIALIZED (");
    KN_TRY(put_select(&o->sql, &o->columns, name, columns, count, err));
    kn_buffer_format(&o->sql,
                     " FROM %s LIMIT %d) SELECT CAST(100 * (SELECT count(*) FROM (SELECT DISTINCT * FROM f)) / "
                     "greatest((SELECT count(*) FROM f), 1) AS BIGINT)",
                     o->relation.data, LOOK);
    if (!kn_buffer_text(&o->sql)) return kn_fail_memory(err, o->db->ctx, WHAT);
    KN_TRY(kn_duckdb_number(&percent, o->db, o->sql.data, name, err));
    if (percent <= WORTH) o->counts = COUNTS;
    return KN_OK;
}

/* The rows; with `counts`, those that are equal may come as one, and *counts is the column of their numbers, or NULL. */
static kn_status open_rows(struct ArrowArrayStream *out, kn_context *ctx, const char *const *names, int count,
                           const char *const *columns, int column_count, const char **counts, kn_error *err)
{
    opened      o;
    const char *name = kn_path_name(ctx, names[0]);
    *out = (struct ArrowArrayStream){.release = NULL};
    if (kn_columnar_kind_of(ctx, names[0]) == KN_COLUMNAR_ENGINE) {
        KN_TRY(check_names(ctx, names, count, err));
        return kn_engine_source_open(out, ctx, name, columns, column_count, counts, err);
    }
    kn_status st = describe(&o, ctx, names, count, err);
    if (st == KN_OK) st = check_alike(o.db, &o.columns, names, count, columns, column_count, err);
    if (st == KN_OK && counts) st = choose_grouping(&o, name, columns, column_count, err);
    if (st == KN_OK) st = select_columns(&o, name, columns, column_count, err);
    if (st == KN_OK) {
        kn_duckdb *db = o.db;
        o.db = NULL; /* the stream's */
        st = kn_duckdb_stream(out, db, o.sql.data, name, err);
    }
    if (counts) *counts = o.counts;
    end_opened(&o);
    return st;
}

kn_status kn_columnar_open(struct ArrowArrayStream *out, kn_context *ctx, const char *const *names, int count,
                           const char *const *columns, int column_count, kn_error *err)
{
    return open_rows(out, ctx, names, count, columns, column_count, NULL, err);
}

/* ---- In an engine ---- */

bool kn_columnar_stays(const kn_context *ctx, const char *name)
{
    kn_columnar_kind kind = kn_columnar_kind_of(ctx, name);
    return kind == KN_COLUMNAR_PARQUET || kind == KN_COLUMNAR_JSON_LINES || kind == KN_COLUMNAR_DUCKDB;
}

/* A database file becomes a part of the connection's own. */
static kn_status attach(kn_buffer *to, const kn_connection *c, kn_context *ctx, const char *name, kn_error *err)
{
    char     *path = NULL;
    kn_buffer sql;
    KN_TRY(kn_duckdb_source_file(&path, ctx, name, err));
    if (!path) return KN_OK;
    kn_buffer_init(&sql, ctx);
    kn_buffer_add(&sql, "ATTACH IF NOT EXISTS ");
    kn_duckdb_text(&sql, path);
    kn_buffer_add(&sql, " AS \"kanon source\" (READ_ONLY)");
    const char *text = kn_buffer_text(&sql);
    kn_status   st = text ? kn_connection_run(c, ctx, text, path, err) : kn_fail_memory(err, ctx, WHAT);
    if (!kn_duckdb_source_query(name)) kn_buffer_add(to, "\"kanon source\".");
    kn_buffer_free(&sql);
    kn_free(path);
    return st;
}

kn_status kn_columnar_relation(kn_buffer *to, const kn_connection *c, kn_context *ctx, const char *const *names,
                               int count, const char *const *columns, int column_count, kn_error *err)
{
    const char       *name = kn_path_name(ctx, names[0]);
    kn_duckdb_columns all = {0};
    kn_buffer         from, sql;
    kn_buffer_init(&from, ctx);
    kn_buffer_init(&sql, ctx);
    kn_status st = check_names(ctx, names, count, err);
    if (st == KN_OK && kn_name_duckdb(names[0])) st = attach(&from, c, ctx, names[0], err);
    if (st == KN_OK) st = put_relation(&from, ctx, names, count, err);
    if (st == KN_OK && kn_buffer_text(&from)) kn_buffer_format(&sql, "SELECT * FROM %s", from.data);
    if (st == KN_OK && (!kn_buffer_text(&from) || !kn_buffer_text(&sql))) st = kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) st = kn_duckdb_describe(&all, c->state, sql.data, name, err);
    kn_buffer_char(to, '(');
    if (st == KN_OK && kn_columnar_kind_of(ctx, names[0]) == KN_COLUMNAR_JSON_LINES)
        keep_texts(&from, &all, ctx, names, count);
    if (st == KN_OK) st = put_select(to, &all, name, columns, column_count, err);
    if (st == KN_OK) st = check_alike(c->state, &all, names, count, columns, column_count, err);
    if (st == KN_OK && !kn_buffer_text(&from)) st = kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) kn_buffer_format(to, " FROM %s)", from.data);
    if (st == KN_OK && !kn_buffer_text(to)) st = kn_fail_memory(err, ctx, WHAT);
    kn_duckdb_columns_free(&all);
    kn_buffer_free(&from);
    kn_buffer_free(&sql);
    return st;
}

/* ---- As tables ---- */

/* Does the table have numbers with fractions? Their decimal mark is a point, whatever the options say. */
static bool has_fractions(const struct ArrowSchema *schema)
{
    for (int64_t i = 0; schema->children && i < schema->n_children; i++) {
        const struct ArrowSchema *child = schema->children[i];
        const char *format = child && child->dictionary ? child->dictionary->format : child ? child->format : NULL;
        if (format && strchr("efgd", format[0])) return true;
    }
    return false;
}

const char *kn_columnar_useless(const struct ArrowSchema *schema, const kn_csv_options *options)
{
    if (!options) return NULL;
    if (options->no_header) return "a table that is not text has names of its own: leave \"header\" out";
    if (options->encoding != KN_ENCODING_UTF8) return "a table that is not text is UTF-8: leave \"encoding\" out";
    if (options->decimal && options->decimal != '.' && schema && has_fractions(schema))
        return "numbers of a table that is not text have a decimal point: leave \"decimal\" out";
    return NULL;
}

static kn_status check_options(struct ArrowArrayStream *stream, const char *name, const kn_csv_options *options,
                               kn_error *err)
{
    struct ArrowSchema schema = {.release = NULL};
    bool               known = stream->get_schema(stream, &schema) == 0;
    const char        *useless = kn_columnar_useless(known ? &schema : NULL, options);
    if (known && schema.release) schema.release(&schema);
    return useless ? kn_fail(err, KN_USAGE, "%.300s: %s", name, useless) : KN_OK;
}

/* The columns that are asked for and that of counts. Grouped rows get one: options->count. */
static kn_status open_wanted(struct ArrowArrayStream *out, kn_context *ctx, const char *const *names, int count,
                             kn_csv_options *options, kn_error *err)
{
    int          asked = options->columns ? options->column_count : 0;
    bool         grouped = options->grouped && asked > 0 && !options->count;
    const char **wanted = asked > 0 ? kn_alloc_array(ctx, (size_t)asked + 1, sizeof *wanted) : NULL;
    if (asked > 0 && !wanted) return kn_fail_memory(err, ctx, WHAT);
    if (wanted) memcpy((void *)wanted, (const void *)options->columns, (size_t)asked * sizeof *wanted);
    if (wanted && options->count) wanted[asked++] = options->count;
    kn_status st = open_rows(out, ctx, names, count, wanted, asked, grouped ? &options->count : NULL, err);
    kn_free((void *)wanted);
    return st;
}

kn_status kn_columnar_read_table(kn_table **out, kn_context *ctx, const char *const *names, int count,
                                 const kn_csv_options *options, kn_error *err)
{
    struct ArrowArrayStream stream;
    const char             *name = kn_path_name(ctx, names[0]);
    *out = NULL;
    KN_OPTIONS(kn_csv_options, KN_CSV_OPTIONS_INIT, options, "CSV options", err);
    for (int i = 0; i < count; i++)
        if (kn_columnar_kind_of(ctx, names[i]) == KN_COLUMNAR_MEMORY)
            return kn_memory_read_table(out, ctx, names, count, options, err);
    kn_csv_options used = *options;
    KN_TRY(open_wanted(&stream, ctx, names, count, &used, err));
    kn_status st = check_options(&stream, name, options, err);
    if (st == KN_OK) return kn_arrow_import_as_csv(out, ctx, &stream, &used, name, err);
    stream.release(&stream);
    return st;
}

kn_status kn_columnar_read_names(kn_csv_names *out, kn_context *ctx, const char *name, const kn_csv_options *options,
                                 kn_error *err)
{
    opened o;
    *out = (kn_csv_names){0};
    if (kn_columnar_kind_of(ctx, name) == KN_COLUMNAR_MEMORY) return kn_memory_read_names(out, ctx, name, options, err);
    const char *useless = kn_columnar_useless(NULL, options);
    if (useless) return kn_fail(err, KN_USAGE, "%.300s: %s", kn_path_name(ctx, name), useless);
    if (kn_columnar_kind_of(ctx, name) == KN_COLUMNAR_ENGINE) return kn_engine_source_names(out, ctx, name, err);
    kn_status st = describe(&o, ctx, &name, 1, err);
    if (st == KN_OK) {
        out->delimiter = ',';
        out->names = o.columns.names; /* taken over */
        out->count = o.columns.count;
        o.columns.names = NULL;
        out->unnamed = kn_alloc_array_zero(ctx, (size_t)out->count + 1, sizeof *out->unnamed);
        if (!out->unnamed) st = kn_fail_memory(err, ctx, WHAT);
    }
    end_opened(&o);
    if (st != KN_OK) kn_csv_names_free(out);
    return st;
}

/* ---- Out ---- */

kn_status kn_columnar_ready(kn_context *ctx, const char *output, kn_error *err)
{
    kn_duckdb_api api;
    if (kn_memory_is(ctx, output))
        return kn_fail(err, KN_USAGE, "%s: in memory a table is released as columns or CSV; leave the ending out",
                       output);
    return kn_duckdb_load(&api, output, err);
}

/* In one thread's order and in place: the file is the caller's, who made it and gives it its name. */
#define AS_PARQUET " (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 122880, USE_TMP_FILE false)"

static kn_status run_copy(kn_duckdb *db, const char *query, const char *path, const char *name, kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, db->ctx);
    kn_buffer_format(&sql, "COPY (%s) TO ", query);
    kn_duckdb_text(&sql, path);
    kn_buffer_add(&sql, AS_PARQUET);
    const char *text = kn_buffer_text(&sql);
    kn_status   st = text ? kn_duckdb_run(db, text, name, err) : kn_fail_memory(err, db->ctx, WHAT);
    kn_buffer_free(&sql);
    return st;
}

kn_status kn_columnar_copy(kn_context *ctx, const char *name, const char *path, kn_error *err)
{
    opened    o;
    kn_status st = describe(&o, ctx, &name, 1, err);
    if (st == KN_OK) st = select_columns(&o, name, NULL, 0, err);
    if (st == KN_OK) st = run_copy(o.db, o.sql.data, path, name, err);
    end_opened(&o);
    return st;
}

kn_status kn_columnar_sync(const char *path, const char *name, kn_error *err)
{
    int  fd = open(path, O_RDONLY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    int  error = errno;
    if (fd >= 0) close(fd);
    return synced ? KN_OK : kn_fail(err, KN_IO, "%.300s: cannot be written: %s", name, strerror(error));
}
