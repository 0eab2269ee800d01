/* test_memory_same.c: in memory as in files: every method, model and option of a table's release, the databases and records of the
 * examples, and whatever else reads a table: the same outcome, the same bytes, the same message where it is refused.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <kanon/advise.h>
#include <kanon/answers.h>
#include <kanon/attack.h>
#include <kanon/catalogue.h>
#include <kanon/generate.h>
#include <kanon/measure.h>
#include <kanon/questions.h>
#include <kanon/risk.h>
#include <kanon/workload.h>

#include "kn_rng.h"
#include "memory_testing.h"

/* ---- One request at two places ---- */

typedef struct outcome {
    kn_status status;
    char      said[600]; /* the message, or why there is no release; without the place */
    bool      found;
} outcome;

static void leave_out(char *text, const char *place)
{
    size_t size = strlen(place);
    for (char *at = text; (at = strstr(at, place)) != NULL;) memmove(at, at + size, strlen(at + size) + 1);
}

static outcome outcome_of(kn_context *ctx, const char *form, const char *place)
{
    char                 text[4000];
    outcome              out = {.status = KN_OK};
    kn_error             err = KN_ERROR_INIT;
    kn_spec             *spec = NULL;
    kn_release_head     *made = NULL;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    size_t               n = put_in_place(text, sizeof text, form, place);
    options.version = "test";
    out.status = kn_spec_read_text(&spec, ctx, text, n, NULL, &err);
    if (out.status == KN_OK) out.status = kn_spec_check(spec, &err);
    if (out.status == KN_OK) out.status = kn_anonymize_any(&made, ctx, spec, &options, &err);
    out.found = made && made->found;
    snprintf(out.said, sizeof out.said, "%s",
             made && made->reason  ? made->reason
             : out.status == KN_OK ? ""
                                   : err.message);
    leave_out(out.said, place);
    kn_release_head_free(made);
    kn_spec_free(spec);
    return out;
}

static void assert_same_outcome(const outcome *a, const outcome *b, const char *form)
{
    if (a->status != b->status || a->found != b->found || strcmp(a->said, b->said) != 0)
        fail_msg("in files: %d, %s\nin memory: %d, %s\n%s", (int)a->status, a->said, (int)b->status, b->said, form);
}

/* A file and what has that name in memory: both or neither, and the same bytes. */
static void assert_same_if_there(kn_context *ctx, const char *file, const char *name)
{
    char        memory[300];
    kn_error    err = KN_ERROR_INIT;
    const void *bytes = NULL;
    size_t      size = 0, there = 0;
    snprintf(memory, sizeof memory, "memory:%s", name);
    bool here = access(path_of(file), F_OK) == 0, held = kn_memory_get(&bytes, &size, ctx, memory, &err) == KN_OK;
    assert_int_equal(here, held);
    if (!here) return;
    char  *text = testing_contents(path_of(file), &there);
    size_t at = 0;
    while (at < size && at < there && ((const char *)bytes)[at] == text[at]) at++;
    if (at < size || at < there)
        fail_msg("%s differs at byte %zu: in memory\n%.*s\nin the file\n%.*s", name, at,
                 (int)(size - at < 300 ? size - at : 300), (const char *)bytes + at,
                 (int)(there - at < 300 ? there - at : 300), text + at);
    free(text);
}

static void remove_outputs(kn_context *ctx)
{
    static const char *const endings[] = {"", ".certificate.json", ".private.json", ".rowmap", ".summary.csv"};
    char                     name[300];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(name, sizeof name, "out.csv%s", endings[i]);
        unlink(path_of(name));
    }
    unlink(path_of("public.html"));
    unlink(path_of("owner.html"));
    for (const char *n; (n = kn_memory_next(ctx, "memory:out", NULL)) != NULL;) kn_memory_remove(ctx, n);
    kn_memory_remove(ctx, "memory:public.html");
    kn_memory_remove(ctx, "memory:owner.html");
}

/* From file to file and from memory to memory, to bytes and to columns. `comma`: cells stand between commas. */
static bool same_release(kn_context *ctx, const char *form, bool comma)
{
    char  place[300];
    char *columns = strdup(form), *ending = strstr(columns, "out.csv");
    memmove(ending + 3, ending + 7, strlen(ending + 7) + 1);
    snprintf(place, sizeof place, "%s/", files);
    remove_outputs(ctx);
    outcome file = outcome_of(ctx, form, place), memory = outcome_of(ctx, form, "memory:");
    assert_same_outcome(&file, &memory, form);
    assert_same_if_there(ctx, "out.csv", "out.csv");
    assert_same_if_there(ctx, "out.csv.certificate.json", "out.csv.certificate.json");
    assert_same_if_there(ctx, "out.csv.rowmap", "out.csv.rowmap");
    assert_same_if_there(ctx, "out.csv.summary.csv", "out.csv.summary.csv");
    assert_same_if_there(ctx, "public.html", "public.html");
    if (strstr(form, "report: @public.html")) kn_memory_remove(ctx, "memory:public.html");
    memory = outcome_of(ctx, columns, "memory:");
    assert_same_outcome(&file, &memory, columns);
    if (comma) { /* the digest is that of a file with commas */
        assert_same_if_there(ctx, "out.csv.certificate.json", "out.certificate.json");
        assert_same_if_there(ctx, "public.html", "public.html");
    }
    assert_same_if_there(ctx, "out.csv.rowmap", "out.rowmap");
    assert_same_if_there(ctx, "out.csv.summary.csv", "out.summary.csv");
    assert_nothing_written();
    free(columns);
    return file.found;
}

/* ---- Tables: every method, option and model ---- */

/* How many rows of a table have each value of a column, as a hierarchy's population: freed by the caller. */
static char *testing_counts(const char *table, int column)
{
    char  cells[100][20], *out = calloc(1, 4000);
    int   counts[100] = {0}, values = 0, n = 0;
    char *copy = strdup(table), *rest = NULL;
    for (char *line = strtok_r(strchr(copy, '\n') + 1, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *cell = line;
        for (int c = 0; c < column; c++) cell = strchr(cell, ',') + 1;
        int size = (int)strcspn(cell, ","), v = 0;
        while (v < values && ((int)strlen(cells[v]) != size || strncmp(cells[v], cell, (size_t)size) != 0)) v++;
        if (v == values) snprintf(cells[values++], sizeof cells[0], "%.*s", size, cell);
        counts[v]++;
    }
    for (int v = 0; v < values; v++) n += sprintf(out + n, "%s;%d\n", cells[v], counts[v]);
    free(copy);
    return out;
}

static void put_people(kn_context *ctx)
{
    static const char *const ills[] = {"flu", "cold", "gout"}, *const wards[] = {"=1+1", "b", "c"};
    kn_rng rng;
    char   people[4000], holes[4000], all[4000];
    int    n = sprintf(people, "id,age,zip,sex,n,ill,ward,uid\n"), h = sprintf(holes, "%s", people);
    int    a = sprintf(all, "age,zip,sex\n");
    kn_rng_init(&rng, 5, 0);
    for (int i = 0; i < 28; i++) {
        char row[100];
        int  age = 20 + 3 * (int)kn_rng_below(&rng, 14),
            zip = (kn_rng_below(&rng, 2) ? 4790 : 7790) + (int)kn_rng_below(&rng, 4);
        char sex = "fm"[kn_rng_below(&rng, 2)];
        snprintf(row, sizeof row, "%d,%c,%d,%s,%s,u%d\n", zip, sex, 1 + (int)kn_rng_below(&rng, 3),
                 ills[kn_rng_below(&rng, 3)], wards[kn_rng_below(&rng, 3)], i);
        n += sprintf(people + n, "p%d,%d,%s", i / 2, age, row);
        h += i % 7 ? sprintf(holes + h, "p%d,%d,%s", i / 2, age, row) : sprintf(holes + h, "p%d,,%s", i / 2, row);
        for (int times = 0; times < 3; times++) a += sprintf(all + a, "%d,%d,%c\n", age, zip, sex);
    }
    /* Of all.csv, value by value: 84 people. */
    char *ages = testing_counts(all, 0), *zips = testing_counts(all, 1), *sexes = testing_counts(all, 2);
    put_both(ctx, "ages.csv", ages);
    put_both(ctx, "zips.csv", zips);
    put_both(ctx, "sexes.csv", sexes);
    free(ages);
    free(zips);
    free(sexes);
    put_both(ctx, "people.csv", people);
    put_both(ctx, "holes.csv", holes);
    put_both(ctx, "all.csv", all);
    put_both(ctx, "more.csv", "id,age,zip,sex,n,ill,ward,uid\nq1,23,4791,f,1,flu,b,v1\nq2,23,4791,f,1,cold,b,v2\n");
    put_both(ctx, "queries.sql", "SELECT COUNT(*) FROM t WHERE age <= 30;\n");
    put_both(ctx, "ills.csv", "flu;airways;*\ncold;airways;*\ngout;joints;*\n");
    put_both(ctx, "key", "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\n");
    put_both(ctx, "commas.csv", "c1;c2\n1,5;x\n1,50;y\n1,5;x\n2,5;y\n2,5;x\n2,5;y\n");
    put_both(ctx, "times.csv",
             "c1,c2\n2020-01-01T10:00:00Z,x\n2020-01-01T12:00:00,y\n2020-01-01T12:00:00,x\n2020-01-01T10:00:00Z,y\n");
    put_both(ctx, "days.csv",
             "c1,c2\n01/02/2020,x\n02/01/2020,y\n01/02/2020,y\n02/01/2020,x\n03/01/2020,x\n03/01/2020,y\n");
    put_both(ctx, "zeros.csv", "c1,c2\n47,x\n047,y\n47,y\n047,x\n");
    put_both(ctx, "letters.csv", "c1,c2\n\xe9,x\na,y\n\xe9,y\na,x\n");
    put_both(ctx, "bare.csv", "a,x\nb,y\na,y\nb,x\n");
}

#define PEOPLE "input: @people.csv\nprivacy: [{k: 3}]\n"
#define QUASI                                                                                                          \
    "  age: {role: quasi, type: integer, hierarchy: {ranges: [5, 10, 20]}}\n  zip: {role: quasi, hierarchy: {mask: "   \
    "right}}\n"                                                                                                        \
    "  sex: {role: quasi}\n"
#define ILL "  ill: {role: sensitive}\n"
#define USUAL "attributes:\n" QUASI ILL
#define TWO(more) "privacy: [{k: 2}]\nattributes:\n  c1: {role: quasi" more "}\n  c2: {role: quasi}\n"

/* What the door of a table takes, beside the method; '-' in front: cells do not stand between commas. */
static const char *const options[] = {
    PEOPLE USUAL,
    "input: [@people.csv, @more.csv]\nprivacy: [{k: 3}]\n" USUAL,
    "-input: @commas.csv\ndelimiter: ';'\ndecimal: ','\n" TWO(""),
    "-input: @commas.csv\n" TWO(", type: text"),
    "input: @times.csv\ntimezone: +02:00\n" TWO(""),
    "input: @days.csv\n" TWO(", type: date, format: '%d/%m/%Y', hierarchy: {calendar: [month, year]}"),
    "input: @zeros.csv\n" TWO(", type: integer"),
    "input: @zeros.csv\n" TWO(", type: text"),
    "input: @zeros.csv\nna: ['47']\n" TWO(""),
    "input: @letters.csv\nencoding: latin-1\n" TWO(""),
    "input: @bare.csv\nheader: false\n" TWO(""),
    "input: @people.csv\npopulation: @all.csv\nprivacy: [{k: 2}, {k-map: 4}]\n" USUAL,
    "input: @people.csv\nprivacy: [{k: 2}, {k-map: 4}]\nattributes:\n"
    "  age: {role: quasi, type: integer, hierarchy: {ranges: [5, 10, 20], population: @ages.csv}}\n"
    "  zip: {role: quasi, hierarchy: {mask: right, population: @zips.csv}}\n"
    "  sex: {role: quasi, hierarchy: {population: @sexes.csv}}\n" ILL,
    PEOPLE "entity: id\n" USUAL,
    PEOPLE "undeclared: refuse\n" USUAL,
    "input: @holes.csv\nprivacy: [{k: 3}]\nmissing: value\n" USUAL,
    "input: @holes.csv\nprivacy: [{k: 3}]\nmissing: drop\n" USUAL,
    PEOPLE "suppression: 20%\n" USUAL,
    PEOPLE "suppression: 20%\nsuppressed: drop\n" USUAL,
    PEOPLE "suppression: 20%\nsuppressed: keep-sensitive\n" USUAL,
    PEOPLE "dependencies: ['zip -> sex']\noptions: {allow-broken: true}\n" USUAL,
    PEOPLE "dependencies: ['sex -> zip']\n" USUAL,
    PEOPLE "utility: dm\n" USUAL,
    PEOPLE "report: @owner.html\npublic-report: @public.html\n" USUAL,
    PEOPLE "summary: side\n" USUAL,
    PEOPLE "spreadsheet-safe: true\n" USUAL "  ward: {role: keep}\n",
    PEOPLE "keep-order: true\n" USUAL,
    PEOPLE "keep-rowmap: true\n" USUAL,
    "input: @people.csv\nprivacy: [{k: 28}]\n" USUAL,
    PEOPLE "options: {time-limit: 50}\n" USUAL,
    PEOPLE "options: {seed: 2}\n" USUAL,
    PEOPLE "options: {choose: loss}\n" USUAL,
    PEOPLE USUAL "  uid: {role: identifier, pseudonym: {key-file: @key}}\n",
    PEOPLE USUAL "  uid: {role: identifier}\n  ward: {role: keep}\n",
    PEOPLE USUAL "  n: {role: weight}\n",
    PEOPLE USUAL "  n: {role: count}\n",
    PEOPLE "expand: true\nsuppression: 20%\n" USUAL "  n: {role: count}\n",
    PEOPLE "options: {row-order: input}\n" USUAL,
    PEOPLE "attributes:\n  age: {role: quasi, weight: 9, hierarchy: {ranges: [7, 14]}}\n  zip: {role: quasi, cuts: "
           "order}\n" ILL,
    PEOPLE
    "attributes:\n  age: {role: quasi, hierarchy: {ranges: [7, 14]}}\n  ill: {role: quasi, hierarchy: @ills.csv}\n",
};

/* Each model that the catalogue has of tables. */
static const char *const models[KN_MODEL_KINDS] = {
    [KN_MODEL_K] = "{k: 3}",
    [KN_MODEL_DISTINCT] = "{l-diversity: {attribute: ill, kind: distinct, l: 2}}",
    [KN_MODEL_ENTROPY] = "{l-diversity: {attribute: ill, kind: entropy, l: 1.5}}",
    [KN_MODEL_RECURSIVE] = "{l-diversity: {attribute: ill, kind: recursive, l: 2, c: 3}}",
    [KN_MODEL_T_EQUAL] = "{t-closeness: {attribute: ill, distance: equal, t: 0.5}}",
    [KN_MODEL_T_ORDERED] = "{t-closeness: {attribute: n, distance: ordered, t: 0.5}}",
    [KN_MODEL_T_HIERARCHICAL] = "{t-closeness: {attribute: ill, distance: hierarchical, t: 0.5}}",
    [KN_MODEL_ALPHA_K] = "{alpha-k: {attribute: ill, alpha: 0.8, k: 2}}",
    [KN_MODEL_BETA_BASIC] = "{beta-likeness: {attribute: ill, kind: basic, beta: 2}}",
    [KN_MODEL_BETA_ENHANCED] = "{beta-likeness: {attribute: ill, kind: enhanced, beta: 2}}",
    [KN_MODEL_DELTA] = "{delta-disclosure: {attribute: ill, delta: 2}}",
    [KN_MODEL_K_MAP] = "{k-map: 4}",
    [KN_MODEL_PRESENCE] = "{delta-presence: {min: 0, max: 0.5}}",
    [KN_MODEL_MAX_RISK] = "{max-risk: 0.4}",
    [KN_MODEL_AVERAGE_RISK] = "{average-risk: 0.3}",
};

static bool same_by(kn_context *ctx, const char *method, const char *rest)
{
    char form[3000];
    bool comma = rest[0] != '-';
    snprintf(form, sizeof form, "kanon: 1\noutput: @out.csv\nmethod: %s\n%s%s%s", method,
             strcmp(method, "mondrian-workload") == 0 ? "workload: @queries.sql\n" : "",
             strstr(rest, "28}") ? "" : "force: true\n", rest + !comma);
    return same_release(ctx, form, comma);
}

static bool is_of_tables(int method)
{
    return method == KN_CATALOGUE_AUTO || kn_method_shape((kn_method)method) == KN_SHAPE_TABLE;
}

/* Every option with every method; under a sanitizer a part of them by turns. */
static void same_options(bool batches)
{
    kn_context *ctx = testing_context(1);
    int         turn = 0, found = 0, tried = 0;
    put_people(ctx);
    if (batches) put_as_arrow(ctx, "people.csv");
    if (batches) put_as_arrow(ctx, "holes.csv");
    for (int m = 0; m < KN_CATALOGUE_METHODS; m++)
        for (size_t o = 0; is_of_tables(m) && o < sizeof options / sizeof *options; o++, turn++) {
            if (TESTING_SANITIZED && !testing_full() && turn % 6 != 0) continue;
            if (batches && !strstr(options[o], "@people.csv\n") && !strstr(options[o], "@holes.csv\n")) continue;
            found += same_by(ctx, kn_catalogue_method(m)->name, options[o]);
            tried++;
        }
    assert_true(found > tried / 2);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

static void test_options(void **state)
{
    (void)state;
    same_options(false);
}

/* The table came as an Arrow stream. */
static void test_options_of_batches(void **state)
{
    (void)state;
    same_options(true);
}

static void test_models(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    int         turn = 0, found = 0, tried = 0;
    put_people(ctx);
    for (int m = 0; m < KN_CATALOGUE_METHODS; m++)
        for (int model = 0; is_of_tables(m) && model < KN_MODEL_KINDS; model++, turn++) {
            char rest[1000];
            bool population = model == KN_MODEL_K_MAP || model == KN_MODEL_PRESENCE;
            assert_non_null(models[model]);
            if (TESTING_SANITIZED && !testing_full() && turn % 4 != 0) continue;
            snprintf(rest, sizeof rest,
                     "input: @people.csv\n%ssuppression: 20%%\nprivacy: [{k: 2}%s%s]\nattributes:\n%s"
                     "  ill: {role: sensitive%s}\n  n: {role: sensitive}\n",
                     population ? "population: @all.csv\n" : "", model == KN_MODEL_K ? "" : ", ",
                     model == KN_MODEL_K ? "" : models[model], QUASI,
                     model == KN_MODEL_T_HIERARCHICAL ? ", hierarchy: @ills.csv" : "");
            found += same_by(ctx, kn_catalogue_method(m)->name, rest);
            tried++;
        }
    assert_true(found > tried / 3);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- The examples: databases and records ---- */

static void same_story(kn_context *ctx, const char *form, const char *const *outputs)
{
    char place[300];
    snprintf(place, sizeof place, "%s/", files);
    outcome file = outcome_of(ctx, form, place), memory = outcome_of(ctx, form, "memory:");
    assert_same_outcome(&file, &memory, form);
    if (!file.found) fail_msg("%s\n%s", file.said, form);
    for (int i = 0; outputs[i]; i++) assert_same_if_there(ctx, outputs[i], outputs[i]);
    assert_true(holds(ctx, form));
    assert_nothing_written();
}

/* Students, their courses and books, by every method of databases. */
static void test_students(void **state)
{
    (void)state;
    static const char *const outputs[] = {"out/students.csv",     "out/courses.csv", "out/books.csv",
                                          "out/certificate.json", "public.html",     NULL};
    static const char *const more[] = {"options: {seed: 1}\n",
                                       "spreadsheet-safe: true\nkeep-rowmap: true\noptions: {seed: 3}\n",
                                       "options: {leftovers: drop, seed: 2}\n"};
    kn_context              *ctx = testing_context(2);
    kn_error                 err = KN_ERROR_INIT;
    assert_ok(kn_generate_students(ctx, path_of("uni/"), 40, 1, &err), err);
    put_file(ctx, "uni/students.csv");
    put_file(ctx, "uni/courses.csv");
    put_file(ctx, "uni/books.csv");
    put_file(ctx, "uni/course.dgh");
    put_file(ctx, "uni/book.dgh");
    for (int m = 0, turn = 0; m < KN_METHODS; m++) {
        char form[2000];
        if (kn_method_shape((kn_method)m) != KN_SHAPE_DATABASE) continue;
        bool diverse = strcmp(kn_catalogue_method(m)->name, "dmiracle") == 0;
        snprintf(
            form, sizeof form,
            "kanon: 1\nforce: true\ninput: @uni/\noutput: @out/\npublic-report: @public.html\nprivacy: [{k: 3}%s]\n%s"
            "method: %s\nentity: {table: students, key: Sid}\ntables:\n"
            "  students: {key: Sid, attributes: {GPA: {role: sensitive}}}\n"
            "  courses: {key: SCid, parent: {table: students, column: Sid}, attributes: {Course: {role: quasi, "
            "hierarchy: @uni/course.dgh}, Grade: {role: "
            "sensitive}}}\n"
            "  books: {parent: {table: courses, column: SCid}, attributes: {Book: {role: quasi, hierarchy: "
            "@uni/book.dgh}, Price: {role: "
            "sensitive}}}\n",
            diverse ? ", {l-diversity: {attribute: GPA, l: 2}}" : "", more[turn++ % 3], kn_catalogue_method(m)->name);
        same_story(ctx, form, outputs);
        assert_int_equal(system("rm -rf ../out ../out.* ../public.html"), 0);
        for (const char *n; (n = kn_memory_next(ctx, "memory:out", NULL)) != NULL;) kn_memory_remove(ctx, n);
        kn_memory_remove(ctx, "memory:public.html");
    }
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* Patients with their hospitals, diseases and drugs, in two forms, by every method of records. */
static void test_patients(void **state)
{
    (void)state;
    static const char *const xml[] = {"out.xml", "out.xml.certificate.json", "out.xml.rowmap", "public.html", NULL};
    static const char *const lines[] = {"out.jsonl", "out.jsonl.certificate.json", "public.html", NULL};
    static const char *const methods[] = {"gcs", "ocs", "acs"};
    kn_context              *ctx = testing_context(2);
    kn_error                 err = KN_ERROR_INIT;
    assert_ok(kn_generate_patient_records(ctx, path_of("patients.xml"), 60, 1, &err), err);
    assert_ok(kn_generate_patient_records(ctx, path_of("patients.jsonl"), 60, 1, &err), err);
    put_file(ctx, "patients.xml");
    put_file(ctx, "patients.jsonl");
    for (int m = 0; m < (TESTING_SANITIZED ? 1 : 3); m++) {
        char form[2000];
        snprintf(
            form, sizeof form,
            "kanon: 1\nforce: true\ninput: @patients.xml\noutput: @out.xml\npublic-report: @public.html\nmethod: %s\n"
            "keep-rowmap: true\nrecord: patient\nprivacy: [{k-mn: {k: 3, m: 2, n: 1}}]\n"
            "classes: {hospital: {value: '^name'}, disease: {value: '^name'}, drug: {value: '^name'}}\n",
            methods[m]);
        const char *without = getenv("KANON_WITHOUT"); /* what the build cannot read */
        if (!without || !strstr(without, "expat")) same_story(ctx, form, xml);
        snprintf(form, sizeof form,
                 "kanon: 1\nforce: true\ninput: @patients.jsonl\noutput: @out.jsonl\npublic-report: "
                 "@public.html\nmethod: %s\n"
                 "privacy: [{k-mn: {k: 3, m: 2, n: 1}}]\n"
                 "classes: {hospital: {value: name}, disease: {value: name}, drug: {value: name}}\n",
                 methods[m]);
        same_story(ctx, form, lines);
    }
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- Whatever else reads a table ---- */

static const char asked[] = "kanon: 1\nforce: true\noutput: @out.csv\nmethod: optimal\nsuppression: 20%\n" PEOPLE USUAL;

/* The answer as JSON, without the place; the document ends. */
static char *json_of(kn_document *document, const char *place)
{
    kn_error err = KN_ERROR_INIT;
    char    *json = NULL;
    assert_ok(kn_document_json(&json, NULL, document, &err), err);
    kn_document_free(document);
    char *copy = strdup(json);
    kn_text_free(json);
    leave_out(copy, place);
    return copy;
}

/* The answers of one kind, from files, from bytes in memory and from batches, to columns: all the same. */
typedef char *(*asking)(kn_context *ctx, const kn_spec *spec, const char *place, const char *release);

static char *ask_verify(kn_context *ctx, const kn_spec *spec, const char *place, const char *release)
{
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *report = NULL;
    kn_document      *document = NULL;
    kn_verify_options chosen = KN_VERIFY_OPTIONS_INIT;
    chosen.release = release;
    assert_ok(kn_verify(&report, ctx, spec, &chosen, &err), err);
    assert_true(report->ok);
    assert_ok(kn_document_verify(&document, ctx, report, &err), err);
    kn_verify_report_free(report);
    return json_of(document, place);
}

static char *ask_measure(kn_context *ctx, const kn_spec *spec, const char *place, const char *release)
{
    kn_error            err = KN_ERROR_INIT;
    char                queries[300];
    kn_measure_report  *report = NULL;
    kn_workload        *workload = NULL;
    kn_workload_report *answers = NULL;
    kn_document        *document = NULL;
    kn_measure_options  chosen = KN_MEASURE_OPTIONS_INIT;
    chosen.release = release;
    snprintf(queries, sizeof queries, "%squeries.sql", place);
    assert_ok(kn_measure(&report, ctx, spec, &chosen, &err), err);
    assert_ok(kn_workload_read(&workload, ctx, queries, &err), err);
    assert_ok(kn_measure_workload(&answers, ctx, spec, &chosen, workload, NULL, &err), err);
    assert_ok(kn_document_measure(&document, ctx, spec, report, workload, answers, &err), err);
    kn_measure_report_free(report);
    kn_workload_report_free(answers);
    kn_workload_free(workload);
    return json_of(document, place);
}

static char *ask_attack(kn_context *ctx, const kn_spec *spec, const char *place, const char *release)
{
    kn_error          err = KN_ERROR_INIT;
    char              external[300];
    kn_attack_report *report = NULL;
    kn_document      *document = NULL;
    kn_attack_options chosen = KN_ATTACK_OPTIONS_INIT;
    snprintf(external, sizeof external, "%sall.csv", place);
    chosen.release = release;
    chosen.external = external;
    assert_ok(kn_attack(&report, ctx, spec, &chosen, &err), err);
    assert_ok(kn_document_attack(&document, ctx, report, &err), err);
    kn_attack_report_free(report);
    return json_of(document, place);
}

/* Seconds differ from run to run. */
static char *ask_advise(kn_context *ctx, const kn_spec *spec, const char *place, const char *release)
{
    kn_error   err = KN_ERROR_INIT;
    kn_advice *advice = NULL;
    char      *text = malloc(8000);
    (void)place;
    (void)release;
    assert_ok(kn_advise(&advice, ctx, spec, &err), err);
    int n = sprintf(text, "%d %d\n", advice->found, advice->chosen);
    for (int i = 0; i < advice->candidate_count; i++) {
        const kn_advice_candidate *c = kn_advice_candidate_at(advice, i);
        n += sprintf(text + n, "%d %d %.17g %d %d %s\n", (int)c->method, (int)c->state, c->loss, (int)c->k,
                     (int)c->classes, c->reason ? c->reason : "");
    }
    kn_advice_free(advice);
    return text;
}

/* A set of attributes with its risks and models, and all subsets: the questions of the diagnosis centre. */
static char *ask_diagnose(kn_context *ctx, const kn_spec *spec, const char *place, const char *release)
{
    static const char *const quasi[] = {"age", "zip", "sex"};
    kn_error                 err = KN_ERROR_INIT;
    kn_table                *table = NULL;
    kn_diagnosis            *diagnosis = NULL;
    kn_risk                 *risk = NULL;
    kn_sets_diagnosis       *sets = NULL;
    kn_document             *document = NULL;
    kn_diagnose_options      chosen = KN_DIAGNOSE_OPTIONS_INIT;
    kn_risk_options          risks = KN_RISK_OPTIONS_INIT;
    kn_sets_options          over = KN_SETS_OPTIONS_INIT;
    kn_diagnose_answers      answers = KN_DIAGNOSE_ANSWERS_INIT;
    kn_sets_answers          set_answers = KN_SETS_ANSWERS_INIT;
    (void)spec;
    chosen.quasi = risks.quasi = over.over = quasi;
    chosen.quasi_count = risks.quasi_count = over.over_count = 3;
    chosen.k = over.k = 3;
    chosen.suppressing = true;
    chosen.suppress = (kn_fraction){1, 5};
    answers.options = &chosen;
    set_answers.options = &over;
    assert_ok(kn_table_read_csv(&table, ctx, release, NULL, &err), err);
    assert_ok(kn_diagnose(&diagnosis, ctx, table, &chosen, &err), err);
    assert_ok(kn_risk_measure(&risk, ctx, table, &risks, &err), err);
    assert_ok(kn_diagnose_sets(&sets, ctx, table, &over, &err), err);
    answers.diagnosis = diagnosis;
    answers.risk = risk;
    set_answers.sets = sets;
    assert_ok(kn_document_diagnose(&document, ctx, table, &answers, &err), err);
    char *one = json_of(document, place);
    assert_ok(kn_document_diagnose_sets(&document, ctx, table, &set_answers, &err), err);
    char *all = json_of(document, place), *both = malloc(strlen(one) + strlen(all) + 1);
    sprintf(both, "%s%s", one, all);
    free(one);
    free(all);
    kn_risk_free(risk);
    kn_diagnosis_free(diagnosis);
    kn_sets_diagnosis_free(sets);
    kn_table_free(table);
    return both;
}

/* Without the line of this field. */
static void strip(char *text, const char *field)
{
    char *at = strstr(text, field), *end = at ? strchr(at, '\n') : NULL;
    while (at && at > text && at[-1] != '\n') at--;
    if (end) memmove(at, end + 1, strlen(end + 1) + 1);
}

/* Columns are no file: what is said of its bytes (`of_bytes`; NULL: nothing) is not said of them. */
static void same_answers(asking ask, const char *of_bytes)
{
    kn_context *ctx = testing_context(2);
    char        place[300], release[400], columns[1000];
    put_people(ctx);
    snprintf(place, sizeof place, "%s/", files);
    assert_true(same_release(ctx, asked, true));
    kn_spec *spec = spec_of(ctx, asked, place);
    snprintf(release, sizeof release, "%sout.csv", place);
    char *file = ask(ctx, spec, place, release);
    kn_spec_free(spec);
    for (int batches = 0; batches < 2; batches++) {
        if (batches) put_as_arrow(ctx, "people.csv");
        if (batches) put_as_arrow(ctx, "all.csv");
        snprintf(columns, sizeof columns, "%s", asked);
        spec = spec_of(ctx, columns, "memory:");
        char *memory = ask(ctx, spec, "memory:", batches ? "memory:out" : "memory:out.csv");
        if (batches && of_bytes) {
            assert_null(strstr(memory, of_bytes));
            assert_non_null(strstr(file, of_bytes));
            strip(file, of_bytes);
        }
        assert_string_equal(memory, file);
        free(memory);
        kn_spec_free(spec);
    }
    free(file);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

static void test_verify(void **state)
{
    (void)state;
    same_answers(ask_verify, NULL);
}

static void test_measure_and_workload(void **state)
{
    (void)state;
    same_answers(ask_measure, NULL);
}

static void test_attack(void **state)
{
    (void)state;
    same_answers(ask_attack, "\"sha256\"");
}

static void test_advise(void **state)
{
    (void)state;
    same_answers(ask_advise, NULL);
}

static void test_diagnose(void **state)
{
    (void)state;
    same_answers(ask_diagnose, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_options_of_batches),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_students),
        cmocka_unit_test(test_patients),
        cmocka_unit_test(test_verify),
        cmocka_unit_test(test_measure_and_workload),
        cmocka_unit_test(test_attack),
        cmocka_unit_test(test_advise),
        cmocka_unit_test(test_diagnose),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
