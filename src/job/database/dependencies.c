/* database/dependencies.c: the dependencies that a release file declares within tables of a database: read, checked on the
 * original, kept (kn_relational_dependency.h). Interface: kn_database_run.h.
 *
 * Columns are named TABLE.COLUMN, or by a name that one table has; all of a dependency are of one table. Only functional ones
 * can be kept.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/dependencies.h>
#include <string.h>

#include "kn_database_run.h"
#include "kn_error.h"
#include "kn_relational_dependency.h"
#include "kn_spec.h"

static kn_status about(const kn_database_run *run, int i, kn_status status, kn_error *err)
{
    char why[sizeof err->message];
    if (!err || (status != KN_INPUT && status != KN_USAGE)) return status;
    memcpy(why, err->message, sizeof why);
    return kn_fail(err, status, "dependency %d (%s): %s", i + 1, run->all.spec->dependencies[i], why);
}

/* A column of the dependency's table, which must be released. */
static kn_status find_column(kn_database_run *run, kn_relational_dependency *d, const char *name, int *out,
                             kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    int            table, attribute;
    if (!kn_spec_find_column(spec, name, &table, &attribute))
        return kn_fail(err, KN_INPUT,
                       attribute < 0 ? "there is no declared column \"%s\""
                                     : "several tables have a column \"%s\": write TABLE.COLUMN",
                       name);
    int t = spec->tables[table].reference ? -1 : kn_database_find(run->db, spec->tables[table].name);
    if (t < 0)
        return kn_fail(err, KN_INPUT,
                       "\"%s\" is a column of a reference, which is released as it is: all that held in it "
                       "holds",
                       name);
    if (d->table >= 0 && d->table != t)
        return kn_fail(err, KN_INPUT, "its columns are of tables \"%s\" and \"%s\"; a dependency is within one table",
                       run->db->tables[d->table].name, run->db->tables[t].name);
    d->table = t;
    *out = kn_table_find(run->db->tables[t].table, spec->tables[table].attributes[attribute].name);
    const kn_database_column *column = &run->db->tables[t].columns[*out];
    if (column->key || column->foreign || column->joined || column->whole >= 0 || column->role == KN_ROLE_IDENTIFIER)
        return kn_fail(err, KN_INPUT,
                       "the column \"%s\" is an identifier or part of a key, which is not released as it is", name);
    return KN_OK;
}

static kn_status find_side(kn_database_run *run, kn_relational_dependency *d, const char *const *names, int count,
                           const int **out, const char ***plain, kn_error *err)
{
    int *columns = kn_release_alloc(&run->all, &run->all.scratch, (size_t)count, sizeof *columns, err);
    *plain = kn_release_alloc(&run->all, &run->all.scratch, (size_t)count, sizeof **plain, err);
    if (!columns || !*plain) return KN_MEMORY;
    for (int i = 0; i < count; i++) {
        KN_TRY(find_column(run, d, names[i], &columns[i], err));
        (*plain)[i] = run->db->tables[d->table].table->columns[columns[i]].name;
    }
    *out = columns;
    return KN_OK;
}

/* Does it hold in the original? The names are those of the table's columns. */
static kn_status check_original(kn_database_run *run, const kn_relational_dependency *d, const char *const *left,
                                const char *const *right, kn_error *err)
{
    kn_dependency      *plain = NULL;
    kn_dependency_check found;
    KN_TRY(kn_dependency_make(&plain, run->all.ctx, KN_DEPENDENCY_FUNCTIONAL, 0, left, d->left_count, right,
                              d->right_count, err));
    kn_status st = kn_dependency_check_table(&found, run->all.ctx, run->db->tables[d->table].table, plain, err);
    kn_dependency_free(plain);
    if (st != KN_OK || found.holds || run->all.spec->allow_broken) return st;
    return kn_fail(
        err, KN_INPUT, "it does not hold in the original: %lld rows in %lld group%s violate it; allow-broken goes on",
        (long long)found.violating_rows, (long long)found.violating_groups, found.violating_groups == 1 ? "" : "s");
}

static kn_status read_one(kn_database_run *run, int i, kn_error *err)
{
    kn_relational_dependency *d = &run->dependencies[i];
    kn_dependency            *said = NULL;
    const char              **left, **right;
    d->table = -1;
    KN_TRY(kn_dependency_parse(&said, run->all.ctx, run->all.spec->dependencies[i], err));
    d->left_count = said->left_count;
    d->right_count = said->right_count;
    kn_status st = KN_OK;
    if (said->kind != KN_DEPENDENCY_FUNCTIONAL)
        st = kn_fail(err, KN_USAGE, "only functional dependencies (a -> b) are kept in a database");
    if (st == KN_OK) st = find_side(run, d, said->left, said->left_count, &d->left, &left, err);
    if (st == KN_OK) st = find_side(run, d, said->right, said->right_count, &d->right, &right, err);
    if (st == KN_OK) st = check_original(run, d, left, right, err);
    kn_dependency_free(said);
    return st;
}

kn_status kn_database_run_dependencies(kn_database_run *run, kn_error *err)
{
    int count = run->all.spec->dependency_count;
    if (count == 0) return KN_OK;
    run->dependencies = kn_release_alloc(&run->all, &run->all.scratch, (size_t)count, sizeof *run->dependencies, err);
    if (!run->dependencies) return KN_MEMORY;
    for (int i = 0; i < count; i++) {
        kn_status st = read_one(run, i, err);
        if (st != KN_OK) return about(run, i, st, err);
    }
    return KN_OK;
}

kn_status kn_database_run_keep(kn_database_run *run, kn_error *err)
{
    int   count = run->all.spec->dependency_count;
    bool *broken = kn_release_alloc(&run->all, &run->all.scratch, (size_t)count, sizeof *broken, err);
    if (count == 0) return KN_OK;
    if (!broken) return KN_MEMORY;
    KN_TRY(kn_relational_keep(&run->plan, broken, run->all.ctx, run->forest, run->dependencies, count, err));
    for (int i = 0; i < count; i++) {
        if (!broken[i] || run->all.spec->allow_broken) continue;
        kn_status st =
            kn_fail(err, KN_INPUT,
                    "the release would break it: a column on its right side is published as it is, and rows that "
                    "become alike on the left differ in it; give it the role quasi, or allow-broken goes on");
        return about(run, i, st, err);
    }
    return KN_OK;
}
