/* kn_rows.h: many small sets of numbers, with how many records are equal to each. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ROWS_H
#define KN_ROWS_H

#include <kanon/context.h>

#define KN_ROWS_FULL UINT32_MAX

/* Row i is members[start[i]] .. members[start[i + 1] - 1]. */
typedef struct kn_rows {
    kn_context *ctx;
    uint32_t    count;
    uint64_t   *start; /* count + 1 */
    uint32_t   *members;
    int64_t    *weight; /* records that are equal to it */
    size_t      start_capacity, member_capacity, weight_capacity;
    bool        merge; /* equal rows are one */
    uint32_t   *slots; /* to find it: row + 1; 0: free */
    size_t      slot_count;
} kn_rows;

/* Removes all rows and keeps their memory. `rows` is all zero the first time. */
KN_CHECK kn_status kn_rows_clear(kn_rows *rows, kn_context *ctx, bool merge, kn_error *err);
void               kn_rows_free(kn_rows *rows);

/* Space for the members of one more row. NULL: out of memory. */
KN_CHECK uint32_t *kn_rows_room(kn_rows *rows, uint64_t size);

/* The first `size` members that were written there become a row, or add to the weight of the equal one. Returns its number;
 * KN_ROWS_FULL: out of memory. */
KN_CHECK uint32_t kn_rows_close(kn_rows *rows, uint64_t size, int64_t weight);

/* No more rows follow: frees the memory that is not used. */
void kn_rows_finish(kn_rows *rows);

uint64_t kn_rows_hash(const uint32_t *members, uint64_t count); /* equal rows have equal ones */

void kn_rows_sort(uint32_t *numbers, uint64_t count); /* ascending; meant for a few */

#endif
