/* kn_kmsd_merge.c: models beyond k (kn_kmsd_internal.h): classes that fail are suppressed or merged.
 *
 * MDG considers sizes only. If more is required, the classes that fail are suppressed as far as the budget allows,
 * the smallest first. The others are sorted by their cells and joined, neighbour by neighbour, until each union
 * holds; the rest joins the last union, or the good class that this widens least. A union shows the lowest common
 * ancestors of its members. Dependencies are repaired after each round, which may merge more; rounds continue until
 * every class holds. Each round leaves fewer classes, or as many with fewer that are not suppressed, so they end.
 *
 * Cost: per round a grouping, the judging of all classes, and a sort of those that fail.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_kmsd_internal.h"
#include "kn_row_judge.h"
#include "kn_sort.h"

#define WHAT "merging classes"

enum { ALWAYS_JUDGE = 16 /* members of a union; larger ones are judged when they have doubled */ };

typedef struct merger {
    kn_kmsd_run *run;
    kn_row_judge judge;
    kn_grouping  classes;
    uint32_t    *failing; /* classes */
    uint32_t     failing_count, good_count;
    bool        *good;
    uint32_t    *rows; /* of a union */
    uint32_t     row_count;
} merger;

static const uint32_t *members_of(const merger *m, uint32_t class_index)
{
    return m->classes.members + m->classes.starts[class_index];
}

static uint32_t node_of(const merger *m, uint32_t class_index, int q)
{
    return m->run->nodes[q][members_of(m, class_index)[0]];
}

/* Were all rows of the class suppressed? If only some were, a union now shows what they showed: it includes them
 * again, since nothing distinguishes them from it, and their number is returned to the budget. */
static bool is_suppressed(merger *m, uint32_t class_index, int64_t *budget)
{
    bool           *suppressed = m->run->suppressed;
    const uint32_t *rows = members_of(m, class_index);
    uint32_t        count = 0, size = m->classes.sizes[class_index];
    for (uint32_t r = 0; r < size; r++) count += suppressed[rows[r]];
    if (count == 0 || count == size) return count > 0;
    for (uint32_t r = 0; r < size; r++) suppressed[rows[r]] = false;
    *budget += count;
    return false;
}

static kn_status judge_all(merger *m, int64_t *budget, kn_error *err)
{
    m->failing_count = m->good_count = 0;
    for (uint32_t i = 0; i < m->classes.groups; i++) {
        m->good[i] = false;
        if (is_suppressed(m, i, budget)) continue;
        if ((i & 0xfff) == 0 && kn_cancelled(m->run->ctx)) return kn_fail_cancelled(err);
        KN_TRY(
            kn_row_judge_holds(&m->good[i], &m->judge, members_of(m, i), sizeof(uint32_t), m->classes.sizes[i], err));
        if (m->good[i])
            m->good_count++;
        else
            m->failing[m->failing_count++] = i;
    }
    return KN_OK;
}

/* ---- Order ---- */

static bool smaller(const void *arg, uint32_t a, uint32_t b)
{
    const uint32_t *sizes = ((const merger *)arg)->classes.sizes;
    return sizes[a] != sizes[b] ? sizes[a] < sizes[b] : a < b;
}

static bool lower_cells(const void *arg, uint32_t a, uint32_t b)
{
    const merger *m = arg;
    for (int q = 0; q < m->run->problem->quasi_count; q++) {
        const kn_hierarchy *h = m->run->problem->hierarchies[q];
        uint32_t            x = node_of(m, a, q), y = node_of(m, b, q);
        if (h->first[x] != h->first[y]) return h->first[x] < h->first[y];
        if (x != y) return x < y;
    }
    return a < b;
}

/* ---- Suppressing and joining ---- */

static void suppress_within_budget(merger *m, int64_t *budget)
{
    uint32_t taken = 0;
    kn_sort_numbers(m->failing, m->failing_count, smaller, m);
    while (taken < m->failing_count && m->classes.sizes[m->failing[taken]] <= *budget) {
        uint32_t i = m->failing[taken++];
        *budget -= m->classes.sizes[i];
        for (uint32_t r = 0; r < m->classes.sizes[i]; r++) m->run->suppressed[members_of(m, i)[r]] = true;
    }
    m->failing_count -= taken;
    for (uint32_t i = 0; i < m->failing_count; i++) m->failing[i] = m->failing[i + taken];
}

static void add_rows(merger *m, uint32_t class_index)
{
    for (uint32_t r = 0; r < m->classes.sizes[class_index]; r++)
        m->rows[m->row_count++] = members_of(m, class_index)[r];
}

/* All rows of the union show their lowest common ancestors. */
static void join_rows(merger *m)
{
    for (int q = 0; q < m->run->problem->quasi_count; q++) {
        uint32_t *nodes = m->run->nodes[q], meet = nodes[m->rows[0]];
        for (uint32_t r = 1; r < m->row_count; r++)
            meet = kn_hierarchy_lca(m->run->problem->hierarchies[q], meet, nodes[m->rows[r]]);
        for (uint32_t r = 0; r < m->row_count; r++) nodes[m->rows[r]] = meet;
    }
}

/* The good class that would become least wide together with the union. */
static uint32_t nearest_good(const merger *m)
{
    uint32_t best = UINT32_MAX;
    double   least = 0;
    for (uint32_t i = 0; i < m->classes.groups; i++) {
        double width = 0;
        for (int q = 0; m->good[i] && q < m->run->problem->quasi_count; q++) {
            const kn_hierarchy *h = m->run->problem->hierarchies[q];
            uint32_t            meet = kn_hierarchy_lca(h, node_of(m, i, q), m->run->nodes[q][m->rows[0]]);
            if (h->leaves > 1) width += (kn_hierarchy_cover(h, meet) - 1.0) / (h->leaves - 1.0);
        }
        if (m->good[i] && (best == UINT32_MAX || width < least)) {
            best = i;
            least = width;
        }
    }
    return best;
}

static bool worth_judging(uint32_t members)
{
    return members > 1 && (members <= ALWAYS_JUDGE || (members & (members - 1)) == 0);
}

/* Joins the failing classes; *possible false: one class is left, and it fails. */
static kn_status join_failing(merger *m, bool *possible, kn_error *err)
{
    uint32_t last_begin = 0, last_end = 0, members = 0; /* the last union: which of the failing classes it took */
    *possible = true;
    kn_sort_numbers(m->failing, m->failing_count, lower_cells, m);
    m->row_count = 0;
    for (uint32_t i = 0; i < m->failing_count; i++) {
        bool holds = false;
        add_rows(m, m->failing[i]);
        if (!worth_judging(++members)) continue;
        KN_TRY(kn_row_judge_holds(&holds, &m->judge, m->rows, sizeof *m->rows, m->row_count, err));
        if (!holds) continue;
        join_rows(m);
        m->run->counters->merged += members;
        last_begin = last_end;
        last_end = i + 1;
        members = 0;
        m->row_count = 0;
    }
    if (m->row_count == 0) return KN_OK;
    /* The rest cannot be a class by itself: it joins the previous union, else a good class, else there is no
     * solution. */
    m->run->counters->merged += members;
    if (last_end > 0)
        for (uint32_t i = last_begin; i < last_end; i++) add_rows(m, m->failing[i]);
    else {
        uint32_t partner = nearest_good(m);
        if (partner != UINT32_MAX)
            add_rows(m, partner);
        else
            *possible = members > 1; /* the next round judges the one class that this makes */
    }
    join_rows(m);
    return KN_OK;
}

static kn_status make_round(merger *m, bool *done, bool *possible, int64_t *budget, kn_error *err)
{
    kn_grouping_free(&m->classes);
    KN_TRY(kn_kmsd_group(&m->classes, m->run, kn_kmsd_all(m->run), err));
    KN_TRY(kn_grouping_list(&m->classes, err));
    KN_FREE(m->failing, m->good);
    m->good = NULL;
    if (!KN_ALLOC(m->run->ctx, m->failing, (size_t)m->classes.groups + 1) ||
        !KN_ALLOC(m->run->ctx, m->good, (size_t)m->classes.groups + 1))
        return kn_fail_memory(err, m->run->ctx, WHAT);
    KN_TRY(judge_all(m, budget, err));
    *done = m->failing_count == 0;
    if (*done) return KN_OK;
    suppress_within_budget(m, budget);
    if (m->failing_count == 0) return KN_OK;
    KN_TRY(join_failing(m, possible, err));
    return kn_kmsd_repair(m->run, err);
}

/* The rest may need the suppressed rows: they come back, and nothing more is suppressed. False: there were none. */
static bool take_back(kn_kmsd_run *run, int64_t *budget)
{
    bool any = false;
    for (uint32_t row = 0; row < run->rows; row++) {
        any |= run->suppressed[row];
        run->suppressed[row] = false;
    }
    *budget = 0;
    return any;
}

kn_status kn_kmsd_merge(kn_kmsd_run *run, bool *found, kn_error *err)
{
    merger    m = {.run = run};
    int64_t   budget = run->problem->budget;
    bool      done = false, possible = true;
    kn_status status = kn_row_judge_make(&m.judge, run->ctx, run->problem->table, run->problem->requirements, err);
    *found = false;
    if (status != KN_OK) return status;
    m.rows = kn_alloc_array(run->ctx, (size_t)run->rows + 1, sizeof *m.rows);
    if (!m.rows) status = kn_fail_memory(err, m.run->ctx, WHAT);
    done = kn_row_judge_size_says_all(&m.judge) && m.judge.smallest <= run->k;
    while (status == KN_OK && !done && possible) {
        status = make_round(&m, &done, &possible, &budget, err);
        if (!possible) possible = take_back(run, &budget);
    }
    *found = status == KN_OK && done;
    kn_row_judge_free(&m.judge);
    kn_grouping_free(&m.classes);
    KN_FREE(m.failing, m.good, m.rows);
    return status;
}
