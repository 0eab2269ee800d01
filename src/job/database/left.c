/* database/left.c: is anything left of the quasi-identifiers? Interface: kn_job_database.h.
 *
 * A table may lose all its rows, a column all that it says; where nobody is left, or no column says anything, the release is
 * refused unless it is forced. Of an anatomy, which shows values as they are, rows alone can be lost.
 *
 * Cost: one pass over the nodes of the plan.
 */
#include <string.h>

#include "kn_error.h"
#include "kn_hierarchy.h"
#include "kn_job_database.h"

static bool column_left(const kn_dbrun *run, int t, int q)
{
    const kn_database_plan  *plan = run->plan;
    const kn_database_table *table = &run->db->tables[t];
    const kn_hierarchy      *h = table->columns[table->quasi[q]].hierarchy;
    for (uint64_t v = 0; v < plan->node_start[plan->classes]; v++)
        if (plan->table[v] == t &&
            (run->spec->anatomy || plan->values[v * (uint64_t)plan->width + (uint64_t)q] != kn_hierarchy_root(h)))
            return true;
    return false;
}

/* Notes what is gone, and counts the columns that still say something. */
static kn_status look(kn_dbrun *run, int *left, kn_error *err)
{
    for (int t = 0; t < run->db->table_count; t++) {
        const kn_database_table *table = &run->db->tables[t];
        const kn_release_table  *r = &run->result->tables[t];
        if (r->rows_in - r->orphans > 0 && r->rows == 0) {
            KN_TRY(kn_dbrun_note(run, err, "no row is left of table \"%s\"", table->name));
            continue;
        }
        for (int q = 0; r->rows > 0 && q < table->quasi_count; q++) {
            if (column_left(run, t, q))
                ++*left;
            else
                KN_TRY(kn_dbrun_note(run, err, "nothing is left of column \"%s.%s\": it shows the same in every row",
                                     table->name, table->table->columns[table->quasi[q]].name));
        }
    }
    return KN_OK;
}

kn_status kn_dbrun_check_left(kn_dbrun *run, kn_error *err)
{
    static const char why[] =
        "nothing would be left: nobody would be released with a quasi-identifier that shows "
        "anything; ask for less or give hierarchies with more levels; --force releases it as it is";
    int left = 0;
    KN_TRY(look(run, &left, err));
    if (left > 0) return KN_OK;
    run->result->nothing_left = "nobody is released with a quasi-identifier that shows anything";
    if (run->spec->force) return kn_dbrun_note(run, err, "nothing is left: %s", run->result->nothing_left);
    run->result->found = false;
    run->result->reason = kn_arena_strndup(run->arena, why, strlen(why));
    return run->result->reason ? KN_OK : kn_fail_memory(err, run->ctx, "making a release");
}
