/* kn_subtree_miner.c: frequent subtrees by growth: a subtree gets one more node on its rightmost path, and its
 * records are the intersection of two sets of records.
 *
 * Interface: kn_subtree_miner.h. What can be added is an item: without `embedded` a path from the root (siblings
 * differ, so that a subtree is a set of paths, and its records are those that have each of them); with it a value
 * below the root or below another value, and each record is checked for nodes that fit together. Every subtree
 * is grown once: its nodes in preorder, siblings by value. No subtree is stored; the release is counted alongside.
 *
 * Cost: O(frequent subtrees · frequent items · records / 64) and the records a few times; embedded: times what it
 * takes to find the nodes in a record. Memory: the records at this level, one bit per record for each frequent item,
 * twice. Paper: section II-E, equations 4 to 6 (docs/errata.md K15).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_subtree_miner.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_node_table.h"
#include "kn_parallel.h"

#define ROOT UINT32_MAX          /* what an item below the record's root stands below */
#define NOWHERE (UINT32_MAX - 1) /* below a path that the original does not have      */
#define WHAT "mining frequent subtrees"

typedef struct item {
    uint32_t above; /* without embedded the number of the path above, else its value; ROOT */
    uint32_t label;
    uint32_t number; /* of the pair (above, label) */
    uint32_t index;  /* of the label among those of items */
} item;

typedef struct side {
    const kn_records *records;
    kn_record_node   *nodes; /* at this level, where the records' own begin */
    uint32_t         *size;
    uint64_t         *sets; /* per item: the records that have it */
} side;

typedef struct pattern_node {
    uint32_t parent; /* ROOT */
    uint32_t item;
} pattern_node;

/* Of one worker. */
typedef struct grower {
    pattern_node *nodes; /* preorder */
    int           count;
    uint64_t     *sets[2]; /* per size: the records of the original, and of the release */
    uint32_t     *found;   /* embedded: the node of a record for each of the pattern */
    void         *scratch;
} grower;

typedef struct miner {
    kn_context              *ctx;
    const kn_mining_problem *problem;
    const kn_vocabulary     *vocabulary;
    side                     sides[2];
    size_t                   words;          /* of a set of records */
    kn_node_table            pairs;          /* (above, label) → 0, 1, 2, … in the order in which they came */
    int64_t                 *support, *last; /* per pair */
    size_t                   support_capacity, last_capacity;
    uint32_t                *at; /* per node of a record: the number of its path */
    uint32_t                 widest;
    item                    *items; /* by above, then label */
    size_t                   item_count, first_count;
    uint32_t                *item_of; /* per pair; ROOT: rare */
    uint32_t                *labels;
    size_t                   label_count;
    uint64_t                *survives; /* bit a × labels + b: some release shows what a ⇝ b can have become */
    grower                  *growers;
    int                      grower_count;
    kn_mining               *found; /* per item below the root */
} miner;

/* ---- The records at this level ---- */

static kn_status project_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    miner *m = arg;
    void  *scratch = m->growers[worker].scratch;
    (void)err;
    for (int which = 0; which < 2; which++) {
        const kn_records *records = m->sides[which].records;
        for (int64_t t = begin; t < end && t < records->count; t++) {
            uint64_t        from = records->start[t];
            uint32_t        size = (uint32_t)(records->start[t + 1] - from);
            kn_record_node *nodes = m->sides[which].nodes + from;
            for (uint32_t i = 0; i < size; i++)
                nodes[i] = (kn_record_node){records->parent[from + i], m->problem->image[records->value[from + i]]};
            m->sides[which].size[t] = kn_record_canonical(nodes, size, scratch);
        }
    }
    return KN_OK;
}

/* ---- Items ---- */

/* What a record does with each pair it has: counts it once, or marks its record's bit. */
typedef bool (*pair_fn)(miner *m, side *s, int64_t record, uint32_t above, uint32_t label, uint32_t *number);

static bool count_pair(miner *m, side *s, int64_t record, uint32_t above, uint32_t label, uint32_t *number)
{
    (void)s;
    uint32_t before = m->pairs.count;
    *number = kn_node_table_child(&m->pairs, above, label);
    if (*number == KN_NODE_TABLE_FULL) return false;
    if (m->pairs.count > before) {
        if (!KN_GROW(m->ctx, &m->support, &m->support_capacity, m->pairs.count) ||
            !KN_GROW(m->ctx, &m->last, &m->last_capacity, m->pairs.count))
            return false;
        m->support[*number] = 0;
        m->last[*number] = -1;
    }
    m->support[*number] += m->last[*number] != record;
    m->last[*number] = record;
    return true;
}

static bool mark_pair(miner *m, side *s, int64_t record, uint32_t above, uint32_t label, uint32_t *number)
{
    uint32_t pair = kn_node_table_find(&m->pairs, above, label);
    *number = pair == UINT32_MAX ? NOWHERE : pair;
    if (pair != UINT32_MAX && m->item_of[pair] != ROOT)
        kn_bitset_set(s->sets + m->item_of[pair] * m->words, (size_t)record);
    return true;
}

static bool note_record(miner *m, side *s, int64_t record, pair_fn note)
{
    const kn_record_node *nodes = s->nodes + s->records->start[record];
    for (uint32_t i = 0; i < s->size[record]; i++) {
        uint32_t label = nodes[i].value, parent = nodes[i].parent, number;
        if (!m->problem->embedded) {
            uint32_t above = parent == KN_RECORDS_ROOT ? ROOT : m->at[parent];
            m->at[i] = NOWHERE;
            if (above != NOWHERE && !note(m, s, record, above, label, &m->at[i])) return false;
            continue;
        }
        if (!note(m, s, record, ROOT, label, &number)) return false;
        for (; parent != KN_RECORDS_ROOT; parent = nodes[parent].parent)
            if (!note(m, s, record, nodes[parent].value, label, &number)) return false;
    }
    return true;
}

static kn_status note_side(miner *m, int which, pair_fn note, kn_error *err)
{
    side *s = &m->sides[which];
    for (int64_t t = 0; t < s->records->count; t++) {
        if (t % 4096 == 0 && kn_cancelled(m->ctx)) return kn_fail_cancelled(err);
        if (!note_record(m, s, t, note)) return kn_fail_memory(err, m->ctx, WHAT);
    }
    return KN_OK;
}

static int compare_items(const void *a, const void *b)
{
    const item *x = a, *y = b;
    /* Those below the root come first. */
    if (x->above != y->above) return x->above + 1 < y->above + 1 ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

/* The first label that is not below `value`. */
static size_t label_from(const miner *m, uint32_t value)
{
    size_t low = 0, high = m->label_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->labels[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The frequent pairs, sorted, and their labels. */
static kn_status list_items(miner *m, kn_error *err)
{
    for (uint32_t p = 0; p < m->pairs.count; p++) m->item_count += m->support[p] >= m->problem->threshold;
    if (!KN_ALLOC(m->ctx, m->items, m->item_count + 1) || !KN_ALLOC(m->ctx, m->labels, m->item_count + 1) ||
        !KN_ALLOC(m->ctx, m->item_of, m->pairs.count + 1))
        return kn_fail_memory(err, m->ctx, WHAT);
    size_t count = 0;
    for (uint32_t p = 0; p < m->pairs.count; p++) {
        m->item_of[p] = ROOT;
        if (m->support[p] < m->problem->threshold) continue;
        m->labels[count] = m->pairs.value[p];
        m->items[count++] = (item){m->pairs.parent[p], m->pairs.value[p], p, 0};
    }
    qsort(m->items, count, sizeof *m->items, compare_items);
    qsort(m->labels, count, sizeof *m->labels, kn_compare_u32);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || m->labels[i] != m->labels[i - 1]) m->labels[m->label_count++] = m->labels[i];
    for (size_t i = 0; i < count; i++) {
        m->items[i].index = (uint32_t)label_from(m, m->items[i].label);
        m->item_of[m->items[i].number] = (uint32_t)i;
        m->first_count += m->items[i].above == ROOT;
    }
    return KN_OK;
}

/* Which relations between labels are shown by some released record, at any level. */
static kn_status note_survivors(miner *m, kn_error *err)
{
    const side   *s = &m->sides[1];
    kn_node_table seen;
    kn_status     status = kn_node_table_make(&seen, m->ctx, 0, err);
    if (status == KN_OK && !KN_ALLOC_ZERO(m->ctx, m->survives, kn_bitset_words(m->label_count * m->label_count) + 1))
        status = kn_fail_memory(err, m->ctx, WHAT);
    for (int64_t t = 0; status == KN_OK && t < s->records->count; t++) {
        const kn_record_node *nodes = s->nodes + s->records->start[t];
        for (uint32_t i = 0; i < s->size[t]; i++)
            for (uint32_t p = nodes[i].parent; p != KN_RECORDS_ROOT && status == KN_OK; p = nodes[p].parent) {
                uint32_t a = nodes[p].value, b = nodes[i].value, before = seen.count;
                if (kn_node_table_child(&seen, a, b) == KN_NODE_TABLE_FULL) status = kn_fail_memory(err, m->ctx, WHAT);
                if (seen.count == before) continue;
                size_t a_end = label_from(m, m->vocabulary->end[a]), b_end = label_from(m, m->vocabulary->end[b]);
                for (size_t x = label_from(m, a); x < a_end; x++)
                    for (size_t y = label_from(m, b); y < b_end; y++)
                        kn_bitset_set(m->survives, x * m->label_count + y);
            }
    }
    kn_node_table_free(&seen);
    return status;
}

/* ---- Growth ---- */

/* The first item below `above` with a label of at least `label`. */
static size_t items_from(const miner *m, uint32_t above, uint32_t label)
{
    size_t low = 0, high = m->item_count;
    item   wanted = {above, label, 0, 0};
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_items(&m->items[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Embedded: nodes of the record for those of the pattern from `next` on. */
static bool fits(const miner *m, grower *g, const kn_record_node *nodes, uint32_t size, int next)
{
    if (next == g->count) return true;
    const pattern_node *wanted = &g->nodes[next];
    for (uint32_t i = 0; i < size; i++) {
        if (nodes[i].value != m->items[wanted->item].label) continue;
        uint32_t p = nodes[i].parent;
        while (wanted->parent != ROOT && p != KN_RECORDS_ROOT && p != g->found[wanted->parent]) p = nodes[p].parent;
        if (wanted->parent != ROOT && p == KN_RECORDS_ROOT) continue;
        bool taken = false;
        for (int j = 0; j < next; j++) taken |= g->found[j] == i;
        if (taken) continue;
        g->found[next] = i;
        if (fits(m, g, nodes, size, next + 1)) return true;
    }
    return false;
}

/* The records that have the pattern, whose last node is new; returns how many. */
static int64_t records_with(const miner *m, grower *g, int which)
{
    const side     *s = &m->sides[which];
    const uint64_t *added = s->sets + g->nodes[g->count - 1].item * m->words;
    uint64_t       *set = g->sets[which] + (size_t)g->count * m->words, *before = set - m->words;
    int64_t         count = 0;
    for (size_t w = 0; w < m->words; w++) {
        set[w] = g->count == 1 ? added[w] : before[w] & added[w];
        count += __builtin_popcountll(set[w]);
    }
    if (!m->problem->embedded || g->count < 3 || count < m->problem->threshold) return count;
    for (int64_t t = 0; t < s->records->count; t++)
        if (kn_bitset_test(set, (size_t)t) && !fits(m, g, s->nodes + s->records->start[t], s->size[t], 0)) {
            kn_bitset_clear(set, (size_t)t);
            count--;
        }
    return count;
}

/* dtree of the pattern (equation 6). The record's root counts neither as a node nor in relations (K15). */
static double distance(const miner *m, const grower *g)
{
    double  steps = 0;
    int64_t relations = 0, broken = 0;
    for (int i = 0; i < g->count; i++) {
        const item *below = &m->items[g->nodes[i].item];
        steps += m->problem->steps[below->label];
        for (uint32_t p = g->nodes[i].parent; p != ROOT; p = g->nodes[p].parent) {
            relations++;
            broken += !kn_bitset_test(m->survives, m->items[g->nodes[p].item].index * m->label_count + below->index);
        }
    }
    return 0.5 * (steps / g->count) + (relations > 0 ? 0.5 * ((double)broken / (double)relations) : 0);
}

static void grow(const miner *m, grower *g, kn_mining *found);

static void try_item(const miner *m, grower *g, uint32_t parent, size_t number, kn_mining *found)
{
    g->nodes[g->count++] = (pattern_node){parent, (uint32_t)number};
    if (records_with(m, g, 0) >= m->problem->threshold) {
        found->frequent++;
        found->kept += records_with(m, g, 1) >= m->problem->threshold;
        found->distance += distance(m, g);
        if (g->count < m->problem->largest) grow(m, g, found);
    }
    g->count--;
}

/* Every way to add one node after the last, in preorder: below the last one, or below one above it and after its
 * child there. */
static void grow(const miner *m, grower *g, kn_mining *found)
{
    uint32_t last = (uint32_t)g->count - 1, behind = 0;
    for (uint32_t at = last;; at = g->nodes[at].parent) {
        uint32_t above = ROOT;
        if (at != ROOT) {
            const item *x = &m->items[g->nodes[at].item];
            above = m->problem->embedded ? x->label : x->number;
        }
        for (size_t i = items_from(m, above, behind); i < m->item_count && m->items[i].above == above; i++) {
            if (kn_cancelled(m->ctx)) return;
            try_item(m, g, at, i, found);
        }
        if (at == ROOT) return;
        behind = m->items[g->nodes[at].item].label + 1;
    }
}

static kn_status grow_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    miner  *m = arg;
    grower *g = &m->growers[worker];
    for (int64_t i = begin; i < end; i++) {
        g->count = 0;
        try_item(m, g, ROOT, (size_t)i, &m->found[i]);
    }
    return kn_cancelled(m->ctx) ? kn_fail_cancelled(err) : KN_OK;
}

/* ---- Interface ---- */

static kn_status prepare_side(miner *m, int which, const kn_records *records, kn_error *err)
{
    side *s = &m->sides[which];
    s->records = records;
    if (!KN_ALLOC(m->ctx, s->nodes, (size_t)records->nodes + 1) ||
        !KN_ALLOC(m->ctx, s->size, (size_t)records->count + 1))
        return kn_fail_memory(err, m->ctx, WHAT);
    for (int64_t t = 0; t < records->count; t++) {
        uint64_t size = records->start[t + 1] - records->start[t];
        if (size > m->widest) m->widest = (uint32_t)size;
    }
    return KN_OK;
}

static kn_status prepare_growers(miner *m, kn_error *err)
{
    size_t largest = (size_t)m->problem->largest, room = m->widest > largest ? m->widest : largest;
    if (!KN_ALLOC_ZERO(m->ctx, m->growers, (size_t)kn_context_threads(m->ctx)) ||
        !KN_ALLOC(m->ctx, m->at, (size_t)m->widest + 1))
        return kn_fail_memory(err, m->ctx, WHAT);
    m->grower_count = kn_context_threads(m->ctx);
    for (int i = 0; i < m->grower_count; i++) {
        grower *g = &m->growers[i];
        if (!KN_ALLOC(m->ctx, g->nodes, largest + 1) || !KN_ALLOC(m->ctx, g->sets[0], (largest + 1) * m->words) ||
            !KN_ALLOC(m->ctx, g->sets[1], (largest + 1) * m->words) || !KN_ALLOC(m->ctx, g->found, room + 1) ||
            !(g->scratch = kn_alloc_array(m->ctx, (size_t)m->widest + 1, KN_RECORD_SCRATCH)))
            return kn_fail_memory(err, m->ctx, WHAT);
    }
    return KN_OK;
}

static kn_status mine(miner *m, kn_mining *out, kn_error *err)
{
    int64_t count = m->problem->original->count, others = m->problem->released->count;
    if (others > count) count = others;
    m->words = kn_bitset_words((size_t)count) + 1;
    KN_TRY(prepare_side(m, 0, m->problem->original, err));
    KN_TRY(prepare_side(m, 1, m->problem->released, err));
    KN_TRY(prepare_growers(m, err));
    KN_TRY(kn_node_table_make(&m->pairs, m->ctx, 0, err));
    KN_TRY(kn_parallel_for(m->ctx, count, 4096, project_range, m, err));
    KN_TRY(note_side(m, 0, count_pair, err));
    KN_TRY(list_items(m, err));
    KN_TRY(note_survivors(m, err));
    for (int which = 0; which < 2; which++) {
        if (!KN_ALLOC_ZERO(m->ctx, m->sides[which].sets, m->item_count * m->words + 1))
            return kn_fail_memory(err, m->ctx, WHAT);
        KN_TRY(note_side(m, which, mark_pair, err));
    }
    if (!KN_ALLOC_ZERO(m->ctx, m->found, m->first_count + 1)) return kn_fail_memory(err, m->ctx, WHAT);
    KN_TRY(kn_parallel_for(m->ctx, (int64_t)m->first_count, 1, grow_range, m, err));
    for (size_t i = 0; i < m->first_count; i++) {
        out->frequent += m->found[i].frequent;
        out->kept += m->found[i].kept;
        out->distance += m->found[i].distance;
    }
    return KN_OK;
}

kn_status kn_subtree_mine(kn_mining *out, kn_context *ctx, const kn_mining_problem *problem, kn_error *err)
{
    *out = (kn_mining){0, 0, 0};
    miner     m = {.ctx = ctx, .problem = problem, .vocabulary = problem->original->vocabulary};
    kn_status status = mine(&m, out, err);
    for (int which = 0; which < 2; which++) KN_FREE(m.sides[which].nodes, m.sides[which].size, m.sides[which].sets);
    for (int i = 0; m.growers && i < m.grower_count; i++) {
        const grower *g = &m.growers[i];
        KN_FREE(g->nodes, g->sets[0], g->sets[1], g->found, g->scratch);
    }
    kn_node_table_free(&m.pairs);
    KN_FREE(m.growers, m.support, m.last, m.at, m.items, m.item_of, m.labels, m.survives, m.found);
    return status;
}
