/* kn_verify_where.h: verifying a release where it is: neither the original nor the release is read whole.
 *
 * For tables that do not fit the memory, or that belong to a cluster or a server. Only the distinct combinations of
 * quasi-identifiers, sensitive and weight columns come here, with their counts, and the distinct values of single columns; kept
 * columns are compared by the engine, or come here too where the release has no level per column. The statements are the verifier's own (table/where.c, table/where_kept.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_VERIFY_WHERE_H
#define KN_VERIFY_WHERE_H

#include <kanon/verify.h>

struct kn_connection;
struct kn_engine_table; /* kn_connection.h */

/* The same answer and figures as kn_verify. Of the options `levels`, `suppressed`, `work_limit` and `time_limit` are used as there;
 * `release` is the Parquet file or folder of parts behind the release, whose form is then checked too and whose digest is
 * reported; NULL, and nothing of the spec: the release is a table of an engine, which has no form. Both tables must be of one
 * connection if there is a kept column. Row numbers in problems are those of the distinct combinations in their order.
 * KN_USAGE: something that needs every row (row map, summary, entity, pseudonyms, dependencies, counted rows) is asked for. */
KN_CHECK kn_status kn_verify_where(kn_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                   const struct kn_engine_table *original, const struct kn_engine_table *release,
                                   const kn_verify_options *options, kn_error *err);

/* The same without the combinations of the original, which kn_verify_where does where they do not fit the memory limit: the values of its columns
 * come here, and the engine says whether every released row has an original of its own. Each column must show one level; where it
 * does not that is left open. */
KN_CHECK kn_status kn_verify_apart(kn_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                   const struct kn_engine_table *original, const struct kn_engine_table *release,
                                   const kn_verify_options *options, kn_error *err);

/* kn_verify of a release with a row map of 4 bytes a row instead of options->map; NULL: as kn_verify. */
KN_CHECK kn_status kn_verify_narrow(kn_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                    const kn_verify_options *options, const uint32_t *map, int64_t count, kn_error *err);

/* kn_verify_together, of releases that are not read whole but as distinct rows: Parquet and CSV, by a DuckDB with a folder for what does
 * not fit. `engine` NULL: they are read whole. */
KN_CHECK kn_status kn_verify_together_by(kn_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                         const struct kn_connection *engine, const char *const *releases, int count,
                                         kn_error *err);

#endif
