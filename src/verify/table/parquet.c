/* table/parquet.c: does a Parquet file contain only its cells?
 *
 * Like the form of a CSV file (table/form.c): what stands beside the cells could mark a row or hold anything. So there may
 * be no metadata of pairs, and all groups of rows but the last have the same size, over all parts in the order of their names.
 * Checked by statements of the verifier's own over the file's footer.
 *
 * A folder of parts contains these alone: part-00000.parquet and so on without a gap, all but the last with the same number
 * of rows. Whatever else is there, or another name, could say anything.
 *
 * Cost: the footers are read, nothing of the rows; the digest reads the bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_duckdb.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_sha256.h"
#include "kn_verify_internal.h"

static const char pairs[] = "SELECT count(*) FROM parquet_kv_metadata(";
static const char groups[] = ") AS m), n AS (SELECT rows, row_number() OVER (ORDER BY file, id) AS nr FROM g), "
                             "s AS (SELECT max(rows) FILTER (WHERE nr = 1) AS first, max(nr) AS last FROM n) "
                             "SELECT count(*) FROM n, s WHERE n.rows > s.first OR (n.rows < s.first AND n.nr < s.last)";

/* One number that a query gives. */
static kn_status ask(int64_t *out, kn_duckdb *db, const char *before, const char *path, const char *behind,
                     kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, db->ctx);
    kn_buffer_add(&sql, before);
    kn_columnar_put_path(&sql, db->ctx, path);
    kn_buffer_add(&sql, behind);
    const char *text = kn_buffer_text(&sql);
    kn_status   st = text ? kn_duckdb_number(out, db, text, kn_path_name(db->ctx, path), err)
                          : kn_fail_memory(err, db->ctx, "verifying");
    kn_buffer_free(&sql);
    return st;
}

/* ---- A folder of parts ---- */

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The path of a part; false: it is not a file, or the path is too long. */
static bool part_path(char out[static PATH_MAX], const char *folder, int64_t number)
{
    struct stat info;
    size_t      size = strlen(folder);
    while (size > 1 && folder[size - 1] == '/') size--;
    int made = snprintf(out, PATH_MAX, "%.*s/part-%05lld.parquet", (int)size, folder, (long long)number);
    return made > 0 && made < PATH_MAX && lstat(out, &info) == 0 && S_ISREG(info.st_mode);
}

/* Is there anything but parts without a gap? */
static bool holds_others(const char *folder)
{
    char    path[PATH_MAX];
    int64_t parts = 0, entries = 0;
    DIR    *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        entries += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (dir) closedir(dir);
    while (part_path(path, folder, parts)) parts++;
    return parts == 0 || parts != entries;
}

static bool add_file(kn_sha256 *state, const char *path)
{
    unsigned char buffer[1 << 14];
    FILE         *file = fopen(path, "rb");
    for (size_t got; file && (got = fread(buffer, 1, sizeof buffer, file)) > 0;) kn_sha256_add(state, buffer, got);
    bool good = file && !ferror(file);
    if (file) fclose(file);
    return good;
}

void kn_vdigest_file(const char *path, char out[65])
{
    char      part[PATH_MAX];
    kn_sha256 state;
    bool      folder = is_folder(path), good = true;
    kn_sha256_begin(&state);
    if (!folder) good = add_file(&state, path);
    for (int64_t i = 0; folder && good && (i == 0 || part_path(part, path, i)); i++)
        good = part_path(part, path, i) && add_file(&state, part);
    if (good) kn_sha256_text(&state, out);
}

static kn_status look(kn_vtable *t, kn_duckdb *db, const char *path, kn_error *err)
{
    int64_t count = 0, uneven = 0;
    KN_TRY(ask(&count, db, pairs, path, ")", err));
    if (count > 0) t->form.wrapped = "metadata";
    KN_TRY(ask(&uneven, db,
               "WITH g AS (SELECT DISTINCT file_name AS file, row_group_id AS id, row_group_num_rows AS rows FROM "
               "parquet_metadata(",
               path, groups, err));
    if (is_folder(kn_memory_path(t->ctx, path))) {
        t->form.others = holds_others(kn_memory_path(t->ctx, path));
        KN_TRY(ask(&count, db,
                   "WITH g AS (SELECT file_name AS file, 0 AS id, num_rows AS rows FROM parquet_file_metadata(", path,
                   groups, err));
        uneven += count;
    }
    t->form.uneven = uneven > 0;
    return KN_OK;
}

kn_status kn_vtable_look_parquet(kn_vtable *t, const char *path, kn_error *err)
{
    kn_duckdb *db = NULL;
    KN_TRY(kn_duckdb_open(&db, t->ctx, NULL, kn_path_name(t->ctx, path), err));
    kn_status st = look(t, db, path, err);
    kn_duckdb_close(db);
    return st;
}
