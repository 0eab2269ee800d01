/* kn_plan.c: making, asking and checking table plans.
 *
 * A plan is four bytes per row and twelve per class and quasi-identifier. Whether a cell covers a value is O(1), or a
 * bisection for a set. Validation goes through all rows once and finds classes that show the same by sorting hashes of
 * their cells (cells are compared wherever hashes agree).
 *
 * Limit: fewer than 2^32 - 1 classes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_plan.h"

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_pages.h"
#include "kn_sort.h"

void kn_plan_free(kn_plan *plan)
{
    if (!plan) return;
    KN_FREE(plan->class_of_row, plan->cells, plan->class_rows, plan->members, plan->levels, plan);
}

kn_status kn_plan_create(kn_plan **out, kn_context *ctx, int64_t rows, int quasi_count, uint32_t classes, kn_error *err)
{
    size_t   quasi = (size_t)quasi_count;
    kn_plan *plan = kn_alloc_zero(ctx, sizeof *plan);
    if (!plan) return kn_fail_memory(err, ctx, "planning a release");
    plan->ctx = ctx;
    plan->rows = rows;
    plan->quasi_count = quasi_count;
    plan->classes = classes;
    plan->class_of_row = kn_pages_zero(ctx, (size_t)rows + 1, sizeof *plan->class_of_row);
    plan->cells = kn_pages_zero(ctx, (size_t)classes + 1, (quasi ? quasi : 1) * sizeof *plan->cells);
    plan->class_rows = kn_alloc_array_zero(ctx, (size_t)classes + 1, sizeof *plan->class_rows);
    if (!plan->class_of_row || !plan->cells || !plan->class_rows) {
        kn_plan_free(plan);
        return kn_fail_memory(err, ctx, "planning a release");
    }
    *out = plan;
    return KN_OK;
}

static bool set_has(const uint32_t *members, uint32_t count, uint32_t code)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (members[middle] < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && members[low] == code;
}

bool kn_cell_covers(const kn_plan *plan, const kn_cell *cell, uint32_t code, const kn_hierarchy *hierarchy)
{
    switch (cell->kind) {
    case KN_CELL_VALUE: return cell->a == code;
    case KN_CELL_NODE: return kn_hierarchy_covers(hierarchy, cell->a, hierarchy->leaf_of_code[code]);
    case KN_CELL_RANGE: return cell->a <= code && code <= cell->b;
    case KN_CELL_SET: return cell->b > 0 && set_has(plan->members + cell->a, cell->b, code);
    case KN_CELL_STAR: return true;
    default: return false;
    }
}

bool kn_cell_equal(const uint32_t *members, const kn_cell *x, const kn_cell *y)
{
    if (x->kind != y->kind) return false;
    switch (x->kind) {
    case KN_CELL_RANGE: return x->a == y->a && x->b == y->b;
    case KN_CELL_SET:
        return x->b == y->b && (x->b == 0 || memcmp(members + x->a, members + y->a, x->b * sizeof *members) == 0);
    case KN_CELL_STAR: return true;
    default: return x->a == y->a;
    }
}

uint64_t kn_cell_hash(const uint32_t *members, const kn_cell *cell)
{
    uint64_t words[2] = {cell->kind, 0};
    if (cell->kind == KN_CELL_SET)
        words[1] = cell->b ? kn_hash_bytes(members + cell->a, cell->b * sizeof *members) : 0;
    else if (cell->kind == KN_CELL_RANGE)
        words[1] = (uint64_t)cell->a << 32 | cell->b;
    else if (cell->kind != KN_CELL_STAR)
        words[1] = cell->a;
    return kn_hash_words(words, 2);
}

/* ---- Validation ---- */

static bool no(const char **reason, const char *text)
{
    if (reason) *reason = text;
    return false;
}

static bool cell_valid(const kn_plan *plan, const kn_cell *cell, const kn_column *column, const kn_hierarchy *h,
                       const char **reason)
{
    uint32_t values = column->dict.count;
    switch (cell->kind) {
    case KN_CELL_VALUE: return cell->a <= values || no(reason, "a cell's value is not one of the column");
    case KN_CELL_NODE:
        if (!h || !h->leaf_of_code) return no(reason, "a cell is a node of a hierarchy that is not there");
        return cell->a < h->nodes || no(reason, "a cell's node is not one of the hierarchy");
    case KN_CELL_RANGE:
        return (cell->a <= cell->b && cell->b < values) || no(reason, "a range is empty or leaves the column's values");
    case KN_CELL_SET:
        if (cell->b < 2 || cell->a > plan->member_count || cell->b > plan->member_count - cell->a)
            return no(reason, "a set is too small or leaves the list of members");
        for (uint32_t i = 0; i < cell->b; i++) {
            const uint32_t *member = plan->members + cell->a + i;
            if (*member > values || (i > 0 && member[-1] >= *member))
                return no(reason, "a set's members are not ascending values of the column");
        }
        return true;
    case KN_CELL_STAR: return true;
    default: return no(reason, "a cell is of no known kind");
    }
}

static uint64_t class_hash(const kn_plan *plan, uint32_t index)
{
    const kn_cell *cells = plan->cells + (size_t)index * (size_t)plan->quasi_count;
    uint64_t       hash = 0;
    for (int q = 0; q < plan->quasi_count; q++) {
        uint64_t words[2] = {hash, kn_cell_hash(plan->members, &cells[q])};
        hash = kn_hash_words(words, 2);
    }
    return hash;
}

static bool classes_equal(const kn_plan *plan, uint64_t x, uint64_t y)
{
    size_t quasi = (size_t)plan->quasi_count;
    for (size_t q = 0; q < quasi; q++)
        if (!kn_cell_equal(plan->members, &plan->cells[x * quasi + q], &plan->cells[y * quasi + q])) return false;
    return true;
}

static bool classes_differ(const kn_plan *plan, const char **reason)
{
    kn_sort_record *records = kn_alloc_array(plan->ctx, (size_t)plan->classes + 1, sizeof *records);
    if (!records) return no(reason, "out of memory");
    for (uint32_t i = 0; i < plan->classes; i++) records[i] = (kn_sort_record){class_hash(plan, i), i};
    bool fine = kn_sort_records(plan->ctx, records, plan->classes, NULL, NULL, NULL) == KN_OK;
    if (!fine) no(reason, "out of memory");
    for (uint32_t i = 0; fine && i < plan->classes; i++)
        for (uint32_t j = i + 1; fine && j < plan->classes && records[j].key == records[i].key; j++)
            if (classes_equal(plan, records[i].id, records[j].id)) fine = no(reason, "two classes show the same cells");
    kn_free(records);
    return fine;
}

static bool counts_agree(const kn_plan *plan, const kn_table *table, const char **reason)
{
    int64_t *counts = kn_alloc_array_zero(plan->ctx, (size_t)plan->classes + 1, sizeof *counts);
    if (!counts) return no(reason, "out of memory");
    int64_t suppressed = 0;
    bool    fine = true;
    for (int64_t row = 0; fine && row < plan->rows; row++) {
        uint32_t class_index = plan->class_of_row[row];
        if (class_index == KN_CLASS_SUPPRESSED)
            suppressed += kn_table_weight(table, row);
        else if (class_index < plan->classes)
            counts[class_index] += kn_table_weight(table, row);
        else
            fine = no(reason, "a row's class is none of the plan");
    }
    if (fine && suppressed != plan->suppressed) fine = no(reason, "the number of suppressed rows is wrong");
    for (uint32_t i = 0; fine && i < plan->classes; i++) {
        if (counts[i] == 0) fine = no(reason, "a class has no row");
        if (counts[i] != plan->class_rows[i]) fine = no(reason, "the number of a class's rows is wrong");
    }
    kn_free(counts);
    return fine;
}

static bool levels_valid(const kn_plan *plan, const kn_hierarchy *const *hierarchies, const char **reason)
{
    if (plan->level_count == 0) return true;
    if (plan->level_count != plan->quasi_count || !plan->levels)
        return no(reason, "a node does not have one level per quasi-identifier");
    for (int q = 0; q < plan->quasi_count; q++) {
        if (!hierarchies[q]) return no(reason, "a level without a hierarchy");
        if (plan->levels[q] < 0 || plan->levels[q] > (int)hierarchies[q]->height)
            return no(reason, "a level that the hierarchy does not have");
    }
    return true;
}

bool kn_plan_validate(const kn_plan *plan, const kn_table *table, const int *quasi,
                      const kn_hierarchy *const *hierarchies, const char **reason)
{
    if (plan->rows != table->rows) return no(reason, "plan and table have different numbers of rows");
    if (!levels_valid(plan, hierarchies, reason) || !counts_agree(plan, table, reason)) return false;
    size_t quasi_count = (size_t)plan->quasi_count;
    for (size_t i = 0; i < plan->classes * quasi_count; i++) {
        size_t q = i % quasi_count;
        if (!cell_valid(plan, &plan->cells[i], &table->columns[quasi[q]], hierarchies[q], reason)) return false;
    }
    for (int64_t row = 0; row < plan->rows; row++) {
        if (plan->class_of_row[row] == KN_CLASS_SUPPRESSED) continue;
        const kn_cell *cells = plan->cells + plan->class_of_row[row] * quasi_count;
        for (size_t q = 0; q < quasi_count; q++) {
            uint32_t code = kn_column_code(&table->columns[quasi[q]], row);
            if (!kn_cell_covers(plan, &cells[q], code, hierarchies[q]))
                return no(reason, "a row's value is not covered by its class's cell");
        }
    }
    return classes_differ(plan, reason);
}
