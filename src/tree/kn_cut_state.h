/* kn_cut_state.h: the state of a cut that is followed, so that a cut with one more value specialized costs only what
 * the specialization changes (docs/errata.md 5, "where time can be saved"): its nodes and rows, and for each round of
 * FixStructure its paths and the supports of all combinations with relations.
 *
 * For relations pair by pair, without strict positions and sensitive values; kn_cut_state_fits says whether.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_CUT_STATE_H
#define KN_CUT_STATE_H

#include "kn_counts.h"
#include "kn_node_table.h"
#include "kn_structure.h"

/* A round begins with these paths. */
typedef struct kn_round {
    uint32_t  *paths;  /* per node `stride` numbers: the length, then the values from the top */
    int        stage;  /* number of relations at which it stopped; 0: the last round */
    int        tables; /* that are kept: stage, or n in the last round */
    kn_counts *table;  /* table[j - 1]: supports of the combinations with j relations ... */
    int       *base;   /* ... to be added to those of the parent's round base[j - 1]; -1: settled */
    uint64_t  *bad;    /* keys of the rare combinations of that stage  */
    size_t     bad_count;
} kn_round;

typedef struct kn_cut_state {
    kn_context        *ctx;
    const kn_synopsis *synopsis;
    uint32_t           nodes; /* of the projected synopsis */
    uint32_t          *value;
    uint32_t          *image;  /* per node of the synopsis; UINT32_MAX: none */
    uint32_t          *cut_of; /* per value at or below the cut: the value of the cut */
    /* Rows: projected records that are equal are one. Where few are, they are those of the synopsis, and all three are NULL. */
    uint32_t  rows;
    uint32_t *representative; /* a row of the synopsis    */
    int32_t  *weight;
    uint32_t *row_of; /* per row of the synopsis  */
    /* Rounds of FixStructure. */
    kn_round *rounds;
    int       round_count;
    /* What is released, as a trie. */
    kn_node_table trie;
    int64_t      *support;  /* per node of the trie */
    uint32_t     *trie_of;  /* per node; UINT32_MAX: erased */
} kn_cut_state;

void kn_cut_state_free(kn_cut_state *state); /* NULL is fine */

static inline uint32_t kn_state_source(const kn_cut_state *s, uint32_t row)
{
    return s->representative ? s->representative[row] : row;
}

static inline int32_t kn_state_weight(const kn_cut_state *s, uint32_t row)
{
    return s->weight ? s->weight[row] : (int32_t)s->synopsis->rows.weight[row];
}

static inline uint32_t kn_state_row_of(const kn_cut_state *s, uint32_t source)
{
    return s->row_of ? s->row_of[source] : source;
}

/* How the keys of combinations are packed: value + 1 in fields of `width` bits, ascending, then which relations. */
typedef struct kn_key_layout {
    int    width, m;
    size_t stride; /* numbers per path */
} kn_key_layout;

bool kn_cut_state_fits(kn_key_layout *out, const kn_tree_problem *problem, const kn_synopsis *synopsis);

typedef struct kn_candidate kn_candidate;

/* The scratch of one thread. */
KN_CHECK kn_status kn_candidate_make(kn_candidate **out, const kn_tree_problem *problem, const kn_synopsis *synopsis,
                                     const kn_cost_domain *domain, kn_key_layout layout, kn_error *err);
void               kn_candidate_free(kn_candidate *candidate); /* NULL is fine */

/* It belongs to a worker; `team` has that of each, and lasts as long. */
void kn_candidate_join(kn_candidate *candidate, kn_candidate *const *team, int worker);

/* Frees what it holds of the rows of the last cut: most of its memory. */
void kn_candidate_forget_rows(kn_candidate *candidate);

/* The result of evaluating a cut. */
typedef struct kn_outcome {
    bool               late; /* the time limit had passed     */
    bool               passed, followed, solution;
    kn_tree_cost       cost;
    kn_disassociation *disassociations; /* of a cut that is followed; owned */
    size_t             count;
    uint32_t          *rare; /* of a cut that did not pass: why; owned, may be NULL */
    int                rare_count;
    kn_tree_counters   counters;
} kn_outcome;

/* Evaluates `parent` with its value `specialized` replaced by its children (`parent` NULL: {*}). `since` is
 * UINT32_MAX, or a value that the parent's own parent had in place of its children, and with which this
 * specialization passed ValueCheck. *state (never NULL: a place for it) gets the state if the cut is followed, else
 * NULL; owned by the caller, and not settled. */
KN_CHECK kn_status kn_candidate_look(kn_candidate *candidate, const kn_cut_state *parent, uint32_t specialized,
                                     uint32_t since, kn_outcome *out, kn_cut_state **state, kn_error *err);

/* Makes the state independent of its parent's, before finer cuts are compared with it: so many parts, in any order or at the same
 * time; the first takes most time. */
int                kn_cut_state_parts(const kn_cut_state *state);
KN_CHECK kn_status kn_cut_state_settle(kn_cut_state *state, int part, kn_candidate *candidate, const kn_cut_state *parent,
                                       uint32_t specialized, kn_error *err);

#endif
