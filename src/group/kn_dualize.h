/* kn_dualize.h: minimal hitting sets (transversals) of a family of sets of columns, called edges.
 *
 * A kn_hitting holds the edges and the state of one depth-first search; it belongs to one thread. Edges may be added
 * while the search runs, by a visitor that rejects a hitting set. kn_dualize runs many of them in parallel.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_DUALIZE_H
#define KN_DUALIZE_H

#include "kn_clock.h"
#include "kn_sets.h"

/* What the search calls. `set` is the current set of columns, `chosen` the same in order of choice. */
typedef struct kn_hitting_visitor {
    void *arg;
    /* A column was added: continue below? NULL: always. */
    bool (*enter)(void *arg, const uint64_t *set);
    /* All edges are hit, and `set` is minimal. To continue from here, fill in `edge` with a new one that `set` does
     * not hit and set *more = true; otherwise the search leaves this set. */
    kn_status (*leaf)(void *arg, const uint64_t *set, const uint16_t *chosen, int size, uint64_t *edge, bool *more,
                      kn_error *err);
} kn_hitting_visitor;

typedef struct kn_hitting {
    kn_context  *ctx;
    int          columns;
    int          words;      /* of a set of columns                                     */
    int64_t      edge_words; /* of a set of edges: capacity / 64                        */
    kn_set_list  edges;
    uint64_t    *having;     /* per column: the edges that have it; columns × edge_words */
    uint64_t    *levels;     /* per depth: the edges not hit, the edges hit once         */
    int          level_capacity;
    uint64_t    *set;        /* the current set                                         */
    uint64_t    *candidates; /* columns that may still be added                         */
    uint64_t    *edge;       /* scratch for the visitor                                 */
    uint64_t    *choices;    /* per depth: the columns to branch on                     */
    uint16_t    *chosen;
    int          size;
    int          max_size;   /* no hitting sets above this size; < 0: all               */
    bool         cut;        /* some were left out for that reason                      */
    bool         stop;       /* set by a visitor or the deadline: stop at once          */
    kn_deadline *deadline;   /* may be NULL                                             */
    int64_t      steps;
    kn_hitting_visitor visitor;
} kn_hitting;

KN_CHECK kn_status kn_hitting_init(kn_hitting *h, kn_context *ctx, int columns, kn_error *err);
void               kn_hitting_free(kn_hitting *h); /* even after a failed init, or zeroed */

/* Adds an edge, between searches. */
KN_CHECK kn_status kn_hitting_add(kn_hitting *h, const uint64_t *edge, kn_error *err);

/* Forgets all but the first `count` edges. */
void kn_hitting_truncate(kn_hitting *h, int64_t count);

/* Visits every minimal hitting set that contains `set` and otherwise only columns of `candidates` (NULL, NULL: all). */
KN_CHECK kn_status kn_hitting_search(kn_hitting *h, const uint64_t *set, const uint64_t *candidates, kn_error *err);

/* Cuts the search into parts that can be run on their own, in the order in which one search would run them: `out` gets
 * pairs (set, candidates). At least `wanted` parts where there are that many. Depends on the edges only. */
KN_CHECK kn_status kn_hitting_split(kn_set_list *out, kn_hitting *h, int64_t wanted, kn_error *err);

/* A last check of a hitting set before it is listed: is it to be kept? Called by any worker, and only for the first
 * few hundred sets of each of some hundred parts of the search, to bound the time for sets that are not kept. */
typedef kn_status (*kn_dualize_keep)(void *arg, const uint64_t *set, int worker, bool *keep, kn_error *err);

typedef struct kn_dualize_options {
    int             max_size; /* < 0: none                                              */
    int64_t         max_sets; /* stop after this many: the first ones in search order   */
    kn_deadline    *deadline; /* may be NULL                                            */
    kn_dualize_keep keep;     /* may be NULL                                            */
    void           *keep_arg;
} kn_dualize_options;

/* Appends the minimal hitting sets of the edges, in an order that does not depend on the number of threads. *all says
 * whether none was left out by a limit. No edges: the empty set. An empty edge: none. */
KN_CHECK kn_status kn_dualize(kn_set_list *out, bool *all, kn_context *ctx, const kn_set_list *edges, int columns,
                              const kn_dualize_options *options, kn_error *err);

#endif
