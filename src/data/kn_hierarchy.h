/* kn_hierarchy.h: the inside of a hierarchy. See kanon/hierarchy.h for what it means.
 *
 * A hierarchy is arrays over node numbers:
 *
 *     0 .. leaves - 1     the leaves, in leaf order (a leaf's position is its number)
 *     leaves              "missing", the implicit leaf below the root
 *     leaves + 1 ..       the groups, level by level, each level in leaf order
 *     nodes - 1           the root
 *
 * so a parent always has a larger number than its children, and the leaves below a node are the interval
 * [first, last). Only the root's interval includes "missing".
 *
 * Ancestors are looked up in a table with one row per level; the lowest common ancestor of any set is that of its
 * outermost leaves, found by bisection over the levels.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_HIERARCHY_H
#define KN_HIERARCHY_H

#include <kanon/hierarchy.h>

#include "kn_string.h"
#include "kn_table.h"

struct kn_hierarchy {
    kn_context *ctx;
    char       *name;   /* the file, or what it was built from: for messages  */
    uint32_t    height; /* the root's level: 1 .. KN_HIERARCHY_MAX_LEVELS - 1 */
    uint32_t    low, above; /* of a view: levels left out below and above; 0  */
    uint32_t    leaves; /* the domain; "missing" is not counted               */
    uint32_t    nodes;  /* with "missing"                                     */
    bool        balanced;

    /* Per node. */
    uint32_t *parent;        /* of the root: KN_NODE_NONE                                              */
    uint32_t *first, *last;  /* leaf interval                                                          */
    uint32_t *label;         /* label number; equal labels have equal numbers                          */
    uint32_t *changes;       /* how often the label changes on the path from the root                  */
    uint8_t  *level;         /* a leaf's is 0 at any depth                                             */

    uint32_t *ancestors;   /* levels 1 .. height - 1, each leaves + 1 wide: see kn_hierarchy_ancestor */
    uint32_t *level_sizes; /* height + 1; without "missing"                                           */

    uint32_t  label_count;
    uint64_t *label_offsets; /* label_count + 1 */
    char     *label_bytes;

    /* The column it is bound to; leaf_of_code is NULL while it is bound to none. */
    uint32_t  codes;        /* the column's distinct values              */
    uint32_t *leaf_of_code; /* codes + 1: that of "missing" is `leaves`  */
    uint32_t *code_order;   /* the codes in leaf order                   */
    bool      missing;      /* the column has missing cells              */

    int64_t *people; /* leaves + 2: people of the population with a leaf before this one; NULL: none is known */

    kn_hierarchy_warning *warnings;
    uint32_t              warning_count;
};

/* ---- Look-ups; none can fail ---- */

/* The node that stands for a leaf at a level: O(1). */
static inline uint32_t kn_hierarchy_ancestor(const kn_hierarchy *h, uint32_t leaf, uint32_t level)
{
    level += h->low;
    if (level == 0) return leaf;
    if (level >= h->low + h->height + h->above) return h->nodes - 1;
    return h->ancestors[(size_t)(level - 1) * ((size_t)h->leaves + 1) + leaf];
}

/* The same for a code of the column (its number of values: a missing cell). */
static inline uint32_t kn_hierarchy_of_code(const kn_hierarchy *h, uint32_t code, uint32_t level)
{
    return kn_hierarchy_ancestor(h, h->leaf_of_code[code], level);
}

/* The levels low .. high of a hierarchy as 0 .. high - low: for what goes from leaves and codes to nodes by a level, and for
 * nothing else. It borrows everything; it is not freed. */
static inline kn_hierarchy kn_hierarchy_view(const kn_hierarchy *h, uint32_t low, uint32_t high)
{
    kn_hierarchy view = *h;
    view.low = low;
    view.height = high - low;
    view.above = h->height - high;
    return view;
}

/* Is the leaf at or below the node? */
static inline bool kn_hierarchy_covers(const kn_hierarchy *h, uint32_t node, uint32_t leaf)
{
    return h->first[node] <= leaf && leaf < h->last[node];
}

static inline kn_string kn_hierarchy_text(const kn_hierarchy *h, uint32_t node)
{
    uint64_t  begin = h->label_offsets[h->label[node]], end = h->label_offsets[h->label[node] + 1];
    kn_string s = {h->label_bytes + begin, (size_t)(end - begin)};
    return s;
}

/* Lowest common ancestor of two nodes: O(log levels). */
uint32_t kn_hierarchy_lca(const kn_hierarchy *h, uint32_t a, uint32_t b);

/* Lowest common ancestor of the leaves first .. last (positions, both inclusive): with the smallest and the largest
 * position of a set, that of the set. */
uint32_t kn_hierarchy_lca_span(const kn_hierarchy *h, uint32_t first, uint32_t last);

/* Lowest common ancestor of `count` >= 1 codes of the column. */
uint32_t kn_hierarchy_lca_codes(const kn_hierarchy *h, const uint32_t *codes, size_t count);

/* The table that maps each code of the column to a number 0 .. *distinct - 1 for its node at a level, in leaf order;
 * only nodes with a value of the column get a number, and "missing" (which comes last) if the column has missing cells.
 * `map` has space for codes + 1. `nodes` (NULL, or space for codes + 1) receives the node of each number. O(codes). */
void kn_hierarchy_level_map(const kn_hierarchy *h, uint32_t level, uint32_t *map, uint32_t *distinct, uint32_t *nodes);

/* ---- Making one ---- */

/* One field of a path. Line and column (in characters) are 1-based; 0 where there is no file. */
typedef struct kn_path_field {
    kn_string label;
    int64_t   line;
    int64_t   column;
} kn_path_field;

/* Collects paths from leaf to root and makes the arrays. One node per (distance from the root, label). */
typedef struct kn_hierarchy_maker kn_hierarchy_maker;

/* `name` is the hierarchy's name in messages. `once`: a group occurs in one place only (taxonomies); otherwise it is
 * repeated on the path of each of its leaves. */
KN_CHECK kn_status kn_hierarchy_maker_create(kn_hierarchy_maker **out, kn_context *ctx, const char *name, bool once,
                                             kn_error *err);

/* Adds a leaf with its path, leaf first, 2 .. KN_HIERARCHY_MAX_LEVELS fields. KN_INPUT if it does not fit the tree so
 * far; the maker can then only be finished. */
KN_CHECK kn_status kn_hierarchy_maker_add(kn_hierarchy_maker *maker, const kn_path_field *path, uint32_t count,
                                          kn_error *err);

/* Makes the hierarchy and frees the maker, even on failure. `added`: the status of adding the paths, which is
 * returned if it is a failure. No paths: a root "*" above no leaf. `column` (may be NULL): binds it to the column,
 * whose i-th value the i-th path must have stood for. */
KN_CHECK kn_status kn_hierarchy_maker_finish(kn_hierarchy **out, kn_hierarchy_maker *maker, const kn_column *column,
                                             kn_status added, kn_error *err);

/* Binds the hierarchy: takes ownership of `leaf_of_code` (codes + 1 entries from kn_alloc), even on failure. */
KN_CHECK kn_status kn_hierarchy_set_leaves(kn_hierarchy *h, const kn_column *column, uint32_t *leaf_of_code,
                                           kn_error *err);

/* Attaches the people of each leaf: `counts` is a counted table of one column, `leaves` the leaf of each of its codes. KN_INPUT
 * if two of its rows are about the same leaf. */
KN_CHECK kn_status kn_hierarchy_set_people(kn_hierarchy *h, const kn_table *counts, const uint32_t *leaves, kn_error *err);

/* Builds a hierarchy over the values of a column: every kind but FILE and TAXONOMY. KN_USAGE if the spec makes no sense
 * for the column. */
KN_CHECK kn_status kn_hierarchy_build(kn_hierarchy **out, kn_context *ctx, const kn_column *column,
                                      const kn_hierarchy_spec *spec, kn_error *err);

/* The same of GROUPS, which look at the rows too. Not bound: its leaves are in the order of the groups. */
KN_CHECK kn_status kn_hierarchy_build_groups(kn_hierarchy **out, kn_context *ctx, const kn_table *table, int column,
                                             const kn_hierarchy_spec *spec, kn_error *err);

/* The leaf of every value of a column (codes + 1 entries, freed by the caller), KN_NODE_NONE for those that have none: *lacking of
 * them. */
KN_CHECK kn_status kn_hierarchy_find_leaves(uint32_t **out, uint32_t *lacking, const kn_hierarchy *h,
                                            const kn_column *column, char decimal, kn_error *err);

/* The leaf of every value of a column, bound to it or not (codes + 1 entries, freed by the caller): what kn_hierarchy_bind
 * would find. `rows` is for the message. */
KN_CHECK kn_status kn_hierarchy_match(uint32_t **out, const kn_hierarchy *h, const kn_column *column, int64_t rows,
                                      char decimal, bool show_values, kn_error *err);

/* kn_hierarchy_bind for a column without a table. */
KN_CHECK kn_status kn_hierarchy_bind_column(kn_hierarchy *h, const kn_column *column, int64_t rows, char decimal,
                                            bool show_values, kn_error *err);

#endif
