/* kn_duckdb_api.h: the functions of libduckdb that are called, as one table (C API, version 1).
 *
 * kanon is compiled without DuckDB's header: this page is all that it needs of it. Handles are pointers that only DuckDB
 * looks behind; numbers of types are those that its C API has had since they exist.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_DUCKDB_API_H
#define KN_DUCKDB_API_H

#include <kanon/arrow.h>

typedef struct kn_ddb_database_ *kn_ddb_database;
typedef struct kn_ddb_connection_ *kn_ddb_connection;
typedef struct kn_ddb_config_ *kn_ddb_config;
typedef struct kn_ddb_statement_ *kn_ddb_statement;
typedef struct kn_ddb_pending_ *kn_ddb_pending;
typedef struct kn_ddb_chunk_ *kn_ddb_chunk;
typedef struct kn_ddb_type_ *kn_ddb_type;
typedef struct kn_ddb_arrow_options_ *kn_ddb_arrow_options;
typedef struct kn_ddb_error_ *kn_ddb_error;
typedef struct kn_ddb_arrow_stream_ *kn_ddb_arrow_stream;

/* Passed by value; only DuckDB looks into it. */
typedef struct kn_ddb_result {
    uint64_t column_count, row_count, rows_changed;
    void    *columns;
    char    *message;
    void    *inside;
} kn_ddb_result;

enum { KN_DDB_OK = 0 };
enum { KN_DDB_READY = 0, KN_DDB_NOT_READY = 1, KN_DDB_FAILED = 2, KN_DDB_IDLE = 3 }; /* of a pending result */

/* Types of columns, by their numbers. */
enum {
    KN_DDB_BOOLEAN = 1,
    KN_DDB_BIGINT = 5,
    KN_DDB_UBIGINT = 9,
    KN_DDB_DOUBLE = 11, /* 2 to 11: integers and floats */
    KN_DDB_TIMESTAMP = 12,
    KN_DDB_DATE = 13,
    KN_DDB_TIME = 14,
    KN_DDB_INTERVAL = 15,
    KN_DDB_HUGEINT = 16,
    KN_DDB_VARCHAR = 17,
    KN_DDB_BLOB = 18,
    KN_DDB_DECIMAL = 19,
    KN_DDB_TIMESTAMP_S = 20,
    KN_DDB_TIMESTAMP_MS = 21,
    KN_DDB_TIMESTAMP_NS = 22,
    KN_DDB_ENUM = 23,
    KN_DDB_LIST = 24,
    KN_DDB_STRUCT = 25,
    KN_DDB_MAP = 26,
    KN_DDB_UUID = 27,
    KN_DDB_UNION = 28,
    KN_DDB_BIT = 29,
    KN_DDB_TIME_TZ = 30,
    KN_DDB_TIMESTAMP_TZ = 31,
    KN_DDB_UHUGEINT = 32,
    KN_DDB_ARRAY = 33,
    KN_DDB_BIGNUM = 35,
    KN_DDB_NULL = 36,
    KN_DDB_TIME_NS = 39
};

/* result, name without duckdb_, arguments */
#define KN_DUCKDB_FUNCTIONS(each)                                                                                      \
    each(const char *, library_version, (void))                                                                        \
    each(int, create_config, (kn_ddb_config * out))                                                                    \
    each(int, set_config, (kn_ddb_config config, const char *name, const char *option))                                \
    each(void, destroy_config, (kn_ddb_config * config))                                                               \
    each(int, open_ext, (const char *path, kn_ddb_database *out, kn_ddb_config config, char **error))                  \
    each(void, close, (kn_ddb_database * database))                                                                    \
    each(int, connect, (kn_ddb_database database, kn_ddb_connection *out))                                             \
    each(void, disconnect, (kn_ddb_connection * connection))                                                           \
    each(void, interrupt, (kn_ddb_connection connection))                                                              \
    each(void, free, (void *block))                                                                                    \
    each(int, prepare, (kn_ddb_connection connection, const char *query, kn_ddb_statement *out))                       \
    each(const char *, prepare_error, (kn_ddb_statement statement))                                                    \
    each(void, destroy_prepare, (kn_ddb_statement * statement))                                                        \
    each(uint64_t, prepared_statement_column_count, (kn_ddb_statement statement))                                      \
    each(const char *, prepared_statement_column_name, (kn_ddb_statement statement, uint64_t column))                  \
    each(int, prepared_statement_column_type, (kn_ddb_statement statement, uint64_t column))                           \
    each(kn_ddb_type, prepared_statement_column_logical_type, (kn_ddb_statement statement, uint64_t column))           \
    each(char *, logical_type_get_alias, (kn_ddb_type type))                                                           \
    each(void, destroy_logical_type, (kn_ddb_type * type))                                                             \
    each(int, pending_prepared, (kn_ddb_statement statement, kn_ddb_pending *out))                                     \
    each(int, pending_prepared_streaming, (kn_ddb_statement statement, kn_ddb_pending *out))                           \
    each(int, pending_execute_task, (kn_ddb_pending pending))                                                          \
    each(const char *, pending_error, (kn_ddb_pending pending))                                                        \
    each(int, execute_pending, (kn_ddb_pending pending, kn_ddb_result *out))                                           \
    each(void, destroy_pending, (kn_ddb_pending * pending))                                                            \
    each(const char *, result_error, (kn_ddb_result * result))                                                         \
    each(void, destroy_result, (kn_ddb_result * result))                                                               \
    each(uint64_t, column_count, (kn_ddb_result * result))                                                             \
    each(const char *, column_name, (kn_ddb_result * result, uint64_t column))                                         \
    each(kn_ddb_type, column_logical_type, (kn_ddb_result * result, uint64_t column))                                  \
    each(kn_ddb_chunk, fetch_chunk, (kn_ddb_result result))                                                            \
    each(void, destroy_data_chunk, (kn_ddb_chunk * chunk))                                                             \
    each(kn_ddb_arrow_options, result_get_arrow_options, (kn_ddb_result * result))                                     \
    each(void, destroy_arrow_options, (kn_ddb_arrow_options * options))                                                \
    each(kn_ddb_error, to_arrow_schema,                                                                                \
         (kn_ddb_arrow_options options, kn_ddb_type * types, const char **names, uint64_t count,                       \
          struct ArrowSchema *out))                                                                                    \
    each(kn_ddb_error, data_chunk_to_arrow,                                                                            \
         (kn_ddb_arrow_options options, kn_ddb_chunk chunk, struct ArrowArray *out))                                   \
    each(const char *, error_data_message, (kn_ddb_error error))                                                       \
    each(bool, error_data_has_error, (kn_ddb_error error))                                                             \
    each(void, destroy_error_data, (kn_ddb_error * error))                                                             \
    each(int, arrow_scan, (kn_ddb_connection connection, const char *name, kn_ddb_arrow_stream stream))

typedef struct kn_duckdb_api {
#define KN_DUCKDB_MEMBER(result, name, arguments) result(*name) arguments;
    KN_DUCKDB_FUNCTIONS(KN_DUCKDB_MEMBER)
#undef KN_DUCKDB_MEMBER
} kn_duckdb_api;

/* Finds libduckdb and fills the table. It stays loaded. `what` needs it, for messages. KN_IO, with what to install: it is not there, lacks a function or
 * is of a version that kanon does not know. */
KN_CHECK kn_status kn_duckdb_load(kn_duckdb_api *out, const char *what, kn_error *err);

#endif
