/* database/references.c: what the user is told of references and keys, and references that persons write. Interface:
 * kn_database_run.h.
 *
 * A reference must be the same whoever the persons are: a column that counts the rows that refer to each row does not, and is
 * refused. Whether it does otherwise cannot be seen in the data: columns whose names speak of counts or of last times are named.
 *
 * Cost: one pass over the rows that refer to references, and over the references' columns.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_broader.h"
#include "kn_database_run.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_tuple.h"

enum { FEW_ROWS = 5, FEW_COUNTS = 3 };

/* ---- Counters ---- */

/* How many rows of a table refer to each row of a reference by a key, added to `counts`. */
static kn_status count_rows(const kn_database *db, int table, const kn_foreign_key *f, int64_t *counts, kn_error *err)
{
    const kn_database_table *from = &db->tables[table], *to = &db->references->tables[f->reference];
    int                      columns = from->columns[f->columns[0]].whole >= 0 ? 1 : f->column_count;
    int64_t                 *of_id = kn_alloc_array_zero(db->ctx, (size_t)from->table->rows + 1, sizeof *of_id);
    kn_interner              keys;
    kn_buffer                text;
    kn_interner_init(&keys, db->ctx);
    kn_buffer_init(&text, db->ctx);
    bool ok = of_id != NULL;
    for (int64_t r = 0; ok && r < from->table->rows; r++) {
        if (!kn_tuple_text(&text, from->table, f->columns, columns, r)) continue;
        uint32_t id = text.failed ? KN_ID_FAILED : kn_intern(&keys, (kn_string){text.data, text.size});
        ok = id != KN_ID_FAILED;
        if (ok) of_id[id - 1]++;
    }
    for (int64_t r = 0; ok && r < to->table->rows; r++) {
        if (!kn_tuple_text(&text, to->table, to->key, to->key_count, r)) continue;
        ok = !text.failed;
        uint32_t id = ok ? kn_interner_find(&keys, (kn_string){text.data, text.size}) : 0;
        if (id > 0) counts[r] += of_id[id - 1];
    }
    kn_interner_free(&keys);
    kn_buffer_free(&text);
    kn_free(of_id);
    return ok ? KN_OK : kn_fail_memory(err, db->ctx, "reading a reference");
}

/* Does a column hold these counts, row by row, and of so many rows and different counts that it is no chance? */
static bool holds_counts(const kn_table *t, int column, const int64_t *counts)
{
    const kn_column *c = &t->columns[column];
    if (t->rows < FEW_ROWS || c->dict.count < FEW_COUNTS) return false;
    for (int64_t r = 0; r < t->rows; r++) {
        char     room[24];
        uint32_t code = kn_column_code(c, r);
        int      size = snprintf(room, sizeof room, "%lld", (long long)counts[r]);
        if (code == c->dict.count ||
            !kn_string_equal(kn_dictionary_text(&c->dict, code), (kn_string){room, (size_t)size}))
            return false;
    }
    return true;
}

static kn_status check_counters(const kn_database *db, int table, const kn_foreign_key *f, kn_error *err)
{
    const kn_database_table *to = &db->references->tables[f->reference];
    int64_t                 *counts = kn_alloc_array_zero(db->ctx, (size_t)to->table->rows + 1, sizeof *counts);
    if (!counts) return kn_fail_memory(err, db->ctx, "reading a reference");
    kn_status st = count_rows(db, table, f, counts, err);
    for (int c = 0; st == KN_OK && c < to->table->column_count; c++)
        if (kn_reference_copied(&to->columns[c]) && holds_counts(to->table, c, counts))
            st = kn_fail(
                err, KN_INPUT,
                "table \"%s\" is declared a reference, but its column \"%s\" counts the rows of \"%s\" that refer to "
                "each row: persons cause it; leave it out (role: identifier)",
                to->name, to->table->columns[c].name, db->tables[table].name);
    kn_free(counts);
    return st;
}

/* ---- Notes ---- */

/* Does a name contain a word, in any letter case? */
static bool contains(const char *name, const char *word)
{
    for (; *name; name++) {
        size_t i = 0;
        while (word[i] && (name[i] | 0x20) == word[i]) i++;
        if (!word[i]) return true;
    }
    return false;
}

static bool speaks_of_use(const char *name)
{
    static const char *const words[] = {"last", "count", "sold", "views", "update", "stock", "onorder"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (contains(name, words[i]) && !contains(name, "country") && !contains(name, "discount")) return true;
    return false;
}

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
        if (kn_reference_copied(&t->columns[c]) && speaks_of_use(t->table->columns[c].name))
            KN_TRY(kn_release_note(
                &run->all, err,
                "column \"%s.%s\" of a reference is copied: if it changes with what persons do (a counter, "
                "a last time), leave it out (role: identifier)",
                t->name, t->table->columns[c].name));
    return KN_OK;
}

/* A key of several columns may say something: a date, a number within the parent. It becomes a number that means nothing. */
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
        KN_TRY(kn_release_note(&run->all, err,
                               "column \"%s.%s\" is part of a key and becomes a number that means nothing; if it says "
                               "something, give it a role and its table key: []",
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
            if (db->tables[t].foreign[i].reference >= 0) KN_TRY(check_counters(db, t, &db->tables[t].foreign[i], err));
    }
    for (int t = 0; db->references && t < db->references->table_count; t++)
        KN_TRY(note_reference(run, &db->references->tables[t], err));
    return KN_OK;
}
