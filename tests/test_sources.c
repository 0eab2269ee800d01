/* test_sources.c: files of statistics programs, written by ReadStat itself, workbooks and SQLite tables as the bytes of a
 * CSV file; every allocation refused in turn. What else tables must do is in tests/tables/run. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <readstat.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "kn_source.h"
#include "kn_table_name.h"
#include "kn_table_stream.h"

/* ---- Files ---- */

static ssize_t put_bytes(const void *bytes, size_t size, void *file)
{
    return (ssize_t)fwrite(bytes, 1, size, file);
}

typedef readstat_error_t (*begin_fn)(readstat_writer_t *writer, void *user, long rows);

/* Three rows: a number with labels, a text, a date, a number that is missing once. */
static const char *statistics_file(const char *name, begin_fn begin, const char *format, double day, bool labelled)
{
    const char           *path = testing_file(name, "", 0);
    FILE                 *file = fopen(path, "wb");
    readstat_writer_t    *w = readstat_writer_init();
    readstat_label_set_t *labels = labelled ? readstat_add_label_set(w, READSTAT_TYPE_DOUBLE, "sexes") : NULL;
    bool                  upper = begin == readstat_begin_writing_por; /* it has no other letters */
    assert_non_null(file);
    readstat_set_data_writer(w, put_bytes);
    if (labelled) readstat_label_double_value(labels, 1, "woman, or girl");
    if (labelled) readstat_label_double_value(labels, 2, "man");
    readstat_variable_t *sex = readstat_add_variable(w, upper ? "SEX" : "sex", READSTAT_TYPE_DOUBLE, 0);
    readstat_variable_t *town = readstat_add_variable(w, upper ? "TOWN" : "town", READSTAT_TYPE_STRING, 12);
    readstat_variable_t *born = readstat_add_variable(w, upper ? "BORN" : "born", READSTAT_TYPE_DOUBLE, 0);
    readstat_variable_t *rate = readstat_add_variable(w, upper ? "RATE" : "rate", READSTAT_TYPE_DOUBLE, 0);
    if (labelled) readstat_variable_set_label_set(sex, labels);
    if (labelled) readstat_variable_set_label(town, "Where, at night");
    readstat_variable_set_format(born, format);
    assert_int_equal(begin(w, file, 3), READSTAT_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(readstat_begin_row(w), READSTAT_OK);
        readstat_insert_double_value(w, sex, i + 1);
        readstat_insert_string_value(w, town, i == 1 ? "" : "Ash\"by");
        readstat_insert_double_value(w, born, day);
        if (i == 2)
            readstat_insert_missing_value(w, rate);
        else
            readstat_insert_double_value(w, rate, 0.1 + i);
        assert_int_equal(readstat_end_row(w), READSTAT_OK);
    }
    assert_int_equal(readstat_end_writing(w), READSTAT_OK);
    readstat_writer_free(w);
    fclose(file);
    return path;
}

static const char *sav_file(void)
{
    return statistics_file("people.sav", readstat_begin_writing_sav, "DATE11", 13923446400.0, true);
}

static readstat_error_t begin_zsav(readstat_writer_t *writer, void *user, long rows)
{
    readstat_writer_set_compression(writer, READSTAT_COMPRESS_BINARY);
    return readstat_begin_writing_sav(writer, user, rows);
}

static const char *zsav_file(void)
{
    return statistics_file("people.zsav", begin_zsav, "DATE11", 13923446400.0, true);
}

static const char *workbook_file(void)
{
    static const char *const parts[][2] = {
        {"xl/workbook.xml", "<workbook xmlns:r=\"r\"><sheets><sheet name=\"S\" r:id=\"a\"/></sheets></workbook>"},
        {"xl/_rels/workbook.xml.rels", "<R><Relationship Id=\"a\" Target=\"/xl/s.xml\"/></R>"},
        {"xl/sharedStrings.xml", "<sst><si><t>a</t></si><si><t>x,y</t></si></sst>"},
        {"xl/styles.xml", "<s><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></s>"},
        {"xl/s.xml",
         "<w><sheetData><row><c t=\"s\"><v>0</v></c><c t=\"str\"><v>b</v></c></row><row><c t=\"s\"><v>1</v></c>"
         "<c s=\"1\"><v>45351</v></c></row><row><c r=\"B3\"><v>1.5</v></c></row></sheetData></w>"}};
    const char *path = testing_file("book.xlsx", "", 0);
    unlink(path);
    zipFile zip = zipOpen64(path, APPEND_STATUS_CREATE);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_int_equal(zipOpenNewFileInZip64(zip, parts[i][0], NULL, NULL, 0, NULL, 0, NULL, Z_DEFLATED, 6, 0),
                         ZIP_OK);
        assert_int_equal(zipWriteInFileInZip(zip, parts[i][1], (unsigned)strlen(parts[i][1])), ZIP_OK);
        assert_int_equal(zipCloseFileInZip(zip), ZIP_OK);
    }
    assert_int_equal(zipClose(zip, NULL), ZIP_OK);
    return path;
}

static const char *sqlite_name(void)
{
    static char name[600];
    const char *path = testing_file("one.db", "", 0);
    sqlite3    *db = NULL;
    unlink(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 'x'), (NULL, ''), (2.5, x'ff')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    snprintf(name, sizeof name, "sqlite:%s#t", path);
    return name;
}

/* ---- Reading ---- */

static kn_status read_all(kn_context *ctx, const char *name, kn_buffer *to, kn_error *err)
{
    kn_source *source = NULL;
    kn_status  status = kn_source_open(&source, ctx, name, err);
    if (status == KN_OK) status = kn_source_read_all(source, to, SIZE_MAX / 2, err);
    kn_source_free(source);
    return status;
}

static void expect(const char *name, const char *text)
{
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_buffer   bytes;
    kn_buffer_init(&bytes, ctx);
    assert_ok(read_all(ctx, name, &bytes, &err), err);
    assert_string_equal(kn_buffer_text(&bytes), text);
    kn_buffer_free(&bytes);
    testing_context_free(ctx);
}

#define ROWS(day)                                                                                                      \
    "sex,town,born,rate\n\"woman, or girl\",\"Ash\"\"by\"," day ",0.1\nman,," day ",1.1\n3,\"Ash\"\"by\"," day ",\n"

static void statistics_files_are_their_csv(void **state)
{
    (void)state;
    expect(sav_file(), ROWS("2024-01-01"));
    expect(zsav_file(), ROWS("2024-01-01"));
    expect(statistics_file("people.dta", readstat_begin_writing_dta, "%td", 23376, true), ROWS("2024-01-01"));
    expect(statistics_file("people.xpt", readstat_begin_writing_xport, "DATE", 23376, false),
           "sex,town,born,rate\n1,\"Ash\"\"by\",2024-01-01,0.1\n2,,2024-01-01,1.1\n3,\"Ash\"\"by\",2024-01-01,\n");
    expect(statistics_file("people.sas7bdat", readstat_begin_writing_sas7bdat, "DATE", 23376, false),
           "sex,town,born,rate\n1,\"Ash\"\"by\",2024-01-01,0.1\n2,,2024-01-01,1.1\n3,\"Ash\"\"by\",2024-01-01,\n");
    expect(statistics_file("people.por", readstat_begin_writing_por, "DATE11", 13923446400.0, true),
           "SEX,TOWN,BORN,RATE\n\"woman, or "
           "girl\",\"Ash\"\"by\",2024-01-01,0.1\nman,,2024-01-01,1.1\n3,\"Ash\"\"by\",2024-01-01,\n");
}

static kn_status read_labels(kn_context *ctx, const char *name, kn_buffer *to, kn_error *err)
{
    return kn_statistics_labels(&(kn_csv_rows){.ctx = ctx, .to = to, .columns = 4}, name, err);
}

static void labels_are_kept(void **state)
{
    (void)state;
    const char *names[] = {sav_file(), zsav_file(),
                           statistics_file("people.dta", readstat_begin_writing_dta, "%td", 23376, true),
                           statistics_file("people.xpt", readstat_begin_writing_xport, "DATE", 23376, false)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kn_context *ctx = testing_context(1);
        kn_error    err = KN_ERROR_INIT;
        kn_buffer   bytes;
        char        told[2000] = "";
        kn_buffer_init(&bytes, ctx);
        assert_ok(read_labels(ctx, names[i], &bytes, &err), err);
        if (i < 3)
            snprintf(told, sizeof told, "%s,sex,1,\"woman, or girl\"\n%s,sex,2,man\n%s,town,,\"Where, at night\"\n",
                     names[i], names[i], names[i]);
        assert_string_equal(kn_buffer_text(&bytes), told);
        kn_buffer_free(&bytes);
        testing_context_free(ctx);
    }
}

static void workbooks_and_tables_are_their_csv(void **state)
{
    (void)state;
    expect(workbook_file(), "a,b\n\"x,y\",2024-02-29\n,1.5\n");
    expect(sqlite_name(), "a,b\n1,x\n,\n2.5,\\xff\n");
}

/* With the n-th request refused: the same bytes, or KN_MEMORY with a message; nothing stays. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *names[] = {sav_file(), workbook_file(), sqlite_name()};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int once = 0; once < 2; once++)
            for (int64_t n = 0, more = 1; more; n++) {
                testing_allocator a = {.refuse_at = n, .once = once};
                kn_context       *ctx = NULL;
                kn_error          err = KN_ERROR_INIT;
                kn_status         status = testing_refusing_context(&ctx, &a, 1, &err);
                kn_buffer         bytes;
                if (status == KN_OK) {
                    kn_buffer_init(&bytes, ctx);
                    status = read_all(ctx, names[i], &bytes, &err);
                    if (status == KN_OK && i == 0) status = read_labels(ctx, names[i], &bytes, &err);
                    kn_buffer_free(&bytes);
                    kn_context_free(ctx);
                }
                assert_true(status == KN_OK || (status == KN_MEMORY && err.message[0]));
                assert_int_equal(a.live, 0);
                more = a.requests > n;
                if (!more) assert_int_equal(status, KN_OK);
            }
}

static void names_are_split(void **state)
{
    (void)state;
    static const struct {
        const char   *name, *file;
        kn_table_kind kind;
    } rows[] = {{"a.csv", "a.csv", KN_TABLE_TEXT},
                {"a#b.csv", "a#b.csv", KN_TABLE_TEXT},
                {"sqlite:a.db", "a.db", KN_TABLE_TEXT},
                {"sqlite:a#b.db", "a#b.db", KN_TABLE_TEXT},
                {"sqlite:a#b.db#t", "a#b.db", KN_TABLE_SQLITE},
                {"sqlite:a.db#\"b.c\"", "a.db", KN_TABLE_SQLITE},
                {"SQLite:a.db#t", "a.db", KN_TABLE_SQLITE},
                {"sqlite:a.db?query=SELECT '#'", "a.db", KN_TABLE_SQLITE},
                {"a.XLSX", "a.XLSX", KN_TABLE_WORKBOOK},
                {"a.xlsx#My Sheet", "a.xlsx", KN_TABLE_WORKBOOK},
                {"a.zsav", "a.zsav", KN_TABLE_STATISTICS},
                {"postgresql://h/d#s", "", KN_TABLE_TEXT},
                {"postgresql://h/d#s.t", "", KN_TABLE_SERVER},
                {"postgresql://h/d#\"s.t\"", "", KN_TABLE_TEXT},
                {"postgresql://h/d#\"s.t\".\"u\"", "", KN_TABLE_SERVER},
                {"postgresql://u:p#q.r@h/d", "", KN_TABLE_TEXT},
                {"postgresql://h/d?sslmode=require&query=SELECT 1", "", KN_TABLE_SERVER}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(kn_table_kind_of(rows[i].name), rows[i].kind);
        assert_true(kn_string_equal(kn_table_file(rows[i].name), kn_string_of(rows[i].file)));
    }
}

/* test_sources --write FOLDER: the files that these tests read, for tests/tables/run. */
static int write_files(const char *folder)
{
    const char *names[] = {sav_file(),
                           zsav_file(),
                           workbook_file(),
                           statistics_file("people.dta", readstat_begin_writing_dta, "%td", 23376, true),
                           statistics_file("people.xpt", readstat_begin_writing_xport, "DATE", 23376, false),
                           statistics_file("people.sas7bdat", readstat_begin_writing_sas7bdat, "DATE", 23376, false),
                           statistics_file("people.por", readstat_begin_writing_por, "DATE11", 13923446400.0, true)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char  path[1000], bytes[1 << 16];
        FILE *from = fopen(names[i], "rb");
        snprintf(path, sizeof path, "%s%s", folder, strrchr(names[i], '/'));
        FILE *to = fopen(path, "wb");
        if (!from || !to) return 1;
        for (size_t n; (n = fread(bytes, 1, sizeof bytes, from)) > 0;)
            if (fwrite(bytes, 1, n, to) != n) return 1;
        if (fclose(from) != 0 || fclose(to) != 0) return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_files(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_files_are_their_csv),
        cmocka_unit_test(labels_are_kept),
        cmocka_unit_test(workbooks_and_tables_are_their_csv),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(names_are_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
