/* kn_hierarchy_file.c: hierarchy files, one line per leaf: "leaf;parent;...;root".
 *
 * The text is read as CSV (RFC 4180) without a header. Lines of different lengths meet at the root: a shorter line is
 * a leaf higher up. Blank lines are skipped. The delimiter, if not given, is the first of ; tab | , that splits every
 * line and leaves the same last field on all of them.
 *
 * Cost: one pass over the text (up to five to find the delimiter). Limits: 1 GiB, KN_HIERARCHY_MAX_LEVELS fields a
 * line. Columns in messages are characters, counted from 1.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_hierarchy_file.h"

#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_csv_scan.h"
#include "kn_error.h"
#include "kn_output.h"
#include "kn_source.h"
#include "kn_utf8.h"

enum { LARGEST_FILE = 1 << 30 };

/* A place in the text that only moves forward. */
typedef struct cursor {
    const char *text;
    size_t      size, at;
    int64_t     line, column;
} cursor;

static void cursor_move(cursor *c, size_t to)
{
    for (; c->at < to; c->at++) {
        unsigned char byte = (unsigned char)c->text[c->at];
        if (byte == '\n' || (byte == '\r' && !(c->at + 1 < c->size && c->text[c->at + 1] == '\n'))) {
            c->line++;
            c->column = 1;
        } else if ((byte & 0xc0) != 0x80) {
            c->column++;
        }
    }
}

kn_status kn_hierarchy_check_text(const char *name, const char **text, size_t *size, kn_error *err)
{
    if (*size > LARGEST_FILE) return kn_fail_at(err, KN_INPUT, name, 0, 0, "larger than 1 GiB");
    if (*size >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0) {
        *text += 3;
        *size -= 3;
    }
    size_t good = kn_utf8_check(*text, *size);
    if (good == *size) return KN_OK;
    cursor c = {*text, *size, 0, 1, 1};
    cursor_move(&c, good);
    return kn_fail_at(err, KN_INPUT, name, c.line, c.column, "not UTF-8 text");
}

/* ---- The delimiter ---- */

static const char candidates[] = ";\t|,"; /* in the order they are tried */

typedef enum split { SPLIT_NO, SPLIT_EVERY_LINE, SPLIT_ONE_ROOT } split;

/* A quote inside an unquoted field: legal, but more often a quoted field of another delimiter. */
static bool odd_quote(const char *text, const kn_csv_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool quoted = fields[i].begin > 0 && text[fields[i].begin - 1] == '"';
        if (!quoted && fields[i].size && memchr(text + fields[i].begin, '"', fields[i].size)) return true;
    }
    return false;
}

static split try_delimiter(const char *text, size_t size, char delimiter)
{
    kn_csv_scanner scanner;
    kn_csv_field   fields[KN_HIERARCHY_MAX_LEVELS], root = {0, 0, 0};
    split          result = SPLIT_ONE_ROOT;
    kn_csv_scanner_init(&scanner, text, size, true, delimiter, 0);
    for (bool first = true;; first = false) {
        size_t count = 0;
        if (kn_csv_scan_any(&scanner, fields, KN_HIERARCHY_MAX_LEVELS, &count) != KN_CSV_OK) return SPLIT_NO;
        if (count == 0) return first ? SPLIT_NO : result;
        if (count == 1) return SPLIT_NO;
        kn_csv_field last = fields[count - 1];
        if (first)
            root = last;
        else if (root.size != last.size || memcmp(text + root.begin, text + last.begin, root.size) != 0)
            result = SPLIT_EVERY_LINE;
        if (odd_quote(text, fields, count)) result = SPLIT_EVERY_LINE;
    }
}

static char sniff(const char *text, size_t size)
{
    char  found = ';';
    split best = SPLIT_NO;
    for (const char *c = candidates; *c && best != SPLIT_ONE_ROOT; c++) {
        split s = try_delimiter(text, size, *c);
        if (s <= best) continue;
        best = s;
        found = *c;
    }
    return found;
}

/* ---- Reading ---- */

typedef struct reader {
    const char         *name;
    cursor              place;
    kn_hierarchy_maker *maker;
    kn_buffer           undoubled; /* labels that held doubled quotes */
    kn_csv_scanner      scanner;
    kn_csv_field        fields[KN_HIERARCHY_MAX_LEVELS];
    kn_path_field       path[KN_HIERARCHY_MAX_LEVELS];
} reader;

static kn_status fail_scan(reader *r, kn_csv_result result, kn_error *err)
{
    cursor_move(&r->place, r->scanner.error_at);
    const char *what = "this line cannot be read";
    if (result == KN_CSV_TOO_MANY)
        return kn_fail_at(err, KN_INPUT, r->name, r->place.line, 0, "more than %d fields", KN_HIERARCHY_MAX_LEVELS);
    if (result == KN_CSV_AFTER_QUOTE) what = "text after a closing quote";
    if (result == KN_CSV_UNTERMINATED) what = "a quote is opened here and never closed";
    return kn_fail_at(err, KN_INPUT, r->name, r->place.line, r->place.column, "%s", what);
}

/* Turns the scanned fields into a path. Labels point into the text, or into `undoubled`, which was made large enough
 * before so that it does not move. */
static kn_status read_path(reader *r, size_t count, kn_error *err)
{
    size_t room = 0;
    for (size_t i = 0; i < count; i++) room += r->fields[i].doubled ? r->fields[i].size : 0;
    kn_buffer_clear(&r->undoubled);
    if (room && !kn_buffer_reserve(&r->undoubled, room))
        return kn_fail_memory(err, r->undoubled.ctx, "reading a hierarchy");
    for (size_t i = 0; i < count; i++) {
        const kn_csv_field *f = &r->fields[i];
        const char         *text = r->place.text + f->begin;
        size_t              size = f->size;
        bool                quoted = f->begin > 0 && text[-1] == '"';
        cursor_move(&r->place, f->begin - quoted);
        if (f->doubled) {
            char *copy = r->undoubled.data + r->undoubled.size;
            size = kn_csv_undouble(copy, text, size);
            r->undoubled.size += size;
            text = copy;
        }
        r->path[i] = (kn_path_field){{text, size}, r->place.line, r->place.column};
        if (size == 0 && i > 0)
            return kn_fail_at(err, KN_INPUT, r->name, r->place.line, r->place.column, "field %zu: an empty label",
                              i + 1);
    }
    if (count == 1)
        return kn_fail_at(err, KN_INPUT, r->name, r->path[0].line, r->path[0].column,
                          "one field only; a line holds a leaf and what it becomes, up to the root");
    return kn_hierarchy_maker_add(r->maker, r->path, (uint32_t)count, err);
}

static kn_status read_lines(reader *r, kn_error *err)
{
    for (bool first = true;; first = false) {
        size_t        count = 0;
        kn_csv_result result = kn_csv_scan_any(&r->scanner, r->fields, KN_HIERARCHY_MAX_LEVELS, &count);
        if (result != KN_CSV_OK) return fail_scan(r, result, err);
        if (count == 0) return first ? kn_fail_at(err, KN_INPUT, r->name, 0, 0, "the hierarchy is empty") : KN_OK;
        KN_TRY(read_path(r, count, err));
    }
}

kn_status kn_hierarchy_parse(kn_hierarchy **out, kn_context *ctx, const char *name, const char *text, size_t size,
                             char delimiter, kn_error *err)
{
    if (delimiter == '"' || delimiter == '\n' || delimiter == '\r' || (unsigned char)delimiter >= 0x80)
        return kn_fail(err, KN_USAGE, "a delimiter is one ASCII character, not a quote or a line end");
    KN_TRY(kn_hierarchy_check_text(name, &text, &size, err));
    if (delimiter == 0) delimiter = sniff(text, size);
    reader *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, ctx, "reading a hierarchy");
    r->name = name;
    r->place = (cursor){text, size, 0, 1, 1};
    kn_buffer_init(&r->undoubled, ctx);
    kn_csv_scanner_init(&r->scanner, text, size, true, delimiter, 0);
    kn_status status = kn_hierarchy_maker_create(&r->maker, ctx, name, false, err);
    if (status == KN_OK) status = kn_hierarchy_maker_finish(out, r->maker, NULL, read_lines(r, err), err);
    kn_buffer_free(&r->undoubled);
    kn_free(r);
    return status;
}

static kn_status read_all(kn_source *source, kn_buffer *text, kn_error *err)
{
    KN_TRY(kn_source_read_all(source, text, LARGEST_FILE, err));
    if (text->size <= LARGEST_FILE) return KN_OK;
    return kn_fail_at(err, KN_INPUT, kn_source_name(source), 0, 0, "larger than 1 GiB");
}

kn_status kn_hierarchy_read_file(kn_hierarchy **out, kn_context *ctx, const kn_hierarchy_spec *spec, kn_error *err)
{
    if (!spec->path) return kn_fail(err, KN_USAGE, "a hierarchy file needs a path");
    kn_source *source = NULL;
    kn_buffer  text;
    kn_buffer_init(&text, ctx);
    KN_TRY(kn_source_open(&source, ctx, spec->path, err));
    kn_status status = read_all(source, &text, err);
    if (status == KN_OK && spec->kind == KN_HIERARCHY_TAXONOMY)
        status = kn_taxonomy_parse(out, ctx, kn_source_name(source), text.data, text.size, err);
    else if (status == KN_OK)
        status = kn_hierarchy_parse(out, ctx, kn_source_name(source), text.data, text.size, spec->delimiter, err);
    kn_buffer_free(&text);
    kn_source_free(source);
    return status;
}

/* ---- Writing ---- */

/* Also quotes what would mislead the search for the delimiter (those tried before it), or look like a byte order
 * mark. */
static void append_field(kn_buffer *out, kn_string label, char delimiter)
{
    const char *rank = strchr(candidates, delimiter);
    size_t      before = rank ? (size_t)(rank - candidates) : 0;
    bool        quote = label.size >= 3 && memcmp(label.data, "\xef\xbb\xbf", 3) == 0;
    for (size_t i = 0; !quote && i < label.size; i++) {
        char c = label.data[i];
        quote = c == delimiter || c == '"' || c == '\r' || c == '\n' || memchr(candidates, c, before);
    }
    if (!quote) {
        kn_buffer_append(out, label.data, label.size);
        return;
    }
    kn_buffer_char(out, '"');
    kn_buffer_doubled(out, label.data, label.size);
    kn_buffer_char(out, '"');
}

static void append_leaf(const kn_hierarchy *h, uint32_t leaf, char delimiter, kn_buffer *out)
{
    for (uint32_t node = leaf; node != KN_NODE_NONE; node = h->parent[node]) {
        if (node != leaf) kn_buffer_char(out, delimiter);
        append_field(out, kn_hierarchy_text(h, node), delimiter);
    }
    kn_buffer_char(out, '\n');
}

void kn_hierarchy_format(const kn_hierarchy *h, char delimiter, kn_buffer *out)
{
    for (uint32_t leaf = 0; leaf < h->leaves && !out->failed; leaf++) append_leaf(h, leaf, delimiter, out);
}

kn_status kn_hierarchy_write(const kn_hierarchy *h, kn_context *ctx, const char *path, char delimiter, kn_error *err)
{
    KN_SERVE(ctx, err);
    if (delimiter == 0) delimiter = ';';
    if (strchr("\"\r\n", delimiter) || (unsigned char)delimiter >= 0x80)
        return kn_fail(err, KN_USAGE, "a delimiter is one ASCII character, not a quote or a line end");
    kn_output *output = NULL;
    kn_buffer  line;
    kn_buffer_init(&line, ctx);
    KN_TRY(kn_output_open(&output, ctx, path, NULL, err));
    for (uint32_t leaf = 0; leaf < h->leaves && !line.failed; leaf++) {
        kn_buffer_clear(&line);
        append_leaf(h, leaf, delimiter, &line);
        if (!line.failed) kn_output_write(output, line.data, line.size);
    }
    kn_status made = line.failed ? kn_fail_memory(err, ctx, "writing a hierarchy") : KN_OK;
    kn_buffer_free(&line);
    return kn_output_finish(output, made, err);
}
