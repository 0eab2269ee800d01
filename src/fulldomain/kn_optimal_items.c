/* kn_optimal_items.c: the nodes that may still be the best: their first bounds, and how counting raises them.
 *
 * What is suppressed for some of the attributes is suppressed for all, so the marginals of each group of the counting
 * engine (a few thousand combinations, a few hundred choices of levels, from the most general down; what lies below a
 * bad choice is bad) give the first bounds. After each batch one pass over the items raises their bounds by the nodes
 * counted above and below them; those that can no longer be the best leave. Kept in order of their numbers.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_error.h"
#include "kn_optimal_internal.h"
#include "kn_parallel.h"

#define WHAT "searching the lattice"

enum { APPLY_GRAIN = 1 << 14 };

/* The marginals of one group: what suppression costs at least for its attributes alone, at each choice of levels. */
typedef struct marginal {
    int             attributes[64], attribute_count;
    int64_t         strides[64]; /* choice = Σ level × stride */
    int64_t         count;
    uint64_t       *high; /* by choice                  */
    uint8_t        *heights;
    kn_counter_job *jobs;
    int64_t        *choices; /* of the jobs */
    int            *levels;
} marginal;

static int marginal_level(const kn_optimal *s, const marginal *m, int64_t choice, int a)
{
    return (int)(choice / m->strides[a] % (s->lattice.heights[m->attributes[a]] + 1));
}

/* The choices of one height that do not lie below a bad one: their jobs. */
static int64_t marginal_wave(const kn_optimal *s, marginal *m, int height, const kn_counter_set *set)
{
    int64_t n = 0;
    for (int64_t c = 0; c < m->count; c++) {
        if (m->heights[c] != height) continue;
        int *levels = m->levels + n * s->quasi_count;
        for (int a = 0; a < m->attribute_count; a++) {
            int level = levels[m->attributes[a]] = marginal_level(s, m, c, a);
            if (level < s->lattice.heights[m->attributes[a]] && m->high[c + m->strides[a]] >= KN_BOUND_BAD)
                m->high[c] = KN_BOUND_BAD;
        }
        if (m->high[c] >= KN_BOUND_BAD) continue;
        m->choices[n] = c;
        m->jobs[n++] = (kn_counter_job){.levels = levels, .from = set};
    }
    return n;
}

/* From the most general choice down. */
static kn_status marginal_count(kn_optimal *s, marginal *m, int group, kn_error *err)
{
    kn_counter_set         *set = NULL;
    kn_fulldomain_counters *counters = &s->result->counters;
    int                     height = 0;
    KN_TRY(kn_counter_project(&set, s->oracle.counter, (uint64_t)1 << group, err));
    counters->projections++;
    counters->keys += kn_counter_set_classes(kn_counter_base(s->oracle.counter));
    for (int64_t c = 0; c < m->count; c++) {
        for (int a = 0; a < m->attribute_count; a++) m->heights[c] += (uint8_t)marginal_level(s, m, c, a);
        if (m->heights[c] > height) height = m->heights[c];
    }
    kn_status st = KN_OK;
    for (; st == KN_OK && height >= 0; height--) {
        int64_t n = marginal_wave(s, m, height, set);
        if (n > 0) st = kn_counter_run(s->oracle.counter, m->jobs, n, err);
        for (int64_t i = 0; st == KN_OK && i < n; i++) {
            const kn_counter_job *job = &m->jobs[i];
            bool                  bad = job->sums.suppressed > s->problem->budget;
            m->high[m->choices[i]] = bad ? KN_BOUND_BAD : kn_bounds_high(&s->oracle.bounds, &job->sums, job->excess);
        }
        counters->rollups += n;
        counters->keys += n * kn_counter_set_classes(set);
    }
    kn_counter_set_free(set);
    return st;
}

static void marginal_free(marginal *m)
{
    KN_FREE(m->high, m->heights, m->jobs, m->choices, m->levels);
}

/* Raises the bounds of all items by the marginals of one group. */
static kn_status apply_marginal(kn_optimal *s, int group, kn_error *err)
{
    marginal m = {.count = 1};
    for (int q = 0; q < s->quasi_count; q++) {
        if (kn_counter_group_of(s->oracle.counter, q) != group) continue;
        m.strides[m.attribute_count] = m.count;
        m.attributes[m.attribute_count++] = q;
        m.count *= s->lattice.heights[q] + 1;
    }
    size_t count = (size_t)m.count;
    bool   ok = KN_ALLOC_ZERO(s->ctx, m.high, count) && KN_ALLOC_ZERO(s->ctx, m.heights, count) &&
              KN_ALLOC_ZERO(s->ctx, m.jobs, count) && KN_ALLOC_ZERO(s->ctx, m.choices, count) &&
              KN_ALLOC_ZERO(s->ctx, m.levels, count * (size_t)s->quasi_count);
    kn_status st = ok ? marginal_count(s, &m, group, err) : kn_fail_memory(err, s->ctx, WHAT);
    for (int64_t i = 0; st == KN_OK && i < s->item_count; i++) {
        int64_t choice = 0;
        for (int a = 0; a < m.attribute_count; a++)
            choice += kn_packed_level(s, s->items[i].packed, m.attributes[a]) * m.strides[a];
        if (m.high[choice] > s->items[i].high) s->items[i].high = m.high[choice];
    }
    marginal_free(&m);
    return st;
}

kn_status kn_optimal_items(kn_optimal *s, kn_error *err)
{
    int64_t count = s->lattice.count;
    if (!KN_ALLOC(s->ctx, s->items, (size_t)count) || !KN_ALLOC(s->ctx, s->taken, (size_t)count))
        return kn_fail_memory(err, s->ctx, WHAT);
    int *levels = s->levels;
    memset(levels, 0, (size_t)s->quasi_count * sizeof *levels);
    for (int64_t node = 0; node < count; node++) {
        s->items[node] = (kn_optimal_item){.packed = kn_packed_of(s, levels),
                                           .low = kn_oracle_sum(&s->oracle, s->oracle.lows, levels),
                                           .gap = kn_oracle_sum(&s->oracle, s->oracle.gaps, levels),
                                           .node = (uint32_t)node,
                                           .feature = (float)kn_oracle_feature(&s->oracle, levels)};
        for (int q = s->quasi_count - 1; q >= 0 && ++levels[q] > s->lattice.heights[q]; q--) levels[q] = 0;
    }
    s->item_count = count;
    s->result->counters.candidates = count;
    bool several = s->oracle.counter && kn_counter_groups(s->oracle.counter) > 1;
    for (int g = 0; several && g < kn_counter_groups(s->oracle.counter); g++) KN_TRY(apply_marginal(s, g, err));
    return KN_OK;
}

typedef struct applying {
    kn_optimal       *search;
    const kn_outcome *outcomes;
    int               count;
} applying;

/* Bounds of one range of items; those that leave are recorded. */
static kn_status apply_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const applying *a = arg;
    kn_optimal     *s = a->search;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) {
        kn_optimal_item *item = &s->items[i];
        for (int o = 0; o < a->count; o++) {
            const kn_outcome *out = &a->outcomes[o];
            uint64_t          high = out->high, by_rows = out->lost * item->gap; /* no more than rows × star */
            if (high < by_rows) high = by_rows;
            if (out->lost > item->lost && kn_packed_below(s, item->packed, out->packed)) item->lost = out->lost;
            if (high > item->high && kn_packed_below(s, item->packed, out->packed)) item->high = high;
            if (out->low > item->low && kn_packed_below(s, out->packed, item->packed)) item->low = out->low;
        }
        s->taken[i] =
            kn_bitset_test(s->counted, item->node) || kn_optimal_dead(s, item->node, item->low, item->high, item->lost);
    }
    return KN_OK;
}

kn_status kn_optimal_apply(kn_optimal *s, const kn_outcome *outcomes, int count, kn_error *err)
{
    applying a = {s, outcomes, count};
    KN_TRY(kn_parallel_for(s->ctx, s->item_count, APPLY_GRAIN, apply_range, &a, err));
    int64_t left = 0;
    for (int64_t i = 0; i < s->item_count; i++)
        if (!s->taken[i]) s->items[left++] = s->items[i];
    s->item_count = left;
    return KN_OK;
}
