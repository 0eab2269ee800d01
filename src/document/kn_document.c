/* kn_document.c: documents: their memory, their values and how tables of fields fill them.
 *
 * A document is a tree of values in blocks that are freed together. An object has one slot per row of its table, so
 * that fields may be put in any order and are written in the order of the table. A name that is not in the table, a
 * value of another type and a missing field are bugs in the program and give KN_INTERNAL. Cost: linear in the values
 * put, plus a linear search for each name in its table.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_document_internal.h"
#include "kn_error.h"

/* ---- Memory ---- */

enum { BLOCK = 4096, ALIGN = 16 };

static_assert(sizeof(kn_store_block) % ALIGN == 0, "what follows a block's header is aligned");

void kn_document_wrong(kn_document *doc, const char *field, const char *why)
{
    if (doc->status != KN_OK) return;
    doc->status = KN_INTERNAL;
    snprintf(doc->wrong, sizeof doc->wrong, "%s", field);
    doc->why = why;
}

static kn_store_block *new_block(kn_document *doc, size_t size)
{
    if (size > SIZE_MAX - sizeof(kn_store_block)) return NULL;
    size += sizeof(kn_store_block);
    if (doc->ctx && !kn_memory_charge(doc->ctx, size)) return NULL;
    kn_store_block *block = doc->allocator.alloc(doc->allocator.user, size);
    if (block) {
        *block = (kn_store_block){doc->blocks, size};
        doc->blocks = block;
    }
    if (doc->ctx && block) doc->charged += size;
    if (doc->ctx && !block) kn_memory_discharge(doc->ctx, size);
    return block;
}

void *kn_document_take(kn_document *doc, size_t size)
{
    if (doc->status != KN_OK) return NULL;
    size_t rounded = size > SIZE_MAX - ALIGN ? SIZE_MAX : (size + ALIGN - 1) / ALIGN * ALIGN;
#ifdef KN_SANITIZE
    size_t fresh = rounded; /* one block each, so that sanitizers see an overrun */
#else
    size_t fresh = rounded > BLOCK / 4 ? rounded : BLOCK - sizeof(kn_store_block);
#endif
    if (rounded > doc->left || fresh == rounded) {
        kn_store_block *block = new_block(doc, fresh);
        if (!block) {
            doc->status = KN_MEMORY;
            return NULL;
        }
        if (fresh == rounded) return block + 1;
        doc->free = (char *)(block + 1);
        doc->left = fresh;
    }
    void *taken = doc->free;
    doc->free += rounded;
    doc->left -= rounded;
    return taken;
}

static kn_node *new_node(kn_document *doc, kn_document_kind kind)
{
    kn_node *node = kn_document_take(doc, sizeof *node);
    if (node) {
        memset(node, 0, sizeof *node);
        node->kind = kind;
    }
    return node;
}

/* ---- Texts ---- */

/* Of the first bytes how many are ASCII and not 0, eight at a time. Most texts are all of it. */
static size_t ascii_bytes(const char *text, size_t size)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    size_t         n = 0;
    for (uint64_t word; n + sizeof word <= size; n += sizeof word) {
        memcpy(&word, text + n, sizeof word);
        if ((((word - each) & ~word) | word) & (0x80 * each)) break;
    }
    while (n < size && (unsigned char)text[n] - 1U < 0x7FU) n++;
    return n;
}

static bool is_utf8(const char *text, size_t size)
{
    utf8proc_int32_t c;
    for (size_t i = ascii_bytes(text, size); i < size;) {
        if (!text[i]) return false; /* readers of C strings would stop here */
        size_t           look = size - i < 4 ? size - i : 4;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text + i, (utf8proc_ssize_t)look, &c);
        if (n < 1) return false;
        i += (size_t)n;
    }
    return true;
}

/* Escapes bytes that are not UTF-8, and control characters, as \xNN. */
static size_t escaped(char *out, const char *text, size_t size)
{
    utf8proc_int32_t c;
    size_t           used = 0, bytes;
    for (size_t i = 0; i < size; i += bytes) {
        size_t           look = size - i < 4 ? size - i : 4;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text + i, (utf8proc_ssize_t)look, &c);
        bytes = n > 0 ? (size_t)n : 1;
        if (n > 0 && c >= 0x20) {
            memcpy(out + used, text + i, bytes);
            used += bytes;
        } else {
            used += (size_t)sprintf(out + used, "\\x%02X", (unsigned)(unsigned char)text[i]);
        }
    }
    return used;
}

static kn_node *text_node(kn_document *doc, const char *text, size_t size)
{
    bool     plain = is_utf8(text, size);
    kn_node *node = new_node(doc, KN_DOCUMENT_TEXT);
    char    *copy = node ? kn_document_take(doc, (plain ? size : 4 * size) + 1) : NULL;
    if (!copy) return NULL;
    if (plain)
        memcpy(copy, text, size);
    else
        size = escaped(copy, text, size);
    copy[size] = '\0';
    node->text = copy;
    node->count = (int64_t)size;
    return node;
}

/* ---- Types ---- */

static const struct {
    bool        integer, number;
    const char *unit;
} facts[KN_F_TYPES] = {
    [KN_F_COUNT] = {true, true, NULL},         [KN_F_ROWS] = {true, true, "rows"},
    [KN_F_CLASSES] = {true, true, "classes"},  [KN_F_PERSONS] = {true, true, "persons"},
    [KN_F_RECORDS] = {true, true, "records"},  [KN_F_CELLS] = {true, true, "cells"},
    [KN_F_COLUMNS] = {true, true, "columns"},  [KN_F_LEVEL] = {true, true, "levels"},
    [KN_F_NUMBER] = {false, true, NULL},       [KN_F_SHARE] = {false, true, "share"},
    [KN_F_SECONDS] = {false, true, "seconds"}, [KN_F_BITS] = {false, true, "bits"},
};

bool kn_field_type_is_integer(kn_field_type type)
{
    return facts[type].integer;
}

bool kn_field_type_is_number(kn_field_type type)
{
    return facts[type].number;
}

const char *kn_field_type_unit(kn_field_type type)
{
    return facts[type].unit;
}

static bool fits(const kn_field_row *row, kn_document_kind kind)
{
    kn_field_type type = kn_field_kind(row);
    switch (kind) {
    case KN_DOCUMENT_NULL: return (row->type & KN_F_NULLABLE) || (facts[type].number && !facts[type].integer);
    case KN_DOCUMENT_BOOLEAN: return type == KN_F_BOOLEAN;
    case KN_DOCUMENT_INTEGER: return facts[type].number;
    case KN_DOCUMENT_NUMBER: return (facts[type].number && !facts[type].integer) || (row->type & KN_F_OR_NUMBER);
    case KN_DOCUMENT_TEXT: return type == KN_F_TEXT;
    case KN_DOCUMENT_LIST: return (type >= KN_F_TEXTS && type <= KN_F_LIST) || type >= KN_F_TEXT_LISTS;
    case KN_DOCUMENT_OBJECT: return type == KN_F_OBJECT || type == KN_F_FIGURES;
    }
    return false;
}

static bool is_word(const kn_field_row *row, const char *text)
{
    for (unsigned i = 0; i < row->word_count; i++)
        if (row->words(i) && strcmp(row->words(i), text) == 0) return true;
    return !row->words;
}

/* ---- Slots ---- */

static void put_at(kn_to to, int index, kn_node *node)
{
    const kn_field_row *row = &to.node->fields->rows[index];
    if (!node) return;
    if (!fits(row, node->kind)) {
        kn_document_wrong(to.doc, row->name, "is of another type");
    } else if (node->kind == KN_DOCUMENT_TEXT && !is_word(row, node->text)) {
        kn_document_wrong(to.doc, row->name, "is none of its words");
    } else if (to.node->items[index]) {
        kn_document_wrong(to.doc, row->name, "stands there twice");
    } else {
        node->row = row;
        to.node->items[index] = node;
        to.node->count++;
    }
}

static int row_index(const kn_fields *fields, const char *key)
{
    for (int i = 0; fields && i < fields->count; i++)
        if (strcmp(fields->rows[i].name, key) == 0) return i;
    return -1;
}

static void put(kn_to to, const char *key, kn_node *node)
{
    if (!to.node || !node) return; /* the failure is already recorded */
    int index = to.node->kind == KN_DOCUMENT_OBJECT ? row_index(to.node->fields, key) : -1;
    if (index < 0)
        kn_document_wrong(to.doc, key, "is not in the table of fields");
    else
        put_at(to, index, node);
}

static kn_node *object_node(kn_document *doc, const kn_fields *fields)
{
    kn_node *node = new_node(doc, KN_DOCUMENT_OBJECT);
    size_t   size = fields ? (size_t)fields->count * sizeof *node->items : 0;
    if (!node || !fields) return node;
    node->items = kn_document_take(doc, size);
    if (!node->items) return NULL;
    memset(node->items, 0, size);
    node->fields = fields;
    return node;
}

static kn_node *number_node(kn_document *doc, double value)
{
    kn_node *node = new_node(doc, isfinite(value) ? KN_DOCUMENT_NUMBER : KN_DOCUMENT_NULL);
    if (node && isfinite(value)) node->number = value;
    return node;
}

static kn_node *integer_node(kn_document *doc, int64_t value)
{
    kn_node *node = new_node(doc, KN_DOCUMENT_INTEGER);
    if (node) node->integer = value;
    return node;
}

static kn_node *boolean_node(kn_document *doc, bool value)
{
    kn_node *node = new_node(doc, KN_DOCUMENT_BOOLEAN);
    if (node) node->boolean = value;
    return node;
}

static kn_node *text_or_null(kn_document *doc, const char *text)
{
    return text ? text_node(doc, text, strlen(text)) : new_node(doc, KN_DOCUMENT_NULL);
}

void kn_put_boolean(kn_to to, const char *key, bool value)
{
    put(to, key, boolean_node(to.doc, value));
}

void kn_put_integer(kn_to to, const char *key, int64_t value)
{
    put(to, key, integer_node(to.doc, value));
}

void kn_put_number(kn_to to, const char *key, double value)
{
    put(to, key, number_node(to.doc, value));
}

void kn_put_text(kn_to to, const char *key, const char *text)
{
    put(to, key, text_or_null(to.doc, text));
}

void kn_put_bytes(kn_to to, const char *key, const char *text, size_t size)
{
    put(to, key, text_node(to.doc, text, size));
}

void kn_put_null(kn_to to, const char *key)
{
    put(to, key, new_node(to.doc, KN_DOCUMENT_NULL));
}

kn_to kn_put_object(kn_to to, const char *key)
{
    int      index = to.node ? row_index(to.node->fields, key) : -1;
    kn_node *node = object_node(to.doc, index >= 0 ? to.node->fields->rows[index].of : NULL);
    put(to, key, node);
    return (kn_to){to.doc, node};
}

kn_to kn_put_list(kn_to to, const char *key)
{
    kn_node *node = new_node(to.doc, KN_DOCUMENT_LIST);
    put(to, key, node);
    return (kn_to){to.doc, node};
}

/* ---- Lists and figures ---- */

static void append(kn_to to, kn_node *node)
{
    kn_node *list = to.node;
    if (!list || !node) return;
    if (list->count == list->capacity) {
        int64_t   capacity = list->capacity ? 2 * list->capacity : 4;
        kn_node **items = kn_document_take(to.doc, (size_t)capacity * sizeof(kn_node *));
        if (!items) return;
        if (list->count > 0) memcpy(items, list->items, (size_t)list->count * sizeof *items);
        list->items = items;
        list->capacity = capacity;
    }
    node->row = list->row;
    list->items[list->count++] = node;
}

static kn_node *item(kn_to list, kn_field_type type, kn_node *node)
{
    if (list.node && list.node->row && kn_field_kind(list.node->row) != type)
        kn_document_wrong(list.doc, list.node->row->name, "has items of another type");
    return node;
}

kn_to kn_append_object(kn_to list)
{
    const kn_field_row *row = list.node ? list.node->row : NULL;
    kn_node            *node = item(list, KN_F_LIST, object_node(list.doc, row ? row->of : NULL));
    append(list, node);
    return (kn_to){list.doc, node};
}

kn_to kn_append_list(kn_to list)
{
    kn_node *node = item(list, KN_F_TEXT_LISTS, new_node(list.doc, KN_DOCUMENT_LIST));
    append(list, node);
    if (node) node->row = NULL; /* its items are texts */
    return (kn_to){list.doc, node};
}

void kn_append_struct(kn_to list, const void *from)
{
    kn_put_struct(kn_append_object(list), from);
}

void kn_append_text(kn_to list, const char *text)
{
    append(list, item(list, KN_F_TEXTS, text_or_null(list.doc, text)));
}

void kn_append_bytes(kn_to list, const char *text, size_t size)
{
    append(list, item(list, KN_F_TEXTS, text_node(list.doc, text, size)));
}

void kn_append_integer(kn_to list, int64_t value)
{
    append(list, item(list, KN_F_COUNTS, integer_node(list.doc, value)));
}

void kn_append_number(kn_to list, double value)
{
    append(list, item(list, KN_F_NUMBERS, number_node(list.doc, value)));
}

void kn_append_level(kn_to list, int level)
{
    append(list,
           item(list, KN_F_LEVELS, level < 0 ? new_node(list.doc, KN_DOCUMENT_NULL) : integer_node(list.doc, level)));
}

void kn_put_texts(kn_to to, const char *key, const char *const *texts, int64_t count)
{
    kn_to list = kn_put_list(to, key);
    for (int64_t i = 0; i < count; i++) kn_append_text(list, texts[i]);
}

void kn_put_figure(kn_to figures, const char *name, double value, bool whole)
{
    bool     integer = whole && fabs(value) < 9e15 && value == floor(value);
    kn_node *node = integer ? integer_node(figures.doc, (int64_t)value) : number_node(figures.doc, value);
    kn_node *key = text_node(figures.doc, name, strlen(name));
    if (!node || !key) return;
    node->key = key->text;
    if (figures.node && figures.node->row && kn_field_kind(figures.node->row) != KN_F_FIGURES)
        kn_document_wrong(figures.doc, figures.node->row->name, "has no names of its own");
    else
        append(figures, node);
}

/* ---- Structs ---- */

static int64_t stored_integer(kn_store store, const void *at)
{
    switch (store) {
    case KN_STORE_INT: return *(const int *)at;
    case KN_STORE_UINT32: return *(const uint32_t *)at;
    default: return *(const int64_t *)at;
    }
}

static void put_stored_list(kn_to to, const kn_field_row *row, const void *at, int64_t count)
{
    kn_to       list = kn_put_list(to, row->name);
    const char *from = *(const char *const *)at;
    for (int64_t i = 0; i < count; i++) {
        switch (kn_field_kind(row)) {
        case KN_F_TEXTS: kn_append_text(list, ((const char *const *)(const void *)from)[i]); break;
        case KN_F_COUNTS: kn_append_integer(list, ((const int *)(const void *)from)[i]); break;
        case KN_F_NUMBERS: kn_append_number(list, ((const double *)(const void *)from)[i]); break;
        default: kn_append_struct(list, from + (size_t)i * row->of->size);
        }
    }
}

static void put_stored(kn_to to, int index, const char *from)
{
    const kn_field_row *row = &to.node->fields->rows[index];
    const void         *at = from + row->offset;
    const char         *chars = at;
    switch (row->store) {
    case KN_STORE_NONE: break;
    case KN_STORE_BOOLEAN: put_at(to, index, boolean_node(to.doc, *(const bool *)at)); break;
    case KN_STORE_INT:
    case KN_STORE_INT64:
    case KN_STORE_UINT32: put_at(to, index, integer_node(to.doc, stored_integer(row->store, at))); break;
    case KN_STORE_DOUBLE: put_at(to, index, number_node(to.doc, *(const double *)at)); break;
    case KN_STORE_TEXT:
        chars = *(const char *const *)at;
        if (chars || !(row->type & KN_F_OPTIONAL)) put_at(to, index, text_or_null(to.doc, chars));
        break;
    case KN_STORE_CHARS:
        put_at(to, index, text_or_null(to.doc, *chars || !(row->type & KN_F_NULLABLE) ? chars : NULL));
        break;
    case KN_STORE_NAMED: put_at(to, index, text_or_null(to.doc, row->named(*(const unsigned *)at))); break;
    case KN_STORE_LIST: put_stored_list(to, row, at, stored_integer(row->count_store, from + row->count_offset)); break;
    case KN_STORE_PART: kn_put_part(to, row->name, at); break;
    }
}

void kn_put_struct(kn_to to, const void *from)
{
    if (!to.node || !to.node->fields || to.doc->status != KN_OK) return;
    const kn_fields *fields = to.node->fields;
    for (int i = 0; i < fields->count; i++) put_stored(to, i, from);
    if (fields->fill) fields->fill(to, from);
}

void kn_put_part(kn_to to, const char *key, const void *from)
{
    kn_put_struct(kn_put_object(to, key), from);
}

void kn_put_parts(kn_to to, const char *key, const void *from, int64_t count)
{
    int   index = to.node ? row_index(to.node->fields, key) : -1;
    kn_to list = kn_put_list(to, key);
    if (index < 0) return;
    size_t size = to.node->fields->rows[index].of->size;
    for (int64_t i = 0; i < count; i++) kn_append_struct(list, (const char *)from + (size_t)i * size);
}

/* ---- Beginning and ending ---- */

static kn_to notes_of(kn_document *doc)
{
    int index = doc->top ? row_index(doc->answer, "notes") : -1;
    return (kn_to){doc, index < 0 ? NULL : doc->top->items[index]};
}

void kn_document_drop(kn_document *doc)
{
    kn_store_block *next;
    for (kn_store_block *b = doc->blocks; b; b = next) {
        next = b->next;
        doc->allocator.release(doc->allocator.user, b, b->size);
    }
    doc->blocks = NULL;
    doc->left = 0;
}

static void end(kn_document *doc)
{
    if (doc->ctx) kn_memory_discharge(doc->ctx, doc->charged);
    kn_document_drop(doc);
    pthread_mutex_destroy(&doc->lock);
    kn_allocator allocator = doc->allocator;
    allocator.release(allocator.user, doc, sizeof *doc);
}

kn_status kn_document_begin(kn_document **out, kn_context *ctx, const kn_fields *answer, kn_error *err)
{
    kn_allocator allocator = kn_context_allocator(ctx);
    kn_document *doc = allocator.alloc(allocator.user, sizeof *doc);
    if (!doc) return kn_fail_memory(err, ctx, "writing down the answer");
    memset(doc, 0, sizeof *doc);
    atomic_init(&doc->owners, 1);
    pthread_mutex_init(&doc->lock, NULL); /* of the default kind: cannot fail */
    doc->allocator = allocator;
    doc->ctx = ctx;
    doc->answer = answer;
    doc->top = object_node(doc, answer);
    if (row_index(answer, "answer") == 0) {
        kn_put_text(kn_document_top(doc), "answer", answer->name);
        (void)kn_put_list(kn_document_top(doc), "notes");
    }
    if (doc->status != KN_OK) {
        end(doc);
        return kn_fail_memory(err, ctx, "writing down the answer");
    }
    *out = doc;
    return KN_OK;
}

kn_to kn_document_top(kn_document *doc)
{
    return (kn_to){doc, doc->top};
}

void kn_document_look(kn_document *doc, const kn_node *node)
{
    if (node->kind == KN_DOCUMENT_LIST) {
        for (int64_t i = 0; i < node->count && !node->folded; i++) kn_document_look(doc, node->items[i]);
    } else if (node->kind == KN_DOCUMENT_OBJECT && node->fields) {
        for (int i = 0; i < node->fields->count; i++) {
            if (node->items[i])
                kn_document_look(doc, node->items[i]);
            else if (!(node->fields->rows[i].type & KN_F_OPTIONAL))
                kn_document_wrong(doc, node->fields->rows[i].name, "is missing");
        }
    }
}

kn_status kn_document_fail(const kn_document *doc, kn_error *err)
{
    if (doc->status == KN_MEMORY) return kn_fail_memory(err, doc->ctx, "writing down the answer");
    return kn_fail(err, KN_INTERNAL, "the answer '%s' is broken: field '%s' %s", doc->answer->name, doc->wrong,
                   doc->why);
}

kn_status kn_document_end(kn_document **out, kn_document *doc, kn_error *err)
{
    if (doc->status == KN_OK) kn_document_look(doc, doc->top);
    if (doc->status == KN_OK) {
        kn_memory_discharge(doc->ctx, doc->charged);
        doc->ctx = NULL;
        doc->charged = 0;
        *out = doc;
        return KN_OK;
    }
    kn_status status = kn_document_fail(doc, err);
    end(doc);
    return status;
}

kn_document *kn_document_retain(kn_document *doc)
{
    atomic_fetch_add_explicit(&doc->owners, 1, memory_order_relaxed);
    return doc;
}

void kn_document_free(kn_document *doc)
{
    if (doc && atomic_fetch_sub_explicit(&doc->owners, 1, memory_order_acq_rel) == 1) end(doc);
}

/* ---- Notes ---- */

void kn_put_note(kn_document *doc, const char *format, ...)
{
    char    text[1200];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    kn_append_text(notes_of(doc), text);
}

void kn_put_notes(kn_document *doc, const char *const *notes, int64_t count)
{
    for (int64_t i = 0; i < count; i++) kn_append_text(notes_of(doc), notes[i]);
}

kn_status kn_document_add_note(kn_document *doc, const char *note, kn_error *err)
{
    pthread_mutex_lock(&doc->lock);
    kn_append_text(notes_of(doc), note);
    bool added = doc->status == KN_OK;
    doc->status = KN_OK; /* without it the document is unchanged */
    pthread_mutex_unlock(&doc->lock);
    if (added) return KN_OK;
    return kn_fail(err, KN_MEMORY, "out of memory while adding a note to the answer");
}
