/* kn_metrics.h: every information-loss metric of a plan. ERRATA 3 has the readings; docs/metrics.md explains them. */
#ifndef KN_METRICS_H
#define KN_METRICS_H

#include <kanon/spec.h>

#include "kn_plan.h"

typedef struct kn_attribute_loss {
    double lm, ncp, prec, entropy; /* means over the column's cells (entropy: its sum) */
} kn_attribute_loss;

typedef struct kn_metrics {
    double             value[KN_METRICS];
    int                quasi_count;
    kn_attribute_loss *per_attribute;
} kn_metrics;

/* Measures a plan on the table it was made for. `weights`: one per quasi-identifier; NULL: all 1. `k` is the requested k
 * (c_avg). Cells: a node covers its leaves; a range or a set of an attribute with a hierarchy covers as many leaves as it
 * has values; without one, a range of numbers or dates costs (high - low) / (largest - smallest) in lm and ncp, other
 * cells count distinct values of the column as leaves. prec of a range or set: that of the lowest common ancestor, or
 * without a hierarchy the lm. Sums run in an order that does not depend on the number of threads. */
KN_CHECK kn_status kn_metrics_of_plan(kn_metrics **out, kn_context *ctx, const kn_table *table, const int *quasi,
                                      const kn_hierarchy *const *hierarchies, const kn_ratio *weights,
                                      const kn_plan *plan, int64_t k, kn_error *err);
void               kn_metrics_free(kn_metrics *metrics);

#endif
