/* kn_database_run.h: a release of a database in progress (kn_shape.h has the stages). Only src/job includes it. All
 * fields belong to the run, except those marked as borrowed.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_DATABASE_RUN_H
#define KN_DATABASE_RUN_H

#include "kn_anatomy.h"
#include "kn_database_release.h"
#include "kn_database_write.h"
#include "kn_people.h"
#include "kn_relational.h"
#include "kn_shape.h"

typedef struct kn_database_run {
    kn_release_run         all;    /* first */
    kn_database_result    *result; /* all.head */
    int64_t                k;
    kn_database           *db;
    kn_people             *people; /* the population; NULL: none */
    kn_forest             *forest;
    kn_database_plan      *plan;
    int                    promise_count;
    kn_relational_promise *promises; /* in scratch */
    bool                   presence; /* delta-presence is promised */
    struct kn_relational_dependency *dependencies; /* in scratch: those that the spec declares */
    /* What is written. */
    kn_database_writer  *writer; /* the set's */
    kn_database_release *rows; /* one of these two */
    kn_anatomy          *anatomy;
    kn_key_map           keys;
    kn_database         *back; /* what was written                         */
    int64_t             *map;  /* per person of `back`: the original's row */
} kn_database_run;

static inline kn_database_run *kn_database_run_of(kn_release_run *run)
{
    return (kn_database_run *)(void *)run;
}

/* Hierarchies of numbers and dates for which none was given. */
KN_CHECK kn_status kn_database_run_by_type(kn_database_run *run, kn_error *err);

/* What is said of references and keys once the database is read (references.c). KN_INPUT: a reference shows what persons
 * cause. */
KN_CHECK kn_status kn_database_run_references(kn_database_run *run, kn_error *err);

/* Declared dependencies (dependencies.c): found in the tables and checked there; then kept by the plan. KN_INPUT: one does not
 * hold, or cannot be kept. */
KN_CHECK kn_status kn_database_run_dependencies(kn_database_run *run, kn_error *err);
KN_CHECK kn_status kn_database_run_keep(kn_database_run *run, kn_error *err);

/* Classes of persons for a promise of delta-presence (presence.c): `cluster` makes a plan of classes of at least k; the
 * smallest k is taken with which the promise holds, as far as a search by doubling and halving finds it. *found false: there is
 * none, and *why says so, in the run's scratch. */
typedef kn_status (*kn_database_cluster)(kn_database_run *run, int64_t k, bool *found, kn_error *err);
KN_CHECK kn_status kn_database_run_present(kn_database_run *run, kn_database_cluster cluster, bool *found,
                                           const char **why, kn_error *err);

KN_CHECK kn_status kn_database_run_search(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_database_run_measure(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_database_run_left(kn_release_run *run, const char **nothing, const char **why, kn_error *err);
KN_CHECK kn_status kn_database_run_spread(kn_release_run *run, kn_error *err); /* distributions.c */
KN_CHECK kn_status kn_database_run_write(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_database_run_verify(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_database_run_map(kn_release_run *run, kn_output *to, kn_error *err);
void               kn_database_run_end_search(kn_release_run *run);

#endif
