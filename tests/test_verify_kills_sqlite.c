/* test_verify_kills_sqlite.c: the verifier of databases on small SQLite files: which keys and foreign keys count, and what cannot
 * be read.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "folder_testing.h"
#include "kn_extras.h"

#define SPEC(person, visit)                                                                                            \
    "kanon: 1\ninput: \"sqlite:in.db\"\noutput: out/\nentity: {table: person}\ntables:\n"                              \
    "  person: {" person "attributes: {city: {role: quasi}}}\n" visit "privacy: [{k: 2}]\n"
#define VISIT(more, attributes) "  visit: {" more "attributes: {ward: {role: quasi}" attributes "}}\n"
#define PERSONS "INSERT INTO person VALUES ('p1', 'Nice'), ('p2', 'Nice');"
#define VISITS(columns) "INSERT INTO visit (" columns ") VALUES ('v1', 'p1', 'A'), ('v2', 'p2', 'A');"

static void make_database(const char *statements)
{
    sqlite3 *db = NULL;
    char    *message = NULL;
    remove(path_of("in.db"));
    assert_int_equal(sqlite3_open(path_of("in.db"), &db), SQLITE_OK);
    if (sqlite3_exec(db, statements, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
    sqlite3_close(db);
}

/* `message` NULL: it holds; else what is wrong with the original. */
static void expect(const char *statements, const char *yaml, const char *message)
{
    kn_context                *ctx = testing_context(1);
    kn_error                   err = KN_ERROR_INIT;
    kn_spec                   *spec = NULL;
    kn_database_verify_report *r = NULL;
    make_database(statements);
    put("spec.yaml", yaml);
    assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
    kn_status status = kn_verify_database(&r, ctx, spec, NULL, &err);
    for (int i = 0; r && i < r->problem_count; i++) print_message("  %s\n", r->problems[i]);
    if (!message) assert_ok(status, err);
    if (message && status == KN_OK) fail_msg("wanted: %s", message);
    if (message && !strstr(err.message, message)) fail_msg("%s; wanted: %s", err.message, message);
    assert_true(message || r->ok);
    kn_database_verify_report_free(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

static void put_release(bool visits)
{
    mkdir(path_of("out"), 0700);
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n");
    if (visits) put("out/visit.csv", "vid,id,ward\n1,1,A\n2,2,A\n");
    if (!visits) remove(path_of("out/visit.csv"));
}

/* The database says the keys, the release file need not; without either nobody can be told apart. */
static void keys_that_the_database_says(void **state)
{
    (void)state;
    put_release(false);
    expect("CREATE TABLE person (id TEXT PRIMARY KEY, city TEXT);" PERSONS, SPEC("", ""), NULL);
    expect("CREATE TABLE person (id TEXT, city TEXT);" PERSONS, SPEC("key: [id], ", ""), NULL);
    expect("CREATE TABLE person (id TEXT, city TEXT);" PERSONS, SPEC("", ""), "has no primary key");
    expect("CREATE TABLE person (id TEXT PRIMARY KEY, city TEXT REFERENCES person (id)); INSERT INTO person VALUES "
           "('Nice', 'Nice'), ('p2', 'Nice');",
           SPEC("", ""), "has a foreign key");
}

/* A key of two columns, in its order or in none, repeated beside or far from the first. */
static void keys_of_several_columns(void **state)
{
    static const char repeated[] = "has a key that is missing in some rows, or the same in several";
#define TWO(rows)                                                                                                      \
    "CREATE TABLE person (a TEXT, b TEXT, city TEXT); INSERT INTO person VALUES " rows ";", SPEC("key: [a, b], ", "")
    (void)state;
    mkdir(path_of("out"), 0700);
    put("out/person.csv", "a,b,city\n1,2,Nice\n2,1,Nice\n");
    remove(path_of("out/visit.csv"));
    expect(TWO("('p', 'x', 'Nice'), ('p', 'y', 'Nice')"), NULL);
    expect(TWO("('p', 'y', 'Nice'), ('p', 'x', 'Nice'), ('q', 'y', 'Nice'), ('p', 'z', 'Nice')"), NULL);
    expect(TWO("('p', 'x', 'Nice'), ('p', 'x', 'Nice')"), repeated);
    expect(TWO("('p', 'x', 'Nice'), ('p', 'y', 'Nice'), ('q', 'x', 'Nice'), ('p', 'y', 'Nice')"), repeated);
    expect(TWO("('p', 'x', 'Nice'), ('q', NULL, 'Nice')"), repeated);
    expect(TWO("(NULL, 'x', 'Nice'), ('q', 'x', 'Nice')"), repeated);
#undef TWO
}

#define PERSON_TABLE "CREATE TABLE person (id TEXT PRIMARY KEY, city TEXT);" PERSONS
#define VISIT_TABLE(more)                                                                                              \
    "CREATE TABLE visit (vid TEXT PRIMARY KEY, id TEXT REFERENCES person (id), ward TEXT" more ");"

/* A foreign key that is declared twice is one; with `parent:` the first that fits it counts. */
static void foreign_keys_declared_twice(void **state)
{
    (void)state;
    put_release(true);
    expect(PERSON_TABLE VISIT_TABLE("") VISITS("vid, id, ward"), SPEC("", VISIT("", "")), NULL);
    expect(PERSON_TABLE VISIT_TABLE(", FOREIGN KEY (id) REFERENCES person (id)") VISITS("vid, id, ward"),
           SPEC("", VISIT("", "")), NULL);
    const char *other = "CREATE TABLE person (id TEXT PRIMARY KEY, city TEXT, code TEXT UNIQUE);"
                        "INSERT INTO person VALUES ('p1', 'Nice', 'p1'), ('p2', 'Nice', 'p2');"
                        "CREATE TABLE visit (vid TEXT PRIMARY KEY, id TEXT, ward TEXT, FOREIGN KEY (id) REFERENCES "
                        "person (id), FOREIGN KEY (id) REFERENCES person (code));" VISITS("vid, id, ward");
    expect(other, SPEC("", VISIT("", "")), "has several foreign keys to listed tables");
    expect(other, SPEC("", VISIT("parent: {table: person, columns: [id]}, ", "")), NULL);
}

/* Who referred a visit is a foreign key that does not count: its column would show old keys. */
static void foreign_keys_left_out(void **state)
{
    (void)state;
    put_release(true);
    const char *tables = PERSON_TABLE VISIT_TABLE(", by_whom TEXT REFERENCES person (id)") VISITS("vid, id, ward");
    const char                       *parent = "must not be released";
    expect(tables, SPEC("", VISIT("", "")), "has several foreign keys to listed tables");
    expect(tables, SPEC("", VISIT("parent: {table: person, columns: [id]}, ", "")), NULL);
    expect(tables, SPEC("", VISIT("parent: {table: person, columns: [id]}, ", ", by_whom: {role: keep}")), parent);
    expect(tables, SPEC("", VISIT("key: [vid, by_whom], parent: {table: person, columns: [id]}, ", "")), parent);
    /* The same column names a row of two tables: it shows the new key of its parent. */
    expect(PERSON_TABLE "CREATE TABLE ward (id TEXT PRIMARY KEY); INSERT INTO ward VALUES ('p1'), ('p2');"
                        "CREATE TABLE visit (vid TEXT, id TEXT REFERENCES person (id) REFERENCES ward (id), ward "
                        "TEXT, PRIMARY KEY (vid, id));" VISITS("vid, id, ward"),
           SPEC("", VISIT("parent: {table: person, columns: [id]}, ", "")), NULL);
}

/* A column of numbers is one for the verifier: its hierarchy of ranges can be built. */
static void columns_of_numbers(void **state)
{
    (void)state;
    mkdir(path_of("out"), 0700);
    remove(path_of("out/visit.csv"));
    put("out/person.csv", "id,age\n1,\"[30, 39]\"\n2,\"[30, 39]\"\n");
    expect("CREATE TABLE person (id TEXT PRIMARY KEY, age INTEGER); INSERT INTO person VALUES ('p1', 31), ('p2', 39);",
           "kanon: 1\ninput: \"sqlite:in.db\"\noutput: out/\nentity: {table: person}\ntables:\n  person: {attributes: "
           "{age: {role: quasi, hierarchy: {ranges: [10]}}}}\nprivacy: [{k: 2}]\n",
           NULL);
}

static void texts_that_are_none(void **state)
{
    (void)state;
    put_release(false);
    expect("CREATE TABLE person (id TEXT PRIMARY KEY, city TEXT); INSERT INTO person VALUES ('p1', 'Nice'), ('p2', "
           "CAST(x'4eff' AS TEXT));",
           SPEC("", ""), "table \"person\", column \"city\", row 2: not UTF-8");
}

/* ---- What a file holds besides its cells ---- */

#define WIDE                                                                                                           \
    "CREATE TABLE person (id INTEGER PRIMARY KEY NOT NULL, city TEXT, n INTEGER, b BLOB);"                             \
    "INSERT INTO person VALUES (1, 'Nice', -9223372036854775807 - 1, x'00ff'), (2, 'Nice', 9223372036854775807, "      \
    "x'0102');"

static void make_file(const char *name, const char *statements)
{
    make_database(statements);
    remove(path_of(name));
    assert_int_equal(rename(path_of("in.db"), path_of(name)), 0);
}

/* The verifier's problems, each with its line end. */
static void problems_of(char *to, size_t size, int threads)
{
    static const char yaml[] = "kanon: 1\ninput: \"sqlite:one.db\"\noutput: \"sqlite:two.db\"\nentity: {table: "
                               "person}\ntables:\n  person: {attributes: "
                               "{city: {role: quasi}, n: {role: keep}, b: {role: keep}}}\nprivacy: [{k: 2}]\n";
    kn_context       *ctx = testing_context(threads);
    kn_error          err = KN_ERROR_INIT;
    kn_spec          *spec = NULL;
    kn_database_verify_report *r = NULL;
    size_t                     at = 0;
    put("spec.yaml", yaml);
    assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
    assert_ok(kn_verify_database(&r, ctx, spec, NULL, &err), err);
    to[0] = '\0';
    for (int i = 0; i < r->problem_count; i++) at += (size_t)snprintf(to + at, size - at, "%s\n", r->problems[i]);
    kn_database_verify_report_free(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* They are looked for beside the rest, if there are threads; whole numbers at both ends and binary values are copied. */
static void extras_on_any_number_of_threads(void **state)
{
    static const char release[] = "CREATE TABLE person (id INTEGER PRIMARY KEY NOT NULL, city TEXT, n TEXT, b TEXT);"
                                  "INSERT INTO person VALUES (1, 'Nice', '9223372036854775807', '\\x0102'), "
                                  "(2, 'Nice', '-9223372036854775808', '\\x00ff'); VACUUM;";
    char              more[600], alone[1000], beside[1000];
    (void)state;
    make_file("one.db", WIDE);
    make_file("two.db", release);
    for (int threads = 1; threads <= 3; threads++) {
        problems_of(alone, sizeof alone, threads);
        assert_string_equal(alone, "");
    }
    snprintf(more, sizeof more, "%sCREATE VIEW v AS SELECT 1; PRAGMA user_version = 7;", release);
    make_file("two.db", more);
    problems_of(alone, sizeof alone, 1);
    assert_non_null(strstr(alone, "the file holds a view\nthe file holds a user_version\n"));
    for (int threads = 2; threads <= 3; threads++) {
        problems_of(beside, sizeof beside, threads);
        assert_string_equal(beside, alone);
    }
    snprintf(more, sizeof more, "%sUPDATE person SET city = 'Rome'; UPDATE person SET city = 'Nice';", release);
    make_file("two.db", more);
    problems_of(alone, sizeof alone, 1);
    problems_of(beside, sizeof beside, 2);
    assert_string_equal(beside, alone);
}

static void note(void *arg, const char *sentence)
{
    char *to = arg;
    snprintf(to + strlen(to), 400 - strlen(to), "%s\n", sentence);
}

/* Whose copy is a file. */
static void check_large(const char *more, const char *expected)
{
    static const char *const large = "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT UNIQUE, y NUMERIC); INSERT INTO t "
                                     "WITH RECURSIVE i(n) AS (SELECT 1 UNION "
                                     "ALL SELECT n + 1 FROM i WHERE n < 40000) SELECT n, printf('%d %0*d', n * 7919 % "
                                     "40009, 120, n), n / 4.0 FROM i;";
    kn_context              *ctx = testing_context(1);
    kn_error                 err = KN_ERROR_INIT;
    char                     statements[800], told[400] = "";
    struct stat              info;
    snprintf(statements, sizeof statements, "%s%s", large, more);
    make_file("large.db", statements);
    assert_int_equal(stat(path_of("large.db"), &info), 0);
    assert_true(info.st_size > 10 << 20);
    assert_ok(kn_sqlite_extras(ctx, path_of("large.db"), NULL, note, told, &err), err);
    assert_true(expected ? strstr(told, expected) != NULL : told[0] == '\0');
    testing_context_free(ctx);
}

/* As rows come, or vacuumed, which moves pages of the index; nothing else. */
static void large_files_written_in_two_ways(void **state)
{
    (void)state;
    check_large("", NULL);
    check_large("VACUUM", NULL);
    check_large("UPDATE t SET y = CAST(y AS TEXT) || ' ' WHERE id = 17; UPDATE t SET y = trim(y) WHERE id = 17; VACUUM",
                NULL);
    check_large("UPDATE t SET x = CAST(x AS BLOB) WHERE id = 39999; VACUUM", "not what its cells give");
    check_large("DELETE FROM t WHERE id = 7; INSERT INTO t VALUES (7, 'seven', 7)", "not what its cells give");
}

int main(void)
{
    folder_set_up();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_that_the_database_says),
        cmocka_unit_test(keys_of_several_columns),
        cmocka_unit_test(foreign_keys_declared_twice),
        cmocka_unit_test(foreign_keys_left_out),
        cmocka_unit_test(columns_of_numbers),
        cmocka_unit_test(texts_that_are_none),
        cmocka_unit_test(extras_on_any_number_of_threads),
        cmocka_unit_test(large_files_written_in_two_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
