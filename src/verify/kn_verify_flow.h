/* kn_verify_flow.h: can released tuples be given originals of their own? Maximum flow between the two. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_VERIFY_FLOW_H
#define KN_VERIFY_FLOW_H

#include "kn_verify_internal.h"

/* Released tuples (each with so many rows) on one side, originals (each with so many) on the other; an edge where the
 * tuple may be the original's image. Edges are given original by original. */
typedef struct kn_vflow {
    kn_context *ctx;
    uint32_t    released, originals;
    int64_t    *wanted; /* per released tuple: rows without an original yet; changed */
    int64_t    *left;   /* per original: rows without an image yet; changed          */
    size_t      edges;
    uint32_t   *edge_released;
    uint32_t   *edge_original;
    int64_t     work, work_limit; /* steps taken and allowed */
} kn_vflow;

/* *missing: how many released rows remain without an original. *decided: false where the work limit ended the search; then
 * *missing is what remained so far. */
KN_CHECK kn_status kn_vflow_solve(kn_vflow *f, int64_t *missing, bool *decided, kn_error *err);

#endif
