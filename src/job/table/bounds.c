/* table/bounds.c: the levels that a search may use: the requested ones (`levels`, min-level, max-level), checked
 * against the hierarchies; which methods have levels; and why there is no release within them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "kn_error.h"
#include "kn_table_run.h"

/* Reports where in the release file the column is. */
static kn_status no_such_level(const kn_table_run *run, const kn_attribute *a, int level, int height, kn_error *err)
{
    char what[400];
    snprintf(what, sizeof what, "column \"%.200s\": level %d is asked for; its hierarchy has the levels 0 to %d",
             a->name, level, height);
    if (run->all.spec->path && a->line > 0)
        return kn_fail_at(err, KN_USAGE, run->all.spec->path, a->line, a->column, "%s", what);
    return kn_fail(err, KN_USAGE, "%s", what);
}

kn_status kn_table_run_check_levels(const kn_table_run *run, const char *what, kn_error *err)
{
    if (kn_table_run_full_domain(run)) return KN_OK;
    return kn_fail(err, KN_USAGE, "%s: only methods with one level for a whole column, such as optimal, have %s",
                   kn_method_name(run->all.spec->method), what);
}

kn_status kn_table_run_bounds(kn_table_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    size_t         quasi = (size_t)run->quasi_count;
    bool           any = false;
    int           *low = kn_release_alloc(&run->all, &run->all.scratch, quasi, sizeof *low, err);
    int           *high = kn_release_alloc(&run->all, &run->all.scratch, quasi, sizeof *high, err);
    if (!low || !high) return KN_MEMORY;
    run->low = run->high = NULL;
    for (int q = 0; q < run->quasi_count; q++) {
        int index = kn_spec_find(spec, run->quasi_names[q]), height = kn_hierarchy_levels(run->hierarchies[q]) - 1;
        any = kn_spec_level_bounds(spec, index, &low[q], &high[q]) || any;
        if (low[q] > height || high[q] > height)
            return no_such_level(run, &spec->attributes[index], low[q] > height ? low[q] : high[q], height, err);
        if (low[q] < 0) low[q] = 0;
        if (high[q] < 0) high[q] = height;
    }
    if (!any) return KN_OK;
    run->low = low;
    run->high = high;
    return KN_OK;
}

/* "1,0,2" */
static void node_text(char *out, size_t size, const int *levels, int count)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, i ? ",%d" : "%d", levels[i]);
}

/* Explains why the only allowed node fails. */
static kn_status explain_node(kn_table_run *run, char *out, size_t size, kn_error *err)
{
    char             node[120], why[200];
    kn_node_failures f;
    size_t           count = (size_t)run->requirements->model_count + 1;
    kn_failures     *models = kn_release_alloc(&run->all, &run->all.scratch, count, sizeof *models, err);
    if (!models) return KN_MEMORY;
    KN_TRY(kn_fulldomain_explain(&f, models, run->all.ctx, &run->problem, run->low, err));
    node_text(node, sizeof node, run->low, run->quasi_count);
    kn_table_run_node_reason(run, &f, why, sizeof why);
    snprintf(out, size, "at the levels that are asked for, %s, %s; 'kanon explain' says which promise fails", node,
             why);
    return KN_OK;
}

kn_status kn_table_run_explain_bounds(kn_table_run *run, char *out, size_t size, kn_error *err)
{
    bool fixed = true;
    for (int q = 0; q < run->quasi_count; q++) fixed = fixed && run->low[q] == run->high[q];
    if (fixed && !run->judged) return explain_node(run, out, size, err);
    snprintf(
        out, size,
        "no choice of levels within the bounds that are asked for keeps all promises with at most %lld suppressed rows",
        (long long)run->budget);
    return KN_OK;
}
