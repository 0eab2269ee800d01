/* table/cuts.c: converts the cuts of partitioning between the positions of one table and what they mean in any table:
 * values, and nodes of hierarchies by level and label (kn_recipe.h).
 *
 * Positions are codes if a column has no hierarchy, else leaves (kn_partition.h). A cut at a value that these rows do
 * not have still divides them; a node that does not exist has nothing below it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_recipe.h"
#include "kn_table_run.h"
#include "kn_value.h"

static const char what[] = "the cuts of a recipe";

/* ---- From positions ---- */

/* The node whose leaves are [low, high]. */
static uint32_t node_of(const kn_hierarchy *h, uint32_t low, uint32_t high)
{
    uint32_t node = low;
    while (h->last[node] - 1 < high) node = h->parent[node];
    return node;
}

const char *kn_recipe_value(const kn_column *column, uint32_t code, kn_arena *arena)
{
    char      number[24];
    kn_string text = kn_dictionary_text(&column->dict, code);
    if (!column->dict.integers) return kn_arena_strndup(arena, text.data, text.size);
    int size = snprintf(number, sizeof number, "%" PRId64, column->dict.integers[code]);
    return kn_arena_strndup(arena, number, (size_t)size);
}

kn_status kn_table_run_take_cuts(const kn_table_run *run, kn_recipe *recipe, kn_error *err)
{
    const kn_partition_tree *tree = &run->tree;
    recipe->cut_count = (int64_t)tree->count;
    recipe->cuts = kn_arena_array_zero(&recipe->arena, tree->count + 1, sizeof *recipe->cuts);
    for (size_t i = 0; i < tree->count && !recipe->arena.failed; i++) {
        const kn_partition_cut *from = &tree->cuts[i];
        kn_recipe_cut          *to = &recipe->cuts[i];
        const kn_hierarchy     *h = run->hierarchies[from->dimension];
        const kn_column        *column = &run->table->columns[run->quasi[from->dimension]];
        *to = (kn_recipe_cut){.column = from->dimension, .first = from->first, .second = from->second};
        if (from->low == 0 && from->high + 1 == (h ? h->leaves : column->dict.count))
            continue; /* all but missing cells */
        if (!h) {
            to->up_to = kn_recipe_value(column, from->high, &recipe->arena);
            continue;
        }
        uint32_t  node = node_of(h, from->low, from->high);
        kn_string label = kn_hierarchy_text(h, node);
        to->level = h->level[node];
        to->label = kn_arena_strndup(&recipe->arena, label.data, label.size);
    }
    return recipe->arena.failed ? kn_fail_memory(err, run->all.ctx, what) : KN_OK;
}

/* ---- To positions ---- */

int kn_recipe_compare(const kn_column *column, uint32_t code, const char *value, char mark)
{
    kn_string  text = kn_dictionary_text(&column->dict, code), other = {value, strlen(value)};
    kn_decimal x, y;
    if (column->dict.integers) {
        int64_t number = strtoll(value, NULL, 10);
        return (column->dict.integers[code] > number) - (column->dict.integers[code] < number);
    }
    if (column->type == KN_TYPE_DECIMAL && kn_parse_declared_decimal(text, mark, &x) &&
        kn_parse_declared_decimal(other, mark, &y))
        return kn_decimal_compare(&x, &y);
    size_t size = text.size < other.size ? text.size : other.size;
    int    order = memcmp(text.data, other.data, size);
    return order != 0 ? order : (text.size > other.size) - (text.size < other.size);
}

uint32_t kn_recipe_count_up_to(const kn_column *column, const char *up_to, char mark)
{
    uint32_t low = 0, high = column->dict.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (kn_recipe_compare(column, middle, up_to, mark) > 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static uint32_t find_node(const kn_hierarchy *h, int level, const char *label)
{
    size_t size = strlen(label);
    for (uint32_t node = 0; node < h->nodes; node++) {
        kn_string text = kn_hierarchy_text(h, node);
        if (node != h->leaves && h->level[node] == level && text.size == size && memcmp(text.data, label, size) == 0)
            return node;
    }
    return KN_NODE_NONE;
}

/* [low, high] of a cut in the current rows; low above high: no row goes to the first side. */
static void find_positions(const kn_table_run *run, const kn_recipe_cut *from, kn_partition_cut *to)
{
    const kn_hierarchy *h = run->hierarchies[from->column];
    const kn_column    *column = &run->table->columns[run->quasi[from->column]];
    uint32_t            begin = 0, end = h ? h->leaves : column->dict.count;
    if (from->label && h) {
        uint32_t node = find_node(h, from->level, from->label);
        begin = node == KN_NODE_NONE ? 0 : h->first[node];
        end = node == KN_NODE_NONE ? 0 : h->last[node];
    } else if (from->up_to && !h)
        end = kn_recipe_count_up_to(column, from->up_to, run->all.spec->csv.decimal);
    to->low = end > begin ? begin : 1;
    to->high = end > begin ? end - 1 : 0;
}

kn_status kn_table_run_check_types(const kn_table_run *run, bool all, kn_error *err)
{
    for (int q = 0; q < run->quasi_count; q++) {
        kn_type type = run->table->columns[run->quasi[q]].type, was = run->all.recipe->columns[q].type;
        if ((all || !run->hierarchies[q]) && type != was)
            return kn_fail(err, KN_INPUT, "column \"%s\": its type was %s when the recipe was made, and is %s now",
                           run->quasi_names[q], kn_type_name(was), kn_type_name(type));
    }
    return KN_OK;
}

kn_status kn_table_run_find_cuts(const kn_table_run *run, kn_partition_tree *tree, kn_error *err)
{
    const kn_recipe *recipe = run->all.recipe;
    KN_TRY(kn_table_run_check_types(run, false, err));
    if (!KN_ALLOC(run->all.ctx, tree->cuts, (size_t)recipe->cut_count + 1))
        return kn_fail_memory(err, run->all.ctx, what);
    tree->count = (size_t)recipe->cut_count;
    for (size_t i = 0; i < tree->count; i++) {
        const kn_recipe_cut *c = &recipe->cuts[i];
        tree->cuts[i] = (kn_partition_cut){.dimension = c->column, .first = c->first, .second = c->second};
        find_positions(run, c, &tree->cuts[i]);
    }
    return KN_OK;
}
