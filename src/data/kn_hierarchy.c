/* kn_hierarchy.c: look-ups in a hierarchy's arrays, and their validation. See the header for the layout.
 *
 * Cost: ancestor O(1); lowest common ancestor O(log levels); level map O(codes). Memory: about 4 bytes per leaf and
 * level plus 25 per node. kn_hierarchy_maker.c makes the arrays, kn_hierarchy_bind.c finds the leaves of a column's
 * values.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_hierarchy.h"

#include "kn_alloc.h"
#include "kn_error.h"

void kn_hierarchy_free(kn_hierarchy *h)
{
    if (!h) return;
    KN_FREE(h->name, h->parent, h->first, h->last, h->label, h->changes, h->level, h->ancestors, h->level_sizes,
            h->label_offsets, h->label_bytes, h->leaf_of_code, h->code_order, h->people, h->warnings, h);
}

int kn_hierarchy_levels(const kn_hierarchy *h)
{
    return (int)h->height + 1;
}

uint32_t kn_hierarchy_leaves(const kn_hierarchy *h)
{
    return h->leaves;
}

uint32_t kn_hierarchy_nodes(const kn_hierarchy *h)
{
    return h->nodes - 1;
}

bool kn_hierarchy_balanced(const kn_hierarchy *h)
{
    return h->balanced;
}

uint32_t kn_hierarchy_level_size(const kn_hierarchy *h, int level)
{
    return level < 0 || (uint32_t)level > h->height ? 0 : h->level_sizes[level];
}

uint32_t kn_hierarchy_level_first(const kn_hierarchy *h, int level)
{
    if (level < 0 || (uint32_t)level > h->height) return KN_NODE_NONE;
    if (h->leaves == 0) return (uint32_t)level == h->height ? h->nodes - 1 : KN_NODE_NONE;
    return kn_hierarchy_ancestor(h, 0, (uint32_t)level);
}

uint32_t kn_hierarchy_level_next(const kn_hierarchy *h, int level, uint32_t node)
{
    if (level < 0 || (uint32_t)level >= h->height || node >= h->nodes || h->last[node] >= h->leaves)
        return KN_NODE_NONE;
    return kn_hierarchy_ancestor(h, h->last[node], (uint32_t)level);
}

uint32_t kn_hierarchy_root(const kn_hierarchy *h)
{
    return h->nodes - 1;
}

uint32_t kn_hierarchy_parent(const kn_hierarchy *h, uint32_t node)
{
    return node < h->nodes ? h->parent[node] : KN_NODE_NONE;
}

uint32_t kn_hierarchy_child(const kn_hierarchy *h, uint32_t node)
{
    if (node <= h->leaves || node >= h->nodes || h->leaves == 0) return KN_NODE_NONE;
    return kn_hierarchy_ancestor(h, h->first[node], (uint32_t)h->level[node] - 1);
}

uint32_t kn_hierarchy_sibling(const kn_hierarchy *h, uint32_t node)
{
    if (node >= h->nodes - 1) return KN_NODE_NONE;
    uint32_t parent = h->parent[node], next = h->last[node];
    if (next >= h->last[parent] || next >= h->leaves) return KN_NODE_NONE;
    return kn_hierarchy_ancestor(h, next, (uint32_t)h->level[parent] - 1);
}

uint32_t kn_hierarchy_cover(const kn_hierarchy *h, uint32_t node)
{
    if (node >= h->nodes) return 0;
    return node == h->nodes - 1 ? h->leaves : h->last[node] - h->first[node];
}

int64_t kn_hierarchy_people(const kn_hierarchy *h, uint32_t node)
{
    return h->people && node < h->nodes ? h->people[h->last[node]] - h->people[h->first[node]] : -1;
}

const char *kn_hierarchy_label(const kn_hierarchy *h, uint32_t node, size_t *length)
{
    if (node >= h->nodes) {
        *length = 0;
        return NULL;
    }
    kn_string text = kn_hierarchy_text(h, node);
    *length = text.size;
    return text.data;
}

uint32_t kn_hierarchy_warnings(const kn_hierarchy *h)
{
    return h->warning_count;
}

const kn_hierarchy_warning *kn_hierarchy_warning_at(const kn_hierarchy *h, uint32_t index)
{
    return index < h->warning_count ? &h->warnings[index] : NULL;
}

/* The lowest level, not below `low`, at which two leaves have the same ancestor. Equal at one level is equal at all
 * higher ones, so bisection finds it. */
static uint32_t meet(const kn_hierarchy *h, uint32_t a, uint32_t b, uint32_t low)
{
    uint32_t high = h->height;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (kn_hierarchy_ancestor(h, a, middle) == kn_hierarchy_ancestor(h, b, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return kn_hierarchy_ancestor(h, a, low);
}

uint32_t kn_hierarchy_lca(const kn_hierarchy *h, uint32_t a, uint32_t b)
{
    if (a == b) return a;
    /* Starting at the higher node's own level keeps nodes with one child apart from that child. */
    uint32_t low = h->level[a] > h->level[b] ? h->level[a] : h->level[b];
    return meet(h, h->first[a], h->first[b], low);
}

uint32_t kn_hierarchy_lca_span(const kn_hierarchy *h, uint32_t first, uint32_t last)
{
    return meet(h, first, last, 0);
}

uint32_t kn_hierarchy_lca_codes(const kn_hierarchy *h, const uint32_t *codes, size_t count)
{
    uint32_t low = h->leaf_of_code[codes[0]], high = low;
    for (size_t i = 1; i < count; i++) {
        uint32_t leaf = h->leaf_of_code[codes[i]];
        if (leaf < low) low = leaf;
        if (leaf > high) high = leaf;
    }
    return meet(h, low, high, 0);
}

void kn_hierarchy_level_map(const kn_hierarchy *h, uint32_t level, uint32_t *map, uint32_t *distinct, uint32_t *nodes)
{
    uint32_t count = 0, before = KN_NODE_NONE;
    for (uint32_t i = 0; i < h->codes; i++) {
        uint32_t code = h->code_order[i];
        uint32_t node = kn_hierarchy_of_code(h, code, level);
        if (node != before) {
            if (nodes) nodes[count] = node;
            count++;
            before = node;
        }
        map[code] = count - 1;
    }
    uint32_t node = kn_hierarchy_of_code(h, h->codes, level);
    if (node == before) {
        map[h->codes] = count - 1;
    } else {
        map[h->codes] = count;
        if (nodes) nodes[count] = node;
        count += h->missing;
    }
    *distinct = count;
}

kn_status kn_hierarchy_set_leaves(kn_hierarchy *h, const kn_column *column, uint32_t *leaf_of_code, kn_error *err)
{
    uint32_t  codes = column->dict.count;
    uint32_t *begin = kn_alloc_array_zero(h->ctx, (size_t)h->leaves + 1, sizeof *begin);
    uint32_t *order = kn_alloc_array(h->ctx, codes, sizeof *order);
    if (!begin || !order) {
        KN_FREE(begin, order, leaf_of_code);
        return kn_fail_memory(err, h->ctx, "binding a hierarchy");
    }
    for (uint32_t c = 0; c < codes; c++) begin[leaf_of_code[c] + 1]++; /* a value's leaf is < leaves */
    for (uint32_t l = 0; l < h->leaves; l++) begin[l + 1] += begin[l];
    for (uint32_t c = 0; c < codes; c++) order[begin[leaf_of_code[c]]++] = c;
    KN_FREE(begin, h->leaf_of_code, h->code_order);
    leaf_of_code[codes] = h->leaves;
    h->codes = codes;
    h->leaf_of_code = leaf_of_code;
    h->code_order = order;
    h->missing = column->missing > 0;
    return KN_OK;
}

/* ---- Validation ---- */

static const char *check_nodes(const kn_hierarchy *h)
{
    uint32_t root = h->nodes - 1;
    if (h->parent[root] != KN_NODE_NONE) return "the root has a parent";
    if (h->first[root] != 0 || h->last[root] != h->leaves + 1 || h->level[root] != h->height)
        return "the root does not cover everything";
    for (uint32_t n = 0; n < h->nodes; n++) {
        if (h->label[n] >= h->label_count) return "a label number is out of range";
        if (n == root) continue;
        uint32_t p = h->parent[n];
        if (p <= n || p >= h->nodes || p <= h->leaves) return "a parent is not a group";
        if (h->first[n] >= h->last[n]) return "a node without leaves";
        if (n <= h->leaves) {
            if (h->first[n] != n || h->last[n] != n + 1 || h->level[n] != 0) return "a leaf is not its own interval";
        } else if (h->level[n] + 1 != h->level[p] || h->level[n] == 0) {
            return "a group's level is not one below its parent's";
        }
        if (h->first[n] < h->first[p] || h->last[n] > h->last[p]) return "a node leaves its parent's interval";
        if (h->changes[n] != h->changes[p] + (h->label[n] != h->label[p])) return "label changes are miscounted";
    }
    return h->parent[h->leaves] == root ? NULL : "a missing cell is not below the root";
}

/* Compares every row of the table with a walk along the parents. */
static const char *check_ancestors(const kn_hierarchy *h)
{
    for (uint32_t leaf = 0; leaf <= h->leaves; leaf++) {
        uint32_t node = leaf;
        for (uint32_t level = 0; level <= h->height; level++) {
            while (node != h->nodes - 1 && h->level[h->parent[node]] <= level) node = h->parent[node];
            if (kn_hierarchy_ancestor(h, leaf, level) != node) return "an ancestor is wrong";
            if (!kn_hierarchy_covers(h, node, leaf)) return "an ancestor does not cover its leaf";
        }
    }
    return NULL;
}

/* Along each level every leaf is covered once. */
static const char *check_levels(const kn_hierarchy *h)
{
    for (uint32_t level = 0; level < h->height; level++) {
        uint32_t count = 0;
        for (uint32_t leaf = 0; leaf < h->leaves; count++) {
            uint32_t node = kn_hierarchy_ancestor(h, leaf, level);
            if (h->first[node] != leaf) return "the nodes of a level do not follow each other";
            leaf = h->last[node];
        }
        if (h->level_sizes[level] != count) return "a level's size is wrong";
    }
    if (h->level_sizes[h->height] != 1) return "the root is not alone";
    return NULL;
}

static const char *check_binding(const kn_hierarchy *h)
{
    if (!h->leaf_of_code) return h->codes == 0 && !h->code_order ? NULL : "codes without leaves";
    if (h->leaf_of_code[h->codes] != h->leaves) return "the missing code has a leaf";
    for (uint32_t i = 0; i < h->codes; i++) {
        if (h->leaf_of_code[i] >= h->leaves) return "a code's leaf is out of range";
        if (h->code_order[i] >= h->codes) return "the order of codes is out of range";
        if (i == 0) continue;
        uint32_t before = h->leaf_of_code[h->code_order[i - 1]], now = h->leaf_of_code[h->code_order[i]];
        if (before > now || (before == now && h->code_order[i - 1] >= h->code_order[i]))
            return "the codes are not in leaf order";
    }
    return NULL;
}

bool kn_hierarchy_validate(const kn_hierarchy *h, const char **reason)
{
    const char *wrong = NULL;
    if (h->height < 1 || h->height >= KN_HIERARCHY_MAX_LEVELS)
        wrong = "the height is out of range";
    else if (h->nodes < h->leaves + 2)
        wrong = "too few nodes";
    for (uint32_t l = 0; !wrong && l < h->label_count; l++)
        if (h->label_offsets[l] > h->label_offsets[l + 1]) wrong = "label offsets descend";
    if (!wrong) wrong = check_nodes(h);
    if (!wrong) wrong = check_ancestors(h);
    if (!wrong) wrong = check_levels(h);
    if (!wrong) wrong = check_binding(h);
    if (reason) *reason = wrong;
    return wrong == NULL;
}
