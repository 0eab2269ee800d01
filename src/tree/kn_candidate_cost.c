/* kn_candidate_cost.c: RPDa of a cut by what differs from its parent's, and keeping the state of a cut that is followed.
 *
 * Interface: kn_candidate.h. The supports of the released trie are the parent's, but for rows that have the specialized value
 * or whose nodes stand elsewhere in the end.
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_emit.h"
#include "kn_error.h"
#include "kn_fresh.h"

#define WHAT "keeping a cut"

static kn_status no_memory(const kn_candidate *c, kn_error *err)
{
    return kn_fail_memory(err, c->ctx, WHAT);
}

/* ---- The released trie ---- */

static bool negative(const kn_candidate *c, uint32_t value)
{
    const kn_vocabulary *v = c->synopsis->vocabulary;
    return value != 0 && v->negative[v->cls[value]];
}

static bool is_gone(const kn_candidate *c, uint32_t node)
{
    return node < c->old_nodes && c->gone[node];
}

static kn_status build_trie(kn_candidate *c, kn_error *err)
{
    kn_node_table_clear(&c->trie);
    if (!kn_grow(c->ctx, (void **)&c->trie_of, &c->trie_of_capacity, (size_t)c->nodes + 1, sizeof *c->trie_of))
        return no_memory(c, err);
    for (uint32_t i = 0; i < c->nodes; i++) {
        const uint32_t *path = kn_path_of(c, i) + 1;
        uint32_t        at = KN_NONE, last = path[-1] - 1;
        c->trie_of[i] = KN_NONE;
        if (is_gone(c, i) || negative(c, path[last])) continue;
        for (uint32_t j = 0; j <= last; j++) {
            if (negative(c, path[j])) continue;
            at = kn_node_table_child(&c->trie, at, path[j]);
            if (at == KN_NODE_TABLE_FULL) return no_memory(c, err);
        }
        c->trie_of[i] = at;
    }
    size_t n = (size_t)c->trie.count + 1;
    if (!kn_grow(c->ctx, (void **)&c->support, &c->support_capacity, n, sizeof *c->support)) return no_memory(c, err);
    memset(c->support, 0, n * sizeof *c->support);
    return KN_OK;
}

/* Supports of the nodes that the parent's trie has too. */
static kn_status inherit_supports(kn_candidate *c, kn_error *err)
{
    const kn_node_table *old = &c->parent->trie;
    if (!kn_grow(c->ctx, (void **)&c->trie_map, &c->trie_map_capacity, (size_t)old->count + 1, sizeof *c->trie_map))
        return no_memory(c, err);
    for (uint32_t i = 0; i < old->count; i++) {
        uint32_t up = old->parent[i], above = up == KN_NONE ? KN_NONE : c->trie_map[up];
        bool     lost = old->value[i] == c->specialized || (up != KN_NONE && above == KN_NONE);
        c->trie_map[i] = lost ? KN_NONE : kn_node_table_find(&c->trie, above, old->value[i]);
        if (c->trie_map[i] != KN_NONE) c->support[c->trie_map[i]] += c->parent->support[i];
    }
    return KN_OK;
}

/* Adds a row's nodes as they stand. */
static void add_row(kn_candidate *c, uint32_t node, int64_t weight)
{
    uint32_t at = c->trie_of[node];
    if (at == KN_NONE || c->node_stamp[at] == c->node_clock) return;
    c->node_stamp[at] = c->node_clock;
    c->support[at] += weight;
}

/* Takes the nodes of one of the parent's rows away. */
static void remove_old_row(kn_candidate *c, uint32_t old_row, int64_t weight)
{
    const kn_rows *rows = &c->synopsis->rows;
    uint32_t       row = c->parent->representative[old_row];
    c->node_clock++;
    for (uint64_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
        uint32_t node = c->parent->image[rows->members[i]];
        uint32_t old = node == KN_NONE ? KN_NONE : c->parent->trie_of[node];
        uint32_t at = old == KN_NONE ? KN_NONE : c->trie_map[old];
        if (at == KN_NONE || c->node_stamp[at] == c->node_clock) continue;
        c->node_stamp[at] = c->node_clock;
        c->support[at] -= weight;
    }
}

static bool moves(const kn_candidate *c, uint32_t old_row)
{
    const kn_rows *rows = &c->synopsis->rows;
    uint32_t       row = c->parent->representative[old_row];
    for (uint64_t i = rows->start[row]; i < rows->start[row + 1]; i++)
        if (c->differs[c->parent->image[rows->members[i]]]) return true;
    return false;
}

/* The parent's rows without the specialized value whose nodes stand elsewhere in the end. */
static void move_other_rows(kn_candidate *c)
{
    const kn_round *last = &c->parent->rounds[c->parent->round_count - 1];
    const kn_rows  *rows = &c->synopsis->rows;
    bool            any = false;
    for (uint32_t i = 0; i < c->old_nodes; i++) {
        const uint32_t *mine = kn_path_of(c, i), *theirs = last->paths + i * c->stride;
        c->differs[i] = !c->gone[i] && memcmp(mine, theirs, (mine[0] + 1) * sizeof *mine) != 0;
        any |= c->differs[i];
    }
    for (uint32_t row = 0; any && row < c->parent->rows; row++) {
        if (c->old_row_stamp[row] == c->old_row_clock || !moves(c, row)) continue;
        uint32_t base = c->parent->representative[row];
        remove_old_row(c, row, c->parent->weight[row]);
        c->node_clock++;
        for (uint64_t i = rows->start[base]; i < rows->start[base + 1]; i++)
            add_row(c, c->parent->image[rows->members[i]], c->parent->weight[row]);
    }
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

static bool is_plain(const kn_candidate *c, uint32_t row)
{
    for (uint64_t i = c->rows.start[row]; i < c->rows.start[row + 1]; i++)
        if (c->moved[c->rows.members[i]]) return false;
    return true;
}

kn_status kn_candidate_cost(kn_candidate *c, double *cost, kn_error *err)
{
    KN_TRY(build_trie(c, err));
    size_t need = (size_t)c->trie.count + 1;
    if (!kn_grow(c->ctx, (void **)&c->node_stamp, &c->node_stamp_capacity, need, sizeof *c->node_stamp))
        return no_memory(c, err);
    memset(c->node_stamp, 0, need * sizeof *c->node_stamp);
    c->node_clock = 0;
    bool inherits = !kn_is_whole(c);
    if (inherits) {
        KN_TRY(inherit_supports(c, err));
        move_other_rows(c);
    }
    if (inherits) find_plain(c);
    for (uint32_t row = 0; row < c->rows.count; row++) {
        bool plain = inherits && is_plain(c, row);
        if (inherits && !plain) remove_old_row(c, c->old_row[row], c->rows.weight[row]);
        c->node_clock++;
        for (uint64_t i = c->rows.start[row]; i < c->rows.start[row + 1]; i++)
            if (!plain || c->rows.members[i] >= c->old_nodes) add_row(c, c->rows.members[i], c->rows.weight[row]);
    }
    return kn_trie_rpda(cost, c->ctx, &c->trie, c->support, c->domain, c->synopsis->vocabulary->nodes, err);
}

/* ---- Keeping ---- */

void kn_cut_state_free(kn_cut_state *s)
{
    if (!s) return;
    for (int i = 0; i < s->round_count; i++) {
        kn_round *r = &s->rounds[i];
        for (int j = 0; j < r->tables && r->table; j++) kn_counts_free(&r->table[j]);
        kn_free(r->table);
        kn_free(r->paths);
        kn_free(r->bad);
    }
    kn_free(s->rounds);
    kn_free(s->value);
    kn_free(s->image);
    kn_free(s->cut_of);
    kn_free(s->representative);
    kn_free(s->weight);
    kn_free(s->row_of);
    kn_node_table_free(&s->trie);
    kn_free(s->support);
    kn_free(s->trie_of);
    kn_free(s);
}

/* The nodes that are not gone, in their order. */
static kn_status keep_nodes(kn_candidate *c, kn_error *err)
{
    kn_cut_state *s = c->kept;
    for (uint32_t i = 0; i < c->nodes; i++) s->nodes += !is_gone(c, i);
    s->value = kn_alloc_array(c->ctx, (size_t)s->nodes + 1, sizeof *s->value);
    if (!s->value) return no_memory(c, err);
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->nodes; i++)
        if (!is_gone(c, i)) s->value[at++] = c->value[i];
    return KN_OK;
}

static bool add_fresh(void *arg, uint64_t key, int32_t support)
{
    return kn_counts_add(arg, key, support);
}

/* The parent's supports with the differences, and those with new values. */
static bool keep_table(const kn_candidate *c, kn_counts *to, int relations)
{
    const kn_counts *delta = &c->delta[relations];
    const kn_counts *from = NULL;
    if (c->parent) from = &c->parent->rounds[c->round_of[relations]].table[relations - 1];
    size_t           most = delta->used + (from ? from->used : 0);
    if (!kn_counts_grow(to, most + 1)) return false;
    bool ok = true;
    for (size_t i = 0; ok && from && i < from->slots; i++) {
        if (!from->keys[i] || kn_key_has(c->layout, from->keys[i], c->specialized)) continue;
        int32_t count = from->counts[i] + kn_counts_get(delta, from->keys[i]);
        if (count) ok = kn_counts_add(to, from->keys[i], count);
    }
    for (size_t i = 0; ok && i < delta->slots; i++)
        if (delta->keys[i] && delta->counts[i] && (!from || kn_counts_find(from, delta->keys[i]) == SIZE_MAX))
            ok = kn_counts_add(to, delta->keys[i], delta->counts[i]);
    return ok && kn_fresh_each(c, relations, add_fresh, to);
}

kn_status kn_candidate_keep_round(kn_candidate *c, int round, int stage, kn_error *err)
{
    kn_cut_state *s = c->kept;
    if (round == 0) KN_TRY(keep_nodes(c, err));
    kn_round *rounds = kn_realloc_array(c->ctx, s->rounds, (size_t)round + 1, sizeof *rounds);
    if (!rounds) return no_memory(c, err);
    s->rounds = rounds;
    kn_round *r = &s->rounds[s->round_count++];
    *r = (kn_round){.stage = stage, .tables = stage ? stage : c->problem->n};
    r->paths = kn_alloc_array(c->ctx, s->nodes * c->stride + 1, sizeof *r->paths);
    r->table = kn_alloc_array_zero(c->ctx, (size_t)r->tables + 1, sizeof *r->table);
    if (!r->paths || !r->table) return no_memory(c, err);
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->nodes; i++) {
        if (is_gone(c, i)) continue;
        memcpy(r->paths + at++ * c->stride, kn_path_of(c, i), c->stride * sizeof *r->paths);
    }
    for (int j = 0; j < r->tables; j++) {
        r->table[j].ctx = c->ctx;
        if (!keep_table(c, &r->table[j], j + 1)) return no_memory(c, err);
    }
    if (stage == 0) return KN_OK;
    r->bad = kn_alloc_array(c->ctx, c->bad_count + 1, sizeof *r->bad);
    if (!r->bad) return no_memory(c, err);
    memcpy(r->bad, c->bad, c->bad_count * sizeof *r->bad);
    r->bad_count = c->bad_count;
    return KN_OK;
}

/* The parent's rows that did not change, then the new ones. */
static kn_status keep_rows(kn_candidate *c, kn_error *err)
{
    kn_cut_state       *s = c->kept;
    const kn_cut_state *p = kn_is_whole(c) ? NULL : c->parent;
    uint32_t            base = c->synopsis->rows.count, old = p ? p->rows : 0, at = 0;
    uint32_t           *number = kn_alloc_array(c->ctx, (size_t)old + 1, sizeof *number);
    s->row_of = kn_alloc_array(c->ctx, (size_t)base + 1, sizeof *s->row_of);
    s->representative = kn_alloc_array(c->ctx, (size_t)old + c->rows.count + 1, sizeof *s->representative);
    s->weight = kn_alloc_array(c->ctx, (size_t)old + c->rows.count + 1, sizeof *s->weight);
    if (!number || !s->row_of || !s->representative || !s->weight) {
        kn_free(number);
        return no_memory(c, err);
    }
    for (uint32_t i = 0; i < old; i++) {
        number[i] = at;
        if (c->old_row_stamp[i] == c->old_row_clock) continue;
        s->representative[at] = p->representative[i];
        s->weight[at++] = p->weight[i];
    }
    for (uint32_t i = 0; p && i < base; i++) s->row_of[i] = number[p->row_of[i]];
    for (size_t i = 0; i < c->changed_count; i++) {
        uint32_t row = at + c->new_row[i];
        s->row_of[c->changed_rows[i]] = row;
        s->representative[row] = c->changed_rows[i];
        s->weight[row] = (int32_t)c->rows.weight[c->new_row[i]];
    }
    s->rows = at + c->rows.count;
    kn_free(number);
    return KN_OK;
}

kn_status kn_candidate_keep_rest(kn_candidate *c, kn_error *err)
{
    kn_cut_state *s = c->kept;
    uint32_t      base = c->synopsis->nodes, at = 0;
    uint32_t     *number = kn_alloc_array(c->ctx, (size_t)c->nodes + 1, sizeof *number);
    s->image = kn_alloc_array(c->ctx, (size_t)base + 1, sizeof *s->image);
    s->cut_of = kn_alloc_array(c->ctx, c->synopsis->vocabulary->nodes, sizeof *s->cut_of);
    s->trie_of = kn_alloc_array(c->ctx, (size_t)s->nodes + 1, sizeof *s->trie_of);
    s->support = kn_alloc_array(c->ctx, (size_t)c->trie.count + 1, sizeof *s->support);
    if (!number || !s->image || !s->cut_of || !s->trie_of || !s->support) {
        kn_free(number);
        return no_memory(c, err);
    }
    for (uint32_t i = 0; i < c->nodes; i++) {
        number[i] = at;
        if (!is_gone(c, i)) s->trie_of[at++] = c->trie_of[i];
    }
    for (uint32_t i = 0; i < base; i++) {
        uint32_t node = c->image[i];
        s->image[i] = node == KN_NONE ? KN_NONE : number[node];
    }
    kn_free(number);
    memcpy(s->cut_of, c->cut_of, c->synopsis->vocabulary->nodes * sizeof *s->cut_of);
    memcpy(s->support, c->support, c->trie.count * sizeof *s->support);
    KN_TRY(keep_rows(c, err));
    s->trie = c->trie;
    c->trie = (kn_node_table){0};
    return kn_node_table_make(&c->trie, c->ctx, 0, err);
}
