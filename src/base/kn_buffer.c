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
    char *space = kn_buffer_reserve(buffer, size);
    if (!space) return;
    memcpy(space, data, size);
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

KN_PRINTF(2, 0)
static void append_format(kn_buffer *buffer, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int need = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (need < 0) buffer->failed = true;
    char *space = need < 0 ? NULL : kn_buffer_reserve(buffer, (size_t)need + 1);
    if (!space) return;
    (void)vsnprintf(space, (size_t)need + 1, format, args);
    buffer->size += (size_t)need;
}

void kn_buffer_format(kn_buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_format(buffer, format, args);
    va_end(args);
}

void kn_buffer_doubled(kn_buffer *buffer, const char *text, size_t size)
{
    while (size > 0) {
        const char *quote = memchr(text, '"', size);
        size_t      n = quote ? (size_t)(quote - text) + 1 : size;
        kn_buffer_append(buffer, text, n);
        if (quote) kn_buffer_char(buffer, '"');
        text += n;
        size -= n;
    }
}

const char *kn_buffer_text(kn_buffer *buffer)
{
    char *space = kn_buffer_reserve(buffer, 1);
    if (!space) return NULL;
    *space = '\0';
    return buffer->data;
}

char *kn_strformat(kn_context *ctx, const char *format, ...)
{
    kn_buffer text = {.ctx = ctx};
    va_list   args;
    va_start(args, format);
    append_format(&text, format, args);
    va_end(args);
    if (text.failed) kn_buffer_free(&text);
    return text.data;
}
