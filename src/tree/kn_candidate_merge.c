/* kn_candidate_merge.c: the rows that have the specialized value, where those that are equal under the current cut become one.
 *
 * Interface: kn_candidate.h. A row is found again by a hash of its nodes, and compared in full. Several workers merge a range of rows each
 * where that leaves few (kn_parallel_share); rows get the same numbers as if one had merged all. Cost: one step per node of these rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_candidate.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "looking at a cut"

enum { FEWEST_SLOTS = 1 << 10, PART_SHARE = 16 /* a part has so many rows for each of the parent's */ };

/* Where few of the parent's rows are equal, fewer of these are. */
bool kn_candidate_merges(const kn_candidate *c)
{
    return !c->parent || kn_few_rows(c->parent->rows, c->synopsis);
}

/* Appends the nodes of a row to merge, each once, stamped. The array is large enough. Returns a hash that does not depend on
 * their order. */
static inline __attribute__((always_inline)) uint64_t write_nodes(kn_candidate *c, uint32_t source, bool narrow)
{
    const kn_rows  *rows = &c->synopsis->rows;
    const uint32_t *image = c->image, *end = rows->members + rows->start[source + 1];
    const uint32_t *last = rows->members + rows->start[rows->count] - 1;
    uint32_t       *stamp = c->node_stamp, clock = ++c->node_clock, at = c->row_start[c->row_count];
    uint16_t       *narrow_to = c->narrow_nodes;
    const uint64_t *node_hash = c->node_hash;
    uint64_t        hash = 0;
    for (const uint32_t *member = rows->members + rows->start[source]; member < end; member++) {
        const uint32_t *ahead = member + KN_NODES_AHEAD < last ? member + KN_NODES_AHEAD : last;
        uint32_t        node = image[*member];
        __builtin_prefetch(image + *ahead);
        if (node == KN_NONE) continue;
        if (narrow)
            narrow_to[at] = (uint16_t)node;
        else
            c->wide_nodes[at] = node;
        uint32_t first = stamp[node] != clock;
        at += first;
        hash += node_hash[node] & -(uint64_t)first;
        stamp[node] = clock;
    }
    c->row_start[c->row_count + 1] = at;
    return hash;
}

static bool hash_nodes(kn_candidate *c)
{
    if (!KN_GROW(c->ctx, &c->node_hash, &c->node_hash_capacity, (size_t)c->nodes + 1)) return false;
    for (uint32_t i = 0; i < c->nodes; i++) c->node_hash[i] = kn_hash_word(i + (uint64_t)1);
    return true;
}

/* Has a row just those nodes that are stamped, `size` of them? */
static bool same_nodes(const kn_candidate *c, uint32_t row, uint32_t size)
{
    if (c->row_start[row + 1] - c->row_start[row] != size) return false;
    for (uint32_t i = c->row_start[row]; i < c->row_start[row + 1]; i++)
        if (c->node_stamp[kn_row_node(c, i)] != c->node_clock) return false;
    return true;
}

static bool grow_slots(kn_candidate *c)
{
    size_t n = FEWEST_SLOTS;
    while (n < ((size_t)c->row_count + 1) * 4) n *= 2;
    kn_free(c->row_slots);
    c->row_slots = kn_alloc_array_zero(c->ctx, n, sizeof *c->row_slots);
    c->row_slot_count = c->row_slots ? n : 0;
    if (!c->row_slots) return false;
    for (uint32_t i = 0; i < c->row_count; i++) {
        size_t at = (size_t)(c->row_hash[i] >> 8) & (n - 1);
        while (c->row_slots[at]) at = (at + 1) & (n - 1);
        c->row_slots[at] = i + 1;
    }
    return true;
}

static bool grow_rows(kn_candidate *c, size_t rows, size_t nodes)
{
    if (!KN_GROW(c->ctx, &c->row_source, &c->row_source_capacity, rows + 1) ||
        !KN_GROW(c->ctx, &c->row_hash, &c->row_hash_capacity, rows + 1) ||
        !KN_GROW(c->ctx, &c->row_weight, &c->row_weight_capacity, rows + 1) ||
        !KN_GROW(c->ctx, &c->row_start, &c->row_start_capacity, rows + 2))
        return false;
    return c->narrow ? KN_GROW(c->ctx, &c->narrow_nodes, &c->narrow_capacity, nodes + KN_NODES_AHEAD)
                     : KN_GROW(c->ctx, &c->wide_nodes, &c->wide_capacity, nodes + KN_NODES_AHEAD);
}

/* Space for one more row to merge: this many rows, which have at most this many nodes. There mostly is. */
static inline bool reserve(kn_candidate *c, size_t rows, size_t nodes)
{
    size_t room = c->narrow ? c->narrow_capacity : c->wide_capacity;
    if (rows + 1 < c->row_start_capacity && rows < c->row_source_capacity && rows < c->row_hash_capacity &&
        rows < c->row_weight_capacity && nodes + KN_NODES_AHEAD <= room)
        return true;
    return grow_rows(c, rows, nodes);
}

/* The row that was written becomes one, unless there is an equal one. Returns its number; KN_NONE: out of memory. */
static uint32_t merge_row(kn_candidate *c, uint32_t source, uint64_t hash)
{
    uint32_t row = c->row_count, size = c->row_start[row + 1] - c->row_start[row];
    if (((size_t)row + 1) * 2 > c->row_slot_count && !grow_slots(c)) return KN_NONE;
    size_t at = (size_t)(hash >> 8) & (c->row_slot_count - 1);
    for (; c->row_slots[at]; at = (at + 1) & (c->row_slot_count - 1)) {
        uint32_t other = c->row_slots[at] - 1;
        if (c->row_hash[other] == hash && same_nodes(c, other, size)) return other;
    }
    c->row_source[row] = source;
    c->row_hash[row] = hash;
    c->row_weight[row] = 0;
    c->row_slots[at] = ++c->row_count;
    return row;
}

/* Merges the changed rows from `from` to before `to`. */
static kn_status merge_some(kn_candidate *c, size_t from, size_t to, kn_error *err)
{
    c->row_count = 0;
    if (!reserve(c, 0, 0)) return kn_fail_memory(err, c->ctx, WHAT);
    c->row_start[0] = 0;
    if (c->row_slot_count) memset(c->row_slots, 0, c->row_slot_count * sizeof *c->row_slots);
    for (size_t i = from; i < to; i++) {
        uint32_t source = c->changed_rows[i];
        size_t   size = (size_t)(c->synopsis->rows.start[source + 1] - c->synopsis->rows.start[source]);
        if (!reserve(c, (size_t)c->row_count + 1, c->row_start[c->row_count] + size))
            return kn_fail_memory(err, c->ctx, WHAT);
        uint64_t hash = c->narrow ? write_nodes(c, source, true) : write_nodes(c, source, false);
        uint32_t row = merge_row(c, source, hash);
        if (row == KN_NONE) return kn_fail_memory(err, c->ctx, WHAT);
        c->new_row[i] = row;
        c->row_weight[row] += (int32_t)c->synopsis->rows.weight[source];
    }
    return KN_OK;
}

/* ---- By several workers ---- */

/* Each range of rows is merged by itself, into a part; then the rows of the parts are. */
typedef struct merging {
    kn_candidate *c;
    kn_candidate  blank; /* as it is, without rows */
    kn_candidate *parts;
    size_t        grain;
} merging;

static kn_status merge_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    merging      *x = arg;
    kn_candidate *c = x->c, *mine = c->team[worker], *part = &x->parts[(size_t)begin / x->grain];
    *part = x->blank;
    if (mine != c) {
        if (!KN_GROW(c->ctx, &mine->node_stamp, &mine->node_stamp_capacity, (size_t)c->nodes + 1))
            return kn_fail_memory(err, c->ctx, WHAT);
        memset(mine->node_stamp, 0, c->nodes * sizeof *mine->node_stamp);
        mine->node_clock = 0;
    }
    part->node_stamp = mine->node_stamp;
    part->node_clock = mine->node_clock;
    kn_status st = merge_some(part, (size_t)begin, (size_t)end, err);
    mine->node_clock = part->node_clock;
    kn_free(part->row_slots);
    part->row_slots = NULL;
    return st;
}

/* Merges the rows of a part, in their order; its row_source then says which each of them is. */
static bool join(kn_candidate *c, kn_candidate *part)
{
    for (uint32_t i = 0; i < part->row_count; i++) {
        uint32_t at = c->row_start[c->row_count], from = part->row_start[i], size = part->row_start[i + 1] - from;
        if (!reserve(c, (size_t)c->row_count + 1, (size_t)at + size)) return false;
        c->node_clock++;
        for (uint32_t j = 0; j < size; j++) {
            uint32_t node = kn_row_node(part, from + j);
            c->node_stamp[node] = c->node_clock;
            if (c->narrow)
                c->narrow_nodes[at + j] = (uint16_t)node;
            else
                c->wide_nodes[at + j] = node;
        }
        c->row_start[c->row_count + 1] = at + size;
        uint32_t row = merge_row(c, part->row_source[i], part->row_hash[i]);
        if (row == KN_NONE) return false;
        c->row_weight[row] += part->row_weight[i];
        part->row_source[i] = row;
    }
    return true;
}

static kn_status number_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const merging  *x = arg;
    const uint32_t *number = x->parts[(size_t)begin / x->grain].row_source;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) x->c->new_row[i] = number[x->c->new_row[i]];
    return KN_OK;
}

static kn_status merge_parts(merging *x, size_t parts, kn_error *err)
{
    kn_candidate *c = x->c;
    int64_t       n = (int64_t)c->changed_count, grain = (int64_t)x->grain;
    KN_TRY(kn_parallel_share(c->ctx, c->worker, n, grain, merge_range, x, err));
    KN_TRY(merge_some(c, 0, 0, err));
    for (size_t i = 0; i < parts; i++)
        if (!join(c, &x->parts[i])) return kn_fail_memory(err, c->ctx, WHAT);
    return kn_parallel_share(c->ctx, c->worker, n, grain, number_range, x, err);
}

static kn_status share_rows(kn_candidate *c, size_t parts, kn_error *err)
{
    merging x = {.c = c, .blank = *c, .parts = kn_alloc_array_zero(c->ctx, parts, sizeof *x.parts)};
    if (!x.parts) return kn_fail_memory(err, c->ctx, WHAT);
    x.blank.row_source = x.blank.row_start = x.blank.row_slots = x.blank.wide_nodes = NULL;
    x.blank.row_weight = NULL;
    x.blank.row_hash = NULL;
    x.blank.narrow_nodes = NULL;
    x.blank.row_source_capacity = x.blank.row_weight_capacity = x.blank.row_start_capacity = 0;
    x.blank.row_hash_capacity = x.blank.narrow_capacity = x.blank.wide_capacity = x.blank.row_slot_count = 0;
    x.grain = (c->changed_count + parts - 1) / parts;
    kn_status st = merge_parts(&x, parts, err);
    for (size_t i = 0; i < parts; i++) {
        kn_candidate *p = &x.parts[i];
        KN_FREE(p->row_source, p->row_weight, p->row_start, p->row_hash, p->narrow_nodes, p->wide_nodes);
    }
    kn_free(x.parts);
    return st;
}

/* A row that is in several parts is merged as often: so there are few of them where the parent has many rows. */
static size_t parts_of(const kn_candidate *c)
{
    size_t rows = c->parent ? (size_t)c->parent->rows + 1 : 1;
    size_t most = c->changed_count / KN_ROWS_SHARED, useful = c->changed_count / (rows * PART_SHARE);
    return useful < most ? useful : most;
}

kn_status kn_candidate_merge_rows(kn_candidate *c, kn_error *err)
{
    if (!KN_GROW(c->ctx, &c->new_row, &c->new_row_capacity, c->changed_count + 1) || !hash_nodes(c))
        return kn_fail_memory(err, c->ctx, WHAT);
    size_t parts = parts_of(c);
    KN_TRY(parts > 1 ? share_rows(c, parts, err) : merge_some(c, 0, c->changed_count, err));
    kn_candidate_close_rows(c);
    return KN_OK;
}

/* Frees what is only used for merging: where rows are too many to be merged, they will be for finer cuts too. */
void kn_candidate_stop_merging(kn_candidate *c)
{
    void **blocks[] = {(void **)&c->row_source, (void **)&c->row_hash, (void **)&c->row_slots, (void **)&c->new_row,
                       (void **)&c->row_weight};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        kn_free(*blocks[i]);
        *blocks[i] = NULL;
    }
    c->row_source_capacity = c->row_hash_capacity = c->row_slot_count = c->new_row_capacity = c->row_weight_capacity =
        0;
}
