/* kn_pseudonym.h: keyed pseudonyms: HMAC-SHA-256 of a value's text, cut to 16 bytes and written as hexadecimal digits.
 *
 * Without the key nobody can compute or undo a pseudonym. Equal values get equal pseudonyms in every release made
 * with the same key, which links the releases: the caller warns the user.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PSEUDONYM_H
#define KN_PSEUDONYM_H

#include <kanon/context.h>

#include "kn_string.h"

enum { KN_PSEUDONYM_KEY = 32, KN_PSEUDONYM_BYTES = 16, KN_PSEUDONYM_TEXT = 2 * KN_PSEUDONYM_BYTES };

/* The key is the SHA-256 of the file's bytes, of which there must be at least 32 (KN_INPUT). `open_to_others` is set where
 * others than the owner may read the file. KN_IO: it cannot be read. */
KN_CHECK kn_status kn_pseudonym_key(unsigned char key[KN_PSEUDONYM_KEY], bool *open_to_others, kn_context *ctx,
                                    const char *path, kn_error *err);

/* The first 16 bytes of the HMAC; any thread. */
void kn_pseudonym_make(unsigned char out[KN_PSEUDONYM_BYTES], const unsigned char key[KN_PSEUDONYM_KEY],
                       kn_string text);

/* As text, without a NUL. */
void kn_pseudonym_text(char out[KN_PSEUDONYM_TEXT], const unsigned char pseudonym[KN_PSEUDONYM_BYTES]);

/* Overwrites a key that is no longer needed. */
void kn_pseudonym_forget(unsigned char *keys, size_t size);

#endif
