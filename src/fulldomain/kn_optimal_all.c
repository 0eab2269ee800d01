/* kn_optimal_all.c: every minimal good node, after the search for the best one.
 *
 * For every node it must be known whether it is good. Where good is upward closed, a good node settles all above it
 * and a bad one all below it, so batches are chosen as in kn_optimal_pick.c: from an open node a walk climbs as long
 * as the prediction is bad, or descends as long as it is good, and of some such walks those that would settle most
 * are taken. Otherwise a bad node settles those below where its monotone part fails, and all others are counted one
 * by one.
 *
 * A node is minimal if no good node lies below it. Such a node was counted, not just settled, so its loss is known.
 *
 * Cost: O(nodes × attributes) for settling, and per batch one pass over the open nodes, of which a sample is used if
 * there are many. Memory: 1 byte and 4 to 8 bytes per node.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_optimal_internal.h"

#define WHAT "listing all solutions"

enum { SEEDS = 6, SAMPLE = 4096, STATE_OPEN = 0, STATE_GOOD = 1, STATE_BAD = 2 };

kn_status kn_optimal_note(kn_optimal *s, const kn_outcome *outcomes, int count, kn_error *err)
{
    for (int i = 0; i < count; i++) {
        if (!outcomes[i].judged) continue;
        if (!KN_GROW(s->ctx, &s->noted, &s->noted_room, s->noted_count + 1)) return kn_fail_memory(err, s->ctx, WHAT);
        s->noted[s->noted_count++] = outcomes[i];
    }
    return KN_OK;
}

typedef struct settling {
    kn_optimal *s;
    uint32_t   *stack; /* space for all nodes */
    uint64_t   *open;  /* packed levels of open nodes, stale ones among them */
    uint32_t   *nodes; /* their numbers */
    int64_t     open_count;
    size_t      done; /* noted outcomes */
} settling;

/* Gives a state to a node and everything above or below it that has none. */
static void flood(settling *f, uint32_t node, uint8_t state)
{
    kn_optimal *s = f->s;
    int64_t     top = 0;
    if (s->states[node] != STATE_OPEN) return;
    s->states[node] = state;
    f->stack[top++] = node;
    while (top > 0) {
        int64_t at = f->stack[--top];
        for (int q = 0; q < s->quasi_count; q++) {
            int64_t next =
                state == STATE_GOOD ? kn_lattice_up(&s->lattice, at, q) : kn_lattice_down(&s->lattice, at, q);
            if (next < 0 || s->states[next] != STATE_OPEN) continue;
            s->states[next] = state;
            f->stack[top++] = (uint32_t)next;
        }
    }
}

static void settle(settling *f)
{
    kn_optimal *s = f->s;
    for (; f->done < s->noted_count; f->done++) {
        const kn_outcome *o = &s->noted[f->done];
        if (s->oracle.monotone)
            flood(f, o->node, o->good ? STATE_GOOD : STATE_BAD);
        else if (!o->good && o->high >= KN_BOUND_BAD)
            flood(f, o->node, STATE_BAD);
        else
            s->states[o->node] = o->good ? STATE_GOOD : STATE_BAD;
    }
    int64_t left = 0;
    for (int64_t i = 0; i < f->open_count; i++) {
        if (s->states[f->nodes[i]] != STATE_OPEN) continue;
        f->open[left] = f->open[i];
        f->nodes[left++] = f->nodes[i];
    }
    f->open_count = left;
}

/* ---- What to count next ---- */

static double feature_of(const kn_optimal *s, uint64_t packed)
{
    double feature = 0;
    for (int q = 0; q < s->quasi_count; q++)
        feature += s->oracle.features[s->oracle.offsets[q] + kn_packed_level(s, packed, q)];
    return feature;
}

/* From an open node as far as the prediction does not change; *up: what it settles is above. */
static uint64_t walk(const kn_optimal *s, uint64_t packed, bool *up)
{
    double feature = feature_of(s, packed), budget = (double)s->problem->budget;
    *up = kn_guess_suppressed(&s->guess, feature, 0) <= budget;
    for (;;) {
        int    chosen = -1;
        double least = 0;
        for (int q = 0; q < s->quasi_count; q++) {
            int level = kn_packed_level(s, packed, q), to = *up ? level - 1 : level + 1;
            if (to < 0 || to > s->lattice.heights[q]) continue;
            const double *f = s->oracle.features + s->oracle.offsets[q];
            double        change = f[to] - f[level], guess = kn_guess_suppressed(&s->guess, feature + change, 0);
            if (*up != (guess <= budget)) continue;
            if (change < 0) change = -change;
            if (chosen >= 0 && change >= least) continue;
            chosen = q;
            least = change;
        }
        if (chosen < 0) return packed;
        const double *f = s->oracle.features + s->oracle.offsets[chosen];
        int           level = kn_packed_level(s, packed, chosen);
        feature += f[*up ? level - 1 : level + 1] - f[level];
        packed += *up ? -((uint64_t)1 << s->shifts[chosen]) : (uint64_t)1 << s->shifts[chosen];
    }
}

static uint32_t number_of(const kn_optimal *s, uint64_t packed)
{
    int64_t node = 0;
    for (int q = 0; q < s->quasi_count; q++) node += kn_packed_level(s, packed, q) * s->lattice.strides[q];
    return (uint32_t)node;
}

/* The best of some walks; an open node where they end at a settled one. */
static uint32_t choose(const settling *f, int turn, bool *up, uint64_t *packed)
{
    const kn_optimal *s = f->s;
    int64_t           step = f->open_count / SAMPLE + 1, most = -1;
    uint32_t          chosen = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        uint64_t at =
            kn_hash_word((uint64_t)s->turn * 1024 + (uint64_t)(turn * SEEDS + seed)) % (uint64_t)f->open_count;
        bool     side = true;
        uint64_t end = s->oracle.monotone ? walk(s, f->open[at], &side) : f->open[at];
        if (s->states[number_of(s, end)] != STATE_OPEN) end = f->open[at];
        int64_t gain = 0;
        for (int64_t i = 0; i < f->open_count; i += step)
            gain += side ? kn_packed_below(s, end, f->open[i]) : kn_packed_below(s, f->open[i], end);
        if (gain <= most) continue;
        most = gain;
        chosen = number_of(s, end);
        *up = side;
        *packed = end;
    }
    return chosen;
}

static int pick(settling *f, uint32_t *nodes)
{
    kn_optimal *s = f->s;
    int         count = 0;
    s->turn++;
    if (!s->oracle.monotone) {
        while (count < KN_BATCH && count < f->open_count) {
            nodes[count] = f->nodes[count];
            count++;
        }
        return count;
    }
    for (int turn = 0; turn < 2 * KN_BATCH && count < KN_BATCH; turn++) {
        bool     up = false, known = false;
        uint64_t packed = 0;
        uint32_t node = choose(f, turn, &up, &packed);
        for (int i = 0; i < count; i++) known = known || nodes[i] == node;
        if (!known) nodes[count++] = node;
    }
    return count;
}

/* ---- The list ---- */

static kn_status list(kn_optimal *s, kn_error *err)
{
    kn_fulldomain_result *r = s->result;
    size_t                count = (size_t)s->lattice.count;
    uint8_t              *above = kn_alloc_array_zero(s->ctx, count, sizeof *above); /* a good node lies below */
    uint32_t             *noted = kn_alloc_array_zero(s->ctx, count, sizeof *noted); /* + 1 */
    kn_status             st = above && noted ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
    int64_t               minimal = 0;
    r->good = 0;
    for (int64_t v = 0; st == KN_OK && v < s->lattice.count; v++) {
        for (int q = 0; q < s->quasi_count && !above[v]; q++) {
            int64_t below = kn_lattice_down(&s->lattice, v, q);
            above[v] = below >= 0 && (above[below] || s->states[below] == STATE_GOOD);
        }
        bool good = s->states[v] == STATE_GOOD;
        r->good += good;
        minimal += good && !above[v];
    }
    for (size_t i = 0; st == KN_OK && i < s->noted_count; i++) noted[s->noted[i].node] = (uint32_t)i + 1;
    if (st == KN_OK) {
        r->solutions = kn_alloc_array_zero(s->ctx, (size_t)minimal + 1, sizeof *r->solutions);
        if (!r->solutions) st = kn_fail_memory(err, s->ctx, WHAT);
    }
    for (int64_t v = 0; st == KN_OK && v < s->lattice.count; v++) {
        if (s->states[v] != STATE_GOOD || above[v]) continue;
        if (noted[v] == 0) {
            st = kn_fail(err, KN_INTERNAL, "a minimal node was never counted");
            break;
        }
        const kn_node_sums *sums = &s->noted[noted[v] - 1].sums;
        kn_solution        *to = &r->solutions[r->solution_count];
        if (!KN_ALLOC(s->ctx, to->levels, (size_t)s->quasi_count)) {
            st = kn_fail_memory(err, s->ctx, WHAT);
            break;
        }
        r->solution_count++;
        kn_lattice_levels(&s->lattice, v, to->levels);
        to->suppressed = sums->suppressed;
        to->classes = sums->classes;
        to->loss = kn_objective_loss(s->problem->objective, sums);
    }
    KN_FREE(above, noted);
    return st;
}

static kn_status settle_all(settling *f, kn_error *err)
{
    kn_optimal *s = f->s;
    uint32_t    nodes[KN_BATCH];
    kn_outcome  outcomes[KN_BATCH];
    int        *levels = s->levels;
    memset(levels, 0, (size_t)s->quasi_count * sizeof *levels);
    for (int64_t v = 0; v < s->lattice.count; v++) {
        f->open[v] = kn_packed_of(s, levels);
        f->nodes[v] = (uint32_t)v;
        for (int q = s->quasi_count - 1; q >= 0 && ++levels[q] > s->lattice.heights[q]; q--) levels[q] = 0;
    }
    f->open_count = s->lattice.count;
    for (settle(f); f->open_count > 0; settle(f)) {
        if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
        if (kn_optimal_late(s)) {
            s->result->complete = false;
            return KN_OK;
        }
        int count = pick(f, nodes);
        KN_TRY(kn_optimal_count(s, nodes, outcomes, count, err));
    }
    return list(s, err);
}

kn_status kn_optimal_all(kn_optimal *s, kn_error *err)
{
    size_t   count = (size_t)s->lattice.count;
    settling f = {.s = s};
    bool     ok = KN_ALLOC_ZERO(s->ctx, s->states, count) && KN_ALLOC(s->ctx, f.stack, count) &&
              KN_ALLOC(s->ctx, f.open, count) && KN_ALLOC(s->ctx, f.nodes, count);
    kn_status st = ok ? settle_all(&f, err) : kn_fail_memory(err, s->ctx, WHAT);
    KN_FREE(f.stack, f.open, f.nodes);
    return st;
}
