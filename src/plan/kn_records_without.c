/* kn_records_without.c: tree records without some values, nodes and records.
 *
 * Interface: kn_records_plan.h. Cost: the records once.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_records_plan.h"

#define ROOT KN_RECORDS_ROOT
#define WHAT "leaving out values of tree records"

typedef struct leaving {
    const kn_records *from;
    kn_records       *to;
    kn_records_lack   lack;
    kn_record_node   *nodes;
    uint32_t         *place; /* per node: where it went; of one that is left out: its parent's */
    void             *scratch;
} leaving;

static void leave_one(leaving *l, int64_t record, int64_t at)
{
    const kn_records *r = l->from;
    const uint32_t   *parent = l->lack.parent ? l->lack.parent : r->parent;
    uint64_t          first = r->start[record], to = l->to->start[at];
    uint32_t          size = (uint32_t)(r->start[record + 1] - first), count = 0;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t above = parent[first + i] == ROOT ? ROOT : l->place[parent[first + i]];
        l->place[i] = above;
        if (l->lack.given_up && l->lack.given_up[r->value[first + i]]) continue;
        if (l->lack.dropped && l->lack.dropped[first + i]) continue;
        l->nodes[count] = (kn_record_node){above, r->value[first + i]};
        l->place[i] = count++;
    }
    count = kn_record_canonical(l->nodes, count, l->scratch);
    for (uint32_t i = 0; i < count; i++) {
        l->to->parent[to + i] = l->nodes[i].parent;
        l->to->value[to + i] = l->nodes[i].value;
    }
    l->to->start[at + 1] = to + count;
}

static kn_status leave(leaving *l, kn_context *ctx, int64_t *original_of, kn_error *err)
{
    const kn_records *r = l->from;
    const bool       *left_out = l->lack.left_out;
    size_t            widest = 1;
    for (int64_t i = 0; i < r->count; i++)
        if (r->start[i + 1] - r->start[i] > widest) widest = (size_t)(r->start[i + 1] - r->start[i]);
    l->nodes = kn_alloc_array(ctx, widest, sizeof *l->nodes);
    l->place = kn_alloc_array(ctx, widest, sizeof *l->place);
    l->scratch = kn_alloc_array(ctx, widest, KN_RECORD_SCRATCH);
    if (!l->nodes || !l->place || !l->scratch) return kn_fail_memory(err, ctx, WHAT);
    int64_t stays = 0, last = r->count;
    for (int64_t i = 0; i < r->count; i++) {
        if (left_out && left_out[i]) continue;
        leave_one(l, i, stays);
        original_of[stays++] = i;
    }
    for (int64_t i = r->count; left_out && i-- > 0;)
        if (left_out[i]) original_of[--last] = i;
    l->to->count = stays;
    l->to->nodes = l->to->start[stays];
    return KN_OK;
}

kn_status kn_records_without(kn_records **out, int64_t **original_of, kn_context *ctx, const kn_records *records,
                             kn_records_lack lack, kn_error *err)
{
    leaving l = {.from = records, .lack = lack};
    *out = NULL;
    *original_of = kn_alloc_array(ctx, (size_t)records->count + 1, sizeof **original_of);
    kn_status st = *original_of
                       ? kn_records_create(&l.to, ctx, records->vocabulary, false, records->count, records->nodes, err)
                       : kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) st = leave(&l, ctx, *original_of, err);
    KN_FREE(l.nodes, l.place, l.scratch);
    if (st == KN_OK) {
        *out = l.to;
        return KN_OK;
    }
    kn_records_free(l.to);
    kn_free(*original_of);
    *original_of = NULL;
    return st;
}
