/* kn_foreign.h: files that are no text, by their first bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_FOREIGN_H
#define KN_FOREIGN_H

#include <stddef.h>

enum { KN_FOREIGN_BYTES = 64 }; /* so many are enough, where the file has them */

/* What a file is that begins like this, and what to do about it: "it is ...; ...". NULL: it may be text. Static. */
const char *kn_foreign_form(const void *bytes, size_t size);

#endif
