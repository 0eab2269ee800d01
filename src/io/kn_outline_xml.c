/* kn_outline_xml.c: the elements and attributes of an XML file, and how they nest, by expat. Interface: kn_outline.h.
 *
 * What a document must not contain (definitions, references to other files) is refused as in kn_xml_read.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <expat.h>
#include <string.h>

#include "kn_context.h"
#include "kn_error.h"
#include "kn_outline.h"
#include "kn_records_scan.h"

enum { PIECE = 1 << 16, DEPTH = KN_RECORDS_MAX_DEPTH };

typedef struct looking {
    kn_outline *o;
    XML_Parser  parser;
    kn_status   status;
    kn_error   *err;
    int         depth;
    int         open[DEPTH]; /* nodes                        */
    bool        text[DEPTH]; /* it has a text                */
} looking;

static void stop(looking *l, kn_status status)
{
    if (l->status == KN_OK) l->status = status;
    XML_StopParser(l->parser, XML_FALSE);
}

static void refuse(looking *l, const char *what)
{
    if (l->status != KN_OK) return;
    stop(l, kn_fail_at(l->err, KN_INPUT, l->o->file, (int64_t)XML_GetCurrentLineNumber(l->parser),
                       (int64_t)XML_GetCurrentColumnNumber(l->parser) + 1, "%s", what));
}

static kn_status enter(looking *l, const char *name, const char **attributes)
{
    int node, child, parent = l->depth > 0 ? l->open[l->depth - 1] : -1;
    KN_TRY(kn_outline_enter(&node, l->o, parent, kn_string_of(name), false, l->err));
    l->open[l->depth] = node;
    l->text[l->depth] = false;
    l->depth++;
    for (const char **a = attributes; *a; a += 2) {
        if (strncmp(a[0], "xmlns", 5) == 0) continue;
        KN_TRY(kn_outline_enter(&child, l->o, node, kn_string_of(a[0]), true, l->err));
        l->o->nodes[child].valued += a[1][strspn(a[1], " \t\r\n")] != '\0';
    }
    return KN_OK;
}

static void XMLCALL on_start(void *state, const char *name, const char **attributes)
{
    looking *l = state;
    if (l->status != KN_OK) return;
    if (l->depth >= DEPTH) {
        refuse(l, "elements nest too deeply");
        return;
    }
    kn_status st = enter(l, name, attributes);
    if (st != KN_OK) stop(l, st);
}

static void XMLCALL on_end(void *state, const char *name)
{
    looking *l = state;
    (void)name;
    if (l->status != KN_OK) return;
    l->depth--;
    l->o->nodes[l->open[l->depth]].valued += l->text[l->depth];
}

static void XMLCALL on_text(void *state, const char *text, int size)
{
    looking *l = state;
    if (l->status != KN_OK || l->depth == 0) return;
    for (int i = 0; i < size; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n') l->text[l->depth - 1] = true;
}

static void XMLCALL on_entity(void *state, const char *name, int parameter, const char *value, int size,
                              const char *base, const char *system, const char *public, const char *notation)
{
    (void)name, (void)parameter, (void)value, (void)size, (void)base, (void)system, (void)public, (void)notation;
    refuse(state, "a document that defines entities");
}

static kn_status parse(looking *l, kn_source *source, kn_error *err)
{
    size_t   got = PIECE;
    uint64_t fed = 0, parsed = 0;
    while (got == PIECE) {
        char *buffer = XML_GetBuffer(l->parser, PIECE);
        if (!buffer) return kn_fail_memory(err, l->o->ctx, "looking at tree records");
        if (kn_cancelled(l->o->ctx)) return kn_fail_cancelled(err);
        KN_TRY(kn_source_read(source, buffer, PIECE, &got, err));
        enum XML_Status st = XML_ParseBuffer(l->parser, (int)got, got < PIECE);
        if (l->status != KN_OK) return l->status;
        if (st != XML_STATUS_OK)
            return kn_fail_at(err, KN_INPUT, l->o->file, (int64_t)XML_GetCurrentLineNumber(l->parser),
                              (int64_t)XML_GetCurrentColumnNumber(l->parser) + 1, "not XML: %s",
                              XML_ErrorString(XML_GetErrorCode(l->parser)));
        /* As in kn_xml_read.c: expat has no position while it waits for the rest of a long token. */
        XML_Index at = XML_GetCurrentByteIndex(l->parser);
        fed += got;
        if (at >= 0) parsed = (uint64_t)at;
        if (got == PIECE && fed - parsed > KN_RECORDS_MAX_TAG)
            return kn_fail_at(err, KN_INPUT, l->o->file, (int64_t)XML_GetCurrentLineNumber(l->parser),
                              (int64_t)XML_GetCurrentColumnNumber(l->parser) + 1,
                              "an element's start, a comment or the like of more than %d bytes", KN_RECORDS_MAX_TAG);
    }
    return KN_OK;
}

kn_status kn_outline_xml(kn_outline *o, kn_source *source, kn_error *err)
{
    looking l = {.o = o, .err = err, .parser = XML_ParserCreate(NULL)};
    if (!l.parser) return kn_fail_memory(err, o->ctx, "looking at tree records");
    XML_SetUserData(l.parser, &l);
    XML_SetElementHandler(l.parser, on_start, on_end);
    XML_SetCharacterDataHandler(l.parser, on_text);
    XML_SetEntityDeclHandler(l.parser, on_entity);
    XML_SetParamEntityParsing(l.parser, XML_PARAM_ENTITY_PARSING_NEVER);
    kn_status st = parse(&l, source, err);
    XML_ParserFree(l.parser);
    return st;
}
