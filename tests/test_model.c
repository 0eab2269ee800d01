/* test_model.c: privacy models against twins written in another way (the earth mover's distance as a transport problem,
 * shares row by row), examples worked out by hand, reports against counting row by row.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <assert.h>
#include <kanon/models.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_model.h"
#include "kn_rng.h"
#include "transport.h"

enum { MOST_VALUES = 9, MOST_CODES = MOST_VALUES + 1 };
static_assert((int)MOST_CODES <= (int)TRANSPORT_MOST, "the transport problem has room for every code");

/* ---- A column with a random hierarchy ---- */

typedef struct domain {
    int           values;               /* code `values` is "missing" */
    char          path[MOST_VALUES][8]; /* groups from the root down, one letter each */
    int           height;
    kn_table     *table; /* each value once, and a missing cell */
    kn_hierarchy *hierarchy;
} domain;

/* Values v0, v1, ...; a group's label is the path to it. */
static void random_hierarchy_file(domain *d, kn_rng *rng, char *text)
{
    size_t n = 0;
    bool   even = kn_rng_below(rng, 2);
    int    depth = (int)kn_rng_below(rng, 4);
    d->height = 1;
    for (int v = 0; v < d->values; v++) {
        int groups = even ? depth : (int)kn_rng_below(rng, 4);
        for (int g = 0; g < groups; g++) d->path[v][g] = (char)('A' + kn_rng_below(rng, 2));
        d->path[v][groups] = 0;
        if (groups + 1 > d->height) d->height = groups + 1;
    }
    for (int v = 0; v < d->values; v++) {
        n += (size_t)sprintf(text + n, "v%d;", v);
        for (int g = (int)strlen(d->path[v]); g > 0; g--) n += (size_t)sprintf(text + n, "%.*s;", g, d->path[v]);
        n += (size_t)sprintf(text + n, "*\n");
    }
}

static domain make_domain(kn_context *ctx, kn_rng *rng)
{
    domain   d = {.values = 1 + (int)kn_rng_below(rng, MOST_VALUES)};
    kn_error err = KN_ERROR_INIT;
    char     text[1000] = "s,x\n";
    for (int v = 0; v < d.values; v++) sprintf(text + strlen(text), "v%d,1\n", v);
    strcat(text, ",1\n");
    assert_ok(kn_table_read_csv(&d.table, ctx, testing_file("domain.csv", text, strlen(text)), NULL, &err), err);
    random_hierarchy_file(&d, rng, text);
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    spec.path = testing_file("domain_hierarchy.csv", text, strlen(text));
    spec.delimiter = ';';
    assert_ok(kn_hierarchy_make(&d.hierarchy, ctx, d.table, 0, &spec, false, &err), err);
    return d;
}

static void free_domain(domain *d)
{
    kn_hierarchy_free(d->hierarchy);
    kn_table_free(d->table);
}

/* ---- One class against one reference ---- */

typedef struct sample {
    int          values;
    int64_t      here[MOST_CODES], there[MOST_CODES], n, total;
    uint32_t     codes[MOST_CODES];
    int64_t      counts[MOST_CODES];
    kn_histogram histogram;
} sample;

/* Half of the classes are part of the reference; the others may have values that it has not. */
static void random_sample(sample *s, kn_rng *rng, int values)
{
    *s = (sample){.values = values};
    bool part = kn_rng_below(rng, 2), missing = kn_rng_below(rng, 3) > 0;
    int  most = 1 + (int)kn_rng_below(rng, 12), kept = 0;
    for (int i = 0; i <= values; i++) {
        if (i == values && !missing) continue;
        s->there[i] = (int64_t)kn_rng_below(rng, (uint64_t)most + 1);
        s->here[i] = (int64_t)kn_rng_below(rng, part ? (uint64_t)s->there[i] + 1 : (uint64_t)most + 1);
        if (kn_rng_below(rng, 3) == 0) s->here[i] = 0;
    }
    s->there[0] += 1; /* neither is empty */
    bool empty = true;
    for (int i = 0; i <= values; i++) empty = empty && s->here[i] == 0;
    s->here[0] += empty;
    for (int i = 0; i <= values; i++) {
        s->n += s->here[i];
        s->total += s->there[i];
        if (s->here[i] == 0) continue;
        s->codes[kept] = (uint32_t)i;
        s->counts[kept++] = s->here[i];
    }
    s->histogram = (kn_histogram){s->codes, s->counts, kept, s->n};
}

static kn_reference reference_of(kn_context *ctx, const sample *s, const kn_hierarchy *hierarchy)
{
    kn_error     err = KN_ERROR_INIT;
    kn_reference r;
    int64_t     *counts = kn_alloc_array(ctx, (size_t)s->values + 1, sizeof *counts);
    assert_non_null(counts);
    memcpy(counts, s->there, ((size_t)s->values + 1) * sizeof *counts);
    assert_ok(kn_reference_make(&r, ctx, counts, (uint32_t)s->values, hierarchy, &err), err);
    return r;
}

typedef enum distance { EQUAL, ORDERED, TREE } distance;

/* Both sides scaled to n × total; the result is over that times the scale of the cost. */
static kn_quotient twin_distance(const sample *s, distance kind, const domain *d)
{
    int64_t supply[MOST_CODES], demand[MOST_CODES], cost[MOST_CODES][MOST_CODES];
    int64_t scale = kind == EQUAL ? 1 : kind == ORDERED ? (s->values > 1 ? s->values - 1 : 1) : d->height;
    for (int i = 0; i <= s->values; i++) {
        supply[i] = s->here[i] * s->total;
        demand[i] = s->there[i] * s->n;
        for (int j = 0; j <= s->values; j++) {
            bool detached = i == s->values || j == s->values;
            cost[i][j] = scale;
            if (i == j) {
                cost[i][j] = 0;
            } else if (kind == ORDERED && !detached) {
                cost[i][j] = abs(i - j);
            } else if (kind == TREE && !detached) {
                int same = 0; /* groups that the two have in common below the root */
                while (d->path[i][same] && d->path[i][same] == d->path[j][same]) same++;
                cost[i][j] = d->height - same;
            }
        }
    }
    int64_t work = transport(s->values + 1, supply, demand, cost);
    return (kn_quotient){(kn_u128)work, (kn_u128)(s->n * s->total * scale)};
}

static void assert_quotient(kn_quotient a, kn_quotient b, const char *what)
{
    if (kn_quotient_compare(a, b) != 0)
        fail_msg("%s: %.17g, not %.17g", what, kn_quotient_double(a), kn_quotient_double(b));
}

static void assert_near(double a, double b, const char *what)
{
    if (a == b || (isnan(a) && isnan(b))) return;
    if (isfinite(a) && isfinite(b) && fabs(a - b) <= 1e-12 * fmax(1, fabs(b))) return; /* inf <= inf is true */
    fail_msg("%s: %.17g, not %.17g", what, a, b);
}

/* Does the model hold exactly up to the bound reached, and not one step of its denominator below it? */
static void assert_sharp(kn_model m, kn_quotient reached, const sample *s, const kn_reference *r, kn_scratch *scratch)
{
    if (reached.denominator == 0) return;
    m.bound = (kn_ratio){(uint64_t)reached.numerator, (uint64_t)reached.denominator};
    assert_true(kn_model_satisfied(&m, &s->histogram, r, scratch));
    m.bound.numerator += 1;
    assert_true(kn_model_satisfied(&m, &s->histogram, r, scratch));
    if (reached.numerator == 0) return;
    m.bound.numerator -= 2;
    assert_false(kn_model_satisfied(&m, &s->histogram, r, scratch));
}

static void compare_distances(const sample *s, const domain *d, const kn_reference *r, kn_scratch *scratch)
{
    kn_quotient equal = kn_t_equal_reached(&s->histogram, r);
    kn_quotient ordered = kn_t_ordered_reached(&s->histogram, r, scratch);
    kn_quotient tree = kn_t_hierarchical_reached(&s->histogram, r, scratch);
    assert_quotient(equal, twin_distance(s, EQUAL, d), "equal");
    assert_quotient(ordered, twin_distance(s, ORDERED, d), "ordered");
    assert_quotient(tree, twin_distance(s, TREE, d), "hierarchical");
    double half = 0; /* of the L1 distance */
    for (int i = 0; i <= s->values; i++)
        half += fabs((double)s->here[i] / (double)s->n - (double)s->there[i] / (double)s->total) / 2;
    assert_near(kn_quotient_double(equal), half, "half L1");
    assert_sharp((kn_model){.kind = KN_MODEL_T_EQUAL}, equal, s, r, scratch);
    assert_sharp((kn_model){.kind = KN_MODEL_T_ORDERED}, ordered, s, r, scratch);
    assert_sharp((kn_model){.kind = KN_MODEL_T_HIERARCHICAL}, tree, s, r, scratch);
}

static void every_distance_is_the_cheapest_transport(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    kn_context *ctx = testing_context(1);
    for (int round = 0; round < testing_rounds(300); round++) {
        domain d = make_domain(ctx, &rng);
        for (int i = 0; i < 50; i++) {
            sample s;
            random_sample(&s, &rng, d.values);
            kn_reference r = reference_of(ctx, &s, d.hierarchy);
            kn_scratch   scratch;
            kn_error     err = KN_ERROR_INIT;
            assert_ok(kn_scratch_make(&scratch, &r, &err), err);
            compare_distances(&s, &d, &r, &scratch);
            compare_distances(&s, &d, &r, &scratch); /* scratch was left as it was found */
            kn_scratch_free(&scratch);
            kn_reference_free(&r);
        }
        free_domain(&d);
    }
    testing_context_free(ctx);
}

static int descending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

static void check_diversity(const sample *s)
{
    int64_t sorted[MOST_CODES];
    int     values = 0;
    double  entropy = 0;
    for (int i = 0; i <= s->values; i++) {
        if (s->here[i] == 0) continue;
        double share = (double)s->here[i] / (double)s->n;
        sorted[values++] = s->here[i];
        entropy -= share * log(share);
    }
    qsort(sorted, (size_t)values, sizeof *sorted, descending);
    assert_int_equal(kn_distinct_reached(&s->histogram), values);
    assert_near(kn_entropy_reached(&s->histogram), exp(entropy), "entropy");
    for (int l = 2; l <= values + 1; l++) {
        int64_t rest = 0;
        for (int i = l - 1; i < values; i++) rest += sorted[i];
        kn_quotient c = kn_recursive_reached(&s->histogram, (uint64_t)l);
        assert_quotient(c, (kn_quotient){(kn_u128)sorted[0], (kn_u128)rest}, "recursive");
        if (rest == 0) continue;
        kn_model m = {.kind = KN_MODEL_RECURSIVE, .l = {(uint64_t)l, 1}, .c = {(uint64_t)sorted[0], (uint64_t)rest}};
        assert_false(kn_model_satisfied(&m, &s->histogram, NULL, NULL)); /* r1 < c × rest is strict */
        m.c.numerator++;
        assert_true(kn_model_satisfied(&m, &s->histogram, NULL, NULL));
    }
    kn_quotient alpha = kn_alpha_reached(&s->histogram);
    assert_quotient(alpha, (kn_quotient){(kn_u128)sorted[0], (kn_u128)s->n}, "alpha");
    assert_sharp((kn_model){.kind = KN_MODEL_ALPHA_K, .k = s->n}, alpha, s, NULL, NULL);
    kn_model m = {.kind = KN_MODEL_ALPHA_K, .k = s->n + 1, .bound = {1, 1}};
    assert_false(kn_model_satisfied(&m, &s->histogram, NULL, NULL));
}

static void check_likeness(const sample *s, const kn_reference *r)
{
    double beta = 0, delta = 0;
    bool   within = true, lacks = false;
    for (int i = 0; i <= s->values; i++) {
        double p = (double)s->here[i] / (double)s->n, q = (double)s->there[i] / (double)s->total;
        lacks = lacks || (p == 0 && q > 0);
        if (p == 0) continue;
        if (p > q) {
            beta = fmax(beta, q > 0 ? (p - q) / q : INFINITY);
            within = within && q > 0 && (p - q) / q <= -log(q);
        }
        delta = fmax(delta, q > 0 ? fabs(log(p) - log(q)) : INFINITY);
    }
    kn_quotient reached = kn_beta_reached(&s->histogram, r);
    kn_model    m = {.kind = KN_MODEL_BETA_ENHANCED};
    assert_near(kn_quotient_double(reached), beta, "beta");
    assert_int_equal(kn_beta_within_log(&s->histogram, r), within);
    assert_near(kn_model_reached(&m, &s->histogram, r, NULL), within ? beta : INFINITY, "enhanced beta");
    assert_near(kn_delta_present(&s->histogram, r), delta, "delta over the values present");
    assert_int_equal(kn_lacks_value(&s->histogram, r), lacks);
    assert_near(kn_delta_reached(&s->histogram, r), lacks ? INFINITY : delta, "delta");
    assert_sharp((kn_model){.kind = KN_MODEL_BETA_BASIC}, reached, s, r, NULL);
    if (within) assert_sharp(m, reached, s, r, NULL);
    m.bound = (kn_ratio){1000000, 1};
    assert_int_equal(kn_model_satisfied(&m, &s->histogram, r, NULL), within);
    m.kind = KN_MODEL_DELTA;
    assert_int_equal(kn_model_satisfied(&m, &s->histogram, r, NULL), !lacks && delta < INFINITY);
}

static void every_other_model_equals_its_definition(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 2);
    kn_context *ctx = testing_context(1);
    for (int round = 0; round < testing_rounds(20000); round++) {
        sample s;
        random_sample(&s, &rng, 1 + (int)kn_rng_below(&rng, MOST_VALUES));
        kn_reference r = reference_of(ctx, &s, NULL);
        check_diversity(&s);
        check_likeness(&s, &r);
        kn_reference_free(&r);
    }
    testing_context_free(ctx);
}

/* ---- By hand ---- */

/* Li, Li, Venkatasubramanian 2007: salaries 3k to 11k, once each; three of them in a class. */
static kn_quotient salaries(kn_context *ctx, uint32_t a, uint32_t b, uint32_t c)
{
    sample s = {.values = 9, .codes = {a - 3, b - 3, c - 3}, .counts = {1, 1, 1}};
    for (int i = 0; i < 9; i++) s.there[i] = 1;
    s.histogram = (kn_histogram){s.codes, s.counts, 3, 3};
    kn_reference r = reference_of(ctx, &s, NULL);
    kn_quotient  q = kn_t_ordered_reached(&s.histogram, &r, NULL); /* nothing is missing: no scratch needed */
    kn_reference_free(&r);
    return q;
}

static void salaries_as_published(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    assert_quotient(salaries(ctx, 3, 4, 5), (kn_quotient){3, 8}, "{3,4,5}: 0.375");
    assert_quotient(salaries(ctx, 6, 8, 11), (kn_quotient){1, 6}, "{6,8,11}: 0.167");
    assert_quotient(salaries(ctx, 3, 5, 9), (kn_quotient){1, 6}, "{3,5,9}: 0.167");
    assert_quotient(salaries(ctx, 4, 7, 10), (kn_quotient){1, 12}, "{4,7,10}: 0.083");
    assert_quotient(salaries(ctx, 4, 5, 6), (kn_quotient){5, 18}, "{4,5,6}: 0.278");
    testing_context_free(ctx);
}

static kn_histogram histogram_of(const uint32_t *codes, const int64_t *counts, int64_t values)
{
    kn_histogram h = {codes, counts, values, 0};
    for (int64_t i = 0; i < values; i++) h.rows += counts[i];
    return h;
}

static void entropy_is_exact_where_it_can_be(void **state)
{
    (void)state;
    static const uint32_t codes[] = {0, 1, 2, 3, 4, 5, 6};
    kn_model              m = {.kind = KN_MODEL_ENTROPY};
    for (int64_t count = 1; count < 3000; count = count * 3 + 1) {
        for (int64_t values = 1; values <= 7; values++) { /* equally frequent: never l - 1e-16 */
            int64_t      counts[] = {count, count, count, count, count, count, count};
            kn_histogram h = histogram_of(codes, counts, values);
            m.l = (kn_ratio){(uint64_t)values, 1};
            assert_true(kn_entropy_reached(&h) == (double)values);
            assert_true(kn_model_satisfied(&m, &h, NULL, NULL));
            m.l = (kn_ratio){(uint64_t)values * 1000 + 1, 1000};
            assert_false(kn_model_satisfied(&m, &h, NULL, NULL));
        }
    }
    static const int64_t halves[] = {4, 1, 1, 1, 1}; /* 1/2, 1/8 × 4: two bits */
    kn_histogram         h = histogram_of(codes, halves, 5);
    assert_true(kn_entropy_reached(&h) == 4);
    static const int64_t merged[] = {1, 5}; /* {a,b} merged with {b,b,b,b}: entropy falls (docs/errata.md 3) */
    kn_histogram         g = histogram_of(codes, merged, 2);
    assert_true(kn_entropy_reached(&g) < 2);
    assert_false(kn_model_monotone(KN_MODEL_ENTROPY, true));
    assert_true(kn_model_monotone(KN_MODEL_DISTINCT, true));
    assert_true(kn_model_monotone(KN_MODEL_T_ORDERED, false));
}

static void quotients_beyond_64_bits(void **state)
{
    (void)state;
    kn_u128     big = ((kn_u128)1 << 126) + 1;
    kn_quotient a = {big, big + 1}, b = {big + 1, big + 2}; /* x / (x + 1) rises */
    assert_true(kn_quotient_compare(a, b) < 0);
    assert_true(kn_quotient_compare(b, a) > 0);
    assert_int_equal(kn_quotient_compare(a, a), 0);
    assert_int_equal(kn_quotient_compare((kn_quotient){big * 2, big}, (kn_quotient){2, 1}), 0);
    assert_true(kn_quotient_compare((kn_quotient){1, 0}, b) > 0);
    assert_int_equal(kn_quotient_compare((kn_quotient){1, 0}, (kn_quotient){5, 0}), 0);
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < testing_rounds(20000);
         round++) { /* (x, y) scaled up keeps the order that products of x, y give */
        uint64_t v[4];
        for (int i = 0; i < 4; i++) v[i] = 1 + kn_rng_below(&rng, 1u << (1 + kn_rng_below(&rng, 30)));
        kn_u128 left = (kn_u128)v[0] * v[3], right = (kn_u128)v[2] * v[1];
        kn_u128 f = (kn_u128)kn_rng_next(&rng) << 30 | 1, g = (kn_u128)kn_rng_next(&rng) << 30 | 1;
        int     order = kn_quotient_compare((kn_quotient){v[0] * f, v[1] * f}, (kn_quotient){v[2] * g, v[3] * g});
        assert_int_equal(order, left < right ? -1 : left > right);
    }
}

static void parameters_are_checked(void **state)
{
    (void)state;
    kn_ratio r;
    assert_true(kn_ratio_parse("2.50", &r) && r.numerator == 250 && r.denominator == 100);
    assert_true(kn_ratio_parse("15%", &r) && r.numerator == 15 && r.denominator == 100);
    assert_true(kn_ratio_parse("1200", &r) && r.numerator == 1200 && r.denominator == 1);
    static const char *const bad[] = {"", ".", "-1", "1e3", "1,5", "x", "1 ", "%", "1.2.3", "1234567890123456789"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(kn_ratio_parse(bad[i], &r));

    static const struct {
        kn_model    model;
        const char *message; /* NULL: fine */
    } cases[] = {
        {{.kind = KN_MODEL_K, .k = 1}, NULL},
        {{.kind = KN_MODEL_K, .k = 0}, "k: k must be at least 1"},
        {{.kind = KN_MODEL_K, .k = 2, .attribute = "s"}, "k: k is of a table, not of a column"},
        {{.kind = KN_MODEL_DISTINCT, .l = {2, 1}}, "l-diversity: it needs a sensitive column"},
        {{.kind = KN_MODEL_DISTINCT, .attribute = "s", .l = {5, 2}}, "l-diversity: l must be a whole number"},
        {{.kind = KN_MODEL_ENTROPY, .attribute = "s", .l = {5, 2}}, NULL},
        {{.kind = KN_MODEL_ENTROPY, .attribute = "s", .l = {1, 2}}, "l-diversity: l must be at least 1"},
        {{.kind = KN_MODEL_RECURSIVE, .attribute = "s", .l = {2, 1}, .c = {0, 1}},
         "l-diversity: c must be greater than 0"},
        {{.kind = KN_MODEL_T_EQUAL, .attribute = "s", .bound = {0, 1}}, NULL},
        {{.kind = KN_MODEL_T_ORDERED, .attribute = "s", .bound = {11, 10}}, "t-closeness: t must be between 0 and 1"},
        {{.kind = KN_MODEL_ALPHA_K, .attribute = "s", .k = 2, .bound = {0, 1}},
         "alpha-k: alpha must be greater than 0 and at most 1"},
        {{.kind = KN_MODEL_BETA_BASIC, .attribute = "s", .bound = {0, 1}},
         "beta-likeness: beta must be greater than 0"},
        {{.kind = KN_MODEL_BETA_ENHANCED, .attribute = "s", .bound = {3, 1}}, NULL},
        {{.kind = KN_MODEL_DELTA, .attribute = "s", .bound = {1, 0}}, "delta-disclosure: delta must be greater than 0"},
        {{.kind = KN_MODEL_K_MAP, .k = 3}, NULL},
        {{.kind = KN_MODEL_K_MAP}, "k-map: k must be at least 1"},
        {{.kind = KN_MODEL_K_MAP, .k = 3, .attribute = "s"}, "k-map: k-map is of a table, not of a column"},
        {{.kind = KN_MODEL_PRESENCE, .bound = {1, 2}, .low = {0, 1}}, NULL},
        {{.kind = KN_MODEL_PRESENCE, .bound = {1, 2}, .low = {50, 100}}, NULL},
        {{.kind = KN_MODEL_PRESENCE, .bound = {1, 2}, .low = {51, 100}}, "delta-presence: min must be at most max"},
        {{.kind = KN_MODEL_PRESENCE, .bound = {1, 2}},
         "delta-presence: min must be at most max"}, /* no number at all */
        {{.kind = KN_MODEL_PRESENCE, .bound = {0, 1}, .low = {0, 1}},
         "delta-presence: max must be greater than 0 and at most 1"},
        {{.kind = KN_MODEL_PRESENCE, .bound = {2, 1}, .low = {0, 1}},
         "delta-presence: max must be greater than 0 and at most 1"},
        {{.kind = KN_MODEL_MAX_RISK, .bound = {1, 1}}, NULL},
        {{.kind = KN_MODEL_MAX_RISK, .bound = {0, 1}}, "max-risk: risk must be greater than 0 and at most 1"},
        {{.kind = KN_MODEL_AVERAGE_RISK, .bound = {5, 4}}, "average-risk: risk must be greater than 0 and at most 1"},
        {{.kind = KN_MODEL_AVERAGE_RISK, .bound = {1, 9}}, NULL},
        {{.kind = KN_MODEL_KINDS}, "there is no such privacy model"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_error  err = KN_ERROR_INIT;
        kn_status st = kn_model_check(&cases[i].model, &err);
        assert_int_equal(st, cases[i].message ? KN_USAGE : KN_OK);
        if (cases[i].message) assert_string_equal(err.message, cases[i].message);
    }
    kn_model_kind kind;
    for (int i = 0; i < KN_MODEL_KINDS; i++) {
        assert_true(kn_model_parse(kn_model_name((kn_model_kind)i), kn_model_variant((kn_model_kind)i), &kind));
        assert_int_equal(kind, i);
    }
    assert_true(kn_model_parse("l-diversity", NULL, &kind));
    assert_int_equal(kind, KN_MODEL_DISTINCT);
    assert_true(kn_model_parse("t-closeness", NULL, &kind));
    assert_int_equal(kind, KN_MODEL_T_EQUAL);
    assert_true(kn_model_parse("beta-likeness", NULL, &kind));
    assert_int_equal(kind, KN_MODEL_BETA_BASIC);
    assert_false(kn_model_parse("l-diversity", "equal", &kind));
    assert_false(kn_model_parse("k", "distinct", &kind));
}

/* ---- Reports ---- */

enum { QUASI = 3, MOST_ROWS = 60 };

typedef struct sheet {
    int rows, values;
    int cell[MOST_ROWS][QUASI + 2]; /* -1: missing; quasi-identifiers, then the sensitive columns s and u */
} sheet;

static const char *const quasi_names[] = {"a", "b", "c"};
static const char *const sensitive_names[] = {"s", "u"};

static sheet random_sheet(kn_rng *rng, bool missing)
{
    sheet s = {.rows = 1 + (int)kn_rng_below(rng, MOST_ROWS), .values = 1 + (int)kn_rng_below(rng, MOST_VALUES)};
    for (int r = 0; r < s.rows; r++) {
        for (int c = 0; c < QUASI + 2; c++) {
            s.cell[r][c] = (int)kn_rng_below(rng, c < QUASI ? 3 : (uint64_t)s.values);
            if (missing && kn_rng_below(rng, 8) == 0) s.cell[r][c] = -1;
        }
    }
    return s;
}

static kn_table *read_sheet(kn_context *ctx, const sheet *s)
{
    char  *text = malloc(64 + (size_t)s->rows * 64);
    size_t n = 0;
    assert_non_null(text);
    n += (size_t)sprintf(text, "a,b,c,s,u\n");
    for (int r = 0; r < s->rows; r++)
        for (int c = 0; c < QUASI + 2; c++) {
            if (s->cell[r][c] >= 0) n += (size_t)sprintf(text + n, c == QUASI ? "%d" : "v%d", s->cell[r][c]);
            n += (size_t)sprintf(text + n, c == QUASI + 1 ? "\n" : ",");
        }
    const char *path = testing_file("models.csv", text, n);
    free(text);
    kn_table      *table = NULL;
    kn_error       err = KN_ERROR_INIT;
    kn_column_type types[] = {{"s", KN_TYPE_INTEGER, NULL}};
    kn_csv_options options = KN_CSV_OPTIONS_INIT;
    options.types = types; /* a column with nothing but missing cells too */
    options.type_count = 1;
    assert_ok(kn_table_read_csv(&table, ctx, path, &options, &err), err);
    assert_int_equal(kn_table_rows(table), s->rows);
    return table;
}

/* The hierarchy of the two sensitive columns: even and odd numbers, then all. */
static kn_hierarchy *parity(kn_context *ctx, const kn_table *table, int column)
{
    char text[500] = "";
    for (int v = 0; v < MOST_VALUES; v++)
        sprintf(text + strlen(text), "%s%d;%s;*\n", column == QUASI ? "" : "v", v, v % 2 ? "odd" : "even");
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    kn_hierarchy     *h = NULL;
    kn_error          err = KN_ERROR_INIT;
    spec.path = testing_file("parity.csv", text, strlen(text));
    spec.delimiter = ';';
    assert_ok(kn_hierarchy_make(&h, ctx, table, column, &spec, false, &err), err);
    return h;
}

static bool same_class(const sheet *s, int a, int b, uint64_t set)
{
    for (int c = 0; c < QUASI; c++)
        if ((set >> c & 1) && s->cell[a][c] != s->cell[b][c]) return false;
    return true;
}

static bool set_aside(const sheet *s, int r, uint64_t set, kn_missing how)
{
    for (int c = 0; c < QUASI && how == KN_MISSING_DROP; c++)
        if ((set >> c & 1) && s->cell[r][c] < 0) return true;
    return false;
}

/* The class of row r as a sample; values that occur nowhere in the column are left out, as a dictionary does. */
static void class_of(sample *out, domain *d, const sheet *s, int r, uint64_t set, kn_missing how, int column)
{
    int code[MOST_VALUES], codes = 0;
    for (int v = 0; v < MOST_VALUES; v++) {
        bool occurs = false;
        for (int q = 0; q < s->rows; q++) occurs = occurs || s->cell[q][column] == v;
        code[v] = codes;
        if (occurs) strcpy(d->path[codes++], v % 2 ? "O" : "E");
    }
    d->height = 2;
    *out = (sample){.values = codes};
    for (int q = 0; q < s->rows; q++) {
        int i = s->cell[q][column] < 0 ? codes : code[s->cell[q][column]];
        out->there[i]++;
        out->total++;
        if (set_aside(s, q, set, how) || !same_class(s, r, q, set)) continue;
        out->here[i]++;
        out->n++;
    }
}

static void naive_class(kn_model_figures *f, const sample *s, const domain *d)
{
    int64_t values = 0, sorted[MOST_CODES];
    double  entropy = 0, beta = 0, delta = 0;
    bool    within = true, lacks = false;
    for (int i = 0; i <= s->values; i++) {
        double p = (double)s->here[i] / (double)s->n, q = (double)s->there[i] / (double)s->total;
        lacks = lacks || (p == 0 && q > 0);
        if (p == 0) continue;
        sorted[values++] = s->here[i];
        entropy -= p * log(p);
        beta = fmax(beta, p / q - 1);
        within = within && p / q - 1 <= fmax(0, -log(q)) + 1e-15; /* p = q = 1 may miss 0 by rounding */
        delta = fmax(delta, fabs(log(p / q)));
    }
    qsort(sorted, (size_t)values, sizeof *sorted, descending);
    double after[2] = {0, 0};
    for (int64_t i = 1; i < values; i++) after[0] += (double)sorted[i];
    for (int64_t i = 2; i < values; i++) after[1] += (double)sorted[i];
    f->distinct_l = values < f->distinct_l ? values : f->distinct_l;
    f->entropy_l = fmin(f->entropy_l, exp(entropy));
    f->recursive_c2 = fmax(f->recursive_c2, (double)sorted[0] / after[0]);
    f->recursive_c3 = fmax(f->recursive_c3, (double)sorted[0] / after[1]);
    f->t_equal = fmax(f->t_equal, kn_quotient_double(twin_distance(s, EQUAL, d)));
    f->t_ordered = fmax(f->t_ordered, kn_quotient_double(twin_distance(s, ORDERED, d)));
    f->t_hierarchical = fmax(f->t_hierarchical, kn_quotient_double(twin_distance(s, TREE, d)));
    f->alpha = fmax(f->alpha, (double)sorted[0] / (double)s->n);
    f->beta = fmax(f->beta, beta);
    f->beta_enhanced = fmax(f->beta_enhanced, within ? beta : INFINITY);
    f->delta = fmax(f->delta, lacks ? INFINITY : delta);
    f->delta_present = fmax(f->delta_present, delta);
    f->log_classes += !within;
    f->lacking_classes += lacks;
}

static void compare_figures(const kn_model_figures *f, const kn_model_figures *g)
{
    assert_int_equal(f->distinct_l, g->distinct_l);
    assert_near(f->entropy_l, g->entropy_l, "entropy l");
    assert_near(f->recursive_c2, g->recursive_c2, "c for l = 2");
    assert_near(f->recursive_c3, g->recursive_c3, "c for l = 3");
    assert_near(f->t_equal, g->t_equal, "t equal");
    assert_near(f->t_ordered, g->t_ordered, "t ordered");
    assert_near(f->t_hierarchical, g->t_hierarchical, "t hierarchical");
    assert_near(f->alpha, g->alpha, "alpha");
    assert_near(f->beta, g->beta, "beta");
    assert_near(f->beta_enhanced, g->beta_enhanced, "enhanced beta");
    assert_near(f->delta, g->delta, "delta");
    assert_near(f->delta_present, g->delta_present, "delta present");
    assert_int_equal(f->log_classes, g->log_classes);
    assert_int_equal(f->lacking_classes, g->lacking_classes);
}

typedef struct naive {
    kn_model_figures figures[2];
    int64_t          classes, k, dropped, violating_classes, violating_rows;
    int64_t          missed_classes[4], missed_rows[4];
} naive;

/* Asked in every report: k, distinct l on s, alpha on u, t (equal) on u. */
static void requirements(kn_model *m, kn_rng *rng)
{
    m[0] = (kn_model){.kind = KN_MODEL_K, .k = 1 + (int64_t)kn_rng_below(rng, 4)};
    m[1] = (kn_model){.kind = KN_MODEL_DISTINCT, .attribute = "s", .l = {1 + kn_rng_below(rng, 4), 1}};
    m[2] = (kn_model){.kind = KN_MODEL_ALPHA_K, .attribute = "u", .bound = {1 + kn_rng_below(rng, 8), 8}};
    m[3] = (kn_model){.kind = KN_MODEL_T_EQUAL, .attribute = "u", .bound = {kn_rng_below(rng, 9), 8}};
}

static void judge(naive *out, const kn_model *m, const sample *s, const sample *u, const domain *d)
{
    int64_t values = 0, most = 0;
    for (int i = 0; i <= s->values; i++) values += s->here[i] > 0;
    for (int i = 0; i <= u->values; i++) most = u->here[i] > most ? u->here[i] : most;
    kn_quotient t = twin_distance(u, EQUAL, d);
    bool        missed[4] = {
               s->n<m[0].k,
             values<(int64_t)m[1].l.numerator, most *(int64_t)m[2].bound.denominator>(int64_t) m[2].bound.numerator *
                 u->n,
             t.numerator * m[3].bound.denominator>
                   t.denominator *
               m[3].bound.numerator};
    bool any = false;
    for (int i = 0; i < 4; i++) {
        any = any || missed[i];
        out->missed_classes[i] += missed[i];
        out->missed_rows[i] += missed[i] ? s->n : 0;
    }
    out->violating_classes += any;
    out->violating_rows += any ? s->n : 0;
}

static void look_row_by_row(naive *out, const sheet *sheet_, uint64_t set, kn_missing how, const kn_model *models)
{
    *out = (naive){.k = 0};
    for (int c = 0; c < 2; c++) {
        out->figures[c].distinct_l = INT64_MAX;
        out->figures[c].entropy_l = INFINITY;
    }
    for (int r = 0; r < sheet_->rows; r++) {
        bool first = true;
        if (set_aside(sheet_, r, set, how)) {
            out->dropped++;
            continue;
        }
        for (int q = 0; q < r; q++) first = first && !same_class(sheet_, r, q, set);
        if (!first) continue;
        sample of[2];
        domain d[2] = {{0}, {0}};
        for (int c = 0; c < 2; c++) {
            class_of(&of[c], &d[c], sheet_, r, set, how, QUASI + c);
            naive_class(&out->figures[c], &of[c], &d[c]);
        }
        judge(out, models, &of[0], &of[1], &d[1]);
        out->classes++;
        if (out->k == 0 || of[0].n < out->k) out->k = of[0].n;
    }
    for (int c = 0; c < 2 && out->classes == 0; c++) out->figures[c] = (kn_model_figures){.distinct_l = 0};
}

static void compare_verdicts(const kn_model_verdict *v, const naive *n)
{
    for (int i = 0; i < 4; i++) {
        assert_int_equal(v[i].classes, n->missed_classes[i]);
        assert_int_equal(v[i].rows, n->missed_rows[i]);
        assert_int_equal(v[i].holds, n->classes > 0 && n->missed_classes[i] == 0);
    }
    assert_near(v[0].reached, (double)n->k, "k reached");
    assert_near(v[1].reached, (double)n->figures[0].distinct_l, "l reached");
    assert_near(v[2].reached, n->figures[1].alpha, "alpha reached");
    assert_near(v[3].reached, n->figures[1].t_equal, "t reached");
}

static void compare_sets(const kn_model_sets *sets, const sheet *s, const kn_model_options *o)
{
    assert_int_equal(sets->count, (1 << o->quasi_count) - 1);
    for (int64_t i = 0; i < sets->count; i++) {
        naive               n;
        const kn_model_set *set = &sets->sets[i];
        assert_int_equal(set->columns, i + 1);
        look_row_by_row(&n, s, set->columns, o->missing, o->requirements);
        assert_int_equal(set->k, n.k);
        assert_int_equal(set->classes, n.classes);
        assert_int_equal(set->dropped, n.dropped);
        assert_int_equal(set->violating_classes, n.violating_classes);
        assert_int_equal(set->violating_rows, n.violating_rows);
        assert_int_equal(set->holds, n.classes > 0 && n.violating_classes == 0);
        for (int c = 0; c < 2; c++) compare_figures(&set->figures[c], &n.figures[c]);
        compare_verdicts(set->verdicts, &n);
    }
}

static void reports_equal_counting_row_by_row(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 4);
    for (int round = 0; round < testing_rounds(400); round++) {
        static const int threads[] = {1, 2, 8};
        kn_context      *ctx = testing_context(threads[round % 3]);
        sheet            s = random_sheet(&rng, round % 4 > 0);
        kn_table        *table = read_sheet(ctx, &s);
        kn_hierarchy    *trees[2] = {parity(ctx, table, QUASI), parity(ctx, table, QUASI + 1)};
        kn_model         models[4];
        kn_model_options o = KN_MODEL_OPTIONS_INIT;
        kn_error         err = KN_ERROR_INIT;
        requirements(models, &rng);
        o.quasi = quasi_names;
        o.quasi_count = 1 + (int)kn_rng_below(&rng, QUASI);
        o.sensitive = sensitive_names;
        o.sensitive_count = 2;
        o.hierarchies = (const kn_hierarchy *const *)trees;
        o.requirements = models;
        o.requirement_count = 4;
        o.missing = kn_rng_below(&rng, 2) ? KN_MISSING_DROP : KN_MISSING_VALUE;
        kn_model_report *report = NULL;
        kn_model_sets   *sets = NULL;
        naive            n;
        assert_ok(kn_diagnose_models(&report, ctx, table, &o, &err), err);
        look_row_by_row(&n, &s, ((uint64_t)1 << o.quasi_count) - 1, o.missing, models);
        assert_int_equal(report->rows, s.rows);
        assert_int_equal(report->classes, n.classes);
        assert_int_equal(report->k, n.k);
        assert_int_equal(report->dropped, n.dropped);
        assert_int_equal(report->violating_classes, n.violating_classes);
        assert_int_equal(report->violating_rows, n.violating_rows);
        assert_int_equal(report->holds, n.classes > 0 && n.violating_classes == 0);
        for (int c = 0; c < 2; c++) compare_figures(&report->sensitive[c].figures, &n.figures[c]);
        compare_verdicts(report->verdicts, &n);
        assert_ok(kn_model_over_sets(&sets, ctx, table, &o, NULL, 0, &err), err);
        compare_sets(sets, &s, &o);
        kn_model_sets_free(sets);
        kn_model_report_free(report);
        kn_hierarchy_free(trees[0]);
        kn_hierarchy_free(trees[1]);
        kn_table_free(table);
        testing_context_free(ctx);
    }
}

/* Enough classes that several workers share them. */
static void any_number_of_threads_gives_the_same(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 5);
    char  *text = malloc(32 * ROWS);
    size_t n = (size_t)sprintf(text, "a,b,s\n");
    for (int r = 0; r < ROWS; r++) {
        n += (size_t)sprintf(text + n, "%d,%d,", (int)kn_rng_below(&rng, 100), (int)kn_rng_below(&rng, 60));
        n += kn_rng_below(&rng, 10) ? (size_t)sprintf(text + n, "%d\n", (int)kn_rng_below(&rng, 40))
                                    : (size_t)sprintf(text + n, "\n");
    }
    const char *path = testing_file("threads.csv", text, n);
    free(text);
    static const char *const quasi[] = {"a", "b"}, *const sensitive[] = {"s"};
    kn_model_figures figures[3], over[3][3];
    for (int i = 0; i < 3; i++) {
        kn_context      *ctx = testing_context(i == 0 ? 1 : i == 1 ? 2 : 8);
        kn_table        *table = NULL;
        kn_model_report *report = NULL;
        kn_model_sets   *sets = NULL;
        kn_error         err = KN_ERROR_INIT;
        kn_model_options o = KN_MODEL_OPTIONS_INIT;
        o.quasi = quasi;
        o.quasi_count = 2;
        o.sensitive = sensitive;
        o.sensitive_count = 1;
        assert_ok(kn_table_read_csv(&table, ctx, path, NULL, &err), err);
        assert_ok(kn_diagnose_models(&report, ctx, table, &o, &err), err);
        assert_ok(kn_model_over_sets(&sets, ctx, table, &o, NULL, 0, &err), err);
        assert_true(report->classes > 5000);
        assert_true(isnan(report->sensitive[0].figures.t_hierarchical)); /* none was given */
        figures[i] = report->sensitive[0].figures;
        for (int j = 0; j < 3; j++) over[i][j] = sets->sets[j].figures[0];
        assert_memory_equal(&figures[i], &over[i][2], sizeof figures[i]); /* {a, b} is both */
        assert_memory_equal(&figures[i], &figures[0], sizeof figures[i]);
        assert_memory_equal(over[i], over[0], sizeof over[i]);
        kn_model_sets_free(sets);
        kn_model_report_free(report);
        kn_table_free(table);
        testing_context_free(ctx);
    }
}

/* ---- Edges ---- */

static kn_model_figures figures_of(const char *text)
{
    static const char *const quasi[] = {"a"}, *const sensitive[] = {"s"};
    kn_context      *ctx = testing_context(1);
    kn_table        *table = NULL;
    kn_model_report *report = NULL;
    kn_error         err = KN_ERROR_INIT;
    kn_model_options o = KN_MODEL_OPTIONS_INIT;
    o.quasi = quasi;
    o.quasi_count = 1;
    o.sensitive = sensitive;
    o.sensitive_count = 1;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("edge.csv", text, strlen(text)), NULL, &err), err);
    assert_ok(kn_diagnose_models(&report, ctx, table, &o, &err), err);
    assert_true(report->holds); /* nothing was asked */
    kn_model_figures f = report->sensitive[0].figures;
    kn_model_report_free(report);
    kn_table_free(table);
    testing_context_free(ctx);
    return f;
}

static void edges(void **state)
{
    (void)state;
    kn_model_figures f = figures_of("a,s\n1,x\n1,y\n1,z\n1,z\n"); /* one class: it is the reference */
    assert_true(f.distinct_l == 3 && f.t_equal == 0 && f.t_ordered == 0 && f.beta == 0 && f.delta == 0);
    assert_true(f.beta_enhanced == 0 && f.alpha == 0.5 && f.recursive_c2 == 1 && f.recursive_c3 == 2);
    f = figures_of("a,s\n1,x\n2,x\n2,x\n"); /* one value */
    assert_true(f.distinct_l == 1 && f.entropy_l == 1 && isinf(f.recursive_c2) && f.alpha == 1);
    assert_true(f.t_equal == 0 && f.t_ordered == 0 && f.beta == 0 && f.delta == 0 && f.lacking_classes == 0);
    f = figures_of("a,s\n1,1\n2,2\n3,3\n4,4\n"); /* all distinct */
    assert_true(f.distinct_l == 1 && f.t_equal == 0.75 && f.t_ordered == 0.5 && f.beta == 3 && isinf(f.delta));
    assert_true(isinf(f.beta_enhanced) && f.log_classes == 4 && f.lacking_classes == 4); /* 3 > ln 4 */
    assert_near(f.delta_present, log(4), "ln 4");
    f = figures_of("a,s\n1,\n2,\n"); /* nothing but missing cells: one value */
    assert_true(f.distinct_l == 1 && f.t_equal == 0 && f.t_ordered == 0 && f.delta == 0);
    f = figures_of("a,s\n1,5\n1,5\n2,\n2,\n"); /* a value and missing cells: 1 apart, half of it moves */
    assert_true(f.t_equal == 0.5 && f.t_ordered == 0.5 && f.beta == 1 && isinf(f.delta));
    f = figures_of("a,s\n1,1\n1,2\n1,3\n2,\n"); /* class 1 gives 1/4 of its 3 values to "missing", anywhere: cost 1/4 */
    assert_true(f.t_ordered == 0.75);           /* class 2 gives 3/4 */
    f = figures_of("a,s\n");                    /* no rows */
    assert_true(f.distinct_l == 0 && f.entropy_l == 0 && f.t_equal == 0 && f.alpha == 0 && f.delta == 0);
}

static kn_table *small_table(kn_context *ctx, kn_error *err)
{
    static const char text[] = "a,b,s,u\n1,x,5,p\n1,y,6,q\n2,x,5,p\n2,,7,\n1,x,6,q\n";
    kn_table         *table = NULL;
    if (kn_table_read_csv(&table, ctx, testing_file("small.csv", text, strlen(text)), NULL, err) != KN_OK) return NULL;
    return table;
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    static const char *const ab[] = {"a", "b"}, *const aa[] = {"a", "a"}, *const as[] = {"a", "s"},
                             *const nowhere[] = {"a", "nowhere"}, *const ss[] = {"s", "s"}, *const su[] = {"s", "u"};
    kn_context      *ctx = testing_context(1);
    kn_error         err = KN_ERROR_INIT;
    kn_table        *table = small_table(ctx, &err);
    kn_model_report *report = NULL;
    kn_model_sets   *sets = NULL;
    kn_model         t = {.kind = KN_MODEL_T_HIERARCHICAL, .attribute = "s", .bound = {1, 2}};
    kn_hierarchy    *unbound = NULL, *wrong[] = {NULL, NULL};
    kn_model_options good = KN_MODEL_OPTIONS_INIT;
    assert_non_null(table);
    good.quasi = ab;
    good.quasi_count = 2;
    good.sensitive = su;
    good.sensitive_count = 2;
#define REFUSED(status_, text_)                                                                                        \
    do {                                                                                                               \
        assert_int_equal(kn_diagnose_models(&report, ctx, table, &o, &err), status_);                                  \
        assert_non_null(strstr(err.message, text_));                                                                   \
        assert_int_equal(kn_model_over_sets(&sets, ctx, table, &o, NULL, 0, &err), status_);                           \
        assert_true(report == NULL && sets == NULL);                                                                   \
        o = good;                                                                                                      \
    } while (0)
    kn_model_options o = good;
    o.size = 0;
    REFUSED(KN_USAGE, "size");
    o.quasi_count = 0;
    REFUSED(KN_USAGE, "empty");
    o.sensitive_count = 0;
    REFUSED(KN_USAGE, "no sensitive column");
    o.quasi = nowhere;
    REFUSED(KN_INPUT, "there is no column \"nowhere\"");
    o.sensitive = nowhere;
    REFUSED(KN_INPUT, "there is no column \"nowhere\"");
    o.quasi = aa;
    REFUSED(KN_USAGE, "column \"a\" is named twice among the quasi-identifiers");
    o.sensitive = ss;
    REFUSED(KN_USAGE, "column \"s\" is named twice among the sensitive columns");
    o.quasi = as;
    REFUSED(KN_USAGE, "column \"s\" cannot be both sensitive and a quasi-identifier");
    o.missing = KN_MISSING_WILDCARD;
    REFUSED(KN_USAGE, "wildcards");
    o.requirements = &t;
    o.requirement_count = 1;
    REFUSED(KN_USAGE, "hierarchical distance on column \"s\" needs a hierarchy");
    static const kn_model of_releases[] = {{.kind = KN_MODEL_K_MAP, .k = 2},
                                           {.kind = KN_MODEL_PRESENCE, .bound = {1, 2}, .low = {0, 1}},
                                           {.kind = KN_MODEL_AVERAGE_RISK, .bound = {1, 2}}};
    for (int i = 0; i < 3; i++) {
        o.requirements = &of_releases[i];
        o.requirement_count = 1;
        REFUSED(KN_USAGE, "ask for it in a release");
    }
    t.attribute = "nowhere";
    o.requirements = &t;
    o.requirement_count = 1;
    REFUSED(KN_INPUT, "there is no column \"nowhere\"");
    t.attribute = "b";
    o.requirements = &t;
    o.requirement_count = 1;
    REFUSED(KN_USAGE, "column \"b\" is not among the sensitive ones");
    t.bound = (kn_ratio){2, 1};
    o.requirements = &t;
    o.requirement_count = 1;
    REFUSED(KN_USAGE, "t must be between 0 and 1");
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    static const char lines[] = "5;*\n6;*\n7;*\n";
    spec.path = testing_file("unbound.csv", lines, strlen(lines));
    assert_ok(kn_hierarchy_read(&unbound, ctx, &spec, &err), err);
    wrong[0] = unbound;
    o.hierarchies = (const kn_hierarchy *const *)wrong;
    REFUSED(KN_USAGE, "not bound");
    assert_ok(kn_hierarchy_bind(unbound, table, 2, '.', false, &err), err);
    wrong[1] = unbound; /* of s, given for u, which has fewer values */
    o.hierarchies = (const kn_hierarchy *const *)wrong;
    REFUSED(KN_USAGE, "the hierarchy given for column \"u\" is not bound to it");
    static const uint64_t empty[] = {1, 0}, beyond[] = {4};
    assert_int_equal(kn_model_over_sets(&sets, ctx, table, &o, empty, 2, &err), KN_USAGE);
    assert_int_equal(kn_model_over_sets(&sets, ctx, table, &o, beyond, 1, &err), KN_USAGE);
    assert_int_equal(kn_model_over_sets(&sets, ctx, table, &o, empty, -1, &err), KN_USAGE);
    assert_int_equal(kn_diagnose_models(&report, ctx, table, NULL, &err), KN_USAGE);
    kn_model_report_free(NULL);
    kn_model_sets_free(NULL);
    kn_hierarchy_free(unbound);
    kn_table_free(table);
    testing_context_free(ctx);
}

/* A risk of 1/3 is k = 3. */
static void max_risk_is_k(void **state)
{
    (void)state;
    static const char *const quasi[] = {"q"}, *const sensitive[] = {"s"};
    static const char text[] = "q,s\nx,1\nx,2\nx,1\ny,1\ny,2\ny,2\ny,3\n";
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_table         *table = NULL;
    kn_model_report  *report = NULL;
    kn_model          models[] = {{.kind = KN_MODEL_MAX_RISK, .bound = {1, 3}},
                                  {.kind = KN_MODEL_MAX_RISK, .bound = {333, 1000}}};
    kn_model_options  o = KN_MODEL_OPTIONS_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("risk.csv", text, strlen(text)), NULL, &err), err);
    o.quasi = quasi;
    o.sensitive = sensitive;
    o.quasi_count = o.sensitive_count = 1;
    o.requirements = models;
    o.requirement_count = 2;
    assert_ok(kn_diagnose_models(&report, ctx, table, &o, &err), err);
    assert_true(report->verdicts[0].holds && !report->verdicts[1].holds);
    assert_true(report->verdicts[0].reached == 1.0 / 3);
    assert_int_equal(report->verdicts[1].rows, 3);
    assert_int_equal(report->violating_classes, 1);
    kn_model_report_free(report);
    kn_table_free(table);
    testing_context_free(ctx);
}

static void chosen_sets_come_in_the_order_given(void **state)
{
    (void)state;
    static const char *const ab[] = {"a", "b"}, *const su[] = {"s", "u"};
    static const uint64_t chosen[] = {3, 1, 3};
    kn_context           *ctx = testing_context(2);
    kn_error              err = KN_ERROR_INIT;
    kn_table             *table = small_table(ctx, &err);
    kn_model_sets        *sets = NULL;
    kn_model_options      o = KN_MODEL_OPTIONS_INIT;
    assert_non_null(table);
    o.quasi = ab;
    o.quasi_count = 2;
    o.sensitive = su;
    o.sensitive_count = 2;
    assert_ok(kn_model_over_sets(&sets, ctx, table, &o, chosen, 3, &err), err);
    assert_int_equal(sets->count, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(sets->sets[i].columns, chosen[i]);
    assert_int_equal(sets->sets[0].k, 1);
    assert_int_equal(sets->sets[0].classes, 4);
    assert_int_equal(sets->sets[1].k, 2);
    assert_int_equal(sets->sets[1].figures[0].distinct_l, 2);
    assert_memory_equal(sets->sets[0].figures, sets->sets[2].figures, 2 * sizeof *sets->sets[0].figures);
    kn_model_sets_free(sets);
    assert_ok(kn_model_over_sets(&sets, ctx, table, &o, chosen, 0, &err), err);
    assert_int_equal(sets->count, 0);
    kn_model_sets_free(sets);
    kn_table_free(table);
    testing_context_free(ctx);
}

/* ---- Memory ---- */

/* A whole job; KN_OK or KN_MEMORY. */
static kn_status small_job(kn_context *ctx)
{
    static const char *const ab[] = {"a", "b"}, *const su[] = {"s", "u"};
    kn_error          err = KN_ERROR_INIT;
    kn_table         *table = small_table(ctx, &err);
    kn_hierarchy     *trees[] = {NULL, NULL};
    kn_model_report  *report = NULL;
    kn_model_sets    *sets = NULL;
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    kn_model          models[] = {{.kind = KN_MODEL_T_HIERARCHICAL, .attribute = "s", .bound = {1, 2}},
                                  {.kind = KN_MODEL_K, .k = 2}};
    kn_model_options  o = KN_MODEL_OPTIONS_INIT;
    if (!table) return err.status;
    spec.kind = KN_HIERARCHY_SUPPRESS;
    o.quasi = ab;
    o.quasi_count = 2;
    o.sensitive = su;
    o.sensitive_count = 2;
    o.hierarchies = (const kn_hierarchy *const *)trees;
    o.requirements = models;
    o.requirement_count = 2;
    kn_status st = kn_hierarchy_make(&trees[0], ctx, table, 2, &spec, false, &err);
    if (st == KN_OK) st = kn_diagnose_models(&report, ctx, table, &o, &err);
    if (st == KN_OK) st = kn_model_over_sets(&sets, ctx, table, &o, NULL, 0, &err);
    if (st == KN_OK) {
        assert_int_equal(report->k, 1);
        assert_false(report->holds);
        assert_int_equal(sets->count, 3);
    } else {
        assert_true(sets == NULL);
        assert_true(strlen(err.message) > 0);
    }
    kn_model_report_free(report);
    kn_model_sets_free(sets);
    kn_hierarchy_free(trees[0]);
    kn_table_free(table);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_status st = KN_MEMORY;
    int64_t   refused = 0;
    for (; st != KN_OK; refused += testing_step()) {
        testing_allocator counting = {.refuse_at = refused};
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        st = testing_refusing_context(&ctx, &counting, 1, &err);
        if (st == KN_OK) {
            st = small_job(ctx);
            kn_context_free(ctx);
        }
        assert_true(st == KN_OK || st == KN_MEMORY);
        assert_int_equal(counting.live, 0);
        assert_true(refused < 5000);
    }
    print_message("%lld allocations refused\n", (long long)refused - 1);
    assert_true(refused > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_distance_is_the_cheapest_transport),
        cmocka_unit_test(every_other_model_equals_its_definition),
        cmocka_unit_test(salaries_as_published),
        cmocka_unit_test(entropy_is_exact_where_it_can_be),
        cmocka_unit_test(quotients_beyond_64_bits),
        cmocka_unit_test(parameters_are_checked),
        cmocka_unit_test(reports_equal_counting_row_by_row),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
        cmocka_unit_test(edges),
        cmocka_unit_test(bad_questions_are_refused),
        cmocka_unit_test(max_risk_is_k),
        cmocka_unit_test(chosen_sets_come_in_the_order_given),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
