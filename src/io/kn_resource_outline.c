/* kn_resource_outline.c: one pass over the resources of all files: names, how they nest, systems of codes, references.
 *
 * References are looked up when everything has been read, by full URL or as Type/id, as kn_resources_join.c does it. Cost: linear
 * in the files; each member is looked for among those of its place. Memory: one resource, the names of all, eight bytes per
 * reference, the different elements.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_resource_outline.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_outline.h"
#include "kn_resources_scan.h"

#define NONE KN_RESOURCE_NONE
#define WHAT "looking at resources"

enum { MOST_ELEMENTS = 5000, MOST_CODINGS = 500 };

typedef struct reference {
    int      element;
    uint32_t name; /* of `names`, from 1 */
} reference;

typedef struct looking {
    kn_resource_outline     *o;
    const kn_resource_whole *whole;
    int64_t                  serial; /* of the current resource, from 1                   */
    int                      type;   /* of it                                             */
    kn_interner              names;
    int                     *types; /* per name: the type of the resource that has it; -1 */
    size_t                   type_count, type_capacity;
    reference               *references;
    size_t                   reference_count, reference_capacity;
    kn_buffer                text;
} looking;

static kn_status no_memory(const looking *l, kn_error *err)
{
    return kn_fail_memory(err, l->o->ctx, WHAT);
}

static kn_string key_of(const looking *l, const kn_resource_item *i)
{
    return (kn_string){l->whole->bytes + i->key, i->key_size};
}

static kn_string text_of(const looking *l, const kn_resource_item *i)
{
    return (kn_string){l->whole->bytes + i->text, i->text_size};
}

/* The text of a member; data NULL: it has none. */
static kn_string member_text(const looking *l, uint32_t object, const char *name)
{
    for (uint32_t i = l->whole->items[object].first; i != NONE; i = l->whole->items[i].next) {
        const kn_resource_item *item = &l->whole->items[i];
        if (item->kind == KN_JSON_TEXT && kn_string_equal(key_of(l, item), kn_string_of(name))) return text_of(l, item);
    }
    return (kn_string){NULL, 0};
}

/* ---- Elements ---- */

/* Finds or adds the member of that name below another (-1: a type). */
static kn_status enter(looking *l, int parent, kn_string name, int *out, kn_error *err)
{
    kn_resource_outline *o = l->o;
    int                  last = -1;
    for (int i = parent >= 0 ? o->elements[parent].first : o->count ? 0 : -1; i >= 0; i = o->elements[i].next) {
        *out = last = i;
        if (kn_string_equal(kn_string_of(o->elements[i].name), name)) return KN_OK;
    }
    if (o->count >= MOST_ELEMENTS)
        return kn_fail(err, KN_INPUT, "the resources have more than %d different names; write a release file",
                       MOST_ELEMENTS);
    const char *copy = kn_arena_strndup(&o->arena, name.data, name.size);
    if (!copy || !KN_GROW(o->ctx, &o->elements, &o->capacity, (size_t)o->count + 1)) return no_memory(l, err);
    *out = o->count++;
    o->elements[*out] = (kn_element){.name = copy, .parent = parent, .first = -1, .next = -1};
    if (last >= 0)
        o->elements[last].next = *out;
    else if (parent >= 0)
        o->elements[parent].first = *out;
    return KN_OK;
}

static void count_value(const looking *l, int at, kn_json_kind kind)
{
    kn_element *e = &l->o->elements[at];
    e->count++;
    e->resources += e->last != l->serial;
    e->last = l->serial;
    e->scalars += kind != KN_JSON_OBJECT;
}

/* Rarer systems than the first of them are not worth a class. */
static kn_status count_coding(looking *l, int at, kn_string system, kn_error *err)
{
    kn_resource_outline *o = l->o;
    int                  i = 0;
    while (i < o->coding_count &&
           (o->codings[i].element != at || !kn_string_equal(kn_string_of(o->codings[i].system), system)))
        i++;
    if (i == MOST_CODINGS) return KN_OK;
    if (i == o->coding_count) {
        const char *copy = kn_arena_strndup(&o->arena, system.data, system.size);
        if (!copy || !KN_GROW(o->ctx, &o->codings, &o->coding_capacity, (size_t)i + 1)) return no_memory(l, err);
        o->codings[o->coding_count++] = (kn_coding){.element = at, .system = copy};
    }
    o->codings[i].resources += o->codings[i].last != l->serial;
    o->codings[i].last = l->serial;
    return KN_OK;
}

/* ---- Names and references ---- */

static kn_status name_of(looking *l, kn_string text, uint32_t *out, kn_error *err)
{
    *out = kn_intern(&l->names, text);
    if (*out == KN_ID_FAILED || !KN_GROW(l->o->ctx, &l->types, &l->type_capacity, l->names.count))
        return no_memory(l, err);
    while (l->type_count < l->names.count) l->types[l->type_count++] = -1;
    return KN_OK;
}

static kn_status call(looking *l, kn_string name, kn_error *err)
{
    uint32_t id = 0;
    KN_TRY(name_of(l, name, &id, err));
    l->types[id - 1] = l->type;
    return KN_OK;
}

/* A reference without its version: its last two parts, Type/id, or what it is if it has fewer (urn:uuid:...). */
static kn_status add_reference(looking *l, int element, kn_string text, kn_error *err)
{
    static const char version[] = "/_history/";
    reference         r = {.element = element};
    size_t            slashes = 0, from = 0;
    for (size_t i = 0; i + sizeof version - 1 <= text.size; i++)
        if (memcmp(text.data + i, version, sizeof version - 1) == 0) text.size = i;
    for (size_t i = text.size; i-- > 0 && slashes < 2;)
        if (text.data[i] == '/' && ++slashes == 2) from = i + 1;
    KN_TRY(name_of(l, (kn_string){text.data + from, text.size - from}, &r.name, err));
    if (!KN_GROW(l->o->ctx, &l->references, &l->reference_capacity, l->reference_count + 1)) return no_memory(l, err);
    l->references[l->reference_count++] = r;
    return KN_OK;
}

static kn_status count_links(looking *l, kn_error *err)
{
    kn_resource_outline *o = l->o;
    for (size_t r = 0; r < l->reference_count; r++) {
        int from = l->references[r].element, target = l->types[l->references[r].name - 1], i = 0;
        if (target < 0) continue;
        while (i < o->link_count && (o->links[i].element != from || o->links[i].target != target)) i++;
        if (i == o->link_count) {
            if (!KN_GROW(o->ctx, &o->links, &o->link_capacity, (size_t)i + 1)) return no_memory(l, err);
            o->links[o->link_count++] = (kn_link){from, target, 0};
        }
        o->links[i].count++;
    }
    return KN_OK;
}

/* ---- Resources ---- */

static kn_status look_at(looking *l, uint32_t value, int at, kn_error *err);

static kn_status look_at_members(looking *l, uint32_t object, int at, kn_error *err)
{
    kn_string system = member_text(l, object, "system"), target = {NULL, 0};
    for (uint32_t i = l->whole->items[object].first; i != NONE; i = l->whole->items[i].next) {
        int member = -1;
        KN_TRY(enter(l, at, key_of(l, &l->whole->items[i]), &member, err));
        KN_TRY(look_at(l, i, member, err));
    }
    if (system.size > 0 && member_text(l, object, "code").size > 0) KN_TRY(count_coding(l, at, system, err));
    if (l->o->elements[at].parent == l->type) target = member_text(l, object, "reference");
    return target.size > 0 ? add_reference(l, at, target, err) : KN_OK;
}

/* A value, which belongs to a member. As deep as the document nests: KN_JSON_MAX_DEPTH. */
static kn_status look_at(looking *l, uint32_t value, int at, kn_error *err)
{
    const kn_resource_item *item = &l->whole->items[value];
    if (item->kind == KN_JSON_NULL) return KN_OK;
    if (item->kind != KN_JSON_LIST) count_value(l, at, item->kind);
    if (item->kind == KN_JSON_OBJECT) return look_at_members(l, value, at, err);
    if (item->kind != KN_JSON_LIST) return KN_OK;
    for (uint32_t i = item->first; i != NONE; i = l->whole->items[i].next) {
        if (l->whole->items[i].kind == KN_JSON_LIST) l->o->elements[at].nested = true;
        KN_TRY(look_at(l, i, at, err));
    }
    return KN_OK;
}

static kn_status look_at_resource(void *state, const kn_resource_whole *whole, kn_error *err)
{
    looking *l = state;
    l->whole = whole;
    l->serial++;
    kn_string id = member_text(l, whole->own, "id");
    KN_TRY(enter(l, -1, member_text(l, whole->own, "resourceType"), &l->type, err));
    count_value(l, l->type, KN_JSON_OBJECT);
    if (whole->url.data) KN_TRY(call(l, whole->url, err));
    if (id.data) {
        kn_buffer_clear(&l->text);
        kn_buffer_format(&l->text, "%s/%.*s", l->o->elements[l->type].name, (int)id.size, id.data);
        if (l->text.failed) return no_memory(l, err);
        KN_TRY(call(l, (kn_string){l->text.data, l->text.size}, err));
    }
    for (uint32_t i = whole->items[whole->own].first; i != NONE; i = whole->items[i].next) {
        int member = -1;
        KN_TRY(enter(l, l->type, key_of(l, &whole->items[i]), &member, err));
        KN_TRY(look_at(l, i, member, err));
    }
    return KN_OK;
}

static kn_status ignore(void *state, kn_string name, kn_error *err)
{
    (void)state, (void)name, (void)err;
    return KN_OK;
}

kn_status kn_resource_outline_read(kn_resource_outline *out, kn_context *ctx, const char *path, kn_error *err)
{
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    kn_records_layout  layout = {.form = KN_RECORDS_AUTO};
    looking            l = {.o = out};
    kn_resources_sink  sink = {.state = &l, .ignored = ignore, .whole = look_at_resource};
    *out = (kn_resource_outline){.ctx = ctx, .form = kn_records_form_of(path)};
    kn_arena_init(&out->arena, ctx);
    kn_interner_init(&l.names, ctx);
    kn_buffer_init(&l.text, ctx);
    kn_status st = kn_resources_scan(ctx, path, &options, &sink, &layout, err);
    if (st == KN_OK) st = count_links(&l, err);
    kn_interner_free(&l.names);
    kn_buffer_free(&l.text);
    KN_FREE(l.types, l.references, layout.style, layout.path, layout.namespaces);
    return st;
}

void kn_resource_outline_free(kn_resource_outline *o)
{
    KN_FREE(o->elements, o->codings, o->links);
    kn_arena_free(&o->arena);
}

/* ---- Are there any? ---- */

static kn_status look_for_type(kn_json *json, bool *found, kn_error *err)
{
    KN_TRY(kn_json_next(json, err));
    if (json->kind == KN_JSON_LIST) KN_TRY(kn_json_next(json, err));
    if (json->kind != KN_JSON_OBJECT) return KN_OK;
    for (;;) {
        KN_TRY(kn_json_next(json, err));
        if (json->kind == KN_JSON_OBJECT_END) return KN_OK;
        bool type = kn_string_equal(json->text, kn_string_of("resourceType"));
        KN_TRY(kn_json_next(json, err));
        *found = type && json->kind == KN_JSON_TEXT;
        if (type) return KN_OK;
        KN_TRY(kn_json_skip(json, err));
    }
}

bool kn_resources_are(kn_context *ctx, const char *path)
{
    return kn_outline_first(ctx, path, look_for_type);
}
