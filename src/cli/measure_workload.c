/* measure_workload.c: `kanon measure --workload`: prints each query's answers as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "measure_workload.h"

static void print_table(const cli_value *queries)
{
    static const char *const titles[] = {"weight", "original", "estimate", "at least", "at most", "error", "query"};
    static const char *const keys[] = {"weight", "original", "estimate", "lower", "upper"};
    static const cli_align   aligns[] = {CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
    cli_text_table          *t = cli_text_table_new(7, titles, aligns);
    for (int64_t q = 0; q < kn_document_count(queries); q++) {
        const cli_value *one = kn_document_at(queries, q);
        for (int k = 0; k < 5; k++) cli_text_table_plain(t, cli_number(one, keys[k]));
        cli_text_table_format(t, "%.4f", cli_number(one, "error"));
        cli_text_table_text(t, cli_text(one, "query"));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

void cli_workload_print(const cli_value *workload)
{
    int64_t          count, from_cells = 0;
    const cli_value *queries = cli_list_of(workload, "queries", &count);
    printf("\nworkload: %s, weighted error %.6g in all, %.6g on average\n\n",
           cli_count_of(count, "query", "queries").text, cli_number(workload, "total"), cli_number(workload, "mean"));
    print_table(queries);
    for (int64_t q = 0; q < count; q++)
        from_cells += cli_is(kn_document_at(queries, q), "source", kn_answer_source_name(KN_ANSWER_CELLS));
    if (from_cells > 0)
        printf("\nNo means and ranges were published: the values behind %s were taken to be\n"
               "spread evenly over their cells.\n",
               cli_count_of(from_cells, "answer", "answers").text);
}
