/* diagnose_over.c: `kanon diagnose --over C`: questions 3, 4, 7, 8, 10 and 12, for all subsets of a list. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "diagnose.h"
#include "pictures.h"

enum { MOST_LINES = 40 };

/* ---- Text ---- */

static void print_border(const cli_value *sets)
{
    int64_t count = kn_document_count(sets);
    for (int64_t i = 0; i < count && i < MOST_LINES; i++) {
        const cli_value *set = kn_document_at(sets, i);
        fputs(kn_document_count(set) > 0 ? "  " : "  (no column at all)", stdout);
        cli_names_print(set, ", ");
        putchar('\n');
    }
    if (count > MOST_LINES)
        printf("  ... and %s; --json lists all\n", cli_count_of(count - MOST_LINES, "more set", "more sets").text);
    if (count == 0) printf("  none\n");
}

static void print_borders(const cli_value *answer)
{
    char        k[CLI_NUMBER_SIZE];
    bool        at_most = cli_is(answer, "reading", "at most");
    const char *after = kn_document_member(answer, "budget") ? " after suppression" : "";
    cli_format_integer(k, cli_integer(answer, "requested"));
    if (at_most)
        printf("The smallest sets on which the table is at most %s-anonymous%s (adding a column changes nothing):\n\n",
               k, after);
    else
        printf("What threatens it: the smallest sets of columns on which the table is not %s-anonymous%s\n"
               "(whoever knows all columns of one of them is a threat):\n\n",
               k, after);
    print_border(cli_smallest_sets(answer));
    printf("\nThe largest sets on which it is %s %s-anonymous%s:\n\n", at_most ? "more than" : "still", k, after);
    print_border(cli_largest_sets(answer));
}

/* Question 12 has a staircase per set; the line shows its first steps. */
static void add_steps(cli_text_table *t, const cli_value *steps)
{
    char             line[160];
    size_t           n = 0;
    const cli_value *step;
    line[0] = '\0';
    for (int64_t i = 0; n < 60 && (step = kn_document_at(steps, i)); i++)
        n += (size_t)snprintf(line + n, sizeof line - n, "%sk=%lld: %lld", i ? "  " : "",
                              (long long)cli_integer(step, "k"), (long long)cli_integer(step, "removed"));
    if (n >= 60) snprintf(line + n, sizeof line - n, "  ...");
    cli_text_table_text(t, line);
}

static void print_sets(const cli_value *sets)
{
    const cli_value *first = kn_document_at(sets, 0);
    bool        steps = kn_document_member(first, "staircase"), more = steps || kn_document_member(first, "removed");
    const char *titles[] = {"k", "columns", steps ? "rows to remove" : "removed"};
    const cli_align aligns[] = {CLI_RIGHT, CLI_LEFT, CLI_LEFT};
    cli_text_table *t = cli_text_table_new(more ? 3 : 2, titles, aligns);
    int64_t         count = kn_document_count(sets);
    for (int64_t i = 0; i < count && i < 8 * MOST_LINES; i++) {
        const cli_value *a = kn_document_at(sets, i), *removed = kn_document_member(a, "removed");
        char            *names = cli_names_text(kn_document_member(a, "attributes"));
        cli_text_table_integer(t, cli_integer(a, "k"));
        cli_text_table_text(t, names);
        free(names);
        if (steps)
            add_steps(t, kn_document_member(a, "staircase"));
        else if (more && kn_document_kind_of(removed) == KN_DOCUMENT_NULL)
            cli_text_table_text(t, "impossible");
        else if (more)
            cli_text_table_integer(t, kn_document_integer_of(removed));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
    if (count > 8 * MOST_LINES)
        printf("  ... and %s; --json lists all\n", cli_count_of(count - 8 * MOST_LINES, "more set", "more sets").text);
}

static void print_words(const cli_value *answer)
{
    const cli_value *budget = kn_document_member(answer, "budget"), *sets = kn_document_member(answer, "sets");
    bool             asked =
        sets && (cli_integer(answer, "requested") > 0 || kn_document_member(kn_document_at(sets, 0), "staircase"));
    bool complete = cli_true(answer, "complete"),
         nobody = cli_integer(answer, "rows") == 0 && cli_integer(answer, "requested") > 0;
    printf("%s, all subsets of %s\n", cli_rows_of(cli_integer(answer, "rows")).text,
           cli_count_of(kn_document_count(kn_document_member(answer, "over")), "column", "columns").text);
    if (budget) printf("At most %s may be removed.\n", cli_rows_of(kn_document_integer_of(budget)).text);
    printf("Missing cells count as a value of their own.\n%s", nobody ? "" : "\n");
    if (nobody) /* no border: nothing is shown, either way */
        cli_undecided_print("rows", "it is k-anonymous");
    else if (sets)
        print_sets(sets);
    else
        print_borders(answer);
    if (!asked && !nobody) {
        printf("\n");
        cli_picture_lattice(answer, stdout);
    }
    printf("\nThe k of a set was computed %s.\n", cli_count_of(cli_integer(answer, "calls"), "time", "times").text);
    if (!complete) printf("This answer is partial: %s.\n", cli_text(answer, "why_partial"));
    if (!complete && (cli_true(answer, "minimal_violating_complete") || cli_true(answer, "minimal_complete")))
        printf("The list of the smallest sets is complete all the same.\n");
    cli_model_sets_print(kn_document_member(answer, "models"));
    cli_timings_print(answer);
}

static int print_answer(cli_diagnosing *s, const kn_sets_options *o, const kn_sets_diagnosis *d)
{
    kn_sets_answers   a = KN_SETS_ANSWERS_INIT;
    kn_diagnose_times times = cli_diagnose_times(s);
    kn_document      *doc = NULL;
    kn_error          err = KN_ERROR_INIT;
    a.options = o;
    a.sets = d;
    a.models = s->model_sets;
    a.sensitive = (const char *const *)s->sensitive.items;
    a.requirements = (const char *const *)s->require.items;
    if (s->timings) a.times = &times;
    kn_status made = kn_document_diagnose_sets(&doc, s->ctx, s->table, &a, &err);
    return cli_diagnose_answer(s, made, doc, &err, print_words);
}

int cli_diagnose_over(cli_diagnosing *s)
{
    kn_sets_options o = KN_SETS_OPTIONS_INIT;
    o.over = (const char *const *)s->over.items;
    o.over_count = s->over.count;
    o.entity = s->entity;
    o.k = s->k;
    o.at_most = s->at_most;
    o.suppress_mode = s->suppress_mode;
    o.suppress = s->suppress;
    o.algorithm = s->algorithm;
    o.max_size = (int)s->max_size;
    o.time_limit = s->time_limit;
    kn_error           err = KN_ERROR_INIT;
    kn_sets_diagnosis *d = NULL;
    if (kn_diagnose_sets(&d, s->ctx, s->table, &o, &err) != KN_OK) return cli_fail(&err);
    int code = s->sensitive.count > 0 ? cli_diagnose_models(s) : 0;
    s->end = cli_now();
    if (code < 2) { /* nothing is printed after a failure */
        int written = print_answer(s, &o, d);
        if (written == 0 && s->report) written = cli_diagnose_report(s, NULL, d);
        code = written ? written : cli_diagnose_verdict(s, code);
    }
    kn_sets_diagnosis_free(d);
    return code;
}
