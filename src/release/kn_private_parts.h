/* kn_private_parts.h: what private files of all shapes are made of. Where memory is out `*ok` becomes false. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_PRIVATE_PARTS_H
#define KN_PRIVATE_PARTS_H

#include <kanon/anonymize.h>

#include "kn_request_json.h"

/* Models, each with what it reached in the release and, where that is known, in the original. */
json_t *kn_json_reached(const kn_release_model *models, int count, bool *ok);
json_t *kn_json_counters(const kn_release_counter *counters, int count, bool *ok);

/* How method: auto came to its method: the metric, and those that had a release, each with its loss. */
json_t *kn_json_chosen(const kn_advice *advice, bool *ok);

#endif
