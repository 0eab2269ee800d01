/* kn_metrics.h: every information-loss metric of a plan. docs/errata.md 3 has the readings; docs/metrics.md explains them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_METRICS_H
#define KN_METRICS_H

#include <kanon/spec.h>

#include "kn_plan.h"

typedef struct kn_attribute_loss {
    double lm, ncp, prec, entropy; /* over the column's cells: means, prec 1 - mean, entropy the sum; without weights */
} kn_attribute_loss;

typedef struct kn_metrics {
    double             value[KN_METRICS];
    int                quasi_count;
    kn_attribute_loss *per_attribute;
} kn_metrics;

/* Measures a plan on the table it was made for. `weights`: one per quasi-identifier; NULL: all 1. `k` is the
 * requested k (c_avg). Cells: a node covers its leaves; a range or a set of an attribute with a hierarchy covers as
 * many leaves as it has values; without one, a range of numbers or dates costs (high - low) / (largest - smallest)
 * in lm and ncp, other cells count distinct values of the column as leaves. A "*" in a class is measured as a root that
 * bears it, value → * where there is no hierarchy. prec of a range or set: that of the
 * lowest common ancestor, or without a hierarchy the lm. dm_star: the suppressed rows in the classes of the plan's
 * node, or, where it has no levels, in those of their original values. c_avg of a plan that releases nothing is
 * INFINITY. KN_USAGE: all weights are 0. The figures do not depend on the number of threads. */
KN_CHECK kn_status kn_metrics_of_plan(kn_metrics **out, kn_context *ctx, const kn_table *table, const int *quasi,
                                      const kn_hierarchy *const *hierarchies, const kn_ratio *weights,
                                      const kn_plan *plan, int64_t k, kn_error *err);

/* The same if it is unknown which row of the table became which of the release: uses the classes' cells and sizes and
 * the number of suppressed rows, never class_of_row. dm_star is NAN if rows are suppressed and there are no levels. */
KN_CHECK kn_status kn_metrics_of_release(kn_metrics **out, kn_context *ctx, const kn_table *table, const int *quasi,
                                         const kn_hierarchy *const *hierarchies, const kn_ratio *weights,
                                         const kn_plan *plan, int64_t k, kn_error *err);
void               kn_metrics_free(kn_metrics *metrics);

#endif
