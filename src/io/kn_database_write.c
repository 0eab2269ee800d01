/* kn_database_write.c: released rows of every table → a database: new keys, an order, and one interface to all sinks.
 *
 * Interface: kn_database_write.h. Each table draws a random permutation of 1 .. rows for its own keys (Fisher and
 * Yates, seeded by the caller, one stream per table); a foreign key copies the number of the row it refers to, level
 * by level up. So every join of the release gives what the same join of the original gives for the rows that stayed,
 * and nothing else of the old keys remains (docs/errata.md M4). Rows are sorted by what is written of them, column by
 * column: numbers of keys by value, texts by bytes, missing cells last.
 *
 * Cost: one sort per table; cells are looked up on all threads, and those that are numbers found. Memory: 4 bytes per row for the
 * keys, 16 for the order of one table, 72 per cell of the rows at hand.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_database_write.h"

#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_feed.h"
#include "kn_folder.h"
#include "kn_names.h"
#include "kn_parallel.h"
#include "kn_postgres.h"
#include "kn_reference_write.h"
#include "kn_rng.h"
#include "kn_sort.h"
#include "kn_sqlite.h"
#include "kn_table_name.h"

enum {
    KEY_TEXT = 40,     /* space for a key as text: a number, or a UUID                 */
    AT_ONCE = 1 << 12, /* rows whose cells are looked up before they go to the sink  */
    GRAIN = 1 << 7,
    DRAWN_KEY = -1 /* the column of a key that the original does not have */
};

struct kn_database_writer {
    kn_context      *ctx;
    kn_database_sink sink;
};

static bool is_key(const kn_database_column *c)
{
    return c->key || c->foreign || c->joined;
}

bool kn_database_released(const kn_database_column *c)
{
    return is_key(c) || (c->has_role && c->role != KN_ROLE_IDENTIFIER);
}

/* ---- New keys ---- */

kn_status kn_key_map_draw(kn_key_map *map, kn_context *ctx, const kn_database_rows *rows, kn_error *err)
{
    *map = (kn_key_map){.ctx = ctx, .table_count = rows->db->table_count};
    map->new_key = kn_alloc_array_zero(ctx, (size_t)map->table_count, sizeof *map->new_key);
    if (!map->new_key) return kn_fail_memory(err, ctx, "drawing keys");
    for (int t = 0; t < map->table_count; t++) {
        int64_t n = rows->tables[t].rows;
        kn_rng  rng;
        map->new_key[t] = kn_alloc_array(ctx, (size_t)n + 1, sizeof **map->new_key);
        if (!map->new_key[t]) {
            kn_key_map_free(map);
            return kn_fail_memory(err, ctx, "drawing keys");
        }
        kn_rng_init(&rng, rows->seed, (uint64_t)t);
        for (int64_t i = 0; i < n; i++) { /* inside out */
            int64_t j = (int64_t)kn_rng_below(&rng, (uint64_t)i + 1);
            map->new_key[t][i] = map->new_key[t][j];
            map->new_key[t][j] = (uint32_t)i + 1;
        }
    }
    return KN_OK;
}

void kn_key_map_free(kn_key_map *map)
{
    for (int t = 0; map->new_key && t < map->table_count; t++) kn_free(map->new_key[t]);
    kn_free(map->new_key);
    map->new_key = NULL;
}

/* From a key column of a table to where its numbers were drawn: up along foreign keys. */
typedef struct key_way {
    int              steps;
    const uint32_t **parent;  /* per step: the row above of each */
    const uint32_t  *new_key; /* of the rows there               */
    bool             uuid;    /* their key is declared so        */
} key_way;

/* The number in a key column of a released row. */
static inline uint32_t key_number(const key_way *way, int64_t row)
{
    for (int i = 0; i < way->steps; i++) row = way->parent[i][row];
    return way->new_key[row];
}

/* ---- One table ---- */

typedef struct table_writer {
    kn_context             *ctx;
    const kn_database_rows *rows;
    const kn_key_map       *keys;
    int                     table;
    kn_arena                arena;
    kn_sink_table           sink;
    key_way                *ways;    /* per column that is written: of a key             */
    int                    *columns; /* of the table, those that are written             */
    int                    *written; /* per column of the table: its place; -1: it is not */
    kn_sort_record         *order;
    int64_t                 first;      /* of the rows at hand, in that order               */
    kn_string              *cells[2];   /* AT_ONCE × columns: of the rows that go to the sink, and of the next ones */
    char                   *texts[2];   /* of keys: KEY_TEXT per cell                    */
    kn_plain               *numbers[2]; /* per cell, where the sink takes numbers; else NULL */
    int                     next;       /* of the two */
    const kn_database_sink *to;
    const bool             *numeric; /* of the sink: columns that take numbers; NULL: none do */
} table_writer;

static void *take(table_writer *w, size_t count, size_t size)
{
    return kn_arena_alloc(&w->arena, (count + 1) * size);
}

static const int *places(table_writer *w, const int *columns, int count)
{
    int *out = take(w, (size_t)count, sizeof *out);
    for (int i = 0; out && i < count; i++) out[i] = w->written[columns[i]];
    return out;
}

static bool same_columns(const int *a, int a_count, const int *b, int b_count)
{
    return a_count == b_count && memcmp(a, b, (size_t)a_count * sizeof *a) == 0;
}

/* What children refer to, if it is not the primary key. */
static bool describe_unique(table_writer *w)
{
    const kn_database       *db = w->rows->db;
    const kn_database_table *t = &db->tables[w->table];
    const int              **sets = take(w, (size_t)t->child_count, sizeof *sets);
    int                     *sizes = take(w, (size_t)t->child_count, sizeof *sizes);
    int                      count = 0;
    if (!sets || !sizes) return false;
    for (int i = 0; i < t->child_count; i++) {
        const kn_database_table *child = &db->tables[t->children[i]];
        const kn_foreign_key    *f = &child->foreign[child->link];
        if (same_columns(f->target_columns, f->column_count, t->key, t->key_count)) continue;
        const int *set = places(w, f->target_columns, f->column_count);
        bool       known = false;
        if (!set) return false;
        for (int j = 0; j < count; j++) known = known || same_columns(sets[j], sizes[j], set, f->column_count);
        if (known) continue;
        sets[count] = set;
        sizes[count++] = f->column_count;
    }
    w->sink.unique_count = count;
    w->sink.unique = sets;
    w->sink.unique_sizes = sizes;
    return true;
}

static bool describe_link(table_writer *w)
{
    const kn_database       *db = w->rows->db;
    const kn_database_table *t = &db->tables[w->table];
    if (t->link < 0) return true;
    const kn_foreign_key *f = &t->foreign[t->link];
    const char          **names = take(w, (size_t)f->column_count, sizeof *names);
    if (!names) return false;
    for (int i = 0; i < f->column_count; i++)
        names[i] = db->tables[t->parent].table->columns[f->target_columns[i]].name;
    w->sink.link =
        (kn_sink_link){f->column_count, places(w, f->columns, f->column_count), db->tables[t->parent].name, names};
    return w->sink.link.columns != NULL;
}

/* A quasi-identifier may show a group, as text; one that refers to a reference always shows a key. */
static const char *type_of(const table_writer *w, int column)
{
    const kn_database       *db = w->rows->db;
    const kn_database_table *t = &db->tables[w->table];
    const kn_foreign_key    *f = kn_reference_link(t, column);
    if (f && f->column_count == 1) return kn_reference_type(db->references, f->reference);
    if (f) return t->columns[column].declared;
    return !is_key(&t->columns[column]) && t->columns[column].role == KN_ROLE_QUASI ? "TEXT"
                                                                                    : t->columns[column].declared;
}

/* A key that the original does not have: the number of the row. */
static bool describe_drawn_key(table_writer *w, kn_sink_column *columns)
{
    int *primary = take(w, 1, sizeof *primary);
    if (!primary) return false;
    primary[0] = w->sink.column_count++;
    w->columns[primary[0]] = DRAWN_KEY;
    columns[primary[0]] = (kn_sink_column){w->rows->db->tables[w->table].drawn_key, "integer", true, true, false};
    w->sink.primary = primary;
    w->sink.primary_count = 1;
    return true;
}

/* Where the numbers of a key column come from. */
static bool find_way(table_writer *w, int column, key_way *out)
{
    const kn_database_rows *rows = w->rows;
    int                     table = w->table;
    out->parent = take(w, (size_t)rows->db->table_count, sizeof *out->parent);
    if (!out->parent) return false;
    for (;;) {
        const kn_database_table *t = &rows->db->tables[table];
        const kn_foreign_key    *f = t->link >= 0 ? &t->foreign[t->link] : NULL;
        int                      i = 0;
        while (f && i < f->column_count && f->columns[i] != column) i++;
        if (!f || i == f->column_count) break;
        out->parent[out->steps++] = rows->tables[table].parent;
        table = t->parent;
        column = f->target_columns[i];
    }
    const char *type = column == DRAWN_KEY ? NULL : rows->db->tables[table].columns[column].declared;
    out->uuid = type && strcmp(type, "uuid") == 0;
    out->new_key = w->keys->new_key[table];
    return true;
}

static bool find_ways(table_writer *w)
{
    w->ways = take(w, (size_t)w->sink.column_count, sizeof *w->ways);
    for (int i = 0; w->ways && i < w->sink.column_count; i++) {
        w->ways[i] = (key_way){0};
        if (w->sink.columns[i].key && !find_way(w, w->columns[i], &w->ways[i])) return false;
    }
    return w->ways != NULL;
}

/* Of the rows at hand, for so many columns. */
static bool make_room(table_writer *w, size_t columns)
{
    int64_t rows = w->rows->tables[w->table].rows;
    size_t  block = columns * (size_t)(rows < AT_ONCE ? rows : AT_ONCE);
    for (int i = 0; i < 2; i++) {
        w->cells[i] = take(w, block, sizeof *w->cells[i]);
        w->texts[i] = take(w, block, KEY_TEXT);
        if (!w->cells[i] || !w->texts[i]) return false;
        if (w->to->numeric && !(w->numbers[i] = take(w, block, sizeof *w->numbers[i]))) return false;
    }
    return true;
}

static bool describe(table_writer *w)
{
    const kn_database_table *t = &w->rows->db->tables[w->table];
    size_t                   n = (size_t)t->table->column_count + (t->drawn_key != NULL);
    for (int c = 0; c < t->table->column_count; c++) n += t->columns[c].label != NULL;
    kn_sink_column *columns = take(w, n, sizeof *columns);
    w->columns = take(w, n, sizeof *w->columns);
    w->written = take(w, n, sizeof *w->written);
    if (!columns || !w->columns || !w->written || !make_room(w, n)) return false;
    w->sink.name = t->name;
    w->sink.columns = columns;
    for (int c = 0; c < t->table->column_count; c++) {
        const kn_database_column *d = &t->columns[c];
        bool                      key = is_key(d);
        w->written[c] = -1;
        if (!kn_database_released(d)) continue;
        w->columns[w->sink.column_count] = c;
        w->written[c] = w->sink.column_count;
        columns[w->sink.column_count++] =
            (kn_sink_column){t->table->columns[c].name, type_of(w, c), key, d->key, false};
        if (!d->label || key) continue;
        w->columns[w->sink.column_count] = t->table->column_count + c;
        columns[w->sink.column_count++] = (kn_sink_column){d->label, "TEXT", false, false, false};
    }
    w->sink.further = kn_reference_links(&w->arena, w->rows->db, w->table, w->written, &w->sink.further_count);
    w->sink.primary_count = t->key_count;
    w->sink.primary = places(w, t->key, t->key_count);
    if (t->drawn_key && !describe_drawn_key(w, columns)) return false;
    return w->sink.primary && w->sink.further && describe_unique(w) && describe_link(w) && find_ways(w);
}

/* ---- Order ---- */

static int compare_cell(const table_writer *w, int i, int64_t a, int64_t b)
{
    const kn_database_rows *r = w->rows;
    kn_string               x, y;
    if (w->sink.columns[i].key) {
        uint32_t m = key_number(&w->ways[i], a), n = key_number(&w->ways[i], b);
        return m < n ? -1 : m > n;
    }
    bool there = r->cell(r->arg, w->table, w->columns[i], a, &x);
    bool other = r->cell(r->arg, w->table, w->columns[i], b, &y);
    if (!there || !other) return (int)other - (int)there;
    return kn_string_compare(x, y);
}

static int compare_rows(const void *arg, uint64_t a, uint64_t b)
{
    const table_writer *w = arg;
    for (int i = 0; i < w->sink.column_count; i++) {
        int order = compare_cell(w, i, (int64_t)a, (int64_t)b);
        if (order) return order;
    }
    return a < b ? -1 : a > b; /* equal rows are interchangeable */
}

/* The beginning of a row's first cell, so that most comparisons are of one word. */
static uint64_t sort_key(const table_writer *w, int64_t row)
{
    const kn_database_rows *r = w->rows;
    kn_string               text;
    uint64_t                key = 0;
    if (w->sink.columns[0].key) return key_number(&w->ways[0], row);
    if (!r->cell(r->arg, w->table, w->columns[0], row, &text)) return UINT64_MAX;
    for (size_t i = 0; i < 8; i++) key = key << 8 | (i < text.size ? (unsigned char)text.data[i] : 0);
    return key;
}

static kn_status fill_keys(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    table_writer *w = arg;
    (void)worker;
    (void)err;
    for (int64_t row = begin; row < end; row++) w->order[row] = (kn_sort_record){sort_key(w, row), (uint64_t)row};
    return KN_OK;
}

static kn_status sort_rows(table_writer *w, kn_error *err)
{
    int64_t n = w->rows->tables[w->table].rows;
    w->order = kn_alloc_array(w->ctx, (size_t)n + 1, sizeof *w->order);
    if (!w->order) return kn_fail_memory(err, w->ctx, "ordering rows");
    KN_TRY(kn_parallel_for(w->ctx, n, AT_ONCE, fill_keys, w, err));
    return kn_sort_records(w->ctx, w->order, (size_t)n, compare_rows, w, err);
}

/* ---- Writing ---- */

/* The digits of a number; returns how many. */
static int write_digits(uint32_t number, char *room)
{
    char digits[10];
    int  count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    for (int i = 0; i < count; i++) room[i] = digits[count - 1 - i];
    return count;
}

/* A number, or a UUID where the key it was drawn for is declared so. */
static kn_string key_text(const key_way *way, int64_t row, char *room)
{
    uint32_t number = key_number(way, row);
    int      size =
        way->uuid ? snprintf(room, KEY_TEXT, "00000000-0000-4000-8000-%012x", number) : write_digits(number, room);
    return (kn_string){room, (size_t)size};
}

static void fill_cell(const table_writer *w, int i, int64_t row, size_t at)
{
    const kn_database_rows *r = w->rows;
    kn_string              *cell = &w->cells[w->next][at];
    if (w->sink.columns[i].key)
        *cell = key_text(&w->ways[i], row, w->texts[w->next] + at * KEY_TEXT);
    else if (!r->cell(r->arg, w->table, w->columns[i], row, cell))
        *cell = (kn_string){NULL, 0};
    else if (!cell->data)
        cell->data = "";
}

/* The same where the sink takes numbers: here, beside the thread that feeds it. */
static void fill_number(const table_writer *w, int i, int64_t row, size_t at)
{
    kn_plain *number = &w->numbers[w->next][at];
    if (w->sink.columns[i].key && !w->ways[i].uuid) {
        *number = (kn_plain){KN_PLAIN_INTEGER, {.integer = key_number(&w->ways[i], row)}};
        w->cells[w->next][at] = (kn_string){NULL, 0};
        return;
    }
    fill_cell(w, i, row, at);
    *number = kn_plain_of(w->cells[w->next][at]);
}

static void fill_column(const table_writer *w, int column, const int64_t *rows, int64_t begin, int64_t end)
{
    size_t columns = (size_t)w->sink.column_count, at = (size_t)begin * columns + (size_t)column;
    bool   numeric = w->numeric && w->numeric[column];
    for (int64_t i = begin; i < end; i++, at += columns) {
        if (numeric)
            fill_number(w, column, rows[i - begin], at);
        else
            fill_cell(w, column, rows[i - begin], at);
        if (w->numeric && !numeric) w->numbers[w->next][at] = (kn_plain){KN_PLAIN_NONE, {0}};
    }
}

/* Of rows [begin, end) of those at hand, column by column. Rows are in the order of their new keys, so what they show is all
 * over the memory: it is fetched beforehand. */
static void fill_rows(const table_writer *w, int64_t begin, int64_t end)
{
    const kn_database_rows *r = w->rows;
    int64_t                 rows[GRAIN];
    for (int64_t i = begin; i < end; i++) rows[i - begin] = (int64_t)w->order[w->first + i].id;
    if (r->fetch) r->fetch(r->arg, w->table, rows, (int)(end - begin));
    for (int c = 0; c < w->sink.column_count; c++) fill_column(w, c, rows, begin, end);
}

static int64_t rows_at(const table_writer *w, int64_t first)
{
    int64_t left = w->rows->tables[w->table].rows - first;
    return left < 0 ? 0 : left < AT_ONCE ? left : AT_ONCE;
}

kn_status kn_sink_rows(const kn_database_sink *sink, const kn_string *cells, const kn_plain *numbers, int columns,
                       int64_t count, kn_error *err)
{
    if (count > 0 && sink->rows) return sink->rows(sink->state, cells, numbers, count, err);
    for (int64_t i = 0; i < count; i++) KN_TRY(sink->row(sink->state, cells + (size_t)i * (size_t)columns, err));
    return KN_OK;
}

static kn_status sink_rows(const table_writer *w, int64_t count, kn_error *err)
{
    const kn_plain *numbers = w->numeric ? w->numbers[!w->next] : NULL;
    KN_TRY(kn_sink_rows(w->to, w->cells[!w->next], numbers, w->sink.column_count, count, err));
    kn_progress_add(w->ctx, (uint64_t)count);
    return KN_OK;
}

/* The first piece is the sink's, which takes the rows before; the others are the next ones. */
static kn_status step(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const table_writer *w = arg;
    int64_t             count = rows_at(w, w->first);
    (void)worker;
    for (int64_t piece = begin; piece < end; piece++) {
        if (piece == 0) KN_TRY(sink_rows(w, w->first > 0 ? AT_ONCE : 0, err));
        int64_t last = piece * GRAIN < count ? piece * GRAIN : count;
        if (piece > 0) fill_rows(w, (piece - 1) * GRAIN, last);
    }
    return KN_OK;
}

/* A sink takes one row after the other; meanwhile the cells of the next ones are looked up on the other threads. */
static kn_status write_rows(table_writer *w, const kn_database_sink *sink, kn_error *err)
{
    int64_t n = w->rows->tables[w->table].rows, count = 0;
    KN_TRY(sink->table(sink->state, &w->sink, err));
    if (sink->numeric) w->numeric = sink->numeric(sink->state);
    for (w->first = 0; w->first < n; w->first += AT_ONCE) {
        count = rows_at(w, w->first);
        if (kn_cancelled(w->ctx)) return kn_fail_cancelled(err);
        KN_TRY(kn_parallel_for(w->ctx, 1 + (count + GRAIN - 1) / GRAIN, 1, step, w, err));
        w->next = !w->next;
    }
    KN_TRY(sink_rows(w, count, err));
    return sink->table_end(sink->state, err);
}

static kn_status write_table(kn_database_writer *writer, const kn_database_rows *rows, const kn_key_map *keys,
                             int table, kn_error *err)
{
    table_writer w = {.ctx = writer->ctx, .rows = rows, .keys = keys, .table = table, .to = &writer->sink};
    kn_status    status = KN_OK;
    kn_arena_init(&w.arena, writer->ctx);
    if (!describe(&w)) status = kn_fail_memory(err, writer->ctx, "writing a database");
    if (status == KN_OK && w.sink.column_count > 0) {
        status = sort_rows(&w, err);
        if (status == KN_OK) status = write_rows(&w, &writer->sink, err);
    }
    kn_free(w.order);
    kn_arena_free(&w.arena);
    return status;
}

static kn_status check_rows(const kn_database_rows *rows, kn_error *err)
{
    const kn_database *db = rows->db;
    if (db->entity < 0 || !db->order) return kn_fail(err, KN_USAGE, "no table of persons was chosen");
    for (int t = 0; t < db->table_count; t++) {
        const kn_release_rows *r = &rows->tables[t];
        bool                   hangs = db->tables[t].link >= 0;
        if (r->rows < 0 || r->rows > (int64_t)UINT32_MAX - 3 || (r->rows > 0 && hangs && !r->parent))
            return kn_fail(err, KN_USAGE, "table \"%s\": rows without parents", db->tables[t].name);
        for (int64_t i = 0; hangs && i < r->rows; i++)
            if (r->parent[i] >= (uint64_t)rows->tables[db->tables[t].parent].rows)
                return kn_fail(err, KN_USAGE, "table \"%s\": a row refers to no row of its parent table",
                               db->tables[t].name);
    }
    return KN_OK;
}

kn_status kn_database_writer_write_keys(kn_database_writer *w, const kn_database_rows *rows, const kn_key_map *keys,
                                        kn_error *err)
{
    kn_status status = check_rows(rows, err);
    uint64_t  total = 0;
    if (status != KN_OK) return status;
    for (int t = 0; t < rows->db->table_count; t++) total += (uint64_t)rows->tables[t].rows;
    kn_progress_begin(w->ctx, "writing", "rows", total);
    status = kn_references_write(&w->sink, w->ctx, rows->db, err);
    for (int i = 0; i < rows->db->table_count && status == KN_OK; i++)
        status = write_table(w, rows, keys, rows->db->order[i], err);
    if (status == KN_OK && w->sink.finish) status = w->sink.finish(w->sink.state, err);
    kn_progress_end(w->ctx);
    return status;
}

kn_status kn_database_writer_write(kn_database_writer *w, const kn_database_rows *rows, kn_error *err)
{
    kn_key_map keys;
    KN_TRY(kn_key_map_draw(&keys, w->ctx, rows, err));
    kn_status status = kn_database_writer_write_keys(w, rows, &keys, err);
    kn_key_map_free(&keys);
    return status;
}

/* ---- The door ---- */

kn_status kn_database_writer_open(kn_database_writer **out, kn_context *ctx, const char *target, const char *schema,
                                  kn_error *err)
{
    *out = NULL;
    kn_database_writer *w = kn_alloc_zero(ctx, sizeof *w);
    kn_status           status = KN_OK;
    if (!w) return kn_fail_memory(err, ctx, "writing a database");
    w->ctx = ctx;
    switch (kn_database_kind_of(target)) {
    case KN_DATABASE_SQLITE: status = kn_sqlite_sink(&w->sink, ctx, kn_name_sqlite(target), err); break;
    case KN_DATABASE_POSTGRES: status = kn_postgres_sink(&w->sink, ctx, target, schema, err); break;
    case KN_DATABASE_FOLDER: status = kn_folder_sink(&w->sink, ctx, target, err); break;
    default: status = kn_fail(err, KN_USAGE, "%s: not a database: sqlite:FILE, postgresql://... or FOLDER/", target);
    }
    if (status == KN_OK)
        *out = w;
    else
        kn_free(w);
    return status;
}

kn_status kn_database_writer_around(kn_database_writer **out, kn_context *ctx, const kn_database_sink *sink,
                                    kn_error *err)
{
    *out = kn_alloc_zero(ctx, sizeof **out);
    if (!*out) return kn_fail_memory(err, ctx, "writing a table");
    **out = (kn_database_writer){ctx, *sink};
    return KN_OK;
}

bool kn_database_writer_guard(kn_database_writer *w)
{
    if (!w->sink.guarded) return false;
    *w->sink.guarded = true;
    return true;
}

kn_status kn_database_writer_cells(kn_cells **out, kn_database_writer *w, kn_error *err)
{
    *out = NULL;
    return w->sink.cells(w->sink.state, out, err);
}

kn_status kn_database_writer_read(kn_database **out, kn_database_writer *w, const kn_database_options *options,
                                  const kn_database_unread *unread, kn_error *err)
{
    kn_database_options own = KN_DATABASE_OPTIONS_INIT;
    kn_cells           *cells = NULL;
    *out = NULL;
    if (options) own = *options;
    own.schema = NULL; /* the one that was written */
    KN_TRY(kn_database_writer_cells(&cells, w, err));
    kn_status status = kn_database_read_cells(out, cells, &own, unread, err);
    kn_cells_close(cells);
    return status;
}

const char *kn_database_writer_folder(const kn_database_writer *w)
{
    return w->sink.folder;
}

const char *kn_database_writer_file(const kn_database_writer *w)
{
    return w->sink.file;
}

kn_status kn_database_writer_commit(kn_database_writer *w, kn_error *err)
{
    kn_status status = w->sink.commit(w->sink.state, err);
    kn_free(w);
    return status;
}

kn_status kn_database_writer_sync(kn_database_writer *w, kn_database_place *out, kn_error *err)
{
    *out = (kn_database_place){0};
    return w->sink.sync(w->sink.state, out, err);
}

void kn_database_writer_detach(kn_database_writer *w)
{
    w->sink.detach(w->sink.state);
    kn_free(w);
}

kn_status kn_database_committed(bool *out, kn_context *ctx, const char *target, uint64_t schema, kn_error *err)
{
    if (kn_table_kind_of(target) == KN_TABLE_SQLITE) return kn_sqlite_committed(out, ctx, target, schema, err);
    return kn_postgres_committed(out, ctx, target, schema, err);
}

void kn_database_writer_abort(kn_database_writer *w)
{
    if (!w) return;
    w->sink.abort(w->sink.state);
    kn_free(w);
}
