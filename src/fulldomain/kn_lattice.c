/* kn_lattice.c: nodes of a lattice as numbers, by height, and in lexicographic order.
 *
 * Interface: kn_lattice.h. A node's number is its vector of levels read as a mixed radix number. Cost: O(attributes) per
 * node; listing all nodes by height is a counting sort, 4 bytes per node.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_lattice.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"

kn_status kn_lattice_make(kn_lattice *out, kn_context *ctx, const int *heights, int quasi_count, kn_error *err)
{
    size_t n = (size_t)quasi_count + 1; /* never an empty block */
    *out = (kn_lattice){.ctx = ctx, .quasi_count = quasi_count, .nodes = 1, .count = 1};
    if (!KN_ALLOC_ZERO(ctx, out->heights, n) || !KN_ALLOC_ZERO(ctx, out->strides, n)) {
        kn_lattice_free(out);
        return kn_fail_memory(err, ctx, "the lattice");
    }
    for (int q = quasi_count - 1; q >= 0; q--) {
        int64_t levels = (int64_t)heights[q] + 1;
        out->heights[q] = heights[q];
        out->height += heights[q];
        out->nodes *= (double)levels;
        out->strides[q] = out->count;
        if (out->count > 0) out->count = out->count > KN_LATTICE_MAX / levels ? -1 : out->count * levels;
    }
    if (out->count < 0) memset(out->strides, 0, n * sizeof *out->strides);
    return KN_OK;
}

void kn_lattice_free(kn_lattice *lattice)
{
    KN_FREE(lattice->heights, lattice->strides);
    lattice->heights = NULL;
    lattice->strides = NULL;
}

void kn_lattice_levels(const kn_lattice *lattice, int64_t node, int *levels)
{
    for (int q = 0; q < lattice->quasi_count; q++) {
        levels[q] = (int)(node / lattice->strides[q]);
        node %= lattice->strides[q];
    }
}

int64_t kn_lattice_node(const kn_lattice *lattice, const int *levels)
{
    int64_t node = 0;
    for (int q = 0; q < lattice->quasi_count; q++) node += levels[q] * lattice->strides[q];
    return node;
}

/* The next vector in lexicographic order; the change of its height. */
static int advance(const kn_lattice *lattice, int *levels)
{
    int change = 0;
    for (int q = lattice->quasi_count - 1; q >= 0; q--) {
        if (levels[q] < lattice->heights[q]) {
            levels[q]++;
            return change + 1;
        }
        change -= levels[q];
        levels[q] = 0;
    }
    return change;
}

kn_status kn_lattice_by_height(const kn_lattice *lattice, int64_t **starts, uint32_t **nodes, kn_error *err)
{
    kn_context *ctx = lattice->ctx;
    size_t      heights = (size_t)lattice->height + 1;
    int        *levels = kn_alloc_array_zero(ctx, (size_t)lattice->quasi_count + 1, sizeof *levels);
    *starts = kn_alloc_array_zero(ctx, heights + 1, sizeof **starts);
    *nodes = kn_alloc_array(ctx, (size_t)lattice->count, sizeof **nodes);
    if (!levels || !*starts || !*nodes) {
        KN_FREE(levels, *starts, *nodes);
        *starts = NULL;
        *nodes = NULL;
        return kn_fail_memory(err, ctx, "the lattice");
    }
    /* Twice through all nodes: count them, then put them into their places; starts[h] moves to where h ends, which is
     * where h + 1 begins. */
    int height = 0;
    for (int64_t i = 0; i < lattice->count; i++, height += advance(lattice, levels)) (*starts)[height + 1]++;
    for (size_t h = 0; h < heights; h++) (*starts)[h + 1] += (*starts)[h];
    for (int64_t i = 0; i < lattice->count; i++, height += advance(lattice, levels))
        (*nodes)[(*starts)[height]++] = (uint32_t)i;
    memmove(*starts + 1, *starts, heights * sizeof **starts);
    (*starts)[0] = 0;
    kn_free(levels);
    return KN_OK;
}

bool kn_levels_below(const int *low, const int *high, int quasi_count)
{
    for (int q = 0; q < quasi_count; q++)
        if (low[q] > high[q]) return false;
    return true;
}

int kn_levels_compare(const int *a, const int *b, int quasi_count)
{
    for (int q = 0; q < quasi_count; q++)
        if (a[q] != b[q]) return a[q] < b[q] ? -1 : 1;
    return 0;
}

int kn_levels_compare_by_height(const int *a, const int *b, int quasi_count)
{
    int higher = 0; /* a than b */
    for (int q = 0; q < quasi_count; q++) higher += a[q] - b[q];
    return higher != 0 ? higher : kn_levels_compare(a, b, quasi_count);
}

/* Spreads a height over the attributes from `first` on, the last ones taking as much as they can. */
static void spread(const kn_lattice *lattice, int first, int height, int *levels)
{
    for (int q = lattice->quasi_count - 1; q >= first; q--) {
        levels[q] = height < lattice->heights[q] ? height : lattice->heights[q];
        height -= levels[q];
    }
}

bool kn_lattice_first(const kn_lattice *lattice, int height, int *levels)
{
    if (height < 0 || height > lattice->height) return false;
    spread(lattice, 0, height, levels);
    return true;
}

bool kn_lattice_next(const kn_lattice *lattice, int *levels)
{
    int behind = 0; /* levels of the attributes behind q: one of them moves to q */
    for (int q = lattice->quasi_count - 1; q >= 0; q--) {
        if (behind > 0 && levels[q] < lattice->heights[q]) {
            levels[q]++;
            spread(lattice, q + 1, behind - 1, levels);
            return true;
        }
        behind += levels[q];
    }
    return false;
}
