/* kn_answer_dependencies.c: dependencies between columns, checked, discovered and reduced, as a document. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_answer.h"
#include "kn_error.h"
#include "kn_options.h"

#define S kn_dependency_check
static const kn_field_row check_rows[] = {
    KN_VALUE("dependency", KN_F_TEXT, "the dependency, as it is written"),
    KN_VALUE_WORDS("kind", kn_dependency_kind_name, KN_DEPENDENCY_MULTISET, 0,
                   "'functional', 'multivalued' or 'multiset'"),
    KN_VALUE("k", KN_F_COUNT | KN_F_OPTIONAL, "of a multiset dependency: how often each right side must occur"),
    KN_VALUE("left", KN_F_TEXTS, "the columns on its left side"),
    KN_VALUE("right", KN_F_TEXTS, "the columns on its right side"),
    KN_FIELD(S, holds, KN_F_BOOLEAN, "whether it holds in the table"),
    KN_FIELD(S, groups, KN_F_COUNT, "groups of rows with equal left sides"),
    KN_FIELD(S, violating_groups, KN_F_COUNT, "groups in which it does not hold"),
    KN_FIELD(S, violating_rows, KN_F_ROWS, "rows in them"),
    KN_VALUE("spurious", KN_F_ROWS | KN_F_OPTIONAL,
             "of a multivalued dependency: rows that joining the two parts would add"),
    KN_VALUE("exceptions", KN_F_ROWS | KN_F_OPTIONAL, "the fewest rows without which it would hold"),
    KN_VALUE("error", KN_F_SHARE | KN_F_OPTIONAL, "the same, of all rows"),
};
#undef S
static const kn_fields check_part = KN_FIELDS(kn_dependency_check, "check", check_rows, NULL);

static const kn_field_row found_rows[] = {
    KN_VALUE("left", KN_F_TEXTS, "the columns on its left side; none: the right side is constant"),
    KN_VALUE("right", KN_F_TEXT, "the column on its right side"),
    KN_VALUE("dependency", KN_F_TEXT | KN_F_OPTIONAL, "the dependency, as it is written; absent of a constant"),
    KN_FIELD_AS(kn_found_dependency, removed, "exceptions", KN_F_ROWS, "the fewest rows without which it would hold"),
    KN_VALUE("error", KN_F_SHARE, "the same, of all rows"),
};
static const kn_fields found_part = KN_FIELDS(kn_found_dependency, "found", found_rows, NULL);

#define S kn_discovery
static const kn_field_row counter_rows[] = {
    KN_FIELD(S, checked, KN_F_COUNT, "candidates that were held against the table"),
    KN_FIELD(S, refuted, KN_F_COUNT, "those of them that do not hold"),
    KN_FIELD(S, agree_sets, KN_F_COUNT, "different sets of columns in which two rows were seen to agree"),
    KN_FIELD(S, rounds, KN_F_COUNT, "times that candidates were made and checked"),
};
static const kn_fields counter_part = KN_FIELDS(S, "counters", counter_rows, NULL);

static const kn_field_row discovery_rows[] = {
    KN_FIELD_AS(S, combinations, "different_rows", KN_F_ROWS, "different rows of the table"),
    KN_FIELD_AS(S, budget, "exceptions_allowed", KN_F_ROWS, "how many rows may be exceptions"),
    KN_FIELD(S, complete, KN_F_BOOLEAN, "whether these are all there are"),
    KN_FIELD(S, why_partial, KN_F_TEXT | KN_F_NULLABLE, "if not: what cut the search short"),
    KN_FIELD(S, complete_left, KN_F_COLUMNS, "all that have at most so many columns on the left are listed"),
    KN_FIELD(S, seconds, KN_F_SECONDS, "how long it took, without reading the table"),
    KN_VALUE_OF("processor", KN_F_OBJECT, &kn_effort_part, "how many processors can be of use to it"),
    KN_VALUE_OF("found", KN_F_LIST, &found_part, "minimal dependencies, one per right side"),
    KN_VALUE("dependencies", KN_F_TEXTS, "the same without constants, as they are written, one per left side"),
    KN_VALUE_OF("counters", KN_F_OBJECT, &counter_part, "what the search did"),
};
#undef S
static const kn_fields discovery_part = KN_FIELDS(kn_discovery, "discovery", discovery_rows, NULL);

static const kn_field_row rows[] = {
    KN_ANSWER_ROW,
    KN_VALUE("rows", KN_F_ROWS, "rows of the table"),
    KN_VALUE("columns", KN_F_COLUMNS, "columns of the table"),
    KN_VALUE_OF("checks", KN_F_LIST | KN_F_OPTIONAL, &check_part, "the dependencies that were asked about"),
    KN_VALUE_OF("discovery", KN_F_OBJECT | KN_F_OPTIONAL, &discovery_part, "with --discover: what was found"),
    KN_VALUE("closure", KN_F_TEXTS | KN_F_OPTIONAL,
             "with --closure: the columns that are determined, the given ones first"),
    KN_VALUE("closure_given", KN_F_COLUMNS | KN_F_OPTIONAL, "with --closure: how many of them were given"),
    KN_VALUE("cover", KN_F_TEXTS | KN_F_OPTIONAL, "with --cover: a minimal cover of the functional ones that hold"),
    KN_VALUE("dependencies", KN_F_TEXTS, "what holds, as a release file takes it; with --cover a minimal cover"),
    KN_VALUE("holds", KN_F_BOOLEAN, "whether everything that was asked about holds"),
    KN_NOTES_ROW,
};
const kn_fields kn_answer_dependencies =
    KN_ANSWER(char, "dependencies", rows, NULL, "Which columns of a table determine others?");

static void put_check(kn_to to, const kn_dependency *d, const kn_dependency_check *c)
{
    kn_put_struct(to, c);
    kn_put_text(to, "dependency", d->text);
    kn_put_text(to, "kind", kn_dependency_kind_name(d->kind));
    if (d->kind == KN_DEPENDENCY_MULTISET) kn_put_integer(to, "k", d->k);
    kn_put_texts(to, "left", d->left, d->left_count);
    kn_put_texts(to, "right", d->right, d->right_count);
    if (d->kind == KN_DEPENDENCY_MULTIVALUED) {
        kn_put_integer(to, "spurious", c->spurious);
    } else {
        kn_put_integer(to, "exceptions", c->removed);
        kn_put_number(to, "error", c->error);
    }
}

static kn_status put_found(kn_to to, kn_context *ctx, const kn_discovery *r, const kn_found_dependency *f,
                           const kn_table *table, kn_error *err)
{
    kn_dependency *one = NULL;
    const char    *left[64], *right = kn_table_name(table, f->right);
    kn_put_struct(to, f);
    for (int i = 0; i < f->left_count; i++) left[i] = kn_table_name(table, f->left[i]);
    kn_put_texts(to, "left", left, f->left_count);
    kn_put_text(to, "right", right);
    kn_put_number(to, "error", r->rows > 0 ? (double)f->removed / (double)r->rows : 0);
    if (f->left_count == 0) return KN_OK;
    KN_TRY(kn_dependency_make(&one, ctx, KN_DEPENDENCY_FUNCTIONAL, 0, left, f->left_count, &right, 1, err));
    kn_put_text(to, "dependency", one->text);
    kn_dependency_free(one);
    return KN_OK;
}

static kn_status put_discovery(kn_to to, kn_context *ctx, const kn_dependency_answers *a, const kn_table *table,
                               kn_error *err)
{
    const kn_discovery *r = a->discovery;
    kn_put_struct(to, r);
    kn_put_part(to, "counters", r);
    kn_put_effort(to, "processor", r->work, r->span);
    kn_to list = kn_put_list(to, "found"), texts = kn_put_list(to, "dependencies");
    for (int64_t i = 0; i < r->count; i++) KN_TRY(put_found(kn_append_object(list), ctx, r, &r->found[i], table, err));
    int given = 0;
    for (int i = 0; i < a->given_count; i++) given += a->checks[i].holds;
    for (int i = given; i < a->held_count; i++) kn_append_text(texts, a->held[i]->text);
    return KN_OK;
}

/* Puts the dependencies that hold, as text. */
static void put_held(kn_to to, const kn_dependency_answers *a)
{
    kn_to list = kn_put_list(to, "dependencies");
    for (int i = 0; i < a->held_count; i++)
        if (!a->cover || a->held[i]->kind != KN_DEPENDENCY_FUNCTIONAL) kn_append_text(list, a->held[i]->text);
    if (!a->cover) return;
    kn_to cover = kn_put_list(to, "cover");
    for (int i = 0; i < a->cover->count; i++) {
        kn_append_text(list, a->cover->items[i]->text);
        kn_append_text(cover, a->cover->items[i]->text);
    }
}

kn_status kn_document_dependencies(kn_document **out, kn_context *ctx, const kn_table *table,
                                   const kn_dependency_answers *a, kn_error *err)
{
    kn_document *doc;
    bool         holds = true;
    *out = NULL;
    KN_OPTIONS(kn_dependency_answers, KN_DEPENDENCY_ANSWERS_INIT, a, "answers", err);
    KN_TRY(kn_document_begin(&doc, ctx, &kn_answer_dependencies, err));
    kn_to to = kn_document_top(doc);
    kn_put_integer(to, "rows", kn_table_total(table));
    kn_put_integer(to, "columns", kn_table_columns(table));
    if (a->given_count > 0) {
        kn_to checks = kn_put_list(to, "checks");
        for (int i = 0; i < a->given_count; i++) {
            put_check(kn_append_object(checks), a->given[i], &a->checks[i]);
            holds = holds && a->checks[i].holds;
        }
    }
    if (a->closure) {
        kn_put_texts(to, "closure", a->closure->names, a->closure->count);
        kn_put_integer(to, "closure_given", a->closure_given);
    }
    put_held(to, a);
    kn_put_boolean(to, "holds", holds);
    kn_note_table(doc, table);
    if (a->cover && a->discovery && a->discovery->budget > 0)
        kn_put_note(doc, "what follows from dependencies with exceptions may have more of them");
    kn_status st = a->discovery ? put_discovery(kn_put_object(to, "discovery"), ctx, a, table, err) : KN_OK;
    if (st != KN_OK) {
        kn_document_free(doc);
        return st;
    }
    return kn_document_end(out, doc, err);
}
