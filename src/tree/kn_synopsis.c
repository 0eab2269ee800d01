/* kn_synopsis.c: the synopsis tree of all records.
 *
 * Interface: kn_synopsis.h. Equal records are one row with a weight (kn_superimpose.h). Cost: O(nodes of all records), of which
 * one thread does O(nodes of the trie). Limits: 2^32 - 3 nodes of the trie, as many distinct records. Paper: section III-A.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_synopsis.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_pages.h"
#include "kn_parallel.h"
#include "kn_superimpose.h"

#define WHAT "the synopsis of tree records"
#define ROOT KN_SYNOPSIS_ROOT

enum { LISTED = 1 << 11 /* rows */ };

void kn_synopsis_free(kn_synopsis *s)
{
    if (!s) return;
    kn_rows *rows = &s->rows;
    KN_PAGES_FREE(s->ctx, rows->members, rows->start, rows->weight, s->value_start, s->narrow_values, s->values,
                  s->sets);
    KN_FREE(s->parent, s->value, s->end, rows->slots, s->list_start, s->lists, s->side_start, s->side, s->absence,
            s->set_of, s->class_pairs, s);
}

/* Numbers the nodes anew in preorder, children by value; `order` gets the new number of each. */
static kn_status preorder(kn_synopsis *s, uint32_t *order, kn_error *err)
{
    uint32_t  n = s->nodes, values = s->vocabulary->nodes, at = 0, depth = 0;
    uint32_t *by_value = kn_alloc_array(s->ctx, (size_t)n * 4 + values + 3, sizeof *by_value);
    if (!by_value) return kn_fail_memory(err, s->ctx, WHAT);
    uint32_t *next = by_value + n, *child = next + n, *stack = child + n + 1, *counts = stack + n + 1;
    memset(counts, 0, (values + 1) * sizeof *counts);
    for (uint32_t i = 0; i < n; i++) counts[s->value[i] + 1]++;
    for (uint32_t v = 0; v < values; v++) counts[v + 1] += counts[v];
    for (uint32_t i = 0; i < n; i++) by_value[counts[s->value[i]]++] = i;
    for (uint32_t i = 0; i <= n; i++) child[i] = ROOT; /* child[n]: of the root */
    for (uint32_t i = n; i-- > 0;) { /* the largest value first, so that lists begin with the smallest */
        uint32_t node = by_value[i], parent = s->parent[node] == ROOT ? n : s->parent[node];
        next[node] = child[parent];
        child[parent] = node;
    }
    stack[depth++] = child[n];
    while (depth > 0) {
        uint32_t node = stack[--depth];
        if (node == ROOT) continue;
        order[node] = at++;
        stack[depth++] = next[node];
        stack[depth++] = child[node];
    }
    uint32_t *parent = by_value, *value = next; /* done with: reused */
    for (uint32_t i = 0; i < n; i++) stack[order[i]] = i;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t old = stack[i];
        parent[i] = s->parent[old] == ROOT ? ROOT : order[s->parent[old]];
        value[i] = s->value[old];
    }
    memcpy(s->parent, parent, n * sizeof *parent);
    memcpy(s->value, value, n * sizeof *value);
    kn_free(by_value);
    return KN_OK;
}

static kn_status find_ends(kn_synopsis *s, kn_error *err)
{
    if (!KN_ALLOC(s->ctx, s->end, (size_t)s->nodes + 1)) return kn_fail_memory(err, s->ctx, WHAT);
    for (uint32_t i = 0; i < s->nodes; i++) s->end[i] = i + 1;
    for (uint32_t i = s->nodes; i-- > 0;)
        if (s->parent[i] != ROOT && s->end[s->parent[i]] < s->end[i]) s->end[s->parent[i]] = s->end[i];
    return KN_OK;
}

static void note_class_pairs(kn_synopsis *s)
{
    const kn_vocabulary *v = s->vocabulary;
    size_t               n = (size_t)v->class_count + 1;
    for (uint32_t i = 0; i < s->nodes; i++) {
        uint16_t below = v->cls[s->value[i]];
        uint16_t above = s->parent[i] == ROOT ? 0 : v->cls[s->value[s->parent[i]]];
        if (below == KN_VOCABULARY_NO_CLASS || above == KN_VOCABULARY_NO_CLASS) continue;
        s->class_pairs[(s->parent[i] == ROOT ? 0 : above + 1u) * n + below + 1u] = true;
    }
}

/* The values of a row, ascending, each once; how many. */
static uint32_t values_of_row(const kn_synopsis *s, uint32_t row, uint32_t *values)
{
    uint64_t from = s->rows.start[row], size = s->rows.start[row + 1] - from;
    uint32_t kept = 0;
    for (uint64_t i = 0; i < size; i++) values[i] = s->value[s->rows.members[from + i]];
    kn_rows_sort(values, size);
    for (uint64_t i = 0; i < size; i++)
        if (kept == 0 || values[kept - 1] != values[i]) values[kept++] = values[i];
    return kept;
}

/* Of some rows: how many values each has, or which they are. */
typedef struct listing {
    kn_synopsis *synopsis;
    bool         narrow, fill;
} listing;

static void write_values(kn_synopsis *s, uint32_t row, const uint32_t *values, uint32_t size, bool narrow)
{
    for (uint32_t i = 0; narrow && i < size; i++) s->narrow_values[s->value_start[row] + i] = (uint16_t)values[i];
    if (!narrow && size) memcpy(s->values + s->value_start[row], values, size * sizeof *values);
}

static kn_status list_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const listing *x = arg;
    kn_synopsis   *s = x->synopsis;
    uint64_t       most = 0;
    (void)worker;
    for (int64_t row = begin; row < end; row++)
        if (s->rows.start[row + 1] - s->rows.start[row] > most) most = s->rows.start[row + 1] - s->rows.start[row];
    uint32_t *room = kn_alloc_array(s->ctx, (size_t)most + 1, sizeof *room);
    if (!room) return kn_fail_memory(err, s->ctx, WHAT);
    for (uint32_t row = (uint32_t)begin; row < (uint32_t)end; row++) {
        uint32_t size = values_of_row(s, row, room);
        if (x->fill)
            write_values(s, row, room, size, x->narrow);
        else
            s->value_start[row + 1] = size;
    }
    kn_free(room);
    return KN_OK;
}

static kn_status list_values(kn_synopsis *s, kn_error *err)
{
    if (s->rows.start[s->rows.count] >= UINT32_MAX) return KN_OK; /* kn_cut_state_fits excludes this case */
    listing x = {s, s->vocabulary->nodes <= UINT16_MAX, false};
    if (!KN_ALLOC(s->ctx, s->value_start, (size_t)s->rows.count + 1)) return kn_fail_memory(err, s->ctx, WHAT);
    KN_TRY(kn_parallel_for(s->ctx, s->rows.count, LISTED, list_range, &x, err));
    s->value_start[0] = 0;
    for (uint32_t row = 0; row < s->rows.count; row++) s->value_start[row + 1] += s->value_start[row];
    size_t total = (size_t)s->value_start[s->rows.count] + 1;
    bool   ok = x.narrow ? KN_ALLOC(s->ctx, s->narrow_values, total + KN_VALUES_AHEAD) != NULL
                         : KN_ALLOC(s->ctx, s->values, total) != NULL;
    if (!ok) return kn_fail_memory(err, s->ctx, WHAT);
    if (x.narrow) memset(s->narrow_values + total - 1, 0, (KN_VALUES_AHEAD + 1) * sizeof *s->narrow_values);
    x.fill = true;
    return kn_parallel_for(s->ctx, s->rows.count, LISTED, list_range, &x, err);
}

static uint32_t bytes_of(uint32_t step)
{
    uint32_t n = 1;
    for (; step > 127; step >>= 7) n++;
    return n;
}

/* Id lists: first how long each becomes, then what it is. */
static kn_status compress_lists(kn_synopsis *s, uint32_t *last, kn_error *err)
{
    const kn_rows *rows = &s->rows;
    /* Sizes stand two ahead, so that filling moves each to its beginning. */
    for (uint32_t row = 0; row < rows->count; row++)
        for (uint64_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
            uint32_t node = rows->members[i];
            s->list_start[node + 2] += bytes_of(row - last[node]);
            last[node] = row;
        }
    for (uint32_t i = 1; i < s->nodes + 1; i++) s->list_start[i + 1] += s->list_start[i];
    s->lists = kn_alloc(s->ctx, (size_t)s->list_start[s->nodes + 1] + 1);
    if (!s->lists) return kn_fail_memory(err, s->ctx, WHAT);
    memset(last, 0, s->nodes * sizeof *last);
    for (uint32_t row = 0; row < rows->count; row++)
        for (uint64_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
            uint32_t node = rows->members[i], step = row - last[node];
            for (; step > 127; step >>= 7) s->lists[s->list_start[node + 1]++] = (uint8_t)(step | 128);
            s->lists[s->list_start[node + 1]++] = (uint8_t)step;
            last[node] = row;
        }
    return KN_OK;
}

static bool is_flat(const kn_synopsis *s)
{
    for (uint32_t i = 0; i < s->nodes; i++)
        if (s->parent[i] != ROOT) return false;
    return true;
}

static kn_status list_rows(kn_synopsis *s, kn_error *err)
{
    uint32_t *last = kn_alloc_array_zero(s->ctx, (size_t)s->nodes + 1, sizeof *last);
    s->list_start = kn_alloc_array_zero(s->ctx, (size_t)s->nodes + 2, sizeof *s->list_start);
    kn_status st = last && s->list_start ? compress_lists(s, last, err) : kn_fail_memory(err, s->ctx, WHAT);
    kn_free(last);
    return st;
}

/* Sidelinks. */
static kn_status link_nodes(kn_synopsis *s, kn_error *err)
{
    uint32_t values = s->vocabulary->nodes;
    s->side_start = kn_alloc_array_zero(s->ctx, (size_t)values + 2, sizeof *s->side_start);
    s->side = kn_alloc_array(s->ctx, (size_t)s->nodes + 1, sizeof *s->side);
    if (!s->side_start || !s->side) return kn_fail_memory(err, s->ctx, WHAT);
    for (uint32_t i = 0; i < s->nodes; i++) s->side_start[s->value[i] + 2]++;
    for (uint32_t v = 1; v < values; v++) s->side_start[v + 1] += s->side_start[v];
    for (uint32_t i = 0; i < s->nodes; i++) s->side[s->side_start[s->value[i] + 1]++] = i;
    return KN_OK;
}

/* How many occurring values must be known to be absent so that nothing at or below a value can occur. */
static kn_status weigh_absences(kn_synopsis *s, kn_error *err)
{
    const kn_vocabulary *v = s->vocabulary;
    bool                 some = false, all = true;
    for (uint32_t i = 0; i < s->nodes; i++) some = some || v->negative[v->cls[s->value[i]]];
    if (!some) return KN_OK;
    if (!KN_ALLOC_ZERO(s->ctx, s->absence, v->nodes)) return kn_fail_memory(err, s->ctx, WHAT);
    for (uint32_t u = v->nodes; u-- > 1;) {
        bool occurs = s->side_start[u + 1] > s->side_start[u];
        all = all && (!occurs || v->negative[v->cls[u]] || v->sensitive[v->cls[u]]); /* which it never stands for */
        if (!v->negative[v->cls[u]]) continue;
        s->absence[u] += occurs;
        s->absence[v->parent[u]] += s->absence[u];
    }
    if (!all) s->absence[0] = 0; /* "*" is shown for others, too */
    return KN_OK;
}

/* The trie, its nodes in preorder, and the rows. */
static kn_status number_nodes(kn_synopsis *s, const kn_records *records, kn_node_table *table, uint32_t *members,
                              kn_error *err)
{
    KN_TRY(kn_node_table_make(table, s->ctx, 0, err));
    KN_TRY(kn_superimpose(members, table, records, err));
    s->nodes = table->count;
    s->parent = table->parent;
    s->value = table->value;
    table->parent = table->value = NULL;
    uint32_t *order = kn_alloc_array(s->ctx, (size_t)s->nodes + 1, sizeof *order);
    kn_status st = order ? preorder(s, order, err) : kn_fail_memory(err, s->ctx, WHAT);
    if (st == KN_OK) st = kn_superimpose_rows(&s->rows, s->ctx, members, records, order, s->nodes, err);
    kn_free(order);
    return st;
}

static kn_status make_rows(kn_synopsis *s, const kn_records *records, kn_node_table *table, kn_error *err)
{
    uint32_t *members = kn_alloc_array(s->ctx, (size_t)records->nodes + 1, sizeof *members);
    if (!members) return kn_fail_memory(err, s->ctx, WHAT);
    kn_status st = number_nodes(s, records, table, members, err);
    KN_PAGES_FREE(s->ctx, members);
    return st;
}

static kn_status make(kn_synopsis *s, const kn_records *records, kn_node_table *table, kn_error *err)
{
    kn_context *ctx = s->ctx;
    size_t      classes = (size_t)s->vocabulary->class_count + 1;
    if (!KN_ALLOC_ZERO(ctx, s->class_pairs, classes * classes)) return kn_fail_memory(err, ctx, WHAT);
    KN_TRY(make_rows(s, records, table, err));
    note_class_pairs(s);
    KN_TRY(find_ends(s, err));
    KN_TRY(list_values(s, err));
    if (is_flat(s)) KN_TRY(list_rows(s, err));
    KN_TRY(link_nodes(s, err));
    return weigh_absences(s, err);
}

kn_status kn_synopsis_make(kn_synopsis **out, kn_context *ctx, const kn_records *records, kn_error *err)
{
    *out = NULL;
    kn_synopsis *s = kn_alloc_zero(ctx, sizeof *s);
    if (!s) return kn_fail_memory(err, ctx, WHAT);
    s->ctx = ctx;
    s->vocabulary = records->vocabulary;
    s->records = records->count;
    kn_node_table table = {0};
    kn_status     st =
        records->count >= UINT32_MAX ? kn_fail(err, KN_INPUT, "too many tree records") : make(s, records, &table, err);
    kn_node_table_free(&table);
    if (st != KN_OK) {
        kn_synopsis_free(s);
        return st;
    }
    *out = s;
    return KN_OK;
}
