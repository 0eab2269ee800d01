/* table/group.c: rows with equal keys → groups, by hashing.
 *
 * The parts of a key are packed into 32-bit words as far as they fit; each word refines the groups found so far by one
 * pass over the rows. Groups are numbered as they first appear, so the result does not depend on anything else. Cost:
 * O(rows) per word; a row equal to the previous one costs no look-up. Memory: 4 bytes per row, 16 to 32 per group.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

static inline uint32_t part_of(const kn_vkey *key, int64_t row)
{
    if (key->rows) row = key->rows[row];
    if (!key->column && !key->direct) return key->omit && key->omit[row] ? KN_V_NONE : 0;
    if (!key->column) return key->direct[row];
    uint32_t code = kn_vcode(key->column, row);
    return key->translate ? key->translate[code] : code;
}

/* How the parts of a key are packed. */
typedef struct packing {
    int      bits;    /* 32 if nothing is known about them */
    uint32_t missing; /* what stands for KN_V_MISSING       */
} packing;

static packing packing_of(const kn_vkey *key)
{
    if (!key->column) return (packing){key->direct ? 32 : 0, KN_V_MISSING};
    uint64_t most = 0;
    bool     missing = false;
    for (uint32_t i = 0; i < key->column->count; i++) {
        uint32_t part = key->translate ? key->translate[i] : i;
        if (part == KN_V_MISSING) missing = true;
        if (part < KN_V_MISSING && part > most) most = part;
    }
    uint32_t free_number = (uint32_t)most + 1;
    int      bits = 0;
    most += missing;
    while (most >> bits) bits++;
    return (packing){bits, free_number};
}

/* One pass over the rows with the parts [from, to). */
static kn_status pass(kn_vgroups *g, kn_context *ctx, int64_t rows, const kn_vkey *keys, const packing *packed,
                      int from, int to, kn_error *err)
{
    kn_vnumbers groups = {.ctx = ctx};
    uint64_t    above = 0;
    uint32_t    number = KN_V_NONE;
    kn_status   st = KN_OK;
    for (int64_t row = 0; row < rows && st == KN_OK; row++) {
        uint32_t group = g->of_row[row], word = 0;
        if (group == KN_V_NONE) continue;
        bool out = false;
        for (int i = from; i < to; i++) {
            uint32_t part = part_of(&keys[i], row);
            if (part == KN_V_NONE) out = true;
            if (part == KN_V_MISSING) part = packed[i].missing;
            word = packed[i].bits == 32 ? part : word << packed[i].bits | part;
        }
        if (out) {
            g->of_row[row] = KN_V_NONE;
            continue;
        }
        uint64_t key = (uint64_t)group << 32 | word;
        if (number == KN_V_NONE || key != above) {
            number = kn_vnumbers_add(&groups, key); /* KN_V_NONE never is a group: the key is below UINT64_MAX */
            above = key;
            if (number == KN_V_NONE) st = kn_fail_memory(err, ctx, "verifying");
        }
        g->of_row[row] = number;
        if (row % 65536 == 0 && kn_cancelled(ctx)) st = kn_fail_cancelled(err);
    }
    g->count = groups.count;
    kn_vnumbers_free(&groups);
    return st;
}

static kn_status count_rows(kn_vgroups *g, kn_context *ctx, int64_t rows, const int64_t *counts, kn_error *err)
{
    g->rows = kn_alloc_array_zero(ctx, (size_t)g->count + 1, sizeof *g->rows);
    g->first = kn_alloc_array(ctx, (size_t)g->count + 1, sizeof *g->first);
    if (!g->rows || !g->first) return kn_fail_memory(err, ctx, "verifying");
    for (int64_t row = 0; row < rows; row++) {
        uint32_t group = g->of_row[row];
        if (group == KN_V_NONE) continue;
        if (g->rows[group] == 0) g->first[group] = row;
        g->rows[group] += counts ? counts[row] : 1;
    }
    return KN_OK;
}

kn_status kn_vgroup(kn_vgroups *g, kn_context *ctx, int64_t rows, const int64_t *counts, const kn_vkey *keys,
                    int key_count, kn_error *err)
{
    packing *packed = kn_alloc_array(ctx, (size_t)key_count + 1, sizeof *packed);
    *g = (kn_vgroups){0};
    g->of_row = kn_alloc_array_zero(ctx, (size_t)rows + 1, sizeof *g->of_row);
    kn_status st = packed && g->of_row ? KN_OK : kn_fail_memory(err, ctx, "verifying");
    for (int i = 0; st == KN_OK && i < key_count; i++) packed[i] = packing_of(&keys[i]);
    for (int from = 0, to; st == KN_OK && from < key_count; from = to) {
        int sum = 0;
        for (to = from; to < key_count && sum + packed[to].bits <= 32; to++) sum += packed[to].bits;
        st = pass(g, ctx, rows, keys, packed, from, to, err);
    }
    kn_free(packed);
    return st == KN_OK ? count_rows(g, ctx, rows, counts, err) : st;
}

void kn_vgroups_free(kn_vgroups *g)
{
    kn_free(g->of_row);
    kn_free(g->rows);
    kn_free(g->first);
    *g = (kn_vgroups){0};
}
