/* kn_resources.h: records that are put together from resources: the parts that kn_records_scan.c and kn_records_write.c use.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RESOURCES_H
#define KN_RESOURCES_H

#include "kn_buffer.h"
#include "kn_records.h"
#include "kn_resources_scan.h"

struct kn_collector;

/* One file. */
KN_CHECK kn_status kn_resources_read(struct kn_collector *c, bool lines, kn_error *err);

/* Collects resources, then passes the records that they make to the collector's sink. */
typedef struct kn_resources_join kn_resources_join;
KN_CHECK kn_status kn_resources_join_create(kn_resources_join **out, struct kn_collector *c, kn_error *err);
KN_CHECK kn_status kn_resources_join_add(void *join, const kn_resource *resource, kn_error *err);
KN_CHECK kn_status kn_resources_join_tell(kn_resources_join *join, kn_error *err);
void               kn_resources_join_free(kn_resources_join *join);

/* The resources of one record, and what stands before and after all. `bare`: per class, whether values of the original need
 * no quotes. KN_USAGE: a node without a class. */
KN_CHECK kn_status kn_resources_write(kn_buffer *to, const kn_records *records, const kn_records_layout *layout,
                                      const kn_spec_class *classes, const bool *bare, int64_t record, kn_error *err);
void               kn_resources_frame(kn_buffer *to, const kn_records_layout *layout, bool closing);

#endif
