/* kn_tree_reference.c: ACS, GCS and OCS as written (Gkountouna, Terrovitis 2013, Algorithms 1 to 4, with the readings
 * of docs/errata.md 5): for every cut the records are released again, and every combination of values and relations
 * is counted.
 *
 * Interface: kn_tree_reference_search. The fast path is tested against it, and they share no code: no
 * synopsis, no reuse between cuts, one thread. Definition 2 itself is kn_record_disassociate's.
 *
 * Cost: for each cut C O(|C|^m) intersections of id lists, and for each round of disassociations as many again.
 * Memory: the released records, an id per record for each value and relation it has, and the cuts that were seen.
 * Limits: 2^32 - 1 records.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_clock.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_spread.h"
#include "kn_tree_reference_internal.h"

#define NONE KN_REFERENCE_NONE
#define COST_PRIME ((UINT64_C(1) << 61) - 1)

static bool sensitive(const kn_reference *r, uint32_t value)
{
    uint16_t cls = r->vocabulary->cls[value];
    return cls != KN_VOCABULARY_NO_CLASS && r->vocabulary->sensitive[cls];
}

/* ---- Algorithms 1 to 3 ---- */

static bool is_rare(kn_reference *r, const kn_id_list *records)
{
    return (int64_t)records->count < r->problem->k;
}

/* A rare combination names the relation with the least support of its own, of equal ones the first. */
static bool name_of_rare(kn_reference *r, const kn_id_list *records)
{
    if (!is_rare(r, records)) return false;
    uint32_t name = r->known[0];
    for (int j = 1; j < r->known_count; j++)
        if (r->relations[r->known[j]].records.count < r->relations[name].records.count) name = r->known[j];
    r->named_count += !r->named[name];
    r->named[name] = true;
    return false;
}

/* One sensitive value is in more than 1 / l of the records, or they break a promise about a sensitive class. */
static bool is_uniform(kn_reference *r, const kn_id_list *records)
{
    kn_id_list            *with = &r->relation_stack[r->problem->n + 2];
    const kn_tree_problem *problem = r->problem;
    for (uint32_t p = 0; p < r->cut->size && problem->l > 0; p++) {
        if (!sensitive(r, r->cut->values[p])) continue;
        kn_reference_intersect(r, with, records, &r->with_value[p]);
        if ((int64_t)with->count > (int64_t)records->count / problem->l) return true;
    }
    for (int i = 0; i < problem->promise_count; i++) {
        size_t values = 0;
        for (uint32_t p = 0; p < r->cut->size; p++) {
            if (r->vocabulary->cls[r->cut->values[p]] != problem->promises[i].cls) continue;
            kn_reference_intersect(r, with, records, &r->with_value[p]);
            if (with->count > 0) r->spread[values++] = (int64_t)with->count;
        }
        if (!kn_spread_holds(&problem->promises[i].model, r->spread, values, (int64_t)records->count)) return true;
    }
    return false;
}

/* How many values of the records lie at or below a value, if it may be known that a record lacks them; else 0 (III-G). */
static uint32_t values_below(const kn_reference *r, uint32_t value)
{
    const kn_vocabulary *v = r->vocabulary;
    uint32_t             count = 0;
    for (uint32_t below = value; below < v->end[value]; below++) {
        if (!kn_bitset_test(r->occurs, below) || sensitive(r, below)) continue; /* "*" never stands for these */
        if (!v->negative[v->cls[below]]) return 0;
        count++;
    }
    return count;
}

static bool value_check(kn_reference *r)
{
    r->counters->value_checks++;
    return !kn_reference_visit(r, 0, 0, is_rare);
}

/* A position that a schema gives away: value and parent (KN_RECORDS_ROOT), as one number, and a record that has it. */
typedef struct position {
    uint64_t key;
    int64_t  record;
} position;

static int compare_positions(const void *a, const void *b)
{
    const position *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->record < y->record ? -1 : x->record > y->record;
}

static size_t class_pair(const kn_reference *r, uint32_t parent_value, uint32_t value)
{
    size_t classes = (size_t)r->vocabulary->class_count;
    size_t above = parent_value == NONE ? classes : r->vocabulary->cls[parent_value];
    return above * classes + r->vocabulary->cls[value];
}

/* Which classes stand below which in the original. */
static void note_class_pairs(kn_reference *r)
{
    for (int64_t t = 0; t < r->records->count; t++)
        for (uint64_t i = r->records->start[t]; i < r->records->start[t + 1]; i++) {
            uint32_t parent = r->records->parent[i];
            if (parent != KN_RECORDS_ROOT) parent = r->records->value[r->records->start[t] + parent];
            kn_bitset_set(r->class_pairs, class_pair(r, parent, r->records->value[i]));
        }
}

/* Every tell-tale position of every record (S1), sorted. */
static kn_status collect_positions(kn_reference *r, position **out, size_t *count, kn_error *err)
{
    size_t capacity = 0;
    *out = NULL;
    *count = 0;
    for (int64_t t = 0; t < r->records->count; t++) {
        const kn_record_node *nodes = r->nodes + r->records->start[t];
        for (uint32_t i = 0; i < r->size[t]; i++) {
            uint32_t parent = nodes[i].parent == KN_RECORDS_ROOT ? NONE : nodes[nodes[i].parent].value;
            if (nodes[i].value == 0 || parent == 0) continue; /* "*" has no class */
            if (kn_bitset_test(r->class_pairs, class_pair(r, parent, nodes[i].value))) continue;
            if (!KN_GROW(r->ctx, &*out, &capacity, *count + 1)) {
                kn_free(*out);
                return kn_reference_no_memory(r, err);
            }
            (*out)[(*count)++] = (position){(uint64_t)parent << 32 | nodes[i].value, t};
        }
    }
    if (*count > 0) qsort(*out, *count, sizeof **out, compare_positions);
    return KN_OK;
}

/* Names the relation of a rare tell-tale position. */
static void name_of_position(kn_reference *r, uint64_t key)
{
    uint32_t parent = (uint32_t)(key >> 32), value = r->place[(uint32_t)key], name = NONE;
    if (parent != NONE) {
        name = kn_reference_find_relation(r, r->place[parent], value);
    } else {
        for (uint32_t x = 0; x < r->relation_count; x++)
            if (r->relations[x].descendant == value &&
                (name == NONE || r->relations[x].records.count < r->relations[name].records.count))
                name = x;
    }
    if (name == NONE) return;
    r->named_count += !r->named[name];
    r->named[name] = true;
}

static kn_status name_positions(kn_reference *r, kn_error *err)
{
    position *positions;
    size_t    count;
    KN_TRY(collect_positions(r, &positions, &count, err));
    for (size_t i = 0, next; i < count; i = next) {
        int64_t records = 0;
        for (next = i; next < count && positions[next].key == positions[i].key; next++)
            records += next == i || positions[next].record != positions[next - 1].record;
        if (records < r->problem->k) name_of_position(r, positions[i].key);
    }
    kn_free(positions);
    return KN_OK;
}

/* One round of FixStructure: which relations go? */
static kn_status name_relations(kn_reference *r, kn_error *err)
{
    r->named_count = 0;
    if (r->problem->n == 0) return KN_OK; /* nothing ever moves */
    KN_TRY(kn_reference_collect_relations(r, err));
    if (!KN_GROW(r->ctx, &r->named, &r->named_capacity, r->relation_count + 1)) return kn_reference_no_memory(r, err);
    memset(r->named, 0, r->relation_count * sizeof *r->named);
    for (int known = 1; known <= r->problem->n && r->named_count == 0; known++)
        if (kn_reference_visit(r, known, known, name_of_rare)) return KN_OK;
    if (r->named_count == 0 && r->problem->strict) return name_positions(r, err);
    if (r->named_count == 0 && r->problem->method != KN_METHOD_OCS) return kn_reference_name_unrelated(r, err);
    return KN_OK;
}

static kn_status fix_structure(kn_reference *r, bool *fixed, kn_error *err)
{
    r->sd_count = 0;
    for (;;) {
        KN_TRY(name_relations(r, err));
        *fixed = !r->cancelled && !r->late && r->named_count == 0;
        if (r->named_count == 0 || r->cancelled || r->late || r->problem->method == KN_METHOD_OCS) return KN_OK;
        if (!KN_GROW(r->ctx, &r->sd, &r->sd_capacity, r->sd_count + r->named_count))
            return kn_reference_no_memory(r, err);
        for (uint32_t x = 0; x < r->relation_count; x++) {
            if (!r->named[x]) continue;
            const kn_reference_relation *go = &r->relations[x];
            kn_disassociation            d = {r->cut->values[go->ancestor], r->cut->values[go->descendant]};
            r->sd[r->sd_count++] = d;
            r->counters->disassociations++;
            kn_reference_disassociate(r, d);
        }
    }
}

/* ---- RPDa (equations 7 and 8; K14): on all records as one trie of their paths ---- */

/* The child of a trie's node with that value. NONE: out of memory. */
static uint32_t trie_child(kn_reference *r, uint32_t parent, uint32_t value)
{
    uint32_t before = NONE, at = r->trie[parent].child;
    while (at != NONE && r->trie[at].value < value) {
        before = at;
        at = r->trie[at].next;
    }
    if (at != NONE && r->trie[at].value == value) return at;
    if (!KN_GROW(r->ctx, &r->trie, &r->trie_capacity, r->trie_count + 1)) return NONE;
    uint32_t child = (uint32_t)r->trie_count++;
    r->trie[child] = (kn_reference_trie_node){value, NONE, at, 0, -1};
    if (before == NONE)
        r->trie[parent].child = child;
    else
        r->trie[before].next = child;
    return child;
}

static kn_status build_trie(kn_reference *r, kn_error *err)
{
    r->trie[0] = (kn_reference_trie_node){NONE, NONE, NONE, 0, -1};
    r->trie_count = 1;
    for (int64_t t = 0; t < r->records->count; t++) {
        const kn_record_node *nodes = r->nodes + r->records->start[t];
        for (uint32_t i = 0; i < r->size[t]; i++) {
            uint32_t above = nodes[i].parent == KN_RECORDS_ROOT ? 0 : r->trie_of[nodes[i].parent];
            uint32_t at = r->trie_of[i] = trie_child(r, above, nodes[i].value);
            if (at == NONE) return kn_reference_no_memory(r, err);
            r->trie[at].support += r->trie[at].last != t;
            r->trie[at].last = t;
        }
    }
    return KN_OK;
}

/* a / b modulo the prime 2^61 - 1: costs that are equal as rational numbers are equal there, however they are added up. */
static uint64_t divide(uint64_t a, uint64_t b)
{
    kn_u128 result = a % COST_PRIME, base = b % COST_PRIME;
    for (uint64_t power = COST_PRIME - 2; power > 0; power >>= 1, base = base * base % COST_PRIME)
        if (power & 1) result = result * base % COST_PRIME;
    return (uint64_t)result;
}

/* The paths through the children of a node, in preorder. `divided`: 1 / product. */
static void sum_paths(const kn_reference *r, uint32_t node, uint64_t depth, double product, uint64_t divided,
                      int64_t supports, kn_reference_cost *sum, uint64_t *leaves)
{
    for (uint32_t c = r->trie[node].child; c != NONE; c = r->trie[c].next) {
        uint64_t domain = r->domain[r->trie[c].value], below = divide(divide(divided, depth + 1), domain);
        double   here = product * ((double)(depth + 1) * (double)domain);
        int64_t  with = supports + r->trie[c].support;
        if (r->trie[c].child != NONE) {
            sum_paths(r, c, depth + 1, here, below, with, sum, leaves);
            continue;
        }
        sum->value += (double)with / here;
        sum->residue = (uint64_t)(((kn_u128)below * (uint64_t)with + sum->residue) % COST_PRIME);
        ++*leaves;
    }
}

static kn_status rpda(kn_reference *r, kn_reference_cost *cost, kn_error *err)
{
    KN_TRY(build_trie(r, err));
    uint64_t leaves = 0;
    *cost = (kn_reference_cost){0, 0};
    sum_paths(r, 0, 0, 1, 1, 0, cost, &leaves);
    if (leaves == 0) return KN_OK;
    cost->value /= (double)(r->trie_count - 1) * (double)leaves;
    cost->residue = divide(divide(cost->residue, r->trie_count - 1), leaves);
    return KN_OK;
}

/* ---- What is lost by weight (kn_tree.h): node by node ---- */

static int64_t relations_of(const kn_record_node *nodes, uint32_t count)
{
    int64_t relations = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t p = nodes[i].parent; p != KN_RECORDS_ROOT; p = nodes[p].parent) relations++;
    return relations;
}

static int64_t original_relations(const kn_records *r)
{
    int64_t relations = 0;
    for (int64_t t = 0; t < r->count; t++)
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++)
            for (uint32_t p = r->parent[i]; p != KN_RECORDS_ROOT; p = r->parent[r->start[t] + p]) relations++;
    return relations;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return (uint64_t)(((kn_u128)a + b) % COST_PRIME);
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return (uint64_t)((kn_u128)(a % COST_PRIME) * (b % COST_PRIME) % COST_PRIME);
}

/* What is lost of the nodes of one class that show one value. */
static void lose_values(const kn_reference *r, uint32_t shown, int c, kn_reference_cost *lost)
{
    const kn_vocabulary *v = r->vocabulary;
    kn_ratio             w = r->problem->weights[c];
    uint64_t             nodes = 0, whole = v->leaves[v->top[c]], broad = shown == 0 ? whole : v->leaves[shown] - 1;
    for (uint64_t i = 0; i < r->records->nodes; i++)
        nodes += v->cls[r->records->value[i]] == c && r->image[r->records->value[i]] == shown;
    lost->value += (double)nodes * ((double)w.numerator / (double)w.denominator) * ((double)broad / (double)whole);
    lost->residue = plus(lost->residue, divide(times(times(nodes, w.numerator), broad), times(w.denominator, whole)));
}

/* What all nodes weigh. */
static kn_reference_cost whole_weight(const kn_reference *r)
{
    kn_reference_cost all = {0, 0};
    for (int c = 0; c < r->vocabulary->class_count; c++) {
        kn_ratio w = r->problem->weights[c];
        uint64_t nodes = 0;
        for (uint64_t i = 0; i < r->records->nodes; i++) nodes += r->vocabulary->cls[r->records->value[i]] == c;
        all.value += (double)nodes * ((double)w.numerator / (double)w.denominator);
        all.residue = plus(all.residue, divide(times(nodes, w.numerator), w.denominator));
    }
    return all;
}

static void weighted_loss(const kn_reference *r, kn_reference_cost *cost)
{
    kn_reference_cost lost = {0, 0}, all = whole_weight(r);
    int64_t           before = original_relations(r->records), after = 0;
    for (uint32_t i = 0; i < r->cut->size; i++)
        for (int c = 0; c < r->vocabulary->class_count; c++) lose_values(r, r->cut->values[i], c, &lost);
    *cost = lost;
    if (all.value > 0) *cost = (kn_reference_cost){lost.value / all.value, divide(lost.residue, all.residue)};
    for (int64_t t = 0; t < r->records->count; t++) after += relations_of(r->nodes + r->records->start[t], r->size[t]);
    if (before == 0) return;
    cost->value += 1 - (double)after / (double)before;
    cost->residue = plus(cost->residue, divide((uint64_t)(before - after), (uint64_t)before));
}

/* Equal residues of numbers that are nowhere near each other are equal by chance. */
static int compare_costs(kn_reference_cost a, kn_reference_cost b)
{
    bool close = a.value <= b.value * 1.000001 && b.value <= a.value * 1.000001;
    if (a.value == b.value || (close && a.residue == b.residue)) return 0;
    return a.value < b.value ? -1 : 1;
}

/* |C(u)|: the values of the full-domain cut through u's class, or through all of them, at the depth of u; leaves that are
 * not as deep stay, and are themselves among all leaves (K2, K13). */
static void count_domains(kn_reference *r)
{
    const kn_vocabulary *v = r->vocabulary;
    for (int c = 0; c < v->class_count; c++) {
        uint32_t from = r->problem->level_domains ? 1 : v->top[c];
        uint32_t to = r->problem->level_domains ? v->nodes : v->end[v->top[c]];
        for (uint16_t depth = 1; depth <= v->height[v->top[c]] + 1; depth++) {
            uint64_t size = 0;
            for (uint32_t u = from; u < to; u++)
                size += v->depth[u] == depth || (v->depth[u] < depth && v->end[u] == u + 1);
            for (uint32_t u = v->top[c]; u < v->end[v->top[c]]; u++)
                if (v->depth[u] == depth) r->domain[u] = size;
        }
        uint64_t leaves = 0;
        for (uint32_t u = from; u < to; u++) leaves += v->end[u] == u + 1;
        for (uint32_t u = v->top[c]; u < v->end[v->top[c]]; u++)
            if (v->end[u] == u + 1) r->domain[u] = leaves;
    }
    r->domain[0] = 1;
}

/* ---- Cuts ---- */

/* The one with more values comes first, of those the deeper one. */
static int compare_cuts(const kn_reference *r, const kn_reference_cut *a, const kn_reference_cut *b)
{
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    int64_t deeper = 0;
    for (uint32_t i = 0; i < a->size; i++)
        deeper += (int64_t)r->vocabulary->depth[a->values[i]] - (int64_t)r->vocabulary->depth[b->values[i]];
    if (deeper != 0) return deeper > 0 ? -1 : 1;
    for (uint32_t i = 0; i < a->size; i++)
        if (a->values[i] != b->values[i]) return a->values[i] < b->values[i] ? -1 : 1;
    return 0;
}

static kn_status grow_table(kn_reference *r, kn_error *err)
{
    size_t    size = r->table_size == 0 ? 64 : r->table_size * 2;
    uint32_t *table = kn_alloc_array_zero(r->ctx, size, sizeof *table);
    if (table == NULL) return kn_reference_no_memory(r, err);
    for (size_t i = 0; i < r->cut_count; i++) {
        size_t at = kn_hash_bytes(r->cuts[i].values, r->cuts[i].size * sizeof *r->cuts[i].values) & (size - 1);
        while (table[at] != 0) at = (at + 1) & (size - 1);
        table[at] = (uint32_t)i + 1;
    }
    kn_free(r->table);
    r->table = table;
    r->table_size = size;
    return KN_OK;
}

/* Takes ownership of the cut's values, unless the cut was reached before. */
static kn_status add_cut(kn_reference *r, kn_reference_cut new_cut, kn_error *err)
{
    kn_status status = KN_OK;
    if (r->cut_count * 2 >= r->table_size) status = grow_table(r, err);
    if (status == KN_OK && !KN_GROW(r->ctx, &r->cuts, &r->cut_capacity, r->cut_count + 1))
        status = kn_reference_no_memory(r, err);
    if (status == KN_OK) {
        size_t mask = r->table_size - 1;
        size_t at = kn_hash_bytes(new_cut.values, new_cut.size * sizeof *new_cut.values) & mask;
        while (r->table[at] != 0 && compare_cuts(r, &r->cuts[r->table[at] - 1], &new_cut) != 0) at = (at + 1) & mask;
        if (r->table[at] == 0) {
            r->cuts[r->cut_count++] = new_cut;
            r->table[at] = (uint32_t)r->cut_count;
            return KN_OK;
        }
    }
    kn_free(new_cut.values);
    return status;
}

/* "*" for every class but the sensitive ones, whose values are published unchanged; or the only cut that is looked at. */
static kn_status add_first_cut(kn_reference *r, kn_error *err)
{
    const kn_vocabulary   *v = r->vocabulary;
    const kn_tree_problem *p = r->problem;
    uint32_t              *values = kn_alloc_array_zero(r->ctx, v->nodes, sizeof *values), size = 1;
    if (values == NULL) return kn_reference_no_memory(r, err);
    if (p->only) {
        memcpy(values, p->only, p->only_size * sizeof *values);
        return add_cut(r, (kn_reference_cut){p->only_size, values}, err);
    }
    for (uint32_t u = 1; u < v->nodes; u++)
        if (sensitive(r, u) && v->end[u] == u + 1) values[size++] = u;
    return add_cut(r, (kn_reference_cut){size, values}, err);
}

/* Every cut in which one value that is not a leaf is replaced by its children. */
static kn_status add_specializations(kn_reference *r, uint32_t number, kn_error *err)
{
    const uint32_t *end = r->vocabulary->end;
    for (uint32_t i = 0; i < r->cuts[number].size && !r->problem->only; i++) {
        const kn_reference_cut *old = &r->cuts[number];
        uint32_t                value = old->values[i], children = 0, size = 0;
        for (uint32_t c = value + 1; c < end[value]; c = end[c]) children += !sensitive(r, c);
        if (children == 0 || sensitive(r, value)) continue;
        uint32_t *values = kn_alloc_array(r->ctx, old->size - 1 + children, sizeof *values);
        if (values == NULL) return kn_reference_no_memory(r, err);
        for (uint32_t j = 0; j < old->size; j++) {
            if (j != i) values[size++] = old->values[j];
            for (uint32_t c = value + 1; j == i && c < end[value]; c = end[c])
                if (!sensitive(r, c)) values[size++] = c;
        }
        qsort(values, size, sizeof *values, kn_compare_u32); /* sensitive leaves stand between the tops of classes */
        KN_TRY(add_cut(r, (kn_reference_cut){size, values}, err));
    }
    return KN_OK;
}

/* ---- Algorithm 4 ---- */

static kn_status remember(kn_reference *r, uint32_t number, kn_reference_cost cost, kn_error *err)
{
    int order = r->found ? compare_costs(cost, r->best_cost) : -1;
    if (order > 0 || (order == 0 && compare_cuts(r, &r->cuts[number], &r->cuts[r->best]) > 0)) return KN_OK;
    if (!KN_GROW(r->ctx, &r->best_sd, &r->best_sd_capacity, r->sd_count + 1)) return kn_reference_no_memory(r, err);
    if (r->sd_count > 0) memcpy(r->best_sd, r->sd, r->sd_count * sizeof *r->sd);
    r->best_sd_count = r->sd_count;
    r->best = number;
    r->best_cost = cost;
    r->found = true;
    return KN_OK;
}

/* Evaluates one cut. `follow`: its specializations may hold too. */
static kn_status evaluate(kn_reference *r, uint32_t number, bool *follow, kn_reference_cost *cost, kn_error *err)
{
    kn_reference_cut here = r->cuts[number];
    r->cut = &here;
    r->counters->cuts++;
    *follow = false;
    for (uint32_t i = 0; i < here.size; i++) {
        r->plain[i] = !sensitive(r, here.values[i]);
        r->absence[i] = r->plain[i] ? values_below(r, here.values[i]) : 0;
    }
    kn_reference_project(r);
    kn_reference_collect_values(r);
    if (!value_check(r)) return r->cancelled ? kn_fail_cancelled(err) : KN_OK;
    r->counters->passed++;
    bool fixed = false;
    KN_TRY(fix_structure(r, &fixed, err));
    if (fixed) {
        if (r->problem->weights)
            weighted_loss(r, cost);
        else
            KN_TRY(rpda(r, cost, err));
        *follow = true;
        /* Diversity does not prune: a finer cut may have it (K18). */
        if (!kn_tree_asks_diversity(r->problem) || !kn_reference_visit(r, 0, r->problem->n, is_uniform))
            KN_TRY(remember(r, number, *cost, err));
    }
    return r->cancelled ? kn_fail_cancelled(err) : KN_OK;
}

static kn_status all_cuts(kn_reference *r, kn_error *err)
{
    for (uint32_t i = 0; i < r->cut_count && !kn_reference_gives_up(r); i++) {
        bool              follow;
        kn_reference_cost cost;
        KN_TRY(evaluate(r, i, &follow, &cost, err));
        if (follow) KN_TRY(add_specializations(r, i, err));
    }
    return KN_OK;
}

typedef struct candidate {
    kn_reference_cost cost;
    uint32_t          number;
} candidate;

static bool comes_before(const kn_reference *r, candidate a, candidate b)
{
    int order = compare_costs(a.cost, b.cost);
    return (order ? order : compare_cuts(r, &r->cuts[a.number], &r->cuts[b.number])) < 0;
}

/* Inserts a candidate into the sorted list of the best `most`. */
static void insert(const kn_reference *r, candidate *best, int *count, int most, candidate new_one)
{
    int at = *count;
    while (at > 0 && comes_before(r, new_one, best[at - 1])) at--;
    if (at == most) return;
    if (*count < most) ++*count;
    memmove(best + at + 1, best + at, (size_t)(*count - at - 1) * sizeof *best);
    best[at] = new_one;
}

/* GCS and OCS: the g best of all candidates of a step are followed, regardless of the best cost so far (K11). */
static kn_status greedy_cuts(kn_reference *r, kn_error *err)
{
    kn_status status = KN_OK;
    for (uint32_t i = 0; status == KN_OK && i < r->cut_count && !kn_reference_gives_up(r);) {
        uint32_t   step_end = (uint32_t)r->cut_count, step = step_end - i;
        int        most = (uint32_t)r->problem->g < step ? r->problem->g : (int)step, count = 0;
        candidate *best = kn_alloc_array(r->ctx, (size_t)most, sizeof *best);
        if (best == NULL) return kn_reference_no_memory(r, err);
        for (; status == KN_OK && i < step_end && !kn_reference_gives_up(r); i++) {
            bool      follow = false;
            candidate c = {{0, 0}, i};
            status = evaluate(r, i, &follow, &c.cost, err);
            if (follow) insert(r, best, &count, most, c);
        }
        for (int b = 0; status == KN_OK && b < count; b++) status = add_specializations(r, best[b].number, err);
        kn_free(best);
    }
    return status;
}

/* ---- The way in ---- */

static uint32_t widest_record(const kn_records *records)
{
    uint64_t widest = 0;
    for (int64_t t = 0; t < records->count; t++)
        if (records->start[t + 1] - records->start[t] > widest) widest = records->start[t + 1] - records->start[t];
    return (uint32_t)widest;
}

/* The lists of the current combination: one for each value and relation more, and two spare ones. */
static kn_status prepare_stacks(kn_reference *r, kn_error *err)
{
    size_t m = (size_t)r->problem->m, n = (size_t)r->problem->n, records = (size_t)r->records->count;
    if (!KN_ALLOC(r->ctx, r->value_stack, m + 1) || !KN_ALLOC(r->ctx, r->relation_stack, n + 3) ||
        !KN_ALLOC(r->ctx, r->stack_ids, (m + n + 3) * records + 1) || !KN_ALLOC(r->ctx, r->chosen, m + 1) ||
        !KN_ALLOC(r->ctx, r->node_of, m + 1) || !KN_ALLOC(r->ctx, r->among, m * m + 1) ||
        !KN_ALLOC(r->ctx, r->known, n + 1))
        return kn_reference_no_memory(r, err);
    for (size_t i = 0; i <= m; i++) r->value_stack[i] = (kn_id_list){r->stack_ids + i * records, 0};
    for (size_t i = 1; i < n + 3; i++) r->relation_stack[i] = (kn_id_list){r->stack_ids + (m + i) * records, 0};
    return KN_OK;
}

static kn_status prepare(kn_reference *r, kn_error *err)
{
    const kn_records *records = r->records;
    size_t            values = r->vocabulary->nodes, classes = (size_t)r->vocabulary->class_count;
    size_t            widest = widest_record(records), nodes = (size_t)records->nodes;
    r->trie_capacity = 1;
    if (!KN_ALLOC(r->ctx, r->domain, values) || !KN_ALLOC(r->ctx, r->image, values) ||
        !KN_ALLOC(r->ctx, r->place, values) || !KN_ALLOC(r->ctx, r->plain, values) ||
        !KN_ALLOC(r->ctx, r->absence, values) || !KN_ALLOC_ZERO(r->ctx, r->occurs, kn_bitset_words(values) + 1) ||
        !KN_ALLOC(r->ctx, r->with_value, values) || !KN_ALLOC(r->ctx, r->spread, values) ||
        !KN_ALLOC(r->ctx, r->value_ids, nodes + 1) || !KN_ALLOC(r->ctx, r->size, (size_t)records->count + 1) ||
        !KN_ALLOC(r->ctx, r->nodes, nodes + 1) ||
        !(r->scratch = kn_alloc_array(r->ctx, widest + 1, KN_RECORD_SCRATCH)) ||
        !KN_ALLOC(r->ctx, r->trie_of, widest + 1) || !KN_ALLOC(r->ctx, r->trie, r->trie_capacity) ||
        !KN_ALLOC_ZERO(r->ctx, r->class_pairs, kn_bitset_words(classes * (classes + 1)) + 1))
        return kn_reference_no_memory(r, err);
    KN_TRY(prepare_stacks(r, err));
    count_domains(r);
    note_class_pairs(r);
    for (uint64_t i = 0; i < records->nodes; i++) {
        kn_bitset_set(r->occurs, records->value[i]);
        r->lacks = r->lacks || r->vocabulary->negative[r->vocabulary->cls[records->value[i]]];
    }
    return add_first_cut(r, err);
}

static void release(kn_reference *r)
{
    for (size_t i = 0; i < r->cut_count; i++) kn_free(r->cuts[i].values);
    KN_FREE(r->spread, r->domain, r->class_pairs, r->image, r->place, r->plain, r->with_value, r->value_ids, r->size,
            r->nodes, r->scratch, r->trie_of, r->trie, r->value_stack, r->relation_stack, r->stack_ids, r->chosen,
            r->node_of, r->among, r->known, r->named, r->pairs, r->relations, r->relation_ids, r->sd, r->cuts, r->table,
            r->best_sd, r->absence, r->occurs);
}

static kn_status make_plan(const kn_reference *r, kn_records_plan **out, kn_error *err)
{
    KN_TRY(kn_records_plan_create(out, r->ctx, r->vocabulary, (int64_t)r->best_sd_count, err));
    const kn_reference_cut *best = &r->cuts[r->best];
    kn_records_plan_set_cut(*out, r->vocabulary, best->values, best->size);
    (*out)->how = r->problem->how;
    if (r->best_sd_count > 0) memcpy((*out)->disassociations, r->best_sd, r->best_sd_count * sizeof *r->best_sd);
    return KN_OK;
}

kn_status kn_tree_reference_search(kn_tree_result *out, kn_context *ctx, const kn_tree_problem *problem, kn_error *err)
{
    *out = (kn_tree_result){.complete = true};
    kn_reference r = {.ctx = ctx,
                      .problem = problem,
                      .records = problem->records,
                      .vocabulary = problem->records->vocabulary,
                      .counters = &out->counters,
                      .deadline = problem->time_limit > 0 ? kn_clock_seconds() + problem->time_limit : 0};
    kn_status    status = prepare(&r, err);
    if (status == KN_OK && problem->records->count >= problem->k)
        status = problem->method == KN_METHOD_ACS ? all_cuts(&r, err) : greedy_cuts(&r, err);
    if (status == KN_OK && r.cancelled) status = kn_fail_cancelled(err);
    if (status == KN_OK && r.found) status = make_plan(&r, &out->plan, err);
    if (status == KN_OK) {
        out->found = r.found;
        out->complete = !r.late;
        out->cost = r.best_cost.value;
    }
    release(&r);
    return status;
}
