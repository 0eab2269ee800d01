/* kn_interner.c: an open-addressing table of text → id.
 *
 * Interface: kn_interner.h and kn_intern in kn_builder.h. Cost: one hash, one probe and one comparison per look-up;
 * 30 bytes per distinct text besides its bytes. As long as there are few texts, the short ones are also kept by their
 * words, so that a look-up reads one slot, compares five words and has hardly a branch. Equality is always decided by the bytes. Limit: 2^32 - 3 texts.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_interner.h"

#include "kn_alloc.h"
#include "kn_hash.h"

enum {
    FIRST_SLOTS = 64,
    BLOCK = 32,             /* texts looked up together    */
    CACHED_SLOTS = 1 << 15, /* a table that caches hold    */
    FIRST_NEAR = 64,
    MOST_NEAR = 1024, /* texts */
};

void kn_interner_init(kn_interner *interner, kn_context *ctx)
{
    *interner = (kn_interner){.ctx = ctx};
    kn_arena_init(&interner->bytes, ctx);
}

void kn_interner_seal(kn_interner *interner)
{
    kn_free(interner->slots);
    interner->slots = NULL;
    interner->mask = 0;
    kn_free(interner->near);
    interner->near = NULL;
}

void kn_interner_free(kn_interner *interner)
{
    kn_interner_seal(interner);
    kn_free(interner->texts);
    kn_arena_free(&interner->bytes);
    kn_interner_init(interner, interner->ctx);
}

static inline uint64_t load(const char *p, size_t n)
{
    uint64_t x = 0;
    memcpy(&x, p, n);
    return x;
}

/* Cells are short: up to 16 bytes are hashed as two overlapping words. */
static inline uint64_t hash_text(kn_string text)
{
    const char *p = text.data;
    size_t      n = text.size;
    if (n > 16) return kn_hash_bytes(p, n);
    uint64_t a, b;
    if (n >= 8) {
        a = load(p, 8);
        b = load(p + n - 8, 8);
    } else if (n >= 4) {
        a = load(p, 4);
        b = load(p + n - 4, 4);
    } else if (n > 0) {
        a = (uint64_t)(uint8_t)p[0] << 16 | (uint64_t)(uint8_t)p[n / 2] << 8 | (uint8_t)p[n - 1];
        b = 0;
    } else {
        a = b = 0;
    }
    return kn_hash_mix(a ^ 0x9e3779b97f4a7c15u ^ n, b ^ 0xd1342543de82ef95u);
}

static inline bool equal_bytes(const char *a, const char *b, size_t n)
{
    if (n >= 8) {
        if (n <= 16) return load(a, 8) == load(b, 8) && load(a + n - 8, 8) == load(b + n - 8, 8);
        return memcmp(a, b, n) == 0;
    }
    if (n >= 4) return load(a, 4) == load(b, 4) && load(a + n - 4, 4) == load(b + n - 4, 4);
    return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

/* Doubles the table once it is two thirds full. */
static bool make_room(kn_interner *in)
{
    size_t slots = in->slots ? in->mask + 1 : 0;
    if (in->count * 3 < slots * 2) return true;
    size_t            wanted = slots ? slots * 2 : FIRST_SLOTS;
    kn_interner_slot *table = kn_alloc_array_zero(in->ctx, wanted, sizeof *table);
    if (!table) return false;
    /* The stored half does not determine the slot in a larger table: hash again, in the order in which the texts lie. */
    for (size_t i = 0; i < in->count; i++) {
        uint64_t hash = hash_text(in->texts[i]);
        size_t   at = (size_t)hash & (wanted - 1);
        while (table[at].id) at = (at + 1) & (wanted - 1);
        table[at] = (kn_interner_slot){(uint32_t)i + 1, (uint32_t)(hash >> 32)};
    }
    kn_free(in->slots);
    in->slots = table;
    in->mask = wanted - 1;
    return true;
}

/* The usual case, kept small: the text is known. 0: it is not. */
static inline uint32_t look_up(const kn_interner *in, kn_string text, uint64_t hash)
{
    if (!in->slots) return 0;
    for (size_t at = (size_t)hash & in->mask;; at = (at + 1) & in->mask) {
        kn_interner_slot slot = in->slots[at];
        if (slot.id == 0) return 0;
        if (slot.hash != (uint32_t)(hash >> 32)) continue;
        kn_string known = in->texts[slot.id - 1];
        if (known.size == text.size && equal_bytes(known.data, text.data, text.size)) return slot.id;
    }
}

static __attribute__((noinline)) uint32_t add(kn_interner *in, kn_string text, uint64_t hash, bool copy)
{
    if (in->count >= UINT32_MAX - 2 || !make_room(in)) return KN_ID_FAILED;
    if (!KN_GROW(in->ctx, &in->texts, &in->capacity, in->count + 1)) return KN_ID_FAILED;
    if (copy && text.size) {
        char *bytes = kn_arena_bytes(&in->bytes, text.size);
        if (!bytes) return KN_ID_FAILED;
        memcpy(bytes, text.data, text.size);
        text.data = bytes;
    }
    in->texts[in->count++] = text.size ? text : (kn_string){"", 0};
    size_t at = (size_t)hash & in->mask;
    while (in->slots[at].id) at = (at + 1) & in->mask;
    in->slots[at] = (kn_interner_slot){(uint32_t)in->count, (uint32_t)(hash >> 32)};
    return (uint32_t)in->count;
}

uint32_t kn_intern(kn_interner *interner, kn_string text)
{
    uint64_t hash = hash_text(text);
    uint32_t id = look_up(interner, text, hash);
    return id ? id : add(interner, text, hash, true);
}

/* ---- Few short texts ---- */

static void put_near(kn_interner_near *table, size_t mask, const kn_interner_near *entry)
{
    size_t at = kn_near_hash(entry->words, entry->size) & mask;
    while (table[at].id) at = (at + 1) & mask;
    table[at] = *entry;
}

/* Room for one more, in a table that is half full at most. */
static bool grow_near(kn_interner *in)
{
    size_t slots = in->near ? in->near_mask + 1 : 0;
    if (in->near_count * 2 < slots) return true;
    size_t            wanted = slots ? slots * 2 : FIRST_NEAR;
    kn_interner_near *table = kn_alloc_array_zero(in->ctx, wanted, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < slots; i++)
        if (in->near[i].id) put_near(table, wanted - 1, &in->near[i]);
    kn_free(in->near);
    in->near = table;
    in->near_mask = wanted - 1;
    return true;
}

uint32_t kn_intern_near(kn_interner *in, kn_string text)
{
    uint32_t id = kn_intern(in, text);
    if (id == KN_ID_FAILED || in->far) return id;
    if (in->count > MOST_NEAR) {
        kn_free(in->near);
        in->near = NULL;
        in->far = true;
    }
    if (in->far || text.size > KN_NEAR_SIZE) return id;
    kn_interner_near entry = {.size = (uint32_t)text.size, .id = id};
    kn_near_words(entry.words, text.data, text.size);
    if (!grow_near(in)) return KN_ID_FAILED;
    put_near(in->near, in->near_mask, &entry);
    in->near_count++;
    return id;
}

/* ---- Many at a time ---- */

/* Asks the memory for what look_up will read of each text: slots first, then the texts they name, then those texts' bytes.
 * Compilers leave out a call that does nothing else. */
static inline __attribute__((always_inline)) void fetch_block(const kn_interner *in, const uint64_t *hashes, int count)
{
    for (int i = 0; i < count; i++) __builtin_prefetch(&in->slots[hashes[i] & in->mask]);
    for (int i = 0; i < count; i++) {
        kn_interner_slot slot = in->slots[hashes[i] & in->mask];
        if (slot.id) __builtin_prefetch(&in->texts[slot.id - 1]);
    }
    for (int i = 0; i < count; i++) {
        kn_interner_slot slot = in->slots[hashes[i] & in->mask];
        if (slot.id && slot.hash == (uint32_t)(hashes[i] >> 32)) __builtin_prefetch(in->texts[slot.id - 1].data);
    }
}

bool kn_intern_all(kn_interner *in, const kn_string *texts, int count, uint32_t *ids)
{
    uint64_t hashes[BLOCK];
    bool     ok = true;
    for (int begin = 0; ok && begin < count; begin += BLOCK) {
        int block = count - begin < BLOCK ? count - begin : BLOCK;
        for (int i = 0; i < block; i++) hashes[i] = texts[begin + i].data ? hash_text(texts[begin + i]) : 0;
        if (in->mask >= CACHED_SLOTS) fetch_block(in, hashes, block);
        for (int i = 0; ok && i < block; i++) {
            kn_string text = texts[begin + i];
            uint32_t  id = text.data ? look_up(in, text, hashes[i]) : KN_ID_MISSING;
            if (text.data && !id) id = add(in, text, hashes[i], true);
            ids[begin + i] = id;
            ok = id != KN_ID_FAILED;
        }
    }
    return ok;
}

uint32_t kn_intern_borrowed(kn_interner *interner, kn_string text)
{
    uint64_t hash = hash_text(text);
    uint32_t id = look_up(interner, text, hash);
    return id ? id : add(interner, text, hash, false);
}

uint32_t kn_interner_find(const kn_interner *interner, kn_string text)
{
    return look_up(interner, text, hash_text(text));
}
