/* kn_studio_release.c: questions about releases: what would be released, what it costs, making and verifying it
 * (kn_studio_question.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/memory.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kn_studio_question.h"

enum { MOST_SHOWN = 50 };

kn_status kn_studio_check_unwritten(kn_studio_question *q, kn_error *err)
{
    kn_status st = q->spec->output ? KN_OK : kn_spec_set(q->spec, "output", "\"-\"", "output", err);
    return st == KN_OK ? kn_spec_check(q->spec, err) : st;
}

kn_status kn_studio_answer_frontier(kn_studio_question *q, kn_error *err)
{
    kn_frontier *found = NULL;
    /* The points are choices of levels: those of a method that searches for them. */
    kn_status st = kn_spec_set(q->spec, "method", "optimal", "method", err);
    if (st == KN_OK) st = kn_studio_check_unwritten(q, err);
    if (st == KN_OK) st = kn_frontier_find(&found, q->ctx, q->spec, err);
    if (st == KN_OK) st = kn_document_frontier(&q->doc, q->ctx, found, err);
    kn_frontier_free(found);
    return st;
}

kn_status kn_studio_answer_explain(kn_studio_question *q, kn_error *err)
{
    char           *levels = json_dumps(json_object_get(q->job->params, "levels"), JSON_COMPACT);
    kn_explanation *found = NULL;
    kn_status       st = levels ? KN_OK : kn_studio_error(err, KN_USAGE, "no levels are given");
    if (st == KN_OK) st = kn_spec_set(q->spec, "method", "optimal", "method", err);
    if (st == KN_OK) st = kn_spec_set(q->spec, "levels", levels, "levels", err);
    if (st == KN_OK) st = kn_studio_check_unwritten(q, err);
    if (st == KN_OK) st = kn_explain(&found, q->ctx, q->spec, err);
    if (st == KN_OK) st = kn_document_explain(&q->doc, q->ctx, found, err);
    kn_explanation_free(found);
    free(levels);
    return st;
}

static kn_status anonymize(kn_studio_question *q, bool dry_run, kn_error *err)
{
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_release_head     *head = NULL;
    options.dry_run = dry_run;
    options.all_solutions = dry_run && kn_studio_flag(q, "all_solutions") && !q->spec->method_auto &&
                            kn_spec_shape(q->spec) == KN_SHAPE_TABLE && kn_method_has_nodes(q->spec->method);
    options.version = q->job->owner->version;
    kn_status st = kn_anonymize_any(&head, q->ctx, q->spec, &options, err);
    if (st == KN_OK) st = kn_document_anonymize_any(&q->doc, q->ctx, q->spec, head, &options, err);
    kn_release_head_free(head);
    return st;
}

/* The release in memory; `in_order`: each row of the original has one, in their order. */
static kn_status release_in_memory(kn_studio_question *q, kn_release_result **result, bool in_order, kn_error *err)
{
    static const char *const settings[][2] = {{"output", "\"memory:preview.csv\""},
                                              {"report", "\"memory:report.html\""},
                                              {"public-report", "\"memory:public.html\""},
                                              {"suppressed", "star"},
                                              {"keep-order", "true"},
                                              {"spreadsheet-safe", "false"}};
    size_t                   count = in_order ? sizeof settings / sizeof settings[0] : 3;
    kn_anonymize_options     options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_status                st = kn_memory_enable(q->ctx, err);
    if (st == KN_OK) st = kn_studio_need_table(q, err);
    if (st == KN_OK && in_order && (q->spec->missing == KN_MISSING_DROP || kn_table_counted(q->table->table)))
        return kn_studio_error(err, KN_USAGE,
                               "rows are left out or counted: there is no row of the release for each of them");
    for (size_t i = 0; i < count && st == KN_OK; i++)
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

/* Rows, and the distributions of both tables. */
static kn_status compare(kn_studio_question *q, const kn_table *after, kn_error *err)
{
    json_t   *was = NULL, *is = NULL;
    char      decimal = kn_spec_csv(q->spec)->decimal;
    kn_status st = kn_studio_distributions(&was, q->table->table, decimal, &q->job->stop, err);
    if (st == KN_OK) st = kn_studio_distributions(&is, after, decimal, &q->job->stop, err);
    if (st == KN_OK) {
        q->own = side_by_side(q->table->table, after, kn_studio_number(q, "offset", 0));
        json_object_set(q->own, "before", was);
        json_object_set(q->own, "after", is);
    }
    json_decref(was);
    json_decref(is);
    return st;
}

kn_status kn_studio_answer_preview(kn_studio_question *q, kn_error *err)
{
    kn_csv_options     csv = KN_CSV_OPTIONS_INIT;
    kn_release_result *result = NULL;
    kn_table          *after = NULL;
    kn_status          st = release_in_memory(q, &result, true, err);
    bool               found = st == KN_OK && result->head.found;
    if (found) st = kn_table_read_csv(&after, q->ctx, "memory:preview.csv", &csv, err);
    if (found && st == KN_OK) st = compare(q, after, err);
    if (!found && st == KN_OK)
        q->own = json_pack("{s:b, s:I, s:[], s:[]}", "found", false, "total", (json_int_t)0, "columns", "rows");
    kn_table_free(after);
    kn_release_result_free(result);
    return st;
}

/* The user's queries on the original and on the release that would be made. */
kn_status kn_studio_answer_queries(kn_studio_question *q, kn_error *err)
{
    kn_measure_options  options = KN_MEASURE_OPTIONS_INIT;
    const char         *text = kn_studio_text(q, "queries");
    kn_release_result  *result = NULL;
    kn_workload        *workload = NULL;
    kn_workload_report *answers = NULL;
    kn_measure_report  *report = NULL;
    if (!text) return kn_studio_error(err, KN_USAGE, "no queries are given");
    kn_status st = kn_workload_parse(&workload, q->ctx, "queries", text, strlen(text), err);
    if (st == KN_OK) st = release_in_memory(q, &result, false, err);
    if (st == KN_OK && !result->head.found)
        st = kn_studio_error(err, KN_USAGE, "there is no release that queries could be asked of");
    options.release = "memory:preview.csv";
    if (st == KN_OK) st = kn_measure(&report, q->ctx, q->spec, &options, err);
    if (st == KN_OK) st = kn_measure_workload(&answers, q->ctx, q->spec, &options, workload, NULL, err);
    if (st == KN_OK) st = kn_document_measure(&q->doc, q->ctx, q->spec, report, workload, answers, err);
    kn_measure_report_free(report);
    kn_workload_report_free(answers);
    kn_workload_free(workload);
    kn_release_result_free(result);
    return st;
}

kn_status kn_studio_answer_search(kn_studio_question *q, kn_error *err)
{
    kn_status st = kn_studio_check_unwritten(q, err);
    return st == KN_OK ? anonymize(q, true, err) : st;
}

kn_status kn_studio_read_saved(kn_studio_question *q, kn_error *err)
{
    kn_status st = kn_spec_read(&q->spec, q->ctx, q->job->owner->session->path, err);
    return st == KN_OK ? kn_spec_check(q->spec, err) : st;
}

kn_status kn_studio_answer_publish(kn_studio_question *q, kn_error *err)
{
    kn_status st = kn_studio_session_save(q->job->owner->session, kn_studio_flag(q, "replace"), err);
    if (st == KN_OK) kn_studio_news(q->job->owner);
    if (st == KN_OK) st = kn_studio_read_saved(q, err);
    return st == KN_OK ? anonymize(q, false, err) : st;
}

bool kn_studio_is_released(const kn_spec *spec)
{
    static const char file[] = "sqlite:", *const servers[] = {"postgresql:", "postgres:"};
    const char *output = spec->output;
    if (!output) return false;
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
        if (strncmp(output, servers[i], strlen(servers[i])) == 0) return true;
    if (strncmp(output, file, strlen(file)) == 0) output += strlen(file);
    return access(output, F_OK) == 0;
}

/* What an attack, or verifying again, would be about. */
kn_status kn_studio_answer_released(kn_studio_question *q, kn_error *err)
{
    bool there = kn_studio_read_saved(q, err) == KN_OK && kn_studio_is_released(q->spec);
    q->own = json_pack("{s:b}", "there", there);
    if (there) json_object_set_new(q->own, "output", json_string(q->spec->output));
    return q->own ? KN_OK : kn_studio_error(err, KN_MEMORY, "out of memory while answering");
}

kn_status kn_studio_answer_verify(kn_studio_question *q, kn_error *err)
{
    kn_verify_report          *table = NULL;
    kn_database_verify_report *database = NULL;
    kn_records_verify_report  *records = NULL;
    kn_status                  st = kn_studio_read_saved(q, err);
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

kn_status kn_studio_answer_catalogue(kn_studio_question *q, kn_error *err)
{
    return kn_document_catalogue(&q->doc, q->ctx, true, true, true, err);
}
