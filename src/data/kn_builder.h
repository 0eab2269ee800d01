/* kn_builder.h: building a table, from several threads at once.
 *
 * Each worker ("slot") interns the texts of each column into ids of its own; ids are appended row by row and turned
 * into codes at the end, when the whole dictionary is known and sorted. The result does not depend on which slot saw
 * what, so tables are the same for any number of threads.
 *
 *     kn_builder_create(&b, ctx, names, column_count, slots, err);
 *     // any worker, own slot:
 *     id = kn_intern(kn_builder_interner(b, column, slot), text);     // KN_ID_MISSING for a missing cell
 *     // one thread:
 *     kn_builder_extend(b, rows, slot, &first_row, err);              // rows all coded by that slot
 *     // any worker, disjoint rows:
 *     kn_builder_write(b, column, first_row, ids, rows);
 *     kn_builder_finish(&table, b, types, rules, err);                // ends the builder, also on failure
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_BUILDER_H
#define KN_BUILDER_H

#include "kn_table.h"
#include "kn_value.h"

typedef struct kn_builder  kn_builder;
typedef struct kn_interner kn_interner;

enum { KN_ID_MISSING = 0 };
#define KN_ID_FAILED UINT32_MAX /* out of memory, or more than 2^32 - 3 distinct values */

/* What is declared of one column before its values are known. */
typedef struct kn_builder_type {
    kn_type     type;   /* KN_TYPE_AUTO: inferred    */
    const char *format; /* of dates; NULL: any known */
} kn_builder_type;

KN_CHECK kn_status kn_builder_create(kn_builder **out, kn_context *ctx, const kn_string *names, int column_count,
                                     int slots, kn_error *err);
void               kn_builder_free(kn_builder *builder);

kn_interner *kn_builder_interner(kn_builder *builder, int column, int slot);

/* The id of a text in this interner (>= 1), the same for equal texts; KN_ID_FAILED on failure. */
uint32_t kn_intern(kn_interner *interner, kn_string text);

/* The ids of several texts, KN_ID_MISSING where there is none (data is NULL); false: failed. Faster where a column has more
 * distinct texts than the caches hold: the memory is asked for several of them at once. */
bool kn_intern_all(kn_interner *interner, const kn_string *texts, int count, uint32_t *ids);

/* Makes space for that many more rows at once, which several calls of kn_builder_extend then use: one thread makes it column
 * after column, and moves what is there each time. */
KN_CHECK kn_status kn_builder_reserve(kn_builder *builder, int64_t rows, kn_error *err);

/* Makes space for `rows` more rows, whose ids come from `slot`. */
KN_CHECK kn_status kn_builder_extend(kn_builder *builder, int64_t rows, int slot, int64_t *first_row, kn_error *err);

/* Stores ids. Order: intern, then extend, then write (extending makes space for the largest id interned so far). */
void kn_builder_write(kn_builder *builder, int column, int64_t first_row, const uint32_t *ids, int64_t rows);

/* Texts that mean "missing" (compared after stripping spaces); the strings must live until finish. Default: none. */
void kn_builder_set_na(kn_builder *builder, const kn_string *na, int count);

/* Some interned texts may occur in no written row; finish then leaves them out. */
void kn_builder_set_unused(kn_builder *builder);

/* This column says how many equal rows each row stands for: it becomes the table's counts and none of its columns. Rows that
 * stand for none are left out before types are inferred. */
void kn_builder_set_count(kn_builder *builder, int column);

/* The approximate peak of the context's memory while finishing, in bytes. */
uint64_t kn_builder_needs(const kn_builder *builder);

/* Types, sorts and re-codes every column. `types` has one entry per column or is NULL (all inferred). Frees the
 * builder. */
KN_CHECK kn_status kn_builder_finish(kn_table **out, kn_builder *builder, const kn_builder_type *types,
                                     const kn_value_rules *rules, kn_error *err);

#endif
