/* kn_requirements.h: all the promises of a release together, compiled for one table: what a class must satisfy.
 *
 * A method shows a class as numbers (kn_class_view) and asks whether it may be released. Promises about the whole table
 * (average risk) are asked once over the classes that may. Requirements never change once made; any thread may ask, each
 * with a scratch of its own.
 *
 * With an entity a class's size is its number of persons, and a histogram's count is the number of distinct persons who
 * have the value in the class.
 */
#ifndef KN_REQUIREMENTS_H
#define KN_REQUIREMENTS_H

#include "kn_model.h"

typedef struct kn_requirements_options {
    const kn_model            *models;
    int                        model_count;
    int                        entity;      /* column of the table; -1: one row per person                             */
    const kn_hierarchy *const *hierarchies; /* one per column of the table (NULL where none): of sensitive columns, for
                                               the hierarchical distance; the array itself may be NULL                 */
} kn_requirements_options;

typedef struct kn_requirements {
    kn_context   *ctx;
    int           model_count; /* that look at one class                                                    */
    kn_model     *models;      /* their attribute texts are borrowed                                        */
    int          *sensitive_of; /* per model: index into `sensitive`; -1: it looks at the size alone        */
    int64_t       k;           /* the largest size that any of them asks of every class (k, alpha-k, max-risk as ⌈1/r⌉);
                                  at least 1                                                                */
    bool          k_only;      /* `k` says it all                                                           */
    int           sensitive_count;
    int          *sensitive;   /* columns of the table                                                      */
    kn_reference *references;  /* per sensitive column: of the whole table (persons where there is an entity) */
    int           entity;
    bool          population;  /* some model looks at the population                                        */
    bool          has_average; /* average risk: classes / persons <= average                                */
    kn_ratio      average;
} kn_requirements;

/* A class as the requirements see it. */
typedef struct kn_class_view {
    int64_t             rows;
    int64_t             persons;    /* = rows without an entity                                              */
    int64_t             population; /* in units of kn_population.unit; only looked at where `population`     */
    int64_t             population_unit;
    const kn_histogram *histograms; /* one per sensitive column; may be NULL where sensitive_count is 0      */
} kn_class_view;

/* KN_USAGE or KN_INPUT: a column that is not there, l greater than the sensitive column's distinct values, ... */
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

/* Is "the rows of classes that fail are within the budget" upward closed in the lattice, and good for a set of attributes
 * only if good for its subsets (ERRATA 3)? True without suppression for all class models, with suppression for sizes and
 * distinct l only; never with a table-level model or where the suppressed rows must satisfy the models themselves. */
bool kn_requirements_monotone(const kn_requirements *requirements, bool suppressing);

/* The part that is always upward closed: sizes and distinct l. A node that fails it fails, and so do all below it. */
bool kn_requirements_hold_monotone_part(const kn_requirements *requirements, const kn_class_view *view);

/* Average risk: which classes must go beside those that fail, given the sizes (persons) of those that hold. The smallest
 * go first, all of one size together, until classes / persons <= average. Returns the largest size that goes (0: none);
 * a size greater than the largest class: none may stay. `sizes` is reordered. */
int64_t kn_requirements_average_cut(const kn_requirements *requirements, int64_t *sizes, int64_t count);

/* ---- The population (k-map, delta-presence) ---- */

/* Everybody the table may be about, as leaves of the quasi-identifiers' hierarchies: distinct combinations with counts.
 * With weights instead of a population table the rows of the table stand for `weight` people each. */
typedef struct kn_population_set {
    kn_context *ctx;
    int         quasi_count;
    int64_t     unit;   /* a count of `unit` is one person (1, or 2^20 where weights are not whole)             */
    int64_t     count;  /* combinations                                                                         */
    uint32_t   *leaves; /* count × quasi_count: leaf numbers of the hierarchies, `leaves` for a missing cell    */
    int64_t    *counts; /* in units                                                                             */
} kn_population_set;

/* `columns`: of the population table, one per quasi-identifier, with the same names. A value without a leaf is KN_INPUT
 * (the hierarchies are made over both tables, see kn_column_union). */
KN_CHECK kn_status kn_population_set_of_table(kn_population_set **out, kn_context *ctx, const kn_table *population,
                                              const int *columns, const kn_hierarchy *const *hierarchies, int quasi_count,
                                              char decimal, kn_error *err);
KN_CHECK kn_status kn_population_set_of_weights(kn_population_set **out, kn_context *ctx, const kn_table *table,
                                                const int *columns, const kn_hierarchy *const *hierarchies,
                                                int quasi_count, int weight, kn_error *err);
void               kn_population_set_free(kn_population_set *population);

#endif
