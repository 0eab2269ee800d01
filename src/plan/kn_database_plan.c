/* kn_database_plan.c: memory and validation of database plans. See the header for the layout.
 *
 * Cost of validation: the plan's size plus the database's rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_database_plan.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"

kn_status kn_database_plan_create(kn_database_plan **out, kn_context *ctx, int64_t entities, uint32_t classes,
                                  uint64_t nodes, uint64_t rows, int width, kn_error *err)
{
    *out = NULL;
    kn_database_plan *p = kn_alloc_zero(ctx, sizeof *p);
    if (!p) return kn_fail_memory(err, ctx, "making a plan");
    p->ctx = ctx;
    p->entities = entities;
    p->classes = classes;
    p->width = width;
    size_t class_count = (size_t)classes + 1, node_count = nodes ? (size_t)nodes : 1;
    p->class_of_entity = kn_alloc_array_zero(ctx, entities ? (size_t)entities : 1, sizeof *p->class_of_entity);
    p->node_start = kn_alloc_array_zero(ctx, class_count, sizeof *p->node_start);
    p->table = kn_alloc_array_zero(ctx, node_count, sizeof *p->table);
    p->parent = kn_alloc_array_zero(ctx, node_count, sizeof *p->parent);
    p->first_child = kn_alloc_array_zero(ctx, node_count, sizeof *p->first_child);
    p->child_count = kn_alloc_array_zero(ctx, node_count, sizeof *p->child_count);
    p->values = kn_alloc_array_zero(ctx, node_count, sizeof *p->values * (size_t)width);
    p->member_start = kn_alloc_array_zero(ctx, class_count, sizeof *p->member_start);
    p->members = kn_alloc_array_zero(ctx, entities ? (size_t)entities : 1, sizeof *p->members);
    p->row_start = kn_alloc_array_zero(ctx, class_count, sizeof *p->row_start);
    p->rows = kn_alloc_array_zero(ctx, rows ? (size_t)rows : 1, sizeof *p->rows);
    if (!p->class_of_entity || !p->node_start || !p->table || !p->parent || !p->first_child || !p->child_count ||
        !p->values || !p->member_start || !p->members || !p->row_start || !p->rows) {
        kn_database_plan_free(p);
        return kn_fail_memory(err, ctx, "making a plan");
    }
    *out = p;
    return KN_OK;
}

void kn_database_plan_free(kn_database_plan *p)
{
    if (!p) return;
    KN_FREE(p->class_of_entity, p->node_start, p->table, p->parent, p->first_child, p->child_count, p->values,
            p->member_start, p->members, p->row_start, p->rows, p);
}

/* ---- Validation ---- */

static bool no(const char **reason, const char *text)
{
    *reason = text;
    return false;
}

/* Siblings in the order of (table, values, children); equal ones may follow each other. */
static int compare_nodes(const kn_database_plan *p, uint64_t base, uint32_t x, uint32_t y)
{
    uint64_t a = base + x, b = base + y;
    if (p->table[a] != p->table[b]) return p->table[a] < p->table[b] ? -1 : 1;
    for (int q = 0; q < p->width; q++) {
        uint32_t v = p->values[a * (uint64_t)p->width + (uint64_t)q],
                 w = p->values[b * (uint64_t)p->width + (uint64_t)q];
        if (v != w) return v < w ? -1 : 1;
    }
    for (uint32_t i = 0; i < p->child_count[a] && i < p->child_count[b]; i++) {
        int c = compare_nodes(p, base, p->first_child[a] + i, p->first_child[b] + i);
        if (c) return c;
    }
    return p->child_count[a] < p->child_count[b] ? -1 : p->child_count[a] > p->child_count[b];
}

static bool check_node(const kn_database_plan *p, const kn_forest *f, uint64_t base, uint32_t nodes, uint32_t v,
                       uint32_t *next, const char **reason)
{
    uint64_t at = base + v;
    int      t = p->table[at];
    if (t >= f->db->table_count) return no(reason, "a node of no table");
    if (p->first_child[at] != *next || p->child_count[at] > nodes - *next)
        return no(reason, "children are not neighbours, level by level");
    *next += p->child_count[at];
    if (v == 0) {
        if (p->parent[at] != KN_FOREST_NONE || t != f->db->entity) return no(reason, "a root that is no person");
    } else if (p->parent[at] >= v || f->db->tables[t].parent != p->table[base + p->parent[at]]) {
        return no(reason, "a node below a row that is not its parent");
    }
    for (uint32_t i = 0; i < p->child_count[at]; i++) {
        uint32_t c = p->first_child[at] + i;
        if (p->parent[base + c] != v) return no(reason, "a child that has another parent");
    }
    for (int q = 0; q < p->width; q++) {
        uint32_t node = p->values[at * (uint64_t)p->width + (uint64_t)q];
        if (q >= f->db->tables[t].quasi_count) {
            if (node != 0) return no(reason, "a value behind the last quasi-identifier");
        } else if (node >= f->db->tables[t].columns[f->db->tables[t].quasi[q]].hierarchy->nodes) {
            return no(reason, "a value that is no node of its hierarchy");
        }
    }
    return true;
}

static bool check_tree(const kn_database_plan *p, const kn_forest *f, uint32_t c, const char **reason)
{
    uint64_t base = p->node_start[c];
    uint32_t nodes = kn_database_plan_nodes(p, c), next = 1;
    if (nodes == 0) return no(reason, "a class without a tree");
    for (uint32_t v = 0; v < nodes; v++)
        if (!check_node(p, f, base, nodes, v, &next, reason)) return false;
    if (next != nodes) return no(reason, "nodes that are nobody's children");
    for (uint32_t v = 0; v < nodes; v++)
        for (uint32_t i = 1; i < p->child_count[base + v]; i++)
            if (compare_nodes(p, base, p->first_child[base + v] + i - 1, p->first_child[base + v] + i) > 0)
                return no(reason, "siblings out of order");
    return true;
}

/* One member: `node_of_row` finds the forest's node of a (table, row), `used` marks nodes. */
static bool check_member(const kn_database_plan *p, const kn_forest *f, uint32_t c, int64_t m,
                         uint64_t *const *node_of_row, uint8_t *used, const char **reason)
{
    uint64_t        base = p->node_start[c];
    uint32_t        entity = p->members[p->member_start[c] + (uint64_t)m];
    const uint32_t *rows = kn_database_plan_rows(p, c, m);
    uint64_t        begin = f->start[entity];
    for (uint32_t v = 0; v < kn_database_plan_nodes(p, c); v++) {
        const kn_database_table *table = &f->db->tables[p->table[base + v]];
        if ((int64_t)rows[v] >= table->table->rows) return no(reason, "a row that is not there");
        uint64_t node = node_of_row[p->table[base + v]][rows[v]];
        if (node < begin || node >= f->start[entity + 1]) return no(reason, "a row of somebody else");
        if (used[node]) return no(reason, "a row that two nodes stand for");
        used[node] = 1;
        uint32_t up = p->parent[base + v];
        if (up == KN_FOREST_NONE ? f->parent[node] != KN_FOREST_NONE
                                 : f->parent[node] == KN_FOREST_NONE || f->row[begin + f->parent[node]] != rows[up])
            return no(reason, "a row that does not refer to its parent's row");
        for (int q = 0; q < table->quasi_count; q++) {
            const kn_hierarchy *h = table->columns[table->quasi[q]].hierarchy;
            if (!kn_hierarchy_covers(h, p->values[(base + v) * (uint64_t)p->width + (uint64_t)q],
                                     kn_forest_leaf(f, node, q)))
                return no(reason, "a value that does not cover the original");
        }
    }
    return true;
}

static bool check_members(const kn_database_plan *p, const kn_forest *f, uint64_t *const *node_of_row, uint8_t *used,
                          const char **reason)
{
    uint64_t seen = 0;
    for (uint32_t c = 0; c < p->classes; c++) {
        int64_t size = kn_database_plan_size(p, c);
        if (size <= 0) return no(reason, "a class without members");
        if (p->row_start[c + 1] - p->row_start[c] != (uint64_t)size * kn_database_plan_nodes(p, c))
            return no(reason, "a class with rows missing");
        for (int64_t m = 0; m < size; m++) {
            uint32_t entity = p->members[p->member_start[c] + (uint64_t)m];
            if (entity >= (uint64_t)p->entities || p->class_of_entity[entity] != c)
                return no(reason, "a member that is not in the class");
            if (m && entity <= p->members[p->member_start[c] + (uint64_t)m - 1])
                return no(reason, "members out of order");
            if (!check_member(p, f, c, m, node_of_row, used, reason)) return false;
        }
        seen += (uint64_t)size;
    }
    if (seen + (uint64_t)p->suppressed != (uint64_t)p->entities)
        return no(reason, "persons in no class are miscounted");
    for (int64_t e = 0; e < p->entities; e++)
        if (p->class_of_entity[e] >= p->classes && p->class_of_entity[e] != KN_CLASS_SUPPRESSED)
            return no(reason, "a person in a class that is not there");
    return true;
}

bool kn_database_plan_validate(const kn_database_plan *p, const kn_forest *f, const char **reason)
{
    if (p->entities != f->entities) return no(reason, "made for another number of persons");
    if (p->node_start[0] != 0 || p->member_start[0] != 0 || p->row_start[0] != 0) return no(reason, "a wrong start");
    for (uint32_t c = 0; c < p->classes; c++) {
        if (p->node_start[c + 1] < p->node_start[c] || p->member_start[c + 1] < p->member_start[c])
            return no(reason, "classes out of order");
        if (!check_tree(p, f, c, reason)) return false;
    }
    bool       good = false;
    int        tables = f->db->table_count;
    uint8_t   *used = kn_alloc_zero(p->ctx, f->nodes + 1);
    uint64_t **node_of_row = kn_alloc_array_zero(p->ctx, (size_t)tables, sizeof *node_of_row);
    *reason = "out of memory";
    if (!used || !node_of_row) goto out;
    for (int t = 0; t < tables; t++) {
        size_t size = ((size_t)f->db->tables[t].table->rows + 1) * sizeof **node_of_row;
        if (!(node_of_row[t] = kn_alloc(p->ctx, size))) goto out;
        memset(node_of_row[t], 0xff, size);
    }
    for (uint64_t n = 0; n < f->nodes; n++) node_of_row[f->table[n]][f->row[n]] = n;
    good = check_members(p, f, node_of_row, used, reason);
out:
    for (int t = 0; node_of_row && t < tables; t++) kn_free(node_of_row[t]);
    KN_FREE(node_of_row, used);
    return good;
}
