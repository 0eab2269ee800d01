/* table/large.c: a table that does not fit the memory limit is grouped where it is, released and verified there (docs/big.md).
 *
 * Whether it fits is decided before it is read: by its rows and the columns that are wanted, for each of which a release holds its code,
 * its place in the order and what the verifier reads of it, and by how long the different texts of its first rows are. One that fits is read whole, as ever. Of one that does not, the distinct
 * combinations of the wanted columns come here as counted rows; all later stages see a counted table. What needs every row by itself is
 * refused, with the reason.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_engines.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_table_run.h"
#include "kn_targets.h"
#include "kn_text_table.h"
#include "kn_verify_where.h"

/* Bytes per distinct combination, where the table stays: while it is searched, written and verified. */
enum { COMBINATION_BYTES = 250 };

#define REMEDY "; give a larger --memory-limit, so that it can be read whole"

/* ---- Does it fit? ---- */

static bool is_engine(const kn_table_run *run)
{
    return run->all.spec->input_count > 0 && kn_name_engine(run->inputs[0]);
}

static bool has_pseudonyms(const kn_spec *spec)
{
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].pseudonym_key_file) return true;
    return false;
}

/* An earlier release that cannot be grouped together with this one. */
static bool has_other_earlier(const kn_table_run *run)
{
    const char *earlier = run->all.options->earlier;
    if (!earlier) return false;
    return run->target || is_engine(run) ||
           (!kn_columnar_stays(run->all.ctx, earlier) && !kn_csv_stream_possible(run->all.ctx, earlier));
}

/* What of the request needs every row by itself; NULL: nothing. */
static const char *needs_rows(const kn_table_run *run)
{
    const kn_spec *spec = run->all.spec;
    if (spec->keep_order || spec->input_order) return "the order of the rows";
    if (spec->keep_rowmap) return "a row map";
    if (spec->entity) return "an entity";
    if (has_pseudonyms(spec)) return "a pseudonym";
    if (spec->dependency_count > 0) return "a dependency";
    if (spec->csv.count) return "a column of counts";
    if (kn_spec_items_column(spec)) return "a column of sets";
    if (has_other_earlier(run)) return "an earlier release, unless that and this one are CSV or Parquet";
    if (run->all.options->dry_run) return NULL;
    if (is_engine(run)) return kn_name_engine(spec->output) ? NULL : "an output elsewhere than in its engine";
    return kn_table_run_cannot_write(run);
}

static kn_status check_request(const kn_table_run *run, int64_t rows, kn_error *err)
{
    const char *what = needs_rows(run), *name = kn_path_name(run->all.ctx, run->inputs[0]);
    if (is_engine(run) && !run->all.options->dry_run && run->engine.connection->dialect != KN_DIALECT_SPARK)
        return kn_fail(
            err, KN_USAGE,
            "%s: of the engines that a program hands in, only Spark writes releases; release a table of DuckDB or "
            "PostgreSQL by its own name (duckdb:FILE#TABLE, postgresql://...)",
            name);
    if (!what) return KN_OK;
    if (is_engine(run))
        return kn_fail(err, KN_USAGE, "%s: the rows of this table stay where they are, and its release cannot have %s",
                       name, what);
    return kn_fail(err, KN_USAGE,
                   "%s: the table has %" PRId64
                   " rows, too many for the memory limit, and what is released where it is cannot have %s" REMEDY,
                   name, rows, what);
}

/* An engine writes what is in it. */
static kn_status check_engine(const kn_table_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    kn_context    *ctx = run->all.ctx;
    if (run->all.options->dry_run || !kn_target_in_engine(spec)) return KN_OK;
    if (is_engine(run) && kn_engine_of(ctx, spec->output, NULL) == kn_engine_of(ctx, run->inputs[0], NULL))
        return KN_OK;
    return kn_fail(err, KN_USAGE, "%.300s: an engine writes the release of a table that it has; the input is another's",
                   spec->output);
}

/* Can a table of so many rows be read whole? What can only be done so is tried where its cells alone fit. */
static kn_status is_small(bool *out, kn_table_run *run, int64_t rows, const kn_csv_options *csv, kn_error *err)
{
    double texts = 0, limit = (double)run->all.ctx->memory_limit;
    if (kn_table_run_to_text(run)) limit -= kn_text_window(run->all.ctx);
    *out = kn_table_needs((double)rows, csv->column_count, 0) <= limit;
    if (!*out || needs_rows(run)) return KN_OK;
    KN_TRY(kn_engine_texts(&texts, &run->engine, rows, csv->columns, csv->column_count, err));
    *out =
        kn_table_needs((double)rows, csv->column_count + kn_table_run_besides(run), texts) + kn_table_run_window(run) <=
        (double)run->all.ctx->memory_limit;
    return KN_OK;
}

kn_status kn_table_run_stay(kn_table_run *run, const kn_csv_options *csv, kn_error *err)
{
    int64_t rows = 0;
    bool    engine = is_engine(run), small = false;
    KN_TRY(check_engine(run, err));
    if (kn_table_run_from_text(run)) return needs_rows(run) ? KN_OK : kn_table_run_stay_text(run, csv, err);
    if (!engine && (!kn_memory_limited(run->all.ctx) || !kn_table_run_can_stay(run))) return KN_OK;
    KN_TRY(kn_table_run_open_engine(run, csv, err));
    if (!engine) KN_TRY(kn_engine_rows(&rows, &run->engine, err));
    if (!engine) KN_TRY(is_small(&small, run, rows, csv, err));
    run->large = !small;
    if (!run->large) {
        kn_engine_close(&run->engine);
        return kn_release_note(&run->all, err, "the table fits the memory limit and was read whole");
    }
    KN_TRY(check_request(run, rows, err));
    KN_TRY(kn_table_run_must_copy(run) ? kn_table_run_copy(run, csv, err)
                                       : kn_engine_spill(&run->engine, run->all.base, err));
    return kn_table_run_open_writer(run, err);
}

/* Is there room for all that is done with so many combinations? */
static bool fits(const kn_table_run *run, int64_t combinations)
{
    return !kn_memory_limited(run->all.ctx) ||
           (double)combinations * COMBINATION_BYTES <= (double)run->all.ctx->memory_limit;
}

/* The program's engine hands over whatever it is asked for: it is asked first how much that would be. */
static kn_status ask_how_many(bool *too_many, kn_table_run *run, const kn_csv_options *csv, kn_error *err)
{
    int64_t count = 0;
    *too_many = false;
    if (!is_engine(run) || !kn_memory_limited(run->all.ctx) || kn_table_run_needs_combinations(run)) return KN_OK;
    KN_TRY(kn_engine_rows(&count, &run->engine, err));
    if (fits(run, count)) return KN_OK;
    KN_TRY(kn_engine_combinations(&count, &run->engine, 0, csv->columns, csv->column_count, err));
    *too_many = !fits(run, count);
    return KN_OK;
}

/* auto tries methods on all combinations; of those that need none the optimal one is the best. */
static kn_status choose_method(kn_table_run *run, kn_error *err)
{
    if (!run->all.spec->method_auto) return KN_OK;
    run->all.chosen = *run->all.spec;
    run->all.chosen.method = run->all.head->method = KN_METHOD_OPTIMAL;
    run->all.chosen.method_auto = false;
    run->all.spec = &run->all.chosen;
    return kn_release_note(&run->all, err,
                           "method optimal was taken: most of those that auto tries need all combinations in memory");
}

kn_status kn_table_run_stay_apart(kn_table_run *run, kn_error *err)
{
    KN_TRY(choose_method(run, err));
    const char *why_not = kn_table_run_needs_combinations(run), *name = kn_path_name(run->all.ctx, run->inputs[0]);
    if (why_not)
        return kn_fail(
            err, KN_MEMORY,
            "%s: its rows are too different: the combinations of the columns that are released do not fit the memory "
            "limit, here or in its engine, and %s; give a larger --memory-limit",
            name, why_not);
    kn_table_free(run->table);
    run->table = NULL;
    KN_TRY(kn_table_run_carry_apart(run, err));
    kn_status st = kn_table_run_code(run, err);
    if (st == KN_OK) st = kn_table_run_place_again(run, err);
    if (st == KN_MEMORY)
        return kn_fail(
            err, KN_MEMORY,
            "%s: its rows are too different: the values of single columns, or the combinations of the sensitive "
            "ones, do not fit the memory limit, here or in its engine; give a larger --memory-limit",
            name);
    if (st != KN_OK) return st;
    return kn_release_note(&run->all, err,
                           "%s%s grouped its %" PRId64
                           " rows %s; their combinations do not fit either, and choices of levels are judged there%s",
                           is_engine(run) ? "" : "the table does not fit the memory limit: ",
                           is_engine(run) ? "the engine" : kn_table_run_engine_name(run), kn_table_total(run->table),
                           kn_table_run_grouped_where(run), run->carried ? "; kept columns stayed there" : "");
}

kn_status kn_table_run_group(kn_table_run *run, const kn_csv_options *csv, kn_error *err)
{
    bool too_many = false, carried = false;
    run->asked = *csv;
    KN_TRY(ask_how_many(&too_many, run, csv, err));
    if (too_many) return kn_table_run_stay_apart(run, err);
    KN_TRY(kn_table_run_worth_carrying(&carried, run, csv, err));
    kn_status st = carried ? KN_MEMORY : kn_engine_group(&run->table, &run->engine, csv, err);
    bool      fitting = st == KN_OK && fits(run, run->table->rows);
    if ((st == KN_MEMORY || (st == KN_OK && !fitting)) && kn_table_run_can_carry(run)) {
        KN_TRY(choose_method(run, err));
        st = kn_table_run_carry(run, csv, err);
        fitting = st == KN_OK && fits(run, run->table->rows);
    }
    if (st == KN_MEMORY || (st == KN_OK && !fitting && !kn_table_run_needs_combinations(run)))
        return kn_table_run_stay_apart(run, err);
    if (st != KN_OK) return st;
    return kn_release_note(
        &run->all, err, "%s%s grouped its %" PRId64 " rows %s, and %" PRId64 " different ones were read%s",
        is_engine(run) ? "" : "the table does not fit the memory limit: ",
        is_engine(run) ? "the engine" : kn_table_run_engine_name(run), kn_table_total(run->table),
        kn_table_run_grouped_where(run), run->table->rows, run->carried ? "; kept columns stayed there" : "");
}

/* ---- Out ---- */

kn_status kn_table_run_put(void *arg, kn_batches *batches, kn_error *err)
{
    kn_table_run  *run = arg;
    const kn_spec *spec = run->all.spec;
    kn_status      st = run->carried     ? kn_table_run_put_carried(run, batches, err)
                        : is_engine(run) ? kn_engine_write_there(&run->engine, batches, spec->output, err)
                                         : kn_engine_write(&run->writer, batches, kn_output_temporary(run->all.output),
                                                           spec->output, kn_target_in_parts(spec), err);
    kn_batches_let_go(batches);
    return st;
}

/* What stands behind FROM for the release; of CSV nothing, unless it is read by these options: the verifier reads it by itself. */
static kn_status put_release(kn_buffer *to, kn_table_run *run, const kn_csv_options *csv, kn_error *err)
{
    const kn_engine   *e = &run->writer;
    const char        *path = is_engine(run) ? NULL : kn_table_run_written(run);
    const char *const *columns = csv ? csv->columns : NULL;
    int                count = csv ? csv->column_count : 0;
    if (kn_table_run_to_text(run)) return csv ? kn_table_run_put_text(to, run, csv, path, err) : KN_OK;
    if (run->target) return kn_table_writer_relation(to, run->target, err);
    if (path) return kn_columnar_relation(to, e->connection, run->all.ctx, &path, 1, columns, count, err);
    kn_engine_put_target(to, e, run->all.spec->output);
    return kn_buffer_text(to) ? KN_OK : kn_fail_memory(err, run->all.ctx, "reading the release");
}

kn_status kn_table_run_read_large(kn_table **out, kn_table_run *run, const kn_csv_options *csv, kn_error *err)
{
    kn_engine release = run->writer; /* the same connection, with a table */
    kn_buffer_init(&release.relation, run->all.ctx);
    *out = NULL;
    kn_status st = put_release(&release.relation, run, csv, err);
    if (st == KN_OK && run->carried) st = kn_table_run_without_kept(&release.relation, run, csv, err);
    if (st == KN_OK) st = kn_engine_group(out, &release, csv, err);
    kn_buffer_free(&release.relation);
    return st;
}

/* ---- Checked again ---- */

static kn_status put_original(kn_buffer *to, kn_table_run *run, kn_error *err)
{
    if (kn_table_run_from_text(run) && !run->target) return KN_OK; /* the verifier reads it by itself */
    if (!is_engine(run)) return kn_table_run_put_original(to, run, err);
    kn_buffer_add(to, run->engine.relation.data);
    return kn_buffer_text(to) ? KN_OK : kn_fail_memory(err, run->all.ctx, "reading the original");
}

kn_status kn_table_run_verify_large(kn_verify_report **out, kn_table_run *run, kn_verify_options *options,
                                    kn_error *err)
{
    kn_context *ctx = run->all.ctx;
    kn_buffer   original, release;
    kn_buffer_init(&original, ctx);
    kn_buffer_init(&release, ctx);
    *out = NULL;
    if (is_engine(run)) options->release = NULL; /* it has no form */
    kn_status st = put_original(&original, run, err);
    if (st == KN_OK) st = put_release(&release, run, NULL, err);
    kn_engine_table from = {kn_table_run_original(run), original.data, kn_path_name(ctx, run->inputs[0])};
    kn_engine_table to = {run->writer.connection, release.data, run->writer.name};
    if (st == KN_OK) st = kn_verify_where(out, ctx, &run->effective, &from, &to, options, err);
    kn_buffer_free(&original);
    kn_buffer_free(&release);
    return st;
}
