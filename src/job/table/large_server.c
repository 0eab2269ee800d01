/* table/large_server.c: tables that do not fit, and a PostgreSQL server: which engine holds the original, and which the release.
 *
 * A server's table is grouped by the server, and a release that becomes a server's table is repeated there out of counted rows. Where both are
 * in one database, one connection does it all, in one transaction. Else the original is read by one engine and the release
 * written by the other; kept columns, which only one engine could compare, need a copy of a server's table in DuckDB then, and are refused where the
 * release is in another server than the original. With kept columns that do not fit, a server's table is copied, too (table/large_text.c): the release is sorted
 * by DuckDB, and compared in the server.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_duckdb_api.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_server.h"
#include "kn_table_run.h"
#include "kn_targets.h"
#include "kn_text_table.h"

static bool from_server(const kn_table_run *run)
{
    return run->all.spec->input_count == 1 && kn_server_named(run->inputs[0]);
}

/* The connection that writes a server's table; NULL: the release is none, or there is no output. */
static const kn_connection *to_server(const kn_table_run *run)
{
    return run->target ? kn_table_writer_connection(run->target) : NULL;
}

bool kn_table_run_can_stay(const kn_table_run *run)
{
    const kn_spec *spec = run->all.spec;
    if (from_server(run)) return true;
    for (int i = 0; i < spec->input_count; i++)
        if (!kn_columnar_stays(run->all.ctx, run->inputs[i])) return false;
    return spec->input_count > 0;
}

double kn_table_run_window(const kn_table_run *run)
{
    double bytes = run->target ? KN_SERVER_WRITE : from_server(run) ? KN_SERVER_READ : 0;
    return bytes + (kn_table_run_to_text(run) ? kn_text_window(run->all.ctx) : 0);
}

int kn_table_run_besides(const kn_table_run *run)
{
    bool by_classes = run->all.spec->method_auto || !kn_table_run_full_domain(run);
    return (by_classes ? KN_CLASS_CELLS : 0) + (run->target ? KN_SERVER_CELLS : 0);
}

bool kn_table_run_must_copy(const kn_table_run *run)
{
    return from_server(run) && !to_server(run) && !run->all.options->dry_run && kn_table_run_keeps(run);
}

bool kn_table_run_can_copy(const kn_table_run *run)
{
    kn_duckdb_api api;
    if (!from_server(run) || (to_server(run) && !kn_server_same(run->inputs[0], run->all.spec->output))) return false;
    return kn_duckdb_load(&api, run->all.spec->output, NULL) == KN_OK;
}

const char *kn_table_run_cannot_write(const kn_table_run *run)
{
    const kn_spec *spec = run->all.spec;
    if (!to_server(run) && !kn_target_is_parquet(spec) && !kn_table_run_to_text(run))
        return "an output that is neither CSV nor Parquet nor a table of a PostgreSQL server";
    if (!kn_table_run_keeps(run) || (to_server(run) && kn_server_same(run->inputs[0], spec->output))) return NULL;
    if (to_server(run)) return "a kept column while input and output are in different engines";
    return kn_table_run_must_copy(run) && !kn_table_run_can_copy(run)
               ? "a kept column of a server's table without libduckdb (scripts/setup big)"
               : NULL;
}

kn_status kn_table_run_open_engine(kn_table_run *run, const kn_csv_options *csv, kn_error *err)
{
    kn_context          *ctx = run->all.ctx;
    const kn_connection *target = to_server(run);
    bool                 one = target && kn_server_same(run->inputs[0], run->all.spec->output);
    if (!from_server(run))
        return kn_engine_open(&run->engine, ctx, run->inputs, run->all.spec->input_count, csv->columns,
                              csv->column_count, err);
    return kn_engine_open_server(&run->engine, ctx, run->inputs[0], one ? target : NULL, csv->columns,
                                 csv->column_count, err);
}

kn_status kn_table_run_open_writer(kn_table_run *run, kn_error *err)
{
    const kn_connection *target = to_server(run);
    run->writer = (kn_engine){.ctx = run->all.ctx,
                              .name = run->all.spec->output,
                              .claim = -1,
                              .connection = target ? target : run->engine.connection};
    if (target) run->writer.name = kn_path_name(run->all.ctx, kn_output_temporary(run->all.output)); /* no password */
    kn_buffer_init(&run->writer.relation, run->all.ctx);
    if (target) kn_table_writer_count(run->target, true);
    if (target || !from_server(run) || run->copied || run->all.options->dry_run) return KN_OK;
    KN_TRY(kn_connection_duckdb(&run->writer.own, run->all.ctx, NULL, run->writer.name, err));
    run->writer.connection = &run->writer.own;
    return kn_engine_spill(&run->writer, run->all.base, err);
}

const kn_connection *kn_table_run_original(const kn_table_run *run)
{
    return run->copied && to_server(run) ? to_server(run) : run->engine.connection;
}

/* What is released: the other columns may be of types that nobody reads. */
kn_status kn_table_run_put_original(kn_buffer *to, kn_table_run *run, kn_error *err)
{
    const kn_spec       *spec = run->all.spec;
    const kn_connection *c = kn_table_run_original(run);
    size_t               room = (size_t)spec->attribute_count;
    const char         **names = kn_release_alloc(&run->all, &run->all.scratch, room, sizeof *names, err);
    int                  count = 0;
    if (!names) return KN_MEMORY;
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role != KN_ROLE_IDENTIFIER) names[count++] = spec->attributes[i].name;
    if (from_server(run)) return kn_server_relation(to, c, run->all.ctx, run->inputs[0], names, count, err);
    return kn_columnar_relation(to, c, run->all.ctx, run->inputs, spec->input_count, names, count, err);
}

const char *kn_table_run_engine_name(const kn_table_run *run)
{
    return from_server(run) && !run->copied ? "the server" : "DuckDB";
}
