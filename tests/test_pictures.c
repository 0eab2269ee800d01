/* test_pictures.c: the text pictures of `kanon diagnose`: exact on small examples, within the width of a terminal, in
 * ASCII where the locale is not UTF-8.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_rng.h"
#include "pictures.h"

static void locale(const char *name)
{
    assert_int_equal(setenv("LC_ALL", name, 1), 0);
}

/* What was written to a temporary file, as a new string. */
static char *content(FILE *out)
{
    long size = ftell(out);
    assert_true(size >= 0);
    rewind(out);
    char *text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, out), (size_t)size);
    fclose(out);
    return text;
}

/* Pictures are drawn from documents; the table is there for notes alone. */
static kn_context *ctx;
static kn_table   *table;

static int begin(void **state)
{
    kn_error err = KN_ERROR_INIT;
    (void)state;
    ctx = testing_context(1);
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("one.csv", "x\n1\n", 4), NULL, &err), err);
    return 0;
}

static int end(void **state)
{
    (void)state;
    kn_table_free(table);
    testing_context_free(ctx);
    return 0;
}

static char *staircase(const kn_diagnosis *d)
{
    kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
    kn_diagnose_answers a = KN_DIAGNOSE_ANSWERS_INIT;
    kn_document        *doc = NULL;
    kn_error            err = KN_ERROR_INIT;
    FILE               *out = tmpfile();
    assert_non_null(out);
    a.options = &o;
    a.diagnosis = d;
    assert_ok(kn_document_diagnose(&doc, ctx, table, &a, &err), err);
    cli_picture_staircase(kn_document_find(doc, "histogram"), out);
    kn_document_free(doc);
    return content(out);
}

static char *lattice(const kn_sets_diagnosis *d, const char *const *names, int n, int64_t k, bool at_most)
{
    kn_sets_options o = KN_SETS_OPTIONS_INIT;
    kn_sets_answers a = KN_SETS_ANSWERS_INIT;
    kn_document    *doc = NULL;
    kn_error        err = KN_ERROR_INIT;
    FILE           *out = tmpfile();
    assert_non_null(out);
    o.over = names;
    o.over_count = n;
    o.k = k;
    o.at_most = at_most;
    a.options = &o;
    a.sets = d;
    assert_ok(kn_document_diagnose_sets(&doc, ctx, table, &a, &err), err);
    cli_picture_lattice(kn_document_find(doc, ""), out);
    kn_document_free(doc);
    return content(out);
}

/* No line wider than a terminal, none that ends with a blank. */
static void check_lines(const char *text, bool ascii)
{
    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        char *copy = strndup(line, (size_t)(end - line));
        assert_non_null(copy);
        if (cli_text_width(copy) > 80) fail_msg("too wide: %s", copy);
        if (end > line && end[-1] == ' ') fail_msg("ends with a blank: %s", copy);
        for (const char *p = copy; ascii && *p; p++) assert_true((unsigned char)*p < 0x80);
        free(copy);
    }
}

/* ---- Staircase ---- */

static kn_diagnosis diagnosis_of(kn_size_count *sizes, int64_t count)
{
    kn_diagnosis d = {.size_count = count, .sizes = sizes};
    for (int64_t i = 0; i < count; i++) d.rows += sizes[i].rows = sizes[i].size * sizes[i].classes;
    return d;
}

static void small_staircase(void **state)
{
    (void)state;
    kn_size_count sizes[] = {{1, 10, 0}, {10, 1, 0}, {100, 1, 0}};
    kn_diagnosis  d = diagnosis_of(sizes, 3);
    locale("C");
    char *text = staircase(&d);
    /* Half of what may go, ten rows of 120, raises k from 1 to 10; the other half to 100. */
    assert_string_equal(text, "    k\n"
                              "  100 |                                                               +\n"
                              "      |                                                               |\n"
                              "      |                                                               |\n"
                              "      |                                                               |\n"
                              "   10 |                                +------------------------------+\n"
                              "      |                                |\n"
                              "      |                                |\n"
                              "      |                                |\n"
                              "      |                                |\n"
                              "    1 |--------------------------------+\n"
                              "      +----------------------------------------------------------------\n"
                              "       0 %                           8.3 %                         17 %\n"
                              "       share of the rows removed\n");
    free(text);
    locale("C.UTF-8");
    text = staircase(&d);
    assert_non_null(strstr(text, "  100 ┤"));
    assert_non_null(strstr(text, "─┘\n"));
    free(text);
    d = diagnosis_of(sizes, 1);
    text = staircase(&d);
    assert_string_equal(text, "");
    free(text);
}

static void many_staircases(void **state)
{
    (void)state;
    kn_rng         rng;
    kn_size_count *sizes = calloc(100000, sizeof *sizes);
    assert_non_null(sizes);
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < testing_rounds(200); round++) {
        int64_t count = 2 + (int64_t)kn_rng_below(&rng, round == 0 ? 99998 : 60), size = 0;
        for (int64_t i = 0; i < count; i++) {
            size += 1 + (int64_t)kn_rng_below(&rng, (uint64_t)1 << kn_rng_below(&rng, 24));
            sizes[i] = (kn_size_count){size, 1 + (int64_t)kn_rng_below(&rng, 9), 0};
        }
        kn_diagnosis d = diagnosis_of(sizes, count);
        locale(round % 2 ? "C" : "C.UTF-8");
        char *text = staircase(&d), number[CLI_NUMBER_SIZE], *line = text;
        check_lines(text, round % 2);
        /* Both ends are named, and the line reaches both: the last column of the top, the first of the bottom. */
        line = strchr(line, '\n') + 1;
        cli_format_integer(number, size);
        assert_true(strncmp(line + strspn(line, " "), number, strlen(number)) == 0);
        char *end = strchr(line, '\n');
        *end = '\0';
        assert_true(cli_text_width(line) >= 64);
        for (int i = 0; i < 9; i++) line = (i == 0 ? end : strchr(line, '\n')) + 1;
        cli_format_integer(number, sizes[0].size);
        assert_true(strncmp(line + strspn(line, " "), number, strlen(number)) == 0);
        const char *axis = strstr(line, round % 2 ? "|" : "┤") + (round % 2 ? 1 : 3);
        assert_true(*axis != ' ' && *axis != '\n');
        free(text);
    }
    free(sizes);
}

/* ---- Attribute sets ---- */

static int               columns[] = {0, 1, 2, 3, 4, 5};
static int               ac[] = {0, 2};
static const char *const given[] = {"sex", "race", "a\x1b[1mge", "zip", "work", "town", "more", "and more"};

static void small_lattice(void **state)
{
    (void)state;
    kn_column_set     minimal[] = {{1, columns + 1}, {2, ac}}, maximal[] = {{1, columns}, {1, columns + 2}};
    kn_sets_diagnosis d = {.rows = 9,
                           .complete = true,
                           .minimal_count = 2,
                           .maximal_count = 2,
                           .minimal_violating = minimal,
                           .maximal = maximal};
    locale("C");
    char *text = lattice(&d, given, 3, 5, false);
    assert_string_equal(text, "  A sex  B race  C a\\x1B[1mge\n\n"
                              "  1 column   +[A] -[B] +[C]\n"
                              "  2 columns  -AB -[AC] -BC\n"
                              "  3 columns  -ABC\n"
                              "\n  + at least 5   - fewer\n"
                              "  [ ] the border: the largest that hold, the smallest that do not\n");
    free(text);
    locale("C.UTF-8");
    text = lattice(&d, given, 3, 4, true); /* the same borders, read the other way */
    assert_non_null(strstr(text, "1 column   ●[A] ○[B] ●[C]"));
    assert_non_null(strstr(text, "at least 5"));
    free(text);
    /* Cut short: only what follows is known. */
    locale("C");
    d.maximal_count = 0;
    d.complete = false;
    text = lattice(&d, given, 3, 5, false);
    assert_non_null(strstr(text, "1 column   ?A -[B] ?C\n"));
    assert_non_null(strstr(text, "2 columns  -AB -AC -BC\n"));
    assert_non_null(strstr(text, "? not known"));
    free(text);
}

static void listed_lattice(void **state)
{
    (void)state;
    kn_set_answer answers[] = {
        {{1, columns}, 1234, 0, 0, NULL}, {{1, columns + 1}, 12, 0, 0, NULL}, {{2, columns}, 1, 0, 0, NULL}};
    kn_sets_diagnosis d = {.rows = 9000, .complete = true, .set_count = 3, .sets = answers};
    locale("C");
    char *text = lattice(&d, given, 2, 0, false);
    assert_string_equal(text, "  A sex  B race\n\n"
                              "  1 column   +[A:1,234] +[B:12]\n"
                              "  2 columns  -[AB:1]\n"
                              "\n  + nobody stands alone   - somebody does   the number is k\n"
                              "  [ ] the border: the largest that hold, the smallest that do not\n");
    free(text);
    /* Larger sets were not looked at. */
    d.set_count = 2;
    text = lattice(&d, given, 2, 0, false);
    assert_non_null(strstr(text, "2 columns  ?AB\n"));
    free(text);
}

/* Every size of list; the counts per level against asking each set. */
static void all_widths(void **state)
{
    (void)state;
    static int         members[60];
    static char        texts[60][40];
    static const char *many[60];
    kn_rng             rng;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int i = 0; i < 60; i++) {
        members[i] = i;
        snprintf(texts[i], sizeof texts[i], "a longish name of column %d", i);
        many[i] = texts[i];
    }
    for (int n = 1; n <= 60; n = n < 14 ? n + 1 : n + 23) {
        /* Sets break when they hold columns f and f + 1, or the last one. */
        int               f = n > 2 ? (int)kn_rng_below(&rng, (uint64_t)n - 2) : 0;
        kn_column_set     minimal[] = {{1, members + n - 1}, {2, members + f}};
        kn_sets_diagnosis d = {
            .rows = 9, .complete = false, .minimal_count = n > 2 ? 2 : 1, .minimal_violating = minimal};
        locale("C.UTF-8");
        char *text = lattice(&d, many, n, 3, false);
        check_lines(text, false);
        assert_true(strlen(text) > 20);
        int64_t breaks[21] = {0}, sets[21] = {0};
        for (uint32_t set = 1; n > 6 && n <= 20 && set < (uint32_t)1 << n; set++) {
            sets[__builtin_popcount(set)]++;
            breaks[__builtin_popcount(set)] += (set >> (n - 1) & 1) || ((set >> f & 1) && (set >> (f + 1) & 1));
        }
        char *line = strchr(text, '\n') + 1;
        for (int level = 1; n > 6 && n <= 20 && level <= n; level++, line = strchr(line, '\n') + 1) {
            int  got[5];
            char plain[200];
            int  used = 0;
            for (const char *p = line; *p != '\n' && used < 199; p++)
                if (*p != ',') plain[used++] = *p;
            plain[used] = '\0';
            assert_int_equal(sscanf(plain, "%d %d %d %d %d", &got[0], &got[1], &got[2], &got[3], &got[4]), 5);
            assert_int_equal(got[0], level);
            assert_int_equal(got[1], sets[level]);
            assert_int_equal(got[3], breaks[level]);
            assert_int_equal(got[2] + got[4], sets[level] - breaks[level]);
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_staircase), cmocka_unit_test(many_staircases), cmocka_unit_test(small_lattice),
        cmocka_unit_test(listed_lattice),  cmocka_unit_test(all_widths),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
