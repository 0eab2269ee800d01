/* kn_engine_server.c: a table of a PostgreSQL server as one that stays where it is. Interface: kn_engine.h.
 *
 * Where the release is written to the same database, it is read by the connection that writes: original and release are then seen in
 * one transaction, and can be compared there.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_context.h"
#include "kn_engine.h"
#include "kn_error.h"
#include "kn_server.h"

kn_status kn_engine_open_server(kn_engine *out, kn_context *ctx, const char *name, const kn_connection *lent,
                                const char *const *columns, int column_count, kn_error *err)
{
    *out = (kn_engine){.ctx = ctx, .name = kn_path_name(ctx, name), .connection = lent, .claim = -1};
    kn_buffer_init(&out->relation, ctx);
    kn_status st = lent ? KN_OK : kn_server_open(&out->own, ctx, name, err);
    if (!lent) out->connection = &out->own;
    if (st == KN_OK) st = kn_server_relation(&out->relation, out->connection, ctx, name, columns, column_count, err);
    if (st != KN_OK) kn_engine_close(out);
    return st;
}
