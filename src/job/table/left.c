/* table/left.c: is anything left of the quasi-identifiers? Interface: kn_table_run.h.
 *
 * A column that shows the same in every row holds no information; if all quasi-identifiers do, the release is refused
 * unless it is forced: its owner may have asked for more than so few rows allow. Sensitive and kept columns do not
 * count.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_error.h"
#include "kn_table_run.h"

enum { WORTH_LEVELS = 5 /* as in warn.c, which has its own note on columns without a hierarchy */ };

/* Did it hold information in the original? */
static bool had_values(const kn_table_run *run, int q)
{
    return run->table->columns[run->quasi[q]].dict.count > 1;
}

static bool is_blank(const kn_table_run *run, int q)
{
    return had_values(run, q) && run->result->attributes[q].lm >= 1;
}

static bool is_told(const kn_table_run *run, int q)
{
    return run->result->levels && run->result->levels[q] > 0 && kn_table_run_by_type(run, q) &&
           run->rules[q].kind == KN_HIERARCHY_SUPPRESS && run->table->columns[run->quasi[q]].dict.count >= WORTH_LEVELS;
}

kn_status kn_table_run_left(kn_release_run *all, const char **nothing, const char **why, kn_error *err)
{
    kn_table_run *run = kn_table_run_of(all);
    int           blank = 0, told = 0;
    for (int q = 0; q < run->quasi_count; q++) {
        blank += is_blank(run, q);
        told += had_values(run, q);
    }
    if (blank > 0 && blank == told) {
        *nothing = "no quasi-identifier shows anything but the same in every row";
        *why =
            "nothing would be left: no quasi-identifier would show anything but the same in every row; ask for less, "
            "allow suppression or give hierarchies with more levels; --force releases it as it is";
        return KN_OK;
    }
    for (int q = 0; q < run->quasi_count; q++)
        if (is_blank(run, q) && !is_told(run, q))
            KN_TRY(kn_release_note(all, err, "nothing is left of column \"%s\": it shows the same in every row",
                                   run->quasi_names[q]));
    return KN_OK;
}
