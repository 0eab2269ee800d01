/* kn_new_support_lost.c: what a round of disassociations does to the supports of combinations with a new value.
 *
 * Interface: kn_new_support.h. A disassociation only takes relations away from nodes. A relation that no node gives any more is
 * gone from all records: combinations with it have support 0, and no record has to be read for that. One that no node lost is
 * where it was. Only a relation that some nodes lost and others still give has to be counted, in the rows with such nodes
 * (kn_new_support_sweep.c). Cost: one step per node and level, and one per combination with a relation that is gone.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_new_support.h"

static uint8_t *fate_of(const kn_candidate *c, uint32_t above, uint32_t below)
{
    return &c->fates[(size_t)c->place_of[above] * c->places + c->place_of[below]];
}

static bool is_gone(const kn_candidate *c, uint32_t node)
{
    return node < c->old_nodes && c->gone[node];
}

static bool stands_on(uint32_t value, const uint32_t *path)
{
    for (uint32_t i = 1; i <= path[0]; i++)
        if (path[i] == value) return true;
    return false;
}

/* Which relations some node lost, and which some node still gives. */
static void find_fates(kn_candidate *c)
{
    memset(c->fates, 0, (size_t)c->places * c->places);
    for (uint32_t i = 0; i < c->nodes; i++) {
        if (is_gone(c, i)) continue;
        const uint32_t *now = kn_path_of(c, i), *before = c->previous_paths + i * c->stride;
        for (uint32_t j = 1; j < now[0]; j++) *fate_of(c, now[j], now[now[0]]) |= KN_FATE_GIVEN;
        for (uint32_t j = 1; c->moved[i] && j < before[0]; j++)
            if (!stands_on(before[j], now)) *fate_of(c, before[j], before[before[0]]) |= KN_FATE_LOST;
    }
}

/* The nodes that lost a relation which others still give. */
static void find_losers(kn_candidate *c)
{
    c->any_lost = false;
    for (uint32_t i = 0; i < c->nodes; i++) {
        c->lost[i] = false;
        if (!c->moved[i]) continue;
        const uint32_t *now = kn_path_of(c, i), *before = c->previous_paths + i * c->stride;
        for (uint32_t j = 1; j < before[0]; j++)
            c->lost[i] |= !stands_on(before[j], now) && *fate_of(c, before[j], before[before[0]]) != KN_FATE_LOST;
        c->any_lost |= c->lost[i];
    }
}

/* No combination with a relation of a new value, the `mine`-th, and another place occurs. */
static void clear_new(kn_candidate *c, uint32_t mine, uint32_t other)
{
    size_t n = c->places;
    memset(kn_new_support_cells(c, 1, mine, false) + other * n, 0, n * sizeof *c->cells[1]);
    if (c->problem->n < 2) return;
    int32_t *both = kn_new_support_cells(c, 2, mine, false);
    for (size_t y = 0; y < n; y++) both[other < y ? other * n + y : y * n + other] = 0;
    memset(kn_new_support_cells(c, 2, mine, true) + other * n, 0, n * sizeof *c->cells[2]);
}

/* No combination with a relation occurs. */
static void clear_relation(kn_candidate *c, uint32_t above, uint32_t below)
{
    size_t n = c->places;
    bool   old = above >= c->new_count && below >= c->new_count;
    if (above < c->new_count) clear_new(c, above, below);
    if (below < c->new_count) clear_new(c, below, above);
    for (uint32_t i = 0; i < c->new_count; i++) {
        if (old) kn_new_support_cells(c, 1, i, true)[above * n + below] = 0;
        if (c->problem->n < 2) continue;
        int32_t *chain = kn_new_support_cells(c, 2, i, true);
        chain[above * n + below] = chain[below * n + above] = 0;
    }
}

kn_status kn_new_support_lose(kn_candidate *c, kn_error *err)
{
    if (!c->dense) return KN_OK;
    if (!KN_GROW(c->ctx, &c->fates, &c->fates_capacity, (size_t)c->places * c->places + 1) ||
        !KN_GROW(c->ctx, &c->lost, &c->lost_capacity, (size_t)c->nodes + 1))
        return kn_fail_memory(err, c->ctx, "counting combinations");
    find_fates(c);
    find_losers(c);
    for (uint32_t a = 0; a < c->places; a++)
        for (uint32_t b = 0; b < c->places; b++)
            if (c->fates[(size_t)a * c->places + b] == KN_FATE_LOST) clear_relation(c, a, b);
    return KN_OK;
}
