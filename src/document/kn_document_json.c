/* kn_document_json.c: a document as JSON text.
 *
 * Numbers are written with 15 digits: enough for every figure kanon reports, and 0.05 stays 0.05. A number that is
 * not an integer has a point or an exponent.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_document_internal.h"
#include "kn_error.h"

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

static bool grow(kn_text *text, size_t more)
{
    if (text->failed) return false;
    if (more < text->capacity - text->size) return true; /* one byte stays for the NUL */
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
    kn_text_add(text, "\n", 1);
    for (int i = 0; i < depth; i++) kn_text_add(text, "  ", 2);
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

void kn_text_quoted(kn_text *text, const char *s, size_t size)
{
    kn_text_add(text, "\"", 1);
    for (size_t i = 0, plain; i < size; i = plain + 1) {
        plain = i;
        while (plain < size && (unsigned char)s[plain] >= 0x20 && s[plain] != '"' && s[plain] != '\\') plain++;
        kn_text_add(text, s + i, plain - i);
        if (plain < size) add_escaped(text, s[plain]);
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
static void add_number(kn_text *text, double value)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.15g", value);
    char *e = strchr(digits, 'e'), *mark = digits + strspn(digits, "-0123456789");
    if (*mark && mark != e) *mark = '.';
    if (!e && !strchr(digits, '.')) strcat(digits, ".0");
    if (e) {
        char *from = e + 1 + (e[1] == '+' || e[1] == '-'), *to = e + 1 + (e[1] == '-');
        while (from[0] == '0' && from[1]) from++;
        memmove(to, from, strlen(from) + 1);
    }
    kn_text_string(text, digits);
}

static void add_value(kn_text *text, const kn_node *value, int depth);

static void add_holder(kn_text *text, const kn_node *value, int depth)
{
    bool    object = value->kind == KN_DOCUMENT_OBJECT, any = false;
    int64_t slots = value->fields ? value->fields->count : value->count;
    kn_text_string(text, object ? "{" : "[");
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
        add_value(text, member, depth + 1);
    }
    if (any) kn_text_indent(text, depth);
    kn_text_string(text, object ? "}" : "]");
}

static void add_value(kn_text *text, const kn_node *value, int depth)
{
    switch (value->kind) {
    case KN_DOCUMENT_NULL: kn_text_string(text, "null"); break;
    case KN_DOCUMENT_BOOLEAN: kn_text_string(text, value->boolean ? "true" : "false"); break;
    case KN_DOCUMENT_INTEGER: kn_text_format(text, "%" PRId64, value->integer); break;
    case KN_DOCUMENT_NUMBER: add_number(text, value->number); break;
    case KN_DOCUMENT_TEXT: kn_text_quoted(text, value->text, (size_t)value->count); break;
    case KN_DOCUMENT_LIST:
    case KN_DOCUMENT_OBJECT: add_holder(text, value, depth); break;
    }
}

kn_status kn_document_json(char **out, size_t *size, const kn_document *doc, kn_error *err)
{
    kn_text text = {.allocator = doc->allocator};
    add_value(&text, doc->top, 0);
    kn_text_string(&text, "\n");
    return kn_text_end(out, size, &text, err);
}
