/* kn_foreign.h: files that are not text, by their first bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_FOREIGN_H
#define KN_FOREIGN_H

#include <stddef.h>

enum { KN_FOREIGN_BYTES = 64 }; /* this many are enough, if the file has them  */

/* The kind of a file that begins like this, and what to do about it: "it is ...; ...". NULL: it may be text. Static. */
const char *kn_foreign_form(const void *bytes, size_t size);

#endif
