/* kn_flat.h: cuts of flat records: sets of values, with no relations between them (baskets).
 *
 * What a value adds to the cost of a cut, and how many records have it, then depends on no other value of the cut. So
 * a finer cut is evaluated from its parent's sums, and ValueCheck looks at the records with the specialized value once
 * per cut that is followed, not once per cut that is looked at.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_FLAT_H
#define KN_FLAT_H

#include "kn_combinations.h"
#include "kn_synopsis.h"
#include "kn_tree_cost.h"
#include "kn_tree_weights.h"

/* A cut that is followed. */
typedef struct kn_flat_cut {
    uint32_t  size;
    uint32_t *values;      /* ascending                                                           */
    uint64_t  depths;      /* of the values, added up                                             */
    uint32_t  shown;       /* values that occur                                                   */
    double    total;       /* of their terms (equation 7), ascending                              */
    uint64_t  residue;
    uint64_t *specialized; /* the values that were, as bits                                       */
    bool     *fails;       /* per value of the cut: specialized too, it does not pass ValueCheck  */
    uint32_t *shows;       /* per leaf: the value of the cut above it ...                         */
    uint32_t *below;       /* ... and the child of that above it; the leaf itself if there is none */
} kn_flat_cut;

/* Some rows of the synopsis, with values as ValueCheck sees them. */
typedef struct kn_flat_rows {
    uint32_t      count;
    uint32_t     *source; /* per row: that of the synopsis */
    uint64_t     *start;
    uint32_t     *items;
    int64_t      *weight;
    kn_row_entry *entries; /* row i, from its first item on */
    size_t        source_capacity, start_capacity, item_capacity, weight_capacity, entry_capacity;
} kn_flat_rows;

/* The scratch of ValueCheck. */
typedef struct kn_flat_check {
    kn_context        *ctx;
    const kn_synopsis *synopsis;
    int64_t            k;
    int                m;
    int64_t           *support; /* per value: the records that have one at or below it */
    uint32_t          *stamp;   /* per row */
    uint32_t           clock;
    uint32_t          *list; /* rows that have a value */
    uint32_t           list_count;
    kn_flat_rows       one, two;
    kn_combinations    combinations;
} kn_flat_check;

KN_CHECK kn_status kn_flat_check_make(kn_flat_check *out, const kn_tree_problem *problem, const kn_synopsis *synopsis,
                                      kn_error *err);
void               kn_flat_check_free(kn_flat_check *check);

/* `specialized` was just replaced by its children in a cut that passes (UINT32_MAX: it is {*}): which further values
 * fail? cut->fails is the parent's before, and the cut's own after. */
KN_CHECK kn_status kn_flat_check_next(kn_flat_check *check, kn_flat_cut *cut, uint32_t specialized, kn_error *err);

/* Can they be searched this way? */
bool kn_flat_fits(const kn_tree_problem *problem, const kn_synopsis *synopsis);

/* GCS and OCS, which are one where there are no relations. `weights` may be NULL. `deadline`: 0 for none. The best cut, ascending, is
 * `*values`, owned by the caller; NULL: nothing was found. */
KN_CHECK kn_status kn_flat_search(kn_tree_result *result, const kn_tree_problem *problem, const kn_synopsis *synopsis,
                                  const kn_cost_domain *domain, const kn_tree_weights *weights, double deadline,
                                  uint32_t **values, uint32_t *size, kn_error *err);

#endif
