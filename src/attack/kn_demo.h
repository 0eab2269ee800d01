/* kn_demo.h: an attack on persons as trees: which persons of a released database may somebody be whose
 * quasi-identifiers are all known? What `kanon attack --demo` counts.
 *
 * A released database is given as a plan: classes of persons who show the same tree. Unlike in a method's plan two
 * classes may show the same, and siblings may be in any order as long as those of one table are adjacent.
 *
 * A released tree is consistent with a known one if the cells of its root cover those of the known root, and, table
 * by table, its children can be assigned different children of the known root with which they are consistent. No known
 * child may be left over, unless rows may have been deleted. Where only some rows are known it is the other way round: each known
 * child is assigned a released one.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_DEMO_H
#define KN_DEMO_H

#include "kn_database_plan.h"
#include "kn_demo_release.h"

/* ---- What is known, and what is released ---- */

typedef struct kn_demo_sensitive {
    int table, column;
} kn_demo_sensitive;

/* Which values a released cell covers, where that is not for the hierarchies of the known columns to say. Values are codes of
 * the known column, cells whatever the plan holds. */
typedef struct kn_demo_cells {
    const void *arg;
    bool (*covers)(const void *arg, int table, int quasi, uint32_t cell, uint32_t code);
    uint32_t (*only)(const void *arg, int table, int quasi, uint32_t cell); /* the only value that it covers; UINT32_MAX: none.
                                                                               NULL: cells cover any number of values */
} kn_demo_cells;

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
    const kn_demo_cells *cells;  /* NULL: the plan holds nodes of the known columns' hierarchies              */
    const kn_database   *released;  /* whose rows the plan has; NULL: the known database                      */
    const int           *tables; /* per table of the plan: its number in `released`. Tables beyond the known ones are not
                                    matched, but may be sensitive                                             */
} kn_demo_input;

/* ---- Two trees: kn_demo_match.c ---- */

typedef struct kn_demo_matcher kn_demo_matcher;

/* For one thread. Borrows the input. */
KN_CHECK kn_status kn_demo_matcher_make(kn_demo_matcher **out, kn_context *ctx, const kn_demo_input *in, kn_error *err);
void               kn_demo_matcher_free(kn_demo_matcher *matcher); /* NULL is fine */

/* Is the tree of a class consistent with the tree of an entity? KN_MEMORY only. */
KN_CHECK kn_status kn_demo_consistent(bool *out, kn_demo_matcher *matcher, int64_t entity, uint32_t class_number,
                                      kn_error *err);

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
