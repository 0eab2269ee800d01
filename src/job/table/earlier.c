/* table/earlier.c: is an earlier release one by this recipe? Its columns must be those that are released now, and where the
 * recipe has levels, its labels must be on them. A label that a rule makes and that these rows do not have may be on any.
 * Promises are counted on the written bytes (write.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_recipe.h"
#include "kn_table_run.h"
#include "kn_text_table.h"

/* Can the text be on the level? */
static bool fits(const kn_table_run *run, int q, kn_string text, bool from_file)
{
    const kn_hierarchy *h = run->hierarchies[q];
    uint32_t            level = (uint32_t)run->result->levels[q];
    bool                elsewhere = false;
    if (text.size == 1 && text.data[0] == '*') return true; /* suppressed, or the root */
    const kn_spec          *spec = run->all.spec;
    const kn_recipe_column *c = &run->all.recipe->columns[q];
    kn_hierarchy_kind       rule = spec->attributes[kn_spec_find(spec, run->quasi_names[q])].hierarchy.kind;
    if (rule == KN_HIERARCHY_PREFIX) return true; /* a value that these rows do not have may be one of their prefixes */
    if (rule == KN_HIERARCHY_MASK && level == h->height && c->level < c->height) return true; /* values were longer */
    if (level == h->height) /* a mask is as long as the values were */
        return kn_string_equal(text, kn_hierarchy_text(h, kn_hierarchy_root(h))) ||
               kn_table_run_all_hidden(run, q, text);
    for (uint32_t node = 0; node < h->nodes; node++) {
        kn_string label = kn_hierarchy_text(h, node);
        if (node == h->leaves || label.size != text.size || memcmp(label.data, text.data, text.size) != 0) continue;
        if (h->level[node] <= level && (node == kn_hierarchy_root(h) || h->level[h->parent[node]] > level)) return true;
        elsewhere = true;
    }
    return !elsewhere && !from_file;
}

static bool is_file(const kn_table_run *run, const char *column)
{
    for (int i = 0; i < run->all.recipe->hierarchy_count; i++)
        if (strcmp(run->all.recipe->hierarchies[i].column, column) == 0) return true;
    return false;
}

static kn_status check_labels(const kn_table_run *run, const kn_table *earlier, kn_error *err)
{
    for (int q = 0; q < run->quasi_count && run->result->levels; q++) {
        const kn_column *column = &earlier->columns[kn_table_find(earlier, run->quasi_names[q])];
        bool             from_file = is_file(run, run->quasi_names[q]);
        for (uint32_t c = 0; c < column->dict.count; c++)
            if (!fits(run, q, kn_dictionary_text(&column->dict, c), from_file))
                return kn_fail(err, KN_INPUT, "%s: column \"%s\" is not on the level of this recipe",
                               run->all.options->earlier, column->name);
    }
    return KN_OK;
}

/* Where this release is not in memory, its engine groups the earlier one. */
static kn_status read_labels(kn_table **out, kn_table_run *run, const kn_csv_options *csv, kn_error *err)
{
    kn_context *ctx = run->all.ctx;
    const char *path = run->all.options->earlier;
    kn_engine   engine = run->writer; /* the same connection, with a table */
    if (!run->large) return kn_table_read_csv(out, ctx, path, csv, err);
    kn_buffer_init(&engine.relation, ctx);
    engine.name = path;
    kn_status st = kn_columnar_kind_of(ctx, path) != KN_COLUMNAR_NONE
                       ? kn_columnar_relation(&engine.relation, engine.connection, ctx, &path, 1, csv->columns,
                                              csv->column_count, err)
                       : kn_text_files_keep(&engine.relation, engine.connection, ctx, "earlier", &path, 1, csv, err);
    if (st == KN_OK) st = kn_engine_group(out, &engine, csv, err);
    kn_buffer_free(&engine.relation);
    return st;
}

kn_status kn_table_run_check_earlier(kn_table_run *run, kn_error *err)
{
    kn_csv_options  csv = KN_CSV_OPTIONS_INIT;
    kn_table       *earlier = NULL;
    kn_column_type *types = kn_alloc_array_zero(run->all.ctx, (size_t)run->quasi_count + 1, sizeof *types);
    if (!types) return kn_fail_memory(err, run->all.ctx, "reading an earlier release");
    for (int q = 0; q < run->quasi_count; q++) types[q] = (kn_column_type){run->quasi_names[q], KN_TYPE_TEXT, NULL};
    csv.types = types;
    csv.type_count = run->quasi_count;
    csv.columns = run->quasi_names;
    csv.column_count = run->quasi_count;
    kn_status st = read_labels(&earlier, run, &csv, err);
    if (st == KN_OK) st = check_labels(run, earlier, err);
    kn_table_free(earlier);
    kn_free(types);
    return st;
}
