/* kn_outline.c: the names of records and how they nest; JSON by the parser of records, XML in kn_outline_xml.c.
 *
 * All items of a list count for its key; those of "children" that have a "class" count for that instead. Cost: one pass; one look-up among the children of a node per element or
 * member.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_outline.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_json_parse.h"
#include "kn_records_files.h"

enum { MOST_NODES = 2000 };

kn_status kn_outline_enter(int *node, kn_outline *o, int parent, kn_string name, bool attribute, kn_error *err)
{
    for (*node = parent + 1; *node < o->count; ++*node) {
        kn_outline_node *n = &o->nodes[*node];
        if (n->parent != parent || n->attribute != attribute) continue;
        if (kn_string_equal(kn_string_of(n->name), name)) {
            n->count++;
            return KN_OK;
        }
    }
    if (o->count >= MOST_NODES)
        return kn_fail(err, KN_INPUT, "%s: it has more than %d different names; write its classes into a release file",
                       o->file, MOST_NODES);
    const char *copy = NULL;
    for (int i = 0; i < o->count && !copy; i++)
        if (kn_string_equal(kn_string_of(o->nodes[i].name), name)) copy = o->nodes[i].name;
    if (!copy) copy = kn_arena_strndup(&o->arena, name.data, name.size);
    if (!copy || !KN_GROW(o->ctx, &o->nodes, &o->capacity, (size_t)o->count + 1))
        return kn_fail_memory(err, o->ctx, "looking at tree records");
    o->nodes[o->count++] = (kn_outline_node){copy, parent, attribute, 1, 0, false};
    return KN_OK;
}

/* ---- JSON ---- */

static kn_status look_at_value(kn_outline *o, kn_json *json, int node, kn_error *err);

static kn_status look_at_members(kn_outline *o, kn_json *json, int node, kn_error *err)
{
    for (;;) {
        int child;
        KN_TRY(kn_json_next(json, err));
        if (json->kind == KN_JSON_OBJECT_END) return KN_OK;
        KN_TRY(kn_outline_enter(&child, o, node, json->text, false, err));
        KN_TRY(kn_json_next(json, err));
        KN_TRY(look_at_value(o, json, child, err));
    }
}

/* Takes away the node `from` and all after it, which are below it, and counts these as below its parent, "children", or
 * as of a class that is a sibling of that (NULL: of none). */
static kn_status move(kn_outline *o, int from, const char *name, kn_error *err)
{
    int              to = o->nodes[from].parent, count = o->count - from;
    int             *place = kn_alloc_array(o->ctx, (size_t)count, sizeof *place);
    kn_outline_node *moved = kn_alloc_array(o->ctx, (size_t)count, sizeof *moved);
    kn_status        st = place && moved ? KN_OK : kn_fail_memory(err, o->ctx, "looking at tree records");
    if (st == KN_OK) {
        memcpy(moved, o->nodes + from, (size_t)count * sizeof *moved);
        o->count = from;
    }
    if (st == KN_OK && name) {
        o->nodes[to].count--;
        st = kn_outline_enter(&to, o, o->nodes[to].parent, kn_string_of(name), false, err);
        if (st == KN_OK) o->nodes[to].classed = true;
    }
    if (st == KN_OK) place[0] = to;
    for (int i = 1; i < count && st == KN_OK; i++) {
        int parent = moved[i].parent - from;
        if (name && parent == 0 && strcmp(moved[i].name, "class") == 0) continue; /* a text: nothing is below it */
        st = kn_outline_enter(&place[i], o, place[parent], kn_string_of(moved[i].name), false, err);
        if (st != KN_OK) break;
        kn_outline_node *n = &o->nodes[place[i]];
        n->count += moved[i].count - 1;
        n->valued += moved[i].valued;
        n->classed |= moved[i].classed;
    }
    KN_FREE(place, moved);
    return st;
}

/* The members of an item of "children", counted apart below a node of their own; *name: its class, to be freed. */
static kn_status look_at_child(kn_outline *o, kn_json *json, int apart, char **name, kn_error *err)
{
    for (;;) {
        int child;
        KN_TRY(kn_json_next(json, err));
        if (json->kind == KN_JSON_OBJECT_END) return KN_OK;
        bool is_class = !*name && kn_string_equal(json->text, kn_string_of("class"));
        KN_TRY(kn_outline_enter(&child, o, apart, json->text, false, err));
        KN_TRY(kn_json_next(json, err));
        if (is_class && json->kind == KN_JSON_TEXT && json->text.size > 0) {
            *name = kn_strndup(o->ctx, json->text.data, json->text.size);
            if (!*name) return kn_fail_memory(err, o->ctx, "looking at tree records");
        }
        KN_TRY(look_at_value(o, json, child, err));
    }
}

/* An item of "children" may name its class first or last. */
static kn_status look_at_children(kn_outline *o, kn_json *json, int children, kn_error *err)
{
    int   apart = o->count;
    char *name = NULL;
    if (!KN_GROW(o->ctx, &o->nodes, &o->capacity, (size_t)o->count + 1))
        return kn_fail_memory(err, o->ctx, "looking at tree records");
    o->nodes[o->count++] = (kn_outline_node){"", children, false, 1, 0, false};
    kn_status st = look_at_child(o, json, apart, &name, err);
    if (st == KN_OK) st = move(o, apart, name, err);
    kn_free(name);
    return st;
}

/* Reads the current value, which belongs to a node (-1: the document) that was already counted for it, once for each
 * item of a list. Recursion depth: that of the document, at most KN_JSON_MAX_DEPTH. */
static kn_status look_at_value(kn_outline *o, kn_json *json, int node, kn_error *err)
{
    int64_t items = 0;
    switch (json->kind) {
    case KN_JSON_TEXT:
    case KN_JSON_NUMBER:
    case KN_JSON_TRUE:
    case KN_JSON_FALSE:
        if (node >= 0) o->nodes[node].valued += json->text.size > 0;
        return KN_OK;
    case KN_JSON_LIST:
        for (;; items++) {
            KN_TRY(kn_json_next(json, err));
            if (json->kind == KN_JSON_LIST_END) break;
            KN_TRY(look_at_value(o, json, node, err));
        }
        if (node >= 0) o->nodes[node].count += items - 1;
        return KN_OK;
    case KN_JSON_OBJECT:
        if (node >= 0 && strcmp(o->nodes[node].name, "children") == 0) return look_at_children(o, json, node, err);
        return look_at_members(o, json, node, err);
    default:
        if (node >= 0) o->nodes[node].count--; /* null does not count */
        return KN_OK;
    }
}

static kn_status look_at_json(kn_outline *o, kn_source *source, kn_error *err)
{
    kn_json   json;
    bool      lines = o->form == KN_RECORDS_JSON_LINES;
    kn_status st = kn_json_open(&json, o->ctx, source, lines, err);
    while (st == KN_OK) {
        st = kn_json_next(&json, err);
        if (st != KN_OK || json.kind == KN_JSON_END) break;
        o->list |= json.kind == KN_JSON_LIST;
        st = look_at_value(o, &json, -1, err);
    }
    kn_json_close(&json);
    return st;
}

/* ---- Both ---- */

static kn_status look_at_file(kn_outline *o, const char *path, kn_error *err)
{
    kn_source *source = NULL;
    KN_TRY(kn_source_open(&source, o->ctx, path, err));
    const char *name = kn_source_name(source);
    o->file = kn_arena_strndup(&o->arena, name, strlen(name));
    kn_status st = o->file ? KN_OK : kn_fail_memory(err, o->ctx, "looking at tree records");
    if (st == KN_OK) st = o->form == KN_RECORDS_XML ? kn_outline_xml(o, source, err) : look_at_json(o, source, err);
    kn_source_free(source);
    return st;
}

kn_status kn_outline_read(kn_outline *out, kn_context *ctx, const char *path, kn_error *err)
{
    kn_records_files files = {0};
    *out = (kn_outline){.ctx = ctx, .form = kn_records_form_of(path)};
    kn_arena_init(&out->arena, ctx);
    KN_TRY(kn_records_files_list(&files, &out->arena, path, NULL, 0, err));
    for (int i = 0; i < files.count; i++) KN_TRY(look_at_file(out, files.paths[i], err));
    return KN_OK;
}

void kn_outline_free(kn_outline *o)
{
    kn_free(o->nodes);
    kn_arena_free(&o->arena);
}

/* ---- A look at the first document ---- */

bool kn_outline_first(kn_context *ctx, const char *path, kn_outline_look look)
{
    kn_arena         arena = {.ctx = ctx};
    kn_records_files files = {0};
    kn_source       *source = NULL;
    kn_json          json;
    kn_error         why = KN_ERROR_INIT;
    bool             found = false;
    kn_records_form  form = kn_records_form_of(path);
    if (form != KN_RECORDS_JSON && form != KN_RECORDS_JSON_LINES) return false;
    kn_status st = kn_records_files_list(&files, &arena, path, NULL, 0, &why);
    if (st == KN_OK) st = kn_source_open(&source, ctx, files.paths[0], &why);
    if (st == KN_OK) {
        st = kn_json_open(&json, ctx, source, form == KN_RECORDS_JSON_LINES, &why);
        if (st == KN_OK) st = look(&json, &found, &why);
        kn_json_close(&json);
    }
    kn_source_free(source);
    kn_arena_free(&arena);
    return st == KN_OK && found;
}

/* The records of JSON that is not one per line are the items of a list. */
static kn_status look_for_list(kn_json *json, bool *found, kn_error *err)
{
    KN_TRY(kn_json_next(json, err));
    if (!json->many && json->kind != KN_JSON_LIST) return KN_OK;
    if (!json->many) KN_TRY(kn_json_next(json, err));
    *found = json->kind == KN_JSON_LIST;
    return KN_OK;
}

bool kn_records_are_lists(kn_context *ctx, const char *path)
{
    return kn_outline_first(ctx, path, look_for_list);
}
