/* kn_measuring.h: an original and a release as kn_measure reads them, shared with kn_measure_workload.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_MEASURING_H
#define KN_MEASURING_H

#include <kanon/measure.h>

#include "kn_arena.h"
#include "kn_cell_parse.h"
#include "kn_metrics.h"

/* A quasi-identifier: its column of both tables and what the release's texts stand for. */
typedef struct kn_measuring_quasi {
    const kn_attribute *attribute;
    int                 original, released; /* columns                                                     */
    uint32_t            star;               /* the release's code of "*"; UINT32_MAX: there is none        */
    kn_hierarchy       *hierarchy;          /* NULL: none                                                  */
    int                 level;              /* of all its cells; -1: they are not of one level             */
    uint32_t           *map;                /* the release's code → number of its cell; values + 1         */
    kn_cell            *cells;              /* per number                                                  */
    uint32_t            cell_count;
} kn_measuring_quasi;

typedef struct kn_measuring {
    kn_context               *ctx;
    const kn_spec            *spec;
    const kn_measure_options *options;
    kn_arena                  arena; /* of the job */
    kn_table                 *original, *release, *population;
    kn_timezone              *zone;
    int                       quasi_count;
    kn_measuring_quasi       *quasi;
    int                      *originals, *releases; /* columns, one per quasi-identifier */
    const kn_hierarchy      **hierarchies;
    kn_ratio                 *weights;
    bool                     *suppressed; /* per row of the release */
    int64_t                   starred;    /* of these               */
    const char *const        *extra; /* names of further columns that both tables have */
    int                       extra_count;
    kn_cell_members           members;
    kn_plan                  *plan;
} kn_measuring;

void kn_measuring_init(kn_measuring *j, kn_context *ctx, const kn_spec *spec, const kn_measure_options *options);
void kn_measuring_free(kn_measuring *j);

/* Both tables, which rows are suppressed, and the cells of every quasi-identifier; no plan yet. `extra` may be set before. */
KN_CHECK kn_status kn_measuring_read(kn_measuring *j, kn_error *err);

/* The metrics of tables that are there: the original, the release as text, without suppressed rows, and all that is said of every
 * quasi-identifier (attribute, columns, star UINT32_MAX, hierarchy), with the arrays beside it. */
KN_CHECK kn_status kn_measuring_one(kn_metrics **out, kn_measuring *j, kn_error *err);

#endif
