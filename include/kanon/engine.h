/* kanon/engine.h: tables that stay where they are: grouped, released and checked again by whoever holds them.
 *
 * A program that has a connection to such an engine (a cluster, a server, a DuckDB of its own) hands it in under a name; the
 * tables behind it are then inputs and outputs by their names: "engine:NAME#RELATION", where RELATION stands behind FROM in the
 * statements that kanon makes, and of Spark "engine:NAME#FOLDER" (docs/library.md). Rows never pass through kanon, but for the distinct
 * combinations of quasi-identifiers and sensitive values with their counts.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_ENGINE_H
#define KANON_ENGINE_H

#include <kanon/arrow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whose SQL the statements are in. */
typedef enum kn_dialect { KN_DIALECT_DUCKDB, KN_DIALECT_POSTGRESQL, KN_DIALECT_SPARK } kn_dialect;

/* Whoever runs statements. A function returns 0, or a number of errno.h and up to `room` bytes of a message that says where
 * it failed and never what a cell holds: ENOMEM, ECANCELED and EIO are told apart. They are called by one thread at a time,
 * while a call of the library is running. */
typedef struct kn_connection {
    size_t     size; /* sizeof(kn_connection), set by the initializer */
    kn_dialect dialect;
    void      *state; /* what the functions are called with            */
    int (*run)(void *state, const char *sql, char *message, size_t room);
    int (*query)(void *state, const char *sql, struct ArrowArrayStream *out, char *message, size_t room);
    /* Makes a temporary table of these rows, and consumes them. */
    int (*put)(void *state, const char *name, struct ArrowArrayStream *rows, char *message, size_t room);
} kn_connection;

#define KN_CONNECTION_INIT {sizeof(kn_connection), KN_DIALECT_DUCKDB, NULL, NULL, NULL, NULL}
KN_API void kn_connection_init(kn_connection *options, size_t size);

/* From now on "engine:NAME#..." means tables behind this connection, whose struct is copied; its state must live until the name is
 * removed or the context freed. Replaces what had that name. KN_USAGE: the name is empty or has a '#', or a function is missing. */
KN_API KN_CHECK kn_status kn_engine_add(kn_context *ctx, const char *name, const kn_connection *connection, kn_error *err);

/* Removes a name, if it exists. */
KN_API void kn_engine_remove(kn_context *ctx, const char *name);

#ifdef __cplusplus
}
#endif

#endif
