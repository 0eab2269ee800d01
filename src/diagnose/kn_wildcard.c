/* kn_wildcard.c: how many rows a row may be confused with when a missing cell agrees with anything.
 *
 * Agreement is no equivalence (? agrees with a and with b, a does not agree with b), so there are no classes: each
 * distinct combination has a crowd of its own. Combinations are sorted by their pattern of missing columns. Rows of
 * pattern P agree with rows of pattern Q when they are equal on the columns missing in neither; so for each pair of
 * patterns, Q's combinations are summed up over those columns and P's looked up among the sums.
 *
 * Cost: patterns² × (a roll-up and look-ups of the combinations in them). Limit: 64 columns.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_wildcard.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"

#define WHAT "comparing rows with missing cells"

typedef struct pattern {
    uint64_t columns; /* bit c: column c is missing */
    int64_t  classes;
    int64_t *index; /* of its classes in the whole set */
    kn_freq  part;  /* its classes as a set of their own; borrows the layout */
} pattern;

typedef struct wildcard {
    const kn_freq *freq;
    kn_context    *ctx;
    pattern       *patterns;
    int            count;
    size_t         capacity;
    int64_t       *sizes;
} wildcard;

static uint64_t missing_columns(const kn_freq *freq, int64_t i, const uint32_t *missing)
{
    uint64_t set = 0;
    for (int c = 0; c < freq->layout.columns; c++)
        if (missing[c] != UINT32_MAX && kn_freq_code(freq, i, c) == missing[c]) set |= (uint64_t)1 << c;
    return set;
}

static pattern *pattern_of(wildcard *w, uint64_t columns)
{
    for (int p = 0; p < w->count; p++)
        if (w->patterns[p].columns == columns) return &w->patterns[p];
    if (!KN_GROW(w->ctx, &w->patterns, &w->capacity, (size_t)w->count + 1)) return NULL;
    w->patterns[w->count] = (pattern){.columns = columns};
    return &w->patterns[w->count++];
}

/* Sorts the classes by pattern. */
static kn_status split(wildcard *w, const uint32_t *missing, kn_error *err)
{
    const kn_freq *f = w->freq;
    int            words = f->layout.words;
    for (int64_t i = 0; i < f->classes; i++) {
        pattern *p = pattern_of(w, missing_columns(f, i, missing));
        if (!p) return kn_fail_memory(err, w->ctx, WHAT);
        p->classes++;
    }
    for (int q = 0; q < w->count; q++) {
        pattern *p = &w->patterns[q];
        size_t   n = (size_t)p->classes;
        p->part.ctx = w->ctx;
        p->part.layout = f->layout;
        p->index = kn_alloc_array(w->ctx, n, sizeof *p->index);
        p->part.keys = kn_alloc_array(w->ctx, n * (size_t)words, sizeof *p->part.keys);
        p->part.counts = kn_alloc_array(w->ctx, n, sizeof *p->part.counts);
        if (!p->index || !p->part.keys || !p->part.counts) return kn_fail_memory(err, w->ctx, WHAT);
    }
    for (int64_t i = 0; i < f->classes; i++) {
        pattern *p = pattern_of(w, missing_columns(f, i, missing));
        int64_t  at = p->part.classes++;
        p->index[at] = i;
        p->part.counts[at] = f->counts[i];
        p->part.rows += f->counts[i];
        memcpy(p->part.keys + at * words, f->keys + i * words, (size_t)words * sizeof *f->keys);
    }
    return KN_OK;
}

/* Adds to each class of p the rows of q that it agrees with. */
static kn_status add_pair(wildcard *w, const pattern *p, const pattern *q, kn_rollup *by, uint64_t *key, kn_error *err)
{
    int columns = w->freq->layout.columns;
    for (int c = 0; c < columns; c++) by[c] = (kn_rollup){.drop = (p->columns | q->columns) >> c & 1};
    kn_freq *sums = NULL;
    KN_TRY(kn_freq_rollup(&sums, &q->part, by, err));
    for (int64_t i = 0; i < p->classes; i++) {
        memset(key, 0, (size_t)sums->layout.words * sizeof *key);
        int to = 0;
        for (int c = 0; c < columns; c++) {
            if (by[c].drop) continue;
            kn_field f = sums->layout.fields[to++];
            key[f.word] |= (uint64_t)kn_freq_code(&p->part, i, c) << f.shift;
        }
        int64_t at = kn_freq_find(sums, key);
        if (at >= 0) w->sizes[p->index[i]] += sums->counts[at];
    }
    kn_freq_free(sums);
    return KN_OK;
}

static kn_status add_all(wildcard *w, kn_error *err)
{
    kn_rollup *by = kn_alloc_array(w->ctx, (size_t)w->freq->layout.columns, sizeof *by);
    uint64_t  *key = kn_alloc_array(w->ctx, (size_t)w->freq->layout.words, sizeof *key);
    kn_status  st = by && key ? KN_OK : kn_fail_memory(err, w->ctx, WHAT);
    for (int p = 0; p < w->count && st == KN_OK; p++) {
        for (int q = 0; q < w->count && st == KN_OK; q++) {
            if (kn_cancelled(w->ctx))
                st = kn_fail_cancelled(err);
            else
                st = add_pair(w, &w->patterns[p], &w->patterns[q], by, key, err);
        }
    }
    KN_FREE(by, key);
    return st;
}

kn_status kn_wildcard_sizes(int64_t **sizes, const kn_freq *freq, const uint32_t *missing, kn_error *err)
{
    *sizes = NULL;
    if (freq->layout.columns > 64)
        return kn_fail(err, KN_USAGE, "missing cells as wildcards: at most 64 quasi-identifiers are possible");
    wildcard w = {.freq = freq, .ctx = freq->ctx};
    w.sizes = kn_alloc_array_zero(w.ctx, (size_t)freq->classes, sizeof *w.sizes);
    kn_status st = w.sizes ? split(&w, missing, err) : kn_fail_memory(err, w.ctx, WHAT);
    if (st == KN_OK) st = add_all(&w, err);
    for (int p = 0; p < w.count; p++) {
        KN_FREE(w.patterns[p].index, w.patterns[p].part.keys, w.patterns[p].part.counts);
    }
    kn_free(w.patterns);
    if (st == KN_OK)
        *sizes = w.sizes;
    else
        kn_free(w.sizes);
    return st;
}
