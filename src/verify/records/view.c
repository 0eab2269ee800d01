/* records/view.c: the released records as they are counted: equal records once, with their number; for each the
 * different labels that may be known, the rarest first.
 *
 * Labels get ranks by the number of records that have them, so that few records begin with many labels to follow
 * (count.c divides its work by first labels). Labels that attackers are assumed not to know are kept separate.
 *
 * Cost: O(nodes) look-ups; 8 bytes per node and 24 per record.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_view.h"

/* ---- Equal records ---- */

static uint64_t hash_record(const kn_vforest *f, int64_t r)
{
    uint64_t h = f->start[r + 1] - f->start[r];
    for (uint64_t i = f->start[r]; i < f->start[r + 1]; i++)
        h = kn_hash_mix(h ^ ((uint64_t)f->parent[i] << 32 | f->label[i]), 0x9e3779b97f4a7c15u) + 0xd1342543de82ef95u;
    return kn_hash_word(h);
}

static bool equal_records(const kn_vforest *f, int64_t a, int64_t b)
{
    uint64_t size = f->start[a + 1] - f->start[a];
    return f->start[b + 1] - f->start[b] == size &&
           memcmp(f->parent + f->start[a], f->parent + f->start[b], size * sizeof *f->parent) == 0 &&
           memcmp(f->label + f->start[a], f->label + f->start[b], size * sizeof *f->label) == 0;
}

static kn_status merge_equal(kn_records_verifier *v, kn_vview *w, kn_error *err)
{
    const kn_vforest *f = &v->release;
    size_t            size = 64;
    while (size < (size_t)f->count * 2) size *= 2;
    w->record = kn_arena_array(&w->room, (size_t)f->count + 1, sizeof *w->record);
    w->weight = kn_arena_array(&w->room, (size_t)f->count + 1, sizeof *w->weight);
    uint64_t *slots = kn_alloc_array_zero(v->ctx, size, sizeof *slots); /* number + 1; 0: free */
    if (w->room.failed || !slots) {
        kn_free(slots);
        return kn_vrecords_no_memory(v, err);
    }
    for (int64_t r = 0; r < f->count; r++) {
        size_t at = hash_record(f, r) & (size - 1);
        while (slots[at] && !equal_records(f, w->record[slots[at] - 1], r)) at = (at + 1) & (size - 1);
        if (!slots[at]) {
            w->record[w->count] = r;
            w->weight[w->count] = 0;
            slots[at] = (uint64_t)++w->count;
        }
        w->weight[slots[at] - 1]++;
    }
    kn_free(slots);
    return KN_OK;
}

/* ---- Ranks ---- */

typedef struct ranked {
    int64_t  support;
    uint32_t label;
} ranked;

static int by_support(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->support != y->support) return x->support < y->support ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

/* The number of records with each label. */
static kn_status count_labels(kn_records_verifier *v, const kn_vview *w, ranked *list, kn_error *err)
{
    const kn_vforest *f = &v->release;
    int64_t          *last = kn_alloc_array_zero(v->ctx, (size_t)v->labels + 1, sizeof *last);
    if (!last) return kn_vrecords_no_memory(v, err);
    for (uint32_t l = 0; l < v->labels; l++) list[l] = (ranked){0, l};
    for (int64_t x = 0; x < w->count; x++)
        for (uint64_t i = f->start[w->record[x]]; i < f->start[w->record[x] + 1]; i++) {
            uint32_t l = f->label[i];
            if (last[l] == x + 1) continue;
            last[l] = x + 1;
            list[l].support += w->weight[x];
        }
    kn_free(last);
    return KN_OK;
}

/* Labels that occur get ranks: those that may be known first, by support; then the hidden ones. */
static kn_status rank_labels(kn_records_verifier *v, kn_vview *w, kn_error *err)
{
    ranked *list = kn_alloc_array(v->ctx, (size_t)v->labels + 1, sizeof *list);
    w->rank_of = kn_varray_none(&w->room, (size_t)v->labels + 1);
    w->label_of = kn_arena_array(&w->room, (size_t)v->labels + 1, sizeof *w->label_of);
    kn_status st = list && !w->room.failed ? count_labels(v, w, list, err) : kn_vrecords_no_memory(v, err);
    if (st == KN_OK) {
        qsort(list, v->labels, sizeof *list, by_support);
        for (int hidden = 0; hidden < 2; hidden++) {
            for (uint32_t i = 0; i < v->labels; i++) {
                uint32_t l = list[i].label;
                if (list[i].support == 0 || kn_vlabel_sensitive(v, l) != (hidden == 1)) continue;
                w->label_of[w->labels] = l;
                w->rank_of[l] = w->labels++;
            }
            if (!hidden) w->known = w->labels;
        }
    }
    kn_free(list);
    return st;
}

/* ---- The labels of each record ---- */

/* Sorts and removes duplicates; returns how many remain. */
static uint32_t sort_ranks(uint32_t *list, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t gap = count / 2; gap > 0; gap /= 2) /* Shell: records are short */
        for (uint32_t i = gap; i < count; i++) {
            uint32_t x = list[i], j = i;
            for (; j >= gap && list[j - gap] > x; j -= gap) list[j] = list[j - gap];
            list[j] = x;
        }
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || list[i] != list[kept - 1]) list[kept++] = list[i];
    return kept;
}

static uint32_t find_rank(const uint32_t *list, uint32_t count, uint32_t rank)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static kn_status list_labels(kn_records_verifier *v, kn_vview *w, kn_error *err)
{
    const kn_vforest *f = &v->release;
    uint64_t          nodes = 0, used = 0, at = 0;
    for (int64_t x = 0; x < w->count; x++) nodes += f->start[w->record[x] + 1] - f->start[w->record[x]];
    w->start = kn_arena_array(&w->room, (size_t)w->count + 1, sizeof *w->start);
    w->ranks = kn_arena_array(&w->room, nodes + 1, sizeof *w->ranks);
    w->node_start = kn_arena_array(&w->room, (size_t)w->count + 1, sizeof *w->node_start);
    w->position = kn_arena_array(&w->room, nodes + 1, sizeof *w->position);
    if (w->room.failed) return kn_vrecords_no_memory(v, err);
    for (int64_t x = 0; x < w->count; x++) {
        uint64_t  from = f->start[w->record[x]];
        uint32_t  size = (uint32_t)(f->start[w->record[x] + 1] - from);
        uint32_t *ranks = w->ranks + used;
        w->start[x] = used;
        w->node_start[x] = at;
        for (uint32_t i = 0; i < size; i++) ranks[i] = w->rank_of[f->label[from + i]];
        uint32_t count = sort_ranks(ranks, size);
        for (uint32_t i = 0; i < size; i++)
            w->position[at + i] = find_rank(ranks, count, w->rank_of[f->label[from + i]]);
        used += count;
        at += size;
        if (count > w->most_labels) w->most_labels = count;
        if (size > w->most_nodes) w->most_nodes = size;
    }
    w->start[w->count] = used;
    w->node_start[w->count] = at;
    return KN_OK;
}

kn_status kn_vview_make(kn_vview *out, kn_records_verifier *v, kn_error *err)
{
    *out = (kn_vview){.room = {.ctx = v->ctx}};
    KN_TRY(merge_equal(v, out, err));
    KN_TRY(rank_labels(v, out, err));
    return list_labels(v, out, err);
}

int kn_vrecords_class_of_model(const kn_records_verifier *v, const kn_model *m)
{
    for (int c = 0; m->kind >= KN_MODEL_DISTINCT && m->kind <= KN_MODEL_RECURSIVE && m->attribute && c < v->class_count;
         c++)
        if (strcmp(v->classes[c].spec->name, m->attribute) == 0) return c;
    return -1;
}
