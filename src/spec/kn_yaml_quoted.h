/* kn_yaml_quoted.h: what a text in quotes means in YAML and JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_YAML_QUOTED_H
#define KN_YAML_QUOTED_H

#include <stdbool.h>
#include <stddef.h>

/* The position after the closing quote of the text whose opening quote is at text[at]; 0: it is never closed. */
size_t kn_yaml_quoted_end(const char *text, size_t size, size_t at);

/* Decodes the text between the quotes text[0] and text[size - 1]. `out` has space for 2 × size bytes; *used is how
 * many were written. false: an escape is invalid, or means no character (NUL, half of a surrogate pair, beyond
 * Unicode). */
bool kn_yaml_unquote(const char *text, size_t size, char *out, size_t *used);

#endif
