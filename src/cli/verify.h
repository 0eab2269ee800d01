/* verify.h: what the files of `kanon verify` share: cmd_verify.c reads the options and tells of a table,
 * verify_database.c of a database, verify_records.c of records that are trees. */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include <kanon/verify.h>

#include "anonymize.h"

/* Verifies a release of a database and tells. The exit code. */
int cli_verify_database(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec,
                        const kn_database_verify_options *options);

/* The same of records that are trees. */
int cli_verify_records(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec,
                       const kn_records_verify_options *options);

/* ---- Parts ---- */

/* A table of promises and what was reached; `worst` names that column. */
void    cli_verified_print(const kn_verified_model *models, int count, const char *worst);
json_t *cli_verified_json(const kn_verified_model *models, int count);

/* The sentence that opens: may it be published? */
void cli_verdict_print(kn_outcome outcome);

/* What is wrong and what was not decided, as lists; nothing where nothing is. `counted` says how places are counted. */
void    cli_problems_print(const char *const *problems, int count, bool more, const char *counted);
void    cli_open_print(const char *const *open, int count);
json_t *cli_problems_json(const char *const *problems, int count);

/* 0 it holds, 1 it does not, 4 it was not decided. */
int cli_outcome_code(kn_outcome outcome);

#endif
