/* kn_cut_state.c: keeping the state of a cut, so that finer ones can be compared with it.
 *
 * Interface: kn_cut_state.h, kn_candidate.h. While a cut is only a candidate its tables hold what differs from the
 * parent's; when it is followed they are settled: made independent of the parent's. Memory: the tables have an entry
 * per combination with relations that occurs.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_emit.h"
#include "kn_error.h"
#include "kn_new_support.h"

#define WHAT "keeping a cut"

static bool is_gone(const kn_candidate *c, uint32_t node)
{
    return node < c->old_nodes && c->gone[node];
}

void kn_cut_state_free(kn_cut_state *s)
{
    if (!s) return;
    for (int i = 0; i < s->round_count; i++) {
        kn_round *r = &s->rounds[i];
        for (int j = 0; j < r->tables && r->table; j++) kn_counts_free(&r->table[j]);
        KN_FREE(r->table, r->base, r->paths, r->bad);
    }
    KN_FREE(s->rounds, s->value, s->image, s->cut_of, s->representative, s->weight, s->row_of);
    kn_node_table_free(&s->trie);
    KN_FREE(s->support, s->trie_of, s);
}

/* The nodes that are not gone, in their order. */
static kn_status keep_nodes(kn_candidate *c, kn_error *err)
{
    kn_cut_state *s = c->kept;
    for (uint32_t i = 0; i < c->nodes; i++) s->nodes += !is_gone(c, i);
    if (!KN_ALLOC(c->ctx, s->value, (size_t)s->nodes + 1)) return kn_fail_memory(err, c->ctx, WHAT);
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->nodes; i++)
        if (!is_gone(c, i)) s->value[at++] = c->value[i];
    return KN_OK;
}

static bool add_new(void *arg, uint64_t key, int32_t support)
{
    return kn_counts_add(arg, key, support);
}

/* What differs from the parent's supports, and those with new values. */
static bool keep_table(const kn_candidate *c, kn_counts *to, int relations)
{
    const kn_counts *delta = &c->delta[relations];
    bool ok = kn_new_support_each(c, relations, add_new, to) && kn_counts_reserve(to, to->used + delta->used);
    for (size_t i = 0; ok && i < delta->slots; i++)
        if (delta->keys[i] && delta->counts[i]) ok = kn_counts_add(to, delta->keys[i], delta->counts[i]);
    return ok && kn_counts_fit(to);
}

kn_status kn_candidate_keep_round(kn_candidate *c, int round, int stage, kn_error *err)
{
    kn_cut_state *s = c->kept;
    if (round == 0) KN_TRY(keep_nodes(c, err));
    kn_round *rounds = kn_realloc_array(c->ctx, s->rounds, (size_t)round + 1, sizeof *rounds);
    if (!rounds) return kn_fail_memory(err, c->ctx, WHAT);
    s->rounds = rounds;
    kn_round *r = &s->rounds[s->round_count++];
    *r = (kn_round){.stage = stage, .tables = stage ? stage : c->problem->n};
    if (!KN_ALLOC(c->ctx, r->paths, s->nodes * c->stride + 1) ||
        !KN_ALLOC_ZERO(c->ctx, r->table, (size_t)r->tables + 1) ||
        !KN_ALLOC_ZERO(c->ctx, r->base, (size_t)r->tables + 1))
        return kn_fail_memory(err, c->ctx, WHAT);
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->nodes; i++) {
        if (is_gone(c, i)) continue;
        memcpy(r->paths + at++ * c->stride, kn_path_of(c, i), c->stride * sizeof *r->paths);
    }
    for (int j = 0; j < r->tables; j++) {
        r->table[j].ctx = c->ctx;
        r->base[j] = c->parent ? c->round_of[j + 1] : -1;
        if (!keep_table(c, &r->table[j], j + 1)) return kn_fail_memory(err, c->ctx, WHAT);
    }
    if (stage == 0) return KN_OK;
    if (!KN_ALLOC(c->ctx, r->bad, c->bad_count + 1)) return kn_fail_memory(err, c->ctx, WHAT);
    memcpy(r->bad, c->bad, c->bad_count * sizeof *r->bad);
    r->bad_count = c->bad_count;
    return KN_OK;
}

/* How many of the parent's rows did not change. */
static uint32_t rows_left(const kn_candidate *c, const kn_cut_state *parent)
{
    return parent ? parent->rows - (uint32_t)kn_bitset_count(c->old_has, kn_bitset_words(parent->rows)) : 0;
}

/* The parent's rows that did not change, then the new ones. */
static kn_status keep_rows(kn_candidate *c, kn_error *err)
{
    kn_cut_state       *s = c->kept;
    const kn_cut_state *p = kn_is_whole(c) ? NULL : c->parent;
    uint32_t            base = c->synopsis->rows.count, old = p ? p->rows : 0, at = 0;
    s->rows = rows_left(c, p) + c->row_count;
    if (!kn_few_rows(s->rows, c->synopsis)) {
        s->rows = base;
        return KN_OK;
    }
    uint32_t *number = kn_alloc_array(c->ctx, (size_t)old + 1, sizeof *number);
    s->row_of = kn_alloc_array(c->ctx, (size_t)base + 1, sizeof *s->row_of);
    s->representative = kn_alloc_array(c->ctx, (size_t)s->rows + 1, sizeof *s->representative);
    s->weight = kn_alloc_array(c->ctx, (size_t)s->rows + 1, sizeof *s->weight);
    if (!number || !s->row_of || !s->representative || !s->weight) {
        kn_free(number);
        return kn_fail_memory(err, c->ctx, WHAT);
    }
    for (uint32_t i = 0; i < old; i++) {
        number[i] = at;
        if (kn_bitset_test(c->old_has, i)) continue;
        s->representative[at] = kn_state_source(p, i);
        s->weight[at++] = kn_state_weight(p, i);
    }
    for (uint32_t i = 0; p && i < base; i++) s->row_of[i] = number[kn_state_row_of(p, i)];
    for (size_t i = 0; i < c->changed_count; i++) {
        uint32_t row = at + c->new_row[i];
        s->row_of[c->changed_rows[i]] = row;
        s->representative[row] = c->changed_rows[i];
        s->weight[row] = c->row_weight[c->new_row[i]];
    }
    kn_free(number);
    return KN_OK;
}

/* The nodes of the synopsis under the cut. */
static kn_status keep_image(kn_candidate *c, kn_error *err)
{
    kn_cut_state *s = c->kept;
    uint32_t      base = c->synopsis->nodes, values = c->synopsis->vocabulary->nodes, at = 0;
    uint32_t     *number = kn_alloc_array(c->ctx, (size_t)c->nodes + 1, sizeof *number);
    s->image = kn_alloc_array(c->ctx, (size_t)base + 1, sizeof *s->image);
    s->cut_of = kn_alloc_array(c->ctx, values, sizeof *s->cut_of);
    if (!number || !s->image || !s->cut_of) {
        kn_free(number);
        return kn_fail_memory(err, c->ctx, WHAT);
    }
    for (uint32_t i = 0; i < c->nodes; i++) {
        number[i] = at;
        at += !is_gone(c, i);
    }
    for (uint32_t i = 0; i < base; i++) s->image[i] = c->image[i] == KN_NONE ? KN_NONE : number[c->image[i]];
    memcpy(s->cut_of, c->cut_of, values * sizeof *s->cut_of);
    kn_free(number);
    return KN_OK;
}

kn_status kn_candidate_keep_rest(kn_candidate *c, kn_error *err)
{
    kn_cut_state *s = c->kept;
    uint32_t      at = 0;
    if (!KN_ALLOC(c->ctx, s->trie_of, (size_t)s->nodes + 1) || !KN_ALLOC(c->ctx, s->support, (size_t)c->trie.count + 1))
        return kn_fail_memory(err, c->ctx, WHAT);
    for (uint32_t i = 0; i < c->nodes; i++)
        if (!is_gone(c, i)) s->trie_of[at++] = c->trie_of[i];
    memcpy(s->support, c->support, c->trie.count * sizeof *s->support);
    s->trie = c->trie;
    c->trie = (kn_node_table){0};
    return kn_node_table_make(&c->trie, c->ctx, 0, err);
}

/* ---- Settling ---- */

static bool settle_table(kn_counts *to, const kn_counts *from, uint32_t specialized, kn_key_layout layout)
{
    size_t more = 0;
    for (size_t i = 0; i < from->slots; i++)
        more += from->keys[i] && from->counts[i] && !kn_key_has(layout, from->keys[i], specialized);
    if (!kn_counts_reserve(to, to->used + more)) return false;
    for (size_t i = 0; i < from->slots; i++) {
        if (!from->keys[i] || !from->counts[i] || kn_key_has(layout, from->keys[i], specialized)) continue;
        if (!kn_counts_add(to, from->keys[i], from->counts[i])) return false;
    }
    return true;
}

/* Nodes and rows are computed again rather than kept for all candidates. */
static kn_status keep_merged(kn_candidate *c, kn_error *err)
{
    KN_TRY(kn_candidate_begin(c, err));
    KN_TRY(kn_candidate_project(c, err));
    if (c->parent && !kn_candidate_find_old_rows(c)) return kn_fail_memory(err, c->ctx, WHAT);
    KN_TRY(keep_image(c, err));
    return keep_rows(c, err);
}

static kn_status keep_unmerged(kn_candidate *c, kn_error *err)
{
    c->kept->rows = c->synopsis->rows.count;
    KN_TRY(kn_candidate_only_nodes(c, err));
    return keep_image(c, err);
}

int kn_cut_state_parts(const kn_cut_state *s)
{
    int parts = 1;
    for (int i = 0; i < s->round_count; i++) parts += s->rounds[i].tables;
    return parts;
}

static bool settle_part(kn_cut_state *s, int part, const kn_cut_state *parent, uint32_t specialized,
                        kn_key_layout layout)
{
    kn_round *r = s->rounds;
    for (; part >= r->tables; r++) part -= r->tables;
    int base = r->base[part];
    if (base < 0) return true;
    r->base[part] = -1;
    return settle_table(&r->table[part], &parent->rounds[base].table[part], specialized, layout);
}

kn_status kn_cut_state_settle(kn_cut_state *s, int part, kn_candidate *c, const kn_cut_state *parent,
                              uint32_t specialized, kn_error *err)
{
    if (part > 0)
        return settle_part(s, part - 1, parent, specialized, c->layout) ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
    c->parent = parent;
    c->specialized = specialized;
    c->kept = s;
    kn_status st = kn_candidate_merges(c) ? keep_merged(c, err) : keep_unmerged(c, err);
    c->kept = NULL;
    return st;
}
