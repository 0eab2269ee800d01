/* kn_document_read.c: reading a document: by path, or value by value. Cost of a path: the names it passes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kn_document_internal.h"

const char *kn_document_answer(const kn_document *doc)
{
    return doc->answer->name;
}

kn_document_kind kn_document_kind_of(const kn_node *value)
{
    return value ? value->kind : KN_DOCUMENT_NULL;
}

int64_t kn_document_count(const kn_node *value)
{
    bool holds = value && (value->kind == KN_DOCUMENT_LIST || value->kind == KN_DOCUMENT_OBJECT);
    return holds ? value->count : 0;
}

const kn_node *kn_document_at(const kn_node *value, int64_t index)
{
    if (index < 0 || index >= kn_document_count(value)) return NULL;
    if (value->kind == KN_DOCUMENT_LIST && value->folded && !kn_folded_open(value->folded)) return NULL;
    if (!value->fields) return value->items[index];
    for (int i = 0; i < value->fields->count; i++)
        if (value->items[i] && index-- == 0) return value->items[i];
    return NULL;
}

const char *kn_document_key(const kn_node *value, int64_t index)
{
    const kn_node *member = kn_document_at(value, index);
    if (!member || value->kind != KN_DOCUMENT_OBJECT) return NULL;
    return value->fields ? member->row->name : member->key;
}

static const kn_node *member(const kn_node *value, const char *key, size_t size)
{
    if (!value || value->kind != KN_DOCUMENT_OBJECT) return NULL;
    int64_t slots = value->fields ? value->fields->count : value->count;
    for (int64_t i = 0; i < slots; i++) {
        const kn_node *m = value->items[i];
        const char    *name = !m ? NULL : value->fields ? m->row->name : m->key;
        if (name && strlen(name) == size && memcmp(name, key, size) == 0) return m;
    }
    return NULL;
}

const kn_node *kn_document_member(const kn_node *value, const char *key)
{
    return member(value, key, strlen(key));
}

const kn_node *kn_document_find(const kn_document *doc, const char *path)
{
    const kn_node *value = doc->top;
    while (value && *path) {
        size_t size = strcspn(path, ".");
        if (value->kind == KN_DOCUMENT_LIST) {
            char     *last;
            long long index = strtoll(path, &last, 10);
            value = last == path + size && *path >= '0' && *path <= '9' ? kn_document_at(value, index) : NULL;
        } else {
            value = member(value, path, size);
        }
        path += size;
        if (*path == '.') path++;
    }
    return value;
}

bool kn_document_boolean_of(const kn_node *value)
{
    return kn_document_kind_of(value) == KN_DOCUMENT_BOOLEAN && value->boolean;
}

int64_t kn_document_integer_of(const kn_node *value)
{
    return kn_document_kind_of(value) == KN_DOCUMENT_INTEGER ? value->integer : 0;
}

double kn_document_number_of(const kn_node *value)
{
    switch (kn_document_kind_of(value)) {
    case KN_DOCUMENT_INTEGER: return (double)value->integer;
    case KN_DOCUMENT_NUMBER: return value->number;
    default: return NAN;
    }
}

const char *kn_document_text_of(const kn_node *value)
{
    return kn_document_kind_of(value) == KN_DOCUMENT_TEXT ? value->text : NULL;
}

bool kn_document_boolean(const kn_document *doc, const char *path, bool *out)
{
    const kn_node *value = kn_document_find(doc, path);
    if (kn_document_kind_of(value) != KN_DOCUMENT_BOOLEAN) return false;
    *out = value->boolean;
    return true;
}

bool kn_document_integer(const kn_document *doc, const char *path, int64_t *out)
{
    const kn_node *value = kn_document_find(doc, path);
    if (kn_document_kind_of(value) != KN_DOCUMENT_INTEGER) return false;
    *out = value->integer;
    return true;
}

bool kn_document_number(const kn_document *doc, const char *path, double *out)
{
    double value = kn_document_number_of(kn_document_find(doc, path));
    if (isnan(value)) return false;
    *out = value;
    return true;
}

const char *kn_document_text(const kn_document *doc, const char *path)
{
    return kn_document_text_of(kn_document_find(doc, path));
}
