/* kn_memory_arrow.h: tables in memory (kanon/memory.h): the batches of an Arrow stream, kept as they came. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_MEMORY_ARROW_H
#define KN_MEMORY_ARROW_H

#include <kanon/memory.h>

#include "kn_csv_read.h"

/* What is kept under a name. Nothing in it was checked yet. */
typedef struct kn_batches {
    kn_context        *ctx;
    struct ArrowSchema schema;
    struct ArrowArray *arrays;
    size_t             count, capacity;
} kn_batches;

/* NULL: the name is that of bytes, of a file, or of nothing. */
const kn_batches *kn_memory_batches(const kn_context *ctx, const char *name);

/* Reads the table as if it were a CSV file. KN_USAGE: options that only make sense for bytes; several inputs. */
KN_CHECK kn_status kn_memory_read_table(kn_table **out, kn_context *ctx, const char *const *names, int count,
                                        const kn_csv_options *options, kn_error *err);

/* The names of its columns, as kn_csv_read_names gives them. */
KN_CHECK kn_status kn_memory_read_names(kn_csv_names *out, kn_context *ctx, const char *name, const kn_csv_options *options,
                                        kn_error *err);

/* What is wrong with options for CSV files where a table in memory is read; NULL: nothing. */
const char *kn_memory_useless(const kn_csv_options *options);

#endif
