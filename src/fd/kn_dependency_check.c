/* kn_dependency_check.c: does a dependency hold on a table, and where not?
 *
 * Interface: kn_dependency_check_table (kanon/dependencies.h). Everything comes out of frequency sets whose first
 * columns are the left side X, folded into groups of equal X:
 *   - X -> Y: in each group the rows with the most frequent Y may stay, the others must go (g3 of Kivinen and
 *     Mannila, exact);
 *   - X ->> Y, Z the other columns: a group holds iff its different (Y, Z) are as many as its different Y times its
 *     different Z, since they are a part of that product;
 *   - X -k-> Y: the combinations of XY with fewer than k rows violate it.
 * Cost: one grouping of the table (MVDs: and one of its different rows), then linear in the classes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/dependencies.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_freq.h"

static kn_status find_columns(int *columns, const kn_table *table, const char *const *names, int count, kn_error *err)
{
    for (int i = 0; i < count; i++) {
        columns[i] = kn_table_find(table, names[i]);
        if (columns[i] < 0) return kn_table_no_column(table, "there is", names[i], err);
    }
    return KN_OK;
}

static bool contains(const int *columns, int count, int column)
{
    for (int i = 0; i < count; i++)
        if (columns[i] == column) return true;
    return false;
}

static void functional_groups(kn_dependency_check *out, const kn_freq *fine, const int64_t *starts, int64_t groups)
{
    for (int64_t g = 0; g < groups; g++) {
        int64_t rows = 0, most = 0;
        for (int64_t i = starts[g]; i < starts[g + 1]; i++) {
            rows += fine->counts[i];
            if (fine->counts[i] > most) most = fine->counts[i];
        }
        if (rows == most) continue;
        out->violating_groups++;
        out->violating_rows += rows;
        out->removed += rows - most;
    }
}

static kn_status check_functional(kn_dependency_check *out, const kn_freq *fine, int left_count, kn_error *err)
{
    kn_freq *left = NULL;
    int64_t *starts = NULL;
    KN_TRY(kn_freq_fold(&left, &starts, fine, left_count, err));
    out->groups = left->classes;
    functional_groups(out, fine, starts, left->classes);
    kn_freq_free(left);
    kn_free(starts);
    return KN_OK;
}

static void check_multiset(kn_dependency_check *out, const kn_freq *fine, int64_t k)
{
    out->groups = fine->classes;
    for (int64_t i = 0; i < fine->classes; i++) {
        if (fine->counts[i] >= k) continue;
        out->violating_groups++;
        out->violating_rows += fine->counts[i];
    }
    out->removed = out->violating_rows;
}

/* How many classes of `fine` each class of its first `columns` columns has, as starts; freed by the caller. */
static kn_status fold_starts(int64_t **starts, int64_t *groups, const kn_freq *fine, int columns, kn_error *err)
{
    kn_freq *coarse = NULL;
    KN_TRY(kn_freq_fold(&coarse, starts, fine, columns, err));
    *groups = coarse->classes;
    kn_freq_free(coarse);
    return KN_OK;
}

static void multivalued_groups(kn_dependency_check *out, const kn_freq *fine, const int64_t *all, const int64_t *y,
                               const int64_t *z)
{
    for (int64_t g = 0; g < out->groups; g++) {
        uint64_t ys = (uint64_t)(y[g + 1] - y[g]), zs = (uint64_t)(z[g + 1] - z[g]),
                 both = (uint64_t)(all[g + 1] - all[g]), product;
        if (__builtin_mul_overflow(ys, zs, &product) || product > INT64_MAX) product = INT64_MAX;
        if (product == both) continue;
        out->violating_groups++;
        for (int64_t i = all[g]; i < all[g + 1]; i++) out->violating_rows += fine->counts[i];
        if (__builtin_add_overflow(out->spurious, (int64_t)(product - both), &out->spurious)) out->spurious = INT64_MAX;
    }
}

/* `fine` has the columns X, Y and Z in this order. */
static kn_status check_multivalued(kn_dependency_check *out, const kn_freq *fine, int x, int y, kn_error *err)
{
    kn_freq   *xy = NULL, *xz = NULL;
    kn_rollup *by = kn_alloc_array_zero(fine->ctx, (size_t)fine->layout.columns, sizeof *by);
    int64_t   *starts = NULL, *xy_of = NULL, *xz_of = NULL, *all = NULL;
    kn_status  st = by ? KN_OK : kn_fail_memory(err, fine->ctx, "checking a dependency");
    for (int i = x; i < x + y && st == KN_OK; i++) by[i].drop = true;
    if (st == KN_OK) st = kn_freq_fold(&xy, &starts, fine, x + y, err);
    if (st == KN_OK) st = kn_freq_rollup(&xz, fine, by, err);
    if (st == KN_OK) st = fold_starts(&all, &out->groups, fine, x, err);
    if (st == KN_OK) st = fold_starts(&xy_of, &out->groups, xy, x, err);
    if (st == KN_OK) st = fold_starts(&xz_of, &out->groups, xz, x, err);
    if (st == KN_OK) multivalued_groups(out, fine, all, xy_of, xz_of);
    out->removed = -1;
    kn_freq_free(xy);
    kn_freq_free(xz);
    KN_FREE(by, starts, xy_of, xz_of, all);
    return st;
}

static kn_status check_freq(kn_dependency_check *out, const kn_dependency *d, const kn_freq *fine, kn_error *err)
{
    switch (d->kind) {
    case KN_DEPENDENCY_MULTISET: check_multiset(out, fine, d->k); return KN_OK;
    case KN_DEPENDENCY_MULTIVALUED: return check_multivalued(out, fine, d->left_count, d->right_count, err);
    default: return check_functional(out, fine, d->left_count, err);
    }
}

kn_status kn_dependency_check_table(kn_dependency_check *out, kn_context *ctx, const kn_table *table,
                                    const kn_dependency *dependency, kn_error *err)
{
    KN_SERVE(ctx, err);
    const kn_dependency *d = dependency;
    kn_dependency_check  answer = {.rows = kn_table_total(table)};
    int                  count = d->left_count + d->right_count;
    kn_freq             *fine = NULL;
    int                 *columns = kn_alloc_array(ctx, (size_t)(count + table->column_count), sizeof *columns);
    kn_status            st = columns ? KN_OK : kn_fail_memory(err, ctx, "checking a dependency");
    if (st == KN_OK) st = find_columns(columns, table, d->left, d->left_count, err);
    if (st == KN_OK) st = find_columns(columns + d->left_count, table, d->right, d->right_count, err);
    if (st == KN_OK && d->kind == KN_DEPENDENCY_MULTIVALUED)
        for (int c = 0; c < table->column_count; c++)
            if (!contains(columns, d->left_count + d->right_count, c)) columns[count++] = c;
    if (st == KN_OK) st = kn_freq_of_table(&fine, ctx, table, columns, count, err);
    if (st == KN_OK) st = check_freq(&answer, d, fine, err);
    kn_freq_free(fine);
    kn_free(columns);
    if (st != KN_OK) return st;
    answer.holds = answer.violating_groups == 0;
    if (answer.rows > 0 && answer.removed > 0) answer.error = (double)answer.removed / (double)answer.rows;
    *out = answer;
    return KN_OK;
}
