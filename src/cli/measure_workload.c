/* measure_workload.c: `kanon measure --workload`: each query's answers, as words and as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "measure_workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void figure(cli_text_table *t, double value)
{
    if (isnan(value))
        cli_text_table_text(t, "-");
    else if (fabs(value) < 1e15 && value == floor(value))
        cli_text_table_integer(t, (int64_t)value);
    else
        cli_text_table_format(t, "%.6g", value);
}

static void print_table(const kn_workload *w, const kn_workload_report *r)
{
    static const char *const titles[] = {"weight", "original", "estimate", "at least", "at most", "error", "query"};
    static const cli_align   aligns[] = {CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
    cli_text_table          *t = cli_text_table_new(7, titles, aligns);
    for (int q = 0; q < r->query_count; q++) {
        const kn_answer *a = &r->answers[q];
        figure(t, w->queries[q].weight);
        figure(t, a->original);
        figure(t, a->estimate);
        figure(t, a->lower);
        figure(t, a->upper);
        cli_text_table_format(t, "%.4f", a->error);
        cli_text_table_text(t, w->queries[q].text);
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

void cli_workload_words(const kn_workload *w, const kn_workload_report *r)
{
    int from_cells = 0;
    printf("\nworkload: %s, weighted error %.6g in all, %.6g on average\n\n",
           cli_count_of(r->query_count, "query", "queries").text, r->total, r->mean);
    print_table(w, r);
    for (int q = 0; q < r->query_count; q++) from_cells += r->answers[q].source == KN_ANSWER_CELLS;
    if (from_cells > 0)
        printf("\nNo means and ranges were published: the values behind %s were taken to be\n"
               "spread evenly over their cells.\n",
               cli_count_of(from_cells, "answer", "answers").text);
}

static json_t *answer_json(const kn_query *query, const kn_answer *a)
{
    json_t *o = cli_json_object();
    cli_json_set(o, "query", cli_json_text(query->text, strlen(query->text)));
    cli_json_set(o, "line", json_integer(query->line));
    cli_json_set(o, "weight", cli_json_number(query->weight));
    cli_json_set(o, "original", cli_json_number(a->original));
    cli_json_set(o, "estimate", cli_json_number(a->estimate));
    cli_json_set(o, "lower", cli_json_number(a->lower));
    cli_json_set(o, "upper", cli_json_number(a->upper));
    cli_json_set(o, "error", cli_json_number(a->error));
    const char *source = kn_answer_source_name(a->source);
    cli_json_set(o, "source", cli_json_text(source, strlen(source)));
    return o;
}

json_t *cli_workload_json(const kn_workload *w, const kn_workload_report *r)
{
    json_t *o = cli_json_object(), *queries = cli_json_array();
    for (int q = 0; q < r->query_count; q++) cli_json_append(queries, answer_json(&w->queries[q], &r->answers[q]));
    cli_json_set(o, "weight", cli_json_number(r->weight));
    cli_json_set(o, "total", cli_json_number(r->total));
    cli_json_set(o, "mean", cli_json_number(r->mean));
    cli_json_set(o, "queries", queries);
    return o;
}
