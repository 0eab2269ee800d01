/* kn_carry_csv.h: a release with kept columns that were carried (kn_carry.h) as CSV, row by row. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_CARRY_CSV_H
#define KN_CARRY_CSV_H

#include "kn_carry.h"

typedef struct kn_carry_csv {
    const kn_carry         *carry;
    const kn_carry_release *release;
    kn_buffer               rows;    /* that are not written yet                                        */
    kn_buffer              *between; /* of the current entry: before each kept cell, and behind the last */
    int64_t                 entry;   /* -1: none                                                        */
} kn_carry_csv;

/* Begins with the names of all columns. Ended also on failure; all zero is fine. */
KN_CHECK kn_status kn_carry_csv_open(kn_carry_csv *out, const kn_carry *carry, const kn_carry_release *release, kn_error *err);

/* A row with these texts in its kept columns. */
KN_CHECK kn_status kn_carry_csv_row(kn_carry_csv *csv, int64_t entry, const kn_string *texts, kn_error *err);

/* Hands over what is left. */
KN_CHECK kn_status kn_carry_csv_finish(kn_carry_csv *csv, kn_error *err);
void               kn_carry_csv_end(kn_carry_csv *csv);

/* What an entry shows in a column that is not kept, of texts. */
kn_string kn_carry_entry_text(const kn_batch_column *column, int64_t entry);

#endif
