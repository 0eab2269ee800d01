/* kn_studio_request.c: who may ask, and what is asked (kn_studio_request.h).
 *
 * The page is served to anybody on this machine: it holds nothing. Everything about the data needs the token, as
 * "Authorization: Bearer TOKEN": a browser adds such a header to no request by itself, so that another page cannot ask in the
 * user's name. Host and Origin are compared as well: neither a name that an attacker lets point to 127.0.0.1 nor a page of
 * another origin gets an answer.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_studio_request.h"

#include <string.h>
#include <strings.h>

enum { MOST_DIGITS = 15 };

typedef struct route_row {
    const char     *method, *path;
    kn_studio_route route;
    bool            has_body;
} route_row;

/* "#" stands for a number. */
static const route_row routes[] = {
    {"GET", "/", KN_STUDIO_PAGE, false},
    {"GET", "/page.js", KN_STUDIO_SCRIPT, false},
    {"GET", "/page.css", KN_STUDIO_STYLE, false},
    {"GET", "/api/session", KN_STUDIO_SESSION, false},
    {"PUT", "/api/session", KN_STUDIO_CHANGE, true},
    {"POST", "/api/undo", KN_STUDIO_UNDO, false},
    {"POST", "/api/redo", KN_STUDIO_REDO, false},
    {"POST", "/api/save", KN_STUDIO_SAVE, true},
    {"GET", "/api/rows", KN_STUDIO_ROWS, false},
    {"GET", "/api/jobs", KN_STUDIO_JOBS, false},
    {"POST", "/api/jobs", KN_STUDIO_ASK, true},
    {"GET", "/api/jobs/#", KN_STUDIO_JOB, false},
    {"GET", "/api/jobs/#/answer", KN_STUDIO_ANSWER, false},
    {"DELETE", "/api/jobs/#", KN_STUDIO_CANCEL, false},
    {"GET", "/api/events", KN_STUDIO_EVENTS, false},
};
enum { ROUTES = sizeof routes / sizeof routes[0] };

/* Digits alone; returns where they end, NULL: there are none, or too many. */
static const char *read_number(const char *text, int64_t *out)
{
    int64_t value = 0;
    int     digits = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (++digits > MOST_DIGITS) return NULL;
        value = value * 10 + (*text - '0');
    }
    *out = value;
    return digits ? text : NULL;
}

static bool path_fits(const char *pattern, const char *path, int64_t *job)
{
    for (; *pattern; pattern++) {
        if (*pattern == '#') {
            path = read_number(path, job);
            if (!path) return false;
        } else if (*path++ != *pattern)
            return false;
    }
    return *path == '\0';
}

/* 200, 404 or 405. */
static int find_route(kn_studio_request *out, const char *method, const char *path)
{
    int status = 404;
    for (int i = 0; i < ROUTES; i++) {
        int64_t job = 0;
        if (!path_fits(routes[i].path, path, &job)) continue;
        status = 405;
        if (strcmp(routes[i].method, method) != 0) continue;
        out->route = routes[i].route;
        out->has_body = routes[i].has_body;
        out->job = job;
        return 200;
    }
    return status;
}

/* Takes as long for any text of that length. */
static bool same_token(const char *said, const char *token)
{
    unsigned char differs = 0;
    if (strlen(said) != KN_STUDIO_TOKEN) return false;
    for (int i = 0; i < KN_STUDIO_TOKEN; i++) differs |= (unsigned char)(said[i] ^ token[i]);
    return differs == 0;
}

static bool has_token(const kn_studio_raw *raw, const kn_studio_door *door)
{
    static const char scheme[] = "Bearer ";
    return raw->authorization && strncmp(raw->authorization, scheme, sizeof scheme - 1) == 0 &&
           same_token(raw->authorization + sizeof scheme - 1, door->token);
}

static bool same_origin(const kn_studio_raw *raw, const kn_studio_door *door)
{
    static const char scheme[] = "http://";
    if (raw->origin && (strncmp(raw->origin, scheme, sizeof scheme - 1) != 0 ||
                        strcmp(raw->origin + sizeof scheme - 1, door->host) != 0))
        return false;
    return !raw->site || strcmp(raw->site, "same-origin") == 0 || strcmp(raw->site, "none") == 0;
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    if (!type || strncasecmp(type, json, sizeof json - 1) != 0) return false;
    return type[sizeof json - 1] == '\0' || type[sizeof json - 1] == ';';
}

static int check_body(const kn_studio_request *out, const kn_studio_raw *raw)
{
    int64_t size;
    if (!out->has_body)
        return raw->transfer_encoding || (raw->content_length && strcmp(raw->content_length, "0") != 0) ? 413 : 200;
    if (!is_json(raw->content_type)) return 415;
    if (!raw->content_length) return 200; /* in chunks: counted as they come */
    const char *end = read_number(raw->content_length, &size);
    if (!end || *end || size > KN_STUDIO_MOST_BODY) return 413;
    return 200;
}

static int check_rows(kn_studio_request *out, const kn_studio_raw *raw)
{
    const char *end = raw->offset ? read_number(raw->offset, &out->offset) : NULL;
    if (!end || *end) return 400;
    end = raw->count ? read_number(raw->count, &out->count) : NULL;
    return !end || *end || out->count > KN_STUDIO_MOST_ROWS ? 400 : 200;
}

int kn_studio_admit(kn_studio_request *out, const kn_studio_raw *raw, const kn_studio_door *door)
{
    *out = (kn_studio_request){0};
    if (raw->twice || (raw->content_length && raw->transfer_encoding)) return 400;
    if (!raw->host || strcmp(raw->host, door->host) != 0) return 421;
    /* Following a link to the page is no request of another page's script: it has no Origin, and a site of its own. */
    int status = find_route(out, raw->method, raw->path);
    if (status == 200 && out->route == KN_STUDIO_PAGE && !raw->origin) return check_body(out, raw);
    if (!same_origin(raw, door)) return 403;
    if (status == 200 && out->route <= KN_STUDIO_STYLE) return check_body(out, raw);
    if (!has_token(raw, door)) return 401;
    if (status == 200) status = check_body(out, raw);
    if (status == 200 && out->route == KN_STUDIO_ROWS) status = check_rows(out, raw);
    return status;
}

json_t *kn_studio_body(const char *bytes, size_t size)
{
    json_error_t where;
    if (size > KN_STUDIO_MOST_BODY) return NULL;
    json_t *body = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &where);
    if (body && json_is_object(body)) return body;
    json_decref(body);
    return NULL;
}

bool kn_studio_plain_name(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > 200 || name[0] == '.' || name[0] == '-') return false;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (*c < 0x20 || *c == 0x7f || *c == '/' || *c == '\\' || *c == ':') return false;
    return true;
}
