/* kn_counter_internal.h: what kn_counter.c (groups, base, tables) and kn_counter_pass.c (counting) share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_COUNTER_INTERNAL_H
#define KN_COUNTER_INTERNAL_H

#include "kn_counter.h"

/* A group at some levels of its attributes: base code → generalized combination. */
typedef struct kn_counter_table {
    uint32_t  distinct;
    void     *ids;   /* codes of the group, of its width: number of the generalized combination */
    uint64_t *costs; /* cells: of one row, over the group's attributes; else NULL              */
} kn_counter_table;

typedef struct kn_counter_group {
    int             count;
    int            *attributes; /* quasi-identifiers, ascending                      */
    int64_t        *strides;    /* per attribute: table number = Σ level × stride    */
    int64_t         table_count;
    kn_counter_table **tables;     /* made when first needed                            */
    uint32_t        codes;      /* occurring combinations                            */
    bool            wide;       /* codes take 4 bytes instead of 2                   */
    uint32_t       *parts;      /* codes × count: the column codes of a combination  */
    uint64_t        star;       /* cells: of a suppressed row                        */
} kn_counter_group;

struct kn_counter_set {
    kn_context *ctx;
    int64_t     classes;
    uint32_t   *counts;
    int         narrow, wide; /* groups of either width                                                        */
    void      **codes; /* per group of the engine: its first code; the codes of an entry are adjacent, so that the
                          next one of the group is `narrow` or `wide` codes further. NULL: not in the set */
};

/* One place of the hash table. */
typedef struct kn_counter_slot {
    uint64_t key;
    uint32_t count; /* 0: free */
    uint32_t unused;
} kn_counter_slot;

/* One worker's counting memory. Tables are all zero between jobs. */
typedef struct kn_counter_scratch {
    uint32_t *dense;
    size_t    dense_size;
    kn_counter_slot *hash;
    size_t        hash_size; /* a power of two */
    uint64_t *found;     /* classes in order: the slot in the table, and above it the first entry of the class   */
    uint32_t *ids;       /* per entry, between passes      */
    size_t    entries;   /* capacity of both               */
} kn_counter_scratch;

/* A table that has to be made: for which job. */
typedef struct kn_counter_missing {
    int     group;
    int64_t number;
    int64_t job;
} kn_counter_missing;

struct kn_counter {
    kn_context                  *ctx;
    const kn_fulldomain_problem *problem;
    kn_counter_options              options;
    int64_t                      k;
    bool                         cells; /* the cost of suppressed rows is needed             */
    int                          group_count;
    kn_counter_group               *groups;
    int                         *group_of; /* per quasi-identifier */
    kn_counter_set                 *base;
    int                          workers;
    kn_counter_scratch             *scratch;
    struct kn_counter_hubs         *hubs;    /* NULL: none */
    kn_counter_missing             *missing; /* scratch */
    size_t                       missing_room;
};

/* Allocates a set with the groups of `like`; NULL: out of memory. */
kn_counter_set *kn_counter_set_new(const kn_counter *counter, const kn_counter_set *like, int64_t classes);

static inline uint32_t kn_counter_code(const kn_counter_set *set, const kn_counter_group *group, const void *codes, int64_t at)
{
    return group->wide ? ((const uint32_t *)codes)[at * set->wide] : ((const uint16_t *)codes)[at * set->narrow];
}

/* The table of a group at some levels (of all quasi-identifiers). */
static inline int64_t kn_counter_table_number(const kn_counter_group *group, const int *levels)
{
    int64_t number = 0;
    for (int i = 0; i < group->count; i++) number += levels[group->attributes[i]] * group->strides[i];
    return number;
}

/* Makes the tables that the jobs need and that do not exist yet. */
KN_CHECK kn_status kn_counter_tables_need(kn_counter *counter, kn_counter_job *jobs, int64_t count, kn_error *err);

/* ---- kn_counter_hubs.c ---- */

typedef struct kn_counter_hubs kn_counter_hubs;

KN_CHECK kn_status kn_counter_hubs_make(kn_counter_hubs **out, kn_counter *counter, kn_error *err);
void               kn_counter_hubs_free(kn_counter_hubs *hubs);

/* The smallest set from which to count a node; remembers the node. */
const kn_counter_set *kn_counter_hubs_source(kn_counter_hubs *hubs, const int *levels);

/* Makes the sets that would have paid off. Adds the classes visited to *keys. */
KN_CHECK kn_status kn_counter_hubs_plan(kn_counter_hubs *hubs, kn_counter *counter, int64_t *keys, kn_error *err);

void kn_counter_scratch_free(kn_counter_scratch *scratch);

#endif
