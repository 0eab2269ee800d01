/* formulas.c: the privacy models of one class, by the verifier's own formulas. kanon/models.h defines them.
 *
 * Counts are whole numbers and all but logarithms are compared exactly. The earth mover's distances come from their
 * duals:
 *
 *   ordered       the most that sum f_i (p_i - q_i) can be, over heights f of the values where neighbours differ by at most
 *                 1 / (m - 1) and all lie within 1 of "missing", whose height is 0. Value by value the best sum is a concave
 *                 function of the height reached; a step of one widens its plateau by one on both sides, and the next
 *                 value tilts it, which moves the top across some of its bends. Bends left and right of the top are two
 *                 stacks. O(values) per class.
 *   hierarchical  levels make the tree a metric one: sum over all nodes below the root of |p - q| of the node times half the
 *                 step to its parent. O(values of the class × height), and a correction for untouched nodes made once.
 *
 * Logarithms (entropy l, -ln q, delta) are compared with a tolerance of 10^-12 in the release's favour: rounding must
 * not refuse what holds. Limits: total² × values × 10^18 < 2^191.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_verify_internal.h"

#define TOLERANCE 1e-12

/* ---- Exact comparisons ---- */

/* 192-bit product. */
typedef struct wide {
    kn_u128  high;
    uint64_t low;
} wide;

static wide multiply(kn_u128 a, uint64_t b)
{
    kn_u128 low = (kn_u128)(uint64_t)a * b;
    return (wide){(a >> 64) * b + (low >> 64), (uint64_t)low};
}

int kn_v_compare(kn_u128 a, kn_u128 b, uint64_t c, uint64_t d)
{
    if (b == 0 || d == 0) return (b == 0) - (d == 0);
    wide x = multiply(a, d), y = multiply(b, c);
    if (x.high != y.high) return x.high < y.high ? -1 : 1;
    return x.low < y.low ? -1 : x.low > y.low;
}

static double quotient(kn_u128 a, kn_u128 b)
{
    if (b == 0) return INFINITY;
    return (double)((long double)a / (long double)b);
}

static double ratio(kn_ratio r)
{
    return (double)((long double)r.numerator / (long double)r.denominator);
}

/* ---- Diversity ---- */

static bool distinct_holds(const kn_model *m, const kn_vhistogram *h, double *reached)
{
    *reached = (double)h->count;
    return kn_v_compare(h->count, 1, m->l.numerator, m->l.denominator) >= 0;
}

static bool entropy_holds(const kn_model *m, const kn_vhistogram *h, double *reached)
{
    long double bits = 0, n = (long double)h->total;
    bool        even = true;
    for (uint32_t i = 0; i < h->count; i++) {
        long double share = (long double)h->counts[i] / n;
        bits -= share * log2l(share);
        even = even && h->counts[i] == h->counts[0];
    }
    *reached = even ? (double)h->count : (double)exp2l(bits);
    return *reached >= ratio(m->l) * (1 - TOLERANCE);
}

/* r_1 < c (r_l + ... + r_m). The l - 1 largest counts are removed one by one. */
static bool recursive_holds(const kn_model *m, const kn_vhistogram *h, double *reached)
{
    uint64_t l = m->l.numerator / m->l.denominator;
    *reached = 0;
    if (l <= 1) return true;
    *reached = INFINITY;
    if (l > h->count) return false;
    int64_t largest = 0, rest = h->total, bound = INT64_MAX;
    for (uint64_t taken = 0; taken < l - 1;) {
        int64_t  most = 0;
        uint64_t times = 0;
        for (uint32_t i = 0; i < h->count; i++) {
            if (h->counts[i] >= bound || h->counts[i] < most) continue;
            times = h->counts[i] == most ? times + 1 : 1;
            most = h->counts[i];
        }
        if (largest == 0) largest = most;
        for (; times > 0 && taken < l - 1; times--, taken++) rest -= most;
        bound = most;
    }
    *reached = quotient((kn_u128)largest, (kn_u128)rest);
    return rest > 0 && kn_v_compare((kn_u128)largest, (kn_u128)rest, m->c.numerator, m->c.denominator) < 0;
}

/* ---- Likeness ---- */

static int64_t reference_count(const kn_vreference *r, uint32_t value)
{
    if (value == KN_V_MISSING) return r->counts[r->values];
    return value < r->values ? r->counts[value] : 0;
}

static bool alpha_holds(const kn_model *m, int64_t size, const kn_vhistogram *h, double *reached)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < h->count; i++)
        if (h->counts[i] > most) most = h->counts[i];
    *reached = quotient((kn_u128)most, (kn_u128)size);
    return size >= m->k && kn_v_compare((kn_u128)most, (kn_u128)size, m->bound.numerator, m->bound.denominator) <= 0;
}

/* p / q - 1 as (p' - q') / q' where p' = c N and q' = r n. */
static bool beta_holds(const kn_model *m, const kn_vhistogram *h, const kn_vreference *r, double *reached)
{
    bool holds = true, enhanced = m->kind == KN_MODEL_BETA_ENHANCED, past_log = false;
    *reached = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        int64_t c = reference_count(r, h->values[i]);
        kn_u128 here = (kn_u128)h->counts[i] * (kn_u128)r->total, there = (kn_u128)c * (kn_u128)h->total;
        if (here <= there) continue;
        double gain = quotient(here - there, there);
        if (gain > *reached) *reached = gain;
        if (kn_v_compare(here - there, there, m->bound.numerator, m->bound.denominator) > 0) holds = false;
        if (c == 0 || gain > -(double)logl((long double)c / (long double)r->total) * (1 + TOLERANCE)) past_log = true;
    }
    if (enhanced && past_log) {
        *reached = INFINITY;
        return false;
    }
    return holds;
}

static bool delta_holds(const kn_model *m, const kn_vhistogram *h, const kn_vreference *r, double *reached)
{
    uint32_t occurring = r->counts[r->values] > 0, shared = 0;
    for (uint32_t v = 0; v < r->values; v++) occurring += r->counts[v] > 0;
    *reached = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        int64_t c = reference_count(r, h->values[i]);
        kn_u128 here = (kn_u128)h->counts[i] * (kn_u128)r->total, there = (kn_u128)c * (kn_u128)h->total;
        shared += c > 0;
        double d = c == 0 ? INFINITY : here == there ? 0 : fabs((double)logl((long double)here / (long double)there));
        if (d > *reached) *reached = d;
    }
    if (shared < occurring) *reached = INFINITY;
    return *reached < ratio(m->bound) * (1 + TOLERANCE) && (*reached > 0 || m->bound.numerator > 0);
}

/* ---- Earth mover's distances ---- */

static bool within(kn_u128 distance, kn_u128 whole, const kn_model *m, double *reached)
{
    *reached = quotient(distance, whole);
    return kn_v_compare(distance, whole, m->bound.numerator, m->bound.denominator) <= 0;
}

/* Half of the sum of all differences. Values that the class does not have differ by q. */
static bool equal_holds(const kn_model *m, const kn_vhistogram *h, const kn_vreference *r, double *reached)
{
    kn_u128 sum = 0, absent = (kn_u128)r->total;
    for (uint32_t i = 0; i < h->count; i++) {
        int64_t c = reference_count(r, h->values[i]);
        kn_u128 here = (kn_u128)h->counts[i] * (kn_u128)r->total, there = (kn_u128)c * (kn_u128)h->total;
        sum += here > there ? here - there : there - here;
        absent -= (kn_u128)c;
    }
    sum += absent * (kn_u128)h->total;
    return within(sum, 2 * (kn_u128)h->total * (kn_u128)r->total, m, reached);
}

/* The concave function of the height, without its value elsewhere than at the top: bends left and right of the top, each
 * stack's last the nearest. Positions of a stack are relative to its own shift. */
typedef struct hill {
    kn_vbreak *left, *right;
    uint32_t   left_count, right_count;
    int64_t    left_shift, right_shift, wall;
    kn_i128    top; /* the value on the plateau */
} hill;

/* Where the plateau begins and ends, within the bounds. */
static int64_t left_end(const hill *f)
{
    int64_t at = f->left_count ? f->left[f->left_count - 1].at + f->left_shift : -f->wall;
    return at < -f->wall ? -f->wall : at;
}

static int64_t right_end(const hill *f)
{
    int64_t at = f->right_count ? f->right[f->right_count - 1].at + f->right_shift : f->wall;
    return at > f->wall ? f->wall : at;
}

/* Adds slope × height, slope > 0: the top moves right until the bends passed have used up the slope. */
static void tilt_right(hill *f, kn_i128 slope)
{
    int64_t at = right_end(f);
    f->top += slope * at;
    while (slope > 0) {
        bool wall = f->right_count == 0 || at == f->wall;
        if (wall) { /* an infinite bend: the rest of the slope stays on its left             */
            f->left[f->left_count++] = (kn_vbreak){f->wall - f->left_shift, slope};
            return;
        }
        kn_vbreak *bend = &f->right[f->right_count - 1];
        kn_i128    taken = bend->weight < slope ? bend->weight : slope;
        f->left[f->left_count++] = (kn_vbreak){at - f->left_shift, taken};
        bend->weight -= taken;
        if (bend->weight == 0) f->right_count--;
        slope -= taken;
        int64_t next = right_end(f);
        f->top += slope * (next - at);
        at = next;
    }
}

static void tilt_left(hill *f, kn_i128 slope) /* slope > 0: subtracts slope × height */
{
    int64_t at = left_end(f);
    f->top -= slope * at;
    while (slope > 0) {
        bool wall = f->left_count == 0 || at == -f->wall;
        if (wall) {
            f->right[f->right_count++] = (kn_vbreak){-f->wall - f->right_shift, slope};
            return;
        }
        kn_vbreak *bend = &f->left[f->left_count - 1];
        kn_i128    taken = bend->weight < slope ? bend->weight : slope;
        f->right[f->right_count++] = (kn_vbreak){at - f->right_shift, taken};
        bend->weight -= taken;
        if (bend->weight == 0) f->left_count--;
        slope -= taken;
        int64_t next = left_end(f);
        f->top += slope * (at - next);
        at = next;
    }
}

static bool ordered_holds(const kn_model *m, const kn_vhistogram *h, const kn_vreference *r, double *reached)
{
    int64_t  steps = r->values > 2 ? (int64_t)r->values - 1 : 1;
    uint32_t at = 0, room = 2 * r->values + 2;
    hill     f = {.left = r->breaks, .right = r->breaks + room, .wall = steps};
    for (uint32_t v = 0; v < r->values; v++) {
        if (v > 0) { /* a step of one either way */
            f.left_shift--;
            f.right_shift++;
        }
        kn_i128 tilt = -(kn_i128)r->counts[v] * h->total;
        if (at < h->count && h->values[at] == v) tilt += (kn_i128)h->counts[at++] * r->total;
        if (tilt > 0) tilt_right(&f, tilt);
        if (tilt < 0) tilt_left(&f, -tilt);
    }
    return within((kn_u128)f.top, (kn_u128)steps * (kn_u128)h->total * (kn_u128)r->total, m, reached);
}

static kn_u128 gap(kn_u128 a, kn_u128 b)
{
    return a > b ? a - b : b - a;
}

/* Twice the distance times the height, n and N. A node that the class does not touch differs by its share of the
 * reference; those are all added first and corrected for the nodes that are touched. */
static bool hierarchical_holds(const kn_model *m, const kn_vhistogram *h, const kn_vreference *r, double *reached)
{
    const kn_vtree *t = r->tree;
    kn_u128         n = (kn_u128)h->total, all = (kn_u128)r->total, sum = r->node_sum * n;
    int64_t         missing = 0;
    uint32_t        touched = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->values[i] >= r->values) {
            missing += h->counts[i];
            continue;
        }
        for (uint32_t node = t->leaf_of_value[h->values[i]]; t->parent[node] != KN_V_NONE; node = t->parent[node]) {
            if (r->node_scratch[node] == 0) r->touched[touched++] = node;
            r->node_scratch[node] += h->counts[i];
        }
    }
    for (uint32_t i = 0; i < touched; i++) {
        uint32_t node = r->touched[i];
        kn_u128  step = t->level[t->parent[node]] - t->level[node], there = (kn_u128)r->node_counts[node] * n;
        sum -= there * step;
        sum += gap((kn_u128)r->node_scratch[node] * all, there) * step;
        r->node_scratch[node] = 0;
    }
    sum += gap((kn_u128)missing * all, (kn_u128)r->counts[r->values] * n) * t->height;
    return within(sum, 2 * (kn_u128)t->height * n * all, m, reached);
}

/* ---- Any model ---- */

bool kn_vmodel_holds(const kn_model *m, int64_t size, const kn_vhistogram *h, const kn_vreference *r, double *reached)
{
    switch (m->kind) {
    case KN_MODEL_K: *reached = (double)size; return size >= m->k;
    case KN_MODEL_MAX_RISK:
        *reached = 1 / (double)size;
        return kn_v_compare(1, (kn_u128)size, m->bound.numerator, m->bound.denominator) <= 0;
    case KN_MODEL_DISTINCT: return distinct_holds(m, h, reached);
    case KN_MODEL_ENTROPY: return entropy_holds(m, h, reached);
    case KN_MODEL_RECURSIVE: return recursive_holds(m, h, reached);
    case KN_MODEL_ALPHA_K: return alpha_holds(m, size, h, reached);
    case KN_MODEL_BETA_BASIC:
    case KN_MODEL_BETA_ENHANCED: return beta_holds(m, h, r, reached);
    case KN_MODEL_DELTA: return delta_holds(m, h, r, reached);
    case KN_MODEL_T_EQUAL: return equal_holds(m, h, r, reached);
    case KN_MODEL_T_ORDERED: return ordered_holds(m, h, r, reached);
    case KN_MODEL_T_HIERARCHICAL: return hierarchical_holds(m, h, r, reached);
    default: break;
    }
    *reached = NAN;
    return false;
}
