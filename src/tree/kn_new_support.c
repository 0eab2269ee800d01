/* kn_new_support.c: supports of the combinations with a new value, in arrays where that is possible.
 *
 * Interface: kn_new_support.h. How they get there: kn_new_support_sweep.c; of more values or relations, row by row.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_new_support.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_emit.h"
#include "kn_error.h"

enum { MOST_CELLS = 1 << 22 };

kn_status kn_new_support_prepare(kn_candidate *c, kn_error *err)
{
    c->dense = false;
    if (kn_is_whole(c) || c->problem->m > 3 || c->problem->n > 2 || c->problem->n == 0) return KN_OK;
    size_t cells = (size_t)c->new_count * c->places * c->places * 2;
    c->dense = cells <= MOST_CELLS;
    for (int j = 1; c->dense && j <= c->problem->n; j++)
        if (!KN_GROW(c->ctx, &c->cells[j], &c->cells_capacity[j], cells))
            return kn_fail_memory(err, c->ctx, "counting combinations");
    return KN_OK;
}

void kn_new_support_clear(kn_candidate *c, int relations)
{
    if (c->dense)
        memset(c->cells[relations], 0, (size_t)c->new_count * c->places * c->places * 2 * sizeof *c->cells[relations]);
    else
        kn_counts_clear(&c->new_supports[relations]);
}

/* ---- Counting ---- */

void kn_new_support_count(kn_candidate *c, const kn_row_view *row, const kn_row_relations *has,
                          const kn_row_relations *one_of, int relations, int32_t amount)
{
    uint64_t    all = row->old_values | row->new_values;
    kn_emission e = {has, one_of, all, row->new_values, row->values, relations, amount, &c->new_supports[relations]};
    if (!kn_emit(&e, c->layout, &c->counted)) c->no_memory = true;
}

/* ---- Reading supports ---- */

int32_t kn_new_support_relation(const kn_candidate *c, uint32_t above, uint32_t below)
{
    if (!c->dense) return kn_counts_get(&c->new_supports[1], kn_relation_key(c->layout, above, below));
    bool     upper = kn_is_new(c, above);
    uint32_t i = c->place_of[upper ? above : below], other = c->place_of[upper ? below : above];
    return kn_new_support_cells(c, 1, i, false)[other * c->places + other];
}

uint64_t kn_new_support_key(const kn_candidate *c, uint32_t x, uint32_t y, uint32_t z, unsigned pairs)
{
    uint32_t v[3] = {x, y, z};
    int      at[3] = {0, 1, 2}; /* the place of each among the sorted */
    int      count = z == KN_NONE ? 2 : 3;
    for (int i = 0; i < count; i++) {
        at[i] = 0;
        for (int j = 0; j < count; j++) at[i] += v[j] < v[i];
    }
    uint64_t key = 0, flags = 0;
    for (int i = 0; i < count; i++) key |= ((uint64_t)v[i] + 1) << (at[i] * c->layout.width);
    static const int ends[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (int p = 0; p < 3; p++)
        if (pairs >> p & 1) {
            int a = at[ends[p][0]], b = at[ends[p][1]];
            if (a > b) {
                int t = a;
                a = b;
                b = t;
            }
            flags |= (uint64_t)1 << (b * (b - 1) / 2 + a);
        }
    return key | flags << (c->layout.m * c->layout.width);
}

bool kn_new_support_each(const kn_candidate *c, int relations, kn_new_support_fn tell, void *arg)
{
    if (!c->dense) {
        const kn_counts *t = &c->new_supports[relations];
        for (size_t i = 0; i < t->slots; i++)
            if (t->keys[i] && t->counts[i] && !tell(arg, t->keys[i], t->counts[i])) return false;
        return true;
    }
    uint32_t n = c->places;
    for (uint32_t i = 0; i < 2 * c->new_count; i++) {
        const int32_t *cells = kn_new_support_cells(c, relations, i / 2, i % 2);
        uint32_t       value = c->value_of[i / 2];
        unsigned       pairs = relations == 1 ? (i % 2 ? 4 : 1) : i % 2 ? 5 : 3;
        for (uint32_t x = 0; x < n; x++)
            for (uint32_t y = 0; y < n; y++) {
                int32_t support = cells[(size_t)x * n + y];
                if (support == 0) continue;
                uint32_t third = x == y ? KN_NONE : c->value_of[y];
                if (!tell(arg, kn_new_support_key(c, value, c->value_of[x], third, pairs), support)) return false;
            }
    }
    return true;
}
