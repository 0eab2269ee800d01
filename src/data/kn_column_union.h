/* kn_column_union.h: the values of two columns of different tables as one dictionary.
 *
 * A table and a population are read separately, so that the same value has different codes in the two, and the
 * inferred types may differ. What counts as the same value:
 *
 *     both of the same type       by value (1.0 and 1.00; a date spelled in two ways); text by its bytes
 *     integer and decimal         by value, as decimals
 *     any other two types         by spelling, as text (a mask over 47906 and 02138 works, a range does not)
 *     a column without a value    has the other's type
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_COLUMN_UNION_H
#define KN_COLUMN_UNION_H

#include "kn_table.h"

typedef struct kn_column_union {
    kn_column column; /* the values of both, in order and in the first one's spelling where it has one; its name; no rows
                         (codes is NULL), `missing` those of both                                                   */
    uint32_t *first, *second; /* code → code of the union; dict.count + 1 entries each: "missing" is "missing"       */
} kn_column_union;

/* `decimal`: the decimal mark of both. Borrows nothing. */
KN_CHECK kn_status kn_column_union_make(kn_column_union *out, kn_context *ctx, const kn_column *first,
                                        const kn_column *second, char decimal, kn_error *err);
void               kn_column_union_free(kn_column_union *both);

#endif
