/* kn_answer_diagnose_database.c: how alike the persons of a database are, as a document. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_answer.h"
#include "kn_error.h"
#include "kn_options.h"

static const kn_field_row table_rows[] = {
    KN_FIELD(kn_diagnosed_table, name, KN_F_TEXT, "the table's name"),
    KN_FIELD(kn_diagnosed_table, rows, KN_F_ROWS, "rows that belong to persons"),
    KN_FIELD(kn_diagnosed_table, orphans, KN_F_ROWS, "rows that belong to nobody"),
    KN_FIELD(kn_diagnosed_table, quasi, KN_F_COLUMNS, "its quasi-identifiers"),
};
static const kn_fields table_part = KN_FIELDS(kn_diagnosed_table, "table", table_rows, NULL);

static const kn_field_row sizes_rows[] = {
    KN_FIELD(kn_size_count, size, KN_F_COUNT, "persons of a class"),
    KN_FIELD(kn_size_count, classes, KN_F_CLASSES, "classes of that size"),
    KN_FIELD_AS(kn_size_count, rows, "persons", KN_F_PERSONS, "persons in them"),
};
static const kn_fields sizes_part = KN_FIELDS(kn_size_count, "person_sizes", sizes_rows, NULL);

#define S kn_known
static const kn_field_row known_rows[] = {
    KN_VALUE("tables", KN_F_TEXTS, "the tables whose rows are known"),
    KN_FIELD(S, column, KN_F_TEXT | KN_F_OPTIONAL,
             "the only quasi-identifier that is known; left out: all of the tables"),
    KN_FIELD(S, k, KN_F_PERSONS, "persons of the smallest class: alike in what is known"),
    KN_FIELD(S, classes, KN_F_CLASSES, "classes of persons alike in what is known"),
    KN_FIELD(S, unique_persons, KN_F_PERSONS, "persons who stand alone"),
    KN_VALUE("below_persons", KN_F_PERSONS | KN_F_OPTIONAL, "with -k: persons in smaller classes"),
};
#undef S
static const kn_fields known_part = KN_FIELDS(kn_known, "known", known_rows, NULL);

#define S kn_database_diagnosis
static const kn_field_row rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD(S, persons, KN_F_PERSONS, "persons of the database"),
    KN_VALUE("person_table", KN_F_TEXT, "the table of persons"),
    KN_FIELD_LIST(S, tables, table_count, &table_part, KN_F_LIST, "the tables"),
    KN_FIELD(S, k, KN_F_PERSONS, "persons of the smallest class"),
    KN_FIELD(S, classes, KN_F_CLASSES, "classes of persons alike in all tables"),
    KN_FIELD(S, unique_persons, KN_F_PERSONS, "persons who stand alone"),
    KN_FIELD_LIST_AS(S, sizes, size_count, "histogram", &sizes_part, KN_F_LIST,
                     "how many classes have how many persons"),
    KN_VALUE("requested", KN_F_COUNT | KN_F_OPTIONAL, "with -k: the k asked for"),
    KN_VALUE("below_classes", KN_F_CLASSES | KN_F_OPTIONAL, "with -k: classes that are smaller"),
    KN_VALUE("below_persons", KN_F_PERSONS | KN_F_OPTIONAL, "with -k: persons in them"),
    KN_VALUE_OF("known", KN_F_LIST, &known_part,
                "what somebody may know, and whom it finds: columns, tables, sets of tables, all tables"),
    KN_VALUE_OF("sensitive", KN_F_LIST | KN_F_OPTIONAL, &kn_figures_part,
                "what the worst class tells of its matched rows, for each sensitive column TABLE.COLUMN"),
    KN_VALUE("holds", KN_F_BOOLEAN | KN_F_NULLABLE, "with -k: whether it holds; else null"),
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_diagnose_database =
    KN_ANSWER(kn_database_diagnosis, "diagnose-database", rows, NULL,
              "How many persons of a database are alike, and what finds those who are not?");

static void put_known(kn_to to, const kn_database_diagnosis *d, int64_t k)
{
    kn_to list = kn_put_list(to, "known");
    for (int i = 0; i < d->known_count; i++) {
        kn_to one = kn_append_object(list);
        kn_put_struct(one, &d->known[i]);
        kn_to tables = kn_put_list(one, "tables");
        for (int t = 0; t < d->known[i].table_count; t++) kn_append_text(tables, d->tables[d->known[i].tables[t]].name);
        if (k > 0) kn_put_integer(one, "below_persons", d->known[i].below_persons);
    }
}

kn_status kn_document_diagnose_database(kn_document **out, kn_context *ctx, const kn_database_diagnosis *d,
                                        const kn_database_diagnose_options *options, kn_error *err)
{
    kn_document *doc;
    KN_OPTIONS(kn_database_diagnose_options, KN_DATABASE_DIAGNOSE_OPTIONS_INIT, options, "diagnose options", err);
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_diagnose_database, d, err));
    kn_to to = kn_document_top(doc);
    kn_put_text(to, "person_table", d->tables[d->person].name);
    put_known(to, d, options->k);
    if (d->sensitive_count > 0) kn_put_sensitive(to, d->sensitive, d->sensitive_count);
    if (options->k > 0) {
        kn_put_integer(to, "requested", options->k);
        kn_put_integer(to, "below_classes", d->below_classes);
        kn_put_integer(to, "below_persons", d->below_persons);
        kn_put_boolean(to, "holds", d->holds);
    } else {
        kn_put_null(to, "holds");
    }
    for (int t = 0; t < d->table_count; t++) {
        char number[KN_COUNT_TEXT];
        if (d->tables[t].orphans > 0)
            kn_put_note(doc, "table \"%s\": %s %s to nobody", d->tables[t].name,
                        kn_count_text(number, d->tables[t].orphans),
                        d->tables[t].orphans == 1 ? "row belongs" : "rows belong");
    }
    return kn_document_end(out, doc, err);
}
