/* kn_candidate_values.c: ValueCheck (Algorithm 1) of a cut whose parent passed: only combinations with a new value
 * remain, and if the same specialization passed with the parent's own parent, only those that have a value of both.
 *
 * Interface: kn_candidate.h. Cost: one step per row and combination of that kind.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_candidate.h"
#include "kn_context.h"
#include "kn_error.h"

#define WHAT "checking combinations of values"

enum { MOST_PAIRS = 4096, BATCHES = 4 };

/* The rows that matter, with their values: the new ones first, all else ascending. */
typedef struct value_rows {
    uint32_t  count;
    uint64_t *start;
    uint32_t *items;
    int64_t  *weight;
    size_t    start_capacity, item_capacity, weight_capacity;
} value_rows;

static bool is_recent(const kn_candidate *c, uint32_t value)
{
    return value > c->since && value < c->synopsis->vocabulary->end[c->since];
}

/* Rows with a new value from `first` to before `last`; with `pairs` a recent one too. */
static bool take_row(const kn_candidate *c, value_rows *x, uint32_t row, uint32_t first, uint32_t last_one, bool pairs)
{
    const kn_synopsis *s = c->synopsis;
    uint32_t           source = kn_row_source(c, row), last = KN_NONE;
    uint64_t           from = s->value_start[source], end = s->value_start[source + 1], at = x->start[x->count];
    bool               recent = false, meant = false;
    size_t             need = (size_t)(at + end - from) + 1, rows = (size_t)x->count + 2;
    if (!KN_GROW(c->ctx, &x->items, &x->item_capacity, need) || !KN_GROW(c->ctx, &x->start, &x->start_capacity, rows) ||
        !KN_GROW(c->ctx, &x->weight, &x->weight_capacity, rows))
        return false;
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = from; i < end; i++) {
            uint32_t value =
                c->cut_of[kn_synopsis_value(s, i)]; /* images ascend as values do: equal ones stand together */
            if (value == last || kn_is_new(c, value) != (pass == 0)) continue;
            last = value;
            recent = recent || (pairs && is_recent(c, value));
            meant = meant || (value >= first && value < last_one);
            x->items[at++] = value;
        }
    if (!meant || (pairs && !recent)) return true;
    x->weight[x->count] = kn_row_weight(c, row);
    x->start[++x->count] = at;
    return true;
}

static bool take_rows(const kn_candidate *c, value_rows *x, uint32_t first, uint32_t last, bool pairs)
{
    x->count = 0;
    if (!KN_GROW(c->ctx, &x->start, &x->start_capacity, 1)) return false;
    x->start[0] = 0;
    for (uint32_t row = 0; row < c->row_count; row++)
        if (!take_row(c, x, row, first, last, pairs)) return false;
    return true;
}

/* ---- All combinations with a new value ---- */

/* The rows of each value from `first` to before `last`, from the place behind it on: those of value v end at ends[v - first]. */
static kn_status rows_of_new(const kn_candidate *c, const value_rows *x, uint32_t first, uint32_t last, uint64_t *ends,
                             kn_row_entry **out, kn_error *err)
{
    size_t   news = last - first;
    uint64_t total = 0;
    memset(ends, 0, news * sizeof *ends);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t row = 0; row < x->count; row++) {
            uint64_t from = x->start[row];
            for (uint64_t i = from; i < x->start[row + 1] && kn_is_new(c, x->items[i]); i++) {
                if (x->items[i] < first || x->items[i] >= last) continue;
                uint64_t *end = &ends[x->items[i] - first];
                if (pass) (*out)[*end] = (kn_row_entry){row, (uint32_t)(i - from) + 1};
                ++*end;
            }
        }
        if (pass) break;
        for (size_t i = 0; i < news; i++) {
            uint64_t here = ends[i];
            ends[i] = total;
            total += here;
        }
        *out = kn_alloc_array(c->ctx, (size_t)total + 1, sizeof **out);
        if (!*out) return kn_fail_memory(err, c->ctx, WHAT);
    }
    return KN_OK;
}

/* All of `entries` have what is chosen in c->combinations: is it rare, alone or with further values? */
static kn_found check_chosen(kn_candidate *c, const value_rows *x, const kn_row_entry *entries, size_t count)
{
    kn_combinations *y = &c->combinations;
    kn_badness       rare = {.k = c->problem->k};
    kn_row_items     items = {x->start, x->items};
    int64_t          support = 0;
    if (count == 0) return KN_FOUND_NONE;
    for (size_t i = 0; i < count; i++) support += x->weight[entries[i].row];
    y->counted++;
    if (support < rare.k) return KN_FOUND_BAD;
    return kn_combinations_extend(y, 0, items, entries, count, c->problem->m - y->chosen_count, &rare);
}

static kn_status check_range(kn_candidate *c, value_rows *x, uint32_t first, uint32_t last, kn_found *found,
                             kn_error *err)
{
    kn_row_entry *entries = NULL;
    uint64_t     *ends = kn_alloc_array(c->ctx, last - first + 1, sizeof *ends), from = 0;
    kn_status     st = ends && take_rows(c, x, first, last, false) ? KN_OK : kn_fail_memory(err, c->ctx, WHAT);
    c->combinations.weight = x->weight;
    if (st == KN_OK) st = rows_of_new(c, x, first, last, ends, &entries, err);
    for (uint32_t v = first; st == KN_OK && *found == KN_FOUND_NONE && v < last; v++) {
        c->combinations.chosen[0] = v;
        c->combinations.chosen_count = 1;
        *found = check_chosen(c, x, entries + from, (size_t)(ends[v - first] - from));
        from = ends[v - first];
    }
    KN_FREE(entries, ends);
    return st;
}

/* A few new values at a time, so that few rows are listed at once. */
static kn_status check_new(kn_candidate *c, value_rows *x, kn_found *found, kn_error *err)
{
    uint32_t at_once = (c->last_new - c->first_new + BATCHES - 1) / BATCHES;
    for (uint32_t v = c->first_new; *found == KN_FOUND_NONE && v < c->last_new; v += at_once) {
        uint32_t last = c->last_new - v < at_once ? c->last_new : v + at_once;
        KN_TRY(check_range(c, x, v, last, found, err));
    }
    return KN_OK;
}

/* ---- Those that also have a value that is new since the parent's parent ---- */

/* Numbers the children of a value. */
static uint32_t number_children(kn_candidate *c, uint32_t value)
{
    const uint32_t *end = c->synopsis->vocabulary->end;
    uint32_t        n = 0;
    for (uint32_t child = value + 1; child < end[value]; child = end[child]) c->local[child] = n++;
    return n;
}

/* The rows of each pair: those of pair i end at ends[i]. */
static bool rows_of_pairs(const kn_candidate *c, const value_rows *x, uint64_t *ends, size_t pairs, uint32_t recents,
                          kn_row_entry **out)
{
    memset(ends, 0, pairs * sizeof *ends);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t row = 0; row < x->count; row++) {
            const uint32_t *values = x->items + x->start[row];
            uint64_t        count = x->start[row + 1] - x->start[row], from = 0;
            while (from < count && kn_is_new(c, values[from])) from++;
            for (uint64_t j = from; j < count && values[j] < c->synopsis->vocabulary->end[c->since]; j++)
                for (uint64_t i = 0; is_recent(c, values[j]) && i < from; i++) {
                    uint64_t *end = &ends[c->local[values[i]] * recents + c->local[values[j]]];
                    if (pass) (*out)[*end] = (kn_row_entry){row, 0};
                    ++*end;
                }
        }
        if (pass) break;
        uint64_t total = 0;
        for (size_t i = 0; i < pairs; i++) {
            uint64_t here = ends[i];
            ends[i] = total;
            total += here;
        }
        *out = kn_alloc_array(c->ctx, (size_t)total + 1, sizeof **out);
        if (!*out) return false;
    }
    return true;
}

static kn_status check_pairs(kn_candidate *c, value_rows *x, kn_found *found, kn_error *err)
{
    const uint32_t *end = c->synopsis->vocabulary->end;
    uint32_t        news = number_children(c, c->specialized), recents = number_children(c, c->since);
    kn_row_entry   *entries = NULL;
    size_t          pairs = (size_t)news * recents;
    uint64_t       *ends = kn_alloc_array(c->ctx, pairs + 1, sizeof *ends), from = 0, at = 0;
    bool            ok = ends && take_rows(c, x, c->first_new, c->last_new, true);
    c->combinations.weight = x->weight;
    kn_status st =
        ok && rows_of_pairs(c, x, ends, pairs, recents, &entries) ? KN_OK : kn_fail_memory(err, c->ctx, WHAT);
    for (uint32_t a = c->specialized + 1; st == KN_OK && a < end[c->specialized]; a = end[a])
        for (uint32_t b = c->since + 1; *found == KN_FOUND_NONE && b < end[c->since]; b = end[b], at++) {
            uint32_t pair[2] = {a, b}; /* excluded: they are chosen already */
            memcpy(c->combinations.chosen, pair, sizeof pair);
            c->combinations.chosen_count = 2;
            c->combinations.excluded = pair;
            c->combinations.excluded_count = 2;
            *found = check_chosen(c, x, entries + from, (size_t)(ends[at] - from));
            c->combinations.excluded_count = 0;
            from = ends[at];
        }
    KN_FREE(entries, ends);
    return st;
}

static uint32_t children_of(const kn_candidate *c, uint32_t value)
{
    const uint32_t *end = c->synopsis->vocabulary->end;
    uint32_t        n = 0;
    for (uint32_t child = value + 1; child < end[value]; child = end[child]) n++;
    return n;
}

/* Do only combinations with a recent value have to be looked at? */
static bool only_pairs(const kn_candidate *c)
{
    return c->since != KN_NONE && (uint64_t)children_of(c, c->specialized) * children_of(c, c->since) <= MOST_PAIRS;
}

kn_status kn_candidate_value_check(kn_candidate *c, bool *ok, kn_error *err)
{
    kn_combinations *y = &c->combinations;
    bool             pairs = only_pairs(c);
    value_rows       x = {0};
    kn_found         found = KN_FOUND_NONE;
    kn_status        st = KN_OK;
    *ok = true;
    if (pairs && c->problem->m < 2) return KN_OK;
    if (!kn_combinations_prepare(y, c->synopsis->vocabulary->nodes, (size_t)c->problem->m + 1))
        st = kn_fail_memory(err, c->ctx, WHAT);
    y->cancelled = false;
    if (st == KN_OK) st = pairs ? check_pairs(c, &x, &found, err) : check_new(c, &x, &found, err);
    KN_FREE(x.start, x.items, x.weight);
    *ok = found == KN_FOUND_NONE;
    if (st == KN_OK && found == KN_FOUND_NO_MEMORY) return kn_fail_memory(err, c->ctx, WHAT);
    return st == KN_OK && y->cancelled ? kn_fail_cancelled(err) : st;
}
