/* database/dependencies.c: do the declared dependencies hold in the tables of the release? On its texts alone: rows with equal
 * texts on the left have equal texts on the right. Cost: one pass over a table for each column of a dependency.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/dependencies.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_database.h"

/* The column of a table that a name means: COLUMN, or TABLE.COLUMN (then *sure); -1: none. */
static int column_of(const kn_vdb_table *t, const char *name, bool *sure)
{
    size_t size = strlen(t->name);
    *sure = strncmp(name, t->name, size) == 0 && name[size] == '.' &&
            kn_vsheet_find(t->release.table, name + size + 1) >= 0;
    return kn_vsheet_find(t->release.table, *sure ? name + size + 1 : name);
}

/* The table that has all columns; -1: none has. One that the names mention comes first. */
static int table_of(const kn_vdb *v, const kn_dependency *d)
{
    int found = -1;
    for (int t = 0; t < v->table_count; t++) {
        bool all = true, sure = false, one;
        for (int i = 0; i < d->left_count + d->right_count; i++) {
            const char *name = i < d->left_count ? d->left[i] : d->right[i - d->left_count];
            all = all && column_of(&v->tables[t], name, &one) >= 0;
            sure = sure || one;
        }
        if (all && (found < 0 || sure)) found = t;
    }
    return found;
}

/* Numbers rows by their texts: each gets that of the pair of its number so far and the next column's text. */
static kn_status number_rows(kn_vdb *v, const kn_vdb_table *t, const char *const *names, int count, uint32_t *numbers,
                             kn_error *err)
{
    bool sure;
    for (int i = 0; i < count; i++) {
        kn_vnumbers pairs = {.ctx = v->ctx};
        int         column = column_of(t, names[i], &sure);
        bool        good = true;
        for (int64_t row = 0; good && row < t->release.rows; row++) {
            uint64_t before = numbers[row];
            numbers[row] = kn_vnumbers_add(&pairs, before << 32 | kn_vsheet_code(t->release.table, column, row));
            good = numbers[row] != KN_V_NONE;
        }
        kn_vnumbers_free(&pairs);
        if (!good) return kn_vdb_no_memory(v, err);
    }
    return KN_OK;
}

static kn_status check_table(kn_vdb *v, const kn_vdb_table *t, const kn_dependency *d, kn_error *err)
{
    size_t    rows = (size_t)t->release.rows;
    kn_arena  room = {.ctx = v->ctx};
    uint32_t *left = kn_arena_array_zero(&room, rows + 1, sizeof *left);
    uint32_t *right = kn_arena_array_zero(&room, rows + 1, sizeof *right);
    uint32_t *first = kn_varray_none(&room, rows + 1); /* per left side: the right side of its first row */
    bool     *broken = kn_arena_array_zero(&room, rows + 1, sizeof *broken);
    int64_t   groups = 0;
    kn_status st = room.failed ? kn_vdb_no_memory(v, err) : KN_OK;
    if (st == KN_OK) st = number_rows(v, t, d->left, d->left_count, left, err);
    if (st == KN_OK) st = number_rows(v, t, d->right, d->right_count, right, err);
    for (size_t row = 0; st == KN_OK && row < rows; row++) {
        uint32_t *one = &first[left[row]];
        if (*one == KN_V_NONE) *one = right[row];
        if (*one == right[row] || broken[left[row]]) continue;
        broken[left[row]] = true;
        groups++;
    }
    if (groups > 0)
        kn_vproblem(v->notes,
                    "table \"%s\": dependency %s does not hold in the release: %lld group%s of rows violate%s it",
                    t->name, d->text, (long long)groups, groups == 1 ? "" : "s", groups == 1 ? "s" : "");
    kn_arena_free(&room);
    return st;
}

kn_status kn_vdb_dependencies(kn_vdb *v, kn_error *err)
{
    kn_status st = KN_OK;
    for (int i = 0; st == KN_OK && i < v->spec->dependency_count && !v->spec->allow_broken; i++) {
        kn_dependency *d = NULL;
        KN_TRY(kn_dependency_parse(&d, v->ctx, v->spec->dependencies[i], err));
        int table = table_of(v, d);
        if (d->kind != KN_DEPENDENCY_FUNCTIONAL)
            st = kn_fail(err, KN_USAGE, "dependency %s: only functional dependencies are checked in a database",
                         d->text);
        else if (table < 0)
            kn_vproblem(v->notes, "dependency %s: no table of the release has all its columns", d->text);
        else
            st = check_table(v, &v->tables[table], d, err);
        kn_dependency_free(d);
    }
    return st;
}
