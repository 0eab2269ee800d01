/* kn_population_set.c: everybody a table may be about, as counted combinations of leaves.
 *
 * A population table is grouped by its quasi-identifiers once and rolled up from codes to leaves. Weights are grouped
 * together with the quasi-identifiers, so that each distinct weight is read once; they are integers in units of 10^-d, d
 * the decimals that the weights need (at most six), and their sums are exact. The people that the hierarchies carry are
 * combinations where there is one quasi-identifier; of several only the sums are known, not who has which combination.
 *
 * Cost: one grouping and one roll-up; memory in proportion to the combinations.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_requirements.h"
#include "kn_value.h"

#define WHAT "counting the population"

enum { MOST_DECIMALS = 6 };

void kn_population_set_free(kn_population_set *p)
{
    if (!p) return;
    kn_free(p->leaves);
    kn_free(p->counts);
    kn_free(p);
}

/* With memory for `count` combinations. */
static kn_status create(kn_population_set **out, kn_context *ctx, int quasi_count, int64_t count, kn_error *err)
{
    kn_population_set *p = kn_alloc_zero(ctx, sizeof *p);
    if (!p) return kn_fail_memory(err, ctx, WHAT);
    *p = (kn_population_set){.ctx = ctx, .quasi_count = quasi_count, .unit = 1, .count = count};
    p->leaves = kn_alloc_array(ctx, (size_t)count * (size_t)quasi_count, sizeof *p->leaves);
    p->counts = kn_alloc_array_zero(ctx, (size_t)count, sizeof *p->counts);
    if (!p->leaves || !p->counts) {
        kn_population_set_free(p);
        return kn_fail_memory(err, ctx, WHAT);
    }
    *out = p;
    return KN_OK;
}

static void fill_leaves(kn_population_set *p, const kn_freq *freq)
{
    for (int64_t i = 0; i < p->count; i++)
        for (int q = 0; q < p->quasi_count; q++) p->leaves[i * p->quasi_count + q] = kn_freq_code(freq, i, q);
}

/* Groups by the columns (and one more, if `extra` >= 0) and takes codes to leaves. */
static kn_status group(kn_freq **out, kn_context *ctx, const kn_table *table, const int *columns,
                       const kn_hierarchy *const *hierarchies, const uint32_t *const *leaf_of_code, int quasi_count,
                       int extra, kn_error *err)
{
    size_t     fields = (size_t)quasi_count + (extra >= 0);
    int       *all = kn_alloc_array(ctx, fields, sizeof *all);
    kn_rollup *by = kn_alloc_array_zero(ctx, fields, sizeof *by);
    kn_freq   *freq = NULL;
    kn_status  st = all && by ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    for (int q = 0; q < quasi_count && st == KN_OK; q++) {
        all[q] = columns[q];
        by[q] = (kn_rollup){.map = leaf_of_code[q], .distinct = hierarchies[q]->leaves + 1};
    }
    if (extra >= 0 && st == KN_OK) all[quasi_count] = extra;
    if (st == KN_OK) st = kn_freq_of_table(&freq, ctx, table, all, (int)fields, err);
    if (st == KN_OK) st = kn_freq_rollup(out, freq, by, err);
    kn_freq_free(freq);
    kn_free(all);
    kn_free(by);
    return st;
}

/* ---- A population table ---- */

kn_status kn_population_set_of_leaves(kn_population_set **out, kn_context *ctx, const kn_table *population,
                                      const int *columns, const kn_hierarchy *const *hierarchies,
                                      const uint32_t *const *leaf_of_code, int quasi_count, kn_error *err)
{
    kn_freq *freq = NULL;
    *out = NULL;
    KN_TRY(group(&freq, ctx, population, columns, hierarchies, leaf_of_code, quasi_count, -1, err));
    kn_status st = create(out, ctx, quasi_count, freq->classes, err);
    if (st == KN_OK) {
        fill_leaves(*out, freq);
        if (freq->classes > 0) memcpy((*out)->counts, freq->counts, (size_t)freq->classes * sizeof *freq->counts);
        (*out)->total = freq->rows;
    }
    kn_freq_free(freq);
    return st;
}

/* ---- Weights ---- */

/* The file's decimal mark is unknown here, but a text that was read as a number has only one meaning. */
static kn_decimal read_decimal(kn_string text)
{
    kn_decimal d = {.exponent = 0};
    text = kn_value_trim(text);
    if (!kn_parse_declared_decimal(text, '.', &d) && !kn_parse_declared_decimal(text, ',', &d))
        d = (kn_decimal){.exponent = 0};
    return d;
}

static int64_t digits_of(const kn_decimal *d)
{
    return (int64_t)(d->before.size + d->after.size);
}

static unsigned digit_at(const kn_decimal *d, int64_t i)
{
    char c = (size_t)i < d->before.size ? d->before.data[i] : d->after.data[(size_t)i - d->before.size];
    return (unsigned)(c - '0');
}

/* A weight >= 0 times 10^decimals, truncated; false: it exceeds an int64. */
static bool in_units(const kn_decimal *d, int decimals, int64_t *out)
{
    kn_u128 value = 0;
    int64_t places = d->exponent + decimals; /* digits before the point     */
    for (int64_t i = 0; i < places && (value || i < digits_of(d)); i++) {
        value = value * 10 + (i < digits_of(d) ? digit_at(d, i) : 0);
        if (value > INT64_MAX) return false;
    }
    *out = (int64_t)value;
    return true;
}

static bool is_bad(const kn_dictionary *dict, uint32_t code)
{
    return code == dict->count ||
           (dict->integers ? dict->integers[code] < 0 : read_decimal(kn_dictionary_text(dict, code)).negative);
}

/* A column of numbers, none of them missing or negative? */
static kn_status check_weights(const kn_table *table, int weight, kn_error *err)
{
    const kn_column *column = &table->columns[weight];
    if (column->type != KN_TYPE_INTEGER && column->type != KN_TYPE_DECIMAL)
        return kn_fail(err, KN_INPUT, "column \"%s\" cannot be a weight: it is not a number", column->name);
    bool bad = column->missing > 0;
    for (uint32_t c = 0; c < column->dict.count && !bad; c++) bad = is_bad(&column->dict, c);
    for (int64_t row = 0; bad && row < table->rows; row++) {
        uint32_t code = kn_column_code(column, row);
        if (is_bad(&column->dict, code))
            return kn_fail(err, KN_INPUT, "column \"%s\" cannot be a weight: the cell in data row %" PRId64 " is %s",
                           column->name, kn_table_number(table, row),
                           code == column->dict.count ? "missing" : "negative");
    }
    return KN_OK;
}

/* The decimals that the weights need; `most` at most. */
static int decimals_of(const kn_dictionary *dict, int most)
{
    int64_t decimals = 0;
    for (uint32_t c = 0; c < dict->count && !dict->integers; c++) {
        kn_decimal d = read_decimal(kn_dictionary_text(dict, c));
        if (digits_of(&d) - d.exponent > decimals) decimals = digits_of(&d) - d.exponent;
    }
    return decimals < most ? (int)decimals : most;
}

/* The units of each class of `freq` (weights are in its last column); false: their sum exceeds an int64. */
static bool weigh(int64_t *units, const kn_freq *freq, const kn_dictionary *dict, int decimals)
{
    kn_u128 total = 0;
    for (int64_t i = 0; i < freq->classes; i++) {
        uint32_t code = kn_freq_code(freq, i, freq->layout.columns - 1);
        int64_t  one = 0;
        if (dict->integers) {
            one = dict->integers[code];
        } else {
            kn_decimal d = read_decimal(kn_dictionary_text(dict, code));
            if (!in_units(&d, decimals, &one)) return false;
        }
        kn_u128 here = (kn_u128)one * (kn_u128)freq->counts[i];
        total += here;
        if (total > INT64_MAX) return false;
        units[i] = (int64_t)here;
    }
    return true;
}

/* Fewer decimals if the sum would be too large. */
static kn_status weigh_all(int64_t *units, int64_t *unit, const kn_freq *freq, const kn_column *column, kn_error *err)
{
    for (int decimals = decimals_of(&column->dict, MOST_DECIMALS); decimals >= 0; decimals--) {
        if (!weigh(units, freq, &column->dict, decimals)) continue;
        *unit = 1;
        for (int i = 0; i < decimals; i++) *unit *= 10;
        return KN_OK;
    }
    return kn_fail(err, KN_INPUT, "column \"%s\" cannot be a weight: its sum is too large", column->name);
}

/* `fine` is grouped by the leaves and the weight. */
static kn_status add_weights(kn_population_set **out, const kn_freq *fine, const kn_column *column, int quasi_count,
                             kn_error *err)
{
    kn_freq  *coarse = NULL;
    int64_t  *starts = NULL, *units = kn_alloc_array(fine->ctx, (size_t)fine->classes, sizeof *units), unit = 1;
    kn_status st = units ? weigh_all(units, &unit, fine, column, err) : kn_fail_memory(err, fine->ctx, WHAT);
    if (st == KN_OK) st = kn_freq_fold(&coarse, &starts, fine, quasi_count, err);
    if (st == KN_OK) st = create(out, fine->ctx, quasi_count, coarse->classes, err);
    if (st == KN_OK) {
        (*out)->unit = unit;
        fill_leaves(*out, coarse);
        for (int64_t i = 0; i < coarse->classes; i++)
            for (int64_t j = starts[i]; j < starts[i + 1]; j++) (*out)->counts[i] += units[j];
        for (int64_t i = 0; i < coarse->classes; i++) (*out)->total += (*out)->counts[i];
    }
    kn_freq_free(coarse);
    kn_free(starts);
    kn_free(units);
    return st;
}

kn_status kn_population_set_of_weights(kn_population_set **out, kn_context *ctx, const kn_table *table,
                                       const int *columns, const kn_hierarchy *const *hierarchies, int quasi_count,
                                       int weight, kn_error *err)
{
    *out = NULL;
    KN_TRY(check_weights(table, weight, err));
    const uint32_t **leaves = kn_alloc_array(ctx, (size_t)quasi_count, sizeof *leaves);
    if (!leaves) return kn_fail_memory(err, ctx, WHAT);
    for (int q = 0; q < quasi_count; q++) leaves[q] = hierarchies[q]->leaf_of_code;
    kn_freq  *fine = NULL;
    kn_status st = group(&fine, ctx, table, columns, hierarchies, leaves, quasi_count, weight, err);
    if (st == KN_OK) st = add_weights(out, fine, &table->columns[weight], quasi_count, err);
    kn_freq_free(fine);
    kn_free(leaves);
    return st;
}

/* ---- What the hierarchies carry ---- */

kn_status kn_population_set_of_hierarchies(kn_population_set **out, kn_context *ctx,
                                           const kn_hierarchy *const *hierarchies, const char *const *names,
                                           int quasi_count, kn_error *err)
{
    const kn_hierarchy *h = hierarchies[0];
    int64_t             total = kn_hierarchy_people(h, kn_hierarchy_root(h));
    *out = NULL;
    for (int q = 1; q < quasi_count; q++) {
        int64_t people = kn_hierarchy_people(hierarchies[q], kn_hierarchy_root(hierarchies[q]));
        if (people != total)
            return kn_fail(err, KN_INPUT,
                           "the populations of the hierarchies are not the same people: that of \"%s\" has %" PRId64
                           ", that of \"%s\" %" PRId64,
                           names[0], total, names[q], people);
    }
    KN_TRY(create(out, ctx, quasi_count, quasi_count == 1 ? (int64_t)h->leaves + 1 : 0, err));
    (*out)->total = total;
    (*out)->apart = quasi_count > 1;
    for (int64_t leaf = 0; leaf < (*out)->count; leaf++) {
        (*out)->leaves[leaf] = (uint32_t)leaf;
        (*out)->counts[leaf] = kn_hierarchy_people(h, (uint32_t)leaf);
    }
    return KN_OK;
}
