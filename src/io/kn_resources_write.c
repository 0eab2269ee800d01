/* kn_resources_write.c: released records as resources (kn_resources.h): a bundle of them, or one per line.
 *
 * The values of the record's type stand in its resource. A node of another type is a resource of its own, unless it is below
 * one of the same type: then it stands in that. A resource refers to those of all nodes above it, and to the person.
 * Ids are new: they number the records and the nodes as they stand in the release. A list has one object per value: what
 * stood beside what in an object of a list is no relation.
 *
 * Cost: linear in what is written, except that a resource looks once at each class for each of its nodes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_json_put.h"
#include "kn_resource_path.h"
#include "kn_resources.h"

#define ROOT KN_RECORDS_ROOT

/* A value of a resource that is written, and the steps that lead to it. */
typedef struct piece {
    uint32_t         value;
    int              cls;
    int              depth; /* of the step; 0: the first after the type */
    bool             broader;
    kn_resource_step step;
    bool             done;
} piece;

typedef struct writing {
    kn_buffer               *to;
    const kn_records        *r;
    const kn_records_layout *layout;
    const kn_spec_class     *classes;
    const bool              *bare;
    int64_t                  record;
    uint64_t                 first;
    uint32_t                 count;
    piece                   *pieces; /* of the current resource */
    int                     *types;  /* per class */
    bool                     begun;  /* a resource of the record has been written */
} writing;

static bool is_bundle(const kn_records_layout *layout)
{
    return layout->form == KN_RECORDS_JSON;
}

static int class_of(const writing *w, uint32_t node)
{
    return (int)w->r->vocabulary->cls[w->r->value[w->first + node]];
}

static int type_of(const writing *w, uint32_t node)
{
    return node == ROOT ? 0 : w->types[class_of(w, node)];
}

/* ---- Values by their paths ---- */

static void put_value(const writing *w, const piece *p)
{
    const kn_vocabulary *v = w->r->vocabulary;
    kn_string            label = kn_vocabulary_label(v, p->value);
    if (w->bare[p->cls] && v->height[p->value] == 0 && kn_json_is_literal(label))
        kn_buffer_append(w->to, label.data, label.size);
    else
        kn_json_put_text(w->to, label);
}

/* Is the step of a piece a list? Broader values share the steps of the path, as far as it is the same. */
static bool is_list(const writing *w, const piece *p)
{
    const kn_spec_class *c = &w->classes[p->cls];
    if (p->step.key.data) return true;
    if (!w->layout->style || !(w->layout->style->of[p->cls + 1].lists >> p->depth & 1)) return false;
    if (!p->broader) return true;
    size_t size = (size_t)(p->step.name.data + p->step.name.size - c->broader);
    return strncmp(c->path, c->broader, size) == 0 && (c->path[size] == '/' || c->path[size] == '[' || !c->path[size]);
}

static void put_members(const writing *w, piece *const *list, int count, bool begun, piece **room);

/* What one step of the pieces of a list leads to. */
static void put_inside(const writing *w, piece *const *list, int count, piece **room)
{
    const kn_resource_step *step = &list[0]->step;
    kn_resource_step        inner;
    bool                    condition = step->key.data != NULL;
    if (!step->rest) {
        put_value(w, list[0]);
        return;
    }
    kn_buffer_char(w->to, '{');
    if (condition) {
        kn_json_put_text(w->to, step->key);
        kn_buffer_add(w->to, ": ");
        kn_json_put_text(w->to, step->value);
    }
    for (int i = 0; i < count; i++) {
        (void)kn_resource_step_of(list[i]->step.rest, &inner);
        list[i]->step = inner;
        list[i]->depth++;
        list[i]->done = false;
    }
    put_members(w, list, count, condition, room);
    kn_buffer_char(w->to, '}');
}

/* Pieces whose current step has one name: a member. */
static void put_member(const writing *w, piece *const *list, int count, piece **room)
{
    bool several = count > 1 && !list[0]->step.rest;
    for (int i = 0; i < count; i++) several = several || is_list(w, list[i]);
    kn_json_put_text(w->to, list[0]->step.name);
    kn_buffer_add(w->to, several ? ": [" : ": ");
    if (!several) put_inside(w, list, count, room);
    for (int i = 0; several && i < count; i++) {
        if (i > 0) kn_buffer_add(w->to, ", ");
        put_inside(w, list + i, 1, room);
    }
    if (several) kn_buffer_char(w->to, ']');
}

/* `room` has space for as many pieces as there are, for each step. */
static void put_members(const writing *w, piece *const *list, int count, bool begun, piece **room)
{
    for (int i = 0; i < count; i++) {
        int same = 0;
        if (list[i]->done) continue;
        for (int j = i; j < count; j++) {
            if (list[j]->done || !kn_string_equal(list[j]->step.name, list[i]->step.name)) continue;
            room[same++] = list[j];
        }
        if (begun) kn_buffer_add(w->to, ", ");
        begun = true;
        put_member(w, room, same, room + same);
        for (int j = 0; j < same; j++) room[j]->done = true;
    }
}

/* ---- Resources ---- */

static void put_id(const writing *w, uint32_t node)
{
    kn_buffer_format(w->to, "%08" PRIx64 "-0000-4000-8000-%012" PRIx64, (uint64_t)w->record + 1,
                     node == ROOT ? 0 : (uint64_t)node + 1);
}

static void put_reference(const writing *w, const char *element, uint32_t node)
{
    kn_buffer_add(w->to, ", ");
    kn_json_put_text(w->to, kn_string_of(element));
    kn_buffer_add(w->to, ": {\"reference\": \"");
    if (is_bundle(w->layout))
        kn_buffer_add(w->to, "urn:uuid:");
    else
        kn_buffer_format(w->to, "%s/", w->layout->resources[type_of(w, node)].name);
    put_id(w, node);
    kn_buffer_add(w->to, "\"}");
}

/* The elements that refer to the resources above a node, and to the person. */
static void put_parents(const writing *w, uint32_t node)
{
    const kn_spec_resource *type = &w->layout->resources[type_of(w, node)];
    for (int i = 0; i < type->parent_count; i++) {
        uint32_t above = w->r->parent[w->first + node];
        while (type_of(w, above) != type->targets[i] && above != ROOT) above = w->r->parent[w->first + above];
        if (type_of(w, above) == type->targets[i]) put_reference(w, type->parents[i], above);
    }
}

/* Has the node a resource of its own? */
static bool is_head(const writing *w, uint32_t node)
{
    int type = type_of(w, node);
    return type != 0 && type_of(w, w->r->parent[w->first + node]) != type;
}

static int add_piece(writing *w, int count, uint32_t node)
{
    const kn_spec_class *c = &w->classes[class_of(w, node)];
    uint32_t             value = w->r->value[w->first + node];
    bool                 broader = c->broader && w->r->vocabulary->height[value] > 0;
    kn_resource_step     type;
    w->pieces[count] = (piece){.value = value, .cls = class_of(w, node), .broader = broader};
    (void)kn_resource_step_of(broader ? c->broader : c->path, &type);
    (void)kn_resource_step_of(type.rest, &w->pieces[count].step);
    return count + 1;
}

/* The resource of a node (ROOT: of the person) with the values that stand in it. */
static kn_status put_resource(writing *w, uint32_t node, piece **room, kn_error *err)
{
    int                     own = type_of(w, node), count = 0;
    const kn_spec_resource *type = &w->layout->resources[own];
    bool                    bundle = is_bundle(w->layout);
    if (bundle) {
        kn_buffer_add(w->to,
                      w->record > 0 || w->begun ? ",\n  {\"fullUrl\": \"urn:uuid:" : "\n  {\"fullUrl\": \"urn:uuid:");
        put_id(w, node);
        kn_buffer_add(w->to, "\", \"resource\": ");
    }
    w->begun = true;
    kn_buffer_add(w->to, "{\"resourceType\": ");
    kn_json_put_text(w->to, kn_string_of(type->name));
    kn_buffer_add(w->to, ", \"id\": \"");
    put_id(w, node);
    kn_buffer_char(w->to, '"');
    for (int i = 0; i < type->fixed_count; i++) {
        kn_buffer_add(w->to, ", ");
        kn_json_put_text(w->to, kn_string_of(type->fixed[i]));
        kn_buffer_format(w->to, ": %s", type->fixed_texts[i]);
    }
    if (node != ROOT) count = add_piece(w, count, node);
    for (uint32_t i = node == ROOT ? 0 : node + 1; i < w->count; i++) {
        uint32_t above = w->r->parent[w->first + i];
        if (node != ROOT && (above == ROOT || above < node)) break; /* after what is below it */
        if (above == node && type_of(w, i) == own) count = add_piece(w, count, i);
    }
    for (int i = 0; i < count; i++) room[i] = &w->pieces[i];
    put_members(w, room, count, true, room + count);
    if (node != ROOT) put_parents(w, node);
    kn_buffer_add(w->to, bundle ? "}}" : "}\n");
    return w->to->failed ? kn_fail_memory(err, w->r->ctx, "writing tree records") : KN_OK;
}

static kn_status put_record(writing *w, piece **room, kn_error *err)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (w->r->vocabulary->cls[w->r->value[w->first + i]] == KN_VOCABULARY_NO_CLASS)
            return kn_fail(err, KN_USAGE,
                           "a value without a class (\"*\") is in no resource: it cannot be written; give hierarchies "
                           "with more levels, "
                           "allow suppression, or ask for less");
    KN_TRY(put_resource(w, ROOT, room, err));
    for (uint32_t i = 0; i < w->count; i++)
        if (is_head(w, i)) KN_TRY(put_resource(w, i, room, err));
    return KN_OK;
}

/* The type of each class, by the first step of its path. */
static void list_types(writing *w)
{
    for (int c = 0; c < w->r->vocabulary->class_count; c++) {
        kn_resource_step step;
        (void)kn_resource_step_of(w->classes[c].path, &step);
        w->types[c] = 0;
        for (int t = 0; t < w->layout->resource_count; t++)
            if (kn_string_equal(step.name, kn_string_of(w->layout->resources[t].name))) w->types[c] = t;
    }
}

kn_status kn_resources_write(kn_buffer *to, const kn_records *records, const kn_records_layout *layout,
                             const kn_spec_class *classes, const bool *bare, int64_t record, kn_error *err)
{
    writing   w = {.to = to, .r = records, .layout = layout, .classes = classes, .bare = bare, .record = record};
    kn_status st = KN_OK;
    w.first = records->start[record];
    w.count = (uint32_t)(records->start[record + 1] - w.first);
    w.pieces = kn_alloc_array(records->ctx, (size_t)w.count + 1, sizeof *w.pieces);
    w.types = kn_alloc_array(records->ctx, (size_t)records->vocabulary->class_count, sizeof *w.types);
    piece **room = kn_alloc_array(records->ctx, ((size_t)w.count + 1) * (KN_RESOURCE_STEPS + 1), sizeof *room);
    if (!w.pieces || !w.types || !room) st = kn_fail_memory(err, records->ctx, "writing tree records");
    if (st == KN_OK) list_types(&w);
    if (st == KN_OK) st = put_record(&w, room, err);
    KN_FREE(w.pieces, w.types, room);
    return st;
}

void kn_resources_frame(kn_buffer *to, const kn_records_layout *layout, bool closing)
{
    if (!is_bundle(layout)) return;
    kn_buffer_add(to, closing ? "\n ]}\n" : "{\"resourceType\": \"Bundle\", \"type\": \"collection\", \"entry\": [");
}
