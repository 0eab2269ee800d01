/* test_recode.c: the bytes of a release against a naive twin; cells as text; pseudonyms; refusals; failing memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <fcntl.h>
#include <kanon/hierarchy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_csv_write.h"
#include "kn_private.h"
#include "kn_pseudonym.h"
#include "kn_recode.h"
#include "kn_rng.h"

enum { MAX_COLUMNS = 6, MAX_ROWS = 400, TEXT = 64 };

/* ---- Tables and plans ---- */

static kn_table *read_text(kn_context *ctx, const char *text, kn_type type)
{
    kn_error                 err = KN_ERROR_INIT;
    kn_csv_options           options = KN_CSV_OPTIONS_INIT;
    kn_column_type           types[MAX_COLUMNS];
    static const char *const names[] = {"c0", "c1", "c2", "c3", "c4", "c5"};
    const char              *path = testing_file("recode.csv", text, strlen(text));
    kn_table                *table = NULL;
    options.delimiter = ',';
    int columns = 1;
    for (const char *p = text; *p && *p != '\n'; p++) columns += *p == ',';
    for (int c = 0; c < columns; c++) types[c] = (kn_column_type){names[c], type, NULL};
    if (type != KN_TYPE_AUTO) {
        options.types = types;
        options.type_count = columns;
    }
    assert_ok(kn_table_read_csv(&table, ctx, path, &options, &err), err);
    return table;
}

/* The plan of one level per quasi-identifier, and every `leave`-th class suppressed. */
static kn_plan *plan_of_levels(kn_context *ctx, const kn_table *table, const int *quasi, int count,
                               kn_hierarchy *const *hierarchies, const int *levels, uint32_t leave)
{
    int64_t   rows = kn_table_rows(table);
    uint32_t  classes = 0, nodes[MAX_ROWS][MAX_COLUMNS], released = 0;
    uint32_t *number = malloc(sizeof *number * (size_t)rows);
    for (int64_t r = 0; r < rows; r++) {
        uint32_t mine[MAX_COLUMNS], c = 0;
        for (int q = 0; q < count; q++)
            mine[q] = kn_hierarchy_of_code(hierarchies[q], kn_table_code(table, quasi[q], r), (uint32_t)levels[q]);
        while (c < classes && memcmp(nodes[c], mine, sizeof *mine * (size_t)count) != 0) c++;
        if (c == classes) memcpy(nodes[classes++], mine, sizeof *mine * (size_t)count);
        number[r] = c;
    }
    uint32_t *renumber = malloc(sizeof *renumber * (classes + 1));
    for (uint32_t c = 0; c < classes; c++) renumber[c] = leave > 0 && c % leave == 0 ? KN_CLASS_SUPPRESSED : released++;
    kn_plan *plan = NULL;
    kn_error err = KN_ERROR_INIT;
    assert_ok(kn_plan_create(&plan, ctx, rows, count, released, &err), err);
    for (int64_t r = 0; r < rows; r++) {
        uint32_t c = plan->class_of_row[r] = renumber[number[r]];
        if (c == KN_CLASS_SUPPRESSED)
            plan->suppressed++;
        else
            plan->class_rows[c]++;
    }
    for (uint32_t c = 0; c < classes; c++)
        for (int q = 0; q < count && renumber[c] != KN_CLASS_SUPPRESSED; q++)
            plan->cells[renumber[c] * (uint32_t)count + (uint32_t)q] = (kn_cell){KN_CELL_NODE, nodes[c][q], 0};
    free(number);
    free(renumber);
    return plan;
}

static char *read_all(const char *path, size_t *size)
{
    struct stat info;
    int         fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &info) == 0);
    char *text = malloc((size_t)info.st_size + 1);
    assert_int_equal(read(fd, text, (size_t)info.st_size), info.st_size);
    text[info.st_size] = '\0';
    *size = (size_t)info.st_size;
    close(fd);
    return text;
}

/* Recodes into a temporary file and returns its bytes (malloc). */
static kn_status recode(kn_context *ctx, const kn_recode_input *input, char **bytes, int64_t **map, int64_t *count,
                        kn_error *err)
{
    kn_output  *output = NULL;
    const char *path = testing_file("recoded.csv", "", 0);
    size_t      size = 0;
    *bytes = NULL;
    kn_status st = kn_output_open(&output, ctx, path, NULL, err);
    if (st != KN_OK) return st;
    st = kn_recode_write(output, ctx, input, map, count, err);
    if (st == KN_OK) st = kn_output_flush(output, err);
    if (st == KN_OK) *bytes = read_all(kn_output_temporary(output), &size);
    kn_output_abort(output);
    return st;
}

/* ---- The naive twin: rows of strings, sorted with qsort ---- */

typedef struct naive_row {
    bool    suppressed;
    int     count, quasi_count;
    int64_t row;
    char    cells[MAX_COLUMNS][TEXT]; /* quasi-identifiers first */
} naive_row;

static int compare_naive(const void *a, const void *b)
{
    const naive_row *x = a, *y = b;
    if (x->suppressed != y->suppressed) return x->suppressed ? 1 : -1;
    for (int i = 0; i < x->count; i++) {
        int c = strcmp(x->cells[i], y->cells[i]);
        if (c) return c;
    }
    return x->row < y->row ? -1 : x->row > y->row;
}

static void naive_text(char *out, const kn_table *table, int column, uint32_t code)
{
    size_t      n = 0;
    const char *text = kn_table_text(table, column, code, &n);
    snprintf(out, TEXT, "%.*s", text ? (int)n : 0, text ? text : "");
}

static void naive_cell(char *out, const kn_recode_input *in, const kn_released_column *c, int64_t row)
{
    uint32_t class_index = in->plan->class_of_row[row], code = kn_table_code(in->table, c->column, row);
    bool     shown = in->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE && c->kind == KN_RELEASED_COPY && c->sensitive;
    if (class_index == KN_CLASS_SUPPRESSED && !shown) {
        strcpy(out, "*");
    } else if (c->kind == KN_RELEASED_QUASI) {
        const kn_hierarchy *h = in->hierarchies[c->quasi];
        uint32_t    node = in->plan->cells[class_index * (uint32_t)in->plan->quasi_count + (uint32_t)c->quasi].a;
        size_t      n = 0;
        const char *label = node == h->leaves ? "" : kn_hierarchy_label(h, node, &n);
        snprintf(out, TEXT, "%.*s", (int)n, label);
    } else if (c->kind == KN_RELEASED_COPY || code == kn_table_distinct(in->table, c->column)) {
        naive_text(out, in->table, c->column, code);
    } else {
        char          text[TEXT];
        unsigned char mac[KN_PSEUDONYM_BYTES];
        naive_text(text, in->table, c->column, code);
        kn_pseudonym_make(mac, c->key, kn_string_of(text));
        for (int i = 0; i < KN_PSEUDONYM_BYTES; i++) sprintf(out + 2 * i, "%02x", mac[i]);
    }
}

static char *naive_release(kn_context *ctx, const kn_recode_input *in, int64_t *map, int64_t *count)
{
    int64_t    rows = in->plan->rows, n = 0;
    naive_row *all = calloc((size_t)rows + 1, sizeof *all);
    for (int64_t r = 0; r < rows; r++) {
        naive_row *row = &all[n];
        row->suppressed = in->plan->class_of_row[r] == KN_CLASS_SUPPRESSED;
        if (row->suppressed && in->suppressed == KN_SUPPRESSED_DROP) continue;
        row->row = r;
        row->count = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int c = 0; c < in->column_count; c++)
                if ((in->columns[c].kind == KN_RELEASED_QUASI) == (pass == 0))
                    naive_cell(row->cells[row->count++], in, &in->columns[c], r);
        n++;
    }
    if (!in->keep_order) qsort(all, (size_t)n, sizeof *all, compare_naive);
    kn_buffer out;
    kn_string cells[MAX_COLUMNS];
    kn_buffer_init(&out, ctx);
    for (int c = 0; c < in->column_count; c++) cells[c] = kn_string_of(kn_table_name(in->table, in->columns[c].column));
    kn_csv_row(&out, cells, in->column_count, in->delimiter);
    for (int64_t i = 0; i < n; i++) {
        int quasi = 0, other = 0;
        for (int c = 0; c < in->column_count; c++) other += in->columns[c].kind == KN_RELEASED_QUASI;
        for (int c = 0; c < in->column_count; c++)
            cells[c] = kn_string_of(all[i].cells[in->columns[c].kind == KN_RELEASED_QUASI ? quasi++ : other++]);
        kn_csv_row(&out, cells, in->column_count, in->delimiter);
        map[i] = all[i].row;
    }
    *count = n;
    char *text = strdup(kn_buffer_text(&out));
    kn_buffer_free(&out);
    free(all);
    return text;
}

/* ---- Random releases ---- */

/* Values that need quotes, sort badly as numbers or are missing. */
static const char *const odd_values[] = {"10",  "9",   "2.50",  "-3",     "a,b",   "\"q\"", "x\ny", "",
                                         "Zoë", " sp", "zebra", "zebra2", "02138", "1e5",   "*a",   "zebra\\"};

static void random_table(kn_rng *rng, kn_buffer *to, int columns, int rows)
{
    for (int c = 0; c < columns; c++) kn_buffer_format(to, "%sc%d", c ? "," : "", c);
    kn_buffer_char(to, '\n');
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            const char *text = odd_values[kn_rng_below(rng, sizeof odd_values / sizeof *odd_values)];
            if (c) kn_buffer_char(to, ',');
            if (columns == 1 && !*text) text = "0";
            kn_csv_cell(to, kn_string_of(text), ',');
        }
        kn_buffer_char(to, '\n');
    }
}

/* `alone`: nothing but quasi-identifiers is released, and classes may have many rows. */
static void check_random(kn_context **contexts, kn_rng *rng, int rows, bool alone)
{
    kn_context *ctx = contexts[0];
    int         columns = 1 + (int)kn_rng_below(rng, alone ? 2 : MAX_COLUMNS);
    kn_buffer   csv;
    kn_buffer_init(&csv, ctx);
    random_table(rng, &csv, columns, rows);
    kn_table *table = read_text(ctx, kn_buffer_text(&csv), kn_rng_below(rng, 2) ? KN_TYPE_AUTO : KN_TYPE_TEXT);
    kn_buffer_free(&csv);

    static const unsigned char key[KN_PSEUDONYM_KEY] = "a key for tests, of 32 bytes...";
    kn_released_column         released[MAX_COLUMNS];
    kn_hierarchy              *hierarchies[MAX_COLUMNS] = {0};
    int                        quasi[MAX_COLUMNS], levels[MAX_COLUMNS], quasi_count = 0;
    kn_error                   err = KN_ERROR_INIT;
    for (int c = 0; c < columns; c++) {
        released[c] = (kn_released_column){.kind = (kn_released_kind)kn_rng_below(rng, 3), .column = c, .key = key};
        if (c == 0 || alone) released[c].kind = KN_RELEASED_QUASI;
        released[c].sensitive = kn_rng_below(rng, 2);
        if (released[c].kind != KN_RELEASED_QUASI) continue;
        kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
        spec.kind = kn_rng_below(rng, 2) ? KN_HIERARCHY_SUPPRESS : KN_HIERARCHY_MASK;
        spec.mask_pad = true;
        assert_ok(kn_hierarchy_make(&hierarchies[quasi_count], ctx, table, c, &spec, false, &err), err);
        levels[quasi_count] = (int)kn_rng_below(rng, (uint64_t)kn_hierarchy_levels(hierarchies[quasi_count]));
        released[c].quasi = quasi_count;
        quasi[quasi_count++] = c;
    }
    kn_plan *plan = plan_of_levels(ctx, table, quasi, quasi_count, hierarchies, levels, (uint32_t)kn_rng_below(rng, 5));
    const char *reason = NULL;
    if (!kn_plan_validate(plan, table, quasi, (const kn_hierarchy *const *)hierarchies, &reason))
        fail_msg("%s", reason);

    kn_recode_input input = {.table = table,
                             .plan = plan,
                             .hierarchies = (const kn_hierarchy *const *)hierarchies,
                             .columns = released,
                             .column_count = columns,
                             .suppressed = (kn_suppressed)kn_rng_below(rng, 3),
                             .keep_order = kn_rng_below(rng, 4) == 0,
                             .delimiter = kn_rng_below(rng, 2) ? ',' : ';'};
    int64_t        *expected_map = calloc((size_t)rows + 1, sizeof *expected_map), expected_count = 0;
    char           *expected = naive_release(ctx, &input, expected_map, &expected_count);
    for (int t = 0; t < 3; t++) {
        char    *bytes = NULL;
        int64_t *map = NULL, count = 0;
        assert_ok(recode(contexts[t], &input, &bytes, &map, &count, &err), err);
        assert_string_equal(bytes, expected);
        assert_int_equal(count, expected_count);
        assert_memory_equal(map, expected_map, (size_t)count * sizeof *map);
        kn_free(map);
        free(bytes);
    }
    free(expected);
    free(expected_map);
    kn_plan_free(plan);
    for (int q = 0; q < quasi_count; q++) kn_hierarchy_free(hierarchies[q]);
    kn_table_free(table);
}

static void test_random(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *contexts[3] = {testing_context(1), testing_context(2), testing_context(8)};
    kn_rng_init(&rng, testing_seed(), 0);
    for (int i = 0; i < testing_rounds(150); i++) {
        bool alone = i % 4 == 0;
        check_random(contexts, &rng, 1 + (int)kn_rng_below(&rng, MAX_ROWS - 1), alone);
    }
    check_random(contexts, &rng, 20000, true); /* more than are written at a time */
    for (int t = 0; t < 3; t++) testing_context_free(contexts[t]);
}

/* ---- Keys that do not fit into one word ---- */

static void test_wide_keys(void **state)
{
    (void)state;
    enum { ROWS = 3000 };
    kn_context *ctx = testing_context(2);
    kn_buffer   csv;
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 1);
    kn_buffer_init(&csv, ctx);
    kn_buffer_add(&csv, "c0,c1,c2,c3,c4,c5\n");
    for (int r = 0; r < ROWS; r++) { /* c1 to c5: 12 bits each, of which only the last tells rows apart */
        uint64_t spread = kn_rng_below(&rng, ROWS);
        int      same = r < ROWS / 2;
        kn_buffer_format(&csv, "%d,%d,%d,%d,%d,%d\n", r % 2, same ? 7 : r, same ? 7 : r, same ? 7 : r, same ? 7 : r,
                         (int)spread);
    }
    kn_table     *table = read_text(ctx, kn_buffer_text(&csv), KN_TYPE_TEXT);
    kn_hierarchy *h = NULL;
    kn_error      err = KN_ERROR_INIT;
    kn_buffer_free(&csv);
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    spec.kind = KN_HIERARCHY_SUPPRESS;
    assert_ok(kn_hierarchy_make(&h, ctx, table, 0, &spec, false, &err), err);
    kn_plan *plan = NULL;
    assert_ok(kn_plan_create(&plan, ctx, ROWS, 1, 1, &err), err);
    plan->cells[0] = (kn_cell){KN_CELL_NODE, kn_hierarchy_root(h), 0};
    plan->class_rows[0] = ROWS;
    const kn_hierarchy *hs[] = {h};
    kn_released_column  columns[] = {
         {KN_RELEASED_QUASI, 0, 0, NULL, false, false}, {KN_RELEASED_COPY, 1, 0, NULL, false, false},
         {KN_RELEASED_COPY, 2, 0, NULL, false, false},  {KN_RELEASED_COPY, 3, 0, NULL, false, false},
         {KN_RELEASED_COPY, 4, 0, NULL, false, false},  {KN_RELEASED_COPY, 5, 0, NULL, false, false}};
    kn_recode_input input = {.table = table, .plan = plan, .hierarchies = hs, .columns = columns, .column_count = 6};
    input.delimiter = ',';
    char    *bytes = NULL, *expected = NULL;
    int64_t *map = NULL, count = 0, *naive = malloc(ROWS * sizeof *naive);
    assert_ok(recode(ctx, &input, &bytes, &map, &count, &err), err);
    expected = naive_release(ctx, &input, naive, &count);
    assert_string_equal(bytes, expected);
    kn_free(map);
    free(bytes);
    free(expected);
    free(naive);
    kn_plan_free(plan);
    kn_hierarchy_free(h);
    kn_table_free(table);
    testing_context_free(ctx);
}

/* ---- Cells ---- */

static void expect_cell(kn_context *ctx, const kn_plan *plan, kn_cell cell, const kn_table *table,
                        const kn_hierarchy *h, const char *expected)
{
    kn_buffer to;
    kn_buffer_init(&to, ctx);
    kn_cell_text(&to, plan, &cell, &table->columns[0], h);
    assert_string_equal(kn_buffer_text(&to), expected);
    kn_buffer_free(&to);
}

static void test_cells(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_table         *numbers = read_text(ctx, "c0\n-5\n3\n20\n\"\"\n", KN_TYPE_AUTO);
    kn_hierarchy     *h = NULL;
    kn_plan          *plan = NULL;
    kn_error          err = KN_ERROR_INIT;
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    spec.kind = KN_HIERARCHY_SUPPRESS;
    assert_ok(kn_hierarchy_make(&h, ctx, numbers, 0, &spec, false, &err), err);
    assert_ok(kn_plan_create(&plan, ctx, 4, 1, 1, &err), err);
    uint32_t members[] = {0, 2, 3};
    plan->members = members;
    plan->member_count = 3;
    expect_cell(ctx, plan, (kn_cell){KN_CELL_VALUE, 1, 0}, numbers, NULL, "3");
    expect_cell(ctx, plan, (kn_cell){KN_CELL_VALUE, 3, 0}, numbers, NULL, "");
    expect_cell(ctx, plan, (kn_cell){KN_CELL_RANGE, 1, 2}, numbers, NULL, "[3, 20]");
    expect_cell(ctx, plan, (kn_cell){KN_CELL_RANGE, 0, 2}, numbers, NULL, "[-5, 20]");
    expect_cell(ctx, plan, (kn_cell){KN_CELL_SET, 0, 2}, numbers, NULL, "{-5;20}");
    expect_cell(ctx, plan, (kn_cell){KN_CELL_SET, 0, 3}, numbers, NULL, "{-5;20;}");
    expect_cell(ctx, plan, (kn_cell){KN_CELL_STAR, 0, 0}, numbers, NULL, "*");
    expect_cell(ctx, plan, (kn_cell){KN_CELL_NODE, h->leaves, 0}, numbers, h, "");
    expect_cell(ctx, plan, (kn_cell){KN_CELL_NODE, kn_hierarchy_root(h), 0}, numbers, h, "*");
    expect_cell(ctx, plan, (kn_cell){KN_CELL_NODE, h->leaf_of_code[2], 0}, numbers, h, "20");
    plan->members = NULL;
    kn_plan_free(plan);
    kn_hierarchy_free(h);
    kn_table_free(numbers);
    testing_context_free(ctx);
}

/* A member that would read as several, or as another, is in quotes; every member where a value looks like a set. */
static void test_members_in_quotes(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_table   *plain = read_text(ctx, "c0\n\" lead\"\na\na;b\nb\n\"q\"\"q\"\n", KN_TYPE_TEXT);
    kn_table   *braces = read_text(ctx, "c0\na\nb\nz\n{a;b}\n", KN_TYPE_TEXT);
    kn_plan    *plan = NULL;
    kn_error    err = KN_ERROR_INIT;
    assert_ok(kn_plan_create(&plan, ctx, 4, 1, 1, &err), err);
    uint32_t members[] = {0, 1, 2, 3, 4};
    plan->members = members;
    plan->member_count = 5;
    expect_cell(ctx, plan, (kn_cell){KN_CELL_SET, 0, 5}, plain, NULL, "{\" lead\";a;\"a;b\";b;\"q\"\"q\"}");
    expect_cell(ctx, plan, (kn_cell){KN_CELL_SET, 0, 2}, braces, NULL, "{\"a\";\"b\"}");
    plan->members = NULL;
    kn_plan_free(plan);
    kn_table_free(plain);
    kn_table_free(braces);
    testing_context_free(ctx);
}

/* ---- Refusals ---- */

/* Recodes c0 (by a hierarchy, at a level) and c1 (copied). */
static kn_status recode_two(kn_context *ctx, const char *csv, const char *hierarchy, int level, kn_suppressed mode,
                            char **bytes, kn_error *err)
{
    kn_table         *table = read_text(ctx, csv, KN_TYPE_TEXT);
    kn_hierarchy     *h = NULL;
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    spec.kind = hierarchy ? KN_HIERARCHY_FILE : KN_HIERARCHY_SUPPRESS;
    spec.delimiter = ';';
    if (hierarchy) spec.path = testing_file("h.csv", hierarchy, strlen(hierarchy));
    assert_ok(kn_hierarchy_make(&h, ctx, table, 0, &spec, false, err), *err);
    int                 zero = 0;
    kn_plan            *plan = plan_of_levels(ctx, table, &zero, 1, &h, &level, 0);
    const kn_hierarchy *hs[] = {h};
    kn_released_column  columns[] = {{KN_RELEASED_QUASI, 0, 0, NULL, false, false},
                                     {KN_RELEASED_COPY, 1, 0, NULL, true, false}};
    kn_recode_input input = {.table = table, .plan = plan, .hierarchies = hs, .columns = columns, .column_count = 2};
    input.delimiter = ',';
    input.suppressed = mode;
    int64_t  *map = NULL, count = 0;
    kn_status st = recode(ctx, &input, bytes, &map, &count, err);
    kn_free(map);
    kn_plan_free(plan);
    kn_hierarchy_free(h);
    kn_table_free(table);
    return st;
}

static void test_refusals(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    char       *bytes = NULL;
    /* A row of nothing but stars that is not suppressed: only where its class is "*" and its own cells are too. */
    const char *star = "c0,c1\na,*\nb,x\n";
    assert_int_equal(recode_two(ctx, star, NULL, 1, KN_SUPPRESSED_STAR, &bytes, &err), KN_INPUT);
    assert_non_null(strstr(err.message, "\"c1\""));
    assert_int_equal(recode_two(ctx, star, NULL, 1, KN_SUPPRESSED_DROP, &bytes, &err), KN_INPUT);
    assert_ok(recode_two(ctx, star, NULL, 1, KN_SUPPRESSED_KEEP_SENSITIVE, &bytes, &err), err);
    assert_string_equal(bytes, "c0,c1\n*,*\n*,x\n");
    free(bytes);
    assert_ok(recode_two(ctx, star, NULL, 0, KN_SUPPRESSED_STAR, &bytes, &err), err);
    assert_string_equal(bytes, "c0,c1\na,*\nb,x\n");
    free(bytes);
    /* One label for two groups of one level: a leaf that lies higher, and a group. */
    const char *uneven = "a;Teaching;Work;All\nb;Teaching;Work;All\nTeaching;All\n";
    const char *three = "c0,c1\na,1\nb,2\nTeaching,3\n";
    assert_int_equal(recode_two(ctx, three, uneven, 1, KN_SUPPRESSED_STAR, &bytes, &err), KN_INPUT);
    assert_non_null(strstr(err.message, "\"c0\""));
    assert_null(strstr(err.message, "Teaching"));
    assert_ok(recode_two(ctx, three, uneven, 0, KN_SUPPRESSED_STAR, &bytes, &err), err);
    free(bytes);
    assert_ok(recode_two(ctx, three, uneven, 3, KN_SUPPRESSED_STAR, &bytes, &err), err);
    assert_string_equal(bytes, "c0,c1\nAll,1\nAll,2\nAll,3\n");
    free(bytes);
    testing_context_free(ctx);
}

/* ---- Pseudonyms ---- */

static void test_pseudonyms(void **state)
{
    (void)state;
    kn_context   *ctx = testing_context(1);
    kn_error      err = KN_ERROR_INIT;
    unsigned char key[KN_PSEUDONYM_KEY], mac[KN_PSEUDONYM_BYTES];
    char          text[KN_PSEUDONYM_TEXT + 1] = {0};
    bool          others = false;
    const char   *path = testing_file("key", "0123456789abcdef0123456789abcdef", 32);
    assert_int_equal(chmod(path, 0600), 0);
    assert_ok(kn_pseudonym_key(key, &others, ctx, path, &err), err);
    assert_false(others);
    /* hmac.new(sha256(file).digest(), value, sha256).hexdigest()[:32] in Python */
    kn_pseudonym_make(mac, key, kn_string_of("alice"));
    kn_pseudonym_text(text, mac);
    assert_string_equal(text, "7b85c6d01e5b26aa0060cd8aeba9b751");
    kn_pseudonym_make(mac, key, kn_string_of("José; \"x\""));
    kn_pseudonym_text(text, mac);
    assert_string_equal(text, "bf6085d2be0e976acef2646c41dc9c1f");
    assert_int_equal(chmod(path, 0640), 0);
    assert_ok(kn_pseudonym_key(key, &others, ctx, path, &err), err);
    assert_true(others);
    path = testing_file("short", "0123456789abcdef0123456789abcde", 31);
    assert_int_equal(kn_pseudonym_key(key, &others, ctx, path, &err), KN_INPUT);
    assert_int_equal(kn_pseudonym_key(key, &others, ctx, "/nowhere/key", &err), KN_IO);
    assert_int_equal(kn_pseudonym_key(key, &others, ctx, "/dev/zero", &err), KN_INPUT);
    testing_context_free(ctx);
}

/* ---- The row map ---- */

static void test_rowmap(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_output  *output = NULL;
    size_t      size = 0;
    /* The address sanitizer goes through all that follows at each number that is read. */
    enum { ROWS = TESTING_ADDRESS_SANITIZER ? 20000 : 100000 };
    int64_t *map = malloc(ROWS * sizeof *map);
    for (int64_t i = 0; i < ROWS; i++) map[i] = (ROWS - 1 - i) * (i == 5 ? 10000000000 : 1);
    const char *path = testing_file("map", "", 0);
    assert_ok(kn_output_open(&output, ctx, path, NULL, &err), err);
    assert_ok(kn_rowmap_write(output, ctx, map, ROWS, &err), err);
    assert_ok(kn_output_commit(output, &err), err);
    char *text = read_all(path, &size), *at = text;
    assert_memory_equal(at, "kanon-rowmap 1\n", 15);
    at += 15;
    for (int64_t i = 0; i < ROWS; i++) {
        assert_int_equal(strtoll(at, &at, 10), map[i] + 1);
        assert_int_equal(*at++, '\n');
    }
    assert_int_equal(*at, '\0');
    free(text);
    free(map);
    testing_context_free(ctx);
}

/* ---- Memory ---- */

static void test_memory(void **state)
{
    (void)state;
    static const unsigned char key[KN_PSEUDONYM_KEY] = "another key for tests, 32 bytes.";
    kn_context                *ctx = testing_context(1);
    kn_table                  *table = read_text(ctx, "c0,c1,c2\na,1,\"x,\"\nb,2,\nc,2.0,z\n", KN_TYPE_AUTO);
    kn_hierarchy              *h = NULL;
    kn_error                   err = KN_ERROR_INIT;
    kn_hierarchy_spec          spec = KN_HIERARCHY_SPEC_INIT;
    int                        zero = 0, level = 0;
    spec.kind = KN_HIERARCHY_SUPPRESS;
    assert_ok(kn_hierarchy_make(&h, ctx, table, 0, &spec, false, &err), err);
    kn_plan            *plan = plan_of_levels(ctx, table, &zero, 1, &h, &level, 2);
    const kn_hierarchy *hs[] = {h};
    kn_released_column  columns[] = {{KN_RELEASED_QUASI, 0, 0, NULL, false, false},
                                     {KN_RELEASED_PSEUDONYM, 1, 0, key, false, false},
                                     {KN_RELEASED_COPY, 2, 0, NULL, true, false}};
    kn_recode_input input = {.table = table, .plan = plan, .hierarchies = hs, .columns = columns, .column_count = 3};
    input.delimiter = ',';
    int64_t at = 0;
    for (kn_status st = KN_MEMORY; st != KN_OK; at += testing_step()) {
        testing_allocator allocator = {.refuse_at = at};
        kn_context       *small = NULL;
        st = testing_refusing_context(&small, &allocator, 1, &err);
        if (st == KN_OK) {
            char    *bytes = NULL;
            int64_t *map = NULL, count = 0;
            st = recode(small, &input, &bytes, &map, &count, &err);
            kn_free(map);
            free(bytes);
        }
        assert_true(st == KN_OK || st == KN_MEMORY);
        kn_context_free(small);
        assert_int_equal(allocator.live, 0);
    }
    assert_true(at > 10);
    kn_plan_free(plan);
    kn_hierarchy_free(h);
    kn_table_free(table);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),         cmocka_unit_test(test_wide_keys), testing_alone(test_cells),
        testing_alone(test_members_in_quotes), cmocka_unit_test(test_refusals),  testing_alone(test_pseudonyms),
        cmocka_unit_test(test_rowmap),         testing_alone(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
