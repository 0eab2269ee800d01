/* kn_arena.c: bump allocation in blocks of 4 KiB growing to 1 MiB; a request larger than a block gets its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_arena.h"

#include <stdint.h>
#include <string.h>

#include "kn_alloc.h"

typedef struct kn_arena_block {
    struct kn_arena_block *older;
    size_t                 unused; /* keeps the payload aligned to 16 bytes */
} kn_arena_block;

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

void kn_arena_init(kn_arena *arena, kn_context *ctx)
{
    *arena = (kn_arena){.ctx = ctx};
}

void kn_arena_free(kn_arena *arena)
{
    kn_arena_block *block = arena->blocks;
    while (block) {
        kn_arena_block *older = block->older;
        kn_free(block);
        block = older;
    }
    kn_arena_init(arena, arena->ctx);
}

static void *block_of_its_own(kn_arena *arena, size_t size)
{
    if (size > SIZE_MAX - sizeof(kn_arena_block)) return NULL;
    kn_arena_block *block = kn_alloc(arena->ctx, sizeof *block + size);
    if (!block) return NULL;
    if (arena->blocks) { /* after the newest, whose free space stays in use  */
        block->older = arena->blocks->older;
        arena->blocks->older = block;
    } else {
        block->older = NULL;
        arena->blocks = block;
    }
    return block + 1;
}

static char *take_bytes(kn_arena *arena, size_t size, size_t align)
{
#ifdef KN_SANITIZE
    (void)align;
    return block_of_its_own(arena, size);
#else
    size_t pad = (size_t)(-(uintptr_t)arena->next) & (align - 1);
    if (!arena->next || arena->left < pad || arena->left - pad < size) {
        if (arena->block_size == 0) arena->block_size = FIRST_BLOCK;
        if (size > arena->block_size / 4) return block_of_its_own(arena, size);
        kn_arena_block *block = kn_alloc(arena->ctx, sizeof *block + arena->block_size);
        if (!block) return NULL;
        block->older = arena->blocks;
        arena->blocks = block;
        arena->next = (char *)(block + 1);
        arena->left = arena->block_size;
        if (arena->block_size < LARGEST_BLOCK) arena->block_size *= 2;
        pad = 0;
    }
    char *p = arena->next + pad;
    arena->next = p + size;
    arena->left -= pad + size;
    return p;
#endif
}

static char *take(kn_arena *arena, size_t size, size_t align)
{
    char *bytes = take_bytes(arena, size, align);
    if (!bytes) arena->failed = true;
    return bytes;
}

void *kn_arena_alloc(kn_arena *arena, size_t size)
{
    return take(arena, size, 16);
}

void *kn_arena_array(kn_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    return take(arena, __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes, 16);
}

void *kn_arena_array_zero(kn_arena *arena, size_t count, size_t size)
{
    void *array = kn_arena_array(arena, count, size);
    return array ? memset(array, 0, count * size) : NULL;
}

char *kn_arena_bytes(kn_arena *arena, size_t size)
{
    return take(arena, size, 1);
}

char *kn_arena_strndup(kn_arena *arena, const char *text, size_t length)
{
    char *copy = kn_arena_bytes(arena, length + 1);
    if (!copy) return NULL;
    if (length) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}
