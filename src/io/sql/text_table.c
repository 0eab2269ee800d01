/* sql/text_table.c: CSV files that do not fit the memory, by way of DuckDB. Interface: kn_text_table.h.
 *
 * Cost: the files are read once to be kept, as Parquet; and their first 100,000 rows before that.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_text_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_context.h"
#include "kn_duckdb_api.h"
#include "kn_error.h"
#include "kn_output_place.h"

#define FIRST_ROWS "kanon_first_rows"
#define COUNTS "(rows)"

/* ---- Does it fit? ---- */

/* How many bytes of text a file has at most; compressed ones may have any number. */
static double most_text(const char *path)
{
    struct stat info;
    FILE       *file = fopen(path, "rbe");
    int         byte = file ? getc(file) : EOF;
    if (file) fclose(file);
    bool compressed = byte == 0x1f || byte == 0x28 || (byte & 0xf0) == 0x50;
    if (byte == EOF) return 0;
    return compressed || stat(path, &info) != 0 ? 1e300 : (double)info.st_size;
}

bool kn_text_table_possible(kn_context *ctx, const char *const *paths, int count)
{
    double        text = 0;
    kn_duckdb_api api;
    if (!kn_memory_limited(ctx) || count < 1) return false;
    for (int i = 0; i < count; i++) {
        if (!kn_csv_stream_possible(ctx, paths[i])) return false;
        text += most_text(paths[i]);
    }
    /* A row of one column has a byte at least, and one of n columns n; different texts have four, with what ends them, unless they are few. */
    double texts = text * (1 + KN_TEXT_ITSELF / 4.0);
    return kn_table_needs(text, 1 + KN_CLASS_CELLS, texts) > (double)ctx->memory_limit &&
           kn_duckdb_load(&api, paths[0], NULL) == KN_OK;
}

/* Of a reader that failed, what it said; else how the statement ended. */
static kn_status judge(const kn_csv_seen *seen, kn_status st, const kn_error *said, kn_error *err)
{
    const kn_error *why = seen->said.status != KN_OK ? &seen->said : said;
    if (st != KN_OK && err) *err = *why;
    return st != KN_OK ? why->status : KN_OK;
}

kn_status kn_text_table_fits(bool *out, const kn_connection *c, kn_context *ctx, struct ArrowArrayStream *first,
                             const kn_csv_seen *seen, const char *const *columns, int count, int besides,
                             const char *what, kn_error *err)
{
    kn_error said = KN_ERROR_INIT;
    double   texts = 0;
    *out = true;
    KN_TRY(judge(seen, kn_connection_put(c, ctx, FIRST_ROWS, first, what, &said), &said, err));
    double rows = seen->part > 0 ? (double)seen->rows / seen->part : 0;
    KN_TRY(kn_connection_texts(&texts, c, ctx, FIRST_ROWS, columns, count, what, err));
    if (seen->rows > 0) texts *= rows / (double)seen->rows;
    *out = kn_table_needs(rows, count + besides, texts) + kn_text_window(ctx) <= (double)ctx->memory_limit;
    return kn_connection_drop(c, ctx, FIRST_ROWS, what, err);
}

kn_status kn_text_table_keep(kn_buffer *to, const kn_connection *c, const char *name, struct ArrowArrayStream *rows,
                             const kn_csv_seen *seen, const char *what, kn_error *err)
{
    kn_error said = KN_ERROR_INIT;
    return judge(seen, kn_connection_keep(to, c, name, rows, what, &said), &said, err);
}

/* ---- Files ---- */

kn_status kn_text_files_fit(bool *out, const kn_connection *c, kn_context *ctx, const char *const *paths, int count,
                            const kn_csv_options *options, int besides, kn_error *err)
{
    struct ArrowArrayStream first;
    kn_csv_seen             seen = KN_CSV_SEEN_INIT;
    *out = true;
    KN_TRY(kn_csv_stream_open(&first, ctx, paths, count, options, KN_TEXT_SAMPLE, &seen, err));
    return kn_text_table_fits(out, c, ctx, &first, &seen, options->columns, options->column_count, besides,
                              kn_path_name(ctx, paths[0]), err);
}

kn_status kn_text_files_keep(kn_buffer *to, const kn_connection *c, kn_context *ctx, const char *name,
                             const char *const *paths, int count, const kn_csv_options *options, kn_error *err)
{
    struct ArrowArrayStream rows;
    kn_csv_seen             seen = KN_CSV_SEEN_INIT;
    KN_TRY(kn_csv_stream_open(&rows, ctx, paths, count, options, 0, &seen, err));
    return kn_text_table_keep(to, c, name, &rows, &seen, kn_path_name(ctx, paths[0]), err);
}

/* ---- Counted rows ---- */

static kn_status group(kn_table **out, const kn_connection *c, kn_context *ctx, const char *relation,
                       const kn_csv_options *options, const char *what, kn_error *err)
{
    struct ArrowArrayStream stream;
    kn_csv_options          used = *options;
    kn_buffer               sql;
    kn_buffer_init(&sql, ctx);
    kn_buffer_format(&sql, "SELECT *, count(*) AS \"" COUNTS "\" FROM %s GROUP BY ALL", relation);
    const char *text = kn_buffer_text(&sql);
    kn_status   st =
        text ? kn_connection_query(&stream, c, ctx, text, what, err) : kn_fail_memory(err, ctx, "grouping rows");
    kn_buffer_free(&sql);
    if (st != KN_OK) return st;
    used.count = COUNTS;
    return kn_arrow_import_as_csv(out, ctx, &stream, &used, what, err);
}

static kn_status group_files(kn_table **out, const kn_connection *c, kn_context *ctx, const char *const *paths,
                             int count, const kn_csv_options *options, kn_error *err)
{
    bool      fits = true;
    kn_buffer relation;
    KN_TRY(kn_text_files_fit(&fits, c, ctx, paths, count, options, 0, err));
    if (fits) return KN_OK;
    kn_buffer_init(&relation, ctx);
    kn_status st = kn_text_files_keep(&relation, c, ctx, "rows", paths, count, options, err);
    if (st == KN_OK) st = group(out, c, ctx, relation.data, options, kn_path_name(ctx, paths[0]), err);
    kn_buffer_free(&relation);
    return st;
}

static bool has_column(const kn_csv_options *options, const char *name)
{
    for (int i = 0; i < options->column_count; i++)
        if (strcmp(options->columns[i], name) == 0) return true;
    return false;
}

kn_status kn_text_files_group(kn_table **out, kn_context *ctx, const char *const *paths, int count,
                              const kn_csv_options *options, kn_error *err)
{
    const char   *said = getenv("TMPDIR");
    char          beside[1000], *spill = NULL;
    int           claim = -1;
    kn_connection c = KN_CONNECTION_INIT;
    *out = NULL;
    if (!options->columns || options->count || has_column(options, COUNTS) ||
        !kn_text_table_possible(ctx, paths, count))
        return KN_OK;
    snprintf(beside, sizeof beside, "%.900s/kanon-rows", said && *said ? said : "/tmp");
    KN_TRY(kn_place_folder(&spill, &claim, ctx, beside, err));
    kn_status st = kn_connection_duckdb(&c, ctx, spill, kn_path_name(ctx, paths[0]), err);
    if (st == KN_OK) st = group_files(out, &c, ctx, paths, count, options, err);
    if (c.state) kn_connection_close(&c); /* before its files go */
    (void)kn_place_remove(spill);
    close(claim);
    kn_free(spill);
    return st;
}
