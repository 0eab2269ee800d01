/* kn_resources_join.c: resources → records: references are resolved, and what belongs to a person is put below it.
 *
 * A resource is known by its full URL, by "Type/id", or by both. A reference is compared as it stands, without
 * "/_history/...", then by its last two parts. The values of a person are side by side. Of any other resource the values of
 * the first class that it has are below the node that it belongs to, its other values below the first of these, and so is
 * what refers to it. A resource without values has no node: what refers to it is where it would be.
 *
 * Cost: linear. Memory: about 60 bytes per resource, 8 per value, and the different texts.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_records_collect.h"
#include "kn_resources.h"

#define NONE UINT32_MAX
#define WHAT "reading tree records"

typedef struct resource {
    uint64_t values, references; /* where they begin                  */
    uint32_t value_count;
    uint32_t id; /* the name by its id, for persons; 0: none  */
    int32_t  type;
    uint32_t parent; /* NONE: none, or not known yet              */
    uint32_t file;
    int64_t  line, column;
} resource;

typedef struct value {
    int32_t  cls;
    uint32_t text; /* of `texts` */
} value;

struct kn_resources_join {
    kn_collector *c;
    kn_interner   names, texts, files;
    uint32_t     *named; /* per name: the resource; NONE     */
    size_t        named_capacity, named_count;
    resource     *list;
    size_t        count, capacity;
    value        *values;
    size_t        value_count, value_capacity;
    uint32_t     *references; /* per parent element of a resource: the names that it may mean, two of them; 0: none */
    size_t        reference_count, reference_capacity;
    uint32_t     *start, *below; /* per resource: those that belong to it */
    kn_buffer     name;
};

static kn_status no_memory(const kn_resources_join *j, kn_error *err)
{
    return kn_fail_memory(err, j->c->ctx, WHAT);
}

kn_status kn_resources_join_create(kn_resources_join **out, kn_collector *c, kn_error *err)
{
    kn_resources_join *j = kn_alloc_zero(c->ctx, sizeof *j);
    *out = j;
    if (!j) return kn_fail_memory(err, c->ctx, WHAT);
    j->c = c;
    kn_interner_init(&j->names, c->ctx);
    kn_interner_init(&j->texts, c->ctx);
    kn_interner_init(&j->files, c->ctx);
    kn_buffer_init(&j->name, c->ctx);
    return KN_OK;
}

void kn_resources_join_free(kn_resources_join *j)
{
    if (!j) return;
    kn_interner_free(&j->names);
    kn_interner_free(&j->texts);
    kn_interner_free(&j->files);
    kn_buffer_free(&j->name);
    KN_FREE(j->named, j->list, j->values, j->references, j->start, j->below, j);
}

/* ---- Collecting ---- */

static kn_status name_id(kn_resources_join *j, kn_string text, uint32_t *out, kn_error *err)
{
    *out = kn_intern(&j->names, text);
    if (*out == KN_ID_FAILED || !KN_GROW(j->c->ctx, &j->named, &j->named_capacity, j->names.count))
        return no_memory(j, err);
    while (j->named_count < j->names.count) j->named[j->named_count++] = NONE;
    return KN_OK;
}

static kn_status add_name(kn_resources_join *j, kn_string text, uint32_t own, const kn_records_place *place,
                          uint32_t *id, kn_error *err)
{
    KN_TRY(name_id(j, text, id, err));
    if (j->named[*id - 1] != NONE && j->named[*id - 1] != own)
        return kn_fail_at(err, KN_INPUT, place->file, place->line, place->column,
                          "a resource of this type and id, or with this URL, was read before");
    j->named[*id - 1] = own;
    return KN_OK;
}

/* The last two parts of a reference, "Type/id"; data NULL: it has no others. */
static kn_string last_parts(kn_string text)
{
    size_t slashes = 0;
    for (size_t i = text.size; i-- > 0;)
        if (text.data[i] == '/' && ++slashes == 2) return (kn_string){text.data + i + 1, text.size - i - 1};
    return (kn_string){NULL, 0};
}

static kn_string without_history(kn_string text)
{
    static const char word[] = "/_history/";
    for (size_t i = 0; i + sizeof word - 1 <= text.size; i++)
        if (memcmp(text.data + i, word, sizeof word - 1) == 0) return (kn_string){text.data, i};
    return text;
}

static kn_status add_reference(kn_resources_join *j, kn_string text, kn_error *err)
{
    uint32_t ids[2] = {0, 0};
    if (text.data) {
        text = without_history(text);
        kn_string parts = last_parts(text);
        KN_TRY(name_id(j, text, &ids[0], err));
        if (parts.data) KN_TRY(name_id(j, parts, &ids[1], err));
    }
    if (!KN_GROW(j->c->ctx, &j->references, &j->reference_capacity, j->reference_count + 2)) return no_memory(j, err);
    memcpy(j->references + j->reference_count, ids, sizeof ids);
    j->reference_count += 2;
    return KN_OK;
}

static kn_status add_value(kn_resources_join *j, const kn_resource_value *v, kn_error *err)
{
    uint32_t text = kn_intern(&j->texts, v->text);
    if (text == KN_ID_FAILED || !KN_GROW(j->c->ctx, &j->values, &j->value_capacity, j->value_count + 1))
        return no_memory(j, err);
    j->values[j->value_count++] = (value){v->cls, text};
    return KN_OK;
}

kn_status kn_resources_join_add(void *join, const kn_resource *r, kn_error *err)
{
    kn_resources_join      *j = join;
    const kn_spec_resource *type = &j->c->options->resources[r->type];
    uint32_t                own = (uint32_t)j->count, name;
    if (j->count >= NONE) return kn_fail(err, KN_INPUT, "there are too many resources");
    if (!KN_GROW(j->c->ctx, &j->list, &j->capacity, j->count + 1)) return no_memory(j, err);
    resource *to = &j->list[j->count++];
    *to = (resource){.values = j->value_count,
                     .references = j->reference_count,
                     .value_count = (uint32_t)r->value_count,
                     .type = r->type,
                     .parent = NONE,
                     .file = kn_intern(&j->files, (kn_string){r->place.file, strlen(r->place.file) + 1}),
                     .line = r->place.line,
                     .column = r->place.column};
    if (to->file == KN_ID_FAILED) return no_memory(j, err);
    if (r->url.data) KN_TRY(add_name(j, r->url, own, &r->place, &name, err));
    if (r->id.data) {
        kn_buffer_clear(&j->name);
        kn_buffer_format(&j->name, "%s/%.*s", type->name, (int)r->id.size, r->id.data);
        if (j->name.failed) return no_memory(j, err);
        KN_TRY(add_name(j, (kn_string){j->name.data, j->name.size}, own, &r->place, &to->id, err));
    }
    for (int i = 0; i < type->parent_count; i++) KN_TRY(add_reference(j, r->parents[i], err));
    for (size_t i = 0; i < r->value_count; i++) KN_TRY(add_value(j, &r->values[i], err));
    return KN_OK;
}

/* ---- Resolving ---- */

static uint32_t resolve(const kn_resources_join *j, const resource *r)
{
    const kn_spec_resource *type = &j->c->options->resources[r->type];
    for (int i = 0; i < type->parent_count; i++)
        for (int n = 0; n < 2; n++) {
            uint32_t name = j->references[r->references + 2 * (uint64_t)i + (uint64_t)n];
            uint32_t found = name ? j->named[name - 1] : NONE;
            if (found != NONE && j->list[found].type == type->targets[i]) return found;
        }
    return NONE;
}

/* What belongs to each, in the order of the files. */
static kn_status list_children(kn_resources_join *j, kn_error *err)
{
    j->start = kn_alloc_array_zero(j->c->ctx, j->count + 2, sizeof *j->start);
    j->below = kn_alloc_array(j->c->ctx, j->count + 1, sizeof *j->below);
    if (!j->start || !j->below) return no_memory(j, err);
    for (size_t i = 0; i < j->count; i++) {
        j->list[i].parent = resolve(j, &j->list[i]);
        if (j->list[i].parent != NONE) j->start[j->list[i].parent + 2]++;
    }
    for (size_t i = 2; i < j->count + 2; i++) j->start[i] += j->start[i - 1];
    for (size_t i = 0; i < j->count; i++)
        if (j->list[i].parent != NONE) j->below[j->start[j->list[i].parent + 1]++] = (uint32_t)i;
    return KN_OK;
}

/* ---- Telling ---- */

/* The nodes of a resource below `above`, and what belongs to it; types that belong to it stand after its own, so that this
 * is no deeper than there are types. Counts the resources in *told. */
static kn_status tell(kn_resources_join *j, uint32_t own, int64_t above, size_t *told, kn_error *err)
{
    const resource *r = &j->list[own];
    int64_t         head = above;
    ++*told;
    for (uint32_t i = 0; i < r->value_count; i++) {
        const value *v = &j->values[r->values + i];
        bool         first = r->type == 0 || v->cls == j->values[r->values].cls;
        int64_t      node;
        KN_TRY(kn_collector_node(j->c, first ? above : head, v->cls, r->line, r->column, &node, err));
        KN_TRY(kn_collector_value(j->c, node, j->texts.texts[v->text - 1], err));
        if (r->type != 0 && head == above) head = node;
    }
    for (uint32_t i = j->start[own]; i < j->start[own + 1]; i++) KN_TRY(tell(j, j->below[i], head, told, err));
    return KN_OK;
}

static kn_status tell_record(kn_resources_join *j, uint32_t own, size_t *told, kn_error *err)
{
    const resource *r = &j->list[own];
    j->c->file = j->files.texts[r->file - 1].data;
    kn_collector_begin(j->c, r->line, r->column);
    if (r->id && !j->c->options->released) /* a release has new ones */
        KN_TRY(kn_collector_id(j->c, j->names.texts[r->id - 1], r->line, r->column, err));
    KN_TRY(tell(j, own, -1, told, err));
    return kn_collector_end(j->c, err);
}

kn_status kn_resources_join_tell(kn_resources_join *j, kn_error *err)
{
    size_t told = 0;
    KN_TRY(list_children(j, err));
    for (size_t i = 0; i < j->count; i++)
        if (j->list[i].type == 0) KN_TRY(tell_record(j, (uint32_t)i, &told, err));
    j->c->layout->orphans = (int64_t)(j->count - told);
    if (told < j->count && j->c->options->released)
        return kn_fail(err, KN_INPUT, "the release holds resources that belong to nobody");
    return KN_OK;
}
