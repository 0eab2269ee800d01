/* kn_database_links.c: several foreign keys along one path to persons: do they agree? One of them is used.
 *
 * A payment refers to a rental and to a customer: if it is the customer of the rental, the first key says all. The rows
 * that the chosen key leads to, table by table towards persons, are compared with those that the others refer to.
 *
 * Cost: a join per foreign key and per table on the path.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_database.h"
#include "kn_error.h"

/* rows[i] becomes the row of `target` that it leads to; KN_ROW_NONE or KN_ROW_MISSING: none. */
static kn_status climb(uint32_t *rows, int64_t count, const kn_database *db, const int *parent, const int *link,
                       int from, int target, kn_error *err)
{
    for (int t = from; t != target; t = parent[t]) {
        uint32_t *up = NULL;
        int64_t   twice = 0; /* keys are checked elsewhere */
        KN_TRY(kn_database_join(&up, db, t, link[t], &twice, err));
        for (int64_t i = 0; i < count; i++)
            if (rows[i] < KN_ROW_MISSING) rows[i] = up[rows[i]];
        kn_free(up);
    }
    return KN_OK;
}

static kn_status differ(int64_t *out, const kn_database *db, int table, const int *parent, const int *link, int other,
                        kn_error *err)
{
    const kn_database_table *t = &db->tables[table];
    uint32_t                *led = NULL, *said = NULL;
    int64_t                  twice = 0;
    kn_status                st = kn_database_join(&led, db, table, link[table], &twice, err);
    if (st == KN_OK) st = kn_database_join(&said, db, table, other, &twice, err);
    if (st == KN_OK) st = climb(led, t->table->rows, db, parent, link, parent[table], t->foreign[other].target, err);
    for (int64_t i = 0; st == KN_OK && i < t->table->rows; i++)
        *out += led[i] < KN_ROW_MISSING && said[i] != KN_ROW_MISSING && said[i] != led[i];
    KN_FREE(led, said);
    return st;
}

kn_status kn_database_links_differ(int64_t *out, int *other, const kn_database *db, int table, const int *parent,
                                   const int *link, kn_error *err)
{
    const kn_database_table *t = &db->tables[table];
    *out = 0;
    for (int i = 0; link[table] >= 0 && *out == 0 && i < t->foreign_count; i++) {
        int up = parent[table];
        if (i == link[table] || t->foreign[i].target < 0) continue;
        while (up >= 0 && up != t->foreign[i].target) up = parent[up];
        if (up < 0) continue; /* to a table that is left aside */
        *other = t->foreign[i].target;
        KN_TRY(differ(out, db, table, parent, link, i, err));
    }
    return KN_OK;
}

/* Which columns are keys, once links have been left out. */
static void mark_again(kn_database *db)
{
    for (int t = 0; t < db->table_count; t++)
        for (int c = 0; c < db->tables[t].table->column_count; c++)
            db->tables[t].columns[c].foreign = db->tables[t].columns[c].joined = false;
    for (int t = 0; t < db->table_count; t++)
        for (int i = 0; i < db->tables[t].foreign_count; i++) {
            const kn_foreign_key *f = &db->tables[t].foreign[i];
            for (int c = 0; f->target >= 0 && c < f->column_count; c++) {
                db->tables[t].columns[f->columns[c]].foreign = true;
                db->tables[f->target].columns[f->target_columns[c]].joined = true;
            }
        }
}

kn_status kn_database_use_one_link(kn_database *db, kn_error *err)
{
    bool some = false;
    for (int t = 0; t < db->table_count; t++) {
        kn_database_table *table = &db->tables[t];
        for (int i = 0; i < table->foreign_count; i++) {
            kn_foreign_key *f = &table->foreign[i];
            if (i == table->link || f->target < 0) continue;
            for (int c = 0; c < f->column_count; c++) table->columns[f->columns[c]].old_key = some = true;
            f->target = -1; /* as one to a table that is not read */
            kn_free(f->target_columns);
            f->target_columns = NULL;
        }
    }
    if (!some) return KN_OK;
    mark_again(db);
    for (int t = 0; t < db->table_count; t++)
        for (int c = 0; c < db->tables[t].table->column_count; c++) {
            kn_database_column *column = &db->tables[t].columns[c];
            column->old_key = column->old_key && !column->foreign;
            if (column->old_key && (column->key || column->joined))
                return kn_fail(err, KN_INPUT,
                               "%s: the key of table \"%s\" has column \"%s\", which refers to rows of a table that is "
                               "not its parent; name a key without it (key: [] if there is no other)",
                               db->source, db->tables[t].name, db->tables[t].table->columns[c].name);
        }
    return KN_OK;
}
