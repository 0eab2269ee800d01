/* kn_sqlite_without.c: in the place of kn_sqlite_*.c where kanon is built without SQLite. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_error.h"
#include "kn_sqlite.h"
#include "kn_table_write.h"

static kn_status without(const char *path, kn_error *err)
{
    return kn_fail(err, KN_USAGE, "%s: kanon was built without SQLite", path);
}

kn_status kn_sqlite_cells(kn_cells **out, kn_context *ctx, const char *path, kn_error *err)
{
    (void)ctx;
    *out = NULL;
    return without(path, err);
}

kn_status kn_sqlite_sink(kn_database_sink *out, kn_context *ctx, const char *path, kn_error *err)
{
    (void)out;
    (void)ctx;
    return without(path, err);
}

kn_status kn_sqlite_stream(kn_table_stream *out, kn_context *ctx, const char *name, kn_error *err)
{
    (void)out;
    (void)ctx;
    return without(name, err);
}

kn_status kn_sqlite_table_sink(kn_database_sink *out, kn_table_opener *opener, kn_context *ctx, const char *name,
                               const kn_table_target *wanted, kn_error *err)
{
    (void)out;
    (void)opener;
    (void)ctx;
    (void)wanted;
    return without(name, err);
}

kn_status kn_sqlite_committed(bool *out, kn_context *ctx, const char *name, uint64_t schema, kn_error *err)
{
    (void)out;
    (void)ctx;
    (void)schema;
    return without(name, err);
}
