/* kn_cells.c: sources of tables by their names. Interface: kn_cells.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_cells.h"

#include <string.h>
#include <sys/stat.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_folder.h"
#include "kn_names.h"
#include "kn_parts.h"
#include "kn_postgres.h"
#include "kn_sqlite.h"
#include "kn_table_name.h"

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

kn_database_kind kn_database_kind_of(const char *name)
{
    size_t size = strlen(name);
    if (kn_table_kind_of(name) != KN_TABLE_TEXT) return KN_DATABASE_NONE; /* one table of it */
    if (kn_name_sqlite(name)) return KN_DATABASE_SQLITE;
    if (kn_name_server(name)) return KN_DATABASE_POSTGRES;
    bool folder = (size > 0 && name[size - 1] == '/') || is_folder(name);
    return folder && !kn_parts_folder(name) ? KN_DATABASE_FOLDER : KN_DATABASE_NONE;
}

static kn_status open_sqlite(kn_cells **out, kn_context *ctx, const char *name, kn_error *err)
{
    kn_string file = kn_table_file(name);
    char     *path = kn_strndup(ctx, file.data, file.size);
    kn_status status = path ? kn_sqlite_cells(out, ctx, path, err) : kn_fail_memory(err, ctx, "opening a database");
    kn_free(path);
    return status;
}

kn_status kn_cells_open(kn_cells **out, kn_context *ctx, const char *name, const char *snapshot, kn_error *err)
{
    *out = NULL;
    kn_database_kind kind = kn_database_kind_of(name);
    if (snapshot && kind != KN_DATABASE_POSTGRES && kind != KN_DATABASE_NONE)
        return kn_fail(err, KN_USAGE, "%s: only a PostgreSQL server has snapshots; leave the snapshot out", name);
    switch (kind) {
    case KN_DATABASE_SQLITE: return open_sqlite(out, ctx, name, err);
    case KN_DATABASE_POSTGRES: return kn_postgres_cells(out, ctx, name, snapshot, err);
    case KN_DATABASE_FOLDER: return kn_folder_cells(out, ctx, name, err);
    case KN_DATABASE_NONE: break;
    }
    return kn_fail(err, KN_USAGE, "%s: not a database: sqlite:FILE, postgresql://... or FOLDER/", name);
}

void kn_cells_close(kn_cells *cells)
{
    if (cells) cells->close(cells->state);
}
