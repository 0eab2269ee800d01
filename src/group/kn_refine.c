/* kn_refine.c: rows at risk by partition refinement (kn_refine.h).
 *
 * The combinations of a frequency set are split by one column after the other. Of each partition only the classes that
 * can still matter are kept, in the manner of TANE's stripped partitions (Huhtala, Kärkkäinen, Porkka, Toivonen 1999):
 *   - a class with fewer than k rows is at risk and stays so: its rows are added up and it is forgotten;
 *   - a combination that has k rows over all columns is never at risk, so a class of only those is forgotten. If most rows are safe, almost nothing is left after a few columns.
 *
 * Small classes are refined first: they cost least and are the likeliest to fall below k, and a set that does not hold is given
 * up as soon as too many rows are at risk.
 *
 * Refining permutes combinations only inside a class, so one array of members serves all depths: a class further down
 * the stack is still the same range. Cost of a push: the members of the open classes. Memory: about 32 bytes for each
 * combination, and 4 for each possible code of the widest column.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_refine.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_error.h"

static uint32_t code_of(const kn_freq *freq, kn_field field, uint32_t member)
{
    return kn_field_get(field, freq->keys + (size_t)member * (size_t)freq->layout.words);
}

enum { FEW_BITS = 16 };

/* At least one more than the highest code of any column. Where the fields of the keys are narrow, they say enough. */
static size_t most_codes(const kn_freq *freq)
{
    uint32_t most = 0;
    int      bits = 0;
    for (int c = 0; c < freq->layout.columns; c++)
        if (freq->layout.fields[c].bits > bits) bits = freq->layout.fields[c].bits;
    if (bits <= FEW_BITS) return (size_t)1 << bits;
    for (int64_t i = 0; i < freq->classes; i++)
        for (int c = 0; c < freq->layout.columns; c++) {
            uint32_t code = kn_freq_code(freq, i, c);
            if (code > most) most = code;
        }
    return (size_t)most + 1;
}

static bool allocate(kn_refiner *r, kn_context *ctx)
{
    size_t n = (size_t)r->freq->classes + 1, depths = (size_t)r->freq->layout.columns + 2;
    r->risk = kn_alloc_array_zero(ctx, depths, sizeof *r->risk);
    r->begin = kn_alloc_array_zero(ctx, depths, sizeof *r->begin);
    r->members = kn_alloc_array(ctx, n, sizeof *r->members);
    r->group = kn_alloc_array(ctx, n, sizeof *r->group);
    r->moved = kn_alloc_array(ctx, n, sizeof *r->moved);
    r->slot = kn_alloc_array_zero(ctx, most_codes(r->freq), sizeof *r->slot);
    r->group_count = kn_alloc_array(ctx, n, sizeof *r->group_count);
    r->group_at = kn_alloc_array(ctx, n, sizeof *r->group_at);
    r->group_rows = kn_alloc_array(ctx, n, sizeof *r->group_rows);
    r->group_light = kn_alloc_array_zero(ctx, kn_bitset_words(n), sizeof *r->group_light);
    return r->risk && r->begin && r->members && r->group && r->moved && r->slot && r->group_count && r->group_at &&
           r->group_rows && r->group_light;
}

static bool add_range(kn_refiner *r, int64_t *count, uint32_t first, uint32_t last)
{
    if (!KN_GROW(r->freq->ctx, &r->ranges, &r->range_capacity, (size_t)*count + 1)) return false;
    r->ranges[*count][0] = first;
    r->ranges[*count][1] = last;
    (*count)++;
    return true;
}

kn_status kn_refiner_init(kn_refiner *r, kn_context *ctx, const kn_freq *freq, int64_t k, int64_t allowed,
                          kn_error *err)
{
    *r = (kn_refiner){.freq = freq, .k = k, .allowed = allowed};
    if (freq->classes >= UINT32_MAX)
        return kn_fail(err, KN_USAGE, "more than 2^32 different rows: too many to search attribute sets");
    if (!allocate(r, ctx)) {
        kn_refiner_free(r);
        return kn_fail_memory(err, ctx, "searching attribute sets");
    }
    int64_t ranges = 0;
    for (int64_t i = 0; i < freq->classes; i++) r->members[i] = (uint32_t)i;
    if (freq->rows < k)
        r->risk[0] = freq->rows;
    else if (!add_range(r, &ranges, 0, (uint32_t)freq->classes)) {
        kn_refiner_free(r);
        return kn_fail_memory(err, ctx, "searching attribute sets");
    }
    r->begin[1] = ranges;
    return KN_OK;
}

void kn_refiner_free(kn_refiner *r)
{
    KN_FREE(r->risk, r->begin, r->members, r->ranges, r->group, r->moved, r->slot, r->group_count, r->group_at,
            r->group_rows, r->group_light);
    *r = (kn_refiner){0};
}

/* Numbers the codes of a class in order of appearance and sums the rows of each; returns how many there are. */
static uint32_t count_groups(kn_refiner *r, kn_field field, uint32_t first, uint32_t last)
{
    const kn_freq *freq = r->freq;
    uint32_t       groups = 0;
    for (uint32_t i = first; i < last; i++) {
        uint32_t member = r->members[i];
        uint32_t code = code_of(freq, field, member);
        uint32_t g = r->slot[code];
        if (g == 0) {
            g = r->slot[code] = ++groups;
            r->group_count[g - 1] = 0;
            r->group_rows[g - 1] = 0;
            kn_bitset_clear(r->group_light, g - 1);
        }
        g--;
        r->group[i] = g;
        r->group_count[g]++;
        r->group_rows[g] += freq->counts[member];
        if (freq->counts[member] < r->k) kn_bitset_set(r->group_light, g);
    }
    for (uint32_t i = first; i < last; i++) r->slot[code_of(freq, field, r->members[i])] = 0;
    return groups;
}

/* Puts the members of a class in order of their groups and keeps the groups that can still matter. */
static bool split(kn_refiner *r, uint32_t groups, uint32_t first, uint32_t last, int64_t *ranges)
{
    uint32_t at = first;
    for (uint32_t g = 0; g < groups; g++) {
        r->group_at[g] = at;
        at += r->group_count[g];
    }
    for (uint32_t i = first; i < last; i++) r->moved[r->group_at[r->group[i]]++] = r->members[i];
    memcpy(r->members + first, r->moved + first, (size_t)(last - first) * sizeof *r->members);
    for (uint32_t g = 0; g < groups; g++) {
        if (r->group_rows[g] < r->k || !kn_bitset_test(r->group_light, g)) continue;
        if (!add_range(r, ranges, r->group_at[g] - r->group_count[g], r->group_at[g])) return false;
    }
    return true;
}

/* Refines the classes of this depth that have more than `above` and at most `up_to` combinations. */
static bool refine(kn_refiner *r, kn_field field, uint32_t above, uint32_t up_to, int64_t *ranges, int64_t *risk)
{
    int64_t end = r->begin[r->depth + 1];
    for (int64_t i = r->begin[r->depth]; i < end && *risk <= r->allowed; i++) {
        uint32_t first = r->ranges[i][0], last = r->ranges[i][1];
        if (last - first <= above || last - first > up_to) continue;
        uint32_t groups = count_groups(r, field, first, last);
        for (uint32_t g = 0; g < groups; g++)
            if (r->group_rows[g] < r->k) *risk += r->group_rows[g];
        if (*risk <= r->allowed && !split(r, groups, first, last, ranges)) return false;
    }
    return true;
}

kn_status kn_refiner_push(kn_refiner *r, int column, bool *holds, kn_error *err)
{
    static const uint32_t sizes[] = {0, 256, 16384, UINT32_MAX};
    kn_field              field = r->freq->layout.fields[column];
    int64_t               ranges = r->begin[r->depth + 1], risk = r->risk[r->depth];
    bool                  fine = true;
    r->evaluations++;
    for (size_t i = 0; fine && i + 1 < sizeof sizes / sizeof *sizes; i++)
        fine = refine(r, field, sizes[i], sizes[i + 1], &ranges, &risk);
    if (!fine) return kn_fail_memory(err, r->freq->ctx, "searching attribute sets");
    r->depth++;
    r->risk[r->depth] = risk;
    r->begin[r->depth + 1] = ranges;
    *holds = risk <= r->allowed;
    return KN_OK;
}

void kn_refiner_pop(kn_refiner *r, int depth)
{
    if (depth < r->depth) r->depth = depth;
}

int64_t kn_refiner_open(const kn_refiner *r)
{
    int64_t open = 0;
    for (int64_t i = r->begin[r->depth]; i < r->begin[r->depth + 1]; i++) open += r->ranges[i][1] - r->ranges[i][0];
    return open;
}
