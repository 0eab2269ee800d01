/* verify_records_mutations.h: changes to a release of tree records, most of which no cut and no disassociation can have made. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_RECORDS_MUTATIONS_H
#define VERIFY_RECORDS_MUTATIONS_H

#include "verify_records_testing.h"

typedef struct mutant {
    const problem *p;
    kn_rng        *rng;
    trees         *t;
    int64_t       *map;
} mutant;

static inline uint32_t pick(mutant *m, uint64_t bound)
{
    return (uint32_t)kn_rng_below(m->rng, bound);
}

static inline tree *any_tree(mutant *m)
{
    return &m->t->tree[pick(m, (uint64_t)m->t->count)];
}

/* A record with at least so many nodes; NULL: none was met. */
static inline tree *tree_of(mutant *m, uint32_t size)
{
    for (int i = 0; i < 30; i++) {
        tree *t = any_tree(m);
        if (t->size >= size) return t;
    }
    return NULL;
}

static inline uint32_t child_of(mutant *m, uint32_t value)
{
    const kn_vocabulary *v = m->p->vocabulary;
    uint32_t             children[64], count = 0;
    for (uint32_t c = value + 1; c < v->end[value]; c = v->end[c]) children[count++] = c;
    return count ? children[pick(m, count)] : value;
}

/* Parents come first, whatever moved. */
static inline void reorder(tree *t)
{
    kn_record_node old[NODES * 4];
    uint32_t       to[NODES * 4], done = 0;
    memcpy(old, t->nodes, sizeof old);
    memset(to, 0xff, sizeof to);
    for (uint32_t round = 0; round <= t->size && done < t->size; round++)
        for (uint32_t n = 0; n < t->size; n++) {
            if (to[n] != ROOT || (old[n].parent != ROOT && to[old[n].parent] == ROOT)) continue;
            t->nodes[done] = (kn_record_node){old[n].parent == ROOT ? ROOT : to[old[n].parent], old[n].value};
            to[n] = done++;
        }
    assert_int_equal(done, t->size);
    canonical(t);
}

static inline bool raise_one(mutant *m)
{
    tree *t = tree_of(m, 1);
    if (!t) return false;
    uint32_t *value = &t->nodes[pick(m, t->size)].value;
    if (*value == 0) return false;
    *value = m->p->vocabulary->parent[*value];
    reorder(t);
    return true;
}

static inline bool lower_one(mutant *m)
{
    tree *t = tree_of(m, 1);
    if (!t) return false;
    uint32_t *value = &t->nodes[pick(m, t->size)].value;
    *value = child_of(m, *value);
    reorder(t);
    return true;
}

static inline bool any_value(mutant *m)
{
    tree *t = tree_of(m, 1);
    if (!t) return false;
    t->nodes[pick(m, t->size)].value = pick(m, m->p->vocabulary->nodes);
    reorder(t);
    return true;
}

static inline bool star_one(mutant *m)
{
    tree *t = tree_of(m, 1);
    if (!t) return false;
    t->nodes[pick(m, t->size)].value = 0;
    reorder(t);
    return true;
}

static inline bool all_values(mutant *m, uint32_t from, uint32_t to)
{
    for (int i = 0; i < m->t->count; i++) {
        for (uint32_t n = 0; n < m->t->tree[i].size; n++)
            if (m->t->tree[i].nodes[n].value == from) m->t->tree[i].nodes[n].value = to;
        reorder(&m->t->tree[i]);
    }
    return true;
}

static inline bool raise_everywhere(mutant *m)
{
    tree    *t = tree_of(m, 1);
    uint32_t value = t ? t->nodes[pick(m, t->size)].value : 0;
    return value > 0 && all_values(m, value, m->p->vocabulary->parent[value]);
}

static inline bool lower_everywhere(mutant *m)
{
    tree    *t = tree_of(m, 1);
    uint32_t value = t ? t->nodes[pick(m, t->size)].value : 0;
    return t && all_values(m, value, child_of(m, value));
}

static inline bool move_to(tree *t, uint32_t node, uint32_t parent)
{
    if (parent == node || (parent != ROOT && above(t, node, parent))) return false;
    t->nodes[node].parent = parent;
    reorder(t);
    return true;
}

static inline bool move_anywhere(mutant *m)
{
    tree *t = tree_of(m, 2);
    return t && move_to(t, pick(m, t->size), pick(m, t->size));
}

static inline bool move_below_sibling(mutant *m) /* invents a relation */
{
    tree *t = tree_of(m, 2);
    for (uint32_t x = 0; t && x < t->size; x++)
        for (uint32_t y = 0; y < t->size; y++)
            if (x != y && t->nodes[x].parent == t->nodes[y].parent && pick(m, 2)) return move_to(t, x, y);
    return false;
}

static inline bool move_to_root(mutant *m) /* a relation vanishes */
{
    tree *t = tree_of(m, 2);
    return t && move_to(t, pick(m, t->size), ROOT);
}

static inline bool flatten(mutant *m)
{
    tree *t = tree_of(m, 2);
    for (uint32_t n = 0; t && n < t->size; n++) t->nodes[n].parent = ROOT;
    if (t) reorder(t);
    return t != NULL;
}

static inline bool flatten_all(mutant *m)
{
    for (int i = 0; i < m->t->count; i++) {
        for (uint32_t n = 0; n < m->t->tree[i].size; n++) m->t->tree[i].nodes[n].parent = ROOT;
        reorder(&m->t->tree[i]);
    }
    return true;
}

static inline void drop(tree *t, uint32_t node)
{
    for (uint32_t n = 0; n < t->size; n++) {
        if (t->nodes[n].parent == node) t->nodes[n].parent = t->nodes[node].parent;
        if (t->nodes[n].parent != ROOT && t->nodes[n].parent > node) t->nodes[n].parent--;
    }
    memmove(t->nodes + node, t->nodes + node + 1, (t->size - node - 1) * sizeof *t->nodes);
    t->size--;
    reorder(t);
}

static inline bool drop_node(mutant *m)
{
    tree *t = tree_of(m, 1);
    if (t) drop(t, pick(m, t->size));
    return t != NULL;
}

static inline bool drop_subtree(mutant *m)
{
    tree    *t = tree_of(m, 2);
    uint32_t top = t ? pick(m, t->size) : 0;
    for (uint32_t n = t ? t->size : 0; n-- > top;)
        if (n == top || above(t, top, n)) drop(t, n);
    return t != NULL;
}

static inline bool empty_record(mutant *m)
{
    tree *t = tree_of(m, 1);
    if (t) t->size = 0;
    return t != NULL;
}

static inline bool add_node(mutant *m, uint32_t value)
{
    tree *t = any_tree(m);
    t->nodes[t->size] = (kn_record_node){t->size ? pick(m, t->size) : ROOT, value};
    t->size++;
    reorder(t);
    return true;
}

static inline bool add_any(mutant *m)
{
    return add_node(m, pick(m, m->p->vocabulary->nodes));
}

static inline bool add_known(mutant *m)
{
    tree *t = tree_of(m, 1);
    return t && add_node(m, t->nodes[pick(m, t->size)].value);
}

static inline bool copy_subtree(mutant *m)
{
    tree *t = tree_of(m, 2);
    if (!t) return false;
    uint32_t from = pick(m, t->size), size = t->size, to[NODES * 4];
    for (uint32_t n = from; n < size; n++) {
        if (n != from && !above(t, from, n)) continue;
        to[n] = t->size;
        t->nodes[t->size++] = (kn_record_node){n == from ? ROOT : to[t->nodes[n].parent], t->nodes[n].value};
    }
    reorder(t);
    return true;
}

static inline bool swap_labels(mutant *m)
{
    tree *t = tree_of(m, 2);
    if (!t) return false;
    uint32_t a = pick(m, t->size), b = pick(m, t->size), value = t->nodes[a].value;
    t->nodes[a].value = t->nodes[b].value;
    t->nodes[b].value = value;
    reorder(t);
    return true;
}

static inline bool swap_subtrees(mutant *m)
{
    tree *t = tree_of(m, 2);
    if (!t) return false;
    uint32_t a = pick(m, t->size), b = pick(m, t->size), parent = t->nodes[a].parent;
    if (a == b || above(t, a, b) || above(t, b, a)) return false;
    t->nodes[a].parent = t->nodes[b].parent;
    t->nodes[b].parent = parent;
    reorder(t);
    return true;
}

static inline bool turn_round(mutant *m) /* the parent below its child */
{
    tree *t = tree_of(m, 2);
    for (uint32_t n = 0; t && n < t->size; n++) {
        uint32_t p = t->nodes[n].parent, value = t->nodes[n].value;
        if (p == ROOT || pick(m, 2)) continue;
        t->nodes[n].value = t->nodes[p].value;
        t->nodes[p].value = value;
        reorder(t);
        return true;
    }
    return false;
}

static inline bool merge_nodes(mutant *m) /* two nodes of one value become one */
{
    tree *t = tree_of(m, 2);
    for (uint32_t a = 0; t && a < t->size; a++)
        for (uint32_t b = a + 1; b < t->size; b++) {
            if (t->nodes[a].value != t->nodes[b].value || above(t, a, b)) continue;
            for (uint32_t n = 0; n < t->size; n++)
                if (t->nodes[n].parent == b) t->nodes[n].parent = a;
            drop(t, b);
            return true;
        }
    return false;
}

static inline bool swap_between_records(mutant *m)
{
    tree *a = tree_of(m, 1), *b = tree_of(m, 1);
    if (!a || a == b) return false;
    kn_record_node *x = &a->nodes[pick(m, a->size)], *y = &b->nodes[pick(m, b->size)];
    uint32_t        value = x->value;
    x->value = y->value;
    y->value = value;
    reorder(a);
    reorder(b);
    return true;
}

static inline bool swap_records(mutant *m)
{
    tree *a = any_tree(m), *b = any_tree(m), keep = *a;
    *a = *b;
    *b = keep;
    return a != b;
}

static inline bool replace_record(mutant *m)
{
    tree *a = any_tree(m), *b = any_tree(m);
    *a = *b;
    return a != b;
}

static inline bool remove_record(mutant *m)
{
    uint32_t i = pick(m, (uint64_t)m->t->count);
    if (m->t->count < 2) return false;
    m->t->count--;
    m->t->tree[i] = m->t->tree[m->t->count];
    m->map[i] = m->map[m->t->count];
    return true;
}

static inline bool repeat_record(mutant *m)
{
    m->t->tree[m->t->count] = *any_tree(m);
    m->map[m->t->count] = pick(m, (uint64_t)m->t->count);
    m->t->count++;
    return true;
}

static inline bool swap_map(mutant *m)
{
    uint32_t a = pick(m, (uint64_t)m->t->count), b = pick(m, (uint64_t)m->t->count);
    int64_t  keep = m->map[a];
    m->map[a] = m->map[b];
    m->map[b] = keep;
    return true;
}

static inline bool repeat_map(mutant *m)
{
    m->map[pick(m, (uint64_t)m->t->count)] = m->map[pick(m, (uint64_t)m->t->count)];
    return true;
}

static inline bool break_map(mutant *m)
{
    m->map[pick(m, (uint64_t)m->t->count)] = pick(m, 2) ? -1 : m->p->original->count;
    return true;
}

static const struct {
    const char *name;
    bool (*apply)(mutant *m);
} mutations[] = {
    {"raise one label", raise_one},
    {"lower one label", lower_one},
    {"any value", any_value},
    {"star", star_one},
    {"raise everywhere", raise_everywhere},
    {"lower everywhere", lower_everywhere},
    {"move anywhere", move_anywhere},
    {"invent a relation", move_below_sibling},
    {"move to the root", move_to_root},
    {"flatten", flatten},
    {"flatten all", flatten_all},
    {"drop a node", drop_node},
    {"drop a subtree", drop_subtree},
    {"empty a record", empty_record},
    {"add any node", add_any},
    {"add a known node", add_known},
    {"copy a subtree", copy_subtree},
    {"swap labels", swap_labels},
    {"swap subtrees", swap_subtrees},
    {"turn round", turn_round},
    {"merge nodes", merge_nodes},
    {"swap between records", swap_between_records},
    {"swap records", swap_records},
    {"replace a record", replace_record},
    {"remove a record", remove_record},
    {"repeat a record", repeat_record},
    {"swap the map", swap_map},
    {"repeat the map", repeat_map},
    {"break the map", break_map},
};

enum { MUTATIONS = sizeof mutations / sizeof *mutations };

#endif
