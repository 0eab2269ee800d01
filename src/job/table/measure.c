/* table/measure.c: the figures of the result, before and after, each of which the verifier derives again from the
 * written bytes.
 *
 * The plan's classes are measured by the same code as the original's (cut.c), over a table whose first
 * column is the class and whose other columns are borrowed. Memory: 4 bytes per row; with average risk 4 bytes per
 * quasi-identifier and row, to know the classes that are suppressed for it alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_table_run.h"

static const char measuring[] = "measuring the release";

/* A table of borrowed columns; codes of the first `own` ones belong to it. */
typedef struct view_table {
    kn_table   table;
    kn_column *columns;
    int        own;
    int       *sensitive; /* per sensitive column of the requirements */
    kn_arena   arena;
    int        entity;
} view_table;

static kn_status open_view(view_table *v, kn_table_run *run, int own, kn_error *err)
{
    const kn_requirements *r = run->requirements;
    int                    sensitive = r->sensitive_count;
    *v = (view_table){.own = own, .entity = -1};
    kn_arena_init(&v->arena, run->all.ctx);
    v->columns = kn_arena_array_zero(&v->arena, (size_t)own + (size_t)sensitive + 1, sizeof *v->columns);
    v->sensitive = kn_arena_array(&v->arena, (size_t)sensitive + 1, sizeof *v->sensitive);
    if (v->arena.failed) return kn_fail_memory(err, run->all.ctx, measuring);
    v->table = (kn_table){.ctx = run->all.ctx,
                          .rows = run->table->rows,
                          .counts = run->table->counts,
                          .total = run->table->total,
                          .columns = v->columns,
                          .column_count = own};
    for (int s = 0; s < sensitive; s++) {
        v->sensitive[s] = v->table.column_count;
        v->columns[v->table.column_count++] = run->table->columns[r->sensitive[s]];
    }
    if (run->entity >= 0) {
        v->entity = v->table.column_count;
        v->columns[v->table.column_count++] = run->table->columns[run->entity];
    }
    for (int i = 0; i < own; i++) {
        v->columns[i].width = 4;
        v->columns[i].codes = kn_arena_array(&v->arena, (size_t)run->table->rows + 1, sizeof(uint32_t));
    }
    return v->arena.failed ? kn_fail_memory(err, run->all.ctx, measuring) : KN_OK;
}

/* ---- Before ---- */

static kn_status measure_before(kn_table_run *run, kn_cut_figures *figures, kn_error *err)
{
    kn_cut cut = {.table = run->table,
                  .columns = run->quasi,
                  .column_count = run->quasi_count,
                  .entity = run->entity,
                  .sensitive = run->requirements->sensitive,
                  .leave_out = -1,
                  .starred = -1};
    return kn_cut_measure(run, &cut, figures, err);
}

/* ---- After ---- */

typedef struct filling {
    const kn_plan   *plan;
    uint32_t        *codes;
    _Atomic int64_t *first_rows;
    _Atomic int64_t  suppressed;
} filling;

static kn_status fill_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    filling       *f = arg;
    const kn_plan *plan = f->plan;
    int64_t        suppressed = 0;
    (void)worker;
    (void)err;
    for (int64_t row = begin; row < end; row++) {
        uint32_t c = plan->class_of_row[row];
        suppressed += c == KN_CLASS_SUPPRESSED;
        f->codes[row] = c == KN_CLASS_SUPPRESSED ? plan->classes : c;
        /* Seldom: of the rows of a range only the first of a class comes before what was found. */
        int64_t first = atomic_load_explicit(&f->first_rows[f->codes[row]], memory_order_relaxed);
        while (row < first && !atomic_compare_exchange_weak_explicit(&f->first_rows[f->codes[row]], &first, row,
                                                                     memory_order_relaxed, memory_order_relaxed)) {
        }
    }
    atomic_fetch_add(&f->suppressed, suppressed);
    return KN_OK;
}

static kn_status fill_classes(const kn_table_run *run, view_table *v, int64_t *first_rows, kn_error *err)
{
    const kn_plan *plan = run->plan;
    size_t         classes = (size_t)plan->classes + 1;
    filling        f = {.plan = plan, .codes = v->columns[0].codes};
    f.first_rows = kn_alloc_array(run->all.ctx, classes, sizeof *f.first_rows);
    if (!f.first_rows) return kn_fail_memory(err, run->all.ctx, measuring);
    for (size_t c = 0; c < classes; c++) atomic_init(&f.first_rows[c], plan->rows);
    kn_status st = kn_parallel_for(run->all.ctx, plan->rows, 1 << 16, fill_range, &f, err);
    for (size_t c = 0; c < classes; c++) first_rows[c] = atomic_load_explicit(&f.first_rows[c], memory_order_relaxed);
    kn_free(f.first_rows);
    v->columns[0].missing = atomic_load(&f.suppressed);
    v->columns[0].dict.count = plan->classes;
    return st;
}

static kn_status measure_after(kn_table_run *run, kn_cut_figures *figures, kn_error *err)
{
    view_table v;
    kn_status  st = open_view(&v, run, 1, err);
    int64_t   *first_rows = kn_arena_array(&v.arena, (size_t)run->plan->classes + 1, sizeof *first_rows);
    int        zero = 0;
    if (st == KN_OK && !first_rows) st = kn_fail_memory(err, run->all.ctx, measuring);
    if (st == KN_OK) {
        /* With keep-sensitive the suppressed rows are a class that must keep the promises like any other. */
        bool   shown = run->all.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE;
        kn_cut cut = {.table = &v.table,
                      .columns = &zero,
                      .column_count = 1,
                      .entity = v.entity,
                      .sensitive = v.sensitive,
                      .first_rows = first_rows,
                      .levels = run->result->levels,
                      .leave_out = shown ? -1 : (int64_t)run->plan->classes,
                      .starred = shown ? (int64_t)run->plan->classes : -1};
        st = fill_classes(run, &v, first_rows, err);
        if (st == KN_OK) st = kn_cut_measure(run, &cut, figures, err);
    }
    kn_arena_free(&v.arena);
    return st;
}

/* ---- Average risk ---- */

static kn_status fill_levels(kn_table_run *run, view_table *v, kn_error *err)
{
    for (int q = 0; q < run->quasi_count; q++) {
        const kn_hierarchy *h = run->hierarchies[q];
        const kn_column    *column = &run->table->columns[run->quasi[q]];
        uint32_t           *map = kn_arena_array(&v->arena, (size_t)column->dict.count + 1, sizeof *map), distinct = 0;
        if (!map) return kn_fail_memory(err, run->all.ctx, measuring);
        kn_hierarchy_level_map(h, (uint32_t)run->result->levels[q], map, &distinct, NULL);
        uint32_t *codes = v->columns[q].codes;
        for (int64_t row = 0; row < run->table->rows; row++) codes[row] = map[kn_column_code(column, row)];
        v->columns[q].dict.count = distinct;
    }
    return KN_OK;
}

/* Rows that are suppressed although their class keeps every promise that a class can keep. */
static kn_status average_suppressed(kn_table_run *run, int64_t *out, kn_error *err)
{
    view_table v;
    kn_status  st = open_view(&v, run, run->quasi_count, err);
    int       *columns = kn_arena_array(&v.arena, (size_t)run->quasi_count, sizeof *columns);
    if (st == KN_OK && !columns) st = kn_fail_memory(err, run->all.ctx, measuring);
    if (st == KN_OK) st = fill_levels(run, &v, err);
    if (st == KN_OK && !run->population) {
        for (int q = 0; q < run->quasi_count; q++) columns[q] = q;
        kn_cut         cut = {.table = &v.table,
                              .columns = columns,
                              .column_count = run->quasi_count,
                              .entity = v.entity,
                              .sensitive = v.sensitive,
                              .leave_out = -1,
                              .starred = -1};
        kn_cut_figures figures;
        st = kn_cut_measure(run, &cut, &figures, err);
        if (st == KN_OK) *out = figures.good_rows - (kn_table_total(run->table) - run->plan->suppressed);
    }
    kn_arena_free(&v.arena);
    return st;
}

/* ---- The result ---- */

static kn_status copy_metrics(kn_table_run *run, const kn_metrics *metrics, kn_error *err)
{
    kn_release_result    *result = run->result;
    kn_release_attribute *attributes =
        kn_release_alloc(&run->all, run->all.arena, (size_t)run->quasi_count, sizeof *attributes, err);
    if (!attributes) return KN_MEMORY;
    memcpy(result->metrics, metrics->value, sizeof result->metrics);
    for (int q = 0; q < run->quasi_count; q++) {
        const kn_attribute_loss *loss = &metrics->per_attribute[q];
        attributes[q] = (kn_release_attribute){kn_release_text(&run->all, run->quasi_names[q], err),
                                               result->levels ? result->levels[q] : -1,
                                               result->levels ? (int)run->hierarchies[q]->height : -1,
                                               loss->lm,
                                               loss->ncp,
                                               loss->prec,
                                               loss->entropy};
        if (!attributes[q].name) return KN_MEMORY;
    }
    result->attributes = attributes;
    result->attribute_count = run->quasi_count;
    return KN_OK;
}

/* docs/errata.md 3.4: for strict, minimal, ordinal cuts only. */
static void set_bounds(kn_table_run *run)
{
    kn_release_result *r = run->result;
    if (run->all.spec->method != KN_METHOD_MONDRIAN || !run->requirements->k_only || run->entity >= 0) return;
    for (int q = 0; q < run->quasi_count; q++)
        if (run->hierarchies[q] &&
            !run->all.spec->attributes[kn_spec_find(run->all.spec, run->quasi_names[q])].cut_by_order)
            return;
    int64_t k = run->requirements->k,
            copies = r->head.size_count_before > 0 ? r->head.sizes_before[r->head.size_count_before - 1].size : 0;
    r->region_bound = 2 * (int64_t)run->quasi_count * (k - 1) + copies;
    r->c_avg_bound = (double)r->region_bound / (double)k;
    r->dm_bound = (double)r->region_bound * (double)kn_table_total(run->table);
}

kn_status kn_table_run_measure(kn_release_run *all, kn_error *err)
{
    kn_table_run      *run = kn_table_run_of(all);
    kn_release_result *result = run->result;
    kn_cut_figures     before, after;
    if (!run->requirements) KN_TRY(kn_table_run_prepare(run, err)); /* no method was chosen */
    KN_TRY(run->judged ? kn_table_run_measure_there(run, &before, err) : measure_before(run, &before, err));
    result->head.k_before = before.k;
    result->head.sizes_before = before.sizes;
    result->head.size_count_before = before.size_count;
    if (!result->head.found) return KN_OK;

    const kn_plan *plan = run->plan;
    KN_TRY(measure_after(run, &after, err));
    KN_TRY(kn_release_set_models(all, before.reached, after.reached, err));
    run->good_rows = after.good_rows;
    result->head.k = after.k;
    result->head.sizes = after.sizes;
    result->head.size_count = after.size_count;
    result->head.classes = plan->classes;
    result->head.suppressed = plan->suppressed;
    result->rows =
        kn_table_total(run->table) - (run->all.spec->suppressed == KN_SUPPRESSED_DROP ? plan->suppressed : 0);
    if (run->requirements->has_average && result->levels)
        KN_TRY(average_suppressed(run, &result->average_suppressed, err));

    set_bounds(run);
    kn_metrics *metrics = NULL;
    KN_TRY(kn_metrics_of_plan(&metrics, run->all.ctx, run->table, run->quasi,
                              (const kn_hierarchy *const *)run->hierarchies, run->weights, plan, run->requirements->k,
                              err));
    kn_status st = copy_metrics(run, metrics, err);
    kn_metrics_free(metrics);
    return st;
}
