/* kn_asked.h: full-domain search by questions about single nodes, for tables whose classes are counted elsewhere.
 *
 * The answer is that of kn_fulldomain_search, for the methods below; the number of questions is what it costs. A node is excluded without
 * a question where a node above it has too many rows in small classes, and where its loss cannot be less than the best one's.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_ASKED_H
#define KN_ASKED_H

#include "kn_evaluate.h"

typedef struct kn_node_answer {
    bool       enough;  /* the rows of classes that are too small are within the budget: else no node below is good either */
    kn_verdict verdict; /* where `enough`                                                                                  */
    kn_u128    squares; /* of the sizes of all classes, and how many they are                                              */
    int64_t    classes;
} kn_node_answer;

/* Whoever counts. `levels` are those of the problem. */
typedef struct kn_node_oracle {
    void *state;
    kn_status (*enough)(void *state, const int *levels, bool *out, kn_error *err); /* that of the answer alone */
    kn_status (*judge)(void *state, const int *levels, kn_node_answer *out, kn_error *err);
    const uint32_t *const *distinct; /* per quasi-identifier and level: what it shows */
} kn_node_oracle;

/* Does the method's answer follow from questions about single nodes? */
bool kn_method_asks(kn_method method);

/* The problem's table and requirements are not looked at. KN_USAGE: a method that does not ask, or a lattice that has no numbers. */
KN_CHECK kn_status kn_fulldomain_ask(kn_fulldomain_result **out, kn_context *ctx, const kn_fulldomain_problem *problem,
                                     const kn_node_oracle *oracle, kn_error *err);

#endif
