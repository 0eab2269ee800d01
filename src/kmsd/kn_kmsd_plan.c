/* kn_kmsd_plan.c: what the rows show → the plan (kn_kmsd_internal.h). Rows that show equal labels are one class; if
 * its rows have the label from different nodes, the class's cell is the widest of them. Cost: a grouping and one
 * pass.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_kmsd_internal.h"

static uint32_t *codes_of_leaves(const kn_kmsd_run *run, int q)
{
    const kn_hierarchy *h = run->problem->hierarchies[q];
    uint32_t           *codes = kn_alloc_array_zero(run->ctx, (size_t)h->leaves + 1, sizeof *codes);
    for (uint32_t code = 0; codes && code <= h->codes; code++) codes[h->leaf_of_code[code]] = code;
    return codes;
}

static void make_cells(kn_plan *plan, const kn_kmsd_run *run, int q, const uint32_t *codes)
{
    const kn_hierarchy *h = run->problem->hierarchies[q];
    size_t              quasi = (size_t)plan->quasi_count;
    for (uint32_t c = 0; c < plan->classes; c++) plan->cells[c * quasi + (size_t)q].a = KN_NODE_NONE;
    for (uint32_t row = 0; row < run->rows; row++) {
        if (plan->class_of_row[row] == KN_CLASS_SUPPRESSED) continue;
        kn_cell *cell = &plan->cells[plan->class_of_row[row] * quasi + (size_t)q];
        uint32_t node = run->nodes[q][row];
        if (cell->a == KN_NODE_NONE || kn_hierarchy_cover(h, node) > kn_hierarchy_cover(h, cell->a)) cell->a = node;
    }
    for (uint32_t c = 0; c < plan->classes; c++) {
        kn_cell *cell = &plan->cells[c * quasi + (size_t)q];
        bool     leaf = cell->a <= h->leaves;
        *cell = (kn_cell){leaf ? KN_CELL_VALUE : KN_CELL_NODE, leaf ? codes[cell->a] : cell->a, 0};
    }
}

/* Numbers the classes that are released; `number` has space for one per group. */
static void number_classes(kn_plan *plan, const kn_kmsd_run *run, const kn_grouping *g, uint32_t *number)
{
    uint32_t classes = 0;
    for (uint32_t i = 0; i < g->groups; i++) number[i] = KN_CLASS_SUPPRESSED;
    for (uint32_t row = 0; row < run->rows; row++) {
        uint32_t *mine = &number[g->group_of[row]];
        if (run->suppressed[row]) {
            plan->class_of_row[row] = KN_CLASS_SUPPRESSED;
            plan->suppressed++;
            continue;
        }
        if (*mine == KN_CLASS_SUPPRESSED) *mine = classes++;
        plan->class_of_row[row] = *mine;
        plan->class_rows[*mine]++;
    }
    plan->classes = classes;
}

kn_status kn_kmsd_plan(kn_plan **out, const kn_kmsd_run *run, kn_error *err)
{
    kn_grouping g;
    int         quasi = run->problem->quasi_count;
    KN_TRY(kn_kmsd_group(&g, run, kn_kmsd_all(run), err));
    kn_status status = kn_plan_create(out, run->ctx, run->rows, quasi, g.groups, err);
    uint32_t *number = kn_alloc_array(run->ctx, (size_t)g.groups + 1, sizeof *number);
    if (status == KN_OK && !number) status = kn_fail_memory(err, run->ctx, "planning a release");
    if (status == KN_OK) number_classes(*out, run, &g, number);
    for (int q = 0; status == KN_OK && q < quasi; q++) {
        uint32_t *codes = codes_of_leaves(run, q);
        if (codes)
            make_cells(*out, run, q, codes);
        else
            status = kn_fail_memory(err, run->ctx, "planning a release");
        kn_free(codes);
    }
    kn_free(number);
    kn_grouping_free(&g);
    if (status != KN_OK) {
        kn_plan_free(*out);
        *out = NULL;
    }
    return status;
}
