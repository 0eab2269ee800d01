/* database/compare.c: promises about sensitive values other than l-diversity: t-closeness, alpha-k, beta-likeness and
 * delta-disclosure of the rows of a position (models.c).
 *
 * They are compared with the column's values in all rows of the original that belong to persons. Where a member has c rows
 * that cannot be distinguished, m_x of the c x n rows have value x, and some way to assign them to c nodes, one row of each
 * member to each, must keep the promise in every node (models.c):
 *
 *   alpha-k, beta-likeness  some node has at least m_x / c rows of x, rounded up, and some way has no more: these must be
 *                           few enough.
 *   delta-disclosure        likewise from below: some node has no more than m_x / c, rounded down.
 *   t-closeness             holds for the c x n values together: the distance of a mean is at most the mean distance.
 *
 * The first two are exact. With c = 1 all are the models themselves.
 *
 * Cost: one pass over the rows of the original's table, then that of the models (formulas.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_database.h"

/* ---- What positions are compared with ---- */

static kn_status prepare_tree(kn_vdb_reference *to, kn_vdb *v, const kn_vdb_column *column, int64_t *counts,
                              kn_error *err)
{
    kn_vreference *r = &to->r;
    if (!column->attribute->has_hierarchy)
        return kn_fail(err, KN_USAGE, "t-closeness: column \"%s\" has no hierarchy, which the distance needs",
                       column->attribute->name);
    KN_TRY(kn_vtree_make(&to->tree, v->ctx, column->attribute, &column->domain, err));
    const kn_vtree *t = to->tree;
    int64_t        *nodes = kn_arena_array_zero(&to->room, (size_t)t->nodes + 1, sizeof *nodes);
    r->node_scratch = kn_arena_array_zero(&to->room, (size_t)t->nodes + 1, sizeof *r->node_scratch);
    r->touched = kn_arena_array(&to->room, (size_t)t->nodes + 1, sizeof *r->touched);
    if (to->room.failed) return kn_vdb_no_memory(v, err);
    for (uint32_t value = 0; value < r->values; value++)
        for (uint32_t node = t->leaf_of_value[value]; node != KN_V_NONE; node = t->parent[node])
            nodes[node] += counts[value];
    for (uint32_t node = 0; node < t->nodes; node++)
        if (t->parent[node] != KN_V_NONE)
            r->node_sum += (kn_u128)nodes[node] * (t->level[t->parent[node]] - t->level[node]);
    r->tree = t;
    r->node_counts = nodes;
    return KN_OK;
}

uint32_t kn_vdb_reference_value(const kn_vdb_reference *reference, uint32_t value)
{
    if (value == KN_V_MISSING || value == reference->gone) return KN_V_MISSING;
    return reference->gone != KN_V_NONE && value > reference->gone ? value - 1 : value;
}

kn_status kn_vdb_reference_make(kn_vdb_reference *out, kn_vdb *v, const kn_vdb_table *t, const kn_vdb_column *column,
                                const kn_model *m, kn_error *err)
{
    bool compares = m->kind >= KN_MODEL_T_EQUAL && m->kind <= KN_MODEL_DELTA && m->kind != KN_MODEL_ALPHA_K;
    *out = (kn_vdb_reference){.room = {.ctx = v->ctx}, .gone = KN_V_NONE};
    if (!compares) return KN_OK;
    bool           tree = m->kind == KN_MODEL_T_HIERARCHICAL;
    kn_vreference *r = &out->r;
    if (!tree && v->source[1]->file) out->gone = column->empty; /* in files the empty text looks like a missing cell */
    r->values = column->domain.count - (out->gone != KN_V_NONE);
    int64_t *counts = kn_arena_array_zero(&out->room, (size_t)r->values + 1, sizeof *counts);
    r->breaks = kn_arena_array(&out->room, 2 * (2 * (size_t)r->values + 2), sizeof *r->breaks);
    if (out->room.failed) return kn_vdb_no_memory(v, err);
    for (int64_t row = 0; row < t->original.rows; row++) {
        if (kn_vdb_person_of(&t->original, (uint32_t)row) == KN_V_NONE) continue;
        uint32_t value = column->of_original[kn_vsheet_code(t->original.table, column->original, row)];
        value = kn_vdb_reference_value(out, value);
        counts[value == KN_V_MISSING ? r->values : value]++;
        r->total++;
    }
    r->counts = counts;
    return tree ? prepare_tree(out, v, column, counts, err) : KN_OK;
}

void kn_vdb_reference_free(kn_vdb_reference *reference)
{
    kn_vtree_free(reference->tree);
    kn_arena_free(&reference->room);
}

/* ---- One position ---- */

/* A node that has each value as often as some node must at least have it, or at most may: the shares are of `persons`. */
static kn_vhistogram dealt(const kn_vdb_position *p, int64_t each, bool up)
{
    kn_vhistogram h = {p->some, p->dealt, 0, p->persons};
    for (uint32_t x = 0; x < p->values; x++) {
        int64_t count = (p->counts[x] + (up ? each - 1 : 0)) / each;
        if (count == 0) continue;
        p->some[h.count] = p->codes[x];
        p->dealt[h.count++] = count;
    }
    return h;
}

bool kn_vdb_compare(const kn_model *m, const kn_vdb_position *p, double *reached)
{
    int64_t       each = p->rows / p->persons;
    kn_vhistogram all = {p->codes, p->counts, p->values, p->rows};
    if (each == 1 || (m->kind >= KN_MODEL_T_EQUAL && m->kind <= KN_MODEL_T_HIERARCHICAL))
        return kn_vmodel_holds(m, p->persons, &all, p->reference, reached);
    kn_vhistogram high = dealt(p, each, true);
    bool          holds = kn_vmodel_holds(m, p->persons, &high, p->reference, reached);
    if (m->kind != KN_MODEL_DELTA) return holds;
    double        less = 0;
    kn_vhistogram low = dealt(p, each, false);
    bool          below = kn_vmodel_holds(m, p->persons, &low, p->reference, &less);
    if (less > *reached) *reached = less;
    return holds && below;
}
