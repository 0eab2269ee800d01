/* kn_buffer.c: a growing byte string with a sticky failure. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"

void kn_buffer_init(kn_buffer *buffer, kn_context *ctx)
{
    *buffer = (kn_buffer){.ctx = ctx};
}

void kn_buffer_free(kn_buffer *buffer)
{
    kn_free(buffer->data);
    kn_buffer_init(buffer, buffer->ctx);
}

void kn_buffer_clear(kn_buffer *buffer)
{
    buffer->size = 0;
    buffer->failed = false;
}

char *kn_buffer_reserve(kn_buffer *buffer, size_t size)
{
    if (buffer->failed || size > SIZE_MAX / 2 - buffer->size ||
        !KN_GROW(buffer->ctx, &buffer->data, &buffer->capacity, buffer->size + size))
        buffer->failed = true;
    return buffer->failed ? NULL : buffer->data + buffer->size;
}

void kn_buffer_append(kn_buffer *buffer, const void *data, size_t size)
{
    if (size == 0) return;
    char *room = kn_buffer_reserve(buffer, size);
    if (!room) return;
    memcpy(room, data, size);
    buffer->size += size;
}

void kn_buffer_add(kn_buffer *buffer, const char *text)
{
    kn_buffer_append(buffer, text, strlen(text));
}

void kn_buffer_char(kn_buffer *buffer, char c)
{
    kn_buffer_append(buffer, &c, 1);
}

void kn_buffer_format(kn_buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int need = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (need < 0) buffer->failed = true;
    char *room = need < 0 ? NULL : kn_buffer_reserve(buffer, (size_t)need + 1);
    if (room) {
        (void)vsnprintf(room, (size_t)need + 1, format, again);
        buffer->size += (size_t)need;
    }
    va_end(again);
}

const char *kn_buffer_text(kn_buffer *buffer)
{
    char *room = kn_buffer_reserve(buffer, 1);
    if (!room) return NULL;
    *room = '\0';
    return buffer->data;
}
