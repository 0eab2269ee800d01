/* kn_requirements_feasible.c: requirements that nothing can satisfy, found before a search: the one class of all rows is
 * judged. kn_requirements.h says why that decides, and when.
 *
 * Cost: that of the models for one class with all values.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "kn_error.h"
#include "kn_requirements.h"

typedef struct whole {
    const kn_requirements  *r;
    kn_arena                arena;
    uint32_t               *codes; /* of all references, one after the other */
    int64_t                *counts;
    kn_histogram           *histograms;
    kn_requirements_scratch scratch;
    kn_class_view           view;
} whole;

static void whole_end(whole *w)
{
    kn_arena_free(&w->arena);
    kn_requirements_scratch_free(&w->scratch);
}

static void fill_histograms(whole *w)
{
    size_t at = 0;
    for (int s = 0; s < w->r->sensitive_count; s++) {
        const kn_reference *reference = &w->r->references[s];
        kn_histogram        h = {w->codes + at, w->counts + at, reference->occurring, reference->rows};
        for (uint32_t c = 0; c <= reference->values; c++) {
            if (reference->counts[c] == 0) continue;
            w->codes[at] = c;
            w->counts[at++] = reference->counts[c];
        }
        w->histograms[s] = h;
    }
}

/* Must be ended even on failure. */
static kn_status whole_begin(whole *w, const kn_requirements *r, const kn_population_set *population, kn_error *err)
{
    *w = (whole){.r = r, .arena = {.ctx = r->ctx}};
    size_t values = 0;
    for (int s = 0; s < r->sensitive_count; s++) values += r->references[s].occurring;
    w->codes = kn_arena_array(&w->arena, values, sizeof *w->codes);
    w->counts = kn_arena_array(&w->arena, values, sizeof *w->counts);
    w->histograms = kn_arena_array(&w->arena, (size_t)r->sensitive_count, sizeof *w->histograms);
    if (w->arena.failed) return kn_fail_memory(err, r->ctx, "preparing the privacy models");
    KN_TRY(kn_requirements_scratch_make(&w->scratch, r, err));
    fill_histograms(w);
    w->view = (kn_class_view){r->rows, r->persons, population ? population->total : 0,
                              population ? population->unit : 1, w->histograms};
    return KN_OK;
}

/* ---- Why not ---- */

static kn_status too_few(const kn_requirements *r, const char *name, int64_t needed, kn_error *err)
{
    return kn_fail(err, KN_UNMET, "%s: it needs at least %" PRId64 " %s, and the table has %" PRId64, name, needed,
                   r->entity < 0 ? "rows" : "persons", r->persons);
}

/* What holds for any suppression: sizes and numbers of values. */
static kn_status check_sizes(const whole *w, int i, const kn_population_set *population, kn_error *err)
{
    const kn_requirements *r = w->r;
    const kn_model        *m = &r->models[i];
    int64_t                needed = m->kind == KN_MODEL_K || m->kind == KN_MODEL_ALPHA_K ? m->k : 1;
    if (m->kind == KN_MODEL_MAX_RISK) needed = kn_size_for_risk(m->bound);
    if (needed > r->persons) return too_few(r, kn_model_name(m->kind), needed, err);
    if (m->kind == KN_MODEL_ALPHA_K && kn_size_for_risk(m->bound) > r->references[r->sensitive_of[i]].occurring)
        return kn_fail(err, KN_UNMET, "%s: alpha is smaller than 1 / number of different values of column \"%s\"",
                       kn_model_name(m->kind), m->attribute);
    if (m->kind == KN_MODEL_K_MAP && population && !kn_requirements_holds_one(r, i, &w->view, NULL))
        return kn_fail(err, KN_UNMET, "%s: the whole population has fewer than %" PRId64 " people",
                       kn_model_name(m->kind), m->k);
    return KN_OK;
}

/* Shares: nothing is suppressed. With an entity the whole may fail although its parts hold, except that there are too
 * many of the population in it. */
static kn_status check_shares(whole *w, int i, const kn_population_set *population, kn_error *err)
{
    const kn_requirements *r = w->r;
    const kn_model        *m = &r->models[i];
    bool                   presence = m->kind == KN_MODEL_PRESENCE;
    if ((presence && !population) || (!presence && r->sensitive_of[i] < 0)) return KN_OK;
    if (kn_requirements_holds_one(r, i, &w->view, &w->scratch)) return KN_OK;
    double reached = kn_requirements_reached(r, i, &w->view, &w->scratch);
    bool   above = presence && reached > (double)m->bound.numerator / (double)m->bound.denominator;
    if (r->entity >= 0 && !above) return KN_OK;
    if (presence)
        return kn_fail(err, KN_UNMET, "%s: the table holds %.6g of the population, which is %s", kn_model_name(m->kind),
                       reached, above ? "more than max" : "less than min");
    const char *variant = kn_model_variant(m->kind);
    return kn_fail(err, KN_UNMET,
                   "%s%s%s%s: column \"%s\" is too uneven: all rows together reach %.6g, and without suppression no "
                   "release can do better",
                   kn_model_name(m->kind), variant ? " (" : "", variant ? variant : "", variant ? ")" : "",
                   m->attribute, reached);
}

static kn_status check(whole *w, const kn_population_set *population, bool suppressing, kn_error *err)
{
    const kn_requirements *r = w->r;
    for (int i = 0; i < r->model_count; i++) KN_TRY(check_sizes(w, i, population, err));
    if (r->has_average && kn_size_for_risk(r->average) > r->persons)
        return too_few(r, kn_model_name(KN_MODEL_AVERAGE_RISK), kn_size_for_risk(r->average), err);
    if (suppressing && !r->absent_fails) return KN_OK;
    for (int i = 0; i < r->model_count; i++) KN_TRY(check_shares(w, i, population, err));
    return KN_OK;
}

kn_status kn_requirements_feasible(const kn_requirements *r, const kn_table *table, const kn_population_set *population,
                                   bool suppressing, kn_error *err)
{
    if (kn_table_total(table) != r->rows) return kn_fail(err, KN_USAGE, "the promises were prepared for another table");
    whole     w;
    kn_status st = whole_begin(&w, r, population, err);
    if (st == KN_OK) st = check(&w, population, suppressing, err);
    whole_end(&w);
    return st;
}
