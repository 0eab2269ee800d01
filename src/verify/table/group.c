/* table/group.c: rows with equal keys → groups, by hashing.
 *
 * The parts of a key are packed into 32-bit words as far as they fit; each word refines the groups found so far by one
 * pass over the rows. Groups are numbered as they first appear, so the result does not depend on anything else. With
 * several threads each numbers the keys of some rows; the lists of these keys are joined in order by one thread, and the
 * rows renumbered. Cost: O(rows) per word, and for one thread the distinct keys of each piece; a row equal to the previous one
 * costs no look-up. Memory: 4 bytes per row, 16 to 32 per group, 8 per distinct key of a piece.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_internal.h"

enum { PIECE = 1 << 16 }; /* rows */

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
typedef struct passing {
    kn_context    *ctx;
    kn_vgroups    *g;
    int64_t        rows;
    const kn_vkey *keys;
    const packing *packed;
    int            from, to;
    struct piece  *pieces;
} passing;

/* The keys of some rows, numbered as they first appear there; then the numbers that they have among all. */
typedef struct piece {
    uint64_t *words;
    uint32_t  count;
} piece;

/* Numbers the keys of the rows [begin, end); KN_V_NONE: the row is left out. */
static kn_status number_rows(const passing *p, kn_vnumbers *groups, int64_t begin, int64_t end, kn_error *err)
{
    uint32_t *of_row = p->g->of_row;
    uint64_t  above = 0;
    uint32_t  number = KN_V_NONE;
    for (int64_t row = begin; row < end; row++) {
        uint32_t group = of_row[row], word = 0;
        if (group == KN_V_NONE) continue;
        bool out = false;
        for (int i = p->from; i < p->to; i++) {
            uint32_t part = part_of(&p->keys[i], row);
            if (part == KN_V_NONE) out = true;
            if (part == KN_V_MISSING) part = p->packed[i].missing;
            word = p->packed[i].bits == 32 ? part : word << p->packed[i].bits | part;
        }
        if (out) {
            of_row[row] = KN_V_NONE;
            continue;
        }
        uint64_t key = (uint64_t)group << 32 | word;
        if (number == KN_V_NONE || key != above) {
            number = kn_vnumbers_add(groups, key); /* KN_V_NONE never is a group: the key is below UINT64_MAX */
            above = key;
            if (number == KN_V_NONE) return kn_fail_memory(err, p->ctx, "verifying");
        }
        of_row[row] = number;
        if (row % 65536 == 0 && kn_cancelled(p->ctx)) return kn_fail_cancelled(err);
    }
    return KN_OK;
}

static kn_status number_piece(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const passing *p = arg;
    piece         *one = &p->pieces[begin / PIECE];
    kn_vnumbers    groups = {.ctx = p->ctx};
    (void)worker;
    kn_status st = number_rows(p, &groups, begin, end, err);
    one->count = groups.count;
    one->words = st == KN_OK ? kn_alloc_array(p->ctx, (size_t)groups.count + 1, sizeof *one->words) : NULL;
    if (st == KN_OK && !one->words) st = kn_fail_memory(err, p->ctx, "verifying");
    for (size_t i = 0; st == KN_OK && i < groups.size; i++)
        if (groups.words[i]) one->words[groups.numbers[i]] = groups.words[i] - 1;
    kn_vnumbers_free(&groups);
    return st;
}

static kn_status renumber_piece(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const passing *p = arg;
    const piece   *one = &p->pieces[begin / PIECE];
    (void)worker, (void)err;
    for (int64_t row = begin; row < end; row++) {
        uint32_t *number = &p->g->of_row[row];
        if (*number != KN_V_NONE) *number = (uint32_t)one->words[*number];
    }
    return KN_OK;
}

/* In the order of the pieces: keys get the numbers that they would get row by row. */
static kn_status join_pieces(passing *p, kn_error *err)
{
    kn_vnumbers all = {.ctx = p->ctx};
    kn_status   st = KN_OK;
    for (int64_t begin = 0; st == KN_OK && begin < p->rows; begin += PIECE) {
        piece *one = &p->pieces[begin / PIECE];
        for (uint32_t i = 0; st == KN_OK && i < one->count; i++) {
            uint32_t number = kn_vnumbers_add(&all, one->words[i]);
            if (number == KN_V_NONE) st = kn_fail_memory(err, p->ctx, "verifying");
            one->words[i] = number;
        }
        if (st == KN_OK && kn_cancelled(p->ctx)) st = kn_fail_cancelled(err);
    }
    p->g->count = all.count;
    kn_vnumbers_free(&all);
    return st;
}

static kn_status pass_in_pieces(passing *p, kn_error *err)
{
    size_t count = (size_t)((p->rows + PIECE - 1) / PIECE);
    p->pieces = kn_alloc_array_zero(p->ctx, count + 1, sizeof *p->pieces);
    if (!p->pieces) return kn_fail_memory(err, p->ctx, "verifying");
    kn_status st = kn_parallel_for(p->ctx, p->rows, PIECE, number_piece, p, err);
    if (st == KN_OK) st = join_pieces(p, err);
    if (st == KN_OK) st = kn_parallel_for(p->ctx, p->rows, PIECE, renumber_piece, p, err);
    for (size_t i = 0; i < count; i++) kn_free(p->pieces[i].words);
    kn_free(p->pieces);
    return st;
}

static kn_status pass(passing *p, kn_error *err)
{
    if (p->rows > PIECE && kn_context_threads(p->ctx) > 1) return pass_in_pieces(p, err);
    kn_vnumbers groups = {.ctx = p->ctx};
    kn_status   st = number_rows(p, &groups, 0, p->rows, err);
    p->g->count = groups.count;
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
        st = pass(&(passing){ctx, g, rows, keys, packed, from, to, NULL}, err);
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
