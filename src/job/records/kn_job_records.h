/* kn_job_records.h: one run of kn_anonymize_records. Only the files kn_job_records*.c include it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_JOB_RECORDS_H
#define KN_JOB_RECORDS_H

#include <kanon/anonymize.h>

#include "kn_arena.h"
#include "kn_input_mark.h"
#include "kn_output.h"
#include "kn_records_plan.h"
#include "kn_tree.h"

typedef struct kn_recrun {
    kn_context                 *ctx;
    const kn_spec              *asked; /* borrowed: the user's */
    const kn_spec              *spec; /* borrowed; with method: auto, when one was chosen, `chosen` */
    kn_spec                     chosen;
    const kn_anonymize_options *options;
    kn_records_result          *result;
    kn_arena                   *arena; /* of the result */
    kn_output                  *output;
    kn_input_mark              *mark; /* of the input, before it was read */
    kn_records                 *records;
    kn_tree_result             *found;
    kn_records                 *released;
    int64_t                    *original_of; /* per released record */
    struct kn_public           *facts;       /* what the release tells by itself */
    const char                 *digest;      /* of the release, for its seal     */
} kn_recrun;

/* Search and measure the records that were read; found and measured stand in the result. */
KN_CHECK kn_status kn_recrun_search(kn_recrun *run, kn_error *err);
void               kn_recrun_end_search(kn_recrun *run);

/* A note in the result (release.c), and what the release does not promise although its owner may think so, as notes
 * (warn.c). */
KN_PRINTF(3, 4) kn_status kn_recrun_note(kn_recrun *run, kn_error *err, const char *format, ...);
KN_CHECK kn_status        kn_recrun_warn(kn_recrun *run, kn_error *err);

/* method: auto (choose.c): the candidates, each as far as kn_recrun_search; one is chosen. The first leaves
 * the run as it is. */
KN_CHECK kn_status kn_recrun_try_methods(kn_recrun *run, kn_advice *out, kn_arena *arena, kn_error *err);
KN_CHECK kn_status kn_recrun_choose(kn_recrun *run, kn_error *err);

/* Released records → a verified file under its name, with what stands beside it. */
KN_CHECK kn_status kn_recrun_write(kn_recrun *run, kn_error *err);

/* How both the original and the release are read. */
kn_records_options kn_recrun_reading(const kn_recrun *run);

#endif
