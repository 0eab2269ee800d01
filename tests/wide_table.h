/* wide_table.h: tables with many columns whose minimal violating sets are known by construction.
 *
 * Every ordinary row has at least k copies over all columns, so it can never be at risk. For each planted set T of
 * columns there is a family of rows: one planted row with 1 to k - 1 copies and, for each column t of T, a row with k
 * copies that differs from the planted one in t only. In the columns of T the planted row has values that only its
 * family has. A set of columns that misses some t leaves the planted row k companions; one that contains T leaves it
 * none. So the minimal violating sets are the minimal ones of the planted sets.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIDE_TABLE_H
#define WIDE_TABLE_H

#include "kn_table.h"

enum { WIDE_LARGEST = 5, WIDE_PLANTED = 256 };

typedef struct wide_options {
    int      rows, columns;
    int      k;
    int      planted;          /* sets T, of 2 to WIDE_LARGEST columns; at most WIDE_PLANTED */
    int      values;           /* ordinary values per column: 2 to this many                 */
    int      copies;           /* of an ordinary row: k to this many                         */
    uint64_t seed;
} wide_options;

typedef struct wide_table {
    int  rows, columns;
    int *values; /* rows × columns; freed with wide_table_free */
    int  planted_count;
    int  planted_size[WIDE_PLANTED];
    int  planted[WIDE_PLANTED][WIDE_LARGEST]; /* ascending; may contain each other */
} wide_table;

/* false: out of memory, or fewer rows than the planted families need. */
bool wide_table_make(wide_table *out, const wide_options *options);
void wide_table_free(wide_table *table);

/* The same as a table of kanon's; columns are named c0, c1, … */
KN_CHECK kn_status wide_table_build(kn_table **out, kn_context *ctx, const int *values, int rows, int columns,
                                    kn_error *err);

#endif
