/* kn_kmsd_plan.c: what the rows show → the plan (kn_kmsd_internal.h). Rows that show equal labels are one class; if
 * its rows have the label from different nodes, the class's cell is the widest of them. Cost: a grouping and one
 * pass.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_kmsd_internal.h"
#include "kn_parallel.h"

#define WHAT "planning a release"

enum { GROUPS = 64, ROWS = 1 << 14 /* of a range */ };

static uint32_t *codes_of_leaves(const kn_kmsd_run *run, int q)
{
    const kn_hierarchy *h = run->problem->hierarchies[q];
    uint32_t           *codes = kn_alloc_array_zero(run->ctx, (size_t)h->leaves + 1, sizeof *codes);
    for (uint32_t code = 0; codes && code <= h->codes; code++) codes[h->leaf_of_code[code]] = code;
    return codes;
}

typedef struct planning {
    const kn_kmsd_run *run;
    const kn_grouping *g; /* listed */
    kn_plan           *plan;
    uint32_t         **codes;  /* per quasi-identifier: of its leaves       */
    uint32_t          *number; /* per group: its class, once it is numbered */
} planning;

static kn_cell make_cell(const planning *p, uint32_t group, int q)
{
    const kn_hierarchy *h = p->run->problem->hierarchies[q];
    const uint32_t     *nodes = p->run->nodes[q];
    uint32_t            widest = KN_NODE_NONE;
    for (uint32_t i = p->g->starts[group]; i < p->g->starts[group + 1]; i++) {
        uint32_t row = p->g->members[i];
        if (p->run->suppressed[row]) continue;
        if (widest == KN_NODE_NONE || kn_hierarchy_cover(h, nodes[row]) > kn_hierarchy_cover(h, widest))
            widest = nodes[row];
    }
    bool leaf = widest <= h->leaves;
    return (kn_cell){leaf ? KN_CELL_VALUE : KN_CELL_NODE, leaf ? p->codes[q][widest] : widest, 0};
}

/* How many rows of each group are released: in `number`, for now. */
static kn_status count_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const planning *p = arg;
    for (int64_t group = begin; group < end; group++) {
        p->number[group] = 0;
        for (uint32_t i = p->g->starts[group]; i < p->g->starts[group + 1]; i++)
            p->number[group] += !p->run->suppressed[p->g->members[i]];
    }
    return KN_OK;
}

/* Numbers the classes that are released, in the order of their groups. */
static void number_classes(const planning *p)
{
    kn_plan *plan = p->plan;
    uint32_t classes = 0;
    for (uint32_t i = 0; i < p->g->groups; i++) {
        uint32_t rows = p->number[i];
        plan->suppressed += p->g->sizes[i] - rows;
        p->number[i] = rows > 0 ? classes : KN_CLASS_SUPPRESSED;
        if (rows > 0) plan->class_rows[classes++] = rows;
    }
    plan->classes = classes;
}

static kn_status cell_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const planning *p = arg;
    size_t          quasi = (size_t)p->plan->quasi_count;
    for (int64_t group = begin; group < end; group++)
        for (size_t q = 0; p->number[group] != KN_CLASS_SUPPRESSED && q < quasi; q++)
            p->plan->cells[p->number[group] * quasi + q] = make_cell(p, (uint32_t)group, (int)q);
    return KN_OK;
}

static kn_status row_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const planning *p = arg;
    for (int64_t row = begin; row < end; row++)
        p->plan->class_of_row[row] = p->run->suppressed[row] ? KN_CLASS_SUPPRESSED : p->number[p->g->group_of[row]];
    return KN_OK;
}

static kn_status fill_plan(planning *p, kn_error *err)
{
    kn_context *ctx = p->run->ctx;
    size_t      quasi = (size_t)p->plan->quasi_count;
    p->number = kn_alloc_array(ctx, (size_t)p->g->groups + 1, sizeof *p->number);
    p->codes = kn_alloc_array_zero(ctx, quasi + 1, sizeof *p->codes);
    for (size_t q = 0; p->codes && q < quasi; q++)
        if (!(p->codes[q] = codes_of_leaves(p->run, (int)q))) return kn_fail_memory(err, ctx, WHAT);
    if (!p->number || !p->codes) return kn_fail_memory(err, ctx, WHAT);
    KN_TRY(kn_parallel_for(ctx, p->g->groups, GROUPS, count_range, p, err));
    number_classes(p);
    KN_TRY(kn_parallel_for(ctx, p->g->groups, GROUPS, cell_range, p, err));
    return kn_parallel_for(ctx, p->run->rows, ROWS, row_range, p, err);
}

kn_status kn_kmsd_plan(kn_plan **out, kn_kmsd_run *run, kn_error *err)
{
    kn_grouping g;
    int         quasi = run->problem->quasi_count;
    KN_TRY(kn_kmsd_group(&g, run, kn_kmsd_all(run), err));
    planning  p = {.run = run, .g = &g};
    kn_status status = kn_grouping_list(&g, err);
    if (status == KN_OK) status = kn_plan_create(out, run->ctx, run->rows, quasi, g.groups, err);
    if (status == KN_OK) {
        p.plan = *out;
        status = fill_plan(&p, err);
    }
    for (int q = 0; p.codes && q < quasi; q++) kn_free(p.codes[q]);
    KN_FREE(p.codes, p.number);
    kn_kmsd_keep(run, &g, kn_kmsd_all(run)); /* freed with the rest */
    if (status != KN_OK) {
        kn_plan_free(*out);
        *out = NULL;
    }
    return status;
}
