/* database/by_type.c: numbers and dates of a database without a hierarchy get the one that their type suggests
 * (kn_database_by_type), and the owner is told. Interface: kn_database_run.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "kn_database_roles.h"
#include "kn_database_run.h"
#include "kn_error.h"

static kn_status take(kn_database_run *run, int table, const kn_attribute *a, kn_error *err)
{
    char              name[300];
    bool              taken;
    kn_hierarchy_spec rule;
    KN_TRY(kn_database_by_type(&taken, &rule, &run->all.scratch, run->db, table, a,
                               kn_people_column(run->people, run->db->tables[table].name, a->name), err));
    if (!taken || run->all.spec->anatomy) return KN_OK; /* an anatomy shows values as they are */
    const kn_database_table *t = &run->db->tables[table];
    snprintf(name, sizeof name, "%.140s.%.140s", t->name, a->name);
    return kn_release_say_by_type(&run->all, name, &rule, t->table->columns[kn_table_find(t->table, a->name)].type,
                                  err);
}

kn_status kn_database_run_by_type(kn_database_run *run, kn_error *err)
{
    for (int i = 0; i < run->all.spec->table_count; i++) {
        const kn_spec_table *table = &run->all.spec->tables[i];
        for (int a = 0; a < table->attribute_count && !table->reference; a++)
            KN_TRY(take(run, kn_database_find(run->db, table->name), &table->attributes[a], err));
    }
    return KN_OK;
}
