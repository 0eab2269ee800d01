/* kn_candidate_cost.c: RPDa of a cut by what differs from its parent's.
 *
 * Interface: kn_candidate.h. The supports of the released trie are the parent's, except for rows that have the
 * specialized value or whose nodes end up elsewhere.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_candidate.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "the cost of a cut"

/* ---- The released trie ---- */

static bool is_gone(const kn_candidate *c, uint32_t node)
{
    return node < c->old_nodes && c->gone[node];
}

static kn_status build_trie(kn_candidate *c, kn_error *err)
{
    kn_node_table_clear(&c->trie);
    if (!KN_GROW(c->ctx, &c->trie_of, &c->trie_of_capacity, (size_t)c->nodes + 1))
        return kn_fail_memory(err, c->ctx, WHAT);
    for (uint32_t i = 0; i < c->nodes; i++) {
        const uint32_t *path = kn_path_of(c, i) + 1;
        uint32_t        at = KN_NONE, last = path[-1] - 1;
        c->trie_of[i] = KN_NONE;
        if (is_gone(c, i)) continue;
        for (uint32_t j = 0; j <= last; j++) {
            at = kn_node_table_child(&c->trie, at, path[j]);
            if (at == KN_NODE_TABLE_FULL) return kn_fail_memory(err, c->ctx, WHAT);
        }
        c->trie_of[i] = at;
    }
    size_t n = (size_t)c->trie.count + 1;
    if (!KN_GROW(c->ctx, &c->support, &c->support_capacity, n)) return kn_fail_memory(err, c->ctx, WHAT);
    memset(c->support, 0, n * sizeof *c->support);
    return KN_OK;
}

/* Supports of the nodes that the parent's trie has too. */
static kn_status inherit_supports(kn_candidate *c, kn_error *err)
{
    const kn_node_table *old = &c->parent->trie;
    if (!KN_GROW(c->ctx, &c->trie_map, &c->trie_map_capacity, (size_t)old->count + 1))
        return kn_fail_memory(err, c->ctx, WHAT);
    for (uint32_t i = 0; i < old->count; i++) {
        uint32_t up = old->parent[i], above = up == KN_NONE ? KN_NONE : c->trie_map[up];
        bool     lost = old->value[i] == c->specialized || (up != KN_NONE && above == KN_NONE);
        c->trie_map[i] = lost ? KN_NONE : kn_node_table_find(&c->trie, above, old->value[i]);
        if (c->trie_map[i] != KN_NONE) c->support[c->trie_map[i]] += c->parent->support[i];
    }
    return KN_OK;
}

/* Who adds up what: the one whose cut it is, or one who helps. */
typedef struct adder {
    int64_t  *support;
    uint32_t *stamp, clock;
} adder;

/* Adds a row's nodes in their current places. */
static inline void add_row(const kn_candidate *c, adder *a, uint32_t node, int64_t weight)
{
    uint32_t at = c->trie_of[node];
    if (at == KN_NONE || a->stamp[at] == a->clock) return;
    a->stamp[at] = a->clock;
    a->support[at] += weight;
}

/* Subtracts the nodes of one of the parent's rows. */
static void remove_old_row(const kn_candidate *c, adder *a, uint32_t old_row, int64_t weight)
{
    const kn_rows *rows = &c->synopsis->rows;
    uint32_t       row = kn_state_source(c->parent, old_row);
    a->clock++;
    for (uint64_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
        uint32_t node = c->parent->image[rows->members[i]];
        uint32_t old = node == KN_NONE ? KN_NONE : c->parent->trie_of[node];
        uint32_t at = old == KN_NONE ? KN_NONE : c->trie_map[old];
        if (at == KN_NONE || a->stamp[at] == a->clock) continue;
        a->stamp[at] = a->clock;
        a->support[at] -= weight;
    }
}

static bool moves(const kn_candidate *c, uint32_t old_row)
{
    const kn_rows *rows = &c->synopsis->rows;
    uint32_t       row = kn_state_source(c->parent, old_row);
    for (uint64_t i = rows->start[row]; i < rows->start[row + 1]; i++)
        if (c->differs[c->parent->image[rows->members[i]]]) return true;
    return false;
}

/* Of the parent's rows without the specialized value, whose nodes may end up elsewhere. */
static void move_other_row(const kn_candidate *c, adder *a, uint32_t row)
{
    const kn_rows *rows = &c->synopsis->rows;
    if (kn_bitset_test(c->old_has, row) || !moves(c, row)) return;
    uint32_t base = kn_state_source(c->parent, row);
    remove_old_row(c, a, row, kn_state_weight(c->parent, row));
    a->clock++;
    for (uint64_t i = rows->start[base]; i < rows->start[base + 1]; i++)
        add_row(c, a, c->parent->image[rows->members[i]], kn_state_weight(c->parent, row));
}

/* Does any of the parent's nodes end up elsewhere? */
static bool find_moved(kn_candidate *c)
{
    const kn_round *last = &c->parent->rounds[c->parent->round_count - 1];
    bool            any = false;
    for (uint32_t i = 0; i < c->old_nodes; i++) {
        const uint32_t *mine = kn_path_of(c, i), *theirs = last->paths + i * c->stride;
        c->differs[i] = !c->gone[i] && memcmp(mine, theirs, (mine[0] + 1) * sizeof *mine) != 0;
        any |= c->differs[i];
    }
    return any;
}

/* A row is plain if what the specialization changed in it stands below the specialized value, before and after: then its other
 * nodes are where they were, and cannot meet the new ones. Here `moved` says which nodes make a row not plain. */
static void find_plain(kn_candidate *c)
{
    const kn_round *last = &c->parent->rounds[c->parent->round_count - 1];
    for (uint32_t i = 0; i < c->nodes; i++) {
        if (i < c->old_nodes) {
            c->moved[i] = c->differs[i];
            continue;
        }
        const uint32_t *mine = kn_path_of(c, i), *theirs = last->paths + c->was[i - c->old_nodes] * c->stride;
        bool            now = false, before = false;
        for (uint32_t j = 1; j <= mine[0]; j++) now |= kn_is_new(c, mine[j]);
        for (uint32_t j = 1; j <= theirs[0]; j++) before |= theirs[j] == c->specialized;
        c->moved[i] = !now || !before;
    }
}

/* Adds a changed row; `inherits`: takes away what it was. Of a plain one the new nodes are enough. */
static inline __attribute__((always_inline)) void add_changed_row(const kn_candidate *c, adder *a, uint32_t row,
                                                                  bool narrow, bool inherits)
{
    uint32_t from = c->row_start[row], end = c->row_start[row + 1];
    int32_t  weight = kn_row_weight(c, row);
    bool     plain = inherits;
    for (uint32_t i = from; inherits && i < end; i++)
        plain &= !c->moved[narrow ? c->narrow_nodes[i] : c->wide_nodes[i]];
    if (inherits && !plain) remove_old_row(c, a, kn_state_row_of(c->parent, kn_row_source(c, row)), weight);
    a->clock++;
    for (uint32_t i = from; i < end; i++) {
        uint32_t node = narrow ? c->narrow_nodes[i] : c->wide_nodes[i];
        if (!plain || node >= c->old_nodes) add_row(c, a, node, weight);
    }
}

/* The rows add up, in any order. */
typedef struct adding {
    kn_candidate   *c;
    bool            inherits, others; /* `others`: the parent's rows, not the changed ones */
    adder           own;
    pthread_mutex_t lock;
    int64_t        *gathered; /* from those who help */
} adding;

static void add_rows(const adding *x, adder *a, uint32_t begin, uint32_t end)
{
    const kn_candidate *c = x->c;
    for (uint32_t row = begin; row < end; row++) {
        if (x->others)
            move_other_row(c, a, row);
        else if (c->narrow)
            add_changed_row(c, a, row, true, x->inherits);
        else
            add_changed_row(c, a, row, false, x->inherits);
    }
}

static bool gather(adding *x, const int64_t *support)
{
    size_t n = x->c->trie.count;
    bool   ok = true;
    pthread_mutex_lock(&x->lock);
    if (!x->gathered) ok = KN_ALLOC_ZERO(x->c->ctx, x->gathered, n + 1);
    for (size_t i = 0; ok && i < n; i++) x->gathered[i] += support[i];
    pthread_mutex_unlock(&x->lock);
    return ok;
}

static kn_status add_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    adding       *x = arg;
    kn_candidate *c = x->c, *mine = c->team[worker];
    size_t        n = (size_t)c->trie.count + 1;
    if (mine == c) {
        add_rows(x, &x->own, (uint32_t)begin, (uint32_t)end);
        return KN_OK;
    }
    if (!KN_GROW(c->ctx, &mine->node_stamp, &mine->node_stamp_capacity, n) ||
        !KN_GROW(c->ctx, &mine->support, &mine->support_capacity, n))
        return kn_fail_memory(err, c->ctx, WHAT);
    adder a = {mine->support, mine->node_stamp, 0};
    memset(a.stamp, 0, n * sizeof *a.stamp);
    memset(a.support, 0, n * sizeof *a.support);
    add_rows(x, &a, (uint32_t)begin, (uint32_t)end);
    return gather(x, a.support) ? KN_OK : kn_fail_memory(err, c->ctx, WHAT);
}

static kn_status add_all(kn_candidate *c, bool inherits, kn_error *err)
{
    adding    x = {.c = c, .inherits = inherits, .others = true, .own = {c->support, c->node_stamp, 0}};
    kn_status st = KN_OK;
    pthread_mutex_init(&x.lock, NULL);
    if (inherits && find_moved(c))
        st = kn_parallel_share(c->ctx, c->worker, c->parent->rows, KN_ROWS_SHARED, add_range, &x, err);
    if (inherits) find_plain(c);
    x.others = false;
    if (st == KN_OK) st = kn_parallel_share(c->ctx, c->worker, c->row_count, KN_ROWS_SHARED, add_range, &x, err);
    pthread_mutex_destroy(&x.lock);
    for (size_t i = 0; x.gathered && i < c->trie.count; i++) c->support[i] += x.gathered[i];
    kn_free(x.gathered);
    return st;
}

kn_status kn_candidate_cost(kn_candidate *c, kn_tree_cost *cost, kn_error *err)
{
    KN_TRY(build_trie(c, err));
    size_t need = (size_t)c->trie.count + 1;
    if (!KN_GROW(c->ctx, &c->node_stamp, &c->node_stamp_capacity, need)) return kn_fail_memory(err, c->ctx, WHAT);
    memset(c->node_stamp, 0, need * sizeof *c->node_stamp);
    bool inherits = !kn_is_whole(c);
    if (inherits) KN_TRY(inherit_supports(c, err));
    KN_TRY(add_all(c, inherits, err));
    return kn_trie_rpda(cost, c->ctx, &c->trie, c->support, c->domain, c->synopsis->vocabulary->nodes, err);
}
