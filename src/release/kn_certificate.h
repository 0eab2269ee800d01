/* kn_certificate.h: what stands beside a release.
 *
 * OUTPUT.certificate.json may be published with it: what was asked, what was reached and verified, the release's SHA-256;
 * no seed, key, row map, value of the data or digest of the original, since those confirm guesses. Equal runs give equal
 * bytes: no time, no path.
 *
 * OUTPUT.private.json is for those who hold the data: seed, digests of the inputs, how it stood before.
 *
 * OUTPUT.rowmap: the line "kanon-rowmap 1", then for each released row the number (1-based, without the header) of its
 * original among the rows of all inputs together. Rows that were left out do not appear.
 */
#ifndef KN_CERTIFICATE_H
#define KN_CERTIFICATE_H

#include <kanon/anonymize.h>

#include "kn_output.h"

#define KN_CERTIFICATE_SUFFIX ".certificate.json"
#define KN_PRIVATE_SUFFIX ".private.json"
#define KN_ROWMAP_SUFFIX ".rowmap"

/* All borrowed. */
typedef struct kn_certificate_input {
    const kn_spec           *spec;
    const kn_release_result *result;
    const char              *version;       /* of the program; NULL: left out                          */
    const char              *assignment;    /* what the verifier said: "proved"                        */
    int64_t                  missing_cells; /* among the quasi-identifiers of the inputs               */
    /* For the private file only. */
    uint64_t          seed;         /* the one that was used                                           */
    const char *const *digests;     /* SHA-256 of each of spec->inputs                                 */
    int64_t           budget;       /* rows that might have been suppressed                            */
    bool              rowmap;       /* is kept                                                         */
} kn_certificate_input;

/* Appends the JSON text. */
KN_CHECK kn_status kn_certificate_render(kn_buffer *to, const kn_certificate_input *input, kn_error *err);
KN_CHECK kn_status kn_private_render(kn_buffer *to, const kn_certificate_input *input, kn_error *err);

/* Writes a row map from 0-based row numbers. */
KN_CHECK kn_status kn_rowmap_write(kn_output *output, kn_context *ctx, const int64_t *map, int64_t count, kn_error *err);

#endif
