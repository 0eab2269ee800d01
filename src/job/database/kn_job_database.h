/* kn_job_database.h: one run of kn_anonymize_database and its stages. Only the files kn_job_database*.c include it.
 *
 *     kn_dbrun_open      the target, so that one that cannot be written costs no search
 *     kn_dbrun_read      tables, the table of persons, roles, trees
 *     kn_dbrun_choose    method: auto only: the candidates, each as far as kn_dbrun_search; one is chosen
 *     kn_dbrun_search    the plan, and what it costs
 *     kn_dbrun_write     rows, keys, read back, verified, compared, committed
 *
 * All fields belong to the run and are freed by kn_anonymize_database at its end, but for what is called borrowed.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_JOB_DATABASE_H
#define KN_JOB_DATABASE_H

#include <kanon/anonymize.h>

#include "kn_arena.h"
#include "kn_database_write.h"
#include "kn_input_mark.h"
#include "kn_relational.h"

typedef struct kn_dbrun {
    kn_context                 *ctx;
    const kn_spec              *asked; /* borrowed: the user's                     */
    const kn_spec              *spec; /* borrowed; after kn_dbrun_choose `chosen`  */
    kn_spec                     chosen; /* the user's with the method that auto chose */
    const kn_anonymize_options *options;
    kn_database_result         *result;
    kn_arena                   *arena; /* of the result */
    kn_arena                    scratch;
    int64_t                     k;
    kn_input_mark              *mark; /* of the input, before it was read */
    kn_database                *db;
    kn_forest                  *forest;
    kn_database_plan           *plan;
    int                         promise_count;
    kn_relational_promise      *promises; /* in scratch */
    const char                 *base;     /* what files beside the release begin with; in the result */
    kn_database_writer         *writer;
    uint64_t                    key_seed;
} kn_dbrun;

KN_CHECK kn_status kn_dbrun_open(kn_dbrun *run, kn_error *err);
KN_CHECK kn_status kn_dbrun_read(kn_dbrun *run, kn_error *err);
KN_CHECK kn_status kn_dbrun_choose(kn_dbrun *run, kn_error *err);
KN_CHECK kn_status kn_dbrun_search(kn_dbrun *run, kn_error *err);
KN_CHECK kn_status kn_dbrun_sizes_before(kn_dbrun *run, kn_error *err); /* part of it: what the original is like */
KN_CHECK kn_status kn_dbrun_write(kn_dbrun *run, kn_error *err);

/* Tries the methods on the database that was read; the run itself stays as it is. */
KN_CHECK kn_status kn_dbrun_try_methods(kn_dbrun *run, kn_advice *out, kn_arena *arena, kn_error *err);

/* Adds a sentence for the user to the result. */
KN_CHECK kn_status kn_dbrun_note(kn_dbrun *run, kn_error *err, const char *format, ...) KN_PRINTF(3, 4);

/* Zeroed memory of an arena; NULL after KN_MEMORY was told. */
void *kn_dbrun_room(kn_dbrun *run, kn_arena *arena, size_t count, size_t size, kn_error *err);

#endif
