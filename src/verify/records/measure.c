/* records/measure.c: how broad values became; RPD of the original and of the release (Gkountouna, Terrovitis 2013, equations 1 to 3; docs/errata.md K2,
 * K3): over the paths from a record's root to its leaves, the mean of 1 / product of depth × |C(u)|; then the mean over the
 * records. A record without nodes counts as 0.
 *
 * Cost: O(nodes).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_records.h"

typedef struct path {
    double   product;
    uint32_t depth;
    bool     inner, known;
} path;

static double measure_record(const kn_records_verifier *v, const kn_vforest *f, int64_t r, path *paths)
{
    uint64_t from = f->start[r], size = f->start[r + 1] - from;
    for (uint64_t i = 0; i < size; i++) {
        const path *above = f->parent[from + i] == KN_V_NONE ? NULL : &paths[f->parent[from + i]];
        uint32_t    label = f->label[from + i];
        path        here = above ? *above : (path){1, 0, false, true};
        uint32_t    domain = kn_vlabel_domain(v, label);
        here.inner = false;
        here.depth++;
        here.product *= (double)here.depth * (double)domain;
        here.known = here.known && domain > 0;
        for (uint32_t p = f->parent[from + i]; p != KN_V_NONE; p = f->parent[from + p]) paths[p].inner = true;
        paths[i] = here;
    }
    double   sum = 0;
    uint64_t leaves = 0;
    for (uint64_t i = 0; i < size; i++) {
        if (paths[i].inner) continue;
        if (!paths[i].known) return NAN;
        sum += 1 / paths[i].product;
        leaves++;
    }
    return leaves ? sum / (double)leaves : 0;
}

static double measure(const kn_records_verifier *v, const kn_vforest *f, path *paths)
{
    double sum = 0;
    for (int64_t r = 0; r < f->count; r++) sum += measure_record(v, f, r, paths);
    return f->count ? sum / (double)f->count : 0;
}

/* ---- How broad values became ---- */

/* The released record of each original; -1: it is left out. NULL: it is not known, which matters only where something is missing. */
static kn_status find_released(kn_records_verifier *v, int64_t **out, kn_error *err)
{
    *out = NULL;
    if (!v->map || v->report->assignment == KN_ASSIGNMENT_REFUTED) return KN_OK;
    *out = kn_alloc_array(v->ctx, (size_t)v->original.count + 1, sizeof **out);
    if (!*out) return kn_vrecords_no_memory(v, err);
    for (int64_t r = 0; r < v->original.count; r++) (*out)[r] = -1;
    for (int64_t r = 0; r < v->release.count; r++) (*out)[v->map[r]] = r;
    return KN_OK;
}

/* 0: a value is shown as it was; 1: "*", or not at all. */
static double breadth(const kn_records_verifier *v, uint32_t label)
{
    uint32_t image = v->image[label];
    if (image == label) return 0;
    if (image == KN_V_NONE || image == v->star) return 1;
    const kn_vclass *c = &v->classes[v->class_of[label]];
    uint32_t         all = c->top == KN_V_NONE ? c->tree->leaves : c->tree->cover[c->top];
    uint32_t         below = image == c->top_label ? all : c->tree->cover[c->node[image - c->first]];
    return (double)(below - 1) / (double)all;
}

static double weight_of(const kn_records_verifier *v, uint32_t label)
{
    kn_ratio weight = v->classes[v->class_of[label]].spec->weight;
    return weight.denominator == 0 ? 1 : (double)weight.numerator / (double)weight.denominator;
}

/* The sum over the nodes of a record, by weight, of what they lose; `released`: what became of it; -1: nothing. `own` per label: the last record that
 * shows it, counted from 1; NULL: all are there. */
static double lose(const kn_records_verifier *v, int64_t record, int64_t released, int64_t *own, double *all)
{
    const kn_vforest *o = &v->original, *f = &v->release;
    double            lost = 0;
    for (uint64_t i = released < 0 ? 0 : f->start[released]; own && released >= 0 && i < f->start[released + 1]; i++)
        own[f->label[i]] = record + 1;
    for (uint64_t i = o->start[record]; i < o->start[record + 1]; i++) {
        uint32_t image = v->image[o->label[i]];
        bool     gone = own && (image == KN_V_NONE || own[image] != record + 1);
        lost += weight_of(v, o->label[i]) * (gone ? 1 : breadth(v, o->label[i]));
        *all += weight_of(v, o->label[i]);
    }
    return lost;
}

/* The mean over the nodes, by weight; those of a record that is left out lose all, and so do single ones that are given up. NAN: it is not known which are. */
static kn_status measure_loss(kn_records_verifier *v, kn_error *err)
{
    double   lost = 0, all = 0;
    int64_t *released = NULL, *own = NULL;
    bool     whole = v->release.count == v->original.count && !v->single;
    if (!v->whole) return KN_OK;
    if (!whole) KN_TRY(find_released(v, &released, err));
    if (!whole && !released) return KN_OK;
    if (!whole) own = kn_alloc_array_zero(v->ctx, (size_t)v->labels + 1, sizeof *own);
    if (!whole && !own) {
        kn_free(released);
        return kn_vrecords_no_memory(v, err);
    }
    for (int64_t r = 0; r < v->original.count; r++) lost += lose(v, r, released ? released[r] : -1, own, &all);
    v->report->loss = all > 0 ? lost / all : 0;
    kn_free(released);
    kn_free(own);
    return KN_OK;
}

kn_status kn_vrecords_measure(kn_records_verifier *v, kn_error *err)
{
    uint64_t original = kn_vforest_largest(&v->original), released = kn_vforest_largest(&v->release);
    path    *paths = kn_alloc_array(v->ctx, (original > released ? original : released) + 1, sizeof *paths);
    if (!paths) return kn_vrecords_no_memory(v, err);
    v->report->rpd_original = measure(v, &v->original, paths);
    v->report->rpd = measure(v, &v->release, paths);
    kn_free(paths);
    return measure_loss(v, err);
}
