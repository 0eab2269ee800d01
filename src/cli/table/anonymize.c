/* table/anonymize.c: what `kanon anonymize` prints of a table only (anonymize.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"
#include "diagnose.h"

static const kn_release_result *result_of(const cli_release *r)
{
    return (const kn_release_result *)(const void *)r->head;
}

static kn_status make(kn_release_head **out, kn_context *ctx, const kn_spec *spec, const kn_anonymize_options *options,
                      kn_error *err)
{
    kn_release_result *result = NULL;
    kn_status          st = kn_anonymize(&result, ctx, spec, options, err);
    *out = result ? &result->head : NULL;
    return st;
}

static void free_result(kn_release_head *head)
{
    kn_release_result_free((kn_release_result *)(void *)head);
}

static kn_status document(kn_document **out, const cli_release *r, kn_error *err)
{
    return kn_document_anonymize(out, r->ctx, r->spec, result_of(r), r->options, err);
}

/* ---- Words ---- */

static void lost(const cli_release *release, FILE *out)
{
    const kn_release_result *r = result_of(release);
    static const char *const titles[] = {"column", "level", "lost", ""}, *const no_levels[] = {"column", "lost", ""};
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT},
                           no_aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_LEFT};
    enum { BAR = 20 };
    bool            levels = r->level_count > 0;
    cli_text_table *t = levels ? cli_text_table_new(4, titles, aligns) : cli_text_table_new(3, no_levels, no_aligns);
    for (int i = 0; i < r->attribute_count; i++) {
        const kn_release_attribute *a = &r->attributes[i];
        cli_text_table_text(t, a->name);
        if (levels) cli_text_table_format(t, "%d of %d", a->level, a->height);
        cli_text_table_format(t, "%.1f %%", 100 * a->lm);
        cli_text_table_bar(t, a->lm, BAR);
    }
    fputc('\n', out);
    cli_text_table_print(t, out, 2);
    cli_text_table_free(t);
}

/* "0,3,1" */
static void node_text(char *out, size_t size, const int *levels, int count)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, i ? ",%d" : "%d", levels[i]);
}

static void choice(const cli_release *release, FILE *out)
{
    const kn_release_result *r = result_of(release);
    char                     node[1024];
    if (r->level_count == 0) return;
    node_text(node, sizeof node, r->levels, r->level_count);
    fprintf(out, ": levels %s", node);
    if (r->lattice > 0) fprintf(out, ", one of %.0f choices", r->lattice);
    if (!r->head.complete)
        fprintf(out, "; the time limit ended the search: a better one may exist");
    else if (r->optimal)
        fprintf(out, "; none loses less by %s", kn_metric_name(r->utility));
}

/* What the theory allows, beside what came out. */
static void print_bounds(const kn_release_result *r, FILE *out)
{
    char number[2][CLI_NUMBER_SIZE];
    if (r->region_bound == 0) return;
    fprintf(out,
            "  bound a class has at most 2d(k-1)+m = %s rows (the largest here: %s), so c_avg <= %.6g, dm <= %.6g\n",
            cli_format_integer(number[0], r->region_bound),
            cli_format_integer(number[1], r->head.size_count > 0 ? r->head.sizes[r->head.size_count - 1].size : 0),
            r->c_avg_bound, r->dm_bound);
}

static void print_metrics(const kn_release_result *r, FILE *out)
{
    fputs("  loss ", out);
    for (int i = 0; i < KN_METRICS; i++) fprintf(out, " %s %.6g", kn_metric_name((kn_metric)i), r->metrics[i]);
    fputc('\n', out);
}

static void print_suppressed(const kn_spec *spec, const kn_release_result *r, FILE *out)
{
    static const char *const shown[] = {"shown as * in every column", "left out", "their quasi-identifiers shown as *"};
    int64_t                  rows = r->rows_in - r->missing_dropped;
    char                     number[CLI_NUMBER_SIZE];
    if (r->head.suppressed == 0) {
        fputs("No row is suppressed.\n", out);
        return;
    }
    fprintf(out, "%s of %s suppressed (%.2f %%), %s.\n", cli_format_integer(number, r->head.suppressed),
            cli_rows_of(rows).text, rows > 0 ? 100.0 * (double)r->head.suppressed / (double)rows : 0,
            shown[spec->suppressed]);
    if (r->average_suppressed > 0)
        fprintf(out, "Of these, %s only for the sake of the average risk: the smallest classes.\n",
                cli_rows_of(r->average_suppressed).text);
}

static void print_solutions(const kn_release_result *r, FILE *out)
{
    enum { MOST = 1000 };
    static const char *const titles[] = {"node", "", "suppressed", "classes"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    const char              *heading[] = {titles[0], kn_metric_name(r->utility), titles[2], titles[3]};
    cli_text_table          *t = cli_text_table_new(4, heading, aligns);
    fprintf(out, "\nMinimal nodes: every promise is kept, and by no node below them: %s\n\n",
            cli_count_of(r->solution_count, "node", "nodes").text);
    for (int64_t i = 0; i < r->solution_count && i < MOST; i++) {
        char node[1024];
        node_text(node, sizeof node, r->solutions[i].levels, r->level_count);
        cli_text_table_text(t, node);
        cli_text_table_figure(t, r->solutions[i].loss);
        cli_text_table_integer(t, r->solutions[i].suppressed);
        cli_text_table_integer(t, r->solutions[i].classes);
    }
    cli_text_table_print(t, out, 2);
    cli_text_table_free(t);
    if (r->solution_count > MOST)
        fprintf(out, "  ... and %s; --json lists all\n", cli_count_of(r->solution_count - MOST, "more", "more").text);
}

static void verdict(const cli_release *release, FILE *out)
{
    const kn_release_result *r = result_of(release);
    cli_print_crowds(release, cli_rows_of(r->rows).text, out);
    print_suppressed(release->spec, r, out);
}

static void loss(const cli_release *release, FILE *out)
{
    const kn_release_result *r = result_of(release);
    print_metrics(r, out);
    print_bounds(r, out);
    if (release->a->all_solutions) print_solutions(r, out);
}

const cli_shape cli_table_shape = {make, free_result, document, verdict, lost, choice, loss};
