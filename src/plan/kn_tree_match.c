/* kn_tree_match.c: is a released tree consistent with a known one? (kn_tree_match.h)
 *
 * From the roots down: cells must cover, then the children of each table are matched: a bipartite graph with an edge
 * where two children are consistent, and in it a matching that leaves no released child out (no known one where only some rows are
 * known). It grows by one child at
 * a time along an augmenting path, found breadth first; the edges of a child are computed when needed, so that a
 * child without any ends the search early.
 *
 * Cost: for n and m siblings n × m pairs, and n × edges for the matching. Memory: n × m bits for each level of tables.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_error.h"
#include "kn_tree_match.h"

#define NONE UINT32_MAX

/* What matching children of one level needs; levels below have memory of their own. */
typedef struct level {
    void  *block;
    size_t capacity; /* words */
} level;

struct kn_tree_matcher {
    kn_context             *ctx;
    const kn_tree_match    *in;
    const kn_forest        *forest;
    const kn_database_plan *plan;
    bool                    failed;          /* out of memory */
    uint64_t                known, released; /* the first nodes of the two trees */
    int                     level_count;
    level                  *levels;
};

/* Children of one table, counted from the tree's first node. */
typedef struct siblings {
    uint32_t first, count;
} siblings;

static siblings of_table(const uint16_t *tables, uint32_t first, uint32_t count, int table)
{
    siblings s = {first, 0};
    uint32_t end = first + count;
    while (s.first < end && tables[s.first] != table) s.first++;
    while (s.first + s.count < end && tables[s.first + s.count] == table) s.count++;
    return s;
}

static siblings known_children(const kn_tree_matcher *m, uint32_t node, int table)
{
    const kn_forest *f = m->forest;
    return of_table(f->table + m->known, f->first_child[m->known + node], f->child_count[m->known + node], table);
}

static siblings released_children(const kn_tree_matcher *m, uint32_t node, int table)
{
    const kn_database_plan *p = m->plan;
    uint64_t                at = m->released + node;
    return of_table(p->table + m->released, p->first_child[at], p->child_count[at],
                    m->in->numbers ? m->in->numbers[table] : table);
}

static bool covers(const kn_tree_matcher *m, uint32_t known, uint32_t released)
{
    int                      table = m->forest->table[m->known + known];
    const kn_database_table *t = &m->forest->db->tables[table];
    const uint32_t          *values = m->plan->values + (m->released + released) * (uint64_t)m->plan->width;
    const kn_tree_cells     *cells = m->in->cells;
    for (int q = 0; q < t->quasi_count; q++) {
        uint32_t row = m->forest->row[m->known + known];
        bool     is =
            cells ? cells->covers(cells->arg, table, q, values[q], kn_column_code(&t->table->columns[t->quasi[q]], row))
                      : kn_hierarchy_covers(t->columns[t->quasi[q]].hierarchy, values[q],
                                            kn_forest_leaf(m->forest, m->known + known, q));
        if (!is) return false;
    }
    return true;
}

/* ---- Matching siblings ---- */

typedef struct pairing {
    siblings  places, placed; /* each of the latter gets a place of its own    */
    size_t    words;          /* of a row of edges                                     */
    uint64_t *edges;          /* per placed child: the places it may take              */
    uint32_t *owner;          /* per place: who takes it; NONE                         */
    uint32_t *from;           /* ... from which child this search came to it           */
    uint32_t *seen;           /* ... in which search                                   */
    uint32_t *chosen;         /* per placed child: its place                           */
    uint32_t *queue;          /* placed children                                       */
} pairing;

static bool make_pairing(pairing *p, kn_tree_matcher *m, int depth, siblings places, siblings placed)
{
    level *l = &m->levels[depth];
    *p = (pairing){.places = places, .placed = placed, .words = kn_bitset_words(places.count)};
    size_t edges = p->words * placed.count, need = edges + ((size_t)places.count * 3 + (size_t)placed.count * 2) / 2;
    if (!kn_grow(m->ctx, &l->block, &l->capacity, need + 1, sizeof(uint64_t))) {
        m->failed = true;
        return false;
    }
    p->edges = l->block;
    p->owner = (uint32_t *)(p->edges + edges);
    p->from = p->owner + places.count;
    p->seen = p->from + places.count;
    p->chosen = p->seen + places.count;
    p->queue = p->chosen + placed.count;
    memset(p->edges, 0, edges * sizeof *p->edges);
    memset(p->owner, 0xff, (size_t)places.count * sizeof *p->owner);
    memset(p->seen, 0xff, (size_t)places.count * sizeof *p->seen);
    return true;
}

/* The path that ends at a free place: every child on it takes the place it was led to. */
static void take_path(pairing *p, uint32_t place, uint32_t start)
{
    for (;;) {
        uint32_t child = p->from[place], before = p->chosen[child];
        p->owner[place] = child;
        p->chosen[child] = place;
        if (child == start) return;
        place = before;
    }
}

/* Finds a place for one more child; others may move. */
static bool augment(pairing *p, uint32_t start)
{
    uint32_t head = 0, tail = 0;
    p->queue[tail++] = start;
    while (head < tail) {
        uint32_t        child = p->queue[head++];
        const uint64_t *row = p->edges + child * p->words;
        for (uint32_t place = 0; place < p->places.count; place++) {
            if (p->seen[place] == start || !kn_bitset_test(row, place)) continue;
            p->seen[place] = start;
            p->from[place] = child;
            if (p->owner[place] == NONE) {
                take_path(p, place, start);
                return true;
            }
            p->queue[tail++] = p->owner[place];
        }
    }
    return false;
}

static bool consistent(kn_tree_matcher *m, uint32_t known, uint32_t released, int depth);

static bool pair_up(kn_tree_matcher *m, siblings known, siblings released, int depth)
{
    pairing  p;
    bool     some = m->in->some;
    siblings placed = some ? known : released, places = some ? released : known;
    if (known.count == 1 && released.count == 1) return consistent(m, known.first, released.first, depth + 1);
    if (!make_pairing(&p, m, depth, places, placed)) return false;
    for (uint32_t i = 0; i < placed.count; i++) {
        uint64_t *row = p.edges + i * p.words;
        for (uint32_t at = 0; at < places.count; at++)
            if (consistent(m, known.first + (some ? i : at), released.first + (some ? at : i), depth + 1))
                kn_bitset_set(row, at);
        if (m->failed || !augment(&p, i)) return false;
    }
    return true;
}

/* Recursion goes as deep as the tables are nested. */
static bool consistent(kn_tree_matcher *m, uint32_t known, uint32_t released, int depth)
{
    const kn_database_table *t = &m->forest->db->tables[m->forest->table[m->known + known]];
    if (!covers(m, known, released)) return false;
    for (int c = 0; c < t->child_count; c++) {
        uint32_t there = known_children(m, known, t->children[c]).count,
                 here = released_children(m, released, t->children[c]).count;
        if (m->in->some ? there > here : m->in->deleted ? here > there : here != there) return false;
    }
    for (int c = 0; c < t->child_count; c++) {
        siblings there = known_children(m, known, t->children[c]),
                 here = released_children(m, released, t->children[c]);
        if (here.count > 0 && there.count > 0 && !pair_up(m, there, here, depth)) return false;
    }
    return true;
}

/* ---- The door ---- */

kn_status kn_tree_matcher_make(kn_tree_matcher **out, kn_context *ctx, const kn_tree_match *in, kn_error *err)
{
    const kn_forest *forest = in->forest;
    kn_tree_matcher *m = kn_alloc_zero(ctx, sizeof *m);
    *out = m;
    if (!m) return kn_fail_memory(err, ctx, "matching trees");
    *m = (kn_tree_matcher){.ctx = ctx, .in = in, .forest = forest, .plan = in->plan};
    for (int t = 0; t < forest->db->table_count; t++)
        if (forest->db->tables[t].depth >= m->level_count) m->level_count = forest->db->tables[t].depth + 1;
    m->levels = kn_alloc_array_zero(ctx, (size_t)m->level_count + 1, sizeof *m->levels);
    if (m->levels) return KN_OK;
    kn_tree_matcher_free(m);
    *out = NULL;
    return kn_fail_memory(err, ctx, "matching trees");
}

void kn_tree_matcher_free(kn_tree_matcher *m)
{
    if (!m) return;
    for (int i = 0; m->levels && i < m->level_count; i++) kn_free(m->levels[i].block);
    KN_FREE(m->levels, m);
}

kn_status kn_tree_consistent(bool *out, kn_tree_matcher *m, int64_t entity, uint32_t class_number, kn_error *err)
{
    m->known = m->forest->start[entity];
    m->released = m->plan->node_start[class_number];
    *out = consistent(m, 0, 0, 0);
    return m->failed ? kn_fail_memory(err, m->ctx, "matching trees") : KN_OK;
}
