/* utility_testing.h: what the tests of plans and metrics share: small tables, random trees, and a naive twin that knows
 * nothing but the path of each leaf.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UTILITY_TESTING_H
#define UTILITY_TESTING_H

#include "testing.h"

#include <kanon/hierarchy.h>
#include <kanon/spec.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_builder.h"
#include "kn_hierarchy.h"
#include "kn_hierarchy_file.h"
#include "kn_rng.h"

/* A table from texts, row by row; NULL cells are missing. `types` NULL: found out. */
static inline kn_status make_table(kn_table **out, kn_context *ctx, const char *const *names, int columns,
                                   const char *const *cells, int64_t rows, const kn_type *types, kn_error *err)
{
    kn_string       texts[16];
    kn_builder_type given[16];
    kn_builder     *b = NULL;
    for (int c = 0; c < columns; c++) {
        texts[c] = kn_string_of(names[c]);
        given[c] = (kn_builder_type){types ? types[c] : KN_TYPE_AUTO, NULL};
    }
    kn_status st = kn_builder_create(&b, ctx, texts, columns, 1, err);
    if (st != KN_OK) return st;
    uint32_t *ids = malloc(sizeof *ids * (size_t)(rows * columns + 1));
    assert_non_null(ids);
    for (int c = 0; c < columns; c++)
        for (int64_t r = 0; r < rows; r++) {
            const char *cell = cells[r * columns + c];
            ids[c * rows + r] = cell ? kn_intern(kn_builder_interner(b, c, 0), kn_string_of(cell)) : KN_ID_MISSING;
            if (ids[c * rows + r] == KN_ID_FAILED) st = KN_MEMORY;
        }
    int64_t first = 0;
    if (st == KN_OK) st = kn_builder_extend(b, rows, 0, &first, err);
    if (st == KN_OK)
        for (int c = 0; c < columns; c++) kn_builder_write(b, c, first, ids + c * rows, rows);
    free(ids);
    if (st != KN_OK) {
        kn_builder_free(b);
        return st;
    }
    kn_value_rules rules = {'.', NULL};
    return kn_builder_finish(out, b, given, &rules, err);
}

static inline kn_hierarchy *hierarchy_of(kn_context *ctx, const char *text, const kn_table *table, int column)
{
    kn_error      err = KN_ERROR_INIT;
    kn_hierarchy *h = NULL;
    assert_ok(kn_hierarchy_parse(&h, ctx, "h.csv", text, strlen(text), ';', &err), err);
    assert_ok(kn_hierarchy_bind(h, table, column, '.', true, &err), err);
    return h;
}

/* ---- Random trees ---- */

enum { MOST_LEAVES = 12, MOST_HEIGHT = 4, MOST_QUASI = 4, MOST_ROWS = 40, ROOT = 0, MISSING_NODE = -1 };

typedef struct tree {
    int height, leaves, nodes;
    int path[MOST_LEAVES][MOST_HEIGHT + 1]; /* node ids from the root (depth 0) down */
    int depth[MOST_LEAVES];
} tree;

static inline void grow_tree(tree *t, kn_rng *rng, const int *above, int depth, int height)
{
    bool leaf = depth >= height || depth >= MOST_HEIGHT || (depth > 0 && kn_rng_below(rng, 5) == 0);
    if (leaf) {
        if (t->leaves == MOST_LEAVES) return;
        memcpy(t->path[t->leaves], above, sizeof t->path[0]);
        t->depth[t->leaves++] = depth;
        if (depth > t->height) t->height = depth;
        return;
    }
    int children = 1 + (int)kn_rng_below(rng, 3);
    for (int c = 0; c < children; c++) {
        int path[MOST_HEIGHT + 1];
        memcpy(path, above, sizeof path);
        path[depth + 1] = t->nodes++;
        grow_tree(t, rng, path, depth + 1, height);
    }
}

static inline tree random_tree(kn_rng *rng)
{
    tree t = {.nodes = 1};
    int  root[MOST_HEIGHT + 1] = {ROOT};
    grow_tree(&t, rng, root, 0, 1 + (int)kn_rng_below(rng, MOST_HEIGHT));
    return t;
}

/* A table of texts "v<id>" with a hierarchy for each column. */
typedef struct world {
    int           rows, quasi_count;
    int           quasi[MOST_QUASI];
    tree          trees[MOST_QUASI];
    int           leaf[MOST_ROWS][MOST_QUASI]; /* MISSING_NODE: a missing cell */
    kn_table     *table;
    kn_hierarchy *hierarchies[MOST_QUASI];
} world;

static inline kn_hierarchy *world_hierarchy(kn_context *ctx, const world *w, int q)
{
    char        text[4096];
    size_t      used = 0;
    const tree *t = &w->trees[q];
    for (int leaf = 0; leaf < t->leaves; leaf++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "v%d", t->path[leaf][t->depth[leaf]]);
        for (int d = t->depth[leaf] - 1; d > 0; d--)
            used += (size_t)snprintf(text + used, sizeof text - used, ";g%d", t->path[leaf][d]);
        used += (size_t)snprintf(text + used, sizeof text - used, ";*\n");
    }
    return hierarchy_of(ctx, text, w->table, q);
}

static inline void world_make(world *w, kn_context *ctx, kn_rng *rng)
{
    static const char *const names[MOST_QUASI] = {"a", "b", "c", "d"};
    static const kn_type types[MOST_QUASI] = {KN_TYPE_TEXT, KN_TYPE_TEXT, KN_TYPE_TEXT, KN_TYPE_TEXT};
    static char          texts[MOST_ROWS * MOST_QUASI][16];
    const char          *cells[MOST_ROWS * MOST_QUASI];
    kn_error             err = KN_ERROR_INIT;
    *w = (world){.rows = (int)kn_rng_below(rng, MOST_ROWS + 1), .quasi_count = 1 + (int)kn_rng_below(rng, MOST_QUASI)};
    for (int q = 0; q < w->quasi_count; q++) {
        w->quasi[q] = q;
        w->trees[q] = random_tree(rng);
        for (int r = 0; r < w->rows; r++) {
            const tree *t = &w->trees[q];
            int         leaf = (int)kn_rng_below(rng, (uint64_t)t->leaves), cell = r * w->quasi_count + q;
            if (kn_rng_below(rng, 8) == 0) leaf = MISSING_NODE;
            w->leaf[r][q] = leaf;
            cells[cell] = NULL;
            if (leaf == MISSING_NODE) continue;
            snprintf(texts[cell], sizeof texts[cell], "v%d", t->path[leaf][t->depth[leaf]]);
            cells[cell] = texts[cell];
        }
    }
    assert_ok(make_table(&w->table, ctx, names, w->quasi_count, cells, w->rows, types, &err), err);
    for (int q = 0; q < w->quasi_count; q++) w->hierarchies[q] = world_hierarchy(ctx, w, q);
}

static inline void world_free(world *w)
{
    for (int q = 0; q < w->quasi_count; q++) kn_hierarchy_free(w->hierarchies[q]);
    kn_table_free(w->table);
}

/* ---- The naive twin ---- */

/* The node that stands for a leaf at a level, and the level of that node itself. */
static inline int twin_node(const tree *t, int leaf, int level)
{
    int cut = t->height - level;
    if (leaf == MISSING_NODE) return cut == 0 ? ROOT : MISSING_NODE;
    return t->path[leaf][t->depth[leaf] < cut ? t->depth[leaf] : cut];
}

static inline int twin_level(const tree *t, int leaf, int level)
{
    int cut = t->height - level;
    if (leaf == MISSING_NODE) return cut == 0 ? t->height : 0;
    return t->depth[leaf] <= cut ? 0 : level;
}

static inline bool twin_below(const tree *t, int leaf, int node)
{
    if (leaf == MISSING_NODE) return node == ROOT || node == MISSING_NODE;
    for (int d = 0; d <= t->depth[leaf]; d++)
        if (t->path[leaf][d] == node) return true;
    return false;
}

static inline int twin_cover(const tree *t, int node)
{
    int n = 0;
    for (int leaf = 0; leaf < t->leaves; leaf++) n += twin_below(t, leaf, node);
    return n;
}

static inline int twin_rows(const world *w, int q, int node)
{
    int n = 0;
    for (int r = 0; r < w->rows; r++) n += twin_below(&w->trees[q], w->leaf[r][q], node);
    return n;
}

/* What one cell of a row costs. */
static inline long double twin_cell(const world *w, kn_metric metric, int row, int q, int level, bool suppressed)
{
    const tree *t = &w->trees[q];
    int         leaf = w->leaf[row][q], node = twin_node(t, leaf, level), cover = twin_cover(t, node);
    if (metric == KN_METRIC_ENTROPY) {
        int from = twin_rows(w, q, leaf == MISSING_NODE ? MISSING_NODE : t->path[leaf][t->depth[leaf]]);
        return log2l((long double)(suppressed ? w->rows : twin_rows(w, q, node)) / from);
    }
    if (suppressed) return 1;
    if (metric == KN_METRIC_PREC) return (long double)twin_level(t, leaf, level) / t->height;
    if (cover <= 1) return 0;
    return metric == KN_METRIC_LM ? (long double)(cover - 1) / (t->leaves - 1) : (long double)cover / t->leaves;
}

static inline bool twin_same_class(const world *w, const int *levels, int a, int b)
{
    for (int q = 0; q < w->quasi_count; q++)
        if (twin_node(&w->trees[q], w->leaf[a][q], levels[q]) != twin_node(&w->trees[q], w->leaf[b][q], levels[q]))
            return false;
    return true;
}

/* The class of each row, numbered by first row; returns how many there are. */
static inline int twin_classes(const world *w, const int *levels, int *class_of)
{
    int classes = 0;
    for (int r = 0; r < w->rows; r++) {
        class_of[r] = -1;
        for (int s = 0; s < r && class_of[r] < 0; s++)
            if (twin_same_class(w, levels, r, s)) class_of[r] = class_of[s];
        if (class_of[r] < 0) class_of[r] = classes++;
    }
    return classes;
}

/* Any metric of a node with some classes suppressed, cell by cell and class by class. */
static inline long double twin_metric(const world *w, kn_metric metric, const int *levels, const int *class_of,
                                      int classes, const bool *suppressed, const kn_ratio *weights, int k)
{
    long double sum = 0, weight = 0;
    int         released_rows = 0, released_classes = 0;
    for (int c = 0; c < classes; c++) {
        int size = 0;
        for (int r = 0; r < w->rows; r++) size += class_of[r] == c;
        if (!suppressed[c]) {
            released_rows += size;
            released_classes++;
        }
        if (metric == KN_METRIC_DM) sum += (long double)size * (suppressed[c] ? w->rows : size);
        if (metric == KN_METRIC_DM_STAR) sum += (long double)size * size;
    }
    if (metric == KN_METRIC_DM || metric == KN_METRIC_DM_STAR) return sum;
    if (metric == KN_METRIC_C_AVG)
        return released_classes ? (long double)released_rows / released_classes / k : (long double)INFINITY;
    for (int q = 0; q < w->quasi_count; q++) {
        long double one = weights ? (long double)weights[q].numerator / (long double)weights[q].denominator : 1;
        weight += one;
        for (int r = 0; r < w->rows; r++) sum += one * twin_cell(w, metric, r, q, levels[q], suppressed[class_of[r]]);
    }
    if (metric == KN_METRIC_ENTROPY) return sum;
    long double mean = w->rows ? sum / weight / w->rows : 0;
    return metric == KN_METRIC_PREC ? 1 - mean : mean;
}

static inline void random_levels(const world *w, kn_rng *rng, int *levels)
{
    for (int q = 0; q < w->quasi_count; q++)
        levels[q] = (int)kn_rng_below(rng, (uint64_t)w->trees[q].height + 1);
}

/* Ordinary weights, or ones that need more than 64 bits together; never all 0. */
static inline void random_weights(const world *w, kn_rng *rng, kn_ratio *weights)
{
    bool odd = kn_rng_below(rng, 3) == 0;
    for (int q = 0; q < w->quasi_count; q++) {
        weights[q] = (kn_ratio){kn_rng_below(rng, 5) + (q == 0), 1 + kn_rng_below(rng, 4)};
        if (odd) weights[q] = (kn_ratio){1 + kn_rng_below(rng, 1000000000000000000u), 1000000000000000000u};
    }
}

static inline void assert_near(double found, long double expected, const char *what)
{
    if (isinf((double)expected) && isinf(found)) return;
    long double scale = fabsl(expected) > 1 ? fabsl(expected) : 1;
    /* valgrind computes long double with the digits of double. */
    volatile long double one = 1, least = LDBL_EPSILON;
    if (!(fabsl((long double)found - expected) <= (one + least > one ? 1e-14L : 1e-11L) * scale))
        fail_msg("%s: found %.17g, expected %.17Lg", what, found, expected);
}

#endif
