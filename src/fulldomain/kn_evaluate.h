/* kn_evaluate.h: classes of some quasi-identifiers at some levels with everything that the requirements need, and
 * whether they are good. The generic path, for every model: scan, roll-up and projection of one kind of set. (The
 * optimal search has a faster one if class sizes suffice.)
 *
 * A kn_classes holds, per class, its key (codes of the level maps), rows, population count, and per tracked column
 * (sensitive columns and the entity) a histogram; population combinations without a row of the table are classes of 0
 * rows, which are never released and never suppressed. Sets are immutable; any thread may read.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_EVALUATE_H
#define KN_EVALUATE_H

#include "kn_fulldomain.h"

typedef struct kn_evaluator kn_evaluator;
typedef struct kn_classes   kn_classes;

/* Instead of a set of columns as bits: all of them, even if there are more than 64. */
#define KN_ALL_ATTRIBUTES UINT64_MAX

/* Borrows the problem. */
KN_CHECK kn_status kn_evaluator_make(kn_evaluator **out, kn_context *ctx, const kn_fulldomain_problem *problem,
                                     kn_error *err);
void               kn_evaluator_free(kn_evaluator *evaluator); /* NULL is fine */

/* Is good upward closed, and good for a set of columns only if good for its subsets? (kn_requirements_monotone with the
 * problem's budget and way of suppressing) Otherwise only `possible` of a verdict is. */
bool kn_evaluator_monotone(const kn_evaluator *evaluator);

/* How many different cells an attribute has in the table at a level. */
uint32_t kn_evaluator_distinct(const kn_evaluator *evaluator, int attribute, int level);

/* Any thread may make sets and judge them; inside a parallel range the work runs on that worker alone. Sets with up
 * to this many entries are rolled up by one worker in any case: several of them are best rolled up in parallel. */
enum { KN_CLASSES_SMALL = 1 << 18 };

/* From the rows of the table. `levels`: quasi_count of them, those of attributes outside the set are ignored. */
KN_CHECK kn_status kn_classes_scan(kn_classes **out, const kn_evaluator *evaluator, uint64_t attributes,
                                   const int *levels, kn_error *err);
/* To higher levels of the same attributes; to fewer attributes at the same levels. */
KN_CHECK kn_status kn_classes_rollup(kn_classes **out, const kn_evaluator *evaluator, const kn_classes *from,
                                     const int *levels, kn_error *err);
KN_CHECK kn_status kn_classes_project(kn_classes **out, const kn_evaluator *evaluator, const kn_classes *from,
                                      uint64_t attributes, kn_error *err);
void               kn_classes_free(kn_classes *classes); /* NULL is fine */

int64_t kn_classes_count(const kn_classes *classes);   /* with rows                                          */
int64_t kn_classes_entries(const kn_classes *classes); /* what a roll-up visits: keys of all its tables       */
size_t  kn_classes_bytes(const kn_classes *classes);

/* Packs a set into less memory: from now on it can only be rolled up, projected, measured (entries, bytes) and freed.
 * On failure it is unchanged. Not while another thread reads it. */
KN_CHECK kn_status kn_classes_pack(kn_classes *classes, kn_error *err);

typedef struct kn_verdict {
    bool         good;
    bool         possible; /* the always monotone part holds: false means that nothing below is good either  */
    kn_node_sums sums;     /* over the attributes of the set; `cells` only for a good set of all attributes  */
    int64_t      average_suppressed; /* rows of sums.suppressed that are suppressed only for average risk    */
} kn_verdict;

KN_CHECK kn_status kn_classes_judge(kn_verdict *out, const kn_evaluator *evaluator, const kn_classes *classes,
                                    kn_error *err);

#endif
