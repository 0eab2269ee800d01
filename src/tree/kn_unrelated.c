/* kn_unrelated.c: combinations with relations that are known not to be there (section III-G): records that have some values and relations, and
 * not others.
 *
 * Interface: kn_unrelated.h. A relation of the cut is known not to be there by whoever knows that all pairs of the original's values that it may
 * stand for are unrelated: these pairs are listed by relation first. Then sets of relations are gone through whose pairs are at most n and
 * have at most m ends; for each the rows without them, and of these all combinations of further values and relations that can still be known. A
 * value above an end is known with the end. Values that no row with one of the relations has need not be looked at: they find as many rows as ever.
 *
 * Cost: the sets, times the rows, times the combinations of m values less the ends: with m = 2 and n = 1 one look at the rows per relation.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_unrelated.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"

#define WHAT "looking for relations that are known not to be there"
#define NONE UINT32_MAX

/* A pair of the original's values, and the relation of the cut that stands for it. */
typedef struct pair {
    uint32_t relation, above, below;
} pair;

typedef struct looking {
    kn_structure *s;
    pair         *pairs; /* by relation */
    size_t        pair_count, pair_capacity;
    size_t       *first;               /* per relation: where its pairs begin; one more                  */
    bool         *never;               /* per relation: one of its pairs cannot be known                 */
    uint32_t     *place;               /* per value of the vocabulary: that of the cut above it; NONE    */
    uint32_t     *absent;              /* the chosen relations that are not there                       */
    int           absent_count, facts; /* ... and the pairs that they take                  */
    uint32_t     *ends;                /* their ends                                                      */
    int           end_count;
    uint32_t     *present;             /* chosen places                                                */
    int           present_count, paid; /* ... and those of them that are above no end       */
    uint32_t     *known;
    int           known_count; /* chosen relations that are there                           */
    uint32_t     *others;      /* places that may be chosen                                  */
    size_t        other_count, other_capacity;
    bool         *listed; /* per place */
    uint32_t    **rows;   /* per depth: rows                                                  */
    size_t       *room;
    int           depths;
    bool          any, memory, cancelled;
} looking;

/* ---- Pairs ---- */

static int by_relation(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->relation != y->relation) return x->relation < y->relation ? -1 : 1;
    if (x->above != y->above) return x->above < y->above ? -1 : 1;
    return x->below < y->below ? -1 : x->below > y->below;
}

static void find_places(looking *w)
{
    const kn_vocabulary *v = w->s->synopsis->vocabulary;
    const kn_projection *p = w->s->projection;
    for (uint32_t u = 0; u < v->nodes; u++) w->place[u] = NONE;
    for (uint32_t i = 0; i < p->places; i++) w->place[p->values[i]] = i;
    for (uint32_t u = 1; u < v->nodes; u++) /* parents come before */
        if (w->place[u] == NONE && !v->sensitive[v->cls[u]]) w->place[u] = w->place[v->parent[u]];
}

static bool is_secret(const kn_vocabulary *v, uint32_t value)
{
    return v->sensitive[v->cls[value]];
}

/* The pairs of the original, each once, by the relation that stands for them. */
static kn_status list_pairs(looking *w, kn_error *err)
{
    kn_structure        *s = w->s;
    const kn_synopsis   *y = s->synopsis;
    const kn_vocabulary *v = y->vocabulary;
    size_t               kept = 0;
    for (uint32_t i = 0; i < y->nodes; i++)
        for (uint32_t up = y->parent[i]; up != KN_SYNOPSIS_ROOT; up = y->parent[up]) {
            uint32_t above = y->value[up], below = y->value[i];
            if (is_secret(v, above) || is_secret(v, below)) continue;
            uint32_t relation = kn_node_table_find(&s->relations, w->place[above], w->place[below]);
            if (relation == NONE) continue;
            if (!KN_GROW(s->ctx, &w->pairs, &w->pair_capacity, w->pair_count + 1))
                return kn_fail_memory(err, s->ctx, WHAT);
            w->pairs[w->pair_count++] = (pair){relation, above, below};
            w->never[relation] = w->never[relation] || !v->unrelated[v->cls[below]];
        }
    if (w->pair_count > 0) qsort(w->pairs, w->pair_count, sizeof *w->pairs, by_relation);
    for (size_t i = 0; i < w->pair_count; i++)
        if (i == 0 || by_relation(&w->pairs[i], &w->pairs[kept - 1]) != 0) w->pairs[kept++] = w->pairs[i];
    w->pair_count = kept;
    for (uint32_t r = 0, at = 0; r <= s->relations.count; r++) {
        while (at < kept && w->pairs[at].relation < r) at++;
        w->first[r] = at;
    }
    return KN_OK;
}

/* ---- Rows ---- */

static bool has_relation(const kn_structure *s, uint32_t row, uint32_t relation)
{
    for (uint64_t i = s->of_row_start[row]; i < s->of_row_start[row + 1]; i++)
        if (s->of_row[i] == relation) return true;
    return false;
}

static bool has_place(const kn_structure *s, uint32_t row, uint32_t place)
{
    const kn_projection *p = s->projection;
    for (uint64_t i = p->known_start[row]; i < p->known_start[row + 1]; i++)
        if (p->known[i] == place) return true;
    return false;
}

static bool before(const kn_structure *s, uint32_t a, uint32_t b)
{
    if (s->support[a] != s->support[b]) return s->support[a] < s->support[b];
    if (s->relations.parent[a] != s->relations.parent[b]) return s->relations.parent[a] < s->relations.parent[b];
    return s->relations.value[a] < s->relations.value[b];
}

/* Of the relations of a rare combination, there or not, the one with the least support. */
static void name_one(looking *w)
{
    uint32_t victim = w->absent[0];
    for (int i = 1; i < w->absent_count; i++)
        if (before(w->s, w->absent[i], victim)) victim = w->absent[i];
    for (int i = 0; i < w->known_count; i++)
        if (before(w->s, w->known[i], victim)) victim = w->known[i];
    w->s->named[victim] = true;
    w->any = true;
}

static uint32_t *rows_at(looking *w, int depth, size_t count)
{
    w->memory = w->memory || !KN_GROW(w->s->ctx, &w->rows[depth], &w->room[depth], count + 1);
    return w->memory ? NULL : w->rows[depth];
}

/* ---- Combinations ---- */

static bool is_chosen(const looking *w, uint32_t place)
{
    for (int i = 0; i < w->present_count; i++)
        if (w->present[i] == place) return true;
    return false;
}

/* Judges the rows, then adds one more relation between chosen places, from `from` on. */
static void try_relations(looking *w, int depth, const uint32_t *rows, size_t count, uint32_t from)
{
    kn_structure *s = w->s;
    int64_t       support = 0;
    for (size_t i = 0; i < count; i++) support += s->projection->rows.weight[rows[i]];
    if (support == 0 || w->memory) return;
    if (support < s->problem->k) name_one(w);
    if (w->facts + w->known_count >= s->problem->n) return;
    for (uint32_t r = from; r < s->relations.count; r++) {
        if (s->support[r] == 0 || !is_chosen(w, s->relations.parent[r]) || !is_chosen(w, s->relations.value[r]))
            continue;
        uint32_t *with = rows_at(w, depth + 1, count);
        size_t    kept = 0;
        if (!with) return;
        for (size_t i = 0; i < count; i++)
            if (has_relation(s, rows[i], r)) with[kept++] = rows[i];
        w->known[w->known_count++] = r;
        try_relations(w, depth + 1, with, kept, r + 1);
        w->known_count--;
    }
}

/* Is one of the ends at or below the place? */
static bool holds_end(const looking *w, uint32_t place)
{
    for (int i = 0; i < w->end_count; i++)
        if (w->place[w->ends[i]] == place) return true;
    return false;
}

static void try_values(looking *w, int depth, const uint32_t *rows, size_t count, size_t from)
{
    if (count == 0 || w->memory) return;
    try_relations(w, depth, rows, count, 0);
    for (size_t o = from; o < w->other_count; o++) {
        uint32_t place = w->others[o];
        int      price = !holds_end(w, place);
        if (w->end_count + w->paid + price > w->s->problem->m) continue;
        uint32_t *with = rows_at(w, depth + 1, count);
        size_t    kept = 0;
        if (!with) return;
        for (size_t i = 0; i < count; i++)
            if (has_place(w->s, rows[i], place)) with[kept++] = rows[i];
        w->present[w->present_count++] = place;
        w->paid += price;
        try_values(w, depth + 1, with, kept, o + 1);
        w->paid -= price;
        w->present_count--;
    }
}

/* The rows without the chosen relations, and the places of those that have one. */
static void try_absent(looking *w)
{
    kn_structure        *s = w->s;
    const kn_projection *p = s->projection;
    uint32_t            *without = rows_at(w, 0, p->rows.count);
    size_t               count = 0;
    if (!without || !KN_GROW(s->ctx, &w->others, &w->other_capacity, (size_t)p->places + 1)) {
        w->memory = true;
        return;
    }
    w->other_count = 0;
    for (uint32_t row = 0; row < p->rows.count; row++) {
        bool shows = false;
        for (int i = 0; i < w->absent_count && !shows; i++) shows = has_relation(s, row, w->absent[i]);
        if (!shows) without[count++] = row;
        for (uint64_t i = p->known_start[row]; shows && i < p->known_start[row + 1]; i++) {
            if (!w->listed[p->known[i]]) w->others[w->other_count++] = p->known[i];
            w->listed[p->known[i]] = true;
        }
    }
    for (size_t i = 0; i < w->other_count; i++) w->listed[w->others[i]] = false;
    if (w->other_count > 0) kn_rows_sort(w->others, w->other_count);
    try_values(w, 0, without, count, 0);
}

/* Adds the ends of a relation's pairs: how many are new. */
static int add_ends(looking *w, uint32_t relation)
{
    int before_these = w->end_count;
    for (size_t i = w->first[relation]; i < w->first[relation + 1] && w->end_count <= w->s->problem->m; i++)
        for (int e = 0; e < 2; e++) {
            uint32_t end = e ? w->pairs[i].below : w->pairs[i].above;
            int      j = 0;
            while (j < w->end_count && w->ends[j] != end) j++;
            if (j == w->end_count) w->ends[w->end_count++] = end;
        }
    return w->end_count - before_these;
}

/* Sets of relations from `from` on. */
static void choose_absent(looking *w, uint32_t from)
{
    const kn_structure *s = w->s;
    if (w->absent_count > 0) try_absent(w);
    w->cancelled = w->cancelled || kn_cancelled(s->ctx);
    for (uint32_t r = from; r < s->relations.count && !w->memory && !w->cancelled; r++) {
        size_t weight = w->first[r + 1] - w->first[r];
        if (w->never[r] || weight == 0 || s->support[r] == 0 || weight > (size_t)(s->problem->n - w->facts)) continue;
        int added = add_ends(w, r);
        w->absent[w->absent_count++] = r;
        w->facts += (int)weight;
        if (w->end_count <= s->problem->m) choose_absent(w, r + 1);
        w->facts -= (int)weight;
        w->absent_count--;
        w->end_count -= added;
    }
}

static bool make_room(looking *w)
{
    const kn_tree_problem *p = w->s->problem;
    size_t                 relations = w->s->relations.count, values = w->s->synopsis->vocabulary->nodes;
    w->depths = 2 * p->m + 2 * p->n + 2;
    kn_context *ctx = w->s->ctx;
    return KN_ALLOC_ZERO(ctx, w->first, relations + 2) && KN_ALLOC_ZERO(ctx, w->never, relations + 1) &&
           KN_ALLOC(ctx, w->place, values + 1) && KN_ALLOC(ctx, w->absent, (size_t)p->n + 1) &&
           KN_ALLOC(ctx, w->ends, (size_t)p->m + 3) && KN_ALLOC(ctx, w->present, 2 * (size_t)p->m + 1) &&
           KN_ALLOC(ctx, w->known, (size_t)p->n + 1) &&
           KN_ALLOC_ZERO(ctx, w->listed, (size_t)w->s->projection->places + 1) &&
           KN_ALLOC_ZERO(ctx, w->rows, (size_t)w->depths + 1) && KN_ALLOC_ZERO(ctx, w->room, (size_t)w->depths + 1);
}

kn_status kn_unrelated_name(kn_structure *s, bool *any, kn_error *err)
{
    const kn_vocabulary *v = s->synopsis->vocabulary;
    bool                 asked = false;
    for (int c = 0; c < v->class_count; c++) asked = asked || v->unrelated[c];
    if (!asked || s->problem->n == 0) return KN_OK;
    looking   w = {.s = s};
    kn_status st = make_room(&w) ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
    if (st == KN_OK) {
        find_places(&w);
        st = list_pairs(&w, err);
    }
    if (st == KN_OK) choose_absent(&w, 0);
    if (st == KN_OK && w.memory) st = kn_fail_memory(err, s->ctx, WHAT);
    if (st == KN_OK && w.cancelled) st = kn_fail_cancelled(err);
    *any = *any || w.any;
    for (int d = 0; w.rows && d <= w.depths; d++) kn_free(w.rows[d]);
    KN_FREE(w.pairs, w.first, w.never, w.place, w.absent, w.ends, w.present, w.known, w.others, w.listed, w.rows,
            w.room);
    return st;
}
