/* kn_tree_reference_internal.h: what the two files of the plain k^(m,n) search share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_TREE_REFERENCE_INTERNAL_H
#define KN_TREE_REFERENCE_INTERNAL_H

#include "kn_tree_reference.h"

#define KN_REFERENCE_NONE UINT32_MAX

typedef struct kn_reference_cut {
    uint32_t  size;
    uint32_t *values; /* ascending */
} kn_reference_cut;

/* The numbers of the records that have something, ascending. */
typedef struct kn_id_list {
    uint32_t *ids;
    size_t    count;
} kn_id_list;

/* A relation that occurs; its ends are places in the cut. */
typedef struct kn_reference_relation {
    uint32_t   ancestor, descendant;
    kn_id_list records;
} kn_reference_relation;

/* RPDa as a number, and modulo a prime. */
typedef struct kn_reference_cost {
    double   value;
    uint64_t residue;
} kn_reference_cost;

typedef struct kn_reference_trie_node {
    uint32_t value, child, next; /* the first child, the next sibling by value; none: KN_REFERENCE_NONE */
    int64_t  support, last;      /* records with this path, and the last of them     */
} kn_reference_trie_node;

typedef struct kn_reference {
    kn_context            *ctx;
    const kn_tree_problem *problem;
    const kn_records      *records;
    const kn_vocabulary   *vocabulary;
    kn_tree_counters      *counters;
    double                 deadline; /* 0: none                                      */
    uint64_t *class_pairs;           /* strict: bit parent's class (the last: the root) × classes + class: it occurs */
    uint64_t *domain;                /* per value: |C(u)|                            */

    /* The records under the current cut and the disassociations so far. */
    const kn_reference_cut *cut;
    uint32_t               *image; /* per value of the vocabulary: that of the cut above it */
    uint32_t               *place; /* per value of the cut: its place there                 */
    uint32_t               *size;  /* per record: its nodes begin at records->start         */
    kn_record_node         *nodes;
    void                   *scratch;

    /* Which records have what. */
    kn_id_list            *with_value; /* per place in the cut           */
    uint32_t              *value_ids;
    uint64_t              *pairs; /* bit a × |cut| + b: a ⇝ b occurs */
    size_t                 pairs_capacity;
    kn_reference_relation *relations; /* by ancestor, then descendant    */
    size_t                 relation_count, relation_capacity;
    uint32_t              *relation_ids;
    size_t                 relation_ids_capacity;

    /* The current combination. */
    kn_id_list *value_stack, *relation_stack; /* the records with the first i values, and the first j relations too */
    uint32_t   *stack_ids;
    uint32_t   *chosen; /* places                                  */
    int         chosen_count;
    uint32_t   *among; /* the relations between them              */
    int         among_count;
    uint32_t   *known; /* those of them that are known            */
    int         known_count;
    uint32_t   *node_of; /* paths: the node of each chosen value    */
    bool       *named;   /* per relation: a rare combination gives it up */
    size_t      named_capacity, named_count;
    bool       *plain; /* per place: may be known                     */
    uint32_t   *absence; /* per place: values to be known for it to be absent; 0: it never is */
    uint64_t   *occurs;  /* bit per value: some record has it           */
    bool        lacks;   /* that a record lacks something may be known  */
    int64_t    *spread;  /* records with each value of a sensitive class */
    bool        cancelled, late;

    kn_disassociation *sd;
    size_t             sd_count, sd_capacity;

    kn_reference_trie_node *trie;
    uint32_t               *trie_of; /* per node of a record: its own in the trie; scratch of project */
    size_t                  trie_count, trie_capacity;

    /* Every cut that was reached (K10), in the order of discovery. */
    kn_reference_cut *cuts;
    size_t            cut_count, cut_capacity;
    uint32_t         *table; /* numbers of cuts + 1, by hash; 0: free */
    size_t            table_size;

    bool               found;
    kn_reference_cost  best_cost;
    uint32_t           best;
    kn_disassociation *best_sd;
    size_t             best_sd_count, best_sd_capacity;
} kn_reference;

kn_status kn_reference_no_memory(const kn_reference *r, kn_error *err);

/* Cancelled, or the time is up? `deadline` does not count before the first cut was evaluated. */
bool kn_reference_gives_up(kn_reference *r);

/* The records under r->cut, without disassociations; one more disassociation. */
void kn_reference_project(kn_reference *r);
void kn_reference_disassociate(kn_reference *r, kn_disassociation d);

/* Id lists of the current records. */
void               kn_reference_collect_values(kn_reference *r);
KN_CHECK kn_status kn_reference_collect_relations(kn_reference *r, kn_error *err);
uint32_t           kn_reference_find_relation(const kn_reference *r, uint32_t ancestor, uint32_t descendant);
void               kn_reference_intersect(kn_reference *r, kn_id_list *out, const kn_id_list *a, const kn_id_list *b);

/* Called with the records that have all of a combination, at least one. true: stop. */
typedef bool (*kn_reference_visit_fn)(kn_reference *r, const kn_id_list *records);

/* All combinations of 1 to m values that may be known, present or absent, with `fewest` to `most` relations between
 * them: value sets by size, then in order; relation sets likewise. true: `visit` stopped, or the time is up. */
bool kn_reference_visit(kn_reference *r, int fewest, int most, kn_reference_visit_fn visit);

/* Names a relation of each rare combination with relations that are known not to be there (kn_tree_reference_unrelated.c). */
KN_CHECK kn_status kn_reference_name_unrelated(kn_reference *r, kn_error *err);

#endif
