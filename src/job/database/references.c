/* database/references.c: what the user is told of references and keys, and references that persons write. Interface:
 * kn_database_run.h.
 *
 * A reference must be the same whoever the persons are: a column that counts the rows that refer to each row, itself or through
 * other references, does not, and is refused. Whether it does otherwise cannot be seen in the data: columns whose names speak of
 * counts or of last times are named, and references whose rows have one person each.
 *
 * Cost: one pass over the rows that refer to references, and over the references' columns.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_broader.h"
#include "kn_database_run.h"
#include "kn_error.h"
#include "kn_referring.h"

/* ---- Counters ---- */

static kn_status refuse_counters(const kn_database *db, const char *table, int reference, const int64_t *counts,
                                 kn_error *err)
{
    const kn_database_table *to = &db->references->tables[reference];
    for (int c = 0; c < to->table->column_count; c++)
        if (kn_reference_copied(&to->columns[c]) && kn_holds_counts(to->table, c, counts))
            return kn_fail(
                err, KN_INPUT,
                "table \"%s\" is declared a reference, but its column \"%s\" counts the rows of \"%s\" that refer to "
                "each row: persons cause it; leave it out (role: identifier)",
                to->name, to->table->columns[c].name, table);
    return KN_OK;
}

/* The place of a reference's first foreign key among those of all. */
static size_t first_link(const kn_database *references, int reference)
{
    size_t at = 0;
    for (int t = 0; t < reference; t++) at += (size_t)references->tables[t].foreign_count;
    return at;
}

/* The counts of a reference, and those of the references that it refers to: these count what its rows do. Each foreign key is passed once. */
static kn_status check_counts(const kn_database *db, const char *table, int reference, const int64_t *counts,
                              bool *passed, kn_error *err)
{
    const kn_database_table *from = &db->references->tables[reference];
    bool                    *mine = passed + first_link(db->references, reference);
    KN_TRY(refuse_counters(db, table, reference, counts, err));
    for (int i = 0; i < from->foreign_count; i++) {
        const kn_foreign_key *f = &from->foreign[i];
        if (f->target < 0 || mine[i]) continue;
        mine[i] = true;
        const kn_database_table *to = &db->references->tables[f->target];
        int64_t                 *above = kn_alloc_array_zero(db->ctx, (size_t)to->table->rows + 1, sizeof *above);
        if (!above) return kn_fail_memory(err, db->ctx, "reading a reference");
        kn_status st = kn_count_referring(above, db->ctx, (kn_key_cells){from->table, f->columns, f->column_count},
                                          counts, (kn_key_cells){to->table, f->target_columns, f->column_count}, err);
        if (st == KN_OK) st = check_counts(db, table, f->target, above, passed, err);
        kn_free(above);
        KN_TRY(st);
    }
    return KN_OK;
}

/* A row that one person refers to may be made for that person: an address, an account. */
static kn_status note_own(kn_database_run *run, int table, const kn_database_table *to, const int64_t *counts,
                          kn_error *err)
{
    if (table != run->db->entity || !kn_made_for_one(counts, to->table->rows)) return KN_OK;
    return kn_release_note(
        &run->all, err,
        "no two persons refer to the same row of the reference \"%s\", and most of its rows have one: if "
        "rows are made for persons (an address), leave the table out",
        to->name);
}

static kn_status check_link(kn_database_run *run, int table, const kn_foreign_key *f, kn_error *err)
{
    const kn_database       *db = run->db;
    const kn_database_table *from = &db->tables[table], *to = &db->references->tables[f->reference];
    int                      columns = from->columns[f->columns[0]].whole >= 0 ? 1 : f->column_count;
    int64_t                 *counts = kn_alloc_array_zero(db->ctx, (size_t)to->table->rows + 1, sizeof *counts);
    bool                    *passed =
        kn_alloc_array_zero(db->ctx, first_link(db->references, db->references->table_count) + 1, sizeof *passed);
    kn_status st = counts && passed ? KN_OK : kn_fail_memory(err, db->ctx, "reading a reference");
    if (st == KN_OK)
        st = kn_count_referring(counts, db->ctx, (kn_key_cells){from->table, f->columns, columns}, NULL,
                                (kn_key_cells){to->table, to->key, to->key_count}, err);
    if (st == KN_OK) st = check_counts(db, from->name, f->reference, counts, passed, err);
    if (st == KN_OK) st = note_own(run, table, to, counts, err);
    KN_FREE(counts, passed);
    return st;
}

/* ---- Notes ---- */

/* Columns that are never missing in the original, and are in broader rows. */
static kn_status note_filled(kn_database_run *run, const kn_database_table *t, kn_error *err)
{
    int count = 0, first = -1;
    for (int c = 0; t->broader && t->broader->added > 0 && c < t->table->column_count; c++) {
        if (!t->columns[c].not_null || t->columns[c].key || !kn_reference_copied(&t->columns[c])) continue;
        if (count++ == 0) first = c;
    }
    if (count == 0) return KN_OK;
    char more[60] = "";
    if (count > 1) snprintf(more, sizeof more, " and %d more %s", count - 1, count == 2 ? "column" : "columns");
    return kn_release_note(&run->all, err,
                           "table \"%s\": the original declares \"%s\"%s NOT NULL, which broader rows leave empty: the "
                           "release does not declare that (broader: labels adds no rows)",
                           t->name, t->table->columns[first].name, more);
}

/* What refers to a reference whose groups are labels. */
static kn_status note_labels(kn_database_run *run, const kn_database_table *t, kn_error *err)
{
    for (int c = 0; c < t->table->column_count; c++) {
        if (!t->columns[c].label) continue;
        const kn_foreign_key *f = kn_reference_link(t, c);
        KN_TRY(kn_release_note(
            &run->all, err, "where \"%s.%s\" is generalized, its key is missing and column \"%s\" says what it is: %s",
            t->name, t->table->columns[c].name, t->columns[c].label,
            f->column_count > 1 ? "the key of the reference has several columns"
                                : "no rows are added to the reference"));
    }
    return KN_OK;
}

static kn_status note_reference(kn_database_run *run, const kn_database_table *t, kn_error *err)
{
    uint32_t added = t->broader ? t->broader->added : 0;
    char     more[80] = "";
    if (added > 0)
        snprintf(more, sizeof more, ", and %u broader %s added", (unsigned)added, added == 1 ? "row is" : "rows are");
    KN_TRY(kn_release_note(&run->all, err, "table \"%s\" is a reference: its %lld %s copied%s", t->name,
                           (long long)t->table->rows, t->table->rows == 1 ? "row is" : "rows are", more));
    KN_TRY(note_filled(run, t, err));
    for (int c = 0; c < t->table->column_count; c++)
        if (kn_reference_copied(&t->columns[c]) && kn_speaks_of_use(t->table->columns[c].name))
            KN_TRY(kn_release_note(
                &run->all, err,
                "column \"%s.%s\" of a reference is copied: if it changes with what persons do (a counter, "
                "a last time), leave it out (role: identifier)",
                t->name, t->table->columns[c].name));
    return KN_OK;
}

/* A key of several columns may say something: a date, a number within the parent. It is drawn anew. */
static kn_status note_key(kn_database_run *run, const kn_database_table *t, kn_error *err)
{
    if (t->drawn_key)
        return kn_release_note(&run->all, err,
                               "table \"%s\" has another key in the release, column \"%s\": the original's refers to a "
                               "reference",
                               t->name, t->drawn_key);
    for (int i = 0; t->key_count > 1 && i < t->key_count; i++) {
        const kn_database_column *c = &t->columns[t->key[i]];
        if (c->foreign || c->joined) continue;
        KN_TRY(
            kn_release_note(&run->all, err,
                            "column \"%s.%s\" is part of a key, which is drawn anew and means nothing; if it says "
                            "something, give it a role and its table a key without it (key: [] if there is no other)",
                            t->name, t->table->columns[t->key[i]].name));
    }
    return KN_OK;
}

kn_status kn_database_run_references(kn_database_run *run, kn_error *err)
{
    const kn_database *db = run->db;
    if (db->references && run->all.spec->anatomy)
        return kn_fail(err, KN_USAGE,
                       "an anatomy shows quasi-identifiers unchanged and has no references; leave one of them out");
    for (int t = 0; t < db->table_count; t++) {
        KN_TRY(note_key(run, &db->tables[t], err));
        KN_TRY(note_labels(run, &db->tables[t], err));
        for (int i = 0; i < db->tables[t].foreign_count; i++)
            if (db->tables[t].foreign[i].reference >= 0) KN_TRY(check_link(run, t, &db->tables[t].foreign[i], err));
    }
    for (int t = 0; db->references && t < db->references->table_count; t++)
        KN_TRY(note_reference(run, &db->references->tables[t], err));
    return KN_OK;
}
