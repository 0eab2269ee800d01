/* kn_database_write.h: writing a database with the schema of another: new keys, rows in the order of what they show,
 * all or nothing.
 *
 *     kn_database_writer_open(&w, ctx, "sqlite:release.db", NULL, err);
 *     kn_database_writer_write(w, &rows, err);
 *     kn_database_writer_read(&back, w, &options, err);      // what was written, to be verified
 *     kn_database_writer_commit(w, err);                     // or kn_database_writer_abort(w): either ends the writer
 *
 * Key columns (primary, foreign, and those that others refer to) and columns with a role other than identifier are
 * written. Key cells hold new numbers from a random permutation of 1 .. rows, the same wherever the key occurs; no
 * gap shows a deleted row. The type of a quasi-identifier becomes text, since it may show a group; other types stay.
 *
 * A writer is used by one thread at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_DATABASE_WRITE_H
#define KN_DATABASE_WRITE_H

#include "kn_cells.h"
#include "kn_database.h"

typedef enum kn_database_kind {
    KN_DATABASE_NONE = 0,
    KN_DATABASE_SQLITE,
    KN_DATABASE_POSTGRES,
    KN_DATABASE_FOLDER
} kn_database_kind;

kn_database_kind kn_database_kind_of(const char *name);

/* ---- What to write ---- */

/* The text of a cell of a released row; false: it is missing. Only called for columns that are written and are not
 * keys; behind the table's columns, in their order, are those of their labels. The text must be valid during the write. Called from several threads. */
typedef bool (*kn_release_cell_fn)(const void *arg, int table, int column, int64_t row, kn_string *out);

/* The cells of these rows will be asked for next: a hint to the processor's memory. */
typedef void (*kn_release_fetch_fn)(const void *arg, int table, const int64_t *rows, int count);

/* The released rows of one table, in any order that does not reveal the original's (they are numbered 0 .. rows - 1). */
typedef struct kn_release_rows {
    int64_t         rows;
    const uint32_t *parent; /* the released row of the parent table that each refers to; NULL: the table of persons,
                               or one without a link */
} kn_release_rows;

typedef struct kn_database_rows {
    const kn_database     *db;     /* the schema; chosen and with roles               */
    const kn_release_rows *tables; /* one per table of db                             */
    kn_release_cell_fn     cell;
    const void            *arg;
    uint64_t               seed; /* of the new keys: whoever knows it can undo them   */
    kn_release_fetch_fn    fetch; /* NULL: nothing to fetch                            */
} kn_database_rows;

/* Is this column written? */
bool kn_database_released(const kn_database_column *column);

/* The new keys: new_key[t][row] is the number of a released row, 1 .. rows. The key map is the caller's to keep private. */
typedef struct kn_key_map {
    kn_context *ctx;
    int         table_count;
    uint32_t  **new_key;
} kn_key_map;

KN_CHECK kn_status kn_key_map_draw(kn_key_map *out, kn_context *ctx, const kn_database_rows *rows, kn_error *err);
void               kn_key_map_free(kn_key_map *map);

/* ---- Where to ---- */

typedef struct kn_database_writer kn_database_writer;

/* Opens a target: "sqlite:FILE" (replaced), "FOLDER/" (must not exist, or be empty) or "postgresql://.../db#SCHEMA" (a
 * new schema; `schema`, if not NULL, replaces the fragment). KN_IO: it cannot be written. */
KN_CHECK kn_status kn_database_writer_open(kn_database_writer **out, kn_context *ctx, const char *target,
                                           const char *schema, kn_error *err);

/* Cells that a spreadsheet would execute get an apostrophe (kn_csv_guarded_cell). false: not CSV. To be called before
 * anything is written. */
bool kn_database_writer_guard(kn_database_writer *writer);

/* Writes everything. Once. */
KN_CHECK kn_status kn_database_writer_write(kn_database_writer *writer, const kn_database_rows *rows, kn_error *err);

/* The same with keys that were drawn before. */
KN_CHECK kn_status kn_database_writer_write_keys(kn_database_writer *writer, const kn_database_rows *rows,
                                                 const kn_key_map *keys, kn_error *err);

/* Reads back what was written and is not yet committed. `unread` may be NULL. */
KN_CHECK kn_status kn_database_writer_read(kn_database **out, kn_database_writer *writer,
                                           const kn_database_options *options, const kn_database_unread *unread,
                                           kn_error *err);

/* The same as texts, for other readers. To be closed before the writer ends. */
KN_CHECK kn_status kn_database_writer_cells(kn_cells **out, kn_database_writer *writer, kn_error *err);

/* A folder's temporary place, where other files may be put before the commit; NULL for other targets. */
const char *kn_database_writer_folder(const kn_database_writer *writer);

/* A file's temporary name, where the target is one; complete once everything is written. NULL for other targets. */
const char *kn_database_writer_file(const kn_database_writer *writer);

/* For a commit of several files at once (kn_set.h). */
typedef struct kn_database_place {
    const char *temporary, *target; /* of a file or folder, kept by the writer; NULL: a server's                   */
    unsigned    mode;               /* that it gets with its name                                                */
    uint64_t    schema;             /* of a server or a SQLite file: the number of what is new, which is not visible to others yet */
} kn_database_place;

/* Syncs everything and says where it is. */
KN_CHECK kn_status kn_database_writer_sync(kn_database_writer *writer, kn_database_place *out, kn_error *err);

/* Ends the writer and leaves the file or folder to the caller, who gives it its name. */
void kn_database_writer_detach(kn_database_writer *writer);

/* Was this schema committed? `target` as for kn_database_writer_open: a server's. */
KN_CHECK kn_status kn_database_committed(bool *out, kn_context *ctx, const char *target, uint64_t schema, kn_error *err);

/* Makes it visible, all at once. Ends the writer, even on failure: nothing is left then. */
KN_CHECK kn_status kn_database_writer_commit(kn_database_writer *writer, kn_error *err);
void               kn_database_writer_abort(kn_database_writer *writer); /* NULL is fine */

/* ---- The inside: one sink per kind of target ---- */

/* A column of a table that is being written. */
typedef struct kn_sink_column {
    const char *name;
    const char *type; /* declared, or NULL */
    bool        key;  /* of any kind: its cells are numbers */
    bool        primary;
    bool        not_null;
} kn_sink_column;

/* A foreign key: columns (indexes into `columns`), and the table and its columns that they refer to. */
typedef struct kn_sink_link {
    int                count;
    const int         *columns;
    const char        *target;
    const char *const *target_columns;
} kn_sink_link;

typedef struct kn_sink_table {
    const char           *name;
    int                   column_count;
    const kn_sink_column *columns;
    int                   primary_count; /* of columns: indexes into `columns`  */
    const int            *primary;
    int                   unique_count; /* sets that other tables refer to, besides the primary key */
    const int           **unique;       /* each `unique_sizes` long                            */
    const int            *unique_sizes;
    kn_sink_link          link;       /* to the parent; count 0: none                          */
    int                   further_count; /* links to or between references                     */
    const kn_sink_link   *further;
} kn_sink_table;

typedef struct kn_database_sink {
    void       *state;
    const char *folder; /* see kn_database_writer_folder */
    kn_status (*table)(void *state, const kn_sink_table *table, kn_error *err); /* begins a table         */
    kn_status (*row)(void *state, const kn_string *cells, kn_error *err);       /* data NULL: missing     */
    kn_status (*table_end)(void *state, kn_error *err);
    kn_status (*finish)(void *state, kn_error *err); /* makes all tables readable; NULL: they are          */
    kn_status (*cells)(void *state, kn_cells **out, kn_error *err);
    kn_status (*commit)(void *state, kn_error *err); /* frees the state, even on failure                   */
    void (*abort)(void *state);
    const char *file; /* see kn_database_writer_file */
    bool       *guarded; /* CSV: see kn_database_writer_guard; NULL elsewhere */
    kn_status (*sync)(void *state, kn_database_place *out, kn_error *err);
    void (*detach)(void *state);
    /* Several rows, one behind the other: faster than one by one; NULL: it is not. `numbers` of the cells, as `numeric` says,
     * or NULL: the sink looks for them itself. */
    kn_status (*rows)(void *state, const kn_string *cells, const kn_plain *numbers, int64_t count, kn_error *err);
    /* Per column of the table that was begun: `rows` takes what is plainly a number as one (kn_plain_of), and does not look at
     * its text. NULL: no column does. */
    const bool *(*numeric)(void *state);
} kn_database_sink;

/* So many rows of so many cells to a sink; `numbers` as above. */
KN_CHECK kn_status kn_sink_rows(const kn_database_sink *sink, const kn_string *cells, const kn_plain *numbers, int columns,
                                int64_t count, kn_error *err);

/* A writer of what goes to a sink; the sink is the caller's after a failure. */
KN_CHECK kn_status kn_database_writer_around(kn_database_writer **out, kn_context *ctx, const kn_database_sink *sink,
                                             kn_error *err);

#endif
