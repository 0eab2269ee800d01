/* cmd_explain.c: `kanon explain`: which promise fails at one choice of levels, in how many classes, by how much. The
 * spec is that of `kanon anonymize` (anonymize_spec.c).
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/explain.h>
#include <math.h>
#include <string.h>

#include "anonymize.h"
#include "diagnose.h"
#include "spec_help.h"

static const char help[] =
    "Usage: kanon explain RELEASE.yaml --node LEVELS [OPTION]...\n"
    "       kanon explain FILE... --qi A,B --sensitive C -k K --node LEVELS [OPTION]...\n"
    "\n"
    "Why not these levels? Looks at one choice of levels, one for every quasi-identifier,\n"
    "and says which promise fails there, in how many classes, by how much, and how many\n"
    "rows would have to be suppressed. Nothing is written; the answer is for the owner.\n"
    "\n"
    "What is asked is said as in 'kanon anonymize', which makes the release of such a\n"
    "choice with the same --node.\n"
    "\n" CLI_COLUMNS_HELP "      --undeclared HOW     other columns: 'drop' (default) or 'refuse'\n"
    "\n" CLI_PROMISES_HELP "\n"
    "How:\n"
    "      --spec FILE          the release file, whatever it is called\n" CLI_NODE_HELP
    "      --utility METRIC     what to lose least of: lm (default), ncp, prec, entropy, dm,\n"
    "                           dm_star or c_avg\n"
    "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon generate adult-like --rows 2000 --output people.csv\n"
    "  $ kanon explain people.csv --qi sex,age --hierarchy age:ranges=5,10,20 \\\n"
    "    -k 5 --suppression 5% --node 0,2\n"
    "  $ kanon explain people.csv --qi sex,race -k 3 --suppression 1% --node sex=0,race=0 --json\n";

/* ---- Words ---- */

/* "l-diversity of diagnosis: distinct, l = 3" */
static void promise_words(char *out, size_t size, const cli_value *p)
{
    static const char *const keys[] = {"k", "l", "c", "min", "t", "alpha", "beta", "delta", "max", "risk"};
    const char *kind = cli_text(p, "kind") ? cli_text(p, "kind") : cli_text(p, "distance"), *between = ": ";
    size_t      used = (size_t)snprintf(out, size, "%s", cli_text(p, "model"));
    if (cli_text(p, "attribute") && used < size)
        used += (size_t)snprintf(out + used, size - used, " of %.200s", cli_text(p, "attribute"));
    if (kind && used < size) {
        used += (size_t)snprintf(out + used, size - used, ": %s", kind);
        between = ", ";
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys && used < size; i++) {
        double value = cli_number(p, keys[i]);
        if (isnan(value)) continue;
        if (strcmp(keys[i], "k") == 0 && cli_is(p, "model", "k"))
            used += (size_t)snprintf(out + used, size - used, " = %g", value);
        else
            used += (size_t)snprintf(out + used, size - used, "%s%s = %g", between, keys[i], value);
        between = ", ";
    }
}

static void print_promises(const cli_value *answer)
{
    static const char *const titles[] = {"promise", "", "classes that fail", "rows", "worst class"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(5, titles, aligns);
    int64_t                  count;
    const cli_value         *list = cli_list_of(answer, "promises", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *p = kn_document_at(list, i);
        char             words[400];
        promise_words(words, sizeof words, p);
        cli_text_table_text(t, words);
        cli_text_table_text(t, cli_true(p, "holds") ? "holds" : "fails");
        cli_text_table_plain(t, cli_number(p, "classes"));
        cli_text_table_integer(t, cli_integer(p, "rows"));
        cli_text_table_plain(t, cli_number(p, "worst"));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_levels(const cli_value *answer)
{
    static const char *const titles[] = {"column", "level"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(2, titles, aligns);
    int64_t                  count;
    const cli_value         *list = cli_list_of(answer, "columns", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *c = kn_document_at(list, i);
        cli_text_table_text(t, cli_text(c, "name"));
        cli_text_table_format(t, "%d of %d", (int)cli_integer(c, "level"), (int)cli_integer(c, "height"));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_words(const cli_value *answer)
{
    bool    holds = cli_true(answer, "holds");
    int64_t failing = cli_integer(answer, "failing_classes");
    printf("%s%s%s", cli_style_on(stdout, holds ? CLI_GREEN : CLI_RED), holds ? "KEPT" : "NOT KEPT",
           cli_style_on(stdout, CLI_PLAIN));
    printf(": %s\n", holds ? "these levels keep every promise" : cli_text(answer, "reason"));
    printf("%s in ", cli_rows_of(cli_integer(answer, "rows")).text);
    printf("%s; ", cli_count_of(cli_integer(answer, "classes"), "class", "classes").text);
    if (failing == 0) printf("none fails.\n");
    if (failing > 0) {
        printf("%s, of ", cli_count_of(failing, "fails", "fail").text);
        printf("%s.\n", cli_rows_of(cli_integer(answer, "failing_rows")).text);
    }
    printf("%s to be suppressed, ", cli_count_of(cli_integer(answer, "suppressed"), "row has", "rows have").text);
    printf("%s; ", cli_count_of(cli_integer(answer, "budget"), "may be", "may be").text);
    printf("%s would be %.6g.\n\n", cli_text(answer, "metric"), cli_number(answer, "loss"));
    print_promises(answer);
    putchar('\n');
    print_levels(answer);
}

/* ---- The run ---- */

static int explain(const cli_anonymizing *a, kn_context *ctx, kn_spec *spec, void *user)
{
    (void)user;
    kn_error        err = KN_ERROR_INIT;
    kn_explanation *explanation = NULL;
    kn_document    *doc = NULL;
    int             code = cli_check_unwritten(spec);
    if (code != 0) return code;
    if (kn_explain(&explanation, ctx, spec, &err) != KN_OK) return cli_fail(&err);
    kn_status made = kn_document_explain(&doc, ctx, explanation, &err);
    code = cli_answer(&a->common, made, doc, &err, print_words);
    if (code == 0) code = explanation->holds ? 0 : 1;
    kn_explanation_free(explanation);
    return code;
}

static int run(int argc, char **argv)
{
    return cli_run_look(&cli_explain, argc, argv, explain, NULL);
}

const cli_command cli_explain = {
    .name = "explain",
    .summary = "say which promise fails at some levels, and by how much",
    .help = help,
    .run = run,
};
