/* cmd_diagnose.c: `kanon diagnose`: the k of a table with respect to a set of attributes. */
#include <kanon/diagnose.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cli.h"
#include "json.h"

static const char help[] =
    "Usage: kanon diagnose FILE... --qi A,B,C [-k K] [--suppress SHARE]\n"
    "\n"
    "How well does a crowd hide each row? Rows that agree on all the columns named by\n"
    "--qi form a class; k is the size of the smallest class. With -k the answer is also\n"
    "the exit code: 0 if every class has at least K rows, 1 if not.\n"
    "\n"
    "      --qi COLUMNS         the quasi-identifiers: what somebody else may know\n"
    "  -k, --k K                is it K-anonymous?\n"
    "      --suppress SHARE     if at most this share of the rows may be removed: 0.05 or 5%.\n"
    "                           Whole classes go, the smallest first\n"
    "      --entity COLUMN      whose row it is: classes then count persons, not rows\n"
    "      --missing HOW        missing cells are a value of their own ('value', default),\n"
    "                           agree with anything ('wildcard'), or set the row aside ('drop')\n"
    "      --timings            add times and memory to the answer\n"
    "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon generate adult-like --rows 1000 --output people.csv\n"
    "  $ kanon diagnose people.csv --qi sex,race --suppress 0.01\n";

/* Wall and processor time between two moments. */
typedef struct moment {
    double wall, cpu;
} moment;

static moment now(void)
{
    struct timespec wall;
    struct rusage   used;
    clock_gettime(CLOCK_MONOTONIC, &wall);
    getrusage(RUSAGE_SELF, &used);
    moment m = {(double)wall.tv_sec + (double)wall.tv_nsec / 1e9,
                (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6};
    return m;
}

/* Everything one run knows. */
typedef struct run_state {
    cli_common          common;
    cli_table_options   input;
    cli_list            qi;
    int64_t             k;
    const char         *suppress, *entity, *missing;
    bool                timings;
    kn_diagnose_options options;
    kn_context         *ctx;
    kn_table           *table;
    kn_diagnosis       *result;
    moment              start, read, end;
} run_state;

static json_t *timings_json(const run_state *s)
{
    json_t *all = cli_json_object(), *seconds = cli_json_object(), *cpu = cli_json_object(), *memory = cli_json_object();
    cli_json_set(seconds, "read", cli_json_number(s->read.wall - s->start.wall));
    cli_json_set(seconds, "group", cli_json_number(s->end.wall - s->read.wall));
    cli_json_set(seconds, "total", cli_json_number(s->end.wall - s->start.wall));
    cli_json_set(cpu, "read", cli_json_number(s->read.cpu - s->start.cpu));
    cli_json_set(cpu, "group", cli_json_number(s->end.cpu - s->read.cpu));
    cli_json_set(cpu, "total", cli_json_number(s->end.cpu - s->start.cpu));
    cli_json_set(memory, "peak_bytes", json_integer((json_int_t)kn_context_memory_peak(s->ctx)));
    cli_json_set(memory, "table_bytes", json_integer((json_int_t)kn_table_bytes(s->table)));
    cli_json_set(all, "seconds", seconds);
    cli_json_set(all, "cpu_seconds", cpu);
    cli_json_set(all, "memory", memory);
    return all;
}

static void print_json(const run_state *s)
{
    const kn_diagnosis *d = s->result;
    json_t             *o = cli_json_object(), *quasi = cli_json_array(), *histogram = cli_json_array();
    for (int i = 0; i < s->qi.count; i++) cli_json_append(quasi, cli_json_text(s->qi.items[i], strlen(s->qi.items[i])));
    for (int64_t i = 0; i < d->size_count; i++) {
        json_t *bar = cli_json_object();
        cli_json_set(bar, "size", json_integer(d->sizes[i].size));
        cli_json_set(bar, "classes", json_integer(d->sizes[i].classes));
        cli_json_set(bar, "rows", json_integer(d->sizes[i].rows));
        cli_json_append(histogram, bar);
    }
    cli_json_set(o, "rows", json_integer(d->rows));
    cli_json_set(o, "quasi", quasi);
    if (s->entity) {
        cli_json_set(o, "entity", cli_json_text(s->entity, strlen(s->entity)));
        cli_json_set(o, "persons", json_integer(d->persons));
    }
    cli_json_set(o, "missing", cli_json_text(kn_missing_name(s->options.missing), strlen(kn_missing_name(s->options.missing))));
    cli_json_set(o, "missing_rows", json_integer(d->missing_rows));
    cli_json_set(o, "dropped", json_integer(d->dropped));
    cli_json_set(o, "k", json_integer(d->k));
    cli_json_set(o, "classes", json_integer(d->classes));
    cli_json_set(o, "unique_rows", json_integer(d->unique_rows));
    cli_json_set(o, "histogram", histogram);
    if (s->options.k > 0) {
        cli_json_set(o, "requested", json_integer(s->options.k));
        cli_json_set(o, "below_classes", json_integer(d->below_classes));
        cli_json_set(o, "below_rows", json_integer(d->below_rows));
    }
    cli_json_set(o, "suppressed", json_integer(d->suppressed));
    if (s->options.suppressing) {
        cli_json_set(o, "budget", json_integer(d->budget));
        cli_json_set(o, "suppressed_classes", json_integer(d->suppressed_classes));
        cli_json_set(o, "k_after", json_integer(d->k_after));
    }
    cli_json_set(o, "holds", s->options.k > 0 ? json_boolean(d->holds) : json_null());
    if (s->timings) {
        json_t *timings = timings_json(s);
        if (json_object_update(o, timings) != 0) cli_json_set(o, "seconds", NULL);
        json_decref(timings);
    }
    cli_json_print(o);
}

/* "1 row", "2,345 rows". */
typedef struct phrase {
    char text[CLI_NUMBER_SIZE + 16];
} phrase;

static phrase count_of(int64_t n, const char *one, const char *many)
{
    char   number[CLI_NUMBER_SIZE];
    phrase p;
    snprintf(p.text, sizeof p.text, "%s %s", cli_format_integer(number, n), n == 1 ? one : many);
    return p;
}

static phrase rows_of(int64_t n)
{
    return count_of(n, "row", "rows");
}

/* Class sizes in powers of two, as a person wants to see them. */
static void print_histogram(const kn_diagnosis *d, const char *of)
{
    static const cli_align aligns[] = {CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
    const char            *titles[] = {of, "classes", "rows", "share", ""};
    cli_text_table        *t = cli_text_table_new(5, titles, aligns);
    int64_t                total = 0;
    for (int64_t i = 0; i < d->size_count; i++) total += d->sizes[i].rows;
    int64_t i = 0;
    for (int64_t low = 1; i < d->size_count; low *= 2) {
        int64_t classes = 0, rows = 0;
        for (; i < d->size_count && d->sizes[i].size < low * 2; i++) {
            classes += d->sizes[i].classes;
            rows += d->sizes[i].rows;
        }
        if (classes == 0) continue;
        char   from[CLI_NUMBER_SIZE], to[CLI_NUMBER_SIZE];
        double share = (double)rows / (double)total;
        if (low == 1)
            cli_text_table_text(t, "1");
        else
            cli_text_table_format(t, "%s-%s", cli_format_integer(from, low), cli_format_integer(to, low * 2 - 1));
        cli_text_table_integer(t, classes);
        cli_text_table_integer(t, rows);
        cli_text_table_format(t, "%.1f %%", 100 * share);
        cli_text_table_bar(t, share, 30);
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_missing(const run_state *s)
{
    const kn_diagnosis *d = s->result;
    if (d->missing_rows == 0) {
        printf("Missing cells: none among the quasi-identifiers.\n");
        return;
    }
    static const char *const meaning[] = {"count as a value of their own", "agree with any value",
                                          "set their rows aside"};
    printf("Missing cells: %s with one among the quasi-identifiers; missing cells %s.\n", rows_of(d->missing_rows).text,
           meaning[s->options.missing]);
}

static void print_suppression(const run_state *s)
{
    const kn_diagnosis *d = s->result;
    char                before[CLI_NUMBER_SIZE], after[CLI_NUMBER_SIZE];
    cli_format_integer(before, d->k);
    cli_format_integer(after, d->k_after);
    if (d->suppressed == 0)
        printf("\nAt most %s may be removed: too few to take out all classes of the smallest size; k stays %s.\n",
               rows_of(d->budget).text, before);
    else
        printf("\nRemoving %s (of at most %s) raises k from %s to %s.\n", rows_of(d->suppressed).text,
               rows_of(d->budget).text, before, after);
}

static void print_verdict(const run_state *s)
{
    const kn_diagnosis *d = s->result;
    char                k[CLI_NUMBER_SIZE];
    const char         *removed = d->suppressed > 0 ? " once those rows are removed" : "";
    printf("\n%s%s%s: the table is %s%s-anonymous on these columns%s.\n",
           cli_style_on(stdout, d->holds ? CLI_GREEN : CLI_RED), d->holds ? "YES" : "NO",
           cli_style_on(stdout, CLI_PLAIN), d->holds ? "" : "not ", cli_format_integer(k, s->options.k), removed);
    if (d->below_rows > 0)
        printf("%s in %s smaller than %s%s.\n", rows_of(d->below_rows).text,
               count_of(d->below_classes, "class", "classes").text, k,
               s->options.suppressing ? ", before any is removed" : "");
}

static void print_heading(const run_state *s)
{
    const kn_diagnosis *d = s->result;
    char                k[CLI_NUMBER_SIZE];
    printf("%s, %s by ", rows_of(d->rows).text, count_of(d->classes, "class", "classes").text);
    for (int i = 0; i < s->qi.count; i++) {
        char *name = cli_escape(s->qi.items[i], strlen(s->qi.items[i]));
        printf("%s%s", i ? ", " : "", name);
        free(name);
    }
    printf("\n%sk = %s%s: ", cli_style_on(stdout, CLI_BOLD), cli_format_integer(k, d->k),
           cli_style_on(stdout, CLI_PLAIN));
    if (d->size_count == 0)
        printf("there are no rows to look at.\n");
    else if (d->k == 1)
        printf("%s alone; whoever knows these columns finds them.\n",
               count_of(d->unique_rows, "row stands", "rows stand").text);
    else
        printf("everybody is hidden among at least %s %s.\n", k, s->entity ? "persons" : "rows");
}

static void print_text(const run_state *s)
{
    const kn_diagnosis *d = s->result;
    print_heading(s);
    print_missing(s);
    printf("\n");
    print_histogram(d, s->options.missing == KN_MISSING_WILDCARD ? "crowd size" : s->entity ? "persons" : "class size");
    if (s->options.suppressing) print_suppression(s);
    if (s->options.k > 0) print_verdict(s);
    if (s->timings)
        printf("\nread %.3f s, group %.3f s; memory %.1f MB at most, table %.1f MB\n", s->read.wall - s->start.wall,
               s->end.wall - s->read.wall, (double)kn_context_memory_peak(s->ctx) / 1e6,
               (double)kn_table_bytes(s->table) / 1e6);
}

/* Checks what can be checked before anything is read; returns 0 or the exit code. */
static int check(run_state *s, int files, bool k_given)
{
    const kn_diagnose_options plain = KN_DIAGNOSE_OPTIONS_INIT;
    s->options = plain;
    if (files == 0) return cli_usage(&cli_diagnose, "name a file to diagnose");
    if (s->qi.count == 0 || (s->qi.count == 1 && !s->qi.items[0][0]))
        return cli_usage(&cli_diagnose, "--qi: name at least one column");
    if (k_given && s->k < 1) return cli_usage(&cli_diagnose, "-k: k must be at least 1");
    s->options.k = k_given ? s->k : 0;
    if (s->missing && !kn_missing_parse(s->missing, &s->options.missing))
        return cli_usage(&cli_diagnose, "--missing: 'value', 'wildcard' or 'drop'");
    if (s->suppress) {
        if (!kn_fraction_parse(s->suppress, &s->options.suppress))
            return cli_usage(&cli_diagnose, "--suppress: a share between 0 and 1, like 0.05 or 5%%");
        s->options.suppressing = true;
    }
    for (int i = 0; i < s->qi.count && s->entity; i++)
        if (strcmp(s->qi.items[i], s->entity) == 0)
            return cli_usage(&cli_diagnose, "--entity: \"%s\" is also a quasi-identifier", s->entity);
    s->options.quasi = (const char *const *)s->qi.items;
    s->options.quasi_count = s->qi.count;
    s->options.entity = s->entity;
    return 0;
}

/* Reads only the columns it needs. */
static bool read_table(run_state *s, char **files, int count, int *code)
{
    int          n = s->qi.count + (s->entity != NULL);
    const char **columns = cli_alloc((size_t)n * sizeof *columns);
    for (int i = 0; i < s->qi.count; i++) columns[i] = s->qi.items[i];
    if (s->entity) columns[s->qi.count] = s->entity;
    bool fine = cli_table_read(&s->table, s->ctx, &s->input, files, count, columns, n, code);
    free(columns);
    return fine;
}

static int run(int argc, char **argv)
{
    run_state s = {.k = INT64_MIN};
    const cli_option options[] = {{"--qi", CLI_LIST, &s.qi},
                                  {"-k|--k", CLI_INTEGER, &s.k},
                                  {"--suppress", CLI_TEXT, &s.suppress},
                                  {"--entity", CLI_TEXT, &s.entity},
                                  {"--missing", CLI_TEXT, &s.missing},
                                  {"--timings", CLI_FLAG, &s.timings},
                                  CLI_TABLE_OPTIONS(s.input),
                                  {0}};
    if (!cli_parse(&cli_diagnose, &argc, argv, options, &s.common)) return 2;
    if (s.common.help) return 0;
    int code = check(&s, argc, s.k != INT64_MIN);
    if (code == 0 && !(s.ctx = cli_context(&s.common))) code = 3;
    s.start = now();
    if (code == 0 && read_table(&s, argv, argc, &code)) {
        kn_error err = KN_ERROR_INIT;
        s.read = now();
        if (kn_diagnose(&s.result, s.ctx, s.table, &s.options, &err) != KN_OK) {
            code = cli_fail(&err);
        } else {
            s.end = now();
            cli_table_notes(&s.common, s.table);
            if (s.common.json)
                print_json(&s);
            else
                print_text(&s);
            code = s.result->holds ? 0 : 1;
        }
    }
    kn_diagnosis_free(s.result);
    kn_table_free(s.table);
    cli_context_free(s.ctx);
    cli_list_free(&s.qi);
    cli_table_options_free(&s.input);
    return code;
}

const cli_command cli_diagnose = {"diagnose", "what is the k of my table?", help, run};
