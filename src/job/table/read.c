/* table/read.c: from files to a table with roles.
 *
 * Only the columns that are needed are read: the declared ones without the identifiers that are dropped, and the
 * entity. Identifiers and kept columns are read as text unless the spec says otherwise: they are copied or keyed as
 * they are spelled. Undeclared columns are dropped and named, or refused.
 *
 * A kept column (or the weights) is refused without force if it would identify single rows (kn_kept.h).
 *
 * missing: drop removes rows with a missing quasi-identifier here; later stages do not see them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_kept.h"
#include "kn_nearest.h"
#include "kn_table_run.h"
#include "kn_table_select.h"
#include "kn_targets.h"

/* The name of the first input in messages. */
static const char *input_name(const kn_table_run *run)
{
    return kn_path_name(run->all.ctx, run->inputs[0]);
}

/* ---- Columns ---- */

/* Is the column of the inputs needed? */
static bool needed(const kn_spec *spec, const char *name)
{
    int a = kn_spec_find(spec, name);
    if (kn_spec_is_entity(spec, name)) return true;
    if (a < 0) return false;
    return spec->attributes[a].role != KN_ROLE_IDENTIFIER || spec->attributes[a].pseudonym_key_file;
}

static kn_status drop_columns(kn_table_run *run, const kn_csv_names *names, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    for (int c = 0; c < names->count; c++) {
        if (kn_spec_find(spec, names->names[c]) >= 0) continue;
        if (kn_spec_is_entity(spec, names->names[c])) continue;
        if (spec->undeclared_refuse)
            return kn_fail(err, KN_INPUT, "%s: column \"%s\" is not declared (undeclared: refuse)", input_name(run),
                           names->names[c]);
        KN_TRY(kn_release_drop(&run->all, names->names[c], err));
    }
    return KN_OK;
}

static bool has_name(const kn_csv_names *names, const char *name)
{
    for (int c = 0; c < names->count; c++)
        if (strcmp(names->names[c], name) == 0) return true;
    return false;
}

static kn_nearest nearest(const kn_csv_names *names, const char *name)
{
    kn_nearest near = {.text = name};
    for (int c = 0; c < names->count; c++) kn_nearest_try(&near, names->names[c]);
    return near;
}

static kn_status check_declared(const kn_table_run *run, const kn_csv_names *names, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        if (has_name(names, a->name)) continue;
        kn_nearest near = nearest(names, a->name);
        if (spec->path && a->line > 0)
            return kn_fail_at(err, KN_INPUT, spec->path, a->line, a->column, "%s has no column \"%s\"%s%s%s",
                              input_name(run), a->name, KN_MEANT(near));
        return kn_fail(err, KN_INPUT, "%s: there is no column \"%s\"%s%s%s", input_name(run), a->name, KN_MEANT(near));
    }
    for (int i = 0; i < spec->entity_count; i++) {
        kn_nearest near = nearest(names, spec->entity_columns[i]);
        if (!has_name(names, spec->entity_columns[i]))
            return kn_fail(err, KN_INPUT, "%s: there is no column \"%s\", which is to say whose row it is%s%s%s",
                           input_name(run), spec->entity_columns[i], KN_MEANT(near));
    }
    return KN_OK;
}

/* Identifiers are as they are spelled, unless they say whose row it is: 7 and 7.0 are one person. */
static kn_type type_of(const kn_spec *spec, const kn_attribute *a)
{
    bool as_spelled = a->role == KN_ROLE_IDENTIFIER ? !kn_spec_is_entity(spec, a->name)
                                                    : a->role == KN_ROLE_KEEP || a->role == KN_ROLE_SET;
    return a->type == KN_TYPE_AUTO && as_spelled ? KN_TYPE_TEXT : a->type;
}

static kn_status column_types(kn_table_run *run, kn_csv_options *csv, kn_error *err)
{
    const kn_spec  *spec = run->all.spec;
    kn_column_type *types =
        kn_release_alloc(&run->all, &run->all.scratch, (size_t)spec->attribute_count, sizeof *types, err);
    if (!types) return KN_MEMORY;
    csv->type_count = 0;
    for (int i = 0; i < spec->attribute_count; i++)
        types[csv->type_count++] =
            (kn_column_type){spec->attributes[i].name, type_of(spec, &spec->attributes[i]), spec->attributes[i].format};
    csv->types = types;
    return KN_OK;
}

static kn_status read_columns(kn_table_run *run, const kn_csv_names *names, kn_error *err)
{
    kn_csv_options csv = run->all.spec->csv;
    const char   **columns = kn_release_alloc(&run->all, &run->all.scratch, (size_t)names->count, sizeof *columns, err);
    if (!columns) return KN_MEMORY;
    csv.column_count = 0;
    for (int c = 0; c < names->count; c++) { /* they are asked for again where levels are judged */
        if (!needed(run->all.spec, names->names[c])) continue;
        const char *name = kn_arena_strndup(&run->all.scratch, names->names[c], strlen(names->names[c]));
        if (!name) return kn_fail_memory(err, run->all.ctx, "reading a table");
        columns[csv.column_count++] = name;
    }
    csv.columns = columns;
    KN_TRY(column_types(run, &csv, err));
    KN_TRY(kn_table_run_stay(run, &csv, err));
    if (run->large) return kn_table_run_group(run, &csv, err);
    return kn_csv_read_digested(&run->table, run->all.ctx, run->inputs, run->all.spec->input_count, &csv,
                                run->all.originals.sums, err);
}

static kn_status read_table(kn_table_run *run, kn_error *err)
{
    kn_csv_names names = {0};
    KN_TRY(kn_csv_read_names(&names, run->all.ctx, run->inputs[0], &run->all.spec->csv, err));
    kn_status st = KN_OK;
    for (int c = 0; st == KN_OK && c < names.count; c++)
        if (names.unnamed[c])
            st = kn_release_note(&run->all, err, "a column without a name is called \"%s\", after its place",
                                 names.names[c]);
    if (st == KN_OK) st = check_declared(run, &names, err);
    if (st == KN_OK) st = drop_columns(run, &names, err);
    if (st == KN_OK) st = read_columns(run, &names, err);
    run->delimiter = names.delimiter;
    kn_csv_names_free(&names);
    if (st != KN_OK) return st;
    if (run->delimiter != '\t' && kn_target_has_tabs(run->all.spec))
        return kn_fail(err, KN_USAGE, "%s: a release has its input's delimiter, which is no tab; name it FILE.csv",
                       run->all.spec->output);
    /* One file: the verifier need not guess its delimiter. Several may differ in it. */
    if (run->all.spec->input_count == 1) run->effective.csv.delimiter = run->delimiter;
    if (kn_target_is_table(run->all.spec)) run->delimiter = ',';
    if (run->table->rows == 0) return kn_fail(err, KN_INPUT, "%s: the table has no rows", input_name(run));
    run->result->rows_in = kn_table_total(run->table);
    if (run->all.spec->entity_count > 1)
        return kn_table_add_joined(run->table, run->all.spec->entity_columns, run->all.spec->entity_count,
                                   run->all.spec->entity, err);
    return KN_OK;
}

/* ---- Roles ---- */

static kn_status check_quasi(kn_table_run *run, const kn_column *c, kn_error *err)
{
    if (kn_column_cardinality(c) < 2)
        KN_TRY(kn_release_note(&run->all, err, "column \"%s\" has the same value in every row: it tells nobody apart",
                               c->name));
    for (uint32_t v = 0; v < c->dict.count; v++)
        if (kn_string_equal(kn_dictionary_text(&c->dict, v), (kn_string){"*", 1}))
            return kn_fail(
                err, KN_INPUT,
                "column \"%s\" of the data holds the value *, which stands for any value in a release; write "
                "it otherwise, or name it as a spelling of missing cells (na)",
                c->name);
    return KN_OK;
}

static kn_status find_roles(kn_table_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    size_t         n = (size_t)spec->attribute_count;
    run->quasi = kn_release_alloc(&run->all, &run->all.scratch, n, sizeof *run->quasi, err);
    run->quasi_names = kn_release_alloc(&run->all, &run->all.scratch, n, sizeof *run->quasi_names, err);
    run->weights = kn_release_alloc(&run->all, &run->all.scratch, n, sizeof *run->weights, err);
    if (!run->quasi || !run->quasi_names || !run->weights) return KN_MEMORY;
    run->entity = spec->entity ? kn_table_find(run->table, spec->entity) : -1;
    run->weight = -1;
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        int                 column = kn_table_find(run->table, a->name);
        if (a->role == KN_ROLE_WEIGHT) run->weight = column;
        if (a->role != KN_ROLE_QUASI) continue;
        run->quasi_names[run->quasi_count] = a->name;
        run->weights[run->quasi_count] = a->weight;
        run->quasi[run->quasi_count++] = column;
        run->missing_cells += run->table->columns[column].missing;
        KN_TRY(check_quasi(run, &run->table->columns[column], err));
    }
    return KN_OK;
}

/* ---- Missing quasi-identifiers ---- */

static kn_status rows_without_missing(kn_table_run *run, int64_t **out, int64_t *count, kn_error *err)
{
    int64_t *rows = kn_alloc_array(run->all.ctx, (size_t)run->table->rows, sizeof *rows);
    if (!rows) return kn_fail_memory(err, run->all.ctx, "setting rows with missing cells aside");
    *count = 0;
    for (int64_t row = 0; row < run->table->rows; row++) {
        bool missing = false;
        for (int q = 0; q < run->quasi_count && !missing; q++) {
            const kn_column *c = &run->table->columns[run->quasi[q]];
            missing = kn_column_code(c, row) == c->dict.count;
        }
        if (!missing) rows[(*count)++] = row;
    }
    *out = rows;
    return KN_OK;
}

static kn_status drop_missing(kn_table_run *run, kn_error *err)
{
    if (run->judged) kn_table_run_dropped(run);
    if (run->judged || run->all.spec->missing != KN_MISSING_DROP || run->missing_cells == 0) return KN_OK;
    int64_t count = 0;
    KN_TRY(rows_without_missing(run, &run->original_rows, &count, err));
    run->result->missing_dropped = kn_table_total(run->table);
    if (count == 0) return kn_fail(err, KN_INPUT, "every row has a missing quasi-identifier (missing: drop)");
    kn_table *kept = NULL;
    KN_TRY(kn_table_select(&kept, run->all.ctx, run->table, run->original_rows, count, err));
    run->result->missing_dropped -= kn_table_total(kept);
    kn_table_free(run->table);
    run->table = kept;
    return KN_OK;
}

static kn_status find_budget(kn_table_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    run->budget = spec->suppression_is_count ? spec->suppression_rows
                                             : kn_fraction_of(spec->suppression, kn_table_total(run->table));
    if (run->budget < 0) return kn_fail(err, KN_USAGE, "the suppression budget must not be negative");
    if (run->budget > kn_table_total(run->table)) run->budget = kn_table_total(run->table);
    return KN_OK;
}

static kn_status read_rows(kn_table_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    if (spec->missing == KN_MISSING_WILDCARD)
        return kn_fail(err, KN_USAGE,
                       "missing: wildcard is a way to measure risk, not to make a release; use value or drop");
    KN_TRY(read_table(run, err));
    KN_TRY(find_roles(run, err));
    if (run->carried && !spec->force) KN_TRY(kn_table_run_check_carried(run, err));
    for (int i = 0; i < spec->attribute_count && !spec->force; i++)
        if ((spec->attributes[i].role == KN_ROLE_KEEP && !run->carried) || spec->attributes[i].role == KN_ROLE_WEIGHT)
            KN_TRY(kn_kept_check(run->all.ctx, run->table, kn_table_find(run->table, spec->attributes[i].name),
                                 spec->attributes[i].name, spec->csv.decimal, err));
    KN_TRY(drop_missing(run, err));
    return find_budget(run, err);
}

kn_status kn_table_run_read(kn_release_run *all, kn_error *err)
{
    kn_table_run *run = kn_table_run_of(all);
    KN_TRY(kn_table_run_spool(run, err));
    KN_TRY(read_rows(run, err));
    KN_TRY(kn_table_run_link(run, err));
    KN_TRY(kn_table_run_columns(run, err));
    KN_TRY(kn_table_run_dependencies(run, err));
    return kn_table_run_warn_of_table(run, err);
}
