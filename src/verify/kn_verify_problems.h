/* kn_verify_problems.h: what reports of tables, databases and tree records share: the list of what is wrong with a release,
 * what could not be decided, and the answer.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_VERIFY_PROBLEMS_H
#define KN_VERIFY_PROBLEMS_H

#include <kanon/verify.h>
#include <stdbool.h>

#include "kn_arena.h"

enum { KN_VERIFY_PROBLEMS = 100 }; /* this many are kept */

/* Where a report has the fields that all shapes have. */
typedef struct kn_vhead {
    bool                     *ok;
    kn_outcome               *outcome;
    kn_assignment            *assignment;
    int                      *model_count, *problem_count, *open_count;
    const kn_verified_model **models;
    const char *const       **problems, *const **open;
    bool                     *more_problems;
} kn_vhead;

#define KN_VHEAD(r)                                                                                                            \
    (kn_vhead)                                                                                                                 \
    {                                                                                                                          \
        &(r)->ok, &(r)->outcome, &(r)->assignment, &(r)->model_count, &(r)->problem_count, &(r)->open_count, &(r)->models,     \
            &(r)->problems, &(r)->open, &(r)->more_problems                                                                    \
    }

/* The private part of a report; the arena lives as long as the report. */
typedef struct kn_vnotes {
    kn_vhead           head;
    kn_arena           arena;
    const char        *problems[KN_VERIFY_PROBLEMS];
    const char        *open[KN_VERIFY_OPEN];
    kn_verified_model *models; /* the spec's; `reached` is NAN */
    bool               failed; /* something is wrong           */
} kn_vnotes;

/* Fills in the head of a report that is all zero. */
KN_CHECK kn_status kn_vnotes_init(kn_vnotes *notes, kn_vhead head, kn_context *ctx, const kn_spec *spec, kn_error *err);

/* Notes what is wrong. The first 100 are kept; the release fails from now on. */
void kn_vproblem(kn_vnotes *notes, const char *format, ...) KN_PRINTF(2, 3);

/* Notes what could not be decided: the release does not fail because of it. */
void kn_vopen(kn_vnotes *notes, const char *format, ...) KN_PRINTF(2, 3);

/* The same as a callback: `notes` is a kn_vnotes. */
void kn_vproblem_sentence(void *notes, const char *sentence);

/* The answer. `counted`: every promise was checked; otherwise those without a figure are open. */
void kn_vnotes_judge(kn_vnotes *notes, bool counted);

/* Instead of the answer where the original has nobody: no promise is judged, and unless something is wrong it is undecided.
 * `what`: "rows". */
void kn_vnotes_nobody(kn_vnotes *notes, const char *what);

/* Ends a call with a time limit of kn_deadline_set, 0: none. What the deadline stopped is undecided. */
KN_CHECK kn_status kn_verify_in_time(kn_context *ctx, double seconds, kn_status status, kn_error *err);

#endif
