/* diagnose.c: the commands "diagnose" (one set of columns, or all subsets of a list: the twelve questions, models, risk,
 * special uniques) and "rows" (which rows stand in classes smaller than k). See binding.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

/* The questions and their answers. */
typedef struct diagnosing {
    const command_call *call;
    kn_spec            *spec;
    kn_table           *table, *population;
    const char *const *quasi, *const *over, *const *sensitive, *const *entities;
    int                quasi_count, over_count, sensitive_count, entity_count;
    char              *joined;
    const char        *entity;
    int64_t            k;
    bool               at_most;
    kn_missing         missing;
    kn_suppress_mode   mode;
    kn_fraction        suppress;
    kn_hierarchy     **hierarchies;
    kn_model          *models;
    char             **requirements;
    int                model_count;
    kn_diagnosis      *one;
    kn_sets_diagnosis *sets;
    kn_model_report   *model_report;
    kn_model_sets     *model_sets;
    kn_risk           *risk;
    kn_suda           *suda;
} diagnosing;

static kn_status fail(kn_error *err, kn_status status, const char *message)
{
    *err = (kn_error)KN_ERROR_INIT;
    err->status = status;
    snprintf(err->message, sizeof err->message, "%s", message);
    return status;
}

static kn_status no_memory(kn_error *err)
{
    return fail(err, KN_MEMORY, kn_status_name(KN_MEMORY));
}

/* ---- Reading ---- */

static void want(const char **columns, int *count, const char *name)
{
    for (int i = 0; i < *count; i++)
        if (strcmp(columns[i], name) == 0) return;
    columns[(*count)++] = name;
}

/* Only the columns that the questions need. */
static kn_status read_table(diagnosing *d, kn_error *err)
{
    const char  *weight = argument_text(&d->call->args, "weight");
    int          n = 0, most = d->quasi_count + d->over_count + d->sensitive_count + d->entity_count + 1;
    const char **columns = malloc((size_t)most * sizeof *columns);
    if (!columns) return no_memory(err);
    for (int i = 0; i < d->quasi_count; i++) columns[n++] = d->quasi[i]; /* one named twice is an error */
    for (int i = 0; i < d->over_count; i++) columns[n++] = d->over[i];
    for (int i = 0; i < d->sensitive_count; i++) want(columns, &n, d->sensitive[i]);
    for (int i = 0; i < d->entity_count; i++) want(columns, &n, d->entities[i]);
    if (weight) want(columns, &n, weight);
    kn_status st = command_table(&d->table, d->call, d->spec, columns, n, err);
    free(columns);
    return st;
}

/* Several columns that together say whose row it is become one. */
static kn_status join_entity(diagnosing *d, kn_error *err)
{
    size_t size = 1, used = 0;
    if (d->entity_count == 1) d->entity = d->entities[0];
    if (d->entity_count < 2) return KN_OK;
    for (int i = 0; i < d->entity_count; i++) size += strlen(d->entities[i]) + 2;
    d->joined = malloc(size);
    if (!d->joined) return no_memory(err);
    for (int i = 0; i < d->entity_count; i++)
        used += (size_t)snprintf(d->joined + used, size - used, "%s%s", i > 0 ? ", " : "", d->entities[i]);
    d->entity = d->joined;
    return kn_table_add_joined(d->table, d->entities, d->entity_count, d->joined, err);
}

/* A share, a number of rows, or "any". */
static kn_status read_suppression(diagnosing *d, kn_error *err)
{
    const char *text = argument_text(&d->call->args, "suppression");
    int64_t     rows = argument_integer(&d->call->args, "suppression_rows", -1), all = kn_table_total(d->table);
    if (!text && rows < 0) return KN_OK;
    d->mode = text && strcmp(text, "any") == 0 ? KN_SUPPRESS_ASKED : KN_SUPPRESS_GIVEN;
    if (rows >= 0)
        d->suppress = rows < all ? (kn_fraction){(uint64_t)rows, (uint64_t)all} : (kn_fraction){1, 1};
    else if (d->mode == KN_SUPPRESS_GIVEN && !kn_fraction_parse(text, &d->suppress))
        return fail(err, KN_USAGE, "suppression: not a share, a number of rows or 'any'");
    return KN_OK;
}

static kn_status begin(diagnosing *d, const command_call *call, kn_error *err)
{
    const char *missing = argument_text(&call->args, "missing");
    d->call = call;
    d->quasi = argument_texts(&call->args, "quasi", &d->quasi_count);
    d->over = argument_texts(&call->args, "over", &d->over_count);
    d->sensitive = argument_texts(&call->args, "sensitive", &d->sensitive_count);
    d->entities = argument_texts(&call->args, "entity", &d->entity_count);
    d->k = argument_integer(&call->args, "k", 0);
    d->at_most = argument_true(&call->args, "at_most");
    d->suppress = (kn_fraction){0, 1};
    if (missing && !kn_missing_parse(missing, &d->missing))
        return fail(err, KN_USAGE, "missing: not a treatment of missing cells; there are value, wildcard and drop");
    kn_status st = command_spec(&d->spec, call, err);
    if (st == KN_OK) st = read_table(d, err);
    if (st == KN_OK) st = join_entity(d, err);
    return st == KN_OK ? read_suppression(d, err) : st;
}

static void end(diagnosing *d)
{
    kn_suda_free(d->suda);
    kn_risk_free(d->risk);
    kn_model_sets_free(d->model_sets);
    kn_model_report_free(d->model_report);
    kn_sets_diagnosis_free(d->sets);
    kn_diagnosis_free(d->one);
    for (int i = 0; d->hierarchies && i < d->sensitive_count; i++) kn_hierarchy_free(d->hierarchies[i]);
    for (int i = 0; d->requirements && i < d->model_count; i++) free(d->requirements[i]);
    free(d->requirements);
    free(d->hierarchies);
    free(d->models);
    free(d->joined);
    kn_table_free(d->population);
    kn_table_free(d->table);
    kn_spec_free(d->spec);
}

static kn_diagnose_options options_of(const diagnosing *d)
{
    kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
    o.quasi = d->quasi;
    o.quasi_count = d->quasi_count;
    o.entity = d->entity;
    o.missing = d->missing;
    o.k = d->k;
    o.suppressing = d->mode == KN_SUPPRESS_GIVEN;
    o.suppress = d->suppress;
    return o;
}

/* ---- Models ---- */

static bool is_of_column(kn_model_kind kind)
{
    return kind >= KN_MODEL_DISTINCT && kind <= KN_MODEL_DELTA;
}

static char *requirement_text(const kn_model *m)
{
    const char *variant = kn_model_variant(m->kind);
    char        text[400];
    snprintf(text, sizeof text, "%s%s%s%s%.300s", kn_model_name(m->kind), variant ? " " : "", variant ? variant : "",
             m->attribute ? " of " : "", m->attribute ? m->attribute : "");
    return strdup(text);
}

/* The spec's promises; a model without a column is about the only sensitive one. */
static kn_status take_models(diagnosing *d, kn_error *err)
{
    size_t count = (size_t)d->spec->model_count;
    d->models = calloc(count + 1, sizeof *d->models);
    d->requirements = calloc(count + 1, sizeof *d->requirements);
    d->hierarchies = calloc((size_t)d->sensitive_count + 1, sizeof *d->hierarchies);
    if (!d->models || !d->requirements || !d->hierarchies) return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        kn_model *m = &d->models[i];
        *m = d->spec->models[i];
        if (is_of_column(m->kind) && !m->attribute && d->sensitive_count == 1) m->attribute = d->sensitive[0];
        if (!(d->requirements[d->model_count++] = requirement_text(m))) return no_memory(err);
    }
    for (int i = 0; i < d->sensitive_count; i++) {
        int at = kn_spec_find(d->spec, d->sensitive[i]), column = kn_table_find(d->table, d->sensitive[i]);
        const kn_attribute *a = at < 0 ? NULL : kn_spec_attribute_at(d->spec, at);
        if (!a || !a->has_hierarchy || column < 0) continue;
        kn_hierarchy_spec from = *kn_attribute_hierarchy(a);
        kn_status         st = kn_hierarchy_make(&d->hierarchies[i], d->call->ctx, d->table, column, &from, false, err);
        if (st != KN_OK) return st;
    }
    return KN_OK;
}

static kn_status measure_models(diagnosing *d, kn_error *err)
{
    kn_model_options o = KN_MODEL_OPTIONS_INIT;
    if (d->sensitive_count == 0) return KN_OK;
    kn_status st = take_models(d, err);
    o.quasi = d->over_count > 0 ? d->over : d->quasi;
    o.quasi_count = d->over_count > 0 ? d->over_count : d->quasi_count;
    o.sensitive = d->sensitive;
    o.sensitive_count = d->sensitive_count;
    o.hierarchies = (const kn_hierarchy *const *)d->hierarchies;
    o.requirements = d->models;
    o.requirement_count = d->model_count;
    o.missing = d->missing;
    if (st != KN_OK) return st;
    if (d->over_count > 0) return kn_model_over_sets(&d->model_sets, d->call->ctx, d->table, &o, NULL, 0, err);
    return kn_diagnose_models(&d->model_report, d->call->ctx, d->table, &o, err);
}

/* ---- Risk ---- */

static kn_status measure_risk(diagnosing *d, kn_error *err)
{
    kn_risk_options o = KN_RISK_OPTIONS_INIT;
    const char     *sampling = argument_text(&d->call->args, "sampling"),
               *threshold = argument_text(&d->call->args, "risk_threshold"),
               *population = argument_text(&d->call->args, "population");
    if (!argument_true(&d->call->args, "risk")) return KN_OK;
    o.quasi = d->quasi;
    o.quasi_count = d->quasi_count;
    o.entity = d->entity;
    o.missing = d->missing;
    o.weight = argument_text(&d->call->args, "weight");
    o.sampled = sampling != NULL;
    if (sampling && !kn_fraction_parse(sampling, &o.sampling))
        return fail(err, KN_USAGE, "sampling: not a share greater than 0");
    if (threshold && !kn_fraction_parse(threshold, &o.threshold))
        return fail(err, KN_USAGE, "risk_threshold: not a share");
    if (population) {
        kn_csv_options csv = *kn_spec_csv(d->spec);
        csv.columns = d->quasi;
        csv.column_count = d->quasi_count;
        kn_status st = kn_table_read_csv(&d->population, d->call->ctx, population, &csv, err);
        if (st != KN_OK) return st;
        o.population = d->population;
    }
    return kn_risk_measure(&d->risk, d->call->ctx, d->table, &o, err);
}

static kn_status measure_suda(diagnosing *d, kn_error *err)
{
    kn_suda_options o = KN_SUDA_OPTIONS_INIT;
    if (!argument_true(&d->call->args, "suda")) return KN_OK;
    o.quasi = d->quasi;
    o.quasi_count = d->quasi_count;
    o.missing = d->missing;
    o.max_size = (int)argument_integer(&d->call->args, "max_size", 0);
    return kn_suda_search(&d->suda, d->call->ctx, d->table, &o, err);
}

/* ---- The answers ---- */

static kn_status answer_one(diagnosing *d, kn_document **out, kn_error *err)
{
    kn_diagnose_options o = options_of(d);
    kn_diagnose_answers a = KN_DIAGNOSE_ANSWERS_INIT;
    kn_status           st = kn_diagnose(&d->one, d->call->ctx, d->table, &o, err);
    if (st == KN_OK) st = measure_models(d, err);
    if (st == KN_OK) st = measure_risk(d, err);
    if (st == KN_OK) st = measure_suda(d, err);
    a.options = &o;
    a.diagnosis = d->one;
    a.at_most = d->at_most;
    a.suppress_mode = d->mode;
    a.models = d->model_report;
    a.requirements = (const char *const *)d->requirements;
    a.risk = d->risk;
    a.suda = d->suda;
    return st == KN_OK ? kn_document_diagnose(out, d->call->ctx, d->table, &a, err) : st;
}

static kn_status answer_sets(diagnosing *d, kn_document **out, kn_error *err)
{
    kn_sets_options o = KN_SETS_OPTIONS_INIT;
    kn_sets_answers a = KN_SETS_ANSWERS_INIT;
    const char     *algorithm = argument_text(&d->call->args, "algorithm");
    o.over = d->over;
    o.over_count = d->over_count;
    o.entity = d->entity;
    o.k = d->k;
    o.at_most = d->at_most;
    o.suppress_mode = d->mode;
    o.suppress = d->suppress;
    o.algorithm = algorithm && strcmp(algorithm, "paper") == 0 ? KN_SETS_PAPER : KN_SETS_FAST;
    o.max_size = (int)argument_integer(&d->call->args, "max_size", 0);
    o.time_limit = argument_number(&d->call->args, "time_limit", 0);
    kn_status st = kn_diagnose_sets(&d->sets, d->call->ctx, d->table, &o, err);
    if (st == KN_OK) st = measure_models(d, err);
    a.options = &o;
    a.sets = d->sets;
    a.models = d->model_sets;
    a.sensitive = d->sensitive;
    a.requirements = (const char *const *)d->requirements;
    return st == KN_OK ? kn_document_diagnose_sets(out, d->call->ctx, d->table, &a, err) : st;
}

static kn_status write_report(const diagnosing *d, const char *path, kn_error *err)
{
    kn_report_input in = KN_REPORT_INPUT_INIT;
    in.version = kn_version();
    in.inputs = argument_texts(&d->call->args, "input", &in.input_count);
    in.quasi = d->quasi;
    in.quasi_count = d->quasi_count;
    in.over = d->over;
    in.over_count = d->over_count;
    in.entity = d->entity;
    in.missing = d->missing;
    in.k = d->k;
    in.at_most = d->at_most;
    in.suppress_mode = d->mode;
    in.diagnosis = d->one;
    in.sets = d->sets;
    return kn_report_write(d->call->ctx, path, &in, err);
}

kn_status command_diagnose(command_call *call, kn_error *err)
{
    diagnosing  d = {.missing = KN_MISSING_VALUE};
    const char *report = argument_text(&call->args, "report");
    kn_status   st = begin(&d, call, err);
    if (st == KN_OK)
        st = d.over_count > 0 ? answer_sets(&d, &call->document, err) : answer_one(&d, &call->document, err);
    if (st == KN_OK && report) st = write_report(&d, report, err);
    end(&d);
    return st;
}

kn_status command_rows(command_call *call, kn_error *err)
{
    diagnosing d = {.missing = KN_MISSING_VALUE};
    kn_status  st = begin(&d, call, err);
    if (st == KN_OK) {
        kn_diagnose_options o = options_of(&d);
        st = kn_suppressed_rows(&call->rows, call->ctx, d.table, &o, d.k, err);
    }
    end(&d);
    return st;
}

/* ---- Databases and records ---- */

static kn_status diagnose_database(command_call *call, kn_error *err)
{
    kn_database_diagnose_options options = KN_DATABASE_DIAGNOSE_OPTIONS_INIT;
    kn_database_diagnosis       *found = NULL;
    options.k = argument_integer(&call->args, "k", 0);
    options.max_size = (int)argument_integer(&call->args, "max_size", 0);
    kn_status st = kn_diagnose_database(&found, call->ctx, call->spec, &options, err);
    if (st == KN_OK) st = kn_document_diagnose_database(&call->document, call->ctx, found, &options, err);
    kn_database_diagnosis_free(found);
    return st;
}

static kn_status diagnose_records(command_call *call, kn_error *err)
{
    kn_records_diagnose_options options = KN_RECORDS_DIAGNOSE_OPTIONS_INIT;
    kn_records_diagnosis       *found = NULL;
    options.kmn.k = argument_integer(&call->args, "k", 0);
    options.kmn.m = (int)argument_integer(&call->args, "m", 0);
    options.kmn.n = (int)argument_integer(&call->args, "n", 0);
    kn_status st = kn_diagnose_records(&found, call->ctx, call->spec, &options, err);
    if (st == KN_OK) st = kn_document_diagnose_records(&call->document, call->ctx, found, err);
    kn_records_diagnosis_free(found);
    return st;
}

kn_status command_diagnose_spec(command_call *call, kn_error *err)
{
    kn_status st = command_spec(&call->spec, call, err);
    if (st == KN_OK && call->spec->table_count > 0) st = kn_spec_check_use(call->spec, err);
    if (st != KN_OK) return st;
    return kn_spec_shape(call->spec) == KN_SHAPE_RECORDS ? diagnose_records(call, err) : diagnose_database(call, err);
}
