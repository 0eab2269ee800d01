/* table/distributions.c: how the values of each released column are spread, before and after, for the owner's page.
 *
 * A quasi-identifier's cells come from the plan's classes; any other column shows what it held, except in suppressed rows. Cost:
 * a pass over the rows per column (kn_marginal), and one over the classes, or over the suppressed rows; several columns at the
 * same time. Memory: 40 bytes per value of the columns that are being counted, 8 per suppressed row.
 *
 * Limits: a table that stays where it is is not counted; pseudonyms say nothing, and a cell of a set holds several values.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_job_distributions.h"
#include "kn_marginal.h"
#include "kn_parallel.h"
#include "kn_table_run.h"

typedef struct counted {
    const kn_table_run        *run;
    int                        count;
    const kn_released_column **released; /* those that are counted */
    int                       *columns;  /* ... of the table       */
    kn_distributed            *names;
    kn_distribution           *found;
    kn_marginals              *marginals;
    int64_t                   *suppressed; /* rows of the table; NULL: nobody asks */
    int64_t                    suppressed_count;
} counted;

/* ---- Cells of the release ---- */

static void add_classes(kn_spread *s, const kn_plan *plan, int quasi, kn_suppressed how)
{
    for (uint32_t c = 0; c < plan->classes; c++)
        kn_spread_cell(s, plan, &plan->cells[(size_t)c * (size_t)plan->quasi_count + (size_t)quasi],
                       plan->class_rows[c]);
    if (how != KN_SUPPRESSED_DROP) kn_spread_star(s, plan->suppressed);
}

static void add_copied(kn_spread *s, const counted *all, const kn_released_column *released)
{
    const kn_table  *table = all->run->table;
    const kn_column *column = &table->columns[released->column];
    kn_suppressed    how = all->run->all.spec->suppressed;
    bool             shown = how == KN_SUPPRESSED_KEEP_SENSITIVE && released->sensitive;
    for (uint32_t v = 0; v <= s->values; v++) kn_spread_value(s, v, s->before[v]);
    for (int64_t i = 0; !shown && i < all->suppressed_count; i++) {
        int64_t row = all->suppressed[i], cells = kn_table_weight(table, row);
        kn_spread_value(s, kn_column_code(column, row), -cells);
        if (how != KN_SUPPRESSED_DROP) kn_spread_star(s, cells);
    }
}

static kn_status column_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const counted *all = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const kn_released_column *released = all->released[i];
        const kn_column          *column = &all->run->table->columns[released->column];
        bool                      quasi = released->kind == KN_RELEASED_QUASI;
        kn_spread                 s;
        KN_TRY(kn_spread_open(&s, all->run->all.ctx, column->dict.count,
                              quasi ? all->run->hierarchies[released->quasi] : NULL, err));
        kn_marginals_add(s.before, all->marginals, (int)i);
        if (quasi)
            add_classes(&s, all->run->plan, released->quasi, all->run->all.spec->suppressed);
        else
            add_copied(&s, all, released);
        kn_status st = kn_spread_finish(&s, err);
        if (st == KN_OK) kn_distribution_make(&all->found[i], &s, kn_distribution_order_of(column));
        kn_spread_close(&s);
        KN_TRY(st);
    }
    return KN_OK;
}

/* ---- Which columns ---- */

static kn_status find_suppressed(counted *all, kn_error *err)
{
    const kn_plan *plan = all->run->plan;
    bool           copied = false;
    for (int i = 0; i < all->count; i++) copied = copied || all->released[i]->kind == KN_RELEASED_COPY;
    if (!copied || plan->suppressed == 0) return KN_OK;
    int64_t rows = 0;
    for (int64_t row = 0; row < plan->rows; row++) rows += plan->class_of_row[row] == KN_CLASS_SUPPRESSED;
    if (!KN_ALLOC(all->run->all.ctx, all->suppressed, (size_t)rows + 1))
        return kn_fail_memory(err, all->run->all.ctx, "counting values");
    for (int64_t row = 0; row < plan->rows; row++)
        if (plan->class_of_row[row] == KN_CLASS_SUPPRESSED) all->suppressed[all->suppressed_count++] = row;
    return KN_OK;
}

static kn_status list_columns(counted *all, kn_table_run *run, bool *others, kn_error *err)
{
    kn_arena *scratch = &run->all.scratch;
    size_t    n = (size_t)run->column_count + 1;
    *all = (counted){.run = run};
    all->released = kn_release_alloc(&run->all, scratch, n, sizeof *all->released, err);
    all->columns = kn_release_alloc(&run->all, scratch, n, sizeof *all->columns, err);
    all->names = kn_release_alloc(&run->all, scratch, n, sizeof *all->names, err);
    all->found = kn_release_alloc(&run->all, scratch, n, sizeof *all->found, err);
    if (!all->released || !all->columns || !all->names || !all->found) return KN_MEMORY;
    for (int i = 0; i < run->column_count; i++) {
        const kn_released_column *released = &run->columns[i];
        const kn_column          *column = &run->table->columns[released->column];
        const kn_spec            *spec = run->all.spec;
        if (released->kind == KN_RELEASED_PSEUDONYM || released->items) {
            *others = true;
            continue;
        }
        all->released[all->count] = released;
        all->columns[all->count] = released->column;
        all->names[all->count++] =
            kn_distributed_column(NULL, column, spec->attributes[kn_spec_find(spec, column->name)].role);
    }
    return KN_OK;
}

kn_status kn_table_run_spread(kn_release_run *run, kn_error *err)
{
    counted all;
    bool    others = false;
    if (kn_table_run_of(run)->large)
        return kn_release_set_distributions(
            run, NULL, NULL, 0, 0, "The table did not fit into memory: the values of its columns were not counted.",
            err);
    KN_TRY(list_columns(&all, kn_table_run_of(run), &others, err));
    kn_status st =
        kn_marginals_make(&all.marginals, run->ctx, kn_table_run_of(run)->table, all.columns, all.count, err);
    if (st == KN_OK) st = find_suppressed(&all, err);
    if (st == KN_OK) st = kn_parallel_for(run->ctx, all.count, 1, column_range, &all, err);
    kn_marginals_free(all.marginals);
    kn_free(all.suppressed);
    KN_TRY(st);
    return kn_release_set_distributions(run, all.names, all.found, all.count, 0,
                                        others ? "Pseudonyms and columns of sets are not drawn." : NULL, err);
}
