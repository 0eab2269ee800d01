/* kn_spec_resources.c: `resources:` of a release file: from which types of objects a person's record is put together, and
 * by which of their elements they refer to one another.
 *
 * A list replaces an earlier one as a whole. The first type is that of persons. Since a node may move up in a release, a
 * type that belongs to another also says how it refers to what that belongs to.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_buffer.h"
#include "kn_error.h"
#include "kn_field.h"
#include "kn_json_put.h"
#include "kn_resource_path.h"

enum { MOST_TYPES = 100 };

typedef struct type_reader {
    const kn_spec_resource *list; /* those before it */
    int                     count;
    kn_spec_resource       *own;
} type_reader;

static int find(const kn_spec_resource *list, int count, const char *name, size_t size)
{
    for (int i = 0; i < count; i++)
        if (strncmp(list[i].name, name, size) == 0 && list[i].name[size] == '\0') return i;
    return -1;
}

static kn_status read_parent(kn_reader *r, const kn_yaml *value, void *target)
{
    type_reader *t = target;
    KN_TRY(kn_want_map(r, value, "a mapping of elements to types, such as {encounter: Encounter, subject: Patient}"));
    const char **names = kn_arena_array(&r->inner->arena, value->count + 1, sizeof *names);
    int         *types = kn_arena_array(&r->inner->arena, value->count + 1, sizeof *types);
    if (!names || !types) return kn_field_memory(r);
    for (const kn_yaml *key = value->first; key; key = key->next) {
        const char *type;
        KN_TRY(kn_read_text(r, key->value, "a type of resources", &type));
        int at = find(t->list, t->count, type, strlen(type));
        if (at < 0) return kn_field_fail(r, key->value, "\"%s\" is no type that stands before this one", type);
        names[t->own->parent_count] = kn_arena_strndup(&r->inner->arena, key->text, key->size);
        if (!names[t->own->parent_count]) return kn_field_memory(r);
        types[t->own->parent_count++] = at;
    }
    t->own->parents = names;
    t->own->targets = types;
    return KN_OK;
}

static kn_status put_json(kn_reader *r, const kn_yaml *value, kn_buffer *to)
{
    bool map = value->kind == KN_YAML_MAP;
    if (value->kind == KN_YAML_TEXT) {
        kn_string text = {value->text, value->size};
        if (kn_yaml_missing(value)) return kn_field_fail(r, value, "a value is expected here");
        if (value->plain && kn_json_is_literal(text))
            kn_buffer_append(to, text.data, text.size);
        else
            kn_json_put_text(to, text);
        return KN_OK;
    }
    kn_buffer_char(to, map ? '{' : '[');
    for (const kn_yaml *item = value->first; item; item = item->next) {
        if (item != value->first) kn_buffer_add(to, ", ");
        if (map) {
            kn_json_put_text(to, (kn_string){item->text, item->size});
            kn_buffer_add(to, ": ");
        }
        KN_TRY(put_json(r, map ? item->value : item, to));
    }
    kn_buffer_char(to, map ? '}' : ']');
    return KN_OK;
}

static kn_status json_of(kn_reader *r, const kn_yaml *value, const char **out)
{
    kn_buffer text;
    kn_buffer_init(&text, r->inner->ctx);
    kn_status st = put_json(r, value, &text);
    *out = st == KN_OK && !text.failed ? kn_arena_strndup(&r->inner->arena, text.data, text.size) : NULL;
    if (st == KN_OK && !*out) st = kn_field_memory(r);
    kn_buffer_free(&text);
    return st;
}

static kn_status read_fixed(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_resource *own = ((type_reader *)target)->own;
    KN_TRY(kn_want_map(r, value, "a mapping of members to their values"));
    const char **names = kn_arena_array(&r->inner->arena, value->count + 1, sizeof *names);
    const char **texts = kn_arena_array(&r->inner->arena, value->count + 1, sizeof *texts);
    if (!names || !texts) return kn_field_memory(r);
    for (const kn_yaml *key = value->first; key; key = key->next, own->fixed_count++) {
        names[own->fixed_count] = kn_arena_strndup(&r->inner->arena, key->text, key->size);
        if (!names[own->fixed_count]) return kn_field_memory(r);
        KN_TRY(json_of(r, key->value, &texts[own->fixed_count]));
    }
    own->fixed = names;
    own->fixed_texts = texts;
    return KN_OK;
}

static bool leads_to(const kn_spec_resource *own, int type)
{
    for (int i = 0; i < own->parent_count; i++)
        if (own->targets[i] == type) return true;
    return false;
}

/* Names that a resource writes itself are different ones. */
static kn_status check_names(kn_reader *r, const kn_yaml *key, const kn_spec_resource *own)
{
    for (int i = 0; i < own->fixed_count + own->parent_count; i++) {
        const char *name = i < own->fixed_count ? own->fixed[i] : own->parents[i - own->fixed_count];
        bool        taken = strcmp(name, "id") == 0 || strcmp(name, "resourceType") == 0;
        for (int j = 0; i < own->fixed_count && j < own->parent_count; j++)
            taken = taken || strcmp(name, own->parents[j]) == 0;
        if (taken) return kn_field_fail(r, key, "%s: \"%s\" has a meaning of its own", own->name, name);
    }
    return KN_OK;
}

/* What belongs to a resource may move up to what that belongs to. */
static kn_status check_parents(kn_reader *r, const kn_yaml *key, const type_reader *t)
{
    const kn_spec_resource *own = t->own;
    if (t->count == 0 && own->parent_count > 0)
        return kn_field_fail(r, key, "the first type is that of persons, which belong to nothing");
    if (t->count > 0 && own->parent_count == 0)
        return kn_field_fail(r, key, "%s: parent is missing: the elements that say whose it is", own->name);
    for (int i = 0; i < own->parent_count; i++) {
        const kn_spec_resource *above = &t->list[own->targets[i]];
        for (int j = 0; j < above->parent_count; j++)
            if (!leads_to(own, above->targets[j]))
                return kn_field_fail(
                    r, key, "%s: it may move up from its %s to the %s: parent needs an element that refers to one",
                    own->name, above->name, t->list[above->targets[j]].name);
    }
    return check_names(r, key, own);
}

kn_status kn_read_resources(kn_reader *r, const kn_yaml *value, void *target)
{
    static const kn_key keys[] = {{"parent", read_parent, 0}, {"fixed", read_fixed, 0}, KN_KEYS_END};
    kn_spec            *spec = target;
    KN_TRY(kn_want_map(r, value, "a mapping of types of resources"));
    if (value->count == 0 || value->count > MOST_TYPES)
        return kn_field_fail(r, value, "from 1 to %d types are expected here", MOST_TYPES);
    kn_spec_resource *list = kn_arena_alloc(&r->inner->arena, value->count * sizeof *list);
    if (!list) return kn_field_memory(r);
    type_reader t = {.list = list};
    for (const kn_yaml *key = value->first; key; key = key->next, t.count++) {
        t.own = &list[t.count];
        *t.own = (kn_spec_resource){.name = kn_arena_strndup(&r->inner->arena, key->text, key->size)};
        if (!t.own->name) return kn_field_memory(r);
        if (!kn_yaml_missing(key->value)) KN_TRY(kn_read_map(r, key->value, keys, &t));
        KN_TRY(check_parents(r, key, &t));
    }
    spec->resources = list;
    spec->resource_count = t.count;
    return KN_OK;
}

/* ---- Classes of resources ---- */

static kn_status fail_class(const kn_spec_inner *inner, const kn_spec_class *c, kn_error *err, const char *what)
{
    return kn_spec_fail_place(inner, (kn_place){c->line, c->column}, err, "class \"%s\": %s", c->name, what);
}

/* The type that a path begins with; -1: none. */
static int type_of(const kn_spec *spec, const char *path)
{
    kn_resource_step step;
    if (!path || !kn_resource_step_of(path, &step) || step.key.data || !step.rest) return -1;
    return find(spec->resources, spec->resource_count, step.name.data, step.name.size);
}

/* Does one path lead through the end of the other? */
static bool through(const char *a, const char *b)
{
    size_t size = strlen(a);
    return strncmp(a, b, size) == 0 && (b[size] == '/' || b[size] == '\0');
}

static kn_status check_path(const kn_spec_inner *inner, const kn_spec_class *c, const char *path, kn_error *err)
{
    const kn_spec          *spec = &inner->state.spec;
    int                     type = type_of(spec, path);
    const kn_spec_resource *of = type < 0 ? NULL : &spec->resources[type];
    kn_resource_step        step = {.rest = NULL};
    if (!of) return fail_class(inner, c, err, "its path begins with one of the resources, such as Patient/gender");
    if (!kn_resource_step_of(path + strlen(of->name) + 1, &step))
        return fail_class(inner, c, err, "its path is not one of names and conditions, NAME[KEY=TEXT]");
    bool taken =
        kn_string_equal(step.name, kn_string_of("id")) || kn_string_equal(step.name, kn_string_of("resourceType"));
    for (int i = 0; i < of->fixed_count; i++) taken = taken || kn_string_equal(step.name, kn_string_of(of->fixed[i]));
    for (int i = 0; i < of->parent_count; i++)
        taken = taken || kn_string_equal(step.name, kn_string_of(of->parents[i]));
    if (taken) return fail_class(inner, c, err, "its path begins with an id, a reference or a fixed member");
    for (int steps = 1; step.rest; steps++)
        if (steps == KN_RESOURCE_STEPS || !kn_resource_step_of(step.rest, &step))
            return fail_class(inner, c, err, "its path is not one of names and conditions, NAME[KEY=TEXT]");
    if (step.key.data) return fail_class(inner, c, err, "its path ends with a name, not with a condition");
    for (int i = 0; i < spec->class_count; i++) {
        const kn_spec_class *other = &spec->classes[i];
        const char          *paths[] = {other->path, other->broader};
        for (size_t p = 0; p < 2; p++)
            if (paths[p] && paths[p] != path && (through(path, paths[p]) || through(paths[p], path)))
                return fail_class(inner, c, err, "its path leads to or through that of another value");
    }
    return KN_OK;
}

kn_status kn_spec_check_resources(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    for (int i = 0; i < spec->class_count; i++) {
        const kn_spec_class *c = &spec->classes[i];
        if (spec->resource_count == 0 && c->broader)
            return fail_class(inner, c, err, "broader is for resources; leave it out");
        if (spec->resource_count == 0) continue;
        if (c->value) return fail_class(inner, c, err, "the path leads to its value; leave value out");
        KN_TRY(check_path(inner, c, c->path, err));
        if (c->broader && type_of(spec, c->broader) != type_of(spec, c->path))
            return fail_class(inner, c, err, "broader values are in resources of the same type");
        if (c->broader) KN_TRY(check_path(inner, c, c->broader, err));
    }
    if (spec->resource_count == 0) return KN_OK;
    kn_place place = inner->state.places[KN_FIELD_RESOURCES];
    if (spec->table_count > 0)
        return kn_spec_fail_place(inner, place, err, "resources: a database has tables; leave one of them out");
    if (spec->record)
        return kn_spec_fail_place(inner, place, err, "resources: the first of them is a record; leave record out");
    return KN_OK;
}
