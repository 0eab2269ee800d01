/* cmd_measure.c: `kanon measure`: the loss of a release, by every metric, from the original and the release alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/measure.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"
#include "lists.h"
#include "measure_shapes.h"
#include "measure_workload.h"

static const char help[] =
    "Usage: kanon measure ORIGINAL... RELEASE --spec RELEASE.yaml [OPTION]...\n"
    "       kanon measure ORIGINAL... RELEASE --qi A,B [--hierarchy COLUMN:KIND] [OPTION]...\n"
    "\n"
    "How much did a release lose? Every metric, for the whole release and for each\n"
    "quasi-identifier, whoever made it: a released cell is a value, a label of the\n"
    "hierarchy, an interval ([20, 30], [20, 30)), a set ({a;b}) or '*'. Rows that are\n"
    "'*' in every column, and rows of the original that the release has not, count as\n"
    "suppressed. Without files the release file's input and output are taken. Of a database\n"
    "every table and column is measured; a deleted row has lost everything. Of records that\n"
    "are trees every class is, and relations.\n"
    "\n"
    "  lm       generalization: 0 every cell as it was, 1 everything lost\n"
    "  ncp      the same, by the share of the domain that a cell covers\n"
    "  prec     precision: 1 every cell as it was, 0 everything at the top\n"
    "  entropy  bits of information that the cells have lost\n"
    "  dm       discernibility: squares of class sizes; a suppressed row costs all rows\n"
    "  dm_star  the same with suppressed rows left in their classes\n"
    "  c_avg    average class size, in units of k\n"
    "\n"
    "Options:\n"
    "      --spec FILE          the release file: quasi-identifiers, hierarchies, weights and k\n"
    "      --qi COLUMNS         quasi-identifiers: without a release file, or beyond its own\n"
    "      --hierarchy COLUMN:FILE, COLUMN:KIND\n"
    "                           what a column's values become, as in anonymize; repeatable\n"
    "      --attribute 'COLUMN:{...}'\n"
    "                           more of a column, as in a release file: age:{weight: 2}\n"
    "      --missing HOW        what a missing cell is, as in anonymize: 'drop' leaves rows with a\n"
    "                           missing quasi-identifier out of the original\n"
    "      --suppressed HOW     what they show, as in anonymize: with 'keep-sensitive' a row is\n"
    "                           suppressed where all its quasi-identifiers are '*'\n"
    "      --expand             of counted rows (--count): every row as often as it is counted\n"
    "      --spreadsheet-safe   cells that a spreadsheet would execute have an apostrophe\n"
    "  -k, --k K                every class has at least K rows: for c_avg, instead of the\n"
    "                           release file's k (without either: 1)\n"
    "      --workload FILE      a file of queries, answered on both tables: SELECT COUNT(*)|\n"
    "                           SUM(c)|AVG(c)|MIN(c)|MAX(c) FROM t WHERE a = 'x' AND b BETWEEN\n"
    "                           1 AND 5 ...; a number in front of a query is its weight\n"
    "      --summary FILE       the published means and ranges, for the workload\n"
    "      --map FILE           the row map that belongs to the release (RELEASE.rowmap): of records\n"
    "                           that are trees, where their values do not say whose they are\n" CLI_LIST_METRICS_HELP
    "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon anonymize people.csv --qi sex,age --hierarchy age:ranges=5,10,20 -k 5 \\\n"
    "    --suppression 5% --output release.csv\n"
    "  $ kanon measure people.csv release.csv --qi sex,age --hierarchy age:ranges=5,10,20 -k 5\n"
    "  $ kanon generate students --rows 200 --output school\n"
    "  $ kanon anonymize school/release.yaml --output released/\n"
    "  $ kanon measure school/ released/ --spec school/release.yaml\n";

/* ---- Words ---- */

static void print_metrics(const cli_value *metrics)
{
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT};
    cli_text_table        *t = cli_text_table_new(2, NULL, aligns);
    for (int64_t i = 0; i < kn_document_count(metrics); i++) {
        cli_text_table_text(t, kn_document_key(metrics, i));
        cli_text_table_plain(t, kn_document_number_of(kn_document_at(metrics, i)));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_attributes(const cli_value *answer)
{
    static const char *const titles[] = {"column", "lm", "ncp", "prec", "entropy"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(5, titles, aligns);
    int64_t                  count;
    const cli_value         *attributes = cli_list_of(answer, "attributes", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *a = kn_document_at(attributes, i);
        cli_text_table_text(t, cli_text(a, "name"));
        for (int c = 1; c < 5; c++) cli_text_table_plain(t, cli_number(a, titles[c]));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_words(const cli_value *answer)
{
    char             number[CLI_NUMBER_SIZE];
    int64_t          classes = cli_integer(answer, "classes");
    const cli_value *metrics = kn_document_member(answer, "metrics"),
                    *workload = kn_document_member(answer, "workload");
    printf("%s: %s released in ", cli_rows_of(cli_integer(answer, "rows")).text,
           cli_format_integer(number, cli_integer(answer, "released")));
    printf("%s", cli_count_of(classes, "class", "classes").text);
    if (classes > 0) printf(" of at least %s", cli_rows_of(cli_integer(answer, "k")).text);
    printf(", %s suppressed\n\n", cli_format_integer(number, cli_integer(answer, "suppressed")));
    print_metrics(metrics);
    putchar('\n');
    print_attributes(answer);
    if (isnan(cli_number(metrics, "dm_star")))
        printf("\ndm_star is not known: nobody can tell in which classes the suppressed rows were.\n");
    if (workload) cli_workload_print(workload);
}

/* ---- The run ---- */

/* The command's own options in addition to those of a spec. */
typedef struct measuring {
    cli_anonymizing a;
    const char     *workload, *summary, *map;
} measuring;

static int check(const measuring *asked, int argc)
{
    const cli_anonymizing *a = &asked->a;
    if (argc == 1 || (argc == 0 && !a->spec_path))
        return cli_usage(&cli_measure, "two files are needed: the original and the release, in this order");
    if (!a->spec_path && a->qi.count == 0)
        return cli_usage(&cli_measure, "--spec or --qi is needed, to say which columns are measured");
    if (a->k != INT64_MIN && a->k < 1) return cli_usage(&cli_measure, "-k: k must be at least 1");
    if (asked->summary && !asked->workload) return cli_usage(&cli_measure, "--summary is for --workload");
    return 0;
}

static int measure_table(const measuring *asked, kn_context *ctx, const kn_spec *spec,
                         const kn_measure_options *options)
{
    kn_measure_report  *report = NULL;
    kn_workload        *workload = NULL;
    kn_workload_report *answers = NULL;
    kn_document        *doc = NULL;
    kn_error            err = KN_ERROR_INIT;
    kn_status           st = asked->workload ? kn_workload_read(&workload, ctx, asked->workload, &err) : KN_OK;
    if (st == KN_OK) st = kn_measure(&report, ctx, spec, options, &err);
    if (st == KN_OK && workload) st = kn_measure_workload(&answers, ctx, spec, options, workload, asked->summary, &err);
    if (st == KN_OK) st = kn_document_measure(&doc, ctx, spec, report, workload, answers, &err);
    int code = cli_answer(&asked->a.common, st, doc, &err, print_words);
    kn_workload_report_free(answers);
    kn_workload_free(workload);
    kn_measure_report_free(report);
    return code;
}

static bool of_one_table(const measuring *asked)
{
    const cli_anonymizing *a = &asked->a;
    return a->qi.count + a->hierarchies.count + a->attributes.count + a->input.types.count > 0 || a->missing ||
           a->suppressed || a->expand || a->input.count || a->k != INT64_MIN || asked->workload ||
           cli_format_said(&a->input);
}

static int check_shape(const measuring *asked, kn_spec *spec, kn_shape shape)
{
    kn_error err = KN_ERROR_INIT;
    if (shape == KN_SHAPE_DATABASE && of_one_table(asked))
        return cli_usage(&cli_measure, "of a database the release file says all: only --spec and --spreadsheet-safe go "
                                       "with it");
    if (shape == KN_SHAPE_RECORDS && (of_one_table(asked) || asked->a.spreadsheet_safe))
        return cli_usage(&cli_measure, "of records the release file says all: only --spec and --map go with it");
    if (shape != KN_SHAPE_RECORDS && asked->map)
        return cli_usage(&cli_measure, "--map is of records that are trees: rows are measured without it");
    if (shape == KN_SHAPE_RECORDS && spec->table_count > 0 && kn_spec_check_use(spec, &err) != KN_OK)
        return cli_fail(&err);
    return 0;
}

static int measure(const measuring *asked, kn_context *ctx, char **files, int count)
{
    kn_spec           *spec = NULL;
    kn_measure_options options = KN_MEASURE_OPTIONS_INIT;
    int                code = cli_usable_spec(&spec, ctx, &asked->a);
    if (count > 1) {
        options.originals = (const char *const *)files;
        options.original_count = count - 1;
        options.release = files[count - 1];
    }
    kn_shape shape = code == 0 ? kn_spec_shape(spec) : KN_SHAPE_TABLE;
    options.map = asked->map;
    if (code == 0) code = check_shape(asked, spec, shape);
    for (int i = 0; code == 0 && i < count; i++) code = cli_settle(ctx, files[i], true);
    if (code == 0 && shape == KN_SHAPE_TABLE)
        code = measure_table(asked, ctx, spec, &options);
    else if (code == 0)
        code = shape == KN_SHAPE_RECORDS ? cli_measure_records(&asked->a.common, ctx, spec, &options)
                                         : cli_measure_database(&asked->a.common, ctx, spec, &options);
    kn_spec_free(spec);
    return code;
}

static int run(int argc, char **argv)
{
    measuring        asked = {.a = {.command = &cli_measure, .k = INT64_MIN}};
    const cli_option options[] = {{"--spec", CLI_TEXT, &asked.a.spec_path},
                                  {"--qi", CLI_LIST, &asked.a.qi},
                                  {"--hierarchy", CLI_REPEAT, &asked.a.hierarchies},
                                  {"--attribute", CLI_REPEAT, &asked.a.attributes},
                                  {"--missing", CLI_TEXT, &asked.a.missing},
                                  {"--suppressed", CLI_TEXT, &asked.a.suppressed},
                                  {"--spreadsheet-safe", CLI_FLAG, &asked.a.spreadsheet_safe},
                                  {"--expand", CLI_FLAG, &asked.a.expand},
                                  {"-k|--k", CLI_INTEGER, &asked.a.k},
                                  {"--workload", CLI_TEXT, &asked.workload},
                                  {"--summary", CLI_TEXT, &asked.summary},
                                  {"--map", CLI_TEXT, &asked.map},
                                  CLI_LIST_METRICS(asked.a.common),
                                  CLI_TABLE_OPTIONS(asked.a.input),
                                  {0}};
    if (!cli_parse(&cli_measure, &argc, argv, options, &asked.a.common)) return 2;
    if (asked.a.common.help) return 0;
    int         code = check(&asked, argc);
    kn_context *ctx = code == 0 ? cli_context(&asked.a.common) : NULL;
    if (code == 0) code = ctx ? measure(&asked, ctx, argv, argc) : 3;
    cli_context_free(ctx);
    cli_list_free(&asked.a.qi);
    cli_list_free(&asked.a.hierarchies);
    cli_list_free(&asked.a.attributes);
    cli_table_options_free(&asked.a.input);
    return code;
}

const cli_command cli_measure = {
    .name = "measure",
    .summary = "what a release lost, by every metric",
    .help = help,
    .run = run,
};
