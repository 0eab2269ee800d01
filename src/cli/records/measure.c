/* records/measure.c: `kanon measure` of records that are trees: what each class lost, and relations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "document.h"
#include "measure_shapes.h"

static void print_metrics(const cli_value *answer)
{
    static const char *const names[] = {
        "loss", "node_survival", "relation_survival", "relation_unchanged", "rpd", "rpd_original", "ml2", "dml2"};
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT};
    cli_text_table        *t = cli_text_table_new(2, NULL, aligns);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool mined = i >= 6; /* only with a support */
        if (mined && isnan(cli_number(answer, names[i]))) continue;
        cli_text_table_text(t, names[i]);
        cli_text_table_plain(t, cli_number(answer, names[i]));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

/* A count, or "-" where it is not known. */
static void put_count(cli_text_table *t, const cli_value *of, const char *name)
{
    if (isnan(cli_number(of, name)))
        cli_text_table_text(t, "-");
    else
        cli_text_table_integer(t, cli_integer(of, name));
}

static void print_classes(const cli_value *answer)
{
    static const char *const titles[] = {"class",       "loss",       "nodes",  "kept",
                                         "generalized", "suppressed", "values", "still shown"};
    static const char *const names[] = {NULL,          NULL,         "nodes",  "kept",
                                        "generalized", "suppressed", "values", "values_kept"};
    static const cli_align   aligns[] = {CLI_LEFT,  CLI_RIGHT, CLI_RIGHT, CLI_RIGHT,
                                         CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(8, titles, aligns);
    int64_t                  count;
    const cli_value         *classes = cli_list_of(answer, "classes", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *one = kn_document_at(classes, i);
        cli_text_table_text(t, cli_text(one, "name"));
        cli_text_table_plain(t, cli_number(one, "loss"));
        for (int c = 2; c < 8; c++) put_count(t, one, names[c]);
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_change(const cli_value *answer, const char *before, const char *after, const char *name)
{
    char first[CLI_NUMBER_SIZE], second[CLI_NUMBER_SIZE];
    printf("%s: %s, were %s", name, cli_format_integer(second, cli_integer(answer, after)),
           cli_format_integer(first, cli_integer(answer, before)));
}

static void print_words(const cli_value *answer)
{
    char number[CLI_NUMBER_SIZE];
    printf("%s: %s released, ", cli_count_of(cli_integer(answer, "records"), "record", "records").text,
           cli_format_integer(number, cli_integer(answer, "released")));
    printf("%s left out\n", cli_format_integer(number, cli_integer(answer, "suppressed")));
    print_change(answer, "nodes", "nodes_released", "nodes");
    print_change(answer, "relations", "relations_released", "; relations");
    print_change(answer, "values", "values_released", "; different values");
    printf("\n\n");
    print_metrics(answer);
    putchar('\n');
    print_classes(answer);
}

int cli_measure_records(const cli_common *common, kn_context *ctx, const kn_spec *spec,
                        const kn_measure_options *options)
{
    kn_records_measure_report *report = NULL;
    kn_document               *doc = NULL;
    kn_error                   err = KN_ERROR_INIT;
    kn_status                  st = kn_measure_records(&report, ctx, spec, options, &err);
    if (st == KN_OK) st = kn_document_measure_records(&doc, ctx, report, &err);
    int code = cli_answer(common, st, doc, &err, print_words);
    kn_records_measure_report_free(report);
    return code;
}
