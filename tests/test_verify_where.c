/* test_verify_where.c: a release that is verified where it is gets the answer that it gets when it is read whole: random tables
 * released as Parquet, then spoiled in many ways; folders of parts; less memory than the table needs.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <kanon/anonymize.h>
#include <kanon/answers.h>
#include <kanon/verify.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_columnar.h"
#include "kn_connection.h"
#include "kn_rng.h"
#include "kn_verify_where.h"
#include "testing.h"

/* ---- A DuckDB, and files ---- */

typedef struct place {
    kn_context   *ctx;
    kn_connection db;
    char          folder[200];
    kn_rng        rng;
} place;

static int below(place *p, int bound)
{
    return (int)kn_rng_below(&p->rng, (uint64_t)bound);
}

/* The copy of `make test` (scripts/setup big-test), unless another is named or the user's is all there is. */
static int find_library(void **state)
{
    char    path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 40);
    (void)state;
    for (int up = 0; size > 0 && up < 3; up++) /* this program, tests, the build's folder */
        while (size > 0 && path[--size] != '/') continue;
    if (size <= 0) return 0;
    snprintf(path + size, sizeof path - (size_t)size, "/build/big/libduckdb.so");
    return access(path, R_OK) == 0 ? setenv("KANON_DUCKDB", path, 0) : 0;
}

/* Skips the test where there is no libduckdb. */
static void begin(place *p, int stream, uint64_t limit)
{
    kn_error           err = KN_ERROR_INIT;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.threads = 1;
    options.memory_limit = limit;
    memset(p, 0, sizeof *p);
    assert_ok(kn_context_create(&p->ctx, &options, &err), err);
    kn_rng_init(&p->rng, testing_seed(), (uint64_t)stream);
    kn_status st = kn_connection_duckdb(&p->db, p->ctx, NULL, "a test", &err);
    if (st == KN_IO) {
        printf("# skipped: %s\n", err.message);
        testing_context_free(p->ctx);
        skip();
    }
    assert_ok(st, err);
    snprintf(p->folder, sizeof p->folder, "%s", testing_file("mark", "", 0));
    *strrchr(p->folder, '/') = '\0';
}

static void end(place *p)
{
    kn_connection_close(&p->db);
    testing_context_free(p->ctx);
}

static void run(place *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void run(place *p, const char *format, ...)
{
    kn_error err = KN_ERROR_INIT;
    char    *sql = NULL;
    va_list  list;
    va_start(list, format);
    assert_true(vasprintf(&sql, format, list) > 0);
    va_end(list);
    if (kn_connection_run(&p->db, p->ctx, sql, "a test", &err) != KN_OK) fail_msg("%s\n%s", err.message, sql);
    free(sql);
}

static int64_t number(place *p, const char *sql)
{
    kn_error err = KN_ERROR_INIT;
    int64_t  n = 0;
    assert_ok(kn_connection_number(&n, &p->db, p->ctx, sql, "a test", &err), err);
    return n;
}

/* ---- Verifying both ways ---- */

static kn_spec *spec_of(place *p, const char *text)
{
    kn_error err = KN_ERROR_INIT;
    kn_spec *spec = NULL;
    assert_ok(kn_spec_read_text(&spec, p->ctx, text, strlen(text), NULL, &err), err);
    assert_ok(kn_spec_check(spec, &err), err);
    return spec;
}

/* The relation of a file or folder, to be freed. */
static char *relation_of(place *p, const char *name)
{
    kn_error  err = KN_ERROR_INIT;
    kn_buffer text;
    kn_buffer_init(&text, p->ctx);
    assert_ok(kn_columnar_relation(&text, &p->db, p->ctx, &name, 1, NULL, 0, &err), err);
    char *out = strdup(kn_buffer_text(&text));
    kn_buffer_free(&text);
    return out;
}

typedef kn_status (*verifying)(kn_verify_report **, kn_context *, const kn_spec *, const kn_engine_table *,
                               const kn_engine_table *, const kn_verify_options *, kn_error *);

/* By kn_verify_where, or by kn_verify_apart, which does not read the original's combinations. */
static kn_verify_report *in_place_by(place *p, verifying verify, const kn_connection *c, const kn_spec *spec,
                                     const kn_verify_options *o)
{
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *report = NULL;
    char             *from = relation_of(p, o->originals[0]), *to = relation_of(p, o->release);
    kn_engine_table   original = {c, from, "the original"}, release = {c, to, "the release"};
    kn_status         st = verify(&report, p->ctx, spec, &original, &release, o, &err);
    if (st != KN_OK) fail_msg("%s", err.message);
    free(from);
    free(to);
    return report;
}

static kn_verify_report *in_place(place *p, const kn_spec *spec, const kn_verify_options *o)
{
    return in_place_by(p, kn_verify_where, &p->db, spec, o);
}

static kn_verify_report *apart(place *p, const kn_spec *spec, const kn_verify_options *o)
{
    return in_place_by(p, kn_verify_apart, &p->db, spec, o);
}

static kn_verify_report *whole(place *p, const kn_spec *spec, const kn_verify_options *o)
{
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *report = NULL;
    assert_ok(kn_verify(&report, p->ctx, spec, o, &err), err);
    return report;
}

static char *json_of(place *p, const kn_verify_report *report)
{
    kn_error     err = KN_ERROR_INIT;
    kn_document *doc = NULL;
    char        *json = NULL;
    size_t       size = 0;
    assert_ok(kn_document_verify(&doc, p->ctx, report, &err), err);
    assert_ok(kn_document_json(&json, &size, doc, &err), err);
    char *text = strndup(json, size), *read = text ? strstr(text, "  \"read\": ") : NULL;
    assert_non_null(read); /* by whom the tables were read is all that may differ */
    memmove(read, strchr(read, '\n') + 1, strlen(strchr(read, '\n') + 1) + 1);
    kn_text_free(json);
    kn_document_free(doc);
    return text;
}

/* ---- Other dialects ---- */

/* Statements of another dialect, executed by DuckDB, which knows most of PostgreSQL's and Spark's words; the others, and names in
 * backquotes, get those that it knows. */
static char *translated(const char *sql)
{
    static const char *const words[][2] = {{"CACHE TABLE", "CREATE TEMP TABLE"},
                                           {"DROP VIEW", "DROP TABLE"},
                                           {"<=>", "IS NOT DISTINCT FROM"},
                                           {"`", "\""}};
    char                    *text = calloc(6, strlen(sql) + 1), *to = text;
    assert_non_null(text);
    for (const char *at = sql; *at;) {
        size_t w = 0;
        while (w < sizeof words / sizeof *words && strncmp(at, words[w][0], strlen(words[w][0])) != 0) w++;
        if (w == sizeof words / sizeof *words) {
            *to++ = *at++;
            continue;
        }
        to = stpcpy(to, words[w][1]);
        at += strlen(words[w][0]);
    }
    return text;
}

static int foreign_run(void *state, const char *sql, char *message, size_t room)
{
    const place *p = state;
    char        *text = translated(sql);
    int          code = p->db.run(p->db.state, text, message, room);
    free(text);
    return code;
}

static int foreign_query(void *state, const char *sql, struct ArrowArrayStream *out, char *message, size_t room)
{
    const place *p = state;
    char        *text = translated(sql);
    int          code = p->db.query(p->db.state, text, out, message, room);
    free(text);
    return code;
}

static int foreign_put(void *state, const char *name, struct ArrowArrayStream *rows, char *message, size_t room)
{
    const place *p = state;
    return p->db.put(p->db.state, name, rows, message, room);
}

/* An engine that answers with another column where columns are asked for by name. */
static int other_query(void *state, const char *sql, struct ArrowArrayStream *out, char *message, size_t room)
{
    const place *p = state;
    bool         by_name = strstr(sql, " LIMIT 0") && strncmp(sql, "SELECT *", 8) != 0;
    return p->db.query(p->db.state, by_name ? "SELECT 'a' AS sex LIMIT 0" : sql, out, message, room);
}

/* ---- Random tables ---- */

static void draw_table(place *p, const char *name, int rows)
{
    static const char *const zips[] = {"47906", "47907", "47302", "47301", "10001"};
    static const char *const ills[] = {"flu", "cold", "ulcer", "ache"};
    kn_buffer                sql;
    kn_buffer_init(&sql, p->ctx);
    kn_buffer_add(&sql, "INSERT INTO drawn VALUES ");
    run(p, "CREATE OR REPLACE TEMP TABLE drawn (name VARCHAR, sex VARCHAR, age INTEGER, zip VARCHAR, ill VARCHAR, pay "
           "DOUBLE, "
           "note VARCHAR, seen TIMESTAMP, cost DECIMAL(8, 2))");
    for (int i = 0; i < rows; i++) {
        kn_buffer_format(&sql, "%s('P%d', ", i > 0 ? ", " : "", i);
        kn_buffer_add(&sql, below(p, 10) == 0 ? "NULL, " : below(p, 3) ? "'F', " : "'M', ");
        kn_buffer_format(&sql, "%d, '%s', ", 20 + below(p, 1 + below(p, 30)), zips[below(p, 1 + below(p, 5))]);
        kn_buffer_format(&sql, "'%s', ", ills[below(p, 1 + below(p, 4))]);
        if (below(p, 6) == 0)
            kn_buffer_add(&sql, "NULL, ");
        else
            kn_buffer_format(&sql, "%d.%d, ", below(p, 20), below(p, 3) * 5);
        kn_buffer_format(&sql, "'n%d', TIMESTAMP '2024-01-%02d 10:00:00', %d.5)", below(p, 12), 1 + below(p, 5),
                         below(p, 4));
    }
    assert_non_null(kn_buffer_text(&sql));
    run(p, "%s", sql.data);
    run(p, "COPY drawn TO '%s/%s' (FORMAT parquet)", p->folder, name);
    kn_buffer_free(&sql);
}

/* Which columns are kept: by bits. */
static char *request(place *p, int round, const char *input, const char *output)
{
    static const char *const hidden[] = {"star", "drop", "keep-sensitive"};
    static const char *const promises[] = {"[{k: 3}]",
                                           "[{k: 2}, {l-diversity: {attribute: ill, kind: distinct, l: 2}}]",
                                           "[{k: 2}, {t-closeness: {attribute: ill, t: 0.6}}]"};
    static const char *const methods[] = {"optimal", "incognito", "datafly", "mondrian", "kmsd"};
    char                    *text = NULL;
    assert_true(asprintf(&text,
                         "kanon: 1\ninput: %s/%s\noutput: %s/%s\nattributes:\n  name: identifier\n  sex: quasi\n"
                         "  age: {role: quasi, hierarchy: {ranges: [5, 10, 20]}}\n"
                         "  zip: {role: quasi, type: text, hierarchy: {mask: right}}\n  ill: sensitive\n%s%s%s%s"
                         "privacy: %s\nmethod: %s\nforce: true\nsuppression: %s\nsuppressed: %s\nmissing: %s\n",
                         p->folder, input, p->folder, output, round % 5 != 0 ? "  note: keep\n" : "",
                         round % 3 == 1 ? "  pay: keep\n" : "", round % 4 == 2 ? "  seen: keep\n" : "",
                         round % 4 == 3 ? "  cost: keep\n" : "", promises[round % 3], methods[round % 5],
                         round % 7 == 6 ? "0" : "0.15", hidden[round % 3], round % 5 == 4 ? "drop" : "value") > 0);
    return text;
}

/* false: there is no release. */
static bool release(place *p, const kn_spec *spec, int levels[8], int *level_count, int64_t *suppressed)
{
    kn_error             err = KN_ERROR_INIT;
    kn_release_result   *result = NULL;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    options.version = "test";
    assert_ok(kn_anonymize(&result, p->ctx, spec, &options, &err), err);
    bool found = result->head.found;
    *level_count = result->level_count;
    *suppressed = result->head.suppressed;
    for (int i = 0; i < result->level_count && i < 8; i++) levels[i] = result->levels[i];
    kn_release_result_free(result);
    return found;
}

/* ---- The same answer ---- */

static void compare_dialects(place *p, const kn_spec *spec, const kn_verify_options *o, const char *said)
{
    static const kn_dialect dialects[] = {KN_DIALECT_POSTGRESQL, KN_DIALECT_SPARK};
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        kn_connection c = {sizeof c, dialects[i], p, foreign_run, foreign_query, foreign_put};
        for (int way = 0; way < 2; way++) {
            kn_verify_report *report = in_place_by(p, way ? kn_verify_apart : kn_verify_where, &c, spec, o);
            char             *again = json_of(p, report);
            assert_string_equal(said, again);
            free(again);
            kn_verify_report_free(report);
        }
    }
}

static void test_same_answer(void **state)
{
    (void)state;
    place p;
    int   found = 0, parts = 0, local = 0;
    begin(&p, 1, 0);
    for (int round = 0; round < testing_rounds(6); round++) {
        char        input[40], output[40], from[300], to[300];
        const char *original = from;
        bool        folder = round % 6 == 5;
        int         levels[8], level_count;
        int64_t     suppressed;
        snprintf(input, sizeof input, "in%d.parquet", round);
        snprintf(output, sizeof output, "out%d.parquet%s", round, folder ? "/" : "");
        draw_table(&p, input, 40 + below(&p, 120));
        char    *text = request(&p, round, input, output);
        kn_spec *spec = spec_of(&p, text);
        if (release(&p, spec, levels, &level_count, &suppressed)) {
            snprintf(from, sizeof from, "%s/%s", p.folder, input);
            snprintf(to, sizeof to, "%s/%s", p.folder, output);
            kn_verify_options o = KN_VERIFY_OPTIONS_INIT;
            o.originals = &original;
            o.original_count = 1;
            o.release = to;
            o.suppressed = suppressed;
            o.levels = round % 2 && level_count > 0 ? levels : NULL;
            o.level_count = round % 2 ? level_count : 0;
            if (level_count == 0 && round >= 5) spec->method_given = false; /* the release shows it */
            local += level_count == 0;
            kn_verify_report *a = whole(&p, spec, &o), *b = in_place(&p, spec, &o), *c = apart(&p, spec, &o);
            char             *said = json_of(&p, a), *again = json_of(&p, b), *third = json_of(&p, c);
            if (!a->ok || strcmp(said, again) != 0 || (level_count > 0 && strcmp(said, third) != 0))
                fail_msg("round %d\n%s\nread whole: %s\nin place: %s\napart: %s", round, text, said, again, third);
            free(third);
            kn_verify_report_free(c);
            assert_int_equal(strlen(b->sha256), 64);
            compare_dialects(&p, spec, &o, again);
            free(said);
            free(again);
            kn_verify_report_free(a);
            kn_verify_report_free(b);
            found++;
            parts += folder;
        }
        kn_spec_free(spec);
        free(text);
    }
    assert_true(found >= testing_least(4));
    assert_true(parts >= testing_least(1));
    assert_true(local >= testing_least(1));
    end(&p);
}

/* ---- Spoiled releases ---- */

typedef enum spoiling {
    CELL,      /* a quasi-identifier's cell of another row */
    LEVEL,     /* a label of another level                 */
    SENSITIVE, /* another sensitive value                  */
    NOTE,      /* a kept value that nobody has             */
    SWAP,      /* kept values of two rows exchanged        */
    DROP,      /* a row is gone                            */
    ADD,       /* a row is there twice                     */
    COPY_ROW,  /* ... in the place of another              */
    BACK,      /* a suppressed row is shown                */
    METADATA,
    SPOILINGS
} spoiling;

static const char *const spoiling_names[SPOILINGS] = {"cell", "level", "sensitive", "note", "swap",
                                                      "drop", "add",   "copy",      "back", "metadata"};

/* Changes the table `r` of the released rows, numbered by nr; false: there is nothing to change. */
static bool spoil(place *p, spoiling how, const char *input, bool note)
{
    int64_t rows = number(p, "SELECT count(*) FROM r"), at = 1 + below(p, (int)rows), other = 1 + below(p, (int)rows);
    switch (how) {
    case CELL:
        run(p, "UPDATE r SET zip = (SELECT max(zip) FROM r AS o WHERE o.zip <> r.zip) WHERE nr = %d", (int)at);
        return true;
    case LEVEL: run(p, "UPDATE r SET zip = left(zip, 1) || '****' WHERE nr = %d", (int)at); return true;
    case SENSITIVE:
        run(p, "UPDATE r SET ill = CASE WHEN ill = 'flu' THEN 'cold' ELSE 'flu' END WHERE nr = %d", (int)at);
        return true;
    case NOTE:
        if (note) run(p, "UPDATE r SET note = coalesce(note, '') || 'x' WHERE nr = %d", (int)at);
        return note;
    case SWAP:
        if (note)
            run(p,
                "UPDATE r SET note = (SELECT note FROM r AS o WHERE o.nr = CASE WHEN r.nr = %d THEN %d ELSE %d END) "
                "WHERE nr IN (%d, %d)",
                (int)at, (int)other, (int)at, (int)at, (int)other);
        return note && at != other;
    case DROP: run(p, "DELETE FROM r WHERE nr = %d", (int)at); return true;
    case COPY_ROW: run(p, "DELETE FROM r WHERE nr = %d AND nr <> %d", (int)other, (int)at); /* fall through */
    case ADD: run(p, "INSERT INTO r SELECT * REPLACE (0 AS nr) FROM r WHERE nr = %d", (int)at); return true;
    case BACK:
        run(p, "DELETE FROM r WHERE nr = (SELECT min(nr) FROM r WHERE sex = '*' AND zip = '*')");
        run(p, "INSERT INTO r BY NAME SELECT sex, zip, ill%s FROM '%s/%s' LIMIT 1 OFFSET %d", note ? ", note" : "",
            p->folder, input, below(p, 30));
        return true;
    default: return true;
    }
}

/* Two answers about a spoiled release: the same, or the one in place is careful. */
static bool is_rejected_by(place *p, verifying verify, const kn_spec *spec, const kn_verify_options *o,
                           const char *what)
{
    kn_verify_report *a = whole(p, spec, o), *b = in_place_by(p, verify, &p->db, spec, o);
    bool              careful = b->assignment == KN_ASSIGNMENT_UNDECIDED;
    if (a->outcome != b->outcome || (a->assignment != b->assignment && !careful) || a->k != b->k ||
        a->suppressed != b->suppressed)
        fail_msg("%s: read whole %d, in place %d\n%s\n%s", what, (int)a->outcome, (int)b->outcome,
                 a->problem_count > 0 ? a->problems[0] : "", b->problem_count > 0 ? b->problems[0] : "");
    bool rejected = b->outcome == KN_OUTCOME_FAILS;
    if (rejected && b->problem_count == 0) fail_msg("%s: no reason is given", what);
    kn_verify_report_free(a);
    kn_verify_report_free(b);
    return rejected;
}

static bool is_rejected(place *p, const kn_spec *spec, const kn_verify_options *o, const char *what)
{
    bool there = is_rejected_by(p, kn_verify_where, spec, o, what),
         apart = is_rejected_by(p, kn_verify_apart, spec, o, what);
    return there && apart;
}

static void test_spoiled(void **state)
{
    (void)state;
    place p;
    int   tried[SPOILINGS] = {0}, rejected[SPOILINGS] = {0};
    begin(&p, 2, 0);
    for (int round = 0; round < testing_rounds(3); round++) {
        char        input[40], from[300], to[300];
        const char *original = from;
        int         levels[8], level_count;
        int64_t     suppressed;
        bool        note = round % 5 != 0;
        snprintf(input, sizeof input, "s%d.parquet", round);
        draw_table(&p, input, 40 + below(&p, 60));
        char output[40];
        snprintf(output, sizeof output, "t%d.parquet", round);
        char    *text = request(&p, round, input, output);
        kn_spec *spec = spec_of(&p, text);
        snprintf(from, sizeof from, "%s/%s", p.folder, input);
        snprintf(to, sizeof to, "%s/spoiled.parquet", p.folder);
        bool              found = release(&p, spec, levels, &level_count, &suppressed);
        kn_verify_options o = KN_VERIFY_OPTIONS_INIT;
        o.originals = &original;
        o.original_count = 1;
        o.release = to;
        o.levels = level_count > 0 ? levels : NULL;
        o.level_count = level_count;
        for (int how = 0; how < SPOILINGS && found; how++) {
            run(&p,
                "CREATE OR REPLACE TEMP TABLE r AS SELECT * REPLACE (CAST(zip AS VARCHAR) AS zip), row_number() OVER "
                "() AS nr "
                "FROM '%s/%s'",
                p.folder, output);
            if (number(&p, "SELECT count(*) FROM r") == 0) continue;
            if (!spoil(&p, (spoiling)how, input, note)) continue;
            run(&p, "COPY (SELECT * EXCLUDE nr FROM r ORDER BY nr) TO '%s' (FORMAT parquet%s)", to,
                how == METADATA ? ", KV_METADATA {a: 'b'}" : "");
            tried[how]++;
            rejected[how] += is_rejected(&p, spec, &o, spoiling_names[how]);
        }
        kn_spec_free(spec);
        free(text);
    }
    for (int how = 0; how < SPOILINGS; how++)
        printf("# %s: %d of %d rejected\n", spoiling_names[how], rejected[how], tried[how]);
    for (int how = 0; how < SPOILINGS; how++)
        if (rejected[how] < testing_least(2))
            fail_msg("%s: rejected %d times only", spoiling_names[how], rejected[how]);
    assert_int_equal(rejected[METADATA], tried[METADATA]);
    assert_int_equal(rejected[NOTE], tried[NOTE]);
    end(&p);
}

/* ---- Parts ---- */

/* The rows of a release as a folder of parts of n rows. */
static void write_parts(place *p, const char *file, const char *folder, int n)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", p->folder, folder);
    mkdir(path, 0700);
    run(p,
        "CREATE OR REPLACE TEMP TABLE r AS SELECT * REPLACE (CAST(zip AS VARCHAR) AS zip, CAST(age AS VARCHAR) AS age) "
        "FROM '%s/%s'",
        p->folder, file); /* whatever their level is */
    int64_t rows = number(p, "SELECT count(*) FROM r");
    for (int part = 0; part * n < rows; part++)
        run(p, "COPY (SELECT * FROM r LIMIT %d OFFSET %d) TO '%s/part-%05d.parquet' (FORMAT parquet)", n, part * n,
            path, part);
}

/* Two releases of one request from two tables; a part of one is put into the other. */
static void test_swapped_parts(void **state)
{
    (void)state;
    place p;
    int   rejected = 0;
    begin(&p, 3, 0);
    for (int round = 0; round < testing_rounds(3); round++) {
        char        from[300], to[300], name[2][40], out[2][40], folder[2][40];
        const char *original = from;
        int         levels[8], level_count;
        int64_t     suppressed;
        bool        found = true;
        kn_spec    *specs[2];
        for (int i = 0; i < 2; i++) {
            snprintf(name[i], sizeof name[i], "p%d-%d.parquet", round, i);
            snprintf(out[i], sizeof out[i], "q%d-%d.parquet", round, i);
            snprintf(folder[i], sizeof folder[i], "parts%d-%d", round, i);
            draw_table(&p, name[i], 90);
            char *text = request(&p, 1, name[i], out[i]);
            specs[i] = spec_of(&p, text);
            found = release(&p, specs[i], levels, &level_count, &suppressed) && found;
            free(text);
        }
        if (found) {
            for (int i = 0; i < 2; i++) write_parts(&p, out[i], folder[i], 30);
            kn_verify_options o = KN_VERIFY_OPTIONS_INIT;
            snprintf(from, sizeof from, "%s/%s", p.folder, name[0]);
            snprintf(to, sizeof to, "%s/%s", p.folder, folder[0]);
            o.originals = &original;
            o.original_count = 1;
            o.release = to;
            assert_false(is_rejected(&p, specs[0], &o, "parts"));
            run(&p, "COPY (FROM '%s/%s/part-00001.parquet') TO '%s/part-00001.parquet' (FORMAT parquet)", p.folder,
                folder[1], to);
            rejected += is_rejected(&p, specs[0], &o, "a part of another release");
        }
        for (int i = 0; i < 2; i++) kn_spec_free(specs[i]);
    }
    assert_true(rejected >= testing_least(2));
    end(&p);
}

/* ---- Memory ---- */

/* A table that does not fit the memory by far is verified all the same, and what is wrong with it found. */
static void test_little_memory(void **state)
{
    (void)state;
    place p;
    begin(&p, 4, 6 << 20);
    int   rows = TESTING_SANITIZED ? 400000 : 1000000;
    char *text = NULL;
    run(&p,
        "COPY (SELECT CAST(i AS VARCHAR) AS name, CASE WHEN i %% 2 = 0 THEN 'F' ELSE 'M' END AS sex, CAST(i %% 40 AS "
        "INTEGER) AS age, "
        "CAST(i %% 7 AS VARCHAR) AS ill, CAST(i %% 1000 AS DOUBLE) / 4 AS pay FROM range(%d) AS t(i)) TO "
        "'%s/big.parquet' "
        "(FORMAT parquet)",
        rows, p.folder);
    run(&p, "COPY (SELECT * EXCLUDE name FROM '%s/big.parquet') TO '%s/copy.parquet' (FORMAT parquet)", p.folder,
        p.folder);
    assert_true(
        asprintf(&text,
                 "kanon: 1\ninput: %s/big.parquet\noutput: %s/copy.parquet\nattributes:\n  name: identifier\n"
                 "  sex: quasi\n  age: {role: quasi, hierarchy: {ranges: [5, 10]}}\n  ill: sensitive\n  pay: keep\n"
                 "privacy: [{k: 100}]\nmethod: optimal\n",
                 p.folder, p.folder) > 0);
    kn_spec          *spec = spec_of(&p, text);
    kn_verify_options o = KN_VERIFY_OPTIONS_INIT;
    o.originals = spec->inputs;
    o.original_count = 1;
    o.release = spec->output;
    kn_verify_report *report = in_place(&p, spec, &o);
    assert_int_equal(report->outcome, KN_OUTCOME_HOLDS);
    assert_int_equal(report->rows, rows);
    assert_int_equal(report->classes, 40);
    kn_verify_report_free(report);
    report = whole(&p, spec, &o); /* takes the same way */
    assert_int_equal(report->outcome, KN_OUTCOME_HOLDS);
    kn_verify_report_free(report);
    run(&p,
        "COPY (SELECT * REPLACE (CASE WHEN pay = 7 AND row_number() OVER () = 29 THEN 8 ELSE pay END AS pay) FROM "
        "'%s/big.parquet') TO '%s/x.parquet' (FORMAT parquet)",
        p.folder, p.folder);
    run(&p, "COPY (SELECT * EXCLUDE name FROM '%s/x.parquet') TO '%s/copy.parquet' (FORMAT parquet)", p.folder,
        p.folder);
    report = in_place(&p, spec, &o);
    assert_int_equal(report->outcome, KN_OUTCOME_FAILS);
    assert_string_equal(report->problems[0],
                        "1 released row cannot come from the original: no original that looks like it "
                        "and has the same sensitive and kept cells is left");
    kn_verify_report_free(report);
    kn_spec_free(spec);
    free(text);
    end(&p);
}

/* Kept cells of a release without levels are compared by class where a combination has one; else they are read among the combinations: if
 * these do not fit, the answer stays open. */
static void test_little_memory_without_levels(void **state)
{
    (void)state;
    place p;
    begin(&p, 6, 6 << 20);
    char *text = NULL;
    run(&p,
        "COPY (SELECT ['F', 'M'][1 + i %% 2] AS sex, CAST(i %% 40 AS INTEGER) AS age, i AS note FROM range(400000) AS "
        "t(i)) TO '%s/wide.parquet' (FORMAT parquet)",
        p.folder);
    assert_true(asprintf(&text,
                         "kanon: 1\ninput: %s/wide.parquet\noutput: %s/some.parquet\nattributes:\n"
                         "  sex: {role: quasi, hierarchy: suppress}\n  age: quasi\n  note: keep\n"
                         "privacy: [{k: 100}]\nmethod: mondrian\n",
                         p.folder, p.folder) > 0);
    kn_spec          *spec = spec_of(&p, text);
    kn_verify_options o = KN_VERIFY_OPTIONS_INIT;
    o.originals = spec->inputs;
    o.original_count = 1;
    o.release = spec->output;
    for (int round = 0; round < 4; round++) {
        bool split = round % 2; /* a combination has two classes */
        run(&p,
            "COPY (SELECT * REPLACE (CASE WHEN %s < 20 THEN '*' ELSE sex END AS sex) FROM '%s/wide.parquet' ORDER BY "
            "sex, "
            "age) TO '%s/some.parquet' (FORMAT parquet)",
            split ? "note % 60" : "age", p.folder, p.folder);
        spec->method_given = round / 2;
        kn_verify_report *report = in_place(&p, spec, &o);
        assert_int_equal(report->outcome, split ? KN_OUTCOME_UNDECIDED : KN_OUTCOME_HOLDS);
        if (split)
            assert_non_null(
                strstr(report->open[0], "may belong to several classes, and their combinations with the kept"));
        kn_verify_report_free(report);
    }
    kn_spec_free(spec);
    free(text);
    end(&p);
}

/* ---- What is refused ---- */

static void test_refused(void **state)
{
    (void)state;
    static const char *const requests[][2] = {
        {"entity: {key: name}\n", "an entity"},
        {"dependencies: ['zip -> ill']\n", "a dependency"},
    };
    place p;
    begin(&p, 5, 0);
    draw_table(&p, "f.parquet", 20);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        kn_error          err = KN_ERROR_INIT;
        kn_verify_report *report = NULL;
        kn_verify_options o = KN_VERIFY_OPTIONS_INIT;
        char             *text = request(&p, 1, "f.parquet", "g.parquet"), *all = NULL;
        assert_true(asprintf(&all, "%s%s", text, requests[i][0]) > 0);
        kn_spec        *spec = spec_of(&p, all);
        kn_engine_table table = {&p.db, "drawn", "the table"};
        assert_int_equal(kn_verify_where(&report, p.ctx, spec, &table, &table, &o, &err), KN_USAGE);
        assert_non_null(strstr(err.message, requests[i][1]));
        kn_spec_free(spec);
        free(text);
        free(all);
    }
    end(&p);
}

static void test_other_columns(void **state)
{
    (void)state;
    place p;
    begin(&p, 7, 0);
    draw_table(&p, "f.parquet", 20);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *report = NULL;
    kn_verify_options o = KN_VERIFY_OPTIONS_INIT;
    char             *text = request(&p, 0, "f.parquet", "g.parquet");
    kn_spec          *spec = spec_of(&p, text);
    kn_connection     other = {sizeof other, p.db.dialect, &p, foreign_run, other_query, foreign_put};
    kn_engine_table   original = {&other, "drawn", "the original"}, released = {&p.db, "drawn", "the release"};
    assert_int_equal(kn_verify_apart(&report, p.ctx, spec, &original, &released, &o, &err), KN_INPUT);
    assert_string_equal(err.message, "the original: the engine answers with other columns than were asked for");
    kn_spec_free(spec);
    free(text);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_answer),
                                       cmocka_unit_test(test_spoiled),
                                       cmocka_unit_test(test_swapped_parts),
                                       cmocka_unit_test(test_little_memory),
                                       cmocka_unit_test(test_little_memory_without_levels),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_other_columns)};
    return cmocka_run_group_tests(tests, find_library, NULL);
}
