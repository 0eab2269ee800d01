/* kn_postgres.c: connecting to a PostgreSQL server, and telling what went wrong without telling secrets.
 *
 * Messages: of a connection that fails, libpq's own words with every password of the connection string taken out; of a
 * string that libpq cannot parse, none of its words, for they quote the string. Of a statement that fails, the server's
 * first sentence, except where that may quote a value of the data (SQLSTATE classes 22 and 23): then the kind of failure
 * alone, and the column or constraint that the server names. Details, hints and contexts are never shown.
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_postgres_internal.h"

/* Notices belong to nobody: libpq would print them. */
static void ignore_notice(void *arg, const PGresult *result)
{
    (void)arg;
    (void)result;
}

/* ---- Messages ---- */

static bool is_secret(const PQconninfoOption *o)
{
    return o->val && *o->val && (strstr(o->keyword, "password") || strcmp(o->dispchar, "*") == 0);
}

/* The longest secret that stands at the beginning of a text; 0: none. */
static size_t secret_at(const PQconninfoOption *info, const char *text)
{
    size_t longest = 0;
    for (const PQconninfoOption *o = info; o && o->keyword; o++) {
        size_t size = is_secret(o) ? strlen(o->val) : 0;
        if (size > longest && strncmp(text, o->val, size) == 0) longest = size;
    }
    return longest;
}

/* One line without secrets. */
static void add_scrubbed(kn_buffer *to, const PQconninfoOption *info, const char *text)
{
    size_t end = strlen(text);
    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' ')) end--;
    for (size_t i = 0; i < end;) {
        size_t secret = secret_at(info, text + i);
        if (secret > 0) kn_buffer_add(to, "***");
        if (secret == 0) kn_buffer_char(to, text[i] == '\n' || text[i] == '\t' ? ' ' : text[i]);
        i += secret ? secret : 1;
    }
}

static kn_status fail_scrubbed(kn_pg *pg, kn_status status, const char *text, kn_error *err)
{
    kn_buffer words;
    kn_buffer_init(&words, pg->ctx);
    add_scrubbed(&words, pg->info, text);
    const char *line = kn_buffer_text(&words);
    kn_status   out =
        kn_fail(err, status, "%s: %s", pg->name ? pg->name : "postgresql", line ? line : "the server refused");
    kn_buffer_free(&words);
    return out;
}

static const char *field(const PGresult *result, int code)
{
    const char *text = result ? PQresultErrorField(result, code) : NULL;
    return text ? text : "";
}

kn_status kn_pg_fail(kn_pg *pg, const PGresult *result, kn_error *err)
{
    const char *state = field(result, PG_DIAG_SQLSTATE), *column = field(result, PG_DIAG_COLUMN_NAME);
    if (!*state) return fail_scrubbed(pg, KN_IO, PQerrorMessage(pg->conn), err);
    if (strncmp(state, "22", 2) == 0)
        return kn_fail(err, KN_INPUT, "%s: a cell does not fit the type of its column%s%s (SQLSTATE %s)", pg->name,
                       *column ? " " : "", column, state);
    if (strncmp(state, "23", 2) == 0)
        return kn_fail(err, KN_INPUT, "%s: constraint \"%s\" of table \"%s\" does not hold (SQLSTATE %s)", pg->name,
                       field(result, PG_DIAG_CONSTRAINT_NAME), field(result, PG_DIAG_TABLE_NAME), state);
    return fail_scrubbed(pg, KN_IO, field(result, PG_DIAG_MESSAGE_PRIMARY), err);
}

/* ---- Statements ---- */

kn_status kn_pg_run(kn_pg *pg, const char *sql, kn_error *err)
{
    PGresult *result = PQexec(pg->conn, sql);
    bool      ok = result && (PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK);
    kn_status status = ok ? KN_OK : kn_pg_fail(pg, result, err);
    PQclear(result);
    return status;
}

kn_status kn_pg_query(kn_pg *pg, PGresult **out, const char *sql, const char *const *parameters, int count,
                      kn_error *err)
{
    *out = PQexecParams(pg->conn, sql, count, NULL, parameters, NULL, NULL, 0);
    if (*out && PQresultStatus(*out) == PGRES_TUPLES_OK) return KN_OK;
    kn_status status = kn_pg_fail(pg, *out, err);
    PQclear(*out);
    *out = NULL;
    return status;
}

void kn_pg_name(kn_buffer *sql, const char *name)
{
    kn_buffer_char(sql, '"');
    for (; *name; name++) {
        if (*name == '"') kn_buffer_char(sql, '"');
        kn_buffer_char(sql, *name);
    }
    kn_buffer_char(sql, '"');
}

/* ---- Connecting ---- */

/* Where a URI's fragment begins; its length where there is none. A # in a password is no fragment. */
static size_t fragment_of(const char *uri)
{
    const char *at = strrchr(uri, '@'), *mark = strrchr(uri, '#');
    if (!mark || (at && mark < at) || strstr(uri, "password=")) return strlen(uri);
    return (size_t)(mark - uri);
}

/* The connection string of a name, and the schema in it. */
static kn_status split_name(kn_pg *pg, const char *name, const char *schema, char **conninfo, kn_error *err)
{
    const char *rest = strchr(name, ':') + 1;
    bool        uri = strncmp(rest, "//", 2) == 0;
    size_t      size = uri ? fragment_of(name) : strlen(rest);
    const char *fragment = uri && name[size] ? name + size + 1 : NULL;
    const char *said = schema ? schema : fragment;
    *conninfo = kn_strndup(pg->ctx, uri ? name : rest, size);
    if (said && *said) pg->schema = kn_strndup(pg->ctx, said, strlen(said));
    return *conninfo && (!said || !*said || pg->schema) ? KN_OK : kn_fail_memory(err, pg->ctx, "a connection");
}

static kn_status connect_to(kn_pg *pg, const char *conninfo, kn_error *err)
{
    const char *keywords[64], *values[64];
    int         count = 0;
    char       *words = NULL;
    pg->info = PQconninfoParse(conninfo, &words);
    PQfreemem(words); /* they quote the string, password and all */
    if (!pg->info) return kn_fail(err, KN_USAGE, "postgresql: libpq cannot read this connection string");
    for (const PQconninfoOption *o = pg->info; o->keyword && count < 60; o++) {
        if (!o->val || strcmp(o->keyword, "client_encoding") == 0) continue;
        keywords[count] = o->keyword;
        values[count++] = o->val;
    }
    keywords[count] = "fallback_application_name";
    values[count++] = "kanon";
    keywords[count] = "client_encoding";
    values[count++] = "UTF8";
    keywords[count] = values[count] = NULL;
    pg->conn = PQconnectdbParams(keywords, values, 0);
    if (!pg->conn) return kn_fail_memory(err, pg->ctx, "a connection");
    (void)PQsetNoticeReceiver(pg->conn, ignore_notice, NULL);
    return PQstatus(pg->conn) == CONNECTION_OK ? KN_OK : fail_scrubbed(pg, KN_IO, PQerrorMessage(pg->conn), err);
}

static kn_status make_name(kn_pg *pg, kn_error *err)
{
    kn_buffer   name;
    const char *host = PQhost(pg->conn), *base = PQdb(pg->conn);
    kn_buffer_init(&name, pg->ctx);
    kn_buffer_format(&name, "postgresql://%s/%s", host && *host != '/' ? host : "", base ? base : "");
    const char *text = kn_buffer_text(&name);
    pg->name = text ? kn_strndup(pg->ctx, text, strlen(text)) : NULL;
    kn_buffer_free(&name);
    return pg->name ? KN_OK : kn_fail_memory(err, pg->ctx, "a connection");
}

kn_status kn_pg_open(kn_pg *pg, kn_context *ctx, const char *name, const char *schema, kn_error *err)
{
    char *conninfo = NULL;
    *pg = (kn_pg){.ctx = ctx};
    kn_status status = split_name(pg, name, schema, &conninfo, err);
    if (status == KN_OK) status = connect_to(pg, conninfo, err);
    kn_free(conninfo);
    if (status == KN_OK) status = make_name(pg, err);
    if (status == KN_OK)
        status =
            kn_pg_run(pg,
                      "SET datestyle = 'ISO, YMD'; SET intervalstyle = 'iso_8601'; SET timezone = 'UTC'; "
                      "SET bytea_output = 'hex'; SET extra_float_digits = 1; SET standard_conforming_strings = on; "
                      "SET xmloption = 'content'; SET lc_monetary = 'C'",
                      err);
    if (status != KN_OK) kn_pg_close(pg);
    return status;
}

void kn_pg_close(kn_pg *pg)
{
    if (pg->conn) PQfinish(pg->conn);
    if (pg->info) PQconninfoFree(pg->info);
    kn_free(pg->name);
    kn_free(pg->schema);
    *pg = (kn_pg){0};
}
