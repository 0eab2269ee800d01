/* kn_synopsis_sets.c: which rows have something below a value, for all values at once.
 *
 * Interface: kn_synopsis.h. Every cut that specializes a value asks for these rows, whatever else it is like. 64 rows after 64
 * are put into one word of each set, so that ranges of rows are independent of each other. Cost: one step per value of a row
 * and level above it. Memory: a bit per row and value with others below it, at most a quarter of what the rows take.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_synopsis.h"

#define WHAT "the synopsis of tree records"

enum { GRAIN = 1 << 8 /* words */, MOST_SHARE = 4 };

typedef struct filling {
    kn_synopsis *synopsis;
    uint64_t    *words; /* per worker a word of each set */
    size_t       sets;
} filling;

/* Puts a row into the sets of all values that stand above its own. */
static void put_row(const kn_synopsis *s, uint32_t row, uint64_t *words)
{
    const kn_vocabulary *v = s->vocabulary;
    uint64_t             bit = (uint64_t)1 << row % 64;
    for (uint32_t at = s->value_start[row]; at < s->value_start[row + 1]; at++)
        for (uint32_t u = kn_synopsis_value(s, at); u != 0; u = v->parent[u])
            if (s->set_of[u]) words[s->set_of[u] - 1] |= bit;
}

static kn_status fill_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    filling     *x = arg;
    kn_synopsis *s = x->synopsis;
    uint64_t    *words = x->words + (size_t)worker * x->sets;
    (void)err;
    for (size_t i = (size_t)begin; i < (size_t)end; i++) {
        size_t last = (i + 1) * 64 < s->rows.count ? (i + 1) * 64 : s->rows.count;
        memset(words, 0, x->sets * sizeof *words);
        for (size_t row = i * 64; row < last; row++) put_row(s, (uint32_t)row, words);
        for (size_t j = 0; j < x->sets; j++) s->sets[j * s->set_words + i] = words[j];
    }
    return KN_OK;
}

kn_status kn_synopsis_make_sets(kn_synopsis *s, kn_error *err)
{
    const kn_vocabulary *v = s->vocabulary;
    uint32_t             sets = 0;
    s->set_words = kn_bitset_words(s->rows.count);
    for (uint32_t u = 1; u < v->nodes; u++) sets += v->end[u] > u + 1;
    size_t most = (size_t)s->rows.start[s->rows.count] * sizeof *s->rows.members / MOST_SHARE;
    if (sets == 0 || !s->value_start || s->set_words * sizeof *s->sets > most / sets) return KN_OK;
    filling x = {s, NULL, sets};
    bool    ok = KN_ALLOC_ZERO(s->ctx, s->set_of, (size_t)v->nodes) &&
              KN_ALLOC(s->ctx, s->sets, sets * s->set_words + 1) &&
              KN_ALLOC(s->ctx, x.words, (size_t)kn_context_threads(s->ctx) * sets);
    sets = 0;
    for (uint32_t u = 1; ok && u < v->nodes; u++)
        if (v->end[u] > u + 1) s->set_of[u] = ++sets;
    kn_status st = ok ? kn_parallel_for(s->ctx, (int64_t)s->set_words, GRAIN, fill_range, &x, err)
                      : kn_fail_memory(err, s->ctx, WHAT);
    kn_free(x.words);
    return st;
}
