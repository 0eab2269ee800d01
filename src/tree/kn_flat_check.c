/* kn_flat_check.c: ValueCheck (Algorithm 1) of all cuts that are one value finer than a cut of flat records.
 *
 * Interface: kn_flat.h. When v was specialized, only combinations with a child of v are new: a finer cut that failed
 * before fails again, and one that passed has to be looked at only where a child of v meets a child of its own
 * specialized value. The children of v are looked at as values to specialize for the first time. Cost for each cut that
 * is followed: the records that have v, times their values, for m <= 2; beyond that their combinations.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_flat.h"

#define WHAT "checking combinations of values"

static bool is_rare(const kn_flat_check *f, int64_t support)
{
    return support > 0 && support < f->k;
}

static bool is_leaf(const kn_vocabulary *v, uint32_t value)
{
    return v->end[value] == value + 1;
}

/* ---- Rows ---- */

/* The rows that have a value at or below `value`, in f->list. */
static void rows_with(kn_flat_check *f, uint32_t value)
{
    const kn_synopsis *s = f->synopsis;
    f->list_count = 0;
    if (++f->clock == 0) {
        memset(f->stamp, 0, s->rows.count * sizeof *f->stamp);
        f->clock = 1;
    }
    for (uint32_t i = s->side_start[value]; i < s->side_start[s->vocabulary->end[value]]; i++)
        for (kn_list_reader r = kn_synopsis_list(s, s->side[i]); kn_list_next(&r);) {
            if (f->stamp[r.row] == f->clock) continue;
            f->stamp[r.row] = f->clock;
            f->list[f->list_count++] = r.row;
        }
}

static bool open_row(kn_flat_check *f, kn_flat_rows *x, uint32_t row, uint64_t *at)
{
    const kn_synopsis *s = f->synopsis;
    size_t             n = (size_t)x->count + 2;
    *at = x->count ? x->start[x->count] : 0;
    if (!KN_GROW(f->ctx, &x->source, &x->source_capacity, n) || !KN_GROW(f->ctx, &x->start, &x->start_capacity, n) ||
        !KN_GROW(f->ctx, &x->weight, &x->weight_capacity, n) || !KN_GROW(f->ctx, &x->entries, &x->entry_capacity, n) ||
        !KN_GROW(f->ctx, &x->items, &x->item_capacity, *at + s->value_start[row + 1] - s->value_start[row] + 1))
        return false;
    x->source[x->count] = row;
    x->start[x->count] = *at;
    x->weight[x->count] = s->rows.weight[row];
    x->entries[x->count] = (kn_row_entry){x->count, 0};
    return true;
}

static void close_row(kn_flat_rows *x, uint64_t at)
{
    x->start[++x->count] = at;
}

/* A row under the cut with `a` specialized too: what `first`, a child of `a`, and `second`, one of `b`, may meet.
 * Combinations with an earlier child are looked at with that one. */
static bool take_row(kn_flat_check *f, kn_flat_rows *x, const kn_flat_cut *cut, uint32_t row, uint32_t first,
                     uint32_t second)
{
    const kn_synopsis *s = f->synopsis;
    const uint32_t    *parent = s->vocabulary->parent;
    uint32_t           a = parent[first], b = parent[second], end = s->vocabulary->end[a], last = UINT32_MAX;
    uint64_t           at;
    if (!open_row(f, x, row, &at)) return false;
    for (uint64_t i = s->value_start[row]; i < s->value_start[row + 1]; i++) {
        uint32_t leaf = kn_synopsis_value(s, i), value = leaf > a && leaf < end ? cut->below[leaf] : cut->shows[leaf];
        if (value == last) continue; /* images ascend as values do */
        last = value;
        if ((value <= first && parent[value] == a) || (value <= second && parent[value] == b)) continue;
        x->items[at++] = value;
    }
    close_row(x, at);
    return true;
}

/* With what is chosen and up to `more` further values of the rows: is a combination rare? */
static kn_found extend(kn_flat_check *f, const kn_flat_rows *x, int more)
{
    kn_badness rare = {.k = f->k};
    f->combinations.weight = x->weight;
    f->combinations.chosen_count = 0;
    return kn_combinations_extend(&f->combinations, 0, (kn_row_items){x->start, x->items}, x->entries, x->count, more,
                                  &rare);
}

static kn_status found_to_status(const kn_flat_check *f, kn_found found, kn_error *err)
{
    if (found == KN_FOUND_NO_MEMORY) return kn_fail_memory(err, f->ctx, WHAT);
    return f->combinations.cancelled ? kn_fail_cancelled(err) : KN_OK;
}

/* ---- A value to specialize for the first time ---- */

static bool has_rare_child(const kn_flat_check *f, uint32_t value)
{
    const uint32_t *end = f->synopsis->vocabulary->end;
    for (uint32_t child = value + 1; child < end[value]; child = end[child])
        if (is_rare(f, f->support[child])) return true;
    return false;
}

static kn_status look_at_new(kn_flat_check *f, kn_flat_cut *cut, uint32_t value, kn_error *err)
{
    const uint32_t *end = f->synopsis->vocabulary->end;
    cut->fails[value] = has_rare_child(f, value);
    for (uint32_t child = value + 1; f->m > 1 && child < end[value] && !cut->fails[value]; child = end[child]) {
        rows_with(f, child);
        f->one.count = 0;
        for (uint32_t i = 0; i < f->list_count; i++)
            if (!take_row(f, &f->one, cut, f->list[i], child, child)) return kn_fail_memory(err, f->ctx, WHAT);
        kn_found found = extend(f, &f->one, f->m - 1);
        KN_TRY(found_to_status(f, found, err));
        cut->fails[value] = found == KN_FOUND_BAD;
    }
    return KN_OK;
}

/* ---- Those that passed before ---- */

/* Rows with a child of `specialized`, and of each what is below a value that may still be specialized. */
static bool take_belows(kn_flat_check *f, kn_flat_rows *x, const kn_flat_cut *cut, uint32_t specialized)
{
    const kn_synopsis *s = f->synopsis;
    const uint32_t    *end = s->vocabulary->end;
    x->count = 0;
    for (uint32_t i = 0; i < f->list_count; i++) {
        uint32_t row = f->list[i], last = UINT32_MAX;
        uint64_t at;
        if (!open_row(f, x, row, &at)) return false;
        for (uint64_t j = s->value_start[row]; j < s->value_start[row + 1]; j++) {
            uint32_t leaf = kn_synopsis_value(s, j), above = cut->shows[leaf], below = cut->below[leaf];
            if (above == leaf || below == last || cut->fails[above]) continue;
            if (leaf > specialized && leaf < end[specialized]) continue;
            x->items[at++] = last = below;
        }
        close_row(x, at);
    }
    return true;
}

/* Those below one value that fewer than k of the rows have: it fails. */
static kn_status look_at_pairs(kn_flat_check *f, kn_flat_cut *cut, kn_error *err)
{
    kn_combinations      *y = &f->combinations;
    kn_combination_level *l = &y->levels[0];
    const kn_flat_rows   *x = &f->one;
    size_t                n = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        size_t here = (size_t)(x->start[i + 1] - x->start[i]);
        if (!KN_GROW(f->ctx, &l->touched, &l->touched_capacity, n + here + 1)) {
            for (size_t j = 0; j < n; j++) y->count[l->touched[j]] = 0;
            return kn_fail_memory(err, f->ctx, WHAT);
        }
        for (uint64_t j = x->start[i]; j < x->start[i + 1]; j++) {
            if (y->count[x->items[j]] == 0) l->touched[n++] = x->items[j];
            y->count[x->items[j]] += x->weight[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t value = l->touched[i];
        if (y->count[value] < f->k) cut->fails[f->synopsis->vocabulary->parent[value]] = true;
        y->count[value] = 0;
    }
    y->counted += (int64_t)n;
    return KN_OK;
}

/* Combinations of `child`, one value below another, and further ones. */
static kn_status look_beyond_pairs(kn_flat_check *f, kn_flat_cut *cut, uint32_t child, kn_error *err)
{
    const uint32_t *parent = f->synopsis->vocabulary->parent;
    kn_row_items    items = {f->one.start, f->one.items};
    f->combinations.weight = f->one.weight;
    size_t  level = (size_t)f->m; /* those before are for `extend` */
    int64_t n = kn_combinations_split(&f->combinations, level, items, f->one.entries, f->one.count);
    if (n < 0) return kn_fail_memory(err, f->ctx, WHAT);
    uint32_t from = 0;
    for (int64_t i = 0; i < n; i++) {
        const kn_combination_level *l = &f->combinations.levels[level];
        uint32_t                    value = l->touched[i], to = l->touched[n + i];
        f->two.count = 0;
        for (uint32_t e = from; e < to && !cut->fails[parent[value]]; e++)
            if (!take_row(f, &f->two, cut, f->one.source[l->entries[e].row], value, child))
                return kn_fail_memory(err, f->ctx, WHAT);
        from = to;
        if (cut->fails[parent[value]]) continue;
        kn_found found = extend(f, &f->two, f->m - 2);
        KN_TRY(found_to_status(f, found, err));
        cut->fails[parent[value]] = found == KN_FOUND_BAD;
    }
    return KN_OK;
}

static kn_status look_at_old(kn_flat_check *f, kn_flat_cut *cut, uint32_t specialized, kn_error *err)
{
    const uint32_t *end = f->synopsis->vocabulary->end;
    for (uint32_t child = specialized + 1; child < end[specialized]; child = end[child]) {
        rows_with(f, child);
        if (!take_belows(f, &f->one, cut, specialized)) return kn_fail_memory(err, f->ctx, WHAT);
        KN_TRY(look_at_pairs(f, cut, err));
        if (f->m > 2) KN_TRY(look_beyond_pairs(f, cut, child, err));
        if (kn_cancelled(f->ctx)) return kn_fail_cancelled(err);
    }
    return KN_OK;
}

kn_status kn_flat_check_next(kn_flat_check *f, kn_flat_cut *cut, uint32_t specialized, kn_error *err)
{
    const kn_vocabulary *v = f->synopsis->vocabulary;
    if (specialized == UINT32_MAX) return look_at_new(f, cut, 0, err);
    if (f->m > 1) KN_TRY(look_at_old(f, cut, specialized, err));
    for (uint32_t child = specialized + 1; child < v->end[specialized]; child = v->end[child])
        if (!is_leaf(v, child)) KN_TRY(look_at_new(f, cut, child, err));
    return KN_OK;
}

/* ---- Beginning and end ---- */

/* Each record counts once for each value at or above one of its own. */
static void count_supports(kn_flat_check *f, uint32_t *seen)
{
    const kn_synopsis *s = f->synopsis;
    for (uint32_t row = 0; row < s->rows.count; row++)
        for (uint64_t i = s->value_start[row]; i < s->value_start[row + 1]; i++)
            for (uint32_t u = kn_synopsis_value(s, i); u != UINT32_MAX && seen[u] != row + 1;
                 u = s->vocabulary->parent[u]) {
                seen[u] = row + 1;
                f->support[u] += s->rows.weight[row];
            }
}

kn_status kn_flat_check_make(kn_flat_check *f, const kn_tree_problem *p, const kn_synopsis *s, kn_error *err)
{
    size_t    values = s->vocabulary->nodes, rows = s->rows.count;
    uint32_t *seen = NULL;
    *f = (kn_flat_check){.ctx = s->ctx, .synopsis = s, .k = p->k, .m = p->m};
    f->combinations.ctx = s->ctx;
    bool ok = KN_ALLOC_ZERO(s->ctx, f->support, values) && KN_ALLOC_ZERO(s->ctx, f->stamp, rows + 1) &&
              KN_ALLOC(s->ctx, f->list, rows + 1) && KN_ALLOC_ZERO(s->ctx, seen, values) &&
              kn_combinations_prepare(&f->combinations, values, (size_t)p->m + 2);
    if (ok) count_supports(f, seen);
    kn_free(seen);
    return ok ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
}

void kn_flat_check_free(kn_flat_check *f)
{
    kn_flat_rows *rows[] = {&f->one, &f->two};
    for (int i = 0; i < 2; i++)
        KN_FREE(rows[i]->source, rows[i]->start, rows[i]->items, rows[i]->weight, rows[i]->entries);
    KN_FREE(f->support, f->stamp, f->list);
    kn_combinations_free(&f->combinations);
}
