/* alloc_failure.c: a small whole job through the public API, run again and again with one more allocation refused.
 *
 * The job reads a table, makes and binds hierarchies, profiles and diagnoses the table in every way, sends it through
 * Arrow, generates another and writes. For N = 0, 1, 2, ... the context's allocator refuses the N-th request, once alone (a passing
 * shortage) and once with all that follow (memory is gone), until the job asks for fewer. Every run must end with the
 * right answer or with KN_MEMORY and a message, hand back every block and leave no temporary file behind. The same with
 * two threads.
 *
 * A new public function belongs into `steps`.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <kanon/arrow.h>
#include <kanon/diagnose.h>
#include <kanon/generate.h>
#include <kanon/hierarchy.h>
#include <kanon/models.h>
#include <kanon/report.h>
#include <kanon/risk.h>
#include <kanon/table.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

/* ---- An allocator that refuses ---- */

typedef struct refusal {
    int64_t         at;     /* this request is refused ...     */
    bool            onward; /* ... and all that come after it  */
    _Atomic int64_t requests;
    _Atomic int64_t live;
} refusal;

static bool refuses(refusal *state)
{
    int64_t request = atomic_fetch_add(&state->requests, 1);
    return request == state->at || (state->onward && request > state->at);
}

static void *refusing_alloc(void *user, size_t size)
{
    refusal *state = user;
    void    *block = refuses(state) ? NULL : malloc(size);
    if (block) atomic_fetch_add(&state->live, 1);
    return block;
}

static void *refusing_resize(void *user, void *block, size_t old_size, size_t new_size)
{
    refusal *state = user;
    (void)old_size;
    if (refuses(state)) return NULL;
    void *moved = realloc(block, new_size);
    if (moved && !block) atomic_fetch_add(&state->live, 1);
    return moved;
}

static void refusing_release(void *user, void *block, size_t size)
{
    refusal *state = user;
    (void)size;
    atomic_fetch_sub(&state->live, 1);
    free(block);
}

/* ---- The job ---- */

typedef struct job {
    kn_context   *ctx;
    kn_table     *table, *from_arrow, *generated;
    kn_hierarchy *ages, *zips, *cities;
    kn_profile   *profile;
    kn_diagnosis *diagnosis, *wildcards;

    kn_row_list       *rows;
    kn_sets_diagnosis *borders, *figures;
    kn_model_report   *models;
    kn_model_sets     *model_sets;
    kn_risk           *risk;
    kn_suda           *suda;
} job;

static const char *table_path, *city_path; /* made once, read only */
static char        output_path[256];

static kn_status read_table(job *j, kn_error *err)
{
    kn_csv_options options = KN_CSV_OPTIONS_INIT;
    options.timezone = "Europe/Paris";
    return kn_table_read_csv(&j->table, j->ctx, table_path, &options, err);
}

static kn_status make_ranges(job *j, kn_error *err)
{
    static const char *const widths[] = {"5", "10", "40"};
    kn_hierarchy_spec        spec = KN_HIERARCHY_SPEC_INIT;
    spec.kind = KN_HIERARCHY_RANGES;
    spec.widths = widths;
    spec.width_count = 3;
    return kn_hierarchy_make(&j->ages, j->ctx, j->table, kn_table_find(j->table, "age"), &spec, false, err);
}

static kn_status make_mask(job *j, kn_error *err)
{
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    spec.kind = KN_HIERARCHY_MASK;
    return kn_hierarchy_make(&j->zips, j->ctx, j->table, kn_table_find(j->table, "zip"), &spec, false, err);
}

static kn_status read_hierarchy(job *j, kn_error *err)
{
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    spec.path = city_path;
    return kn_hierarchy_read(&j->cities, j->ctx, &spec, err);
}

static kn_status bind_hierarchy(job *j, kn_error *err)
{
    return kn_hierarchy_bind(j->cities, j->table, kn_table_find(j->table, "city"), '.', false, err);
}

static kn_status write_table(job *j, kn_error *err)
{
    return kn_table_write_csv(j->table, j->ctx, output_path, ',', err);
}

static kn_status make_profile(job *j, kn_error *err)
{
    return kn_profile_table(&j->profile, j->ctx, j->table, err);
}

static kn_status diagnose(job *j, kn_error *err)
{
    static const char *const quasi[] = {"age", "zip", "city"};
    kn_diagnose_options      options = KN_DIAGNOSE_OPTIONS_INIT;
    options.quasi = quasi;
    options.quasi_count = 3;
    options.k = 2;
    options.suppressing = true;
    options.suppress = (kn_fraction){1, 10};
    options.entity = "person";
    kn_status st = kn_diagnose(&j->diagnosis, j->ctx, j->table, &options, err);
    if (st != KN_OK) return st;
    options.entity = NULL;
    options.suppressing = false;
    options.suppress.numerator = 0;
    options.missing = KN_MISSING_WILDCARD;
    return kn_diagnose(&j->wildcards, j->ctx, j->table, &options, err);
}

static const char *const searched[] = {"age", "zip", "city"};

static kn_status search_sets(job *j, kn_error *err)
{
    kn_sets_options options = KN_SETS_OPTIONS_INIT;
    options.over = searched;
    options.over_count = 3;
    options.k = 2;
    kn_status st = kn_diagnose_sets(&j->borders, j->ctx, j->table, &options, err);
    if (st != KN_OK) return st;
    options.k = 0;
    options.suppress_mode = KN_SUPPRESS_ASKED;
    options.entity = "person";
    return kn_diagnose_sets(&j->figures, j->ctx, j->table, &options, err);
}

static kn_status find_rows(job *j, kn_error *err)
{
    kn_diagnose_options options = KN_DIAGNOSE_OPTIONS_INIT;
    options.quasi = searched;
    options.quasi_count = 3;
    return kn_suppressed_rows(&j->rows, j->ctx, j->table, &options, 2, err);
}

static kn_status measure_models(job *j, kn_error *err)
{
    static const char *const sensitive[] = {"born", "city"};
    const kn_hierarchy      *hierarchies[] = {NULL, j->cities};
    kn_model_options         options = KN_MODEL_OPTIONS_INIT;
    options.quasi = searched;
    options.quasi_count = 2;
    options.sensitive = sensitive;
    options.sensitive_count = 2;
    options.hierarchies = hierarchies;
    kn_status st = kn_diagnose_models(&j->models, j->ctx, j->table, &options, err);
    if (st != KN_OK) return st;
    return kn_model_over_sets(&j->model_sets, j->ctx, j->table, &options, NULL, 0, err);
}

static kn_status measure_risk(job *j, kn_error *err)
{
    kn_risk_options options = KN_RISK_OPTIONS_INIT;
    options.quasi = searched;
    options.quasi_count = 3;
    options.population = j->table;
    kn_status st = kn_risk_measure(&j->risk, j->ctx, j->table, &options, err);
    if (st != KN_OK) return st;
    kn_suda_options special = KN_SUDA_OPTIONS_INIT;
    special.quasi = searched;
    special.quasi_count = 3;
    return kn_suda_search(&j->suda, j->ctx, j->table, &special, err);
}

static kn_status write_report(job *j, kn_error *err)
{
    kn_report_input input = KN_REPORT_INPUT_INIT;
    input.quasi = input.over = searched;
    input.quasi_count = input.over_count = 3;
    input.k = 2;
    input.diagnosis = j->diagnosis;
    input.sets = j->borders;
    return kn_report_write(j->ctx, output_path, &input, err);
}

static kn_status write_some_rows(job *j, kn_error *err)
{
    return kn_table_write_rows_csv(j->table, j->ctx, output_path, ',', j->rows, err);
}

static kn_status through_arrow(job *j, kn_error *err)
{
    struct ArrowArrayStream stream;
    kn_status               st = kn_table_export_arrow(&stream, j->table, j->ctx, NULL, err);
    if (st != KN_OK) return st;
    st = kn_table_import_arrow(&j->from_arrow, j->ctx, &stream, NULL, err);
    /* The producer is ours: where it ran out of memory, the importer can only say that the producer failed. */
    if (st == KN_IO) st = err->status = KN_MEMORY;
    return st;
}

static kn_status generate(job *j, kn_error *err)
{
    kn_generate_options options = KN_GENERATE_OPTIONS_INIT;
    options.rows = 20;
    options.seed = 3;
    return kn_generate_table(&j->generated, j->ctx, &options, err);
}

/* Writing is last: it waits for the disk, and most runs do not come that far. */
static kn_status (*const steps[])(job *, kn_error *) = {
    read_table, make_ranges,     make_mask,    read_hierarchy, bind_hierarchy, make_profile,
    diagnose,   search_sets,     find_rows,    measure_models, measure_risk,   through_arrow,
    generate,   write_some_rows, write_report, write_table,
};

static uint64_t mix_table(const kn_table *table)
{
    uint64_t sum = (uint64_t)kn_table_rows(table);
    for (int c = 0; c < kn_table_columns(table); c++)
        for (int64_t r = 0; r < kn_table_rows(table); r++) sum = sum * 31 + kn_table_code(table, c, r);
    return sum;
}

/* What the job found out, in one number: it must not depend on what was refused on the way. */
static uint64_t answer(const job *j)
{
    assert_true(mix_table(j->from_arrow) == mix_table(j->table));
    uint64_t sum = mix_table(j->table) * 31 + mix_table(j->generated);
    sum = sum * 31 + (uint64_t)(j->diagnosis->classes * 100 + j->diagnosis->persons + j->wildcards->k_after);
    for (int c = 0; c < j->profile->columns; c++) sum = sum * 31 + (uint64_t)j->profile->column[c].unique_rows;
    sum = sum * 31 +
          (uint64_t)(j->rows->count * 10000 + j->borders->minimal_count * 100 + j->figures->sets[0].step_count);
    sum = sum * 31 + (uint64_t)(j->models->classes * 1000 + j->model_sets->count + j->suda->msus * 100000);
    sum = sum * 31 + (uint64_t)j->risk->sample_uniques;
    return sum * 31 + kn_hierarchy_nodes(j->ages) + kn_hierarchy_nodes(j->zips) * 100 +
           kn_hierarchy_nodes(j->cities) * 10000;
}

static kn_status run(refusal *state, int threads, uint64_t *result, kn_error *err)
{
    kn_allocator       allocator = {refusing_alloc, refusing_resize, refusing_release, state};
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.threads = threads;
    options.allocator = &allocator;
    job       j = {0};
    kn_status st = kn_context_create(&j.ctx, &options, err);
    for (size_t i = 0; st == KN_OK && i < sizeof steps / sizeof *steps; i++) st = steps[i](&j, err);
    if (st == KN_OK) *result = answer(&j);
    kn_profile_free(j.profile);
    kn_diagnosis_free(j.diagnosis);
    kn_diagnosis_free(j.wildcards);
    kn_row_list_free(j.rows);
    kn_sets_diagnosis_free(j.borders);
    kn_sets_diagnosis_free(j.figures);
    kn_model_report_free(j.models);
    kn_model_sets_free(j.model_sets);
    kn_risk_free(j.risk);
    kn_suda_free(j.suda);
    kn_hierarchy_free(j.ages);
    kn_hierarchy_free(j.zips);
    kn_hierarchy_free(j.cities);
    kn_table_free(j.table);
    kn_table_free(j.from_arrow);
    kn_table_free(j.generated);
    kn_context_free(j.ctx);
    return st;
}

/* ---- The loop ---- */

static int files_in_folder(void)
{
    char folder[256];
    snprintf(folder, sizeof folder, "%s", table_path);
    *strrchr(folder, '/') = '\0';
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(dir);
    return count;
}

static void refuse_each(int threads, bool onward)
{
    int      before = files_in_folder();
    refusal  nothing = {.at = -1};
    uint64_t expected = 0;
    kn_error err = KN_ERROR_INIT;
    assert_ok(run(&nothing, threads, &expected, &err), err);
    unlink(output_path);

    int64_t failures = 0, at = 0;
    for (;; at += testing_step()) {
        refusal  state = {.at = at, .onward = onward};
        uint64_t result = 0;
        err = (kn_error)KN_ERROR_INIT;
        kn_status st = run(&state, threads, &result, &err);
        if (atomic_load(&state.live) != 0)
            fail_msg("request %lld refused: %lld blocks were not freed", (long long)at, (long long)state.live);
        if (st == KN_OK) {
            assert_true(result == expected);
        } else {
            if (st != KN_MEMORY) fail_msg("request %lld refused: %s", (long long)at, err.message);
            assert_int_equal(err.status, KN_MEMORY);
            assert_true(err.message[0] != '\0');
            failures++;
        }
        bool written = unlink(output_path) == 0;
        assert_true(written || st != KN_OK);
        assert_int_equal(files_in_folder(), before); /* no temporary file is left */
        if (atomic_load(&state.requests) <= at) break;
    }
    assert_true(failures > 10);
    printf("%lld requests, %lld of them fatal\n", (long long)at, (long long)failures);
}

static void one_thread_passing_shortage(void **unused)
{
    (void)unused;
    refuse_each(1, false);
}

static void one_thread_memory_gone(void **unused)
{
    (void)unused;
    refuse_each(1, true);
}

static void two_threads_passing_shortage(void **unused)
{
    (void)unused;
    refuse_each(2, false);
}

static void two_threads_memory_gone(void **unused)
{
    (void)unused;
    refuse_each(2, true);
}

static int make_files(void **unused)
{
    (void)unused;
    static const char *const names[] = {"Lyon", "Paris", "\"Aix, en Provence\"", "Brest"};
    static char              text[16384];
    size_t                   used = 0;
    used += (size_t)snprintf(text, sizeof text, "id,person,age,zip,city,born,income,seen\r\n");
    for (int i = 0; i < 40; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%d,p%d,%d,%05d,%s,%d-%02d-%02d,%d.%d,%d-06-01 12:%02d:00\r\n", i, i / 2,
                                 17 + i % 12 * 5, i % 7 * 7570, i % 17 ? names[i % 4] : "NA", 1930 + i % 70, 1 + i % 12,
                                 1 + i % 28, i * 100, i % 10, 2000 + i % 20, i % 60);
    table_path = testing_file("people.csv", text, used);
    const char *cities = "Lyon;south;France\nParis;north;France\nAix, en Provence;south;France\nBrest;north;France\n";
    city_path = testing_file("city.csv", cities, strlen(cities));
    snprintf(output_path, sizeof output_path, "%s.out", table_path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(one_thread_passing_shortage),
        testing_alone(one_thread_memory_gone),
        cmocka_unit_test(two_threads_passing_shortage),
        cmocka_unit_test(two_threads_memory_gone),
    };
    return cmocka_run_group_tests(tests, make_files, NULL);
}
