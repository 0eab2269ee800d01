/* table/group.c: rows with equal keys → groups, by hashing.
 *
 * The parts of a key are packed into words as far as they fit, 63 bits in the first and 32 in each other, which refines
 * the groups found so far by one more pass over the rows. Groups are numbered as they first appear, so the result does
 * not depend on anything else. With several threads each numbers the keys of some rows and counts them, some pieces at a
 * time; the lists of these keys are joined in order by one thread, and the rows renumbered. Who asks for the groups'
 * sizes alone gets them without an array of rows where one word holds the key; the lists are then joined by all threads,
 * each the keys of one part of all hashes, as nobody asks for their order.
 *
 * Cost: O(rows) per word, and for one thread the distinct keys of each piece; a row equal to the previous one costs no
 * look-up. Memory: 4 bytes per row, 16 to 32 per group, 24 per distinct key of a few pieces.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_internal.h"

enum {
    PIECE = 1 << 16,       /* rows of a thread                     */
    PIECES_PER_THREAD = 4, /* whose keys are held at a time        */
    CHUNK = 512,           /* rows packed at a time                */
    PART_BITS = 6,         /* of a hash: the parts of all keys     */
    PARTS = 1 << PART_BITS,
    FIRST_BITS = 63, /* of the first word: below UINT64_MAX  */
    BITS = 32        /* of another, beside a group's number  */
};

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

/* Keys whose hashes begin alike, and how many rows have each. */
typedef struct part {
    kn_vnumbers keys;
    int64_t    *rows;
    size_t      room;
} part;

/* One pass over the rows with the parts [from, to). */
typedef struct passing {
    kn_context    *ctx;
    kn_vgroups    *g;
    int64_t        rows;
    const int64_t *counts;
    const kn_vkey *keys;
    const packing *packed;
    int            from, to;
    bool           last;  /* the groups are then counted */
    int64_t        begin; /* the first row of the pieces */
    struct piece  *pieces;
    size_t         piece_count;
    part          *parts; /* of the keys of the pieces before; NULL: they are in `all` */
    kn_vnumbers    all;
    size_t         room[2]; /* of the groups' rows and first */
} passing;

/* The keys of some rows, numbered as they first appear there; then the numbers that they have among all. */
typedef struct piece {
    uint64_t *words;
    int64_t  *rows, *first; /* per key, in the last pass */
    uint32_t  count;
    uint32_t  starts[PARTS + 1]; /* where the keys are sorted by their part: each one's first */
} piece;

/* Adds a part to the words of the rows from `begin` on. */
static void pack_column(const passing *p, int i, int64_t begin, int count, uint64_t *words, bool *out)
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
    for (int r = 0; r < count; r++) words[r] = words[r] << bits | codes[r];
}

/* The words of the rows from `begin` on; out: the row is left out. */
static void pack_rows(const passing *p, int64_t begin, int count, uint64_t *words, bool *out)
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
            if (key->direct) words[r] = words[r] << BITS | key->direct[row];
            if (key->direct ? key->direct[row] == KN_V_NONE : key->omit && key->omit[row]) out[r] = true;
        }
    }
}

/* Numbers the keys of the rows [begin, end); KN_V_NONE: the row is left out. `of_row` has the groups that they refine, from row `begin`
 * on; in the first pass they are all in one. */
static kn_status number_rows(const passing *p, kn_vnumbers *groups, int64_t begin, int64_t end, uint32_t *of_row,
                             kn_error *err)
{
    uint64_t words[CHUNK];
    bool     out[CHUNK], refine = p->from > 0;
    uint64_t above = 0;
    uint32_t number = KN_V_NONE;
    for (int64_t from = begin; from < end; from += CHUNK, of_row += CHUNK) {
        int count = end - from < CHUNK ? (int)(end - from) : CHUNK;
        if (kn_cancelled(p->ctx)) return kn_fail_cancelled(err);
        pack_rows(p, from, count, words, out);
        for (int r = 0; r < count; r++) {
            if (out[r] || (refine && of_row[r] == KN_V_NONE)) {
                of_row[r] = KN_V_NONE;
                continue;
            }
            uint64_t key = refine ? (uint64_t)of_row[r] << BITS | words[r] : words[r];
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

/* The rows of each group among [begin, end), and the first of them. */
static void count_rows(const passing *p, int64_t begin, int64_t end, const uint32_t *of_row, int64_t *rows,
                       int64_t *first)
{
    for (int64_t row = begin; row < end; row++) {
        uint32_t group = of_row[row - begin];
        if (group == KN_V_NONE) continue;
        if (first && rows[group] == 0) first[group] = row;
        rows[group] += p->counts ? p->counts[row] : 1;
    }
}

static size_t part_of(uint64_t word)
{
    return (size_t)(kn_hash_word(word + 1) >> (64 - PART_BITS)); /* kn_vnumbers uses the other end */
}

/* Sorts the keys of a piece by their part. false: out of memory. */
static bool sort_keys(const passing *p, piece *one)
{
    uint64_t *words = kn_alloc_array(p->ctx, (size_t)one->count + 1, sizeof *words);
    int64_t  *rows = kn_alloc_array(p->ctx, (size_t)one->count + 1, sizeof *rows);
    uint32_t  next[PARTS];
    if (!words || !rows) {
        KN_FREE(words, rows);
        return false;
    }
    memset(one->starts, 0, sizeof one->starts);
    for (uint32_t i = 0; i < one->count; i++) one->starts[part_of(one->words[i]) + 1]++;
    for (int k = 0; k < PARTS; k++) next[k] = one->starts[k + 1] += one->starts[k];
    for (uint32_t i = one->count; i-- > 0;) {
        uint32_t at = --next[part_of(one->words[i])];
        words[at] = one->words[i];
        rows[at] = one->rows[i];
    }
    KN_FREE(one->words, one->rows);
    one->words = words;
    one->rows = rows;
    return true;
}

static kn_status number_into(const passing *p, piece *one, int64_t begin, int64_t end, uint32_t *of_row, kn_error *err)
{
    kn_vnumbers groups = {.ctx = p->ctx};
    kn_status   st = number_rows(p, &groups, begin, end, of_row, err);
    one->count = groups.count;
    one->words = st == KN_OK ? kn_alloc_array(p->ctx, (size_t)groups.count + 1, sizeof *one->words) : NULL;
    if (st == KN_OK && !one->words) st = kn_fail_memory(err, p->ctx, "verifying");
    for (size_t i = 0; st == KN_OK && i < groups.size; i++)
        if (groups.words[i]) one->words[groups.numbers[i]] = groups.words[i] - 1;
    kn_vnumbers_free(&groups);
    if (st != KN_OK || !p->last) return st;
    one->rows = kn_alloc_array_zero(p->ctx, (size_t)one->count + 1, sizeof *one->rows);
    if (!p->parts) one->first = kn_alloc_array(p->ctx, (size_t)one->count + 1, sizeof *one->first);
    if (!one->rows || (!p->parts && !one->first)) return kn_fail_memory(err, p->ctx, "verifying");
    count_rows(p, begin, end, of_row, one->rows, one->first);
    return !p->parts || sort_keys(p, one) ? KN_OK : kn_fail_memory(err, p->ctx, "verifying");
}

static kn_status number_piece(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const passing *p = arg;
    piece         *one = &p->pieces[begin / PIECE];
    uint32_t      *own = NULL, *of_row = p->g->of_row ? p->g->of_row + p->begin + begin : NULL;
    (void)worker;
    if (!of_row) of_row = own = kn_alloc_array(p->ctx, PIECE, sizeof *own); /* nobody wants to know */
    kn_status st = of_row ? number_into(p, one, p->begin + begin, p->begin + end, of_row, err)
                          : kn_fail_memory(err, p->ctx, "verifying");
    kn_free(own);
    return st;
}

static kn_status renumber_piece(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const passing *p = arg;
    const piece   *one = &p->pieces[begin / PIECE];
    (void)worker, (void)err;
    for (int64_t row = p->begin + begin; row < p->begin + end; row++) {
        uint32_t *number = &p->g->of_row[row];
        if (*number != KN_V_NONE) *number = (uint32_t)one->words[*number];
    }
    return KN_OK;
}

/* Joins the keys of a piece with those of the pieces before it, and how many rows they have. */
static bool join_piece(passing *p, piece *one)
{
    for (uint32_t i = 0; i < one->count; i++) {
        uint32_t known = p->all.count, number = kn_vnumbers_add(&p->all, one->words[i]);
        if (number == KN_V_NONE) return false;
        one->words[i] = number;
        if (!p->last) continue;
        if (number == known) {
            if (!KN_GROW(p->ctx, &p->g->rows, &p->room[0], (size_t)known + 1) ||
                !KN_GROW(p->ctx, &p->g->first, &p->room[1], (size_t)known + 1))
                return false;
            p->g->rows[number] = 0;
            p->g->first[number] = one->first[i];
        }
        p->g->rows[number] += one->rows[i];
    }
    return true;
}

/* Some pieces, joined in their order: keys get the numbers that they would get row by row. */
static kn_status join_in_order(passing *p, kn_error *err)
{
    for (size_t i = 0; i < p->piece_count; i++) {
        if (!join_piece(p, &p->pieces[i])) return kn_fail_memory(err, p->ctx, "verifying");
        if (kn_cancelled(p->ctx)) return kn_fail_cancelled(err);
    }
    return KN_OK;
}

/* The keys of all pieces that are in one part. */
static bool join_part(const passing *p, size_t k)
{
    part *to = &p->parts[k];
    for (size_t n = 0; n < p->piece_count; n++) {
        const piece *one = &p->pieces[n];
        for (uint32_t i = one->starts[k]; i < one->starts[k + 1]; i++) {
            uint32_t known = to->keys.count, number = kn_vnumbers_add(&to->keys, one->words[i]);
            if (number == KN_V_NONE || !KN_GROW(p->ctx, &to->rows, &to->room, (size_t)to->keys.count)) return false;
            if (number == known) to->rows[number] = 0;
            to->rows[number] += one->rows[i];
        }
    }
    return true;
}

static kn_status join_parts(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const passing *p = arg;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        if (!join_part(p, (size_t)k)) return kn_fail_memory(err, p->ctx, "verifying");
    return KN_OK;
}

static kn_status pass_some(passing *p, int64_t rows, kn_error *err)
{
    p->piece_count = (size_t)((rows + PIECE - 1) / PIECE);
    kn_status st = kn_parallel_for(p->ctx, rows, PIECE, number_piece, p, err);
    if (st == KN_OK) st = p->parts ? kn_parallel_for(p->ctx, PARTS, 1, join_parts, p, err) : join_in_order(p, err);
    if (st == KN_OK && p->g->of_row) st = kn_parallel_for(p->ctx, rows, PIECE, renumber_piece, p, err);
    for (size_t i = 0; i < p->piece_count; i++) {
        KN_FREE(p->pieces[i].words, p->pieces[i].rows, p->pieces[i].first);
        p->pieces[i] = (piece){0};
    }
    return st;
}

/* The groups of all parts, one part after the other; the parts are gone. */
static kn_status end_parts(passing *p, kn_status st, kn_error *err)
{
    uint64_t count = 0, done = 0;
    for (int k = 0; k < PARTS; k++) count += p->parts[k].keys.count;
    if (st == KN_OK) {
        p->g->rows = count < KN_V_MISSING ? kn_alloc_array(p->ctx, (size_t)count + 1, sizeof *p->g->rows) : NULL;
        if (!p->g->rows) st = kn_fail_memory(err, p->ctx, "verifying");
    }
    for (int k = 0; k < PARTS; k++) {
        const part *one = &p->parts[k];
        if (st == KN_OK && one->keys.count > 0)
            memcpy(p->g->rows + done, one->rows, one->keys.count * sizeof *one->rows);
        done += one->keys.count;
        kn_vnumbers_free(&p->parts[k].keys);
        kn_free(one->rows);
    }
    p->g->count = (uint32_t)count;
    kn_free(p->parts);
    p->parts = NULL;
    return st;
}

static kn_status pass_in_pieces(passing *p, kn_error *err)
{
    int64_t count = (int64_t)kn_context_threads(p->ctx) * PIECES_PER_THREAD, some = count * PIECE;
    bool    sizes = !p->g->of_row;
    p->pieces = kn_alloc_array_zero(p->ctx, (size_t)count, sizeof *p->pieces);
    if (sizes) p->parts = kn_alloc_array_zero(p->ctx, PARTS, sizeof *p->parts);
    for (int k = 0; p->parts && k < PARTS; k++) p->parts[k].keys.ctx = p->ctx;
    p->all = (kn_vnumbers){.ctx = p->ctx};
    p->room[0] = p->room[1] = 0;
    kn_status st = p->pieces && (!sizes || p->parts) ? KN_OK : kn_fail_memory(err, p->ctx, "verifying");
    for (p->begin = 0; st == KN_OK && p->begin < p->rows; p->begin += some)
        st = pass_some(p, p->rows - p->begin < some ? p->rows - p->begin : some, err);
    p->g->count = p->all.count;
    kn_vnumbers_free(&p->all);
    kn_free(p->pieces);
    return p->parts ? end_parts(p, st, err) : st;
}

static kn_status pass(passing *p, kn_error *err)
{
    if (!p->g->of_row || (p->rows > PIECE && kn_context_threads(p->ctx) > 1)) return pass_in_pieces(p, err);
    kn_vnumbers groups = {.ctx = p->ctx};
    kn_status   st = number_rows(p, &groups, 0, p->rows, p->g->of_row, err);
    p->g->count = groups.count;
    kn_vnumbers_free(&groups);
    return st;
}

/* The end of the parts from `from` on that one word holds. */
static int word_end(const packing *packed, int from, int count)
{
    int to = from;
    for (int sum = 0; to < count && sum + packed[to].bits <= (from == 0 ? FIRST_BITS : BITS); to++)
        sum += packed[to].bits;
    return to;
}

/* rows: each row's group is asked for, too. */
static kn_status group(kn_vgroups *g, bool rows_too, passing *p, packing *packed, int key_count, kn_error *err)
{
    bool good = true;
    for (int i = 0; good && i < key_count; i++) good = packing_of(&packed[i], p->ctx, &p->keys[i]);
    if (good && (rows_too || word_end(packed, 0, key_count) < key_count)) {
        g->of_row = kn_alloc_array(p->ctx, (size_t)p->rows + 1, sizeof *g->of_row); /* the first pass fills it */
        good = g->of_row != NULL;
    }
    if (!good) return kn_fail_memory(err, p->ctx, "verifying");
    for (p->to = 0; p->to < key_count;) {
        p->from = p->to;
        p->to = word_end(packed, p->from, key_count);
        p->last = p->to == key_count;
        KN_TRY(pass(p, err));
    }
    if (g->rows) return KN_OK;
    g->rows = kn_alloc_array_zero(p->ctx, (size_t)g->count + 1, sizeof *g->rows);
    g->first = kn_alloc_array(p->ctx, (size_t)g->count + 1, sizeof *g->first);
    if (!g->rows || !g->first) return kn_fail_memory(err, p->ctx, "verifying");
    if (g->of_row) count_rows(p, 0, p->rows, g->of_row, g->rows, g->first);
    return KN_OK;
}

static kn_status group_by(kn_vgroups *g, bool rows_too, kn_context *ctx, int64_t rows, const int64_t *counts,
                          const kn_vkey *keys, int key_count, kn_error *err)
{
    packing *packed = kn_alloc_array_zero(ctx, (size_t)key_count + 1, sizeof *packed);
    passing  p = {.ctx = ctx, .g = g, .rows = rows, .counts = counts, .keys = keys, .packed = packed};
    *g = (kn_vgroups){0};
    kn_status st = packed ? group(g, rows_too, &p, packed, key_count, err) : kn_fail_memory(err, ctx, "verifying");
    for (int i = 0; packed && i < key_count; i++) kn_free(packed[i].parts);
    kn_free(packed);
    return st;
}

kn_status kn_vgroup(kn_vgroups *g, kn_context *ctx, int64_t rows, const int64_t *counts, const kn_vkey *keys,
                    int key_count, kn_error *err)
{
    return group_by(g, true, ctx, rows, counts, keys, key_count, err);
}

kn_status kn_vgroup_sizes(kn_vgroups *g, kn_context *ctx, int64_t rows, const int64_t *counts, const kn_vkey *keys,
                          int key_count, kn_error *err)
{
    KN_TRY(group_by(g, false, ctx, rows, counts, keys, key_count, err));
    kn_free(g->of_row);
    g->of_row = NULL;
    return KN_OK;
}

void kn_vgroups_free(kn_vgroups *g)
{
    kn_free(g->of_row);
    kn_free(g->rows);
    kn_free(g->first);
    *g = (kn_vgroups){0};
}
