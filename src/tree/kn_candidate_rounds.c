/* kn_candidate_rounds.c: FixStructure (Algorithm 3) for a cut by what differs from its parent's rounds.
 *
 * Interface: kn_candidate.h. In each round the supports are those of the parent in the same round, except for
 * - combinations with a new value: counted on the rows that have the specialized value, and kept up to date from
 * round to
 *   round with the rows in which something moved;
 * - rows whose relations differ from what they were for the parent in that round: the difference is counted. The
 * choice of the parent's round to compare with affects only speed: the one that ended with the same number of
 * relations, if there is one.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_emit.h"
#include "kn_error.h"
#include "kn_new_support.h"
#include "kn_sort.h"

#define WHAT "disassociating tree records"

static const kn_round *parent_round(const kn_candidate *c, int round)
{
    return c->parent ? &c->parent->rounds[round] : NULL;
}

/* ---- Which nodes differ from the parent's ---- */

/* Do two paths give the same relations between values that both cuts have? The last values correspond; a path gives those of
 * its last value, so none if that is new. */
static bool same_relations(const kn_candidate *c, const uint32_t *mine, uint32_t mine_size, const uint32_t *old,
                           uint32_t old_size)
{
    uint32_t i = 0, j = 0;
    if (kn_is_new(c, mine[mine_size - 1])) return true;
    for (;;) {
        while (i < mine_size && kn_is_new(c, mine[i])) i++;
        while (j < old_size && old[j] == c->specialized) j++;
        if (i == mine_size || j == old_size) return i == mine_size && j == old_size;
        if (mine[i++] != old[j++]) return false;
    }
}

static void find_differences(kn_candidate *c, int round)
{
    const kn_round *old = parent_round(c, round);
    c->difference_round = round;
    c->any_differs = c->any_old_differs = false;
    if (!old) {
        memset(c->differs, 0, c->nodes * sizeof *c->differs);
        return;
    }
    for (uint32_t i = 0; i < c->nodes; i++) {
        uint32_t was = i < c->old_nodes ? i : c->was[i - c->old_nodes];
        c->differs[i] = false;
        if ((i < c->old_nodes && c->gone[i]) || was == KN_NONE) continue;
        const uint32_t *mine = kn_path_of(c, i), *theirs = old->paths + was * c->stride;
        if (i < c->old_nodes)
            c->differs[i] = memcmp(mine, theirs, (mine[0] + 1) * sizeof *mine) != 0;
        else
            c->differs[i] = !same_relations(c, mine + 1, mine[0], theirs + 1, theirs[0]);
        c->any_differs |= c->differs[i];
        c->any_old_differs |= i < c->old_nodes && c->differs[i];
    }
}

/* ---- One row ---- */

/* Gives the values of a row their places. */
static void view_row(kn_candidate *c, kn_row_view *v)
{
    v->new_values = v->old_values = 0;
    for (int i = 0; i < v->count; i++) {
        c->local[v->values[i]] = (uint32_t)i;
        if (kn_is_new(c, v->values[i]))
            v->new_values |= (uint64_t)1 << i;
        else
            v->old_values |= (uint64_t)1 << i;
    }
}

static void clear_relations(kn_row_relations *r, int count)
{
    memset(r->below, 0, (size_t)count * sizeof *r->below);
}

/* The relations of one node, without those of the specialized value. */
static void add_relations(const kn_candidate *c, kn_row_relations *r, const uint32_t *path, bool old)
{
    uint32_t last = *path++ - 1;
    if (old && path[last] == c->specialized) return;
    uint64_t bit = (uint64_t)1 << c->local[path[last]];
    for (uint32_t i = 0; i < last; i++)
        if (!old || path[i] != c->specialized) r->below[c->local[path[i]]] |= bit;
}

/* The relations of a row as they stand, and as they were: `before` in the round before, `theirs` for the parent. Only nodes
 * that moved, or differ, have others. */
typedef struct row_history {
    kn_row_relations now, before, theirs;
} row_history;

static void look_back(const kn_candidate *c, row_history *h, const uint32_t *members, uint32_t size, int count,
                      bool before, const kn_round *old)
{
    kn_row_relations
        parts[4]; /* as they stand: of nodes that neither moved nor differ, that moved, that differ, that did both */
    for (int i = 0; i < 4; i++) clear_relations(&parts[i], count);
    clear_relations(&h->before, count);
    clear_relations(&h->theirs, count);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t node = members[i];
        bool     moved = before && c->moved[node], differs = old && c->differs[node];
        add_relations(c, &parts[moved + 2 * differs], kn_path_of(c, node), false);
        if (moved) add_relations(c, &h->before, c->previous_paths + node * c->stride, false);
        if (!differs) continue;
        uint32_t was = node < c->old_nodes ? node : c->was[node - c->old_nodes];
        add_relations(c, &h->theirs, old->paths + was * c->stride, true);
    }
    for (int i = 0; i < count; i++) {
        uint64_t same = parts[0].below[i], moved = parts[1].below[i], differs = parts[2].below[i];
        h->now.below[i] = same | moved | differs | parts[3].below[i];
        h->before.below[i] |= same | differs;
        h->theirs.below[i] |= same | moved;
    }
}

static void emit(kn_candidate *c, const kn_emission *e)
{
    if (!kn_emit(e, c->layout, &c->counted)) c->no_memory = true;
}

/* What is in one and not in the other; false: nothing. */
static bool without(kn_row_relations *out, const kn_row_relations *a, const kn_row_relations *b, int count,
                    uint64_t values)
{
    uint64_t any = 0;
    for (int i = 0; i < count; i++) {
        out->below[i] = values >> i & 1 ? a->below[i] & ~b->below[i] & values : 0;
        any |= out->below[i];
    }
    return any != 0;
}

/* The purpose of a pass over the rows. */
typedef struct sweep {
    const kn_round *old;      /* the parent's round that rows are compared with; NULL: none */
    int             from, to; /* numbers of relations for which differences are counted            */
    bool            with_new; /* combinations with new values, too                                 */
    bool            rebuild;  /* ... from nothing                                                  */
} sweep;

/* Relations of old values: those that the row has now and had not, and the other way round. */
static void count_difference(kn_candidate *c, const kn_row_view *v, const kn_row_relations *mine,
                             const kn_row_relations *theirs, const sweep *w, int32_t weight)
{
    kn_row_relations gained, lost;
    bool             more = without(&gained, mine, theirs, v->count, v->old_values);
    bool             less = without(&lost, theirs, mine, v->count, v->old_values);
    for (int j = w->from; j <= w->to; j++) {
        kn_emission e = {mine, &gained, v->old_values, 0, v->values, j, weight, &c->delta[j]};
        if (more) emit(c, &e);
        e.has = theirs;
        e.one_of = &lost;
        e.amount = -weight;
        if (less) emit(c, &e);
    }
}

/* ---- Rows with the specialized value ---- */

static void count_changed_row(kn_candidate *c, uint32_t row, const sweep *w)
{
    uint32_t        source = kn_row_source(c, row), room[KN_ROW_VALUES], size;
    const uint32_t *members = kn_row_nodes(c, row, room, &size);
    bool            moved = false, differs = false;
    for (uint32_t i = 0; i < size; i++) {
        moved |= c->moved[members[i]];
        differs |= c->differs[members[i]];
    }
    moved = w->with_new && (moved || w->rebuild);
    differs = differs && w->old;
    if (!moved && !differs) return;
    kn_row_view      v;
    row_history      h;
    kn_row_relations lost;
    int32_t          weight = kn_row_weight(c, row);
    v.count = (int)kn_row_values(c, source, v.values);
    view_row(c, &v);
    look_back(c, &h, members, size, v.count, moved && !w->rebuild, differs ? w->old : NULL);
    if (moved && !w->rebuild) moved = without(&lost, &h.before, &h.now, v.count, v.old_values | v.new_values);
    for (int j = 1; moved && j <= c->problem->n; j++) {
        if (w->rebuild)
            kn_new_support_count(c, &v, &h.now, NULL, j, weight);
        else
            kn_new_support_count(c, &v, &h.before, &lost, j, -weight);
    }
    if (differs) count_difference(c, &v, &h.now, &h.theirs, w, weight);
}

/* ---- Rows without it ---- */

static void count_other_row(kn_candidate *c, uint32_t old_row, const sweep *w)
{
    uint32_t members[KN_ROW_VALUES], source = kn_state_source(c->parent, old_row);
    uint32_t size = kn_row_members(c, source, members);
    bool     differs = false;
    for (uint32_t i = 0; i < size; i++) differs |= c->differs[members[i]];
    if (!differs) return;
    kn_row_view v;
    row_history h;
    v.count = (int)kn_row_values(c, source, v.values);
    view_row(c, &v);
    look_back(c, &h, members, size, v.count, false, w->old);
    count_difference(c, &v, &h.now, &h.theirs, w, kn_state_weight(c->parent, old_row));
}

static kn_status look_at_rows(kn_candidate *c, const sweep *w, kn_error *err)
{
    if (c->dense) {
        KN_TRY(kn_delta_begin(c, w->old, w->from, w->to, err));
        if (w->with_new) KN_TRY(kn_new_support_sweep(c, w->rebuild, err));
        return kn_delta_sweep(c, w->old, err);
    }
    for (int j = w->from; j <= w->to; j++) kn_counts_clear(&c->delta[j]);
    bool needed = w->with_new || (w->old && c->any_differs);
    for (uint32_t row = 0; needed && row < c->row_count && !c->no_memory; row++) {
        if ((row & 4095) == 0 && kn_cancelled(c->ctx)) return kn_fail_cancelled(err);
        count_changed_row(c, row, w);
    }
    if (!kn_is_whole(c) && c->any_old_differs)
        for (uint32_t row = 0; row < c->parent->rows && !c->no_memory; row++)
            if (!kn_bitset_test(c->old_has, row)) count_other_row(c, row, w);
    return c->no_memory ? kn_fail_memory(err, c->ctx, WHAT) : KN_OK;
}

/* ---- A round ---- */

/* The parent's supports. */
static const kn_counts *old_table(const kn_candidate *c, int relations)
{
    return &c->parent->rounds[c->round_of[relations]].table[relations - 1];
}

/* Of a combination without new values. */
static int32_t support_of(const kn_candidate *c, int relations, uint64_t key)
{
    int32_t delta = kn_counts_get(&c->delta[relations], key);
    return delta + (c->parent ? kn_counts_get(old_table(c, relations), key) : 0);
}

static int32_t relation_support(const kn_candidate *c, uint32_t above, uint32_t below)
{
    if (kn_is_new(c, above) || kn_is_new(c, below)) return kn_new_support_relation(c, above, below);
    return support_of(c, 1, kn_relation_key(c->layout, above, below));
}

static bool add_bad(kn_candidate *c, uint64_t key)
{
    if (!KN_GROW(c->ctx, &c->bad, &c->bad_capacity, c->bad_count + 1)) return false;
    c->bad[c->bad_count++] = key;
    return true;
}

static bool is_rare(const kn_candidate *c, int32_t support)
{
    return support > 0 && support < c->problem->k;
}

static bool add_rare(void *arg, uint64_t key, int32_t support)
{
    return !is_rare(arg, support) || add_bad(arg, key);
}

static bool collect_bad(kn_candidate *c, int relations)
{
    const kn_round  *old = parent_round(c, c->round_of[relations]);
    const kn_counts *delta = &c->delta[relations];
    c->bad_count = 0;
    bool ok = kn_new_support_each(c, relations, add_rare, c);
    for (size_t i = 0; ok && i < delta->slots; i++)
        if (delta->keys[i] && is_rare(c, support_of(c, relations, delta->keys[i]))) ok = add_bad(c, delta->keys[i]);
    if (!old || old->stage != relations) return ok;
    for (size_t i = 0; ok && i < old->bad_count; i++)
        if (!kn_key_has(c->layout, old->bad[i], c->specialized) && kn_counts_find(delta, old->bad[i]) == SIZE_MAX)
            ok = add_bad(c, old->bad[i]);
    return ok;
}

/* Supports with up to as many relations as the parent's round went; more are compared with a later one of its rounds when it
 * comes to that. */
static kn_status begin_round(kn_candidate *c, int round, kn_error *err)
{
    const kn_round *old = parent_round(c, c->at);
    if (c->problem->n == 0) return KN_OK;
    find_differences(c, c->at);
    sweep w = {old, 1, old ? old->tables : c->problem->n, true, round == 0};
    for (int j = 1; j <= c->problem->n; j++) {
        c->round_of[j] = c->at;
        if (round == 0) kn_new_support_clear(c, j);
    }
    return look_at_rows(c, &w, err);
}

static kn_status count_stage(kn_candidate *c, int relations, kn_error *err)
{
    int from = c->round_of[relations];
    while (c->parent && c->parent->rounds[from].tables < relations) from++;
    if (from != c->round_of[relations]) {
        sweep w = {parent_round(c, from), relations, relations, false, false};
        c->round_of[relations] = from;
        if (c->difference_round != from) find_differences(c, from);
        KN_TRY(look_at_rows(c, &w, err));
    }
    return collect_bad(c, relations) ? KN_OK : kn_fail_memory(err, c->ctx, WHAT);
}

/* ---- Naming and disassociating ---- */

static uint64_t pack(uint32_t above, uint32_t below)
{
    return ((uint64_t)above << 32 | below) + 1;
}

static kn_status name(kn_candidate *c, kn_error *err)
{
    uint32_t values[64], relations[64][2];
    kn_counts_clear(&c->named);
    for (size_t i = 0; i < c->bad_count; i++) {
        int     n = kn_key_relations(c->layout, c->bad[i], values, relations), victim = 0;
        int32_t least = 0;
        for (int j = 0; j < n && n > 1; j++) {
            int32_t support = relation_support(c, relations[j][0], relations[j][1]);
            bool    smaller = j == 0 || support < least ||
                           (support == least &&
                            pack(relations[j][0], relations[j][1]) < pack(relations[victim][0], relations[victim][1]));
            if (!smaller) continue;
            victim = j;
            least = support;
        }
        if (!kn_counts_add(&c->named, pack(relations[victim][0], relations[victim][1]), 1))
            return kn_fail_memory(err, c->ctx, WHAT);
    }
    return KN_OK;
}

static kn_status append_named(kn_candidate *c, kn_error *err)
{
    size_t          n = c->named.used, at = 0;
    kn_sort_record *order = kn_alloc_array(c->ctx, n + 1, sizeof *order);
    if (!order || !KN_GROW(c->ctx, &c->list, &c->list_capacity, c->list_count + n + 1)) {
        kn_free(order);
        return kn_fail_memory(err, c->ctx, WHAT);
    }
    for (size_t i = 0; i < c->named.slots; i++)
        if (c->named.keys[i]) order[at++] = (kn_sort_record){c->named.keys[i] - 1, i};
    kn_status st = kn_sort_records(c->ctx, order, at, NULL, NULL, err);
    for (size_t i = 0; st == KN_OK && i < at; i++)
        c->list[c->list_count++] = (kn_disassociation){(uint32_t)(order[i].key >> 32), (uint32_t)order[i].key};
    kn_free(order);
    return st;
}

/* The smallest named relation on a path; false: none. */
static bool smallest_named(const kn_candidate *c, const uint32_t *path, uint32_t length, uint64_t *found)
{
    bool any = false;
    for (uint32_t i = 0; i < length; i++)
        for (uint32_t j = i + 1; j < length; j++) {
            uint64_t key = pack(path[i], path[j]);
            if ((any && key >= *found) || kn_counts_find(&c->named, key) == SIZE_MAX) continue;
            *found = key;
            any = true;
        }
    return any;
}

static void rewrite_paths(kn_candidate *c)
{
    memcpy(c->previous_paths, c->paths, c->nodes * c->stride * sizeof *c->paths);
    for (uint32_t i = 0; i < c->nodes; i++) {
        uint32_t *path = c->paths + i * c->stride;
        uint64_t  key = 0;
        c->moved[i] = false;
        if (i < c->old_nodes && c->gone[i]) continue;
        while (path[0] > 1 && smallest_named(c, path + 1, path[0], &key)) {
            path[0] = kn_path_disassociate(path + 1, path[0], (uint32_t)((key - 1) >> 32), (uint32_t)(key - 1));
            c->moved[i] = true;
        }
    }
}

/* The parent's round that the next one corresponds to. */
static void advance(kn_candidate *c, int stage)
{
    if (!c->parent) return;
    int last = c->parent->round_count - 1;
    if (stage > c->parent->rounds[c->at].stage && c->at < last) c->at = c->round_of[stage];
    if (stage == c->parent->rounds[c->at].stage && c->at < last) c->at++;
}

kn_status kn_candidate_fix(kn_candidate *c, bool *fixed, kn_tree_counters *counters, kn_error *err)
{
    int64_t before = c->counted;
    if (c->parent && !kn_candidate_find_old_rows(c)) return kn_fail_memory(err, c->ctx, WHAT);
    KN_TRY(kn_new_support_prepare(c, err));
    *fixed = true;
    c->at = 0;
    c->delta_valid = c->any_lost = false;
    for (int round = 0;; round++) {
        int stage = 0;
        KN_TRY(begin_round(c, round, err));
        for (int j = 1; j <= c->problem->n && stage == 0; j++) {
            KN_TRY(count_stage(c, j, err));
            if (c->bad_count > 0) stage = j;
        }
        counters->relations += c->counted - before;
        before = c->counted;
        if (stage > 0 && c->problem->method == KN_METHOD_OCS) {
            *fixed = false;
            return KN_OK;
        }
        KN_TRY(kn_candidate_keep_round(c, round, stage, err));
        if (stage == 0) return KN_OK;
        KN_TRY(name(c, err));
        counters->disassociations += (int64_t)c->named.used;
        KN_TRY(append_named(c, err));
        rewrite_paths(c);
        KN_TRY(kn_new_support_lose(c, err));
        advance(c, stage);
    }
}
