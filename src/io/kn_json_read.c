/* kn_json_read.c: records of a JSON or JSON Lines file, front to back.
 *
 * A document is a list of records, or an object in which options.record names it (people, data/people; "record" also
 * finds "records"). The path to it may lead through a list of objects (entry/resource), with a record or a list of them in each. In JSON Lines every document is a record. A record is an object, or a list of values of the only class. Its nodes, and theirs, are
 * written in two ways, which may be mixed:
 *
 *     "children": [{"v": "Hospital1", "class": "MedicalCenter", "children": [...]}]     the class may be left out
 *     "MedicalCenter": [{"v": "Hospital1", "Disease": ["Gastritis"]}]                   class names as keys
 *
 * A single node needs no list; a text, number, true or false is a node with nothing below; null is none. The key of a
 * value is "v", or what the class declares. A class with a path stands inside objects, or lists of them, that are no nodes:
 * its nodes belong to the node around these. Any other key is skipped with its content.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_error.h"
#include "kn_json_parse.h"
#include "kn_records_collect.h"

typedef struct reading {
    kn_collector *c;
    kn_json       json;
    const char   *path; /* of the list of records                               */
    kn_buffer     found;
    bool          located;
    int           parts;  /* of the path, so far         */
    int           around; /* ... around a list of objects; 0: none */
    uint64_t     *seen;   /* per depth: which keys of the object occurred: four of our own, then class names         */
    size_t        words;
    kn_buffer prefix; /* the keys of the objects between a node and the current one that are none, each before a "/" */
    uint64_t  outer;  /* classes whose keys came before, in these or inside others like them, as bits */
    uint64_t  inside; /* classes whose keys occurred since the innermost of these began */
    bool      listed; /* one of these is in a list                                                                  */
} reading;

/* Keys that are not class names. */
enum { KEY_VALUE, KEY_CLASS, KEY_CHILDREN, KEY_ID, KEY_OTHER, KEY_WRAPPER = -1 };

static kn_status next(reading *r, kn_error *err)
{
    return kn_json_next(&r->json, err);
}

static kn_status fail(reading *r, kn_error *err, const char *message)
{
    return kn_json_fail(&r->json, err, message);
}

static bool equals(kn_string a, const char *b)
{
    return kn_string_equal(a, kn_string_of(b));
}

static bool scalar(const reading *r)
{
    kn_json_kind k = r->json.kind;
    return k == KN_JSON_TEXT || k == KN_JSON_NUMBER || k == KN_JSON_TRUE || k == KN_JSON_FALSE;
}

/* The current object has no key yet. */
static void forget_keys(reading *r)
{
    memset(r->seen + r->words * (size_t)(r->json.depth - 1), 0, r->words * sizeof *r->seen);
}

static kn_status note_key(reading *r, size_t bit, kn_error *err)
{
    uint64_t *seen = r->seen + r->words * (size_t)(r->json.depth - 1);
    if (kn_bitset_test(seen, bit)) return fail(r, err, "this name occurs twice in the object");
    kn_bitset_set(seen, bit);
    return KN_OK;
}

static const char *value_key(const reading *r, int cls)
{
    const char *value = r->c->options->classes[cls].value;
    if (!value) return "v";
    return value[0] == '@' ? value + 1 : value;
}

/* Is it the key of a node's value? While the class is unknown, any class's key is accepted. */
static bool is_value_key(const reading *r, int64_t node, kn_string key)
{
    if (node < 0) return false;
    int cls = r->c->nodes[node].cls;
    if (cls >= 0) return equals(key, value_key(r, cls));
    if (equals(key, "v")) return true;
    for (int i = 0; i < r->c->options->class_count; i++)
        if (equals(key, value_key(r, i))) return true;
    return false;
}

/* The class that a key stands for; -1: none. *wraps: classes may be found inside. */
static int class_of_key(const reading *r, kn_string key, bool *wraps)
{
    const kn_spec_class *classes = r->c->options->classes;
    size_t               before = r->prefix.size;
    *wraps = false;
    for (int i = 0; i < r->c->options->class_count; i++) {
        const char *path = classes[i].path ? classes[i].path : classes[i].name;
        if (before > 0 && (!classes[i].path || strncmp(path, r->prefix.data, before) != 0)) continue;
        if (strncmp(path + before, key.data, key.size) != 0) continue;
        if (path[before + key.size] == '\0') return i;
        *wraps = *wraps || (classes[i].path && path[before + key.size] == '/');
    }
    return -1;
}

/* What a key of a node (-1: of the record) means; *cls: that of a class name, else -1. */
static int meaning(const reading *r, int64_t node, int *cls, bool *wraps)
{
    kn_string key = r->json.text;
    *cls = -1;
    *wraps = false;
    if (r->prefix.size == 0 && is_value_key(r, node, key)) return KEY_VALUE;
    *cls = class_of_key(r, key, wraps);
    if (*cls >= 0 || *wraps) return *cls >= 0 ? KEY_OTHER : KEY_WRAPPER;
    if (r->prefix.size > 0) return KEY_OTHER;
    if (node >= 0 && equals(key, "class")) return KEY_CLASS;
    if (equals(key, "children")) return KEY_CHILDREN;
    return node < 0 && equals(key, "id") ? KEY_ID : KEY_OTHER;
}

static kn_status read_nodes(reading *r, int64_t parent, int cls, bool in_list, kn_error *err);
static kn_status read_object(reading *r, int64_t node, kn_error *err);

static kn_status read_class(reading *r, int64_t node, kn_error *err)
{
    if (r->json.kind != KN_JSON_TEXT) return fail(r, err, "the name of a class is expected");
    int cls = kn_collector_class(r->c, r->json.text);
    if (cls < 0) return fail(r, err, "there is no such class");
    if (r->c->nodes[node].cls >= 0 && r->c->nodes[node].cls != cls)
        return fail(r, err, "the class is not that of the key");
    r->c->nodes[node].cls = cls;
    r->c->layout->classes = true;
    return KN_OK;
}

/* A value is a text, or is written without quotes. */
static void note_value(const reading *r, int64_t node)
{
    kn_class_style *style = kn_collector_style(r->c, node);
    if (!style) return;
    style->texts |= r->json.kind == KN_JSON_TEXT;
    style->literals |= r->json.kind != KN_JSON_TEXT;
}

/* The classes whose keys came before in the object at a depth, as bits. */
static uint64_t keys_at(const reading *r, int depth)
{
    const uint64_t *seen = r->seen + r->words * (size_t)(depth - 1);
    return seen[0] >> KEY_OTHER | (r->words > 1 ? seen[1] << (64 - KEY_OTHER) : 0);
}

/* ... in the current one, whose key's value has been read so far as its first token. */
static uint64_t keys_before(const reading *r, int cls)
{
    int inside = r->json.kind == KN_JSON_OBJECT || r->json.kind == KN_JSON_LIST; /* it has just begun */
    return (keys_at(r, r->json.depth - inside) | r->outer) & ~((uint64_t)1 << cls);
}

/* What follows the key of a class. */
static kn_status read_place(reading *r, int64_t parent, int cls, kn_error *err)
{
    kn_place_style *place = kn_collector_place(r->c, parent, cls);
    size_t          before = r->c->count;
    kn_json_kind    kind = r->json.kind;
    if (place) {
        place->there = true;
        place->after |= keys_before(r, cls);
    }
    r->c->layout->nested = true;
    KN_TRY(read_nodes(r, parent, cls, false, err));
    if (!place) return KN_OK;
    r->inside |= (uint64_t)1 << cls;
    place->none |= kind == KN_JSON_NULL;
    place->list |= kind == KN_JSON_LIST || r->listed;
    place->empty |= kind == KN_JSON_LIST && r->c->count == before;
    return KN_OK;
}

/* The value after a key of a node or record. */
static kn_status read_member(reading *r, int64_t node, int what, int cls, kn_error *err)
{
    switch (what) {
    case KEY_VALUE:
        if (!scalar(r)) return fail(r, err, "a value is a text or a number");
        note_value(r, node);
        return kn_collector_value(r->c, node, r->json.text, err);
    case KEY_CLASS: return read_class(r, node, err);
    case KEY_CHILDREN: return read_nodes(r, node, -1, false, err);
    case KEY_ID:
        if (!scalar(r)) return fail(r, err, "an id is a text or a number");
        return kn_collector_id(r->c, r->json.text, r->json.line, r->json.column, err);
    default: break;
    }
    if (cls < 0) return kn_json_skip(&r->json, err);
    return read_place(r, node, cls, err);
}

/* What is inside an object, or a list of them, that is no node. */
static kn_status read_wrapped(reading *r, int64_t node, bool in_list, kn_error *err)
{
    if (r->json.kind == KN_JSON_OBJECT) return read_object(r, node, err);
    if (r->json.kind == KN_JSON_NULL) return KN_OK;
    if (r->json.kind != KN_JSON_LIST || in_list)
        return fail(r, err, "an object, or a list of objects, is expected: the path of a class leads through it");
    bool listed = r->listed;
    r->listed = true;
    for (;;) {
        KN_TRY(next(r, err));
        if (r->json.kind == KN_JSON_LIST_END) break;
        KN_TRY(read_wrapped(r, node, true, err));
    }
    r->listed = listed;
    return KN_OK;
}

/* From the key of such an object to its end. */
static kn_status read_wrapper(reading *r, int64_t node, kn_error *err)
{
    size_t   size = r->prefix.size;
    uint64_t outer = r->outer, inside = r->inside;
    kn_buffer_append(&r->prefix, r->json.text.data, r->json.text.size);
    kn_buffer_char(&r->prefix, '/');
    if (r->prefix.failed) return kn_fail_memory(err, r->c->ctx, "reading tree records");
    r->outer |= keys_at(r, r->json.depth);
    r->inside = 0;
    KN_TRY(next(r, err));
    KN_TRY(read_wrapped(r, node, false, err));
    r->outer = outer | r->inside;
    r->inside |= inside;
    r->prefix.size = size;
    return KN_OK;
}

/* From the token after "{" to "}". */
static kn_status read_object(reading *r, int64_t node, kn_error *err)
{
    forget_keys(r);
    for (;;) {
        int  cls = -1;
        bool wraps;
        KN_TRY(next(r, err));
        if (r->json.kind == KN_JSON_OBJECT_END) return KN_OK;
        int what = meaning(r, node, &cls, &wraps);
        if (what == KEY_WRAPPER) {
            KN_TRY(read_wrapper(r, node, err));
            continue;
        }
        if (what != KEY_OTHER)
            KN_TRY(note_key(r, (size_t)what, err));
        else if (cls >= 0)
            KN_TRY(note_key(r, KEY_OTHER + (size_t)cls, err));
        else
            KN_TRY(kn_collector_ignore(r->c, "", r->json.text, err));
        KN_TRY(next(r, err));
        KN_TRY(read_member(r, node, what, cls, err));
    }
}

static kn_status read_node(reading *r, int64_t parent, int cls, kn_error *err)
{
    int64_t node = 0;
    bool    object = r->json.kind == KN_JSON_OBJECT;
    KN_TRY(kn_collector_node(r->c, parent, cls, r->json.line, r->json.column, &node, err));
    kn_class_style *style = kn_collector_style(r->c, node);
    if (style) style->objects |= object;
    if (!object) note_value(r, node);
    if (!object) return kn_collector_value(r->c, node, r->json.text, err);
    /* Paths begin anew inside a node. */
    kn_buffer prefix = r->prefix;
    uint64_t  outer = r->outer, inside = r->inside;
    bool      listed = r->listed;
    kn_buffer_init(&r->prefix, r->c->ctx);
    r->outer = 0;
    r->listed = false;
    kn_status st = read_object(r, node, err);
    kn_buffer_free(&r->prefix);
    r->prefix = prefix;
    r->outer = outer;
    r->inside = inside;
    r->listed = listed;
    return st;
}

/* Nodes below `parent`: one, none (null) or a list of them. As deep as the document nests: KN_JSON_MAX_DEPTH. */
static kn_status read_nodes(reading *r, int64_t parent, int cls, bool in_list, kn_error *err)
{
    if (r->json.kind == KN_JSON_NULL) return KN_OK;
    if (r->json.kind == KN_JSON_OBJECT || scalar(r)) return read_node(r, parent, cls, err);
    if (in_list) return fail(r, err, "a list of nodes cannot hold lists");
    for (;;) {
        KN_TRY(next(r, err));
        if (r->json.kind == KN_JSON_LIST_END) return KN_OK;
        KN_TRY(read_nodes(r, parent, cls, true, err));
    }
}

/* ---- Records ---- */

/* A record that is a list: its values, all of the one class. */
static kn_status read_list(reading *r, kn_error *err)
{
    const kn_spec_class *only = r->c->options->classes;
    if (r->c->options->class_count != 1 || only->path || only->value)
        return fail(r, err, "a record that is a list has values of one class, which has no path and no value");
    r->c->layout->listed = true;
    kn_collector_begin(r->c, r->json.line, r->json.column);
    for (;;) {
        KN_TRY(next(r, err));
        if (r->json.kind == KN_JSON_LIST_END) return kn_collector_end(r->c, err);
        if (r->json.kind == KN_JSON_NULL) continue;
        if (!scalar(r)) return fail(r, err, "a record that is a list holds texts or numbers");
        KN_TRY(read_node(r, -1, 0, err));
    }
}

static kn_status read_record(reading *r, kn_error *err)
{
    bool list = r->json.kind == KN_JSON_LIST;
    if (!list && r->json.kind != KN_JSON_OBJECT) return fail(r, err, "a record is an object, or a list of values");
    if (r->c->records > 0 && list != r->c->layout->listed)
        return fail(r, err, "some records are lists and others objects: all have one form");
    if (list) return read_list(r, err);
    kn_collector_begin(r->c, r->json.line, r->json.column);
    r->outer = 0;
    KN_TRY(read_object(r, -1, err));
    return kn_collector_end(r->c, err);
}

static kn_status read_records(reading *r, kn_error *err)
{
    r->located = true;
    if (r->json.kind == KN_JSON_OBJECT) return read_record(r, err);
    if (r->json.kind != KN_JSON_LIST) return fail(r, err, "a list of records is expected");
    for (;;) {
        KN_TRY(next(r, err));
        if (r->json.kind == KN_JSON_LIST_END) return KN_OK;
        KN_TRY(read_record(r, err));
    }
}

/* Is the key the first part of the path? The last part may lack an "s". */
static bool is_part(const reading *r, const char *path, const char **rest)
{
    size_t    size = strcspn(path, "/");
    kn_string key = r->json.text;
    *rest = path[size] == '/' ? path + size + 1 : NULL;
    if (key.size < size || memcmp(key.data, path, size) != 0) return false;
    return key.size == size || (!*rest && key.size == size + 1 && key.data[size] == 's');
}

static kn_status locate(reading *r, const char *path, kn_error *err);

/* The records are in the objects of a list. */
static kn_status locate_in_list(reading *r, const char *path, kn_error *err)
{
    int parts = r->parts;
    if (r->around > 0 && r->around != parts)
        return fail(r, err, "the path of the records leads through one list of objects at most");
    r->around = parts;
    for (;;) {
        KN_TRY(next(r, err));
        if (r->json.kind == KN_JSON_LIST_END) return KN_OK;
        r->parts = parts;
        KN_TRY(locate(r, path, err));
    }
}

static kn_status locate(reading *r, const char *path, kn_error *err)
{
    if (!path) return read_records(r, err);
    if (r->json.kind == KN_JSON_LIST && r->parts > 0) return locate_in_list(r, path, err);
    if (r->json.kind != KN_JSON_OBJECT) return fail(r, err, "an object is expected, with the records in it");
    for (;;) {
        const char *rest;
        KN_TRY(next(r, err));
        if (r->json.kind == KN_JSON_OBJECT_END) return KN_OK;
        if (!is_part(r, path, &rest)) {
            KN_TRY(kn_collector_ignore(r->c, "", r->json.text, err));
            KN_TRY(next(r, err));
            KN_TRY(kn_json_skip(&r->json, err));
            continue;
        }
        if (!rest && r->located && r->around == 0) return fail(r, err, "this name occurs twice in the object");
        size_t size = r->found.size;
        if (!r->located) {
            kn_buffer_add(&r->found, size ? "/" : "");
            kn_buffer_append(&r->found, r->json.text.data, r->json.text.size);
        }
        KN_TRY(next(r, err));
        r->parts++;
        KN_TRY(locate(r, rest, err));
        r->parts--;
        if (!r->located) r->found.size = size; /* they are not in this one */
    }
}

static kn_status read_document(reading *r, kn_error *err)
{
    KN_TRY(next(r, err));
    bool list = r->json.kind == KN_JSON_LIST;
    KN_TRY(list ? read_records(r, err) : locate(r, r->path, err));
    if (!r->located || kn_collector_none(r->c))
        return kn_fail_at(err, KN_INPUT, r->c->file, 0, 0, "there are no records; they are looked for in \"%s\"",
                          r->path);
    const char *found = kn_buffer_text(&r->found);
    if (r->c->layout->path) return next(r, err); /* the form is that of the first file */
    if (!found) return kn_fail_memory(err, r->c->ctx, "reading tree records");
    r->c->layout->around = r->around;
    r->c->layout->path = kn_strndup(r->c->ctx, found, strlen(found));
    if (!r->c->layout->path) return kn_fail_memory(err, r->c->ctx, "reading tree records");
    return next(r, err); /* the end: nothing may follow */
}

static kn_status read_lines(reading *r, kn_error *err)
{
    for (;;) {
        KN_TRY(next(r, err));
        if (r->json.kind == KN_JSON_END) break;
        KN_TRY(read_record(r, err));
    }
    return !kn_collector_none(r->c) ? KN_OK : kn_fail_at(err, KN_INPUT, r->c->file, 0, 0, "there are no records");
}

kn_status kn_json_read(kn_collector *c, bool lines, kn_error *err)
{
    reading r = {.c = c, .path = c->options->record ? c->options->record : "record"};
    r.path += r.path[0] == '/';
    r.words = kn_bitset_words(KEY_OTHER + (size_t)c->options->class_count);
    kn_buffer_init(&r.found, c->ctx);
    kn_buffer_init(&r.prefix, c->ctx);
    r.seen = kn_alloc_array(c->ctx, r.words * KN_JSON_MAX_DEPTH, sizeof *r.seen);
    kn_status st = kn_json_open(&r.json, c->ctx, c->source, lines, err);
    if (st == KN_OK && !r.seen) st = kn_fail_memory(err, c->ctx, "reading tree records");
    if (st == KN_OK) st = lines ? read_lines(&r, err) : read_document(&r, err);
    kn_json_close(&r.json);
    kn_buffer_free(&r.found);
    kn_buffer_free(&r.prefix);
    kn_free(r.seen);
    return st;
}
