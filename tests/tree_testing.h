/* tree_testing.h: small vocabularies and tree records for the tests of k^(m,n)-anonymity: written down as text, or random;
 * and a brute-force attacker. Nothing here uses the code under test but kn_records_create, and kn_record_canonical for
 * random records.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TREE_TESTING_H
#define TREE_TESTING_H

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_records_plan.h"
#include "kn_rng.h"
#include "kn_tree.h"
#include "spread_testing.h"

enum { TREE_VALUES = 128, TREE_NODES = 48 };

/* ---- Vocabularies ---- */

/* From depths in preorder, "*" left out: a class's top has depth 1. `labels` may be NULL. */
static inline kn_vocabulary *tree_vocabulary(kn_context *ctx, int count, const int *depths, const char *const *labels)
{
    uint32_t       n = (uint32_t)count + 1;
    int            classes = 0;
    kn_vocabulary *v = kn_alloc_zero(ctx, sizeof *v);
    assert_non_null(v);
    for (int i = 0; i < count; i++) classes += depths[i] == 1;
    v->ctx = ctx;
    v->nodes = n;
    v->class_count = classes;
    v->class_names = kn_alloc_array_zero(ctx, (size_t)classes, sizeof *v->class_names);
    v->sensitive = kn_alloc_array_zero(ctx, (size_t)classes, sizeof *v->sensitive);
    v->negative = kn_alloc_array_zero(ctx, (size_t)classes, sizeof *v->negative);
    v->unrelated = kn_alloc_array_zero(ctx, (size_t)classes, sizeof *v->unrelated);
    v->top = kn_alloc_array_zero(ctx, (size_t)classes, sizeof *v->top);
    v->parent = kn_alloc_array_zero(ctx, n, sizeof *v->parent);
    v->end = kn_alloc_array_zero(ctx, n, sizeof *v->end);
    v->leaves = kn_alloc_array_zero(ctx, n, sizeof *v->leaves);
    v->cls = kn_alloc_array_zero(ctx, n, sizeof *v->cls);
    v->depth = kn_alloc_array_zero(ctx, n, sizeof *v->depth);
    v->height = kn_alloc_array_zero(ctx, n, sizeof *v->height);
    v->label_start = kn_alloc_array_zero(ctx, (size_t)n + 1, sizeof *v->label_start);
    v->label_bytes = kn_alloc_zero(ctx, (size_t)n * 32);
    assert_true(v->class_names && v->sensitive && v->negative && v->unrelated && v->top && v->parent && v->end && v->leaves && v->cls &&
                v->depth && v->height && v->label_start && v->label_bytes);
    uint32_t last[16] = {0}; /* per depth */
    classes = 0;
    for (uint32_t u = 0; u < n; u++) {
        int  depth = u == 0 ? 0 : depths[u - 1];
        char text[16] = "*";
        if (u > 0) snprintf(text, sizeof text, "v%u", (unsigned)u);
        const char *label = u > 0 && labels ? labels[u - 1] : text;
        size_t      size = strlen(label);
        memcpy(v->label_bytes + v->label_start[u], label, size);
        v->label_start[u + 1] = v->label_start[u] + size;
        v->depth[u] = (uint16_t)depth;
        v->parent[u] = u == 0 ? UINT32_MAX : last[depth - 1];
        if (depth == 1) v->top[classes++] = u;
        v->cls[u] = u == 0 ? KN_VOCABULARY_NO_CLASS : (uint16_t)(classes - 1);
        v->end[u] = u + 1;
        last[depth] = u;
    }
    for (uint32_t u = n; u-- > 0;) {
        if (v->end[u] == u + 1) v->leaves[u] = 1;
        if (u == 0) break;
        uint32_t p = v->parent[u];
        if (v->end[p] < v->end[u]) v->end[p] = v->end[u];
        v->leaves[p] += v->leaves[u];
        if (v->height[p] <= v->height[u]) v->height[p] = (uint16_t)(v->height[u] + 1);
    }
    return v;
}

static inline uint32_t tree_value(const kn_vocabulary *v, const char *label, size_t size)
{
    for (uint32_t u = 0; u < v->nodes; u++)
        if (kn_vocabulary_label(v, u).size == size && memcmp(kn_vocabulary_label(v, u).data, label, size) == 0)
            return u;
    fail_msg("no value %.*s", (int)size, label);
    return 0;
}

static inline uint32_t tree_value_of(const kn_vocabulary *v, const char *label)
{
    return tree_value(v, label, strlen(label));
}

/* Figure 4's, in the order in which the classes nest. */
static inline kn_vocabulary *tree_hospital(kn_context *ctx)
{
    static const struct {
        int         depth;
        const char *label;
    } lines[] = {{1, "Medical Center"},  {2, "General Hosp."}, {3, "Hospital1"},  {3, "Hospital2"},
                 {2, "Maternity Hosp."}, {3, "Rea"},           {3, "Gaia"},       {1, "Disease"},
                 {2, "Lung Disease"},    {3, "Flu"},           {3, "Bronchitis"}, {2, "Stomach Disorder"},
                 {3, "Diarrhea"},        {3, "Gastritis"},     {1, "Treatment"},  {2, "Physiotherapy"},
                 {3, "Neurological"},    {3, "Orthopedic"},    {2, "Medicine"},   {3, "Pain killer"},
                 {3, "Antibiotics"}};
    enum { LINES = sizeof lines / sizeof *lines };
    int         depths[LINES];
    const char *labels[LINES];
    for (int i = 0; i < LINES; i++) {
        depths[i] = lines[i].depth;
        labels[i] = lines[i].label;
    }
    return tree_vocabulary(ctx, LINES, depths, labels);
}

/* ---- Records as text: one per line, "Hospital1(Gastritis,Flu(Pain killer)),Hospital2" ---- */

static inline void tree_put_in_order(kn_records *records)
{
    for (int64_t t = 0; t < records->count; t++) {
        kn_record_node nodes[TREE_NODES];
        char           scratch[TREE_NODES * KN_RECORD_SCRATCH];
        uint64_t       from = records->start[t];
        uint32_t       size = (uint32_t)(records->start[t + 1] - from);
        for (uint32_t i = 0; i < size; i++)
            nodes[i] = (kn_record_node){records->parent[from + i], records->value[from + i]};
        assert_int_equal(kn_record_canonical(nodes, size, scratch), size);
        for (uint32_t i = 0; i < size; i++) {
            records->parent[from + i] = nodes[i].parent;
            records->value[from + i] = nodes[i].value;
        }
    }
}

/* The records own the vocabulary. */
static inline kn_records *tree_records(kn_context *ctx, kn_vocabulary *v, const char *text)
{
    kn_error    err = KN_ERROR_INIT;
    kn_records *records;
    int64_t     count = 1;
    for (const char *p = text; *p; p++) count += *p == '\n';
    assert_ok(kn_records_create(&records, ctx, v, true, count, strlen(text) + 1, &err), err);
    uint64_t node = 0;
    int64_t  t = 0;
    uint32_t path[16];
    int      depth = 0;
    for (const char *p = text;; p++) {
        size_t size = strcspn(p, "(),\n");
        if (size > 0) {
            records->parent[node] = depth > 0 ? path[depth - 1] : KN_RECORDS_ROOT;
            records->value[node] = tree_value(v, p, size);
            path[depth] = (uint32_t)(node - records->start[t]);
            node++;
            p += size;
        }
        if (*p == '(') depth++;
        if (*p == ')') depth--;
        if (*p == '\n' || *p == 0) records->start[++t] = node;
        if (*p == 0) break;
    }
    records->nodes = node;
    tree_put_in_order(records);
    return records;
}

static inline void tree_print_below(const kn_records *records, int64_t t, uint32_t parent, char *out, size_t room)
{
    uint64_t    from = records->start[t];
    const char *between = "";
    for (uint32_t i = 0; i < records->start[t + 1] - from; i++) {
        if (records->parent[from + i] != parent) continue;
        kn_string label = kn_vocabulary_label(records->vocabulary, records->value[from + i]);
        snprintf(out + strlen(out), room - strlen(out), "%s%.*s", between, (int)label.size, label.data);
        between = ",";
        char below[2048] = "";
        tree_print_below(records, t, i, below, sizeof below);
        if (below[0]) snprintf(out + strlen(out), room - strlen(out), "(%s)", below);
    }
}

/* In the order of `original_of` (NULL: as they stand). */
static inline void tree_print(const kn_records *records, const int64_t *original_of, char *out, size_t room)
{
    out[0] = 0;
    for (int64_t o = 0; o < records->count; o++)
        for (int64_t t = 0; t < records->count; t++) {
            if ((original_of ? original_of[t] : t) != o) continue;
            if (o > 0) snprintf(out + strlen(out), room - strlen(out), "\n");
            tree_print_below(records, t, KN_RECORDS_ROOT, out + strlen(out), room - strlen(out));
        }
}

/* A plan from labels: the cut, and pairs "ancestor", "descendant". */
static inline kn_records_plan *tree_plan(kn_context *ctx, const kn_vocabulary *v, const char *const *cut, int cut_size,
                                         const char *const (*sd)[2], int sd_count)
{
    kn_error         err = KN_ERROR_INIT;
    kn_records_plan *plan;
    uint32_t         values[TREE_VALUES];
    assert_ok(kn_records_plan_create(&plan, ctx, v, sd_count, &err), err);
    for (int i = 0; i < cut_size; i++) values[i] = tree_value_of(v, cut[i]);
    for (int i = 0; i < sd_count; i++)
        plan->disassociations[i] = (kn_disassociation){tree_value_of(v, sd[i][0]), tree_value_of(v, sd[i][1])};
    for (uint32_t u = 0; u < v->nodes; u++) {
        plan->image[u] = UINT32_MAX;
        for (int i = 0; i < cut_size; i++)
            if (kn_vocabulary_covers(v, values[i], u)) plan->image[u] = values[i];
    }
    return plan;
}

/* ---- Random ones ---- */

typedef struct tree_shape {
    int  classes, height, fanout; /* at most; heights differ */
    int  records, nodes;          /* at most; of a record    */
    int  least;                   /* records                 */
    bool sensitive, negative;     /* some classes are, none both */
    bool exact;                   /* number of classes       */
    bool rigid;                   /* a class stands directly below the one before it only */
} tree_shape;

/* Few values that many records have, in different places: cuts that hold only without some relations. */
#define TREE_SHAPE_DISASSOCIATED ((tree_shape){3, 1, 2, 16, 9, 6, true, true, true, false})
/* The same with a schema that gives moved nodes away. */
#define TREE_SHAPE_RIGID ((tree_shape){3, 1, 2, 16, 9, 6, true, false, true, true})

static inline void tree_random_class(kn_rng *rng, const tree_shape *shape, int depth, int *depths, int *count)
{
    depths[(*count)++] = depth;
    if (depth > shape->height || (depth > 1 && kn_rng_below(rng, 3) == 0)) return;
    int children = 1 + (int)kn_rng_below(rng, (uint64_t)shape->fanout);
    for (int i = 0; i < children && *count < TREE_VALUES - 16; i++)
        tree_random_class(rng, shape, depth + 1, depths, count);
}

/* Below `parent` (or the root) values of larger classes. */
static inline void tree_random_node(kn_rng *rng, const kn_vocabulary *v, const tree_shape *shape, kn_record_node *nodes,
                                    uint32_t *count, int first_class, uint32_t parent)
{
    for (int c = first_class; c < v->class_count && *count < (uint32_t)shape->nodes; c++) {
        int values = (int)kn_rng_below(rng, shape->rigid || (parent == KN_RECORDS_ROOT && c == 0) ? 3 : 2);
        if (shape->rigid && c > first_class) return;
        for (int i = 0; i < values && *count < (uint32_t)shape->nodes; i++) {
            uint32_t leaf;
            do leaf = v->top[c] + (uint32_t)kn_rng_below(rng, v->end[v->top[c]] - v->top[c]);
            while (v->end[leaf] != leaf + 1);
            nodes[(*count)++] = (kn_record_node){parent, leaf};
            tree_random_node(rng, v, shape, nodes, count, c + 1, *count - 1);
        }
    }
}

/* The records own the vocabulary. Some records are equal, so that something is frequent. */
static inline kn_records *tree_random(kn_context *ctx, kn_rng *rng, const tree_shape *shape)
{
    kn_error err = KN_ERROR_INIT;
    int      depths[TREE_VALUES + 64], count = 0, classes = shape->classes;
    if (!shape->exact) classes = 1 + (int)kn_rng_below(rng, (uint64_t)shape->classes);
    for (int c = 0; c < classes; c++) tree_random_class(rng, shape, 1, depths, &count);
    kn_vocabulary *v = tree_vocabulary(ctx, count, depths, NULL);
    bool negative = shape->negative && kn_rng_below(rng, 3) == 0; /* in all of them little else would be shown */
    for (int c = 0; c < classes; c++) {
        v->sensitive[c] = shape->sensitive && kn_rng_below(rng, 3) == 0;
        v->negative[c] = negative && !v->sensitive[c] && kn_rng_below(rng, 2) == 0;
    }
    int64_t records_count = shape->least + (int64_t)kn_rng_below(rng, (uint64_t)(shape->records - shape->least) + 1);
    kn_records *records;
    assert_ok(kn_records_create(&records, ctx, v, true, records_count, (uint64_t)(records_count * shape->nodes), &err),
              err);
    uint64_t at = 0;
    for (int64_t t = 0; t < records_count; t++) {
        kn_record_node nodes[TREE_NODES];
        char           scratch[TREE_NODES * KN_RECORD_SCRATCH];
        uint32_t       size = 0;
        if (t > 0 && kn_rng_below(rng, 3) == 0) {
            int64_t like = (int64_t)kn_rng_below(rng, (uint64_t)t);
            for (uint64_t i = records->start[like]; i < records->start[like + 1]; i++)
                nodes[size++] = (kn_record_node){records->parent[i], records->value[i]};
        } else {
            tree_random_node(rng, v, shape, nodes, &size, 0, KN_RECORDS_ROOT);
            size = kn_record_canonical(nodes, size, scratch);
        }
        for (uint32_t i = 0; i < size; i++, at++) {
            records->parent[at] = nodes[i].parent;
            records->value[at] = nodes[i].value;
        }
        records->start[t + 1] = at;
    }
    records->nodes = at;
    return records;
}

static inline kn_tree_problem tree_random_problem(kn_rng *rng, const kn_records *records)
{
    static const kn_method methods[] = {KN_METHOD_ACS, KN_METHOD_ACS, KN_METHOD_GCS, KN_METHOD_GCS, KN_METHOD_OCS};
    kn_tree_problem        p = KN_TREE_PROBLEM_INIT;
    p.records = records;
    p.method = methods[kn_rng_below(rng, 5)];
    p.k = kn_rng_below(rng, 4) == 0 ? 1 + (int64_t)kn_rng_below(rng, 4) : 2 + (int64_t)kn_rng_below(rng, 2);
    p.m = kn_rng_below(rng, 4) == 0 ? 1 : 2 + (int)kn_rng_below(rng, 2);
    p.n = p.m == 1 ? 0 : (int)kn_rng_below(rng, 5);
    if (p.n > p.m - 1) p.n = p.m - 1;
    p.g = 1 + (int)kn_rng_below(rng, 3);
    p.semantics = kn_rng_below(rng, 2) ? KN_SEMANTICS_PATHS : KN_SEMANTICS_PAIRS;
    p.strict = kn_rng_below(rng, 3) == 0;
    p.level_domains = kn_rng_below(rng, 3) == 0;
    p.l = kn_rng_below(rng, 4) == 0 ? 1 + (int64_t)kn_rng_below(rng, 3) : 0;
    return p;
}

/* ---- A release, path by path: every node is the values down to it ---- */

typedef struct tree_path {
    uint32_t values[16];
    int      size;
} tree_path;

static inline int tree_compare_paths(const void *a, const void *b)
{
    const tree_path *x = a, *y = b;
    for (int i = 0; i < x->size && i < y->size; i++)
        if (x->values[i] != y->values[i]) return x->values[i] < y->values[i] ? -1 : 1;
    return x->size - y->size;
}

/* Definition 2 on one path: its last node leaves, to where the topmost a stands; or those above it that leave are gone. */
static inline void tree_disassociate_path(tree_path *path, kn_disassociation d)
{
    tree_path out = {.size = 0};
    int       a = -1;
    for (int i = 0; i < path->size; i++) {
        bool leaves = a >= 0 && path->values[i] == d.descendant;
        if (leaves && i == path->size - 1) out.size = a;
        if (!leaves || i == path->size - 1) out.values[out.size++] = path->values[i];
        if (a < 0 && path->values[i] == d.ancestor) a = i;
    }
    *path = out;
}

/* Where the topmost a stands that has a b below it; -1: nowhere. */
static inline int tree_top_of(const tree_path *path, kn_disassociation d)
{
    for (int a = 0; a < path->size; a++)
        for (int b = a + 1; b < path->size && path->values[a] == d.ancestor; b++)
            if (path->values[b] == d.descendant) return a;
    return -1;
}

/* One way, for all paths of a record: subtree: all from a to before the first b is gone; ancestor: a is gone, from every path that
 * begins like one that leads to a b. */
static inline void tree_disassociate(tree_path *paths, int count, kn_disassociation d, kn_disassociate how)
{
    for (int i = 0; i < count && how == KN_DISASSOCIATE_NODE; i++) tree_disassociate_path(&paths[i], d);
    for (int i = 0; i < count && how == KN_DISASSOCIATE_SUBTREE; i++)
        for (int a; (a = tree_top_of(&paths[i], d)) >= 0;) {
            do
                for (int j = a; j < paths[i].size - 1; j++) paths[i].values[j] = paths[i].values[j + 1];
            while (--paths[i].size > a && paths[i].values[a] != d.descendant);
        }
    for (bool again = how == KN_DISASSOCIATE_ANCESTOR; again;) {
        int top[TREE_NODES];
        again = false;
        for (int i = 0; i < count; i++) top[i] = -1;
        for (int i = 0; i < count; i++) {
            int a = tree_top_of(&paths[i], d);
            for (int j = 0; j < count && a >= 0; j++)
                if (paths[j].size >= a + 2 &&
                    memcmp(paths[j].values, paths[i].values, (size_t)(a + 2) * sizeof *paths[i].values) == 0)
                    top[j] = a;
            again |= a >= 0;
        }
        for (int i = 0; i < count; i++) {
            if (top[i] < 0) continue;
            for (int j = top[i]; j < paths[i].size - 1; j++) paths[i].values[j] = paths[i].values[j + 1];
            paths[i].size--;
        }
    }
}

/* In the order of the originals. */
static inline kn_records *tree_release(kn_context *ctx, const kn_records *records, const kn_records_plan *plan)
{
    kn_error    err = KN_ERROR_INIT;
    kn_records *out;
    uint64_t    at = 0;
    assert_ok(kn_records_create(&out, ctx, records->vocabulary, false, records->count, records->nodes, &err), err);
    for (int64_t t = 0; t < records->count; t++) {
        tree_path paths[TREE_NODES];
        uint64_t  from = records->start[t], size = records->start[t + 1] - from;
        int       count = 0;
        for (uint32_t i = 0; i < size; i++) {
            tree_path *path = &paths[count];
            path->size = 0;
            for (uint32_t u = i; u != KN_RECORDS_ROOT; u = records->parent[from + u]) path->size++;
            int place = path->size;
            for (uint32_t u = i; u != KN_RECORDS_ROOT; u = records->parent[from + u])
                path->values[--place] = plan->image[records->value[from + u]];
            count++;
        }
        for (int64_t s = 0; s < plan->disassociation_count; s++)
            tree_disassociate(paths, count, plan->disassociations[s], plan->how);
        qsort(paths, (size_t)count, sizeof *paths, tree_compare_paths);
        int kept = 0;
        for (int i = 0; i < count; i++)
            if (kept == 0 || tree_compare_paths(&paths[kept - 1], &paths[i]) != 0) paths[kept++] = paths[i];
        for (int i = 0; i < kept; i++, at++) {
            out->value[at] = paths[i].values[paths[i].size - 1];
            out->parent[at] = KN_RECORDS_ROOT;
            for (int j = 0; j < i; j++)
                if (paths[j].size == paths[i].size - 1 &&
                    memcmp(paths[j].values, paths[i].values, (size_t)paths[j].size * sizeof(uint32_t)) == 0)
                    out->parent[at] = (uint32_t)j;
            assert_true((out->parent[at] == KN_RECORDS_ROOT) == (paths[i].size == 1));
        }
        out->start[t + 1] = at;
    }
    out->nodes = at;
    return out;
}

/* ---- Brute force ---- */

typedef struct tree_attack {
    const kn_records *records;  /* released                                     */
    const kn_records *original; /* NULL: nobody knows that something is absent */
    int64_t           k;
    int               m, n;
    kn_semantics      semantics;
    int64_t           l;                   /* 0: none                      */
    const kn_tree_promise *promises;
    int                    promise_count;
    uint32_t          values[TREE_VALUES]; /* that occur and may be known */
    int               value_count;
    uint32_t          pairs[TREE_VALUES * 8][2]; /* that occur                  */
    int               pair_count;
    /* Whom the attacker knows of. */
    uint32_t known[8];
    int      known_count;
    uint32_t relations[8][2];
    int      relation_count;
    bool     absent[TREE_VALUES]; /* leaves that the record lacks */
    int      absent_count;
    bool     occurs[TREE_VALUES]; /* in the original */
    bool     lacks;               /* something may be known to be absent: or nothing at all is known */
    uint32_t node[8];
} tree_attack;

static inline bool tree_sensitive(const kn_vocabulary *v, uint32_t value)
{
    return value != 0 && v->sensitive[v->cls[value]];
}

static inline bool tree_above(const kn_records *r, int64_t t, uint32_t above, uint32_t below)
{
    for (uint32_t p = r->parent[r->start[t] + below]; p != KN_RECORDS_ROOT; p = r->parent[r->start[t] + p])
        if (p == above) return true;
    return false;
}

static inline bool tree_has_relation(const kn_records *r, int64_t t, uint32_t a, uint32_t b)
{
    uint32_t size = (uint32_t)(r->start[t + 1] - r->start[t]);
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t j = 0; j < size; j++)
            if (r->value[r->start[t] + i] == a && r->value[r->start[t] + j] == b && tree_above(r, t, i, j)) return true;
    return false;
}

static inline bool tree_has_value(const kn_records *r, int64_t t, uint32_t value)
{
    for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++)
        if (r->value[i] == value) return true;
    return false;
}

/* Tries every tuple of nodes. */
static inline bool tree_assign(tree_attack *a, int64_t t, int next)
{
    const kn_records *r = a->records;
    if (next < a->known_count) {
        for (uint32_t i = 0; i < r->start[t + 1] - r->start[t]; i++) {
            a->node[next] = i;
            if (r->value[r->start[t] + i] == a->known[next] && tree_assign(a, t, next + 1)) return true;
        }
        return false;
    }
    for (int j = 0; j < a->relation_count; j++) {
        uint32_t x = 0, y = 0;
        for (int i = 0; i < a->known_count; i++) {
            if (a->known[i] == a->relations[j][0]) x = a->node[i];
            if (a->known[i] == a->relations[j][1]) y = a->node[i];
        }
        if (!tree_above(r, t, x, y)) return false;
    }
    return true;
}

/* Can the record lack them: does each value that it shows stand for another one, too? */
static inline bool tree_may_lack(const tree_attack *a, int64_t t)
{
    const kn_records    *r = a->records;
    const kn_vocabulary *v = r->vocabulary;
    for (uint64_t i = r->start[t]; i < r->start[t + 1] && a->absent_count > 0; i++) {
        bool other = tree_sensitive(v, r->value[i]); /* which "*" does not stand for */
        for (uint32_t u = r->value[i]; u < v->end[r->value[i]]; u++)
            other |= a->occurs[u] && !a->absent[u] && !tree_sensitive(v, u);
        if (!other) return false;
    }
    return true;
}

static inline bool tree_matches(tree_attack *a, int64_t t)
{
    if (!tree_may_lack(a, t)) return false;
    for (int i = 0; i < a->known_count; i++)
        if (!tree_has_value(a->records, t, a->known[i])) return false;
    for (int j = 0; j < a->relation_count; j++)
        if (!tree_has_relation(a->records, t, a->relations[j][0], a->relations[j][1])) return false;
    return a->semantics == KN_SEMANTICS_PAIRS || a->relation_count < 2 || tree_assign(a, t, 0);
}

static inline bool tree_safe(tree_attack *a)
{
    const kn_records    *r = a->records;
    const kn_vocabulary *v = r->vocabulary;
    int64_t              support = 0, with[TREE_VALUES] = {0};
    for (int64_t t = 0; t < r->count; t++) {
        if (!tree_matches(a, t)) continue;
        support++;
        for (uint32_t u = 1; a->l + a->promise_count > 0 && u < v->nodes; u++)
            with[u] += tree_sensitive(v, u) && tree_has_value(r, t, u);
    }
    for (int i = 0; i < a->promise_count; i++) {
        int64_t own[TREE_VALUES] = {0};
        for (uint32_t u = 1; u < v->nodes; u++)
            if (v->cls[u] == a->promises[i].cls) own[u] = with[u];
        if (!naive_spread(&a->promises[i].model, own, (int)v->nodes, support)) return false;
    }
    for (uint32_t u = 1; a->l > 0 && u < v->nodes; u++)
        if (with[u] * a->l > support) return false;
    return support == 0 || support >= a->k;
}

static inline bool tree_try_relations(tree_attack *a, int first)
{
    if (!tree_safe(a)) return false;
    if (a->relation_count == a->n) return true;
    for (int p = first; p < a->pair_count; p++) {
        bool knows[2] = {false, false};
        for (int i = 0; i < a->known_count; i++)
            for (int e = 0; e < 2; e++) knows[e] |= a->known[i] == a->pairs[p][e];
        if (!knows[0] || !knows[1]) continue;
        memcpy(a->relations[a->relation_count++], a->pairs[p], sizeof a->pairs[p]);
        bool fine = tree_try_relations(a, p + 1);
        a->relation_count--;
        if (!fine) return false;
    }
    return true;
}

/* Every set of leaves that may be known to be absent, beside what is known. */
static inline bool tree_try_absent(tree_attack *a, uint32_t first)
{
    const kn_vocabulary *v = a->records->vocabulary;
    if ((a->known_count + a->absent_count > 0 || a->lacks) && !tree_try_relations(a, 0)) return false;
    if (!a->original || a->known_count + a->absent_count == a->m) return true;
    for (uint32_t u = first; u < v->nodes; u++) {
        if (!a->occurs[u] || !v->negative[v->cls[u]]) continue;
        a->absent[u] = true;
        a->absent_count++;
        bool fine = tree_try_absent(a, u + 1);
        a->absent[u] = false;
        a->absent_count--;
        if (!fine) return false;
    }
    return true;
}

static inline bool tree_try_values(tree_attack *a, int first)
{
    if (!tree_try_absent(a, 1)) return false;
    if (a->known_count == a->m) return true;
    for (int i = first; i < a->value_count; i++) {
        a->known[a->known_count++] = a->values[i];
        bool fine = tree_try_values(a, i + 1);
        a->known_count--;
        if (!fine) return false;
    }
    return true;
}

/* Is there no attacker, knowing also what of negative classes is not in the original record (NULL: nothing), who finds between
 * 1 and k - 1 records, or, with l, a sensitive value in more than 1 / l of them, or who breaks another promise? */
static inline bool tree_keeps(const kn_records *original, const kn_records *released, const kn_tree_problem *p)
{
    tree_attack *a = calloc(1, sizeof *a);
    assert_non_null(a);
    a->records = released;
    a->original = original;
    for (uint64_t i = 0; original && i < original->nodes; i++) {
        a->occurs[original->value[i]] = true;
        a->lacks |= original->vocabulary->negative[original->vocabulary->cls[original->value[i]]];
    }
    a->k = p->k;
    a->m = p->m;
    a->n = p->n;
    a->semantics = p->semantics;
    a->l = p->l;
    a->promises = p->promises;
    a->promise_count = p->promise_count;
    const kn_vocabulary *v = released->vocabulary;
    for (uint32_t u = 0; u < v->nodes; u++) {
        bool occurs = false;
        for (int64_t t = 0; t < released->count; t++) occurs |= tree_has_value(released, t, u);
        if (occurs && !tree_sensitive(v, u)) a->values[a->value_count++] = u;
    }
    for (int i = 0; i < a->value_count; i++)
        for (int j = 0; j < a->value_count; j++) {
            bool occurs = false;
            for (int64_t t = 0; t < released->count; t++)
                occurs |= tree_has_relation(released, t, a->values[i], a->values[j]);
            if (!occurs) continue;
            assert_true(a->pair_count < TREE_VALUES * 8);
            a->pairs[a->pair_count][0] = a->values[i];
            a->pairs[a->pair_count++][1] = a->values[j];
        }
    bool fine = tree_try_values(a, 0);
    free(a);
    return fine;
}

static inline bool tree_holds_against(const kn_records *original, const kn_records *released, int64_t k, int m, int n,
                                      kn_semantics semantics, int64_t l)
{
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    p.k = k;
    p.m = m;
    p.n = n;
    p.semantics = semantics;
    p.l = l;
    return tree_keeps(original, released, &p);
}

/* ... who knows only what is there? */
static inline bool tree_holds(const kn_records *released, int64_t k, int m, int n, kn_semantics semantics, int64_t l)
{
    return tree_holds_against(NULL, released, k, m, n, semantics, l);
}

#endif
