/* kn_memory_arrow.c: tables in memory as batches of an Arrow stream. Interface: kn_memory_arrow.h, kanon/memory.h.
 *
 * The batches still belong to the producer: nothing is copied, and each reader gets its own stream over them. A table
 * in memory is read as the CSV file with the same cells would be, so that a release from memory is the release from
 * that file.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_memory_arrow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory.h"

#define WHAT "keeping a table in memory"

static const char batches_kind[] = "batches";

static void end_batches(void *object)
{
    kn_batches_let_go(object);
}

kn_status kn_batches_put(kn_output *output, kn_batches *b, kn_error *err)
{
    return kn_output_hold(output, batches_kind, b, end_batches, err);
}

const kn_batches *kn_memory_batches(const kn_context *ctx, const char *name)
{
    return kn_memory_object(ctx, name, batches_kind);
}

/* ---- In ---- */

static kn_status fail_producer(kn_context *ctx, int code, const char *doing, kn_error *err)
{
    char system[128];
    if (code == ENOMEM) return kn_fail_memory(err, ctx, WHAT);
    if (strerror_r(code, system, sizeof system) != 0) snprintf(system, sizeof system, "error %d", code);
    return kn_fail(err, KN_IO, "Arrow stream: the producer failed %s: %s", doing, system);
}

static kn_status take_batches(kn_batches *b, struct ArrowArrayStream *stream, kn_error *err)
{
    if (!stream->get_schema || !stream->get_next) return kn_fail(err, KN_USAGE, "Arrow stream: it has no callbacks");
    int code = stream->get_schema(stream, &b->schema);
    if (code != 0) {
        b->schema.release = NULL; /* what a failed call left there is not ours */
        return fail_producer(b->ctx, code, "giving its schema", err);
    }
    for (;;) {
        if (kn_cancelled(b->ctx)) return kn_fail_cancelled(err);
        void *arrays = b->arrays;
        if (!kn_grow(b->ctx, &arrays, &b->capacity, b->count + 1, sizeof *b->arrays))
            return kn_fail_memory(err, b->ctx, WHAT);
        b->arrays = arrays;
        b->arrays[b->count] = (struct ArrowArray){.length = 0};
        code = stream->get_next(stream, &b->arrays[b->count]);
        if (code != 0) return fail_producer(b->ctx, code, "giving its next batch", err);
        if (!b->arrays[b->count].release) return KN_OK;
        b->count++;
    }
}

static kn_status put_batches(kn_context *ctx, const char *name, struct ArrowArrayStream *stream, kn_error *err)
{
    KN_SERVE(ctx, err);
    kn_batches *b = kn_alloc_zero(ctx, sizeof *b);
    if (b) {
        b->ctx = ctx;
        atomic_init(&b->holders, 1);
    }
    kn_status st = b ? take_batches(b, stream, err) : kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) return kn_memory_adopt_object(ctx, name, batches_kind, b, end_batches, err);
    if (b) end_batches(b);
    return st;
}

kn_status kn_memory_put_arrow(kn_context *ctx, const char *name, struct ArrowArrayStream *stream, kn_error *err)
{
    if (!stream || !stream->release) return kn_fail(err, KN_USAGE, "Arrow stream: it was already released");
    kn_status st = put_batches(ctx, name, stream, err);
    stream->release(stream);
    return st;
}

kn_status kn_memory_put_table(kn_context *ctx, const char *name, const kn_table *table, kn_error *err)
{
    struct ArrowArrayStream stream = {.release = NULL};
    kn_arrow_export_options options = KN_ARROW_EXPORT_OPTIONS_INIT;
    options.decimal_text = true;
    KN_TRY(kn_table_export_arrow(&stream, table, ctx, &options, err));
    return kn_memory_put_arrow(ctx, name, &stream, err);
}

/* ---- Out ---- */

static void nothing_to_release(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void nothing_to_end(struct ArrowArray *array)
{
    array->release = NULL;
}

static int lend_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const kn_batches_lent *l = stream->private_data;
    *out = l->batches->schema;
    out->release = nothing_to_release;
    return 0;
}

static int lend_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    kn_batches_lent *l = stream->private_data;
    *out = (struct ArrowArray){.length = 0};
    if (l->next == (l->end ? l->end : l->batches->count)) return 0;
    *out = l->batches->arrays[l->next++];
    out->release = nothing_to_end;
    return 0;
}

static void end_lending(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

struct ArrowArrayStream kn_batches_lend(kn_batches_lent *lent)
{
    return (struct ArrowArrayStream){lend_schema, lend_next, NULL, end_lending, lent};
}

kn_status kn_memory_read_table(kn_table **out, kn_context *ctx, const char *const *names, int count,
                               const kn_csv_options *options, kn_error *err)
{
    *out = NULL;
    if (count != 1)
        return kn_fail(err, KN_USAGE, "%s: one table in memory is an input by itself; put all rows into it", names[0]);
    kn_batches_lent l = {.batches = kn_memory_batches(ctx, names[0])};
    const char     *useless = kn_columnar_useless(&l.batches->schema, options);
    if (useless) return kn_fail(err, KN_USAGE, "%s: %s", names[0], useless);
    struct ArrowArrayStream stream = kn_batches_lend(&l);
    return kn_arrow_import_as_csv(out, ctx, &stream, options, NULL, err);
}

static kn_status copy_names(kn_csv_names *out, kn_context *ctx, const struct ArrowSchema *schema, kn_error *err)
{
    size_t count = (size_t)schema->n_children;
    out->delimiter = ',';
    out->names = kn_alloc_array_zero(ctx, count + 1, sizeof *out->names);
    out->unnamed = kn_alloc_array_zero(ctx, count + 1, sizeof *out->unnamed);
    if (!out->names || !out->unnamed) return kn_fail_memory(err, ctx, WHAT);
    for (size_t i = 0; i < count; i++) {
        const char *name = schema->children[i] ? schema->children[i]->name : NULL;
        char        by_place[32];
        snprintf(by_place, sizeof by_place, "c%zu", i + 1);
        out->unnamed[i] = !name || !*name;
        if (out->unnamed[i]) name = by_place;
        out->names[i] = kn_strndup(ctx, name, strlen(name));
        if (!out->names[i]) return kn_fail_memory(err, ctx, WHAT);
        out->count++;
    }
    return KN_OK;
}

kn_status kn_memory_read_names(kn_csv_names *out, kn_context *ctx, const char *name, const kn_csv_options *options,
                               kn_error *err)
{
    const kn_batches         *batches = kn_memory_batches(ctx, name);
    const struct ArrowSchema *schema = &batches->schema;
    const char               *useless = kn_columnar_useless(schema, options);
    *out = (kn_csv_names){0};
    if (useless) return kn_fail(err, KN_USAGE, "%s: %s", name, useless);
    if (!schema->format || strcmp(schema->format, "+s") != 0 || schema->n_children < 1 || !schema->children)
        return kn_fail(err, KN_INPUT, "%s: not a stream of tables (a struct of columns)", name);
    kn_status st = copy_names(out, ctx, schema, err);
    if (st != KN_OK) kn_csv_names_free(out);
    return st;
}

kn_status kn_memory_get_arrow(struct ArrowArrayStream *out, kn_context *ctx, const char *name,
                              const kn_arrow_export_options *options, kn_error *err)
{
    kn_table *table = NULL;
    out->release = NULL;
    KN_SERVE(ctx, err);
    if (!kn_memory_there(ctx, name))
        return kn_fail(err, KN_INPUT, "%.200s: there is nothing of this name in memory", name);
    kn_batches *batches = kn_memory_object(ctx, name, batches_kind);
    if (batches && !options) return kn_batches_share(out, ctx, batches, err);
    KN_TRY(kn_table_read_csv(&table, ctx, name, NULL, err));
    kn_status st = kn_table_export_arrow(out, table, ctx, options, err);
    kn_table_free(table); /* the stream holds a reference */
    return st;
}
