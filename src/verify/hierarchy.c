/* hierarchy.c: hierarchies as the verifier reads them: for each leaf the labels that may stand for it, level by level.
 *
 * Paths come from a file or a builder, from the leaf to the root. Paths of different lengths meet at the root: a leaf
 * that is higher up stays itself on the lower levels. A node is a label on a level; that one label on one level has
 * one parent is checked. Leaves are found for the values of a domain by spelling, numbers and dates by what they mean
 * too.
 *
 * Cost: O(leaves × levels) time and memory (4 bytes each).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"

/* Paths as they come: label numbers one after the other. */
struct kn_vtree_maker {
    kn_context *ctx;
    const char *name; /* of the file or the column, for messages */
    kn_vtree   *tree;
    uint32_t   *labels;
    size_t      label_count, label_capacity;
    size_t     *ends; /* per leaf: where its labels end */
    size_t      end_capacity;
    uint32_t    longest;
    kn_vnumbers nodes; /* by level and label */
    size_t      node_capacity;
};

kn_status kn_vtree_add(kn_vtree_maker *m, const kn_string *path, uint32_t count, int64_t line, kn_error *err)
{
    kn_vtree *t = m->tree;
    if (count < 2 || count > KN_HIERARCHY_MAX_LEVELS)
        return kn_fail_at(err, KN_INPUT, m->name, line, 0, "a path has 2 to %d labels", KN_HIERARCHY_MAX_LEVELS);
    void *labels = m->labels, *ends = m->ends;
    if (!kn_grow(m->ctx, &labels, &m->label_capacity, m->label_count + count, sizeof *m->labels))
        return kn_fail_memory(err, m->ctx, WHAT);
    m->labels = labels;
    if (!kn_grow(m->ctx, &ends, &m->end_capacity, (size_t)t->leaves + 1, sizeof *m->ends))
        return kn_fail_memory(err, m->ctx, WHAT);
    m->ends = ends;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t label = kn_texts_add(&t->labels, path[i], true);
        if (label == KN_V_NONE) return kn_fail_memory(err, m->ctx, WHAT);
        m->labels[m->label_count++] = label;
    }
    m->ends[t->leaves++] = m->label_count;
    if (count > m->longest) m->longest = count;
    return KN_OK;
}

static bool grow_nodes(kn_vtree_maker *m)
{
    kn_vtree *t = m->tree;
    if (t->nodes < m->node_capacity) return true;
    size_t     wanted = m->node_capacity ? m->node_capacity * 2 : (size_t)t->leaves * 2 + 16;
    uint32_t **arrays[] = {&t->label, &t->level, &t->cover, &t->parent};
    for (int i = 0; i < 4; i++) {
        uint32_t *more = kn_realloc_array(m->ctx, *arrays[i], wanted, sizeof *more);
        if (!more) return false;
        *arrays[i] = more;
    }
    m->node_capacity = wanted;
    return true;
}

/* The node of a label on a level, new or known; KN_V_NONE: out of memory. */
static uint32_t node_of(kn_vtree_maker *m, uint32_t level, uint32_t label, bool *added)
{
    kn_vtree *t = m->tree;
    uint32_t  node = grow_nodes(m) ? kn_vnumbers_add(&m->nodes, (uint64_t)level << 32 | label) : KN_V_NONE;
    *added = node == t->nodes;
    if (!*added) return node;
    t->label[node] = label;
    t->level[node] = level;
    t->cover[node] = 0;
    t->parent[node] = KN_V_NONE;
    return t->nodes++;
}

static kn_status not_a_tree(const kn_vtree_maker *m, const char *what, kn_error *err)
{
    return kn_fail(err, KN_INPUT, "%s: %s", m->name, what);
}

/* The path of one leaf as nodes. Leaves were numbered before, so that they come first. */
static kn_status place(kn_vtree_maker *m, uint32_t leaf, kn_error *err)
{
    kn_vtree       *t = m->tree;
    size_t          begin = leaf ? m->ends[leaf - 1] : 0;
    uint32_t        count = (uint32_t)(m->ends[leaf] - begin), below = leaf, short_by = m->longest - count;
    const uint32_t *labels = m->labels + begin;
    uint32_t       *path = t->paths + (size_t)leaf * (t->height + 1);
    for (uint32_t level = 0; level <= short_by; level++) path[level] = leaf;
    t->cover[leaf] = 1;
    for (uint32_t i = 1; i < count; i++) {
        bool     added = false;
        uint32_t level = short_by + i, node = node_of(m, level, labels[i], &added);
        if (node == KN_V_NONE) return kn_fail_memory(err, m->ctx, WHAT);
        if (t->parent[below] == KN_V_NONE)
            t->parent[below] = node;
        else if (t->parent[below] != node)
            return not_a_tree(m, "a label on one level has two parents", err);
        t->cover[node]++;
        path[level] = node;
        below = node;
    }
    if (leaf > 0 && path[t->height] != t->paths[t->height]) return not_a_tree(m, "there is more than one root", err);
    return KN_OK;
}

static kn_status finish(kn_vtree_maker *m, kn_error *err)
{
    kn_vtree *t = m->tree;
    if (t->leaves == 0) m->longest = 2;
    t->height = m->longest - 1;
    t->paths = kn_alloc_array(m->ctx, (size_t)t->leaves * (t->height + 1) + 1, sizeof *t->paths);
    if (!t->paths) return kn_fail_memory(err, m->ctx, WHAT);
    for (uint32_t leaf = 0; leaf < t->leaves; leaf++) {
        bool added = false;
        if (node_of(m, 0, m->labels[leaf ? m->ends[leaf - 1] : 0], &added) == KN_V_NONE)
            return kn_fail_memory(err, m->ctx, WHAT);
        if (!added) return not_a_tree(m, "the same leaf appears twice", err);
    }
    for (uint32_t leaf = 0; leaf < t->leaves; leaf++) KN_TRY(place(m, leaf, err));
    return KN_OK;
}

/* ---- Leaves of values ---- */

/* Leaves by meaning, for values whose spelling is not a leaf. */
static kn_status bind_by_meaning(kn_vtree_maker *m, const kn_vdomain *domain, kn_error *err)
{
    kn_vtree *t = m->tree;
    for (uint32_t leaf = t->leaves; leaf-- > 0;) { /* the first leaf wins */
        uint32_t value = kn_vdomain_find(domain, t->labels.texts[t->label[leaf]]);
        if (value >= KN_V_MISSING) continue;
        uint32_t before = t->leaf_of_value[value];
        /* A leaf with the value's own spelling is preferred. */
        if (before != KN_V_NONE && kn_string_equal(t->labels.texts[t->label[before]], domain->spelling[value]))
            continue;
        t->leaf_of_value[value] = leaf;
    }
    for (uint32_t v = 0; v < domain->count; v++)
        if (t->leaf_of_value[v] == KN_V_NONE)
            return not_a_tree(m, "a value of the data has no leaf in this hierarchy", err);
    return KN_OK;
}

static kn_status bind(kn_vtree_maker *m, const kn_vdomain *domain, kn_error *err)
{
    kn_vtree *t = m->tree;
    uint32_t *leaf_of_label = kn_alloc_array(m->ctx, (size_t)t->labels.count + 1, sizeof *leaf_of_label);
    t->leaf_of_value = kn_alloc_array(m->ctx, (size_t)domain->count + 1, sizeof *t->leaf_of_value);
    if (!leaf_of_label || !t->leaf_of_value) {
        kn_free(leaf_of_label);
        return kn_fail_memory(err, m->ctx, WHAT);
    }
    memset(leaf_of_label, 0xff, ((size_t)t->labels.count + 1) * sizeof *leaf_of_label);
    for (uint32_t leaf = 0; leaf < t->leaves; leaf++) leaf_of_label[t->label[leaf]] = leaf;
    bool all = true;
    for (uint32_t v = 0; v < domain->count; v++) {
        uint32_t label = kn_texts_find(&t->labels, domain->spelling[v]);
        t->leaf_of_value[v] = label == KN_V_NONE ? KN_V_NONE : leaf_of_label[label];
        all = all && t->leaf_of_value[v] != KN_V_NONE;
    }
    kn_free(leaf_of_label);
    return all ? KN_OK : bind_by_meaning(m, domain, err);
}

kn_status kn_vtree_make_from(kn_vtree **out, kn_context *ctx, const char *name, kn_vtree_fn give, void *arg,
                             const kn_vdomain *domain, kn_error *err)
{
    kn_vtree_maker m = {.ctx = ctx, .name = name, .nodes = {.ctx = ctx}};
    *out = NULL;
    m.tree = kn_alloc_zero(ctx, sizeof *m.tree);
    if (!m.tree) return kn_fail_memory(err, m.ctx, WHAT);
    m.tree->ctx = ctx;
    kn_texts_init(&m.tree->labels, ctx);
    kn_status st = give(&m, arg, err);
    if (st == KN_OK) st = finish(&m, err);
    if (st == KN_OK) st = bind(&m, domain, err);
    kn_free(m.labels);
    kn_free(m.ends);
    kn_vnumbers_free(&m.nodes);
    if (st != KN_OK)
        kn_vtree_free(m.tree);
    else
        *out = m.tree;
    return st;
}

typedef struct declared {
    const kn_attribute *attribute;
    const kn_vdomain   *domain;
    bool                file;
} declared;

static kn_status give_declared(kn_vtree_maker *m, void *arg, kn_error *err)
{
    const declared *d = arg;
    return d->file ? kn_vtree_read_file(m, m->ctx, &d->attribute->hierarchy, err)
                   : kn_vtree_build(m, m->ctx, d->attribute, d->domain, err);
}

kn_status kn_vtree_make(kn_vtree **out, kn_context *ctx, const kn_attribute *attribute, const kn_vdomain *domain,
                        kn_error *err)
{
    const kn_hierarchy_spec *spec = &attribute->hierarchy;
    declared                 d = {attribute, domain, false};
    d.file = spec->kind == KN_HIERARCHY_FILE || spec->kind == KN_HIERARCHY_TAXONOMY;
    return kn_vtree_make_from(out, ctx, d.file ? spec->path : attribute->name, give_declared, &d, domain, err);
}

void kn_vtree_free(kn_vtree *t)
{
    if (!t) return;
    kn_texts_free(&t->labels);
    kn_free(t->label);
    kn_free(t->level);
    kn_free(t->cover);
    kn_free(t->parent);
    kn_free(t->paths);
    kn_free(t->leaf_of_value);
    kn_free(t);
}
