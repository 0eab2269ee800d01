/* kn_utf8.c: validation after the table of well-formed byte sequences of the Unicode standard; eight bytes at a time
 * where the text is ASCII. Cost: linear; about memory speed on ASCII.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_utf8.h"

#include <stdint.h>
#include <string.h>

#define HIGH_BITS 0x8080808080808080u
#define LOW_BITS 0x0101010101010101u

/* Non-zero if a byte of the word is ≥ 0x80 or zero. Exact for words without high bits; those are reported anyway. */
static inline uint64_t odd_bytes(uint64_t word)
{
    return (word | ((word - LOW_BITS) & ~word)) & HIGH_BITS;
}

bool kn_plain_ascii(const char *text, size_t size)
{
    size_t   i = 0;
    uint64_t odd = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, text + i, 8);
        odd |= odd_bytes(word);
    }
    if (odd) return false;
    for (; i < size; i++)
        if (text[i] == 0 || (unsigned char)text[i] >= 0x80) return false;
    return true;
}

/* The length of the well-formed sequence at p, at most `left` bytes; 0 if there is none. */
static size_t sequence(const unsigned char *p, size_t left)
{
    unsigned char a = p[0];
    if (a < 0x80) return a ? 1 : 0;
    if (a < 0xc2 || a > 0xf4) return 0;
    size_t need = a < 0xe0 ? 2 : a < 0xf0 ? 3 : 4;
    if (left < need) return 0;
    unsigned char low = 0x80, high = 0xbf; /* of the second byte */
    if (a == 0xe0) low = 0xa0;
    if (a == 0xed) high = 0x9f; /* surrogates */
    if (a == 0xf0) low = 0x90;
    if (a == 0xf4) high = 0x8f;
    if (p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < need; i++)
        if (p[i] < 0x80 || p[i] > 0xbf) return 0;
    return need;
}

size_t kn_utf8_check(const char *text, size_t size)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t               i = 0;
    while (i < size) {
        if (i + 8 <= size) {
            uint64_t word;
            memcpy(&word, p + i, 8);
            if (!odd_bytes(word)) {
                i += 8;
                continue;
            }
        }
        size_t n = sequence(p + i, size - i);
        if (n == 0) return i;
        i += n;
    }
    return size;
}

size_t kn_utf8_length(const char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

size_t kn_utf8_put(char *out, uint32_t code)
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t                     size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[size] | code);
    return size;
}

/* Code points of the Windows-1252 bytes 0x80 to 0x9f; 0 where there is none. */
static const uint16_t windows_1252[32] = {0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                          0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
                                          0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                          0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

size_t kn_bytes_check(const char *text, size_t size, bool latin1)
{
    for (size_t i = 0; i < size; i++) {
        unsigned c = (unsigned char)text[i];
        if (c == 0 || (!latin1 && c >= 0x80 && c < 0xa0 && windows_1252[c - 0x80] == 0)) return i;
    }
    return size;
}

size_t kn_utf8_from_bytes(char *out, const char *text, size_t size, bool latin1)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned c = (unsigned char)text[i];
        if (c < 0x80) {
            out[n++] = (char)c;
            continue;
        }
        if (!latin1 && c < 0xa0) {
            c = windows_1252[c - 0x80];
            if (c == 0) return SIZE_MAX;
        }
        n += kn_utf8_put(out + n, c);
    }
    return n;
}
