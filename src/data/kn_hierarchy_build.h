/* kn_hierarchy_build.h: what the builders of hierarchies share. Only kn_hierarchy_build.c and kn_hierarchy_ranges.c
 * include it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_HIERARCHY_BUILD_H
#define KN_HIERARCHY_BUILD_H

#include "kn_buffer.h"
#include "kn_hierarchy.h"
#include "kn_value.h"

/* A way to label values. `label` appends the label of a value at level 1 .. levels; a failed append is detected
 * later. */
typedef struct kn_label_builder {
    kn_context      *ctx;
    const kn_column *column;
    const int64_t   *times;  /* per code: microseconds on the clocks of the spec's time zone; NULL: the column's integers */
    uint32_t         levels; /* labelled ones: without the values and without the added root */
    bool             star;   /* a root "*" is added */
    void (*label)(const struct kn_label_builder *b, uint32_t code, uint32_t level, kn_buffer *out);
} kn_label_builder;

/* Ranges and breaks. All numbers are integers: the number times 10^scale. */
typedef struct kn_interval_builder {
    kn_label_builder base;
    int64_t         *values; /* per code, rounded down to the scale; NULL: the dictionary's integers */
    int              scale;
    char             decimal;
    int64_t          origin;
    int64_t         *widths; /* RANGES: per level                                            */
    int64_t         *points; /* BREAKS: all levels' cut points, level after level            */
    size_t          *begins; /* BREAKS: levels + 1: where a level's points begin in `points` */
} kn_interval_builder;

/* Reads the numbers of `spec` and of the column. The builder must be freed, even on failure. */
KN_CHECK kn_status kn_interval_builder_init(kn_interval_builder *b, kn_label_builder base,
                                            const kn_hierarchy_spec *spec, kn_error *err);
void               kn_interval_builder_free(kn_interval_builder *b);

#endif
