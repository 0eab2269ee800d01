/* kn_new_support_sweep.c: supports of the combinations with a new value, many rows at a time (kn_blocks.h).
 *
 * Interface: kn_new_support.h. In later rounds only rows are visited that lost a relation which others still have
 * (kn_new_support_lost.c), unless these are many: then counting everything again is less work. Cost: one step per row and relation, and one per combination that
 * occurs and 512 rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_error.h"
#include "kn_new_support.h"

/* One relation: alone and with a third value. */
static void count_singles(kn_blocks *b, uint32_t relation, size_t words)
{
    kn_candidate *c = b->c;
    uint32_t      above = b->ends[2 * relation], below = b->ends[2 * relation + 1], n = c->places;
    bool          upper = above<c->new_count, three = c->problem->m> 2;
    if (upper || below < c->new_count) {
        uint32_t mine = upper ? above : below, other = upper ? below : above;
        int32_t *cells = kn_new_support_cells(c, 1, mine, false) + (size_t)other * n;
        uint32_t first = three ? 0 : other, end = three ? n : other + 1;
        for (uint32_t z = first; z < end; z++)
            if (z != mine) cells[z] += kn_blocks_more_with(b, relation, z, words);
        c->counted += end - first;
        return;
    }
    for (uint32_t z = 0; three && z < c->new_count; z++)
        kn_new_support_cells(c, 1, z, true)[(size_t)above * n + below] += kn_blocks_more_with(b, relation, z, words);
    c->counted += c->new_count;
}

/* Two relations that share a value; the i-th new value is one of the three. Two new values are never related. */
static void count_doubles(kn_blocks *b, uint32_t i, size_t words)
{
    kn_candidate   *c = b->c;
    size_t          n = c->places;
    const uint32_t *start = b->neighbours, *list = start + n + 2;
    int32_t        *both = kn_new_support_cells(c, 2, i, false), *chain = kn_new_support_cells(c, 2, i, true);
    for (uint32_t j = start[i]; j < start[i + 1]; j++) {
        uint32_t x = list[2 * j], first = list[2 * j + 1];
        if (!b->present[first]) continue;
        bool all = !b->then || b->differs[first];
        for (uint32_t k = j + 1; k < start[i + 1]; k++) {
            uint32_t y = list[2 * k], second = list[2 * k + 1], low = x < y ? x : y, high = x < y ? y : x;
            if (b->present[second] && (all || b->differs[second]))
                both[low * n + high] += kn_blocks_more(b, first, second, words);
        }
        /* Of two new values at the ends of a chain the first counts it. */
        for (uint32_t k = start[x]; k < start[x + 1]; k++) {
            uint32_t y = list[2 * k], second = list[2 * k + 1];
            if (y > i && b->present[second] && (all || b->differs[second]))
                chain[x * n + y] += kn_blocks_more(b, first, second, words);
        }
        c->counted += start[i + 1] - j + start[x + 1] - start[x];
    }
}

static void count_block(kn_blocks *b, size_t words)
{
    kn_candidate *c = b->c;
    for (uint32_t r = 0; r < b->relations; r++)
        if (b->then ? b->differs[r] : b->present[r]) count_singles(b, r, words);
    for (uint32_t i = 0; c->problem->n > 1 && i < c->new_count; i++) count_doubles(b, i, words);
}

static void put_rows(kn_blocks *b, bool rebuild, uint32_t begin, uint32_t end)
{
    const uint8_t *marks = b->c->row_marks;
    for (uint32_t row = begin; row < end; row++)
        if (rebuild || (marks[row] & KN_LOST)) kn_blocks_put_row(b, row);
}

/* The rows that lost something. */
static uint32_t count_lost(const kn_candidate *c)
{
    uint32_t lost = 0;
    for (uint32_t row = 0; row < c->row_count; row++) lost += (c->row_marks[row] & KN_LOST) != 0;
    return lost;
}

kn_status kn_new_support_sweep(kn_candidate *c, bool rebuild, kn_error *err)
{
    kn_blocks *b = &c->blocks;
    if (!rebuild && !c->any_lost) return KN_OK;
    uint32_t meant = rebuild ? c->row_count : count_lost(c);
    if (!rebuild && meant > c->row_count / 4 * 3) {
        /* too many to update the counts */
        meant = c->row_count;
        rebuild = true;
        for (int j = 1; j <= c->problem->n; j++) kn_new_support_clear(c, j);
    }
    kn_blocks_ways ways = {.now = c->paths};
    if (!rebuild) ways = (kn_blocks_ways){c->paths, c->previous_paths, c->lost, c->fates, false};
    KN_TRY(kn_blocks_begin(b, c, &ways, c->row_count, count_block, err));
    return kn_blocks_share(b, c->row_count, meant, put_rows, rebuild, true, err);
}
