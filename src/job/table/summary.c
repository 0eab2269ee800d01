/* table/summary.c: OUTPUT.summary.csv: range and mean of each class and quasi-identifier (kn_summary.h), written
 * under a temporary name while the plan is there; verified and committed with the release.
 *
 * Where a class has fewer known cells of a column than k, nothing is said of them: the mean of one known cell among k
 * would be that cell.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_error.h"
#include "kn_job_anonymize.h"
#include "kn_summary.h"

kn_status kn_run_summary(kn_run *run, kn_error *err)
{
    kn_summary *summary = NULL;
    if (!run->spec->summary) return KN_OK;
    if (run->to_stream) return kn_run_note(run, err, "the release goes to a stream: no summary is written");
    size_t room = strlen(run->spec->output) + sizeof KN_SUMMARY_SUFFIX;
    char  *path = kn_run_room(run, &run->scratch, room, 1, err);
    if (!path) return KN_MEMORY;
    snprintf(path, room, "%s%s", run->spec->output, KN_SUMMARY_SUFFIX);
    KN_TRY(kn_output_open(&run->summary, run->ctx, path, NULL, err));
    if (kn_output_is_stream(run->summary)) return kn_fail(err, KN_USAGE, "%s: exists and is not a file", path);
    KN_TRY(kn_summary_make(&summary, run->ctx, run->table, run->quasi, run->plan, run->requirements->k, err));
    kn_status st =
        kn_summary_write(run->summary, summary, run->table, run->quasi, (const kn_hierarchy *const *)run->hierarchies,
                         run->plan, run->delimiter, run->spec->spreadsheet_safe, kn_run_recode_input(run).missing, err);
    kn_summary_free(summary);
    return st == KN_OK ? kn_output_flush(run->summary, err) : st;
}
