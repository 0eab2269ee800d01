/* kn_answer_measure.c: the loss of a release, and its answers to a workload, as a document. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kn_answer.h"
#include "kn_error.h"

#define S kn_measured_attribute
static const kn_field_row attribute_rows[] = {
    KN_FIELD(S, name, KN_F_TEXT, "the column's name"),
    KN_FIELD(S, lm, KN_F_SHARE, "how many of its values a cell may stand for, on average"),
    KN_FIELD(S, ncp, KN_F_SHARE, "the same as a share of all values"),
    KN_FIELD(S, prec, KN_F_SHARE, "how many levels of its hierarchy a cell kept, on average"),
    KN_FIELD(S, entropy, KN_F_BITS, "by how much its cells say less than they did"),
};
#undef S
static const kn_fields attribute_part = KN_FIELDS(kn_measured_attribute, "attribute", attribute_rows, NULL);

static const kn_field_row query_rows[] = {
    KN_VALUE("query", KN_F_TEXT, "the query, in one line"),
    KN_VALUE("line", KN_F_COUNT, "where it stands in the workload"),
    KN_VALUE("weight", KN_F_NUMBER, "how much it counts"),
    KN_FIELD(kn_answer, original, KN_F_NUMBER, "its answer on the original"),
    KN_FIELD(kn_answer, estimate, KN_F_NUMBER,
             "its answer on the release: rows are taken to be spread evenly over their cells"),
    KN_FIELD(kn_answer, lower, KN_F_NUMBER, "what the release says it is at least"),
    KN_FIELD(kn_answer, upper, KN_F_NUMBER, "what the release says it is at most"),
    KN_FIELD(kn_answer, error, KN_F_NUMBER, "the relative error of the estimate"),
    KN_FIELD_WORDS(kn_answer, source, kn_answer_source_name, KN_ANSWER_CELLS, 0,
                   "where values come from: 'counted', 'exact', 'published' or 'cells'"),
};
static const kn_fields query_part = KN_FIELDS(kn_answer, "query", query_rows, NULL);

static const kn_field_row workload_rows[] = {
    KN_FIELD(kn_workload_report, weight, KN_F_NUMBER, "sum of the weights"),
    KN_FIELD(kn_workload_report, total, KN_F_NUMBER, "sum of weight times error"),
    KN_FIELD(kn_workload_report, mean, KN_F_NUMBER, "the error of a query, on average by weight"),
    KN_VALUE_OF("queries", KN_F_LIST, &query_part, "the queries and their answers"),
};
static const kn_fields workload_part = KN_FIELDS(kn_workload_report, "workload", workload_rows, NULL);

#define S kn_measure_report
static const kn_field_row measure_rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD(S, rows, KN_F_ROWS, "rows of the original, without those that are left out for a missing cell"),
    KN_FIELD(S, released, KN_F_ROWS, "rows that the release shows"),
    KN_FIELD(S, suppressed, KN_F_ROWS, "rows that it does not"),
    KN_FIELD(S, classes, KN_F_CLASSES, "classes of released rows that look alike"),
    KN_FIELD(S, k, KN_F_ROWS, "rows of the smallest of them; 0: there is none"),
    KN_FIELD_PART(S, metrics, &kn_metrics_part, KN_F_OBJECT, "what the release lost, by every metric"),
    KN_FIELD_LIST(S, attributes, attribute_count, &attribute_part, KN_F_LIST, "what each quasi-identifier lost"),
    KN_VALUE_OF("workload", KN_F_OBJECT | KN_F_OPTIONAL, &workload_part, "with --workload: how queries are answered"),
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_measure =
    KN_ANSWER(kn_measure_report, "measure", measure_rows, NULL, "What did a release lose?");

/* ---- Databases ---- */

#define S kn_measured_table
static const kn_field_row table_rows[] = {
    KN_FIELD(S, name, KN_F_TEXT, "the table's name"),
    KN_FIELD(S, rows, KN_F_ROWS, "rows of the original that belong to persons"),
    KN_FIELD(S, released, KN_F_ROWS, "rows that the release shows; each still belongs to a row of the table above"),
    KN_FIELD(S, deleted, KN_F_ROWS, "rows that it does not"),
    KN_FIELD(S, cells, KN_F_COUNT, "quasi-identifier cells of all rows, and what the rows weigh beyond them"),
    KN_FIELD(S, lm, KN_F_SHARE, "what these cells lost, on average; a deleted one counts 1"),
};
#undef S
static const kn_fields table_part = KN_FIELDS(kn_measured_table, "table", table_rows, NULL);

#define S kn_measured_column
static const kn_field_row column_rows[] = {
    KN_VALUE("table", KN_F_TEXT, "the table's name"),
    KN_FIELD(S, name, KN_F_TEXT, "the column's name"),
    KN_FIELD(S, lm, KN_F_SHARE, "how many of its values a cell may stand for, on average"),
    KN_FIELD(S, ncp, KN_F_SHARE, "the same as a share of all values"),
    KN_FIELD(S, prec, KN_F_SHARE, "how many levels of its hierarchy a cell kept, on average"),
    KN_FIELD(S, entropy, KN_F_BITS, "by how much its cells say less than they did"),
    KN_FIELD(S, kept, KN_F_COUNT, "cells that show their value"),
    KN_FIELD(S, generalized, KN_F_COUNT, "cells that show a broader one"),
    KN_FIELD(S, suppressed, KN_F_COUNT, "cells that show nothing: they may be anything, or their row is deleted"),
};
#undef S
static const kn_fields column_part = KN_FIELDS(kn_measured_column, "column", column_rows, NULL);

#define S kn_database_measure_report
static const kn_field_row database_rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD(S, persons, KN_F_PERSONS, "persons of the original"),
    KN_FIELD(S, released, KN_F_PERSONS, "persons that the release shows"),
    KN_FIELD(S, suppressed, KN_F_PERSONS, "persons that it does not"),
    KN_FIELD(S, classes, KN_F_CLASSES, "classes of released persons alike in all tables"),
    KN_FIELD(S, k, KN_F_PERSONS, "persons of the smallest of them; 0: there is none"),
    KN_FIELD(S, lm, KN_F_SHARE, "what the cells of all tables lost, on average; a deleted one counts 1"),
    KN_FIELD(S, lm_released, KN_F_SHARE, "the same over the released rows alone"),
    KN_FIELD(S, dm, KN_F_NUMBER, "sum of squared class sizes; a person who is left out costs all persons"),
    KN_FIELD_LIST(S, tables, table_count, &table_part, KN_F_LIST, "what each table lost"),
    KN_VALUE_OF("columns", KN_F_LIST, &column_part, "what each quasi-identifier lost"),
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_measure_database = KN_ANSWER(kn_database_measure_report, "measure-database", database_rows,
                                                       NULL, "What did a release of a database lose?");

kn_status kn_document_measure_database(kn_document **out, kn_context *ctx, const kn_database_measure_report *report,
                                       kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_measure_database, report, err));
    kn_to list = kn_put_list(kn_document_top(doc), "columns");
    for (int i = 0; i < report->column_count; i++) {
        kn_to one = kn_append_object(list);
        kn_put_struct(one, &report->columns[i]);
        kn_put_text(one, "table", report->tables[report->columns[i].table].name);
    }
    return kn_document_end(out, doc, err);
}

/* ---- Records that are trees ---- */

#define S kn_measured_class
static const kn_field_row class_rows[] = {
    KN_FIELD(S, name, KN_F_TEXT, "the class's name"),
    KN_FIELD(S, nodes, KN_F_COUNT, "its nodes in the original"),
    KN_VALUE("kept", KN_F_COUNT | KN_F_NULLABLE,
             "nodes whose value the released record shows; null: which record is whose is not known"),
    KN_VALUE("generalized", KN_F_COUNT | KN_F_NULLABLE, "nodes of which it shows a broader value of the class"),
    KN_VALUE("suppressed", KN_F_COUNT | KN_F_NULLABLE, "nodes of which it shows nothing, or *, or which is left out"),
    KN_FIELD(S, loss, KN_F_SHARE | KN_F_NULLABLE,
             "how broad they became, on average: 0 as they were, 1 nothing is shown"),
    KN_FIELD(S, values, KN_F_COUNT, "its different values in the original"),
    KN_FIELD(S, values_kept, KN_F_COUNT, "of these, those that the release shows anywhere"),
};
#undef S
static const kn_fields class_part = KN_FIELDS(kn_measured_class, "class", class_rows, NULL);

#define S kn_records_measure_report
static const kn_field_row records_rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD(S, records, KN_F_RECORDS, "records of the original"),
    KN_FIELD(S, released, KN_F_RECORDS, "records that the release shows"),
    KN_FIELD(S, suppressed, KN_F_RECORDS, "records that it leaves out"),
    KN_FIELD(S, nodes, KN_F_COUNT, "nodes of the original"),
    KN_FIELD(S, nodes_released, KN_F_COUNT, "nodes of the release"),
    KN_FIELD(S, relations, KN_F_COUNT, "relations of the original: which node is above which"),
    KN_FIELD(S, relations_released, KN_F_COUNT, "relations of the release"),
    KN_FIELD(S, values, KN_F_COUNT, "different values of the original"),
    KN_FIELD(S, values_released, KN_F_COUNT, "different values of the release"),
    KN_FIELD(S, loss, KN_F_SHARE | KN_F_NULLABLE,
             "how broad the nodes became, on average by weight; null: which record is whose is not known"),
    KN_FIELD(S, node_survival, KN_F_SHARE | KN_F_NULLABLE, "nodes whose own value the released record shows"),
    KN_FIELD(S, relation_survival, KN_F_SHARE | KN_F_NULLABLE,
             "relations that the released record still has, between broader values or not"),
    KN_FIELD(S, relation_unchanged, KN_F_SHARE | KN_F_NULLABLE, "relations that it has between the same values"),
    KN_FIELD(S, rpd, KN_F_NUMBER, "reverse path domain of the release"),
    KN_FIELD(S, rpd_original, KN_F_NUMBER, "reverse path domain of the original"),
    KN_FIELD(S, ml2, KN_F_NUMBER | KN_F_NULLABLE,
             "frequent subtrees that are lost; null: no support is set, or not known"),
    KN_FIELD(S, dml2, KN_F_NUMBER | KN_F_NULLABLE, "the same, by how much their support changed"),
    KN_VALUE_OF("classes", KN_F_LIST, &class_part, "what each class lost"),
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_measure_records = KN_ANSWER(kn_records_measure_report, "measure-records", records_rows, NULL,
                                                      "What did a release of records that are trees lose?");

static void put_known(kn_to to, const char *name, int64_t count)
{
    if (count < 0)
        kn_put_null(to, name);
    else
        kn_put_integer(to, name, count);
}

kn_status kn_document_measure_records(kn_document **out, kn_context *ctx, const kn_records_measure_report *report,
                                      kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_measure_records, report, err));
    kn_to list = kn_put_list(kn_document_top(doc), "classes");
    for (int i = 0; i < report->class_count; i++) {
        kn_to one = kn_append_object(list);
        kn_put_struct(one, &report->classes[i]);
        put_known(one, "kept", report->classes[i].kept);
        put_known(one, "generalized", report->classes[i].generalized);
        put_known(one, "suppressed", report->classes[i].suppressed);
    }
    if (isnan(report->relation_survival))
        kn_put_note(doc,
                    "it does not follow from the values alone which released record is whose: some figures are not "
                    "known without the row map (--map)");
    return kn_document_end(out, doc, err);
}

/* ---- A table ---- */

/* Notes that classes are of rows, not of persons. */
static void note_persons(kn_document *doc, const kn_spec *spec)
{
    bool persons = spec->entity != NULL;
    for (int i = 0; i < spec->attribute_count; i++) persons = persons || spec->attributes[i].pseudonym_key_file;
    if (kn_spec_items_column(spec))
        kn_put_note(doc, "what the items of column \"%s\" lost is not among these figures: anonymize and verify say it",
                    kn_spec_items_column(spec)->name);
    if (persons) kn_put_note(doc, "k and classes are of rows here; how well persons are hidden is what verify answers");
}

kn_status kn_document_measure(kn_document **out, kn_context *ctx, const kn_spec *spec, const kn_measure_report *report,
                              const kn_workload *workload, const kn_workload_report *answers, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_measure, report, err));
    if (answers) {
        kn_to to = kn_put_object(kn_document_top(doc), "workload"), queries;
        kn_put_struct(to, answers);
        queries = kn_put_list(to, "queries");
        for (int q = 0; q < answers->query_count; q++) {
            kn_to one = kn_append_object(queries);
            kn_put_struct(one, &answers->answers[q]);
            kn_put_text(one, "query", workload->queries[q].text);
            kn_put_integer(one, "line", workload->queries[q].line);
            kn_put_number(one, "weight", workload->queries[q].weight);
        }
    }
    note_persons(doc, spec);
    return kn_document_end(out, doc, err);
}
