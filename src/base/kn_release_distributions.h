/* kn_release_distributions.h: the columns of a release before and after: what the owner's page draws and the private file lists. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_RELEASE_DISTRIBUTIONS_H
#define KN_RELEASE_DISTRIBUTIONS_H

#include <kanon/anonymize.h>

/* In the result's arena. */
typedef struct kn_release_distributions {
    int                            count;
    const kn_release_distribution *list;
    int64_t     stars;  /* of records: nodes of the release that show * and so are of no class             */
    const char *left_out; /* which columns are not here and why, as a sentence; NULL: all that are released are */
} kn_release_distributions;

#endif
