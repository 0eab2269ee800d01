/* cmd_hierarchy.c: kanon hierarchy build | suggest | check | show: makes, checks and prints hierarchies. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <kanon/hierarchy.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "document.h"
#include "hierarchy_suggest.h"

enum { SMALL_TREE = 60 }; /* up to so many nodes `show` draws the tree unasked */

static int run_build(int argc, char **argv);
static int run_check(int argc, char **argv);
static int run_show(int argc, char **argv);

static const cli_command build_command = {
    .name = "hierarchy build",
    .summary = "make a hierarchy for a column",
    .help = "Usage: kanon hierarchy build FILE --column C KIND [OPTION]...\n"
            "\n"
            "Makes a hierarchy over the values of a column and writes it, one line per value:\n"
            "value;what it becomes;...;*\n"
            "\n"
            "Kinds, one of:\n"
            "      --mask right|left    47906 -> 4790* -> 479** ...\n"
            "      --ranges W1,W2,...   23 -> [20, 24] -> [20, 29]: widths, multiples of each other\n"
            "      --breaks 'P,...;...' cut points, level by level: '18,65;18'; dates as YYYY-MM-DD\n"
            "      --calendar           day, month, quarter, year, decade\n"
            "      --prefix SEP         a.b.c -> a.b -> a, where SEP is '.'\n"
            "      --taxonomy FILE      indented text, the most general label first\n"
            "      --suppress           value -> *\n"
            "      --groups HOW         categories: neighbours in their 'order', those that equally many\n"
            "                           rows have ('frequency'), those that begin alike ('prefix')\n"
            "\n"
            "Options:\n"
            "  -c, --column C           the column\n"
            "  -o, --output FILE        where the result goes (default: standard output)\n"
            "      --mask-character C   instead of *\n"
            "      --mask-step N        characters masked per level (default: 1)\n"
            "      --mask-pad           shorter values count as filled up with the mask\n"
            "      --origin X           where a range begins (default: 0)\n"
            "      --fan-out N          groups: members of a group, at most (default: 4)\n"
            "      --group-rows N       groups: the smallest have at least N rows\n"
            "      --order LIST         groups: all values in their order, the least first\n"
            "      --steps LIST         of a calendar: some of day, month, quarter, year, decade\n"
            "      --show-values        the output may hold values of the data: a message may name one\n"
            "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
            "Examples:\n"
            "  $ kanon hierarchy build people.csv --column age --ranges 5,10,20,40 --output age.csv\n"
            "  $ kanon hierarchy build people.csv --column education --mask right --mask-pad\n",
    .run = run_build,
};

static const cli_command check_command = {
    .name = "hierarchy check",
    .summary = "check a hierarchy file",
    .help = "Usage: kanon hierarchy check HIERARCHY [--data FILE --column C] [OPTION]...\n"
            "\n"
            "Checks that a hierarchy file is a tree and, with --data, that every value of the\n"
            "column has a leaf. Labels that stand for different sets of values are warned of.\n"
            "\n"
            "Options:\n"
            "      --data FILE          a table; repeatable\n"
            "  -c, --column C           the column\n"
            "      --taxonomy           the hierarchy is indented text\n"
            "      --hierarchy-delimiter C\n"
            "                           of the hierarchy file (default: detected)\n"
            "      --show-values        the output may hold values of the data: a message may name one\n"
            "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
            "Examples:\n"
            "  $ kanon hierarchy check age.csv\n"
            "  $ kanon hierarchy check age.csv --data people.csv --column age --json\n",
    .run = run_check,
};

static const cli_command show_command = {
    .name = "hierarchy show",
    .summary = "print a hierarchy",
    .help = "Usage: kanon hierarchy show HIERARCHY [OPTION]...\n"
            "\n"
            "Prints how many groups each level has, and the tree if it is small.\n"
            "\n"
            "Options:\n"
            "      --level N            list the groups of a level (0: the values) instead\n"
            "      --tree               draw the tree, however large\n"
            "      --taxonomy           the hierarchy is indented text\n"
            "      --hierarchy-delimiter C\n"
            "                           of the hierarchy file (default: detected)\n"
            "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
            "Examples:\n"
            "  $ kanon hierarchy show age.csv\n"
            "  $ kanon hierarchy show age.csv --level 2 --json\n",
    .run = run_show,
};

/* ---- Shared ---- */

static bool read_delimiter(const cli_command *command, const char *text, char *out)
{
    if (!text) return true;
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0) text = "\t";
    if (text[0] == '\0' || text[1] != '\0') {
        cli_usage(command, "--hierarchy-delimiter must be one character or 'tab'");
        return false;
    }
    *out = text[0];
    return true;
}

static char data_decimal(const cli_table_options *table)
{
    return table->decimal ? table->decimal[0] : '.';
}

/* Reads one column as a table; NULL after printing why not. */
static kn_table *read_column(kn_context *ctx, const cli_table_options *options, char *const *paths, int path_count,
                             const char *column, int *exit_code)
{
    kn_table *table = NULL;
    if (!cli_table_read(&table, ctx, options, paths, path_count, &column, 1, exit_code)) return NULL;
    return table;
}

/* ---- build ---- */

typedef struct build_arguments {
    cli_common        common;
    cli_table_options table;
    const char       *column, *output;
    const char       *mask, *mask_character, *breaks, *prefix, *taxonomy, *origin;
    const char       *groups;
    cli_list          ranges, steps, order;
    int64_t           mask_step, fan_out, group_rows;
    bool              calendar, suppress, mask_pad, show_values;
} build_arguments;

/* "18,65;18" as lists of points; freed by free_breaks. */
static kn_hierarchy_cuts *split_breaks(const char *text, int *count)
{
    kn_hierarchy_cuts *levels = NULL;
    *count = 0;
    for (const char *at = text;;) {
        size_t       length = strcspn(at, ";");
        const char **points = NULL;
        int          point_count = 0;
        for (const char *p = at, *end = at + length; length > 0;) {
            size_t size = strcspn(p, ",;");
            points = cli_realloc(points, (size_t)(point_count + 1) * sizeof *points);
            points[point_count++] = cli_strndup(p, size);
            p += size;
            if (p == end) break;
            p++;
        }
        levels = cli_realloc(levels, (size_t)(*count + 1) * sizeof *levels);
        levels[*count] = (kn_hierarchy_cuts){points, point_count};
        ++*count;
        if (at[length] == '\0') return levels;
        at += length + 1;
    }
}

static void free_breaks(kn_hierarchy_spec *spec)
{
    for (int l = 0; l < spec->break_count; l++) {
        for (int i = 0; i < spec->breaks[l].count; i++) free((void *)(uintptr_t)spec->breaks[l].points[i]);
        free((void *)(uintptr_t)spec->breaks[l].points);
    }
    free((void *)(uintptr_t)spec->breaks);
}

static int read_steps(const cli_list *steps, unsigned *out)
{
    static const char *const names[] = {"day", "month", "quarter", "year", "decade"};
    for (int i = 0; i < steps->count; i++) {
        unsigned step = 0;
        while (step < 5 && strcmp(names[step], steps->items[i]) != 0) step++;
        if (step == 5)
            return cli_usage(&build_command, "--steps: '%s' is not day, month, quarter, year or decade",
                             steps->items[i]);
        *out |= 1u << step;
    }
    return 0;
}

static int read_groups(kn_hierarchy_spec *spec, const build_arguments *a)
{
    if (!a->groups && (a->fan_out || a->group_rows || a->order.count > 0))
        return cli_usage(&build_command, "--fan-out, --group-rows and --order are for --groups");
    if (!a->groups) return 0;
    int by = 0;
    while (by < KN_GROUP_BYS && strcmp(kn_group_by_name((kn_group_by)by), a->groups) != 0) by++;
    if (by == KN_GROUP_BYS) return cli_usage(&build_command, "--groups is order, frequency or prefix");
    if (a->fan_out != 0 && (a->fan_out < 2 || a->fan_out > 1000000))
        return cli_usage(&build_command, "--fan-out must be at least 2");
    spec->kind = KN_HIERARCHY_GROUPS;
    spec->group_by = (kn_group_by)by;
    spec->fan_out = (int)a->fan_out;
    spec->group_rows = a->group_rows;
    spec->order = (const char *const *)a->order.items;
    spec->order_count = a->order.count;
    return 0;
}

/* Fills in the spec; returns 0, or the exit code after printing what is wrong. */
static int read_spec(kn_hierarchy_spec *spec, const build_arguments *a)
{
    int kinds = (a->mask != NULL) + (a->ranges.count > 0) + (a->breaks != NULL) + a->calendar + (a->prefix != NULL) +
                (a->taxonomy != NULL) + a->suppress + (a->groups != NULL);
    if (!a->column) return cli_usage(&build_command, "--column C is needed");
    if (kinds != 1)
        return cli_usage(&build_command, "one of --mask, --ranges, --breaks, --calendar, --prefix, --taxonomy, "
                                         "--suppress and --groups is needed");
    if (!a->mask && (a->mask_character || a->mask_step || a->mask_pad))
        return cli_usage(&build_command, "--mask-character, --mask-step and --mask-pad are for --mask");
    if (a->origin && a->ranges.count == 0) return cli_usage(&build_command, "--origin is for --ranges");
    if (a->steps.count > 0 && !a->calendar) return cli_usage(&build_command, "--steps is for --calendar");
    if (a->mask && strcmp(a->mask, "right") != 0 && strcmp(a->mask, "left") != 0)
        return cli_usage(&build_command, "--mask is right or left");
    if (a->mask_step < 0 || a->mask_step > 1000) return cli_usage(&build_command, "--mask-step is 1 to 1000");
    spec->kind = a->mask           ? KN_HIERARCHY_MASK
                 : a->ranges.count ? KN_HIERARCHY_RANGES
                 : a->breaks       ? KN_HIERARCHY_BREAKS
                 : a->calendar     ? KN_HIERARCHY_CALENDAR
                 : a->prefix       ? KN_HIERARCHY_PREFIX
                 : a->taxonomy     ? KN_HIERARCHY_TAXONOMY
                                   : KN_HIERARCHY_SUPPRESS;
    spec->path = a->taxonomy;
    spec->decimal = data_decimal(&a->table);
    spec->timezone = a->table.timezone;
    spec->mask_left = a->mask && strcmp(a->mask, "left") == 0;
    spec->mask_pad = a->mask_pad;
    spec->mask_step = (int)a->mask_step;
    spec->mask = a->mask_character;
    spec->widths = (const char *const *)a->ranges.items;
    spec->width_count = a->ranges.count;
    spec->origin = a->origin;
    if (a->breaks) spec->breaks = split_breaks(a->breaks, &spec->break_count);
    spec->separator = a->prefix;
    int code = read_groups(spec, a);
    return code ? code : read_steps(&a->steps, &spec->calendar);
}

static int report_build(const build_arguments *a, kn_context *ctx, const kn_hierarchy *h)
{
    bool         printed = strcmp(a->output, "-") == 0;
    kn_error     err = KN_ERROR_INIT;
    kn_document *doc = NULL;
    kn_status    made = kn_document_hierarchy_build(&doc, ctx, h, a->output, printed ? a->column : a->output, &err);
    int          code = cli_answer(&a->common, made, doc, &err, NULL);
    if (code == 0 && !a->common.json && !printed)
        cli_done(&a->common, "%s, %s written to %s", cli_count_of(kn_hierarchy_levels(h), "level", "levels").text,
                 cli_count_of(kn_hierarchy_leaves(h), "value", "values").text, a->output);
    return code;
}

static int build(const build_arguments *a, const kn_hierarchy_spec *spec, char *const *paths, int path_count)
{
    kn_context *ctx = cli_context(&a->common);
    if (!ctx) return 3;
    int           code = 0;
    kn_error      err = KN_ERROR_INIT;
    kn_hierarchy *h = NULL;
    kn_table     *table = read_column(ctx, &a->table, paths, path_count, a->column, &code);
    if (table) {
        kn_status status = kn_hierarchy_make(&h, ctx, table, 0, spec, a->show_values, &err);
        if (status == KN_OK) status = kn_hierarchy_write(h, ctx, a->output, 0, &err);
        if (status == KN_OK && spec->kind == KN_HIERARCHY_GROUPS &&
            (spec->group_by == KN_GROUP_BY_FREQUENCY || spec->group_rows > 0))
            cli_note("which values are together depends on how many rows have them: the labels of a release tell "
                     "something of that");
        code = status == KN_OK ? report_build(a, ctx, h) : cli_fail(&err);
    }
    kn_hierarchy_free(h);
    kn_table_free(table);
    cli_context_free(ctx);
    return code;
}

static int run_build(int argc, char **argv)
{
    build_arguments  a = {.output = "-"};
    const cli_option options[] = {{"-c|--column", CLI_TEXT, &a.column},
                                  {"-o|--output", CLI_TEXT, &a.output},
                                  {"--mask", CLI_TEXT, &a.mask},
                                  {"--mask-character", CLI_TEXT, &a.mask_character},
                                  {"--mask-step", CLI_INTEGER, &a.mask_step},
                                  {"--mask-pad", CLI_FLAG, &a.mask_pad},
                                  {"--ranges", CLI_LIST, &a.ranges},
                                  {"--origin", CLI_TEXT, &a.origin},
                                  {"--breaks", CLI_TEXT, &a.breaks},
                                  {"--calendar", CLI_FLAG, &a.calendar},
                                  {"--steps", CLI_LIST, &a.steps},
                                  {"--prefix", CLI_TEXT, &a.prefix},
                                  {"--taxonomy", CLI_TEXT, &a.taxonomy},
                                  {"--suppress", CLI_FLAG, &a.suppress},
                                  {"--groups", CLI_TEXT, &a.groups},
                                  {"--fan-out", CLI_INTEGER, &a.fan_out},
                                  {"--group-rows", CLI_INTEGER, &a.group_rows},
                                  {"--order", CLI_LIST, &a.order},
                                  {"--show-values", CLI_FLAG, &a.show_values},
                                  CLI_TABLE_OPTIONS(a.table),
                                  {0}};
    if (!cli_parse(&build_command, &argc, argv, options, &a.common)) return 2;
    if (a.common.help) return 0;
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    int               code = 0;
    if (argc < 1)
        code = cli_usage(&build_command, "no table is named");
    else if (a.common.json && strcmp(a.output, "-") == 0)
        code = cli_usage(&build_command, "--json describes a file: it needs --output FILE");
    else if (cli_overwrites_input(a.output, argv, argc))
        code = cli_usage(&build_command, "the output would overwrite the input");
    else
        code = read_spec(&spec, &a);
    if (code == 0) code = build(&a, &spec, argv, argc);
    free_breaks(&spec);
    cli_list_free(&a.ranges);
    cli_list_free(&a.steps);
    cli_list_free(&a.order);
    cli_table_options_free(&a.table);
    return code;
}

/* ---- check ---- */

typedef struct check_arguments {
    cli_common        common;
    cli_table_options table;
    cli_list          data;
    const char       *column, *delimiter;
    bool              taxonomy, show_values;
} check_arguments;

static void print_check(const cli_value *answer)
{
    int64_t     missing = cli_integer(answer, "data_missing");
    const char *column = cli_text(answer, "data_column");
    cli_name_print(cli_text(answer, "hierarchy"));
    printf(": a tree of %s, %s and %s%s\n", cli_count_of(cli_integer(answer, "levels"), "level", "levels").text,
           cli_count_of(cli_integer(answer, "leaves"), "leaf", "leaves").text,
           cli_count_of(cli_integer(answer, "nodes"), "node", "nodes").text,
           cli_true(answer, "balanced") ? "" : ", its leaves at different depths");
    if (!column) return;
    fputs("column \"", stdout);
    cli_name_print(column);
    printf("\": %s, each with a leaf", cli_count_of(cli_integer(answer, "data_values"), "value", "values").text);
    if (missing > 0)
        printf("; %s below the root",
               cli_count_of(missing, "missing cell, which stays itself", "missing cells, which stay themselves").text);
    putchar('\n');
}

/* With --json an invalid hierarchy is an answer too, not only an error. */
static int fail_check(const check_arguments *a, kn_context *ctx, const char *path, const kn_error *failure)
{
    kn_error     err = KN_ERROR_INIT;
    kn_document *doc = NULL;
    if (a->common.json && failure->status == KN_INPUT) {
        kn_status made = kn_document_hierarchy_check(&doc, ctx, NULL, path, NULL, failure, &err);
        int       code = cli_answer(&a->common, made, doc, &err, NULL);
        if (code) return code;
    }
    return cli_fail(failure);
}

static int check(const check_arguments *a, const kn_hierarchy_spec *spec)
{
    kn_context *ctx = cli_context(&a->common);
    if (!ctx) return 3;
    int           code = 0;
    kn_error      err = KN_ERROR_INIT;
    kn_hierarchy *h = NULL;
    kn_table     *table = NULL;
    kn_status     status = kn_hierarchy_read(&h, ctx, spec, &err);
    if (status == KN_OK && a->column) {
        table = read_column(ctx, &a->table, a->data.items, a->data.count, a->column, &code);
        if (table) status = kn_hierarchy_bind(h, table, 0, data_decimal(&a->table), a->show_values, &err);
    }
    if (status != KN_OK) {
        code = fail_check(a, ctx, spec->path, &err);
    } else if (code == 0) {
        kn_document *doc = NULL;
        status = kn_document_hierarchy_check(&doc, ctx, h, spec->path, table, NULL, &err);
        code = cli_answer(&a->common, status, doc, &err, print_check);
    }
    kn_table_free(table);
    kn_hierarchy_free(h);
    cli_context_free(ctx);
    return code;
}

static int run_check(int argc, char **argv)
{
    check_arguments   a = {0};
    const cli_option  options[] = {{"--data", CLI_REPEAT, &a.data},
                                   {"-c|--column", CLI_TEXT, &a.column},
                                   {"--taxonomy", CLI_FLAG, &a.taxonomy},
                                   {"--hierarchy-delimiter", CLI_TEXT, &a.delimiter},
                                   {"--show-values", CLI_FLAG, &a.show_values},
                                   CLI_TABLE_OPTIONS(a.table),
                                   {0}};
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    if (!cli_parse(&check_command, &argc, argv, options, &a.common)) return 2;
    if (a.common.help) return 0;
    int code = 0;
    if (argc != 1)
        code = cli_usage(&check_command, argc < 1 ? "no hierarchy is named" : "one hierarchy at a time");
    else if ((a.data.count > 0) != (a.column != NULL))
        code = cli_usage(&check_command, "--data and --column go together");
    else if (!read_delimiter(&check_command, a.delimiter, &spec.delimiter))
        code = 2;
    spec.path = argv[0];
    if (a.taxonomy) spec.kind = KN_HIERARCHY_TAXONOMY;
    if (code == 0) code = check(&a, &spec);
    cli_list_free(&a.data);
    cli_table_options_free(&a.table);
    return code;
}

/* ---- show ---- */

static void print_levels(const cli_value *answer)
{
    static const char *const titles[] = {"level", "nodes", "largest"};
    static const cli_align   aligns[] = {CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(3, titles, aligns);
    int64_t                  levels;
    const cli_value         *sizes = cli_list_of(answer, "level_sizes", &levels),
                    *largest = kn_document_member(answer, "level_largest");
    for (int64_t level = 0; level < levels; level++) {
        cli_text_table_integer(t, level);
        cli_text_table_integer(t, kn_document_integer_of(kn_document_at(sizes, level)));
        cli_text_table_integer(t, kn_document_integer_of(kn_document_at(largest, level)));
    }
    cli_text_table_print(t, stdout, 0);
    cli_text_table_free(t);
}

/* Prints a taxonomy as indented text, which can be edited and read back. */
static void print_tree(const cli_value *node, int depth)
{
    int64_t          count;
    const cli_value *children = cli_list_of(node, "children", &count);
    printf("%*s", 2 * depth, "");
    cli_name_print(cli_text(node, "label"));
    putchar('\n');
    for (int64_t i = 0; i < count; i++) print_tree(kn_document_at(children, i), depth + 1);
}

static void print_labels(const cli_value *labels)
{
    static const char *const titles[] = {"leaves", "label"};
    static const cli_align   aligns[] = {CLI_RIGHT, CLI_LEFT};
    cli_text_table          *t = cli_text_table_new(2, titles, aligns);
    for (int64_t i = 0; i < kn_document_count(labels); i++) {
        cli_text_table_integer(t, cli_integer(kn_document_at(labels, i), "leaves"));
        cli_text_table_text(t, cli_text(kn_document_at(labels, i), "label"));
    }
    cli_text_table_print(t, stdout, 0);
    cli_text_table_free(t);
}

static void print_hierarchy(const cli_value *answer)
{
    const cli_value *labels = kn_document_member(answer, "labels"), *tree = kn_document_member(answer, "tree");
    if (labels) {
        print_labels(labels);
        return;
    }
    print_levels(answer);
    if (!tree) return;
    putchar('\n');
    print_tree(tree, 0);
}

static int run_show(int argc, char **argv)
{
    cli_common        common = {0};
    int64_t           level = -1;
    bool              tree = false, taxonomy = false;
    const char       *delimiter = NULL;
    const cli_option  options[] = {{"--level", CLI_INTEGER, &level},
                                   {"--tree", CLI_FLAG, &tree},
                                   {"--taxonomy", CLI_FLAG, &taxonomy},
                                   {"--hierarchy-delimiter", CLI_TEXT, &delimiter},
                                   {0}};
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    if (!cli_parse(&show_command, &argc, argv, options, &common)) return 2;
    if (common.help) return 0;
    if (argc != 1) return cli_usage(&show_command, argc < 1 ? "no hierarchy is named" : "one hierarchy at a time");
    if (!read_delimiter(&show_command, delimiter, &spec.delimiter)) return 2;
    spec.path = argv[0];
    if (taxonomy) spec.kind = KN_HIERARCHY_TAXONOMY;
    kn_context *ctx = cli_context(&common);
    if (!ctx) return 3;
    kn_error      err = KN_ERROR_INIT;
    kn_hierarchy *h = NULL;
    kn_document  *doc = NULL;
    int           code = 0;
    if (kn_hierarchy_read(&h, ctx, &spec, &err) != KN_OK) {
        code = cli_fail(&err);
    } else if (level < -1 || level >= kn_hierarchy_levels(h)) {
        code = cli_usage(&show_command, "--level is 0 to %d here", kn_hierarchy_levels(h) - 1);
    } else {
        if (kn_hierarchy_nodes(h) <= SMALL_TREE) tree = true;
        kn_status made = kn_document_hierarchy_show(&doc, ctx, h, spec.path, (int)level, tree, &err);
        code = cli_answer(&common, made, doc, &err, print_hierarchy);
    }
    kn_hierarchy_free(h);
    cli_context_free(ctx);
    return code;
}

/* ---- The command ---- */

static int run(int argc, char **argv)
{
    static const cli_command *const actions[] = {&build_command, &cli_hierarchy_suggest, &check_command, &show_command};
    for (int i = 0; argc > 0 && i < 4; i++)
        if (strcmp(strchr(actions[i]->name, ' ') + 1, argv[0]) == 0) return actions[i]->run(argc - 1, argv + 1);
    cli_common       common = {0};
    const cli_option options[] = {{0}};
    if (!cli_parse(&cli_hierarchy, &argc, argv, options, &common)) return 2;
    if (common.help) return 0;
    if (argc < 1) return cli_usage(&cli_hierarchy, "no action is named; there are build, suggest, check and show");
    return cli_usage(&cli_hierarchy, "'%s' is no action; there are build, suggest, check and show", argv[0]);
}

const cli_command cli_hierarchy = {
    .name = "hierarchy",
    .summary = "make, check and print generalization hierarchies",
    .help = "Usage: kanon hierarchy build FILE --column C KIND [OPTION]...\n"
            "       kanon hierarchy suggest FILE --column C [--qi A,B] [-k K] [OPTION]...\n"
            "       kanon hierarchy check HIERARCHY [--data FILE --column C] [OPTION]...\n"
            "       kanon hierarchy show HIERARCHY [--level N] [OPTION]...\n"
            "\n"
            "A hierarchy says what a value becomes, level by level, when it is blurred. It is a\n"
            "file with one line per value: value;what it becomes;...;root\n"
            "\n"
            "  build                    make one over the values of a column: --mask right|left,\n"
            "                           --ranges, --breaks, --calendar, --prefix, --taxonomy,\n"
            "                           --suppress, --groups\n"
            "  suggest                  ways to make one, by what a release loses\n"
            "  check                    is it a tree, and does every value of a column have a leaf?\n"
            "  show                     its levels, and the tree if it is small\n"
            "\n"
            "`kanon hierarchy build --help` and so on list the options of each.\n"
            "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
            "Examples:\n"
            "  $ kanon hierarchy build people.csv --column age --ranges 5,10,20,40 --output age.csv\n"
            "  $ kanon hierarchy check age.csv --data people.csv --column age\n",
    .run = run,
};
