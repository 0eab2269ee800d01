/* kn_workload_eval_view.c: shares of cells (kn_workload_eval_view.h).
 *
 * What a cell covers, and so what is assumed to be equally likely:
 *
 *     a value                      itself
 *     a node of a hierarchy        its leaves, in the data or not
 *     a range of numbers, dates    the whole numbers, days or microseconds between its ends; decimals: its length
 *     a set                        its members
 *     anything                     the root's leaves; without a hierarchy the range from the smallest to the largest value
 *                                  of the original, or its values if they are texts
 *
 * The root and "anything" cover a missing cell too, as one more value, if the original's column has missing cells.
 *
 * Cost: per condition O(values + leaves + cells); a column whose numbers are summed O(leaves × levels) more.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_workload_eval_view.h"

#include <math.h>

#include "kn_alloc.h"
#include "kn_error.h"

static const char what[] = "answering a workload";

/* ---- Domains ---- */

static kn_string leaf_text(const kn_eval_domain *d, uint32_t leaf)
{
    return d->leaf_texts[leaf];
}

static kn_status make_leaves(kn_eval_domain *d, kn_arena *arena, kn_error *err)
{
    const kn_hierarchy  *h = d->column->hierarchy;
    const kn_dictionary *dict = &d->column->original->dict;
    if (!h) return KN_OK;
    d->leaves = h->leaves;
    d->leaf_keys = kn_arena_alloc(arena, ((size_t)h->leaves + 1) * sizeof *d->leaf_keys);
    d->leaf_known = kn_arena_alloc(arena, ((size_t)h->leaves + 1) * sizeof *d->leaf_known);
    d->leaf_texts = kn_arena_alloc(arena, ((size_t)h->leaves + 1) * sizeof *d->leaf_texts);
    if (!d->leaf_keys || !d->leaf_known || !d->leaf_texts) return kn_fail_memory(err, arena->ctx, what);
    bool ordered = kn_line_ordered(&d->line);
    for (uint32_t leaf = 0; leaf < h->leaves; leaf++) {
        d->leaf_texts[leaf] = kn_hierarchy_text(h, leaf);
        d->leaf_known[leaf] = ordered && kn_line_key(&d->line, d->leaf_texts[leaf], &d->leaf_keys[leaf]);
    }
    /* A leaf that is bound to a value is that value, however it is labelled. */
    for (uint32_t code = 0; code < dict->count; code++) {
        uint32_t leaf = h->leaf_of_code[code];
        d->leaf_texts[leaf] = kn_dictionary_text(dict, code);
        if (!ordered) continue;
        d->leaf_keys[leaf] = kn_line_key_of_code(&d->line, dict, code);
        d->leaf_known[leaf] = true;
    }
    return KN_OK;
}

static kn_status make_shown(kn_eval_domain *d, kn_arena *arena, kn_error *err)
{
    const kn_dictionary *dict = &d->column->shown->dict;
    d->released = dict->count + 1;
    if (!kn_line_ordered(&d->line)) return KN_OK;
    d->shown_keys = kn_arena_alloc(arena, ((size_t)dict->count + 1) * sizeof *d->shown_keys);
    d->shown_known = kn_arena_alloc(arena, ((size_t)dict->count + 1) * sizeof *d->shown_known);
    if (!d->shown_keys || !d->shown_known) return kn_fail_memory(err, arena->ctx, what);
    for (uint32_t code = 0; code < dict->count; code++)
        d->shown_known[code] = kn_line_key(&d->line, kn_dictionary_text(dict, code), &d->shown_keys[code]);
    return KN_OK;
}

kn_status kn_eval_domain_make(kn_eval_domain *out, kn_arena *arena, const kn_eval_input *input, int column,
                              kn_error *err)
{
    const kn_eval_column *c = &input->columns[column];
    const kn_dictionary  *dict = &c->original->dict;
    *out = (kn_eval_domain){.column = c, .members = input->members, .least = NAN, .most = NAN};
    KN_TRY(kn_value_line_make(&out->line, arena->ctx, c->original, c->format, input->decimal, input->timezone, err));
    if (kn_line_numbers(&out->line) && dict->count > 0) {
        out->least = kn_line_number(&out->line, kn_line_key_of_code(&out->line, dict, 0));
        out->most = kn_line_number(&out->line, kn_line_key_of_code(&out->line, dict, dict->count - 1));
    }
    out->released = c->cell_count;
    if (c->shown) return make_shown(out, arena, err);
    return make_leaves(out, arena, err);
}

/* ---- Conditions ---- */

void kn_eval_match(uint8_t *match, const kn_eval_domain *d, const kn_condition *condition)
{
    const kn_dictionary *dict = &d->column->original->dict;
    bool                 ordered = kn_line_ordered(&d->line);
    for (uint32_t code = 0; code < dict->count; code++)
        match[code] =
            !condition || (ordered ? kn_condition_holds_key(condition, kn_line_key_of_code(&d->line, dict, code))
                                   : kn_condition_holds_text(condition, kn_dictionary_text(dict, code)));
    match[dict->count] = !condition || condition->null;
}

static kn_view view_of(double hits, double all)
{
    uint32_t flags = (hits > 0 ? KN_VIEW_TOUCHES : 0) | (hits == all && all > 0 ? KN_VIEW_INSIDE : 0);
    return (kn_view){all > 0 ? hits / all : 0, flags};
}

static bool leaf_matches(const kn_eval_domain *d, const kn_condition *condition, uint32_t leaf)
{
    if (!condition) return true;
    if (!kn_line_ordered(&d->line)) return kn_condition_holds_text(condition, leaf_text(d, leaf));
    return d->leaf_known[leaf] && kn_condition_holds_key(condition, d->leaf_keys[leaf]);
}

void kn_eval_match_leaves(uint8_t *match, const kn_eval_domain *d, const kn_condition *condition)
{
    for (uint32_t leaf = 0; leaf < d->leaves; leaf++) match[leaf] = leaf_matches(d, condition, leaf);
}

static bool has_missing(const kn_eval_domain *d)
{
    return d->column->original->missing > 0;
}

/* `hits`: how many leaves before each match. */
static kn_view view_node(const kn_eval_domain *d, bool null, const uint32_t *hits, uint32_t node)
{
    const kn_hierarchy *h = d->column->hierarchy;
    uint32_t            first = h->first[node], last = h->last[node];
    if (first >= h->leaves) return view_of(null, 1); /* "missing" */
    bool with_missing = last > h->leaves;
    if (with_missing) last = h->leaves;
    double all = last - first, some = hits[last] - hits[first];
    return with_missing && has_missing(d) ? view_of(some + null, all + 1) : view_of(some, all);
}

static kn_view view_range(const kn_eval_domain *d, const kn_condition *condition, const uint8_t *match, uint32_t low,
                          uint32_t high)
{
    const kn_dictionary *dict = &d->column->original->dict;
    uint32_t             hits = 0;
    if (kn_line_ordered(&d->line)) {
        kn_overlap o = kn_condition_overlap(condition, &d->line, kn_line_key_of_code(&d->line, dict, low),
                                            kn_line_key_of_code(&d->line, dict, high));
        return (kn_view){o.share, (o.touches ? KN_VIEW_TOUCHES : 0) | (o.inside ? KN_VIEW_INSIDE : 0)};
    }
    for (uint32_t code = low; code <= high; code++) hits += match[code];
    return view_of(hits, (double)high - low + 1);
}

static kn_view view_anything(const kn_eval_domain *d, const kn_condition *condition, const uint8_t *match,
                             const uint32_t *hits)
{
    uint32_t values = d->column->original->dict.count;
    bool     null = match[values];
    if (d->column->hierarchy) return view_node(d, null, hits, d->column->hierarchy->nodes - 1);
    if (values == 0) return view_of(null, 1);
    kn_view view = view_range(d, condition, match, 0, values - 1);
    if (!has_missing(d)) return view;
    bool inside = (view.flags & KN_VIEW_INSIDE) && null, touches = (view.flags & KN_VIEW_TOUCHES) || null;
    return (kn_view){(view.share * values + null) / (values + 1.0),
                     (touches ? KN_VIEW_TOUCHES : 0) | (inside ? KN_VIEW_INSIDE : 0)};
}

static kn_view view_cell(const kn_eval_domain *d, const kn_condition *condition, const uint8_t *match,
                         const uint32_t *hits, const kn_cell *cell)
{
    uint32_t some = 0;
    switch (cell->kind) {
    case KN_CELL_VALUE: return view_of(match[cell->a], 1);
    case KN_CELL_NODE: return view_node(d, match[d->column->original->dict.count], hits, cell->a);
    case KN_CELL_RANGE: return view_range(d, condition, match, cell->a, cell->b);
    case KN_CELL_SET:
        for (uint32_t i = 0; i < cell->b; i++) some += match[d->members[cell->a + i]];
        return view_of(some, cell->b);
    default: return view_anything(d, condition, match, hits);
    }
}

static kn_view view_shown(const kn_eval_domain *d, const kn_condition *condition, uint32_t code)
{
    const kn_dictionary *dict = &d->column->shown->dict;
    if (code == dict->count) return view_of(condition->null, 1);
    if (!kn_line_ordered(&d->line))
        return view_of(kn_condition_holds_text(condition, kn_dictionary_text(dict, code)), 1);
    return view_of(d->shown_known[code] && kn_condition_holds_key(condition, d->shown_keys[code]), 1);
}

void kn_eval_views(kn_view *views, const kn_eval_domain *d, const kn_condition *condition, const uint8_t *match,
                   uint32_t *hits)
{
    hits[0] = 0;
    for (uint32_t leaf = 0; leaf < d->leaves; leaf++) hits[leaf + 1] = hits[leaf] + leaf_matches(d, condition, leaf);
    for (uint32_t code = 0; code < d->released; code++)
        views[code] = d->column->shown ? view_shown(d, condition, code)
                                       : view_cell(d, condition, match, hits, &d->column->cells[code]);
    views[d->released] = view_anything(d, condition, match, hits);
}

/* ---- Numbers ---- */

typedef struct gathered {
    double sum, count, low, high;
} gathered;

static void gather(gathered *g, double value)
{
    if (g->count == 0 || value < g->low) g->low = value;
    if (g->count == 0 || value > g->high) g->high = value;
    g->sum += value;
    g->count++;
}

static kn_spread spread_of(const gathered *g, bool complete)
{
    if (g->count == 0) return (kn_spread){NAN, NAN, NAN, complete};
    return (kn_spread){g->sum / g->count, g->low, g->high, complete};
}

static double code_number(const kn_eval_domain *d, uint32_t code)
{
    return kn_line_number(&d->line, kn_line_key_of_code(&d->line, &d->column->original->dict, code));
}

static kn_spread spread_range(const kn_eval_domain *d, const kn_condition *condition, uint32_t low, uint32_t high,
                              bool complete)
{
    const kn_dictionary *dict = &d->column->original->dict;
    kn_overlap           o = kn_condition_overlap(condition, &d->line, kn_line_key_of_code(&d->line, dict, low),
                                                  kn_line_key_of_code(&d->line, dict, high));
    if (!o.touches) return (kn_spread){NAN, NAN, NAN, complete};
    return (kn_spread){o.mean, kn_line_number(&d->line, o.low), kn_line_number(&d->line, o.high), complete};
}

static kn_spread spread_node(const kn_eval_domain *d, const kn_condition *condition, uint32_t node)
{
    const kn_hierarchy *h = d->column->hierarchy;
    gathered            g = {0};
    bool                complete = h->last[node] <= h->leaves || !has_missing(d);
    for (uint32_t leaf = h->first[node]; leaf < h->last[node] && leaf < h->leaves; leaf++)
        if (d->leaf_known[leaf] && leaf_matches(d, condition, leaf))
            gather(&g, kn_line_number(&d->line, d->leaf_keys[leaf]));
    return spread_of(&g, complete);
}

static kn_spread spread_anything(const kn_eval_domain *d, const kn_condition *condition)
{
    uint32_t values = d->column->original->dict.count;
    if (d->column->hierarchy) return spread_node(d, condition, d->column->hierarchy->nodes - 1);
    if (values == 0) return (kn_spread){NAN, NAN, NAN, false};
    return spread_range(d, condition, 0, values - 1, !has_missing(d));
}

static kn_spread spread_cell(const kn_eval_domain *d, const kn_condition *condition, const uint8_t *match,
                             const kn_cell *cell)
{
    uint32_t values = d->column->original->dict.count;
    gathered g = {0};
    bool     complete = true;
    switch (cell->kind) {
    case KN_CELL_VALUE:
        if (cell->a < values && match[cell->a]) gather(&g, code_number(d, cell->a));
        return spread_of(&g, cell->a < values);
    case KN_CELL_NODE: return spread_node(d, condition, cell->a);
    case KN_CELL_RANGE: return spread_range(d, condition, cell->a, cell->b, true);
    case KN_CELL_SET:
        for (uint32_t i = 0; i < cell->b; i++) {
            uint32_t code = d->members[cell->a + i];
            complete = complete && code < values;
            if (code < values && match[code]) gather(&g, code_number(d, code));
        }
        return spread_of(&g, complete);
    default: return spread_anything(d, condition);
    }
}

static kn_spread spread_shown(const kn_eval_domain *d, const kn_condition *condition, uint32_t code)
{
    bool     known = code < d->column->shown->dict.count && d->shown_known[code];
    gathered g = {0};
    if (known && (!condition || kn_condition_holds_key(condition, d->shown_keys[code])))
        gather(&g, kn_line_number(&d->line, d->shown_keys[code]));
    return spread_of(&g, true);
}

void kn_eval_spreads(kn_spread *spreads, const kn_eval_domain *d, const kn_condition *condition, const uint8_t *match)
{
    for (uint32_t code = 0; code < d->released; code++)
        spreads[code] = d->column->shown ? spread_shown(d, condition, code)
                                         : spread_cell(d, condition, match, &d->column->cells[code]);
    spreads[d->released] = spread_anything(d, condition);
    spreads[d->released].complete = false;
}
