/* test_hierarchy_by_type.c: which hierarchy a column gets if none was given, type by type, and that the verifier derives
 * the same one by its own code. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_compare.h"
#include "kn_hierarchy_by_type.h"
#include "kn_rng.h"
#include "kn_table.h"
#include "kn_verify_internal.h"

enum { MOST = 400, LONGEST = 32 };

/* Different values in their order, as a column and as the verifier's domain. */
typedef struct values {
    kn_type    type;
    uint32_t   count;
    int64_t    integers[MOST];
    double     decimals[MOST];
    kn_decimal exact[MOST];
    char       bytes[MOST * LONGEST];
    uint64_t   offsets[MOST + 1];
    kn_string  spelling[MOST];
} values;

static kn_column column_of(values *v)
{
    bool whole = v->type == KN_TYPE_INTEGER || v->type == KN_TYPE_DATE || v->type == KN_TYPE_DATETIME;
    return (kn_column){.type = v->type,
                       .dict = {.count = v->count,
                                .offsets = v->offsets,
                                .bytes = v->bytes,
                                .integers = whole ? v->integers : NULL,
                                .decimals = v->type == KN_TYPE_DECIMAL ? v->decimals : NULL}};
}

static kn_vdomain domain_of(values *v, kn_context *ctx)
{
    kn_column column = column_of(v);
    for (uint32_t i = 0; i < v->count; i++) {
        v->exact[i].nearest = v->decimals[i];
        v->spelling[i] = kn_dictionary_text(&column.dict, i);
    }
    return (kn_vdomain){.ctx = ctx,
                        .type = v->type,
                        .count = v->count,
                        .spelling = v->spelling,
                        .integers = column.dict.integers,
                        .decimals = column.dict.decimals ? v->exact : NULL};
}

static void add_text(values *v, const char *text)
{
    uint64_t from = v->offsets[v->count], size = strlen(text);
    memcpy(v->bytes + from, text, size);
    v->offsets[++v->count] = from + size;
}

/* "ranges 5 10 20", "calendar", "mask 1", "suppress", by both; they must agree. */
static const char *rule_of(values *v)
{
    static char       text[300];
    kn_error          err = KN_ERROR_INIT;
    kn_context       *ctx = testing_context(1);
    kn_arena          room = {.ctx = ctx}, other = {.ctx = ctx};
    kn_hierarchy_spec mine, theirs;
    kn_column         column = column_of(v);
    kn_vdomain        domain = domain_of(v, ctx);
    assert_ok(kn_hierarchy_by_type(&mine, &room, &column, &err), err);
    assert_ok(kn_vtree_by_type(&theirs, &other, &domain, &err), err);
    assert_int_equal(mine.kind, theirs.kind);
    assert_int_equal(mine.width_count, theirs.width_count);
    assert_int_equal(mine.mask_step, theirs.mask_step);
    assert_int_equal(mine.calendar, theirs.calendar);
    const char *name = mine.kind == KN_HIERARCHY_RANGES     ? "ranges"
                       : mine.kind == KN_HIERARCHY_CALENDAR ? "calendar"
                       : mine.kind == KN_HIERARCHY_MASK     ? "mask"
                                                            : "suppress";
    int         n = snprintf(text, sizeof text, "%s", name);
    if (mine.kind == KN_HIERARCHY_MASK) n += snprintf(text + n, sizeof text - (size_t)n, " %d", mine.mask_step);
    for (int i = 0; i < mine.width_count; i++) {
        double width = strtod(mine.widths[i], NULL);
        assert_true(width == strtod(theirs.widths[i], NULL));
        if (i > 0) assert_close(remainder(width, strtod(mine.widths[i - 1], NULL)) / width, 0);
        n += snprintf(text + n, sizeof text - (size_t)n, " %s", mine.widths[i]);
    }
    kn_arena_free(&room);
    kn_arena_free(&other);
    testing_context_free(ctx);
    return text;
}

/* ---- Type by type ---- */

static values numbers(kn_type type, double from, double step, uint32_t count)
{
    values v = {.type = type};
    for (; v.count < count; v.count++) {
        v.decimals[v.count] = from + step * v.count;
        v.integers[v.count] = (int64_t)v.decimals[v.count];
    }
    return v;
}

static void test_integers(void **state)
{
    (void)state;
    values ages = numbers(KN_TYPE_INTEGER, 18, 1, 78), incomes = numbers(KN_TYPE_INTEGER, 12000, 500, 157);
    values grades = numbers(KN_TYPE_INTEGER, 1, 1, 6), zips = numbers(KN_TYPE_INTEGER, 47900, 1, 61);
    values two = numbers(KN_TYPE_INTEGER, 0, 1, 2), huge = numbers(KN_TYPE_INTEGER, 1e15, 1, 10);
    values below = numbers(KN_TYPE_INTEGER, -50, 1, 101);
    assert_string_equal(rule_of(&ages), "ranges 5 10 20 40");
    assert_string_equal(rule_of(&incomes), "ranges 5000 10000 20000 40000");
    assert_string_equal(rule_of(&grades), "ranges 2 4");
    assert_string_equal(rule_of(&zips), "ranges 5 10 20 40");
    assert_string_equal(rule_of(&below), "ranges 5 10 20 40");
    assert_string_equal(rule_of(&two), "suppress");
    assert_string_equal(rule_of(&huge), "suppress");
}

/* One value far away widens what all span, not the narrowest range. */
static void test_outlier(void **state)
{
    (void)state;
    values v = numbers(KN_TYPE_INTEGER, 20, 1, 60);
    v.integers[v.count++] = 9000;
    assert_string_equal(rule_of(&v), "ranges 5 10 20 100 200 1000 2000 4000");
}

static void test_decimals(void **state)
{
    (void)state;
    values weights = numbers(KN_TYPE_DECIMAL, 48.5, 0.5, 120), shares = numbers(KN_TYPE_DECIMAL, 0, 0.01, 101);
    values close = numbers(KN_TYPE_DECIMAL, 1, 1e-12, 50), small = numbers(KN_TYPE_DECIMAL, 1e11, 1e-4, 50);
    assert_string_equal(rule_of(&weights), "ranges 5 10 20 40");
    assert_string_equal(rule_of(&shares), "ranges 0.05 0.1 0.2 0.4");
    assert_string_equal(rule_of(&close), "suppress");
    assert_string_equal(rule_of(&small), "ranges 0.0002 0.001 0.002 0.004");
}

static void test_dates_and_times(void **state)
{
    (void)state;
    values dates = numbers(KN_TYPE_DATE, 10000, 3, 100), times = numbers(KN_TYPE_DATETIME, 1e15, 1e9, 100);
    values two = numbers(KN_TYPE_DATE, 10000, 3, 2);
    assert_string_equal(rule_of(&dates), "calendar");
    assert_string_equal(rule_of(&times), "calendar");
    assert_string_equal(rule_of(&two), "suppress");
}

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *texts[4], *rule;
    } cases[] = {
        {{"02138", "47906", "47907"}, "mask 1"},
        {{"AB-101", "AB-102", "CD-201"}, "mask 1"},
        {{"DE123456", "DE123457", "FR000001"}, "mask 2"},
        {{"\xc3\x84\x31\x32", "B12", "C34"}, "mask 1"}, /* characters, not bytes */
        {{"A1", "B20", "C3"}, "suppress"},              /* of different lengths */
        {{"north", "south", "house"}, "suppress"},      /* without a digit */
        {{"01/02/2024", "02/03/2024", "03/04/2024"}, "suppress"},
        {{"4790*", "4791*", "4792*"}, "suppress"}, /* hidden already */
        {{"1", "a", "b"}, "suppress"},
        {{"A1", "A2"}, "suppress"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        values v = {.type = KN_TYPE_TEXT};
        for (int t = 0; t < 4 && cases[i].texts[t]; t++) add_text(&v, cases[i].texts[t]);
        assert_string_equal(rule_of(&v), cases[i].rule);
    }
}

/* ---- Any values ---- */

static void draw_texts(values *v, kn_rng *rng)
{
    static const char letters[] = "0123456789abcXYZ-. *";
    uint64_t          length = 1 + kn_rng_below(rng, 26), kinds = 10 + kn_rng_below(rng, 11);
    while (v->count < 2 + kn_rng_below(rng, 20)) {
        char   text[LONGEST];
        size_t size = (size_t)length - (kn_rng_below(rng, 40) == 0 && length > 1);
        for (size_t i = 0; i < size; i++) text[i] = letters[kn_rng_below(rng, kinds)];
        text[size] = '\0';
        add_text(v, text);
    }
}

static void draw_numbers(values *v, kn_rng *rng)
{
    double scale = pow(10, (double)kn_rng_below(rng, 24) - 10), at = (kn_rng_double(rng) - 0.5) * 4 * scale;
    bool   whole = v->type != KN_TYPE_DECIMAL;
    if (whole) at = floor(at);
    for (uint32_t n = 1 + (uint32_t)kn_rng_below(rng, MOST - 1); v->count < n; v->count++) {
        double step = whole ? floor(kn_rng_double(rng) * 5) + 1 : kn_rng_double(rng) * scale / 50 + scale * 1e-5;
        at += kn_rng_below(rng, 30) == 0 ? step * 40 : step;
        v->decimals[v->count] = at;
        v->integers[v->count] = (int64_t)fmax(-9e17, fmin(9e17, at));
    }
}

static void test_verifier_agrees(void **state)
{
    (void)state;
    static const kn_type types[] = {KN_TYPE_INTEGER, KN_TYPE_DECIMAL, KN_TYPE_TEXT};
    kn_rng               rng;
    int                  seen[3] = {0}, rounds = testing_rounds(2000);
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < rounds; round++) {
        values v = {.type = types[round % 3]};
        if (v.type == KN_TYPE_TEXT)
            draw_texts(&v, &rng);
        else
            draw_numbers(&v, &rng);
        const char *rule = rule_of(&v);
        seen[rule[0] == 'r' ? 0 : rule[0] == 'm' ? 1 : 2]++;
    }
    for (int i = 0; i < 3; i++) assert_true(seen[i] > rounds / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),        cmocka_unit_test(test_outlier), cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_dates_and_times), cmocka_unit_test(test_texts),   cmocka_unit_test(test_verifier_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
