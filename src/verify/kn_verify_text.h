/* kn_verify_text.h: CSV files that are verified without being read whole (table/text.c). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_VERIFY_TEXT_H
#define KN_VERIFY_TEXT_H

#include "kn_buffer.h"
#include "kn_connection.h"
#include "kn_verify_internal.h"

/* Do files fit the memory limit, by their sizes and first rows, of which each takes so many cells `besides`? Asked of a DuckDB of kanon's own. */
KN_CHECK kn_status kn_vtext_fits(bool *out, kn_context *ctx, const kn_connection *c, const char *const *paths, int count,
                                 const kn_vread_options *options, int besides, kn_error *err);

/* Keeps a file on disk, under this name (kn_text_table.h), and adds what stands behind FROM for it. */
KN_CHECK kn_status kn_vtext_keep(kn_buffer *to, kn_context *ctx, const kn_connection *c, const char *name, const char *path,
                                 const kn_vread_options *options, kn_error *err);

/* The original and the release, if they are CSV. */
typedef struct kn_vtexts {
    kn_engine_table tables[2];
    kn_buffer       relations[2];
    kn_vtable      *read[2]; /* names, delimiter, form and digest; no rows. NULL: it is no CSV */
} kn_vtexts;

/* Reads a side whose table has no relation, from the files that the options name, into its connection, a DuckDB with a folder for what
 * does not fit; the side's table then has one. To be freed in any case, after the verification. */
KN_CHECK kn_status kn_vtexts_read(kn_vtexts *texts, kn_vwhere *where, kn_context *ctx, const kn_spec *spec,
                                  const kn_verify_options *options, kn_error *err);
void               kn_vtexts_free(kn_vtexts *texts);

#endif
