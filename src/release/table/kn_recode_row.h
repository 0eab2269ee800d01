/* kn_recode_row.h: which cells of a released row are shown, for whoever writes it: as CSV or as columns; and mistakes on purpose. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_RECODE_ROW_H
#define KN_RECODE_ROW_H

#include "kn_fault.h"
#include "kn_released.h"

/* The rows of a release, in their order: entries of the map. */
typedef struct kn_released_rows {
    const int64_t *map;   /* row of the table per entry                                                        */
    const int64_t *times; /* of a counted table, per entry: rows that it stands for; NULL: one                 */
    const int64_t *ends;  /* of one that is expanded: rows up to and with the entry; NULL: an entry is one row */
    int64_t        entries;
} kn_released_rows;

static inline int64_t kn_released_row_count(const kn_released_rows *r)
{
    return r->ends && r->entries > 0 ? r->ends[r->entries - 1] : r->entries;
}

/* The entry that a row of an expanded release is. */
static inline int64_t kn_recode_entry(const int64_t *ends, int64_t entries, int64_t row)
{
    int64_t low = 0, high = entries;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ends[middle] <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Is the column shown in a suppressed row, too? */
static inline bool kn_recode_shown(const kn_recode_input *input, const kn_released_texts *t)
{
    return input->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE && t->kind == KN_RELEASED_COPY && t->sensitive;
}

/* How many rows are lost at the beginning, by mistake. */
static inline int kn_recode_lost(const kn_recode_input *input)
{
    (void)input;
    return kn_fault("recode-lose-row");
}

/* Is a mistake to be made with rows? */
static inline bool kn_recode_mistaken(void)
{
    return kn_fault("recode-lose-row") || kn_fault("recode-duplicate-row") || kn_fault("recode-swap-class") ||
           kn_fault("recode-copy-shift") || kn_fault("recode-show-suppressed");
}

/* The row and class that are written in the place of the i-th, by mistake. */
static inline void kn_recode_mistake(const kn_recode_input *input, const int64_t *map, int64_t i, int64_t *row,
                                     uint32_t *class_index)
{
#ifdef KN_FAULTS
    const kn_plan *plan = input->plan;
    if (kn_fault("recode-duplicate-row") && i == 1) *class_index = plan->class_of_row[*row = map[0]];
    if (kn_fault("recode-swap-class") && *class_index == 0) *class_index = 1;
    if (kn_fault("recode-copy-shift") && *class_index == 0) *row = (*row + 1) % plan->rows;
    if (kn_fault("recode-show-suppressed") && *class_index == KN_CLASS_SUPPRESSED) *class_index = 0;
#else
    (void)input, (void)map, (void)i, (void)row, (void)class_index;
#endif
}

#endif
