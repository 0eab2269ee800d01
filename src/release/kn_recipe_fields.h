/* kn_recipe_fields.h: the fields of a recipe (recipe.c), and what its writer and its reader share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_RECIPE_FIELDS_H
#define KN_RECIPE_FIELDS_H

#include "kn_fields.h"

extern const kn_fields kn_recipe_document;

/* The document as text, and its SHA-256 (`out`: 65 bytes), for which it has zeros in the place of one. kn_text_free, also on
 * failure. */
#define KN_RECIPE_ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
KN_CHECK kn_status kn_recipe_digest(char *out, char **text, size_t *size, const kn_document *doc, kn_error *err);

#endif
