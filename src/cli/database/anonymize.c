/* database/anonymize.c: what `kanon anonymize` prints of a database only (anonymize.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"
#include "diagnose.h"

static const kn_database_result *result_of(const cli_release *r)
{
    return (const kn_database_result *)(const void *)r->head;
}

static kn_status make(kn_release_head **out, kn_context *ctx, const kn_spec *spec, const kn_anonymize_options *options,
                      kn_error *err)
{
    kn_database_result *result = NULL;
    kn_status           st = kn_anonymize_database(&result, ctx, spec, options, err);
    *out = result ? &result->head : NULL;
    return st;
}

static void free_result(kn_release_head *head)
{
    kn_database_result_free((kn_database_result *)(void *)head);
}

static kn_status document(kn_document **out, const cli_release *r, kn_error *err)
{
    return kn_document_anonymize_database(out, r->ctx, r->spec, result_of(r), r->options, err);
}

/* ---- Words ---- */

static void lost(const cli_release *release, FILE *out)
{
    const kn_database_result *r = result_of(release);
    static const char *const  titles[] = {"table", "rows", "released", "deleted", "lost", ""};
    static const cli_align    aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
    enum { BAR = 20 };
    cli_text_table *t = cli_text_table_new(6, titles, aligns);
    for (int i = 0; i < r->table_count; i++) {
        const kn_release_table *table = &r->tables[i];
        cli_text_table_text(t, table->name);
        cli_text_table_integer(t, table->rows_in);
        cli_text_table_integer(t, table->rows);
        cli_text_table_integer(t, table->deleted);
        if (table->cells > 0)
            cli_text_table_format(t, "%.1f %%", 100 * table->lm);
        else
            cli_text_table_text(t, "-");
        cli_text_table_bar(t, table->cells > 0 ? table->lm : 0, BAR);
    }
    fputc('\n', out);
    cli_text_table_print(t, out, 2);
    cli_text_table_free(t);
}

static void print_groups(const cli_release *release, FILE *out)
{
    const kn_database_result *r = result_of(release);
    fputs(cli_count_of(r->persons, "person", "persons").text, out);
    /* Groups are made when it is written. */
    if (!release->a->dry_run) fprintf(out, ", %s of rows", cli_count_of(r->head.classes, "group", "groups").text);
    fprintf(out, "; at least %s%s%s share a group%s\n", cli_style_on(out, CLI_BOLD),
            cli_count_of(r->head.k, "person", "persons").text, cli_style_on(out, CLI_PLAIN),
            cli_release_state(release));
}

static void verdict(const cli_release *release, FILE *out)
{
    const kn_database_result *r = result_of(release);
    bool                      anatomy = release->spec->anatomy;
    char                      number[CLI_NUMBER_SIZE];
    if (anatomy)
        print_groups(release, out);
    else
        cli_print_crowds(release, cli_count_of(r->persons, "person", "persons").text, out);
    if (r->head.suppressed == 0)
        fputs("Nobody is left out.\n", out);
    else
        fprintf(out, "%s of %s left out.\n", cli_format_integer(number, r->head.suppressed),
                cli_count_of(r->persons_in, "person", "persons").text);
    cli_print_share(release, anatomy ? "those who share a group" : "those who look alike", out);
    if (anatomy) fputs("Quasi-identifiers are shown as they are: whoever knows them may find a person's rows.\n", out);
}

static void choice(const cli_release *release, FILE *out)
{
    if (release->spec->anatomy) fputs(", as an anatomy", out);
}

static void loss(const cli_release *release, FILE *out)
{
    const kn_database_result *r = result_of(release);
    fprintf(out, "  loss  lm %.6g", r->lm);
    if (!isnan(r->dm)) fprintf(out, " dm %.6g", r->dm);
    fputc('\n', out);
}

const cli_shape cli_database_shape = {make, free_result, document, verdict, lost, choice, loss};
