/* database/distributions.c: how the values of each released column of a database are spread, before and after, for the owner's page.
 *
 * The original is every row of a table; the release its rows that the plan keeps. A quasi-identifier's cells come from the nodes
 * of the plan's trees; any other column, and with anatomy all of them, shows what the kept rows held. Cost: a pass over the
 * table per column, and one over the plan's nodes or the kept rows; several columns at the same time. Memory: 4 bytes per
 * kept row, 40 per value of the columns that are being counted.
 *
 * Limits: keys of several columns that are one quasi-identifier are not counted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_database_run.h"
#include "kn_error.h"
#include "kn_job_distributions.h"
#include "kn_marginal.h"
#include "kn_parallel.h"

typedef struct place {
    int table, column;
    int quasi; /* which of its table's; -1: it shows what the rows held */
} place;

typedef struct counted {
    const kn_database_run *run;
    int                    count;
    place                 *places;
    kn_distributed        *names;
    kn_distribution       *found;
    uint32_t             **kept; /* per table: rows of the original */
    int64_t               *kept_count;
} counted;

/* ---- Cells of the release ---- */

static void add_nodes(kn_spread *s, const kn_database_plan *plan, const place *at)
{
    for (uint32_t c = 0; c < plan->classes; c++)
        for (uint64_t v = plan->node_start[c]; v < plan->node_start[c + 1]; v++)
            if (plan->table[v] == at->table)
                kn_spread_node(s, plan->values[v * (uint64_t)plan->width + (uint64_t)at->quasi],
                               kn_database_plan_size(plan, c));
}

static kn_status column_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const counted *all = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const place             *at = &all->places[i];
        const kn_database_table *t = &all->run->db->tables[at->table];
        const kn_column         *column = &t->table->columns[at->column];
        kn_spread                s;
        KN_TRY(kn_spread_open(&s, all->run->all.ctx, column->dict.count,
                              at->quasi >= 0 ? t->columns[at->column].hierarchy : NULL, err));
        kn_marginal_count(s.before, t->table, at->column);
        if (at->quasi >= 0) add_nodes(&s, all->run->plan, at);
        for (int64_t row = 0; at->quasi < 0 && row < all->kept_count[at->table]; row++)
            kn_spread_value(&s, kn_column_code(column, all->kept[at->table][row]), 1);
        kn_status st = kn_spread_finish(&s, err);
        if (st == KN_OK) kn_distribution_make(&all->found[i], &s, kn_distribution_order_of(column));
        kn_spread_close(&s);
        KN_TRY(st);
    }
    return KN_OK;
}

/* ---- Which columns, which rows ---- */

static int quasi_of(const kn_database_table *t, int column)
{
    for (int q = 0; q < t->quasi_count; q++)
        if (t->quasi[q] == column) return q;
    return -1;
}

static void list_columns(counted *all, bool *others)
{
    const kn_database *db = all->run->db;
    for (int t = 0; t < db->table_count; t++)
        for (int c = 0; c < db->tables[t].table->column_count; c++) {
            const kn_database_column *d = &db->tables[t].columns[c];
            if (!d->has_role || d->role == KN_ROLE_IDENTIFIER) continue;
            if (d->whole >= 0) {
                *others = true;
                continue;
            }
            bool generalized = d->role == KN_ROLE_QUASI && d->hierarchy && !all->run->all.spec->anatomy;
            all->places[all->count] = (place){t, c, generalized ? quasi_of(&db->tables[t], c) : -1};
            all->names[all->count++] =
                kn_distributed_column(db->tables[t].name, &db->tables[t].table->columns[c], d->role);
        }
}

static kn_status find_kept(counted *all, kn_error *err)
{
    const kn_database_plan *plan = all->run->plan;
    int                     tables = all->run->db->table_count;
    for (uint32_t c = 0; c < plan->classes; c++)
        for (uint64_t v = plan->node_start[c]; v < plan->node_start[c + 1]; v++)
            all->kept_count[plan->table[v]] += kn_database_plan_size(plan, c);
    for (int t = 0; t < tables; t++) {
        if (!KN_ALLOC(all->run->all.ctx, all->kept[t], (size_t)all->kept_count[t] + 1))
            return kn_fail_memory(err, all->run->all.ctx, "counting values");
        all->kept_count[t] = 0;
    }
    for (uint32_t c = 0; c < plan->classes; c++)
        for (int64_t m = 0; m < kn_database_plan_size(plan, c); m++) {
            const uint32_t *rows = kn_database_plan_rows(plan, c, m);
            for (uint32_t v = 0; v < kn_database_plan_nodes(plan, c); v++) {
                uint16_t t = plan->table[plan->node_start[c] + v];
                all->kept[t][all->kept_count[t]++] = rows[v];
            }
        }
    return KN_OK;
}

kn_status kn_database_run_spread(kn_release_run *run, kn_error *err)
{
    const kn_database *db = kn_database_run_of(run)->db;
    size_t             tables = (size_t)db->table_count, n = 1;
    bool               others = false;
    for (int t = 0; t < db->table_count; t++) n += (size_t)db->tables[t].table->column_count;
    counted all = {.run = kn_database_run_of(run)};
    all.places = kn_release_alloc(run, &run->scratch, n, sizeof *all.places, err);
    all.names = kn_release_alloc(run, &run->scratch, n, sizeof *all.names, err);
    all.found = kn_release_alloc(run, &run->scratch, n, sizeof *all.found, err);
    all.kept = kn_release_alloc(run, &run->scratch, tables, sizeof *all.kept, err);
    all.kept_count = kn_release_alloc(run, &run->scratch, tables, sizeof *all.kept_count, err);
    if (!all.places || !all.names || !all.found || !all.kept || !all.kept_count) return KN_MEMORY;
    list_columns(&all, &others);
    kn_status st = find_kept(&all, err);
    if (st == KN_OK) st = kn_parallel_for(run->ctx, all.count, 1, column_range, &all, err);
    for (size_t t = 0; t < tables; t++) kn_free(all.kept[t]);
    KN_TRY(st);
    return kn_release_set_distributions(
        run, all.names, all.found, all.count, 0,
        others ? "Keys of several columns that are one quasi-identifier are not drawn." : NULL, err);
}
