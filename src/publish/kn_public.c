/* kn_public.c: what the facts of all shapes share (kn_public.h): memory, class sizes, the mean loss. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_public.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_error.h"

kn_status kn_public_create(kn_public **out, kn_context *ctx, kn_shape shape, const kn_spec *spec, kn_error *err)
{
    kn_public *p = kn_alloc_zero(ctx, sizeof *p);
    if (!p) return kn_fail_memory(err, ctx, "reading the release");
    p->ctx = ctx;
    p->shape = shape;
    p->spec = spec;
    p->suppressed = p->classes = p->k = -1;
    p->lm = p->dm = p->c_avg = NAN;
    kn_arena_init(&p->arena, ctx);
    double *reached = kn_public_alloc(p, (size_t)spec->model_count, sizeof *reached, err);
    for (int i = 0; reached && i < spec->model_count; i++) reached[i] = NAN;
    p->in_release = reached;
    if (!reached) {
        kn_public_free(p);
        return KN_MEMORY;
    }
    *out = p;
    return KN_OK;
}

void kn_public_free(kn_public *p)
{
    if (!p) return;
    kn_arena_free(&p->arena);
    kn_free(p);
}

void *kn_public_alloc(kn_public *p, size_t count, size_t size, kn_error *err)
{
    void *memory = count < SIZE_MAX / 2 / (size + 1) ? kn_arena_alloc(&p->arena, count * size + 1) : NULL;
    if (!memory)
        (void)kn_fail_memory(err, p->ctx, "reading the release");
    else
        memset(memory, 0, count * size + 1);
    return memory;
}

kn_status kn_public_sizes(kn_public *p, int64_t *sizes, int64_t count, kn_error *err)
{
    int64_t different = 0;
    qsort(sizes, (size_t)count, sizeof *sizes, kn_compare_i64);
    for (int64_t i = 0; i < count; i++) different += i == 0 || sizes[i] != sizes[i - 1];
    kn_public_size *list = kn_public_alloc(p, (size_t)different, sizeof *list, err);
    if (!list) return KN_MEMORY;
    int64_t at = -1;
    p->dm = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || sizes[i] != sizes[i - 1]) list[++at].size = sizes[i];
        list[at].classes++;
        p->dm += (double)sizes[i] * (double)sizes[i];
    }
    p->sizes = list;
    p->size_count = different;
    p->classes = count;
    p->k = count > 0 ? sizes[0] : 0;
    return KN_OK;
}

void kn_public_mean_loss(kn_public *p)
{
    double sum = 0, weights = 0;
    for (int t = 0; t < p->part_count; t++)
        for (int c = 0; c < p->parts[t].column_count; c++) {
            const kn_public_column *column = &p->parts[t].columns[c];
            if (!column->attribute || column->attribute->role != KN_ROLE_QUASI || column->cells == 0) continue;
            kn_ratio w = column->attribute->weight;
            if (w.numerator == 0) continue;
            double weight = (double)w.numerator / (double)w.denominator;
            if (p->shape == KN_SHAPE_DATABASE) weight *= (double)column->cells;
            sum += weight * column->lm;
            weights += weight;
        }
    p->lm = weights > 0 ? sum / weights : 0;
}
