/* kn_miracle_flat.c: the cost of merging two trees if siblings are paired by their own values (miracle-x and
 * miracle-x-level), computed from the arrays of the clusters.
 *
 * Pairs are processed level by level, so that the few nodes near the roots are known exactly before the many nodes
 * below are visited. These and a lower bound of the rest give a lower bound of the whole; once that exceeds the
 * limit, the walk ends.
 *
 * Cost: a matching per pair of nodes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_miracle.h"

typedef struct walk {
    kn_lane          *lane;
    const kn_cluster *a, *b;
    kn_loss           known;
    kn_loss           rest; /* at least this is to come */
    kn_pair          *queue;
    uint32_t          count;
    bool              all; /* leaves are queued, too */
} walk;

static void add_deleted(walk *w, const kn_cluster *c, uint32_t node)
{
    const kn_losses *losses = w->lane->work->losses;
    uint64_t         cells = c->signature->cells_below[node] + (uint64_t)losses->cells[c->table[node]];
    w->known.sum += cells * losses->unit;
    w->known.cells += cells;
}

static kn_loss below(const walk *w, uint32_t x, uint32_t y)
{
    return kn_rest_bound(w->a->signature->cells_below[x], w->a->signature->own_below[x],
                         w->b->signature->cells_below[y], w->lane->work->losses->unit);
}

static void add_pair(walk *w, uint32_t x, uint32_t y, uint32_t parent)
{
    const kn_losses *losses = w->lane->work->losses;
    size_t           width = (size_t)losses->width;
    uint32_t         table = w->a->table[x];
    w->known.sum += kn_tuple_loss(w->lane->tables, table, w->a->values + x * width, w->b->values + y * width);
    w->known.cells += (uint64_t)losses->cells[table];
    bool inner = w->a->child_count[x] + w->b->child_count[y] > 0;
    if (inner) {
        kn_loss rest = below(w, x, y);
        w->rest.sum += rest.sum;
        w->rest.cells += rest.cells;
        w->lane->evaluations++;
    }
    if (inner || w->all) w->queue[w->count++] = (kn_pair){x, y, parent};
}

static uint32_t run_length(const kn_cluster *c, uint32_t first, uint32_t end)
{
    uint32_t n = 1;
    while (first + n < end && c->table[first + n] == c->table[first]) n++;
    return n;
}

static kn_siblings siblings_of(const walk *w, const kn_cluster *c, uint32_t first, uint32_t count)
{
    const kn_losses *losses = w->lane->work->losses;
    bool             loaded = losses->heavy > 0 && losses->carries[c->table[first]];
    const uint32_t  *load = loaded ? c->load + first * (size_t)losses->heavy : NULL;
    return (kn_siblings){count, c->values + first * (size_t)losses->width, load};
}

/* Have none of these nodes cells below them? Then it does not matter which of equally cheap pairs are made. */
static bool nothing_below(const kn_cluster *c, uint32_t first, uint32_t count)
{
    uint64_t cells = 0;
    for (uint32_t i = first; i < first + count; i++) cells |= c->signature->cells_below[i] | c->child_count[i];
    return cells == 0;
}

/* Children of one table: `m` at `p` and `n` at `q`. */
static void add_siblings(walk *w, uint32_t p, uint32_t m, uint32_t q, uint32_t n, uint32_t parent)
{
    if (m == 1 && n == 1) {
        add_pair(w, p, q, parent);
        return;
    }
    size_t      top = w->lane->top;
    uint32_t   *pick = kn_lane_push(w->lane, sizeof *pick * m);
    bool       *taken = kn_lane_push(w->lane, n);
    kn_siblings xs = siblings_of(w, w->a, p, m), ys = siblings_of(w, w->b, q, n);
    w->lane->sum_only = !w->all && nothing_below(w->a, p, m) && nothing_below(w->b, q, n);
    kn_match_values(w->lane, w->a->table[p], &xs, &ys, pick);
    w->lane->sum_only = false;
    for (uint32_t j = 0; j < n; j++) taken[j] = false;
    for (uint32_t i = 0; i < m; i++) {
        if (pick[i] == KN_FOREST_NONE) {
            add_deleted(w, w->a, p + i);
            continue;
        }
        taken[pick[i]] = true;
        add_pair(w, p + i, q + pick[i], parent);
    }
    for (uint32_t j = 0; j < n && m < n; j++)
        if (!taken[j]) add_deleted(w, w->b, q + j);
    w->lane->top = top;
}

static void add_children(walk *w, uint32_t at)
{
    const kn_cluster *a = w->a, *b = w->b;
    kn_pair           pair = w->queue[at];
    uint32_t          p = a->first_child[pair.a], p_end = p + a->child_count[pair.a];
    uint32_t          q = b->first_child[pair.b], q_end = q + b->child_count[pair.b];
    while (p < p_end || q < q_end) {
        if (q == q_end || (p < p_end && a->table[p] < b->table[q]))
            add_deleted(w, a, p++);
        else if (p == p_end || b->table[q] < a->table[p])
            add_deleted(w, b, q++);
        else {
            uint32_t m = run_length(a, p, p_end), n = run_length(b, q, q_end);
            add_siblings(w, p, m, q, n, at);
            p += m;
            q += n;
        }
    }
}

bool kn_flat_loss(kn_lane *lane, const kn_cluster *a, const kn_cluster *b, const kn_limit *limit, kn_loss *out)
{
    walk w = {.lane = lane, .a = a, .b = b, .queue = lane->queue};
    add_pair(&w, 0, 0, KN_FOREST_NONE);
    for (uint32_t at = 0; at < w.count; at++) {
        kn_loss rest = below(&w, w.queue[at].a, w.queue[at].b);
        *out = (kn_loss){w.known.sum + w.rest.sum, w.known.cells + w.rest.cells};
        if (kn_limit_passed(limit, *out)) return false;
        w.rest.sum -= rest.sum;
        w.rest.cells -= rest.cells;
        add_children(&w, at);
    }
    *out = w.known;
    return true;
}

uint32_t kn_flat_pairs(kn_lane *lane, const kn_cluster *a, const kn_cluster *b, kn_pair *pairs)
{
    walk w = {.lane = lane, .a = a, .b = b, .queue = pairs, .all = true};
    add_pair(&w, 0, 0, KN_FOREST_NONE);
    for (uint32_t at = 0; at < w.count; at++) add_children(&w, at);
    return w.count;
}
