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

/* One pass over the entries [begin, end) of a set. */
typedef struct kn_counter_pass {
    const kn_counter_set   *from;
    int64_t                 begin, end;
    int                     groups;
    const kn_counter_group *group[64];
    const kn_counter_table *table[64];
    const void             *codes[64];
    bool                    has_ids; /* the numbers of the pass before are part of the key */
    bool                    adjacent; /* the key consists of all codes of an entry, each of two bytes */
    bool                    last;
    uint64_t                space;
    kn_counter_scratch     *scratch;
    uint32_t                classes; /* found */
} kn_counter_pass;

/* Where the counters are: every `step`-th number. */
typedef struct kn_counter_cells {
    uint32_t *first;
    size_t    step;
} kn_counter_cells;

static inline uint32_t *kn_counter_cell(kn_counter_cells c, uint64_t found)
{
    return c.first + (size_t)(uint32_t)found * c.step;
}

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
    struct kn_counter_split_room   *room;    /* of kn_counter_split.c; NULL: not needed yet */
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

/* ---- kn_counter_pass.c ---- */

/* Up to DENSE_LEAST possible keys have a counter each; up to DENSE_NEAR these are in the cache. */
enum { KN_COUNTER_DENSE_LEAST = 1 << 16, KN_COUNTER_DENSE_NEAR = 1 << 18, KN_COUNTER_DENSE_PER_ENTRY = 16 };

static inline uint64_t kn_counter_key_space(const kn_counter *counter)
{
    return counter->options.key_space > 0 ? counter->options.key_space : (uint64_t)1 << 62;
}

static inline size_t kn_counter_hash_slot(uint64_t key, size_t mask)
{
    uint64_t h = key * 0x9e3779b97f4a7c15u;
    return (size_t)(h ^ h >> 32) & mask;
}

void kn_counter_scratch_free(kn_counter_scratch *scratch);
bool kn_counter_need_entries(kn_context *ctx, kn_counter_scratch *scratch, size_t entries);
bool kn_counter_need_dense(kn_context *ctx, kn_counter_scratch *scratch, size_t size); /* zero */

/* All groups of the job's set with their tables at its node. */
void kn_counter_gather(const kn_counter *counter, const kn_counter_job *job, kn_counter_pass *all);
void kn_counter_keys(const kn_counter_pass *pass, int64_t begin, int n, uint64_t *keys);

/* Counts (or numbers) the classes: the counters of pass->classes of scratch->found are not zero afterwards. */
KN_CHECK kn_status kn_counter_pass_run(const kn_counter *counter, kn_counter_pass *pass, kn_counter_cells *out, kn_error *err);

/* Of classes with fewer rows than `below` (an entry above the number of rows): what their rows cost where they are released;
 * how many there are of each value of a quasi-identifier. */
kn_u128 kn_counter_cost_of(const kn_counter_pass *all, const uint64_t *classes, int64_t count, uint64_t below);
void    kn_counter_note_values(const kn_counter *counter, const kn_counter_pass *all, int quasi, const uint64_t *classes,
                               int64_t count, uint64_t below, uint32_t *lost);
kn_u128 kn_counter_cells_of(const kn_counter *counter, const kn_counter_job *job);

/* The codes of classes [begin, end) of a set: those of the entries above the lower halves of `found`. */
void kn_counter_copy_codes(const kn_counter *counter, const kn_counter_set *from, const uint64_t *found, kn_counter_set *set,
                           int64_t begin, int64_t end);

/* ---- kn_counter_split.c ---- */

/* Marks the jobs that are counted in pieces (their tables exist); how many. Then counts these; those for
 * which there is no memory lose the mark. Before other jobs are counted. */
int64_t            kn_counter_split_choose(const kn_counter *counter, kn_counter_job *jobs, int64_t count);
KN_CHECK kn_status kn_counter_split_run(kn_counter *counter, kn_counter_job *jobs, int64_t count, kn_error *err);
void               kn_counter_split_free(kn_context *ctx, struct kn_counter_split_room *room); /* NULL is fine */

#endif
