/* kn_combinations.c: depth first through the combinations that occur: the rows of a combination are counted by the next
 * item and sorted by it; combinations that no row has are never visited.
 *
 * Interface: kn_combinations.h. Cost: one step per row and combination it has. Memory: per level the entries of one
 * combination's extensions.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_combinations.h"

#include <string.h>

#include "kn_absences.h"
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_spread.h"

bool kn_combinations_prepare(kn_combinations *c, size_t items, size_t levels)
{
    if (items + 1 > c->item_capacity) {
        size_t room = items + items / 2 + 16;
        KN_FREE(c->count, c->frequency);
        c->count = NULL;
        c->frequency = NULL;
        c->item_capacity = 0;
        if (!KN_ALLOC_ZERO(c->ctx, c->count, room) || !KN_ALLOC_ZERO(c->ctx, c->frequency, room)) return false;
        c->item_capacity = room;
    }
    if (!KN_GROW(c->ctx, &c->levels, &c->level_capacity, levels)) return false;
    while (c->level_count < levels) c->levels[c->level_count++] = (kn_combination_level){0};
    return KN_GROW(c->ctx, &c->chosen, &c->chosen_capacity, levels + 1);
}

void kn_combinations_free(kn_combinations *c)
{
    for (size_t i = 0; i < c->level_count; i++) KN_FREE(c->levels[i].entries, c->levels[i].touched);
    for (size_t i = 0; i < c->absence_count; i++) {
        KN_FREE(c->absence_levels[i].items, c->absence_levels[i].entries);
    }
    KN_FREE(c->absence_levels, c->levels, c->count, c->frequency, c->chosen);
    *c = (kn_combinations){.ctx = c->ctx};
}

static bool is_excluded(const kn_combinations *c, uint32_t item)
{
    for (int i = 0; i < c->excluded_count; i++)
        if (c->excluded[i] == item) return true;
    return false;
}

/* Do the sensitive values that were counted, those of the touched places, break l or a promise? */
static bool breaks_promise(const kn_badness *bad, size_t n, int64_t support)
{
    for (size_t i = 0; i < n && bad->l > 0; i++)
        if (bad->sensitive_count[bad->touched[i]] > support / bad->l) return true;
    for (int p = 0; p < bad->promise_count; p++) {
        size_t values = 0;
        for (size_t i = 0; i < n; i++)
            if (bad->cls[bad->touched[i]] == bad->promises[p].cls)
                bad->counts[values++] = bad->sensitive_count[bad->touched[i]];
        if (!kn_spread_holds(&bad->promises[p].model, bad->counts, values, support)) return true;
    }
    return false;
}

bool kn_is_bad(const kn_combinations *c, const kn_badness *bad, const kn_row_entry *entries, size_t count,
               int64_t support)
{
    if (support < bad->k) return true;
    if (!bad->diverse) return false;
    size_t          n = 0;
    const uint64_t *start = bad->sensitive.start;
    for (size_t e = 0; e < count; e++)
        for (uint64_t i = start[entries[e].row]; i < start[entries[e].row + 1]; i++) {
            uint32_t place = bad->sensitive.items[i];
            if (bad->sensitive_count[place] == 0) bad->touched[n++] = place;
            bad->sensitive_count[place] += c->weight[entries[e].row];
        }
    bool found = breaks_promise(bad, n, support);
    for (size_t i = 0; i < n; i++) bad->sensitive_count[bad->touched[i]] = 0;
    return found;
}

/* Which items occur in the entries: in `touched`, with counts and frequencies set. -1: out of memory. */
static int64_t touch(kn_combinations *c, kn_combination_level *l, kn_row_items items, const kn_row_entry *entries,
                     size_t count, size_t *total)
{
    size_t n = 0;
    *total = 0;
    for (size_t e = 0; e < count; e++) {
        const uint32_t *from = items.items + items.start[entries[e].row] + entries[e].at;
        const uint32_t *end = items.items + items.start[entries[e].row + 1];
        int64_t         weight = c->weight[entries[e].row];
        if (!KN_GROW(c->ctx, &l->touched, &l->touched_capacity, 2 * (n + (size_t)(end - from)) + 2)) return -1;
        for (; from < end; from++) {
            if (c->frequency[*from]++ == 0) l->touched[n++] = *from;
            c->count[*from] += weight;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t item = l->touched[i];
        if (is_excluded(c, item)) {
            c->frequency[item] = 0;
            c->count[item] = 0;
            continue;
        }
        *total += c->frequency[item];
        l->touched[kept++] = item;
    }
    return (int64_t)kept;
}

static void forget(kn_combinations *c, const uint32_t *touched, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        c->count[touched[i]] = 0;
        c->frequency[touched[i]] = 0;
    }
}

/* Sorts the entries by the touched items; frequencies become where each item's entries end. */
static bool sort_entries(kn_combinations *c, kn_combination_level *l, kn_row_items items, const kn_row_entry *entries,
                         size_t count, size_t n, size_t total)
{
    if (!KN_GROW(c->ctx, &l->entries, &l->entry_capacity, total + 1)) return false;
    uint32_t at = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t here = c->frequency[l->touched[i]];
        c->frequency[l->touched[i]] = at;
        at += here;
    }
    for (size_t e = 0; e < count; e++) {
        uint32_t row = entries[e].row;
        uint64_t from = items.start[row], size = items.start[row + 1] - from;
        for (uint64_t i = entries[e].at; i < size; i++) {
            uint32_t item = items.items[from + i];
            /* An item that is not touched is excluded: its count is 0, as no touched item's is. */
            if (c->count[item] != 0) l->entries[c->frequency[item]++] = (kn_row_entry){row, (uint32_t)i + 1};
        }
    }
    for (size_t i = 0; i < n; i++) l->touched[n + i] = c->frequency[l->touched[i]];
    return true;
}

int64_t kn_combinations_split(kn_combinations *c, size_t level, kn_row_items items, const kn_row_entry *entries,
                              size_t count)
{
    kn_combination_level *l = &c->levels[level];
    size_t                total;
    int64_t               n = touch(c, l, items, entries, count, &total);
    bool                  ok = n >= 0 && sort_entries(c, l, items, entries, count, (size_t)n, total);
    if (n >= 0) forget(c, l->touched, (size_t)n);
    c->counted += n;
    return ok ? n : -1;
}

static kn_found extend_each(kn_combinations *c, size_t level, kn_row_items items, size_t n, int more,
                            const kn_badness *bad)
{
    kn_found found = KN_FOUND_NONE;
    uint32_t from = 0;
    for (size_t i = 0; i < n && found == KN_FOUND_NONE; i++) {
        const kn_combination_level *l = &c->levels[level];
        uint32_t                    to = l->touched[n + i];
        c->chosen[c->chosen_count++] = l->touched[i];
        if (bad->diverse) {
            int64_t support = 0;
            for (uint32_t e = from; e < to; e++) support += c->weight[l->entries[e].row];
            if (kn_is_bad(c, bad, l->entries + from, to - from, support)) found = KN_FOUND_BAD;
        }
        if (found == KN_FOUND_NONE && more > 1)
            found = kn_combinations_extend(c, level + 1, items, l->entries + from, to - from, more - 1, bad);
        if (found != KN_FOUND_BAD) c->chosen_count--;
        from = to;
    }
    return found;
}

/* The last value of a combination: only its support is needed. */
static kn_found extend_last(kn_combinations *c, kn_combination_level *l, kn_row_items items,
                            const kn_row_entry *entries, size_t count, int64_t k)
{
    size_t   n = 0, room = 0;
    kn_found found = KN_FOUND_NONE;
    for (size_t e = 0; e < count; e++) {
        const uint32_t *from = items.items + items.start[entries[e].row] + entries[e].at;
        const uint32_t *end = items.items + items.start[entries[e].row + 1];
        int64_t         weight = c->weight[entries[e].row];
        if (n + (size_t)(end - from) > room) {
            if (!KN_GROW(c->ctx, &l->touched, &l->touched_capacity, n + (size_t)(end - from) + 64))
                return KN_FOUND_NO_MEMORY;
            room = l->touched_capacity;
        }
        for (; from < end; from++) {
            if (c->count[*from] == 0) l->touched[n++] = *from;
            c->count[*from] += weight;
        }
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t item = l->touched[i];
        if (found == KN_FOUND_NONE && c->count[item] < k && !is_excluded(c, item)) {
            found = KN_FOUND_BAD;
            c->chosen[c->chosen_count++] = item;
        }
        c->count[item] = 0;
    }
    c->counted += (int64_t)n;
    return found;
}

kn_found kn_combinations_extend(kn_combinations *c, size_t level, kn_row_items items, const kn_row_entry *entries,
                                size_t count, int more, const kn_badness *bad)
{
    if (kn_cancelled(c->ctx)) c->cancelled = true;
    if (more < 1 || c->cancelled) return KN_FOUND_NONE;
    if (c->absences) {
        kn_found lacking = kn_absences_check(c, entries, count, more, bad);
        if (lacking != KN_FOUND_NONE) return lacking;
    }
    kn_combination_level *l = &c->levels[level];
    if (more == 1 && !bad->diverse) return extend_last(c, l, items, entries, count, bad->k);
    size_t  total;
    int64_t n = touch(c, l, items, entries, count, &total);
    if (n < 0) return KN_FOUND_NO_MEMORY;
    c->counted += n;
    kn_found found = KN_FOUND_NONE;
    for (int64_t i = 0; i < n && found == KN_FOUND_NONE; i++)
        if (c->count[l->touched[i]] < bad->k) {
            found = KN_FOUND_BAD;
            c->chosen[c->chosen_count++] = l->touched[i];
        }
    bool deeper = found == KN_FOUND_NONE && (more > 1 || bad->diverse);
    if (deeper && !sort_entries(c, l, items, entries, count, (size_t)n, total)) found = KN_FOUND_NO_MEMORY;
    forget(c, l->touched, (size_t)n);
    return deeper && found == KN_FOUND_NONE ? extend_each(c, level, items, (size_t)n, more, bad) : found;
}
