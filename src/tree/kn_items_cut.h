/* kn_items_cut.h: k^m-anonymity of the sets of items in the rows of one class (Terrovitis, Mamoulis, Kalnis 2008; with the rest of the row
 * known: (k, k^m)-anonymity of Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos 2013).
 *
 * The promise. Of the rows that look alike in their quasi-identifiers, every combination of 1 to m labels that one of them shows is shown by at
 * least k. Whoever knows all quasi-identifiers of a person and up to m items finds at least k rows: the person's row shows the images of these
 * items, so at least k rows do. Items that become the same label are one item.
 *
 * The cut. Within a class every item becomes its ancestor in one cut through the hierarchy, or all cells of the class are "*", which says
 * nothing, not even that there are items: a class of at least k rows can always be shown so. The search begins there and replaces nodes
 * by their children, those first with which most is gained, as long as the promise holds. If a cut keeps the promise, so does every cut above it
 * (a combination above is the union of combinations below, each with no row or at least k); so a node that could not be replaced never can be,
 * each is tried once, and of the cut that remains none that is finer keeps the promise.
 *
 * Cost: per node that is tried, the combinations of up to m labels, one of them new, in the rows that have it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_ITEMS_CUT_H
#define KN_ITEMS_CUT_H

#include "kn_hierarchy.h"

typedef struct kn_items_problem {
    const kn_hierarchy *hierarchy; /* of the items                                              */
    const uint64_t     *start;     /* per set: where its items begin in `leaves`; one more       */
    const uint32_t     *leaves;    /* the items of each set, ascending, each once                */
    int64_t             k;
    int                 m;
} kn_items_problem;

/* Equal sets of a class. */
typedef struct kn_items_entry {
    uint32_t        set;
    int64_t         rows;   /* that have it                                                          */
    const uint32_t *labels; /* is filled in: the nodes that they show, ascending by their first leaf */
    uint32_t        count;  /* ... how many                                                          */
} kn_items_entry;

typedef struct kn_items_cut kn_items_cut;

/* What is needed for one class after the other. The hierarchy and the arrays of the problem are borrowed. */
KN_CHECK kn_status kn_items_cut_create(kn_items_cut **out, kn_context *ctx, const kn_items_problem *problem, kn_error *err);
void               kn_items_cut_free(kn_items_cut *cut); /* NULL is fine */

/* Decides one class. *shown false: all its rows show "*". The labels live until the next call. */
KN_CHECK kn_status kn_items_cut_class(kn_items_cut *cut, kn_items_entry *entries, size_t count, bool *shown, kn_error *err);

#endif
