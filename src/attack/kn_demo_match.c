/* kn_demo_match.c: is a released tree consistent with a known one? (kn_demo.h)
 *
 * From the roots down: cells must cover, then the children of each table are matched: a bipartite graph with an edge
 * where two children are consistent, and in it a matching that leaves no released child out. It grows by one child at
 * a time along an augmenting path, found breadth first; the edges of a child are computed when needed, so that a
 * child without any ends the search early.
 *
 * Cost: for n and m siblings n × m pairs, and n × edges for the matching. Memory: n × m bits for each level of tables.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_demo.h"
#include "kn_error.h"

#define NONE UINT32_MAX

/* What matching children of one level needs; levels below have memory of their own. */
typedef struct level {
    void  *block;
    size_t capacity; /* words */
} level;

struct kn_demo_matcher {
    kn_context             *ctx;
    const kn_forest        *forest;
    const kn_database_plan *plan;
    bool                    deleted;
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

static siblings known_children(const kn_demo_matcher *m, uint32_t node, int table)
{
    const kn_forest *f = m->forest;
    return of_table(f->table + m->known, f->first_child[m->known + node], f->child_count[m->known + node], table);
}

static siblings released_children(const kn_demo_matcher *m, uint32_t node, int table)
{
    const kn_database_plan *p = m->plan;
    uint64_t                at = m->released + node;
    return of_table(p->table + m->released, p->first_child[at], p->child_count[at], table);
}

static bool covers(const kn_demo_matcher *m, uint32_t known, uint32_t released)
{
    const kn_database_table *t = &m->forest->db->tables[m->forest->table[m->known + known]];
    const uint32_t          *values = m->plan->values + (m->released + released) * (uint64_t)m->plan->width;
    for (int q = 0; q < t->quasi_count; q++)
        if (!kn_hierarchy_covers(t->columns[t->quasi[q]].hierarchy, values[q],
                                 kn_forest_leaf(m->forest, m->known + known, q)))
            return false;
    return true;
}

/* ---- Matching siblings ---- */

typedef struct pairing {
    siblings  known, released;
    size_t    words;  /* of a row of edges                                     */
    uint64_t *edges;  /* per released child: the known ones it may stand for   */
    uint32_t *owner;  /* per known child: its released one; NONE               */
    uint32_t *from;   /* ... from which released child this search came to it  */
    uint32_t *seen;   /* ... in which search                                   */
    uint32_t *chosen; /* per released child: its known one                     */
    uint32_t *queue;  /* released children                                     */
} pairing;

static bool make_pairing(pairing *p, kn_demo_matcher *m, int depth, siblings known, siblings released)
{
    level *l = &m->levels[depth];
    *p = (pairing){.known = known, .released = released, .words = kn_bitset_words(known.count)};
    size_t edges = p->words * released.count, need = edges + ((size_t)known.count * 3 + (size_t)released.count * 2) / 2;
    if (!kn_grow(m->ctx, &l->block, &l->capacity, need + 1, sizeof(uint64_t))) {
        m->failed = true;
        return false;
    }
    p->edges = l->block;
    p->owner = (uint32_t *)(p->edges + edges);
    p->from = p->owner + known.count;
    p->seen = p->from + known.count;
    p->chosen = p->seen + known.count;
    p->queue = p->chosen + released.count;
    memset(p->edges, 0, edges * sizeof *p->edges);
    memset(p->owner, 0xff, (size_t)known.count * sizeof *p->owner);
    memset(p->seen, 0xff, (size_t)known.count * sizeof *p->seen);
    return true;
}

/* The path that ends at a known child without an owner: every released child on it takes the known one it was led to. */
static void take_path(pairing *p, uint32_t known, uint32_t start)
{
    for (;;) {
        uint32_t released = p->from[known], before = p->chosen[released];
        p->owner[known] = released;
        p->chosen[released] = known;
        if (released == start) return;
        known = before;
    }
}

/* Finds a place for one more released child; others may move. */
static bool augment(pairing *p, uint32_t start)
{
    uint32_t head = 0, tail = 0;
    p->queue[tail++] = start;
    while (head < tail) {
        uint32_t        released = p->queue[head++];
        const uint64_t *row = p->edges + released * p->words;
        for (uint32_t known = 0; known < p->known.count; known++) {
            if (p->seen[known] == start || !kn_bitset_test(row, known)) continue;
            p->seen[known] = start;
            p->from[known] = released;
            if (p->owner[known] == NONE) {
                take_path(p, known, start);
                return true;
            }
            p->queue[tail++] = p->owner[known];
        }
    }
    return false;
}

static bool consistent(kn_demo_matcher *m, uint32_t known, uint32_t released, int depth);

static bool pair_up(kn_demo_matcher *m, siblings known, siblings released, int depth)
{
    pairing p;
    if (known.count == 1 && released.count == 1) return consistent(m, known.first, released.first, depth + 1);
    if (!make_pairing(&p, m, depth, known, released)) return false;
    for (uint32_t r = 0; r < released.count; r++) {
        uint64_t *row = p.edges + r * p.words;
        for (uint32_t k = 0; k < known.count; k++)
            if (consistent(m, known.first + k, released.first + r, depth + 1)) kn_bitset_set(row, k);
        if (m->failed || !augment(&p, r)) return false;
    }
    return true;
}

/* Recursion goes as deep as the tables are nested. */
static bool consistent(kn_demo_matcher *m, uint32_t known, uint32_t released, int depth)
{
    const kn_database_table *t = &m->forest->db->tables[m->forest->table[m->known + known]];
    if (!covers(m, known, released)) return false;
    for (int c = 0; c < t->child_count; c++) {
        uint32_t there = known_children(m, known, t->children[c]).count,
                 here = released_children(m, released, t->children[c]).count;
        if (m->deleted ? here > there : here != there) return false;
    }
    for (int c = 0; c < t->child_count; c++) {
        siblings here = released_children(m, released, t->children[c]);
        if (here.count > 0 && !pair_up(m, known_children(m, known, t->children[c]), here, depth)) return false;
    }
    return true;
}

/* ---- The door ---- */

kn_status kn_demo_matcher_make(kn_demo_matcher **out, kn_context *ctx, const kn_forest *forest,
                               const kn_database_plan *plan, bool deleted, kn_error *err)
{
    kn_demo_matcher *m = kn_alloc_zero(ctx, sizeof *m);
    *out = m;
    if (!m) return kn_fail_memory(err, ctx, "matching trees");
    *m = (kn_demo_matcher){.ctx = ctx, .forest = forest, .plan = plan, .deleted = deleted};
    for (int t = 0; t < forest->db->table_count; t++)
        if (forest->db->tables[t].depth >= m->level_count) m->level_count = forest->db->tables[t].depth + 1;
    m->levels = kn_alloc_array_zero(ctx, (size_t)m->level_count + 1, sizeof *m->levels);
    if (m->levels) return KN_OK;
    kn_demo_matcher_free(m);
    *out = NULL;
    return kn_fail_memory(err, ctx, "matching trees");
}

void kn_demo_matcher_free(kn_demo_matcher *m)
{
    if (!m) return;
    for (int i = 0; m->levels && i < m->level_count; i++) kn_free(m->levels[i].block);
    KN_FREE(m->levels, m);
}

kn_status kn_demo_consistent(bool *out, kn_demo_matcher *m, int64_t entity, uint32_t class_number, kn_error *err)
{
    m->known = m->forest->start[entity];
    m->released = m->plan->node_start[class_number];
    *out = consistent(m, 0, 0, 0);
    return m->failed ? kn_fail_memory(err, m->ctx, "matching trees") : KN_OK;
}
