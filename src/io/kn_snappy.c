/* kn_snappy.c: bytes in Snappy's format, as the pages of a Parquet file are. Interface: kn_parquet.h.
 *
 * Blocks of 64 KiB, in each of which four bytes are looked for where the same four stood last: a copy of them, else themselves.
 * Cost: one pass. Format: https://github.com/google/snappy/blob/main/format_description.txt
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <string.h>

#include "kn_parquet.h"

enum { BLOCK = 1 << 16, TABLE_BITS = 12, LEAST = 4, LONGEST = 64 };

static uint32_t load(const char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint32_t place_of(uint32_t word)
{
    return (word * 0x1e35a7bdu) >> (32 - TABLE_BITS);
}

static void put_literal(kn_buffer *to, const char *data, size_t size)
{
    size_t n = size - 1;
    if (size == 0) return;
    if (n < 60) {
        kn_buffer_char(to, (char)(n << 2));
    } else {
        kn_buffer_char(to, (char)((n < 256 ? 60 : 61) << 2));
        kn_buffer_char(to, (char)n);
        if (n >= 256) kn_buffer_char(to, (char)(n >> 8));
    }
    kn_buffer_append(to, data, size);
}

static void put_copy(kn_buffer *to, size_t offset, size_t size)
{
    while (size > 0) {
        size_t taken = size < LONGEST ? size : LONGEST;
        kn_buffer_char(to, (char)((taken - 1) << 2 | 2));
        kn_buffer_char(to, (char)offset);
        kn_buffer_char(to, (char)(offset >> 8));
        size -= taken;
    }
}

static void put_block(kn_buffer *to, const char *data, size_t size)
{
    uint16_t last[1 << TABLE_BITS] = {0};
    size_t   literal = 0;
    for (size_t at = 1; at + LEAST <= size;) {
        uint32_t word = load(data + at), place = place_of(word);
        size_t   before = last[place];
        last[place] = (uint16_t)at;
        if (before >= at || load(data + before) != word) {
            at += 1 + (at - literal) / 32; /* what does not repeat is passed over faster */
            continue;
        }
        size_t same = LEAST;
        while (at + same < size && data[before + same] == data[at + same]) same++;
        put_literal(to, data + literal, at - literal);
        put_copy(to, at - before, same);
        literal = at += same;
    }
    put_literal(to, data + literal, size - literal);
}

void kn_snappy_put(kn_buffer *to, const char *data, size_t size)
{
    size_t left = size;
    for (; left > 127; left >>= 7) kn_buffer_char(to, (char)(left | 128));
    kn_buffer_char(to, (char)left);
    for (size_t at = 0; at < size; at += BLOCK) put_block(to, data + at, size - at < BLOCK ? size - at : BLOCK);
}
