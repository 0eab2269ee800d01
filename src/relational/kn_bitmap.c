/* kn_bitmap.c: CDGH clustering of persons as rows of bits. See kn_bitmap.h for what the rows mean.
 *
 * The scheme is that of MiRaCle (Algorithm 2 with the readings of docs/errata.md 4): a person joins the nearest
 * cluster or begins a new one; a cluster with k members is finished; the remaining ones are joined, each time the
 * first with the nearest; whoever is left then joins the nearest finished class or is dropped. Of equally near
 * clusters the first wins.
 *
 * A row, or what a cluster shows, is a set of bits that are 1 (`ones`) and, in a complete database, the set of those
 * that are not 0 (`any`): what two become are the intersection of `ones` and the union of `any`, and all that a
 * distance needs are the sizes of two intersections. Open clusters are packed in words; finished ones, of which there
 * are many, are lists. The next GROUP persons are compared with all open clusters in parallel; when they are placed
 * one by one, only clusters that changed meanwhile are compared again. So neither plan nor counters depend on
 * threads.
 *
 * Cost: persons × climit × bits / 64, or × a person's facts where those are fewer than words. Memory: climit + GROUP
 * rows of bits, and lists no longer than the forest.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_bitmap.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_clock.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_parallel.h"
#include "kn_relational_internal.h"
#include "kn_sort.h"

#define WHAT "clustering rows of bits"

enum { GROUP = 32, PIECE = 256 };

typedef struct bit_row {
    uint32_t       *values; /* of the person table's quasi-identifiers: hierarchy nodes         */
    uint64_t       *ones;
    uint64_t       *any; /* NULL in an incomplete database; a person's is their `ones`       */
    uint32_t        one_count, any_count;
    const uint32_t *list; /* of a person: the bits of `ones`                                  */
} bit_row;

typedef struct bit_cluster {
    bit_row   row; /* without words once it is finished */
    uint32_t *members;
    uint32_t  size;
    size_t    capacity;
    uint32_t *one_list, *any_list; /* once it is finished; one_list ascends */
    size_t    any_capacity;
    uint32_t  slot; /* its place when the current group began; KN_FOREST_NONE: changed since */
} bit_cluster;

typedef struct cluster_array {
    bit_cluster **items;
    size_t        count, capacity;
} cluster_array;

typedef struct candidate {
    uint64_t loss;
    size_t   at; /* SIZE_MAX: none */
} candidate;

typedef struct search {
    kn_context              *ctx;
    const kn_bitmap_problem *problem;
    const kn_bitmap         *bitmap;
    const kn_losses         *losses;
    kn_bitmap_counters      *counters;
    const uint32_t          *order;
    int                      quasi; /* of the person table */
    size_t                   words;
    cluster_array            open, done;
    /* Placing persons. */
    bit_row   persons[GROUP];
    void     *person_block;
    int64_t   first; /* of the group, in the order of persons */
    uint64_t *known; /* GROUP × open clusters when the group began */
    size_t    known_capacity, slots;
    /* Looking for the nearest. */
    const bit_row *fixed;
    cluster_array *among;
    size_t         from;
    candidate     *nearest; /* per piece */
    size_t         nearest_capacity;
} search;

/* ---- Rows ---- */

static uint32_t common_words(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint64_t count = 0;
    for (size_t i = 0; i < words; i++) count += (uint64_t)__builtin_popcountll(a[i] & b[i]);
    return (uint32_t)count;
}

static uint32_t common_list(const uint64_t *a, const uint32_t *list, uint32_t count)
{
    uint32_t common = 0;
    for (uint32_t i = 0; i < count; i++) common += kn_bitset_test(a, list[i]);
    return common;
}

/* How many bits a row and a cluster have in common: `ones`, or with `any` those that are not 0. */
static uint32_t common_bits(const search *s, const bit_row *row, const bit_cluster *c, bool any)
{
    const uint64_t *mine = any ? row->any : row->ones, *theirs = any ? c->row.any : c->row.ones;
    if (!theirs) return common_list(mine, any ? c->any_list : c->one_list, any ? c->row.any_count : c->row.one_count);
    if (row->list && row->one_count < s->words) return common_list(theirs, row->list, row->one_count);
    return common_words(mine, theirs, s->words);
}

/* LM of what a row and a cluster become, in units of kn_losses, not divided by the columns: all distances have as many. */
static uint64_t distance(const search *s, const bit_row *row, const bit_cluster *c)
{
    size_t   base = (size_t)s->bitmap->forest->db->entity * (size_t)s->losses->width;
    uint64_t sum = 0, lost = s->bitmap->bits - common_bits(s, row, c, false);
    for (int q = 0; q < s->quasi; q++) {
        const kn_hierarchy *h = s->losses->hierarchies[base + (size_t)q];
        sum += s->losses->lm[base + (size_t)q][kn_hierarchy_lca(h, row->values[q], c->row.values[q])];
    }
    if (s->problem->complete)
        lost -= s->bitmap->bits - (row->any_count + c->row.any_count - common_bits(s, row, c, true));
    return sum + lost * s->losses->unit;
}

static bool above_threshold(const search *s, uint64_t loss)
{
    return kn_loss_above((kn_loss){loss, (uint64_t)s->counters->columns}, s->losses->unit, s->problem->threshold);
}

/* The row of a person, in memory of its own. */
static void fill_person(const search *s, bit_row *row, uint32_t entity)
{
    const kn_forest *f = s->bitmap->forest;
    uint64_t         begin = f->start[entity];
    row->list = s->bitmap->bit + begin + 1;
    row->one_count = row->any_count = (uint32_t)(f->start[entity + 1] - begin - 1);
    for (int q = 0; q < s->quasi; q++) row->values[q] = kn_forest_leaf(f, begin, q);
    memset(row->ones, 0, s->words * sizeof *row->ones);
    for (uint32_t i = 0; i < row->one_count; i++) kn_bitset_set(row->ones, row->list[i]);
    row->any = s->problem->complete ? row->ones : NULL;
}

/* ---- Clusters ---- */

static void cluster_free(bit_cluster *c)
{
    if (!c) return;
    KN_FREE(c->row.ones, c->members, c->one_list, c->any_list, c);
}

static void array_free(cluster_array *a)
{
    for (size_t i = 0; i < a->count; i++) cluster_free(a->items[i]);
    kn_free(a->items);
}

static bool array_add(const search *s, cluster_array *a, bit_cluster *c)
{
    if (!KN_GROW(s->ctx, &a->items, &a->capacity, a->count + 1)) return false;
    a->items[a->count++] = c;
    return true;
}

static bit_cluster *array_take(cluster_array *a, size_t at)
{
    bit_cluster *c = a->items[at];
    a->count--;
    memmove(a->items + at, a->items + at + 1, (a->count - at) * sizeof(bit_cluster *));
    return c;
}

static bool add_members(const search *s, bit_cluster *c, const uint32_t *members, uint32_t count)
{
    if (!KN_GROW(s->ctx, &c->members, &c->capacity, (size_t)c->size + count)) return false;
    memcpy(c->members + c->size, members, count * sizeof *members);
    c->size += count;
    return true;
}

/* A new open cluster of one person. */
static kn_status begin_cluster(search *s, const bit_row *person, uint32_t entity, kn_error *err)
{
    size_t       rows = s->problem->complete ? 2 : 1, quasi = (size_t)s->quasi;
    bit_cluster *c = kn_alloc_zero(s->ctx, sizeof *c + quasi * sizeof(uint32_t));
    if (!c) return kn_fail_memory(err, s->ctx, WHAT);
    c->row = *person;
    c->row.list = NULL;
    c->row.values = (uint32_t *)(void *)(c + 1);
    memcpy(c->row.values, person->values, quasi * sizeof *c->row.values);
    c->row.ones = kn_alloc_array(s->ctx, rows * s->words + 1, sizeof *c->row.ones);
    c->row.any = rows == 2 && c->row.ones ? c->row.ones + s->words : NULL;
    c->slot = KN_FOREST_NONE;
    if (!c->row.ones || !add_members(s, c, &entity, 1) || !array_add(s, &s->open, c)) {
        cluster_free(c);
        return kn_fail_memory(err, s->ctx, WHAT);
    }
    for (size_t i = 0; i < rows; i++) memcpy(c->row.ones + i * s->words, person->ones, s->words * sizeof *person->ones);
    s->counters->clusters++;
    return KN_OK;
}

static void join_values(const search *s, bit_cluster *c, const bit_row *row)
{
    size_t base = (size_t)s->bitmap->forest->db->entity * (size_t)s->losses->width;
    for (int q = 0; q < s->quasi; q++)
        c->row.values[q] = kn_hierarchy_lca(s->losses->hierarchies[base + (size_t)q], c->row.values[q], row->values[q]);
}

/* Merges a row into an open cluster. */
static kn_status join(const search *s, bit_cluster *c, const bit_row *row, const uint32_t *members, uint32_t count,
                      kn_error *err)
{
    if (!add_members(s, c, members, count)) return kn_fail_memory(err, s->ctx, WHAT);
    join_values(s, c, row);
    for (size_t i = 0; i < s->words; i++) c->row.ones[i] &= row->ones[i];
    for (size_t i = 0; c->row.any && i < s->words; i++) c->row.any[i] |= row->any[i];
    c->row.one_count = (uint32_t)kn_bitset_count(c->row.ones, s->words);
    c->row.any_count = c->row.any ? (uint32_t)kn_bitset_count(c->row.any, s->words) : 0;
    c->slot = KN_FOREST_NONE;
    return KN_OK;
}

static uint32_t *list_of(const search *s, const uint64_t *words, uint32_t count)
{
    uint32_t *list = kn_alloc_array(s->ctx, (size_t)count + 1, sizeof *list), at = 0;
    for (size_t i = 0; list && i < s->words; i++)
        for (uint64_t left = words[i]; left; left &= left - 1)
            list[at++] = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(left);
    return list;
}

/* Takes ownership of the cluster, even on failure. */
static kn_status finish(search *s, bit_cluster *c, kn_error *err)
{
    bool room = (c->one_list = list_of(s, c->row.ones, c->row.one_count)) != NULL;
    if (room && c->row.any) {
        room = (c->any_list = list_of(s, c->row.any, c->row.any_count)) != NULL;
        c->any_capacity = (size_t)c->row.any_count + 1;
    }
    kn_free(c->row.ones);
    c->row.ones = c->row.any = NULL;
    if (room && array_add(s, &s->done, c)) return KN_OK;
    cluster_free(c);
    return kn_fail_memory(err, s->ctx, WHAT);
}

/* Adds a person to a finished class. Overwrites the person's row. */
static kn_status take_in(const search *s, bit_cluster *c, bit_row *person, uint32_t entity, kn_error *err)
{
    uint32_t kept = 0;
    if (!add_members(s, c, &entity, 1)) return kn_fail_memory(err, s->ctx, WHAT);
    join_values(s, c, person);
    for (uint32_t i = 0; i < c->row.one_count; i++)
        if (kn_bitset_test(person->ones, c->one_list[i])) c->one_list[kept++] = c->one_list[i];
    c->row.one_count = kept;
    if (!s->problem->complete) return KN_OK;
    if (!KN_GROW(s->ctx, &c->any_list, &c->any_capacity, (size_t)c->row.any_count + person->any_count))
        return kn_fail_memory(err, s->ctx, WHAT);
    for (uint32_t i = 0; i < c->row.any_count; i++) kn_bitset_clear(person->ones, c->any_list[i]);
    for (uint32_t i = 0; i < person->one_count; i++)
        if (kn_bitset_test(person->ones, person->list[i])) c->any_list[c->row.any_count++] = person->list[i];
    return KN_OK;
}

/* ---- Algorithm 2, lines 2 to 12 ---- */

static kn_status look_ahead(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    search *s = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) {
        fill_person(s, &s->persons[i], s->order[s->first + i]);
        for (size_t slot = 0; slot < s->slots; slot++)
            s->known[(size_t)i * s->slots + slot] = distance(s, &s->persons[i], s->open.items[slot]);
    }
    return KN_OK;
}

static kn_status put(search *s, int i, kn_error *err)
{
    const bit_row *person = &s->persons[i];
    uint32_t       entity = s->order[s->first + i];
    candidate      best = {0, SIZE_MAX};
    for (size_t at = 0; at < s->open.count; at++) {
        const bit_cluster *c = s->open.items[at];
        bool               old = c->slot != KN_FOREST_NONE;
        uint64_t           loss = old ? s->known[(size_t)i * s->slots + c->slot] : distance(s, person, c);
        s->counters->distances += !old;
        if (best.at == SIZE_MAX || loss < best.loss) best = (candidate){loss, at};
    }
    if (best.at == SIZE_MAX || (above_threshold(s, best.loss) && (int64_t)s->open.count < s->problem->climit)) {
        best.at = s->open.count;
        KN_TRY(begin_cluster(s, person, entity, err));
    } else {
        KN_TRY(join(s, s->open.items[best.at], person, &entity, 1, err));
    }
    if (s->open.items[best.at]->size < s->problem->k) return KN_OK;
    return finish(s, array_take(&s->open, best.at), err);
}

static kn_status put_group(search *s, int count, kn_error *err)
{
    if (!KN_GROW(s->ctx, &s->known, &s->known_capacity, GROUP * s->open.count + 1))
        return kn_fail_memory(err, s->ctx, WHAT);
    s->slots = s->open.count;
    for (size_t at = 0; at < s->slots; at++) s->open.items[at]->slot = (uint32_t)at;
    s->counters->distances += count * (int64_t)s->slots;
    KN_TRY(kn_parallel_for(s->ctx, count, 1, look_ahead, s, err));
    for (int i = 0; i < count; i++) KN_TRY(put(s, i, err));
    kn_progress_add(s->ctx, (uint64_t)count);
    return KN_OK;
}

/* ---- Algorithm 2, lines 13 to 20, and what is left (M3) ---- */

static kn_status look_in_piece(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    search *s = arg;
    (void)worker;
    (void)err;
    for (int64_t p = begin; p < end; p++) {
        candidate best = {0, SIZE_MAX};
        size_t    at = s->from + (size_t)p * PIECE, to = at + PIECE;
        for (; at < to && at < s->among->count; at++) {
            uint64_t loss = distance(s, s->fixed, s->among->items[at]);
            if (best.at == SIZE_MAX || loss < best.loss) best = (candidate){loss, at};
        }
        s->nearest[p] = best;
    }
    return KN_OK;
}

/* The nearest to a row of those from `from` on, of which there is one at least; of equal ones the first. */
static kn_status find_nearest(search *s, size_t *out, const bit_row *row, cluster_array *among, size_t from,
                              kn_error *err)
{
    size_t pieces = (among->count - from + PIECE - 1) / PIECE;
    if (!KN_GROW(s->ctx, &s->nearest, &s->nearest_capacity, pieces)) return kn_fail_memory(err, s->ctx, WHAT);
    if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
    s->fixed = row;
    s->among = among;
    s->from = from;
    s->counters->distances += (int64_t)(among->count - from);
    KN_TRY(kn_parallel_for(s->ctx, (int64_t)pieces, 1, look_in_piece, s, err));
    candidate best = s->nearest[0];
    for (size_t p = 1; p < pieces; p++)
        if (s->nearest[p].loss < best.loss) best = s->nearest[p];
    *out = best.at;
    return KN_OK;
}

static kn_status join_open(search *s, kn_error *err)
{
    while (s->open.count > 1) {
        size_t at;
        KN_TRY(find_nearest(s, &at, &s->open.items[0]->row, &s->open, 1, err));
        bit_cluster *other = array_take(&s->open, at);
        kn_status    st = join(s, s->open.items[0], &other->row, other->members, other->size, err);
        cluster_free(other);
        KN_TRY(st);
        s->counters->merged++;
        if (s->open.items[0]->size >= s->problem->k) KN_TRY(finish(s, array_take(&s->open, 0), err));
    }
    return KN_OK;
}

static kn_status absorb(search *s, kn_error *err)
{
    if (s->open.count == 0 || s->done.count == 0 || s->problem->leftovers == KN_LEFTOVERS_DROP) return KN_OK;
    const bit_cluster *left = s->open.items[0];
    for (uint32_t m = 0; m < left->size; m++) {
        size_t at;
        fill_person(s, &s->persons[0], left->members[m]);
        KN_TRY(find_nearest(s, &at, &s->persons[0], &s->done, 0, err));
        KN_TRY(take_in(s, s->done.items[at], &s->persons[0], left->members[m], err));
        s->counters->absorbed++;
    }
    return KN_OK;
}

static kn_status cluster_all(search *s, kn_error *err)
{
    int64_t entities = s->bitmap->forest->entities;
    size_t  bytes = s->words * sizeof(uint64_t) + ((size_t)s->quasi + 1) / 2 * sizeof(uint64_t);
    s->person_block = kn_alloc_array_zero(s->ctx, GROUP, bytes + sizeof(uint64_t));
    if (!s->person_block) return kn_fail_memory(err, s->ctx, WHAT);
    for (size_t i = 0; i < GROUP; i++) {
        s->persons[i].ones = (uint64_t *)(void *)((char *)s->person_block + i * bytes);
        s->persons[i].values = (uint32_t *)(void *)(s->persons[i].ones + s->words);
    }
    for (s->first = 0; s->first < entities; s->first += GROUP) {
        if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
        KN_TRY(put_group(s, entities - s->first < GROUP ? (int)(entities - s->first) : GROUP, err));
    }
    KN_TRY(join_open(s, err));
    return absorb(s, err);
}

/* ---- The plan ---- */

/* One finished class as a tree with the rows of its members. `place` has space for a node per bit. */
static kn_status add_class(const search *s, kn_cluster_list *list, const bit_cluster *c, uint32_t *place, kn_error *err)
{
    const kn_forest *f = s->bitmap->forest;
    size_t           count = (size_t)c->row.one_count + 1;
    uint32_t        *nodes = kn_alloc_array(s->ctx, count * c->size, sizeof *nodes);
    kn_cluster      *tree = NULL;
    if (!nodes) return kn_fail_memory(err, s->ctx, WHAT);
    for (uint32_t m = 0; m < c->size; m++) {
        uint64_t begin = f->start[c->members[m]], end = f->start[c->members[m] + 1];
        for (uint64_t n = begin + 1; n < end; n++) place[s->bitmap->bit[n]] = (uint32_t)(n - begin);
        nodes[m * count] = 0;
        for (size_t i = 1; i < count; i++) nodes[m * count + i] = place[c->one_list[i - 1]];
    }
    kn_status st = kn_cluster_of_nodes(&tree, s->ctx, f, s->losses, c->row.values, c->members, c->size, nodes,
                                       (uint32_t)count, err);
    kn_free(nodes);
    KN_TRY(st);
    return kn_cluster_list_add(list, s->ctx, tree, err);
}

/* ---- What the bitmap lost ---- */

static int compare_lists(const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n)
{
    if (m != n) return m < n ? -1 : 1;
    for (uint32_t i = 0; i < m; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_classes(const void *arg, uint64_t a, uint64_t b)
{
    const search      *s = arg;
    const bit_cluster *x = s->done.items[a], *y = s->done.items[b];
    int                order = compare_lists(x->row.values, (uint32_t)s->quasi, y->row.values, (uint32_t)s->quasi);
    if (!order) order = compare_lists(x->one_list, x->row.one_count, y->one_list, y->row.one_count);
    if (!order && x->any_list) order = compare_lists(x->any_list, x->row.any_count, y->any_list, y->row.any_count);
    return order;
}

static kn_status measure(search *s, kn_error *err)
{
    kn_bitmap_counters *counters = s->counters;
    size_t              n = s->done.count, base = (size_t)s->bitmap->forest->db->entity * (size_t)s->losses->width;
    int64_t             persons = s->bitmap->forest->entities, kept = 0, alike = 0;
    kn_u128             sum = 0;
    kn_sort_record     *order = kn_alloc_array(s->ctx, n + 1, sizeof *order);
    if (!order) return kn_fail_memory(err, s->ctx, WHAT);
    for (size_t i = 0; i < n; i++) {
        bit_cluster *c = s->done.items[i];
        uint64_t     lost = s->bitmap->bits - c->row.one_count, loss = 0;
        if (c->any_list) {
            lost -= s->bitmap->bits - c->row.any_count;
            counters->absent_kept += (int64_t)(s->bitmap->bits - c->row.any_count) * c->size;
            qsort(c->any_list, c->row.any_count, sizeof *c->any_list, kn_compare_u32);
        }
        for (int q = 0; q < s->quasi; q++) loss += s->losses->lm[base + (size_t)q][c->row.values[q]];
        sum += (kn_u128)(loss + lost * s->losses->unit) * c->size;
        kept += c->size;
        order[i] = (kn_sort_record){0, i};
    }
    kn_status st = kn_sort_records(s->ctx, order, n, compare_classes, s, err);
    for (size_t i = 0; st == KN_OK && i < n; i++) {
        alike += s->done.items[order[i].id]->size;
        if (i + 1 < n && compare_classes(s, order[i].id, order[i + 1].id) == 0) continue;
        counters->dm += (double)alike * (double)alike;
        alike = 0;
    }
    kn_free(order);
    sum += (kn_u128)(persons - kept) * (kn_u128)counters->columns * s->losses->unit;
    counters->dm += (double)(persons - kept) * (double)persons;
    if (counters->columns > 0)
        counters->lm = (double)sum / ((double)persons * (double)counters->columns * (double)s->losses->unit);
    return st;
}

static kn_status make_plan(search *s, kn_database_plan **out, kn_error *err)
{
    kn_cluster_list list = {0};
    uint32_t       *place = kn_alloc_array(s->ctx, (size_t)s->bitmap->bits + 1, sizeof *place);
    kn_status       st = place ? measure(s, err) : kn_fail_memory(err, s->ctx, WHAT);
    for (size_t i = 0; st == KN_OK && i < s->done.count; i++) {
        st = add_class(s, &list, s->done.items[i], place, err);
        cluster_free(s->done.items[i]);
        s->done.items[i] = NULL;
    }
    if (st == KN_OK) st = kn_relational_make_plan(out, s->ctx, s->bitmap->forest, s->losses->width, &list, err);
    if (st == KN_OK) s->counters->suppressed = (*out)->suppressed;
    kn_cluster_list_free(&list);
    kn_free(place);
    return st;
}

/* ---- The whole ---- */

static kn_status check(const kn_bitmap_problem *p, kn_error *err)
{
    if (p->k < 1) return kn_fail(err, KN_USAGE, "bitmap: k must be at least 1");
    if (p->climit < 1) return kn_fail(err, KN_USAGE, "bitmap: climit must be at least 1");
    if (p->threshold.denominator == 0) return kn_fail(err, KN_USAGE, "bitmap: the threshold must be a number");
    if (p->forest->entities > (int64_t)UINT32_MAX - 1)
        return kn_fail(err, KN_INPUT, "bitmap: more than 2^32 - 2 persons");
    return KN_OK;
}

static kn_status run(search *s, kn_database_plan **out, kn_error *err)
{
    kn_progress_begin(s->ctx, "clustering", "persons", (uint64_t)s->bitmap->forest->entities);
    kn_status st = cluster_all(s, err);
    kn_progress_end(s->ctx);
    KN_FREE(s->person_block, s->known, s->nearest);
    array_free(&s->open);
    if (st == KN_OK) st = make_plan(s, out, err);
    array_free(&s->done);
    return st;
}

kn_status kn_bitmap_search(kn_database_plan **out, bool *found, kn_bitmap_counters *counters, kn_context *ctx,
                           const kn_bitmap_problem *problem, kn_error *err)
{
    *out = NULL;
    *found = false;
    *counters = (kn_bitmap_counters){0};
    KN_TRY(check(problem, err));
    const kn_forest *forest = problem->forest;
    if (forest->entities < problem->k) return KN_OK;
    double     begin = kn_clock_seconds();
    kn_bitmap *bitmap = NULL;
    kn_losses  losses = {0};
    uint32_t  *order = NULL;
    kn_status  st = kn_bitmap_make(&bitmap, ctx, forest, err);
    if (st == KN_OK) {
        counters->conversion_seconds = kn_clock_seconds() - begin;
        counters->bits = bitmap->bits;
        counters->repeated = bitmap->repeated;
        counters->columns = counters->bits + forest->db->tables[forest->db->entity].quasi_count;
        st = kn_losses_make(&losses, ctx, forest->db, err);
    }
    if (st == KN_OK && !(order = kn_person_order(ctx, forest->entities, problem->seed)))
        st = kn_fail_memory(err, ctx, "ordering persons");
    if (st == KN_OK) {
        search s = {.ctx = ctx, .problem = problem, .bitmap = bitmap, .losses = &losses, .counters = counters};
        s.order = order;
        s.quasi = forest->db->tables[forest->db->entity].quasi_count;
        s.words = kn_bitset_words(bitmap->bits);
        st = run(&s, out, err);
        *found = st == KN_OK;
    }
    kn_bitmap_free(bitmap);
    kn_losses_free(&losses);
    kn_free(order);
    return st;
}
