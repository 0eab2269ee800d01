/* kn_generate.h: a generator makes the chunks of a synthetic table, each from its number alone.
 *
 * A generator never changes once made; chunks may be made by any worker in any order.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_GENERATE_H
#define KN_GENERATE_H

#include <kanon/generate.h>

#include "kn_buffer.h"
#include "kn_builder.h"

typedef struct kn_generator kn_generator;

/* Checks the options (KN_USAGE names the wrong one) and builds the model. Freed with kn_generator_free. */
KN_CHECK kn_status kn_generator_create(kn_generator **out, kn_context *ctx, const kn_generate_options *options,
                                       kn_error *err);
void               kn_generator_free(kn_generator *generator);

int64_t kn_generator_chunks(const kn_generator *generator);

/* Rows of a chunk: all but the last have equally many. */
int64_t kn_generator_chunk_rows(const kn_generator *generator, int64_t chunk);

/* Columns, with `id` and `person`; a name (at most 31 bytes) is written to `name` and its length returned. */
int    kn_generator_columns(const kn_generator *generator);
size_t kn_generator_column_name(const kn_generator *generator, int column, char name[32]);

/* Appends the header, or a chunk's rows, as CSV text. Memory is the only thing that can fail. */
KN_CHECK kn_status kn_generator_header(const kn_generator *generator, kn_buffer *to, kn_error *err);
KN_CHECK kn_status kn_generator_chunk(const kn_generator *generator, int64_t chunk, kn_buffer *to, kn_error *err);

/* Interns a chunk's cells into the builder's slot; ids are stored column after column (columns × chunk rows). */
KN_CHECK kn_status kn_generator_intern(const kn_generator *generator, int64_t chunk, kn_builder *builder, int slot,
                                       uint32_t *ids, kn_error *err);

#endif
