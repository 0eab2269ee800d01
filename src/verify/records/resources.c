/* records/resources.c: records that are put together from resources, by the verifier's own reading of their references.
 *
 * The rule (docs/trees.md): the values of a person are side by side. Any other resource belongs to what the first of its
 * parent elements leads to; the values of its first class are there, its others below the first of these, as is
 * whatever belongs to it. Without values it is no node, and what belongs to it is where it would be. References are
 * followed from below: each resource looks for the one above it, and is hung into its list of children.
 *
 * Cost: linear. Memory: the resources of one side, their different texts once.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_resources_scan.h"
#include "kn_verify_records.h"

typedef struct leaf {
    int32_t  cls;
    uint32_t text;
} leaf;

/* A resource; its children are a list in reverse order. */
typedef struct block {
    int32_t          type;
    uint32_t         above, child, beside; /* KN_V_NONE                                  */
    uint32_t         name;                 /* Type/id, as a text's number; KN_V_NONE     */
    uint64_t         leaves, links;        /* from here in all of them ...               */
    uint32_t         leaf_count;
    bool             reached;
    kn_records_place place;
} block;

typedef struct blocks {
    kn_context               *ctx;
    const kn_records_options *options;
    const kn_records_sink    *sink;
    kn_arena                  arena; /* names of files and texts in the making */
    kn_texts                  texts;
    block                    *list;
    leaf                     *leaves;
    uint32_t                 *links; /* per parent element: what it says, as a text; KN_V_NONE: nothing */
    uint32_t                 *owner; /* per text: the resource that is called so     */
    size_t                    count, room, leaf_count, leaf_room, link_count, link_room, owner_count, owner_room;
    int64_t                   nodes; /* of the current record */
    const char               *file;
} blocks;

static kn_status no_memory(const blocks *b, kn_error *err)
{
    return kn_fail_memory(err, b->ctx, "verifying");
}

static kn_status number(blocks *b, kn_string text, uint32_t *out, kn_error *err)
{
    *out = kn_texts_add(&b->texts, text, true);
    if (*out == KN_V_NONE ||
        !kn_grow(b->ctx, (void **)&b->owner, &b->owner_room, (size_t)b->texts.count + 1, sizeof *b->owner))
        return no_memory(b, err);
    while (b->owner_count < b->texts.count) b->owner[b->owner_count++] = KN_V_NONE;
    return KN_OK;
}

static kn_status call(blocks *b, kn_string name, uint32_t own, uint32_t *number_of, kn_error *err)
{
    const kn_records_place *at = &b->list[own].place;
    KN_TRY(number(b, name, number_of, err));
    if (b->owner[*number_of] != KN_V_NONE && b->owner[*number_of] != own)
        return kn_fail_at(err, KN_INPUT, at->file, at->line, at->column, "two resources have one name");
    b->owner[*number_of] = own;
    return KN_OK;
}

static kn_status call_by_id(blocks *b, const char *type, kn_string id, uint32_t own, kn_error *err)
{
    size_t size = strlen(type) + 1 + id.size;
    char  *name = kn_arena_bytes(&b->arena, size + 1);
    if (!name) return no_memory(b, err);
    snprintf(name, size + 1, "%s/%.*s", type, (int)id.size, id.data);
    return call(b, (kn_string){name, size}, own, &b->list[own].name, err);
}

static kn_status keep_place(blocks *b, block *own, const kn_records_place *place, kn_error *err)
{
    if (!b->file || strcmp(b->file, place->file) != 0)
        b->file = kn_arena_strndup(&b->arena, place->file, strlen(place->file));
    if (!b->file) return no_memory(b, err);
    own->place = (kn_records_place){b->file, place->line, place->column};
    return KN_OK;
}

static kn_status hear_resource(void *state, const kn_resource *r, kn_error *err)
{
    blocks                 *b = state;
    const kn_spec_resource *type = &b->options->resources[r->type];
    uint32_t                own = (uint32_t)b->count, url;
    if (b->count >= KN_V_MISSING) return kn_fail(err, KN_INPUT, "there are too many resources to verify");
    if (!kn_grow(b->ctx, (void **)&b->list, &b->room, b->count + 1, sizeof *b->list) ||
        !kn_grow(b->ctx, (void **)&b->leaves, &b->leaf_room, b->leaf_count + r->value_count + 1, sizeof *b->leaves) ||
        !kn_grow(b->ctx, (void **)&b->links, &b->link_room, b->link_count + (size_t)type->parent_count + 1,
                 sizeof *b->links))
        return no_memory(b, err);
    b->list[b->count++] = (block){.type = r->type,
                                  .above = KN_V_NONE,
                                  .child = KN_V_NONE,
                                  .beside = KN_V_NONE,
                                  .name = KN_V_NONE,
                                  .leaves = b->leaf_count,
                                  .links = b->link_count,
                                  .leaf_count = (uint32_t)r->value_count};
    KN_TRY(keep_place(b, &b->list[own], &r->place, err));
    if (r->url.data) KN_TRY(call(b, r->url, own, &url, err));
    if (r->id.data) KN_TRY(call_by_id(b, type->name, r->id, own, err));
    for (int i = 0; i < type->parent_count; i++, b->link_count++) {
        b->links[b->link_count] = KN_V_NONE;
        if (r->parents[i].data) KN_TRY(number(b, r->parents[i], &b->links[b->link_count], err));
    }
    for (size_t i = 0; i < r->value_count; i++, b->leaf_count++) {
        b->leaves[b->leaf_count].cls = r->values[i].cls;
        KN_TRY(number(b, r->values[i].text, &b->leaves[b->leaf_count].text, err));
    }
    return KN_OK;
}

static kn_status hear_name(void *state, kn_string name, kn_error *err)
{
    const kn_records_sink *sink = ((blocks *)state)->sink;
    return sink->ignored ? sink->ignored(sink->state, name, err) : KN_OK;
}

/* ---- References ---- */

static uint32_t called(const blocks *b, kn_string name, int type)
{
    uint32_t text = kn_texts_find(&b->texts, name);
    uint32_t own = text == KN_V_NONE ? KN_V_NONE : b->owner[text];
    return own != KN_V_NONE && b->list[own].type == type ? own : KN_V_NONE;
}

/* The resource of a type that a reference means: by the whole of it up to a version, or by its last two parts. */
static uint32_t meant(const blocks *b, kn_string reference, int type)
{
    size_t size = reference.size, at;
    for (at = 0; at + 10 <= reference.size && size == reference.size; at++)
        if (strncmp(reference.data + at, "/_history/", 10) == 0) size = at;
    uint32_t whole = called(b, (kn_string){reference.data, size}, type);
    if (whole != KN_V_NONE) return whole;
    int slashes = 0;
    for (at = size; at > 0 && slashes < 2; at--) slashes += reference.data[at - 1] == '/';
    return slashes < 2 ? KN_V_NONE : called(b, (kn_string){reference.data + at + 1, size - at - 1}, type);
}

static void hang(blocks *b, uint32_t own)
{
    block                  *o = &b->list[own];
    const kn_spec_resource *type = &b->options->resources[o->type];
    for (int i = 0; i < type->parent_count && o->above == KN_V_NONE; i++) {
        uint32_t link = b->links[o->links + (uint64_t)i];
        if (link != KN_V_NONE) o->above = meant(b, b->texts.texts[link], type->targets[i]);
    }
    if (o->above == KN_V_NONE) return;
    o->beside = b->list[o->above].child;
    b->list[o->above].child = own;
}

/* ---- Records ---- */

/* As deep as there are types, since a type belongs to earlier ones. */
static kn_status tell_block(blocks *b, uint32_t own, int64_t above, kn_error *err)
{
    block      *o = &b->list[own];
    const leaf *leaves = b->leaves + o->leaves;
    int64_t     stem = above;
    o->reached = true;
    for (uint32_t i = 0; i < o->leaf_count; i++) {
        bool side = o->type == 0 || leaves[i].cls == leaves[0].cls;
        KN_TRY(b->sink->node(b->sink->state, side ? above : stem, leaves[i].cls, b->texts.texts[leaves[i].text],
                             &o->place, err));
        if (i == 0 && o->type != 0) stem = b->nodes;
        b->nodes++;
    }
    for (uint32_t c = o->child; c != KN_V_NONE; c = b->list[c].beside) KN_TRY(tell_block(b, c, stem, err));
    return KN_OK;
}

static kn_status tell_persons(blocks *b, kn_error *err)
{
    for (uint32_t i = (uint32_t)b->count; i-- > 0;) hang(b, i); /* so that children are in the order of the file */
    for (uint32_t i = 0; i < b->count; i++) {
        const block *o = &b->list[i];
        kn_string    id = {NULL, 0};
        if (o->type != 0) continue;
        if (o->name != KN_V_NONE && !b->options->released) id = b->texts.texts[o->name];
        b->nodes = 0;
        KN_TRY(b->sink->record(b->sink->state, id, &o->place, err));
        KN_TRY(tell_block(b, i, -1, err));
    }
    for (uint32_t i = 0; i < b->count && b->options->released; i++)
        if (!b->list[i].reached)
            return kn_fail_at(err, KN_INPUT, b->list[i].place.file, b->list[i].place.line, b->list[i].place.column,
                              "a resource of the release belongs to nobody");
    return KN_OK;
}

kn_status kn_vrecords_tell_resources(const kn_vscanning *from, const kn_records_sink *sink, kn_records_layout *layout,
                                     kn_error *err)
{
    blocks            b = {.ctx = from->ctx, .options = &from->options, .sink = sink};
    kn_resources_sink hear = {.state = &b, .resource = hear_resource, .ignored = hear_name};
    kn_arena_init(&b.arena, from->ctx);
    kn_texts_init(&b.texts, from->ctx);
    kn_status st = kn_resources_scan(from->ctx, from->path, &from->options, &hear, layout, err);
    if (st == KN_OK) st = tell_persons(&b, err);
    kn_texts_free(&b.texts);
    kn_arena_free(&b.arena);
    kn_free(b.list);
    kn_free(b.leaves);
    kn_free(b.links);
    kn_free(b.owner);
    return st;
}
