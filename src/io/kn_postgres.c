/* kn_postgres.c: connecting to a PostgreSQL server, and reporting failures without revealing secrets.
 *
 * Messages: if a connection fails, libpq's own message with every password of the connection string removed; if libpq
 * cannot parse the string, nothing of its message, since that quotes the string. If a statement fails, nothing of the
 * server's message, since that may quote a value of the data (a view may call a function that raises one): only the
 * kind of failure and its code, and the table, column or constraint that the server names.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_postgres_internal.h"
#include "kn_table_name.h"

/* Discards notices: libpq would print them. */
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

/* The length of the longest secret at the beginning of a text; 0: none. */
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

static kn_status fail_to_connect(kn_pg *pg, kn_error *err)
{
    kn_buffer words;
    kn_buffer_init(&words, pg->ctx);
    add_scrubbed(&words, pg->info, pg->pq.errorMessage(pg->conn));
    const char *line = kn_buffer_text(&words);
    kn_status   status = kn_fail(err, KN_IO, "postgresql: %s", line ? line : "the server refused");
    kn_buffer_free(&words);
    return status;
}

static const char *field(const kn_pg *pg, const PGresult *result, int code)
{
    const char *text = result ? pg->pq.resultErrorField(result, code) : NULL;
    return text ? text : "";
}

/* What a code means: the first entry that it begins with. */
typedef struct kind {
    const char *begins;
    kn_status   status;
    const char *words;
} kind;

static const kind *kind_of(const char *state)
{
    static const kind kinds[] = {
        {"22", KN_INPUT, "a cell does not fit the type of its column"},
        {"23", KN_INPUT, "a constraint does not hold"},
        {"25006", KN_IO, "the database is read-only"},
        {"28", KN_IO, "the server rejected the login"},
        {"3F000", KN_INPUT, "there is no such schema"},
        {"40", KN_IO, "the server rolled the transaction back"},
        {"42501", KN_IO, "the server does not permit it"},
        {"42P06", KN_INPUT, "a schema of that name exists already; name another, or drop it first"},
        {"42P01", KN_INPUT, "there is no such table"},
        {"42P07", KN_INPUT, "a table of that name exists already"},
        {"42703", KN_INPUT, "there is no such column"},
        {"42", KN_INPUT, "the server does not understand the statement"},
        {"2BP01", KN_INPUT, "something else depends on the table that would be replaced; name another"},
        {"54", KN_IO, "there are more columns than the server allows, or a row is too long for it"},
        {"53100", KN_IO, "the server's disk is full"},
        {"53", KN_IO, "the server is short of memory, space or connections"},
        {"57014", KN_IO, "the server cancelled the statement"},
        {"57", KN_IO, "the server was stopped"},
        {"", KN_IO, "the server reported an error"},
    };
    const kind *k = kinds;
    while (strncmp(state, k->begins, strlen(k->begins)) != 0) k++;
    return k;
}

static void add_place(kn_buffer *to, const char *what, const char *name)
{
    if (*name) kn_buffer_format(to, ", %s \"%s\"", what, name);
}

kn_status kn_pg_fail(kn_pg *pg, const PGresult *result, kn_error *err)
{
    const char *state = field(pg, result, PG_DIAG_SQLSTATE);
    if (!*state) /* no result; libpq's message may be an earlier one of the server's      */
        return kn_fail(err, KN_IO, "%s: %s", pg->name ? pg->name : "postgresql",
                       pg->pq.status(pg->conn) == CONNECTION_OK ? "the server refused"
                                                                : "the connection to the server was lost");
    const kind *k = kind_of(state);
    kn_buffer   place;
    kn_buffer_init(&place, pg->ctx);
    add_place(&place, "schema", pg->schema ? pg->schema : "");
    add_place(&place, "table", field(pg, result, PG_DIAG_TABLE_NAME));
    add_place(&place, "column", field(pg, result, PG_DIAG_COLUMN_NAME));
    add_place(&place, "constraint", field(pg, result, PG_DIAG_CONSTRAINT_NAME));
    long at = strtol(field(pg, result, PG_DIAG_STATEMENT_POSITION), NULL, 10) - pg->begins;
    if (pg->begins > 0 && at > 0) kn_buffer_format(&place, ", the query's character %ld", at);
    const char *where = kn_buffer_text(&place);
    kn_status   status = kn_fail(err, k->status, "%s: %s (SQLSTATE %s%s)", pg->name ? pg->name : "postgresql", k->words,
                                 state, where ? where : "");
    kn_buffer_free(&place);
    return status;
}

/* ---- Statements ---- */

kn_status kn_pg_run(kn_pg *pg, const char *sql, kn_error *err)
{
    PGresult *result = pg->pq.exec(pg->conn, sql);
    bool      ok =
        result && (pg->pq.resultStatus(result) == PGRES_COMMAND_OK || pg->pq.resultStatus(result) == PGRES_TUPLES_OK);
    kn_status status = ok ? KN_OK : kn_pg_fail(pg, result, err);
    pg->pq.clear(result);
    return status;
}

kn_status kn_pg_run_buffer(kn_pg *pg, kn_buffer *sql, ExecStatusType wanted, kn_error *err)
{
    const char *text = kn_buffer_text(sql);
    PGresult   *result = text ? pg->pq.exec(pg->conn, text) : NULL;
    kn_status   status = KN_OK;
    if (!text)
        status = kn_fail_memory(err, pg->ctx, pg->name);
    else if (!result || pg->pq.resultStatus(result) != wanted)
        status = kn_pg_fail(pg, result, err);
    pg->pq.clear(result);
    kn_buffer_free(sql);
    return status;
}

kn_status kn_pg_copy_end(kn_pg *pg, kn_error *err)
{
    kn_status status = KN_OK;
    for (PGresult *result; (result = pg->pq.getResult(pg->conn)) != NULL;) {
        if (status == KN_OK && pg->pq.resultStatus(result) != PGRES_COMMAND_OK) status = kn_pg_fail(pg, result, err);
        pg->pq.clear(result);
    }
    if (status == KN_OK && pg->pq.status(pg->conn) != CONNECTION_OK)
        status = kn_fail(err, KN_IO, "%s: the connection to the server was lost", pg->name);
    return status;
}

kn_status kn_pg_query(kn_pg *pg, PGresult **out, const char *sql, const char *const *parameters, int count,
                      kn_error *err)
{
    *out = pg->pq.execParams(pg->conn, sql, count, NULL, parameters, NULL, NULL, 0);
    if (*out && pg->pq.resultStatus(*out) == PGRES_TUPLES_OK) return KN_OK;
    kn_status status = kn_pg_fail(pg, *out, err);
    pg->pq.clear(*out);
    *out = NULL;
    return status;
}

/* ---- Connecting ---- */

/* "schema.table", or a schema. */
static bool split_fragment(kn_pg *pg, kn_string said)
{
    kn_string schema = said, table = {NULL, 0};
    bool      parts = kn_table_parts(said, &schema, &table);
    if (said.size > 0) pg->schema = kn_table_unquote(pg->ctx, schema);
    if (parts) pg->table = kn_table_unquote(pg->ctx, table);
    return (said.size == 0 || pg->schema) && (!parts || pg->table);
}

/* The connection string of a name, and the schema, the table or the query in it. libpq accepts the scheme in lower case
 * only. */
static kn_status split_name(kn_pg *pg, const char *name, const char *schema, char **conninfo, kn_error *err)
{
    const char   *rest = kn_name_server(name);
    bool          uri = strncmp(rest, "//", 2) == 0, good = true;
    kn_name_parts parts = kn_table_name_split(name);
    size_t        size = uri ? parts.source.size - (size_t)(rest - name) : strlen(rest);
    *conninfo = kn_strformat(pg->ctx, "%s%.*s", uri ? "postgresql:" : "", (int)size, rest);
    if (schema)
        pg->schema = kn_strndup(pg->ctx, schema, strlen(schema));
    else if (uri)
        good = split_fragment(pg, parts.table);
    if (uri && parts.query.data) pg->query = kn_strndup(pg->ctx, parts.query.data, parts.query.size);
    good = good && *conninfo && (!schema || pg->schema) && (!uri || !parts.query.data || pg->query);
    return good ? KN_OK : kn_fail_memory(err, pg->ctx, "a connection");
}

static kn_status connect_to(kn_pg *pg, const char *conninfo, kn_error *err)
{
    const char *keywords[64], *values[64];
    int         count = 0;
    char       *words = NULL;
    pg->info = pg->pq.conninfoParse(conninfo, &words);
    pg->pq.freemem(words); /* they quote the string, password and all */
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
    pg->conn = pg->pq.connectdbParams(keywords, values, 0);
    if (!pg->conn) return kn_fail_memory(err, pg->ctx, "a connection");
    (void)pg->pq.setNoticeReceiver(pg->conn, ignore_notice, NULL);
    return pg->pq.status(pg->conn) == CONNECTION_OK ? KN_OK : fail_to_connect(pg, err);
}

static kn_status make_name(kn_pg *pg, kn_error *err)
{
    const char *host = pg->pq.host(pg->conn), *base = pg->pq.db(pg->conn);
    pg->name = kn_strformat(pg->ctx, "postgresql://%s/%s", host && *host != '/' ? host : "", base ? base : "");
    return pg->name ? KN_OK : kn_fail_memory(err, pg->ctx, "a connection");
}

kn_status kn_pg_open(kn_pg *pg, kn_context *ctx, const char *name, const char *schema, kn_error *err)
{
    char *conninfo = NULL;
    *pg = (kn_pg){.ctx = ctx};
    kn_status status = kn_libpq_open(&pg->pq, err);
    if (status == KN_OK) status = split_name(pg, name, schema, &conninfo, err);
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
    if (pg->conn) pg->pq.finish(pg->conn);
    if (pg->info) pg->pq.conninfoFree(pg->info);
    kn_libpq_close(&pg->pq);
    KN_FREE(pg->name, pg->schema, pg->table, pg->query);
    *pg = (kn_pg){0};
}
