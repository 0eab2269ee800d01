/* kn_presence.c: bounds on the chance that a person of a population is released (kn_presence.h).
 *
 * Equal trees of the population are looked at once. Each of their cells is listed under its leaf; a released cell covers leaves that
 * are neighbours, so that the people who have such a value are a run of that list. A class is compared with those of its
 * narrowest cell only, whichever row that is of: everybody who may be of it is among them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_presence.h"

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

enum { GRAIN = 1 };
#define TOLERANCE 1e-12 /* sums of quotients are rounded */

static const char what[] = "counting who may be released";

/* People with equal trees, and the classes that they may be of, ascending. */
typedef struct group {
    int64_t   first, people;
    uint32_t *classes;
    uint32_t  count;
} group;

/* The groups that have each value of a quasi-identifier: groups[start[leaf] .. start[leaf + 1] - 1]. */
typedef struct listing {
    const kn_hierarchy *hierarchy;
    uint64_t           *start;
    uint32_t           *groups;
} listing;

/* The groups that may be of a class. */
typedef struct candidates {
    uint32_t *groups;
    uint32_t  count;
} candidates;

typedef struct measuring {
    kn_context              *ctx;
    const kn_presence_input *in;
    kn_tree_cells            cells;
    kn_tree_match            match;
    group                   *groups;
    int64_t                  group_count;
    int                     *known;           /* per table of the database: the people's; -1: they have none   */
    listing                 *listings;        /* the people's table × width + quasi-identifier                 */
    uint32_t                *nodes;           /* per class: of tables that the population has                  */
    candidates              *may;             /* per class                                                     */
    int64_t                 *people, *shared; /* per class: P and m                                            */
    int                      workers;
    kn_tree_matcher        **matchers;
    uint32_t               **seen, **found; /* per worker, per group: the class that looked at it last; groups */
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
    m->known = kn_alloc_array(m->ctx, (size_t)m->in->db->table_count + 1, sizeof *m->known);
    m->nodes = kn_alloc_array_zero(m->ctx, (size_t)p->classes + 1, sizeof *m->nodes);
    m->may = kn_alloc_array_zero(m->ctx, (size_t)p->classes + 1, sizeof *m->may);
    m->people = kn_alloc_array_zero(m->ctx, (size_t)p->classes + 1, sizeof *m->people);
    m->shared = kn_alloc_array_zero(m->ctx, (size_t)p->classes + 1, sizeof *m->shared);
    if (!m->known || !m->nodes || !m->may || !m->people || !m->shared) return kn_fail_memory(err, m->ctx, what);
    for (int t = 0; t < m->in->db->table_count; t++) m->known[t] = -1;
    for (int t = 0; t < m->in->people->db->table_count; t++) m->known[m->in->tables[t]] = t;
    for (uint32_t c = 0; c < p->classes; c++)
        for (uint64_t v = p->node_start[c]; v < p->node_start[c + 1]; v++) m->nodes[c] += m->known[p->table[v]] >= 0;
    return KN_OK;
}

/* The leaf of a node of the people. */
static uint32_t leaf_of(const measuring *m, uint64_t node, int q)
{
    const kn_forest         *f = m->in->people;
    const kn_database_table *t = &f->db->tables[f->table[node]];
    return m->in
        ->leaves[f->table[node] * m->in->width + q][kn_column_code(&t->table->columns[t->quasi[q]], f->row[node])];
}

/* Counts in `start`, one place too high, or fills: what counting sort does twice. The last leaf is that of missing cells; a value
 * without one is covered by nothing. */
static void list_values(const measuring *m, int table, int q, listing *to, bool fill)
{
    const kn_forest *f = m->in->people;
    for (int64_t g = 0; g < m->group_count; g++)
        for (uint64_t n = f->start[m->groups[g].first]; n < f->start[m->groups[g].first + 1]; n++) {
            uint32_t leaf = f->table[n] == table ? leaf_of(m, n, q) : UINT32_MAX;
            if (leaf > to->hierarchy->leaves) continue;
            if (fill)
                to->groups[to->start[leaf]++] = (uint32_t)g;
            else
                to->start[leaf + 1]++;
        }
}

static kn_status make_listing(const measuring *m, int table, int q, kn_error *err)
{
    const kn_database_table *t = &m->in->db->tables[m->in->tables[table]];
    listing                 *to = &m->listings[table * m->in->width + q];
    to->hierarchy = t->columns[t->quasi[q]].hierarchy;
    size_t leaves = (size_t)to->hierarchy->leaves + 1;
    to->start = kn_alloc_array_zero(m->ctx, leaves + 1, sizeof *to->start);
    if (!to->start) return kn_fail_memory(err, m->ctx, what);
    list_values(m, table, q, to, false);
    for (size_t i = 0; i < leaves; i++) to->start[i + 1] += to->start[i];
    to->groups = kn_alloc_array(m->ctx, (size_t)to->start[leaves] + 1, sizeof *to->groups);
    if (!to->groups) return kn_fail_memory(err, m->ctx, what);
    list_values(m, table, q, to, true);
    for (size_t i = leaves; i > 0; i--) to->start[i] = to->start[i - 1]; /* filling moved each to its end */
    to->start[0] = 0;
    return KN_OK;
}

static kn_status make_listings(measuring *m, kn_error *err)
{
    const kn_database *people = m->in->people->db;
    m->listings =
        kn_alloc_array_zero(m->ctx, (size_t)people->table_count * (size_t)m->in->width + 1, sizeof *m->listings);
    if (!m->listings) return kn_fail_memory(err, m->ctx, what);
    for (int t = 0; t < people->table_count; t++)
        for (int q = 0; q < people->tables[t].quasi_count; q++) KN_TRY(make_listing(m, t, q, err));
    return KN_OK;
}

static kn_status make_workers(measuring *m, kn_error *err)
{
    size_t groups = (size_t)m->group_count + 1;
    m->workers = kn_context_threads(m->ctx);
    m->matchers = kn_alloc_array_zero(m->ctx, (size_t)m->workers, sizeof *m->matchers);
    m->found = kn_alloc_array_zero(m->ctx, (size_t)m->workers, sizeof *m->found);
    m->seen = kn_alloc_array_zero(m->ctx, (size_t)m->workers, sizeof *m->seen);
    if (!m->matchers || !m->found || !m->seen) return kn_fail_memory(err, m->ctx, what);
    for (int i = 0; i < m->workers; i++) {
        KN_TRY(kn_tree_matcher_make(&m->matchers[i], m->ctx, &m->match, err));
        m->found[i] = kn_alloc_array(m->ctx, groups, sizeof **m->found);
        m->seen[i] = kn_alloc_array_zero(m->ctx, groups, sizeof **m->seen);
        if (!m->found[i] || !m->seen[i]) return kn_fail_memory(err, m->ctx, what);
    }
    return KN_OK;
}

/* The shortest run of groups of which everybody who may be of the class is; NULL: it has no cell that says something. */
static const uint32_t *narrowest(const measuring *m, uint32_t c, uint64_t *count)
{
    const kn_database_plan *p = m->in->plan;
    const uint32_t         *best = NULL;
    *count = (uint64_t)m->group_count;
    for (uint64_t v = p->node_start[c]; v < p->node_start[c + 1]; v++) {
        int t = m->known[p->table[v]];
        for (int q = 0; t >= 0 && q < m->in->people->db->tables[t].quasi_count; q++) {
            const listing *l = &m->listings[t * m->in->width + q];
            uint32_t       cell = p->values[v * (uint64_t)p->width + (uint64_t)q];
            uint64_t       begin = l->start[l->hierarchy->first[cell]], end = l->start[l->hierarchy->last[cell]];
            if (end - begin >= *count) continue;
            *count = end - begin;
            best = l->groups + begin;
        }
    }
    return best;
}

static kn_status look_at(measuring *m, uint32_t c, int worker, kn_error *err)
{
    const kn_forest *f = m->in->people;
    uint64_t         count;
    const uint32_t  *run = narrowest(m, c, &count);
    uint32_t        *found = m->found[worker], *seen = m->seen[worker], n = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t     g = run ? run[i] : (uint32_t)i;
        const group *one = &m->groups[g];
        bool         is;
        if (seen[g] == c + 1 || m->nodes[c] > f->start[one->first + 1] - f->start[one->first]) continue;
        seen[g] = c + 1;
        KN_TRY(kn_tree_consistent(&is, m->matchers[worker], one->first, c, err));
        if (is) found[n++] = g;
    }
    m->may[c] = (candidates){kn_alloc_array(m->ctx, (size_t)n + 1, sizeof *found), n};
    if (!m->may[c].groups) return kn_fail_memory(err, m->ctx, what);
    for (uint32_t i = 0; i < n; i++) m->may[c].groups[i] = found[i];
    return KN_OK;
}

static kn_status look_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    measuring *m = arg;
    for (int64_t i = begin; i < end; i++) {
        if (kn_cancelled(m->ctx)) return kn_fail_cancelled(err);
        KN_TRY(look_at(m, (uint32_t)i, worker, err));
    }
    return KN_OK;
}

/* From the groups of each class to the classes of each group. */
static kn_status turn_around(measuring *m, kn_error *err)
{
    uint32_t classes = m->in->plan->classes;
    for (uint32_t c = 0; c < classes; c++)
        for (uint32_t i = 0; i < m->may[c].count; i++) m->groups[m->may[c].groups[i]].count++;
    for (int64_t g = 0; g < m->group_count; g++) {
        m->groups[g].classes = kn_alloc_array(m->ctx, (size_t)m->groups[g].count + 1, sizeof(uint32_t));
        if (!m->groups[g].classes) return kn_fail_memory(err, m->ctx, what);
        m->groups[g].count = 0;
    }
    for (uint32_t c = 0; c < classes; c++)
        for (uint32_t i = 0; i < m->may[c].count; i++) {
            group *g = &m->groups[m->may[c].groups[i]];
            g->classes[g->count++] = c;
        }
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

static void measuring_free(measuring *m)
{
    int listings = m->listings ? m->in->people->db->table_count * m->in->width : 0;
    for (int64_t i = 0; m->groups && i < m->group_count; i++) kn_free(m->groups[i].classes);
    for (int i = 0; i < listings; i++) KN_FREE(m->listings[i].start, m->listings[i].groups);
    for (uint32_t c = 0; m->may && c < m->in->plan->classes; c++) kn_free(m->may[c].groups);
    for (int i = 0; i < m->workers; i++) {
        if (m->matchers) kn_tree_matcher_free(m->matchers[i]);
        if (m->found) kn_free(m->found[i]);
        if (m->seen) kn_free(m->seen[i]);
    }
    KN_FREE(m->matchers, m->found, m->seen, m->groups, m->known, m->listings, m->nodes, m->may, m->people, m->shared);
}

kn_status kn_presence_measure(kn_presence *out, kn_context *ctx, const kn_presence_input *in, kn_error *err)
{
    measuring m = {.ctx = ctx, .in = in, .cells = {in, covers, NULL}};
    m.match = (kn_tree_match){
        .forest = in->people, .plan = in->plan, .deleted = true, .cells = &m.cells, .numbers = in->tables};
    kn_status st = find_groups(&m, err);
    if (st == KN_OK) st = count_nodes(&m, err);
    if (st == KN_OK) st = make_listings(&m, err);
    if (st == KN_OK) st = make_workers(&m, err);
    if (st == KN_OK) st = kn_parallel_for(ctx, in->plan->classes, GRAIN, look_range, &m, err);
    if (st == KN_OK) st = turn_around(&m, err);
    if (st == KN_OK) add_up(&m, out);
    measuring_free(&m);
    return st;
}

bool kn_presence_holds(const kn_presence *p, const kn_model *model)
{
    double most = (double)model->bound.numerator / (double)model->bound.denominator;
    double least = (double)model->low.numerator / (double)model->low.denominator;
    return !p->lacking && p->most <= most * (1 + TOLERANCE) && p->least >= least * (1 - TOLERANCE);
}
