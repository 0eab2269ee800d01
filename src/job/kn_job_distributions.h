/* kn_job_distributions.h: distributions (kn_distribution.h) as a result has them, whatever the shape. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_JOB_DISTRIBUTIONS_H
#define KN_JOB_DISTRIBUTIONS_H

#include "kn_distribution.h"
#include "kn_release_distributions.h"
#include "kn_shape.h"

/* Which column, and the texts of its values. */
typedef struct kn_distributed {
    const char *table; /* NULL: there is one table */
    const char *name;
    kn_role     role;
    kn_string (*text)(const void *of, uint32_t value);
    const void *of;
} kn_distributed;

/* A column of a table. */
kn_distributed kn_distributed_column(const char *table, const kn_column *column, kn_role role);

/* Puts distributions into the result; `stars` and `left_out` (copied, NULL: nothing) as in kn_release_distributions. */
KN_CHECK kn_status kn_release_set_distributions(kn_release_run *run, const kn_distributed *columns,
                                                const kn_distribution *list, int count, int64_t stars,
                                                const char *left_out, kn_error *err);

#endif
