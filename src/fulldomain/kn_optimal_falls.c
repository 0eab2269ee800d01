/* kn_optimal_falls.c: what rows that are suppressed at a node cost at least at the nodes below it.
 *
 * kn_optimal_bound.c counts a suppressed row as if it were generalized as far as the node where it was seen to be
 * suppressed: star - cost there. A node v further down suppresses it too, and loses at least what any u below v loses if
 * just those rows are suppressed: their cost at u is what counts, which is less, and more the further down u is. Counting
 * says only which value a row has at the node; further down it costs no more than the most expensive of the values that
 * become this one.
 *
 * Cost of a counted node: values × levels. Memory: 8 bytes per value and two levels; quasi-identifiers with more than
 * VALUES_MOST values are taken to be suppressed at their most expensive value.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_optimal_internal.h"

#define WHAT "searching the lattice"

enum { VALUES_MOST = 1024 };

void kn_falls_free(kn_falls *f)
{
    KN_FREE(f->value_offsets, f->starts, f->gains);
    *f = (kn_falls){0};
}

static uint32_t values_of(const kn_fulldomain_problem *p, int q)
{
    return kn_column_cardinality(&p->table->columns[p->quasi[q]]);
}

static const uint64_t *costs_of(const kn_objective *o, int q, int level)
{
    return o->costs[q] + (size_t)level * ((size_t)o->codes[q] + 1);
}

/* One quasi-identifier at one upper level: `map` has the values there, `most` space for one number each. */
static void fill_gains(const kn_fulldomain_problem *p, int q, int upper, const uint32_t *map, uint64_t *most,
                       uint64_t *gains)
{
    uint32_t values = values_of(p, q);
    uint64_t star = p->objective->star[q];
    for (int lower = 0; lower <= upper; lower++, gains += values) {
        const uint64_t *costs = costs_of(p->objective, q, lower);
        for (uint32_t v = 0; v < values; v++) most[map[v]] = 0;
        for (uint32_t v = 0; v < values; v++)
            if (costs[v] > most[map[v]]) most[map[v]] = costs[v];
        for (uint32_t v = 0; v < values; v++) gains[v] = most[map[v]] < star ? star - most[map[v]] : 0;
    }
}

static kn_status fill_attribute(kn_falls *f, kn_context *ctx, const kn_fulldomain_problem *p, int q, kn_error *err)
{
    const kn_hierarchy *h = p->hierarchies[q];
    uint32_t           *map = kn_alloc_array(ctx, (size_t)h->codes + 1, sizeof *map), distinct = 0;
    uint64_t           *most = kn_alloc_array(ctx, (size_t)h->codes + 2, sizeof *most);
    uint64_t           *gains = f->gains + f->starts[q];
    kn_status           st = map && most ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    for (uint32_t upper = 0; st == KN_OK && upper <= h->height; upper++) {
        kn_hierarchy_level_map(h, upper, map, &distinct, NULL);
        fill_gains(p, q, (int)upper, map, most, gains);
        gains += (size_t)values_of(p, q) * (upper + 1);
    }
    KN_FREE(map, most);
    return st;
}

kn_status kn_falls_make(kn_falls *f, kn_context *ctx, const kn_fulldomain_problem *p, kn_error *err)
{
    size_t count = (size_t)p->quasi_count + 1, total = 0;
    *f = (kn_falls){0};
    if (!p->objective->cells || p->budget <= 0) return KN_OK;
    if (!KN_ALLOC(ctx, f->value_offsets, count) || !KN_ALLOC(ctx, f->starts, count))
        return kn_fail_memory(err, ctx, WHAT);
    for (int q = 0; q < p->quasi_count; q++) {
        uint32_t values = values_of(p, q), levels = p->hierarchies[q]->height + 1;
        bool     fits = values <= VALUES_MOST;
        f->level_count += (int)levels;
        f->value_offsets[q] = fits ? f->value_count : -1;
        f->starts[q] = total;
        if (!fits) continue;
        f->value_count += (int)values;
        total += (size_t)values * levels * (levels + 1) / 2;
    }
    if (!KN_ALLOC(ctx, f->gains, total + 1)) return kn_fail_memory(err, ctx, WHAT);
    for (int q = 0; q < p->quasi_count; q++)
        if (f->value_offsets[q] >= 0) KN_TRY(fill_attribute(f, ctx, p, q, err));
    return KN_OK;
}

static uint64_t fall(const uint64_t *gains, const uint32_t *lost, uint32_t values, int shift)
{
    kn_u128 sum = 0;
    for (uint32_t v = 0; v < values; v++) sum += (kn_u128)gains[v] * lost[v];
    return (uint64_t)(sum >> shift);
}

void kn_falls_of(const kn_oracle *o, const int *levels, uint64_t rows, const uint32_t *lost, uint64_t *out)
{
    const kn_falls *f = &o->falls;
    for (int q = 0; q < o->quasi_count; q++) {
        int             offset = o->offsets[q], upper = levels[q], height = (int)o->problem->hierarchies[q]->height;
        uint32_t        values = values_of(o->problem, q);
        const uint64_t *gains = f->gains + f->starts[q] + (size_t)values * (size_t)(upper * (upper + 1) / 2);
        for (int level = 0; level <= upper; level++)
            out[offset + level] = f->value_offsets[q] >= 0 ? fall(gains + (size_t)values * (size_t)level,
                                                                  lost + f->value_offsets[q], values, o->bounds.shift)
                                                           : rows * o->gaps[offset + level];
        for (int level = upper + 1; level <= height; level++) out[offset + level] = 0;
    }
}
