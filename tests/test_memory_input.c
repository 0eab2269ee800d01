/* test_memory_input.c: bad input where data are in memory (kanon/memory.h): each a clear error, and nothing half-made.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <kanon/attack.h>
#include <kanon/measure.h>
#include <math.h>
#include <pthread.h>

#include "arrow_source.h"
#include "kn_context.h"
#include "kn_memory.h"
#include "kn_memory_arrow.h"
#include "memory_testing.h"

static const char usual[] = "kanon: 1\nforce: true\ninput: memory:in\noutput: memory:out\nprivacy: [{k: 2}]\n"
                            "attributes:\n  age: {role: quasi}\n  job: {role: sensitive}\n";

/* The release of a text, or what is said instead; nothing is there afterwards unless it was made. */
static kn_status try_text(kn_context *ctx, const char *text, kn_error *err)
{
    kn_spec         *spec = NULL;
    kn_release_head *made = NULL;
    kn_status        st = kn_spec_read_text(&spec, ctx, text, strlen(text), NULL, err);
    if (st == KN_OK) st = kn_spec_check(spec, err);
    if (st == KN_OK) st = kn_anonymize_any(&made, ctx, spec, NULL, err);
    bool found = made && made->found;
    kn_release_head_free(made);
    kn_spec_free(spec);
    assert_null(kn_memory_next(ctx, "memory:.", NULL));
    if (!found) assert_null(kn_memory_next(ctx, "memory:out", NULL));
    assert_nothing_written();
    return st;
}

static void assert_refused(kn_context *ctx, const char *text, kn_status status, const char *says)
{
    kn_error  err = KN_ERROR_INIT;
    kn_status st = try_text(ctx, text, &err);
    if (st != status || !strstr(err.message, says)) fail_msg("%d: %s", (int)st, err.message);
}

/* Columns "age" in the format that is given and "job", in one batch. */
static void put_columns(kn_context *ctx, const char *format, size_t width, const void *ages, int64_t rows)
{
    static const char *const jobs[] = {"a", "b", "a", "c", "b", "a", "c", "b", "a", "c", "b", "a"};
    kn_error                 err = KN_ERROR_INIT;
    source                  *s = source_new();
    schema_add(s->schema, schema(format, "age"));
    schema_add(s->schema, schema("u", "job"));
    struct ArrowArray *b = batch(s, rows), *age = array_add(b, fixed(rows, width, ages, NULL));
    if (format[0] == 'v') age->n_buffers = 3; /* without buffers of long texts */
    array_add(b, utf8(rows, jobs));
    struct ArrowArrayStream stream = stream_of(s);
    assert_ok(kn_memory_put_arrow(ctx, "memory:in", &stream, &err), err);
}

static void end(kn_context *ctx)
{
    kn_memory_clear(ctx);
    testing_context_free(ctx);
    int64_t left = ledger.made - ledger.released;
    ledger.made = ledger.released = 0;
    assert_int_equal(left, 0);
}

static const int64_t some[] = {31, 31, 32, 32, 33, 33};

/* ---- Requests ---- */

static void test_spec_text(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    put_columns(ctx, "l", 8, some, 6);
    assert_refused(ctx, "kanon: 1\ninput: memory:in\noutputs: memory:out\n", KN_INPUT, ":3:1: ");
    assert_refused(ctx, "{\"kanon\": 1,\n \"privacy\": [{\"k\": \"many\"}]}", KN_INPUT, ":2:");
    assert_refused(ctx, "kanon: 1\nattributes: {age: {role: quazi}}\n", KN_INPUT, ":2:26: ");
    end(ctx);
}

/* Of a release file and of Arrow: what is newer than the library is said to be unknown, and where. */
static void test_newer_than_the_library(void **state)
{
    (void)state;
    static const char *const formats[] = {"vz", "+vl", "+r", "tiM", "w:16", "?", "d:38,2,512", "tsu"};
    kn_context              *ctx = testing_context(1);
    assert_refused(ctx, "kanon: 2\ninput: memory:in\n", KN_INPUT,
                   ":1:8: this program reads release files of version 1");
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        char says[100];
        put_columns(ctx, formats[f], 8, some, 6);
        snprintf(says, sizeof says, "column \"age\" has the format \"%s\"", formats[f]);
        assert_refused(ctx, usual, KN_INPUT, says);
        kn_error err = KN_ERROR_INIT; /* where it takes no part it does no harm */
        assert_int_equal(try_text(ctx,
                                  "kanon: 1\nforce: true\ninput: memory:in\noutput: memory:out\nprivacy: [{k: 2}]\n"
                                  "attributes: {job: {role: quasi}}\n",
                                  &err),
                         KN_OK);
        kn_memory_clear(ctx);
    }
    end(ctx);
}

static void test_table_without_the_columns(void **state)
{
    (void)state;
    kn_context        *ctx = testing_context(1);
    kn_error           err = KN_ERROR_INIT;
    kn_verify_report  *verified = NULL;
    kn_measure_report *measured = NULL;
    kn_attack_report  *attacked = NULL;
    kn_verify_options  verify = KN_VERIFY_OPTIONS_INIT;
    kn_measure_options measure = KN_MEASURE_OPTIONS_INIT;
    kn_attack_options  attack = KN_ATTACK_OPTIONS_INIT;
    static const char  other[] =
        "kanon: 1\ninput: memory:in\noutput: memory:out\nprivacy: [{k: 2}]\nattributes: {years: {role: quasi}}\n";
    put_columns(ctx, "l", 8, some, 6);
    assert_refused(ctx, other, KN_INPUT, "memory:in has no column \"years\"");
    kn_spec *spec = spec_of(ctx, other, "");
    verify.release = measure.release = attack.release = attack.external = "memory:in";
    assert_int_equal(kn_verify(&verified, ctx, spec, &verify, &err), KN_INPUT);
    assert_non_null(strstr(err.message, "no column \"years\""));
    assert_int_equal(kn_measure(&measured, ctx, spec, &measure, &err), KN_INPUT);
    assert_non_null(strstr(err.message, "no column \"years\""));
    assert_int_equal(kn_attack(&attacked, ctx, spec, &attack, &err), KN_INPUT);
    assert_null(verified);
    assert_null(measured);
    assert_null(attacked);
    kn_spec_free(spec);
    end(ctx);
}

/* ---- Streams ---- */

/* One good batch, then an error: the name keeps what it had. */
static void test_stream_that_fails_half_way(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    put_columns(ctx, "l", 8, some, 6);
    for (int first = 0; first < 2; first++) {
        source *s = source_new();
        schema_add(s->schema, schema("l", "age"));
        array_add(batch(s, 6), fixed(6, 8, some, NULL));
        s->next_error = first ? 0 : EIO;
        s->schema_error = first ? EIO : 0;
        struct ArrowArrayStream stream = stream_of(s);
        assert_int_equal(kn_memory_put_arrow(ctx, "memory:in", &stream, &err), KN_IO);
        assert_non_null(strstr(err.message, first ? "giving its schema" : "giving its next batch"));
        assert_null(strstr(err.message, "cat")); /* a producer's words may hold values */
    }
    assert_int_equal(try_text(ctx, usual, &err), KN_OK);
    end(ctx);
}

/* Batches that are none: whoever reads them says so, and where they are handed out nothing is looked into. */
static void test_batches_that_are_none(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 4; wrong++) {
        kn_context *ctx = testing_context(1);
        kn_error    err = KN_ERROR_INIT;
        source     *s = source_new();
        schema_add(s->schema, schema("l", "age"));
        schema_add(s->schema, schema("l", "job"));
        struct ArrowArray *b = batch(s, 6), *age = array_add(b, fixed(6, 8, some, NULL));
        if (wrong != 0) array_add(b, fixed(wrong == 1 ? 5 : 6, 8, some, NULL));
        if (wrong == 2) age->release(age);
        if (wrong == 3) age->buffers[1] = NULL;
        struct ArrowArrayStream stream = stream_of(s);
        struct ArrowArray       out;
        assert_ok(kn_memory_put_arrow(ctx, "memory:in", &stream, &err), err);
        assert_int_equal(try_text(ctx, usual, &err), KN_INPUT);
        assert_non_null(strstr(err.message, "batch 1"));
        assert_ok(kn_memory_get_arrow(&stream, ctx, "memory:in", NULL, &err), err);
        assert_int_equal(stream.get_next(&stream, &out), 0);
        out.release(&out);
        stream.release(&stream);
        end(ctx);
    }
}

/* ---- Contexts ---- */

typedef struct other_call {
    kn_context *ctx;
    int         calls;
    kn_status   statuses[3];
} other_call;

static void *call_meanwhile(void *arg)
{
    other_call             *o = arg;
    kn_error                err = KN_ERROR_INIT;
    kn_spec                *spec = NULL;
    struct ArrowArrayStream stream = {.release = NULL};
    o->statuses[0] = kn_memory_put(o->ctx, "memory:in", "x\n1\n", 4, &err);
    o->statuses[1] = kn_spec_read_text(&spec, o->ctx, usual, strlen(usual), NULL, &err);
    o->statuses[2] = kn_memory_get_arrow(&stream, o->ctx, "memory:in", NULL, &err);
    return NULL;
}

static void another_thread(void *user, const kn_progress *progress)
{
    other_call *o = user;
    pthread_t   thread;
    (void)progress;
    if (o->calls++ > 0) return;
    assert_int_equal(pthread_create(&thread, NULL, call_meanwhile, o), 0);
    pthread_join(thread, NULL);
}

/* The second is told so, and the first goes on. */
static void test_context_of_two_threads(void **state)
{
    (void)state;
    other_call         o = {.calls = 0};
    kn_error           err = KN_ERROR_INIT;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.progress = another_thread;
    options.progress_user = &o;
    assert_ok(kn_context_create(&o.ctx, &options, &err), err);
    put_columns(o.ctx, "l", 8, some, 6);
    assert_int_equal(try_text(o.ctx, usual, &err), KN_OK);
    assert_true(o.calls > 0);
    for (int i = 0; i < 3; i++) assert_int_equal(o.statuses[i], KN_BUSY);
    end(o.ctx);
}

/* Asked to stop before it begins: streams are released, names stay what they were. */
static void test_cancelled(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    put_columns(ctx, "l", 8, some, 6);
    kn_context_cancel(ctx);
    source *s = source_new();
    schema_add(s->schema, schema("l", "age"));
    struct ArrowArrayStream stream = stream_of(s);
    assert_int_equal(kn_memory_put_arrow(ctx, "memory:in", &stream, &err), KN_CANCELLED);
    assert_null(stream.release);
    assert_int_equal(try_text(ctx, usual, &err), KN_CANCELLED);
    kn_context_reset_cancel(ctx);
    assert_int_equal(try_text(ctx, usual, &err), KN_OK);
    end(ctx);
}

/* ---- Numbers ---- */

/* What doubles can be: verifier and method agree on every one of them, as a quasi-identifier and as a sensitive column. */
static void test_doubles(void **state)
{
    (void)state;
    static const double numbers[][12] = {
        {1e300, 1e300, -1e300, -1e300, 1e-300, 1e-300, 1e22, 1e22, 123456789012345680.0, 123456789012345680.0, 1e21,
         1e21},
        {-0.0, 0.0, -0.0, 0.0, 1, 1, -1, -1, 0.5, 0.5, -0.5, -0.5},
        {NAN, NAN, 1.5, 1.5, NAN, 2.5, 2.5, 1e17, 1e17, 1e-7, 1e-7, NAN},
        {4.9e-324, 4.9e-324, 2.2250738585072014e-308, 2.2250738585072014e-308, 1e-310, 1e-310, 1.7976931348623157e308,
         1.7976931348623157e308, 0.1, 0.1, 1.0 / 3, 1.0 / 3},
        {1, 1, 2, 2, 3, 3, 1e15, 1e15, 1e16, 1e16, 4, 4},
        {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
        {1, 12, 23, 34, 45, 56, 67, 78, 89, 90, 91, 92},
        {-0.0, 2, 3, 4, 5, 1e300, 7, 8, 9, 10, 11, 1e-310},
        {NAN, 2, 3, 4, 5, NAN, 7, 8, 9, 10, 11, NAN},
        {20240101, 20240102, 20240103, 20240104, 20240201, 20240202, 20240203, 20240204, 20240301, 20240302, 20240303,
         20240304},
        {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0},
    };
    static const char *const roles[] = {
        "  age: {role: quasi}\n  job: {role: sensitive}\n",
        "  age: {role: quasi, hierarchy: {ranges: [10, 100]}}\n  job: {role: sensitive}\n",
        "  age: {role: sensitive}\n  job: {role: quasi}\n",
        "  age: {role: keep}\n  job: {role: quasi}\n",
        "  age: {role: quasi, type: decimal}\n  job: {role: sensitive}\n",
        "  age: {role: quasi, type: text}\n  job: {role: sensitive}\n",
        "  age: {role: quasi, type: integer, hierarchy: {ranges: [10, 100]}}\n  job: {role: sensitive}\n",
        "  age: {role: quasi, hierarchy: {breaks: [[5, 50], [50]]}}\n  job: {role: sensitive}\n",
        "  age: {role: quasi, hierarchy: {mask: right}}\n  job: {role: sensitive}\n",
    };
    static const char *const methods[] = {"optimal", "mondrian", "kmsd", "datafly"};
    int                      found = 0, tried = 0;
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
        for (size_t r = 0; r < sizeof roles / sizeof *roles; r++)
            for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
                char        text[600];
                kn_context *ctx = testing_context(1);
                kn_error    err = KN_ERROR_INIT;
                put_columns(ctx, "g", 8, numbers[n], 12);
                snprintf(text, sizeof text,
                         "kanon: 1\nforce: true\ninput: memory:in\noutput: memory:out\nprivacy: [{k: 2}]\nmethod: %s\n"
                         "attributes:\n%s",
                         methods[m], roles[r]);
                kn_status st = try_text(ctx, text, &err);
                if (st != KN_OK && st != KN_INPUT) fail_msg("%zu: %s\n%s", n, err.message, text);
                found += kn_memory_there(ctx, "memory:out");
                tried++;
                end(ctx);
            }
    assert_true(found > tried * 8 / 10);
}

/* A type of Arrow's, six cells of it in pairs, and how many bytes each has. */
typedef struct typed {
    const char *format;
    size_t      width;
    const void *cells;
} typed;

/* Whatever the type: what the method takes a cell for, the verifier does. */
static void test_types(void **state)
{
    (void)state;
    static const uint8_t  bytes[] = {1, 1, 200, 200, 3, 3};
    static const uint16_t shorts[] = {1, 1, 65000, 65000, 0x3c01, 0x3c01};
    static const uint32_t words[] = {1, 1, 40000, 40000, 3, 3};
    static const uint64_t longs[] = {1, 1, UINT64_MAX, UINT64_MAX, 3, 3};
    static const float    floats[] = {0.1f, 0.1f, 1e30f, 1e30f, -0.0f, 0.0f};
    static const int64_t  wide[] = {1, 0, 1, 0, -5, -1, -5, -1, 700, 0, 700, 0},
                         days[] = {0, 0, 86400000, 86400000, 172800000, 172800000};
    static const typed types[] = {{"c", 1, bytes},   {"C", 1, bytes},  {"s", 2, shorts},     {"S", 2, shorts},
                                  {"i", 4, words},   {"I", 4, words},  {"l", 8, longs},      {"L", 8, longs},
                                  {"e", 2, shorts},  {"f", 4, floats}, {"d:38,2", 16, wide}, {"d:9,0,32", 4, words},
                                  {"tdD", 4, words}, {"tdm", 8, days}, {"tts", 4, bytes},    {"tsu:UTC", 8, days},
                                  {"tsm:", 8, days}, {"b", 1, bytes}};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        kn_context *ctx = testing_context(1);
        kn_error    err = KN_ERROR_INIT;
        uint32_t    seconds[] = {1, 1, 3600, 3600, 3, 3};
        put_columns(ctx, types[t].format, types[t].width, types[t].format[1] == 't' ? seconds : types[t].cells, 6);
        if (try_text(ctx, usual, &err) != KN_OK) fail_msg("%s: %s", types[t].format, err.message);
        end(ctx);
    }
}

/* A released column of doubles or views as others may write it: a cell has one form. */
static void test_forms_of_a_release(void **state)
{
    (void)state;
    static const double plain[] = {1, 1, 0, 0, 3, 3}, signs[] = {1, 1, 0, -0.0, 3, 3};
    static const char   views[] = "\1\0\0\0a\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0a\0\0\0\0\0\0\0\0\0\0\0"
                                  "\1\0\0\0b\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0b\0\0\0\0\0\0\0\0\0\0\0";
    static const struct {
        const char *format;
        size_t      width;
        const void *cells;
        int64_t     rows;
        int         spoiled; /* a byte that is otherwise; -1: none */
        const char *says;
    } forms[] = {{"g", 8, plain, 6, -1, NULL},
                 {"g", 8, signs, 6, -1, "a negative zero"},
                 {"vu", 16, views, 4, -1, NULL},
                 {"vu", 16, views, 4, 31, "around a text"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        kn_context       *ctx = testing_context(1);
        kn_error          err = KN_ERROR_INIT;
        kn_verify_report *report = NULL;
        kn_verify_options options = KN_VERIFY_OPTIONS_INIT;
        options.release = "memory:in";
        uint8_t cells[64];
        memcpy(cells, forms[i].cells, (size_t)forms[i].rows * forms[i].width);
        if (forms[i].spoiled >= 0) cells[forms[i].spoiled] = 1;
        put_columns(ctx, forms[i].format, forms[i].width, cells, forms[i].rows);
        kn_spec *spec = spec_of(ctx, usual, "");
        assert_ok(kn_verify(&report, ctx, spec, &options, &err), err);
        assert_int_equal(report->ok, !forms[i].says);
        if (forms[i].says) assert_non_null(strstr(report->problems[0], forms[i].says));
        kn_verify_report_free(report);
        kn_spec_free(spec);
        end(ctx);
    }
}

/* A number or a truth value that na lists is missing, whatever its type in the batches. */
static void check_missing(const char *format, size_t width, const void *cells, const char *spelling, kn_type type,
                          const char *column)
{
    kn_context    *ctx = testing_context(1);
    kn_error       err = KN_ERROR_INIT;
    kn_table      *table = NULL;
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    const char    *na[] = {spelling, ""};
    char           text[400];
    csv.na = na;
    csv.na_count = 2;
    put_columns(ctx, format, width, cells, 6);
    snprintf(text, sizeof text, "%sna: ['%s', '']\n", usual, spelling);
    assert_int_equal(try_text(ctx, text, &err), KN_OK);
    assert_ok(kn_table_read_csv(&table, ctx, "memory:in", &csv, &err), err);
    check_column(table, 0, type, column);
    kn_table_free(table);
    end(ctx);
}

static void test_missing(void **state)
{
    (void)state;
    static const int64_t ages[] = {31, 99, 31, 99, 33, 33};
    static const uint8_t truth[6] = {0x35}; /* 101011, from the first row */
    check_missing("l", 8, ages, "99", KN_TYPE_INTEGER, "31|-|31|-|33|33");
    check_missing("b", 1, truth, " true", KN_TYPE_TEXT, "-|false|-|false|-|-");
    check_missing("b", 1, truth, "false", KN_TYPE_TEXT, "true|-|true|-|true|true");
}

/* ---- What is not what it was ---- */

typedef struct changing {
    int64_t *cell; /* of the producer's */
    bool     done;
} changing;

static void change(void *user, const kn_progress *progress)
{
    changing *c = user;
    if (!c->cell || c->done || strcmp(progress->stage, "reading") == 0) return;
    *c->cell = 77;
    c->done = true;
}

/* The input's fault, not a mistake in kanon. */
static void test_table_that_changes(void **state)
{
    (void)state;
    changing           c = {.done = false};
    kn_context        *ctx = NULL;
    kn_error           err = KN_ERROR_INIT;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.progress = change;
    options.progress_user = &c;
    options.threads = 1;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    put_columns(ctx, "l", 8, some, 6);
    const kn_batches *b = kn_memory_batches(ctx, "memory:in");
    c.cell = (int64_t *)(uintptr_t)b->arrays[0].children[0]->buffers[1];
    assert_refused(ctx, usual, KN_INPUT, "memory:in: changed while it was read; nothing was written");
    assert_true(c.done);
    end(ctx);
}

/* A file of that name in the working folder is none in memory. */
static void test_file_of_that_name(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *table = NULL;
    FILE       *f = fopen("memory:in", "w");
    fputs("age,job\n1,a\n1,b\n2,a\n2,b\n", f);
    fclose(f);
    assert_ok(kn_memory_enable(ctx, &err), err);
    kn_status st = kn_table_read_csv(&table, ctx, "memory:in", NULL, &err);
    remove("memory:in");
    assert_int_equal(st, KN_INPUT);
    assert_non_null(strstr(err.message, "memory:in: there is nothing of this name in memory"));
    assert_refused(ctx, usual, KN_INPUT, "there is nothing of this name in memory");
    put_columns(ctx, "l", 8, some, 6);
    assert_refused(ctx,
                   "kanon: 1\ninput: memory:in\noutput: memory:out\nprivacy: [{k: 2}]\nattributes: {age: {role: quasi, "
                   "hierarchy: memory:in}}\n",
                   KN_INPUT, "holds a table, not bytes");
    end(ctx);
}

/* A release on a disk and its pages in memory: all of them or none, whatever request for memory is refused. */
static void test_pages_beside_a_file(void **state)
{
    (void)state;
    kn_status st = KN_MEMORY;
    char      text[1000];
    snprintf(text, sizeof text,
             "kanon: 1\nforce: true\ninput: memory:in.csv\noutput: %s\nreport: memory:owner.html\npublic-report: "
             "memory:public.html\n"
             "privacy: [{k: 2}]\nattributes: {age: {role: quasi}, job: {role: sensitive}}\n",
             path_of("out.csv"));
    for (int64_t at = 0; st != KN_OK; at += testing_step()) {
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        kn_spec          *spec = NULL;
        kn_release_head  *made = NULL;
        testing_allocator memory = {.refuse_at = at};
        st = testing_refusing_context(&ctx, &memory, 1, &err);
        if (st == KN_OK) st = kn_memory_put(ctx, "memory:in.csv", "age,job\n1,a\n1,b\n2,a\n2,b\n", 24, &err);
        if (st == KN_OK) st = kn_spec_read_text(&spec, ctx, text, strlen(text), NULL, &err);
        if (st == KN_OK) st = kn_spec_check(spec, &err);
        if (st == KN_OK) st = kn_anonymize_any(&made, ctx, spec, NULL, &err);
        bool there = access(path_of("out.csv"), F_OK) == 0;
        assert_true(st != KN_OK || there);
        if (ctx) assert_int_equal(kn_memory_there(ctx, "memory:owner.html"), there);
        if (ctx) assert_int_equal(kn_memory_there(ctx, "memory:public.html"), there);
        kn_release_head_free(made);
        kn_spec_free(spec);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
        assert_int_equal(system("rm -f ../out.csv*"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(test_spec_text),
        testing_alone(test_newer_than_the_library),
        testing_alone(test_table_without_the_columns),
        testing_alone(test_stream_that_fails_half_way),
        testing_alone(test_batches_that_are_none),
        cmocka_unit_test(test_context_of_two_threads),
        testing_alone(test_cancelled),
        testing_alone(test_doubles),
        testing_alone(test_types),
        testing_alone(test_forms_of_a_release),
        testing_alone(test_missing),
        testing_alone(test_table_that_changes),
        testing_alone(test_file_of_that_name),
        cmocka_unit_test(test_pages_beside_a_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
