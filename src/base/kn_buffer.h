/* kn_buffer.h: a growing byte string. A failed append is remembered: check `failed` once at the end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_BUFFER_H
#define KN_BUFFER_H

#include <kanon/context.h>

typedef struct kn_buffer {
    kn_context *ctx;
    char       *data; /* NUL-terminated after kn_buffer_text */
    size_t      size;
    size_t      capacity;
    bool        failed;
} kn_buffer;

void kn_buffer_init(kn_buffer *buffer, kn_context *ctx);
void kn_buffer_free(kn_buffer *buffer);
void kn_buffer_clear(kn_buffer *buffer); /* keeps the storage and forgets a failure */

void kn_buffer_append(kn_buffer *buffer, const void *data, size_t size);
void kn_buffer_add(kn_buffer *buffer, const char *text);
void kn_buffer_char(kn_buffer *buffer, char c);
void kn_buffer_format(kn_buffer *buffer, const char *format, ...) KN_PRINTF(2, 3);
void kn_buffer_doubled(kn_buffer *buffer, const char *text, size_t size); /* with every '"' twice */

/* Space for `size` more bytes, to be written by the caller and added to `size`; NULL: out of memory. */
KN_CHECK char *kn_buffer_reserve(kn_buffer *buffer, size_t size);

/* The bytes as a C string; NULL when an append failed. */
KN_CHECK const char *kn_buffer_text(kn_buffer *buffer);

/* A text of its own, freed by kn_free; NULL: out of memory. */
KN_CHECK char *kn_strformat(kn_context *ctx, const char *format, ...) KN_PRINTF(2, 3);

#endif
