/* hierarchy_suggest.c: `kanon hierarchy suggest`: ways to build a hierarchy of a column, ranked by loss. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "hierarchy_suggest.h"

#include <kanon/init.h>
#include <math.h>
#include <string.h>

#include "anonymize.h"
#include "diagnose.h"

static int run(int argc, char **argv);

const cli_command cli_hierarchy_suggest = {
    .name = "hierarchy suggest",
    .summary = "ways to build a hierarchy, by what a release loses",
    .help = "Usage: kanon hierarchy suggest FILE --column C [--qi A,B] [-k K] [OPTION]...\n"
            "       kanon hierarchy suggest RELEASE.yaml --column C [OPTION]...\n"
            "\n"
            "Tries ways to build a hierarchy of a column, searches for a release with each and\n"
            "shows what it loses (lm), the least first. Nothing is written: 'kanon hierarchy\n"
            "build' makes the one that you choose, to be read and edited.\n"
            "\n"
            "Options:\n"
            "  -c, --column C           the column\n"
            "      --qi COLUMNS         quasi-identifiers: what somebody else may know besides it\n"
            "      --hierarchy COLUMN:FILE, COLUMN:KIND\n"
            "                           what a column's values become; repeatable\n"
            "  -k, --k K                every class has at least K rows (default: 5)\n"
            "      --suppression SHARE  rows that may be suppressed: 0.05, 5% or '100 rows' (default: 0)\n"
            "      --method NAME        by which method (default: optimal; mondrian where there are\n"
            "                           other quasi-identifiers)\n"
            "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
            "Examples:\n"
            "  $ kanon hierarchy suggest people.csv --column education -k 5\n"
            "  $ kanon hierarchy suggest people.csv --column native-country --qi sex,age -k 3 --json\n",
    .run = run,
};

static void print_words(const cli_value *answer)
{
    static const char *const titles[] = {"lm", "levels", "hierarchy"};
    static const cli_align   aligns[] = {CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
    int64_t                  count;
    const cli_value         *list = cli_list_of(answer, "suggestions", &count);
    cli_text_table          *t = cli_text_table_new(3, titles, aligns);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *s = kn_document_at(list, i);
        const char      *build = cli_text(s, "build");
        cli_text_table_number(t, cli_number(s, "loss"));
        if (cli_integer(s, "levels") > 0)
            cli_text_table_integer(t, cli_integer(s, "levels"));
        else
            cli_text_table_text(t, "");
        cli_text_table_format(t, build ? "kanon hierarchy build %s" : "hierarchy: %s",
                              build ? build : cli_text(s, "rule"));
    }
    cli_text_table_print(t, stdout, 0);
    cli_text_table_free(t);
}

/* Sets what the options leave open: the column is a quasi-identifier, k is 5, the method allows other columns without
 * a hierarchy. */
static kn_status complete(kn_spec *spec, const cli_anonymizing *a, const char *column, kn_error *err)
{
    bool others = false;
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *one = kn_spec_attribute_at(spec, i);
        others |= one->role == KN_ROLE_QUASI && strcmp(one->name, column) != 0;
    }
    static const char *const nowhere[] = {"-"}; /* nothing is written */
    kn_status                st = kn_spec_set_role(spec, column, KN_ROLE_QUASI, err);
    if (st == KN_OK && !spec->output) st = kn_spec_set_texts(spec, "output", nowhere, 1, "--output", err);
    if (st == KN_OK && spec->model_count == 0) st = kn_spec_set(spec, "privacy", "[{k: 5}]", "--k", err);
    if (st == KN_OK && !a->method && !spec->method_given)
        st = kn_spec_set(spec, "method", others ? "mondrian" : "optimal", "--method", err);
    return st;
}

static int suggest(const cli_anonymizing *a, kn_context *ctx, kn_spec *spec, const char *column)
{
    kn_suggestions *found = NULL;
    kn_document    *doc = NULL;
    kn_error        err = KN_ERROR_INIT;
    kn_status       st = complete(spec, a, column, &err);
    if (st == KN_OK) st = kn_hierarchy_suggest(&found, ctx, spec, column, &err);
    if (st == KN_OK) st = kn_document_hierarchy_suggest(&doc, ctx, found, column, &err);
    int  code = cli_answer(&a->common, st, doc, &err, print_words);
    bool none = found && (found->count == 0 || isnan(kn_suggestion_at(found, 0)->loss));
    kn_suggestions_free(found);
    return code == 0 && none ? 1 : code;
}

static int run(int argc, char **argv)
{
    cli_anonymizing  a = {.command = &cli_hierarchy_suggest, .k = INT64_MIN};
    const char      *column = NULL;
    const cli_option options[] = {{"-c|--column", CLI_TEXT, &column},
                                  {"--qi", CLI_LIST, &a.qi},
                                  {"--hierarchy", CLI_REPEAT, &a.hierarchies},
                                  {"-k|--k", CLI_INTEGER, &a.k},
                                  {"--suppression", CLI_TEXT, &a.suppression},
                                  {"--method", CLI_TEXT, &a.method},
                                  CLI_TABLE_OPTIONS(a.input),
                                  {0}};
    if (!cli_parse(&cli_hierarchy_suggest, &argc, argv, options, &a.common)) return 2;
    if (a.common.help) return 0;
    kn_context *ctx = NULL;
    kn_spec    *spec = NULL;
    int         code = 0;
    a.files = argv;
    a.file_count = argc;
    if (argc < 1)
        code = cli_usage(&cli_hierarchy_suggest, "no table is named");
    else if (!column)
        code = cli_usage(&cli_hierarchy_suggest, "--column C is needed");
    else if (!(ctx = cli_context(&a.common)))
        code = 3;
    if (code == 0) code = cli_anonymize_spec(&spec, ctx, &a);
    if (code == 0) code = suggest(&a, ctx, spec, column);
    kn_spec_free(spec);
    cli_context_free(ctx);
    cli_anonymizing_free(&a);
    return code;
}
