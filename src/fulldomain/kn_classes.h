/* kn_classes.h: the inside of the evaluator and of its sets of classes. Only kn_evaluate.c, kn_classes*.c and
 * kn_fulldomain_plan.c include it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_CLASSES_H
#define KN_CLASSES_H

#include "kn_evaluate.h"
#include "kn_freq.h"

/* One quasi-identifier: its values at each level. An item is a code of the column or, with leaf_items, a leaf of
 * the hierarchy (the population may have values that the table does not have). A number stands for a node of a level:
 * 0 .. distinct - 1 in leaf order. */
typedef struct kn_evaluator_level {
    uint32_t  distinct; /* numbers                                                                            */
    uint32_t  present;  /* of these, with a row of the table                                                  */
    uint32_t *number;   /* of an item                                                                         */
    uint32_t *by_code;  /* of a code of the column; the same array where items are codes                      */
    uint32_t *item;     /* one of those with this number: the first                                           */
    uint64_t *cost;     /* of a cell (kn_objective); NULL: the metric does not use cells                      */
} kn_evaluator_level;

typedef struct kn_evaluator_attribute {
    const kn_hierarchy *hierarchy;
    const kn_column    *column;
    uint32_t            items; /* with "missing", which is the last                                           */
    int                 level_count;
    kn_evaluator_level *levels;
} kn_evaluator_attribute;

/* What is counted: the quasi-identifiers and up to two more columns (a sensitive one, the entity). */
typedef struct kn_evaluator_part {
    int extra_count;
    int extra[2]; /* columns of the table */
} kn_evaluator_part;

struct kn_evaluator {
    kn_context                  *ctx;
    const kn_fulldomain_problem *problem;
    kn_evaluator_attribute      *attributes;
    int                          part_count; /* the first one has the sizes: without extra column, or with the entity
                                                or, failing that, the first sensitive one                        */
    kn_evaluator_part           *parts;
    bool                         leaf_items; /* there is a population of known combinations                   */
    bool                         sorted;     /* sets must be in order: they are folded, compared with the population, or suppressed in order */
    bool                         sizes_only; /* only k is required                                            */
    bool                         monotone;   /* good is upward closed, and closed for subsets                 */
    kn_freq                     *population; /* at level 0 of all attributes; NULL: none                      */
};

struct kn_classes {
    kn_context *ctx;
    int         attribute_count;
    int        *attributes; /* ascending                                              */
    int        *levels;     /* per attribute of the evaluator; 0 for those not here   */
    kn_freq   **parts;
    int         part_count;
    kn_freq    *population; /* NULL: none                                             */
    uint8_t   **packed;     /* packed: the bytes of each part and of the population   */
    size_t      packed_bytes;
};

/* One frequency set (part_count: the population) of a set that may be packed: `out` borrows the layout, and keys and counts
 * where it is not. */
KN_CHECK kn_status kn_classes_unpack(kn_freq *out, const kn_classes *classes, int part, kn_error *err);
void               kn_classes_unpacked_free(kn_freq *freq, const kn_classes *classes);

/* kn_classes_scan, always in key order. */
KN_CHECK kn_status kn_classes_scan_sorted(kn_classes **out, const kn_evaluator *evaluator, uint64_t attributes,
                                          const int *levels, kn_error *err);

/* The keys that rows of the table have in the first part (a set without extra columns), [begin, begin + n). */
void kn_classes_row_keys(const kn_evaluator *evaluator, const kn_classes *classes, const kn_layout *layout,
                         int64_t begin, int n, uint64_t *keys);

/* The fate of each class. */
enum { KN_CLASS_RELEASED = 0, KN_CLASS_FAILS = 1, KN_CLASS_AVERAGE = 2 };

/* If the rows of a person stay linked (kn_classes_linked.c): the fate of each person. */
typedef struct kn_linked_fates {
    bool    *persons;  /* per code of the entity: suppressed       */
    int64_t *released; /* per class by the quasi-identifiers: rows */
} kn_linked_fates;

/* The verdict of such a set; with `fates` the fates of persons and classes, and `folded` the classes (freed by the
 * caller). */
KN_CHECK kn_status kn_classes_decide_linked(kn_verdict *out, kn_linked_fates *fates, kn_freq **folded,
                                            const kn_evaluator *evaluator, const kn_classes *classes, kn_error *err);
void               kn_linked_fates_free(kn_linked_fates *fates);

/* Shows every class with a row, one after the other. Where rows stay linked the views are positions, and those of one
 * signature have the same `unit`; else each class is a unit. `rows`: of the unit; `cost`: of
 * the cells of a row, where there is a metric of cells (not of linked rows). */
typedef void (*kn_class_fn)(void *arg, const kn_class_view *view, int64_t unit, int64_t rows, kn_u128 cost);
KN_CHECK kn_status kn_classes_each(const kn_evaluator *evaluator, const kn_classes *classes, kn_class_fn each, void *arg,
                                   kn_error *err);
KN_CHECK kn_status kn_classes_each_linked(const kn_evaluator *evaluator, const kn_classes *classes, kn_class_fn each,
                                          void *arg, kn_error *err);

/* What a row of a class costs, and whether anybody asks. */
kn_u128 kn_classes_row_cost(const kn_evaluator *evaluator, const kn_classes *classes, const kn_freq *folded, int64_t i);
bool    kn_classes_cost_cells(const kn_evaluator *evaluator, const kn_classes *classes);

/* kn_classes_judge, with the fate of each class (its number among the classes of the first part; freed by the caller) and
 * the classes by the quasi-identifiers alone (freed by the caller, NULL where they are the first part itself). */
KN_CHECK kn_status kn_classes_decide(kn_verdict *out, uint8_t **fates, kn_freq **folded, const kn_evaluator *evaluator,
                                     const kn_classes *classes, kn_error *err);

#endif
