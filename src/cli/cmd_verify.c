/* cmd_verify.c: `kanon verify`: does a release keep its promises? Answers as text or JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"
#include "spec_help.h"
#include "verify.h"

static const char help[] =
    "Usage: kanon verify ORIGINAL... RELEASE --spec RELEASE.yaml [--map FILE] [OPTION]...\n"
    "       kanon verify ORIGINAL... RELEASE --qi A,B -k K [OPTION]...\n"
    "       kanon verify DATABASE RELEASE --spec RELEASE.yaml [--map FILE] [OPTION]...\n"
    "\n"
    "May this release be published? Everything is worked out anew from the two files, by code\n"
    "that shares nothing with what made the release:\n"
    "\n"
    "  - every promise holds: enough people look alike, and what they hide stays hidden\n"
    "  - no identifier and no undeclared column is left; suppressed rows show nothing, and\n"
    "    there are not too many of them\n"
    "  - nothing was invented: every released row stands for a row of the original, each for\n"
    "    another one, and its sensitive and kept cells are that row's\n"
    "\n"
    "The last is proved with the private row map, or without it by looking for a way to give\n"
    "every released row an original. Where that takes too many steps the answer is 'undecided':\n"
    "nothing wrong was found, and the exit code is 4. Without files the release file's input\n"
    "and output are taken. All options of 'kanon anonymize' are taken, so that a command line\n"
    "can be repeated; those that say how the release was looked for make no difference.\n"
    "\n"
    "Of a database every person with all rows in all tables is looked at, and keys must join\n"
    "and say nothing else. Of records that are trees everything that somebody within the promise\n"
    "may know is counted; values must be those of one cut, and no relation may be new.\n"
    "\n"
    "Options:\n"
    "      --spec FILE          the release file: roles, hierarchies, promises; what follows is\n"
    "                           for a run without one, or instead of its fields\n"
    "      --method NAME        how it was made: of methods that choose one level for a whole\n"
    "                           column it is checked that each shows one\n"
    "      --node LEVELS        exactly these levels: 1,0,2 in the order of the quasi-identifiers,\n"
    "                           or age=1,zip=0 for some of them\n"
    "      --anatomy            dmiracle: values as they are, sensitive ones by groups\n"
    "      --map FILE           the row map that belongs to the release (RELEASE.rowmap)\n"
    "      --summary FILE       the published means and ranges, to be checked with the row map\n"
    "      --expand             of counted rows (--count): every row as often as it is counted\n"
    "      --spreadsheet-safe   cells that a spreadsheet would execute have an apostrophe\n"
    "      --work-limit N       steps of looking for originals, the same on every machine\n"
    "                           (default: about a minute's)\n"
    "      --time-limit SECONDS stop then, undecided (default: never)\n" CLI_LIST_MODELS_HELP "\n" CLI_COLUMNS_HELP
    "\n" CLI_PROMISES_HELP "\n" CLI_TREES_PROMISE_HELP "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon anonymize people.csv --qi sex,age --hierarchy age:ranges=5,10,20 -k 5 \\\n"
    "    --suppression 5% --output release.csv --keep-rowmap\n"
    "  $ kanon verify people.csv release.csv --qi sex,age --hierarchy age:ranges=5,10,20 -k 5 \\\n"
    "    --suppression 5% --map release.csv.rowmap\n";

/* ---- Words ---- */

void cli_verified_print(const cli_value *answer, const char *worst)
{
    const char *const      titles[] = {"promise", "asked", worst, ""};
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
    cli_text_table        *t = cli_text_table_new(4, titles, aligns);
    int64_t                count;
    const cli_value       *models = cli_list_of(answer, "models", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *m = kn_document_at(models, i);
        const char      *variant = cli_text(m, "variant"), *attribute = cli_text(m, "attribute");
        double           reached = cli_number(m, "reached");
        bool             holds = cli_true(m, "holds");
        cli_text_table_format(t, "%s%s%s%s%s", cli_text(m, "model"), variant ? " " : "", variant ? variant : "",
                              attribute ? " of " : "", attribute ? attribute : "");
        cli_text_table_format(t, "%s %.6g", cli_text(m, "bound"), cli_number(m, "asked"));
        cli_text_table_number(t, reached);
        cli_text_table_text(t, holds && isnan(reached) ? "holds: nothing is left that it is about"
                               : holds                 ? "holds"
                               : isnan(reached)        ? "not judged"
                                                       : "does not hold");
        cli_text_table_style(t, holds ? CLI_GREEN : CLI_RED);
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

void cli_verdict_print(const cli_value *answer)
{
    bool        holds = cli_is(answer, "outcome", kn_outcome_name(KN_OUTCOME_HOLDS));
    const char *sentence = "Nothing wrong was found, but not everything could be decided: do not publish it yet.";
    if (holds) sentence = "The release keeps its promises.";
    if (cli_is(answer, "outcome", kn_outcome_name(KN_OUTCOME_FAILS)))
        sentence = "The release must not be published: it does not keep its promises.";
    printf("%s%s%s\n\n", cli_style_on(stdout, holds ? CLI_GREEN : CLI_RED), sentence, cli_style_on(stdout, CLI_PLAIN));
}

void cli_findings_print(const cli_value *answer, const char *const sentences[3], const char *counted)
{
    for (int i = 0; i < 3; i++)
        if (cli_is(answer, "assignment", kn_assignment_name((kn_assignment)i))) printf("%s\n", sentences[i]);
    const cli_value *problems = kn_document_member(answer, "problems"), *open = kn_document_member(answer, "undecided");
    if (kn_document_count(problems) > 0) printf("\nWhat is wrong (%s):\n", counted);
    cli_sentences_print(problems);
    if (cli_true(answer, "more_problems")) printf("  - and more\n");
    if (kn_document_count(open) > 0) printf("\nWhat was not decided:\n");
    cli_sentences_print(open);
}

int cli_outcome_code(kn_outcome outcome)
{
    if (outcome == KN_OUTCOME_HOLDS) return 0;
    return kn_status_exit_code(outcome == KN_OUTCOME_FAILS ? KN_UNMET : KN_UNDECIDED);
}

/* What is promised of a column of sets. */
static void print_items(const cli_value *items)
{
    if (!items) return;
    printf("Whoever knows all quasi-identifiers and up to %s of a person finds at least %s",
           cli_count_of(cli_integer(items, "m"), "item", "items").text, cli_rows_of(cli_integer(items, "k")).text);
    printf("; promised: %s.\n", cli_rows_of(cli_integer(items, "asked")).text);
}

static void print_words(const cli_value *answer)
{
    static const char *const assignments[] = {
        "Every released row stands for a row of the original, each for another one.",
        "Not every released row can come from the original.",
        "It was not decided whether every released row comes from the original.",
    };
    int64_t classes = cli_integer(answer, "classes"), k = cli_integer(answer, "k");
    bool    linked = cli_true(answer, "linked");
    char    number[CLI_NUMBER_SIZE];
    cli_verdict_print(answer);
    printf("%s, ", cli_rows_of(cli_integer(answer, "rows")).text);
    if (linked)
        printf("%s", cli_count_of(classes, "class of rows that look alike", "classes of rows that look alike").text);
    else
        printf("%s", cli_count_of(classes, "class of those who look alike", "classes of those who look alike").text);
    if (k > 0 && !linked) printf(", the smallest of %s", cli_format_integer(number, k));
    printf("; %s suppressed.\n", cli_rows_of(cli_integer(answer, "suppressed")).text);
    if (classes == 0 && cli_true(answer, "verified")) printf("Nothing is left: the promises are about nobody.\n");
    if (linked && k > 0)
        printf("It shows which rows are one person's; the smallest class of persons who look alike with all their rows "
               "has %s.\n",
               cli_count_of(k, "member", "members").text);
    print_items(kn_document_member(answer, "items"));
    cli_findings_print(answer, assignments, "rows are counted from 1, without the header");
    printf("\n");
    cli_verified_print(answer, "worst class");
}

/* ---- The run ---- */

/* The originals are the spec's inputs, the release its output: the last argument, or --output as when the release was
 * made. */
static void take_files(cli_anonymizing *a, int argc, char **argv)
{
    bool named = a->output && (argc == 0 || strcmp(argv[argc - 1], a->output) != 0);
    a->files = argv;
    a->file_count = named || argc == 0 ? argc : argc - 1;
    if (!named && argc > 0) a->output = argv[argc - 1];
    if (a->report || a->dry_run || a->all_solutions)
        cli_note("--report, --dry-run and --all-solutions are of making a release; nothing is written here");
    a->report = NULL;
}

static int check(const cli_anonymizing *a, bool one, int64_t work_limit)
{
    if (one || (!a->spec_path && (a->file_count == 0 || !a->output)))
        return cli_usage(&cli_verify, "two files are needed: the original and the release, in this order");
    for (int i = 0; i < a->file_count; i++)
        if (strcmp(a->files[i], a->output) == 0)
            return cli_usage(&cli_verify, "original and release are the same file; hold it against a copy of itself");
    if (!a->spec_path && a->qi.count == 0)
        return cli_usage(&cli_verify, "--spec or --qi is needed, to say what was promised");
    if (a->k != INT64_MIN && a->k < 1) return cli_usage(&cli_verify, "-k: k must be at least 1");
    if (work_limit < 0) return cli_usage(&cli_verify, "--work-limit: not less than 0");
    return 0;
}

static int verify_database(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec,
                           const kn_verify_options *options)
{
    kn_database_verify_options database = KN_DATABASE_VERIFY_OPTIONS_INIT;
    if (options->summary) return cli_usage(&cli_verify, "--summary: there is none of a database");
    database.map_path = options->map_path;
    database.work_limit = options->work_limit;
    database.time_limit = options->time_limit;
    return cli_verify_database(a, ctx, spec, &database);
}

static int verify_records(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec,
                          const kn_verify_options *options)
{
    kn_records_verify_options records = KN_RECORDS_VERIFY_OPTIONS_INIT;
    if (options->summary) return cli_usage(&cli_verify, "--summary: there is none of records that are trees");
    records.map_path = options->map_path;
    records.work_limit = options->work_limit;
    records.time_limit = options->time_limit;
    return cli_verify_records(a, ctx, spec, &records);
}

/* A limit is what decides it. */
static void note_way(const kn_verify_report *report, bool limited)
{
    if (strcmp(report->read, "whole") != 0)
        cli_note("original and release were not read whole: %s grouped and compared them", report->read);
    else if (limited)
        cli_note("original and release were read whole");
}

static int verify(cli_anonymizing *a, kn_context *ctx, kn_verify_options *options)
{
    kn_spec          *spec = NULL;
    kn_verify_report *report = NULL;
    kn_error          err = KN_ERROR_INIT;
    int               code = cli_anonymize_spec(&spec, ctx, a);
    if (code == 0 && kn_spec_check(spec, &err) != KN_OK) code = cli_fail(&err);
    if (code == 0 && a->time_limit)
        options->time_limit = spec->time_limit; /* the release file's limits making the release */
    if (code == 0 && kn_spec_shape(spec) != KN_SHAPE_TABLE) {
        code = kn_spec_shape(spec) == KN_SHAPE_DATABASE ? verify_database(a, ctx, spec, options)
                                                        : verify_records(a, ctx, spec, options);
        kn_spec_free(spec);
        return code;
    }
    if (code == 0 && kn_spec_check_one_table(spec, NULL, &err) != KN_OK) code = cli_fail(&err);
    if (code == 0 && kn_verify(&report, ctx, spec, options, &err) != KN_OK) code = cli_fail(&err);
    if (code == 0) {
        kn_document *doc = NULL;
        note_way(report, a->common.memory_limit > 0);
        kn_status made = kn_document_verify(&doc, ctx, report, &err);
        code = cli_answer(&a->common, made, doc, &err, print_words);
        if (code == 0) code = cli_outcome_code(report->outcome);
    }
    kn_verify_report_free(report);
    kn_spec_free(spec);
    return code;
}

static int run(int argc, char **argv)
{
    cli_anonymizing   a = {.command = &cli_verify, .k = INT64_MIN};
    kn_verify_options verifying = KN_VERIFY_OPTIONS_INIT;
    char             *summary = NULL, *rowmap = NULL;
    const cli_option  options[] = {CLI_REQUIREMENT_OPTIONS(a),
                                   {"--method", CLI_TEXT, &a.method},
                                   {"--keep-order", CLI_FLAG, &a.keep_order},
                                   {"--keep-rowmap", CLI_FLAG, &a.keep_rowmap},
                                   {"--keep-recipe", CLI_FLAG, &a.keep_recipe},
                                   {"--report", CLI_TEXT, &a.report},
                                   {"--all-solutions", CLI_FLAG, &a.all_solutions},
                                   {"--dry-run", CLI_FLAG, &a.dry_run},
                                   {"--map", CLI_TEXT, &verifying.map_path},
                                   {"--summary", CLI_TEXT, &verifying.summary},
                                   {"--spreadsheet-safe", CLI_FLAG, &a.spreadsheet_safe},
                                   {"--expand", CLI_FLAG, &a.expand},
                                   {"--work-limit", CLI_INTEGER, &verifying.work_limit},
                                   CLI_LIST_MODELS(a.common),
                                   CLI_TABLE_OPTIONS(a.input),
                                   {0}};
    if (!cli_parse(&cli_verify, &argc, argv, options, &a.common)) return 2;
    if (a.common.help) return 0;
    const char *named = a.output;
    take_files(&a, argc, argv);
    if (verifying.summary && a.output && strcmp(verifying.summary, "side") == 0) /* as when it was made */
        verifying.summary = summary = cli_beside(a.output, ".summary.csv");
    if (verifying.summary && strcmp(verifying.summary, "none") == 0) verifying.summary = NULL;
    if (a.keep_rowmap && !verifying.map_path && a.output) verifying.map_path = rowmap = cli_beside(a.output, ".rowmap");
    int         code = check(&a, !named && argc == 1, verifying.work_limit);
    kn_context *ctx = code == 0 ? cli_context(&a.common) : NULL;
    if (code == 0) code = ctx ? verify(&a, ctx, &verifying) : 3;
    cli_context_free(ctx);
    cli_anonymizing_free(&a);
    free(summary);
    free(rowmap);
    return code;
}

const cli_command cli_verify = {
    .name = "verify",
    .summary = "does a release keep its promises?",
    .help = help,
    .run = run,
};
