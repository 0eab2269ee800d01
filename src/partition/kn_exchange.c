/* kn_exchange.c: points move and change places between classes (kn_exchange.h).
 *
 * Simulated annealing with the exact losses of the released cells. A step takes a point and the class of one that is near
 * it: the point moves there, or changes places with the best of that class; sometimes a class is dissolved, or a new one
 * made of points that their classes can spare. A step that costs less than a bound is taken, and the bound, a
 * random multiple of a temperature that falls, lets the classes out of corners in which no single step helps.
 *
 * Of each class and dimension the two lowest and the two highest values are kept, so that the cell without a point is known
 * without looking at the others, and most steps are refused by a bound before any pair of points is looked at. Values are
 * numbered within the given points; the loss of a cell between two of them is one look-up where they are few.
 *
 * Cost: points × steps × (dimensions and a few points of a class), and to begin with points × (classes and about 128
 * comparisons). Memory: some numbers per point and dimension.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_error.h"
#include "kn_rng.h"
#include "kn_sort.h"

#define WHAT "partitioning"
#define NONE UINT32_MAX

enum {
    LANES = 8, /* dimensions in one vector */
    NEAREST = 16,
    LEAST_COMPARED = 128, /* points in the classes that are searched for the nearest */
    MOST_PARTNERS = 16,
    SAMPLE = 256,
    DISSOLVED = 2, /* tries per class */
    CREATED = 4,
    MOST_TABLE = 128 /* values whose pairs are tabulated */
};

typedef enum scale_kind { SCALE_LINE, SCALE_TABLE, SCALE_NODES, SCALE_SET } scale_kind;

/* One dimension among the given points: its values are numbered in their order. */
typedef struct scale {
    scale_kind          kind;
    const kn_dimension *dimension;
    double              weight;
    double              whole; /* weighted loss of values together with missing ones */
    int32_t             count;
    int32_t             missing;   /* number of "missing"; -1: there is none */
    uint32_t           *positions; /* per number */
    double             *line;      /* ... where cells are ranges: how far it lies along the domain, weighted */
    double             *table;     /* lowest × count + highest → weighted loss */
    size_t              table_capacity;
    uint16_t           *uses; /* sets: class × count → points that have it */
    size_t              use_capacity;
    uint32_t           *distinct; /* sets: per class */
    size_t              distinct_capacity;
} scale;

/* The numbers of a point, or at an end of a class: several dimensions that are compared at once. */
typedef int16_t lane __attribute__((vector_size(2 * LANES)));

static inline lane choose(lane mask, lane yes, lane no)
{
    return (mask & yes) | (~mask & no);
}

static inline lane lesser(lane a, lane b)
{
    return choose(a < b, a, b);
}

static inline lane greater(lane a, lane b)
{
    return choose(a > b, a, b);
}

typedef struct edges {
    lane *low, *low_next, *high, *high_next; /* next: without one point that has the first */
} edges;

typedef struct class_state {
    uint32_t rows, points, first; /* first: of its points */
    double   loss;                /* of one row */
} class_state;

typedef struct point_state {
    uint32_t id, rows, class, next, previous;
    uint32_t near; /* how many are in its list of the nearest */
    uint32_t seen; /* last by this search for a new class */
} point_state;

typedef struct moved_point {
    uint32_t point, from;
} moved_point;

struct kn_exchange {
    const kn_space *space;
    kn_row_judge   *judge;
    size_t          dimensions, lanes, rest; /* rest: dimensions in the last lane */
    uint32_t        most, most_classes, point_count, class_count;
    uint64_t        row_count;
    double          loss;    /* sum of all classes */
    uint32_t       *nearest; /* point × NEAREST */
    double          distances[NEAREST];
    double         *rises; /* per class: by how much a point would widen it */
    moved_point    *moved;
    uint32_t        moved_count, seen;
    scale          *scales;
    point_state    *points;
    lane           *numbers; /* point × lanes */
    class_state    *classes;
    lane           *ends; /* class × 4 × lanes */
    uint32_t       *sorted;
    lane           *low, *high;           /* of a cell that is being considered */
    lane           *left_low, *left_high; /* of a class without the point that is being considered */
    bool            tabular;              /* every scale is a table: */
    const double  **tables;
    lane           *strides;
    uint32_t       *rows; /* of a class that is being judged */
    size_t          row_capacity;
    const uint32_t *first;
    int64_t         changes;
};

/* ---- Making one ---- */

kn_status kn_exchange_make(kn_exchange **out, const kn_space *space, const kn_ratio *weights, kn_row_judge *judge,
                           uint32_t most, kn_error *err)
{
    kn_context  *ctx = space->ctx;
    size_t       d = (size_t)space->count, n = (size_t)most + 1;
    kn_exchange *x = kn_alloc_zero(ctx, sizeof *x);
    if (!x) return kn_fail_memory(err, ctx, WHAT);
    x->space = space;
    x->judge = judge;
    x->dimensions = d;
    x->lanes = (d + LANES - 1) / LANES;
    x->rest = d - (x->lanes - 1) * LANES;
    x->most = most;
    bool ok = KN_ALLOC_ZERO(ctx, x->scales, d) && KN_ALLOC(ctx, x->points, n) && KN_ALLOC(ctx, x->classes, n) &&
              KN_ALLOC_ZERO(ctx, x->numbers, n * x->lanes) && KN_ALLOC(ctx, x->ends, 4 * n * x->lanes) &&
              KN_ALLOC(ctx, x->sorted, n) && KN_ALLOC(ctx, x->nearest, n * NEAREST) && KN_ALLOC(ctx, x->moved, 2 * n) &&
              KN_ALLOC(ctx, x->rises, n) && KN_ALLOC(ctx, x->low, 5 * x->lanes) && KN_ALLOC(ctx, x->tables, d);
    if (ok) {
        memset(x->low, 0, 5 * x->lanes * sizeof *x->low);
        x->high = x->low + x->lanes;
        x->left_low = x->high + x->lanes;
        x->left_high = x->left_low + x->lanes;
        x->strides = x->left_high + x->lanes;
    }
    for (size_t q = 0; ok && q < d; q++) {
        scale *s = &x->scales[q];
        s->dimension = &space->dimensions[q];
        s->weight = weights ? (double)weights[q].numerator / (double)weights[q].denominator : 1;
        ok = KN_ALLOC(ctx, s->positions, n) && KN_ALLOC(ctx, s->line, n);
    }
    if (!ok) {
        kn_exchange_free(x);
        return kn_fail_memory(err, ctx, WHAT);
    }
    *out = x;
    return KN_OK;
}

void kn_exchange_free(kn_exchange *x)
{
    if (!x) return;
    for (size_t q = 0; x->scales && q < x->dimensions; q++) {
        scale *s = &x->scales[q];
        KN_FREE(s->positions, s->line, s->table, s->uses, s->distinct);
    }
    KN_FREE(x->scales, x->points, x->classes, x->numbers, x->ends, x->sorted, x->nearest, x->moved, x->rises, x->low,
            x->tables, x->rows, x);
}

static edges edges_of(const kn_exchange *x, uint32_t c)
{
    lane *at = x->ends + 4 * (size_t)c * x->lanes;
    return (edges){at, at + x->lanes, at + 2 * x->lanes, at + 3 * x->lanes};
}

static inline const lane *numbers_of(const kn_exchange *x, uint32_t point)
{
    return x->numbers + point * x->lanes;
}

static inline int16_t number_of(const kn_exchange *x, uint32_t point, size_t q)
{
    return numbers_of(x, point)[q / LANES][q % LANES];
}

/* ---- Values ---- */

static double loss_between(const scale *s, int32_t low, int32_t high, uint32_t distinct)
{
    return s->weight * kn_space_loss(s->dimension, (kn_span){s->positions[low], s->positions[high]}, distinct);
}

static kn_status make_scale(kn_exchange *x, size_t q, kn_error *err)
{
    scale              *s = &x->scales[q];
    const kn_dimension *d = s->dimension;
    int32_t             last = s->count - 1;
    bool                missing = s->positions[last] == d->positions;
    s->missing = missing ? last : -1;
    s->whole = missing && last > 0 ? loss_between(s, 0, last, 0) : 0;
    s->kind = d->nodes ? SCALE_NODES : d->ranges ? SCALE_LINE : SCALE_SET;
    if (s->kind == SCALE_LINE)
        for (int32_t v = 0; v < s->count; v++) s->line[v] = v == 0 || v == s->missing ? 0 : loss_between(s, 0, v, 0);
    if (s->kind != SCALE_SET && s->count <= MOST_TABLE) {
        s->kind = SCALE_TABLE;
        if (!KN_GROW(x->space->ctx, &s->table, &s->table_capacity, (size_t)s->count * (size_t)s->count))
            return kn_fail_memory(err, x->space->ctx, WHAT);
        for (int32_t low = 0; low < s->count; low++)
            for (int32_t high = low; high < s->count; high++)
                s->table[low * s->count + high] = loss_between(s, low, high, 0);
    }
    x->tabular &= s->kind == SCALE_TABLE;
    x->tables[q] = s->table;
    x->strides[q / LANES][q % LANES] = (int16_t)(s->kind == SCALE_TABLE ? s->count : 0);
    if (s->kind == SCALE_SET) {
        size_t uses = (size_t)x->most_classes * (size_t)s->count;
        if (!KN_GROW(x->space->ctx, &s->uses, &s->use_capacity, uses) ||
            !KN_GROW(x->space->ctx, &s->distinct, &s->distinct_capacity, x->most_classes))
            return kn_fail_memory(err, x->space->ctx, WHAT);
        memset(s->uses, 0, uses * sizeof *s->uses);
        memset(s->distinct, 0, x->most_classes * sizeof *s->distinct);
    }
    return KN_OK;
}

static void number_values(kn_exchange *x, size_t q)
{
    scale *s = &x->scales[q];
    s->count = 0;
    for (uint32_t p = 0; p < x->point_count; p++)
        x->sorted[p] = kn_space_position(x->space, s->dimension, x->first[x->points[p].id]);
    qsort(x->sorted, x->point_count, sizeof *x->sorted, kn_compare_u32);
    for (uint32_t p = 0; p < x->point_count; p++)
        if (p == 0 || x->sorted[p] != x->sorted[p - 1]) s->positions[s->count++] = x->sorted[p];
    for (uint32_t p = 0; p < x->point_count; p++) {
        uint32_t  position = kn_space_position(x->space, s->dimension, x->first[x->points[p].id]);
        uint32_t *found = bsearch(&position, s->positions, (size_t)s->count, sizeof *s->positions, kn_compare_u32);
        x->numbers[p * x->lanes + q / LANES][q % LANES] = (int16_t)(found - s->positions);
    }
}

/* ---- Losses ---- */

/* The weighted loss of a cell; `distinct` matters for sets alone. */
static inline double cell_loss(const scale *s, int32_t low, int32_t high, uint32_t distinct)
{
    switch (s->kind) {
    case SCALE_TABLE: return s->table[low * s->count + high];
    case SCALE_LINE: return low == high ? 0 : high == s->missing ? s->whole : s->line[high] - s->line[low];
    case SCALE_NODES: return low == high ? 0 : loss_between(s, low, high, 0);
    default: return low == high ? 0 : high == s->missing ? s->whole : loss_between(s, low, high, distinct);
    }
}

/* How many values a set has without one point and with another (NONE: none). */
static uint32_t set_size(const kn_exchange *x, size_t q, uint32_t c, uint32_t without, uint32_t with)
{
    const scale    *s = &x->scales[q];
    const uint16_t *uses = s->uses + (size_t)c * (size_t)s->count;
    int16_t         gone = without == NONE ? -1 : number_of(x, without, q);
    int16_t         came = with == NONE ? -1 : number_of(x, with, q);
    if (gone == came) return s->distinct[c];
    return s->distinct[c] - (gone >= 0 && uses[gone] == 1) + (came >= 0 && uses[came] == 0);
}

/* The ends of a class without a point of it. */
static inline void ends_without(const kn_exchange *x, edges e, uint32_t point, lane *low, lane *high)
{
    const lane *at = numbers_of(x, point);
    for (size_t i = 0; i < x->lanes; i++) {
        low[i] = choose(at[i] == e.low[i], e.low_next[i], e.low[i]);
        high[i] = choose(at[i] == e.high[i], e.high_next[i], e.high[i]);
    }
}

/* The ends of `from` and a point. */
static inline void widen(const kn_exchange *x, const lane *from_low, const lane *from_high, uint32_t point, lane *low,
                         lane *high)
{
    const lane *at = numbers_of(x, point);
    for (size_t i = 0; i < x->lanes; i++) {
        low[i] = lesser(at[i], from_low[i]);
        high[i] = greater(at[i], from_high[i]);
    }
}

/* The loss of a row between these ends. `c`, `without`, `with`: what is in a set (a lower bound with c NONE). */
static inline double loss_within(const kn_exchange *x, const lane *low, const lane *high, uint32_t c, uint32_t without,
                                 uint32_t with)
{
    double sum = 0;
    if (x->tabular) {
        const double *const *tables = x->tables;
        double               more = 0;
        for (size_t i = 0; i < x->lanes; i++, tables += LANES) {
            lane at = low[i] * x->strides[i] + high[i];
            if (i + 1 < x->lanes || x->rest == LANES) {
                sum += tables[0][at[0]] + tables[1][at[1]];
                more += tables[2][at[2]] + tables[3][at[3]];
                sum += tables[4][at[4]] + tables[5][at[5]];
                more += tables[6][at[6]] + tables[7][at[7]];
            } else
                for (size_t l = 0; l < x->rest; l++) sum += tables[l][at[l]];
        }
        return sum + more;
    }
    for (size_t q = 0; q < x->dimensions; q++) {
        const scale *s = &x->scales[q];
        uint32_t     distinct = s->kind != SCALE_SET ? 0 : c == NONE ? 2 : set_size(x, q, c, without, with);
        sum += cell_loss(s, low[q / LANES][q % LANES], high[q / LANES][q % LANES], distinct);
    }
    return sum;
}

/* The loss of one row of a class without one point and with another (NONE: none). */
static double loss_changed(const kn_exchange *x, uint32_t c, uint32_t without, uint32_t with)
{
    edges       e = edges_of(x, c);
    const lane *low = e.low, *high = e.high;
    if (without != NONE) {
        ends_without(x, e, without, x->low, x->high);
        low = x->low;
        high = x->high;
    }
    if (with == NONE) return loss_within(x, low, high, c, without, with);
    widen(x, low, high, with, x->low, x->high);
    return loss_within(x, x->low, x->high, c, without, with);
}

/* ---- Classes ---- */

/* Looks at the points of a class again. */
static void read_class(kn_exchange *x, uint32_t c)
{
    class_state *g = &x->classes[c];
    edges        e = edges_of(x, c);
    for (size_t i = 0; i < x->lanes; i++) {
        e.low[i] = e.low_next[i] = (lane){0} + INT16_MAX;
        e.high[i] = e.high_next[i] = (lane){0} - 1;
    }
    for (uint32_t p = g->first; p != NONE; p = x->points[p].next) {
        const lane *at = numbers_of(x, p);
        for (size_t i = 0; i < x->lanes; i++) {
            e.low_next[i] = lesser(e.low_next[i], greater(at[i], e.low[i]));
            e.high_next[i] = greater(e.high_next[i], lesser(at[i], e.high[i]));
            e.low[i] = lesser(e.low[i], at[i]);
            e.high[i] = greater(e.high[i], at[i]);
        }
    }
    g->loss = g->points ? loss_changed(x, c, NONE, NONE) : 0;
}

static void count_value(kn_exchange *x, uint32_t c, uint32_t point, bool in)
{
    for (size_t q = 0; q < x->dimensions; q++) {
        scale *s = &x->scales[q];
        if (s->kind != SCALE_SET) continue;
        uint16_t *use = s->uses + (size_t)c * (size_t)s->count + number_of(x, point, q);
        s->distinct[c] += in && *use == 0;
        *use = (uint16_t)(in ? *use + 1 : *use - 1);
        s->distinct[c] -= !in && *use == 0;
    }
}

static void put(kn_exchange *x, uint32_t c, uint32_t point)
{
    class_state *g = &x->classes[c];
    point_state *p = &x->points[point];
    p->class = c;
    p->previous = NONE;
    p->next = g->first;
    if (g->first != NONE) x->points[g->first].previous = point;
    g->first = point;
    g->rows += p->rows;
    g->points++;
    count_value(x, c, point, true);
}

static void take(kn_exchange *x, uint32_t point)
{
    point_state *p = &x->points[point];
    class_state *g = &x->classes[p->class];
    if (p->previous == NONE)
        g->first = p->next;
    else
        x->points[p->previous].next = p->next;
    if (p->next != NONE) x->points[p->next].previous = p->previous;
    g->rows -= p->rows;
    g->points--;
    count_value(x, p->class, point, false);
}

/* May a class be released without one point and with another (NONE: none)? Its size is known to be enough. */
static kn_status may_be(bool *out, kn_exchange *x, uint32_t c, uint32_t without, uint32_t with, kn_error *err)
{
    uint32_t count = 0;
    *out = true;
    if (kn_row_judge_size_says_all(x->judge)) return KN_OK;
    for (uint32_t p = with == NONE ? x->classes[c].first : with; p != NONE;
         p = p == with ? x->classes[c].first : x->points[p].next) {
        if (p == without) continue;
        if (!KN_GROW(x->space->ctx, &x->rows, &x->row_capacity, (size_t)count + x->points[p].rows))
            return kn_fail_memory(err, x->space->ctx, WHAT);
        for (uint32_t i = 0; i < x->points[p].rows; i++)
            x->rows[count++] = kn_space_row(x->space, x->first[x->points[p].id] + i);
    }
    return kn_row_judge_holds(out, x->judge, x->rows, sizeof *x->rows, count, err);
}

/* ---- Who is near ---- */

/* Puts a point into the list of the nearest of another one, if it belongs there. */
static inline void compare_points(kn_exchange *x, uint32_t p, uint32_t o)
{
    const lane *a = numbers_of(x, p);
    uint32_t   *near = x->nearest + (size_t)p * NEAREST, found = x->points[p].near;
    double     *best = x->distances;
    widen(x, a, a, o, x->low, x->high);
    double sum = loss_within(x, x->low, x->high, NONE, NONE, NONE);
    if (o == p || (found == NEAREST && sum >= best[NEAREST - 1])) return;
    uint32_t at = found < NEAREST ? x->points[p].near++ : NEAREST - 1;
    for (; at > 0 && best[at - 1] > sum; at--) {
        best[at] = best[at - 1];
        near[at] = near[at - 1];
    }
    best[at] = sum;
    near[at] = o;
}

/* The nearest points of each point, by what two of them would lose as a class. Of many points each sees those of the classes
 * that it would widen least. */
static void find_nearest(kn_exchange *x)
{
    for (uint32_t p = 0; p < x->point_count; p++) {
        uint32_t left = x->class_count;
        x->points[p].near = 0;
        for (uint32_t c = 0; c < left; c++) {
            x->sorted[c] = c;
            x->rises[c] = loss_changed(x, c, NONE, p) - x->classes[c].loss;
        }
        for (uint32_t compared = 0; left > 0 && compared < LEAST_COMPARED;) {
            uint32_t least = 0;
            for (uint32_t i = 1; i < left; i++) least = x->rises[i] < x->rises[least] ? i : least;
            uint32_t c = x->sorted[least];
            x->sorted[least] = x->sorted[--left];
            x->rises[least] = x->rises[left];
            for (uint32_t o = x->classes[c].first; o != NONE; o = x->points[o].next) compare_points(x, p, o);
            compared += x->classes[c].points;
        }
    }
}

/* ---- Changes ---- */

typedef struct change {
    double   cost;  /* by how much the sum rises                  */
    uint32_t other; /* comes instead of the point; NONE: none does */
} change;

/* By how much the sum would rise if a point joined a class. */
static double rise_of(const kn_exchange *x, uint32_t c, uint32_t point)
{
    double rows = x->classes[c].rows;
    return (rows + x->points[point].rows) * loss_changed(x, c, NONE, point) - rows * x->classes[c].loss;
}

/* The best way for a point to get into another class: alone, or in exchange for one of its points. `most`: what it may cost;
 * .other is the point itself if everything costs more. */
static change best_change(const kn_exchange *x, uint32_t point, uint32_t to, double most)
{
    const point_state *p = &x->points[point];
    const class_state *g = &x->classes[p->class], *h = &x->classes[to];
    edges              here = edges_of(x, p->class), there = edges_of(x, to);
    double             before = g->rows * g->loss + h->rows * h->loss;
    uint32_t           k = (uint32_t)x->judge->smallest, left = g->rows - p->rows;
    change             best = {most, point};
    ends_without(x, here, point, x->left_low, x->left_high);
    double least = g->points > 1 ? loss_within(x, x->left_low, x->left_high, p->class, point, NONE) : 0;
    if (left >= k) {
        double cost = left * least - before + (h->rows + p->rows) * loss_changed(x, to, NONE, point);
        if (cost < most) best = (change){cost, NONE};
    }
    /* Whoever leaves: what is left of this class is no narrower, nor is that one's core. */
    widen(x, there.low_next, there.high_next, point, x->low, x->high);
    double core = h->points > 1 ? loss_within(x, x->low, x->high, NONE, NONE, NONE) : 0;
    double rows = left + 1 > k ? left + 1 : k;
    if (rows * least + k * core - before >= best.cost) return best;
    uint32_t apart = h->points / MOST_PARTNERS + 1, until = apart > 1 ? point % apart : 0;
    for (uint32_t o = h->first; o != NONE; o = x->points[o].next) {
        if (until-- > 0) continue;
        until = apart - 1;
        uint32_t mine = left + x->points[o].rows, its = h->rows - x->points[o].rows + p->rows;
        if (mine < k || its < k || mine * least + its * core - before >= best.cost) continue;
        widen(x, x->left_low, x->left_high, o, x->low, x->high);
        double cost = mine * loss_within(x, x->low, x->high, p->class, point, o) - before;
        if (cost + its * core >= best.cost) continue;
        cost += its * loss_changed(x, to, o, point);
        if (cost < best.cost) best = (change){cost, o};
    }
    return best;
}

static kn_status try_change(kn_exchange *x, uint32_t point, uint32_t to, double most, kn_error *err)
{
    uint32_t from = x->points[point].class;
    bool     holds = true;
    change   best = best_change(x, point, to, most);
    if (best.other == point || best.cost >= most) return KN_OK;
    KN_TRY(may_be(&holds, x, from, point, best.other, err));
    if (holds) KN_TRY(may_be(&holds, x, to, best.other, point, err));
    if (!holds) return KN_OK;
    take(x, point);
    put(x, to, point);
    if (best.other != NONE) {
        take(x, best.other);
        put(x, from, best.other);
    }
    read_class(x, from);
    read_class(x, to);
    x->loss += best.cost;
    x->changes++;
    return KN_OK;
}

/* Moves a point and notes it, so that it can be undone. */
static void move(kn_exchange *x, uint32_t point, uint32_t to)
{
    uint32_t from = x->points[point].class;
    x->moved[x->moved_count++] = (moved_point){point, from};
    x->loss -= x->classes[from].rows * x->classes[from].loss + x->classes[to].rows * x->classes[to].loss;
    take(x, point);
    put(x, to, point);
    read_class(x, from);
    read_class(x, to);
    x->loss += x->classes[from].rows * x->classes[from].loss + x->classes[to].rows * x->classes[to].loss;
}

/* Keeps what was moved if it costs less than `most` and the classes may be released; otherwise undoes it. */
static kn_status keep_or_undo(kn_exchange *x, double before, double most, kn_error *err)
{
    bool holds = x->loss - before < most;
    for (uint32_t i = 0; holds && i < x->moved_count; i++) {
        uint32_t from = x->moved[i].from, to = x->points[x->moved[i].point].class;
        if (x->classes[from].points > 0) KN_TRY(may_be(&holds, x, from, NONE, NONE, err));
        if (holds) KN_TRY(may_be(&holds, x, to, NONE, NONE, err));
    }
    x->changes += holds;
    while (!holds && x->moved_count > 0) {
        moved_point m = x->moved[x->moved_count - 1];
        move(x, m.point, m.from);
        x->moved_count -= 2;
    }
    if (!holds) x->loss = before;
    return KN_OK;
}

/* Every point of a class goes where it costs least among the classes of its neighbours. */
static kn_status try_dissolve(kn_exchange *x, uint32_t c, double most, kn_error *err)
{
    double before = x->loss;
    x->moved_count = 0;
    while (x->classes[c].first != NONE) {
        uint32_t p = x->classes[c].first, to = NONE;
        double   best = INFINITY;
        for (uint32_t i = 0; i < x->points[p].near; i++) {
            uint32_t g = x->points[x->nearest[(size_t)p * NEAREST + i]].class;
            double   costs = g == c ? INFINITY : rise_of(x, g, p);
            if (costs >= best) continue;
            best = costs;
            to = g;
        }
        if (to == NONE) break;
        move(x, p, to);
    }
    return keep_or_undo(x, before, x->classes[c].first == NONE ? most : -INFINITY, err);
}

/* A class of a point and its neighbours, then their neighbours, as far as their classes can spare them. */
static kn_status try_create(kn_exchange *x, uint32_t point, double most, kn_error *err)
{
    double   before = x->loss;
    uint32_t k = (uint32_t)x->judge->smallest, c = 0, found = 1;
    while (c < x->class_count && x->classes[c].points > 0) c++;
    if (c == x->most_classes) return KN_OK;
    if (c == x->class_count) {
        x->classes[c] = (class_state){.first = NONE};
        x->class_count++;
    }
    x->moved_count = 0;
    x->seen++;
    x->sorted[0] = point;
    x->points[point].seen = x->seen;
    for (uint32_t i = 0; i < found && x->classes[c].rows < k; i++) {
        uint32_t p = x->sorted[i];
        if (x->classes[x->points[p].class].rows - x->points[p].rows >= k) move(x, p, c);
        for (uint32_t j = 0; j < x->points[p].near && found < 4 * k; j++) {
            uint32_t o = x->nearest[(size_t)p * NEAREST + j];
            if (x->points[o].seen == x->seen) continue;
            x->points[o].seen = x->seen;
            x->sorted[found++] = o;
        }
    }
    return keep_or_undo(x, before, x->classes[c].rows >= k ? most : -INFINITY, err);
}

/* ---- Annealing ---- */

/* A number whose logarithm is spread like that of a chance: about exponential, mean 1; by whole operations alone. */
static double exponential(kn_rng *rng)
{
    uint64_t bits = kn_rng_next(rng) | 1;
    int      zeros = __builtin_clzll(bits);
    double   rest = (double)(bits << zeros) * 0x1p-64; /* 0.5 to 1 */
    return 0.6931471805599453 * (zeros + 2 * (1 - rest));
}

static int by_cost(const void *arg, const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    (void)arg;
    return (x > y) - (x < y);
}

/* What a change that makes things worse costs: the median of a sample. */
static double usual_cost(kn_exchange *x)
{
    double   costs[SAMPLE];
    size_t   count = 0;
    uint32_t apart = x->point_count / SAMPLE + 1;
    for (uint32_t p = 0; p < x->point_count && count < SAMPLE; p += apart)
        for (uint32_t i = 0; i < x->points[p].near; i++) {
            uint32_t to = x->points[x->nearest[(size_t)p * NEAREST + i]].class;
            if (to == x->points[p].class) continue;
            double cost = best_change(x, p, to, INFINITY).cost;
            if (cost > 0 && cost < INFINITY) costs[count++] = cost;
            break;
        }
    kn_sort_in_place(costs, count, sizeof *costs, by_cost, NULL);
    return count ? costs[count / 2] : 0;
}

static kn_status anneal(kn_exchange *x, double hot, double cold, uint64_t steps, kn_rng *rng, kn_error *err)
{
    double   per_class = 65536.0 * x->class_count / x->point_count / (double)(steps / x->point_count);
    uint32_t dissolves = (uint32_t)(DISSOLVED * per_class), creates = dissolves + (uint32_t)(CREATED * per_class);
    for (uint64_t step = 0; step < steps; step++) {
        double   heat = hot + (cold - hot) * ((double)step / (double)steps);
        uint64_t bits = kn_rng_next(rng);
        uint32_t p = (uint32_t)(((bits >> 32) * x->point_count) >> 32);
        uint32_t near = (uint32_t)((bits & 0xffff) * x->points[p].near >> 16), kind = bits >> 16 & 0xffff;
        double   most = heat * exponential(rng);
        if (x->points[p].near == 0) continue;
        uint32_t to = x->points[x->nearest[(size_t)p * NEAREST + near]].class;
        if (kind < dissolves)
            KN_TRY(try_dissolve(x, x->points[p].class, most, err));
        else if (kind < creates)
            KN_TRY(try_create(x, p, most, err));
        else if (to != x->points[p].class)
            KN_TRY(try_change(x, p, to, most, err));
    }
    return KN_OK;
}

/* ---- All together ---- */

static kn_status load(kn_exchange *x, const kn_exchange_classes *classes, kn_error *err)
{
    uint32_t n = classes->ends[classes->count - 1];
    x->first = classes->first;
    x->point_count = n;
    x->class_count = classes->count;
    x->most_classes = classes->capacity < x->most ? classes->capacity : x->most;
    x->changes = 0;
    x->row_count = 0;
    x->seen = 0;
    for (uint32_t p = 0; p < n; p++) {
        uint32_t id = classes->members[p];
        x->points[p] = (point_state){.id = id, .rows = classes->first[id + 1] - classes->first[id]};
        x->row_count += x->points[p].rows;
    }
    x->tabular = true;
    for (size_t q = 0; q < x->dimensions; q++) {
        number_values(x, q);
        KN_TRY(make_scale(x, q, err));
    }
    for (uint32_t c = 0, p = 0; c < classes->count; c++) {
        x->classes[c] = (class_state){.first = NONE};
        for (; p < classes->ends[c]; p++) put(x, c, p);
        read_class(x, c);
    }
    return KN_OK;
}

/* The points of each class in the order in which they were given. */
static void unload(const kn_exchange *x, kn_exchange_classes *classes)
{
    uint32_t at = 0;
    for (uint32_t c = 0; c < x->class_count; c++) {
        uint32_t begin = at;
        at += x->classes[c].points;
        classes->ends[c] = at;
        x->sorted[c] = begin;
    }
    classes->count = x->class_count;
    for (uint32_t p = 0; p < x->point_count; p++) classes->members[x->sorted[x->points[p].class]++] = x->points[p].id;
}

static double sum_of(const kn_exchange *x)
{
    double sum = 0;
    for (uint32_t c = 0; c < x->class_count; c++) sum += x->classes[c].rows * x->classes[c].loss;
    return sum;
}

kn_status kn_exchange_run(double *before, double *after, int64_t *changes, kn_exchange *x, kn_exchange_classes *classes,
                          const kn_exchange_heat *heat, kn_error *err)
{
    kn_rng rng;
    KN_TRY(load(x, classes, err));
    kn_rng_init(&rng, heat->seed, heat->stream);
    x->loss = sum_of(x);
    *before = x->loss;
    find_nearest(x);
    double unit = usual_cost(x);
    KN_TRY(anneal(x, heat->from * unit, heat->to * unit, (uint64_t)heat->steps * x->point_count, &rng, err));
    unload(x, classes);
    *after = sum_of(x);
    *changes += x->changes;
    return KN_OK;
}
