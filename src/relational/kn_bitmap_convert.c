/* kn_bitmap_convert.c: a forest → which bit each of its nodes is. See kn_bitmap.h for what a bit means.
 *
 * A fact is interned as (its parent's bit, its table and quasi-identifiers, its number among equal siblings). Facts are
 * numbered as they first come up, and the forest's order depends on values alone, so the numbers do too.
 *
 * Cost: linear in the forest's nodes. Memory: 4 bytes per node, 32 per distinct fact at most.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitmap.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hash.h"

enum { CHUNK = 4096 };

/* ---- Keys of a fixed number of words → 0, 1, 2, ... ---- */

typedef struct interner {
    kn_context *ctx;
    size_t      size; /* words per key */
    uint32_t   *words;
    size_t      capacity;
    uint32_t    count;
    uint32_t   *slots; /* KN_FOREST_NONE: free */
    size_t      mask;
} interner;

static uint64_t hash_key(const interner *in, const uint32_t *key)
{
    return kn_hash_bytes(key, in->size * sizeof *key);
}

static bool rehash(interner *in, size_t places)
{
    uint32_t *slots = kn_alloc_array(in->ctx, places, sizeof *slots);
    if (!slots) return false;
    memset(slots, 0xff, places * sizeof *slots);
    for (uint32_t i = 0; i < in->count; i++) {
        size_t at = (size_t)hash_key(in, in->words + i * in->size) & (places - 1);
        while (slots[at] != KN_FOREST_NONE) at = (at + 1) & (places - 1);
        slots[at] = i;
    }
    kn_free(in->slots);
    in->slots = slots;
    in->mask = places - 1;
    return true;
}

static bool intern(interner *in, const uint32_t *key, uint32_t *out)
{
    if (!in->slots && !rehash(in, 64)) return false;
    if ((size_t)in->count * 2 > in->mask && !rehash(in, (in->mask + 1) * 2)) return false;
    size_t at = (size_t)hash_key(in, key) & in->mask;
    for (; in->slots[at] != KN_FOREST_NONE; at = (at + 1) & in->mask)
        if (memcmp(in->words + in->slots[at] * in->size, key, in->size * sizeof *key) == 0) {
            *out = in->slots[at];
            return true;
        }
    if (!KN_GROW(in->ctx, &in->words, &in->capacity, ((size_t)in->count + 1) * in->size)) return false;
    memcpy(in->words + in->count * in->size, key, in->size * sizeof *key);
    *out = in->slots[at] = in->count++;
    return true;
}

static void interner_free(interner *in)
{
    KN_FREE(in->words, in->slots);
}

/* ---- Facts ---- */

/* The number of the (table, quasi-identifiers) at the top of each distinct subtree. */
static kn_status number_tops(uint32_t **out, kn_context *ctx, const kn_forest *f, kn_error *err)
{
    size_t width = 0;
    for (int t = 0; t < f->db->table_count; t++)
        if ((size_t)f->db->tables[t].quasi_count > width) width = (size_t)f->db->tables[t].quasi_count;
    interner  in = {.ctx = ctx, .size = 1 + width};
    uint32_t *top = *out = kn_alloc_array(ctx, (size_t)f->subtrees + 1, sizeof *top);
    uint32_t *key = kn_alloc_array_zero(ctx, in.size, sizeof *key);
    bool      room = top && key;
    for (uint32_t s = 0; room && s < f->subtrees; s++) {
        uint64_t node = f->example[s];
        int      count = f->db->tables[f->table[node]].quasi_count;
        memset(key, 0, in.size * sizeof *key);
        key[0] = f->table[node];
        for (int q = 0; q < count; q++) key[1 + q] = kn_forest_leaf(f, node, q);
        room = intern(&in, key, &top[s]);
    }
    kn_free(key);
    interner_free(&in);
    return room ? KN_OK : kn_fail_memory(err, ctx, "converting a database to bits");
}

/* Equal siblings are neighbours: their numbers are counted up on the way. */
static bool number_facts(kn_bitmap *b, interner *facts, const uint32_t *top, int64_t entity)
{
    const kn_forest *f = b->forest;
    uint64_t         begin = f->start[entity];
    uint32_t         number = 0;
    b->bit[begin] = KN_FOREST_NONE;
    for (uint64_t n = begin + 1; n < f->start[entity + 1]; n++) {
        uint32_t key[3] = {b->bit[begin + f->parent[n]], top[f->subtree[n]], 0}, before = facts->count;
        bool again = n > begin + 1 && f->parent[n] == f->parent[n - 1] && top[f->subtree[n]] == top[f->subtree[n - 1]];
        key[2] = number = again ? number + 1 : 0;
        if (!intern(facts, key, &b->bit[n])) return false;
        if (facts->count > before && number > 0) b->repeated++;
    }
    return true;
}

static kn_status fill(kn_bitmap *b, interner *facts, const uint32_t *top, kn_error *err)
{
    int64_t entities = b->forest->entities;
    for (int64_t e = 0; e < entities; e++) {
        if (e % CHUNK == 0) {
            if (kn_cancelled(b->ctx)) return kn_fail_cancelled(err);
            kn_progress_add(b->ctx, (uint64_t)(entities - e < CHUNK ? entities - e : CHUNK));
        }
        if (facts->count > UINT32_MAX - 2 - (uint32_t)(b->forest->start[e + 1] - b->forest->start[e]))
            return kn_fail(err, KN_INPUT, "bitmap: more than 2^32 - 2 different facts");
        if (!number_facts(b, facts, top, e)) return kn_fail_memory(err, b->ctx, "converting a database to bits");
    }
    b->bits = facts->count;
    return KN_OK;
}

kn_status kn_bitmap_make(kn_bitmap **out, kn_context *ctx, const kn_forest *forest, kn_error *err)
{
    *out = NULL;
    kn_bitmap *b = kn_alloc_zero(ctx, sizeof *b);
    if (!b) return kn_fail_memory(err, ctx, "converting a database to bits");
    b->ctx = ctx;
    b->forest = forest;
    interner  facts = {.ctx = ctx, .size = 3};
    uint32_t *top = NULL;
    kn_status st = number_tops(&top, ctx, forest, err);
    if (st == KN_OK && !(b->bit = kn_alloc_array(ctx, forest->nodes + 1, sizeof *b->bit)))
        st = kn_fail_memory(err, ctx, "converting a database to bits");
    if (st == KN_OK) {
        kn_progress_begin(ctx, "converting to bits", "persons", (uint64_t)forest->entities);
        st = fill(b, &facts, top, err);
        kn_progress_end(ctx);
    }
    interner_free(&facts);
    kn_free(top);
    if (st == KN_OK)
        *out = b;
    else
        kn_bitmap_free(b);
    return st;
}

void kn_bitmap_free(kn_bitmap *b)
{
    if (!b) return;
    KN_FREE(b->bit, b);
}
