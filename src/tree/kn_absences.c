/* kn_absences.c: combinations with absences (section III-G): rows that have some values and lack others.
 *
 * Interface: kn_absences.h. Depth first through the sets of values that some of the rows have: the remaining support
 * is the support minus the count of the value; rows are copied only if more values can be lacking. A set whose
 * largest counts together leave k records is not followed: no subset of it can be rare. For diversity likewise: the
 * records with one sensitive value can only become fewer.
 *
 * Cost: one step per row and value it has that can be lacking; beyond that only where few records lack what many have.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_absences.h"

#include "kn_alloc.h"
#include "kn_context.h"

/* Collects the items after `after`, not heavier than `budget`, that the rows have, with the number of their records. */
static bool count_items(kn_combinations *c, kn_absence_level *l, const kn_row_entry *entries, size_t count,
                        int64_t after, int budget)
{
    const kn_absences *a = c->absences;
    l->count = 0;
    for (size_t e = 0; e < count; e++) {
        uint32_t row = entries[e].row;
        uint64_t from = a->items.start[row], to = a->items.start[row + 1];
        if (!KN_GROW(c->ctx, &l->items, &l->item_capacity, l->count + (size_t)(to - from) + 1)) return false;
        for (; from < to; from++) {
            uint32_t item = a->items.items[from];
            if ((int64_t)item <= after || (int64_t)a->weight[item] > budget) continue;
            if (c->count[item] == 0) l->items[l->count++].item = item;
            c->count[item] += c->weight[row];
        }
    }
    for (size_t i = 0; i < l->count; i++) {
        l->items[i].records = c->count[l->items[i].item];
        c->count[l->items[i].item] = 0;
    }
    c->counted += (int64_t)l->count;
    return true;
}

enum { MOST = 64 };

/* most[j], all zero, becomes the sum of the j largest counts. */
static void sum_largest(const kn_absence_level *l, int64_t *most, int budget)
{
    if (budget > MOST) budget = MOST;
    for (size_t i = 0; i < l->count; i++) {
        int64_t records = l->items[i].records;
        for (int j = 1; j <= budget; j++)
            if (records > most[j]) {
                int64_t smaller = most[j];
                most[j] = records;
                records = smaller;
            }
    }
    for (int j = 1; j <= budget; j++) most[j] += most[j - 1];
}

/* With l: how many records have the most frequent sensitive value? */
static int64_t largest_share(const kn_combinations *c, const kn_badness *bad, const kn_row_entry *entries, size_t count)
{
    int64_t         largest = 0;
    const uint64_t *start = bad->sensitive.start;
    for (int pass = 0; bad->l > 0 && pass < 2; pass++) /* the second one clears the counts */
        for (size_t e = 0; e < count; e++)
            for (uint64_t i = start[entries[e].row]; i < start[entries[e].row + 1]; i++) {
                int64_t *with = &bad->sensitive_count[bad->sensitive.items[i]];
                *with = pass == 0 ? *with + c->weight[entries[e].row] : 0;
                if (*with > largest) largest = *with;
            }
    return largest;
}

/* How many records `budget` values can have together, of `support`. */
static int64_t covered(const int64_t *most, int budget, int64_t support)
{
    return budget <= MOST ? most[budget] : support;
}

/* Can rows that represent at least this many records be bad? */
static bool may_be_bad(const kn_badness *bad, int64_t records, int64_t share)
{
    return records < bad->k || bad->promise_count > 0 || (bad->l > 0 && (records < 1 || share > records / bad->l));
}

static bool has_item(const kn_absences *a, uint32_t row, uint32_t item)
{
    for (uint64_t i = a->items.start[row]; i < a->items.start[row + 1] && a->items.items[i] <= item; i++)
        if (a->items.items[i] == item) return true;
    return false;
}

/* The rows that lack it. */
static bool take_lacking(const kn_combinations *c, kn_absence_level *l, const kn_row_entry *entries, size_t count,
                         uint32_t item)
{
    if (!KN_GROW(c->ctx, &l->entries, &l->entry_capacity, count + 1)) return false;
    l->entry_count = 0;
    for (size_t e = 0; e < count; e++)
        if (!has_item(c->absences, entries[e].row, item)) l->entries[l->entry_count++] = entries[e];
    return true;
}

/* Recursion: one level for each value that can be lacking. */
static kn_found explore(kn_combinations *c, size_t level, const kn_row_entry *entries, size_t count, int64_t support,
                        int64_t after, int budget, const kn_badness *bad)
{
    kn_absence_level *l = &c->absence_levels[level];
    int64_t           most[MOST + 1] = {0};
    if (kn_cancelled(c->ctx)) c->cancelled = true;
    if (c->cancelled) return KN_FOUND_NONE;
    if (!count_items(c, l, entries, count, after, budget)) return KN_FOUND_NO_MEMORY;
    int64_t share = largest_share(c, bad, entries, count);
    sum_largest(l, most, budget);
    if (!may_be_bad(bad, support - covered(most, budget, support), share)) return KN_FOUND_NONE;
    for (size_t i = 0; i < l->count; i++) {
        uint32_t item = l->items[i].item;
        int64_t  left = support - l->items[i].records;
        int      rest = budget - (int)c->absences->weight[item];
        if (left == 0) continue;
        if (left < bad->k) return KN_FOUND_BAD;
        bool deeper = rest > 0 && may_be_bad(bad, left - covered(most, rest, left), share);
        if (!deeper && !may_be_bad(bad, left, share)) continue;
        if (!take_lacking(c, l, entries, count, item)) return KN_FOUND_NO_MEMORY;
        if (bad->diverse && kn_is_bad(c, bad, l->entries, l->entry_count, left)) return KN_FOUND_BAD;
        kn_found found =
            deeper ? explore(c, level + 1, l->entries, l->entry_count, left, item, rest, bad) : KN_FOUND_NONE;
        if (found != KN_FOUND_NONE) return found;
    }
    return KN_FOUND_NONE;
}

kn_found kn_absences_check(kn_combinations *c, const kn_row_entry *entries, size_t count, int budget,
                           const kn_badness *bad)
{
    size_t levels = (size_t)budget + 1;
    if (!KN_GROW(c->ctx, &c->absence_levels, &c->absence_capacity, levels)) return KN_FOUND_NO_MEMORY;
    while (c->absence_count < levels) c->absence_levels[c->absence_count++] = (kn_absence_level){0};
    int64_t support = 0;
    for (size_t e = 0; e < count; e++) support += c->weight[entries[e].row];
    return explore(c, 0, entries, count, support, -1, budget, bad);
}
