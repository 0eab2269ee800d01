/* texts.c: texts → dense numbers: an open-addressing table of hash halves and numbers; the same with all texts in one block, and
 * for words of 64 bits.
 *
 * A hash only says where to look; texts are compared byte by byte. Cost: O(1) expected per text; 8 to 16 bytes per slot,
 * 16 per text, and its bytes where they are kept here. 24 to 48 bytes per word.
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
    kn_free(t->quick);
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

/* The slot of a text, or the free one where it belongs. */
static inline size_t slot_of(const kn_texts *t, kn_string text, uint32_t hash)
{
    size_t at = hash & t->mask;
    while (t->slots[at] &&
           ((uint32_t)(t->slots[at] >> 32) != hash || !kn_string_equal(t->texts[(uint32_t)t->slots[at] - 1], text)))
        at = (at + 1) & t->mask;
    return at;
}

uint32_t kn_texts_add(kn_texts *t, kn_string text, bool copy)
{
    if (!grow(t)) return KN_V_NONE;
    uint32_t hash = half(text);
    size_t   at = slot_of(t, text, hash);
    if (t->slots[at]) return (uint32_t)t->slots[at] - 1;
    void *texts = t->texts;
    if (t->count >= KN_V_MISSING - 1 || !kn_grow(t->ctx, &texts, &t->capacity, (size_t)t->count + 1, sizeof *t->texts))
        return KN_V_NONE;
    t->texts = texts;
    if (copy && !(text.data = kn_arena_strndup(&t->bytes, text.data, text.size))) return KN_V_NONE;
    t->texts[t->count] = text;
    t->slots[at] = (uint64_t)hash << 32 | (t->count + 1);
    return t->count++;
}

/* ---- Short texts, as long as there are few ---- */

enum { FIRST_QUICK = 64, MOST_QUICK = 1024 };

static void put_quick(kn_vshort *quick, uint32_t mask, const kn_vshort *text)
{
    uint32_t at = kn_vshort_slot(text->words, text->size) & mask;
    while (quick[at].place) at = (at + 1) & mask;
    quick[at] = *text;
}

static bool grow_quick(kn_texts *t)
{
    uint32_t size = t->quick ? t->quick_mask + 1 : 0;
    if (t->quick_count < size / 2) return true;
    uint32_t   wanted = size ? size * 2 : FIRST_QUICK;
    kn_vshort *quick = kn_alloc_array_zero(t->ctx, wanted, sizeof *quick);
    if (!quick) return false;
    for (uint32_t i = 0; i < size; i++)
        if (t->quick[i].place) put_quick(quick, wanted - 1, &t->quick[i]);
    kn_free(t->quick);
    t->quick = quick;
    t->quick_mask = wanted - 1;
    return true;
}

uint32_t kn_texts_add_short(kn_texts *t, kn_string text)
{
    uint32_t number = kn_texts_add(t, text, true);
    if (number == KN_V_NONE) return number;
    if (t->count > MOST_QUICK) {
        kn_free(t->quick);
        t->quick = NULL;
        return number;
    }
    if (text.size > KN_VSHORT) return number;
    kn_vshort entry = {.size = (uint32_t)text.size, .place = number + 1};
    kn_vshort_words(entry.words, text);
    if (!grow_quick(t)) return KN_V_NONE;
    put_quick(t->quick, t->quick_mask, &entry);
    t->quick_count++;
    return number;
}

uint32_t kn_texts_find(const kn_texts *t, kn_string text)
{
    size_t at = t->slots ? slot_of(t, text, half(text)) : 0;
    return t->slots && t->slots[at] ? (uint32_t)t->slots[at] - 1 : KN_V_NONE;
}

/* ---- In one block ---- */

static void place(uint64_t *slots, size_t mask, uint64_t slot)
{
    size_t at = (size_t)(slot >> 32) & mask;
    while (slots[at]) at = (at + 1) & mask;
    slots[at] = slot;
}

/* Room for one more; the first time, for all that came in their order. */
static bool grow_slots(kn_vwords *w, kn_context *ctx)
{
    if (w->slots && (size_t)w->count * 2 < w->mask + 1) return true;
    size_t size = w->slots ? (w->mask + 1) * 2 : 64;
    while (size <= (size_t)w->count * 2) size *= 2;
    uint64_t *slots = kn_alloc_array_zero(ctx, size, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; w->slots && i <= w->mask; i++)
        if (w->slots[i]) place(slots, size - 1, w->slots[i]);
    for (uint32_t i = 0; !w->slots && i < w->count; i++)
        place(slots, size - 1, (uint64_t)half(kn_vwords_text(w, i)) << 32 | (i + 1));
    kn_free(w->slots);
    w->slots = slots;
    w->mask = size - 1;
    return true;
}

/* The text from `number` on begins beyond one more 2^32. */
static bool turn(kn_vwords *w, kn_context *ctx, uint32_t number)
{
    if (!w->turns) w->turns = kn_alloc_array(ctx, KN_VWORDS_TURNS, sizeof *w->turns);
    if (!w->turns || w->turn_count == KN_VWORDS_TURNS) return false;
    w->turns[w->turn_count++] = number;
    return true;
}

static bool put(kn_vwords *w, kn_context *ctx, kn_string text)
{
    size_t end = w->size + text.size;
    if (w->count >= KN_V_MISSING - 1 ||
        !kn_grow(ctx, &w->starts, &w->capacity, (size_t)w->count + 2, sizeof *w->starts) ||
        !kn_grow(ctx, &w->bytes, &w->room, end + 1, 1))
        return false;
    if (end >> 32 != w->size >> 32 && !turn(w, ctx, w->count + 1)) return false;
    if (w->count == 0) w->starts[0] = 0;
    if (text.size > 0) memcpy(w->bytes + w->size, text.data, text.size);
    w->starts[++w->count] = (uint32_t)end;
    w->size = end;
    return true;
}

/* Keys are often read in their order: then nothing need be looked up. Shorter texts come first, so that numbers do. */
static int compare_with_last(const kn_vwords *w, kn_string text)
{
    if (w->count == 0) return 1;
    kn_string last = kn_vwords_text(w, w->count - 1);
    if (text.size != last.size) return text.size < last.size ? -1 : 1;
    return text.size > 0 ? memcmp(text.data, last.data, text.size) : 0;
}

static uint32_t add_word(kn_vwords *w, kn_context *ctx, kn_string text, uint32_t hash)
{
    if (!grow_slots(w, ctx)) return KN_V_NONE;
    size_t at = hash & w->mask;
    for (; w->slots[at]; at = (at + 1) & w->mask)
        if ((uint32_t)(w->slots[at] >> 32) == hash &&
            kn_string_equal(kn_vwords_text(w, (uint32_t)w->slots[at] - 1), text))
            return (uint32_t)w->slots[at] - 1;
    if (!put(w, ctx, text)) return KN_V_NONE;
    w->slots[at] = (uint64_t)hash << 32 | w->count;
    return w->count - 1;
}

uint32_t kn_vwords_add(kn_vwords *w, kn_context *ctx, kn_string text)
{
    if (w->slots) return add_word(w, ctx, text, half(text));
    int order = compare_with_last(w, text);
    if (order < 0) return add_word(w, ctx, text, half(text));
    return order == 0 || put(w, ctx, text) ? w->count - 1 : KN_V_NONE;
}

enum { TOGETHER = 16, MANY = 1 << 9 }; /* texts that are looked up together; more than the caches nearby hold */

/* Memory is asked for all of them before any is looked up: slots, then where their texts are, then these. */
static inline __attribute__((always_inline)) void ask_for(const uint64_t *slots, size_t mask, const kn_vwords *w,
                                                          const uint32_t *hashes, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t slot = slots[hashes[i] & mask];
        if (slot && slot >> 32 == hashes[i]) __builtin_prefetch(&w->starts[(uint32_t)slot - 1]);
    }
    for (int i = 0; i < count; i++) {
        uint64_t slot = slots[hashes[i] & mask];
        if (slot && slot >> 32 == hashes[i]) __builtin_prefetch(kn_vwords_text(w, (uint32_t)slot - 1).data);
    }
}

bool kn_vwords_add_all(kn_vwords *w, kn_context *ctx, const kn_string *texts, int count, uint32_t *numbers)
{
    uint32_t hashes[TOGETHER] = {0};
    bool     good = true;
    for (int begin = 0; good && begin < count; begin += TOGETHER) {
        int end = count - begin < TOGETHER ? count : begin + TOGETHER;
        for (int i = begin; w->slots && i < end; i++) {
            hashes[i - begin] = texts[i].data ? half(texts[i]) : 0;
            __builtin_prefetch(&w->slots[hashes[i - begin] & w->mask]);
        }
        bool hashed = w->slots != NULL;
        if (hashed && w->count > MANY) ask_for(w->slots, w->mask, w, hashes, end - begin);
        for (int i = begin; good && i < end; i++) {
            bool again = i > 0 && texts[i].data && texts[i - 1].data && kn_string_equal(texts[i], texts[i - 1]);
            numbers[i] = KN_V_NONE;
            if (!texts[i].data) continue;
            numbers[i] = again    ? numbers[i - 1]
                         : hashed ? add_word(w, ctx, texts[i], hashes[i - begin])
                                  : kn_vwords_add(w, ctx, texts[i]);
            good = numbers[i] != KN_V_NONE;
        }
    }
    return good;
}

bool kn_vwords_settle(kn_vwords *w, kn_context *ctx)
{
    kn_free(w->slots);
    w->slots = NULL;
    if (w->count == 0) return true;
    void *starts = kn_realloc_array(ctx, w->starts, (size_t)w->count + 1, sizeof *w->starts);
    if (starts) w->starts = starts;
    void *bytes = kn_realloc_array(ctx, w->bytes, w->size + 1, 1);
    if (bytes) w->bytes = bytes;
    return starts && bytes;
}

void kn_vwords_free(kn_vwords *w)
{
    KN_FREE(w->bytes, w->starts, w->slots, w->turns);
    *w = (kn_vwords){0};
}

/* ---- From one column to another ---- */

/* Both are mostly in one order (keys and what refers to them): is it one of the next? */
static uint32_t find_near(const kn_vcolumn *in, uint32_t next, kn_string text)
{
    for (uint32_t t = next; t < in->count && t - next < 4; t++)
        if (kn_string_equal(kn_vtext(in, t), text)) return t;
    return KN_V_NONE;
}

/* The places of a column's texts, which are all different: as in kn_texts, without the texts. */
typedef struct places {
    uint64_t *slots;
    size_t    mask;
} places;

static bool make_places(places *p, kn_context *ctx, const kn_vcolumn *in)
{
    uint32_t hashes[TOGETHER];
    size_t   size = 64;
    while (size < (size_t)in->count * 2) size *= 2;
    p->slots = kn_alloc_array_zero(ctx, size, sizeof *p->slots);
    p->mask = size - 1;
    for (uint32_t begin = 0; p->slots && begin < in->count; begin += TOGETHER) {
        uint32_t count = in->count - begin < TOGETHER ? in->count - begin : TOGETHER;
        for (uint32_t i = 0; i < count; i++) {
            hashes[i] = half(kn_vtext(in, begin + i));
            __builtin_prefetch(&p->slots[hashes[i] & p->mask], 1);
        }
        for (uint32_t i = 0; i < count; i++) place(p->slots, p->mask, (uint64_t)hashes[i] << 32 | (begin + i + 1));
    }
    return p->slots != NULL;
}

static uint32_t find_place(const places *p, const kn_vcolumn *in, kn_string text, uint32_t hash)
{
    for (size_t at = hash & p->mask; p->slots[at]; at = (at + 1) & p->mask) {
        uint32_t i = (uint32_t)p->slots[at] - 1;
        if ((uint32_t)(p->slots[at] >> 32) == hash && kn_string_equal(kn_vtext(in, i), text)) return i;
    }
    return KN_V_NONE;
}

/* Texts in any order. */
static void find_all(uint32_t *to, const places *p, const kn_vcolumn *from, uint32_t begin, uint32_t end,
                     const kn_vcolumn *in)
{
    uint32_t hashes[TOGETHER], count;
    for (uint32_t at = begin; at < end; at += count) {
        count = end - at < TOGETHER ? end - at : TOGETHER;
        for (uint32_t i = 0; i < count; i++) {
            hashes[i] = half(kn_vtext(from, at + i));
            __builtin_prefetch(&p->slots[hashes[i] & p->mask]);
        }
        if (!in->texts) ask_for(p->slots, p->mask, &in->words, hashes, (int)count);
        for (uint32_t i = 0; i < count; i++) to[at + i] = find_place(p, in, kn_vtext(from, at + i), hashes[i]);
    }
}

enum { STRETCH = 256 }; /* texts of which one in four must be near, or all of the next ones are looked up */

bool kn_vcolumn_translate(uint32_t *to, kn_context *ctx, const kn_vcolumn *from, const kn_vcolumn *in)
{
    places   found_by = {NULL, 0}; /* made where the first text is not near */
    bool     good = to != NULL, ordered = true;
    uint32_t next = 0;
    for (uint32_t begin = 0, end; good && begin < from->count; begin = end) {
        uint32_t far = 0;
        end = from->count - begin < STRETCH ? from->count : begin + STRETCH;
        if (!ordered) find_all(to, &found_by, from, begin, end, in);
        for (uint32_t t = begin; ordered && good && t < end; t++) {
            uint32_t found = find_near(in, next, kn_vtext(from, t));
            far += found == KN_V_NONE;
            if (found == KN_V_NONE && !found_by.slots) good = make_places(&found_by, ctx, in);
            if (good && found == KN_V_NONE)
                found = find_place(&found_by, in, kn_vtext(from, t), half(kn_vtext(from, t)));
            if (found != KN_V_NONE) next = found + 1;
            to[t] = found;
        }
        ordered = ordered && far <= STRETCH - STRETCH / 4;
    }
    kn_free(found_by.slots);
    return good;
}

void kn_vnumbers_free(kn_vnumbers *n)
{
    kn_free(n->words);
    kn_free(n->numbers);
}

bool kn_vnumbers_grow(kn_vnumbers *n)
{
    kn_vnumbers more = {.ctx = n->ctx, .size = n->size ? n->size * 2 : 256, .count = n->count};
    more.words = kn_alloc_array_zero(n->ctx, more.size, sizeof *more.words);
    more.numbers = kn_alloc_array(n->ctx, more.size, sizeof *more.numbers);
    bool good = more.words && more.numbers;
    for (size_t i = 0; good && i < n->size; i++) {
        if (!n->words[i]) continue;
        size_t at = kn_hash_word(n->words[i]) & (more.size - 1);
        while (more.words[at]) at = (at + 1) & (more.size - 1);
        more.words[at] = n->words[i];
        more.numbers[at] = n->numbers[i];
    }
    kn_vnumbers_free(good ? n : &more);
    if (good) *n = more;
    return good;
}
