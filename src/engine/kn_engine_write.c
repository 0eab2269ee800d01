/* kn_engine_write.c: a release out of counted rows, written here or by the program's engine. Interface: kn_engine.h.
 *
 * The distinct combinations of all released columns with their counts, in their order, are the whole release.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_engine.h"
#include "kn_error.h"
#include "kn_parquet.h"

#define WHAT "writing the release"

enum { COUNTS = KN_ENGINE_COUNTS };

kn_status kn_engine_write(kn_engine *e, const kn_batches *batches, const char *path, const char *name, bool parts,
                          kn_error *err)
{
    return kn_parquet_write(e->ctx, batches, true, path, parts, name, err);
}

/* ---- By the program's engine ---- */

#define ENTRIES "kanon_release"

static const char *target_of(const char *name)
{
    return strchr(name, '#') + 1;
}

kn_status kn_engine_write_there(kn_engine *e, const kn_batches *batches, const char *name, kn_error *err)
{
    kn_batches_lent         lent = {.batches = batches};
    struct ArrowArrayStream stream = kn_batches_lend(&lent);
    const int64_t          *counts = batches->columns[batches->column_count - COUNTS].data;
    int64_t                 rows = 0;
    kn_buffer               sql;
    for (size_t b = 0, i = 0; b < batches->count; b++)
        for (int64_t j = 0; j < batches->arrays[b].length; j++) rows += counts[i++];
    KN_TRY(kn_connection_put(e->connection, e->ctx, ENTRIES, &stream, name, err));
    kn_buffer_init(&sql, e->ctx);
    kn_buffer_add(&sql, "INSERT OVERWRITE DIRECTORY ");
    kn_connection_put_text(&sql, e->connection, target_of(name));
    kn_engine_put_spark(&sql, e->connection, batches, ENTRIES, rows);
    const char *text = kn_buffer_text(&sql);
    kn_status st = text ? kn_connection_run(e->connection, e->ctx, text, name, err) : kn_fail_memory(err, e->ctx, WHAT);
    kn_buffer_free(&sql);
    return st;
}

void kn_engine_put_target(kn_buffer *to, const kn_engine *e, const char *name)
{
    kn_connection_put_target(to, e->connection, target_of(name));
}
