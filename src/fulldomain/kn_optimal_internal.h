/* kn_optimal_internal.h: what the parts of the optimal search share. kn_optimal.c explains how they work together. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_OPTIMAL_INTERNAL_H
#define KN_OPTIMAL_INTERNAL_H

#include "kn_counter.h"
#include "kn_evaluate.h"
#include "kn_lattice.h"

/* ---- Bounds (kn_optimal_bound.c) ---- */

/* A loss is split into a part that grows from a node to those above it (`low`: the cost of generalizing) and one that
 * shrinks (`high`: the additional cost of suppressing). For u <= v <= w the loss of v is at least
 * kn_bounds_join(low(u), high(w)). Numbers are in units of 2^shift of the loss's own, rounded down; c_avg is held as
 * a fixed-point number. */
#define KN_BOUND_BAD ((uint64_t)1 << 63)     /* high: more rows are suppressed than the budget allows */
#define KN_BOUND_NOTHING ((uint64_t)1 << 62) /* joined: c_avg where no class is left to be released */

typedef struct kn_bounds {
    const kn_fulldomain_problem *problem;
    bool                         by_size; /* class sizes decide what is suppressed    */
    bool                         exact; /* equal bounds and scores are equal losses */
    int                          shift;
    uint64_t                     rows;
    uint64_t                     k;     /* least size of a released class           */
    double                       star;  /* cells: of a suppressed row, in units     */
} kn_bounds;

void     kn_bounds_make(kn_bounds *out, const kn_fulldomain_problem *problem, bool by_size);
uint64_t kn_bounds_low_of_level(const kn_bounds *b, int quasi, int level); /* cells: low is the sum of these */
/* Cells: the least that suppressing a row adds at the level; a node's gap is the sum, and high at least gap × rows that
 * are suppressed further up. 0 for other metrics. */
uint64_t kn_bounds_gap_of_level(const kn_bounds *b, int quasi, int level);
/* From a counted node: `classes` with the suppressed ones. */
uint64_t kn_bounds_low(const kn_bounds *b, const kn_node_sums *sums, int64_t classes);
uint64_t kn_bounds_high(const kn_bounds *b, const kn_node_sums *sums, kn_u128 excess);
uint64_t kn_bounds_join(const kn_bounds *b, uint64_t low, uint64_t high);
uint64_t kn_bounds_score(const kn_bounds *b, kn_quotient loss);
kn_quotient kn_bounds_loss(const kn_bounds *b, uint64_t score); /* the least loss with that score */

/* The same with guesses: what `suppressed` rows add at a node with that low if they are like all others; the join. */
double kn_bounds_guess_high(const kn_bounds *b, double low, double suppressed);
double kn_bounds_guess_join(const kn_bounds *b, double low, double high);

/* ---- What suppressed rows cost further down (kn_optimal_falls.c) ---- */

/* Cells: rows suppressed at w are suppressed at all nodes below; so a node v >= u below w loses at least what u loses if
 * all are released, and for each of those rows what a suppressed one costs more than it does at u. For each
 * quasi-identifier and level that is the fall of w there. */
typedef struct kn_falls {
    int       level_count;   /* of all quasi-identifiers                                                          */
    int      *value_offsets; /* per quasi-identifier; -1: too many values                                         */
    int       value_count;
    size_t   *starts; /* per quasi-identifier: in `gains`                                                         */
    uint64_t *gains;  /* per two levels and value: the least that suppressing a row adds at the lower level, if it has the
                         same value at the upper one                                                              */
} kn_falls;

/* Parts stay NULL where the metric or the budget has no use for falls. Must be freed even on failure. */
KN_CHECK kn_status kn_falls_make(kn_falls *out, kn_context *ctx, const kn_fulldomain_problem *problem, kn_error *err);
void               kn_falls_free(kn_falls *falls);

/* ---- The model of what counting will say (kn_optimal_model.c) ---- */

/* How many rows are suppressed at a node, guessed from one number that sums up over attributes, its feature: the
 * entropy of the column at the level, and the logarithm of its distinct cells. */
enum { KN_MODEL_GRID = 96, KN_GUESS_POINTS = 192 };

typedef struct kn_guess {
    double  rows;
    double  largest; /* feature: of the bottom                  */
    int     count, next;
    double  feature[KN_GUESS_POINTS], logit[KN_GUESS_POINTS], low[KN_GUESS_POINTS]; /* the latest counted nodes */
    double  logits[KN_MODEL_GRID + 2]; /* on a grid of features: of the guessed share of rows */
    double  low_at[KN_MODEL_GRID + 2]; /* guessed ln(low + 1), where it is not known           */
    /* What the levels of a node add to the curve: one number each, learned with their covariances. */
    int        quasi_count;
    const int *offsets; /* of a quasi-identifier's levels; the oracle's    */
    size_t     level_count;
    double    *shifts, *covariances, *gains; /* NULL: too many levels */
    double     middle; /* logit at which rows are as many as the budget */
} kn_guess;

KN_CHECK kn_status kn_guess_make(kn_guess *out, kn_context *ctx, const kn_fulldomain_problem *problem,
                                 const int *offsets, const double *features, kn_error *err);
void               kn_guess_free(kn_guess *g);

void   kn_guess_add(kn_guess *g, const int *levels, double feature, double suppressed, double low);
void   kn_guess_fit(kn_guess *g);
/* `shift`: kn_guess_shift of the node. */
double kn_guess_suppressed(const kn_guess *g, double feature, double shift);
double kn_guess_shift(const kn_guess *g, const int *levels);
double kn_guess_logit(const kn_guess *g, double feature, double shift); /* of the share of rows */
/* What is added if a quasi-identifier goes from one level to another. */
double kn_guess_shift_by(const kn_guess *g, int quasi, int from, int to);
double kn_guess_low(const kn_guess *g, double feature); /* its logarithm */

/* Per quasi-identifier and level: see kn_guess. `out` has space for the levels of all, one after the other. */
KN_CHECK kn_status kn_guess_features(double *out, kn_context *ctx, const kn_fulldomain_problem *problem, kn_error *err);

/* ---- Counting nodes, whatever is asked of them (kn_optimal_oracle.c) ---- */

/* The result of counting a node. */
typedef struct kn_outcome {
    uint32_t     node;   /* numbers and packed levels are the caller's */
    uint64_t     packed;
    bool         judged; /* are `good` and, if it is bad, high exact?            */
    bool         good;
    uint64_t     low, high;
    uint64_t     lost; /* rows that every node below suppresses too */
    kn_node_sums sums;
    const uint64_t *falls; /* by the oracle's offsets; NULL: not known. Valid until the next nodes are counted */
} kn_outcome;

typedef struct kn_oracle {
    kn_context                  *ctx;
    const kn_fulldomain_problem *problem;
    kn_fulldomain_counters      *counters;
    int                          quasi_count;
    bool                         monotone;    /* good is upward closed                            */
    bool                         exact_sizes; /* the counter suffices                             */
    kn_bounds                    bounds;
    kn_counter                  *counter;     /* NULL: not possible                                 */
    kn_evaluator                *evaluator; /* NULL: not needed                                   */
    kn_classes                  *finest;    /* of the evaluator                                   */
    int                         *offsets;   /* of a quasi-identifier's levels in the next three   */
    double                      *features;
    uint64_t                    *lows; /* cells: low of a level                                   */
    uint64_t                    *gaps; /* the same: gap                                           */
    kn_falls                     falls;
    uint64_t                    *fallen; /* of the latest outcomes                                */
    uint32_t                    *lost;   /* scratch, the same                                     */
} kn_oracle;

/* Counts the table. Must be freed even on failure. */
KN_CHECK kn_status kn_oracle_make(kn_oracle *out, kn_context *ctx, const kn_fulldomain_problem *problem,
                                  kn_fulldomain_counters *counters, kn_error *err);
void               kn_oracle_free(kn_oracle *oracle);

/* The falls of a counted node that suppresses so many rows (kn_optimal_falls.c), by offsets, 0 above its levels.
 * `lost`: kn_counter_job. */
void kn_falls_of(const kn_oracle *oracle, const int *levels, uint64_t rows, const uint32_t *lost, uint64_t *out);

/* Can judging a node that sizes alone did not rule out be skipped? `low` is the node's. */
typedef bool (*kn_oracle_skip)(const void *arg, const kn_outcome *outcome, uint64_t low);

enum { KN_ORACLE_MOST = 16 };

/* Counts up to KN_ORACLE_MOST nodes in parallel: `levels` one after the other. Fills in all but node and packed. */
KN_CHECK kn_status kn_oracle_count(kn_oracle *oracle, const int *levels, kn_outcome *outcomes, int count,
                                   kn_oracle_skip skip, const void *arg, kn_error *err);

/* Sums over the levels of a node; `of_levels`: lows or gaps. */
static inline uint64_t kn_oracle_sum(const kn_oracle *o, const uint64_t *of_levels, const int *levels)
{
    uint64_t sum = 0;
    for (int q = 0; q < o->quasi_count; q++) sum += of_levels[o->offsets[q] + levels[q]];
    return sum;
}

static inline double kn_oracle_feature(const kn_oracle *o, const int *levels)
{
    double feature = 0;
    for (int q = 0; q < o->quasi_count; q++) feature += o->features[o->offsets[q] + levels[q]];
    return feature;
}

/* ---- The search ---- */

/* A node that may still be the best. */
typedef struct kn_optimal_item {
    uint64_t packed; /* its levels, a field with a spare bit above it each */
    uint64_t low, high, gap;
    uint64_t lost; /* rows that it suppresses at least */
    uint32_t node;
    float    feature;
} kn_optimal_item;

enum { KN_BATCH = 8 };

typedef struct kn_optimal {
    kn_context                  *ctx;
    const kn_fulldomain_problem *problem;
    kn_fulldomain_result        *result;
    int                          quasi_count;
    kn_lattice                   lattice;
    kn_oracle                    oracle;
    kn_guess                     guess;
    int                         *shifts; /* of the fields in packed levels                                */
    uint64_t                     spare;  /* the bits above the fields                                     */
    kn_optimal_item              *items;
    int64_t                      item_count;
    uint8_t                     *taken;   /* per item, scratch                                            */
    uint64_t                    *counted; /* bits: nodes                                                  */
    double                       caution; /* predictions must be exceeded by this share                   */
    int64_t                      turn;
    bool                         found;
    uint32_t                     best_node;
    kn_quotient                  best_loss;
    uint64_t                     best_score;
    kn_node_sums                 best_sums;
    double                       deadline; /* seconds of the monotonic clock; 0: none                     */
    kn_outcome                  *noted;    /* all solutions: what was counted so far                      */
    size_t                       noted_count, noted_room;
    uint8_t                     *states;   /* the same, second half: KN_STATE_...; else NULL              */
    int                         *levels;   /* scratch: KN_BATCH nodes                                     */
} kn_optimal;

/* Is every level of `low` at most that of `high`? */
static inline bool kn_packed_below(const kn_optimal *s, uint64_t low, uint64_t high)
{
    return (((high | s->spare) - low) & s->spare) == s->spare;
}

static inline uint64_t kn_packed_of(const kn_optimal *s, const int *levels)
{
    uint64_t packed = 0;
    for (int q = 0; q < s->quasi_count; q++) packed |= (uint64_t)levels[q] << s->shifts[q];
    return packed;
}

static inline int kn_packed_level(const kn_optimal *s, uint64_t packed, int quasi)
{
    uint64_t rest = packed >> s->shifts[quasi];
    return (int)(quasi == 0 ? rest : rest & (((uint64_t)1 << (s->shifts[quasi - 1] - s->shifts[quasi])) - 1));
}

/* All nodes become items (kn_optimal_items.c). */
KN_CHECK kn_status kn_optimal_items(kn_optimal *s, kn_error *err);

/* Counts nodes: `outcomes` has space for them (kn_optimal.c). At most KN_BATCH. */
KN_CHECK kn_status kn_optimal_count(kn_optimal *s, const uint32_t *nodes, kn_outcome *outcomes, int count,
                                    kn_error *err);

/* Raises the bounds of the items; those that cannot be the best leave. */
KN_CHECK kn_status kn_optimal_apply(kn_optimal *s, const kn_outcome *outcomes, int count, kn_error *err);

/* All solutions (kn_optimal_all.c): remembers outcomes; after the search, learns of every node whether it is good and
 * fills in the result's solutions and `good`. Past the time limit: complete becomes false, and there are no solutions. */
KN_CHECK kn_status kn_optimal_note(kn_optimal *s, const kn_outcome *outcomes, int count, kn_error *err);
KN_CHECK kn_status kn_optimal_all(kn_optimal *s, kn_error *err);
bool               kn_optimal_late(const kn_optimal *s);

/* Is it certain that the node is not the best? `lost`: rows that it suppresses at least. */
bool kn_optimal_dead(const kn_optimal *s, uint32_t node, uint64_t low, uint64_t high, uint64_t lost);

/* Chooses up to KN_BATCH nodes that have not been counted; at least one while there are items. `taken` has space for
 * all of these (kn_optimal_pick.c). The other one: up to `room` >= 2 nodes to start with, including the top. */
int kn_optimal_pick(kn_optimal *s, uint8_t *taken, uint32_t *nodes);
int kn_optimal_first_picks(kn_optimal *s, uint32_t *nodes, int room);

#endif
