/* flow.c: Dinic's maximum flow on a bipartite graph with multiplicities (with unit ones: Hopcroft and Karp).
 *
 * Phases: a breadth-first search from the released tuples that still lack originals divides both sides into layers;
 * then paths of alternating edges are followed down the layers, each edge visited once, until none is left. O(edges ×
 * √nodes) work if multiplicities are 1. Every visited edge is a step of work. No recursion: paths may be long.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_verify_flow.h"

#include "kn_context.h"
#include "kn_error.h"

typedef struct search {
    kn_vflow *f;
    int64_t  *flow;          /* per edge */
    size_t   *from_released; /* released + 1: where its edges begin in by_released */
    uint32_t *by_released;   /* edges */
    size_t   *from_original; /* originals + 1: edges come in this order */
    uint32_t *layer_released, *layer_original;
    size_t   *next_released, *next_original;
    uint32_t *queue; /* released tuples; originals + released */
    uint32_t *path;  /* edges, forward and back in turn */
} search;

static bool search_make(search *s, kn_arena *room)
{
    kn_vflow *f = s->f;
    size_t    nodes = (size_t)f->released + f->originals;
    s->flow = kn_arena_array_zero(room, f->edges + 1, sizeof *s->flow);
    s->from_released = kn_arena_array_zero(room, (size_t)f->released + 2, sizeof *s->from_released);
    s->by_released = kn_arena_array(room, f->edges + 1, sizeof *s->by_released);
    s->from_original = kn_arena_array_zero(room, (size_t)f->originals + 2, sizeof *s->from_original);
    s->layer_released = kn_arena_array(room, (size_t)f->released + 1, sizeof *s->layer_released);
    s->layer_original = kn_arena_array(room, (size_t)f->originals + 1, sizeof *s->layer_original);
    s->next_released = kn_arena_array(room, (size_t)f->released + 1, sizeof *s->next_released);
    s->next_original = kn_arena_array(room, (size_t)f->originals + 1, sizeof *s->next_original);
    s->queue = kn_arena_array(room, nodes + 1, sizeof *s->queue);
    s->path = kn_arena_array(room, 2 * nodes + 2, sizeof *s->path);
    return !room->failed;
}

static void sort_edges(search *s)
{
    kn_vflow *f = s->f;
    for (size_t e = 0; e < f->edges; e++) {
        s->from_released[f->edge_released[e] + 1]++;
        s->from_original[f->edge_original[e] + 1]++;
    }
    for (uint32_t i = 0; i < f->released; i++) s->from_released[i + 1] += s->from_released[i];
    for (uint32_t i = 0; i < f->originals; i++) s->from_original[i + 1] += s->from_original[i];
    for (uint32_t i = 0; i < f->released; i++) s->next_released[i] = s->from_released[i];
    for (size_t e = 0; e < f->edges; e++) s->by_released[s->next_released[f->edge_released[e]]++] = (uint32_t)e;
}

/* Divides nodes into layers; is there a path to an original that still has free rows? */
static bool layer(search *s)
{
    kn_vflow *f = s->f;
    size_t    head = 0, tail = 0;
    bool      found = false;
    for (uint32_t o = 0; o < f->originals; o++) s->layer_original[o] = UINT32_MAX;
    for (uint32_t r = 0; r < f->released; r++) {
        s->layer_released[r] = f->wanted[r] > 0 ? 0 : UINT32_MAX;
        if (f->wanted[r] > 0) s->queue[tail++] = r;
    }
    while (head < tail) {
        uint32_t r = s->queue[head++];
        for (size_t i = s->from_released[r]; i < s->from_released[r + 1]; i++) {
            uint32_t o = f->edge_original[s->by_released[i]];
            f->work++;
            if (s->layer_original[o] != UINT32_MAX) continue;
            s->layer_original[o] = s->layer_released[r] + 1;
            if (f->left[o] > 0) found = true;
            for (size_t e = s->from_original[o]; e < s->from_original[o + 1]; e++) {
                uint32_t back = f->edge_released[e];
                f->work++;
                if (s->flow[e] == 0 || s->layer_released[back] != UINT32_MAX) continue;
                s->layer_released[back] = s->layer_original[o] + 1;
                s->queue[tail++] = back;
            }
        }
    }
    return found;
}

/* Moves as much as the path allows from its first released tuple to the original at its end. */
static void push(search *s, uint32_t start, size_t length)
{
    kn_vflow *f = s->f;
    uint32_t  end = f->edge_original[s->path[length - 1]];
    int64_t   amount = f->wanted[start] < f->left[end] ? f->wanted[start] : f->left[end];
    for (size_t i = 1; i < length; i += 2)
        if (s->flow[s->path[i]] < amount) amount = s->flow[s->path[i]];
    for (size_t i = 0; i < length; i++) s->flow[s->path[i]] += i % 2 == 0 ? amount : -amount;
    f->wanted[start] -= amount;
    f->left[end] -= amount;
}

/* One step from a released tuple; false: no edge is left. */
static bool step_forth(search *s, uint32_t r, size_t *length)
{
    kn_vflow *f = s->f;
    for (; s->next_released[r] < s->from_released[r + 1]; s->next_released[r]++) {
        uint32_t e = s->by_released[s->next_released[r]];
        f->work++;
        if (s->layer_original[f->edge_original[e]] != s->layer_released[r] + 1) continue;
        s->path[(*length)++] = e;
        return true;
    }
    return false;
}

static bool step_back(search *s, uint32_t o, size_t *length)
{
    kn_vflow *f = s->f;
    for (; s->next_original[o] < s->from_original[o + 1]; s->next_original[o]++) {
        uint32_t e = (uint32_t)s->next_original[o];
        f->work++;
        if (s->flow[e] == 0 || s->layer_released[f->edge_released[e]] != s->layer_original[o] + 1) continue;
        s->path[(*length)++] = e;
        return true;
    }
    return false;
}

/* All paths that begin at a released tuple, within the layers. */
static void follow(search *s, uint32_t start)
{
    kn_vflow *f = s->f;
    size_t    length = 0;
    while (f->wanted[start] > 0 && f->work <= f->work_limit) {
        bool     at_released = length % 2 == 0;
        uint32_t r = length == 0 ? start : f->edge_released[s->path[length - 1]];
        uint32_t o = length == 0 ? 0 : f->edge_original[s->path[length - 1]];
        if (at_released) {
            if (step_forth(s, r, &length)) continue;
            if (length == 0) return;
            length--; /* a dead end: the original we came from tries its next edge */
            s->next_original[f->edge_original[s->path[length]]]++;
            continue;
        }
        if (f->left[o] > 0) {
            push(s, start, length);
            length = 0; /* starts again; every pointer stays where it is     */
            continue;
        }
        if (step_back(s, o, &length)) continue;
        length--;
        s->next_released[f->edge_released[s->path[length]]]++;
    }
}

kn_status kn_vflow_solve(kn_vflow *f, int64_t *missing, bool *decided, kn_error *err)
{
    kn_arena  room = {.ctx = f->ctx};
    search    s = {.f = f};
    kn_status st = f->edges < UINT32_MAX && search_make(&s, &room) ? KN_OK : kn_fail_memory(err, f->ctx, "verifying");
    *decided = true;
    if (st == KN_OK) sort_edges(&s);
    while (st == KN_OK && layer(&s)) {
        if (f->work > f->work_limit) {
            *decided = false;
            break;
        }
        for (uint32_t r = 0; r < f->released; r++) s.next_released[r] = s.from_released[r];
        for (uint32_t o = 0; o < f->originals; o++) s.next_original[o] = s.from_original[o];
        for (uint32_t r = 0; r < f->released; r++) follow(&s, r);
        if (kn_cancelled(f->ctx)) st = kn_fail_cancelled(err);
    }
    *missing = 0;
    for (uint32_t r = 0; r < f->released; r++) *missing += f->wanted[r];
    if (*missing == 0) *decided = true;
    kn_arena_free(&room);
    return st;
}
