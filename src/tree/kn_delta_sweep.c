/* kn_delta_sweep.c: what the supports of combinations without a new value differ from the parent's, many rows at a time
 * (kn_blocks.h).
 *
 * Interface: kn_fresh.h. Now: as the rows stand; then: as they stood for the parent in the round that is held against. Only rows
 * with a node that differs are looked at. Cost: as kn_fresh_sweep.c, and one step per combination whose support differs.
 */
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fresh.h"

static void add(kn_candidate *c, int relations, uint64_t key, int32_t amount)
{
    c->counted++;
    if (amount != 0 && !kn_counts_add(&c->delta[relations], key, amount)) c->no_memory = true;
}

static void count_singles(kn_blocks *b, uint32_t relation, size_t words)
{
    kn_candidate *c = b->c;
    uint32_t      above = b->ends[2 * relation], below = b->ends[2 * relation + 1];
    uint32_t      x = c->value_of[above], y = c->value_of[below];
    add(c, 1, kn_fresh_key(c, x, y, KN_NONE, 1), kn_blocks_more_with(b, relation, above, words));
    for (uint32_t z = c->new_count; c->problem->m > 2 && z < c->places; z++)
        if (z != above && z != below)
            add(c, 1, kn_fresh_key(c, x, y, c->value_of[z], 1), kn_blocks_more_with(b, relation, z, words));
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
            uint64_t key = kn_fresh_key(c, c->value_of[centre], x, c->value_of[list[2 * k]], 3);
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

/* The rows that have the specialized value. */
static void put_changed(kn_candidate *c)
{
    for (uint32_t row = 0; row < c->row_count && !c->no_memory; row++) {
        bool differs = false;
        for (uint64_t i = c->row_start[row]; i < c->row_start[row + 1]; i++) differs |= c->differs[c->row_nodes[i]];
        uint64_t from = c->row_start[row];
        if (differs)
            kn_blocks_put(&c->blocks, c->row_nodes + from, (uint32_t)(c->row_start[row + 1] - from),
                          c->row_weight[row]);
    }
}

/* The parent's rows that do not. */
static void put_others(kn_candidate *c)
{
    uint32_t nodes[KN_ROW_VALUES];
    for (uint32_t row = 0; row < c->parent->rows && !c->no_memory; row++) {
        if (c->old_row_stamp[row] == c->old_row_clock) continue;
        uint32_t size = kn_row_members(c, c->parent->representative[row], nodes);
        bool     differs = false;
        for (uint32_t i = 0; i < size; i++) differs |= c->differs[nodes[i]];
        if (differs) kn_blocks_put(&c->blocks, nodes, size, c->parent->weight[row]);
    }
}

kn_status kn_delta_sweep(kn_candidate *c, const kn_round *old, int from, int to, kn_error *err)
{
    kn_blocks *b = &c->blocks;
    for (int j = from; j <= to; j++) kn_counts_clear(&c->delta[j]);
    if (!c->any_differs) return KN_OK;
    if (kn_cancelled(c->ctx)) return kn_fail_cancelled(err);
    c->delta_from = from;
    c->delta_to = to;
    kn_blocks_ways ways = {c->paths, old->paths, c->differs, true};
    size_t         rows = (size_t)c->row_count + (c->any_old_differs ? c->parent->rows : 0);
    KN_TRY(kn_blocks_begin(b, c, &ways, rows, count_block, err));
    put_changed(c);
    if (c->any_old_differs) put_others(c);
    kn_blocks_end(b);
    return c->no_memory ? kn_fail_memory(err, c->ctx, "counting combinations") : KN_OK;
}
