/* kn_alloc.h: memory that is counted against the context's limit.
 *
 * Every block carries a 16-byte header with its size and context, so that kn_free needs nothing but the pointer. All
 * functions may be called from any worker. They return NULL on failure and leave the message to the caller, who knows
 * what the memory was for (kn_fail_memory).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_ALLOC_H
#define KN_ALLOC_H

#include <kanon/context.h>

KN_CHECK void *kn_alloc(kn_context *ctx, size_t size);
KN_CHECK void *kn_alloc_zero(kn_context *ctx, size_t size);

/* count × size with a check for overflow. */
KN_CHECK void *kn_alloc_array(kn_context *ctx, size_t count, size_t size);
KN_CHECK void *kn_alloc_array_zero(kn_context *ctx, size_t count, size_t size);

/* Allocates `count` elements for the pointer `array`; NULL, also in `array`: out of memory. */
#define KN_ALLOC(ctx, array, count) ((array) = kn_alloc_array(ctx, count, sizeof *(array)))
#define KN_ALLOC_ZERO(ctx, array, count) ((array) = kn_alloc_array_zero(ctx, count, sizeof *(array)))

/* Resizes a block (NULL: allocates). On failure the old block is untouched. Large blocks move without copying where the
 * system can remap pages, so growing a big array does not hold it twice. */
KN_CHECK void *kn_realloc(kn_context *ctx, void *block, size_t new_size);
KN_CHECK void *kn_realloc_array(kn_context *ctx, void *block, size_t count, size_t size);

/* Frees a block; NULL is fine. KN_FREE(list->names, list->rows, list) frees several. */
void kn_free(void *block);
void kn_free_each(void *const *blocks, size_t count);
#define KN_FREE(...) kn_free_each((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))

/* A NUL-terminated copy of `length` bytes. */
KN_CHECK char *kn_strndup(kn_context *ctx, const char *text, size_t length);

/* Lets a growing array hold at least `need` elements; `array` points to the pointer to its first one, which is updated
 * with *capacity. false: out of memory, nothing changed. KN_GROW(ctx, &list->items, &list->capacity, n) knows the size of
 * an element. */
KN_CHECK bool kn_grow(kn_context *ctx, void *array, size_t *capacity, size_t need, size_t element_size);
#define KN_GROW(ctx, array, capacity, need) kn_grow(ctx, array, capacity, need, sizeof **(array))

/* Counts memory that a library allocates itself, until it is discharged. false: the memory limit would be exceeded. */
KN_CHECK bool kn_memory_charge(kn_context *ctx, uint64_t bytes);
void          kn_memory_discharge(kn_context *ctx, uint64_t bytes);

#endif
