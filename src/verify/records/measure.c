/* records/measure.c: RPD of the original and of the release (Gkountouna, Terrovitis 2013, equations 1 to 3; docs/errata.md K2,
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

kn_status kn_vrecords_measure(kn_records_verifier *v, kn_error *err)
{
    uint64_t original = kn_vforest_largest(&v->original), released = kn_vforest_largest(&v->release);
    path    *paths = kn_alloc_array(v->ctx, (original > released ? original : released) + 1, sizeof *paths);
    if (!paths) return kn_vrecords_no_memory(v, err);
    v->report->rpd_original = measure(v, &v->original, paths);
    v->report->rpd = measure(v, &v->release, paths);
    kn_free(paths);
    return KN_OK;
}
