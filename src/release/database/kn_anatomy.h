/* kn_anatomy.h: a plan whose classes are diverse, published the other way round (section 5.1 of the MiRaCle paper;
 * Xiao and Tao, "Anatomy", 2006): quasi-identifiers as they are, sensitive values bound to groups of rows instead of
 * to rows.
 *
 * A group is what the plan makes indistinguishable: a node of a class's tree, over all members of the class. Equal
 * siblings (of one table, with the same generalized values and the same below them) share one group, and so do the
 * nodes below them, each with its counterpart below the other sibling: which of two equal siblings a row was matched
 * with is the search's choice, and would reveal more than the generalized release does. Every member has equally many
 * rows in a group. As each node keeps the plan's promises, so do the values of its group: diverse sets together are
 * diverse.
 *
 * What is written, besides new keys (M4):
 *
 *     every table of the original: the rows that the plan keeps (M2), with keys, quasi-identifiers (original values,
 *         original type) and columns with role `keep`; no sensitive column. A table that had any has GROUP behind its
 *         last column: the number of the group that the row is in, never missing
 *     for each sensitive column of each table, a table with the columns GROUP, the sensitive column (its name and
 *         type) and COUNT: for each group and each different value in it, a missing one included, how many rows of
 *         the group have the value (at least 1). It has no key. With several sensitive columns there are several
 *         tables, so that no two values are seen together
 *
 * Groups of a table are numbered 1 .. their number, drawn at random; GROUP and COUNT are declared bigint. The same
 * number in two tables means nothing, but for a table and its lists. Names:
 *
 *     GROUP       the first of group, group_2, group_3, ... that no column of any table of the original has
 *     COUNT       the first of count, count_2, ... likewise
 *     the table   TABLE_sensitive where TABLE has one sensitive column, TABLE_COLUMN where it has several; with _2, _3, ... after it if a table of the original, or an earlier one of these (tables in order, columns in order), has that name. Names that differ in the case of ASCII letters only count as the same
 *
 * What does not hold: persons can be distinguished by their quasi-identifiers, by design. A sensitive column without a
 * promise is listed by the same groups, whose values of it may all be the same.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_ANATOMY_H
#define KN_ANATOMY_H

#include "kn_database_plan.h"
#include "kn_database_write.h"

typedef struct kn_anatomy kn_anatomy;

/* Borrows forest (with its database) and plan. `seed` is that of the new keys and of the groups' numbers: whoever has it
 * can undo them. KN_INPUT: more than 2^32 - 4 rows, too many tables. */
KN_CHECK kn_status kn_anatomy_make(kn_anatomy **out, kn_context *ctx, const kn_forest *forest,
                                   const kn_database_plan *plan, uint64_t seed, kn_error *err);
void               kn_anatomy_free(kn_anatomy *anatomy); /* NULL is fine */

/* The writer's input, with its own schema (rows->db): the original's tables under their numbers, less sensitive
 * columns, then the lists, which have no parent. Valid as the anatomy. */
const kn_database_rows *kn_anatomy_rows(const kn_anatomy *anatomy);

/* The original's row of a released row of one of its tables. */
uint32_t kn_anatomy_original(const kn_anatomy *anatomy, int table, int64_t row);

/* The number of its group; 0: its table has no sensitive column. */
uint32_t kn_anatomy_group(const kn_anatomy *anatomy, int table, int64_t row);

int64_t     kn_anatomy_groups(const kn_anatomy *anatomy); /* of all tables */
const char *kn_anatomy_group_name(const kn_anatomy *anatomy); /* GROUP */
const char *kn_anatomy_count_name(const kn_anatomy *anatomy); /* COUNT */

/* The table (of rows->db) that lists a sensitive column of the original; -1: the column is not sensitive. */
int kn_anatomy_list(const kn_anatomy *anatomy, int table, int column);

#endif
