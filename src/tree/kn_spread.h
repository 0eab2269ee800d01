/* kn_spread.h: entropy and recursive l-diversity of the sensitive values of a class among the records that a combination
 * finds.
 *
 * A record may have several values of the class, or none, so there is no histogram as in a table. With c_1 >= c_2 >= ... the
 * numbers of records that have each value, of s records, the promise is about r_i = min(c_i, s - r_1 - ... - r_(i-1)), and
 * about one for each record that is then left. Whichever single value of each record somebody looks at (of a record without
 * any: one of its own), the i most frequent of these have at most r_1 + ... + r_i records. Entropy and the recursive condition
 * only get better where these sums are smaller, so what holds of r holds of every such choice. Where each record has one value
 * r is the table's histogram. No record has a value: nothing is learnt, and the promise holds.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SPREAD_H
#define KN_SPREAD_H

#include "kn_tree.h"

/* Does it hold? `counts`: of each value that occurs, in any order; it becomes r without the ones. */
bool kn_spread_holds(const kn_model *model, int64_t *counts, size_t count, int64_t support);

#endif
