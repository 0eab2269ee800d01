/* kn_persons.c: persons alike in what is known of them (kn_persons.h).
 *
 * For each person the known nodes get numbers from below: a node's signature is its table, its known leaves and the sorted
 * numbers of what belongs to it; equal signatures have equal numbers, by exact comparison. The root's number is the class.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_persons.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_parallel.h"

static const char what[] = "comparing persons";

/* What one answer needs, for one thread. */
typedef struct scratch {
    bool     *seen;  /* per table: is it known?                                        */
    uint32_t *up;    /* per node of a person: the nearest node above that is known     */
    uint32_t *first; /* per node: where the numbers of what belongs to it begin ...    */
    uint32_t *end;   /* ... and where the next one goes                                */
    uint32_t *numbers;
    uint32_t *words;    /* a signature                                                    */
    uint32_t *class_of; /* per person                                                    */
} scratch;

typedef struct counting {
    kn_context             *ctx;
    const kn_forest        *forest;
    const kn_persons_known *known;
    int64_t                 k;
    kn_persons_found       *found;
    uint32_t                most;  /* nodes of a person */
    int                     width; /* quasi-identifiers of a table */
} counting;

static bool scratch_make(scratch *s, const counting *c)
{
    size_t nodes = (size_t)c->most + 1, tables = (size_t)c->forest->db->table_count;
    *s = (scratch){kn_alloc_array_zero(c->ctx, tables, sizeof *s->seen),
                   kn_alloc_array(c->ctx, nodes, sizeof *s->up),
                   kn_alloc_array(c->ctx, nodes, sizeof *s->first),
                   kn_alloc_array(c->ctx, nodes, sizeof *s->end),
                   kn_alloc_array(c->ctx, nodes, sizeof *s->numbers),
                   kn_alloc_array(c->ctx, nodes + (size_t)c->width + 1, sizeof *s->words),
                   kn_alloc_array(c->ctx, (size_t)c->forest->entities + 1, sizeof *s->class_of)};
    return s->seen && s->up && s->first && s->end && s->numbers && s->words && s->class_of;
}

static void scratch_free(scratch *s)
{
    KN_FREE(s->seen, s->up, s->first, s->end, s->numbers, s->words, s->class_of);
}

/* Whose each known node is, and room for their numbers. */
static void place_nodes(const counting *c, scratch *s, uint64_t root, uint32_t nodes)
{
    const kn_forest *f = c->forest;
    memset(s->end, 0, (size_t)nodes * sizeof *s->end);
    for (uint32_t v = 1; v < nodes; v++) {
        uint32_t parent = f->parent[root + v];
        s->up[v] = parent == 0 || s->seen[f->table[root + parent]] ? parent : s->up[parent];
        if (s->seen[f->table[root + v]]) s->end[s->up[v]]++;
    }
    for (uint32_t v = 0, at = 0; v < nodes; v++) {
        uint32_t count = s->end[v];
        s->first[v] = s->end[v] = at;
        at += count;
    }
}

/* The signature of a node whose own rows have their numbers; returns its number of words. */
static size_t sign(const counting *c, scratch *s, uint64_t node, uint32_t v, int only)
{
    const kn_forest *f = c->forest;
    int              t = f->table[node];
    size_t           size = 0;
    uint32_t         count = s->end[v] - s->first[v];
    s->words[size++] = (uint32_t)t;
    for (int q = 0; s->seen[t] && q < f->db->tables[t].quasi_count; q++)
        if (only < 0 || q == only) s->words[size++] = kn_forest_leaf(f, node, q);
    qsort(s->numbers + s->first[v], count, sizeof *s->numbers, kn_compare_u32);
    memcpy(s->words + size, s->numbers + s->first[v], count * sizeof *s->words);
    return size + count;
}

/* The number of a person's tree; KN_ID_FAILED. */
static uint32_t number_person(const counting *c, scratch *s, kn_interner *trees, int64_t person, int only)
{
    const kn_forest *f = c->forest;
    uint64_t         root = f->start[person];
    uint32_t         nodes = (uint32_t)(f->start[person + 1] - root), number = 0;
    place_nodes(c, s, root, nodes);
    for (uint32_t v = nodes; v-- > 0;) {
        if (v > 0 && !s->seen[f->table[root + v]]) continue;
        size_t size = sign(c, s, root + v, v, only);
        number = kn_intern(trees, (kn_string){(const char *)s->words, size * sizeof *s->words});
        if (number == KN_ID_FAILED) return number;
        if (v > 0) s->numbers[s->end[s->up[v]]++] = number;
    }
    return number;
}

static kn_status add_up(const counting *c, const scratch *s, size_t numbers, kn_persons_found *to, kn_error *err)
{
    int64_t *sizes = kn_alloc_array_zero(c->ctx, numbers + 1, sizeof *sizes);
    if (!sizes) return kn_fail_memory(err, c->ctx, what);
    for (int64_t e = 0; e < c->forest->entities; e++) sizes[s->class_of[e]]++;
    *to = (kn_persons_found){0};
    for (size_t i = 0; i <= numbers; i++) {
        if (sizes[i] == 0) continue;
        to->classes++;
        to->unique += sizes[i] == 1;
        if (sizes[i] < c->k) to->below += sizes[i];
        if (to->k == 0 || sizes[i] < to->k) to->k = sizes[i];
    }
    kn_free(sizes);
    return KN_OK;
}

static kn_status count_one(const counting *c, const kn_persons_known *known, kn_persons_found *to, kn_error *err)
{
    scratch     s;
    kn_interner trees;
    kn_interner_init(&trees, c->ctx);
    kn_status st = scratch_make(&s, c) ? KN_OK : kn_fail_memory(err, c->ctx, what);
    for (int i = 0; i < known->table_count && st == KN_OK; i++) s.seen[known->tables[i]] = true;
    for (int64_t e = 0; e < c->forest->entities && st == KN_OK; e++) {
        s.class_of[e] = number_person(c, &s, &trees, e, known->only);
        if (s.class_of[e] == KN_ID_FAILED) st = kn_fail_memory(err, c->ctx, what);
        if (e % 4096 == 0 && kn_cancelled(c->ctx)) st = kn_fail_cancelled(err);
    }
    if (st == KN_OK) st = add_up(c, &s, trees.count, to, err);
    kn_interner_free(&trees);
    scratch_free(&s);
    return st;
}

static kn_status count_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const counting *c = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) KN_TRY(count_one(c, &c->known[i], &c->found[i], err));
    kn_progress_add(c->ctx, (uint64_t)(end - begin));
    return KN_OK;
}

kn_status kn_persons_count(kn_persons_found *found, kn_context *ctx, const kn_forest *forest,
                           const kn_persons_known *known, int count, int64_t k, kn_error *err)
{
    counting c = {.ctx = ctx, .forest = forest, .known = known, .k = k, .found = found};
    for (int64_t e = 0; e < forest->entities; e++)
        if (forest->start[e + 1] - forest->start[e] > c.most)
            c.most = (uint32_t)(forest->start[e + 1] - forest->start[e]);
    for (int t = 0; t < forest->db->table_count; t++)
        if (forest->db->tables[t].quasi_count > c.width) c.width = forest->db->tables[t].quasi_count;
    kn_progress_begin(ctx, "comparing persons", "sets", (uint64_t)count);
    kn_status st = kn_parallel_for(ctx, count, 1, count_range, &c, err);
    kn_progress_end(ctx);
    return st;
}
