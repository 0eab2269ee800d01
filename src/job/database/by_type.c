/* database/by_type.c: numbers and dates of a database without a hierarchy get the one that their type suggests
 * (kn_hierarchy_by_type.h), as those of a table do. Texts become the value or *: whether all of them are equally long codes
 * would depend on where the release is written, since files do not distinguish an empty text from a missing cell.
 * Interface: kn_database_run.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "kn_database_run.h"
#include "kn_error.h"
#include "kn_hierarchy_by_type.h"
#include "kn_hierarchy_make.h"

static kn_status take(kn_database_run *run, kn_database_table *t, const kn_attribute *a, kn_error *err)
{
    int               c = kn_table_find(t->table, a->name);
    char              name[300];
    kn_hierarchy     *made = NULL;
    kn_hierarchy_spec rule;
    if (t->columns[c].refers) return KN_OK; /* it has the one of its reference */
    KN_TRY(kn_hierarchy_by_type(&rule, &run->all.scratch, &t->table->columns[c], err));
    if (rule.kind != KN_HIERARCHY_RANGES && rule.kind != KN_HIERARCHY_CALENDAR) return KN_OK;
    rule.decimal = a->hierarchy.decimal;
    rule.timezone = run->db->timezone;
    KN_TRY(kn_hierarchy_make(&made, run->all.ctx, t->table, c, &rule, false, err));
    kn_hierarchy_free(t->columns[c].hierarchy);
    t->columns[c].hierarchy = made;
    if (run->all.spec->anatomy) return KN_OK; /* it shows values as they are */
    snprintf(name, sizeof name, "%.140s.%.140s", t->name, a->name);
    return kn_release_say_by_type(&run->all, name, &rule, t->table->columns[c].type, err);
}

kn_status kn_database_run_by_type(kn_database_run *run, kn_error *err)
{
    for (int i = 0; i < run->all.spec->table_count; i++) {
        const kn_spec_table *table = &run->all.spec->tables[i];
        for (int a = 0; a < table->attribute_count; a++)
            if (table->attributes[a].role == KN_ROLE_QUASI && !table->attributes[a].has_hierarchy)
                KN_TRY(take(run, &run->db->tables[kn_database_find(run->db, table->name)], &table->attributes[a], err));
    }
    return KN_OK;
}
