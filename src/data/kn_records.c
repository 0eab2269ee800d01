/* kn_records.c: tree records in memory: making them, their canonical order, validation, public accessors.
 *
 * Interface: kn_records.h, kanon/records.h. Cost: kn_record_canonical is one pass over a record that is already in
 * order, else O(n log n + n × depth). Limits: 2^32 - 2 nodes per record. Paper: section II-A.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_records.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"

#define ROOT KN_RECORDS_ROOT

kn_status kn_records_create(kn_records **out, kn_context *ctx, kn_vocabulary *vocabulary, bool owns_vocabulary,
                            int64_t count, uint64_t nodes, kn_error *err)
{
    *out = NULL;
    kn_records *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, ctx, "tree records");
    r->ctx = ctx;
    r->vocabulary = vocabulary;
    r->count = count;
    r->nodes = nodes;
    size_t room = nodes ? (size_t)nodes : 1;
    r->start = kn_alloc_array_zero(ctx, (size_t)count + 1, sizeof *r->start);
    r->parent = kn_alloc_array_zero(ctx, room, sizeof *r->parent);
    r->value = kn_alloc_array_zero(ctx, room, sizeof *r->value);
    if (!r->start || !r->parent || !r->value) {
        kn_records_free(r);
        return kn_fail_memory(err, ctx, "tree records");
    }
    r->owns_vocabulary = owns_vocabulary; /* only now: a failure takes nothing over */
    *out = r;
    return KN_OK;
}

void kn_records_free(kn_records *r)
{
    if (!r) return;
    if (r->owns_vocabulary) kn_vocabulary_free(r->vocabulary);
    for (int i = 0; r->ignored && i < r->ignored_count; i++) kn_free(r->ignored[i]);
    KN_FREE(r->ignored, r->layout.path, r->layout.namespaces, r->layout.style, r->columns, r->start, r->parent,
            r->value, r);
}

/* ---- One order ---- */

/* Preorder, and each sibling's value above that of the one before? `last` has space for count numbers. */
static bool in_order(const kn_record_node *nodes, uint32_t count, uint32_t *last)
{
    uint32_t root_last = ROOT;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t  p = nodes[i].parent;
        uint32_t *before = p == ROOT ? &root_last : &last[p];
        uint32_t  up = i ? i - 1 : ROOT;
        /* The parent is the node before, or one above it. */
        while (up != p && up != ROOT) up = nodes[up].parent;
        if (up != p) return false;
        if (*before != ROOT && *before >= nodes[i].value) return false;
        *before = nodes[i].value;
        last[i] = ROOT;
    }
    return true;
}

typedef struct canonical {
    const kn_record_node *nodes;
    uint32_t             *place; /* per node: its number in `merged`, level by level */
    uint32_t             *order; /* of the current level                             */
    kn_record_node       *merged;
} canonical;

/* Where a node's parent is, then its value: equal keys are merged. */
static uint64_t key_of(const canonical *c, uint32_t node)
{
    uint32_t p = c->nodes[node].parent;
    return (uint64_t)(p == ROOT ? 0 : c->place[p]) << 32 | c->nodes[node].value;
}

static void sift_down(const canonical *c, uint32_t at, uint32_t count)
{
    uint32_t moved = c->order[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && key_of(c, c->order[child]) < key_of(c, c->order[child + 1])) child++;
        if (key_of(c, moved) >= key_of(c, c->order[child])) break;
        c->order[at] = c->order[child];
    }
    c->order[at] = moved;
}

/* Equal keys are interchangeable, so the sort need not be stable. */
static void sort_level(const canonical *c, uint32_t count)
{
    if (count <= 24) {
        for (uint32_t i = 1; i < count; i++) {
            uint32_t node = c->order[i], j = i;
            for (; j > 0 && key_of(c, c->order[j - 1]) > key_of(c, node); j--) c->order[j] = c->order[j - 1];
            c->order[j] = node;
        }
        return;
    }
    for (uint32_t i = count / 2; i-- > 0;) sift_down(c, i, count);
    for (uint32_t i = count; i-- > 1;) {
        uint32_t last = c->order[i];
        c->order[i] = c->order[0];
        c->order[0] = last;
        sift_down(c, 0, i);
    }
}

/* Level by level: children of one node are adjacent, by their values. Returns how many are left. */
static uint32_t merge_levels(const canonical *c, uint32_t count, const uint32_t *depth)
{
    uint32_t done = 0, left = 0;
    for (uint32_t level = 0; done < count; level++) {
        uint32_t size = 0;
        for (uint32_t i = 0; i < count; i++)
            if (depth[i] == level) c->order[size++] = i;
        sort_level(c, size);
        for (uint32_t i = 0; i < size; i++) {
            uint32_t node = c->order[i], p = c->nodes[node].parent;
            bool     same = i > 0 && key_of(c, node) == key_of(c, c->order[i - 1]);
            if (!same) c->merged[left++] = (kn_record_node){p == ROOT ? ROOT : c->place[p], c->nodes[node].value};
            c->place[node] = left - 1;
        }
        done += size;
    }
    return left;
}

/* Level order → preorder. */
static void to_preorder(kn_record_node *out, const kn_record_node *merged, uint32_t count, uint32_t *size,
                        uint32_t *place, uint32_t *next)
{
    for (uint32_t i = 0; i < count; i++) size[i] = 1;
    for (uint32_t i = count; i-- > 0;)
        if (merged[i].parent != ROOT) size[merged[i].parent] += size[i];
    uint32_t root_next = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t  p = merged[i].parent;
        uint32_t *from = p == ROOT ? &root_next : &next[p];
        place[i] = *from;
        *from += size[i];
        next[i] = place[i] + 1;
        out[place[i]] = (kn_record_node){p == ROOT ? ROOT : place[p], merged[i].value};
    }
}

uint32_t kn_record_canonical(kn_record_node *nodes, uint32_t count, void *scratch)
{
    if (count == 0) return 0;
    kn_record_node *merged = scratch;
    uint32_t       *a = (uint32_t *)(merged + count), *b = a + count, *c = b + count;
    if (in_order(nodes, count, a)) return count;
    for (uint32_t i = 0; i < count; i++) a[i] = nodes[i].parent == ROOT ? 0 : a[nodes[i].parent] + 1;
    canonical work = {.nodes = nodes, .place = b, .order = c, .merged = merged};
    uint32_t  left = merge_levels(&work, count, a);
    to_preorder(nodes, merged, left, a, b, c);
    return left;
}

/* ---- Validation ---- */

static const char *wrong_record(const kn_records *r, int64_t record)
{
    uint64_t first = r->start[record], end = r->start[record + 1];
    for (uint64_t i = first; i < end; i++) {
        uint32_t node = (uint32_t)(i - first), p = r->parent[i], before = node ? node - 1 : ROOT, sibling = ROOT;
        if (r->value[i] >= r->vocabulary->nodes) return "a value is not of the vocabulary";
        if (p != ROOT && p >= node) return "a parent does not come first";
        /* Up from the node before: the last one below p is the sibling before. */
        for (; before != p && before != ROOT; before = r->parent[first + before]) sibling = before;
        if (before != p) return "nodes are not in preorder";
        if (sibling != ROOT && r->value[first + sibling] >= r->value[i]) return "siblings are not in order, or equal";
    }
    return NULL;
}

bool kn_records_validate(const kn_records *r, const char **reason)
{
    *reason = NULL;
    if (r->count < 0 || r->start[0] != 0 || r->start[r->count] != r->nodes) *reason = "records do not fill the arrays";
    for (int64_t i = 0; i < r->count && !*reason; i++)
        if (r->start[i] > r->start[i + 1] || r->start[i + 1] - r->start[i] >= ROOT) *reason = "a record has no size";
    for (int64_t i = 0; i < r->count && !*reason; i++) *reason = wrong_record(r, i);
    return *reason == NULL;
}

/* ---- What others may ask ---- */

int64_t kn_records_count(const kn_records *r)
{
    return r->count;
}

static bool has_node(const kn_records *r, int64_t record, uint32_t node)
{
    return record >= 0 && record < r->count && node < r->start[record + 1] - r->start[record];
}

uint32_t kn_records_size(const kn_records *r, int64_t record)
{
    return record >= 0 && record < r->count ? (uint32_t)(r->start[record + 1] - r->start[record]) : 0;
}

int64_t kn_records_parent(const kn_records *r, int64_t record, uint32_t node)
{
    if (!has_node(r, record, node)) return -1;
    uint32_t p = r->parent[r->start[record] + node];
    return p == ROOT ? -1 : (int64_t)p;
}

int kn_records_class(const kn_records *r, int64_t record, uint32_t node)
{
    if (!has_node(r, record, node)) return -1;
    uint16_t cls = r->vocabulary->cls[r->value[r->start[record] + node]];
    return cls == KN_VOCABULARY_NO_CLASS ? -1 : (int)cls;
}

const char *kn_records_label(const kn_records *r, int64_t record, uint32_t node, size_t *size)
{
    *size = 0;
    if (!has_node(r, record, node)) return "";
    kn_string label = kn_vocabulary_label(r->vocabulary, r->value[r->start[record] + node]);
    *size = label.size;
    return label.data;
}

int64_t kn_records_merged(const kn_records *r)
{
    return r->merged;
}

int kn_records_ignored(const kn_records *r)
{
    return r->ignored_count;
}

const char *kn_records_namespaces(const kn_records *r)
{
    return r->layout.namespaces ? r->layout.namespaces : "";
}

const char *kn_records_ignored_name(const kn_records *r, int index)
{
    return index >= 0 && index < r->ignored_count ? r->ignored[index] : NULL;
}
