/* kn_bitset.c: counting what two sets have in common.
 *
 * Interface: kn_bitset.h. Processors count bits in four ways: 512 at a time, 256 by looking up half bytes, 64 at a
 * time, or by arithmetic. The best one is chosen at run time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_bitset.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

static inline __attribute__((always_inline)) uint32_t common(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint64_t count = 0;
    for (size_t i = 0; i < words; i++) count += (uint64_t)__builtin_popcountll(a[i] & b[i]);
    return (uint32_t)count;
}

static uint32_t common_plain(const uint64_t *a, const uint64_t *b, size_t words)
{
    return common(a, b, words);
}

#if defined                                       __x86_64__
__attribute__((target("popcnt"))) static uint32_t common_popcnt(const uint64_t *a, const uint64_t *b, size_t words)
{
    return common(a, b, words);
}

/* The bits of each byte: those of its halves, looked up. */
__attribute__((target("avx2"))) static inline __m256i count_bytes(__m256i x)
{
    const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2,
                                          2, 3, 2, 3, 3, 4);
    const __m256i half = _mm256_set1_epi8(15);
    __m256i       low = _mm256_shuffle_epi8(bits, _mm256_and_si256(x, half));
    __m256i       high = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16(x, 4), half));
    return _mm256_add_epi8(low, high);
}

__attribute__((target("avx2,popcnt"))) static inline __m256i both_of(const uint64_t *a, const uint64_t *b)
{
    return _mm256_and_si256(_mm256_loadu_si256((const __m256i *)a), _mm256_loadu_si256((const __m256i *)b));
}

/* A byte of two blocks counts at most sixteen. */
__attribute__((target("avx2,popcnt"))) static uint32_t common_avx2(const uint64_t *a, const uint64_t *b, size_t words)
{
    __m256i count = _mm256_setzero_si256();
    size_t  i = 0;
    for (; i + 8 <= words; i += 8) {
        __m256i bytes = _mm256_add_epi8(count_bytes(both_of(a + i, b + i)), count_bytes(both_of(a + i + 4, b + i + 4)));
        count = _mm256_add_epi64(count, _mm256_sad_epu8(bytes, _mm256_setzero_si256()));
    }
    __m128i  half = _mm_add_epi64(_mm256_castsi256_si128(count), _mm256_extracti128_si256(count, 1));
    uint64_t all = (uint64_t)_mm_cvtsi128_si64(half) + (uint64_t)_mm_extract_epi64(half, 1);
    return (uint32_t)all + common(a + i, b + i, words - i);
}

__attribute__((target("avx512f,avx512vpopcntdq,popcnt"))) static uint32_t common_avx512(const uint64_t *a,
                                                                                        const uint64_t *b, size_t words)
{
    __m512i count = _mm512_setzero_si512();
    size_t  i = 0;
    for (; i + 8 <= words; i += 8) {
        __m512i both = _mm512_and_si512(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i));
        count = _mm512_add_epi64(count, _mm512_popcnt_epi64(both));
    }
    return (uint32_t)_mm512_reduce_add_epi64(count) + common(a + i, b + i, words - i);
}
#endif

kn_bitset_common_fn kn_bitset_common(void)
{
#if defined __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vpopcntdq")) return common_avx512;
    if (__builtin_cpu_supports("avx2")) return common_avx2;
    if (__builtin_cpu_supports("popcnt")) return common_popcnt;
#endif
    return common_plain;
}
