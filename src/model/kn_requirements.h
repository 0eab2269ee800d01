/* kn_requirements.h: all the promises of a release together, compiled for one table: what a class must satisfy.
 *
 * A method describes a class by numbers (kn_class_view) and asks whether it may be released. Promises about the whole
 * table (average risk) are checked once over the classes that may. Requirements never change once made; any thread
 * may use them, each with its own scratch.
 *
 * With an entity a class's size is its number of persons, and a histogram's count is the number of distinct persons
 * who have the value in the class; its `rows` is the sum of these counts, more than the persons where somebody has
 * several values. Shares are of that sum, in class and reference alike, except alpha's: the share of the class's
 * persons who have the value. Rows whose entity is missing are one person (as in kn_freq_distinct).
 *
 * Where the rows of a person stay linked, a class is a position of kn_linked.h: its persons are those who show the
 * same with all their rows, its histograms have one count per person. The classes of the whole table (average risk)
 * are then the signatures. Models that compare classes with the whole table or a population are refused.
 *
 * With delta-presence and min > 0 the people of a class of the population without a row in the release are known to
 * be absent, which min forbids. So a class of 0 rows fails (absent_fails), no suppression helps, and a class with
 * rows that is suppressed becomes such a class: a node with a class that fails is then bad, for any budget. In
 * all other cases a class of 0 rows holds.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_REQUIREMENTS_H
#define KN_REQUIREMENTS_H

#include "kn_arena.h"
#include "kn_model.h"

typedef struct kn_requirements_options {
    const kn_model            *models;
    int                        model_count;
    int                        entity;      /* column of the table; -1: one row per person                             */
    const kn_hierarchy *const *hierarchies; /* one per column of the table (NULL where none): of sensitive columns, for
                                               the hierarchical distance; the array itself may be NULL                 */
    bool                       linked;      /* with an entity: the rows of a person stay linked, see above             */
} kn_requirements_options;

typedef struct kn_requirements {
    kn_context   *ctx;
    kn_arena      arena;        /* of the arrays below                                                       */
    int           model_count;  /* that look at one class                                                    */
    kn_model     *models;       /* the cheapest first; their attribute texts are borrowed                    */
    int          *asked;        /* per model: which of the options' models it is                             */
    int          *sensitive_of; /* per model: index into `sensitive`; -1: it uses sizes alone                */
    int           covered;      /* models[0 .. covered - 1] say no more than k, distinct and k_map           */
    int64_t       k;            /* the largest size that any of them asks of every class (k, alpha-k, max-risk as
                                   ⌈1/r⌉), in persons; at least 1                                            */
    bool          k_only;       /* `k` and a class's rows say it all: no entity, no other kind of promise    */
    int           sensitive_count;
    int          *sensitive;    /* columns of the table                                                      */
    int64_t      *distinct;     /* per sensitive column: the different values that a class must have for any of the
                                   models to be able to hold; at least 1                                     */
    kn_reference *references;   /* per sensitive column: of the whole table (persons where there is an entity) */
    int64_t       rows;         /* of the table                                                              */
    int64_t       persons;      /* of the table; = rows without an entity                                    */
    int           entity;
    bool          linked;
    bool          population;   /* some model looks at the population                                        */
    bool          absent_fails; /* delta-presence with min > 0: see above                                    */
    int64_t       k_map;        /* people of the population that every class needs; 0: any number            */
    bool          has_average;  /* average risk: classes / persons <= average                                */
    kn_ratio      average;
} kn_requirements;

/* A class in the form that the requirements use. */
typedef struct kn_class_view {
    int64_t             rows;
    int64_t             persons;    /* = rows without an entity                                              */
    int64_t             population; /* in units of kn_population_set.unit; only looked at where `population` */
    int64_t             population_unit;
    const kn_histogram *histograms; /* one per sensitive column; may be NULL where sensitive_count is 0      */
} kn_class_view;

/* KN_USAGE: parameters that make no sense, a model that is not possible for linked rows, a hierarchical distance
 * without a hierarchy that is bound to the column. KN_INPUT: a column that does not exist, an empty table, a sensitive
 * column with the same value in all rows (missing cells are a value too), l greater than its number of values. */
KN_CHECK kn_status kn_requirements_make(kn_requirements **out, kn_context *ctx, const kn_table *table,
                                        const kn_requirements_options *options, kn_error *err);
void               kn_requirements_free(kn_requirements *requirements);

typedef struct kn_requirements_scratch {
    kn_scratch *per_sensitive;
    int         count;
} kn_requirements_scratch;

KN_CHECK kn_status kn_requirements_scratch_make(kn_requirements_scratch *out, const kn_requirements *requirements,
                                                kn_error *err);
void               kn_requirements_scratch_free(kn_requirements_scratch *scratch);

/* May this class be released? (sizes first: most classes that fail, fail there) */
bool kn_requirements_hold(const kn_requirements *requirements, const kn_class_view *view,
                          kn_requirements_scratch *scratch);

/* One of the models alone, for reports: does this class (of at least one row) satisfy it, and what does it reach (see
 * kn_model_verdict; delta-presence: the share that is present)? `scratch` may be NULL for those that look at sizes. */
bool   kn_requirements_holds_one(const kn_requirements *requirements, int model, const kn_class_view *view,
                                 kn_requirements_scratch *scratch);
double kn_requirements_reached(const kn_requirements *requirements, int model, const kn_class_view *view,
                               kn_requirements_scratch *scratch);

/* ⌈1 / risk⌉: the smallest size whose risk is no greater. */
int64_t kn_size_for_risk(kn_ratio risk);

/* The part that is always upward closed: sizes, distinct values (those that other models imply too) and k-map. A node
 * that fails it fails, and so do all below it. True whenever kn_requirements_hold is. */
bool kn_requirements_hold_monotone_part(const kn_requirements *requirements, const kn_class_view *view);

/* Is "the rows of classes that fail are within the budget" upward closed in the lattice, and good for a set of
 * attributes only if good for its subsets (docs/errata.md 3)? With suppression true of sizes, distinct l, k-map and
 * average risk alone. Without suppression of every model where counts add up when classes merge; with an entity they
 * do not (one person may be in both), so that again only those, and delta-presence with min = 0, are; where rows stay
 * linked, sizes alone. Not covered: if the suppressed rows must satisfy the models themselves it is never so. */
bool kn_requirements_monotone(const kn_requirements *requirements, bool suppressing);

/* Average risk: which classes must go beside those that fail, given the sizes (persons) of those that hold: all
 * smaller than `size`, and `count` of that size. Suppressing a smaller class is better in both respects: it leaves
 * more persons and reduces the risk more. So of all ways to reach classes / persons <= average this one suppresses
 * the fewest persons. `size` is INT64_MAX where none may stay.
 *
 * `together`: what goes, and `outside` persons of classes that fail, is released as one class more, if there is
 * anything: then (classes that stay + 1) / all persons <= average; if that is out of reach, none may stay. `sizes` is
 * reordered. O(count) expected, O(64 × count) at worst. */
typedef struct kn_average_cut {
    int64_t size, count;
} kn_average_cut;

kn_average_cut kn_requirements_average_cut(const kn_requirements *requirements, int64_t *sizes, int64_t count);
kn_average_cut kn_requirements_average_cut_together(const kn_requirements *requirements, int64_t *sizes, int64_t count,
                                                    int64_t outside);

/* Can anything but an empty release hold? KN_UNMET with the reason if not: even the one class of all rows fails.
 *
 * The argument: if a class that contains a good one is good (sizes, distinct values, k-map, average risk), and the
 * class of all rows is not, no class is: true whatever is suppressed. If two good classes together are good (the
 * other models, without an entity), and the class of all rows is not, no way to cut the table into good classes
 * exists: true only without suppression, since what makes the table too uneven may be suppressed. KN_OK promises
 * nothing.
 *
 * `suppressing` is false where no row may be suppressed; `population` is NULL where there is none (k-map and
 * delta-presence are then not looked at). */
typedef struct kn_population_set kn_population_set;
KN_CHECK kn_status kn_requirements_feasible(const kn_requirements *requirements, const kn_table *table,
                                            const kn_population_set *population, bool suppressing, kn_error *err);

/* ---- The population (k-map, delta-presence) ---- */

/* Everybody the table may be about, as leaves of the quasi-identifiers' hierarchies: distinct combinations, ascending,
 * with counts. With weights instead of a population table the rows of the table stand for `weight` people each.
 *
 * Where it comes from the hierarchies' own people (kn_hierarchy_people) of several quasi-identifiers, it is not known who has
 * which combination: `apart`. There are no combinations then, and a class has the fewest people that it can have,
 * kn_population_both of all its nodes' people. */
struct kn_population_set {
    kn_context *ctx;
    int         quasi_count;
    int64_t     unit;   /* a count of `unit` is one person: 1, or the power of ten up to 10^6 that weights need      */
    int64_t     count;  /* combinations                                                                             */
    uint32_t   *leaves; /* count × quasi_count: leaf numbers of the hierarchies, `leaves` for a missing cell        */
    int64_t    *counts; /* in units                                                                                 */
    int64_t     total;  /* everybody, in units                                                                      */
    bool        apart;
};

/* Of `total` people `some` have one thing and `others` another: how many have both at least (Fréchet's lower bound). */
static inline int64_t kn_population_both(int64_t some, int64_t others, int64_t total)
{
    return some > total - others ? some - (total - others) : 0;
}

/* One row of `population` is one person. `columns`: of the population table, one per quasi-identifier; `leaf_of_code`: the leaf of
 * each code of these (kn_hierarchy_make_over), `values + 1` of them each. */
KN_CHECK kn_status kn_population_set_of_leaves(kn_population_set **out, kn_context *ctx, const kn_table *population,
                                               const int *columns, const kn_hierarchy *const *hierarchies,
                                               const uint32_t *const *leaf_of_code, int quasi_count, kn_error *err);

/* `weight`: a column of numbers >= 0 of the table, exact to six decimals; further ones are cut off, so that a sum
 * never claims more people than the weights do. A missing or negative weight is KN_INPUT with its row. Where a person
 * has several rows, each row carries its part of the person's weight. */
KN_CHECK kn_status kn_population_set_of_weights(kn_population_set **out, kn_context *ctx, const kn_table *table,
                                                const int *columns, const kn_hierarchy *const *hierarchies,
                                                int quasi_count, int weight, kn_error *err);
/* The people that the hierarchies carry, all of them. KN_INPUT if they are not equally many. `names`: of the quasi-identifiers. */
KN_CHECK kn_status kn_population_set_of_hierarchies(kn_population_set **out, kn_context *ctx,
                                                    const kn_hierarchy *const *hierarchies, const char *const *names,
                                                    int quasi_count, kn_error *err);
void               kn_population_set_free(kn_population_set *population); /* NULL is fine */

#endif
