/* kn_apriori.h: Algorithm 2 of the privacy diagnosis centre: level by level through the sets of columns. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_APRIORI_H
#define KN_APRIORI_H

#include <kanon/context.h>

/* Says for each set (a bit mask over the columns, given in ascending order) whether it holds; downward closed. */
typedef kn_status (*kn_apriori_test)(void *arg, const uint64_t *sets, int64_t count, bool *holds, kn_error *err);

typedef struct kn_mask_list {
    uint64_t *masks;
    int64_t   count;
    size_t    capacity;
} kn_mask_list;

typedef struct kn_apriori_result {
    kn_mask_list maximal;           /* hold, and no larger set does */
    kn_mask_list minimal_violating; /* do not hold, and all smaller ones do */
    int64_t      calls;
    bool         complete; /* false: max_size ended the search */
} kn_apriori_result;

/* Searches the subsets of `columns` (at most 62) columns. The empty set holds by itself. Freed by kn_apriori_free. */
KN_CHECK kn_status kn_apriori(kn_apriori_result *out, kn_context *ctx, int columns, int max_size, kn_apriori_test test,
                              void *arg, kn_error *err);
void               kn_apriori_free(kn_apriori_result *result);

#endif
