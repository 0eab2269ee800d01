/* diagnose_risk.c: `kanon diagnose --risk` and `--suda`: how likely is it that a person is found, and what makes a
 * row special?
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/risk.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose.h"

/* ---- Risk ---- */

static void add_summary(cli_figures *to, const cli_value *risk, const char *member, const char *who)
{
    const cli_value *r = kn_document_member(risk, member);
    char             name[64], meaning[100], at_risk[CLI_NUMBER_SIZE];
    if (!r) return;
    snprintf(name, sizeof name, "%s, highest", who);
    cli_figures_number(to, name, "chance that the easiest person is found", cli_number(r, "highest"), "none");
    snprintf(name, sizeof name, "%s, average", who);
    cli_figures_number(to, name, "the same for a person picked at random", cli_number(r, "average"), "none");
    snprintf(name, sizeof name, "%s, at risk", who);
    snprintf(meaning, sizeof meaning, "records whose chance is above the threshold (%.6g, --risk-threshold)",
             cli_number(risk, "threshold"));
    cli_figures_add(to, name, meaning, "%s (%.1f %%)", cli_format_integer(at_risk, cli_integer(r, "at_risk")),
                    100 * cli_number(r, "at_risk_share"));
}

void cli_risk_figures(cli_figures *to, const cli_value *r)
{
    if (!r) return;
    const cli_value *journalist = kn_document_member(r, "journalist"), *intrusion = kn_document_member(r, "intrusion"),
                    *estimates = kn_document_member(r, "population_uniques_estimated");
    int64_t lacking = cli_integer(r, "absent_rows") + cli_integer(r, "exceeding_rows");
    cli_figures_section(to, "How likely is it that somebody is found?",
                        "The prosecutor knows that the person is in the table; the journalist does not.");
    cli_figures_integer(to, "sample uniques", "records alone in their class", cli_integer(r, "sample_uniques"));
    add_summary(to, r, "prosecutor", "prosecutor");
    add_summary(to, r, "journalist", "journalist");
    if (journalist) {
        cli_figures_integer(to, "population uniques", "rows alone in their class in the population",
                            cli_integer(r, "population_uniques"));
        cli_figures_integer(to, "shared uniques", "sample uniques that are alone in the population too",
                            cli_integer(r, "shared_uniques"));
    }
    if (lacking > 0)
        cli_figures_integer(to, "not in the population", "rows the population should hold, but does not", lacking);
    cli_figures_number(to, "marketer", "share of all records expected to be found", cli_number(r, "marketer"), "none");
    for (int64_t i = 0; i < kn_document_count(estimates); i++) {
        const cli_value *e = kn_document_at(estimates, i);
        const char      *estimator = cli_text(e, "estimator"), *status = cli_text(e, "status");
        bool             fine = strcmp(status, kn_estimate_status_text(KN_ESTIMATE_OK)) == 0;
        char             name[64], meaning[160];
        snprintf(name, sizeof name, "population uniques, %s", estimator);
        snprintf(meaning, sizeof meaning, "estimated share of the population that is unique in it%s%s%s",
                 cli_is(r, "recommended", estimator) ? "; the one to believe here" : "", fine ? "" : "; ",
                 fine ? "" : status);
        cli_figures_number(to, name, meaning, cli_number(e, "share"), "none");
    }
    if (intrusion)
        cli_figures_number(to, "a unique match is right", "probability (data intrusion simulation)",
                           kn_document_number_of(intrusion), "none");
    add_summary(to, r, "individual", "individual (weights)");
}

/* Interprets the risk options; returns 0 or the exit code. */
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
        char             *paths[] = {(char *)(uintptr_t)s->population};
        cli_table_options input = s->input;
        input.count = NULL; /* --count does not apply to it */
        if (!cli_table_read(&population, s->ctx, &input, paths, 1, o.quasi, o.quasi_count, &code)) return code;
        o.population = population;
    }
    if (kn_risk_measure(&s->risk_found, s->ctx, s->table, &o, &err) != KN_OK) code = cli_fail(&err);
    kn_table_free(population);
    return code;
}

/* ---- Special uniques ---- */

void cli_suda_figures(cli_figures *to, const cli_value *r)
{
    if (!r) return;
    char             text[160];
    int64_t          special, sizes, columns;
    const cli_value *msus = cli_list_of(r, "msus_by_size", &sizes), *shares = cli_list_of(r, "columns", &columns);
    (void)cli_list_of(r, "rows", &special);
    cli_figures_section(to, "What makes a row special?",
                        "A minimal sample unique is a smallest set of columns on which a row differs from all others.");
    cli_figures_integer(to, "special rows", "rows with at least one", special);
    for (int64_t i = 0; i < sizes; i++) {
        snprintf(text, sizeof text, "of %d column%s", (int)i + 1, i == 0 ? "" : "s");
        cli_figures_integer(to, text, "minimal sample uniques of that size",
                            kn_document_integer_of(kn_document_at(msus, i)));
    }
    for (int64_t c = 0; c < columns; c++) {
        const cli_value *column = kn_document_at(shares, c);
        snprintf(text, sizeof text, "column %s", cli_text(column, "attribute"));
        cli_figures_add(to, text, "share of all scores that it has a part in", "%.1f %%",
                        100 * cli_number(column, "share"));
    }
    if (!cli_true(r, "complete"))
        cli_figures_add(to, "partial", "larger sets were not looked at", "up to %d columns",
                        (int)cli_integer(r, "max_size"));
}

/* Lists the most special rows by number: for the owner of the table. */
void cli_suda_rows(cli_figures *to, const cli_value *r)
{
    enum { MOST = 5 };
    const cli_value *top[MOST];
    int              n = 0;
    int64_t          count;
    const cli_value *rows = cli_list_of(r, "rows", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *row = kn_document_at(rows, i);
        int              at = n < MOST ? n++ : MOST;
        while (at > 0 && cli_number(top[at - 1], "score") < cli_number(row, "score")) {
            if (at < MOST) top[at] = top[at - 1];
            at--;
        }
        if (at < MOST) top[at] = row;
    }
    if (n == 0) return;
    cli_figures_section(to, "The most special rows", "By row number; --json lists all, with what each column adds.");
    for (int i = 0; i < n; i++) {
        char text[64];
        snprintf(text, sizeof text, "row %lld", (long long)cli_integer(top[i], "row"));
        cli_figures_number(to, text, "score", cli_number(top[i], "score"), "none");
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
    return 0;
}
