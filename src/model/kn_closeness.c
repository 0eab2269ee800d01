/* kn_closeness.c: t-closeness: the earth mover's distance between a class and the reference (Li, Li, Venkatasubramanian
 * 2007, section 4), in integers: a class of n rows and a reference of N are both scaled to nN.
 *
 * equal          what the class has too much of, value by value.
 * ordered        the sum of the absolute cumulative differences. Between two values of the class the class's part stays
 *                and the reference's grows, so the sign changes at most once: bisection and sums prepared in the
 *                reference do a whole stretch at once. O(values of the class × log values).
 * hierarchical   bottom-up, at each node as much as its children can settle among themselves, at the node's level. A
 *                child can have a surplus only if the class has a value below it: only ancestors of the class's values
 *                are visited. O(values of the class × height).
 *
 * Missing cells in the ordered distance. "Missing" is at distance 1 from every value, the largest distance of any two
 * values. If class and reference have the same share of missing cells, none of it moves. Otherwise one of them, the
 * fuller one, has more earth D on the line of values. That D goes to or comes from "missing" at cost 1, wherever on
 * the line it is; the rest moves along the line. So
 *
 *     EMD = D + min over A of sum_i |F_i - A_i| / (m - 1)
 *
 * where F is the cumulative difference fuller - other over the values and A_i is how much was taken up to value i: any
 * sequence that does not fall, from 0 to D. (It must not take more at a value than is there; a best one never does: it
 * rises by more than F does nowhere.) That is isotonic regression with absolute errors, solved exactly by one pass with
 * a heap. O(values × log values), for such classes only.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_model.h"

static kn_u128 product(int64_t a, int64_t b)
{
    return (kn_u128)a * (kn_u128)b;
}

kn_quotient kn_t_equal_reached(const kn_histogram *h, const kn_reference *r)
{
    kn_u128 surplus = 0;
    for (int64_t i = 0; i < h->values; i++) {
        kn_u128 here = product(h->counts[i], r->rows), there = product(r->counts[h->codes[i]], h->rows);
        if (here > there) surplus += here - there;
    }
    return (kn_quotient){surplus, product(h->rows, r->rows)};
}

/* ---- Ordered ---- */

/* Sum over i in [begin, end) of |level - cumulative[i] × n|. */
static kn_u128 stretch(const kn_reference *r, uint32_t begin, uint32_t end, kn_u128 level, int64_t n)
{
    uint32_t low = begin, high = end; /* the first i where the reference is ahead */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (product(r->cumulative[middle], n) > level)
            high = middle;
        else
            low = middle + 1;
    }
    kn_u128 rows = (kn_u128)n;
    kn_u128 behind = level * (low - begin) - (r->sums[low] - r->sums[begin]) * rows;
    kn_u128 ahead = (r->sums[end] - r->sums[low]) * rows - level * (end - low);
    return behind + ahead;
}

static kn_u128 along_the_line(const kn_histogram *h, const kn_reference *r)
{
    uint32_t end = r->values - 1; /* after the last value nothing is left to move  */
    uint32_t at = 0;
    kn_u128  level = 0, sum = 0;
    for (int64_t i = 0; i < h->values && h->codes[i] < end; i++) {
        sum += stretch(r, at, h->codes[i], level, h->rows);
        level += product(h->counts[i], r->rows);
        at = h->codes[i];
    }
    return sum + stretch(r, at, end, level, h->rows);
}

/* A max-heap. */
static void heap_push(kn_i128 *heap, uint32_t size, kn_i128 x)
{
    uint32_t i = size;
    for (; i > 0 && heap[(i - 1) / 2] < x; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = x;
}

static void heap_replace_top(kn_i128 *heap, uint32_t size, kn_i128 x)
{
    uint32_t i = 0;
    for (uint64_t child = 1; child < size; child = 2 * (uint64_t)i + 1) {
        if (child + 1 < size && heap[child + 1] > heap[child]) child++;
        if (heap[child] <= x) break;
        heap[i] = heap[child];
        i = (uint32_t)child;
    }
    heap[i] = x;
}

/* The least sum of |F_i - A_i|, A rising from 0 to `most`, over all values but the last. `sign` is 1 where the class is
 * the fuller one, else -1. F outside [0, most] is clamped, at a cost that no A avoids. */
static kn_u128 least_errors(const kn_histogram *h, const kn_reference *r, int sign, kn_i128 most, kn_i128 *heap)
{
    kn_i128 f = 0;
    kn_u128 sum = 0;
    int64_t at = 0;
    for (uint32_t i = 0; i + 1 < r->values; i++) {
        kn_i128 change = -(kn_i128)product(r->counts[i], h->rows);
        if (at < h->values && h->codes[at] == i) change += (kn_i128)product(h->counts[at++], r->rows);
        f += sign * change;
        kn_i128 inside = f < 0 ? 0 : f > most ? most : f;
        sum += (kn_u128)(f > inside ? f - inside : inside - f);
        heap_push(heap, i, inside);
        if (heap[0] <= inside) continue;
        sum += (kn_u128)(heap[0] - inside);
        heap_replace_top(heap, i + 1, inside);
    }
    return sum;
}

kn_quotient kn_t_ordered_reached(const kn_histogram *h, const kn_reference *r, kn_scratch *scratch)
{
    int64_t last = h->values - 1;
    int64_t missing = h->codes[last] == r->values ? h->counts[last] : 0;
    kn_i128 fuller = (kn_i128)product(r->counts[r->values], h->rows) - (kn_i128)product(missing, r->rows);
    kn_u128 apart = (kn_u128)(fuller < 0 ? -fuller : fuller), whole = product(h->rows, r->rows);
    if (r->values < 2) return (kn_quotient){apart, whole};
    kn_u128 steps = r->values - 1;
    kn_u128 sum =
        fuller == 0 ? along_the_line(h, r) : least_errors(h, r, fuller > 0 ? 1 : -1, (kn_i128)apart, scratch->heap);
    return (kn_quotient){apart * steps + sum, whole * steps};
}

/* ---- Hierarchical ---- */

/* Adds the class's rows to the nodes above its values; returns how many nodes were touched. The root is left out. */
static uint32_t touch(const kn_histogram *h, const kn_hierarchy *tree, kn_scratch *s)
{
    uint32_t touched = 0, root = tree->nodes - 1;
    for (int64_t i = 0; i < h->values; i++) {
        for (uint32_t node = tree->leaf_of_code[h->codes[i]]; node != root; node = tree->parent[node]) {
            if (s->rows[node] == 0) s->touched[touched++] = node;
            s->rows[node] += h->counts[i];
        }
    }
    return touched;
}

kn_quotient kn_t_hierarchical_reached(const kn_histogram *h, const kn_reference *r, kn_scratch *s)
{
    const kn_hierarchy *tree = r->hierarchy;
    uint32_t            root = tree->nodes - 1, touched = touch(h, tree, s);
    for (uint32_t i = 0; i < touched; i++) {
        uint32_t node = s->touched[i];
        kn_u128  here = product(s->rows[node], r->rows), there = product(r->node_rows[node], h->rows);
        if (here > there) s->surplus[tree->parent[node]] += here - there;
    }
    /* At the root all is settled; elsewhere the children's surplus or their lack, whichever is less. */
    kn_u128 sum = s->surplus[root] * tree->height;
    s->surplus[root] = 0;
    for (uint32_t i = 0; i < touched; i++) {
        uint32_t node = s->touched[i];
        kn_u128  here = product(s->rows[node], r->rows), there = product(r->node_rows[node], h->rows);
        kn_u128  surplus = s->surplus[node], lack = surplus + there - here;
        sum += (surplus < lack ? surplus : lack) * tree->level[node];
        s->surplus[node] = 0;
        s->rows[node] = 0;
    }
    return (kn_quotient){sum, product(h->rows, r->rows) * tree->height};
}
