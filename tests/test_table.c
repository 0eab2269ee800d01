/* test_table.c: tables as they come out of the builder: codes of every width, equal results for any number of threads,
 * sorting, the memory limit, failing memory, cancellation.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "csv_testing.h"
#include "kn_builder.h"
#include "kn_interner.h"
#include "kn_rng.h"
#include "kn_sort.h"

/* ---- Sorting ---- */

typedef struct ranks {
    const uint32_t *rank; /* of an id among those with equal keys */
} ranks;

static int by_rank(const void *arg, uint64_t a, uint64_t b)
{
    const ranks *r = arg;
    return r->rank[a] < r->rank[b] ? -1 : r->rank[a] > r->rank[b];
}

static const uint32_t *twin_rank; /* for qsort, which has no argument; NULL: by id */

static int twin_compare(const void *x, const void *y)
{
    const kn_sort_record *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    uint64_t i = twin_rank ? twin_rank[a->id] : a->id, j = twin_rank ? twin_rank[b->id] : b->id;
    return i < j ? -1 : i > j;
}

enum { SHAPES = 11 };

static uint64_t shaped_key(kn_rng *rng, int shape, size_t i, size_t n)
{
    switch (shape) {
    case 0: return kn_rng_next(rng);
    case 1: return 42;
    case 2: return i;
    case 3: return n - i;
    case 4: return i < n / 2 ? i : n - i; /* organ pipe */
    case 5: return kn_rng_below(rng, 3);
    case 6: return i % 2 ? i : n + 1 - i; /* bad medians of three */
    case 7: return (uint64_t)1 << kn_rng_below(rng, 64);
    case 8: return UINT64_MAX - kn_rng_below(rng, 300);
    case 9: return i == n / 3 ? 0 : (uint64_t)1 << 63 | kn_rng_below(rng, 1 << 20); /* one far away */
    default: return (i * 0x9e3779b97f4a7c15u) & 0xff00ff0000ff00ffu;
    }
}

static void sort_both(kn_rng *rng, kn_context *ctx, int shape, size_t n)
{
    kn_sort_record *a = malloc((n + 1) * sizeof *a), *b = malloc((n + 1) * sizeof *b);
    uint32_t       *rank = malloc((n + 1) * sizeof *rank);
    assert_true(a && b && rank);
    for (size_t i = 0; i < n; i++) {
        a[i] = (kn_sort_record){shaped_key(rng, shape, i, n), i};
        rank[i] = (uint32_t)i;
    }
    for (size_t i = n; i > 1; i--) { /* ids and ranks in no order */
        size_t   j = kn_rng_below(rng, i), k = kn_rng_below(rng, i);
        uint64_t id = a[i - 1].id;
        a[i - 1].id = a[j].id;
        a[j].id = id;
        uint32_t r = rank[i - 1];
        rank[i - 1] = rank[k];
        rank[k] = r;
    }
    for (int tie = 0; tie < 2; tie++) {
        kn_error err = KN_ERROR_INIT;
        ranks    arg = {rank};
        memcpy(b, a, n * sizeof *a);
        twin_rank = tie ? rank : NULL;
        qsort(b, n, sizeof *b, twin_compare);
        assert_ok(kn_sort_records(ctx, a, n, tie ? by_rank : NULL, &arg, &err), err);
        if (n && memcmp(a, b, n * sizeof *a) != 0) fail_msg("shape %d, %zu records, tie %d", shape, n, tie);
    }
    free(a);
    free(b);
    free(rank);
}

static void sorts_as_qsort(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {0, 1, 2, 3, 16, 17, 100, 511, 512, 513, 1001, 5000, 65535, 65536, 65537, 140000};
    kn_rng              rng;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int threads = 1; threads <= 8; threads *= 2) {
        kn_context *ctx = testing_context(threads);
        for (int shape = 0; shape < SHAPES; shape++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                if (sizes[s] < 6000 || (threads == 2 && shape % (TESTING_SANITIZED ? 3 : 1) == 0))
                    sort_both(&rng, ctx, shape, sizes[s]);
        testing_context_free(ctx);
    }
}

/* A pattern against quicksort with a median of three (Musser 1999), large enough to be quadratic if nothing guards it. */
static void sorts_hostile_ties(void **unused)
{
    (void)unused;
    size_t          n = TESTING_SANITIZED ? 100000 : 400000;
    kn_sort_record *a = malloc(n * sizeof *a);
    uint32_t       *rank = malloc(n * sizeof *rank);
    assert_true(a && rank);
    for (size_t i = 0; i < n / 2; i++) { /* all keys equal: everything is decided by the tie */
        rank[i] = (uint32_t)(i % 2 ? n / 2 + i - 1 : i + 1);
        rank[n / 2 + i] = (uint32_t)(2 * (i + 1));
    }
    for (size_t i = 0; i < n; i++) a[i] = (kn_sort_record){7, i};
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    ranks       arg = {rank};
    assert_ok(kn_sort_records(ctx, a, n, by_rank, &arg, &err), err);
    for (size_t i = 1; i < n; i++) assert_true(rank[a[i - 1].id] <= rank[a[i].id]);
    testing_context_free(ctx);
    free(a);
    free(rank);
}

/* ---- Widths of codes ---- */

/* One column of `distinct` texts, each `copies` times, `missing` empty cells among them, plus a column that is constant. */
static const char *column_file(uint32_t distinct, int copies, bool missing)
{
    size_t size = 0, capacity = ((size_t)distinct * (size_t)copies + 2) * 16 + 100;
    char  *text = malloc(capacity);
    assert_non_null(text);
    size += (size_t)sprintf(text, "v,w\n");
    for (int k = 0; k < copies; k++)
        for (uint32_t i = 0; i < distinct; i++) size += (size_t)sprintf(text + size, "t%u,1\n", i);
    if (missing) size += (size_t)sprintf(text + size, ",1\n");
    const char *path = testing_file("column.csv", text, size);
    free(text);
    return path;
}

static void widths_at_the_borders(void **unused)
{
    (void)unused;
    static const uint32_t counts[] = {0, 1, 254, 255, 256, 257, 65534, 65535, 65536, 65537};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int missing = 0; missing < 2; missing++) {
            const char *path = column_file(counts[i], 2, missing);
            for (int threads = TESTING_THREAD_SANITIZER ? 2 : 1; threads <= 2; threads++) {
                if (TESTING_THREAD_SANITIZER && i % 2 != (size_t)missing) continue; /* what is counted is no race */
                kn_context *ctx = testing_context(threads);
                kn_table   *t = read_path(ctx, path, NULL, 1 << 16);
                uint64_t    codes = (uint64_t)counts[i] + (uint64_t)missing;
                assert_int_equal(kn_table_code_width(t, 0), codes <= 256 ? 1 : codes <= 65536 ? 2 : 4);
                assert_int_equal(kn_table_distinct(t, 0), counts[i]);
                assert_int_equal(kn_table_missing(t, 0), missing);
                for (int64_t r = 0; r<kn_table_rows(t) - missing; r += counts[i]> 1000 ? 97 : 1) {
                    char expected[16];
                    snprintf(expected, sizeof expected, "t%u", (unsigned)(r % counts[i]));
                    assert_cell(t, 0, r, expected);
                }
                if (missing) assert_cell(t, 0, kn_table_rows(t) - 1, "(missing)");
                kn_table_free(t);
                testing_context_free(ctx);
            }
            remove(path);
        }
    }
}

static void many_distinct_values(void **unused)
{
    (void)unused;
    enum { N = TESTING_SANITIZED ? 100000 : 2000000 };
    size_t size = 0;
    char  *text = malloc((size_t)N * 20);
    assert_non_null(text);
    size += (size_t)sprintf(text, "id,name\n");
    for (uint32_t i = 0; i < N; i++) {
        uint32_t x = (uint32_t)((uint64_t)i * 1299709 % N); /* a permutation: 1299709 is prime */
        size += (size_t)sprintf(text + size, "%u,p%u\n", x, x);
    }
    const char *path = testing_file("many.csv", text, size);
    free(text);
    kn_table   *tables[2];
    kn_context *contexts[2];
    for (int i = 0; i < 2; i++) {
        contexts[i] = testing_context(i + 1);
        tables[i] = read_path(contexts[i], path, NULL, 1 << 19);
        assert_int_equal(kn_table_rows(tables[i]), N);
        assert_int_equal(kn_table_distinct(tables[i], 0), N);
        assert_int_equal(kn_table_distinct(tables[i], 1), N);
    }
    for (int64_t r = 0; r < N; r++) /* integers are 0 .. N - 1: the code is the value */
        assert_int_equal(kn_table_code(tables[0], 0, r), (uint64_t)r * 1299709 % N);
    assert_tables_equal(tables[0], tables[1]);
    for (int i = 0; i < 2; i++) {
        kn_table_free(tables[i]);
        testing_context_free(contexts[i]);
    }
    remove(path);
}

/* ---- Threads and pieces ---- */

/* Rows whose columns meet every case: widening on the way, missing cells, quotes, values that fall together. */
static char *mixed_text(kn_rng *rng, size_t rows, size_t *size)
{
    char *text = malloc(rows * 120 + 200);
    assert_non_null(text);
    *size = (size_t)sprintf(text, "few,wide,number,date,quoted,sparse\r\n");
    for (size_t i = 0; i < rows; i++) {
        uint64_t x = kn_rng_next(rng);
        char    *p = text + *size;
        p += sprintf(p, "%c,", 'a' + (int)(x % 5));
        p += sprintf(p, "w%zu,", i < rows / 3 ? i % 100 : (size_t)(x >> 8) % (i + 1)); /* one byte, then more */
        p += sprintf(p, x >> 40 & 1 ? "%d.%d0," : "%d.%d,", (int)((x >> 41) % 50), (int)((x >> 50) % 10));
        p += sprintf(p, "%04d-%02d-%02d,", 1950 + (int)((x >> 16) % 70), 1 + (int)(x >> 24 & 7),
                     1 + (int)((x >> 32) % 28));
        p += sprintf(p, x >> 60 & 1 ? "\"q \"\"%d\"\",\r\n\n\"," : "\"%d\",", (int)((x >> 44) % 300));
        p += sprintf(p, x >> 61 ? "NA\r\n" : "%d\r\n", (int)((x >> 30) % 100000));
        *size = (size_t)(p - text);
    }
    return text;
}

static void equal_for_all_threads(void **unused)
{
    (void)unused;
    static const struct {
        int    threads;
        size_t piece;
    } ways[] = {{1, 1 << 19}, {1, 512}, {2, 1 << 19}, {2, 4096}, {2, 100}, {8, 1 << 14}, {8, 1000}, {3, 65536}};
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    enum { ROWS = TESTING_SANITIZED ? 20000 : 60000 };
    size_t      size;
    char       *text = mixed_text(&rng, ROWS, &size);
    const char *path = testing_file("mixed.csv", text, size);
    kn_context *first_context = testing_context(1);
    kn_table   *first = read_path(first_context, path, NULL, 1 << 24);
    assert_int_equal(kn_table_rows(first), ROWS);
    static const kn_type types[] = {KN_TYPE_TEXT, KN_TYPE_TEXT, KN_TYPE_DECIMAL,
                                    KN_TYPE_DATE, KN_TYPE_TEXT, KN_TYPE_INTEGER};
    for (int c = 0; c < 6; c++) assert_int_equal(kn_table_type(first, c), types[c]);
    assert_true(kn_table_respelled(first, 2) > 100);
    assert_true(kn_table_missing(first, 5) > 1000);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        kn_csv_options options = KN_CSV_OPTIONS_INIT;
        options.delimiter = ',';
        if (TESTING_THREAD_SANITIZER && ways[w].threads == 1) continue;
        kn_context *ctx = testing_context(ways[w].threads);
        kn_table   *t = read_path(ctx, path, &options, ways[w].piece);
        assert_tables_equal(first, t);
        kn_table_free(t);
        testing_context_free(ctx);
    }
    kn_table_free(first);
    testing_context_free(first_context);
    free(text);
}

/* A quote inside an unquoted cell makes every later piece guess wrong: slower, never different, and what the wrong
 * guesses interned does not stay. */
static void wrong_guesses_leave_nothing(void **unused)
{
    (void)unused;
    size_t size = 0;
    char  *text = malloc(1 << 20);
    assert_non_null(text);
    size += (size_t)sprintf(text, "size,note\n5\" pipe,odd\n");
    for (int i = 0; i < 8000; i++)
        size += (size_t)sprintf(text + size, "%d,\"note, with\n\"\"lines\"\"\n,x,%d,y\n\"\n", i % 300, i % 7);
    const char    *path = testing_file("guess.csv", text, size);
    kn_csv_options options = KN_CSV_OPTIONS_INIT;
    options.delimiter = ',';
    kn_context *ctx = testing_context(1), *other = testing_context(8);
    kn_table   *whole = read_path(ctx, path, &options, 1 << 24);
    assert_int_equal(kn_table_distinct(whole, 1), 8);
    for (size_t piece = 50; piece < 100000; piece = piece * 3 + 1) {
        kn_table *t = read_path(other, path, &options, piece); /* validates: every value of a dictionary is used */
        assert_tables_equal(whole, t);
        kn_table_free(t);
    }
    kn_table_free(whole);
    testing_context_free(ctx);
    testing_context_free(other);
    free(text);
}

/* The same where a wrong guess finds rows that look right: lines inside a cell, two cells each. */
static void rows_inside_cells_are_no_rows(void **unused)
{
    (void)unused;
    size_t size = 0;
    char   text[4096];
    size += (size_t)snprintf(text, sizeof text, "size,note\n5\" pipe,odd\n");
    for (int i = 0; i < 40; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%d,\"n\nfake%d,row\nfalse%d,row\n\"\n", i % 9, i, i);
    const char    *path = testing_file("inside.csv", text, size);
    kn_csv_options options = KN_CSV_OPTIONS_INIT;
    options.delimiter = ',';
    kn_context *ctx = testing_context(1);
    kn_table   *whole = read_path(ctx, path, &options, 1 << 19);
    assert_int_equal(kn_table_distinct(whole, 0), 10);
    for (size_t piece = size / 8 + 1; piece < size; piece++) { /* one wave of eight pieces or fewer */
        kn_table *t = read_path(ctx, path, &options, piece);
        assert_tables_equal(whole, t);
        kn_table_free(t);
    }
    kn_table_free(whole);
    testing_context_free(ctx);
}

/* ---- Digests ---- */

/* Of more than one wave, of less than a record, and of no row at all; the same table as without. */
static void digests_are_of_the_bytes(void **unused)
{
    (void)unused;
    enum { ROWS = 400000, ROOM = 18 << 20 };
    size_t sizes[3] = {0};
    char  *text = malloc(ROOM);
    assert_non_null(text);
    sizes[0] = (size_t)sprintf(text, "\xef\xbb\xbfsize,note\n");
    for (int i = 0; i < ROWS; i++)
        sizes[0] += (size_t)sprintf(
            text + sizes[0], i % 5 ? "%d,a note of some words\n" : "%d,\"two\nlines, \"\"%d\"\"\"\r\n", i, i % 7);
    assert_true(sizes[0] > 9 << 20 && sizes[0] < ROOM);
    const char *paths[3], *texts[3] = {text, "size,note\n1,2", "\n\nsize,note\n"};
    char        names[3][16], wanted[3][KN_SHA256_TEXT], got[3][KN_SHA256_TEXT];
    for (int i = 0; i < 3; i++) {
        kn_sha256 state;
        if (i > 0) sizes[i] = strlen(texts[i]);
        snprintf(names[i], sizeof names[i], "digest%d.csv", i);
        paths[i] = testing_file(names[i], texts[i], sizes[i]);
        kn_sha256_begin(&state);
        kn_sha256_add(&state, texts[i], sizes[i]);
        kn_sha256_text(&state, wanted[i]);
    }
    kn_csv_options options = KN_CSV_OPTIONS_INIT;
    options.delimiter = ',';
    for (int threads = 1; threads <= 3; threads++) {
        kn_context *ctx = testing_context(threads);
        kn_table   *t = NULL, *plain = NULL;
        kn_error    err = KN_ERROR_INIT;
        assert_ok(kn_csv_read_digested(&t, ctx, paths, 3, &options, got, &err), err);
        for (int i = 0; i < 3; i++) assert_string_equal(got[i], wanted[i]);
        assert_ok(kn_table_read_csv_files(&plain, ctx, paths, 3, &options, &err), err);
        assert_int_equal(kn_table_rows(t), ROWS + 1);
        assert_tables_equal(plain, t);
        kn_table_free(t);
        kn_table_free(plain);
        testing_context_free(ctx);
    }
    free(text);
}

/* ---- The builder by itself ---- */

static void builder_widens(void **unused)
{
    (void)unused;
    enum { N = 70000 };
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_builder *b = NULL;
    kn_string   names[] = {{"x", 1}, {"none", 4}};
    assert_ok(kn_builder_create(&b, ctx, names, 2, 2, &err), err);
    for (uint32_t i = 0; i < N; i++) { /* slots take turns in runs of 100 */
        char     text[16];
        int      slot = i / 100 % 2;
        size_t   n = (size_t)snprintf(text, sizeof text, "%u", i % 40000);
        uint32_t id =
            i % 1000 == 999 ? KN_ID_MISSING : kn_intern(kn_builder_interner(b, 0, slot), (kn_string){text, n});
        uint32_t none = KN_ID_MISSING;
        int64_t  row = -1;
        assert_ok(kn_builder_extend(b, 1, slot, &row, &err), err);
        assert_int_equal(row, i);
        kn_builder_write(b, 0, row, &id, 1);
        kn_builder_write(b, 1, row, &none, 1);
    }
    kn_table *t = NULL;
    assert_ok(kn_builder_finish(&t, b, NULL, NULL, &err), err);
    assert_valid(t);
    assert_int_equal(kn_table_type(t, 0), KN_TYPE_INTEGER);
    assert_int_equal(kn_table_missing(t, 0), N / 1000);
    assert_int_equal(kn_table_missing(t, 1), N);
    assert_int_equal(kn_table_distinct(t, 1), 0);
    assert_int_equal(kn_table_type(t, 1), KN_TYPE_TEXT);
    for (uint32_t i = 0; i < N; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "%u", i % 40000);
        assert_cell(t, 0, i, i % 1000 == 999 ? "(missing)" : expected);
    }
    kn_table_free(t);
    testing_context_free(ctx);
}

/* Ids are equal exactly where texts are, whatever their length. */
static void interns_exactly(void **unused)
{
    (void)unused;
    enum { N = 60000 };
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 2);
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_builder *b = NULL;
    kn_string   name = {"x", 1};
    assert_ok(kn_builder_create(&b, ctx, &name, 1, 1, &err), err);
    char(*texts)[24] = malloc(N * sizeof *texts);
    uint8_t *sizes = malloc(N);
    assert_true(texts && sizes);
    uint32_t known = 0;
    for (int i = 0; i < N; i++) {
        char   text[24] = {0};
        size_t size = kn_rng_below(&rng, 24);
        for (size_t k = 0; k < size; k++)
            text[k] = (char)kn_rng_below(&rng, 2); /* NULs and near misses of every length */
        uint32_t id = kn_intern(kn_builder_interner(b, 0, 0), (kn_string){text, size});
        assert_true(id >= 1 && id <= known + 1);
        if (id == known + 1) {
            memcpy(texts[known], text, size);
            sizes[known++] = (uint8_t)size;
        }
        assert_int_equal(sizes[id - 1], size);
        assert_memory_equal(texts[id - 1], text, size + 1 < 24 ? size : 23);
    }
    for (uint32_t i = 0; i < known; i++) /* and a text seen again has the id it had */
        assert_int_equal(kn_intern(kn_builder_interner(b, 0, 0), (kn_string){texts[i], sizes[i]}), i + 1);
    kn_builder_free(b);
    testing_context_free(ctx);
    free(texts);
    free(sizes);
}

/* Many at a time: the ids that they get one by one, in tables that caches hold and in larger ones. */
static void interns_many_as_each(void **unused)
{
    (void)unused;
    enum { N = 90000, MOST = 200 };
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 5);
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_builder *b = NULL;
    kn_string   names[] = {{"x", 1}, {"y", 1}};
    assert_ok(kn_builder_create(&b, ctx, names, 2, 1, &err), err);
    int repeated = 0, missing = 0;
    for (int done = 0; done < N;) {
        char      room[MOST][12];
        kn_string texts[MOST];
        uint32_t  ids[MOST];
        int       count = 1 + (int)kn_rng_below(&rng, MOST);
        for (int i = 0; i < count; i++) {
            unsigned value = (unsigned)kn_rng_below(&rng, 60000);
            texts[i] = (kn_string){room[i], (size_t)snprintf(room[i], sizeof room[i], "%u", value)};
            if (value % 1000 == 7) texts[i] = (kn_string){NULL, 0};
            if (value % 1000 == 8) texts[i].size = 0;
        }
        assert_true(kn_intern_all(kn_builder_interner(b, 0, 0), texts, count, ids));
        for (int i = 0; i < count; i++) {
            uint32_t expected = texts[i].data ? kn_intern(kn_builder_interner(b, 1, 0), texts[i]) : KN_ID_MISSING;
            assert_int_equal(ids[i], expected);
            missing += !texts[i].data;
            repeated += i > 0 && ids[i] < ids[i - 1];
        }
        done += count;
    }
    assert_true(missing > 10 && repeated > 1000);
    kn_builder_free(b);
    testing_context_free(ctx);
}

/* As a reader asks for a short text: with as many words as there can be. */
static uint32_t near_id(const kn_interner *in, const char *text, size_t size)
{
    int words = in->near_longest <= KN_NEAR_WORD ? 1 : in->near_longest <= KN_NEAR_HALF ? 2 : 4;
    if (!in->near || size > (size_t)words * KN_NEAR_WORD) return 0;
    const kn_interner_near *slot = words == 1   ? kn_near_find(in->near, in->near_shift, text, size, 1)
                                   : words == 2 ? kn_near_find(in->near, in->near_shift, text, size, 2)
                                                : kn_near_find(in->near, in->near_shift, text, size, 4);
    return slot ? slot->id : 0;
}

/* Short texts by their words: the ids that they get otherwise, whatever follows them in memory, before and after there are too many. */
static void interns_near_as_each(void **unused)
{
    (void)unused;
    enum { N = 40000, LONGEST = 40 };
    const size_t sizes[] = {KN_NEAR_WORD, KN_NEAR_HALF, 24, LONGEST};
    kn_rng       rng;
    kn_rng_init(&rng, testing_seed(), 6);
    for (int kind = 0; kind < 4; kind++) {
        kn_context *ctx = testing_context(1);
        kn_error    err = KN_ERROR_INIT;
        kn_builder *b = NULL;
        kn_string   names[] = {{"x", 1}, {"y", 1}};
        assert_ok(kn_builder_create(&b, ctx, names, 2, 1, &err), err);
        kn_interner *in = kn_builder_interner(b, 0, 0);
        int64_t      found = 0;
        for (int i = 0; i < N; i++) {
            char   text[LONGEST + KN_NEAR_HALF];
            size_t size = kn_rng_below(&rng, sizes[kind] + 1);
            for (size_t k = 0; k < sizeof text; k++) text[k] = (char)kn_rng_next(&rng); /* what follows is anything */
            for (size_t k = 0; k < size; k++)
                text[k] = i % 4 ? 'a' : 0; /* zeroes: only their number tells them apart */
            /* One byte differs, or (the last kind) two: near misses at every place of every length. */
            for (int change = 0; size > 0 && change <= kind / 3; change++)
                text[kn_rng_below(&rng, size)] = (char)(text[0] + (char)kn_rng_below(&rng, 2));
            kn_string one = {text, size};
            uint32_t  id = near_id(in, text, size);
            found += id != 0;
            if (!id) id = i % 5 ? kn_intern_near(in, one) : kn_intern(in, one); /* some come another way */
            assert_int_equal(id, kn_intern(kn_builder_interner(b, 1, 0), one));
        }
        assert_true(found > (kind < 3 ? N / 4 : 500));
        assert_int_equal(in->far, kind == 3);
        kn_builder_free(b);
        testing_context_free(ctx);
    }
}

/* ---- Memory and cancellation ---- */

static void keeps_the_memory_limit(void **unused)
{
    (void)unused;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 3);
    size_t      size;
    char       *text = mixed_text(&rng, 150000, &size);
    const char *path = testing_file("limit.csv", text, size);
    free(text);
    for (int threads = TESTING_THREAD_SANITIZER ? 2 : 1; threads <= 2; threads++) {
        bool read = false;
        int  refused = 0;
        for (uint64_t limit = 1 << 20; !read; limit += limit / (TESTING_SANITIZED ? 2 : 5)) {
            kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
            options.threads = threads;
            options.memory_limit = limit;
            kn_context *ctx = NULL;
            kn_error    err = KN_ERROR_INIT;
            kn_table   *t = NULL;
            assert_ok(kn_context_create(&ctx, &options, &err), err);
            kn_status st = kn_table_read_csv(&t, ctx, path, NULL, &err);
            assert_true(kn_context_memory_peak(ctx) <= limit);
            if (st == KN_OK) {
                assert_valid(t);
                read = true;
            } else {
                refused++;
                assert_int_equal(st, KN_MEMORY);
                const char *says = strstr(err.message, limit > 12 << 20 ? "reading it needs about " : "limit");
                if (!says) fail_msg("%llu bytes: %s", (unsigned long long)limit, err.message);
                double need = 0;
                if (sscanf(says, "reading it needs about %lf MB", &need) == 1) assert_true(need * 1e6 > (double)limit);
            }
            kn_table_free(t);
            testing_context_free(ctx);
        }
        assert_true(refused > 3);
    }
    remove(path);
}

static void refuse_each_request(const char *path, const kn_csv_options *options, int threads, size_t piece)
{
    int64_t at = 0;
    for (;; at += testing_step()) {
        testing_allocator state = {.refuse_at = at};
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        kn_table         *t = NULL;
        kn_status         st = testing_refusing_context(&ctx, &state, threads, &err);
        if (st == KN_OK) st = kn_csv_read_pieces(&t, ctx, &path, 1, options, piece, &err);
        if (st == KN_OK) {
            assert_valid(t);
        } else {
            if (st != KN_MEMORY) fail_msg("request %lld refused: %s", (long long)at, err.message);
            assert_non_null(strstr(err.message, "memory"));
            assert_null(t);
        }
        kn_table_free(t);
        kn_context_free(ctx);
        if (state.live != 0)
            fail_msg("request %lld refused: %lld blocks are left", (long long)at, (long long)state.live);
        if (st == KN_OK && state.requests <= at) break;
    }
    assert_true(at > 30);
}

static void survives_failing_memory(void **unused)
{
    (void)unused;
    static const char text[] = "a,b,c,d\n1,\"x\"\"\xe9\",2020-01-01,0.5\n2,y,2020-01-02,1.50\n3,z,NA,1.5\n"
                               "4,5\" \xfc,2020-01-02,\n5,\"long cell that needs room of its own, more than once\",,\n";
    kn_csv_options    options = KN_CSV_OPTIONS_INIT;
    options.encoding = KN_ENCODING_LATIN_1;
    options.timezone = "+01:00";
    options.delimiter = ',';
    const char *path = testing_file("memory.csv", text, sizeof text - 1);
    refuse_each_request(path, &options, 1, 1 << 19);
    refuse_each_request(path, &options, 2, 7);
    refuse_each_request(path, &options, 1, 3);
    /* Reading fails in its own way where a declared type does not fit: no memory for the message's row either. */
    kn_column_type type = {"b", KN_TYPE_INTEGER, NULL};
    options.types = &type;
    options.type_count = 1;
    for (int64_t at = 0;; at += testing_step()) {
        testing_allocator state = {.refuse_at = at};
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        kn_table         *t = NULL;
        kn_status         st = testing_refusing_context(&ctx, &state, 1, &err);
        if (st == KN_OK) st = kn_table_read_csv(&t, ctx, path, &options, &err);
        kn_context_free(ctx);
        assert_int_equal(state.live, 0);
        if (st == KN_INPUT) break;
        assert_int_equal(st, KN_MEMORY);
    }
}

typedef struct canceller {
    kn_context *ctx;
    int         calls, cancel_at;
} canceller;

static void cancel_soon(void *user, const kn_progress *progress)
{
    (void)progress;
    canceller *c = user;
    if (++c->calls >= c->cancel_at) kn_context_cancel(c->ctx);
}

static void cancels_and_frees(void **unused)
{
    (void)unused;
    enum { ROWS = TESTING_SANITIZED ? 100000 : 400000 };
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 4);
    size_t      size;
    char       *text = mixed_text(&rng, ROWS, &size);
    const char *path = testing_file("cancel.csv", text, size);
    free(text);
    int cancelled = 0;
    for (int way = 0; way < 6; way++) {
        canceller          c = {NULL, 0, 1 + way / 2};
        kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
        options.threads = 1 + way % 2;
        options.progress = cancel_soon;
        options.progress_user = &c;
        kn_error  err = KN_ERROR_INIT;
        kn_table *t = NULL;
        assert_ok(kn_context_create(&c.ctx, &options, &err), err);
        /* Small pieces: many waves, each with its chance to stop. */
        kn_csv_options csv = KN_CSV_OPTIONS_INIT;
        csv.delimiter = ',';
        kn_status st = kn_csv_read_pieces(&t, c.ctx, &path, 1, &csv, 3000, &err);
        if (st == KN_CANCELLED) {
            cancelled++;
            assert_null(t);
            assert_int_equal(err.status, KN_CANCELLED);
            kn_context_reset_cancel(c.ctx); /* the context can be used again */
            c.cancel_at = 1 << 30;
            assert_ok(kn_csv_read_pieces(&t, c.ctx, &path, 1, &csv, 1 << 19, &err), err);
            assert_int_equal(kn_table_rows(t), ROWS);
        } else {
            assert_ok(st, err);
        }
        kn_table_free(t);
        testing_context_free(c.ctx);
    }
    assert_true(cancelled > 0);
    remove(path);
}

static void names_of_types(void **unused)
{
    (void)unused;
    for (kn_type type = KN_TYPE_AUTO; type <= KN_TYPE_DATETIME; type++) {
        kn_type again = KN_TYPE_AUTO;
        assert_true(kn_type_parse(kn_type_name(type), &again));
        assert_int_equal(again, type);
    }
    kn_type type;
    assert_false(kn_type_parse("Integer", &type));
    assert_false(kn_type_parse("", &type));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_as_qsort),
        cmocka_unit_test(sorts_hostile_ties),
        cmocka_unit_test(widths_at_the_borders),
        cmocka_unit_test(many_distinct_values),
        cmocka_unit_test(equal_for_all_threads),
        cmocka_unit_test(wrong_guesses_leave_nothing),
        cmocka_unit_test(rows_inside_cells_are_no_rows),
        cmocka_unit_test(digests_are_of_the_bytes),
        cmocka_unit_test(builder_widens),
        cmocka_unit_test(interns_exactly),
        cmocka_unit_test(interns_many_as_each),
        cmocka_unit_test(interns_near_as_each),
        cmocka_unit_test(keeps_the_memory_limit),
        cmocka_unit_test(survives_failing_memory),
        cmocka_unit_test(cancels_and_frees),
        cmocka_unit_test(names_of_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
