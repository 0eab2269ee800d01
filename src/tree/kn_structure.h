/* kn_structure.h: the structure of the projected records while relations are disassociated. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_STRUCTURE_H
#define KN_STRUCTURE_H

#include "kn_combinations.h"
#include "kn_node_table.h"
#include "kn_synopsis.h"
#include "kn_tree_cost.h"

typedef struct kn_structure {
    kn_context            *ctx;
    const kn_tree_problem *problem;
    const kn_synopsis     *synopsis;
    const kn_projection   *projection;
    const bool            *known; /* per place; NULL: all */
    /* The remaining path of each node of the projection: it begins where projection->path has it. */
    uint32_t *path;
    uint16_t *length;
    /* Relations: a number for each (ancestor, descendant), as places; none is ever forgotten. */
    kn_node_table relations;
    uint64_t     *of_node_start; /* per node of the projection: its own relations */
    uint32_t     *of_node;
    size_t        of_node_capacity;
    uint64_t     *of_row_start; /* per row: the known relations, ascending, each once */
    uint32_t     *of_row;
    size_t        of_row_capacity;
    uint32_t     *stamp; /* per relation or position */
    size_t        stamp_capacity;
    int64_t      *support; /* per relation */
    size_t        support_capacity;
    uint64_t     *rows_start; /* per relation: the rows that have it */
    size_t        rows_start_capacity;
    kn_row_entry *rows_of;
    size_t        rows_of_capacity;
    bool         *named; /* per relation */
    size_t        named_capacity;
    uint32_t     *chosen; /* the current relations */
    uint32_t     *assigned; /* nodes of their ends */
    int           chosen_count;
    /* The ordered list of what was disassociated; values of the vocabulary. */
    kn_disassociation *disassociations;
    size_t             count, capacity;
} kn_structure;

KN_CHECK kn_status kn_structure_make(kn_structure *out, const kn_tree_problem *problem, const kn_synopsis *synopsis,
                                     const kn_projection *projection, const bool *known, kn_error *err);
void               kn_structure_free(kn_structure *structure);

/* Counts the current relations. */
KN_CHECK kn_status kn_structure_count(kn_structure *structure, kn_error *err);

/* StructureCheck for all combinations with `relations` relations (at least one): names one of each bad one. *any: a bad
 * one was found. With `first` it ends there. */
KN_CHECK kn_status kn_structure_check(kn_structure *structure, kn_combinations *scratch, int relations,
                                      const kn_badness *bad, bool first, bool *any, kn_error *err);

/* Paths (S2): does the row have one node for each value of the chosen relations so that all of them hold? */
bool kn_structure_on_path(const kn_structure *structure, uint32_t row);

/* Definition 2 on the path of one node, its values (or places) from the top: above ⇝ below is on it. The new length. */
uint32_t kn_path_disassociate(uint32_t *path, uint32_t length, uint32_t above, uint32_t below);

/* Algorithm 3. *fixed is false if OCS would have to disassociate. */
KN_CHECK kn_status kn_fix_structure(kn_structure *structure, kn_combinations *scratch, bool *fixed,
                                    kn_tree_counters *counters, kn_error *err);

/* RPDa of a trie whose nodes have values of the vocabulary below `values`. */
KN_CHECK kn_status kn_trie_rpda(kn_tree_cost *out, kn_context *ctx, const kn_node_table *nodes, const int64_t *support,
                                const kn_cost_domain *domain, uint32_t values, kn_error *err);

/* RPDa of the records as they stand; `domain`: |C(u)| per value. */
KN_CHECK kn_status kn_rpda(kn_tree_cost *out, const kn_structure *structure, const kn_cost_domain *domain,
                           kn_error *err);

#endif
