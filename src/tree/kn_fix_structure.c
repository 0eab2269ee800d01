/* kn_fix_structure.c: FixStructure (Algorithm 3) in rounds until nothing is rare (docs/errata.md K4 to K7), strict
 * positions (S1), and relations that share nodes of one path (S2).
 *
 * Interface: kn_structure.h. A disassociation rewrites the paths of the projected synopsis, never a record: the node
 * b of a ⇝ b goes up to a's parent; from a path that continues below b, b is removed (Definition 2). Of the other ways
 * (kn_records_plan.h) subtree takes a and what is between a and b out of every path with both; ancestor takes a out of every
 * path that begins as one with both does, as far as the node after a, row by row.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_sort.h"
#include "kn_structure.h"
#include "kn_unrelated.h"

#define WHAT "disassociating tree records"
#define NONE UINT32_MAX

/* ---- Definition 2 on paths ---- */

/* The smallest named relation on a path. */
static uint32_t smallest_named(const kn_structure *s, const uint32_t *path, uint32_t length)
{
    uint32_t found = NONE;
    for (uint32_t i = 0; i < length; i++)
        for (uint32_t j = i + 1; j < length; j++) {
            uint32_t r = kn_node_table_find(&s->relations, path[i], path[j]);
            if (r == NONE || !s->named[r]) continue;
            if (found == NONE || path[i] < s->relations.parent[found] ||
                (path[i] == s->relations.parent[found] && path[j] < s->relations.value[found]))
                found = r;
        }
    return found;
}

uint32_t kn_path_disassociate(uint32_t *path, uint32_t length, uint32_t above, uint32_t below)
{
    uint32_t top = 0;
    while (path[top] != above) top++;
    if (path[length - 1] == below && top < length - 1) {
        path[top] = below;
        return top + 1;
    }
    uint32_t kept = top + 1;
    for (uint32_t i = top + 1; i < length; i++)
        if (path[i] != below) path[kept++] = path[i];
    return kept;
}

/* The topmost `above` on a path; its length: none. */
static uint32_t topmost(const uint32_t *path, uint32_t length, uint32_t above)
{
    uint32_t top = 0;
    while (top < length && path[top] != above) top++;
    return top;
}

/* Subtree: `above` and what is between it and the first `below` after it is gone. */
static uint32_t lift_subtree(uint32_t *path, uint32_t length, uint32_t above, uint32_t below)
{
    uint32_t top = topmost(path, length, above), first = top + 1;
    while (path[first] != below) first++;
    memmove(path + top, path + first, (length - first) * sizeof *path);
    return top + length - first;
}

static void rewrite_paths(kn_structure *s)
{
    const kn_projection *p = s->projection;
    for (uint32_t i = 0; i < p->nodes; i++) {
        uint32_t *path = s->path + p->path_start[i], length = s->length[i], r;
        while (length > 1 && (r = smallest_named(s, path, length)) != NONE) {
            uint32_t above = s->relations.parent[r], below = s->relations.value[r];
            length = s->problem->how == KN_DISASSOCIATE_SUBTREE ? lift_subtree(path, length, above, below)
                                                                : kn_path_disassociate(path, length, above, below);
        }
        s->length[i] = (uint16_t)length;
    }
}

/* Ancestor: does the path have `above`, something below that, and `below` anywhere below? */
static bool leads(const uint32_t *path, uint32_t length, uint32_t top, uint32_t below)
{
    for (uint32_t i = top + 1; i < length; i++)
        if (path[i] == below) return true;
    return false;
}

/* The nodes of a row from `from` to `to`, once. `leaves`: scratch, per node. false: `above` is above no `below`. */
static bool lift_children(kn_structure *s, uint64_t from, uint64_t to, uint32_t above, uint32_t below, bool *leaves)
{
    const uint64_t *start = s->projection->path_start;
    bool            any = false;
    for (uint64_t i = from; i < to; i++) leaves[i] = false;
    for (uint64_t i = from; i < to; i++) {
        const uint32_t *path = s->path + start[i];
        uint32_t        top = topmost(path, s->length[i], above);
        if (!leads(path, s->length[i], top, below)) continue;
        any = true;
        for (uint64_t j = from; j < to; j++)
            leaves[j] = leaves[j] ||
                        (s->length[j] > top + 1 && memcmp(s->path + start[j], path, (top + 2) * sizeof *path) == 0);
    }
    for (uint64_t i = from; any && i < to; i++) {
        uint32_t *path = s->path + start[i], top = topmost(path, s->length[i], above);
        if (!leaves[i]) continue;
        s->length[i]--;
        memmove(path + top, path + top + 1, (s->length[i] - top) * sizeof *path);
    }
    return any;
}

/* The named relations in their order, in every row. */
static bool lift_all(kn_structure *s, const kn_sort_record *order, size_t count)
{
    const kn_rows *rows = &s->projection->rows;
    bool          *leaves = kn_alloc_array(s->ctx, (size_t)s->projection->nodes + 1, sizeof *leaves);
    for (size_t i = 0; leaves && i < count; i++)
        for (uint32_t row = 0; row < rows->count; row++)
            while (lift_children(s, rows->start[row], rows->start[row + 1], (uint32_t)(order[i].key >> 32),
                                 (uint32_t)order[i].key, leaves))
                continue;
    bool done = leaves != NULL;
    kn_free(leaves);
    return done;
}

/* Adds the named relations to the list, ascending, and disassociates them. */
static kn_status apply_named(kn_structure *s, kn_tree_counters *counters, kn_error *err)
{
    uint32_t n = s->relations.count;
    size_t   count = 0;
    for (uint32_t i = 0; i < n; i++) count += s->named[i];
    kn_sort_record *order = kn_alloc_array(s->ctx, count + 1, sizeof *order);
    if (!order || !KN_GROW(s->ctx, &s->disassociations, &s->capacity, s->count + count)) {
        kn_free(order);
        return kn_fail_memory(err, s->ctx, WHAT);
    }
    count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (s->named[i])
            order[count++] = (kn_sort_record){(uint64_t)s->relations.parent[i] << 32 | s->relations.value[i], i};
    kn_status st = kn_sort_records(s->ctx, order, count, NULL, NULL, err);
    for (size_t i = 0; st == KN_OK && i < count; i++)
        s->disassociations[s->count++] = (kn_disassociation){s->projection->values[order[i].key >> 32],
                                                             s->projection->values[(uint32_t)order[i].key]};
    if (st == KN_OK && s->problem->how == KN_DISASSOCIATE_ANCESTOR && !lift_all(s, order, count))
        st = kn_fail_memory(err, s->ctx, WHAT);
    kn_free(order);
    if (st != KN_OK) return st;
    counters->disassociations += (int64_t)count;
    if (s->problem->how != KN_DISASSOCIATE_ANCESTOR) rewrite_paths(s);
    return KN_OK;
}

/* ---- Paths (S2) ---- */

static bool prefix(const kn_structure *s, uint32_t above, uint32_t below)
{
    uint32_t length = s->length[above];
    if (length >= s->length[below]) return false;
    const uint32_t *a = s->path + s->projection->path_start[above], *b = s->path + s->projection->path_start[below];
    return memcmp(a, b, length * sizeof *a) == 0;
}

/* Has relation i on a node for each of its ends, which agrees with the nodes of the relations before it? `nodes`: of the
 * ends of the relations, two for each. */
static bool assign(const kn_structure *s, uint32_t row, int i, uint32_t *nodes)
{
    if (i == s->chosen_count) return true;
    const kn_projection *p = s->projection;
    uint32_t             ends[2] = {s->relations.parent[s->chosen[i]], s->relations.value[s->chosen[i]]};
    uint32_t             fixed[2] = {NONE, NONE}; /* a node of an equal path stands for the same one */
    for (int j = 0; j < 2 * i; j++) {
        uint32_t end = j % 2 ? s->relations.value[s->chosen[j / 2]] : s->relations.parent[s->chosen[j / 2]];
        for (int e = 0; e < 2; e++)
            if (ends[e] == end) fixed[e] = nodes[j];
    }
    uint64_t from = p->rows.start[row], to = p->rows.start[row + 1];
    for (uint64_t x = from; x < to; x++) {
        uint32_t above = fixed[0] != NONE ? fixed[0] : p->rows.members[x];
        if (p->place[above] == ends[0])
            for (uint64_t y = from; y < to; y++) {
                uint32_t below = fixed[1] != NONE ? fixed[1] : p->rows.members[y];
                nodes[2 * i] = above;
                nodes[2 * i + 1] = below;
                if (p->place[below] == ends[1] && prefix(s, above, below) && assign(s, row, i + 1, nodes)) return true;
                if (fixed[1] != NONE) break;
            }
        if (fixed[0] != NONE) break;
    }
    return false;
}

bool kn_structure_on_path(const kn_structure *s, uint32_t row)
{
    return assign(s, row, 0, s->assigned);
}

/* ---- Strict positions (S1) ---- */

static bool tell_tale(const kn_structure *s, uint32_t parent, uint32_t place)
{
    const kn_vocabulary *v = s->synopsis->vocabulary;
    const uint32_t      *values = s->projection->values;
    uint16_t             below = v->cls[values[place]], above = parent == NONE ? 0 : v->cls[values[parent]];
    if (below == KN_VOCABULARY_NO_CLASS || above == KN_VOCABULARY_NO_CLASS) return false;
    size_t n = (size_t)v->class_count + 1;
    return !s->synopsis->class_pairs[(parent == NONE ? 0 : above + 1u) * n + below + 1u];
}

/* The relation (a, place) with the least support. */
static uint32_t rarest_above(const kn_structure *s, uint32_t place)
{
    uint32_t found = NONE;
    for (uint32_t i = 0; i < s->relations.count; i++) {
        if (s->relations.value[i] != place || s->support[i] == 0) continue;
        if (found == NONE || s->support[i] < s->support[found] ||
            (s->support[i] == s->support[found] && s->relations.parent[i] < s->relations.parent[found]))
            found = i;
    }
    return found;
}

static kn_status count_positions(const kn_structure *s, kn_node_table *positions, uint32_t *of_node, int64_t **support,
                                 kn_error *err)
{
    const kn_projection *p = s->projection;
    for (uint32_t i = 0; i < p->nodes; i++) {
        const uint32_t *path = s->path + p->path_start[i];
        uint32_t        length = s->length[i], parent = length > 1 ? path[length - 2] : NONE;
        of_node[i] =
            tell_tale(s, parent, path[length - 1]) ? kn_node_table_child(positions, parent, path[length - 1]) : NONE;
        if (of_node[i] == KN_NODE_TABLE_FULL) return kn_fail_memory(err, s->ctx, WHAT);
    }
    size_t    n = positions->count;
    int64_t  *count = *support = kn_alloc_array_zero(s->ctx, n + 1, sizeof *count);
    uint32_t *stamp = kn_alloc_array_zero(s->ctx, n + 1, sizeof *stamp);
    for (uint32_t row = 0; count && stamp && row < p->rows.count; row++)
        for (uint64_t i = p->rows.start[row]; i < p->rows.start[row + 1]; i++) {
            uint32_t position = of_node[p->rows.members[i]];
            if (position == NONE || stamp[position] == row + 1) continue;
            stamp[position] = row + 1;
            count[position] += p->rows.weight[row];
        }
    kn_free(stamp);
    return count && stamp ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
}

static kn_status name_positions(kn_structure *s, bool *any, kn_error *err)
{
    kn_node_table positions = {0};
    int64_t      *support = NULL;
    uint32_t     *of_node = kn_alloc_array(s->ctx, (size_t)s->projection->nodes + 1, sizeof *of_node);
    kn_status     st = of_node ? kn_node_table_make(&positions, s->ctx, 0, err) : kn_fail_memory(err, s->ctx, WHAT);
    if (st == KN_OK) st = count_positions(s, &positions, of_node, &support, err);
    for (uint32_t i = 0; st == KN_OK && i < positions.count; i++) {
        if (support[i] >= s->problem->k) continue;
        uint32_t parent = positions.parent[i], place = positions.value[i];
        uint32_t r = parent == NONE ? rarest_above(s, place) : kn_node_table_find(&s->relations, parent, place);
        if (r == NONE) continue;
        s->named[r] = true;
        *any = true;
    }
    KN_FREE(of_node, support);
    kn_node_table_free(&positions);
    return st;
}

/* ---- Algorithm 3 ---- */

kn_status kn_fix_structure(kn_structure *s, kn_combinations *scratch, bool *fixed, kn_tree_counters *counters,
                           kn_error *err)
{
    bool       ocs = s->problem->method == KN_METHOD_OCS;
    kn_badness rare = {.k = s->problem->k};
    for (;;) {
        bool    any = false;
        int64_t before = scratch->counted;
        KN_TRY(kn_structure_count(s, err));
        for (int j = 1; j <= s->problem->n && !any; j++)
            KN_TRY(kn_structure_check(s, scratch, j, &rare, ocs, &any, err));
        counters->relations += scratch->counted - before;
        *fixed = !(any && ocs);
        if (!any && s->problem->strict && !ocs) KN_TRY(name_positions(s, &any, err));
        if (!any && !ocs) KN_TRY(kn_unrelated_name(s, &any, err));
        if (!any || ocs) return KN_OK;
        KN_TRY(apply_named(s, counters, err));
    }
}
