/* cmd_dependencies.c: `kanon dependencies`: do dependencies hold, which ones are there, what follows from them? */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"

static const char help[] =
    "Usage: kanon dependencies FILE... --check 'a, b -> c' | --discover [OPTION...]\n"
    "\n"
    "What some columns say about others. Checks dependencies, counting groups and rows\n"
    "that break them, or finds all minimal functional dependencies of a table:\n"
    "\n"
    "  a, b -> c   functional: rows that agree on a and b agree on c\n"
    "  a ->> b     multivalued: with one a, every b occurs with every rest of the row\n"
    "  a -3-> b    multiset: with one a, every b that occurs occurs at least 3 times\n"
    "\n"
    "A name with a comma, an arrow or outer blanks stands in quotes: '\"a, b\" -> c'. A\n"
    "missing cell is a value of its own. With --json, the list `dependencies` can stand in\n"
    "a release file as it is.\n"
    "\n"
    "Options:\n"
    "      --check RULE         check a dependency; repeatable\n"
    "      --check-file FILE    check those in a file, one on each line; # begins a comment\n"
    "      --discover           find all minimal functional dependencies\n"
    "      --error SHARE        ... with at most this share of rows as exceptions: 0.01, 1%\n"
    "      --max-left N         ... with at most N columns on the left\n"
    "      --columns LIST       ... among these columns (default: all; at most 64)\n"
    "      --time-limit SECONDS stop then, with what was found (for --discover)\n"
    "      --cover              a minimal cover instead of all that holds\n"
    "      --closure LIST       what these columns determine, by all that holds\n"
    "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon dependencies people.csv --check 'education -> salary-class' --check 'race -5-> sex'\n"
    "  $ kanon dependencies people.csv --discover --error 5% --max-left 2\n";

/* The questions and their answers. */
typedef struct asking {
    cli_common            common;
    cli_table_options     input;
    cli_list              checks, columns, closure_of;
    const char           *check_file, *error;
    bool                  discover, covered;
    int64_t               max_left;
    double                time_limit;
    kn_discover_options   options;
    kn_table             *table;
    int                   given_count; /* to be checked, in the order given */
    kn_dependency       **given;
    kn_dependency_check  *checked;
    kn_discovery         *discovery;
    kn_dependency_list   *found, *cover;
    kn_name_list         *closure;
    int                   held_count; /* those that hold, given and found */
    const kn_dependency **held;
} asking;

/* ---- What is to be checked ---- */

static void add_given(asking *a, kn_dependency *one)
{
    a->given = cli_realloc(a->given, ((size_t)a->given_count + 1) * sizeof(kn_dependency *));
    a->given[a->given_count++] = one;
}

static int read_lines(asking *a, kn_context *ctx, FILE *file)
{
    char  *line = NULL;
    size_t size = 0;
    int    code = 0;
    for (long number = 1; code == 0 && getline(&line, &size, file) >= 0; number++) {
        size_t         blanks = strspn(line, " \t\r\n");
        kn_dependency *one = NULL;
        kn_error       err = KN_ERROR_INIT, whole = KN_ERROR_INIT;
        if (line[blanks] == '\0' || line[blanks] == '#') continue;
        line[strcspn(line, "\r\n")] = '\0';
        if (kn_dependency_parse(&one, ctx, line, &err) == KN_OK) {
            add_given(a, one);
            continue;
        }
        whole.status = err.status;
        snprintf(whole.message, sizeof whole.message, "%.200s:%ld: %.700s", a->check_file, number, err.message);
        code = cli_fail(&whole);
    }
    if (code == 0 && ferror(file)) {
        kn_error err = {KN_IO, 0, 0, {0}};
        snprintf(err.message, sizeof err.message, "%.200s: cannot be read: %s", a->check_file, strerror(errno));
        code = cli_fail(&err);
    }
    free(line);
    return code;
}

static int read_given(asking *a, kn_context *ctx)
{
    kn_error err = KN_ERROR_INIT;
    for (int i = 0; i < a->checks.count; i++) {
        kn_dependency *one = NULL;
        if (kn_dependency_parse(&one, ctx, a->checks.items[i], &err) != KN_OK) return cli_fail(&err);
        add_given(a, one);
    }
    if (!a->check_file) return 0;
    bool  standard = strcmp(a->check_file, "-") == 0;
    FILE *file = standard ? stdin : fopen(a->check_file, "r");
    if (!file) {
        err.status = errno == ENOENT || errno == EACCES || errno == ENOTDIR ? KN_INPUT : KN_IO;
        snprintf(err.message, sizeof err.message, "%.200s: cannot open: %s", a->check_file, strerror(errno));
        return cli_fail(&err);
    }
    int code = read_lines(a, ctx, file);
    if (!standard) fclose(file);
    return code;
}

/* ---- Columns that are not there ---- */

static int missing_column(const kn_table *table, const char *name, const char *where)
{
    int          columns = kn_table_columns(table);
    const char **names = cli_alloc(((size_t)columns + 1) * sizeof(const char *));
    kn_error     err = {KN_INPUT, 0, 0, {0}};
    for (int c = 0; c < columns; c++) names[c] = kn_table_name(table, c);
    names[columns] = NULL;
    const char *near = cli_nearest(name, names);
    int         n = snprintf(err.message, sizeof err.message, "%.300s: there is no column \"%.200s\"", where, name);
    if (near) snprintf(err.message + n, sizeof err.message - (size_t)n, "; did you mean \"%.200s\"?", near);
    free(names);
    return cli_fail(&err);
}

static int find_names(const kn_table *table, const char *const *names, int count, const char *where)
{
    for (int i = 0; i < count; i++)
        if (kn_table_find(table, names[i]) < 0) return missing_column(table, names[i], where);
    return 0;
}

static int find_columns(const asking *a, const kn_table *table)
{
    int code = find_names(table, (const char *const *)a->columns.items, a->columns.count, "--columns");
    if (code == 0) code = find_names(table, (const char *const *)a->closure_of.items, a->closure_of.count, "--closure");
    for (int i = 0; i < a->given_count && code == 0; i++) {
        const kn_dependency *one = a->given[i];
        code = find_names(table, one->left, one->left_count, one->text);
        if (code == 0) code = find_names(table, one->right, one->right_count, one->text);
    }
    return code;
}

/* ---- Words ---- */

static void print_checks(const cli_value *list, int64_t count)
{
    static const char *const titles[] = {"dependency",   "holds",      "groups",  "broken",
                                         "rows in them", "exceptions", "spurious"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    bool                     multivalued = false;
    char                     number[CLI_NUMBER_SIZE];
    for (int64_t i = 0; i < count; i++) multivalued |= kn_document_member(kn_document_at(list, i), "spurious") != NULL;
    cli_text_table *t = cli_text_table_new(multivalued ? 7 : 6, titles, aligns);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *c = kn_document_at(list, i), *spurious = kn_document_member(c, "spurious");
        bool             holds = cli_true(c, "holds");
        int64_t          exceptions = cli_integer(c, "exceptions");
        cli_text_table_text(t, cli_text(c, "dependency"));
        cli_text_table_text(t, holds ? "yes" : "no");
        cli_text_table_style(t, holds ? CLI_GREEN : CLI_RED);
        cli_text_table_integer(t, cli_integer(c, "groups"));
        cli_text_table_integer(t, cli_integer(c, "violating_groups"));
        cli_text_table_integer(t, cli_integer(c, "violating_rows"));
        if (spurious || exceptions == 0)
            cli_text_table_text(t, spurious ? NULL : "0");
        else
            cli_text_table_format(t, "%s (%.3g %%)", cli_format_integer(number, exceptions),
                                  100 * cli_number(c, "error"));
        if (spurious)
            cli_text_table_integer(t, kn_document_integer_of(spurious));
        else if (multivalued)
            cli_text_table_text(t, NULL);
    }
    cli_text_table_print(t, stdout, 0);
    cli_text_table_free(t);
}

static void print_list(const cli_value *list)
{
    for (int64_t i = 0; i < kn_document_count(list); i++) {
        fputs("  ", stdout);
        cli_name_print(kn_document_text_of(kn_document_at(list, i)));
        putchar('\n');
    }
}

/* Each right side with its own exceptions. */
static void print_approximate(const cli_value *list, int64_t first, int64_t count)
{
    static const char *const titles[] = {"dependency", "exceptions", ""};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(3, titles, aligns);
    for (int64_t i = first; i < count; i++) {
        const cli_value *found = kn_document_at(list, i);
        cli_text_table_text(t, cli_text(found, "dependency"));
        cli_text_table_integer(t, cli_integer(found, "exceptions"));
        cli_text_table_format(t, "%.3g %%", 100 * cli_number(found, "error"));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

/* Why these are not all, and which of them are. */
static void print_partial(const cli_value *r, int64_t found)
{
    int64_t whole = cli_integer(r, "complete_left");
    printf(", %s: %s", found == 0 ? "but there may be some" : "not all there are", cli_text(r, "why_partial"));
    if (whole > 0 && found > 0)
        printf("; all with at most %s on the left are among them", cli_count_of(whole, "column", "columns").text);
    if (whole > 0 && found == 0)
        printf("; none has at most %s on the left", cli_count_of(whole, "column", "columns").text);
}

static void print_discovery(const cli_value *r, bool covered)
{
    int64_t          count, constants = 0, budget = cli_integer(r, "exceptions_allowed");
    const cli_value *list = cli_list_of(r, "found", &count), *one;
    for (; (one = kn_document_at(list, constants)) && !cli_text(one, "dependency"); constants++) {
        fputs(constants ? ", " : budget > 0 ? "Constant, but for exceptions: " : "Constant: ", stdout);
        cli_name_print(cli_text(one, "right"));
    }
    if (constants > 0) fputs("\n\n", stdout);
    int64_t found = count - constants;
    if (found == 0)
        fputs("No dependency found", stdout);
    else
        printf("%s found", cli_count_of(found, "minimal dependency", "minimal dependencies").text);
    if (budget > 0)
        printf(" with at most %s%s", cli_count_of(budget, "exception", "exceptions").text, found > 1 ? " each" : "");
    if (!cli_true(r, "complete"))
        print_partial(r, found);
    else
        fputs(found == 0 ? ": there is none" : ", all there are", stdout);
    puts(found > 0 && !covered ? ":" : "");
    if (covered || found == 0) return;
    putchar('\n');
    if (budget > 0)
        print_approximate(list, constants, count);
    else
        print_list(kn_document_member(r, "dependencies"));
}

static void print_words(const cli_value *answer)
{
    int64_t          checked, determined, given = cli_integer(answer, "closure_given");
    const cli_value *checks = cli_list_of(answer, "checks", &checked), *cover = kn_document_member(answer, "cover"),
                    *discovery = kn_document_member(answer, "discovery"),
                    *closure = cli_list_of(answer, "closure", &determined);
    printf("%s, %s\n\n", cli_rows_of(cli_integer(answer, "rows")).text,
           cli_count_of(cli_integer(answer, "columns"), "column", "columns").text);
    if (checked > 0) print_checks(checks, checked);
    if (checked > 0 && discovery) putchar('\n');
    if (discovery) print_discovery(discovery, cover != NULL);
    if (cover) {
        printf("\nMinimal cover: %s%s\n", cli_count_of(kn_document_count(cover), "left side", "left sides").text,
               kn_document_count(cover) > 0 ? "\n" : "");
        print_list(cover);
    }
    if (!closure) return;
    fputs("\nDetermined by ", stdout);
    for (int64_t i = 0; i < determined; i++) {
        fputs(i == 0 ? "" : i == given ? ": " : ", ", stdout);
        cli_name_print(kn_document_text_of(kn_document_at(closure, i)));
    }
    puts(determined == given ? ": nothing else" : "");
}

/* ---- The run ---- */

static kn_status answer(asking *a, kn_context *ctx, kn_error *err)
{
    kn_status st = KN_OK;
    a->checked = cli_alloc(((size_t)a->given_count + 1) * sizeof *a->checked);
    for (int i = 0; i < a->given_count && st == KN_OK; i++)
        st = kn_dependency_check_table(&a->checked[i], ctx, a->table, a->given[i], err);
    if (st == KN_OK && a->discover) st = kn_discover_dependencies(&a->discovery, ctx, a->table, &a->options, err);
    if (st == KN_OK && a->discover && (a->covered || a->closure_of.count > 0)) /* else the answer lists them */
        st = kn_discovery_list(&a->found, ctx, a->discovery, a->table, err);
    if (st != KN_OK) return st;
    size_t all = (size_t)a->given_count + (a->found ? (size_t)a->found->count : 0);
    a->held = cli_alloc((all + 1) * sizeof(const kn_dependency *));
    for (int i = 0; i < a->given_count; i++)
        if (a->checked[i].holds) a->held[a->held_count++] = a->given[i];
    for (int i = 0; a->found && i < a->found->count; i++) a->held[a->held_count++] = a->found->items[i];
    if (a->covered) st = kn_dependency_cover(&a->cover, ctx, a->held, a->held_count, err);
    if (st == KN_OK && a->closure_of.count > 0)
        st = kn_dependency_closure(&a->closure, ctx, a->held, a->held_count, (const char *const *)a->closure_of.items,
                                   a->closure_of.count, err);
    return st;
}

static int print_answer(const asking *a, kn_context *ctx)
{
    kn_dependency_answers answers = KN_DEPENDENCY_ANSWERS_INIT;
    kn_document          *doc = NULL;
    kn_error              err = KN_ERROR_INIT;
    bool                  holds = true;
    answers.given_count = a->given_count;
    answers.given = (const kn_dependency *const *)a->given;
    answers.checks = a->checked;
    answers.discovery = a->discovery;
    answers.cover = a->cover;
    answers.closure = a->closure;
    answers.closure_given = a->closure_of.count;
    kn_status made = kn_document_dependencies(&doc, ctx, a->table, &answers, &err);
    if (made == KN_OK) (void)kn_document_boolean(doc, "holds", &holds);
    int code = cli_answer(&a->common, made, doc, &err, print_words);
    return code ? code : !holds;
}

static int ask(asking *a, kn_context *ctx, char **paths, int count)
{
    kn_error err = KN_ERROR_INIT;
    int      code = read_given(a, ctx);
    if (code == 0 && a->given_count == 0 && !a->discover)
        code = cli_usage(&cli_dependencies, "there is nothing to check");
    if (code == 0 && cli_table_read(&a->table, ctx, &a->input, paths, count, NULL, 0, &code)) {
        code = find_columns(a, a->table);
        if (code == 0 && answer(a, ctx, &err) != KN_OK) code = cli_fail(&err);
        if (code == 0) code = print_answer(a, ctx);
    }
    for (int i = 0; i < a->given_count; i++) kn_dependency_free(a->given[i]);
    kn_discovery_free(a->discovery);
    kn_dependency_list_free(a->found);
    kn_dependency_list_free(a->cover);
    kn_name_list_free(a->closure);
    kn_table_free(a->table);
    return code;
}

static int check(asking *a, int argc, char **argv)
{
    const cli_command *c = &cli_dependencies;
    bool               about = a->error || a->max_left != INT64_MIN || !isnan(a->time_limit) || a->columns.count > 0;
    if (argc < 1) return cli_usage(c, "no table is named");
    if (!a->discover && !a->check_file && a->checks.count == 0)
        return cli_usage(c, "nothing is asked; use --check, --check-file or --discover");
    if (about && !a->discover)
        return cli_usage(c, "--error, --max-left, --columns and --time-limit go with --discover");
    if (a->error && !kn_fraction_parse(a->error, &a->options.error))
        return cli_usage(c, "--error is a share such as 0.01 or 1%%");
    if (a->max_left != INT64_MIN && (a->max_left < 1 || a->max_left > 64))
        return cli_usage(c, "--max-left is a number of columns, 1 to 64");
    if (a->time_limit < 0) return cli_usage(c, "--time-limit is a number of seconds");
    for (int i = 0; i < argc && a->check_file; i++)
        if (strcmp(a->check_file, "-") == 0 && strcmp(argv[i], "-") == 0)
            return cli_usage(c, "standard input is either the table or the file of --check-file");
    a->options.max_left = a->max_left == INT64_MIN ? 0 : (int)a->max_left;
    a->options.time_limit = isnan(a->time_limit) ? 0 : a->time_limit;
    a->options.columns = a->columns.count > 0 ? (const char *const *)a->columns.items : NULL;
    a->options.column_count = a->columns.count;
    return 0;
}

static int run(int argc, char **argv)
{
    asking           a = {.max_left = INT64_MIN, .time_limit = NAN, .options = KN_DISCOVER_OPTIONS_INIT};
    const cli_option options[] = {{"--check", CLI_REPEAT, &a.checks},
                                  {"--check-file", CLI_TEXT, &a.check_file},
                                  {"--discover", CLI_FLAG, &a.discover},
                                  {"--error", CLI_TEXT, &a.error},
                                  {"--max-left", CLI_INTEGER, &a.max_left},
                                  {"--columns", CLI_LIST, &a.columns},
                                  {"--time-limit", CLI_NUMBER, &a.time_limit},
                                  {"--cover", CLI_FLAG, &a.covered},
                                  {"--closure", CLI_LIST, &a.closure_of},
                                  CLI_TABLE_OPTIONS(a.input),
                                  {0}};
    if (!cli_parse(&cli_dependencies, &argc, argv, options, &a.common)) return 2;
    if (a.common.help) return 0;
    int         code = check(&a, argc, argv);
    kn_context *ctx = code == 0 ? cli_context(&a.common) : NULL;
    if (code == 0) code = ctx ? ask(&a, ctx, argv, argc) : 3;
    cli_context_free(ctx);
    free(a.given);
    free(a.checked);
    free(a.held);
    cli_list_free(&a.checks);
    cli_list_free(&a.columns);
    cli_list_free(&a.closure_of);
    cli_table_options_free(&a.input);
    return code;
}

const cli_command cli_dependencies = {
    .name = "dependencies",
    .summary = "which columns determine others: check, discover",
    .help = help,
    .run = run,
};
