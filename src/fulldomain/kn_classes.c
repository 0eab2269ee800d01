/* kn_classes.c: sets of classes: from the rows, from finer levels, from more attributes.
 *
 * Interface: kn_evaluate.h; judging: kn_classes_judge.c. A set is one frequency set per part (quasi-identifiers with
 * the sensitive column or the entity that must be counted with them) and the population's. Keys hold the numbers of
 * the evaluator's levels.
 *
 * Cost: a scan is one look-up per row and attribute and a grouping of the rows; a roll-up or a projection moves each
 * class's key field by field, neighbouring unchanged fields in one step, and groups the classes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_classes.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_group.h"

#define WHAT "counting classes"

/* ---- Sets ---- */

void kn_classes_free(kn_classes *c)
{
    if (!c) return;
    for (int i = 0; i < c->part_count; i++) kn_freq_free(c->parts[i]);
    kn_freq_free(c->population);
    for (int i = 0; c->packed && i <= c->part_count; i++) kn_free(c->packed[i]);
    KN_FREE(c->packed, c->parts, c->attributes, c->levels, c);
}

static bool takes_part(uint64_t attributes, int q)
{
    return attributes == KN_ALL_ATTRIBUTES || (q < 64 && (attributes >> q & 1));
}

static kn_status classes_new(kn_classes **out, const kn_evaluator *e, uint64_t attributes, const int *levels,
                             kn_error *err)
{
    int         quasi = e->problem->quasi_count;
    kn_classes *c = kn_alloc_zero(e->ctx, sizeof *c);
    if (!c) return kn_fail_memory(err, e->ctx, WHAT);
    c->ctx = e->ctx;
    if (!KN_ALLOC_ZERO(e->ctx, c->attributes, (size_t)quasi + 1) ||
        !KN_ALLOC_ZERO(e->ctx, c->levels, (size_t)quasi + 1) ||
        !KN_ALLOC_ZERO(e->ctx, c->parts, (size_t)e->part_count)) {
        kn_classes_free(c);
        return kn_fail_memory(err, e->ctx, WHAT);
    }
    c->part_count = e->part_count;
    for (int q = 0; q < quasi; q++) {
        if (!takes_part(attributes, q)) continue;
        c->attributes[c->attribute_count++] = q;
        c->levels[q] = levels[q];
    }
    *out = c;
    return KN_OK;
}

/* An empty frequency set for a set's attributes and the extra columns of a part (NULL: none). */
static kn_status part_new(kn_freq **out, const kn_evaluator *e, const kn_classes *c, const kn_evaluator_part *part,
                          kn_error *err)
{
    int       extras = part ? part->extra_count : 0, columns = c->attribute_count + extras;
    kn_freq  *freq = kn_alloc_zero(e->ctx, sizeof *freq);
    uint32_t *cardinalities = kn_alloc_array(e->ctx, (size_t)columns + 1, sizeof *cardinalities);
    kn_status st = freq && cardinalities ? KN_OK : kn_fail_memory(err, e->ctx, WHAT);
    if (st == KN_OK) {
        freq->ctx = e->ctx;
        for (int i = 0; i < c->attribute_count; i++) {
            int q = c->attributes[i];
            cardinalities[i] = e->attributes[q].levels[c->levels[q]].distinct;
        }
        for (int i = 0; i < extras; i++)
            cardinalities[c->attribute_count + i] = kn_column_cardinality(&e->problem->table->columns[part->extra[i]]);
        st = kn_layout_make(&freq->layout, e->ctx, cardinalities, columns, err);
    }
    kn_free(cardinalities);
    if (st != KN_OK) {
        kn_freq_free(freq);
        return st;
    }
    *out = freq;
    return KN_OK;
}

static kn_status run_group(kn_freq *freq, kn_key_source *source, bool sorted, kn_error *err)
{
    kn_group_options options = {.unsorted = !sorted, .quiet = true};
    source->words = freq->layout.words;
    source->bits = kn_layout_bits(&freq->layout);
    /* Sets up to this size are rolled up in parallel, each by one worker: see KN_CLASSES_SMALL. */
    bool dense = source->words == 1 && source->bits <= 16;
    if (source->counts && source->items <= KN_CLASSES_SMALL && !dense) options.path = KN_GROUP_SINGLE;
    return kn_group_run(freq, source, &options, err);
}

int64_t kn_classes_entries(const kn_classes *c)
{
    int64_t entries = c->population ? c->population->classes : 0;
    for (int i = 0; i < c->part_count; i++) entries += c->parts[i]->classes;
    return entries;
}

static size_t freq_bytes(const kn_freq *freq)
{
    return freq ? (size_t)freq->classes * ((size_t)freq->layout.words + 1) * 8 : 0;
}

size_t kn_classes_bytes(const kn_classes *c)
{
    if (c->packed) return sizeof *c + c->packed_bytes;
    size_t bytes = sizeof *c + freq_bytes(c->population);
    for (int i = 0; i < c->part_count; i++) bytes += freq_bytes(c->parts[i]);
    return bytes;
}

/* ---- From the rows ---- */

typedef struct row_keys {
    const kn_evaluator      *evaluator;
    const kn_classes        *classes;
    const kn_evaluator_part *part; /* NULL: no extra columns */
    const kn_layout         *layout;
} row_keys;

#define PACK(TYPE, VALUE)                                                                                              \
    do {                                                                                                               \
        const TYPE *codes = (const TYPE *)column->codes + begin;                                                       \
        if (words == 1)                                                                                                \
            for (int i = 0; i < n; i++) keys[i] |= (uint64_t)(VALUE) << shift;                                         \
        else                                                                                                           \
            for (int i = 0; i < n; i++) keys[i * words + word] |= (uint64_t)(VALUE) << shift;                          \
    } while (0)

static void pack_mapped(const kn_column *column, const uint32_t *map, int64_t begin, int n, kn_field field, int words,
                        uint64_t *keys)
{
    int shift = field.shift, word = field.word;
    switch (column->width) {
    case 1: PACK(uint8_t, map[codes[i]]); break;
    case 2: PACK(uint16_t, map[codes[i]]); break;
    default: PACK(uint32_t, map[codes[i]]); break;
    }
}

static void pack_codes(const kn_column *column, int64_t begin, int n, kn_field field, int words, uint64_t *keys)
{
    int shift = field.shift, word = field.word;
    switch (column->width) {
    case 1: PACK(uint8_t, codes[i]); break;
    case 2: PACK(uint16_t, codes[i]); break;
    default: PACK(uint32_t, codes[i]); break;
    }
}

static void fill_from_rows(const void *arg, int64_t begin, int n, uint64_t *keys)
{
    const row_keys   *r = arg;
    const kn_classes *c = r->classes;
    int               words = r->layout->words;
    memset(keys, 0, (size_t)n * (size_t)words * sizeof *keys);
    for (int i = 0; i < r->layout->columns; i++) {
        kn_field field = r->layout->fields[i];
        if (field.bits == 0) continue;
        if (i >= c->attribute_count) {
            const kn_table *table = r->evaluator->problem->table;
            pack_codes(&table->columns[r->part->extra[i - c->attribute_count]], begin, n, field, words, keys);
            continue;
        }
        int                           q = c->attributes[i];
        const kn_evaluator_attribute *a = &r->evaluator->attributes[q];
        pack_mapped(a->column, a->levels[c->levels[q]].by_code, begin, n, field, words, keys);
    }
}

void kn_classes_row_keys(const kn_evaluator *e, const kn_classes *c, const kn_layout *layout, int64_t begin, int n,
                         uint64_t *keys)
{
    const row_keys rows = {e, c, NULL, layout};
    fill_from_rows(&rows, begin, n, keys);
}

/* Rolls a population up to a set's levels: from the evaluator's own or from a finer set's. */
static kn_status roll_population(kn_freq **out, const kn_evaluator *e, const kn_classes *target, const kn_freq *from,
                                 const int *from_attributes, int from_count, const int *from_levels, kn_error *err);

static kn_status scan(kn_classes **out, const kn_evaluator *e, uint64_t attributes, const int *levels, bool sorted,
                      kn_error *err)
{
    *out = NULL;
    const kn_table *table = e->problem->table;
    kn_classes     *c = NULL;
    KN_TRY(classes_new(&c, e, attributes, levels, err));
    kn_status st = KN_OK;
    for (int p = 0; p < e->part_count && st == KN_OK; p++) {
        st = part_new(&c->parts[p], e, c, &e->parts[p], err);
        if (st != KN_OK) break;
        row_keys      rows = {e, c, &e->parts[p], &c->parts[p]->layout};
        kn_key_source source = {.fill = fill_from_rows,
                                .arg = &rows,
                                .items = table->rows,
                                .counts = table->counts,
                                .total = kn_table_total(table)};
        st = run_group(c->parts[p], &source, sorted, err);
    }
    if (st == KN_OK && e->population) {
        int *all = kn_alloc_array_zero(e->ctx, 2 * (size_t)e->problem->quasi_count + 1, sizeof *all);
        if (all) {
            int quasi = e->problem->quasi_count;
            for (int q = 0; q < quasi; q++) all[q] = q; /* and level 0 of each behind */
            st = roll_population(&c->population, e, c, e->population, all, quasi, all + quasi, err);
        } else {
            st = kn_fail_memory(err, e->ctx, WHAT);
        }
        kn_free(all);
    }
    if (st != KN_OK) {
        kn_classes_free(c);
        return st;
    }
    *out = c;
    return KN_OK;
}

kn_status kn_classes_scan(kn_classes **out, const kn_evaluator *e, uint64_t attributes, const int *levels,
                          kn_error *err)
{
    return scan(out, e, attributes, levels, e->sorted, err);
}

kn_status kn_classes_scan_sorted(kn_classes **out, const kn_evaluator *e, uint64_t attributes, const int *levels,
                                 kn_error *err)
{
    return scan(out, e, attributes, levels, true, err);
}

/* ---- From a finer set ---- */

/* One step of rewriting a key: bits that move together, through a map or unchanged. */
typedef struct key_move {
    uint8_t         from_word, from_shift, to_word, to_shift, bits;
    const uint32_t *map;
} key_move;

typedef struct finer_keys {
    const kn_freq *from;
    int            words;
    int            move_count;
    key_move      *moves;
} finer_keys;

static uint64_t mask_of(int bits)
{
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static void fill_from_finer(const void *arg, int64_t begin, int n, uint64_t *keys)
{
    const finer_keys *f = arg;
    int               words = f->words, from_words = f->from->layout.words;
    memset(keys, 0, (size_t)n * (size_t)words * sizeof *keys);
    for (int m = 0; m < f->move_count; m++) {
        const key_move  move = f->moves[m];
        const uint64_t *from = f->from->keys + begin * from_words + move.from_word;
        uint64_t       *to = keys + move.to_word, mask = mask_of(move.bits);
        if (move.map)
            for (int i = 0; i < n; i++)
                to[i * words] |= (uint64_t)move.map[from[i * from_words] >> move.from_shift & mask] << move.to_shift;
        else
            for (int i = 0; i < n; i++)
                to[i * words] |= (from[i * from_words] >> move.from_shift & mask) << move.to_shift;
    }
}

/* Adds a field to the moves, to the last one if both are unchanged and adjacent before and after. */
static void add_move(finer_keys *f, kn_field from, kn_field to, const uint32_t *map)
{
    if (to.bits == 0) return;
    if (!map && f->move_count > 0) {
        key_move *last = &f->moves[f->move_count - 1];
        if (!last->map && last->from_word == from.word && last->to_word == to.word &&
            last->from_shift == from.shift + from.bits && last->to_shift == to.shift + to.bits) {
            last->from_shift = from.shift;
            last->to_shift = to.shift;
            last->bits = (uint8_t)(last->bits + from.bits);
            return;
        }
    }
    f->moves[f->move_count++] = (key_move){from.word, from.shift, to.word, to.shift, from.bits, map};
}

/* How a finer set becomes a coarser one: per column of the finer set, whether it stays and its map (NULL: unchanged). */
typedef struct coarsening {
    int        columns;
    bool      *stays;
    uint32_t **maps;
} coarsening;

static void coarsening_free(coarsening *k)
{
    for (int i = 0; i < k->columns && k->maps; i++) kn_free(k->maps[i]);
    KN_FREE(k->stays, k->maps);
}

static kn_status level_map(uint32_t **out, const kn_evaluator *e, int q, int from, int to, kn_error *err)
{
    const kn_evaluator_level *low = &e->attributes[q].levels[from], *high = &e->attributes[q].levels[to];
    *out = kn_alloc_array(e->ctx, (size_t)low->distinct + 1, sizeof **out);
    if (!*out) return kn_fail_memory(err, e->ctx, WHAT);
    for (uint32_t i = 0; i < low->distinct; i++) (*out)[i] = high->number[low->item[i]];
    return KN_OK;
}

/* `k` must be freed even on failure. */
static kn_status coarsening_make(coarsening *k, const kn_evaluator *e, const kn_classes *to, const int *attributes,
                                 int count, const int *levels, kn_error *err)
{
    *k = (coarsening){.columns = count};
    if (!KN_ALLOC_ZERO(e->ctx, k->stays, (size_t)count + 1) || !KN_ALLOC_ZERO(e->ctx, k->maps, (size_t)count + 1))
        return kn_fail_memory(err, e->ctx, WHAT);
    for (int i = 0, at = 0; i < count; i++) {
        int q = attributes[i];
        while (at < to->attribute_count && to->attributes[at] < q) at++;
        if (at == to->attribute_count || to->attributes[at] != q) continue;
        k->stays[i] = true;
        if (to->levels[q] != levels[q]) KN_TRY(level_map(&k->maps[i], e, q, levels[q], to->levels[q], err));
    }
    return KN_OK;
}

/* Sums one frequency set; columns after those of the coarsening stay. */
static kn_status coarsen(kn_freq *to, const kn_freq *from, const coarsening *k, bool sorted, kn_error *err)
{
    finer_keys keys = {.from = from, .words = to->layout.words};
    if (!KN_ALLOC(from->ctx, keys.moves, (size_t)from->layout.columns + 1)) return kn_fail_memory(err, from->ctx, WHAT);
    for (int i = 0, at = 0; i < from->layout.columns; i++) {
        if (i < k->columns && !k->stays[i]) continue;
        add_move(&keys, from->layout.fields[i], to->layout.fields[at++], i < k->columns ? k->maps[i] : NULL);
    }
    kn_key_source source = {
        .fill = fill_from_finer, .arg = &keys, .items = from->classes, .counts = from->counts, .total = from->rows};
    kn_status st = run_group(to, &source, sorted, err);
    kn_free(keys.moves);
    return st;
}

static kn_status roll_population(kn_freq **out, const kn_evaluator *e, const kn_classes *target, const kn_freq *from,
                                 const int *from_attributes, int from_count, const int *from_levels, kn_error *err)
{
    coarsening k;
    kn_status  st = coarsening_make(&k, e, target, from_attributes, from_count, from_levels, err);
    if (st == KN_OK) st = part_new(out, e, target, NULL, err);
    if (st == KN_OK) st = coarsen(*out, from, &k, true, err);
    coarsening_free(&k);
    return st;
}

static kn_status derive(kn_classes *c, const kn_evaluator *e, const kn_classes *from, kn_error *err)
{
    coarsening k;
    kn_status  st = coarsening_make(&k, e, c, from->attributes, from->attribute_count, from->levels, err);
    for (int p = 0; p <= e->part_count && st == KN_OK; p++) {
        bool     people = p == e->part_count;
        kn_freq *to = NULL, finer;
        if (people && !from->population) break;
        st = part_new(&to, e, c, people ? NULL : &e->parts[p], err);
        if (st != KN_OK) break;
        *(people ? &c->population : &c->parts[p]) = to;
        st = kn_classes_unpack(&finer, from, p, err);
        if (st != KN_OK) break;
        st = coarsen(to, &finer, &k, people || e->sorted, err);
        kn_classes_unpacked_free(&finer, from);
    }
    coarsening_free(&k);
    return st;
}

static kn_status derive_new(kn_classes **out, const kn_evaluator *e, const kn_classes *from, kn_classes *c,
                            kn_error *err)
{
    kn_status st = derive(c, e, from, err);
    if (st != KN_OK) {
        kn_classes_free(c);
        return st;
    }
    *out = c;
    return KN_OK;
}

kn_status kn_classes_rollup(kn_classes **out, const kn_evaluator *e, const kn_classes *from, const int *levels,
                            kn_error *err)
{
    *out = NULL;
    kn_classes *c = NULL;
    KN_TRY(classes_new(&c, e, 0, levels, err));
    c->attribute_count = from->attribute_count;
    for (int i = 0; i < from->attribute_count; i++) {
        c->attributes[i] = from->attributes[i];
        c->levels[c->attributes[i]] = levels[c->attributes[i]];
    }
    return derive_new(out, e, from, c, err);
}

kn_status kn_classes_project(kn_classes **out, const kn_evaluator *e, const kn_classes *from, uint64_t attributes,
                             kn_error *err)
{
    *out = NULL;
    kn_classes *c = NULL;
    KN_TRY(classes_new(&c, e, attributes, from->levels, err));
    return derive_new(out, e, from, c, err);
}
