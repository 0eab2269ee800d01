/* test_cli_options.c: the command line's shared code: options, numbers, sizes, lists, table options, text for people. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "document.h"
#include "kn_rng.h"

enum { MAX_WORDS = 40 };

/* ---- A command to parse for ---- */

typedef struct sample {
    cli_common        common;
    cli_table_options table;
    bool              flag;
    const char       *text;
    cli_list          list;
    cli_list          each;
    int64_t           integer;
    double            number;
    uint64_t          size;
    char             *argv[MAX_WORDS + 1];
    int               argc;
    char              words[MAX_WORDS][64];
    char              said[4000];  /* on stderr  */
    char              shown[4000]; /* on stdout */
} sample;

static const cli_command command = {"sample", "a sample", "Usage: kanon sample\n", NULL};

static void redirect(FILE *stream, int fd, FILE **file, int *saved)
{
    fflush(stream);
    *saved = dup(fd);
    *file = tmpfile();
    assert_non_null(*file);
    assert_true(dup2(fileno(*file), fd) >= 0);
}

static void restore(FILE *stream, int fd, FILE *file, int saved, char *text, size_t size)
{
    fflush(stream);
    assert_true(dup2(saved, fd) >= 0);
    close(saved);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static bool parse_words(sample *s, int count)
{
    const cli_option options[] = {
        {"--flag", CLI_FLAG, &s->flag},   {"-t|--text", CLI_TEXT, &s->text},    {"--list", CLI_LIST, &s->list},
        {"--each", CLI_REPEAT, &s->each}, {"-k|--k", CLI_INTEGER, &s->integer}, {"--number|-n", CLI_NUMBER, &s->number},
        {"--size", CLI_SIZE, &s->size},   CLI_TABLE_OPTIONS(s->table),          {0}};
    FILE *err_file, *out_file;
    int   err_saved, out_saved;
    s->argc = count;
    for (int i = 0; i < count; i++) s->argv[i] = s->words[i];
    redirect(stderr, 2, &err_file, &err_saved);
    redirect(stdout, 1, &out_file, &out_saved);
    bool ok = cli_parse(&command, &s->argc, s->argv, options, &s->common);
    restore(stdout, 1, out_file, out_saved, s->shown, sizeof s->shown);
    restore(stderr, 2, err_file, err_saved, s->said, sizeof s->said);
    return ok;
}

/* Parses words separated by blanks; "''" is an empty one. */
static bool parse(sample *s, const char *line)
{
    char copy[1000], *rest = copy, *word;
    int  count = 0;
    *s = (sample){.integer = -99, .number = -99, .size = 99};
    snprintf(copy, sizeof copy, "%s", line);
    while ((word = strsep(&rest, " ")) != NULL)
        if (*word) snprintf(s->words[count++], sizeof s->words[0], "%s", strcmp(word, "''") == 0 ? "" : word);
    return parse_words(s, count);
}

static void done(sample *s)
{
    cli_list_free(&s->list);
    cli_list_free(&s->each);
    cli_table_options_free(&s->table);
}

/* ---- Parsing ---- */

static void every_form_of_an_option(void **state)
{
    (void)state;
    static const char *const lines[] = {"a --k 7 --text x b", "a --k=7 b --text=x", "-k 7 -t x a b", "-k7 a -tx b",
                                        "-k=7 -t=x a b"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        sample s;
        assert_true(parse(&s, lines[i]));
        assert_int_equal(s.integer, 7);
        assert_string_equal(s.text, "x");
        assert_int_equal(s.argc, 2);
        assert_string_equal(s.argv[0], "a");
        assert_string_equal(s.argv[1], "b");
        assert_string_equal(s.said, "");
        done(&s);
    }
}

static void untouched_targets_keep_their_values(void **state)
{
    (void)state;
    sample s;
    assert_true(parse(&s, ""));
    assert_int_equal(s.integer, -99);
    assert_true(s.number == -99);
    assert_int_equal(s.size, 99);
    assert_null(s.text);
    assert_false(s.flag || s.common.json || s.common.quiet || s.common.help);
    assert_int_equal(s.argc, 0);
}

static void dashes(void **state)
{
    (void)state;
    sample s;
    assert_true(parse(&s, "- --flag -- --k -7 -- -"));
    assert_true(s.flag);
    assert_int_equal(s.argc, 5);
    assert_string_equal(s.argv[0], "-");
    assert_string_equal(s.argv[1], "--k");
    assert_string_equal(s.argv[2], "-7");
    assert_string_equal(s.argv[3], "--");
    assert_string_equal(s.argv[4], "-");
    /* A value may begin with a dash, as long as it is no option. */
    assert_true(parse(&s, "--k -7 --text - --number=-1.5"));
    assert_int_equal(s.integer, -7);
    assert_string_equal(s.text, "-");
    assert_true(s.number == -1.5);
    assert_true(parse(&s, "--text=--flag"));
    assert_string_equal(s.text, "--flag");
    assert_false(s.flag);
    assert_true(parse(&s, "--text= x"));
    assert_string_equal(s.text, "");
    assert_int_equal(s.argc, 1);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"--flga", "unknown option --flga; did you mean --flag?"},
        {"--delimeter=x", "unknown option --delimeter; did you mean --delimiter?"},
        {"--mem 5", "unknown option --mem; did you mean --memory-limit?"},
        {"-flag", "unknown option -flag; did you mean --flag?"},
        {"--zzzzzz", "unknown option --zzzzzz\n"},
        {"-z", "unknown option -z\n"},
        {"--flag=yes", "--flag takes no value"},
        {"--k 1 -k 2", "-k is given twice"},
        {"--text a --text a", "--text is given twice"},
        {"--threads 1 --threads 1", "--threads is given twice"},
        {"--k", "--k needs a value"},
        {"-k", "-k needs a value"},
        {"--text --flag", "--text needs a value"},
        {"--text --k=5", "--text needs a value"},
        {"--text --json", "--text needs a value"},
        {"--k 1.5", "--k: '1.5' is not a whole number"},
        {"--k=", "--k: '' is not a whole number"},
        {"-k 9223372036854775808", "is not a whole number in range"},
        {"--number 0,5", "--number: '0,5' is not a number"},
        {"--number nan", "is not a number"},
        {"--size 5X", "--size: '5X' is not a size"},
        {"--threads 0", "--threads: a number from 1 to 1024 is needed"},
        {"--threads 1025", "--threads: a number from 1 to 1024 is needed"},
        {"--threads -1", "--threads: a number from 1 to 1024 is needed"},
        {"--memory-limit 0", "--memory-limit: a size above 0 is needed"},
        {"--list a,b --each c --na x --k q", "--k: 'q'"},
        {"--k \033[2J", "--k: '\\x1B[2J' is not"},
        {"--\033[2J", "unknown option --\\x1B[2J"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample s;
        bool   ok = parse(&s, cases[i].line);
        if (ok || !strstr(s.said, cases[i].message)) fail_msg("%s: %d, said: %s", cases[i].line, ok, s.said);
        assert_ptr_equal(strstr(s.said, "kanon: "), s.said);
        assert_non_null(strstr(s.said, "Try 'kanon sample --help'."));
        assert_null(strchr(s.said, '\033'));
        assert_null(s.list.items);
        assert_null(s.each.items);
        assert_null(s.table.na.items);
    }
}

static void common_options(void **state)
{
    (void)state;
    sample s;
    assert_true(parse(&s, "--json --json -q --threads 3 --memory-limit 1.5GiB"));
    assert_true(s.common.json && s.common.quiet);
    assert_int_equal(s.common.threads, 3);
    assert_int_equal(s.common.memory_limit, 1610612736);
    for (int i = 0; i < 2; i++) {
        assert_true(parse(&s, i ? "--list a,b -h --nonsense" : "--list a,b --help"));
        assert_true(s.common.help);
        assert_string_equal(s.shown, command.help);
        assert_string_equal(s.said, "");
        assert_null(s.list.items);
    }
}

static void lists(void **state)
{
    (void)state;
    sample s;
    assert_true(parse(&s, "--list a,b --list c\\,d,\\\\,\\t --each x,y --each ''"));
    static const char *const items[] = {"a", "b", "c,d", "\\", "\\t"};
    assert_int_equal(s.list.count, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(s.list.items[i], items[i]);
    assert_int_equal(s.each.count, 2);
    assert_string_equal(s.each.items[0], "x,y");
    assert_string_equal(s.each.items[1], "");
    done(&s);
    assert_true(parse(&s, "--list= --list ,"));
    assert_int_equal(s.list.count, 3);
    for (int i = 0; i < 3; i++) assert_string_equal(s.list.items[i], "");
    done(&s);
}

/* Items written with their escapes come back as they were. */
static void any_list_comes_back(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < 2000; round++) {
        sample s = {0};
        char   items[5][8] = {{0}}, *out = s.words[0];
        int    count = 1 + (int)kn_rng_below(&rng, 5);
        out += sprintf(out, "--list=");
        for (int i = 0; i < count; i++) {
            int length = (int)kn_rng_below(&rng, 5);
            if (i > 0) *out++ = ',';
            for (int j = 0; j < length; j++) {
                char c = "ab,\\t="[kn_rng_below(&rng, 6)];
                items[i][j] = c;
                if (c == ',' || c == '\\') *out++ = '\\';
                *out++ = c;
            }
        }
        *out = '\0';
        assert_true(parse_words(&s, 1));
        assert_int_equal(s.list.count, count);
        for (int i = 0; i < count; i++) assert_string_equal(s.list.items[i], items[i]);
        done(&s);
    }
}

/* Whatever the words are: the other arguments keep their order, and what is said is one message. */
static void random_words(void **state)
{
    (void)state;
    static const char *const vocabulary[] = {"--",     "-",        "a",         "b",      "--flag", "--k",     "-k",
                                             "-k5",    "--k=6",    "7",         "-8",     "--list", "x,y",     "--text",
                                             "-t=",    "--list=",  "--threads", "--size", "2G",     "--each",  "=",
                                             "--=",    "-=",       "---",       "",       "--na",   "--no-na", "--type",
                                             "c:text", "--number", "1e3",       "--k5"};
    enum { WORDS = sizeof vocabulary / sizeof *vocabulary };
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    int accepted = 0;
    for (int round = 0; round < 20000; round++) {
        sample s = {0};
        int    count = (int)kn_rng_below(&rng, 8);
        for (int i = 0; i < count; i++) strcpy(s.words[i], vocabulary[kn_rng_below(&rng, WORDS)]);
        bool ok = parse_words(&s, count);
        accepted += ok;
        assert_int_equal(ok, s.said[0] == '\0');
        if (ok) {
            assert_in_range(s.argc, 0, count);
            for (int i = 1; i < s.argc; i++) assert_true(s.argv[i - 1] < s.argv[i]);
            done(&s);
        } else {
            char *newline = strchr(s.said, '\n');
            assert_non_null(newline);
            assert_string_equal(newline + 1, "Try 'kanon sample --help'.\n");
        }
    }
    assert_in_range(accepted, 2000, 18000);
}

/* ---- Numbers ---- */

static void numbers_are_strict(void **state)
{
    (void)state;
    static const char *const bad_integers[] = {"",
                                               "-",
                                               "+",
                                               " 1",
                                               "1 ",
                                               "1.0",
                                               "1e3",
                                               "0x10",
                                               "--1",
                                               "+-1",
                                               "1,000",
                                               "9223372036854775808",
                                               "-9223372036854775809",
                                               "١"};
    static const char *const bad_numbers[] = {"",    "-",     ".",     "e5", " 1", "1 ",    "1,5", "inf",     "-inf",
                                              "nan", "0x1p3", "1e999", "1e", "1-", "1.2.3", "++1", "infinity"};
    static const char *const bad_sizes[] = {"",
                                            "-1",
                                            "+1",
                                            "M",
                                            ".5G",
                                            "1.G",
                                            "1.5.5G",
                                            "1 G",
                                            " 1G",
                                            "1G ",
                                            "1GBB",
                                            "1iB",
                                            "1P",
                                            "0x1G",
                                            "1e3",
                                            "1Gib1",
                                            "18446744073709551616",
                                            "18014398509481984Ki",
                                            "16777216Ti",
                                            "18446744073709551615.9"};
    int64_t                  integer;
    double                   number;
    uint64_t                 size;
    for (size_t i = 0; i < sizeof bad_integers / sizeof *bad_integers; i++)
        if (cli_parse_integer(bad_integers[i], &integer)) fail_msg("integer: %s", bad_integers[i]);
    for (size_t i = 0; i < sizeof bad_numbers / sizeof *bad_numbers; i++)
        if (cli_parse_number(bad_numbers[i], &number)) fail_msg("number: %s", bad_numbers[i]);
    for (size_t i = 0; i < sizeof bad_sizes / sizeof *bad_sizes; i++)
        if (cli_parse_size(bad_sizes[i], &size)) fail_msg("size: %s", bad_sizes[i]);
    assert_true(cli_parse_integer("-9223372036854775808", &integer) && integer == INT64_MIN);
    assert_true(cli_parse_integer("+0012", &integer) && integer == 12);
    assert_true(cli_parse_number("-.5e-1", &number) && number == -0.05);
    assert_true(cli_parse_number("5.", &number) && number == 5);
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t    bytes;
    } cases[] = {
        {"0", 0},
        {"123", 123},
        {"7B", 7},
        {"500M", 500000000},
        {"2G", 2000000000},
        {"2g", 2000000000},
        {"1.5GiB", 1610612736},
        {"1.1k", 1100},
        {"0.5Ki", 512},
        {"1KiB", 1024},
        {"1kb", 1000},
        {"1.05MB", 1050000},
        {"2Ti", 2199023255552},
        {"1T", 1000000000000},
        {"0.3", 0},
        {"18446744073709551615", UINT64_MAX},
        {"16383.5Ki", 16776704},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 1;
        if (!cli_parse_size(cases[i].text, &bytes) || bytes != cases[i].bytes)
            fail_msg("%s: %" PRIu64, cases[i].text, bytes);
    }
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 2);
    for (int round = 0; round < 20000; round++) {
        /* Thousandths of a unit are whole in the next smaller unit: exact arithmetic without doubles. */
        static const char *const units[] = {"k", "M", "GB", "T"};
        char                     text[64];
        uint64_t                 thousandths = kn_rng_below(&rng, 1000000), expected = thousandths, bytes;
        size_t                   unit = kn_rng_below(&rng, 4);
        for (size_t i = 0; i < unit; i++) expected *= 1000;
        snprintf(text, sizeof text, "%" PRIu64 ".%03" PRIu64 "%s", thousandths / 1000, thousandths % 1000, units[unit]);
        assert_true(cli_parse_size(text, &bytes));
        if (bytes != expected) fail_msg("%s: %" PRIu64, text, bytes);
    }
}

static void nearest_names(void **state)
{
    (void)state;
    static const char *const names[] = {"profile", "diagnose", "hierarchy", "generate", "help", NULL};
    static const struct {
        const char *word, *near;
    } cases[] = {{"profil", "profile"},
                 {"porfile", "profile"},
                 {"diagnosis", "diagnose"},
                 {"gen", "generate"},
                 {"hlep", "help"},
                 {"heirarchy", "hierarchy"},
                 {"anonymize", NULL},
                 {"x", NULL},
                 {"", NULL},
                 {"profileprofileprofileprofileprofileprofileprofileprofileprofileprofile", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *near = cli_nearest(cases[i].word, names);
        if (!near != !cases[i].near || (near && strcmp(near, cases[i].near) != 0))
            fail_msg("%s: %s", cases[i].word, near ? near : "none");
    }
}

/* ---- Table options ---- */

static bool table_options(const char *line, kn_csv_options *csv, cli_column_types *types, sample *s)
{
    FILE *file;
    int   saved;
    if (!parse(s, line)) fail_msg("%s: %s", line, s->said);
    redirect(stderr, 2, &file, &saved);
    bool ok = cli_table_csv_options(csv, &s->table, types);
    restore(stderr, 2, file, saved, s->said, sizeof s->said);
    if (!ok) done(s);
    return ok;
}

static void table_options_are_read(void **state)
{
    (void)state;
    kn_csv_options   csv;
    cli_column_types types;
    sample           s;
    assert_true(table_options("", &csv, &types, &s));
    assert_int_equal(csv.size, sizeof csv);
    assert_int_equal(csv.delimiter, 0);
    assert_int_equal(csv.decimal, '.');
    assert_null(csv.na);
    assert_null(csv.types);
    assert_true(table_options("-d ; --no-header --encoding Windows-1252 --decimal , --timezone Europe/Athens --na '' "
                              "--na ?,x",
                              &csv, &types, &s));
    assert_int_equal(csv.delimiter, ';');
    assert_true(csv.no_header);
    assert_int_equal(csv.encoding, KN_ENCODING_WINDOWS_1252);
    assert_int_equal(csv.decimal, ',');
    assert_string_equal(csv.timezone, "Europe/Athens");
    assert_int_equal(csv.na_count, 3);
    assert_string_equal(csv.na[0], "");
    assert_string_equal(csv.na[1], "?");
    assert_string_equal(csv.na[2], "x");
    done(&s);
    assert_true(table_options("--no-na --delimiter tab --encoding latin-1", &csv, &types, &s));
    assert_non_null(csv.na);
    assert_int_equal(csv.na_count, 0);
    assert_int_equal(csv.delimiter, '\t');
    assert_int_equal(csv.encoding, KN_ENCODING_LATIN_1);
    assert_true(table_options("-d \\t", &csv, &types, &s));
    assert_int_equal(csv.delimiter, '\t');
}

static void column_types(void **state)
{
    (void)state;
    static const struct {
        const char *text, *column, *format;
        kn_type     type;
    } cases[] = {
        {"zip:text", "zip", NULL, KN_TYPE_TEXT},
        {"a,b:integer", "a,b", NULL, KN_TYPE_INTEGER},
        {"born:date:%d/%m/%Y", "born", "%d/%m/%Y", KN_TYPE_DATE},
        {"t:datetime:%H:%M", "t", "%H:%M", KN_TYPE_DATETIME},
        {"a:b:decimal", "a:b", NULL, KN_TYPE_DECIMAL},
        {"a:text:integer", "a:text", NULL, KN_TYPE_INTEGER}, /* text takes no format */
        {"a:date:text", "a", "text", KN_TYPE_DATE},
        {"a\\:date:text", "a:date", NULL, KN_TYPE_TEXT},
        {"a\\\\:text", "a\\", NULL, KN_TYPE_TEXT},
        {"C\\x:text", "C\\x", NULL, KN_TYPE_TEXT},
    };
    kn_csv_options   csv;
    cli_column_types types;
    sample           s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[100];
        snprintf(line, sizeof line, "--type %s --type other:integer", cases[i].text);
        assert_true(table_options(line, &csv, &types, &s));
        assert_int_equal(csv.type_count, 2);
        assert_string_equal(csv.types[0].column, cases[i].column);
        assert_int_equal(csv.types[0].type, cases[i].type);
        if (cases[i].format)
            assert_string_equal(csv.types[0].format, cases[i].format);
        else
            assert_null(csv.types[0].format);
        cli_column_types_free(&types);
        done(&s);
    }
}

static void wrong_table_options(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--delimiter ''",
        "--delimiter ab",
        "--delimiter \"",
        "--delimiter \n",
        "--delimiter é",
        "--delimiter \xE9",
        "--encoding utf-16",
        "--encoding ''",
        "--decimal ;",
        "--decimal ''",
        "-d , --decimal ,",
        "--na x --no-na",
        "--type zip",
        "--type :text",
        "--type zip:number",
        "--type zip:",
        "--type zip:text:x",
        "--type d:date:",
        "--type a:text --type a:integer",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        kn_csv_options   csv;
        cli_column_types types;
        sample           s;
        if (table_options(lines[i], &csv, &types, &s)) fail_msg("accepted: %s", lines[i]);
        assert_ptr_equal(strstr(s.said, "kanon: --"), s.said);
        assert_null(types.items);
    }
}

static bool read_table(kn_table **table, sample *s, char *const *paths, int count, const char *const *columns,
                       int column_count, int *code)
{
    FILE       *file;
    int         saved;
    kn_context *ctx = testing_context(2);
    redirect(stderr, 2, &file, &saved);
    bool ok = cli_table_read(table, ctx, &s->table, paths, count, columns, column_count, code);
    restore(stderr, 2, file, saved, s->said, sizeof s->said);
    if (ok) {
        assert_int_equal(kn_table_rows(*table), 4);
        assert_int_equal(kn_table_columns(*table), column_count ? column_count : 3);
        assert_int_equal(kn_table_missing(*table, 0), 1);
        if (!columns) assert_int_equal(kn_table_type(*table, 1), KN_TYPE_TEXT);
        kn_table_free(*table);
    } else {
        assert_null(*table);
    }
    done(s);
    testing_context_free(ctx);
    return ok;
}

static void tables_are_read(void **state)
{
    (void)state;
    static const char        first[] = "a;b;c\n?;01;1,5\n2;2;2,5\n", second[] = "a;b;c\n3;01;1,5\n2;2;2,5\n";
    static const char *const only[] = {"a", "c"};
    static const char        line[] = "-d ; --decimal , --na ? --type b:text";
    char                     no_such[] = "no/such.csv", standard[] = "-";
    char                    *paths[] = {strdup(testing_file("first.csv", first, sizeof first - 1)),
                                        strdup(testing_file("second.csv", second, sizeof second - 1)), standard, standard, no_such};
    const struct {
        const char *line;
        int         from, count, code;
        const char *message;
    } wrong[] = {{line, 0, 0, 2, "kanon: an input FILE is needed"},
                 {line, 2, 2, 2, "kanon: standard input ('-') can be read once only"},
                 {line, 4, 1, 2, "no/such.csv"},
                 {"--decimal x", 4, 1, 2, "--decimal"}}; /* told before the file is looked for */
    kn_table *table;
    int       code;
    sample    s;

    assert_true(parse(&s, line));
    assert_true(read_table(&table, &s, paths, 2, NULL, 0, &code));
    assert_int_equal(code, 0);
    assert_string_equal(s.said, "");
    assert_true(parse(&s, "-d ; --decimal , --na ?"));
    assert_true(read_table(&table, &s, paths, 2, only, 2, &code));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_true(parse(&s, wrong[i].line));
        assert_false(read_table(&table, &s, paths + wrong[i].from, wrong[i].count, NULL, 0, &code));
        if (code != wrong[i].code || !strstr(s.said, wrong[i].message)) fail_msg("exit code %d: %s", code, s.said);
    }
    free(paths[0]);
    free(paths[1]);
}

/* ---- Text ---- */

static void assert_escaped(const char *text, const char *expected)
{
    char *escaped = cli_escape(text, strlen(text));
    assert_string_equal(escaped, expected);
    free(escaped);
}

static void escaping(void **state)
{
    (void)state;
    assert_escaped("", "");
    assert_escaped("plain äöü 漢字 e\xCC\x81", "plain äöü 漢字 e\xCC\x81");
    assert_escaped("a\nb\tc\r\033[31m\x7F", "a\\nb\\tc\\x0D\\x1B[31m\\x7F");
    assert_escaped("\xC2\x9B"
                   "31m",
                   "\\u009B31m"); /* a one-character escape sequence */
    assert_escaped("\xE2\x80\xAE"
                   "abc",
                   "\\u202Eabc");             /* turns the line around           */
    assert_escaped("\xE2\x82", "\\xE2\\x82"); /* cut short                       */
    assert_escaped("\xFF\xC0\x80", "\\xFF\\xC0\\x80");
    char *nul = cli_escape("a\0b", 3);
    assert_string_equal(nul, "a\\x00b");
    free(nul);

    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < 20000; round++) {
        char   bytes[12];
        size_t length = kn_rng_below(&rng, sizeof bytes + 1);
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)(kn_rng_below(&rng, 2) ? kn_rng_below(&rng, 256)
                                                    : (uint64_t) "\xE2\x80\xAA\xC2\x85 a\033"[kn_rng_below(&rng, 8)]);
        char *escaped = cli_escape(bytes, length), *twice = cli_escape(escaped, strlen(escaped));
        assert_string_equal(escaped, twice); /* nothing unsafe is left */
        for (char *p = escaped; *p; p++) assert_false((unsigned char)*p < 0x20 || *p == 0x7F);
        free(escaped);
        free(twice);
    }
}

static void widths_and_numbers(void **state)
{
    (void)state;
    assert_int_equal(cli_text_width(""), 0);
    assert_int_equal(cli_text_width("abc"), 3);
    assert_int_equal(cli_text_width("äé"), 2);
    assert_int_equal(cli_text_width("漢字"), 4);
    assert_int_equal(cli_text_width("e\xCC\x81x"), 2);

    char buffer[CLI_NUMBER_SIZE];
    assert_string_equal(cli_format_integer(buffer, 0), "0");
    assert_string_equal(cli_format_integer(buffer, 999), "999");
    assert_string_equal(cli_format_integer(buffer, -1000), "-1,000");
    assert_string_equal(cli_format_integer(buffer, 30162), "30,162");
    assert_string_equal(cli_format_integer(buffer, INT64_MIN), "-9,223,372,036,854,775,808");
    assert_string_equal(cli_format_bytes(buffer, 999), "999 B");
    assert_string_equal(cli_format_bytes(buffer, 1000), "1.0 kB");
    assert_string_equal(cli_format_bytes(buffer, 999949), "999.9 kB");
    assert_string_equal(cli_format_bytes(buffer, 999999), "1.0 MB");
    assert_string_equal(cli_format_bytes(buffer, UINT64_MAX), "18.4 EB");

    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 4);
    for (int round = 0; round < 20000; round++) {
        int64_t value = (int64_t)(kn_rng_next(&rng) >> kn_rng_below(&rng, 64)), back;
        char    plain[CLI_NUMBER_SIZE], *out = plain;
        for (const char *p = cli_format_integer(buffer, value); *p; p++)
            if (*p != ',') *out++ = *p;
        *out = '\0';
        assert_true(cli_parse_integer(plain, &back));
        assert_int_equal(back, value);
    }
}

static void bars(void **state)
{
    (void)state;
    char bar[CLI_BAR_SIZE(10)];
    setenv("LC_ALL", "C", 1);
    assert_false(cli_utf8());
    assert_string_equal(cli_bar(bar, 0, 10), "");
    assert_string_equal(cli_bar(bar, 0.0001, 10), "#");
    assert_string_equal(cli_bar(bar, 0.5, 10), "#####");
    assert_string_equal(cli_bar(bar, 7, 10), "##########");
    assert_string_equal(cli_bar(bar, -1, 10), "");
    assert_string_equal(cli_bar(bar, 0.0 / (cli_utf8() ? 1.0 : 0.0), 10), ""); /* not a number */
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_true(cli_utf8());
    assert_string_equal(cli_bar(bar, 0, 10), "");
    assert_string_equal(cli_bar(bar, 0.0001, 10), "▏");
    assert_string_equal(cli_bar(bar, 0.25, 10), "██▌");
    assert_string_equal(cli_bar(bar, 1, 10), "██████████");
    for (int i = 1; i <= 80; i++) assert_int_equal(cli_text_width(cli_bar(bar, i / 80.0, 10)), (i + 7) / 8);
    unsetenv("LC_ALL");
}

static void aligned_columns(void **state)
{
    (void)state;
    static const char *const titles[] = {"column", "rows", "remark"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_LEFT};
    char                    *text;
    size_t                   size;
    FILE                    *file = open_memstream(&text, &size);
    assert_non_null(file);
    cli_text_table *table = cli_text_table_new(3, titles, aligns);
    cli_text_table_text(table, "漢字");
    cli_text_table_integer(table, 1234567);
    cli_text_table_format(table, "%d%%", 50);
    cli_text_table_bytes(table, "a\nbXX", 3);
    cli_text_table_integer(table, 5);
    cli_text_table_text(table, NULL);
    cli_text_table_text(table, "last");
    cli_text_table_print(table, file, 2);
    cli_text_table_free(table);
    fclose(file);
    assert_string_equal(text, "  column       rows  remark\n"
                              "  漢字    1,234,567  50%\n"
                              "  a\\nb            5\n"
                              "  last\n");
    free(text);

    file = open_memstream(&text, &size);
    table = cli_text_table_new(1, NULL, aligns);
    cli_text_table_print(table, file, 0);
    cli_text_table_free(table);
    fclose(file);
    assert_string_equal(text, "");
    free(text);
}

static void messages(void **state)
{
    (void)state;
    static const struct {
        kn_error    err;
        int         code;
        const char *text;
    } cases[] = {
        {{KN_INPUT, 3, 0, "f.csv:3: \033[1m"}, 2, "kanon: f.csv:3: \\x1B[1m\n"},
        {{KN_UNMET, 0, 0, "it does not hold"}, 1, "kanon: it does not hold\n"},
        {{KN_MEMORY, 0, 0, ""}, 3, "kanon: out of memory\n"},
        {{KN_CANCELLED, 0, 0, "anything"}, 3, "kanon: stopped\n"},
        {{KN_INTERNAL, 0, 0, "x"}, 3, "kanon: internal error: x\n"},
    };
    char  said[200];
    FILE *file;
    int   saved;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        redirect(stderr, 2, &file, &saved);
        int code = cli_fail(&cases[i].err);
        restore(stderr, 2, file, saved, said, sizeof said);
        assert_int_equal(code, cases[i].code);
        assert_string_equal(said, cases[i].text);
    }
    for (int quiet = 0; quiet < 2; quiet++) {
        cli_common common = {.quiet = quiet};
        redirect(stderr, 2, &file, &saved);
        cli_done(&common, "column %s", "a\tb");
        restore(stderr, 2, file, saved, said, sizeof said);
        assert_string_equal(said, quiet ? "" : "kanon: note: column a\\tb\n");
    }
    assert_int_equal(cli_notes()->count, 0);
    redirect(stderr, 2, &file, &saved);
    cli_note("column %s", "c\td");
    restore(stderr, 2, file, saved, said, sizeof said);
    assert_string_equal(said, "kanon: note: column c\\td\n");
    assert_int_equal(cli_notes()->count, 1);
    assert_string_equal(cli_notes()->items[0], "column c\\td");
}

static void json_output(void **state)
{
    (void)state;
    char         shown[400];
    FILE        *file;
    int          saved;
    kn_error     err = KN_ERROR_INIT;
    cli_common   common = {.json = true};
    kn_document *doc = NULL;
    kn_context  *ctx = testing_context(1);
    kn_status    made = kn_document_generate(&doc, ctx, "a\"b\n", 30162, 0, "\xFFx", &err);
    redirect(stdout, 1, &file, &saved);
    int code = cli_answer(&common, made, doc, &err, NULL);
    restore(stdout, 1, file, saved, shown, sizeof shown);
    testing_context_free(ctx);
    assert_int_equal(code, 0);
    assert_string_equal(shown, "{\n  \"answer\": \"generate\",\n  \"kind\": \"a\\\"b\\n\",\n  \"rows\": 30162,\n"
                               "  \"seed\": 0,\n  \"output\": \"\\\\xFFx\",\n"
                               "  \"notes\": [\n    \"column c\\\\td\"\n  ]\n}\n");
}

/* ---- Ctrl-C ---- */

/* A child that never stops by itself: tells by one byte that it is ready, and by another that it saw the first stroke. */
static void run_stubborn_child(int report)
{
    cli_common  common = {.quiet = true};
    kn_context *ctx = cli_context(&common);
    bool        told = false;
    if (!ctx || write(report, "r", 1) != 1) _exit(99);
    for (;;) {
        usleep(10000);
        if (cli_stopped() && !told) told = write(report, "s", 1) == 1;
    }
}

static void second_stroke_ends_the_program(void **state)
{
    (void)state;
    int  ends[2], status;
    char byte = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        run_stubborn_child(ends[1]);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    kill(child, SIGINT);
    kill(child, SIGTERM); /* the same stroke, passed on by a wrapper */
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(byte, 's');
    usleep(200000);
    kill(child, SIGHUP); /* never the second stroke */
    usleep(100000);
    assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    kill(child, SIGINT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_an_option),
        cmocka_unit_test(untouched_targets_keep_their_values),
        cmocka_unit_test(dashes),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(common_options),
        cmocka_unit_test(lists),
        cmocka_unit_test(any_list_comes_back),
        cmocka_unit_test(random_words),
        cmocka_unit_test(numbers_are_strict),
        cmocka_unit_test(sizes),
        cmocka_unit_test(nearest_names),
        cmocka_unit_test(table_options_are_read),
        cmocka_unit_test(column_types),
        cmocka_unit_test(wrong_table_options),
        cmocka_unit_test(tables_are_read),
        cmocka_unit_test(escaping),
        cmocka_unit_test(widths_and_numbers),
        cmocka_unit_test(bars),
        cmocka_unit_test(aligned_columns),
        cmocka_unit_test(messages),
        cmocka_unit_test(json_output),
        cmocka_unit_test(second_stroke_ends_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
