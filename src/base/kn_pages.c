/* kn_pages.c: large blocks (see kn_pages.h).
 *
 * What is freed is given back in pieces first (madvise), by all threads: the allocator then unmaps a range without pages, which
 * costs nothing. Only blocks that the C library maps one by one are treated so: the pages of others would be used again. Smaller ones
 * are freed by all threads, each as a whole. An allocator of the program's own is left alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "kn_pages.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kn_context.h"
#include "kn_parallel.h"

enum {
    PIECE = 1 << 21,  /* bytes of a range: a huge page ... */
    LITTLE = 1 << 18, /* ... or less, where there are few: */
    MANY = 1 << 26,   /* in blocks of fewer bytes          */
    LARGE = 1 << 25,  /* glibc never asks for more than that to be in its heap */
    TOGETHER = 32     /* blocks that are freed at a time                       */
};

typedef struct pieces {
    char  *begin; /* of a piece */
    size_t size;
} pieces;

static kn_status clear_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const pieces *p = arg;
    (void)worker;
    (void)err;
    memset(p->begin + begin, 0, (size_t)(end - begin));
    return KN_OK;
}

void *kn_pages_zero(kn_context *ctx, size_t count, size_t size)
{
    char  *block = kn_alloc_array(ctx, count, size);
    pieces p = {block, count * size};
    if (!block) return NULL;
    /* A cancelled context runs no range, and a block must be zero even then. */
    int64_t piece = p.size < MANY ? LITTLE : PIECE;
    if (p.size <= PIECE || kn_parallel_for(ctx, (int64_t)p.size, piece, clear_range, &p, NULL) != KN_OK)
        memset(block, 0, p.size);
    return block;
}

static kn_status give_back_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const pieces *p = arg;
    (void)worker;
    (void)err;
    (void)!madvise(p->begin + begin, (size_t)(end - begin), MADV_DONTNEED); /* if it fails, freeing takes longer */
    return KN_OK;
}

void kn_pages_give_back(kn_context *ctx, void *block)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)block + page - 1) & ~(page - 1),
              last = ((uintptr_t)block + kn_alloc_size(block)) & ~(page - 1);
    if (first < last && kn_context_threads(ctx) > 1 && !kn_context_has_own_memory(ctx))
        (void)!madvise((char *)block + (first - (uintptr_t)block), last - first, MADV_DONTNEED);
}

/* A large block, by all threads. */
static void give_back_pieces(kn_context *ctx, void *block, size_t size)
{
    uintptr_t first = ((uintptr_t)block + PIECE - 1) & ~(uintptr_t)(PIECE - 1);
    uintptr_t last = ((uintptr_t)block + size) & ~(uintptr_t)(PIECE - 1);
    pieces    p = {(char *)block + (first - (uintptr_t)block), (size_t)(last - first)};
    (void)!kn_parallel_for(ctx, (int64_t)p.size, PIECE, give_back_range, &p, NULL);
}

static kn_status free_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    void **blocks = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) {
        kn_free(blocks[i]);
        blocks[i] = NULL;
    }
    return KN_OK;
}

/* At most TOGETHER of them. */
static void free_together(kn_context *ctx, void *const *blocks, size_t count)
{
    void  *left[TOGETHER];
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        size_t size = kn_alloc_size(blocks[i]);
        left[i] = blocks[i];
        sum += size;
        if (size > LARGE) give_back_pieces(ctx, blocks[i], size);
    }
    if (sum > LARGE) (void)!kn_parallel_for(ctx, (int64_t)count, 1, free_range, left, NULL);
    (void)free_range(left, 0, (int64_t)count, 0, NULL); /* a cancelled context ran no range */
}

void kn_pages_free_each(kn_context *ctx, void *const *blocks, size_t count)
{
    bool together = kn_context_threads(ctx) > 1 && !kn_context_has_own_memory(ctx);
    for (size_t i = 0; together && i < count; i += TOGETHER)
        free_together(ctx, blocks + i, count - i < TOGETHER ? count - i : TOGETHER);
    for (size_t i = 0; !together && i < count; i++) kn_free(blocks[i]);
}
