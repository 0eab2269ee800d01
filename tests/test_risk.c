/* test_risk.c: prosecutor, journalist, marketer, weights and population uniques against nested loops, formulas written
 * out term by term, and samples of a known population.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/risk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_rng.h"
#include "kn_uniques.h"

enum { COLUMNS = 3, MOST_ROWS = 150 };

static const char *const names[] = {"a", "b", "c"};

typedef struct sheet {
    int rows;
    int cell[MOST_ROWS][COLUMNS]; /* -1: missing */
    int person[MOST_ROWS];
    int weight[MOST_ROWS]; /* in halves */
} sheet;

static sheet random_sheet(kn_rng *rng, bool missing, int values)
{
    sheet s = {.rows = 1 + (int)kn_rng_below(rng, MOST_ROWS - 1)};
    for (int r = 0; r < s.rows; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            s.cell[r][c] = (int)kn_rng_below(rng, 1 + kn_rng_below(rng, (uint64_t)values));
            if (missing && kn_rng_below(rng, 10) == 0) s.cell[r][c] = -1;
        }
        s.person[r] = (int)kn_rng_below(rng, 1 + (uint64_t)s.rows / 2);
        s.weight[r] = 1 + (int)kn_rng_below(rng, 40);
    }
    return s;
}

static kn_table *read_text(kn_context *ctx, const char *text, size_t size)
{
    static int serial;
    char       name[32];
    snprintf(name, sizeof name, "risk%d.csv", serial++ % 40);
    kn_table *table = NULL;
    kn_error  err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file(name, text, size), NULL, &err), err);
    return table;
}

static kn_table *read_sheet(kn_context *ctx, const sheet *s)
{
    char  *text = malloc(64 + (size_t)s->rows * 64);
    size_t n = 0;
    assert_non_null(text);
    n += (size_t)sprintf(text, "who,c,b,a,w\n");
    for (int r = 0; r < s->rows; r++) {
        n += (size_t)sprintf(text + n, "p%d,", s->person[r]);
        for (int c = COLUMNS - 1; c >= 0; c--) {
            if (s->cell[r][c] < 0)
                n += (size_t)sprintf(text + n, ",");
            else /* column a holds numbers, the others text */
                n += (size_t)sprintf(text + n, c == 0 ? "%d," : "v%d,", s->cell[r][c]);
        }
        n += (size_t)sprintf(text + n, "%d.%d\n", s->weight[r] / 2, s->weight[r] % 2 * 5);
    }
    kn_table *table = read_text(ctx, text, n);
    free(text);
    assert_int_equal(kn_table_rows(table), s->rows);
    return table;
}

/* ---- The twin: one row at a time ---- */

static bool set_aside(const sheet *s, int row, const kn_risk_options *o)
{
    for (int c = 0; c < o->quasi_count && o->missing == KN_MISSING_DROP; c++)
        if (s->cell[row][c] < 0) return true;
    return false;
}

static bool agree(const sheet *s, int row, const sheet *t, int other, int width)
{
    for (int c = 0; c < width; c++)
        if (s->cell[row][c] != t->cell[other][c]) return false;
    return true;
}

/* Rows of t like row `row` of s; with `persons`, the different persons among them. */
static int like(const sheet *s, int row, const sheet *t, const kn_risk_options *o, bool persons)
{
    bool seen[MOST_ROWS] = {false};
    int  n = 0;
    for (int q = 0; q < t->rows; q++) {
        if (set_aside(t, q, o) || !agree(s, row, t, q, o->quasi_count)) continue;
        if (persons && seen[t->person[q]]) continue;
        seen[t->person[q]] = true;
        n++;
    }
    return n;
}

typedef struct tally {
    double  highest, sum;
    int64_t at_risk, records;
} tally;

static void add(tally *t, double risk, bool at_risk)
{
    t->highest = fmax(t->highest, risk);
    t->sum += risk;
    t->at_risk += at_risk;
    t->records++;
}

static bool above(const kn_risk_options *o, int size)
{
    return o->threshold.denominator > o->threshold.numerator * (uint64_t)size;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static void same_summary(const kn_risk_summary *r, const tally *t)
{
    double n = t->records > 0 ? (double)t->records : 1;
    assert_true(near(r->highest, t->highest));
    assert_true(near(r->expected, t->sum));
    assert_true(near(r->average, t->sum / n));
    assert_int_equal(r->at_risk, t->at_risk);
    assert_true(near(r->at_risk_share, (double)t->at_risk / n));
}

static void compare_prosecutor(const sheet *s, const kn_risk *r, const kn_risk_options *o)
{
    tally   t = {0, 0, 0, 0};
    int     smallest[MOST_ROWS] = {0};
    int64_t uniques = 0, missing = 0, kept = 0;
    for (int row = 0; row < s->rows; row++) {
        bool out = false;
        for (int c = 0; c < o->quasi_count; c++) out |= s->cell[row][c] < 0;
        missing += out;
        if (set_aside(s, row, o)) continue;
        kept++;
        int size = like(s, row, s, o, o->entity != NULL), *least = &smallest[o->entity ? s->person[row] : row];
        if (*least == 0 || size < *least) *least = size;
    }
    for (int i = 0; i < MOST_ROWS; i++) {
        if (smallest[i] == 0) continue;
        add(&t, 1.0 / smallest[i], above(o, smallest[i]));
        uniques += smallest[i] == 1;
    }
    assert_int_equal(r->rows, s->rows);
    assert_int_equal(r->missing_rows, missing);
    assert_int_equal(r->dropped, s->rows - kept);
    assert_int_equal(r->records, t.records);
    assert_int_equal(r->sample_uniques, uniques);
    same_summary(&r->prosecutor, &t);
    if (!o->population) assert_true(r->marketer == r->prosecutor.average);
    if (!o->entity && kept > 0) assert_true(near(r->prosecutor.average, (double)r->classes / (double)kept));
}

static void compare_journalist(const sheet *s, const sheet *p, const kn_risk *r, const kn_risk_options *o)
{
    tally   t = {0, 0, 0, 0};
    int64_t absent = 0, exceeding = 0, shared = 0, rows = 0, uniques = 0;
    for (int row = 0; row < s->rows; row++) {
        if (set_aside(s, row, o)) continue;
        int f = like(s, row, s, o, false), size = like(s, row, p, o, false);
        absent += size == 0;
        exceeding += size > 0 && size < f;
        shared += f == 1 && size == 1;
        if (size < f) size = f;
        add(&t, 1.0 / size, above(o, size));
    }
    for (int row = 0; row < p->rows; row++) {
        if (set_aside(p, row, o)) continue;
        rows++;
        uniques += like(p, row, p, o, false) == 1;
    }
    same_summary(&r->journalist, &t);
    assert_true(r->has_population && r->marketer == r->journalist.average);
    assert_int_equal(r->absent_rows, absent);
    assert_int_equal(r->exceeding_rows, exceeding);
    assert_int_equal(r->shared_uniques, shared);
    assert_int_equal(r->population_rows, rows);
    assert_int_equal(r->population_dropped, p->rows - rows);
    assert_int_equal(r->population_uniques, uniques);
}

/* E[1/F | f] by the formulas of the literature; 200 terms of the series for f = 2, where they cancel. */
static double individual_risk(int f, double population)
{
    double p = f / population, q = 1 - p, sum = 0;
    if (population <= f) return 1.0 / f;
    if (f == 1) return p / q * log(1 / p);
    if (f > 2) return p / (f - q);
    if (q > 0.5) return p / q - pow(p / q, 2) * log(1 / p);
    for (int k = 1; k < 200; k++) sum += pow(q, k - 1) / (k * (k + 1.0));
    return p * sum;
}

static void compare_weights(const sheet *s, const kn_risk *r, const kn_risk_options *o)
{
    tally  t = {0, 0, 0, 0};
    double all = 0, threshold = (double)o->threshold.numerator / (double)o->threshold.denominator;
    for (int row = 0; row < s->rows; row++) {
        if (set_aside(s, row, o)) continue;
        double weight = 0;
        for (int q = 0; q < s->rows; q++)
            if (!set_aside(s, q, o) && agree(s, row, s, q, o->quasi_count)) weight += s->weight[q] / 2.0;
        double risk = individual_risk(like(s, row, s, o, false), weight);
        all += s->weight[row] / 2.0;
        add(&t, risk, risk > threshold);
    }
    assert_true(r->weighted && near(r->weight_sum, all));
    same_summary(&r->individual, &t);
}

static void every_figure_equals_nested_loops(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(500); round++) {
        kn_context *ctx = testing_context(1 << round % 4);
        int         values = 1 + (int)kn_rng_below(&rng, 9);
        sheet       s = random_sheet(&rng, round % 3 > 0, values), p = random_sheet(&rng, round % 2 > 0, values + 2);
        kn_table   *table = read_sheet(ctx, &s), *population = read_sheet(ctx, &p);
        kn_risk_options o = KN_RISK_OPTIONS_INIT;
        kn_risk        *r = NULL;
        kn_error        err = KN_ERROR_INIT;
        o.quasi = names;
        o.quasi_count = 1 + (int)kn_rng_below(&rng, COLUMNS);
        o.missing = kn_rng_below(&rng, 2) ? KN_MISSING_DROP : KN_MISSING_VALUE;
        if (kn_rng_below(&rng, 2)) o.threshold = (kn_fraction){kn_rng_below(&rng, 12), 11};
        if (o.threshold.numerator > o.threshold.denominator) o.threshold.numerator = 0;
        if (kn_rng_below(&rng, 3) == 0) {
            o.entity = "who";
        } else {
            o.population = kn_rng_below(&rng, 2) ? population : NULL;
            o.weight = kn_rng_below(&rng, 2) ? "w" : NULL;
        }
        assert_ok(kn_risk_measure(&r, ctx, table, &o, &err), err);
        compare_prosecutor(&s, r, &o);
        if (o.population) compare_journalist(&s, &p, r, &o);
        if (o.weight) compare_weights(&s, r, &o);
        assert_true(r->has_population == (o.population != NULL) && r->weighted == (o.weight != NULL) && !r->sampled);
        kn_risk_free(r);
        kn_table_free(population);
        kn_table_free(table);
        testing_context_free(ctx);
    }
}

/* A class of 5 has risk 0.2: not greater than 0.2. */
static void the_threshold_is_exact(void **state)
{
    (void)state;
    static const char text[] = "a\nx\nx\nx\nx\nx\ny\ny\ny\ny\nz\n";
    kn_context       *ctx = testing_context(1);
    kn_table         *table = read_text(ctx, text, strlen(text));
    kn_risk_options   o = KN_RISK_OPTIONS_INIT;
    kn_risk          *r = NULL;
    kn_error          err = KN_ERROR_INIT;
    o.quasi = names;
    o.quasi_count = 1;
    assert_ok(kn_risk_measure(&r, ctx, table, &o, &err), err);
    assert_int_equal(r->prosecutor.at_risk, 5);
    assert_true(r->prosecutor.highest == 1 && near(r->prosecutor.average, 0.3));
    kn_risk_free(r);
    o.threshold = (kn_fraction){1, 1};
    assert_ok(kn_risk_measure(&r, ctx, table, &o, &err), err);
    assert_int_equal(r->prosecutor.at_risk, 0);
    kn_risk_free(r);
    o.threshold = (kn_fraction){0, 1};
    assert_ok(kn_risk_measure(&r, ctx, table, &o, &err), err);
    assert_int_equal(r->prosecutor.at_risk, 10);
    kn_risk_free(r);
    kn_table_free(table);
    testing_context_free(ctx);
}

/* Nearly all of a class drawn: its risk is close to 1/f, and the closed forms lose all their digits. */
static void almost_a_census(void **state)
{
    (void)state;
    static const char text[] = "a,w\nx,1.0000000000037\nx,1.0000000000037\ny,1.0000000000037\n";
    kn_context       *ctx = testing_context(1);
    kn_table         *table = read_text(ctx, text, strlen(text));
    kn_risk_options   o = KN_RISK_OPTIONS_INIT;
    kn_risk          *r = NULL;
    kn_error          err = KN_ERROR_INIT;
    o.quasi = names;
    o.quasi_count = 1;
    o.weight = "w";
    assert_ok(kn_risk_measure(&r, ctx, table, &o, &err), err);
    assert_true(fabs(r->individual.expected - 2) < 1e-7);
    assert_true(r->individual.highest <= 1 && r->individual.highest > 1 - 1e-7);
    kn_risk_free(r);
    kn_table_free(table);
    testing_context_free(ctx);
}

/* Codes differ between the tables; so may spellings of numbers and dates. */
static void values_match_across_tables(void **state)
{
    (void)state;
    static const char sample[] = "a,b,c\n1.5,2020-03-01,x\n2,2020-03-02,7\n3,2020-03-03,y\n";
    static const char people[] = "c,b,a,d\n"
                                 "7,02.03.2020,2.00,q\n7,02.03.2020,2.00,q\nx,01.03.2020,1.50,q\n"
                                 "x,01.03.2020,1.50,q\nx,01.03.2020,1.500,q\nz,28.03.2020,9,q\n";
    kn_context       *ctx = testing_context(1);
    kn_table *table = read_text(ctx, sample, strlen(sample)), *population = read_text(ctx, people, strlen(people));
    kn_risk_options o = KN_RISK_OPTIONS_INIT;
    kn_risk        *r = NULL;
    kn_error        err = KN_ERROR_INIT;
    assert_int_equal(kn_table_type(table, 1), KN_TYPE_DATE);
    assert_int_equal(kn_table_type(population, 1), KN_TYPE_DATE);
    o.quasi = names;
    o.quasi_count = 3;
    o.population = population;
    assert_ok(kn_risk_measure(&r, ctx, table, &o, &err), err);
    assert_int_equal(r->absent_rows, 1);
    assert_int_equal(r->population_classes, 3);
    assert_true(near(r->journalist.expected, 1.0 / 3 + 1.0 / 2 + 1));
    kn_risk_free(r);
    kn_table_free(population);
    kn_table_free(table);
    testing_context_free(ctx);
}

/* ---- Population uniques ---- */

/* The histogram of a list of class sizes. */
typedef struct sizes {
    kn_size_histogram h;
    int64_t           size[400], classes[400], rows[400];
} sizes;

static void count_sizes(sizes *s, const int *class_size, int classes)
{
    memset(s, 0, sizeof *s);
    s->h = (kn_size_histogram){0, s->size, s->classes, s->rows};
    for (int size = 1; s->h.count < 400; size++) {
        int64_t n = 0, larger = 0;
        for (int i = 0; i < classes; i++) {
            n += class_size[i] == size;
            larger += class_size[i] > size;
        }
        if (n > 0) {
            s->size[s->h.count] = size;
            s->classes[s->h.count] = n;
            s->rows[s->h.count++] = n * size;
        }
        if (larger == 0) break;
    }
}

static int64_t total(const sizes *s)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->h.count; i++) n += s->rows[i];
    return n;
}

static double log_choose(double n, double k)
{
    return k < 0 || k > n ? -INFINITY : lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

static double zayatz(const sizes *s, double population)
{
    double n = (double)total(s), sum = 0, single = s->size[0] == 1 ? (double)s->classes[0] : 0;
    for (int64_t i = 0; i < s->h.count; i++) { /* one of a class of j in a sample of n out of N: hypergeometric */
        double j = (double)s->size[i];
        sum += (double)s->classes[i] * exp(log(j) + log_choose(population - j, n - 1) - log_choose(population, n));
    }
    return single * (single * n / population / sum) * population / n;
}

static double likelihood(const sizes *s, double theta, double alpha)
{
    int64_t u = 0;
    double  sum = 0;
    for (int64_t i = 0; i < s->h.count; i++) {
        u += s->classes[i];
        for (int64_t l = 1; l < s->size[i]; l++) sum += (double)s->classes[i] * log((double)l - alpha);
    }
    for (int64_t i = 1; i < u; i++) sum += log(theta + (double)i * alpha);
    for (int64_t i = 1; i < total(s); i++) sum -= log(theta + (double)i);
    return sum;
}

static double expected_uniques(double theta, double alpha, int64_t population)
{
    double product = (double)population;
    for (int64_t i = 1; i < population; i++) product *= (theta + alpha + (double)i - 1) / (theta + (double)i);
    return product;
}

/* A population by Pitman's own process: records in classes, largest `most` classes. */
static int seat(kn_rng *rng, int *class_of, int *class_size, int records, double theta, double alpha)
{
    int classes = 0;
    for (int i = 0; i < records; i++) {
        double u = kn_rng_double(rng) * (theta + i);
        int    c = classes;
        if (i > 0 && u >= theta + alpha * classes) {
            /* With probability (size − α)/(θ + i): a random earlier record's class, refused with chance α/size. */
            do c = class_of[kn_rng_below(rng, (uint64_t)i)];
            while (kn_rng_double(rng) < alpha / class_size[c]);
        }
        if (c == classes) class_size[classes++] = 0;
        class_size[c]++;
        class_of[i] = c;
    }
    return classes;
}

/* A sample without replacement; returns the number of uniques of the population. */
static int draw(sizes *out, kn_rng *rng, int *class_of, const int *class_size, int classes, int records, int sample)
{
    int *drawn = calloc((size_t)classes, sizeof *drawn), uniques = 0;
    assert_non_null(drawn);
    for (int i = 0; i < sample; i++) {
        int j = i + (int)kn_rng_below(rng, (uint64_t)(records - i)), swap = class_of[i];
        class_of[i] = class_of[j];
        class_of[j] = swap;
        drawn[class_of[i]]++;
    }
    for (int c = 0; c < classes; c++) uniques += class_size[c] == 1;
    count_sizes(out, drawn, classes);
    free(drawn);
    return uniques;
}

static void estimates_equal_their_formulas(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 2);
    int fitted = 0;
    for (int round = 0; round < testing_rounds(200); round++) {
        int     class_of[600], class_size[600], records = 20 + (int)kn_rng_below(&rng, 580);
        double  alpha = round % 5 == 0 ? 0 : kn_rng_double(&rng) * 0.95, theta = kn_rng_double(&rng) * 60 + 0.1;
        sizes   s;
        int     classes = seat(&rng, class_of, class_size, records, theta, alpha);
        int64_t population = records + (int64_t)kn_rng_below(&rng, 20000);
        count_sizes(&s, class_size, classes);
        kn_uniques_estimate z = kn_uniques_zayatz(&s.h, population), p = kn_uniques_pitman(&s.h, population);
        if (population == records || s.size[0] != 1) {
            assert_true(z.status == p.status && z.uniques == (s.size[0] == 1 ? (double)s.classes[0] : 0));
            continue;
        }
        assert_int_equal(z.status, KN_ESTIMATE_OK);
        double other = zayatz(&s, (double)population);
        assert_true(fabs(z.uniques - other) < 1e-7 * other);
        if (p.status != KN_ESTIMATE_OK) {
            assert_true(isnan(p.uniques) && isnan(p.theta) && (classes < 2 || classes == records));
            continue;
        }
        fitted++;
        assert_true(p.alpha >= 0 && p.alpha < 1 && p.theta > -p.alpha);
        other = expected_uniques(p.theta, p.alpha, population);
        assert_true(fabs(p.uniques - other) < 1e-7 * other);
        assert_true(near(p.share, p.uniques / (double)population));
        /* No better parameters, neither close by nor anywhere on a grid. */
        double best = likelihood(&s, p.theta, p.alpha), slack = 1e-7 * fabs(best);
        for (int i = -1; i <= 1; i++)
            for (int j = -1; j <= 1; j++) {
                double a = p.alpha + i * 0.01, t = p.theta + j * 0.05 * (p.theta + p.alpha);
                if (a >= 0 && a < 1 && t > -a) assert_true(likelihood(&s, t, a) <= best + slack);
            }
        for (double a = 0; a < 1; a += 0.07)
            for (double t = 0.01; t < 1e6; t *= 2) assert_true(likelihood(&s, t - a, a) <= best + slack);
    }
    assert_true(fitted > testing_least(100));
}

/* Fixed seed: what comes out is known to be good, and stays so. The bands are wider than what is seen (see below). */
static void estimates_come_close_on_known_populations(void **state)
{
    (void)state;
    enum { RECORDS = 40000 };
    kn_rng rng;
    kn_rng_init(&rng, 20, 3);
    int *class_of = malloc(RECORDS * sizeof *class_of), *class_size = malloc(RECORDS * sizeof *class_size);
    assert_true(class_of && class_size);
    double worst_pitman = 0, worst_zayatz = 0;
    for (int round = 0; round < 6; round++) {
        int   classes = seat(&rng, class_of, class_size, RECORDS, 40, 0.4 + 0.08 * round);
        sizes s;
        /* A twentieth of the population: Pitman's model, which made it. */
        int    truth = draw(&s, &rng, class_of, class_size, classes, RECORDS, RECORDS / 20);
        double error = fabs(kn_uniques_pitman(&s.h, RECORDS).uniques / truth - 1);
        worst_pitman = fmax(worst_pitman, error);
        /* Four fifths of it: Zayatz. */
        truth = draw(&s, &rng, class_of, class_size, classes, RECORDS, RECORDS / 5 * 4);
        error = fabs(kn_uniques_zayatz(&s.h, RECORDS).uniques / truth - 1);
        worst_zayatz = fmax(worst_zayatz, error);
    }
    print_message("worst error: pitman %.3f at 5%%, zayatz %.3f at 80%%\n", worst_pitman, worst_zayatz);
    assert_true(worst_pitman < 0.25);
    assert_true(worst_zayatz < 0.1);
    free(class_of);
    free(class_size);
}

/* Large samples: the sums by Euler-Maclaurin hold where adding up is out of reach. */
static void large_samples_are_estimated(void **state)
{
    (void)state;
    int64_t             size[] = {1, 2, 3, 10, 1000000}, classes[] = {400000, 90000, 30000, 5000, 3}, rows[5] = {0};
    kn_size_histogram   h = {5, size, classes, rows};
    int64_t             n = 400000 + 180000 + 90000 + 50000 + 3000000;
    kn_uniques_estimate p = kn_uniques_pitman(&h, n * 1000), z = kn_uniques_zayatz(&h, n * 1000);
    assert_int_equal(p.status, KN_ESTIMATE_OK);
    assert_true(p.alpha > 0.3 && p.alpha < 1 && p.uniques > 400000 && p.uniques < (double)n * 1000);
    /* Hoshino's form for a large population */
    double large = exp(lgamma(p.theta + 1) - lgamma(p.theta + p.alpha) + p.alpha * log((double)n * 1000));
    assert_true(fabs(p.uniques / large - 1) < 1e-3);
    assert_true(z.uniques > 400000 && z.uniques < (double)n * 1000);
    int64_t all_one[] = {1}, many[] = {1000}, none[] = {5};
    h = (kn_size_histogram){1, all_one, many, rows};
    p = kn_uniques_pitman(&h, 5000);
    assert_int_equal(p.status, KN_ESTIMATE_NO_MAXIMUM);
    assert_true(isnan(p.uniques) && isnan(p.share) && isnan(p.theta) && isnan(p.alpha));
    assert_true(kn_uniques_zayatz(&h, 5000).uniques == 5000); /* as in the sample, all unique */
    h = (kn_size_histogram){1, none, many, rows};
    assert_int_equal(kn_uniques_pitman(&h, 50000).status, KN_ESTIMATE_NO_UNIQUES);
    assert_true(kn_uniques_zayatz(&h, 50000).uniques == 0);
}

static void a_sampled_table_is_estimated(void **state)
{
    (void)state;
    static const char text[] = "a\nx\nx\ny\ny\ny\nz\nq\n";
    kn_context       *ctx = testing_context(1);
    kn_table         *table = read_text(ctx, text, strlen(text));
    kn_risk_options   o = KN_RISK_OPTIONS_INIT;
    kn_risk          *r = NULL;
    kn_error          err = KN_ERROR_INIT;
    sizes             s;
    count_sizes(&s, (const int[]){2, 3, 1, 1}, 4);
    o.quasi = names;
    o.quasi_count = 1;
    o.sampled = true;
    assert_true(kn_fraction_parse("0.07", &o.sampling));
    assert_ok(kn_risk_measure(&r, ctx, table, &o, &err), err);
    assert_true(r->sampled);
    assert_int_equal(r->population_size, 100);
    assert_int_equal(r->recommended, KN_UNIQUES_PITMAN);
    assert_true(near(r->estimates[KN_UNIQUES_ZAYATZ].uniques, zayatz(&s, 100)));
    const kn_uniques_estimate *p = &r->estimates[KN_UNIQUES_PITMAN];
    assert_true(near(p->uniques, expected_uniques(p->theta, p->alpha, 100)));
    assert_true(near(r->intrusion, 0.07 * 2 / (0.07 * 2 + 0.93 * 2)));
    assert_string_equal(kn_uniques_model_name(p->model), "pitman");
    assert_string_equal(kn_estimate_status_text(p->status), "estimated");
    kn_risk_free(r);
    o.sampling = (kn_fraction){1, 1};
    assert_ok(kn_risk_measure(&r, ctx, table, &o, &err), err);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(r->estimates[i].status, KN_ESTIMATE_CENSUS);
        assert_true(r->estimates[i].uniques == 2);
    }
    assert_true(r->intrusion == 1);
    kn_risk_free(r);
    kn_table_free(table);
    testing_context_free(ctx);
}

/* ---- Refusals ---- */

static void refused(kn_context *ctx, const kn_table *table, const kn_risk_options *o, kn_status status,
                    const char *words)
{
    kn_risk  *r = NULL;
    kn_error  err = KN_ERROR_INIT;
    kn_status st = kn_risk_measure(&r, ctx, table, o, &err);
    assert_null(r);
    assert_int_equal(st, status);
    if (!strstr(err.message, words)) fail_msg("\"%s\" does not say \"%s\"", err.message, words);
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    static const char        text[] = "a,b,c,w,neg,none\n1,x,1,2,-1,\n2,x,1,3,4,1\n", fewer[] = "a,c\n1,1\n2,2\n";
    static const char *const twice[] = {"a", "a"}, *const unknown[] = {"a", "nowhere"};
    kn_context     *ctx = testing_context(1);
    kn_table       *table = read_text(ctx, text, strlen(text)), *people = read_text(ctx, fewer, strlen(fewer));
    kn_risk_options plain = KN_RISK_OPTIONS_INIT, o = plain;
    refused(ctx, table, NULL, KN_USAGE, "the set of quasi-identifiers is empty");
    refused(ctx, table, &o, KN_USAGE, "empty");
    plain.quasi = names;
    plain.quasi_count = 2;
#define REFUSED(SET, STATUS, WORDS)                                                                                    \
    do {                                                                                                               \
        o = plain;                                                                                                     \
        SET;                                                                                                           \
        refused(ctx, table, &o, STATUS, WORDS);                                                                        \
    } while (0)
    REFUSED(o.quasi = twice, KN_USAGE, "\"a\" is named twice");
    REFUSED(o.quasi = unknown, KN_INPUT, "there is no column \"nowhere\"");
    REFUSED(o.missing = KN_MISSING_WILDCARD, KN_USAGE, "wildcards");
    REFUSED(o.threshold = ((kn_fraction){2, 1}), KN_USAGE, "threshold");
    REFUSED(o.threshold = ((kn_fraction){0, 0}), KN_USAGE, "threshold");
    REFUSED((o.sampled = true, o.sampling = (kn_fraction){0, 1}), KN_USAGE, "sampling fraction");
    REFUSED((o.sampled = true, o.sampling = (kn_fraction){1, UINT64_MAX}), KN_USAGE, "too small");
    REFUSED(o.population = people, KN_INPUT, "the population has no column \"b\"");
    REFUSED((o.entity = "w", o.population = people), KN_USAGE, "a population");
    REFUSED((o.entity = "w", o.weight = "w"), KN_USAGE, "sampling weights");
    REFUSED((o.entity = "w", o.sampled = true, o.sampling = (kn_fraction){1, 2}), KN_USAGE, "a sampling fraction");
    REFUSED(o.entity = "a", KN_USAGE, "both the entity");
    REFUSED(o.entity = "none", KN_INPUT, "1 missing cells");
    REFUSED(o.entity = "nowhere", KN_INPUT, "no column \"nowhere\"");
    REFUSED((o.quasi = &names[0], o.quasi_count = 1, o.weight = "b"), KN_INPUT, "not a number");
    REFUSED(o.weight = "a", KN_USAGE, "both the weight");
    REFUSED(o.weight = "neg", KN_INPUT, "not greater than 0");
    REFUSED(o.weight = "none", KN_INPUT, "missing cells");
#undef REFUSED
    kn_table_free(people);
    kn_table_free(table);
    testing_context_free(ctx);
}

static void no_rows_no_risk(void **state)
{
    (void)state;
    static const char text[] = "a,w\n,1\n,2\n";
    kn_context       *ctx = testing_context(1);
    kn_table         *table = read_text(ctx, text, strlen(text));
    kn_risk_options   o = KN_RISK_OPTIONS_INIT;
    kn_risk          *r = NULL;
    kn_error          err = KN_ERROR_INIT;
    o.quasi = names;
    o.quasi_count = 1;
    o.missing = KN_MISSING_DROP;
    o.population = table;
    o.weight = "w";
    o.sampled = true;
    o.sampling = (kn_fraction){1, 2};
    assert_ok(kn_risk_measure(&r, ctx, table, &o, &err), err);
    assert_int_equal(r->records, 0);
    assert_int_equal(r->dropped, 2);
    assert_true(r->prosecutor.highest == 0 && r->journalist.average == 0 && r->individual.expected == 0);
    assert_true(r->estimates[0].uniques == 0 && r->estimates[1].uniques == 0 && isnan(r->intrusion));
    kn_risk_free(r);
    kn_table_free(table);
    testing_context_free(ctx);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, 8, 8);
    kn_context *home = testing_context(1);
    sheet       s = random_sheet(&rng, true, 5), p = random_sheet(&rng, true, 6);
    kn_table   *table = read_sheet(home, &s), *population = read_sheet(home, &p);
    for (int kind = 0; kind < 2; kind++) {
        kn_risk_options o = KN_RISK_OPTIONS_INIT;
        o.quasi = names;
        o.quasi_count = 3;
        if (kind == 0) {
            o.entity = "who";
        } else {
            o.population = population;
            o.weight = "w";
            o.sampled = true;
            o.sampling = (kn_fraction){1, 20};
        }
        kn_status st = KN_MEMORY;
        int64_t   refuse = 0;
        for (; st != KN_OK; refuse++) {
            testing_allocator memory = {.refuse_at = refuse};
            kn_context       *ctx = NULL;
            kn_risk          *r = NULL;
            kn_error          err = KN_ERROR_INIT;
            st = testing_refusing_context(&ctx, &memory, 1, &err);
            if (st == KN_OK) st = kn_risk_measure(&r, ctx, table, &o, &err);
            if (st != KN_OK) {
                assert_int_equal(st, KN_MEMORY);
                assert_null(r);
            } else {
                compare_prosecutor(&s, r, &o);
            }
            kn_risk_free(r);
            kn_context_free(ctx);
            assert_int_equal(memory.live, 0);
        }
        assert_true(refuse > 10);
    }
    kn_table_free(population);
    kn_table_free(table);
    testing_context_free(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_equals_nested_loops),
        cmocka_unit_test(the_threshold_is_exact),
        cmocka_unit_test(almost_a_census),
        cmocka_unit_test(values_match_across_tables),
        cmocka_unit_test(estimates_equal_their_formulas),
        cmocka_unit_test(estimates_come_close_on_known_populations),
        cmocka_unit_test(large_samples_are_estimated),
        cmocka_unit_test(a_sampled_table_is_estimated),
        cmocka_unit_test(bad_questions_are_refused),
        cmocka_unit_test(no_rows_no_risk),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("risk", tests, NULL, NULL);
}
