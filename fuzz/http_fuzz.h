/* http_fuzz.h: what HTTP says, read strictly, beside the server that fuzz_http.c feeds.
 *
 * strict_next reads the next request of a connection if it has one meaning only (RFC 9112): a server must understand exactly
 * this. read_answer reads an answer, which must be well-formed. Both cut the bytes they read into texts, in place.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HTTP_FUZZ_H
#define HTTP_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kn_studio_request.h"

enum { MOST_STRICT_HEADER = 4000 };

static inline void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_http: %s\n", what);
    abort();
}

typedef struct strict_request {
    kn_studio_raw raw;
    char         *body;
    size_t        size;
    bool          last; /* the client wants the connection closed after it */
} strict_request;

/* Bytes that are being read. */
typedef struct reader {
    char  *bytes;
    size_t size, at;
} reader;

static inline bool is_token(const char *text)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    for (const char *c = text; *c; c++)
        if (!(*c >= '0' && *c <= '9') && !((*c | 32) >= 'a' && (*c | 32) <= 'z') && !strchr(marks, *c)) return false;
    return *text != '\0';
}

static inline bool is_plain(const char *text)
{
    for (const char *c = text; *c; c++)
        if ((*c < ' ' && *c != '\t') || *c == 0x7f) return false; /* other than ASCII, too: char is signed */
    return true;
}

/* The line at `at` without its CRLF, as a text; NULL: it does not end, or ends otherwise. */
static inline char *next_line(reader *from)
{
    char *line = from->bytes + from->at, *end = memchr(line, '\n', from->size - from->at);
    if (!end || end == line || end[-1] != '\r' || memchr(line, '\0', (size_t)(end - line)) ||
        memchr(line, '\r', (size_t)(end - line) - 1))
        return NULL;
    end[-1] = '\0';
    from->at = (size_t)(end + 1 - from->bytes);
    return line;
}

/* "Name: value" → its value, and the name where the line begins; NULL: another form, also with blanks at the end, which
 * libmicrohttpd before 1.0 takes for a part of the value. */
static inline char *split_header(char *line)
{
    char *value = strchr(line, ':');
    if (!value) return NULL;
    *value++ = '\0';
    while (*value == ' ' || *value == '\t') value++;
    size_t size = strlen(value);
    bool   blank = size > 0 && (value[size - 1] == ' ' || value[size - 1] == '\t');
    return is_token(line) && is_plain(value) && !blank ? value : NULL;
}

static inline bool read_size(const char *text, int base, uint64_t *out)
{
    size_t digits = strspn(text, base == 16 ? "0123456789abcdefABCDEF" : "0123456789");
    *out = strtoull(text, NULL, base);
    return digits > 0 && digits <= 15 && text[digits] == '\0';
}

/* "offset=N&count=N", each at most once; false: another form. */
static inline bool split_query(char *query, kn_studio_raw *raw)
{
    for (char *next; query; query = next) {
        next = strchr(query, '&');
        if (next) *next++ = '\0';
        char        *value = strchr(query, '=');
        const char **to = NULL;
        if (value) *value++ = '\0';
        if (strcmp(query, "offset") == 0) to = &raw->offset;
        if (strcmp(query, "count") == 0) to = &raw->count;
        if (!value || !to || *to || value[strspn(value, "0123456789")] != '\0') return false;
        *to = value;
    }
    return true;
}

static inline bool split_request_line(char *line, kn_studio_raw *raw)
{
    char *path = strchr(line, ' '), *version = path ? strchr(path + 1, ' ') : NULL;
    if (!version || strcmp(version, " HTTP/1.1") != 0 || path[1] != '/') return false;
    *version = *path++ = '\0';
    raw->method = line;
    raw->path = path;
    char *query = strchr(path, '?');
    if (query) *query++ = '\0';
    return is_token(line) && is_plain(path) && !strpbrk(path, "\"#<>\\^`{|}\t") && split_query(query, raw);
}

/* A body in chunks without extensions and trailers, which it joins in place; false: it is none, or is not whole. */
static inline bool join_chunks(reader *from, char **body, size_t *length)
{
    uint64_t size;
    *body = from->bytes + from->at;
    *length = 0;
    do {
        char *line = next_line(from);
        if (!line || !read_size(line, 16, &size) || size > from->size - from->at) return false;
        memmove(*body + *length, from->bytes + from->at, (size_t)size);
        *length += (size_t)size;
        from->at += (size_t)size;
        line = next_line(from);
        if (!line || *line) return false;
    } while (size > 0);
    return true;
}

static inline bool read_body(reader *from, strict_request *out)
{
    uint64_t size = 0;
    if (out->raw.transfer_encoding)
        return !out->raw.content_length && strcmp(out->raw.transfer_encoding, "chunked") == 0 &&
               join_chunks(from, &out->body, &out->size);
    if (out->raw.content_length && !read_size(out->raw.content_length, 10, &size)) return false;
    if (size > from->size - from->at) return false;
    out->body = from->bytes + from->at;
    out->size = (size_t)size;
    from->at += out->size;
    return true;
}

/* The next request; false: it is not whole, or is not one that everybody understands in the same way. Then `at` stays. */
static inline bool strict_next(reader *from, strict_request *out)
{
    *out = (strict_request){0};
    const char *connection = NULL, *expect = NULL;
    const struct {
        const char  *name;
        const char **to;
    } once[] = {{"Host", &out->raw.host},
                {"Origin", &out->raw.origin},
                {"Sec-Fetch-Site", &out->raw.site},
                {"Authorization", &out->raw.authorization},
                {"Content-Type", &out->raw.content_type},
                {"Content-Length", &out->raw.content_length},
                {"Transfer-Encoding", &out->raw.transfer_encoding},
                {"Connection", &connection},
                {"Expect", &expect}};
    reader at = *from;
    char  *line = next_line(&at);
    if (!line || !split_request_line(line, &out->raw)) return false;
    while ((line = next_line(&at)) && *line) {
        char *value = split_header(line);
        if (!value || !*value || at.at - from->at > MOST_STRICT_HEADER) return false;
        for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
            if (strcasecmp(once[i].name, line) != 0) continue;
            if (*once[i].to) return false;
            *once[i].to = value;
        }
    }
    if (!line || !out->raw.host || (expect && strcmp(expect, "100-continue") != 0)) return false;
    out->last = connection && strcmp(connection, "close") == 0;
    if (connection && !out->last && strcmp(connection, "keep-alive") != 0) return false;
    if (!read_body(&at, out) || (expect && out->size == 0)) return false;
    from->at = at.at;
    return true;
}

/* ---- Answers ---- */

typedef struct answer {
    int    status;
    bool   closes;    /* says that the connection ends with it                     */
    bool   until_end; /* its body is all that comes before the connection's end    */
    bool   guarded;   /* has the headers with which the studio answers             */
    char  *body;
    size_t size;
} answer;

/* libmicrohttpd before 1.0 sends the head of a refusal twice if a Content-Length is no number. */
static inline void skip_repeated_head(reader *from)
{
    const char *head = from->bytes + from->at, *end = memmem(head, from->size - from->at, "\r\n\r\n", 4);
    size_t      size = end ? (size_t)(end + 4 - head) : 0;
    if (size <= (from->size - from->at) / 2 && memcmp(head, head + size, size) == 0) from->at += size;
}

/* Reads an answer that must be there, whole. `no_body`: it answers HEAD; `maybe`: it may, and is libmicrohttpd's own. */
static inline answer read_answer(reader *from, bool no_body, bool maybe)
{
    static const char *const guards[][2] = {{"X-Content-Type-Options", "nosniff"},
                                            {"X-Frame-Options", "DENY"},
                                            {"Referrer-Policy", "no-referrer"},
                                            {"Cross-Origin-Resource-Policy", "same-origin"},
                                            {"Cache-Control", "no-store"}};
    answer   out = {0};
    size_t   kept = 0;
    uint64_t size = UINT64_MAX;
    bool     chunked = false;
    if (maybe) skip_repeated_head(from);
    char *line = next_line(from), *value;
    demand(line && strncmp(line, "HTTP/1.", 7) == 0 && (line[7] == '0' || line[7] == '1') && line[8] == ' ' &&
               strspn(line + 9, "0123456789") == 3 && line[12] == ' ' && is_plain(line),
           "an answer that does not begin as one");
    out.status = atoi(line + 9);
    while ((line = next_line(from)) && *line) {
        value = split_header(line);
        demand(value != NULL, "an answer with a header that is none");
        demand(strncasecmp(line, "Access-Control-", 15) != 0, "an answer that another page may read");
        if (strcasecmp(line, "Content-Length") == 0)
            demand(size == UINT64_MAX && read_size(value, 10, &size), "an answer whose length is none");
        if (strcasecmp(line, "Transfer-Encoding") == 0) chunked = strcmp(value, "chunked") == 0;
        if (strcasecmp(line, "Connection") == 0) out.closes = strcasecmp(value, "close") == 0;
        for (size_t i = 0; i < sizeof guards / sizeof *guards; i++)
            kept += strcmp(line, guards[i][0]) == 0 && strcmp(value, guards[i][1]) == 0;
    }
    demand(line != NULL, "an answer whose headers do not end");
    out.guarded = kept == sizeof guards / sizeof *guards;
    /* "HEAD" with a NUL behind it is another method, and is answered with a body. */
    size_t left = from->size - from->at;
    bool   next = left >= 7 && memcmp(from->bytes + from->at, "HTTP/1.", 7) == 0;
    if (out.status < 200 || (no_body && (left == 0 || next)) || (maybe && left == 0)) return out;
    demand(!chunked || size == UINT64_MAX, "an answer with two lengths");
    if (chunked) {
        demand(join_chunks(from, &out.body, &out.size), "an answer whose chunks are none");
        return out;
    }
    out.until_end = size == UINT64_MAX;
    if (out.until_end) size = from->size - from->at;
    demand(size <= from->size - from->at, "an answer that is not whole");
    out.body = from->bytes + from->at;
    out.size = (size_t)size;
    from->at += out.size;
    return out;
}

#endif
