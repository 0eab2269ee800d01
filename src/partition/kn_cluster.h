/* kn_cluster.h: a small region cut into classes by growing them point by point, each as narrow as possible.
 *
 * Unlike with greedy cuts, classes need not be disjoint boxes; a class is any k rows that are close together. Used by
 * mondrian-best on regions of a few hundred rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_CLUSTER_H
#define KN_CLUSTER_H

#include "kn_mondrian.h"

typedef struct kn_clusterer kn_clusterer;

/* For one worker; `most` records at a time. */
KN_CHECK kn_status kn_clusterer_make(kn_clusterer **out, const kn_space *space, const kn_ratio *weights, uint32_t most,
                                     kn_error *err);
void               kn_clusterer_free(kn_clusterer *clusterer);

/* Rearranges the records of a region of at least `k` and at most `most` records into groups of at least `k`, appended to
 * `out` in order. *loss: rows × weighted loss of their cells (kn_space_loss), summed up. The groups depend on the rows of
 * the region alone. */
KN_CHECK kn_status kn_cluster_region(kn_regions *out, double *loss, kn_clusterer *clusterer, kn_region region, uint32_t k,
                                     kn_error *err);

/* Moves points between the classes (consecutive, covering `region`, each of at least `k` records, equal points
 * together) as long as the sum of their losses falls; `classes` are replaced. *loss: as above, of the result. */
KN_CHECK kn_status kn_cluster_improve(kn_regions *classes, double *loss, kn_clusterer *clusterer, kn_region region,
                                      uint32_t k, kn_error *err);

/* The loss of a region as one class. */
double kn_cluster_loss(kn_clusterer *clusterer, kn_region region);

#endif
