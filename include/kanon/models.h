/* kanon/models.h: privacy models beyond k: how well a class of rows that look alike hides its sensitive values.
 *
 * A class is the rows that agree on a set S of quasi-identifiers. In a class of n rows value i occurs c_i times, its
 * share is p_i = c_i / n; q_i is its share in the whole table, the reference. Missing sensitive cells are a value of
 * their own. A table satisfies a model when each class does:
 *
 *     k                        n >= k
 *     l-diversity  distinct    at least l different values
 *                  entropy     exp(H) >= l, H = -sum p_i ln p_i          (Machanavajjhala et al. 2006; H >= ln l)
 *                  recursive   r_1 < c (r_l + ... + r_m), counts r descending; always with l = 1
 *     t-closeness              EMD(p, q) <= t                            (Li et al. 2007), with the distance
 *                  equal           1 between different values
 *                  ordered         |i - j| / (m - 1) between the i-th and the j-th of m values in their own order;
 *                                  1 between a missing cell and any value
 *                  hierarchical    level of the lowest common ancestor / height of the hierarchy
 *     alpha-k                  p_i <= alpha for all i, and n >= k        (Wong et al. 2006)
 *     beta-likeness basic      (p_i - q_i) / q_i <= beta where p_i > q_i (Cao, Karras 2012)
 *                   enhanced   ... <= min(beta, -ln q_i)
 *     delta-disclosure         |ln(p_i / q_i)| < delta for all i with q_i > 0 (Brickell, Shmatikov 2008, with the
 *                              natural logarithm); p_i = 0 is an infinite difference, so every class needs every value
 *
 * Without a sensitive column, for releases (kn_diagnose_models knows max-risk only):
 *
 *     k-map                    at least k people of the population share the class's cells      (Sweeney 2002)
 *     delta-presence           min <= n / (people of the population in the class) <= max        (Nergiz et al. 2007)
 *     max-risk                 1 / n <= risk
 *     average-risk             classes / rows <= risk, over the release: the smallest classes are suppressed until it holds,
 *                              and no more than necessary
 *
 * Where several rows belong to one person (an entity column, for releases), people are counted instead of rows: n is
 * the number of different persons in the class, c_i and its counterpart in the whole table the number of different
 * persons who have value i. A person with two values counts for both; shares are of the sum of the c_i, except
 * alpha's, which is the share of the class's persons.
 *
 * The EMD is always the cheapest transport under the given distance, also with missing cells.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_MODELS_H
#define KANON_MODELS_H

#include <kanon/diagnose.h>
#include <kanon/hierarchy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Models ---- */

/* An exact number >= 0, as a user writes it. */
typedef struct kn_ratio {
    uint64_t numerator, denominator;
} kn_ratio;

/* Reads a decimal ("2", "0.15") or a percentage ("15%") without rounding, at most 18 digits; false if it is none. */
KN_API bool kn_ratio_parse(const char *text, kn_ratio *out);

typedef enum kn_model_kind {
    KN_MODEL_K = 0,
    KN_MODEL_DISTINCT,       /* l-diversity: {kind: distinct, l}            */
    KN_MODEL_ENTROPY,        /* l-diversity: {kind: entropy, l}             */
    KN_MODEL_RECURSIVE,      /* l-diversity: {kind: recursive, l, c}        */
    KN_MODEL_T_EQUAL,        /* t-closeness: {distance: equal, t}           */
    KN_MODEL_T_ORDERED,      /* t-closeness: {distance: ordered, t}         */
    KN_MODEL_T_HIERARCHICAL, /* t-closeness: {distance: hierarchical, t}    */
    KN_MODEL_ALPHA_K,        /* alpha-k: {alpha, k}                         */
    KN_MODEL_BETA_BASIC,     /* beta-likeness: {kind: basic, beta}          */
    KN_MODEL_BETA_ENHANCED,  /* beta-likeness: {kind: enhanced, beta}       */
    KN_MODEL_DELTA,          /* delta-disclosure: {delta}                   */
    KN_MODEL_K_MAP,          /* k-map: {k}; needs a population or weights   */
    KN_MODEL_PRESENCE,       /* delta-presence: {min, max}; a population    */
    KN_MODEL_MAX_RISK,       /* max-risk: {risk}                            */
    KN_MODEL_AVERAGE_RISK,   /* average-risk: {risk}; of the whole release  */
    KN_MODEL_KINDS           /* how many there are                          */
} kn_model_kind;

/* "l-diversity", ... as in a release file, and its kind or distance ("entropy", "ordered"; NULL where it has none).
 * Static. */
KN_API const char *kn_model_name(kn_model_kind kind);
KN_API const char *kn_model_variant(kn_model_kind kind);

/* The kind with that name and variant (NULL: none, or the usual one: distinct, equal, basic); false if there is none. */
KN_API bool kn_model_parse(const char *name, const char *variant, kn_model_kind *out);

/* A model with its parameters; only those of its kind are used. */
typedef struct kn_model {
    kn_model_kind kind;
    const char   *attribute; /* the sensitive column; NULL where the model has none        */
    int64_t       k;         /* k, k-map; alpha-k (there 0: any size)                      */
    kn_ratio      l;         /* l-diversity; a whole number unless entropy                  */
    kn_ratio      c;         /* recursive                                                   */
    kn_ratio      bound;     /* t, alpha, beta, delta, the largest presence, or risk        */
    kn_ratio      low;       /* delta-presence: the smallest                                */
} kn_model;

#define KN_MODEL_INIT {KN_MODEL_K, NULL, 0, {0, 1}, {0, 1}, {0, 1}, {0, 1}}

/* Do the parameters make sense? KN_USAGE with the reason if not. */
KN_API KN_CHECK kn_status kn_model_check(const kn_model *model, kn_error *err);

/* ---- Diagnosis of one set of columns ---- */

typedef struct kn_model_options {
    size_t                     size;  /* sizeof(kn_model_options), set by the initializer                             */
    const char *const         *quasi; /* the attribute set S: column names                                            */
    int                        quasi_count;
    const char *const         *sensitive; /* at least one, none of them in S                                          */
    int                        sensitive_count;
    const kn_hierarchy *const *hierarchies; /* one per sensitive column and bound to it; NULL where there is none     */
    const kn_model            *requirements; /* asked: do they hold?                                                  */
    int                        requirement_count;
    kn_missing                 missing; /* quasi-identifiers: KN_MISSING_VALUE or _DROP; the reference is of all rows */
} kn_model_options;

#define KN_MODEL_OPTIONS_INIT {sizeof(kn_model_options), NULL, 0, NULL, 0, NULL, NULL, 0, KN_MISSING_VALUE}
KN_API void kn_model_options_init(kn_model_options *options, size_t size);

/* What the worst class reaches for one sensitive column. Without any class all figures are 0. */
typedef struct kn_model_figures {
    int64_t distinct_l;
    double  entropy_l;
    double  recursive_c2;   /* (c,2)-diverse for every c greater than this; INFINITY: for none                       */
    double  recursive_c3;
    double  t_equal;
    double  t_ordered;      /* of text: by the order of its bytes                                                    */
    double  t_hierarchical; /* NAN without a hierarchy                                                               */
    double  alpha;
    double  beta;
    double  beta_enhanced;  /* INFINITY: some class exceeds -ln q, so that no beta suffices                          */
    double  delta;          /* every delta greater than this suffices; INFINITY: some class lacks some value         */
    double  delta_present;  /* the same over the values that a class has: weaker than the model, for comparison      */
    int64_t log_classes;    /* classes that exceed -ln q                                                             */
    int64_t lacking_classes; /* classes that lack some value of the table                                            */
} kn_model_figures;

/* The verdict on one requirement. */
typedef struct kn_model_verdict {
    double  reached; /* by the worst class: k, l, smallest c (exclusive), t, alpha, beta, delta (exclusive) or risk   */
    int64_t classes; /* that violate it                                                                              */
    int64_t rows;    /* in them                                                                                      */
    bool    holds;   /* false too if there is no class at all: undecided                                             */
} kn_model_verdict;

typedef struct kn_sensitive_report {
    const char      *name;
    kn_type          type;
    uint32_t         values;  /* of the table, "missing" not counted           */
    int64_t          missing; /* rows                                          */
    kn_model_figures figures;
} kn_sensitive_report;

typedef struct kn_model_report {
    int64_t              rows;         /* of the table                                       */
    int64_t              missing_rows; /* with a missing quasi-identifier                    */
    int64_t              dropped;      /* of these, set aside (KN_MISSING_DROP)              */
    int64_t              classes;
    int64_t              k; /* the smallest class; 0 if no row is left                       */
    int                  sensitive_count;
    kn_sensitive_report *KN_PRIVATE(sensitive); /* kn_sensitive_report_at: in the order asked for                                */
    int                  requirement_count;
    kn_model_verdict    *KN_PRIVATE(verdicts); /* kn_model_verdict_at: in the order asked for                        */
    int64_t              violating_classes; /* that violate at least one requirement         */
    int64_t              violating_rows;
    bool                 holds; /* all of them do; true where none was asked; false if some were, and no row is left */
} kn_model_report;

KN_API const kn_sensitive_report *kn_sensitive_report_at(const kn_model_report *report, int index); /* NULL: none */
KN_API const kn_model_verdict    *kn_model_verdict_at(const kn_model_report *report, int index);

/* Measures every model for S and each sensitive column. KN_INPUT: there is no such column. KN_USAGE: an empty S, a column
 * named twice or both sensitive and in S, a hierarchy that is not of the column, a requirement that makes no sense. The
 * answer "no" is not a failure: see holds. The report may outlive the table. The figures do not
 * depend on the number of threads. */
KN_API KN_CHECK kn_status kn_diagnose_models(kn_model_report **out, kn_context *ctx, const kn_table *table,
                                             const kn_model_options *options, kn_error *err);
KN_API void               kn_model_report_free(kn_model_report *report);

/* ---- Over sets of columns ---- */

/* The same for one set. */
typedef struct kn_model_set {
    uint64_t          columns; /* bit i: the i-th of the quasi-identifiers given                 */
    int64_t           dropped;
    int64_t           classes;
    int64_t           k;
    kn_model_figures *KN_PRIVATE(figures); /* kn_model_set_figures: one per sensitive column     */
    kn_model_verdict *KN_PRIVATE(verdicts); /* kn_model_set_verdict: one per requirement          */
    int64_t           violating_classes, violating_rows;
    bool              holds;
} kn_model_set;

typedef struct kn_model_sets {
    int64_t       count;
    int           sensitive_count, requirement_count;
    kn_model_set *KN_PRIVATE(sets); /* kn_model_set_at */
} kn_model_sets;

/* NULL: there is none. */
KN_API const kn_model_set     *kn_model_set_at(const kn_model_sets *sets, int64_t index);
KN_API const kn_model_figures *kn_model_set_figures(const kn_model_sets *sets, int64_t index, int sensitive);
KN_API const kn_model_verdict *kn_model_set_verdict(const kn_model_sets *sets, int64_t index, int requirement);

#define KN_MODEL_ALL_SETS_MAX 20 /* columns, where all subsets are asked for */

/* Measures the models for each of `set_count` sets of the quasi-identifiers in `options` (at most 64); `sets` NULL: all
 * non-empty ones, in ascending order of their bits (at most KN_MODEL_ALL_SETS_MAX columns). The rows are grouped once per
 * sensitive column; each set is rolled up from there, several at a time. Fails like kn_diagnose_models. */
KN_API KN_CHECK kn_status kn_model_over_sets(kn_model_sets **out, kn_context *ctx, const kn_table *table,
                                             const kn_model_options *options, const uint64_t *sets, int64_t set_count,
                                             kn_error *err);
KN_API void               kn_model_sets_free(kn_model_sets *sets);

#ifdef __cplusplus
}
#endif

#endif
