/* cmd_diagnose.c: `kanon diagnose`: how private a table is. This file reads the options; diagnose_set.c prints the
 * answers for a given set of columns, diagnose_over.c for all subsets of a list.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <kanon/init.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "diagnose.h"
#include "lists.h"

static const char help[] =
    "Usage: kanon diagnose FILE... --qi A,B,C [-k K] [--suppression SHARE|any]\n"
    "       kanon diagnose FILE... --over A,B,C [-k K] [--suppression SHARE|any]\n"
    "       kanon diagnose [DATABASE] --spec RELEASE.yaml [-k K] [--max-size N]\n"
    "       kanon diagnose [RECORDS...] --spec RELEASE.yaml [--kmn K,M,N]\n"
    "\n"
    "How well does a crowd hide each row? Rows that agree on all the columns named by\n"
    "--qi form a class; k is the size of the smallest class. With -k the answer is also\n"
    "the exit code: 0 if every class has at least K rows, 1 if not. --over looks at every\n"
    "subset of its columns: which information, in somebody else's hands, is a threat?\n"
    "Of a database, persons are alike if all their rows are, in all tables; whom does\n"
    "somebody find who knows one column, one table or a few? Of records that are trees: who\n"
    "knows m of somebody's values, and n relations between them?\n"
    "\n"
    "Options:\n"
    "      --qi COLUMNS         quasi-identifiers: what somebody else may know\n"
    "      --over COLUMNS       any of these: with -k the largest sets that still hold and the\n"
    "                           smallest that break it, otherwise the k of every set\n"
    "  -k, --k K                every class has at least K rows: does it?\n"
    "      --at-most            read it as at most K-anonymous, instead of at least\n"
    "      --suppression SHARE  rows that may be suppressed: 0.05, 5% or '100 rows'. Whole classes\n"
    "                           go, the smallest first. 'any' asks how many would have to go\n"
    "      --entity COLUMNS     whose row it is: classes then count persons, not rows\n"
    "      --missing HOW        what a missing cell is: a value of its own ('value', default),\n"
    "                           equal to anything ('wildcard'), or a reason to set the row aside\n"
    "                           ('drop')\n"
    "      --algorithm NAME     for --over: 'fast' (default), or 'paper': Algorithms 1 to 3 of the\n"
    "                           privacy diagnosis centre as published, counting their calls\n"
    "      --max-size N         for --over: sets of at most N columns; a partial answer. Of a\n"
    "                           database: sets of at most N tables (default: 2), and all\n"
    "      --time-limit SECONDS stop then, with a partial answer (for --over with -k)\n"
    "      --sensitive COLUMNS  what nobody should learn about a person: what does a class tell?\n"
    "      --require MODEL      a privacy model that must hold: l-diversity:kind=distinct,l=3,\n"
    "                           t-closeness:distance=equal,t=0.2, ...; attribute=NAME says of\n"
    "                           which column; repeatable (--list-models)\n"
    "      --hierarchy COLUMN:FILE, COLUMN:KIND\n"
    "                           what a column's values become, as in anonymize: of a sensitive\n"
    "                           column, for the hierarchical distance; repeatable\n" CLI_LIST_MODELS_HELP
    "      --risk               for --qi: prosecutor, journalist and marketer risk\n"
    "      --population FILE    everybody the table may be about (for --risk)\n"
    "      --sampling SHARE     the table is a random sample of so many: 0.01, 1% (for --risk)\n"
    "      --weight COLUMN      sampling weights (for --risk)\n"
    "      --risk-threshold RISK\n"
    "                           whoever is found with a greater chance is at risk (for --risk;\n"
    "                           default: 0.2)\n"
    "      --suda               for --qi: what makes a row special (SUDA scores);\n"
    "                           --max-size limits the sets looked at\n"
    "      --report FILE        also an HTML page with pictures, for yourself (mode 0600)\n"
    "      --write-suppressed FILE\n"
    "                           for --qi with --suppression: the rows that would be removed, with\n"
    "                           their row numbers (people's data: readable by you alone)\n"
    "      --spec FILE          the release file: tables, keys, persons and quasi-identifiers of a\n"
    "                           database; classes of records (without it those that 'kanon init'\n"
    "                           finds)\n"
    "      --kmn K,M,N          whoever knows M values and N relations between them finds none or\n"
    "                           at least K records: is it so? (of records that are trees; default:\n"
    "                           what the release file promises, or 2,2,1)\n"
    "      --timings            add times and memory to the answer\n"
    "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon generate adult-like --rows 1000 --output people.csv\n"
    "  $ kanon diagnose people.csv --qi sex,race --suppression 1%\n"
    "  $ kanon diagnose people.csv --over sex,age,race,education,workclass -k 2\n"
    "  $ kanon generate students --rows 200 --output school\n"
    "  $ kanon diagnose --spec school/release.yaml\n"
    "  $ kanon generate patient-records --rows 200 --output patients.xml\n"
    "  $ kanon diagnose patients.xml\n";

cli_moment cli_now(void)
{
    struct timespec wall;
    struct rusage   used;
    clock_gettime(CLOCK_MONOTONIC, &wall);
    getrusage(RUSAGE_SELF, &used);
    cli_moment m = {(double)wall.tv_sec + (double)wall.tv_nsec / 1e9,
                    (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                        (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6};
    return m;
}

kn_diagnose_times cli_diagnose_times(const cli_diagnosing *d)
{
    return (kn_diagnose_times){d->read.wall - d->start.wall, d->end.wall - d->read.wall, d->read.cpu - d->start.cpu,
                               d->end.cpu - d->read.cpu};
}

void cli_timings_print(const cli_value *answer)
{
    const cli_value *seconds = kn_document_member(answer, "seconds"), *memory = kn_document_member(answer, "memory");
    if (seconds)
        printf("\nread %.3f s, diagnosed %.3f s; memory %.1f MB at most, table %.1f MB\n", cli_number(seconds, "read"),
               cli_number(seconds, "group"), cli_number(memory, "peak_bytes") / 1e6,
               cli_number(memory, "table_bytes") / 1e6);
}

int cli_diagnose_answer(cli_diagnosing *d, kn_status made, kn_document *doc, const kn_error *err,
                        void (*words)(const cli_value *answer))
{
    if (made == KN_OK) d->answer = kn_document_retain(doc);
    return cli_answer(&d->common, made, doc, err, words);
}

int cli_diagnose_verdict(const cli_diagnosing *d, int models)
{
    const cli_value *answer = kn_document_find(d->answer, ""), *holds = kn_document_member(answer, "holds"),
                    *classes = kn_document_member(answer, "classes");
    bool nobody = kn_document_integer_of(classes ? classes : kn_document_member(answer, "rows")) == 0;
    if (nobody && (d->k > 0 || d->require.count > 0)) return 4;
    if (kn_document_kind_of(holds) == KN_DOCUMENT_BOOLEAN && !kn_document_boolean_of(holds)) return 1;
    return models;
}

void cli_undecided_print(const char *nobody, const char *what)
{
    printf("\n%sUNDECIDED%s: there are no %s, so nothing shows that %s.\n", cli_style_on(stdout, CLI_RED),
           cli_style_on(stdout, CLI_PLAIN), nobody, what);
}

/* The options as written, not yet interpreted. */
typedef struct words {
    int64_t     k, max_size;
    double      time_limit;
    const char *suppress, *missing, *algorithm, *kmn;
} words;

static bool empty_list(const cli_list *list)
{
    return list->count == 0 || (list->count == 1 && !list->items[0][0]);
}

static int check_size(const words *w)
{
    if (w->max_size != INT64_MIN && (w->max_size < 1 || w->max_size > INT32_MAX))
        return cli_usage(&cli_diagnose, "--max-size must be at least 1");
    return 0;
}

static int check_names(const cli_diagnosing *d, const words *w, int files)
{
    if (files == 0) return cli_usage(&cli_diagnose, "no file is named; name a table to diagnose");
    if (d->qi.count > 0 && d->over.count > 0)
        return cli_usage(&cli_diagnose, "--qi and --over are two questions; ask one of them");
    const cli_list *list = d->over.count > 0 ? &d->over : &d->qi;
    if (empty_list(list))
        return cli_usage(&cli_diagnose, "no quasi-identifier is named; --qi or --over lists at least one column");
    for (int e = 0; e < d->entities.count; e++)
        for (int i = 0; i < list->count; i++)
            if (strcmp(list->items[i], d->entities.items[e]) == 0)
                return cli_usage(&cli_diagnose, "--entity: \"%s\" is also a quasi-identifier", d->entities.items[e]);
    if (d->over.count == 0) {
        if (w->algorithm || w->time_limit >= 0 || (w->max_size != INT64_MIN && !d->suda))
            return cli_usage(&cli_diagnose, "--algorithm, --max-size and --time-limit go with --over");
        return check_size(w);
    }
    if (d->risk || d->suda) return cli_usage(&cli_diagnose, "--risk and --suda go with --qi");
    if (w->missing && d->missing != KN_MISSING_VALUE)
        return cli_usage(&cli_diagnose, "--missing: with --over, missing cells are a value of their own");
    return check_size(w);
}

static int check_more(const cli_diagnosing *d)
{
    if ((d->require.count > 0 || d->hierarchies.count > 0) && d->sensitive.count == 0)
        return cli_usage(&cli_diagnose, "--require and --hierarchy go with --sensitive");
    if ((d->population || d->sampling || d->weight || d->threshold) && !d->risk)
        return cli_usage(&cli_diagnose, "--population, --sampling, --weight and --risk-threshold go with --risk");
    const cli_list *quasi = d->over.count > 0 ? &d->over : &d->qi;
    for (int i = 0; i < d->sensitive.count; i++)
        for (int j = 0; j < quasi->count; j++)
            if (strcmp(d->sensitive.items[i], quasi->items[j]) == 0)
                return cli_usage(&cli_diagnose, "--sensitive: \"%s\" is also a quasi-identifier",
                                 d->sensitive.items[i]);
    return 0;
}

/* Checks and interprets the options; returns 0 or the exit code. */
static int check(cli_diagnosing *d, const words *w, int files)
{
    if (w->missing && !kn_missing_parse(w->missing, &d->missing))
        return cli_usage(&cli_diagnose,
                         "--missing: not a treatment of missing cells; there are value, wildcard and drop");
    if (w->kmn)
        return cli_usage(&cli_diagnose, "--kmn is of records that are trees: XML, JSON, or a release file of such");
    int code = check_names(d, w, files);
    if (code == 0) code = check_more(d);
    if (code) return code;
    if (w->k != INT64_MIN && w->k < 1) return cli_usage(&cli_diagnose, "-k: k must be at least 1");
    d->k = w->k == INT64_MIN ? 0 : w->k;
    if (d->at_most && d->k == 0) return cli_usage(&cli_diagnose, "--at-most goes with -k");
    d->max_size = w->max_size == INT64_MIN ? 0 : w->max_size;
    d->time_limit = w->time_limit < 0 ? 0 : w->time_limit;
    if (w->algorithm && strcmp(w->algorithm, "fast") != 0 && strcmp(w->algorithm, "paper") != 0)
        return cli_usage(&cli_diagnose, "--algorithm: not an algorithm; there are fast and paper");
    d->algorithm = w->algorithm && w->algorithm[0] == 'p' ? KN_SETS_PAPER : KN_SETS_FAST;
    if (d->write_suppressed && (!w->suppress || d->over.count > 0))
        return cli_usage(&cli_diagnose, "--write-suppressed goes with --qi and --suppression");
    if (!w->suppress) return 0;
    d->suppress_mode = strcmp(w->suppress, "any") == 0 ? KN_SUPPRESS_ASKED : KN_SUPPRESS_GIVEN;
    d->suppress_rows = cli_rows_text(w->suppress);
    if (d->suppress_rows >= 0 && d->missing == KN_MISSING_DROP)
        return cli_usage(&cli_diagnose, "--suppression: with --missing drop it is a share, not a number of rows");
    if (d->suppress_mode == KN_SUPPRESS_GIVEN && d->suppress_rows < 0 && !kn_fraction_parse(w->suppress, &d->suppress))
        return cli_usage(&cli_diagnose,
                         "--suppression: not a share, a number of rows or 'any'; write 0.05, 5%% or '100 rows'");
    if (d->write_suppressed && d->suppress_mode == KN_SUPPRESS_ASKED && d->k == 0)
        return cli_usage(&cli_diagnose,
                         "--write-suppressed with --suppression any needs -k, the k that is to be reached");
    if (d->suppress_mode == KN_SUPPRESS_ASKED && d->missing == KN_MISSING_WILDCARD)
        return cli_usage(&cli_diagnose, "--suppression: wildcards cannot be combined with it, since crowds overlap");
    return 0;
}

/* Of a database or of records: all other questions come from the release file. */
static bool of_a_table(const cli_diagnosing *d, const words *w)
{
    return d->qi.count + d->over.count + d->entities.count + d->sensitive.count + d->require.count +
                   d->hierarchies.count + d->input.types.count >
               0 ||
           w->suppress || w->missing || w->algorithm || w->time_limit >= 0 || d->at_most || d->risk || d->suda ||
           d->population || d->sampling || d->weight || d->threshold || d->write_suppressed || d->timings ||
           d->input.count || cli_format_said(&d->input);
}

/* Is the report the release file, a SQLite file that is read, or among the files of a folder that is? */
static bool report_harms(const cli_diagnosing *d, const char *input)
{
    const char *report = d->report, *slash = report ? strrchr(report, '/') : NULL;
    if (!report) return false;
    size_t size = slash ? (size_t)(slash - report) + 1 : 1;
    char  *read[] = {(char *)(uintptr_t)(strncmp(input, "sqlite:", 7) == 0 ? input + 7 : input),
                     (char *)(uintptr_t)d->spec};
    char  *folder = cli_alloc(size + 1);
    snprintf(folder, size + 1, "%s", slash ? report : ".");
    bool harms = cli_overwrites_input(report, read, 2) || cli_overwrites_input(folder, read, 1);
    free(folder);
    return harms;
}

static int diagnose_database(const cli_diagnosing *d, const words *w, const kn_spec *spec, int files, char **names)
{
    kn_database_diagnose_options options = KN_DATABASE_DIAGNOSE_OPTIONS_INIT;
    if (files > 1) return cli_usage(&cli_diagnose, "one database at a time");
    if (w->kmn || of_a_table(d, w))
        return cli_usage(&cli_diagnose, "--spec takes all from the release file of a database: only -k, --max-size and "
                                        "--report go with it");
    int code = check_size(w);
    options.input = files > 0 ? names[0] : NULL;
    if (spec->input_count + files > 0 && report_harms(d, files > 0 ? names[0] : spec->inputs[0]))
        return cli_usage(&cli_diagnose, "the output would overwrite the input");
    options.k = w->k == INT64_MIN ? 0 : w->k;
    options.max_size = w->max_size == INT64_MIN ? 0 : (int)w->max_size;
    if (code == 0 && options.input) code = cli_settle(d->ctx, options.input, true);
    return code == 0 ? cli_diagnose_database(&d->common, d->ctx, spec, &options, d->report) : code;
}

static int diagnose_records(const cli_diagnosing *d, const words *w, kn_spec *spec, int files, char **names)
{
    kn_records_diagnose_options options = KN_RECORDS_DIAGNOSE_OPTIONS_INIT;
    kn_error                    err = KN_ERROR_INIT;
    int                         end = 0, code = 0;
    if (of_a_table(d, w) || d->report || w->max_size != INT64_MIN)
        return cli_usage(&cli_diagnose,
                         "--spec takes all from the release file of records: only -k and --kmn go with it");
    if (w->kmn && (sscanf(w->kmn, "%" SCNd64 ",%d,%d%n", &options.kmn.k, &options.kmn.m, &options.kmn.n, &end) != 3 ||
                   w->kmn[end] != '\0' || options.kmn.k < 1 || options.kmn.m < 1))
        return cli_usage(&cli_diagnose, "--kmn: write K,M,N: three whole numbers, of which K and M are at least 1");
    if (w->kmn && w->k != INT64_MIN) return cli_usage(&cli_diagnose, "--kmn says k, too: leave -k out");
    if (w->k != INT64_MIN) options.kmn.k = w->k;
    if (files > 0) options.inputs = (const char *const *)names;
    options.input_count = files;
    if (spec->table_count > 0 && kn_spec_check_use(spec, &err) != KN_OK) return cli_fail(&err);
    for (int i = 0; i < files && code == 0; i++) code = cli_settle(d->ctx, names[i], true);
    return code == 0 ? cli_diagnose_records(&d->common, d->ctx, spec, &options) : code;
}

/* What the release file describes; without one, records as 'kanon init' finds them. */
static int diagnose_spec(cli_diagnosing *d, const words *w, int files, char **names)
{
    kn_spec  *spec = NULL;
    kn_draft *draft = NULL;
    kn_error  err = KN_ERROR_INIT;
    if (w->k != INT64_MIN && w->k < 1) return cli_usage(&cli_diagnose, "-k: k must be at least 1");
    if (!(d->ctx = cli_context(&d->common))) return 3;
    kn_status st = d->spec ? kn_spec_read(&spec, d->ctx, d->spec, &err)
                           : kn_init(&draft, d->ctx, (const char *const *)names, files, NULL, &err);
    if (st == KN_OK && draft) st = kn_spec_read_text(&spec, d->ctx, draft->text, strlen(draft->text), names[0], &err);
    if (draft) files = 0; /* it names them */
    kn_draft_free(draft);
    int code = st == KN_OK ? 0 : cli_fail(&err);
    if (code == 0)
        code = kn_spec_shape(spec) == KN_SHAPE_RECORDS ? diagnose_records(d, w, spec, files, names)
                                                       : diagnose_database(d, w, spec, files, names);
    kn_spec_free(spec);
    return code;
}

/* Records without a release file, by the name; lines of JSON may be rows of a table, too. */
static bool are_records(const cli_diagnosing *d, int files, char **names)
{
    static const char *const endings[] = {".xml", ".json", ".jsonl", ".ndjson"};
    if (files != 1 || d->qi.count + d->over.count > 0) return false;
    size_t size = strlen(names[0]);
    if (size > 3 && strcmp(names[0] + size - 3, ".gz") == 0) size -= 3;
    if (size > 4 && strncmp(names[0] + size - 4, ".zst", 4) == 0) size -= 4;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (size > n && strncmp(names[0] + size - n, endings[i], n) == 0) return true;
    }
    return false;
}

static void want(const char **columns, int *count, const char *name)
{
    for (int i = 0; i < *count; i++)
        if (strcmp(columns[i], name) == 0) return;
    columns[(*count)++] = name;
}

/* Reads only the columns that the questions need. */
static bool read_table(cli_diagnosing *d, int *code)
{
    const cli_list *list = d->over.count > 0 ? &d->over : &d->qi;
    const char    **columns =
        cli_alloc((size_t)(list->count + d->sensitive.count + d->entities.count + 1) * sizeof *columns);
    int n = list->count;
    for (int i = 0; i < n; i++) columns[i] = list->items[i]; /* one named twice is an error */
    for (int i = 0; i < d->sensitive.count; i++) want(columns, &n, d->sensitive.items[i]);
    for (int i = 0; i < d->entities.count; i++) want(columns, &n, d->entities.items[i]);
    if (d->weight) want(columns, &n, d->weight);
    d->input.grouped = d->entities.count == 0 && !d->risk && !d->suda && !d->write_suppressed; /* only rows count */
    bool fine = cli_table_read(&d->table, d->ctx, &d->input, d->files, d->file_count, columns, n, code);
    free(columns);
    return fine;
}

/* Joins several columns that together identify the person of a row into one. */
static int join_entity(cli_diagnosing *d)
{
    kn_error err = KN_ERROR_INIT;
    size_t   size = 1;
    if (d->entities.count == 1) d->entity = d->entities.items[0];
    if (d->entities.count < 2) return 0;
    for (int i = 0; i < d->entities.count; i++) size += strlen(d->entities.items[i]) + 2;
    char *name = cli_alloc(size);
    name[0] = '\0';
    for (int i = 0; i < d->entities.count; i++) {
        size_t used = strlen(name);
        snprintf(name + used, size - used, "%s%s", i > 0 ? ", " : "", d->entities.items[i]);
    }
    d->entity = d->joined = name;
    return kn_table_add_joined(d->table, (const char *const *)d->entities.items, d->entities.count, name, &err) == KN_OK
               ? 0
               : cli_fail(&err);
}

/* Converts a number of rows to a share of all rows. */
static void set_rows(cli_diagnosing *d)
{
    int64_t rows = kn_table_total(d->table);
    if (d->suppress_mode != KN_SUPPRESS_GIVEN || d->suppress_rows < 0) return;
    d->suppress =
        d->suppress_rows < rows ? (kn_fraction){(uint64_t)d->suppress_rows, (uint64_t)rows} : (kn_fraction){1, 1};
}

int cli_diagnose_report(const cli_diagnosing *d, const kn_diagnosis *one, const kn_sets_diagnosis *all)
{
    kn_report_input in = KN_REPORT_INPUT_INIT;
    kn_error        err = KN_ERROR_INIT;
    in.version = KANON_VERSION;
    in.inputs = (const char *const *)d->files;
    in.input_count = d->file_count;
    in.quasi = (const char *const *)d->qi.items;
    in.quasi_count = d->qi.count;
    in.over = (const char *const *)d->over.items;
    in.over_count = d->over.count;
    in.entity = d->entity;
    in.missing = d->missing;
    in.k = d->k;
    in.at_most = d->at_most;
    in.suppress_mode = d->suppress_mode;
    in.diagnosis = one;
    in.sets = all;
    cli_figures      figures = {0};
    int64_t          count = 0;
    const cli_value *answer = kn_document_find(d->answer, ""), *list = cli_list_of(answer, "notes", &count);
    const char     **notes = cli_alloc((size_t)count * sizeof *notes);
    for (int64_t i = 0; i < count; i++) notes[i] = cli_text_at(list, i);
    in.notes = notes;
    in.note_count = (int)count;
    if (one) {
        cli_models_figures(&figures, kn_document_member(answer, "models"));
        cli_risk_figures(&figures, kn_document_member(answer, "risk"));
        cli_suda_figures(&figures, kn_document_member(answer, "suda"));
    }
    in.sections = figures.sections;
    in.section_count = figures.count;
    kn_status st = kn_report_write(d->ctx, d->report, &in, &err);
    cli_figures_free(&figures);
    free(notes);
    if (st != KN_OK) return cli_fail(&err);
    cli_done(&d->common, "report written to %s", d->report);
    return 0;
}

/* A table: reads what is needed and answers. */
static int diagnose_table(cli_diagnosing *d, const words *w, int argc, char **argv)
{
    int code = check(d, w, argc);
    if (code == 0 &&
        (cli_overwrites_input(d->report, argv, argc) || cli_overwrites_input(d->write_suppressed, argv, argc)))
        code = cli_usage(&cli_diagnose, "the output would overwrite the input");
    if (code == 0 && !(d->ctx = cli_context(&d->common))) code = 3;
    d->start = cli_now();
    d->files = argv;
    d->file_count = argc;
    if (code == 0 && read_table(d, &code)) {
        d->read = cli_now();
        set_rows(d);
        code = join_entity(d);
        if (code == 0) code = d->over.count > 0 ? cli_diagnose_over(d) : cli_diagnose_set(d);
    }
    return code;
}

static int run(int argc, char **argv)
{
    cli_diagnosing   d = {0};
    words            w = {.k = INT64_MIN, .max_size = INT64_MIN, .time_limit = -1};
    const cli_option options[] = {{"--qi", CLI_LIST, &d.qi},
                                  {"--over", CLI_LIST, &d.over},
                                  {"-k|--k", CLI_INTEGER, &w.k},
                                  {"--at-most", CLI_FLAG, &d.at_most},
                                  {"--suppression|--suppress", CLI_TEXT, &w.suppress},
                                  {"--entity", CLI_LIST, &d.entities},
                                  {"--missing", CLI_TEXT, &w.missing},
                                  {"--algorithm", CLI_TEXT, &w.algorithm},
                                  {"--max-size", CLI_INTEGER, &w.max_size},
                                  {"--time-limit", CLI_NUMBER, &w.time_limit},
                                  {"--sensitive", CLI_LIST, &d.sensitive},
                                  {"--require", CLI_REPEAT, &d.require},
                                  {"--hierarchy", CLI_REPEAT, &d.hierarchies},
                                  {"--risk", CLI_FLAG, &d.risk},
                                  {"--population", CLI_TEXT, &d.population},
                                  {"--sampling", CLI_TEXT, &d.sampling},
                                  {"--weight", CLI_TEXT, &d.weight},
                                  {"--risk-threshold|--threshold", CLI_TEXT, &d.threshold},
                                  {"--suda", CLI_FLAG, &d.suda},
                                  {"--report", CLI_TEXT, &d.report},
                                  {"--write-suppressed", CLI_TEXT, &d.write_suppressed},
                                  {"--timings", CLI_FLAG, &d.timings},
                                  {"--spec", CLI_TEXT, &d.spec},
                                  {"--kmn", CLI_TEXT, &w.kmn},
                                  CLI_LIST_MODELS(d.common),
                                  CLI_TABLE_OPTIONS(d.input),
                                  {0}};
    if (!cli_parse(&cli_diagnose, &argc, argv, options, &d.common)) return 2;
    if (d.common.help) return 0;
    bool whole = d.spec || are_records(&d, argc, argv);
    int  code = whole ? diagnose_spec(&d, &w, argc, argv) : diagnose_table(&d, &w, argc, argv);
    kn_document_free(d.answer);
    kn_model_report_free(d.models);
    kn_model_sets_free(d.model_sets);
    kn_risk_free(d.risk_found);
    kn_suda_free(d.suda_found);
    kn_table_free(d.table);
    cli_context_free(d.ctx);
    cli_list_free(&d.qi);
    cli_list_free(&d.over);
    cli_list_free(&d.sensitive);
    cli_list_free(&d.require);
    cli_list_free(&d.hierarchies);
    cli_list_free(&d.entities);
    free(d.joined);
    cli_table_options_free(&d.input);
    return code;
}

const cli_command cli_diagnose = {"diagnose", "what is the k of my table, and what threatens it?", help, run};
