/* kn_borders_search.h: what the two methods share; only kn_borders.c, kn_borders_witness.c and kn_borders_advance.c
 * include it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_BORDERS_SEARCH_H
#define KN_BORDERS_SEARCH_H

#include "kn_borders.h"
#include "kn_dualize.h"
#include "kn_refine.h"

typedef struct kn_border_search {
    kn_context    *ctx;
    const kn_freq *freq;
    int64_t        k;
    int64_t        allowed;  /* rows that may be at risk; at least one more is over all columns */
    int            columns, words;
    int            max_size; /* < 0: none */
    int64_t        max_sets;
    int64_t        max_looks; /* hitting sets to examine for all rows together, roughly */
    kn_deadline    deadline;
    kn_set_list    minimal; /* minimal violating sets, or all that was found that violates */
    kn_set_list    edges;   /* complements of maximal sets */
    bool           cut;     /* larger sets were not examined            */
    bool           late;    /* the deadline ended the search            */
    bool           full;    /* there are more sets than may be listed, or examined  */
    _Atomic int64_t evaluations;
} kn_border_search;

/* All minimal violating sets into `minimal` (up to max_size, unless late or full: then these are violating sets, each
 * minimal only among the rows examined). Leaves `edges` empty. */
KN_CHECK kn_status kn_borders_by_witnesses(kn_border_search *search, kn_error *err);

/* Both borders; whatever is listed is proven. */
KN_CHECK kn_status kn_borders_by_advance(kn_border_search *search, kn_error *err);

#endif
