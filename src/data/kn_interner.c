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
    FULL_NEAR = 4,    /* slots for each text */
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

#define ONES UINT64_MAX
#define SOME(n) (ONES >> (64 - 8 * (n)))
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#undef SOME
#define SOME(n) (ONES << (64 - 8 * (n)))
#endif
const uint64_t kn_near_ones[KN_NEAR_HALF + 1][2] = {
    {0, 0},          {SOME(1), 0},    {SOME(2), 0},    {SOME(3), 0},    {SOME(4), 0},    {SOME(5), 0},
    {SOME(6), 0},    {SOME(7), 0},    {ONES, 0},       {ONES, SOME(1)}, {ONES, SOME(2)}, {ONES, SOME(3)},
    {ONES, SOME(4)}, {ONES, SOME(5)}, {ONES, SOME(6)}, {ONES, SOME(7)}, {ONES, ONES}};

static size_t near_slots(const kn_interner *in)
{
    return in->near ? (size_t)1 << (64 - in->near_shift) : 0;
}

/* The slot of a text, or the free one where it would be. */
static kn_interner_near *near_slot(const kn_interner *in, const kn_interner_near *entry)
{
    for (size_t at = kn_near_home(entry->words, entry->size, in->near_shift);; at = (at + 1) & (near_slots(in) - 1)) {
        kn_interner_near *slot = &in->near[at];
        if (slot->size == UINT32_MAX) return slot;
        if (slot->size == entry->size && memcmp(slot->words, entry->words, sizeof slot->words) == 0) return slot;
    }
}

static kn_interner_near near_entry(kn_string text)
{
    kn_interner_near entry = {.size = (uint32_t)text.size};
    char             bytes[KN_NEAR_SIZE] = {0}; /* nothing need be readable behind a text that was kept */
    memcpy(bytes, text.data, text.size);
    kn_near_words(entry.words, bytes, text.size, 4);
    return entry;
}

static void put_near(kn_interner *in, kn_interner_near *slot, const kn_interner_near *entry, size_t id)
{
    *slot = *entry;
    slot->id = (uint32_t)id;
    in->near_count++;
    if (entry->size > in->near_longest) in->near_longest = entry->size;
}

/* A larger table of all short texts, in the order in which they came: frequent ones come early and get the places where they are looked
 * for first. */
static bool grow_near(kn_interner *in)
{
    size_t slots = in->near ? near_slots(in) * 2 : FIRST_NEAR;
    while (slots <= in->count * FULL_NEAR) slots *= 2;
    kn_interner_near *table = kn_alloc_array(in->ctx, slots, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < slots; i++) table[i] = (kn_interner_near){.size = UINT32_MAX};
    kn_free(in->near);
    in->near = table;
    in->near_shift = 64 - __builtin_ctzll(slots);
    in->near_count = 0;
    for (size_t i = 0; i < in->count; i++) {
        if (in->texts[i].size > KN_NEAR_SIZE) continue;
        kn_interner_near entry = near_entry(in->texts[i]);
        put_near(in, near_slot(in, &entry), &entry, i + 1);
    }
    return true;
}

uint32_t kn_intern_near(kn_interner *in, kn_string text)
{
    bool             fits = !in->far && text.size <= KN_NEAR_SIZE;
    kn_interner_near entry = {0}, *slot = NULL;
    if (fits) entry = near_entry(text);
    if (fits && in->near) slot = near_slot(in, &entry);
    if (slot && slot->size != UINT32_MAX) return slot->id;
    uint32_t id = kn_intern(in, text);
    if (id == KN_ID_FAILED || in->far) return id;
    if (in->count > MOST_NEAR) {
        kn_free(in->near);
        in->near = NULL;
        in->far = true;
    } else if (fits && (!slot || (in->near_count + 1) * FULL_NEAR > near_slots(in))) {
        return grow_near(in) ? id : KN_ID_FAILED;
    } else if (fits) {
        put_near(in, slot, &entry, id);
    }
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
