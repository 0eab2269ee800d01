/* kn_group.h: the group-by kernel: a stream of keys → distinct keys with summed counts, sorted. Used by kn_freq.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_GROUP_H
#define KN_GROUP_H

#include "kn_freq.h"

enum { KN_GROUP_BLOCK = 1024 };

typedef void (*kn_fill_short_fn)(const void *arg, int64_t begin, int n, uint32_t *keys);

/* Where keys come from. `fill` writes the keys of items [begin, begin + n), n ≤ KN_GROUP_BLOCK, and is called by several
 * workers at once. */
typedef struct kn_key_source {
    void (*fill)(const void *arg, int64_t begin, int n, uint64_t *keys);
    kn_fill_short_fn fill_short; /* the same for keys of at most 32 bits; NULL: `fill` will do */
    const void    *arg;
    int64_t        items;
    const int64_t *counts; /* per item; NULL: one each */
    int64_t        total;  /* the sum of the counts */
    int            words;
    int            bits; /* used in all; they stand at the low end */
} kn_key_source;

/* Groups the keys into freq->keys, counts, classes and rows. freq->ctx and layout are already set. */
KN_CHECK kn_status kn_group_run(kn_freq *freq, const kn_key_source *source, const kn_group_options *options,
                                kn_error *err);

#endif
