/* kn_tuple.h: the cells of several columns as one text, and a column of such texts.
 *
 * A key of several columns that refers to a reference is generalized as a whole: its first column holds all of it then.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_TUPLE_H
#define KN_TUPLE_H

#include "kn_buffer.h"
#include "kn_table.h"

/* The text of a row's cells: that of the only column, or each as "SIZE:TEXT". false: one is missing. Replaces the buffer's content. */
bool kn_tuple_text(kn_buffer *out, const kn_table *table, const int *columns, int count, int64_t row);

/* A part of a text of several columns. */
kn_string kn_tuple_part(kn_string text, int part);

/* Replaces the cells of the first column by the texts of all; with `label`, a column, by its text where it has one (-1: there is none). */
KN_CHECK kn_status kn_tuple_column(kn_context *ctx, kn_table *table, const int *columns, int count, int label,
                                   kn_error *err);

#endif
