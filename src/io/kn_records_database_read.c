/* kn_records_database_read.c: the persons of a database as tree records, from the source of its tables.
 *
 * Interface: kanon/records.h. Cost and memory: those of the database and of its forest.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/database.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_database_roles.h"
#include "kn_error.h"
#include "kn_forest.h"
#include "kn_records.h"

/* Hierarchies are those of the columns: a class only names its column. */
static kn_status records_of_forest(kn_records **out, kn_context *ctx, const kn_forest *forest, const kn_spec *spec,
                                   kn_error *err)
{
    kn_spec_class *classes = kn_alloc_array(ctx, (size_t)spec->class_count + 1, sizeof *classes);
    if (!classes) return kn_fail_memory(err, ctx, "reading records");
    for (int c = 0; c < spec->class_count; c++) {
        classes[c] = spec->classes[c];
        classes[c].has_hierarchy = false;
    }
    kn_status st = kn_records_of_database(out, ctx, forest, classes, spec->class_count, err);
    kn_free(classes);
    return st;
}

kn_status kn_records_read_persons(kn_records **out, kn_database **kept, kn_context *ctx, const char *input,
                                  const kn_spec *spec, const char *snapshot, kn_error *err)
{
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    kn_csv_options      csv = spec->csv;
    kn_database        *db = NULL;
    kn_forest          *forest = NULL;
    int64_t             orphans = 0;
    *out = NULL;
    if (kept) *kept = NULL;
    options.tables = spec->tables;
    options.table_count = spec->table_count;
    options.csv = &csv;
    options.snapshot = snapshot;
    if (spec->table_count == 0) return kn_fail(err, KN_USAGE, "the spec lists no tables");
    const char **na = NULL; /* no form of records has a node without a value */
    KN_TRY(kn_csv_empty_is_missing(&na, ctx, input, &csv, err));
    kn_status st = kn_database_read(&db, ctx, input, &options, err);
    kn_free(na);
    if (st == KN_OK) st = kn_database_choose(db, spec->entity_table, err);
    if (st == KN_OK) st = kn_database_drop_orphans(db, &orphans, err);
    if (st == KN_OK) st = kn_database_roles(db, spec->tables, spec->table_count, err);
    if (st == KN_OK) st = kn_forest_build(&forest, ctx, db, err);
    if (st == KN_OK) st = records_of_forest(out, ctx, forest, spec, err);
    if (st == KN_OK) (*out)->orphans = orphans;
    kn_forest_free(forest);
    if (kept && st == KN_OK)
        *kept = db;
    else
        kn_database_free(db);
    return st;
}

kn_status kn_records_read_database(kn_records **out, kn_context *ctx, const char *input, const kn_spec *spec,
                                   kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    return kn_records_read_persons(out, NULL, ctx, input, spec, NULL, err);
}
