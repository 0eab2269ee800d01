/* verify.h: what the files of `kanon verify` share: cmd_verify.c reads the options and prints what was found of a table,
 * database/verify.c of a database, records/verify.c of records that are trees.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include <kanon/verify.h>

#include "anonymize.h"
#include "document.h"

/* Verifies a release of a database and prints what was found. The exit code. */
int cli_verify_database(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec,
                        const kn_database_verify_options *options);

/* The same of records that are trees. */
int cli_verify_records(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec,
                       const kn_records_verify_options *options);

/* ---- Parts ---- */

/* The sentence that opens: may it be published? */
void cli_verdict_print(const cli_value *answer);

/* Whether everything has an original, by one of the sentences (in the order of kn_assignment); what is wrong and what was not
 * decided, as lists; nothing where nothing is. `counted` says how places are counted. */
void cli_findings_print(const cli_value *answer, const char *const sentences[3], const char *counted);

/* A table of promises and what was reached; `worst` names that column. */
void cli_verified_print(const cli_value *answer, const char *worst);

/* 0 it holds, 1 it does not, 4 it was not decided. */
int cli_outcome_code(kn_outcome outcome);

#endif
