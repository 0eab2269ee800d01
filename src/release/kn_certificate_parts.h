/* kn_certificate_parts.h: what certificates of all kinds are made of. Where memory is out `*ok` becomes false, which
 * kn_json_dump tells. */
#ifndef KN_CERTIFICATE_PARTS_H
#define KN_CERTIFICATE_PARTS_H

#include <jansson.h>
#include <kanon/anonymize.h>

#include "kn_buffer.h"

/* Adds a member, or an element, and takes `value` over. */
void kn_json_set(json_t *object, const char *key, json_t *value, bool *ok);
void kn_json_append(json_t *array, json_t *value, bool *ok);

json_t *kn_json_number(double value); /* null where JSON has no such number */
json_t *kn_json_text(const char *value);
json_t *kn_json_ratio(kn_ratio ratio);

/* A model: its name, variant, attribute and parameters. */
json_t *kn_json_model(const kn_model *model, bool *ok);
json_t *kn_json_reached(const kn_release_model *models, int count, bool *ok); /* models, each with what it reached */
json_t *kn_json_counters(const kn_release_counter *counters, int count, bool *ok);

/* How method: auto came to its method: the metric, and those that had a release, each with its loss. Two digits of that are
 * enough to understand the choice, and say little about releases that nobody was shown; `exact` is for the owner. */
json_t *kn_json_chosen(const kn_advice *advice, bool exact, bool *ok);

/* Appends the text of `root` and ends it. */
KN_CHECK kn_status kn_json_dump(kn_buffer *to, json_t *root, bool ok, kn_error *err);

#endif
