/* kn_linked.h: persons by what they show with all their rows.
 *
 * If a release shows which rows belong to one person (by a pseudonym, say), a person is recognized by all of them
 * together. The *signature* of a person is the multiset of the classes of their rows; persons with equal signatures
 * look alike. A *position* is a class within a signature: each of its persons has the same number of rows there,
 * which cannot be distinguished. Immutable once made; any thread may read.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_LINKED_H
#define KN_LINKED_H

#include "kn_freq.h"

#define KN_LINKED_NOBODY UINT32_MAX

typedef struct kn_linked {
    kn_context *ctx;
    int64_t     signatures;
    int64_t    *persons;   /* per signature                                                     */
    int64_t    *rows;      /* per signature: of all its persons                                 */
    int64_t    *starts;    /* signatures + 1: where its positions begin                         */
    uint32_t   *classes;   /* per position, ascending within a signature                        */
    int64_t    *each;      /* per position: rows of each person                                 */
    uint32_t    codes;     /* of the persons' column, "missing" counted                         */
    uint32_t   *of_person; /* per code: the signature; KN_LINKED_NOBODY: no row of theirs       */
} kn_linked;

/* Is the column equal in all rows of a person for more persons than half-way between chance and all? Of the persons
 * with several rows, a share s has only one value; two rows of the table agree with probability c. The rule is s >=
 * (1 + c) / 2 and c < 1, so that a single odd row decides nothing. One pass. */
KN_CHECK kn_status kn_linked_by_column(bool *out, kn_context *ctx, const kn_table *table, int person, int column,
                                       kn_error *err);

/* `pairs` counts rows by (class columns …, person), in key order; class i of the first `class_count` ones is
 * entries starts[i] .. starts[i + 1] - 1 (kn_freq_fold over the class columns). Signatures are numbered by their first
 * person's code. O(entries) expected. Must be freed even on failure. */
KN_CHECK kn_status kn_linked_make(kn_linked *out, const kn_freq *pairs, const int64_t *starts, int64_t class_count,
                                  uint32_t codes, kn_error *err);
void               kn_linked_free(kn_linked *linked);

/* The histograms of one sensitive column, by position. `fine` counts rows by (class columns …, value, person), with
 * the same classes. If the persons of a position have c > 1 rows there, these can be assigned to c nodes, one row per
 * person to each, so that each node has m / c of a value's m rows, rounded up or down (edge colouring of a bipartite
 * graph, de Werra 1971). The worst such node is counted: rounded up where the count is already largest. So a position
 * has as many counts as persons, and what holds for it holds for every node. Must be freed even on failure. */
KN_CHECK kn_status kn_linked_histograms(kn_class_histograms *out, const kn_linked *linked, const kn_freq *fine,
                                        int class_columns, int64_t class_count, kn_error *err);

#endif
