/* kanon/advise.h: which method should I use? The methods that fit the data and the promises, tried and compared.
 *
 * The input is read once. Each candidate then runs as far as a plan and its loss; nothing is written or verified,
 * which happens when a release is made. The candidates share a time limit: each gets an equal part of what is left,
 * so that a fast one leaves more to the others. A candidate that is stopped is out or, where the method has a best
 * plan so far, counts only if no other finished. As long as all finish, the choice depends on the data and the spec
 * alone.
 *
 * The rule: the least loss, by one metric for all; then fewer suppressed rows (persons); then the simpler method, in
 * a fixed order (that of the candidates). For tables the metric is the spec's `utility` (default: lm), which is
 * defined on the released cells or classes, whatever method made them. For databases it is lm; for trees dml2 where
 * the spec has a `support`, else rpd.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_ADVISE_H
#define KANON_ADVISE_H

#include <kanon/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a candidate. */
typedef enum kn_advice_state {
    KN_ADVICE_KEPT = 0, /* it keeps the promises                                                         */
    KN_ADVICE_STOPPED,  /* the time limit ended its search: the figures are those of the best so far     */
    KN_ADVICE_LATE, /* the time limit ended it before it found a release                               */
    KN_ADVICE_NONE,     /* it finds no release that keeps the promises: see reason                       */
    KN_ADVICE_REFUSED,  /* it cannot handle this table or these options, or not within the memory limit  */
    KN_ADVICE_LEFT_OUT, /* not tried: see reason                                                         */
    KN_ADVICE_STATES
} kn_advice_state;

/* "kept", "stopped", ... Static. */
KN_API const char *kn_advice_state_name(kn_advice_state state);

typedef struct kn_advice_candidate {
    kn_method       method;
    kn_advice_state state;
    const char     *reason; /* a sentence without a value of the data; NULL: kept, or stopped with a release */
    /* Of a release, KEPT or STOPPED: */
    double  loss;       /* by the metric; smaller is better (of prec: 1 - prec)                    */
    int64_t suppressed; /* rows of a table, persons of a database                                  */
    int64_t k;          /* the smallest class; 0: not known before a release is verified (trees)   */
    int64_t classes;    /* 0: there are none (trees)                                               */
    double  node_survival, relation_survival; /* of trees: shares; else NAN                        */
    /* Of one that was tried: */
    double  seconds;    /* that it took                                                            */
    double  allowed;    /* its part of the time limit                                              */
} kn_advice_candidate;

/* Of records that are trees: another promise, or budget, that the chosen method was tried with. */
typedef struct kn_advice_setting {
    kn_kmn          kmn;
    kn_fraction     suppression;
    kn_advice_state state;
    double          loss, node_survival, relation_survival; /* of a release; else NAN */
    double          seconds;
} kn_advice_setting;

typedef struct kn_advice {
    kn_shape    shape;
    const char *metric; /* "lm", "rpd", ...; static                                              */
    double      limit;  /* seconds for all candidates                                            */
    int64_t     count;  /* rows, persons or records                                              */
    bool        found;  /* a candidate was chosen                                                */
    int         chosen; /* its index; -1: none                                                   */
    const char *reason; /* not found: why, in a sentence                                         */
    int                        candidate_count;
    const kn_advice_candidate *KN_PRIVATE(candidates); /* kn_advice_candidate_at: every method of the shape, the
                                                          simpler ones first */
    int                        sentence_count;
    const char *const         *sentences; /* why it was chosen, and when another is preferable    */
    int                        note_count, dropped_count; /* of reading, as in a release's result  */
    const char *const         *notes, *const *dropped;
    int                        setting_count; /* trees: what other promises would cost; not part of a release's choice */
    const kn_advice_setting   *KN_PRIVATE(settings); /* kn_advice_setting_at */
} kn_advice;

KN_API const kn_advice_candidate *kn_advice_candidate_at(const kn_advice *advice, int index); /* NULL: none */
KN_API const kn_advice_setting   *kn_advice_setting_at(const kn_advice *advice, int index);   /* NULL: none */

/* Seconds for all candidates where the spec has no time limit. */
#define KN_ADVICE_SECONDS 60.0

/* Tries the methods for a spec that passed kn_spec_check; the spec's own method is ignored. If no method keeps the
 * promises, the call returns KN_OK with found == false. KN_INPUT: a file is wrong. KN_USAGE: no candidate can do what
 * was asked; the message is the first one's reason. */
KN_API KN_CHECK kn_status kn_advise(kn_advice **out, kn_context *ctx, const kn_spec *spec, kn_error *err);
KN_API void               kn_advice_free(kn_advice *advice); /* NULL is fine; not for one that is part of a result */

#ifdef __cplusplus
}
#endif

#endif
