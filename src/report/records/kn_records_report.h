/* kn_records_report.h: a release of tree records rendered as one page of HTML (kn_records_report_write), in a buffer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_RECORDS_REPORT_H
#define KN_RECORDS_REPORT_H

#include <kanon/report.h>

#include "kn_buffer.h"

/* Appends the page. KN_USAGE: something is NULL; KN_MEMORY. */
KN_CHECK kn_status kn_records_report_render(kn_buffer *to, const kn_spec *spec, const kn_records_result *result,
                                            const char *version, kn_error *err);

#endif
