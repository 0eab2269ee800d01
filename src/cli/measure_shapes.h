/* measure_shapes.h: `kanon measure` of a database, and of records that are trees. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MEASURE_SHAPES_H
#define CLI_MEASURE_SHAPES_H

#include <kanon/measure.h>

#include "cli.h"

/* Measures and prints; returns the exit code. */
int cli_measure_database(const cli_common *common, kn_context *ctx, const kn_spec *spec,
                         const kn_measure_options *options);
int cli_measure_records(const cli_common *common, kn_context *ctx, const kn_spec *spec,
                        const kn_measure_options *options);

#endif
