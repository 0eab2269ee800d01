/* test_document_fold.c: folded lists beside the same lists put item by item: written alone and by all threads, looked at, with
 * memory that runs out and items that are broken; texts and numbers beside plain twins of their writers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_answer.h"
#include "kn_error.h"
#include "kn_rng.h"

static const kn_field_row leg_rows[] = {KN_VALUE("toes", KN_F_COUNT, "how many toes it has")};
static const kn_fields    leg_part = KN_FIELDS(char, "leg", leg_rows, NULL);

static const kn_field_row pet_rows[] = {KN_VALUE("name", KN_F_TEXT, "what it is called"),
                                        KN_VALUE("weight", KN_F_NUMBER, "how heavy it is"),
                                        KN_VALUE("foods", KN_F_TEXTS, "what it eats, best first"),
                                        KN_VALUE_OF("legs", KN_F_LIST, &leg_part, "all of its legs")};
static const kn_fields    pet_part = KN_FIELDS(char, "pet", pet_rows, NULL);

static const kn_field_row zoo_rows[] = {KN_ANSWER_ROW, KN_VALUE_OF("pets", KN_F_LIST, &pet_part, "all of the pets"),
                                        KN_VALUE("names", KN_F_TEXTS, "what they are called"),
                                        KN_VALUE("sizes", KN_F_COUNTS, "how large they are"), KN_NOTES_ROW};
static const kn_fields    zoo = KN_ANSWER(char, "zoo", zoo_rows, NULL, "Which pets are there?");

/* What the items are made from; `broken`: the item that lacks a field, -1: none. */
typedef struct source {
    int64_t broken;
} source;

/* Some are longer than a block of the document's memory. */
static void name_of(char *name, int64_t index)
{
    size_t n = (size_t)snprintf(name, 40, "pet \"%lld\" \xC3\xA4\n", (long long)index);
    if (index % 97 != 5) return;
    memset(name + n, 'x', 5000);
    name[n + 5000] = '\0';
}

enum { MOST_NAME = 5100 };

static void put_pet(kn_to to, const void *from, int64_t index)
{
    const source *s = from;
    char          name[MOST_NAME];
    name_of(name, index);
    kn_put_number(to, "weight", index % 5 ? (double)(index % 100) / 7 : NAN);
    if (index != s->broken) kn_put_text(to, "name", name);
    kn_to legs = kn_put_list(to, "legs"), foods = kn_put_list(to, "foods");
    for (int64_t i = 0; i < index % 4; i++) kn_put_integer(kn_append_object(legs), "toes", index - 3 * i);
    for (int64_t i = 0; i < index % 3; i++) kn_append_text(foods, i ? "hay" : "m\xFFmeal");
}

static void append_name(kn_to to, const void *from, int64_t index)
{
    char name[MOST_NAME];
    (void)from;
    name_of(name, index);
    kn_append_text(to, name);
}

static void append_size(kn_to to, const void *from, int64_t index)
{
    const source *s = from;
    if (index != s->broken) kn_append_integer(to, index % 2 ? -index : index * 1000000007);
}

static kn_status make(kn_document **out, kn_context *ctx, bool folded, int64_t count, int64_t broken, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_document_begin(&doc, ctx, &zoo, err));
    kn_to   to = kn_document_top(doc);
    source *s = kn_document_take(doc, sizeof *s);
    if (s) *s = (source){broken};
    if (s && folded) {
        kn_put_folded(to, "pets", count, put_pet, s);
        kn_put_folded(to, "names", count / 2, append_name, s);
        kn_put_folded(to, "sizes", count, append_size, s);
    } else if (s) {
        kn_to pets = kn_put_list(to, "pets"), names = kn_put_list(to, "names"), sizes = kn_put_list(to, "sizes");
        for (int64_t i = 0; i < count; i++) put_pet(kn_append_object(pets), s, i);
        for (int64_t i = 0; i < count / 2; i++) append_name(names, s, i);
        for (int64_t i = 0; i < count; i++) append_size(sizes, s, i);
    }
    return kn_document_end(out, doc, err);
}

/* What a document writes in pieces. */
typedef struct written {
    char  *text;
    size_t size;
    int    pieces, refused; /* the piece that is refused; 0: none */
} written;

static kn_status add_piece(void *user, const char *data, size_t size, kn_error *err)
{
    written *w = user;
    if (++w->pieces == w->refused) return kn_fail(err, KN_IO, "the disk is full");
    w->text = realloc(w->text, w->size + size + 1);
    assert_non_null(w->text);
    memcpy(w->text + w->size, data, size);
    w->size += size;
    w->text[w->size] = '\0';
    return KN_OK;
}

static char *text_of(kn_document *doc)
{
    kn_error err = KN_ERROR_INIT;
    char    *text = NULL;
    assert_ok(kn_document_json(&text, NULL, doc, &err), err);
    return text;
}

static void check_written(kn_document *doc, kn_context *ctx, const char *expected)
{
    kn_error err = KN_ERROR_INIT;
    written  w = {0};
    assert_ok(kn_document_write(doc, ctx, add_piece, &w, &err), err);
    assert_int_equal(w.size, strlen(expected));
    assert_string_equal(w.text, expected);
    free(w.text);
}

/* The same bytes as the plain list, by any number of threads, before and after it was looked at. */
static void test_same(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 255, 256, 257, 4096, 20000};
    for (int threads = TESTING_THREAD_SANITIZER ? 3 : 1; threads <= 3; threads++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            kn_error     err = KN_ERROR_INIT;
            kn_context  *ctx = testing_context(threads);
            kn_document *plain = NULL, *folded = NULL;
            assert_ok(make(&plain, ctx, false, counts[i], -1, &err), err);
            assert_ok(make(&folded, ctx, true, counts[i], -1, &err), err);
            char *expected = text_of(plain), *text = text_of(folded);
            assert_string_equal(text, expected);
            kn_text_free(text);
            check_written(plain, ctx, expected);
            check_written(folded, ctx, expected);
            check_written(folded, NULL, expected);
            const kn_document_value *list = kn_document_find(folded, "pets");
            assert_int_equal(kn_document_count(list), counts[i]);
            assert_null(kn_document_at(list, counts[i]));
            assert_ok(kn_document_unfold(folded, &err), err);
            assert_ok(kn_document_unfold(folded, &err), err);
            check_written(folded, ctx, expected);
            kn_text_free(expected);
            kn_document_free(plain);
            kn_document_free(folded);
            testing_context_free(ctx);
        }
}

static void *look(void *arg)
{
    int64_t size = 0;
    assert_string_equal(kn_document_text(arg, "pets.101.foods.1"), "hay");
    assert_true(kn_document_integer(arg, "sizes.7", &size));
    assert_int_equal(size, -7);
    kn_text_free(text_of(arg));
    return NULL;
}

/* Several threads look at a list that none has looked at before; the context is gone. */
static void test_looking(void **state)
{
    (void)state;
    kn_error     err = KN_ERROR_INIT;
    kn_context  *ctx = testing_context(1);
    kn_document *doc = NULL;
    pthread_t    threads[4];
    assert_ok(make(&doc, ctx, true, 300, -1, &err), err);
    testing_context_free(ctx);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, look, doc), 0);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_ok(kn_document_add_note(doc, "late", &err), err);
    assert_string_equal(kn_document_text(doc, "notes.0"), "late");
    kn_document_free(doc);
}

/* An item without a field, or that is none, is found when it is written. */
static void test_broken(void **state)
{
    (void)state;
    for (int threads = TESTING_THREAD_SANITIZER ? 2 : 1; threads <= 2; threads++) {
        kn_error     err = KN_ERROR_INIT;
        kn_context  *ctx = testing_context(threads);
        kn_document *doc = NULL;
        written      w = {0};
        char        *text = NULL;
        assert_ok(make(&doc, ctx, true, 20000, 15000, &err), err);
        assert_int_equal(kn_document_write(doc, ctx, add_piece, &w, &err), KN_INTERNAL);
        assert_non_null(strstr(err.message, "'name' is missing"));
        assert_int_equal(kn_document_json(&text, NULL, doc, &err), KN_INTERNAL);
        assert_null(text);
        free(w.text);
        kn_document_free(doc);
        testing_context_free(ctx);
    }
}

/* Who is handed the text may refuse it. */
static void test_refused(void **state)
{
    (void)state;
    kn_error     err = KN_ERROR_INIT;
    kn_context  *ctx = testing_context(2);
    kn_document *doc = NULL;
    assert_ok(make(&doc, ctx, true, 5000, -1, &err), err);
    for (int at = 1; at < 30; at += 4) {
        written w = {.refused = at};
        assert_int_equal(kn_document_write(doc, ctx, add_piece, &w, &err), KN_IO);
        assert_int_equal(w.pieces, at);
        free(w.text);
    }
    kn_document_free(doc);
    testing_context_free(ctx);
}

static kn_status use_memory(kn_context *ctx, kn_error *err)
{
    kn_document *doc = NULL;
    written      w = {0};
    char        *text = NULL;
    KN_TRY(make(&doc, ctx, true, 600, -1, err));
    kn_status st = kn_document_write(doc, ctx, add_piece, &w, err);
    if (st == KN_OK) st = kn_document_json(&text, NULL, doc, err);
    if (st == KN_OK) st = kn_document_unfold(doc, err);
    kn_text_free(text);
    free(w.text);
    kn_document_free(doc);
    return st;
}

static void test_memory(void **state)
{
    (void)state;
    kn_status st = KN_MEMORY;
    /* The context itself is the first. Each item asks for memory as the one before did, so that later ones are sampled. */
    for (int64_t n = 1; st != KN_OK; n += testing_step() + n / 16) {
        testing_allocator allocator = {.refuse_at = n};
        kn_context       *refusing = NULL;
        kn_error          err = KN_ERROR_INIT;
        st = testing_refusing_context(&refusing, &allocator, 1, &err);
        if (st == KN_OK) st = use_memory(refusing, &err);
        assert_true(st == KN_OK || st == KN_MEMORY);
        assert_int_equal(kn_context_memory_used(refusing), 0);
        kn_context_free(refusing);
        assert_int_equal(allocator.live, 0);
    }
}

/* ---- Plain twins ---- */

static const kn_field_row twin_rows[] = {KN_ANSWER_ROW, KN_VALUE("text", KN_F_TEXT, "any text there is"),
                                         KN_VALUE("number", KN_F_COUNT, "any number there is"), KN_NOTES_ROW};
static const kn_fields    twin = KN_ANSWER(char, "twin", twin_rows, NULL, "What does it look like?");

static void quote(char *out, const char *text)
{
    static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    for (; *text; text++) {
        const char *found = strchr(special, *text);
        if (found)
            out += sprintf(out, "\\%c", letters[found - special]);
        else
            out += (unsigned char)*text < 0x20 ? sprintf(out, "\\u%04X", (unsigned)*text) : sprintf(out, "%c", *text);
    }
    *out = '\0';
}

/* Texts are looked at eight bytes at a time; these differ in where something else than a plain byte stands. */
static void test_texts(void **state)
{
    (void)state;
    static const char *const parts[] = {"a", "plain", "eight by", "\"",           "\\", "\n", "\x01", "\x1F",
                                        " ", "\x7F",  "\xC3\xA4", "\xE2\x82\xAC", "!",  "#",  "["};
    kn_rng                   draw;
    kn_rng_init(&draw, testing_seed(), 0);
    kn_context *ctx = testing_context(1);
    for (int round = 0; round < testing_rounds(3000); round++) {
        char         text[400] = "", quoted[2400], expected[3000];
        kn_error     err = KN_ERROR_INIT;
        kn_document *doc = NULL;
        int64_t      number = (int64_t)(kn_rng_next(&draw) >> (kn_rng_next(&draw) % 64));
        if (round % 3 == 0) number = round % 2 ? INT64_MIN : -number;
        for (uint64_t i = kn_rng_next(&draw) % 30; i > 0; i--)
            strcat(text, parts[kn_rng_next(&draw) % (sizeof parts / sizeof *parts)]);
        quote(quoted, text);
        snprintf(expected, sizeof expected,
                 "{\n  \"answer\": \"twin\",\n  \"text\": \"%s\",\n  \"number\": %lld,\n  \"notes\": []\n}\n", quoted,
                 (long long)number);
        assert_ok(kn_document_begin(&doc, ctx, &twin, &err), err);
        kn_put_text(kn_document_top(doc), "text", text);
        kn_put_integer(kn_document_top(doc), "number", number);
        assert_ok(kn_document_end(&doc, doc, &err), err);
        assert_string_equal(kn_document_text(doc, "text"), text);
        char *json = text_of(doc);
        assert_string_equal(json, expected);
        kn_text_free(json);
        kn_document_free(doc);
    }
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same),   cmocka_unit_test(test_looking),
                                       cmocka_unit_test(test_broken), cmocka_unit_test(test_refused),
                                       testing_alone(test_memory),    testing_alone(test_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
