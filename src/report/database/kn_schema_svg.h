/* kn_schema_svg.h: a schema as a picture that stands alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SCHEMA_SVG_H
#define KN_SCHEMA_SVG_H

#include <kanon/database.h>

#include "kn_buffer.h"

/* Appends the picture. KN_MEMORY only. */
KN_CHECK kn_status kn_schema_svg(kn_buffer *to, const kn_schema *schema, kn_error *err);

#endif
