/* kn_engine.c: a table that stays where it is: its rows counted, and grouped. Interface: kn_engine.h.
 *
 * Groups are made of native values, whose text is made here as for every Arrow table (kn_arrow.h): a text made by the engine could be
 * another one. Cost: the engine's GROUP BY, within its memory; here the distinct combinations alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_context.h"
#include "kn_engines.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_output_place.h"
#include "kn_text_table.h"

#define WHAT "grouping a table where it is"

static kn_status open_foreign(kn_engine *e, const char *name, int count, kn_error *err)
{
    const char *relation = NULL;
    e->connection = kn_engine_of(e->ctx, name, &relation);
    if (!e->connection) return kn_fail(err, KN_USAGE, "%.300s: there is no engine of that name", name);
    if (count > 1) return kn_fail(err, KN_USAGE, "%.300s: such a table is an input by itself", name);
    kn_buffer_add(&e->relation, relation);
    return kn_buffer_text(&e->relation) ? KN_OK : kn_fail_memory(err, e->ctx, WHAT);
}

static kn_status open_own(kn_engine *e, const char *const *names, int count, const char *const *columns,
                          int column_count, kn_error *err)
{
    KN_TRY(kn_connection_duckdb(&e->own, e->ctx, NULL, e->name, err));
    e->connection = &e->own;
    return kn_columnar_relation(&e->relation, &e->own, e->ctx, names, count, columns, column_count, err);
}

kn_status kn_engine_open(kn_engine *out, kn_context *ctx, const char *const *names, int count,
                         const char *const *columns, int column_count, kn_error *err)
{
    *out = (kn_engine){.ctx = ctx, .name = kn_path_name(ctx, names[0]), .claim = -1};
    kn_buffer_init(&out->relation, ctx);
    kn_status st = kn_name_engine(names[0]) ? open_foreign(out, names[0], count, err)
                                            : open_own(out, names, count, columns, column_count, err);
    if (st != KN_OK) kn_engine_close(out);
    return st;
}

void kn_engine_close(kn_engine *e)
{
    if (!e->ctx) return;
    if (e->own.state) kn_connection_close(&e->own); /* before its files go */
    if (e->spill) (void)kn_place_remove(e->spill);
    if (e->claim >= 0) close(e->claim);
    kn_free(e->spill);
    kn_buffer_free(&e->relation);
    *e = (kn_engine){.ctx = NULL};
}

/* Ends the statement. */
static kn_status ask_number(int64_t *out, kn_engine *e, kn_buffer *sql, kn_error *err)
{
    const char *text = kn_buffer_text(sql);
    kn_status   st =
        text ? kn_connection_number(out, e->connection, e->ctx, text, e->name, err) : kn_fail_memory(err, e->ctx, WHAT);
    kn_buffer_free(sql);
    return st;
}

kn_status kn_engine_rows(int64_t *out, kn_engine *e, kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, e->ctx);
    kn_buffer_format(&sql, "SELECT count(*) FROM %s AS t", e->relation.data);
    return ask_number(out, e, &sql, err);
}

kn_status kn_engine_combinations(int64_t *out, kn_engine *e, int64_t most, const char *const *columns, int count,
                                 kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, e->ctx);
    kn_buffer_add(&sql, "SELECT count(*) FROM (SELECT DISTINCT ");
    for (int c = 0; c < count; c++) {
        kn_buffer_add(&sql, c > 0 ? ", " : "");
        kn_connection_put_name(&sql, e->connection, columns[c]);
    }
    if (most > 0)
        kn_buffer_format(&sql, " FROM (SELECT * FROM %s AS t LIMIT %" PRId64 ") AS t) AS d", e->relation.data, most);
    else
        kn_buffer_format(&sql, " FROM %s AS t) AS d", e->relation.data);
    return ask_number(out, e, &sql, err);
}

kn_status kn_engine_texts(double *out, kn_engine *e, int64_t rows, const char *const *columns, int count, kn_error *err)
{
    KN_TRY(kn_connection_texts(out, e->connection, e->ctx, e->relation.data, columns, count, e->name, err));
    if (rows > KN_TEXT_SAMPLE) *out *= (double)rows / KN_TEXT_SAMPLE;
    return KN_OK;
}

kn_status kn_engine_spill(kn_engine *e, const char *output, kn_error *err)
{
    const char *said = getenv("TMPDIR");
    char        other[1000];
    if (e->connection != &e->own || e->own.dialect != KN_DIALECT_DUCKDB) return KN_OK; /* its memory is not ours */
    snprintf(other, sizeof other, "%.900s/kanon-spill", said && *said ? said : "/tmp");
    size_t size = strlen(output ? output : other);
    while (output && size > 1 && output[size - 1] == '/') size--;
    char *beside = kn_strndup(e->ctx, output ? output : other, size);
    if (!beside) return kn_fail_memory(err, e->ctx, WHAT);
    kn_status st = kn_place_folder(&e->spill, &e->claim, e->ctx, beside, err);
    kn_free(beside);
    return st == KN_OK ? kn_connection_spill(e->connection, e->spill, e->name, err) : st;
}

kn_status kn_engine_name_counts(char **out, kn_engine *e, const kn_csv_options *csv, kn_error *err)
{
    *out = kn_strformat(e->ctx, "(rows)");
    for (int c = 0; *out && c < csv->column_count; c++) {
        size_t size = strlen(csv->columns[c]), own = strlen(*out);
        if (size < own || !strstr(csv->columns[c], *out)) continue;
        char *longer = kn_strformat(e->ctx, "(%s)", *out);
        kn_free(*out);
        *out = longer;
        c = -1;
    }
    return *out ? KN_OK : kn_fail_memory(err, e->ctx, WHAT);
}

static kn_status read_groups(kn_table **out, kn_engine *e, const char *sql, const kn_csv_options *csv, kn_error *err)
{
    struct ArrowArrayStream stream;
    if (!sql) return kn_fail_memory(err, e->ctx, WHAT);
    KN_TRY(kn_connection_query(&stream, e->connection, e->ctx, sql, e->name, err));
    return kn_arrow_import_as_csv(out, e->ctx, &stream, csv, e->name, err);
}

kn_status kn_engine_group(kn_table **out, kn_engine *e, const kn_csv_options *csv, kn_error *err)
{
    char          *counts = NULL;
    kn_csv_options used = *csv;
    kn_buffer      sql;
    *out = NULL;
    KN_TRY(kn_engine_name_counts(&counts, e, csv, err));
    kn_buffer_init(&sql, e->ctx);
    kn_buffer_add(&sql, "SELECT ");
    for (int c = 0; c < csv->column_count; c++) {
        kn_connection_put_name(&sql, e->connection, csv->columns[c]);
        kn_buffer_add(&sql, ", ");
    }
    kn_buffer_add(&sql, "count(*) AS ");
    kn_connection_put_name(&sql, e->connection, counts);
    kn_buffer_format(&sql, " FROM %s AS t GROUP BY ", e->relation.data);
    for (int c = 0; c < csv->column_count; c++) kn_buffer_format(&sql, c > 0 ? ", %d" : "%d", c + 1);
    used.count = counts;
    kn_status st = read_groups(out, e, kn_buffer_text(&sql), &used, err);
    kn_buffer_free(&sql);
    kn_free(counts);
    return st;
}
