/* kn_document.h: making documents. include/kanon/document.h is for their readers.
 *
 *     kn_document *doc;
 *     KN_TRY(kn_document_begin(&doc, ctx, &verify_answer, err));
 *     kn_put_struct(kn_document_top(doc), report);
 *     return kn_document_end(out, doc, err);
 *
 * Failures in between (out of memory, a field that is not in the table or has another type) are recorded and reported
 * by kn_document_end, which also finds missing fields. All texts are copied; bytes that are not UTF-8 become \xNN.
 * Memory counts against the context's limit only while the document is being made.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_DOCUMENT_H
#define KN_DOCUMENT_H

#include "kn_fields.h"

KN_CHECK kn_status kn_document_begin(kn_document **out, kn_context *ctx, const kn_fields *answer, kn_error *err);

/* Checks the document and hands it out; on failure frees it. */
KN_CHECK kn_status kn_document_end(kn_document **out, kn_document *doc, kn_error *err);

kn_to kn_document_top(kn_document *doc);

/* Fields by name, each at most once. A number that is not finite becomes null, and so does a NULL text. */
void  kn_put_boolean(kn_to to, const char *key, bool value);
void  kn_put_integer(kn_to to, const char *key, int64_t value);
void  kn_put_number(kn_to to, const char *key, double value);
void  kn_put_text(kn_to to, const char *key, const char *text);
void  kn_put_bytes(kn_to to, const char *key, const char *text, size_t size);
void  kn_put_texts(kn_to to, const char *key, const char *const *texts, int64_t count);
void  kn_put_null(kn_to to, const char *key);
kn_to kn_put_object(kn_to to, const char *key); /* to be filled */
kn_to kn_put_list(kn_to to, const char *key);   /* to be appended to */

/* Put an object, or a list of `count` objects, filled from structs by the field's table. */
void kn_put_part(kn_to to, const char *key, const void *from);
void kn_put_parts(kn_to to, const char *key, const void *from, int64_t count);

/* Puts a long list whose items are made when they are looked at, and written without being kept. `item` puts item
 * `index`: of a list of objects it fills the object `to`, to any other list `to` it appends one. It is called from any
 * thread, for any document, in any order; `from` is of kn_document_take. */
typedef void (*kn_item_fn)(kn_to to, const void *from, int64_t index);
void kn_put_folded(kn_to to, const char *key, int64_t count, kn_item_fn item, const void *from);

/* Puts every row of the object's table that has a member in the struct, then calls the table's `fill`. */
void kn_put_struct(kn_to to, const void *from);

/* Items of a list. */
kn_to kn_append_object(kn_to list);
kn_to kn_append_list(kn_to list); /* of KN_F_TEXT_LISTS */
void  kn_append_struct(kn_to list, const void *from);
void  kn_append_text(kn_to list, const char *text);
void  kn_append_bytes(kn_to list, const char *text, size_t size);
void  kn_append_integer(kn_to list, int64_t value);
void  kn_append_number(kn_to list, double value);
void  kn_append_level(kn_to list, int level); /* null if negative */

/* A member of KN_F_FIGURES; `whole`: written as an integer. */
void kn_put_figure(kn_to figures, const char *name, double value, bool whole);

/* Adds a note. */
void kn_put_note(kn_document *doc, const char *format, ...) KN_PRINTF(2, 3);
void kn_put_notes(kn_document *doc, const char *const *notes, int64_t count);

/* Memory that lives as long as the document, aligned to 16 bytes; NULL after recording the failure. */
void *kn_document_take(kn_document *doc, size_t size);

/* The schema of a table; free it with kn_text_free. */
KN_CHECK kn_status kn_fields_schema(char **text, size_t *size, kn_context *ctx, const kn_fields *answer, kn_error *err);

/* Calls `each` for every field, nested ones after what contains them. */
void kn_fields_list(const kn_fields *answer, void (*each)(void *user, const kn_answer_field *field), void *user);

/* Does every row have a name and a sentence, and every object and list of objects its table? Writes the first mistake
 * to `where` (`size` bytes). For the tests. */
bool kn_fields_check(const kn_fields *answer, char *where, size_t size);

#endif
