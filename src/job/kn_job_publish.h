/* kn_job_publish.h: the public set of a release of any shape: its certificate and, if asked for, its public page. Both are
 * made by src/publish and src/report from facts that the release itself tells.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_JOB_PUBLISH_H
#define KN_JOB_PUBLISH_H

#include "kn_output.h"
#include "kn_public.h"

/* Appends the certificate; `certificate` NULL: none (the release went to a stream). */
KN_CHECK kn_status kn_job_certificate(kn_output *certificate, const kn_public *facts, const kn_public_seal *seal,
                                      kn_error *err);

/* Writes the page under its name, whole or not at all. */
KN_CHECK kn_status kn_job_public_page(const char *path, const kn_public *facts, const kn_public_seal *seal, kn_error *err);

#endif
