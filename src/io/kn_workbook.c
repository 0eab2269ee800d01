/* kn_workbook.c: the archive of a workbook, and what its cells refer to: sheets, shared strings, styles. Interface:
 * kn_workbook_internal.h; the cells are in kn_workbook_sheet.c.
 *
 * A file may be hostile: each part is inflated piece by piece, never more of it than its directory says; a part that
 * claims to be larger than 4 GiB, or more than 500 times its compressed size, is refused, as are document types and
 * entities. Macros, formulas and charts are never looked at. expat's memory is bounded by the size of a tag.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_workbook_internal.h"

enum { PIECE = 1 << 16, MOST_TAG = 1 << 20, FREE_SIZE = 1 << 24, MOST_RATIO = 500 };
static const uint64_t most_part = UINT64_C(1) << 32;

/* ---- Parts ---- */

static kn_status damaged(const kn_part *p, kn_error *err)
{
    return kn_fail(err, KN_INPUT, "%s: the workbook is damaged or cut short", p->name);
}

void kn_part_fail(kn_part *p, kn_status status)
{
    if (p->status == KN_OK) p->status = status;
    XML_StopParser(p->parser, XML_FALSE);
}

static void XMLCALL on_doctype(void *user, const char *name, const char *system, const char *public, int internal)
{
    kn_part *p = user;
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    if (p->status == KN_OK)
        kn_part_fail(p, kn_fail(p->err, KN_INPUT, "%s: a part has a document type, which workbooks have not", p->name));
}

const char *kn_part_local(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

const char *kn_part_attribute(const char *const *attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    return NULL;
}

kn_status kn_part_open(kn_part *p, kn_context *ctx, const char *name, unzFile zip, const char *path, void *user,
                       XML_StartElementHandler start, XML_EndElementHandler end, XML_CharacterDataHandler text,
                       kn_error *err)
{
    unz_file_info64 info;
    *p = (kn_part){.ctx = ctx, .name = name, .zip = zip, .user = user};
    if (unzLocateFile(zip, path, 2) != UNZ_OK) return kn_fail(err, KN_INPUT, "%s: a part of it is missing", name);
    if (unzGetCurrentFileInfo64(zip, &info, NULL, 0, NULL, 0, NULL, 0) != UNZ_OK) return damaged(p, err);
    uint64_t size = info.uncompressed_size, packed = info.compressed_size;
    if (size > most_part || (size > FREE_SIZE && size / MOST_RATIO > packed))
        return kn_fail(err, KN_INPUT, "%s: a part of it claims to be too large; save the sheet as CSV (UTF-8)", name);
    if (info.flag & 1)
        return kn_fail(err, KN_INPUT, "%s: it is encrypted; save it without a password, or as CSV (UTF-8)", name);
    if (unzOpenCurrentFile(zip) != UNZ_OK) return damaged(p, err);
    p->open = true;
    p->parser = XML_ParserCreate(NULL);
    if (!p->parser) {
        kn_part_close(p);
        return kn_fail_memory(err, ctx, name);
    }
    XML_SetUserData(p->parser, p);
    XML_SetElementHandler(p->parser, start, end);
    XML_SetCharacterDataHandler(p->parser, text);
    XML_SetStartDoctypeDeclHandler(p->parser, on_doctype);
    return KN_OK;
}

kn_status kn_part_step(kn_part *p, kn_error *err)
{
    p->err = err;
    if (kn_cancelled(p->ctx)) return kn_fail_cancelled(err);
    void *buffer = XML_GetBuffer(p->parser, PIECE);
    if (!buffer) return kn_fail_memory(err, p->ctx, p->name);
    int got = unzReadCurrentFile(p->zip, buffer, PIECE);
    if (got < 0) return damaged(p, err);
    if (got == 0) { /* the checksum is compared when it is closed */
        p->open = false;
        if (unzCloseCurrentFile(p->zip) != UNZ_OK) return damaged(p, err);
    }
    p->fed += (uint64_t)got;
    p->ended = got == 0;
    enum XML_Status done = XML_ParseBuffer(p->parser, got, got == 0);
    if (p->status != KN_OK) return p->status;
    if (done != XML_STATUS_OK && XML_GetErrorCode(p->parser) == XML_ERROR_NO_MEMORY)
        return kn_fail_memory(err, p->ctx, p->name);
    if (done != XML_STATUS_OK) return damaged(p, err);
    XML_Index at = XML_GetCurrentByteIndex(p->parser);
    return at >= 0 && p->fed - (uint64_t)at > MOST_TAG + PIECE ? damaged(p, err) : KN_OK;
}

void kn_part_close(kn_part *p)
{
    if (p->parser) XML_ParserFree(p->parser);
    if (p->open) (void)unzCloseCurrentFile(p->zip);
    p->parser = NULL;
    p->open = false;
}

static kn_status parse(kn_workbook *b, const char *path, void *user, XML_StartElementHandler start,
                       XML_EndElementHandler end, XML_CharacterDataHandler text, kn_error *err)
{
    kn_part   p;
    kn_status status = kn_part_open(&p, b->ctx, b->name, b->zip, path, user, start, end, text, err);
    while (status == KN_OK && !p.ended) status = kn_part_step(&p, err);
    kn_part_close(&p);
    return status;
}

static char *keep(kn_part *p, kn_workbook *b, const char *text)
{
    char *copy = kn_arena_strndup(&b->arena, text, strlen(text));
    if (!copy) kn_part_fail(p, kn_fail_memory(p->err, b->ctx, b->name));
    return copy;
}

/* ---- Sheets ---- */

static void XMLCALL on_sheet(void *user, const char *element, const char **attributes)
{
    kn_part     *p = user;
    kn_workbook *b = p->user;
    const char  *local = kn_part_local(element), *id = NULL, *name = kn_part_attribute(attributes, "name");
    const char  *old = kn_part_attribute(attributes, "date1904");
    if (strcmp(local, "workbookPr") == 0 && old) b->from_1904 = strcmp(old, "1") == 0 || strcmp(old, "true") == 0;
    if (strcmp(local, "sheet") != 0) return;
    for (const char **a = attributes; *a; a += 2)
        if (strcmp(kn_part_local(a[0]), "id") == 0 && strchr(a[0], ':')) id = a[1];
    b->sheets++;
    if (id && name && (b->sheet ? strcmp(name, b->sheet) == 0 : b->sheets == 1)) b->sheet_id = keep(p, b, id);
}

static void XMLCALL on_relation(void *user, const char *element, const char **attributes)
{
    kn_part     *p = user;
    kn_workbook *b = p->user;
    const char  *id = kn_part_attribute(attributes, "Id"), *target = kn_part_attribute(attributes, "Target");
    if (strcmp(kn_part_local(element), "Relationship") != 0 || !id || !target || strcmp(id, b->sheet_id) != 0) return;
    size_t room = strlen(target) + 4;
    b->sheet_path = kn_arena_alloc(&b->arena, room);
    if (!b->sheet_path)
        kn_part_fail(p, kn_fail_memory(p->err, b->ctx, b->name));
    else
        snprintf(b->sheet_path, room, "%s%s", *target == '/' ? "" : "xl/", *target == '/' ? target + 1 : target);
}

static void XMLCALL ignore_end(void *user, const char *element)
{
    (void)user;
    (void)element;
}

static void XMLCALL ignore_text(void *user, const char *text, int size)
{
    (void)user;
    (void)text;
    (void)size;
}

static kn_status find_sheet(kn_workbook *b, kn_error *err)
{
    KN_TRY(parse(b, "xl/workbook.xml", b, on_sheet, ignore_end, ignore_text, err));
    if (!b->sheet && b->sheets > 1)
        return kn_fail(err, KN_USAGE, "%s: it has %d sheets; name one: FILE.xlsx#SHEET", b->name, b->sheets);
    if (!b->sheet_id) return kn_fail(err, KN_INPUT, "%s: there is no sheet of that name", b->name);
    KN_TRY(parse(b, "xl/_rels/workbook.xml.rels", b, on_relation, ignore_end, ignore_text, err));
    return b->sheet_path ? KN_OK : kn_fail(err, KN_INPUT, "%s: the sheet is not in it", b->name);
}

/* ---- Shared strings ---- */

typedef struct sharing {
    kn_workbook *book;
    kn_buffer    text;
    int          phonetic; /* depth of <rPh>, whose text is a reading aid */
    bool         inside;   /* a <t> */
} sharing;

static void XMLCALL shared_start(void *user, const char *element, const char **attributes)
{
    kn_part    *p = user;
    sharing    *s = p->user;
    const char *local = kn_part_local(element);
    (void)attributes;
    if (strcmp(local, "si") == 0) kn_buffer_clear(&s->text);
    if (strcmp(local, "rPh") == 0) s->phonetic++;
    s->inside = strcmp(local, "t") == 0 && s->phonetic == 0;
}

static void XMLCALL shared_end(void *user, const char *element)
{
    kn_part     *p = user;
    sharing     *s = p->user;
    kn_workbook *b = s->book;
    const char  *local = kn_part_local(element);
    void        *strings = b->strings;
    s->inside = false;
    if (strcmp(local, "rPh") == 0) s->phonetic--;
    if (strcmp(local, "si") != 0) return;
    char *copy = kn_arena_strndup(&b->arena, s->text.data ? s->text.data : "", s->text.size);
    bool  good = copy && !s->text.failed &&
                kn_grow(b->ctx, &strings, &b->string_capacity, b->string_count + 1, sizeof *b->strings);
    b->strings = strings;
    if (good)
        b->strings[b->string_count++] = (kn_string){copy, s->text.size};
    else
        kn_part_fail(p, kn_fail_memory(p->err, b->ctx, b->name));
}

static void XMLCALL shared_text(void *user, const char *text, int size)
{
    kn_part *p = user;
    sharing *s = p->user;
    if (s->inside) kn_buffer_append(&s->text, text, (size_t)size);
}

static kn_status read_strings(kn_workbook *b, kn_error *err)
{
    sharing s = {.book = b};
    if (unzLocateFile(b->zip, "xl/sharedStrings.xml", 2) != UNZ_OK) return KN_OK;
    kn_buffer_init(&s.text, b->ctx);
    kn_status status = parse(b, "xl/sharedStrings.xml", &s, shared_start, shared_end, shared_text, err);
    kn_buffer_free(&s.text);
    return status;
}

/* ---- Styles ---- */

typedef struct styling {
    kn_workbook *book;
    bool         cells; /* inside <cellXfs> */
    struct {
        long          id;
        unsigned char style;
    } formats[512];
    int format_count;
} styling;

/* A format code of a date or time; what is in quotes or brackets, or escaped, does not count. [h] is a duration: a number. */
static kn_cell_style style_of(const char *code)
{
    bool day = false, time = false;
    for (const char *c = code; *c && *c != ';'; c++) {
        if (*c == '\\' || *c == '_' || *c == '*') c += c[1] != '\0';
        if (*c == '"' || *c == '[') {
            const char *end = strchr(c + 1, *c == '"' ? '"' : ']');
            if (*c == '[' && end && end - c == 2 && strchr("hmsHMS", c[1])) return KN_CELL_NUMBER;
            if (!end) break;
            c = end;
            continue;
        }
        if (strchr("yYdD", *c)) day = true;
        if (strchr("hHsS", *c)) time = true;
        if (*c == 'G' || *c == 'g') return KN_CELL_NUMBER; /* General */
    }
    return day ? KN_CELL_DATE : time ? KN_CELL_TIME : KN_CELL_NUMBER;
}

static kn_cell_style style_by_number(const styling *s, long id)
{
    for (int i = 0; i < s->format_count; i++)
        if (s->formats[i].id == id) return (kn_cell_style)s->formats[i].style;
    if ((id >= 14 && id <= 17) || id == 22) return KN_CELL_DATE;
    return (id >= 18 && id <= 21) || id == 45 || id == 47 ? KN_CELL_TIME : KN_CELL_NUMBER;
}

static void XMLCALL style_start(void *user, const char *element, const char **attributes)
{
    kn_part     *p = user;
    styling     *s = p->user;
    kn_workbook *b = s->book;
    const char  *local = kn_part_local(element), *id = kn_part_attribute(attributes, "numFmtId"),
               *code = kn_part_attribute(attributes, "formatCode");
    void *styles = b->styles;
    if (strcmp(local, "cellXfs") == 0) s->cells = true;
    if (strcmp(local, "numFmt") == 0 && id && code && s->format_count < 512) {
        s->formats[s->format_count].id = strtol(id, NULL, 10);
        s->formats[s->format_count++].style = (unsigned char)style_of(code);
    }
    if (!s->cells || strcmp(local, "xf") != 0) return;
    if (!kn_grow(b->ctx, &styles, &b->style_capacity, b->style_count + 1, 1)) {
        kn_part_fail(p, kn_fail_memory(p->err, b->ctx, b->name));
        return;
    }
    b->styles = styles;
    b->styles[b->style_count++] = (unsigned char)style_by_number(s, id ? strtol(id, NULL, 10) : 0);
}

static void XMLCALL style_end(void *user, const char *element)
{
    kn_part *p = user;
    styling *s = p->user;
    if (strcmp(kn_part_local(element), "cellXfs") == 0) s->cells = false;
}

static kn_status read_styles(kn_workbook *b, kn_error *err)
{
    styling s = {.book = b};
    if (unzLocateFile(b->zip, "xl/styles.xml", 2) != UNZ_OK) return KN_OK;
    return parse(b, "xl/styles.xml", &s, style_start, style_end, ignore_text, err);
}

/* ---- The workbook ---- */

void kn_workbook_close(kn_workbook *b)
{
    if (b->zip) (void)unzClose(b->zip);
    kn_arena_free(&b->arena);
    KN_FREE(b->strings, b->styles, b->path, b->sheet, b->name, b);
}

static kn_status open_book(kn_workbook *b, const char *name, kn_error *err)
{
    kn_string     file = kn_table_file(name);
    kn_name_parts parts = kn_table_name_split(name);
    bool          named = parts.table.size > 0 && file.size < strlen(name);
    b->path = kn_strndup(b->ctx, file.data, file.size);
    b->name = kn_strndup(b->ctx, name, strlen(name));
    if (named) b->sheet = kn_table_unquote(b->ctx, parts.table);
    if (!b->path || !b->name || (named && !b->sheet)) return kn_fail_memory(err, b->ctx, "reading a workbook");
    const char *path = kn_memory_path(b->ctx, b->path);
    FILE       *there = fopen(path, "rb");
    char        begin[8] = "";
    if (!there) return kn_fail(err, KN_INPUT, "%s: cannot be opened", b->path);
    bool other = fread(begin, 1, sizeof begin, there) == sizeof begin &&
                 memcmp(begin, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", sizeof begin) == 0;
    (void)fclose(there);
    b->zip = unzOpen64(path);
    if (!b->zip)
        return kn_fail(
            err, KN_INPUT, "%s: %s", b->path,
            other ? "a workbook with a password, or of the older form .xls; save it as .xlsx without a password"
                  : "not a workbook (.xlsx), or a damaged one");
    KN_TRY(find_sheet(b, err));
    KN_TRY(read_strings(b, err));
    return read_styles(b, err);
}

kn_status kn_workbook_open(kn_workbook **out, kn_context *ctx, const char *name, kn_error *err)
{
    kn_workbook *b = kn_alloc_zero(ctx, sizeof *b);
    if (!b) return kn_fail_memory(err, ctx, "reading a workbook");
    b->ctx = ctx;
    kn_arena_init(&b->arena, ctx);
    kn_status status = open_book(b, name, err);
    if (status == KN_OK)
        *out = b;
    else
        kn_workbook_close(b);
    return status;
}
