/* kn_resources_read.c: the resources of a JSON or JSON Lines file (kn_resources.h).
 *
 * A document is a resource: an object that says its type in "resourceType". A Bundle holds others in "entry", each as
 * {"fullUrl": ..., "resource": {...}}. One resource at a time is read as a whole, since a condition of a path may stand
 * behind what it decides on; then the paths of the classes are followed. What none of them, no reference and no id leads
 * to is named.
 *
 * Memory: one resource.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_resources.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_records_collect.h"
#include "kn_resource_path.h"

#define NONE KN_RESOURCE_NONE
#define WHAT "reading tree records"

enum { UNUSED, ENTERED, USED };

typedef kn_resource_item item;

typedef struct reading {
    kn_collector      *c;
    kn_json            json;
    kn_buffer          bytes;
    item              *items;
    size_t             count, capacity;
    kn_resource_value *values;
    size_t             value_count, value_capacity;
    kn_string         *parents;
    size_t             parent_capacity;
    bool               entries; /* the document has entries with resources */
} reading;

static kn_status next(reading *r, kn_error *err)
{
    return kn_json_next(&r->json, err);
}

static kn_status fail_item(const reading *r, uint32_t at, kn_error *err, const char *message)
{
    return kn_fail_at(err, KN_INPUT, r->c->file, r->items[at].line, r->items[at].column, "%s", message);
}

static bool is_scalar(kn_json_kind k)
{
    return k == KN_JSON_TEXT || k == KN_JSON_NUMBER || k == KN_JSON_TRUE || k == KN_JSON_FALSE;
}

/* ---- One resource as a whole ---- */

static kn_status keep(reading *r, kn_string text, uint64_t *at, uint32_t *size, kn_error *err)
{
    if (r->bytes.size + text.size > KN_RECORDS_MAX_RECORD || r->count >= KN_RECORDS_MAX_RECORD)
        return kn_fail_at(err, KN_INPUT, r->c->file, r->json.line, r->json.column, "a resource of more than %d bytes",
                          KN_RECORDS_MAX_RECORD);
    *at = r->bytes.size;
    *size = (uint32_t)text.size;
    kn_buffer_append(&r->bytes, text.data, text.size);
    return r->bytes.failed ? kn_fail_memory(err, r->c->ctx, WHAT) : KN_OK;
}

static kn_status add_item(reading *r, uint32_t *out, kn_error *err)
{
    if (!KN_GROW(r->c->ctx, &r->items, &r->capacity, r->count + 1)) return kn_fail_memory(err, r->c->ctx, WHAT);
    *out = (uint32_t)r->count;
    r->items[r->count++] = (item){.first = NONE, .next = NONE};
    return KN_OK;
}

static void link_item(reading *r, uint32_t above, uint32_t *last, uint32_t own)
{
    if (*last == NONE)
        r->items[above].first = own;
    else
        r->items[*last].next = own;
    *last = own;
}

/* The current value into an item. As deep as the document nests: KN_JSON_MAX_DEPTH. */
static kn_status build(reading *r, uint32_t own, kn_error *err)
{
    kn_json_kind kind = r->json.kind;
    uint32_t     last = NONE;
    r->items[own].kind = kind;
    r->items[own].line = r->json.line;
    r->items[own].column = r->json.column;
    if (is_scalar(kind)) {
        uint64_t at = 0;
        uint32_t size = 0;
        KN_TRY(keep(r, r->json.text, &at, &size, err));
        r->items[own].text = at;
        r->items[own].text_size = size;
        return KN_OK;
    }
    if (kind != KN_JSON_OBJECT && kind != KN_JSON_LIST) return KN_OK;
    for (;;) {
        uint32_t child = 0, size = 0;
        uint64_t at = 0;
        KN_TRY(next(r, err));
        if (r->json.kind == KN_JSON_OBJECT_END || r->json.kind == KN_JSON_LIST_END) return KN_OK;
        KN_TRY(add_item(r, &child, err));
        if (kind == KN_JSON_OBJECT) {
            KN_TRY(keep(r, r->json.text, &at, &size, err));
            KN_TRY(next(r, err));
        }
        r->items[child].key = at;
        r->items[child].key_size = size;
        link_item(r, own, &last, child);
        KN_TRY(build(r, child, err));
    }
}

/* ---- What is in it ---- */

static kn_string key_of(const reading *r, uint32_t at)
{
    return (kn_string){r->bytes.data + r->items[at].key, r->items[at].key_size};
}

static kn_string text_of(const reading *r, uint32_t at)
{
    return (kn_string){r->bytes.data + r->items[at].text, r->items[at].text_size};
}

/* The member of that name; NONE: there is none. */
static kn_status find(const reading *r, uint32_t object, kn_string name, uint32_t *out, kn_error *err)
{
    *out = NONE;
    for (uint32_t i = r->items[object].first; i != NONE; i = r->items[i].next) {
        if (!kn_string_equal(key_of(r, i), name)) continue;
        if (*out != NONE) return fail_item(r, i, err, "this name occurs twice in the object");
        *out = i;
    }
    return KN_OK;
}

static kn_status find_text(reading *r, uint32_t object, const char *name, kn_string *out, kn_error *err)
{
    uint32_t at;
    *out = (kn_string){NULL, 0};
    KN_TRY(find(r, object, kn_string_of(name), &at, err));
    if (at == NONE) return KN_OK;
    if (r->items[at].kind != KN_JSON_TEXT) return fail_item(r, at, err, "a text is expected");
    r->items[at].used = USED;
    *out = text_of(r, at);
    return KN_OK;
}

/* Does an object have the member that a condition asks for? */
static kn_status fits(reading *r, uint32_t object, const kn_resource_step *step, bool *out, kn_error *err)
{
    uint32_t at;
    *out = true;
    if (!step->key.data) return KN_OK;
    KN_TRY(find(r, object, step->key, &at, err));
    *out = at != NONE && r->items[at].kind == KN_JSON_TEXT && kn_string_equal(text_of(r, at), step->value);
    if (*out) r->items[at].used = USED;
    return KN_OK;
}

static kn_status add_value(reading *r, int cls, uint32_t at, kn_error *err)
{
    kn_string       text = kn_records_trimmed(text_of(r, at));
    kn_class_style *style = r->c->layout->style ? &r->c->layout->style->of[cls + 1] : NULL;
    if (text.size == 0) return fail_item(r, at, err, "a value without text");
    if (!KN_GROW(r->c->ctx, &r->values, &r->value_capacity, r->value_count + 1))
        return kn_fail_memory(err, r->c->ctx, WHAT);
    r->values[r->value_count++] = (kn_resource_value){cls, text};
    if (!style) return KN_OK;
    style->texts |= r->items[at].kind == KN_JSON_TEXT;
    style->literals |= r->items[at].kind != KN_JSON_TEXT;
    return KN_OK;
}

/* Follows a path from what one of its steps led to. */
static kn_status follow(reading *r, int cls, const kn_resource_step *step, int depth, uint32_t at, kn_error *err)
{
    kn_json_kind     kind = r->items[at].kind;
    kn_resource_step inner;
    uint32_t         member;
    bool             good;
    if (kind == KN_JSON_NULL) return KN_OK;
    if (kind == KN_JSON_LIST) {
        r->items[at].used = ENTERED;
        if (r->c->layout->style) r->c->layout->style->of[cls + 1].lists |= (uint32_t)1 << depth;
        for (uint32_t i = r->items[at].first; i != NONE; i = r->items[i].next) {
            if (r->items[i].kind == KN_JSON_LIST) return fail_item(r, i, err, "a list of lists");
            KN_TRY(follow(r, cls, step, depth, i, err));
        }
        return KN_OK;
    }
    if (!step->rest) {
        if (kind == KN_JSON_OBJECT)
            return fail_item(r, at, err, "a value is a text or a number; the path of a class ends here");
        r->items[at].used = USED;
        return add_value(r, cls, at, err);
    }
    if (kind != KN_JSON_OBJECT)
        return fail_item(r, at, err, "an object is expected: the path of a class leads through it");
    KN_TRY(fits(r, at, step, &good, err));
    if (!good) return KN_OK;
    r->items[at].used = ENTERED;
    (void)kn_resource_step_of(step->rest, &inner); /* checked with the release file */
    KN_TRY(find(r, at, inner.name, &member, err));
    return member == NONE ? KN_OK : follow(r, cls, &inner, depth + 1, member, err);
}

static kn_status read_values(reading *r, uint32_t own, kn_string type, kn_error *err)
{
    const kn_records_options *options = r->c->options;
    r->value_count = 0;
    for (int c = 0; c < options->class_count; c++) {
        const char *paths[] = {options->classes[c].path, options->released ? options->classes[c].broader : NULL};
        for (size_t p = 0; p < 2 && paths[p]; p++) {
            kn_resource_step step;
            if (!kn_resource_step_of(paths[p], &step) || !kn_string_equal(step.name, type)) continue;
            KN_TRY(follow(r, c, &step, -1, own, err));
        }
    }
    return KN_OK;
}

/* What an element refers to: {"reference": TEXT}, TEXT, or the first of a list that does. */
static kn_status read_reference(reading *r, uint32_t at, kn_string *out, kn_error *err)
{
    r->items[at].used = USED;
    if (r->items[at].kind == KN_JSON_TEXT) *out = text_of(r, at);
    if (r->items[at].kind == KN_JSON_OBJECT) return find_text(r, at, "reference", out, err);
    for (uint32_t i = r->items[at].first; i != NONE && !out->data; i = r->items[i].next)
        if (r->items[i].kind != KN_JSON_LIST) KN_TRY(read_reference(r, i, out, err));
    return KN_OK;
}

static kn_status read_parents(reading *r, uint32_t own, const kn_spec_resource *type, kn_error *err)
{
    if (!KN_GROW(r->c->ctx, &r->parents, &r->parent_capacity, (size_t)type->parent_count + 1))
        return kn_fail_memory(err, r->c->ctx, WHAT);
    for (int i = 0; i < type->parent_count; i++) {
        uint32_t at;
        r->parents[i] = (kn_string){NULL, 0};
        KN_TRY(find(r, own, kn_string_of(type->parents[i]), &at, err));
        if (at != NONE) KN_TRY(read_reference(r, at, &r->parents[i], err));
    }
    for (int i = 0; i < type->fixed_count && r->c->options->released; i++) {
        uint32_t at;
        KN_TRY(find(r, own, kn_string_of(type->fixed[i]), &at, err));
        if (at != NONE) r->items[at].used = USED;
    }
    return KN_OK;
}

/* Names what nothing led to. `name` is that of the object or list around. */
static kn_status tell_unused(reading *r, uint32_t at, kn_buffer *name, kn_error *err)
{
    for (uint32_t i = r->items[at].first; i != NONE; i = r->items[i].next) {
        size_t before = name->size;
        if (r->items[i].used == USED) continue;
        if (r->items[at].kind == KN_JSON_OBJECT) {
            kn_buffer_char(name, '/');
            kn_buffer_append(name, r->bytes.data + r->items[i].key, r->items[i].key_size);
        }
        if (name->failed) return kn_fail_memory(err, r->c->ctx, WHAT);
        KN_TRY(r->items[i].used == ENTERED ? tell_unused(r, i, name, err)
                                           : kn_collector_ignore(r->c, "", (kn_string){name->data, name->size}, err));
        name->size = before;
    }
    return KN_OK;
}

static kn_status deliver(reading *r, uint32_t own, kn_string url, kn_error *err)
{
    const kn_records_options *options = r->c->options;
    kn_resource               out = {.url = url, .place = {r->c->file, r->items[own].line, r->items[own].column}};
    kn_string                 type;
    kn_buffer                 name;
    if (r->items[own].kind != KN_JSON_OBJECT) return fail_item(r, own, err, "a resource is an object");
    KN_TRY(find_text(r, own, "resourceType", &type, err));
    if (!type.data) return fail_item(r, own, err, "a resource without a resourceType");
    if (r->c->resources->whole) {
        kn_resource_whole whole = {r->items, r->bytes.data, own, url};
        return r->c->resources->whole(r->c->resources->state, &whole, err);
    }
    while (out.type < options->resource_count &&
           !kn_string_equal(kn_string_of(options->resources[out.type].name), type))
        out.type++;
    if (out.type == options->resource_count) return kn_collector_ignore(r->c, "", type, err);
    KN_TRY(find_text(r, own, "id", &out.id, err));
    KN_TRY(read_parents(r, own, &options->resources[out.type], err));
    KN_TRY(read_values(r, own, type, err));
    out.parents = r->parents;
    out.values = r->values;
    out.value_count = r->value_count;
    kn_buffer_init(&name, r->c->ctx);
    kn_buffer_append(&name, type.data, type.size);
    kn_status st = tell_unused(r, own, &name, err);
    kn_buffer_free(&name);
    return st == KN_OK ? r->c->resources->resource(r->c->resources->state, &out, err) : st;
}

/* ---- Bundles ---- */

/* One entry of a bundle: what is not its URL or its resource says nothing about it. */
static kn_status read_entry(reading *r, kn_error *err)
{
    size_t   count = r->count, size = r->bytes.size;
    uint32_t own = NONE, url_size = 0;
    uint64_t url = 0;
    bool     named = false;
    if (r->json.kind != KN_JSON_OBJECT) return kn_json_fail(&r->json, err, "an entry is an object");
    for (;;) {
        KN_TRY(next(r, err));
        if (r->json.kind == KN_JSON_OBJECT_END) break;
        bool is_url = kn_string_equal(r->json.text, kn_string_of("fullUrl")),
             is_resource = kn_string_equal(r->json.text, kn_string_of("resource"));
        KN_TRY(next(r, err));
        if ((is_url && named) || (is_resource && own != NONE))
            return kn_json_fail(&r->json, err, "this name occurs twice in the object");
        if (is_url && r->json.kind == KN_JSON_TEXT) {
            KN_TRY(keep(r, r->json.text, &url, &url_size, err));
            named = true;
        } else if (is_resource) {
            KN_TRY(add_item(r, &own, err));
            KN_TRY(build(r, own, err));
        } else {
            KN_TRY(kn_json_skip(&r->json, err));
        }
    }
    if (own != NONE) {
        kn_string text = {named ? r->bytes.data + url : NULL, url_size};
        r->entries = true;
        KN_TRY(deliver(r, own, text, err));
    }
    r->count = count;
    r->bytes.size = size;
    return KN_OK;
}

static kn_status read_entries(reading *r, kn_error *err)
{
    for (;;) {
        KN_TRY(next(r, err));
        if (r->json.kind == KN_JSON_LIST_END) return KN_OK;
        KN_TRY(read_entry(r, err));
    }
}

/* A bundle or a resource. */
static kn_status read_document(reading *r, kn_error *err)
{
    uint32_t  own = 0, last = NONE;
    kn_string type;
    r->count = 0;
    r->entries = false;
    kn_buffer_clear(&r->bytes);
    if (r->json.kind != KN_JSON_OBJECT) return kn_json_fail(&r->json, err, "a resource is an object");
    KN_TRY(add_item(r, &own, err));
    r->items[own].kind = KN_JSON_OBJECT;
    r->items[own].line = r->json.line;
    r->items[own].column = r->json.column;
    for (;;) {
        uint32_t child = 0, size = 0;
        uint64_t at = 0;
        KN_TRY(next(r, err));
        if (r->json.kind == KN_JSON_OBJECT_END) break;
        bool entry = kn_string_equal(r->json.text, kn_string_of("entry"));
        KN_TRY(keep(r, r->json.text, &at, &size, err));
        KN_TRY(next(r, err));
        if (entry && r->json.kind == KN_JSON_LIST) {
            KN_TRY(read_entries(r, err));
            continue;
        }
        KN_TRY(add_item(r, &child, err));
        r->items[child].key = at;
        r->items[child].key_size = size;
        link_item(r, own, &last, child);
        KN_TRY(build(r, child, err));
    }
    KN_TRY(find_text(r, own, "resourceType", &type, err));
    if (type.data && kn_string_equal(type, kn_string_of("Bundle"))) return KN_OK;
    if (r->entries) return fail_item(r, own, err, "only a Bundle has entries with resources");
    return deliver(r, own, (kn_string){NULL, 0}, err);
}

static kn_status read_documents(reading *r, bool lines, kn_error *err)
{
    KN_TRY(next(r, err));
    bool list = !lines && r->json.kind == KN_JSON_LIST;
    if (list) KN_TRY(next(r, err));
    while (r->json.kind != (list ? KN_JSON_LIST_END : KN_JSON_END)) {
        KN_TRY(read_document(r, err));
        KN_TRY(next(r, err));
    }
    return list ? next(r, err) : KN_OK; /* the end: nothing may follow */
}

kn_status kn_resources_read(kn_collector *c, bool lines, kn_error *err)
{
    reading r = {.c = c};
    kn_buffer_init(&r.bytes, c->ctx);
    kn_status st = kn_json_open(&r.json, c->ctx, c->source, lines, err);
    if (st == KN_OK) st = read_documents(&r, lines, err);
    kn_json_close(&r.json);
    kn_buffer_free(&r.bytes);
    KN_FREE(r.items, r.values, r.parents);
    return st;
}
