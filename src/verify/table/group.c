/* table/group.c: rows with equal keys → groups, by hashing.
 *
 * The parts of a key are packed into 32-bit words as far as they fit; each word refines the groups found so far by one
 * pass over the rows. Groups are numbered as they first appear, so the result does not depend on anything else. With
 * several threads each numbers the keys of some rows and counts them; the lists of these keys are joined in order by one
 * thread, and the rows renumbered. Cost: O(rows) per word, and for one thread the distinct keys of each piece; a row equal to the previous one
 * costs no look-up. Memory: 4 bytes per row, 16 to 32 per group, 8 per distinct key of a piece.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_internal.h"

enum { PIECE = 1 << 16, CHUNK = 512 }; /* rows: of a thread; packed at a time */

/* How the parts of a key are packed. */
typedef struct packing {
    int       bits;  /* 32 if nothing is known about them                                                       */
    uint32_t *parts; /* of a column, per code: what is packed, KN_V_NONE leaves the row out; NULL: the code itself */
    bool      some;  /* rows may be left out */
} packing;

/* Missing cells get the number behind the others. false: out of memory. */
static bool packing_of(packing *out, kn_context *ctx, const kn_vkey *key)
{
    uint64_t most = 0;
    bool     missing = false;
    *out = (packing){.bits = key->direct ? 32 : 0, .some = key->direct || key->omit};
    if (!key->column) return true;
    for (uint32_t i = 0; i < key->column->count; i++) {
        uint32_t part = key->translate ? key->translate[i] : i;
        if (part == KN_V_MISSING) missing = true;
        if (part == KN_V_NONE) out->some = true;
        if (part < KN_V_MISSING && part > most) most = part;
    }
    if (key->translate) {
        out->parts = kn_alloc_array(ctx, (size_t)key->column->count + 1, sizeof *out->parts);
        if (!out->parts) return false;
    }
    for (uint32_t i = 0; out->parts && i < key->column->count; i++)
        out->parts[i] = key->translate[i] == KN_V_MISSING ? (uint32_t)most + 1 : key->translate[i];
    most += missing;
    while (most >> out->bits) out->bits++;
    return true;
}

/* One pass over the rows with the parts [from, to). */
typedef struct passing {
    kn_context    *ctx;
    kn_vgroups    *g;
    int64_t        rows;
    const int64_t *counts;
    const kn_vkey *keys;
    const packing *packed;
    int            from, to;
    bool           last; /* the groups are then counted */
    struct piece  *pieces;
} passing;

/* The keys of some rows, numbered as they first appear there; then the numbers that they have among all. */
typedef struct piece {
    uint64_t *words;
    int64_t  *rows, *first; /* per key, in the last pass */
    uint32_t  count;
} piece;

/* Adds a part to the words of the rows from `begin` on. */
static void pack_column(const passing *p, int i, int64_t begin, int count, uint32_t *words, bool *out)
{
    const kn_vkey    *key = &p->keys[i];
    const kn_vcolumn *column = key->column;
    const uint32_t   *parts = p->packed[i].parts;
    int               bits = p->packed[i].bits;
    uint32_t          codes[CHUNK];
    if (key->rows)
        for (int r = 0; r < count; r++) codes[r] = kn_vcode(column, key->rows[begin + r]);
    else if (column->width == 1)
        for (int r = 0; r < count; r++) codes[r] = ((const uint8_t *)column->codes)[begin + r];
    else if (column->width == 2)
        for (int r = 0; r < count; r++) codes[r] = ((const uint16_t *)column->codes)[begin + r];
    else
        memcpy(codes, (const uint32_t *)column->codes + begin, (size_t)count * sizeof *codes);
    for (int r = 0; parts && r < count; r++) codes[r] = parts[codes[r]];
    for (int r = 0; p->packed[i].some && r < count; r++) out[r] = out[r] || codes[r] == KN_V_NONE;
    if (bits == 32)
        memcpy(words, codes, (size_t)count * sizeof *codes);
    else
        for (int r = 0; r < count; r++) words[r] = words[r] << bits | codes[r];
}

/* The words of the rows from `begin` on; out: the row is left out. */
static void pack_rows(const passing *p, int64_t begin, int count, uint32_t *words, bool *out)
{
    memset(words, 0, (size_t)count * sizeof *words);
    memset(out, 0, (size_t)count * sizeof *out);
    for (int i = p->from; i < p->to; i++) {
        const kn_vkey *key = &p->keys[i];
        if (key->column) {
            pack_column(p, i, begin, count, words, out);
            continue;
        }
        for (int r = 0; r < count; r++) {
            int64_t row = key->rows ? key->rows[begin + r] : begin + r;
            if (key->direct)
                words[r] = key->direct[row];
            else if (key->omit && key->omit[row])
                out[r] = true;
            if (key->direct && words[r] == KN_V_NONE) out[r] = true;
        }
    }
}

/* Numbers the keys of the rows [begin, end); KN_V_NONE: the row is left out. */
static kn_status number_rows(const passing *p, kn_vnumbers *groups, int64_t begin, int64_t end, kn_error *err)
{
    uint32_t words[CHUNK];
    bool     out[CHUNK];
    uint64_t above = 0;
    uint32_t number = KN_V_NONE;
    for (int64_t from = begin; from < end; from += CHUNK) {
        int       count = end - from < CHUNK ? (int)(end - from) : CHUNK;
        uint32_t *of_row = p->g->of_row + from;
        if (kn_cancelled(p->ctx)) return kn_fail_cancelled(err);
        pack_rows(p, from, count, words, out);
        for (int r = 0; r < count; r++) {
            uint64_t key = (uint64_t)of_row[r] << 32 | words[r];
            if (out[r] || of_row[r] == KN_V_NONE) {
                of_row[r] = KN_V_NONE;
                continue;
            }
            if (number == KN_V_NONE || key != above) {
                number = kn_vnumbers_add(groups, key); /* KN_V_NONE never is a group: the key is below UINT64_MAX */
                above = key;
                if (number == KN_V_NONE) return kn_fail_memory(err, p->ctx, "verifying");
            }
            of_row[r] = number;
        }
    }
    return KN_OK;
}

/* The rows of each of `count` groups among [begin, end), and the first of them. */
static void count_rows(const passing *p, int64_t begin, int64_t end, int64_t *rows, int64_t *first)
{
    const uint32_t *of_row = p->g->of_row;
    for (int64_t row = begin; row < end; row++) {
        uint32_t group = of_row[row];
        if (group == KN_V_NONE) continue;
        if (rows[group] == 0) first[group] = row;
        rows[group] += p->counts ? p->counts[row] : 1;
    }
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
    if (st != KN_OK || !p->last) return st;
    one->rows = kn_alloc_array_zero(p->ctx, (size_t)one->count + 1, sizeof *one->rows);
    one->first = kn_alloc_array(p->ctx, (size_t)one->count + 1, sizeof *one->first);
    if (!one->rows || !one->first) return kn_fail_memory(err, p->ctx, "verifying");
    count_rows(p, begin, end, one->rows, one->first);
    return KN_OK;
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

/* Joins the keys of a piece with those of the pieces before it, and how many rows they have. */
static bool join_piece(const passing *p, kn_vnumbers *all, size_t room[2], piece *one)
{
    for (uint32_t i = 0; i < one->count; i++) {
        uint32_t known = all->count, number = kn_vnumbers_add(all, one->words[i]);
        if (number == KN_V_NONE) return false;
        one->words[i] = number;
        if (!p->last) continue;
        if (number == known) {
            if (!KN_GROW(p->ctx, &p->g->rows, &room[0], (size_t)known + 1) ||
                !KN_GROW(p->ctx, &p->g->first, &room[1], (size_t)known + 1))
                return false;
            p->g->rows[number] = 0;
            p->g->first[number] = one->first[i];
        }
        p->g->rows[number] += one->rows[i];
    }
    return true;
}

/* In the order of the pieces: keys get the numbers that they would get row by row. */
static kn_status join_pieces(passing *p, kn_error *err)
{
    kn_vnumbers all = {.ctx = p->ctx};
    size_t      room[2] = {0, 0};
    kn_status   st = KN_OK;
    for (int64_t begin = 0; st == KN_OK && begin < p->rows; begin += PIECE) {
        if (!join_piece(p, &all, room, &p->pieces[begin / PIECE])) st = kn_fail_memory(err, p->ctx, "verifying");
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
    for (size_t i = 0; i < count; i++) KN_FREE(p->pieces[i].words, p->pieces[i].rows, p->pieces[i].first);
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

kn_status kn_vgroup(kn_vgroups *g, kn_context *ctx, int64_t rows, const int64_t *counts, const kn_vkey *keys,
                    int key_count, kn_error *err)
{
    packing *packed = kn_alloc_array_zero(ctx, (size_t)key_count + 1, sizeof *packed);
    passing  p = {.ctx = ctx, .g = g, .rows = rows, .counts = counts, .keys = keys, .packed = packed};
    *g = (kn_vgroups){0};
    g->of_row = kn_alloc_array_zero(ctx, (size_t)rows + 1, sizeof *g->of_row);
    bool good = packed && g->of_row;
    for (int i = 0; good && i < key_count; i++) good = packing_of(&packed[i], ctx, &keys[i]);
    kn_status st = good ? KN_OK : kn_fail_memory(err, ctx, "verifying");
    for (p.to = 0; st == KN_OK && p.to < key_count;) {
        int sum = 0;
        for (p.from = p.to; p.to < key_count && sum + packed[p.to].bits <= 32; p.to++) sum += packed[p.to].bits;
        p.last = p.to == key_count;
        st = pass(&p, err);
    }
    for (int i = 0; packed && i < key_count; i++) kn_free(packed[i].parts);
    kn_free(packed);
    if (st != KN_OK || g->rows) return st;
    g->rows = kn_alloc_array_zero(ctx, (size_t)g->count + 1, sizeof *g->rows);
    g->first = kn_alloc_array(ctx, (size_t)g->count + 1, sizeof *g->first);
    if (!g->rows || !g->first) return kn_fail_memory(err, ctx, "verifying");
    count_rows(&p, 0, rows, g->rows, g->first);
    return KN_OK;
}

void kn_vgroups_free(kn_vgroups *g)
{
    kn_free(g->of_row);
    kn_free(g->rows);
    kn_free(g->first);
    *g = (kn_vgroups){0};
}
