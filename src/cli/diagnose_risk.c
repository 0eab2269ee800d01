/* diagnose_risk.c: `kanon diagnose --risk` and `--suda`: how likely is it that somebody is found, and what makes a row
 * special?
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/risk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose.h"

/* ---- Risk ---- */

static void add_summary(cli_figures *to, const kn_risk_summary *r, const char *who)
{
    char name[64];
    snprintf(name, sizeof name, "%s, highest", who);
    cli_figures_number(to, name, "chance that the easiest person is found", r->highest);
    snprintf(name, sizeof name, "%s, average", who);
    cli_figures_number(to, name, "the same for a person picked at random", r->average);
    snprintf(name, sizeof name, "%s, at risk", who);
    char at_risk[CLI_NUMBER_SIZE];
    cli_figures_add(to, name, "records whose chance is above the threshold", "%s (%.1f %%)",
                    cli_format_integer(at_risk, r->at_risk), 100 * r->at_risk_share);
}

static void add_risk(cli_figures *to, const kn_risk *r)
{
    cli_figures_section(to, "How likely is it that somebody is found?",
                        "The prosecutor knows that the person is in the table; the journalist does not.");
    cli_figures_integer(to, "sample uniques", "records alone in their class", r->sample_uniques);
    add_summary(to, &r->prosecutor, "prosecutor");
    if (r->has_population) {
        add_summary(to, &r->journalist, "journalist");
        cli_figures_integer(to, "population uniques", "rows alone in their class in the population",
                            r->population_uniques);
        cli_figures_integer(to, "shared uniques", "sample uniques that are alone in the population too",
                            r->shared_uniques);
        if (r->absent_rows + r->exceeding_rows > 0)
            cli_figures_integer(to, "not in the population", "rows the population should hold, but does not",
                                (r->absent_rows + r->exceeding_rows));
    }
    cli_figures_number(to, "marketer", "share of all records expected to be found", r->marketer);
    for (int i = 0; i < 2 && r->sampled; i++) {
        char name[64], meaning[160];
        snprintf(name, sizeof name, "population uniques, %s", kn_uniques_model_name(r->estimates[i].model));
        snprintf(meaning, sizeof meaning, "estimated share of the population that is unique in it%s%s%s",
                 r->estimates[i].model == r->recommended ? "; the one to believe here" : "",
                 r->estimates[i].status == KN_ESTIMATE_OK ? "" : "; ",
                 r->estimates[i].status == KN_ESTIMATE_OK ? "" : kn_estimate_status_text(r->estimates[i].status));
        cli_figures_number(to, name, meaning, r->estimates[i].share);
    }
    if (r->sampled)
        cli_figures_number(to, "a unique match is right", "probability (data intrusion simulation)", r->intrusion);
    if (r->weighted) add_summary(to, &r->individual, "individual (weights)");
}

/* Understands the words of the risk options; 0 or the exit code. */
static int read_options(kn_risk_options *o, const cli_diagnosing *s)
{
    o->quasi = (const char *const *)s->qi.items;
    o->quasi_count = s->qi.count;
    o->entity = s->entity;
    o->missing = s->missing;
    o->weight = s->weight;
    if (s->threshold && !kn_fraction_parse(s->threshold, &o->threshold))
        return cli_usage(&cli_diagnose, "--risk-threshold: not a share from 0 to 1; write 0.2 or 20%%");
    if (s->sampling) {
        if (!kn_fraction_parse(s->sampling, &o->sampling) || o->sampling.numerator == 0)
            return cli_usage(&cli_diagnose, "--sampling: not a share above 0 and up to 1; write 0.01 or 1%%");
        o->sampled = true;
    }
    return 0;
}

int cli_diagnose_risk(cli_diagnosing *s)
{
    kn_risk_options o = KN_RISK_OPTIONS_INIT;
    kn_table       *population = NULL;
    kn_error        err = KN_ERROR_INIT;
    int             code = read_options(&o, s);
    if (code) return code;
    if (s->population) {
        char *paths[] = {(char *)(uintptr_t)s->population};
        if (!cli_table_read(&population, s->ctx, &s->input, paths, 1, o.quasi, o.quasi_count, &code)) return code;
        o.population = population;
    }
    if (kn_risk_measure(&s->risk_found, s->ctx, s->table, &o, &err) != KN_OK)
        code = cli_fail(&err);
    else
        add_risk(&s->figures, s->risk_found);
    kn_table_free(population);
    return code;
}

/* ---- Special uniques ---- */

static void add_suda(cli_figures *to, const cli_diagnosing *s, const kn_suda *r)
{
    char text[160];
    cli_figures_section(to, "What makes a row special?",
                        "A minimal sample unique is a smallest set of columns on which a row differs from all others.");
    cli_figures_integer(to, "special rows", "rows with at least one", r->special_count);
    for (int i = 1; i <= r->max_size; i++) {
        snprintf(text, sizeof text, "of %d column%s", i, i == 1 ? "" : "s");
        cli_figures_integer(to, text, "minimal sample uniques of that size", r->msus_by_size[i]);
    }
    for (int c = 0; c < r->columns; c++) {
        snprintf(text, sizeof text, "column %s", s->qi.items[c]);
        cli_figures_add(to, text, "share of all scores that it has a part in", "%.1f %%", 100 * r->column_share[c]);
    }
    if (r->partial) cli_figures_add(to, "partial", "larger sets were not looked at", "up to %d columns", r->max_size);
}

/* The most special rows, by their numbers: for who holds the table, not for the report. */
static void add_rows(cli_figures *to, const kn_suda *r)
{
    enum { MOST = 5 };
    int64_t top[MOST];
    int     n = 0;
    for (int64_t i = 0; i < r->special_count; i++) {
        int at = n < MOST ? n++ : MOST;
        while (at > 0 && r->special[top[at - 1]].score < r->special[i].score) {
            if (at < MOST) top[at] = top[at - 1];
            at--;
        }
        if (at < MOST) top[at] = i;
    }
    if (n == 0) return;
    cli_figures_section(to, "The most special rows", "By row number; --json lists all, with what each column adds.");
    for (int i = 0; i < n; i++) {
        char text[64];
        snprintf(text, sizeof text, "row %lld", (long long)r->special[top[i]].row + 1);
        cli_figures_number(to, text, "score", r->special[top[i]].score);
    }
}

int cli_diagnose_suda(cli_diagnosing *s)
{
    kn_suda_options o = KN_SUDA_OPTIONS_INIT;
    o.quasi = (const char *const *)s->qi.items;
    o.quasi_count = s->qi.count;
    o.missing = s->missing;
    o.max_size = (int)s->max_size;
    o.row_columns = s->common.json;
    kn_error err = KN_ERROR_INIT;
    if (kn_suda_search(&s->suda_found, s->ctx, s->table, &o, &err) != KN_OK) return cli_fail(&err);
    add_suda(&s->figures, s, s->suda_found);
    add_rows(&s->rows, s->suda_found);
    return 0;
}
