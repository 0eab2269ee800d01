/* kn_bitmap.h: the single-table method for a database, for comparison (section 3.3 of the MiRaCle paper): one row
 * of bits per person, clustered like any table (CDGH, Nergiz and Clifton, "Thoughts on k-anonymization").
 *
 * A bit is a fact that some person has: a row below a person, known by its path of original quasi-identifiers from
 * the person down (Math; Math > Discrete). The quasi-identifiers of the person's own row are ordinary attributes with
 * their hierarchies.
 *
 * The paper calls schemas where a person has the same fact an arbitrary number of times not convertible. Here the
 * facts of one person and path are numbered 1, 2, ... in the forest's order of siblings, and each number has its own
 * bit: a person with two Physics courses has Physics#1 and Physics#2, and below them Physics#1 > Calc and so on. So
 * nothing is lost in the conversion, but two persons whose equal rows are numbered differently look different, and
 * the number of columns depends on the data, which is what the paper objects to.
 *
 * A cell is 1 (has it), 0 (does not have it) or * (unknown). In a complete database absent is 0, in an incomplete one
 * *. Cells that differ become *, so that a cell is 1 where every member has 1, and 0 where every member has 0. A bit
 * implies that of its parent in every row, therefore in every class: no invalid point (a child without its parent)
 * can occur.
 *
 * Distance is LM (Definition 7) of the row that a person and a cluster become, over all columns of the bitmap: a cell *
 * costs 1. In an incomplete database most cells are * from the start, distances are close to 1 and a threshold below
 * that lets every person begin a cluster while climit allows; in a complete one they are close to 0.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_BITMAP_H
#define KN_BITMAP_H

#include <kanon/spec.h>

#include "kn_database_plan.h"

/* ---- The conversion ---- */

typedef struct kn_bitmap {
    kn_context      *ctx;
    const kn_forest *forest;   /* borrowed                                                                   */
    uint32_t         bits;     /* a parent's has a smaller number than its children's                        */
    uint32_t         repeated; /* of them, those numbered 2 or more: by the paper's definition the schema is not convertible */
    uint32_t        *bit;      /* per node of the forest; KN_FOREST_NONE for a person's own row              */
} kn_bitmap;

/* Linear in the forest. KN_INPUT: more than 2^32 - 2 facts. */
KN_CHECK kn_status kn_bitmap_make(kn_bitmap **out, kn_context *ctx, const kn_forest *forest, kn_error *err);
void               kn_bitmap_free(kn_bitmap *bitmap); /* NULL is fine */

/* ---- The clustering ---- */

typedef struct kn_bitmap_problem {
    const kn_forest *forest;
    int64_t          k;
    kn_ratio         threshold; /* a person farther than this from every cluster begins a new one ... */
    int64_t          climit;    /* ... while there are fewer than this; at least 1                    */
    uint64_t         seed;      /* 0: persons in the order of their trees; else shuffled              */
    kn_leftovers     leftovers;
    bool             complete;  /* it is known what a person does not have                            */
} kn_bitmap_problem;

#define KN_BITMAP_PROBLEM_INIT {NULL, 2, {1, 10}, 150, 0, KN_LEFTOVERS_ABSORB, false}

typedef struct kn_bitmap_counters {
    int64_t bits;
    int64_t columns;     /* bits and the quasi-identifiers of the person table                                    */
    int64_t repeated;    /* see kn_bitmap                                                                         */
    int64_t distances;   /* of two rows                                                                           */
    int64_t clusters;    /* begun                                                                                 */
    int64_t merged;      /* remaining clusters that were merged                                                   */
    int64_t absorbed;    /* persons put into a finished class at the end                                          */
    int64_t suppressed;  /* persons                                                                               */
    int64_t absent_kept; /* complete: cells 0 that stay 0 (persons × bits that no member of their class has): knowledge
                            that the bitmap keeps and that no release of rows can show; incomplete: 0             */
    double  lm;          /* Definition 7 over all cells of the bitmap; those of a dropped person cost 1           */
    double  dm;          /* Definition 8 of the bitmap, where classes differ in zeros too; the plan, which has none,
                            joins such classes, so that of a complete database it can be much larger              */
    double  conversion_seconds; /* the only figure that varies between runs                                       */
} kn_bitmap_counters;

/* The plan: the tree of a class has exactly the facts that all its members have, with original values; the root is
 * generalized; all other rows are deleted. Classes whose trees are equal but for the numbers of equal facts are one.
 * `*found` false: fewer persons than k (no plan then). The plan depends neither on the number of threads nor on the order
 * of rows; nor do the counters. KN_USAGE: options that make no sense. */
KN_CHECK kn_status kn_bitmap_search(kn_database_plan **out, bool *found, kn_bitmap_counters *counters, kn_context *ctx,
                                    const kn_bitmap_problem *problem, kn_error *err);

#endif
