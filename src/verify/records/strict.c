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

typedef struct position {
    uint64_t key;
    int64_t  records;     /* that have it                                  */
    int64_t  last;        /* the record that was counted last              */
    int64_t  first, node; /* its first record, and where it stands in that */
} position;

/* In the order in which they were found. */
typedef struct positions {
    kn_vnumbers numbers;
    position   *list;
    size_t      capacity;
} positions;

static bool note(positions *p, uint64_t key, int64_t record, uint64_t node)
{
    uint32_t known = p->numbers.count, number = kn_vnumbers_add(&p->numbers, key);
    void    *list = p->list;
    if (number == KN_V_NONE || !kn_grow(p->numbers.ctx, &list, &p->capacity, (size_t)known + 1, sizeof *p->list))
        return false;
    p->list = list;
    position *at = &p->list[number];
    if (number == known) *at = (position){.key = key, .last = -1, .first = record, .node = (int64_t)node};
    at->records += at->last != record;
    at->last = record;
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
            if (v->class_of[f->label[i]] < v->class_count) kn_bitset_set(*out, above * side + v->class_of[f->label[i]]);
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

static void report(kn_records_verifier *v, const positions *found)
{
    const position *first = NULL;
    int64_t         rare = 0;
    for (uint32_t i = 0; i < found->numbers.count; i++) {
        const position *p = &found->list[i];
        if (p->records >= v->spec->kmn.k || is_excepted(v, p->key)) continue;
        rare++;
        if (!first) first = p;
    }
    if (rare == 0) return;
    kn_vproblem(v->notes,
                "record %" PRId64 ", node %" PRId64 ": only a moved node can stand there, and %" PRId64
                " records show it (%" PRId64 " such positions in all)",
                first->first + 1, first->node + 1, first->records, rare);
}

kn_status kn_vrecords_strict(kn_records_verifier *v, kn_error *err)
{
    uint64_t *pairs = NULL;
    positions found = {.numbers = {.ctx = v->ctx}};
    kn_status st = original_pairs(v, &pairs, err);
    if (st == KN_OK) st = count_positions(v, pairs, &found, err);
    if (st == KN_OK) report(v, &found);
    kn_vnumbers_free(&found.numbers);
    kn_free(found.list);
    kn_free(pairs);
    return st;
}
