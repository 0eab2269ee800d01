/* kn_relational_skeleton.h: what the files of the clusterings beside CDGH share.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RELATIONAL_SKELETON_H
#define KN_RELATIONAL_SKELETON_H

#include "kn_relational_internal.h"

typedef struct kn_skeleton {
    kn_relational_work  *work;
    const kn_anonymizer *by;
    size_t               k;
    kn_cluster         **persons; /* who is in no class yet, in the order of persons: owned; NULL: taken */
    size_t               count;
    kn_loss             *losses;  /* of each person from somebody: scratch */
} kn_skeleton;

/* *class becomes its anonymization with a person, both owned: `person` is freed, even on failure. */
KN_CHECK kn_status kn_skeleton_join(kn_skeleton *s, kn_cluster **class, kn_cluster *person, kn_error *err);

/* A class is complete. Takes ownership, even on failure. */
KN_CHECK kn_status kn_skeleton_finish(kn_skeleton *s, kn_cluster *class, kn_error *err);

/* kn_relational_gather.c */
KN_CHECK kn_status kn_skeleton_r_gather(kn_skeleton *s, kn_error *err);

#endif
