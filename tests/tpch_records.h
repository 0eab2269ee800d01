/* tpch_records.h: tree records in the shape of the paper's evaluation (docs/errata.md K17), for tests and benchmarks.
 *
 * customer > nation; customer > date > price; date > manufacturer > brand > quantity; 1 or 2 orders of 1 to 3 items; 25
 * nations, 80 months, 91 price bins, 5 manufacturers of 5 brands each, 50 quantities: 276 leaves in groups of 5.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TPCH_RECORDS_H
#define TPCH_RECORDS_H

#include "kn_records.h"

/* The records own the vocabulary. NULL: out of memory. */
kn_records *tpch_records(kn_context *ctx, int64_t count, uint64_t seed);

#endif
