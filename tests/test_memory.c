/* test_memory.c: names in memory (kanon/memory.h): bytes, tables as Arrow batches, folders of tables and records are read,
 * released and verified as files are, to the same bytes, and nothing touches a disk.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "kn_context.h"
#include "kn_memory.h"
#include "kn_rng.h"
#include "memory_testing.h"

/* ---- Names ---- */

static void test_names(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    const void *bytes = NULL;
    size_t      size = 0;
    assert_null(kn_memory_next(ctx, NULL, NULL));
    assert_int_equal(kn_memory_get(&bytes, &size, ctx, "memory:a", &err), KN_INPUT);
    assert_int_equal(kn_memory_put(ctx, "a", "x", 1, &err), KN_USAGE);
    assert_int_equal(kn_memory_put(ctx, "memory:", "x", 1, &err), KN_USAGE);
    assert_ok(kn_memory_put(ctx, "memory:b", "bee", 3, &err), err);
    assert_ok(kn_memory_put(ctx, "memory:a", "", 0, &err), err);
    assert_ok(kn_memory_put(ctx, "memory:c/d", "dee", 3, &err), err);
    assert_string_equal(kn_memory_next(ctx, NULL, NULL), "memory:a");
    assert_string_equal(kn_memory_next(ctx, NULL, "memory:a"), "memory:b");
    assert_string_equal(kn_memory_next(ctx, "memory:c/", NULL), "memory:c/d");
    assert_null(kn_memory_next(ctx, NULL, "memory:c/d"));
    assert_ok(kn_memory_get(&bytes, &size, ctx, "memory:b", &err), err);
    assert_int_equal(size, 3);
    assert_memory_equal(bytes, "bee", 3);
    assert_ok(kn_memory_put(ctx, "memory:b", "other", 5, &err), err);
    assert_ok(kn_memory_get(&bytes, &size, ctx, "memory:b", &err), err);
    assert_memory_equal(bytes, "other", 5);
    kn_memory_remove(ctx, "memory:b");
    kn_memory_remove(ctx, "memory:b");
    assert_int_equal(kn_memory_get(&bytes, &size, ctx, "memory:b", &err), KN_INPUT);
    assert_ok(kn_memory_get(&bytes, &size, ctx, "memory:a", &err), err);
    assert_int_equal(size, 0);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* What is in memory counts against the limit. */
static void test_limit(void **state)
{
    (void)state;
    kn_context        *ctx = NULL;
    kn_error           err = KN_ERROR_INIT;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    char              *large = calloc(1, 1 << 20);
    options.memory_limit = 1 << 19;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    assert_int_equal(kn_memory_put(ctx, "memory:large", large, 1 << 20, &err), KN_MEMORY);
    assert_ok(kn_memory_put(ctx, "memory:large", large, 1 << 18, &err), err);
    assert_true(kn_context_memory_used(ctx) >= 1 << 18);
    kn_memory_remove(ctx, "memory:large");
    assert_true(kn_context_memory_used(ctx) < 1 << 18);
    free(large);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* A call, as far as the context knows, in which the main thread gives the context up. */
typedef struct given_up {
    kn_context *ctx;
    atomic_int  step; /* 1: the call is under way; 2: the context was freed */
    bool        there;
} given_up;

static kn_status call_meanwhile(given_up *g, kn_error *err)
{
    KN_SERVE(g->ctx, err);
    atomic_store(&g->step, 1);
    while (atomic_load(&g->step) < 2) sched_yield();
    g->there = kn_memory_there(g->ctx, "memory:in");
    return KN_OK;
}

static void *run_meanwhile(void *arg)
{
    kn_error err = KN_ERROR_INIT;
    return call_meanwhile(arg, &err) == KN_OK ? arg : NULL;
}

/* What a call reads stays until it ends, also where the context is freed meanwhile. */
static void test_given_up(void **state)
{
    (void)state;
    kn_error          err = KN_ERROR_INIT;
    testing_allocator memory = {.refuse_at = -1};
    given_up          g = {.there = false};
    pthread_t         thread;
    void             *done = NULL;
    assert_ok(testing_refusing_context(&g.ctx, &memory, 1, &err), err);
    assert_ok(kn_memory_put(g.ctx, "memory:in", "a\n1\n", 4, &err), err);
    assert_int_equal(pthread_create(&thread, NULL, run_meanwhile, &g), 0);
    while (atomic_load(&g.step) < 1) sched_yield();
    kn_context_free(g.ctx);
    atomic_store(&g.step, 2);
    assert_int_equal(pthread_join(thread, &done), 0);
    assert_non_null(done);
    assert_true(g.there);
    assert_int_equal(memory.live, 0);
}

/* ---- Tables ---- */

static const char *const table_outputs[] = {"out.csv", "out.csv.certificate.json", "public.html", NULL};

static char *random_table(kn_rng *rng, int rows)
{
    static const char *const towns[] = {"Ulm", "Bonn", "Kiel", "Jena", "Trier", "NA"}, *const jobs[] = {"nurse", "cook",
                                                                                                        "NA"};
    char *text = malloc((size_t)rows * 80 + 100);
    int   n = sprintf(text, "name,age,town,day,zip,job,pay\n");
    for (int i = 0; i < rows; i++)
        n += sprintf(text + n, "p%d,%s%d,%s,2020-0%d-1%d,%05d,%s,%d.5\n", i, kn_rng_below(rng, 20) == 0 ? "-" : "",
                     (int)(20 + kn_rng_below(rng, 50)), towns[kn_rng_below(rng, 6)], (int)(1 + kn_rng_below(rng, 9)),
                     (int)kn_rng_below(rng, 9), (int)(1000 + 37 * kn_rng_below(rng, 9)), jobs[kn_rng_below(rng, 3)],
                     (int)(100 + kn_rng_below(rng, 6)));
    return text;
}

#define ATTRIBUTES                                                                                                     \
    "attributes:\n"                                                                                                    \
    "  name: {role: identifier}\n"                                                                                     \
    "  age: {role: quasi, hierarchy: {ranges: [5, 10, 20]}}\n"                                                         \
    "  town: {role: quasi, hierarchy: @town.csv}\n"                                                                    \
    "  zip: {role: quasi, type: text, hierarchy: {mask: right}}\n"                                                     \
    "  job: {role: sensitive}\n"                                                                                       \
    "  pay: {role: keep}\n"

static const char towns_text[] = "Ulm;south;*\nBonn;west;*\nKiel;north;*\nJena;east;*\nTrier;west;*\n";

static void test_tables(void **state)
{
    (void)state;
    static const char *const methods[] = {"optimal",          "samarati",      "incognito", "bottom-up", "mondrian",
                                          "mondrian-relaxed", "mondrian-best", "kmsd",      "auto"};
    static const char *const privacy[] = {"[{k: 3}]", "[{k: 2}, {l-diversity: {attribute: job, kind: distinct, l: 2}}]",
                                          "[{k: 3}, {t-closeness: {attribute: job, distance: equal, t: 0.6}}]"};
    static const char *const options[] = {"", "suppressed: drop\n", "keep-rowmap: true\nsummary: side\n",
                                          "keep-order: true\n", "spreadsheet-safe: true\n"};
    kn_rng                   rng;
    kn_rng_init(&rng, testing_seed(), 0);
    int found = 0;
    for (int round = 0; round < testing_rounds(30); round++) {
        kn_context *ctx = testing_context(2);
        char        form[3000];
        char       *table = random_table(&rng, 30 + (int)kn_rng_below(&rng, 40));
        put_both(ctx, "in.csv", table);
        put_both(ctx, "town.csv", towns_text);
        snprintf(form, sizeof form,
                 "kanon: 1\nforce: true\ninput: @in.csv\noutput: @out.csv\npublic-report: @public.html\nreport: "
                 "@owner.html\n"
                 "suppression: 0.2\nprivacy: %s\nmethod: %s\n%s" ATTRIBUTES,
                 privacy[kn_rng_below(&rng, 3)], methods[round % 9], options[round / 9 % 5]);
        if (round % 2) put_as_arrow(ctx, "in.csv");
        found += compare(ctx, form, table_outputs);
        free(table);
        kn_memory_clear(ctx);
        testing_context_free(ctx);
    }
    assert_true(found >= testing_least(20));
}

/* ---- Databases and records ---- */

static void test_database(void **state)
{
    (void)state;
    static const char *const outputs[] = {"out/person.csv", "out/visit.csv", "out/certificate.json", NULL};
    static const char *const methods[] = {"miracle", "miracle-x", "bitmap"};
    for (int m = 0; m < 3; m++) {
        kn_context *ctx = testing_context(2);
        char        form[2000];
        assert_int_equal(mkdir(path_of("in"), 0700) != 0 && m == 0, 0);
        put_both(ctx, "in/person.csv", "id,name,zip,job\n1,a,x,p\n2,b,x,q\n3,c,y,p\n4,d,y,r\n5,e,x,q\n");
        put_both(ctx, "in/visit.csv",
                 "vid,id,ward,cost\n1,1,w,10\n2,1,v,20\n3,2,w,30\n4,3,v,10\n5,4,v,40\n6,5,w,20\n7,9,w,1\n");
        if (m == 1) put_as_arrow(ctx, "in/visit.csv");
        snprintf(
            form, sizeof form,
            "kanon: 1\nforce: true\ninput: @in/\noutput: @out/\nprivacy: [{k: 2}]\nmethod: %s\n"
            "entity: {table: person, key: id}\ntables:\n"
            "  person: {key: id, attributes: {zip: {role: quasi}, job: {role: sensitive}, name: {role: identifier}}}\n"
            "  visit: {key: vid, parent: {table: person, column: id}, attributes: {ward: {role: quasi}, "
            "cost: {role: sensitive}}}\noptions: {seed: 3}\n",
            methods[m]);
        assert_true(compare(ctx, form, outputs));
        assert_int_equal(system("rm -rf ../out ../out.*"), 0);
        kn_memory_clear(ctx);
        testing_context_free(ctx);
    }
}

static void test_records(void **state)
{
    (void)state;
    static const char *const outputs[] = {"out.json", "out.json.certificate.json", "public.html", NULL};
    kn_context              *ctx = testing_context(2);
    put_both(ctx, "in.json",
             "[{\"A\":[{\"v\":\"a\",\"B\":[{\"v\":\"x\"}]}]},{\"A\":[{\"v\":\"b\",\"B\":[{\"v\":\"x\"}]}]},"
             "{\"A\":[{\"v\":\"a\",\"B\":[{\"v\":\"y\"}]}]},{\"A\":[{\"v\":\"a\"}]}]");
    put_both(ctx, "d.csv", "a;A1;*\nb;A1;*\n");
    assert_true(
        compare(ctx,
                "kanon: 1\nforce: true\ninput: @in.json\noutput: @out.json\npublic-report: @public.html\n"
                "classes: {A: {value: v, hierarchy: @d.csv}, B: {value: v}}\nprivacy: [{k-mn: {k: 2, m: 2, n: 1}}]\n",
                outputs));
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- Refused memory, streams that fail ---- */

static const char small[] =
    "age,town,zip,job,pay,name\n31,Ulm,1,a,1,x\n32,Ulm,1,b,2,y\n51,Bonn,1,a,3,z\n52,Kiel,1,b,4,w\n";
static const char small_form[] = "kanon: 1\nforce: true\ninput: memory:in\noutput: memory:out.csv\nprivacy: [{k: 2}]\n"
                                 "keep-rowmap: true\nreport: memory:owner.html\nattributes: {age: {role: quasi, "
                                 "hierarchy: {ranges: [5, 10]}}, town: {role: quasi}, job: {role: sensitive}}\n";

static kn_status small_release(bool *made, kn_context *ctx, kn_error *err)
{
    struct ArrowArrayStream stream = {.release = NULL}, out = {.release = NULL};
    kn_table               *table = NULL;
    kn_spec                *spec = NULL;
    kn_release_head        *head = NULL;
    kn_status               st = kn_memory_put(ctx, "memory:small.csv", small, sizeof small - 1, err);
    if (st == KN_OK) st = kn_table_read_csv(&table, ctx, "memory:small.csv", NULL, err);
    if (st == KN_OK) st = kn_table_export_arrow(&stream, table, ctx, NULL, err);
    kn_table_free(table);
    if (st == KN_OK) st = kn_memory_put_arrow(ctx, "memory:in", &stream, err);
    if (st == KN_OK) st = kn_spec_read_text(&spec, ctx, small_form, sizeof small_form - 1, "a text", err);
    if (st == KN_OK) st = kn_spec_check(spec, err);
    if (st == KN_OK) st = kn_anonymize_any(&head, ctx, spec, NULL, err);
    *made = st == KN_OK;
    if (*made) assert_true(head->found);
    if (st == KN_OK) st = kn_memory_get_arrow(&out, ctx, "memory:out.csv", NULL, err);
    if (out.release) out.release(&out);
    kn_release_head_free(head);
    kn_spec_free(spec);
    return st;
}

/* Whatever request is the first to be refused: an error, no release half-made, nothing leaks. */
static void test_refused_memory(void **state)
{
    (void)state;
    kn_status st = KN_MEMORY;
    for (int64_t at = 0; st != KN_OK; at += testing_step()) {
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        testing_allocator memory = {.refuse_at = at};
        st = testing_refusing_context(&ctx, &memory, 1, &err);
        bool made = false;
        if (st == KN_OK) st = small_release(&made, ctx, &err);
        if (st != KN_OK) assert_int_equal(st, KN_MEMORY);
        if (ctx && !made) assert_null(kn_memory_next(ctx, "memory:out.csv.certificate", NULL));
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
}

static int failing_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct ArrowArrayStream *inner = stream->private_data;
    return inner->get_schema(inner, out);
}

/* One batch, then an error of the producer's. */
static int failing_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct ArrowArrayStream *inner = stream->private_data;
    if (!inner->get_next) return 5;
    int code = inner->get_next(inner, out);
    inner->get_next = NULL; /* it was asked once */
    return code;
}

static void failing_release(struct ArrowArrayStream *stream)
{
    struct ArrowArrayStream *inner = stream->private_data;
    inner->release(inner);
    stream->release = NULL;
}

static void test_failing_stream(void **state)
{
    (void)state;
    kn_context             *ctx = testing_context(1);
    kn_error                err = KN_ERROR_INIT;
    kn_table               *table = NULL;
    struct ArrowArrayStream inner;
    kn_arrow_export_options options = KN_ARROW_EXPORT_OPTIONS_INIT;
    options.batch_rows = 1;
    assert_ok(kn_memory_put(ctx, "memory:small.csv", small, sizeof small - 1, &err), err);
    assert_ok(kn_table_read_csv(&table, ctx, "memory:small.csv", NULL, &err), err);
    assert_ok(kn_table_export_arrow(&inner, table, ctx, &options, &err), err);
    struct ArrowArrayStream stream = {failing_schema, failing_next, NULL, failing_release, &inner};
    assert_int_equal(kn_memory_put_arrow(ctx, "memory:in", &stream, &err), KN_IO);
    assert_null(stream.release);
    assert_null(kn_memory_next(ctx, "memory:in", NULL));
    assert_int_equal(kn_memory_put_arrow(ctx, "memory:in", &stream, &err), KN_USAGE);
    kn_table_free(table);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(test_names),          cmocka_unit_test(test_limit),       cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_tables),      cmocka_unit_test(test_database),    cmocka_unit_test(test_records),
        testing_alone(test_refused_memory), testing_alone(test_failing_stream),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
