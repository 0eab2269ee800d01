/* anonymize_summary.c: what `kanon anonymize` tells of a release: a page of words for people, everything as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise.h"
#include "anonymize.h"
#include "diagnose.h"
#include "json.h"

char *cli_beside(const char *path, const char *ending)
{
    size_t size = strlen(path) + strlen(ending) + 1;
    char  *name = cli_alloc(size);
    snprintf(name, size, "%s%s", path, ending);
    return name;
}

/* ---- Words ---- */

static void print_columns(const kn_release_result *r, FILE *out)
{
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

static void print_choice(const kn_release_result *r, FILE *out)
{
    char node[1024];
    if (r->level_count == 0) {
        fprintf(out, "\n  by    %s\n", kn_method_name(r->method));
        return;
    }
    node_text(node, sizeof node, r->levels, r->level_count);
    fprintf(out, "\n  by    %s: levels %s", kn_method_name(r->method), node);
    if (r->lattice > 0) fprintf(out, ", one of %.0f choices", r->lattice);
    if (!r->complete)
        fprintf(out, "; the time limit ended the search: a better one may exist");
    else if (r->optimal)
        fprintf(out, "; none loses less by %s", kn_metric_name(r->utility));
    fputc('\n', out);
}

/* What the theory allows, beside what came out. */
static void print_bounds(const kn_release_result *r, FILE *out)
{
    char number[2][CLI_NUMBER_SIZE];
    if (r->region_bound == 0) return;
    fprintf(out,
            "  bound a class has at most 2d(k-1)+m = %s rows (the largest here: %s), so c_avg <= %.6g, dm <= %.6g\n",
            cli_format_integer(number[0], r->region_bound),
            cli_format_integer(number[1], r->size_count > 0 ? r->sizes[r->size_count - 1].size : 0), r->c_avg_bound,
            r->dm_bound);
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
    if (r->suppressed == 0) {
        fputs("No row is suppressed.\n", out);
        return;
    }
    fprintf(out, "%s of %s suppressed (%.2f %%), %s.\n", cli_format_integer(number, r->suppressed),
            cli_rows_of(rows).text, rows > 0 ? 100.0 * (double)r->suppressed / (double)rows : 0,
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

static void print_files(const cli_anonymizing *a, const kn_spec *spec, FILE *out)
{
    if (a->dry_run || !spec->output || strcmp(spec->output, "-") == 0) return;
    cli_print_files(spec, spec->output, spec->output, out);
}

void cli_anonymize_words(const cli_anonymizing *a, const kn_spec *spec, const kn_release_result *r, FILE *out)
{
    if (!r->found) {
        fprintf(out, "%sNO RELEASE%s: %s\n", cli_style_on(out, CLI_RED), cli_style_on(out, CLI_PLAIN),
                r->reason ? r->reason : "none satisfies what was asked");
        if (r->model_count > 0) cli_models_print(r->models, r->model_count, false, out);
        return;
    }
    char k[CLI_NUMBER_SIZE], before[CLI_NUMBER_SIZE];
    fprintf(out, "%s, %s; %sk = %s%s (was %s)%s\n", cli_rows_of(r->rows).text,
            cli_count_of(r->classes, "class", "classes").text, cli_style_on(out, CLI_BOLD), cli_format_integer(k, r->k),
            cli_style_on(out, CLI_PLAIN), cli_format_integer(before, r->k_before),
            a->dry_run ? "; nothing was written (--dry-run)" : "; verified");
    print_suppressed(spec, r, out);
    cli_models_print(r->models, r->model_count, true, out);
    print_columns(r, out);
    print_choice(r, out);
    cli_advice_print(r->advice, out);
    print_metrics(r, out);
    print_bounds(r, out);
    if (a->all_solutions) print_solutions(r, out);
    print_files(a, spec, out);
}

/* ---- JSON ---- */

static json_t *levels_json(const int *levels, int count)
{
    json_t *list = cli_json_array();
    for (int i = 0; i < count; i++) cli_json_append(list, json_integer(levels[i]));
    return list;
}

static json_t *attributes_json(const kn_release_result *r)
{
    json_t *list = cli_json_array();
    for (int i = 0; i < r->attribute_count; i++) {
        const kn_release_attribute *a = &r->attributes[i];
        json_t                     *o = cli_json_object();
        cli_json_set(o, "name", cli_json_text_or_null(a->name));
        cli_json_set(o, "level", a->level >= 0 ? json_integer(a->level) : json_null());
        cli_json_set(o, "height", a->height >= 0 ? json_integer(a->height) : json_null());
        cli_json_set(o, "lm", cli_json_number(a->lm));
        cli_json_set(o, "ncp", cli_json_number(a->ncp));
        cli_json_set(o, "prec", cli_json_number(a->prec));
        cli_json_set(o, "entropy", cli_json_number(a->entropy));
        cli_json_append(list, o);
    }
    return list;
}

static json_t *sizes_json(const kn_size_count *sizes, int count)
{
    json_t *list = cli_json_array();
    for (int i = 0; i < count; i++) {
        json_t *o = cli_json_object();
        cli_json_set(o, "size", json_integer(sizes[i].size));
        cli_json_set(o, "classes", json_integer(sizes[i].classes));
        cli_json_set(o, "rows", json_integer(sizes[i].rows));
        cli_json_append(list, o);
    }
    return list;
}

static json_t *solutions_json(const kn_release_result *r)
{
    json_t *list = cli_json_array();
    for (int64_t i = 0; i < r->solution_count; i++) {
        const kn_release_node *n = &r->solutions[i];
        json_t                *o = cli_json_object();
        cli_json_set(o, "node", levels_json(n->levels, r->level_count));
        cli_json_set(o, "loss", cli_json_number(n->loss));
        cli_json_set(o, "suppressed", json_integer(n->suppressed));
        cli_json_set(o, "classes", json_integer(n->classes));
        cli_json_append(list, o);
    }
    return list;
}

static void set_release(json_t *o, const cli_anonymizing *a, const kn_spec *spec, const kn_release_result *r)
{
    json_t *metrics = cli_json_object();
    for (int i = 0; i < KN_METRICS; i++)
        cli_json_set(metrics, kn_metric_name((kn_metric)i), cli_json_number(r->metrics[i]));
    if (r->level_count > 0) cli_json_set(o, "node", levels_json(r->levels, r->level_count));
    cli_json_set(o, "k", json_integer(r->k));
    cli_json_set(o, "rows", json_integer(r->rows));
    cli_json_set(o, "suppressed", json_integer(r->suppressed));
    cli_json_set(o, "average_suppressed", json_integer(r->average_suppressed));
    cli_json_set(o, "classes", json_integer(r->classes));
    cli_json_set(o, "metrics", metrics);
    if (r->region_bound > 0) {
        json_t *bounds = json_object();
        cli_json_set(bounds, "class_rows", json_integer(r->region_bound));
        cli_json_set(bounds, "c_avg", json_real(r->c_avg_bound));
        cli_json_set(bounds, "dm", json_real(r->dm_bound));
        cli_json_set(o, "bounds", bounds);
    }
    cli_json_set(o, "attributes", attributes_json(r));
    cli_json_set(o, "sizes", sizes_json(r->sizes, r->size_count));
    if (a->all_solutions) cli_json_set(o, "solutions", solutions_json(r));
    if (a->dry_run) return;
    cli_json_set(o, "verified", json_true());
    cli_json_set(o, "sha256", cli_json_text_or_null(r->sha256));
    cli_json_set(o, "output", cli_json_text_or_null(spec->output));
    if (spec->report) cli_json_set(o, "report", cli_json_text_or_null(spec->report));
    if (spec->public_report) cli_json_set(o, "public_report", cli_json_text_or_null(spec->public_report));
    cli_set_files(o, spec, spec->output, spec->output);
}

void cli_anonymize_json(const cli_anonymizing *a, const kn_spec *spec, const kn_release_result *r)
{
    json_t *o = cli_json_object();
    cli_json_set(o, "found", json_boolean(r->found));
    if (!r->found) cli_json_set(o, "reason", cli_json_text_or_null(r->reason));
    cli_json_set(o, "method", cli_json_text_or_null(kn_method_name(r->method)));
    if (r->advice) cli_json_set(o, "auto", cli_advice_json(r->advice));
    cli_json_set(o, "utility", cli_json_text_or_null(kn_metric_name(r->utility)));
    cli_json_set(o, "complete", json_boolean(r->complete));
    cli_json_set(o, "optimal", json_boolean(r->optimal));
    cli_json_set(o, "rows_in", json_integer(r->rows_in));
    cli_json_set(o, "missing_cells", json_integer(r->missing_cells));
    cli_json_set(o, "missing_dropped", json_integer(r->missing_dropped));
    cli_json_set(o, "k_before", json_integer(r->k_before));
    if (r->lattice > 0) cli_json_set(o, "lattice", cli_json_counter(r->lattice));
    cli_json_set(o, "models", cli_models_json(r->models, r->model_count, r->found));
    if (r->found) set_release(o, a, spec, r);
    cli_json_set(o, "sizes_before", sizes_json(r->sizes_before, r->size_count_before));
    cli_json_set(o, "dropped", cli_texts_json(r->dropped, r->dropped_count));
    cli_json_set(o, "notes", cli_texts_json(r->notes, r->note_count));
    cli_json_set(o, "counters", cli_counters_json(r->counters, r->counter_count));
    cli_json_set(o, "seconds",
                 cli_seconds_json(r->seconds_read, r->seconds_search, r->seconds_write, r->seconds_verify));
    cli_json_print(o);
}
