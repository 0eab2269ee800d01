/* kn_single_detach.c: relations that are taken away in single records.
 *
 * Interface: kn_tree_detach (kn_single.h). Where a relation is rare only together with something else (another value, another relation) FixStructure takes it away
 * from everybody. Here it goes only from the records that have the rare combination. Rounds on the records under the plan's cut, with nothing moved, look at all combinations with one relation, then
 * with two, up to n, and stop at the first number at which one has between 1 and k - 1 records. In each of these records one relation of it is taken away: the one that the fewest records have, of
 * equally rare ones the smallest, in the way that the problem says. What a round takes away goes at its end, record by record in that order, unless the record has lost another relation of
 * the combination by then. The cut is then looked at as ever, which takes away everywhere what is still rare, and the plan is taken if less is lost and nobody sees in which records it was: no node stands
 * where only a moved one can (S1, kn_tree.h), unless at least k records show it there.
 *
 * Relations are looked for one by one: with several that must share nodes (semantics: paths, n > 1), and where values are known not to be related, nothing is tried; nor where there would be more than MOST
 * combinations to count. Cost: per round the combinations that records have. Memory: 4 bytes per node of the original, and the relations of all records.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_single.h"
#include "kn_tree_work.h"

#define WHAT "looking for relations to take away"
#define ROOT KN_RECORDS_ROOT
#define NONE UINT32_MAX

enum { MOST = 50000000 };

/* A relation that goes from a record, and the rare combination for which it does. */
typedef struct parting {
    uint32_t row, relation;
    int64_t  support;
    size_t   set; /* in `sets` */
} parting;

typedef struct detaching {
    kn_context            *ctx;
    const kn_tree_problem *problem;
    const kn_records      *records;
    const kn_records_plan *plan;
    uint32_t              *shown;  /* per node: what it shows; NONE: nothing */
    uint32_t              *parent; /* per node: where it stands              */
    /* The relations that occur at first, ascending: ancestor << 32 | descendant. */
    uint64_t *relations;
    size_t    relation_count, relation_capacity;
    bool     *taken; /* per relation: in some record */
    /* Records that have one: per row its relations, then its known values, larger by the number of relations. */
    uint32_t       *rows;
    size_t          row_count;
    uint64_t       *start;
    uint32_t       *items;
    size_t          item_capacity;
    int64_t        *weight;
    kn_row_entry   *entries;
    int64_t        *support; /* per relation */
    kn_combinations combinations;
    /* The current combination. */
    uint32_t *chosen, *values;
    int       relations_chosen, value_count;
    parting  *partings; /* of the round */
    size_t    parting_count, parting_capacity;
    uint32_t *sets;
    size_t    set_count, set_capacity;
    uint32_t *scratch; /* per node of the largest record, twice */
    bool      changed;
} detaching;

static kn_status no_memory(const detaching *d, kn_error *err)
{
    return kn_fail_memory(err, d->ctx, WHAT);
}

static bool is_known(const detaching *d, uint32_t value)
{
    const kn_vocabulary *v = d->records->vocabulary;
    return value != NONE && (value == 0 || !v->sensitive[v->cls[value]]);
}

/* ---- Rows ---- */

static uint32_t number_of(const detaching *d, uint64_t key)
{
    size_t low = 0, high = d->relation_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->relations[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static size_t unique(uint32_t *list, size_t count)
{
    size_t kept = 0;
    qsort(list, count, sizeof *list, kn_compare_u32);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || list[i] != list[kept - 1]) list[kept++] = list[i];
    return kept;
}

/* The keys of a record's relations, with repetitions; `out` NULL: how many. */
static size_t list_relations(const detaching *d, int64_t t, uint64_t *out)
{
    const kn_records *r = d->records;
    uint64_t          first = r->start[t];
    size_t            count = 0;
    for (uint64_t i = first; i < r->start[t + 1]; i++) {
        if (!is_known(d, d->shown[i])) continue;
        for (uint32_t p = d->parent[i]; p != ROOT; p = d->parent[first + p]) {
            if (!is_known(d, d->shown[first + p])) continue;
            if (out) out[count] = (uint64_t)d->shown[first + p] << 32 | d->shown[i];
            count++;
        }
    }
    return count;
}

static kn_status list_row(detaching *d, size_t row, uint64_t *keys, kn_error *err)
{
    const kn_records *r = d->records;
    uint32_t          t = d->rows[row];
    size_t            from = (size_t)d->start[row], count = list_relations(d, t, keys),
           size = (size_t)(r->start[t + 1] - r->start[t]);
    if (!KN_GROW(d->ctx, &d->items, &d->item_capacity, from + count + size + 1)) return no_memory(d, err);
    uint32_t *to = d->items + from;
    for (size_t i = 0; i < count; i++) to[i] = number_of(d, keys[i]);
    for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++)
        if (is_known(d, d->shown[i])) to[count++] = (uint32_t)d->relation_count + d->shown[i];
    d->start[row + 1] = from + unique(to, count);
    return KN_OK;
}

static kn_status list_rows(detaching *d, uint64_t *keys, kn_error *err)
{
    d->start[0] = 0;
    for (size_t i = 0; i < d->row_count; i++) KN_TRY(list_row(d, i, keys, err));
    return KN_OK;
}

/* ---- A round ---- */

static bool has_value(const detaching *d, uint32_t value)
{
    for (int i = 0; i < d->value_count; i++)
        if (d->values[i] == value) return true;
    return false;
}

/* One of the chosen relations goes from each of these rows. */
static kn_status name(detaching *d, const kn_row_entry *entries, size_t count, kn_error *err)
{
    size_t   set = d->set_count, n = (size_t)d->relations_chosen;
    uint32_t best = d->chosen[0];
    if (!KN_GROW(d->ctx, &d->partings, &d->parting_capacity, d->parting_count + count + 1) ||
        !KN_GROW(d->ctx, &d->sets, &d->set_capacity, set + n + 1))
        return no_memory(d, err);
    for (size_t i = 0; i < n; i++) {
        uint32_t one = d->chosen[i];
        d->sets[d->set_count++] = one;
        if (d->support[one] < d->support[best] || (d->support[one] == d->support[best] && one < best)) best = one;
    }
    for (size_t e = 0; e < count; e++)
        d->partings[d->parting_count++] = (parting){entries[e].row, best, d->support[best], set};
    return KN_OK;
}

static kn_status visit(detaching *d, int level, const kn_row_entry *entries, size_t count, int most, kn_error *err);

/* One item more, in these rows. */
static kn_status add_item(detaching *d, int level, uint32_t item, const kn_row_entry *entries, size_t count, int most,
                          kn_error *err)
{
    bool relation = item < d->relation_count;
    int  before = d->value_count;
    if (relation == (d->relations_chosen == most)) return KN_OK; /* relations first, all of them */
    uint32_t ends[2] = {relation ? (uint32_t)(d->relations[item] >> 32) : item - (uint32_t)d->relation_count, 0};
    ends[1] = relation ? (uint32_t)d->relations[item] : ends[0];
    if (!relation && has_value(d, ends[0])) return KN_OK;
    for (int i = 0; i < 2; i++)
        if (!has_value(d, ends[i])) d->values[d->value_count++] = ends[i];
    if (relation) d->chosen[d->relations_chosen++] = item;
    kn_status st = KN_OK;
    bool      rare = (int64_t)count < d->problem->k;
    if (d->value_count <= d->problem->m) {
        if (d->relations_chosen == most && rare)
            st = name(d, entries, count, err);
        else if (d->relations_chosen < most || d->value_count < d->problem->m)
            st = visit(d, level + 1, entries, count, most, err);
    }
    d->relations_chosen -= relation;
    d->value_count = before;
    return st;
}

/* All combinations with exactly `most` relations that continue the current one. */
static kn_status visit(detaching *d, int level, const kn_row_entry *entries, size_t count, int most, kn_error *err)
{
    kn_combination_level *l = &d->combinations.levels[level];
    uint32_t              from = 0;
    int64_t               n =
        kn_combinations_split(&d->combinations, (size_t)level, (kn_row_items){d->start, d->items}, entries, count);
    if (n < 0) return no_memory(d, err);
    for (int64_t i = 0; level == 0 && i < n; i++) {
        uint32_t to = l->touched[n + i];
        if (l->touched[i] < d->relation_count) d->support[l->touched[i]] = to - from;
        from = to;
    }
    from = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t to = l->touched[n + i], here = from;
        from = to;
        KN_TRY(add_item(d, level, l->touched[i], l->entries + here, to - here, most, err));
        if (level == 0 && kn_cancelled(d->ctx)) return kn_fail_cancelled(err);
    }
    return KN_OK;
}

/* ---- Taking away ---- */

static bool has_relation(const detaching *d, uint32_t t, uint64_t key)
{
    uint64_t first = d->records->start[t];
    for (uint64_t i = first; i < d->records->start[t + 1]; i++)
        for (uint32_t p = d->shown[i] == (uint32_t)key ? d->parent[i] : ROOT; p != ROOT; p = d->parent[first + p])
            if (d->shown[first + p] == (uint32_t)(key >> 32)) return true;
    return false;
}

/* The topmost node above i that shows a value, and which leads from there to i; ROOT: none. */
static uint32_t topmost(const detaching *d, uint64_t first, uint32_t i, uint32_t value, uint32_t *child)
{
    uint32_t found = ROOT;
    for (uint32_t p = d->parent[first + i], last = i; p != ROOT; last = p, p = d->parent[first + p])
        if (d->shown[first + p] == value) {
            found = p;
            *child = last;
        }
    return found;
}

/* As kn_record_disassociate moves the node alone: what was below it is below the next one up that stays. */
static void move_nodes(detaching *d, uint64_t first, uint32_t size, uint32_t a, uint32_t b)
{
    uint32_t *top = d->scratch, *stays = top + size, *parent = d->parent + first;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t p = parent[i], above = p == ROOT ? ROOT : top[p];
        top[i] = above == ROOT && d->shown[first + i] == a ? i : above;
        if (above != ROOT && d->shown[first + i] == b) {
            stays[i] = p == ROOT ? ROOT : stays[p];
            parent[i] = parent[above];
        } else {
            stays[i] = i;
            if (p != ROOT) parent[i] = stays[p];
        }
    }
}

static void detach(detaching *d, uint32_t t, uint64_t key)
{
    uint64_t first = d->records->start[t];
    uint32_t size = (uint32_t)(d->records->start[t + 1] - first), a = (uint32_t)(key >> 32), b = (uint32_t)key,
             child = 0, top;
    d->changed = true;
    if (d->problem->how == KN_DISASSOCIATE_NODE) {
        move_nodes(d, first, size, a, b);
        return;
    }
    for (uint32_t i = 0; i < size; i++)
        while (d->shown[first + i] == b && (top = topmost(d, first, i, a, &child)) != ROOT)
            d->parent[first + (d->problem->how == KN_DISASSOCIATE_SUBTREE ? i : child)] = d->parent[first + top];
}

static int by_record(const void *x, const void *y)
{
    const parting *a = x, *b = y;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    if (a->support != b->support) return a->support < b->support ? -1 : 1;
    return a->relation < b->relation ? -1 : a->relation > b->relation;
}

static void end_round(detaching *d, int most)
{
    qsort(d->partings, d->parting_count, sizeof *d->partings, by_record);
    for (size_t i = 0; i < d->parting_count; i++) {
        const parting *p = &d->partings[i];
        bool           whole = true;
        for (int j = 0; j < most; j++)
            whole = whole && has_relation(d, d->rows[p->row], d->relations[d->sets[p->set + (size_t)j]]);
        if (!whole) continue;
        detach(d, d->rows[p->row], d->relations[p->relation]);
        d->taken[p->relation] = true;
    }
}

static kn_status do_rounds(detaching *d, uint64_t *keys, kn_error *err)
{
    do {
        int most = 0;
        KN_TRY(list_rows(d, keys, err));
        d->parting_count = d->set_count = 0;
        while (most < d->problem->n && d->parting_count == 0)
            KN_TRY(visit(d, 0, d->entries, d->row_count, ++most, err));
        end_round(d, most);
        if (kn_cancelled(d->ctx)) return kn_fail_cancelled(err);
    } while (d->parting_count > 0);
    return KN_OK;
}

/* ---- Beginning and end ---- */

static void show(detaching *d)
{
    const kn_records      *r = d->records;
    const kn_records_plan *plan = d->plan;
    for (int64_t t = 0; t < r->count; t++)
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++) {
            bool lost = (plan->left_out && plan->left_out[t]) || (plan->given_up && plan->given_up[r->value[i]]) ||
                        (plan->dropped && plan->dropped[i]);
            d->shown[i] = lost ? NONE : plan->image[r->value[i]];
            d->parent[i] = r->parent[i];
        }
}

/* Numbers all relations; *work: about how many combinations there are. */
static kn_status number_relations(detaching *d, double *work, size_t *widest, kn_error *err)
{
    const kn_records *r = d->records;
    size_t            total = 0, kept = 0;
    *work = 0;
    for (int64_t t = 0; t < r->count; t++) {
        size_t count = list_relations(d, t, NULL);
        double own = (double)count;
        for (int i = 1; i < d->problem->n; i++) own *= (double)count;
        for (int i = 2; i < d->problem->m; i++) own *= (double)(r->start[t + 1] - r->start[t]);
        *work += own;
        total += count;
        if (count > *widest) *widest = count;
        if (count > 0) d->rows[d->row_count++] = (uint32_t)t;
    }
    if (*work > MOST) return KN_OK;
    if (!KN_GROW(d->ctx, &d->relations, &d->relation_capacity, total + 1)) return no_memory(d, err);
    for (size_t i = 0, at = 0; i < d->row_count; i++) at += list_relations(d, d->rows[i], d->relations + at);
    qsort(d->relations, total, sizeof *d->relations, kn_compare_u64);
    for (size_t i = 0; i < total; i++)
        if (i == 0 || d->relations[i] != d->relations[kept - 1]) d->relations[kept++] = d->relations[i];
    d->relation_count = kept;
    return KN_OK;
}

static kn_status find_partings(detaching *d, kn_error *err)
{
    const kn_records *r = d->records;
    size_t            nodes = (size_t)r->nodes + 1, records = (size_t)r->count + 2, widest = 1, largest = 1;
    size_t            levels = (size_t)d->problem->m + (size_t)d->problem->n + 2;
    double            work = 0;
    if (!KN_ALLOC(d->ctx, d->shown, nodes) || !KN_ALLOC(d->ctx, d->parent, nodes) ||
        !KN_ALLOC(d->ctx, d->rows, records))
        return no_memory(d, err);
    show(d);
    KN_TRY(number_relations(d, &work, &widest, err));
    if (work > MOST || d->relation_count == 0) return KN_OK;
    for (int64_t t = 0; t < r->count; t++)
        if (r->start[t + 1] - r->start[t] > largest) largest = (size_t)(r->start[t + 1] - r->start[t]);
    uint64_t *keys = kn_alloc_array(d->ctx, widest + 1, sizeof *keys);
    bool ok = keys && KN_ALLOC_ZERO(d->ctx, d->taken, d->relation_count + 1) && KN_ALLOC(d->ctx, d->start, records) &&
              KN_ALLOC(d->ctx, d->weight, records) && KN_ALLOC(d->ctx, d->entries, records) &&
              KN_ALLOC_ZERO(d->ctx, d->support, d->relation_count + 1) && KN_ALLOC(d->ctx, d->chosen, levels) &&
              KN_ALLOC(d->ctx, d->values, 2 * levels) && KN_ALLOC(d->ctx, d->scratch, 2 * largest) &&
              kn_combinations_prepare(&d->combinations, d->relation_count + r->vocabulary->nodes + 1, levels);
    for (size_t i = 0; ok && i < d->row_count; i++) {
        d->weight[i] = 1;
        d->entries[i] = (kn_row_entry){(uint32_t)i, 0};
    }
    d->combinations.weight = d->weight;
    kn_status st = ok ? do_rounds(d, keys, err) : no_memory(d, err);
    kn_free(keys);
    return st;
}

/* The plan with what goes from single records. */
static kn_status take_partings(detaching *d, kn_records_plan *to, kn_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < d->relation_count; i++) count += d->taken[i];
    if (!KN_ALLOC(d->ctx, to->some, count + 1)) return no_memory(d, err);
    for (size_t i = 0; i < d->relation_count; i++)
        if (d->taken[i])
            to->some[to->some_count++] =
                (kn_disassociation){(uint32_t)(d->relations[i] >> 32), (uint32_t)d->relations[i]};
    to->parent = d->parent;
    d->parent = NULL;
    return KN_OK;
}

static kn_status look(detaching *d, kn_tree_result **out, kn_error *err)
{
    const kn_records_plan *plan = d->plan;
    kn_tree_problem        inner = *d->problem;
    kn_records            *stay = NULL;
    int64_t               *original_of = NULL;
    uint32_t              *cut = kn_alloc_array(d->ctx, (size_t)plan->values + 1, sizeof *cut), size = 0;
    if (!cut) return no_memory(d, err);
    for (uint32_t u = 0; u < plan->values; u++)
        if (plan->image[u] == u) cut[size++] = u;
    inner.only = cut;
    inner.only_size = size;
    inner.spare_nodes = inner.spare_records = 0;
    inner.as_is = false;
    inner.time_limit = 0;
    kn_status st = kn_records_without(&stay, &original_of, d->ctx, d->records,
                                      (kn_records_lack){plan->given_up, plan->dropped, plan->left_out, d->parent}, err);
    inner.records = stay;
    if (st == KN_OK) st = kn_tree_search_once(out, d->ctx, &inner, err);
    KN_FREE(cut, original_of);
    kn_records_free(stay);
    return st;
}

/* ---- Is it seen? ---- */

/* Where a node of a class stands: row 0 is the root. */
static size_t class_pair(const kn_vocabulary *v, uint32_t above, uint32_t value)
{
    return (above == ROOT ? 0 : (size_t)v->cls[above] + 1) * (size_t)v->class_count + v->cls[value];
}

/* The positions of a record that occur in no original, each once: appended to the list. */
static size_t add_positions(const kn_records *r, int64_t t, const bool *usual, uint64_t *list, size_t count)
{
    const kn_vocabulary *v = r->vocabulary;
    size_t               first = count, kept = count;
    for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++) {
        uint32_t above = r->parent[i] == ROOT ? ROOT : r->value[r->start[t] + r->parent[i]];
        if (r->value[i] == 0 || above == 0 || usual[class_pair(v, above, r->value[i])]) continue;
        list[count++] = (uint64_t)above << 32 | r->value[i];
    }
    qsort(list + first, count - first, sizeof *list, kn_compare_u64);
    for (size_t i = first; i < count; i++)
        if (i == first || list[i] != list[kept - 1]) list[kept++] = list[i];
    return kept;
}

/* Does a node stand where only a moved one can, in fewer than k of the released records? */
static kn_status find_odd(const detaching *d, const kn_records *released, bool *odd, kn_error *err)
{
    const kn_records    *r = d->records;
    const kn_vocabulary *v = r->vocabulary;
    size_t               count = 0;
    bool *usual = kn_alloc_array_zero(d->ctx, ((size_t)v->class_count + 1) * (size_t)v->class_count + 1, sizeof *usual);
    uint64_t *list = kn_alloc_array(d->ctx, (size_t)released->nodes + 1, sizeof *list);
    *odd = false;
    for (int64_t t = 0; usual && t < r->count; t++)
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++)
            usual[class_pair(v, r->parent[i] == ROOT ? ROOT : r->value[r->start[t] + r->parent[i]], r->value[i])] =
                true;
    for (int64_t t = 0; usual && list && t < released->count; t++)
        count = add_positions(released, t, usual, list, count);
    if (usual && list) qsort(list, count, sizeof *list, kn_compare_u64);
    for (size_t i = 0, j = 0; usual && list && i < count; i = j) {
        while (j < count && list[j] == list[i]) j++;
        *odd = *odd || (int64_t)(j - i) < d->problem->k;
    }
    kn_status st = usual && list ? KN_OK : no_memory(d, err);
    KN_FREE(usual, list);
    return st;
}

static kn_status is_seen(const detaching *d, const kn_records_plan *plan, bool *odd, kn_error *err)
{
    kn_records *released = NULL;
    KN_TRY(kn_records_apply(&released, NULL, d->ctx, d->records, plan, err));
    kn_status st = find_odd(d, released, odd, err);
    kn_records_free(released);
    return st;
}

/* Its plan takes over what the old one gives up, if it loses less. */
static kn_status judge(detaching *d, kn_tree_result *best, kn_tree_loss *loss, kn_tree_result *found, kn_error *err)
{
    kn_records_plan *old = best->plan, *new = found->plan;
    kn_tree_loss     own;
    KN_TRY(take_partings(d, new, err));
    new->given_up = old->given_up; /* for the while */
    new->dropped = old->dropped;
    new->left_out = old->left_out;
    new->in_some = old->in_some;
    bool      seen = true;
    kn_status st = kn_tree_lose(&own, d->ctx, d->records, new, d->problem->weights, err);
    if (st == KN_OK && own.loss < loss->loss) st = is_seen(d, new, &seen, err);
    bool             better = st == KN_OK && own.loss < loss->loss && !seen;
    kn_records_plan *other = better ? old : new;
    other->given_up = other->dropped = other->left_out = other->in_some = NULL;
    if (!better) return st;
    found->plan = old;
    best->plan = new;
    best->cost = found->cost;
    *loss = own;
    return KN_OK;
}

kn_status kn_tree_detach(kn_tree_result *best, kn_tree_loss *loss, kn_tree_counters *counters, kn_context *ctx,
                         const kn_tree_problem *problem, kn_error *err)
{
    const kn_vocabulary *v = problem->records->vocabulary;
    detaching            d = {
                   .ctx = ctx, .problem = problem, .records = problem->records, .plan = best->plan, .combinations = {.ctx = ctx}};
    kn_tree_result *found = NULL;
    bool            fits = best->plan->disassociation_count > 0 && problem->records->count < UINT32_MAX &&
                (problem->n == 1 || problem->semantics == KN_SEMANTICS_PAIRS);
    for (int c = 0; c < v->class_count; c++) fits = fits && !v->unrelated[c];
    if (!fits) return KN_OK;
    kn_status st = find_partings(&d, err);
    if (st == KN_OK && d.changed) st = look(&d, &found, err);
    if (st == KN_OK && found) {
        kn_tree_count(counters, &found->counters);
        if (found->found) st = judge(&d, best, loss, found, err);
    }
    kn_tree_result_free(found);
    kn_combinations_free(&d.combinations);
    KN_FREE(d.shown, d.parent, d.relations, d.taken, d.rows, d.start, d.items, d.weight, d.entries, d.support, d.chosen,
            d.values, d.partings, d.sets, d.scratch);
    return st;
}
