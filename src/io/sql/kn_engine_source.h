/* kn_engine_source.h: a table "engine:NAME#RELATION" (kanon/engine.h) as a source of grouped rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ENGINE_SOURCE_H
#define KN_ENGINE_SOURCE_H

#include <kanon/arrow.h>

#include "kn_csv_read.h"

/* The distinct combinations of these columns (some may not exist), and as *counts the name of a further column: how many rows each
 * stands for. To be released by the caller. KN_USAGE: there is no such engine, or single rows are asked for (`counts` or
 * `columns` is NULL). KN_INPUT: a column is of a type that kanon does not read. */
KN_CHECK kn_status kn_engine_source_open(struct ArrowArrayStream *out, kn_context *ctx, const char *name, const char *const *columns,
                                         int count, const char **counts, kn_error *err);

/* The names of its columns, to be freed by kn_csv_names_free. */
KN_CHECK kn_status kn_engine_source_names(kn_csv_names *out, kn_context *ctx, const char *name, kn_error *err);

#endif
