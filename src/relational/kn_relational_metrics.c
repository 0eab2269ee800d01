/* kn_relational_metrics.c: LM and DM of a database plan (Definitions 7 and 8; docs/errata.md M10).
 *
 * LM runs over the quasi-identifier cells of all rows that belong to persons, and over what these rows weigh; a deleted
 * cell costs 1, and so does each cell that a deleted row weighs. Definition
 * 7 taken literally, over the remaining rows, is reported too. Losses are summed as integers and divided once, so
 * that neither order nor threads matter. Cost: linear in the forest and in the plan's nodes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_relational_internal.h"

void kn_relational_metrics_free(kn_relational_metrics *metrics)
{
    if (!metrics) return;
    KN_FREE(metrics->tables, metrics);
}

/* Counts rows of persons per table into `cells`, then what the plan's nodes lose into `lost`. */
static void add_losses(kn_relational_metrics *m, kn_u128 *lost, const kn_forest *f, const kn_database_plan *p,
                       const kn_losses *losses)
{
    for (uint64_t n = 0; n < f->nodes; n++) m->tables[f->table[n]].cells += losses->cells[f->table[n]];
    for (int t = 0; t < m->table_count; t++) m->tables[t].deleted = m->tables[t].cells;
    for (uint32_t c = 0; c < p->classes; c++) {
        int64_t size = kn_database_plan_size(p, c);
        for (uint64_t v = p->node_start[c]; v < p->node_start[c + 1]; v++) {
            int t = p->table[v];
            m->tables[t].deleted -= size * losses->cells[t];
            for (int q = 0; q < losses->quasi[t]; q++)
                lost[t] += (kn_u128)losses->lm[t * losses->width + q][p->values[v * (uint64_t)p->width + (uint64_t)q]] *
                           (kn_u128)size;
        }
        m->dm += (double)size * (double)size;
    }
    m->dm += (double)p->suppressed * (double)p->entities;
}

kn_status kn_relational_measure(kn_relational_metrics **out, kn_context *ctx, const kn_forest *forest,
                                const kn_database_plan *plan, kn_error *err)
{
    *out = NULL;
    int                    tables = forest->db->table_count;
    kn_relational_metrics *m = kn_alloc_zero(ctx, sizeof *m);
    kn_u128               *lost = kn_alloc_array_zero(ctx, (size_t)tables, sizeof *lost);
    kn_losses              losses = {0};
    kn_status              st = KN_OK;
    if (m) m->tables = kn_alloc_array_zero(ctx, (size_t)tables, sizeof *m->tables);
    if (!m || !lost || !m->tables)
        st = kn_fail_memory(err, ctx, "measuring a plan");
    else
        st = kn_losses_make(&losses, ctx, forest->db, err);
    if (st == KN_OK) {
        kn_u128 total = 0;
        m->table_count = tables;
        add_losses(m, lost, forest, plan, &losses);
        for (int t = 0; t < tables; t++) {
            kn_relational_table_loss *table = &m->tables[t];
            kn_u128                   sum = lost[t] + (kn_u128)table->deleted * losses.unit;
            table->lost = (double)sum / (double)losses.unit;
            table->lm = table->cells ? table->lost / (double)table->cells : 0;
            m->cells += table->cells;
            m->deleted += table->deleted;
            total += lost[t];
        }
        kn_u128 all = total + (kn_u128)m->deleted * losses.unit;
        if (m->cells > 0) m->lm = (double)all / ((double)m->cells * (double)losses.unit);
        if (m->cells > m->deleted)
            m->lm_released = (double)total / ((double)(m->cells - m->deleted) * (double)losses.unit);
        *out = m;
        m = NULL;
    }
    kn_relational_metrics_free(m);
    kn_losses_free(&losses);
    kn_free(lost);
    return st;
}
