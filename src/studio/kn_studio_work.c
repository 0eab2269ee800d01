/* kn_studio_work.c: the kinds of questions and how the library answers them (kn_studio_jobs.h).
 *
 * An answer is the library's document (docs/json.md), as `kanon --json` prints it; four are of the studio alone, since no
 * other door shows cells: "open", "distributions", "standing" and "preview" (studio/protocol.json). Hierarchies that are not on disk
 * are put into the job's context under a name in memory.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/answers.h>
#include <kanon/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_studio_jobs.h"
#include "kn_studio_request.h"

enum { MOST_SHOWN = 50, MOST_SPECIAL = 50000, MOST_LEAVES = 400, MOST_FILE = 1 << 20 };

typedef struct question {
    kn_studio_job   *job;
    kn_context      *ctx;
    kn_spec         *spec;
    kn_studio_table *table;
    const char     **names; /* of params: quasi */
    int              name_count;
    kn_document     *doc; /* one of these */
    json_t          *own;
} question;

/* ---- What is asked about ---- */

static void reading(void *user, kn_context *ctx)
{
    kn_studio_job *job = user;
    pthread_mutex_lock(&job->owner->lock);
    job->reading = ctx;
    if (ctx && job->stop) kn_context_cancel(ctx);
    pthread_mutex_unlock(&job->owner->lock);
}

static kn_status take_table(question *q, kn_error *err)
{
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    if (kn_spec_shape(q->spec) != KN_SHAPE_TABLE)
        return kn_studio_error(err, KN_USAGE, "this question is about one table");
    options.threads = q->job->owner->threads;
    options.memory_limit = q->job->owner->memory_limit;
    q->table = kn_studio_table_take(q->job->owner->session, q->spec, &options, reading, q->job, err);
    return q->table ? KN_OK : err->status;
}

/* The hierarchies that are not on disk, under names in memory. */
static kn_status put_files(question *q, kn_error *err)
{
    const char *name;
    json_t     *text;
    kn_status   st = KN_OK;
    json_object_foreach(q->job->step.files, name, text)
    {
        char place[256], said[300];
        snprintf(place, sizeof place, "memory:%s", name);
        st = kn_memory_put(q->ctx, place, json_string_value(text), json_string_length(text), err);
        json_t *quoted = json_pack("{s:{s:s}}", "hierarchy", "file", place);
        char   *yaml = json_dumps(quoted, JSON_COMPACT);
        snprintf(said, sizeof said, "%s", yaml ? yaml : "");
        json_decref(quoted);
        free(yaml);
        for (int i = 0; i < q->spec->attribute_count && st == KN_OK; i++) {
            const kn_attribute *a = kn_spec_attribute_at(q->spec, i);
            const char         *path = a->has_hierarchy ? kn_attribute_hierarchy(a)->path : NULL;
            if (path && strcmp(path, name) == 0) st = kn_spec_set_attribute(q->spec, a->name, said, name, err);
        }
        if (st != KN_OK) return st;
    }
    return KN_OK;
}

static kn_status read_spec(question *q, kn_error *err)
{
    if (!q->job->step.release) return kn_studio_error(err, KN_USAGE, "the data are not read yet");
    kn_status st = kn_spec_read_text(&q->spec, q->ctx, q->job->step.release, strlen(q->job->step.release),
                                     q->job->owner->session->path, err);
    return st == KN_OK ? put_files(q, err) : st;
}

/* The columns of params, or else the quasi-identifiers. */
static kn_status read_names(question *q, kn_error *err)
{
    json_t *given = json_object_get(q->job->params, "columns");
    size_t  most = json_array_size(given) + (size_t)q->spec->attribute_count + 1;
    q->names = calloc(most, sizeof *q->names);
    if (!q->names) return kn_studio_error(err, KN_MEMORY, "out of memory while asking");
    for (size_t i = 0; i < json_array_size(given); i++) {
        const char *name = json_string_value(json_array_get(given, i));
        if (!name) return kn_studio_error(err, KN_USAGE, "columns are named by texts");
        q->names[q->name_count++] = name;
    }
    for (int i = 0; !given && i < q->spec->attribute_count; i++) {
        const kn_attribute *a = kn_spec_attribute_at(q->spec, i);
        if (a->has_role && a->role == KN_ROLE_QUASI) q->names[q->name_count++] = a->name;
    }
    if (q->name_count == 0)
        return kn_studio_error(err, KN_USAGE,
                               "no column is a quasi-identifier; give one the role that others may know it");
    return KN_OK;
}

static int64_t number(const question *q, const char *name, int64_t otherwise)
{
    const json_t *value = json_object_get(q->job->params, name);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static bool flag(const question *q, const char *name)
{
    return json_is_true(json_object_get(q->job->params, name));
}

static const char *text(const question *q, const char *name)
{
    return json_string_value(json_object_get(q->job->params, name));
}

/* What was promised of k; 0: nothing. */
static int64_t promised_k(const kn_spec *spec)
{
    for (int i = 0; i < spec->model_count; i++)
        if (spec->models[i].kind == KN_MODEL_K) return spec->models[i].k;
    return 0;
}

/* ---- Opening ---- */

static kn_status read_file(char **out, const char *path, kn_error *err)
{
    FILE *file = fopen(path, "rbe");
    char *bytes = file ? malloc(MOST_FILE + 1) : NULL;
    if (!bytes) {
        if (file) fclose(file);
        return kn_studio_error(err, KN_IO, "%s: cannot be read", path);
    }
    size_t size = fread(bytes, 1, MOST_FILE + 1, file);
    bool   good = !ferror(file) && size <= MOST_FILE && !memchr(bytes, 0, size);
    fclose(file);
    if (!good) {
        free(bytes);
        return kn_studio_error(err, KN_INPUT, "%s: not a release file, or larger than a mebibyte", path);
    }
    bytes[size] = '\0';
    *out = bytes;
    return KN_OK;
}

static kn_status open_release(question *q, kn_studio_step *step, kn_shape *shape, kn_error *err)
{
    const char *path = q->job->owner->session->path;
    kn_status   st = read_file(&step->release, path, err);
    step->files = json_object();
    if (st == KN_OK) st = kn_spec_read_text(&q->spec, q->ctx, step->release, strlen(step->release), path, err);
    if (st == KN_OK) *shape = kn_spec_shape(q->spec);
    return st;
}

static kn_status open_input(question *q, kn_studio_step *step, kn_shape *shape, json_t *notes, kn_error *err)
{
    const char     *input = q->job->owner->session->input;
    kn_init_options options = KN_INIT_OPTIONS_INIT;
    kn_draft       *draft = NULL;
    options.files = true;
    kn_status st = kn_init(&draft, q->ctx, &input, 1, &options, err);
    if (st != KN_OK) return st;
    *shape = draft->shape;
    step->release = strdup(draft->text);
    step->files = json_object();
    for (int i = 0; i < draft->file_count; i++) {
        const kn_draft_file *file = kn_draft_file_at(draft, i);
        json_object_set_new(step->files, file->name, json_stringn(file->text, file->size));
    }
    for (int i = 0; i < draft->note_count; i++) json_array_append_new(notes, json_string(draft->notes[i]));
    kn_draft_free(draft);
    if (!step->release) return kn_studio_error(err, KN_MEMORY, "out of memory while opening");
    return kn_spec_read_text(&q->spec, q->ctx, step->release, strlen(step->release), NULL, err);
}

static kn_status open_it(question *q, kn_error *err)
{
    kn_studio_session *s = q->job->owner->session;
    kn_studio_step     step = {0};
    kn_shape           shape = KN_SHAPE_TABLE;
    json_t            *notes = json_array();
    kn_status          st = s->input ? open_input(q, &step, &shape, notes, err) : open_release(q, &step, &shape, err);
    if (st == KN_OK && shape == KN_SHAPE_TABLE) st = take_table(q, err);
    if (st != KN_OK) {
        kn_studio_session_fail(s, err->message);
        kn_studio_step_free(&step);
        json_decref(notes);
        return st;
    }
    kn_studio_session_open(s, step, shape, s->input == NULL, notes);
    q->own = json_object();
    return KN_OK;
}

/* ---- Looking ---- */

static kn_status profile(question *q, kn_error *err)
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
    kn_status   st = take_table(q, err);
    if (st == KN_OK) st = kn_profile_table(&found, q->ctx, q->table->table, err);
    if (st == KN_OK) st = kn_document_profile(&q->doc, q->ctx, found, q->table->table, true, err);
    kn_profile_free(found);
    return st;
}

static kn_status distributions(question *q, kn_error *err)
{
    kn_status st = take_table(q, err);
    if (st != KN_OK) return st;
    return kn_studio_distributions(&q->own, q->table->table, kn_spec_csv(q->spec)->decimal, &q->job->stop, err);
}

static kn_status ask_options(question *q, kn_diagnose_options *o, kn_error *err)
{
    kn_status st = take_table(q, err);
    if (st == KN_OK) st = read_names(q, err);
    o->quasi = q->names;
    o->quasi_count = q->name_count;
    o->entity = q->spec->entity_count == 1 ? q->spec->entity : NULL;
    o->missing = q->spec->missing;
    o->k = number(q, "k", promised_k(q->spec));
    return st;
}

static kn_status diagnose(question *q, kn_error *err)
{
    kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
    kn_risk_options     r = KN_RISK_OPTIONS_INIT;
    kn_suda_options     u = KN_SUDA_OPTIONS_INIT;
    kn_diagnose_answers a = KN_DIAGNOSE_ANSWERS_INIT;
    kn_diagnosis       *found = NULL;
    kn_risk            *risk = NULL;
    kn_suda            *suda = NULL;
    kn_status           st = ask_options(q, &o, err);
    bool                crowds = o.missing != KN_MISSING_WILDCARD; /* the others do not know of wildcards */
    r.quasi = u.quasi = o.quasi;
    r.quasi_count = u.quasi_count = o.quasi_count;
    r.entity = o.entity;
    r.missing = u.missing = o.missing;
    if (st == KN_OK) st = kn_diagnose(&found, q->ctx, q->table->table, &o, err);
    if (st == KN_OK && flag(q, "risk") && crowds) st = kn_risk_measure(&risk, q->ctx, q->table->table, &r, err);
    if (st == KN_OK && flag(q, "special") && crowds && kn_table_rows(q->table->table) <= MOST_SPECIAL)
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

/* Which sets of columns are too telling? */
static kn_status sets(question *q, kn_error *err)
{
    kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
    kn_sets_options     s = KN_SETS_OPTIONS_INIT;
    kn_sets_answers     a = KN_SETS_ANSWERS_INIT;
    kn_sets_diagnosis  *found = NULL;
    kn_status           st = ask_options(q, &o, err);
    s.over = o.quasi;
    s.over_count = o.quasi_count;
    s.entity = o.entity;
    s.k = o.k < 2 ? 2 : o.k;
    s.time_limit = 20;
    if (st == KN_OK) st = kn_diagnose_sets(&found, q->ctx, q->table->table, &s, err);
    a.options = &s;
    a.sets = found;
    if (st == KN_OK) st = kn_document_diagnose_sets(&q->doc, q->ctx, q->table->table, &a, err);
    kn_sets_diagnosis_free(found);
    return st;
}

/* The rows in classes smaller than k, the first of them with their cells. */
static kn_status standing(question *q, kn_error *err)
{
    kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
    kn_row_list        *found = NULL;
    int64_t             k = number(q, "k", 2);
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

/* ---- Hierarchies ---- */

static kn_status hierarchy(question *q, kn_error *err)
{
    const char   *column = text(q, "column");
    int           at = column ? kn_spec_find(q->spec, column) : -1;
    kn_hierarchy *made = NULL;
    kn_status     st = take_table(q, err);
    if (st != KN_OK) return st;
    int of = column ? kn_table_find(q->table->table, column) : -1;
    if (at < 0 || of < 0) return kn_studio_error(err, KN_USAGE, "there is no such column");
    const kn_attribute *a = kn_spec_attribute_at(q->spec, at);
    if (!a->has_hierarchy) return kn_studio_error(err, KN_USAGE, "this column has no hierarchy");
    st = kn_hierarchy_make(&made, q->ctx, q->table->table, of, kn_attribute_hierarchy(a), false, err);
    bool tree = st == KN_OK && kn_hierarchy_leaves(made) <= MOST_LEAVES;
    if (st == KN_OK)
        st = kn_document_hierarchy_show(&q->doc, q->ctx, made, column, tree ? -1 : (int)number(q, "level", 1), tree,
                                        err);
    kn_hierarchy_free(made);
    return st;
}

static kn_status suggest(question *q, kn_error *err)
{
    const char     *column = text(q, "column");
    kn_suggestions *found = NULL;
    if (!column) return kn_studio_error(err, KN_USAGE, "there is no such column");
    kn_status st = kn_hierarchy_suggest(&found, q->ctx, q->spec, column, err);
    if (st == KN_OK) st = kn_document_hierarchy_suggest(&q->doc, q->ctx, found, column, err);
    kn_suggestions_free(found);
    return st;
}

/* ---- Releases ---- */

/* For questions that write nothing: an output need not be given. */
static kn_status check_unwritten(question *q, kn_error *err)
{
    kn_status st = q->spec->output ? KN_OK : kn_spec_set(q->spec, "output", "\"-\"", "output", err);
    return st == KN_OK ? kn_spec_check(q->spec, err) : st;
}

static kn_status frontier(question *q, kn_error *err)
{
    kn_frontier *found = NULL;
    /* The points are choices of levels: those of a method that searches for them. */
    kn_status st = kn_spec_set(q->spec, "method", "optimal", "method", err);
    if (st == KN_OK) st = check_unwritten(q, err);
    if (st == KN_OK) st = kn_frontier_find(&found, q->ctx, q->spec, err);
    if (st == KN_OK) st = kn_document_frontier(&q->doc, q->ctx, found, err);
    kn_frontier_free(found);
    return st;
}

static kn_status explain(question *q, kn_error *err)
{
    char           *levels = json_dumps(json_object_get(q->job->params, "levels"), JSON_COMPACT);
    kn_explanation *found = NULL;
    kn_status       st = levels ? KN_OK : kn_studio_error(err, KN_USAGE, "no levels are given");
    if (st == KN_OK) st = kn_spec_set(q->spec, "method", "optimal", "method", err);
    if (st == KN_OK) st = kn_spec_set(q->spec, "levels", levels, "levels", err);
    if (st == KN_OK) st = check_unwritten(q, err);
    if (st == KN_OK) st = kn_explain(&found, q->ctx, q->spec, err);
    if (st == KN_OK) st = kn_document_explain(&q->doc, q->ctx, found, err);
    kn_explanation_free(found);
    free(levels);
    return st;
}

static kn_status anonymize(question *q, bool dry_run, kn_error *err)
{
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_release_head     *head = NULL;
    options.dry_run = dry_run;
    options.all_solutions = dry_run && flag(q, "all_solutions") && !q->spec->method_auto &&
                            kn_spec_shape(q->spec) == KN_SHAPE_TABLE && kn_method_has_nodes(q->spec->method);
    options.version = q->job->owner->version;
    kn_status st = kn_anonymize_any(&head, q->ctx, q->spec, &options, err);
    if (st == KN_OK) st = kn_document_anonymize_any(&q->doc, q->ctx, q->spec, head, &options, err);
    kn_release_head_free(head);
    return st;
}

/* The release in memory, its rows in the order of the original. */
static kn_status release_in_memory(question *q, kn_release_result **result, kn_error *err)
{
    static const char *const settings[][2] = {{"output", "\"memory:preview.csv\""},
                                              {"report", "\"memory:report.html\""},
                                              {"public-report", "\"memory:public.html\""},
                                              {"suppressed", "star"},
                                              {"keep-order", "true"},
                                              {"spreadsheet-safe", "false"}};
    kn_anonymize_options     options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_status                st = kn_memory_enable(q->ctx, err);
    if (st == KN_OK) st = take_table(q, err);
    if (st == KN_OK && (q->spec->missing == KN_MISSING_DROP || kn_table_counted(q->table->table)))
        return kn_studio_error(err, KN_USAGE,
                               "rows are left out or counted: there is no row of the release for each of them");
    for (size_t i = 0; i < sizeof settings / sizeof settings[0] && st == KN_OK; i++)
        st = kn_spec_set(q->spec, settings[i][0], settings[i][1], settings[i][0], err);
    if (st == KN_OK) st = kn_spec_check(q->spec, err);
    return st == KN_OK ? kn_anonymize(result, q->ctx, q->spec, &options, err) : st;
}

/* Rows of the original and what becomes of them, column by column of the release. */
static json_t *side_by_side(const kn_table *before, const kn_table *after, int64_t offset)
{
    json_t *names = json_array(), *rows = json_array();
    for (int c = 0; c < kn_table_columns(after); c++)
        json_array_append_new(names, json_string(kn_table_name(after, c)));
    for (int64_t r = offset; r < kn_table_rows(after) && r < kn_table_rows(before) && r < offset + MOST_SHOWN; r++) {
        json_t *was = json_array(), *is = json_array();
        for (int c = 0; c < kn_table_columns(after); c++) {
            int of = kn_table_find(before, kn_table_name(after, c));
            json_array_append_new(was, of < 0 ? json_null() : kn_studio_cell(before, of, kn_table_code(before, of, r)));
            json_array_append_new(is, kn_studio_cell(after, c, kn_table_code(after, c, r)));
        }
        json_array_append_new(rows, json_pack("{s:I, s:o, s:o}", "row", (json_int_t)r + 1, "before", was, "after", is));
    }
    return json_pack("{s:b, s:I, s:o, s:o}", "found", true, "total", (json_int_t)kn_table_rows(after), "columns", names,
                     "rows", rows);
}

static kn_status preview(question *q, kn_error *err)
{
    kn_csv_options     csv = KN_CSV_OPTIONS_INIT;
    kn_release_result *result = NULL;
    kn_table          *after = NULL;
    kn_status          st = release_in_memory(q, &result, err);
    bool               found = st == KN_OK && result->head.found;
    if (found) st = kn_table_read_csv(&after, q->ctx, "memory:preview.csv", &csv, err);
    if (found && st == KN_OK) q->own = side_by_side(q->table->table, after, number(q, "offset", 0));
    if (!found && st == KN_OK)
        q->own = json_pack("{s:b, s:I, s:[], s:[]}", "found", false, "total", (json_int_t)0, "columns", "rows");
    kn_table_free(after);
    kn_release_result_free(result);
    return st;
}

static kn_status search(question *q, kn_error *err)
{
    kn_status st = check_unwritten(q, err);
    return st == KN_OK ? anonymize(q, true, err) : st;
}

/* The release file as it is on disk: what a later run by the program reads. */
static kn_status read_saved(question *q, kn_error *err)
{
    kn_status st = kn_spec_read(&q->spec, q->ctx, q->job->owner->session->path, err);
    return st == KN_OK ? kn_spec_check(q->spec, err) : st;
}

static kn_status publish(question *q, kn_error *err)
{
    kn_status st = kn_studio_session_save(q->job->owner->session, flag(q, "replace"), err);
    if (st == KN_OK) kn_studio_news(q->job->owner);
    if (st == KN_OK) st = read_saved(q, err);
    return st == KN_OK ? anonymize(q, false, err) : st;
}

static kn_status verify(question *q, kn_error *err)
{
    kn_verify_report          *table = NULL;
    kn_database_verify_report *database = NULL;
    kn_records_verify_report  *records = NULL;
    kn_status                  st = read_saved(q, err);
    if (st != KN_OK) return st;
    switch (kn_spec_shape(q->spec)) {
    case KN_SHAPE_DATABASE:
        st = kn_verify_database(&database, q->ctx, q->spec, NULL, err);
        if (st == KN_OK) st = kn_document_verify_database(&q->doc, q->ctx, q->spec, database, err);
        break;
    case KN_SHAPE_RECORDS:
        st = kn_verify_records(&records, q->ctx, q->spec, NULL, err);
        if (st == KN_OK) st = kn_document_verify_records(&q->doc, q->ctx, q->spec, records, err);
        break;
    default:
        st = kn_verify(&table, q->ctx, q->spec, NULL, err);
        if (st == KN_OK) st = kn_document_verify(&q->doc, q->ctx, table, err);
    }
    kn_verify_report_free(table);
    kn_database_verify_report_free(database);
    kn_records_verify_report_free(records);
    return st;
}

/* How many of the people in another table are found in the release that was published? */
static kn_status attack(question *q, kn_error *err)
{
    kn_attack_options options = KN_ATTACK_OPTIONS_INIT;
    kn_attack_report *found = NULL;
    options.external = text(q, "external");
    if (!options.external) return kn_studio_error(err, KN_USAGE, "no table of what an attacker knows is named");
    kn_status st = read_saved(q, err);
    if (st != KN_OK) return st;
    options.release = q->spec->output;
    st = kn_attack(&found, q->ctx, q->spec, &options, err);
    if (st == KN_OK) st = kn_document_attack(&q->doc, q->ctx, found, err);
    kn_attack_report_free(found);
    return st;
}

static kn_status catalogue(question *q, kn_error *err)
{
    return kn_document_catalogue(&q->doc, q->ctx, true, true, true, err);
}

/* ---- All of them ---- */

typedef struct kind_row {
    const char *name;
    kn_status (*answer)(question *q, kn_error *err);
    bool reads_session; /* it is about the session's release file as it was when it was asked */
} kind_row;

static const kind_row kinds[] = {
    {"open", open_it, false},        {"profile", profile, true}, {"distributions", distributions, true},
    {"diagnose", diagnose, true},    {"sets", sets, true},       {"standing", standing, true},
    {"hierarchy", hierarchy, true},  {"suggest", suggest, true}, {"frontier", frontier, true},
    {"explain", explain, true},      {"search", search, true},   {"preview", preview, true},
    {"publish", publish, false},     {"verify", verify, false},  {"attack", attack, false},
    {"catalogue", catalogue, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

const char *kn_studio_kind(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) return kinds[i].name;
    return NULL;
}

/* The document, or the studio's own answer, as a text from malloc. */
static kn_status write_answer(char **answer, size_t *size, const question *q, kn_error *err)
{
    char     *json = NULL;
    kn_status st = q->doc ? kn_document_json(&json, NULL, q->doc, err) : KN_OK;
    if (st == KN_OK) *answer = q->doc ? strdup(json) : json_dumps(q->own, JSON_COMPACT);
    kn_text_free(json);
    if (st == KN_OK && !*answer) st = kn_studio_error(err, KN_MEMORY, "out of memory while answering");
    if (st == KN_OK) *size = strlen(*answer);
    return st;
}

kn_status kn_studio_work(char **answer, size_t *size, kn_studio_job *job, kn_error *err)
{
    question  q = {.job = job, .ctx = job->ctx};
    int       kind = 0;
    kn_status st = KN_OK;
    while (strcmp(kinds[kind].name, job->kind) != 0) kind++;
    if (kinds[kind].reads_session) st = read_spec(&q, err);
    if (st == KN_OK) st = kinds[kind].answer(&q, err);
    if (st == KN_OK) st = write_answer(answer, size, &q, err);
    kn_studio_table_give(job->owner->session, q.table);
    kn_document_free(q.doc);
    json_decref(q.own);
    kn_spec_free(q.spec);
    free(q.names);
    return st;
}
