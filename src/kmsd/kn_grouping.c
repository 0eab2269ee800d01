/* kn_grouping.c: grouping rows attribute by attribute (kn_grouping.h).
 *
 * One hash table over (group, label), in row order, so that groups are numbered by their first rows whatever the number of
 * threads. Cost: one look-up per row and attribute; memory: 4 bytes per row and group, and a table of 16 bytes per two
 * thirds of the groups to come.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_grouping.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hash.h"

#define WHAT "grouping rows"

typedef struct slot {
    uint64_t key;
    uint32_t group; /* UINT32_MAX: empty */
} slot;

typedef struct table {
    kn_context *ctx;
    slot       *slots;
    size_t      mask;
    size_t      used;
} table;

static bool table_make(table *t, kn_context *ctx, size_t size)
{
    *t = (table){.ctx = ctx, .mask = size - 1};
    t->slots = kn_alloc_array(ctx, size, sizeof *t->slots);
    if (t->slots) memset(t->slots, 0xff, size * sizeof *t->slots);
    return t->slots != NULL;
}

static slot *find(const table *t, uint64_t key)
{
    size_t at = (size_t)kn_hash_word(key) & t->mask;
    while (t->slots[at].group != UINT32_MAX && t->slots[at].key != key) at = (at + 1) & t->mask;
    return &t->slots[at];
}

static bool grow(table *t)
{
    table larger;
    if (!table_make(&larger, t->ctx, 2 * (t->mask + 1))) return false;
    for (size_t i = 0; i <= t->mask; i++)
        if (t->slots[i].group != UINT32_MAX) *find(&larger, t->slots[i].key) = t->slots[i];
    larger.used = t->used;
    kn_free(t->slots);
    *t = larger;
    return true;
}

kn_status kn_grouping_make(kn_grouping *out, kn_context *ctx, uint32_t rows, kn_error *err)
{
    *out = (kn_grouping){.ctx = ctx, .rows = rows, .groups = rows > 0};
    if (!KN_ALLOC_ZERO(ctx, out->group_of, (size_t)rows + 1) || !KN_ALLOC(ctx, out->sizes, 1)) {
        kn_grouping_free(out);
        return kn_fail_memory(err, ctx, WHAT);
    }
    out->sizes[0] = rows;
    return KN_OK;
}

void kn_grouping_free(kn_grouping *grouping)
{
    KN_FREE(grouping->group_of, grouping->sizes, grouping->starts, grouping->members);
    *grouping = (kn_grouping){0};
}

static kn_status number_rows(kn_grouping *out, table *t, const kn_grouping *from, const uint32_t *nodes,
                             const kn_hierarchy *h, kn_error *err)
{
    size_t capacity = 0;
    for (uint32_t row = 0; row < from->rows; row++) {
        uint32_t label = nodes[row] == h->leaves ? UINT32_MAX : h->label[nodes[row]]; /* missing is no empty text */
        uint64_t key = (uint64_t)from->group_of[row] << 32 | label;
        slot    *s = find(t, key);
        if ((row & 0xffff) == 0 && kn_cancelled(from->ctx)) return kn_fail_cancelled(err);
        if (s->group == UINT32_MAX) {
            if (3 * (t->used + 1) > 2 * t->mask) {
                if (!grow(t)) return kn_fail_memory(err, from->ctx, WHAT);
                s = find(t, key);
            }
            if (!KN_GROW(from->ctx, &out->sizes, &capacity, (size_t)out->groups + 1))
                return kn_fail_memory(err, from->ctx, WHAT);
            *s = (slot){key, out->groups};
            t->used++;
            out->sizes[out->groups++] = 0;
        }
        out->group_of[row] = s->group;
        out->sizes[s->group]++;
    }
    return KN_OK;
}

kn_status kn_grouping_refine(kn_grouping *out, const kn_grouping *from, const uint32_t *nodes, const kn_hierarchy *h,
                             kn_error *err)
{
    table t = {0};
    *out = (kn_grouping){.ctx = from->ctx, .rows = from->rows};
    out->group_of = kn_alloc_array(from->ctx, (size_t)from->rows + 1, sizeof *out->group_of);
    if (!out->group_of || !table_make(&t, from->ctx, 1024)) {
        kn_grouping_free(out);
        return kn_fail_memory(err, from->ctx, WHAT);
    }
    kn_status status = number_rows(out, &t, from, nodes, h, err);
    kn_free(t.slots);
    if (status != KN_OK) kn_grouping_free(out);
    return status;
}

kn_status kn_grouping_list(kn_grouping *g, kn_error *err)
{
    if (g->members) return KN_OK;
    if (!KN_ALLOC_ZERO(g->ctx, g->starts, (size_t)g->groups + 2) || !KN_ALLOC(g->ctx, g->members, (size_t)g->rows + 1))
        return kn_fail_memory(err, g->ctx, WHAT);
    /* starts[i + 1] first holds where the next row of group i goes, and where group i + 1 begins when all are placed. */
    for (uint32_t i = 0; i + 1 < g->groups; i++) g->starts[i + 2] = g->starts[i + 1] + g->sizes[i];
    for (uint32_t row = 0; row < g->rows; row++) g->members[g->starts[g->group_of[row] + 1]++] = row;
    return KN_OK;
}
