/* kn_distribution.c: how the values of a column are spread in the original and in the release (kn_distribution.h).
 *
 * Cells are shared out in parts of 2^-60 of a cell, in whole numbers: sums do not depend on their order, and what is taken away
 * again where a range ends leaves nothing behind. A share is rounded down, so that n values may get n × 2^-60 cells less than
 * all of them. A range costs O(1), a set its members, a node O(1) and then its hierarchy O(leaves); summing up O(values).
 * Memory: 32 bytes per value, 8 per node; while leaves are shared out 20 per leaf.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_distribution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_value.h"

static const char counting[] = "counting values";

#define PARTS (UINT64_C(1) << 60)
#define PART 0x1p-60

/* ---- Counting ---- */

kn_status kn_spread_open(kn_spread *out, kn_context *ctx, uint32_t values, const kn_hierarchy *hierarchy, kn_error *err)
{
    *out = (kn_spread){.ctx = ctx, .values = values, .hierarchy = hierarchy};
    KN_ALLOC_ZERO(ctx, out->before, (size_t)values + 1);
    KN_ALLOC_ZERO(ctx, out->nodes, (hierarchy ? (size_t)hierarchy->nodes : 0) + 1);
    KN_ALLOC_ZERO(ctx, out->steps, (size_t)values + 2);
    if (out->before && out->nodes && out->steps) return KN_OK;
    kn_spread_close(out);
    return kn_fail_memory(err, ctx, counting);
}

void kn_spread_close(kn_spread *s)
{
    KN_FREE(s->before, s->nodes, s->steps, s->shares);
    *s = (kn_spread){0};
}

/* The values low .. high get so many cells each, where "missing" comes after the last. */
static void add(kn_spread *s, uint32_t low, uint32_t high, kn_i128 parts)
{
    s->steps[low] += parts;
    s->steps[(size_t)high + 1] -= parts;
}

void kn_spread_value(kn_spread *s, uint32_t value, int64_t cells)
{
    add(s, value, value, (kn_i128)PARTS * cells);
    s->after += cells;
}

void kn_spread_range(kn_spread *s, uint32_t low, uint32_t high, int64_t cells)
{
    add(s, low, high, (kn_i128)(PARTS / ((uint64_t)high - low + 1)) * cells);
    s->after += cells;
}

void kn_spread_star(kn_spread *s, int64_t cells)
{
    s->star += cells;
    s->after += cells;
}

void kn_spread_node(kn_spread *s, uint32_t node, int64_t cells)
{
    s->nodes[node] += cells;
    s->after += cells;
}

static void add_set(kn_spread *s, const kn_plan *plan, const kn_cell *cell, int64_t cells)
{
    for (uint32_t i = 0; i < cell->b; i++) {
        uint32_t member = plan->members[cell->a + i];
        add(s, member, member, (kn_i128)(PARTS / cell->b) * cells);
    }
    s->after += cells;
}

void kn_spread_cell(kn_spread *s, const kn_plan *plan, const kn_cell *cell, int64_t cells)
{
    switch ((kn_cell_kind)cell->kind) {
    case KN_CELL_VALUE: kn_spread_value(s, cell->a, cells); break;
    case KN_CELL_NODE: kn_spread_node(s, cell->a, cells); break;
    case KN_CELL_RANGE: kn_spread_range(s, cell->a, cell->b, cells); break;
    case KN_CELL_SET: add_set(s, plan, cell, cells); break;
    default: kn_spread_star(s, cells); break;
    }
}

/* ---- Sharing out ---- */

static bool is_star(const kn_hierarchy *h, uint32_t node)
{
    kn_string label = kn_hierarchy_text(h, node);
    return label.size == 1 && label.data[0] == '*';
}

/* What the nodes above the leaves show: a root "*" nothing, any other its leaves; the root of a column without values "missing". */
static void share_nodes(kn_spread *s, kn_i128 *leaf_steps)
{
    const kn_hierarchy *h = s->hierarchy;
    for (uint32_t n = 0; n < h->nodes; n++) {
        int64_t  cells = s->nodes[n];
        uint32_t first = h->first[n], end = n == h->nodes - 1 ? h->leaves : h->last[n];
        if (cells == 0) continue;
        if (n == h->leaves || (first >= end && !is_star(h, n)))
            add(s, s->values, s->values, (kn_i128)PARTS * cells);
        else if (n > h->leaves && is_star(h, n))
            s->star += cells;
        else {
            kn_i128 parts = (kn_i128)(PARTS / (end - first)) * cells;
            leaf_steps[first] += parts;
            leaf_steps[end] -= parts;
        }
    }
}

/* Each leaf's cells to its values: mostly one, none where the hierarchy has more than the column. */
static void share_leaves(kn_spread *s, const kn_i128 *leaf_steps, uint32_t *values_of_leaf, double *leaf_shares)
{
    const kn_hierarchy *h = s->hierarchy;
    kn_i128             parts = 0;
    for (uint32_t v = 0; v < s->values; v++) values_of_leaf[h->leaf_of_code[v]]++;
    for (uint32_t leaf = 0; leaf < h->leaves; leaf++) {
        parts += leaf_steps[leaf];
        if (values_of_leaf[leaf] == 0)
            s->absent += (double)parts * PART;
        else
            leaf_shares[leaf] = (double)parts * PART / values_of_leaf[leaf];
    }
    for (uint32_t v = 0; v < s->values; v++) s->shares[v] = leaf_shares[h->leaf_of_code[v]];
}

static kn_status finish_nodes(kn_spread *s, kn_error *err)
{
    size_t    leaves = (size_t)s->hierarchy->leaves + 1;
    kn_i128  *steps;
    uint32_t *values_of_leaf;
    double   *shares;
    KN_ALLOC_ZERO(s->ctx, steps, leaves + 1);
    KN_ALLOC_ZERO(s->ctx, values_of_leaf, leaves);
    KN_ALLOC_ZERO(s->ctx, shares, leaves);
    bool made = steps && values_of_leaf && shares;
    if (made) {
        share_nodes(s, steps);
        share_leaves(s, steps, values_of_leaf, shares);
    }
    KN_FREE(steps, values_of_leaf, shares);
    return made ? KN_OK : kn_fail_memory(err, s->ctx, counting);
}

kn_status kn_spread_finish(kn_spread *s, kn_error *err)
{
    kn_i128 parts = 0;
    KN_ALLOC_ZERO(s->ctx, s->shares, (size_t)s->values + 1);
    if (!s->shares) return kn_fail_memory(err, s->ctx, counting);
    if (s->hierarchy) KN_TRY(finish_nodes(s, err));
    for (uint32_t v = 0; v <= s->values; v++) {
        parts += s->steps[v];
        s->shares[v] += (double)parts * PART;
        if (v == s->values || s->before[v] > 0) continue;
        s->absent += s->shares[v];
        s->shares[v] = 0;
    }
    return KN_OK;
}

/* ---- Numbers and dates ---- */

enum { FEW_VALUES = 24, MOST_RANGES = 20, FREQUENT = 12 };
#define EXACT 0x1p53 /* whole numbers up to this one are doubles */

static double number_of(const void *of, uint32_t value)
{
    const kn_dictionary *dict = of;
    return dict->integers ? (double)dict->integers[value] : dict->decimals[value];
}

kn_distribution_order kn_distribution_order_of(const kn_column *column)
{
    bool ordered = column->dict.count > 0 && (column->dict.integers || column->dict.decimals);
    return (kn_distribution_order){column->type, ordered ? number_of : NULL, &column->dict};
}

/* Ranges of equal width; the first begins at `start`. */
typedef struct ranges {
    kn_type type;
    double  start, width;
    int     count;
} ranges;

/* 1, 2 or 5 times a power of ten, at least `least`. */
static double round_width(double least)
{
    double power = 1;
    while (power * 10 <= least) power *= 10;
    while (power > least) power /= 10;
    for (int i = 0; i < 3; i++) {
        static const int steps[] = {1, 2, 5};
        if (steps[i] * power >= least) return steps[i] * power;
    }
    return 10 * power;
}

/* Ranges for numbers from low to high; false: there are none of use. */
static bool find_ranges(ranges *out, kn_type type, double low, double high)
{
    bool   whole = type != KN_TYPE_DECIMAL, dates = type == KN_TYPE_DATE || type == KN_TYPE_DATETIME;
    double least = (high - low + whole) / MOST_RANGES;
    if (!isfinite(high - low) || !(high > low) || (whole && fmax(fabs(low), fabs(high)) > EXACT)) return false;
    *out = (ranges){.type = type, .width = dates ? ceil(least) : round_width(whole ? fmax(least, 1) : least)};
    out->start = dates ? low : floor(low / out->width) * out->width;
    if (!(out->width > 0) || out->start + out->width == out->start) return false;
    out->count = (int)floor((high - out->start) / out->width) + 1;
    return out->count <= FEW_VALUES;
}

static int range_of(const ranges *r, double number)
{
    int i = (int)floor((number - r->start) / r->width);
    return i < 0 ? 0 : i >= r->count ? r->count - 1 : i;
}

/* A day, or a minute where ranges are narrower than that. */
static void moment_text(char *to, size_t size, const ranges *r, double number)
{
    const double minute = 60e6, day = 1440 * minute;
    double       days = r->type == KN_TYPE_DATE ? number : floor(number / day);
    int          minutes = r->type == KN_TYPE_DATE ? 0 : (int)floor((number - days * day) / minute);
    int          year, month, day_of_month;
    kn_civil_from_days((int64_t)days, &year, &month, &day_of_month);
    if (r->type == KN_TYPE_DATE || r->width >= 2 * day)
        snprintf(to, size, "%04d-%02d-%02d", year, month, day_of_month);
    else
        snprintf(to, size, "%04d-%02d-%02d %02d:%02d", year, month, day_of_month, minutes / 60, minutes % 60);
}

static void range_label(char *to, size_t size, const ranges *r, int i)
{
    char   ends[2][30];
    double low = r->start + i * r->width, high = low + r->width - (r->type != KN_TYPE_DECIMAL);
    for (int e = 0; e < 2; e++) {
        double end = e == 0 ? low : high;
        if (r->type == KN_TYPE_DATE || r->type == KN_TYPE_DATETIME)
            moment_text(ends[e], sizeof ends[e], r, end);
        else
            snprintf(ends[e], sizeof ends[e], "%.*g", r->type == KN_TYPE_DECIMAL ? 12 : 17, end);
        for (char *c = ends[e]; *c; c++)
            if (*c == ',') *c = '.'; /* whatever the locale */
    }
    if (strcmp(ends[0], ends[1]) == 0)
        snprintf(to, size, "%s", ends[0]);
    else
        snprintf(to, size, low < 0 && r->type <= KN_TYPE_DECIMAL ? "%s to %s" : "%s–%s", ends[0], ends[1]);
}

/* ---- Summing up ---- */

typedef struct summing {
    kn_distribution      *out;
    const kn_spread      *s;
    kn_distribution_order order;
    double                differences; /* of shares, in all */
} summing;

static void differ(summing *m, int64_t before, double after)
{
    double was = m->out->before > 0 ? (double)before / (double)m->out->before : 0;
    double is = m->out->after > 0 ? after / (double)m->out->after : 0;
    m->differences += fabs(was - is);
}

static kn_distribution_bar *put_bar(summing *m, kn_bar_kind kind, int64_t before, double after)
{
    kn_distribution_bar *bar = &m->out->bars[m->out->bar_count++];
    *bar = (kn_distribution_bar){.kind = kind, .before = before, .after = after};
    return bar;
}

static void put_ranges(summing *m, const ranges *r)
{
    const kn_spread     *s = m->s;
    kn_distribution_bar *bars = m->out->bars;
    for (int i = 0; i < r->count; i++) {
        kn_distribution_bar *bar = put_bar(m, KN_BAR_RANGE, 0, 0);
        range_label(bar->label, sizeof bar->label, r, i);
    }
    for (uint32_t v = 0; v < s->values; v++) {
        if (s->before[v] == 0) continue;
        int i = range_of(r, m->order.number(m->order.of, v));
        bars[i].before += s->before[v];
        bars[i].after += s->shares[v];
    }
    for (int i = 0; i < r->count; i++) differ(m, bars[i].before, bars[i].after);
}

/* Does value a come before value b? Of equally frequent ones the first. */
static bool precedes(const summing *m, uint32_t a, uint32_t b)
{
    if (m->out->ordered) return m->order.number(m->order.of, a) < m->order.number(m->order.of, b);
    return m->s->before[a] > m->s->before[b];
}

/* The first values, each with a bar. */
static void put_first(summing *m, int most)
{
    const kn_spread *s = m->s;
    kn_distribution *out = m->out;
    for (uint32_t v = 0; v < s->values; v++) {
        if (s->before[v] == 0) continue;
        differ(m, s->before[v], s->shares[v]);
        int at = out->bar_count;
        while (at > 0 && precedes(m, v, out->bars[at - 1].value)) at--;
        if (at >= most) continue;
        if (out->bar_count < most) out->bar_count++;
        memmove(&out->bars[at + 1], &out->bars[at], (size_t)(out->bar_count - 1 - at) * sizeof *out->bars);
        out->bars[at] = (kn_distribution_bar){KN_BAR_VALUE, v, "", s->before[v], s->shares[v]};
    }
}

static bool has_bar(const kn_distribution *d, uint32_t value, int64_t before, int bars)
{
    if (before < d->bars[bars - 1].before) return false;
    for (int i = 0; i < bars; i++)
        if (d->bars[i].value == value) return true;
    return false;
}

/* The most frequent values; the others share a bar. */
static void put_values(summing *m, int most)
{
    const kn_spread *s = m->s;
    int64_t          before = 0;
    double           after = 0;
    put_first(m, most);
    m->out->folded = m->out->values - m->out->bar_count;
    if (m->out->folded == 0) return;
    for (uint32_t v = 0; v < s->values; v++) {
        if (s->before[v] == 0 || has_bar(m->out, v, s->before[v], most)) continue;
        before += s->before[v];
        after += s->shares[v];
    }
    put_bar(m, KN_BAR_OTHERS, before, after);
}

static void put_rest(summing *m)
{
    const kn_spread *s = m->s;
    const struct {
        kn_bar_kind kind;
        int64_t     before;
        double      after;
    } rest[] = {{KN_BAR_ABSENT, 0, s->absent},
                {KN_BAR_MISSING, s->before[s->values], s->shares[s->values]},
                {KN_BAR_STAR, 0, (double)s->star}};
    for (int i = 0; i < 3; i++) {
        if (rest[i].before == 0 && rest[i].after == 0) continue;
        put_bar(m, rest[i].kind, rest[i].before, rest[i].after);
        differ(m, rest[i].before, rest[i].after);
    }
}

void kn_distribution_make(kn_distribution *out, const kn_spread *s, kn_distribution_order order)
{
    summing m = {.out = out, .s = s, .order = order};
    double  low = INFINITY, high = -INFINITY;
    ranges  r;
    *out = (kn_distribution){.ordered = order.number && order.type != KN_TYPE_TEXT, .after = s->after};
    for (uint32_t v = 0; v <= s->values; v++) {
        out->before += s->before[v];
        if (v == s->values || s->before[v] == 0) continue;
        out->values++;
        if (!out->ordered) continue;
        low = fmin(low, order.number(order.of, v));
        high = fmax(high, order.number(order.of, v));
    }
    if (out->ordered && out->values > FEW_VALUES && find_ranges(&r, order.type, low, high))
        put_ranges(&m, &r);
    else {
        out->ordered = out->ordered && out->values <= FEW_VALUES;
        put_values(&m, out->values <= FREQUENT + 1 || out->ordered ? FEW_VALUES : FREQUENT);
    }
    put_rest(&m);
    out->distance = out->before > 0 && out->after == 0 ? (double)NAN : fmin(m.differences / 2, 1);
}
