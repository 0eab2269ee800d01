/* cmd_frontier.c: `kanon frontier`: the trade-off between k, suppressed rows and loss. The spec is that of `kanon
 * anonymize` (anonymize_spec.c).
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/frontier.h>
#include <string.h>

#include "anonymize.h"
#include "diagnose.h"
#include "spec_help.h"

static const char help[] =
    "Usage: kanon frontier RELEASE.yaml [OPTION]...\n"
    "       kanon frontier FILE... --qi A,B --sensitive C -k K [OPTION]...\n"
    "\n"
    "What would a larger k cost? Looks at the choices of levels with the k that is asked for\n"
    "and a ladder of larger ones (2, 3, 5, 10, 20, 30, 50, 100 ...), suppressing up to what\n"
    "--suppression allows, and lists those that no other beats: none has a k as large, as\n"
    "few suppressed rows and as small a loss. Every other promise is kept. Nothing is\n"
    "written; the answer is for the owner. 'kanon anonymize --node' makes the release of one\n"
    "of them.\n"
    "\n"
    "What is asked is said as in 'kanon anonymize'.\n"
    "\n" CLI_COLUMNS_HELP "      --undeclared HOW     other columns: 'drop' (default) or 'refuse'\n"
    "\n" CLI_PROMISES_HELP "\n"
    "How:\n"
    "      --spec FILE          the release file, whatever it is called\n" CLI_NODE_HELP
    "      --utility METRIC     what to lose least of: lm (default), ncp, prec, entropy, dm,\n"
    "                           dm_star or c_avg\n"
    "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon generate adult-like --rows 2000 --output people.csv\n"
    "  $ kanon frontier people.csv --qi sex,age --hierarchy age:ranges=5,10,20 \\\n"
    "    -k 5 --suppression 5%\n"
    "  $ kanon frontier people.csv --qi sex,race -k 3 --json\n";

/* "0,3,1" */
static void node_text(char *out, size_t size, const cli_value *levels)
{
    size_t used = 0;
    out[0] = '\0';
    for (int64_t i = 0; i < kn_document_count(levels) && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, i ? ",%d" : "%d",
                                 (int)kn_document_integer_of(kn_document_at(levels, i)));
}

static void print_words(const cli_value *answer)
{
    enum { MOST = 200 };
    const char *const      titles[] = {"k", "suppressed", "", cli_text(answer, "metric"), "classes", "node"};
    static const cli_align aligns[] = {CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
    int64_t                count, rows = cli_integer(answer, "rows");
    const cli_value       *list = cli_list_of(answer, "points", &count);
    printf("%s; ", cli_rows_of(rows).text);
    printf("%s; ", cli_choices_of(cli_number(answer, "lattice"), "choice of levels", "choices of levels").text);
    printf("%s that no other beats in k, suppressed rows and loss\n", cli_count_of(count, "point", "points").text);
    printf("Levels in the order: ");
    cli_names_print(kn_document_member(answer, "quasi"), ", ");
    fputs("\n\n", stdout);
    cli_text_table *t = cli_text_table_new(6, titles, aligns);
    for (int64_t i = 0; i < count && i < MOST; i++) {
        const cli_value *p = kn_document_at(list, i);
        char             node[1024];
        node_text(node, sizeof node, kn_document_member(p, "node"));
        cli_text_table_integer(t, cli_integer(p, "k"));
        cli_text_table_integer(t, cli_integer(p, "suppressed"));
        cli_text_table_format(t, "%.2f %%", rows > 0 ? 100.0 * (double)cli_integer(p, "suppressed") / (double)rows : 0);
        cli_text_table_figure(t, cli_number(p, "loss"));
        cli_text_table_integer(t, cli_integer(p, "classes"));
        cli_text_table_text(t, node);
    }
    if (count > 0) cli_text_table_print(t, stdout, 2);
    if (count > MOST) printf("  ... and %s; --json lists all\n", cli_count_of(count - MOST, "more", "more").text);
    cli_text_table_free(t);
}

static int frontier(const cli_anonymizing *a, kn_context *ctx, kn_spec *spec, void *user)
{
    (void)user;
    kn_error     err = KN_ERROR_INIT;
    kn_frontier *found = NULL;
    kn_document *doc = NULL;
    int          code = cli_check_unwritten(spec);
    if (code != 0) return code;
    if (kn_frontier_find(&found, ctx, spec, &err) != KN_OK) return cli_fail(&err);
    kn_status made = kn_document_frontier(&doc, ctx, found, &err);
    code = cli_answer(&a->common, made, doc, &err, print_words);
    if (code == 0) code = found->point_count > 0 ? 0 : 1;
    kn_frontier_free(found);
    return code;
}

static int run(int argc, char **argv)
{
    return cli_run_look(&cli_frontier, argc, argv, frontier, NULL);
}

const cli_command cli_frontier = {
    .name = "frontier",
    .summary = "show what a larger k, fewer suppressed rows, less loss cost",
    .help = help,
    .run = run,
};
