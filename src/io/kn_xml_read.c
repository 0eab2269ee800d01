/* kn_xml_read.c: records of an XML file, by expat, front to back.
 *
 * A record is an element whose name is options.record, or whose path ends with it (people/person). Inside it every
 * element with the name of a class is a node, below the nearest such element around it; so is an attribute with the
 * name of a class. <node> is a node without a class. A class with a path stands inside elements that are no nodes: its nodes
 * belong to the node around these. Any other element is skipped with its content. The value of a
 * class is an attribute ("@v"), the element's text ("text"), or by default "@v" if there is one, else the text. Names
 * are taken literally, with their prefix (h:person). Namespaces declared by the elements around the first record are
 * kept; any other declaration is an unknown attribute.
 *
 * A document may not have its own definitions: entities (except the five predefined), external files and DOCTYPEs
 * that name one are refused. Elements nest at most KN_RECORDS_MAX_DEPTH deep; what expat must hold as a whole (a
 * start tag with its attributes, a comment) has at most KN_RECORDS_MAX_TAG bytes. expat's memory is not counted by
 * the context: these limits bound it, and the number of different names (KN_RECORDS_MAX_NAMES).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <expat.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_records_collect.h"

enum { PIECE = 1 << 16, DEPTH = KN_RECORDS_MAX_DEPTH };

/* An element that is open. */
typedef struct element {
    int64_t   node;    /* -1: the record, or outside                            */
    int64_t   parent;  /* the node above its children                           */
    int64_t   records; /* outside: how many there were before it                */
    size_t    base;    /* where the path from the node around begins; of a node: its own end */
    bool      text_wanted;
    bool      has_text, has_elements, divided; /* divided: text, then an element */
    kn_buffer text;
} element;

typedef struct xml {
    kn_collector *c;
    XML_Parser    parser;
    kn_status     status;
    kn_error     *err;
    uint64_t      fed, parsed; /* bytes */
    int           depth;
    int           record_depth; /* 0: outside a record                       */
    int           skip_depth;   /* 0: nothing is being skipped               */
    element       open[DEPTH];
    kn_buffer     path;            /* names of open elements, each after a "/"  */
    size_t        path_end[DEPTH]; /* of the path's first elements         */
    kn_buffer     wanted;          /* the record's path, after a "/"       */
    kn_buffer     declared;        /* namespaces of open elements around records (kn_records_namespaces) */
    size_t        declared_end[DEPTH];
} xml;

static int64_t line_of(const xml *x)
{
    return (int64_t)XML_GetCurrentLineNumber(x->parser);
}

static int64_t column_of(const xml *x)
{
    return (int64_t)XML_GetCurrentColumnNumber(x->parser) + 1;
}

/* Ends the parsing. */
static void stop(xml *x, kn_status status)
{
    if (x->status == KN_OK) x->status = status;
    XML_StopParser(x->parser, XML_FALSE);
}

static void refuse(xml *x, const char *what)
{
    if (x->status == KN_OK) stop(x, kn_fail_at(x->err, KN_INPUT, x->c->file, line_of(x), column_of(x), "%s", what));
}

static void no_memory(xml *x)
{
    stop(x, kn_fail_memory(x->err, x->c->ctx, "reading tree records"));
}

/* ---- Attributes ---- */

static const char *value_attribute(const xml *x, int cls)
{
    const char *value = cls >= 0 ? x->c->options->classes[cls].value : NULL;
    if (!value) return "v";
    if (strcmp(value, "text") == 0) return NULL;
    return value[0] == '@' ? value + 1 : value;
}

static kn_status attribute_node(xml *x, int cls, int64_t parent, const char *text)
{
    int64_t node = 0;
    KN_TRY(kn_collector_node(x->c, parent, cls, line_of(x), column_of(x), &node, x->err));
    kn_class_style *style = kn_collector_style(x->c, node);
    if (style) style->attributes = true;
    return kn_collector_value(x->c, node, kn_string_of(text), x->err);
}

/* The class at a path from the node around; -1: none. *wraps: classes may be found inside. */
static int class_at(const xml *x, const char *path, bool *wraps)
{
    const kn_records_options *o = x->c->options;
    size_t                    size = strlen(path);
    *wraps = false;
    for (int i = 0; i < o->class_count; i++) {
        const char *own = o->classes[i].path ? o->classes[i].path : o->classes[i].name;
        if (strncmp(own, path, size) != 0) continue;
        if (own[size] == '\0') return i;
        *wraps = *wraps || (o->classes[i].path && own[size] == '/');
    }
    return -1;
}

/* The attributes of a record (node -1) or of a node of some class. *found: one of them is its value. */
static kn_status read_attributes(xml *x, int64_t node, int cls, const char **attributes, bool *found)
{
    const char *wanted = node >= 0 ? value_attribute(x, cls) : NULL;
    *found = false;
    for (const char **a = attributes; *a; a += 2) {
        if (wanted && strcmp(a[0], wanted) == 0) {
            *found = true;
            KN_TRY(kn_collector_value(x->c, node, kn_string_of(a[1]), x->err));
            continue;
        }
        bool wraps;
        int  other = class_at(x, a[0], &wraps);
        if (other >= 0)
            KN_TRY(attribute_node(x, other, node, a[1]));
        else if (node < 0 && strcmp(a[0], "id") == 0)
            KN_TRY(kn_collector_id(x->c, kn_string_of(a[1]), line_of(x), column_of(x), x->err));
        else
            KN_TRY(kn_collector_ignore(x->c, "@", kn_string_of(a[0]), x->err));
    }
    return KN_OK;
}

/* Is it a declaration of a namespace that a release can keep? */
static bool is_declaration(const char *name, const char *value)
{
    if (strcmp(name, "xmlns") != 0 && strncmp(name, "xmlns:", 6) != 0) return false;
    size_t size = strlen(value);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)value[i] < 0x20) return false;
    return size <= KN_RECORDS_MAX_URI;
}

static bool has_line(const char *lines, const char *line)
{
    size_t size = strlen(line);
    for (; lines && *lines; lines += strcspn(lines, "\n") + 1)
        if (strncmp(lines, line, size) == 0) return true;
    return false;
}

/* The attributes of an element around records: namespaces of the first record's are kept. */
static kn_status outer_attributes(xml *x, const char **attributes)
{
    const char *kept = x->c->records > 0 ? x->c->layout->namespaces : NULL;
    for (const char **a = attributes; *a; a += 2) {
        size_t before = x->declared.size;
        if (is_declaration(a[0], a[1])) {
            kn_buffer_format(&x->declared, "%d\t%s\t%s\n", x->depth, a[0], a[1]);
            if (x->declared.failed) return kn_fail_memory(x->err, x->c->ctx, "reading tree records");
            if (x->c->records == 0 || has_line(kept, x->declared.data + before)) continue;
        }
        KN_TRY(kn_collector_ignore(x->c, "@", kn_string_of(a[0]), x->err));
    }
    return KN_OK;
}

/* Inside skipped elements names are only counted: expat remembers each. */
static kn_status count_names(xml *x, const char *name, const char **attributes)
{
    KN_TRY(kn_collector_count(x->c, kn_string_of(name), x->err));
    for (const char **a = attributes; *a; a += 2) KN_TRY(kn_collector_count(x->c, kn_string_of(a[0]), x->err));
    return KN_OK;
}

/* ---- Elements ---- */

static bool is_record(const xml *x)
{
    return x->path.size >= x->wanted.size &&
           memcmp(x->path.data + x->path.size - x->wanted.size, x->wanted.data, x->wanted.size) == 0;
}

static kn_status begin_record(xml *x, element *e, const char **attributes)
{
    bool found;
    x->record_depth = x->depth;
    if (!x->c->layout->path) {
        x->c->layout->path = kn_strndup(x->c->ctx, x->path.data + 1, x->path.size - 1);
        if (!x->c->layout->path) return kn_fail_memory(x->err, x->c->ctx, "reading tree records");
        if (x->declared.size > 0) x->c->layout->namespaces = kn_strndup(x->c->ctx, x->declared.data, x->declared.size);
        if (x->declared.size > 0 && !x->c->layout->namespaces)
            return kn_fail_memory(x->err, x->c->ctx, "reading tree records");
    }
    *e = (element){.node = -1, .parent = -1, .base = x->path.size, .text = e->text};
    kn_collector_begin(x->c, line_of(x), column_of(x));
    return read_attributes(x, -1, -1, attributes, &found);
}

static kn_status begin_node(xml *x, element *e, int cls, const char **attributes)
{
    int64_t     parent = x->open[x->depth - 2].parent;
    bool        found = false;
    const char *value = cls >= 0 ? x->c->options->classes[cls].value : NULL;
    *e = (element){.base = x->path.size, .text = e->text};
    KN_TRY(kn_collector_node(x->c, parent, cls, line_of(x), column_of(x), &e->node, x->err));
    e->parent = e->node;
    KN_TRY(read_attributes(x, e->node, cls, attributes, &found));
    e->text_wanted = !found && (!value || strcmp(value, "text") == 0);
    kn_class_style *style = kn_collector_style(x->c, e->node);
    if (style) {
        style->elements = true;
        style->in_text |= e->text_wanted;
        style->in_attribute |= found;
    }
    kn_buffer_clear(&e->text);
    return KN_OK;
}

/* An element that is no node, with nodes of the one around it inside. */
static kn_status begin_wrapper(xml *x, element *e, const char **attributes)
{
    const element *around = &x->open[x->depth - 2];
    *e = (element){.node = -1, .parent = around->parent, .base = around->base, .text = e->text};
    for (const char **a = attributes; *a; a += 2) KN_TRY(kn_collector_ignore(x->c, "@", kn_string_of(a[0]), x->err));
    return KN_OK;
}

/* Text beside elements: which of it belongs to what cannot be said. */
static void refuse_mixed(xml *x)
{
    refuse(x, "mixed content: text beside elements; put the text into an element of its own");
}

/* An element begins inside another one of a record. */
static void note_element(xml *x)
{
    element *around = &x->open[x->depth - 2];
    around->has_elements = true;
    around->divided = around->has_text;
    if (around->has_text && !around->text_wanted && !x->c->options->released) refuse_mixed(x);
}

/* Text that is not blank, inside a record. */
static void note_text(xml *x, bool wanted)
{
    element *e = &x->open[x->depth - 1];
    e->has_text = true;
    if (!x->c->options->released && (e->divided || (!wanted && e->has_elements))) refuse_mixed(x);
}

static kn_status begin_element(xml *x, const char *name, const char **attributes)
{
    element *e = &x->open[x->depth - 1];
    if (x->record_depth == 0) {
        if (is_record(x)) return begin_record(x, e, attributes);
        e->records = x->c->records;
        KN_TRY(outer_attributes(x, attributes));
        return kn_collector_count(x->c, kn_string_of(name), x->err);
    }
    note_element(x);
    const char *path = x->path.data + x->open[x->depth - 2].base + 1; /* from the node around */
    bool        wraps;
    int         cls = class_at(x, path, &wraps);
    if (cls >= 0 || strcmp(path, "node") == 0) return begin_node(x, e, cls, attributes);
    if (wraps) return begin_wrapper(x, e, attributes);
    x->skip_depth = x->depth;
    KN_TRY(kn_collector_ignore(x->c, "", kn_string_of(name), x->err));
    return count_names(x, name, attributes);
}

static void XMLCALL on_start(void *state, const char *name, const char **attributes)
{
    xml   *x = state;
    size_t size = strlen(name);
    if (x->status != KN_OK) return;
    if (x->depth >= DEPTH) {
        refuse(x, "elements nest too deeply");
        return;
    }
    kn_buffer_char(&x->path, '/');
    kn_buffer_append(&x->path, name, size + 1); /* with its end, which does not count */
    x->path.size--;
    if (x->path.failed) {
        no_memory(x);
        return;
    }
    x->path_end[x->depth++] = x->path.size;
    kn_status st = x->skip_depth ? count_names(x, name, attributes) : begin_element(x, name, attributes);
    if (st != KN_OK) stop(x, st);
    x->declared_end[x->depth - 1] = x->declared.size;
}

/* A release contains only its nodes: anything between them is reported too. */
static void tell(xml *x, const char *what)
{
    if (x->status != KN_OK || !x->c->options->released) return;
    kn_status st = kn_collector_ignore(x->c, "", kn_string_of(what), x->err);
    if (st != KN_OK) stop(x, st);
}

static bool blank(const char *text, int size)
{
    while (size > 0 && strchr(" \t\r\n", text[size - 1]) && text[size - 1]) size--;
    return size == 0;
}

static void XMLCALL on_text(void *state, const char *text, int size)
{
    xml *x = state;
    bool wanted = x->depth > x->record_depth && x->record_depth > 0 && x->open[x->depth - 1].text_wanted;
    bool said = !x->skip_depth && !blank(text, size);
    if (!wanted && said) tell(x, "text");
    if (x->status == KN_OK && said && x->record_depth > 0) note_text(x, wanted);
    if (x->status != KN_OK || x->record_depth == 0 || x->skip_depth || x->depth <= x->record_depth) return;
    element *e = &x->open[x->depth - 1];
    if (!e->text_wanted) return;
    if (e->text.size + (size_t)size > KN_RECORDS_MAX_TEXT) {
        refuse(x, "a value that is too long");
        return;
    }
    kn_buffer_append(&e->text, text, (size_t)size);
    if (e->text.failed) no_memory(x);
}

static void XMLCALL on_end(void *state, const char *name)
{
    xml      *x = state;
    kn_status st = KN_OK;
    if (x->status != KN_OK) return;
    element *e = &x->open[x->depth - 1];
    if (x->skip_depth == x->depth) {
        x->skip_depth = 0;
    } else if (x->skip_depth) {
        /* nothing was gathered */
    } else if (x->record_depth == 0) {
        /* Elements around records are not reported. */
        if (e->records == x->c->records) st = kn_collector_ignore(x->c, "", kn_string_of(name), x->err);
    } else if (x->depth == x->record_depth) {
        x->record_depth = 0;
        if (e->has_text) st = kn_collector_ignore(x->c, "", kn_string_of("text"), x->err);
        if (st == KN_OK) st = kn_collector_end(x->c, x->err);
    } else if (!e->text_wanted && e->has_text) {
        st = kn_collector_ignore(x->c, "", kn_string_of("text"), x->err);
    } else if (e->text_wanted) {
        st = kn_collector_value(x->c, e->node, (kn_string){e->text.data ? e->text.data : "", e->text.size}, x->err);
    }
    x->depth--;
    x->path.size = x->depth ? x->path_end[x->depth - 1] : 0;
    x->declared.size = x->depth ? x->declared_end[x->depth - 1] : 0;
    if (st != KN_OK) stop(x, st);
}

/* ---- What a document must not bring ---- */

static void XMLCALL on_comment(void *state, const char *text)
{
    (void)text;
    tell(state, "comment");
}

static void XMLCALL on_instruction(void *state, const char *target, const char *text)
{
    (void)target, (void)text;
    tell(state, "processing instruction");
}

static void XMLCALL on_doctype(void *state, const char *name, const char *system, const char *public, int internal)
{
    (void)name;
    (void)internal;
    tell(state, "DOCTYPE");
    if (system || public) refuse(state, "a DOCTYPE that names another file");
}

static void XMLCALL on_entity(void *state, const char *name, int parameter, const char *value, int size,
                              const char *base, const char *system, const char *public, const char *notation)
{
    (void)name, (void)parameter, (void)value, (void)size, (void)base, (void)system, (void)public, (void)notation;
    refuse(state, "a document that defines entities");
}

static void XMLCALL on_skipped(void *state, const char *name, int parameter)
{
    (void)name, (void)parameter;
    refuse(state, "an entity other than the five of XML");
}

static int XMLCALL on_external(XML_Parser parser, const char *context, const char *base, const char *system,
                               const char *public)
{
    (void)parser, (void)context, (void)base, (void)system, (void)public;
    return XML_STATUS_ERROR; /* never opened */
}

/* ---- The file ---- */

static kn_status parse_error(const xml *x, kn_error *err)
{
    enum XML_Error code = XML_GetErrorCode(x->parser);
    if (code == XML_ERROR_NO_MEMORY) return kn_fail_memory(err, x->c->ctx, "reading tree records");
    if (code == XML_ERROR_UNDEFINED_ENTITY || code == XML_ERROR_EXTERNAL_ENTITY_HANDLING)
        return kn_fail_at(err, KN_INPUT, x->c->file, line_of(x), column_of(x), "an entity other than the five of XML");
    return kn_fail_at(err, KN_INPUT, x->c->file, line_of(x), column_of(x), "not XML: %s", XML_ErrorString(code));
}

static kn_status parse(xml *x, kn_error *err)
{
    size_t got = PIECE;
    while (got == PIECE) {
        char *buffer = XML_GetBuffer(x->parser, PIECE);
        if (!buffer) return kn_fail_memory(err, x->c->ctx, "reading tree records");
        KN_TRY(kn_source_read(x->c->source, buffer, PIECE, &got, err));
        kn_progress_add(x->c->ctx, got);
        x->fed += got;
        enum XML_Status st = XML_ParseBuffer(x->parser, (int)got, got < PIECE);
        if (x->status != KN_OK) return x->status;
        if (st != XML_STATUS_OK) return parse_error(x, err);
        /* expat tries again only when there is much more input; until then it has no position and made no progress. */
        XML_Index at = XML_GetCurrentByteIndex(x->parser);
        if (at >= 0) x->parsed = (uint64_t)at;
        if (got == PIECE && x->fed - x->parsed > KN_RECORDS_MAX_TAG)
            return kn_fail_at(err, KN_INPUT, x->c->file, line_of(x), column_of(x),
                              "an element's start, a comment or the like of more than %d bytes", KN_RECORDS_MAX_TAG);
    }
    if (!kn_collector_none(x->c)) return KN_OK;
    return kn_fail_at(err, KN_INPUT, x->c->file, 0, 0, "there is no element <%s> that would be a record",
                      x->c->options->record ? x->c->options->record : "record");
}

static void set_handlers(xml *x)
{
    XML_SetUserData(x->parser, x);
    XML_SetElementHandler(x->parser, on_start, on_end);
    XML_SetCharacterDataHandler(x->parser, on_text);
    XML_SetCommentHandler(x->parser, on_comment);
    XML_SetProcessingInstructionHandler(x->parser, on_instruction);
    XML_SetStartDoctypeDeclHandler(x->parser, on_doctype);
    XML_SetEntityDeclHandler(x->parser, on_entity);
    XML_SetSkippedEntityHandler(x->parser, on_skipped);
    XML_SetExternalEntityRefHandler(x->parser, on_external);
    XML_SetParamEntityParsing(x->parser, XML_PARAM_ENTITY_PARSING_NEVER);
}

kn_status kn_xml_read(kn_collector *c, kn_error *err)
{
    const char *record = c->options->record ? c->options->record : "record";
    xml        *x = kn_alloc_zero(c->ctx, sizeof *x);
    if (!x) return kn_fail_memory(err, c->ctx, "reading tree records");
    x->c = c;
    x->err = err;
    kn_buffer_init(&x->path, c->ctx);
    kn_buffer_init(&x->wanted, c->ctx);
    kn_buffer_init(&x->declared, c->ctx);
    for (int i = 0; i < DEPTH; i++) kn_buffer_init(&x->open[i].text, c->ctx);
    kn_buffer_add(&x->wanted, record[0] == '/' ? "" : "/");
    kn_buffer_add(&x->wanted, record);
    x->parser = XML_ParserCreate(NULL);
    kn_status st = KN_OK;
    if (!x->parser || x->wanted.failed) {
        st = kn_fail_memory(err, c->ctx, "reading tree records");
    } else {
        set_handlers(x);
        st = parse(x, err);
    }
    if (x->parser) XML_ParserFree(x->parser);
    for (int i = 0; i < DEPTH; i++) kn_buffer_free(&x->open[i].text);
    kn_buffer_free(&x->path);
    kn_buffer_free(&x->wanted);
    kn_buffer_free(&x->declared);
    kn_free(x);
    return st;
}
