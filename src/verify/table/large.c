/* table/large.c: is a pair of tables read whole, or verified where it is?
 *
 * Tables of an engine that a program brought (kanon/engine.h) always are where they are. Of files that DuckDB reads, and of tables of a
 * PostgreSQL server, the number of rows and of columns and the texts of the first rows decide before anything is read, by the measure
 * that decides for a release (kn_table_needs), against the memory limit; of CSV, which is read here in blocks (table/text.c), the size
 * of the files tells how many rows there are. Original and release may be in different engines, unless
 * there is a kept column: then a server's table is copied, and a release in another server is read whole. Requests that need every row are read whole, and may run out of memory.
 *
 * What DuckDB cannot hold it writes into a folder of its own in TMPDIR, which is removed at the end; the next run removes that of
 * one that was killed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_columnar.h"
#include "kn_connection.h"
#include "kn_context.h"
#include "kn_engines.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_output_place.h"
#include "kn_server.h"
#include "kn_text_table.h"
#include "kn_verify_internal.h"
#include "kn_verify_text.h"
#include "kn_verify_where.h"

/* Of the original, or of the release. */
typedef struct side {
    const char          *name;       /* for messages */
    const kn_connection *connection; /* one of the pair's */
    kn_buffer            relation;
} side;

typedef struct pair {
    kn_context              *ctx;
    const kn_spec           *spec;
    const kn_verify_options *options;
    const char *const       *originals;
    int                      original_count;
    const char              *release;
    const char             **wanted; /* columns of the original */
    int                      wanted_count;
    kn_connection            duckdb, servers[2]; /* state NULL: not needed */
    char                    *spill;
    int                      claim;
    side                     from, to;
} pair;

static void end(pair *p)
{
    for (int i = 0; i < 2; i++)
        if (p->servers[i].state) kn_connection_close(&p->servers[i]);
    if (p->duckdb.state) kn_connection_close(&p->duckdb); /* before its files go */
    if (p->spill) (void)kn_place_remove(p->spill);
    if (p->claim >= 0) close(p->claim);
    KN_FREE(p->spill, (void *)p->wanted);
    kn_buffer_free(&p->from.relation);
    kn_buffer_free(&p->to.relation);
}

/* ---- Can they stay? ---- */

static bool from_server(const pair *p)
{
    return p->original_count == 1 && kn_server_named(p->originals[0]);
}

static bool from_text(const pair *p)
{
    return kn_text_table_possible(p->ctx, p->originals, p->original_count);
}

static bool has_kept(const kn_spec *spec)
{
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role == KN_ROLE_KEEP) return true;
    return false;
}

static bool one_engine(const pair *p)
{
    bool there = kn_server_named(p->release);
    return there ? kn_server_same(p->originals[0], p->release) : !from_server(p);
}

/* Only DuckDB can compare kept columns of a server's table with a file: by a copy of the table. */
static bool is_copied(const pair *p)
{
    return from_server(p) && !kn_server_named(p->release) && has_kept(p->spec);
}

static bool can_stay(const pair *p)
{
    for (int i = 0; i < p->original_count; i++)
        if (!from_server(p) && !from_text(p) && !kn_columnar_stays(p->ctx, p->originals[i])) return false;
    return (kn_server_named(p->release) || kn_columnar_stays(p->ctx, p->release) ||
            kn_csv_stream_possible(p->ctx, p->release)) &&
           (one_engine(p) || is_copied(p) || !has_kept(p->spec));
}

/* ---- Where they are ---- */

static kn_status open_duckdb(pair *p, side *s, kn_error *err)
{
    s->connection = &p->duckdb;
    return p->duckdb.state ? KN_OK : kn_connection_duckdb(&p->duckdb, p->ctx, NULL, s->name, err);
}

static kn_status open_server(pair *p, side *s, int own, const char *name, kn_error *err)
{
    s->connection = &p->servers[own];
    return p->servers[own].state ? KN_OK : kn_server_open(&p->servers[own], p->ctx, name, err);
}

static kn_status open_original(pair *p, kn_error *err)
{
    side *s = &p->from;
    p->wanted = kn_alloc_array(p->ctx, (size_t)p->spec->attribute_count + 1, sizeof *p->wanted);
    if (!p->wanted) return kn_fail_memory(err, p->ctx, "verifying");
    for (int i = 0; i < p->spec->attribute_count; i++)
        if (kn_verify_is_released(p->spec, &p->spec->attributes[i]))
            p->wanted[p->wanted_count++] = p->spec->attributes[i].name;
    if (from_server(p)) {
        KN_TRY(open_server(p, s, 0, p->originals[0], err));
        s->name = kn_server_shown(s->connection);
        return kn_server_relation(&s->relation, s->connection, p->ctx, p->originals[0], p->wanted, p->wanted_count,
                                  err);
    }
    KN_TRY(open_duckdb(p, s, err));
    if (from_text(p)) return KN_OK;
    return kn_columnar_relation(&s->relation, s->connection, p->ctx, p->originals, p->original_count, p->wanted,
                                p->wanted_count, err);
}

/* It is read as a file is (table/text.c); the connection stays, for its name. */
static kn_status copy_original(pair *p, kn_error *err)
{
    kn_buffer_free(&p->from.relation);
    kn_buffer_init(&p->from.relation, p->ctx);
    return open_duckdb(p, &p->from, err);
}

static kn_status open_release(pair *p, kn_error *err)
{
    side *s = &p->to;
    if (kn_server_named(p->release)) {
        KN_TRY(open_server(p, s, one_engine(p) ? 0 : 1, p->release, err));
        s->name = kn_server_shown(s->connection);
        return kn_server_release(&s->relation, s->connection, p->ctx, p->release, err);
    }
    KN_TRY(open_duckdb(p, s, err));
    if (kn_csv_stream_possible(p->ctx, p->release)) return KN_OK;
    return kn_columnar_relation(&s->relation, s->connection, p->ctx, &p->release, 1, NULL, 0, err);
}

static kn_status count_rows(int64_t *out, pair *p, kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, p->ctx);
    kn_buffer_format(&sql, "SELECT count(*) FROM %s AS t", p->from.relation.data);
    const char *text = kn_buffer_text(&sql);
    kn_status   st = text ? kn_connection_number(out, p->from.connection, p->ctx, text, p->from.name, err)
                          : kn_fail_memory(err, p->ctx, "verifying");
    kn_buffer_free(&sql);
    return st;
}

static kn_status is_large(pair *p, bool *large, kn_error *err)
{
    int64_t rows = 0;
    double  texts = 0, limit = (double)p->ctx->memory_limit;
    bool    leveled =
        p->spec->method_given && !p->spec->method_auto && kn_method_family(p->spec->method) == KN_FAMILY_FULL_DOMAIN;
    int besides = leveled ? 0 : KN_CLASS_CELLS;
    if (from_server(p) || kn_server_named(p->release)) limit -= KN_SERVER_READ;
    if (kn_csv_stream_possible(p->ctx, p->release)) limit -= kn_text_window(p->ctx);
    if (!p->from.relation.data) {
        kn_vread_options read = {.csv = &p->spec->csv, .columns = p->wanted, .column_count = p->wanted_count};
        KN_TRY(kn_vtext_fits(large, p->ctx, p->from.connection, p->originals, p->original_count, &read, besides, err));
        *large = !*large;
        return KN_OK;
    }
    KN_TRY(count_rows(&rows, p, err));
    *large = kn_table_needs((double)rows, p->wanted_count + besides, 0) > limit;
    if (*large) return KN_OK;
    KN_TRY(kn_connection_texts(&texts, p->from.connection, p->ctx, p->from.relation.data, p->wanted, p->wanted_count,
                               p->from.name, err));
    if (rows > KN_TEXT_SAMPLE) texts *= (double)rows / KN_TEXT_SAMPLE;
    *large = kn_table_needs((double)rows, p->wanted_count + besides, texts) > limit;
    return KN_OK;
}

static kn_status make_spill(pair *p, kn_error *err)
{
    const char *said = getenv("TMPDIR");
    char        beside[1000];
    if (!p->duckdb.state) return KN_OK;
    snprintf(beside, sizeof beside, "%.900s/kanon-verify", said && *said ? said : "/tmp");
    KN_TRY(kn_place_folder(&p->spill, &p->claim, p->ctx, beside, err));
    return kn_connection_spill(&p->duckdb, p->spill, p->from.name, err);
}

/* ---- Verifying ---- */

/* Files that DuckDB reads, and tables of a server. */
static kn_status verify_there(kn_verify_report **out, bool *taken, pair *p, kn_error *err)
{
    KN_TRY(open_original(p, err));
    KN_TRY(is_large(p, taken, err));
    if (!*taken) return KN_OK;
    if (is_copied(p)) KN_TRY(copy_original(p, err));
    KN_TRY(open_release(p, err));
    KN_TRY(make_spill(p, err));
    kn_engine_table   from = {p->from.connection, p->from.relation.data, p->from.name};
    kn_engine_table   to = {p->to.connection, p->to.relation.data, p->to.name};
    kn_verify_options options = *p->options;
    bool              formed = kn_server_named(p->release) || !p->to.relation.data ||
                  kn_columnar_kind_of(p->ctx, p->release) == KN_COLUMNAR_PARQUET;
    options.release = formed ? p->release : NULL;
    KN_TRY(kn_verify_where(out, p->ctx, p->spec, &from, &to, &options, err));
    bool servers = p->servers[0].state || p->servers[1].state;
    (*out)->read = !servers ? "DuckDB" : p->duckdb.state ? "DuckDB and the server" : "the server";
    return KN_OK;
}

/* Tables of engines that a program brought. */
static kn_status verify_engines(kn_verify_report **out, const pair *p, kn_error *err)
{
    kn_engine_table from = {.name = kn_path_name(p->ctx, p->originals[0])},
                    to = {.name = kn_path_name(p->ctx, p->release)};
    from.connection = kn_engine_of(p->ctx, p->originals[0], &from.relation);
    to.connection = kn_engine_of(p->ctx, p->release, &to.relation);
    if (p->original_count != 1 || !from.connection || !to.connection)
        return kn_fail(
            err, KN_USAGE,
            "%s and %s: a table of an engine is verified there: both must be tables of engines that the program "
            "brought",
            from.name, to.name);
    kn_verify_options options = *p->options;
    options.release = NULL;
    return kn_verify_where(out, p->ctx, p->spec, &from, &to, &options, err);
}

kn_status kn_verify_large(kn_verify_report **out, bool *taken, kn_context *ctx, const kn_spec *spec,
                          const kn_verify_options *options, kn_error *err)
{
    pair p = {.ctx = ctx,
              .spec = spec,
              .options = options,
              .originals = options->originals ? options->originals : spec->inputs,
              .original_count = options->originals ? options->original_count : spec->input_count,
              .release = options->release ? options->release : spec->output,
              .claim = -1};
    *taken = false;
    if (p.original_count < 1 || !p.release) return KN_OK;
    if (kn_name_engine(p.originals[0]) || kn_name_engine(p.release)) {
        *taken = true;
        return verify_engines(out, &p, err);
    }
    if (!kn_memory_limited(ctx) || kn_verify_needs_rows(spec, options) || !can_stay(&p)) return KN_OK;
    p.from.name = kn_path_name(ctx, p.originals[0]);
    p.to.name = kn_path_name(ctx, p.release);
    kn_buffer_init(&p.from.relation, ctx);
    kn_buffer_init(&p.to.relation, ctx);
    kn_status st = verify_there(out, taken, &p, err);
    end(&p);
    return st;
}
