/* kn_relational_dependency.c: raises right sides until dependencies hold (kn_relational_dependency.h).
 *
 * What a node shows in a quasi-identifier is the same for all members of its class, in other columns it is each member's own.
 *
 * Cost: for each dependency one look at all released rows of its table, as often as something rises.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_relational_dependency.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_relational_internal.h"

static const char what[] = "keeping dependencies";

#define MISSING UINT32_MAX
#define NONE UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

typedef struct keeping {
    kn_context                     *ctx;
    kn_database_plan               *plan;
    const kn_database_table        *table; /* of the dependency at hand */
    const kn_relational_dependency *d;
    kn_interner                     lefts;
    uint32_t                       *words;
    uint32_t                       *shown; /* per left side, from 1 on: the right side; NONE, SEVERAL */
    size_t                          capacity;
} keeping;

/* The place of a column among the quasi-identifiers of its table; -1: it is none. */
static int place_of(const kn_database_table *t, int column)
{
    for (int q = 0; q < t->quasi_count; q++)
        if (t->quasi[q] == column) return q;
    return -1;
}

static uint32_t *value_at(const keeping *k, uint64_t node, int q)
{
    return &k->plan->values[node * (uint64_t)k->plan->width + (uint64_t)q];
}

/* What a row shows in a column: equal numbers, equal texts. */
static uint32_t cell_of(const keeping *k, uint64_t node, uint32_t row, int column)
{
    int q = place_of(k->table, column);
    if (q < 0) return kn_column_code(&k->table->table->columns[column], row);
    const kn_hierarchy *h = k->table->columns[column].hierarchy;
    uint32_t            value = *value_at(k, node, q);
    return value == h->leaves ? MISSING : h->label[value];
}

/* The number of a row's left side; KN_ID_FAILED. */
static uint32_t left_of(keeping *k, uint64_t node, uint32_t row)
{
    for (int i = 0; i < k->d->left_count; i++) k->words[i] = cell_of(k, node, row, k->d->left[i]);
    uint32_t number =
        kn_intern(&k->lefts, (kn_string){(const char *)k->words, (size_t)k->d->left_count * sizeof *k->words});
    if (number == KN_ID_FAILED) return number;
    size_t before = k->capacity;
    if (!KN_GROW(k->ctx, &k->shown, &k->capacity, (size_t)number + 1)) return KN_ID_FAILED;
    for (size_t i = before; i < k->capacity; i++) k->shown[i] = NONE;
    return number;
}

/* Calls `see` for each released row of the table. */
typedef bool (*seeing)(keeping *k, uint64_t node, uint32_t row, int column);

static bool see_all(keeping *k, int column, seeing see)
{
    const kn_database_plan *p = k->plan;
    for (uint32_t c = 0; c < p->classes; c++)
        for (uint64_t v = p->node_start[c]; v < p->node_start[c + 1]; v++)
            for (int64_t m = 0; p->table[v] == k->d->table && m < kn_database_plan_size(p, c); m++)
                if (!see(k, v, kn_database_plan_rows(p, c, m)[v - p->node_start[c]], column)) return false;
    return true;
}

/* ---- Right sides that rise ---- */

static bool gather(keeping *k, uint64_t node, uint32_t row, int column)
{
    uint32_t left = left_of(k, node, row), value = *value_at(k, node, place_of(k->table, column));
    if (left == KN_ID_FAILED) return false;
    uint32_t *to = &k->shown[left];
    *to = *to == NONE ? value : kn_hierarchy_lca(k->table->columns[column].hierarchy, *to, value);
    return true;
}

static kn_status begin(keeping *k, const kn_relational_dependency *d, const kn_forest *f, kn_error *err)
{
    k->d = d;
    k->table = &f->db->tables[d->table];
    kn_interner_free(&k->lefts);
    kn_interner_init(&k->lefts, k->ctx);
    for (size_t i = 0; i < k->capacity; i++) k->shown[i] = NONE;
    KN_FREE(k->words);
    k->words = kn_alloc_array(k->ctx, (size_t)d->left_count + 1, sizeof *k->words);
    return k->words ? KN_OK : kn_fail_memory(err, k->ctx, what);
}

/* A node rises once for each of its rows; those that it drags along follow in the next round. */
static bool raise_row(keeping *k, uint64_t node, uint32_t row, int column)
{
    uint32_t left = left_of(k, node, row), *value = value_at(k, node, place_of(k->table, column));
    if (left == KN_ID_FAILED) return false;
    *value = kn_hierarchy_lca(k->table->columns[column].hierarchy, *value, k->shown[left]);
    return true;
}

static uint64_t sum_of(const keeping *k, int column)
{
    const kn_database_plan *p = k->plan;
    uint64_t                sum = 0;
    int                     q = place_of(k->table, column);
    for (uint64_t v = 0; v < p->node_start[p->classes]; v++)
        if (p->table[v] == k->d->table) sum += *value_at(k, v, q);
    return sum; /* parents have larger numbers: it grows where something rises */
}

static kn_status raise(keeping *k, const kn_relational_dependency *d, const kn_forest *f, bool *changed, kn_error *err)
{
    for (int i = 0; i < d->right_count; i++) {
        KN_TRY(begin(k, d, f, err));
        if (place_of(k->table, d->right[i]) < 0) continue;
        uint64_t before = sum_of(k, d->right[i]);
        if (!see_all(k, d->right[i], gather) || !see_all(k, d->right[i], raise_row))
            return kn_fail_memory(err, k->ctx, what);
        if (sum_of(k, d->right[i]) != before) *changed = true;
    }
    return KN_OK;
}

/* ---- Right sides that cannot ---- */

static bool compare(keeping *k, uint64_t node, uint32_t row, int column)
{
    uint32_t left = left_of(k, node, row), cell = cell_of(k, node, row, column);
    if (left == KN_ID_FAILED) return false;
    if (k->shown[left] == NONE)
        k->shown[left] = cell;
    else if (k->shown[left] != cell)
        k->shown[left] = SEVERAL;
    return true;
}

static kn_status look_for_broken(keeping *k, const kn_relational_dependency *d, const kn_forest *f, bool *broken,
                                 kn_error *err)
{
    *broken = false;
    for (int i = 0; i < d->right_count; i++) {
        KN_TRY(begin(k, d, f, err));
        if (place_of(k->table, d->right[i]) >= 0) continue;
        if (!see_all(k, d->right[i], compare)) return kn_fail_memory(err, k->ctx, what);
        for (size_t n = 0; n < k->capacity; n++) *broken = *broken || k->shown[n] == SEVERAL;
    }
    return KN_OK;
}

/* ---- The plan ---- */

/* Siblings and classes may be equal now. */
static kn_status settle(kn_database_plan **plan, kn_context *ctx, const kn_forest *f, kn_error *err)
{
    kn_losses         losses = {0};
    kn_cluster_list   all = {0};
    kn_database_plan *made = NULL;
    kn_status         st = kn_losses_make(&losses, ctx, f->db, err);
    for (uint32_t c = 0; st == KN_OK && c < (*plan)->classes; c++) {
        kn_cluster *one = NULL;
        st = kn_cluster_of_class(&one, ctx, &losses, *plan, c, err);
        if (st == KN_OK) st = kn_cluster_list_add(&all, ctx, one, err);
    }
    if (st == KN_OK) st = kn_relational_make_plan(&made, ctx, f, losses.width, &all, err);
    kn_cluster_list_free(&all);
    kn_losses_free(&losses);
    if (st != KN_OK) return st;
    kn_database_plan_free(*plan);
    *plan = made;
    return KN_OK;
}

kn_status kn_relational_keep(kn_database_plan **plan, bool *broken, kn_context *ctx, const kn_forest *forest,
                             const kn_relational_dependency *list, int count, kn_error *err)
{
    keeping   k = {.ctx = ctx, .plan = *plan};
    kn_status st = KN_OK;
    bool      rose = false;
    kn_interner_init(&k.lefts, ctx);
    for (bool changed = true; changed && st == KN_OK;) {
        changed = false;
        for (int i = 0; st == KN_OK && i < count; i++) st = raise(&k, &list[i], forest, &changed, err);
        rose = rose || changed;
    }
    for (int i = 0; st == KN_OK && i < count; i++) st = look_for_broken(&k, &list[i], forest, &broken[i], err);
    kn_interner_free(&k.lefts);
    KN_FREE(k.words, k.shown);
    return st == KN_OK && rose ? settle(plan, ctx, forest, err) : st;
}
