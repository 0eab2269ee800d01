/* test_counted.c: a table and its frequency set are the same table, and neither depends on the order of its rows: releases by
 * every method, answers, the verifier's judgement.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/anonymize.h>
#include <kanon/answers.h>
#include <kanon/arrow.h>
#include <kanon/attack.h>
#include <kanon/measure.h>
#include <kanon/memory.h>
#include <kanon/verify.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_rng.h"
#include "kn_table_select.h"
#include "testing.h"

enum { COLUMNS = 6, MOST_ROWS = 200 };

/* ---- Tables ---- */

static const char *const names[COLUMNS] = {"sex", "age", "zip", "area", "ill", "w"};

typedef struct row {
    char cells[COLUMNS][8];
} row;

typedef struct rows {
    row list[MOST_ROWS];
    int count;
} rows;

static int below(kn_rng *rng, int bound)
{
    return (int)kn_rng_below(rng, (uint64_t)bound);
}

/* Small values more often, so that rows repeat; "area" follows from "zip". */
static void draw_rows(rows *out, kn_rng *rng, int count, bool missing)
{
    static const char *const zips[] = {"47906", "47907", "47302", "47301", "10001"};
    static const char *const ills[] = {"flu", "cold", "ulcer", "ache"};
    memset(out, 0, sizeof *out); /* rows are compared byte by byte */
    out->count = count;
    for (int i = 0; i < count; i++) {
        row *r = &out->list[i];
        int  zip = below(rng, 1 + below(rng, 5));
        snprintf(r->cells[0], sizeof r->cells[0], "%s", missing && below(rng, 8) == 0 ? "" : below(rng, 3) ? "F" : "M");
        snprintf(r->cells[1], sizeof r->cells[1], "%d", 20 + below(rng, 1 + below(rng, 30)));
        snprintf(r->cells[2], sizeof r->cells[2], "%s", zips[zip]);
        snprintf(r->cells[3], sizeof r->cells[3], "%s", zip < 2 ? "north" : "south");
        snprintf(r->cells[4], sizeof r->cells[4], "%s", ills[below(rng, 1 + below(rng, 4))]);
        snprintf(r->cells[5], sizeof r->cells[5], "%d", 1 + below(rng, 2));
    }
}

static void shuffle(rows *r, kn_rng *rng)
{
    for (int i = r->count; i > 1; i--) {
        int other = below(rng, i);
        row held = r->list[i - 1];
        r->list[i - 1] = r->list[other];
        r->list[other] = held;
    }
}

static void add_line(kn_buffer *to, const row *r, int64_t count)
{
    for (int c = 0; c < COLUMNS; c++) kn_buffer_format(to, "%s%s", c > 0 ? "," : "", r->cells[c]);
    if (count >= 0) kn_buffer_format(to, ",%lld", (long long)count);
    kn_buffer_char(to, '\n');
}

static void add_header(kn_buffer *to, bool counted)
{
    for (int c = 0; c < COLUMNS; c++) kn_buffer_format(to, "%s%s", c > 0 ? "," : "", names[c]);
    kn_buffer_add(to, counted ? ",n\n" : "\n");
}

static void table_text(kn_buffer *to, const rows *r)
{
    kn_buffer_clear(to);
    add_header(to, false);
    for (int i = 0; i < r->count; i++) add_line(to, &r->list[i], -1);
    kn_buffer_char(to, '\0');
}

/* Equal rows once, with their number (`times` each); some in two parts, some with a part of 0, and a row that is not there. */
static void counted_text(kn_buffer *to, const rows *r, kn_rng *rng, int64_t times)
{
    rows left = *r;
    kn_buffer_clear(to);
    add_header(to, true);
    shuffle(&left, rng);
    while (left.count > 0) {
        row     one = left.list[0];
        int64_t count = 0;
        int     kept = 0;
        for (int i = 0; i < left.count; i++) {
            if (memcmp(&left.list[i], &one, sizeof one) == 0)
                count += times;
            else
                left.list[kept++] = left.list[i];
        }
        left.count = kept;
        int64_t part = below(rng, 3) == 0 ? (int64_t)kn_rng_below(rng, (uint64_t)count + 1) : 0;
        if (part > 0 || below(rng, 4) == 0) add_line(to, &one, part);
        add_line(to, &one, count - part);
    }
    kn_buffer_add(to, "X,none,?!,nowhere,never,-1,0\n");
    kn_buffer_char(to, '\0');
}

static void put(kn_context *ctx, const char *name, const char *text)
{
    kn_error err = KN_ERROR_INIT;
    assert_ok(kn_memory_put(ctx, name, text, strlen(text), &err), err);
}

static char *get(kn_context *ctx, const char *name)
{
    kn_error    err = KN_ERROR_INIT;
    const void *bytes = NULL;
    size_t      size = 0;
    assert_ok(kn_memory_get(&bytes, &size, ctx, name, &err), err);
    char *text = malloc(size + 1);
    assert_non_null(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

/* ---- Requests ---- */

static const char *const promises[] = {
    "[{k: 2}]",
    "[{k: 3}, {l-diversity: {attribute: ill, kind: distinct, l: 2}}]",
    "[{k: 2}, {l-diversity: {attribute: ill, kind: entropy, l: 1.5}}]",
    "[{k: 2}, {l-diversity: {attribute: ill, kind: recursive, c: 3, l: 2}}]",
    "[{k: 2}, {t-closeness: {attribute: ill, distance: equal, t: 0.5}}]",
    "[{k: 2}, {t-closeness: {attribute: ill, distance: ordered, t: 0.4}}]",
    "[{alpha-k: {attribute: ill, alpha: 0.8, k: 2}}]",
    "[{k: 2}, {beta-likeness: {attribute: ill, beta: 3}}]",
    "[{k: 2}, {delta-disclosure: {attribute: ill, delta: 2}}]",
    "[{max-risk: 0.4}, {average-risk: 0.3}]",
    "[{k: 2}, {k-map: {k: 4}}]",
};
enum { PROMISES = sizeof promises / sizeof *promises, OF_PEOPLE = PROMISES - 1 };

static const char *const methods[] = {
    "optimal",           "samarati", "bottom-up", "bottom-up-rollup",     "incognito",   "incognito-cube",
    "heuristic",         "datafly",  "mondrian",  "mondrian-relaxed",     "mondrian-1d", "mondrian-best",
    "mondrian-workload", "kmsd",     "kmsd-ag",   "incognito-superroots",
};
enum { METHODS = sizeof methods / sizeof *methods };

static const char *const metrics[] = {"lm", "ncp", "prec", "entropy", "dm", "dm_star", "c_avg"};
static const char *const hidden[] = {"star", "star", "drop", "keep-sensitive"};

static bool is_local(const char *method)
{
    return strncmp(method, "mondrian", 8) == 0 || strncmp(method, "kmsd", 4) == 0;
}

typedef enum form { PLAIN, COUNTED, EXPANDED } form;

/* A release file for one of the three forms. `round` turns what else there is to choose. */
static void request(kn_buffer *to, const char *method, int promise, int round, form f)
{
    kn_buffer_clear(to);
    kn_buffer_format(to,
                     "kanon: 1\ninput: memory:in.csv\noutput: memory:out.csv\npublic-report: memory:out.html\n"
                     "attributes:\n  sex: quasi\n  age: {role: quasi, hierarchy: {ranges: [5, 10, 20]}}\n"
                     "  zip: {role: quasi, type: text, hierarchy: {mask: right}}\n  area: quasi\n  ill: sensitive\n"
                     "%s%sprivacy: %s\nmethod: %s\nforce: true\nsuppression: %s\nsuppressed: %s\nmissing: %s\n",
                     promise == OF_PEOPLE ? "  w: weight\n" : "", f == PLAIN ? "" : "  n: count\n", promises[promise],
                     method, round % 3 == 0 ? "{rows: 5}" : "0.2", hidden[round % 4],
                     round % 5 == 4 ? "drop" : "value");
    if (!is_local(method)) kn_buffer_format(to, "utility: %s\n", metrics[round % 7]);
    if (strcmp(method, "kmsd-ag") == 0) kn_buffer_add(to, "dependencies: ['zip -> area']\n");
    if (strcmp(method, "mondrian-workload") == 0) kn_buffer_add(to, "workload: memory:w.sql\n");
    if (f == EXPANDED) kn_buffer_add(to, "expand: true\n");
    kn_buffer_char(to, '\0');
}

static kn_spec *spec_of(kn_context *ctx, const char *text)
{
    kn_error err = KN_ERROR_INIT;
    kn_spec *spec = NULL;
    assert_ok(kn_spec_read_text(&spec, ctx, text, strlen(text), NULL, &err), err);
    assert_ok(kn_spec_check(spec, &err), err);
    return spec;
}

/* ---- Answers ---- */

/* Takes the lines out that begin with this key. */
static void cut_lines(char *text, const char *key)
{
    for (char *at; (at = strstr(text, key));) {
        char *begin = at, *end = strchr(at, '\n');
        while (begin > text && begin[-1] != '\n') begin--;
        memmove(begin, end ? end + 1 : at + strlen(at), strlen(end ? end + 1 : "") + 1);
    }
}

static char *json_of(kn_document *doc)
{
    kn_error err = KN_ERROR_INIT;
    char    *json = NULL;
    size_t   size = 0;
    assert_ok(kn_document_json(&json, &size, doc, &err), err);
    char *text = malloc(size + 1);
    assert_non_null(text);
    memcpy(text, json, size);
    text[size] = '\0';
    kn_text_free(json);
    kn_document_free(doc);
    return text;
}

typedef struct released {
    char *answer, *bytes, *certificate, *page; /* NULL: nothing was released */
} released;

static void free_released(released *r)
{
    free(r->answer);
    free(r->bytes);
    free(r->certificate);
    free(r->page);
}

/* Releases memory:in.csv, which holds `input`. What is told apart by the clock is cut out of the answer. */
static released release(kn_context *ctx, const char *input, const char *text)
{
    released             r = {NULL, NULL, NULL, NULL};
    kn_error             err = KN_ERROR_INIT;
    kn_release_result   *result = NULL;
    kn_document         *doc = NULL;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_spec             *spec = NULL;
    put(ctx, "memory:in.csv", input);
    put(ctx, "memory:w.sql",
        "SELECT COUNT(*) FROM t WHERE age BETWEEN 20 AND 27\nSELECT COUNT(*) FROM t WHERE sex = 'F'\n");
    spec = spec_of(ctx, text);
    options.version = "test";
    if (kn_anonymize(&result, ctx, spec, &options, &err) != KN_OK) {
        r.answer = strdup(err.message);
        if (strstr(err.message, "mistake in kanon")) fail_msg("%s\n%s", err.message, text);
        kn_spec_free(spec);
        return r;
    }
    bool found = result->head.found;
    assert_ok(kn_document_anonymize(&doc, ctx, spec, result, &options, &err), err);
    r.answer = json_of(doc);
    char *clock = strstr(r.answer, "\"seconds\": {"); /* the last of its members */
    if (clock) *clock = '\0';
    cut_lines(r.answer, "\"sha256\"");
    kn_release_result_free(result);
    kn_spec_free(spec);
    if (!found) return r;
    r.bytes = get(ctx, "memory:out.csv");
    r.certificate = get(ctx, "memory:out.csv.certificate.json");
    r.page = get(ctx, "memory:out.html");
    return r;
}

/* A counted CSV text with each row as often as its last cell says, without that cell. */
static char *expanded(const char *text)
{
    char  *out = NULL;
    size_t size = 0;
    FILE  *f = open_memstream(&out, &size);
    assert_non_null(f);
    for (const char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        const char *last = end;
        while (last[-1] != ',') last--;
        int64_t times = line == text ? 1 : atoll(last);
        for (int64_t i = 0; i < times; i++) fprintf(f, "%.*s\n", (int)(last - 1 - line), line);
    }
    fclose(f);
    return out;
}

/* Shows where they part. */
static void assert_same(const char *what, const char *request_text, const char *a, const char *b)
{
    size_t at = 0, from = 0;
    if ((!a && !b) || (a && b && strcmp(a, b) == 0)) return;
    while (a && b && a[at] && a[at] == b[at]) at++;
    from = at > 100 ? at - 100 : 0;
    fail_msg("%s differs\n%s\n--- %.300s\n+++ %.300s", what, request_text, a ? a + from : "(nothing)",
             b ? b + from : "(nothing)");
}

/* ---- Releases ---- */

/* The certificate of a counted release is that of the expanded one but for its digest and the column of counts. */
static void assert_certificates(const char *counted, const char *plain, const char *request_text)
{
    static const char column[] = ",\n    {\n      \"name\": \"n\",\n      \"role\": \"count\"\n    }";
    char             *a = strdup(counted), *b = strdup(plain), *at = strstr(a, column);
    if (!at) fail_msg("no column of counts in\n%s", counted);
    memmove(at, at + strlen(column), strlen(at + strlen(column)) + 1);
    cut_lines(a, "\"sha256\"");
    cut_lines(b, "\"sha256\"");
    assert_same("certificate of the counted release", request_text, a, b);
    free(a);
    free(b);
}

static void compare(kn_context *ctx, kn_rng *rng, const rows *r, const char *method, int promise, int round, int *made)
{
    rows             other = *r;
    kn_buffer        plain, mixed, counts, text[3];
    kn_buffer *const all[] = {&plain, &mixed, &counts, &text[0], &text[1], &text[2]};
    for (int i = 0; i < 6; i++) kn_buffer_init(all[i], ctx);
    shuffle(&other, rng);
    table_text(&plain, r);
    table_text(&mixed, &other);
    counted_text(&counts, r, rng, 1);
    for (int f = PLAIN; f <= EXPANDED; f++) request(&text[f], method, promise, round, (form)f);
    released a = release(ctx, plain.data, text[PLAIN].data), b = release(ctx, mixed.data, text[PLAIN].data);
    released c = release(ctx, counts.data, text[COUNTED].data), d = release(ctx, counts.data, text[EXPANDED].data);
    assert_same("answer of the shuffled table", text[0].data, a.answer, b.answer);
    assert_same("release of the shuffled table", text[0].data, a.bytes, b.bytes);
    assert_same("answer of the expanded release", text[2].data, a.answer, d.answer);
    assert_same("expanded release", text[2].data, a.bytes, d.bytes);
    assert_same("certificate of the expanded release", text[2].data, a.certificate, d.certificate);
    assert_same("public report of the expanded release", text[2].data, a.page, d.page);
    assert_same("answer of the counted release", text[1].data, a.answer, c.answer);
    if (a.bytes) {
        char *same = expanded(c.bytes);
        assert_same("counted release", text[1].data, a.bytes, same);
        assert_certificates(c.certificate, a.certificate, text[1].data);
        free(same);
        ++*made;
    }
    free_released(&a);
    free_released(&b);
    free_released(&c);
    free_released(&d);
    for (int i = 0; i < 6; i++) kn_buffer_free(all[i]);
}

static void test_same_release(void **state)
{
    (void)state;
    kn_rng      rng;
    rows        r;
    int         rounds = testing_rounds(1), made = 0, asked = 0;
    kn_error    err = KN_ERROR_INIT;
    kn_context *ctx = testing_context(2);
    kn_rng_init(&rng, testing_seed(), 17);
    assert_ok(kn_memory_enable(ctx, &err), err);
    for (int m = 0; m < METHODS; m++)
        for (int p = 0; p < PROMISES; p++)
            for (int i = 0; i < rounds; i++) {
                if (p == OF_PEOPLE && is_local(methods[m])) continue;
                int round = 31 * i + 3 * m + p;
                draw_rows(&r, &rng, 20 + below(&rng, 70), round % 2 == 1);
                compare(ctx, &rng, &r, methods[m], p, round, &made);
                asked++;
            }
    if (2 * made < asked) fail_msg("only %d of %d requests were met", made, asked);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- Answers about a table ---- */

static kn_table *read_table(kn_context *ctx, const char *text, bool counted)
{
    kn_error       err = KN_ERROR_INIT;
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    kn_table      *table = NULL;
    const char    *reason = NULL;
    csv.count = counted ? "n" : NULL;
    put(ctx, "memory:t.csv", text);
    assert_ok(kn_table_read_csv(&table, ctx, "memory:t.csv", &csv, &err), err);
    if (!kn_table_validate(table, &reason)) fail_msg("%s", reason);
    return table;
}

static const char *const quasi[] = {"sex", "age", "zip"};

/* What is said of the table: its profile, one set of columns with models and risk, all sets. */
static void answers_of(char *out[3], kn_context *ctx, const kn_table *t, int round)
{
    kn_error            err = KN_ERROR_INIT;
    kn_document        *doc = NULL;
    kn_profile         *profile = NULL;
    kn_diagnosis       *diagnosis = NULL;
    kn_risk            *risk = NULL;
    kn_sets_diagnosis  *sets = NULL;
    kn_model_report    *models = NULL;
    kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
    kn_risk_options     ro = KN_RISK_OPTIONS_INIT;
    kn_sets_options     so = KN_SETS_OPTIONS_INIT;
    kn_model_options    mo = KN_MODEL_OPTIONS_INIT;
    kn_diagnose_answers a = KN_DIAGNOSE_ANSWERS_INIT;
    kn_sets_answers     s = KN_SETS_ANSWERS_INIT;
    static const char  *ill = "ill";
    assert_ok(kn_profile_table(&profile, ctx, t, &err), err);
    assert_ok(kn_document_profile(&doc, ctx, profile, t, true, &err), err);
    out[0] = json_of(doc);
    o.quasi = ro.quasi = mo.quasi = quasi;
    o.quasi_count = ro.quasi_count = mo.quasi_count = 3;
    o.missing = ro.missing = round % 3 == 1 ? KN_MISSING_DROP : KN_MISSING_VALUE;
    o.k = 2 + round % 3;
    mo.sensitive = &ill;
    mo.sensitive_count = 1;
    if (round % 2) ro.weight = "w";
    ro.sampled = round % 2 == 0;
    if (ro.sampled) ro.sampling = (kn_fraction){1, 10};
    assert_ok(kn_diagnose(&diagnosis, ctx, t, &o, &err), err);
    assert_ok(kn_diagnose_models(&models, ctx, t, &mo, &err), err);
    assert_ok(kn_risk_measure(&risk, ctx, t, &ro, &err), err);
    a.options = &o;
    a.diagnosis = diagnosis;
    a.models = models;
    a.risk = risk;
    assert_ok(kn_document_diagnose(&doc, ctx, t, &a, &err), err);
    out[1] = json_of(doc);
    so.over = names;
    so.over_count = 5;
    so.k = round % 2 ? 3 : 0;
    so.suppress_mode = (kn_suppress_mode)(round % 3);
    if (so.suppress_mode == KN_SUPPRESS_GIVEN) so.suppress = (kn_fraction){1, 10};
    so.algorithm = round % 4 == 3 ? KN_SETS_PAPER : KN_SETS_FAST;
    assert_ok(kn_diagnose_sets(&sets, ctx, t, &so, &err), err);
    s.options = &so;
    s.sets = sets;
    assert_ok(kn_document_diagnose_sets(&doc, ctx, t, &s, &err), err);
    out[2] = json_of(doc);
    kn_profile_free(profile);
    kn_diagnosis_free(diagnosis);
    kn_model_report_free(models);
    kn_risk_free(risk);
    kn_sets_diagnosis_free(sets);
}

/* Special uniques: their rows have other numbers, all else is the same. */
static void compare_uniques(kn_context *ctx, const kn_table *a, const kn_table *b)
{
    kn_error        err = KN_ERROR_INIT;
    kn_suda        *x = NULL, *y = NULL;
    kn_suda_options o = KN_SUDA_OPTIONS_INIT;
    o.quasi = quasi;
    o.quasi_count = 3;
    assert_ok(kn_suda_search(&x, ctx, a, &o, &err), err);
    assert_ok(kn_suda_search(&y, ctx, b, &o, &err), err);
    assert_int_equal(x->unique_rows, y->unique_rows);
    assert_int_equal(x->msus, y->msus);
    assert_int_equal(x->special_count, y->special_count);
    assert_close(x->total, y->total);
    for (int c = 0; c < 3; c++) assert_int_equal(x->column_msus[c], y->column_msus[c]);
    kn_suda_free(x);
    kn_suda_free(y);
}

static void test_same_answers(void **state)
{
    (void)state;
    kn_rng      rng;
    rows        r;
    kn_error    err = KN_ERROR_INIT;
    kn_context *ctx = testing_context(2);
    kn_buffer   plain, counts;
    kn_rng_init(&rng, testing_seed(), 18);
    assert_ok(kn_memory_enable(ctx, &err), err);
    kn_buffer_init(&plain, ctx);
    kn_buffer_init(&counts, ctx);
    for (int round = 0; round < testing_rounds(24); round++) {
        char *a[3], *b[3];
        draw_rows(&r, &rng, 10 + below(&rng, 150), round % 2 == 0);
        table_text(&plain, &r);
        counted_text(&counts, &r, &rng, 1);
        kn_table *t = read_table(ctx, plain.data, false), *c = read_table(ctx, counts.data, true);
        assert_int_equal(kn_table_total(c), r.count);
        assert_int_equal(kn_table_columns(c), COLUMNS);
        answers_of(a, ctx, t, round);
        answers_of(b, ctx, c, round);
        for (int i = 0; i < 3; i++) assert_same("an answer", "", a[i], b[i]);
        compare_uniques(ctx, t, c);
        for (int i = 0; i < 3; i++) free(a[i]), free(b[i]);
        kn_table_free(t);
        kn_table_free(c);
    }
    kn_buffer_free(&plain);
    kn_buffer_free(&counts);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- Answers about a release ---- */

/* What measure, the attack and the verifier say of memory:out.csv. */
static void look_at(char *out[3], kn_context *ctx, const char *request_text)
{
    kn_error           err = KN_ERROR_INIT;
    kn_document       *doc = NULL;
    kn_measure_report *measured = NULL;
    kn_attack_report  *attacked = NULL;
    kn_verify_report  *verified = NULL;
    kn_attack_options  attack = KN_ATTACK_OPTIONS_INIT;
    kn_verify_options  verify = KN_VERIFY_OPTIONS_INIT;
    kn_measure_options measure = KN_MEASURE_OPTIONS_INIT;
    kn_spec           *spec = spec_of(ctx, request_text);
    attack.release = "memory:out.csv";
    attack.external = "memory:people.csv";
    assert_ok(kn_measure(&measured, ctx, spec, &measure, &err), err);
    assert_ok(kn_document_measure(&doc, ctx, spec, measured, NULL, NULL, &err), err);
    out[0] = json_of(doc);
    assert_ok(kn_attack(&attacked, ctx, spec, &attack, &err), err);
    assert_ok(kn_document_attack(&doc, ctx, attacked, &err), err);
    out[1] = json_of(doc);
    assert_ok(kn_verify(&verified, ctx, spec, &verify, &err), err);
    assert_true(verified->ok);
    assert_ok(kn_document_verify(&doc, ctx, verified, &err), err);
    out[2] = json_of(doc);
    for (int i = 1; i < 3; i++) cut_lines(out[i], "\"sha256\""); /* the bytes differ: with counts, or expanded */
    kn_measure_report_free(measured);
    kn_attack_report_free(attacked);
    kn_verify_report_free(verified);
    kn_spec_free(spec);
}

static void test_same_judgement(void **state)
{
    (void)state;
    static const char *const by[] = {"optimal", "mondrian", "kmsd", "mondrian-relaxed"};
    kn_rng                   rng;
    rows                     r;
    kn_error                 err = KN_ERROR_INIT;
    kn_context              *ctx = testing_context(1);
    kn_buffer                plain, counts, text;
    kn_rng_init(&rng, testing_seed(), 19);
    assert_ok(kn_memory_enable(ctx, &err), err);
    kn_buffer_init(&plain, ctx);
    kn_buffer_init(&counts, ctx);
    kn_buffer_init(&text, ctx);
    for (int round = 0; round < testing_rounds(12); round++) {
        char *said[3][3];
        draw_rows(&r, &rng, 40 + below(&rng, 60), false);
        table_text(&plain, &r);
        counted_text(&counts, &r, &rng, 1);
        put(ctx, "memory:people.csv", plain.data);
        for (int f = PLAIN; f <= EXPANDED; f++) {
            request(&text, by[round % 4], round % 3, round, (form)f);
            released one = release(ctx, f == PLAIN ? plain.data : counts.data, text.data);
            if (!one.bytes) fail_msg("%s\n%s", one.answer, text.data);
            look_at(said[f], ctx, text.data);
            free_released(&one);
        }
        for (int i = 0; i < 3; i++) {
            assert_same("what is said of a counted release", text.data, said[PLAIN][i], said[COUNTED][i]);
            assert_same("what is said of an expanded release", text.data, said[PLAIN][i], said[EXPANDED][i]);
            for (int f = PLAIN; f <= EXPANDED; f++) free(said[f][i]);
        }
    }
    kn_buffer_free(&plain);
    kn_buffer_free(&counts);
    kn_buffer_free(&text);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- The verifier ---- */

/* Does the release hold? The first problem goes to `why`. */
static kn_outcome outcome_of(kn_context *ctx, const char *original, const char *text, const char *release_text,
                             char *why, size_t size)
{
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *report = NULL;
    kn_verify_options o = KN_VERIFY_OPTIONS_INIT;
    put(ctx, "memory:in.csv", original);
    kn_spec *spec = spec_of(ctx, text);
    put(ctx, "memory:changed.csv", release_text);
    o.release = "memory:changed.csv";
    assert_ok(kn_verify(&report, ctx, spec, &o, &err), err);
    kn_outcome outcome = report->outcome;
    if (why) snprintf(why, size, "%s", report->problem_count > 0 ? report->problems[0] : "");
    kn_verify_report_free(report);
    kn_spec_free(spec);
    return outcome;
}

/* The lines of a CSV text, the header first. */
typedef struct lines {
    char text[MOST_ROWS + 4][80];
    int  count;
} lines;

static lines lines_of(const char *text)
{
    lines l = {.count = 0};
    for (const char *end; *text; text = end + 1) {
        end = strchr(text, '\n');
        snprintf(l.text[l.count++], sizeof l.text[0], "%.*s", (int)(end - text), text);
    }
    return l;
}

static char *joined(const lines *l)
{
    char  *out = NULL;
    size_t size = 0;
    FILE  *f = open_memstream(&out, &size);
    assert_non_null(f);
    for (int i = 0; i < l->count; i++) fprintf(f, "%s\n", l->text[i]);
    fclose(f);
    return out;
}

static void set_count(char *line, const char *count)
{
    snprintf(strrchr(line, ',') + 1, 20, "%s", count);
}

/* One change of a counted release that leaves its form alone: a count, a cell, a row. */
static void change(lines *l, kn_rng *rng)
{
    int  at = 1 + below(rng, l->count - 1), other = 1 + below(rng, l->count - 1);
    char count[20];
    switch (below(rng, 5)) {
    case 0: /* one more, or fewer */
        snprintf(count, sizeof count, "%lld", atoll(strrchr(l->text[at], ',') + 1) + (below(rng, 2) ? 1 : -1));
        if (atoll(count) > 0) set_count(l->text[at], count);
        break;
    case 1: /* from one to the other */
        if (at == other || atoll(strrchr(l->text[at], ',') + 1) < 2) return;
        snprintf(count, sizeof count, "%lld", atoll(strrchr(l->text[at], ',') + 1) - 1);
        set_count(l->text[at], count);
        snprintf(count, sizeof count, "%lld", atoll(strrchr(l->text[other], ',') + 1) + 1);
        set_count(l->text[other], count);
        break;
    case 2: /* a row goes */
        l->count--;
        for (int i = at; i < l->count; i++) memcpy(l->text[i], l->text[i + 1], sizeof l->text[i]);
        break;
    case 3: l->text[at][0] = l->text[at][0] == 'M' ? 'F' : 'M'; break;
    default: { /* two rows change their counts */
        char held[20];
        snprintf(held, sizeof held, "%s", strrchr(l->text[at], ',') + 1);
        snprintf(count, sizeof count, "%s", strrchr(l->text[other], ',') + 1);
        set_count(l->text[at], count);
        set_count(l->text[other], held);
    }
    }
}

/* What the verifier says of a changed counted release is what it says of the same rows one by one. */
static void test_verify_mutations(void **state)
{
    (void)state;
    static const char *const by[] = {"optimal", "mondrian", "kmsd", "incognito"};
    kn_rng                   rng;
    rows                     r;
    int                      rejected = 0, kept = 0;
    kn_error                 err = KN_ERROR_INIT;
    kn_context              *ctx = testing_context(1);
    kn_buffer                plain, counts, text[2];
    kn_buffer *const         all[] = {&plain, &counts, &text[0], &text[1]};
    kn_rng_init(&rng, testing_seed(), 20);
    assert_ok(kn_memory_enable(ctx, &err), err);
    for (int i = 0; i < 4; i++) kn_buffer_init(all[i], ctx);
    for (int round = 0; round < testing_rounds(16); round++) {
        draw_rows(&r, &rng, 40 + below(&rng, 60), false);
        table_text(&plain, &r);
        counted_text(&counts, &r, &rng, 1);
        for (int f = PLAIN; f <= COUNTED; f++) request(&text[f], by[round % 4], round % PROMISES, 0, (form)f);
        released one = release(ctx, counts.data, text[COUNTED].data);
        for (int i = 0; one.bytes && i < 12; i++) {
            lines l = lines_of(one.bytes);
            char  why[2][300];
            change(&l, &rng);
            char *changed = joined(&l), *same = expanded(changed);
            if (strcmp(changed, one.bytes) == 0 || l.count < 2) {
                free(changed), free(same);
                continue;
            }
            kn_outcome a = outcome_of(ctx, plain.data, text[PLAIN].data, same, why[0], sizeof why[0]);
            kn_outcome b = outcome_of(ctx, counts.data, text[COUNTED].data, changed, why[1], sizeof why[1]);
            bool       twins = strstr(why[1], "is counted apart") != NULL;
            if (a != b && !twins) fail_msg("one by one: %d, %s\ncounted: %d, %s\n%s", a, why[0], b, why[1], changed);
            *(b == KN_OUTCOME_HOLDS ? &kept : &rejected) += 1;
            free(changed), free(same);
        }
        free_released(&one);
    }
    if (rejected < 3 * kept) fail_msg("%d changes were rejected and %d not", rejected, kept);
    for (int i = 0; i < 4; i++) kn_buffer_free(all[i]);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* Counts have one form, and rows that show the same are one row. */
static void test_verify_form(void **state)
{
    (void)state;
    static const char head[] =
        "kanon: 1\ninput: memory:in.csv\noutput: memory:out.csv\nattributes: {sex: quasi, n: count}\n"
        "privacy: [{k: 2}]\nforce: true\n";
    static const struct {
        const char *release, *why;
    } cases[] = {
        {"sex,n\nF,3\nM,2\n", ""},
        {"sex,n\nF,03\nM,2\n", "row 1, column \"n\": not a number of rows as a release writes it"},
        {"sex,n\nF,+3\nM,2\n", "row 1, column \"n\": not a number of rows as a release writes it"},
        {"sex,n\nF,3\nM,2.0\n", "row 2, column \"n\": not a number of rows as a release writes it"},
        {"sex,n\nF,3\nM,2\nM,0\n", "row 3, column \"n\": not a number of rows as a release writes it"},
        {"sex,n\nF,3\nM,9007199254740992\n", "row 2, column \"n\": not a number of rows as a release writes it"},
        {"sex,n\nF,3\nM,\n", "row 2, column \"n\": not a number of rows as a release writes it"},
        {"sex,n\nF,2\nF,1\nM,2\n", "row 2 shows the same as row 1 and is counted apart: that can mark a row"},
        {"sex,n\nF,3\nM,1\n", "1 row of the original is neither shown nor shown as suppressed"},
        {"sex,n\nF,4\nM,2\n", "the release has 6 rows, the original 5"},
        {"sex\nF\nF\nF\nM\nM\n", "column \"n\" is missing from the release (of an expanded one say so: expand)"},
    };
    char        why[300];
    kn_error    err = KN_ERROR_INIT;
    kn_context *ctx = testing_context(1);
    assert_ok(kn_memory_enable(ctx, &err), err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_outcome o = outcome_of(ctx, "sex,n\nF,1\nM,2\nF,2\n", head, cases[i].release, why, sizeof why);
        assert_string_equal(why, cases[i].why);
        assert_int_equal(o, cases[i].why[0] ? KN_OUTCOME_FAILS : KN_OUTCOME_HOLDS);
    }
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- Large counts ---- */

/* Rows that stand for a million times as many are released the same way by k a million times as large: counts pass 2^32 and no
 * row is looked at twice. */
static void test_many_rows(void **state)
{
    (void)state;
    static const char    form_of[] = "kanon: 1\ninput: memory:in.csv\noutput: memory:out.csv\n"
                                     "public-report: memory:out.html\nattributes:\n  sex: quasi\n"
                                     "  age: {role: quasi, hierarchy: {ranges: [5, 10, 20]}}\n"
                                     "  zip: {role: quasi, type: text, hierarchy: {mask: right}}\n  n: count\n"
                                     "privacy: [{k: %lld}]\nmethod: %s\nutility: %s\nforce: true\nsuppression: 0.1\n";
    static const int64_t times = 100000000;
    kn_rng               rng;
    rows                 r;
    kn_error             err = KN_ERROR_INIT;
    kn_context          *ctx = testing_context(2);
    kn_buffer            few, many;
    kn_rng_init(&rng, testing_seed(), 21);
    assert_ok(kn_memory_enable(ctx, &err), err);
    kn_buffer_init(&few, ctx);
    kn_buffer_init(&many, ctx);
    for (int m = 0; m < METHODS; m++) {
        char text[2][800];
        if (is_local(methods[m])) continue;
        draw_rows(&r, &rng, 100, false);
        kn_rng same = rng;
        counted_text(&few, &r, &rng, 1);
        counted_text(&many, &r, &same, times);
        for (int i = 0; i < 2; i++)
            snprintf(text[i], sizeof text[i], form_of, (long long)(i ? 3 * times : 3), methods[m], metrics[m % 3]);
        released a = release(ctx, few.data, text[0]), b = release(ctx, many.data, text[1]);
        assert_non_null(a.bytes);
        assert_non_null(b.bytes);
        lines x = lines_of(a.bytes), y = lines_of(b.bytes);
        assert_int_equal(x.count, y.count);
        for (int i = 1; i < x.count; i++) {
            assert_int_equal(times * atoll(strrchr(x.text[i], ',') + 1), atoll(strrchr(y.text[i], ',') + 1));
            *strrchr(x.text[i], ',') = *strrchr(y.text[i], ',') = '\0';
            assert_string_equal(x.text[i], y.text[i]);
        }
        free_released(&a);
        free_released(&b);
    }
    kn_buffer_free(&few);
    kn_buffer_free(&many);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- What is refused ---- */

static void test_bad_counts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a,n\nx,3\ny,-1\n", "column \"n\" counts rows; row 2: a negative number"},
        {"a,n\nx,3\ny,\n", "column \"n\" counts rows; row 2: the cell is missing"},
        {"a,n\nx,3\ny,NA\n", "column \"n\" counts rows; row 2: the cell is missing"},
        {"a,n\nx,0\ny,1.5\n", "column \"n\" counts rows; row 2: a value is not an integer"},
        {"a,n\nx,3\ny,many\n", "column \"n\" counts rows; row 2: a value is not an integer"},
        {"a,n\nx,9007199254740991\ny,1\n",
         "column \"n\" counts rows; row 2: there are more than 9007199254740991 rows by here"},
        {"a,n\nx,3\ny,99999999999999999999\n", "column \"n\" counts rows; row 2: a value is not an integer"},
        {"a,m\nx,3\n", "memory:t.csv: there is no column \"n\""},
        {"n\n3\n", "no column is to be read"},
    };
    kn_error    err = KN_ERROR_INIT;
    kn_context *ctx = testing_context(1);
    assert_ok(kn_memory_enable(ctx, &err), err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_csv_options csv = KN_CSV_OPTIONS_INIT;
        kn_table      *table = NULL;
        csv.count = "n";
        put(ctx, "memory:t.csv", cases[i].text);
        assert_int_not_equal(kn_table_read_csv(&table, ctx, "memory:t.csv", &csv, &err), KN_OK);
        if (!strstr(err.message, cases[i].message)) fail_msg("%s, not %s", err.message, cases[i].message);
    }
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* Rows that stand for none leave no trace: not in types, not in dictionaries, but in the numbers of rows. */
static void test_rows_of_none(void **state)
{
    (void)state;
    kn_error       err = KN_ERROR_INIT;
    kn_context    *ctx = testing_context(2);
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    kn_table      *table = NULL;
    csv.count = "n";
    assert_ok(kn_memory_enable(ctx, &err), err);
    put(ctx, "memory:t.csv", "a,n,b\nword,0,1.5\n7,2,NA\n,0,\n5,1,3\n,00,x\n");
    assert_ok(kn_table_read_csv(&table, ctx, "memory:t.csv", &csv, &err), err);
    assert_true(kn_table_counted(table));
    assert_int_equal(kn_table_rows(table), 2);
    assert_int_equal(kn_table_total(table), 3);
    assert_int_equal(kn_table_columns(table), 2);
    assert_int_equal(kn_table_type(table, 0), KN_TYPE_INTEGER);
    assert_int_equal(kn_table_type(table, 1), KN_TYPE_INTEGER);
    assert_int_equal(kn_table_distinct(table, 0), 2);
    assert_int_equal(kn_table_missing(table, 0), 0);
    assert_int_equal(kn_table_missing(table, 1), 2); /* one row, which is two */
    assert_int_equal(kn_table_count(table, 0), 2);
    assert_int_equal(kn_table_number(table, 1), 4);
    kn_table_free(table);
    csv.types = &(kn_column_type){"b", KN_TYPE_INTEGER, NULL};
    csv.type_count = 1;
    put(ctx, "memory:t.csv", "a,n,b\nword,0,1.5\n7,2,3.5\n");
    assert_int_equal(kn_table_read_csv(&table, ctx, "memory:t.csv", &csv, &err), KN_INPUT);
    assert_non_null(strstr(err.message, "column \"b\" is declared integer; row 2:"));
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *fields, *message;
    } cases[] = {
        {"entity: b\nattributes: {a: quasi, n: count}", "does not say whose they are"},
        {"attributes: {a: quasi, b: keep, n: count}", "column \"b\": rows are counted (role: count): a kept column"},
        {"attributes: {a: quasi, b: {role: identifier, pseudonym: {key-file: k}}, n: count}",
         "a pseudonym is one person's"},
        {"keep-order: true\nattributes: {a: quasi, n: count}", "stand in no order"},
        {"keep-rowmap: true\nattributes: {a: quasi, n: count}", "have no number of their own"},
        {"summary: side\nattributes: {a: quasi, n: count}", "have no number of their own"},
        {"attributes: {a: quasi, b: count, n: count}", "column \"n\": it is a second count"},
        {"attributes: {a: quasi, n: {role: count, type: text}}", "counts are integers"},
        {"attributes: {a: quasi, n: {role: count, hierarchy: {mask: right}}}", "has a hierarchy"},
        {"expand: true\nattributes: {a: quasi}", "no column counts rows"},
        {"entity: {table: t, key: i}\ntables: {t: {key: i, attributes: {a: quasi, n: count}}}",
         "column \"n\": role count: only rows of one table can stand for several"},
    };
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char     text[400];
        kn_error err = KN_ERROR_INIT;
        kn_spec *spec = NULL;
        snprintf(text, sizeof text, "kanon: 1\ninput: in\noutput: out\nprivacy: [{k: 2}]\n%s\n", cases[i].fields);
        kn_status st = kn_spec_read_text(&spec, ctx, text, strlen(text), NULL, &err);
        if (st == KN_OK) st = kn_spec_check(spec, &err);
        assert_int_not_equal(st, KN_OK);
        if (!strstr(err.message, cases[i].message)) fail_msg("%s\nnot: %s", err.message, cases[i].message);
        kn_spec_free(spec);
    }
    testing_context_free(ctx);
}

static void test_no_entity(void **state)
{
    (void)state;
    kn_error            err = KN_ERROR_INIT;
    kn_context         *ctx = testing_context(1);
    kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
    kn_risk_options     ro = KN_RISK_OPTIONS_INIT;
    kn_sets_options     so = KN_SETS_OPTIONS_INIT;
    kn_diagnosis       *d = NULL;
    kn_risk            *r = NULL;
    kn_sets_diagnosis  *s = NULL;
    assert_ok(kn_memory_enable(ctx, &err), err);
    kn_table *table = read_table(ctx, "sex,age,zip,who,n\nF,1,2,a,2\nM,1,2,b,1\n", true);
    o.quasi = ro.quasi = so.over = quasi;
    o.quasi_count = ro.quasi_count = so.over_count = 3;
    o.entity = ro.entity = so.entity = "who";
    assert_int_equal(kn_diagnose(&d, ctx, table, &o, &err), KN_USAGE);
    assert_int_equal(kn_risk_measure(&r, ctx, table, &ro, &err), KN_USAGE);
    assert_int_equal(kn_diagnose_sets(&s, ctx, table, &so, &err), KN_USAGE);
    assert_int_equal(kn_table_add_joined(table, quasi, 2, "both", &err), KN_USAGE);
    kn_table_free(table);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- Other ways in and out ---- */

/* Counts come and go as an Arrow column, and as the last column of a CSV file. */
static void test_arrow(void **state)
{
    (void)state;
    kn_error                err = KN_ERROR_INIT;
    kn_context             *ctx = testing_context(2);
    kn_arrow_options        in = KN_ARROW_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    kn_table               *again = NULL;
    const char             *reason = NULL;
    assert_ok(kn_memory_enable(ctx, &err), err);
    kn_table *table = read_table(ctx, "n,sex,age\n2,F,30\n0,M,40\n5,M,41\n", true);
    assert_ok(kn_table_write_csv(table, ctx, "memory:w.csv", ',', &err), err);
    char *text = get(ctx, "memory:w.csv");
    assert_string_equal(text, "sex,age,n\nF,30,2\nM,41,5\n");
    free(text);
    const char *only = "age";
    for (int i = 0; i < 2; i++) {
        in.count = "n";
        in.columns = i ? &only : NULL;
        in.column_count = i;
        assert_ok(kn_table_export_arrow(&stream, table, ctx, NULL, &err), err);
        assert_ok(kn_table_import_arrow(&again, ctx, &stream, &in, &err), err);
        if (!kn_table_validate(again, &reason)) fail_msg("%s", reason);
        assert_int_equal(kn_table_columns(again), 2 - i);
        assert_int_equal(kn_table_total(again), 7);
        assert_int_equal(kn_table_count(again, 1), 5);
        kn_table_free(again);
    }
    assert_ok(kn_table_export_arrow(&stream, table, ctx, NULL, &err), err);
    in.count = "none";
    assert_int_equal(kn_table_import_arrow(&again, ctx, &stream, &in, &err), KN_USAGE);
    kn_table_free(table);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* A release of Arrow batches is that of the CSV file, rows that stand for none included. */
static void test_batches(void **state)
{
    (void)state;
    kn_rng         rng;
    rows           r;
    kn_error       err = KN_ERROR_INIT;
    kn_context    *ctx = testing_context(1);
    kn_buffer      counts, text;
    kn_table      *table = NULL;
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    kn_column_type types[] = {{"zip", KN_TYPE_TEXT, NULL}, {"age", KN_TYPE_TEXT, NULL}};
    kn_rng_init(&rng, testing_seed(), 22);
    assert_ok(kn_memory_enable(ctx, &err), err);
    kn_buffer_init(&counts, ctx);
    kn_buffer_init(&text, ctx);
    draw_rows(&r, &rng, 80, true);
    counted_text(&counts, &r, &rng, 1);
    request(&text, "optimal", 1, 0, COUNTED);
    released a = release(ctx, counts.data, text.data);
    csv.types = types;
    csv.type_count = 2;
    assert_ok(kn_table_read_csv(&table, ctx, "memory:in.csv", &csv, &err), err);
    assert_ok(kn_memory_put_table(ctx, "memory:in.csv", table, &err), err);
    kn_table_free(table);
    kn_spec             *spec = spec_of(ctx, text.data);
    kn_release_result   *result = NULL;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    assert_ok(kn_anonymize(&result, ctx, spec, &options, &err), err);
    char *bytes = get(ctx, "memory:out.csv");
    assert_same("release of batches", text.data, a.bytes, bytes);
    free(bytes);
    free_released(&a);
    kn_release_result_free(result);
    kn_spec_free(spec);
    kn_buffer_free(&counts);
    kn_buffer_free(&text);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- The order of rows ---- */

/* Rows that are equal in the first columns are spread by what else they hold. */
static void test_order(void **state)
{
    (void)state;
    kn_error    err = KN_ERROR_INIT;
    kn_context *ctx = testing_context(1);
    int64_t    *order = NULL;
    char        seen[16] = "";
    int         first = 0;
    assert_ok(kn_memory_enable(ctx, &err), err);
    kn_table *table = read_table(ctx, "q,s,n\nb,y,1\na,x,4\na,y,2\na,z,1\na,y,1\n", true);
    assert_ok(kn_table_order(&order, ctx, table, &first, 1, &err), err);
    for (int i = 0; i < kn_table_total(table); i++) {
        size_t size = 0;
        seen[i] = *kn_table_text(table, 1, kn_table_code(table, 1, order[i]), &size);
    }
    assert_string_equal(seen, "xyxyzxyxy"); /* x at 1/8, 3/8, ...; y at 1/6, 3/6, 5/6; z at 1/2; then the row of b */
    kn_free(order);
    kn_table_free(table);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_release),   cmocka_unit_test(test_same_answers),
        cmocka_unit_test(test_same_judgement), cmocka_unit_test(test_verify_mutations),
        cmocka_unit_test(test_verify_form),    cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_bad_counts),     cmocka_unit_test(test_rows_of_none),
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_no_entity),
        cmocka_unit_test(test_arrow),          cmocka_unit_test(test_batches),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
