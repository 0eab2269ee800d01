/* kn_hierarchy_file.h: hierarchies as files: "leaf;parent;...;root" lines, and taxonomies as indented text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_HIERARCHY_FILE_H
#define KN_HIERARCHY_FILE_H

#include "kn_buffer.h"
#include "kn_hierarchy.h"

/* Makes a hierarchy from the text of a file, called `name` in messages. `delimiter` 0: sniffed. KN_INPUT with line and
 * column where the text is not a tree. */
KN_CHECK kn_status kn_hierarchy_parse(kn_hierarchy **out, kn_context *ctx, const char *name, const char *text,
                                      size_t size, char delimiter, kn_error *err);

/* The same from indented text. */
KN_CHECK kn_status kn_taxonomy_parse(kn_hierarchy **out, kn_context *ctx, const char *name, const char *text,
                                     size_t size, kn_error *err);

/* The same from the file that a spec of kind FILE or TAXONOMY names. */
KN_CHECK kn_status kn_hierarchy_read_file(kn_hierarchy **out, kn_context *ctx, const kn_hierarchy_spec *spec,
                                          kn_error *err);

/* Appends one line per leaf, in leaf order; a failed append is remembered in the buffer. */
void kn_hierarchy_format(const kn_hierarchy *h, char delimiter, kn_buffer *out);

/* Checks that the text is UTF-8 without NUL and skips a byte order mark. */
KN_CHECK kn_status kn_hierarchy_check_text(const char *name, const char **text, size_t *size, kn_error *err);

#endif
