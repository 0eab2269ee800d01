/* kn_tree_reference_count.c: the plain k^(m,n) search, part one: the records under a cut, the id lists of their values and
 * relations, and every combination of these.
 *
 * Interface: kn_tree_reference_internal.h. Cost: for a cut C O(|C|^m) intersections of id lists. Limits: 2^32 - 1 records.
 * Paper: Gkountouna, Terrovitis 2013, sections II-D and III-B.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_tree_reference_internal.h"

#define NONE KN_REFERENCE_NONE

kn_status kn_reference_no_memory(const kn_reference *r, kn_error *err)
{
    return kn_fail_memory(err, r->ctx, "searching the cuts");
}

/* ---- The records under a cut ---- */

void kn_reference_project(kn_reference *r)
{
    const kn_records *records = r->records;
    for (uint32_t i = 0; i < r->cut->size; i++) {
        uint32_t value = r->cut->values[i];
        r->place[value] = i;
        for (uint32_t below = value; below < r->vocabulary->end[value]; below++) r->image[below] = value;
    }
    for (int64_t t = 0; t < records->count; t++) {
        uint64_t from = records->start[t], to = records->start[t + 1];
        for (uint64_t i = from; i < to; i++)
            r->nodes[i] = (kn_record_node){records->parent[i], r->image[records->value[i]]};
        r->size[t] = kn_record_canonical(r->nodes + from, (uint32_t)(to - from), r->scratch);
    }
}

void kn_reference_disassociate(kn_reference *r, kn_disassociation d)
{
    for (int64_t t = 0; t < r->records->count; t++)
        r->size[t] =
            kn_record_disassociate(r->nodes + r->records->start[t], r->size[t], d, r->problem->how, r->scratch);
}

/* ---- Which records have which values and relations ---- */

static void append(kn_id_list *list, int64_t record)
{
    if (list->count == 0 || list->ids[list->count - 1] != record) list->ids[list->count++] = (uint32_t)record;
}

/* Once to find how long each list can become, once to fill it. */
void kn_reference_collect_values(kn_reference *r)
{
    uint32_t size = r->cut->size, *next = r->value_ids;
    for (uint32_t p = 0; p < size; p++) r->with_value[p].count = 0;
    for (int64_t t = 0; t < r->records->count; t++)
        for (uint32_t i = 0; i < r->size[t]; i++)
            r->with_value[r->place[r->nodes[r->records->start[t] + i].value]].count++;
    for (uint32_t p = 0; p < size; p++) {
        r->with_value[p].ids = next;
        next += r->with_value[p].count;
        r->with_value[p].count = 0;
    }
    for (int64_t t = 0; t < r->records->count; t++)
        for (uint32_t i = 0; i < r->size[t]; i++)
            append(&r->with_value[r->place[r->nodes[r->records->start[t] + i].value]], t);
}

uint32_t kn_reference_find_relation(const kn_reference *r, uint32_t ancestor, uint32_t descendant)
{
    size_t low = 0, high = r->relation_count;
    while (low < high) {
        size_t                       middle = low + (high - low) / 2;
        const kn_reference_relation *at = &r->relations[middle];
        if (at->ancestor < ancestor || (at->ancestor == ancestor && at->descendant < descendant))
            low = middle + 1;
        else
            high = middle;
    }
    bool there =
        low < r->relation_count && r->relations[low].ancestor == ancestor && r->relations[low].descendant == descendant;
    return there ? (uint32_t)low : NONE;
}

/* Calls `note` for every pair of nodes of every record, one above the other; returns how many there are. */
typedef void (*pair_fn)(kn_reference *r, int64_t record, uint32_t ancestor, uint32_t descendant);

static size_t each_pair(kn_reference *r, pair_fn note)
{
    size_t count = 0;
    for (int64_t t = 0; t < r->records->count; t++) {
        const kn_record_node *nodes = r->nodes + r->records->start[t];
        for (uint32_t i = 0; i < r->size[t]; i++)
            for (uint32_t p = nodes[i].parent; p != KN_RECORDS_ROOT; p = nodes[p].parent, count++)
                note(r, t, r->place[nodes[p].value], r->place[nodes[i].value]);
    }
    return count;
}

static void note_pair(kn_reference *r, int64_t record, uint32_t ancestor, uint32_t descendant)
{
    (void)record;
    kn_bitset_set(r->pairs, (size_t)ancestor * r->cut->size + descendant);
}

static void count_pair(kn_reference *r, int64_t record, uint32_t ancestor, uint32_t descendant)
{
    (void)record;
    r->relations[kn_reference_find_relation(r, ancestor, descendant)].records.count++;
}

static void list_pair(kn_reference *r, int64_t record, uint32_t ancestor, uint32_t descendant)
{
    append(&r->relations[kn_reference_find_relation(r, ancestor, descendant)].records, record);
}

kn_status kn_reference_collect_relations(kn_reference *r, kn_error *err)
{
    size_t n = r->cut->size, words = kn_bitset_words(n * n);
    if (!KN_GROW(r->ctx, &r->pairs, &r->pairs_capacity, words + 1)) return kn_reference_no_memory(r, err);
    memset(r->pairs, 0, words * sizeof *r->pairs);
    size_t total = each_pair(r, note_pair), count = kn_bitset_count(r->pairs, words);
    if (!KN_GROW(r->ctx, &r->relations, &r->relation_capacity, count + 1) ||
        !KN_GROW(r->ctx, &r->relation_ids, &r->relation_ids_capacity, total + 1))
        return kn_reference_no_memory(r, err);
    r->relation_count = 0;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            if (kn_bitset_test(r->pairs, a * n + b))
                r->relations[r->relation_count++] = (kn_reference_relation){a, b, {NULL, 0}};
    each_pair(r, count_pair);
    uint32_t *next = r->relation_ids;
    for (size_t x = 0; x < r->relation_count; x++) {
        r->relations[x].records.ids = next;
        next += r->relations[x].records.count;
        r->relations[x].records.count = 0;
    }
    each_pair(r, list_pair);
    return KN_OK;
}

/* ---- Paths (S2): do the known values have nodes in the record under which all known relations hold? ---- */

static bool stands_above(const kn_record_node *nodes, uint32_t above, uint32_t below)
{
    for (uint32_t p = nodes[below].parent; p != KN_RECORDS_ROOT; p = nodes[p].parent)
        if (p == above) return true;
    return false;
}

/* Do the known relations hold whose ends are among the first `count` values? A relation of "*" with itself is about two
 * nodes of one value, and known alone. */
static bool holds_so_far(const kn_reference *r, const kn_record_node *nodes, int count)
{
    for (int j = 0; j < r->known_count; j++) {
        const kn_reference_relation *x = &r->relations[r->known[j]];
        uint32_t                     above = NONE, below = NONE;
        for (int i = 0; i < count; i++) {
            if (r->chosen[i] == x->ancestor) above = r->node_of[i];
            if (r->chosen[i] == x->descendant) below = r->node_of[i];
        }
        if (above != NONE && below != NONE && above != below && !stands_above(nodes, above, below)) return false;
    }
    return true;
}

static bool assign_nodes(kn_reference *r, int64_t t, int next)
{
    if (next == r->chosen_count) return true;
    const kn_record_node *nodes = r->nodes + r->records->start[t];
    uint32_t              value = r->cut->values[r->chosen[next]];
    for (uint32_t i = 0; i < r->size[t]; i++) {
        if (nodes[i].value != value) continue;
        r->node_of[next] = i;
        if (holds_so_far(r, nodes, next + 1) && assign_nodes(r, t, next + 1)) return true;
    }
    return false;
}

static void keep_paths(kn_reference *r, kn_id_list *out, const kn_id_list *list)
{
    out->count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (assign_nodes(r, list->ids[i], 0)) out->ids[out->count++] = list->ids[i];
}

/* ---- Every combination: value sets by size, then in order; relation sets between them likewise ---- */

bool kn_reference_gives_up(kn_reference *r)
{
    if (kn_cancelled(r->ctx)) r->cancelled = true;
    if (r->deadline > 0 && r->counters->cuts > 1 && kn_clock_seconds() > r->deadline) r->late = true;
    return r->cancelled || r->late;
}

void kn_reference_intersect(kn_reference *r, kn_id_list *out, const kn_id_list *a, const kn_id_list *b)
{
    r->counters->intersections++;
    out->count = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        if (a->ids[i] == b->ids[j]) out->ids[out->count++] = a->ids[i];
        uint32_t x = a->ids[i], y = b->ids[j];
        i += x <= y;
        j += y <= x;
    }
}

static bool visit_relations(kn_reference *r, int first, int wanted, kn_reference_visit_fn visit)
{
    const kn_id_list *here = &r->relation_stack[r->known_count];
    kn_id_list       *next = &r->relation_stack[r->known_count + 1];
    if (r->known_count == wanted) {
        if (wanted > 0) r->counters->relations++;
        if (r->problem->semantics != KN_SEMANTICS_PATHS || wanted < 2) return visit(r, here);
        keep_paths(r, next, here);
        return next->count > 0 && visit(r, next);
    }
    for (int i = first; i < r->among_count; i++) {
        kn_reference_intersect(r, next, here, &r->relations[r->among[i]].records);
        if (next->count == 0) continue;
        r->known[r->known_count++] = r->among[i];
        bool enough = visit_relations(r, i + 1, wanted, visit);
        r->known_count--;
        if (enough) return true;
    }
    return false;
}

static bool visit_chosen(kn_reference *r, int fewest, int most, const kn_id_list *records, kn_reference_visit_fn visit)
{
    r->among_count = 0;
    for (int i = 0; most > 0 && i < r->chosen_count; i++)
        for (int j = 0; j < r->chosen_count; j++) {
            uint32_t x = kn_reference_find_relation(r, r->chosen[i], r->chosen[j]);
            if (x != NONE) r->among[r->among_count++] = x;
        }
    r->relation_stack[0] = *records; /* only read */
    for (int wanted = fewest; wanted <= most && wanted <= r->among_count; wanted++)
        if (visit_relations(r, 0, wanted, visit)) return true;
    return false;
}

static void take_away(kn_reference *r, kn_id_list *out, const kn_id_list *a, const kn_id_list *b)
{
    r->counters->intersections++;
    out->count = 0;
    for (size_t i = 0, j = 0; i < a->count; i++) {
        while (j < b->count && b->ids[j] < a->ids[i]) j++;
        if (j == b->count || b->ids[j] != a->ids[i]) out->ids[out->count++] = a->ids[i];
    }
}

/* The chosen values, with every set of values that are known to be absent: together at most m (III-G). */
static bool visit_absent(kn_reference *r, uint32_t first, int depth, int budget, int fewest, int most,
                         kn_reference_visit_fn visit)
{
    const kn_id_list *here = &r->value_stack[depth];
    kn_id_list       *next = &r->value_stack[depth + 1];
    /* Knowing an absence may rule out no record. */
    if ((depth > 0 || r->lacks) && visit_chosen(r, fewest, most, here, visit)) return true;
    for (uint32_t p = first; p < r->cut->size; p++) {
        if (depth == 0 && kn_reference_gives_up(r)) return true;
        if (r->absence[p] == 0 || r->absence[p] > (uint32_t)budget) continue;
        take_away(r, next, here, &r->with_value[p]);
        if (next->count > 0 && visit_absent(r, p + 1, depth + 1, budget - (int)r->absence[p], fewest, most, visit))
            return true;
    }
    return false;
}

static bool visit_values(kn_reference *r, uint32_t first, int wanted, int fewest, int most, kn_reference_visit_fn visit)
{
    const kn_id_list *here = &r->value_stack[r->chosen_count];
    kn_id_list       *next = &r->value_stack[r->chosen_count + 1];
    for (uint32_t p = first; p < r->cut->size; p++) {
        if (r->chosen_count == 0 && kn_reference_gives_up(r)) return true;
        if (!r->plain[p]) continue;
        kn_reference_intersect(r, next, here, &r->with_value[p]);
        if (next->count == 0) continue;
        r->chosen[r->chosen_count++] = p;
        bool enough = r->chosen_count == wanted
                          ? visit_absent(r, 0, wanted, r->problem->m - wanted, fewest, most, visit)
                          : visit_values(r, p + 1, wanted, fewest, most, visit);
        r->chosen_count--;
        if (enough) return true;
    }
    return false;
}

bool kn_reference_visit(kn_reference *r, int fewest, int most, kn_reference_visit_fn visit)
{
    r->value_stack[0].count = 0;
    for (int64_t t = 0; t < r->records->count; t++) append(&r->value_stack[0], t);
    if (fewest == 0 && visit_absent(r, 0, 0, r->problem->m, 0, 0, visit)) return true;
    for (int wanted = 1; wanted <= r->problem->m; wanted++)
        if (visit_values(r, 0, wanted, fewest, most, visit)) return true;
    return false;
}
