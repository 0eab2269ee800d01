/* kn_alloc.c: counted allocation. See the header for the interface.
 *
 * What is allocated keeps its context alive: freeing the last block of a context whose handle is gone frees the
 * context, so nothing may be read from it afterwards.
 *
 * Cost: one atomic add per call. Zeroed memory is cleared explicitly, since an allocator need not return fresh pages.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "kn_context.h"
#include "kn_pages.h"

typedef struct header {
    kn_context *ctx;
    size_t      size; /* of the caller's part */
} header;

static_assert(sizeof(header) == 16, "the header keeps blocks aligned to 16 bytes");

static bool take(kn_context *ctx, uint64_t bytes)
{
    if (bytes >= KN_HOLD) return false;
    uint64_t used = (atomic_fetch_add_explicit(&ctx->held, bytes, memory_order_relaxed) + bytes) & (KN_HOLD - 1);
    if (ctx->memory_limit && used > ctx->memory_limit) {
        kn_context_let_go(ctx, bytes);
        return false;
    }
    uint64_t peak = atomic_load_explicit(&ctx->memory_peak, memory_order_relaxed);
    while (used > peak && !atomic_compare_exchange_weak_explicit(&ctx->memory_peak, &peak, used, memory_order_relaxed,
                                                                 memory_order_relaxed)) {
    }
    return true;
}

bool kn_memory_charge(kn_context *ctx, uint64_t bytes)
{
    return take(ctx, bytes);
}

void kn_memory_discharge(kn_context *ctx, uint64_t bytes)
{
    kn_context_let_go(ctx, bytes);
}

void *kn_alloc(kn_context *ctx, size_t size)
{
    if (size > SIZE_MAX - sizeof(header)) return NULL;
    if (!take(ctx, size + sizeof(header))) return NULL;
    header *h = ctx->allocator.alloc(ctx->allocator.user, size + sizeof(header));
    if (!h) {
        kn_context_let_go(ctx, size + sizeof(header));
        return NULL;
    }
    h->ctx = ctx;
    h->size = size;
    return h + 1;
}

void *kn_alloc_zero(kn_context *ctx, size_t size)
{
    void *p = kn_alloc(ctx, size);
    if (p) memset(p, 0, size);
    return p;
}

void *kn_alloc_array(kn_context *ctx, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) return NULL;
    return kn_alloc(ctx, count * size);
}

void *kn_alloc_array_zero(kn_context *ctx, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) return NULL;
    return kn_alloc_zero(ctx, count * size);
}

void *kn_realloc(kn_context *ctx, void *block, size_t new_size)
{
    if (!block) return kn_alloc(ctx, new_size);
    if (new_size > SIZE_MAX - sizeof(header)) return NULL;
    header *h = (header *)block - 1;
    size_t  old_size = h->size;
    if (new_size > old_size && !take(ctx, new_size - old_size)) return NULL;
    header *moved = ctx->allocator.resize(ctx->allocator.user, h, old_size + sizeof(header), new_size + sizeof(header));
    if (!moved) {
        if (new_size > old_size) kn_context_let_go(ctx, new_size - old_size);
        return NULL;
    }
    if (new_size < old_size) kn_context_let_go(ctx, old_size - new_size);
    moved->size = new_size;
    return moved + 1;
}

void *kn_realloc_array(kn_context *ctx, void *block, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) return NULL;
    return kn_realloc(ctx, block, count * size);
}

size_t kn_alloc_size(const void *block)
{
    return block ? ((const header *)block - 1)->size : 0;
}

void kn_free(void *block)
{
    if (!block) return;
    header     *h = (header *)block - 1;
    kn_context *ctx = h->ctx;
    size_t      size = h->size + sizeof(header);
    ctx->allocator.release(ctx->allocator.user, h, size);
    kn_context_let_go(ctx, size);
}

void kn_free_each(void *const *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) kn_free(blocks[i]);
}

char *kn_strndup(kn_context *ctx, const char *text, size_t length)
{
    char *copy = kn_alloc(ctx, length + 1);
    if (!copy) return NULL;
    if (length) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

bool kn_grow(kn_context *ctx, void *array, size_t *capacity, size_t need, size_t element_size)
{
    if (need <= *capacity) return true;
    void *block; /* copied, not cast: the pointer is of any type */
    memcpy(&block, array, sizeof block);
    size_t wanted = *capacity + *capacity / 2;
    if (wanted < 16) wanted = 16;
    if (wanted < need) wanted = need;
    void *grown = kn_realloc_array(ctx, block, wanted, element_size);
    if (!grown &&
        wanted > need + need / 32) { /* near the limit less may fit; but not so little that each call copies */
        wanted = need + need / 32;
        grown = kn_realloc_array(ctx, block, wanted, element_size);
    }
    if (!grown) return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}
