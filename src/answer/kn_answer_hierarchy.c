/* kn_answer_hierarchy.c: a hierarchy that was built, checked or shown, as a document. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "kn_answer.h"
#include "kn_error.h"

#define W kn_hierarchy_warning
static const kn_field_row warning_rows[] = {
    KN_FIELD(W, level, KN_F_LEVEL, "the level of a label that stands for different sets of values"),
    KN_FIELD(W, line, KN_F_COUNT, "where it stands in the file; 0: it is of no file"),
    KN_FIELD(W, column, KN_F_COUNT, "which cell of that line"),
    KN_FIELD(W, other_level, KN_F_LEVEL, "the other level"),
    KN_FIELD(W, other_line, KN_F_COUNT, "where it stands there"),
    KN_FIELD(W, other_column, KN_F_COUNT, "which cell of that line"),
};
static const kn_fields warning_part = KN_FIELDS(W, "warning", warning_rows, NULL);
#undef W

#define LABEL_ROWS                                                                                                     \
    KN_VALUE("label", KN_F_TEXT, "the label"),                                                                         \
        KN_VALUE("leaves", KN_F_COUNT, "how many leaves lie below it; 1: it is one")

static const kn_field_row label_rows[] = {LABEL_ROWS};
static const kn_fields    label_part = KN_FIELDS_PUT("label", label_rows);

static const kn_fields    tree_part;
static const kn_field_row tree_rows[] = {
    LABEL_ROWS,
    KN_VALUE_OF("children", KN_F_LIST | KN_F_OPTIONAL, &tree_part, "the labels below it; absent of a leaf"),
};
static const kn_fields tree_part = KN_FIELDS_PUT("tree", tree_rows);

/* The rows of every action; `optional`: for a check, which may fail before they are known. */
#define SUMMARY_ROWS(optional)                                                                                         \
    KN_VALUE("hierarchy", KN_F_TEXT, "the file"), KN_VALUE("levels", KN_F_COUNT | (optional), "levels, with level 0"), \
        KN_VALUE("leaves", KN_F_COUNT | (optional), "leaves, bound to a value or not"),                                \
        KN_VALUE("nodes", KN_F_COUNT | (optional), "leaves, groups and root"),                                         \
        KN_VALUE("balanced", KN_F_BOOLEAN | (optional), "whether every leaf is equally far from the root"),            \
        KN_VALUE("level_sizes", KN_F_COUNTS | (optional), "how many nodes stand on each level")

#define WARNINGS_ROW(optional)                                                                                         \
    KN_VALUE_OF("warnings", KN_F_LIST | (optional), &warning_part, "labels that stand for different sets of values")

static const kn_field_row build_rows[] = {KN_ANSWER_ROW, SUMMARY_ROWS(0), WARNINGS_ROW(0), KN_NOTES_ROW};
const kn_fields           kn_answer_hierarchy_build =
    KN_ANSWER(char, "hierarchy-build", build_rows, NULL, "What is the hierarchy that was built?");

static const kn_field_row check_rows[] = {
    KN_ANSWER_ROW,
    SUMMARY_ROWS(KN_F_OPTIONAL),
    KN_VALUE("valid", KN_F_BOOLEAN, "whether it is a tree that has a leaf for every value"),
    KN_VALUE("data_column", KN_F_TEXT | KN_F_OPTIONAL, "with --data: the column whose values were looked up"),
    KN_VALUE("data_values", KN_F_COUNT | KN_F_OPTIONAL, "different values of that column"),
    KN_VALUE("data_missing", KN_F_ROWS | KN_F_OPTIONAL, "rows in which it is missing"),
    KN_VALUE("error", KN_F_TEXT | KN_F_OPTIONAL, "if it is not valid: why"),
    KN_VALUE("line", KN_F_COUNT | KN_F_OPTIONAL, "where, in the file; 0: unknown"),
    KN_VALUE("column", KN_F_COUNT | KN_F_OPTIONAL, "where, in the line; 0: unknown"),
    WARNINGS_ROW(KN_F_OPTIONAL),
    KN_NOTES_ROW,
};
const kn_fields kn_answer_hierarchy_check =
    KN_ANSWER(char, "hierarchy-check", check_rows, NULL, "Is a hierarchy a tree, and does every value have a leaf?");

static const kn_field_row show_rows[] = {
    KN_ANSWER_ROW,
    SUMMARY_ROWS(0),
    KN_VALUE("level_largest", KN_F_COUNTS, "the most leaves below one node of each level"),
    KN_VALUE("level", KN_F_LEVEL | KN_F_OPTIONAL, "with --level: the level that is shown"),
    KN_VALUE_OF("labels", KN_F_LIST | KN_F_OPTIONAL, &label_part, "with --level: the labels on it"),
    KN_VALUE_OF("tree", KN_F_OBJECT | KN_F_OPTIONAL, &tree_part,
                "the whole tree, from its root; with --tree or where it is small"),
    WARNINGS_ROW(0),
    KN_NOTES_ROW,
};
const kn_fields kn_answer_hierarchy_show =
    KN_ANSWER(char, "hierarchy-show", show_rows, NULL, "What stands on the levels of a hierarchy?");

static void put_summary(kn_document *doc, const kn_hierarchy *h, const char *path)
{
    kn_to to = kn_document_top(doc);
    kn_put_text(to, "hierarchy", path);
    if (!h) return;
    kn_put_integer(to, "levels", kn_hierarchy_levels(h));
    kn_put_integer(to, "leaves", kn_hierarchy_leaves(h));
    kn_put_integer(to, "nodes", kn_hierarchy_nodes(h));
    kn_put_boolean(to, "balanced", kn_hierarchy_balanced(h));
    kn_to sizes = kn_put_list(to, "level_sizes"), warnings = kn_put_list(to, "warnings");
    for (int level = 0; level < kn_hierarchy_levels(h); level++)
        kn_append_integer(sizes, kn_hierarchy_level_size(h, level));
    for (uint32_t i = 0; i < kn_hierarchy_warnings(h); i++) kn_append_struct(warnings, kn_hierarchy_warning_at(h, i));
}

static void note_warnings(kn_document *doc, const kn_hierarchy *h, const char *name)
{
    for (uint32_t i = 0; i < kn_hierarchy_warnings(h); i++) {
        const kn_hierarchy_warning *w = kn_hierarchy_warning_at(h, i);
        char                        place[64] = "", other[64] = "";
        if (w->line > 0) snprintf(place, sizeof place, ":%" PRId64 ":%" PRId64, w->line, w->column);
        if (w->other_line > 0)
            snprintf(other, sizeof other, " (line %" PRId64 ", column %" PRId64 ")", w->other_line, w->other_column);
        kn_put_note(doc, "%s%s: a label covers other values on level %d than on level %d%s", name, place, w->level,
                    w->other_level, other);
    }
}

kn_status kn_document_hierarchy_build(kn_document **out, kn_context *ctx, const kn_hierarchy *hierarchy,
                                      const char *path, const char *name, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_document_begin(&doc, ctx, &kn_answer_hierarchy_build, err));
    put_summary(doc, hierarchy, path);
    note_warnings(doc, hierarchy, name);
    return kn_document_end(out, doc, err);
}

kn_status kn_document_hierarchy_check(kn_document **out, kn_context *ctx, const kn_hierarchy *hierarchy,
                                      const char *path, const kn_table *table, const kn_error *failure, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_document_begin(&doc, ctx, &kn_answer_hierarchy_check, err));
    kn_to to = kn_document_top(doc);
    put_summary(doc, failure ? NULL : hierarchy, path);
    kn_put_boolean(to, "valid", !failure);
    if (failure) {
        kn_put_text(to, "error", failure->message);
        kn_put_integer(to, "line", failure->line);
        kn_put_integer(to, "column", failure->column);
        return kn_document_end(out, doc, err);
    }
    if (table) {
        kn_put_text(to, "data_column", kn_table_name(table, 0));
        kn_put_integer(to, "data_values", kn_table_distinct(table, 0));
        kn_put_integer(to, "data_missing", kn_table_missing(table, 0));
    }
    note_warnings(doc, hierarchy, path);
    return kn_document_end(out, doc, err);
}

static void put_label(kn_to to, const kn_hierarchy *h, uint32_t node)
{
    size_t      length;
    const char *label = kn_hierarchy_label(h, node, &length);
    kn_put_bytes(to, "label", label, length);
    kn_put_integer(to, "leaves", kn_hierarchy_cover(h, node));
}

static void put_tree(kn_to to, const kn_hierarchy *h, uint32_t node)
{
    uint32_t child = kn_hierarchy_child(h, node);
    put_label(to, h, node);
    if (child == KN_NODE_NONE) return;
    kn_to children = kn_put_list(to, "children");
    for (; child != KN_NODE_NONE; child = kn_hierarchy_sibling(h, child))
        put_tree(kn_append_object(children), h, child);
}

static uint32_t largest_cover(const kn_hierarchy *h, int level)
{
    uint32_t largest = 0;
    for (uint32_t n = kn_hierarchy_level_first(h, level); n != KN_NODE_NONE; n = kn_hierarchy_level_next(h, level, n))
        if (kn_hierarchy_cover(h, n) > largest) largest = kn_hierarchy_cover(h, n);
    return largest;
}

kn_status kn_document_hierarchy_show(kn_document **out, kn_context *ctx, const kn_hierarchy *h, const char *path,
                                     int level, bool tree, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_document_begin(&doc, ctx, &kn_answer_hierarchy_show, err));
    kn_to to = kn_document_top(doc);
    put_summary(doc, h, path);
    kn_to largest = kn_put_list(to, "level_largest");
    for (int l = 0; l < kn_hierarchy_levels(h); l++) kn_append_integer(largest, largest_cover(h, l));
    if (level >= 0) {
        kn_to labels = kn_put_list(to, "labels");
        kn_put_integer(to, "level", level);
        for (uint32_t n = kn_hierarchy_level_first(h, level); n != KN_NODE_NONE;
             n = kn_hierarchy_level_next(h, level, n))
            put_label(kn_append_object(labels), h, n);
    } else if (tree) {
        put_tree(kn_put_object(to, "tree"), h, kn_hierarchy_root(h));
    }
    note_warnings(doc, h, path);
    return kn_document_end(out, doc, err);
}
