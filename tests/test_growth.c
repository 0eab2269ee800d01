/* test_growth.c: programs that were compiled for an older or a newer library: options that are smaller are filled with
 * defaults, larger ones are refused if they ask for something that is not known. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/kanon.h>
#include <stdio.h>
#include <string.h>

#include "kn_options.h"

/* ---- Every struct of options ---- */

typedef void (*init_fn)(void *options, size_t size);

typedef struct options_case {
    const char *name;
    size_t      size;
    init_fn     init;
} options_case;

#define CASE(type)                                                                                                     \
    {                                                                                                                  \
#type, sizeof(type), (init_fn)(void (*)(void))type##_init                                                      \
    }
static const options_case cases[] = {
    CASE(kn_anonymize_options),
    CASE(kn_arrow_options),
    CASE(kn_arrow_export_options),
    CASE(kn_attack_options),
    CASE(kn_attack_demo_options),
    CASE(kn_context_options),
    CASE(kn_csv_options),
    CASE(kn_database_options),
    CASE(kn_database_verify_options),
    CASE(kn_database_diagnose_options),
    CASE(kn_diagnose_options),
    CASE(kn_discover_options),
    CASE(kn_generate_options),
    CASE(kn_hierarchy_spec),
    CASE(kn_measure_options),
    CASE(kn_model_options),
    CASE(kn_records_options),
    CASE(kn_records_diagnose_options),
    CASE(kn_records_verify_options),
    CASE(kn_report_input),
    CASE(kn_risk_options),
    CASE(kn_sets_options),
    CASE(kn_suda_options),
    CASE(kn_verify_options),
};
enum { CASES = sizeof cases / sizeof *cases, ROOM = 1024 };

static void initializers_know_every_size(void **state)
{
    (void)state;
    for (int c = 0; c < CASES; c++) {
        const options_case *of = &cases[c];
        unsigned char       exact[ROOM], other[ROOM];
        size_t              size;
        memset(exact, 0xaa, sizeof exact);
        of->init(exact, of->size);
        memcpy(&size, exact, sizeof size);
        assert_int_equal(size, of->size);
        assert_int_equal(exact[of->size], 0xaa);
        memset(other, 0xaa, sizeof other); /* a newer program's */
        of->init(other, of->size + 16);
        memcpy(&size, other, sizeof size);
        assert_int_equal(size, of->size + 16);
        assert_memory_equal(other + sizeof size, exact + sizeof size, of->size - sizeof size);
        for (int i = 0; i < 16; i++) assert_int_equal(other[of->size + (size_t)i], 0);
        assert_int_equal(other[of->size + 16], 0xaa);
        memset(other, 0xaa, sizeof other); /* an older program's */
        of->init(other, of->size - 8);
        assert_memory_equal(other + sizeof size, exact + sizeof size, of->size - 8 - sizeof size);
        assert_int_equal(other[of->size - 8], 0xaa);
    }
}

static void sizes_are_multiples_of_a_word(void **state)
{
    (void)state;
    for (int c = 0; c < CASES; c++) assert_int_equal(cases[c].size % sizeof(size_t), 0);
}

static void taking_fills_up_and_refuses(void **state)
{
    (void)state;
    typedef struct small {
        size_t  size;
        int64_t first;
    } small;
    typedef struct large {
        size_t  size;
        int64_t first, second;
    } large;
    kn_error err = KN_ERROR_INIT;
    large    to = {sizeof to, 1, 2};
    small    older = {sizeof older, 7};
    assert_ok(kn_options_take(&to, sizeof to, &older, "x", &err), err);
    assert_true(to.size == sizeof to && to.first == 7 && to.second == 2);
    small shrunk = {sizeof shrunk, 1};
    large newer = {sizeof newer, 9, 0};
    assert_ok(kn_options_take(&shrunk, sizeof shrunk, &newer, "x", &err), err);
    assert_true(shrunk.size == sizeof shrunk && shrunk.first == 9);
    newer.second = 1;
    assert_int_equal(kn_options_take(&shrunk, sizeof shrunk, &newer, "x options", &err), KN_USAGE);
    assert_non_null(strstr(err.message, "x options: the program was compiled for a newer kanon"));
    static const size_t unset[] = {0, 4, 7, 9, 13, 4104, SIZE_MAX};
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++) {
        newer.size = unset[i];
        assert_int_equal(kn_options_take(&to, sizeof to, &newer, "x", &err), KN_USAGE);
        assert_non_null(strstr(err.message, "the size field is not set"));
    }
    assert_ok(kn_options_take(&to, sizeof to, NULL, "x", &err), err);
}

/* ---- At every door ---- */

typedef struct scene {
    kn_context *ctx;
    kn_table   *table;
    kn_spec    *spec;
} scene;

typedef kn_status (*door_fn)(const scene *s, const void *options, kn_error *err);

/* What comes out is freed where it comes out: an older struct may well do. */
#define DOOR(name, type, result_type, free_it, ...)                                                                    \
    static kn_status name(const scene *s, const void *options, kn_error *err)                                          \
    {                                                                                                                  \
        (void)s;                                                                                                       \
        result_type *out = NULL;                                                                                       \
        const type  *o = options;                                                                                      \
        kn_status    st = __VA_ARGS__;                                                                                 \
        free_it(out);                                                                                                  \
        return st;                                                                                                     \
    }

static kn_status generate_csv(const scene *s, const void *options, kn_error *err)
{
    return kn_generate_csv(s->ctx, "/nowhere/x.csv", options, err);
}

static kn_status report(const scene *s, const void *options, kn_error *err)
{
    return kn_report_write(s->ctx, "/nowhere/x.html", options, err);
}

static kn_status import_arrow(const scene *s, const void *options, kn_error *err)
{
    struct ArrowArrayStream stream;
    kn_table               *table = NULL;
    KN_TRY(kn_table_export_arrow(&stream, s->table, s->ctx, NULL, err));
    kn_status st = kn_table_import_arrow(&table, s->ctx, &stream, options, err);
    kn_table_free(table);
    return st;
}

static kn_status export_arrow(const scene *s, const void *options, kn_error *err)
{
    struct ArrowArrayStream stream;
    KN_TRY(kn_table_export_arrow(&stream, s->table, s->ctx, options, err));
    stream.release(&stream);
    return KN_OK;
}

DOOR(anonymize, kn_anonymize_options, kn_release_result, kn_release_result_free,
     kn_anonymize(&out, s->ctx, s->spec, o, err))
DOOR(anonymize_database, kn_anonymize_options, kn_database_result, kn_database_result_free,
     kn_anonymize_database(&out, s->ctx, s->spec, o, err))
DOOR(anonymize_records, kn_anonymize_options, kn_records_result, kn_records_result_free,
     kn_anonymize_records(&out, s->ctx, s->spec, o, err))
DOOR(attack, kn_attack_options, kn_attack_report, kn_attack_report_free, kn_attack(&out, s->ctx, s->spec, o, err))
DOOR(demo, kn_attack_demo_options, kn_attack_demo_report, kn_attack_demo_report_free,
     kn_attack_demo(&out, s->ctx, s->spec, o, err))
DOOR(create, kn_context_options, kn_context, kn_context_free, kn_context_create(&out, o, err))
DOOR(csv, kn_csv_options, kn_table, kn_table_free, kn_table_read_csv(&out, s->ctx, "/nowhere.csv", o, err))
DOOR(database, kn_database_options, kn_database, kn_database_free, kn_database_read(&out, s->ctx, "/nowhere", o, err))
DOOR(measure_database, kn_measure_options, kn_database_measure_report, kn_database_measure_report_free,
     kn_measure_database(&out, s->ctx, s->spec, o, err))
DOOR(diagnose_database, kn_database_diagnose_options, kn_database_diagnosis, kn_database_diagnosis_free,
     kn_diagnose_database(&out, s->ctx, s->spec, o, err))
DOOR(measure_records, kn_measure_options, kn_records_measure_report, kn_records_measure_report_free,
     kn_measure_records(&out, s->ctx, s->spec, o, err))
DOOR(diagnose_records, kn_records_diagnose_options, kn_records_diagnosis, kn_records_diagnosis_free,
     kn_diagnose_records(&out, s->ctx, s->spec, o, err))
DOOR(verify_database, kn_database_verify_options, kn_database_verify_report, kn_database_verify_report_free,
     kn_verify_database(&out, s->ctx, s->spec, o, err))
DOOR(diagnose, kn_diagnose_options, kn_diagnosis, kn_diagnosis_free, kn_diagnose(&out, s->ctx, s->table, o, err))
DOOR(suppressed, kn_diagnose_options, kn_row_list, kn_row_list_free,
     kn_suppressed_rows(&out, s->ctx, s->table, o, 2, err))
DOOR(discover, kn_discover_options, kn_discovery, kn_discovery_free,
     kn_discover_dependencies(&out, s->ctx, s->table, o, err))
DOOR(generate, kn_generate_options, kn_table, kn_table_free, kn_generate_table(&out, s->ctx, o, err))
DOOR(hierarchy, kn_hierarchy_spec, kn_hierarchy, kn_hierarchy_free,
     kn_hierarchy_make(&out, s->ctx, s->table, 0, o, false, err))
DOOR(read_hierarchy, kn_hierarchy_spec, kn_hierarchy, kn_hierarchy_free, kn_hierarchy_read(&out, s->ctx, o, err))
DOOR(measure, kn_measure_options, kn_measure_report, kn_measure_report_free, kn_measure(&out, s->ctx, s->spec, o, err))
DOOR(models, kn_model_options, kn_model_report, kn_model_report_free,
     kn_diagnose_models(&out, s->ctx, s->table, o, err))
DOOR(model_sets, kn_model_options, kn_model_sets, kn_model_sets_free,
     kn_model_over_sets(&out, s->ctx, s->table, o, NULL, 0, err))
DOOR(records, kn_records_options, kn_records, kn_records_free, kn_records_read(&out, s->ctx, "/nowhere.xml", o, err))
DOOR(verify_records, kn_records_verify_options, kn_records_verify_report, kn_records_verify_report_free,
     kn_verify_records(&out, s->ctx, s->spec, o, err))
DOOR(verify_records_files, kn_records_verify_options, kn_records_verify_report, kn_records_verify_report_free,
     kn_verify_records_files(&out, s->ctx, s->spec, o, err))
DOOR(risk, kn_risk_options, kn_risk, kn_risk_free, kn_risk_measure(&out, s->ctx, s->table, o, err))
DOOR(sets, kn_sets_options, kn_sets_diagnosis, kn_sets_diagnosis_free, kn_diagnose_sets(&out, s->ctx, s->table, o, err))
DOOR(suda, kn_suda_options, kn_suda, kn_suda_free, kn_suda_search(&out, s->ctx, s->table, o, err))
DOOR(verify, kn_verify_options, kn_verify_report, kn_verify_report_free, kn_verify(&out, s->ctx, s->spec, o, err))

typedef struct door {
    const char *options;
    door_fn     enter;
} door;

static const door doors[] = {
    {"kn_anonymize_options", anonymize},
    {"kn_anonymize_options", anonymize_database},
    {"kn_anonymize_options", anonymize_records},
    {"kn_arrow_options", import_arrow},
    {"kn_arrow_export_options", export_arrow},
    {"kn_attack_options", attack},
    {"kn_attack_demo_options", demo},
    {"kn_context_options", create},
    {"kn_csv_options", csv},
    {"kn_database_options", database},
    {"kn_database_diagnose_options", diagnose_database},
    {"kn_database_verify_options", verify_database},
    {"kn_diagnose_options", diagnose},
    {"kn_diagnose_options", suppressed},
    {"kn_discover_options", discover},
    {"kn_generate_options", generate},
    {"kn_generate_options", generate_csv},
    {"kn_hierarchy_spec", hierarchy},
    {"kn_hierarchy_spec", read_hierarchy},
    {"kn_measure_options", measure},
    {"kn_measure_options", measure_database},
    {"kn_measure_options", measure_records},
    {"kn_model_options", models},
    {"kn_model_options", model_sets},
    {"kn_records_options", records},
    {"kn_records_diagnose_options", diagnose_records},
    {"kn_records_verify_options", verify_records},
    {"kn_records_verify_options", verify_records_files},
    {"kn_report_input", report},
    {"kn_risk_options", risk},
    {"kn_sets_options", sets},
    {"kn_suda_options", suda},
    {"kn_verify_options", verify},
};
enum { DOORS = sizeof doors / sizeof *doors };

static const options_case *case_of(const char *name)
{
    for (int c = 0; c < CASES; c++)
        if (strcmp(cases[c].name, name) == 0) return &cases[c];
    fail_msg("no case %s", name);
    return NULL;
}

static void open_scene(scene *s)
{
    kn_error            err = KN_ERROR_INIT;
    kn_generate_options options = KN_GENERATE_OPTIONS_INIT;
    options.rows = 20;
    s->ctx = testing_context(1);
    assert_ok(kn_generate_table(&s->table, s->ctx, &options, &err), err);
    assert_ok(kn_spec_create(&s->spec, s->ctx, &err), err);
}

static void close_scene(scene *s)
{
    kn_spec_free(s->spec);
    kn_table_free(s->table);
    testing_context_free(s->ctx);
}

static bool about_newer(kn_status st, const kn_error *err)
{
    return st == KN_USAGE && strstr(err->message, "compiled for a newer kanon");
}

static void every_door_refuses_options_it_does_not_know(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    bool met[CASES] = {false};
    for (int d = 0; d < DOORS; d++) {
        const options_case *of = case_of(doors[d].options);
        size_t              bytes[ROOM / sizeof(size_t)] = {0}; /* aligned */
        met[of - cases] = true;
        kn_error err = KN_ERROR_INIT;
        of->init(bytes, of->size + 24);
        kn_status st = doors[d].enter(&s, bytes, &err); /* nothing of it is set: as if it were not there */
        if (about_newer(st, &err)) fail_msg("door %d (%s) refuses zeros", d, of->name);
        ((unsigned char *)bytes)[of->size + 23] = 1;
        err = (kn_error)KN_ERROR_INIT;
        st = doors[d].enter(&s, bytes, &err);
        if (!about_newer(st, &err)) fail_msg("door %d (%s) does not tell: %s", d, of->name, err.message);
        bytes[0] = 0;
        st = doors[d].enter(&s, bytes, &err);
        if (st != KN_USAGE || !strstr(err.message, "the size field is not set"))
            fail_msg("door %d (%s) takes options without a size", d, of->name);
    }
    for (int c = 0; c < CASES; c++) assert_true(met[c]);
    close_scene(&s);
}

/* Behind the end of an older program's options stands anything. */
static void every_door_takes_the_options_of_older_programs(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    for (int d = 0; d < DOORS; d++) {
        const options_case *of = case_of(doors[d].options);
        size_t              whole[ROOM / sizeof(size_t)], older[ROOM / sizeof(size_t)];
        for (size_t size = sizeof(size_t); size < of->size; size += sizeof(size_t)) {
            kn_error as_whole = KN_ERROR_INIT, as_older = KN_ERROR_INIT;
            memset(whole, 0xaa, sizeof whole);
            memset(older, 0xaa, sizeof older);
            of->init(whole, of->size);
            of->init(older, size);
            kn_status expected = doors[d].enter(&s, whole, &as_whole);
            kn_status st = doors[d].enter(&s, older, &as_older);
            if (st != expected || strcmp(as_older.message, as_whole.message) != 0)
                fail_msg("door %d (%s, %zu bytes): %s", d, of->name, size, as_older.message);
        }
    }
    close_scene(&s);
}

/* ---- Old and new headers, field by field ---- */

/* kn_diagnose_options as a first release could have had it, and as a later one may. */
typedef struct old_diagnose_options {
    size_t             size;
    const char *const *quasi;
    int                quasi_count;
    const char        *entity;
} old_diagnose_options;

typedef struct new_diagnose_options {
    kn_diagnose_options known;
    int64_t             depth; /* an option of a later release */
} new_diagnose_options;

static void an_old_program_asks_a_new_library(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    const char *const    quasi[] = {"sex"};
    old_diagnose_options options = {sizeof options, quasi, 1, NULL};
    kn_diagnosis        *answer = NULL;
    kn_error             err = KN_ERROR_INIT;
    assert_ok(kn_diagnose(&answer, s.ctx, s.table, (const kn_diagnose_options *)(const void *)&options, &err), err);
    assert_true(answer->rows == 20 && answer->classes == 2 && answer->holds);
    kn_diagnosis_free(answer);
    close_scene(&s);
}

static void a_new_program_asks_an_old_library(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    const char *const    quasi[] = {"sex"};
    new_diagnose_options options;
    kn_diagnosis        *answer = NULL;
    kn_error             err = KN_ERROR_INIT;
    kn_diagnose_options_init(&options.known, sizeof options);
    options.known.quasi = quasi;
    options.known.quasi_count = 1;
    assert_int_equal(options.depth, 0);
    assert_ok(kn_diagnose(&answer, s.ctx, s.table, &options.known, &err), err);
    kn_diagnosis_free(answer);
    options.depth = 3;
    assert_int_equal(kn_diagnose(&answer, s.ctx, s.table, &options.known, &err), KN_USAGE);
    assert_null(answer);
    assert_non_null(strstr(err.message, "diagnose options: the program was compiled for a newer kanon"));
    assert_non_null(strstr(err.message, KN_VERSION));
    close_scene(&s);
}

static void the_version_is_one(void **state)
{
    (void)state;
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", KN_VERSION_MAJOR, KN_VERSION_MINOR, KN_VERSION_PATCH);
    assert_string_equal(text, KN_VERSION);
    assert_string_equal(kn_version(), KN_VERSION);
    assert_int_equal(kn_version_number(), KN_VERSION_NUMBER);
    assert_string_equal(kn_version(), PROJECT_VERSION); /* meson.build's */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initializers_know_every_size),
        cmocka_unit_test(sizes_are_multiples_of_a_word),
        cmocka_unit_test(taking_fills_up_and_refuses),
        cmocka_unit_test(every_door_refuses_options_it_does_not_know),
        cmocka_unit_test(every_door_takes_the_options_of_older_programs),
        cmocka_unit_test(an_old_program_asks_a_new_library),
        cmocka_unit_test(a_new_program_asks_an_old_library),
        cmocka_unit_test(the_version_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
