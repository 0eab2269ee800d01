/* table/parquet.c: does a Parquet file contain only its cells?
 *
 * Like the form of a CSV file (table/form.c): what stands beside the cells could mark a row or hold anything. So there may
 * be no metadata of pairs, and all groups of rows but the last have the same size, over all parts in the order of their names. Checked by statements of the verifier's
 * own over the file's footer.
 *
 * Cost: the footer is read; nothing of the rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_duckdb.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

static const char pairs[] = "SELECT count(*) FROM parquet_kv_metadata(";
static const char groups[] = ") AS m), n AS (SELECT rows, row_number() OVER (ORDER BY file, id) AS nr FROM g), "
                             "s AS (SELECT max(rows) FILTER (WHERE nr = 1) AS first, max(nr) AS last FROM n) "
                             "SELECT count(*) FROM n, s WHERE n.rows > s.first OR (n.rows < s.first AND n.nr < s.last)";

/* One number that a query gives. */
static kn_status ask(int64_t *out, kn_context *ctx, const char *before, const char *path, const char *behind,
                     kn_error *err)
{
    kn_duckdb *db = NULL;
    kn_buffer  sql;
    kn_buffer_init(&sql, ctx);
    kn_buffer_add(&sql, before);
    kn_columnar_put_path(&sql, ctx, path);
    kn_buffer_add(&sql, behind);
    const char *text = kn_buffer_text(&sql);
    kn_status   st =
        text ? kn_duckdb_open(&db, ctx, NULL, kn_path_name(ctx, path), err) : kn_fail_memory(err, ctx, "verifying");
    if (st == KN_OK) st = kn_duckdb_number(out, db, text, kn_path_name(ctx, path), err);
    kn_duckdb_close(db);
    kn_buffer_free(&sql);
    return st;
}

kn_status kn_vtable_look_parquet(kn_vtable *t, const char *path, kn_error *err)
{
    int64_t count = 0;
    KN_TRY(ask(&count, t->ctx, pairs, path, ")", err));
    if (count > 0) t->form.wrapped = "metadata";
    KN_TRY(ask(&count, t->ctx,
               "WITH g AS (SELECT DISTINCT file_name AS file, row_group_id AS id, row_group_num_rows AS rows FROM "
               "parquet_metadata(",
               path, groups, err));
    t->form.uneven = count > 0;
    return KN_OK;
}
