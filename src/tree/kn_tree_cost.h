/* kn_tree_cost.h: RPDa as a number, with an exact test for equality.
 *
 * It is a rational number with a denominator of any size. The sum as a double depends on the order of adding, so that
 * equal costs may differ in the last bits; therefore it is summed up a second time modulo the prime 2^61 - 1, in
 * which a quotient is the product with an inverse: equal numbers have equal residues, and different ones that are
 * close do not (but for one chance in 2^61).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_TREE_COST_H
#define KN_TREE_COST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "kn_hash.h"
#include "kn_vocabulary.h"

#define KN_COST_PRIME (((uint64_t)1 << 61) - 1)

typedef struct kn_tree_cost {
    double   value;
    uint64_t residue;
    int64_t  relations; /* of the released records */
} kn_tree_cost;

/* What a value's domain |C(u)| adds to the product of a path. */
typedef struct kn_cost_domain {
    uint64_t size, inverse;
} kn_cost_domain;

static inline uint64_t kn_cost_times(uint64_t a, uint64_t b)
{
    kn_u128  product = (kn_u128)a * b;
    uint64_t sum = (uint64_t)(product & KN_COST_PRIME) + (uint64_t)(product >> 61);
    return sum >= KN_COST_PRIME ? sum - KN_COST_PRIME : sum;
}

/* 1 / a, as a^(p - 2). */
static inline uint64_t kn_cost_inverse(uint64_t a)
{
    uint64_t result = 1;
    a %= KN_COST_PRIME;
    for (uint64_t power = KN_COST_PRIME - 2; power > 0; power >>= 1) {
        if (power & 1) result = kn_cost_times(result, a);
        a = kn_cost_times(a, a);
    }
    return result;
}

/* |C(u)| of each value (K2, K13): the values of u's class, or with `level_domains` of all classes, in the full-domain cut at
 * the depth of u; a leaf is on the lowest level wherever it stands. 1 for "*". */
static inline void kn_cost_domains(kn_cost_domain *domain, const kn_vocabulary *v, bool level_domains)
{
    domain[0] = (kn_cost_domain){1, 1};
    for (int c = 0; c < v->class_count; c++) {
        uint32_t       top = v->top[c], end = v->end[top];
        uint32_t       from = level_domains ? 1 : top, to = level_domains ? v->nodes : end;
        uint64_t       all = v->leaves[level_domains ? 0 : top];
        kn_cost_domain leaf = {all, kn_cost_inverse(all)};
        for (int depth = 1; depth <= v->height[top] + 1; depth++) {
            uint64_t size = 0;
            for (uint32_t u = from; u < to; u++)
                size += v->depth[u] == depth || (v->depth[u] < depth && v->end[u] == u + 1);
            kn_cost_domain level = {size, kn_cost_inverse(size)};
            for (uint32_t u = top; u < end; u++)
                if (v->depth[u] == depth) domain[u] = v->end[u] == u + 1 ? leaf : level;
        }
    }
}

/* Negative: a is less; 0: they are equal. */
static inline int kn_tree_cost_compare(kn_tree_cost a, kn_tree_cost b)
{
    bool close = fabs(a.value - b.value) <= 1e-6 * fabs(a.value); /* a residue that is equal by chance is not */
    if (a.value == b.value || (close && a.residue == b.residue)) return 0;
    return a.value < b.value ? -1 : 1;
}

#endif
