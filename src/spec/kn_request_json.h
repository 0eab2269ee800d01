/* kn_request_json.h: members, models and hierarchies as JSON, for what stands beside a release. Where memory runs out `*ok`
 * becomes false, which kn_json_dump reports.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_REQUEST_JSON_H
#define KN_REQUEST_JSON_H

#include <jansson.h>
#include <kanon/spec.h>

#include "kn_buffer.h"

/* Adds a member, or an element, and takes `value` over. */
void kn_json_set(json_t *object, const char *key, json_t *value, bool *ok);
void kn_json_append(json_t *array, json_t *value, bool *ok);

json_t *kn_json_number(double value); /* null where JSON has no such number */
json_t *kn_json_text(const char *value);
json_t *kn_json_ratio(kn_ratio ratio);

/* A model: its name, variant, attribute and parameters. */
json_t *kn_json_model(const kn_model *model, bool *ok);

/* The promises with their thresholds, the largest k among them, and of a table its quasi-identifiers and budget. */
json_t *kn_json_requested(const kn_spec *spec, bool *ok);

/* The largest k that is asked for; 0: none is. */
int64_t kn_request_k(const kn_spec *spec);

const char *kn_suppressed_name(kn_suppressed mode); /* "star", "drop", "keep-sensitive" */

/* Files, each with its name and its SHA-256. */
json_t *kn_json_files(const char *const *names, const char *const *digests, int count, bool *ok);

/* A hierarchy as it was asked for: that it is a file, or the rule by which it is built; never what it was built from. */
json_t *kn_json_hierarchy(const kn_hierarchy_spec *hierarchy, bool *ok);

/* Appends the text of `root` and ends it. */
KN_CHECK kn_status kn_json_dump(kn_buffer *to, json_t *root, bool ok, kn_error *err);

#endif
