/* kn_answer_attack.c: who an attacker finds in a release, and in databases anonymized in three ways, as documents. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_answer.h"
#include "kn_error.h"

/* ---- The linking attack ---- */

static const kn_field_row count_rows[] = {
    KN_FIELD(kn_match_count, matches, KN_F_ROWS, "rows that somebody matches; of a database, persons"),
    KN_FIELD(kn_match_count, people, KN_F_PERSONS, "people who match so many"),
};
static const kn_fields count_part = KN_FIELDS(kn_match_count, "count", count_rows, NULL);

#define S kn_attack_table
static const kn_field_row table_rows[] = {
    KN_FIELD(S, rows, KN_F_ROWS, "rows of the table that is attacked; of a database, its persons, here and below"),
    KN_FIELD(S, none, KN_F_PERSONS, "people who match no row"),
    KN_FIELD(S, unplaced, KN_F_PERSONS, "people of whom nothing can be said: a hierarchy lacks a value of theirs"),
    KN_FIELD(S, unique, KN_F_PERSONS, "people who match exactly one row"),
    KN_FIELD_AS(S, below, "below_k", KN_F_PERSONS, "people who match a row, but fewer than k"),
    KN_FIELD(S, least, KN_F_ROWS, "the fewest rows that anybody who matches any matches; 0: nobody does"),
    KN_FIELD_LIST(S, counts, count, &count_part, KN_F_LIST, "how many people match how many rows"),
    KN_VALUE("certain", KN_F_FIGURES,
             "of each sensitive column: people whose value is certain, since all their matches agree"),
};
#undef S
static const kn_fields table_part = KN_FIELDS(kn_attack_table, "table", table_rows, NULL);

#define S kn_attack_report
static const kn_field_row attack_rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD(S, people, KN_F_PERSONS, "rows of the attacker's table, or its persons"),
    KN_FIELD(S, k, KN_F_ROWS, "whoever matches fewer rows counts as narrowed down"),
    KN_FIELD_LIST(S, links, link_count, NULL, KN_F_TEXTS, "the columns that both tables are linked by"),
    KN_FIELD_LIST(S, sensitive, sensitive_count, NULL, KN_F_TEXTS, "the sensitive columns"),
    KN_VALUE_OF("before", KN_F_OBJECT | KN_F_OPTIONAL, &table_part, "the original, where it was given"),
    KN_VALUE_OF("after", KN_F_OBJECT, &table_part, "the release"),
    KN_FIELD(S, database, KN_F_BOOLEAN, "whether what is matched are the persons of a database, not rows"),
    KN_FIELD(S, records, KN_F_BOOLEAN, "whether they are records that are trees, linked by classes"),
    KN_FIELD(S, linked, KN_F_TEXT | KN_F_OPTIONAL, "a column that shows which rows are one person's"),
    KN_VALUE("holds", KN_F_BOOLEAN | KN_F_NULLABLE,
             "whether nobody is narrowed down to fewer than k rows; null: nobody could be, so it is undecided"),
    KN_VALUE("sha256", KN_F_TEXT | KN_F_OPTIONAL, "SHA-256 of the release, where it is one file"),
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_attack = KN_ANSWER(kn_attack_report, "attack", attack_rows, NULL,
                                             "How many people of another table are found in a release?");

static void put_attacked(kn_to to, const kn_attack_report *r, const kn_attack_table *t)
{
    kn_put_struct(to, t);
    kn_to certain = kn_put_object(to, "certain");
    for (int i = 0; i < r->sensitive_count; i++) kn_put_figure(certain, r->sensitive[i], (double)t->certain[i], true);
}

/* Why nobody can be found, whatever the release: that is no answer. NULL: somebody can. */
static const char *nobody(const kn_attack_report *r)
{
    if (r->people == 0) return "the external table is about nobody";
    if (r->after.rows == 0) return "nobody is in the release";
    return r->people == r->after.unplaced ? "nobody can be placed" : NULL;
}

static void put_holds(kn_to to, const kn_attack_report *r)
{
    const char *why = nobody(r);
    if (!why) {
        kn_put_boolean(to, "holds", r->after.below == 0);
        return;
    }
    kn_put_null(to, "holds");
    kn_put_note(to.doc, "%s: nothing is shown about anybody", why);
}

/* "Nobody is found" means little if most persons match no row: the cells may have been misread. */
static void note_strangers(kn_document *doc, const kn_attack_report *r)
{
    char none[KN_COUNT_TEXT], people[KN_COUNT_TEXT];
    if (r->after.none <= r->people / 2 || (r->has_before && r->before.none >= r->after.none)) return;
    kn_put_note(doc,
                "%s of %s people match no %s: if they are in the release, its cells are not read as they are meant; %s",
                kn_count_text(none, r->after.none), kn_count_text(people, r->people),
                r->database  ? "person"
                : r->records ? "record"
                             : "row",
                r->database  ? "the release file says how (hierarchy, type, decimal)"
                : r->records ? "the release file says how (hierarchy), and the original where it has none"
                             : "--hierarchy, --type and --decimal say how");
}

kn_status kn_document_attack(kn_document **out, kn_context *ctx, const kn_attack_report *report, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_attack, report, err));
    kn_to to = kn_document_top(doc);
    if (report->has_before) put_attacked(kn_put_object(to, "before"), report, &report->before);
    put_attacked(kn_put_object(to, "after"), report, &report->after);
    put_holds(to, report);
    if (report->sha256[0]) kn_put_text(to, "sha256", report->sha256);
    if (!nobody(report)) note_strangers(doc, report);
    if (report->linked)
        kn_put_note(doc,
                    "column \"%s\" shows which rows are one person's, but they were matched one by one: whoever knows "
                    "several rows of a person may find them by all of these together; verify judges that",
                    report->linked);
    return kn_document_end(out, doc, err);
}

/* ---- Databases in three ways ---- */

static const kn_field_row demo_table_rows[] = {
    KN_FIELD(kn_demo_table, name, KN_F_TEXT, "the table's name"),
    KN_FIELD(kn_demo_table, rows, KN_F_ROWS, "rows that belong to persons"),
    KN_FIELD(kn_demo_table, quasi, KN_F_COLUMNS, "its quasi-identifiers"),
    KN_FIELD(kn_demo_table, small, KN_F_BOOLEAN,
             "whether it has fewer than k rows, so that by itself it shows nothing"),
};
static const kn_fields demo_table_part = KN_FIELDS(kn_demo_table, "table", demo_table_rows, NULL);

static const kn_field_row path_rows[] = {
    KN_VALUE("tables", KN_F_TEXTS, "the tables that are joined, persons first"),
    KN_FIELD(kn_demo_path, rows, KN_F_ROWS, "rows of the join"),
};
static const kn_fields path_part = KN_FIELDS(kn_demo_path, "path", path_rows, NULL);

static const kn_field_row certain_rows[] = {
    KN_FIELD(kn_demo_column, table, KN_F_TEXT, "the table of a sensitive column"),
    KN_FIELD(kn_demo_column, column, KN_F_TEXT, "the sensitive column"),
    KN_FIELD(kn_demo_column, targets, KN_F_PERSONS, "persons looked for who have a row in the table"),
    KN_VALUE("certain", KN_F_PERSONS, "those whose values follow, since all candidates show the same ones"),
};
static const kn_fields certain_part = KN_FIELDS(kn_demo_column, "sensitive", certain_rows, NULL);

static const kn_field_row way_rows[] = {
    KN_FIELD(kn_demo_attack, none, KN_F_PERSONS, "persons without a candidate: the release leaves them out"),
    KN_FIELD(kn_demo_attack, unique, KN_F_PERSONS, "persons with exactly one candidate"),
    KN_FIELD_AS(kn_demo_attack, below, "below_k", KN_F_PERSONS, "persons with a candidate, but fewer than k"),
    KN_FIELD(kn_demo_attack, least, KN_F_PERSONS, "the fewest candidates of anybody who has one; 0: nobody has"),
    KN_FIELD(kn_demo_attack, mean, KN_F_NUMBER, "candidates of a person, on average"),
    KN_VALUE_OF("sensitive", KN_F_LIST, &certain_part, "what follows about sensitive columns"),
};
static const kn_fields way_part = KN_FIELDS(kn_demo_attack, "way", way_rows, NULL);

static const kn_field_row example_rows[] = {
    KN_VALUE("person", KN_F_COUNT, "the row of the person who is found best, from 1"),
    KN_VALUE("rows", KN_F_FIGURES, "how many rows of each table the attacker knows of them"),
    KN_VALUE("candidates", KN_F_FIGURES, "how many candidates they have in each way"),
};
static const kn_fields example_part = KN_FIELDS_PUT("example", example_rows);

#define S kn_attack_demo_report
static const kn_field_row demo_rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD(S, k, KN_F_PERSONS, "the k that is asked for"),
    KN_VALUE("person_table", KN_F_TEXT, "the table of persons"),
    KN_FIELD(S, persons, KN_F_PERSONS, "persons of the database"),
    KN_FIELD(S, targets, KN_F_PERSONS, "persons who are looked for: all, or a sample"),
    KN_FIELD_LIST(S, tables, table_count, &demo_table_part, KN_F_LIST, "the tables"),
    KN_VALUE_OF("joined", KN_F_LIST, &path_part, "the joins"),
    KN_VALUE_OF("universal", KN_F_OBJECT, &way_part, "the joined tables were made k-anonymous"),
    KN_VALUE_OF("local", KN_F_OBJECT, &way_part, "each table was made k-anonymous by itself"),
    KN_VALUE_OF("universal-ndgh", KN_F_OBJECT, &way_part, "the same, with keys generalized to ranges of persons"),
    KN_VALUE_OF("local-ndgh", KN_F_OBJECT, &way_part, "each table by itself, likewise"),
    KN_VALUE_OF("miracle-x", KN_F_OBJECT, &way_part,
                "persons with all their rows were made k-anonymous: what kanon releases"),
    KN_VALUE_OF("example", KN_F_OBJECT, &example_part, "the person who is found best"),
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_attack_demo =
    KN_ANSWER(kn_attack_demo_report, "attack-demo", demo_rows, NULL,
              "Why may neither the join of a database nor each table be anonymized alone?");

static void put_way(kn_to to, const kn_attack_demo_report *r, const kn_demo_attack *way)
{
    kn_put_struct(to, way);
    kn_to list = kn_put_list(to, "sensitive");
    for (int s = 0; s < r->sensitive_count; s++) {
        kn_to one = kn_append_object(list);
        kn_put_struct(one, &r->sensitive[s]);
        kn_put_integer(one, "certain", way->certain[s]);
    }
}

kn_status kn_document_attack_demo(kn_document **out, kn_context *ctx, const kn_attack_demo_report *r, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_attack_demo, r, err));
    kn_to to = kn_document_top(doc), joined = kn_put_list(to, "joined"), example = kn_put_object(to, "example");
    kn_put_text(to, "person_table", r->tables[r->person].name);
    for (int i = 0; i < r->path_count; i++) {
        kn_to one = kn_append_object(joined);
        kn_put_struct(one, &r->paths[i]);
        kn_to tables = kn_put_list(one, "tables");
        for (int t = 0; t < r->paths[i].table_count; t++) kn_append_text(tables, r->tables[r->paths[i].tables[t]].name);
    }
    kn_put_integer(example, "person", r->example);
    kn_to rows = kn_put_object(example, "rows"), candidates = kn_put_object(example, "candidates");
    for (int t = 0; t < r->table_count; t++) kn_put_figure(rows, r->tables[t].name, (double)r->example_rows[t], true);
    for (int way = 0; way < KN_DEMO_WAYS; way++) {
        const char *name = kn_demo_way_name((kn_demo_way)way);
        put_way(kn_put_object(to, name), r, &r->ways[way]);
        kn_put_figure(candidates, name, (double)r->example_candidates[way], true);
    }
    return kn_document_end(out, doc, err);
}
