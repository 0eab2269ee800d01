/* kn_new_support.h: supports of the combinations with a new value.
 *
 * For up to three values and two relations they are in arrays: with ui a new value, x and y other values of the cut,
 *   one relation:  A[i][x][y]: ui and x are related, y is there too (y = x: no third); B[i][x][y]: x ⇝ y, and ui is there
 *   two relations: A[i][x][y], x < y: ui is related to both; B[i][x][y]: ui is related to x, and x to y.
 * Of two values of classes that nest, the one of the smaller class is above; so "related" says which. Everything else
 * is in a hash table.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_NEW_SUPPORT_H
#define KN_NEW_SUPPORT_H

#include "kn_candidate.h"

/* A row: its values ascending; which of them are new. */
typedef struct kn_row_view {
    uint32_t values[KN_ROW_VALUES];
    int      count;
    uint64_t new_values, old_values;
} kn_row_view;

/* Decides where supports are stored. */
KN_CHECK kn_status kn_new_support_prepare(kn_candidate *c, kn_error *err);
void               kn_new_support_clear(kn_candidate *c, int relations);

static inline int32_t *kn_new_support_cells(const kn_candidate *c, int relations, uint32_t new_place, bool second)
{
    size_t square = (size_t)c->places * c->places;
    return c->cells[relations] + (2 * (size_t)new_place + second) * square;
}

/* For arrays, after paths were rewritten: what is gone from all records is 0 now. Says which nodes lost something else. */
KN_CHECK kn_status kn_new_support_lose(kn_candidate *c, kn_error *err);

/* For arrays: counts them in all rows (`rebuild`: they are all 0 before), or subtracts what was lost by rows with such nodes. */
KN_CHECK kn_status kn_new_support_sweep(kn_candidate *c, bool rebuild, kn_error *err);

/* ... and what the supports of combinations without a new value differ from those in a round of the parent, as c->differs has
 * it. First kn_delta_begin, for combinations with from `from` to `to` relations: it marks the rows, which kn_new_support_sweep goes by
 * too. */
KN_CHECK kn_status kn_delta_begin(kn_candidate *c, const kn_round *old, int from, int to, kn_error *err);
KN_CHECK kn_status kn_delta_sweep(kn_candidate *c, const kn_round *old, kn_error *err);

/* The key of two or three values (z = KN_NONE: two) with relations between those that `pairs` says, bit 0: x and y, 1: x and z,
 * 2: y and z. */
uint64_t kn_new_support_key(const kn_candidate *c, uint32_t x, uint32_t y, uint32_t z, unsigned pairs);

/* Where they do not: adds the combinations of a row with a new value; with `one_of` only those with such a relation. */
void kn_new_support_count(kn_candidate *c, const kn_row_view *row, const kn_row_relations *has, const kn_row_relations *one_of,
                    int relations, int32_t amount);

/* The support of a relation of a new value. */
int32_t kn_new_support_relation(const kn_candidate *c, uint32_t above, uint32_t below);

/* Calls `tell` for every key whose support is not 0. false: `tell` ran out of memory. */
typedef bool (*kn_new_support_fn)(void *arg, uint64_t key, int32_t support);
KN_CHECK bool kn_new_support_each(const kn_candidate *c, int relations, kn_new_support_fn tell, void *arg);

#endif
