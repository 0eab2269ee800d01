/* test_document.c: answers as documents: tables of fields, reading, JSON, schemas, lifetimes, memory that runs out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/answers.h>
#include <kanon/memory.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kn_answer.h"
#include "kn_error.h"

/* ---- A table of its own ---- */

typedef struct pet {
    const char *name;
    int64_t     legs;
    double      weight;
    bool        tame;
} pet;

static const kn_field_row pet_rows[] = {KN_FIELD(pet, name, KN_F_TEXT, "what it is called"),
                                        KN_FIELD(pet, legs, KN_F_COUNT, "how many legs it has"),
                                        KN_FIELD(pet, weight, KN_F_NUMBER, "how heavy it is"),
                                        KN_FIELD(pet, tame, KN_F_BOOLEAN, "whether it comes when called")};
static const kn_fields    pet_part = KN_FIELDS(pet, "pet", pet_rows, NULL);

/* One is said twice, one is none. */
static const char *mood_name(unsigned mood)
{
    static const char *const names[] = {"calm", NULL, "wild", "calm"};
    return names[mood];
}

static const kn_field_row zoo_rows[] = {
    KN_ANSWER_ROW,
    KN_VALUE_OF("pets", KN_F_LIST, &pet_part, "all of the pets"),
    KN_VALUE_OF("best", KN_F_OBJECT | KN_F_OPTIONAL, &pet_part, "the best of them"),
    KN_VALUE("price", KN_F_NUMBER, "what a visit costs"),
    KN_VALUE("owner", KN_F_TEXT | KN_F_NULLABLE, "whose it is"),
    KN_VALUE("food", KN_F_FIGURES | KN_F_OPTIONAL, "what is eaten"),
    KN_VALUE("sets", KN_F_TEXT_LISTS | KN_F_OPTIONAL, "names in groups"),
    KN_VALUE_WORDS("mood", mood_name, 3, KN_F_OPTIONAL | KN_F_NULLABLE, "how they feel"),
    KN_NOTES_ROW};
static const kn_fields zoo = KN_ANSWER(char, "zoo", zoo_rows, NULL, "Which pets are there?");

static const pet pets[] = {{"Rex", 4, 12.5, true}, {"Hansi \"the\" bird\n", 2, INFINITY, false}};

static kn_status make_zoo(kn_document **out, kn_context *ctx, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_document_begin(&doc, ctx, &zoo, err));
    kn_to to = kn_document_top(doc);
    kn_put_text(to, "owner", NULL);
    kn_put_number(to, "price", 1e-5);
    kn_put_parts(to, "pets", pets, 2);
    kn_put_part(to, "best", &pets[0]);
    kn_to food = kn_put_object(to, "food"), sets = kn_put_list(to, "sets");
    kn_put_figure(food, "hay", 3, true);
    kn_put_figure(food, "b\xFFones", 2.5, true);
    kn_append_text(kn_append_list(sets), "Rex");
    (void)kn_append_list(sets);
    kn_put_note(doc, "%d pets", 2);
    return kn_document_end(out, doc, err);
}

static const char zoo_json[] = "{\n"
                               "  \"answer\": \"zoo\",\n"
                               "  \"pets\": [\n"
                               "    {\n"
                               "      \"name\": \"Rex\",\n"
                               "      \"legs\": 4,\n"
                               "      \"weight\": 12.5,\n"
                               "      \"tame\": true\n"
                               "    },\n"
                               "    {\n"
                               "      \"name\": \"Hansi \\\"the\\\" bird\\n\",\n"
                               "      \"legs\": 2,\n"
                               "      \"weight\": null,\n"
                               "      \"tame\": false\n"
                               "    }\n"
                               "  ],\n"
                               "  \"best\": {\n"
                               "    \"name\": \"Rex\",\n"
                               "    \"legs\": 4,\n"
                               "    \"weight\": 12.5,\n"
                               "    \"tame\": true\n"
                               "  },\n"
                               "  \"price\": 1e-5,\n"
                               "  \"owner\": null,\n"
                               "  \"food\": {\n"
                               "    \"hay\": 3,\n"
                               "    \"b\\\\xFFones\": 2.5\n"
                               "  },\n"
                               "  \"sets\": [\n"
                               "    [\n"
                               "      \"Rex\"\n"
                               "    ],\n"
                               "    []\n"
                               "  ],\n"
                               "  \"notes\": [\n"
                               "    \"2 pets\"\n"
                               "  ]\n"
                               "}\n";

/* ---- Reading and writing ---- */

/* Fields are written in the order of their table, whatever order they were put in; the context is gone by then. */
static void test_json(void **state)
{
    (void)state;
    kn_error     err = KN_ERROR_INIT;
    kn_context  *ctx = testing_context(1);
    kn_document *doc = NULL;
    char        *text = NULL;
    size_t       size = 0;
    assert_ok(make_zoo(&doc, ctx, &err), err);
    testing_context_free(ctx);
    assert_ok(kn_document_json(&text, &size, doc, &err), err);
    assert_string_equal(text, zoo_json);
    assert_int_equal(size, strlen(text));
    kn_document_free(doc);
    assert_string_equal(text, zoo_json); /* the text needs neither */
    kn_text_free(text);
    kn_text_free(NULL);
    kn_document_free(NULL);
}

static void test_reading(void **state)
{
    (void)state;
    kn_error     err = KN_ERROR_INIT;
    kn_context  *ctx = testing_context(1);
    kn_document *doc = NULL;
    int64_t      i = 7;
    double       x = 7;
    bool         b = true;
    assert_ok(make_zoo(&doc, ctx, &err), err);
    assert_string_equal(kn_document_answer(doc), "zoo");
    assert_true(kn_document_integer(doc, "pets.1.legs", &i) && i == 2);
    assert_true(kn_document_number(doc, "pets.1.legs", &x) && x == 2);
    assert_true(kn_document_boolean(doc, "pets.1.tame", &b) && !b);
    assert_string_equal(kn_document_text(doc, "best.name"), "Rex");
    assert_true(kn_document_number(doc, "food.hay", &x) && x == 3);
    /* What is not there, or is something else, leaves the target alone. */
    x = 5;
    const char *const none[] = {"pets.2.legs", "pets.x", "pets.1.", "nobody",        "pets.-1",
                                "best.name.x", "owner",  "price.x", "pets.1.weight", "pets.01x"};
    for (size_t n = 0; n < sizeof none / sizeof *none; n++) assert_false(kn_document_number(doc, none[n], &x));
    assert_true(x == 5);
    assert_null(kn_document_text(doc, "owner"));
    assert_false(kn_document_integer(doc, "price", &i));
    /* One after the other. */
    const kn_document_value *top = kn_document_find(doc, ""), *best = kn_document_member(top, "best");
    assert_int_equal(kn_document_kind_of(top), KN_DOCUMENT_OBJECT);
    assert_int_equal(kn_document_count(top), 8);
    assert_string_equal(kn_document_key(top, 1), "pets");
    assert_null(kn_document_key(top, 8));
    assert_null(kn_document_key(kn_document_member(top, "pets"), 0));
    assert_int_equal(kn_document_count(best), 4);
    assert_string_equal(kn_document_text_of(kn_document_at(best, 0)), "Rex");
    assert_true(isnan(kn_document_number_of(NULL)));
    assert_int_equal(kn_document_kind_of(kn_document_member(top, "owner")), KN_DOCUMENT_NULL);
    assert_ok(kn_document_add_note(doc, "one more", &err), err);
    assert_string_equal(kn_document_text(doc, "notes.1"), "one more");
    kn_document_free(doc);
    testing_context_free(ctx);
}

/* ---- What a table does not allow ---- */

typedef enum mistake { NONE, UNKNOWN, TYPE, TWICE, MISSING, NULL_COUNT, ITEMS, WORD, MISTAKES } mistake;

static kn_status make_wrong(kn_document **out, kn_context *ctx, mistake wrong, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_document_begin(&doc, ctx, &zoo, err));
    kn_to to = kn_document_top(doc), list = kn_put_list(to, "pets");
    kn_put_text(to, "owner", "somebody");
    if (wrong != MISSING) kn_put_number(to, "price", 2);
    if (wrong == UNKNOWN) kn_put_integer(to, "cages", 2);
    if (wrong == TYPE) kn_put_integer(to, "best", 2);
    if (wrong == TWICE) kn_put_number(to, "price", 3);
    if (wrong == NULL_COUNT) kn_put_part(to, "best", &(pet){0});
    if (wrong == ITEMS) kn_append_text(list, "Rex");
    kn_put_text(to, "mood", wrong == WORD ? "sleepy" : "wild");
    return kn_document_end(out, doc, err);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const char *const says[MISTAKES] = {NULL,
                                               "'cages' is not in the table",
                                               "'best' is of another type",
                                               "'price' stands there twice",
                                               "'price' is missing",
                                               "'name' is of another type",
                                               "'pets' has items of another type",
                                               "'mood' is none of its words"};
    kn_context              *ctx = testing_context(1);
    for (int wrong = NONE; wrong < MISTAKES; wrong++) {
        kn_error     err = KN_ERROR_INIT;
        kn_document *doc = NULL;
        kn_status    st = make_wrong(&doc, ctx, (mistake)wrong, &err);
        assert_int_equal(st, wrong == NONE ? KN_OK : KN_INTERNAL);
        if (wrong != NONE) assert_non_null(strstr(err.message, says[wrong]));
        kn_document_free(doc);
    }
    testing_context_free(ctx);
}

/* Every answer: each field has a name and a sentence, each object a table, no name stands there twice. */
static void test_tables(void **state)
{
    (void)state;
    char where[300] = "";
    int  count = 0;
    for (; kn_answer_at(count); count++) {
        const kn_fields *answer = kn_answer_at(count);
        if (!kn_fields_check(answer, where, sizeof where)) fail_msg("%s", where);
        for (int i = 0; i < count; i++) assert_string_not_equal(kn_answer_name(i), answer->name);
    }
    assert_true(count >= 20);
    assert_null(kn_answer_name(count));
    assert_null(kn_answer_sentence(-1));
    /* The check can fail. */
    static const kn_field_row dumb[] = {KN_ANSWER_ROW, KN_VALUE("k", KN_F_COUNT, ""), KN_NOTES_ROW};
    static const kn_field_row torn[] = {KN_ANSWER_ROW, KN_VALUE("part", KN_F_OBJECT, "an object without a table")};
    static const kn_fields    without = KN_ANSWER(char, "dumb", dumb, NULL, "No sentence"),
                           apart = KN_ANSWER(char, "torn", torn, NULL, "No table");
    assert_false(kn_fields_check(&without, where, sizeof where));
    assert_non_null(strstr(where, "has no sentence"));
    assert_false(kn_fields_check(&apart, where, sizeof where));
}

static void count_field(void *user, const kn_answer_field *field)
{
    int *seen = user;
    assert_true(strlen(field->sentence) > 7 && strlen(field->path) > 0);
    if (strcmp(field->path, "models.[].reached") == 0) *seen |= 1 | (field->is_public ? 2 : 0);
    if (strcmp(field->path, "rows") == 0 && strcmp(field->unit, "rows") == 0) *seen |= 4 | (field->is_public ? 8 : 0);
}

static void test_fields(void **state)
{
    (void)state;
    kn_error    err = KN_ERROR_INIT;
    kn_context *ctx = testing_context(1);
    int         seen = 0;
    char       *text = NULL;
    assert_ok(kn_answer_fields("verify", count_field, &seen, &err), err);
    assert_int_equal(seen, 1 | 4 | 8);
    assert_int_equal(kn_answer_fields("nothing", count_field, &seen, &err), KN_USAGE);
    assert_ok(kn_fields_schema(&text, NULL, ctx, &zoo, &err), err);
    assert_non_null(strstr(text, "\"enum\": [\"calm\", \"wild\", null]"));
    kn_text_free(text);
    assert_int_equal(kn_answer_schema(&text, NULL, ctx, "nothing", &err), KN_USAGE);
    for (int i = 0; kn_answer_name(i); i++) {
        assert_ok(kn_answer_schema(&text, NULL, ctx, kn_answer_name(i), &err), err);
        assert_non_null(strstr(text, "\"additionalProperties\": false"));
        kn_text_free(text);
    }
    testing_context_free(ctx);
}

/* ---- Texts ---- */

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t      size;
        const char *shown;
    } cases[] = {{"caf\xC3\xA9", 5, "caf\xC3\xA9"},
                 {"\xFF", 1, "\\xFF"},
                 {"a\0b", 3, "a\\x00b"},
                 {"\t\x01", 2, "\t\x01"},
                 {"\xC3", 1, "\\xC3"},
                 {"", 0, ""},
                 {"\xC3\xA9\xFE", 3, "\xC3\xA9\\xFE"}};
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_error     err = KN_ERROR_INIT;
        kn_document *doc;
        assert_ok(kn_document_begin(&doc, ctx, &zoo, &err), err);
        kn_to to = kn_document_top(doc);
        (void)kn_put_list(to, "pets");
        kn_put_bytes(to, "owner", cases[i].text, cases[i].size);
        kn_put_number(to, "price", -0.25);
        assert_ok(kn_document_end(&doc, doc, &err), err);
        assert_string_equal(kn_document_text(doc, "owner"), cases[i].shown);
        kn_document_free(doc);
    }
    testing_context_free(ctx);
}

/* ---- Memory that runs out ---- */

static const char people[] =
    "sex,age,zip,when\nF,23,47906,1/2/2020\nM,27,47902,3/4/2020\nF,*,1.0,5/6/2020\n*,*,1.00,5/6/2020\n";

typedef struct sample {
    kn_table               *table;
    kn_profile             *profile;
    kn_diagnosis           *diagnosis;
    kn_diagnose_options     diagnose;
    kn_suda                *suda;
    kn_sets_diagnosis      *sets;
    kn_sets_options         over;
    kn_hierarchy           *hierarchy;
    kn_discovery           *discovery;
    kn_dependency_list     *found;
    const kn_verify_report *verified;
} sample;

static const kn_verified_model promised = {{KN_MODEL_ENTROPY, "zip", 0, {3, 2}, {0, 1}, {0, 1}, {0, 1}}, NAN, 1, false};
static const char *const       sentences[] = {"row 3, column \"age\": not a value of its hierarchy"};

/* One document after the other, each with what it is made of. */
static kn_status make_each(kn_context *ctx, const sample *s, int which, kn_document **out, kn_error *err)
{
    static const char *const requirements[] = {""};
    kn_diagnose_answers      one = KN_DIAGNOSE_ANSWERS_INIT;
    kn_sets_answers          all = KN_SETS_ANSWERS_INIT;
    kn_dependency_answers    dependencies = KN_DEPENDENCY_ANSWERS_INIT;
    kn_diagnose_times        times = {1, 2, 3, 4};
    switch (which) {
    case 0: return make_zoo(out, ctx, err);
    case 1: return kn_document_profile(out, ctx, s->profile, s->table, true, err);
    case 2:
        one.options = &s->diagnose;
        one.diagnosis = s->diagnosis;
        one.suppress_mode = KN_SUPPRESS_ASKED;
        one.suda = s->suda;
        one.requirements = requirements;
        one.times = &times;
        return kn_document_diagnose(out, ctx, s->table, &one, err);
    case 3:
        all.options = &s->over;
        all.sets = s->sets;
        return kn_document_diagnose_sets(out, ctx, s->table, &all, err);
    case 4: return kn_document_hierarchy_show(out, ctx, s->hierarchy, "zip.csv", -1, true, err);
    case 5: return kn_document_verify(out, ctx, s->verified, err);
    case 6:
        dependencies.discovery = s->discovery;
        dependencies.cover = s->found;
        return kn_document_dependencies(out, ctx, s->table, &dependencies, err);
    case 7: return kn_document_catalogue(out, ctx, true, true, true, err);
    default: return kn_document_generate(out, ctx, "patients", 5, 1, "p.csv", err);
    }
}

enum { DOCUMENTS = 9 };

/* A document, a note, its text and a schema; nothing is left behind wherever memory ends. */
static kn_status use_memory(kn_context *ctx, const sample *s, int which, kn_error *err)
{
    kn_document *doc = NULL;
    char        *text = NULL, *schema = NULL;
    kn_status    st = make_each(ctx, s, which, &doc, err);
    if (st == KN_OK) st = kn_document_add_note(doc, "a note", err);
    if (st == KN_OK) st = kn_document_json(&text, NULL, doc, err);
    if (st == KN_OK) st = kn_answer_schema(&schema, NULL, ctx, "diagnose", err);
    if (st == KN_OK) assert_true(strlen(text) > 20 && strlen(schema) > 1000);
    kn_document_free(doc);
    kn_text_free(text);
    kn_text_free(schema);
    return st;
}

static void make_sample(sample *s, kn_context *ctx)
{
    static const char *const names[] = {"sex", "age"};
    kn_error                 err = KN_ERROR_INIT;
    kn_suda_options          suda = KN_SUDA_OPTIONS_INIT;
    kn_hierarchy_spec        mask = KN_HIERARCHY_SPEC_INIT;
    const char              *path = testing_file("people.csv", people, strlen(people));
    s->diagnose = (kn_diagnose_options)KN_DIAGNOSE_OPTIONS_INIT;
    s->over = (kn_sets_options)KN_SETS_OPTIONS_INIT;
    s->diagnose.quasi = s->over.over = suda.quasi = names;
    s->diagnose.quasi_count = s->over.over_count = suda.quasi_count = 2;
    s->diagnose.k = s->over.k = 2;
    suda.row_columns = true;
    mask.kind = KN_HIERARCHY_MASK;
    assert_ok(kn_table_read_csv(&s->table, ctx, path, NULL, &err), err);
    assert_ok(kn_profile_table(&s->profile, ctx, s->table, &err), err);
    assert_ok(kn_diagnose(&s->diagnosis, ctx, s->table, &s->diagnose, &err), err);
    assert_ok(kn_suda_search(&s->suda, ctx, s->table, &suda, &err), err);
    assert_ok(kn_diagnose_sets(&s->sets, ctx, s->table, &s->over, &err), err);
    assert_ok(kn_discover_dependencies(&s->discovery, ctx, s->table, NULL, &err), err);
    assert_ok(kn_discovery_list(&s->found, ctx, s->discovery, s->table, &err), err);
    assert_ok(kn_hierarchy_make(&s->hierarchy, ctx, s->table, 0, &mask, false, &err), err);
}

static void free_sample(sample *s)
{
    kn_profile_free(s->profile);
    kn_diagnosis_free(s->diagnosis);
    kn_suda_free(s->suda);
    kn_sets_diagnosis_free(s->sets);
    kn_hierarchy_free(s->hierarchy);
    kn_discovery_free(s->discovery);
    kn_dependency_list_free(s->found);
    kn_table_free(s->table);
}

static void test_refusals(void **state)
{
    (void)state;
    kn_verify_report verified = {
        .model_count = 1, .models = &promised, .problem_count = 1, .problems = sentences, .read = "whole"};
    sample      s = {.verified = &verified};
    kn_context *ctx = testing_context(1);
    make_sample(&s, ctx);
    for (int which = 0; which < DOCUMENTS; which++) {
        kn_status st = KN_MEMORY;
        for (int64_t n = 1; st != KN_OK; n += testing_step()) { /* the context itself is the first */
            testing_allocator allocator = {.refuse_at = n};
            kn_context       *refusing = NULL;
            kn_error          err = KN_ERROR_INIT;
            st = testing_refusing_context(&refusing, &allocator, 1, &err);
            if (st == KN_OK) st = use_memory(refusing, &s, which, &err);
            assert_true(st == KN_OK || st == KN_MEMORY);
            assert_int_equal(kn_context_memory_used(refusing), 0);
            kn_context_free(refusing);
            assert_int_equal(allocator.live, 0);
        }
    }
    free_sample(&s);
    testing_context_free(ctx);
}

/* ---- Releases of any shape ---- */

static const struct {
    const char *name, *spec;
} shapes[] = {
    {"anonymize", "kanon: 1\nforce: true\ninput: memory:t.csv\noutput: memory:out.csv\nprivacy: [{k: 2}]\n"
                  "method: optimal\nattributes: {age: {role: quasi}, ill: {role: sensitive}}\n"},
    {"anonymize-database", "kanon: 1\nforce: true\ninput: memory:db/\noutput: memory:dbout/\nprivacy: [{k: 2}]\n"
                           "entity: {table: person, key: id}\n"
                           "tables: {person: {key: id, attributes: {zip: {role: quasi}}}}\n"},
    {"anonymize-records", "kanon: 1\nforce: true\ninput: memory:b.txt\noutput: memory:out.txt\n"
                          "privacy: [{k-mn: {k: 2, m: 1, n: 0}}]\nclasses: {drug: {}}\n"},
};

static char *text_of(kn_document *doc)
{
    kn_error err = KN_ERROR_INIT;
    char    *text = NULL;
    size_t   size;
    assert_ok(kn_document_json(&text, &size, doc, &err), err);
    kn_document_free(doc);
    return text;
}

/* The document of a shape's own function. */
static char *own_text(kn_context *ctx, const kn_spec *spec, const void *result, const kn_anonymize_options *options)
{
    kn_error     err = KN_ERROR_INIT;
    kn_document *doc = NULL;
    switch (kn_spec_shape(spec)) {
    case KN_SHAPE_TABLE: assert_ok(kn_document_anonymize(&doc, ctx, spec, result, options, &err), err); break;
    case KN_SHAPE_DATABASE:
        assert_ok(kn_document_anonymize_database(&doc, ctx, spec, result, options, &err), err);
        break;
    case KN_SHAPE_RECORDS: assert_ok(kn_document_anonymize_records(&doc, ctx, spec, result, options, &err), err); break;
    }
    return text_of(doc);
}

static void check_any(kn_context *ctx, int i, const kn_anonymize_options *options)
{
    kn_error         err = KN_ERROR_INIT;
    kn_spec         *spec = NULL;
    kn_release_head *head = NULL;
    kn_document     *doc = NULL;
    bool             found = false, dry = options && options->dry_run;
    assert_ok(kn_spec_read_text(&spec, ctx, shapes[i].spec, strlen(shapes[i].spec), NULL, &err), err);
    assert_ok(kn_spec_check(spec, &err), err);
    assert_ok(kn_anonymize_any(&head, ctx, spec, options, &err), err);
    assert_ok(kn_document_anonymize_any(&doc, ctx, spec, head, options, &err), err);
    assert_string_equal(kn_document_answer(doc), shapes[i].name);
    assert_true(kn_document_boolean(doc, "found", &found) && found);
    assert_int_equal(kn_document_find(doc, "publish") == NULL, dry);
    char *any = text_of(doc), *own = own_text(ctx, spec, head, options);
    assert_string_equal(any, own);
    kn_text_free(any);
    kn_text_free(own);
    kn_anonymize_options unknown = KN_ANONYMIZE_OPTIONS_INIT;
    unknown.size = 0;
    doc = NULL;
    assert_int_equal(kn_document_anonymize_any(&doc, ctx, spec, head, &unknown, &err), KN_USAGE);
    assert_null(doc);
    kn_release_head_free(head);
    kn_spec_free(spec);
}

/* The document of any release is the one of its shape, with options and without. */
static void test_any_release(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } files[] = {{"memory:t.csv", "age,ill\n1,a\n1,b\n2,a\n2,b\n"},
                 {"memory:db/person.csv", "id,zip\n1,x\n2,x\n3,y\n4,y\n"},
                 {"memory:b.txt", "a,b\na,b\n"}};
    kn_context          *ctx = NULL;
    kn_error             err = KN_ERROR_INIT;
    kn_anonymize_options dry = KN_ANONYMIZE_OPTIONS_INIT;
    dry.dry_run = true;
    assert_ok(kn_context_create(&ctx, NULL, &err), err);
    assert_ok(kn_memory_enable(ctx, &err), err);
    for (int i = 0; i < 3; i++)
        assert_ok(kn_memory_put(ctx, files[i].name, files[i].text, strlen(files[i].text), &err), err);
    for (int i = 0; i < 3; i++) {
        check_any(ctx, i, &dry);
        check_any(ctx, i, NULL);
    }
    kn_context_free(ctx);
}

/* The context's limit holds while a document is made. */
static void test_limit(void **state)
{
    (void)state;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_context        *ctx = NULL;
    kn_error           err = KN_ERROR_INIT;
    kn_document       *doc = NULL;
    options.memory_limit = 20000;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    assert_int_equal(kn_document_catalogue(&doc, ctx, true, true, true, &err), KN_MEMORY);
    assert_ok(kn_document_generate(&doc, ctx, "patients", 5, 1, "p.csv", &err), err);
    assert_int_equal(kn_context_memory_used(ctx), 0);
    kn_context_free(ctx);
    assert_string_equal(kn_document_text(doc, "kind"), "patients");
    kn_document_free(doc);
}

/* ---- Owners ---- */

static void *read_and_free(void *arg)
{
    kn_document *doc = arg;
    kn_error     err = KN_ERROR_INIT;
    char        *text = NULL;
    if (kn_document_json(&text, NULL, doc, &err) == KN_OK && strcmp(text, zoo_json) == 0) {
        kn_text_free(text);
        kn_document_free(doc);
        return NULL;
    }
    return arg;
}

/* Several threads read a document and free it in any order, the context being gone. */
static void test_owners(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    kn_error     err = KN_ERROR_INIT;
    kn_context  *ctx = testing_context(1);
    kn_document *doc = NULL;
    pthread_t    threads[THREADS];
    assert_ok(make_zoo(&doc, ctx, &err), err);
    testing_context_free(ctx);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_and_free, kn_document_retain(doc)), 0);
    kn_document_free(doc);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {testing_alone(test_json),      testing_alone(test_reading),
                                       testing_alone(test_mistakes),  testing_alone(test_tables),
                                       testing_alone(test_fields),    testing_alone(test_texts),
                                       testing_alone(test_refusals),  cmocka_unit_test(test_limit),
                                       cmocka_unit_test(test_owners), cmocka_unit_test(test_any_release)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
