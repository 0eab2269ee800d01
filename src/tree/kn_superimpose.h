/* kn_superimpose.h: the trie over the paths of all records, and the distinct records as sets of its nodes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SUPERIMPOSE_H
#define KN_SUPERIMPOSE_H

#include "kn_node_table.h"
#include "kn_records.h"
#include "kn_rows.h"

/* Makes the trie in `table`, which is empty. `members` has space for one number per node of the records: its node of the trie. */
KN_CHECK kn_status kn_superimpose(uint32_t *members, kn_node_table *table, const kn_records *records, kn_error *err);

/* Makes the rows: distinct records with their nodes ascending. `number` has the final number of each of `nodes`; `rows` is all zero;
 * `members` is changed. Rows are in the order of their first nodes, and those that begin alike in the order of the records: whatever goes through
 * them front to back meets the same few nodes again and again, and the lists of rows take smaller steps. */
KN_CHECK kn_status kn_superimpose_rows(kn_rows *rows, kn_context *ctx, uint32_t *members, const kn_records *records,
                                       const uint32_t *number, uint32_t nodes, kn_error *err);

#endif
