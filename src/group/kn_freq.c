/* kn_freq.c: frequency sets from tables and from finer frequency sets.
 *
 * Interface and key format: kn_freq.h; the counting itself: kn_group.c. Keys of a block of rows are packed column by
 * column, or four columns of bytes at a time, which the compiler turns into vector code. Cost: O(rows × columns) to pack, then the kernel's.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_freq.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_group.h"

#define WHAT "grouping"

static int bits_for(uint32_t cardinality)
{
    int bits = 0;
    while (bits < 32 && ((uint64_t)1 << bits) < cardinality) bits++;
    return bits;
}

/* Columns fill words in order; inside a word the first column stands highest and the last one ends at bit 0. */
kn_status kn_layout_make(kn_layout *out, kn_context *ctx, const uint32_t *cardinalities, int columns, kn_error *err)
{
    *out = (kn_layout){.columns = columns, .words = 1};
    out->fields = kn_alloc_array_zero(ctx, (size_t)columns + 1, sizeof *out->fields);
    if (!out->fields) return kn_fail_memory(err, ctx, WHAT);
    int used = 0, first = 0; /* bits used in the current word; its first column */
    for (int c = 0; c <= columns; c++) {
        int bits = c < columns ? bits_for(cardinalities[c]) : 0;
        if (c == columns || used + bits > 64) { /* the word is complete: place its columns */
            int shift = used;
            for (int d = first; d < c; d++) {
                shift -= out->fields[d].bits;
                out->fields[d].shift = (uint8_t)shift;
                if (out->fields[d].bits == 0) out->fields[d].shift = 0;
            }
            if (c == columns) break;
            if (out->words == UINT8_MAX) {
                kn_free(out->fields);
                out->fields = NULL;
                return kn_fail(err, KN_USAGE, "too many columns to group by");
            }
            out->words++;
            first = c;
            used = 0;
        }
        out->fields[c].word = (uint8_t)(out->words - 1);
        out->fields[c].bits = (uint8_t)bits;
        used += bits;
    }
    return KN_OK;
}

void kn_freq_free(kn_freq *freq)
{
    if (!freq) return;
    KN_FREE(freq->layout.fields, freq->keys, freq->counts, freq);
}

static kn_status freq_new(kn_freq **out, kn_context *ctx, const uint32_t *cardinalities, int columns, kn_error *err)
{
    kn_freq *freq = kn_alloc_zero(ctx, sizeof *freq);
    if (!freq) return kn_fail_memory(err, ctx, WHAT);
    freq->ctx = ctx;
    kn_status st = kn_layout_make(&freq->layout, ctx, cardinalities, columns, err);
    if (st != KN_OK) {
        kn_free(freq);
        return st;
    }
    *out = freq;
    return KN_OK;
}

/* Groups into a new set; frees it where that fails. */
static kn_status group_into(kn_freq **out, kn_freq *freq, const kn_key_source *source, const kn_group_options *options,
                            kn_error *err)
{
    kn_status st = kn_group_run(freq, source, options, err);
    if (st == KN_OK)
        *out = freq;
    else
        kn_freq_free(freq);
    return st;
}

int kn_layout_bits(const kn_layout *layout)
{
    int bits = 0;
    for (int c = 0; c < layout->columns; c++) bits += layout->fields[c].bits;
    return bits;
}

/* ---- From a table ---- */

typedef struct table_keys {
    const kn_table  *table;
    const int       *columns;
    const kn_layout *layout;
} table_keys;

#define PACK(TYPE)                                                                                                     \
    do {                                                                                                               \
        const TYPE *codes = (const TYPE *)column->codes + begin;                                                       \
        if (words == 1)                                                                                                \
            for (int i = 0; i < n; i++) keys[i] |= (uint64_t)codes[i] << shift;                                        \
        else                                                                                                           \
            for (int i = 0; i < n; i++) keys[i * words + word] |= (uint64_t)codes[i] << shift;                         \
    } while (0)

static void fill_from_table(const void *arg, int64_t begin, int n, uint64_t *keys)
{
    const table_keys *t = arg;
    int               words = t->layout->words;
    memset(keys, 0, (size_t)n * (size_t)words * sizeof *keys);
    for (int c = 0; c < t->layout->columns; c++) {
        const kn_column *column = &t->table->columns[t->columns[c]];
        kn_field         field = t->layout->fields[c];
        int              shift = field.shift, word = field.word;
        if (field.bits == 0) continue;
        switch (column->width) {
        case 1: PACK(uint8_t); break;
        case 2: PACK(uint16_t); break;
        default: PACK(uint32_t); break;
        }
    }
}

/* ---- The same for keys of at most 32 bits: eight rows at once, four columns of bytes in one pass ---- */

enum { TOGETHER = 4 };

typedef struct byte_columns {
    int            count;
    const uint8_t *codes[TOGETHER];
    int            shifts[TOGETHER];
} byte_columns;

static inline __attribute__((always_inline)) void pack_together(byte_columns *b, int n, uint32_t *restrict keys)
{
    const uint8_t *restrict c0 = b->codes[0], *restrict c1 = b->codes[1], *restrict c2 = b->codes[2],
                            *restrict c3 = b->codes[3];
    int s0 = b->shifts[0], s1 = b->shifts[1], s2 = b->shifts[2], s3 = b->shifts[3];
    if (b->count == TOGETHER)
        for (int i = 0; i < n; i++)
            keys[i] |= (uint32_t)c0[i] << s0 | (uint32_t)c1[i] << s1 | (uint32_t)c2[i] << s2 | (uint32_t)c3[i] << s3;
    for (int c = 0; c < b->count && b->count < TOGETHER; c++)
        for (int i = 0; i < n; i++) keys[i] |= (uint32_t)b->codes[c][i] << b->shifts[c];
    b->count = 0;
}

static inline __attribute__((always_inline)) void fill_short(const void *arg, int64_t begin, int n,
                                                             uint32_t *restrict keys)
{
    const table_keys *t = arg;
    byte_columns      bytes = {.count = 0};
    memset(keys, 0, (size_t)n * sizeof *keys);
    for (int c = 0; c < t->layout->columns; c++) {
        const kn_column *column = &t->table->columns[t->columns[c]];
        int              shift = t->layout->fields[c].shift;
        if (t->layout->fields[c].bits == 0) continue;
        if (column->width == 1) {
            bytes.codes[bytes.count] = (const uint8_t *)column->codes + begin;
            bytes.shifts[bytes.count++] = shift;
            if (bytes.count == TOGETHER) pack_together(&bytes, n, keys);
        } else if (column->width == 2) {
            const uint16_t *restrict codes = (const uint16_t *)column->codes + begin;
            for (int i = 0; i < n; i++) keys[i] |= (uint32_t)codes[i] << shift;
        } else {
            const uint32_t *restrict codes = (const uint32_t *)column->codes + begin;
            for (int i = 0; i < n; i++) keys[i] |= codes[i] << shift;
        }
    }
    pack_together(&bytes, n, keys);
}

static void fill_short_plain(const void *arg, int64_t begin, int n, uint32_t *keys)
{
    fill_short(arg, begin, n, keys);
}

#if defined                                 __x86_64__
__attribute__((target("avx2"))) static void fill_short_avx2(const void *arg, int64_t begin, int n, uint32_t *keys)
{
    fill_short(arg, begin, n, keys);
}
#endif

static kn_fill_short_fn best_fill_short(bool plain)
{
#if defined __x86_64__
    __builtin_cpu_init();
    if (!plain && __builtin_cpu_supports("avx2")) return fill_short_avx2;
#endif
    (void)plain;
    return fill_short_plain;
}

kn_status kn_freq_of_table_with(kn_freq **out, kn_context *ctx, const kn_table *table, const int *columns,
                                int column_count, const kn_group_options *options, kn_error *err)
{
    *out = NULL;
    uint32_t *cardinalities = kn_alloc_array(ctx, (size_t)column_count + 1, sizeof *cardinalities);
    if (!cardinalities) return kn_fail_memory(err, ctx, WHAT);
    for (int c = 0; c < column_count; c++) cardinalities[c] = kn_column_cardinality(&table->columns[columns[c]]);
    kn_freq  *freq = NULL;
    kn_status st = freq_new(&freq, ctx, cardinalities, column_count, err);
    kn_free(cardinalities);
    if (st != KN_OK) return st;
    table_keys    keys = {table, columns, &freq->layout};
    kn_key_source source = {.fill = fill_from_table,
                            .fill_short = best_fill_short(options && options->plain),
                            .arg = &keys,
                            .items = table->rows,
                            .counts = table->counts,
                            .total = kn_table_total(table),
                            .words = freq->layout.words,
                            .bits = kn_layout_bits(&freq->layout)};
    return group_into(out, freq, &source, options, err);
}

kn_status kn_freq_of_table(kn_freq **out, kn_context *ctx, const kn_table *table, const int *columns, int column_count,
                           kn_error *err)
{
    return kn_freq_of_table_with(out, ctx, table, columns, column_count, NULL, err);
}

int64_t kn_freq_find(const kn_freq *freq, const uint64_t *key)
{
    int     words = freq->layout.words;
    int64_t low = 0, high = freq->classes;
    while (low < high) {
        int64_t         middle = low + (high - low) / 2;
        const uint64_t *at = freq->keys + middle * words;
        int             w = 0;
        while (w < words && at[w] == key[w]) w++;
        if (w == words) return middle;
        if (at[w] < key[w])
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

kn_status kn_freq_classify(const kn_freq *freq, const kn_table *table, const int *columns, int64_t begin, int64_t n,
                           int64_t *classes, kn_error *err)
{
    table_keys from = {table, columns, &freq->layout};
    int        words = freq->layout.words;
    uint64_t  *keys = kn_alloc_array(freq->ctx, (size_t)(KN_GROUP_BLOCK * words), sizeof *keys);
    if (!keys) return kn_fail_memory(err, freq->ctx, WHAT);
    for (int64_t done = 0; done < n; done += KN_GROUP_BLOCK) {
        int block = n - done < KN_GROUP_BLOCK ? (int)(n - done) : KN_GROUP_BLOCK;
        fill_from_table(&from, begin + done, block, keys);
        for (int i = 0; i < block; i++) classes[done + i] = kn_freq_find(freq, keys + i * words);
    }
    kn_free(keys);
    return KN_OK;
}

/* ---- From a finer set ---- */

typedef struct rollup_keys {
    const kn_freq   *from;
    const kn_rollup *by;
    const kn_layout *layout;
} rollup_keys;

static void fill_from_finer(const void *arg, int64_t begin, int n, uint64_t *keys)
{
    const rollup_keys *r = arg;
    int                words = r->layout->words, from_words = r->from->layout.words;
    memset(keys, 0, (size_t)n * (size_t)words * sizeof *keys);
    int to = 0;
    for (int c = 0; c < r->from->layout.columns; c++) {
        if (r->by[c].drop) continue;
        kn_field        source = r->from->layout.fields[c], target = r->layout->fields[to++];
        const uint32_t *map = r->by[c].map;
        const uint64_t *finer = r->from->keys + begin * from_words;
        if (target.bits == 0) continue;
        for (int i = 0; i < n; i++, finer += from_words) {
            uint32_t code = kn_field_get(source, finer);
            keys[i * words + target.word] |= (uint64_t)(map ? map[code] : code) << target.shift;
        }
    }
}

static kn_status roll_up(kn_freq **out, const kn_freq *from, const kn_rollup *by, const kn_group_options *options,
                         kn_error *err)
{
    *out = NULL;
    kn_context *ctx = from->ctx;
    uint32_t   *cardinalities = kn_alloc_array(ctx, (size_t)from->layout.columns + 1, sizeof *cardinalities);
    if (!cardinalities) return kn_fail_memory(err, ctx, WHAT);
    int kept = 0;
    for (int c = 0; c < from->layout.columns; c++) {
        if (by[c].drop) continue;
        uint64_t possible = (uint64_t)1 << from->layout.fields[c].bits;
        cardinalities[kept++] = by[c].map ? by[c].distinct : possible > UINT32_MAX ? UINT32_MAX : (uint32_t)possible;
    }
    kn_freq  *freq = NULL;
    kn_status st = freq_new(&freq, ctx, cardinalities, kept, err);
    kn_free(cardinalities);
    if (st != KN_OK) return st;
    rollup_keys   keys = {from, by, &freq->layout};
    kn_key_source source = {.fill = fill_from_finer,
                            .arg = &keys,
                            .items = from->classes,
                            .counts = from->counts,
                            .total = from->rows,
                            .words = freq->layout.words,
                            .bits = kn_layout_bits(&freq->layout)};
    return group_into(out, freq, &source, options, err);
}

kn_status kn_freq_rollup(kn_freq **out, const kn_freq *from, const kn_rollup *by, kn_error *err)
{
    return roll_up(out, from, by, NULL, err);
}

kn_status kn_freq_rollup_unsorted(kn_freq **out, const kn_freq *from, const kn_rollup *by, kn_error *err)
{
    const kn_group_options options = {.unsorted = true};
    return roll_up(out, from, by, &options, err);
}

/* Masks that keep the first `columns` columns of a key, word by word. */
static void prefix_masks(const kn_layout *layout, int columns, uint64_t *masks)
{
    memset(masks, 0, (size_t)layout->words * sizeof *masks);
    for (int c = 0; c < columns; c++) {
        kn_field f = layout->fields[c];
        masks[f.word] |= (((uint64_t)1 << f.bits) - 1) << f.shift;
    }
}

static bool same_prefix(const uint64_t *a, const uint64_t *b, const uint64_t *masks, int words)
{
    for (int w = 0; w < words; w++)
        if ((a[w] ^ b[w]) & masks[w]) return false;
    return true;
}

/* The key of a prefix in its own layout. */
static void prefix_key(const kn_layout *fine, const kn_layout *coarse, const uint64_t *from, uint64_t *to)
{
    memset(to, 0, (size_t)coarse->words * sizeof *to);
    for (int c = 0; c < coarse->columns; c++) {
        kn_field f = coarse->fields[c];
        to[f.word] |= (uint64_t)kn_field_get(fine->fields[c], from) << f.shift;
    }
}

static kn_status fold_classes(kn_freq *freq, int64_t **starts, const kn_freq *fine, const uint64_t *masks,
                              kn_error *err)
{
    int     words = fine->layout.words;
    int64_t classes = 0;
    for (int64_t i = 0; i < fine->classes; i++)
        classes += i == 0 || !same_prefix(fine->keys + (i - 1) * words, fine->keys + i * words, masks, words);
    freq->classes = classes;
    freq->rows = fine->rows;
    freq->keys = kn_alloc_array(freq->ctx, (size_t)(classes * freq->layout.words), sizeof *freq->keys);
    freq->counts = kn_alloc_array_zero(freq->ctx, (size_t)classes, sizeof *freq->counts);
    *starts = kn_alloc_array(freq->ctx, (size_t)classes + 1, sizeof **starts);
    if (!freq->keys || !freq->counts || !*starts) {
        kn_free(*starts);
        *starts = NULL;
        return kn_fail_memory(err, freq->ctx, WHAT);
    }
    int64_t at = -1;
    for (int64_t i = 0; i < fine->classes; i++) {
        const uint64_t *key = fine->keys + i * words;
        if (i == 0 || !same_prefix(key - words, key, masks, words)) {
            (*starts)[++at] = i;
            prefix_key(&fine->layout, &freq->layout, key, freq->keys + at * freq->layout.words);
        }
        freq->counts[at] += fine->counts[i];
    }
    (*starts)[classes] = fine->classes;
    return KN_OK;
}

kn_status kn_freq_fold(kn_freq **out, int64_t **starts, const kn_freq *fine, int columns, kn_error *err)
{
    *out = NULL;
    *starts = NULL;
    kn_context *ctx = fine->ctx;
    uint32_t   *cardinalities = kn_alloc_array(ctx, (size_t)columns + 1, sizeof *cardinalities);
    uint64_t   *masks = kn_alloc_array(ctx, (size_t)fine->layout.words, sizeof *masks);
    kn_freq    *freq = NULL;
    kn_status   st = cardinalities && masks ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    for (int c = 0; c < columns && st == KN_OK; c++) {
        uint64_t possible = (uint64_t)1 << fine->layout.fields[c].bits;
        cardinalities[c] = possible > UINT32_MAX ? UINT32_MAX : (uint32_t)possible;
    }
    if (st == KN_OK) st = freq_new(&freq, ctx, cardinalities, columns, err);
    if (st == KN_OK) {
        prefix_masks(&fine->layout, columns, masks);
        st = fold_classes(freq, starts, fine, masks, err);
    }
    KN_FREE(cardinalities, masks);
    if (st != KN_OK) {
        kn_freq_free(freq);
        return st;
    }
    *out = freq;
    return KN_OK;
}

bool kn_freq_validate(const kn_freq *freq, const char **reason)
{
    const char *fault = NULL;
    int         words = freq->layout.words;
    int64_t     rows = 0;
    for (int64_t i = 0; i < freq->classes && !fault; i++) {
        if (freq->counts[i] <= 0) fault = "a class has no rows";
        rows += freq->counts[i];
        if (i == 0) continue;
        const uint64_t *a = freq->keys + (i - 1) * words, *b = a + words;
        int             w = 0;
        while (w < words && a[w] == b[w]) w++;
        if (w == words || a[w] > b[w]) fault = "keys are not in ascending order";
    }
    if (!fault && rows != freq->rows) fault = "the counts do not add up";
    if (reason) *reason = fault;
    return fault == NULL;
}
