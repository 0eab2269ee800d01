/* kn_parquet_rows.c: counted rows as a Parquet file. Interface: kn_parquet.h.
 *
 * Columns of codes give their codes to the group's without a look at the texts; others look up every value that differs from the one
 * before. Cost: O(entries), not rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_columnar.h"
#include "kn_error.h"
#include "kn_parquet.h"

enum { COUNTS = 2 }; /* columns of counted rows: the counts, the rows before */

typedef struct rows {
    const kn_batches *batches;
    int               columns;  /* that are written                        */
    const int64_t    *counts;   /* per entry; NULL: each is one row        */
    int64_t           entries;  /* in all                                  */
    int64_t           at, used; /* the next one; how many were taken of it */
} rows;

/* Where the rows of a group begin and how many they are. */
typedef struct share {
    int64_t first, used, rows;
} share;

static int64_t count_of(const rows *r, int64_t entry)
{
    return r->counts ? r->counts[entry] : 1;
}

static share take_rows(rows *r, int64_t most)
{
    share s = {.first = r->at, .used = r->used};
    while (s.rows < most && r->at < r->entries) {
        int64_t there = count_of(r, r->at) - r->used, taken = there < most - s.rows ? there : most - s.rows;
        s.rows += taken;
        r->used += taken;
        if (r->used < count_of(r, r->at)) break;
        r->at++;
        r->used = 0;
    }
    return s;
}

static int64_t index_at(const kn_batch_column *c, int64_t i)
{
    return kn_arrow_load_signed((const char *)c->data + i * c->width, c->width);
}

static kn_string text_at(const kn_batch_column *c, int64_t index)
{
    int     width = c->text_format[0] == 'U' ? 8 : 4;
    int64_t begin = kn_arrow_load_signed((const char *)c->offsets + index * width, width);
    int64_t end = kn_arrow_load_signed((const char *)c->offsets + (index + 1) * width, width);
    return (kn_string){c->bytes + begin, (size_t)(end - begin)};
}

static int32_t code_at(kn_parquet *file, const rows *r, int column, int64_t entry, int32_t *codes)
{
    const kn_batch_column *c = &r->batches->columns[column];
    if (c->validity && !kn_arrow_bit(c->validity, entry)) return KN_PARQUET_NULL;
    if (!c->text_format) {
        kn_string value = {(const char *)c->data + entry * c->width, (size_t)c->width};
        return kn_parquet_code(file, column, value, false);
    }
    int64_t index = index_at(c, entry);
    if (codes[index] < 0) codes[index] = kn_parquet_code(file, column, text_at(c, index), true);
    return codes[index];
}

/* Does the entry show in this column what the one before does? */
static bool repeats(const kn_batch_column *c, int64_t entry)
{
    const char *at = (const char *)c->data + entry * c->width;
    return !c->validity && memcmp(at, at - c->width, (size_t)c->width) == 0;
}

static void put_column(kn_parquet *file, const rows *r, int column, const share *s, int32_t *codes)
{
    const kn_batch_column *c = &r->batches->columns[column];
    int64_t                used = s->used;
    int32_t                code = KN_PARQUET_NULL;
    for (int64_t i = 0; c->text_format && i < c->entries; i++) codes[i] = -1;
    for (int64_t e = s->first, left = s->rows; left > 0; e++, used = 0) {
        int64_t times = count_of(r, e) - used;
        if (e == s->first || !repeats(c, e)) code = code_at(file, r, column, e, codes);
        if (times > left) times = left;
        kn_parquet_run(file, column, code, times);
        left -= times;
    }
}

static kn_status write_groups(kn_parquet *file, rows *r, int64_t most, int32_t *codes, kn_error *err)
{
    while (most > 0 && r->at < r->entries) {
        share s = take_rows(r, most < KN_PARQUET_GROUP ? most : KN_PARQUET_GROUP);
        for (int c = 0; c < r->columns; c++) put_column(file, r, c, &s, codes);
        most -= s.rows;
        KN_TRY(kn_parquet_group(file, s.rows, err));
    }
    return KN_OK;
}

static kn_parquet_type type_of(const kn_batch_column *c)
{
    if (c->text_format) return KN_PARQUET_TEXT;
    return c->format[0] == 'l' ? KN_PARQUET_INTEGER : c->format[0] == 'g' ? KN_PARQUET_REAL : KN_PARQUET_DATE;
}

static kn_status write_file(rows *r, kn_context *ctx, int64_t most, const char *path, const char *name, kn_error *err)
{
    kn_parquet        *file = NULL;
    int64_t            room = 0;
    kn_parquet_column *columns = kn_alloc_array(ctx, (size_t)r->columns + 1, sizeof *columns);
    for (int c = 0; c < r->columns; c++)
        if (r->batches->columns[c].entries > room) room = r->batches->columns[c].entries;
    int32_t  *codes = kn_alloc_array(ctx, (size_t)room + 1, sizeof *codes);
    kn_status st = columns && codes ? KN_OK : kn_fail_memory(err, ctx, "writing the release");
    for (int c = 0; st == KN_OK && c < r->columns; c++)
        columns[c] = (kn_parquet_column){r->batches->columns[c].name, type_of(&r->batches->columns[c])};
    if (st == KN_OK) st = kn_parquet_open(&file, ctx, columns, r->columns, path, name, err);
    if (st == KN_OK) st = write_groups(file, r, most, codes, err);
    if (st == KN_OK)
        st = kn_parquet_close(file, err);
    else
        kn_parquet_abandon(file);
    KN_FREE(columns, codes);
    return st;
}

static kn_status write_parts(rows *r, kn_context *ctx, const char *folder, const char *name, kn_error *err)
{
    for (size_t part = 0; r->at < r->entries || part == 0; part++) {
        char *path = kn_strformat(ctx, "%s/part-%05zu.parquet", folder, part);
        if (!path) return kn_fail_memory(err, ctx, "writing the release");
        kn_status st = write_file(r, ctx, KN_COLUMNAR_PART, path, name, err);
        if (st == KN_OK) st = kn_columnar_sync(path, name, err);
        kn_free(path);
        KN_TRY(st);
    }
    return KN_OK;
}

kn_status kn_parquet_write(kn_context *ctx, const kn_batches *batches, bool counted, const char *path, bool parts,
                           const char *name, kn_error *err)
{
    rows r = {.batches = batches, .columns = batches->column_count - (counted ? COUNTS : 0)};
    if (counted) r.counts = batches->columns[r.columns].data;
    for (size_t b = 0; b < batches->count; b++) r.entries += batches->arrays[b].length;
    return parts ? write_parts(&r, ctx, path, name, err) : write_file(&r, ctx, INT64_MAX, path, name, err);
}
