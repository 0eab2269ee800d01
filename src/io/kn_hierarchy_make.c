/* kn_hierarchy_make.c: hierarchies as requested: from a file, or built over the values of a column, or of a table and
 * its population.
 *
 * Interface: kanon/hierarchy.h, kn_hierarchy_make.h. Cost: that of reading or building.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_hierarchy_make.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_column_union.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hierarchy_by_type.h"
#include "kn_hierarchy_file.h"
#include "kn_options.h"

static kn_status check_spec(const kn_hierarchy_spec *spec, kn_error *err)
{
    if (spec->decimal != '.' && spec->decimal != ',') return kn_fail(err, KN_USAGE, "the decimal mark is '.' or ','");
    return KN_OK;
}

/* ---- The population of a hierarchy ---- */

kn_status kn_hierarchy_read_counts(kn_table **out, kn_context *ctx, const char *path, const kn_csv_options *data,
                                   kn_error *err)
{
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    kn_column_type type = {"c1", KN_TYPE_AUTO, NULL};
    kn_table      *counts = NULL;
    if (data) csv = *data;
    if (data && data->type_count > 0) type = (kn_column_type){"c1", data->types[0].type, data->types[0].format};
    csv.delimiter = 0;
    csv.no_header = true;
    csv.guarded = false;
    csv.types = &type;
    csv.type_count = 1;
    csv.columns = NULL;
    csv.column_count = 0;
    csv.count = "c2";
    kn_error  inner = KN_ERROR_INIT;
    kn_status st = kn_table_read_csv(&counts, ctx, path, &csv, &inner);
    if (st == KN_INPUT && inner.line == 0 && strncmp(inner.message, path, strlen(path)) != 0)
        return kn_fail(err, st, "%s: %s", path, inner.message);
    if (st != KN_OK && err) *err = inner;
    if (st != KN_OK) return st;
    if (counts->column_count != 1) {
        kn_table_free(counts);
        return kn_fail(err, KN_INPUT, "%s: a line of a population is a leaf and its number of people", path);
    }
    *out = counts;
    return KN_OK;
}

/* A value that nobody has cannot be in the table. */
static kn_status check_people(const kn_hierarchy *h, const kn_table *table, int column, kn_error *err)
{
    const kn_column *c = &table->columns[column];
    uint32_t         code = 0;
    int64_t          row = 0;
    while (code < c->dict.count && kn_hierarchy_people(h, h->leaf_of_code[code]) > 0) code++;
    if (code == c->dict.count) return KN_OK;
    while (row < table->rows && kn_column_code(c, row) != code) row++;
    return kn_fail(err, KN_INPUT, "population: nobody has the value in data row %lld",
                   (long long)kn_table_number(table, row));
}

/* Says which of the tables lacks a leaf. */
static kn_status match_population(uint32_t **leaves, const kn_hierarchy *h, const kn_table *population, int column,
                                  char decimal, bool show_values, kn_error *err)
{
    kn_error  inner = KN_ERROR_INIT;
    kn_status st =
        kn_hierarchy_match(leaves, h, &population->columns[column], population->rows, decimal, show_values, &inner);
    return st == KN_OK ? KN_OK : kn_fail(err, st, "population: %s", inner.message);
}

/* Of a hierarchy that is read without a column: its leaves are matched as text. */
static kn_status attach_counts(kn_hierarchy *h, const kn_hierarchy_spec *spec, kn_error *err)
{
    kn_column_type text = {NULL, KN_TYPE_TEXT, NULL};
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    kn_table      *counts = NULL;
    uint32_t      *leaves = NULL;
    csv.types = &text;
    csv.type_count = 1;
    KN_TRY(kn_hierarchy_read_counts(&counts, h->ctx, spec->population, &csv, err));
    kn_status st = match_population(&leaves, h, counts, 0, spec->decimal, false, err);
    if (st == KN_OK) st = kn_hierarchy_set_people(h, counts, leaves, err);
    kn_free(leaves);
    kn_table_free(counts);
    return st;
}

static bool from_file(const kn_hierarchy_spec *spec)
{
    return spec->kind == KN_HIERARCHY_FILE || spec->kind == KN_HIERARCHY_TAXONOMY;
}

kn_status kn_hierarchy_read(kn_hierarchy **out, kn_context *ctx, const kn_hierarchy_spec *spec, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_hierarchy_spec, KN_HIERARCHY_SPEC_INIT, spec, "hierarchy", err);
    KN_TRY(check_spec(spec, err));
    if (!from_file(spec)) return kn_fail(err, KN_USAGE, "this kind of hierarchy needs a column");
    KN_TRY(kn_hierarchy_read_file(out, ctx, spec, err));
    kn_status st = spec->population ? attach_counts(*out, spec, err) : KN_OK;
    if (st == KN_OK) return KN_OK;
    kn_hierarchy_free(*out);
    *out = NULL;
    return st;
}

static kn_status make(kn_hierarchy **out, kn_context *ctx, const kn_table *table, int column,
                      const kn_hierarchy_spec *spec, bool show_values, kn_error *err)
{
    bool bound = !from_file(spec) && spec->kind != KN_HIERARCHY_GROUPS;
    if (bound) return kn_hierarchy_build(out, ctx, &table->columns[column], spec, err);
    kn_hierarchy *h = NULL;
    if (spec->kind == KN_HIERARCHY_GROUPS)
        KN_TRY(kn_hierarchy_build_groups(&h, ctx, table, column, spec, err));
    else
        KN_TRY(kn_hierarchy_read_file(&h, ctx, spec, err));
    kn_status status = kn_hierarchy_bind(h, table, column, spec->decimal, show_values, err);
    if (status != KN_OK)
        kn_hierarchy_free(h);
    else
        *out = h;
    return status;
}

kn_status kn_hierarchy_make(kn_hierarchy **out, kn_context *ctx, const kn_table *table, int column,
                            const kn_hierarchy_spec *spec, bool show_values, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_hierarchy_spec, KN_HIERARCHY_SPEC_INIT, spec, "hierarchy", err);
    KN_TRY(check_spec(spec, err));
    if (column < 0 || column >= table->column_count) return kn_fail(err, KN_USAGE, "there is no column %d", column);
    if (!spec->population) return make(out, ctx, table, column, spec, show_values, err);
    if (spec->kind == KN_HIERARCHY_GROUPS)
        return kn_fail(err, KN_USAGE, "groups that depend on the values carry no population");
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    kn_table      *counts = NULL;
    uint32_t      *leaves = NULL;
    csv.decimal = spec->decimal;
    KN_TRY(kn_hierarchy_read_counts(&counts, ctx, spec->population, &csv, err));
    kn_status st = kn_hierarchy_make_over(out, &leaves, ctx, table, column, counts, 0, spec, show_values, err);
    kn_free(leaves);
    kn_table_free(counts);
    return st;
}

/* ---- Over a table and its population ---- */

/* The leaves of a column's codes, through the union that the hierarchy is bound to. */
static uint32_t *leaves_of(const kn_hierarchy *h, const kn_column *column, const uint32_t *codes)
{
    uint32_t *leaves = kn_alloc_array(h->ctx, (size_t)column->dict.count + 1, sizeof *leaves);
    for (uint32_t c = 0; c <= column->dict.count && leaves; c++) leaves[c] = h->leaf_of_code[codes[c]];
    return leaves;
}

static kn_status build_over(kn_hierarchy **out, uint32_t **population_leaves, kn_context *ctx, const kn_column *column,
                            const kn_column *population, const kn_hierarchy_spec *spec, kn_error *err)
{
    kn_column_union both;
    kn_hierarchy   *h = NULL;
    KN_TRY(kn_column_union_make(&both, ctx, column, population, spec->decimal, err));
    kn_status st = kn_hierarchy_build(&h, ctx, &both.column, spec, err);
    if (st == KN_OK) {
        uint32_t *leaves = leaves_of(h, column, both.first);
        *population_leaves = leaves_of(h, population, both.second);
        if (leaves && *population_leaves) {
            st = kn_hierarchy_set_leaves(h, column, leaves, err);
        } else {
            kn_free(leaves);
            st = kn_fail_memory(err, ctx, "joining the values of two columns");
        }
    }
    kn_column_union_free(&both);
    *out = h;
    return st;
}

kn_status kn_hierarchy_make_over(kn_hierarchy **out, uint32_t **population_leaves, kn_context *ctx,
                                 const kn_table *table, int column, const kn_table *population, int population_column,
                                 const kn_hierarchy_spec *spec, bool show_values, kn_error *err)
{
    *out = NULL;
    *population_leaves = NULL;
    bool built = spec->kind != KN_HIERARCHY_FILE && spec->kind != KN_HIERARCHY_TAXONOMY &&
                 (spec->decimal == '.' || spec->decimal == ',');
    if (!population || !built || column < 0 || column >= table->column_count) {
        kn_hierarchy_spec alone = *spec;
        alone.population = NULL;
        KN_TRY(kn_hierarchy_make(out, ctx, table, column, &alone, show_values, err));
    }
    if (!population) return KN_OK;
    kn_status st = KN_OK;
    if (population_column < 0 || population_column >= population->column_count)
        st = kn_fail(err, KN_USAGE, "there is no column %d in the population", population_column);
    else if (built)
        st = build_over(out, population_leaves, ctx, &table->columns[column], &population->columns[population_column],
                        spec, err);
    else
        st = match_population(population_leaves, *out, population, population_column, spec->decimal, show_values, err);
    if (st == KN_OK && population->counts) {
        st = kn_hierarchy_set_people(*out, population, *population_leaves, err);
        if (st == KN_OK) st = check_people(*out, table, column, err);
    }
    if (st == KN_OK) return KN_OK;
    kn_hierarchy_free(*out);
    kn_free(*population_leaves);
    *out = NULL;
    *population_leaves = NULL;
    return st;
}

kn_status kn_hierarchy_by_type_over(kn_hierarchy_spec *out, kn_arena *arena, const kn_column *column,
                                    const kn_column *population, char decimal, kn_error *err)
{
    kn_column_union both;
    kn_status       st = KN_OK;
    if (population) KN_TRY(kn_column_union_make(&both, arena->ctx, column, population, decimal, err));
    st = kn_hierarchy_by_type(out, arena, population ? &both.column : column, err);
    if (population) kn_column_union_free(&both);
    out->decimal = decimal;
    return st;
}
