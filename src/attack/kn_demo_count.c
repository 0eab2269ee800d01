/* kn_demo_count.c: for each target all candidates, and what they reveal (kn_demo.h).
 *
 * Most classes are rejected without being examined. If no row is deleted: of all cells that are released in a column,
 * the widest ones (those below no other) never overlap, since nodes of a hierarchy are nested. So each value and each
 * cell lies in one widest cell, that of a cell is that of every value it covers, and a consistent tree has, widest
 * cell for widest cell, the shape of the known one. A hash of that shape, children in any order, chooses the classes
 * that are then matched. Where rows may be deleted, a class with more rows than are known is rejected, and where only some are
 * known one with fewer.
 *
 * What a person shows in a sensitive column is the list of its values in the person's rows, sorted; equal lists have
 * equal numbers.
 *
 * Cost: one pass over the plan; per target (equal trees once) a look at its classes, or, with deletions, at all of
 * them. Memory: per class a hash and a number per sensitive column, and per person a list of values while they are
 * numbered.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_demo.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_interner.h"
#include "kn_parallel.h"
#include "kn_sort.h"

enum { GRAIN = 16 };
#define MIXED UINT32_MAX /* the members of a class do not all show the same */
#define NOTHING 0        /* ... show no row of the table                    */

static const char what[] = "attacking a database";

typedef struct counting {
    kn_context          *ctx;
    const kn_demo_input *in;
    kn_demo_found       *out;
    uint32_t **widest; /* per table and quasi-identifier (table × width + q), per node of its hierarchy: the widest
                                     cell above it, the node itself counted; KN_NODE_NONE: nothing covers it      */
    bool       hashed; /* classes can be chosen by the hash of their shape                             */
    uint32_t  *nodes;  /* per class: nodes of known tables                                             */
    kn_sort_record   *classes; /* by hash                                                                      */
    uint32_t         *shown;   /* per class and sensitive column: its members' list of values, MIXED, NOTHING  */
    uint32_t          most;    /* nodes of any tree                                                            */
    int               workers;
    kn_tree_match     match;
    kn_tree_matcher **matchers;
    uint64_t        **sums; /* per worker: `most` hashes */
    uint32_t        **told; /* per worker: per sensitive column */
} counting;

/* ---- Shapes ---- */

static kn_status find_widest(counting *c, int table, int q, kn_error *err)
{
    const kn_database_plan  *p = c->in->plan;
    const kn_database_table *t = &c->in->forest->db->tables[table];
    const kn_hierarchy      *h = t->columns[t->quasi[q]].hierarchy;
    uint32_t                *widest = kn_alloc_array(c->ctx, (size_t)h->nodes + 1, sizeof *widest);
    if (!widest) return kn_fail_memory(err, c->ctx, what);
    c->widest[(size_t)table * (size_t)p->width + (size_t)q] = widest;
    memset(widest, 0xff, (size_t)h->nodes * sizeof *widest);
    for (uint64_t v = 0; v < p->node_start[p->classes]; v++) {
        if (p->table[v] != table) continue;
        uint32_t cell = p->values[v * (uint64_t)p->width + (uint64_t)q];
        widest[cell] = cell;
    }
    for (uint32_t n = h->nodes - 1; n-- > 0;) /* parents have larger numbers */
        if (widest[h->parent[n]] != KN_NODE_NONE) widest[n] = widest[h->parent[n]];
    return KN_OK;
}

/* What a known value and a released cell that covers it have in common. */
static uint32_t hashed_cell(const counting *c, int table, int q, uint64_t node, bool known)
{
    const kn_forest         *f = c->in->forest;
    const kn_database_plan  *p = c->in->plan;
    const kn_database_table *t = &f->db->tables[table];
    const kn_tree_cells     *cells = c->in->cells;
    uint32_t                 cell = known ? 0 : p->values[node * (uint64_t)p->width + (uint64_t)q];
    if (cells && known) return kn_column_code(&t->table->columns[t->quasi[q]], f->row[node]);
    if (cells) return cells->only(cells->arg, table, q, cell);
    return c->widest[(size_t)table * (size_t)p->width + (size_t)q][known ? kn_forest_leaf(f, node, q) : cell];
}

static uint64_t hash_node(const counting *c, int table, uint64_t node, bool known)
{
    const kn_database_table *t = &c->in->forest->db->tables[table];
    uint64_t                 hash = kn_hash_word((uint64_t)table);
    for (int q = 0; q < t->quasi_count; q++)
        hash = kn_hash_mix(hash ^ hashed_cell(c, table, q, node, known), 0x9e3779b97f4a7c15u) + 0xd1342543de82ef95u;
    return hash;
}

/* Parents stand before their children: from behind, each node adds its hash to its parent's sum. */
static uint64_t hash_tree(const counting *c, uint64_t *sums, bool known, uint64_t first, uint32_t nodes)
{
    const uint16_t *tables = (known ? c->in->forest->table : c->in->plan->table) + first;
    const uint32_t *parents = (known ? c->in->forest->parent : c->in->plan->parent) + first;
    memset(sums, 0, (size_t)nodes * sizeof *sums);
    for (uint32_t v = nodes; v-- > 0;) {
        if (tables[v] >= c->in->forest->db->table_count) continue; /* not known */
        uint64_t hash = kn_hash_word(hash_node(c, tables[v], first + v, known) ^ kn_hash_word(sums[v]));
        if (v == 0) return hash;
        sums[parents[v]] += hash;
    }
    return 0;
}

static kn_status order_classes(counting *c, kn_error *err)
{
    const kn_database_plan *p = c->in->plan;
    const kn_database      *db = c->in->forest->db;
    c->classes = kn_alloc_array(c->ctx, (size_t)p->classes + 1, sizeof *c->classes);
    c->nodes = kn_alloc_array_zero(c->ctx, (size_t)p->classes + 1, sizeof *c->nodes);
    c->widest = kn_alloc_array_zero(c->ctx, (size_t)db->table_count * (size_t)p->width + 1, sizeof *c->widest);
    if (!c->classes || !c->nodes || !c->widest) return kn_fail_memory(err, c->ctx, what);
    c->hashed = !c->in->deleted && !c->in->some && (!c->in->cells || c->in->cells->only);
    for (uint32_t i = 0; i < p->classes; i++)
        for (uint64_t v = p->node_start[i]; v < p->node_start[i + 1]; v++) c->nodes[i] += p->table[v] < db->table_count;
    for (int t = 0; t < db->table_count && c->hashed && !c->in->cells; t++)
        for (int q = 0; q < db->tables[t].quasi_count; q++) KN_TRY(find_widest(c, t, q, err));
    for (uint32_t i = 0; i < p->classes; i++)
        c->classes[i] = (kn_sort_record){
            c->hashed ? hash_tree(c, c->sums[0], false, p->node_start[i], kn_database_plan_nodes(p, i)) : 0, i};
    return kn_sort_records(c->ctx, c->classes, p->classes, NULL, NULL, err);
}

/* ---- Sensitive values ---- */

/* The number of what a member shows. */
static kn_status number_list(uint32_t *out, counting *c, kn_interner *lists, uint32_t *codes, kn_demo_sensitive s,
                             uint32_t class_number, int64_t member, kn_error *err)
{
    const kn_database_plan *p = c->in->plan;
    const uint16_t         *tables = p->table + p->node_start[class_number];
    const uint32_t         *rows = kn_database_plan_rows(p, class_number, member);
    const kn_database      *db = c->in->released ? c->in->released : c->in->forest->db;
    int                     table = c->in->released ? c->in->tables[s.table] : s.table;
    const kn_column        *column = &db->tables[table].table->columns[s.column];
    size_t                  count = 0;
    for (uint32_t v = 0; v < kn_database_plan_nodes(p, class_number); v++)
        if (tables[v] == s.table) codes[count++] = kn_column_code(column, rows[v]);
    *out = NOTHING;
    if (count == 0) return KN_OK;
    qsort(codes, count, sizeof *codes, kn_compare_u32);
    *out = kn_intern(lists, (kn_string){(const char *)codes, count * sizeof *codes});
    return *out == KN_ID_FAILED ? kn_fail_memory(err, c->ctx, what) : KN_OK;
}

static kn_status number_lists(counting *c, int which, kn_interner *lists, uint32_t *codes, kn_error *err)
{
    const kn_database_plan *p = c->in->plan;
    for (uint32_t i = 0; i < p->classes; i++) {
        uint32_t *shown = &c->shown[(size_t)i * (size_t)c->in->sensitive_count + (size_t)which], list;
        for (int64_t m = 0; m < kn_database_plan_size(p, i) && (m == 0 || *shown != MIXED); m++) {
            KN_TRY(number_list(&list, c, lists, codes, c->in->sensitive[which], i, m, err));
            *shown = m == 0 || *shown == list ? list : MIXED;
        }
        if (i % 4096 == 0 && kn_cancelled(c->ctx)) return kn_fail_cancelled(err);
    }
    return KN_OK;
}

static kn_status find_shown(counting *c, kn_error *err)
{
    size_t    width = (size_t)c->in->sensitive_count;
    uint32_t *codes = kn_alloc_array(c->ctx, (size_t)c->most + 1, sizeof *codes);
    c->shown = kn_alloc_array_zero(c->ctx, ((size_t)c->in->plan->classes + 1) * (width + 1), sizeof *c->shown);
    kn_status st = codes && c->shown ? KN_OK : kn_fail_memory(err, c->ctx, what);
    for (int s = 0; s < c->in->sensitive_count && st == KN_OK; s++) {
        kn_interner lists;
        kn_interner_init(&lists, c->ctx);
        st = number_lists(c, s, &lists, codes, err);
        kn_interner_free(&lists);
    }
    kn_free(codes);
    return st;
}

/* ---- Targets ---- */

/* The first class with at least this hash. */
static uint32_t find_classes(const counting *c, uint64_t hash)
{
    uint32_t low = 0, high = c->in->plan->classes;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->classes[middle].key < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void tell(const counting *c, uint32_t *told, uint32_t class_number, bool first)
{
    int             width = c->in->sensitive_count;
    const uint32_t *shown = c->shown + (size_t)class_number * (size_t)width;
    for (int s = 0; s < width; s++) told[s] = first || told[s] == shown[s] ? shown[s] : MIXED;
}

static kn_status look_for(counting *c, int64_t target, int worker, kn_error *err)
{
    const kn_forest        *f = c->in->forest;
    const kn_database_plan *p = c->in->plan;
    int64_t                 entity = c->in->targets[target], found = 0;
    uint32_t                nodes = (uint32_t)(f->start[entity + 1] - f->start[entity]);
    uint32_t               *told = c->told[worker];
    uint64_t                hash = c->hashed ? hash_tree(c, c->sums[worker], true, f->start[entity], nodes) : 0;
    for (uint32_t i = find_classes(c, hash); i < p->classes && c->classes[i].key == hash; i++) {
        uint32_t number = (uint32_t)c->classes[i].id;
        bool     is = false;
        if (i % 1024 == 0 && kn_cancelled(c->ctx)) return kn_fail_cancelled(err);
        if (c->in->some ? c->nodes[number] < nodes : c->nodes[number] > nodes) continue;
        KN_TRY(kn_tree_consistent(&is, c->matchers[worker], entity, number, err));
        if (!is) continue;
        tell(c, told, number, found == 0);
        found += kn_database_plan_size(p, number);
    }
    c->out->candidates[target] = found;
    for (int s = 0; s < c->in->sensitive_count; s++)
        c->out->certain[target * c->in->sensitive_count + s] = found > 0 && told[s] != MIXED && told[s] != NOTHING;
    return KN_OK;
}

static kn_status look_for_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    counting        *c = arg;
    const kn_forest *f = c->in->forest;
    const int64_t   *targets = c->in->targets;
    size_t           width = (size_t)c->in->sensitive_count;
    for (int64_t t = begin; t < end; t++) {
        bool again = t > begin && f->subtree[f->start[targets[t]]] == f->subtree[f->start[targets[t - 1]]];
        if (!again) {
            KN_TRY(look_for(c, t, worker, err));
            continue;
        }
        c->out->candidates[t] = c->out->candidates[t - 1];
        memcpy(c->out->certain + (size_t)t * width, c->out->certain + (size_t)(t - 1) * width, width);
    }
    kn_progress_add(c->ctx, (uint64_t)(end - begin));
    return KN_OK;
}

/* ---- All together ---- */

static kn_status make_workers(counting *c, kn_error *err)
{
    const kn_forest        *f = c->in->forest;
    const kn_database_plan *p = c->in->plan;
    for (int64_t e = 0; e < f->entities; e++)
        if (f->start[e + 1] - f->start[e] > c->most) c->most = (uint32_t)(f->start[e + 1] - f->start[e]);
    for (uint32_t i = 0; i < p->classes; i++)
        if (kn_database_plan_nodes(p, i) > c->most) c->most = kn_database_plan_nodes(p, i);
    c->workers = kn_context_threads(c->ctx);
    size_t n = (size_t)c->workers;
    c->matchers = kn_alloc_array_zero(c->ctx, n, sizeof *c->matchers);
    c->sums = kn_alloc_array_zero(c->ctx, n, sizeof *c->sums);
    c->told = kn_alloc_array_zero(c->ctx, n, sizeof *c->told);
    if (!c->matchers || !c->sums || !c->told) return kn_fail_memory(err, c->ctx, what);
    for (size_t i = 0; i < n; i++) {
        KN_TRY(kn_tree_matcher_make(&c->matchers[i], c->ctx, &c->match, err));
        c->sums[i] = kn_alloc_array(c->ctx, (size_t)c->most + 1, sizeof **c->sums);
        c->told[i] = kn_alloc_array_zero(c->ctx, (size_t)c->in->sensitive_count + 1, sizeof **c->told);
        if (!c->sums[i] || !c->told[i]) return kn_fail_memory(err, c->ctx, what);
    }
    return KN_OK;
}

static void free_counting(counting *c)
{
    size_t widest = (size_t)c->in->forest->db->table_count * (size_t)c->in->plan->width;
    for (size_t i = 0; c->widest && i < widest; i++) kn_free(c->widest[i]);
    for (int i = 0; i < c->workers; i++) {
        if (c->matchers) kn_tree_matcher_free(c->matchers[i]);
        if (c->sums) kn_free(c->sums[i]);
        if (c->told) kn_free(c->told[i]);
    }
    KN_FREE(c->matchers, c->sums, c->told, c->widest, c->classes, c->nodes, c->shown);
}

kn_status kn_demo_count(kn_demo_found *out, kn_context *ctx, const kn_demo_input *in, kn_error *err)
{
    counting c = {
        .ctx = ctx, .in = in, .out = out, .match = {in->forest, in->plan, in->deleted, in->some, in->cells, NULL}};
    size_t targets = (size_t)in->target_count + 1;
    *out = (kn_demo_found){kn_alloc_array_zero(ctx, targets, sizeof *out->candidates),
                           kn_alloc_array_zero(ctx, targets * ((size_t)in->sensitive_count + 1), sizeof *out->certain)};
    kn_status st = out->candidates && out->certain ? make_workers(&c, err) : kn_fail_memory(err, ctx, what);
    if (st == KN_OK) st = order_classes(&c, err);
    if (st == KN_OK) st = find_shown(&c, err);
    if (st == KN_OK) {
        kn_progress_begin(ctx, "attacking", "persons", (uint64_t)in->target_count);
        st = kn_parallel_for(ctx, in->target_count, GRAIN, look_for_range, &c, err);
        kn_progress_end(ctx);
    }
    free_counting(&c);
    return st;
}

void kn_demo_found_free(kn_demo_found *found)
{
    KN_FREE(found->candidates, found->certain);
    *found = (kn_demo_found){0};
}
