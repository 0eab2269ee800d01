/* kn_bitset.c: counting what two sets have in common.
 *
 * Interface: kn_bitset.h. Processors count bits in three ways: 512 at a time, 64 at a time, or by arithmetic. The
 * best one is chosen at run time.
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
    if (__builtin_cpu_supports("popcnt")) return common_popcnt;
#endif
    return common_plain;
}
