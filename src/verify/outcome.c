/* outcome.c: the verifier's answer: it holds, it does not hold, or it is undecided (kn_verify_problems.h).
 *
 * "Undecided" is not a failure of the release: nothing was found wrong, but something could not be decided. Limits
 * count steps of work, so that the answer is the same on every machine; only a time limit set by the caller uses a
 * clock.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_context.h"
#include "kn_error.h"
#include "kn_verify_problems.h"

const char *kn_assignment_name(kn_assignment assignment)
{
    switch (assignment) {
    case KN_ASSIGNMENT_PROVED: return "proved";
    case KN_ASSIGNMENT_REFUTED: return "refuted";
    case KN_ASSIGNMENT_UNDECIDED: return "undecided";
    }
    return "";
}

const char *kn_outcome_name(kn_outcome outcome)
{
    switch (outcome) {
    case KN_OUTCOME_HOLDS: return "holds";
    case KN_OUTCOME_FAILS: return "does not hold";
    case KN_OUTCOME_UNDECIDED: return "undecided";
    }
    return "";
}

void kn_vnotes_judge(kn_vnotes *n, bool counted)
{
    bool fails = n->failed || *n->head.assignment == KN_ASSIGNMENT_REFUTED;
    bool proved = counted && *n->head.assignment == KN_ASSIGNMENT_PROVED;
    for (int i = 0; i < *n->head.model_count; i++)
        fails = fails || (!n->models[i].holds && (counted || !isnan(n->models[i].reached)));
    *n->head.outcome = fails ? KN_OUTCOME_FAILS : proved ? KN_OUTCOME_HOLDS : KN_OUTCOME_UNDECIDED;
    *n->head.ok = *n->head.outcome == KN_OUTCOME_HOLDS;
}

void kn_vnotes_nobody(kn_vnotes *n, const char *what)
{
    for (int i = 0; i < *n->head.model_count; i++) {
        n->models[i].holds = false;
        n->models[i].reached = NAN;
    }
    kn_vopen(n, "whether any promise is kept: the original has no %s, so nothing shows it; look at how it was made",
             what);
    kn_vnotes_judge(n, false);
}

kn_status kn_verify_in_time(kn_context *ctx, double seconds, kn_status status, kn_error *err)
{
    if (seconds <= 0) return status;
    kn_deadline_set(ctx, 0);
    if (status != KN_CANCELLED || kn_cancel_requested(ctx)) return status;
    return kn_fail(err, KN_UNDECIDED,
                   "it was not decided within %g seconds whether the release keeps its promises; allow more time "
                   "(--time-limit), or none",
                   seconds);
}
