/* database/verify.c: `kanon verify` of a database: prints the verifier's findings as text or JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "verify.h"

static void print_tables(const cli_value *answer)
{
    static const char *const titles[] = {"table", "rows", "deleted", "lost"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(4, titles, aligns);
    int64_t                  count;
    const cli_value         *tables = cli_list_of(answer, "tables", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *one = kn_document_at(tables, i);
        double           lm = cli_number(one, "lm");
        cli_text_table_text(t, cli_text(one, "name"));
        cli_text_table_integer(t, cli_integer(one, "rows"));
        cli_text_table_integer(t, cli_integer(one, "deleted"));
        if (isnan(lm))
            cli_text_table_text(t, "-");
        else
            cli_text_table_format(t, "%.1f %%", 100 * lm);
    }
    putchar('\n');
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_words(const cli_value *answer)
{
    static const char *const assignments[] = {
        "Every released person is one of the original, each another one, with nothing changed but what may be.",
        "Not every released person can come from the original.",
        "It was not decided whether every released person comes from the original.",
    };
    const cli_value *metrics = kn_document_member(answer, "metrics");
    double           lm = cli_number(metrics, "lm"), dm = cli_number(metrics, "dm");
    int64_t          classes = cli_integer(answer, "classes"), k = cli_integer(answer, "k");
    bool             anatomy = cli_true(answer, "anatomy");
    cli_verdict_print(answer);
    printf("%s, ", cli_count_of(cli_integer(answer, "persons"), "person", "persons").text);
    if (anatomy)
        printf("%s of rows", cli_count_of(classes, "group", "groups").text);
    else
        printf("%s who look alike in all tables", cli_count_of(classes, "class of those", "classes of those").text);
    if (k > 0) printf(", the smallest of %s", cli_count_of(k, "person", "persons").text);
    printf("; %s left out.\n", cli_count_of(cli_integer(answer, "dropped"), "person", "persons").text);
    if (!isnan(cli_number(answer, "largest_share")))
        printf("A sensitive value belongs to at most %.1f %% of those who %s.\n",
               100 * cli_number(answer, "largest_share"), anatomy ? "share a group" : "look alike");
    cli_findings_print(answer, assignments, "rows are counted from 1, without the header");
    putchar('\n');
    cli_verified_print(answer, "worst");
    print_tables(answer);
    if (!isnan(lm)) printf("\n  loss  lm %.6g", lm);
    if (!isnan(lm) && !isnan(dm)) printf(" dm %.6g", dm);
    if (!isnan(lm)) putchar('\n');
}

int cli_verify_database(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec,
                        const kn_database_verify_options *options)
{
    kn_database_verify_report *report = NULL;
    kn_document               *doc = NULL;
    kn_error                   err = KN_ERROR_INIT;
    if (kn_verify_database(&report, ctx, spec, options, &err) != KN_OK) return cli_fail(&err);
    kn_status made = kn_document_verify_database(&doc, ctx, spec, report, &err);
    int       code = cli_answer(&a->common, made, doc, &err, print_words);
    if (code == 0) code = cli_outcome_code(report->outcome);
    kn_database_verify_report_free(report);
    return code;
}
