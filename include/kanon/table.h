/* kanon/table.h: immutable, dictionary-encoded tables.
 *
 * A column holds one small integer code per row and a dictionary of its distinct values in their own order: numbers by
 * value, dates by time, text by bytes. Code c < kn_table_distinct() stands for the c-th value; the code equal to
 * kn_table_distinct() stands for a missing cell. A table never changes once built and may be read by any thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_TABLE_H
#define KANON_TABLE_H

#include <kanon/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kn_table kn_table;

typedef enum kn_type {
    KN_TYPE_AUTO = 0, /* inferred from the distinct values */
    KN_TYPE_TEXT,
    KN_TYPE_INTEGER,
    KN_TYPE_DECIMAL,
    KN_TYPE_DATE,
    KN_TYPE_DATETIME
} kn_type;

/* "text", "integer", ... Static. */
KN_API const char *kn_type_name(kn_type type);

/* Reads a type's name; false if there is no such type. */
KN_API bool kn_type_parse(const char *name, kn_type *out);

typedef enum kn_encoding { KN_ENCODING_UTF8 = 0, KN_ENCODING_WINDOWS_1252, KN_ENCODING_LATIN_1 } kn_encoding;

/* Reads an encoding's name, large or small: "utf-8", "windows-1252" (cp1252), "latin-1" (iso-8859-1); false if there is no
 * such encoding. */
KN_API bool kn_encoding_parse(const char *name, kn_encoding *out);

/* The type of one column, as given by the user. `format` is for dates: a strptime-like pattern, or NULL (see
 * docs/types.md). */
typedef struct kn_column_type {
    const char *column;
    kn_type     type;
    const char *format;
} kn_column_type;

typedef struct kn_csv_options {
    size_t                size;      /* sizeof(kn_csv_options), set by the initializer                     */
    char                  delimiter; /* 0: sniffed                                                          */
    bool                  no_header; /* columns are then named c1, c2, ...                                  */
    kn_encoding           encoding;
    char                  decimal;         /* '.' or ','                                                    */
    const char           *timezone;        /* of times that carry none; NULL: UTC                           */
    const char *const    *na;              /* spellings of a missing cell; NULL: the usual ones             */
    int                   na_count;        /* with `na` given: how many (0: no cell is ever missing)        */
    const kn_column_type *types;           /* overrides; all other columns are inferred                     */
    int                   type_count;
    const char *const    *columns;         /* read only these; NULL: all (the others are still checked)     */
    int                   column_count;
    bool                  guarded;         /* as spreadsheet-safe wrote it: the apostrophe before what a spreadsheet
                                              would execute is removed */
    const char           *count;           /* the column that says how many equal rows each row stands for; it is no
                                            * column of the table then. NULL: each row is one               */
    bool                  grouped;         /* rows that are equal in `columns` may come as one that stands for them all,
                                            * in any order, where DuckDB reads the table and that is less work: for
                                            * questions about numbers of rows                               */
} kn_csv_options;

#define KN_CSV_OPTIONS_INIT {sizeof(kn_csv_options), 0, false, KN_ENCODING_UTF8, '.', NULL, NULL, 0, NULL, 0, NULL, 0, false, NULL, false}
KN_API void kn_csv_options_init(kn_csv_options *options, size_t size);

/* The spellings of a missing cell that are used when none are given; NULL-terminated, the empty cell first. */
KN_API const char *const *kn_default_na(void);

/* Reads one CSV file; "-" is standard input; gzip and zstd are recognized by their first bytes. Or a table elsewhere by its name, as
 * the CSV file that its rows would make: "postgresql://...#schema.table", "sqlite:FILE#table", either with "?query=SELECT ...", a
 * sheet "FILE.xlsx#Sheet", a file of SPSS, Stata or SAS (docs/tables.md). */
KN_API KN_CHECK kn_status kn_table_read_csv(kn_table **out, kn_context *ctx, const char *path,
                                            const kn_csv_options *options, kn_error *err);

/* Reads several files with the same columns (same names, same order) as one table. */
KN_API KN_CHECK kn_status kn_table_read_csv_files(kn_table **out, kn_context *ctx, const char *const *paths,
                                                  int path_count, const kn_csv_options *options, kn_error *err);

/* Writes the table as CSV with a header; "-" is standard output; missing cells are empty. Atomic: a temporary file is
 * renamed at the end. */
KN_API KN_CHECK kn_status kn_table_write_csv(const kn_table *table, kn_context *ctx, const char *path, char delimiter,
                                             kn_error *err);

/* Some rows of a table: 0-based, ascending. */
typedef struct kn_row_list {
    int64_t  count;
    int64_t *rows;
} kn_row_list;

KN_API void kn_row_list_free(kn_row_list *list);

/* Writes only these rows, with their numbers (1-based) in a first column named "row". The file is readable by its owner
 * alone: it is meant for the owner of the data. */
KN_API KN_CHECK kn_status kn_table_write_rows_csv(const kn_table *table, kn_context *ctx, const char *path, char delimiter,
                                                  const kn_row_list *rows, kn_error *err);

/* Adds a column `name` whose cells are equal where those of all the named columns are, and missing where one of them
 * is: a key of several columns as one. The only way in which a table changes: nothing else may be using it. KN_INPUT:
 * one of them does not exist; KN_USAGE: a column of that name does, or an Arrow stream uses the table. */
KN_API KN_CHECK kn_status kn_table_add_joined(kn_table *table, const char *const *columns, int count, const char *name,
                                              kn_error *err);

KN_API void kn_table_free(kn_table *table);

KN_API int64_t     kn_table_rows(const kn_table *table);  /* that it holds                                            */
KN_API int64_t     kn_table_total(const kn_table *table); /* that it stands for: the sum of its counts, else the same  */
KN_API bool        kn_table_counted(const kn_table *table);              /* a row may stand for several                 */
KN_API int64_t     kn_table_count(const kn_table *table, int64_t row);   /* how many it stands for; 1 without counts    */
KN_API int         kn_table_columns(const kn_table *table);
KN_API const char *kn_table_name(const kn_table *table, int column);              /* of a column; valid as the table   */
KN_API int         kn_table_find(const kn_table *table, const char *column_name); /* -1 if there is none               */
KN_API kn_type     kn_table_type(const kn_table *table, int column);
KN_API uint32_t    kn_table_distinct(const kn_table *table, int column);  /* values, not counting "missing"            */
KN_API int64_t     kn_table_missing(const kn_table *table, int column);   /* rows with a missing cell, counted          */
KN_API int64_t     kn_table_respelled(const kn_table *table, int column); /* spellings of a value besides its first
                                                                             (1.0 and 1.00): 0 in a text column */
KN_API bool        kn_table_unnamed(const kn_table *table, int column); /* its header was empty: called c1, c2, ...     */
KN_API bool        kn_table_ambiguous_dates(const kn_table *table, int column); /* stayed text: two readings fit      */
KN_API int         kn_table_code_width(const kn_table *table, int column); /* bytes per code: 1, 2 or 4                */
KN_API uint64_t    kn_table_bytes(const kn_table *table); /* codes and dictionaries, in memory                         */
KN_API char        kn_table_delimiter(const kn_table *table); /* of the file it came from; ',' otherwise               */

/* The code in a cell, and the text of a code (not NUL-terminated; NULL for a missing cell). */
KN_API uint32_t    kn_table_code(const kn_table *table, int column, int64_t row);
KN_API const char *kn_table_text(const kn_table *table, int column, uint32_t code, size_t *length);

/* Checks every invariant of the table; for tests and fuzzers. */
KN_API bool kn_table_validate(const kn_table *table, const char **reason);

#ifdef __cplusplus
}
#endif

#endif
