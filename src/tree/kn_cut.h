/* kn_cut.h: cuts through the vocabulary, each once (docs/errata.md K10). Every cut has the leaves of the sensitive
 * classes: they are published unchanged; "*" stands for the values of the others.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_CUT_H
#define KN_CUT_H

#include "kn_arena.h"
#include "kn_vocabulary.h"

typedef struct kn_cut {
    uint32_t        size;
    const uint32_t *values;      /* ascending                                    */
    uint32_t        from;        /* the cut that was specialized; UINT32_MAX: the first */
    uint32_t        specialized; /* and the value of it that was                  */
    bool            passed;      /* ValueCheck, as far as is known                */
} kn_cut;

/* All cuts that were reached, in the order of discovery. */
typedef struct kn_cuts {
    kn_context          *ctx;
    const kn_vocabulary *vocabulary;
    kn_arena             arena;
    kn_cut              *cuts;
    size_t               count, capacity;
    uint32_t            *slots; /* cut + 1; 0: free */
    size_t               slot_count;
} kn_cuts;

/* With {*}, and the sensitive leaves, as the first. */
KN_CHECK kn_status kn_cuts_make(kn_cuts *out, kn_context *ctx, const kn_vocabulary *vocabulary, kn_error *err);
void               kn_cuts_free(kn_cuts *cuts);

/* Adds every cut in which one value that is not a leaf is replaced by its children, unless it was reached before. */
KN_CHECK kn_status kn_cuts_specialize(kn_cuts *cuts, uint32_t cut, kn_error *err);

/* The cut in which `value` of `cut` is replaced by its children; UINT32_MAX: it was not reached. */
uint32_t kn_cuts_find(const kn_cuts *cuts, uint32_t cut, uint32_t value, uint32_t *room);

/* Which of two cuts of equal cost is the better one (negative: a): more values, then the deeper ones (a chain of single
 * groups has as many at every level), then lexicographically by the values. */
int kn_cut_compare(const kn_cuts *cuts, const kn_cut *a, const kn_cut *b);

#endif
