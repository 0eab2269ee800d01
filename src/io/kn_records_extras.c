/* kn_records_extras.c: is a file of released records written as kanon writes it, with nothing else in it? Interface:
 * kn_extras.h.
 *
 * The records that were read are written again by kn_records_write.c, siblings in the order of the original's
 * hierarchies and classes in the form that they have there, and both texts are compared token by token. So a blank at the end of a value, 01 for 1, a number
 * instead of a text, a needless escape, another order of siblings or keys is found: any of them can mark a record.
 * What is written again is a function of the records alone and can hold no mark, even if reader or writer are wrong
 * (src/verify/allowed-symbols.txt).
 *
 * A file that another program saved again passes if what differs cannot distinguish records: blanks between tokens
 * that are the same wherever the same tokens meet at the same depth (at most one line end, then spaces or tabs), JSON
 * in which every character beyond ASCII is escaped, CRLF for LF in all lines, a byte order mark, an XML declaration
 * of any kind.
 *
 * Cost: linear. Memory: the file's text twice.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_extras.h"
#include "kn_records.h"
#include "kn_records_write.h"
#include "kn_source.h"

enum { DEPTHS = 256, KINDS = 16 };

/* Kinds of tokens: in JSON the characters {}[],: and texts, in XML tags and text. */
enum { BEGIN, END, TEXT, WORD, OPEN, CLOSE, EMPTY, TAG_END, SIGN };

typedef struct blanks {
    const char *data;
    size_t      size;
    bool        seen;
} blanks;

typedef struct comparing {
    const char *at, *end;  /* of the file             */
    const char *to, *stop; /* of what was written again */
    const char *file;
    blanks     *gaps; /* per depth and pair of kinds */
    size_t      depth;
    int         last;    /* kind of the token before */
    bool        escaped; /* JSON: characters beyond ASCII */
    bool        raw;
} comparing;

/* ---- Blanks between tokens ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *skip(const char *at, const char *end)
{
    while (at < end && is_blank(*at)) at++;
    return at;
}

/* At most one line end, then spaces or tabs, no more than an indentation needs. */
static bool is_indent(const char *data, size_t size, size_t depth)
{
    if (size > 0 && data[0] == '\r') data++, size--;
    if (size > 0 && data[0] == '\n') data++, size--;
    for (size_t i = 0; i < size; i++)
        if (data[i] != data[0] || (data[i] != ' ' && data[i] != '\t')) return false;
    return size <= 8 * (depth + 1);
}

/* Is the gap before a token of this kind the same as elsewhere? */
static bool gap_fits(comparing *c, const char *data, size_t size, int kind)
{
    size_t  depth = c->depth < DEPTHS ? c->depth : DEPTHS - 1;
    blanks *b = &c->gaps[(depth * KINDS + (size_t)c->last) * KINDS + (size_t)kind];
    if (!is_indent(data, size, depth)) return false;
    if (b->seen) return b->size == size && memcmp(b->data, data, size) == 0;
    *b = (blanks){data, size, true};
    return true;
}

/* ---- JSON ---- */

static const char *text_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end) at++;
    return at < end ? at + 1 : end;
}

static uint32_t code_point(const char **at, const char *end)
{
    unsigned char lead = (unsigned char)*(*at)++;
    uint32_t      c = lead >= 0xf0 ? lead & 7u : lead >= 0xe0 ? lead & 15u : lead & 31u;
    while (*at < end && ((unsigned char)**at & 0xc0) == 0x80) c = c << 6 | ((unsigned char)*(*at)++ & 0x3fu);
    return c;
}

static bool is_escape(const char **at, const char *end, uint32_t unit)
{
    char wanted[8];
    snprintf(wanted, sizeof wanted, "\\u%04x", (unsigned)unit & 0xffffu);
    if (end - *at < 6 || memcmp(*at, wanted, 6) != 0) return false;
    *at += 6;
    return true;
}

/* The same text, with all characters beyond ASCII escaped. */
static bool is_escaped(const char *a, const char *a_end, const char *b, const char *b_end)
{
    while (b < b_end) {
        if ((unsigned char)*b < 0x80) {
            if (a == a_end || *a++ != *b++) return false;
            continue;
        }
        uint32_t c = code_point(&b, b_end);
        if (c < 0x10000 ? !is_escape(&a, a_end, c)
                        : !is_escape(&a, a_end, 0xd800 + ((c - 0x10000) >> 10)) ||
                              !is_escape(&a, a_end, 0xdc00 + ((c - 0x10000) & 0x3ff)))
            return false;
    }
    return a == a_end;
}

static bool same_text(comparing *c, const char *a_end, const char *b_end)
{
    bool wide = false;
    for (const char *b = c->to; b < b_end; b++) wide = wide || (unsigned char)*b >= 0x80;
    bool same = a_end - c->at == b_end - c->to && memcmp(c->at, c->to, (size_t)(a_end - c->at)) == 0;
    if (!wide) return same;
    c->raw = c->raw || same;
    c->escaped = c->escaped || !same;
    return (same || is_escaped(c->at, a_end, c->to, b_end)) && !(c->raw && c->escaped);
}

static bool compare_json(comparing *c)
{
    static const char signs[] = "{}[],:";
    for (;;) {
        const char *from = c->at;
        c->at = skip(c->at, c->end);
        c->to = skip(c->to, c->stop);
        char        next = c->at < c->end ? *c->at : 0;
        const char *sign = next ? strchr(signs, next) : NULL;
        int         kind = !next ? END : next == '"' ? TEXT : sign ? SIGN + (int)(sign - signs) : WORD;
        if (next == '}' || next == ']') c->depth -= c->depth > 0;
        if (!gap_fits(c, from, (size_t)(c->at - from), kind)) {
            c->at = from;
            return false;
        }
        if (!next || c->to == c->stop) return !next && c->to == c->stop;
        if (kind == TEXT) {
            const char *a_end = text_end(c->at, c->end), *b_end = text_end(c->to, c->stop);
            if (*c->to != '"' || !same_text(c, a_end, b_end)) return false;
            c->at = a_end;
            c->to = b_end;
        } else if (*c->at++ != *c->to++) {
            c->at--;
            return false;
        }
        if (next == '{' || next == '[') c->depth++;
        c->last = kind;
    }
}

/* ---- XML ---- */

/* The position after a tag, whose attributes may contain ">". */
static const char *tag_end(const char *at, const char *end)
{
    char quote = 0;
    for (; at < end; at++) {
        if (quote) {
            if (*at == quote) quote = 0;
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
        } else if (*at == '>') {
            return at + 1;
        }
    }
    return end;
}

/* Without the blanks before its end, "/>" or ">", which are a separate gap. */
static bool same_tag(comparing *c, const char *a_end, const char *b_end)
{
    size_t      tail = a_end - c->at >= 2 && a_end[-2] == '/' ? 2 : 1;
    const char *body = a_end - tail;
    while (body > c->at && is_blank(body[-1])) body--;
    size_t size = (size_t)(body - c->at), other = (size_t)(b_end - c->to);
    int    before = c->last;
    c->last = tail == 2 ? EMPTY : OPEN;
    bool fits = gap_fits(c, body, (size_t)(a_end - (ptrdiff_t)tail - body), TAG_END);
    c->last = before;
    return fits && other == size + tail && memcmp(c->at, c->to, size) == 0 &&
           memcmp(a_end - tail, c->to + size, tail) == 0;
}

static const char *core_end(const char *at, const char *end)
{
    const char *stop = memchr(at, '<', (size_t)(end - at));
    if (!stop) stop = end;
    while (stop > at && is_blank(stop[-1])) stop--;
    return stop;
}

static const char *skip_declaration(const char *at, const char *end)
{
    if (end - at < 5 || memcmp(at, "<?xml", 5) != 0) return at;
    return tag_end(at, end);
}

static bool compare_xml(comparing *c)
{
    c->at = skip_declaration(c->at, c->end);
    c->to = skip_declaration(c->to, c->stop);
    for (;;) {
        const char *from = c->at;
        c->at = skip(c->at, c->end);
        c->to = skip(c->to, c->stop);
        bool        ended = c->at == c->end, tag = !ended && *c->at == '<';
        const char *a_end = ended ? c->end : tag ? tag_end(c->at, c->end) : core_end(c->at, c->end);
        const char *b_end = c->to == c->stop ? c->stop
                            : *c->to == '<'  ? tag_end(c->to, c->stop)
                                             : core_end(c->to, c->stop);
        bool        closing = tag && c->at + 1 < c->end && c->at[1] == '/',
             empty = tag && a_end - c->at >= 2 && a_end[-2] == '/';
        int kind = ended ? END : !tag ? TEXT : closing ? CLOSE : empty ? EMPTY : OPEN;
        if (closing) c->depth -= c->depth > 0;
        if (!gap_fits(c, from, (size_t)(c->at - from), kind)) {
            c->at = from;
            return false;
        }
        if (ended || c->to == c->stop) return ended && c->to == c->stop;
        bool same = a_end - c->at == b_end - c->to && memcmp(c->at, c->to, (size_t)(a_end - c->at)) == 0;
        if (tag ? !same_tag(c, a_end, b_end) : !same) return false;
        c->at = a_end;
        c->to = b_end;
        if (kind == OPEN) c->depth++;
        c->last = kind;
    }
}

/* ---- Baskets ---- */

/* Lines are equal except for their ends. */
static bool compare_lines(comparing *c)
{
    bool crlf = false, first = true;
    while (c->to < c->stop) {
        const char *b = memchr(c->to, '\n', (size_t)(c->stop - c->to));
        size_t      size = (size_t)(b - c->to); /* each rewritten line ends         */
        if ((size_t)(c->end - c->at) < size || memcmp(c->at, c->to, size) != 0) return false;
        const char *after = c->at + size;
        bool        both = after < c->end && *after == '\r';
        if (after == c->end) return b + 1 == c->stop; /* the last line need not end */
        if (after + both == c->end || after[both] != '\n' || (!first && both != crlf)) return false;
        crlf = both;
        first = false;
        c->at = after + both + 1;
        c->to = b + 1;
    }
    return c->at == c->end;
}

/* ---- Both texts ---- */

/* The records in the order of the original's values; NULL in *out: it does not have them all. */
static kn_status reorder(kn_records **out, kn_context *ctx, const kn_records *release, const kn_records *original,
                         kn_error *err)
{
    const kn_vocabulary *from = release->vocabulary, *to = original->vocabulary;
    uint32_t             largest = 0;
    *out = NULL;
    for (int64_t r = 0; r < release->count; r++) {
        uint32_t size = (uint32_t)(release->start[r + 1] - release->start[r]);
        if (size > largest) largest = size;
    }
    uint32_t       *value = kn_alloc_array(ctx, (size_t)from->nodes + 1, sizeof *value);
    kn_record_node *nodes = kn_alloc_array(ctx, (size_t)largest + 1, sizeof *nodes);
    void           *scratch = kn_alloc_array(ctx, (size_t)largest + 1, KN_RECORD_SCRATCH);
    kn_records     *made = NULL;
    kn_status       status = value && nodes && scratch ? KN_OK : kn_fail_memory(err, ctx, "verifying");
    bool            known = true;
    for (uint32_t n = 0; status == KN_OK && n < from->nodes; n++) {
        kn_string label = kn_vocabulary_label(from, n);
        value[n] = kn_vocabulary_find(to, from->cls[n] == KN_VOCABULARY_NO_CLASS ? -1 : (int)from->cls[n], label);
        if (value[n] != UINT32_MAX && !kn_string_equal(kn_vocabulary_label(to, value[n]), label)) value[n] = UINT32_MAX;
    }
    if (status == KN_OK)
        status = kn_records_create(&made, ctx, original->vocabulary, false, release->count, release->nodes, err);
    for (int64_t r = 0; status == KN_OK && known && r < release->count; r++) {
        uint64_t first = release->start[r];
        uint32_t size = (uint32_t)(release->start[r + 1] - first);
        for (uint32_t i = 0; i < size; i++) {
            nodes[i] = (kn_record_node){release->parent[first + i], value[release->value[first + i]]};
            known = known && nodes[i].value != UINT32_MAX;
        }
        size = known ? kn_record_canonical(nodes, size, scratch) : 0;
        for (uint32_t i = 0; i < size; i++) {
            made->parent[made->start[r] + i] = nodes[i].parent;
            made->value[made->start[r] + i] = nodes[i].value;
        }
        made->start[r + 1] = made->start[r] + size;
    }
    KN_FREE(value, nodes, scratch);
    if (status == KN_OK && known)
        *out = made;
    else
        kn_records_free(made);
    return status;
}

static kn_status write_again(kn_buffer *to, kn_context *ctx, const kn_records *release, const kn_records *original,
                             const kn_spec_class *classes, int class_count, kn_error *err)
{
    kn_records *ordered = NULL;
    bool        same = original->vocabulary->class_count == release->vocabulary->class_count;
    if (same) KN_TRY(reorder(&ordered, ctx, release, original, err));
    kn_records_layout layout = release->layout;
    layout.style = original->layout.style; /* classes have the form that they had */
    if (original->layout.form == KN_RECORDS_JSON || original->layout.form == KN_RECORDS_JSON_LINES)
        layout.listed = original->layout.listed;
    kn_status status = kn_records_format(to, ordered ? ordered : release, &layout, classes, class_count, err);
    kn_records_free(ordered);
    return status;
}

static kn_status read_file(kn_buffer *to, kn_context *ctx, const char *path, const char **wrapped, kn_error *err)
{
    kn_source *source = NULL;
    KN_TRY(kn_source_open(&source, ctx, path, err));
    kn_status status = kn_source_read_all(source, to, SIZE_MAX, err);
    *wrapped = kn_source_wrapped(source); /* static text */
    kn_source_free(source);
    return status;
}

static bool compare(comparing *c, kn_records_form form)
{
    if (c->end - c->at >= 3 && memcmp(c->at, "\xef\xbb\xbf", 3) == 0) c->at += 3;
    if (form == KN_RECORDS_XML) return compare_xml(c);
    return form == KN_RECORDS_BASKETS ? compare_lines(c) : compare_json(c);
}

static kn_status compare_texts(kn_context *ctx, const kn_buffer *file, const kn_buffer *again, kn_records_form form,
                               kn_extras_fn tell, void *arg, kn_error *err)
{
    const char *a = file->data ? file->data : "", *b = again->data ? again->data : "";
    comparing   c = {.at = a, .end = a + file->size, .to = b, .stop = b + again->size, .file = a, .last = BEGIN};
    c.gaps = kn_alloc_array_zero(ctx, (size_t)DEPTHS * KINDS * KINDS, sizeof *c.gaps);
    if (!c.gaps) return kn_fail_memory(err, ctx, "verifying");
    if (!compare(&c, form)) {
        char    sentence[240];
        int64_t line = 1;
        for (const char *p = c.file; p < c.at; p++) line += *p == '\n';
        snprintf(sentence, sizeof sentence,
                 "line %" PRId64
                 " is not written as a release is (blanks, a spelling, an escape, the order of siblings or the "
                 "like): that can mark a record",
                 line);
        tell(arg, sentence);
    }
    kn_free(c.gaps);
    return KN_OK;
}

kn_status kn_records_extras(kn_context *ctx, const char *path, const kn_records *release, const kn_records *original,
                            const kn_spec_class *classes, int class_count, kn_extras_fn tell, void *arg, kn_error *err)
{
    kn_buffer   file, again;
    const char *wrapped = NULL;
    char        sentence[200];
    kn_buffer_init(&file, ctx);
    kn_buffer_init(&again, ctx);
    kn_status status = write_again(&again, ctx, release, original, classes, class_count, err);
    if (status == KN_OK) status = read_file(&file, ctx, path, &wrapped, err);
    if (status == KN_OK) status = compare_texts(ctx, &file, &again, release->layout.form, tell, arg, err);
    if (status == KN_OK && wrapped) {
        snprintf(sentence, sizeof sentence, "the compressed file holds %s beside the data", wrapped);
        tell(arg, sentence);
    }
    kn_buffer_free(&file);
    kn_buffer_free(&again);
    return status;
}
