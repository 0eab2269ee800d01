/* kn_database_roles.c: which column of which table plays which role; hierarchies of quasi-identifiers.
 *
 * A key can only be an identifier: it is replaced in every release, so its values are never published, and a
 * quasi-identifier in a key could not be generalized without breaking the joins (section 4.1, rule 1).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_database_roles.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_broader.h"
#include "kn_database_write.h"
#include "kn_error.h"
#include "kn_nearest.h"

enum { MOST_WEIGHT = 1000 }; /* as a release file may say */

static kn_status fail_attribute(const kn_database *db, const kn_database_table *t, const kn_attribute *a, kn_error *err,
                                const char *message)
{
    return kn_fail_at(err, KN_INPUT, db->source, 0, 0, "table \"%s\", column \"%s\": %s", t->name, a->name, message);
}

/* A column that refers to a reference: its hierarchy is that of the reference's broader rows. With other roles its values must
 * be keys all the same. */
static kn_status refer(kn_database *db, kn_database_table *t, int c, const kn_attribute *a, kn_error *err)
{
    kn_database_column *column = &t->columns[c];
    if (a->has_hierarchy)
        return fail_attribute(db, t, a, err,
                              "it refers to a reference, whose broader rows are its hierarchy; leave hierarchy out");
    const kn_foreign_key *f = kn_reference_link(t, c);
    if (f->column_count > 1 && (a->role != KN_ROLE_QUASI || c != f->columns[0])) return KN_OK;
    if (a->role == KN_ROLE_QUASI) KN_TRY(kn_reference_prepare(db, (int)(t - db->tables), c, err));
    KN_TRY(kn_reference_hierarchy(&column->hierarchy, db, (int)(t - db->tables), c, err));
    if (a->role == KN_ROLE_QUASI) return KN_OK;
    kn_hierarchy_free(column->hierarchy);
    column->hierarchy = NULL;
    return KN_OK;
}

static kn_status set_role(kn_database *db, kn_database_table *t, const kn_attribute *a, kn_error *err)
{
    kn_hierarchy_spec none = KN_HIERARCHY_SPEC_INIT;
    none.kind = KN_HIERARCHY_SUPPRESS;
    none.decimal = a->hierarchy.decimal;
    kn_hierarchy_spec spec = a->has_hierarchy ? a->hierarchy : none;
    spec.timezone = db->timezone;
    int c = kn_table_find(t->table, a->name);
    if (c < 0) {
        kn_nearest near = {.text = a->name};
        for (int i = 0; i < t->table->column_count; i++) kn_nearest_try(&near, t->table->columns[i].name);
        return kn_fail_at(err, KN_INPUT, db->source, 0, 0, "table \"%s\", column \"%s\": there is no such column%s%s%s",
                          t->name, a->name, KN_MEANT(near));
    }
    if (!a->has_role) return fail_attribute(db, t, a, err, "it has no role");
    kn_database_column *column = &t->columns[c];
    if ((column->key || column->foreign || column->joined) && a->role != KN_ROLE_IDENTIFIER)
        return fail_attribute(db, t, a, err,
                              "it is part of a key, which has no role but identifier; if it says something, name a key "
                              "without it (key: [] if there is no other)");
    if (column->old_key && a->role != KN_ROLE_IDENTIFIER)
        return fail_attribute(db, t, a, err,
                              "it refers to rows by their old keys, which are not released; leave it without a role");
    if (a->role == KN_ROLE_COUNT)
        return fail_attribute(db, t, a, err, "a row of a database stands for itself (role count)");
    if (a->role == KN_ROLE_WEIGHT) return fail_attribute(db, t, a, err, "a table of a database has no weights");
    column->has_role = true;
    column->role = a->role;
    column->weight = a->weight;
    kn_hierarchy_free(column->hierarchy);
    column->hierarchy = NULL;
    if (column->refers && a->role != KN_ROLE_IDENTIFIER) return refer(db, t, c, a, err);
    if (a->role != KN_ROLE_QUASI && !(a->role == KN_ROLE_SENSITIVE && a->has_hierarchy)) return KN_OK;
    return kn_hierarchy_make(&column->hierarchy, db->ctx, t->table, c, &spec, false, err);
}

static kn_status gather_quasi(kn_database *db, kn_database_table *t, kn_error *err)
{
    kn_free(t->quasi);
    t->quasi_count = 0;
    t->quasi = kn_alloc_array(db->ctx, (size_t)t->table->column_count + 1, sizeof *t->quasi);
    if (!t->quasi) return kn_fail_memory(err, db->ctx, "a database");
    for (int c = 0; c < t->table->column_count; c++)
        if (t->columns[c].has_role && t->columns[c].role == KN_ROLE_QUASI &&
            (t->columns[c].whole < 0 || t->columns[c].whole == c))
            t->quasi[t->quasi_count++] = c;
    return KN_OK;
}

/* A key of several columns that refers to a reference is one quasi-identifier: of all its columns, or of none. */
static kn_status check_whole(const kn_database *db, const kn_database_table *t, kn_error *err)
{
    for (int i = 0; i < t->foreign_count; i++) {
        const kn_foreign_key *f = &t->foreign[i];
        int                   quasi = 0, other = 0;
        for (int c = 0; f->reference >= 0 && c < f->column_count; c++) {
            const kn_database_column *d = &t->columns[f->columns[c]];
            bool                      is = d->has_role && d->role == KN_ROLE_QUASI;
            quasi += is;
            if (!is) other = f->columns[c];
        }
        if (quasi > 0 && quasi < f->column_count)
            return kn_fail(
                err, KN_INPUT,
                "%s: table \"%s\": the columns that refer to the reference \"%s\" are generalized together; give "
                "\"%s\" the role quasi too, or leave the link out (ignore: [\"%s\"])",
                db->source, t->name, f->target_name, t->table->columns[other].name, t->table->columns[other].name);
    }
    return KN_OK;
}

/* What a row counts beyond its quasi-identifiers where nobody said it: nothing where it has some, or is a person, who is
 * paired with others in any case; otherwise its released cells, those of keys included. */
static void weigh(const kn_database *db, int table)
{
    kn_database_table *t = &db->tables[table];
    t->weight = 0;
    if (t->quasi_count > 0 || table == db->entity) return;
    for (int c = 0; c < t->table->column_count; c++) t->weight += kn_database_released(&t->columns[c]);
}

/* A few rows are as much of a table as many are of a larger one: they count as often as they are fewer. Else three
 * conditions are given up for one of a hundred observations. */
static void balance(const kn_database *db, const bool *said)
{
    int64_t most = 0;
    for (int t = 0; t < db->table_count; t++)
        if (!said[t] && db->tables[t].weight > 0 && db->tables[t].table->rows > most) most = db->tables[t].table->rows;
    for (int i = 0; i < db->table_count; i++) {
        kn_database_table *t = &db->tables[i];
        if (said[i] || t->weight == 0 || t->table->rows == 0) continue;
        int64_t times = most / t->table->rows;
        t->weight = times <= MOST_WEIGHT / t->weight ? t->weight * times : MOST_WEIGHT;
    }
}

/* Which columns of a reference are left out, and that its keys are good. */
static kn_status set_reference(kn_database *refs, const kn_spec_table *said, kn_error *err)
{
    kn_database_table *t = &refs->tables[kn_database_find(refs, said->name)];
    int64_t            faults = 0;
    for (int a = 0; a < said->attribute_count; a++) {
        int c = kn_table_find(t->table, said->attributes[a].name);
        if (c < 0) return fail_attribute(refs, t, &said->attributes[a], err, "there is no such column");
        if ((t->columns[c].key || t->columns[c].joined) && said->attributes[a].role == KN_ROLE_IDENTIFIER)
            return fail_attribute(refs, t, &said->attributes[a], err, "rows refer to it: it cannot be left out");
        t->columns[c].has_role = said->attributes[a].has_role;
        t->columns[c].role = said->attributes[a].role;
    }
    KN_TRY(kn_database_key_faults(&faults, refs, (int)(t - refs->tables), err));
    return faults == 0
               ? KN_OK
               : kn_fail(err, KN_INPUT, "%s: the key of table \"%s\" is missing in some rows, or the same in several",
                         refs->source, t->name);
}

kn_status kn_database_roles(kn_database *db, const kn_spec_table *tables, int table_count, kn_error *err)
{
    for (int i = 0; i < table_count; i++)
        if (tables[i].reference) KN_TRY(set_reference(db->references, &tables[i], err));
    KN_TRY(kn_references_widen(db, err));
    for (int i = 0; i < table_count; i++) {
        if (tables[i].reference) continue;
        int t = kn_database_find(db, tables[i].name);
        if (t < 0) return kn_fail(err, KN_INPUT, "%s: there is no table \"%s\"", db->source, tables[i].name);
        for (int a = 0; a < tables[i].attribute_count; a++)
            KN_TRY(set_role(db, &db->tables[t], &tables[i].attributes[a], err));
    }
    for (int t = 0; t < db->table_count; t++) {
        KN_TRY(check_whole(db, &db->tables[t], err));
        KN_TRY(gather_quasi(db, &db->tables[t], err));
        weigh(db, t);
    }
    bool *said = kn_alloc_array_zero(db->ctx, (size_t)db->table_count + 1, sizeof *said);
    if (!said) return kn_fail_memory(err, db->ctx, "reading a database");
    for (int i = 0; i < table_count; i++) {
        if (!tables[i].has_weight || tables[i].reference) continue;
        int t = kn_database_find(db, tables[i].name);
        said[t] = true;
        db->tables[t].weight = tables[i].weight;
    }
    balance(db, said);
    kn_free(said);
    return KN_OK;
}

kn_status kn_csv_empty_is_missing(const char ***out, kn_context *ctx, const char *input, kn_csv_options *csv,
                                  kn_error *err)
{
    *out = NULL;
    bool tables = kn_database_kind_of(input) == KN_DATABASE_FOLDER || !kn_database_named(input);
    if (!csv->na && tables) return KN_OK; /* it is a usual spelling */
    const char **na = kn_alloc_array(ctx, (size_t)csv->na_count + 1, sizeof *na);
    if (!na) return kn_fail_memory(err, ctx, "reading a database");
    for (int i = 0; i < csv->na_count; i++) na[i] = csv->na[i];
    na[csv->na_count++] = "";
    csv->na = *out = na;
    return KN_OK;
}
