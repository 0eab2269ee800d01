/* kn_superimpose.c: superimposing tree records, and finding equal ones, by all threads.
 *
 * Interface: kn_superimpose.h. The trie soon has most nodes that it will ever have. So all threads look up the nodes of as many
 * records as it was made from, without changing it; then one adds those that were not there; and so on. A node is
 * looked for in vain about 1.5 times in all. Records are sorted by their first nodes; of those that begin alike the equal ones are found by
 * a hash and compared in full. The result is the same whoever does it: the trie is numbered anew in preorder.
 *
 * Cost: O(nodes of all records), of which one thread does what adds a node to the trie. Memory: beside the result, 4 bytes per node and 36 per
 * record, while it is made.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_superimpose.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_pages.h"
#include "kn_parallel.h"
#include "kn_sort.h"

#define WHAT "the synopsis of tree records"
#define NONE UINT32_MAX

enum { FIRST = 1 << 10 /* records */, LOOKED_UP = 1 << 9, RENUMBERED = 1 << 11, MERGED = 1 << 11, FEW = 8 };

/* ---- The trie ---- */

typedef struct placing {
    const kn_records    *records;
    const kn_node_table *table;
    uint32_t            *members;
    bool                *open; /* per record: the trie lacks some of its nodes: NONE */
    int64_t              first;
} placing;

static kn_status look_up_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const placing    *x = arg;
    const kn_records *r = x->records;
    (void)worker;
    (void)err;
    for (int64_t t = x->first + begin; t < x->first + end; t++) {
        uint64_t  from = r->start[t], size = r->start[t + 1] - from;
        uint32_t *members = x->members + from;
        bool      open = false;
        for (uint64_t i = 0; i < size; i++) {
            uint32_t up = r->parent[from + i];
            bool     below = up == KN_RECORDS_ROOT || members[up] != NONE;
            members[i] =
                below ? kn_node_table_find(x->table, up == KN_RECORDS_ROOT ? NONE : members[up], r->value[from + i])
                      : NONE;
            open |= members[i] == NONE;
        }
        x->open[t] = open;
    }
    return KN_OK;
}

/* Adds the nodes of a record that the trie lacks. */
static bool add_record(const kn_records *r, int64_t t, uint32_t *all, kn_node_table *table)
{
    uint64_t  from = r->start[t], size = r->start[t + 1] - from;
    uint32_t *members = all + from;
    for (uint64_t i = 0; i < size; i++) {
        uint32_t up = r->parent[from + i];
        if (members[i] != NONE) continue;
        members[i] = kn_node_table_child(table, up == KN_RECORDS_ROOT ? NONE : members[up], r->value[from + i]);
        if (members[i] == KN_NODE_TABLE_FULL) return false;
    }
    return true;
}

kn_status kn_superimpose(uint32_t *members, kn_node_table *table, const kn_records *r, kn_error *err)
{
    kn_context *ctx = table->ctx;
    placing     x = {r, table, members, kn_alloc_array(ctx, (size_t)r->count + 1, sizeof *x.open), 0};
    kn_status   st = x.open ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    while (st == KN_OK && x.first < r->count) {
        int64_t most = x.first ? x.first : FIRST, n = r->count - x.first < most ? r->count - x.first : most;
        st = kn_parallel_for(ctx, n, LOOKED_UP, look_up_range, &x, err);
        for (int64_t t = x.first; st == KN_OK && t < x.first + n; t++)
            if (x.open[t] && !add_record(r, t, members, table)) st = kn_fail_memory(err, ctx, WHAT);
        x.first += n;
    }
    kn_free(x.open);
    return st;
}

/* ---- Distinct records ---- */

typedef struct merging {
    kn_context       *ctx;
    const kn_records *records;
    uint32_t         *members;
    const uint32_t   *number;
    int               width; /* bits of a node's number */
    kn_sort_record   *order; /* by their first nodes    */
    size_t            count;
    uint32_t         *weight; /* per place in the order: how many are equal to it; 0: to one before it */
    uint64_t (*sums)[2];      /* per range of MERGED: distinct records, and their nodes; then of all before it */
    kn_rows *rows;
} merging;

/* Of the record at a place in the order. */
static const uint32_t *nodes_at(const merging *x, size_t at, uint64_t *size)
{
    const uint64_t *start = x->records->start + x->order[at].id;
    *size = start[1] - start[0];
    return x->members + start[0];
}

/* Final numbers, and for each record its first nodes, as many as fit into a word. */
static kn_status renumber_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const merging *x = arg;
    (void)worker;
    (void)err;
    for (int64_t t = begin; t < end; t++) {
        uint32_t *members = x->members + x->records->start[t];
        uint64_t  size = x->records->start[t + 1] - x->records->start[t], key = 0;
        for (uint64_t i = 0; i < size; i++) members[i] = x->number[members[i]];
        kn_rows_sort(members, size);
        for (int i = 0; i < 64 / x->width; i++)
            key = key << x->width | ((uint64_t)i < size ? members[i] + (uint64_t)1 : 0);
        x->order[t] = (kn_sort_record){key, (uint64_t)t};
    }
    return KN_OK;
}

static bool equal(const merging *x, size_t a, size_t b)
{
    uint64_t        size, other;
    const uint32_t *mine = nodes_at(x, a, &size), *theirs = nodes_at(x, b, &other);
    return size == other && memcmp(mine, theirs, size * sizeof *mine) == 0;
}

/* Those from `from` to before `to` begin alike: weighs them. */
static bool merge_alike(merging *x, size_t from, size_t to)
{
    size_t slots = 1;
    while (slots < (to - from) * 2) slots *= 2;
    uint32_t *room = to - from > FEW ? kn_alloc_array_zero(x->ctx, slots, sizeof *room) : NULL;
    if (to - from > FEW && !room) return false;
    for (size_t at = from; at < to; at++) {
        uint64_t        size;
        const uint32_t *nodes = nodes_at(x, at, &size);
        size_t          same = from, slot = room ? (size_t)kn_rows_hash(nodes, size) & (slots - 1) : 0;
        x->weight[at] = 0;
        while (!room && same < at && !(x->weight[same] && equal(x, same, at))) same++;
        if (room) {
            while (room[slot] && !equal(x, from + room[slot] - 1, at)) slot = (slot + 1) & (slots - 1);
            if (!room[slot]) room[slot] = (uint32_t)(at - from) + 1;
            same = from + room[slot] - 1;
        }
        x->weight[same]++;
    }
    kn_free(room);
    return true;
}

/* The first place from `at` on that begins otherwise than the one before it: records that begin alike belong to the range in which the
 * first of them is. */
static size_t boundary(const merging *x, size_t at)
{
    size_t low = at, high = x->count;
    while (at > 0 && low < high) {
        size_t middle = low == at ? at : low + (high - low) / 2; /* it mostly is the first */
        if (x->order[middle].key == x->order[at - 1].key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static kn_status merge_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    merging  *x = arg;
    uint64_t *sums = x->sums[begin / MERGED];
    (void)worker;
    sums[0] = sums[1] = 0;
    for (size_t at = boundary(x, (size_t)begin), last = boundary(x, (size_t)end), next; at < last; at = next) {
        for (next = at + 1; next < last && x->order[next].key == x->order[at].key;) next++;
        if (!merge_alike(x, at, next)) return kn_fail_memory(err, x->ctx, WHAT);
        for (size_t i = at; i < next; i++) {
            uint64_t size;
            if (!x->weight[i]) continue;
            (void)nodes_at(x, i, &size);
            sums[0]++;
            sums[1] += size;
        }
    }
    return KN_OK;
}

static kn_status write_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const merging *x = arg;
    kn_rows       *rows = x->rows;
    uint64_t       row = x->sums[begin / MERGED][0], to = x->sums[begin / MERGED][1];
    (void)worker;
    (void)err;
    for (size_t at = boundary(x, (size_t)begin), last = boundary(x, (size_t)end); at < last; at++) {
        uint64_t        size;
        const uint32_t *nodes = nodes_at(x, at, &size);
        if (!x->weight[at]) continue;
        if (size) memcpy(rows->members + to, nodes, size * sizeof *nodes);
        rows->start[row] = to;
        rows->weight[row++] = x->weight[at];
        to += size;
    }
    return KN_OK;
}

static kn_status write_rows(merging *x, kn_error *err)
{
    kn_rows *rows = x->rows;
    uint64_t sums[2] = {0, 0};
    for (size_t i = 0; i < x->count; i += MERGED)
        for (int j = 0; j < 2; j++) {
            uint64_t here = x->sums[i / MERGED][j];
            x->sums[i / MERGED][j] = sums[j];
            sums[j] += here;
        }
    rows->ctx = x->ctx;
    rows->count = (uint32_t)sums[0];
    rows->start_capacity = rows->weight_capacity = (size_t)sums[0] + 1;
    rows->member_capacity = (size_t)sums[1] + 1;
    if (!KN_ALLOC(x->ctx, rows->start, rows->start_capacity) ||
        !KN_ALLOC(x->ctx, rows->weight, rows->weight_capacity) ||
        !KN_ALLOC(x->ctx, rows->members, rows->member_capacity))
        return kn_fail_memory(err, x->ctx, WHAT);
    rows->start[sums[0]] = sums[1];
    return kn_parallel_for(x->ctx, (int64_t)x->count, MERGED, write_range, x, err);
}

static kn_status make_rows(merging *x, kn_error *err)
{
    int64_t n = (int64_t)x->count;
    if (!KN_ALLOC(x->ctx, x->order, x->count + 1)) return kn_fail_memory(err, x->ctx, WHAT);
    KN_TRY(kn_parallel_for(x->ctx, n, RENUMBERED, renumber_range, x, err));
    KN_TRY(kn_sort_records(x->ctx, x->order, x->count, NULL, NULL, err));
    if (!KN_ALLOC(x->ctx, x->weight, x->count + 1) || !KN_ALLOC(x->ctx, x->sums, x->count / MERGED + 1))
        return kn_fail_memory(err, x->ctx, WHAT);
    KN_TRY(kn_parallel_for(x->ctx, n, MERGED, merge_range, x, err));
    return write_rows(x, err);
}

kn_status kn_superimpose_rows(kn_rows *rows, kn_context *ctx, uint32_t *members, const kn_records *records,
                              const uint32_t *number, uint32_t nodes, kn_error *err)
{
    merging x = {.ctx = ctx, .records = records, .members = members, .number = number, .width = 1, .rows = rows};
    while (x.width < 32 && nodes >= (uint32_t)1 << x.width) x.width++;
    x.count = (size_t)records->count;
    kn_status st = make_rows(&x, err);
    KN_PAGES_FREE(ctx, x.order, x.weight, x.sums);
    return st;
}
