/* kn_studio_hierarchy.c: questions about hierarchies: the tree of one, as it is in the release file or as it would be, with the
 * rows below each label, and what a reader of a release could not tell apart (kn_studio_question.h).
 *
 * A tree of more than MOST_LEAVES values is cut to the labels of its levels. Rows are counted by the spelling of values.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_studio_question.h"

enum { MOST_LEAVES = 2000, MOST_LABELS = 60, MOST_WARNINGS = 20 };

typedef struct counted {
    const kn_table     *table;
    int                 column;
    const kn_hierarchy *hierarchy;
    json_t             *rows; /* value -> rows */
} counted;

/* ---- Which hierarchy ---- */

/* What the question says the column should have: a rule in the release file's notation, with the text of its file. */
static kn_status set_rule(kn_studio_question *q, const char *column, const json_t *rule, kn_error *err)
{
    static const char place[] = "memory:groups";
    const char       *file = kn_studio_text(q, "file");
    json_t   *said = file ? json_pack("{s:{s:s}}", "hierarchy", "file", place) : json_pack("{s:O}", "hierarchy", rule);
    char     *text = said ? json_dumps(said, JSON_COMPACT) : NULL;
    kn_status st = file ? kn_memory_put(q->ctx, place, file, strlen(file), err) : KN_OK;
    if (!text && st == KN_OK) st = kn_studio_error(err, KN_MEMORY, "out of memory while looking at a hierarchy");
    if (st == KN_OK) st = kn_spec_set_attribute(q->spec, column, text, "hierarchy", err);
    json_decref(said);
    free(text);
    return st;
}

/* Groups that are made of the values: {"by": "order", "fan_out": 4, "rows": 0}. */
static kn_status group_values(kn_hierarchy_spec *out, const json_t *groups, kn_error *err)
{
    const char *by = json_string_value(json_object_get(groups, "by"));
    json_int_t  fan_out = json_integer_value(json_object_get(groups, "fan_out"));
    out->kind = KN_HIERARCHY_GROUPS;
    out->fan_out = fan_out > 0 && fan_out < 1000000 ? (int)fan_out : 0;
    out->group_rows = json_integer_value(json_object_get(groups, "rows"));
    for (int i = 0; i < KN_GROUP_BYS; i++)
        if (by && strcmp(by, kn_group_by_name((kn_group_by)i)) == 0) {
            out->group_by = (kn_group_by)i;
            return KN_OK;
        }
    return kn_studio_error(err, KN_USAGE, "values are grouped by order, frequency or prefix");
}

static kn_status make(kn_hierarchy **out, kn_studio_question *q, const char *column, int of, kn_error *err)
{
    const json_t *rule = json_object_get(q->job->params, "rule"), *groups = json_object_get(q->job->params, "groups");
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    kn_status         st = KN_OK;
    if (groups) {
        st = group_values(&spec, groups, err);
        return st == KN_OK ? kn_hierarchy_make(out, q->ctx, q->table->table, of, &spec, true, err) : st;
    }
    if (rule || kn_studio_text(q, "file")) st = set_rule(q, column, rule, err);
    if (st != KN_OK) return st;
    const kn_attribute *a = kn_spec_attribute_at(q->spec, kn_spec_find(q->spec, column));
    if (!a->has_hierarchy) {
        spec.kind = KN_HIERARCHY_SUPPRESS; /* as a method that needs one takes it */
        return kn_hierarchy_make(out, q->ctx, q->table->table, of, &spec, true, err);
    }
    return kn_hierarchy_make(out, q->ctx, q->table->table, of, kn_attribute_hierarchy(a), true, err);
}

/* ---- Its rows ---- */

static kn_status count_rows(counted *c, const volatile bool *stop, kn_error *err)
{
    uint32_t distinct = kn_table_distinct(c->table, c->column);
    int64_t *rows = calloc((size_t)distinct + 1, sizeof *rows);
    if (!rows) return kn_studio_error(err, KN_MEMORY, "out of memory while counting values");
    for (int64_t r = 0; r < kn_table_rows(c->table) && !*stop; r++)
        rows[kn_table_code(c->table, c->column, r)] += kn_table_count(c->table, r);
    for (uint32_t code = 0; code < distinct; code++) {
        size_t      length = 0;
        const char *text = kn_table_text(c->table, c->column, code, &length);
        if (text) (void)json_object_setn_new(c->rows, text, length, json_integer(rows[code]));
    }
    free(rows);
    return *stop ? kn_studio_error(err, KN_CANCELLED, "cancelled") : KN_OK;
}

static json_t *label_json(const counted *c, uint32_t node)
{
    size_t      length = 0;
    const char *text = kn_hierarchy_label(c->hierarchy, node, &length);
    return json_stringn(text, length);
}

/* The rows below a node. */
static int64_t rows_below(const counted *c, uint32_t node)
{
    uint32_t child = kn_hierarchy_child(c->hierarchy, node);
    int64_t  rows = 0;
    if (child == KN_NODE_NONE) {
        size_t      length = 0;
        const char *text = kn_hierarchy_label(c->hierarchy, node, &length);
        return json_integer_value(json_object_getn(c->rows, text, length));
    }
    for (; child != KN_NODE_NONE; child = kn_hierarchy_sibling(c->hierarchy, child)) rows += rows_below(c, child);
    return rows;
}

/* ---- The answer ---- */

static json_t *node_json(const counted *c, uint32_t node, bool deep)
{
    uint32_t child = deep ? kn_hierarchy_child(c->hierarchy, node) : KN_NODE_NONE;
    json_t  *out =
        json_pack("{s:o, s:I, s:I}", "label", label_json(c, node), "leaves",
                  (json_int_t)kn_hierarchy_cover(c->hierarchy, node), "rows", (json_int_t)rows_below(c, node));
    json_t *children = child == KN_NODE_NONE ? NULL : json_array();
    for (; child != KN_NODE_NONE; child = kn_hierarchy_sibling(c->hierarchy, child))
        json_array_append_new(children, node_json(c, child, true));
    if (children) json_object_set_new(out, "children", children);
    return out;
}

static json_t *levels_json(const counted *c, bool labels)
{
    json_t *levels = json_array();
    for (int level = 0; level < kn_hierarchy_levels(c->hierarchy); level++) {
        json_t  *some = json_array();
        uint32_t node = kn_hierarchy_level_first(c->hierarchy, level);
        for (int i = 0; labels && i < MOST_LABELS && node != KN_NODE_NONE; i++) {
            json_array_append_new(some, node_json(c, node, false));
            node = kn_hierarchy_level_next(c->hierarchy, level, node);
        }
        json_t *one = json_pack("{s:I}", "labels", (json_int_t)kn_hierarchy_level_size(c->hierarchy, level));
        if (labels) json_object_set(one, "some", some);
        json_decref(some);
        json_array_append_new(levels, one);
    }
    return levels;
}

static json_t *warnings_json(const counted *c)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < kn_hierarchy_warnings(c->hierarchy) && i < MOST_WARNINGS; i++) {
        const kn_hierarchy_warning *w = kn_hierarchy_warning_at(c->hierarchy, i);
        json_array_append_new(list, json_pack("{s:o, s:i, s:i, s:I, s:I}", "label", label_json(c, w->node), "level",
                                              w->level, "other_level", w->other_level, "line", (json_int_t)w->line,
                                              "other_line", (json_int_t)w->other_line));
    }
    return list;
}

kn_status kn_studio_answer_hierarchy(kn_studio_question *q, kn_error *err)
{
    const char   *column = kn_studio_text(q, "column");
    kn_hierarchy *made = NULL;
    kn_status     st = kn_studio_need_table(q, err);
    if (st != KN_OK) return st;
    int of = column ? kn_table_find(q->table->table, column) : -1;
    if (of < 0 || kn_spec_find(q->spec, column) < 0) return kn_studio_error(err, KN_USAGE, "there is no such column");
    counted c = {q->table->table, of, NULL, json_object()};
    st = make(&made, q, column, of, err);
    if (st == KN_OK) st = count_rows(&c, &q->job->stop, err);
    if (st == KN_OK) {
        c.hierarchy = made;
        bool tree = kn_hierarchy_leaves(made) <= MOST_LEAVES;
        q->own =
            json_pack("{s:I, s:b, s:o, s:o}", "leaves", (json_int_t)kn_hierarchy_leaves(made), "balanced",
                      kn_hierarchy_balanced(made), "levels", levels_json(&c, !tree), "warnings", warnings_json(&c));
        if (tree) json_object_set_new(q->own, "tree", node_json(&c, kn_hierarchy_root(made), true));
    }
    json_decref(c.rows);
    kn_hierarchy_free(made);
    return st;
}

kn_status kn_studio_answer_suggest(kn_studio_question *q, kn_error *err)
{
    const char     *column = kn_studio_text(q, "column");
    kn_suggestions *found = NULL;
    if (!column) return kn_studio_error(err, KN_USAGE, "there is no such column");
    kn_status st = kn_hierarchy_suggest(&found, q->ctx, q->spec, column, err);
    if (st == KN_OK) st = kn_document_hierarchy_suggest(&q->doc, q->ctx, found, column, err);
    kn_suggestions_free(found);
    return st;
}
