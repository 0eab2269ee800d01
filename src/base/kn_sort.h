/* kn_sort.h: sorting large arrays of (key, id) records in parallel, and small arrays of anything in place. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SORT_H
#define KN_SORT_H

#include <kanon/context.h>

typedef struct kn_sort_record {
    uint64_t key;
    uint64_t id;
} kn_sort_record;

/* Decides between two records with equal keys by their ids: negative, 0, positive. */
typedef int (*kn_sort_tie_fn)(const void *arg, uint64_t a, uint64_t b);

/* Sorts by key, then by `tie` (NULL: by id). The order must be total for the result to be the same on any number of
 * threads; with `tie` NULL it is. */
KN_CHECK kn_status kn_sort_records(kn_context *ctx, kn_sort_record *records, size_t count, kn_sort_tie_fn tie,
                                   const void *arg, kn_error *err);

/* Heapsort: no memory (qsort may allocate some, uncounted), no bad case. Elements of at most 128 bytes; equal ones
 * end up in any order. */
typedef int (*kn_compare_fn)(const void *arg, const void *a, const void *b);
void kn_sort_in_place(void *elements, size_t count, size_t size, kn_compare_fn compare, const void *arg);

/* Sorts numbers in place by the caller's order: heapsort, so without memory or bad cases. Inline, so that the
 * comparison is, too. */
static inline void kn_sort_numbers(uint32_t *numbers, size_t count,
                                   bool (*before)(const void *arg, uint32_t a, uint32_t b), const void *arg)
{
    for (size_t end = count, start = count / 2; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            uint32_t top = numbers[0];
            numbers[0] = numbers[--end];
            numbers[end] = top;
        }
        for (size_t root = start, child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && before(arg, numbers[child], numbers[child + 1])) child++;
            if (!before(arg, numbers[root], numbers[child])) break;
            uint32_t held = numbers[root];
            numbers[root] = numbers[child];
            numbers[child] = held;
        }
    }
}

#endif
