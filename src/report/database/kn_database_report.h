/* kn_database_report.h: a release of a database rendered as one page of HTML (kn_database_report_write), in a buffer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DATABASE_REPORT_H
#define KN_DATABASE_REPORT_H

#include <kanon/report.h>

#include "kn_buffer.h"

/* Appends the page. KN_USAGE: something is NULL; KN_MEMORY. */
KN_CHECK kn_status kn_database_report_render(kn_buffer *to, const kn_spec *spec, const kn_database_result *result,
                                             const char *version, kn_error *err);

#endif
