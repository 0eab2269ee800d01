/* kn_fields.h: tables of fields: what a document may contain, declared once.
 *
 * A table describes an object: each row is a field, in the order of writing. Rows with a member in a struct are
 * filled from there (kn_put_struct); the others are put by name, by the table's `fill` or by the caller.
 *
 *     static const kn_field_row step_rows[] = {
 *         KN_FIELD(kn_step, k, KN_F_COUNT, "the k that is reached"),
 *         KN_FIELD(kn_step, removed, KN_F_ROWS, "rows to be removed"),
 *     };
 *     static const kn_fields step_fields = KN_FIELDS(kn_step, "step", step_rows, NULL);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_FIELDS_H
#define KN_FIELDS_H

#include <kanon/document.h>

/* The type of a field, with its unit. Numbers may be null: there is none, or it is unbounded. */
typedef enum kn_field_type {
    KN_F_BOOLEAN = 0,
    KN_F_COUNT, /* whole numbers */
    KN_F_ROWS,
    KN_F_CLASSES,
    KN_F_PERSONS,
    KN_F_RECORDS,
    KN_F_CELLS,
    KN_F_COLUMNS,
    KN_F_LEVEL,
    KN_F_NUMBER, /* numbers */
    KN_F_SHARE,
    KN_F_SECONDS,
    KN_F_BITS,
    KN_F_TEXT,
    KN_F_TEXTS, /* lists of plain values */
    KN_F_COUNTS,
    KN_F_NUMBERS,
    KN_F_LIST,   /* of objects */
    KN_F_OBJECT,
    KN_F_FIGURES, /* an object whose names depend on the method, with numbers */
    KN_F_TEXT_LISTS, /* a list of lists of texts */
    KN_F_LEVELS,     /* a list of levels, null where there is none */
    KN_F_TYPES,
    /* flags, added to one of these: */
    KN_F_OPTIONAL = 0x100, /* may be absent                                             */
    KN_F_NULLABLE = 0x200, /* may be null                                               */
    KN_F_OR_NUMBER = 0x800, /* of an object: may be a number instead                     */
    KN_F_PUBLIC = 0x400    /* may be published with the release; else the owner's       */
} kn_field_type;

/* How a struct stores a value. */
typedef enum kn_store {
    KN_STORE_NONE = 0,
    KN_STORE_BOOLEAN,
    KN_STORE_INT,
    KN_STORE_INT64,
    KN_STORE_UINT32,
    KN_STORE_DOUBLE,
    KN_STORE_TEXT,  /* const char *                                      */
    KN_STORE_CHARS, /* char[]; empty: null, if it is nullable            */
    KN_STORE_NAMED, /* an enumeration, with a function for names         */
    KN_STORE_LIST,  /* a pointer, and a count (int or int64_t)           */
    KN_STORE_PART   /* a struct inside the struct                        */
} kn_store;

typedef const char *(*kn_name_fn)(unsigned value);

struct kn_fields;

typedef struct kn_field_row {
    const char             *name;
    const char             *sentence;
    unsigned                type; /* kn_field_type and flags */
    kn_store                store, count_store;
    size_t                  offset, count_offset;
    kn_name_fn              named;
    kn_name_fn              words; /* of a text: its possible words, without NULL ones; NULL: any text */
    unsigned                word_count;
    const struct kn_fields *of; /* of an object, and of the items of a list */
} kn_field_row;

/* An object being filled: its document and its value there. */
typedef struct kn_to {
    kn_document              *doc;
    struct kn_document_value *node;
} kn_to;

typedef struct kn_fields {
    const char     *name;     /* "verify"; of a part: what the schema calls it */
    const char     *sentence; /* of an answer; else NULL                       */
    const kn_field_row *rows;
    int             count;
    size_t          size;                         /* of the struct; 0: there is none */
    void (*fill)(kn_to to, const void *from);     /* puts what has no member in the struct; may be NULL */
} kn_fields;

#define KN_STORE_OF(S, member)                                                                                         \
    _Generic(((S *)0)->member,                                                                                         \
        bool: KN_STORE_BOOLEAN,                                                                                        \
        int: KN_STORE_INT,                                                                                             \
        int64_t: KN_STORE_INT64,                                                                                       \
        uint32_t: KN_STORE_UINT32,                                                                                     \
        double: KN_STORE_DOUBLE,                                                                                       \
        char *: KN_STORE_TEXT,                                                                                         \
        const char *: KN_STORE_TEXT)

#define KN_AT(S, member, key, kind, stored, part, text)                                                                \
    {                                                                                                                  \
        .name = key, .sentence = text, .type = kind, .store = stored, .offset = offsetof(S, member), .of = part        \
    }

/* A field from a member of struct S, under the member's name or another. */
#define KN_FIELD_AS(S, member, key, kind, text) KN_AT(S, member, key, kind, KN_STORE_OF(S, member), NULL, text)
#define KN_FIELD(S, member, kind, text) KN_FIELD_AS(S, member, #member, kind, text)
#define KN_FIELD_CHARS(S, member, kind, text) KN_AT(S, member, #member, kind, KN_STORE_CHARS, NULL, text)
#define KN_FIELD_PART(S, member, part, kind, text) KN_AT(S, member, #member, kind, KN_STORE_PART, part, text)
#define KN_FIELD_NAMED(S, member, function, kind, text)                                                                \
    {                                                                                                                  \
        .name = #member, .sentence = text, .type = KN_F_TEXT | (kind), .store = KN_STORE_NAMED,                        \
        .offset = offsetof(S, member), .named = (kn_name_fn)(function)                                                 \
    }

/* A text that is one of the names of an enumeration up to `last`: from a member of a struct, or put by name. */
#define KN_FIELD_WORDS(S, member, function, last, kind, text)                                                          \
    {                                                                                                                  \
        .name = #member, .sentence = text, .type = KN_F_TEXT | (kind), .store = KN_STORE_NAMED,                        \
        .offset = offsetof(S, member), .named = (kn_name_fn)(function), .words = (kn_name_fn)(function),               \
        .word_count = (unsigned)(last) + 1                                                                             \
    }
#define KN_VALUE_WORDS(key, function, last, kind, text)                                                                \
    {                                                                                                                  \
        .name = key, .sentence = text, .type = KN_F_TEXT | (kind), .words = (kn_name_fn)(function),                    \
        .word_count = (unsigned)(last) + 1                                                                             \
    }

/* A list: a pointer to structs (of `part`), texts or numbers, and their number. */
#define KN_FIELD_LIST_AS(S, member, counted, key, part, kind, text)                                                    \
    {                                                                                                                  \
        .name = key, .sentence = text, .type = kind, .store = KN_STORE_LIST, .count_store = KN_STORE_OF(S, counted),   \
        .offset = offsetof(S, member), .count_offset = offsetof(S, counted), .of = part                                \
    }
#define KN_FIELD_LIST(S, member, counted, part, kind, text)                                                            \
    KN_FIELD_LIST_AS(S, member, counted, #member, part, kind, text)

/* A field that is put by name. */
#define KN_VALUE(key, kind, text)                                                                                      \
    {                                                                                                                  \
        .name = key, .sentence = text, .type = kind                                                                    \
    }
#define KN_VALUE_OF(key, kind, part, text)                                                                             \
    {                                                                                                                  \
        .name = key, .sentence = text, .type = kind, .of = part                                                        \
    }

/* The first and the last row of every answer. */
#define KN_ANSWER_ROW KN_VALUE("answer", KN_F_TEXT | KN_F_PUBLIC, "which answer this is, and so which schema it follows")
#define KN_NOTES_ROW KN_VALUE("notes", KN_F_TEXTS, "what the user should know: sentences without a value of the data")

#define KN_FIELDS(S, title, table, filler)                                                                             \
    {                                                                                                                  \
        .name = title, .rows = table, .count = (int)(sizeof(table) / sizeof *(table)), .size = sizeof(S),              \
        .fill = filler                                                                                                 \
    }

/* A table without a struct: everything is put by name. */
#define KN_FIELDS_PUT(title, table)                                                                                    \
    {                                                                                                                  \
        .name = title, .rows = table, .count = (int)(sizeof(table) / sizeof *(table))                                  \
    }

/* An answer: its schema has a sentence. */
#define KN_ANSWER(S, title, table, filler, text)                                                                       \
    {                                                                                                                  \
        .name = title, .sentence = text, .rows = table, .count = (int)(sizeof(table) / sizeof *(table)),               \
        .size = sizeof(S), .fill = filler                                                                              \
    }

/* ---- Facts about types ---- */

static inline kn_field_type kn_field_kind(const kn_field_row *field)
{
    return (kn_field_type)(field->type & 0xFF);
}

bool        kn_field_type_is_integer(kn_field_type type);
bool        kn_field_type_is_number(kn_field_type type);
const char *kn_field_type_unit(kn_field_type type); /* NULL: none */

#endif
