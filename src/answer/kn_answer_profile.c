/* kn_answer_profile.c: the profiles of a table and of a database's schema, as documents. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "kn_answer.h"
#include "kn_error.h"

/* Without "auto": the type of a column that was read is known. */
static const char *value_type(kn_type type)
{
    return type == KN_TYPE_AUTO ? NULL : kn_type_name(type);
}

/* ---- A table ---- */

#define S kn_column_profile
static const kn_field_row column_rows[] = {
    KN_FIELD(S, name, KN_F_TEXT, "the column's name"),
    KN_FIELD_WORDS(S, type, value_type, KN_TYPE_DATETIME, 0,
                   "its type: 'text', 'integer', 'decimal', 'date' or 'datetime'"),
    KN_FIELD(S, distinct, KN_F_COUNT, "different values; missing cells are none"),
    KN_FIELD(S, missing, KN_F_ROWS, "rows in which it is missing"),
    KN_FIELD(S, respelled, KN_F_COUNT, "spellings of a value beside its first one, like 1.0 and 1.00"),
    KN_FIELD(S, ambiguous_dates, KN_F_BOOLEAN, "whether its dates can be read as day/month or month/day"),
    KN_FIELD(S, entropy, KN_F_BITS, "how much a value says; missing cells count as one value"),
    KN_FIELD(S, unique_rows, KN_F_ROWS, "rows whose value occurs in no other row"),
    KN_VALUE("uniqueness", KN_F_SHARE, "the same, of all rows"),
    KN_FIELD_WORDS(S, role, kn_role_name, KN_ROLE_KEEP, 0, "the role it probably has in a release"),
    KN_FIELD(S, reason, KN_F_TEXT, "why, in a few words"),
    KN_VALUE("most_common", KN_F_TEXT | KN_F_OPTIONAL | KN_F_NULLABLE,
             "with --show-values: its most common value; null: it is missing most often"),
    KN_VALUE("most_common_share", KN_F_SHARE | KN_F_OPTIONAL, "with --show-values: of all rows"),
};
#undef S
static const kn_fields column_part = KN_FIELDS(kn_column_profile, "column", column_rows, NULL);

static const kn_field_row profile_rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD(kn_profile, rows, KN_F_ROWS, "rows of the table"),
    KN_VALUE_OF("columns", KN_F_LIST, &column_part, "the columns, in their order"),
    KN_NOTES_ROW,
};
const kn_fields kn_answer_profile = KN_ANSWER(kn_profile, "profile", profile_rows, NULL,
                                              "What do the columns of a table look like, and which role has each?");

/* Does a column's name say that its values number persons? Names, streets and telephone numbers repeat, too. */
static bool says_who(const char *name)
{
    static const char *const words[] = {"id",      "ids",      "ssn",    "passport", "person",
                                        "patient", "customer", "client", "student",  "user",
                                        "member",  "subject",  "pid",    "uid",      NULL};
    for (const char *p = name; *p;) {
        size_t n = 0;
        while (isalpha((unsigned char)p[n])) n++;
        for (int i = 0; words[i]; i++)
            if (strlen(words[i]) == n && strncasecmp(words[i], p, n) == 0) return true;
        p += n > 0 ? n : 1;
    }
    return false;
}

/* Rows are counted unless the owner names the column that identifies persons; a repeated identifier may be that
 * column. */
static void note_persons(kn_document *doc, const kn_profile *p)
{
    enum { MOST_ROWS_EACH = 20 }; /* more suggests surnames or hospital wards, not persons */
    for (int i = 0; i < p->columns; i++) {
        const kn_column_profile *c = &p->column[i];
        int64_t                  present = p->rows - c->missing;
        char                     values[KN_COUNT_TEXT], rows[KN_COUNT_TEXT];
        if (c->role != KN_ROLE_IDENTIFIER || !says_who(c->name) || c->distinct >= present ||
            present > MOST_ROWS_EACH * c->distinct)
            continue;
        kn_put_note(doc,
                    "column \"%s\" has %s values in %s rows: if it says whose row it is, --entity '%s' counts persons "
                    "instead of rows, in 'diagnose' and in a release",
                    c->name, kn_count_text(values, c->distinct), kn_count_text(rows, present), c->name);
    }
}

kn_status kn_document_profile(kn_document **out, kn_context *ctx, const kn_profile *profile, const kn_table *table,
                              bool show_values, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_profile, profile, err));
    kn_to columns = kn_put_list(kn_document_top(doc), "columns");
    for (int i = 0; i < profile->columns; i++) {
        const kn_column_profile *c = &profile->column[i];
        kn_to                    one = kn_append_object(columns);
        double                   rows = (double)profile->rows;
        kn_put_struct(one, c);
        kn_put_number(one, "uniqueness", profile->rows > 0 ? (double)c->unique_rows / rows : 0);
        if (!show_values || profile->rows == 0) continue;
        size_t      length = 0;
        const char *text = kn_table_text(table, i, c->most_common, &length);
        if (text)
            kn_put_bytes(one, "most_common", text, length);
        else
            kn_put_null(one, "most_common");
        kn_put_number(one, "most_common_share", (double)c->most_common_rows / rows);
    }
    kn_note_table(doc, table);
    note_persons(doc, profile);
    return kn_document_end(out, doc, err);
}

/* ---- A database ---- */

static const char *place_name(kn_schema_place place)
{
    static const char *const names[] = {"person", "family", "problem", "outside", "reference"};
    return names[place];
}

static const kn_field_row schema_column_rows[] = {
    KN_FIELD(kn_schema_column, name, KN_F_TEXT, "the column's name"),
    KN_FIELD_WORDS(kn_schema_column, type, value_type, KN_TYPE_DATETIME, 0, "the type of its values"),
    KN_FIELD(kn_schema_column, declared, KN_F_TEXT | KN_F_NULLABLE, "the type that the catalog declares; null: none"),
    KN_FIELD(kn_schema_column, distinct, KN_F_COUNT, "different values; missing cells are none"),
    KN_FIELD(kn_schema_column, missing, KN_F_ROWS, "rows in which it is missing"),
};
static const kn_fields schema_column_part = KN_FIELDS(kn_schema_column, "column", schema_column_rows, NULL);

static const kn_field_row link_rows[] = {
    KN_VALUE("columns", KN_F_TEXTS, "columns of this table"),
    KN_FIELD_AS(kn_schema_link, target_name, "table", KN_F_TEXT, "the table that they name a row of"),
    KN_VALUE("read", KN_F_BOOLEAN, "whether that table was read"),
    KN_VALUE("names", KN_F_TEXTS | KN_F_OPTIONAL, "columns of that table, where it was read"),
    KN_VALUE("missing", KN_F_ROWS | KN_F_OPTIONAL, "rows in which a column of the key is missing"),
    KN_VALUE("dangling", KN_F_ROWS | KN_F_OPTIONAL, "rows that name a row that is not there"),
};
static const kn_fields link_part = KN_FIELDS(kn_schema_link, "foreign_key", link_rows, NULL);

static const kn_field_row schema_table_rows[] = {
    KN_FIELD(kn_schema_table, name, KN_F_TEXT, "the table's name"),
    KN_FIELD(kn_schema_table, rows, KN_F_ROWS, "its rows"),
    KN_FIELD_WORDS(kn_schema_table, place, place_name, KN_SCHEMA_REFERENCE, 0,
                   "'person', 'family' (rows belong to persons by one path), 'problem', 'outside' or 'reference'"),
    KN_VALUE("parent", KN_F_TEXT | KN_F_NULLABLE, "the table that its rows hang from"),
    KN_FIELD(kn_schema_table, orphans, KN_F_ROWS, "rows that belong to no person"),
    KN_FIELD(kn_schema_table, reason, KN_F_TEXT, "why it has this place"),
    KN_VALUE("key", KN_F_TEXTS, "columns of the primary key"),
    KN_VALUE_OF("foreign_keys", KN_F_LIST, &link_part, "foreign keys"),
    KN_FIELD_LIST(kn_schema_table, columns, column_count, &schema_column_part, KN_F_LIST,
                  "the columns, in their order"),
};
static const kn_fields schema_table_part = KN_FIELDS(kn_schema_table, "table", schema_table_rows, NULL);

static const kn_field_row problem_rows[] = {
    KN_FIELD_WORDS(kn_schema_problem, rule, kn_schema_rule_name, KN_SCHEMA_QUASI_KEY, 0,
                   "the rule of a snowflake that is broken"),
    KN_VALUE("table", KN_F_TEXT, "the table that breaks it"),
    KN_FIELD(kn_schema_problem, message, KN_F_TEXT, "what is wrong"),
    KN_FIELD(kn_schema_problem, advice, KN_F_TEXT, "what would have to be done"),
};
static const kn_fields problem_part = KN_FIELDS(kn_schema_problem, "problem", problem_rows, NULL);

static const kn_field_row schema_rows[] = {
    KN_ANSWER_ROW,
    KN_VALUE("person", KN_F_TEXT | KN_F_NULLABLE, "the table of persons; null: none could be chosen"),
    KN_FIELD(
        kn_schema, chosen, KN_F_BOOLEAN,
        "whether nobody named it, so that it is the one whose names speak of people most, or with the most below it"),
    KN_FIELD(kn_schema, snowflake, KN_F_BOOLEAN, "whether one path of foreign keys leads from every table to it"),
    KN_VALUE_OF("problems", KN_F_LIST, &problem_part, "if not: why"),
    KN_VALUE_OF("tables", KN_F_LIST, &schema_table_part, "the tables"),
    KN_NOTES_ROW,
};
const kn_fields kn_answer_profile_database = KN_ANSWER(kn_schema, "profile-database", schema_rows, NULL,
                                                       "Is a database a snowflake around its table of persons?");

static void put_names(kn_to to, const char *key, const kn_schema_table *t, const int *columns, int count)
{
    kn_to list = kn_put_list(to, key);
    for (int i = 0; i < count; i++) kn_append_text(list, t->columns[columns[i]].name);
}

static void put_table(kn_to to, const kn_schema *s, const kn_schema_table *t)
{
    kn_put_struct(to, t);
    kn_put_text(to, "parent", t->parent >= 0 ? s->tables[t->parent].name : NULL);
    kn_to key = kn_put_list(to, "key"), links = kn_put_list(to, "foreign_keys");
    for (int c = 0; c < t->column_count; c++)
        if (t->columns[c].key) kn_append_text(key, t->columns[c].name);
    for (int i = 0; i < t->link_count; i++) {
        const kn_schema_link *link = &t->links[i];
        kn_to                 one = kn_append_object(links);
        kn_put_struct(one, link);
        put_names(one, "columns", t, link->columns, link->column_count);
        kn_put_boolean(one, "read", link->target >= 0);
        if (link->target < 0) continue;
        put_names(one, "names", &s->tables[link->target], link->target_columns, link->column_count);
        kn_put_integer(one, "missing", link->missing);
        kn_put_integer(one, "dangling", link->dangling);
    }
}

kn_status kn_document_profile_database(kn_document **out, kn_context *ctx, const kn_schema *schema, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_profile_database, schema, err));
    kn_to top = kn_document_top(doc);
    kn_put_text(top, "person", schema->person >= 0 ? schema->tables[schema->person].name : NULL);
    kn_to problems = kn_put_list(top, "problems"), tables = kn_put_list(top, "tables");
    for (int i = 0; i < schema->problem_count; i++) {
        kn_to one = kn_append_object(problems);
        kn_put_struct(one, &schema->problems[i]);
        kn_put_text(one, "table", schema->tables[schema->problems[i].table].name);
    }
    for (int t = 0; t < schema->table_count; t++) put_table(kn_append_object(tables), schema, &schema->tables[t]);
    return kn_document_end(out, doc, err);
}
