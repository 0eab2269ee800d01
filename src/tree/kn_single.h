/* kn_single.h: nodes that are given up in single records, so that a value of the cut can be replaced by its children.
 *
 * A few records in which values rarely meet stand in the way of showing these values as they are. A *repair* of a plan and a value u of its cut
 * says which nodes must go. It works in rounds on the records under the plan, with the children of u in its place. A round looks at all sets of one known
 * value, then of two, up to m, and stops at the first size at which a set has between 1 and k - 1 records. In each of these
 * records one value of the set is given up: a child of u if there is one among them, of several the one that the fewest records have, of equally
 * rare ones the smallest; else, of all, likewise. To give a value up in a record is to drop all nodes there that show it, each with what is below it. Some cannot be given up:
 *   - one with a sensitive value below it there;
 *   - in sets of several values, one that is the last of its class below a node or the root, if fewer than k records of the original have a node of that class, or a root, with none
 *     below it: to have none would be odd. (A single value that few have vanishes everywhere, as values that are given up do.)
 * If none of a set can, there is no repair. What a round gives up goes at its end, in each record the values that the fewest records have first, of equally rare ones the smallest, unless
 * the record has lost another value of the set by then, or the value has become one that cannot go: so the order in which sets are visited plays no part. A round that gives up nothing
 * is the last: then ValueCheck passes, absences aside.
 *
 * Of flat records only children of u are given up: sets without one keep their records.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SINGLE_H
#define KN_SINGLE_H

#include "kn_combinations.h"

/* A value that is given up in a record, and the rare set for which it is. */
typedef struct kn_single {
    uint32_t record, value;
    int64_t  support; /* of the value */
    size_t   set;     /* in kn_repair.sets */
} kn_single;

typedef struct kn_repair {
    kn_context            *ctx;
    const kn_tree_problem *problem;
    bool                   has_sensitive;
    int64_t               *without; /* (class + 1, the root first) × class: records with such a node and none of the class below it */
    /* The plan that is repaired. */
    const kn_records_plan *plan;
    bool                  *lost;       /* per node of the original: it is not shown                      */
    uint64_t              *with_start; /* per value of the cut: the records that show it                 */
    uint32_t              *with;
    size_t                 with_capacity;
    /* What is tried. */
    uint32_t  value; /* u                                                                             */
    uint32_t *image; /* per value                                                                     */
    bool     *touched; /* per value of the cut: other records have it than under the plan              */
    uint32_t *touched_list;
    uint32_t  touched_count;
    uint32_t *rows; /* the records that have a touched value */
    size_t    row_count, row_capacity;
    uint32_t *seen; /* per record: the last trial in which it was a row */
    uint32_t  trial;
    uint64_t *start; /* per row: its values; a touched one comes first, the others are larger by the vocabulary's size */
    uint32_t *items;
    int64_t  *weight; /* 1 */
    size_t    start_capacity, item_capacity, weight_capacity, entry_capacity;
    kn_row_entry   *entries;
    int64_t        *support; /* per value that is touched */
    kn_combinations combinations;
    uint32_t       *chosen;
    kn_single      *singles; /* of the round */
    size_t          single_count, single_capacity;
    uint32_t       *sets; /* their values, all of one size */
    size_t          set_count, set_capacity;
    bool            stuck; /* nothing of some set can be given up */
    /* What it takes. */
    uint64_t *dropped; /* nodes */
    size_t    dropped_count, dropped_capacity;
    double    gain; /* breadth that is won by the finer values, less what is lost with the nodes, not yet divided */
} kn_repair;

KN_CHECK kn_status kn_repair_make(kn_repair *out, kn_context *ctx, const kn_tree_problem *problem, kn_error *err);
void               kn_repair_free(kn_repair *repair);

/* Another plan, which is borrowed. */
KN_CHECK kn_status kn_repair_begin(kn_repair *repair, const kn_records_plan *plan, kn_error *err);

/* Is it a value of the plan's cut that is shown and can be replaced by others? */
bool kn_repair_asks(const kn_repair *repair, uint32_t value);

/* Tries it: *possible if at most `spare` nodes are dropped. What it takes is valid until kn_repair_undo, which must come before the next. */
KN_CHECK kn_status kn_repair_try(kn_repair *repair, uint32_t value, int64_t spare, bool *possible, kn_error *err);
void               kn_repair_undo(kn_repair *repair);

/* The cut with the value's children in its place, ascending, with the sensitive leaves; how many. */
uint32_t kn_repair_cut(const kn_repair *repair, uint32_t value, uint32_t *out);

/* How broad a value is: (leaves at or below it - 1) / leaves of the class; 1 for "*". */
static inline double kn_breadth_of(const kn_vocabulary *v, uint32_t value, uint16_t cls)
{
    return value == 0 ? 1 : (double)(v->leaves[value] - 1) / (double)v->leaves[v->top[cls]];
}

static inline double kn_weight_of(const kn_ratio *weights, int cls)
{
    return weights ? (double)weights[cls].numerator / (double)weights[cls].denominator : 1;
}

/* Replaces values of the best plan so far by their children, giving up single nodes within the budget, where less is lost: those first that gain most for each
 * node given up (kn_tree_single.c). `best` has a plan; `loss` is its own. `deadline`: 0 for none. */
struct kn_tree_loss;
KN_CHECK kn_status kn_tree_refine(kn_tree_result *best, struct kn_tree_loss *loss, kn_tree_counters *counters, bool *complete, kn_context *ctx,
                                  const kn_tree_problem *problem, double deadline, kn_error *err);

/* Takes relations of the plan away in single records instead of in every one, if less is lost (kn_single_detach.c). */
KN_CHECK kn_status kn_tree_detach(kn_tree_result *best, struct kn_tree_loss *loss, kn_tree_counters *counters, kn_context *ctx,
                                  const kn_tree_problem *problem, kn_error *err);

#endif
