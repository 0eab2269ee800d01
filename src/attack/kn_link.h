/* kn_link.h: joining an external table with a release: which released rows may each person be?
 *
 * Both tables come as frequency sets over the same attributes in the same order. A person's cell is a code of the
 * external column; a released cell is a label, and `cells` says which codes it covers. Labels may overlap in any way
 * (intervals, sets, nodes of a hierarchy, "*"), so that a person can match many classes.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_LINK_H
#define KN_LINK_H

#include "kn_freq.h"
#include "kn_plan.h"

/* The sensitive value of a class whose rows do not all have the same. */
#define KN_LINK_MIXED UINT32_MAX

typedef struct kn_link_attribute {
    uint32_t            values;    /* codes of the external column, "missing" (the last) counted           */
    uint32_t            labels;    /* of the other table, "missing" (the last) counted                     */
    const kn_cell      *cells;     /* one per label, over the external column's codes                      */
    const uint32_t     *members;   /* of sets                                                              */
    const kn_hierarchy *hierarchy; /* of nodes; its leaf_of_code may map a value to "missing", which only the root
                                      covers; NULL: no cell is a node */
    bool                wildcard;  /* a missing external cell agrees with every label, a missing label (whose
                                      cell must be KN_CELL_STAR then) with every value                     */
} kn_link_attribute;

/* Does a label cover a value? Without regard to `wildcard`. */
bool kn_link_covers(const kn_link_attribute *attribute, uint32_t label, uint32_t value);

typedef struct kn_link_input {
    int                      attribute_count; /* at least 1 */
    const kn_link_attribute *attributes;
    const kn_freq           *people;
    const kn_freq           *classes;
    const int64_t           *rows; /* per class, at least 0: instead of its count in `classes` */
    int                      sensitive_count;
    const uint32_t *const   *sensitive; /* per sensitive column, per class: its only value, or KN_LINK_MIXED */
    uint64_t                 pair_limit; /* (label, value) pairs that are listed; 0: 2^25. Beyond it an attribute's
                                            labels are asked one by one; for tests                            */
} kn_link_input;

/* Per class of people: how many rows they match (people->classes entries), and per sensitive column how many people's value
 * is certain: they match at least one row, and all rows they match have the same value. The caller frees both with
 * kn_free. The same on any number of threads. */
typedef struct kn_link_result {
    int64_t *matches;
    int64_t *certain; /* sensitive_count */
} kn_link_result;

KN_CHECK kn_status kn_link_tables(kn_link_result *out, kn_context *ctx, const kn_link_input *in, kn_error *err);

#endif
