/* table/group.c: rows with equal keys → groups, by hashing.
 *
 * The parts of a key are packed into 32-bit words as far as they fit; each word refines the groups found so far by one
 * pass over the rows. Groups are numbered as they first appear, so the result does not depend on anything else. Cost:
 * O(rows) per word; a row that equals the one above it costs no look-up. Memory: 4 bytes per row, 16 to 32 per group.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

typedef struct refiner {
    kn_context *ctx;
    uint64_t   *keys; /* + 1; 0: free */
    uint32_t   *numbers;
    size_t      mask;
    uint32_t    count;
} refiner;

static bool refiner_grow(refiner *f)
{
    if (f->keys && (size_t)f->count * 2 < f->mask + 1) return true;
    size_t    size = f->keys ? (f->mask + 1) * 2 : 1024;
    uint64_t *keys = kn_alloc_array_zero(f->ctx, size, sizeof *keys);
    uint32_t *numbers = kn_alloc_array(f->ctx, size, sizeof *numbers);
    if (!keys || !numbers) {
        kn_free(keys);
        kn_free(numbers);
        return false;
    }
    for (size_t i = 0; f->keys && i <= f->mask; i++) {
        if (!f->keys[i]) continue;
        size_t at = kn_hash_word(f->keys[i]) & (size - 1);
        while (keys[at]) at = (at + 1) & (size - 1);
        keys[at] = f->keys[i];
        numbers[at] = f->numbers[i];
    }
    kn_free(f->keys);
    kn_free(f->numbers);
    f->keys = keys;
    f->numbers = numbers;
    f->mask = size - 1;
    return true;
}

static uint32_t refine(refiner *f, uint64_t key)
{
    key++; /* KN_V_NONE never is a group, so this does not wrap */
    if (!refiner_grow(f)) return KN_V_NONE;
    size_t at = kn_hash_word(key) & f->mask;
    for (; f->keys[at]; at = (at + 1) & f->mask)
        if (f->keys[at] == key) return f->numbers[at];
    f->keys[at] = key;
    f->numbers[at] = f->count;
    return f->count++;
}

static inline uint32_t part_of(const kn_vkey *key, int64_t row)
{
    if (key->rows) row = key->rows[row];
    if (!key->column) return key->direct[row];
    uint32_t code = kn_vcode(key->column, row);
    return key->translate ? key->translate[code] : code;
}

/* How the parts of a key are packed. */
typedef struct packing {
    int      bits;    /* 32 where nothing is known of them */
    uint32_t missing; /* what stands for KN_V_MISSING       */
} packing;

static packing packing_of(const kn_vkey *key)
{
    if (!key->column) return (packing){32, KN_V_MISSING};
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
    refiner   f = {.ctx = ctx};
    uint64_t  above = 0;
    uint32_t  number = KN_V_NONE;
    kn_status st = KN_OK;
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
            number = refine(&f, key);
            above = key;
            if (number == KN_V_NONE) st = kn_fail_memory(err, ctx, "verifying");
        }
        g->of_row[row] = number;
        if (row % 65536 == 0 && kn_cancelled(ctx)) st = kn_fail_cancelled(err);
    }
    g->count = f.count;
    kn_free(f.keys);
    kn_free(f.numbers);
    return st;
}

static kn_status count_rows(kn_vgroups *g, kn_context *ctx, int64_t rows, kn_error *err)
{
    g->rows = kn_alloc_array_zero(ctx, (size_t)g->count + 1, sizeof *g->rows);
    g->first = kn_alloc_array(ctx, (size_t)g->count + 1, sizeof *g->first);
    if (!g->rows || !g->first) return kn_fail_memory(err, ctx, "verifying");
    for (int64_t row = 0; row < rows; row++) {
        uint32_t group = g->of_row[row];
        if (group == KN_V_NONE) continue;
        if (g->rows[group]++ == 0) g->first[group] = row;
    }
    return KN_OK;
}

kn_status kn_vgroup(kn_vgroups *g, kn_context *ctx, int64_t rows, const kn_vkey *keys, int key_count, kn_error *err)
{
    *g = (kn_vgroups){0};
    packing *packed = kn_alloc_array(ctx, (size_t)key_count + 1, sizeof *packed);
    g->of_row = kn_alloc_array_zero(ctx, (size_t)rows + 1, sizeof *g->of_row);
    kn_status st = packed && g->of_row ? KN_OK : kn_fail_memory(err, ctx, "verifying");
    for (int i = 0; st == KN_OK && i < key_count; i++) packed[i] = packing_of(&keys[i]);
    for (int from = 0, to; st == KN_OK && from < key_count; from = to) {
        int sum = 0;
        for (to = from; to < key_count && sum + packed[to].bits <= 32; to++) sum += packed[to].bits;
        st = pass(g, ctx, rows, keys, packed, from, to, err);
    }
    kn_free(packed);
    return st == KN_OK ? count_rows(g, ctx, rows, err) : st;
}

void kn_vgroups_free(kn_vgroups *g)
{
    kn_free(g->of_row);
    kn_free(g->rows);
    kn_free(g->first);
    *g = (kn_vgroups){0};
}
