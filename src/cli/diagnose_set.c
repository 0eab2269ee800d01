/* diagnose_set.c: `kanon diagnose --qi S`: questions 1, 2, 5, 6, 9 and 11, for a given set of columns. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "diagnose.h"
#include "pictures.h"

/* ---- Text ---- */

/* Class sizes in powers of two, which are easier to read. */
void cli_histogram_print(const cli_value *sizes, const char *of, const char *unit)
{
    static const cli_align aligns[] = {CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
    const char            *titles[] = {of, "classes", unit, "share", ""};
    cli_text_table        *t = cli_text_table_new(5, titles, aligns);
    const char            *many = kn_document_member(kn_document_at(sizes, 0), "persons") ? "persons" : "rows";
    int64_t                count = kn_document_count(sizes), total = 0, i = 0;
    for (int64_t j = 0; j < count; j++) total += cli_integer(kn_document_at(sizes, j), many);
    for (int64_t low = 1; i < count; low *= 2) {
        int64_t          classes = 0, rows = 0;
        const cli_value *one;
        for (; (one = kn_document_at(sizes, i)) && cli_integer(one, "size") < low * 2; i++) {
            classes += cli_integer(one, "classes");
            rows += cli_integer(one, many);
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

static void print_missing(const cli_value *answer)
{
    int64_t    rows = cli_integer(answer, "missing_rows");
    kn_missing missing = KN_MISSING_VALUE;
    if (rows == 0) {
        printf("Missing cells: none among the quasi-identifiers.\n");
        return;
    }
    static const char *const meaning[] = {"count as a value of their own", "agree with any value",
                                          "set their rows aside"};
    (void)kn_missing_parse(cli_text(answer, "missing"), &missing);
    printf("Missing cells: %s with one among the quasi-identifiers; missing cells %s.\n", cli_rows_of(rows).text,
           meaning[missing]);
}

static void print_suppression(const cli_value *answer)
{
    char       before[CLI_NUMBER_SIZE], after[CLI_NUMBER_SIZE];
    int64_t    suppressed = cli_integer(answer, "suppressed");
    cli_phrase budget = cli_rows_of(cli_integer(answer, "budget"));
    cli_format_integer(before, cli_integer(answer, "k"));
    cli_format_integer(after, cli_integer(answer, "k_after"));
    if (suppressed == 0)
        printf("\nAt most %s may be removed: too few to take out all classes of the smallest size; k stays %s.\n",
               budget.text, before);
    else
        printf("\nRemoving %s (of at most %s) raises k from %s to %s.\n", cli_rows_of(suppressed).text, budget.text,
               before, after);
}

static double share_of(int64_t part, int64_t rows)
{
    return rows > 0 ? (double)part / (double)rows : 0;
}

/* Question 9. */
static void print_removal(const cli_value *answer, const cli_value *removed)
{
    bool    at_most = cli_is(answer, "reading", "at most");
    int64_t rows = kn_document_integer_of(removed);
    if (kn_document_kind_of(removed) == KN_DOCUMENT_NULL)
        printf("\n%s\n", at_most ? "It is more than k-anonymous as it is: removing rows does not change that."
                                 : "No class is that large: only an empty table would be.");
    else if (at_most)
        printf("\nIt stays at most so anonymous while no more than %s may be removed.\n", cli_rows_of(rows).text);
    else
        printf("\nRemoving %s is enough, and fewer are not (%.6g of all rows).\n", cli_rows_of(rows).text,
               share_of(rows, cli_integer(answer, "rows")));
}

/* Question 11. */
static void print_staircase(const cli_value *answer, const cli_value *steps)
{
    static const cli_align   aligns[] = {CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    static const char *const titles[] = {"k", "rows to remove", "share"};
    enum { MOST_STEPS = 20 };
    printf("\nWhat removing the smallest classes reaches:\n\n");
    cli_picture_staircase(kn_document_member(answer, "histogram"), stdout);
    printf("\n");
    cli_text_table *t = cli_text_table_new(3, titles, aligns);
    int64_t         count = kn_document_count(steps);
    for (int64_t i = 0; i < count && i < MOST_STEPS; i++) {
        const cli_value *step = kn_document_at(steps, i);
        int64_t          removed = cli_integer(step, "removed");
        cli_text_table_integer(t, cli_integer(step, "k"));
        cli_text_table_integer(t, removed);
        cli_text_table_format(t, "%.2f %%", 100 * share_of(removed, cli_integer(answer, "rows")));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
    if (count > MOST_STEPS)
        printf("  ... and %s; --json lists all\n", cli_count_of(count - MOST_STEPS, "more step", "more steps").text);
}

static void print_verdict(const cli_value *answer)
{
    char        k[CLI_NUMBER_SIZE];
    bool        holds = cli_true(answer, "holds");
    int64_t     below = cli_integer(answer, "below_rows");
    const char *removed = cli_integer(answer, "suppressed") > 0 ? " once those rows are removed" : "";
    if (cli_integer(answer, "classes") == 0) {
        cli_undecided_print("rows to look at", "it is k-anonymous");
        return;
    }
    printf("\n%s%s%s: the table is %s%s%s-anonymous on these columns%s.\n",
           cli_style_on(stdout, holds ? CLI_GREEN : CLI_RED), holds ? "YES" : "NO", cli_style_on(stdout, CLI_PLAIN),
           holds ? "" : "not ", cli_is(answer, "reading", "at most") ? "at most " : "",
           cli_format_integer(k, cli_integer(answer, "requested")), removed);
    if (below > 0)
        printf("%s in %s smaller than %s%s.\n", cli_rows_of(below).text,
               cli_count_of(cli_integer(answer, "below_classes"), "class", "classes").text, k,
               kn_document_member(answer, "budget") ? ", before any is removed" : "");
}

static void print_heading(const cli_value *answer)
{
    char    number[CLI_NUMBER_SIZE];
    int64_t k = cli_integer(answer, "k");
    printf("%s, %s of rows alike in ", cli_rows_of(cli_integer(answer, "rows")).text,
           cli_count_of(cli_integer(answer, "classes"), "class", "classes").text);
    cli_names_print(kn_document_member(answer, "quasi"), ", ");
    printf("\n%sk = %s%s: ", cli_style_on(stdout, CLI_BOLD), cli_format_integer(number, k),
           cli_style_on(stdout, CLI_PLAIN));
    if (kn_document_count(kn_document_member(answer, "histogram")) == 0)
        printf("there are no rows to look at.\n");
    else if (k == 1)
        printf("%s alone; whoever knows these columns finds them.\n",
               cli_count_of(cli_integer(answer, "unique_rows"), "row stands", "rows stand").text);
    else
        printf("everybody is hidden among at least %s %s.\n", number, cli_text(answer, "entity") ? "persons" : "rows");
}

static void print_figures(const cli_value *answer)
{
    cli_figures      figures = {0};
    const cli_value *suda = kn_document_member(answer, "suda");
    cli_models_figures(&figures, kn_document_member(answer, "models"));
    cli_risk_figures(&figures, kn_document_member(answer, "risk"));
    cli_suda_figures(&figures, suda);
    cli_suda_rows(&figures, suda);
    cli_figures_print(&figures, stdout);
    cli_figures_free(&figures);
}

static void print_words(const cli_value *answer)
{
    const cli_value *steps = kn_document_member(answer, "staircase"), *removed = kn_document_member(answer, "removed");
    print_heading(answer);
    print_missing(answer);
    printf("\n");
    cli_histogram_print(kn_document_member(answer, "histogram"),
                        cli_is(answer, "missing", kn_missing_name(KN_MISSING_WILDCARD)) ? "crowd size"
                        : cli_text(answer, "entity")                                    ? "persons"
                                                                                        : "class size",
                        "rows");
    if (kn_document_member(answer, "budget")) print_suppression(answer);
    bool nobody = cli_integer(answer, "classes") == 0 && kn_document_member(answer, "requested");
    if (removed && !nobody)
        print_removal(answer, removed);
    else if (steps && !nobody)
        print_staircase(answer, steps);
    else if (kn_document_member(answer, "requested"))
        print_verdict(answer);
    print_figures(answer);
    cli_timings_print(answer);
}

/* Writes the rows to be removed to a file of their own. */
static int write_suppressed(const cli_diagnosing *s, const kn_diagnose_options *o, const kn_diagnosis *d)
{
    kn_error     err = KN_ERROR_INIT;
    kn_row_list *rows = NULL;
    int64_t      k = s->suppress_mode == KN_SUPPRESS_GIVEN ? d->k_after : s->k;
    if (kn_suppressed_rows(&rows, s->ctx, s->table, o, k, &err) != KN_OK) return cli_fail(&err);
    int       code = 0;
    kn_status st =
        kn_table_write_rows_csv(s->table, s->ctx, s->write_suppressed, kn_table_delimiter(s->table), rows, &err);
    int64_t count = 0;
    for (int64_t i = 0; i < rows->count; i++) count += kn_table_count(s->table, rows->rows[i]);
    if (st != KN_OK)
        code = cli_fail(&err);
    else
        cli_done(&s->common, "%s written to %s", cli_rows_of(count).text, s->write_suppressed);
    kn_row_list_free(rows);
    return code;
}

/* Models, risk and special uniques, if asked for. Returns the worst exit code. */
static int measure_more(cli_diagnosing *s)
{
    int code = 0;
    if (s->sensitive.count > 0) code = cli_diagnose_models(s);
    if (s->risk && code < 2) {
        int next = cli_diagnose_risk(s);
        if (next > code) code = next;
    }
    if (s->suda && code < 2) {
        int next = cli_diagnose_suda(s);
        if (next > code) code = next;
    }
    return code;
}

static kn_diagnose_options options_of(const cli_diagnosing *s)
{
    kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
    o.quasi = (const char *const *)s->qi.items;
    o.quasi_count = s->qi.count;
    o.entity = s->entity;
    o.missing = s->missing;
    o.k = s->k;
    o.suppressing = s->suppress_mode == KN_SUPPRESS_GIVEN;
    o.suppress = s->suppress;
    return o;
}

static int print_answer(cli_diagnosing *s, const kn_diagnose_options *o, const kn_diagnosis *d)
{
    kn_diagnose_answers a = KN_DIAGNOSE_ANSWERS_INIT;
    kn_diagnose_times   times = cli_diagnose_times(s);
    kn_document        *doc = NULL;
    kn_error            err = KN_ERROR_INIT;
    a.options = o;
    a.diagnosis = d;
    a.at_most = s->at_most;
    a.suppress_mode = s->suppress_mode;
    a.models = s->models;
    a.requirements = (const char *const *)s->require.items;
    a.risk = s->risk_found;
    a.suda = s->suda_found;
    if (s->timings) a.times = &times;
    kn_status made = kn_document_diagnose(&doc, s->ctx, s->table, &a, &err);
    return cli_diagnose_answer(s, made, doc, &err, print_words);
}

int cli_diagnose_set(cli_diagnosing *s)
{
    kn_diagnose_options o = options_of(s);
    kn_error            err = KN_ERROR_INIT;
    kn_diagnosis       *d = NULL;
    if (kn_diagnose(&d, s->ctx, s->table, &o, &err) != KN_OK) return cli_fail(&err);
    int code = measure_more(s);
    s->end = cli_now();
    if (code < 2) { /* nothing is printed after a failure */
        int written = print_answer(s, &o, d);
        if (written == 0 && s->write_suppressed) written = write_suppressed(s, &o, d);
        if (written == 0 && s->report) written = cli_diagnose_report(s, d, NULL);
        code = written ? written : cli_diagnose_verdict(s, code);
    }
    kn_diagnosis_free(d);
    return code;
}
