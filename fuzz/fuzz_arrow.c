/* fuzz_arrow.c: the input's bytes drive a generator of Arrow streams (arrow_fuzz.h), right and subtly wrong ones.
 *
 * What is imported must be a valid table; exported and imported again it must hold the same values. Every struct is released
 * once.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrow_fuzz.h"
#include "kn_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const kn_table *a, const kn_table *b)
{
    CHECK(a->rows == b->rows && a->column_count == b->column_count);
    for (int c = 0; c < a->column_count; c++) {
        const kn_column *x = &a->columns[c], *y = &b->columns[c];
        CHECK(strcmp(x->name, y->name) == 0 && x->missing == y->missing && x->dict.count == y->dict.count);
        CHECK(x->type == y->type || (x->type == KN_TYPE_DECIMAL && y->type == KN_TYPE_TEXT));
        for (int64_t r = 0; r < a->rows; r++) {
            uint32_t i = kn_column_code(x, r), j = kn_column_code(y, r);
            CHECK((i == x->dict.count) == (j == y->dict.count));
            if (i == x->dict.count) continue;
            CHECK(x->type == KN_TYPE_DECIMAL || i == j);
            if (x->dict.integers)
                CHECK(x->dict.integers[i] == y->dict.integers[j]);
            else
                CHECK(kn_string_equal(kn_dictionary_text(&x->dict, i), kn_dictionary_text(&y->dict, j)));
        }
    }
}

static void round_trip(kn_context *ctx, const kn_table *table, uint8_t choice)
{
    kn_arrow_export_options options = KN_ARROW_EXPORT_OPTIONS_INIT;
    options.batch_rows = choice & 7;
    options.plain_text = choice & 8;
    options.decimal_text = choice & 16;
    struct ArrowArrayStream stream;
    kn_table               *again = NULL;
    const char             *reason = "";
    kn_error                err = KN_ERROR_INIT;
    CHECK(kn_table_export_arrow(&stream, table, ctx, &options, &err) == KN_OK);
    kn_status st = kn_table_import_arrow(&again, ctx, &stream, NULL, &err);
    CHECK(!stream.release);
    if (st != KN_OK) { /* values that a table can hold and the interface, or a double, cannot */
        CHECK(strstr(err.message, "outside the years") || strstr(err.message, "infinite"));
        return;
    }
    CHECK(kn_table_validate(again, &reason));
    if (options.decimal_text) check_same(table, again);
    kn_table_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input                   in = {data, size};
    producer                p;
    uint8_t                 choice = take(&in), more = take(&in);
    struct ArrowArrayStream stream = make_stream(&p, &in);
    kn_context_options      context = KN_CONTEXT_OPTIONS_INIT;
    context.threads = 1;
    context.memory_limit = 64 << 20;
    kn_context *ctx = NULL;
    CHECK(kn_context_create(&ctx, &context, NULL) == KN_OK);
    kn_arrow_options options = KN_ARROW_OPTIONS_INIT;
    options.infer_text = more & 1;
    options.na = more & 2 ? kn_default_na() : NULL;
    options.na_count = -1;
    options.timezone = more & 4 ? "+05:30" : NULL;
    options.columns = more & 8 ? (const char *const[]){"b", "a"} : NULL;
    options.column_count = 2;
    options.producer_messages = more & 16;
    kn_table   *table = NULL;
    kn_error    err = KN_ERROR_INIT;
    const char *reason = "";
    kn_status   st = kn_table_import_arrow(&table, ctx, &stream, &options, &err);
    end_producer(&p);
    if (st == KN_OK) {
        CHECK(kn_table_validate(table, &reason));
        round_trip(ctx, table, choice);
        kn_table_free(table);
    } else {
        CHECK(!table && err.status == st && err.message[0] && st != KN_INTERNAL);
    }
    CHECK(kn_context_memory_used(ctx) == 0);
    kn_context_free(ctx);
    return 0;
}
