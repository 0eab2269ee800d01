/* kn_builder_internal.h: shared by kn_builder.c (collecting ids) and kn_encode.c (turning ids into codes). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_BUILDER_INTERNAL_H
#define KN_BUILDER_INTERNAL_H

#include <stdatomic.h>

#include "kn_interner.h"

/* Rows [first, first + rows) hold ids of one slot's interners. */
typedef struct kn_segment {
    int64_t first, rows;
    int     slot;
} kn_segment;

typedef struct kn_builder_column {
    char           *name;
    kn_interner    *interners; /* one per slot */
    void           *ids;       /* capacity × width bytes */
    int             width;
    size_t          capacity; /* rows */
    _Atomic int64_t missing;  /* rows written with KN_ID_MISSING */
} kn_builder_column;

struct kn_builder {
    kn_context        *ctx;
    int                column_count, slots;
    kn_builder_column *columns;
    int64_t            rows;
    kn_segment        *segments;
    size_t             segment_count, segment_capacity;
    const kn_string   *na;
    int                na_count;
    bool               unused; /* some interned texts may occur in no row */
    int                count;  /* the column of counts; -1: none */
    int64_t           *numbers; /* of the rows, 1-based, as they were read; NULL: their places */
};

/* Turns one column's ids into a finished column: `out` is owned by the caller, even on failure. Frees the column's
 * interners and ids. */
KN_CHECK kn_status kn_encode_column(kn_column *out, kn_builder *builder, kn_builder_column *column,
                                    const kn_builder_type *type, const kn_value_rules *rules, kn_error *err);

/* Rows that stand for several (kn_builder_counts.c): takes the column of counts and leaves out rows that stand for none; then,
 * when all columns are encoded, puts it behind the others and weighs missing cells. */
KN_CHECK kn_status kn_counts_take(kn_table *table, kn_builder *builder, const kn_value_rules *rules, kn_error *err);
void               kn_counts_settle(kn_table *table, int column);

#endif
