/* kn_blocks.h: some thousand rows side by side: for each value of the cut and for each relation the set of the rows that have it,
 * as bits. What a combination adds to its support is then what two sets have in common. A row of weight w is there w times.
 *
 * Relations may be told apart in two ways, as they stand and as they were: `now` and `then`.
 */
#ifndef KN_BLOCKS_H
#define KN_BLOCKS_H

#include "kn_bitset.h"
#include "kn_cut_state.h"

typedef struct kn_blocks kn_blocks;

struct kn_blocks {
    kn_candidate       *c;
    kn_bitset_common_fn common;

    /* Relations: numbered as they are found; places of the cut are their ends. */
    uint32_t  relations;
    uint32_t *relation_of;   /* per pair of places: its number + 1; 0: none                               */
    uint32_t *ends;          /* per relation two places: above, below                                     */
    uint32_t *neighbours;    /* per place where its list begins, one more, and two for each relation's end */
    uint32_t *of_node[2];    /* per node `stride` numbers: how many relations, and which: now, then; then where its sets are */
    bool     *differs, *present; /* per relation, in the block at hand: now is not then; one of them is not empty */

    /* The block at hand. */
    size_t    words, used; /* per set; rows so far */
    uint64_t *sets;        /* all of them          */
    uint64_t *values, *now, *then; /* `then`: NULL where it is not told apart; it need not be less than `now` */
    void (*count)(kn_blocks *b, size_t words); /* counts what is in it */

    size_t relation_of_capacity, ends_capacity, neighbours_capacity, of_node_capacity[2], differs_capacity, sets_capacity;
};

void kn_blocks_free(kn_blocks *b); /* what is in it */

/* Forgets all relations. */
KN_CHECK kn_status kn_blocks_clear(kn_blocks *b, kn_candidate *c, kn_error *err);

/* Which relations each node gives, from its path: way 0 now, 1 then. `old_only`: none of a new or the specialized value; the
 * path of a new node is then that of the node it was part of. */
KN_CHECK kn_status kn_blocks_relate(kn_blocks *b, int way, const uint32_t *paths, bool old_only, kn_error *err);

/* The first block, for about so many rows. */
KN_CHECK kn_status kn_blocks_begin(kn_blocks *b, size_t rows, bool two, void (*count)(kn_blocks *, size_t), kn_error *err);

/* Puts a row in; counts the block where it is full. */
void kn_blocks_put(kn_blocks *b, const uint32_t *nodes, uint32_t size, int32_t weight);

/* Counts the last one. */
void kn_blocks_end(kn_blocks *b);

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
