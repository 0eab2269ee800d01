/* samples.c: writes reports of many kinds into a folder, for a browser to look at: samples FOLDER.
 *
 * The tables are generated, so the reports are the same in every run.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/generate.h>
#include <kanon/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kn_context *ctx;
static const char *folder;
static kn_error    err = KN_ERROR_INIT;

static void must(kn_status status)
{
    if (status == KN_OK) return;
    fprintf(stderr, "samples: %s\n", err.message);
    exit(1);
}

static void write_report(const char *name, const kn_report_input *input)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s.html", folder, name);
    must(kn_report_write(ctx, path, input, &err));
}

static kn_table *generated(int64_t rows)
{
    kn_generate_options o = KN_GENERATE_OPTIONS_INIT;
    kn_table           *table = NULL;
    o.rows = rows;
    must(kn_generate_table(&table, ctx, &o, &err));
    return table;
}

static const char *const names[] = {"sex",       "race",       "age",           "education", "marital-status",
                                    "workclass", "occupation", "native-country"};
static const char *const files[] = {"some/folder/people.csv"};

static kn_report_input start(int quasi, int over)
{
    kn_report_input in = KN_REPORT_INPUT_INIT;
    in.version = "0.0.0";
    in.inputs = files;
    in.input_count = 1;
    in.quasi = names;
    in.quasi_count = quasi;
    in.over = names;
    in.over_count = over;
    return in;
}

/* Diagnoses the first `quasi` columns and the subsets of the first `over` ones, either may be 0, and reports. */
static void sample(const char *name, const kn_table *table, int quasi, int over, int64_t k, kn_suppress_mode mode,
                   const kn_report_section *sections, int section_count)
{
    kn_report_input    in = start(quasi, over);
    kn_diagnosis      *d = NULL;
    kn_sets_diagnosis *s = NULL;
    kn_fraction        five = {5, 100};
    if (quasi > 0) {
        kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
        o.quasi = names;
        o.quasi_count = quasi;
        o.k = k;
        o.suppressing = mode == KN_SUPPRESS_GIVEN;
        if (mode == KN_SUPPRESS_GIVEN) o.suppress = five;
        must(kn_diagnose(&d, ctx, table, &o, &err));
    }
    if (over > 0) {
        kn_sets_options o = KN_SETS_OPTIONS_INIT;
        o.over = names;
        o.over_count = over;
        o.k = k;
        o.suppress_mode = mode;
        if (mode == KN_SUPPRESS_GIVEN) o.suppress = five;
        must(kn_diagnose_sets(&s, ctx, table, &o, &err));
    }
    in.k = k;
    in.suppress_mode = mode;
    in.diagnosis = d;
    in.sets = s;
    in.sections = sections;
    in.section_count = section_count;
    write_report(name, &in);
    kn_diagnosis_free(d);
    kn_sets_diagnosis_free(s);
}

/* Borders over 60 columns, with names that try to break out of the page. */
static void nasty(void)
{
    static const char *const tries[] = {
        "<script>alert(1)</script>",
        "\"onload=\"alert(1)",
        "a\x01\x1b[31mb",
        "]]><!--",
        "evil \xE2\x80\xAEtxet\xE2\x80\xAC",
        "عمر",
        "年齢",
        "a very long name of a column that does not end for quite some time indeed, and then some"};
    static char          texts[60][20];
    static const char   *all[60];
    static int           members[60][3];
    static kn_column_set minimal[90], maximal[12];
    for (int i = 0; i < 60; i++) {
        snprintf(texts[i], sizeof texts[i], "column %d", i);
        all[i] = i < 8 ? tries[i] : texts[i];
    }
    for (int i = 0; i < 60; i++) {
        members[i][0] = i / 3;
        members[i][1] = 20 + i % 20;
        members[i][2] = 40 + i % 20;
        minimal[i] = (kn_column_set){2 + i % 2, members[i]};
    }
    for (int i = 60; i < 90; i++) minimal[i] = minimal[i - 60];
    for (int i = 0; i < 12; i++) maximal[i] = (kn_column_set){3, members[i * 5]};
    kn_sets_diagnosis s = {.rows = 100000,
                           .maximal_count = 12,
                           .minimal_count = 90,
                           .maximal = maximal,
                           .minimal_violating = minimal,
                           .why_partial = "stopped by the time limit"};
    kn_report_input   in = KN_REPORT_INPUT_INIT;
    in.title = "Report on <b>\"sixty\"</b> & more columns";
    in.over = all;
    in.over_count = 60;
    in.k = 2;
    in.sets = &s;
    write_report("nasty-60", &in);
    /* The first four alone, and only part of the borders: some sets are not known. */
    static int first[] = {0}, second[] = {1, 3}, safe[] = {3};
    minimal[0] = (kn_column_set){1, first};
    minimal[1] = (kn_column_set){2, second};
    maximal[0] = (kn_column_set){1, safe};
    s.minimal_count = 2;
    s.maximal_count = 1;
    in.over_count = 4;
    write_report("nasty-4", &in);
}

static void degenerate(void)
{
    kn_report_input in = start(2, 0);
    kn_diagnosis    empty = {.holds = true};
    in.diagnosis = &empty;
    write_report("empty", &in);
    kn_size_count one[] = {{7, 3, 21}};
    kn_diagnosis  d = {
         .rows = 21, .persons = 21, .classes = 3, .k = 7, .k_after = 7, .holds = true, .size_count = 1, .sizes = one};
    in.diagnosis = &d;
    in.k = 5;
    write_report("one-size", &in);
    kn_size_count two[] = {{1, 1, 1}, {1000000, 3, 3000000}};
    kn_diagnosis  far = {.rows = 3000001,
                         .persons = 3000001,
                         .classes = 4,
                         .k = 1,
                         .unique_rows = 1,
                         .below_rows = 1,
                         .below_classes = 1,
                         .k_after = 1,
                         .size_count = 2,
                         .sizes = two};
    in.diagnosis = &far;
    write_report("far-apart", &in);
}

/* ---- Releases ---- */

enum { MOST_QUASI = 30 };

/* A release of so many columns, all with that many steps, at various levels. */
static void release_sample(const char *name, int quasi, int height, int solutions)
{
    static const char *const long_names[] = {"sex", "age", "race", "marital-status", "education", "native-country"};
    static char              texts[MOST_QUASI][32];
    kn_attribute             declared[MOST_QUASI + 2];
    kn_release_attribute     attributes[MOST_QUASI];
    int                      levels[MOST_QUASI], others[4][MOST_QUASI];
    kn_release_node          nodes[4];
    kn_model                 k = KN_MODEL_INIT, l = KN_MODEL_INIT;
    double                   lattice = 1;
    memset(declared, 0, sizeof declared);
    for (int i = 0; i < quasi; i++) {
        snprintf(texts[i], sizeof texts[i], i < 6 ? "%s" : "%s-%d", long_names[i % 6], i);
        levels[i] = (i * 2 + 1) % (height + 1);
        for (int n = 0; n < 4; n++) others[n][i] = (i + n) % (height + 1);
        attributes[i] = (kn_release_attribute){texts[i], levels[i], height, 0.07 * (i % 14), 0.08, 0.4, 123456.7};
        declared[i].name = texts[i];
        lattice *= height + 1;
    }
    declared[quasi].name = "diagnosis";
    declared[quasi].role = KN_ROLE_SENSITIVE;
    for (int n = 0; n < 4; n++) nodes[n] = (kn_release_node){others[n], 0.3, 12, 40};
    k.k = 5;
    l.kind = KN_MODEL_DISTINCT;
    l.attribute = "diagnosis";
    l.l.numerator = 3;
    kn_model           asked[] = {k, l};
    kn_release_model   models[] = {{k, 5, 1}, {l, 3, 1}};
    kn_release_counter counters[] = {{"nodes_checked", 81}, {"rollups", 12345}};
    kn_size_count      before[] = {{1, 900, 900}, {3, 200, 600}, {12, 100, 1200}, {300, 20, 6000}, {21300, 1, 21300}};
    kn_size_count      after[] = {{5, 10, 50}, {40, 20, 800}, {700, 40, 28000}};
    kn_spec            spec = {.attributes = declared,
                               .attribute_count = quasi + 1,
                               .models = asked,
                               .model_count = 2,
                               .output = "release.csv",
                               .suppression = {5, 100},
                               .keep_rowmap = true};
    kn_release_result  r = {.head.found = true,
                            .head.complete = true,
                            .optimal = true,
                            .rows_in = 30000,
                            .rows = 30000,
                            .head.suppressed = 1150,
                            .head.classes = 70,
                            .head.k = 5,
                            .head.k_before = 1,
                            .lattice = lattice,
                            .level_count = quasi,
                            .levels = levels,
                            .metrics = {0.269634, 0.31, 0.62, 123456.25, 7220555, 5220555, 2.3},
                            .attribute_count = quasi,
                            .attributes = attributes,
                            .head.model_count = 2,
                            .head.models = models,
                            .head.counter_count = 2,
                            .head.counters = counters,
                            .solution_count = solutions,
                            .solutions = nodes,
                            .head.size_count = 3,
                            .head.size_count_before = 5,
                            .head.sizes = after,
                            .head.sizes_before = before,
                            .head.sha256 = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"};
    char               path[1000];
    snprintf(path, sizeof path, "%s/%s.html", folder, name);
    must(kn_release_report_write(ctx, path, &spec, &r, "0.0.0", &err));
}

int main(int argc, char **argv)
{
    static const kn_report_figure risk[] = {
        {"Highest risk", "1 in 1", "Somebody can be found for sure."},
        {"Average risk", "12.4 %", "Of a hundred persons looked for, about twelve would be found."},
        {"Records at risk", "1,204 (4.0 %)", "Their chance of being found is above one in five."}};
    static const kn_report_section sections[] = {{"How likely is it that somebody is found?",
                                                  "Risk, as seen by three kinds of people who might look.", risk, 3}};
    if (argc != 2) {
        fputs("usage: samples FOLDER\n", stderr);
        return 2;
    }
    folder = argv[1];
    must(kn_context_create(&ctx, NULL, &err));
    kn_table *table = generated(30000);
    sample("full", table, 4, 4, 5, KN_SUPPRESS_GIVEN, sections, 1);
    sample("unasked", table, 6, 6, 0, KN_SUPPRESS_NONE, NULL, 0);
    sample("borders-6", table, 6, 6, 2, KN_SUPPRESS_NONE, NULL, 0);
    sample("borders-8", table, 2, 8, 2, KN_SUPPRESS_ASKED, NULL, 0);
    sample("levels-8", table, 8, 8, 3, KN_SUPPRESS_NONE, NULL, 0);
    sample("k-5", table, 5, 5, 0, KN_SUPPRESS_NONE, NULL, 0);
    sample("k-4", table, 0, 4, 0, KN_SUPPRESS_NONE, NULL, 0);
    sample("removal-4", table, 4, 4, 5, KN_SUPPRESS_ASKED, NULL, 0);
    sample("holds", table, 1, 1, 2, KN_SUPPRESS_NONE, NULL, 0);
    /* No crowd is as large as was asked: that k is the top of the staircase. Or everybody is alone. */
    kn_table *few = generated(60);
    sample("unreached", few, 4, 0, 50, KN_SUPPRESS_NONE, NULL, 0);
    sample("unique", few, 8, 0, 5, KN_SUPPRESS_NONE, NULL, 0);
    kn_table_free(few);
    kn_table_free(table);
    nasty();
    degenerate();
    release_sample("release-2", 2, 3, 2);
    release_sample("release-4", 4, 1, 0);
    release_sample("release-3", 3, 3, 4);
    release_sample("release-9", 9, 4, 4);
    release_sample("release-30", 30, 5, 0);
    kn_context_free(ctx);
    return 0;
}
