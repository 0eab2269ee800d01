/* kn_document_json.c: a document as JSON text.
 *
 * Numbers are written with 15 digits: enough for every figure kanon reports, and 0.05 stays 0.05. A number that is
 * not an integer has a point or an exponent.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_document_internal.h"
#include "kn_error.h"

#define EACH UINT64_C(0x0101010101010101) /* 1 in each byte */

/* ---- Texts handed out ---- */

/* Precedes the text, so that it can be freed without a context. */
typedef struct head {
    kn_allocator allocator;
    size_t       size; /* of the block */
    size_t       unused;
} head;

static_assert(sizeof(head) % 16 == 0, "what the allocator gives is aligned to 16 bytes");

void kn_text_free(char *text)
{
    if (!text) return;
    head *h = (head *)(void *)text - 1;
    h->allocator.release(h->allocator.user, h, h->size);
}

static bool enlarge(kn_text *text, size_t more)
{
    size_t capacity = 2 * (text->size + more) + 256;
    head  *h = text->allocator.alloc(text->allocator.user, sizeof *h + capacity);
    if (!h) {
        text->failed = true;
        return false;
    }
    *h = (head){text->allocator, sizeof *h + capacity, 0};
    char *data = (char *)(h + 1);
    if (text->size > 0) memcpy(data, text->data, text->size);
    kn_text_free(text->data);
    text->data = data;
    text->capacity = capacity;
    return true;
}

static inline bool grow(kn_text *text, size_t more)
{
    if (text->failed) return false;
    return more < text->capacity - text->size || enlarge(text, more); /* one byte stays for the NUL */
}

void kn_text_add(kn_text *text, const char *data, size_t size)
{
    if (!grow(text, size)) return;
    memcpy(text->data + text->size, data, size);
    text->size += size;
}

void kn_text_string(kn_text *text, const char *s)
{
    kn_text_add(text, s, strlen(s));
}

void kn_text_format(kn_text *text, const char *format, ...)
{
    char    line[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    kn_text_string(text, line);
}

void kn_text_indent(kn_text *text, int depth)
{
    static const char blanks[] = "\n                                ";
    int               most = (int)(sizeof blanks - 2) / 2, first = depth < most ? depth : most;
    kn_text_add(text, blanks, 1 + 2 * (size_t)first);
    for (int i = first; i < depth; i++) kn_text_add(text, "  ", 2);
}

static void add_escaped(kn_text *text, char c)
{
    switch (c) {
    case '"':
    case '\\': kn_text_format(text, "\\%c", c); break;
    case '\b': kn_text_string(text, "\\b"); break;
    case '\f': kn_text_string(text, "\\f"); break;
    case '\n': kn_text_string(text, "\\n"); break;
    case '\r': kn_text_string(text, "\\r"); break;
    case '\t': kn_text_string(text, "\\t"); break;
    default: kn_text_format(text, "\\u%04X", (unsigned)(unsigned char)c);
    }
}

/* Is a byte of the word 0? */
static bool has_zero(uint64_t word)
{
    return ((word - EACH) & ~word & (0x80 * EACH)) != 0;
}

/* How many bytes from the first on need no escape; eight at a time while that is all of them. */
static size_t plain_bytes(const char *s, size_t size)
{
    size_t n = 0;
    for (uint64_t word; n + sizeof word <= size; n += sizeof word) {
        memcpy(&word, s + n, sizeof word);
        bool control = ((word - 0x20 * EACH) & ~word & (0x80 * EACH)) != 0;
        if (control || has_zero(word ^ '"' * EACH) || has_zero(word ^ '\\' * EACH)) break;
    }
    while (n < size && (unsigned char)s[n] >= 0x20 && s[n] != '"' && s[n] != '\\') n++;
    return n;
}

void kn_text_quoted(kn_text *text, const char *s, size_t size)
{
    if (!grow(text, size + 2)) return;
    text->data[text->size++] = '"';
    for (size_t i = 0, plain; i < size; i += plain + 1) {
        plain = plain_bytes(s + i, size - i);
        kn_text_add(text, s + i, plain);
        if (i + plain < size) add_escaped(text, s[i + plain]);
    }
    kn_text_add(text, "\"", 1);
}

kn_status kn_text_end(char **out, size_t *size, kn_text *text, kn_error *err)
{
    if (text->failed || !grow(text, 1)) {
        kn_text_free(text->data);
        return kn_fail(err, KN_MEMORY, "out of memory while writing an answer as text");
    }
    text->data[text->size] = '\0';
    *out = text->data;
    if (size) *size = text->size;
    return KN_OK;
}

/* ---- Values ---- */

/* "1e-05" is written as "1e-5", as most writers of JSON do. The caller's locale may have another decimal mark. */
static void write_number(char digits[KN_NUMBER_SIZE], double value)
{
    snprintf(digits, KN_NUMBER_SIZE, "%.15g", value);
    char *e = strchr(digits, 'e'), *mark = digits + strspn(digits, "-0123456789");
    if (*mark && mark != e) *mark = '.';
    if (!e && !strchr(digits, '.')) strcat(digits, ".0");
    if (e) {
        char *from = e + 1 + (e[1] == '+' || e[1] == '-'), *to = e + 1 + (e[1] == '-');
        while (from[0] == '0' && from[1]) from++;
        memmove(to, from, strlen(from) + 1);
    }
}

/* Long lists repeat numbers, and finding their digits is the most expensive part: the last ones are remembered. */
static void add_number(kn_writer *w, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned slot = (unsigned)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 58);
    if (!w->number[slot].digits[0] || w->number[slot].bits != bits) {
        write_number(w->number[slot].digits, value);
        w->number[slot].bits = bits;
    }
    kn_text_string(&w->text, w->number[slot].digits);
}

static void add_integer(kn_text *text, int64_t value)
{
    char     digits[24], *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) *--at = '-';
    kn_text_add(text, at, (size_t)(digits + sizeof digits - at));
}

static void add_holder(kn_writer *w, const kn_node *value, int depth)
{
    kn_text *text = &w->text;
    bool     object = value->kind == KN_DOCUMENT_OBJECT, any = false;
    int64_t  slots = value->fields ? value->fields->count : value->count;
    kn_text_string(text, object ? "{" : "[");
    if (!object && value->folded && !atomic_load_explicit(&value->folded->unfolded, memory_order_acquire)) {
        kn_writer_folded(w, value->folded, depth);
        any = slots > 0;
        slots = 0;
    }
    for (int64_t i = 0; i < slots; i++) {
        const kn_node *member = value->items[i];
        if (!member) continue;
        if (any) kn_text_string(text, ",");
        any = true;
        kn_text_indent(text, depth + 1);
        if (object) {
            const char *key = value->fields ? member->row->name : member->key;
            kn_text_quoted(text, key, strlen(key));
            kn_text_string(text, ": ");
        }
        kn_writer_value(w, member, depth + 1);
    }
    if (any) kn_text_indent(text, depth);
    kn_text_string(text, object ? "}" : "]");
}

void kn_writer_value(kn_writer *w, const kn_node *value, int depth)
{
    kn_text *text = &w->text;
    switch (value->kind) {
    case KN_DOCUMENT_NULL: kn_text_string(text, "null"); break;
    case KN_DOCUMENT_BOOLEAN: kn_text_string(text, value->boolean ? "true" : "false"); break;
    case KN_DOCUMENT_INTEGER: add_integer(text, value->integer); break;
    case KN_DOCUMENT_NUMBER: add_number(w, value->number); break;
    case KN_DOCUMENT_TEXT: kn_text_quoted(text, value->text, (size_t)value->count); break;
    case KN_DOCUMENT_LIST:
    case KN_DOCUMENT_OBJECT: add_holder(w, value, depth); break;
    }
}

kn_status kn_document_json(char **out, size_t *size, const kn_document *doc, kn_error *err)
{
    kn_writer w = {.text = {.allocator = doc->allocator}, .err = err};
    kn_writer_value(&w, doc->top, 0);
    kn_text_string(&w.text, "\n");
    if (w.status == KN_OK) return kn_text_end(out, size, &w.text, err);
    kn_text_free(w.text.data);
    return w.status;
}
