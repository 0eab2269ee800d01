/* kn_dependency_text.h: how a dependency names a column, for whoever writes many of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DEPENDENCY_TEXT_H
#define KN_DEPENDENCY_TEXT_H

#include "kn_buffer.h"

/* Appends the name as it stands in a dependency: in quotes where it needs them. */
void kn_dependency_name(kn_buffer *b, const char *name);

#endif
