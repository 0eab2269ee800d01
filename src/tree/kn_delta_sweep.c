/* kn_delta_sweep.c: how the supports of combinations without a new value differ from the parent's, many rows at a
 * time (kn_blocks.h).
 *
 * Interface: kn_new_support.h. Now: as the rows are; then: as they were for the parent in the round they are compared
 * with. Only rows with a node that differs are visited. From one round to the next the differences are kept, except
 * for rows in which something moved, here or for the parent, unless these are most. Cost: as kn_new_support_sweep.c,
 * and one step per combination whose support differs.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdatomic.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_new_support.h"
#include "kn_parallel.h"

enum { OTHERS = 8 /* of the rows without the specialized value about one in so many is meant */ };

static void add(kn_candidate *c, int relations, uint64_t key, int32_t amount)
{
    c->counted++;
    if (amount != 0 && !kn_counts_add(&c->delta[relations], key, c->delta_sign * amount)) c->no_memory = true;
}

static void count_singles(kn_blocks *b, uint32_t relation, size_t words)
{
    kn_candidate *c = b->c;
    uint32_t      above = b->ends[2 * relation], below = b->ends[2 * relation + 1];
    uint32_t      x = c->value_of[above], y = c->value_of[below];
    add(c, 1, kn_new_support_key(c, x, y, KN_NONE, 1), kn_blocks_more_with(b, relation, above, words));
    for (uint32_t z = c->new_count; c->problem->m > 2 && z < c->places; z++)
        if (z != above && z != below)
            add(c, 1, kn_new_support_key(c, x, y, c->value_of[z], 1), kn_blocks_more_with(b, relation, z, words));
}

/* Two relations that share a value: the one at `centre`. */
static void count_doubles(kn_blocks *b, uint32_t centre, size_t words)
{
    kn_candidate   *c = b->c;
    const uint32_t *start = b->neighbours, *list = start + c->places + 2;
    for (uint32_t j = start[centre]; j < start[centre + 1]; j++) {
        uint32_t first = list[2 * j + 1], x = c->value_of[list[2 * j]];
        if (!b->present[first]) continue;
        for (uint32_t k = j + 1; k < start[centre + 1]; k++) {
            uint32_t second = list[2 * k + 1];
            if (!b->present[second] || !(b->differs[first] || b->differs[second])) continue;
            uint64_t key = kn_new_support_key(c, c->value_of[centre], x, c->value_of[list[2 * k]], 3);
            add(c, 2, key, kn_blocks_more(b, first, second, words));
        }
    }
}

static void count_block(kn_blocks *b, size_t words)
{
    kn_candidate *c = b->c;
    for (uint32_t r = 0; c->delta_from == 1 && r < b->relations; r++)
        if (b->differs[r]) count_singles(b, r, words);
    for (uint32_t x = c->new_count; c->delta_to > 1 && c->problem->m > 2 && x < c->places; x++)
        count_doubles(b, x, words);
}

/* ---- Which rows ---- */

/* Marks each node. `before`: the parent's round of the last time; NULL: all is counted anew. false: no row is meant, whatever
 * moved. */
static bool mark_nodes(kn_candidate *c, const kn_round *old, const kn_round *before)
{
    unsigned any = 0;
    for (uint32_t i = 0; i < c->nodes; i++) {
        uint32_t was = i < c->old_nodes ? i : c->was[i - c->old_nodes];
        unsigned marks = (c->differs[i] ? KN_DIFFERS : 0) | (c->moved[i] ? KN_MOVED : 0);
        if (c->any_lost && c->lost[i]) marks |= KN_LOST;
        if (before && !(i < c->old_nodes && c->gone[i])) {
            const uint32_t *here = old->paths + was * c->stride, *there = before->paths + was * c->stride;
            if (c->differed[i]) marks |= KN_DIFFERED;
            if (memcmp(here, there, (here[0] + 1) * sizeof *here) != 0) marks |= KN_MOVED_THERE;
        }
        c->node_marks[i] = (uint8_t)marks;
        any |= marks;
    }
    return (any & (KN_DIFFERS | KN_DIFFERED | KN_LOST)) != 0;
}

static bool meant(unsigned marks, bool anew)
{
    if (anew) return (marks & KN_DIFFERS) != 0;
    return (marks & (KN_MOVED | KN_MOVED_THERE)) && (marks & (KN_DIFFERS | KN_DIFFERED));
}

static unsigned marks_of_row(const kn_candidate *c, uint32_t row)
{
    unsigned marks = 0;
    if (c->narrow)
        for (uint32_t i = c->row_start[row]; i < c->row_start[row + 1]; i++) marks |= c->node_marks[c->narrow_nodes[i]];
    else
        for (uint32_t i = c->row_start[row]; i < c->row_start[row + 1]; i++) marks |= c->node_marks[c->wide_nodes[i]];
    return marks;
}

typedef struct marking {
    kn_candidate    *c;
    _Atomic uint32_t all, some; /* rows that are meant */
} marking;

static kn_status mark_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    marking      *x = arg;
    kn_candidate *c = x->c;
    uint32_t      all = 0, some = 0;
    (void)worker;
    (void)err;
    for (int64_t row = begin; row < end; row++) {
        unsigned marks = marks_of_row(c, (uint32_t)row);
        c->row_marks[row] = (uint8_t)marks;
        all += meant(marks, true);
        some += meant(marks, false);
    }
    atomic_fetch_add(&x->all, all);
    atomic_fetch_add(&x->some, some);
    return KN_OK;
}

/* Was the last time the round before, with as many relations? */
static bool goes_on(const kn_candidate *c, int from, int to)
{
    return from == 1 && c->delta_valid && c->delta_from == 1 && c->delta_to >= to;
}

kn_status kn_delta_begin(kn_candidate *c, const kn_round *old, int from, int to, kn_error *err)
{
    marking x = {.c = c};
    c->meant[0] = c->meant[1] = 0;
    c->delta_before = goes_on(c, from, to) ? c->delta_round : NULL;
    c->delta_from = from;
    c->delta_to = to;
    if (!KN_GROW(c->ctx, &c->row_marks, &c->row_marks_capacity, (size_t)c->row_count + 1))
        return kn_fail_memory(err, c->ctx, "counting combinations");
    if (!mark_nodes(c, old, c->delta_before)) {
        memset(c->row_marks, 0, c->row_count * sizeof *c->row_marks);
        return KN_OK;
    }
    KN_TRY(kn_parallel_share(c->ctx, c->worker, c->row_count, KN_ROWS_SHARED, mark_range, &x, err));
    c->meant[0] = x.all;
    c->meant[1] = x.some;
    if (x.some > x.all / 2)
        c->delta_before = NULL; /* counting everything again is less work than counting what moved twice */
    return KN_OK;
}

/* The rows that have the specialized value. */
static void put_changed(kn_blocks *b, bool anew, uint32_t begin, uint32_t end)
{
    const kn_candidate *c = b->c;
    for (uint32_t row = begin; row < end && !c->no_memory; row++)
        if (meant(c->row_marks[row], anew)) kn_blocks_put_row(b, row);
}

/* The parent's rows that do not. */
static void put_others(kn_blocks *b, bool anew, uint32_t begin, uint32_t end)
{
    const kn_candidate *c = b->c;
    uint32_t            nodes[KN_ROW_VALUES];
    for (uint32_t row = begin; row < end && !c->no_memory; row++) {
        if (kn_bitset_test(c->old_has, row)) continue;
        uint32_t size = kn_row_members(c, kn_state_source(c->parent, row), nodes);
        unsigned marks = 0;
        for (uint32_t i = 0; i < size; i++) marks |= c->node_marks[nodes[i]];
        if (meant(marks, anew)) kn_blocks_put(b, nodes, size, kn_state_weight(c->parent, row));
    }
}

/* ---- The whole of it ---- */

static kn_status count(kn_candidate *c, const kn_blocks_ways *ways, bool anew, kn_error *err)
{
    bool   others = c->any_old_differs || (!anew && c->any_old_differed);
    size_t rows = (size_t)c->row_count + (others ? c->parent->rows : 0);
    if (kn_cancelled(c->ctx)) return kn_fail_cancelled(err);
    KN_TRY(kn_blocks_begin(&c->blocks, c, ways, rows, count_block, err));
    KN_TRY(kn_blocks_share(&c->blocks, c->row_count, c->meant[!anew], put_changed, anew, false, err));
    return others ? kn_blocks_share(&c->blocks, c->parent->rows, c->parent->rows / OTHERS, put_others, anew, false, err)
                  : KN_OK;
}

kn_status kn_delta_sweep(kn_candidate *c, const kn_round *old, kn_error *err)
{
    const kn_round *before = c->delta_before;
    bool            any = c->any_differs || (before && c->any_differed);
    if (before && any) {
        kn_blocks_ways then = {c->previous_paths, before->paths, c->differed, NULL, true};
        c->delta_sign = -1;
        KN_TRY(count(c, &then, false, err));
    }
    for (int j = c->delta_from; !before && j <= c->delta_to; j++) kn_counts_clear(&c->delta[j]);
    kn_blocks_ways now = {c->paths, old->paths, c->differs, NULL, true};
    c->delta_sign = 1;
    if (any) KN_TRY(count(c, &now, !before, err));
    memcpy(c->differed, c->differs, c->nodes * sizeof *c->differed);
    c->any_differed = c->any_differs;
    c->any_old_differed = c->any_old_differs;
    c->delta_round = old;
    c->delta_valid = true;
    return KN_OK;
}
