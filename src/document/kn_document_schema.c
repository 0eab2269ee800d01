/* kn_document_schema.c: tables of fields as JSON Schema (draft 2020-12) and as a list, and their check.
 *
 * A schema allows the fields of its table and no others, requires those that are not optional, and gives for each its
 * sentence, its unit ("x-unit"), its possible words ("enum") and whether it may be published ("x-audience"). Objects
 * with their own table are under "$defs".
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_context.h"
#include "kn_document_internal.h"
#include "kn_error.h"

enum { MOST_PARTS = 64, MOST_PATH = 400 };

/* All tables that an answer uses, each once. */
typedef struct parts {
    const kn_fields *items[MOST_PARTS];
    int              count;
} parts;

static void collect(parts *p, const kn_fields *fields)
{
    for (int i = 0; i < fields->count; i++) {
        const kn_fields *of = fields->rows[i].of;
        int              known = 0;
        while (known < p->count && p->items[known] != of) known++;
        if (!of || known < p->count || p->count == MOST_PARTS) continue;
        p->items[p->count++] = of;
        collect(p, of);
    }
}

/* ---- JSON Schema ---- */

static bool may_be_null(const kn_field_row *row)
{
    kn_field_type type = kn_field_kind(row);
    return (row->type & KN_F_NULLABLE) || (kn_field_type_is_number(type) && !kn_field_type_is_integer(type));
}

static const char *json_type(kn_field_type type)
{
    if (kn_field_type_is_integer(type)) return "integer";
    if (kn_field_type_is_number(type)) return "number";
    switch (type) {
    case KN_F_BOOLEAN: return "boolean";
    case KN_F_TEXT: return "string";
    case KN_F_OBJECT:
    case KN_F_FIGURES: return "object";
    default: return "array";
    }
}

static void add_member(kn_text *text, int depth, const char *key, const char *value)
{
    kn_text_string(text, ",");
    kn_text_indent(text, depth);
    kn_text_format(text, "\"%s\": ", key);
    kn_text_quoted(text, value, strlen(value));
}

static void add_items(kn_text *text, const kn_field_row *row, int depth)
{
    static const char *const keys[KN_F_TYPES] = {
        [KN_F_TEXTS] = "\"items\": {\"type\": \"string\"}",
        [KN_F_COUNTS] = "\"items\": {\"type\": \"integer\"}",
        [KN_F_NUMBERS] = "\"items\": {\"type\": [\"number\", \"null\"]}",
        [KN_F_TEXT_LISTS] = "\"items\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}}",
        [KN_F_LEVELS] = "\"items\": {\"type\": [\"integer\", \"null\"]}",
        [KN_F_FIGURES] = "\"additionalProperties\": {\"type\": [\"number\", \"null\"]}",
    };
    const char *key = keys[kn_field_kind(row)];
    if (!key && !row->of) return;
    kn_text_string(text, ",");
    kn_text_indent(text, depth);
    if (key)
        kn_text_string(text, key);
    else if (kn_field_kind(row) == KN_F_LIST)
        kn_text_format(text, "\"items\": {\"$ref\": \"#/$defs/%s\"}", row->of->name);
    else
        kn_text_format(text, "\"$ref\": \"#/$defs/%s\"", row->of->name);
}

static bool is_repeated(const kn_field_row *row, unsigned word)
{
    unsigned i = 0;
    while (i < word && (!row->words(i) || strcmp(row->words(i), row->words(word)) != 0)) i++;
    return i < word;
}

static void add_words(kn_text *text, const kn_field_row *row, int depth)
{
    const char *between = "";
    if (!row->words) return;
    kn_text_string(text, ",");
    kn_text_indent(text, depth);
    kn_text_string(text, "\"enum\": [");
    for (unsigned i = 0; i < row->word_count; i++) {
        const char *word = row->words(i);
        if (!word || is_repeated(row, i)) continue;
        kn_text_string(text, between);
        kn_text_quoted(text, word, strlen(word));
        between = ", ";
    }
    kn_text_string(text, may_be_null(row) ? ", null]" : "]");
}

static void add_row(kn_text *text, const kn_fields *fields, const kn_field_row *row, int depth)
{
    kn_field_type type = kn_field_kind(row);
    const char   *unit = kn_field_type_unit(type);
    bool other = (row->type & KN_F_OR_NUMBER) != 0, null = may_be_null(row) || other, part = type == KN_F_OBJECT;
    kn_text_indent(text, depth);
    kn_text_format(text, "\"%s\": {", row->name);
    kn_text_indent(text, depth + 1);
    kn_text_string(text, "\"description\": ");
    kn_text_quoted(text, row->sentence, strlen(row->sentence));
    if (strcmp(row->name, "answer") == 0 && row == fields->rows && fields->sentence) {
        add_member(text, depth + 1, "const", fields->name);
    } else if (part && null) { /* what accompanies a reference applies too, and null is not an object */
        kn_text_string(text, ",");
        kn_text_indent(text, depth + 1);
        kn_text_format(text, "\"anyOf\": [{\"$ref\": \"#/$defs/%s\"}, {\"type\": \"%s\"}]", row->of->name,
                       other ? "number" : "null");
    } else if (null) {
        kn_text_string(text, ",");
        kn_text_indent(text, depth + 1);
        kn_text_format(text, "\"type\": [\"%s\", \"null\"]", json_type(type));
    } else if (!part) {
        add_member(text, depth + 1, "type", json_type(type));
    }
    if (!(part && null)) add_items(text, row, depth + 1);
    add_words(text, row, depth + 1);
    if (unit) add_member(text, depth + 1, "x-unit", unit);
    add_member(text, depth + 1, "x-audience", row->type & KN_F_PUBLIC ? "public" : "owner");
    kn_text_indent(text, depth);
    kn_text_string(text, "}");
}

static void add_table(kn_text *text, const kn_fields *fields, int depth)
{
    bool any = false;
    kn_text_indent(text, depth);
    kn_text_string(text, "\"type\": \"object\",");
    kn_text_indent(text, depth);
    kn_text_string(text, "\"additionalProperties\": false,");
    kn_text_indent(text, depth);
    kn_text_string(text, "\"required\": [");
    for (int i = 0; i < fields->count; i++) {
        if (fields->rows[i].type & KN_F_OPTIONAL) continue;
        kn_text_format(text, "%s\"%s\"", any ? ", " : "", fields->rows[i].name);
        any = true;
    }
    kn_text_string(text, "],");
    kn_text_indent(text, depth);
    kn_text_string(text, "\"properties\": {");
    for (int i = 0; i < fields->count; i++) {
        if (i > 0) kn_text_string(text, ",");
        add_row(text, fields, &fields->rows[i], depth + 1);
    }
    kn_text_indent(text, depth);
    kn_text_string(text, "}");
}

kn_status kn_fields_schema(char **out, size_t *size, kn_context *ctx, const kn_fields *answer, kn_error *err)
{
    kn_text text = {.allocator = kn_context_allocator(ctx)};
    parts   p = {.count = 0};
    collect(&p, answer);
    kn_text_string(&text, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\"");
    add_member(&text, 1, "title", answer->name);
    add_member(&text, 1, "description", answer->sentence);
    kn_text_string(&text, ",");
    add_table(&text, answer, 1);
    if (p.count > 0) kn_text_string(&text, ",\n  \"$defs\": {");
    for (int i = 0; i < p.count; i++) {
        kn_text_format(&text, "%s\n    \"%s\": {", i > 0 ? "," : "", p.items[i]->name);
        add_table(&text, p.items[i], 3);
        kn_text_string(&text, "\n    }");
    }
    if (p.count > 0) kn_text_string(&text, "\n  }");
    kn_text_string(&text, "\n}\n");
    return kn_text_end(out, size, &text, err);
}

/* ---- As a list ---- */

static const char *plain_type(kn_field_type type)
{
    const char *name = json_type(type);
    return strcmp(name, "string") == 0 ? "text" : strcmp(name, "array") == 0 ? "list" : name;
}

static void list(const kn_fields *fields, const char *above, void (*each)(void *, const kn_answer_field *), void *user)
{
    for (int i = 0; i < fields->count; i++) {
        const kn_field_row *row = &fields->rows[i];
        kn_field_type       type = kn_field_kind(row);
        char                path[MOST_PATH];
        snprintf(path, sizeof path, "%s%s%s", above, *above ? "." : "", row->name);
        each(user,
             &(kn_answer_field){path, plain_type(type), kn_field_type_unit(type), row->sentence,
                                (row->type & KN_F_PUBLIC) != 0, (row->type & KN_F_OPTIONAL) != 0, may_be_null(row)});
        if (!row->of || row->of == fields) continue; /* a recursive table would never end */
        if (type == KN_F_LIST) snprintf(path, sizeof path, "%s%s%s.[]", above, *above ? "." : "", row->name);
        list(row->of, path, each, user);
    }
}

void kn_fields_list(const kn_fields *answer, void (*each)(void *user, const kn_answer_field *field), void *user)
{
    list(answer, "", each, user);
}

/* ---- Are they complete? ---- */

static bool table_check(const kn_fields *fields, char *where, size_t size)
{
    for (int i = 0; i < fields->count; i++) {
        const kn_field_row *row = &fields->rows[i];
        kn_field_type       type = kn_field_kind(row);
        const char         *why = NULL;
        if (!row->name || !*row->name)
            why = "has no name";
        else if (!row->sentence || strlen(row->sentence) < 8)
            why = "has no sentence";
        else if ((type == KN_F_LIST || type == KN_F_OBJECT) != (row->of != NULL))
            why = "has no table, or one that is not its";
        else if (row->words && type != KN_F_TEXT)
            why = "has words, and is no text";
        for (int j = 0; j < i && !why; j++)
            if (strcmp(fields->rows[j].name, row->name) == 0) why = "stands there twice";
        if (!why) continue;
        snprintf(where, size, "%s, field %d (%s): %s", fields->name, i, row->name ? row->name : "", why);
        return false;
    }
    return true;
}

bool kn_fields_check(const kn_fields *answer, char *where, size_t size)
{
    parts p = {.count = 0};
    collect(&p, answer);
    if (!answer->sentence || p.count == MOST_PARTS) {
        snprintf(where, size, "%s has no sentence, or too many parts", answer->name);
        return false;
    }
    for (int i = 0; i < p.count; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(p.items[i]->name, p.items[j]->name) == 0) {
                snprintf(where, size, "%s: two parts are called %s", answer->name, p.items[i]->name);
                return false;
            }
    for (int i = 0; i < p.count; i++)
        if (!table_check(p.items[i], where, size)) return false;
    return table_check(answer, where, size);
}
