/* kn_evaluate.c: the evaluator: the node of each value at each level, its cost there, and what must be counted.
 *
 * Interface: kn_evaluate.h; the sets of classes: kn_classes.c and kn_classes_judge.c. Making one is O(values ×
 * levels) in time and memory per quasi-identifier, and one grouping of the population where there is one.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_evaluate.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_classes.h"
#include "kn_error.h"
#include "kn_group.h"

#define WHAT "preparing the search"

/* ---- Levels ---- */

static uint32_t node_of_item(const kn_evaluator_attribute *a, bool leaf_items, uint32_t item, uint32_t level)
{
    return leaf_items ? kn_hierarchy_ancestor(a->hierarchy, item, level)
                      : kn_hierarchy_of_code(a->hierarchy, item, level);
}

/* Numbers of the leaves of a level. The leaves below a node are adjacent, "missing" after them. */
static void number_leaves(const kn_evaluator_attribute *a, uint32_t level, kn_evaluator_level *l)
{
    uint32_t before = KN_NODE_NONE;
    l->distinct = 0;
    for (uint32_t leaf = 0; leaf < a->items; leaf++) {
        uint32_t node = node_of_item(a, true, leaf, level);
        l->distinct += node != before;
        before = node;
        l->number[leaf] = l->distinct - 1;
    }
    for (uint32_t code = 0; code + 1 <= a->column->dict.count + 1; code++)
        l->by_code[code] = l->number[a->hierarchy->leaf_of_code[code]];
}

/* How many numbers have a row: by the column's codes, all of which occur. */
static kn_status count_present(const kn_evaluator_attribute *a, kn_evaluator_level *l, kn_context *ctx, kn_error *err)
{
    uint32_t codes = kn_column_cardinality(a->column);
    uint8_t *seen = kn_alloc_array_zero(ctx, (size_t)l->distinct + 1, sizeof *seen);
    if (!seen) return kn_fail_memory(err, ctx, WHAT);
    l->present = 0;
    for (uint32_t code = 0; code < codes; code++) {
        l->present += !seen[l->by_code[code]];
        seen[l->by_code[code]] = 1;
    }
    kn_free(seen);
    return KN_OK;
}

static kn_status fill_costs(const kn_evaluator *e, int q, uint32_t level, kn_evaluator_level *l, kn_error *err)
{
    const kn_objective *o = e->problem->objective;
    if (!o || !o->cells) return KN_OK;
    if (!KN_ALLOC_ZERO(e->ctx, l->cost, (size_t)l->distinct + 1)) return kn_fail_memory(err, e->ctx, WHAT);
    uint32_t        codes = kn_column_cardinality(e->attributes[q].column);
    const uint64_t *costs = o->costs[q] + (size_t)level * ((size_t)o->codes[q] + 1);
    for (uint32_t code = 0; code < codes; code++) l->cost[l->by_code[code]] = costs[code];
    return KN_OK;
}

static kn_status make_level(kn_evaluator *e, int q, uint32_t level, kn_error *err)
{
    kn_evaluator_attribute *a = &e->attributes[q];
    kn_evaluator_level     *l = &a->levels[level];
    if (!KN_ALLOC_ZERO(e->ctx, l->number, (size_t)a->items + 1)) return kn_fail_memory(err, e->ctx, WHAT);
    if (e->leaf_items) {
        if (!KN_ALLOC_ZERO(e->ctx, l->by_code, (size_t)a->column->dict.count + 1))
            return kn_fail_memory(err, e->ctx, WHAT);
        number_leaves(a, level, l);
    } else {
        l->by_code = l->number;
        kn_hierarchy_level_map(a->hierarchy, level, l->number, &l->distinct, NULL);
    }
    if (!KN_ALLOC_ZERO(e->ctx, l->item, (size_t)l->distinct + 1)) return kn_fail_memory(err, e->ctx, WHAT);
    for (uint32_t item = a->items;
         item-- > 0;) /* the first one is written last; a "missing" that is not there has no number */
        if (l->number[item] < l->distinct) l->item[l->number[item]] = item;
    KN_TRY(count_present(a, l, e->ctx, err));
    return fill_costs(e, q, level, l, err);
}

static kn_status make_attributes(kn_evaluator *e, kn_error *err)
{
    const kn_fulldomain_problem *p = e->problem;
    if (!KN_ALLOC_ZERO(e->ctx, e->attributes, (size_t)p->quasi_count + 1)) return kn_fail_memory(err, e->ctx, WHAT);
    for (int q = 0; q < p->quasi_count; q++) {
        kn_evaluator_attribute *a = &e->attributes[q];
        a->hierarchy = p->hierarchies[q];
        a->column = &p->table->columns[p->quasi[q]];
        a->items = (e->leaf_items ? a->hierarchy->leaves : a->column->dict.count) + 1;
        int levels = kn_hierarchy_levels(a->hierarchy);
        if (!KN_ALLOC_ZERO(e->ctx, a->levels, (size_t)levels)) return kn_fail_memory(err, e->ctx, WHAT);
        a->level_count = levels;
        for (int level = 0; level < levels; level++) KN_TRY(make_level(e, q, (uint32_t)level, err));
    }
    return KN_OK;
}

/* ---- What is counted ---- */

static kn_status make_parts(kn_evaluator *e, kn_error *err)
{
    const kn_requirements *r = e->problem->requirements;
    if (!KN_ALLOC_ZERO(e->ctx, e->parts, (size_t)r->sensitive_count + 2)) return kn_fail_memory(err, e->ctx, WHAT);
    bool entity = r->entity >= 0;
    if (entity)
        e->parts[e->part_count++] = (kn_evaluator_part){1, {r->entity, 0}};
    else if (r->sensitive_count == 0)
        e->parts[e->part_count++] = (kn_evaluator_part){0, {0, 0}};
    for (int s = 0; s < r->sensitive_count; s++)
        e->parts[e->part_count++] = entity ? (kn_evaluator_part){2, {r->sensitive[s], r->entity}}
                                           : (kn_evaluator_part){1, {r->sensitive[s], 0}};
    return KN_OK;
}

/* ---- The population ---- */

typedef struct population_keys {
    const kn_evaluator      *evaluator;
    const kn_population_set *set;
    const int64_t           *kept; /* combinations with a count above 0 */
    const kn_layout         *layout;
} population_keys;

static void fill_from_population(const void *arg, int64_t begin, int n, uint64_t *keys)
{
    const population_keys *p = arg;
    int                    words = p->layout->words, quasi = p->set->quasi_count;
    memset(keys, 0, (size_t)n * (size_t)words * sizeof *keys);
    for (int i = 0; i < n; i++) {
        const uint32_t *leaves = p->set->leaves + p->kept[begin + i] * quasi;
        for (int q = 0; q < quasi; q++) {
            kn_field field = p->layout->fields[q];
            uint64_t number = p->evaluator->attributes[q].levels[0].number[leaves[q]];
            if (field.bits) keys[i * words + field.word] |= number << field.shift;
        }
    }
}

/* Combinations with a count of 0 (a weight of 0) are left out: a grouping has no such classes. */
static kn_status group_population(kn_evaluator *e, const uint32_t *cardinalities, int64_t *kept, int64_t *counts,
                                  kn_error *err)
{
    const kn_population_set *set = e->problem->population;
    kn_freq                 *freq = e->population;
    KN_TRY(kn_layout_make(&freq->layout, e->ctx, cardinalities, set->quasi_count, err));
    population_keys keys = {e, set, kept, &freq->layout};
    kn_key_source   source = {.fill = fill_from_population,
                              .arg = &keys,
                              .counts = counts,
                              .words = freq->layout.words,
                              .bits = kn_layout_bits(&freq->layout)};
    for (int64_t i = 0; i < set->count; i++) {
        if (set->counts[i] <= 0) continue;
        kept[source.items] = i;
        counts[source.items++] = set->counts[i];
        source.total += set->counts[i];
    }
    return kn_group_run(freq, &source, NULL, err);
}

static kn_status make_population(kn_evaluator *e, kn_error *err)
{
    const kn_population_set *set = e->problem->population;
    if (!e->leaf_items) return KN_OK;
    e->population = kn_alloc_zero(e->ctx, sizeof *e->population);
    uint32_t *cardinalities = kn_alloc_array(e->ctx, (size_t)set->quasi_count + 1, sizeof *cardinalities);
    int64_t  *kept = kn_alloc_array(e->ctx, (size_t)set->count + 1, sizeof *kept);
    int64_t  *counts = kn_alloc_array(e->ctx, (size_t)set->count + 1, sizeof *counts);
    kn_status st = KN_OK;
    if (!e->population || !cardinalities || !kept || !counts) {
        st = kn_fail_memory(err, e->ctx, WHAT);
    } else {
        e->population->ctx = e->ctx;
        for (int q = 0; q < set->quasi_count; q++) cardinalities[q] = e->attributes[q].levels[0].distinct;
        st = group_population(e, cardinalities, kept, counts, err);
    }
    KN_FREE(cardinalities, kept, counts);
    return st;
}

/* ---- The whole ---- */

kn_status kn_evaluator_make(kn_evaluator **out, kn_context *ctx, const kn_fulldomain_problem *problem, kn_error *err)
{
    *out = NULL;
    kn_evaluator *e = kn_alloc_zero(ctx, sizeof *e);
    if (!e) return kn_fail_memory(err, ctx, WHAT);
    const kn_requirements *r = problem->requirements;
    e->ctx = ctx;
    e->problem = problem;
    e->leaf_items = r->population && problem->population && !problem->population->apart;
    e->sizes_only = r->k_only && r->entity < 0 && !r->has_average && !e->leaf_items && r->sensitive_count == 0;
    e->sorted = r->entity >= 0 || r->sensitive_count > 0 || r->has_average || e->leaf_items;
    bool suppressing = problem->budget > 0;
    e->monotone = kn_requirements_monotone(r, suppressing) &&
                  !(suppressing && problem->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE);
    kn_status st = make_parts(e, err);
    if (st == KN_OK) st = make_attributes(e, err);
    if (st == KN_OK) st = make_population(e, err);
    if (st != KN_OK) {
        kn_evaluator_free(e);
        return st;
    }
    *out = e;
    return KN_OK;
}

static void free_attribute(kn_evaluator_attribute *a)
{
    for (int i = 0; i < a->level_count; i++) {
        kn_evaluator_level *l = &a->levels[i];
        if (l->by_code != l->number) kn_free(l->by_code);
        KN_FREE(l->number, l->item, l->cost);
    }
    kn_free(a->levels);
}

void kn_evaluator_free(kn_evaluator *e)
{
    if (!e) return;
    for (int q = 0; q < e->problem->quasi_count && e->attributes; q++) free_attribute(&e->attributes[q]);
    KN_FREE(e->attributes, e->parts);
    kn_freq_free(e->population);
    kn_free(e);
}

bool kn_evaluator_monotone(const kn_evaluator *e)
{
    return e->monotone;
}

uint32_t kn_evaluator_distinct(const kn_evaluator *e, int attribute, int level)
{
    return e->attributes[attribute].levels[level].present;
}
