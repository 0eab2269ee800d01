/* kn_feed.c: rows of cells → a table. Interface: kn_feed.h.
 *
 * Each cell is interned as it comes; batches of rows go to the builder. Of a source's rows several columns at a time
 * (kn_cells_take).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_feed.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_utf8.h"

enum { TOGETHER = 64 }; /* texts that are interned at a time */

kn_status kn_feed_open(kn_feed *f, kn_context *ctx, const char *source, const kn_catalog_table *table, kn_error *err)
{
    *f = (kn_feed){.ctx = ctx, .source = source, .table = table->name, .columns = table};
    f->column_count = table->column_count;
    kn_string *names = kn_alloc_array(ctx, (size_t)table->column_count + 1, sizeof *names);
    f->ids = kn_alloc_array(ctx, (size_t)(table->column_count + 1) * KN_CELL_ROWS, sizeof *f->ids);
    kn_status status = KN_OK;
    if (!names || !f->ids) {
        status = kn_fail_memory(err, ctx, source);
    } else {
        for (int i = 0; i < table->column_count; i++) names[i] = kn_string_of(table->columns[i].name);
        status = kn_builder_create(&f->builder, ctx, names, table->column_count, 1, err);
    }
    kn_free(names);
    if (status != KN_OK) kn_feed_abort(f);
    return status;
}

void kn_feed_abort(kn_feed *f)
{
    kn_builder_free(f->builder);
    kn_free(f->ids);
    f->builder = NULL;
    f->ids = NULL;
}

static kn_status write_batch(kn_feed *f, kn_error *err)
{
    int64_t first = 0;
    if (kn_cancelled(f->ctx)) return kn_fail_cancelled(err);
    KN_TRY(kn_builder_extend(f->builder, f->batch, 0, &first, err));
    for (int c = 0; c < f->column_count; c++)
        kn_builder_write(f->builder, c, first, f->ids + (size_t)c * KN_CELL_ROWS, f->batch);
    kn_progress_add(f->ctx, (uint64_t)f->batch);
    f->batch = 0;
    return KN_OK;
}

/* Related rows are mostly adjacent: is it the text of the previous cell in the column? */
static bool like_above(const kn_interner *known, uint32_t above, kn_string text)
{
    if (above == KN_ID_MISSING) return false;
    kn_string other = known->texts[above - 1];
    return other.size == text.size && memcmp(other.data, text.data, text.size) == 0;
}

/* Not UTF-8. */
static bool is_wrong(kn_string text)
{
    return text.size > 0 && !kn_plain_ascii(text.data, text.size) && kn_utf8_check(text.data, text.size) < text.size;
}

/* `above`: the id of the cell before, KN_ID_MISSING: there is none. *wrong: it is not UTF-8. */
static uint32_t id_of(kn_interner *known, uint32_t above, kn_string text, bool *wrong)
{
    if (!text.data) return KN_ID_MISSING;
    if (like_above(known, above, text)) return above;
    *wrong = is_wrong(text);
    return *wrong ? KN_ID_MISSING : kn_intern(known, text);
}

kn_status kn_feed_cell(void *feed, kn_string text, kn_error *err)
{
    kn_feed  *f = feed;
    uint32_t *id = &f->ids[(size_t)f->column * KN_CELL_ROWS + (size_t)f->batch];
    bool      wrong = false;
    *id = id_of(kn_builder_interner(f->builder, f->column, 0), f->batch > 0 ? id[-1] : KN_ID_MISSING, text, &wrong);
    if (wrong)
        return kn_fail(err, KN_INPUT, "%s: table \"%s\", column \"%s\", row %lld: not UTF-8", f->source, f->table,
                       f->columns->columns[f->column].name, (long long)f->rows + 1);
    if (*id == KN_ID_FAILED) return kn_fail_memory(err, f->ctx, f->source);
    if (++f->column < f->column_count) return KN_OK;
    f->column = 0;
    f->rows++;
    return ++f->batch == KN_CELL_ROWS ? write_batch(f, err) : KN_OK;
}

/* Texts of a column, front to back, that wait for their ids; rows that show what the row above shows share one. */
typedef struct waiting {
    kn_interner *known;
    kn_string    texts[TOGETHER];
    char         rooms[TOGETHER][KN_NUMBER_TEXT]; /* of those that are numbers */
    int64_t      ends[TOGETHER];                  /* the row after the last that shows it */
    int          count;
    int64_t      rows; /* have their ids */
    uint32_t    *ids;
} waiting;

static bool is_above(const waiting *w, kn_string text)
{
    if (w->count == 0) return false;
    kn_string above = w->texts[w->count - 1];
    return !above.data == !text.data && kn_string_equal(above, text);
}

static bool give_ids(waiting *w)
{
    uint32_t found[TOGETHER];
    if (!kn_intern_all(w->known, w->texts, w->count, found)) return false;
    for (int i = 0; i < w->count; i++)
        while (w->rows < w->ends[i]) w->ids[w->rows++] = found[i];
    w->count = 0;
    return true;
}

static kn_status take_column(void *state, int column, const kn_cell_rows *rows, int64_t *wrong, kn_error *err)
{
    kn_feed *f = state;
    waiting  w = {.known = kn_builder_interner(f->builder, column, 0), .ids = f->ids + (size_t)column * KN_CELL_ROWS};
    for (int64_t i = 0; i < rows->count; i++) {
        if (w.count == TOGETHER && !give_ids(&w)) return kn_fail_memory(err, f->ctx, f->source);
        kn_string text = kn_cell_rows_text(rows, column, i, w.rooms[w.count]);
        if (!is_above(&w, text)) {
            if (is_wrong(text)) {
                if (*wrong < 0) *wrong = i;
                text = (kn_string){NULL, 0};
            }
            w.texts[w.count++] = text;
        }
        w.ends[w.count - 1] = i + 1;
    }
    return give_ids(&w) ? KN_OK : kn_fail_memory(err, f->ctx, f->source);
}

static kn_status take_rows(void *state, const kn_cell_rows *rows, kn_error *err)
{
    kn_feed *f = state;
    f->rows += rows->count;
    f->batch = rows->count;
    return write_batch(f, err);
}

kn_status kn_feed_all(kn_feed *f, const kn_cells *cells, kn_error *err)
{
    kn_cell_taker taker = {f, take_column, take_rows};
    return kn_cells_take(cells, f->columns, &taker, err);
}

/* The user's texts for missing cells, besides NULL. */
static kn_status feed_na(kn_feed *f, kn_string **out, const kn_database_options *options, kn_error *err)
{
    const kn_csv_options *csv = options->csv;
    *out = NULL;
    if (!csv->na) return KN_OK;
    *out = kn_alloc_array(f->ctx, (size_t)csv->na_count + 1, sizeof **out);
    if (!*out) return kn_fail_memory(err, f->ctx, f->source);
    for (int i = 0; i < csv->na_count; i++) (*out)[i] = kn_value_trim(kn_string_of(csv->na[i]));
    kn_builder_set_na(f->builder, *out, csv->na_count);
    return KN_OK;
}

kn_status kn_feed_finish(kn_table **out, kn_feed *f, const kn_builder_type *types, const kn_database_options *options,
                         kn_error *err)
{
    kn_timezone *zone = NULL;
    kn_string   *na = NULL;
    kn_status    status = f->batch > 0 ? write_batch(f, err) : KN_OK;
    if (status == KN_OK && options->csv->timezone)
        status = kn_timezone_open(&zone, f->ctx, options->csv->timezone, err);
    if (status == KN_OK) status = feed_na(f, &na, options, err);
    if (status == KN_OK) {
        kn_value_rules rules = {.decimal = '.', .timezone = zone};
        kn_builder    *builder = f->builder;
        f->builder = NULL;
        status = kn_builder_finish(out, builder, types, &rules, err);
    }
    kn_free(na);
    kn_timezone_free(zone);
    kn_feed_abort(f);
    return status;
}
