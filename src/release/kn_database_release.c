/* kn_database_release.c: kn_database_release.h.
 *
 * A released row is a slot of the plan (a node of a class in one of its members). Per row 12 bytes are held: its slot, its
 * class, and its parent's number; while they are made 4 more. Cost: one pass over the plan.
 */
#include "kn_database_release.h"

#include "kn_alloc.h"
#include "kn_error.h"

typedef struct table_rows {
    uint32_t *slot; /* of the plan's rows */
    uint32_t *class_of;
    uint32_t *parent; /* NULL for the table of persons */
} table_rows;

struct kn_database_release {
    kn_context             *ctx;
    const kn_database_plan *plan;
    table_rows             *tables;
    kn_release_rows        *shapes;
    kn_database_rows        rows;
};

static kn_status no_memory(kn_context *ctx, kn_error *err)
{
    return kn_fail_memory(err, ctx, "making released rows");
}

/* ---- Cells ---- */

/* The hierarchy node that a quasi-identifier shows. */
static uint32_t shown_node(const kn_database_release *r, int table, int q, int64_t row)
{
    const kn_database_plan *plan = r->plan;
    uint32_t                c = r->tables[table].class_of[row];
    uint64_t                v = (r->tables[table].slot[row] - plan->row_start[c]) % kn_database_plan_nodes(plan, c);
    return plan->values[(plan->node_start[c] + v) * (uint64_t)plan->width + (uint64_t)q];
}

static bool cell(const void *arg, int table, int column, int64_t row, kn_string *out)
{
    const kn_database_release *r = arg;
    const kn_database_table   *t = &r->rows.db->tables[table];
    const kn_column           *c = &t->table->columns[column];
    const kn_hierarchy        *h = t->columns[column].hierarchy;
    if (t->columns[column].role == KN_ROLE_QUASI && h) {
        int q = 0;
        while (t->quasi[q] != column) q++;
        uint32_t node = shown_node(r, table, q, row);
        if (node > h->leaves) { /* a group; a leaf shows what the row holds, all members the same */
            *out = kn_hierarchy_text(h, node);
            return true;
        }
    }
    uint32_t code = kn_column_code(c, kn_database_release_original(r, table, row));
    if (code >= c->dict.count) return false;
    *out = kn_dictionary_text(&c->dict, code);
    return true;
}

/* ---- Rows ---- */

static void count_rows(kn_database_release *r)
{
    const kn_database_plan *plan = r->plan;
    for (uint32_t c = 0; c < plan->classes; c++)
        for (uint64_t v = plan->node_start[c]; v < plan->node_start[c + 1]; v++)
            r->shapes[plan->table[v]].rows += kn_database_plan_size(plan, c);
}

static kn_status make_room(kn_database_release *r, kn_error *err)
{
    const kn_database *db = r->rows.db;
    for (int t = 0; t < db->table_count; t++) {
        size_t n = (size_t)r->shapes[t].rows + 1;
        r->tables[t].slot = kn_alloc_array(r->ctx, n, sizeof(uint32_t));
        r->tables[t].class_of = kn_alloc_array(r->ctx, n, sizeof(uint32_t));
        if (!r->tables[t].slot || !r->tables[t].class_of) return no_memory(r->ctx, err);
        if (t == db->entity) continue;
        r->tables[t].parent = kn_alloc_array(r->ctx, n, sizeof(uint32_t));
        if (!r->tables[t].parent) return no_memory(r->ctx, err);
        r->shapes[t].parent = r->tables[t].parent;
    }
    return KN_OK;
}

/* `numbers` has room for one member's nodes, `next` one per table: the row that comes next. */
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
                rows->class_of[numbers[v]] = c;
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
    uint32_t *numbers = kn_alloc_array(r->ctx, (size_t)most + 1, sizeof *numbers);
    uint32_t *next = kn_alloc_array_zero(r->ctx, (size_t)r->rows.db->table_count, sizeof *next);
    bool      ok = numbers && next;
    if (ok) place_rows(r, numbers, next);
    kn_free(numbers);
    kn_free(next);
    return ok ? KN_OK : no_memory(r->ctx, err);
}

kn_status kn_database_release_make(kn_database_release **out, kn_context *ctx, const kn_database *db,
                                   const kn_database_plan *plan, uint64_t seed, kn_error *err)
{
    *out = NULL;
    if (plan->row_start[plan->classes] > UINT32_MAX)
        return kn_fail(err, KN_INPUT, "the release would have more than 4,294,967,295 rows");
    kn_database_release *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return no_memory(ctx, err);
    r->ctx = ctx;
    r->plan = plan;
    r->tables = kn_alloc_array_zero(ctx, (size_t)db->table_count, sizeof *r->tables);
    r->shapes = kn_alloc_array_zero(ctx, (size_t)db->table_count, sizeof *r->shapes);
    r->rows = (kn_database_rows){.db = db, .tables = r->shapes, .cell = cell, .arg = r, .seed = seed};
    kn_status st = r->tables && r->shapes ? KN_OK : no_memory(ctx, err);
    if (st == KN_OK) {
        count_rows(r);
        st = make_room(r, err);
    }
    if (st == KN_OK) st = place(r, err);
    if (st != KN_OK) {
        kn_database_release_free(r);
        return st;
    }
    *out = r;
    return KN_OK;
}

void kn_database_release_free(kn_database_release *r)
{
    if (!r) return;
    for (int t = 0; r->tables && t < r->rows.db->table_count; t++) {
        kn_free(r->tables[t].slot);
        kn_free(r->tables[t].class_of);
        kn_free(r->tables[t].parent);
    }
    kn_free(r->tables);
    kn_free(r->shapes);
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
