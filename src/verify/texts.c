/* texts.c: texts → dense numbers: an open-addressing table of hash halves and numbers.
 *
 * A hash only says where to look; texts are compared byte by byte. Cost: O(1) expected per text; 8 to 16 bytes per slot,
 * 16 per text, and its bytes where they are kept here.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_verify_internal.h"

void kn_texts_init(kn_texts *t, kn_context *ctx)
{
    *t = (kn_texts){.ctx = ctx};
    kn_arena_init(&t->bytes, ctx);
}

void kn_texts_free(kn_texts *t)
{
    if (!t->ctx) return;
    kn_arena_free(&t->bytes);
    kn_free(t->texts);
    kn_free(t->slots);
    *t = (kn_texts){0};
}

static uint32_t half(kn_string text)
{
    return (uint32_t)(kn_hash_bytes(text.data, text.size) >> 32);
}

static bool grow(kn_texts *t)
{
    if (t->slots && (size_t)t->count * 2 < t->mask + 1) return true;
    size_t    size = t->slots ? (t->mask + 1) * 2 : 64;
    uint64_t *slots = kn_alloc_array_zero(t->ctx, size, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; t->slots && i <= t->mask; i++) {
        if (!t->slots[i]) continue;
        size_t at = (size_t)(t->slots[i] >> 32) & (size - 1);
        while (slots[at]) at = (at + 1) & (size - 1);
        slots[at] = t->slots[i];
    }
    kn_free(t->slots);
    t->slots = slots;
    t->mask = size - 1;
    return true;
}

uint32_t kn_texts_add(kn_texts *t, kn_string text, bool copy)
{
    if (!grow(t)) return KN_V_NONE;
    uint32_t hash = half(text);
    size_t   at = hash & t->mask;
    for (; t->slots[at]; at = (at + 1) & t->mask) {
        uint32_t number = (uint32_t)t->slots[at] - 1;
        if ((uint32_t)(t->slots[at] >> 32) == hash && kn_string_equal(t->texts[number], text)) return number;
    }
    void *texts = t->texts;
    if (t->count >= KN_V_MISSING - 1 || !kn_grow(t->ctx, &texts, &t->capacity, (size_t)t->count + 1, sizeof *t->texts))
        return KN_V_NONE;
    t->texts = texts;
    if (copy) {
        char *bytes = kn_arena_bytes(&t->bytes, text.size + 1);
        if (!bytes) return KN_V_NONE;
        if (text.size) memcpy(bytes, text.data, text.size);
        bytes[text.size] = '\0';
        text.data = bytes;
    }
    t->texts[t->count] = text;
    t->slots[at] = (uint64_t)hash << 32 | (t->count + 1);
    return t->count++;
}

uint32_t kn_texts_find(const kn_texts *t, kn_string text)
{
    if (!t->slots) return KN_V_NONE;
    uint32_t hash = half(text);
    for (size_t at = hash & t->mask; t->slots[at]; at = (at + 1) & t->mask) {
        uint32_t number = (uint32_t)t->slots[at] - 1;
        if ((uint32_t)(t->slots[at] >> 32) == hash && kn_string_equal(t->texts[number], text)) return number;
    }
    return KN_V_NONE;
}
