/* database/left.c: is anything left of the quasi-identifiers? Interface: kn_database_run.h.
 *
 * A table may lose rows, even all of them, a column all its information; if no person is left, or no column holds any
 * information, the release is refused unless it is forced. An anatomy, which shows values unchanged, can only lose
 * rows.
 *
 * Cost: one pass over the nodes of the plan.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_database_run.h"
#include "kn_error.h"
#include "kn_hierarchy.h"

static bool column_left(const kn_database_run *run, int t, int q)
{
    const kn_database_plan  *plan = run->plan;
    const kn_database_table *table = &run->db->tables[t];
    const kn_hierarchy      *h = table->columns[table->quasi[q]].hierarchy;
    for (uint64_t v = 0; v < plan->node_start[plan->classes]; v++)
        if (plan->table[v] == t &&
            (run->all.spec->anatomy || plan->values[v * (uint64_t)plan->width + (uint64_t)q] != kn_hierarchy_root(h)))
            return true;
    return false;
}

/* The share of its rows that a table lost. */
static double lost_share(const kn_release_table *t)
{
    int64_t rows = t->rows_in - t->orphans;
    return rows > 0 ? (double)t->deleted / (double)rows : 0;
}

/* Names the tables, but for persons, that lost more than a tenth of their rows: the worst first, before all other notes. */
static kn_status name_losers(kn_database_run *run, kn_error *err)
{
    kn_release_head *head = run->all.head;
    int              before = head->note_count;
    for (double last = INFINITY, next; last > 0.1; last = next) {
        next = 0;
        for (int t = 0; t < run->db->table_count; t++) {
            const kn_release_table *r = &run->result->tables[t];
            double                  lost = lost_share(r);
            if (t == run->db->entity || lost <= 0.1) continue;
            if (lost < last && lost > next) next = lost;
            if (lost != last) continue;
            if (r->rows == 0)
                KN_TRY(
                    kn_release_note(&run->all, err,
                                    "no row is left of table \"%s\": in every class somebody has none; 'weight: 20' "
                                    "for the table, in the release file, keeps rows of it at the cost of others, and "
                                    "so does the role sensitive for columns of it that nobody can know",
                                    r->name));
            else
                KN_TRY(kn_release_note(&run->all, err, "table \"%s\" loses %lld of %lld rows (%.0f %%)", r->name,
                                       (long long)r->deleted, (long long)(r->rows_in - r->orphans), 100 * lost));
        }
    }
    return kn_release_move_notes(&run->all, before, err);
}

/* A promise about a column of which no row is left is kept, but by nothing. */
static kn_status name_idle(kn_database_run *run, kn_error *err)
{
    for (int i = 0; i < run->promise_count; i++) {
        const kn_relational_promise *p = &run->promises[i];
        const kn_release_table      *r = &run->result->tables[p->table];
        if (r->rows > 0) continue;
        KN_TRY(kn_release_note(&run->all, err, "%s of \"%s\" is about nothing: no row is left of table \"%s\"",
                               kn_model_name(p->model.kind), p->model.attribute, r->name));
    }
    return KN_OK;
}

/* Adds notes on what is gone, and counts the columns that still hold information. */
static kn_status look(kn_database_run *run, int *left, kn_error *err)
{
    KN_TRY(name_losers(run, err));
    KN_TRY(name_idle(run, err));
    for (int t = 0; t < run->db->table_count; t++) {
        const kn_database_table *table = &run->db->tables[t];
        const kn_release_table  *r = &run->result->tables[t];
        for (int q = 0; r->rows > 0 && q < table->quasi_count; q++) {
            if (column_left(run, t, q))
                ++*left;
            else
                KN_TRY(kn_release_note(&run->all, err,
                                       "nothing is left of column \"%s.%s\": it shows the same in every row",
                                       table->name, table->table->columns[table->quasi[q]].name));
        }
    }
    return KN_OK;
}

kn_status kn_database_run_left(kn_release_run *all, const char **nothing, const char **why, kn_error *err)
{
    int left = 0;
    KN_TRY(look(kn_database_run_of(all), &left, err));
    if (left > 0) return KN_OK;
    *nothing = "nobody is released with a quasi-identifier that shows anything";
    *why =
        "nothing would be left: nobody would be released with a quasi-identifier that shows anything; ask for less or "
        "give hierarchies with more levels; --force releases it as it is";
    return KN_OK;
}
