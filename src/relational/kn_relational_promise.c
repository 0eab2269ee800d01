/* kn_relational_promise.c: what promises about sensitive values compare classes with: the values of the column in all rows
 * that belong to persons. A row that belongs to nobody is never released, so it is no part of what is known beforehand.
 *
 * Cost: one pass over the forest's nodes per promise, and that of kn_reference_make.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_relational_internal.h"

bool kn_promise_compares(kn_model_kind kind)
{
    return kind >= KN_MODEL_T_EQUAL && kind <= KN_MODEL_DELTA && kind != KN_MODEL_ALPHA_K;
}

static kn_status make_reference(kn_promise_reference *out, kn_context *ctx, const kn_forest *f,
                                const kn_relational_promise *p, kn_error *err)
{
    const kn_database_table *t = &f->db->tables[p->table];
    const kn_column         *column = &t->table->columns[p->column];
    int64_t                 *counts = kn_alloc_array_zero(ctx, (size_t)column->dict.count + 1, sizeof *counts);
    if (!counts) return kn_fail_memory(err, ctx, "counting sensitive values");
    for (uint64_t n = 0; n < f->nodes; n++)
        if (f->table[n] == p->table) counts[kn_column_code(column, f->row[n])]++;
    KN_TRY(kn_reference_make(&out->all, ctx, counts, column->dict.count, t->columns[p->column].hierarchy, err));
    out->compares = true;
    return kn_scratch_make(&out->scratch, &out->all, err);
}

kn_status kn_promise_references_make(kn_promise_reference **out, kn_context *ctx, const kn_relational_problem *problem,
                                     kn_error *err)
{
    int       count = problem->promise_count;
    kn_status st = KN_OK;
    *out = kn_alloc_array_zero(ctx, (size_t)count + 1, sizeof **out);
    if (!*out) return kn_fail_memory(err, ctx, "counting sensitive values");
    for (int i = 0; st == KN_OK && i < count; i++)
        if (kn_promise_compares(problem->promises[i].model.kind))
            st = make_reference(&(*out)[i], ctx, problem->forest, &problem->promises[i], err);
    if (st == KN_OK) return KN_OK;
    kn_promise_references_free(*out, count);
    *out = NULL;
    return st;
}

void kn_promise_references_free(kn_promise_reference *references, int count)
{
    for (int i = 0; references && i < count; i++) {
        if (!references[i].compares) continue;
        kn_reference_free(&references[i].all);
        kn_scratch_free(&references[i].scratch);
    }
    kn_free(references);
}

bool kn_promise_holds(const kn_relational_problem *problem, int i, const kn_histogram *h)
{
    kn_promise_reference *r = &problem->references[i];
    return kn_model_satisfied(&problem->promises[i].model, h, r->compares ? &r->all : NULL,
                              r->compares ? &r->scratch : NULL);
}
