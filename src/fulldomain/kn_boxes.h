/* kn_boxes.h: the best node of any lattice by branch and bound over boxes: memory does not grow with its nodes.
 *
 * A box is all nodes between two: `low` <= v <= `high`. Counted nodes are records: each says of all nodes below it that
 * they are bad, or lose at least so much (kn_optimal_bound.c). A node that may be the best is therefore above each such
 * record in at least one attribute. kn_boxes.c has the search, kn_boxes_records.c what the records say of a box,
 * kn_boxes_pick.c what is counted next. One thread at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_BOXES_H
#define KN_BOXES_H

#include "kn_optimal_internal.h"

enum { KN_BOX_LEVEL_MOST = UINT16_MAX - 1, KN_BOX_CLAUSES = 96 };

typedef uint16_t kn_box_level;

typedef struct kn_box_record {
    uint64_t low, high, lost; /* as in kn_outcome; high is at least lost × gap of its levels */
    int64_t  falls;           /* kn_outcome's: which of the boxes' `falls`; -1: none         */
} kn_box_record;

/* The boxes of a region that are not decided. */
typedef struct kn_region kn_region;

/* Counts nodes (at most KN_BATCH, `levels` one after the other) and tells kn_boxes_learn of each, in this order. */
typedef kn_status (*kn_boxes_count)(void *arg, const int *levels, int count, kn_error *err);
/* Is it time to stop? */
typedef bool (*kn_boxes_over)(const void *arg);

typedef struct kn_boxes {
    kn_context      *ctx;
    const kn_oracle *oracle;
    const kn_guess  *guess;
    const int       *heights;
    int              quasi_count;
    bool             by_height; /* instead of the loss: the lowest good node, of these the lexicographically first */
    bool             cells;     /* low is the sum of `lows`                                                          */
    const uint64_t  *lows, *gaps; /* by oracle->offsets                                                              */
    uint64_t        *own_lows;  /* by height                                                                         */
    kn_boxes_count   count; /* these three are the caller's to set */
    kn_boxes_over    over;
    void            *arg;
    /* Records. */
    int64_t        record_count;
    size_t         room; /* words of 64 records */
    uint64_t      *at_least; /* per attribute and level: which records have at least that level */
    uint64_t      *bad;
    kn_box_level       *record_levels;
    kn_box_record *records;
    uint64_t      *falls; /* level_count each */
    size_t         fall_count, fall_room, level_count;
    uint64_t      *unmet; /* scratch: a word of records each */
    /* The best one. */
    bool        found;
    uint64_t    score;
    int64_t     suppressed;
    kn_quotient loss;
    int64_t     classes;
    int        *best;
    /* Guesses. */
    double  caution;
    const int64_t *reach; /* by oracle->offsets: open boxes of the region whose highest node has that level */
    double        *gains;      /* by oracle->offsets: what a step up from that level adds to what is ruled out         */
    const kn_box_level *sample; /* some of the open boxes of the region: the lowest node and the highest of each */
    int            sample_count;
    double        *weights; /* scratch: one per attribute */
    int64_t visits; /* of boxes */
    int     *levels; /* scratch: KN_BATCH nodes and two more */
} kn_boxes;

/* The oracle, the guesses and the heights are borrowed; guesses change while it works. KN_USAGE: a hierarchy with too
 * many levels. Must be freed even on failure. */
KN_CHECK kn_status kn_boxes_make(kn_boxes *out, kn_context *ctx, const kn_oracle *oracle, const kn_guess *guess,
                                 const int *heights, bool by_height, kn_error *err);
void               kn_boxes_free(kn_boxes *boxes); /* its parts, not the struct; a zero one is fine */

/* A node was counted, by whomever. */
KN_CHECK kn_status kn_boxes_learn(kn_boxes *boxes, const int *levels, const kn_outcome *outcome, kn_error *err);

/* All nodes between two. */
KN_CHECK kn_status kn_region_make(kn_region **out, kn_boxes *boxes, const int *low, const int *high, kn_error *err);
void               kn_region_free(kn_region *region); /* NULL is fine */

/* Goes on until everything is decided (*done), until about `work` classes have been gone through (0: any number; a visited
 * box counts as some), or until it is over. */
KN_CHECK kn_status kn_region_search(kn_region *region, int64_t work, bool *done, kn_error *err);

/* No node of the region that is not decided has a smaller score (kn_bounds_score, or its height). */
uint64_t kn_region_bound(const kn_region *region);

/* ---- What the parts share ---- */

/* A box while it is looked at. */
typedef struct kn_box {
    kn_box_level *low, *high;
    uint64_t bound;
    uint64_t low_loss, high_loss; /* of low; of records above high                    */
    uint64_t gap, low_gap;        /* of high and of low                               */
    uint64_t lost;
    uint64_t fall;   /* the most that suppressed rows of a record above high cost more than released, at low */
    int64_t  fallen; /* that record's `falls`; -1: it does not follow from them                              */
    int64_t  clause; /* a record that only nodes of the box that are above it in one of these attributes escape; -1: none */
    uint64_t open;   /* the attributes, as bits (modulo 64)                                                             */
} kn_box;

/* Makes the box as small as the records allow. Returns false if it is decided. */
bool kn_box_tighten(kn_boxes *boxes, kn_box *box);

bool     kn_box_counted(const kn_boxes *boxes, const int *levels);
uint64_t kn_box_join(const kn_boxes *boxes, uint64_t low, uint64_t high);

/* What the suppressed rows of a record add at least to what is lost at `low` and above, below the record. */
uint64_t kn_box_fall(const kn_boxes *boxes, const kn_box_record *record, const kn_box_level *low, uint64_t gap);

/* What nodes of the box lose at least where one quasi-identifier has at least that level. */
uint64_t kn_box_bound_at(const kn_boxes *boxes, const kn_box *box, int quasi, int level);

/* Before a batch: the gains, of b->reach. */
void kn_boxes_weigh(kn_boxes *boxes);

/* The node to be counted for a box: false: none, it should be parted. */
bool kn_box_pick(kn_boxes *boxes, const kn_box *box, int *levels);

static inline const uint64_t *kn_box_at_least(const kn_boxes *b, int q, int level)
{
    return b->at_least + (size_t)(b->oracle->offsets[q] + level) * b->room;
}

#endif
