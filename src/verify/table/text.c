/* table/text.c: CSV files that are not read whole: in blocks, by the verifier's own reader, into a table that DuckDB holds.
 *
 * Only texts go there, as they stand in the file. How a release is written (table/form.c) and its digest are found on the way, for every
 * column and row. Cost: one pass. Memory: a window of 1 MiB, more where a record is longer, and the blocks that DuckDB takes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/stat.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_row_stream.h"
#include "kn_text_table.h"
#include "kn_verify_reader.h"
#include "kn_verify_text.h"

typedef struct blocks {
    kn_vreader         r;
    const char *const *paths;
    int                count, next; /* the next file */
    int64_t            most;        /* rows; 0: all  */
    kn_csv_field      *fields;      /* of a header   */
    kn_csv_seen       *seen;
    double             size, before; /* bytes of all files, and of those that have been read */
    uint64_t           made;         /* bytes of text so far, of this file                   */
} blocks;

static kn_status no_memory(const blocks *b, kn_error *err)
{
    return kn_fail_memory(err, b->r.ctx, "verifying");
}

/* ---- Records ---- */

static kn_status fill_window(blocks *b, kn_error *err)
{
    size_t held = b->r.filled - b->r.at;
    KN_TRY(kn_vreader_fill(&b->r, err));
    kn_vreader_digest(&b->r);
    b->made += b->r.filled - held;
    return KN_OK;
}

static kn_status add_cells(blocks *b, kn_row_batch *to, size_t records, kn_error *err)
{
    kn_vreader *r = &b->r;
    kn_vworker *w = &r->workers[0];
    for (int c = 0; c < r->t->column_count; c++) {
        const kn_csv_field *field = w->fields + r->place[c];
        for (size_t i = 0; i < records; i++, field += r->t->name_count) {
            kn_string text = kn_vreader_cell(r, w, *field);
            if (!text.data) return no_memory(b, err);
            KN_TRY(kn_row_batch_cell(to, c, text, err));
        }
    }
    kn_row_batch_rows(to, (int64_t)records);
    b->seen->rows += (int64_t)records;
    return KN_OK;
}

static kn_status add_records(blocks *b, kn_row_batch *to, kn_error *err)
{
    kn_vreader     *r = &b->r;
    kn_vworker     *w = &r->workers[0];
    kn_csv_scanner *s = &w->scanner;
    kn_vpiece       p = {.begin = r->at};
    size_t          room = (size_t)kn_row_batch_room(to), records = 0, shaped = r->at;
    kn_csv_scanner_init(s, r->window, r->filled, r->ended, r->t->delimiter, r->at);
    p.result = kn_csv_scan(s, r->filled, r->t->name_count, w->fields, room < KN_VREADER_BATCH ? room : KN_VREADER_BATCH,
                           &records);
    p.more = p.result == KN_CSV_MORE;
    p.end = s->at;
    kn_vreader_judge(r, &p, s);
    if (p.bytes || (p.result != KN_CSV_OK && !p.more)) return kn_vreader_fail(r, &p, r->at, r->line, err);
    if (r->opt->form) {
        kn_vform_take(&r->t->form, r->window, r->filled, r->t->delimiter, w->fields, records, r->t->name_count,
                      r->place, r->t->column_count, &shaped);
        r->t->form.blank += shaped < p.end;
    }
    KN_TRY(add_cells(b, to, records, err));
    r->at = p.end;
    r->line += p.lines;
    return p.more ? fill_window(b, err) : KN_OK;
}

/* ---- Files ---- */

static kn_status next_file(blocks *b, kn_error *err)
{
    if (b->r.source) b->before += (double)kn_source_size(b->r.source);
    KN_TRY(kn_vreader_file(&b->r, b->paths[b->next], b->next == 0, b->fields, err));
    kn_vreader_digest(&b->r);
    b->made = b->r.filled;
    b->next++;
    return KN_OK;
}

/* What is known when everything has been read. */
static void finish(blocks *b)
{
    kn_vreader *r = &b->r;
    if (r->opt->form) r->t->form.wrapped = kn_source_wrapped(r->source);
    if (r->opt->digest && !r->t->sha256[0]) kn_sha256_text(&r->digest, r->t->sha256);
}

static kn_status fill(void *state, kn_row_batch *to, kn_error *err)
{
    blocks     *b = state;
    kn_vreader *r = &b->r;
    if (b->most > 0 && b->seen->rows >= b->most) return KN_OK;
    while (kn_row_batch_room(to) > 0) {
        if (kn_cancelled(r->ctx)) return kn_fail_cancelled(err);
        bool read = r->at == r->filled;
        if (read && r->ended && b->next == b->count) {
            finish(b);
            break;
        }
        if (!read)
            KN_TRY(add_records(b, to, err));
        else
            KN_TRY(r->ended ? next_file(b, err) : fill_window(b, err));
    }
    double waiting = b->made > 0 ? (double)(r->filled - r->at) / (double)b->made : 0;
    double done = b->before + (double)kn_source_consumed(r->source) * (1 - waiting);
    b->seen->part = b->size > 0 && done < b->size ? done / b->size : 1;
    return KN_OK;
}

static void end(void *state)
{
    blocks *b = state;
    kn_vreader_close(&b->r);
    KN_FREE(b->fields, b);
}

/* ---- Opening ---- */

static kn_status begin(blocks *b, kn_row_column **columns, kn_error *err)
{
    struct stat info;
    for (int i = 0; i < b->count; i++)
        if (stat(b->paths[i], &info) == 0) b->size += (double)info.st_size;
    b->fields = kn_alloc_array(b->r.ctx, KN_VREADER_COLUMNS, sizeof *b->fields);
    if (!b->fields) return no_memory(b, err);
    KN_TRY(kn_vreader_open(&b->r, err));
    KN_TRY(next_file(b, err));
    kn_vtable *t = b->r.t;
    if (t->column_count == 0)
        return kn_fail(err, KN_INPUT, "%s: there is none of the columns that are asked for",
                       kn_source_name(b->r.source));
    t->form.cells = kn_arena_array_zero(&t->arena, (size_t)t->column_count * KN_VFORM_KINDS + 1, sizeof *t->form.cells);
    *columns = kn_alloc_array_zero(b->r.ctx, (size_t)t->column_count + 1, sizeof **columns);
    bool room = t->form.cells && *columns;
    for (int c = 0; room && c < t->column_count; c++) {
        kn_string name = t->names[b->r.place[c]];
        (*columns)[c].name = kn_strndup(b->r.ctx, name.data, name.size);
        room = (*columns)[c].name != NULL;
    }
    return room ? KN_OK : no_memory(b, err);
}

/* The rows as a stream. *table: names, delimiter and, once all is read, form and digest; no rows. */
static kn_status open_blocks(struct ArrowArrayStream *out, kn_vtable **table, kn_context *ctx, const char *const *paths,
                             int count, const kn_vread_options *options, int64_t most, kn_csv_seen *seen, kn_error *err)
{
    kn_row_column *columns = NULL;
    blocks        *b = kn_alloc_zero(ctx, sizeof *b);
    *out = (struct ArrowArrayStream){.release = NULL};
    *table = NULL;
    if (!b) return kn_fail_memory(err, ctx, "verifying");
    *b = (blocks){.r = {.ctx = ctx, .arena = {.ctx = ctx}, .opt = options, .quiet = true, .worker_count = 1},
                  .paths = paths,
                  .count = count,
                  .most = most,
                  .seen = seen};
    kn_status st = begin(b, &columns, err);
    *table = b->r.t;
    if (st == KN_OK) {
        kn_row_source source = {.state = b, .fill = fill, .end = end, .said = &seen->said};
        return kn_row_stream(out, ctx, columns, b->r.t->column_count, &source, err);
    }
    for (int c = 0; columns && c < b->r.t->column_count; c++) kn_free(columns[c].name);
    kn_free(columns);
    end(b);
    return st;
}

kn_status kn_vtext_fits(bool *out, kn_context *ctx, const kn_connection *c, const char *const *paths, int count,
                        const kn_vread_options *options, int besides, kn_error *err)
{
    struct ArrowArrayStream first;
    kn_csv_seen             seen = KN_CSV_SEEN_INIT;
    kn_vtable              *table = NULL;
    kn_status               st = open_blocks(&first, &table, ctx, paths, count, options, KN_TEXT_SAMPLE, &seen, err);
    const char            **names = NULL;
    int                     known = st == KN_OK ? table->column_count : 0;
    if (st == KN_OK) names = kn_alloc_array(ctx, (size_t)known + 1, sizeof *names);
    if (st == KN_OK && !names) {
        first.release(&first);
        st = kn_fail_memory(err, ctx, "verifying");
    }
    for (int n = 0; st == KN_OK && n < table->name_count; n++)
        if (table->kept[n] >= 0) names[table->kept[n]] = table->names[n].data;
    if (st == KN_OK)
        st = kn_text_table_fits(out, c, ctx, &first, &seen, names, known, besides, kn_path_name(ctx, paths[0]), err);
    kn_free((void *)names);
    kn_vtable_free(table);
    return st;
}

/* ---- Both sides ---- */

static kn_status read_side(kn_vtexts *t, kn_vside *side, int which, kn_context *ctx, const char *const *paths,
                           int count, const kn_vread_options *options, kn_error *err)
{
    static const char *const names[] = {"verified-original", "verified-release"};
    struct ArrowArrayStream  rows;
    kn_csv_seen              seen = KN_CSV_SEEN_INIT;
    t->tables[which] = *side->table;
    KN_TRY(open_blocks(&rows, &t->read[which], ctx, paths, count, options, 0, &seen, err));
    KN_TRY(kn_text_table_keep(&t->relations[which], side->table->connection, names[which], &rows, &seen,
                              side->table->name, err));
    t->tables[which].relation = t->relations[which].data;
    side->table = &t->tables[which];
    return KN_OK;
}

kn_status kn_vtext_keep(kn_buffer *to, kn_context *ctx, const kn_connection *c, const char *name, const char *path,
                        const kn_vread_options *options, kn_error *err)
{
    struct ArrowArrayStream rows;
    kn_csv_seen             seen = KN_CSV_SEEN_INIT;
    kn_vtable              *table = NULL;
    kn_status               st = open_blocks(&rows, &table, ctx, &path, 1, options, 0, &seen, err);
    if (st == KN_OK) st = kn_text_table_keep(to, c, name, &rows, &seen, kn_path_name(ctx, path), err);
    kn_vtable_free(table);
    return st;
}

kn_status kn_vtexts_read(kn_vtexts *t, kn_vwhere *where, kn_context *ctx, const kn_spec *spec,
                         const kn_verify_options *o, kn_error *err)
{
    const char *const *originals = o->originals ? o->originals : spec->inputs;
    int                original_count = o->originals ? o->original_count : spec->input_count, count = 0;
    kn_csv_options     csv = KN_CSV_OPTIONS_INIT;
    *t = (kn_vtexts){.read = {NULL, NULL}};
    for (int i = 0; i < 2; i++) kn_buffer_init(&t->relations[i], ctx);
    if (where->original.table->relation && where->release.table->relation) return KN_OK;
    const char **names = kn_alloc_array(ctx, (size_t)spec->attribute_count + 1, sizeof *names);
    if (!names) return kn_fail_memory(err, ctx, "verifying");
    for (int i = 0; i < spec->attribute_count; i++)
        if (kn_verify_is_released(spec, &spec->attributes[i])) names[count++] = spec->attributes[i].name;
    kn_vread_options original = {.csv = &spec->csv, .columns = names, .column_count = count};
    kn_vread_options release = {
        .csv = &csv, .all = true, .header = names, .header_count = count, .hint = ',', .digest = true, .form = true};
    kn_status st = KN_OK;
    if (!where->original.table->relation)
        st = read_side(t, &where->original, 0, ctx, originals, original_count, &original, err);
    if (t->read[0]) release.hint = t->read[0]->delimiter;
    if (st == KN_OK && !where->release.table->relation)
        st = read_side(t, &where->release, 1, ctx, &o->release, 1, &release, err);
    where->from_text = t->read[0] != NULL;
    where->text = t->read[1];
    kn_free((void *)names);
    return st;
}

void kn_vtexts_free(kn_vtexts *t)
{
    for (int i = 0; i < 2; i++) {
        kn_vtable_free(t->read[i]);
        kn_buffer_free(&t->relations[i]);
    }
}
