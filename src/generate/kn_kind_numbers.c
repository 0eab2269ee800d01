/* kn_kind_numbers.c: columns of independent whole numbers, uniform or normal: the synthetic tables on which partitioning
 * methods are compared (number of rows and attributes, cardinality C, mean and deviation).
 *
 * Uniform: each of 0 .. C-1 is equally likely. Normal: mean + deviation × a standard normal number is rounded to the
 * nearest whole number (halves to even) and clipped to 0 .. C-1, so values beyond an end pile up on it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_alloc.h"
#include "kn_kind.h"

typedef struct numbers {
    bool     normal;
    int      attributes;
    uint32_t cardinality;
    double   mean, deviation;
} numbers;

static void *create(kn_context *ctx, const kn_generate_options *options)
{
    numbers *model = kn_alloc(ctx, sizeof *model);
    if (!model) return NULL;
    double c = (double)options->cardinality;
    model->normal = options->kind == KN_GENERATE_NORMAL;
    model->attributes = options->attributes;
    model->cardinality = (uint32_t)options->cardinality;
    model->mean = options->mean < 0 ? (c - 1) / 2 : options->mean;
    model->deviation = options->deviation < 0 ? c / 5 : options->deviation;
    return model;
}

static uint32_t draw_value(const numbers *model, kn_rng *rng)
{
    if (!model->normal) return (uint32_t)kn_rng_below(rng, model->cardinality);
    double value = rint(model->mean + model->deviation * kn_rng_normal(rng));
    double last = (double)model->cardinality - 1;
    return value > 0 ? (uint32_t)(value < last ? value : last) : 0;
}

static void draw(const void *model, kn_rng *rng, uint32_t *cells)
{
    const numbers *m = model;
    for (int i = 0; i < m->attributes; i++) cells[i] = draw_value(m, rng);
}

/* Another record of the same person: one row in four has one attribute drawn anew. */
static void again(const void *model, kn_rng *rng, uint32_t *cells)
{
    const numbers *m = model;
    if (kn_rng_below(rng, 4) != 0) return;
    uint64_t which = kn_rng_below(rng, (uint64_t)m->attributes);
    cells[which] = draw_value(m, rng);
}

static char *put(const void *model, int column, const uint32_t *cells, char *to)
{
    (void)model;
    return kn_synthetic_number(to, cells[column]);
}

const kn_kind kn_kind_uniform = {.name = "uniform", .create = create, .draw = draw, .again = again, .put = put};
const kn_kind kn_kind_normal = {.name = "normal", .create = create, .draw = draw, .again = again, .put = put};
