/* test_arrow_export.c: tables out through the Arrow C Stream Interface, and back in. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <errno.h>
#include <inttypes.h>
#include <kanon/arrow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_builder.h"
#include "kn_rng.h"

enum { COLUMNS = 5 };
static const kn_builder_type types[COLUMNS] = {{KN_TYPE_TEXT, NULL},
                                               {KN_TYPE_INTEGER, NULL},
                                               {KN_TYPE_DECIMAL, NULL},
                                               {KN_TYPE_DATE, "%Y-%m-%d"},
                                               {KN_TYPE_DATETIME, "%Y-%m-%dT%H:%M:%S%z"}};

typedef void (*cell_fn)(void *arg, int64_t row, int column, char out[64]); /* "-": missing */

static kn_table *make_table(kn_context *ctx, int64_t rows, cell_fn cell, void *arg)
{
    kn_string   names[COLUMNS] = {{"text", 4}, {"integer", 7}, {"decimal", 7}, {"date", 4}, {"time", 4}};
    kn_builder *b = NULL;
    kn_table   *t = NULL;
    kn_error    err = KN_ERROR_INIT;
    assert_ok(kn_builder_create(&b, ctx, names, COLUMNS, 1, &err), err);
    for (int64_t r = 0; r < rows; r++) {
        uint32_t ids[COLUMNS];
        int64_t  first;
        for (int c = 0; c < COLUMNS; c++) {
            char text[64];
            cell(arg, r, c, text);
            ids[c] = strcmp(text, "-") ? kn_intern(kn_builder_interner(b, c, 0), kn_string_of(text)) : KN_ID_MISSING;
        }
        assert_ok(kn_builder_extend(b, 1, 0, &first, &err), err);
        for (int c = 0; c < COLUMNS; c++) kn_builder_write(b, c, first, &ids[c], 1);
    }
    assert_ok(kn_builder_finish(&t, b, types, NULL, &err), err);
    return t;
}

static void small_cell(void *arg, int64_t row, int column, char out[64])
{
    (void)arg;
    static const char *const cells[3][COLUMNS] = {{"b", "-7", "1.5", "2024-02-29", "1970-01-01T00:00:01Z"},
                                                  {"-", "-", "-", "-", "-"},
                                                  {"", "9000000000", "-0.25", "1969-12-31", "1969-12-31T23:59:59.5Z"}};
    strcpy(out, cells[row][column]);
}

/* The dictionary's value; floats that come back are the same doubles, all else also the same text. */
static void check_equal(const kn_table *a, const kn_table *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->column_count, b->column_count);
    for (int c = 0; c < a->column_count; c++) {
        const kn_column *x = &a->columns[c], *y = &b->columns[c];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->type, y->type);
        assert_int_equal(x->dict.count, y->dict.count);
        assert_int_equal(x->missing, y->missing);
        assert_int_equal(x->width, y->width);
        for (uint32_t i = 0; i < x->dict.count; i++) {
            if (x->type == KN_TYPE_DECIMAL) assert_true(x->dict.decimals[i] == y->dict.decimals[i]);
            if (x->dict.integers) assert_int_equal(x->dict.integers[i], y->dict.integers[i]);
            kn_string s = kn_dictionary_text(&x->dict, i), t = kn_dictionary_text(&y->dict, i);
            if (x->type != KN_TYPE_DECIMAL) assert_true(kn_string_equal(s, t));
        }
        if (a->rows > 0) assert_memory_equal(x->codes, y->codes, (size_t)a->rows * (size_t)x->width);
    }
}

static void test_shape(void **state)
{
    (void)state;
    kn_context             *ctx = testing_context(1);
    kn_error                err = KN_ERROR_INIT;
    kn_table               *t = make_table(ctx, 3, small_cell, NULL);
    struct ArrowArrayStream stream;
    struct ArrowSchema      schema;
    struct ArrowArray       a, end;
    assert_ok(kn_table_export_arrow(&stream, t, ctx, NULL, &err), err);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_string_equal(schema.format, "+s");
    assert_int_equal(schema.n_children, COLUMNS);
    static const char *const formats[COLUMNS] = {"i", "l", "g", "tdD", "tsu:UTC"};
    for (int c = 0; c < COLUMNS; c++) {
        assert_string_equal(schema.children[c]->format, formats[c]);
        assert_string_equal(schema.children[c]->name, kn_table_name(t, c));
        assert_int_equal(schema.children[c]->flags, ARROW_FLAG_NULLABLE);
        assert_int_equal(schema.children[c]->dictionary != NULL, c == 0);
    }
    assert_string_equal(schema.children[0]->dictionary->format, "u");
    assert_int_equal(stream.get_next(&stream, &a), 0);
    assert_int_equal(stream.get_next(&stream, &end), 0);
    assert_null(end.release);
    assert_null(stream.get_last_error(&stream));
    stream.release(&stream);
    kn_table_free(t);
    assert_null(stream.release);

    /* The arrays stand on their own now. */
    assert_int_equal(a.length, 3);
    assert_int_equal(a.null_count, 0);
    for (int c = 0; c < COLUMNS; c++) {
        assert_int_equal(a.children[c]->length, 3);
        assert_int_equal(a.children[c]->null_count, 1);
        assert_int_equal(((const uint8_t *)a.children[c]->buffers[0])[0], 5);
    }
    assert_memory_equal(a.children[0]->buffers[1], ((int32_t[]){1, 0, 0}), 12);
    assert_int_equal(a.children[0]->dictionary->length, 2);
    assert_memory_equal(a.children[0]->dictionary->buffers[1], ((int32_t[]){0, 0, 1}), 12);
    assert_memory_equal(a.children[0]->dictionary->buffers[2], "b", 1);
    assert_memory_equal(a.children[1]->buffers[1], ((int64_t[]){-7, 0, INT64_C(9000000000)}), 24);
    assert_memory_equal(a.children[2]->buffers[1], ((double[]){1.5, 0, -0.25}), 24);
    assert_memory_equal(a.children[3]->buffers[1], ((int32_t[]){19782, 0, -1}), 12);
    assert_memory_equal(a.children[4]->buffers[1], ((int64_t[]){1000000, 0, -500000}), 24);
    a.release(&a);
    assert_null(a.release);
    schema.release(&schema);
    assert_null(schema.release);
    testing_context_free(ctx);
}

static void test_plain_text(void **state)
{
    (void)state;
    kn_context             *ctx = testing_context(1);
    kn_error                err = KN_ERROR_INIT;
    kn_table               *t = make_table(ctx, 3, small_cell, NULL);
    kn_arrow_export_options options = KN_ARROW_EXPORT_OPTIONS_INIT;
    options.plain_text = options.decimal_text = true;
    options.batch_rows = 2;
    struct ArrowArrayStream stream;
    struct ArrowSchema      schema;
    struct ArrowArray       a;
    assert_ok(kn_table_export_arrow(&stream, t, ctx, &options, &err), err);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_string_equal(schema.children[0]->format, "u");
    assert_string_equal(schema.children[2]->format, "u");
    schema.release(&schema);
    assert_int_equal(stream.get_next(&stream, &a), 0);
    assert_int_equal(a.length, 2);
    assert_memory_equal(a.children[2]->buffers[1], ((int32_t[]){0, 3, 3}), 12);
    assert_memory_equal(a.children[2]->buffers[2], "1.5", 3);
    a.release(&a);
    assert_int_equal(stream.get_next(&stream, &a), 0);
    assert_int_equal(a.length, 1);
    assert_int_equal(a.children[0]->null_count, 0);
    a.release(&a);
    stream.release(&stream);
    options.batch_rows = INT64_MAX; /* no batch is longer than the table: offsets of 4 bytes do */
    assert_ok(kn_table_export_arrow(&stream, t, ctx, &options, &err), err);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_string_equal(schema.children[0]->format, "u");
    schema.release(&schema);
    stream.release(&stream);
    options.batch_rows = -1;
    assert_int_equal(kn_table_export_arrow(&stream, t, ctx, &options, &err), KN_USAGE);
    assert_null(stream.release);
    options.size = 0;
    assert_int_equal(kn_table_export_arrow(&stream, t, ctx, &options, &err), KN_USAGE);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* A consumer may move a column out of a batch, and the dictionary out of a column, and release in any order. */
static void test_moved(void **state)
{
    (void)state;
    kn_context             *ctx = testing_context(1);
    kn_error                err = KN_ERROR_INIT;
    kn_table               *t = make_table(ctx, 3, small_cell, NULL);
    kn_arrow_export_options options = KN_ARROW_EXPORT_OPTIONS_INIT;
    options.batch_rows = 1;
    struct ArrowArrayStream stream;
    struct ArrowArray       a, column, dictionary, last;
    struct ArrowSchema      schema, field;
    assert_ok(kn_table_export_arrow(&stream, t, ctx, &options, &err), err);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    field = *schema.children[0];
    schema.children[0]->release = NULL;
    schema.release(&schema);
    assert_int_equal(stream.get_next(&stream, &a), 0);
    assert_int_equal(stream.get_next(&stream, &last), 0);
    column = *a.children[0];
    a.children[0]->release = NULL;
    a.release(&a);
    dictionary = *column.dictionary;
    column.dictionary->release = NULL;
    column.release(&column);
    stream.release(&stream);
    kn_table_free(t);
    last.release(&last);
    assert_memory_equal(dictionary.buffers[1], ((int32_t[]){0, 0, 1}), 12);
    dictionary.release(&dictionary);
    assert_string_equal(field.name, "text");
    assert_string_equal(field.dictionary->format, "u");
    field.release(&field);
    testing_context_free(ctx);
}

typedef struct random_cells {
    kn_rng   rng;
    uint64_t spread, missing; /* of 10 */
} random_cells;

static void random_cell(void *arg, int64_t row, int column, char out[64])
{
    (void)row;
    random_cells *r = arg;
    int64_t       n = (int64_t)kn_rng_below(&r->rng, r->spread) - (int64_t)(r->spread / 2);
    if (kn_rng_below(&r->rng, 10) < r->missing) {
        strcpy(out, "-");
        return;
    }
    int y, m, d;
    kn_civil_from_days(n, &y, &m, &d);
    switch (column) {
    case 0: snprintf(out, 64, "text %" PRId64, n); break;
    case 1: snprintf(out, 64, "%" PRId64, n * (n % 2 ? 1 : 1000000007)); break;
    case 2: snprintf(out, 64, "%" PRId64 ".%03d", n, (int)kn_rng_below(&r->rng, 1000)); break;
    case 3: snprintf(out, 64, "%04d-%02d-%02d", y, m, d); break;
    default:
        snprintf(out, 64, "%04d-%02d-%02dT%02d:00:%02d%sZ", y, m, d, (int)(n & 15), (int)(n & 31),
                 n % 3 ? "" : ".000125");
        break;
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    uint64_t seed = testing_seed();
    for (uint64_t round = 0; round < (uint64_t)testing_rounds(120); round++) {
        random_cells r = {.spread = 0};
        kn_rng_init(&r.rng, seed, round);
        r.spread = 1 + kn_rng_below(&r.rng, round % 2 ? 1000 : 20);
        r.missing = kn_rng_below(&r.rng, 11);
        kn_context             *ctx = testing_context(1 + (int)(round % 3));
        kn_error                err = KN_ERROR_INIT;
        kn_table               *t = make_table(ctx, (int64_t)kn_rng_below(&r.rng, 1500), random_cell, &r);
        kn_arrow_export_options options = KN_ARROW_EXPORT_OPTIONS_INIT;
        kn_arrow_options        back = KN_ARROW_OPTIONS_INIT;
        options.batch_rows = (int64_t)kn_rng_below(&r.rng, 700);
        options.plain_text = kn_rng_below(&r.rng, 2);
        struct ArrowArrayStream stream;
        kn_table               *again = NULL;
        const char             *reason = "";
        assert_ok(kn_table_export_arrow(&stream, t, ctx, &options, &err), err);
        assert_ok(kn_table_import_arrow(&again, ctx, &stream, &back, &err), err);
        assert_null(stream.release);
        if (!kn_table_validate(again, &reason)) fail_msg("%s", reason);
        check_equal(t, again);
        kn_table_free(again);
        options.decimal_text = true;
        assert_ok(kn_table_export_arrow(&stream, t, ctx, &options, &err), err);
        assert_ok(kn_table_import_arrow(&again, ctx, &stream, &back, &err), err);
        assert_int_equal(kn_table_type(again, 2), KN_TYPE_TEXT);
        assert_int_equal(kn_table_distinct(again, 2), kn_table_distinct(t, 2));
        kn_table_free(again);
        kn_table_free(t);
        testing_context_free(ctx);
    }
}

/* Text that could overflow offsets of 4 bytes, were every row of a batch the longest: offsets of 8 bytes. */
static void test_large_offsets(void **state)
{
    (void)state;
    enum { LONG = 4096, MANY = 600000 };
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_string   name = {"x", 1};
    kn_builder *b = NULL;
    kn_table   *t = NULL, *again = NULL;
    int64_t     first;
    uint32_t   *ids = calloc(MANY, sizeof *ids);
    char       *text = malloc(LONG);
    assert_true(ids && text);
    memset(text, 'x', LONG);
    assert_ok(kn_builder_create(&b, ctx, &name, 1, 1, &err), err);
    ids[7] = kn_intern(kn_builder_interner(b, 0, 0), (kn_string){text, LONG});
    assert_ok(kn_builder_extend(b, MANY, 0, &first, &err), err);
    kn_builder_write(b, 0, 0, ids, MANY);
    assert_ok(kn_builder_finish(&t, b, types, NULL, &err), err);
    kn_arrow_export_options options = KN_ARROW_EXPORT_OPTIONS_INIT;
    options.plain_text = true;
    options.batch_rows = MANY;
    struct ArrowArrayStream stream;
    struct ArrowSchema      schema;
    assert_ok(kn_table_export_arrow(&stream, t, ctx, &options, &err), err);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_string_equal(schema.children[0]->format, "U");
    schema.release(&schema);
    assert_ok(kn_table_import_arrow(&again, ctx, &stream, NULL, &err), err);
    check_equal(t, again);
    kn_table_free(again);
    kn_table_free(t);
    free(ids);
    free(text);
    testing_context_free(ctx);
}

/* Every allocation of an export refused in turn: errno values and messages, nothing left behind. */
static void test_memory_refused(void **state)
{
    (void)state;
    kn_context *outside = testing_context(1);
    kn_table   *t = make_table(outside, 3, small_cell, NULL);
    for (int plain = 0; plain < 2; plain++) {
        bool    done = false;
        int64_t n = 0;
        for (; !done; n++) {
            testing_allocator memory = {.refuse_at = n + 1};
            kn_context       *ctx = NULL;
            kn_error          err = KN_ERROR_INIT;
            assert_ok(testing_refusing_context(&ctx, &memory, 1, &err), err);
            kn_arrow_export_options options = KN_ARROW_EXPORT_OPTIONS_INIT;
            options.plain_text = plain;
            options.batch_rows = 2;
            struct ArrowArrayStream stream;
            if (kn_table_export_arrow(&stream, t, ctx, &options, &err) == KN_OK) {
                struct ArrowSchema schema;
                struct ArrowArray  first, second;
                int                code = stream.get_schema(&stream, &schema);
                bool               has_schema = code == 0, has_first = false;
                if (code == 0) has_first = (code = stream.get_next(&stream, &first)) == 0;
                if (code == 0 && (code = stream.get_next(&stream, &second)) == 0) {
                    done = true;
                    second.release(&second);
                }
                if (!done) {
                    assert_int_equal(code, ENOMEM);
                    assert_non_null(strstr(stream.get_last_error(&stream), "out of memory"));
                }
                stream.release(&stream);
                if (has_first) first.release(&first);
                if (has_schema) schema.release(&schema);
            } else {
                assert_int_equal(err.status, KN_MEMORY);
                assert_null(stream.release);
            }
            kn_context_free(ctx);
            assert_int_equal(memory.live, 0);
        }
        assert_true(n > 30);
    }
    kn_table_free(t);
    testing_context_free(outside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(test_shape),         testing_alone(test_plain_text),       testing_alone(test_moved),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_large_offsets), testing_alone(test_memory_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
