/* fuzz_studio.c: bytes → the parts of a request to the studio → invariants.
 *
 * The input is lines: method, path, Host, Origin, Sec-Fetch-Site, Authorization, Content-Type, Content-Length, offset, count;
 * a line "-" is a part that is missing, "@" stands for the right host and token. What follows the tenth line is the body. Nothing
 * about the data is answered without the token, from another host or for another origin; numbers are inside their limits; a body
 * that is accepted is an object; a plain name stays in its folder.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_studio_request.h"

enum { PARTS = 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const kn_studio_door door = {"127.0.0.1:40000",
                                    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_studio: %s\n", what);
    abort();
}

static void check_request(const kn_studio_raw *raw)
{
    kn_studio_request request;
    char              right[KN_STUDIO_TOKEN + 8];
    int               status = kn_studio_admit(&request, raw, &door);
    demand(status == 200 || (status >= 400 && status < 500), "a status that is none");
    if (status != 200) return;
    snprintf(right, sizeof right, "Bearer %s", door.token);
    demand((unsigned)request.route < KN_STUDIO_ROUTES, "a route that is none");
    demand(raw->host && strcmp(raw->host, door.host) == 0, "another host was answered");
    demand(!raw->origin || strcmp(raw->origin, "http://127.0.0.1:40000") == 0, "another origin was answered");
    if (request.route > KN_STUDIO_STYLE)
        demand(raw->authorization && strcmp(raw->authorization, right) == 0, "answered without the token");
    demand(request.job >= 0 && request.offset >= 0 && request.count >= 0 && request.count <= KN_STUDIO_MOST_ROWS,
           "a number outside its limits");
    demand(!strstr(raw->path, ".."), "a path that climbs was answered");
}

static void check_body(const char *bytes, size_t size)
{
    json_t     *body = kn_studio_body(bytes, size), *value;
    const char *name;
    if (!body) return;
    demand(json_is_object(body), "a body that is no object");
    json_object_foreach(body, name, value)
    {
        if (kn_studio_plain_name(name))
            demand(!strchr(name, '/') && name[0] != '.' && strlen(name) <= 200, "a name that leaves its folder");
    }
    json_decref(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char       *text = malloc(size + 1), *at = text;
    const char *part[PARTS] = {0};
    int         count = 0;
    char        authorization[KN_STUDIO_TOKEN + 8];
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *end; count < PARTS && (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        part[count++] = strcmp(at, "-") == 0 ? NULL : at;
    }
    check_body(at, (size_t)(text + size - at));
    if (count == PARTS && part[0] && part[1]) {
        snprintf(authorization, sizeof authorization, "Bearer %s", door.token);
        if (part[2] && strcmp(part[2], "@") == 0) part[2] = door.host;
        if (part[5] && strcmp(part[5], "@") == 0) part[5] = authorization;
        const kn_studio_raw raw = {.method = part[0],
                                   .path = part[1],
                                   .host = part[2],
                                   .origin = part[3],
                                   .site = part[4],
                                   .authorization = part[5],
                                   .content_type = part[6],
                                   .content_length = part[7],
                                   .offset = part[8],
                                   .count = part[9]};
        check_request(&raw);
    }
    free(text);
    return 0;
}
