/* test_report.c: the HTML report: well-formed whatever it is told, escaped, the same bytes every time, no value of the
 * data in it, right figures in its pictures, and clean when memory runs out.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <kanon/report.h>
#include <kanon/table.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "html_check.h"
#include "kn_buffer.h"
#include "kn_html.h"
#include "kn_report.h"
#include "kn_rng.h"

/* The checker itself must be able to say no. */
static void checker_checks(void **state)
{
    (void)state;
    static const char *const wrong[] = {"<a>",           "<a></b>",     "</a>",
                                        "<a b></a>",     "<a b=c></a>", "<a b=\"<\"></a>",
                                        "<a>&nbsp;</a>", "<a>&</a>",    "<a b=\"1\" b=\"2\"></a>",
                                        "<a>\x01</a>",   "<!-- x -->",  "<a",
                                        "<a>< </a>"};
    static const char *const right[] = {"<a></a>", "<a b=\"1\" c=\"&lt;\"/>", "<a><b>x &amp; y</b></a>\n"};
    const char              *where;
    char                     page[200];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(page, sizeof page, "<!DOCTYPE html>\n%s", wrong[i]);
        if (!not_well_formed(page, &where)) fail_msg("taken for right: %s", wrong[i]);
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        snprintf(page, sizeof page, "<!DOCTYPE html>\n%s", right[i]);
        assert_null(not_well_formed(page, &where));
    }
}

/* ---- Rendering ---- */

/* The page as a new string (free it), after the checks that hold for every page. */
static char *render(kn_context *ctx, const kn_report_input *in)
{
    kn_buffer b;
    kn_error  err = KN_ERROR_INIT;
    kn_buffer_init(&b, ctx);
    assert_ok(kn_report_render(&b, in, &err), err);
    const char *text = kn_buffer_text(&b);
    assert_non_null(text);
    assert_int_equal(strlen(text), b.size);
    char *page = strdup(text);
    kn_buffer_free(&b);
    assert_non_null(page);
    check_page(page);
    return page;
}

static const char *const plain_names[] = {"sex", "race", "age", "zip", "school", "work", "town", "car"};

static kn_report_input input_of(const kn_diagnosis *d, int quasi)
{
    kn_report_input in = KN_REPORT_INPUT_INIT;
    in.quasi = plain_names;
    in.quasi_count = quasi;
    in.diagnosis = d;
    return in;
}

/* A diagnosis of given class sizes, as kn_diagnose would make it. */
static kn_diagnosis diagnosis_of(kn_size_count *sizes, int64_t count)
{
    kn_diagnosis d = {.holds = true, .size_count = count, .sizes = sizes};
    for (int64_t i = 0; i < count; i++) {
        sizes[i].rows = sizes[i].size * sizes[i].classes;
        d.rows += sizes[i].rows;
        d.classes += sizes[i].classes;
        if (sizes[i].size == 1) d.unique_rows = sizes[i].rows;
    }
    d.persons = d.rows;
    d.k = d.k_after = count > 0 ? sizes[0].size : 0;
    return d;
}

/* ---- Text ---- */

static void escaping(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
        int         width;
    } cases[] = {{"plain", "plain", 5},
                 {"<script>alert(\"1\" & '2')</script>",
                  "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;", 33},
                 {"a\nb\tc\x01\x1b", "a\\nb\\tc\\x01\\x1B", 15},
                 {"\x7f\xC2\x85\xD8\x9C\xE2\x80\x8F", "\\x7F\\u0085\\u061C\\u200F", 22},
                 {"x\xE2\x80\xAEy\xE2\x81\xA6", "x\\u202Ey\\u2066", 14},
                 {"\xEF\xBB\xBF\xEF\xBF\xBF\xF0\x9F\xBF\xBF", "\\uFEFF\\uFFFF\\U01FFFF", 20},
                 {"\xFF\xC3(\xED\xA0\x80\xE2\x82", "\\xFF\\xC3(\\xED\\xA0\\x80\\xE2\\x82", 29},
                 {"عمر é 年", "عمر é 年", 8}};
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_buffer b;
        kn_buffer_init(&b, ctx);
        kn_html_text(&b, cases[i].text);
        assert_string_equal(kn_buffer_text(&b), cases[i].shown);
        assert_int_equal(kn_html_width(cases[i].text), cases[i].width);
        kn_buffer_free(&b);
    }
    kn_buffer b;
    kn_buffer_init(&b, ctx);
    kn_html_text_fit(&b, "abcdef", 6);
    kn_buffer_char(&b, '|');
    kn_html_text_fit(&b, "<<<<<<<", 3);
    kn_buffer_char(&b, '|');
    kn_html_text_fit(&b, "年年年", 4);
    kn_buffer_char(&b, '|');
    kn_html_text_fit(&b, "WWWW", 5);
    assert_string_equal(kn_buffer_text(&b), "abcdef|&lt;&lt;…|年…|WW…");
    kn_buffer_free(&b);
    testing_context_free(ctx);
}

static void numbers(void **state)
{
    (void)state;
    static const struct {
        int64_t     part, whole;
        const char *shown;
    } shares[] = {{0, 10, "0\u00A0%"},
                  {10, 10, "100\u00A0%"},
                  {0, 0, "0\u00A0%"},
                  {1, 3, "33.3\u00A0%"},
                  {1, 1000, "0.10\u00A0%"},
                  {1, 100, "1.0\u00A0%"},
                  {1, 100001, "&lt;\u00A00.01\u00A0%"},
                  {100000, 100001, "&gt;\u00A099.99\u00A0%"}};
    kn_context *ctx = testing_context(1);
    kn_buffer   b;
    kn_buffer_init(&b, ctx);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        kn_buffer_clear(&b);
        kn_html_share(&b, shares[i].part, shares[i].whole);
        assert_string_equal(kn_buffer_text(&b), shares[i].shown);
    }
    kn_buffer_clear(&b);
    kn_html_integer(&b, INT64_MIN);
    kn_buffer_char(&b, ' ');
    kn_html_integer(&b, 1000);
    kn_buffer_char(&b, ' ');
    kn_html_decimal(&b, -1.25, 1);
    kn_buffer_char(&b, ' ');
    kn_html_decimal(&b, 0.05, 2);
    assert_string_equal(kn_buffer_text(&b), "-9,223,372,036,854,775,808 1,000 -1.3 0.05");
    kn_buffer_free(&b);
    testing_context_free(ctx);
}

/* ---- Words ---- */

static void verdicts(void **state)
{
    (void)state;
    kn_context     *ctx = testing_context(1);
    kn_size_count   sizes[] = {{1, 2, 0}, {3, 1, 0}, {10, 4, 0}};
    kn_diagnosis    d = diagnosis_of(sizes, 3);
    kn_report_input in = input_of(&d, 2);
    char           *page = render(ctx, &in);
    must_hold(page, "2\u00A0rows (4.4\u00A0%) are one of a kind.");
    free(page);
    in.k = 5;
    d.holds = false;
    page = render(ctx, &in);
    must_hold(page, "No: 5\u00A0rows (11.1\u00A0%) stand in crowds smaller than 5.");
    must_hold(page, "verdict risk");
    must_hold(page, "asked: k = 5");
    free(page);
    in.suppress_mode = KN_SUPPRESS_ASKED;
    page = render(ctx, &in);
    must_hold(page, "Not as it is: 5\u00A0rows");
    must_hold(page, "Removing them is enough, and fewer are not.");
    must_hold(page, "remove 5\u00A0rows (11.1\u00A0%)");
    free(page);
    in.k = 50;
    page = render(ctx, &in);
    must_hold(page, "No crowd is that large");
    free(page);
    in.k = 5;
    in.suppress_mode = KN_SUPPRESS_GIVEN;
    d.budget = d.suppressed = 5;
    d.k_after = 10;
    d.holds = true;
    page = render(ctx, &in);
    must_hold(page, "Yes, with some rows removed: everybody left hides among at least 5\u00A0rows.");
    must_hold(page, "at most 1 in 10.");
    free(page);
    in.at_most = true;
    in.entity = "who";
    page = render(ctx, &in);
    must_hold(page, "No: the smallest crowd has 10\u00A0persons, more than 5.");
    free(page);
    testing_context_free(ctx);
}

static void sections(void **state)
{
    (void)state;
    kn_context             *ctx = testing_context(1);
    kn_size_count           sizes[] = {{2, 2, 0}};
    kn_diagnosis            d = diagnosis_of(sizes, 1);
    kn_report_input         in = input_of(&d, 1);
    const kn_report_figure  figures[] = {{"Risk <1>", "12.5 %", "means & says"}, {"Other", "3", NULL}};
    const kn_report_section list[] = {{"More \"figures\"", "An <intro>.", figures, 2}, {"Empty", NULL, NULL, 0}};
    const char *const       inputs[] = {"/home/somebody/secret folder/people.csv", "-", "./a/b\n.csv"};
    in.sections = list;
    in.section_count = 2;
    in.inputs = inputs;
    in.input_count = 3;
    in.version = "9.8.7";
    char *page = render(ctx, &in);
    must_hold(page, "<td>Risk &lt;1&gt;</td><td class=\"r\">12.5 %</td><td class=\"w\">means &amp; says</td>");
    must_hold(page, "<h2>More &quot;figures&quot;</h2>");
    must_hold(page, "An &lt;intro&gt;.");
    must_hold(page, ">people.csv<");
    must_hold(page, "standard input");
    must_hold(page, "b\\n.csv");
    must_hold(page, "kanon 9.8.7");
    assert_null(strstr(page, "somebody/"));
    assert_null(strstr(page, "secret folder"));
    free(page);
    testing_context_free(ctx);
}

static void usage(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_diagnosis      d = {.holds = true};
    kn_sets_diagnosis s = {.complete = true};
    kn_report_input   good = input_of(&d, 1), in[6];
    for (int i = 0; i < 6; i++) in[i] = good;
    in[0].size = 0;
    in[1].diagnosis = NULL;
    in[2].quasi_count = 0;
    in[3].sets = &s; /* without `over` */
    in[4].k = -1;
    for (int i = 0; i < 6; i++) {
        kn_error    err = KN_ERROR_INIT;
        const char *path = testing_file("usage.html", "old", 3);
        kn_status   st = kn_report_write(ctx, path, i == 5 ? NULL : &in[i], &err);
        assert_int_equal(st, KN_USAGE);
        assert_true(err.message[0]);
        char  text[8] = "";
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        assert_int_equal(fread(text, 1, 7, f), 3);
        fclose(f);
        assert_string_equal(text, "old");
    }
    testing_context_free(ctx);
}

/* ---- Nasty names, in every place a name can stand ---- */

static void nasty_names(void **state)
{
    (void)state;
    static const char *const names[] = {"<script>alert(1)</script>",
                                        "\" onload=\"x",
                                        "' & </style></svg></html>",
                                        "\x01\x02\x1b[0m\r\n",
                                        "\xE2\x80\xAE\xD8\xB9\xE2\x80\xAC",
                                        "\xFF\xFE ]]>",
                                        "",
                                        "-->"};
    kn_context              *ctx = testing_context(1);
    static int               columns[] = {0, 1, 2, 3, 4, 5, 6, 7};
    kn_column_set            minimal[] = {{1, columns}, {2, columns + 1}, {3, columns}}, maximal[] = {{1, columns + 1}};
    kn_size_count            sizes[] = {{1, 2, 0}, {3, 1, 0}};
    kn_diagnosis             d = diagnosis_of(sizes, 2);
    for (int n = 3; n <= 8; n++)
        for (int listed = 0; listed < 2; listed++) {
            kn_set_answer     answers[] = {{{1, columns}, 1, 5, 0, NULL}, {{2, columns}, 1, -1, 0, NULL}};
            kn_sets_diagnosis s = {.rows = 5,
                                   .complete = false,
                                   .why_partial = "<cut> & short",
                                   .maximal_count = 1,
                                   .minimal_count = 3,
                                   .maximal = maximal,
                                   .minimal_violating = minimal,
                                   .set_count = listed ? 2 : 0,
                                   .sets = answers};
            kn_report_input   in = KN_REPORT_INPUT_INIT;
            in.title = names[2];
            in.version = names[0];
            in.inputs = names;
            in.input_count = 8;
            in.quasi = in.over = names;
            in.quasi_count = in.over_count = n;
            in.entity = names[1];
            in.k = listed ? 0 : 4;
            in.diagnosis = &d;
            in.sets = &s;
            char *page = render(ctx, &in);
            must_hold(page, "&lt;script&gt;alert(1)&lt;/script&gt;");
            assert_null(strstr(page, "\xE2\x80\xAE"));
            assert_int_equal(occurrences(page, "</html>"), 1);
            assert_int_equal(occurrences(page, "</style>"), 1);
            free(page);
        }
    testing_context_free(ctx);
}

/* ---- Class sizes ---- */

static void degenerate(void **state)
{
    (void)state;
    kn_context     *ctx = testing_context(1);
    kn_diagnosis    empty = diagnosis_of(NULL, 0);
    kn_report_input in = input_of(&empty, 2);
    char           *page = render(ctx, &in);
    must_hold(page, "Undecided: there are no rows to look at.");
    assert_int_equal(occurrences(page, "<svg"), 0);
    free(page);
    empty.dropped = empty.missing_rows = 3;
    in.k = 3;
    in.missing = KN_MISSING_DROP;
    page = render(ctx, &in);
    must_hold(page, "was set aside");
    free(page);

    kn_size_count one[] = {{7, 1, 0}};
    kn_diagnosis  d = diagnosis_of(one, 1);
    in = input_of(&d, 2);
    page = render(ctx, &in);
    must_hold(page, "all classes have the same size");
    must_hold(page, "everybody hides among at least 7\u00A0rows");
    free(page);

    in.missing = KN_MISSING_WILDCARD;
    page = render(ctx, &in);
    must_hold(page, "crowds overlap");
    assert_null(strstr(page, "class=\"curve\""));
    free(page);

    kn_size_count huge[] = {{1, 1, 0}, {INT64_MAX / 4, 1, 0}};
    d = diagnosis_of(huge, 2);
    in = input_of(&d, 2);
    page = render(ctx, &in);
    must_hold(page, "one of a kind");
    free(page);
    testing_context_free(ctx);
}

/* The staircase of a million sizes is thinned, and exact at both ends. */
static void many_sizes(void **state)
{
    (void)state;
    enum { COUNT = 1000000 };
    kn_context    *ctx = testing_context(1);
    kn_size_count *sizes = calloc(COUNT, sizeof *sizes);
    assert_non_null(sizes);
    for (int64_t i = 0; i < COUNT; i++) sizes[i] = (kn_size_count){i + 1, i % 3 + 1, 0};
    kn_diagnosis    d = diagnosis_of(sizes, COUNT);
    kn_report_input in = input_of(&d, 2);
    char           *page = render(ctx, &in);
    assert_true(strlen(page) < 120000);
    const char *curve = strstr(page, "class=\"curve\" d=\"M");
    assert_non_null(curve);
    double x, y;
    int    used = 0;
    assert_int_equal(sscanf(curve, "class=\"curve\" d=\"M%lf %lf%n", &x, &y, &used), 2);
    double      left = x, bottom = y, top = y, right = x;
    const char *p = curve + used;
    int         steps = 0;
    for (; *p == 'H'; steps++, p += used) {
        double nx, ny;
        if (sscanf(p, "H%lfV%lf%n", &nx, &ny, &used) != 2) break;
        assert_true(nx >= right && ny <= top); /* it only goes right and up */
        right = nx;
        top = ny;
    }
    assert_in_range(steps, 50, 1200);
    /* It begins at nothing removed and k = 1, the lower left corner, and ends at the upper edge, k = 1,000,000; the last
     * step is where all but the classes of the largest size are gone. */
    assert_true(bottom == 310 && top == 40);
    char   axis[80];
    double end;
    assert_int_equal(sscanf(p, "H%lf", &end), 1);
    snprintf(axis, sizeof axis, "<line class=\"axis\" x1=\"%g\" y1=\"310\" x2=\"%g\" y2=\"310\"/>", left, end);
    must_hold(page, axis);
    double share = (double)(d.rows - sizes[COUNT - 1].rows) / (double)d.rows;
    assert_true(right > left + (end - left) * share - 0.06 && right < left + (end - left) * share + 0.06);
    free(page);
    free(sizes);
    testing_context_free(ctx);
}

/* Rows to remove and the rows of the bars, on random class sizes, against counting by hand. */
static void random_sizes(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *ctx = testing_context(1);
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < testing_rounds(300); round++) {
        kn_size_count sizes[40];
        int64_t       count = 1 + (int64_t)kn_rng_below(&rng, 40), size = 0;
        for (int64_t i = 0; i < count; i++) {
            size += 1 + (int64_t)kn_rng_below(&rng, (uint64_t)1 << kn_rng_below(&rng, 20));
            sizes[i] = (kn_size_count){size, 1 + (int64_t)kn_rng_below(&rng, 50), 0};
        }
        kn_diagnosis    d = diagnosis_of(sizes, count);
        kn_report_input in = input_of(&d, 3);
        in.k = (int64_t)kn_rng_below(&rng, 3) * (int64_t)(1 + kn_rng_below(&rng, (uint64_t)size + 10));
        in.at_most = in.k > 0 && kn_rng_below(&rng, 4) == 0;
        in.suppress_mode = (kn_suppress_mode)kn_rng_below(&rng, 3);
        in.entity = kn_rng_below(&rng, 4) == 0 ? "who" : NULL;
        if (in.suppress_mode == KN_SUPPRESS_GIVEN) d.budget = (int64_t)kn_rng_below(&rng, (uint64_t)d.rows);
        for (int i = 0; i < 5; i++) {
            int64_t k = 1 + (int64_t)kn_rng_below(&rng, (uint64_t)size + 2), smaller = 0;
            for (int64_t j = 0; j < count; j++) smaller += sizes[j].size < k ? sizes[j].rows : 0;
            assert_int_equal(kn_report_removal(&d, k), smaller == d.rows ? -1 : smaller);
            assert_int_equal(kn_report_removal(&d, k), kn_diagnosis_removal(&d, k, false));
        }
        char *page = render(ctx, &in);
        /* Every bar's title tells its rows; together they are all rows. A bar in two parts tells it twice. */
        int64_t     total = 0;
        const char *last = "", *wide = strstr(page, "<svg class=\"wide\""), *end = strstr(wide, "</svg>");
        for (const char *p = wide; (p = strstr(p, ": ")) && p < end; p++) {
            long long rows = 0;
            for (const char *q = p + 2; (*q >= '0' && *q <= '9') || *q == ','; q++)
                if (*q != ',') rows = rows * 10 + (*q - '0');
            const char *title = p;
            while (title[-1] != '>') title--;
            if (strncmp(title, last, (size_t)(p - title)) != 0) total += rows;
            last = title;
        }
        assert_int_equal(total, d.rows);
        free(page);
    }
    testing_context_free(ctx);
}

/* ---- Attribute sets ---- */

enum { MOST_SETS = 64 };

/* A random antichain of sets and, as a border search would find them, the largest sets that contain none of it. */
typedef struct family {
    int           n;
    uint32_t      minimal[MOST_SETS], maximal[1 << 13];
    int           minimal_count, maximal_count;
    kn_column_set minimal_sets[MOST_SETS], maximal_sets[1 << 13];
    int           members[(MOST_SETS + (1 << 13)) * 13];
    int           used;
} family;

static bool family_breaks(const family *f, uint32_t set)
{
    for (int i = 0; i < f->minimal_count; i++)
        if ((set & f->minimal[i]) == f->minimal[i]) return true;
    return false;
}

static kn_column_set to_columns(family *f, uint32_t set)
{
    kn_column_set out = {0, f->members + f->used};
    for (int c = 0; c < f->n; c++) {
        if (!(set >> c & 1)) continue;
        f->members[f->used++] = c;
        out.count++;
    }
    return out;
}

static void make_family(family *f, kn_rng *rng, int n)
{
    *f = (family){.n = n};
    int tries = (int)kn_rng_below(rng, 12);
    for (int i = 0; i < tries; i++) {
        uint32_t set = (uint32_t)(kn_rng_next(rng) & kn_rng_next(rng)) & (((uint32_t)1 << n) - 1);
        bool     fits = set != 0;
        for (int j = 0; j < f->minimal_count; j++)
            if ((set & f->minimal[j]) == set || (set & f->minimal[j]) == f->minimal[j]) fits = false;
        if (fits) f->minimal[f->minimal_count++] = set;
    }
    for (uint32_t set = 0; set < (uint32_t)1 << n; set++) {
        bool largest = !family_breaks(f, set);
        for (int c = 0; largest && c < n; c++)
            if (!(set >> c & 1) && !family_breaks(f, set | (uint32_t)1 << c)) largest = false;
        if (largest) f->maximal[f->maximal_count++] = set;
    }
    for (int i = 0; i < f->minimal_count; i++) f->minimal_sets[i] = to_columns(f, f->minimal[i]);
    for (int i = 0; i < f->maximal_count; i++) f->maximal_sets[i] = to_columns(f, f->maximal[i]);
}

static const char *const many_names[] = {"c0", "c1", "c2", "c3",  "c4",  "c5", "c6",
                                         "c7", "c8", "c9", "c10", "c11", "c12"};

/* The map, the outlines and the counts per level, against asking every set by itself. */
static void random_borders(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *ctx = testing_context(1);
    family     *f = malloc(sizeof *f);
    assert_non_null(f);
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(150); round++) {
        int n = 1 + (int)kn_rng_below(&rng, 12);
        make_family(f, &rng, n);
        kn_sets_diagnosis s = {.rows = 99,
                               .complete = true,
                               .minimal_count = f->minimal_count,
                               .maximal_count = f->maximal_count,
                               .minimal_violating = f->minimal_sets,
                               .maximal = f->maximal_sets};
        kn_report_input   in = KN_REPORT_INPUT_INIT;
        in.over = many_names;
        in.over_count = n;
        in.k = 4;
        in.sets = &s;
        kn_set_map map;
        kn_error   err = KN_ERROR_INIT;
        assert_ok(kn_set_map_make(&map, ctx, &in, &err), err);
        int borders = 0, safe[14] = {0}, all[14] = {0};
        for (uint32_t set = 0; set < (uint32_t)1 << n; set++) {
            bool breaks = family_breaks(f, set), listed = false;
            assert_int_equal(map.state[set], breaks ? KN_SET_BREAKS : KN_SET_HOLDS);
            for (int i = 0; i < f->minimal_count; i++) listed |= f->minimal[i] == set;
            for (int i = 0; i < f->maximal_count; i++) listed |= f->maximal[i] == set;
            if (set == 0) continue;
            assert_int_equal(kn_set_map_border(&map, set), listed);
            borders += listed;
            safe[__builtin_popcount(set)] += !breaks;
            all[__builtin_popcount(set)]++;
        }
        kn_set_map_free(&map);
        char *page = render(ctx, &in);
        if (n <= KN_REPORT_PICTURE) {
            int times = n <= 5 ? 2 : 1; /* wide and narrow */
            assert_int_equal(occurrences(page, "<g class=\"n"), times * (((int)1 << n) - 1));
            assert_int_equal(occurrences(page, " border\">") + occurrences(page, " border small\">"), times * borders);
            assert_int_equal(occurrences(page, "<line class=\"e\""), times * (n * (1 << (n - 1)) - n));
        } else
            for (int level = 1; level <= n; level++) {
                char text[60];
                snprintf(text, sizeof text, ">%d of %d safe<", safe[level], all[level]);
                must_hold(page, text);
            }
        must_hold(page, f->minimal_count == 0 ? "Yes: whatever of these columns" : "enough to narrow somebody down");
        free(page);
    }
    free(f);
    testing_context_free(ctx);
}

/* Sets listed with their k, cut short at two columns: what is not listed is not known, unless it follows. */
static void listed_sets(void **state)
{
    (void)state;
    static int        columns[] = {0, 1, 2};
    static int        ac[] = {0, 2};
    kn_set_answer     answers[] = {{{1, columns}, 60, 0, 0, NULL},    {{1, columns + 1}, 12, 0, 0, NULL},
                                   {{1, columns + 2}, 7, 0, 0, NULL}, {{2, columns}, 3, 0, 0, NULL},
                                   {{2, ac}, 1, 0, 0, NULL},          {{2, columns + 1}, 2, 0, 0, NULL}};
    kn_sets_diagnosis s = {
        .rows = 99, .set_count = 6, .sets = answers, .complete = false, .why_partial = "sets of at most 2 columns"};
    kn_report_input in = KN_REPORT_INPUT_INIT;
    kn_context     *ctx = testing_context(1);
    kn_set_map      map;
    kn_error        err = KN_ERROR_INIT;
    in.over = plain_names;
    in.over_count = 3;
    in.sets = &s;
    assert_ok(kn_set_map_make(&map, ctx, &in, &err), err);
    static const int steps[] = {-1, 4, 3, 1, 2, 0, 1, -1};
    for (uint32_t set = 1; set < 8; set++) assert_int_equal(kn_set_map_step(&map, set), steps[set]);
    kn_set_map_free(&map);
    char *page = render(ctx, &in);
    must_hold(page, "not known");
    must_hold(page, "sets of at most 2 columns");
    must_hold(page, "sex + age: smallest crowd 1<");
    must_hold(page, "Some combinations of these columns single somebody out.");
    must_hold(page, "<li><bdi class=\"name\">sex</bdi><i>+</i><bdi class=\"name\">age</bdi></li>");
    free(page);
    in.k = 3;
    in.suppress_mode = KN_SUPPRESS_ASKED;
    answers[4].removed = -1;
    answers[5].removed = 5;
    page = render(ctx, &in);
    must_hold(page, "sex + age: rows to remove all<");
    must_hold(page, "race + age: rows to remove 5<");
    must_hold(page, "4 of 6\u00A0combinations of columns hide everybody among at least 3\u00A0rows");
    free(page);
    testing_context_free(ctx);
}

static void wide_table(void **state)
{
    (void)state;
    static char        texts[60][8];
    static const char *names[60];
    static int         members[60];
    kn_column_set      minimal[300], maximal[1];
    kn_context        *ctx = testing_context(1);
    for (int i = 0; i < 60; i++) {
        snprintf(texts[i], sizeof texts[i], "q%d", i);
        names[i] = texts[i];
        members[i] = i;
    }
    for (int i = 0; i < 300; i++) minimal[i] = (kn_column_set){1 + i % 5, members + i % 55};
    maximal[0] = (kn_column_set){60, members};
    kn_sets_diagnosis s = {.rows = 1000,
                           .complete = true,
                           .minimal_count = 300,
                           .maximal_count = 1,
                           .minimal_violating = minimal,
                           .maximal = maximal};
    kn_report_input   in = KN_REPORT_INPUT_INIT;
    in.over = names;
    in.over_count = 60;
    in.k = 2;
    in.sets = &s;
    char *page = render(ctx, &in);
    must_hold(page, "and 240 more");
    must_hold(page, "The columns that occur in most of them");
    assert_null(strstr(page, "<g class=\"n"));
    free(page);
    testing_context_free(ctx);
}

/* ---- From a table ---- */

/* Cells hold words found nowhere else; with as many threads as told, the whole way to the page. */
static char *page_of_table(int threads)
{
    static const char *const names[] = {"town", "job", "age", "pet"};
    char                    *csv = malloc(400000);
    size_t                   size = 0;
    kn_rng                   rng;
    kn_error                 err = KN_ERROR_INIT;
    kn_context              *ctx = testing_context(threads);
    kn_table                *table = NULL;
    kn_diagnosis            *d = NULL;
    kn_sets_diagnosis       *s = NULL;
    assert_non_null(csv);
    kn_rng_init(&rng, 7, 0);
    size += (size_t)sprintf(csv, "town,job,age,pet\n");
    for (int i = 0; i < 5000; i++)
        size += (size_t)sprintf(csv + size, "Zqplanted%d,Xwplanted%d,%d,%s\n", (int)kn_rng_below(&rng, 9),
                                (int)kn_rng_below(&rng, 30), 777000 + (int)kn_rng_below(&rng, 60),
                                kn_rng_below(&rng, 9) ? "Vvplanted" : "");
    const char *path = testing_file("planted.csv", csv, size);
    free(csv);
    kn_csv_options o = KN_CSV_OPTIONS_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, path, &o, &err), err);
    kn_diagnose_options q = KN_DIAGNOSE_OPTIONS_INIT;
    q.quasi = names;
    q.quasi_count = 4;
    q.k = 3;
    assert_ok(kn_diagnose(&d, ctx, table, &q, &err), err);
    kn_sets_options so = KN_SETS_OPTIONS_INIT;
    so.over = names;
    so.over_count = 4;
    so.k = 3;
    assert_ok(kn_diagnose_sets(&s, ctx, table, &so, &err), err);
    kn_report_input in = KN_REPORT_INPUT_INIT;
    in.inputs = &path;
    in.input_count = 1;
    in.quasi = in.over = names;
    in.quasi_count = in.over_count = 4;
    in.k = 3;
    in.diagnosis = d;
    in.sets = s;
    char *page = render(ctx, &in);
    kn_sets_diagnosis_free(s);
    kn_diagnosis_free(d);
    kn_table_free(table);
    testing_context_free(ctx);
    return page;
}

static void same_bytes_no_values(void **state)
{
    (void)state;
    char *one = page_of_table(1), *two = page_of_table(2), *eight = page_of_table(8);
    assert_string_equal(one, two);
    assert_string_equal(one, eight);
    static const char *const planted[] = {"Zqplanted", "Xwplanted", "Vvplanted", "7770", "777,0"};
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) assert_null(strstr(one, planted[i]));
    must_hold(one, ">town<");
    must_hold(one, "rows have at least one missing cell");
    free(one);
    free(two);
    free(eight);
}

/* ---- Memory ---- */

static void memory_runs_out(void **state)
{
    (void)state;
    static int        columns[] = {0, 1, 2, 3, 4, 5, 6};
    kn_column_set     minimal[] = {{1, columns}, {2, columns + 1}, {3, columns + 3}}, maximal[] = {{1, columns + 1}};
    kn_sets_diagnosis s = {.rows = 5,
                           .complete = true,
                           .minimal_count = 3,
                           .maximal_count = 1,
                           .minimal_violating = minimal,
                           .maximal = maximal};
    kn_size_count     sizes[] = {{1, 2, 0}, {3, 1, 0}};
    kn_diagnosis      d = diagnosis_of(sizes, 2);
    kn_report_input   in = input_of(&d, 3);
    in.over = plain_names;
    in.over_count = 7;
    in.k = 2;
    in.sets = &s;
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
            st = kn_report_write(ctx, path, &in, &err);
            kn_context_free(ctx);
        }
        assert_true(st == KN_OK || st == KN_MEMORY);
        assert_int_equal(counts.live, 0);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        char first[16] = "";
        assert_true(fread(first, 1, 15, f) > 0);
        fclose(f);
        assert_string_equal(first, st == KN_OK ? "<!DOCTYPE html>" : "old");
    }
    assert_true(refused > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checker_checks),  cmocka_unit_test(escaping),
        cmocka_unit_test(numbers),         cmocka_unit_test(verdicts),
        cmocka_unit_test(sections),        cmocka_unit_test(usage),
        cmocka_unit_test(nasty_names),     cmocka_unit_test(degenerate),
        cmocka_unit_test(many_sizes),      cmocka_unit_test(random_sizes),
        cmocka_unit_test(random_borders),  cmocka_unit_test(listed_sets),
        cmocka_unit_test(wide_table),      cmocka_unit_test(same_bytes_no_values),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
