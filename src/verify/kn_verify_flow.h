/* kn_verify_flow.h: can each released tuple be assigned its own originals? Maximum flow between the two. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_VERIFY_FLOW_H
#define KN_VERIFY_FLOW_H

#include "kn_verify_internal.h"

/* Released tuples on one side, originals on the other, each with a number of rows; an edge if the tuple may be the
 * original's image. Edges are given original by original. */
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

/* *missing: released rows that remain without an original. *decided: false if the work limit ended the search;
 * *missing is then what remained at that point. */
KN_CHECK kn_status kn_vflow_solve(kn_vflow *f, int64_t *missing, bool *decided, kn_error *err);

#endif
