/* kn_generate_files.c: the public functions of kanon/generate.h: the generator's chunks go to a file or into a table.
 *
 * The file: chunks are made in parallel and written in order; memory is a few chunks per thread. The table: each worker
 * interns its chunks' cells, batch by batch, and the builder joins the dictionaries at the end.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/generate.h>

#include "kn_alloc.h"
#include "kn_builder.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_generate.h"
#include "kn_output.h"
#include "kn_parallel.h"

enum { CHUNKS_PER_THREAD = 4 };

/* ---- CSV ---- */

typedef struct csv_job {
    kn_context         *ctx;
    const kn_generator *generator;
} csv_job;

static kn_status make_chunk(void *arg, int64_t chunk, kn_buffer *to, kn_error *err)
{
    csv_job *job = arg;
    KN_TRY(kn_generator_chunk(job->generator, chunk, to, err));
    kn_progress_add(job->ctx, (uint64_t)kn_generator_chunk_rows(job->generator, chunk));
    return KN_OK;
}

static kn_status write_table(csv_job *job, kn_output *output, int64_t rows, kn_error *err)
{
    kn_buffer header;
    kn_buffer_init(&header, job->ctx);
    kn_status st = kn_generator_header(job->generator, &header, err);
    if (st == KN_OK) kn_output_write(output, header.data, header.size);
    kn_buffer_free(&header);
    if (st != KN_OK) return st;
    kn_progress_begin(job->ctx, "generating", "rows", (uint64_t)rows);
    st = kn_output_pieces(output, kn_generator_chunks(job->generator), make_chunk, job, err);
    kn_progress_end(job->ctx);
    return st;
}

kn_status kn_generate_csv(kn_context *ctx, const char *path, const kn_generate_options *options, kn_error *err)
{
    KN_SERVE(ctx, err);
    kn_generator *generator = NULL;
    KN_TRY(kn_generator_create(&generator, ctx, options, err));
    kn_output *output = NULL;
    kn_status  st = kn_output_open(&output, ctx, path, NULL, err);
    if (st == KN_OK) {
        csv_job job = {ctx, generator};
        st = kn_output_finish(output, write_table(&job, output, options->rows, err), err);
    }
    kn_generator_free(generator);
    return st;
}

/* ---- A table in memory ---- */

typedef struct table_job {
    kn_context         *ctx;
    const kn_generator *generator;
    kn_builder         *builder;
    int                 columns;
    int64_t             first; /* chunk of the batch under way */
    uint32_t          **ids;   /* per chunk of the batch       */
    int                *slots; /* who made it                  */
    int64_t            *rows;  /* where its rows begin         */
} table_job;

static kn_status intern_chunks(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    table_job *job = arg;
    for (int64_t i = begin; i < end; i++) {
        KN_TRY(kn_generator_intern(job->generator, job->first + i, job->builder, worker, job->ids[i], err));
        job->slots[i] = worker;
        kn_progress_add(job->ctx, (uint64_t)kn_generator_chunk_rows(job->generator, job->first + i));
    }
    return KN_OK;
}

static kn_status store_chunks(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    table_job *job = arg;
    for (int64_t i = begin; i < end; i++) {
        int64_t rows = kn_generator_chunk_rows(job->generator, job->first + i);
        for (int c = 0; c < job->columns; c++)
            kn_builder_write(job->builder, c, job->rows[i], job->ids[i] + c * rows, rows);
    }
    return KN_OK;
}

static kn_status build_batches(table_job *job, int64_t batch, kn_error *err)
{
    int64_t chunks = kn_generator_chunks(job->generator);
    for (job->first = 0; job->first < chunks; job->first += batch) {
        int64_t n = chunks - job->first < batch ? chunks - job->first : batch;
        KN_TRY(kn_parallel_for(job->ctx, n, 1, intern_chunks, job, err));
        for (int64_t i = 0; i < n; i++) {
            int64_t rows = kn_generator_chunk_rows(job->generator, job->first + i);
            KN_TRY(kn_builder_extend(job->builder, rows, job->slots[i], &job->rows[i], err));
        }
        KN_TRY(kn_parallel_for(job->ctx, n, 1, store_chunks, job, err));
    }
    return KN_OK;
}

static kn_status build_rows(table_job *job, int64_t total, kn_error *err)
{
    int64_t batch = (int64_t)kn_context_threads(job->ctx) * CHUNKS_PER_THREAD;
    int64_t chunks = kn_generator_chunks(job->generator);
    if (batch > chunks) batch = chunks > 0 ? chunks : 1;
    size_t count = (size_t)batch;
    size_t ids = chunks > 0 ? (size_t)kn_generator_chunk_rows(job->generator, 0) * (size_t)job->columns : 0;
    job->ids = kn_alloc_array_zero(job->ctx, count, sizeof *job->ids);
    job->slots = kn_alloc_array(job->ctx, count, sizeof *job->slots);
    job->rows = kn_alloc_array(job->ctx, count, sizeof *job->rows);
    bool ok = job->ids && job->slots && job->rows;
    for (size_t i = 0; ok && i < count; i++)
        ok = (job->ids[i] = kn_alloc_array(job->ctx, ids, sizeof **job->ids)) != NULL;

    kn_status st = KN_OK;
    if (ok) {
        kn_progress_begin(job->ctx, "generating", "rows", (uint64_t)total);
        st = build_batches(job, batch, err);
        kn_progress_end(job->ctx);
    } else {
        st = kn_fail_memory(err, job->ctx, "generating a table");
    }
    for (size_t i = 0; job->ids && i < count; i++) kn_free(job->ids[i]);
    KN_FREE(job->ids, job->slots, job->rows);
    return st;
}

/* Makes a builder with the generator's columns and one slot per worker. */
static kn_status create_builder(table_job *job, kn_error *err)
{
    char(*texts)[32] = kn_alloc_array(job->ctx, (size_t)job->columns, sizeof *texts);
    kn_string *names = kn_alloc_array(job->ctx, (size_t)job->columns, sizeof *names);
    kn_status  st = KN_OK;
    if (texts && names) {
        for (int c = 0; c < job->columns; c++) {
            names[c].data = texts[c];
            names[c].size = kn_generator_column_name(job->generator, c, texts[c]);
        }
        st = kn_builder_create(&job->builder, job->ctx, names, job->columns, kn_context_threads(job->ctx), err);
    } else {
        st = kn_fail_memory(err, job->ctx, "generating a table");
    }
    KN_FREE(texts, names);
    return st;
}

kn_status kn_generate_table(kn_table **out, kn_context *ctx, const kn_generate_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    kn_generator *generator = NULL;
    KN_TRY(kn_generator_create(&generator, ctx, options, err));
    table_job job = {.ctx = ctx, .generator = generator, .columns = kn_generator_columns(generator)};
    kn_status st = create_builder(&job, err);
    if (st == KN_OK) {
        st = build_rows(&job, options->rows, err);
        if (st == KN_OK) {
            kn_value_rules rules = {.decimal = '.', .timezone = NULL};
            st = kn_builder_finish(out, job.builder, NULL, &rules, err);
        } else {
            kn_builder_free(job.builder);
        }
    }
    kn_generator_free(generator);
    return st;
}
