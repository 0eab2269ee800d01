/* kn_fulldomain_plan.c: the plan of one node: the class of each row, the cells of each class.
 *
 * The node's classes are counted in key order and judged as in the search, so that exactly the same ones are suppressed;
 * the others are numbered in that order. Where the rows of a person stay linked persons are suppressed, not classes. Rows find their class through a hash table of the released keys.
 *
 * Cost: one grouping of the rows, and one look-up per row, in parallel. Memory: 4 bytes per row, about 16 + 8 × words bytes
 * per class.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_classes.h"
#include "kn_error.h"
#include "kn_group.h"
#include "kn_hash.h"
#include "kn_parallel.h"

#define WHAT "planning a release"

enum { GRAIN = 1 << 14 };

typedef struct planning {
    kn_context                  *ctx;
    const kn_fulldomain_problem *problem;
    kn_evaluator                *evaluator;
    kn_classes                  *set;
    const kn_freq               *classes; /* by the quasi-identifiers alone */
    kn_freq                     *folded;
    uint8_t                     *fates;
    kn_linked_fates              linked; /* where the rows of a person stay linked */
    kn_plan                     *plan;
    uint32_t                    *slots;   /* hash table: a released class of `classes` + 1; 0: free */
    uint32_t                    *numbers; /* of the classes in the plan                           */
    uint64_t                     mask;
} planning;

/* ---- Cells ---- */

/* The code of each number of level 0; KN_NODE_NONE if several values share a leaf and only the leaf can be shown. */
static void codes_of_numbers(const kn_evaluator_attribute *a, uint32_t *codes)
{
    const kn_evaluator_level *l = &a->levels[0];
    uint32_t                  count = kn_column_cardinality(a->column);
    for (uint32_t i = 0; i < l->distinct; i++) codes[i] = UINT32_MAX - 1; /* none yet */
    for (uint32_t code = 0; code < count; code++) {
        uint32_t *at = &codes[l->by_code[code]];
        *at = *at == UINT32_MAX - 1 ? code : KN_NODE_NONE;
    }
}

static kn_status fill_column(planning *p, int q, kn_error *err)
{
    const kn_evaluator_attribute *a = &p->evaluator->attributes[q];
    int                           level = p->set->levels[q], quasi = p->problem->quasi_count;
    const kn_evaluator_level     *l = &a->levels[level];
    uint32_t                     *codes = NULL;
    if (level == 0) {
        codes = kn_alloc_array(p->ctx, (size_t)l->distinct + 1, sizeof *codes);
        if (!codes) return kn_fail_memory(err, p->ctx, WHAT);
        codes_of_numbers(a, codes);
    }
    for (int64_t i = 0; i < p->classes->classes; i++) {
        if (p->fates[i] != KN_CLASS_RELEASED) continue;
        uint32_t number = kn_freq_code(p->classes, i, q), item = l->item[number];
        kn_cell *cell = &p->plan->cells[(size_t)p->numbers[i] * (size_t)quasi + (size_t)q];
        if (codes && codes[number] != KN_NODE_NONE) {
            *cell = (kn_cell){KN_CELL_VALUE, codes[number], 0};
            continue;
        }
        uint32_t node = p->evaluator->leaf_items ? kn_hierarchy_ancestor(a->hierarchy, item, (uint32_t)level)
                                                 : kn_hierarchy_of_code(a->hierarchy, item, (uint32_t)level);
        *cell = (kn_cell){KN_CELL_NODE, node, 0};
    }
    kn_free(codes);
    return KN_OK;
}

static kn_status column_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    for (int64_t q = begin; q < end; q++) KN_TRY(fill_column(arg, (int)q, err));
    return KN_OK;
}

/* ---- Rows ---- */

static uint64_t hash_of(const planning *p, const uint64_t *key)
{
    int words = p->classes->layout.words;
    return words == 1 ? kn_hash_word(key[0]) : kn_hash_words(key, words);
}

static bool same_key(const planning *p, int64_t class_index, const uint64_t *key)
{
    size_t words = (size_t)p->classes->layout.words;
    return memcmp(p->classes->keys + class_index * (int64_t)words, key, words * sizeof *key) == 0;
}

static kn_status make_slots(planning *p, kn_error *err)
{
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)p->plan->classes) slots *= 2;
    p->mask = slots - 1;
    if (!KN_ALLOC_ZERO(p->ctx, p->slots, slots)) return kn_fail_memory(err, p->ctx, WHAT);
    for (int64_t i = 0; i < p->classes->classes; i++) {
        if (p->fates[i] != KN_CLASS_RELEASED) continue;
        uint64_t at = hash_of(p, p->classes->keys + i * p->classes->layout.words) & p->mask;
        while (p->slots[at]) at = (at + 1) & p->mask;
        p->slots[at] = (uint32_t)i + 1;
    }
    return KN_OK;
}

static uint32_t find_class(const planning *p, const uint64_t *key)
{
    for (uint64_t at = hash_of(p, key) & p->mask; p->slots[at]; at = (at + 1) & p->mask)
        if (same_key(p, (int64_t)p->slots[at] - 1, key)) return p->numbers[p->slots[at] - 1];
    return KN_CLASS_SUPPRESSED;
}

/* If persons are suppressed as a whole. */
static bool suppressed_person(const planning *p, int64_t row)
{
    if (!p->linked.persons) return false;
    return p->linked.persons[kn_column_code(&p->problem->table->columns[p->problem->requirements->entity], row)];
}

static kn_status classify_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    const planning *p = arg;
    int             words = p->classes->layout.words;
    uint64_t       *keys = kn_alloc_array(p->ctx, (size_t)(KN_GROUP_BLOCK * words), sizeof *keys);
    if (!keys) return kn_fail_memory(err, p->ctx, WHAT);
    for (; begin < end; begin += KN_GROUP_BLOCK) {
        int n = end - begin < KN_GROUP_BLOCK ? (int)(end - begin) : KN_GROUP_BLOCK;
        kn_classes_row_keys(p->evaluator, p->set, &p->classes->layout, begin, n, keys);
        for (int i = 0; i < n; i++)
            p->plan->class_of_row[begin + i] =
                suppressed_person(p, begin + i) ? KN_CLASS_SUPPRESSED : find_class(p, keys + i * words);
    }
    kn_free(keys);
    return KN_OK;
}

/* ---- The plan ---- */

static kn_status number_classes(planning *p, uint32_t *released, kn_error *err)
{
    *released = 0;
    if (!KN_ALLOC_ZERO(p->ctx, p->numbers, (size_t)p->classes->classes + 1)) return kn_fail_memory(err, p->ctx, WHAT);
    if (p->classes->classes >= (int64_t)UINT32_MAX) return kn_fail(err, KN_USAGE, "too many classes for a plan");
    for (int64_t i = 0; i < p->classes->classes; i++)
        if (p->fates[i] == KN_CLASS_RELEASED) p->numbers[i] = (*released)++;
    return KN_OK;
}

static kn_status fill_plan(planning *p, const int *levels, kn_error *err)
{
    size_t   quasi = (size_t)p->problem->quasi_count;
    uint32_t released;
    KN_TRY(number_classes(p, &released, err));
    KN_TRY(kn_plan_create(&p->plan, p->ctx, p->problem->table->rows, p->problem->quasi_count, released, err));
    if (!KN_ALLOC(p->ctx, p->plan->levels, quasi)) return kn_fail_memory(err, p->ctx, WHAT);
    p->plan->level_count = p->problem->quasi_count;
    memcpy(p->plan->levels, levels, quasi * sizeof *levels);
    for (int64_t i = 0; i < p->classes->classes; i++) {
        int64_t rows = p->fates[i] == KN_CLASS_RELEASED ? p->classes->counts[i] : 0;
        if (p->linked.released) rows = p->linked.released[i];
        if (rows > 0) p->plan->class_rows[p->numbers[i]] = rows;
        p->plan->suppressed += p->classes->counts[i] - rows;
    }
    KN_TRY(kn_parallel_for(p->ctx, p->problem->quasi_count, 1, column_range, p, err));
    KN_TRY(make_slots(p, err));
    return kn_parallel_for(p->ctx, p->plan->rows, GRAIN, classify_range, p, err);
}

/* A class is released if a row of it is. */
static kn_status decide_linked(planning *p, kn_error *err)
{
    kn_verdict verdict;
    KN_TRY(kn_classes_decide_linked(&verdict, &p->linked, &p->folded, p->evaluator, p->set, err));
    if (!KN_ALLOC_ZERO(p->ctx, p->fates, (size_t)p->folded->classes + 1)) return kn_fail_memory(err, p->ctx, WHAT);
    for (int64_t i = 0; i < p->folded->classes; i++)
        p->fates[i] = p->linked.released[i] > 0 ? KN_CLASS_RELEASED : KN_CLASS_FAILS;
    return KN_OK;
}

static kn_status make_plan(planning *p, const int *levels, kn_error *err)
{
    kn_verdict verdict;
    KN_TRY(kn_evaluator_make(&p->evaluator, p->ctx, p->problem, err));
    KN_TRY(kn_classes_scan_sorted(&p->set, p->evaluator, KN_ALL_ATTRIBUTES, levels, err));
    if (p->problem->requirements->linked)
        KN_TRY(decide_linked(p, err));
    else
        KN_TRY(kn_classes_decide(&verdict, &p->fates, &p->folded, p->evaluator, p->set, err));
    p->classes = p->folded ? p->folded : p->set->parts[0];
    return fill_plan(p, levels, err);
}

kn_status kn_fulldomain_plan(kn_plan **out, kn_context *ctx, const kn_fulldomain_problem *problem, const int *levels,
                             kn_error *err)
{
    *out = NULL;
    for (int q = 0; q < problem->quasi_count; q++)
        if (levels[q] < 0 || levels[q] >= kn_hierarchy_levels(problem->hierarchies[q]))
            return kn_fail(err, KN_USAGE, "column \"%s\" has no level %d",
                           kn_table_name(problem->table, problem->quasi[q]), levels[q]);
    planning  p = {.ctx = ctx, .problem = problem};
    kn_status st = make_plan(&p, levels, err);
    if (st == KN_OK)
        *out = p.plan;
    else
        kn_plan_free(p.plan);
    kn_freq_free(p.folded);
    kn_classes_free(p.set);
    kn_evaluator_free(p.evaluator);
    kn_linked_fates_free(&p.linked);
    KN_FREE(p.fates, p.slots, p.numbers);
    return st;
}
