/* domain.c: what the texts of a column mean: which are equal, in which order, which are missing.
 *
 * Equal numbers, dates and times are one value whatever their spelling; a release shows one of the spellings, and any
 * other with the same meaning is accepted. Text is compared byte by byte. The texts of a population belong to the
 * domain too.
 *
 * Cost: O(texts log texts). Memory: about 60 bytes per text.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_sort.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"

bool kn_v_is_missing(const kn_spec *spec, kn_string text)
{
    text = kn_value_trim(text);
    const char *const *na = spec->csv.na ? spec->csv.na : kn_default_na();
    for (int i = 0; spec->csv.na ? i < spec->csv.na_count : na[i] != NULL; i++)
        if (kn_string_equal(text, kn_value_trim(kn_string_of(na[i])))) return true;
    return false;
}

/* ---- The values ---- */

typedef struct values {
    kn_arena        room;
    kn_string      *texts; /* those that are not missing, the original's before the population's    */
    uint32_t       *index; /* position of each in d->texts                                         */
    bool           *used;  /* per text of the original: some row that takes part has it; NULL: all */
    int64_t        *integers;
    kn_decimal     *decimals;
    kn_sort_record *order;
    size_t          count;
    size_t          own; /* of the original */
} values;

static int by_spelling(const kn_string *texts, uint64_t a, uint64_t b)
{
    if (texts[a].size != texts[b].size) return texts[a].size < texts[b].size ? -1 : 1;
    return kn_string_compare(texts[a], texts[b]);
}

static int compare_values(const void *arg, uint64_t a, uint64_t b)
{
    const values *v = arg;
    int           c = 0;
    if (v->integers)
        c = v->integers[a] < v->integers[b] ? -1 : v->integers[a] > v->integers[b];
    else if (v->decimals)
        c = kn_decimal_compare(&v->decimals[a], &v->decimals[b]);
    else
        return kn_string_compare(v->texts[a], v->texts[b]);
    if (c == 0) c = (a >= v->own) - (b >= v->own); /* the original's spelling before the population's */
    return c ? c : by_spelling(v->texts, a, b);
}

static bool same_value(const values *v, uint64_t a, uint64_t b)
{
    if (v->integers) return v->integers[a] == v->integers[b];
    if (v->decimals) return kn_decimal_compare(&v->decimals[a], &v->decimals[b]) == 0;
    return false;
}

static uint64_t sort_key(const values *v, size_t i)
{
    if (v->integers) return (uint64_t)v->integers[i] ^ (uint64_t)1 << 63;
    if (v->decimals) {
        double   x = v->decimals[i].nearest == 0 ? 0 : v->decimals[i].nearest;
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
    }
    uint64_t key = 0;
    for (size_t b = 0; b < 8; b++) key = key << 8 | (b < v->texts[i].size ? (uint8_t)v->texts[i].data[b] : 0);
    return key;
}

/* The type of the population's texts, which are read separately. */
static kn_status infer_population(kn_vdomain *d, const kn_vcolumn *population, kn_type *type, const char **format,
                                  size_t *count, kn_error *err)
{
    bool       ambiguous;
    kn_string *texts = kn_alloc_array(d->ctx, (size_t)population->count + 1, sizeof *texts);
    if (!texts) return kn_fail_memory(err, d->ctx, WHAT);
    *count = 0;
    for (uint32_t i = 0; i < population->count; i++)
        if (!kn_v_is_missing(d->spec, kn_vtext(population, i))) texts[(*count)++] = kn_vtext(population, i);
    kn_status st = kn_infer_type(type, format, &ambiguous, d->ctx, texts, *count, &d->rules, err);
    kn_free(texts);
    return st;
}

/* The common type of two: text, unless both are numbers. */
static kn_type common_type(kn_type a, kn_type b)
{
    bool numbers = (a == KN_TYPE_INTEGER || a == KN_TYPE_DECIMAL) && (b == KN_TYPE_INTEGER || b == KN_TYPE_DECIMAL);
    return a == b ? a : numbers ? KN_TYPE_DECIMAL : KN_TYPE_TEXT;
}

static kn_status find_type(kn_vdomain *d, kn_type declared, const kn_vcolumn *population, const values *v,
                           const char **other_format, kn_error *err)
{
    bool ambiguous;
    d->type = declared;
    *other_format = d->format;
    if (declared != KN_TYPE_AUTO) return KN_OK;
    KN_TRY(kn_infer_type(&d->type, &d->format, &ambiguous, d->ctx, v->texts, v->own, &d->rules, err));
    if (!population) return KN_OK;
    kn_type other = KN_TYPE_TEXT;
    size_t  count = 0;
    KN_TRY(infer_population(d, population, &other, other_format, &count, err));
    if (v->own == 0)
        d->type = other;
    else if (count > 0)
        d->type = common_type(d->type, other);
    return KN_OK;
}

static kn_status read_values(kn_vdomain *d, const char *name, const char *other_format, values *v, kn_error *err)
{
    if (d->type == KN_TYPE_TEXT) return KN_OK;
    if (d->type == KN_TYPE_DECIMAL)
        v->decimals = kn_arena_array(&v->room, v->count + 1, sizeof *v->decimals);
    else
        v->integers = kn_arena_array(&v->room, v->count + 1, sizeof *v->integers);
    if (v->room.failed) return kn_fail_memory(err, d->ctx, WHAT);
    size_t    bad = 0, own = v->own;
    kn_error  inner = KN_ERROR_INIT;
    kn_status st =
        kn_parse_values(d->ctx, v->texts, own, d->type, d->format, &d->rules, v->integers, v->decimals, &bad, &inner);
    if (st == KN_OK && own < v->count)
        st = kn_parse_values(d->ctx, v->texts + own, v->count - own, d->type, other_format, &d->rules,
                             v->integers ? v->integers + own : NULL, v->decimals ? v->decimals + own : NULL, &bad,
                             &inner);
    if (st == KN_INPUT)
        return kn_fail(err, KN_INPUT, "column \"%s\" is declared %s and holds something else", name,
                       kn_type_name(d->type));
    if (st != KN_OK && err) *err = inner;
    return st;
}

/* Numbers the values in their order. */
static kn_status order_values(kn_vdomain *d, values *v, kn_error *err)
{
    v->order = kn_arena_array(&v->room, v->count + 1, sizeof *v->order);
    d->spelling = kn_arena_array(&d->arena, v->count + 1, sizeof *d->spelling);
    if (v->integers) d->integers = kn_arena_array(&d->arena, v->count + 1, sizeof *d->integers);
    if (v->decimals) d->decimals = kn_arena_array(&d->arena, v->count + 1, sizeof *d->decimals);
    if (v->room.failed || d->arena.failed) return kn_fail_memory(err, d->ctx, WHAT);
    size_t n = 0;
    for (size_t i = 0; i < v->count; i++) {
        d->value_of_text[v->index[i]] = KN_V_NONE;
        if (i < v->own && v->used && !v->used[v->index[i]]) continue;
        v->order[n++] = (kn_sort_record){sort_key(v, i), i};
    }
    KN_TRY(kn_sort_records(d->ctx, v->order, n, compare_values, v, err));
    for (size_t i = 0; i < n; i++) {
        uint64_t at = v->order[i].id;
        if (i == 0 || !same_value(v, v->order[i - 1].id, at)) {
            d->spelling[d->count] = v->texts[at];
            if (v->integers) d->integers[d->count] = v->integers[at];
            if (v->decimals) d->decimals[d->count] = v->decimals[at];
            d->count++;
        }
        d->value_of_text[v->index[at]] = d->count - 1;
    }
    return KN_OK;
}

/* Which texts of the original do the rows that take part, or the population, have? */
static kn_status mark_used(kn_vdomain *d, const kn_vrows *rows, const kn_vcolumn *original,
                           const kn_vcolumn *population, values *v, kn_error *err)
{
    if (!rows->dropped) return KN_OK;
    v->used = kn_arena_array_zero(&v->room, (size_t)original->count + 1, sizeof *v->used);
    if (!v->used) return kn_fail_memory(err, d->ctx, WHAT);
    for (int64_t row = 0; row < rows->count; row++)
        if (!rows->dropped[row]) v->used[kn_vcode(original, row)] = true;
    for (uint32_t i = 0; population && i < population->count; i++)
        if (d->of_population[i] < original->count) v->used[d->of_population[i]] = true;
    return KN_OK;
}

static kn_status add_texts(kn_vdomain *d, const kn_vcolumn *column, uint32_t **out, kn_error *err)
{
    *out = kn_arena_array(&d->arena, (size_t)column->count + 1, sizeof **out);
    if (!*out) return kn_fail_memory(err, d->ctx, WHAT);
    for (uint32_t i = 0; i < column->count; i++) {
        (*out)[i] = kn_texts_add(&d->texts, kn_vtext(column, i), false);
        if ((*out)[i] == KN_V_NONE) return kn_fail_memory(err, d->ctx, WHAT);
    }
    return KN_OK;
}

static kn_status collect(kn_vdomain *d, uint32_t own, values *v, kn_error *err)
{
    size_t n = d->texts.count;
    d->value_of_text = kn_arena_array(&d->arena, n + 1, sizeof *d->value_of_text);
    v->texts = kn_arena_array(&v->room, n + 1, sizeof *v->texts);
    v->index = kn_arena_array(&v->room, n + 1, sizeof *v->index);
    if (v->room.failed || d->arena.failed) return kn_fail_memory(err, d->ctx, WHAT);
    for (uint32_t i = 0; i < n; i++) {
        d->value_of_text[i] = KN_V_MISSING;
        if (kn_v_is_missing(d->spec, d->texts.texts[i])) continue;
        v->texts[v->count] = d->texts.texts[i];
        v->index[v->count++] = i;
        if (i < own) v->own++;
    }
    return KN_OK;
}

static void translate(const kn_vdomain *d, const kn_vcolumn *column, uint32_t *of)
{
    for (uint32_t i = 0; column && i < column->count; i++) of[i] = d->value_of_text[of[i]];
}

kn_status kn_vdomain_make(kn_vdomain *d, kn_context *ctx, const kn_spec *spec, const kn_attribute *attribute,
                          const kn_vrows *rows, const kn_vcolumn *original, const kn_vcolumn *population,
                          const kn_timezone *zone, kn_error *err)
{
    /* Identifiers and kept columns are copied in their spelling; a person may be spelled in several ways. */
    bool        spelled = attribute->role == KN_ROLE_IDENTIFIER
                              ? !kn_spec_is_entity(spec, attribute->name)
                              : attribute->role == KN_ROLE_KEEP || attribute->role == KN_ROLE_SET;
    kn_type     declared = attribute->type == KN_TYPE_AUTO && spelled ? KN_TYPE_TEXT : attribute->type;
    const char *other_format = NULL;
    values      v = {.room = {.ctx = ctx}};
    *d = (kn_vdomain){.ctx = ctx, .spec = spec, .format = attribute->format, .rules = {spec->csv.decimal, zone}};
    kn_arena_init(&d->arena, ctx);
    kn_texts_init(&d->texts, ctx);
    kn_status st = add_texts(d, original, &d->of_original, err);
    if (st == KN_OK && population) st = add_texts(d, population, &d->of_population, err);
    if (st == KN_OK) st = collect(d, original->count, &v, err);
    if (st == KN_OK) st = mark_used(d, rows, original, population, &v, err);
    if (st == KN_OK) st = find_type(d, declared, population, &v, &other_format, err);
    if (st == KN_OK) st = read_values(d, attribute->name, other_format, &v, err);
    if (st == KN_OK) st = order_values(d, &v, err);
    if (st == KN_OK) {
        translate(d, original, d->of_original);
        translate(d, population, d->of_population);
    }
    kn_arena_free(&v.room);
    return st;
}

void kn_vdomain_free(kn_vdomain *d)
{
    if (!d->ctx) return;
    kn_texts_free(&d->texts);
    kn_arena_free(&d->arena);
    *d = (kn_vdomain){0};
}

/* ---- Looking up ---- */

/* What a text means in this column. */
typedef struct meaning {
    int64_t    integer;
    kn_decimal decimal;
} meaning;

static bool read_meaning(const kn_vdomain *d, kn_string text, meaning *out)
{
    switch (d->type) {
    case KN_TYPE_INTEGER: return kn_parse_declared_integer(text, &out->integer);
    case KN_TYPE_DECIMAL: return kn_parse_declared_decimal(text, d->rules.decimal, &out->decimal);
    case KN_TYPE_DATE:
        return (d->format && kn_parse_date(text, d->format, &out->integer)) ||
               kn_parse_date(text, "%Y-%m-%d", &out->integer);
    case KN_TYPE_DATETIME:
        if (d->format && kn_parse_datetime(text, d->format, d->rules.timezone, &out->integer)) return true;
        if (kn_parse_datetime(text, "%Y-%m-%dT%H:%M:%S%z", d->rules.timezone, &out->integer) ||
            kn_parse_datetime(text, "%Y-%m-%d %H:%M:%S%z", d->rules.timezone, &out->integer))
            return true;
        if (!kn_parse_date(text, "%Y-%m-%d", &out->integer)) return false;
        out->integer *= 86400; /* a day stands for its beginning, by the clocks of the input's time zone */
        out->integer = (out->integer - kn_timezone_offset(d->rules.timezone, out->integer)) * 1000000;
        return true;
    case KN_TYPE_AUTO:
    case KN_TYPE_TEXT: break;
    }
    return false;
}

static int compare_with(const kn_vdomain *d, uint32_t value, const meaning *m)
{
    if (d->integers) return d->integers[value] < m->integer ? -1 : d->integers[value] > m->integer;
    return kn_decimal_compare(&d->decimals[value], &m->decimal);
}

/* The first value that is not smaller (or, `above`, that is greater). */
static uint32_t lower_bound(const kn_vdomain *d, const meaning *m, bool above)
{
    uint32_t low = 0, high = d->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_with(d, middle, m) < (above ? 1 : 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t kn_vdomain_find(const kn_vdomain *d, kn_string text)
{
    uint32_t known = kn_texts_find(&d->texts, text);
    if (known != KN_V_NONE && d->value_of_text[known] != KN_V_NONE) return d->value_of_text[known];
    if (text.size == 0 || kn_v_is_missing(d->spec, text)) return KN_V_MISSING;
    meaning m;
    if (!read_meaning(d, text, &m)) return KN_V_NONE;
    uint32_t at = lower_bound(d, &m, false);
    return at < d->count && compare_with(d, at, &m) == 0 ? at : KN_V_NONE;
}

bool kn_vdomain_readable(const kn_vdomain *d, kn_string text)
{
    meaning m;
    return read_meaning(d, text, &m);
}

/* An end of an interval: a spelling of the data, or anything that can be read as the column's type. */
static bool read_end(const kn_vdomain *d, kn_string text, meaning *m)
{
    text = kn_value_trim(text);
    uint32_t known = kn_texts_find(&d->texts, text), value = known == KN_V_NONE ? KN_V_NONE : d->value_of_text[known];
    if (value == KN_V_NONE || value == KN_V_MISSING) return read_meaning(d, text, m);
    if (d->integers)
        m->integer = d->integers[value];
    else
        m->decimal = d->decimals[value];
    return true;
}

bool kn_vdomain_between(const kn_vdomain *d, const kn_string *low, const kn_string *high, bool open, uint32_t *first,
                        uint32_t *last)
{
    if (!d->integers && !d->decimals) return false;
    meaning m;
    *first = 0;
    *last = d->count;
    if (low) {
        if (!read_end(d, *low, &m)) return false;
        *first = lower_bound(d, &m, false);
    }
    if (high) {
        if (!read_end(d, *high, &m)) return false;
        *last = lower_bound(d, &m, !open);
    }
    if (*last < *first) *last = *first;
    return true;
}

/* Integers may be far larger than their differences. */
static long double distance(const kn_vdomain *d, const meaning *low, const meaning *high)
{
    if (!d->integers) return (long double)high->decimal.nearest - (long double)low->decimal.nearest;
    if (low->integer > high->integer) return -1;
    return (long double)((uint64_t)high->integer - (uint64_t)low->integer);
}

/* The end, or the outermost value where there is none. */
static bool end_or(const kn_vdomain *d, const kn_string *text, uint32_t outermost, meaning *m)
{
    if (text) return read_end(d, *text, m);
    if (d->integers)
        m->integer = d->integers[outermost];
    else
        m->decimal = d->decimals[outermost];
    return true;
}

double kn_vdomain_width(const kn_vdomain *d, const kn_string *low, const kn_string *high)
{
    meaning a = {0}, b = {0}, smallest = {0}, largest = {0};
    if (d->count == 0 || !end_or(d, low, 0, &a) || !end_or(d, high, d->count - 1, &b)) return NAN;
    (void)end_or(d, NULL, 0, &smallest);
    (void)end_or(d, NULL, d->count - 1, &largest);
    long double whole = distance(d, &smallest, &largest);
    return whole > 0 ? (double)(distance(d, &a, &b) / whole) : 0;
}
