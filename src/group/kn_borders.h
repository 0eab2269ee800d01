/* kn_borders.h: which sets of columns keep k, and which break it, described by the two borders between them.
 *
 * A set S of columns holds when k does after the smallest classes by S, at most `budget` rows of them, were removed
 * (docs/errata.md 1.1): when the rows in classes smaller than k are at most `budget`, and not all rows. More columns
 * never help, so the maximal sets that hold and the minimal sets that violate describe everything. Without rows
 * everything holds.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_BORDERS_H
#define KN_BORDERS_H

#include "kn_freq.h"

typedef enum kn_borders_method {
    KN_BORDERS_AUTO = 0,
    KN_BORDERS_WITNESS, /* from the rows that can be at risk; budget 0 only */
    KN_BORDERS_ADVANCE  /* dualize and advance                              */
} kn_borders_method;

typedef struct kn_borders_options {
    int64_t           k;          /* ≥ 1                                                                   */
    int64_t           budget;     /* rows that may be removed                                              */
    int               max_size;   /* search minimal violating sets of up to this many columns; 0: of any   */
    double            time_limit; /* seconds; 0: none                                                      */
    int64_t           max_sets;   /* list at most this many of either kind; 0: 1,000,000                   */
    kn_borders_method method;
} kn_borders_options;

/* Bitsets over the columns of the frequency set, smaller sets first, those of one size in lexicographic order. */
typedef struct kn_attribute_sets {
    int       words;
    int64_t   count;
    uint64_t *sets; /* count × words */
} kn_attribute_sets;

/* Every set listed is proven: it is a maximal set that holds, or a minimal one that violates. Only if the answer is
 * partial can there be others. */
typedef struct kn_borders {
    kn_attribute_sets maximal, minimal_violating;
    bool              complete;         /* both lists are                                                   */
    bool              maximal_complete, minimal_complete;
    int               minimal_up_to;    /* no minimal violating set of up to this many columns is missing    */
    int64_t           evaluations;      /* sets examined; with the witness method, per row                   */
    kn_borders_method method;           /* the one that gave the answer                                      */
    const char       *why_partial;      /* NULL when complete; static                                        */
} kn_borders;

/* Finds both borders over up to 256 columns. The answer does not depend on the number of threads, except where the time
 * limit cut it short. To be freed with kn_borders_free, even after a failure (it is zeroed).
 * KN_USAGE: k < 1, a negative budget, size or limit, more than 256 columns, a budget with the witness method. */
KN_CHECK kn_status kn_borders_find(kn_borders *out, kn_context *ctx, const kn_freq *freq,
                                   const kn_borders_options *options, kn_error *err);
void               kn_borders_free(kn_borders *borders);

#endif
