/* measure_database.h: `kanon measure` of a database. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MEASURE_DATABASE_H
#define CLI_MEASURE_DATABASE_H

#include <kanon/measure.h>

#include "cli.h"

/* Measures and prints; returns the exit code. */
int cli_measure_database(const cli_common *common, kn_context *ctx, const kn_spec *spec,
                         const kn_measure_options *options);

#endif
