/* kn_counter_hubs.c: which set a node is counted from: the base, or a smaller intermediate one.
 *
 * The nodes of a search are concentrated in some parts of the lattice. The nodes counted from a set are remembered;
 * when a coarser set below some of them would have saved more than it costs to make, it is made, and later nodes
 * above it are counted from it. (As in the ski rental problem, this costs at most twice the best choice in
 * hindsight.) The size of a set is estimated from the features that the search gives.
 *
 * Deterministic: depends on the nodes and their order. Memory: at most HUBS sets that together have at most
 * twice the entries of the base.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_counter_internal.h"
#include "kn_error.h"
#include "kn_lattice.h"

enum { HUBS = 256, HISTORY = 24, PLAN_AFTER = 4 };

/* A set and the nodes that were recently counted from it. */
typedef struct hub {
    kn_counter_set *set; /* the base is borrowed */
    int            *levels;
    int            *history; /* HISTORY nodes */
    int             known, next, fresh;
} hub;

struct kn_counter_hubs {
    kn_context *ctx;
    int         quasi_count;
    int64_t     entries; /* of all but the base */
    int         count;
    hub         hubs[HUBS];
};

void kn_counter_hubs_free(kn_counter_hubs *h)
{
    if (!h) return;
    for (int i = 0; i < h->count; i++) {
        if (i > 0) kn_counter_set_free(h->hubs[i].set);
        kn_free(h->hubs[i].levels);
    }
    kn_free(h);
}

/* Takes ownership of the set on success. */
static bool add_hub(kn_counter_hubs *h, kn_counter_set *set, const int *levels)
{
    size_t size = (size_t)h->quasi_count;
    int   *block = kn_alloc_array(h->ctx, size * (HISTORY + 1) + 1, sizeof *block);
    if (!block) return false;
    memcpy(block, levels, size * sizeof *block);
    h->hubs[h->count++] = (hub){.set = set, .levels = block, .history = block + size};
    return true;
}

kn_status kn_counter_hubs_make(kn_counter_hubs **out, kn_counter *counter, kn_error *err)
{
    *out = NULL;
    kn_counter_hubs *h = kn_alloc_zero(counter->ctx, sizeof *h);
    int             *zero = kn_alloc_array_zero(counter->ctx, (size_t)counter->problem->quasi_count + 1, sizeof *zero);
    bool             ok = h && zero;
    if (ok) {
        h->ctx = counter->ctx;
        h->quasi_count = counter->problem->quasi_count;
        ok = add_hub(h, counter->base, zero);
    }
    kn_free(zero);
    if (!ok) {
        kn_counter_hubs_free(h);
        return kn_fail_memory(err, counter->ctx, "searching the lattice");
    }
    *out = h;
    return KN_OK;
}

const kn_counter_set *kn_counter_hubs_source(kn_counter_hubs *h, const int *levels)
{
    int best = 0;
    for (int i = 1; i < h->count; i++)
        if (h->hubs[i].set->classes < h->hubs[best].set->classes &&
            kn_levels_below(h->hubs[i].levels, levels, h->quasi_count))
            best = i;
    hub *from = &h->hubs[best];
    memcpy(from->history + from->next * h->quasi_count, levels, (size_t)h->quasi_count * sizeof *levels);
    from->next = (from->next + 1) % HISTORY;
    if (from->known < HISTORY) from->known++;
    from->fresh++;
    return from->set;
}

/* ---- Planning ---- */

/* The estimated number of classes after an attribute goes from one level to another. Combinations that are nearly all
 * different hardly merge. */
static double shrunk(const kn_counter *counter, double classes, int q, int from, int to)
{
    double rows = (double)kn_table_total(counter->problem->table), dense = 1 - 0.96 * classes / (rows > 0 ? rows : 1);
    int    offset = 0;
    for (int i = 0; i < q; i++) offset += (int)counter->problem->hierarchies[i]->height + 1;
    double bits = 0.5 * (counter->options.features[offset + from] - counter->options.features[offset + to]);
    return classes * exp2(-bits * (dense < 0.2 ? 0.2 : dense));
}

static int users(const kn_counter_hubs *h, const hub *from, const int *levels)
{
    int n = 0;
    for (int i = 0; i < from->known; i++)
        n += kn_levels_below(levels, from->history + i * h->quasi_count, h->quasi_count);
    return n;
}

/* Raises `levels` from the hub's as long as that saves more; returns the total saving. *classes: estimated. */
static double plan_hub(const kn_counter *counter, const kn_counter_hubs *h, const hub *from, int *levels,
                       double *classes)
{
    double all = (double)from->set->classes, saved = 0;
    memcpy(levels, from->levels, (size_t)h->quasi_count * sizeof *levels);
    *classes = all;
    for (;;) {
        int    chosen = -1, to = 0;
        double most = saved, least = 0;
        for (int q = 0; q < h->quasi_count; q++) {
            int before = levels[q], height = (int)counter->problem->hierarchies[q]->height;
            for (int level = before + 1; level <= height; level++) {
                levels[q] = level;
                int n = users(h, from, levels);
                if (n == 0) break;
                double left = shrunk(counter, *classes, q, before, level), saves = n * (all - left);
                if (saves <= most) continue;
                most = saves;
                least = left;
                chosen = q;
                to = level;
            }
            levels[q] = before;
        }
        if (chosen < 0) break;
        levels[chosen] = to;
        *classes = least;
        saved = most;
    }
    /* Further steps that lose no user cost nothing. */
    int n = users(h, from, levels);
    for (int q = 0; saved > 0 && q < h->quasi_count; q++)
        while (levels[q] < (int)counter->problem->hierarchies[q]->height) {
            levels[q]++;
            if (users(h, from, levels) == n) continue;
            levels[q]--;
            break;
        }
    return saved;
}

/* Forgets the nodes above the new set: they would have been counted from there. */
static void forget(kn_counter_hubs *h, hub *from, const int *levels)
{
    int kept = 0, size = h->quasi_count;
    for (int i = 0; i < from->known; i++) {
        int *node = from->history + i * size;
        if (kn_levels_below(levels, node, size)) continue;
        memmove(from->history + kept++ * size, node, (size_t)size * sizeof *node);
    }
    from->known = kept;
    from->next = kept % HISTORY;
}

kn_status kn_counter_hubs_plan(kn_counter_hubs *h, kn_counter *counter, int64_t *keys, kn_error *err)
{
    kn_counter_job jobs[HUBS];
    int            sources[HUBS], count = 0, size = h->quasi_count;
    int           *levels = kn_alloc_array(counter->ctx, (size_t)size * HUBS + 1, sizeof *levels);
    if (!levels) return kn_fail_memory(err, counter->ctx, "searching the lattice");
    for (int i = 0; i < h->count && h->count + count < HUBS; i++) {
        hub   *from = &h->hubs[i];
        double classes = 0;
        if (from->fresh < PLAN_AFTER) continue;
        from->fresh = 0;
        int   *own = levels + count * size;
        double saved = plan_hub(counter, h, from, own, &classes), all = (double)from->set->classes;
        if (saved < 1.5 * all || classes > 0.75 * all ||
            h->entries + (int64_t)classes > 2 * counter->base->classes + (1 << 21))
            continue;
        jobs[count] = (kn_counter_job){.levels = own, .from = from->set, .keep = true};
        sources[count++] = i;
        forget(h, from, own);
    }
    kn_status st = count > 0 ? kn_counter_run(counter, jobs, count, err) : KN_OK;
    for (int i = 0; i < count && st == KN_OK; i++) {
        int64_t all = h->hubs[sources[i]].set->classes;
        *keys += all;
        if (jobs[i].set->classes > all - all / 4) { /* a wrong guess */
            kn_counter_set_free(jobs[i].set);
            continue;
        }
        h->entries += jobs[i].set->classes;
        if (!add_hub(h, jobs[i].set, jobs[i].levels)) {
            st = kn_fail_memory(err, counter->ctx, "searching the lattice");
            for (int j = i; j < count; j++) kn_counter_set_free(jobs[j].set);
        }
    }
    kn_free(levels);
    return st;
}
