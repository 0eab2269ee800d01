/* test_generate.c: synthetic tables: same seed same bytes, distributions, persons, missing cells, failures. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <dirent.h>
#include <kanon/generate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kn_choice.h"

enum { KINDS = 6, MAX_COLUMNS = 16 };

/* ---- Helpers: a table as lines and cells ---- */

typedef struct text_table {
    char   *data; /* cells are cut with NUL */
    size_t  size;
    int64_t rows; /* without the header */
    int     columns;
    char  **cells; /* (rows + 1) × columns, the header first */
} text_table;

static char *generate(const kn_generate_options *options, int threads, size_t *size)
{
    kn_context *ctx = testing_context(threads);
    kn_error    err = KN_ERROR_INIT;
    const char *path = testing_file("generated.csv", "", 0);
    assert_ok(kn_generate_csv(ctx, path, options, &err), err);
    testing_context_free(ctx);
    return testing_contents(path, size);
}

static kn_generate_options options_of(kn_generate_kind kind, int64_t rows, uint64_t seed)
{
    kn_generate_options o = KN_GENERATE_OPTIONS_INIT;
    o.kind = kind;
    o.rows = rows;
    o.seed = seed;
    return o;
}

/* No cell has quotes: cutting at delimiters is all there is to do. */
static text_table cut(char *data, size_t size, char delimiter)
{
    text_table t = {.data = data, .size = size, .columns = 1};
    int64_t    lines = 0;
    for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
    for (size_t i = 0; data[i] != '\n'; i++) t.columns += data[i] == delimiter;
    t.rows = lines - 1;
    t.cells = malloc((size_t)(lines * t.columns) * sizeof *t.cells);
    assert_non_null(t.cells);
    int64_t cell = 0;
    t.cells[cell++] = data;
    for (size_t i = 0; i < size; i++) {
        assert_int_not_equal(data[i], '"');
        if (data[i] != delimiter && data[i] != '\n') continue;
        if (data[i] == '\n') assert_int_equal(cell % t.columns, 0);
        data[i] = '\0';
        if (i + 1 < size) t.cells[cell++] = data + i + 1;
    }
    assert_int_equal(cell, lines * t.columns);
    return t;
}

static text_table generate_table(const kn_generate_options *options)
{
    size_t size;
    char  *data = generate(options, 2, &size);
    return cut(data, size, options->delimiter);
}

static void table_free(text_table *t)
{
    free(t->cells);
    free(t->data);
}

static int column(const text_table *t, const char *name)
{
    for (int c = 0; c < t->columns; c++)
        if (strcmp(t->cells[c], name) == 0) return c;
    fail_msg("no column %s", name);
    return -1;
}

static const char *cell(const text_table *t, int64_t row, int c)
{
    return t->cells[(row + 1) * t->columns + c];
}

/* Share of the rows with `value` in a column, among those with `given` in another (NULL: among all). */
static double share(const text_table *t, const char *name, const char *value, const char *other, const char *given)
{
    int     c = column(t, name), o = given ? column(t, other) : 0;
    int64_t among = 0, found = 0;
    for (int64_t i = 0; i < t->rows; i++) {
        if (given && strcmp(cell(t, i, o), given) != 0) continue;
        among++;
        found += strcmp(cell(t, i, c), value) == 0;
    }
    assert_true(among > 0);
    return (double)found / (double)among;
}

static void assert_between(double low, double value, double high, const char *what)
{
    if (!(value >= low && value <= high)) fail_msg("%s: %g is not within %g .. %g", what, value, low, high);
}

/* ---- Choices ---- */

static void choices_have_exactly_their_weights(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < testing_rounds(2000); round++) {
        uint32_t  weights[KN_CHOICE_MAX];
        kn_choice slots[KN_CHOICE_MAX];
        int       count = 1 + (int)kn_rng_below(&rng, KN_CHOICE_MAX);
        double    total = 0, mass[KN_CHOICE_MAX] = {0};
        for (int i = 0; i < count; i++) {
            weights[i] = kn_rng_below(&rng, 3) ? (uint32_t)kn_rng_below(&rng, 1 << kn_rng_below(&rng, 24)) : 0;
            total += weights[i];
        }
        if (total == 0) total = weights[0] = 1;
        kn_choice_init(slots, weights, count);
        for (int i = 0; i < count; i++) {
            double own = (double)slots[i].threshold / 4294967296.0;
            mass[i] += own / count;
            mass[slots[i].other] += (1 - own) / count;
            assert_true(weights[i] > 0 || slots[i].threshold == 0);
            assert_true(weights[slots[i].other] > 0);
        }
        for (int i = 0; i < count; i++) assert_between(-1e-9, mass[i] - weights[i] / total, 1e-9, "mass");
    }
}

/* Σ (observed - expected)² / expected stays below its mean by six of its deviations, for a random seed. */
static void draws_follow_the_weights(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    uint32_t  weights[5] = {1, 2, 0, 30, 67};
    kn_choice slots[5];
    int       seen[5] = {0};
    kn_choice_init(slots, weights, 5);
    for (int i = 0; i < 100000; i++) seen[kn_choice_draw(slots, 5, &rng)]++;
    assert_int_equal(seen[2], 0);
    double chi = 0;
    for (int i = 0; i < 5; i++)
        if (weights[i])
            chi += (seen[i] - 1000.0 * weights[i]) * (seen[i] - 1000.0 * weights[i]) / (1000.0 * weights[i]);
    assert_between(0, chi, 3 + 12 * sqrt(6), "chi-square");
}

/* ---- Reproducibility ---- */

/* Options of many shapes. */
static kn_generate_options shape(int i, int64_t rows)
{
    kn_generate_options o = options_of((kn_generate_kind)(i % KINDS), rows, 40 + (uint64_t)i);
    o.id = i & 1;
    if (i >= 4) o.entities = 700;
    if (o.kind != KN_GENERATE_UNIFORM && o.kind != KN_GENERATE_NORMAL) o.missing = i >= 4 ? 0.1 : 0;
    o.delimiter = ",;|\t"[i / 2 % 4];
    return o;
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        kn_generate_options o = shape(i, 70001);
        size_t              first_size, size;
        char               *first = generate(&o, 1, &first_size);
        for (int threads = 2; threads <= 8; threads *= 4) {
            char *other = generate(&o, threads, &size);
            assert_int_equal(size, first_size);
            assert_memory_equal(other, first, size);
            free(other);
        }
        o.seed++;
        char *other = generate(&o, 2, &size);
        assert_false(size == first_size && memcmp(first, other, size) == 0);
        free(other);
        free(first);
    }
}

static void a_longer_table_starts_with_the_shorter_one(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        kn_generate_options o = shape(i, 20000);
        size_t              long_size, size;
        char               *whole = generate(&o, 2, &long_size);
        int64_t             rows[] = {0, 1, 699, 700, 4095, 4096, 4097, 19999};
        for (int r = 0; r < 8; r++) {
            o.rows = rows[r];
            if (o.entities > o.rows) continue;
            char *start = generate(&o, 2, &size);
            assert_true(size < long_size);
            assert_memory_equal(start, whole, size);
            free(start);
        }
        free(whole);
    }
}

/* The first rows of each kind: a change here is a change of everybody's synthetic data. */
static void the_first_rows_are_known(void **state)
{
    (void)state;
    const char *expected[KINDS] = {
        "sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class\n"
        "Male,49,White,Married-civ-spouse,Assoc-voc,United-States,Private,Sales,>50K\n"
        "Female,51,Black,Widowed,Some-college,United-States,Local-gov,Exec-managerial,<=50K\n"
        "Male,51,White,Married-civ-spouse,Some-college,United-States,Private,Handlers-cleaners,>50K\n",
        "a1,a2,a3,a4,a5\n"
        "3,3,0,2,1\n"
        "5,6,2,1,3\n"
        "6,2,5,5,6\n",
        "a1,a2,a3,a4,a5\n"
        "2,2,5,1,5\n"
        "5,5,2,3,2\n"
        "2,3,2,3,3\n",
        "name,zip,birth-date,sex,country,diagnosis\n"
        "Bricais Elcahelia,47910,2008-08-29,M,United States,Bronchitis\n"
        "Ladaka Naisdelra,94119,1957-03-11,F,United States,Heart disease\n"
        "Orfaka Cagrioria,02118,1960-11-15,M,Mexico,Influenza\n",
        "sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class,education-num\n"
        "Male,49,White,Married-civ-spouse,Assoc-voc,United-States,Private,Sales,>50K,11\n"
        "Female,51,Black,Widowed,Some-college,United-States,Local-gov,Exec-managerial,<=50K,10\n"
        "Male,51,White,Married-civ-spouse,Some-college,United-States,Private,Handlers-cleaners,>50K,10\n",
        "age,sex,zip,city,admitted,ward,diagnosis\n"
        "43,F,20201,Ashby,2024-08-20,Obstetrics,Childbirth\n"
        "31,F,20301,Norwick,2024-08-29,Obstetrics,Childbirth\n"
        "76,F,20202,Ashby,2024-05-25,Internal medicine,Pneumonia\n",
    };
    for (int k = 0; k < KINDS; k++) {
        kn_generate_options o = options_of((kn_generate_kind)k, 3, 1);
        size_t              size;
        char               *data = generate(&o, 1, &size);
        assert_string_equal(data, expected[k]);
        free(data);
    }
}

/* ---- Distributions ---- */

typedef struct marginal {
    const char *column, *value;
    double      percent; /* of the 30,162 complete rows of the published data */
} marginal;

static const marginal marginals[] = {
    {"sex", "Male", 67.6},
    {"sex", "Female", 32.4},
    {"race", "White", 86.0},
    {"race", "Black", 9.3},
    {"race", "Asian-Pac-Islander", 3.0},
    {"marital-status", "Married-civ-spouse", 46.6},
    {"marital-status", "Never-married", 32.2},
    {"marital-status", "Divorced", 14.0},
    {"marital-status", "Separated", 3.1},
    {"marital-status", "Widowed", 2.7},
    {"education", "HS-grad", 32.6},
    {"education", "Some-college", 22.1},
    {"education", "Bachelors", 16.7},
    {"education", "Masters", 5.4},
    {"education", "11th", 3.5},
    {"education", "Doctorate", 1.2},
    {"native-country", "United-States", 91.2},
    {"native-country", "Mexico", 2.0},
    {"workclass", "Private", 73.9},
    {"workclass", "Self-emp-not-inc", 8.3},
    {"workclass", "Federal-gov", 3.1},
    {"occupation", "Prof-specialty", 13.4},
    {"occupation", "Craft-repair", 13.4},
    {"occupation", "Exec-managerial", 13.2},
    {"occupation", "Adm-clerical", 12.3},
    {"occupation", "Other-service", 10.6},
    {"occupation", "Priv-house-serv", 0.5},
    {"salary-class", ">50K", 24.9},
    {"age", "17", 1.09},
    {"age", "23", 2.73},
    {"age", "36", 2.82},
    {"age", "50", 1.91},
    {"age", "65", 0.45},
    {"age", "90", 0.12},
};

static void adult_like_has_the_published_marginals(void **state)
{
    (void)state;
    kn_generate_options o = options_of(KN_GENERATE_ADULT_LIKE, 200000, 3);
    text_table          t = generate_table(&o);
    assert_int_equal(t.columns, 9);
    for (size_t i = 0; i < sizeof marginals / sizeof *marginals; i++) {
        const marginal *m = &marginals[i];
        /* one percentage point, or a tenth and four deviations of the draw for what is rare */
        double p = m->percent / 100, slack = fmin(0.01, p / 10 + 4 * sqrt(p / 200000));
        assert_between(p - slack, share(&t, m->column, m->value, NULL, NULL), p + slack, m->value);
    }
    table_free(&t);
}

static void adult_like_columns_depend_on_each_other(void **state)
{
    (void)state;
    kn_generate_options o = options_of(KN_GENERATE_ADULT_LIKE, 100000, 4);
    text_table          t = generate_table(&o);
    struct {
        const char *name, *value, *other, *given;
        double      low, high;
    } facts[] = {
        {"marital-status", "Never-married", "age", "18", 0.93, 1},
        {"marital-status", "Never-married", "age", "50", 0.02, 0.12},
        {"marital-status", "Widowed", "age", "70", 0.10, 0.40},
        {"marital-status", "Married-civ-spouse", "sex", "Male", 0.57, 0.67},
        {"marital-status", "Married-civ-spouse", "sex", "Female", 0.10, 0.20},
        {"sex", "Male", "occupation", "Craft-repair", 0.88, 0.99},
        {"sex", "Female", "occupation", "Priv-house-serv", 0.85, 1},
        {"occupation", "Prof-specialty", "education", "Doctorate", 0.70, 0.90},
        {"occupation", "Prof-specialty", "education", "HS-grad", 0, 0.06},
        {"workclass", "Federal-gov", "occupation", "Armed-Forces", 1, 1},
        {"salary-class", ">50K", "education", "Doctorate", 0.60, 0.85},
        {"salary-class", ">50K", "education", "7th-8th", 0, 0.15},
        {"salary-class", ">50K", "marital-status", "Never-married", 0.02, 0.08},
        {"race", "Asian-Pac-Islander", "native-country", "Philippines", 0.85, 1},
        {"race", "Black", "native-country", "Haiti", 0.80, 1},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        assert_between(facts[i].low, share(&t, facts[i].name, facts[i].value, facts[i].other, facts[i].given),
                       facts[i].high, facts[i].given);
    table_free(&t);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Classes over the eight columns before the salary, as sorted lines. */
static void adult_like_has_adult_like_classes(void **state)
{
    (void)state;
    enum { ROWS = 30162 };
    for (uint64_t seed = 1; seed <= 3; seed++) {
        kn_generate_options o = options_of(KN_GENERATE_ADULT_LIKE, ROWS, seed);
        size_t              size;
        char               *data = generate(&o, 2, &size), **lines = malloc(ROWS * sizeof *lines), *at;
        assert_non_null(lines);
        at = strchr(data, '\n') + 1;
        for (int i = 0; i < ROWS; i++) {
            /* Not strchr: the address sanitizer would go through all that follows each time. */
            char *end = memchr(at, '\n', size - (size_t)(at - data));
            *end = '\0';
            lines[i] = at;
            *strrchr(at, ',') = '\0';
            at = end + 1;
        }
        qsort(lines, ROWS, sizeof *lines, by_text);
        int classes = 0, single = 0, begin = 0;
        for (int i = 1; i <= ROWS; i++) {
            if (i < ROWS && strcmp(lines[i], lines[begin]) == 0) continue;
            classes++;
            single += i - begin == 1;
            begin = i;
        }
        assert_between(17000, classes, 20000, "classes"); /* the published data: 18,109 and 14,021 */
        assert_between(12500, single, 16000, "singletons");
        free(lines);
        free(data);
    }
}

static void uniform_numbers_are_uniform(void **state)
{
    (void)state;
    kn_generate_options o = options_of(KN_GENERATE_UNIFORM, 100000, testing_seed() >> 1);
    o.attributes = 3;
    o.cardinality = 50;
    text_table t = generate_table(&o);
    assert_int_equal(t.columns, 3);
    assert_string_equal(t.cells[2], "a3");
    for (int c = 0; c < 3; c++) {
        double seen[50] = {0}, chi = 0;
        for (int64_t i = 0; i < t.rows; i++) {
            long v = strtol(cell(&t, i, c), NULL, 10);
            assert_true(v >= 0 && v < 50);
            seen[v]++;
        }
        for (int v = 0; v < 50; v++) chi += (seen[v] - 2000) * (seen[v] - 2000) / 2000;
        assert_between(49 - 6 * sqrt(98), chi, 49 + 8 * sqrt(98), "chi-square");
    }
    table_free(&t);
}

static void normal_numbers_are_normal(void **state)
{
    (void)state;
    kn_generate_options o = options_of(KN_GENERATE_NORMAL, 100000, 9);
    o.attributes = 2;
    o.cardinality = 50;
    o.mean = 25;
    o.deviation = 6;
    text_table t = generate_table(&o);
    for (int c = 0; c < 2; c++) {
        double sum = 0, squares = 0, within = 0;
        for (int64_t i = 0; i < t.rows; i++) {
            double v = strtod(cell(&t, i, c), NULL);
            assert_true(v >= 0 && v < 50 && v == floor(v));
            sum += v;
            squares += v * v;
            within += v >= 19 && v <= 31; /* 18.5 .. 31.5: 1.0833 deviations */
        }
        double mean = sum / 100000;
        assert_between(24.9, mean, 25.1, "mean");
        assert_between(5.9, sqrt(squares / 100000 - mean * mean), 6.1, "deviation");
        assert_between(0.715, within / 100000, 0.728, "share within");
    }
    table_free(&t);

    /* No deviation: one value, rounded half to even; a wide one: the ends hold what is clipped. */
    o.rows = 1000;
    o.mean = 2.5;
    o.deviation = 0;
    t = generate_table(&o);
    assert_between(1, share(&t, "a1", "2", NULL, NULL), 1, "constant");
    table_free(&t);
    o.mean = 0;
    o.deviation = 1000;
    t = generate_table(&o);
    assert_between(0.45, share(&t, "a1", "0", NULL, NULL), 0.55, "clipped below");
    assert_between(0.42, share(&t, "a1", "49", NULL, NULL), 0.53, "clipped above");
    table_free(&t);
}

/* Both ways: one value of the one for each value of the other; all else as in adult-like. */
static void education_determines_its_number(void **state)
{
    (void)state;
    kn_generate_options plain = options_of(KN_GENERATE_ADULT_LIKE, 5000, 6),
                        o = options_of(KN_GENERATE_ADULT_DEPENDENT, 5000, 6);
    text_table  t = generate_table(&o), p = generate_table(&plain);
    const char *of_number[17] = {NULL};
    int         education = column(&t, "education"), number = column(&t, "education-num"), different = 0;
    for (int64_t i = 0; i < t.rows; i++) {
        int n = atoi(cell(&t, i, number));
        assert_in_range(n, 1, 16);
        if (of_number[n]) assert_string_equal(of_number[n], cell(&t, i, education));
        of_number[n] = cell(&t, i, education);
        assert_string_equal(cell(&t, i, education), cell(&p, i, column(&p, "education")));
    }
    for (int a = 1; a <= 16; a++)
        for (int b = 1; b < a; b++)
            if (of_number[a] && of_number[b]) different += strcmp(of_number[a], of_number[b]) == 0;
    assert_int_equal(different, 0);
    assert_string_equal(of_number[16], "Doctorate");
    table_free(&t);
    table_free(&p);
}

static void patients_look_like_patients(void **state)
{
    (void)state;
    kn_generate_options o = options_of(KN_GENERATE_PATIENTS, 20000, 6);
    text_table          t = generate_table(&o);
    int                 zip = column(&t, "zip"), birth = column(&t, "birth-date"), leading = 0;
    for (int64_t i = 0; i < t.rows; i++) {
        int         y, m, d, n = 0;
        const char *date = cell(&t, i, birth);
        assert_int_equal(sscanf(date, "%4d-%2d-%2d%n", &y, &m, &d, &n), 3);
        assert_true(n == 10 && date[10] == '\0' && y >= 1924 && y <= 2024 && m >= 1 && m <= 12 && d >= 1 && d <= 31);
        assert_int_equal(strspn(cell(&t, i, zip), "0123456789"), 5);
        assert_int_equal(strlen(cell(&t, i, zip)), 5);
        leading += cell(&t, i, zip)[0] == '0';
        assert_non_null(strchr(cell(&t, i, 0), ' '));
    }
    assert_true(leading > 1000);
    assert_between(0, share(&t, "sex", "M", "diagnosis", "Pregnancy"), 0, "pregnant men");
    assert_between(0, share(&t, "sex", "F", "diagnosis", "Prostate cancer"), 0, "prostates of women");
    table_free(&t);
}

/* Does a column determine another? */
static void assert_determines(const text_table *t, const char *from, const char *to)
{
    int         a = column(t, from), b = column(t, to), known = 0;
    const char *keys[64], *values[64];
    for (int64_t i = 0; i < t->rows; i++) {
        int at = 0;
        while (at < known && strcmp(keys[at], cell(t, i, a)) != 0) at++;
        assert_true(at < 64);
        if (at == known) keys[known] = cell(t, i, a), values[known++] = cell(t, i, b);
        assert_string_equal(values[at], cell(t, i, b));
    }
    assert_true(known > 1);
}

static void admissions_look_like_a_hospitals(void **state)
{
    (void)state;
    kn_generate_options o = options_of(KN_GENERATE_HOSPITAL, 20000, 6);
    text_table          t = generate_table(&o);
    int                 age = column(&t, "age"), day = column(&t, "admitted"), diagnosis = column(&t, "diagnosis");
    int                 winter = 0, influenza = 0;
    assert_determines(&t, "zip", "city");
    assert_determines(&t, "diagnosis", "ward");
    for (int64_t i = 0; i < t.rows; i++) {
        int y, m, d, n = 0;
        assert_int_equal(sscanf(cell(&t, i, day), "%4d-%2d-%2d%n", &y, &m, &d, &n), 3);
        assert_true(n == 10 && y == 2024 && m >= 1 && m <= 12 && d >= 1 && d <= 31);
        assert_in_range(strtol(cell(&t, i, age), NULL, 10), 0, 99);
        bool flu = strcmp(cell(&t, i, diagnosis), "Influenza") == 0;
        influenza += flu;
        winter += flu && (m == 12 || m <= 3);
    }
    assert_between(0.5, (double)winter / influenza, 0.8, "influenza in winter");
    assert_between(0, share(&t, "sex", "M", "diagnosis", "Childbirth"), 0, "men giving birth");
    table_free(&t);
}

/* ---- Missing cells, ids, persons ---- */

static void missing_cells_replace_others_only(void **state)
{
    (void)state;
    kn_generate_options o = options_of(KN_GENERATE_ADULT_LIKE, 50000, 8);
    text_table          whole = generate_table(&o);
    o.missing = 0.05;
    text_table holes = generate_table(&o);
    int64_t    empty[9] = {0};
    for (int64_t i = 0; i < holes.rows; i++)
        for (int c = 0; c < 9; c++) {
            if (cell(&holes, i, c)[0] == '\0')
                empty[c]++;
            else
                assert_string_equal(cell(&holes, i, c), cell(&whole, i, c));
        }
    for (int c = 0; c < 9; c++) {
        bool may = c == column(&whole, "native-country") || c == column(&whole, "workclass") ||
                   c == column(&whole, "occupation");
        assert_between(may ? 2300 : 0, (double)empty[c], may ? 2700 : 0, whole.cells[c]);
    }
    table_free(&holes);
    o.missing = 1;
    holes = generate_table(&o);
    assert_between(1, share(&holes, "occupation", "", NULL, NULL), 1, "all missing");
    table_free(&holes);
    table_free(&whole);
}

static void ids_count_and_persons_return(void **state)
{
    (void)state;
    enum { ROWS = 20000, PERSONS = 3001 };
    kn_generate_options o = options_of(KN_GENERATE_ADULT_LIKE, ROWS, 12);
    o.id = true;
    o.entities = PERSONS;
    text_table t = generate_table(&o);
    assert_string_equal(t.cells[0], "id");
    assert_string_equal(t.cells[1], "person");
    static int64_t first[PERSONS + 1], rows[PERSONS + 1];
    memset(rows, 0, sizeof rows);
    int persons = 0, most = 0, changed = 0, ordered = 0;
    int sex = column(&t, "sex"), race = column(&t, "race"), country = column(&t, "native-country");
    for (int64_t i = 0; i < ROWS; i++) {
        assert_int_equal(strtol(cell(&t, i, 0), NULL, 10), i + 1);
        long p = strtol(cell(&t, i, 1), NULL, 10);
        assert_true(p >= 1 && p <= PERSONS);
        if (rows[p]++ == 0) {
            first[p] = i;
            persons++;
            ordered += p == i + 1;
        }
        assert_string_equal(cell(&t, i, sex), cell(&t, first[p], sex));
        assert_string_equal(cell(&t, i, race), cell(&t, first[p], race));
        assert_string_equal(cell(&t, i, country), cell(&t, first[p], country));
        changed += strcmp(cell(&t, i, column(&t, "occupation")), cell(&t, first[p], column(&t, "occupation"))) != 0;
        if (rows[p] > most) most = (int)rows[p];
    }
    assert_int_equal(persons, PERSONS);
    assert_true(most > 7 && most < 40);
    assert_between(ROWS / 10, changed, ROWS / 2, "changed occupations");
    assert_true(ordered < 30); /* the persons come in no particular order */
    table_free(&t);

    for (int64_t m = 1; m < 70; m++) { /* as many persons as rows: each once */
        o.rows = o.entities = m;
        t = generate_table(&o);
        uint64_t seen[2] = {0};
        for (int64_t i = 0; i < m; i++) {
            long p = strtol(cell(&t, i, 1), NULL, 10);
            assert_true(p >= 1 && p <= m);
            assert_false(seen[p / 64] >> (p % 64) & 1);
            seen[p / 64] |= (uint64_t)1 << (p % 64);
        }
        table_free(&t);
    }
}

/* ---- Tables in memory ---- */

static void the_table_in_memory_is_the_file(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        for (int threads = 1; threads <= 4; threads *= TESTING_SANITIZED ? 4 : 2) {
            kn_generate_options o = shape(i, TESTING_SANITIZED ? 12001 : 30001);
            kn_context         *ctx = testing_context(threads);
            kn_error            err = KN_ERROR_INIT;
            kn_table           *table = NULL;
            const char         *reason = NULL;
            assert_ok(kn_generate_table(&table, ctx, &o, &err), err);
            if (!kn_table_validate(table, &reason)) fail_msg("%s", reason);
            assert_int_equal(kn_table_rows(table), o.rows);
            const char *path = testing_file("table.csv", "", 0);
            assert_ok(kn_table_write_csv(table, ctx, path, o.delimiter, &err), err);
            size_t size, expected_size;
            char  *found = testing_contents(path, &size), *expected = generate(&o, threads, &expected_size);
            assert_int_equal(size, expected_size);
            assert_memory_equal(found, expected, size);
            if (o.kind == KN_GENERATE_PATIENTS) {
                assert_int_equal(kn_table_type(table, kn_table_find(table, "zip")), KN_TYPE_TEXT);
                assert_int_equal(kn_table_type(table, kn_table_find(table, "birth-date")), KN_TYPE_DATE);
            }
            if (o.kind == KN_GENERATE_ADULT_LIKE)
                assert_int_equal(kn_table_type(table, kn_table_find(table, "age")), KN_TYPE_INTEGER);
            free(found);
            free(expected);
            kn_table_free(table);
            testing_context_free(ctx);
        }
}

/* ---- Failures ---- */

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    kn_context         *ctx = testing_context(1);
    kn_generate_options good = options_of(KN_GENERATE_NORMAL, 10, 1), bad[16];
    for (int i = 0; i < 16; i++) bad[i] = good;
    int n = 0;
    bad[n++].rows = -1;
    bad[n++].rows = INT64_MAX;
    bad[n++].kind = (kn_generate_kind)KINDS;
    bad[n++].kind = (kn_generate_kind)-1;
    bad[n++].size = 0;
    bad[n++].entities = -1;
    bad[n++].entities = 11;
    bad[n++].missing = 0.1; /* numbers are never missing */
    bad[n++].missing = -0.1;
    bad[n++].missing = (double)NAN;
    bad[n++].attributes = 0;
    bad[n++].cardinality = 0;
    bad[n++].cardinality = INT64_MAX;
    bad[n++].mean = (double)INFINITY;
    bad[n++].delimiter = '"';
    bad[n++].delimiter = '\0';
    for (int i = 0; i < n; i++) {
        kn_error  err = KN_ERROR_INIT;
        kn_table *table = NULL;
        assert_int_equal(kn_generate_csv(ctx, "-", &bad[i], &err), KN_USAGE);
        assert_true(err.message[0] != '\0');
        assert_int_equal(kn_generate_table(&table, ctx, &bad[i], &err), KN_USAGE);
        assert_null(table);
    }
    assert_int_equal(kn_generate_csv(ctx, "-", NULL, NULL), KN_USAGE);
    kn_generate_kind kind = KN_GENERATE_NORMAL;
    for (int k = 0; k < KINDS; k++) {
        assert_true(kn_generate_kind_parse(kn_generate_kind_name((kn_generate_kind)k), &kind));
        assert_int_equal(kind, k);
    }
    assert_false(kn_generate_kind_parse("adult", &kind));
    assert_null(kn_generate_kind_name((kn_generate_kind)KINDS));
    testing_context_free(ctx);
}

/* Entries of a file's folder whose name speaks of a temporary file. */
static int temporaries(const char *path)
{
    char folder[500];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    DIR *d = opendir(folder);
    assert_non_null(d);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) n += strstr(e->d_name, ".kanon-") != NULL;
    closedir(d);
    return n;
}

static void cancel(void *user, const kn_progress *progress)
{
    if (progress->done > 0 && !progress->finished) kn_context_cancel(*(kn_context **)user);
}

static void cancelling_leaves_nothing(void **state)
{
    (void)state;
    kn_context        *ctx = NULL;
    kn_error           err = KN_ERROR_INIT;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.threads = 2;
    options.progress = cancel;
    options.progress_user = &ctx;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    kn_generate_options o = options_of(KN_GENERATE_ADULT_LIKE, (int64_t)1 << 40, 1);
    const char         *path = testing_file("target.csv", "old", 3);
    assert_int_equal(kn_generate_csv(ctx, path, &o, &err), KN_CANCELLED);
    size_t size;
    char  *data = testing_contents(path, &size);
    assert_string_equal(data, "old");
    free(data);
    assert_int_equal(temporaries(path), 0);
    assert_true(kn_context_memory_peak(ctx) < 32 << 20); /* streamed: memory does not grow with the rows */
    testing_context_free(ctx);
}

static void no_allocation_failure_leaks(void **state)
{
    (void)state;
    const char *path = testing_file("alloc.csv", "old", 3);
    for (int to_table = 0; to_table < 2; to_table++) {
        kn_status st = KN_MEMORY;
        int64_t   at = 0;
        for (; st != KN_OK; at += testing_step()) {
            testing_allocator   memory = {.refuse_at = at};
            kn_context         *ctx = NULL;
            kn_table           *table = NULL;
            kn_error            err = KN_ERROR_INIT;
            kn_generate_options o = shape(4, 10000);
            st = testing_refusing_context(&ctx, &memory, 2, &err);
            if (st == KN_OK)
                st = to_table ? kn_generate_table(&table, ctx, &o, &err) : kn_generate_csv(ctx, path, &o, &err);
            assert_true(st == KN_OK || st == KN_MEMORY);
            assert_true(st == KN_OK || err.message[0] != '\0');
            kn_table_free(table);
            kn_context_free(ctx);
            assert_int_equal(memory.live, 0);
            assert_int_equal(temporaries(path), 0);
        }
        assert_true(at > 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_have_exactly_their_weights),
        cmocka_unit_test(draws_follow_the_weights),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
        cmocka_unit_test(a_longer_table_starts_with_the_shorter_one),
        cmocka_unit_test(the_first_rows_are_known),
        cmocka_unit_test(adult_like_has_the_published_marginals),
        cmocka_unit_test(adult_like_columns_depend_on_each_other),
        cmocka_unit_test(adult_like_has_adult_like_classes),
        cmocka_unit_test(uniform_numbers_are_uniform),
        cmocka_unit_test(normal_numbers_are_normal),
        cmocka_unit_test(education_determines_its_number),
        cmocka_unit_test(patients_look_like_patients),
        cmocka_unit_test(admissions_look_like_a_hospitals),
        cmocka_unit_test(missing_cells_replace_others_only),
        cmocka_unit_test(ids_count_and_persons_return),
        cmocka_unit_test(the_table_in_memory_is_the_file),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(cancelling_leaves_nothing),
        cmocka_unit_test(no_allocation_failure_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
