/* kn_synopsis.c: the synopsis tree of all records.
 *
 * Interface: kn_synopsis.h. Equal records are one row with a weight. Cost: O(nodes of all records). Limits: 2^32 - 3 nodes
 * of the trie, as many distinct records. Paper: section III-A.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_synopsis.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_node_table.h"
#include "kn_sort.h"

#define WHAT "the synopsis of tree records"
#define ROOT KN_SYNOPSIS_ROOT

void kn_synopsis_free(kn_synopsis *s)
{
    if (!s) return;
    KN_FREE(s->parent, s->value, s->end);
    kn_rows_free(&s->rows);
    KN_FREE(s->value_start, s->values, s->narrow_values, s->list_start, s->lists, s->side_start, s->side, s->absence,
            s->set_of, s->sets, s->class_pairs, s);
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

/* Superimposes the records; the rows' members are the nodes in order of creation. */
static kn_status superimpose(kn_synopsis *s, const kn_records *r, kn_node_table *table, kn_error *err)
{
    KN_TRY(kn_rows_clear(&s->rows, s->ctx, true, err));
    for (int64_t t = 0; t < r->count; t++) {
        uint64_t  from = r->start[t], size = r->start[t + 1] - from;
        uint32_t *members = kn_rows_room(&s->rows, size);
        if (!members) return kn_fail_memory(err, s->ctx, WHAT);
        for (uint64_t i = 0; i < size; i++) {
            uint32_t up = r->parent[from + i];
            members[i] = kn_node_table_child(table, up == KN_RECORDS_ROOT ? ROOT : members[up], r->value[from + i]);
            if (members[i] == KN_NODE_TABLE_FULL) return kn_fail_memory(err, s->ctx, WHAT);
        }
        if (kn_rows_close(&s->rows, size, 1) == KN_ROWS_FULL) return kn_fail_memory(err, s->ctx, WHAT);
    }
    return KN_OK;
}

/* The first nodes of a row, as many as fit into a word: rows with equal ones are neighbours. */
static uint64_t first_nodes(const kn_synopsis *s, uint32_t row, int width)
{
    const uint32_t *members = s->rows.members + s->rows.start[row];
    uint64_t        size = s->rows.start[row + 1] - s->rows.start[row], key = 0;
    for (int i = 0; i < 64 / width; i++) key = key << width | ((uint64_t)i < size ? members[i] + 1 : 0);
    return key;
}

static bool permute_rows(kn_synopsis *s, const kn_sort_record *order)
{
    kn_rows  *rows = &s->rows;
    uint64_t *start = kn_alloc_array(s->ctx, (size_t)rows->count + 1, sizeof *start);
    uint32_t *members = kn_alloc_array(s->ctx, (size_t)rows->start[rows->count] + 1, sizeof *members);
    int64_t  *weight = kn_alloc_array(s->ctx, (size_t)rows->count + 1, sizeof *weight);
    if (!start || !members || !weight) {
        KN_FREE(start, members, weight);
        return false;
    }
    start[0] = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint64_t from = rows->start[order[i].id], size = rows->start[order[i].id + 1] - from;
        memcpy(members + start[i], rows->members + from, size * sizeof *members);
        weight[i] = rows->weight[order[i].id];
        start[i + 1] = start[i] + size;
    }
    KN_FREE(rows->start, rows->members, rows->weight);
    rows->start = start;
    rows->members = members;
    rows->weight = weight;
    rows->start_capacity = rows->weight_capacity = (size_t)rows->count + 1;
    rows->member_capacity = (size_t)start[rows->count] + 1;
    return true;
}

/* Rows that begin alike become neighbours: whatever goes through them front to back meets the same few nodes again and again,
 * and the lists of rows take smaller steps. */
static kn_status sort_rows(kn_synopsis *s, kn_error *err)
{
    int width = 1;
    while (width < 32 && s->nodes >= (uint32_t)1 << width) width++;
    kn_sort_record *order = kn_alloc_array(s->ctx, (size_t)s->rows.count + 1, sizeof *order);
    if (!order) return kn_fail_memory(err, s->ctx, WHAT);
    for (uint32_t i = 0; i < s->rows.count; i++) order[i] = (kn_sort_record){first_nodes(s, i, width), i};
    kn_status st = kn_sort_records(s->ctx, order, s->rows.count, NULL, NULL, err);
    if (st == KN_OK && !permute_rows(s, order)) st = kn_fail_memory(err, s->ctx, WHAT);
    kn_free(order);
    return st;
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

static uint64_t largest_row(const kn_synopsis *s)
{
    uint64_t most = 0;
    for (uint32_t row = 0; row < s->rows.count; row++)
        if (s->rows.start[row + 1] - s->rows.start[row] > most) most = s->rows.start[row + 1] - s->rows.start[row];
    return most;
}

static kn_status list_values(kn_synopsis *s, kn_error *err)
{
    if (s->rows.start[s->rows.count] >= UINT32_MAX) return KN_OK; /* kn_cut_state_fits excludes this case */
    bool      narrow = s->vocabulary->nodes <= UINT16_MAX;
    uint32_t *room = kn_alloc_array(s->ctx, (size_t)largest_row(s) + 1, sizeof *room);
    s->value_start = kn_alloc_array_zero(s->ctx, (size_t)s->rows.count + 1, sizeof *s->value_start);
    if (room && s->value_start)
        for (uint32_t row = 0; row < s->rows.count; row++)
            s->value_start[row + 1] = s->value_start[row] + values_of_row(s, row, room);
    size_t total = s->value_start ? (size_t)s->value_start[s->rows.count] + 1 : 1;
    if (narrow)
        s->narrow_values = kn_alloc_array_zero(s->ctx, total + KN_VALUES_AHEAD, sizeof *s->narrow_values);
    else
        s->values = kn_alloc_array(s->ctx, total, sizeof *s->values);
    if (!room || !s->value_start || !(narrow ? (void *)s->narrow_values : (void *)s->values)) {
        kn_free(room);
        return kn_fail_memory(err, s->ctx, WHAT);
    }
    for (uint32_t row = 0; row < s->rows.count; row++) {
        uint32_t size = values_of_row(s, row, room);
        for (uint32_t i = 0; narrow && i < size; i++) s->narrow_values[s->value_start[row] + i] = (uint16_t)room[i];
        if (!narrow && size) memcpy(s->values + s->value_start[row], room, size * sizeof *room);
    }
    kn_free(room);
    return KN_OK;
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

static kn_status make(kn_synopsis *s, const kn_records *records, kn_node_table *table, kn_error *err)
{
    kn_context *ctx = s->ctx;
    size_t      classes = (size_t)s->vocabulary->class_count + 1;
    if (!KN_ALLOC_ZERO(ctx, s->class_pairs, classes * classes)) return kn_fail_memory(err, ctx, WHAT);
    KN_TRY(kn_node_table_make(table, ctx, 0, err));
    KN_TRY(superimpose(s, records, table, err));
    kn_rows_finish(&s->rows);
    s->nodes = table->count;
    s->parent = table->parent;
    s->value = table->value;
    table->parent = table->value = NULL;
    uint32_t *order = kn_alloc_array(ctx, (size_t)s->nodes + 1, sizeof *order);
    if (!order) return kn_fail_memory(err, ctx, WHAT);
    kn_status st = preorder(s, order, err);
    for (uint32_t row = 0; st == KN_OK && row < s->rows.count; row++) {
        uint64_t from = s->rows.start[row], to = s->rows.start[row + 1];
        for (uint64_t i = from; i < to; i++) s->rows.members[i] = order[s->rows.members[i]];
        kn_rows_sort(s->rows.members + from, to - from);
    }
    kn_free(order);
    if (st != KN_OK) return st;
    KN_TRY(sort_rows(s, err));
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
