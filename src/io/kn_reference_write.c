/* kn_reference_write.c: references in a release. Interface: kn_reference_write.h.
 *
 * Rows are copied as they are, unused ones too, and the broader rows are added; rows are ordered by their cells. References may
 * refer to each other in a circle: the link to a table that comes later is not declared in the release, but its cells are there.
 *
 * Cost: one sort per reference.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_reference_write.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_sort.h"

#define WHAT "writing a reference"

enum { AT_ONCE = 256 }; /* rows that go to the sink together */

typedef struct reference_writer {
    kn_context              *ctx;
    const kn_database       *refs;
    int                      table;
    const kn_database_table *t;
    kn_arena                 arena;
    kn_sink_table            sink;
    int                     *columns; /* that are copied                            */
    int                     *written; /* per column: its place; -1: it is left out  */
    const bool              *done;    /* per reference: it was written              */
} reference_writer;

const char *kn_reference_type(const kn_database *refs, int reference)
{
    const kn_database_table *t = &refs->tables[reference];
    if (t->broader && !t->labels && t->broader->kind == KN_REFERENCE_TEXTS) return "TEXT";
    return t->columns[t->key[0]].declared;
}

/* ---- Links ---- */

const kn_sink_link *kn_reference_links(kn_arena *arena, const kn_database *db, int table, const int *written,
                                       int *count)
{
    const kn_database_table *t = &db->tables[table];
    kn_sink_link            *links = kn_arena_array(arena, (size_t)t->foreign_count + 1, sizeof *links);
    *count = 0;
    for (int i = 0; links && i < t->foreign_count; i++) {
        const kn_foreign_key *f = &t->foreign[i];
        if (f->reference < 0) continue;
        const kn_database_table *to = &db->references->tables[f->reference];
        int                     *columns = kn_arena_array(arena, (size_t)f->column_count, sizeof *columns);
        const char             **names = kn_arena_array(arena, (size_t)f->column_count, sizeof *names);
        bool                     whole = true;
        if (!columns || !names) return NULL;
        for (int c = 0; c < f->column_count; c++) {
            columns[c] = written[f->columns[c]];
            names[c] = to->table->columns[to->key[c]].name;
            whole = whole && columns[c] >= 0;
        }
        if (whole) links[(*count)++] = (kn_sink_link){f->column_count, columns, to->name, names};
    }
    return links;
}

/* A link between references, whose columns are all copied. */
static bool describe_link(reference_writer *w, const kn_foreign_key *f, kn_sink_link *out, bool *shown)
{
    const kn_database_table *to = &w->refs->tables[f->target];
    int                     *columns = kn_arena_array(&w->arena, (size_t)f->column_count + 1, sizeof *columns);
    const char             **names = kn_arena_array(&w->arena, (size_t)f->column_count + 1, sizeof *names);
    if (!columns || !names) return false;
    *shown = w->done[f->target] || f->target == w->table;
    for (int i = 0; i < f->column_count; i++) {
        columns[i] = w->written[f->columns[i]];
        names[i] = to->table->columns[f->target_columns[i]].name;
        *shown = *shown && columns[i] >= 0 && kn_reference_copied(&to->columns[f->target_columns[i]]);
    }
    *out = (kn_sink_link){f->column_count, columns, to->name, names};
    return true;
}

static bool describe_links(reference_writer *w)
{
    kn_sink_link *links = kn_arena_array(&w->arena, (size_t)w->t->foreign_count + 1, sizeof *links);
    if (!links) return false;
    for (int i = 0; i < w->t->foreign_count; i++) {
        bool shown = false;
        if (w->t->foreign[i].target < 0) continue;
        if (!describe_link(w, &w->t->foreign[i], &links[w->sink.further_count], &shown)) return false;
        w->sink.further_count += shown;
    }
    w->sink.further = links;
    return true;
}

/* ---- Tables ---- */

/* The type of a column: of a key to which broader rows add others, that of all its keys. */
static const char *type_of(const reference_writer *w, int column)
{
    const kn_database_table *t = w->t;
    if (t->broader && t->key[0] == column) return kn_reference_type(w->refs, w->table);
    for (int i = 0; i < t->foreign_count; i++)
        if (t->foreign[i].climbs && t->foreign[i].columns[0] == column)
            return kn_reference_type(w->refs, t->foreign[i].target);
    return t->columns[column].declared;
}

/* Sets of columns that other references refer to, besides the primary key. */
static bool describe_unique(reference_writer *w)
{
    int most = 0;
    for (int t = 0; t < w->refs->table_count; t++) most += w->refs->tables[t].foreign_count;
    const int **sets = kn_arena_array(&w->arena, (size_t)most + 1, sizeof *sets);
    int        *sizes = kn_arena_array(&w->arena, (size_t)most + 1, sizeof *sizes);
    if (!sets || !sizes) return false;
    for (int t = 0; t < w->refs->table_count; t++)
        for (int i = 0; i < w->refs->tables[t].foreign_count; i++) {
            const kn_foreign_key *f = &w->refs->tables[t].foreign[i];
            bool                  known = f->target != w->table ||
                         (f->column_count == w->t->key_count &&
                          memcmp(f->target_columns, w->t->key, (size_t)f->column_count * sizeof(int)) == 0);
            int *set = known ? NULL : kn_arena_array(&w->arena, (size_t)f->column_count + 1, sizeof *set);
            if (known) continue;
            if (!set) return false;
            for (int c = 0; c < f->column_count; c++) {
                set[c] = w->written[f->target_columns[c]];
                known = known || set[c] < 0;
            }
            for (int j = 0; j < w->sink.unique_count; j++)
                known =
                    known || (sizes[j] == f->column_count && memcmp(sets[j], set, (size_t)sizes[j] * sizeof(int)) == 0);
            if (known) continue;
            sets[w->sink.unique_count] = set;
            sizes[w->sink.unique_count++] = f->column_count;
        }
    w->sink.unique = sets;
    w->sink.unique_sizes = sizes;
    return true;
}

static bool describe(reference_writer *w)
{
    size_t          n = (size_t)w->t->table->column_count + 1;
    kn_sink_column *columns = kn_arena_array(&w->arena, n, sizeof *columns);
    int            *primary = kn_arena_array(&w->arena, n, sizeof *primary);
    w->columns = kn_arena_array(&w->arena, n, sizeof *w->columns);
    w->written = kn_arena_array(&w->arena, n, sizeof *w->written);
    if (!columns || !primary || !w->columns || !w->written) return false;
    w->sink.name = w->t->name;
    w->sink.columns = columns;
    w->sink.primary = primary;
    for (int c = 0; c < w->t->table->column_count; c++) {
        w->written[c] = -1;
        if (!kn_reference_copied(&w->t->columns[c])) continue;
        w->columns[w->sink.column_count] = c;
        w->written[c] = w->sink.column_count;
        bool filled = !(w->t->broader && w->t->broader->added > 0) && w->t->table->columns[c].missing == 0;
        columns[w->sink.column_count++] = (kn_sink_column){w->t->table->columns[c].name, type_of(w, c), false,
                                                           w->t->columns[c].key, w->t->columns[c].not_null && filled};
    }
    for (int i = 0; i < w->t->key_count; i++) {
        primary[i] = w->written[w->t->key[i]];
        if (primary[i] < 0) return true; /* it is left out, and with it the key */
    }
    w->sink.primary_count = w->t->key_count;
    return describe_unique(w) && describe_links(w);
}

static kn_string cell_of(const reference_writer *w, uint64_t row, int column)
{
    uint64_t rows = (uint64_t)w->t->table->rows;
    if (row >= rows) return w->t->broader->cells[(row - rows) * (uint64_t)w->t->table->column_count + (uint64_t)column];
    const kn_column *c = &w->t->table->columns[column];
    uint32_t         code = kn_column_code(c, (int64_t)row);
    if (code == c->dict.count) return (kn_string){NULL, 0};
    kn_string text = kn_dictionary_text(&c->dict, code);
    return text.data ? text : (kn_string){"", 0};
}

static int compare(const void *arg, uint64_t a, uint64_t b)
{
    const reference_writer *w = arg;
    for (int i = 0; i < w->sink.column_count; i++) {
        kn_string x = cell_of(w, a, w->columns[i]), y = cell_of(w, b, w->columns[i]);
        int       order = !x.data || !y.data ? (y.data != NULL) - (x.data != NULL) : kn_string_compare(x, y);
        if (order) return order;
    }
    return a < b ? -1 : a > b;
}

static kn_status write_rows(reference_writer *w, const kn_database_sink *sink, kn_error *err)
{
    size_t          n = (size_t)w->t->table->rows + (w->t->broader ? w->t->broader->added : 0);
    kn_sort_record *order = kn_arena_array(&w->arena, n + 1, sizeof *order);
    int             columns = w->sink.column_count, count = 0;
    kn_string      *cells = kn_arena_array(&w->arena, (size_t)columns * AT_ONCE + 1, sizeof *cells);
    if (!order || !cells) return kn_fail_memory(err, w->ctx, WHAT);
    for (size_t i = 0; i < n; i++) order[i] = (kn_sort_record){0, i};
    KN_TRY(kn_sort_records(w->ctx, order, n, compare, w, err));
    KN_TRY(sink->table(sink->state, &w->sink, err));
    for (size_t i = 0; i < n; i++) {
        if ((i & 0xfff) == 0 && kn_cancelled(w->ctx)) return kn_fail_cancelled(err);
        for (int c = 0; c < columns; c++) cells[count * columns + c] = cell_of(w, order[i].id, w->columns[c]);
        if (++count < AT_ONCE) continue;
        KN_TRY(kn_sink_rows(sink, cells, NULL, columns, count, err));
        count = 0;
    }
    KN_TRY(kn_sink_rows(sink, cells, NULL, columns, count, err));
    return sink->table_end(sink->state, err);
}

static kn_status write_one(const kn_database_sink *sink, kn_context *ctx, const kn_database *refs, int table,
                           const bool *done, kn_error *err)
{
    reference_writer w = {.ctx = ctx, .refs = refs, .table = table, .t = &refs->tables[table], .done = done};
    kn_arena_init(&w.arena, ctx);
    kn_status st = describe(&w) ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) st = write_rows(&w, sink, err);
    kn_arena_free(&w.arena);
    return st;
}

/* May it be written: has everything that it refers to been? */
static bool is_ready(const kn_database_table *t, int table, const bool *done)
{
    for (int i = 0; i < t->foreign_count; i++)
        if (t->foreign[i].target >= 0 && t->foreign[i].target != table && !done[t->foreign[i].target]) return false;
    return true;
}

kn_status kn_references_write(const kn_database_sink *sink, kn_context *ctx, const kn_database *db, kn_error *err)
{
    const kn_database *refs = db->references;
    if (!refs) return KN_OK;
    bool     *done = kn_alloc_array_zero(ctx, (size_t)refs->table_count + 1, sizeof *done);
    kn_status st = done ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    for (int n = 0; st == KN_OK && n < refs->table_count; n++) {
        int next = -1;
        for (int t = refs->table_count; t-- > 0;) /* the first that is ready; in a circle, the first */
            if (!done[t] &&
                (next < 0 || is_ready(&refs->tables[t], t, done) || !is_ready(&refs->tables[next], next, done)))
                next = t;
        st = write_one(sink, ctx, refs, next, done, err);
        done[next] = true;
    }
    kn_free(done);
    return st;
}
