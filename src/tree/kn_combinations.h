/* kn_combinations.h: the combinations of values, and of relations, that rows have, with their supports. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_COMBINATIONS_H
#define KN_COMBINATIONS_H

#include "kn_rows.h"
#include "kn_tree.h"

/* A row and how many of its items have been used. */
typedef struct kn_row_entry {
    uint32_t row, at;
} kn_row_entry;

/* Items (places, or relations) of each row, ascending. */
typedef struct kn_row_items {
    const uint64_t *start;
    const uint32_t *items;
} kn_row_items;

typedef struct kn_combination_level {
    kn_row_entry *entries;
    size_t        entry_capacity;
    uint32_t     *touched; /* items that occur, and behind them where their entries end */
    size_t        touched_capacity;
} kn_combination_level;

/* The rows that lack something more (kn_absences.c). */
typedef struct kn_absence_level {
    struct {
        uint32_t item;
        int64_t  records; /* that have it */
    } *items;
    size_t        count, item_capacity;
    kn_row_entry *entries;
    size_t        entry_count, entry_capacity;
} kn_absence_level;

/* What makes a combination bad: fewer than k records, or, with l > 0, a sensitive value in more than 1 / l of them, or a
 * promise about a sensitive class that they break. */
typedef struct kn_badness {
    int64_t                k; /* 0: not asked */
    int64_t                l; /* 0: not asked */
    const kn_tree_promise *promises;
    int                    promise_count;
    bool                   diverse;   /* l or promises are asked; then: */
    kn_row_items           sensitive; /* of each row */
    int64_t               *sensitive_count; /* per place, all zero */
    const uint16_t        *cls;     /* per place */
    uint32_t              *touched; /* scratch: places ... */
    int64_t               *counts;  /* ... and the counts of those of one class */
} kn_badness;

/* The scratch of one thread. */
typedef struct kn_combinations {
    kn_context           *ctx;
    const int64_t        *weight; /* per row */
    int64_t              *count;  /* per item, all zero between calls */
    uint32_t             *frequency;
    size_t                item_capacity;
    kn_combination_level *levels;
    size_t                level_capacity, level_count;
    uint32_t             *chosen; /* of the bad combination that was found */
    size_t                chosen_capacity;
    int                   chosen_count;
    const uint32_t       *excluded; /* items that are not to be added */
    int                   excluded_count;
    const struct kn_absences *absences; /* that may be known, too; NULL: none */
    kn_absence_level     *absence_levels;
    size_t                absence_capacity, absence_count;
    bool                  cancelled;
    int64_t               counted; /* combinations */
} kn_combinations;

/* Makes space for items below `items` and `levels` more than those in use. */
KN_CHECK bool kn_combinations_prepare(kn_combinations *c, size_t items, size_t levels);
void          kn_combinations_free(kn_combinations *c);

typedef enum kn_found { KN_FOUND_NONE, KN_FOUND_BAD, KN_FOUND_NO_MEMORY } kn_found;

/* Is a combination of 1 to `more` further items (and absences) bad, in the rows of `entries`? `level` is the first one that
 * is free. */
kn_found kn_combinations_extend(kn_combinations *c, size_t level, kn_row_items items, const kn_row_entry *entries,
                                size_t count, int more, const kn_badness *bad);

/* Counts the items of all entries, and sorts the entries by item: those of touched[i] end at touched[n + i]. -1: memory. */
int64_t kn_combinations_split(kn_combinations *c, size_t level, kn_row_items items, const kn_row_entry *entries,
                              size_t count);

bool kn_is_bad(const kn_combinations *c, const kn_badness *bad, const kn_row_entry *entries, size_t count,
               int64_t support);

#endif
