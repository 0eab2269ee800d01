/* kn_records.h: the inside of tree records: all records in flat arrays over one vocabulary.
 *
 * The nodes of a record are in preorder, siblings by value, so that equal records have equal arrays; siblings differ.
 * The record's root is not a node. See kanon/records.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RECORDS_H
#define KN_RECORDS_H

#include <kanon/records.h>

#include "kn_records_layout.h"
#include "kn_vocabulary.h"

#define KN_RECORDS_ROOT UINT32_MAX

/* The column of a database that a class is. */
typedef struct kn_class_column {
    int table, column;
} kn_class_column;

struct kn_records {
    kn_context    *ctx;
    kn_vocabulary *vocabulary; /* owned where owns_vocabulary */
    bool           owns_vocabulary;
    int64_t        count;
    uint64_t       nodes;
    uint64_t      *start;  /* count + 1                                                                  */
    uint32_t      *parent; /* counted from the record's first node; KN_RECORDS_ROOT below the root       */
    uint32_t      *value;  /* of the vocabulary; leaves, unless released                                 */
    /* Of what was read from a file. */
    kn_records_layout layout;
    kn_class_column  *columns;       /* of what was read from a database, per class; NULL: a file        */
    int64_t           merged;        /* nodes that were equal to a sibling                               */
    int64_t           orphans;       /* rows or resources that belong to no person                       */
    int               ignored_count; /* names of unknown elements, attributes and keys                   */
    char            **ignored;
};

/* Records with space for this many, all zero; takes ownership of nothing. */
KN_CHECK kn_status kn_records_create(kn_records **out, kn_context *ctx, kn_vocabulary *vocabulary, bool owns_vocabulary,
                                     int64_t count, uint64_t nodes, kn_error *err);

/* A node while a record is made: parents before children. */
typedef struct kn_record_node {
    uint32_t parent; /* index of an earlier one; KN_RECORDS_ROOT */
    uint32_t value;
} kn_record_node;

/* Bytes of scratch per node. */
#define KN_RECORD_SCRATCH (sizeof(kn_record_node) + 3 * sizeof(uint32_t))

/* Brings the nodes of one record into their order and merges siblings of equal value, with what is below them; returns
 * how many are left. `scratch` has space for `count` nodes, then 3 × count numbers. */
uint32_t kn_record_canonical(kn_record_node *nodes, uint32_t count, void *scratch);

/* The persons of a database as records, in the order of their table. Every cell of a quasi-identifier or sensitive
 * column is a node, unless it is missing; its class is "table.column".
 *
 *   - The columns of the table of persons are side by side below the record's root.
 *   - The columns of any other row nest in one another, in the order of the classes.
 *   - Rows that belong to a row are below its first node (of a person: below the root; of a row without a node: below the node that the row itself would be below).
 *
 * So customer(nation), order(date, price), item(brand, quantity) become nation, date > price and date > brand >
 * quantity. Without `classes` there is one per such column, tables from the persons outwards, columns in their order.
 * With them, only those listed (as "table.column", or "column" if that is unique) and in that order; their
 * hierarchies are those of the columns. The vocabulary's classes are then in the same order. KN_INPUT: no such
 * column; classes that would nest the other way round. */
struct kn_forest;
KN_CHECK kn_status kn_records_of_database(kn_records **out, kn_context *ctx, const struct kn_forest *forest,
                                          const kn_spec_class *classes, int class_count, kn_error *err);

/* The records with other values of a vocabulary, which they borrow, in place of theirs: `of` is per value. Siblings that become equal are merged;
 * nodes whose value becomes UINT32_MAX are left out, and what is below one is below the next one up. (kn_records_translate.c) */
KN_CHECK kn_status kn_records_image(kn_records **out, kn_context *ctx, const kn_records *records, const uint32_t *of,
                                    kn_vocabulary *to, kn_error *err);

/* The same records over another vocabulary of the same classes, which they borrow: values by their class and label. KN_INPUT: it lacks one;
 * with `lenient` such nodes are left out as above. */
KN_CHECK kn_status kn_records_translate(kn_records **out, kn_context *ctx, const kn_records *records, kn_vocabulary *to,
                                        bool lenient, kn_error *err);

/* Checks every invariant; for tests and fuzzers. */
bool kn_records_validate(const kn_records *records, const char **reason);

#endif
