/* database/rows.c: kn_database_release.h.
 *
 * A released row is a slot of the plan (a node of a class in one of its members). Per row 12 bytes are held: its slot, its
 * node, and its parent's number; while they are made 4 more. Cost: one pass over the plan.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_database_release.h"

#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_tuple.h"
#include "kn_value.h"

#define WHAT "making released rows"

enum { MANY_VALUES = 1 << 10 }; /* fewer stay in the processor's own memory */

typedef struct table_rows {
    uint32_t *slot;   /* of the plan's rows  */
    uint32_t *node;   /* of the plan's nodes */
    uint32_t *parent; /* NULL for the table of persons */
} table_rows;

struct kn_database_release {
    kn_context             *ctx;
    kn_arena                arena; /* of the arrays */
    const kn_database_plan *plan;
    table_rows             *tables;
    kn_release_rows        *shapes;
    kn_database_rows        rows;
};

/* ---- Cells ---- */

/* The hierarchy node that a quasi-identifier shows. */
static uint32_t shown_node(const kn_database_release *r, int table, int q, int64_t row)
{
    return r->plan->values[(uint64_t)r->tables[table].node[row] * (uint64_t)r->plan->width + (uint64_t)q];
}

/* The text that a quasi-identifier shows of a group; false: it is not generalized, and shows what the row holds, as all members do. */
static bool shows_group(const kn_database_release *r, int table, int column, int64_t row, kn_string *out)
{
    const kn_database_table *t = &r->rows.db->tables[table];
    const kn_hierarchy      *h = t->columns[column].hierarchy;
    if (t->columns[column].role != KN_ROLE_QUASI || !h) return false;
    int q = 0;
    while (t->quasi[q] != column) q++;
    uint32_t node = shown_node(r, table, q, row);
    if (node <= h->leaves) return false;
    *out = kn_hierarchy_text(h, node);
    return true;
}

static bool cell(const void *arg, int table, int column, int64_t row, kn_string *out)
{
    const kn_database_release *r = arg;
    const kn_database_table   *t = &r->rows.db->tables[table];
    int                        labels = t->table->column_count;
    if (column >= labels) return shows_group(r, table, column - labels, row, out);
    const kn_database_column *d = &t->columns[column];
    int                       holder = d->whole >= 0 ? d->whole : column;
    if (shows_group(r, table, holder, row, out)) return !t->columns[holder].label; /* shown there */
    const kn_column *c = &t->table->columns[holder];
    uint32_t         code = kn_column_code(c, kn_database_release_original(r, table, row));
    if (code >= c->dict.count) return false;
    *out = kn_dictionary_text(&c->dict, code);
    if (d->whole >= 0) *out = kn_tuple_part(*out, d->part);
    return true;
}

/* ---- Fetching ---- */

/* A column whose cells are dictionary entries, and many of them. */
static bool is_wide(const kn_database_table *t, int column)
{
    const kn_database_column *d = &t->columns[column];
    return d->has_role && d->role != KN_ROLE_IDENTIFIER && t->table->columns[column].dict.count > MANY_VALUES;
}

/* In steps, each for all rows: what a step looks at was fetched by the one before. */
static void fetch(const void *arg, int table, const int64_t *rows, int count)
{
    const kn_database_release *r = arg;
    const kn_database_table   *t = &r->rows.db->tables[table];
    const table_rows          *at = &r->tables[table];
    uint64_t                   width = (uint64_t)r->plan->width;
    for (int i = 0; i < count; i++) {
        __builtin_prefetch(&at->slot[rows[i]]);
        __builtin_prefetch(&at->node[rows[i]]);
    }
    for (int i = 0; i < count; i++) {
        __builtin_prefetch(&r->plan->rows[at->slot[rows[i]]]);
        __builtin_prefetch(&r->plan->values[at->node[rows[i]] * width]);
    }
    for (int c = 0; c < t->table->column_count; c++) {
        const kn_column *column = &t->table->columns[c];
        if (!is_wide(t, c)) continue;
        for (int i = 0; i < count; i++)
            __builtin_prefetch((const char *)column->codes +
                               (size_t)kn_database_release_original(r, table, rows[i]) * (size_t)column->width);
        for (int i = 0; i < count; i++)
            __builtin_prefetch(
                &column->dict.offsets[kn_column_code(column, kn_database_release_original(r, table, rows[i]))]);
    }
}

/* ---- Labels that mean two things ---- */

/* The line of a label in the hierarchy's file; 0: not known. */
static int64_t line_of(const kn_hierarchy *h, uint32_t node)
{
    for (uint32_t i = 0; i < h->warning_count; i++) {
        const kn_hierarchy_warning *w = &h->warnings[i];
        if (w->node == node) return w->line;
        if (w->other_node == node) return w->other_line;
    }
    return 0;
}

static kn_status two_meanings(const kn_database_table *t, int column, uint32_t node, const char *what, kn_error *err)
{
    const kn_hierarchy *h = t->columns[column].hierarchy;
    int64_t             line = line_of(h, node);
    char                where[300] = "";
    if (line > 0) snprintf(where, sizeof where, " (%.250s:%lld)", h->name, (long long)line);
    return kn_fail(err, KN_INPUT, "table \"%s\", column \"%s\": %s%s; give the label in the hierarchy another name",
                   t->name, t->table->columns[column].name, what, where);
}

/* A label that is a number of the column in another spelling: two spellings of one number would be released. */
static bool respells(const kn_column *c, kn_string label, char decimal)
{
    kn_decimal a, b;
    if ((c->type != KN_TYPE_INTEGER && c->type != KN_TYPE_DECIMAL) || !kn_parse_declared_decimal(label, decimal, &a))
        return false;
    for (uint32_t v = 0; v < c->dict.count; v++) {
        kn_string text = kn_dictionary_text(&c->dict, v);
        if (kn_parse_declared_decimal(text, decimal, &b) && kn_decimal_compare(&a, &b) == 0)
            return !kn_string_equal(label, text);
    }
    return false;
}

static kn_status check_column(kn_context *ctx, const kn_database_table *t, int q, const bool *used, kn_error *err)
{
    const kn_hierarchy *h = t->columns[t->quasi[q]].hierarchy;
    const kn_column    *c = &t->table->columns[t->quasi[q]];
    uint32_t           *first = kn_alloc_array(ctx, (size_t)h->label_count + 1, sizeof *first);
    if (!first) return kn_fail_memory(err, ctx, WHAT);
    memset(first, 0xff, ((size_t)h->label_count + 1) * sizeof *first);
    kn_status st = KN_OK;
    for (uint32_t node = 0; st == KN_OK && node < h->nodes; node++) {
        if (!used[node] || node == h->leaves) continue;
        uint32_t *other = &first[h->label[node]];
        if (*other == UINT32_MAX) *other = node;
        if (h->first[*other] != h->first[node] || h->last[*other] != h->last[node])
            st = two_meanings(t, t->quasi[q], node, "two different groups of values would be written the same", err);
        else if (node > h->leaves &&
                 (respells(c, kn_hierarchy_text(h, node), '.') || respells(c, kn_hierarchy_text(h, node), ',')))
            st = two_meanings(t, t->quasi[q], node, "a label is a number of the data in another spelling", err);
    }
    kn_free(first);
    return st;
}

static kn_status check_labels(const kn_database_release *r, kn_error *err)
{
    const kn_database_plan *plan = r->plan;
    kn_status               st = KN_OK;
    for (int t = 0; t < r->rows.db->table_count; t++) {
        const kn_database_table *table = &r->rows.db->tables[t];
        for (int q = 0; q < table->quasi_count && st == KN_OK; q++) {
            const kn_hierarchy *h = table->columns[table->quasi[q]].hierarchy;
            if (!h) continue;
            bool *used = kn_alloc_array_zero(r->ctx, (size_t)h->nodes + 1, sizeof *used);
            if (!used) return kn_fail_memory(err, r->ctx, WHAT);
            for (uint64_t v = 0; v < plan->node_start[plan->classes]; v++)
                if (plan->table[v] == t) used[plan->values[v * (uint64_t)plan->width + (uint64_t)q]] = true;
            st = check_column(r->ctx, table, q, used, err);
            kn_free(used);
        }
    }
    return st;
}

/* ---- Rows ---- */

static void count_rows(kn_database_release *r)
{
    const kn_database_plan *plan = r->plan;
    for (uint32_t c = 0; c < plan->classes; c++)
        for (uint64_t v = plan->node_start[c]; v < plan->node_start[c + 1]; v++)
            r->shapes[plan->table[v]].rows += kn_database_plan_size(plan, c);
}

static kn_status reserve(kn_database_release *r, kn_error *err)
{
    const kn_database *db = r->rows.db;
    for (int t = 0; t < db->table_count; t++) {
        size_t n = (size_t)r->shapes[t].rows + 1;
        r->tables[t].slot = kn_arena_array(&r->arena, n, sizeof(uint32_t));
        r->tables[t].node = kn_arena_array(&r->arena, n, sizeof(uint32_t));
        if (t == db->entity) continue;
        r->tables[t].parent = kn_arena_array(&r->arena, n, sizeof(uint32_t));
        r->shapes[t].parent = r->tables[t].parent;
    }
    return r->arena.failed ? kn_fail_memory(err, r->ctx, WHAT) : KN_OK;
}

/* `numbers` holds one member's nodes, `next` one per table: the row that comes next. */
static void place_rows(kn_database_release *r, uint32_t *numbers, uint32_t *next)
{
    const kn_database_plan *plan = r->plan;
    uint64_t                slot = 0;
    for (uint32_t c = 0; c < plan->classes; c++) {
        uint32_t nodes = kn_database_plan_nodes(plan, c);
        for (int64_t m = 0; m < kn_database_plan_size(plan, c); m++)
            for (uint32_t v = 0; v < nodes; v++, slot++) {
                uint64_t    node = plan->node_start[c] + v;
                uint16_t    t = plan->table[node];
                table_rows *rows = &r->tables[t];
                numbers[v] = next[t]++;
                rows->slot[numbers[v]] = (uint32_t)slot;
                rows->node[numbers[v]] = (uint32_t)node; /* no class without members: not more than rows */
                if (rows->parent) rows->parent[numbers[v]] = numbers[plan->parent[node]];
            }
    }
}

static kn_status place(kn_database_release *r, kn_error *err)
{
    const kn_database_plan *plan = r->plan;
    uint32_t                most = 0;
    for (uint32_t c = 0; c < plan->classes; c++)
        if (kn_database_plan_nodes(plan, c) > most) most = kn_database_plan_nodes(plan, c);
    uint32_t *numbers = kn_arena_array(&r->arena, (size_t)most + 1, sizeof *numbers);
    uint32_t *next = kn_arena_array_zero(&r->arena, (size_t)r->rows.db->table_count, sizeof *next);
    if (r->arena.failed) return kn_fail_memory(err, r->ctx, WHAT);
    place_rows(r, numbers, next);
    return KN_OK;
}

kn_status kn_database_release_make(kn_database_release **out, kn_context *ctx, const kn_database *db,
                                   const kn_database_plan *plan, uint64_t seed, kn_error *err)
{
    *out = NULL;
    if (plan->row_start[plan->classes] > UINT32_MAX)
        return kn_fail(err, KN_INPUT, "the release would have more than 4,294,967,295 rows");
    kn_database_release *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, ctx, WHAT);
    r->ctx = ctx;
    r->plan = plan;
    kn_arena_init(&r->arena, ctx);
    r->tables = kn_arena_array_zero(&r->arena, (size_t)db->table_count, sizeof *r->tables);
    r->shapes = kn_arena_array_zero(&r->arena, (size_t)db->table_count, sizeof *r->shapes);
    r->rows = (kn_database_rows){.db = db, .tables = r->shapes, .cell = cell, .arg = r, .seed = seed, .fetch = fetch};
    kn_status st = r->arena.failed ? kn_fail_memory(err, ctx, WHAT) : KN_OK;
    if (st == KN_OK) {
        count_rows(r);
        st = reserve(r, err);
    }
    if (st == KN_OK) st = check_labels(r, err);
    if (st == KN_OK) st = place(r, err);
    if (st == KN_OK)
        *out = r;
    else
        kn_database_release_free(r);
    return st;
}

void kn_database_release_free(kn_database_release *r)
{
    if (!r) return;
    kn_arena_free(&r->arena);
    kn_free(r);
}

const kn_database_rows *kn_database_release_rows(const kn_database_release *r)
{
    return &r->rows;
}

uint32_t kn_database_release_original(const kn_database_release *r, int table, int64_t row)
{
    return r->plan->rows[r->tables[table].slot[row]];
}
