/* kn_job_advise.h: trying methods, and how each kind of data does it. Only src/job includes it.
 *
 * The job of a shape reads its data, describes itself as a kn_advisor and lets kn_advice_make do the rest.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_JOB_ADVISE_H
#define KN_JOB_ADVISE_H

#include <kanon/advise.h>

#include "kn_arena.h"

/* One method on data that were read: `spec` is the user's with this method and its time limit. Fills state (kept,
 * stopped, late or none), reason and figures of `out`; texts go to `arena`. Not every failure ends the whole call:
 * see kn_advice_make. */
typedef kn_status (*kn_attempt_fn)(void *run, const kn_spec *spec, kn_advice_candidate *out, kn_arena *arena,
                                   kn_error *err);

typedef struct kn_advisor {
    kn_context    *ctx;
    const kn_spec *spec;
    int64_t        count; /* rows, persons, records                                   */
    int64_t        cuts;  /* of trees: through the hierarchies; KN_CUTS_MANY: or more */
    kn_attempt_fn  attempt;
    void          *run;
    bool           settings; /* of trees: other promises are tried, too */
} kn_advisor;

/* Up to how many cuts acs is tried. */
#define KN_CUTS_MANY 2000

/* Tries what fits and chooses. What `out` points to is in `arena`. A candidate that fails with KN_USAGE, or
 * KN_MEMORY under a memory limit, is refused, and the error is reported only if no other method found anything. */
KN_CHECK kn_status kn_advice_make(kn_advice *out, const kn_advisor *advisor, kn_arena *arena, kn_error *err);

/* Why not, without trying? NULL: it is tried. `optimal` is the state of that method, KN_ADVICE_LEFT_OUT: not tried
 * yet. */
const char *kn_advice_left_out(const kn_advisor *advisor, kn_method method, kn_advice_state optimal);

/* The sentences of an advice that is otherwise complete. */
KN_CHECK kn_status kn_advice_explain(kn_advice *advice, kn_context *ctx, kn_arena *arena, kn_error *err);

/* Tries the chosen method with other promises about trees, in at most so many seconds (advise_settings.c). */
KN_CHECK kn_status kn_advice_settings(kn_advice *advice, const kn_advisor *advisor, double seconds, kn_arena *arena,
                                      kn_error *err);

/* The spec that runs the chosen candidate by itself. */
kn_spec kn_advice_spec(const kn_advice *advice, const kn_spec *spec);

#endif
