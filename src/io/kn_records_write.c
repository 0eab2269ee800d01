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

#define ROOT KN_RECORDS_ROOT

enum { RECORDS_PER_PIECE = 1024 };

typedef struct writing {
    const kn_records        *records;
    const kn_records_layout *layout;
    const kn_spec_class     *classes;
    bool                     say_class; /* JSON: nodes say their class       */
    const char              *path;
    const char              *record; /* XML: the record's element         */
    size_t                   outer;  /* XML: elements around it           */
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

/* The depth of a node below the record's root, from 0. */
static size_t depth_of(const kn_records *r, uint64_t first, uint32_t node)
{
    size_t depth = 0;
    for (uint32_t p = r->parent[first + node]; p != ROOT; p = r->parent[first + p]) depth++;
    return depth;
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

static const char *element_of(const writing *w, uint32_t value)
{
    int cls = class_of(w, value);
    return cls < 0 ? "node" : name_of(w, cls);
}

/* The start of a node's element, with its value; `empty`: and its end. */
static void xml_node(const writing *w, kn_buffer *to, uint32_t value, bool empty)
{
    int         cls = class_of(w, value);
    const char *place = place_of(w, cls), *name = element_of(w, value);
    kn_string   label = kn_vocabulary_label(w->records->vocabulary, value);
    if (!place || strcmp(place, "text") != 0) {
        if (!place) place = "@v";
        kn_buffer_char(to, '<');
        kn_buffer_add(to, name);
        kn_buffer_char(to, ' ');
        kn_buffer_add(to, place + (place[0] == '@'));
        kn_buffer_add(to, "=\"");
        xml_text(to, label, true);
        kn_buffer_add(to, empty ? "\"/>\n" : "\">\n");
        return;
    }
    kn_buffer_format(to, "<%s>", name);
    xml_text(to, label, false);
    if (empty) kn_buffer_format(to, "</%s>", name);
    kn_buffer_char(to, '\n');
}

/* Closes elements until `depth` are open; `open` is the innermost. Returns the new innermost. */
static uint32_t xml_close(const writing *w, kn_buffer *to, uint64_t first, uint32_t open, size_t *depth, size_t wanted)
{
    for (; *depth > wanted; (*depth)--) {
        indent(to, w->outer + *depth);
        kn_buffer_add(to, "</");
        kn_buffer_add(to, element_of(w, w->records->value[first + open]));
        kn_buffer_add(to, ">\n");
        open = w->records->parent[first + open];
    }
    return open;
}

static void xml_record(const writing *w, kn_buffer *to, int64_t record)
{
    const kn_records *r = w->records;
    uint64_t          first = r->start[record];
    uint32_t          count = (uint32_t)(r->start[record + 1] - first), open = ROOT;
    size_t            depth = 0; /* of open elements below the record's */
    indent(to, w->outer);
    kn_buffer_format(to, count ? "<%s>\n" : "<%s/>\n", w->record);
    for (uint32_t i = 0; i < count; i++) {
        bool empty = i + 1 == count || r->parent[first + i + 1] != i;
        open = xml_close(w, to, first, open, &depth, depth_of(r, first, i));
        indent(to, w->outer + depth + 1);
        xml_node(w, to, r->value[first + i], empty);
        if (empty) continue;
        open = i;
        depth++;
    }
    (void)xml_close(w, to, first, open, &depth, 0);
    if (count == 0) return;
    indent(to, w->outer);
    kn_buffer_format(to, "</%s>\n", w->record);
}

/* ---- JSON ---- */

static void json_text(kn_buffer *to, kn_string text)
{
    static const char from[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    size_t            done = 0;
    kn_buffer_char(to, '"');
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        const char *found = c ? strchr(from, c) : NULL;
        kn_buffer_append(to, text.data + done, i - done);
        done = i + 1;
        if (found) {
            kn_buffer_char(to, '\\');
            kn_buffer_char(to, letters[found - from]);
        } else {
            kn_buffer_format(to, "\\u%04x", c);
        }
    }
    kn_buffer_append(to, text.data + done, text.size - done);
    kn_buffer_char(to, '"');
}

static const char *json_key(const writing *w, int cls)
{
    const char *value = place_of(w, cls);
    if (!value) return "v";
    return value + (value[0] == '@');
}

static void json_children(const writing *w, kn_buffer *to, uint64_t first, uint32_t from, uint32_t end, bool begun);

/* The nodes below `node` are node + 1 .. end - 1. */
static void json_node(const writing *w, kn_buffer *to, uint64_t first, uint32_t node, uint32_t end)
{
    uint32_t value = w->records->value[first + node];
    int      cls = class_of(w, value);
    kn_buffer_char(to, '{');
    json_text(to, kn_string_of(json_key(w, cls)));
    kn_buffer_add(to, ": ");
    json_text(to, kn_vocabulary_label(w->records->vocabulary, value));
    if (cls >= 0 && w->say_class && !w->layout->nested) {
        kn_buffer_add(to, ", \"class\": ");
        json_text(to, kn_string_of(name_of(w, cls)));
    }
    json_children(w, to, first, node + 1, end, true);
    kn_buffer_char(to, '}');
}

/* Where the subtree of a node ends. */
static uint32_t subtree_end(const kn_records *r, uint64_t first, uint32_t node, uint32_t end)
{
    uint32_t next = node + 1;
    while (next < end && r->parent[first + next] != ROOT && r->parent[first + next] >= node) next++;
    return next;
}

/* The children of a node, or of the record, as members of its object. Siblings are ordered by value, and so by class:
 * "*" first, then class by class. Recursion as deep as records are. */
static void json_children(const writing *w, kn_buffer *to, uint64_t first, uint32_t from, uint32_t end, bool begun)
{
    const kn_records *r = w->records;
    int               last = -2; /* class of the list that is open */
    for (uint32_t i = from; i < end;) {
        uint32_t next = subtree_end(r, first, i, end);
        int      cls = w->layout->nested ? class_of(w, r->value[first + i]) : -1;
        if (cls != last) {
            if (last != -2) kn_buffer_char(to, ']');
            if (begun || last != -2) kn_buffer_add(to, ", ");
            json_text(to, kn_string_of(cls < 0 ? "children" : name_of(w, cls)));
            kn_buffer_add(to, ": [");
        } else {
            kn_buffer_add(to, ", ");
        }
        last = cls;
        json_node(w, to, first, i, next);
        i = next;
    }
    if (last != -2) kn_buffer_char(to, ']');
}

static void json_record(const writing *w, kn_buffer *to, int64_t record)
{
    const kn_records *r = w->records;
    bool              lines = w->layout->form == KN_RECORDS_JSON_LINES;
    uint64_t          first = r->start[record];
    if (!lines) kn_buffer_add(to, record ? ",\n  " : "\n  ");
    kn_buffer_char(to, '{');
    json_children(w, to, first, 0, (uint32_t)(r->start[record + 1] - first), false);
    kn_buffer_add(to, lines ? "}\n" : "}");
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
        if (w->layout->form == KN_RECORDS_XML)
            xml_record(w, to, i);
        else if (w->layout->form == KN_RECORDS_BASKETS)
            KN_TRY(basket(w, to, i, err));
        else
            json_record(w, to, i);
    }
    return to->failed ? kn_fail_memory(err, w->records->ctx, "writing tree records") : KN_OK;
}

/* A name of XML, as far as its bytes show: expat decides when it is read back. */
static bool is_name(const char *name)
{
    unsigned char c = (unsigned char)name[0];
    if (!(c >= 0x80 || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < 0x80 && strchr(" \t\r\n<>&\"'=/!?;,()[]{}*+|\\^%$#@~`", *p)) return false;
    return true;
}

static kn_status check_names(const writing *w, int count, kn_error *err)
{
    for (int c = 0; c < count && w->layout->form == KN_RECORDS_XML; c++) {
        const char *value = place_of(w, c);
        if (!is_name(name_of(w, c)) || (value && !is_name(value + (value[0] == '@'))))
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
    size_t depth = 0;
    if (w->layout->form == KN_RECORDS_JSON_LINES) return;
    if (closing) kn_buffer_add(to, "\n ]");
    for (const char *p = path; *p; depth++) {
        size_t size = strcspn(p, "/");
        if (!closing) {
            kn_buffer_char(to, '{');
            json_text(to, (kn_string){p, size});
            kn_buffer_add(to, ": ");
        } else {
            kn_buffer_char(to, '}');
        }
        p += size + (p[size] == '/');
    }
    kn_buffer_add(to, closing ? "\n" : "[");
}

static kn_status frame(const writing *w, kn_buffer *to, bool closing, kn_error *err)
{
    if (w->layout->form == KN_RECORDS_XML)
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

static kn_status prepare(writing *w, const kn_records *records, const kn_records_layout *layout,
                         const kn_spec_class *classes, int class_count, kn_error *err)
{
    bool        xml = layout->form == KN_RECORDS_XML;
    const char *path = layout->path ? layout->path : xml ? "records/record" : "records";
    *w = (writing){.records = records, .layout = layout, .classes = classes, .path = path, .record = path};
    for (const char *p = path; xml && *p; p++)
        if (*p == '/') {
            w->outer++;
            w->record = p + 1;
        }
    KN_TRY(check_names(w, classes ? class_count : records->vocabulary->class_count, err));
    if (w->outer == 0 && xml && records->count != 1)
        return kn_fail(err, KN_USAGE, "a record that is a whole XML document cannot be one of several");
    w->say_class = layout->classes || labels_shared(records->vocabulary);
    return KN_OK;
}

static int64_t pieces_of(const kn_records *records)
{
    return (records->count + RECORDS_PER_PIECE - 1) / RECORDS_PER_PIECE;
}

kn_status kn_records_write(kn_output *output, kn_context *ctx, const kn_records *records,
                           const kn_records_layout *layout, const kn_spec_class *classes, int class_count,
                           kn_error *err)
{
    writing w;
    KN_TRY(prepare(&w, records, layout, classes, class_count, err));
    KN_TRY(write_frame(&w, output, ctx, false, err));
    KN_TRY(kn_output_pieces(output, pieces_of(records), write_piece, &w, err));
    return write_frame(&w, output, ctx, true, err);
}

kn_status kn_records_format(kn_buffer *to, const kn_records *records, const kn_records_layout *layout,
                            const kn_spec_class *classes, int class_count, kn_error *err)
{
    writing w;
    KN_TRY(prepare(&w, records, layout, classes, class_count, err));
    KN_TRY(frame(&w, to, false, err));
    for (int64_t i = 0; i < pieces_of(records); i++) KN_TRY(write_piece(&w, i, to, err));
    return frame(&w, to, true, err);
}
