/* cmd_generate.c: kanon generate: synthetic tables on standard output or in a file. */
#include <inttypes.h>
#include <kanon/generate.h>
#include <limits.h>
#include <string.h>

#include "cli.h"
#include "json.h"

typedef struct arguments {
    cli_common  common;
    int64_t     rows, seed, entities, attributes, cardinality;
    double      missing, mean, deviation;
    bool        id;
    const char *output, *delimiter;
} arguments;

/* "tab" or one character; the library says which are allowed. */
static bool read_delimiter(const char *text, char *out)
{
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0) {
        *out = '\t';
        return true;
    }
    *out = text[0];
    return text[0] != '\0' && text[1] == '\0';
}

/* Fills in the library's options; 0, or the exit code after printing what is wrong. */
static int read_options(kn_generate_options *o, const arguments *a, int argc, char **argv)
{
    if (argc < 1)
        return cli_usage(&cli_generate,
                         "which kind: adult-like, adult-dependent, uniform, normal, patients or students?");
    if (argc > 1) return cli_usage(&cli_generate, "one kind at a time");
    if (!kn_generate_kind_parse(argv[0], &o->kind))
        return cli_usage(
            &cli_generate,
            "'%s' is no kind; there are adult-like, adult-dependent, uniform, normal, patients and students", argv[0]);
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
        return cli_usage(&cli_generate, "--json describes a file: it needs --output FILE");
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

static void report(const arguments *a, const kn_generate_options *o)
{
    char rows[CLI_NUMBER_SIZE];
    if (a->common.json) {
        json_t *result = cli_json_object();
        cli_json_set(result, "kind", json_string(kn_generate_kind_name(o->kind)));
        cli_json_set(result, "rows", json_integer(o->rows));
        cli_json_set(result, "seed", json_integer(a->seed));
        cli_json_set(result, "output", cli_json_text(a->output, strlen(a->output)));
        cli_json_print(result);
    } else if (strcmp(a->output, "-") != 0) {
        cli_note(&a->common, "%s rows written to %s", cli_format_integer(rows, o->rows), a->output);
    }
}

/* A database instead of a table: a folder of files. */
static int run_students(const arguments *a)
{
    int64_t students = a->rows < 0 ? 1000 : a->rows;
    if (strcmp(a->output, "-") == 0) return cli_usage(&cli_generate, "students are a folder of files: --output FOLDER");
    if (a->seed < 0) return cli_usage(&cli_generate, "--seed must be 0 or more");
    if (a->delimiter || a->id || a->entities != 0 || a->missing > 0)
        return cli_usage(&cli_generate, "students take --rows, --seed and --output alone");
    kn_error    err = KN_ERROR_INIT;
    kn_context *ctx = cli_context(&a->common);
    if (!ctx) return 3;
    kn_status status = kn_generate_students(ctx, a->output, students, (uint64_t)a->seed, &err);
    cli_context_free(ctx);
    if (status != KN_OK) return cli_fail(&err);
    if (a->common.json) {
        json_t *result = cli_json_object();
        cli_json_set(result, "kind", json_string("students"));
        cli_json_set(result, "rows", json_integer(students));
        cli_json_set(result, "seed", json_integer(a->seed));
        cli_json_set(result, "output", cli_json_text(a->output, strlen(a->output)));
        cli_json_print(result);
    } else {
        char rows[CLI_NUMBER_SIZE];
        cli_note(&a->common, "%s students written to %s", cli_format_integer(rows, students), a->output);
    }
    return 0;
}

static int run(int argc, char **argv)
{
    kn_generate_options o = KN_GENERATE_OPTIONS_INIT;
    arguments           a = {.rows = -1,
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
                                     {"--missing", CLI_NUMBER, &a.missing},
                                     {"--attributes", CLI_INTEGER, &a.attributes},
                                     {"--cardinality", CLI_INTEGER, &a.cardinality},
                                     {"--mean", CLI_NUMBER, &a.mean},
                                     {"--deviation", CLI_NUMBER, &a.deviation},
                                     {0}};
    if (!cli_parse(&cli_generate, &argc, argv, options, &a.common)) return 2;
    if (a.common.help) return 0;
    if (argc == 1 && strcmp(argv[0], "students") == 0) return run_students(&a);
    int code = read_options(&o, &a, argc, argv);
    if (code) return code;
    a.common.streams = strcmp(a.output, "-") == 0;
    kn_context *ctx = cli_context(&a.common);
    if (!ctx) return 3;
    kn_error  err = KN_ERROR_INIT;
    kn_status status = kn_generate_csv(ctx, a.output, &o, &err);
    cli_context_free(ctx);
    if (status != KN_OK) return cli_fail(&err);
    report(&a, &o);
    return 0;
}

const cli_command cli_generate = {
    .name = "generate",
    .summary = "make synthetic tables",
    .help = "Usage: kanon generate KIND --rows N [OPTION]...\n"
            "\n"
            "Writes a synthetic table as CSV. Equal kind, rows, seed and options give equal\n"
            "bytes; a longer table starts with the shorter one.\n"
            "\n"
            "Kinds:\n"
            "  adult-like               census-like: sex, age, race, marital-status, education,\n"
            "                           native-country, workclass, occupation, salary-class\n"
            "  adult-dependent          the same with education-num, determined by education\n"
            "  uniform                  integers a1, a2, ..., all equally likely\n"
            "  normal                   integers a1, a2, ..., normally distributed and clipped\n"
            "  patients                 name, zip, birth-date, sex, country, diagnosis\n"
            "  students                 a database: a folder with students, their courses and books,\n"
            "                           hierarchies and a release file (default: 1000 rows)\n"
            "\n"
            "Options:\n"
            "  -n, --rows N             how many rows\n"
            "  -s, --seed S             another seed, another table (default: 1)\n"
            "  -o, --output FILE        write to FILE instead of standard output; it appears\n"
            "                           whole or not at all\n"
            "  -d, --delimiter C        , ; | or 'tab' between cells (default: ,)\n"
            "      --id                 a first column id: 1, 2, ..., N\n"
            "      --entities M         a column person: M persons, several rows each\n"
            "      --missing P          a share P of the cells is empty (adult-like: workclass,\n"
            "                           occupation, native-country; patients: zip, country)\n"
            "      --attributes D       uniform, normal: columns (default: 5)\n"
            "      --cardinality C      uniform, normal: values 0 to C - 1 (default: 8)\n"
            "      --mean M             normal: 0 or more (default: (C - 1) / 2)\n"
            "      --deviation S        normal: 0 or more (default: C / 5)\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
            "Examples:\n"
            "  kanon generate adult-like --rows 30162 --seed 7 --output people.csv\n"
            "  kanon generate normal --rows 1000 --attributes 2 --cardinality 50 --mean 25 --deviation 5\n",
    .run = run,
};
