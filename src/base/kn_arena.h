/* kn_arena.h: many small allocations that are freed together.
 *
 * An arena belongs to one thread at a time. In sanitizer builds (KN_SANITIZE) each allocation is a block of its own,
 * so that an overrun is detected.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_ARENA_H
#define KN_ARENA_H

#include <kanon/context.h>

typedef struct kn_arena {
    kn_context            *ctx;
    struct kn_arena_block *blocks; /* newest first */
    char                  *next;
    size_t                 left;
    size_t                 block_size; /* of the next block; grows up to 1 MiB */
    bool                   failed;     /* a request was refused, since the beginning or the last kn_arena_free */
} kn_arena;

void kn_arena_init(kn_arena *arena, kn_context *ctx); /* the same as {.ctx = ctx} */
void kn_arena_free(kn_arena *arena); /* all at once; the arena may be used again */

/* Storage aligned to 16 bytes; NULL: out of memory. */
KN_CHECK void *kn_arena_alloc(kn_arena *arena, size_t size);

/* An array, with a check for overflow. For several arrays: allocate all of them, then check `failed` once. */
KN_CHECK void *kn_arena_array(kn_arena *arena, size_t count, size_t size);
KN_CHECK void *kn_arena_array_zero(kn_arena *arena, size_t count, size_t size);

/* Like kn_arena_alloc without alignment or rounding, for strings. */
KN_CHECK char *kn_arena_bytes(kn_arena *arena, size_t size);

/* A NUL-terminated copy. */
KN_CHECK char *kn_arena_strndup(kn_arena *arena, const char *text, size_t length);

#endif
