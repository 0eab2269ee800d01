/* kn_miracle_reference.c: MiRaCle, MiRaCleX and dMiRaCle as written (Algorithms 2 to 6 with the readings of
 * docs/errata.md 4), one person after the other, every distance computed in full. The fast path (kn_miracle.c) is
 * tested against it and shares no matching code with it.
 *
 * Cost: O(climit · persons · n^(2 levels)) for n siblings, miracle-x O(climit · persons · n^(levels + 1)). Memory: the
 * clusters, and n^2 losses per level with exact matching.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_relational_internal.h"

typedef struct reference {
    kn_relational_work *work;
    const kn_losses    *losses;
    const kn_cluster   *a, *b; /* the two current trees: a representative and an entity (M6) */
    char               *stack; /* memory of the current matchings                            */
    size_t              top;
    kn_codes            codes;
} reference;

static void *push(reference *r, size_t size)
{
    void *block = r->stack + r->top;
    r->top += (size + 15) & ~(size_t)15;
    return block;
}

/* ---- Costs ---- */

/* LM of the two nodes' own quasi-identifiers, generalized (Algorithm 3, line 5). */
static uint64_t own_loss(const reference *r, uint32_t x, uint32_t y)
{
    size_t   width = (size_t)r->losses->width, t = r->a->table[x];
    uint64_t sum = 0;
    for (size_t q = 0; q < (size_t)r->losses->quasi[t]; q++) {
        uint32_t node = kn_hierarchy_lca(r->losses->hierarchies[t * width + q], r->a->values[x * width + q],
                                         r->b->values[y * width + q]);
        sum += r->losses->lm[t * width + q][node];
    }
    return sum;
}

static uint64_t cells_below(const reference *r, const kn_cluster *c, uint32_t node)
{
    uint64_t cells = (uint64_t)r->losses->cells[c->table[node]];
    for (uint32_t i = 0; i < c->child_count[node]; i++) cells += cells_below(r, c, c->first_child[node] + i);
    return cells;
}

/* Rows of a table below a node. */
static uint64_t rows_below(const kn_cluster *c, uint32_t node, int table)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < c->child_count[node]; i++)
        rows += rows_below(c, c->first_child[node] + i, table) + (c->table[c->first_child[node] + i] == table);
    return rows;
}

/* What is lost at least below two nodes of rows that weigh: as many as one has more than the other. */
static uint64_t rows_apart(const reference *r, uint32_t x, uint32_t y)
{
    uint64_t sum = 0;
    for (int t = 0; t < r->losses->tables; t++) {
        uint64_t weight = (uint64_t)(r->losses->cells[t] - r->losses->quasi[t]);
        if (weight == 0) continue;
        uint64_t in_a = rows_below(r->a, x, t), in_b = rows_below(r->b, y, t);
        sum += (in_a > in_b ? in_a - in_b : in_b - in_a) * weight * r->losses->unit;
    }
    return sum;
}

static void add_deleted(const reference *r, kn_loss *loss, const kn_cluster *c, uint32_t node)
{
    uint64_t cells = cells_below(r, c, node);
    loss->sum += cells * r->losses->unit;
    loss->cells += cells;
}

/* The children of a node in one table. */
typedef struct siblings {
    uint32_t first, count;
} siblings;

static siblings children_in(const kn_cluster *c, uint32_t node, int table)
{
    siblings s = {0, 0};
    for (uint32_t i = 0; i < c->child_count[node]; i++) {
        uint32_t child = c->first_child[node] + i;
        if (c->table[child] != table) continue;
        if (s.count++ == 0) s.first = child;
    }
    return s;
}

static kn_loss anonymize(reference *r, uint32_t x, uint32_t y);

/* The basis of a matching: whole subtrees (Algorithm 4) or the nodes themselves (Algorithm 5), and what weighs below
 * them. */
static kn_loss pair_loss(reference *r, uint32_t x, uint32_t y)
{
    if (r->work->problem->method != KN_METHOD_MIRACLE_X) return anonymize(r, x, y);
    r->work->counters->pair_evaluations++;
    return (kn_loss){own_loss(r, x, y) + rows_apart(r, x, y), (uint64_t)r->losses->cells[r->a->table[x]]};
}

/* ---- Matchings: pick[i] is the sibling in b for the i-th sibling in a, or KN_FOREST_NONE ---- */

/* Algorithms 4 and 5: each of the smaller set (M6) takes the cheapest that is left, of equal ones the first (M8). */
static void match_greedy(reference *r, siblings in_a, siblings in_b, uint32_t *pick, kn_loss *found)
{
    bool     swapped = in_a.count > in_b.count;
    siblings outer = swapped ? in_b : in_a, inner = swapped ? in_a : in_b;
    bool    *taken = push(r, inner.count);
    memset(taken, 0, inner.count);
    for (uint32_t i = 0; i < outer.count; i++) {
        uint32_t chosen = KN_FOREST_NONE;
        kn_loss  least = {0, 0};
        for (uint32_t j = 0; j < inner.count; j++) {
            if (taken[j]) continue;
            kn_loss loss =
                swapped ? pair_loss(r, in_a.first + j, in_b.first + i) : pair_loss(r, in_a.first + i, in_b.first + j);
            if (chosen != KN_FOREST_NONE && kn_loss_compare(loss, least) >= 0) continue;
            chosen = j;
            least = loss;
        }
        taken[chosen] = true;
        pick[swapped ? chosen : i] = swapped ? i : chosen;
        found[swapped ? chosen : i] = least;
    }
}

static uint32_t lifted(const kn_hierarchy *h, uint32_t node, uint32_t level)
{
    return h->level[node] >= level ? node : kn_hierarchy_ancestor(h, h->first[node], level);
}

static bool equal_at(const reference *r, uint32_t x, uint32_t y, uint32_t level)
{
    size_t width = (size_t)r->losses->width, t = r->a->table[x];
    for (size_t q = 0; q < (size_t)r->losses->quasi[t]; q++) {
        const kn_hierarchy *h = r->losses->hierarchies[t * width + q];
        if (lifted(h, r->a->values[x * width + q], level) != lifted(h, r->b->values[y * width + q], level))
            return false;
    }
    return true;
}

/* Do as many rows of each table that weighs stand below both? */
static bool as_many_below(const reference *r, uint32_t x, uint32_t y)
{
    for (int t = 0; t < r->losses->tables; t++)
        if (r->losses->cells[t] > r->losses->quasi[t] && rows_below(r->a, x, t) != rows_below(r->b, y, t)) return false;
    return true;
}

/* Section 4.3 (M14): all tuples are lifted to level 0, 1, ...; equal ones are matched, on each level first those with as
 * many rows that weigh below them. */
static void match_levels(reference *r, siblings in_a, siblings in_b, uint32_t *pick)
{
    bool    *taken = push(r, in_b.count);
    uint32_t left = in_a.count < in_b.count ? in_a.count : in_b.count;
    memset(taken, 0, in_b.count);
    for (uint32_t step = 0; left > 0; step++)
        for (uint32_t i = 0; i < in_a.count; i++)
            for (uint32_t j = 0; j < in_b.count && pick[i] == KN_FOREST_NONE; j++) {
                uint32_t x = in_a.first + i, y = in_b.first + j;
                if (taken[j] || !equal_at(r, x, y, step / 2) || (step % 2 == 0 && !as_many_below(r, x, y))) continue;
                taken[j] = true;
                pick[i] = j;
                left--;
            }
}

/* An assignment problem: `rows` <= `columns`; the first `fixed` rows have their columns. */
typedef struct assignment {
    uint32_t  rows, columns, fixed;
    int64_t  *cost;   /* rows × columns */
    uint32_t *column; /* rows: only the fixed ones are looked at */
    uint32_t *owner;  /* columns */
    uint32_t *before; /* columns */
    int64_t  *reach;  /* columns */
} assignment;

/* The least total of all assignments that keep the fixed part: shortest augmenting paths by repeated relaxation. */
static int64_t least_total(assignment *p)
{
    int64_t total = 0;
    for (uint32_t j = 0; j < p->columns; j++) p->owner[j] = KN_FOREST_NONE;
    for (uint32_t i = 0; i < p->fixed; i++) total += p->cost[(size_t)i * p->columns + p->column[i]];
#define FIXED(j) (p->owner[j] != KN_FOREST_NONE && p->owner[j] < p->fixed)
    for (uint32_t i = 0; i < p->fixed; i++) p->owner[p->column[i]] = i;
    for (uint32_t i = p->fixed; i < p->rows; i++) {
        for (uint32_t j = 0; j < p->columns; j++) {
            p->reach[j] = p->cost[(size_t)i * p->columns + j];
            p->before[j] = KN_FOREST_NONE;
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (uint32_t j = 0; j < p->columns; j++) {
                if (p->owner[j] == KN_FOREST_NONE || FIXED(j)) continue;
                const int64_t *cost = p->cost + (size_t)p->owner[j] * p->columns;
                for (uint32_t to = 0; to < p->columns; to++) {
                    if (FIXED(to) || p->reach[j] - cost[j] + cost[to] >= p->reach[to]) continue;
                    p->reach[to] = p->reach[j] - cost[j] + cost[to];
                    p->before[to] = j;
                    changed = true;
                }
            }
        }
        uint32_t end = KN_FOREST_NONE;
        for (uint32_t j = 0; j < p->columns; j++)
            if (p->owner[j] == KN_FOREST_NONE && (end == KN_FOREST_NONE || p->reach[j] < p->reach[end])) end = j;
        total += p->reach[end];
        for (; p->before[end] != KN_FOREST_NONE; end = p->before[end]) p->owner[end] = p->owner[p->before[end]];
        p->owner[end] = i;
    }
#undef FIXED
    return total;
}

/* M16: the least sum of losses, what stays unmatched included; of equal ones the lexicographically first. */
static void match_exact(reference *r, siblings in_a, siblings in_b, uint32_t *pick)
{
    bool       swapped = in_a.count > in_b.count, own = r->work->problem->method == KN_METHOD_MIRACLE_X;
    siblings   outer = swapped ? in_b : in_a, inner = swapped ? in_a : in_b;
    assignment p = {.rows = outer.count, .columns = inner.count};
    p.cost = push(r, sizeof *p.cost * p.rows * p.columns);
    p.reach = push(r, sizeof *p.reach * p.columns);
    p.column = push(r, sizeof *p.column * p.rows);
    p.owner = push(r, sizeof *p.owner * p.columns);
    p.before = push(r, sizeof *p.before * p.columns);
    for (uint32_t i = 0; i < p.rows; i++)
        for (uint32_t j = 0; j < p.columns; j++) {
            kn_loss loss =
                swapped ? pair_loss(r, in_a.first + j, in_b.first + i) : pair_loss(r, in_a.first + i, in_b.first + j);
            uint64_t spared = own ? 0 : cells_below(r, swapped ? r->a : r->b, inner.first + j) * r->losses->unit;
            p.cost[(size_t)i * p.columns + j] = (int64_t)loss.sum - (int64_t)spared;
        }
    int64_t least = least_total(&p);
    for (uint32_t i = 0; i < p.rows; i++) {
        p.fixed = i + 1;
        for (uint32_t j = 0;; j++) {
            bool taken = false;
            for (uint32_t before = 0; before < i; before++) taken |= p.column[before] == j;
            p.column[i] = j;
            if (!taken && least_total(&p) == least) break;
        }
        pick[swapped ? p.column[i] : i] = swapped ? i : p.column[i];
    }
}

/* `*found`: the losses of the pairs; NULL where the matching did not need them. */
static uint32_t *match(reference *r, siblings in_a, siblings in_b, kn_loss **found)
{
    uint32_t *pick = push(r, sizeof *pick * in_a.count);
    *found = NULL;
    for (uint32_t i = 0; i < in_a.count; i++) pick[i] = KN_FOREST_NONE;
    if (r->work->problem->method == KN_METHOD_MIRACLE_X_LEVEL)
        match_levels(r, in_a, in_b, pick);
    else if (r->work->problem->matching == KN_MATCHING_EXACT)
        match_exact(r, in_a, in_b, pick);
    else {
        kn_loss *losses = push(r, sizeof *losses * in_a.count);
        match_greedy(r, in_a, in_b, pick, losses);
        if (r->work->problem->method != KN_METHOD_MIRACLE_X) *found = losses;
    }
    return pick;
}

/* ---- Algorithm 3 ---- */

/* The loss of the anonymization of two nodes with everything below. */
static kn_loss anonymize(reference *r, uint32_t x, uint32_t y)
{
    r->work->counters->pair_evaluations++;
    kn_loss loss = {own_loss(r, x, y), (uint64_t)r->losses->cells[r->a->table[x]]};
    for (int t = 0; t < r->losses->tables; t++) {
        siblings in_a = children_in(r->a, x, t), in_b = children_in(r->b, y, t);
        if (in_a.count + in_b.count == 0) continue;
        size_t    top = r->top;
        kn_loss  *found;
        uint32_t *pick = match(r, in_a, in_b, &found);
        bool     *matched = push(r, in_b.count);
        memset(matched, 0, in_b.count);
        for (uint32_t i = 0; i < in_a.count; i++) {
            if (pick[i] == KN_FOREST_NONE) {
                add_deleted(r, &loss, r->a, in_a.first + i);
                continue;
            }
            kn_loss below = found ? found[i] : anonymize(r, in_a.first + i, in_b.first + pick[i]);
            loss.sum += below.sum;
            loss.cells += below.cells;
            matched[pick[i]] = true;
        }
        for (uint32_t j = 0; j < in_b.count; j++)
            if (!matched[j]) add_deleted(r, &loss, r->b, in_b.first + j);
        r->top = top;
    }
    return loss;
}

static void collect(reference *r, uint32_t x, uint32_t y, uint32_t parent, kn_pair *pairs, uint32_t *count)
{
    uint32_t at = (*count)++;
    pairs[at] = (kn_pair){x, y, parent};
    for (int t = 0; t < r->losses->tables; t++) {
        siblings in_a = children_in(r->a, x, t), in_b = children_in(r->b, y, t);
        if (in_a.count == 0 || in_b.count == 0) continue;
        size_t    top = r->top;
        kn_loss  *found;
        uint32_t *pick = match(r, in_a, in_b, &found);
        for (uint32_t i = 0; i < in_a.count; i++)
            if (pick[i] != KN_FOREST_NONE) collect(r, in_a.first + i, in_b.first + pick[i], at, pairs, count);
        r->top = top;
    }
}

/* ---- Clusters ---- */

static kn_loss distance(reference *r, const kn_cluster *representative, const kn_cluster *entity)
{
    r->a = representative;
    r->b = entity;
    r->work->counters->distances++;
    return anonymize(r, 0, 0);
}

/* The pairs of nodes that become one; the caller frees them. */
static kn_status pair_up(reference *r, kn_pair **out, uint32_t *count, const kn_cluster *a, const kn_cluster *b,
                         kn_error *err)
{
    *out = kn_alloc_array(r->work->ctx, a->nodes < b->nodes ? a->nodes : b->nodes, sizeof **out);
    if (!*out) return kn_fail_memory(err, r->work->ctx, "pairing rows");
    *count = 0;
    r->a = a;
    r->b = b;
    collect(r, 0, 0, KN_FOREST_NONE, *out, count);
    return KN_OK;
}

static kn_status merged(reference *r, kn_cluster **out, const kn_cluster *a, const kn_cluster *b, kn_error *err)
{
    kn_pair *pairs;
    uint32_t count;
    KN_TRY(pair_up(r, &pairs, &count, a, b, err));
    kn_status st = kn_cluster_merge(out, r->work->ctx, r->losses, a, b, pairs, count, err);
    kn_free(pairs);
    return st;
}

/* list[at] becomes its anonymization with `other`, which stays. */
static kn_status merge_into(reference *r, kn_cluster_list *list, size_t at, const kn_cluster *other, kn_error *err)
{
    kn_cluster *both;
    KN_TRY(merged(r, &both, list->items[at], other, err));
    kn_cluster_free(list->items[at]);
    list->items[at] = both;
    return KN_OK;
}

/* The representative of the list that is nearest to an entity; of equal ones the first. */
static size_t nearest_representative(reference *r, const kn_cluster_list *list, const kn_cluster *entity,
                                     kn_loss *least)
{
    size_t at = 0;
    for (size_t i = 0; i < list->count; i++) {
        kn_loss loss = distance(r, list->items[i], entity);
        if (i > 0 && kn_loss_compare(loss, *least) >= 0) continue;
        at = i;
        *least = loss;
    }
    return at;
}

/* Which of the list, but for the first, is nearest to the first as its representative? */
static size_t nearest_to_first(reference *r, const kn_cluster_list *list)
{
    size_t  at = 0;
    kn_loss least = {0, 0};
    for (size_t i = 1; i < list->count; i++) {
        kn_loss loss = distance(r, list->items[0], list->items[i]);
        if (at > 0 && kn_loss_compare(loss, least) >= 0) continue;
        at = i;
        least = loss;
    }
    return at;
}

/* KN_DIVERSITY_DISTANCE: the nearest cluster that is not infinitely far; SIZE_MAX: there is none. */
static kn_status nearest_allowed(reference *r, const kn_cluster_list *open, const kn_cluster *person, size_t *at,
                                 kn_loss *least, kn_error *err)
{
    kn_relational_work *work = r->work;
    kn_loss            *losses = kn_alloc_array(work->ctx, open->count + 1, sizeof *losses);
    bool               *barred = kn_alloc_zero(work->ctx, open->count + 1), apart = true;
    kn_status           st = losses && barred ? KN_OK : kn_fail_memory(err, work->ctx, "looking for clusters");
    for (size_t i = 0; st == KN_OK && i < open->count; i++) losses[i] = distance(r, open->items[i], person);
    for (*at = SIZE_MAX; st == KN_OK && apart; barred[*at] = apart) {
        kn_pair *pairs;
        uint32_t count;
        *at = SIZE_MAX;
        for (size_t i = 0; i < open->count; i++)
            if (!barred[i] && (*at == SIZE_MAX || kn_loss_compare(losses[i], losses[*at]) < 0)) *at = i;
        if (*at == SIZE_MAX) break;
        *least = losses[*at];
        st = pair_up(r, &pairs, &count, open->items[*at], person, err);
        if (st == KN_OK)
            st = kn_cluster_apart(&apart, work->ctx, work->problem, open->items[*at], person, pairs, count, &r->codes,
                                  err);
        kn_free(pairs);
    }
    KN_FREE(barred, losses);
    return st;
}

/* Algorithm 2, lines 3 to 12. Takes ownership of `person`. */
static kn_status put(reference *r, kn_cluster_list *open, kn_cluster *person, kn_error *err)
{
    const kn_relational_problem *problem = r->work->problem;
    kn_loss                      least = {0, 0};
    size_t                       at = nearest_representative(r, open, person, &least);
    bool                         full = (int64_t)open->count >= problem->climit, none = open->count == 0;
    if (problem->repair == KN_DIVERSITY_DISTANCE && problem->promise_count > 0) {
        kn_loss   loss = least;
        size_t    allowed;
        kn_status st = nearest_allowed(r, open, person, &allowed, &loss, err);
        if (st != KN_OK) {
            kn_cluster_free(person);
            return st;
        }
        none = allowed == SIZE_MAX && !full;
        if (allowed != SIZE_MAX) {
            at = allowed;
            least = loss;
        }
    }
    bool fresh = none || (kn_loss_above(least, r->losses->unit, problem->threshold) && !full);
    if (fresh) {
        r->work->counters->clusters++;
        at = open->count;
        KN_TRY(kn_cluster_list_add(open, r->work->ctx, person, err));
    } else {
        kn_status st = merge_into(r, open, at, person, err);
        kn_cluster_free(person);
        if (st != KN_OK) return st;
    }
    if (open->items[at]->size < r->work->k) return KN_OK;
    return kn_cluster_list_add(&r->work->done, r->work->ctx, kn_cluster_list_take(open, at), err);
}

/* Algorithm 2, lines 13 to 20. */
static kn_status join_open(reference *r, kn_cluster_list *open, kn_error *err)
{
    while (open->count > 1) {
        if (kn_cancelled(r->work->ctx)) return kn_fail_cancelled(err);
        size_t      at = nearest_to_first(r, open);
        kn_cluster *other = kn_cluster_list_take(open, at);
        kn_status   st = merge_into(r, open, 0, other, err);
        kn_cluster_free(other);
        if (st != KN_OK) return st;
        r->work->counters->merged++;
        if (open->items[0]->size >= r->work->k)
            KN_TRY(kn_cluster_list_add(&r->work->done, r->work->ctx, kn_cluster_list_take(open, 0), err));
    }
    return KN_OK;
}

/* M3: each remaining person joins the class that is nearest to their own tree. */
static kn_status absorb(reference *r, kn_cluster_list *open, kn_error *err)
{
    kn_relational_work *work = r->work;
    if (open->count == 0 || work->done.count == 0 || work->problem->leftovers == KN_LEFTOVERS_DROP) return KN_OK;
    const kn_cluster *left = open->items[0];
    for (uint32_t m = 0; m < left->size; m++) {
        kn_cluster *person;
        kn_loss     least = {0, 0};
        KN_TRY(kn_cluster_of_entity(&person, work->ctx, work->problem->forest, r->losses, left->members[m], err));
        size_t    at = nearest_representative(r, &work->done, person, &least);
        kn_status st = merge_into(r, &work->done, at, person, err);
        kn_cluster_free(person);
        if (st != KN_OK) return st;
        work->counters->absorbed++;
    }
    return KN_OK;
}

/* ---- For the clusterings beside CDGH: every distance in full ---- */

static kn_status all_distances(void *self, kn_loss *out, kn_cluster *representative, kn_cluster *const *entities,
                               size_t count, kn_error *err)
{
    reference *r = self;
    if (kn_cancelled(r->work->ctx)) return kn_fail_cancelled(err);
    for (size_t i = 0; i < count; i++) out[i] = distance(r, representative, entities[i]);
    return KN_OK;
}

static kn_status nearest_entity(void *self, size_t *out, kn_cluster *representative, kn_cluster **entities,
                                size_t count, kn_error *err)
{
    reference *r = self;
    kn_loss    least = {0, 0};
    if (kn_cancelled(r->work->ctx)) return kn_fail_cancelled(err);
    for (size_t i = 0; i < count; i++) {
        kn_loss loss = distance(r, representative, entities[i]);
        if (i > 0 && kn_loss_compare(loss, least) >= 0) continue;
        *out = i;
        least = loss;
    }
    return KN_OK;
}

static kn_status merge_both(void *self, kn_cluster **out, kn_cluster *a, kn_cluster *b, kn_error *err)
{
    return merged(self, out, a, b, err);
}

static kn_status miracle(reference *r, kn_cluster_list *open, kn_error *err)
{
    kn_relational_work *work = r->work;
    const kn_anonymizer by = {r, all_distances, nearest_entity, merge_both};
    if (work->problem->clustering != KN_CLUSTERING_CDGH) {
        KN_TRY(kn_skeleton_cluster(work, &by, open, err));
        return absorb(r, open, err);
    }
    const kn_forest *forest = work->problem->forest;
    for (int64_t i = 0; i < forest->entities; i++) {
        kn_cluster *person;
        if (kn_cancelled(work->ctx)) return kn_fail_cancelled(err);
        KN_TRY(kn_cluster_of_entity(&person, work->ctx, forest, r->losses, work->order[i], err));
        KN_TRY(put(r, open, person, err));
        kn_progress_add(work->ctx, 1);
    }
    KN_TRY(join_open(r, open, err));
    return absorb(r, open, err);
}

/* ---- Algorithm 6 ---- */

/* M13: the last class without diversity joins the nearest good class that stays good, or is dropped. */
static kn_status place_last(reference *r, const kn_cluster *last, kn_error *err)
{
    kn_relational_work *work = r->work;
    bool               *tried = kn_alloc_zero(work->ctx, work->done.count + 1);
    if (!tried) return kn_fail_memory(err, work->ctx, "merging classes");
    kn_status st = KN_OK;
    for (size_t round = 0; round < work->done.count; round++) {
        size_t  at = work->done.count;
        kn_loss least = {0, 0};
        for (size_t i = 0; i < work->done.count; i++) {
            if (tried[i]) continue;
            kn_loss loss = distance(r, work->done.items[i], last);
            if (at < work->done.count && kn_loss_compare(loss, least) >= 0) continue;
            at = i;
            least = loss;
        }
        tried[at] = true;
        kn_cluster *both;
        bool        good = false;
        if ((st = merged(r, &both, work->done.items[at], last, err)) != KN_OK) break;
        st = kn_cluster_diverse(&good, NULL, work->ctx, work->problem, both, &r->codes, err);
        if (st != KN_OK || !good) {
            kn_cluster_free(both);
            if (st != KN_OK) break;
            continue;
        }
        kn_cluster_free(work->done.items[at]);
        work->done.items[at] = both;
        work->counters->absorbed += last->size;
        break;
    }
    kn_free(tried);
    return st;
}

static kn_status merge_bad(reference *r, kn_cluster_list *bad, kn_error *err)
{
    kn_relational_work *work = r->work;
    while (bad->count > 1) {
        if (kn_cancelled(work->ctx)) return kn_fail_cancelled(err);
        size_t      at = nearest_to_first(r, bad);
        kn_cluster *other = kn_cluster_list_take(bad, at);
        kn_status   st = merge_into(r, bad, 0, other, err);
        kn_cluster_free(other);
        if (st != KN_OK) return st;
        work->counters->merged++;
        bool good;
        KN_TRY(kn_cluster_diverse(&good, NULL, work->ctx, work->problem, bad->items[0], &r->codes, err));
        KN_TRY(kn_cluster_list_add(good ? &work->done : bad, work->ctx, kn_cluster_list_take(bad, 0), err));
    }
    if (bad->count == 0 || work->problem->leftovers == KN_LEFTOVERS_DROP) return KN_OK;
    return place_last(r, bad->items[0], err);
}

static kn_status diversify(reference *r, kn_cluster_list *bad, kn_error *err)
{
    kn_relational_work *work = r->work;
    for (size_t i = 0; i < work->done.count;) {
        bool good;
        KN_TRY(kn_cluster_diverse(&good, NULL, work->ctx, work->problem, work->done.items[i], &r->codes, err));
        if (good)
            i++;
        else
            KN_TRY(kn_cluster_list_add(bad, work->ctx, kn_cluster_list_take(&work->done, i), err));
    }
    return work->problem->repair == KN_DIVERSITY_SUPPRESS ? KN_OK : merge_bad(r, bad, err);
}

kn_status kn_miracle_reference(kn_relational_work *work, kn_error *err)
{
    reference       r = {.work = work, .losses = work->losses};
    kn_cluster_list open = {0}, bad = {0};
    size_t          n = work->most_children, level = 32 * n + 256;
    if (work->problem->matching == KN_MATCHING_EXACT) level += n * n * sizeof(int64_t) + n * 24;
    r.stack = kn_alloc_array(work->ctx, (size_t)work->most_depth + 1, level);
    if (!r.stack) return kn_fail_memory(err, work->ctx, "pairing rows");
    kn_progress_begin(work->ctx, "clustering", "persons", (uint64_t)work->problem->forest->entities);
    kn_status st = miracle(&r, &open, err);
    if (st == KN_OK && work->problem->method == KN_METHOD_DMIRACLE) st = diversify(&r, &bad, err);
    kn_progress_end(work->ctx);
    kn_cluster_list_free(&open);
    kn_cluster_list_free(&bad);
    kn_codes_free(&r.codes);
    kn_free(r.stack);
    return st;
}
