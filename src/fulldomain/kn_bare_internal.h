/* kn_bare_internal.h: what kn_bare.c (groups, base, tables) and kn_bare_count.c (counting) share. */
#ifndef KN_BARE_INTERNAL_H
#define KN_BARE_INTERNAL_H

#include "kn_bare.h"

/* A group at some levels of its attributes: base code → what it becomes. */
typedef struct kn_bare_table {
    uint32_t  distinct;
    void     *ids;   /* codes of the group, of its width: number of the generalized combination */
    uint64_t *costs; /* cells: of one row, over the group's attributes; else NULL              */
} kn_bare_table;

typedef struct kn_bare_group {
    int             count;
    int            *attributes; /* quasi-identifiers, ascending                      */
    int64_t        *strides;    /* per attribute: table number = Σ level × stride    */
    int64_t         table_count;
    kn_bare_table **tables;     /* made when first asked for                         */
    uint32_t        codes;      /* occurring combinations                            */
    bool            wide;       /* codes take 4 bytes instead of 2                   */
    uint32_t       *parts;      /* codes × count: the column codes of a combination  */
    uint64_t        star;       /* cells: of a suppressed row                        */
} kn_bare_group;

struct kn_bare_set {
    kn_context *ctx;
    int64_t     classes;
    uint32_t   *counts;
    int         narrow, wide; /* groups of either width                                                        */
    void      **codes; /* per group of the engine: its first code; the codes of an entry stand side by side, so that
                          the next one of the group is `narrow` or `wide` codes further. NULL: not in the set  */
};

/* One place of the hash table. */
typedef struct kn_bare_slot {
    uint64_t key;
    uint32_t count; /* 0: free */
    uint32_t unused;
} kn_bare_slot;

/* Room for one worker to count in. Tables are all zero between jobs. */
typedef struct kn_bare_scratch {
    uint32_t *dense;
    size_t    dense_size;
    kn_bare_slot *hash;
    size_t        hash_size; /* a power of two */
    uint64_t *found;     /* classes in order: the slot in the table, and above it the entry that showed it first */
    uint32_t *ids;       /* per entry, between passes      */
    size_t    entries;   /* room in both                   */
} kn_bare_scratch;

/* A table that has to be made: for which job. */
typedef struct kn_bare_missing {
    int     group;
    int64_t number;
    int64_t job;
} kn_bare_missing;

struct kn_bare {
    kn_context                  *ctx;
    const kn_fulldomain_problem *problem;
    kn_bare_options              options;
    int64_t                      k;
    bool                         cells; /* suppressed rows have a cost that somebody asks for */
    int                          group_count;
    kn_bare_group               *groups;
    int                         *group_of; /* per quasi-identifier */
    kn_bare_set                 *base;
    int                          workers;
    kn_bare_scratch             *scratch;
    struct kn_bare_hubs         *hubs;    /* NULL: none */
    kn_bare_missing             *missing; /* scratch */
    size_t                       missing_room;
};

/* Room for a set with the groups that `like` has; NULL: out of memory. */
kn_bare_set *kn_bare_set_new(const kn_bare *bare, const kn_bare_set *like, int64_t classes);

static inline uint32_t kn_bare_code(const kn_bare_set *set, const kn_bare_group *group, const void *codes, int64_t at)
{
    return group->wide ? ((const uint32_t *)codes)[at * set->wide] : ((const uint16_t *)codes)[at * set->narrow];
}

/* The table of a group at some levels (of all quasi-identifiers). */
static inline int64_t kn_bare_table_number(const kn_bare_group *group, const int *levels)
{
    int64_t number = 0;
    for (int i = 0; i < group->count; i++) number += levels[group->attributes[i]] * group->strides[i];
    return number;
}

/* Makes the tables that the jobs need and that are not there yet. */
KN_CHECK kn_status kn_bare_tables_need(kn_bare *bare, kn_bare_job *jobs, int64_t count, kn_error *err);

/* ---- kn_bare_hubs.c ---- */

typedef struct kn_bare_hubs kn_bare_hubs;

KN_CHECK kn_status kn_bare_hubs_make(kn_bare_hubs **out, kn_bare *bare, kn_error *err);
void               kn_bare_hubs_free(kn_bare_hubs *hubs);

/* The smallest set to count a node from; remembers the node. */
const kn_bare_set *kn_bare_hubs_source(kn_bare_hubs *hubs, const int *levels);

/* Makes the sets that would have paid. Adds to *keys what that goes through. */
KN_CHECK kn_status kn_bare_hubs_plan(kn_bare_hubs *hubs, kn_bare *bare, int64_t *keys, kn_error *err);

void kn_bare_scratch_free(kn_bare_scratch *scratch);

#endif
