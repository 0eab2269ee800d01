/* measure_workload.h: how `kanon measure` prints a workload's answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MEASURE_WORKLOAD_H
#define CLI_MEASURE_WORKLOAD_H

#include "document.h"

/* Prints "workload" of the answer "measure" as text. */
void cli_workload_print(const cli_value *workload);

#endif
