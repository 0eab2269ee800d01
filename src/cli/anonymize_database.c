/* anonymize_database.c: what `kanon anonymize` tells of a database only (anonymize.h). */
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

static cli_release_names names(const cli_release *release)
{
    const kn_spec    *spec = release->spec;
    cli_release_names names = {NULL, result_of(release)->beside};
    if (cli_has_scheme(spec->output, "postgres")) {
        size_t size = strlen(names.base) + 32;
        names.release = cli_alloc(size);
        snprintf(names.release, size, "schema %s of the server", names.base);
    } else if (cli_has_scheme(spec->output, "sqlite:"))
        names.release = cli_beside(names.base, "");
    return names;
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

/* ---- JSON ---- */

static void rest(const cli_release *release, json_t *to)
{
    const kn_database_result *r = result_of(release);
    json_t                   *list = cli_json_array();
    for (int i = 0; i < r->table_count; i++) {
        const kn_release_table *t = &r->tables[i];
        json_t                 *o = cli_json_object();
        cli_json_set(o, "name", cli_json_text_or_null(t->name));
        cli_json_set(o, "rows_in", json_integer(t->rows_in));
        cli_json_set(o, "orphans", json_integer(t->orphans));
        cli_json_set(o, "rows", json_integer(t->rows));
        cli_json_set(o, "deleted", json_integer(t->deleted));
        cli_json_set(o, "cells", json_integer(t->cells));
        cli_json_set(o, "lm", cli_json_number(t->lm));
        cli_json_append(list, o);
    }
    cli_json_set(to, "tables", list);
}

static void about(const cli_release *release, json_t *o)
{
    cli_json_set(o, "persons_in", json_integer(result_of(release)->persons_in));
    cli_json_set(o, "k_before", json_integer(release->head->k_before));
}

static void figures(const cli_release *release, json_t *o)
{
    const kn_database_result *r = result_of(release);
    json_t                   *metrics = cli_json_object();
    cli_json_set(o, "k", json_integer(r->head.k));
    cli_json_set(o, "persons", json_integer(r->persons));
    cli_json_set(o, "suppressed", json_integer(r->head.suppressed));
    cli_json_set(o, "classes", json_integer(r->head.classes));
    cli_json_set(o, "largest_share", r->head.largest_share > 0 ? cli_json_number(r->head.largest_share) : json_null());
    cli_json_set(metrics, "lm", cli_json_number(r->lm));
    cli_json_set(metrics, "lm_released", cli_json_number(r->lm_released));
    cli_json_set(metrics, "dm", cli_json_number(r->dm));
    cli_json_set(o, "metrics", metrics);
    cli_json_set(o, "models", cli_models_json(r->head.models, r->head.model_count, r->head.found));
}

const cli_shape cli_database_shape = {make,   free_result, NULL,  names,   verdict, lost,
                                      choice, loss,        about, figures, rest};
