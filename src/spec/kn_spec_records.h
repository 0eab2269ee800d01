/* kn_spec_records.h: how the records that a spec describes are read. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SPEC_RECORDS_H
#define KN_SPEC_RECORDS_H

#include <kanon/records.h>

/* How both the original and the release are read. */
kn_records_options kn_records_reading(const kn_spec *spec);

/* The original: these files, or (count 0) the spec's inputs; of persons of a database the first. KN_USAGE: the spec describes no
 * records, there is none, or it is standard input. KN_INPUT: there are no records. */
KN_CHECK kn_status kn_records_read_original(kn_records **out, kn_context *ctx, const kn_spec *spec,
                                            const char *const *paths, int count, kn_error *err);

#endif
