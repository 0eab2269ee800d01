/* kanon/frontier.h: the trade-off between k, suppressed rows and loss: the choices of levels of a table that no other
 * choice beats in all three.
 *
 * Nothing is written. The spec is that of a release (kanon/spec.h): every promise except k must hold, at most
 * `suppression` may be suppressed, levels may be bounded. The values of k are the spec's and larger ones from a
 * ladder (2, 3, 5, 10, 20, 30, 50, 100 and so on). The answer depends on the original, so it is for the owner only.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_FRONTIER_H
#define KANON_FRONTIER_H

#include <kanon/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No other point has a k as large, as few suppressed rows and as small a loss, and is better in one of them. */
typedef struct kn_frontier_point {
    int64_t    k;
    int64_t    suppressed; /* rows: of classes with fewer than k members, or that fail another promise */
    double     loss;       /* by the spec's `utility`                                                  */
    int64_t    classes;    /* released                                                                 */
    const int *levels;     /* of each quasi-identifier                                                 */
} kn_frontier_point;

typedef struct kn_frontier {
    kn_metric          metric;
    int64_t            rows, budget; /* of the table; how many may be suppressed                      */
    int                quasi_count;
    const char *const *quasi;
    int                k_count;
    const int64_t     *ks;      /* that were examined                                                 */
    double             lattice; /* number of choices of levels within the bounds                      */
    int64_t            counted; /* how many of these had their classes counted                        */
    int64_t            point_count;
    const kn_frontier_point *KN_PRIVATE(points); /* kn_frontier_point_at: by k, then by suppressed rows */
    int                note_count, dropped_count; /* of reading, as in a release's result             */
    const char *const *notes, *const *dropped;
} kn_frontier;

KN_API const kn_frontier_point *kn_frontier_point_at(const kn_frontier *frontier, int64_t index); /* NULL: none */

/* For a spec that passed kn_spec_check. Finding no point is KN_OK. KN_USAGE: no table, a method without levels, more
 * than a million choices of levels, a promise that has no frontier (average risk, delta-presence with min,
 * keep-sensitive, linked rows). */
KN_API KN_CHECK kn_status kn_frontier_find(kn_frontier **out, kn_context *ctx, const kn_spec *spec, kn_error *err);
KN_API void               kn_frontier_free(kn_frontier *frontier); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
