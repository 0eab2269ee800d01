/* test_verify_words.c: the verifier's texts in one block against a plain list of them; one column's texts found in another's; numbers
 * that are plain; every allocation refused in turn. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_rng.h"
#include "kn_verify_internal.h"
#include "kn_verify_sheets.h"

enum { MOST = 3000, LONGEST = 9 };

typedef struct list {
    char      bytes[MOST][LONGEST + 1];
    kn_string texts[MOST];
    uint32_t  count;
} list;

static list list_a, list_b;

/* Any bytes, NULs and empty texts among them. */
static kn_string draw(kn_rng *rng, char *room)
{
    size_t size = kn_rng_below(rng, LONGEST + 1);
    for (size_t i = 0; i < size; i++) room[i] = (char)kn_rng_below(rng, kn_rng_below(rng, 4) == 0 ? 256 : 3);
    return (kn_string){room, size};
}

static uint32_t find(const list *l, kn_string text)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->texts[i].size == text.size && memcmp(l->texts[i].data, text.data, text.size) == 0) return i;
    return KN_V_NONE;
}

static uint32_t add(list *l, kn_string text)
{
    uint32_t known = find(l, text);
    if (known != KN_V_NONE) return known;
    memcpy(l->bytes[l->count], text.data, text.size);
    l->texts[l->count] = (kn_string){l->bytes[l->count], text.size};
    return l->count++;
}

static bool fill(kn_vwords *w, list *l, kn_context *ctx, kn_rng *rng, int adds)
{
    char room[LONGEST + 1];
    bool good = true;
    l->count = 0;
    for (int i = 0; good && i < adds; i++) {
        kn_string text = draw(rng, room);
        uint32_t  expected = add(l, text), number = kn_vwords_add(w, ctx, text);
        good = number != KN_V_NONE;
        if (good) assert_int_equal(number, expected);
    }
    return good && kn_vwords_settle(w, ctx);
}

static void check(const kn_vwords *w, const list *l)
{
    assert_int_equal(w->count, l->count);
    for (uint32_t i = 0; i < l->count; i++) {
        kn_string text = kn_vwords_text(w, i);
        assert_non_null(text.data);
        assert_int_equal(text.size, l->texts[i].size);
        assert_memory_equal(text.data, l->texts[i].data, text.size);
    }
}

static void texts_are_those_of_a_list(void **state)
{
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < testing_rounds(60); round++) {
        kn_vwords a = {0}, b = {0};
        int       adds = (int)kn_rng_below(&rng, round % 3 == 0 ? MOST : 40);
        assert_true(fill(&a, &list_a, ctx, &rng, adds) && fill(&b, &list_b, ctx, &rng, (int)kn_rng_below(&rng, 1500)));
        check(&a, &list_a);
        check(&b, &list_b);
        kn_vcolumn from = {.words = b, .count = b.count}, in = {.words = a, .count = a.count};
        kn_vcolumn plain = {.texts = list_a.texts, .count = list_a.count};
        uint32_t   to[MOST], same[MOST];
        assert_true(kn_vcolumn_translate(to, ctx, &from, &in));
        assert_true(kn_vcolumn_translate(same, ctx, &from, &plain));
        for (uint32_t i = 0; i < b.count; i++) {
            assert_int_equal(to[i], find(&list_a, list_b.texts[i]));
            assert_int_equal(same[i], to[i]);
        }
        kn_vwords_free(&a);
        kn_vwords_free(&b);
    }
    testing_context_free(ctx);
}

/* Several at a time, cells without a text among them, and at first in ascending order: nothing is looked up then. */
static void several_at_a_time(void **state)
{
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(60); round++) {
        kn_vwords       w = {0};
        static char     rooms[MOST][12];
        static uint32_t numbers[MOST];
        kn_string       texts[MOST];
        int             count = (int)kn_rng_below(&rng, 1000), ordered = (int)kn_rng_below(&rng, 1200), number = 0;
        for (int i = 0; i < count; i++) {
            number = i < ordered ? number + (int)kn_rng_below(&rng, 3) : (int)kn_rng_below(&rng, 2000);
            texts[i] = (kn_string){rooms[i], (size_t)snprintf(rooms[i], sizeof rooms[i], "%d", number)};
            if (kn_rng_below(&rng, 20) == 0) texts[i] = (kn_string){NULL, 0};
        }
        for (int at = 0, some; at < count; at += some) {
            some = 1 + (int)kn_rng_below(&rng, 60);
            if (some > count - at) some = count - at;
            assert_true(kn_vwords_add_all(&w, ctx, texts + at, some, numbers + at));
        }
        list_a.count = 0;
        for (int i = 0; i < count; i++)
            assert_int_equal(numbers[i], texts[i].data ? add(&list_a, texts[i]) : KN_V_NONE);
        assert_true(kn_vwords_settle(&w, ctx));
        check(&w, &list_a);
        kn_vwords_free(&w);
    }
    testing_context_free(ctx);
}

/* Beginnings are kept modulo 2^32. */
static void beginnings_beyond_four_gigabytes(void **state)
{
    uint32_t  starts[] = {0, 4000000000u, 5032704u, 5032704u, 3000000000u, 100u}, turns[] = {2, 5};
    kn_vwords w = {.starts = starts, .turns = turns, .turn_count = 2, .count = 5};
    uint64_t  expected[] = {0, 4000000000u, 4300000000u, 4300000000u, 7294967296u, 8589934692u};
    (void)state;
    for (uint32_t i = 0; i < 6; i++) assert_true(kn_vwords_start(&w, i) == expected[i]);
}

/* Numbers whose texts differ have different values, and what printf makes of whole numbers is plain. */
static void plain_numbers(void **state)
{
    static const char *const no[] = {"",    "-",   "+1",  "01",  "1.",    ".5",  "1.50", "-0",  " 1",    "1 ",
                                     "1e5", "0x1", "1,5", "--1", "1.2.3", "1.0", "00",   "-01", "1e+06", "a"};
    static const char *const yes[] = {"0", "7", "-7", "10", "0.5", "-0.5", "12.25", "123456789012345678901234567890"};
    kn_rng                   rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 0);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(kn_v_plain_number((kn_string){no[i], strlen(no[i])}, false));
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(kn_v_plain_number((kn_string){yes[i], strlen(yes[i])}, false));
    assert_true(kn_v_plain_number((kn_string){"1e+06", 5}, true));
    for (int round = 0; round < testing_rounds(20000); round++) {
        char   text[2][8];
        double value[2];
        bool   both = true;
        for (int t = 0; t < 2; t++) {
            size_t size = 1 + kn_rng_below(&rng, 5);
            for (size_t i = 0; i < size; i++) text[t][i] = "0012-.."[kn_rng_below(&rng, 7)];
            text[t][size] = 0;
            both = both && kn_v_plain_number((kn_string){text[t], size}, false);
            value[t] = strtod(text[t], NULL);
        }
        if (both) assert_int_equal(value[0] == value[1], strcmp(text[0], text[1]) == 0);
    }
}

static void memory_that_is_refused(void **state)
{
    int       tries = 0;
    kn_status status = KN_MEMORY;
    (void)state;
    for (; status != KN_OK; tries++) {
        testing_allocator memory = {.refuse_at = tries};
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        kn_vwords         w = {0};
        kn_rng            rng;
        kn_rng_init(&rng, 7, 0);
        status = testing_refusing_context(&ctx, &memory, 1, &err);
        if (status == KN_OK && !fill(&w, &list_a, ctx, &rng, 400)) status = KN_MEMORY;
        kn_vwords_free(&w);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
    assert_true(tries > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_those_of_a_list), cmocka_unit_test(several_at_a_time),
                                       cmocka_unit_test(beginnings_beyond_four_gigabytes),
                                       cmocka_unit_test(plain_numbers), cmocka_unit_test(memory_that_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
