/* kanon/risk.h: how likely it is that somebody is found in a table, and what makes a row stand out.
 *
 * docs/risk.md explains each figure, with formulas and sources. A figure that cannot be given is NaN, never a guess;
 * a status next to it says why.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_RISK_H
#define KANON_RISK_H

#include <kanon/diagnose.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Re-identification risk ---- */

typedef struct kn_risk_options {
    size_t             size;  /* sizeof(kn_risk_options), set by the initializer                        */
    const char *const *quasi; /* the attribute set S: column names                                      */
    int                quasi_count;
    const char        *entity;  /* column that says whose row it is; NULL: one row each. Only for the
                                   prosecutor: not with population, sampling or weight                  */
    kn_missing         missing; /* KN_MISSING_VALUE or KN_MISSING_DROP                                  */
    kn_fraction        threshold;  /* a record is at risk when its risk is greater than this            */
    const kn_table    *population; /* everybody the table may be about, with columns of S's names; or NULL */
    bool               sampled;    /* is the table a random sample, of this share of the population?    */
    kn_fraction        sampling;   /* greater than 0                                                    */
    const char        *weight;     /* column of sampling weights, all greater than 0; or NULL           */
} kn_risk_options;

#define KN_RISK_OPTIONS_INIT                                                                                           \
    {sizeof(kn_risk_options), NULL, 0, NULL, KN_MISSING_VALUE, {1, 5}, NULL, false, {0, 1}, NULL}
KN_API void kn_risk_options_init(kn_risk_options *options, size_t size);

/* The risk of each record, summed up. Without records: zeros. */
typedef struct kn_risk_summary {
    double  highest;
    double  average;
    double  expected;      /* sum of the risks: records expected to be found          */
    int64_t at_risk;       /* records whose risk is greater than the threshold         */
    double  at_risk_share; /* of the records                                           */
} kn_risk_summary;

typedef enum kn_uniques_model {
    KN_UNIQUES_ZAYATZ = 0, /* Zayatz (1991)                          */
    KN_UNIQUES_PITMAN      /* Pitman (1996), Hoshino (2001)          */
} kn_uniques_model;

KN_API const char *kn_uniques_model_name(kn_uniques_model model); /* "zayatz", "pitman" */

typedef enum kn_estimate_status {
    KN_ESTIMATE_OK = 0,
    KN_ESTIMATE_NO_UNIQUES, /* no sample unique: taken as 0                                             */
    KN_ESTIMATE_CENSUS,     /* the sampling fraction is 1: counted, not estimated                       */
    KN_ESTIMATE_NO_MAXIMUM, /* the likelihood has none (all records unique, or all in one class): NaN   */
    KN_ESTIMATE_DIVERGED    /* the search for it did not converge: NaN                                  */
} kn_estimate_status;

KN_API const char *kn_estimate_status_text(kn_estimate_status status); /* a few words; static */

/* An estimate of how many records of the population are unique in it. */
typedef struct kn_uniques_estimate {
    kn_uniques_model   model;
    kn_estimate_status status;
    double             uniques;      /* of the population; NaN where there is no estimate                */
    double             share;        /* of the population                                                */
    double             theta, alpha; /* Pitman's parameters; NaN otherwise                               */
} kn_uniques_estimate;

typedef struct kn_risk {
    int64_t rows;         /* of the table                                                                */
    int64_t missing_rows; /* with a missing quasi-identifier                                             */
    int64_t dropped;      /* of these, set aside                                                         */
    int64_t records;      /* what risk is measured for: rows looked at, or persons with an entity        */
    int64_t classes;
    int64_t sample_uniques; /* records alone in their class                                              */

    kn_risk_summary prosecutor; /* knows that the person is in the table                                 */
    kn_risk_summary journalist; /* does not; with a population                                           */
    double          marketer;   /* share of records expected to be found: by the population where there is one */

    bool    has_population;
    int64_t population_rows;    /* looked at                                                             */
    int64_t population_dropped; /* set aside for a missing cell                                          */
    int64_t population_classes;
    int64_t population_uniques; /* rows alone in their class                                             */
    int64_t shared_uniques;     /* sample uniques that are alone in the population too                   */
    int64_t absent_rows;        /* rows whose class does not occur in the population                     */
    int64_t exceeding_rows;     /* rows of classes that occur there, but with fewer rows                 */

    bool                sampled;
    int64_t             population_size; /* records / sampling fraction, rounded                         */
    kn_uniques_estimate estimates[2];    /* in the order of kn_uniques_model                             */
    kn_uniques_model    recommended;     /* the one to believe at this sampling fraction                 */
    double              intrusion;       /* Skinner and Elliot's DIS: a unique match is correct with this
                                            probability; NaN without records in classes of 1 or 2        */

    bool            weighted;
    double          weight_sum; /* estimated size of the population                                      */
    kn_risk_summary individual; /* Benedetti and Franconi                                                */

    kn_fraction threshold; /* of the options                                                             */
} kn_risk;

/* Measures the risk of a table with respect to S. Summaries that were not asked for are all zeros; `marketer` is then
 * the prosecutor's average. KN_USAGE: an empty S, a column named twice, options that exclude each other, a fraction
 * that makes no sense; KN_INPUT: an unknown column in the table or the population, a weight that is no positive
 * number. */
KN_API KN_CHECK kn_status kn_risk_measure(kn_risk **out, kn_context *ctx, const kn_table *table,
                                          const kn_risk_options *options, kn_error *err);
KN_API void               kn_risk_free(kn_risk *risk);

/* ---- Special uniques ---- */

typedef struct kn_suda_options {
    size_t             size;  /* sizeof(kn_suda_options), set by the initializer                          */
    const char *const *quasi; /* column names                                                             */
    int                quasi_count;
    kn_missing         missing;  /* KN_MISSING_VALUE or KN_MISSING_DROP                                   */
    int                max_size; /* examine sets of at most this many columns; 0: all sizes up to ten columns, 3 above */
    bool               row_columns; /* also what each column adds to each row                             */
} kn_suda_options;

#define KN_SUDA_OPTIONS_INIT {sizeof(kn_suda_options), NULL, 0, KN_MISSING_VALUE, 0, false}
KN_API void kn_suda_options_init(kn_suda_options *options, size_t size);

/* A row with at least one minimal sample unique (MSU): a set of columns on which it differs from every other row, while
 * on each proper subset it does not. */
typedef struct kn_special_row {
    int64_t row; /* of the input, from 0 */
    double  score;
    int64_t msus;
    int     smallest; /* columns in its smallest MSU */
} kn_special_row;

typedef struct kn_suda {
    int64_t         rows;    /* that the table holds                                                       */
    int64_t         dropped; /* set aside for a missing cell                                               */
    int64_t         unique_rows; /* on all columns together                                                */
    int             columns;
    int             max_size; /* that was used                                                             */
    bool            partial;  /* larger MSUs may exist                                                     */
    int64_t         msus;
    int64_t        *msus_by_size; /* [0 .. max_size]                                                       */
    double         *points;       /* what an MSU of that size adds to a score; [0 .. max_size]             */
    double          total;        /* of all scores                                                         */
    double         *scores;       /* one per row of the table; 0: not special                              */
    int64_t        *column_msus;  /* per column, in the order given: MSUs with it                          */
    double         *column_share; /* of `total` that comes from MSUs with the column; adds up to more than 1,
                                     since an MSU of two columns counts for both                           */
    int64_t         special_count;
    kn_special_row *special;     /* ascending rows                                                         */
    double         *row_columns; /* special_count × columns: the column's share of that row's score; or NULL */
} kn_suda;

/* Finds all minimal sample uniques of at most max_size columns. Every figure is exact and the same on any number of
 * threads. KN_USAGE: no columns, one named twice, max_size < 0, wildcards; KN_INPUT: an unknown column. */
KN_API KN_CHECK kn_status kn_suda_search(kn_suda **out, kn_context *ctx, const kn_table *table,
                                         const kn_suda_options *options, kn_error *err);
KN_API void               kn_suda_free(kn_suda *suda);

#ifdef __cplusplus
}
#endif

#endif
