/* kanon/frontier.h: what more privacy, fewer suppressed rows and less loss cost each other: the choices of levels of a table
 * that no other beats in all three.
 *
 * Nothing is written. What is asked is said as for a release (kanon/spec.h): every promise but k must hold, at most `suppression`
 * may be suppressed, levels may be bounded; k is what the spec asks for and a ladder of larger ones (2, 3, 5, 10, 20, 30, 50, 100 and so
 * on). The answer depends on the original: it is the owner's.
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
    int64_t            rows, budget; /* of the table; that may be suppressed                          */
    int                quasi_count;
    const char *const *quasi;
    int                k_count;
    const int64_t     *ks;      /* that were looked at                                                */
    double             lattice; /* choices of levels there are, between the bounds                    */
    int64_t            counted; /* of these, whose classes were counted                               */
    int64_t            point_count;
    const kn_frontier_point *KN_PRIVATE(points); /* kn_frontier_point_at: by k, then by suppressed rows */
    int                note_count, dropped_count; /* of reading, as in a release's result             */
    const char *const *notes, *const *dropped;
} kn_frontier;

KN_API const kn_frontier_point *kn_frontier_point_at(const kn_frontier *frontier, int64_t index); /* NULL: none */

/* Of a spec that passed kn_spec_check. No point at all is KN_OK. KN_USAGE: no table, a method without levels, more than a million
 * choices of levels, a promise that has no frontier (average risk, delta-presence with min, keep-sensitive, linked rows). */
KN_API KN_CHECK kn_status kn_frontier_find(kn_frontier **out, kn_context *ctx, const kn_spec *spec, kn_error *err);
KN_API void               kn_frontier_free(kn_frontier *frontier); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
