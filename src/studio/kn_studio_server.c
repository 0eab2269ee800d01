/* kn_studio_server.c: HTTP, by libmicrohttpd: one thread per connection, a limited number of these, on the loopback address.
 *
 * kn_studio_request.c decides who is answered. Answers forbid the page everything but what comes from here
 * (Content-Security-Policy), are never stored and never framed. A body is read only after its headers were accepted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_studio_server.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kn_studio_page.h"

enum { MOST_CONNECTIONS = 96, MOST_STREAMS = 24, IDLE_SECONDS = 20, HEADER_BYTES = 32 * 1024, CHUNK = 8192 };

static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri "
     "'none'; "
     "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
    {"Cache-Control", "no-store"},
};

/* Who is answered. */
typedef struct caller {
    const kn_studio_http  *http;
    struct MHD_Connection *connection;
} caller;

/* ---- Answering ---- */

static enum MHD_Result reply(const caller *to, int status, struct MHD_Response *response, const char *type)
{
    if (!response) return MHD_NO;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        (void)to->http->add_response_header(response, headers[i][0], headers[i][1]);
    (void)to->http->add_response_header(response, "Content-Type", type);
    enum MHD_Result done = to->http->queue_response(to->connection, (unsigned)status, response);
    to->http->destroy_response(response);
    return done;
}

/* Takes the text, which is from malloc; NULL: memory ran out. */
static enum MHD_Result send_text(const caller *to, int status, char *text, size_t size)
{
    if (!text) return MHD_NO;
    return reply(to, status, to->http->create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE),
                 "application/json");
}

/* Takes the value. */
static enum MHD_Result send_json(const caller *to, int status, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    return send_text(to, status, text, text ? strlen(text) : 0);
}

static enum MHD_Result refuse(const caller *to, int status, const char *message)
{
    return send_json(to, status, json_pack("{s:{s:s}}", "error", "message", message));
}

static const char *reason(int status)
{
    switch (status) {
    case 400: return "the request cannot be understood";
    case 401: return "the address with its token is needed: the one that 'kanon studio' printed";
    case 403: return "another page asks";
    case 404: return "there is no such thing";
    case 405: return "this cannot be done with it";
    case 413: return "the request is too large";
    case 415: return "the request must be JSON";
    case 421: return "another host is asked for";
    default: return "refused";
    }
}

static enum MHD_Result send_error(const caller *to, int status, const kn_error *err)
{
    return send_json(to, status,
                     json_pack("{s:{s:s, s:s, s:I, s:I}}", "error", "status", kn_status_name(err->status), "message",
                               err->message, "line", (json_int_t)err->line, "column", (json_int_t)err->column));
}

static enum MHD_Result send_page(const caller *to, kn_studio_route route)
{
    const kn_studio_file *file = &kn_studio_files[route - KN_STUDIO_PAGE];
    struct MHD_Response  *response =
        to->http->create_response_from_buffer(file->size, (void *)(uintptr_t)file->bytes, MHD_RESPMEM_PERSISTENT);
    if (response) (void)to->http->add_response_header(response, "Content-Encoding", "gzip");
    return reply(to, 200, response, file->type);
}

/* ---- Streams ---- */

typedef struct stream {
    kn_studio *studio;
    int64_t    since;
    char      *text; /* what is being sent */
    size_t     size, at;
} stream;

static bool next_event(stream *s)
{
    int64_t before = s->since;
    if (before > 0 && !kn_studio_wait_news(&s->studio->jobs, before)) return false;
    json_t *news = kn_studio_jobs_json(&s->studio->jobs, &s->since);
    char   *json = json_dumps(news, JSON_COMPACT);
    json_decref(news);
    if (!json) return false;
    size_t room = strlen(json) + sizeof "data: \n\n";
    s->text = malloc(room);
    if (s->text) s->size = (size_t)snprintf(s->text, room, s->since == before ? ":\n\n" : "data: %s\n\n", json);
    free(json);
    s->at = 0;
    return s->text != NULL;
}

static ssize_t read_stream(void *user, uint64_t position, char *buffer, size_t most)
{
    stream *s = user;
    (void)position;
    if (!s->text && !next_event(s)) return MHD_CONTENT_READER_END_OF_STREAM;
    size_t part = s->size - s->at < most ? s->size - s->at : most;
    memcpy(buffer, s->text + s->at, part);
    s->at += part;
    if (s->at == s->size) {
        free(s->text);
        s->text = NULL;
    }
    return (ssize_t)part;
}

/* Counts it in or out; false: there are enough. */
static bool count_stream(kn_studio_jobs *jobs, int by)
{
    pthread_mutex_lock(&jobs->lock);
    bool fits = by < 0 || (jobs->streams < MOST_STREAMS && !jobs->stopping);
    if (fits) jobs->streams += by;
    pthread_mutex_unlock(&jobs->lock);
    return fits;
}

static void end_stream(void *user)
{
    stream *s = user;
    (void)count_stream(&s->studio->jobs, -1);
    free(s->text);
    free(s);
}

static enum MHD_Result send_events(kn_studio *studio, const caller *to)
{
    if (!count_stream(&studio->jobs, 1)) return refuse(to, 503, "too many pages are open");
    stream *s = calloc(1, sizeof *s);
    if (!s) {
        (void)count_stream(&studio->jobs, -1);
        return MHD_NO;
    }
    s->studio = studio;
    struct MHD_Response *response =
        to->http->create_response_from_callback(MHD_SIZE_UNKNOWN, CHUNK, read_stream, s, end_stream);
    if (!response) end_stream(s);
    return reply(to, 200, response, "text/event-stream");
}

/* ---- Routes ---- */

static enum MHD_Result send_session(kn_studio *studio, const caller *to, int status)
{
    json_t *session = kn_studio_session_json(&studio->session);
    if (session && studio->jobs.version) json_object_set_new(session, "version", json_string(studio->jobs.version));
    return send_json(to, status, session);
}

/* Is it a release file that can be read, with files under plain names? */
static kn_status check_step(const char *release, json_t *files, const char *path, kn_error *err)
{
    kn_context *ctx = NULL;
    kn_spec    *spec = NULL;
    const char *name;
    json_t     *text;
    if (!release || !json_is_object(files))
        return kn_studio_error(err, KN_USAGE, "a change needs the release file and its hierarchies");
    json_object_foreach(files, name,
                        text) if (!json_is_string(text) || !kn_studio_plain_name(name) ||
                                  strlen(json_string_value(text)) != json_string_length(text) ||
                                  strcmp(name, path) ==
                                      0) return kn_studio_error(err, KN_USAGE,
                                                                "a hierarchy needs a plain name, and a text");
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.threads = 1;
    kn_status st = kn_context_create(&ctx, &options, err);
    if (st == KN_OK) st = kn_spec_read_text(&spec, ctx, release, strlen(release), path, err);
    kn_spec_free(spec);
    kn_context_free(ctx);
    return st;
}

static enum MHD_Result change(kn_studio *studio, const caller *to, json_t *body)
{
    kn_error    err = KN_ERROR_INIT;
    const char *release = json_string_value(json_object_get(body, "release"));
    json_t     *files = json_object_get(body, "files"), *from = json_object_get(body, "revision");
    if (!json_is_integer(from)) return refuse(to, 400, reason(400));
    if (check_step(release, files, studio->session.path, &err) != KN_OK) return send_error(to, 422, &err);
    kn_studio_step step = {strdup(release), json_deep_copy(files)};
    if (!step.release || !step.files) {
        kn_studio_step_free(&step);
        return MHD_NO;
    }
    if (!kn_studio_session_change(&studio->session, json_integer_value(from), step))
        return send_session(studio, to, 409);
    kn_studio_news(&studio->jobs);
    return send_session(studio, to, 200);
}

static enum MHD_Result move(kn_studio *studio, const caller *to, int by)
{
    if (kn_studio_session_move(&studio->session, by)) kn_studio_news(&studio->jobs);
    return send_session(studio, to, 200);
}

static enum MHD_Result save(kn_studio *studio, const caller *to, json_t *body)
{
    kn_error err = KN_ERROR_INIT;
    if (kn_studio_session_save(&studio->session, json_is_true(json_object_get(body, "replace")), &err) != KN_OK)
        return send_error(to, err.status == KN_USAGE ? 409 : 500, &err);
    kn_studio_news(&studio->jobs);
    return send_session(studio, to, 200);
}

static enum MHD_Result send_rows(kn_studio *studio, const caller *to, const kn_studio_request *request)
{
    kn_studio_table *table = kn_studio_table_present(&studio->session);
    if (!table) return refuse(to, 404, "no table is read");
    json_t *rows = kn_studio_rows(table->table, request->offset, request->count);
    kn_studio_table_give(&studio->session, table);
    return send_json(to, 200, rows);
}

static enum MHD_Result ask(kn_studio *studio, const caller *to, json_t *body)
{
    const char *kind = json_string_value(json_object_get(body, "kind"));
    if (!kind) return refuse(to, 400, reason(400));
    int64_t id = kn_studio_ask(&studio->jobs, kind, body);
    if (id < 0) return refuse(to, 400, "there is no such question");
    if (id == 0) return refuse(to, 503, "too many questions wait for an answer");
    json_t *job = kn_studio_job_json(&studio->jobs, id);
    return job ? send_json(to, 202, job) : refuse(to, 404, reason(404));
}

static enum MHD_Result send_job(kn_studio *studio, const caller *to, const kn_studio_request *request)
{
    size_t size = 0;
    if (request->route == KN_STUDIO_ANSWER) {
        char *text = kn_studio_job_answer(&studio->jobs, request->job, &size);
        return text ? send_text(to, 200, text, size) : refuse(to, 404, "there is no answer");
    }
    if (request->route == KN_STUDIO_CANCEL && !kn_studio_job_cancel(&studio->jobs, request->job))
        return refuse(to, 404, reason(404));
    json_t *job = kn_studio_job_json(&studio->jobs, request->job);
    return job ? send_json(to, 200, job) : refuse(to, 404, reason(404));
}

static enum MHD_Result answer(kn_studio *studio, const caller *to, const kn_studio_request *request, json_t *body)
{
    int64_t since = 0;
    switch (request->route) {
    case KN_STUDIO_PAGE:
    case KN_STUDIO_SCRIPT:
    case KN_STUDIO_STYLE: return send_page(to, request->route);
    case KN_STUDIO_SESSION: return send_session(studio, to, 200);
    case KN_STUDIO_CHANGE: return change(studio, to, body);
    case KN_STUDIO_UNDO: return move(studio, to, -1);
    case KN_STUDIO_REDO: return move(studio, to, 1);
    case KN_STUDIO_SAVE: return save(studio, to, body);
    case KN_STUDIO_ROWS: return send_rows(studio, to, request);
    case KN_STUDIO_JOBS: return send_json(to, 200, kn_studio_jobs_json(&studio->jobs, &since));
    case KN_STUDIO_ASK: return ask(studio, to, body);
    case KN_STUDIO_EVENTS: return send_events(studio, to);
    default: return send_job(studio, to, request);
    }
}

/* ---- Requests ---- */

/* A request whose body is still coming. */
typedef struct upload {
    kn_studio_request request;
    char             *bytes;
    size_t            size, room;
} upload;

/* Puts a header or an argument where it belongs. */
static enum MHD_Result take_value(void *user, enum MHD_ValueKind kind, const char *name, const char *value)
{
    kn_studio_raw *raw = user;
    const struct {
        enum MHD_ValueKind kind;
        const char        *name, **to;
    } parts[] = {
        {MHD_HEADER_KIND, "Host", &raw->host},
        {MHD_HEADER_KIND, "Origin", &raw->origin},
        {MHD_HEADER_KIND, "Sec-Fetch-Site", &raw->site},
        {MHD_HEADER_KIND, "Authorization", &raw->authorization},
        {MHD_HEADER_KIND, "Content-Type", &raw->content_type},
        {MHD_HEADER_KIND, "Content-Length", &raw->content_length},
        {MHD_HEADER_KIND, "Transfer-Encoding", &raw->transfer_encoding},
        {MHD_GET_ARGUMENT_KIND, "offset", &raw->offset},
        {MHD_GET_ARGUMENT_KIND, "count", &raw->count},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (kind != parts[i].kind || strcasecmp(name, parts[i].name) != 0) continue;
        raw->twice = raw->twice || *parts[i].to;
        *parts[i].to = value ? value : "";
    }
    return MHD_YES;
}

/* False: too large, or memory ran out; the connection is closed. */
static bool take_part(upload *u, const char *bytes, size_t size)
{
    if (size > KN_STUDIO_MOST_BODY - u->size) return false;
    if (u->size + size > u->room) {
        size_t room = (u->size + size) * 2;
        char  *more = realloc(u->bytes, room);
        if (!more) return false;
        u->bytes = more;
        u->room = room;
    }
    memcpy(u->bytes + u->size, bytes, size);
    u->size += size;
    return true;
}

static enum MHD_Result begin(kn_studio *studio, const caller *from, const char *path, const char *method, void **state)
{
    kn_studio_raw raw = {.method = method, .path = path};
    upload       *u = calloc(1, sizeof *u);
    if (!u) return MHD_NO;
    (void)from->http->get_connection_values(from->connection, MHD_HEADER_KIND | MHD_GET_ARGUMENT_KIND, take_value,
                                            &raw);
    int status = kn_studio_admit(&u->request, &raw, &studio->door);
    if (status != 200) {
        free(u);
        return refuse(from, status, reason(status));
    }
    if (u->request.route > KN_STUDIO_STYLE) kn_studio_browser_loaded(&studio->browser);
    *state = u;
    return MHD_YES;
}

/* Paths and numbers are plain: nothing is decoded, so that nothing has two spellings. */
static size_t leave_as_is(void *user, struct MHD_Connection *connection, char *text)
{
    (void)user;
    (void)connection;
    return strlen(text);
}

static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *part, size_t *part_size, void **state)
{
    kn_studio *studio = user;
    caller     from = {&studio->http, connection};
    upload    *u = *state;
    (void)version;
    if (!u) return begin(studio, &from, path, method, state);
    if (*part_size > 0) {
        if (!take_part(u, part, *part_size)) return MHD_NO;
        *part_size = 0;
        return MHD_YES;
    }
    json_t *body = u->request.has_body ? kn_studio_body(u->bytes ? u->bytes : "", u->size) : NULL;
    if (u->request.has_body && !body) return refuse(&from, 400, reason(400));
    enum MHD_Result done = answer(studio, &from, &u->request, body);
    json_decref(body);
    return done;
}

static void completed(void *user, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
    upload *u = *state;
    (void)user;
    (void)connection;
    (void)code;
    if (u) free(u->bytes);
    free(u);
    *state = NULL;
}

/* ---- Listening ---- */

static bool make_token(char *token)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char     random[KN_STUDIO_TOKEN / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
    for (int i = 0; i < KN_STUDIO_TOKEN; i++) token[i] = digits[i % 2 ? random[i / 2] & 15 : random[i / 2] >> 4];
    token[KN_STUDIO_TOKEN] = '\0';
    return true;
}

/* A socket that listens on a free port of the loopback address; -1: none. */
static int open_socket(unsigned *port)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          size = sizeof place;
    int                listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener >= 0 && bind(listener, (struct sockaddr *)&place, sizeof place) == 0 &&
        listen(listener, MOST_CONNECTIONS) == 0 && getsockname(listener, (struct sockaddr *)&place, &size) == 0) {
        *port = ntohs(place.sin_port);
        return listener;
    }
    if (listener >= 0) (void)close(listener);
    return -1;
}

kn_status kn_studio_listen(kn_studio *s, kn_error *err)
{
    unsigned  port = 0;
    kn_status st = kn_studio_http_open(&s->http, err);
    if (st != KN_OK) return st;
    int listener = open_socket(&port);
    if (listener < 0) return kn_studio_error(err, KN_IO, "no port of the loopback address can be listened on");
    if (!make_token(s->door.token)) {
        (void)close(listener);
        return kn_studio_error(err, KN_IO, "the system has no random numbers");
    }
    /* Known before there is a thread that compares it. */
    snprintf(s->door.host, sizeof s->door.host, "127.0.0.1:%u", port);
    snprintf(s->address, sizeof s->address, "http://%s/#%s", s->door.host, s->door.token);
    s->daemon = s->http.start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0,
                                     NULL, NULL, handle, s, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listener,
                                     MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_UNESCAPE_CALLBACK,
                                     leave_as_is, NULL, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS,
                                     MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
                                     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES, MHD_OPTION_END);
    if (s->daemon) return KN_OK;
    (void)close(listener);
    return kn_studio_error(err, KN_IO, "the server cannot be started");
}

void kn_studio_close(kn_studio *s)
{
    if (s->daemon) s->http.stop_daemon(s->daemon);
    s->daemon = NULL;
    kn_studio_http_close(&s->http);
}
