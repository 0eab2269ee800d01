/* kn_workload_eval.h: the answers of a workload on an original and a release that were read (kanon/workload.h).
 *
 * Both sides are distinct combinations of the columns that the queries name, with their numbers of rows. On the original
 * side a code is one of the table's; on the release side it is a cell (quasi-identifiers) or a text (other columns).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_WORKLOAD_EVAL_H
#define KN_WORKLOAD_EVAL_H

#include <kanon/workload.h>

#include "kn_plan.h"
#include "kn_value.h"

/* A column that some query names. */
typedef struct kn_eval_column {
    const char         *name;
    const char         *format;    /* of dates; NULL: found out                                                   */
    const kn_column    *original;  /* its values are the domain                                                   */
    const kn_hierarchy *hierarchy; /* quasi-identifiers; NULL: none                                               */
    const kn_cell      *cells;     /* quasi-identifiers: per code of the release side; NULL: none                 */
    uint32_t            cell_count;
    const kn_column    *shown; /* other columns: the release's texts (its number of values: a missing cell)       */
} kn_eval_column;

typedef struct kn_eval_side {
    int64_t                count; /* combinations                                        */
    const int64_t         *rows;
    const uint32_t *const *codes; /* per column, per combination                         */
} kn_eval_side;

/* What was published of one quasi-identifier in one class. */
typedef struct kn_published {
    double low, high, mean; /* NAN: not published */
} kn_published;

typedef struct kn_eval_input {
    const kn_workload    *workload;
    const kn_eval_column *columns;
    int                   column_count;
    char                  decimal;
    const kn_timezone    *timezone;
    const uint32_t       *members; /* of sets                                                                     */
    kn_eval_side          original, release;
    int64_t               suppressed; /* rows of the original that no combination of the release stands for      */
    const uint32_t       *class_of;  /* per combination of the release: its row in `published`; NULL: no summary */
    const kn_published   *published; /* class × column                                                          */
} kn_eval_input;

/* The columns that a workload names: each once, in the order of their first mention. Texts are the workload's. The list is
 * freed by the caller with kn_free. */
KN_CHECK kn_status kn_workload_columns(const char ***out, int *count, kn_context *ctx, const kn_workload *workload,
                                       kn_error *err);

/* KN_INPUT for a column that does not exist, at its first mention in the workload, with the nearest of `names`.
 * `where` is what lacks it ("the original"). */
kn_status kn_workload_no_column(const kn_workload *workload, const char *name, const char *where,
                                const char *const *names, int count, kn_error *err);

/* Fills `answers` (one per query). Parallel over queries; the answers do not depend on the number of threads. */
KN_CHECK kn_status kn_workload_eval(kn_answer *answers, kn_context *ctx, const kn_eval_input *input, kn_error *err);

#endif
