/* kn_answer_diagnose_records.c: whom somebody finds who knows some values and relations of tree records, as a document. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_answer.h"
#include "kn_error.h"

#define S kn_diagnosed_class
static const kn_field_row class_rows[] = {
    KN_FIELD(S, name, KN_F_TEXT, "the class's name"),
    KN_FIELD(S, records, KN_F_RECORDS, "records that have a node of it"),
    KN_FIELD(S, nodes, KN_F_COUNT, "its nodes"),
    KN_FIELD(S, values, KN_F_COUNT, "its different values"),
    KN_FIELD(S, sensitive, KN_F_BOOLEAN, "whether it is sensitive, so that attackers do not know it"),
    KN_FIELD(S, negative, KN_F_BOOLEAN,
             "whether it may be known that somebody lacks a value of it, which is not counted"),
};
#undef S
static const kn_fields class_part = KN_FIELDS(kn_diagnosed_class, "class", class_rows, NULL);

#define S kn_records_reach
static const kn_field_row reach_rows[] = {
    KN_FIELD(S, m, KN_F_COUNT, "values that somebody knows, at most"),
    KN_FIELD(S, n, KN_F_COUNT, "relations between them that somebody knows, at most"),
    KN_FIELD(S, unique_records, KN_F_RECORDS, "records that alone have a combination of these"),
    KN_FIELD(S, below_records, KN_F_RECORDS, "records that have one that fewer than k records have"),
    KN_FIELD(S, first_unique, KN_F_RECORDS,
             "of the unique ones, those that are not with fewer values, or as many and fewer relations"),
    KN_FIELD(S, first_below, KN_F_RECORDS, "of the others, likewise"),
};
#undef S
static const kn_fields reach_part = KN_FIELDS(kn_records_reach, "reach", reach_rows, NULL);

#define S kn_known_classes
static const kn_field_row known_rows[] = {
    KN_VALUE("classes", KN_F_TEXTS, "the classes of the values that are known, one for each"),
    KN_FIELD(S, relations, KN_F_COUNT, "how many relations between them are known"),
    KN_FIELD(S, combinations, KN_F_COUNT, "combinations of such values and relations that occur"),
    KN_FIELD(S, k, KN_F_RECORDS, "records that have the rarest of them"),
    KN_FIELD(S, unique_records, KN_F_RECORDS, "records that alone have one of them"),
    KN_FIELD(S, below_records, KN_F_RECORDS, "records that have one that fewer than k records have"),
};
#undef S
static const kn_fields known_part = KN_FIELDS(kn_known_classes, "known", known_rows, NULL);

#define S kn_records_diagnosis
static const kn_field_row rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD(S, records, KN_F_RECORDS, "records, one for each person"),
    KN_FIELD(S, nodes, KN_F_COUNT, "their nodes"),
    KN_VALUE("k", KN_F_RECORDS, "the k that is asked for"),
    KN_VALUE("m", KN_F_COUNT, "values that somebody knows, at most"),
    KN_VALUE("n", KN_F_COUNT, "relations between them that somebody knows, at most"),
    KN_FIELD(S, unique_records, KN_F_RECORDS, "records that alone have a combination of these"),
    KN_FIELD(S, below_records, KN_F_RECORDS, "records that have one that fewer than k records have"),
    KN_FIELD_LIST(S, classes, class_count, &class_part, KN_F_LIST, "the classes"),
    KN_FIELD_LIST(S, reach, reach_count, &reach_part, KN_F_LIST, "whom somebody finds who knows less"),
    KN_VALUE_OF("known", KN_F_LIST, &known_part, "what somebody may know, by its classes, and whom it finds"),
    KN_FIELD(S, holds, KN_F_BOOLEAN, "whether the records are k^(m,n)-anonymous as they are"),
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_diagnose_records =
    KN_ANSWER(kn_records_diagnosis, "diagnose-records", rows, NULL,
              "Whom does somebody find who knows some values and relations of a record?");

kn_status kn_document_diagnose_records(kn_document **out, kn_context *ctx, const kn_records_diagnosis *d, kn_error *err)
{
    kn_document *doc;
    char         number[KN_COUNT_TEXT];
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_diagnose_records, d, err));
    kn_to to = kn_document_top(doc), list = kn_put_list(to, "known");
    kn_put_integer(to, "k", d->asked.k);
    kn_put_integer(to, "m", d->asked.m);
    kn_put_integer(to, "n", d->asked.n);
    for (int64_t i = 0; i < d->known_count; i++) {
        kn_to one = kn_append_object(list);
        kn_put_struct(one, &d->known[i]);
        kn_to classes = kn_put_list(one, "classes");
        for (int c = 0; c < d->known[i].class_count; c++)
            kn_append_text(classes, d->classes[d->known[i].classes[c]].name);
    }
    kn_note_dropped(doc, d->dropped, d->dropped_count);
    if (d->merged > 0)
        kn_put_note(doc, "%s %s equal to a sibling: how often somebody has a value does not count",
                    kn_count_text(number, d->merged), d->merged == 1 ? "node is" : "nodes are");
    for (int c = 0; c < d->class_count; c++) {
        if (d->classes[c].nodes == 0) kn_put_note(doc, "class \"%s\" occurs in no record", d->classes[c].name);
        if (d->classes[c].negative)
            kn_put_note(doc,
                        "class \"%s\": who is found by a value that they lack is not counted here; verify counts it",
                        d->classes[c].name);
    }
    return kn_document_end(out, doc, err);
}
