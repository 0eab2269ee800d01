/* verify.h: what the files of `kanon verify` share: cmd_verify.c reads the options and prints the findings for a
 * table, database/verify.c for a database, records/verify.c for tree records.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include <kanon/verify.h>

#include "anonymize.h"
#include "document.h"

/* Verifies a release of a database and prints the findings. Returns the exit code. */
int cli_verify_database(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec,
                        const kn_database_verify_options *options);

/* The same for tree records. */
int cli_verify_records(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec,
                       const kn_records_verify_options *options);

/* ---- Parts ---- */

/* The opening sentence: may it be published? */
void cli_verdict_print(const cli_value *answer);

/* Prints whether everything has an original, as one of the sentences (in the order of kn_assignment), then lists of
 * what is wrong and what is undecided, unless empty. `counted` explains how places are counted. */
void cli_findings_print(const cli_value *answer, const char *const sentences[3], const char *counted);

/* A table of promises and what was reached; `worst` is the title of that column. */
void cli_verified_print(const cli_value *answer, const char *worst);

/* 0: it holds, 1: it fails, 4: undecided. */
int cli_outcome_code(kn_outcome outcome);

#endif
