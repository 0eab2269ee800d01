/* kn_association.c: association generalization, its repair, and grouping by released attributes (kn_kmsd_internal.h;
 * Definition 8 and docs/errata.md R5 and R7).
 *
 * Cost of AG(X, Y): one pass over the rows for each attribute of X and of Y. The repair ends because labels only rise:
 * after at most (sum of heights × groups) rounds, in practice two or three.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_kmsd_internal.h"

kn_status kn_kmsd_group(kn_grouping *out, kn_kmsd_run *run, uint64_t attributes, kn_error *err)
{
    uint64_t done = 0;
    if (run->kept.group_of && !(run->kept_by & ~attributes)) {
        *out = run->kept;
        done = run->kept_by;
        run->kept = (kn_grouping){0};
    } else
        KN_TRY(kn_grouping_make(out, run->ctx, run->rows, err));
    for (int q = 0; q < run->problem->quasi_count; q++)
        if ((attributes & ~done) >> q & 1)
            KN_TRY(kn_grouping_refine(out, run->nodes[q], run->problem->hierarchies[q], err));
    return KN_OK;
}

void kn_kmsd_keep(kn_kmsd_run *run, kn_grouping *grouping, uint64_t attributes)
{
    kn_grouping_free(&run->kept);
    run->kept = *grouping;
    run->kept_by = attributes;
    *grouping = (kn_grouping){0};
}

/* Did X change in any row of each group? */
static void mark_changed(const kn_kmsd_run *run, const kn_grouping *g, uint64_t left, bool *changed)
{
    const kn_kmsd_problem *p = run->problem;
    for (uint32_t i = 0; i < g->groups; i++) changed[i] = !p->changed_groups_only;
    for (int q = 0; p->changed_groups_only && q < p->quasi_count; q++) {
        if (!(left >> q & 1)) continue;
        for (uint32_t row = 0; row < g->rows; row++)
            if (run->nodes[q][row] > p->hierarchies[q]->leaves) changed[g->group_of[row]] = true;
    }
}

static int64_t raise_attribute(kn_kmsd_run *run, const kn_grouping *g, const bool *changed, int q, uint32_t *meet)
{
    const kn_hierarchy *h = run->problem->hierarchies[q];
    uint32_t           *nodes = run->nodes[q];
    int64_t             raised = 0;
    for (uint32_t i = 0; i < g->groups; i++) meet[i] = KN_NODE_NONE;
    for (uint32_t row = 0; row < g->rows; row++) {
        uint32_t *m = &meet[g->group_of[row]];
        *m = *m == KN_NODE_NONE ? nodes[row] : kn_hierarchy_lca(h, *m, nodes[row]);
    }
    for (uint32_t row = 0; row < g->rows; row++) {
        uint32_t to = meet[g->group_of[row]];
        if (!changed[g->group_of[row]] || nodes[row] == to) continue;
        /* Another node with the same label shows nothing new: the row moves, but nothing changes for a reader. */
        raised += h->label[nodes[row]] != h->label[to];
        nodes[row] = to;
    }
    return raised;
}

kn_status kn_kmsd_associate(kn_kmsd_run *run, uint64_t left, uint64_t right, int64_t *raised, kn_error *err)
{
    kn_grouping g;
    *raised = 0;
    if (kn_cancelled(run->ctx)) return kn_fail_cancelled(err);
    kn_grouping_free(&run->kept); /* what it shows may change */
    KN_TRY(kn_kmsd_group(&g, run, left, err));
    uint32_t *meet = kn_alloc_array(run->ctx, (size_t)g.groups + 1, sizeof *meet);
    bool     *changed = kn_alloc_array(run->ctx, (size_t)g.groups + 1, sizeof *changed);
    bool      ok = meet && changed;
    if (ok) mark_changed(run, &g, left, changed);
    for (int q = 0; ok && q < run->problem->quasi_count; q++)
        if (right >> q & 1) *raised += raise_attribute(run, &g, changed, q, meet);
    run->counters->associations++;
    KN_FREE(meet, changed);
    kn_grouping_free(&g);
    return ok ? KN_OK : kn_fail_memory(err, run->ctx, "generalizing");
}

kn_status kn_kmsd_repair(kn_kmsd_run *run, kn_error *err)
{
    int64_t raised_in_all;
    do {
        raised_in_all = 0;
        for (int i = 0; i < run->problem->association_count; i++) {
            const kn_association *a = &run->problem->associations[i];
            int64_t               raised;
            KN_TRY(kn_kmsd_associate(run, a->left, a->right & ~a->left, &raised, err));
            raised_in_all += raised;
        }
        run->counters->repairs += raised_in_all;
    } while (raised_in_all > 0);
    return KN_OK;
}
