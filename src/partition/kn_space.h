/* kn_space.h: the rows of a table as points, in an order that cuts rearrange.
 *
 * Each quasi-identifier is a dimension; a value's place in it is its position: the code of an ordered column, the leaf of
 * a column with a hierarchy; "missing" has the last position. A point is one small record (positions and row number), so
 * that a region is a range of records and a cut moves records inside its range: no index, no second copy. Of a counted table a
 * point is a row of the table with its count, so that memory follows the different rows; mondrian-best and mondrian-relaxed,
 * which may part equal rows or count points, have a record for every row that is counted.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SPACE_H
#define KN_SPACE_H

#include <string.h>

#include "kn_partition.h"

typedef struct kn_dimension {
    const kn_column    *column;
    const kn_hierarchy *hierarchy; /* NULL: none                                                        */
    bool                nodes;     /* cells are nodes of the hierarchy; otherwise ranges or sets        */
    bool                ranges;    /* not nodes: cells are ranges of codes (positions in code order)    */
    uint32_t            positions; /* without "missing", whose position this is                         */
    uint32_t           *code_of;   /* position → code; UINT32_MAX: no value of the column               */
    double             *values;    /* position → number, where the column has numbers; else NULL        */
    double              extent;    /* largest less smallest of them, or positions - 1                   */
    size_t              offset;    /* in a record                                                       */
    int                 width;     /* bytes                                                             */
} kn_dimension;

typedef struct kn_space {
    kn_context    *ctx;
    int            count; /* dimensions */
    kn_dimension  *dimensions;
    uint32_t       most_positions; /* of any dimension, with "missing" */
    size_t         stride;
    size_t         row_offset;
    uint32_t       rows;       /* records                                                       */
    int64_t        table_rows; /* of the table                                                  */
    const int64_t *counts;     /* per row of the table: rows that its record stands for; NULL: one */
    unsigned char *records;
} kn_space;

/* A range of records. */
typedef struct kn_region {
    uint32_t begin, end;
    int      depth;
} kn_region;

/* The smallest and the largest position of each dimension in a region. */
typedef struct kn_span {
    uint32_t low, high;
} kn_span;

/* A cut: records whose position lies in [low, high] go to the first side. */
typedef struct kn_cut {
    int      dimension;
    uint32_t low, high;
} kn_cut;

/* KN_USAGE for more than 2^32 - 2 rows. */
KN_CHECK kn_status kn_space_make(kn_space *out, kn_context *ctx, const kn_partition_problem *problem, kn_error *err);
void               kn_space_free(kn_space *space);

static inline uint32_t kn_space_position(const kn_space *space, const kn_dimension *dimension, uint32_t record)
{
    const unsigned char *at = space->records + (size_t)record * space->stride + dimension->offset;
    switch (dimension->width) {
    case 1: return *at;
    case 2: return *(const uint16_t *)(const void *)at;
    default: return *(const uint32_t *)(const void *)at;
    }
}

static inline uint32_t kn_space_row(const kn_space *space, uint32_t record)
{
    return *(const uint32_t *)(const void *)(space->records + (size_t)record * space->stride + space->row_offset);
}

/* The rows of a region. */
uint32_t kn_space_size(const kn_space *space, kn_region region);

/* Frees the records except their row numbers; positions must not be used any more. */
KN_CHECK kn_status kn_space_keep_rows(kn_space *space, kn_error *err);

/* All spans in one pass. */
void kn_space_spans(const kn_space *space, kn_region region, kn_span *spans);

/* The frequency set of one dimension in a region: added to `counts`, which is 0 before. */
void kn_space_count(const kn_space *space, kn_region region, int dimension, uint32_t *counts);

/* Moves the records of the first side to the front; returns where the second side begins. */
uint32_t kn_space_cut(const kn_space *space, kn_region region, kn_cut cut);

/* Does a cut put this record on the first side? */
static inline bool kn_space_goes_first(const kn_space *space, const kn_dimension *dimension, kn_cut cut, uint32_t record)
{
    return kn_space_position(space, dimension, record) - cut.low <= cut.high - cut.low;
}

/* Exchanges two records. */
static inline void kn_space_exchange(const kn_space *space, uint32_t a, uint32_t b)
{
    size_t         stride = space->stride;
    unsigned char *x = space->records + (size_t)a * stride, *y = space->records + (size_t)b * stride;
    unsigned char  held[64 * 4 + 4];
    for (size_t at = 0; at < stride; at += sizeof held) {
        size_t part = stride - at < sizeof held ? stride - at : sizeof held;
        memcpy(held, x + at, part);
        memcpy(x + at, y + at, part);
        memcpy(y + at, held, part);
    }
}

/* ---- The same on all threads, for regions of at least so many records (kn_space_wide.c) ---- */

enum { KN_WIDE_RECORDS = 1 << 16 };

bool               kn_space_is_wide(kn_region region);
KN_CHECK kn_status kn_space_spans_wide(const kn_space *space, kn_region region, kn_span *spans, kn_error *err);
KN_CHECK kn_status kn_space_count_wide(const kn_space *space, kn_region region, int dimension, uint32_t *counts,
                                       kn_error *err);
/* The order inside the two sides is not that of kn_space_cut, but the same on any number of threads. */
KN_CHECK kn_status kn_space_cut_wide(uint32_t *middle, const kn_space *space, kn_region region, kn_cut cut,
                                     kn_error *err);

/* The share of a dimension's domain that a cell over this span would cover, 0 to 1: LM of the cell. `distinct`:
 * values in it, used if cells are sets. With "missing" besides values: 1 (0 if there is only one value). */
double kn_space_loss(const kn_dimension *dimension, kn_span span, uint32_t distinct);

#endif
