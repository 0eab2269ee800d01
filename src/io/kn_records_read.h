/* kn_records_read.h: records of another source than a file; records together with what somebody else knows of people, over one
 * vocabulary.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RECORDS_READ_H
#define KN_RECORDS_READ_H

#include <kanon/records.h>

#include "kn_records_scan.h"

/* Passes records to a sink, as kn_records_scan does. */
typedef struct kn_records_teller {
    void *state;
    kn_status (*tell)(void *state, const kn_records_sink *sink, kn_records_layout *layout, kn_error *err);
} kn_records_teller;

/* As kn_records_read, of what is told. */
KN_CHECK kn_status kn_records_read_told(kn_records **out, kn_context *ctx, const kn_records_teller *from,
                                        const kn_records_options *options, kn_error *err);

/* As kn_records_read (`path` NULL: nothing is read), with the records of another file behind them, from *first on. Their ids have
 * nothing to do with the others'; a value that its hierarchy lacks becomes its class's top. Classes without a hierarchy have that of
 * the type of the first file's values. */
KN_CHECK kn_status kn_records_read_beside(kn_records **out, int64_t *first, kn_context *ctx, const char *path,
                                          const kn_records_options *options, const char *other, kn_error *err);

#endif
