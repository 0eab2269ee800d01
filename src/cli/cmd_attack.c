/* cmd_attack.c: `kanon attack`: the linking attack. An attacker has a table with names and some of the
 * quasi-identifiers; how many of these persons can be found in the release, and how many could be in the original?
 * For --demo see database/attack_demo.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/attack.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"
#include "attack_demo.h"
#include "document.h"

static const char help[] =
    "Usage: kanon attack RELEASE --external FILE --spec RELEASE.yaml [OPTION]...\n"
    "       kanon attack RELEASE --external FILE --qi A,B [--hierarchy COLUMN:KIND] [OPTION]...\n"
    "       kanon attack RELEASE --external DATABASE --spec RELEASE.yaml [--some-rows]\n"
    "       kanon attack RELEASE --external RECORDS --spec RELEASE.yaml\n"
    "       kanon attack --demo RELEASE.yaml [-k K] [--json]\n"
    "       kanon attack --demo [DATABASE] --spec RELEASE.yaml [-k K] [--json]\n"
    "\n"
    "Links a table that somebody else may have with a release, over the quasi-identifiers\n"
    "that both have, and counts how many people match 1, 2, ... released rows: a person\n"
    "matches a row whose cells cover theirs. The same is done with the original, if it is\n"
    "there. No value is shown. The exit code is 0 if nobody matches fewer than K rows, 1 if\n"
    "somebody does, 4 if there is nobody to look for or nowhere to look. Of a database the\n"
    "other one has some of its tables and columns, and persons are matched, each with all\n"
    "their known rows. Of records that are trees it has such records, with some of their\n"
    "nodes.\n"
    "\n"
    "Options:\n"
    "      --external FILE      the attacker's table, one row per person; of a database: what is\n"
    "                           known of persons, a database with keys of its own or one table\n"
    "      --some-rows          of a database: the external one may lack rows of a person; each of\n"
    "                           those that it has must be found\n"
    "      --spec FILE          the release file: quasi-identifiers, hierarchies, k and the input\n"
    "      --original FILE      the original, instead of the release file's input\n"
    "      --no-original        attack the release only\n"
    "      --qi COLUMNS         quasi-identifiers: without a release file, or beyond its own\n"
    "      --sensitive COLUMNS  what nobody should learn about a person: whose value is certain?\n"
    "      --hierarchy COLUMN:FILE, COLUMN:KIND\n"
    "                           what a column's values become, as in anonymize; repeatable\n"
    "      --missing HOW        what a missing cell is: it matches missing ones ('value', default)\n"
    "                           or anything ('wildcard')\n"
    "      --expand             of counted rows (--count): every row as often as it is counted\n"
    "      --spreadsheet-safe   cells that a spreadsheet would execute have an apostrophe\n"
    "  -k, --k K                every class has at least K rows: instead of the release file's k\n"
    "      --demo               of a database: anonymizes its join, and each of its tables by\n"
    "                           itself, in memory; shows whom that gives away, and that a release\n"
    "                           by miracle-x does not. Nothing is written\n"
    "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon anonymize people.csv --qi sex,age --hierarchy age:ranges=5,10,20 -k 5 \\\n"
    "    --suppression 5% --sensitive salary-class --output release.csv\n"
    "  $ kanon attack release.csv --external people.csv --original people.csv --qi sex,age \\\n"
    "    --hierarchy age:ranges=5,10,20 --sensitive salary-class -k 5\n"
    "  $ kanon generate students --rows 200 --output school\n"
    "  $ kanon attack --demo school/release.yaml -k 3\n"
    "  $ kanon anonymize school/release.yaml --output released/\n"
    "  $ kanon attack released/ --external school/ --spec school/release.yaml\n";

/* ---- Words ---- */

typedef struct attacking {
    cli_anonymizing   a; /* the spec's options */
    kn_attack_options options;
    bool              demo;
} attacking;

/* A line with a figure of the original, if given, and of the release. */
static void row(cli_text_table *t, const char *name, const cli_value *before, const cli_value *after, const char *key)
{
    cli_text_table_text(t, name);
    if (before) cli_text_table_integer(t, cli_integer(before, key));
    cli_text_table_integer(t, cli_integer(after, key));
}

static int64_t people_with(const cli_value *table, int64_t matches)
{
    int64_t          count;
    const cli_value *counts = cli_list_of(table, "counts", &count);
    for (int64_t i = 0; i < count; i++)
        if (cli_integer(kn_document_at(counts, i), "matches") == matches)
            return cli_integer(kn_document_at(counts, i), "people");
    return 0;
}

/* What is matched: rows, the persons of a database, or records. */
static const char *matched(const cli_value *answer, bool one)
{
    if (cli_true(answer, "database")) return one ? "person" : "persons";
    if (cli_true(answer, "records")) return one ? "record" : "records";
    return one ? "row" : "rows";
}

static void print_counts(cli_text_table *t, const cli_value *answer, const cli_value *before, const cli_value *after)
{
    int64_t k = cli_integer(answer, "k");
    enum { MOST = 20 };
    for (int64_t m = 1; m < k && m <= MOST; m++) {
        char    name[64], number[CLI_NUMBER_SIZE];
        int64_t first = people_with(before, m), second = people_with(after, m);
        snprintf(name, sizeof name, "  match %s %s", cli_format_integer(number, m), matched(answer, m == 1));
        if (first + second == 0 && m > 1) continue;
        cli_text_table_text(t, name);
        if (before) cli_text_table_integer(t, first);
        cli_text_table_integer(t, second);
    }
}

static void print_table(const cli_value *answer, const cli_value *before, const cli_value *after)
{
    static const char *const both[] = {"people who", "original", "release"}, *const one[] = {"people who", "release"};
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT};
    char                   name[400], number[CLI_NUMBER_SIZE];
    int64_t                k = cli_integer(answer, "k"), count;
    const cli_value       *sensitive = cli_list_of(answer, "sensitive", &count);
    cli_text_table        *t = cli_text_table_new(before ? 3 : 2, before ? both : one, aligns);
    snprintf(name, sizeof name, "  match no %s", matched(answer, true));
    row(t, name, before, after, "none");
    if (cli_integer(after, "unplaced") > 0) row(t, "  cannot be placed", before, after, "unplaced");
    print_counts(t, answer, before, after);
    snprintf(name, sizeof name, "  match fewer than %s %s, but at least one", cli_format_integer(number, k),
             matched(answer, false));
    row(t, name, before, after, "below_k");
    for (int64_t i = 0; i < count; i++) {
        const char *column = kn_document_text_of(kn_document_at(sensitive, i));
        snprintf(name, sizeof name, "  give away their \"%.300s\": all %s they match agree", column,
                 matched(answer, false));
        row(t, name, before ? kn_document_member(before, "certain") : NULL, kn_document_member(after, "certain"),
            column);
    }
    snprintf(name, sizeof name, "fewest %s matched", matched(answer, false));
    row(t, name, before, after, "least");
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

/* Could nobody be found, whatever the release shows? */
static bool undecided(const cli_value *answer)
{
    return kn_document_kind_of(kn_document_member(answer, "holds")) == KN_DOCUMENT_NULL;
}

static void print_words(const cli_value *answer)
{
    const cli_value *before = kn_document_member(answer, "before"), *after = kn_document_member(answer, "after");
    int64_t          below = cli_integer(after, "below_k"), unplaced = cli_integer(after, "unplaced");
    char             number[CLI_NUMBER_SIZE];
    printf("%s, linked by ", cli_count_of(cli_integer(answer, "people"), "person", "people").text);
    cli_names_print(kn_document_member(answer, "links"), ", ");
    printf(" with %s\n\n",
           cli_count_of(cli_integer(after, "rows"), matched(answer, true), matched(answer, false)).text);
    print_table(answer, before, after);
    cli_format_integer(number, cli_integer(answer, "k"));
    if (undecided(answer))
        printf("\n%sUNDECIDED%s: nobody could be found, so nothing shows that nobody is.\n",
               cli_style_on(stdout, CLI_RED), cli_style_on(stdout, CLI_PLAIN));
    else if (below == 0)
        printf("\nNobody%s is narrowed down to fewer than %s %s.\n", unplaced > 0 ? " who can be placed" : "", number,
               matched(answer, false));
    else
        printf("\n%s narrowed down to fewer than %s %s.\n", cli_count_of(below, "person is", "people are").text, number,
               matched(answer, false));
    if (unplaced > 0)
        printf("%s placed: the hierarchy of a %s lacks a value of theirs, so nothing is said of them.\n",
               cli_count_of(unplaced, "person cannot be", "people cannot be").text,
               cli_true(answer, "records") ? "class" : "column");
}

/* ---- The run ---- */

/* Where no option describes the external table, the release file's options for the inputs apply, except the encoding:
 * a release is UTF-8, and so are most external tables. */
static void read_alike(kn_csv_options *csv, const cli_table_options *o, const kn_spec *spec)
{
    const kn_csv_options *inputs = kn_spec_csv(spec);
    if (!o->decimal) csv->decimal = inputs->decimal;
    if (!o->timezone) csv->timezone = inputs->timezone;
    if (o->na.count > 0 || o->no_na) return;
    csv->na = inputs->na;
    csv->na_count = inputs->na_count;
}

static int check_demo(const attacking *w, int argc)
{
    const cli_anonymizing *a = &w->a;
    if (argc + (a->spec_path != NULL) == 0)
        return cli_usage(&cli_attack, "--demo needs a release file that describes a database");
    if (argc > 1) return cli_usage(&cli_attack, "one database at a time");
    if (w->options.external || w->options.original || w->options.no_original || w->options.some_rows ||
        a->qi.count + a->sensitive.count > 0 || a->hierarchies.count > 0 || a->missing || a->spreadsheet_safe ||
        a->expand || a->input.count || cli_format_said(&a->input) || a->input.types.count > 0)
        return cli_usage(&cli_attack, "--demo takes all from the release file: only --spec and -k go with it");
    if (a->k != INT64_MIN && a->k < 2) return cli_usage(&cli_attack, "-k: with --demo k must be at least 2");
    return 0;
}

static int check(const attacking *w, int argc)
{
    if (argc != 1) return cli_usage(&cli_attack, argc < 1 ? "no release is named" : "one release at a time");
    if (!w->options.external) return cli_usage(&cli_attack, "--external FILE is needed: the attacker's table");
    if (!w->a.spec_path && w->a.qi.count == 0)
        return cli_usage(&cli_attack, "--spec or --qi is needed, to say by which columns the tables are linked");
    if (w->a.k != INT64_MIN && w->a.k < 1) return cli_usage(&cli_attack, "-k: k must be at least 1");
    if (w->options.original && w->options.no_original)
        return cli_usage(&cli_attack, "--original and --no-original exclude each other");
    return 0;
}

static bool of_one_table(const cli_anonymizing *a)
{
    return a->qi.count + a->sensitive.count + a->hierarchies.count + a->input.types.count > 0 || a->missing ||
           a->expand || a->input.count;
}

static int attack(attacking *w, kn_context *ctx, const char *release)
{
    kn_spec          *spec = NULL;
    kn_attack_report *report = NULL;
    kn_error          err = KN_ERROR_INIT;
    kn_csv_options    csv;
    cli_column_types  types;
    cli_anonymizing   words = w->a;
    if (!cli_table_csv_options(&csv, &w->a.input, &types)) return 2;
    cli_column_types_free(&types);
    /* With a release file, format options describe the external table only. */
    if (words.spec_path) words.input = (cli_table_options){.types = w->a.input.types, .count = w->a.input.count};
    int code = cli_usable_spec(&spec, ctx, &words);
    if (code == 0 && kn_spec_shape(spec) == KN_SHAPE_DATABASE && of_one_table(&w->a))
        code = cli_usage(&cli_attack, "of a database the release file says what columns are: --qi, --sensitive, "
                                      "--hierarchy, --type, --missing, --count and --expand are of one table");
    if (code == 0 && kn_spec_shape(spec) == KN_SHAPE_RECORDS &&
        (of_one_table(&w->a) || w->a.spreadsheet_safe || cli_format_said(&w->a.input)))
        code = cli_usage(&cli_attack,
                         "of records the release file says all: only --spec, --original, --no-original and -k "
                         "go with it");
    if (code == 0) code = cli_settle(ctx, release, true);
    w->options.release = release;
    w->options.k = w->a.k == INT64_MIN ? 0 : w->a.k;
    w->options.csv = cli_format_said(&w->a.input) ? &csv : NULL;
    if (code == 0) {
        read_alike(&csv, &w->a.input, spec);
        code = kn_attack(&report, ctx, spec, &w->options, &err) == KN_OK ? 0 : cli_fail(&err);
        if (report) {
            kn_document *doc = NULL;
            kn_status    made = kn_document_attack(&doc, ctx, report, &err);
            bool         open = made == KN_OK && undecided(kn_document_find(doc, ""));
            code = cli_answer(&w->a.common, made, doc, &err, print_words);
            if (code == 0) code = open ? 4 : report->after.below > 0;
        }
    }
    kn_attack_report_free(report);
    kn_spec_free(spec);
    return code;
}

static int attack_release(attacking *w, const char *release)
{
    kn_context *ctx = cli_context(&w->a.common);
    int         code = ctx ? attack(w, ctx, release) : 3;
    cli_context_free(ctx);
    return code;
}

/* A single argument is the release file; with --spec it is the database. */
static int demo(const attacking *w, int argc, char **argv)
{
    const char *argument = argc > 0 ? argv[0] : NULL, *spec = w->a.spec_path;
    return cli_attack_demo(&w->a.common, spec ? spec : argument, spec ? argument : NULL,
                           w->a.k == INT64_MIN ? 0 : w->a.k);
}

static int run(int argc, char **argv)
{
    attacking        w = {.a = {.command = &cli_attack, .k = INT64_MIN}, .options = KN_ATTACK_OPTIONS_INIT};
    const cli_option options[] = {{"--external", CLI_TEXT, &w.options.external},
                                  {"--spec", CLI_TEXT, &w.a.spec_path},
                                  {"--original", CLI_TEXT, &w.options.original},
                                  {"--no-original", CLI_FLAG, &w.options.no_original},
                                  {"--qi", CLI_LIST, &w.a.qi},
                                  {"--sensitive", CLI_LIST, &w.a.sensitive},
                                  {"--hierarchy", CLI_REPEAT, &w.a.hierarchies},
                                  {"--missing", CLI_TEXT, &w.a.missing},
                                  {"--spreadsheet-safe", CLI_FLAG, &w.a.spreadsheet_safe},
                                  {"--expand", CLI_FLAG, &w.a.expand},
                                  {"-k|--k", CLI_INTEGER, &w.a.k},
                                  {"--demo", CLI_FLAG, &w.demo},
                                  {"--some-rows", CLI_FLAG, &w.options.some_rows},
                                  CLI_TABLE_OPTIONS(w.a.input),
                                  {0}};
    if (!cli_parse(&cli_attack, &argc, argv, options, &w.a.common)) return 2;
    if (w.a.common.help) return 0;
    int code = w.demo ? check_demo(&w, argc) : check(&w, argc);
    if (code == 0) code = w.demo ? demo(&w, argc, argv) : attack_release(&w, argv[0]);
    cli_list_free(&w.a.qi);
    cli_list_free(&w.a.sensitive);
    cli_list_free(&w.a.hierarchies);
    cli_table_options_free(&w.a.input);
    return code;
}

const cli_command cli_attack = {
    .name = "attack",
    .summary = "how many people of another table are found in a release",
    .help = help,
    .run = run,
};
