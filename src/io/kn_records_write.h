/* kn_records_write.h: tree records → XML, JSON, JSON Lines or baskets, in the form of a layout.
 *
 * Values, classes and structure are written, in the order of the records and of their nodes; no ids, and nothing that
 * was skipped while reading. A node above its class's top ("*") has no class: <node v="*"/>, {"v": "*"}
 * (docs/errata.md K8). A basket loses nothing: its values are side by side. What is written is read back by
 * kn_records_read with `released`.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RECORDS_WRITE_H
#define KN_RECORDS_WRITE_H

#include "kn_output.h"
#include "kn_records.h"

/* `classes` are those of the vocabulary, in its order; NULL: only their names matter, as the vocabulary has them. Pieces are
 * made in parallel; the bytes do not depend on it. A form of AUTO or DATABASE is written as JSON. KN_USAGE: a class whose
 * name cannot be that of an XML element; baskets of more than one class or with something below a value. */
KN_CHECK kn_status kn_records_write(kn_output *output, kn_context *ctx, const kn_records *records,
                                    const kn_records_layout *layout, const kn_spec_class *classes, int class_count,
                                    kn_error *err);

/* The same into a buffer: for tests and fuzzers. */
KN_CHECK kn_status kn_records_format(kn_buffer *to, const kn_records *records, const kn_records_layout *layout,
                                     const kn_spec_class *classes, int class_count, kn_error *err);

#endif
