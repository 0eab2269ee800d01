/* anonymize_database.c: `kanon anonymize` of a database: runs it and tells what became of persons and tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise.h"
#include "anonymize.h"
#include "diagnose.h"

/* ---- Words ---- */

static void print_tables(const kn_database_result *r, FILE *out)
{
    static const char *const titles[] = {"table", "rows", "released", "deleted", "lost", ""};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
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

/* NULL: a folder. */
static char *release_name(const kn_spec *spec, const kn_database_result *r)
{
    if (cli_has_scheme(spec->output, "postgres")) {
        size_t size = strlen(r->beside) + 32;
        char  *text = cli_alloc(size);
        snprintf(text, size, "schema %s of the server", r->beside);
        return text;
    }
    return cli_has_scheme(spec->output, "sqlite:") ? cli_beside(r->beside, "") : NULL;
}

static void print_files(const cli_anonymizing *a, const kn_spec *spec, const kn_database_result *r, FILE *out)
{
    if (a->dry_run) return;
    char *release = release_name(spec, r);
    cli_print_files(spec, release, r->beside, out);
    free(release);
}

static void print_words(const cli_anonymizing *a, const kn_spec *spec, const kn_database_result *r, FILE *out)
{
    char k[CLI_NUMBER_SIZE], before[CLI_NUMBER_SIZE];
    if (!r->found) {
        fprintf(out, "%sNO RELEASE%s: %s\n", cli_style_on(out, CLI_RED), cli_style_on(out, CLI_PLAIN), r->reason);
        return;
    }
    if (spec->anatomy && !a->dry_run)
        fprintf(out, "%s, %s of rows; at least %s%s%s share a group%s\n",
                cli_count_of(r->persons, "person", "persons").text, cli_count_of(r->classes, "group", "groups").text,
                cli_style_on(out, CLI_BOLD), cli_count_of(r->k, "person", "persons").text, cli_style_on(out, CLI_PLAIN),
                "; verified");
    else if (spec->anatomy) /* groups are made when it is written */
        fprintf(out, "%s; at least %s%s%s share a group; nothing was written (--dry-run)\n",
                cli_count_of(r->persons, "person", "persons").text, cli_style_on(out, CLI_BOLD),
                cli_count_of(r->k, "person", "persons").text, cli_style_on(out, CLI_PLAIN));
    else
        fprintf(out, "%s, %s; %sk = %s%s (was %s)%s\n", cli_count_of(r->persons, "person", "persons").text,
                cli_count_of(r->classes, "class", "classes").text, cli_style_on(out, CLI_BOLD),
                cli_format_integer(k, r->k), cli_style_on(out, CLI_PLAIN), cli_format_integer(before, r->k_before),
                a->dry_run ? "; nothing was written (--dry-run)" : "; verified");
    if (r->suppressed == 0)
        fputs("Nobody is left out.\n", out);
    else
        fprintf(out, "%s of %s left out.\n", cli_format_integer(k, r->suppressed),
                cli_count_of(r->persons_in, "person", "persons").text);
    if (r->largest_share > 0)
        fprintf(out, "A sensitive value belongs to at most %.1f %% of those who %s.\n", 100 * r->largest_share,
                spec->anatomy ? "share a group" : "look alike");
    if (spec->anatomy)
        fputs("Quasi-identifiers are shown as they are: whoever knows them may find a person's rows.\n", out);
    cli_models_print(r->models, r->model_count, true, out);
    print_tables(r, out);
    fprintf(out, "\n  by    %s%s\n", kn_method_name(r->method), spec->anatomy ? ", as an anatomy" : "");
    cli_advice_print(r->advice, out);
    fprintf(out, "  loss  lm %.6g", r->lm);
    if (!isnan(r->dm)) fprintf(out, " dm %.6g", r->dm);
    fputc('\n', out);
    print_files(a, spec, r, out);
}

/* ---- JSON ---- */

static json_t *tables_json(const kn_database_result *r)
{
    json_t *list = cli_json_array();
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
    return list;
}

static void set_release(json_t *o, const cli_anonymizing *a, const kn_spec *spec, const kn_database_result *r)
{
    json_t *metrics = cli_json_object();
    cli_json_set(o, "k", json_integer(r->k));
    cli_json_set(o, "persons", json_integer(r->persons));
    cli_json_set(o, "suppressed", json_integer(r->suppressed));
    cli_json_set(o, "classes", json_integer(r->classes));
    cli_json_set(o, "largest_share", r->largest_share > 0 ? cli_json_number(r->largest_share) : json_null());
    cli_json_set(metrics, "lm", cli_json_number(r->lm));
    cli_json_set(metrics, "lm_released", cli_json_number(r->lm_released));
    cli_json_set(metrics, "dm", cli_json_number(r->dm));
    cli_json_set(o, "metrics", metrics);
    cli_json_set(o, "models", cli_models_json(r->models, r->model_count, true));
    if (a->dry_run) return;
    cli_json_set(o, "verified", json_true());
    cli_json_set(o, "beside", cli_json_text_or_null(r->beside));
    if (!cli_has_scheme(spec->output, "postgres")) cli_json_set(o, "output", cli_json_text_or_null(spec->output));
    char *release = release_name(spec, r);
    cli_set_files(o, spec, release, r->beside);
    free(release);
}

static void print_json(const cli_anonymizing *a, const kn_spec *spec, const kn_database_result *r)
{
    json_t *o = cli_json_object();
    cli_json_set(o, "found", json_boolean(r->found));
    if (!r->found) cli_json_set(o, "reason", cli_json_text_or_null(r->reason));
    cli_json_set(o, "method", cli_json_text_or_null(kn_method_name(r->method)));
    if (r->advice) cli_json_set(o, "auto", cli_advice_json(r->advice));
    cli_json_set(o, "persons_in", json_integer(r->persons_in));
    cli_json_set(o, "k_before", json_integer(r->k_before));
    if (r->found) set_release(o, a, spec, r);
    cli_json_set(o, "tables", tables_json(r));
    cli_json_set(o, "dropped", cli_texts_json(r->dropped, r->dropped_count));
    cli_json_set(o, "notes", cli_texts_json(r->notes, r->note_count));
    cli_json_set(o, "counters", cli_counters_json(r->counters, r->counter_count));
    cli_json_set(o, "seconds",
                 cli_seconds_json(r->seconds_read, r->seconds_search, r->seconds_write, r->seconds_verify));
    cli_json_print(o);
}

/* ---- The run ---- */

int cli_anonymize_database(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec)
{
    kn_error             err = KN_ERROR_INIT;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_database_result  *r = NULL;
    options.dry_run = a->dry_run;
    options.version = KANON_VERSION;
    if (kn_anonymize_database(&r, ctx, spec, &options, &err) != KN_OK) return cli_fail(&err);
    cli_release_notes notes = {r->found, r->dropped, r->dropped_count, r->notes, r->note_count};
    cli_note_release(a, spec, &notes);
    if (a->common.json)
        print_json(a, spec, r);
    else
        print_words(a, spec, r, stdout);
    int code = r->found ? 0 : 1;
    kn_database_result_free(r);
    return code;
}
