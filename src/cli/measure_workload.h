/* measure_workload.h: how `kanon measure` tells a workload's answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MEASURE_WORKLOAD_H
#define CLI_MEASURE_WORKLOAD_H

#include <kanon/workload.h>

#include "diagnose.h"
#include "json.h"

void    cli_workload_words(const kn_workload *workload, const kn_workload_report *report);
json_t *cli_workload_json(const kn_workload *workload, const kn_workload_report *report);

#endif
