/* sql/parts_write.c: a release in parts: a folder of Parquet files. Interface: kn_parts.h.
 *
 * The folder is that of a database in CSV files (kn_folder_write.c), with other files in it; its certificate is beside it,
 * as that of a file is, since whoever reads a folder of parts may take every file in it for one.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_folder.h"
#include "kn_parts.h"

typedef struct parts_sink {
    kn_context      *ctx;
    kn_database_sink folder;
    kn_output       *output;
    kn_alias         alias; /* of the temporary folder, for messages */
} parts_sink;

static void end(parts_sink *s)
{
    if (s->alias.path) kn_alias_remove(s->ctx, &s->alias);
    kn_output_abort(s->output);
    kn_free((void *)(uintptr_t)s->alias.name);
    kn_free((void *)(uintptr_t)s->alias.path);
    kn_free(s);
}

static void sink_abort(void *state)
{
    parts_sink *s = state;
    s->folder.abort(s->folder.state);
    end(s);
}

static kn_status sink_commit(void *state, kn_error *err)
{
    parts_sink *s = state;
    kn_status   status = s->folder.commit(s->folder.state, err);
    end(s);
    return status;
}

static kn_status sink_sync(void *state, kn_database_place *out, kn_error *err)
{
    const parts_sink *s = state;
    return s->folder.sync(s->folder.state, out, err);
}

static void sink_detach(void *state)
{
    parts_sink *s = state;
    s->folder.detach(s->folder.state);
    end(s);
}

static kn_status refuse_bytes(void *state, const char *data, size_t size, kn_error *err)
{
    (void)state;
    (void)data;
    (void)size;
    return kn_fail(err, KN_INTERNAL, "a mistake in kanon: a folder of parts is not written as bytes");
}

static kn_status open_output(parts_sink *s, const char *name, kn_error *err)
{
    kn_alias alias = {.path = kn_strndup(s->ctx, s->folder.folder, strlen(s->folder.folder)),
                      .name = kn_strndup(s->ctx, name, strlen(name))};
    if (!alias.path || !alias.name) {
        kn_free((void *)(uintptr_t)alias.path);
        kn_free((void *)(uintptr_t)alias.name);
        return kn_fail_memory(err, s->ctx, "opening the output");
    }
    s->alias = alias;
    kn_alias_add(s->ctx, &s->alias);
    return kn_output_open_consumer(&s->output, s->ctx, alias.path, (kn_output_consumer){s, refuse_bytes}, err);
}

kn_status kn_parts_writer_open(kn_output **out, kn_database_writer **writer, kn_context *ctx, const char *name,
                               kn_error *err)
{
    parts_sink *s = kn_alloc_zero(ctx, sizeof *s);
    *out = NULL;
    *writer = NULL;
    if (!s) return kn_fail_memory(err, ctx, "opening the output");
    s->ctx = ctx;
    kn_status status = kn_folder_sink(&s->folder, ctx, name, err);
    if (status != KN_OK) {
        end(s);
        return status;
    }
    kn_database_sink own = {
        .state = s, .commit = sink_commit, .abort = sink_abort, .sync = sink_sync, .detach = sink_detach};
    status = open_output(s, name, err);
    if (status == KN_OK) status = kn_database_writer_around(writer, ctx, &own, err);
    if (status == KN_OK)
        *out = s->output;
    else
        sink_abort(s);
    return status;
}
