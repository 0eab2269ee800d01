/* kn_vocabulary.c: the tree of all values: numbering, look-ups, validation. kn_vocabulary_make.c finds the hierarchy
 * of each class.
 *
 * Interface: kn_vocabulary.h. Cost: linear in the labels of all hierarchies; a look-up is one hash. Limits: 2^32 - 3
 * values, 65,534 classes. Paper: sections II-A, II-D.1 (one "*" above all classes).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_vocabulary.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_hierarchy.h"

#define NONE UINT32_MAX
#define WHAT "the values of tree records"

void kn_vocabulary_free(kn_vocabulary *v)
{
    if (!v) return;
    for (int c = 0; v->class_names && c < v->class_count; c++) kn_free(v->class_names[c]);
    KN_FREE(v->class_names, v->sensitive, v->negative, v->unrelated, v->top, v->parent, v->end, v->leaves, v->cls,
            v->depth, v->height, v->label_start, v->label_bytes, v->entry_node, v->entry_start, v->entry_bytes,
            v->slots, v);
}

/* ---- Look-ups ---- */

static uint32_t entry_node(const kn_vocabulary *v, uint32_t entry)
{
    return entry < v->nodes ? entry : v->entry_node[entry - v->nodes];
}

static kn_string entry_text(const kn_vocabulary *v, uint32_t entry)
{
    if (entry < v->nodes) return kn_vocabulary_label(v, entry);
    const uint64_t *start = v->entry_start + (entry - v->nodes);
    return (kn_string){v->entry_bytes + start[0], (size_t)(start[1] - start[0])};
}

/* The slot of a text, or the free one where it belongs. */
static uint32_t slot_of(const kn_vocabulary *v, uint16_t cls, kn_string text)
{
    uint64_t hash = kn_hash_mix(kn_hash_bytes(text.data, text.size) ^ cls, 0x9e3779b97f4a7c15u);
    uint32_t at = (uint32_t)hash & v->slot_mask;
    for (; v->slots[at] != NONE; at = (at + 1) & v->slot_mask)
        if (v->cls[entry_node(v, v->slots[at])] == cls && kn_string_equal(entry_text(v, v->slots[at]), text)) break;
    return at;
}

uint32_t kn_vocabulary_find(const kn_vocabulary *v, int cls, kn_string label)
{
    if (cls < -1 || cls >= v->class_count) return NONE;
    uint32_t entry = v->slots[slot_of(v, cls < 0 ? KN_VOCABULARY_NO_CLASS : (uint16_t)cls, label)];
    return entry == NONE ? NONE : entry_node(v, entry);
}

/* ---- A class's part of a hierarchy ---- */

static bool is_star(kn_string s)
{
    return s.size == 1 && s.data[0] == '*';
}

static bool is_group(const kn_hierarchy *h, uint32_t node)
{
    return kn_hierarchy_child(h, node) != KN_NODE_NONE;
}

bool kn_vocabulary_below_star(const kn_hierarchy *h)
{
    return is_star(kn_hierarchy_text(h, kn_hierarchy_root(h)));
}

uint32_t kn_vocabulary_group(const kn_hierarchy *h, const char *name)
{
    uint32_t root = kn_hierarchy_root(h);
    for (uint32_t c = kn_hierarchy_child(h, root); c != KN_NODE_NONE; c = kn_hierarchy_sibling(h, c))
        if (is_group(h, c) && kn_string_equal(kn_hierarchy_text(h, c), kn_string_of(name))) return c;
    return KN_NODE_NONE;
}

uint32_t kn_vocabulary_top(const kn_hierarchy *h, const char *name)
{
    uint32_t root = kn_hierarchy_root(h), named = kn_vocabulary_group(h, name);
    if (!kn_vocabulary_below_star(h)) return root;
    if (named != KN_NODE_NONE) return named;
    uint32_t only = kn_hierarchy_child(h, root);
    if (only == KN_NODE_NONE || kn_hierarchy_sibling(h, only) != KN_NODE_NONE || !is_group(h, only))
        return KN_NODE_NONE;
    return is_star(kn_hierarchy_text(h, only)) ? KN_NODE_NONE : only;
}

/* ---- Numbering ---- */

typedef struct assembly {
    kn_vocabulary              *v;
    const kn_vocabulary_domain *domains;
    uint64_t                    room, byte_room; /* of nodes and of bytes */
    uint16_t                    cls;
} assembly;

static uint32_t add_node(assembly *a, uint32_t parent, kn_string label)
{
    kn_vocabulary *v = a->v;
    uint32_t       node = v->nodes++;
    if (label.size) memcpy(v->label_bytes + v->label_start[node], label.data, label.size);
    v->label_start[node + 1] = v->label_start[node] + label.size;
    v->parent[node] = parent;
    v->cls[node] = a->cls;
    v->depth[node] = parent == NONE ? 0 : (uint16_t)(v->depth[parent] + 1);
    return node;
}

/* A group that contains only its own label again adds nothing. */
static uint32_t pass_repeated(const kn_hierarchy *h, uint32_t node)
{
    for (;;) {
        uint32_t child = kn_hierarchy_child(h, node);
        if (child == KN_NODE_NONE || kn_hierarchy_sibling(h, child) != KN_NODE_NONE) return node;
        if (!kn_string_equal(kn_hierarchy_text(h, node), kn_hierarchy_text(h, child))) return node;
        node = child;
    }
}

static void add_subtree(assembly *a, const kn_hierarchy *h, uint32_t node, uint32_t parent);

static void add_children(assembly *a, const kn_hierarchy *h, uint32_t node, uint32_t below)
{
    for (uint32_t c = kn_hierarchy_child(h, node); c != KN_NODE_NONE; c = kn_hierarchy_sibling(h, c))
        add_subtree(a, h, c, below);
}

/* Recursion as deep as a hierarchy has levels: at most KN_HIERARCHY_MAX_LEVELS. */
static void add_subtree(assembly *a, const kn_hierarchy *h, uint32_t node, uint32_t parent)
{
    node = pass_repeated(h, node);
    add_children(a, h, node, add_node(a, parent, kn_hierarchy_text(h, node)));
}

static void add_class(assembly *a, int cls)
{
    const kn_vocabulary_domain *d = &a->domains[cls];
    a->cls = (uint16_t)cls;
    a->v->top[cls] = a->v->nodes;
    if (d->hierarchy && d->node != KN_NODE_NONE) {
        add_subtree(a, d->hierarchy, d->node, 0);
        return;
    }
    uint32_t top = add_node(a, 0, kn_string_of(d->name));
    if (d->hierarchy)
        add_children(a, d->hierarchy, kn_hierarchy_root(d->hierarchy), top);
    else
        for (int64_t i = 0; i < d->text_count; i++) add_node(a, top, d->texts[i]);
}

static void measure(assembly *a, int cls)
{
    const kn_vocabulary_domain *d = &a->domains[cls];
    uint64_t                    nodes = 1 + (uint64_t)d->text_count, bytes = strlen(d->name);
    if (d->hierarchy) {
        nodes += d->hierarchy->nodes;
        /* Labels of one number are shared: each node may copy one. */
        for (uint32_t n = 0; n < d->hierarchy->nodes; n++) bytes += kn_hierarchy_text(d->hierarchy, n).size;
    }
    for (int64_t i = 0; i < d->text_count; i++) bytes += d->texts[i].size;
    a->room += nodes;
    a->byte_room += bytes + nodes;
}

static bool allocate(assembly *a, int count)
{
    kn_vocabulary *v = a->v;
    kn_context    *ctx = v->ctx;
    size_t         room = (size_t)a->room, classes = (size_t)count + 1;
    v->class_names = kn_alloc_array_zero(ctx, classes, sizeof *v->class_names);
    v->sensitive = kn_alloc_array_zero(ctx, classes, sizeof *v->sensitive);
    v->negative = kn_alloc_array_zero(ctx, classes, sizeof *v->negative);
    v->unrelated = kn_alloc_array_zero(ctx, classes, sizeof *v->unrelated);
    v->top = kn_alloc_array_zero(ctx, classes, sizeof *v->top);
    v->parent = kn_alloc_array(ctx, room, sizeof *v->parent);
    v->end = kn_alloc_array_zero(ctx, room, sizeof *v->end);
    v->leaves = kn_alloc_array_zero(ctx, room, sizeof *v->leaves);
    v->cls = kn_alloc_array(ctx, room, sizeof *v->cls);
    v->depth = kn_alloc_array(ctx, room, sizeof *v->depth);
    v->height = kn_alloc_array_zero(ctx, room, sizeof *v->height);
    v->label_start = kn_alloc_array(ctx, room + 1, sizeof *v->label_start);
    v->label_bytes = kn_alloc(ctx, (size_t)a->byte_room + 1);
    if (!v->class_names || !v->sensitive || !v->negative || !v->unrelated || !v->top || !v->parent || !v->end ||
        !v->leaves || !v->cls || !v->depth || !v->height || !v->label_start || !v->label_bytes)
        return false;
    v->label_start[0] = 0;
    return true;
}

/* Ends, leaves and heights, children before parents. */
static void sum_up(kn_vocabulary *v)
{
    for (uint32_t n = v->nodes; n-- > 0;) {
        if (v->end[n] == 0) { /* no child was here before: a leaf */
            v->end[n] = n + 1;
            v->leaves[n] = 1;
        }
        if (n == 0) break;
        uint32_t p = v->parent[n];
        if (v->end[p] == 0) v->end[p] = v->end[n]; /* the last child comes first */
        v->leaves[p] += v->leaves[n];
        if (v->height[p] <= v->height[n]) v->height[p] = (uint16_t)(v->height[n] + 1);
    }
}

static kn_status number_nodes(assembly *a, int count, kn_error *err)
{
    kn_vocabulary *v = a->v;
    a->cls = KN_VOCABULARY_NO_CLASS;
    add_node(a, NONE, kn_string_of("*"));
    for (int c = 0; c < count; c++) {
        const kn_vocabulary_domain *d = &a->domains[c];
        v->class_names[c] = kn_strndup(v->ctx, d->name, strlen(d->name));
        if (!v->class_names[c]) return kn_fail_memory(err, v->ctx, WHAT);
        v->sensitive[c] = d->sensitive;
        v->negative[c] = d->negative;
        v->unrelated[c] = d->unrelated;
        add_class(a, c);
    }
    sum_up(v);
    return KN_OK;
}

/* ---- The index of labels ---- */

/* Where a hierarchy's file uses the label for two different groups; NULL: nowhere, or there is no file. */
static const kn_hierarchy_warning *place_of(const kn_hierarchy *h, kn_string text)
{
    for (uint32_t i = 0; h && i < kn_hierarchy_warnings(h); i++) {
        const kn_hierarchy_warning *w = kn_hierarchy_warning_at(h, i);
        size_t                      size = 0;
        const char                 *label = kn_hierarchy_label(h, w->node, &size);
        if (w->line > 0 && size == text.size && memcmp(label, text.data, size) == 0) return w;
    }
    return NULL;
}

/* `domains`: of the classes; NULL: only spellings of leaves can be wrong. */
static kn_status fail_label(const kn_vocabulary *v, const kn_vocabulary_domain *domains, uint32_t entry, uint32_t other,
                            kn_error *err)
{
    uint32_t                    node = entry_node(v, entry);
    uint16_t                    cls = v->cls[node];
    const char                 *what = "a label of its hierarchy stands for two different values or groups";
    const kn_hierarchy_warning *w = domains ? place_of(domains[cls].hierarchy, entry_text(v, entry)) : NULL;
    if (w && other != NONE && other != v->top[cls])
        return kn_fail(err, KN_INPUT, "class \"%s\": %s (line %lld, column %lld, and line %lld, column %lld)",
                       v->class_names[cls], what, (long long)w->line, (long long)w->column, (long long)w->other_line,
                       (long long)w->other_column);
    if (other == NONE)
        what = "one of its values or groups is called \"*\", which stands for anything";
    else if (other == v->top[cls])
        what = "one of its values or groups bears the name that stands for all of them";
    return kn_fail(err, KN_INPUT, "class \"%s\": %s", v->class_names[cls], what);
}

static kn_status index_labels(kn_vocabulary *v, const kn_vocabulary_domain *domains, kn_error *err)
{
    uint64_t size = 16;
    while (size / 2 < v->entries) size *= 2;
    v->slots = kn_alloc_array(v->ctx, (size_t)size, sizeof *v->slots);
    if (!v->slots) return kn_fail_memory(err, v->ctx, WHAT);
    memset(v->slots, 0xff, (size_t)size * sizeof *v->slots);
    v->slot_mask = (uint32_t)(size - 1);
    for (uint32_t e = 0; e < v->entries; e++) {
        kn_string text = entry_text(v, e);
        uint32_t  at = slot_of(v, v->cls[entry_node(v, e)], text);
        if (v->slots[at] != NONE || (e > 0 && text.size == 1 && text.data[0] == '*'))
            return fail_label(v, domains, e, v->slots[at], err);
        v->slots[at] = e;
    }
    return KN_OK;
}

kn_status kn_vocabulary_add_spellings(kn_vocabulary *v, const kn_vocabulary_spelling *list, int64_t count,
                                      kn_error *err)
{
    uint64_t bytes = 0;
    for (int64_t i = 0; i < count; i++) bytes += list[i].text.size;
    if ((uint64_t)count + v->nodes >= NONE - 2) return kn_fail(err, KN_INPUT, "more spellings than can be numbered");
    v->entry_node = kn_alloc_array(v->ctx, (size_t)count + 1, sizeof *v->entry_node);
    v->entry_start = kn_alloc_array_zero(v->ctx, (size_t)count + 1, sizeof *v->entry_start);
    v->entry_bytes = kn_alloc(v->ctx, (size_t)bytes + 1);
    if (!v->entry_node || !v->entry_start || !v->entry_bytes) return kn_fail_memory(err, v->ctx, WHAT);
    for (int64_t i = 0; i < count; i++) {
        v->entry_node[i] = list[i].node;
        v->entry_start[i + 1] = v->entry_start[i] + list[i].text.size;
        if (list[i].text.size) memcpy(v->entry_bytes + v->entry_start[i], list[i].text.data, list[i].text.size);
    }
    v->entries = v->nodes + (uint32_t)count;
    kn_free(v->slots);
    v->slots = NULL;
    return index_labels(v, NULL, err);
}

static kn_status assemble(assembly *a, int count, kn_error *err)
{
    kn_vocabulary *v = a->v;
    a->room = 1;
    a->byte_room = 1;
    if (count >= KN_VOCABULARY_NO_CLASS)
        return kn_fail(err, KN_INPUT, "more than %d classes", KN_VOCABULARY_NO_CLASS - 1);
    for (int c = 0; c < count; c++) measure(a, c);
    if (a->room >= NONE - 2) return kn_fail(err, KN_INPUT, "more values in all classes than can be numbered");
    v->class_count = count;
    if (!allocate(a, count)) return kn_fail_memory(err, v->ctx, WHAT);
    KN_TRY(number_nodes(a, count, err));
    v->entries = v->nodes;
    return index_labels(v, a->domains, err);
}

/* Blanks around values of records are dropped: a label with blanks would never match, or not be found again in a
 * release. */
static kn_status check_labels(const kn_vocabulary *v, kn_error *err)
{
    static const char space[] = " \t\r\n";
    for (uint32_t n = 1; n < v->nodes; n++) {
        kn_string label = kn_vocabulary_label(v, n);
        if (label.size == 0) continue;
        if (memchr(space, label.data[0], 4) || memchr(space, label.data[label.size - 1], 4))
            return kn_fail(
                err, KN_INPUT,
                "class \"%s\": a value, or a label of its hierarchy, begins or ends with blanks, which values of "
                "records do not keep; remove them",
                v->class_names[v->cls[n]]);
    }
    return KN_OK;
}

kn_status kn_vocabulary_assemble(kn_vocabulary **out, kn_context *ctx, const kn_vocabulary_domain *domains, int count,
                                 kn_error *err)
{
    *out = NULL;
    kn_vocabulary *v = kn_alloc_zero(ctx, sizeof *v);
    if (!v) return kn_fail_memory(err, ctx, WHAT);
    v->ctx = ctx;
    assembly  a = {.v = v, .domains = domains};
    kn_status st = assemble(&a, count, err);
    if (st == KN_OK) st = check_labels(v, err);
    if (st == KN_OK)
        *out = v;
    else
        kn_vocabulary_free(v);
    return st;
}

/* ---- Validation ---- */

static const char *wrong_node(const kn_vocabulary *v, uint32_t n)
{
    uint32_t p = v->parent[n];
    if (n == 0) return p == NONE && v->cls[0] == KN_VOCABULARY_NO_CLASS && v->depth[0] == 0 ? NULL : "\"*\" is no root";
    if (p >= n) return "a parent does not come first";
    if (v->end[n] <= n || v->end[n] > v->end[p]) return "a subtree goes beyond that of its parent";
    if (v->depth[n] != v->depth[p] + 1) return "a depth is wrong";
    if (v->cls[n] >= v->class_count) return "a class is wrong";
    if (p != 0 && v->cls[p] != v->cls[n]) return "a value has a class other than its parent's";
    if (p == 0 && v->top[v->cls[n]] != n) return "a value below \"*\" is no top";
    if (v->height[p] <= v->height[n]) return "a height is wrong";
    if (v->leaves[n] == 0 || (v->end[n] == n + 1) != (v->height[n] == 0)) return "leaves are wrong";
    if (v->label_start[n] > v->label_start[n + 1]) return "a label has no size";
    if (kn_vocabulary_find(v, v->cls[n], kn_vocabulary_label(v, n)) != n) return "a label is not found";
    return NULL;
}

bool kn_vocabulary_validate(const kn_vocabulary *v, const char **reason)
{
    *reason = NULL;
    if (v->nodes == 0 || v->end[0] != v->nodes) *reason = "the root does not hold all";
    for (uint32_t n = 0; n < v->nodes && !*reason; n++) *reason = wrong_node(v, n);
    for (uint32_t n = 0; n < v->nodes && !*reason; n++) {
        uint64_t leaves = 0;
        for (uint32_t c = n + 1; c < v->end[n]; c = v->end[c]) leaves += v->leaves[c];
        if (v->leaves[n] != (v->end[n] == n + 1 ? 1 : leaves)) *reason = "leaves do not add up";
    }
    return *reason == NULL;
}
