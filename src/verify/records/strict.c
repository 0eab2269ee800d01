/* records/strict.c: strict structure (docs/errata.md S1): no rare tell-tale position.
 *
 * A position is the label of a node with that of its parent, or none below the root. Whoever knows the schema sees that a
 * node was moved where both have a class and no original record has a node of the one class directly below one of the
 * other. Such a position must occur in at least k released records. One exception: a value that nobody is taken to know
 * (of a sensitive class) and that fewer than k records have can be moved nowhere but below the root, and stands there.
 *
 * Cost: O(nodes) look-ups; 16 bytes for each position that occurs.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_error.h"
#include "kn_verify_records.h"

/* Positions and in how many records they are: open addressing, keys compared exactly. */
typedef struct positions {
    kn_context *ctx;
    uint64_t   *keys;
    int64_t    *records; /* 0: free */
    int64_t    *last;    /* the record that was counted last */
    int64_t    *node;    /* where it stands first in its first record */
    int64_t    *first;
    size_t      size, count;
} positions;

static void positions_free(positions *p)
{
    kn_free(p->keys);
    kn_free(p->records);
    kn_free(p->last);
    kn_free(p->node);
    kn_free(p->first);
}

static size_t find_slot(const positions *p, uint64_t key)
{
    size_t at = kn_hash_word(key) & (p->size - 1);
    while (p->records[at] && p->keys[at] != key) at = (at + 1) & (p->size - 1);
    return at;
}

static bool positions_grow(positions *p)
{
    if (p->count * 2 < p->size) return true;
    positions more = {.ctx = p->ctx, .size = p->size ? p->size * 2 : 256, .count = p->count};
    more.keys = kn_alloc_array(p->ctx, more.size, sizeof *more.keys);
    more.records = kn_alloc_array_zero(p->ctx, more.size, sizeof *more.records);
    more.last = kn_alloc_array(p->ctx, more.size, sizeof *more.last);
    more.node = kn_alloc_array(p->ctx, more.size, sizeof *more.node);
    more.first = kn_alloc_array(p->ctx, more.size, sizeof *more.first);
    if (!more.keys || !more.records || !more.last || !more.node || !more.first) {
        positions_free(&more);
        return false;
    }
    for (size_t i = 0; i < p->size; i++) {
        if (!p->records[i]) continue;
        size_t at = find_slot(&more, p->keys[i]);
        more.keys[at] = p->keys[i];
        more.records[at] = p->records[i];
        more.last[at] = p->last[i];
        more.node[at] = p->node[i];
        more.first[at] = p->first[i];
    }
    positions_free(p);
    *p = more;
    return true;
}

static bool note(positions *p, uint64_t key, int64_t record, uint64_t node)
{
    if (!positions_grow(p)) return false;
    size_t at = find_slot(p, key);
    if (p->records[at] && p->last[at] == record) return true;
    if (!p->records[at]) {
        p->count++;
        p->keys[at] = key;
        p->first[at] = record;
        p->node[at] = (int64_t)node;
    }
    p->records[at]++;
    p->last[at] = record;
    return true;
}

/* Which pairs of classes stand directly below each other in the original; bit above × (classes + 1) + below, where class
 * `class_count` is the root. */
static kn_status original_pairs(const kn_records_verifier *v, uint64_t **out, kn_error *err)
{
    size_t            side = (size_t)v->class_count + 1;
    const kn_vforest *f = &v->original;
    *out = kn_alloc_array_zero(v->ctx, kn_bitset_words(side * side) + 1, sizeof **out);
    if (!*out) return kn_vrecords_no_memory(v, err);
    for (int64_t r = 0; r < f->count; r++)
        for (uint64_t i = f->start[r]; i < f->start[r + 1]; i++) {
            uint32_t p = f->parent[i];
            size_t   above = p == KN_V_NONE ? (size_t)v->class_count : v->class_of[f->label[f->start[r] + p]];
            if (above < side && v->class_of[f->label[i]] < v->class_count)
                kn_bitset_set(*out, above * side + v->class_of[f->label[i]]);
        }
    return KN_OK;
}

static kn_status count_positions(const kn_records_verifier *v, const uint64_t *pairs, positions *found, kn_error *err)
{
    size_t            side = (size_t)v->class_count + 1;
    const kn_vforest *f = &v->release;
    for (int64_t r = 0; r < f->count; r++)
        for (uint64_t i = f->start[r]; i < f->start[r + 1]; i++) {
            uint32_t p = f->parent[i], label = f->label[i],
                     above = p == KN_V_NONE ? KN_V_NONE : f->label[f->start[r] + p];
            if (v->class_of[label] >= v->class_count) continue;
            if (above != KN_V_NONE && v->class_of[above] >= v->class_count) continue;
            size_t row = above == KN_V_NONE ? (size_t)v->class_count : v->class_of[above];
            if (kn_bitset_test(pairs, row * side + v->class_of[label])) continue;
            if (!note(found, (uint64_t)above << 32 | label, r, i - f->start[r])) return kn_vrecords_no_memory(v, err);
        }
    return KN_OK;
}

static int64_t support_of(const kn_records_verifier *v, uint32_t label)
{
    const kn_vforest *f = &v->release;
    int64_t           count = 0;
    for (int64_t r = 0; r < f->count; r++)
        for (uint64_t i = f->start[r]; i < f->start[r + 1]; i++)
            if (f->label[i] == label) {
                count++;
                break;
            }
    return count;
}

static bool is_excepted(const kn_records_verifier *v, uint64_t key)
{
    uint32_t label = (uint32_t)key;
    return key >> 32 == KN_V_NONE && kn_vlabel_sensitive(v, label) && support_of(v, label) < v->spec->kmn.k;
}

/* The first of them by record and node, whatever the order of the table. */
static void tell(kn_records_verifier *v, const positions *found)
{
    int64_t rare = 0, record = INT64_MAX, node = 0, support = 0;
    for (size_t i = 0; i < found->size; i++) {
        if (!found->records[i] || found->records[i] >= v->spec->kmn.k || is_excepted(v, found->keys[i])) continue;
        rare++;
        if (found->first[i] > record || (found->first[i] == record && found->node[i] > node)) continue;
        record = found->first[i];
        node = found->node[i];
        support = found->records[i];
    }
    if (rare == 0) return;
    kn_vrecords_problem(v,
                        "record %" PRId64 ", node %" PRId64 ": only a moved node can stand there, and %" PRId64
                        " records show it (%" PRId64 " such positions in all)",
                        record + 1, node + 1, support, rare);
}

kn_status kn_vrecords_strict(kn_records_verifier *v, kn_error *err)
{
    uint64_t *pairs = NULL;
    positions found = {.ctx = v->ctx};
    kn_status st = original_pairs(v, &pairs, err);
    if (st == KN_OK) st = count_positions(v, pairs, &found, err);
    if (st == KN_OK) tell(v, &found);
    positions_free(&found);
    kn_free(pairs);
    return st;
}
