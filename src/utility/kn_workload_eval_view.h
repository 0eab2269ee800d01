/* kn_workload_eval_view.h: what one condition, or the sum over one column, sees of every cell of that column. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_WORKLOAD_EVAL_VIEW_H
#define KN_WORKLOAD_EVAL_VIEW_H

#include "kn_workload_eval.h"
#include "kn_workload_eval_condition.h"

enum { KN_VIEW_TOUCHES = 1, KN_VIEW_INSIDE = 2 };

/* A column prepared once for all queries. */
typedef struct kn_eval_domain {
    const kn_eval_column *column;
    const uint32_t       *members;
    kn_value_line         line;
    uint32_t              leaves;    /* of the hierarchy; 0: there is none                                  */
    int64_t              *leaf_keys; /* ordered columns                                                     */
    bool                 *leaf_known;
    kn_string            *leaf_texts;
    uint32_t              released; /* codes of the release side; that number itself stands for a suppressed row */
    int64_t              *shown_keys; /* other columns, ordered                                             */
    bool                 *shown_known;
    double                least, most; /* numbers: of the original; NAN: none                               */
} kn_eval_domain;

/* Everything lives in the arena. */
KN_CHECK kn_status kn_eval_domain_make(kn_eval_domain *out, kn_arena *arena, const kn_eval_input *input, int column,
                                       kn_error *err);

/* A condition seen from a cell. */
typedef struct kn_view {
    double   share; /* of what the cell covers */
    uint32_t flags;
} kn_view;

/* The values of a cell that satisfy a condition, as numbers. */
typedef struct kn_spread {
    double mean, low, high; /* NAN: none                            */
    bool   complete;        /* no row of such a cell can be missing */
} kn_spread;

/* Which codes of the original satisfy the condition (NULL: all); space for its values and "missing". */
void kn_eval_match(uint8_t *match, const kn_eval_domain *domain, const kn_condition *condition);

/* The same of the hierarchy's leaves, in the data or not. */
void kn_eval_match_leaves(uint8_t *match, const kn_eval_domain *domain, const kn_condition *condition);

/* The views of all codes of the release side, then of a suppressed row. `match` as above; `hits`: scratch with
 * space for leaves + 1. */
void kn_eval_views(kn_view *views, const kn_eval_domain *domain, const kn_condition *condition, const uint8_t *match,
                   uint32_t *hits);

/* The same for the numbers of a column; `condition` is about the same column (NULL: none). */
void kn_eval_spreads(kn_spread *spreads, const kn_eval_domain *domain, const kn_condition *condition,
                     const uint8_t *match);

#endif
