/* test_csv_scan.c: the pieces below the CSV reader: scanner, sniffing, UTF-8, each against a naive twin. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "csv_testing.h"
#include "kn_csv_scan.h"
#include "kn_rng.h"
#include "kn_utf8.h"

/* ---- The index of marks ---- */

static void index_equals_scalar(void **unused)
{
    (void)unused;
    static const char alphabet[] = {',', ';', '"', '\n', '\r', 'a', 0, (char)0xff, (char)0xac, (char)0x8a, '\t', ' '};
    kn_rng            rng;
    kn_rng_init(&rng, testing_seed(), 0);
    static char     text[5000];
    static uint32_t fast[5000 + KN_CSV_SLACK], slow[5000];
    for (int round = 0; round < 3000; round++) {
        size_t size = kn_rng_below(&rng, round < 2000 ? 300 : sizeof text), from = kn_rng_below(&rng, 17);
        int    kind = (int)kn_rng_below(&rng, 3); /* of bytes: that matter, any, plain with one that is not */
        if (from > size) from = size;
        for (size_t i = 0; i < size; i++)
            text[i] = kind == 0   ? alphabet[kn_rng_below(&rng, sizeof alphabet)]
                      : kind == 1 ? (char)kn_rng_next(&rng)
                                  : (char)(1 + kn_rng_below(&rng, 127));
        if (kind == 2 && size > 0 && round % 2) text[kn_rng_below(&rng, size)] = (char)(round % 4 < 2 ? 0 : 0x80);
        char         delimiter = alphabet[kn_rng_below(&rng, 2)];
        kn_csv_marks seen = {.lines = 5};
        size_t       n = kn_csv_index_scalar(text + from, size - from, delimiter, slow, &seen), lines = 5;
        bool         other = false;
        for (size_t i = from; i < size; i++) {
            lines += text[i] == '\n';
            other |= text[i] == '\r' || text[i] == '"';
        }
        assert_int_equal(seen.odd, !kn_plain_ascii(text + from, size - from));
        assert_int_equal(seen.other, other);
        assert_int_equal(seen.lines, lines);
        for (int v = 0; kn_csv_index_variant(v); v++) {
            kn_csv_marks found = {.lines = 5};
            assert_int_equal(kn_csv_index_variant(v)(text + from, size - from, delimiter, fast, &found), n);
            if (n) assert_memory_equal(fast, slow, n * sizeof *fast);
            assert_int_equal(found.odd, seen.odd);
            assert_int_equal(found.other, seen.other);
            assert_int_equal(found.lines, seen.lines);
        }
    }
}

static void index_finds_every_place(void **unused)
{
    (void)unused;
    char     text[200];
    uint32_t found[200 + KN_CSV_SLACK];
    int      variants = 0;
    for (; kn_csv_index_variant(variants); variants++) {
        for (size_t size = 1; size <= sizeof text; size++) {
            for (size_t at = 0; at < size; at++) {
                kn_csv_marks seen = {0};
                memset(text, 'x', sizeof text);
                text[at] = "|\"\r\n"[at % 4];
                assert_int_equal(kn_csv_index_variant(variants)(text, size, '|', found, &seen), 1);
                assert_int_equal(found[0], at);
                assert_false(seen.odd);
                assert_int_equal(seen.other, at % 4 == 1 || at % 4 == 2);
                assert_int_equal(seen.lines, at % 4 == 3);
            }
        }
    }
    assert_true(variants >= 1);
    assert_ptr_equal(kn_csv_index_variant(variants - 1), kn_csv_index_scalar);
}

static void counts(void **unused)
{
    (void)unused;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    static char text[3000];
    for (int round = 0; round < 1000; round++) {
        size_t   size = kn_rng_below(&rng, sizeof text), quotes = 0;
        uint64_t lines = 0;
        for (size_t i = 0; i < size; i++) text[i] = "\"\r\nx\"\""[kn_rng_below(&rng, round % 2 ? 6 : 4)];
        for (size_t i = 0; i < size; i++) {
            quotes += text[i] == '"';
            lines += text[i] == '\r' || (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'));
        }
        assert_int_equal(kn_csv_count_quotes(text, size), quotes);
        assert_int_equal(kn_csv_count_lines(text, size), lines);
    }
    assert_int_equal(kn_csv_count_quotes(text, 0), 0);
    assert_int_equal(kn_csv_count_lines(text, 0), 0);
}

static void undoubles(void **unused)
{
    (void)unused;
    char out[32];
    assert_int_equal(kn_csv_undouble(out, TEXT("a\"\"b\"\"\"\"c")), 6);
    assert_memory_equal(out, "a\"b\"\"c", 6);
    assert_int_equal(kn_csv_undouble(out, TEXT("\"\"")), 1);
    assert_int_equal(kn_csv_undouble(out, TEXT("")), 0);
}

static void guesses(void **unused)
{
    (void)unused;
    static const char text[] = "a,b\r\n\"x\ny\",2\n3,4";
    size_t            size = sizeof text - 1;
    assert_int_equal(kn_csv_guess_start(text, size, 0, false), 5);
    assert_int_equal(kn_csv_guess_start(text, size, 3, false), 5);
    assert_int_equal(kn_csv_guess_start(text, size, 4, false), 5);
    assert_int_equal(kn_csv_guess_start(text, size, 5, false), 13);
    assert_int_equal(kn_csv_guess_start(text, size, 7, true), 13);
    assert_int_equal(kn_csv_guess_start(text, size, 13, false), size);
    assert_int_equal(kn_csv_guess_start(text, 4, 3, false), 4);
}

/* ---- Records ---- */

static void scan_keeps_its_place(void **unused)
{
    (void)unused;
    kn_csv_scanner *s = malloc(sizeof *s);
    kn_csv_field    f[8];
    size_t          n = 0;
    const char      text[] = "a,b\n1,\"x";
    assert_non_null(s);
    kn_csv_scanner_init(s, text, sizeof text - 1, false, ',', 0);
    assert_int_equal(kn_csv_scan(s, sizeof text - 1, 2, f, 4, &n), KN_CSV_MORE);
    assert_int_equal(n, 1); /* what is whole is given */
    assert_int_equal(s->at, 4);
    assert_int_equal(s->lines, 1);
    kn_csv_scanner_init(s, text, sizeof text - 1, true, ',', 4);
    assert_int_equal(kn_csv_scan(s, sizeof text - 1, 2, f, 4, &n), KN_CSV_UNTERMINATED);
    assert_int_equal(s->error_at, 6);
    /* A CR at the end may be half a line end. */
    kn_csv_scanner_init(s, TEXT("a\r"), false, ',', 0);
    assert_int_equal(kn_csv_scan_any(s, f, 8, &n), KN_CSV_MORE);
    kn_csv_scanner_init(s, TEXT("a\r"), true, ',', 0);
    assert_int_equal(kn_csv_scan_any(s, f, 8, &n), KN_CSV_OK);
    assert_int_equal(n, 1);
    assert_int_equal(s->at, 2);
    /* A quote at the end may be the first of two. */
    kn_csv_scanner_init(s, TEXT("\"a\""), false, ',', 0);
    assert_int_equal(kn_csv_scan_any(s, f, 8, &n), KN_CSV_MORE);
    /* Only records that begin before `stop`. */
    kn_csv_scanner_init(s, TEXT("1\n2\n3\n"), true, ',', 0);
    assert_int_equal(kn_csv_scan(s, 3, 1, f, 8, &n), KN_CSV_OK);
    assert_int_equal(n, 2);
    assert_int_equal(s->at, 4);
    free(s);
}

/* Text of records with `columns` cells each, most of them plain; returns its size. */
static size_t random_records(kn_rng *rng, char *text, size_t room, int columns)
{
    static const char *const cells[] = {"", "a", "xyz", "long cell", "\"q\"", "\"a,\n\"\"b\"", "it\"s", "\"\""};
    static const char *const ends[] = {"\n", "\n", "\r\n", "\r", "\n\n", "\r\n\n"};
    bool                     plain = kn_rng_below(rng, 2);
    int                      end = (int)kn_rng_below(rng, 7);
    size_t                   n = 0;
    while (n + (size_t)columns * 12 + 8 < room) {
        int more = kn_rng_below(rng, 400) ? 0 : (int)kn_rng_below(rng, 3) - 1; /* rarely one too few or too many */
        for (int c = 0; c < columns + more; c++)
            n += (size_t)sprintf(text + n, "%s%s", c ? "," : "", cells[kn_rng_below(rng, plain ? 4 : 8)]);
        n += (size_t)sprintf(text + n, "%s", end < 6 ? ends[end] : ends[kn_rng_below(rng, 6)]);
    }
    return n - kn_rng_below(rng, n < 5 ? 1 : 5);
}

/* Records that are taken as plain ones are those that the automaton finds, one by one. */
static void plain_records_as_any(void **unused)
{
    (void)unused;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 7);
    static char           text[20000];
    static kn_csv_field   many[600 * 8], one[8];
    static kn_csv_scanner fast, slow;
    int                   ends[KN_CSV_TOO_LONG + 1] = {0};
    for (int round = 0; round < 600; round++) {
        int    columns = 1 + (int)kn_rng_below(&rng, 7);
        size_t size = random_records(&rng, text, 200 + kn_rng_below(&rng, sizeof text - 200), columns);
        bool   last = kn_rng_below(&rng, 2);
        kn_csv_scanner_init(&fast, text, size, last, ',', 0);
        kn_csv_scanner_init(&slow, text, size, last, ',', 0);
        kn_csv_result result = KN_CSV_OK;
        while (result == KN_CSV_OK) {
            size_t records = 0, count = 0, most = 1 + kn_rng_below(&rng, 600), from = fast.at;
            size_t stop = kn_rng_below(&rng, 2) ? size : from + kn_rng_below(&rng, size - from + 1);
            result = kn_csv_scan(&fast, stop, columns, many, most, &records);
            if (records > 0) assert_true(many[(records - 1) * (size_t)columns].begin <= stop);
            if (result == KN_CSV_OK && records < most) assert_true(fast.at >= stop || fast.at == size);
            for (size_t i = 0; i < records; i++) {
                if (columns > 1) /* otherwise a blank line is a record, which it is not for the other */
                    assert_int_equal(kn_csv_scan_any(&slow, one, 8, &count), KN_CSV_OK);
                else if (many[i].size == 0 && text[many[i].begin] != '"')
                    continue;
                else
                    assert_int_equal(kn_csv_scan_any(&slow, one, 8, &count), KN_CSV_OK);
                assert_int_equal(count, columns);
                for (int c = 0; c < columns; c++) {
                    const kn_csv_field *f = &many[i * (size_t)columns + (size_t)c];
                    assert_int_equal(f->begin, one[c].begin);
                    assert_int_equal(f->size, one[c].size);
                    assert_int_equal(f->doubled, one[c].doubled);
                }
            }
            if (columns > 1 && records == most) {
                assert_int_equal(fast.at, slow.at);
                assert_int_equal(fast.lines, slow.lines);
            }
            if (result == KN_CSV_OK && records < most && stop == size) break;
        }
        ends[result]++;
    }
    assert_true(ends[KN_CSV_OK] > 20 && ends[KN_CSV_MORE] > 20 && ends[KN_CSV_TOO_FEW] > 20 &&
                ends[KN_CSV_TOO_MANY] > 20);
}

static char sniffed(const char *text)
{
    return kn_csv_sniff(text, strlen(text), true);
}

static void sniffs(void **unused)
{
    (void)unused;
    assert_int_equal(sniffed("a,b\n1,2\n"), ',');
    assert_int_equal(sniffed("a;b\n1,5;2\n2,5;3\n"), ';');
    assert_int_equal(sniffed("a\tb\n1\t2\n"), '\t');
    assert_int_equal(sniffed("a|b|c\n1|2|3\n"), '|');
    assert_int_equal(sniffed("a\nb\n"), ',');
    assert_int_equal(sniffed(""), ',');
    assert_int_equal(sniffed("\n\n"), ',');
    assert_int_equal(sniffed("a b\n1 2\n"), ',');
    /* Quotes hide delimiters; a candidate that quotes rule out is none. */
    assert_int_equal(sniffed("\"a,x\";\"b\"\n\"1\";\"2,2\"\n"), ';');
    assert_int_equal(sniffed("x;y,z\n1;2\n3;4\n"), ';');
    /* None is even: the longest agreement wins. */
    assert_int_equal(sniffed("a;b\n1;2\n3;4\n5\n"), ';');
    assert_int_equal(sniffed("a;b,c\n1;2,3\n3;4\n5;5;5;5\n"), ';');
    /* The sample ends inside a record. */
    assert_int_equal(kn_csv_sniff(TEXT("a;b\n1;2\n3,3"), false), ';');
    assert_int_equal(kn_csv_sniff(TEXT("a;b\n1;2\n\"3,3"), false), ';');
}

/* ---- UTF-8 ---- */

/* A decoder by the definition: a code point and its one shortest form. */
static size_t naive_check(const unsigned char *p, size_t size)
{
    size_t i = 0;
    while (i < size) {
        uint32_t point = p[i];
        size_t   n = 1;
        if (point >= 0xf8) return i;
        if (point >= 0xf0)
            n = 4, point &= 7;
        else if (point >= 0xe0)
            n = 3, point &= 15;
        else if (point >= 0xc0)
            n = 2, point &= 31;
        else if (point >= 0x80)
            return i;
        for (size_t k = 1; k < n; k++) {
            if (i + k >= size || p[i + k] >> 6 != 2) return i;
            point = point << 6 | (p[i + k] & 63);
        }
        size_t shortest = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        if (n != shortest || point == 0 || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return i;
        i += n;
    }
    return size;
}

static void check_both(const unsigned char *text, size_t size)
{
    size_t expected = naive_check(text, size);
    if (kn_utf8_check((const char *)text, size) != expected)
        fail_msg("%02x %02x %02x %02x (%zu bytes): expected %zu", text[0], text[1], text[2], text[3], size, expected);
}

static void utf8_short_sequences(void **unused)
{
    (void)unused;
    unsigned char b[4] = {0};
    for (unsigned x = 0; x < 1u << 24; x++) {
        b[0] = (unsigned char)(x >> 16);
        b[1] = (unsigned char)(x >> 8);
        b[2] = (unsigned char)x;
        if ((x & 0xffff) == 0) check_both(b, 1);
        if ((x & 0xff) == 0) check_both(b, 2);
        check_both(b, 3);
    }
}

static void utf8_long_sequences(void **unused)
{
    (void)unused;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 2);
    unsigned char b[64];
    for (int round = 0; round < 2000000; round++) { /* four bytes, mostly near the borders of the table */
        uint64_t x = kn_rng_next(&rng);
        memcpy(b, &x, 4);
        b[0] = (unsigned char)(0xec + (x >> 32 & 15));
        if (x >> 40 & 1) b[1] = (unsigned char)(0x80 | (b[1] & 0x3f));
        if (x >> 41 & 3) b[2] = (unsigned char)(0x80 | (b[2] & 0x3f));
        if (x >> 43 & 3) b[3] = (unsigned char)(0x80 | (b[3] & 0x3f));
        check_both(b, 4);
    }
    static const char *const pieces[] = {"a", "bcdefgh", "é", "€", "😀", "\x80", "\xc3", "\xf0\x9f\x98", "12345678"};
    for (int round = 0; round < 200000; round++) { /* words of eight around odd bytes */
        size_t size = 0;
        while (size < 40 && kn_rng_below(&rng, 12)) {
            const char *piece = pieces[kn_rng_below(&rng, 60) % (kn_rng_below(&rng, 8) ? 5 : 9)];
            memcpy(b + size, piece, strlen(piece));
            size += strlen(piece);
        }
        if (size && kn_rng_below(&rng, 20) == 0) b[kn_rng_below(&rng, size)] = 0;
        check_both(b, size);
        bool plain = true;
        for (size_t i = 0; i < size; i++) plain = plain && b[i] > 0 && b[i] < 0x80;
        assert_int_equal(kn_plain_ascii((const char *)b, size), plain);
    }
}

static void utf8_length(void **unused)
{
    (void)unused;
    assert_int_equal(kn_utf8_length(TEXT("")), 0);
    assert_int_equal(kn_utf8_length(TEXT("aé€😀z")), 5);
}

static void one_byte_encodings(void **unused)
{
    (void)unused;
    static const char undefined[] = "\x81\x8d\x8f\x90\x9d";
    char              out[3];
    for (int c = 1; c < 256; c++) {
        char byte = (char)c;
        bool none = strchr(undefined, byte) != NULL;
        assert_int_equal(kn_bytes_check(&byte, 1, false), none ? 0 : 1);
        assert_int_equal(kn_bytes_check(&byte, 1, true), 1);
        size_t n = kn_utf8_from_bytes(out, &byte, 1, false);
        assert_int_equal(n == SIZE_MAX, none);
        if (!none) assert_int_equal(kn_utf8_check(out, n), n);
        n = kn_utf8_from_bytes(out, &byte, 1, true);
        assert_int_equal(n, c < 0x80 ? 1 : 2);
        unsigned point = c < 0x80 ? (unsigned char)out[0] : (unsigned)(out[0] & 31) << 6 | (out[1] & 63);
        assert_int_equal(point, c); /* Latin-1 is the first 256 code points */
    }
    assert_int_equal(kn_bytes_check("ab\0c", 4, true), 2);
    assert_int_equal(kn_utf8_from_bytes(out, "\x80", 1, false), 3);
    assert_memory_equal(out, "€", 3);
    assert_int_equal(kn_utf8_from_bytes(out, "\x9f", 1, false), 2);
    assert_memory_equal(out, "Ÿ", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_equals_scalar),
        cmocka_unit_test(index_finds_every_place),
        cmocka_unit_test(counts),
        cmocka_unit_test(undoubles),
        cmocka_unit_test(guesses),
        cmocka_unit_test(scan_keeps_its_place),
        cmocka_unit_test(plain_records_as_any),
        cmocka_unit_test(sniffs),
        cmocka_unit_test(utf8_short_sequences),
        cmocka_unit_test(utf8_long_sequences),
        cmocka_unit_test(utf8_length),
        cmocka_unit_test(one_byte_encodings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
