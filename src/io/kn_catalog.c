/* kn_catalog.c: lists of tables, columns and keys before the tables are read; rows of cells → tables.
 *
 * Interface: kn_catalog.h. Lists double in the arena, so adding costs constant time on average. A feed interns each cell
 * as it comes and hands batches of rows to the builder; it works on one thread, for sources give rows one after another.
 */
#include "kn_catalog.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_utf8.h"

enum { BATCH_ROWS = 4096 };

void kn_catalog_init(kn_catalog *c, kn_context *ctx)
{
    *c = (kn_catalog){.ctx = ctx};
    kn_arena_init(&c->arena, ctx);
}

void kn_catalog_free(kn_catalog *c)
{
    kn_arena_free(&c->arena);
}

/* Room for one more element: a new list twice as long where the old one is full (at powers of two). */
static bool room(kn_catalog *c, void *list, int count, size_t size)
{
    void *old, *wider;
    if (count & (count - 1)) return true;
    wider = kn_arena_alloc(&c->arena, (size_t)(count ? 2 * count : 1) * size);
    if (!wider) return false;
    memcpy(&old, list, sizeof old);
    if (count) memcpy(wider, old, (size_t)count * size);
    memcpy(list, &wider, sizeof wider);
    return true;
}

static const char *copy(kn_catalog *c, const char *text)
{
    return kn_arena_strndup(&c->arena, text, strlen(text));
}

int kn_catalog_add_table(kn_catalog *c, const char *name)
{
    const char *own = copy(c, name);
    if (!own || !room(c, &c->tables, c->table_count, sizeof *c->tables)) return -1;
    c->tables[c->table_count] = (kn_catalog_table){.name = own};
    return c->table_count++;
}

int kn_catalog_add_column(kn_catalog *c, int table, const char *name, const char *declared, bool not_null, bool text)
{
    kn_catalog_table *t = &c->tables[table];
    const char       *own = copy(c, name), *type = declared && *declared ? copy(c, declared) : NULL;
    if (!own || (declared && *declared && !type)) return -1;
    if (!room(c, &t->columns, t->column_count, sizeof *t->columns)) return -1;
    t->columns[t->column_count] = (kn_catalog_column){own, type, not_null, text, false};
    return t->column_count++;
}

int kn_catalog_add_key(kn_catalog *c, int table, const char *column)
{
    kn_catalog_table *t = &c->tables[table];
    const char       *own = copy(c, column);
    if (!own || !room(c, &t->key, t->key_count, sizeof *t->key)) return -1;
    t->key[t->key_count] = own;
    return t->key_count++;
}

int kn_catalog_add_link(kn_catalog *c, int table, const char *target)
{
    kn_catalog_table *t = &c->tables[table];
    const char       *own = copy(c, target);
    if (!own || !room(c, &t->links, t->link_count, sizeof *t->links)) return -1;
    t->links[t->link_count] = (kn_catalog_link){.target = own};
    return t->link_count++;
}

int kn_catalog_add_link_column(kn_catalog *c, int table, int link, const char *column, const char *target_column)
{
    kn_catalog_link *l = &c->tables[table].links[link];
    const char      *own = copy(c, column), *other = target_column ? copy(c, target_column) : NULL;
    if (!own || (target_column && !other)) return -1;
    if (!room(c, &l->columns, l->count, sizeof *l->columns)) return -1;
    if (!room(c, &l->target_columns, l->count, sizeof *l->target_columns)) return -1;
    l->columns[l->count] = own;
    l->target_columns[l->count] = other;
    return l->count++;
}

int kn_catalog_find(const kn_catalog *c, const char *table)
{
    for (int i = 0; i < c->table_count; i++)
        if (strcmp(c->tables[i].name, table) == 0) return i;
    return -1;
}

int kn_catalog_find_column(const kn_catalog_table *t, const char *column)
{
    for (int i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].name, column) == 0) return i;
    return -1;
}

bool kn_catalog_wanted(const kn_database_options *options, const char *table)
{
    for (int i = 0; i < options->table_count; i++)
        if (strcmp(options->tables[i].name, table) == 0) return true;
    return options->table_count == 0;
}

/* ---- Rows → table ---- */

kn_status kn_feed_open(kn_feed *f, kn_context *ctx, const char *source, const kn_catalog_table *table, kn_error *err)
{
    *f = (kn_feed){.ctx = ctx, .source = source, .table = table->name, .columns = table};
    f->column_count = table->column_count;
    kn_string *names = kn_alloc_array(ctx, (size_t)table->column_count + 1, sizeof *names);
    f->ids = kn_alloc_array(ctx, (size_t)(table->column_count + 1) * BATCH_ROWS, sizeof *f->ids);
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
        kn_builder_write(f->builder, c, first, f->ids + (size_t)c * BATCH_ROWS, f->batch);
    kn_progress_add(f->ctx, (uint64_t)f->batch);
    f->batch = 0;
    return KN_OK;
}

/* Rows that belong together mostly come together: is it the text of the cell above? */
static bool like_above(const kn_feed *f, const uint32_t *id, kn_string text)
{
    if (f->batch == 0 || id[-1] == KN_ID_MISSING) return false;
    kn_string above = kn_builder_interner(f->builder, f->column, 0)->texts[id[-1] - 1];
    return above.size == text.size && memcmp(above.data, text.data, text.size) == 0;
}

kn_status kn_feed_cell(kn_feed *f, kn_string text, kn_error *err)
{
    uint32_t *id = &f->ids[(size_t)f->column * BATCH_ROWS + (size_t)f->batch];
    *id = KN_ID_MISSING;
    if (text.data && like_above(f, id, text)) {
        *id = id[-1];
    } else if (text.data) {
        if (!kn_plain_ascii(text.data, text.size) && kn_utf8_check(text.data, text.size) < text.size)
            return kn_fail(err, KN_INPUT, "%s: table \"%s\", column \"%s\", row %lld: not UTF-8", f->source, f->table,
                           f->columns->columns[f->column].name, (long long)f->rows + 1);
        *id = kn_intern(kn_builder_interner(f->builder, f->column, 0), text);
        if (*id == KN_ID_FAILED) return kn_fail_memory(err, f->ctx, f->source);
    }
    if (++f->column < f->column_count) return KN_OK;
    f->column = 0;
    f->rows++;
    return ++f->batch == BATCH_ROWS ? write_batch(f, err) : KN_OK;
}

/* The texts that the user calls missing, beside NULL. */
static kn_status feed_na(kn_feed *f, kn_string **out, const kn_database_options *options, kn_error *err)
{
    const kn_csv_options *csv = &options->csv;
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
    if (status == KN_OK && options->csv.timezone) status = kn_timezone_open(&zone, f->ctx, options->csv.timezone, err);
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
