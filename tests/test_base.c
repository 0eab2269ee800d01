/* test_base.c: the foundation: pool, memory, arenas, buffers, sets, random numbers, errors. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_bitset.h"
#include "kn_buffer.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_rng.h"
#include "kn_sha256.h"
#include "kn_sort.h"

typedef struct sum_job {
    _Atomic int64_t sum;
    int64_t         fail_from;
    _Atomic int     workers_seen[64];
    kn_context     *nested;
} sum_job;

static kn_status add_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    sum_job *job = arg;
    atomic_store(&job->workers_seen[worker], 1);
    int64_t s = 0;
    for (int64_t i = begin; i < end; i++) s += i;
    atomic_fetch_add(&job->sum, s);
    if (job->fail_from >= 0 && begin >= job->fail_from) return kn_fail_at(err, KN_INPUT, "file", begin, 0, "planted");
    return KN_OK;
}

static void parallel_for_covers_each_index_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 8; threads *= 2) {
        kn_context *ctx = testing_context(threads);
        kn_error    err = KN_ERROR_INIT;
        for (int64_t n = 0; n < 3000; n += 499) {
            sum_job job = {.fail_from = -1};
            assert_ok(kn_parallel_for(ctx, n, 7, add_range, &job, &err), err);
            assert_int_equal(atomic_load(&job.sum), n * (n - 1) / 2);
        }
        testing_context_free(ctx);
    }
}

static void lowest_failing_range_is_reported(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(8);
    for (int round = 0; round < testing_rounds(200); round++) {
        sum_job  job = {.fail_from = 300};
        kn_error err = KN_ERROR_INIT;
        assert_int_equal(kn_parallel_for(ctx, 10000, 10, add_range, &job, &err), KN_INPUT);
        assert_int_equal(err.line, 300);
        assert_string_equal(err.message, "file:300: planted");
    }
    testing_context_free(ctx);
}

static kn_status nest(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    sum_job *job = arg;
    (void)begin;
    (void)end;
    (void)worker;
    sum_job inner = {.fail_from = -1};
    KN_TRY(kn_parallel_for(job->nested, 100, 3, add_range, &inner, err));
    atomic_fetch_add(&job->sum, atomic_load(&inner.sum));
    return KN_OK;
}

static void a_nested_call_runs_inline(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(4);
    kn_error    err = KN_ERROR_INIT;
    sum_job     job = {.nested = ctx};
    assert_ok(kn_parallel_for(ctx, 50, 1, nest, &job, &err), err);
    assert_int_equal(atomic_load(&job.sum), 50 * 4950);
    testing_context_free(ctx);
}

static void the_pool_starts_again_in_a_forked_child(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(4);
    kn_error    err = KN_ERROR_INIT;
    sum_job     job = {.fail_from = -1};
    assert_ok(kn_parallel_for(ctx, 1000, 1, add_range, &job, &err), err);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sum_job again = {.fail_from = -1};
        bool    right =
            kn_parallel_for(ctx, 1000, 1, add_range, &again, &err) == KN_OK && atomic_load(&again.sum) == 499500;
        kn_context_free(ctx);
        _exit(right ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    testing_context_free(ctx);
}

static void cancelling_stops_work(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    sum_job     job = {.fail_from = -1};
    kn_context_cancel(ctx);
    assert_int_equal(kn_parallel_for(ctx, 1000, 1, add_range, &job, &err), KN_CANCELLED);
    assert_int_equal(atomic_load(&job.sum), 0);
    kn_context_reset_cancel(ctx);
    assert_ok(kn_parallel_for(ctx, 1000, 1, add_range, &job, &err), err);
    testing_context_free(ctx);
}

static void the_memory_limit_is_kept(void **state)
{
    (void)state;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.memory_limit = 1000;
    kn_context *ctx = NULL;
    kn_error    err = KN_ERROR_INIT;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    void *a = kn_alloc(ctx, 600);
    assert_non_null(a);
    assert_null(kn_alloc(ctx, 600));
    assert_null(kn_realloc(ctx, a, 1200));
    a = kn_realloc(ctx, a, 900);
    assert_non_null(a);
    assert_null(kn_alloc_array(ctx, SIZE_MAX / 2, 3));
    assert_true(kn_context_memory_peak(ctx) <= 1000);
    kn_free(a);
    testing_context_free(ctx);
}

static void arenas_keep_what_they_give(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_arena    arena;
    kn_arena_init(&arena, ctx);
    char  *strings[2000];
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 0);
    size_t sizes[2000];
    for (int i = 0; i < 2000; i++) {
        sizes[i] = i % 100 == 0 ? 50000 + kn_rng_below(&rng, 50000) : kn_rng_below(&rng, 60);
        char *text = i % 2 ? kn_arena_bytes(&arena, sizes[i] + 1) : kn_arena_alloc(&arena, sizes[i] + 1);
        assert_non_null(text);
        if (i % 2 == 0) assert_int_equal((uintptr_t)text % 16, 0);
        memset(text, 'a' + i % 26, sizes[i]);
        text[sizes[i]] = '\0';
        strings[i] = text;
    }
    for (int i = 0; i < 2000; i++) {
        assert_int_equal(strlen(strings[i]), sizes[i]);
        for (size_t j = 0; j < sizes[i]; j++) assert_int_equal(strings[i][j], 'a' + i % 26);
    }
    kn_arena_free(&arena);
    testing_context_free(ctx);
}

static void buffers_remember_a_failure(void **state)
{
    (void)state;
    testing_allocator  counts = {.refuse_at = 2};
    kn_allocator       allocator = testing_failing_allocator(&counts);
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.allocator = &allocator;
    kn_context *ctx = NULL;
    kn_error    err = KN_ERROR_INIT;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    kn_buffer buffer;
    kn_buffer_init(&buffer, ctx);
    kn_buffer_format(&buffer, "%d-%s", 7, "x");
    assert_string_equal(kn_buffer_text(&buffer), "7-x");
    for (int i = 0; i < 100; i++) kn_buffer_add(&buffer, "0123456789");
    assert_true(buffer.failed);
    assert_null(kn_buffer_text(&buffer));
    kn_buffer_free(&buffer);
    testing_context_free(ctx);
    assert_int_equal(counts.live, 0);
}

static void quotes_are_doubled_and_texts_formatted(void **state)
{
    kn_context *ctx = testing_context(1);
    kn_buffer   buffer;
    (void)state;
    kn_buffer_init(&buffer, ctx);
    kn_buffer_doubled(&buffer, "\"a\"\"b", 5);
    assert_string_equal(kn_buffer_text(&buffer), "\"\"a\"\"\"\"b");
    kn_buffer_free(&buffer);
    char *text = kn_strformat(ctx, "%s/%d%%", "x", 50);
    assert_string_equal(text, "x/50%");
    kn_free(text);
    testing_context_free(ctx);
}

static int compare_numbers(const void *arg, const void *a, const void *b)
{
    return *(const int *)arg * kn_compare_u32(a, b);
}

static void sorting_in_place_orders_any_count(void **state)
{
    (void)state;
    for (size_t count = 0; count < 40; count++)
        for (int sign = -1; sign <= 1; sign += 2) {
            uint32_t numbers[40], seen = 0;
            for (size_t i = 0; i < count; i++) numbers[i] = (uint32_t)(i * 17 % 29);
            uint32_t sum = 0;
            for (size_t i = 0; i < count; i++) sum += numbers[i];
            kn_sort_in_place(numbers, count, sizeof *numbers, compare_numbers, &sign);
            for (size_t i = 0; i < count; i++) seen += numbers[i];
            assert_int_equal(seen, sum);
            for (size_t i = 1; i < count; i++) assert_true(compare_numbers(&sign, &numbers[i - 1], &numbers[i]) <= 0);
        }
}

static void random_numbers_repeat_and_stay_in_range(void **state)
{
    (void)state;
    kn_rng a, b, c;
    kn_rng_init(&a, 42, 3);
    kn_rng_init(&b, 42, 3);
    kn_rng_init(&c, 42, 4);
    int    equal = 0;
    double sum = 0, squares = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t x = kn_rng_next(&a);
        assert_int_equal(x, kn_rng_next(&b));
        equal += x == kn_rng_next(&c);
        uint64_t y = kn_rng_below(&a, 7);
        assert_true(y < 7);
        assert_int_equal(y, kn_rng_below(&b, 7));
        double z = kn_rng_normal(&c);
        sum += z;
        squares += z * z;
    }
    assert_int_equal(equal, 0);
    assert_true(sum / 1e5 < 0.02 && sum / 1e5 > -0.02);
    assert_true(squares / 1e5 < 1.03 && squares / 1e5 > 0.97);
}

static void sets_have_as_much_in_common_as_their_members(void **state)
{
    (void)state;
    enum { WORDS = 70 };
    kn_bitset_common_fn common = kn_bitset_common();
    uint64_t            a[WORDS], b[WORDS];
    kn_rng              rng;
    kn_rng_init(&rng, testing_seed(), 0);
    for (size_t words = 0; words <= WORDS; words++) {
        uint32_t members = 0;
        for (size_t i = 0; i < WORDS; i++) { /* what stands behind the sets must not matter */
            a[i] = kn_rng_next(&rng) | (kn_rng_below(&rng, 5) == 0 ? UINT64_MAX : 0);
            b[i] = kn_rng_next(&rng) & (kn_rng_below(&rng, 5) == 0 ? 0 : UINT64_MAX);
        }
        for (size_t i = 0; i < words * 64; i++) members += kn_bitset_test(a, i) && kn_bitset_test(b, i);
        assert_int_equal(common(a, b, words), members);
    }
}

static void statuses_have_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(kn_status_exit_code(KN_OK), 0);
    assert_int_equal(kn_status_exit_code(KN_UNMET), 1);
    assert_int_equal(kn_status_exit_code(KN_USAGE), 2);
    assert_int_equal(kn_status_exit_code(KN_INPUT), 2);
    assert_int_equal(kn_status_exit_code(KN_IO), 3);
    assert_int_equal(kn_status_exit_code(KN_CANCELLED), 3);
    assert_int_equal(kn_fail(NULL, KN_IO, "nobody listens"), KN_IO);
}

static void passwords_are_taken_out_of_messages(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"postgresql://u:secret@h:5432/db#s: cannot open: no", "postgresql://h:5432/db#s: cannot open: no"},
        {"PostGres://u:s@cr/e#t@h/db: is wrong", "PostGres://h/db: is wrong"},
        {"two: POSTGRESQL://secret@h/a: and postgres://u:secret@h/b", "two: POSTGRESQL://h/a: and postgres://h/b"},
        {"postgresql://h/db?password=secret&x=1: is wrong", "postgresql://h/db: is wrong"},
        {"Postgresql:host=h password='a secret': is wrong", "Postgresql: is wrong"},
        {"x/postgresql:password=secret", "x/postgresql:"},
        {"postgresql:password='so: secret' host=h: is wrong", "postgresql: is wrong"},
        {"postgresql:password='it\\'s: secret': is wrong", "postgresql: is wrong"},
        {"postgresql:password=it\\'s host=h: it's wrong", "postgresql: it's wrong"},
        {"postgresql://u:so: secret@h/db: is wrong", "postgresql://h/db: is wrong"},
        {"postgresql://h/db?password=se@cret: is wrong", "postgresql://: is wrong"},
        {"not a database: sqlite:FILE, postgresql://... or FOLDER/",
         "not a database: sqlite:FILE, postgresql://... or FOLDER/"},
        {"postgresql: libpq cannot read it", "postgresql: libpq cannot read it"},
        {"postgresql:", "postgresql:"},
        {"someone@example.org: nothing here", "someone@example.org: nothing here"},
        {"sqlite:a.db?query=SELECT a FROM t WHERE b = 'so: Smith': is wrong", "sqlite:a.db?query"},
        {"duckdb:?query=SELECT a FROM t WHERE b = 'Smith'", "duckdb:?query"},
        {"postgresql://u:p@h/d?x=y&query=SELECT 'so: Smith': is wrong", "postgresql://h/d"},
        {"select it (duckdb:?query=SELECT ...)", "select it (duckdb:?query=SELECT ...)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s", cases[i].text);
        kn_hide_secrets(text, sizeof text);
        assert_string_equal(text, cases[i].shown);
    }
    /* A message that was cut off within a password; the library's own messages, with a place and without one. */
    char cut[] = "postgresql://u:secr";
    kn_hide_secrets(cut, sizeof cut);
    assert_string_equal(cut, "postgresql://");
    char long_name[1200] = "Postgresql://u:";
    memset(long_name + strlen(long_name), 's', 900);
    strcat(long_name, "@h/db");
    kn_error err = KN_ERROR_INIT;
    assert_int_equal(kn_fail_at(&err, KN_INPUT, long_name, 3, 0, "is wrong"), KN_INPUT);
    assert_null(strstr(err.message, "ss"));
    assert_int_equal(kn_fail(&err, KN_INPUT, "%s: is wrong", long_name), KN_INPUT);
    assert_null(strstr(err.message, "ss"));
}

/* Against another library's, in pieces of any size, and the standard's own example. */
static void digests_are_sha_256(void **state)
{
    (void)state;
    kn_rng    rng;
    kn_sha256 sha;
    uint8_t   data[5000], hash[crypto_hash_sha256_BYTES];
    char      text[KN_SHA256_TEXT], expected[KN_SHA256_TEXT];
    kn_rng_init(&rng, 1, 0);
    kn_sha256_begin(&sha);
    kn_sha256_add(&sha, "abc", 3);
    kn_sha256_text(&sha, text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)kn_rng_below(&rng, 256);
    for (size_t size = 0; size <= sizeof data; size += 1 + (size_t)kn_rng_below(&rng, 97)) {
        kn_sha256_begin(&sha);
        for (size_t at = 0, piece; at < size; at += piece) {
            piece = 1 + (size_t)kn_rng_below(&rng, 200);
            if (piece > size - at) piece = size - at;
            kn_sha256_add(&sha, data + at, piece);
        }
        kn_sha256_text(&sha, text);
        crypto_hash_sha256(hash, data, size);
        sodium_bin2hex(expected, sizeof expected, hash, sizeof hash);
        assert_string_equal(text, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(passwords_are_taken_out_of_messages),
        cmocka_unit_test(parallel_for_covers_each_index_once),
        cmocka_unit_test(lowest_failing_range_is_reported),
        cmocka_unit_test(a_nested_call_runs_inline),
        cmocka_unit_test(the_pool_starts_again_in_a_forked_child),
        cmocka_unit_test(cancelling_stops_work),
        cmocka_unit_test(the_memory_limit_is_kept),
        testing_alone(arenas_keep_what_they_give),
        cmocka_unit_test(buffers_remember_a_failure),
        testing_alone(quotes_are_doubled_and_texts_formatted),
        testing_alone(sorting_in_place_orders_any_count),
        testing_alone(random_numbers_repeat_and_stay_in_range),
        testing_alone(sets_have_as_much_in_common_as_their_members),
        testing_alone(statuses_have_exit_codes),
        testing_alone(digests_are_sha_256),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
