/* table/large_text.c: CSV files that do not fit the memory limit, in and out (docs/big.md).
 *
 * The file is read by kanon's own reader, block by block, into a file on disk that DuckDB groups; the verifier reads the original once
 * more, by its own reader. A release in CSV is written here, as one in memory is. What can only be done with every row at hand is tried
 * in memory, and so is everything where there is no libduckdb. A server's table, which is read as the CSV file with its rows, goes this way too where its
 * kept columns cannot stay in the server.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_table_run.h"
#include "kn_targets.h"
#include "kn_text_table.h"

bool kn_table_run_from_text(const kn_table_run *run)
{
    return run->copied || (run->all.spec->input_count > 0 && kn_csv_stream_possible(run->all.ctx, run->inputs[0]));
}

bool kn_table_run_to_text(const kn_table_run *run)
{
    const kn_spec *spec = run->all.spec;
    return !run->target && !kn_target_is_parquet(spec) && !kn_target_in_engine(spec) && !kn_target_is_table(spec) &&
           !(spec->output && kn_memory_is(run->all.ctx, spec->output));
}

const char *kn_table_run_grouped_where(const kn_table_run *run)
{
    return kn_table_run_from_text(run) ? "in a copy on disk" : "where they are";
}

static kn_status open_engine(kn_table_run *run, kn_error *err)
{
    run->engine = (kn_engine){.ctx = run->all.ctx, .name = kn_path_name(run->all.ctx, run->inputs[0]), .claim = -1};
    kn_buffer_init(&run->engine.relation, run->all.ctx);
    KN_TRY(kn_connection_duckdb(&run->engine.own, run->all.ctx, NULL, run->engine.name, err));
    run->engine.connection = &run->engine.own;
    return KN_OK;
}

kn_status kn_table_run_stay_text(kn_table_run *run, const kn_csv_options *csv, kn_error *err)
{
    kn_engine *e = &run->engine;
    int        count = run->all.spec->input_count;
    bool       fits = true;
    if (!kn_text_table_possible(run->all.ctx, run->inputs, count)) return KN_OK;
    KN_TRY(open_engine(run, err));
    KN_TRY(
        kn_text_files_fit(&fits, e->connection, run->all.ctx, run->inputs, count, csv, kn_table_run_besides(run), err));
    if (fits) {
        kn_engine_close(e);
        return kn_release_note(&run->all, err, "the table fits the memory limit and was read whole");
    }
    run->large = true;
    KN_TRY(kn_engine_spill(e, run->all.base, err));
    KN_TRY(kn_text_files_keep(&e->relation, e->connection, run->all.ctx, "input", run->inputs, count, csv, err));
    return kn_table_run_open_writer(run, err);
}

kn_status kn_table_run_copy(kn_table_run *run, const kn_csv_options *csv, kn_error *err)
{
    kn_engine *e = &run->engine;
    kn_engine_close(e);
    KN_TRY(open_engine(run, err));
    KN_TRY(kn_engine_spill(e, run->all.base, err));
    run->copied = true;
    return kn_text_files_keep(&e->relation, e->connection, run->all.ctx, "input", run->inputs, 1, csv, err);
}

kn_status kn_table_run_put_text(kn_buffer *to, kn_table_run *run, const kn_csv_options *csv, const char *path,
                                kn_error *err)
{
    return kn_text_files_keep(to, run->writer.connection, run->all.ctx, "release", &path, 1, csv, err);
}
