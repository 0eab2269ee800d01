/* kn_digest.h: SHA-256 of files, computed in the background. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DIGEST_H
#define KN_DIGEST_H

#include <kanon/context.h>

enum { KN_DIGEST_TEXT = 65 }; /* hexadecimal digits and a NUL */

typedef struct kn_digest_job kn_digest_job;

/* Starts reading the files; the paths are borrowed until kn_digest_free. */
KN_CHECK kn_status kn_digest_start(kn_digest_job **out, kn_context *ctx, const char *const *paths, int count,
                                   kn_error *err);

/* Waits for the digests; KN_IO with the path of the first file that cannot be read. `texts` are valid as the job. */
KN_CHECK kn_status kn_digest_wait(kn_digest_job *job, const char *const **texts, kn_error *err);

/* Stops a running job; NULL is fine. */
void kn_digest_free(kn_digest_job *job);

#endif
