/* kn_demo_release.h: what the files of kn_attack_demo share: the ways to anonymize a database that fail. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DEMO_RELEASE_H
#define KN_DEMO_RELEASE_H

#include "kn_database_plan.h"

/* Tables that are made k-anonymous together, persons first if there are several: a path of the snowflake, or one table. */
typedef struct kn_demo_join {
    int     table_count;
    int    *tables;
    int64_t rows; /* of their join, found by kn_demo_release */
} kn_demo_join;

/* What a reader of all these joins with their keys sees, as a plan (kn_demo.h says how it differs from a method's).
 * Rows of a join with fewer rows than k show "*". Every row that belongs to a person stays. */
KN_CHECK kn_status kn_demo_release(kn_database_plan **out, kn_context *ctx, const kn_forest *forest, kn_demo_join *joins,
                                   int join_count, int64_t k, kn_error *err);

/* ---- With generalized join keys (NDGH) ---- */

/* One join, made k-anonymous on its quasi-identifiers and on the key of the person, which becomes a range of persons: AT2 of
 * section 3.1, Tp2 and T12 of section 3.2. Persons are numbered in the order of their table. */
typedef struct kn_demo_keyed kn_demo_keyed;

KN_CHECK kn_status kn_demo_keyed_make(kn_demo_keyed **out, kn_context *ctx, const kn_forest *forest,
                                      const kn_demo_join *join, int64_t k, kn_error *err);
void               kn_demo_keyed_free(kn_demo_keyed *keyed); /* NULL is fine */

/* Rows of the join; those of an entity are one behind the other, from the first one given (entities + 1 of these). */
const size_t *kn_demo_keyed_first(const kn_demo_keyed *keyed);
/* The node of the forest that a row has in a table; UINT64_MAX: none, or the table is not joined. */
uint64_t kn_demo_keyed_node(const kn_demo_keyed *keyed, size_t row, int table);

/* Is a table one of those that are joined? */
bool kn_demo_keyed_has(const kn_demo_keyed *keyed, int table);

/* Rows that show the same. */
uint32_t kn_demo_keyed_classes(const kn_demo_keyed *keyed);
/* The rows of a class; *count of them. */
const size_t *kn_demo_keyed_rows(const kn_demo_keyed *keyed, uint32_t class, size_t *count);
/* Do its quasi-identifiers cover those of a row? */
bool kn_demo_keyed_covers(const kn_demo_keyed *keyed, uint32_t class, size_t row);
/* Its persons: low to high, both inclusive. */
void kn_demo_keyed_range(const kn_demo_keyed *keyed, uint32_t class, int64_t *low, int64_t *high);

#endif
