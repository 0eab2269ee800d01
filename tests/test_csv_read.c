/* test_csv_read.c: reading CSV files: every refusal with its place, encodings, compression, options. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "csv_testing.h"
#include "kn_csv_read.h"

static const kn_csv_options comma = {.size = sizeof(kn_csv_options), .delimiter = ',', .decimal = '.'};

/* ---- Refusals: the text ---- */

static void refuses_bytes(void **unused)
{
    (void)unused;
    const char *utf8 = "not valid UTF-8", *nul = "NUL";
    assert_refused(TEXT("a,b\n1,2\n" MARKER ",\xff\n"), &comma, KN_INPUT, 3, 12, utf8);
    assert_refused(TEXT("a,b\n1,\xc3\n"), &comma, KN_INPUT, 2, 3, utf8);
    assert_refused(TEXT("a,b\n1,x\xed\xa0\x80\n"), &comma, KN_INPUT, 2, 4, utf8); /* a surrogate */
    assert_refused(TEXT("a,b\n1,\xc0\x80\n"), &comma, KN_INPUT, 2, 3, utf8);      /* overlong */
    assert_refused(TEXT("a,b\né€😀,\xf5\n"), &comma, KN_INPUT, 2, 5, utf8);        /* columns are characters */
    assert_refused(TEXT("a,b\n\"x\n\r\ny\xff\",1\n"), &comma, KN_INPUT, 4, 2, utf8);
    assert_refused(TEXT("a,b\n1,2\n3,4\xe2\x82"), &comma, KN_INPUT, 3, 4, utf8);
    assert_refused(TEXT("a,\xff\n1,2\n"), &comma, KN_INPUT, 1, 3, utf8);
    assert_refused(TEXT("\n\na,\"b\xff\"\n1,2\n"), &comma, KN_INPUT, 3, 5, utf8);
    assert_refused(TEXT("a,b\n1,2\n" MARKER "\0,2\n"), &comma, KN_INPUT, 3, 11, nul);
    assert_refused(TEXT("a,b\0\n1,2\n"), &comma, KN_INPUT, 1, 4, nul);
    /* Of several faults, the first. */
    assert_refused(TEXT("a,b\n\xff,2\n\"1\"x,2\n"), &comma, KN_INPUT, 2, 1, utf8);
    assert_refused(TEXT("a,b\n\xff,\"2\"x\n"), &comma, KN_INPUT, 2, 1, utf8);
    assert_refused(TEXT("a,b\n\"1\"x,\xff\n"), &comma, KN_INPUT, 2, 4, "closing quote");
    assert_refused(TEXT("\xff,\"b\"x\n"), &comma, KN_INPUT, 1, 1, utf8);
    assert_refused(TEXT("\xff\xfe\x61\0,\0"), &comma, KN_INPUT, 1, 1, "UTF-16");
    assert_refused(TEXT("\xfe\xff\0a\0,"), &comma, KN_INPUT, 1, 1, "UTF-16");
    /* Also in columns that are not read. */
    kn_csv_options    some = comma;
    const char *const b[] = {"b"};
    some.columns = b;
    some.column_count = 1;
    assert_refused(TEXT("a,b\n1,2\n\xff,2\n"), &some, KN_INPUT, 3, 1, utf8);
}

static void refuses_bytes_of_old_encodings(void **unused)
{
    (void)unused;
    kn_csv_options old = comma;
    old.encoding = KN_ENCODING_WINDOWS_1252;
    assert_refused(TEXT("a,b\n\xe9\xe9,x\x81\n"), &old, KN_INPUT, 2, 5, "Windows-1252");
    assert_refused(TEXT("a,b\n\xe9\xe9,\"x\"\"\x9d\"\n"), &old, KN_INPUT, 2, 8, "Windows-1252");
    assert_refused(TEXT("a,\xe9\x8d\n1,2\n"), &old, KN_INPUT, 1, 4, "Windows-1252");
    assert_refused(TEXT("a,\xe9\0\n1,2\n"), &old, KN_INPUT, 1, 4, "NUL");
    assert_refused(TEXT("\xe9\xe9,\xe9\xe9\n"), &old, KN_INPUT, 1, 4, "two columns");
    const char *const a[] = {"a"};
    old.columns = a;
    old.column_count = 1;
    assert_refused(TEXT("a,b\n1,2\n1,\x8f\n"), &old, KN_INPUT, 3, 3, "Windows-1252"); /* a column that is not read */
    old.encoding = KN_ENCODING_LATIN_1;
    assert_refused(TEXT("a,b\n\xe9,\x81\x8d\x8f\x90\x9d\n\xe9\xe9\0,1\n"), &old, KN_INPUT, 3, 3, "NUL");
}

static void refuses_grammar(void **unused)
{
    (void)unused;
    const char *few = "fewer cells", *many = "more cells", *after = "closing quote", *open = "never closed";
    assert_refused(TEXT("a,b\n1,2\n" MARKER "\n3,4\n"), &comma, KN_INPUT, 3, 1, few);
    assert_refused(TEXT("a,b\n1,2\n1,2," MARKER "\n3,4\n"), &comma, KN_INPUT, 3, 5, many);
    assert_refused(TEXT("a,b\n1,2\né€,\"2\n2\",3\n"), &comma, KN_INPUT, 4, 4, many);
    assert_refused(TEXT("a,b\r\n\r\n1,2\r\n\"\"\r\n"), &comma, KN_INPUT, 4, 1, few);
    assert_refused(TEXT("a,b\n1,2,\n"), &comma, KN_INPUT, 2, 5, many);
    assert_refused(TEXT("a,b\n1,2\n5"), &comma, KN_INPUT, 3, 1, few);
    assert_refused(TEXT("a,b\n1,2\n\"" MARKER ",2\n3,4\n"), &comma, KN_INPUT, 3, 1, open);
    assert_refused(TEXT("a,b\n1,2\né,\"" MARKER "\n3,4\n"), &comma, KN_INPUT, 3, 3, open);
    assert_refused(TEXT("a,b\n1,\"" MARKER "\" \n"), &comma, KN_INPUT, 2, 15, after);
    assert_refused(TEXT("a,b\n1,\"x\ny\"z\n"), &comma, KN_INPUT, 3, 3, after);
    assert_refused(TEXT("a,b\r1,2\r\"1\"\"\"2,3\r"), &comma, KN_INPUT, 3, 6, after);
    assert_refused(TEXT("a,\"b\"x\n"), &comma, KN_INPUT, 1, 6, after);
    assert_refused(TEXT("\n\na,\"b\n"), &comma, KN_INPUT, 3, 3, open);
    kn_csv_options headless = comma;
    headless.no_header = true;
    assert_refused(TEXT("\n1,2\n\n3\n"), &headless, KN_INPUT, 4, 1, few);
    /* A single column cannot be too short. */
    kn_csv_options tab = comma;
    tab.delimiter = '\t';
    assert_refused(TEXT("a\n1\n\n2\t\n"), &tab, KN_INPUT, 4, 3, many);
}

static void refuses_headers(void **unused)
{
    (void)unused;
    assert_refused(TEXT("a,b,a\n1,2,3\n"), &comma, KN_INPUT, 1, 5, "two columns");
    assert_refused(TEXT("\xef\xbb\xbfx,\"x\"\n"), &comma, KN_INPUT, 1, 3, "two columns");
    assert_refused(TEXT("\n\"é\"\"\",\"é\"\"\"\n"), &comma, KN_INPUT, 2, 7, "two columns");
    assert_refused(TEXT(""), &comma, KN_INPUT, 0, 0, "empty");
    assert_refused(TEXT("\n"), &comma, KN_INPUT, 0, 0, "blank lines");
    assert_refused(TEXT("\r\n\n\r\r\r"), &comma, KN_INPUT, 0, 0, "blank lines");
    assert_refused(TEXT("\xef\xbb\xbf"), &comma, KN_INPUT, 0, 0, "blank lines");
}

static void refuses_too_many_columns(void **unused)
{
    (void)unused;
    size_t size = 65536 * 6;
    char  *text = malloc(size + 1);
    assert_non_null(text);
    for (size_t i = 0; i < 65536; i++) snprintf(text + 6 * i, 7, "%05zu,", i);
    size_t whole = 65535 * 6 - 1; /* without the comma behind the last name */
    char   after = text[whole];
    text[whole] = '\n';
    kn_context *ctx = testing_context(2);
    kn_table   *table = read_path(ctx, testing_file("wide.csv", text, whole + 1), &comma, 1 << 19);
    assert_int_equal(kn_table_columns(table), 65535);
    assert_string_equal(kn_table_name(table, 65534), "65534");
    kn_table_free(table);
    text[whole] = after;
    kn_error    err = KN_ERROR_INIT;
    const char *path = testing_file("wide.csv", text, size - 1);
    assert_int_equal(kn_table_read_csv(&table, ctx, path, &comma, &err), KN_INPUT);
    assert_int_equal(err.line, 1);
    assert_int_equal(err.column, 65535 * 6 + 1);
    assert_non_null(strstr(err.message, "more than 65535 columns"));
    testing_context_free(ctx);
    free(text);
}

/* ---- Refusals: files and options ---- */

static void refuses_files(void **unused)
{
    (void)unused;
    char folder[256];
    snprintf(folder, sizeof folder, "%s", testing_file("x", "", 0));
    *strrchr(folder, '/') = '\0';
    assert_path_refused(folder, &comma, KN_INPUT, 0, 0, "is a folder");
    char missing[300];
    snprintf(missing, sizeof missing, "%s/none.csv", folder);
    assert_path_refused(missing, &comma, KN_INPUT, 0, 0, "cannot open");
    snprintf(missing, sizeof missing, "%s/x/none.csv", folder);
    assert_path_refused(missing, &comma, KN_INPUT, 0, 0, "cannot open");
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *table = NULL;
    assert_int_equal(kn_table_read_csv_files(&table, ctx, NULL, 0, &comma, &err), KN_USAGE);
    assert_null(table);
    testing_context_free(ctx);
}

static void refuses_options(void **unused)
{
    (void)unused;
    const char       *text = "a,b\n1,2\n";
    size_t            size = strlen(text);
    const char *const none[] = {"a", "c"}, *const twice[] = {"b", "b"};
    kn_csv_options o = comma;
    o.columns = none;
    o.column_count = 2;
    assert_refused(text, size, &o, KN_INPUT, 0, 0, "there is no column \"c\"");
    o.columns = twice;
    assert_refused(text, size, &o, KN_USAGE, 0, 0, "column \"b\" is named twice");
    o.column_count = 0;
    assert_refused(text, size, &o, KN_USAGE, 0, 0, "no column");
    kn_column_type type = {"c", KN_TYPE_TEXT, NULL};
    o = comma;
    o.types = &type;
    o.type_count = 1;
    assert_refused(text, size, &o, KN_INPUT, 0, 0, "there is no column \"c\"");
    type = (kn_column_type){"a", KN_TYPE_DATE, "%Q"};
    assert_refused(text, size, &o, KN_USAGE, 0, 0, "the date format of column \"a\"");
    type = (kn_column_type){"a", KN_TYPE_DATETIME, "%Y-%m-%d"};
    assert_refused(text, size, &o, KN_USAGE, 0, 0, "the date format of column \"a\"");
    static const char bad[] = {'"', '\n', '\r', (char)0x80, (char)0xff};
    for (size_t i = 0; i < sizeof bad; i++) {
        o = comma;
        o.delimiter = bad[i];
        assert_refused(text, size, &o, KN_USAGE, 0, 0, "delimiter");
    }
    o = comma;
    o.decimal = ';';
    assert_refused(text, size, &o, KN_USAGE, 0, 0, "decimal mark");
    o = comma;
    o.timezone = "Nowhere/Atlantis";
    assert_refused(text, size, &o, KN_USAGE, 0, 0, "Nowhere/Atlantis");
    o = comma;
    o.size = 0;
    assert_refused(text, size, &o, KN_USAGE, 0, 0, "size");
}

static void refuses_declared_types(void **unused)
{
    (void)unused;
    kn_column_type type = {"n", KN_TYPE_INTEGER, NULL};
    kn_csv_options o = comma;
    o.types = &type;
    o.type_count = 1;
    assert_refused(TEXT("n,t\n1,a\nNA,b\n007,c\n" MARKER ",d\nx,e\n"), &o, KN_INPUT, 0, 0,
                   "column \"n\" is declared integer; row 4: ");
    type.type = KN_TYPE_DECIMAL;
    assert_refused(
        TEXT("n\n1\n\n1,5\n"),
        &(kn_csv_options){.size = sizeof o, .delimiter = ';', .decimal = '.', .types = &type, .type_count = 1},
        KN_INPUT, 0, 0, "column \"n\" is declared decimal; row 3: ");
    type.type = KN_TYPE_DATE;
    assert_refused(TEXT("n\n2020-01-31\n2020-02-30\n"), &o, KN_INPUT, 0, 0, "column \"n\" is declared date; row 2: ");
    assert_refused(TEXT("n\n2020-01-31\n31.12.2020\n"), &o, KN_INPUT, 0, 0, "row 2: no known pattern");
    assert_refused(TEXT("n\n05/05/2020\n03/04/2020\n"), &o, KN_INPUT, 0, 0, "row 2: a value is a different date by");
    type.format = "%d/%m/%Y";
    assert_refused(TEXT("n\n03/04/2020\n03/13/2020\n"), &o, KN_INPUT, 0, 0, "column \"n\" is declared date; row 2: ");
    type = (kn_column_type){"n", KN_TYPE_DATETIME, NULL};
    assert_refused(TEXT("n\n2020-01-31 12:00\n2020-01-31\n"), &o, KN_INPUT, 0, 0, "row 2: ");
}

/* The row named does not depend on which thread saw a value first: many bad cells, the first one counts. */
static void names_the_first_bad_row(void **unused)
{
    (void)unused;
    size_t size = 0, capacity = 1 << 20;
    char  *text = malloc(capacity);
    assert_non_null(text);
    size += (size_t)snprintf(text, capacity, "n\n");
    for (int i = 0; i < 20000; i++)
        size += (size_t)snprintf(text + size, capacity - size, i >= 7000 && i % 7 == 0 ? "bad%d\n" : "%d\n", i);
    const char    *path = testing_file("types.csv", text, size);
    kn_column_type type = {"n", KN_TYPE_INTEGER, NULL};
    kn_csv_options o = comma;
    o.types = &type;
    o.type_count = 1;
    for (int round = 0; round < 20; round++) {
        kn_context *ctx = testing_context(1 + round % 4);
        kn_error    err = KN_ERROR_INIT;
        kn_table   *table = NULL;
        assert_int_equal(kn_csv_read_pieces(&table, ctx, &path, 1, &o, 1000 + (size_t)round * 777, &err), KN_INPUT);
        if (!strstr(err.message, "row 7001:")) fail_msg("%s", err.message);
        testing_context_free(ctx);
    }
    free(text);
}

/* ---- What is read ---- */

static void reads_plain(void **unused)
{
    (void)unused;
    static const char *const texts[] = {
        "a,b\n1,x\n2,y\n",
        "a,b\r\n1,x\r\n2,y\r\n",
        "a,b\r1,x\r2,y\r",
        "a,b\n1,x\n2,y",
        "\xef\xbb\xbf\x61,b\n1,x\n2,y\n",
        "\n\r\na,b\n\n1,x\n\n\n2,y\n\n",
        "\"a\",\"b\"\n\"1\",\"x\"\n\"2\",\"y\"",
        "a;b\n1;x\n2;y\n",
        "a\tb\n1\tx\n2\ty\n",
        "a|b\r1|x\n2|y\r\n",
    };
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kn_table *t = read_text(ctx, texts[i], strlen(texts[i]), NULL);
        assert_int_equal(kn_table_rows(t), 2);
        assert_int_equal(kn_table_columns(t), 2);
        assert_string_equal(kn_table_name(t, 0), "a");
        assert_string_equal(kn_table_name(t, 1), "b");
        assert_int_equal(kn_table_type(t, 0), KN_TYPE_INTEGER);
        assert_cell(t, 0, 0, "1");
        assert_cell(t, 1, 1, "y");
        assert_int_equal(kn_table_delimiter(t), i < 7 ? ',' : ";\t|"[i - 7]);
        kn_table_free(t);
    }
    testing_context_free(ctx);
}

static void reads_quotes(void **unused)
{
    (void)unused;
    kn_context *ctx = testing_context(1);
    kn_table   *t =
        read_text(ctx, TEXT("\"x\"\"y\",b\n\"a,\r\n\"\"b\"\"\",5\" pipe\n\"\"\"\",\"\"\n a ,\"\"\"\"\"\"\n"), &comma);
    assert_string_equal(kn_table_name(t, 0), "x\"y");
    assert_cell(t, 0, 0, "a,\r\n\"b\"");
    assert_cell(t, 1, 0, "5\" pipe");
    assert_cell(t, 0, 1, "\"");
    assert_cell(t, 1, 1, "(missing)"); /* a quoted empty cell is an empty cell */
    assert_cell(t, 0, 2, " a ");
    assert_cell(t, 1, 2, "\"\"");
    kn_table_free(t);
    testing_context_free(ctx);
}

static void reads_without_header(void **unused)
{
    (void)unused;
    kn_context    *ctx = testing_context(1);
    kn_csv_options o = comma;
    o.no_header = true;
    kn_table *t = read_text(ctx, TEXT("\n\na,a,\n1,2,3"), &o);
    assert_int_equal(kn_table_rows(t), 2);
    assert_string_equal(kn_table_name(t, 0), "c1");
    assert_string_equal(kn_table_name(t, 2), "c3");
    assert_cell(t, 2, 0, "(missing)");
    kn_table_free(t);
    t = read_text(ctx, TEXT("\n\r\n7\n\n8\n\n"),
                  &o); /* one column: a blank line is an empty cell, but not before the first */
    assert_int_equal(kn_table_rows(t), 4);
    assert_cell(t, 0, 0, "7");
    assert_cell(t, 0, 1, "(missing)");
    assert_cell(t, 0, 2, "8");
    assert_cell(t, 0, 3, "(missing)");
    kn_table_free(t);
    t = read_text(ctx, TEXT("\"\"\n"), &o);
    assert_int_equal(kn_table_rows(t), 1);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* The first bytes that are looked at may be nothing but blank lines. */
static void reads_behind_blank_lines(void **unused)
{
    (void)unused;
    kn_context *ctx = testing_context(1);
    for (int blanks = 0; blanks < 40; blanks++) {
        char text[64];
        memset(text, '\n', sizeof text);
        memcpy(text + blanks, "a,b\n1,2", 7);
        for (size_t piece = 1; piece < 4; piece++) { /* buffers of 8, 16 and 24 bytes */
            kn_table *t = read_path(ctx, testing_file("blank.csv", text, (size_t)blanks + 7), &comma, piece);
            assert_int_equal(kn_table_rows(t), 1);
            assert_cell(t, 1, 0, "2");
            kn_table_free(t);
        }
    }
    testing_context_free(ctx);
}

static void reads_a_header_alone(void **unused)
{
    (void)unused;
    kn_context *ctx = testing_context(2);
    kn_table   *t = read_text(ctx, TEXT("a,b"), &comma);
    assert_int_equal(kn_table_rows(t), 0);
    assert_int_equal(kn_table_columns(t), 2);
    assert_int_equal(kn_table_type(t, 1), KN_TYPE_TEXT);
    assert_int_equal(kn_table_find(t, "b"), 1);
    assert_int_equal(kn_table_find(t, "c"), -1);
    kn_table_free(t);
    testing_context_free(ctx);
}

static void reads_some_columns(void **unused)
{
    (void)unused;
    kn_context       *ctx = testing_context(1);
    const char *const some[] = {"d", "b"};
    kn_column_type types[] = {{"b", KN_TYPE_TEXT, NULL}, {"a", KN_TYPE_INTEGER, NULL}}; /* a is not read: no matter */
    kn_csv_options o = comma;
    o.columns = some;
    o.column_count = 2;
    o.types = types;
    o.type_count = 2;
    kn_table *t = read_text(ctx, TEXT("a,b,c,d\nx,1,2,3\ny,4,5,6\n"), &o);
    assert_int_equal(kn_table_columns(t), 2);
    assert_string_equal(kn_table_name(t, 0), "d");
    assert_cell(t, 0, 1, "6");
    assert_cell(t, 1, 0, "1");
    assert_int_equal(kn_table_type(t, 1), KN_TYPE_TEXT);
    kn_table_free(t);
    testing_context_free(ctx);
}

static void reads_missing(void **unused)
{
    (void)unused;
    kn_context *ctx = testing_context(1);
    const char  text[] = "n,t\n1,x\nNA,\nn/a,NULL\n?, nan \n  ,#N/A\n2,-\n";
    kn_table   *t = read_text(ctx, TEXT(text), &comma);
    assert_int_equal(kn_table_missing(t, 0), 4);
    assert_int_equal(kn_table_missing(t, 1), 4);
    assert_int_equal(kn_table_type(t, 0), KN_TYPE_INTEGER);
    assert_int_equal(kn_table_distinct(t, 1), 2);
    kn_table_free(t);
    kn_csv_options    o = comma;
    const char *const dash[] = {"-", " ? "};
    o.na = dash;
    o.na_count = 2;
    t = read_text(ctx, TEXT(text), &o);
    assert_int_equal(kn_table_missing(t, 0), 1);
    assert_int_equal(kn_table_missing(t, 1), 1);
    assert_int_equal(kn_table_type(t, 0), KN_TYPE_TEXT);
    assert_cell(t, 1, 1, "");
    kn_table_free(t);
    o.na_count = 0;
    t = read_text(ctx, TEXT(text), &o);
    assert_int_equal(kn_table_missing(t, 0) + kn_table_missing(t, 1), 0);
    assert_cell(t, 0, 4, "  ");
    kn_table_free(t);
    for (const char *const *na = kn_default_na(); *na; na++) {
        char line[64];
        int  n = snprintf(line, sizeof line, "a,b\n1,%s\n", *na);
        t = read_text(ctx, line, (size_t)n, &comma);
        assert_int_equal(kn_table_missing(t, 1), 1);
        kn_table_free(t);
    }
    testing_context_free(ctx);
}

static void reads_types(void **unused)
{
    (void)unused;
    kn_context          *ctx = testing_context(1);
    kn_table            *t = read_text(ctx,
                                       TEXT("zip,n,d,date,amb,mixed,when\n"
                                                       "02138,10,1.50,2020-10-01,03/04/2020,1,2020-01-01T10:00:00+02:00\n"
                                                       "10001,9,1.5,2020-09-30,04/03/2020,x,2020-01-01T09:00:00Z\n"
                                                       "90210,-2,15e-1,1999-12-31,05/05/2020,2,2020-01-01T08:00Z\n"
                                                       "02138, 9,0.1,2020-09-30,03/04/2020,NA,\n"),
                                       &comma);
    static const kn_type types[] = {KN_TYPE_TEXT, KN_TYPE_INTEGER, KN_TYPE_DECIMAL, KN_TYPE_DATE,
                                    KN_TYPE_TEXT, KN_TYPE_TEXT,    KN_TYPE_DATETIME};
    for (int c = 0; c < 7; c++) assert_int_equal(kn_table_type(t, c), types[c]);
    assert_int_equal(kn_table_distinct(t, 0), 3);
    assert_int_equal(kn_table_distinct(t, 1), 3); /* -2 < 9 < 10, and " 9" is 9 */
    assert_int_equal(kn_table_respelled(t, 1), 1);
    assert_int_equal(kn_table_code(t, 1, 2), 0);
    assert_int_equal(kn_table_code(t, 1, 0), 2);
    assert_cell(t, 1, 3, "9");
    assert_int_equal(kn_table_distinct(t, 2), 2);
    assert_int_equal(kn_table_respelled(t, 2), 2);
    assert_cell(t, 2, 0, "1.5"); /* the shortest spelling */
    assert_int_equal(kn_table_code(t, 3, 2), 0);
    assert_int_equal(kn_table_code(t, 3, 0), 2);
    assert_true(kn_table_ambiguous_dates(t, 4));
    assert_false(kn_table_ambiguous_dates(t, 5));
    assert_int_equal(kn_table_distinct(t, 6), 2);
    assert_int_equal(kn_table_code(t, 6, 1), 1);
    assert_int_equal(kn_table_respelled(t, 6), 1);
    assert_int_equal(kn_table_missing(t, 6), 1);
    kn_table_free(t);
    testing_context_free(ctx);
}

static void reads_decimal_comma_and_zone(void **unused)
{
    (void)unused;
    kn_context    *ctx = testing_context(1);
    kn_column_type types[] = {{"w", KN_TYPE_DATETIME, "%d/%m/%Y %H:%M"}};
    kn_csv_options o = KN_CSV_OPTIONS_INIT;
    o.decimal = ',';
    o.timezone = "+02:00";
    o.types = types;
    o.type_count = 1;
    kn_table *t = read_text(ctx, TEXT("x;w\n1,5;03/04/2020 10:00\n0,25;03/04/2020 09:00\n"), &o);
    assert_int_equal(kn_table_type(t, 0), KN_TYPE_DECIMAL);
    assert_true(t->columns[0].dict.decimals[0] == 0.25);
    assert_int_equal(kn_table_code(t, 0, 0), 1);
    /* 2020-04-03 07:00 UTC */
    assert_int_equal(t->columns[1].dict.integers[0], (INT64_C(1585872000) + 7 * 3600) * 1000000);
    kn_table_free(t);
    testing_context_free(ctx);
}

static void reads_old_encodings(void **unused)
{
    (void)unused;
    static const char undefined[] = "\x81\x8d\x8f\x90\x9d";
    for (int latin1 = 0; latin1 < 2; latin1++) {
        char   text[4096];
        size_t size = (size_t)snprintf(text, sizeof text, "n\xe9,v\n");
        int    rows = 0;
        for (int c = 1; c < 256; c++) {
            if (strchr("\"\r\n,", c) || (!latin1 && strchr(undefined, (char)c))) continue;
            int quoted = c % 3 == 0;
            size += (size_t)snprintf(text + size, sizeof text - size, quoted ? "%d,\"%c\"\"\"\n" : "%d,%c\n", c, c);
            rows++;
        }
        kn_csv_options o = comma;
        o.encoding = latin1 ? KN_ENCODING_LATIN_1 : KN_ENCODING_WINDOWS_1252;
        const char *path = testing_file("old.csv", text, size);
        for (int threads = 1; threads <= 2; threads++) {
            kn_context *ctx = testing_context(threads);
            kn_table   *t = read_path(ctx, path, &o, threads == 1 ? 1 << 19 : 5);
            assert_int_equal(kn_table_rows(t), rows);
            assert_string_equal(kn_table_name(t, 0), "né");
            for (int64_t r = 0; r < rows; r++) {
                int  c = atoi(cell(t, 0, r));
                char expected[8];
                if (c == 0xe9) assert_cell(t, 1, r, c % 3 ? "é" : "é\"");
                if (c == 0x80) assert_cell(t, 1, r, latin1 ? "\xc2\x80" : "€");
                if (c == 0x99) assert_cell(t, 1, r, latin1 ? "\xc2\x99\"" : "™\"");
                snprintf(expected, sizeof expected, c % 3 ? "%c" : "%c\"", c);
                if (c < 0x80 && c != ' ' && c != '\t' && c != '?') assert_cell(t, 1, r, expected);
            }
            kn_table_free(t);
            testing_context_free(ctx);
        }
    }
}

/* ---- Several files, compression, pipes ---- */

static void reads_several_files(void **unused)
{
    (void)unused;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *t = NULL;
    const char *paths[3] = {testing_file("f1.csv", TEXT("a,b\n1,x\n2,y")),
                            testing_file("f2.csv", TEXT("\xef\xbb\xbf\x61;b\r\n3;x\r\n")),
                            testing_file("f3.csv", TEXT("\na,\"b\"\n"))};
    assert_ok(kn_table_read_csv_files(&t, ctx, paths, 3, NULL, &err), err);
    assert_valid(t);
    assert_int_equal(kn_table_rows(t), 3);
    assert_cell(t, 0, 2, "3");
    kn_table_free(t);
    kn_csv_options o = comma;
    o.no_header = true;
    paths[1] = testing_file("f4.csv", TEXT("\n5,6\n"));
    assert_ok(kn_table_read_csv_files(&t, ctx, paths, 2, &o, &err), err);
    assert_int_equal(kn_table_rows(t), 4);
    assert_cell(t, 0, 3, "5");
    kn_table_free(t);
    static const struct {
        const char *text;
        int         line, column;
        const char *words;
    } bad[] = {{"\na,c\n1,2\n", 2, 3, "another column"},
               {"b,a\n1,2\n", 1, 1, "another column"},
               {"\r\n\ra,b,c\n", 3, 1, "3 columns, but the first file has 2"},
               {"a\n1\n", 1, 1, "1 columns, but the first file has 2"},
               {"a,b\n1,2\n" MARKER "\n", 3, 1, "fewer cells"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        paths[1] = testing_file("second.csv", bad[i].text, strlen(bad[i].text));
        assert_int_equal(kn_table_read_csv_files(&t, ctx, paths, 2, &comma, &err), KN_INPUT);
        assert_null(t);
        assert_int_equal(err.line, bad[i].line);
        assert_int_equal(err.column, bad[i].column);
        assert_non_null(strstr(err.message, bad[i].words));
        assert_ptr_equal(strstr(err.message, paths[1]), err.message);
        assert_null(strstr(err.message, MARKER));
    }
    paths[1] = testing_file("second.csv", "", 0);
    assert_int_equal(kn_table_read_csv_files(&t, ctx, paths, 2, &comma, &err), KN_INPUT);
    assert_non_null(strstr(err.message, "second.csv: the file is empty"));
    testing_context_free(ctx);
}

/* A text with many rows, for compressors. */
static char *long_text(size_t rows, size_t *size)
{
    char *text = malloc(rows * 24 + 100);
    assert_non_null(text);
    *size = (size_t)sprintf(text, "id,name\n");
    for (size_t i = 0; i < rows; i++) *size += (size_t)sprintf(text + *size, "%zu,\"n %zu\"\n", i, i * 7919 % 10007);
    return text;
}

static size_t gzip_member(const char *text, size_t size, unsigned char *out, size_t capacity)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)size;
    z.next_out = out;
    z.avail_out = (uInt)capacity;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return capacity - z.avail_out;
}

static size_t zstd_frame(const char *text, size_t size, unsigned char *out, size_t capacity)
{
    size_t n = ZSTD_compress(out, capacity, text, size, 3);
    assert_false(ZSTD_isError(n));
    return n;
}

static void check_compressed(size_t (*compress)(const char *, size_t, unsigned char *, size_t), const char *words)
{
    size_t         size, capacity = 2 << 20, cut = 3000;
    char          *text = long_text(40000, &size);
    unsigned char *packed = malloc(capacity);
    assert_non_null(packed);
    kn_context *ctx = testing_context(2);
    kn_table   *plain = read_path(ctx, testing_file("plain.csv", text, size), &comma, 1 << 19);
    /* Members that end anywhere, also inside a cell, and an empty one. */
    size_t n = compress(text, cut, packed, capacity);
    n += compress("", 0, packed + n, capacity - n);
    size_t last = n;
    n += compress(text + cut, size - cut, packed + n, capacity - n);
    for (size_t piece = 100; piece <= 1 << 19; piece *= 72) {
        kn_table *t = read_path(ctx, testing_file("packed", packed, n), &comma, piece);
        assert_tables_equal(plain, t);
        kn_table_free(t);
    }
    kn_table *t = NULL;
    kn_error  err = KN_ERROR_INIT;
    for (size_t less = 1; less < n - last; less += less < 40 ? 1 : 977) { /* cut short */
        const char *path = testing_file("packed", packed, n - less);
        assert_int_equal(kn_table_read_csv(&t, ctx, path, &comma, &err), KN_INPUT);
        assert_non_null(strstr(err.message, words));
        remove(path);
        if (less > 5000) less += 50000;
    }
    for (size_t at = last + 20; at < n;
         at += 5001) { /* damaged: an error, or (in rare bytes that nothing checks) the same */
        packed[at] ^= 0x55;
        if (kn_table_read_csv(&t, ctx, testing_file("packed", packed, n), &comma, &err) == KN_OK) {
            assert_valid(t);
            kn_table_free(t);
        }
        packed[at] ^= 0x55;
    }
    memcpy(packed + n, "trailing", 8);
    assert_int_equal(kn_table_read_csv(&t, ctx, testing_file("packed", packed, n + 8), &comma, &err), KN_INPUT);
    assert_non_null(strstr(err.message, words));
    kn_table_free(plain);
    testing_context_free(ctx);
    free(text);
    free(packed);
}

static void reads_gzip(void **unused)
{
    (void)unused;
    check_compressed(gzip_member, "gzip data are damaged or cut short");
    assert_path_refused(testing_file("half.gz", "\x1f\x8b", 2), &comma, KN_INPUT, 0, 0, "gzip data");
    unsigned char out[100];
    assert_path_refused(testing_file("none.gz", out, gzip_member("", 0, out, sizeof out)), &comma, KN_INPUT, 0, 0,
                        "empty");
}

static void digests_of_plain_files_alone(void **unused)
{
    (void)unused;
    unsigned char out[100];
    char          got[2][KN_SHA256_TEXT];
    kn_table     *t = NULL;
    kn_context   *ctx = testing_context(2);
    const char   *paths[] = {testing_file("a.gz", out, gzip_member("a\n1\n", 4, out, sizeof out)),
                             testing_file("b.csv", "a\n2\n", 4)};
    assert_int_equal(kn_csv_read_digested(&t, ctx, paths, 2, &comma, got, NULL), KN_OK);
    assert_true(got[0][0] == '\0' && strlen(got[1]) == KN_SHA256_TEXT - 1);
    kn_table_free(t);
    testing_context_free(ctx);
}

static void reads_zstd(void **unused)
{
    (void)unused;
    check_compressed(zstd_frame, "zstd data are damaged or cut short");
    assert_path_refused(testing_file("half.zst", "\x28\xb5\x2f\xfd", 4), &comma, KN_INPUT, 0, 0, "zstd data");
    /* Parallel compressors put a frame to be skipped in front. */
    unsigned char skip[200] = {0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4};
    size_t        n = 12 + zstd_frame(TEXT("a,b\n1,2\n"), skip + 12, sizeof skip - 12);
    kn_context   *ctx = testing_context(1);
    kn_table     *t = read_path(ctx, testing_file("skip.zst", skip, n), &comma, 1 << 19);
    assert_int_equal(kn_table_rows(t), 1);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* Writes `data` to a pipe in dribbles from a child and makes the pipe our standard input. */
static pid_t feed(const void *data, size_t size, size_t step)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        for (size_t at = 0; at < size;) {
            size_t  n = size - at < step ? size - at : step;
            ssize_t w = write(ends[1], (const char *)data + at, n);
            if (w < 0) _exit(1);
            at += (size_t)w;
        }
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    return child;
}

static void reads_standard_input(void **unused)
{
    (void)unused;
    size_t         size, capacity = 1 << 20;
    char          *text = long_text(5000, &size);
    unsigned char *packed = malloc(capacity);
    assert_non_null(packed);
    size_t      n = gzip_member(text, size, packed, capacity);
    kn_context *ctx = testing_context(2);
    kn_table   *plain = read_path(ctx, testing_file("plain.csv", text, size), &comma, 1 << 19);
    for (int way = 0; way < 4; way++) {
        pid_t     child = way == 3 ? feed(packed, n, 97) : feed(text, size, way == 0 ? 1 << 20 : way == 1 ? 1 : 333);
        kn_table *t = read_path(ctx, "-", &comma, way == 2 ? 64 : 1 << 19);
        assert_tables_equal(plain, t);
        kn_table_free(t);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    kn_error  err = KN_ERROR_INIT;
    kn_table *t = NULL;
    pid_t     child = feed(TEXT("a,b\n1\n"), 2);
    assert_int_equal(kn_table_read_csv(&t, ctx, "-", &comma, &err), KN_INPUT);
    assert_ptr_equal(strstr(err.message, "(standard input):2:1: "), err.message);
    waitpid(child, NULL, 0);
    /* A file as standard input is read from where it stands. */
    int fd = open(testing_file("stdin.csv", TEXT("skip\na,b\n1,2\n")), O_RDONLY);
    assert_int_equal(lseek(fd, 5, SEEK_SET), 5);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
    t = read_path(ctx, "-", &comma, 1 << 19);
    assert_int_equal(kn_table_rows(t), 1);
    kn_table_free(t);
    kn_table_free(plain);
    testing_context_free(ctx);
    free(text);
    free(packed);
}

/* ---- Long records ---- */

static void reads_long_records(void **unused)
{
    (void)unused;
    size_t size = 0, lines = 100000, big = 9 << 20;
    char  *text = malloc(big + 4 * lines + 200);
    assert_non_null(text);
    size += (size_t)sprintf(text, "a,b\n1,\"");
    for (size_t i = 0; i < lines; i++) size += (size_t)sprintf(text + size, i % 3 ? "x\n" : "\"\"\r\n");
    size += (size_t)sprintf(text + size, "\"\n2,\"");
    memset(text + size, ',', big);
    text[size + big / 2] = '\n';
    size += big;
    size += (size_t)sprintf(text + size, "\"\n3,4\n");
    const char *path = testing_file("long.csv", text, size);
    for (int threads = 1; threads <= 2; threads++) {
        kn_context *ctx = testing_context(threads);
        size_t      length = 0;
        kn_table   *t = read_path(ctx, path, &comma, threads == 1 ? 1 << 19 : 4096);
        assert_int_equal(kn_table_rows(t), 3);
        kn_table_text(t, 1, kn_table_code(t, 1, 1), &length);
        assert_int_equal(length, big);
        kn_table_text(t, 1, kn_table_code(t, 1, 0), &length);
        size_t crlf = (lines + 2) / 3;
        assert_int_equal(length, 2 * (lines - crlf) + 3 * crlf);
        kn_table_free(t);
        testing_context_free(ctx);
    }
    /* Lines inside cells are lines: header, 100,000 and the rest of the first row, two of the second, then the fourth. */
    size += (size_t)sprintf(text + size, MARKER "\n");
    path = testing_file("long.csv", text, size);
    for (int threads = 1; threads <= 2; threads++) {
        kn_context *ctx = testing_context(threads);
        kn_table   *t = NULL;
        kn_error    err = KN_ERROR_INIT;
        assert_int_equal(kn_csv_read_pieces(&t, ctx, &path, 1, &comma, threads == 1 ? 1 << 19 : 5000, &err), KN_INPUT);
        assert_int_equal(err.line, 1 + (int64_t)lines + 1 + 2 + 1 + 1);
        assert_int_equal(err.column, 1);
        testing_context_free(ctx);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_bytes),
        cmocka_unit_test(refuses_bytes_of_old_encodings),
        cmocka_unit_test(refuses_grammar),
        cmocka_unit_test(refuses_headers),
        cmocka_unit_test(refuses_too_many_columns),
        cmocka_unit_test(refuses_files),
        cmocka_unit_test(refuses_options),
        cmocka_unit_test(refuses_declared_types),
        cmocka_unit_test(names_the_first_bad_row),
        testing_alone(reads_plain),
        testing_alone(reads_quotes),
        testing_alone(reads_without_header),
        testing_alone(reads_behind_blank_lines),
        cmocka_unit_test(reads_a_header_alone),
        testing_alone(reads_some_columns),
        testing_alone(reads_missing),
        testing_alone(reads_types),
        testing_alone(reads_decimal_comma_and_zone),
        cmocka_unit_test(reads_old_encodings),
        cmocka_unit_test(reads_several_files),
        cmocka_unit_test(reads_gzip),
        cmocka_unit_test(digests_of_plain_files_alone),
        cmocka_unit_test(reads_zstd),
        cmocka_unit_test(reads_standard_input),
        cmocka_unit_test(reads_long_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
