/* kn_blocks.h: some thousand rows in parallel: for each value of the cut and for each relation the set of the rows
 * that have it, as bits. A combination adds to its support what two sets have in common. A row of weight w occurs w
 * times.
 *
 * Relations may be kept in two versions, as they are and as they were: `now` and `then`. Most nodes have the same
 * ones in both.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_BLOCKS_H
#define KN_BLOCKS_H

#include "kn_bitset.h"
#include "kn_cut_state.h"

/* Rows come in chunks: as many of them as one cache line has bits, KN_BLOCK_LANES words. */
enum { KN_BLOCK_LANES = 8, KN_BLOCK_CHUNK = KN_BLOCK_LANES * 64 };

/* The number of words for this many rows. */
static inline size_t kn_block_words(size_t rows)
{
    return (rows + KN_BLOCK_CHUNK - 1) / KN_BLOCK_CHUNK * KN_BLOCK_LANES;
}

/* The next rows of a block that are one row of this weight, as bits of one word: as many as it has space for. */
static inline uint64_t kn_block_run(size_t used, int64_t weight, int64_t *count)
{
    unsigned first = used % 64;
    *count = weight < 64 - (int64_t)first ? weight : 64 - (int64_t)first;
    return (UINT64_MAX >> (64 - *count)) << first;
}

/* A node is put into this many sets at a time, whether it is in fewer or not: the processor cannot foresee how many it is
 * in. The rest are spare sets, which nobody reads: several, so that it need not wait for one that it just wrote. */
enum { KN_BLOCK_STEP = 4, KN_BLOCK_SPARE = 16 };

typedef struct kn_blocks kn_blocks;

struct kn_blocks {
    kn_candidate       *c;
    kn_bitset_common_fn common;

    /* Relations: numbered as they are found; places of the cut are their ends. */
    uint32_t  relations;
    uint32_t *relation_of;   /* per pair of places: its number + 1; 0: none                               */
    uint32_t *ends;          /* per relation two places: above, below                                     */
    uint32_t *neighbours;    /* per place where its list begins, one more, and two for each relation's end */
    uint32_t *of_node;       /* per node 2 × `stride` numbers: how many sets it is put into, and which            */
    uint32_t *steps;         /* the same by steps of KN_BLOCK_STEP sets, filled up with spare ones                */
    uint32_t *step_start;    /* nodes + 1: where the steps of each node begin                                     */
    bool      one_step;      /* no node takes more than one: step_start is not asked                              */
    bool     *differs, *present; /* per relation, in the current block: now differs from then; one of them is not empty */

    /* The current block. */
    size_t    words, used; /* per set; rows so far */
    size_t    width;       /* sets with the spare ones */
    uint64_t *chunk;       /* the last rows, 64 after 64: a word of each set; see kn_blocks.c */
    uint64_t *sets;        /* all of them          */
    uint64_t *values, *now, *then, *only_now; /* the last two: NULL where only `now` is kept   */
    void (*count)(kn_blocks *b, size_t words); /* counts what is in it */

    size_t relation_of_capacity, ends_capacity, neighbours_capacity, of_node_capacity, differs_capacity, sets_capacity;
    size_t steps_capacity, step_start_capacity, chunk_capacity;
};

void kn_blocks_free(kn_blocks *b); /* what is in it */

/* How the nodes stand. */
typedef struct kn_blocks_ways {
    const uint32_t *now, *then; /* paths; `then`: NULL where only `now` is asked for                            */
    const bool     *differs;    /* per node: it may give other relations now and then                            */
    const uint8_t  *fates;      /* per pair of places: the relation was given only then (KN_FATE_LOST): left out; NULL: none */
    bool            old_only;   /* no relations of a new or the specialized value; `then` is the parent's numbering */
} kn_blocks_ways;

/* Finds the relations, and makes the first block, for about this many rows. */
KN_CHECK kn_status kn_blocks_begin(kn_blocks *b, kn_candidate *c, const kn_blocks_ways *ways, size_t rows,
                                   void (*count)(kn_blocks *, size_t), kn_error *err);

/* Adds a row, one of the candidate's or by its nodes; counts the block if it is full. */
void kn_blocks_put_row(kn_blocks *b, uint32_t row);
void kn_blocks_put(kn_blocks *b, const uint32_t *nodes, uint32_t size, int32_t weight);

/* Counts the last one. */
void kn_blocks_end(kn_blocks *b);

/* Adds rows with the help of others (kn_parallel_share), and counts them: some blocks full, which begin and end at the same rows
 * whoever does it. `put` adds those rows from `begin` to before `end` that are meant, of `rows` in all; these are about `meant`.
 * `cells`: what is counted are supports in arrays (kn_new_support.h); else differences. */
typedef void (*kn_blocks_put_fn)(kn_blocks *b, bool anew, uint32_t begin, uint32_t end);
KN_CHECK kn_status kn_blocks_share(kn_blocks *b, uint32_t rows, uint32_t meant, kn_blocks_put_fn put, bool anew, bool cells,
                                   kn_error *err);

static inline const uint64_t *kn_blocks_set(const kn_blocks *b, const uint64_t *sets, uint32_t which)
{
    return sets + which * b->words;
}

static inline uint32_t kn_blocks_common(const kn_blocks *b, const uint64_t *sets, uint32_t one, uint32_t other, size_t words)
{
    return b->common(kn_blocks_set(b, sets, one), kn_blocks_set(b, sets, other), words);
}

/* The rows that have both relations now, less those that had both then. */
int32_t kn_blocks_more(const kn_blocks *b, uint32_t one, uint32_t other, size_t words);

/* The rows that have a relation and a value now, less those that had them then. */
int32_t kn_blocks_more_with(const kn_blocks *b, uint32_t relation, uint32_t place, size_t words);

#endif
