/* database/anonymize.c: what `kanon anonymize` prints for databases only (anonymize.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "anonymize.h"

static void lost(const cli_value *answer, FILE *out)
{
    static const char *const titles[] = {"table", "rows", "released", "deleted", "lost", ""};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
    enum { BAR = 20 };
    cli_text_table  *t = cli_text_table_new(6, titles, aligns);
    int64_t          count;
    const cli_value *tables = cli_list_of(answer, "tables", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *table = kn_document_at(tables, i);
        double           lm = cli_integer(table, "cells") > 0 ? cli_number(table, "lm") : NAN;
        cli_text_table_text(t, cli_text(table, "name"));
        cli_text_table_integer(t, cli_integer(table, "rows_in"));
        cli_text_table_integer(t, cli_integer(table, "rows"));
        cli_text_table_integer(t, cli_integer(table, "deleted"));
        if (isnan(lm))
            cli_text_table_text(t, "-");
        else
            cli_text_table_format(t, "%.1f %%", 100 * lm);
        cli_text_table_bar(t, isnan(lm) ? 0 : lm, BAR);
    }
    fputc('\n', out);
    cli_text_table_print(t, out, 2);
    cli_text_table_free(t);
}

static void print_groups(const cli_value *answer, FILE *out)
{
    fputs(cli_count_of(cli_integer(answer, "persons"), "person", "persons").text, out);
    /* Groups are formed only when the release is written. */
    if (cli_true(answer, "verified"))
        fprintf(out, ", %s of rows", cli_count_of(cli_integer(answer, "classes"), "group", "groups").text);
    fprintf(out, "; at least %s%s%s share a group%s\n", cli_style_on(out, CLI_BOLD),
            cli_count_of(cli_integer(answer, "k"), "person", "persons").text, cli_style_on(out, CLI_PLAIN),
            cli_release_state(answer));
}

static void verdict(const cli_value *answer, FILE *out)
{
    bool    anatomy = cli_true(answer, "anatomy");
    int64_t suppressed = cli_integer(answer, "suppressed");
    char    number[CLI_NUMBER_SIZE];
    if (anatomy)
        print_groups(answer, out);
    else
        cli_print_crowds(answer, cli_count_of(cli_integer(answer, "persons"), "person", "persons").text, out);
    if (suppressed == 0)
        fputs("Nobody is left out.\n", out);
    else
        fprintf(out, "%s of %s left out.\n", cli_format_integer(number, suppressed),
                cli_count_of(cli_integer(answer, "persons_in"), "person", "persons").text);
    cli_print_share(answer, anatomy ? "those who share a group" : "those who look alike", out);
    if (anatomy) fputs("Quasi-identifiers are shown as they are: whoever knows them may find a person's rows.\n", out);
}

static void choice(const cli_value *answer, FILE *out)
{
    if (cli_true(answer, "anatomy")) fputs(", as an anatomy", out);
}

static void loss(const cli_value *answer, FILE *out)
{
    const cli_value *metrics = kn_document_member(answer, "metrics");
    double           dm = cli_number(metrics, "dm");
    fprintf(out, "  loss  lm %.6g", cli_number(metrics, "lm"));
    if (!isnan(dm)) fprintf(out, " dm %.6g", dm);
    fputc('\n', out);
}

const cli_shape cli_database_shape = {verdict, lost, choice, loss};
