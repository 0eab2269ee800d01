/* kn_mdg.c: minimal distance generalization of one attribute in one group (kn_mdg.h).
 *
 * A value is a node that rows of the group show. A value with fewer than k rows violates. Repeatedly the violating
 * value v with the smallest possible generalization distance is taken (ties: the one with the earliest row). Its
 * target s is the nearest ancestor with at least k rows below it; the distance is the number of label changes on the
 * path. v's rows become s, and with them, until s has k rows:
 *     rows that show s already; other violating values below s, as a whole; rows borrowed from values below s that have
 *     more than k, their first rows first and no more than needed; other values below s, as a whole;
 * in each kind the smallest distance to s first, then the earliest row.
 *
 * Rows only rise, so the number of rows below a node only falls, and targets and distances only grow: a priority
 * queue whose entries are checked again when they are taken is enough. Each node keeps three such queues of the
 * values below it: violating ones, those with rows to spare, the others. A value's rows are a heap too: the earliest
 * row is on top.
 *
 * Cost: O((rows + values × height) × log): a group of 500,000 rows with 50,000 rare values takes about a second.
 * Limits: 2^32 - 1 rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_mdg.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"

#define WHAT "generalizing"

/* ---- Heaps: smallest key on top ---- */

typedef struct entry {
    uint64_t key; /* distance, then first row */
    uint32_t node;
} entry;

typedef struct queue {
    entry *items;
    size_t count, capacity;
} queue;

typedef struct row_heap {
    uint32_t *rows;
    size_t    count, capacity;
} row_heap;

typedef enum value_kind { VIOLATING, SPARE, OTHER, KINDS } value_kind;

typedef struct node_state {
    uint32_t below; /* rows that show this node or one below it */
    bool     touched;
    row_heap own;           /* rows that show it                        */
    queue    queues[KINDS]; /* values strictly below it                 */
} node_state;

struct kn_mdg {
    kn_context         *ctx;
    const kn_hierarchy *h;
    node_state         *nodes;
    uint32_t           *touched;
    uint32_t            touched_count;
    queue               next; /* violating values of the group */
    uint32_t            k;
};

static bool queue_push(queue *q, kn_context *ctx, entry e)
{
    if (!KN_GROW(ctx, &q->items, &q->capacity, q->count + 1)) return false;
    size_t at = q->count++;
    for (; at > 0 && q->items[(at - 1) / 2].key > e.key; at = (at - 1) / 2) q->items[at] = q->items[(at - 1) / 2];
    q->items[at] = e;
    return true;
}

static entry queue_pop(queue *q)
{
    entry  top = q->items[0], last = q->items[--q->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < q->count; at = child) {
        if (child + 1 < q->count && q->items[child + 1].key < q->items[child].key) child++;
        if (q->items[child].key >= last.key) break;
        q->items[at] = q->items[child];
    }
    if (q->count > 0) q->items[at] = last;
    return top;
}

static bool rows_push(row_heap *heap, kn_context *ctx, uint32_t row)
{
    if (!KN_GROW(ctx, &heap->rows, &heap->capacity, heap->count + 1)) return false;
    size_t at = heap->count++;
    for (; at > 0 && heap->rows[(at - 1) / 2] > row; at = (at - 1) / 2) heap->rows[at] = heap->rows[(at - 1) / 2];
    heap->rows[at] = row;
    return true;
}

static uint32_t rows_pop(row_heap *heap)
{
    uint32_t top = heap->rows[0], last = heap->rows[--heap->count];
    size_t   at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && heap->rows[child + 1] < heap->rows[child]) child++;
        if (heap->rows[child] >= last) break;
        heap->rows[at] = heap->rows[child];
    }
    if (heap->count > 0) heap->rows[at] = last;
    return top;
}

/* ---- Making one ---- */

kn_status kn_mdg_make(kn_mdg **out, kn_context *ctx, const kn_hierarchy *h, kn_error *err)
{
    kn_mdg *m = kn_alloc_zero(ctx, sizeof *m);
    if (!m) return kn_fail_memory(err, ctx, WHAT);
    m->ctx = ctx;
    m->h = h;
    if (!KN_ALLOC_ZERO(ctx, m->nodes, h->nodes) || !KN_ALLOC(ctx, m->touched, h->nodes)) {
        kn_mdg_free(m);
        return kn_fail_memory(err, ctx, WHAT);
    }
    *out = m;
    return KN_OK;
}

void kn_mdg_free(kn_mdg *m)
{
    if (!m) return;
    for (uint32_t i = 0; m->nodes && i < m->h->nodes; i++) {
        kn_free(m->nodes[i].own.rows);
        for (int kind = 0; kind < KINDS; kind++) kn_free(m->nodes[i].queues[kind].items);
    }
    KN_FREE(m->nodes, m->touched, m->next.items, m);
}

/* ---- Values ---- */

/* Label changes on the path from a node up to one above it. */
static uint32_t distance(const kn_mdg *m, uint32_t node, uint32_t up)
{
    return m->h->changes[node] - m->h->changes[up];
}

static uint64_t key_of(const kn_mdg *m, uint32_t node, uint32_t up)
{
    return (uint64_t)distance(m, node, up) << 32 | m->nodes[node].own.rows[0];
}

static value_kind kind_of(const kn_mdg *m, uint32_t node)
{
    size_t rows = m->nodes[node].own.count;
    return rows < m->k ? VIOLATING : rows > m->k ? SPARE : OTHER;
}

/* Enters a value in the queues of every node above it, according to its current kind. */
static bool announce(kn_mdg *m, uint32_t node)
{
    value_kind kind = kind_of(m, node);
    for (uint32_t up = m->h->parent[node]; up != KN_NODE_NONE; up = m->h->parent[up])
        if (!queue_push(&m->nodes[up].queues[kind], m->ctx, (entry){key_of(m, node, up), node})) return false;
    return true;
}

static uint32_t target_of(const kn_mdg *m, uint32_t node)
{
    while (m->nodes[node].below < m->k) node = m->h->parent[node];
    return node;
}

static void clear(kn_mdg *m)
{
    for (uint32_t i = 0; i < m->touched_count; i++) {
        node_state *n = &m->nodes[m->touched[i]];
        n->below = 0;
        n->touched = false;
        n->own.count = 0;
        for (int kind = 0; kind < KINDS; kind++) n->queues[kind].count = 0;
    }
    m->touched_count = 0;
    m->next.count = 0;
}

static void touch(kn_mdg *m, uint32_t node)
{
    if (!m->nodes[node].touched) m->touched[m->touched_count++] = node;
    m->nodes[node].touched = true;
}

/* Counts the rows of each value; most groups of many rows need no more than that. */
static void count_values(kn_mdg *m, const uint32_t *rows, uint32_t count, const uint32_t *nodes)
{
    for (uint32_t i = 0; i < count; i++) {
        touch(m, nodes[rows[i]]);
        m->nodes[nodes[rows[i]]].below++;
    }
}

/* After count_values. */
static kn_status take_in(kn_mdg *m, const uint32_t *rows, uint32_t count, const uint32_t *nodes, kn_error *err)
{
    uint32_t values = m->touched_count;
    for (uint32_t i = 0; i < count; i++)
        if (!rows_push(&m->nodes[nodes[rows[i]]].own, m->ctx, rows[i])) return kn_fail_memory(err, m->ctx, WHAT);
    for (uint32_t i = 0; i < values; i++)
        for (uint32_t node = m->h->parent[m->touched[i]]; node != KN_NODE_NONE; node = m->h->parent[node]) {
            touch(m, node);
            m->nodes[node].below += (uint32_t)m->nodes[m->touched[i]].own.count;
        }
    return KN_OK;
}

static kn_status make_queues(kn_mdg *m, kn_error *err)
{
    uint32_t count = m->touched_count; /* announcing touches nothing new */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = m->touched[i];
        if (m->nodes[node].own.count == 0) continue;
        if (!announce(m, node)) return kn_fail_memory(err, m->ctx, WHAT);
        if (kind_of(m, node) == VIOLATING &&
            !queue_push(&m->next, m->ctx, (entry){key_of(m, node, target_of(m, node)), node}))
            return kn_fail_memory(err, m->ctx, WHAT);
    }
    return KN_OK;
}

/* After count_values alone: `below` is then what the value itself has. */
static bool any_violating(const kn_mdg *m)
{
    for (uint32_t i = 0; i < m->touched_count; i++)
        if (m->nodes[m->touched[i]].below < m->k) return true;
    return false;
}

/* ---- Raising ---- */

/* Moves the first `count` rows of a value up to s. */
static kn_status raise(kn_mdg *m, uint32_t from, uint32_t s, size_t count, uint32_t *nodes, kn_error *err)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t row = rows_pop(&m->nodes[from].own);
        if (!rows_push(&m->nodes[s].own, m->ctx, row)) return kn_fail_memory(err, m->ctx, WHAT);
        nodes[row] = s;
    }
    for (uint32_t node = from; node != s; node = m->h->parent[node]) m->nodes[node].below -= (uint32_t)count;
    return KN_OK;
}

/* The next partner of a kind below s, or KN_NODE_NONE; outdated entries are corrected or dropped. */
static kn_status next_partner(uint32_t *out, kn_mdg *m, uint32_t s, value_kind kind, kn_error *err)
{
    queue *q = &m->nodes[s].queues[kind];
    *out = KN_NODE_NONE;
    while (q->count > 0) {
        entry e = queue_pop(q);
        if (m->nodes[e.node].own.count == 0) continue;
        if (kind_of(m, e.node) != kind) {
            /* A value that lent its last spare row now belongs to the others, and is entered there only here. */
            if (kind == SPARE && kind_of(m, e.node) == OTHER &&
                !queue_push(&m->nodes[s].queues[OTHER], m->ctx, (entry){key_of(m, e.node, s), e.node}))
                return kn_fail_memory(err, m->ctx, WHAT);
            continue;
        }
        if (e.key != key_of(m, e.node, s)) {
            if (!queue_push(q, m->ctx, (entry){key_of(m, e.node, s), e.node})) return kn_fail_memory(err, m->ctx, WHAT);
            continue;
        }
        *out = e.node;
        return KN_OK;
    }
    return KN_OK;
}

static kn_status find_partners(kn_mdg *m, uint32_t s, uint32_t *nodes, kn_error *err)
{
    for (value_kind kind = VIOLATING; kind < KINDS; kind++)
        while (m->nodes[s].own.count < m->k) {
            uint32_t partner;
            KN_TRY(next_partner(&partner, m, s, kind, err));
            if (partner == KN_NODE_NONE) break;
            size_t rows = m->nodes[partner].own.count, missing = m->k - m->nodes[s].own.count;
            size_t lent = kind != SPARE ? rows : rows - m->k < missing ? rows - m->k : missing;
            KN_TRY(raise(m, partner, s, lent, nodes, err));
            if (kind == SPARE &&
                !queue_push(&m->nodes[s].queues[kind_of(m, partner)], m->ctx, (entry){key_of(m, partner, s), partner}))
                return kn_fail_memory(err, m->ctx, WHAT);
        }
    return KN_OK;
}

static kn_status raise_all(kn_mdg *m, uint32_t *nodes, int64_t *steps, kn_error *err)
{
    while (m->next.count > 0) {
        entry e = queue_pop(&m->next);
        if (m->nodes[e.node].own.count == 0 || m->nodes[e.node].own.count >= m->k) continue;
        uint32_t s = target_of(m, e.node);
        if (e.key != key_of(m, e.node, s)) { /* its target has moved up since */
            if (!queue_push(&m->next, m->ctx, (entry){key_of(m, e.node, s), e.node}))
                return kn_fail_memory(err, m->ctx, WHAT);
            continue;
        }
        if (e.node != s) KN_TRY(raise(m, e.node, s, m->nodes[e.node].own.count, nodes, err));
        KN_TRY(find_partners(m, s, nodes, err));
        if (!announce(m, s)) return kn_fail_memory(err, m->ctx, WHAT);
        ++*steps;
        if ((*steps & 0xfff) == 0 && kn_cancelled(m->ctx)) return kn_fail_cancelled(err);
    }
    return KN_OK;
}

kn_status kn_mdg_group(kn_mdg *m, const uint32_t *rows, uint32_t count, uint32_t k, uint32_t *nodes, int64_t *steps,
                       kn_error *err)
{
    m->k = k;
    kn_status status = KN_OK;
    count_values(m, rows, count, nodes);
    if (any_violating(m)) {
        status = take_in(m, rows, count, nodes, err);
        if (status == KN_OK) status = make_queues(m, err);
        if (status == KN_OK) status = raise_all(m, nodes, steps, err);
    }
    clear(m);
    return status;
}
