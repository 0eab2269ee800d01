/* kn_pages.h: large blocks whose pages all threads take or give back.
 *
 * The system clears a page when it is first touched and needs as long to take it back: for blocks of hundreds of megabytes
 * a thread alone is busy with that while the others wait.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PAGES_H
#define KN_PAGES_H

#include "kn_alloc.h"

/* kn_alloc_array_zero. */
KN_CHECK void *kn_pages_zero(kn_context *ctx, size_t count, size_t size);

/* For one of several threads that are about to free a block each: gives its pages back, which frees from the heap would leave
 * to whoever frees the last of them. Its content is lost. */
void kn_pages_give_back(kn_context *ctx, void *block);

/* KN_FREE for blocks that belong to `ctx`, which outlives the call. */
void kn_pages_free_each(kn_context *ctx, void *const *blocks, size_t count);
#define KN_PAGES_FREE(ctx, ...)                                                                                        \
    kn_pages_free_each(ctx, (void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))

/* ---- For kn_pages.c ---- */

size_t kn_alloc_size(const void *block);              /* kn_alloc.c; 0: NULL                */
bool   kn_context_has_own_memory(const kn_context *ctx); /* kn_context.c: an allocator was given */

#endif
