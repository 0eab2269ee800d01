/* kn_summary.h: summary statistics of a release: per class and quasi-identifier the smallest and the largest value
 * and the mean (slides, "Workload-Driven Quality": the range answers MIN and MAX, the mean AVG and SUM).
 *
 * All rows of a class share its statistics, so these distinguish no row from others of its class. They do reveal more
 * than a wide cell: the range is as narrow as the class's values, and a member of a class of k can compute the mean
 * of the other k - 1. A figure about fewer than `least` cells of a class (the others are missing) is not published.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SUMMARY_H
#define KN_SUMMARY_H

#include "kn_output.h"
#include "kn_plan.h"


typedef enum kn_statistic { KN_STATISTIC_MIN = 0, KN_STATISTIC_MAX, KN_STATISTIC_MEAN, KN_STATISTICS } kn_statistic;

/* Of one quasi-identifier in one class. */
typedef struct kn_summary_cell {
    uint32_t low, high; /* codes of the smallest and the largest value; UINT32_MAX: not published */
    double   mean;      /* NAN: not published, or the column has no numbers                       */
} kn_summary_cell;

typedef struct kn_summary {
    kn_context      *ctx;
    int              quasi_count;
    uint32_t         classes;
    bool            *ordered; /* per quasi-identifier: it has statistics at all (numbers, dates, times) */
    bool            *numbers; /* it has a mean                                                          */
    kn_summary_cell *cells;   /* classes × quasi_count                                                  */
} kn_summary;

/* `quasi`: columns of the table; `least`: figures about fewer cells are not published. The result does not depend on the
 * number of threads. */
KN_CHECK kn_status kn_summary_make(kn_summary **out, kn_context *ctx, const kn_table *table, const int *quasi,
                                   const kn_plan *plan, int64_t least, kn_error *err);
void               kn_summary_free(kn_summary *summary); /* NULL is fine */

/* The name of a statistic's column, "age_min", with as many "_" appended as needed to differ from every name in the
 * release. `names` are its columns; freed by the caller (NULL: out of memory). */
char *kn_summary_name(kn_context *ctx, const char *const *names, int count, const char *quasi, kn_statistic statistic);

/* Writes the side file: header and one line per class (its cells, its rows, its statistics), in the order of their bytes.
 * `missing` is how a missing cell is written in the release. `output` stays open. */
KN_CHECK kn_status kn_summary_write(kn_output *output, const kn_summary *summary, const kn_table *table, const int *quasi,
                                    const kn_hierarchy *const *hierarchies, const kn_plan *plan, char delimiter,
                                    bool guarded, const char *missing, kn_error *err);

#endif
