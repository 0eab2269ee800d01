/* kn_sha256.h: SHA-256 of what is read or written, by the processor's own instructions where it has them (Nettle).
 *
 *     kn_sha256 state;
 *     kn_sha256_begin(&state);
 *     kn_sha256_add(&state, data, size);
 *     kn_sha256_text(&state, text);     // 64 digits
 *
 * Keys, pseudonyms and random numbers are libsodium's.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SHA256_H
#define KN_SHA256_H

#include <nettle/base16.h>
#include <nettle/sha2.h>

enum { KN_SHA256_TEXT = 2 * SHA256_DIGEST_SIZE + 1 };

typedef struct sha256_ctx kn_sha256;

static inline void kn_sha256_begin(kn_sha256 *state)
{
    sha256_init(state);
}

static inline void kn_sha256_add(kn_sha256 *state, const void *data, size_t size)
{
    sha256_update(state, size, data);
}

static inline void kn_sha256_text(kn_sha256 *state, char out[KN_SHA256_TEXT])
{
    uint8_t bytes[SHA256_DIGEST_SIZE];
    sha256_digest(state, sizeof bytes, bytes);
    base16_encode_update(out, sizeof bytes, bytes);
    out[KN_SHA256_TEXT - 1] = '\0';
}

#endif
