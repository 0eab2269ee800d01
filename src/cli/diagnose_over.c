/* diagnose_over.c: `kanon diagnose --over C`: questions 3, 4, 7, 8, 10 and 12, for all subsets of a list of columns. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "diagnose.h"
#include "pictures.h"

enum { MOST_LINES = 40 };

/* ---- Text ---- */

/* The names of a set, joined; free it. */
static char *set_text(const cli_diagnosing *s, kn_column_set set)
{
    size_t size = 16;
    for (int i = 0; i < set.count; i++) size += strlen(s->over.items[set.columns[i]]) + 2;
    char *text = cli_alloc(size);
    strcpy(text, set.count ? "" : "(no column at all)");
    if (set.count == 0) return text;
    for (int i = 0; i < set.count; i++) {
        if (i) strcat(text, ", ");
        strcat(text, s->over.items[set.columns[i]]);
    }
    return text;
}

static void print_border(const cli_diagnosing *s, const kn_column_set *sets, int64_t count)
{
    for (int64_t i = 0; i < count && i < MOST_LINES; i++) {
        char *names = set_text(s, sets[i]);
        char *safe = cli_escape(names, strlen(names));
        printf("  %s\n", safe);
        free(safe);
        free(names);
    }
    if (count > MOST_LINES)
        printf("  ... and %s; --json lists all\n", cli_count_of(count - MOST_LINES, "more set", "more sets").text);
    if (count == 0) printf("  none\n");
}

static void print_borders(const cli_diagnosing *s, const kn_sets_diagnosis *d)
{
    char k[CLI_NUMBER_SIZE];
    cli_format_integer(k, s->k);
    const char *after = s->suppress_mode == KN_SUPPRESS_GIVEN ? " after suppression" : "";
    if (s->at_most)
        printf("The smallest sets on which the table is at most %s-anonymous%s (adding a column changes nothing):\n\n",
               k, after);
    else
        printf("What threatens it: the smallest sets of columns on which the table is not %s-anonymous%s\n"
               "(whoever knows all columns of one of them is a threat):\n\n",
               k, after);
    print_border(s, d->minimal_violating, d->minimal_count);
    printf("\nThe largest sets on which it is %s %s-anonymous%s:\n\n", s->at_most ? "more than" : "still", k, after);
    print_border(s, d->maximal, d->maximal_count);
}

/* Question 12 has a staircase per set; a line shows its first steps. */
static void add_steps(cli_text_table *t, const kn_set_answer *a)
{
    char   line[160];
    size_t n = 0;
    line[0] = '\0';
    for (int64_t i = 0; i < a->step_count && n < 60; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, "%sk=%lld: %lld", i ? "  " : "", (long long)a->steps[i].k,
                              (long long)a->steps[i].removed);
    if (n >= 60) snprintf(line + n, sizeof line - n, "  ...");
    cli_text_table_text(t, line);
}

static void print_sets(const cli_diagnosing *s, const kn_sets_diagnosis *d)
{
    const char     *removed = s->suppress_mode == KN_SUPPRESS_ASKED && s->k == 0 ? "rows to remove" : "removed";
    const char     *titles[] = {"k", "columns", removed};
    const cli_align aligns[] = {CLI_RIGHT, CLI_LEFT, CLI_LEFT};
    cli_text_table *t = cli_text_table_new(s->suppress_mode == KN_SUPPRESS_NONE ? 2 : 3, titles, aligns);
    for (int64_t i = 0; i < d->set_count && i < 8 * MOST_LINES; i++) {
        const kn_set_answer *a = &d->sets[i];
        char                *names = set_text(s, a->set);
        cli_text_table_integer(t, a->k);
        cli_text_table_text(t, names);
        free(names);
        if (s->suppress_mode == KN_SUPPRESS_NONE) continue;
        if (s->suppress_mode == KN_SUPPRESS_ASKED && s->k == 0)
            add_steps(t, a);
        else if (a->removed < 0)
            cli_text_table_text(t, "impossible");
        else
            cli_text_table_integer(t, a->removed);
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
    if (d->set_count > 8 * MOST_LINES)
        printf("  ... and %s; --json lists all\n",
               cli_count_of(d->set_count - 8 * MOST_LINES, "more set", "more sets").text);
}

static void print_text(const cli_diagnosing *s, const kn_sets_diagnosis *d)
{
    printf("%s, all subsets of %s\n", cli_rows_of(d->rows).text, cli_count_of(s->over.count, "column", "columns").text);
    if (s->suppress_mode == KN_SUPPRESS_GIVEN) printf("At most %s may be removed.\n", cli_rows_of(d->budget).text);
    printf("Missing cells count as a value of their own.\n\n");
    if (s->k > 0 && s->suppress_mode != KN_SUPPRESS_ASKED)
        print_borders(s, d);
    else
        print_sets(s, d);
    if (s->suppress_mode != KN_SUPPRESS_ASKED) {
        printf("\n");
        cli_picture_lattice(d, (const char *const *)s->over.items, s->over.count, s->at_most ? s->k + 1 : s->k, stdout);
    }
    printf("\nThe k of a set was computed %s.\n", cli_count_of(d->calls, "time", "times").text);
    if (!d->complete) printf("This answer is partial: %s.\n", d->why_partial);
    if (!d->complete && d->minimal_complete) printf("The list of the smallest sets is complete all the same.\n");
}

char *cli_mask_text(const cli_list *names, uint64_t set)
{
    size_t size = 1;
    for (int i = 0; i < names->count; i++) size += strlen(names->items[i]) + 2;
    char *text = cli_alloc(size);
    text[0] = '\0';
    for (int i = 0; i < names->count && i < 64; i++) {
        if (!(set >> i & 1)) continue;
        if (text[0]) strcat(text, ", ");
        strcat(text, names->items[i]);
    }
    return text;
}

static int print_answer(cli_diagnosing *s, const kn_sets_options *o, const kn_sets_diagnosis *d, bool *holds)
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
    if (made == KN_OK) {
        (void)kn_document_boolean(doc, "holds", holds);
        s->answer = kn_document_retain(doc);
    }
    int code = cli_answer(&s->common, made, doc, &err, NULL);
    if (code || s->common.json) return code;
    print_text(s, d);
    if (s->model_sets) cli_model_sets_print(s);
    cli_diagnose_print_timings(s);
    return 0;
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
    bool               holds = true;
    if (kn_diagnose_sets(&d, s->ctx, s->table, &o, &err) != KN_OK) return cli_fail(&err);
    int code = s->sensitive.count > 0 ? cli_diagnose_models(s) : 0;
    s->end = cli_now();
    if (code < 2) { /* nothing is printed where something failed */
        int written = print_answer(s, &o, d, &holds);
        if (written == 0 && s->report) written = cli_diagnose_report(s, NULL, d);
        if (written) code = written;
    }
    kn_sets_diagnosis_free(d);
    if (code) return code;
    return holds ? 0 : 1;
}
