/* kanon/arrow.h: tables in and out through Arrow's C Stream Interface.
 *
 * The three structs below are the interface's published ABI: any program that speaks it (pandas, Polars, DuckDB, R,
 * Spark's Arrow bridge, ...) can pass its data without a file in between and without linking anything.
 * docs/arrow.md says which Arrow type becomes which kanon type, and back.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_ARROW_H
#define KANON_ARROW_H

#include <kanon/table.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/* The type of a column, or of a whole table (a struct whose children are the columns). */
struct ArrowSchema {
    const char          *format; /* "i" int32, "u" utf8, "+s" struct, ...                              */
    const char          *name;   /* may be NULL                                                        */
    const char          *metadata;
    int64_t              flags; /* ARROW_FLAG_...                                                     */
    int64_t              n_children;
    struct ArrowSchema **children;
    struct ArrowSchema  *dictionary; /* type of the values where `format` is that of indices into them     */
    void (*release)(struct ArrowSchema *); /* NULL: released                                          */
    void *private_data;
};

/* The data of one column or of one batch of rows. */
struct ArrowArray {
    int64_t             length;
    int64_t             null_count; /* -1: not known */
    int64_t             offset;     /* rows to skip in the buffers */
    int64_t             n_buffers;
    int64_t             n_children;
    const void        **buffers;
    struct ArrowArray **children;
    struct ArrowArray  *dictionary;
    void (*release)(struct ArrowArray *); /* NULL: released */
    void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* A producer of batches of one schema. The callbacks return 0 or an errno value; one thread at a time calls them. */
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out); /* out->release is NULL at the end    */
    const char *(*get_last_error)(struct ArrowArrayStream *);           /* valid until the next call; or NULL */
    void (*release)(struct ArrowArrayStream *);                         /* NULL: released                     */
    void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

typedef struct kn_arrow_options {
    size_t             size;     /* sizeof(kn_arrow_options), set by the initializer                            */
    const char *const *columns;  /* take only these (in the stream's order); NULL: all. Columns that are not
                                    taken may be of any type                                                    */
    int                column_count;
    bool               infer_text; /* give text columns the type that their values have, as for CSV             */
    const char *const *na;         /* texts that are missing cells too; NULL: only Arrow's nulls are            */
    int                na_count;   /* how many; -1: up to a NULL (na = kn_default_na())                         */
    const char        *timezone;   /* of times without a zone; NULL: UTC                                        */
    bool               producer_messages; /* quote the producer's own error message, which may hold values      */
    int64_t           *nan_count;  /* receives the number of NaN cells, which become missing; or NULL             */
    const char        *count; /* the column that says how many equal rows each row stands for; NULL: each is one */
} kn_arrow_options;

#define KN_ARROW_OPTIONS_INIT {sizeof(kn_arrow_options), NULL, 0, false, NULL, 0, NULL, false, NULL, NULL}
KN_API void kn_arrow_options_init(kn_arrow_options *options, size_t size);

/* Reads a stream of batches to its end and makes a table of it. `stream` is consumed: it is released before the call
 * returns, whether it succeeds or not. The columns of a batch are read by several threads; the callbacks are called
 * by the calling thread only. A failure of the producer is KN_IO, data that kanon cannot read is KN_INPUT; `options`
 * may be NULL. */
KN_API KN_CHECK kn_status kn_table_import_arrow(kn_table **out, kn_context *ctx, struct ArrowArrayStream *stream,
                                                const kn_arrow_options *options, kn_error *err);

typedef struct kn_arrow_export_options {
    size_t  size;         /* sizeof(kn_arrow_export_options), set by the initializer              */
    int64_t batch_rows;   /* 0: 65,536                                                            */
    bool    plain_text;   /* text as strings in place, not as indices into a dictionary           */
    bool    decimal_text; /* decimals as text, digit by digit as they are, not as doubles         */
} kn_arrow_export_options;

#define KN_ARROW_EXPORT_OPTIONS_INIT {sizeof(kn_arrow_export_options), 0, false, false}
KN_API void kn_arrow_export_options_init(kn_arrow_export_options *options, size_t size);

/* Makes `out` a stream of the table's rows; its last owner calls its release. Stream, schemas and arrays keep what
 * they need alive: they, the table and the context may be released in any order and by any thread. Their memory
 * counts against the context's limit until then. `options` may be NULL. On failure out->release is NULL. */
KN_API KN_CHECK kn_status kn_table_export_arrow(struct ArrowArrayStream *out, const kn_table *table, kn_context *ctx,
                                                const kn_arrow_export_options *options, kn_error *err);

#ifdef __cplusplus
}
#endif

#endif
