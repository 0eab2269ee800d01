/* kn_csv_index.c: where the characters are that matter in CSV text: delimiters, quotes and line ends.
 *
 * 64 bytes at a time are compared with the four characters, which gives a word of bits; its bits become positions. On
 * the way it is seen whether all bytes are plain ASCII, so that nobody has to read them again for that, and whether
 * there is anything but delimiters and LFs. One variant per
 * set of instructions, chosen when the program runs; kn_csv_index_scalar is their twin, byte by byte.
 * Interface: kn_csv_scan.h. Cost: about 1 instruction per byte with AVX2, 3 with SSE2.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_csv_scan.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

size_t kn_csv_index_scalar(const char *text, size_t size, char delimiter, uint32_t *out, kn_csv_marks *seen)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == delimiter || c == '"' || c == '\n' || c == '\r') out[n++] = (uint32_t)i;
        if (c == 0 || (unsigned char)c >= 0x80) seen->odd = true;
        if (c == '"' || c == '\r') seen->other = true;
        seen->lines += c == '\n';
    }
    return n;
}

#if defined __x86_64__
/* The bytes from `at` on, fewer than 64, behind the `n` positions that were found before. */
static size_t index_rest(const char *text, size_t size, size_t at, char delimiter, uint32_t *out, size_t n,
                         kn_csv_marks *seen)
{
    size_t rest = kn_csv_index_scalar(text + at, size - at, delimiter, out + n, seen);
    for (size_t i = n; i < n + rest; i++) out[i] += (uint32_t)at;
    return n + rest;
}

static size_t index_sse2(const char *text, size_t size, char delimiter, uint32_t *out, kn_csv_marks *seen)
{
    const __m128i comma = _mm_set1_epi8(delimiter), quote = _mm_set1_epi8('"'), lf = _mm_set1_epi8('\n'),
                  cr = _mm_set1_epi8('\r');
    __m128i any = _mm_setzero_si128(), least = _mm_set1_epi8(-1), others = any;
    size_t  n = 0, i = 0;
    for (; i + 64 <= size; i += 64) {
        uint64_t mask = 0;
        for (int part = 0; part < 4; part++) {
            __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(text + i + 16 * part));
            __m128i line = _mm_cmpeq_epi8(x, lf), other = _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, cr));
            __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, comma), other), line);
            mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(hit) << (16 * part);
            seen->lines += (size_t)__builtin_popcount((unsigned)_mm_movemask_epi8(line));
            others = _mm_or_si128(others, other);
            any = _mm_or_si128(any, x);
            least = _mm_min_epu8(least, x);
        }
        for (; mask; mask &= mask - 1) out[n++] = (uint32_t)(i + (size_t)__builtin_ctzll(mask));
    }
    if (_mm_movemask_epi8(others)) seen->other = true;
    if (_mm_movemask_epi8(_mm_or_si128(any, _mm_cmpeq_epi8(least, _mm_setzero_si128())))) seen->odd = true;
    return index_rest(text, size, i, delimiter, out, n, seen);
}

/* Eight positions are written at a time, whether there are as many or not: a branch for each would often be guessed wrong. */
__attribute__((target("avx2,bmi,popcnt"))) static size_t index_avx2(const char *text, size_t size, char delimiter,
                                                                    uint32_t *out, kn_csv_marks *seen)
{
    const __m256i comma = _mm256_set1_epi8(delimiter), quote = _mm256_set1_epi8('"'), lf = _mm256_set1_epi8('\n'),
                  cr = _mm256_set1_epi8('\r');
    __m256i least = _mm256_set1_epi8(1), others = _mm256_setzero_si256();
    size_t  n = 0, i = 0, lines = 0;
    for (; i + 64 <= size; i += 64) {
        uint64_t mask = 0, ends = 0;
        for (int part = 0; part < 2; part++) {
            __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(text + i + 32 * part));
            __m256i line = _mm256_cmpeq_epi8(x, lf);
            __m256i other = _mm256_or_si256(_mm256_cmpeq_epi8(x, quote), _mm256_cmpeq_epi8(x, cr));
            __m256i hit = _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(x, comma), other), line);
            mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(hit) << (32 * part);
            ends |= (uint64_t)(uint32_t)_mm256_movemask_epi8(line) << (32 * part);
            others = _mm256_or_si256(others, other);
            least = _mm256_min_epi8(least, x); /* signed: what is no ASCII is below zero */
        }
        lines += (size_t)_mm_popcnt_u64(ends);
        uint32_t *to = out + n;
        n += (size_t)_mm_popcnt_u64(mask);
        while (mask) {
            for (int j = 0; j < 8; j++, mask = _blsr_u64(mask)) to[j] = (uint32_t)i + (uint32_t)_tzcnt_u64(mask);
            to += 8;
        }
    }
    seen->lines += lines;
    if (_mm256_movemask_epi8(others)) seen->other = true;
    if (_mm256_movemask_epi8(_mm256_cmpgt_epi8(_mm256_set1_epi8(1), least))) seen->odd = true;
    return index_rest(text, size, i, delimiter, out, n, seen);
}
#endif

kn_csv_index_fn kn_csv_index_variant(int number)
{
#if defined __x86_64__
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
    if (number == 0) return avx2 ? index_avx2 : index_sse2;
    if (number == 1) return index_sse2;
    number -= 2;
#endif
    return number == 0 ? kn_csv_index_scalar : NULL;
}
