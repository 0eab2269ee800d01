/* kn_example.h: what a hierarchy does to a value, shown on one that is made up: 47 → [40, 49]. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_EXAMPLE_H
#define KN_EXAMPLE_H

#include <kanon/spec.h>

#include "kn_html.h"

/* Appends "47 → [40, 49]", the value and what it is on that level; with a level below 0 every level in turn, up to *. The value
 * is never one of the data: it follows from the kind of the hierarchy. False, and nothing appended: there is no such example (a
 * file has its own values; a rule of other numbers). */
bool kn_example(kn_buffer *to, const kn_hierarchy_spec *hierarchy, int level);

/* The columns of a release, as a table: what each is, and what was done to it. Opens it; rows follow. */

void kn_columns_begin(kn_html_table *t, kn_buffer *to);

/* `table` may be NULL. `level` is that of the whole column; -1: each cell has its own, or there are none. `anatomy`: nothing is
 * made coarser. */
void kn_columns_row(kn_html_table *t, const char *table, const kn_attribute *attribute, int level, kn_method method,
                    bool anatomy);

#endif
