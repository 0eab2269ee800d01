/* kn_attack.h: the linking attack on one table: what somebody with the external table finds in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ATTACK_H
#define KN_ATTACK_H

#include <kanon/attack.h>

#include "kn_arena.h"
#include "kn_cell_parse.h"
#include "kn_link.h"
#include "kn_hierarchy.h"
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

/* The link of an attribute, with its hierarchy over the external table's values (*hierarchy: the caller's, even on failure). Its
 * target is not set. */
KN_CHECK kn_status kn_attack_make_link(kn_attack_link *link, kn_hierarchy **hierarchy, kn_arena *arena,
                                       const kn_spec *spec, const kn_attribute *attribute, kn_timezone *zone,
                                       const kn_table *external, const kn_table *release, kn_error *err);

/* What each label of the target's column covers of the external one's values. *cells and *members are the caller's, even on
 * failure. */
KN_CHECK kn_status kn_attack_read_cells(kn_link_attribute *out, kn_cell **cells, kn_cell_members *members,
                                        kn_context *ctx, const kn_attack_link *link, const kn_column *external,
                                        const kn_column *target, bool released, bool wildcard, kn_error *err);

/* Is a value of the external column not in the hierarchy of its link? */
static inline bool kn_attack_strange(const kn_attack_link *link, const kn_column *external, uint32_t code)
{
    return link->partial && code < external->dict.count &&
           link->hierarchy->leaf_of_code[code] == link->hierarchy->leaves;
}

/* The figures of one table from how many rows (matches) how many people match, who of them (of those who match none) cannot be
 * placed, and how many of them are certain of each sensitive column. What *out points to is in the arena. */
KN_CHECK kn_status kn_attack_tell(kn_attack_table *out, kn_arena *arena, const int64_t *matches, const int64_t *people,
                                  int64_t count, int64_t unplaced, int64_t k, const int64_t *certain,
                                  int sensitive_count, kn_error *err);

/* kn_attack for a database; the arguments are checked. */
KN_CHECK kn_status kn_attack_database(kn_attack_report *to, kn_arena *arena, const kn_spec *spec,
                                      const kn_attack_options *options, kn_error *err);

/* ... and for records that are trees. */
KN_CHECK kn_status kn_attack_records(kn_attack_report *to, kn_arena *arena, const kn_spec *spec,
                                     const kn_attack_options *options, kn_error *err);

#endif
