/* kn_public_report.h: what a release promises and shows, as one page of HTML for recipients of the release. It is
 * made from the facts that the release itself shows (kn_public.h) and from constant sentences: it may be published.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_PUBLIC_REPORT_H
#define KN_PUBLIC_REPORT_H

#include "kn_buffer.h"
#include "kn_public.h"

/* Appends the page. KN_MEMORY only. */
KN_CHECK kn_status kn_public_report_render(kn_buffer *to, const kn_public *facts, const kn_public_seal *seal, kn_error *err);

#endif
