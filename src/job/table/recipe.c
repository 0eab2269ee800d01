/* table/recipe.c: OUTPUT.recipe.json: the decision of the search, with everything needed to apply it again
 * (kn_recipe.h). It is made from the plan, while that exists, and written under its temporary name.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_error.h"
#include "kn_hierarchy_file.h"
#include "kn_job_publish.h"
#include "kn_recipe.h"
#include "kn_table_run.h"

static bool from_file(const kn_attribute *a)
{
    return a->has_hierarchy && (a->hierarchy.kind == KN_HIERARCHY_FILE || a->hierarchy.kind == KN_HIERARCHY_TAXONOMY);
}

static int count_files(const kn_spec *spec)
{
    int count = 0;
    for (int i = 0; i < spec->attribute_count; i++) count += from_file(&spec->attributes[i]);
    return count;
}

/* The hierarchy that was used for a column. */
static const kn_hierarchy *hierarchy_of(const kn_table_run *run, int column)
{
    for (int q = 0; q < run->quasi_count; q++)
        if (run->quasi[q] == column) return run->hierarchies[q];
    return run->column_hierarchies[column];
}

static kn_status take_hierarchies(const kn_table_run *run, kn_recipe *recipe, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    int            count = 0;
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        if (!from_file(a)) continue;
        const kn_hierarchy  *h = hierarchy_of(run, kn_table_find(run->table, a->name));
        kn_recipe_hierarchy *to = &recipe->hierarchies[count++];
        to->column = a->name;
        to->delimiter = a->hierarchy.kind == KN_HIERARCHY_FILE ? a->hierarchy.delimiter : 0;
        if (h) kn_hierarchy_format(h, to->delimiter ? to->delimiter : ';', &to->text);
        if (to->text.failed) return kn_fail_memory(err, run->all.ctx, "writing a recipe");
    }
    return KN_OK;
}

static void take_columns(const kn_table_run *run, kn_recipe *recipe)
{
    const kn_release_result *result = run->result;
    for (int q = 0; q < run->quasi_count; q++)
        recipe->columns[q] = (kn_recipe_column){.name = run->quasi_names[q],
                                                .type = run->table->columns[run->quasi[q]].type,
                                                .level = result->levels ? result->levels[q] : -1,
                                                .height = result->levels ? (int)run->hierarchies[q]->height : -1};
}

/* What was asked, with the hierarchies that were chosen by type: other rows might suggest others. */
static kn_status request_of(kn_table_run *run, kn_spec *out, kn_error *err)
{
    *out = *run->all.asked;
    size_t        count = (size_t)out->attribute_count;
    kn_attribute *attributes = kn_release_alloc(&run->all, &run->all.scratch, count, sizeof *attributes, err);
    if (!attributes) return KN_MEMORY;
    memcpy(attributes, out->attributes, count * sizeof *attributes);
    out->attributes = attributes;
    for (int q = 0; q < run->quasi_count; q++) {
        if (!kn_table_run_by_type(run, q)) continue;
        kn_attribute *a = &attributes[kn_spec_find(out, run->quasi_names[q])];
        a->has_hierarchy = true;
        a->hierarchy = run->rules[q];
    }
    return KN_OK;
}

kn_status kn_table_run_keep_recipe(kn_table_run *run, kn_error *err)
{
    kn_recipe *recipe = NULL;
    kn_buffer  text;
    kn_spec    request;
    if (!run->all.spec->keep_recipe) return KN_OK;
    KN_TRY(request_of(run, &request, err));
    KN_TRY(kn_recipe_create(&recipe, run->all.ctx, run->quasi_count, count_files(run->all.spec), err));
    recipe->method = run->all.spec->method;
    take_columns(run, recipe);
    kn_status st = take_hierarchies(run, recipe, err);
    if (st == KN_OK && recipe->method == KN_METHOD_MONDRIAN) st = kn_table_run_take_cuts(run, recipe, err);
    kn_buffer_init(&text, run->all.ctx);
    if (st == KN_OK) st = kn_recipe_render(&text, recipe, &request, run->all.options->version, err);
    kn_recipe_free(recipe);
    return kn_job_put(run->all.set, KN_SET_RECIPE, NULL, &text, st, err);
}
