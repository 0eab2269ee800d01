/* kn_candidate_rows.c: the rows that have the specialized value, under the current cut.
 *
 * Interface: kn_candidate.h. A row is the number of one of the synopsis, read through the image of its nodes: nothing
 * is copied. Rows that become equal are merged if that pays off; if not, several workers may write them (kn_parallel_share).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_candidate.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "looking at a cut"

/* Space for this many, which do not outlast it, and for no more: arrays of rows are most of what a worker holds. */
static bool room(kn_context *ctx, void *array, size_t *capacity, size_t need, size_t element_size)
{
    void *block; /* copied, not cast: the pointer is of any type */
    if (need <= *capacity) return true;
    memcpy(&block, array, sizeof block);
    kn_free(block);
    block = kn_alloc_array(ctx, need, element_size);
    memcpy(array, &block, sizeof block);
    *capacity = block ? need : 0;
    return block != NULL;
}

#define ROOM(ctx, array, capacity, need) room(ctx, array, capacity, need, sizeof **(array))

kn_status kn_candidate_find_rows(kn_candidate *c, kn_error *err)
{
    const kn_synopsis *s = c->synopsis;
    bool               whole = kn_is_whole(c);
    size_t             words = kn_bitset_words(s->rows.count);
    c->has = whole ? NULL : kn_synopsis_set(s, c->specialized);
    if (c->has) return KN_OK;
    if (!KN_GROW(c->ctx, &c->own_has, &c->own_has_capacity, words + 1)) return kn_fail_memory(err, c->ctx, WHAT);
    c->has = c->own_has;
    memset(c->own_has, whole ? 0xff : 0, words * sizeof *c->own_has);
    if (whole && s->rows.count % 64) c->own_has[words - 1] = ((uint64_t)1 << s->rows.count % 64) - 1;
    for (uint32_t row = 0; !whole && row < s->rows.count; row++)
        c->own_has[row / 64] |= (uint64_t)kn_synopsis_has(s, row, c->specialized, c->last_new) << row % 64;
    return KN_OK;
}

/* The rows of the synopsis that have the specialized value, ascending, so that they are read front to back. */
static bool list_rows(kn_candidate *c)
{
    size_t words = kn_bitset_words(c->synopsis->rows.count), count = kn_bitset_count(c->has, words);
    if (!ROOM(c->ctx, &c->changed_rows, &c->changed_capacity, count + 1)) return false;
    c->changed_count = 0;
    for (size_t i = 0; i < words; i++)
        for (uint64_t left = c->has[i]; left; left &= left - 1)
            c->changed_rows[c->changed_count++] = (uint32_t)(i * 64 + (unsigned)__builtin_ctzll(left));
    return true;
}

/* The image in 16 bits, half as much of the cache: rows meet its nodes in no order. */
static bool narrow_image(kn_candidate *c)
{
    if (!KN_GROW(c->ctx, &c->narrow_image, &c->narrow_image_capacity, (size_t)c->synopsis->nodes + 1)) return false;
    for (uint32_t i = 0; i < c->synopsis->nodes; i++) c->narrow_image[i] = (uint16_t)c->image[i];
    return true;
}

/* Writes the nodes of a row that is not merged, from `at` on; each has an image here. Returns where they end. */
static inline uint32_t write_narrow(const kn_candidate *c, uint32_t source, uint32_t at, uint32_t *stamp,
                                    uint32_t clock)
{
    const kn_rows  *rows = &c->synopsis->rows;
    const uint32_t *end = rows->members + rows->start[source + 1];
    const uint16_t *image = c->narrow_image;
    uint16_t       *to = c->narrow_nodes;
    for (const uint32_t *member = rows->members + rows->start[source]; member < end; member++) {
        uint16_t node = image[*member];
        to[at] = node;
        at += stamp[node] != clock;
        stamp[node] = clock;
    }
    return at;
}

static uint32_t write_wide(const kn_candidate *c, uint32_t source, uint32_t at, uint32_t *stamp, uint32_t clock)
{
    const kn_rows *rows = &c->synopsis->rows;
    for (uint64_t i = rows->start[source]; i < rows->start[source + 1]; i++) {
        uint32_t node = c->image[rows->members[i]];
        c->wide_nodes[at] = node;
        at += stamp[node] != clock;
        stamp[node] = clock;
    }
    return at;
}

/* Rows that are not merged. Each range begins where it would if no node occurred twice; then they are moved together. */
typedef struct writing {
    kn_candidate *c;
    uint32_t     *ends; /* of each range */
} writing;

static kn_status write_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    writing      *w = arg;
    kn_candidate *c = w->c, *mine = c->team[worker];
    uint32_t      at = c->row_start[begin];
    if (mine != c) {
        if (!KN_GROW(c->ctx, &mine->node_stamp, &mine->node_stamp_capacity, (size_t)c->nodes + 1))
            return kn_fail_memory(err, c->ctx, WHAT);
        memset(mine->node_stamp, 0, c->nodes * sizeof *mine->node_stamp);
        mine->node_clock = 0;
    }
    for (int64_t i = begin; i < end; i++) {
        uint32_t source = c->changed_rows[i], clock = ++mine->node_clock;
        c->row_start[i] = at;
        at = c->narrow ? write_narrow(c, source, at, mine->node_stamp, clock)
                       : write_wide(c, source, at, mine->node_stamp, clock);
    }
    w->ends[begin / KN_ROWS_SHARED] = at;
    return KN_OK;
}

static void close_gaps(kn_candidate *c, const uint32_t *ends)
{
    uint32_t to = 0, count = (uint32_t)c->changed_count;
    size_t   size = c->narrow ? sizeof *c->narrow_nodes : sizeof *c->wide_nodes;
    char    *nodes = c->narrow ? (char *)c->narrow_nodes : (char *)c->wide_nodes;
    for (uint32_t row = 0; row < count; row += KN_ROWS_SHARED) {
        uint32_t from = c->row_start[row], length = ends[row / KN_ROWS_SHARED] - from, gap = from - to;
        uint32_t last = count - row > KN_ROWS_SHARED ? row + KN_ROWS_SHARED : count;
        if (gap) memmove(nodes + to * size, nodes + from * size, length * size);
        for (uint32_t i = row; gap && i < last; i++) c->row_start[i] -= gap;
        to += length;
    }
    c->row_start[count] = to;
    c->row_count = count;
}

/* What stands behind the last row. */
void kn_candidate_close_rows(kn_candidate *c)
{
    uint32_t end = c->row_start[c->row_count];
    if (c->narrow)
        memset(c->narrow_nodes + end, 0, KN_NODES_AHEAD * sizeof *c->narrow_nodes);
    else
        memset(c->wide_nodes + end, 0, KN_NODES_AHEAD * sizeof *c->wide_nodes);
}

static kn_status write_rows(kn_candidate *c, kn_error *err)
{
    const uint64_t *start = c->synopsis->rows.start;
    writing         w = {c, kn_alloc_array(c->ctx, c->changed_count / KN_ROWS_SHARED + 1, sizeof *w.ends)};
    if (!w.ends) return kn_fail_memory(err, c->ctx, WHAT);
    for (size_t i = 0, at = 0; i < c->changed_count; i++) {
        c->row_start[i] = (uint32_t)at;
        at += (size_t)(start[c->changed_rows[i] + 1] - start[c->changed_rows[i]]);
    }
    kn_status st =
        kn_parallel_share(c->ctx, c->worker, (int64_t)c->changed_count, KN_ROWS_SHARED, write_range, &w, err);
    if (st == KN_OK) close_gaps(c, w.ends);
    kn_free(w.ends);
    return st;
}

void kn_candidate_forget_rows(kn_candidate *c)
{
    KN_FREE(c->changed_rows, c->row_start, c->narrow_nodes, c->wide_nodes, c->row_marks);
    c->changed_rows = c->row_start = c->wide_nodes = NULL;
    c->narrow_nodes = NULL;
    c->row_marks = NULL;
    c->changed_capacity = c->row_start_capacity = c->narrow_capacity = c->wide_capacity = c->row_marks_capacity = 0;
}

kn_status kn_candidate_rows(kn_candidate *c, kn_error *err)
{
    const kn_rows *rows = &c->synopsis->rows;
    size_t         nodes = 0;
    if (!list_rows(c)) return kn_fail_memory(err, c->ctx, WHAT);
    c->row_count = 0;
    c->merged = kn_candidate_merges(c);
    c->narrow = c->nodes <= UINT16_MAX;
    if (c->merged) return kn_candidate_merge_rows(c, err);
    kn_candidate_stop_merging(c);
    for (size_t i = 0; i < c->changed_count; i++)
        nodes += (size_t)(rows->start[c->changed_rows[i] + 1] - rows->start[c->changed_rows[i]]);
    nodes += KN_NODES_AHEAD;
    if (!ROOM(c->ctx, &c->row_start, &c->row_start_capacity, c->changed_count + 2) ||
        !(c->narrow ? ROOM(c->ctx, &c->narrow_nodes, &c->narrow_capacity, nodes)
                    : ROOM(c->ctx, &c->wide_nodes, &c->wide_capacity, nodes)))
        return kn_fail_memory(err, c->ctx, WHAT);
    if (c->narrow && !narrow_image(c)) return kn_fail_memory(err, c->ctx, WHAT);
    KN_TRY(write_rows(c, err));
    kn_candidate_close_rows(c);
    return KN_OK;
}

bool kn_candidate_find_old_rows(kn_candidate *c)
{
    size_t words = kn_bitset_words(c->parent->rows) + 1;
    if (!KN_GROW(c->ctx, &c->old_has, &c->old_has_capacity, words)) return false;
    memset(c->old_has, 0, words * sizeof *c->old_has);
    for (uint32_t i = 0; i < c->row_count; i++)
        kn_bitset_set(c->old_has, kn_state_row_of(c->parent, kn_row_source(c, i)));
    return true;
}
