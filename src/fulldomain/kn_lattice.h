/* kn_lattice.h: the lattice of nodes: vectors of levels, one per attribute, as numbers and in order.
 *
 * A node's number counts the vectors in lexicographic order (the first attribute changes slowest), so smaller numbers
 * are lexicographically lower nodes. Lattices with more than KN_LATTICE_MAX nodes have no numbers; walking through the
 * nodes of one height works in any lattice. A lattice never changes; any thread may read.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_LATTICE_H
#define KN_LATTICE_H

#include <kanon/context.h>

#define KN_LATTICE_MAX 10000000

typedef struct kn_lattice {
    kn_context *ctx;
    int         quasi_count;
    int        *heights; /* of the attributes' hierarchies: levels are 0 .. heights[q]                    */
    int         height;  /* of the top node: their sum                                                    */
    double      nodes;   /* how many there are; a double since there may be 10^20                         */
    int64_t     count;   /* the same; -1: more than KN_LATTICE_MAX, and the nodes have no numbers         */
    int64_t    *strides; /* what one level more of an attribute adds to a node's number; all 0 without numbers */
} kn_lattice;

KN_CHECK kn_status kn_lattice_make(kn_lattice *out, kn_context *ctx, const int *heights, int quasi_count, kn_error *err);
void               kn_lattice_free(kn_lattice *lattice); /* its parts, not the struct; a zero one is fine */

/* ---- Lattices with numbers ---- */

void    kn_lattice_levels(const kn_lattice *lattice, int64_t node, int *levels);
int64_t kn_lattice_node(const kn_lattice *lattice, const int *levels);

static inline int kn_lattice_level(const kn_lattice *lattice, int64_t node, int attribute)
{
    return (int)(node / lattice->strides[attribute] % (lattice->heights[attribute] + 1));
}

/* The direct generalization or specialization by one attribute; -1: there is none. */
static inline int64_t kn_lattice_up(const kn_lattice *lattice, int64_t node, int attribute)
{
    bool top = kn_lattice_level(lattice, node, attribute) == lattice->heights[attribute];
    return top ? -1 : node + lattice->strides[attribute];
}

static inline int64_t kn_lattice_down(const kn_lattice *lattice, int64_t node, int attribute)
{
    return kn_lattice_level(lattice, node, attribute) == 0 ? -1 : node - lattice->strides[attribute];
}

/* All nodes, height by height, each height in lexicographic order: those of height h are nodes[starts[h]] to
 * nodes[starts[h + 1] - 1]. Both are freed by the caller. O(nodes × attributes). */
KN_CHECK kn_status kn_lattice_by_height(const kn_lattice *lattice, int64_t **starts, uint32_t **nodes, kn_error *err);

/* ---- Any lattice ---- */

/* Is every level of `low` at most that of `high`? (equal nodes: yes) */
bool kn_levels_below(const int *low, const int *high, int quasi_count);

/* Negative, 0 or positive: the order of the nodes' numbers. */
int kn_levels_compare(const int *a, const int *b, int quasi_count);

/* The same with the lower height first. */
int kn_levels_compare_by_height(const int *a, const int *b, int quasi_count);

/* The lexicographically lowest node of a height (false: the height is out of range), and the next one of the same height
 * (false: that was the last; `levels` is then as before). */
bool kn_lattice_first(const kn_lattice *lattice, int height, int *levels);
bool kn_lattice_next(const kn_lattice *lattice, int *levels);

#endif
