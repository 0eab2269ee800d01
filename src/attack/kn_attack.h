/* kn_attack.h: the linking attack on one table: what somebody with the external table finds in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ATTACK_H
#define KN_ATTACK_H

#include <kanon/attack.h>

#include "kn_arena.h"
#include "kn_cell_parse.h"
#include "kn_table.h"

/* A column that both tables have. */
typedef struct kn_attack_link {
    int                 external, target; /* columns                                             */
    const kn_hierarchy *hierarchy;        /* over the external column; NULL: none                */
    bool                partial;          /* it was bound by kn_attack_bind: it may lack values  */
    kn_cell_rules       rules;
    kn_string           root; /* of a hierarchy that was built anew: what the release's own has for it; else empty */
} kn_attack_link;

typedef struct kn_attack_input {
    const kn_table       *external;
    const kn_table       *target;   /* linked and sensitive columns are text, as in the file            */
    bool                  released; /* cells may be generalized and rows suppressed; false: the original */
    const kn_attack_link *links;
    int                   link_count; /* at least 1 */
    const int            *sensitive;  /* columns of the target */
    int                   sensitive_count;
    bool                  wildcard; /* missing cells agree with anything */
    int64_t               k;
} kn_attack_input;

/* Attacks; what *out points to is in the arena. A released cell that is neither a value of the external column nor
 * anything that covers one matches nobody. Whoever matches no row and has a value that the hierarchy of a column
 * lacks cannot be placed. */
KN_CHECK kn_status kn_attack_run(kn_attack_table *out, kn_arena *arena, const kn_attack_input *in, kn_error *err);

/* Binds a hierarchy from a file to a column of which it may lack values: those are covered by the root alone. */
KN_CHECK kn_status kn_attack_bind(kn_hierarchy *hierarchy, const kn_column *column, const kn_cell_rules *rules,
                                  kn_error *err);

#endif
