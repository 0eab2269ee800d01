/* fuzz_http.c: bytes → connections to the studio's server, through libmicrohttpd → answers → invariants.
 *
 * The first line says how many bytes arrive at a time (0: all there are), and with a "!" behind it that the clients go away without
 * reading. The rest is what they send: a line "====" begins another connection, which is served at the same time. "{host}" and
 * "{token}" stand for the right ones, "{N*c}" for N times the byte c.
 *
 * The server is the program's own, with the options it has there, but for its socket: connections are handed to it, and one
 * thread serves them. Every answer is well-formed HTTP and forbids what the studio's answers forbid. The data are shown to requests
 * alone that name the host, the token and no other origin, all of them once. What strict_next (http_fuzz.h) understands the server
 * understands in the same way: as many requests, with the same bodies, answered or refused as kn_studio_admit says; so a
 * request inside another's body is none. Every connection ends, and what was kept for its requests is freed.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* memmem */
#include <errno.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "http_fuzz.h"
#include "kn_studio_server.h"

enum {
    MOST_CLIENTS = 6,
    MOST_ANSWERS = 256,
    MOST_BYTES = 6 << 20,
    MOST_PIECES = 300,
    MOST_STILL = 200,
    MOST_TURNS = 100000
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int mkstemp(char *name);

static const char host[] = "127.0.0.1:40000";
static const char token[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
static const char secret[] = "asthma"; /* in the data, the release file and an answer, in no refusal */

static const char rows[] = "age,zip,asthma\n23,10115,asthma\n24,10115,cold\n25,10117,asthma\n";
static const char release[] = "kanon: 1\ninput: %s\noutput: /dev/shm/kanon-fuzz-none.csv\nattributes:\n  age: quasi\n"
                              "  asthma: sensitive\nprivacy: [k: 2]\n";

/* A body as it was handed over: its size and a sum of its bytes. */
typedef struct body_sum {
    uint64_t size, sum;
} body_sum;

static void add_body(body_sum *body, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) body->sum = (body->sum ^ (unsigned char)bytes[i]) * 1099511628211u;
    body->size += size;
}

/* What the server said of a request. */
typedef struct said {
    int      status;
    bool     head, page;
    body_sum body;
} said;

typedef struct client {
    int         fd, server_fd; /* its end, the server's end */
    const char *bytes;         /* what it sends             */
    size_t      size, at, piece;
    reader      got;
    bool        ended; /* the server closed it */
    bool        head, page;
    body_sum    body; /* of the request that is being read */
    said        said[MOST_ANSWERS];
    int         count;
} client;

static struct {
    kn_studio                    studio;
    MHD_AccessHandlerCallback    handle;
    MHD_RequestCompletedCallback completed;
    MHD_ContentReaderCallback    read_stream;
    client                       clients[MOST_CLIENTS];
    int                          count;
    int                          begun, ended; /* requests for which something is, was kept */
    char                         table[64];
} server;

/* What libFuzzer takes for reached code, since it sees nothing of libmicrohttpd. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t reached[4096];

static void reach(unsigned what)
{
    reached[what % sizeof reached] = 1;
}

/* ---- Between the studio and libmicrohttpd ---- */

/* No file is written. */
int mkstemp(char *name)
{
    (void)name;
    errno = EROFS;
    return -1;
}

static client *whose(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    for (int i = 0; info && i < server.count; i++)
        if (server.clients[i].server_fd == info->connect_fd) return &server.clients[i];
    demand(false, "a request of no client");
    return NULL;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path, const char *method,
                                  const char *version, const char *part, size_t *size, void **state)
{
    client *c = whose(connection);
    bool    first = !*state;
    if (first) {
        c->head = strcasecmp(method, "HEAD") == 0;
        c->page = strcmp(path, "/") == 0 || strcmp(path, "/page.js") == 0 || strcmp(path, "/page.css") == 0;
        c->body = (body_sum){0};
    }
    add_body(&c->body, part, *size);
    enum MHD_Result result = server.handle(user, connection, path, method, version, part, size, state);
    server.begun += first && *state;
    return result;
}

static void on_completed(void *user, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    server.ended += *state != NULL;
    server.completed(user, connection, state, code);
    demand(*state == NULL, "a request that keeps something");
}

/* What the headers of a request say of who asks. */
typedef struct claims {
    int  host, token, origin, site;
    bool wrong;
} claims;

static enum MHD_Result look_at_header(void *user, enum MHD_ValueKind kind, const char *name, const char *value)
{
    claims *c = user;
    char    right[sizeof token + 8], own[sizeof host + 8];
    (void)kind;
    if (!value) value = "";
    snprintf(right, sizeof right, "Bearer %s", token);
    snprintf(own, sizeof own, "http://%s", host);
    const struct {
        const char *name;
        int        *count;
        bool        right;
    } known[] = {{"Host", &c->host, strcmp(value, host) == 0},
                 {"Authorization", &c->token, strcmp(value, right) == 0},
                 {"Origin", &c->origin, strcmp(value, own) == 0},
                 {"Sec-Fetch-Site", &c->site, strcmp(value, "same-origin") == 0 || strcmp(value, "none") == 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcasecmp(known[i].name, name) != 0) continue;
        ++*known[i].count;
        c->wrong = c->wrong || !known[i].right;
    }
    return MHD_YES;
}

/* Answers with something of the data, the release file or a question. */
static bool may_show(unsigned status)
{
    return status < 300 || status == 409 || status == 422;
}

static enum MHD_Result on_answer(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
    client *c = whose(connection);
    claims  who = {0};
    if (may_show(status) && !c->page) {
        (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, look_at_header, &who);
        demand(who.token == 1 && who.host == 1 && who.origin <= 1 && who.site <= 1 && !who.wrong,
               "data for somebody else");
    }
    /* libmicrohttpd before 1.0 asks too early, and then closes, where no body follows "Expect" but another request. */
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    if (!result && MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Expect")) return result;
    demand(result == MHD_YES && c->count < MOST_ANSWERS, "an answer that cannot be given");
    c->said[c->count++] = (said){(int)status, c->head, c->page, c->body};
    return result;
}

/* A stream ends where it would wait. */
static ssize_t read_stream(void *user, uint64_t position, char *buffer, size_t most)
{
    server.studio.jobs.stopping = position > 0;
    ssize_t size = server.read_stream(user, position, buffer, most);
    server.studio.jobs.stopping = false;
    return size;
}

static struct MHD_Response *create_stream(uint64_t size, size_t block, MHD_ContentReaderCallback read, void *user,
                                          MHD_ContentReaderFreeCallback end)
{
    server.read_stream = read;
    return MHD_create_response_from_callback(size, block, read_stream, user, end);
}

/* The server as the studio wants it, but without its socket and its threads. */
static struct MHD_Daemon *start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
                                       void *accept_user, MHD_AccessHandlerCallback handle, void *user, ...)
{
    struct MHD_OptionItem options[16];
    va_list               list;
    int                   count = 0, option;
    (void)flags;
    (void)accept;
    (void)accept_user;
    va_start(list, user);
    while ((option = va_arg(list, int)) != MHD_OPTION_END) {
        struct MHD_OptionItem item = {.option = (enum MHD_OPTION)option};
        switch (option) {
        case MHD_OPTION_LISTEN_SOCKET: (void)close(va_arg(list, MHD_socket)); continue;
        case MHD_OPTION_NOTIFY_COMPLETED:
            server.completed = va_arg(list, MHD_RequestCompletedCallback);
            item.value = (intptr_t)on_completed;
            item.ptr_value = va_arg(list, void *);
            break;
        case MHD_OPTION_UNESCAPE_CALLBACK:
            item.value = (intptr_t)va_arg(list, size_t(*)(void *, struct MHD_Connection *, char *));
            item.ptr_value = va_arg(list, void *);
            break;
        case MHD_OPTION_CONNECTION_MEMORY_LIMIT: item.value = (intptr_t)va_arg(list, size_t); break;
        case MHD_OPTION_CONNECTION_LIMIT:
        case MHD_OPTION_CONNECTION_TIMEOUT: item.value = (intptr_t)va_arg(list, unsigned); break;
        case MHD_OPTION_STRICT_FOR_CLIENT: item.value = va_arg(list, int); break;
        default: demand(false, "an option of the server that this target does not know");
        }
        options[count++] = item;
    }
    va_end(list);
    options[count] = (struct MHD_OptionItem){.option = MHD_OPTION_END};
    server.handle = handle;
    return MHD_start_daemon(MHD_USE_NO_LISTEN_SOCKET, port, NULL, NULL, on_request, user, MHD_OPTION_ARRAY, options,
                            MHD_OPTION_END);
}

/* In the place of kn_studio_http.c: the library is linked, and some of its functions are looked at. */
kn_status kn_studio_http_open(kn_studio_http *out, kn_error *err)
{
#define ENTRY(name) .name = MHD_##name,
    *out = (kn_studio_http){.handle = out, KN_STUDIO_HTTP_FUNCTIONS(ENTRY)};
#undef ENTRY
    (void)err;
    out->start_daemon = start_daemon;
    out->queue_response = on_answer;
    out->create_response_from_callback = create_stream;
    return KN_OK;
}

void kn_studio_http_close(kn_studio_http *http)
{
    *http = (kn_studio_http){0};
}

/* ---- The session ---- */

static void not_cancelled(void *user, kn_context *ctx)
{
    (void)user;
    (void)ctx;
}

static void remove_table(void)
{
    unlink(server.table);
}

static void read_table(void)
{
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_context        *ctx = NULL;
    kn_spec           *spec = NULL;
    char               text[500];
    kn_error           err = KN_ERROR_INIT;
    FILE              *file = fopen(server.table, "wb");
    demand(file && fwrite(rows, 1, sizeof rows - 1, file) == sizeof rows - 1 && fclose(file) == 0, "no table");
    atexit(remove_table);
    options.threads = 1;
    snprintf(text, sizeof text, release, server.table);
    demand(kn_context_create(&ctx, &options, &err) == KN_OK &&
               kn_spec_read_text(&spec, ctx, text, strlen(text), "release.yaml", &err) == KN_OK,
           "no release file");
    kn_studio_table *table = kn_studio_table_take(&server.studio.session, spec, &options, not_cancelled, NULL, &err);
    demand(table != NULL, "no table was read");
    kn_studio_table_give(&server.studio.session, table);
    kn_spec_free(spec);
    kn_context_free(ctx);
}

static void open_session(void)
{
    kn_studio_session *session = &server.studio.session;
    snprintf(server.table, sizeof server.table, "/dev/shm/kanon-fuzz-%ld.csv", (long)getpid());
    demand(kn_studio_session_init(session, server.table, "/dev/shm/kanon-fuzz-none.yaml"), "no session");
    read_table();
}

static void prepare(void)
{
    kn_studio *s = &server.studio;
    kn_error   err = KN_ERROR_INIT;
    if (!s->session.path) open_session();
    if (s->daemon) return;
    demand(kn_studio_listen(s, &err) == KN_OK, "no server");
    snprintf(s->door.host, sizeof s->door.host, "%s", host);
    snprintf(s->door.token, sizeof s->door.token, "%s", token);
}

/* The session as it was first: a release file, an answered question, and nobody who answers others. */
static void reset(void)
{
    kn_studio     *s = &server.studio;
    char           text[500];
    kn_studio_job *job = calloc(1, sizeof *job);
    snprintf(text, sizeof text, release, server.table);
    s->session.revision = 0;
    kn_studio_session_open(&s->session, (kn_studio_step){strdup(text), json_object()}, KN_SHAPE_TABLE, true, NULL);
    if (s->jobs.session) kn_studio_jobs_free(&s->jobs);
    s->jobs = (kn_studio_jobs){.session = &s->session, .version = "0", .clock = 1, .last_id = 1};
    pthread_mutex_init(&s->jobs.lock, NULL);
    pthread_cond_init(&s->jobs.work, NULL);
    pthread_cond_init(&s->jobs.news, NULL);
    demand(job != NULL, "no memory");
    *job = (kn_studio_job){.id = 1, .kind = "profile", .state = KN_STUDIO_DONE, .changed = 1, .owner = &s->jobs};
    job->answer = strdup("{\"common\":\"asthma\"}");
    job->answer_size = strlen(job->answer);
    s->jobs.jobs[0] = job;
}

/* ---- Clients ---- */

static void connect_client(client *c)
{
    struct sockaddr_un nobody = {.sun_family = AF_UNIX};
    int                ends[2];
    demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0, "no socket");
    c->fd = ends[0];
    c->server_fd = ends[1];
    demand(MHD_add_connection(server.studio.daemon, ends[1], (struct sockaddr *)&nobody, sizeof nobody) == MHD_YES,
           "a client that is not let in");
}

/* Reads what there is; false: nothing. */
static bool receive(client *c)
{
    static char part[1 << 16];
    bool        any = false;
    for (ssize_t size; !c->ended && (size = recv(c->fd, part, sizeof part, 0)) != -1; any = true) {
        c->ended = size == 0;
        char *more = realloc(c->got.bytes, c->got.size + (size_t)size + 1);
        demand(more != NULL, "no memory");
        memcpy(more + c->got.size, part, (size_t)size);
        c->got.bytes = more;
        c->got.size += (size_t)size;
    }
    if (!c->ended && errno != EAGAIN) c->ended = any = true; /* it closed without having read everything */
    return any;
}

/* What the server has not read yet. */
static int unread(void)
{
    int sum = 0;
    for (int i = 0, size; i < server.count; i++)
        if (!server.clients[i].ended && ioctl(server.clients[i].server_fd, FIONREAD, &size) == 0) sum += size;
    return sum;
}

/* Everybody sends a piece, the server works, everybody reads; false: no byte was moved. */
static bool take_turns(bool reading)
{
    bool any = false;
    for (int i = 0; i < server.count; i++) {
        client *c = &server.clients[i];
        size_t  left = c->size - c->at;
        if (left == 0 || c->ended) continue;
        ssize_t size = send(c->fd, c->bytes + c->at, left < c->piece ? left : c->piece, MSG_NOSIGNAL);
        if (size < 0) continue;
        c->at += (size_t)size;
        any = true;
    }
    int before = unread();
    demand(MHD_run(server.studio.daemon) == MHD_YES, "the server does not run");
    for (int i = 0; i < server.count && reading; i++) any = receive(&server.clients[i]) || any;
    return any || unread() != before;
}

/* Until three turns in a row do nothing. False: the server says that there is something to do, and does not do it. */
static bool serve(bool reading)
{
    int turns = 0;
    for (int idle = 0, still = 0; idle < 3;) {
        MHD_UNSIGNED_LONG_LONG wait = 1;
        still = take_turns(reading) ? 0 : still + 1;
        idle = still == 0 || (MHD_get_timeout(server.studio.daemon, &wait) == MHD_YES && wait == 0) ? 0 : idle + 1;
        demand(turns++ < MOST_TURNS, "a connection for which there is always something to do");
        if (still == MOST_STILL) return false;
    }
    return true;
}

/* False: libmicrohttpd waits in vain for room, since a line in a body is longer than what it may keep. With threads of its own, as in
 * the program, it refuses such a line (tests/studio/run). */
static bool serve_all(bool reading)
{
    bool early[MOST_CLIENTS], served = serve(reading);
    for (int i = 0; i < server.count && reading; i++) (void)shutdown(server.clients[i].fd, SHUT_WR);
    for (int i = 0; i < server.count; i++) early[i] = server.clients[i].ended;
    if (served && reading) served = serve(true);
    for (int i = 0; i < server.count; i++) {
        demand(!served || !reading || server.clients[i].ended, "a connection that does not end");
        server.clients[i].ended = early[i];
        (void)close(server.clients[i].fd);
    }
    if (!served || !serve(false)) {
        kn_studio_close(&server.studio);
        return false;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server.studio.daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    demand(info && info->num_connections == 0, "a connection that stays");
    return true;
}

/* ---- What must hold ---- */

static int occurrences(const char *bytes, size_t size, const char *text)
{
    int count = 0;
    for (const char *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), text, strlen(text))); at++) count++;
    return count;
}

/* Is the body what was asked? */
static void check_question(const answer *a, const kn_studio_request *out, const strict_request *request)
{
    json_t     *body = kn_studio_body(request->body, request->size);
    const char *kind = json_string_value(json_object_get(body, "kind"));
    demand(body || a->status == 400, "a body that is no object was taken");
    if (out->route == KN_STUDIO_ASK && kind && kn_studio_kind(kind))
        demand(a->status == 202 || a->status == 503, "a good question was refused");
    json_decref(body);
}

/* An answer to a request that has one meaning only. `by` NULL: libmicrohttpd answered by itself. */
static void check_understood(const answer *a, const said *by, const strict_request *request)
{
    kn_studio_request out;
    int               status = kn_studio_admit(&out, &request->raw, &server.studio.door);
    demand(by != NULL, "a good request was not understood");
    demand(status == 200 || a->status == status, "a request was refused, or answered, for another reason");
    if (status != 200) return;
    body_sum body = {0};
    add_body(&body, request->body, request->size);
    demand(body.size <= KN_STUDIO_MOST_BODY, "a body that is too large was taken");
    demand(body.size == by->body.size && body.sum == by->body.sum, "another body was understood");
    if (out.has_body) check_question(a, &out, request);
    demand(!request->last || a->closes, "a connection that the client wants closed is kept");
}

static void check_answer(const answer *a, const said *by)
{
    demand(by ? a->status == by->status && a->guarded : a->status >= 300 && a->closes,
           "an answer that nobody gave, or without the studio's headers");
    if (memmem(a->body ? a->body : "", a->size, secret, strlen(secret)))
        demand(by && !by->page && may_show((unsigned)by->status), "a refusal that shows the data");
    if (!by || by->page || by->head || a->body[0] != '{') return;
    json_t *body = json_loadb(a->body, a->size, JSON_REJECT_DUPLICATES, NULL);
    demand(json_is_object(body), "an answer that is no JSON");
    json_decref(body);
}

static void check_client(client *c)
{
    reader         asked = {malloc(c->size + 1), c->size, 0};
    strict_request request;
    int            count = 0, shown = 0;
    bool           strict = true, last = false;
    demand(asked.bytes != NULL, "no memory");
    memcpy(asked.bytes, c->bytes, c->size);
    while (c->got.at < c->got.size) {
        const said *by = count < c->count ? &c->said[count] : NULL;
        answer      a = read_answer(&c->got, by && by->head, !by);
        if (a.status < 200) continue;
        demand(!last, "an answer after the last one");
        strict = strict && strict_next(&asked, &request);
        if (strict) check_understood(&a, by, &request);
        check_answer(&a, by);
        shown += by && !by->page && a.status < 300;
        last = a.closes || a.until_end;
        reach((unsigned)((count < 7 ? count : 7) * 512 + a.status % 100 * 4 + strict * 2 + last +
                         (a.status >= 400) * 256));
        count++;
    }
    bool more = strict && !last && strict_next(&asked, &request);
    /* Where the headers left no room for those of the answer, libmicrohttpd closes. */
    demand(count >= c->count || (count + 1 == c->count && c->ended && !more), "an answer that did not arrive");
    demand(shown <= occurrences(c->bytes, c->size, token), "the data were shown more often than the token was said");
    if (more) demand(c->ended && request.size > KN_STUDIO_MOST_BODY, "a good request without an answer");
    free(asked.bytes);
}

/* ---- The input ---- */

static void put_times(FILE *out, int byte, size_t times)
{
    char block[4096];
    memset(block, byte, sizeof block);
    for (size_t part; times > 0; times -= part) {
        part = times < sizeof block ? times : sizeof block;
        (void)fwrite(block, 1, part, out);
    }
}

/* What a client sends: the text with its braces replaced. `room`: what may still be made of "{N*c}". */
static void put_text(FILE *out, const char *text, const char *end, size_t *room)
{
    while (text < end) {
        char  *rest = NULL;
        size_t times = text[0] == '{' && text[1] >= '1' && text[1] <= '9' ? strtoul(text + 1, &rest, 10) : 0;
        if (strncmp(text, "{host}", 6) == 0) {
            (void)fputs(host, out);
            text += 6;
        } else if (strncmp(text, "{token}", 7) == 0) {
            (void)fputs(token, out);
            text += 7;
        } else if (times > 0 && times <= *room && end - rest > 2 && rest[0] == '*' && rest[2] == '}') {
            put_times(out, rest[1], times);
            *room -= times;
            text = rest + 3;
        } else
            (void)putc(*text++, out);
    }
}

static void add_client(const char *text, const char *end, size_t piece, size_t *room)
{
    client *c = &server.clients[server.count++];
    char   *bytes = NULL;
    *c = (client){.fd = -1, .server_fd = -1};
    FILE *out = open_memstream(&bytes, &c->size);
    demand(out != NULL, "no memory");
    put_text(out, text, end, room);
    demand(fclose(out) == 0, "no memory");
    c->bytes = bytes;
    if (piece == 0) piece = c->size;
    c->piece = piece > c->size / MOST_PIECES ? piece : c->size / MOST_PIECES + 1;
}

static void play(const char *text, const char *end)
{
    static const char cut[] = "====\n";
    char             *rest;
    size_t            piece = strtoul(text, &rest, 10), room = MOST_BYTES;
    bool              reading = *rest != '!';
    if (!reading) rest++;
    if (rest == text || *rest++ != '\n') return;
    prepare();
    reset();
    server.count = server.begun = server.ended = 0;
    for (const char *next = rest; next && server.count < MOST_CLIENTS; rest = (char *)next) {
        next = memmem(rest, (size_t)(end - rest), cut, sizeof cut - 1);
        add_client(rest, next ? next : end, piece, &room);
        if (next) next += sizeof cut - 1;
    }
    for (int i = 0; i < server.count; i++) connect_client(&server.clients[i]);
    bool served = serve_all(reading);
    demand(server.begun == server.ended, "a request that was not ended");
    demand(server.studio.jobs.streams == 0, "a stream that was not ended");
    for (int i = 0; i < server.count; i++) {
        client *c = &server.clients[i];
        if (served && reading) check_client(c);
        free((char *)c->bytes);
        free(c->got.bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    demand(text != NULL, "no memory");
    memcpy(text, data, size);
    text[size] = '\0';
    play(text, text + size);
    free(text);
    return 0;
}
