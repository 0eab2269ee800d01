/* random_problem.h: small random tables with hierarchies, promises and a metric, and what each node of their lattice is
 * worth by plain enumeration; for the tests of the searches. Everything belongs to one context.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANDOM_PROBLEM_H
#define RANDOM_PROBLEM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_builder.h"
#include "kn_evaluate.h"
#include "kn_fulldomain.h"
#include "kn_lattice.h"
#include "kn_rng.h"
#include "testing.h"

enum { RANDOM_QUASI = 32, RANDOM_MODELS = 3 };

typedef struct random_shape {
    int rows, quasi, values, levels; /* the most there may be; quasi exactly if `exact` */
    bool exact, sizes_only;
} random_shape;

typedef struct random_problem {
    kn_context           *ctx;
    kn_table             *table;
    int                   quasi[RANDOM_QUASI];
    kn_hierarchy         *hierarchies[RANDOM_QUASI];
    kn_ratio              weights[RANDOM_QUASI];
    kn_model              models[RANDOM_MODELS];
    kn_requirements      *requirements;
    kn_objective         *objective;
    kn_fulldomain_problem problem;
} random_problem;

/* One node by enumeration. */
typedef struct random_node {
    bool         good;
    kn_quotient  loss;
    kn_node_sums sums;
} random_node;

static inline int random_below(kn_rng *rng, int bound)
{
    return (int)kn_rng_below(rng, (uint64_t)bound);
}

/* Columns q0, q1, ... and a sensitive one, "s"; values are small numbers, small ones more often, some cells missing. */
static inline kn_table *random_table(kn_context *ctx, kn_rng *rng, int rows, int quasi, const int *values, bool missing)
{
    kn_error    err = KN_ERROR_INIT;
    kn_string   names[RANDOM_QUASI + 1];
    char        texts[RANDOM_QUASI + 1][8];
    kn_builder *b = NULL;
    for (int c = 0; c <= quasi; c++) {
        snprintf(texts[c], sizeof texts[c], c < quasi ? "q%d" : "s", c);
        names[c] = kn_string_of(texts[c]);
    }
    assert_ok(kn_builder_create(&b, ctx, names, quasi + 1, 1, &err), err);
    uint32_t *all[RANDOM_QUASI + 1];
    for (int c = 0; c <= quasi; c++) {
        all[c] = calloc((size_t)rows + 1, sizeof *all[c]);
        assert_non_null(all[c]);
        for (int r = 0; r < rows; r++) {
            char text[16];
            int  n = c < quasi ? values[c] : 4, value = random_below(rng, n);
            if (random_below(rng, 2)) value = random_below(rng, value + 1);
            snprintf(text, sizeof text, "%d", value);
            bool none = missing && c < quasi && random_below(rng, 40) == 0;
            all[c][r] = none ? KN_ID_MISSING : kn_intern(kn_builder_interner(b, c, 0), kn_string_of(text));
        }
    }
    int64_t first = 0;
    if (rows > 0) assert_ok(kn_builder_extend(b, rows, 0, &first, &err), err);
    for (int c = 0; c <= quasi; c++) {
        if (rows > 0) kn_builder_write(b, c, first, all[c], rows);
        free(all[c]);
    }
    kn_table *table = NULL;
    assert_ok(kn_builder_finish(&table, b, NULL, NULL, &err), err);
    return table;
}

/* A random tree of that height over the values of a column. */
static inline kn_hierarchy *random_hierarchy(kn_context *ctx, kn_rng *rng, const kn_table *table, int column,
                                             int height)
{
    kn_error            err = KN_ERROR_INIT;
    kn_hierarchy_maker *maker = NULL;
    kn_hierarchy       *h = NULL;
    const kn_column    *c = &table->columns[column];
    int                 parents[16][256], sizes[16] = {(int)c->dict.count};
    char                labels[16][24];
    kn_path_field       path[17];
    for (int l = 1; l < height; l++) {
        sizes[l] = 1 + random_below(rng, sizes[l - 1] > 0 ? sizes[l - 1] : 1);
        for (int i = 0; i < sizes[l - 1]; i++) parents[l][i] = random_below(rng, sizes[l]);
    }
    assert_ok(kn_hierarchy_maker_create(&maker, ctx, "random", false, &err), err);
    for (uint32_t v = 0; v < c->dict.count; v++) {
        int at = (int)v;
        path[0] = (kn_path_field){kn_dictionary_text(&c->dict, v), 0, 0};
        for (int l = 1; l < height; l++) {
            at = parents[l][at];
            snprintf(labels[l], sizeof labels[l], "g%d-%d", l, at);
            path[l] = (kn_path_field){kn_string_of(labels[l]), 0, 0};
        }
        path[height] = (kn_path_field){kn_string_of("*"), 0, 0};
        assert_ok(kn_hierarchy_maker_add(maker, path, (uint32_t)height + 1, &err), err);
    }
    assert_ok(kn_hierarchy_maker_finish(&h, maker, c, KN_OK, &err), err);
    return h;
}

static inline int random_models(random_problem *p, kn_rng *rng, bool sizes_only)
{
    int n = 0;
    p->models[n] = (kn_model)KN_MODEL_INIT;
    p->models[n++].k = 1 + random_below(rng, 6);
    if (sizes_only) return n;
    static const kn_model_kind kinds[] = {KN_MODEL_DISTINCT, KN_MODEL_ENTROPY,  KN_MODEL_RECURSIVE,   KN_MODEL_T_EQUAL,
                                          KN_MODEL_ALPHA_K,  KN_MODEL_MAX_RISK, KN_MODEL_AVERAGE_RISK};
    for (int extra = random_below(rng, 3); extra > 0 && n < RANDOM_MODELS; extra--) {
        kn_model m = KN_MODEL_INIT;
        m.kind = kinds[random_below(rng, 7)];
        m.attribute = m.kind == KN_MODEL_MAX_RISK || m.kind == KN_MODEL_AVERAGE_RISK ? NULL : "s";
        m.k = 2;
        m.l = (kn_ratio){2, 1};
        m.c = (kn_ratio){3, 1};
        m.bound = m.kind == KN_MODEL_T_EQUAL || m.kind == KN_MODEL_AVERAGE_RISK ? (kn_ratio){3, 10} : (kn_ratio){1, 2};
        if (m.kind == KN_MODEL_ALPHA_K) m.bound = (kn_ratio){7, 10};
        if (n > 1 && p->models[1].kind == m.kind) continue;
        p->models[n++] = m;
    }
    return n;
}

static inline void random_problem_free(random_problem *p)
{
    kn_objective_free(p->objective);
    kn_requirements_free(p->requirements);
    for (int q = 0; q < p->problem.quasi_count; q++) kn_hierarchy_free(p->hierarchies[q]);
    kn_table_free(p->table);
    memset(p, 0, sizeof *p);
}

/* false: this draw makes no sense (too few sensitive values); nothing is left. */
static inline bool random_problem_make(random_problem *p, kn_context *ctx, kn_rng *rng, random_shape shape)
{
    kn_error err = KN_ERROR_INIT;
    int      quasi = shape.exact ? shape.quasi : 1 + random_below(rng, shape.quasi), values[RANDOM_QUASI];
    int      rows = 1 + random_below(rng, shape.rows);
    memset(p, 0, sizeof *p);
    p->ctx = ctx;
    for (int q = 0; q < quasi; q++) values[q] = 1 + random_below(rng, shape.values);
    p->table = random_table(ctx, rng, rows, quasi, values, random_below(rng, 2) == 0);
    p->problem.quasi_count = quasi;
    bool weighted = random_below(rng, 3) == 0;
    for (int q = 0; q < quasi; q++) {
        p->quasi[q] = q;
        p->hierarchies[q] = random_hierarchy(ctx, rng, p->table, q, 1 + random_below(rng, shape.levels - 1));
        p->weights[q] = (kn_ratio){weighted ? 1 + (uint64_t)random_below(rng, 5) : 1, weighted ? 3 : 1};
    }
    int                     models = random_models(p, rng, shape.sizes_only);
    kn_requirements_options options = {p->models, models, -1, NULL, false};
    if (kn_requirements_make(&p->requirements, ctx, p->table, &options, &err) != KN_OK) {
        random_problem_free(p);
        return false;
    }
    kn_metric metric = (kn_metric)random_below(rng, KN_METRICS);
    assert_ok(kn_objective_make(&p->objective, ctx, p->table, p->quasi, (const kn_hierarchy *const *)p->hierarchies,
                                quasi, p->weights, metric, p->models[0].k, &err), err);
    static const int shares[] = {0, 0, 5, 20, 50, 100};
    p->problem = (kn_fulldomain_problem){.table = p->table,
                                         .quasi_count = quasi,
                                         .quasi = p->quasi,
                                         .hierarchies = (const kn_hierarchy *const *)p->hierarchies,
                                         .requirements = p->requirements,
                                         .objective = p->objective,
                                         .budget = (int64_t)rows * shares[random_below(rng, 6)] / 100,
                                         .method = KN_METHOD_OPTIMAL};
    if (random_below(rng, 4) == 0) p->problem.suppressed = KN_SUPPRESSED_KEEP_SENSITIVE;
    return true;
}

static inline void random_lattice(kn_lattice *out, const random_problem *p)
{
    kn_error err = KN_ERROR_INIT;
    int      heights[RANDOM_QUASI];
    for (int q = 0; q < p->problem.quasi_count; q++) heights[q] = (int)p->hierarchies[q]->height;
    assert_ok(kn_lattice_make(out, p->ctx, heights, p->problem.quasi_count, &err), err);
}

/* Every node of the lattice, each counted from the rows. Freed with free. */
static inline random_node *random_enumerate(const random_problem *p, const kn_lattice *lattice)
{
    kn_error      err = KN_ERROR_INIT;
    kn_evaluator *e = NULL;
    random_node  *nodes = calloc((size_t)lattice->count, sizeof *nodes);
    int           levels[RANDOM_QUASI];
    assert_non_null(nodes);
    assert_ok(kn_evaluator_make(&e, p->ctx, &p->problem, &err), err);
    for (int64_t v = 0; v < lattice->count; v++) {
        kn_classes *set = NULL;
        kn_verdict  verdict;
        kn_lattice_levels(lattice, v, levels);
        assert_ok(kn_classes_scan(&set, e, KN_ALL_ATTRIBUTES, levels, &err), err);
        assert_ok(kn_classes_judge(&verdict, e, set, &err), err);
        kn_classes_free(set);
        nodes[v] = (random_node){verdict.good, {0, 1}, verdict.sums};
        if (verdict.good) nodes[v].loss = kn_objective_loss(p->objective, &verdict.sums);
    }
    kn_evaluator_free(e);
    return nodes;
}

/* Is a the better of two nodes: loss, rows suppressed, height, number? */
static inline bool random_better(const kn_lattice *lattice, const random_node *nodes, int64_t a, int64_t b)
{
    int order = kn_quotient_compare(nodes[a].loss, nodes[b].loss), height[2] = {0, 0};
    if (order != 0) return order < 0;
    if (nodes[a].sums.suppressed != nodes[b].sums.suppressed)
        return nodes[a].sums.suppressed < nodes[b].sums.suppressed;
    for (int q = 0; q < lattice->quasi_count; q++) {
        height[0] += kn_lattice_level(lattice, a, q);
        height[1] += kn_lattice_level(lattice, b, q);
    }
    return height[0] != height[1] ? height[0] < height[1] : a < b;
}

/* The number of the best good node; -1: none. */
static inline int64_t random_best(const kn_lattice *lattice, const random_node *nodes)
{
    int64_t best = -1;
    for (int64_t v = 0; v < lattice->count; v++)
        if (nodes[v].good && (best < 0 || random_better(lattice, nodes, v, best))) best = v;
    return best;
}

#endif
