/* kn_compare.h: numbers in ascending order, for qsort and bsearch. Any thread may call these. */
#ifndef KN_COMPARE_H
#define KN_COMPARE_H

int kn_compare_u32(const void *a, const void *b); /* of uint32_t */
int kn_compare_u64(const void *a, const void *b); /* of uint64_t */
int kn_compare_i64(const void *a, const void *b); /* of int64_t  */

#endif
