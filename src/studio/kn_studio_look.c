/* kn_studio_look.c: questions about the data as they are: columns, classes, sets of columns, rows that stand out
 * (kn_studio_question.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_studio_question.h"

enum { MOST_SHOWN = 50, MOST_SPECIAL = 50000 };

kn_status kn_studio_answer_profile(kn_studio_question *q, kn_error *err)
{
    if (kn_spec_shape(q->spec) == KN_SHAPE_DATABASE) {
        kn_database_options options = KN_DATABASE_OPTIONS_INIT;
        kn_database        *database = NULL;
        kn_schema          *schema = NULL;
        options.tables = kn_spec_table_at(q->spec, 0);
        options.table_count = q->spec->table_count;
        options.csv = kn_spec_csv(q->spec);
        kn_status st = kn_database_read(&database, q->ctx, q->spec->inputs[0], &options, err);
        if (st == KN_OK) st = kn_schema_look(&schema, q->ctx, database, q->spec->entity_table, err);
        if (st == KN_OK) st = kn_document_profile_database(&q->doc, q->ctx, schema, err);
        kn_schema_free(schema);
        kn_database_free(database);
        return st;
    }
    kn_profile *found = NULL;
    kn_status   st = kn_studio_need_table(q, err);
    if (st == KN_OK) st = kn_profile_table(&found, q->ctx, q->table->table, err);
    if (st == KN_OK) st = kn_document_profile(&q->doc, q->ctx, found, q->table->table, true, err);
    kn_profile_free(found);
    return st;
}

kn_status kn_studio_answer_distributions(kn_studio_question *q, kn_error *err)
{
    kn_status st = kn_studio_need_table(q, err);
    if (st != KN_OK) return st;
    return kn_studio_distributions(&q->own, q->table->table, kn_spec_csv(q->spec)->decimal, &q->job->stop, err);
}

static kn_status ask_options(kn_studio_question *q, kn_diagnose_options *o, kn_error *err)
{
    kn_status st = kn_studio_need_table(q, err);
    if (st == KN_OK) st = kn_studio_need_names(q, err);
    o->quasi = q->names;
    o->quasi_count = q->name_count;
    o->entity = q->spec->entity_count == 1 ? q->spec->entity : NULL;
    o->missing = q->spec->missing;
    o->k = kn_studio_number(q, "k", kn_studio_promised_k(q->spec));
    return st;
}

/* The rows that may be suppressed: a share, or "any": how many would have to be? */
static kn_status read_suppression(const kn_studio_question *q, kn_suppress_mode *mode, kn_fraction *share,
                                  kn_error *err)
{
    const char *said = kn_studio_text(q, "suppression");
    *mode = !said ? KN_SUPPRESS_NONE : strcmp(said, "any") == 0 ? KN_SUPPRESS_ASKED : KN_SUPPRESS_GIVEN;
    if (*mode == KN_SUPPRESS_GIVEN && !kn_fraction_parse(said, share))
        return kn_studio_error(err, KN_USAGE, "the rows that may be given up are a share: write 5%% or 0.05");
    return KN_OK;
}

static kn_status diagnose_table(kn_studio_question *q, kn_error *err)
{
    kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
    kn_risk_options     r = KN_RISK_OPTIONS_INIT;
    kn_suda_options     u = KN_SUDA_OPTIONS_INIT;
    kn_diagnose_answers a = KN_DIAGNOSE_ANSWERS_INIT;
    kn_diagnosis       *found = NULL;
    kn_risk            *risk = NULL;
    kn_suda            *suda = NULL;
    kn_status           st = ask_options(q, &o, err);
    if (st == KN_OK) st = read_suppression(q, &a.suppress_mode, &o.suppress, err);
    o.suppressing = a.suppress_mode == KN_SUPPRESS_GIVEN;
    bool crowds = o.missing != KN_MISSING_WILDCARD; /* the others do not know of wildcards */
    r.quasi = u.quasi = o.quasi;
    r.quasi_count = u.quasi_count = o.quasi_count;
    r.entity = o.entity;
    r.missing = u.missing = o.missing;
    if (st == KN_OK) st = kn_diagnose(&found, q->ctx, q->table->table, &o, err);
    if (st == KN_OK && kn_studio_flag(q, "risk") && crowds)
        st = kn_risk_measure(&risk, q->ctx, q->table->table, &r, err);
    if (st == KN_OK && kn_studio_flag(q, "special") && crowds && kn_table_rows(q->table->table) <= MOST_SPECIAL)
        st = kn_suda_search(&suda, q->ctx, q->table->table, &u, err);
    a.options = &o;
    a.diagnosis = found;
    a.risk = risk;
    a.suda = suda;
    if (st == KN_OK) st = kn_document_diagnose(&q->doc, q->ctx, q->table->table, &a, err);
    kn_diagnosis_free(found);
    kn_risk_free(risk);
    kn_suda_free(suda);
    return st;
}

/* Persons of a database who are alike, and what finds those who are not. */
static kn_status diagnose_database(kn_studio_question *q, kn_error *err)
{
    kn_database_diagnose_options o = KN_DATABASE_DIAGNOSE_OPTIONS_INIT;
    kn_database_diagnosis       *found = NULL;
    o.k = kn_studio_number(q, "k", kn_studio_promised_k(q->spec));
    kn_status st = kn_diagnose_database(&found, q->ctx, q->spec, &o, err);
    if (st == KN_OK) st = kn_document_diagnose_database(&q->doc, q->ctx, found, &o, err);
    kn_database_diagnosis_free(found);
    return st;
}

/* Whom does somebody find who knows some values and relations of a record? */
static kn_status diagnose_records(kn_studio_question *q, kn_error *err)
{
    kn_records_diagnosis *found = NULL;
    kn_status             st = kn_diagnose_records(&found, q->ctx, q->spec, NULL, err);
    if (st == KN_OK) st = kn_document_diagnose_records(&q->doc, q->ctx, found, err);
    kn_records_diagnosis_free(found);
    return st;
}

kn_status kn_studio_answer_diagnose(kn_studio_question *q, kn_error *err)
{
    kn_shape shape = kn_spec_shape(q->spec);
    if (shape == KN_SHAPE_DATABASE) return diagnose_database(q, err);
    return shape == KN_SHAPE_RECORDS ? diagnose_records(q, err) : diagnose_table(q, err);
}

/* Which sets of columns are too telling? */
kn_status kn_studio_answer_sets(kn_studio_question *q, kn_error *err)
{
    kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
    kn_sets_options     s = KN_SETS_OPTIONS_INIT;
    kn_sets_answers     a = KN_SETS_ANSWERS_INIT;
    kn_sets_diagnosis  *found = NULL;
    kn_status           st = ask_options(q, &o, err);
    s.over = o.quasi;
    s.over_count = o.quasi_count;
    s.entity = o.entity;
    s.k = o.k < 2 && !json_object_get(q->job->params, "k") ? 2 : o.k; /* 0: asked for */
    s.time_limit = s.k > 0 ? 20 : 0;
    if (st == KN_OK) st = read_suppression(q, &s.suppress_mode, &s.suppress, err);
    if (s.suppress_mode == KN_SUPPRESS_ASKED) s.time_limit = 0;
    s.max_size = (int)kn_studio_number(q, "max_size", 0);
    if (st == KN_OK) st = kn_diagnose_sets(&found, q->ctx, q->table->table, &s, err);
    a.options = &s;
    a.sets = found;
    if (st == KN_OK) st = kn_document_diagnose_sets(&q->doc, q->ctx, q->table->table, &a, err);
    kn_sets_diagnosis_free(found);
    return st;
}

/* The rows in classes smaller than k, the first of them with their cells. */
kn_status kn_studio_answer_standing(kn_studio_question *q, kn_error *err)
{
    kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
    kn_row_list        *found = NULL;
    int64_t             k = kn_studio_number(q, "k", 2);
    kn_status           st = ask_options(q, &o, err);
    if (o.missing == KN_MISSING_WILDCARD) o.missing = KN_MISSING_VALUE;
    o.k = k;
    if (st == KN_OK) st = kn_suppressed_rows(&found, q->ctx, q->table->table, &o, k, err);
    if (st != KN_OK) return st;
    json_t *names = json_array(), *rows = json_array();
    for (int i = 0; i < q->name_count; i++) json_array_append_new(names, json_string(q->names[i]));
    for (int64_t i = 0; i < found->count && i < MOST_SHOWN; i++) {
        json_t *cells = json_array();
        for (int c = 0; c < q->name_count; c++) {
            int column = kn_table_find(q->table->table, q->names[c]);
            json_array_append_new(
                cells, kn_studio_cell(q->table->table, column, kn_table_code(q->table->table, column, found->rows[i])));
        }
        json_array_append_new(rows, json_pack("{s:I, s:o}", "row", (json_int_t)found->rows[i] + 1, "cells", cells));
    }
    q->own = json_pack("{s:I, s:I, s:o, s:o}", "k", (json_int_t)k, "count", (json_int_t)found->count, "columns", names,
                       "rows", rows);
    kn_row_list_free(found);
    return KN_OK;
}
