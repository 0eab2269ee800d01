/* cmd_dependencies.c: `kanon dependencies`: do dependencies hold, which are there, what follows from them? */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dependencies.h"
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

typedef struct asking {
    cli_dependency_answers d;
    cli_table_options      input;
    cli_list               checks, columns;
    const char            *check_file;
    bool                   discover;
    int64_t                max_left;
    double                 time_limit;
    kn_discover_options    options;
} asking;

/* ---- What is to be checked ---- */

static void add_given(asking *a, kn_dependency *one)
{
    cli_dependency_answers *d = &a->d;
    d->given = cli_realloc(d->given, ((size_t)d->given_count + 1) * sizeof(kn_dependency *));
    d->given[d->given_count++] = one;
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
    if (code == 0)
        code = find_names(table, (const char *const *)a->d.closure_of.items, a->d.closure_of.count, "--closure");
    for (int i = 0; i < a->d.given_count && code == 0; i++) {
        const kn_dependency *one = a->d.given[i];
        code = find_names(table, one->left, one->left_count, one->text);
        if (code == 0) code = find_names(table, one->right, one->right_count, one->text);
    }
    return code;
}

/* ---- The run ---- */

/* Dependencies with exceptions are shown one by one, each with its own. */
static kn_status make_each(cli_dependency_answers *d, kn_context *ctx, kn_error *err)
{
    const kn_discovery *r = d->discovery;
    d->each = cli_alloc(((size_t)r->count + 1) * sizeof(kn_dependency *));
    for (int64_t i = 0; i < r->count; i++) {
        const char *left[64], *right = kn_table_name(d->table, r->found[i].right);
        if (r->found[i].left_count == 0) continue;
        for (int j = 0; j < r->found[i].left_count; j++) left[j] = kn_table_name(d->table, r->found[i].left[j]);
        kn_status st = kn_dependency_make(&d->each[d->each_count], ctx, KN_DEPENDENCY_FUNCTIONAL, 0, left,
                                          r->found[i].left_count, &right, 1, err);
        if (st != KN_OK) return st;
        d->each_count++;
    }
    return KN_OK;
}

static kn_status answer(asking *a, kn_context *ctx, kn_error *err)
{
    cli_dependency_answers *d = &a->d;
    kn_status               st = KN_OK;
    d->checks = cli_alloc(((size_t)d->given_count + 1) * sizeof *d->checks);
    for (int i = 0; i < d->given_count && st == KN_OK; i++)
        st = kn_dependency_check_table(&d->checks[i], ctx, d->table, d->given[i], err);
    if (st == KN_OK && a->discover) {
        st = kn_discover_dependencies(&d->discovery, ctx, d->table, &a->options, err);
        if (st == KN_OK) st = kn_discovery_list(&d->found, ctx, d->discovery, d->table, err);
        if (st == KN_OK && d->discovery->budget > 0) st = make_each(d, ctx, err);
    }
    if (st != KN_OK) return st;
    size_t all = (size_t)d->given_count + (d->found ? (size_t)d->found->count : 0);
    d->held = cli_alloc((all + 1) * sizeof(const kn_dependency *));
    for (int i = 0; i < d->given_count; i++)
        if (d->checks[i].holds) d->held[d->held_count++] = d->given[i];
    for (int i = 0; d->found && i < d->found->count; i++) d->held[d->held_count++] = d->found->items[i];
    if (d->covered) st = kn_dependency_cover(&d->cover, ctx, d->held, d->held_count, err);
    if (st == KN_OK && d->closure_of.count > 0)
        st = kn_dependency_closure(&d->closure, ctx, d->held, d->held_count, (const char *const *)d->closure_of.items,
                                   d->closure_of.count, err);
    return st;
}

static kn_status make_document(kn_document **out, kn_context *ctx, const cli_dependency_answers *d, kn_error *err)
{
    kn_dependency_answers answers = KN_DEPENDENCY_ANSWERS_INIT;
    answers.given_count = d->given_count;
    answers.given = (const kn_dependency *const *)d->given;
    answers.checks = d->checks;
    answers.discovery = d->discovery;
    answers.held_count = d->held_count;
    answers.held = d->held;
    answers.cover = d->cover;
    answers.closure = d->closure;
    return kn_document_dependencies(out, ctx, d->table, &answers, err);
}

static int ask(asking *a, kn_context *ctx, char **paths, int count)
{
    cli_dependency_answers *d = &a->d;
    kn_table               *table = NULL;
    kn_error                err = KN_ERROR_INIT;
    int                     code = read_given(a, ctx);
    if (code == 0 && d->given_count == 0 && !a->discover)
        code = cli_usage(&cli_dependencies, "there is nothing to check");
    if (code == 0 && cli_table_read(&table, ctx, &a->input, paths, count, NULL, 0, &code)) {
        d->table = table;
        code = find_columns(a, table);
        if (code == 0 && answer(a, ctx, &err) != KN_OK) code = cli_fail(&err);
        if (code == 0) {
            kn_document *doc = NULL;
            kn_status    made = make_document(&doc, ctx, d, &err);
            code = cli_answer(&d->common, made, doc, &err, NULL);
            if (code == 0 && !d->common.json) cli_dependencies_print_text(d);
            for (int i = 0; i < d->given_count && code < 2; i++) code |= !d->checks[i].holds;
        }
    }
    for (int i = 0; i < d->given_count; i++) kn_dependency_free(d->given[i]);
    for (int64_t i = 0; i < d->each_count; i++) kn_dependency_free(d->each[i]);
    kn_discovery_free(d->discovery);
    kn_dependency_list_free(d->found);
    kn_dependency_list_free(d->cover);
    kn_name_list_free(d->closure);
    kn_table_free(table);
    return code;
}

static int check(asking *a, int argc, char **argv)
{
    const cli_command *c = &cli_dependencies;
    bool               about = a->d.error || a->max_left != INT64_MIN || !isnan(a->time_limit) || a->columns.count > 0;
    if (argc < 1) return cli_usage(c, "no table is named");
    if (!a->discover && !a->check_file && a->checks.count == 0)
        return cli_usage(c, "nothing is asked; use --check, --check-file or --discover");
    if (about && !a->discover)
        return cli_usage(c, "--error, --max-left, --columns and --time-limit go with --discover");
    if (a->d.error && !kn_fraction_parse(a->d.error, &a->options.error))
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
                                  {"--error", CLI_TEXT, &a.d.error},
                                  {"--max-left", CLI_INTEGER, &a.max_left},
                                  {"--columns", CLI_LIST, &a.columns},
                                  {"--time-limit", CLI_NUMBER, &a.time_limit},
                                  {"--cover", CLI_FLAG, &a.d.covered},
                                  {"--closure", CLI_LIST, &a.d.closure_of},
                                  CLI_TABLE_OPTIONS(a.input),
                                  {0}};
    if (!cli_parse(&cli_dependencies, &argc, argv, options, &a.d.common)) return 2;
    if (a.d.common.help) return 0;
    int         code = check(&a, argc, argv);
    kn_context *ctx = code == 0 ? cli_context(&a.d.common) : NULL;
    if (code == 0) code = ctx ? ask(&a, ctx, argv, argc) : 3;
    cli_context_free(ctx);
    free(a.d.given);
    free(a.d.checks);
    free(a.d.each);
    free(a.d.held);
    cli_list_free(&a.checks);
    cli_list_free(&a.columns);
    cli_list_free(&a.d.closure_of);
    cli_table_options_free(&a.input);
    return code;
}

const cli_command cli_dependencies = {
    .name = "dependencies",
    .summary = "which columns determine others: check, discover",
    .help = help,
    .run = run,
};
