/* pseudonym.c: keyed pseudonyms. See kn_pseudonym.h.
 *
 * Cost: one HMAC (two to three blocks of SHA-256) per distinct value. Limits: pseudonyms have 128 bits; two values out of
 * 2^32 share one with a chance of 2^-65.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_pseudonym.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_error.h"
#include "kn_memory.h"

enum { LEAST = 32, PIECE = 4096 };

static kn_status hash_file(unsigned char *key, int fd, const char *path, kn_error *err)
{
    crypto_hash_sha256_state state;
    unsigned char            piece[PIECE];
    uint64_t                 total = 0;
    kn_status                st = KN_OK;
    crypto_hash_sha256_init(&state);
    for (;;) {
        ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) st = kn_fail(err, KN_IO, "%s: cannot be read: %s", path, strerror(errno));
        if (n <= 0) break;
        crypto_hash_sha256_update(&state, piece, (unsigned long long)n);
        total += (uint64_t)n;
    }
    crypto_hash_sha256_final(&state, key);
    sodium_memzero(piece, sizeof piece);
    sodium_memzero(&state, sizeof state);
    if (st == KN_OK && total < LEAST)
        st = kn_fail(err, KN_INPUT, "%s: a key needs at least %d bytes (head -c 32 /dev/urandom makes them)", path,
                     LEAST);
    return st;
}

kn_status kn_pseudonym_key(unsigned char key[KN_PSEUDONYM_KEY], bool *open_to_others, kn_context *ctx, const char *path,
                           kn_error *err)
{
    if (sodium_init() < 0) return kn_fail(err, KN_INTERNAL, "libsodium could not be initialized");
    struct stat info;
    int         fd = open(kn_memory_path(ctx, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return kn_fail(err, KN_IO, "%s: the key cannot be read: %s", path, strerror(errno));
    kn_status st = KN_OK;
    if (fstat(fd, &info) != 0)
        st = kn_fail(err, KN_IO, "%s: the key cannot be read: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode)) /* the verifier reads it again */
        st = kn_fail(err, KN_INPUT, "%s: a key is read from a file", path);
    else
        st = hash_file(key, fd, path, err);
    *open_to_others = st == KN_OK && (info.st_mode & (S_IRGRP | S_IROTH)) != 0;
    close(fd);
    return st;
}

void kn_pseudonym_make(unsigned char out[KN_PSEUDONYM_BYTES], const unsigned char key[KN_PSEUDONYM_KEY], kn_string text)
{
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    crypto_auth_hmacsha256(mac, (const unsigned char *)(text.size ? text.data : ""), text.size, key);
    memcpy(out, mac, KN_PSEUDONYM_BYTES);
}

void kn_pseudonym_text(char out[KN_PSEUDONYM_TEXT], const unsigned char pseudonym[KN_PSEUDONYM_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < KN_PSEUDONYM_BYTES; i++) {
        out[2 * i] = digits[pseudonym[i] >> 4];
        out[2 * i + 1] = digits[pseudonym[i] & 15];
    }
}

void kn_pseudonym_forget(unsigned char *keys, size_t size)
{
    if (keys) sodium_memzero(keys, size);
}
