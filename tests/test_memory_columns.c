/* test_memory_columns.c: a release that goes to a name in memory without an ending comes out as columns (kanon/memory.h): the cells,
 * the digest and the certificate of the file, verified before they are handed over, with nothing in them beside the cells.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <inttypes.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_memory_arrow.h"
#include "kn_output.h"
#include "kn_rng.h"
#include "memory_testing.h"

/* ---- The same as a file ---- */

/* The columns that are handed over as the bytes of a CSV file. */
static void assert_same_cells(kn_context *ctx, const char *name)
{
    kn_error                err = KN_ERROR_INIT;
    struct ArrowArrayStream stream;
    kn_table               *table = NULL;
    char                    memory[300];
    snprintf(memory, sizeof memory, "memory:%s", name);
    assert_ok(kn_memory_get_arrow(&stream, ctx, memory, NULL, &err), err);
    assert_ok(kn_table_import_arrow(&table, ctx, &stream, NULL, &err), err);
    snprintf(memory, sizeof memory, "memory:%s.again", name);
    assert_ok(kn_table_write_csv(table, ctx, memory, ',', &err), err);
    kn_table_free(table);
    const void *bytes = NULL;
    size_t      size = 0, there = 0;
    assert_ok(kn_memory_get(&bytes, &size, ctx, memory, &err), err);
    char *file = testing_contents(path_of(name), &there);
    if (size != there || memcmp(bytes, file, size) != 0)
        fail_msg("%s differs: in memory\n%.*s\nin the file\n%.*s", name, (int)size, (const char *)bytes, (int)there,
                 file);
    free(file);
    kn_memory_remove(ctx, memory);
}

static const char head[] =
    "kanon: 1\nforce: true\ninput: @in.csv\noutput: @out\npublic-report: @public.html\nreport: @owner.html\n"
    "suppression: 0.3\n";

static const char attributes[] = "attributes:\n"
                                 "  age: {role: quasi, hierarchy: {ranges: [5, 10, 20]}}\n"
                                 "  town: {role: quasi}\n"
                                 "  day: {role: sensitive}\n"
                                 "  job: {role: sensitive}\n"
                                 "  pay: {role: keep}\n";

/* Texts that need quotes, are formulas, or missing; dates, numbers of two kinds. */
static char *random_rows(kn_rng *rng, int rows)
{
    static const char *const        towns[] = {"Ulm", "\"Bonn, on \"\"Rhine\"\"\"", "Kiel", "NA", ""},
                             *const jobs[] = {"nurse", "\"cook, baker\"", "", "=1+2", "'=x", "-5"};
    char                           *text = malloc((size_t)rows * 90 + 100);
    int                             n = sprintf(text, "age,town,day,job,pay\n");
    for (int i = 0; i < rows; i++)
        n += sprintf(text + n, "%d,%s,2020-0%d-1%d,%s,%d.%d\n", (int)(20 + kn_rng_below(rng, 50)),
                     towns[kn_rng_below(rng, 5)], (int)(1 + kn_rng_below(rng, 3)), (int)kn_rng_below(rng, 3),
                     jobs[kn_rng_below(rng, 6)], (int)kn_rng_below(rng, 4), (int)(1 + kn_rng_below(rng, 8)));
    return text;
}

static const char *const outputs[] = {"out.certificate.json", "public.html", NULL};

static void test_same(void **state)
{
    (void)state;
    static const char *const methods[] = {"optimal", "mondrian", "kmsd", "datafly", "mondrian-best"};
    static const char *const options[] = {"",
                                          "suppressed: drop\n",
                                          "suppressed: keep-sensitive\n",
                                          "keep-rowmap: true\nsummary: side\n",
                                          "keep-order: true\n",
                                          "spreadsheet-safe: true\n",
                                          "missing: drop\n",
                                          "na: [NA]\n",
                                          "delimiter: ','\n"};
    kn_rng                   rng;
    kn_rng_init(&rng, testing_seed(), 0);
    int found = 0;
    for (int round = 0; round < testing_rounds(45); round++) {
        kn_context *ctx = testing_context(2);
        char        form[3000], place[300];
        char       *table = random_rows(&rng, 20 + (int)kn_rng_below(&rng, 60));
        put_both(ctx, "in.csv", table);
        free(table);
        snprintf(form, sizeof form, "%sprivacy: [{k: %d}]\nmethod: %s\n%s%s", head, 2 + round % 2, methods[round % 5],
                 options[round / 5 % 9], attributes);
        snprintf(place, sizeof place, "%s/", files);
        bool made = release(ctx, form, place);
        assert_int_equal(release(ctx, form, "memory:"), made);
        if (made) {
            found++;
            assert_same_cells(ctx, "out");
            for (int i = 0; outputs[i]; i++) assert_same_bytes(ctx, outputs[i]);
            if (strstr(form, "rowmap")) assert_same_bytes(ctx, "out.rowmap");
            if (strstr(form, "summary")) assert_same_bytes(ctx, "out.summary.csv");
            assert_true(holds(ctx, form));
        }
        assert_nothing_written();
        kn_memory_clear(ctx);
        testing_context_free(ctx);
    }
    assert_true(found >= testing_least(30));
}

/* More rows than a batch, and than a piece of the digest, has: two whole batches and one row. */
static void test_several_batches(void **state)
{
    (void)state;
    enum { ROWS = (1 << 17) + 1 };
    static const char form[] =
        "kanon: 1\nforce: true\ninput: @in.csv\noutput: @out\npublic-report: @public.html\n"
        "privacy: [{k: 2}]\nmethod: optimal\nattributes: {a: {role: quasi}, s: {role: sensitive}}\n";
    for (int threads = 1; threads < 4; threads += 2) {
        kn_context *ctx = testing_context(threads);
        char        place[300], *table = malloc(ROWS * 8 + 10);
        int         n = sprintf(table, "a,s\n");
        for (int i = 0; i < ROWS; i++) n += sprintf(table + n, "%d,%d\n", i % 3, i % 1000);
        put_both(ctx, "in.csv", table);
        free(table);
        snprintf(place, sizeof place, "%s/", files);
        assert_true(release(ctx, form, place));
        assert_true(release(ctx, form, "memory:"));
        assert_same_cells(ctx, "out");
        for (int i = 0; outputs[i]; i++) assert_same_bytes(ctx, outputs[i]);
        assert_true(holds(ctx, form));
        kn_memory_clear(ctx);
        testing_context_free(ctx);
    }
}

/* Counted rows: one column of int64 behind the others, or expanded; the counts of the table are of either kind. */
static void test_counted(void **state)
{
    (void)state;
    static const char *const methods[] = {"optimal", "mondrian", "kmsd", "mondrian-relaxed", "mondrian-best"};
    kn_rng                   rng;
    kn_rng_init(&rng, testing_seed(), 1);
    int found = 0;
    for (int round = 0; round < testing_rounds(40); round++) {
        kn_context *ctx = testing_context(2);
        char        form[3000], place[300], table[4000];
        bool        expand = round / 5 % 2, batches = round / 10 % 2;
        int         n = sprintf(table, "age,n,zip,job\n");
        for (int i = 0; i < 40; i++)
            n += sprintf(table + n, "%d,%d,%s,%s\n", (int)(20 + kn_rng_below(&rng, 30)),
                         (int)kn_rng_below(&rng, 400) / 30, kn_rng_below(&rng, 2) ? "Ulm" : "\"Bonn, Rhine\"",
                         kn_rng_below(&rng, 3) ? "cook" : "");
        put_both(ctx, "in.csv", table);
        snprintf(form, sizeof form,
                 "%s%sprivacy: [{k: 4}]\nmethod: %s\n%sattributes:\n  age: {role: quasi, hierarchy: {ranges: [5, 10, "
                 "20]}}\n  zip: {role: quasi}\n  job: {role: sensitive}\n  n: {role: count}\n",
                 head, expand ? "expand: true\n" : "", methods[round % 5], round % 3 ? "" : "suppressed: drop\n");
        snprintf(place, sizeof place, "%s/", files);
        bool made = release(ctx, form, place);
        if (batches) put_as_arrow(ctx, "in.csv");
        assert_int_equal(release(ctx, form, "memory:"), made);
        if (made) {
            const kn_batches *b = kn_memory_batches(ctx, "memory:out");
            found++;
            assert_non_null(b);
            assert_int_equal(b->column_count, expand ? 3 : 4);
            if (!expand) assert_string_equal(b->schema.children[3]->name, "n");
            if (!expand) assert_string_equal(b->schema.children[3]->format, "l");
            assert_same_cells(ctx, "out");
            for (int i = 0; outputs[i]; i++) assert_same_bytes(ctx, outputs[i]);
            assert_true(holds(ctx, form));
            int64_t *last = expand ? NULL : b->columns[3].data;
            if (last) last[0]++;
            if (last) assert_false(holds(ctx, form));
            if (last) last[0]--;
        }
        assert_nothing_written();
        kn_memory_clear(ctx);
        testing_context_free(ctx);
    }
    assert_true(found >= testing_least(30));
}

/* ---- A small release ---- */

static const char small[] =
    "age,town,day,job,pay\n31,Ulm,2020-01-02,a,1.5\n32,Ulm,2020-01-03,,2\n51,Bonn,2020-01-02,a,3\n"
    "52,Bonn,2020-01-02,b,4\n33,Ulm,2020-01-02,a,1\n";
static const char small_form[] =
    "kanon: 1\nforce: true\ninput: @in.csv\noutput: @out\nprivacy: [{k: 2}]\n"
    "attributes: {age: {role: quasi, hierarchy: {ranges: [5, 10]}}, town: {role: quasi}, day: {role: "
    "sensitive}, job: {role: sensitive}, pay: {role: keep}}\n";

static kn_context *small_context(void)
{
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    assert_ok(kn_memory_put(ctx, "memory:in.csv", small, sizeof small - 1, &err), err);
    assert_true(release(ctx, small_form, "memory:"));
    return ctx;
}

/* Texts are dictionaries; numbers and dates that are spelled as Arrow spells them are what they are; missing cells null. */
static void test_types(void **state)
{
    (void)state;
    kn_context       *ctx = small_context();
    const kn_batches *b = kn_memory_batches(ctx, "memory:out");
    const char *const formats[] = {"c", "c", "tdD", "c", "g"};
    assert_non_null(b);
    assert_int_equal(b->count, 1);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(b->schema.children[i]->format, formats[i]);
        assert_int_equal(b->schema.children[i]->dictionary != NULL, formats[i][0] == 'c');
        assert_int_equal(b->arrays[0].children[i]->null_count, i == 3);
    }
    const void *bytes = NULL;
    size_t      size = 0;
    kn_error    err = KN_ERROR_INIT;
    assert_int_equal(kn_memory_get(&bytes, &size, ctx, "memory:out", &err), KN_INPUT);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* What the verifier says of what is under this name; the digest it found. */
static bool verify_as(kn_context *ctx, const char *name, char digest[65], char problem[1000])
{
    kn_error          err = KN_ERROR_INIT;
    kn_spec          *spec = spec_of(ctx, small_form, "memory:");
    kn_verify_report *report = NULL;
    kn_verify_options options = KN_VERIFY_OPTIONS_INIT;
    options.release = name;
    kn_status st = kn_verify(&report, ctx, spec, &options, &err);
    bool      yes = st == KN_OK && report->ok;
    snprintf(digest, 65, "%s", st == KN_OK ? report->sha256 : "");
    int n = snprintf(problem, 1000, "%s", st != KN_OK ? err.message : "");
    for (int i = 0; st == KN_OK && i < report->problem_count && n < 800; i++)
        n += snprintf(problem + n, (size_t)(1000 - n), "%s\n", report->problems[i]);
    kn_verify_report_free(report);
    kn_spec_free(spec);
    return yes;
}

/* ---- Spoiled bytes ---- */

typedef struct spoiling {
    kn_context *ctx;
    char        digest[65];  /* of what was released */
    int         tried, told; /* by the verifier; all others by the digest alone */
} spoiling;

/* With this byte otherwise the release is refused, or is none that the certificate speaks of. */
static void spoil(spoiling *s, uint8_t *byte, uint8_t bit, const char *where)
{
    char digest[65], problem[1000];
    *byte ^= bit;
    bool yes = verify_as(s->ctx, "memory:out", digest, problem);
    *byte ^= bit;
    s->tried++;
    s->told += !yes;
    if (yes && strcmp(digest, s->digest) == 0) fail_msg("%s: a spoiled byte was not seen", where);
}

static void test_spoiled(void **state)
{
    (void)state;
    kn_context       *ctx = small_context();
    spoiling          s = {.ctx = ctx};
    const kn_batches *b = kn_memory_batches(ctx, "memory:out");
    char              problem[1000];
    assert_true(verify_as(ctx, "memory:out", s.digest, problem));
    for (int c = 0; c < b->column_count; c++) {
        const kn_batch_column *column = &b->columns[c];
        uint8_t               *data = column->data, *offsets = column->offsets;
        for (int64_t i = 0; i < 5 * column->width; i++) {
            spoil(&s, &data[i], 1, "a value or an index");
            spoil(&s, &data[i], 0x80, "a value or an index");
        }
        if (column->validity)
            for (int i = 0; i < 5; i++) spoil(&s, column->validity, (uint8_t)(1 << i), "a missing cell");
        if (!column->offsets) continue;
        int32_t size = ((const int32_t *)column->offsets)[column->entries];
        for (int64_t i = 0; i < column->entries; i++) /* but not beyond the bytes: their size is to be believed */
            if ((((const int32_t *)column->offsets)[i] ^ 1) <= size) spoil(&s, &offsets[4 * i], 1, "an offset");
        for (int32_t i = 0; i < size; i++) spoil(&s, (uint8_t *)column->bytes + i, 2, "a letter");
    }
    assert_true(s.tried > 150);
    assert_true(s.told > s.tried * 9 / 10);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- What could stand beside the cells ---- */

/* The release again, column by column, with one thing about it otherwise. */
typedef enum otherwise { AS_IT_IS, UNUSED, TWICE, HIDDEN, EMPTY, METADATA, UNEVEN, LATE, OTHERS } otherwise;

static void *copy_of(kn_context *ctx, const void *from, size_t size, size_t room)
{
    char *to = kn_alloc_zero(ctx, room + 1);
    if (size > 0) memcpy(to, from, size);
    return to;
}

/* Column "job" of the small release: indices into {"a", "b"}; one cell is missing. */
static void change_job(kn_batch_column *c, otherwise what)
{
    int32_t *offsets = c->offsets;
    int8_t  *data = c->data;
    int      null = 0;
    while (c->validity[0] >> null & 1) null++;
    if (what == HIDDEN) data[null] = 1;
    if (what == UNUSED || what == TWICE || what == EMPTY) {
        c->bytes[2] = what == UNUSED ? 'x' : 'a';
        offsets[3] = what == EMPTY ? 2 : 3;
        c->entries = 3;
    }
    for (int i = 0; i < 5 && what == TWICE; i++)
        if (i != null && data[i] == 0) {
            data[i] = 2;
            return;
        }
    if (what == EMPTY) { /* the missing cell as an empty text, and another that is null */
        data[null] = 2;
        c->validity[0] = (uint8_t)(0x1f & ~(1 << (null == 0)));
        data[null == 0] = 0;
    }
}

static void put_otherwise(kn_context *ctx, otherwise what)
{
    const kn_batches *b = kn_memory_batches(ctx, "memory:out");
    kn_batch_column   columns[5];
    kn_batches       *made = NULL;
    kn_output        *output = NULL;
    kn_error          err = KN_ERROR_INIT;
    for (int i = 0; i < 5; i++) {
        const kn_batch_column *c = &b->columns[i];
        columns[i] = *c;
        columns[i].name = b->schema.children[i]->name;
        columns[i].data = copy_of(ctx, c->data, (size_t)(5 * c->width), (size_t)(5 * c->width));
        if (c->validity) columns[i].validity = copy_of(ctx, c->validity, 1, 1);
        if (!c->offsets) continue;
        size_t size = (size_t)((const int32_t *)c->offsets)[c->entries];
        columns[i].offsets = copy_of(ctx, c->offsets, 4 * ((size_t)c->entries + 1), 4 * ((size_t)c->entries + 2));
        columns[i].bytes = copy_of(ctx, c->bytes, size, size + 1);
    }
    change_job(&columns[3], what);
    assert_ok(kn_batches_make(&made, ctx, columns, 5, 5, &err), err);
    if (what == METADATA) made->schema.children[3]->metadata = "\0\0\0\0";
    if (what == UNEVEN) { /* one row, then four */
        made->arrays = kn_realloc_array(ctx, made->arrays, 2, sizeof *made->arrays);
        made->arrays[1] = made->arrays[0];
        made->count = 2;
        made->arrays[0].length = 1;
        made->arrays[1].length = 4;
        made->arrays[1].offset = 1;
    }
    if (what == LATE) made->arrays[0].children[0]->offset = made->arrays[0].children[0]->length = 0;
    if (what == LATE) made->arrays[0].length = 4, made->arrays[0].offset = 1;
    if (what == LATE)
        for (int i = 0; i < 5; i++) made->arrays[0].children[i]->length = 5;
    assert_ok(kn_output_open(&output, ctx, "memory:other", NULL, &err), err);
    assert_ok(kn_batches_put(output, made, &err), err);
    assert_ok(kn_output_commit(output, &err), err);
}

static void test_beside_the_cells(void **state)
{
    (void)state;
    static const char *const sentences[OTHERS] = {[AS_IT_IS] = "",
                                                  [UNUSED] = "texts that no row shows",
                                                  [TWICE] = "a text twice",
                                                  [HIDDEN] = "in the place of a missing cell",
                                                  [EMPTY] = "others an empty text",
                                                  [METADATA] = "metadata beside the data",
                                                  [UNEVEN] = "differ in their number of rows",
                                                  [LATE] = "hold something before the first row"};
    for (int what = 0; what < OTHERS; what++) {
        kn_context *ctx = small_context();
        char        digest[65], problem[1000];
        put_otherwise(ctx, (otherwise)what);
        bool yes = verify_as(ctx, "memory:other", digest, problem);
        if (yes != (what == AS_IT_IS) || !strstr(problem, sentences[what])) fail_msg("%d: %s", what, problem);
        kn_memory_clear(ctx);
        testing_context_free(ctx);
    }
}

/* ---- Lifetimes ---- */

/* Stream, schema, batch and a column that was moved out of it, in every order, before and after the context. */
static void test_lifetimes(void **state)
{
    (void)state;
    for (int order = 0; order < 120; order++) {
        kn_context             *ctx = small_context();
        kn_error                err = KN_ERROR_INIT;
        struct ArrowArrayStream stream;
        struct ArrowSchema      schema;
        struct ArrowArray       batch, column, none;
        assert_ok(kn_memory_get_arrow(&stream, ctx, "memory:out", NULL, &err), err);
        assert_int_equal(stream.get_schema(&stream, &schema), 0);
        assert_int_equal(stream.get_next(&stream, &batch), 0);
        assert_int_equal(stream.get_next(&stream, &none), 0);
        assert_null(none.release);
        column = *batch.children[0];
        batch.children[0]->release = NULL;
        int left[5] = {0, 1, 2, 3, 4}, count = 5, rest = order;
        while (count > 0) {
            int at = rest % count, which = left[at];
            rest /= count;
            left[at] = left[--count];
            switch (which) {
            case 0: kn_context_free(ctx); break;
            case 1: stream.release(&stream); break;
            case 2:
                assert_string_equal(schema.children[0]->name, "age");
                schema.release(&schema);
                break;
            case 3:
                assert_int_equal(*(const char *)batch.children[1]->dictionary->buffers[2], 'B'); /* Bonn */
                batch.release(&batch);
                break;
            default: assert_int_equal(*(const char *)column.dictionary->buffers[2], '['); column.release(&column);
            }
        }
    }
}

/* With options it is read as a table and exported as these say. */
static void test_options(void **state)
{
    (void)state;
    kn_context             *ctx = small_context();
    kn_error                err = KN_ERROR_INIT;
    struct ArrowArrayStream stream;
    struct ArrowSchema      schema;
    struct ArrowArray       batch;
    kn_arrow_export_options options = KN_ARROW_EXPORT_OPTIONS_INIT;
    options.batch_rows = 2;
    options.plain_text = true;
    assert_ok(kn_memory_get_arrow(&stream, ctx, "memory:out", &options, &err), err);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_string_equal(schema.children[1]->format, "u");
    assert_int_equal(batch.length, 2);
    schema.release(&schema);
    batch.release(&batch);
    stream.release(&stream);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- Nothing half-made ---- */

static kn_status try_release(kn_context *ctx, kn_error *err)
{
    struct ArrowArrayStream out = {.release = NULL};
    struct ArrowSchema      schema = {.release = NULL};
    struct ArrowArray       batch = {.release = NULL};
    kn_spec                *spec = NULL;
    kn_release_head        *made = NULL;
    char                    form[sizeof small_form + 100];
    snprintf(form, sizeof form,
             "kanon: 1\nforce: true\ninput: memory:in.csv\noutput: memory:out\nprivacy: [{k: 2}]\n%s",
             strstr(small_form, "attributes"));
    kn_status st = kn_memory_put(ctx, "memory:in.csv", small, sizeof small - 1, err);
    if (st == KN_OK) st = kn_spec_read_text(&spec, ctx, form, strlen(form), "a text", err);
    if (st == KN_OK) st = kn_spec_check(spec, err);
    if (st == KN_OK) st = kn_anonymize_any(&made, ctx, spec, NULL, err);
    if (st != KN_OK) assert_null(kn_memory_next(ctx, "memory:out", NULL));
    assert_null(kn_memory_next(ctx, "memory:.", NULL));
    if (st == KN_OK) st = kn_memory_get_arrow(&out, ctx, "memory:out", NULL, err);
    if (st == KN_OK && out.get_schema(&out, &schema) != 0) st = kn_fail_memory(err, ctx, "schema");
    if (st == KN_OK && out.get_next(&out, &batch) != 0) st = kn_fail_memory(err, ctx, "batch");
    if (schema.release) schema.release(&schema);
    if (batch.release) batch.release(&batch);
    if (out.release) out.release(&out);
    kn_release_head_free(made);
    kn_spec_free(spec);
    return st;
}

static void test_refused_memory(void **state)
{
    (void)state;
    kn_status st = KN_MEMORY;
    for (int64_t at = 0; st != KN_OK; at += testing_step()) {
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        testing_allocator memory = {.refuse_at = at};
        st = testing_refusing_context(&ctx, &memory, 1, &err);
        if (st == KN_OK) st = try_release(ctx, &err);
        if (st != KN_OK) assert_int_equal(st, KN_MEMORY);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
}

/* Asked to stop at each report of progress in turn. */
typedef struct stopping {
    kn_context *ctx;
    int         reports, stop_at;
} stopping;

static void stop(void *user, const kn_progress *progress)
{
    stopping *s = user;
    (void)progress;
    if (s->reports++ == s->stop_at) kn_context_cancel(s->ctx);
}

static void test_cancelled(void **state)
{
    (void)state;
    kn_status st = KN_CANCELLED;
    int       cancelled = 0;
    for (int at = 0; st == KN_CANCELLED; at++) {
        stopping           s = {.stop_at = at};
        kn_error           err = KN_ERROR_INIT;
        kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
        options.progress = stop;
        options.progress_user = &s;
        options.threads = 1;
        assert_ok(kn_context_create(&s.ctx, &options, &err), err);
        st = try_release(s.ctx, &err);
        if (st != KN_OK) assert_int_equal(st, KN_CANCELLED);
        cancelled += st == KN_CANCELLED;
        kn_memory_clear(s.ctx);
        testing_context_free(s.ctx);
    }
    assert_true(cancelled >= 2);
}

/* Mistakes on purpose in making the columns, where they are compiled in (tests/faults): the verifier stops every one. */
static void test_mistakes(void **state)
{
    (void)state;
#ifdef KN_FAULTS
    static const char *const faults[] = {"recode-swap-class", "recode-level-below",   "recode-copy-shift",
                                         "recode-lose-row",   "recode-duplicate-row", "recode-show-suppressed"};
    static const char        form[] =
        "kanon: 1\ninput: memory:in.csv\noutput: memory:out\nprivacy: [{k: 3}]\nsuppression: 0.1\nmethod: optimal\n"
        "attributes: {age: {role: quasi, type: integer, hierarchy: {ranges: [5, 10, 20]}}, zip: {role: quasi, type: "
        "text, "
        "hierarchy: {mask: right}}, job: {role: sensitive}}\n";
    char table[1000];
    int  n = sprintf(table, "age,zip,job\n");
    for (int i = 0; i < 20; i++)
        n += sprintf(table + n, "%d,%d,d%d\n", 20 + i / 5 % 2 * 10 + i % 3, 47900 + i / 10 * 10 + i % 5, i);
    n += sprintf(table + n, "40,47920,rare\n41,47921,d1\n");
    for (size_t f = 0; f <= sizeof faults / sizeof *faults; f++) {
        kn_context      *ctx = testing_context(1);
        kn_error         err = KN_ERROR_INIT;
        kn_release_head *made = NULL;
        bool             mistaken = f < sizeof faults / sizeof *faults;
        assert_ok(kn_memory_put(ctx, "memory:in.csv", table, (size_t)n, &err), err);
        kn_spec *spec = spec_of(ctx, form, "");
        if (mistaken) setenv("KANON_FAULT", faults[f], 1);
        kn_status st = kn_anonymize_any(&made, ctx, spec, NULL, &err);
        unsetenv("KANON_FAULT");
        if (st != (mistaken ? KN_INTERNAL : KN_OK))
            fail_msg("%s: %d %s", mistaken ? faults[f] : "none", (int)st, err.message);
        assert_int_equal(kn_memory_next(ctx, "memory:out", NULL) != NULL, !mistaken);
        assert_null(kn_memory_next(ctx, "memory:.", NULL));
        kn_release_head_free(made);
        kn_spec_free(spec);
        kn_memory_clear(ctx);
        testing_context_free(ctx);
    }
#else
    skip(); /* mistakes on purpose are built in with -Dfaults=true only */
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),           cmocka_unit_test(test_several_batches),
        cmocka_unit_test(test_counted),        cmocka_unit_test(test_types),
        cmocka_unit_test(test_spoiled),        cmocka_unit_test(test_beside_the_cells),
        cmocka_unit_test(test_lifetimes),      cmocka_unit_test(test_options),
        cmocka_unit_test(test_refused_memory), cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
