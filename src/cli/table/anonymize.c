/* table/anonymize.c: what `kanon anonymize` prints for tables only (anonymize.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "anonymize.h"

static void lost(const cli_value *answer, FILE *out)
{
    static const char *const titles[] = {"column", "level", "lost", ""}, *const no_levels[] = {"column", "lost", ""};
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT},
                           no_aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_LEFT};
    enum { BAR = 20 };
    bool             levels = kn_document_member(answer, "node");
    cli_text_table  *t = levels ? cli_text_table_new(4, titles, aligns) : cli_text_table_new(3, no_levels, no_aligns);
    int64_t          count;
    const cli_value *attributes = cli_list_of(answer, "attributes", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *a = kn_document_at(attributes, i);
        double           lm = cli_number(a, "lm");
        cli_text_table_text(t, cli_text(a, "name"));
        if (levels) cli_text_table_format(t, "%d of %d", (int)cli_integer(a, "level"), (int)cli_integer(a, "height"));
        cli_text_table_format(t, "%.1f %%", 100 * lm);
        cli_text_table_bar(t, lm, BAR);
    }
    fputc('\n', out);
    cli_text_table_print(t, out, 2);
    cli_text_table_free(t);
}

/* "0,3,1" */
static const char *node_text(char *out, size_t size, const cli_value *levels)
{
    size_t used = 0;
    out[0] = '\0';
    for (int64_t i = 0; i < kn_document_count(levels) && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, i ? ",%d" : "%d",
                                 (int)kn_document_integer_of(kn_document_at(levels, i)));
    return out;
}

static void choice(const cli_value *answer, FILE *out)
{
    const cli_value *levels = kn_document_member(answer, "node"), *lattice = kn_document_member(answer, "lattice"),
                    *bound = kn_document_member(answer, "loss_bound");
    char node[1024];
    if (!levels) return;
    fprintf(out, ": levels %s", node_text(node, sizeof node, levels));
    if (kn_document_number_of(lattice) > 1)
        fprintf(out, ", one of %s", cli_choices_of(kn_document_number_of(lattice), "choice", "choices").text);
    if (!cli_true(answer, "complete"))
        fprintf(out, "; the time limit ended the search: a better one may exist");
    else if (cli_true(answer, "optimal"))
        fprintf(out, "; none loses less by %s", cli_text(answer, "utility"));
    if (bound) /* never rounded up */
        fprintf(out, "; none loses less than %.6g by %s", kn_document_number_of(bound) * (1 - 5e-6),
                cli_text(answer, "utility"));
}

/* The theoretical bounds next to the result. */
static void print_bounds(const cli_value *answer, FILE *out)
{
    char             number[2][CLI_NUMBER_SIZE];
    const cli_value *bounds = kn_document_member(answer, "bounds"), *sizes = kn_document_member(answer, "sizes"),
                    *largest = kn_document_at(sizes, kn_document_count(sizes) - 1);
    if (!bounds) return;
    fprintf(out,
            "  bound a class has at most 2d(k-1)+m = %s rows (the largest here: %s), so c_avg <= %.6g, dm <= %.6g\n",
            cli_format_integer(number[0], cli_integer(bounds, "class_rows")),
            cli_format_integer(number[1], cli_integer(largest, "size")), cli_number(bounds, "c_avg"),
            cli_number(bounds, "dm"));
}

static void print_suppressed(const cli_value *answer, FILE *out)
{
    static const char *const shown[][2] = {{"star", "shown as * in every column"},
                                           {"drop", "left out"},
                                           {"keep-sensitive", "their quasi-identifiers shown as *"}};
    int64_t                  rows = cli_integer(answer, "rows_in") - cli_integer(answer, "missing_dropped"),
            suppressed = cli_integer(answer, "suppressed"), average = cli_integer(answer, "average_suppressed");
    char number[CLI_NUMBER_SIZE];
    int  how = 0;
    if (suppressed == 0) {
        fputs("No row is suppressed.\n", out);
        return;
    }
    while (how < 2 && !cli_is(answer, "suppressed_as", shown[how][0])) how++;
    fprintf(out, "%s of %s suppressed (%.2f %%), %s.\n", cli_format_integer(number, suppressed), cli_rows_of(rows).text,
            rows > 0 ? 100.0 * (double)suppressed / (double)rows : 0, shown[how][1]);
    if (average > 0)
        fprintf(out, "Of these, %s only for the sake of the average risk: the smallest classes.\n",
                cli_rows_of(average).text);
}

static void print_solutions(const cli_value *answer, const cli_value *solutions, FILE *out)
{
    enum { MOST = 1000 };
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    const char            *titles[] = {"node", cli_text(answer, "utility"), "suppressed", "classes"};
    cli_text_table        *t = cli_text_table_new(4, titles, aligns);
    int64_t                count = kn_document_count(solutions);
    fprintf(out, "\nMinimal nodes: every promise is kept, and by no node below them: %s\n\n",
            cli_count_of(count, "node", "nodes").text);
    for (int64_t i = 0; i < count && i < MOST; i++) {
        const cli_value *one = kn_document_at(solutions, i);
        char             node[1024];
        cli_text_table_text(t, node_text(node, sizeof node, kn_document_member(one, "node")));
        cli_text_table_figure(t, cli_number(one, "loss"));
        cli_text_table_integer(t, cli_integer(one, "suppressed"));
        cli_text_table_integer(t, cli_integer(one, "classes"));
    }
    cli_text_table_print(t, out, 2);
    cli_text_table_free(t);
    if (count > MOST) fprintf(out, "  ... and %s; --json lists all\n", cli_count_of(count - MOST, "more", "more").text);
}

/* What became of a column of sets. */
static void print_items(const cli_value *answer, FILE *out)
{
    const cli_value *of = kn_document_member(answer, "items");
    char             number[3][CLI_NUMBER_SIZE];
    if (!of) return;
    int64_t items = cli_integer(of, "items"), k = cli_integer(of, "k");
    fprintf(out, "Of %s in %s %s are as they were and %s hidden", cli_count_of(items, "item", "items").text,
            cli_text(of, "column"), cli_format_integer(number[0], cli_integer(of, "kept")),
            cli_format_integer(number[1], cli_integer(of, "hidden")));
    fprintf(out, " (%s of %s show *); loss %.6g.\n", cli_format_integer(number[2], cli_integer(of, "classes")),
            cli_count_of(cli_integer(answer, "classes"), "class", "classes").text, cli_number(of, "loss"));
    if (k > 0)
        fprintf(out, "Whoever knows all quasi-identifiers and up to %s of a person finds at least %s.\n",
                cli_count_of(cli_integer(of, "m"), "item", "items").text, cli_rows_of(k).text);
}

static void verdict(const cli_value *answer, FILE *out)
{
    cli_print_crowds(answer, cli_rows_of(cli_integer(answer, "rows")).text, out);
    print_suppressed(answer, out);
    print_items(answer, out);
}

static void loss(const cli_value *answer, FILE *out)
{
    const cli_value *metrics = kn_document_member(answer, "metrics"),
                    *solutions = kn_document_member(answer, "solutions");
    fputs("  loss ", out);
    for (int64_t i = 0; i < kn_document_count(metrics); i++) {
        double value = kn_document_number_of(kn_document_at(metrics, i));
        if (isnan(value))
            fprintf(out, " %s -", kn_document_key(metrics, i));
        else
            fprintf(out, " %s %.6g", kn_document_key(metrics, i), value);
    }
    fputc('\n', out);
    print_bounds(answer, out);
    if (solutions) print_solutions(answer, solutions, out);
}

const cli_shape cli_table_shape = {verdict, lost, choice, loss};
