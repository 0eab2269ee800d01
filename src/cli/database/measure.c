/* database/measure.c: `kanon measure` of a database: what each table and column lost. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "measure_shapes.h"

#include "document.h"

static void print_tables(const cli_value *answer)
{
    static const char *const titles[] = {"table", "rows", "released", "deleted", "lm"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(5, titles, aligns);
    int64_t                  count;
    const cli_value         *tables = cli_list_of(answer, "tables", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *one = kn_document_at(tables, i);
        cli_text_table_text(t, cli_text(one, "name"));
        cli_text_table_integer(t, cli_integer(one, "rows"));
        cli_text_table_integer(t, cli_integer(one, "released"));
        cli_text_table_integer(t, cli_integer(one, "deleted"));
        if (cli_integer(one, "cells") > 0)
            cli_text_table_plain(t, cli_number(one, "lm"));
        else
            cli_text_table_text(t, "-");
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_columns(const cli_value *answer)
{
    static const char *const titles[] = {"column", "lm", "ncp", "prec", "entropy", "kept", "generalized", "suppressed"};
    static const cli_align   aligns[] = {CLI_LEFT,  CLI_RIGHT, CLI_RIGHT, CLI_RIGHT,
                                         CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(8, titles, aligns);
    int64_t                  count;
    const cli_value         *columns = cli_list_of(answer, "columns", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *one = kn_document_at(columns, i);
        cli_text_table_format(t, "%s.%s", cli_text(one, "table"), cli_text(one, "name"));
        for (int c = 1; c < 5; c++) cli_text_table_plain(t, cli_number(one, titles[c]));
        for (int c = 5; c < 8; c++) cli_text_table_integer(t, cli_integer(one, titles[c]));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_words(const cli_value *answer)
{
    char    number[CLI_NUMBER_SIZE];
    int64_t classes = cli_integer(answer, "classes");
    printf("%s: %s released in ", cli_count_of(cli_integer(answer, "persons"), "person", "persons").text,
           cli_format_integer(number, cli_integer(answer, "released")));
    printf("%s", cli_count_of(classes, "class", "classes").text);
    if (classes > 0) printf(" of at least %s", cli_count_of(cli_integer(answer, "k"), "person", "persons").text);
    printf(", %s left out\n\n", cli_format_integer(number, cli_integer(answer, "suppressed")));
    printf("  lm           %.6g\n  lm_released  %.6g\n  dm           %.6g\n\n", cli_number(answer, "lm"),
           cli_number(answer, "lm_released"), cli_number(answer, "dm"));
    print_tables(answer);
    putchar('\n');
    print_columns(answer);
}

int cli_measure_database(const cli_common *common, kn_context *ctx, const kn_spec *spec,
                         const kn_measure_options *options)
{
    kn_database_measure_report *report = NULL;
    kn_document                *doc = NULL;
    kn_error                    err = KN_ERROR_INIT;
    kn_status                   st = kn_measure_database(&report, ctx, spec, options, &err);
    if (st == KN_OK) st = kn_document_measure_database(&doc, ctx, report, &err);
    int code = cli_answer(common, st, doc, &err, print_words);
    kn_database_measure_report_free(report);
    return code;
}
