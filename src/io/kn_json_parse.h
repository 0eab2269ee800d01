/* kn_json_parse.h: JSON (RFC 8259), piece by piece: the next token and its place.
 *
 * A parser of our own: it never holds more than one text, knows line and column, refuses what is not JSON by the RFC
 * (and texts with NUL, lone surrogates or bytes that are not UTF-8), and limits depth and length. Repeated names in
 * an object are left to the caller. Used by one thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_JSON_PARSE_H
#define KN_JSON_PARSE_H

#include "kn_buffer.h"
#include "kn_source.h"
#include "kn_string.h"

enum { KN_JSON_MAX_DEPTH = 200, KN_JSON_MAX_TEXT = 4 << 20 };

typedef enum kn_json_kind {
    KN_JSON_END, /* of the document; with `many`: of the last of them */
    KN_JSON_OBJECT,
    KN_JSON_OBJECT_END,
    KN_JSON_LIST,
    KN_JSON_LIST_END,
    KN_JSON_KEY,
    KN_JSON_TEXT,
    KN_JSON_NUMBER, /* text: as it is written */
    KN_JSON_TRUE,
    KN_JSON_FALSE,
    KN_JSON_NULL
} kn_json_kind;

typedef struct kn_json {
    kn_context *ctx;
    kn_source  *source;
    const char *file;
    bool        many; /* documents one after the other (JSON Lines) */
    /* The token: its text is that of a key, a text, a number, "true" or "false"; valid until the next. */
    kn_json_kind kind;
    kn_string    text;
    int64_t      line, column;
    /* Bytes. */
    char    *buffer;
    size_t   filled, at;
    bool     ended;
    uint64_t offset;     /* of buffer[0] in the file            */
    uint64_t line_start; /* offset                              */
    uint64_t inside;     /* continuation bytes since line_start */
    int64_t  lines;      /* line ends passed                    */
    /* Grammar. */
    int       depth;
    bool      in_object[KN_JSON_MAX_DEPTH];
    bool      first;      /* the innermost list or object is still empty                 */
    bool      after_key;  /* a value must follow                                         */
    bool      done;       /* the document has ended                                      */
    kn_buffer scratch;
} kn_json;

/* The source is borrowed. To be closed with kn_json_close, even on failure. */
KN_CHECK kn_status kn_json_open(kn_json *json, kn_context *ctx, kn_source *source, bool many, kn_error *err);
void               kn_json_close(kn_json *json);

/* The next token. KN_INPUT with file, line and column: not JSON. */
KN_CHECK kn_status kn_json_next(kn_json *json, kn_error *err);

/* Skips the value that the current token begins: to its last token. */
KN_CHECK kn_status kn_json_skip(kn_json *json, kn_error *err);

/* Fails at the current token. */
kn_status kn_json_fail(const kn_json *json, kn_error *err, const char *message);

#endif
