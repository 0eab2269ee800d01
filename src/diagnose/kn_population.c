/* kn_population.c: how large the classes of a sample are in a population table.
 *
 * The two tables have dictionaries of their own, so equal values have different codes. Per column, codes of the
 * population are translated into codes of the sample (or none): dictionaries of numbers, dates and times are in order
 * of value, so two of them are merged (1.50 and 1.5 are one value, and so are two spellings of a date); texts are
 * looked up by hash. Then every class of the population is translated into a key of the sample and found by binary
 * search.
 *
 * Cost: one grouping of the population; per class of it a look-up in the sample's classes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_population.h"

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_quasi.h"
#include "kn_value.h"

#define WHAT "comparing with the population"

#define NONE UINT32_MAX

typedef struct translation {
    uint32_t **maps; /* per column: code of the population → code of the sample, or NONE */
    int        columns;
} translation;

/* ---- One column ---- */

typedef enum likeness { BY_TEXT, BY_INTEGER, BY_DECIMAL } likeness;

static likeness how_to_compare(const kn_column *a, const kn_column *b)
{
    if (a->type == b->type && a->dict.integers && b->dict.integers) return BY_INTEGER;
    return kn_type_is_number(a->type) && kn_type_is_number(b->type) ? BY_DECIMAL : BY_TEXT;
}

/* The tables may have been read with different decimal marks; a number never has both. */
static kn_decimal number_of(const kn_dictionary *dict, uint32_t code)
{
    kn_string  text = kn_value_trim(kn_dictionary_text(dict, code));
    kn_decimal number = {.exponent = 0};
    if (!kn_parse_declared_decimal(text, '.', &number) && !kn_parse_declared_decimal(text, ',', &number))
        number = (kn_decimal){.exponent = 0};
    return number;
}

static int compare_values(likeness how, const kn_dictionary *a, uint32_t i, const kn_dictionary *b, uint32_t j)
{
    if (how == BY_INTEGER) return (a->integers[i] > b->integers[j]) - (a->integers[i] < b->integers[j]);
    kn_decimal x = number_of(a, i), y = number_of(b, j);
    return kn_decimal_compare(&x, &y);
}

static void translate_by_value(uint32_t *map, likeness how, const kn_dictionary *sample, const kn_dictionary *other)
{
    for (uint32_t i = 0, j = 0; i < sample->count && j < other->count;) {
        int c = compare_values(how, sample, i, other, j);
        if (c == 0) map[j] = i;
        if (c <= 0) i++;
        if (c >= 0) j++;
    }
}

static kn_status translate_by_text(uint32_t *map, kn_context *ctx, const kn_dictionary *sample,
                                   const kn_dictionary *other, kn_error *err)
{
    size_t size = 16;
    while (size < (size_t)sample->count * 2) size *= 2;
    uint32_t *slots = kn_alloc_array(ctx, size, sizeof *slots);
    if (!slots) return kn_fail_memory(err, ctx, WHAT);
    for (size_t i = 0; i < size; i++) slots[i] = NONE;
    for (uint32_t i = 0; i < sample->count; i++) {
        kn_string text = kn_dictionary_text(sample, i);
        size_t    at = kn_hash_bytes(text.data, text.size) & (size - 1);
        while (slots[at] != NONE) at = (at + 1) & (size - 1);
        slots[at] = i;
    }
    for (uint32_t j = 0; j < other->count; j++) {
        kn_string text = kn_dictionary_text(other, j);
        size_t    at = kn_hash_bytes(text.data, text.size) & (size - 1);
        while (slots[at] != NONE && !kn_string_equal(kn_dictionary_text(sample, slots[at]), text))
            at = (at + 1) & (size - 1);
        map[j] = slots[at];
    }
    kn_free(slots);
    return KN_OK;
}

static kn_status translate_column(uint32_t **out, kn_context *ctx, const kn_column *sample, const kn_column *other,
                                  kn_error *err)
{
    uint32_t *map = *out = kn_alloc_array(ctx, (size_t)other->dict.count + 1, sizeof *map);
    if (!map) return kn_fail_memory(err, ctx, WHAT);
    for (uint32_t i = 0; i <= other->dict.count; i++) map[i] = NONE;
    if (sample->missing > 0) map[other->dict.count] = sample->dict.count;
    likeness how = how_to_compare(sample, other);
    if (how == BY_TEXT) return translate_by_text(map, ctx, &sample->dict, &other->dict, err);
    translate_by_value(map, how, &sample->dict, &other->dict);
    return KN_OK;
}

/* ---- All classes ---- */

static bool translate_key(uint64_t *key, const kn_layout *layout, const translation *t, const kn_freq *other, int64_t i)
{
    for (int w = 0; w < layout->words; w++) key[w] = 0;
    for (int q = 0; q < t->columns; q++) {
        uint32_t code = t->maps[q][kn_freq_code(other, i, q)];
        if (code == NONE) return false;
        if (layout->fields[q].bits > 0) key[layout->fields[q].word] |= (uint64_t)code << layout->fields[q].shift;
    }
    return true;
}

static kn_status look_up(kn_population *p, kn_context *ctx, const kn_freq *sample, const kn_freq *other,
                         const translation *t, kn_error *err)
{
    uint64_t *key = kn_alloc_array(ctx, (size_t)sample->layout.words, sizeof *key);
    p->sizes = kn_alloc_array_zero(ctx, (size_t)sample->classes + 1, sizeof *p->sizes);
    kn_status st = key && p->sizes ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    for (int64_t i = 0; i < other->classes && st == KN_OK; i++) {
        if (i % 65536 == 0 && kn_cancelled(ctx)) st = kn_fail_cancelled(err);
        p->uniques += other->counts[i] == 1;
        if (!translate_key(key, &sample->layout, t, other, i)) continue;
        int64_t found = kn_freq_find(sample, key);
        if (found >= 0) p->sizes[found] += other->counts[i];
    }
    kn_free(key);
    return st;
}

static kn_status match(kn_population *p, translation *t, kn_context *ctx, const kn_table *table, const int *columns,
                       const kn_freq *sample, const kn_table *population, const int *others, bool drop, kn_error *err)
{
    kn_freq *freq = NULL;
    t->maps = kn_alloc_array_zero(ctx, (size_t)t->columns, sizeof *t->maps);
    if (!t->maps) return kn_fail_memory(err, ctx, WHAT);
    for (int q = 0; q < t->columns; q++)
        KN_TRY(translate_column(&t->maps[q], ctx, &table->columns[columns[q]], &population->columns[others[q]], err));
    KN_TRY(kn_freq_of_table(&freq, ctx, population, others, t->columns, err));
    int64_t missing = kn_quasi_missing(freq, population, others, t->columns, drop, NULL, NULL);
    p->rows = freq->rows;
    p->dropped = drop ? missing : 0;
    p->classes = freq->classes;
    kn_status st = look_up(p, ctx, sample, freq, t, err);
    kn_freq_free(freq);
    return st;
}

kn_status kn_population_match(kn_population *out, kn_context *ctx, const kn_table *table, const int *columns,
                              const kn_freq *sample, const kn_table *population, const char *const *names, bool drop,
                              kn_error *err)
{
    *out = (kn_population){.sizes = NULL};
    translation t = {NULL, sample->layout.columns};
    int        *others = NULL;
    KN_TRY(kn_quasi_find(&others, ctx, population, "the population has", names, t.columns, err));
    kn_status st = match(out, &t, ctx, table, columns, sample, population, others, drop, err);
    for (int q = 0; q < t.columns && t.maps; q++) kn_free(t.maps[q]);
    KN_FREE(t.maps, others);
    if (st != KN_OK) {
        kn_free(out->sizes);
        out->sizes = NULL;
    }
    return st;
}
