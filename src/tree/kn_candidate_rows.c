/* kn_candidate_rows.c: the rows that have the specialized value, under the cut at hand.
 *
 * Interface: kn_candidate.h. A row is the number of one of the synopsis, through the image of whose nodes it is seen: nothing is
 * copied. Rows that become equal are merged, where that pays.
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_candidate.h"
#include "kn_error.h"

#define WHAT "looking at a cut"

enum { FEWEST_SLOTS = 1 << 10 };

static kn_status no_memory(const kn_candidate *c, kn_error *err)
{
    return kn_fail_memory(err, c->ctx, WHAT);
}

/* The rows of the synopsis that have the specialized value, ascending, so that they are read front to back. */
kn_status kn_candidate_find_rows(kn_candidate *c, kn_error *err)
{
    const kn_synopsis *s = c->synopsis;
    bool               whole = kn_is_whole(c);
    size_t             count = whole ? s->rows.count : 0;
    c->row_clock++;
    for (uint32_t v = c->specialized; !whole && v < c->last_new; v++)
        for (uint32_t i = s->side_start[v]; i < s->side_start[v + 1]; i++)
            for (kn_list_reader list = kn_synopsis_list(s, s->side[i]); kn_list_next(&list);) {
                count += c->row_stamp[list.row] != c->row_clock;
                c->row_stamp[list.row] = c->row_clock;
            }
    if (!kn_grow(c->ctx, (void **)&c->changed_rows, &c->changed_capacity, count + 1, sizeof *c->changed_rows) ||
        !kn_grow(c->ctx, (void **)&c->new_row, &c->new_row_capacity, count + 1, sizeof *c->new_row))
        return no_memory(c, err);
    c->changed_count = 0;
    for (uint32_t row = 0; row < s->rows.count; row++)
        if (whole || c->row_stamp[row] == c->row_clock) c->changed_rows[c->changed_count++] = row;
    return KN_OK;
}

/* Where few of the parent's rows are equal, fewer of these are: then they are not compared. */
static bool worth_merging(const kn_candidate *c)
{
    return !c->parent || c->parent->rows < c->synopsis->rows.count / 2;
}

/* Writes the nodes of a row behind those of the others, each once, stamped. */
static bool write_nodes(kn_candidate *c, uint32_t source)
{
    const kn_rows *rows = &c->synopsis->rows;
    uint64_t       at = c->row_start[c->row_count], from = rows->start[source], to = rows->start[source + 1];
    size_t         need = (size_t)(at + to - from) + 1;
    if (need > c->row_nodes_capacity &&
        !kn_grow(c->ctx, (void **)&c->row_nodes, &c->row_nodes_capacity, need, sizeof *c->row_nodes))
        return false;
    c->node_clock++;
    for (uint64_t i = from; i < to; i++) {
        uint32_t node = c->image[rows->members[i]];
        if (node == KN_NONE || c->node_stamp[node] == c->node_clock) continue;
        c->node_stamp[node] = c->node_clock;
        c->row_nodes[at++] = node;
    }
    c->row_start[c->row_count + 1] = at;
    return true;
}

/* Does not depend on their order. */
static uint64_t hash_nodes(const uint32_t *nodes, uint64_t count)
{
    uint64_t hash = 0;
    for (uint64_t i = 0; i < count; i++) hash += kn_hash_word(nodes[i] + (uint64_t)1);
    return hash;
}

/* Has a row just those nodes that are stamped, `size` of them? */
static bool same_nodes(const kn_candidate *c, uint32_t row, uint64_t size)
{
    uint64_t from = c->row_start[row], to = c->row_start[row + 1];
    if (to - from != size) return false;
    for (uint64_t i = from; i < to; i++)
        if (c->node_stamp[c->row_nodes[i]] != c->node_clock) return false;
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

static bool make_room(kn_candidate *c, size_t rows)
{
    return kn_grow(c->ctx, (void **)&c->row_source, &c->row_source_capacity, rows + 1, sizeof *c->row_source) &&
           kn_grow(c->ctx, (void **)&c->row_weight, &c->row_weight_capacity, rows + 1, sizeof *c->row_weight) &&
           kn_grow(c->ctx, (void **)&c->row_start, &c->row_start_capacity, rows + 2, sizeof *c->row_start) &&
           kn_grow(c->ctx, (void **)&c->old_row, &c->old_row_capacity, rows + 1, sizeof *c->old_row);
}

/* The row that was written becomes one. */
static void add_row(kn_candidate *c, uint32_t source)
{
    c->row_source[c->row_count] = source;
    c->row_weight[c->row_count] = 0;
    c->old_row[c->row_count++] = c->parent ? c->parent->row_of[source] : KN_NONE;
}

/* The row that was written becomes one, unless there is an equal one: which? KN_NONE: memory is out. */
static uint32_t merge_row(kn_candidate *c, uint32_t source)
{
    uint64_t from = c->row_start[c->row_count], size = c->row_start[c->row_count + 1] - from;
    uint64_t hash = hash_nodes(c->row_nodes + from, size);
    if (((size_t)c->row_count + 1) * 2 > c->row_slot_count && !grow_slots(c)) return KN_NONE;
    size_t at = (size_t)(hash >> 8) & (c->row_slot_count - 1), need = (size_t)c->row_count + 1;
    for (; c->row_slots[at]; at = (at + 1) & (c->row_slot_count - 1)) {
        uint32_t row = c->row_slots[at] - 1;
        if (c->row_hash[row] == hash && same_nodes(c, row, size)) return row;
    }
    if (!kn_grow(c->ctx, (void **)&c->row_hash, &c->row_hash_capacity, need, sizeof *c->row_hash)) return KN_NONE;
    add_row(c, source);
    c->row_hash[need - 1] = hash;
    c->row_slots[at] = (uint32_t)need;
    return (uint32_t)need - 1;
}

kn_status kn_candidate_rows(kn_candidate *c, kn_error *err)
{
    bool merge = worth_merging(c);
    c->row_count = 0;
    if (!make_room(c, merge ? 0 : c->changed_count)) return no_memory(c, err);
    c->row_start[0] = 0;
    if (c->row_slot_count) memset(c->row_slots, 0, c->row_slot_count * sizeof *c->row_slots);
    for (size_t i = 0; i < c->changed_count; i++) {
        uint32_t source = c->changed_rows[i], row = c->row_count;
        if ((merge && !make_room(c, (size_t)row + 1)) || !write_nodes(c, source)) return no_memory(c, err);
        if (merge)
            row = merge_row(c, source);
        else
            add_row(c, source);
        if (row == KN_NONE) return no_memory(c, err);
        c->new_row[i] = row;
        c->row_weight[row] += (int32_t)c->synopsis->rows.weight[source];
    }
    return KN_OK;
}

bool kn_candidate_stamp_old_rows(kn_candidate *c)
{
    size_t before = c->old_row_stamp_capacity, need = (size_t)c->parent->rows + 1;
    if (!kn_grow(c->ctx, (void **)&c->old_row_stamp, &c->old_row_stamp_capacity, need, sizeof *c->old_row_stamp))
        return false;
    memset(c->old_row_stamp + before, 0, (c->old_row_stamp_capacity - before) * sizeof *c->old_row_stamp);
    c->old_row_clock++;
    for (uint32_t i = 0; i < c->row_count; i++) c->old_row_stamp[c->old_row[i]] = c->old_row_clock;
    return true;
}
