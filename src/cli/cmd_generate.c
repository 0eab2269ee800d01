/* cmd_generate.c: kanon generate: synthetic tables, a database and tree records, on standard output or in files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <kanon/diagnose.h>
#include <kanon/generate.h>
#include <limits.h>
#include <string.h>

#include "document.h"

#define NO_ROWS INT64_MIN /* --rows was not given */

typedef struct arguments {
    cli_common  common;
    int64_t     rows, seed, entities, attributes, cardinality;
    double      missing, mean, deviation;
    const char *missing_share;
    bool        id;
    const char *output, *delimiter;
} arguments;

/* "tab" or one character; the library checks which are allowed. */
static bool read_delimiter(const char *text, char *out)
{
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0) {
        *out = '\t';
        return true;
    }
    *out = text[0];
    return text[0] != '\0' && text[1] == '\0';
}

/* Fills in the library's options; returns 0, or the exit code after printing what is wrong. */
static int read_options(kn_generate_options *o, const arguments *a, int argc, char **argv)
{
    if (argc < 1)
        return cli_usage(&cli_generate, "no kind is named; there are adult-like, adult-dependent, uniform, normal, "
                                        "patients, hospital, students and "
                                        "patient-records");
    if (argc > 1) return cli_usage(&cli_generate, "one kind at a time");
    if (!kn_generate_kind_parse(argv[0], &o->kind))
        return cli_usage(
            &cli_generate,
            "'%s' is no kind; there are adult-like, adult-dependent, uniform, normal, patients, hospital, students and "
            "patient-records",
            argv[0]);
    if (a->rows < 0) return cli_usage(&cli_generate, "--rows N is needed, 0 or more");
    if (a->seed < 0) return cli_usage(&cli_generate, "--seed must be 0 or more");
    if (a->entities < 0) return cli_usage(&cli_generate, "--entities must be 1 or more");
    if (a->attributes < 1 || a->attributes > INT_MAX) return cli_usage(&cli_generate, "--attributes must be 1 or more");
    bool numbers = o->kind == KN_GENERATE_UNIFORM || o->kind == KN_GENERATE_NORMAL;
    if (!numbers && (a->attributes != o->attributes || a->cardinality != o->cardinality))
        return cli_usage(&cli_generate, "--attributes and --cardinality are for uniform and normal");
    if (o->kind != KN_GENERATE_NORMAL && (a->mean != o->mean || a->deviation != o->deviation))
        return cli_usage(&cli_generate, "--mean and --deviation are for normal");
    if ((a->mean < 0 && a->mean != o->mean) || (a->deviation < 0 && a->deviation != o->deviation))
        return cli_usage(&cli_generate, "--mean and --deviation must be 0 or more");
    if (a->delimiter && !read_delimiter(a->delimiter, &o->delimiter))
        return cli_usage(&cli_generate, "--delimiter must be one character or 'tab'");
    if (a->common.json && strcmp(a->output, "-") == 0)
        return cli_usage(&cli_generate, "--json describes a file; --output FILE is needed");
    o->rows = a->rows;
    o->seed = (uint64_t)a->seed;
    o->id = a->id;
    o->entities = a->entities;
    o->missing = a->missing;
    o->attributes = (int)a->attributes;
    o->cardinality = a->cardinality;
    o->mean = a->mean;
    o->deviation = a->deviation;
    return 0;
}

static int report(const arguments *a, kn_context *ctx, const char *kind, int64_t rows, const char *one,
                  const char *many)
{
    char number[CLI_NUMBER_SIZE];
    if (a->common.json) {
        kn_error     err = KN_ERROR_INIT;
        kn_document *doc = NULL;
        kn_status    made = kn_document_generate(&doc, ctx, kind, rows, (uint64_t)a->seed, a->output, &err);
        return cli_answer(&a->common, made, doc, &err, NULL);
    }
    if (strcmp(a->output, "-") != 0)
        cli_done(&a->common, "%s %s written to %s", cli_format_integer(number, rows), rows == 1 ? one : many,
                 a->output);
    return 0;
}

/* Everything but a single table: a database or records. */
typedef struct other_kind {
    const char *name, *one, *many; /* its name, and that of its rows                        */
    const char *target;            /* what --output must name; NULL: it may be left out     */
    kn_status (*write)(kn_context *ctx, const char *target, int64_t rows, uint64_t seed, kn_error *err);
} other_kind;

static const other_kind other_kinds[] = {
    {"students", "student", "students", "a folder or sqlite:FILE", kn_generate_students},
    {"patient-records", "record", "records", NULL, kn_generate_patient_records},
};

static int run_other(const other_kind *kind, arguments *a, const kn_generate_options *o)
{
    int64_t rows = a->rows == NO_ROWS ? 1000 : a->rows;
    bool    numbers = a->attributes != o->attributes || a->cardinality != o->cardinality || a->mean != o->mean ||
                   a->deviation != o->deviation;
    if (rows < 0) return cli_usage(&cli_generate, "--rows must be 0 or more");
    if (kind->target && strcmp(a->output, "-") == 0)
        return cli_usage(&cli_generate, "%s are more than one table: --output names %s", kind->name, kind->target);
    if (a->seed < 0) return cli_usage(&cli_generate, "--seed must be 0 or more");
    if (a->delimiter || a->id || a->entities != 0 || a->missing != 0 || numbers)
        return cli_usage(&cli_generate, "%s take --rows, --seed and --output alone", kind->name);
    if (a->common.json && strcmp(a->output, "-") == 0)
        return cli_usage(&cli_generate, "--json describes a file; --output FILE is needed");
    a->common.streams = strcmp(a->output, "-") == 0;
    kn_error    err = KN_ERROR_INIT;
    kn_context *ctx = cli_context(&a->common);
    if (!ctx) return 3;
    int code = cli_settle(ctx, a->output, false);
    if (code == 0 && kind->write(ctx, a->output, rows, (uint64_t)a->seed, &err) != KN_OK) code = cli_fail(&err);
    if (code == 0) code = report(a, ctx, kind->name, rows, kind->one, kind->many);
    cli_context_free(ctx);
    return code;
}

static int run(int argc, char **argv)
{
    kn_generate_options o = KN_GENERATE_OPTIONS_INIT;
    arguments           a = {.rows = NO_ROWS,
                             .seed = 1,
                             .attributes = o.attributes,
                             .cardinality = o.cardinality,
                             .mean = o.mean,
                             .deviation = o.deviation,
                             .output = "-"};
    const cli_option    options[] = {{"-n|--rows", CLI_INTEGER, &a.rows},
                                     {"-s|--seed", CLI_INTEGER, &a.seed},
                                     {"-o|--output", CLI_TEXT, &a.output},
                                     {"-d|--delimiter", CLI_TEXT, &a.delimiter},
                                     {"--id", CLI_FLAG, &a.id},
                                     {"--entities", CLI_INTEGER, &a.entities},
                                     {"--missing-share|--missing", CLI_TEXT, &a.missing_share},
                                     {"--attributes", CLI_INTEGER, &a.attributes},
                                     {"--cardinality", CLI_INTEGER, &a.cardinality},
                                     {"--mean", CLI_NUMBER, &a.mean},
                                     {"--deviation", CLI_NUMBER, &a.deviation},
                                     {0}};
    if (!cli_parse(&cli_generate, &argc, argv, options, &a.common)) return 2;
    if (a.common.help) return 0;
    kn_fraction missing = {0, 1};
    if (a.missing_share && !kn_fraction_parse(a.missing_share, &missing))
        return cli_usage(&cli_generate, "--missing-share: not a share from 0 to 1; write 0.05 or 5%%");
    a.missing = (double)missing.numerator / (double)missing.denominator;
    for (size_t i = 0; argc == 1 && i < sizeof other_kinds / sizeof *other_kinds; i++)
        if (strcmp(argv[0], other_kinds[i].name) == 0) return run_other(&other_kinds[i], &a, &o);
    int code = read_options(&o, &a, argc, argv);
    if (code) return code;
    a.common.streams = strcmp(a.output, "-") == 0;
    kn_context *ctx = cli_context(&a.common);
    if (!ctx) return 3;
    kn_error err = KN_ERROR_INIT;
    code = cli_settle(ctx, a.output, false);
    if (code == 0 && kn_generate_csv(ctx, a.output, &o, &err) != KN_OK) code = cli_fail(&err);
    if (code == 0) code = report(&a, ctx, kn_generate_kind_name(o.kind), o.rows, "row", "rows");
    cli_context_free(ctx);
    return code;
}

const cli_command cli_generate = {
    .name = "generate",
    .summary = "make synthetic tables, databases and records",
    .help = "Usage: kanon generate KIND --rows N [OPTION]...\n"
            "\n"
            "Writes a synthetic table as CSV; students and patient-records are a database\n"
            "and tree records. Equal kind, rows, seed and options give equal bytes; a longer\n"
            "table starts with the shorter one.\n"
            "\n"
            "Kinds:\n"
            "  adult-like               census-like: sex, age, race, marital-status, education,\n"
            "                           native-country, workclass, occupation, salary-class\n"
            "  adult-dependent          the same with education-num, determined by education\n"
            "  uniform                  integers a1, a2, ..., all equally likely\n"
            "  normal                   integers a1, a2, ..., normally distributed and clipped\n"
            "  patients                 name, zip, birth-date, sex, country, diagnosis\n"
            "  hospital                 a year's admissions: age, sex, zip, city, admitted, ward,\n"
            "                           diagnosis; zip determines city, diagnosis ward\n"
            "  students                 a database of students, their courses and books:\n"
            "                           --output sqlite:FILE, or a folder with hierarchies and a\n"
            "                           release file too (default: 1000 students)\n"
            "  patient-records          trees: patients, their hospitals, diseases and drugs:\n"
            "                           --output FILE.xml or FILE.jsonl, or a folder with\n"
            "                           hierarchies and a release file too (default: 1000 records)\n"
            "\n"
            "Options:\n"
            "  -n, --rows N             how many rows\n"
            "  -s, --seed N             another seed, another result (default: 1)\n"
            "  -o, --output FILE        where the result goes (default: standard output); it appears\n"
            "                           whole or not at all\n"
            "  -d, --delimiter C        one character between cells, or 'tab' (default: ,)\n"
            "      --id                 a first column id: 1, 2, ..., N\n"
            "      --entities M         a column person: M persons, several rows each\n"
            "      --missing-share SHARE\n"
            "                           so many of the cells are empty: 0.05, 5% (adult-like: workclass,\n"
            "                           occupation, native-country; patients: zip, country;\n"
            "                           hospital: zip, city)\n"
            "      --attributes D       uniform, normal: columns (default: 5)\n"
            "      --cardinality C      uniform, normal: values 0 to C - 1 (default: 8)\n"
            "      --mean M             normal: 0 or more (default: (C - 1) / 2)\n"
            "      --deviation S        normal: 0 or more (default: C / 5)\n"
            "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
            "Examples:\n"
            "  $ kanon generate adult-like --rows 30162 --seed 7 --output people.csv\n"
            "  $ kanon generate normal --rows 1000 --attributes 2 --cardinality 50 --mean 25 --deviation 5\n",
    .run = run,
};
