/* test_timezone.c: time zones against the C library's, rules at the end of a file, damaged files, refused names. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "testing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kn_rng.h"
#include "kn_value.h"

#define HOUR ((int64_t)3600)
#define DAY (24 * HOUR)

static kn_rng rng;

static bool database_is_there(void)
{
    if (access("/usr/share/zoneinfo/Europe/Paris", R_OK) == 0) return true;
    printf("skipped: there is no time zone database in /usr/share/zoneinfo\n");
    return false;
}

/* ---- The C library as the twin ---- */

static void use_zone(const char *tz)
{
    setenv("TZ", tz, 1);
    tzset();
}

static int32_t libc_offset(int64_t moment)
{
    time_t    t = (time_t)moment;
    struct tm tm;
    assert_non_null(localtime_r(&t, &tm));
    return (int32_t)tm.tm_gmtoff;
}

/* The first moment in (low, high] with another offset than at low. */
static int64_t libc_change(int64_t low, int64_t high)
{
    int32_t before = libc_offset(low);
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (libc_offset(middle) == before)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* By definition: the earliest moment that shows this local time; where there is none, the offset before the gap. */
static int32_t naive_offset(int64_t local)
{
    int64_t earliest = INT64_MAX;
    int32_t found = INT32_MAX, last = libc_offset(local - 27 * HOUR);
    for (int64_t t = local - 27 * HOUR; t <= local + 27 * HOUR; t += HOUR) {
        int32_t offset = libc_offset(t);
        if (local - offset < earliest && libc_offset(local - offset) == offset) {
            earliest = local - offset;
            found = offset;
        }
        if (offset > last) {
            int64_t change = libc_change(t - HOUR, t);
            if (local >= change + last && local < change + offset && earliest == INT64_MAX) return last;
        }
        last = offset;
    }
    return found;
}

static void check(const kn_timezone *zone, const char *name, int64_t local, int32_t expected)
{
    int32_t offset = kn_timezone_offset(zone, local);
    if (offset != expected)
        fail_msg("%s at local time %" PRId64 ": offset %" PRId32 ", expected %" PRId32, name, local, offset, expected);
}

/* Compares over a span of moments: quickly where the offset is steady, by definition around each change. Returns the
 * number of changes. */
static int compare_zone(const kn_timezone *zone, const char *name, int64_t from, int64_t to)
{
    int     changes = 0;
    int64_t steady_since = from - 40 * HOUR;
    for (int64_t t = from; t < to; t += 12 * HOUR) {
        int32_t offset = libc_offset(t);
        assert_int_equal(kn_timezone_offset_at(zone, t), offset);
        if (libc_offset(t + 12 * HOUR) == offset) {
            if (t - steady_since > 30 * HOUR && libc_offset(t + 30 * HOUR) == offset)
                check(zone, name, t + offset, offset);
            continue;
        }
        changes++;
        steady_since = t + 12 * HOUR;
        int64_t change = libc_change(t, t + 12 * HOUR) + offset;
        for (int64_t moment = change - offset - 1; moment <= change - offset + 1; moment++)
            assert_int_equal(kn_timezone_offset_at(zone, moment), libc_offset(moment));
        for (int64_t local = change - 3 * HOUR; local <= change + 3 * HOUR; local += HOUR / 3)
            check(zone, name, local, naive_offset(local));
        for (int64_t local = change - 26 * HOUR; local <= change + 26 * HOUR; local += 4 * HOUR + 1)
            check(zone, name, local, naive_offset(local));
        for (int64_t local = change - 1; local <= change + 1; local++) check(zone, name, local, naive_offset(local));
    }
    return changes;
}

static int64_t year(int y)
{
    return kn_days_from_civil(y, 1, 1) * DAY;
}

static void offsets_equal_the_c_library(void **state)
{
    (void)state;
    static const char *const names[] = {
        "Europe/Paris",        "Europe/London", "Europe/Dublin",      "America/New_York",
        "America/Sao_Paulo",   "Asia/Kolkata",  "Asia/Tehran",        "Africa/Casablanca",
        "Australia/Lord_Howe", "Pacific/Apia",  "Pacific/Kiritimati", "America/St_Johns",
        "Africa/Monrovia",     "Etc/GMT+5",     "Antarctica/Troll",   "America/Nuuk",
    };
    if (!database_is_there()) skip();
    kn_context *ctx = testing_context(1);
    int         changes = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kn_timezone *zone;
        kn_error     err = KN_ERROR_INIT;
        assert_ok(kn_timezone_open(&zone, ctx, names[i], &err), err);
        use_zone(names[i]);
        changes += compare_zone(zone, names[i], year(1900), year(2100));
        kn_timezone_free(zone);
    }
    printf("%d changes compared\n", changes);
    assert_true(changes > 2000);
    testing_context_free(ctx);
}

/* ---- Files made here ---- */

static uint8_t *put32(uint8_t *p, uint32_t v)
{
    for (int i = 3; i >= 0; i--) *p++ = (uint8_t)(v >> 8 * i);
    return p;
}

static uint8_t *put_header(uint8_t *p, char version, uint32_t times, uint32_t types)
{
    memset(p, 0, 44);
    memcpy(p, "TZif", 4);
    p[4] = (uint8_t)version;
    put32(p + 32, times);
    put32(p + 36, types);
    put32(p + 40, 1);
    return p + 44;
}

static uint8_t *put_block(uint8_t *p, int size, const int64_t *moments, const int32_t *offsets, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        if (size == 8) p = put32(p, (uint32_t)((uint64_t)moments[i] >> 32));
        p = put32(p, (uint32_t)moments[i]);
    }
    for (uint32_t i = 0; i < times; i++) *p++ = (uint8_t)(i + 1);
    for (uint32_t i = 0; i <= times; i++) {
        p = put32(p, (uint32_t)offsets[i]);
        *p++ = 0;
        *p++ = 0;
    }
    *p++ = 0;
    return p;
}

/* A file with these changes (offsets[0] holds before the first) and this last line. Returns its size. */
static size_t make_file(uint8_t *file, char version, const int64_t *moments, const int32_t *offsets, uint32_t times,
                        const char *footer)
{
    uint8_t *p = put_header(file, version, times, times + 1);
    p = put_block(p, 4, moments, offsets, times);
    if (version) {
        p = put_header(p, version, times, times + 1);
        p = put_block(p, 8, moments, offsets, times);
        p += sprintf((char *)p, "\n%s\n", footer);
    }
    return (size_t)(p - file);
}

static kn_timezone *open_footer(kn_context *ctx, const char *footer)
{
    uint8_t      file[1024];
    int32_t      utc = 0;
    kn_timezone *zone;
    kn_error     err = KN_ERROR_INIT;
    size_t       size = make_file(file, '2', NULL, &utc, 0, footer);
    assert_ok(kn_timezone_parse(&zone, ctx, "made", file, size, &err), err);
    return zone;
}

/* A file that is all rule, against the C library given the rule itself. */
static void rules_equal_the_c_library(void **state)
{
    (void)state;
    static const char *const rules[] = {
        "CET-1CEST,M3.5.0,M10.5.0/3",
        "EST5EDT,M3.2.0,M11.1.0",
        "AEST-10AEDT,M10.1.0,M4.1.0/3",
        "IST-1GMT0,M10.5.0,M3.5.0/1",
        "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
        "AAA3BBB,J60/0,J300/4:30",
        "AAA3BBB,J59/0,J301/4:30",
        "AAA-3:30BBB-5,59,300/1:15:10",
        "NST3:30NDT,M3.2.0/0:01,M11.1.0/0:01",
        "AAA5BBB,M2.5.6/24,M12.5.0/-2",
    };
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        kn_timezone *zone = open_footer(ctx, rules[i]);
        use_zone(rules[i]);
        assert_true(compare_zone(zone, rules[i], year(1971), year(2060)) > 170);
        assert_true(compare_zone(zone, rules[i], year(2399), year(2410)) > 20);
        assert_true(compare_zone(zone, rules[i], year(9980), year(9999)) > 30);
        kn_timezone_free(zone);
    }
    kn_timezone *zone = open_footer(ctx, "EST5EDT,0/0,J365/25"); /* summer time all year (RFC 8536) */
    for (int y = 3; y < 9999; y++) {
        assert_int_equal(kn_timezone_offset(zone, year(y)), -4 * HOUR);
        assert_int_equal(kn_timezone_offset(zone, year(y) + (int64_t)(kn_rng_next(&rng) % (364 * DAY))), -4 * HOUR);
    }
    assert_int_equal(kn_timezone_offset(zone, INT64_MAX), -4 * HOUR);
    assert_int_equal(kn_timezone_offset(zone, INT64_MIN), -5 * HOUR);
    kn_timezone_free(zone);
    testing_context_free(ctx);
}

static void gaps_and_repeated_times(void **state)
{
    (void)state;
    /* Forward at 1000 from 0 to 3600, back at 100000 to 0, then the rule of New York. */
    static const int64_t moments[] = {1000, 100000};
    static const int32_t offsets[] = {0, 3600, 0};
    kn_context          *ctx = testing_context(1);
    for (int version = 0; version < 2; version++) {
        uint8_t      file[1024];
        kn_timezone *zone;
        kn_error     err = KN_ERROR_INIT;
        size_t       size = make_file(file, version ? '3' : '\0', moments, offsets, 2, "EST5EDT,M3.2.0,M11.1.0");
        assert_ok(kn_timezone_parse(&zone, ctx, "made", file, size, &err), err);
        assert_int_equal(kn_timezone_offset(zone, 999), 0);
        assert_int_equal(kn_timezone_offset(zone, 1000), 0); /* skipped: 1000 is shown as 4600 */
        assert_int_equal(kn_timezone_offset(zone, 4599), 0);
        assert_int_equal(kn_timezone_offset(zone, 4600), 3600);
        assert_int_equal(kn_timezone_offset(zone, 100000), 3600); /* twice: the first */
        assert_int_equal(kn_timezone_offset(zone, 103599), 3600);
        assert_int_equal(kn_timezone_offset(zone, 103600), 0);
        assert_int_equal(kn_timezone_offset(zone, 30 * DAY), 0);
        assert_int_equal(kn_timezone_offset(zone, kn_days_from_civil(2020, 7, 1) * DAY), version ? -4 * HOUR : 0);

        int64_t micros;
        assert_true(kn_parse_datetime(kn_string_of("1970-01-01 00:30"), "%Y-%m-%d %H:%M:%S%z", zone, &micros));
        assert_int_equal(micros, 1800 * (int64_t)1000000);
        assert_true(kn_parse_datetime(kn_string_of("1970-01-01 12:00"), "%Y-%m-%d %H:%M:%S%z", zone, &micros));
        assert_int_equal(micros, 11 * 3600 * (int64_t)1000000);
        assert_true(kn_parse_datetime(kn_string_of("1970-01-01 12:00Z"), "%Y-%m-%d %H:%M:%S%z", zone, &micros));
        assert_int_equal(micros, 12 * 3600 * (int64_t)1000000);
        kn_timezone_free(zone);
    }
    testing_context_free(ctx);
}

static void expect_damaged(kn_context *ctx, const uint8_t *file, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees a read past the end */
    assert_non_null(exact);
    if (size) memcpy(exact, file, size);
    kn_timezone *zone;
    kn_error     err = KN_ERROR_INIT;
    assert_int_equal(kn_timezone_parse(&zone, ctx, "made", exact, size, &err), KN_INPUT);
    assert_null(zone);
    assert_memory_equal(err.message, "time zone made: ", 16);
    free(exact);
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    static const int64_t moments[] = {1000, 100000};
    static const int32_t offsets[] = {0, 3600, 0};
    kn_context          *ctx = testing_context(1);
    uint8_t              file[1024], copy[1024];
    size_t               size = make_file(file, '2', moments, offsets, 2, "EST5EDT,M3.2.0,M11.1.0");
    for (size_t n = 0; n < size; n++) expect_damaged(ctx, file, n);

    static const char *const footers[] = {"E",
                                          "5",
                                          "EST",
                                          "EST5EDT",
                                          "EST99",
                                          "EST5EDT,M3.2.0",
                                          "EST5EDT,M13.2.0,M11.1.0",
                                          "EST5EDT,M3.6.0,M11.1.0",
                                          "EST5EDT,M3.2.7,M11.1.0",
                                          "EST5EDT,J0,J1",
                                          "EST5EDT,366,1",
                                          "EST5EDT,M3.2.0,M11.1.0x",
                                          "EST5EDT,M3.2.0/168,M11.1.0",
                                          "<EST5EDT,M3.2.0,M11.1.0",
                                          "EST25:59:59EDT26,1,2",
                                          "EST-25:59EDT,1,2",
                                          "EST5:60",
                                          "EST5:",
                                          "EST5EDT,M3.,M11.1.0"};
    for (size_t i = 0; i < sizeof footers / sizeof *footers; i++)
        expect_damaged(ctx, file, make_file(file, '2', moments, offsets, 2, footers[i]));

    size = make_file(file, '\0', moments, offsets, 2, "");
    for (size_t n = 0; n < size; n++) expect_damaged(ctx, file, n);
    for (int counter = 20; counter < 44; counter += 4) { /* counts that reach past the end */
        memcpy(copy, file, size);
        put32(copy + counter, UINT32_MAX);
        expect_damaged(ctx, copy, size);
    }
    memcpy(copy, file, size);
    put32(copy + 28, 1); /* leap seconds */
    expect_damaged(ctx, copy, size + 8);
    memcpy(copy, file, size);
    copy[44 + 8] = 3; /* a local time that does not exist */
    expect_damaged(ctx, copy, size);
    static const int64_t unordered[] = {1000, 999};
    static const int32_t far[] = {0, 26 * 3600 + 1, 0};
    expect_damaged(ctx, file, make_file(file, '\0', unordered, offsets, 2, ""));
    expect_damaged(ctx, file, make_file(file, '\0', moments, far, 2, ""));
    put_header(copy, '\0', 0, 0);
    expect_damaged(ctx, copy, 45);
    testing_context_free(ctx);
}

/* Any change of bytes is either refused or gives a zone that answers within its limits. */
static void random_damage_is_harmless(void **state)
{
    (void)state;
    static const int64_t moments[] = {1000, 100000};
    static const int32_t offsets[] = {0, 3600, 0};
    kn_context          *ctx = testing_context(1);
    for (int round = 0; round < 20000; round++) {
        uint8_t file[1024];
        size_t  size = make_file(file, '2', moments, offsets, 2, "EST5EDT,M3.2.0/-1,M11.1.0");
        for (int n = 1 + (int)kn_rng_below(&rng, 4); n > 0; n--)
            file[kn_rng_below(&rng, size)] = (uint8_t)kn_rng_next(&rng);
        kn_timezone *zone;
        if (kn_timezone_parse(&zone, ctx, "made", file, size, NULL) != KN_OK) continue;
        for (int i = 0; i < 10; i++) {
            int32_t offset = kn_timezone_offset(zone, (int64_t)(kn_rng_next(&rng) >> kn_rng_below(&rng, 40)));
            assert_true(offset >= -26 * HOUR && offset <= 26 * HOUR);
        }
        kn_timezone_free(zone);
    }
    testing_context_free(ctx);
}

/* ---- Names ---- */

static void expect_refused(kn_context *ctx, const char *name, kn_status status)
{
    kn_timezone *zone;
    kn_error     err = KN_ERROR_INIT;
    if (kn_timezone_open(&zone, ctx, name, &err) != status) fail_msg("%s: %s", name, err.message);
    assert_null(zone);
    assert_true(err.message[0] != '\0');
}

static void names_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t     offset;
    } fixed[] = {{"UTC", 0}, {"+02:00", 7200}, {"-0330", -12600}, {"+14", 50400}, {"-23:59", -86340}};
    static const char *const refused[] = {
        "",       "/etc/passwd", "../zoneinfo/UTC", "Europe/../UTC", "Europe/Paris\n",           "+2",      "+24:00",
        "+02:60", "+02:0",       "+02-00",          "Europe.Paris",  "CET-1CEST,M3.5.0,M10.5.0", "\xc3\xa9"};
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        kn_timezone *zone;
        kn_error     err = KN_ERROR_INIT;
        assert_ok(kn_timezone_open(&zone, ctx, fixed[i].name, &err), err);
        assert_int_equal(kn_timezone_offset(zone, 0), fixed[i].offset);
        assert_int_equal(kn_timezone_offset(zone, INT64_MAX), fixed[i].offset);
        kn_timezone_free(zone);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) expect_refused(ctx, refused[i], KN_USAGE);
    char name[400];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    expect_refused(ctx, name, KN_USAGE);
    assert_int_equal(kn_timezone_offset(NULL, 5), 0);
    kn_timezone_free(NULL);
    testing_context_free(ctx);
}

static void database_folder_is_honoured(void **state)
{
    (void)state;
    uint8_t     file[1024];
    int32_t     offset = 1234;
    size_t      size = make_file(file, '2', NULL, &offset, 0, "");
    kn_context *ctx = testing_context(1);
    char        folder[256];
    strcpy(folder, testing_file("Mine", file, size));
    testing_file("Not_a_zone", "hello", 5);
    *strrchr(folder, '/') = '\0';
    setenv("TZDIR", folder, 1);
    kn_timezone *zone;
    kn_error     err = KN_ERROR_INIT;
    assert_ok(kn_timezone_open(&zone, ctx, "Mine", &err), err);
    assert_int_equal(kn_timezone_offset(zone, 0), 1234);
    kn_timezone_free(zone);
    expect_refused(ctx, "Yours", KN_USAGE);
    expect_refused(ctx, "Mine/Paris", KN_USAGE);
    expect_refused(ctx, "Not_a_zone", KN_INPUT);
    strcat(folder, "/Folder");
    assert_int_equal(mkdir(folder, 0700), 0);
    expect_refused(ctx, "Folder", KN_USAGE);
    strcat(folder, "/absent");
    setenv("TZDIR", folder, 1);
    expect_refused(ctx, "Mine", KN_IO);

    *strrchr(folder, '/') = '\0';
    *strrchr(folder, '/') = '\0';
    setenv("TZDIR", folder, 1);
    for (int64_t refuse_at = 0;; refuse_at++) {
        testing_allocator memory = {.refuse_at = -1};
        kn_context       *small = NULL;
        assert_ok(testing_refusing_context(&small, &memory, 0, &err), err);
        memory.refuse_at = memory.requests + refuse_at;
        kn_status st = kn_timezone_open(&zone, small, "Mine", &err);
        kn_timezone_free(zone);
        kn_context_free(small);
        assert_int_equal(memory.live, 0);
        if (st == KN_OK) break;
        assert_int_equal(st, KN_MEMORY);
        assert_true(refuse_at < 10);
    }
    unsetenv("TZDIR");
    testing_context_free(ctx);
}

int main(void)
{
    kn_rng_init(&rng, testing_seed(), 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_equal_the_c_library), cmocka_unit_test(rules_equal_the_c_library),
        cmocka_unit_test(gaps_and_repeated_times),     cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(random_damage_is_harmless),   cmocka_unit_test(names_are_checked),
        cmocka_unit_test(database_folder_is_honoured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
