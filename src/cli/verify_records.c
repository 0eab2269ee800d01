/* verify_records.c: `kanon verify` of records that are trees: tells what the verifier found, in words or as JSON. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "diagnose.h"
#include "verify.h"

static void print_promise(const kn_records_verify_report *r)
{
    printf("%s. ", cli_count_of(r->records, "record", "records").text);
    printf("Whoever knows up to %s of a record ", cli_count_of(r->kmn.m, "value", "values").text);
    if (r->kmn.n > 0)
        printf("and up to %s between them%s ", cli_count_of(r->kmn.n, "relation", "relations").text,
               r->semantics == KN_SEMANTICS_PATHS ? " on its paths" : "");
    if (!r->decided)
        printf("was not looked at: there are too many combinations.\n");
    else if (r->k == 0)
        printf("finds nothing: there are no values.\n");
    else
        printf("finds %s at least, or none;\nasked: %" PRId64 ".\n", cli_count_of(r->k, "record", "records").text,
               r->kmn.k);
    if (r->absent) printf("Some of these values may be known to be absent.\n");
    if (r->largest_share > 0)
        printf("Of those found, at most %.1f %% have one sensitive value in common.\n", 100 * r->largest_share);
}

static void print_words(const kn_records_verify_report *r)
{
    static const char *const assignments[] = {
        ("Every released record is one of the original, each another one: values became broader, the same in every\n"
         "record, relations vanished, nothing else."),
        "Not every released record can come from the original.",
        "It was not decided whether every released record comes from the original.",
    };
    cli_verdict_print(r->outcome);
    print_promise(r);
    printf("%s\n", assignments[r->assignment]);
    cli_problems_print(r->problems, r->problem_count, r->more_problems, "records and their nodes are counted from 1");
    cli_open_print(r->open, r->open_count);
    if (r->model_count > 0) {
        putchar('\n');
        cli_verified_print(r->models, r->model_count, "worst");
    }
    char number[4][CLI_NUMBER_SIZE];
    printf("\n  nodes %s of %s, relations %s of %s", cli_format_integer(number[0], r->nodes),
           cli_format_integer(number[1], r->nodes_original), cli_format_integer(number[2], r->relations),
           cli_format_integer(number[3], r->relations_original));
    if (!isnan(r->rpd)) printf(", rpd %.6g (original: %.6g)", r->rpd, r->rpd_original);
    putchar('\n');
}

static void print_json(const kn_records_verify_report *r)
{
    json_t *o = cli_json_object(), *asked = cli_json_object(), *metrics = cli_json_object();
    cli_json_set(asked, "k", json_integer(r->kmn.k));
    cli_json_set(asked, "m", json_integer(r->kmn.m));
    cli_json_set(asked, "n", json_integer(r->kmn.n));
    cli_json_set(asked, "absent", json_boolean(r->absent));
    cli_json_set(metrics, "rpd", cli_json_number(r->rpd));
    cli_json_set(metrics, "rpd_original", cli_json_number(r->rpd_original));
    cli_json_set(metrics, "nodes", json_integer(r->nodes));
    cli_json_set(metrics, "nodes_original", json_integer(r->nodes_original));
    cli_json_set(metrics, "relations", json_integer(r->relations));
    cli_json_set(metrics, "relations_original", json_integer(r->relations_original));
    cli_json_set(o, "verified", json_boolean(r->ok));
    cli_json_set(o, "outcome", json_string(kn_outcome_name(r->outcome)));
    cli_json_set(o, "assignment", json_string(kn_assignment_name(r->assignment)));
    cli_json_set(o, "records", json_integer(r->records));
    cli_json_set(o, "k_mn", asked);
    cli_json_set(o, "semantics", json_string(kn_semantics_name(r->semantics)));
    cli_json_set(o, "strict_structure", json_boolean(r->strict));
    cli_json_set(o, "decided", json_boolean(r->decided));
    cli_json_set(o, "k", json_integer(r->k));
    cli_json_set(o, "combinations", json_integer(r->combinations));
    cli_json_set(o, "violations", json_integer(r->violations));
    cli_json_set(o, "largest_share", r->largest_share > 0 ? cli_json_number(r->largest_share) : json_null());
    cli_json_set(o, "models", cli_verified_json(r->models, r->model_count));
    cli_json_set(o, "metrics", metrics);
    cli_json_set(o, "problems", cli_problems_json(r->problems, r->problem_count));
    cli_json_set(o, "more_problems", json_boolean(r->more_problems));
    cli_json_set(o, "undecided", cli_problems_json(r->open, r->open_count));
    cli_json_set(o, "sha256", r->sha256[0] ? json_string(r->sha256) : json_null());
    cli_json_print(o);
}

int cli_verify_records(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec,
                       const kn_records_verify_options *options)
{
    kn_records_verify_report *report = NULL;
    kn_error                  err = KN_ERROR_INIT;
    if (kn_verify_records(&report, ctx, spec, options, &err) != KN_OK) return cli_fail(&err);
    if (a->common.json)
        print_json(report);
    else
        print_words(report);
    int code = cli_outcome_code(report->outcome);
    kn_records_verify_report_free(report);
    return code;
}
