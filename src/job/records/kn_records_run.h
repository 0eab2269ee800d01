/* kn_records_run.h: a release of tree records in progress (kn_shape.h has the stages). Only src/job/records includes
 * it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_RECORDS_RUN_H
#define KN_RECORDS_RUN_H

#include "kn_database_write.h"
#include "kn_records_plan.h"
#include "kn_shape.h"
#include "kn_spec_records.h"
#include "kn_tree.h"

typedef struct kn_records_run {
    kn_release_run     all;    /* first */
    kn_records_result *result; /* all.head */
    kn_records        *records;
    kn_tree_result    *found;
    kn_records        *released;
    int64_t           *original_of; /* per released record       */
    kn_records        *back;        /* what was written and read */
    kn_ratio          *weights;     /* per class; NULL: they weigh the same */
    /* A release that is a database, too (written.c). */
    kn_database_writer *writer;      /* the set's; NULL: the release is a file            */
    kn_database        *db;          /* that the records were read from                   */
    kn_database        *back_db;     /* what was written and read                         */
    int64_t            *map;         /* per person of `back_db`: the original's record    */
} kn_records_run;

static inline kn_records_run *kn_records_run_of(kn_release_run *run)
{
    return (kn_records_run *)(void *)run;
}

/* Is anything left of the values that may be known? (left.c) */
KN_CHECK kn_status kn_records_run_left(kn_release_run *run, const char **nothing, const char **why, kn_error *err);

/* Notes on what the release does not promise although its owner may think so (warn.c). */
KN_CHECK kn_status kn_records_run_warn(kn_release_run *run, kn_error *err);

/* The records as a database with the schema of the original: written, and read back as `back` (written.c). */
KN_CHECK kn_status kn_records_run_put(kn_records_run *run, kn_error *err);

/* The records of a release, by its name: a file, or a database that the spec's tables describe; `original` as the spec's input, or
 * NULL (written.c). */
KN_CHECK kn_status kn_records_read_release(kn_records **out, kn_context *ctx, const char *release, const char *original,
                                           const kn_spec *spec, kn_error *err);

/* write.c */
KN_CHECK kn_status kn_records_run_spread(kn_release_run *run, kn_error *err); /* distributions.c */
KN_CHECK kn_status kn_records_run_write(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_records_run_verify(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_records_run_publish(kn_release_run *run, kn_error *err);

#endif
