/* kn_marginal.c: counts of one column's values and of its hierarchy's nodes. O(rows), O(values + nodes). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_marginal.h"

/* One loop per width: the choice in kn_column_code would cost more than the counting. */
void kn_marginal_count(int64_t *counts, const kn_table *table, int column_index)
{
    const kn_column *column = &table->columns[column_index];
    int64_t          rows = table->rows;
    if (column->marginal) {
        for (uint32_t code = 0; code <= column->dict.count; code++) counts[code] += column->marginal[code];
        return;
    }
    if (table->counts) {
        for (int64_t row = 0; row < rows; row++) counts[kn_column_code(column, row)] += table->counts[row];
        return;
    }
    switch (column->width) {
    case 1:
        for (int64_t row = 0; row < rows; row++) counts[((const uint8_t *)column->codes)[row]]++;
        break;
    case 2:
        for (int64_t row = 0; row < rows; row++) counts[((const uint16_t *)column->codes)[row]]++;
        break;
    default:
        for (int64_t row = 0; row < rows; row++) counts[((const uint32_t *)column->codes)[row]]++;
        break;
    }
}

void kn_marginal_nodes(int64_t *node_rows, const kn_hierarchy *h, const int64_t *counts)
{
    for (uint32_t c = 0; c <= h->codes; c++) node_rows[h->leaf_of_code[c]] += counts[c];
    for (uint32_t n = 0; n + 1 < h->nodes; n++) node_rows[h->parent[n]] += node_rows[n]; /* parents come later */
}
