/* kn_candidate.c: evaluating a cut that differs in one value from one whose state is kept: its nodes, and everything
 * that follows from them.
 *
 * Interface: kn_cut_state.h, kn_candidate.h. Cost: the records that have the specialized value. Limits
 * (kn_cut_state_fits): keys of 64 bits, 64 nodes per record, classes in order on every path.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_candidate.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_new_support.h"

#define WHAT "looking at a cut"

bool kn_cut_state_fits(kn_key_layout *out, const kn_tree_problem *p, const kn_synopsis *s)
{
    int width = 1;
    while (width < 32 && (1u << width) <= s->vocabulary->nodes + 1) width++;
    size_t deepest = 1;
    for (uint32_t i = 0; i < s->nodes; i++) {
        size_t depth = 1;
        for (uint32_t up = s->parent[i]; up != KN_SYNOPSIS_ROOT; up = s->parent[up]) depth++;
        if (depth > deepest) deepest = depth;
    }
    *out = (kn_key_layout){width, p->m, deepest + 1};
    if (p->semantics != KN_SEMANTICS_PAIRS || p->strict || kn_tree_asks_diversity(p) ||
        p->how != KN_DISASSOCIATE_NODE || p->method == KN_METHOD_ACS)
        return false;
    for (int c = 0; c < s->vocabulary->class_count; c++)
        if (s->vocabulary->sensitive[c] || (s->vocabulary->unrelated[c] && p->n > 0)) return false;
    if (s->records >= INT32_MAX || deepest > KN_ROW_VALUES || s->rows.start[s->rows.count] >= UINT32_MAX) return false;
    if (p->n == 0) return true;
    if (p->m > 64 || p->m * width + p->m * (p->m - 1) / 2 > 64) return false;
    for (uint32_t i = 0; i < s->nodes; i++)
        if (s->parent[i] != KN_SYNOPSIS_ROOT &&
            s->vocabulary->cls[s->value[s->parent[i]]] >= s->vocabulary->cls[s->value[i]])
            return false;
    for (uint32_t i = 0; i < s->rows.count; i++)
        if (s->rows.start[i + 1] - s->rows.start[i] > KN_ROW_VALUES) return false;
    return true;
}

kn_status kn_candidate_make(kn_candidate **out, const kn_tree_problem *problem, const kn_synopsis *synopsis,
                            const kn_cost_domain *domain, kn_key_layout layout, kn_error *err)
{
    kn_context   *ctx = synopsis->ctx;
    kn_candidate *c = *out = kn_alloc_zero(ctx, sizeof *c);
    if (!c) return kn_fail_memory(err, ctx, WHAT);
    size_t values = synopsis->vocabulary->nodes, n = (size_t)problem->n;
    c->ctx = c->combinations.ctx = c->named.ctx = ctx;
    c->problem = problem;
    c->synopsis = synopsis;
    c->domain = domain;
    c->layout = layout;
    c->stride = layout.stride;
    c->blocks.common = kn_bitset_common();
    if (!KN_ALLOC(ctx, c->cut_of, values + 1) || !KN_ALLOC(ctx, c->place_of, values + 1) ||
        !KN_ALLOC_ZERO(ctx, c->local, values + 1) || !KN_ALLOC(ctx, c->image, (size_t)synopsis->nodes + 1) ||
        !KN_ALLOC_ZERO(ctx, c->new_supports, n + 1) || !KN_ALLOC_ZERO(ctx, c->delta, n + 1) ||
        !KN_ALLOC_ZERO(ctx, c->round_of, n + 1))
        return kn_fail_memory(err, c->ctx, WHAT);
    for (size_t i = 0; i <= n; i++) c->new_supports[i].ctx = c->delta[i].ctx = ctx;
    KN_TRY(kn_node_table_make(&c->added, ctx, 0, err));
    return kn_node_table_make(&c->trie, ctx, 0, err);
}

void kn_candidate_join(kn_candidate *c, kn_candidate *const *team, int worker)
{
    c->team = team;
    c->worker = worker;
}

void kn_candidate_free(kn_candidate *c)
{
    if (!c) return;
    for (int i = 0; i <= c->problem->n; i++) {
        if (c->new_supports) kn_counts_free(&c->new_supports[i]);
        if (c->delta) kn_counts_free(&c->delta[i]);
    }
    KN_FREE(c->cut_of, c->image, c->gone, c->value, c->paths, c->previous_paths, c->was, c->differs, c->moved, c->fates,
            c->lost, c->row_source, c->row_weight, c->differed, c->node_marks, c->row_marks, c->row_start,
            c->narrow_nodes, c->narrow_image, c->wide_nodes, c->row_hash, c->node_hash, c->row_slots, c->changed_rows,
            c->new_row, c->own_has, c->node_stamp, c->old_has, c->local, c->new_supports, c->delta, c->round_of, c->bad,
            c->list, c->support, c->trie_of, c->trie_map, c->place_of, c->value_of, c->cells[1], c->cells[2]);
    kn_counts_free(&c->named);
    kn_blocks_free(&c->blocks);
    kn_node_table_free(&c->added);
    kn_node_table_free(&c->trie);
    kn_combinations_free(&c->combinations);
    kn_free(c);
}

/* ---- Nodes ---- */

/* The nodes of the synopsis from `from` to `to`: a subtree, or all. */
static bool add_range(kn_candidate *c, uint32_t from, uint32_t to)
{
    const kn_synopsis *s = c->synopsis;
    for (uint32_t i = from; i < to; i++) {
        uint32_t up = s->parent[i], above = KN_NONE, value = s->value[i];
        if (up != KN_SYNOPSIS_ROOT) above = c->image[up];
        uint32_t old = c->parent ? c->parent->image[i] : KN_NONE;
        uint32_t known = c->added.count, node = kn_node_table_child(&c->added, above, c->cut_of[value]);
        if (node == KN_NODE_TABLE_FULL || node + c->old_nodes >= KN_NODE_TABLE_FULL) return false;
        c->image[i] = c->old_nodes + node;
        if (old != KN_NONE) c->gone[old] = true;
        if (c->added.count == known) continue;
        if (!KN_GROW(c->ctx, &c->was, &c->was_capacity, c->added.count)) return false;
        c->was[node] = old;
    }
    return true;
}

static void find_new_values(kn_candidate *c)
{
    const kn_vocabulary *v = c->synopsis->vocabulary;
    uint32_t             u = c->specialized;
    if (!c->parent) {
        memset(c->cut_of, 0, v->nodes * sizeof *c->cut_of);
        c->first_new = 0;
        c->last_new = 1;
        return;
    }
    memcpy(c->cut_of, c->parent->cut_of, v->nodes * sizeof *c->cut_of);
    for (uint32_t child = u + 1; child < v->end[u]; child = v->end[child])
        for (uint32_t i = child; i < v->end[child]; i++) c->cut_of[i] = child;
    c->first_new = u + 1;
    c->last_new = v->end[u];
}

/* Values of the cut that occur get places, the new ones first. */
static kn_status number_values(kn_candidate *c, kn_error *err)
{
    const kn_vocabulary *v = c->synopsis->vocabulary;
    uint32_t             u = c->specialized;
    c->places = c->new_count = 0;
    if (kn_is_whole(c)) return KN_OK;
    if (!KN_GROW(c->ctx, &c->value_of, &c->value_of_capacity, v->nodes)) return kn_fail_memory(err, c->ctx, WHAT);
    memset(c->place_of, 0xff, v->nodes * sizeof *c->place_of);
    for (uint32_t child = u + 1; child < v->end[u]; child = v->end[child]) {
        c->place_of[child] = c->new_count;
        c->value_of[c->new_count++] = child;
    }
    c->places = c->new_count;
    for (uint32_t i = 0; i < c->parent->nodes; i++) {
        uint32_t value = c->parent->value[i];
        if (value == u || c->place_of[value] != KN_NONE) continue;
        c->place_of[value] = c->places;
        c->value_of[c->places++] = value;
    }
    return KN_OK;
}

kn_status kn_candidate_begin(kn_candidate *c, kn_error *err)
{
    find_new_values(c);
    KN_TRY(number_values(c, err));
    return kn_candidate_find_rows(c, err);
}

static kn_status add_nodes(kn_candidate *c, kn_error *err)
{
    const kn_synopsis *s = c->synopsis;
    c->old_nodes = c->parent ? c->parent->nodes : 0;
    kn_node_table_clear(&c->added);
    if (!KN_GROW(c->ctx, &c->gone, &c->gone_capacity, (size_t)c->old_nodes + 1))
        return kn_fail_memory(err, c->ctx, WHAT);
    memset(c->gone, 0, c->old_nodes * sizeof *c->gone);
    if (kn_is_whole(c)) {
        memset(c->gone, 1, c->old_nodes * sizeof *c->gone);
        if (!add_range(c, 0, s->nodes)) return kn_fail_memory(err, c->ctx, WHAT);
    } else {
        memcpy(c->image, c->parent->image, s->nodes * sizeof *c->image);
        for (uint32_t v = c->specialized; v < c->last_new; v++)
            for (uint32_t i = s->side_start[v]; i < s->side_start[v + 1]; i++)
                if (!add_range(c, s->side[i], s->end[s->side[i]])) return kn_fail_memory(err, c->ctx, WHAT);
    }
    c->nodes = c->old_nodes + c->added.count;
    return KN_OK;
}

kn_status kn_candidate_only_nodes(kn_candidate *c, kn_error *err)
{
    find_new_values(c);
    return add_nodes(c, err);
}

/* Paths before anything is disassociated: those of the parent's first round, and new ones. */
static kn_status write_paths(kn_candidate *c, kn_error *err)
{
    size_t n = (size_t)c->nodes + 1, old = c->old_nodes, stride = c->stride;
    if (!KN_GROW(c->ctx, &c->value, &c->value_capacity, n) ||
        !KN_GROW(c->ctx, &c->paths, &c->paths_capacity, n * stride) ||
        !KN_GROW(c->ctx, &c->previous_paths, &c->previous_paths_capacity, n * stride) ||
        !KN_GROW(c->ctx, &c->differs, &c->differs_capacity, n) || !KN_GROW(c->ctx, &c->moved, &c->moved_capacity, n) ||
        !KN_GROW(c->ctx, &c->differed, &c->differed_capacity, n) ||
        !KN_GROW(c->ctx, &c->node_marks, &c->node_marks_capacity, n) ||
        !KN_GROW(c->ctx, &c->node_stamp, &c->node_stamp_capacity, n))
        return kn_fail_memory(err, c->ctx, WHAT);
    memset(c->node_stamp, 0, n * sizeof *c->node_stamp);
    memset(c->moved, 0, n * sizeof *c->moved);
    c->node_clock = 0;
    if (old) {
        memcpy(c->value, c->parent->value, old * sizeof *c->value);
        memcpy(c->paths, c->parent->rounds[0].paths, old * stride * sizeof *c->paths);
    }
    for (uint32_t i = 0; i < c->added.count; i++) {
        uint32_t        node = c->old_nodes + i, up = c->added.parent[i], *path = c->paths + node * stride;
        const uint32_t *above = up == KN_NONE ? NULL : kn_path_of(c, up);
        uint32_t        depth = above ? above[0] : 0;
        c->value[node] = c->added.value[i];
        if (above) memcpy(path + 1, above + 1, depth * sizeof *path);
        path[0] = depth + 1;
        path[depth + 1] = c->value[node];
    }
    return KN_OK;
}

/* ---- The whole of it ---- */

static kn_status tell_rare(const kn_candidate *c, kn_outcome *out, kn_error *err)
{
    const kn_combinations *x = &c->combinations;
    if (!KN_ALLOC(c->ctx, out->rare, (size_t)x->chosen_count)) return kn_fail_memory(err, c->ctx, WHAT);
    memcpy(out->rare, x->chosen, (size_t)x->chosen_count * sizeof *out->rare);
    out->rare_count = x->chosen_count;
    return KN_OK;
}

kn_status kn_candidate_project(kn_candidate *c, kn_error *err)
{
    KN_TRY(add_nodes(c, err));
    KN_TRY(write_paths(c, err));
    return kn_candidate_rows(c, err);
}

static kn_status look(kn_candidate *c, kn_outcome *out, kn_error *err)
{
    int64_t before = c->combinations.counted;
    c->list_count = 0;
    KN_TRY(kn_candidate_begin(c, err));
    bool early = kn_value_sweep_fits(c);
    out->passed = true;
    if (early) KN_TRY(kn_value_sweep(c, &out->passed, err));
    if (out->passed) KN_TRY(kn_candidate_project(c, err));
    if (!early) KN_TRY(kn_candidate_value_check(c, &out->passed, err));
    out->counters.value_checks++;
    out->counters.intersections += c->combinations.counted - before;
    if (!out->passed) return tell_rare(c, out, err);
    out->counters.passed++;
    KN_TRY(kn_candidate_fix(c, &out->followed, &out->counters, err));
    if (!out->followed) return KN_OK;
    out->solution = true;
    KN_TRY(kn_candidate_cost(c, &out->cost, err));
    KN_TRY(kn_candidate_keep_rest(c, err));
    out->disassociations = c->list;
    out->count = c->list_count;
    c->list = NULL;
    c->list_capacity = 0;
    return KN_OK;
}

kn_status kn_candidate_look(kn_candidate *c, const kn_cut_state *parent, uint32_t specialized, uint32_t since,
                            kn_outcome *out, kn_cut_state **state, kn_error *err)
{
    *state = NULL;
    c->since = since;
    c->parent = parent;
    c->specialized = specialized;
    c->no_memory = false;
    c->kept = kn_alloc_zero(c->ctx, sizeof *c->kept);
    if (!c->kept) return kn_fail_memory(err, c->ctx, WHAT);
    c->kept->ctx = c->ctx;
    c->kept->synopsis = c->synopsis;
    kn_status st = look(c, out, err);
    if (st == KN_OK && out->followed)
        *state = c->kept;
    else
        kn_cut_state_free(c->kept);
    c->kept = NULL;
    return st;
}
