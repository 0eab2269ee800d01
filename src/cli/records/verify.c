/* records/verify.c: `kanon verify` of tree records: prints the verifier's findings as text or JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>

#include "verify.h"

static void print_promise(const cli_value *answer)
{
    const cli_value *kmn = kn_document_member(answer, "k_mn");
    int64_t          k = cli_integer(answer, "k"), n = cli_integer(kmn, "n");
    bool             decided = cli_true(answer, "decided");
    double           share = cli_number(answer, "largest_share");
    printf("%s. ", cli_count_of(cli_integer(answer, "records"), "record", "records").text);
    if (decided && k == 0) {
        printf("They show no value that somebody is taken to know, so k promises nothing.\n");
        return;
    }
    printf("Whoever knows up to %s of a record ", cli_count_of(cli_integer(kmn, "m"), "value", "values").text);
    if (cli_true(answer, "sensitive")) printf("(sensitive ones aside) ");
    if (n > 0)
        printf("and up to %s between them%s ", cli_count_of(n, "relation", "relations").text,
               cli_is(answer, "semantics", kn_semantics_name(KN_SEMANTICS_PATHS)) ? " on its paths" : "");
    if (!decided)
        printf("was not looked at: there are too many combinations.\n");
    else
        printf("finds %s at least, or none;\nasked: %" PRId64 ".\n", cli_count_of(k, "record", "records").text,
               cli_integer(kmn, "k"));
    if (cli_true(kmn, "absent")) printf("Some of these values may be known to be absent.\n");
    if (!isnan(share)) printf("Of those found, at most %.1f %% have one sensitive value in common.\n", 100 * share);
}

static void print_words(const cli_value *answer)
{
    static const char *const assignments[] = {
        ("Every released record is one of the original, each another one: values became broader, the same in every\n"
         "record, relations vanished, nothing else."),
        "Not every released record can come from the original.",
        "It was not decided whether every released record comes from the original, with no more given up than may be.",
    };
    const cli_value *metrics = kn_document_member(answer, "metrics");
    char             number[4][CLI_NUMBER_SIZE];
    cli_verdict_print(answer);
    print_promise(answer);
    cli_findings_print(answer, assignments, "records and their nodes are counted from 1");
    if (cli_integer(answer, "given_up") > 0 || cli_integer(answer, "left_out") > 0)
        printf("Given up, with neither the value nor a broader one shown: %s. Left out: %s.\n",
               cli_count_of(cli_integer(answer, "given_up"), "node", "nodes").text,
               cli_count_of(cli_integer(answer, "left_out"), "record", "records").text);
    if (kn_document_count(kn_document_member(answer, "models")) > 0) {
        putchar('\n');
        cli_verified_print(answer, "worst");
    }
    printf("\n  nodes %s of %s, relations %s of %s", cli_format_integer(number[0], cli_integer(metrics, "nodes")),
           cli_format_integer(number[1], cli_integer(metrics, "nodes_original")),
           cli_format_integer(number[2], cli_integer(metrics, "relations")),
           cli_format_integer(number[3], cli_integer(metrics, "relations_original")));
    if (!isnan(cli_number(metrics, "rpd")))
        printf(", rpd %.6g (original: %.6g)", cli_number(metrics, "rpd"), cli_number(metrics, "rpd_original"));
    putchar('\n');
}

int cli_verify_records(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec,
                       const kn_records_verify_options *options)
{
    kn_records_verify_report *report = NULL;
    kn_document              *doc = NULL;
    kn_error                  err = KN_ERROR_INIT;
    if (kn_verify_records(&report, ctx, spec, options, &err) != KN_OK) return cli_fail(&err);
    kn_status made = kn_document_verify_records(&doc, ctx, spec, report, &err);
    int       code = cli_answer(&a->common, made, doc, &err, print_words);
    if (code == 0) code = cli_outcome_code(report->outcome);
    kn_records_verify_report_free(report);
    return code;
}
