/* kn_studio_request.h: from the parts of an HTTP request to what is asked: who may ask, which route, which numbers, which
 * body. Pure functions, for any thread; fuzz/fuzz_studio.c feeds them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_STUDIO_REQUEST_H
#define KN_STUDIO_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    KN_STUDIO_MOST_BODY = 4 << 20, /* bytes of a request's body */
    KN_STUDIO_MOST_ROWS = 500,     /* of a page of the grid     */
    KN_STUDIO_TOKEN = 64           /* characters                */
};

typedef enum kn_studio_route {
    KN_STUDIO_PAGE = 0, /* GET /             */
    KN_STUDIO_SCRIPT,   /* GET /page.js      */
    KN_STUDIO_STYLE,    /* GET /page.css     */
    KN_STUDIO_SESSION,  /* GET /api/session  */
    KN_STUDIO_CHANGE,   /* PUT /api/session: {"revision": N, "release": TEXT, "files": {NAME: TEXT}} */
    KN_STUDIO_UNDO,     /* POST /api/undo    */
    KN_STUDIO_REDO,     /* POST /api/redo    */
    KN_STUDIO_SAVE,     /* POST /api/save: {"replace": false} */
    KN_STUDIO_ROWS,     /* GET /api/rows?offset=N&count=N */
    KN_STUDIO_JOBS,     /* GET /api/jobs     */
    KN_STUDIO_ASK,      /* POST /api/jobs: {"kind": NAME, ...} */
    KN_STUDIO_JOB,      /* GET /api/jobs/N   */
    KN_STUDIO_ANSWER,   /* GET /api/jobs/N/answer */
    KN_STUDIO_CANCEL,   /* DELETE /api/jobs/N */
    KN_STUDIO_EVENTS,   /* GET /api/events   */
    KN_STUDIO_ROUTES
} kn_studio_route;

/* What came. Texts are borrowed; NULL: there is no such header or parameter. */
typedef struct kn_studio_raw {
    const char *method, *path;
    const char *host, *origin, *site, *authorization, *content_type, *content_length, *transfer_encoding;
    const char *offset, *count;
    bool        twice; /* one of them came more than once: which one is meant? */
} kn_studio_raw;

/* Who may ask. */
typedef struct kn_studio_door {
    char host[32];                   /* "127.0.0.1:PORT" */
    char token[KN_STUDIO_TOKEN + 1];
} kn_studio_door;

typedef struct kn_studio_request {
    kn_studio_route route;
    int64_t         job;
    int64_t         offset, count; /* of rows */
    bool            has_body;      /* the route takes one */
} kn_studio_request;

/* Looks at everything but the body. Returns 200, or the HTTP status of a refusal: 421 another Host (a name that was made to
 * point here), 403 another Origin, 401 no token or a wrong one, 404, 405, 413 a body that says it is too large, or where none is taken, 415 a body
 * that is not JSON, 400 numbers that are none, a part that came twice, a body with two ways to tell where it ends. */
int kn_studio_admit(kn_studio_request *out, const kn_studio_raw *raw, const kn_studio_door *door);

/* The body as an object; NULL: it is none, is too large, nests too deeply or says a key twice. */
json_t *kn_studio_body(const char *bytes, size_t size);

/* A plain name of a file in the working folder: no separator, no leading point, no control character, at most 200
 * bytes. */
bool kn_studio_plain_name(const char *name);

#endif
