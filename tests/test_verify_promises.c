/* test_verify_promises.c: promises about sensitive values of a database, judged by the verifier, against their definitions:
 * every way to assign rows that cannot be distinguished is tried. A class has n persons with c rows each that look alike.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verify_database_testing.h"

typedef struct dealing {
    int values[5][3]; /* person × row */
    int dealt[5][3];
    int n, c;
} dealing;

/* What is promised, and the counts of all values. */
typedef struct promised {
    const kn_model *model;
    int             all[PROMISED_VALUES];
} promised;

static bool counts_diverse(const kn_model *m, int *counts, int n)
{
    int    distinct = 0, rest = 0, l = (int)(m->l.numerator / m->l.denominator);
    double entropy = 0;
    for (int i = 0; i < 4; i++) /* descending */
        for (int j = i + 1; j < 4; j++)
            if (counts[j] > counts[i]) {
                int swap = counts[i];
                counts[i] = counts[j];
                counts[j] = swap;
            }
    for (int x = 0; x < 4; x++) {
        distinct += counts[x] > 0;
        if (counts[x] > 0) entropy -= (double)counts[x] / n * log((double)counts[x] / n);
        if (x >= l - 1) rest += counts[x];
    }
    if (m->kind == KN_MODEL_DISTINCT) return distinct >= l;
    if (m->kind == KN_MODEL_ENTROPY) return exp(entropy) >= (double)m->l.numerator / (double)m->l.denominator - 1e-9;
    return l <= 1 || counts[0] < (double)m->c.numerator / (double)m->c.denominator * rest;
}

static bool node_holds(const dealing *d, const promised *of, int node)
{
    int counts[PROMISED_VALUES] = {0};
    for (int p = 0; p < d->n; p++) counts[d->dealt[p][node]]++;
    if (of->model->kind > KN_MODEL_RECURSIVE) return naive_promise(of->model, counts, of->all);
    return counts_diverse(of->model, counts, d->n);
}

/* Is there a way to deal out the rows of each person so that every node holds? */
static bool some_dealing(dealing *d, const promised *of, int person)
{
    static const int orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    if (person >= d->n || person > 4) {
        for (int node = 0; node < d->c; node++)
            if (!node_holds(d, of, node)) return false;
        return true;
    }
    for (int o = 0; o < (d->c == 1 ? 1 : d->c == 2 ? 2 : 6); o++) {
        for (int i = 0; i < d->c; i++) d->dealt[person][i] = d->values[person][orders[o][i]];
        if (some_dealing(d, of, person + 1)) return true;
    }
    return false;
}

/* By definition: t-closeness is of all the rows together, everything else of every node. */
static bool class_holds(dealing *d, const promised *of)
{
    int counts[PROMISED_VALUES] = {0};
    if (of->model->kind < KN_MODEL_T_EQUAL || of->model->kind > KN_MODEL_T_HIERARCHICAL) return some_dealing(d, of, 0);
    for (int p = 0; p < d->n; p++)
        for (int i = 0; i < d->c; i++) counts[d->values[p][i]]++;
    return naive_promise(of->model, counts, of->all);
}

static double largest_share(const dealing *d)
{
    double share = 0;
    for (int x = 0; x < PROMISED_VALUES; x++) {
        int people = 0;
        for (int p = 0; p < d->n; p++) {
            bool has = false;
            for (int i = 0; i < d->c; i++) has = has || d->values[p][i] == x;
            people += has;
        }
        if ((double)people / d->n > share) share = (double)people / d->n;
    }
    return share;
}

/* Persons of the i-th class show v{i}. A row that belongs to nobody is in the original only. */
static void write_dealings(const dealing *list, int count, const char *in, const char *out)
{
    for (int side = 0; side < 2; side++) {
        texts       db = {.tables = 2};
        const char *prefix = side ? "" : "r";
        int         row = 0, person = 0;
        grid       *t0 = &db.grid[0], *t1 = &db.grid[1];
        *t0 = (grid){.table = "t0", .columns = 3, .name = {"id", "q0", "s"}};
        *t1 = (grid){.table = "t1", .columns = 4, .name = {"id", "up", "q0", "s"}};
        for (int k = 0; k < count; k++)
            for (int p = 0; p < list[k].n; p++, person++) {
                grid_add(t0);
                snprintf(t0->cell[person][0], CELL, "%s%d", prefix, person + 1);
                snprintf(t0->cell[person][1], CELL, "v%d", k);
                snprintf(t0->cell[person][2], CELL, "%d", person % PROMISED_VALUES);
                for (int i = 0; i < list[k].c; i++, row++) {
                    grid_add(t1);
                    snprintf(t1->cell[row][0], CELL, "%s%d", prefix, row + 1);
                    snprintf(t1->cell[row][1], CELL, "%s%d", prefix, person + 1);
                    strcpy(t1->cell[row][2], "v1");
                    snprintf(t1->cell[row][3], CELL, "%d", list[k].values[p][i]);
                }
            }
        if (side == 0) {
            grid_add(t1);
            strcpy(t1->cell[row][0], "nobody's");
            strcpy(t1->cell[row][2], "v1");
            snprintf(t1->cell[row][3], CELL, "%d", list[0].values[0][0]);
        }
        texts_write(&db, side ? out : in);
        grid_free(&db);
    }
}

/* Compares the verifier's verdict with the definition's. */
static bool check_dealings(kn_context *ctx, dealing *list, int count, const test_data *data, const char *privacy)
{
    kn_database_verify_report *r = NULL;
    kn_error                   err = KN_ERROR_INIT;
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    char                       in[400], out[400];
    snprintf(in, sizeof in, "%s", scratch("deal-in"));
    snprintf(out, sizeof out, "%s", scratch("deal-out"));
    write_dealings(list, count, in, out);
    kn_spec *spec = make_spec(ctx, data, in, privacy);
    promised of = {.model = &spec->models[1]};
    bool     holds = true;
    double   share = 0;
    for (int k = 0; k < count; k++)
        for (int p = 0; p < list[k].n; p++)
            for (int i = 0; i < list[k].c; i++) of.all[list[k].values[p][i]]++;
    for (int k = 0; k < count; k++) {
        holds = class_holds(&list[k], &of) && holds;
        if (largest_share(&list[k]) > share) share = largest_share(&list[k]);
    }
    options.release = out;
    assert_ok(kn_verify_database(&r, ctx, spec, &options, &err), err);
    assert_int_equal(r->assignment, KN_ASSIGNMENT_PROVED);
    if (r->models[1].holds != holds) fail_msg("%s: %d persons, %d rows each", privacy, list[0].n, list[0].c);
    assert_true(fabs(r->largest_share - share) < 1e-12);
    kn_database_verify_report_free(r);
    kn_spec_free(spec);
    return holds;
}

static test_data two_tables(void)
{
    static const char *const two[] = {"v0", "*", "v1", "*"};
    test_data                data = {.tables = 2};
    for (int t = 0; t < 2; t++) {
        data.table[t] = (test_table){.parent = t - 1, .depth = t, .quasi_count = 1};
        data.table[t].trees[0].leaves = data.table[t].trees[0].levels = 2;
        for (int i = 0; i < 4; i++) strcpy(data.table[t].trees[0].path[i / 2][i % 2], two[i]);
    }
    return data;
}

static dealing random_dealing(kn_rng *rng, int least, int values)
{
    dealing d = {.n = least + below(rng, 5 - least), .c = 1 + below(rng, 3)};
    for (int p = 0; p < d.n; p++)
        for (int i = 0; i < d.c; i++) d.values[p][i] = below(rng, values);
    return d;
}

static void test_diversity(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *ctx = testing_context(2);
    int         agreed[2] = {0};
    test_data   data = two_tables();
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < testing_rounds(150); round++) {
        char    privacy[200], kind[80];
        int     l = 1 + below(&rng, 3), tenths = 10 + below(&rng, 20);
        dealing d = random_dealing(&rng, 1, 2 + below(&rng, 3));
        if (round % 3 == 0) snprintf(kind, sizeof kind, "kind: distinct, l: %d", l);
        if (round % 3 == 1) snprintf(kind, sizeof kind, "kind: entropy, l: %d.%d", tenths / 10, tenths % 10);
        if (round % 3 == 2) snprintf(kind, sizeof kind, "kind: recursive, l: %d, c: %d", l, 1 + below(&rng, 3));
        snprintf(privacy, sizeof privacy, "[{k: 1}, {l-diversity: {attribute: t1.s, %s}}]", kind);
        agreed[check_dealings(ctx, &d, 1, &data, privacy)]++;
    }
    assert_true(agreed[0] > testing_least(15) && agreed[1] > testing_least(15));
    testing_context_free(ctx);
}

/* Two classes: with one there would be nothing to compare it with. */
static void test_compared(void **state)
{
    (void)state;
    static const char *const models[] = {"t-closeness: {distance: equal, t: 0.",
                                         "t-closeness: {distance: ordered, t: 0.",
                                         "t-closeness: {distance: hierarchical, t: 0.",
                                         "alpha-k: {k: 2, alpha: 0.",
                                         "beta-likeness: {kind: basic, beta: 0.",
                                         "beta-likeness: {kind: enhanced, beta: 0.",
                                         "delta-disclosure: {delta: 0."};
    enum { MODELS = sizeof models / sizeof *models };
    kn_rng      rng;
    kn_context *ctx = testing_context(2);
    int         agreed[MODELS][2] = {0};
    test_data   data = two_tables();
    kn_rng_init(&rng, testing_seed(), 5);
    for (int round = 0; round < testing_rounds(60 * MODELS); round++) {
        char    privacy[200];
        int     which = round % MODELS, values = 2 + below(&rng, 3);
        dealing d[2] = {random_dealing(&rng, 2, values), random_dealing(&rng, 2, values)};
        if (which == MODELS - 1 && below(&rng, 2)) d[1] = d[0]; /* every class needs every value */
        snprintf(privacy, sizeof privacy, "[{k: 1}, {%s%d, attribute: t1.s}}]", models[which], 1 + below(&rng, 9));
        agreed[which][check_dealings(ctx, d, 2, &data, privacy)]++;
    }
    for (int i = 0; i < MODELS; i++) assert_true(agreed[i][0] > testing_least(3) && agreed[i][1] > testing_least(3));
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_diversity), cmocka_unit_test(test_compared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
