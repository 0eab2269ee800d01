/* table/summary.c: OUTPUT.summary.csv: range and mean of each class and quasi-identifier (kn_summary.h), written
 * under a temporary name while the plan is there; verified and committed with the release.
 *
 * If a class has fewer than k known cells in a column, nothing is published about them: the mean of a single known
 * cell would be that cell.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_error.h"
#include "kn_summary.h"
#include "kn_table_run.h"

kn_status kn_table_run_summary(kn_table_run *run, kn_error *err)
{
    kn_summary *summary = NULL;
    if (!run->all.spec->summary) return KN_OK;
    if (!run->all.base) return kn_release_note(&run->all, err, "the release goes to a stream: no summary is written");
    KN_TRY(kn_set_create(run->all.set, &run->all.summary, KN_SET_SUMMARY, NULL, err));
    KN_TRY(kn_summary_make(&summary, run->all.ctx, run->table, run->quasi, run->plan, run->requirements->k, err));
    kn_status st = kn_summary_write(run->all.summary, summary, run->table, run->quasi,
                                    (const kn_hierarchy *const *)run->hierarchies, run->plan, run->delimiter,
                                    run->all.spec->spreadsheet_safe, kn_table_run_recode_input(run).missing, err);
    kn_summary_free(summary);
    return st == KN_OK ? kn_output_flush(run->all.summary, err) : st;
}
