/* test_sqlite_insert.c: rows that go into a table by one statement are those that go there one by one, byte for byte.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_rng.h"
#include "kn_sqlite_internal.h"
#include "testing.h"

enum { COLUMNS = 6, ROWS = 700 };

/* Texts of every kind that affinity may change, and some that it must not. */
static const char *const texts[] = {NULL,
                                    "",
                                    "0",
                                    "-0",
                                    "007",
                                    " 8",
                                    "9 ",
                                    "+4",
                                    "1.0",
                                    "1e3",
                                    "0x10",
                                    "12.",
                                    ".5",
                                    "1e400",
                                    "nan",
                                    "abc",
                                    "Zo\xc3\xab",
                                    "*",
                                    "3.14",
                                    "-2.50",
                                    "1e-7",
                                    "9223372036854775807",
                                    "9223372036854775808",
                                    "123456789012345678901234567890",
                                    "0.1",
                                    "38358.40",
                                    "1_000",
                                    "-",
                                    ".",
                                    "-.5",
                                    "1.2.3",
                                    "5.-1",
                                    "0.0",
                                    "-0.0",
                                    "-0.25",
                                    "00.5",
                                    "999999999999.999",
                                    "1234567890123.456",
                                    "123456789012345678",
                                    "-999999999999999999",
                                    "1.",
                                    "17.50"};

typedef struct rows {
    kn_string cells[ROWS][COLUMNS];
    int       row, end;
    bool      stays;   /* what the source says of its texts     */
    bool      numbers; /* plain numbers are given as numbers    */
    char      moved[COLUMNS][64];
} rows;

static int next(void *state)
{
    rows *r = state;
    memset(r->moved, '?', sizeof r->moved); /* texts of the row before are gone */
    return ++r->row < r->end ? SQLITE_ROW : SQLITE_DONE;
}

static int refuse(void *state)
{
    (void)state;
    return SQLITE_ABORT;
}

static kn_sqlite_value cell(void *state, int column, bool numeric)
{
    rows           *r = state;
    kn_sqlite_value v = {.text = r->cells[r->row][column], .stays = true};
    if (!v.text.data) return v;
    if (numeric && r->numbers) v.number = kn_plain_of(v.text);
    char *room = r->moved[r->stays ? column : 0];
    if (v.number.kind == KN_PLAIN_NONE) memcpy(room, v.text.data, v.text.size);
    v.text.data = room; /* of a number: nobody looks at it */
    v.stays = r->stays;
    return v;
}

static rows *make_rows(uint64_t seed)
{
    rows  *r = calloc(1, sizeof *r);
    kn_rng rng;
    assert_non_null(r);
    kn_rng_init(&rng, seed, 0);
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < COLUMNS; c++) {
            const char *text = texts[kn_rng_below(&rng, sizeof texts / sizeof *texts)];
            r->cells[i][c] = (kn_string){text, text ? strlen(text) : 0};
        }
    return r;
}

static sqlite3 *open_table(const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static void one_by_one(sqlite3 *db, const rows *r)
{
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", -1, &s, NULL), SQLITE_OK);
    for (int i = 0; i < ROWS; i++) {
        for (int c = 0; c < COLUMNS; c++) {
            kn_string text = r->cells[i][c];
            assert_int_equal(text.data ? sqlite3_bind_text64(s, c + 1, text.data, text.size, SQLITE_STATIC, SQLITE_UTF8)
                                       : sqlite3_bind_null(s, c + 1),
                             SQLITE_OK);
        }
        assert_int_equal(sqlite3_step(s), SQLITE_DONE);
        assert_int_equal(sqlite3_reset(s), SQLITE_OK);
    }
    sqlite3_finalize(s);
}

/* In pieces of different sizes, one of them empty. */
static void together(sqlite3 *db, kn_context *ctx, rows *r)
{
    static const int  ends[] = {1, 1, 8, 300, ROWS};
    kn_sqlite_insert *insert = NULL;
    kn_sqlite_source  source = {r, next, cell};
    assert_int_equal(kn_sqlite_insert_open(&insert, ctx, db, "t", COLUMNS, &source), SQLITE_OK);
    r->row = -1;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        r->end = ends[i];
        assert_int_equal(kn_sqlite_insert_run(insert), SQLITE_OK);
        r->row = r->end - 1; /* the end counted one too many */
    }
    kn_sqlite_insert_close(insert);
}

static void check_same_bytes(sqlite3 *a, sqlite3 *b)
{
    sqlite3_int64  m = 0, n = 0;
    unsigned char *x = sqlite3_serialize(a, "main", &m, 0), *y = sqlite3_serialize(b, "main", &n, 0);
    assert_non_null(x);
    assert_non_null(y);
    assert_true(m == n);
    assert_memory_equal(x + 100, y + 100, (size_t)n - 100); /* behind the header, which counts changes */
    sqlite3_free(x);
    sqlite3_free(y);
}

static void test_same_bytes(void **state)
{
    (void)state;
    static const char *const tables[] = {
        "CREATE TABLE t(a INTEGER, b TEXT, c NUMERIC, d REAL, e BLOB, f)",
        "CREATE TABLE t(a, b VARCHAR(9), c DATE, d DOUBLE PRECISION, e BOOLEAN, f BIGINT); CREATE INDEX i ON t(c, d)",
        "CREATE TABLE t(a ANY, b CHARINT, c FLOATING POINT, d \"\", e STRING, f DECIMAL(10, 2))",
        "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(a INTEGER, b TEXT, c NUMERIC, d REAL, e BLOB, f)",
    };
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (int kind = 0; kind < 4; kind++) {
            rows    *r = make_rows(i + 1);
            sqlite3 *a = open_table(tables[i]), *b = open_table(tables[i]);
            r->stays = kind & 1;
            r->numbers = kind & 2;
            one_by_one(a, r);
            together(b, ctx, r);
            check_same_bytes(a, b);
            sqlite3_close(a);
            sqlite3_close(b);
            free(r);
        }
    testing_context_free(ctx);
}

/* A second table with other columns on the same connection; then a row that a key refuses, and a source that fails. */
static void test_again(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    rows       *r = make_rows(9);
    sqlite3    *db = open_table("CREATE TABLE t(a, b, c, d, e, f); CREATE TABLE u(x INTEGER PRIMARY KEY, y TEXT)");
    kn_sqlite_insert *insert = NULL;
    kn_sqlite_source  source = {r, next, cell};
    r->stays = true;
    together(db, ctx, r);
    for (int i = 0; i < 3; i++) r->cells[i][0] = (kn_string){i == 1 ? "2" : "1", 1};
    r->row = -1;
    r->end = 2;
    assert_int_equal(kn_sqlite_insert_open(&insert, ctx, db, "u", 2, &source), SQLITE_OK);
    assert_int_equal(kn_sqlite_insert_run(insert), SQLITE_OK);
    r->row = 1;
    r->end = 3;
    assert_int_equal(kn_sqlite_insert_run(insert) & 0xff, SQLITE_CONSTRAINT);
    assert_int_equal(sqlite3_errcode(db) & 0xff, SQLITE_CONSTRAINT);
    kn_sqlite_insert_close(insert);
    assert_int_not_equal(kn_sqlite_insert_open(&insert, ctx, db, "nothing", 2, &source), SQLITE_OK);
    kn_sqlite_insert_close(insert);
    source.next = refuse;
    assert_int_equal(kn_sqlite_insert_open(&insert, ctx, db, "u", 2, &source), SQLITE_OK);
    assert_int_equal(kn_sqlite_insert_run(insert), SQLITE_ABORT);
    kn_sqlite_insert_close(insert);
    sqlite3_close(db);
    free(r);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
