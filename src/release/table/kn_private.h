/* kn_private.h: what stands beside a release for those who hold the data. What may be published is made by src/publish.
 *
 * OUTPUT.private.json (mode 0600): seed, digests of the inputs, what the search did, what the release reached and how it
 * stood before, every figure of loss. Equal runs give equal bytes: no time, no path.
 *
 * OUTPUT.rowmap: the line "kanon-rowmap 1", then for each released row the number (1-based, without the header) of its
 * original among the rows of all inputs together. Rows that were left out do not appear.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PRIVATE_H
#define KN_PRIVATE_H

#include <kanon/anonymize.h>

#include "kn_output.h"

#define KN_CERTIFICATE_SUFFIX ".certificate.json"
#define KN_PRIVATE_SUFFIX ".private.json"
#define KN_ROWMAP_SUFFIX ".rowmap"

/* All borrowed. */
typedef struct kn_private_input {
    const kn_spec           *spec;
    const kn_release_result *result;
    const char              *version; /* of the program; NULL: left out                               */
    uint64_t          seed;         /* the one that was used                                           */
    const char *const *digests;     /* SHA-256 of each of spec->inputs                                 */
    int64_t           budget;       /* rows that might have been suppressed                            */
    bool              rowmap;       /* is kept                                                         */
} kn_private_input;

/* Appends the JSON text. */
KN_CHECK kn_status kn_private_render(kn_buffer *to, const kn_private_input *input, kn_error *err);

/* Writes a row map from 0-based row numbers. */
KN_CHECK kn_status kn_rowmap_write(kn_output *output, kn_context *ctx, const int64_t *map, int64_t count, kn_error *err);

#endif
