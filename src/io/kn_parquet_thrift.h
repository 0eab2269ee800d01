/* kn_parquet_thrift.h: numbers, texts, lists and structs as the headers of a Parquet file have them: Thrift's compact protocol.
 *
 *     kn_thrift t = kn_thrift_begin(&buffer);
 *     kn_thrift_number(&t, 1, KN_THRIFT_I32, 7);
 *     kn_thrift inner = kn_thrift_struct(&t, 3);
 *     kn_thrift_end(&inner);
 *     kn_thrift_end(&t);
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PARQUET_THRIFT_H
#define KN_PARQUET_THRIFT_H

#include "kn_buffer.h"
#include "kn_string.h"

enum { KN_THRIFT_I32 = 5, KN_THRIFT_I64 = 6, KN_THRIFT_BYTES = 8, KN_THRIFT_LIST = 9, KN_THRIFT_STRUCT = 12 };

/* A struct that is being written: fields in the order of their numbers. */
typedef struct kn_thrift {
    kn_buffer *to;
    int        last;
} kn_thrift;

static inline void kn_thrift_varint(kn_buffer *to, uint64_t n)
{
    for (; n > 127; n >>= 7) kn_buffer_char(to, (char)(n | 128));
    kn_buffer_char(to, (char)n);
}

static inline void kn_thrift_zigzag(kn_buffer *to, int64_t n)
{
    kn_thrift_varint(to, (uint64_t)n << 1 ^ (n < 0 ? UINT64_MAX : 0));
}

static inline void kn_thrift_text(kn_buffer *to, kn_string text)
{
    kn_thrift_varint(to, text.size);
    kn_buffer_append(to, text.data, text.size);
}

static inline kn_thrift kn_thrift_begin(kn_buffer *to)
{
    return (kn_thrift){to, 0};
}

static inline void kn_thrift_end(kn_thrift *t)
{
    kn_buffer_char(t->to, 0);
}

static inline void kn_thrift_field(kn_thrift *t, int field, int type) /* at most 15 behind the last */
{
    kn_buffer_char(t->to, (char)((field - t->last) << 4 | type));
    t->last = field;
}

static inline void kn_thrift_number(kn_thrift *t, int field, int type, int64_t n)
{
    kn_thrift_field(t, field, type);
    kn_thrift_zigzag(t->to, n);
}

static inline void kn_thrift_bytes(kn_thrift *t, int field, kn_string bytes)
{
    kn_thrift_field(t, field, KN_THRIFT_BYTES);
    kn_thrift_text(t->to, bytes);
}

/* The elements follow, by the caller. */
static inline void kn_thrift_list(kn_thrift *t, int field, int type, int count)
{
    kn_thrift_field(t, field, KN_THRIFT_LIST);
    kn_buffer_char(t->to, (char)((count < 15 ? count : 15) << 4 | type));
    if (count >= 15) kn_thrift_varint(t->to, (uint64_t)count);
}

static inline kn_thrift kn_thrift_struct(kn_thrift *t, int field)
{
    kn_thrift_field(t, field, KN_THRIFT_STRUCT);
    return kn_thrift_begin(t->to);
}

#endif
