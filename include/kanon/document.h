/* kanon/document.h: answers as documents: the result of a call as named fields, which are declared once.
 *
 * Every answer (of profile, diagnose, anonymize, verify, ...) has a table of fields: name, type with its unit, who
 * may see it, one sentence. From it come the JSON that the program prints, the JSON Schema, docs/json.md and what
 * other languages read. A document holds copies: documents, results and contexts may be freed in any order and by any
 * thread. Several threads may read a document at once; only one may add notes. An allocator given to the context must
 * outlive them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_DOCUMENT_H
#define KANON_DOCUMENT_H

#include <kanon/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kn_document       kn_document;
typedef struct kn_document_value kn_document_value; /* part of a document; valid as long as it is    */

/* ---- Lifetime ---- */

/* Adds an owner; returns `doc`. Each owner frees it once. */
KN_API kn_document *kn_document_retain(kn_document *doc);
KN_API void         kn_document_free(kn_document *doc); /* NULL is fine */

/* Reads a document that was written before: an answer that the program printed (--json), a certificate or a private file. `path`
 * is a file, "-" or "memory:NAME". KN_INPUT, with the place: it is none, or one of another version. */
KN_API KN_CHECK kn_status kn_document_read(kn_document **out, kn_context *ctx, const char *path, kn_error *err);

/* ---- Reading ---- */

typedef enum kn_document_kind {
    KN_DOCUMENT_NULL = 0,
    KN_DOCUMENT_BOOLEAN,
    KN_DOCUMENT_INTEGER,
    KN_DOCUMENT_NUMBER,
    KN_DOCUMENT_TEXT,
    KN_DOCUMENT_LIST,
    KN_DOCUMENT_OBJECT
} kn_document_kind;

/* Which answer it is: "verify", "profile-database", ... Static. */
KN_API const char *kn_document_answer(const kn_document *doc);

/* The value at a path: names of fields and, in lists, numbers from 0, separated by points ("models.0.reached"); "":
 * the whole document. NULL: there is none. */
KN_API const kn_document_value *kn_document_find(const kn_document *doc, const char *path);

/* The value at a path; false, with *out unchanged: there is none, or it has another kind. An integer is also a
 * number. */
KN_API bool kn_document_boolean(const kn_document *doc, const char *path, bool *out);
KN_API bool kn_document_integer(const kn_document *doc, const char *path, int64_t *out);
KN_API bool kn_document_number(const kn_document *doc, const char *path, double *out);

/* UTF-8, ending with a NUL; NULL: there is none, or it is not a text. */
KN_API const char *kn_document_text(const kn_document *doc, const char *path);

/* Walking through a value. `value` may be NULL: it has kind KN_DOCUMENT_NULL and no members. */
KN_API kn_document_kind         kn_document_kind_of(const kn_document_value *value);
KN_API int64_t                  kn_document_count(const kn_document_value *value);              /* members, items         */
KN_API const kn_document_value *kn_document_at(const kn_document_value *value, int64_t index);  /* NULL: no such          */
KN_API const char              *kn_document_key(const kn_document_value *value, int64_t index); /* NULL: not of an object */
KN_API const kn_document_value *kn_document_member(const kn_document_value *value, const char *key);
KN_API bool                     kn_document_boolean_of(const kn_document_value *value); /* false where it is none */
KN_API int64_t                  kn_document_integer_of(const kn_document_value *value); /* 0 where it is none     */
KN_API double                   kn_document_number_of(const kn_document_value *value);  /* NAN where it is none   */
KN_API const char              *kn_document_text_of(const kn_document_value *value);    /* NULL where it is none  */

/* Long lists are folded: their items are made when they are first looked at. This makes them all beforehand, so that a lack of
 * memory is reported; without it an item that there is no memory for reads as absent (NULL). Any thread. */
KN_API KN_CHECK kn_status kn_document_unfold(kn_document *doc, kn_error *err);

/* ---- Notes ---- */

/* Adds a sentence of the caller to the document's notes ("notes" of every answer). */
KN_API KN_CHECK kn_status kn_document_add_note(kn_document *doc, const char *note, kn_error *err);

/* ---- As text ---- */

/* The document as JSON, indented by two blanks, with a newline at the end. `*size` (may be NULL) does not count the
 * final NUL. Free the text with kn_text_free. The only failure is KN_MEMORY. */
KN_API KN_CHECK kn_status kn_document_json(char **text, size_t *size, const kn_document *doc, kn_error *err);
KN_API void               kn_text_free(char *text); /* NULL is fine */

/* The same text, handed to `write` in pieces, in order and one at a time, by any thread; long lists are written by all threads of `ctx` (NULL: by
 * the caller alone) and never stand whole in memory. Ends with the first failure of `write`. */
typedef kn_status (*kn_document_write_fn)(void *user, const char *data, size_t size, kn_error *err);
KN_API KN_CHECK kn_status kn_document_write(const kn_document *doc, kn_context *ctx, kn_document_write_fn write,
                                            void *user, kn_error *err);

/* ---- Answers and their fields ---- */

/* The answers by number, from 0; NULL after the last. Static. */
KN_API const char *kn_answer_name(int index);
KN_API const char *kn_answer_sentence(int index);

/* A field of an answer: `path` as in kn_document_find, with "[]" for any item and "*" for any name. */
typedef struct kn_answer_field {
    const char *path;
    const char *type;     /* "boolean", "integer", "number", "text", "list", "object" */
    const char *unit;     /* "rows", "seconds", ...; NULL: none              */
    const char *sentence;
    bool        is_public; /* may be published with the release              */
    bool        optional; /* may be absent                                   */
    bool        nullable; /* may be null                                     */
} kn_answer_field;

/* Calls `each` for every field of an answer, nested ones after what contains them; `field` and its texts are borrowed
 * for the length of the call. KN_USAGE: there is no such answer. */
KN_API KN_CHECK kn_status kn_answer_fields(const char *answer, void (*each)(void *user, const kn_answer_field *field),
                                           void *user, kn_error *err);

/* The JSON Schema (draft 2020-12) of an answer; free it with kn_text_free. KN_USAGE: there is no such answer. */
KN_API KN_CHECK kn_status kn_answer_schema(char **text, size_t *size, kn_context *ctx, const char *answer,
                                           kn_error *err);

#ifdef __cplusplus
}
#endif

#endif
