/* kn_candidate.h: the inside of evaluating a cut by what it changes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_CANDIDATE_H
#define KN_CANDIDATE_H

#include "kn_blocks.h"
#include "kn_cut_state.h"

#define KN_NONE UINT32_MAX

enum { KN_ROW_VALUES = 64 };

/* Equal rows are merged where the parent has fewer than one for each so many of the synopsis, or very few: unless most rows have an
 * equal one, merging is more work than it saves (250,000 records: 3.58 s of processor with 8, 3.48 with 64), and most of it is one worker's. */
enum { KN_MERGED_SHARE = 64, KN_MERGED_FEW = 16 };

static inline bool kn_few_rows(uint32_t rows, const kn_synopsis *synopsis)
{
    return rows <= KN_MERGED_FEW || rows < synopsis->rows.count / KN_MERGED_SHARE;
}

/* What belongs to a node is fetched this many nodes before it is needed: nodes of a row are far apart in memory. Behind the
 * nodes of the last row stand so many more that mean nothing. */
enum { KN_NODES_AHEAD = 16 };

/* Loops over rows are shared with workers that have nothing to do (kn_parallel_share), this many rows at a time or a few more. */
enum { KN_ROWS_SHARED = 1 << 13 };

/* Relations of one row: bit b of below[a]: a stands above b; both count the row's values ascending. */
typedef struct kn_row_relations {
    uint64_t below[KN_ROW_VALUES];
} kn_row_relations;

struct kn_candidate {
    kn_context            *ctx;
    const kn_tree_problem *problem;
    const kn_synopsis     *synopsis;
    const kn_cost_domain  *domain;
    kn_key_layout          layout;
    kn_combinations        combinations;
    int                    worker; /* whose it is                                                             */
    kn_candidate *const   *team;   /* per worker its own; who helps with another's cut uses it for scratch    */

    /* The current cut. */
    const kn_cut_state *parent;
    uint32_t            specialized; /* KN_NONE: {*} without a parent */
    uint32_t            since; /* only combinations with a value below it have not passed ValueCheck; KN_NONE: all */
    uint32_t            first_new, last_new; /* values that the parent's cut has not: first_new <= v < last_new */
    uint32_t           *cut_of; /* per value at or below the cut: the value of the cut */

    /* Nodes: the parent's, then the new ones. */
    kn_node_table added; /* by (parent, value); the first has number `old_nodes` */
    uint32_t      old_nodes, nodes;
    uint32_t     *image; /* per node of the synopsis; KN_NONE: none              */
    bool         *gone;  /* per old node: the specialized value was on its path  */
    size_t        gone_capacity;
    uint32_t     *value; /* per node */
    size_t        value_capacity;
    uint32_t     *paths, *previous_paths; /* as they stand, and as the round before began with: `stride` numbers per node */
    size_t        paths_capacity, previous_paths_capacity, stride;
    uint32_t     *was;     /* per new node: the old one it was part of; KN_NONE without a parent */
    size_t        was_capacity;
    bool         *differs; /* per node: its relations of old values, from the parent's in the current round */
    bool          any_differs, any_old_differs;
    size_t        differs_capacity;
    int           difference_round; /* the parent's round that `differs` is about; -1: none */
    int           at;               /* the parent's round that this one corresponds to     */
    int          *round_of;         /* per number of relations: the parent's round whose supports were used */
    bool         *moved; /* per node: since the round before */
    size_t        moved_capacity;
    uint8_t      *fates; /* per pair of places: see below; where supports are in arrays      */
    bool         *lost;  /* per node: it lost a relation which others still give, since then */
    bool          any_lost;
    size_t        fates_capacity, lost_capacity;

    /* Rows that have the specialized value: those that have equal nodes now are one. */
    uint32_t  row_count;
    uint32_t *row_source; /* per row: the first row of the synopsis that became it; see kn_row_source */
    int32_t  *row_weight; /* where they are merged; see kn_row_weight */
    bool      merged;    /* equal ones are one; else row i is changed_rows[i]           */
    uint32_t *row_start; /* row_count + 1: its nodes, each once; see kn_row_nodes ...   */
    uint16_t *narrow_nodes, *narrow_image; /* the second: `image` where that is enough, for rows that are not merged */
    uint32_t *wide_nodes;
    bool      narrow;    /* ... and where they stand                                    */
    size_t    row_source_capacity, row_weight_capacity, row_start_capacity, narrow_capacity, wide_capacity, narrow_image_capacity;
    /* ... to merge them: a hash of their nodes, and where to find it: row + 1; 0: free. */
    uint32_t *row_slots;
    uint64_t *row_hash, *node_hash;
    size_t    row_hash_capacity, node_hash_capacity, row_slot_count;
    uint32_t *changed_rows; /* rows of the synopsis that have the specialized value */
    size_t    changed_count, changed_capacity;
    uint32_t *new_row; /* per changed row: which row it became, where they are merged */
    size_t    new_row_capacity;

    const uint64_t *has;     /* the rows of the synopsis that have the specialized value, as bits: a set of the synopsis, ... */
    uint64_t       *own_has; /* ... or worked out here                                                                        */
    uint64_t       *old_has; /* the parent's rows that have it                                                                */
    size_t          own_has_capacity, old_has_capacity;
    uint32_t *node_stamp, *local; /* per node; per value */
    size_t    node_stamp_capacity;
    uint32_t  node_clock;

    /* Supports, per number of relations: combinations with a new value, by key or in arrays (kn_new_support.h); of all others what
     * differs from the parent's. */
    kn_counts *new_supports;
    bool       dense;
    uint32_t   places, new_count;
    uint32_t  *place_of, *value_of; /* per value: its place, new ones first; and back */
    size_t     value_of_capacity;
    int32_t   *cells[3];
    size_t     cells_capacity[3];
    kn_blocks  blocks;
    /* Differences (kn_delta_sweep.c): of how many relations, added or taken away; and what they were the last time. */
    int             delta_from, delta_to, delta_sign;
    uint32_t        meant[2]; /* rows that differ, and of these where something moved: about as many are counted */
    bool            delta_valid; /* they are those of the round before, or of this one */
    const kn_round *delta_round; /* the parent's that they are compared with           */
    const kn_round *delta_before; /* ... and were the last time, if that is of use; NULL: they are counted anew */
    bool           *differed, any_differed, any_old_differed;
    uint8_t        *node_marks, *row_marks; /* of those below */
    size_t          differed_capacity, node_marks_capacity, row_marks_capacity;
    kn_counts *delta;
    uint64_t  *bad; /* keys of what is rare in this round */
    size_t     bad_count, bad_capacity;
    kn_counts  named; /* relations, packed */
    bool       no_memory;
    int64_t    counted;

    kn_disassociation *list;
    size_t             list_count, list_capacity;

    kn_cut_state *kept; /* what will be kept of this cut */
    kn_node_table trie; /* what is released              */
    int64_t      *support;
    size_t        support_capacity;
    uint32_t     *trie_of;
    size_t        trie_of_capacity;
    uint32_t     *trie_map; /* per node of the parent's trie: this one's */
    size_t        trie_map_capacity;
};

/* A node, or a row that has one: differs from the parent's, and did the last time; moved since the round before, and there; lost a
 * relation which others still give. */
enum { KN_DIFFERS = 1, KN_DIFFERED = 2, KN_MOVED = 4, KN_MOVED_THERE = 8, KN_LOST = 16 };

/* What happened to a relation since the round before: some node lost it; some node gives it. */
enum { KN_FATE_LOST = 1, KN_FATE_GIVEN = 2 };

/* Everything is new: {*}, or what it is specialized to. */
static inline bool kn_is_whole(const kn_candidate *c)
{
    return !c->parent || c->specialized == 0;
}

/* The path of a node: its length, then its values from the top. */
static inline const uint32_t *kn_path_of(const kn_candidate *c, uint32_t node)
{
    return c->paths + node * c->stride;
}

static inline bool kn_is_new(const kn_candidate *c, uint32_t value)
{
    return value >= c->first_new && value < c->last_new;
}

/* The row of the synopsis that became a row first. */
static inline uint32_t kn_row_source(const kn_candidate *c, uint32_t row)
{
    return c->merged ? c->row_source[row] : c->changed_rows[row];
}

static inline int32_t kn_row_weight(const kn_candidate *c, uint32_t row)
{
    return c->merged ? c->row_weight[row] : (int32_t)c->synopsis->rows.weight[c->changed_rows[row]];
}

/* The node at c->row_start[row] and after. */
static inline uint32_t kn_row_node(const kn_candidate *c, uint32_t at)
{
    return c->narrow ? c->narrow_nodes[at] : c->wide_nodes[at];
}

/* The nodes of a row, where relations count: then they are few. `room` has space for KN_ROW_VALUES of them; the result may
 * point there. */
static inline const uint32_t *kn_row_nodes(const kn_candidate *c, uint32_t row, uint32_t *room, uint32_t *size)
{
    uint32_t from = c->row_start[row];
    *size = c->row_start[row + 1] - from;
    if (!c->narrow) return c->wide_nodes + from;
    for (uint32_t i = 0; i < *size; i++) room[i] = c->narrow_nodes[from + i];
    return room;
}

/* The nodes of a row, which the synopsis has as `source`: some may be listed twice. Space for KN_ROW_VALUES. */
static inline uint32_t kn_row_members(const kn_candidate *c, uint32_t source, uint32_t *members)
{
    const kn_rows *rows = &c->synopsis->rows;
    uint32_t       n = 0;
    for (uint64_t i = rows->start[source]; i < rows->start[source + 1]; i++) {
        members[n] = c->image[rows->members[i]];
        n += members[n] != KN_NONE;
    }
    return n;
}

/* First the values of the cut and which rows of the synopsis have the specialized one; then the nodes, and these rows and what
 * they are now; and which of the parent's rows they are. */
KN_CHECK kn_status kn_candidate_begin(kn_candidate *c, kn_error *err);
KN_CHECK kn_status kn_candidate_find_rows(kn_candidate *c, kn_error *err);
KN_CHECK kn_status kn_candidate_project(kn_candidate *c, kn_error *err);
KN_CHECK kn_status kn_candidate_rows(kn_candidate *c, kn_error *err);
KN_CHECK bool      kn_candidate_find_old_rows(kn_candidate *c);

/* Are equal rows merged under this cut? If not, its rows are those of the synopsis, and to keep it the nodes are enough. */
bool               kn_candidate_merges(const kn_candidate *c);
KN_CHECK kn_status kn_candidate_merge_rows(kn_candidate *c, kn_error *err);
void               kn_candidate_stop_merging(kn_candidate *c); /* frees what is only used for that */
void               kn_candidate_close_rows(kn_candidate *c);   /* writes what stands behind the last row */
KN_CHECK kn_status kn_candidate_only_nodes(kn_candidate *c, kn_error *err);

/* The values of a row under the cut, ascending: images ascend as values do. */
static inline uint32_t kn_row_values(const kn_candidate *c, uint32_t source, uint32_t *values)
{
    const kn_synopsis *s = c->synopsis;
    uint32_t           n = 0;
    for (uint64_t i = s->value_start[source]; i < s->value_start[source + 1]; i++) {
        uint32_t value = c->cut_of[kn_synopsis_value(s, i)];
        if (n == 0 || values[n - 1] != value) values[n++] = value;
    }
    return n;
}

/* ValueCheck on the combinations that have not passed with the parent; rare ones are in c->combinations. By the rows of
 * the candidate, or, where it fits, by those of the synopsis, before anything else is known of it. */
KN_CHECK kn_status kn_candidate_value_check(kn_candidate *c, bool *ok, kn_error *err);
bool               kn_value_sweep_fits(const kn_candidate *c);
KN_CHECK kn_status kn_value_sweep(kn_candidate *c, bool *ok, kn_error *err);

/* FixStructure. */
KN_CHECK kn_status kn_candidate_fix(kn_candidate *c, bool *fixed, kn_tree_counters *counters, kn_error *err);

/* RPDa of what is released. */
KN_CHECK kn_status kn_candidate_cost(kn_candidate *c, kn_tree_cost *cost, kn_error *err);

/* Keeping the state: a round as it began, what it counted, and finally the rest. */
KN_CHECK kn_status kn_candidate_keep_round(kn_candidate *c, int round, int stage, kn_error *err);
KN_CHECK kn_status kn_candidate_keep_rest(kn_candidate *c, kn_error *err);

#endif
