/* kn_verify_view.h: the released tree records as they are counted. See view.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_VERIFY_VIEW_H
#define KN_VERIFY_VIEW_H

#include "kn_verify_records.h"

typedef struct kn_vview {
    int64_t   count;  /* different records                                                           */
    int64_t  *record; /* the first that looks like this                                              */
    int64_t  *weight; /* how many do                                                                 */
    uint32_t  labels; /* that occur: ranks                                                           */
    uint32_t  known;  /* ranks below this may be known; the others are hidden                        */
    uint32_t *rank_of, *label_of;
    uint64_t *start; /* count + 1                                                                    */
    uint32_t *ranks; /* the different labels of each record, ascending                               */
    uint64_t *node_start; /* count + 1 */
    uint32_t *position;   /* per node: which of its record's labels it has                           */
    uint32_t  most_labels, most_nodes; /* of a record */
} kn_vview;

/* Free it after a failure too. */
KN_CHECK kn_status kn_vview_make(kn_vview *out, kn_records_verifier *v, kn_error *err);
void               kn_vview_free(kn_vview *view);

#endif
