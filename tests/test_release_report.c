/* test_release_report.c: the page of a release: well-formed whatever it is told, escaped, the same bytes whatever the run took,
 * right figures in words, tables and pictures, and clean when memory runs out.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <kanon/report.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "html_check.h"
#include "kn_buffer.h"
#include "kn_example.h"
#include "kn_release_distributions.h"
#include "kn_release_report.h"
#include "kn_rng.h"

enum { MOST = 40 };

/* A spec and a result with room for all they point to. */
typedef struct sample {
    kn_spec              spec;
    kn_release_result    result;
    kn_attribute         declared[MOST + 4];
    kn_release_attribute attributes[MOST];
    kn_model             models[4];
    kn_release_model     reached[4];
    kn_release_counter   counters[4];
    kn_release_node      solutions[8];
    int                  levels[MOST], solution_levels[8][MOST];
    kn_size_count        sizes[8], before[8];
    char                 names[MOST][16];
    const char          *dropped[2];
} sample;

static void add_column(sample *s, const char *name, kn_role role)
{
    s->declared[s->spec.attribute_count++] = (kn_attribute){.name = name, .role = role, .has_role = true};
}

/* `n` quasi-identifiers of that height at that level; 5-anonymous and 3-diverse, from classes 1 × 4, 3 × 2 and 10 × 3 rows to
 * 5 × 2 and 28. */
static sample *new_sample(int n, int height, int level)
{
    sample *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->spec.attributes = s->declared;
    s->spec.models = s->models;
    s->spec.output = "some/folder/release.csv";
    s->spec.suppression = (kn_fraction){5, 100};
    s->spec.csv = (kn_csv_options)KN_CSV_OPTIONS_INIT;
    s->result =
        (kn_release_result){.head.found = true, .head.complete = true, .optimal = true, .lattice = pow(height + 1, n)};
    for (int i = 0; i < n; i++) {
        snprintf(s->names[i], sizeof s->names[i], "q%d", i);
        s->attributes[i] = (kn_release_attribute){s->names[i], level, height, 0.25, 0.3125, 0.5, 1234.4};
        s->levels[i] = level;
        add_column(s, s->names[i], KN_ROLE_QUASI);
    }
    add_column(s, "diagnosis", KN_ROLE_SENSITIVE);
    add_column(s, "patient name", KN_ROLE_IDENTIFIER);
    s->models[0] = (kn_model){.kind = KN_MODEL_K, .k = 5, .l = {0, 1}, .c = {0, 1}, .bound = {0, 1}, .low = {0, 1}};
    s->models[1] = s->models[0];
    s->models[1].kind = KN_MODEL_DISTINCT;
    s->models[1].attribute = "diagnosis";
    s->models[1].l = (kn_ratio){3, 1};
    s->spec.model_count = 2;
    s->reached[0] = (kn_release_model){s->models[0], 5, 1};
    s->reached[1] = (kn_release_model){s->models[1], 3, 1};
    s->counters[0] = (kn_release_counter){"nodes_checked", 17};
    s->counters[1] = (kn_release_counter){"search_seconds", 0.25};
    s->before[0] = (kn_size_count){1, 4, 4};
    s->before[1] = (kn_size_count){3, 2, 6};
    s->before[2] = (kn_size_count){10, 3, 30};
    s->sizes[0] = (kn_size_count){5, 2, 10};
    s->sizes[1] = (kn_size_count){28, 1, 28};
    kn_release_result *r = &s->result;
    r->rows_in = 40;
    r->rows = 40;
    r->head.suppressed = 2;
    r->head.classes = 3;
    r->head.k = 5;
    r->head.k_before = 1;
    r->level_count = r->attribute_count = n;
    r->levels = s->levels;
    r->attributes = s->attributes;
    r->head.model_count = 2;
    r->head.models = s->reached;
    r->head.counter_count = 2;
    r->head.counters = s->counters;
    r->head.size_count = 2;
    r->head.sizes = s->sizes;
    r->head.size_count_before = 3;
    r->head.sizes_before = s->before;
    for (int i = 0; i < KN_METRICS; i++) r->metrics[i] = 0.125 * (i + 1);
    r->metrics[KN_METRIC_DM] = 964;
    strcpy(r->head.sha256, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
    return s;
}

/* The page as a new string (free it), after the checks that hold for every page. */
static char *render(const sample *s)
{
    kn_context *ctx = testing_context(1);
    kn_buffer   b;
    kn_error    err = KN_ERROR_INIT;
    kn_buffer_init(&b, ctx);
    assert_ok(kn_release_report_render(&b, &s->spec, &s->result, "9.8.7", &err), err);
    const char *text = kn_buffer_text(&b);
    assert_non_null(text);
    char *page = strdup(text);
    assert_non_null(page);
    kn_buffer_free(&b);
    testing_context_free(ctx);
    check_page(page);
    return page;
}

static void must_lack(const char *page, const char *part)
{
    if (strstr(page, part)) fail_msg("the page holds: %s", part);
}

/* ---- Words and tables ---- */

static void figures(void **state)
{
    (void)state;
    sample *s = new_sample(2, 2, 1);
    char   *page = render(s);
    must_hold(page, "Everybody hides among at least 5\u00A0rows.");
    must_hold(page, "at most 1 in 5; in the original it was 1 in 1.");
    must_hold(page, "2\u00A0rows (5.0\u00A0%) stood out too much and were suppressed.");
    must_hold(page, "No other choice of levels loses less by the metric lm.");
    must_hold(page, "<td>k</td><td>k = 5</td><td class=\"r\">1</td><td class=\"r\">5</td>");
    must_hold(page, "l-diversity, distinct of <bdi class=\"name\">diagnosis</bdi></td><td>l = 3</td>");
    must_hold(page, "at most 5\u00A0%.");
    /* 9 classes of 40 rows; 3 of 38. 10 of 40 rows below 5. */
    must_hold(page, "<td>Average risk</td><td class=\"r\">22.5\u00A0%</td><td class=\"r\">7.9\u00A0%</td>");
    must_hold(page, "<td>Highest risk</td><td class=\"r\">100\u00A0%</td><td class=\"r\">20.0\u00A0%</td>");
    must_hold(page,
              "<td>Rows in classes smaller than 5</td><td class=\"r\">25.0\u00A0%</td><td class=\"r\">0\u00A0%</td>");
    must_hold(page, "<td>Rows that stand alone</td><td class=\"r\">10.0\u00A0%</td>");
    must_hold(page, "<td><bdi class=\"name\">q1</bdi></td><td class=\"r\">1 of 2</td><td class=\"r\">0.2500</td><td "
                    "class=\"r\">0.3125</td><td class=\"r\">0.5000</td><td class=\"r\">1,234</td>");
    must_hold(page, "<td>dm</td><td class=\"r\">964</td>");
    must_hold(page, "<td>lm</td><td class=\"r\">0.1250</td>");
    must_hold(page, "<td>nodes_checked</td><td class=\"r\">17</td>");
    must_hold(page, "<bdi class=\"name\">patient name</bdi></td><td>identifier</td><td class=\"w\">Left out.");
    must_hold(page, "release.csv.certificate.json");
    must_hold(page, "release.csv.private.json");
    must_hold(page, s->result.head.sha256);
    must_hold(page, "kanon 9.8.7");
    must_lack(page, "some/folder");
    must_lack(page, "search_seconds");
    must_lack(page, "rowmap");
    free(page);
    free(s);
}

static void rules(void **state)
{
    (void)state;
    sample *s = new_sample(2, 2, 1);
    s->declared[3].pseudonym_key_file = "secret/key";
    s->spec.keep_order = s->spec.keep_rowmap = true;
    s->spec.entity = "patient name";
    s->spec.suppressed = KN_SUPPRESSED_DROP;
    s->spec.missing = KN_MISSING_DROP;
    s->spec.suppression_is_count = true;
    s->spec.suppression_rows = 1234;
    s->result.missing_dropped = 3;
    s->result.average_suppressed = 1;
    s->result.head.complete = s->result.optimal = false;
    s->dropped[0] = "shoe size";
    s->result.head.dropped = s->dropped;
    s->result.head.dropped_count = 1;
    static const char *const notes[] = {"secret/key: others may read this key"};
    s->result.head.notes = notes;
    s->result.head.note_count = 1;
    s->result.missing_cells = 7;
    char *page = render(s);
    must_hold(page, "7\u00A0cells of the quasi-identifiers are missing in the original.");
    must_hold(page, "at least 5\u00A0persons");
    must_hold(page, "They are left out of the release.");
    must_hold(page, "As in the original.");
    must_hold(page, "<dt>Pseudonyms</dt>");
    must_hold(page, "release.csv.rowmap");
    must_hold(page, "3\u00A0rows were left out for a missing quasi-identifier.");
    must_hold(page, "average risk down");
    must_hold(page, "The time limit ended the search");
    must_hold(page, "Not declared, left out: <bdi class=\"name\">shoe size</bdi>");
    must_hold(page, "at most 1,234\u00A0rows.");
    must_hold(page, "<li>secret/key: others may read this key</li>"); /* the page is the owner's */
    free(page);
    free(s);
}

static void no_release(void **state)
{
    (void)state;
    sample *s = new_sample(3, 2, 1);
    s->result.head.found = false;
    s->result.head.reason = "Even with every column at its highest level, 7 rows stand in classes smaller than 5.";
    s->result.level_count = 0;
    char *page = render(s);
    must_hold(page, "No: there is no release that keeps what was asked.");
    must_hold(page, s->result.head.reason);
    must_hold(page, "verdict risk");
    must_lack(page, "certificate");
    must_lack(page, "The level of each column");
    s->result.head.complete = false;
    s->result.head.reason = NULL;
    free(page);
    page = render(s);
    must_hold(page, "None was found within the time limit.");
    free(page);
    free(s);
}

static void every_model(void **state)
{
    (void)state;
    for (int kind = 0; kind < KN_MODEL_KINDS; kind++) {
        sample *s = new_sample(1, 1, 0);
        s->reached[0].model = s->models[0] = (kn_model){(kn_model_kind)kind,
                                                        kind > 0 && kind < KN_MODEL_K_MAP ? "a" : NULL,
                                                        7,
                                                        {5, 2},
                                                        {3, 1},
                                                        {15, 100},
                                                        {1, 100}};
        s->reached[0].reached = INFINITY;
        s->reached[0].original = NAN;
        char *page = render(s);
        must_hold(page, kn_model_name((kn_model_kind)kind));
        must_hold(page, kind == KN_MODEL_K || kind == KN_MODEL_K_MAP ? "k = 7"
                        : kind <= KN_MODEL_RECURSIVE                 ? "l = 2.5"
                                                                     : " = 0.15");
        must_hold(page, "no bound");
        must_hold(page, "<td class=\"r\">–</td>"); /* not known of the original */
        free(page);
        free(s);
    }
}

/* ---- The lattice ---- */

/* 3 × 3 nodes, all drawn: 9 boxes, 12 lines, the chosen one marked, one solution beside it. */
static void small_lattice(void **state)
{
    (void)state;
    sample *s = new_sample(2, 2, 1);
    s->solution_levels[0][0] = 2;
    s->solution_levels[1][0] = s->solution_levels[1][1] = 1;
    s->solutions[0] = (kn_release_node){s->solution_levels[0], 0.5, 1, 4};
    s->solutions[1] = (kn_release_node){s->solution_levels[1], 0.25, 2, 3};
    s->result.solutions = s->solutions;
    s->result.solution_count = 2;
    char *page = render(s);
    assert_int_equal(occurrences(page, "<g class=\"n"), 9);
    assert_int_equal(occurrences(page, "<line class=\"e\""), 12);
    assert_int_equal(occurrences(page, "<g class=\"n border\"><title>q0 1, q1 1</title>"), 1);
    assert_int_equal(occurrences(page, "<g class=\"n\"><title>"), 4); /* the other solution, three coarser ones */
    assert_int_equal(occurrences(page, "<g class=\"n u\">"), 4);
    must_hold(page, "one of 9 choices; 2\u00A0choices keep the promises");
    must_hold(page, "keeps the promises too");
    free(page);
    free(s);
}

static void large_lattices(void **state)
{
    (void)state;
    /* 2^9 nodes: binomial numbers by height. */
    sample *s = new_sample(9, 1, 0);
    s->levels[2] = s->levels[5] = s->levels[7] = 1;
    s->result.solutions = s->solutions;
    s->result.solution_count = 1;
    s->solutions[0] = (kn_release_node){s->levels, 0.5, 1, 4};
    char *page = render(s);
    must_lack(page, "<g class=\"n");
    must_hold(page, ">126</text>");
    must_hold(page, ">84 · 1 minimal · chosen</text>");
    must_hold(page, "one of 512 choices");
    free(page);
    free(s);
    /* 30 columns of 5 levels: 9.3e20 nodes, 121 heights. */
    s = new_sample(30, 4, 2);
    page = render(s);
    must_hold(page, "one of 9.313e20 choices");
    must_hold(page, "· chosen</text>");
    must_hold(page, ">60–64</text>");
    assert_int_equal(occurrences(page, "· chosen"), 2); /* wide and narrow */
    free(page);
    free(s);
}

/* The numbers of nodes by height add up, whatever the heights. */
static void random_lattices(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < testing_rounds(60); round++) {
        sample *s = new_sample(1 + (int)kn_rng_below(&rng, 8), 1, 0);
        int     nodes = 1;
        for (int i = 0; i < s->result.attribute_count; i++) {
            s->attributes[i].height = 1 + (int)kn_rng_below(&rng, 4);
            s->attributes[i].level = s->levels[i] = (int)kn_rng_below(&rng, (uint64_t)s->attributes[i].height + 1);
            nodes *= s->attributes[i].height + 1;
        }
        s->result.lattice = nodes;
        char *page = render(s), *bars = strstr(page, "Choices of levels by height");
        int   boxes = occurrences(page, "<g class=\"n");
        if (boxes > 0) {
            assert_int_equal(boxes, nodes);
            assert_int_equal(occurrences(page, "<g class=\"n border\">"), 1);
        } else {
            int sum = 0;
            assert_non_null(bars);
            char *end = strstr(bars, "</svg>");
            for (char *p = bars; (p = strstr(p, "x=\"530\"")) && p < end; p++) {
                int number = 0; /* the heading is no number */
                for (char *d = strchr(p, '>') + 1; (*d >= '0' && *d <= '9') || *d == ','; d++)
                    if (*d != ',') number = number * 10 + *d - '0';
                sum += number;
            }
            assert_int_equal(sum, nodes);
        }
        free(page);
        free(s);
    }
}

static void odd_results(void **state)
{
    (void)state;
    sample *s = new_sample(2, 2, 1);
    /* No levels, no classes, no sizes: everything was suppressed. */
    s->result.level_count = 0;
    s->attributes[0].level = s->attributes[0].height = -1;
    s->attributes[0].entropy = NAN;
    s->result.head.classes = 0;
    s->result.head.size_count = s->result.head.size_count_before = 0;
    s->result.head.counter_count = 0;
    s->spec.output = "-";
    for (int i = 0; i < KN_METRICS; i++) s->result.metrics[i] = i % 2 ? NAN : 1e30;
    char *page = render(s);
    must_hold(page, "Nobody can be found");
    must_lack(page, "The level of each column");
    must_lack(page, "certificate");
    free(page);
    free(s);
    s = new_sample(1, 255, 200);
    s->before[2] = (kn_size_count){INT64_MAX / 4, 1, INT64_MAX / 4};
    free(render(s));
    free(s);
    s = new_sample(MOST, 255, 255); /* too high to be summed up */
    page = render(s);
    must_lack(page, "by height");
    free(page);
    free(s);
}

static void nasty_names(void **state)
{
    (void)state;
    static const char *const names[] = {"<script>alert(1)</script>", "\" onload=\"x", "' & </style></svg></html>",
                                        "\x01\x02\x1b[0m\r\n",       "\xFF\xFE ]]>",  ""};
    sample                  *s = new_sample(6, 1, 1);
    for (int i = 0; i < 6; i++) s->attributes[i].name = s->declared[i].name = names[i];
    s->declared[6].name = s->models[1].attribute = s->reached[1].model.attribute = names[0];
    s->spec.entity = names[1];
    s->spec.output = "a/<b>&\".csv";
    s->dropped[0] = names[2];
    s->result.head.dropped = s->dropped;
    s->result.head.dropped_count = 1;
    s->result.head.reason = names[0];
    free(render(s));
    s->result.head.found = false;
    free(render(s));
    free(s);
}

/* ---- Columns before and after ---- */

enum { MOST_BARS = 27 };

typedef struct columns {
    kn_release_bar           bars[8][MOST_BARS];
    kn_release_distribution  list[70];
    kn_release_distributions all;
} columns;

static const char *const labels[] = {"<script>alert(1)</script>",
                                     "\" onload=\"x",
                                     "' & </style></svg></html>",
                                     "\x01\x02\x1b[0m\r\n",
                                     "\xFF\xFE ]]>",
                                     "",
                                     "evil \xE2\x80\xAEtxet\xE2\x80\xAC",
                                     "a value that does not end for quite some time indeed, and then some more of it"};

/* A column of values, all nasty, with others and a star; one of numbers with every kind of bar. */
static void add_columns(sample *s, columns *c)
{
    *c = (columns){.all = {.count = 2, .list = c->list, .stars = 3, .left_out = "Pseudonyms are <not> drawn."}};
    for (int i = 0; i < 8; i++) c->bars[0][i] = (kn_release_bar){KN_BAR_VALUE, labels[i], 100 - i, 90};
    c->bars[0][8] = (kn_release_bar){KN_BAR_OTHERS, NULL, 200, 0.5};
    c->bars[0][9] = (kn_release_bar){KN_BAR_STAR, NULL, 0, 251.5};
    c->list[0] = (kn_release_distribution){.name = "city",
                                           .role = KN_ROLE_QUASI,
                                           .values = 30,
                                           .folded = 22,
                                           .before = 972,
                                           .after = 972,
                                           .distance = 0.25};
    c->list[0].bar_count = 10;
    c->list[0].bars = c->bars[0];
    c->bars[1][0] = (kn_release_bar){KN_BAR_RANGE, "-5 to -1", 1, 0};
    c->bars[1][1] = (kn_release_bar){KN_BAR_RANGE, "0–4", 3, 2};
    c->bars[1][2] = (kn_release_bar){KN_BAR_ABSENT, NULL, 0, 1};
    c->bars[1][3] = (kn_release_bar){KN_BAR_MISSING, NULL, 4, 4};
    c->bars[1][4] = (kn_release_bar){KN_BAR_STAR, NULL, 0, 1};
    c->list[1] = (kn_release_distribution){
        .table = "<t>", .name = "<i>&", .role = KN_ROLE_KEEP, .ordered = true, .values = 40, .before = 8, .after = 8};
    c->list[1].distance = 0.25;
    c->list[1].bar_count = 5;
    c->list[1].bars = c->bars[1];
    s->result.head.distributions = &c->all;
}

static void columns_before_and_after(void **state)
{
    (void)state;
    sample *s = new_sample(2, 2, 1);
    columns c;
    char   *page = render(s);
    must_lack(page, "Each column before and after");
    must_hold(page, "no value from the data");
    free(page);
    add_columns(s, &c);
    page = render(s);
    must_hold(page, "<h2>Each column before and after</h2>");
    must_hold(page, "<td><bdi class=\"name\">city</bdi></td><td class=\"r\">25.0\u00A0%</td><td>quasi-identifier</td>"
                    "<td class=\"r\">30</td>");
    must_hold(page, "<bdi class=\"name\">&lt;t&gt;</bdi>.<bdi class=\"name\">&lt;i&gt;&amp;</bdi>");
    must_hold(page, "The 8 most frequent of 30\u00A0values; 22\u00A0are folded into “others”, which has no bar.");
    must_hold(page, "<title>&lt;script&gt;alert(1)&lt;/script&gt;: before 10.3\u00A0%, after 9.3\u00A0%</title>");
    must_hold(page, "<bdi class=\"name\">0–4</bdi></td><td class=\"r\">3</td><td class=\"r\">37.5\u00A0%</td>"
                    "<td class=\"r\">2</td><td class=\"r\">25.0\u00A0%</td>");
    must_hold(page, "<bdi class=\"name\">22 others</bdi></td><td class=\"r\">200</td>");
    must_hold(page, "Pseudonyms are &lt;not&gt; drawn.");
    must_hold(page, "This page shows values of the original");
    must_lack(page, "no value from the data");
    free(page);
    /* Nothing is left, nothing was there, one value, and more columns than are drawn. */
    c.list[0].after = 0;
    c.list[0].distance = NAN;
    c.list[1].bar_count = 0;
    for (int i = 2; i < 70; i++) {
        c.list[i] = c.list[1];
        c.list[i].bar_count = i % 6;
        c.list[i].ordered = i % 2 == 0;
    }
    c.all.count = 70;
    page = render(s);
    must_hold(page, "nothing is left");
    must_hold(page, "The first 60\u00A0columns are drawn");
    free(page);
    s->result.head.found = false;
    page = render(s);
    must_lack(page, "Each column before and after");
    must_lack(page, "shows values");
    free(page);
    free(s);
}

/* ---- The file ---- */

static void same_bytes(void **state)
{
    (void)state;
    sample *s = new_sample(3, 2, 1);
    char   *one = render(s);
    s->result.head.seconds_read = 1;
    s->result.head.seconds_search = 2;
    s->counters[1].value = 99;
    s->spec.seed = 77;
    s->spec.seeded = true;
    char *two = render(s);
    assert_string_equal(one, two);
    free(one);
    free(two);
    free(s);
}

static void memory_runs_out(void **state)
{
    (void)state;
    sample *s = new_sample(3, 2, 1);
    columns c;
    add_columns(s, &c);
    const char *path = testing_file("failing.html", "old", 3);
    kn_status   st = KN_MEMORY;
    int64_t     refused = 0;
    for (; st != KN_OK; refused++) {
        assert_true(refused < 2000);
        testing_allocator counts = {.refuse_at = refused};
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        st = testing_refusing_context(&ctx, &counts, 1, &err);
        if (st == KN_OK) {
            st = kn_release_report_write(ctx, path, &s->spec, &s->result, NULL, &err);
            assert_int_equal(kn_release_report_write(ctx, path, NULL, &s->result, NULL, NULL), KN_USAGE);
            kn_context_free(ctx);
        }
        assert_true(st == KN_OK || st == KN_MEMORY);
        assert_int_equal(counts.live, 0);
        FILE *f = fopen(path, "r");
        char  first[16] = "";
        assert_non_null(f);
        assert_true(fread(first, 1, 15, f) > 0);
        fclose(f);
        assert_string_equal(first, st == KN_OK ? "<!DOCTYPE html>" : "old");
    }
    assert_true(refused > 3);
    free(s);
}

/* An example, "" where there is none. */
static void must_show(const kn_hierarchy_spec *h, int level, const char *expected)
{
    kn_context *ctx = testing_context(1);
    kn_buffer   text;
    kn_buffer_init(&text, ctx);
    bool shown = kn_example(&text, h, level);
    assert_string_equal(kn_buffer_text(&text), expected);
    assert_int_equal(shown, *expected != 0);
    kn_buffer_free(&text);
    testing_context_free(ctx);
}

static void examples(void **state)
{
    (void)state;
    static const char *const widths[] = {"5", "10", "20"}, *const parts[] = {"0.5"};
    kn_hierarchy_spec h = {.kind = KN_HIERARCHY_RANGES, .widths = widths, .width_count = 3};
    must_show(&h, 0, "");
    must_show(&h, 2, "<code>47 → [40, 49]</code>");
    must_show(&h, 4, "<code>47 → *</code>");
    must_show(&h, -1, "<code>47 → [45, 49] → [40, 49] → [40, 59] → *</code>");
    h.origin = "3";
    must_show(&h, 2, "<code>47 → [43, 52]</code>");
    h.origin = "50";
    must_show(&h, 1, "<code>47 → [45, 49]</code>");
    h.origin = "53";
    must_show(&h, 2, "<code>47 → [43, 52]</code>");
    h = (kn_hierarchy_spec){.kind = KN_HIERARCHY_RANGES, .widths = parts, .width_count = 1};
    must_show(&h, -1, "");
    h = (kn_hierarchy_spec){.kind = KN_HIERARCHY_MASK};
    must_show(&h, 2, "<code>20103 → 201**</code>");
    h = (kn_hierarchy_spec){.kind = KN_HIERARCHY_MASK, .mask_left = true, .mask_step = 2, .mask = "x"};
    must_show(&h, -1, "<code>20103 → xx103 → xxxx3 → xxxxx</code>");
    h = (kn_hierarchy_spec){.kind = KN_HIERARCHY_CALENDAR, .calendar = 1u << 3 | 1u << 4};
    must_show(&h, -1, "<code>2024-03-05 → 2024 → [2020-01-01, 2029-12-31] → *</code>");
    h.calendar = 0;
    must_show(&h, 2, "<code>2024-03-05 → 2024-Q1</code>");
    h.calendar = 1;
    must_show(&h, -1, "");
    h = (kn_hierarchy_spec){.kind = KN_HIERARCHY_SUPPRESS};
    must_show(&h, 1, "<code>F → *</code>");
    h = (kn_hierarchy_spec){.kind = KN_HIERARCHY_FILE, .path = "place.csv"};
    must_show(&h, -1, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),
        cmocka_unit_test(figures),
        cmocka_unit_test(rules),
        cmocka_unit_test(no_release),
        cmocka_unit_test(every_model),
        cmocka_unit_test(small_lattice),
        cmocka_unit_test(large_lattices),
        cmocka_unit_test(random_lattices),
        cmocka_unit_test(odd_results),
        cmocka_unit_test(nasty_names),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(columns_before_and_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
