/* kn_answer_init.c: suggestions as documents: a first release file with its files; hierarchies of a column. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_answer.h"
#include "kn_error.h"

#define C kn_draft_column
static const kn_field_row column_rows[] = {
    KN_FIELD(C, table, KN_F_TEXT | KN_F_OPTIONAL, "of a database: the table"),
    KN_FIELD(C, name, KN_F_TEXT, "the column, or the class of records"),
    KN_FIELD(C, role, KN_F_TEXT | KN_F_OPTIONAL, "its role; absent where it is part of a key"),
    KN_FIELD(C, reason, KN_F_TEXT, "why that was chosen, in a few words"),
    KN_FIELD(C, hierarchy, KN_F_TEXT | KN_F_OPTIONAL, "what its values may become, as the release file says it"),
};
static const kn_fields column_part = KN_FIELDS(C, "draft-column", column_rows, NULL);
#undef C

static const kn_field_row init_rows[] = {
    KN_ANSWER_ROW,
    KN_VALUE("shape", KN_F_TEXT, "what was looked at: a table, a database or records"),
    KN_VALUE("output", KN_F_TEXT | KN_F_OPTIONAL, "where the release file was written; absent where it was not"),
    KN_VALUE("release_file", KN_F_TEXT, "its text"),
    KN_VALUE("hierarchies", KN_F_TEXTS, "the hierarchy files that it names, which stand beside it"),
    KN_VALUE_OF("columns", KN_F_LIST, &column_part, "what is suggested of each column or class"),
    KN_NOTES_ROW,
};
const kn_fields kn_answer_init = KN_ANSWER(char, "init", init_rows, NULL, "What would a first release file say?");

kn_status kn_document_init(kn_document **out, kn_context *ctx, const kn_draft *draft, const char *output, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_document_begin(&doc, ctx, &kn_answer_init, err));
    kn_to to = kn_document_top(doc);
    kn_put_text(to, "shape", kn_shape_name(draft->shape));
    if (output) kn_put_text(to, "output", output);
    kn_put_text(to, "release_file", draft->text);
    kn_to files = kn_put_list(to, "hierarchies"), columns = kn_put_list(to, "columns");
    for (int i = 0; i < draft->file_count; i++) kn_append_text(files, draft->files[i].name);
    for (int i = 0; i < draft->column_count; i++) kn_append_struct(columns, &draft->columns[i]);
    for (int i = 0; i < draft->note_count; i++) kn_put_note(doc, "%s", draft->notes[i]);
    return kn_document_end(out, doc, err);
}

/* ---- Hierarchies ---- */

#define S kn_suggestion
static const kn_field_row suggestion_rows[] = {
    KN_FIELD(S, build, KN_F_TEXT | KN_F_OPTIONAL, "how kanon hierarchy build makes it; absent where it is a rule"),
    KN_FIELD(S, rule, KN_F_TEXT | KN_F_OPTIONAL, "how a release file says it; absent where it is a file"),
    KN_FIELD(S, levels, KN_F_COUNT, "of a file: levels, with level 0; 0: a rule"),
    KN_FIELD(S, loss, KN_F_NUMBER | KN_F_NULLABLE, "what a release loses by it (lm); null: there is none"),
    KN_FIELD(S, counted, KN_F_BOOLEAN, "whether its groups depend on how many rows have a value"),
};
static const kn_fields suggestion_part = KN_FIELDS(S, "suggestion", suggestion_rows, NULL);
#undef S

static const kn_field_row suggest_rows[] = {
    KN_ANSWER_ROW,
    KN_VALUE("column", KN_F_TEXT, "the column that hierarchies were built for"),
    KN_VALUE_OF("suggestions", KN_F_LIST, &suggestion_part, "ways to build one, the least loss first"),
    KN_NOTES_ROW,
};
const kn_fields kn_answer_hierarchy_suggest =
    KN_ANSWER(char, "hierarchy-suggest", suggest_rows, NULL, "Which hierarchy of a column loses least?");

kn_status kn_document_hierarchy_suggest(kn_document **out, kn_context *ctx, const kn_suggestions *suggestions,
                                        const char *column, kn_error *err)
{
    kn_document *doc;
    bool         counted = false;
    KN_TRY(kn_document_begin(&doc, ctx, &kn_answer_hierarchy_suggest, err));
    kn_put_text(kn_document_top(doc), "column", column);
    kn_to list = kn_put_list(kn_document_top(doc), "suggestions");
    for (int i = 0; i < suggestions->count; i++) {
        kn_append_struct(list, &suggestions->list[i]);
        counted |= suggestions->list[i].counted;
    }
    if (counted)
        kn_put_note(
            doc, "groups by frequency depend on how many rows have a value: the labels of a release reveal something "
                 "of that");
    return kn_document_end(out, doc, err);
}
