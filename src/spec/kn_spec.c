/* kn_spec.c: a spec and its lists: made, changed, freed.
 *
 * Texts live in an arena until the spec is freed, even if they are replaced. The lists (attributes,
 * models) are blocks of their own, because a change that fails midway must leave the old ones as they were.
 *
 * Cost: finding an attribute or a model is linear in their number.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_spec.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"

/* ---- Beginning and end ---- */

kn_status kn_spec_create(kn_spec **out, kn_context *ctx, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    kn_spec_inner *inner = kn_alloc_zero(ctx, sizeof *inner);
    if (!inner) return kn_fail_memory(err, ctx, "a spec");
    inner->ctx = ctx;
    kn_arena_init(&inner->arena, ctx);
    kn_spec *spec = &inner->state.spec;
    spec->csv = (kn_csv_options)KN_CSV_OPTIONS_INIT;
    spec->suppression = (kn_fraction){0, 1};
    spec->threshold = (kn_ratio){1, 10};
    spec->climit = 150;
    spec->g = 2;
    spec->support = (kn_ratio){0, 1};
    *out = spec;
    return KN_OK;
}

static void free_lists(kn_spec_state *state)
{
    KN_FREE(state->attributes, state->types, state->models, state->model_places);
}

void kn_spec_free(kn_spec *spec)
{
    if (!spec) return;
    kn_spec_inner *inner = kn_spec_inside(spec);
    free_lists(&inner->state);
    kn_arena_free(&inner->arena);
    kn_free(inner);
}

/* ---- Lists ---- */

/* Shows the lists in the public fields. */
static void publish(kn_spec_state *state)
{
    state->spec.attributes = state->attributes;
    state->spec.models = state->models;
    state->spec.csv.types = state->types;
}

static void *copy_list(kn_context *ctx, const void *list, size_t capacity, size_t size, bool *ok)
{
    if (!list) return NULL;
    void *copy = kn_alloc_array(ctx, capacity, size);
    if (copy)
        memcpy(copy, list, capacity * size);
    else
        *ok = false;
    return copy;
}

bool kn_spec_begin(kn_spec_inner *inner, kn_spec_state *saved)
{
    kn_spec_state *state = &inner->state;
    bool           ok = true;
    *saved = *state;
    state->attributes = copy_list(inner->ctx, saved->attributes, saved->attribute_capacity, sizeof(kn_attribute), &ok);
    state->types = copy_list(inner->ctx, saved->types, saved->type_capacity, sizeof(kn_column_type), &ok);
    state->models = copy_list(inner->ctx, saved->models, saved->model_capacity, sizeof(kn_model), &ok);
    state->model_places = copy_list(inner->ctx, saved->model_places, saved->place_capacity, sizeof(kn_place), &ok);
    if (!ok) kn_spec_undo(inner, saved);
    publish(state);
    return ok;
}

void kn_spec_keep(kn_spec_state *saved)
{
    free_lists(saved);
}

void kn_spec_undo(kn_spec_inner *inner, kn_spec_state *saved)
{
    free_lists(&inner->state);
    inner->state = *saved;
}

/* The declared type of an attribute, if it has one; whether it counts rows. The arrays are large enough. */
static void add_type(kn_spec_state *state, const kn_attribute *a)
{
    if (a->has_role && a->role == KN_ROLE_COUNT) state->spec.csv.count = a->name;
    if (a->type != KN_TYPE_AUTO)
        state->types[state->spec.csv.type_count++] = (kn_column_type){a->name, a->type, a->format};
}

/* Rebuilds all of them after one has changed. */
static void gather_types(kn_spec_state *state)
{
    state->spec.csv.type_count = 0;
    state->spec.csv.count = NULL;
    for (int i = 0; i < state->spec.attribute_count; i++) add_type(state, &state->attributes[i]);
}

bool kn_spec_put_attribute(kn_spec_inner *inner, int index, const kn_attribute *attribute)
{
    kn_spec_state *state = &inner->state;
    kn_spec       *spec = &state->spec;
    size_t         need = (size_t)spec->attribute_count + 1;
    bool           ok = KN_GROW(inner->ctx, &state->attributes, &state->attribute_capacity, need) &&
              KN_GROW(inner->ctx, &state->types, &state->type_capacity, need);
    publish(state);
    if (!ok) return false;
    int at = index < 0 ? spec->attribute_count++ : index;
    state->attributes[at] = *attribute;
    state->attributes[at].hierarchy.decimal = spec->csv.decimal;
    state->attributes[at].hierarchy.timezone = spec->csv.timezone;
    if (index < 0)
        add_type(state, &state->attributes[at]);
    else
        gather_types(state);
    return true;
}

bool kn_spec_add_model(kn_spec_inner *inner, const kn_model *model, kn_place place)
{
    kn_spec_state *state = &inner->state;
    size_t         need = (size_t)state->spec.model_count + 1;
    bool           ok = KN_GROW(inner->ctx, &state->models, &state->model_capacity, need) &&
              KN_GROW(inner->ctx, &state->model_places, &state->place_capacity, need);
    publish(state);
    if (!ok) return false;
    state->model_places[state->spec.model_count] = place;
    state->models[state->spec.model_count++] = *model;
    return true;
}

/* ---- Field by field ---- */

int kn_spec_find(const kn_spec *spec, const char *attribute)
{
    for (int i = 0; i < spec->attribute_count; i++)
        if (strcmp(spec->attributes[i].name, attribute) == 0) return i;
    return -1;
}

bool kn_spec_is_entity(const kn_spec *spec, const char *column)
{
    for (int i = 0; i < spec->entity_count; i++)
        if (strcmp(spec->entity_columns[i], column) == 0) return true;
    return false;
}

bool kn_spec_has_sensitive_class(const kn_spec *spec)
{
    for (int c = 0; c < spec->class_count; c++)
        if (spec->classes[c].sensitive) return true;
    for (int t = 0; t < spec->table_count; t++)
        for (int i = 0; i < spec->tables[t].attribute_count; i++)
            if (spec->tables[t].attributes[i].role == KN_ROLE_SENSITIVE) return true;
    return false;
}

kn_attribute kn_attribute_new(const char *name)
{
    return (kn_attribute){
        .name = name, .weight = {1, 1}, .min_level = -1, .max_level = -1, .hierarchy = KN_HIERARCHY_SPEC_INIT};
}

kn_status kn_spec_set_role(kn_spec *spec, const char *attribute, kn_role role, kn_error *err)
{
    kn_spec_inner *inner = kn_spec_inside(spec);
    if (!*attribute) return kn_fail(err, KN_USAGE, "the name of a column is empty");
    int          index = kn_spec_find(spec, attribute);
    kn_attribute a;
    if (index >= 0) {
        a = spec->attributes[index];
    } else {
        const char *name = kn_arena_strndup(&inner->arena, attribute, strlen(attribute));
        if (!name) return kn_fail_memory(err, inner->ctx, "a spec");
        a = kn_attribute_new(name);
    }
    a.role = role;
    a.has_role = true;
    return kn_spec_put_attribute(inner, index, &a) ? KN_OK : kn_fail_memory(err, inner->ctx, "a spec");
}

kn_status kn_spec_set_model(kn_spec *spec, const kn_model *model, kn_error *err)
{
    kn_spec_inner *inner = kn_spec_inside(spec);
    kn_model       m = *model, named = *model;
    bool           of_column = m.kind != KN_MODEL_K && m.kind < KN_MODEL_K_MAP;
    if (of_column && !named.attribute) named.attribute = "?"; /* it may be found later */
    KN_TRY(kn_model_check(&named, err));
    if (m.attribute) {
        m.attribute = kn_arena_strndup(&inner->arena, m.attribute, strlen(m.attribute));
        if (!m.attribute) return kn_fail_memory(err, inner->ctx, "a spec");
    }
    if (!kn_spec_add_model(inner, &m, (kn_place){0, 0})) return kn_fail_memory(err, inner->ctx, "a spec");
    kn_spec_join_models(inner);
    return KN_OK;
}
