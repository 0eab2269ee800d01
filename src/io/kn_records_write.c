/* kn_records_write.c: tree records as text. See the header.
 *
 * Cost: linear in what is written. Memory: a few pieces per thread. Everything is escaped; a value may hold any
 * character of the form (XML has no control characters: its reader refuses them; from other forms they become
 * U+FFFD).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_records_write.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_json_put.h"
#include "kn_records_scan.h"
#include "kn_resources.h"

#define ROOT KN_RECORDS_ROOT

enum { RECORD = -2 }; /* as the class of what is above a node; -1: a node without one */

enum { RECORDS_PER_PIECE = 1024, DEEPEST = KN_RECORDS_MAX_DEPTH + 4 };

typedef struct writing {
    const kn_records        *records;
    const kn_records_layout *layout;
    const kn_spec_class     *classes;
    bool                     say_class; /* JSON: nodes say their class       */
    const char              *path;
    const char              *record; /* XML: the record's element         */
    size_t                   outer;  /* XML: elements around it           */
    /* The forms of classes. */
    int               class_count;
    kn_records_style *style;            /* the layout's, wide enough for these records; NULL: none is kept          */
    uint8_t (*order)[KN_STYLE_CLASSES]; /* JSON, by the parent's class + 2: the classes as their keys stand */
    bool bare[KN_STYLE_CLASSES];        /* JSON: values of the original need no quotes                     */
    bool paths;                         /* some classes have them                                          */
    bool attributes;                    /* XML: some classes are                                            */
} writing;

/* ---- XML ---- */

/* The escape of a character that XML does not allow as is; NULL: itself. */
static const char *xml_escape(unsigned char c, bool attribute)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return attribute ? "&quot;" : NULL;
    case '\t': return "&#9;";
    case '\n': return "&#10;";
    case '\r': return "&#13;";
    default: return c < 0x20 ? "\xef\xbf\xbd" : NULL;
    }
}

static void xml_text(kn_buffer *to, kn_string text, bool attribute)
{
    size_t done = 0;
    for (size_t i = 0; i < text.size; i++) {
        const char *instead = xml_escape((unsigned char)text.data[i], attribute);
        if (!instead) continue;
        kn_buffer_append(to, text.data + done, i - done);
        kn_buffer_add(to, instead);
        done = i + 1;
    }
    kn_buffer_append(to, text.data + done, text.size - done);
}

static void indent(kn_buffer *to, size_t depth)
{
    static const char spaces[] = "                ";
    for (; depth > sizeof spaces - 1; depth -= sizeof spaces - 1) kn_buffer_append(to, spaces, sizeof spaces - 1);
    kn_buffer_append(to, spaces, depth);
}

static int class_of(const writing *w, uint32_t value)
{
    uint16_t cls = w->records->vocabulary->cls[value];
    return cls == KN_VOCABULARY_NO_CLASS ? -1 : (int)cls;
}

static const char *name_of(const writing *w, int cls)
{
    return w->classes ? w->classes[cls].name : w->records->vocabulary->class_names[cls];
}

/* Where a class has its value; NULL: not declared. */
static const char *place_of(const writing *w, int cls)
{
    return cls >= 0 && w->classes ? w->classes[cls].value : NULL;
}

/* The path of a class, from the node around it. */
static const char *path_of(const writing *w, int cls)
{
    return w->classes && w->classes[cls].path ? w->classes[cls].path : name_of(w, cls);
}

/* The element or key of a class: the end of its path, if it has one. */
static const char *last_of(const writing *w, int cls)
{
    const char *path = path_of(w, cls);
    return w->classes && w->classes[cls].path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static const char *element_of(const writing *w, uint32_t value)
{
    int cls = class_of(w, value);
    return cls < 0 ? "node" : last_of(w, cls);
}

/* Is the node an attribute of the element around it? */
static bool is_attribute(const writing *w, uint32_t value)
{
    int cls = w->attributes ? class_of(w, value) : -1;
    return cls >= 0 && w->style->of[cls + 1].attributes;
}

/* The children of a node (ROOT: of the record) that are its attributes. */
static void xml_attributes(const writing *w, kn_buffer *to, uint64_t first, uint32_t count, uint32_t node)
{
    const kn_records *r = w->records;
    for (uint32_t i = node == ROOT ? 0 : node + 1; w->attributes && i < count; i++) {
        uint32_t up = r->parent[first + i];
        if (node != ROOT && (up == ROOT || up < node)) return;
        if (up != node || !is_attribute(w, r->value[first + i])) continue;
        kn_buffer_format(to, " %s=\"", element_of(w, r->value[first + i]));
        xml_text(to, kn_vocabulary_label(r->vocabulary, r->value[first + i]), true);
        kn_buffer_char(to, '"');
    }
}

/* Does an element stand below a node (ROOT: the record)? */
static bool has_elements(const writing *w, uint64_t first, uint32_t count, uint32_t node)
{
    const kn_records *r = w->records;
    for (uint32_t i = node == ROOT ? 0 : node + 1; i < count && r->parent[first + i] == node; i++)
        if (!is_attribute(w, r->value[first + i])) return true; /* attributes have nothing below them */
    return false;
}

/* Where an element has its value: the attribute's name; NULL: it is its text. */
static const char *xml_place(const writing *w, int cls)
{
    const char *place = place_of(w, cls);
    if (place) return strcmp(place, "text") == 0 ? NULL : place + (place[0] == '@');
    const kn_class_style *style = cls >= 0 && w->style ? &w->style->of[cls + 1] : NULL;
    return style && style->in_text && !style->in_attribute ? NULL : "v";
}

/* The start of a node's element, with its value; `empty`: and its end. */
static void xml_node(const writing *w, kn_buffer *to, uint64_t first, uint32_t count, uint32_t node, bool empty)
{
    uint32_t    value = w->records->value[first + node];
    const char *place = xml_place(w, class_of(w, value)), *name = element_of(w, value);
    kn_string   label = kn_vocabulary_label(w->records->vocabulary, value);
    kn_buffer_char(to, '<');
    kn_buffer_add(to, name);
    if (place) {
        kn_buffer_char(to, ' ');
        kn_buffer_add(to, place);
        kn_buffer_add(to, "=\"");
        xml_text(to, label, true);
        kn_buffer_add(to, w->attributes ? "\"" : empty ? "\"/>\n" : "\">\n");
        if (!w->attributes) return;
    }
    xml_attributes(w, to, first, count, node);
    kn_buffer_add(to, !place ? ">" : empty ? "/>\n" : ">\n");
    if (place) return;
    xml_text(to, label, false);
    if (empty) kn_buffer_format(to, "</%s>", name);
    kn_buffer_char(to, '\n');
}

/* The elements that are open below the record's: those of nodes, and those on the path to nodes (their node is ROOT). */
typedef struct xml_stack {
    size_t    count;
    kn_string name[DEEPEST];
    uint32_t  node[DEEPEST];
} xml_stack;

static void xml_push(xml_stack *s, const char *name, size_t size, uint32_t node)
{
    s->name[s->count] = (kn_string){name, size};
    s->node[s->count++] = node;
}

static void xml_close(const writing *w, kn_buffer *to, xml_stack *s, size_t wanted)
{
    for (; s->count > wanted; s->count--) {
        indent(to, w->outer + s->count);
        kn_buffer_format(to, "</%.*s>\n", (int)s->name[s->count - 1].size, s->name[s->count - 1].data);
    }
}

/* Closes and opens elements until those around a node are open: of the nodes above it, and on its own path. */
static void xml_surround(const writing *w, kn_buffer *to, uint64_t first, uint32_t node, xml_stack *s)
{
    int         cls = class_of(w, w->records->value[first + node]);
    const char *path = cls >= 0 && w->paths ? path_of(w, cls) : "", *slash;
    uint32_t    above = w->records->parent[first + node];
    size_t      at = above == ROOT ? 0 : s->count;
    while (at > 0 && s->node[at - 1] != above) at--;
    for (; (slash = strchr(path, '/')) && at < s->count; path = slash + 1, at++) {
        if (s->node[at] != ROOT || !kn_string_equal(s->name[at], (kn_string){path, (size_t)(slash - path)})) break;
    }
    xml_close(w, to, s, at);
    for (; (slash = strchr(path, '/')) && s->count + 1 < DEEPEST; path = slash + 1) {
        indent(to, w->outer + s->count + 1);
        kn_buffer_format(to, "<%.*s>\n", (int)(slash - path), path);
        xml_push(s, path, (size_t)(slash - path), ROOT);
    }
}

static void xml_record(const writing *w, kn_buffer *to, int64_t record)
{
    const kn_records *r = w->records;
    uint64_t          first = r->start[record];
    uint32_t          count = (uint32_t)(r->start[record + 1] - first);
    xml_stack         s;
    bool              none = !has_elements(w, first, count, ROOT);
    s.count = 0;
    indent(to, w->outer);
    kn_buffer_format(to, "<%s", w->record);
    xml_attributes(w, to, first, count, ROOT);
    kn_buffer_add(to, none ? "/>\n" : ">\n");
    for (uint32_t i = 0; i < count; i++) {
        bool empty = i + 1 == count || r->parent[first + i + 1] != i;
        if (w->attributes && is_attribute(w, r->value[first + i])) continue;
        if (w->attributes && !empty) empty = !has_elements(w, first, count, i);
        xml_surround(w, to, first, i, &s);
        indent(to, w->outer + s.count + 1);
        xml_node(w, to, first, count, i, empty);
        const char *name = element_of(w, r->value[first + i]);
        if (!empty && s.count < DEEPEST) xml_push(&s, name, strlen(name), i);
    }
    xml_close(w, to, &s, 0);
    if (none) return;
    indent(to, w->outer);
    kn_buffer_format(to, "</%s>\n", w->record);
}

/* ---- JSON ---- */

static const char *json_key(const writing *w, int cls)
{
    const char *value = place_of(w, cls);
    if (!value) return "v";
    return value + (value[0] == '@');
}

/* A value of the original is written as it was, one above it as a text. */
static void json_value(const writing *w, kn_buffer *to, uint32_t value)
{
    const kn_vocabulary *v = w->records->vocabulary;
    kn_string            label = kn_vocabulary_label(v, value);
    int                  cls = class_of(w, value);
    if (cls >= 0 && w->bare[cls] && v->height[value] == 0 && kn_json_is_literal(label))
        kn_buffer_append(to, label.data, label.size);
    else
        kn_json_put_text(to, label);
}

static void json_members(const writing *w, kn_buffer *to, uint64_t first, uint32_t from, uint32_t end, int above,
                         bool begun);

/* The nodes below `node` are node + 1 .. end - 1. */
static void json_node(const writing *w, kn_buffer *to, uint64_t first, uint32_t node, uint32_t end)
{
    uint32_t value = w->records->value[first + node];
    int      cls = class_of(w, value);
    if (cls >= 0 && w->layout->nested && w->style && !w->style->of[cls + 1].objects) {
        json_value(w, to, value);
        return;
    }
    kn_buffer_char(to, '{');
    kn_json_put_text(to, kn_string_of(json_key(w, cls)));
    kn_buffer_add(to, ": ");
    json_value(w, to, value);
    if (cls >= 0 && w->say_class && !w->layout->nested) {
        kn_buffer_add(to, ", \"class\": ");
        kn_json_put_text(to, kn_string_of(name_of(w, cls)));
    }
    json_members(w, to, first, node + 1, end, cls, true);
    kn_buffer_char(to, '}');
}

/* Where the subtree of a node ends. */
static uint32_t subtree_end(const kn_records *r, uint64_t first, uint32_t node, uint32_t end)
{
    uint32_t next = node + 1;
    while (next < end && r->parent[first + next] != ROOT && r->parent[first + next] >= node) next++;
    return next;
}

/* Where the siblings of one class end; they stand together. */
static uint32_t siblings_end(const writing *w, uint64_t first, uint32_t from, uint32_t end, int cls)
{
    const kn_records *r = w->records;
    while (from < end && (!w->layout->nested || class_of(w, r->value[first + from]) == cls))
        from = subtree_end(r, first, from, end);
    return from;
}

static void json_begin(const writing *w, kn_buffer *to, int cls, bool *begun)
{
    const char *name = cls < 0 ? "children" : last_of(w, cls);
    if (*begun) kn_buffer_add(to, ", ");
    *begun = true;
    kn_json_put_text(to, kn_string_of(name));
    kn_buffer_add(to, ": ");
}

/* Siblings of one class (-1: without one, or of any), as one member. */
static void json_siblings(const writing *w, kn_buffer *to, uint64_t first, uint32_t from, uint32_t end, int above,
                          int cls, bool *begun)
{
    bool list = cls < 0 || !w->style || w->style->below[above + 2][cls].list;
    json_begin(w, to, cls, begun);
    if (list) kn_buffer_char(to, '[');
    for (uint32_t i = from; i < end;) {
        uint32_t next = subtree_end(w->records, first, i, end);
        if (i > from) kn_buffer_add(to, ", ");
        json_node(w, to, first, i, next);
        i = next;
    }
    if (list) kn_buffer_char(to, ']');
}

/* A class that others have here, and this object does not. */
static void json_none(const writing *w, kn_buffer *to, int above, int cls, bool *begun)
{
    const kn_place_style *place = &w->style->below[above + 2][cls];
    if (!place->none && !place->empty) return;
    json_begin(w, to, cls, begun);
    kn_buffer_add(to, place->none ? "null" : "[]");
}

/* The siblings of each class below a node. */
typedef struct families {
    uint64_t there; /* the classes that it has */
    uint32_t starts[KN_STYLE_CLASSES], ends[KN_STYLE_CLASSES];
} families;

static void json_family(const writing *w, kn_buffer *to, uint64_t first, const families *of, int above, int cls,
                        bool *begun)
{
    if (of->there >> cls & 1)
        json_siblings(w, to, first, of->starts[cls], of->ends[cls], above, cls, begun);
    else
        json_none(w, to, above, cls, begun);
}

/* Is something written of a class below a node? */
static bool is_written(const writing *w, const families *of, int above, int cls)
{
    const kn_place_style *place = &w->style->below[above + 2][cls];
    return (of->there >> cls & 1) || place->none || place->empty;
}

/* The classes whose paths begin with `prefix` of that size, and which are not in *done: each object on the way once. */
static void json_paths(const writing *w, kn_buffer *to, uint64_t first, const families *of, int above,
                       const char *prefix, size_t size, uint64_t *done, bool *begun)
{
    for (int i = 0; i < w->class_count; i++) {
        int         cls = w->order[above + 2][i];
        const char *path = path_of(w, cls), *rest = path + size;
        if (*done >> cls & 1 || strncmp(path, prefix, size) != 0 || !is_written(w, of, above, cls)) continue;
        const char *slash = w->classes[cls].path ? strchr(rest, '/') : NULL;
        if (!slash) {
            *done |= (uint64_t)1 << cls;
            json_family(w, to, first, of, above, cls, begun);
            continue;
        }
        bool inside = false;
        if (*begun) kn_buffer_add(to, ", ");
        *begun = true;
        kn_json_put_text(to, (kn_string){rest, (size_t)(slash - rest)});
        kn_buffer_add(to, ": {");
        json_paths(w, to, first, of, above, path, (size_t)(slash - path) + 1, done, &inside);
        kn_buffer_char(to, '}');
    }
}

/* The children of a node of class `above`, or of the record, as members of its object. Siblings are ordered by value,
 * and so by class: "*" first, then class by class. Keys have the order that they had in the original. Recursion as deep as
 * records are. */
static void json_members(const writing *w, kn_buffer *to, uint64_t first, uint32_t from, uint32_t end, int above,
                         bool begun)
{
    families of = {.there = 0};
    uint64_t done = 0;
    bool     ordered = w->style && w->layout->nested;
    while (from < end) {
        int      cls = w->layout->nested ? class_of(w, w->records->value[first + from]) : -1;
        uint32_t next = siblings_end(w, first, from, end, cls);
        if (cls < 0 || !ordered) {
            json_siblings(w, to, first, from, next, above, cls, &begun);
        } else {
            of.starts[cls] = from;
            of.ends[cls] = next;
            of.there |= (uint64_t)1 << cls;
        }
        from = next;
    }
    if (!ordered) return;
    if (w->paths) {
        json_paths(w, to, first, &of, above, "", 0, &done, &begun);
        return;
    }
    for (int i = 0; i < w->class_count; i++) json_family(w, to, first, &of, above, w->order[above + 2][i], &begun);
}

/* The first keys of a path, each of an object inside the one before; `closing`: their ends. */
static void json_keys(kn_buffer *to, const char *path, size_t most, bool closing)
{
    for (size_t size; *path && most > 0; path += size + (path[size] == '/'), most--) {
        size = strcspn(path, "/");
        kn_buffer_char(to, closing ? '}' : '{');
        if (closing) continue;
        kn_json_put_text(to, (kn_string){path, size});
        kn_buffer_add(to, ": ");
    }
}

/* The part of the path that each record has around it. */
static const char *json_inner(const writing *w)
{
    const char *path = w->layout->around > 0 && w->layout->form == KN_RECORDS_JSON ? w->path : "";
    for (int i = 0; i < w->layout->around && *path; i++) {
        path += strcspn(path, "/");
        path += *path == '/';
    }
    return path;
}

/* A record that is a list of its values. */
static void json_list(const writing *w, kn_buffer *to, int64_t record)
{
    const kn_records *r = w->records;
    kn_buffer_char(to, '[');
    for (uint64_t i = r->start[record]; i < r->start[record + 1]; i++) {
        if (i > r->start[record]) kn_buffer_add(to, ", ");
        json_value(w, to, r->value[i]);
    }
    kn_buffer_char(to, ']');
}

static void json_record(const writing *w, kn_buffer *to, int64_t record)
{
    const kn_records *r = w->records;
    bool              lines = w->layout->form == KN_RECORDS_JSON_LINES;
    uint64_t          first = r->start[record];
    if (!lines) kn_buffer_add(to, record ? ",\n  " : "\n  ");
    json_keys(to, json_inner(w), SIZE_MAX, false);
    if (w->layout->listed) {
        json_list(w, to, record);
    } else {
        kn_buffer_char(to, '{');
        json_members(w, to, first, 0, (uint32_t)(r->start[record + 1] - first), RECORD, false);
        kn_buffer_char(to, '}');
    }
    json_keys(to, json_inner(w), SIZE_MAX, true);
    if (lines) kn_buffer_char(to, '\n');
}

/* ---- Baskets ---- */

static void basket_value(const writing *w, kn_buffer *to, kn_string text)
{
    /* A value that begins the file with a byte order mark would lose it. */
    bool mark = text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0;
    bool quote = mark || text.data[0] == '"' || text.data[0] == ' ' || text.data[text.size - 1] == ' ';
    for (size_t i = 0; i < text.size; i++) quote = quote || text.data[i] == w->layout->delimiter;
    if (!quote) {
        kn_buffer_append(to, text.data, text.size);
        return;
    }
    kn_buffer_char(to, '"');
    kn_buffer_doubled(to, text.data, text.size);
    kn_buffer_char(to, '"');
}

static kn_status basket(const writing *w, kn_buffer *to, int64_t record, kn_error *err)
{
    const kn_records *r = w->records;
    for (uint64_t i = r->start[record]; i < r->start[record + 1]; i++) {
        kn_string text = kn_vocabulary_label(r->vocabulary, r->value[i]);
        if (r->parent[i] != ROOT) return kn_fail(err, KN_USAGE, "baskets hold values side by side, with nothing below");
        if (memchr(text.data, '\n', text.size) || memchr(text.data, '\r', text.size))
            return kn_fail(err, KN_USAGE, "a label with a line end cannot stand in a basket");
        if (i > r->start[record]) kn_buffer_char(to, w->layout->delimiter);
        basket_value(w, to, text);
    }
    kn_buffer_char(to, '\n');
    return KN_OK;
}

/* ---- All of them ---- */

static kn_status write_piece(void *arg, int64_t piece, kn_buffer *to, kn_error *err)
{
    const writing *w = arg;
    int64_t        begin = piece * RECORDS_PER_PIECE, end = begin + RECORDS_PER_PIECE;
    if (end > w->records->count) end = w->records->count;
    for (int64_t i = begin; i < end; i++) {
        if (w->layout->resources)
            KN_TRY(kn_resources_write(to, w->records, w->layout, w->classes, w->bare, i, err));
        else if (w->layout->form == KN_RECORDS_XML)
            xml_record(w, to, i);
        else if (w->layout->form == KN_RECORDS_BASKETS)
            KN_TRY(basket(w, to, i, err));
        else
            json_record(w, to, i);
    }
    return to->failed ? kn_fail_memory(err, w->records->ctx, "writing tree records") : KN_OK;
}

/* A name of XML, as far as its bytes show: expat decides when it is read back. */
static bool is_name(const char *name, size_t size)
{
    unsigned char c = size > 0 ? (unsigned char)name[0] : 0;
    if (!(c >= 0x80 || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)name[i] < 0x80 && strchr(" \t\r\n<>&\"'=/!?;,()[]{}*+|\\^%$#@~`", name[i])) return false;
    return true;
}

/* The same of all elements on the way to a class. */
static bool is_path(const writing *w, int cls)
{
    const char *path = path_of(w, cls);
    bool        one = path == name_of(w, cls);
    for (size_t size; *path; path += size + (path[size] == '/')) {
        size = one ? strlen(path) : strcspn(path, "/");
        if (!is_name(path, size)) return false;
    }
    return true;
}

static kn_status check_names(const writing *w, int count, kn_error *err)
{
    for (int c = 0; c < count && w->layout->form == KN_RECORDS_XML; c++) {
        const char *value = place_of(w, c);
        if (!is_path(w, c) || (value && !is_name(value + (value[0] == '@'), strlen(value + (value[0] == '@')))))
            return kn_fail(err, KN_USAGE,
                           "class \"%s\" cannot be written as XML: its name, or that of its value, is not an XML name",
                           name_of(w, c));
    }
    if (w->layout->form == KN_RECORDS_BASKETS && count != 1)
        return kn_fail(err, KN_USAGE, "baskets have values of one class");
    return KN_OK;
}

/* Does a label of one class occur in another too? Then nodes must name their class. */
static bool labels_shared(const kn_vocabulary *v)
{
    for (uint32_t n = 1; n < v->nodes; n++)
        for (int c = v->cls[n] + 1; c < v->class_count; c++)
            if (kn_vocabulary_find(v, c, kn_vocabulary_label(v, n)) != UINT32_MAX) return true;
    return false;
}

/* The namespaces that the element at a depth (from 1) declares. */
static void xml_namespaces(const writing *w, kn_buffer *to, size_t depth)
{
    for (const char *line = w->layout->namespaces; line && *line; line += strcspn(line, "\n") + 1) {
        char *name;
        if (strtoull(line, &name, 10) != depth) continue;
        size_t      size = strcspn(++name, "\t");
        const char *uri = name + size + 1;
        kn_buffer_format(to, " %.*s=\"", (int)size, name);
        xml_text(to, (kn_string){uri, strcspn(uri, "\n")}, true);
        kn_buffer_char(to, '"');
    }
}

/* The text before (or, `closing`, after) all records. `path`: "records/record", of which `outer` names are around. */
static void xml_frame(const writing *w, kn_buffer *to, const char *path, bool closing)
{
    const char *names[256];
    size_t      sizes[256], count = 0;
    for (const char *p = path; count < w->outer; p += sizes[count++] + 1) {
        names[count] = p;
        sizes[count] = strcspn(p, "/");
    }
    if (!closing) kn_buffer_add(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    for (size_t i = 0; i < count; i++) {
        size_t at = closing ? count - 1 - i : i;
        indent(to, at);
        kn_buffer_format(to, closing ? "</%.*s" : "<%.*s", (int)sizes[at], names[at]);
        if (!closing) xml_namespaces(w, to, at + 1);
        kn_buffer_add(to, ">\n");
    }
}

static void json_frame(const writing *w, kn_buffer *to, const char *path, bool closing)
{
    size_t most = w->layout->around > 0 ? (size_t)w->layout->around : SIZE_MAX;
    if (w->layout->form == KN_RECORDS_JSON_LINES) return;
    if (closing) kn_buffer_add(to, "\n ]");
    json_keys(to, path, most, closing);
    kn_buffer_char(to, closing ? '\n' : '[');
}

static kn_status frame(const writing *w, kn_buffer *to, bool closing, kn_error *err)
{
    if (w->layout->resources)
        kn_resources_frame(to, w->layout, closing);
    else if (w->layout->form == KN_RECORDS_XML)
        xml_frame(w, to, w->path, closing);
    else if (w->layout->form != KN_RECORDS_BASKETS)
        json_frame(w, to, w->path, closing);
    return to->failed ? kn_fail_memory(err, w->records->ctx, "writing tree records") : KN_OK;
}

static kn_status write_frame(const writing *w, kn_output *output, kn_context *ctx, bool closing, kn_error *err)
{
    kn_buffer text;
    kn_buffer_init(&text, ctx);
    kn_status st = frame(w, &text, closing, err);
    if (st == KN_OK && text.size) kn_output_write(output, text.data, text.size);
    kn_buffer_free(&text);
    return st;
}

/* ---- Forms of classes ---- */

/* Two siblings of a class need a list, or elements; what has something below it an object, or an element. */
static void widen(writing *w)
{
    const kn_records *r = w->records;
    uint32_t          above[DEEPEST]; /* the nodes above the current one, the record's root first */
    int               last[DEEPEST];  /* ... and the class of the last child of each              */
    for (int64_t t = 0; t < r->count; t++) {
        size_t depth = 0;
        above[0] = ROOT;
        last[0] = -1;
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++) {
            while (depth > 0 && above[depth] != r->parent[i]) depth--;
            int cls = class_of(w, r->value[i]), up = depth ? class_of(w, r->value[r->start[t] + above[depth]]) : RECORD;
            if (up >= 0) w->style->of[up + 1].objects = w->style->of[up + 1].elements = true;
            if (cls >= 0 && cls == last[depth]) {
                w->style->below[up + 2][cls].list = true;
                w->style->of[cls + 1].elements = true;
            }
            last[depth] = cls;
            if (depth + 1 == DEEPEST) continue; /* no file is read that deep */
            above[++depth] = (uint32_t)(i - r->start[t]);
            last[depth] = -1;
        }
    }
}

/* The first class of those left whose key no other one's precedes wherever both occur; else the first. */
static int next_key(const kn_place_style *below, uint64_t left)
{
    for (int cls = 0; cls < KN_STYLE_CLASSES; cls++) {
        if (!(left >> cls & 1)) continue;
        uint64_t before = below[cls].after & left;
        for (int other = 0; other < KN_STYLE_CLASSES && before; other++)
            if (below[other].after >> cls & 1) before &= ~((uint64_t)1 << other); /* sometimes so, sometimes so */
        if (!before) return cls;
    }
    return __builtin_ctzll(left);
}

static void order_keys(const writing *w)
{
    for (int up = 0; up <= w->class_count + 1; up++) {
        const kn_place_style *below = w->style->below[up];
        uint8_t              *order = w->order[up];
        uint64_t              left = w->class_count < 64 ? ((uint64_t)1 << w->class_count) - 1 : UINT64_MAX;
        for (int at = 0; at < w->class_count; at++) {
            int cls = next_key(below, left);
            order[at] = (uint8_t)cls;
            left &= ~((uint64_t)1 << cls);
        }
    }
}

/* An attribute can be one only where its element has no other of that name. */
static void settle_attributes(writing *w)
{
    for (int cls = 0; cls < w->class_count; cls++) {
        kn_class_style *style = &w->style->of[cls + 1];
        style->attributes = style->attributes && !style->elements && strcmp(last_of(w, cls), "v") != 0;
        for (int other = 0; other < w->class_count && style->attributes; other++) {
            const char *place = xml_place(w, other);
            if (place && strcmp(place, last_of(w, cls)) == 0) style->attributes = false;
        }
        w->attributes = w->attributes || style->attributes;
    }
}

static kn_status take_style(writing *w, kn_error *err)
{
    kn_context *ctx = w->records->ctx;
    if (!w->layout->style || w->class_count > KN_STYLE_CLASSES) return KN_OK;
    if (!KN_ALLOC(ctx, w->style, 1) || !KN_ALLOC(ctx, w->order, KN_STYLE_CLASSES + 2))
        return kn_fail_memory(err, ctx, "writing tree records");
    *w->style = *w->layout->style;
    const kn_class_style *unsaid = &w->style->of[0];
    for (int cls = 0; cls < w->class_count; cls++) {
        kn_class_style *style = &w->style->of[cls + 1];
        w->bare[cls] = (style->literals || unsaid->literals) && !style->texts && !unsaid->texts;
        for (int up = 0; up <= w->class_count + 1; up++) /* where it was not there may be several */
            w->style->below[up][cls].list |= !w->style->below[up][cls].there;
    }
    bool xml = w->layout->form == KN_RECORDS_XML,
         some = w->layout->nested; /* classes whose form may have to be wider */
    for (int cls = 0; xml && cls < w->class_count; cls++) some = some || w->style->of[cls + 1].attributes;
    if (!some) return KN_OK;
    widen(w);
    if (xml)
        settle_attributes(w);
    else
        order_keys(w);
    return KN_OK;
}

static kn_status prepare(writing *w, const kn_records *records, const kn_records_layout *layout,
                         const kn_spec_class *classes, int class_count, kn_error *err)
{
    bool        xml = layout->form == KN_RECORDS_XML;
    const char *path = layout->path ? layout->path : xml ? "records/record" : "records";
    *w = (writing){.records = records, .layout = layout, .classes = classes, .path = path, .record = path};
    w->class_count = records->vocabulary->class_count;
    for (int cls = 0; cls < w->class_count; cls++) w->paths = w->paths || (w->classes && w->classes[cls].path);
    for (const char *p = path; xml && *p; p++)
        if (*p == '/') {
            w->outer++;
            w->record = p + 1;
        }
    KN_TRY(check_names(w, classes ? class_count : records->vocabulary->class_count, err));
    if (w->outer == 0 && xml && records->count != 1)
        return kn_fail(err, KN_USAGE, "a record that is a whole XML document cannot be one of several");
    w->say_class = layout->classes || labels_shared(records->vocabulary);
    return take_style(w, err);
}

static int64_t pieces_of(const kn_records *records)
{
    return (records->count + RECORDS_PER_PIECE - 1) / RECORDS_PER_PIECE;
}

kn_status kn_records_write(kn_output *output, kn_context *ctx, const kn_records *records,
                           const kn_records_layout *layout, const kn_spec_class *classes, int class_count,
                           kn_error *err)
{
    writing   w;
    kn_status st = prepare(&w, records, layout, classes, class_count, err);
    if (st == KN_OK) st = write_frame(&w, output, ctx, false, err);
    if (st == KN_OK) st = kn_output_pieces(output, pieces_of(records), write_piece, &w, err);
    if (st == KN_OK) st = write_frame(&w, output, ctx, true, err);
    KN_FREE(w.style, w.order);
    return st;
}

kn_status kn_records_format(kn_buffer *to, const kn_records *records, const kn_records_layout *layout,
                            const kn_spec_class *classes, int class_count, kn_error *err)
{
    writing   w;
    kn_status st = prepare(&w, records, layout, classes, class_count, err);
    if (st == KN_OK) st = frame(&w, to, false, err);
    for (int64_t i = 0; st == KN_OK && i < pieces_of(records); i++) st = write_piece(&w, i, to, err);
    if (st == KN_OK) st = frame(&w, to, true, err);
    KN_FREE(w.style, w.order);
    return st;
}
