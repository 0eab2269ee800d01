/* lattice_testing.h: what the tests of full-domain generalization share: random small problems, and a naive judge that
 * compares rows one by one and knows nothing of frequency sets, level maps or lattices as numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LATTICE_TESTING_H
#define LATTICE_TESTING_H

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_builder.h"
#include "kn_fulldomain.h"
#include "kn_hierarchy_file.h"
#include "kn_rng.h"

enum {
    MOST_QUASI = 4,
    MOST_ROWS = 24,
    MOST_LEAVES = 7,
    MOST_HEIGHT = 3,
    MOST_NODES = 128, /* of the lattice */
    MOST_PEOPLE = 60,
    MOST_MODELS = 3,
    SENSITIVE = 2,
    MISSING_LEAF = -1
};

/* A tree of labels: leaf i lies at depth[i] and has path[i][d] as its ancestor at depth d (0: the root). */
typedef struct tree {
    int leaves, height, nodes;
    int depth[MOST_LEAVES], path[MOST_LEAVES][MOST_HEIGHT + 1];
} tree;

typedef struct world {
    int       rows, quasi_count;
    int       quasi[MOST_QUASI];
    int       leaf[MOST_ROWS][MOST_QUASI]; /* MISSING_LEAF: missing */
    uint32_t  code[MOST_ROWS][MOST_QUASI];
    uint32_t  sensitive[MOST_ROWS][SENSITIVE];
    uint32_t  person[MOST_ROWS];
    tree      trees[MOST_QUASI];
    int       people; /* of the population */
    int       everybody[MOST_PEOPLE][MOST_QUASI];
    int64_t   weight[MOST_PEOPLE];
    kn_table *table;
    kn_hierarchy           *hierarchies[MOST_QUASI];
    kn_hierarchy           *tree_of_sensitive;
    kn_population_set       population;
    uint32_t                population_leaves[MOST_PEOPLE * MOST_QUASI];
    kn_model                models[MOST_MODELS];
    int                     model_count;
    kn_requirements        *requirements;
    kn_requirements_scratch scratch;
    kn_objective           *objective;
    kn_fulldomain_problem   problem;
} world;

/* ---- Making one ---- */

static inline int pick(kn_rng *rng, int bound)
{
    return (int)kn_rng_below(rng, (uint64_t)bound);
}

static inline void grow(tree *t, kn_rng *rng, const int *above, int depth, int height)
{
    if (depth >= height || depth >= MOST_HEIGHT || (depth > 0 && pick(rng, 6) == 0)) {
        if (t->leaves == MOST_LEAVES) return;
        memcpy(t->path[t->leaves], above, sizeof t->path[0]);
        t->depth[t->leaves++] = depth;
        if (depth > t->height) t->height = depth;
        return;
    }
    int children = 1 + pick(rng, 3);
    for (int c = 0; c < children; c++) {
        int path[MOST_HEIGHT + 1];
        memcpy(path, above, sizeof path);
        path[depth + 1] = t->nodes++;
        grow(t, rng, path, depth + 1, height);
    }
}

static inline void random_tree(tree *t, kn_rng *rng, int height)
{
    int root[MOST_HEIGHT + 1] = {0};
    *t = (tree){.nodes = 1};
    grow(t, rng, root, 0, height);
}

static inline kn_hierarchy *parse_tree(kn_context *ctx, const tree *t, const kn_table *table, int column)
{
    char          text[4096];
    size_t        used = 0;
    kn_error      err = KN_ERROR_INIT;
    kn_hierarchy *h = NULL;
    for (int i = 0; i < t->leaves; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "v%02d", i);
        for (int d = t->depth[i] - 1; d > 0; d--)
            used += (size_t)snprintf(text + used, sizeof text - used, ";g%d", t->path[i][d]);
        used += (size_t)snprintf(text + used, sizeof text - used, ";*\n");
    }
    assert_ok(kn_hierarchy_parse(&h, ctx, "tree", text, used, ';', &err), err);
    assert_ok(kn_hierarchy_bind(h, table, column, '.', true, &err), err);
    return h;
}

/* The columns: quasi-identifiers a, b, ..., sensitive s and t, the entity e. Texts; NULL is missing. */
static inline kn_table *build_table(kn_context *ctx, const char *const *names, int columns, char *const *cells, int rows)
{
    kn_string       texts[MOST_QUASI + SENSITIVE + 1];
    kn_builder_type types[MOST_QUASI + SENSITIVE + 1];
    kn_error        err = KN_ERROR_INIT;
    kn_builder     *b = NULL;
    kn_table       *table = NULL;
    uint32_t        ids[MOST_ROWS * (MOST_QUASI + SENSITIVE + 1)];
    for (int c = 0; c < columns; c++) {
        texts[c] = kn_string_of(names[c]);
        types[c] = (kn_builder_type){KN_TYPE_TEXT, NULL};
    }
    assert_ok(kn_builder_create(&b, ctx, texts, columns, 1, &err), err);
    for (int c = 0; c < columns; c++)
        for (int r = 0; r < rows; r++) {
            const char *cell = cells[r * columns + c];
            ids[c * rows + r] = cell ? kn_intern(kn_builder_interner(b, c, 0), kn_string_of(cell)) : KN_ID_MISSING;
        }
    int64_t first = 0;
    assert_ok(kn_builder_extend(b, rows, 0, &first, &err), err);
    for (int c = 0; c < columns; c++) kn_builder_write(b, c, first, ids + c * rows, rows);
    kn_value_rules rules = {'.', NULL};
    assert_ok(kn_builder_finish(&table, b, types, &rules, &err), err);
    return table;
}

static inline void fill_rows(world *w, kn_context *ctx, kn_rng *rng)
{
    static const char *const names[] = {"a", "b", "c", "d", "s", "t", "e"};
    static char              texts[MOST_ROWS * (MOST_QUASI + SENSITIVE + 1)][8];
    char                    *cells[MOST_ROWS * (MOST_QUASI + SENSITIVE + 1)];
    const char              *used[MOST_QUASI + SENSITIVE + 1];
    int                      columns = w->quasi_count + SENSITIVE + 1, values = 2 + pick(rng, 3);
    int                      persons = 1 + pick(rng, w->rows), narrow = 1 + pick(rng, MOST_LEAVES);
    for (int c = 0; c < columns; c++) used[c] = names[c < w->quasi_count ? c : MOST_QUASI + c - w->quasi_count];
    for (int r = 0; r < w->rows; r++)
        for (int c = 0; c < columns; c++) {
            int   cell = r * columns + c;
            char *text = cells[cell] = texts[cell];
            if (c < w->quasi_count) {
                int leaf = pick(rng, w->trees[c].leaves < narrow ? w->trees[c].leaves : narrow);
                if (pick(rng, 12) == 0) leaf = MISSING_LEAF;
                w->leaf[r][c] = leaf;
                if (leaf == MISSING_LEAF)
                    cells[cell] = NULL;
                else
                    snprintf(text, 8, "v%02d", leaf);
            } else if (c < columns - 1) {
                snprintf(text, 8, "v%02d", pick(rng, values) * pick(rng, 2) % MOST_LEAVES);
                if (pick(rng, 15) == 0) cells[cell] = NULL;
            } else {
                snprintf(text, 8, "p%02d", pick(rng, persons));
            }
        }
    w->table = build_table(ctx, used, columns, cells, w->rows);
    for (int r = 0; r < w->rows; r++) {
        for (int q = 0; q < w->quasi_count; q++) w->code[r][q] = kn_table_code(w->table, q, r);
        for (int s = 0; s < SENSITIVE; s++) w->sensitive[r][s] = kn_table_code(w->table, w->quasi_count + s, r);
        w->person[r] = kn_table_code(w->table, w->quasi_count + SENSITIVE, r);
    }
}

/* Most rows' combinations and some others. */
static inline void fill_population(world *w, kn_rng *rng)
{
    int64_t unit = pick(rng, 2) ? 1 : 10;
    for (int r = 0; r < w->rows; r++) {
        if (pick(rng, 10) == 0) continue;
        memcpy(w->everybody[w->people], w->leaf[r], sizeof w->leaf[r]);
        w->weight[w->people++] = unit * (1 + pick(rng, 3)) + pick(rng, (int)unit);
    }
    int others = pick(rng, 3) == 0 ? 0 : pick(rng, MOST_PEOPLE - w->people);
    for (int i = 0; i < others; i++) {
        for (int q = 0; q < w->quasi_count; q++)
            w->everybody[w->people][q] = pick(rng, 15) == 0 ? MISSING_LEAF : pick(rng, w->trees[q].leaves);
        w->weight[w->people++] = pick(rng, 8) == 0 ? 0 : unit * pick(rng, 4);
    }
    for (int i = 0; i < w->people; i++)
        for (int q = 0; q < w->quasi_count; q++) {
            int      leaf = w->everybody[i][q];
            uint32_t number = w->hierarchies[q]->leaves;
            char     label[8];
            snprintf(label, sizeof label, "v%02d", leaf);
            for (uint32_t l = 0; l < w->hierarchies[q]->leaves && leaf != MISSING_LEAF; l++)
                if (kn_string_equal(kn_hierarchy_text(w->hierarchies[q], l), kn_string_of(label))) number = l;
            w->population_leaves[i * w->quasi_count + q] = number;
        }
    w->population = (kn_population_set){.quasi_count = w->quasi_count,
                                        .unit = unit,
                                        .count = w->people,
                                        .leaves = w->population_leaves,
                                        .counts = w->weight};
}

static inline kn_model random_model(kn_rng *rng, kn_model_kind kind)
{
    static const kn_ratio bounds[] = {{1, 10}, {1, 4}, {1, 2}, {3, 4}, {1, 1}};
    kn_model              m = {.kind = kind, .k = 1 + pick(rng, 4), .l = {2, 1}, .c = {2, 1}};
    m.attribute = kind == KN_MODEL_K || kind >= KN_MODEL_K_MAP ? NULL : pick(rng, 2) || kind == KN_MODEL_T_HIERARCHICAL ? "s" : "t";
    m.bound = bounds[pick(rng, 5)];
    m.low = (kn_ratio){0, 1};
    if (kind == KN_MODEL_DISTINCT || kind == KN_MODEL_RECURSIVE) m.l.numerator = 1 + (uint64_t)pick(rng, 3);
    if (kind == KN_MODEL_ENTROPY) m.l = (kn_ratio){10 + (uint64_t)pick(rng, 15), 10};
    if (kind == KN_MODEL_BETA_BASIC || kind == KN_MODEL_BETA_ENHANCED || kind == KN_MODEL_DELTA)
        m.bound = (kn_ratio){1 + (uint64_t)pick(rng, 20), 8};
    if (kind == KN_MODEL_PRESENCE && pick(rng, 2)) m.low = bounds[pick(rng, 2)];
    if (kind == KN_MODEL_ALPHA_K) m.bound = bounds[2 + pick(rng, 3)];
    return m;
}

static inline bool random_requirements(world *w, kn_context *ctx, kn_rng *rng, int round)
{
    const kn_hierarchy     *trees[MOST_QUASI + SENSITIVE + 1] = {NULL};
    kn_requirements_options options = {.models = w->models, .entity = -1, .hierarchies = trees};
    kn_error                err = KN_ERROR_INIT;
    w->model_count = 1 + pick(rng, MOST_MODELS);
    for (int i = 0; i < w->model_count; i++) /* every model comes first now and then */
        w->models[i] = random_model(rng, (kn_model_kind)(i == 0 ? round % KN_MODEL_KINDS : pick(rng, KN_MODEL_KINDS)));
    trees[w->quasi_count] = w->tree_of_sensitive;
    options.model_count = w->model_count;
    if (pick(rng, 3) == 0) options.entity = w->quasi_count + SENSITIVE;
    if (kn_requirements_make(&w->requirements, ctx, w->table, &options, &err) != KN_OK) return false;
    assert_ok(kn_requirements_scratch_make(&w->scratch, w->requirements, &err), err);
    return true;
}

static inline void world_free(world *w)
{
    if (w->requirements) kn_requirements_scratch_free(&w->scratch);
    kn_requirements_free(w->requirements);
    kn_objective_free(w->objective);
    for (int q = 0; q < w->quasi_count; q++) kn_hierarchy_free(w->hierarchies[q]);
    kn_hierarchy_free(w->tree_of_sensitive);
    kn_table_free(w->table);
}

/* false: the requirements made no sense for the table; there is nothing to free then. */
static inline bool world_make(world *w, kn_context *ctx, kn_rng *rng, int round)
{
    tree     of_sensitive;
    kn_error err = KN_ERROR_INIT;
    *w = (world){.rows = 2 + pick(rng, MOST_ROWS - 1), .quasi_count = 1 + pick(rng, MOST_QUASI)};
    for (int q = 0, nodes = 1; q < w->quasi_count; q++) {
        w->quasi[q] = q;
        do random_tree(&w->trees[q], rng, 1 + pick(rng, MOST_HEIGHT));
        while (nodes * (w->trees[q].height + 1) > MOST_NODES);
        nodes *= w->trees[q].height + 1;
    }
    fill_rows(w, ctx, rng);
    for (int q = 0; q < w->quasi_count; q++) w->hierarchies[q] = parse_tree(ctx, &w->trees[q], w->table, q);
    do random_tree(&of_sensitive, rng, MOST_HEIGHT);
    while (of_sensitive.leaves < MOST_LEAVES);
    w->tree_of_sensitive = parse_tree(ctx, &of_sensitive, w->table, w->quasi_count);
    fill_population(w, rng);
    if (!random_requirements(w, ctx, rng, round)) {
        world_free(w);
        return false;
    }
    kn_metric metric = (kn_metric)pick(rng, KN_METRICS);
    assert_ok(kn_objective_make(&w->objective, ctx, w->table, w->quasi, (const kn_hierarchy *const *)w->hierarchies,
                                w->quasi_count, NULL, metric, w->requirements->k, &err),
              err);
    int64_t budgets[] = {0, 1 + pick(rng, w->rows), w->rows / 4, w->rows};
    w->problem = (kn_fulldomain_problem){.table = w->table,
                                         .quasi_count = w->quasi_count,
                                         .quasi = w->quasi,
                                         .hierarchies = (const kn_hierarchy *const *)w->hierarchies,
                                         .requirements = w->requirements,
                                         .population = w->requirements->population ? &w->population : NULL,
                                         .objective = w->objective,
                                         .budget = budgets[pick(rng, 4)],
                                         .suppressed = (kn_suppressed)pick(rng, 3)};
    return true;
}

/* ---- The naive judge ---- */

/* What a leaf is shown as: its ancestor `level` steps above the deepest leaf, or itself where it lies higher. Leaves and
 * inner nodes are told apart by the sign. */
static inline int shown(const tree *t, int leaf, int level)
{
    if (leaf == MISSING_LEAF) return level == t->height ? 0 : -1000;
    int depth = t->height - level;
    return depth < t->depth[leaf] ? t->path[leaf][depth] : -1 - leaf;
}

typedef struct verdict {
    bool         good, possible;
    kn_node_sums sums;
    int64_t      average_suppressed;
    bool         suppressed[MOST_ROWS]; /* row by row */
} verdict;

static inline bool alike(const world *w, uint64_t attributes, const int *levels, const int *a, const int *b)
{
    for (int q = 0; q < w->quasi_count; q++)
        if ((attributes >> q & 1) && shown(&w->trees[q], a[q], levels[q]) != shown(&w->trees[q], b[q], levels[q]))
            return false;
    return true;
}

/* Some rows as one class. `of`: whose population is meant; NULL: everybody's. */
typedef struct shown_class {
    kn_class_view view;
    kn_histogram  histograms[SENSITIVE];
    uint32_t      codes[SENSITIVE][MOST_ROWS];
    int64_t       counts[SENSITIVE][MOST_ROWS];
} shown_class;

static inline int64_t count_persons(const world *w, const bool *rows, int sensitive, uint32_t value)
{
    int64_t count = 0;
    for (int r = 0; r < w->rows; r++) {
        if (!rows[r] || (sensitive >= 0 && w->sensitive[r][sensitive] != value)) continue;
        bool before = false;
        for (int o = 0; o < r && w->requirements->entity >= 0; o++)
            before = before || (rows[o] && w->person[o] == w->person[r] &&
                                (sensitive < 0 || w->sensitive[o][sensitive] == value));
        count += !before;
    }
    return count;
}

static inline void show_class(shown_class *c, const world *w, const bool *rows, int64_t population)
{
    const kn_requirements *r = w->requirements;
    *c = (shown_class){.view = {.population = population, .population_unit = w->population.unit}};
    for (int i = 0; i < w->rows; i++) c->view.rows += rows[i];
    c->view.persons = count_persons(w, rows, -1, 0);
    c->view.histograms = c->histograms;
    for (int s = 0; s < r->sensitive_count; s++) {
        int            column = r->sensitive[s] - w->quasi_count;
        kn_histogram  *h = &c->histograms[s];
        for (uint32_t value = 0; value <= w->table->columns[r->sensitive[s]].dict.count; value++) {
            int64_t count = count_persons(w, rows, column, value);
            if (count == 0) continue;
            c->codes[s][h->values] = value;
            c->counts[s][h->values++] = count;
            h->rows += count;
        }
        h->codes = c->codes[s];
        h->counts = c->counts[s];
    }
}

static inline int64_t people_like(const world *w, uint64_t attributes, const int *levels, const int *leaves)
{
    int64_t people = 0;
    for (int i = 0; i < w->people && w->problem.population; i++)
        if (!leaves || alike(w, attributes, levels, w->everybody[i], leaves)) people += w->weight[i];
    return people;
}

/* A class, by its first row. */
typedef struct held_class {
    int     row;
    int64_t persons, rows;
} held_class;

/* Which of two classes goes first for the sake of average risk: fewer persons, fewer rows, the order of their cells. */
static inline bool goes_before(const world *w, uint64_t attributes, const int *levels, const held_class *a,
                               const held_class *b)
{
    if (a->persons != b->persons) return a->persons < b->persons;
    if (a->rows != b->rows) return a->rows < b->rows;
    for (int q = 0; q < w->quasi_count; q++) {
        uint32_t map[64], distinct, x = w->code[a->row][q], y = w->code[b->row][q];
        if (!(attributes >> q & 1)) continue;
        kn_hierarchy_level_map(w->hierarchies[q], (uint32_t)levels[q], map, &distinct, NULL);
        if (map[x] != map[y]) return map[x] < map[y];
    }
    return false;
}

/* Average risk: gives up one class after the other until it holds; `held` becomes those that go first, their number is
 * returned. `outside`: persons of the classes that fail; what goes is one class of the release with keep-sensitive, unless
 * persons are counted, whose sum says nothing of them together. */
static inline int naive_cut(const world *w, uint64_t attributes, const int *levels, held_class *held, int count,
                            int64_t outside)
{
    kn_ratio average = w->requirements->average;
    bool     together = w->problem.suppressed == KN_SUPPRESSED_KEEP_SENSITIVE && w->requirements->entity < 0;
    kn_u128  stay = 0, gone = together ? (kn_u128)outside : 0;
    for (int i = 0; i < count; i++) {
        stay += (kn_u128)held[i].persons;
        for (int j = i; j > 0 && goes_before(w, attributes, levels, &held[j], &held[j - 1]); j--) {
            held_class moved = held[j];
            held[j] = held[j - 1];
            held[j - 1] = moved;
        }
    }
    for (int cut = 0; w->requirements->has_average && cut <= count; cut++) {
        kn_u128 classes = (kn_u128)(count - cut) + (gone > 0), persons = stay + gone;
        if (classes * average.denominator <= persons * average.numerator) return cut;
        if (cut == count) return count;
        stay -= (kn_u128)held[cut].persons;
        if (together) gone += (kn_u128)held[cut].persons;
    }
    return 0;
}

static inline void naive_sums(const world *w, const int *levels, const int *class_of, verdict *v)
{
    const kn_objective *o = w->objective;
    v->sums = (kn_node_sums){0};
    for (int r = 0; r < w->rows; r++) {
        int64_t size = 0;
        for (int i = 0; i < w->rows; i++) size += class_of[i] == class_of[r];
        *(v->suppressed[r] ? &v->sums.suppressed : &v->sums.rows) += 1;
        *(v->suppressed[r] ? &v->sums.suppressed_squares : &v->sums.squares) += (kn_u128)size; /* size × per row */
        v->sums.classes += !v->suppressed[r] && class_of[r] == r;
        for (int q = 0; q < w->quasi_count && o->cells && !v->suppressed[r]; q++)
            v->sums.cells += o->costs[q][(size_t)levels[q] * ((size_t)o->codes[q] + 1) + w->code[r][q]];
    }
}

/* keep-sensitive: the suppressed rows together. */
static inline bool suppressed_may_stay(world *w, const verdict *v, const held_class *held, int count, int cut)
{
    shown_class all;
    show_class(&all, w, v->suppressed, people_like(w, 0, NULL, NULL));
    if (!kn_requirements_hold(w->requirements, &all.view, &w->scratch)) return false;
    kn_u128 classes = 1, persons = (kn_u128)all.view.persons;
    for (int i = cut; i < count; i++) {
        classes++;
        persons += (kn_u128)held[i].persons;
    }
    kn_ratio average = w->requirements->average;
    return !w->requirements->has_average || classes * average.denominator <= persons * average.numerator;
}

/* Is somebody of the population alone without a row? */
static inline bool somebody_absent(world *w, uint64_t attributes, const int *levels)
{
    for (int i = 0; i < w->people && w->problem.population; i++) {
        bool seen = false;
        for (int r = 0; r < w->rows; r++) seen = seen || alike(w, attributes, levels, w->everybody[i], w->leaf[r]);
        kn_class_view nobody = {.population = people_like(w, attributes, levels, w->everybody[i]),
                                .population_unit = w->population.unit};
        if (!seen && !kn_requirements_hold(w->requirements, &nobody, &w->scratch)) return true;
    }
    return false;
}

/* The rows of each class (named by its first row) are asked; those that fail are suppressed. */
static inline void naive_judge(verdict *v, world *w, uint64_t attributes, const int *levels)
{
    int        class_of[MOST_ROWS], held_count = 0;
    held_class held[MOST_ROWS];
    int64_t    impossible = 0, outside = 0;
    bool       stays[MOST_ROWS] = {false};
    bool       absent = somebody_absent(w, attributes, levels);
    *v = (verdict){0};
    for (int r = 0; r < w->rows; r++)
        for (class_of[r] = 0; !alike(w, attributes, levels, w->leaf[class_of[r]], w->leaf[r]); class_of[r]++) continue;
    for (int r = 0; r < w->rows; r++) {
        bool        rows[MOST_ROWS];
        shown_class c;
        if (class_of[r] != r) continue;
        for (int i = 0; i < w->rows; i++) rows[i] = class_of[i] == r;
        show_class(&c, w, rows, people_like(w, attributes, levels, w->leaf[r]));
        bool holds = kn_requirements_hold(w->requirements, &c.view, &w->scratch);
        stays[r] = holds;
        if (holds)
            held[held_count++] = (held_class){r, c.view.persons, c.view.rows};
        else
            outside += c.view.persons;
        if (!kn_requirements_hold_monotone_part(w->requirements, &c.view)) impossible += c.view.rows;
    }
    int cut = naive_cut(w, attributes, levels, held, held_count, outside);
    for (int i = 0; i < cut; i++) {
        stays[held[i].row] = false;
        v->average_suppressed += held[i].rows;
    }
    for (int r = 0; r < w->rows; r++) v->suppressed[r] = !stays[class_of[r]];
    naive_sums(w, levels, class_of, v);
    v->good = v->sums.suppressed <= (w->requirements->absent_fails ? 0 : w->problem.budget) && !absent;
    if (v->good && v->sums.suppressed > 0 && w->problem.suppressed == KN_SUPPRESSED_KEEP_SENSITIVE)
        v->good = suppressed_may_stay(w, v, held, held_count, cut);
    v->possible = impossible <= w->problem.budget && !absent;
}

/* The claim that a search may build on. */
static inline bool monotone(const world *w)
{
    bool suppressing = w->problem.budget > 0;
    return kn_requirements_monotone(w->requirements, suppressing) &&
           !(suppressing && w->problem.suppressed == KN_SUPPRESSED_KEEP_SENSITIVE);
}

static inline int naive_distinct(const world *w, int q, int level)
{
    int distinct = 0;
    for (int r = 0; r < w->rows; r++) {
        bool before = false;
        for (int o = 0; o < r; o++)
            before = before || shown(&w->trees[q], w->leaf[o][q], level) == shown(&w->trees[q], w->leaf[r][q], level);
        distinct += !before;
    }
    return distinct;
}

#endif
