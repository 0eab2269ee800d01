/* kn_hierarchy_maker.c: from paths (leaf, parent, ..., root) to a hierarchy's arrays.
 *
 * While paths arrive, the tree is a list of nodes with parent and sibling links; two hash tables find a label's number
 * and the node of a (depth, label). Depths are counted from the root, so paths of different lengths meet there. At the
 * end one walk numbers leaves and groups in leaf order and the arrays are filled.
 *
 * Cost: O(fields) expected while adding, O(nodes + leaves × levels) at the end. Limits: KN_HIERARCHY_MAX_LEVELS levels,
 * 2^31 nodes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fault.h"
#include "kn_hash.h"
#include "kn_hierarchy.h"

#define WHAT "making a hierarchy"

#define NONE KN_NODE_NONE
enum { NODE_LIMIT = 1 << 30 };

typedef struct node {
    uint32_t parent, first_child, last_child, next;
    uint32_t label;
    uint32_t number; /* in the finished hierarchy */
    int64_t  line, column;
    uint8_t  depth;
    bool     leaf;
} node;

/* Open addressing over numbers; the hash only says where to look. */
typedef struct index_table {
    uint32_t *slots; /* NONE: free */
    size_t    mask;
    size_t    used;
} index_table;

struct kn_hierarchy_maker {
    kn_context *ctx;
    char       *name;
    bool        once;
    uint32_t    height;
    uint32_t    shallowest; /* depth of a leaf */

    node    *nodes; /* node 0 is the root */
    size_t   node_count, node_capacity;
    uint32_t leaves;

    kn_buffer   bytes;
    uint64_t   *offsets; /* label_count + 1 */
    size_t      offset_capacity;
    uint32_t   *leaf_of_label; /* node, or NONE */
    size_t      leaf_capacity;
    uint32_t    label_count;
    index_table labels, places;

    uint32_t *order; /* the leaf of each path, in order of arrival    */
    size_t    order_capacity;

    uint32_t recent[KN_HIERARCHY_MAX_LEVELS]; /* the groups of the path before, by depth */
    uint32_t recent_count;
};

static bool table_grow(kn_context *ctx, index_table *table, uint64_t (*hash)(const void *, uint32_t), const void *arg)
{
    if (table->slots && table->used < (table->mask + 1) / 2) return true;
    size_t    size = table->slots ? (table->mask + 1) * 2 : 64;
    uint32_t *slots = kn_alloc_array(ctx, size, sizeof *slots);
    if (!slots) return false;
    memset(slots, 0xff, size * sizeof *slots);
    for (size_t i = 0; table->slots && i <= table->mask; i++) {
        if (table->slots[i] == NONE) continue;
        size_t at = hash(arg, table->slots[i]) & (size - 1);
        while (slots[at] != NONE) at = (at + 1) & (size - 1);
        slots[at] = table->slots[i];
    }
    kn_free(table->slots);
    table->slots = slots;
    table->mask = size - 1;
    return true;
}

static kn_string label_text(const kn_hierarchy_maker *m, uint32_t label)
{
    kn_string s = {m->bytes.data ? m->bytes.data + m->offsets[label] : "",
                   (size_t)(m->offsets[label + 1] - m->offsets[label])};
    return s;
}

static uint64_t label_hash(const void *arg, uint32_t label)
{
    kn_string text = label_text(arg, label);
    return kn_hash_bytes(text.data, text.size);
}

static uint64_t place_key(uint32_t depth, uint32_t label)
{
    return kn_hash_word((uint64_t)depth << 32 | label);
}

static uint64_t place_hash(const void *arg, uint32_t number)
{
    const kn_hierarchy_maker *m = arg;
    return place_key(m->nodes[number].depth, m->nodes[number].label);
}

static void maker_free(kn_hierarchy_maker *m)
{
    if (!m) return;
    KN_FREE(m->name, m->nodes);
    kn_buffer_free(&m->bytes);
    KN_FREE(m->offsets, m->leaf_of_label, m->labels.slots, m->places.slots, m->order, m);
}

kn_status kn_hierarchy_maker_create(kn_hierarchy_maker **out, kn_context *ctx, const char *name, bool once,
                                    kn_error *err)
{
    kn_hierarchy_maker *m = kn_alloc_zero(ctx, sizeof *m);
    if (m) {
        m->ctx = ctx;
        m->once = once;
        m->shallowest = KN_HIERARCHY_MAX_LEVELS;
        kn_buffer_init(&m->bytes, ctx);
        m->name = kn_strndup(ctx, name, strlen(name));
        if (m->name && KN_GROW(ctx, &m->offsets, &m->offset_capacity, 1)) {
            m->offsets[0] = 0;
            *out = m;
            return KN_OK;
        }
    }
    maker_free(m);
    return kn_fail_memory(err, ctx, WHAT);
}

/* The number of a label; NONE: out of memory. */
static uint32_t intern(kn_hierarchy_maker *m, kn_string text)
{
    if (!table_grow(m->ctx, &m->labels, label_hash, m)) return NONE;
    size_t at = kn_hash_bytes(text.data, text.size) & m->labels.mask;
    for (; m->labels.slots[at] != NONE; at = (at + 1) & m->labels.mask)
        if (kn_string_equal(label_text(m, m->labels.slots[at]), text)) return m->labels.slots[at];
    if (m->label_count == NODE_LIMIT) return NONE;
    if (!KN_GROW(m->ctx, &m->offsets, &m->offset_capacity, (size_t)m->label_count + 2)) return NONE;
    if (!KN_GROW(m->ctx, &m->leaf_of_label, &m->leaf_capacity, (size_t)m->label_count + 1)) return NONE;
    kn_buffer_append(&m->bytes, text.data, text.size);
    if (m->bytes.failed) return NONE;
    m->leaf_of_label[m->label_count] = NONE;
    m->offsets[m->label_count + 1] = m->bytes.size;
    m->labels.slots[at] = m->label_count;
    m->labels.used++;
    return m->label_count++;
}

/* The node of a label at a depth, or NONE with `slot` set to where it belongs. */
static uint32_t find_place(const kn_hierarchy_maker *m, uint32_t depth, uint32_t label, size_t *slot)
{
    size_t at = place_key(depth, label) & m->places.mask;
    for (; m->places.slots[at] != NONE; at = (at + 1) & m->places.mask) {
        const node *n = &m->nodes[m->places.slots[at]];
        if (n->depth == depth && n->label == label) break;
    }
    *slot = at;
    return m->places.slots[at];
}

static kn_status add_node(kn_hierarchy_maker *m, uint32_t parent, uint32_t depth, uint32_t label, size_t slot,
                          const kn_path_field *field, bool leaf, uint32_t *out, kn_error *err)
{
    if (m->node_count == NODE_LIMIT || !KN_GROW(m->ctx, &m->nodes, &m->node_capacity, m->node_count + 1))
        return kn_fail_memory(err, m->ctx, WHAT);
    uint32_t number = (uint32_t)m->node_count++;
    m->nodes[number] = (node){.parent = parent,
                              .first_child = NONE,
                              .last_child = NONE,
                              .next = NONE,
                              .label = label,
                              .line = field->line,
                              .column = field->column,
                              .depth = (uint8_t)depth,
                              .leaf = leaf};
    m->places.slots[slot] = number;
    m->places.used++;
    if (parent != NONE) {
        node *p = &m->nodes[parent];
        if (p->first_child == NONE)
            p->first_child = number;
        else
            m->nodes[p->last_child].next = number;
        p->last_child = number;
    }
    *out = number;
    return KN_OK;
}

/* A mistake in a field; `other` is where the label already occurs. */
static kn_status misfit(const kn_hierarchy_maker *m, const kn_path_field *field, uint32_t index, const char *what,
                        uint32_t other, kn_error *err)
{
    const node *o = &m->nodes[other];
    if (field->line == 0) return kn_fail(err, KN_INPUT, "%s: %s", m->name, what);
    if (m->once)
        return kn_fail_at(err, KN_INPUT, m->name, field->line, field->column, "%s (see line %" PRId64 ")", what,
                          o->line);
    return kn_fail_at(err, KN_INPUT, m->name, field->line, field->column,
                      "field %" PRIu32 ": %s (see line %" PRId64 ")", index + 1, what, o->line);
}

/* Does the field fit the existing node with its depth and label? */
static kn_status check_place(const kn_hierarchy_maker *m, uint32_t found, uint32_t parent, bool leaf,
                             const kn_path_field *field, uint32_t index, kn_error *err)
{
    const node *n = &m->nodes[found];
    if (leaf && n->leaf) return misfit(m, field, index, "the same leaf again", found, err);
    if (leaf != n->leaf)
        return misfit(m, field, index, "the same label on the same level is a leaf and a group", found, err);
    if (n->parent != parent)
        return misfit(m, field, index, "the same label on the same level has another parent", found, err);
    if (m->once && n->line != field->line) return misfit(m, field, index, "the same group again", found, err);
    return KN_OK;
}

/* The depth down to which a path agrees with the one before, whose groups it then shares: neighbours mostly do, and
 * comparing is cheaper than looking up. */
static uint32_t shared_depth(const kn_hierarchy_maker *m, const kn_path_field *path, uint32_t count)
{
    uint32_t depth = 0;
    if (m->once) return 0; /* here each group's place must be checked   */
    while (depth < m->recent_count && depth + 1 < count &&
           kn_string_equal(label_text(m, m->nodes[m->recent[depth]].label), path[count - 1 - depth].label))
        depth++;
    return depth;
}

/* Finds or adds the node of one field of a path. */
static kn_status add_field(kn_hierarchy_maker *m, uint32_t parent, uint32_t depth, const kn_path_field *field,
                           uint32_t index, uint32_t *out, kn_error *err)
{
    bool     leaf = index == 0;
    uint32_t label = intern(m, field->label);
    if (label == NONE || !table_grow(m->ctx, &m->places, place_hash, m)) return kn_fail_memory(err, m->ctx, WHAT);
    if (depth == 0 && m->node_count > 0 && m->nodes[0].label != label)
        return misfit(m, field, index, "the last label is not the root of the others", 0, err);
    if (leaf && m->leaf_of_label[label] != NONE)
        return misfit(m, field, index, "the same leaf again", m->leaf_of_label[label], err);
    size_t slot;
    *out = find_place(m, depth, label, &slot);
    if (*out == NONE)
        KN_TRY(add_node(m, parent, depth, label, slot, field, leaf, out, err));
    else
        KN_TRY(check_place(m, *out, parent, leaf, field, index, err));
    if (leaf) m->leaf_of_label[label] = *out;
    return KN_OK;
}

kn_status kn_hierarchy_maker_add(kn_hierarchy_maker *m, const kn_path_field *path, uint32_t count, kn_error *err)
{
    if (count < 2 || count > KN_HIERARCHY_MAX_LEVELS)
        return kn_fail_at(err, KN_INPUT, m->name, path[0].line, path[0].column,
                          "a path has 2 to %d labels, from the leaf to the root", KN_HIERARCHY_MAX_LEVELS);
    uint32_t depth = shared_depth(m, path, count), at = depth > 0 ? m->recent[depth - 1] : NONE;
    for (; depth < count; depth++) {
        uint32_t index = count - 1 - depth;
        KN_TRY(add_field(m, at, depth, &path[index], index, &at, err));
        m->recent[depth] = at;
    }
    m->recent_count = count - 1;
    if (!KN_GROW(m->ctx, &m->order, &m->order_capacity, (size_t)m->leaves + 1))
        return kn_fail_memory(err, m->ctx, WHAT);
    m->order[m->leaves++] = at;
    if (count - 1 > m->height) m->height = count - 1;
    if (count - 1 < m->shallowest) m->shallowest = count - 1;
    return KN_OK;
}

/* ---- The arrays ---- */

/* Visits the tree in leaf order, without a stack: down first children, then along siblings, then up. Numbers leaves and
 * groups and records the leaf intervals. */
static void number_nodes(kn_hierarchy_maker *m, kn_hierarchy *h, uint32_t *next_of_level)
{
    uint32_t leaf = 0, at = 0;
    for (;;) {
        node *n = &m->nodes[at];
        n->number = n->leaf ? leaf : next_of_level[m->height - n->depth]++;
        h->first[n->number] = leaf;
        h->level[n->number] = n->leaf ? 0 : (uint8_t)(m->height - n->depth);
        h->label[n->number] = n->label;
        h->parent[n->number] = n->parent == NONE ? NONE : m->nodes[n->parent].number;
        if (n->leaf) leaf++;
        if (n->first_child != NONE) {
            at = n->first_child;
            continue;
        }
        h->last[n->number] = leaf;
        while (at != 0 && m->nodes[at].next == NONE) {
            at = m->nodes[at].parent;
            h->last[m->nodes[at].number] = leaf;
        }
        if (at == 0) return;
        at = m->nodes[at].next;
    }
}

static void fill_ancestors(kn_hierarchy *h)
{
    size_t width = (size_t)h->leaves + 1;
    for (uint32_t leaf = 0; leaf <= h->leaves; leaf++) {
        uint32_t at = leaf;
        for (uint32_t level = 1; level < h->height; level++) {
            if (h->level[h->parent[at]] <= level) at = h->parent[at];
            h->ancestors[(level - 1) * width + leaf] = at;
        }
    }
    if (kn_fault("hierarchy-wrong-parent") && h->height > 1 && h->leaves > 0)
        h->ancestors[0] = h->ancestors[h->leaves - 1];
    for (uint32_t level = 0; level <= h->height; level++) {
        uint32_t size = h->leaves > 0 || level == h->height;
        for (uint32_t leaf = 1; leaf < h->leaves; leaf++)
            size += kn_hierarchy_ancestor(h, leaf, level) != kn_hierarchy_ancestor(h, leaf - 1, level);
        h->level_sizes[level] = size;
    }
}

static bool allocate(kn_hierarchy *h, uint32_t leaves, uint32_t nodes, uint32_t height)
{
    kn_context *ctx = h->ctx;
    h->leaves = leaves;
    h->nodes = nodes;
    h->height = height;
    h->parent = kn_alloc_array(ctx, nodes, sizeof *h->parent);
    h->first = kn_alloc_array(ctx, nodes, sizeof *h->first);
    h->last = kn_alloc_array(ctx, nodes, sizeof *h->last);
    h->label = kn_alloc_array(ctx, nodes, sizeof *h->label);
    h->changes = kn_alloc_array(ctx, nodes, sizeof *h->changes);
    h->level = kn_alloc_array(ctx, nodes, sizeof *h->level);
    h->level_sizes = kn_alloc_array(ctx, (size_t)height + 1, sizeof *h->level_sizes);
    h->ancestors = kn_alloc_array(ctx, ((size_t)leaves + 1) * (height - 1), sizeof *h->ancestors);
    return h->parent && h->first && h->last && h->label && h->changes && h->level && h->level_sizes && h->ancestors;
}

/* Labels that stand for different sets of leaves: compares each node with the lowest node of the same label. */
static bool find_warnings(const kn_hierarchy_maker *m, kn_hierarchy *h)
{
    uint32_t *lowest = kn_alloc_array(h->ctx, h->label_count, sizeof *lowest);
    uint32_t *source = kn_alloc_array(h->ctx, h->nodes, sizeof *source); /* node number -> maker's node */
    size_t    capacity = 0;
    bool      ok = lowest && source;
    for (uint32_t l = 0; ok && l < h->label_count; l++) lowest[l] = NONE;
    for (uint32_t i = 0; ok && i < m->node_count; i++) source[m->nodes[i].number] = i;
    for (uint32_t n = 0; ok && n < h->nodes; n++) {
        if (n == h->leaves) continue;
        uint32_t other = lowest[h->label[n]];
        if (other == NONE) {
            lowest[h->label[n]] = n;
            continue;
        }
        if (h->first[other] == h->first[n] && kn_hierarchy_cover(h, other) == kn_hierarchy_cover(h, n)) continue;
        ok = KN_GROW(h->ctx, &h->warnings, &capacity, (size_t)h->warning_count + 1);
        if (!ok) break;
        const node *a = &m->nodes[source[other]], *b = &m->nodes[source[n]];
        h->warnings[h->warning_count++] =
            (kn_hierarchy_warning){other, n, h->level[other], h->level[n], a->line, b->line, a->column, b->column};
    }
    KN_FREE(lowest, source);
    return ok;
}

/* Fills the arrays; the maker's tree has at least its root. */
static bool fill(kn_hierarchy_maker *m, kn_hierarchy *h)
{
    uint32_t next_of_level[KN_HIERARCHY_MAX_LEVELS + 1] = {0};
    for (size_t i = 0; i < m->node_count; i++)
        if (!m->nodes[i].leaf) next_of_level[m->height - m->nodes[i].depth + 1]++;
    next_of_level[0] = m->leaves + 1;
    for (uint32_t level = 1; level <= m->height; level++) next_of_level[level] += next_of_level[level - 1];
    if (!allocate(h, m->leaves, (uint32_t)m->node_count + 1, m->height)) return false;
    number_nodes(m, h, next_of_level);

    uint32_t root = h->nodes - 1, missing = m->leaves;
    h->last[root] = m->leaves + 1;
    h->parent[missing] = root;
    h->first[missing] = missing;
    h->last[missing] = missing + 1;
    h->level[missing] = 0;
    h->label[missing] = intern(m, (kn_string){"", 0});
    if (h->label[missing] == NONE) return false;
    h->changes[root] = 0;
    for (uint32_t n = root; n-- > 0;)
        h->changes[n] = h->changes[h->parent[n]] + (h->label[n] != h->label[h->parent[n]]);
    h->balanced = m->shallowest >= m->height;
    fill_ancestors(h);

    /* The labels and the name change hands. */
    if (!kn_buffer_text(&m->bytes)) return false;
    h->label_count = m->label_count;
    h->label_offsets = m->offsets;
    h->label_bytes = m->bytes.data;
    h->name = m->name;
    m->offsets = NULL;
    m->name = NULL;
    kn_buffer_init(&m->bytes, m->ctx);
    return find_warnings(m, h);
}

/* In a release "*" means anything: no label of a file that covers less may be "*". (Masks of short values are checked
 * when they are released.) */
static kn_status check_stars(const kn_hierarchy *h, const kn_hierarchy_maker *m, kn_error *err)
{
    for (size_t i = 0; i < m->node_count; i++) {
        const node *n = &m->nodes[i];
        uint64_t    begin = h->label_offsets[n->label], end = h->label_offsets[n->label + 1];
        if (n->line == 0 || end - begin != 1 || h->label_bytes[begin] != '*') continue;
        if (!n->leaf && h->last[n->number] - h->first[n->number] >= h->leaves) continue;
        return kn_fail_at(err, KN_INPUT, h->name, n->line, n->column,
                          "* stands for any value in a release; only a label above all leaves may be called so");
    }
    return KN_OK;
}

static kn_status finish(kn_hierarchy *h, kn_hierarchy_maker *m, const kn_column *column, kn_error *err)
{
    if (m->node_count == 0) {
        kn_path_field star = {{"*", 1}, 0, 0};
        uint32_t      label = intern(m, star.label), root;
        if (label == NONE || !table_grow(m->ctx, &m->places, place_hash, m)) return kn_fail_memory(err, m->ctx, WHAT);
        size_t slot = place_key(0, label) & m->places.mask;
        KN_TRY(add_node(m, NONE, 0, label, slot, &star, false, &root, err));
        m->height = 1;
    }
    if (!fill(m, h)) return kn_fail_memory(err, m->ctx, WHAT);
    KN_TRY(check_stars(h, m, err));
    if (!column) return KN_OK;
    uint32_t *leaf_of_code = kn_alloc_array(m->ctx, (size_t)m->leaves + 1, sizeof *leaf_of_code);
    if (!leaf_of_code) return kn_fail_memory(err, m->ctx, WHAT);
    for (uint32_t i = 0; i < m->leaves; i++) leaf_of_code[i] = m->nodes[m->order[i]].number;
    return kn_hierarchy_set_leaves(h, column, leaf_of_code, err);
}

kn_status kn_hierarchy_maker_finish(kn_hierarchy **out, kn_hierarchy_maker *m, const kn_column *column, kn_status added,
                                    kn_error *err)
{
    kn_hierarchy *h = added == KN_OK ? kn_alloc_zero(m->ctx, sizeof *h) : NULL;
    kn_status     status = added;
    if (h) {
        h->ctx = m->ctx;
        status = finish(h, m, column, err);
    } else if (added == KN_OK) {
        status = kn_fail_memory(err, m->ctx, WHAT);
    }
    maker_free(m);
    if (status != KN_OK)
        kn_hierarchy_free(h);
    else
        *out = h;
    return status;
}
