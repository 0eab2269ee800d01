/* table/forced.c: which levels a promise beyond k forced (kn_table_run_warn_of_force, kn_table_run.h).
 *
 * Whoever knows the method knows that it stops at levels below which a promise fails (minimality: Wong et al., "Minimality
 * attack in privacy preserving data publishing", VLDB 2007). Where k alone would still hold one level below, some class
 * there breaks another promise, and somebody who knows the quasi-identifiers may conclude whose. The owner is told for
 * which columns.
 *
 * Cost: the table grouped once, then one roll-up for each column above level 0; nothing where k is all that is asked.
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_table_run.h"

typedef struct forcing {
    kn_table_run *run;
    kn_freq      *rows;
    kn_rollup    *by; /* per quasi-identifier, at its chosen level */
    int64_t       k;
} forcing;

static kn_status set_level(forcing *f, int q, int level, kn_error *err)
{
    const kn_hierarchy *h = f->run->hierarchies[q];
    uint32_t           *map = kn_alloc_array(f->run->all.ctx, (size_t)h->codes + 1, sizeof *map);
    if (!map) return kn_fail_memory(err, f->run->all.ctx, "looking at levels");
    kn_free((void *)(uintptr_t)f->by[q].map);
    kn_hierarchy_level_map(h, (uint32_t)level, map, &f->by[q].distinct, NULL);
    f->by[q].map = map;
    return KN_OK;
}

/* Would k alone, within the budget, hold here? */
static kn_status k_holds(forcing *f, bool *holds, kn_error *err)
{
    kn_freq *classes = NULL;
    int64_t  failing = 0;
    KN_TRY(kn_freq_rollup_unsorted(&classes, f->rows, f->by, err));
    for (int64_t i = 0; i < classes->classes; i++)
        if (classes->counts[i] < f->k) failing += classes->counts[i];
    kn_freq_free(classes);
    *holds = failing <= f->run->budget;
    return KN_OK;
}

static kn_status look(forcing *f, kn_error *err)
{
    kn_table_run *run = f->run;
    const int    *levels = run->result->levels;
    KN_TRY(kn_freq_of_table(&f->rows, run->all.ctx, run->table, run->quasi, run->quasi_count, err));
    for (int q = 0; q < run->quasi_count; q++) KN_TRY(set_level(f, q, levels[q], err));
    for (int q = 0; q < run->quasi_count; q++) {
        bool holds = false;
        if (levels[q] == 0) continue;
        KN_TRY(set_level(f, q, levels[q] - 1, err));
        KN_TRY(k_holds(f, &holds, err));
        KN_TRY(set_level(f, q, levels[q], err));
        if (holds)
            KN_TRY(kn_release_note(
                &run->all, err,
                "\"%s\" is at level %d because of a promise beyond k: k alone would hold at level %d, and whoever "
                "knows the method may conclude that somebody there would have been given away",
                run->quasi_names[q], levels[q], levels[q] - 1));
    }
    return KN_OK;
}

kn_status kn_table_run_warn_of_force(kn_table_run *run, kn_error *err)
{
    forcing f = {.run = run, .k = 1};
    bool    beyond = false;
    for (int i = 0; i < run->all.spec->model_count; i++) {
        const kn_model *m = &run->all.spec->models[i];
        beyond = beyond || m->kind != KN_MODEL_K;
        if (m->kind == KN_MODEL_K && m->k > f.k) f.k = m->k;
    }
    if (!beyond || run->entity >= 0 || run->result->level_count != run->quasi_count) return KN_OK;
    f.by = kn_alloc_array_zero(run->all.ctx, (size_t)run->quasi_count, sizeof *f.by);
    kn_status st = f.by ? look(&f, err) : kn_fail_memory(err, run->all.ctx, "looking at levels");
    for (int q = 0; f.by && q < run->quasi_count; q++) kn_free((void *)(uintptr_t)f.by[q].map);
    kn_free(f.by);
    kn_freq_free(f.rows);
    return st;
}
