/* kn_job_publish.h: texts that become files of a release's set, whatever its shape. Certificate and public page are made by
 * src/publish and src/report from facts that the release itself shows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_JOB_PUBLISH_H
#define KN_JOB_PUBLISH_H

#include "kn_public.h"
#include "kn_set.h"

/* Writes a text as one file of the set (kn_set_create) and frees it, also on failure. `made`: the status of making
 * the text; nothing is written if that failed. */
KN_CHECK kn_status kn_job_put(kn_set *set, kn_set_role role, const char *path, kn_buffer *text, kn_status made,
                              kn_error *err);

/* The same as a single file, which appears whole or not at all; `mode` 0: as any other file. */
KN_CHECK kn_status kn_job_write_file(kn_context *ctx, const char *path, unsigned mode, kn_buffer *text, kn_status made,
                                     kn_error *err);

KN_CHECK kn_status kn_job_put_certificate(kn_set *set, const kn_public *facts, const kn_public_seal *seal, kn_error *err);

/* `path` NULL: no page was asked for. */
KN_CHECK kn_status kn_job_put_page(kn_set *set, const char *path, const kn_public *facts, const kn_public_seal *seal,
                                   kn_error *err);

#endif
