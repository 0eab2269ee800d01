/* kn_miracle_store.c: equal subtrees get equal numbers, so that the cost of merging two of them can be remembered.
 *
 * Numbers are given bottom-up: a subtree is its root's values and the numbers of its children in their order. Two
 * hash tables with open addressing; keys are compared in full. Only one thread interns, while no other reads; any may
 * read in between.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_miracle.h"

static bool make_slots(kn_context *ctx, uint32_t **slots, size_t *mask, size_t places)
{
    uint32_t *made = kn_alloc_array(ctx, places, sizeof *made);
    if (!made) return false;
    memset(made, 0xff, places * sizeof *made);
    kn_free(*slots);
    *slots = made;
    *mask = places - 1;
    return true;
}

kn_status kn_store_make(kn_store *out, kn_context *ctx, const kn_losses *losses, kn_error *err)
{
    *out = (kn_store){.ctx = ctx, .losses = losses, .epoch = 1};
    if (!make_slots(ctx, &out->value_slots, &out->value_mask, 256) ||
        !make_slots(ctx, &out->tree_slots, &out->tree_mask, 256))
        return kn_fail_memory(err, ctx, "interning subtrees");
    return KN_OK;
}

void kn_store_free(kn_store *s)
{
    KN_FREE(s->values, s->trees, s->pool, s->value_slots, s->tree_slots);
    *s = (kn_store){0};
}

void kn_store_forget(kn_store *s)
{
    s->epoch++;
    s->value_count = s->count = 0;
    s->pool_count = 0;
    memset(s->value_slots, 0xff, (s->value_mask + 1) * sizeof *s->value_slots);
    memset(s->tree_slots, 0xff, (s->tree_mask + 1) * sizeof *s->tree_slots);
}

static uint64_t hash_value(const kn_store *s, const uint32_t *words)
{
    return kn_hash_bytes(words, (1 + (size_t)s->losses->width) * sizeof *words);
}

static uint64_t hash_tree(uint32_t value, const uint32_t *children, uint32_t count)
{
    uint64_t words[2] = {((uint64_t)value << 32) | count, kn_hash_bytes(children, count * sizeof *children)};
    return kn_hash_words(words, 2);
}

/* Space for one more of each kind, and hash tables at most half full. */
static bool reserve(kn_store *s, uint32_t children)
{
    size_t width = 1 + (size_t)s->losses->width;
    bool   good = KN_GROW(s->ctx, &s->values, &s->value_capacity, ((size_t)s->value_count + 1) * width) &&
                KN_GROW(s->ctx, &s->trees, &s->capacity, (size_t)s->count + 1) &&
                KN_GROW(s->ctx, &s->pool, &s->pool_capacity, s->pool_count + children + 1);
    if (good && s->value_count * 2 > s->value_mask) {
        good = make_slots(s->ctx, &s->value_slots, &s->value_mask, (s->value_mask + 1) * 4);
        for (uint32_t i = 0; good && i < s->value_count; i++) {
            size_t at = (size_t)hash_value(s, s->values + i * width) & s->value_mask;
            while (s->value_slots[at] != KN_FOREST_NONE) at = (at + 1) & s->value_mask;
            s->value_slots[at] = i;
        }
    }
    if (good && s->count * 2 > s->tree_mask) {
        good = make_slots(s->ctx, &s->tree_slots, &s->tree_mask, (s->tree_mask + 1) * 4);
        for (uint32_t i = 0; good && i < s->count; i++) {
            const kn_subtree *t = &s->trees[i];
            size_t            at = (size_t)hash_tree(t->value, s->pool + t->first, t->count) & s->tree_mask;
            while (s->tree_slots[at] != KN_FOREST_NONE) at = (at + 1) & s->tree_mask;
            s->tree_slots[at] = i;
        }
    }
    return good;
}

static uint32_t intern_value(kn_store *s, uint32_t table, const uint32_t *values)
{
    size_t    width = 1 + (size_t)s->losses->width;
    uint32_t *words = s->values + s->value_count * width;
    words[0] = table;
    memcpy(words + 1, values, (width - 1) * sizeof *words);
    size_t at = (size_t)hash_value(s, words) & s->value_mask;
    for (; s->value_slots[at] != KN_FOREST_NONE; at = (at + 1) & s->value_mask)
        if (memcmp(s->values + s->value_slots[at] * width, words, width * sizeof *words) == 0)
            return s->value_slots[at];
    s->value_slots[at] = s->value_count;
    return s->value_count++;
}

/* The LM of the root's own cells. */
static uint64_t own_loss(const kn_store *s, const kn_subtree *t)
{
    size_t          width = (size_t)s->losses->width;
    const uint32_t *values = s->values + (size_t)t->value * (width + 1) + 1;
    uint64_t        sum = 0;
    for (size_t q = 0; q < (size_t)s->losses->quasi[t->table]; q++)
        sum += s->losses->lm[t->table * width + q][values[q]];
    return sum;
}

static uint32_t intern_tree(kn_store *s, uint32_t value, uint16_t table, const uint32_t *children, uint32_t count)
{
    size_t at = (size_t)hash_tree(value, children, count) & s->tree_mask;
    for (; s->tree_slots[at] != KN_FOREST_NONE; at = (at + 1) & s->tree_mask) {
        const kn_subtree *t = &s->trees[s->tree_slots[at]];
        if (t->value == value && t->count == count &&
            (count == 0 || memcmp(s->pool + t->first, children, count * sizeof *children) == 0))
            return s->tree_slots[at];
    }
    kn_subtree *t = &s->trees[s->count];
    *t = (kn_subtree){value, (uint32_t)s->pool_count, count, (uint32_t)s->losses->cells[table], 0, table};
    for (uint32_t i = 0; i < count; i++) {
        const kn_subtree *child = &s->trees[children[i]];
        s->pool[s->pool_count++] = children[i];
        t->cells += child->cells;
        t->below += child->below + own_loss(s, child);
    }
    s->tree_slots[at] = s->count;
    return s->count++;
}

kn_status kn_store_intern(kn_store *s, kn_cluster *c, kn_error *err)
{
    if (c->epoch == s->epoch) return KN_OK;
    for (uint32_t v = c->nodes; v-- > 0;) {
        if (!reserve(s, c->child_count[v])) return kn_fail_memory(err, s->ctx, "interning subtrees");
        uint32_t value = intern_value(s, c->table[v], c->values + (size_t)v * (size_t)s->losses->width);
        c->ids[v] = intern_tree(s, value, c->table[v], c->ids + c->first_child[v], c->child_count[v]);
    }
    c->epoch = s->epoch;
    return KN_OK;
}
