/* kn_presence.c: bounds on the chance that a person of a population is released (kn_presence.h). Equal trees of the population
 * are looked at once; a class with more rows than a tree has is rejected unseen.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_presence.h"

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

enum { GRAIN = 16 };
#define TOLERANCE 1e-12 /* sums of quotients are rounded */

static const char what[] = "counting who may be released";

/* People with equal trees, and the classes that they may be of. */
typedef struct group {
    int64_t   first, people;
    uint32_t *classes;
    uint32_t  count;
} group;

typedef struct measuring {
    kn_context              *ctx;
    const kn_presence_input *in;
    kn_tree_cells            cells;
    kn_tree_match            match;
    group                   *groups;
    int64_t                  group_count;
    uint32_t                *nodes;           /* per class: of tables that the population has */
    int64_t                 *people, *shared; /* per class: P and m                           */
    int                      workers;
    kn_tree_matcher        **matchers;
    uint32_t               **found; /* per worker: classes */
} measuring;

static bool covers(const void *arg, int table, int q, uint32_t cell, uint32_t code)
{
    const kn_presence_input *in = arg;
    const kn_database_table *t = &in->db->tables[in->tables[table]];
    return kn_hierarchy_covers(t->columns[t->quasi[q]].hierarchy, cell, in->leaves[table * in->width + q][code]);
}

static kn_status find_groups(measuring *m, kn_error *err)
{
    const kn_forest *f = m->in->people;
    m->groups = kn_alloc_array_zero(m->ctx, (size_t)f->entities + 1, sizeof *m->groups);
    if (!m->groups) return kn_fail_memory(err, m->ctx, what);
    for (int64_t e = 0; e < f->entities; e++) { /* equal trees are neighbours */
        if (e == 0 || f->subtree[f->start[e]] != f->subtree[f->start[e - 1]])
            m->groups[m->group_count++] = (group){.first = e};
        m->groups[m->group_count - 1].people++;
    }
    return KN_OK;
}

static kn_status count_nodes(measuring *m, kn_error *err)
{
    const kn_database_plan *p = m->in->plan;
    bool                   *known = kn_alloc_array_zero(m->ctx, (size_t)m->in->db->table_count + 1, sizeof *known);
    m->nodes = kn_alloc_array_zero(m->ctx, (size_t)p->classes + 1, sizeof *m->nodes);
    m->people = kn_alloc_array_zero(m->ctx, (size_t)p->classes + 1, sizeof *m->people);
    m->shared = kn_alloc_array_zero(m->ctx, (size_t)p->classes + 1, sizeof *m->shared);
    if (!known || !m->nodes || !m->people || !m->shared) {
        kn_free(known);
        return kn_fail_memory(err, m->ctx, what);
    }
    for (int t = 0; t < m->in->people->db->table_count; t++) known[m->in->tables[t]] = true;
    for (uint32_t c = 0; c < p->classes; c++)
        for (uint64_t v = p->node_start[c]; v < p->node_start[c + 1]; v++) m->nodes[c] += known[p->table[v]];
    kn_free(known);
    return KN_OK;
}

static kn_status make_workers(measuring *m, kn_error *err)
{
    m->workers = kn_context_threads(m->ctx);
    m->matchers = kn_alloc_array_zero(m->ctx, (size_t)m->workers, sizeof *m->matchers);
    m->found = kn_alloc_array_zero(m->ctx, (size_t)m->workers, sizeof *m->found);
    if (!m->matchers || !m->found) return kn_fail_memory(err, m->ctx, what);
    for (int i = 0; i < m->workers; i++) {
        KN_TRY(kn_tree_matcher_make(&m->matchers[i], m->ctx, &m->match, err));
        m->found[i] = kn_alloc_array(m->ctx, (size_t)m->in->plan->classes + 1, sizeof **m->found);
        if (!m->found[i]) return kn_fail_memory(err, m->ctx, what);
    }
    return KN_OK;
}

static kn_status look_at(measuring *m, group *g, int worker, kn_error *err)
{
    const kn_forest *f = m->in->people;
    uint64_t         nodes = f->start[g->first + 1] - f->start[g->first];
    uint32_t        *found = m->found[worker];
    for (uint32_t c = 0; c < m->in->plan->classes; c++) {
        bool is;
        if (m->nodes[c] > nodes) continue;
        KN_TRY(kn_tree_consistent(&is, m->matchers[worker], g->first, c, err));
        if (is) found[g->count++] = c;
    }
    g->classes = kn_alloc_array(m->ctx, (size_t)g->count + 1, sizeof *g->classes);
    if (!g->classes) return kn_fail_memory(err, m->ctx, what);
    for (uint32_t i = 0; i < g->count; i++) g->classes[i] = found[i];
    return KN_OK;
}

static kn_status look_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    measuring *m = arg;
    if (kn_cancelled(m->ctx)) return kn_fail_cancelled(err);
    for (int64_t i = begin; i < end; i++) KN_TRY(look_at(m, &m->groups[i], worker, err));
    return KN_OK;
}

/* n / max(P - o, n). */
static double share_of(const measuring *m, uint32_t c, int64_t all)
{
    int64_t n = kn_database_plan_size(m->in->plan, c), others = all - n;
    int64_t left = m->people[c] - (m->shared[c] < others ? m->shared[c] : others);
    return (double)n / (double)(left > n ? left : n);
}

static void add_up(const measuring *m, kn_presence *out)
{
    const kn_database_plan *p = m->in->plan;
    int64_t                 all = 0;
    *out = (kn_presence){.least = m->group_count > 0 ? 1 : 0};
    for (int64_t i = 0; i < m->group_count; i++)
        for (uint32_t j = 0; j < m->groups[i].count; j++) {
            m->people[m->groups[i].classes[j]] += m->groups[i].people;
            if (m->groups[i].count > 1) m->shared[m->groups[i].classes[j]] += m->groups[i].people;
        }
    for (uint32_t c = 0; c < p->classes; c++) {
        all += kn_database_plan_size(p, c);
        if (m->people[c] < kn_database_plan_size(p, c)) out->lacking = true;
    }
    for (int64_t i = 0; i < m->group_count; i++) {
        double most = 0, least = 0;
        for (uint32_t j = 0; j < m->groups[i].count; j++) {
            uint32_t c = m->groups[i].classes[j];
            double   own = (double)kn_database_plan_size(p, c) / (double)m->people[c];
            most += share_of(m, c, all);
            if (own > least) least = own;
        }
        if (most > out->most) out->most = most < 1 ? most : 1;
        if (least < out->least) out->least = least;
    }
}

kn_status kn_presence_measure(kn_presence *out, kn_context *ctx, const kn_presence_input *in, kn_error *err)
{
    measuring m = {.ctx = ctx, .in = in, .cells = {in, covers, NULL}};
    m.match = (kn_tree_match){
        .forest = in->people, .plan = in->plan, .deleted = true, .cells = &m.cells, .numbers = in->tables};
    kn_status st = find_groups(&m, err);
    if (st == KN_OK) st = count_nodes(&m, err);
    if (st == KN_OK) st = make_workers(&m, err);
    if (st == KN_OK) st = kn_parallel_for(ctx, m.group_count, GRAIN, look_range, &m, err);
    if (st == KN_OK) add_up(&m, out);
    for (int64_t i = 0; i < m.group_count; i++) kn_free(m.groups[i].classes);
    for (int i = 0; i < m.workers; i++) {
        if (m.matchers) kn_tree_matcher_free(m.matchers[i]);
        if (m.found) kn_free(m.found[i]);
    }
    KN_FREE(m.matchers, m.found, m.groups, m.nodes, m.people, m.shared);
    return st;
}

bool kn_presence_holds(const kn_presence *p, const kn_model *model)
{
    double most = (double)model->bound.numerator / (double)model->bound.denominator;
    double least = (double)model->low.numerator / (double)model->low.denominator;
    return !p->lacking && p->most <= most * (1 + TOLERANCE) && p->least >= least * (1 - TOLERANCE);
}
