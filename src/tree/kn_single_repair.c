/* kn_single_repair.c: which single nodes must go for a finer value (kn_single.h).
 *
 * Cost: per round the records that have a touched value, and the sets of up to m values, one of them touched, that they have. Memory: the values of
 * these records, and one byte per node of the original.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_single.h"

#define WHAT "looking for nodes to give up"
#define ROOT KN_RECORDS_ROOT
#define NONE UINT32_MAX

static const kn_vocabulary *vocabulary_of(const kn_repair *s)
{
    return s->problem->records->vocabulary;
}

static bool is_sensitive(const kn_vocabulary *v, uint32_t value)
{
    return v->cls[value] != KN_VOCABULARY_NO_CLASS && v->sensitive[v->cls[value]];
}

/* ---- The plan ---- */

/* The values of the cut that a record shows, each once: `seen` per value the last record, counted from 1. */
static void visit_shown(kn_repair *s, int64_t t, uint32_t *seen, bool fill)
{
    const kn_records *r = s->problem->records;
    for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++) {
        uint32_t shown = s->plan->image[r->value[i]];
        if (s->lost[i] || seen[shown] == (uint32_t)t + 1) continue;
        seen[shown] = (uint32_t)t + 1;
        if (fill)
            s->with[s->with_start[shown]++] = (uint32_t)t;
        else
            s->with_start[shown + 1]++;
    }
}

static kn_status list_records(kn_repair *s, kn_error *err)
{
    const kn_records *r = s->problem->records;
    size_t            values = vocabulary_of(s)->nodes;
    uint32_t         *seen = kn_alloc_array_zero(s->ctx, values + 1, sizeof *seen);
    if (!seen) return kn_fail_memory(err, s->ctx, WHAT);
    memset(s->with_start, 0, (values + 2) * sizeof *s->with_start);
    for (int64_t t = 0; t < r->count; t++) visit_shown(s, t, seen, false);
    for (size_t u = 0; u < values; u++) s->with_start[u + 1] += s->with_start[u];
    bool ok = KN_GROW(s->ctx, &s->with, &s->with_capacity, (size_t)s->with_start[values] + 1);
    memset(seen, 0, values * sizeof *seen);
    for (int64_t t = 0; ok && t < r->count; t++) visit_shown(s, t, seen, true);
    for (size_t u = values; ok && u > 0; u--) s->with_start[u] = s->with_start[u - 1];
    s->with_start[0] = 0;
    kn_free(seen);
    return ok ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
}

kn_status kn_repair_begin(kn_repair *s, const kn_records_plan *plan, kn_error *err)
{
    const kn_records *r = s->problem->records;
    s->plan = plan;
    for (int64_t t = 0; t < r->count; t++)
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++)
            s->lost[i] = (plan->left_out && plan->left_out[t]) || (plan->given_up && plan->given_up[r->value[i]]) ||
                         (plan->dropped && plan->dropped[i]);
    memcpy(s->image, plan->image, vocabulary_of(s)->nodes * sizeof *s->image);
    return list_records(s, err);
}

/* The next child of a value that is not sensitive, after `last` (NONE: the first); NONE: there are no more. */
static uint32_t next_child(const kn_vocabulary *v, uint32_t value, uint32_t last)
{
    uint32_t c = last == NONE ? value + 1 : v->end[last];
    while (c < v->end[value] && is_sensitive(v, c)) c = v->end[c];
    return c < v->end[value] ? c : NONE;
}

bool kn_repair_asks(const kn_repair *s, uint32_t value)
{
    const kn_vocabulary *v = vocabulary_of(s);
    return s->plan->image[value] == value && !is_sensitive(v, value) && next_child(v, value, NONE) != NONE &&
           s->with_start[value + 1] > s->with_start[value];
}

uint32_t kn_repair_cut(const kn_repair *s, uint32_t value, uint32_t *out)
{
    const kn_vocabulary *v = vocabulary_of(s);
    uint32_t             count = 0;
    for (uint32_t u = 0; u < v->nodes; u++) {
        bool child = u > 0 && v->parent[u] == value && !is_sensitive(v, u);
        if (child || (s->plan->image[u] == u && u != value)) out[count++] = u;
    }
    return count;
}

/* ---- Rows ---- */

/* Other records will have this value: all that have it are looked at. */
static kn_status touch(kn_repair *s, uint32_t value, kn_error *err)
{
    if (s->touched[value]) return KN_OK;
    s->touched[value] = true;
    s->touched_list[s->touched_count++] = value;
    size_t more = (size_t)(s->with_start[value + 1] - s->with_start[value]);
    if (!KN_GROW(s->ctx, &s->rows, &s->row_capacity, s->row_count + more + 1)) return kn_fail_memory(err, s->ctx, WHAT);
    for (size_t i = 0; i < more; i++) {
        uint32_t record = s->with[s->with_start[value] + i];
        if (s->seen[record] == s->trial) continue;
        s->seen[record] = s->trial;
        s->rows[s->row_count++] = record;
    }
    return KN_OK;
}

/* What a record shows, known values alone, touched ones first. */
static bool list_row(kn_repair *s, size_t row)
{
    const kn_records    *r = s->problem->records;
    const kn_vocabulary *v = vocabulary_of(s);
    uint32_t             record = s->rows[row];
    uint64_t             at = s->start[row], from = at, size = r->start[record + 1] - r->start[record];
    if (!KN_GROW(s->ctx, &s->items, &s->item_capacity, (size_t)(at + size) + 1)) return false;
    for (uint64_t i = r->start[record]; i < r->start[record + 1]; i++) {
        uint32_t shown = s->image[r->value[i]];
        if (!s->lost[i] && !is_sensitive(v, shown)) s->items[at++] = s->touched[shown] ? shown : v->nodes + shown;
    }
    size = at - from;
    at = from;
    qsort(s->items + from, (size_t)size, sizeof *s->items, kn_compare_u32);
    for (uint64_t i = 0; i < size; i++)
        if (i == 0 || s->items[from + i] != s->items[at - 1]) s->items[at++] = s->items[from + i];
    s->start[row + 1] = at;
    return true;
}

static kn_status list_rows(kn_repair *s, kn_error *err)
{
    size_t n = s->row_count + 2;
    if (!KN_GROW(s->ctx, &s->start, &s->start_capacity, n) || !KN_GROW(s->ctx, &s->weight, &s->weight_capacity, n) ||
        !KN_GROW(s->ctx, &s->entries, &s->entry_capacity, n))
        return kn_fail_memory(err, s->ctx, WHAT);
    s->start[0] = 0;
    for (size_t i = 0; i < s->row_count; i++) {
        s->weight[i] = 1;
        s->entries[i] = (kn_row_entry){(uint32_t)i, 0};
        if (!list_row(s, i)) return kn_fail_memory(err, s->ctx, WHAT);
    }
    s->combinations.weight = s->weight;
    return KN_OK;
}

/* ---- A round ---- */

static uint64_t end_of_subtree(const kn_records *r, int64_t record, uint64_t node)
{
    uint64_t first = r->start[record], i = node + 1;
    while (i < r->start[record + 1] && r->parent[i] != ROOT && r->parent[i] >= node - first) i++;
    return i;
}

/* The place in `without` of a class below what a node's parent is. */
static size_t place_of(const kn_repair *s, int64_t record, uint32_t parent, uint16_t cls)
{
    const kn_records    *r = s->problem->records;
    const kn_vocabulary *v = vocabulary_of(s);
    size_t               row = parent == ROOT ? 0 : (size_t)v->cls[r->value[r->start[record] + parent]] + 1;
    return row * (size_t)v->class_count + cls;
}

/* Would its parent be left without any of its class, which few are? */
static bool is_last(const kn_repair *s, uint32_t record, uint64_t node)
{
    const kn_records    *r = s->problem->records;
    const kn_vocabulary *v = vocabulary_of(s);
    uint32_t             shown = s->image[r->value[node]];
    uint16_t             cls = v->cls[r->value[node]];
    if (s->without[place_of(s, record, r->parent[node], cls)] >= s->problem->k) return false;
    for (uint64_t i = r->start[record]; i < r->start[record + 1]; i++)
        if (!s->lost[i] && r->parent[i] == r->parent[node] && v->cls[r->value[i]] == cls &&
            s->image[r->value[i]] != shown)
            return false;
    return true;
}

/* Can the value not be given up in the record? `size`: of the set that is rare. */
static bool is_blocked(const kn_repair *s, uint32_t record, uint32_t value, int size)
{
    const kn_records *r = s->problem->records;
    for (uint64_t i = r->start[record]; i < r->start[record + 1]; i++) {
        if (s->lost[i] || s->image[r->value[i]] != value) continue;
        if (size > 1 && is_last(s, record, i)) return true;
        for (uint64_t j = i + 1; s->has_sensitive && j < end_of_subtree(r, record, i); j++)
            if (!s->lost[j] && is_sensitive(vocabulary_of(s), r->value[j])) return true;
    }
    return false;
}

static bool is_new(const kn_repair *s, uint32_t value)
{
    return value > 0 && vocabulary_of(s)->parent[value] == s->value;
}

static int64_t support_of(const kn_repair *s, uint32_t value)
{
    return s->touched[value] ? s->support[value] : (int64_t)(s->with_start[value + 1] - s->with_start[value]);
}

static bool goes_before(const kn_repair *s, uint32_t a, uint32_t b)
{
    int64_t x = support_of(s, a), y = support_of(s, b);
    if (is_new(s, a) != is_new(s, b)) return is_new(s, a);
    return x != y ? x < y : a < b;
}

/* One of the chosen values goes in each of these records. */
static kn_status give_up(kn_repair *s, const kn_row_entry *entries, size_t count, int size, kn_error *err)
{
    size_t set = s->set_count;
    if (!KN_GROW(s->ctx, &s->singles, &s->single_capacity, s->single_count + count + 1) ||
        !KN_GROW(s->ctx, &s->sets, &s->set_capacity, set + (size_t)size + 1))
        return kn_fail_memory(err, s->ctx, WHAT);
    for (int i = 0; i < size; i++) s->sets[s->set_count++] = s->chosen[i];
    for (size_t e = 0; e < count && !s->stuck; e++) {
        uint32_t record = s->rows[entries[e].row], best = NONE;
        for (int i = 0; i < size; i++) {
            uint32_t value = s->chosen[i];
            if (!is_blocked(s, record, value, size) && (best == NONE || goes_before(s, value, best))) best = value;
        }
        if (best == NONE)
            s->stuck = true;
        else
            s->singles[s->single_count++] = (kn_single){record, best, support_of(s, best), set};
    }
    return KN_OK;
}

/* All sets of `size` values, the first `level` of which are chosen: those that few of the entries' records have. */
static kn_status visit_sets(kn_repair *s, int level, const kn_row_entry *entries, size_t count, int size, kn_error *err)
{
    uint32_t              nodes = vocabulary_of(s)->nodes, from = 0;
    kn_combination_level *l = &s->combinations.levels[level];
    int64_t               n =
        kn_combinations_split(&s->combinations, (size_t)level, (kn_row_items){s->start, s->items}, entries, count);
    if (n < 0) return kn_fail_memory(err, s->ctx, WHAT);
    for (int64_t i = 0; i < n && !s->stuck; i++) {
        uint32_t item = l->touched[i], to = l->touched[n + i], here = from;
        from = to;
        if (level == 0 && item >= nodes) continue;
        if (level == 0) s->support[item] = to - here;
        s->chosen[level] = item < nodes ? item : item - nodes;
        if (level + 1 < size) {
            KN_TRY(visit_sets(s, level + 1, l->entries + here, to - here, size, err));
            if (level == 0 && kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
        } else if ((int64_t)(to - here) < s->problem->k) {
            KN_TRY(give_up(s, l->entries + here, to - here, size, err));
        }
    }
    return KN_OK;
}

/* Drops what the round gives up. */
static kn_status drop(kn_repair *s, kn_single single, kn_error *err)
{
    const kn_records *r = s->problem->records;
    for (uint64_t i = r->start[single.record]; i < r->start[single.record + 1]; i++) {
        if (s->lost[i] || s->image[r->value[i]] != single.value) continue;
        uint64_t end = end_of_subtree(r, single.record, i);
        if (!KN_GROW(s->ctx, &s->dropped, &s->dropped_capacity, s->dropped_count + (size_t)(end - i) + 1))
            return kn_fail_memory(err, s->ctx, WHAT);
        for (uint64_t j = i; j < end; j++) {
            if (s->lost[j]) continue;
            s->lost[j] = true;
            s->dropped[s->dropped_count++] = j;
            KN_TRY(touch(s, s->image[r->value[j]], err));
        }
    }
    return KN_OK;
}

static int by_record(const void *a, const void *b)
{
    const kn_single *x = a, *y = b;
    if (x->record != y->record) return x->record < y->record ? -1 : 1;
    if (x->support != y->support) return x->support < y->support ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* Does the record still have all of the set? */
static bool is_whole(const kn_repair *s, const kn_single *single, int size)
{
    const kn_records *r = s->problem->records;
    for (int v = 0; v < size; v++) {
        bool there = false;
        for (uint64_t i = r->start[single->record]; i < r->start[single->record + 1] && !there; i++)
            there = !s->lost[i] && s->image[r->value[i]] == s->sets[single->set + (size_t)v];
        if (!there) return false;
    }
    return true;
}

/* What the round gives up goes, for sets of this size. */
static kn_status end_round(kn_repair *s, int size, kn_error *err)
{
    size_t before = s->dropped_count;
    qsort(s->singles, s->single_count, sizeof *s->singles, by_record);
    for (size_t i = 0; i < s->single_count; i++) {
        const kn_single *one = &s->singles[i];
        if (is_whole(s, one, size) && !is_blocked(s, one->record, one->value, size)) KN_TRY(drop(s, *one, err));
    }
    s->stuck = s->dropped_count == before;
    return KN_OK;
}

static kn_status do_rounds(kn_repair *s, int64_t spare, bool *possible, kn_error *err)
{
    bool changed = true;
    s->stuck = false;
    *possible = true;
    while (changed && *possible) {
        int size = 0;
        s->single_count = s->set_count = 0;
        KN_TRY(list_rows(s, err));
        while (size < s->problem->m && s->single_count == 0 && !s->stuck)
            KN_TRY(visit_sets(s, 0, s->entries, s->row_count, ++size, err));
        changed = s->single_count > 0;
        if (changed && !s->stuck) KN_TRY(end_round(s, size, err));
        *possible = !s->stuck && (int64_t)s->dropped_count <= spare;
        if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
    }
    return KN_OK;
}

/* ---- A trial ---- */

/* What nodes below the value win, and the others lose. */
static void weigh(kn_repair *s)
{
    const kn_records    *r = s->problem->records;
    const kn_vocabulary *v = vocabulary_of(s);
    s->gain = 0;
    for (uint64_t w = s->with_start[s->value]; w < s->with_start[s->value + 1]; w++)
        for (uint64_t i = r->start[s->with[w]]; i < r->start[s->with[w] + 1]; i++) {
            uint32_t value = r->value[i];
            uint16_t cls = v->cls[value];
            if (s->lost[i] || s->plan->image[value] != s->value) continue;
            s->gain += kn_weight_of(s->problem->weights, cls) *
                       (kn_breadth_of(v, s->value, cls) - kn_breadth_of(v, s->image[value], cls));
        }
    for (size_t i = 0; i < s->dropped_count; i++) {
        uint32_t value = r->value[s->dropped[i]];
        uint16_t cls = v->cls[value];
        s->gain -= kn_weight_of(s->problem->weights, cls) * (1 - kn_breadth_of(v, s->plan->image[value], cls));
    }
}

kn_status kn_repair_try(kn_repair *s, uint32_t value, int64_t spare, bool *possible, kn_error *err)
{
    const kn_vocabulary *v = vocabulary_of(s);
    kn_status            st = KN_OK;
    s->value = value;
    s->touched_count = 0;
    s->row_count = s->dropped_count = 0;
    if (++s->trial == 0) {
        memset(s->seen, 0, (size_t)s->problem->records->count * sizeof *s->seen);
        s->trial = 1;
    }
    st = touch(s, value, err); /* for its records */
    for (uint32_t c = next_child(v, value, NONE); st == KN_OK && c != NONE; c = next_child(v, value, c)) {
        for (uint32_t u = c; u < v->end[c]; u++) s->image[u] = c;
        st = touch(s, c, err);
    }
    if (st == KN_OK) st = do_rounds(s, spare, possible, err);
    if (st == KN_OK) weigh(s);
    return st;
}

void kn_repair_undo(kn_repair *s)
{
    const kn_vocabulary *v = vocabulary_of(s);
    for (size_t i = 0; i < s->dropped_count; i++) s->lost[s->dropped[i]] = false;
    for (uint32_t i = 0; i < s->touched_count; i++) s->touched[s->touched_list[i]] = false;
    for (uint32_t c = next_child(v, s->value, NONE); c != NONE; c = next_child(v, s->value, c))
        for (uint32_t u = c; u < v->end[c]; u++) s->image[u] = s->value;
    s->dropped_count = s->touched_count = 0;
}

/* ---- Beginning and end ---- */

/* Which classes a node, or the root (ROOT), has below it: `seen` is per class. Counts those it lacks, for the first such node of the record. */
static void count_without(kn_repair *s, int64_t t, uint32_t node, int64_t *counted, uint64_t *seen, uint64_t stamp)
{
    const kn_records    *r = s->problem->records;
    const kn_vocabulary *v = vocabulary_of(s);
    uint64_t             first = r->start[t], i = node == ROOT ? first : first + node + 1;
    for (; i < r->start[t + 1] && (node == ROOT || (r->parent[i] != ROOT && r->parent[i] >= node)); i++)
        if (r->parent[i] == node) seen[v->cls[r->value[i]]] = stamp;
    for (int c = 0; c < v->class_count; c++) {
        size_t at = place_of(s, t, node, (uint16_t)c);
        if (seen[c] == stamp || counted[at] == t + 1) continue;
        counted[at] = t + 1;
        s->without[at]++;
    }
}

static kn_status count_all_without(kn_repair *s, kn_error *err)
{
    const kn_records *r = s->problem->records;
    size_t            classes = (size_t)vocabulary_of(s)->class_count, all = (classes + 1) * classes;
    uint64_t          stamp = 0;
    int64_t          *counted = kn_alloc_array_zero(s->ctx, all + 1, sizeof *counted);
    uint64_t         *seen = kn_alloc_array_zero(s->ctx, classes + 1, sizeof *seen);
    kn_status         st = counted && seen ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
    for (int64_t t = 0; st == KN_OK && t < r->count; t++) {
        count_without(s, t, ROOT, counted, seen, ++stamp);
        for (uint32_t i = 0; i < r->start[t + 1] - r->start[t] && classes > 1; i++)
            count_without(s, t, i, counted, seen, ++stamp);
    }
    KN_FREE(counted, seen);
    return st;
}

kn_status kn_repair_make(kn_repair *s, kn_context *ctx, const kn_tree_problem *problem, kn_error *err)
{
    const kn_records    *r = problem->records;
    const kn_vocabulary *v = r->vocabulary;
    size_t               values = (size_t)v->nodes + 2;
    *s = (kn_repair){.ctx = ctx, .problem = problem, .combinations = {.ctx = ctx}};
    for (int c = 0; c < v->class_count; c++) s->has_sensitive = s->has_sensitive || v->sensitive[c];
    if (KN_ALLOC_ZERO(ctx, s->lost, (size_t)r->nodes + 1) && KN_ALLOC_ZERO(ctx, s->with_start, values) &&
        KN_ALLOC(ctx, s->image, values) && KN_ALLOC_ZERO(ctx, s->touched, values) &&
        KN_ALLOC(ctx, s->touched_list, values) && KN_ALLOC_ZERO(ctx, s->seen, (size_t)r->count + 1) &&
        KN_ALLOC_ZERO(ctx, s->support, values) && KN_ALLOC(ctx, s->chosen, (size_t)problem->m + 1) &&
        KN_ALLOC_ZERO(ctx, s->without, ((size_t)v->class_count + 1) * (size_t)v->class_count + 1) &&
        kn_combinations_prepare(&s->combinations, 2 * values, (size_t)problem->m + 1))
        return count_all_without(s, err);
    return kn_fail_memory(err, ctx, WHAT);
}

void kn_repair_free(kn_repair *s)
{
    kn_combinations_free(&s->combinations);
    KN_FREE(s->without, s->lost, s->with_start, s->with, s->image, s->touched, s->touched_list, s->rows, s->seen,
            s->start, s->items, s->weight, s->entries, s->support, s->chosen, s->singles, s->sets, s->dropped);
}
