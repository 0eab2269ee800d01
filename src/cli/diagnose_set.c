/* diagnose_set.c: `kanon diagnose --qi S`: questions 1, 2, 5, 6, 9 and 11, for a given set of attributes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "diagnose.h"
#include "pictures.h"

/* ---- Text ---- */

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

static void print_missing(const cli_diagnosing *s, const kn_diagnosis *d)
{
    if (d->missing_rows == 0) {
        printf("Missing cells: none among the quasi-identifiers.\n");
        return;
    }
    static const char *const meaning[] = {"count as a value of their own", "agree with any value",
                                          "set their rows aside"};
    printf("Missing cells: %s with one among the quasi-identifiers; missing cells %s.\n",
           cli_rows_of(d->missing_rows).text, meaning[s->missing]);
}

static void print_suppression(const kn_diagnosis *d)
{
    char before[CLI_NUMBER_SIZE], after[CLI_NUMBER_SIZE];
    cli_format_integer(before, d->k);
    cli_format_integer(after, d->k_after);
    if (d->suppressed == 0)
        printf("\nAt most %s may be removed: too few to take out all classes of the smallest size; k stays %s.\n",
               cli_rows_of(d->budget).text, before);
    else
        printf("\nRemoving %s (of at most %s) raises k from %s to %s.\n", cli_rows_of(d->suppressed).text,
               cli_rows_of(d->budget).text, before, after);
}

/* Questions 9 and 11. */
static void print_staircase(const cli_diagnosing *s, const kn_diagnosis *d)
{
    static const cli_align   aligns[] = {CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    static const char *const titles[] = {"k", "rows to remove", "share"};
    enum { MOST_STEPS = 20 };
    if (s->k > 0) {
        int64_t removed = kn_diagnosis_removal(d, s->k, s->at_most);
        if (removed < 0)
            printf("\n%s\n", s->at_most ? "It is more than k-anonymous as it is: removing rows does not change that."
                                        : "No class is that large: only an empty table would be.");
        else if (s->at_most)
            printf("\nIt stays at most so anonymous while no more than %s may be removed.\n",
                   cli_rows_of(removed).text);
        else
            printf("\nRemoving %s is enough, and fewer are not (%.6g of all rows).\n", cli_rows_of(removed).text,
                   d->rows > 0 ? (double)removed / (double)d->rows : 0.0);
        return;
    }
    printf("\nWhat removing the smallest classes reaches:\n\n");
    cli_picture_staircase(d, stdout);
    printf("\n");
    cli_text_table *t = cli_text_table_new(3, titles, aligns);
    int64_t         steps = kn_diagnosis_steps(d);
    for (int64_t i = 0; i < steps && i < MOST_STEPS; i++) {
        kn_step step = kn_diagnosis_step(d, i);
        cli_text_table_integer(t, step.k);
        cli_text_table_integer(t, step.removed);
        cli_text_table_format(t, "%.2f %%", d->rows > 0 ? 100.0 * (double)step.removed / (double)d->rows : 0.0);
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
    if (steps > MOST_STEPS)
        printf("  ... and %s; --json lists all\n", cli_count_of(steps - MOST_STEPS, "more step", "more steps").text);
}

static void print_verdict(const cli_diagnosing *s, const kn_diagnosis *d, bool holds)
{
    char        k[CLI_NUMBER_SIZE];
    const char *removed = d->suppressed > 0 ? " once those rows are removed" : "";
    printf("\n%s%s%s: the table is %s%s%s-anonymous on these columns%s.\n",
           cli_style_on(stdout, holds ? CLI_GREEN : CLI_RED), holds ? "YES" : "NO", cli_style_on(stdout, CLI_PLAIN),
           holds ? "" : "not ", s->at_most ? "at most " : "", cli_format_integer(k, s->k), removed);
    if (d->below_rows > 0)
        printf("%s in %s smaller than %s%s.\n", cli_rows_of(d->below_rows).text,
               cli_count_of(d->below_classes, "class", "classes").text, k,
               s->suppress_mode == KN_SUPPRESS_GIVEN ? ", before any is removed" : "");
}

static void print_heading(const cli_diagnosing *s, const kn_diagnosis *d)
{
    char k[CLI_NUMBER_SIZE];
    printf("%s, %s of rows alike in ", cli_rows_of(d->rows).text, cli_count_of(d->classes, "class", "classes").text);
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
               cli_count_of(d->unique_rows, "row stands", "rows stand").text);
    else
        printf("everybody is hidden among at least %s %s.\n", k, s->entity ? "persons" : "rows");
}

static void print_text(const cli_diagnosing *s, const kn_diagnosis *d, bool holds)
{
    print_heading(s, d);
    print_missing(s, d);
    printf("\n");
    print_histogram(d, s->missing == KN_MISSING_WILDCARD ? "crowd size" : s->entity ? "persons" : "class size");
    if (s->suppress_mode == KN_SUPPRESS_GIVEN) print_suppression(d);
    if (s->k > 0 && s->suppress_mode != KN_SUPPRESS_ASKED) print_verdict(s, d, holds);
    if (s->suppress_mode == KN_SUPPRESS_ASKED) print_staircase(s, d);
}

/* The rows that go, into a file of their own. */
static int write_suppressed(const cli_diagnosing *s, const kn_diagnose_options *o, const kn_diagnosis *d)
{
    kn_error     err = KN_ERROR_INIT;
    kn_row_list *rows = NULL;
    int64_t      k = s->suppress_mode == KN_SUPPRESS_GIVEN ? d->k_after : s->k;
    if (kn_suppressed_rows(&rows, s->ctx, s->table, o, k, &err) != KN_OK) return cli_fail(&err);
    int       code = 0;
    kn_status st =
        kn_table_write_rows_csv(s->table, s->ctx, s->write_suppressed, kn_table_delimiter(s->table), rows, &err);
    if (st != KN_OK)
        code = cli_fail(&err);
    else
        cli_done(&s->common, "%s written to %s", cli_rows_of(rows->count).text, s->write_suppressed);
    kn_row_list_free(rows);
    return code;
}

/* Models, risk and special uniques, where they were asked for: the worst exit code. */
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

static int print_answer(cli_diagnosing *s, const kn_diagnose_options *o, const kn_diagnosis *d, bool *holds)
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
    if (made == KN_OK) {
        (void)kn_document_boolean(doc, "holds", holds);
        s->answer = kn_document_retain(doc);
    }
    int code = cli_answer(&s->common, made, doc, &err, NULL);
    if (code || s->common.json) return code;
    print_text(s, d, *holds);
    cli_figures_print(&s->figures, stdout);
    cli_figures_print(&s->rows, stdout);
    cli_diagnose_print_timings(s);
    return 0;
}

int cli_diagnose_set(cli_diagnosing *s)
{
    kn_diagnose_options o = options_of(s);
    kn_error            err = KN_ERROR_INIT;
    kn_diagnosis       *d = NULL;
    bool                holds = true;
    if (kn_diagnose(&d, s->ctx, s->table, &o, &err) != KN_OK) return cli_fail(&err);
    int code = measure_more(s);
    s->end = cli_now();
    if (code < 2) { /* nothing is printed where something failed */
        int written = print_answer(s, &o, d, &holds);
        if (written == 0 && s->write_suppressed) written = write_suppressed(s, &o, d);
        if (written == 0 && s->report) written = cli_diagnose_report(s, d, NULL);
        if (written) code = written;
    }
    kn_diagnosis_free(d);
    if (code) return code;
    return holds ? 0 : 1;
}
