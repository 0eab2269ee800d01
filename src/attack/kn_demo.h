/* kn_demo.h: an attack on persons as trees: which persons of a released database may somebody be whose
 * quasi-identifiers are all known? What `kanon attack --demo` counts.
 *
 * A released database is given as a plan: classes of persons who show the same tree. Unlike in a method's plan two
 * classes may show the same, and siblings may be in any order as long as those of one table are adjacent.
 * Whether one may be somebody: kn_tree_match.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_DEMO_H
#define KN_DEMO_H

#include "kn_demo_release.h"
#include "kn_tree_match.h"

/* ---- What is known, and what is released ---- */

typedef struct kn_demo_sensitive {
    int table, column;
} kn_demo_sensitive;

typedef struct kn_demo_input {
    const kn_forest         *forest;  /* what the attacker knows                                              */
    const kn_database_plan  *plan;    /* what is released                                                     */
    bool                     deleted; /* rows may have been deleted                                           */
    int64_t                  target_count;
    const int64_t           *targets; /* entities, ascending                                                  */
    int                      sensitive_count;
    const kn_demo_sensitive *sensitive;
    /* Where another database is attacked than the known one: */
    bool                 some;   /* only some rows are known: each must be among those released, others may be there, too */
    const kn_tree_cells *cells;  /* NULL: the plan holds nodes of the known columns' hierarchies              */
    const kn_database   *released;  /* whose rows the plan has; NULL: the known database                      */
    const int           *tables; /* per table of the plan: its number in `released`. Tables beyond the known ones are not
                                    matched, but may be sensitive                                             */
} kn_demo_input;

/* ---- All of them: kn_demo_count.c ---- */

typedef struct kn_demo_found {
    int64_t *candidates; /* per target: members of the classes that are consistent with its tree              */
    bool    *certain;    /* per target and sensitive column: all candidates show the same values in their rows of that
                            table, each as often, and at least one                                            */
} kn_demo_found;

/* The caller frees both with kn_demo_found_free, even on failure. The same on any number of threads. */
KN_CHECK kn_status kn_demo_count(kn_demo_found *out, kn_context *ctx, const kn_demo_input *in, kn_error *err);
void               kn_demo_found_free(kn_demo_found *found);

/* ---- Where keys are ranges: kn_demo_keys.c ---- */

typedef struct kn_demo_keys_input {
    const kn_forest         *forest;
    int                      join_count;
    kn_demo_keyed *const    *joins; /* which together have all tables */
    int64_t                  target_count;
    const int64_t           *targets;
    int                      sensitive_count;
    const kn_demo_sensitive *sensitive;
} kn_demo_keys_input;

/* The same for releases whose keys are ranges of persons. */
KN_CHECK kn_status kn_demo_count_keys(kn_demo_found *out, kn_context *ctx, const kn_demo_keys_input *in, kn_error *err);

#endif
