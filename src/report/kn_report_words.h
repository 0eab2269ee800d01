/* kn_report_words.h: what all pages about a release say in the same words: what the terms mean, and what is not promised. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_REPORT_WORDS_H
#define KN_REPORT_WORDS_H

#include <kanon/catalogue.h>
#include <kanon/spec.h>

#include "kn_buffer.h"

/* Opens the section on terms with those of the shape; the caller may add others (kn_release_word) and ends it. `entity`: of a
 * table, classes count persons. */
void kn_words_begin(kn_buffer *to, kn_shape shape, bool entity, bool anatomy);
void kn_words_end(kn_buffer *to);

/* `words` and the tables of a database that are references, as a sentence; false, and nothing: there are none. */
bool kn_words_references(kn_buffer *to, const kn_spec *spec, const char *words);

/* The role of a column. */
const char *kn_words_role(kn_role role);

/* The section on what a release does not promise, whatever it promises. */
void kn_words_limits(kn_buffer *to, kn_shape shape, bool anatomy);

#endif
