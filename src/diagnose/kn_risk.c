/* kn_risk.c: the risk that a record is found: prosecutor, journalist, marketer, by weights; sample uniques.
 *
 * Everything is a function of class sizes: f_j of a class in the table, F_j in the population (counted, in
 * kn_population.c; or estimated by sums of sampling weights). Sources: El Emam, Guide to the de-identification of
 * personal health information (2013), for the three attackers; Benedetti and Franconi, Statistical and technological
 * solutions for controlled data dissemination (1998), and Franconi and Polettini, Individual risk estimation in
 * mu-Argus: a review (2004), for the individual risk; Skinner and Elliot, A measure of disclosure risk for microdata,
 * J. Royal Statistical Society B 64(4) (2002), for DIS. docs/risk.md explains it to users.
 *
 * Cost: one grouping, with a population one more of that. Sums are taken in the order of the classes: the same on any
 * number of threads.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/risk.h>

#include <math.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_hash.h"
#include "kn_options.h"
#include "kn_population.h"
#include "kn_quasi.h"
#include "kn_uniques.h"

static const char *const model_names[] = {"zayatz", "pitman"};
static const char *const status_texts[] = {
    "estimated",
    "no record is unique in the sample",
    "the sample is the population",
    "the likelihood has no maximum: all records are unique, or all are in one class",
    "the search for the most likely parameters did not converge",
};

const char *kn_uniques_model_name(kn_uniques_model model)
{
    return model_names[model];
}

const char *kn_estimate_status_text(kn_estimate_status status)
{
    return status_texts[status];
}

/* The data of one measurement. */
typedef struct scene {
    kn_context            *ctx;
    const kn_table        *table;
    const kn_risk_options *o;
    int                   *columns;
    kn_freq               *freq;
    double                *sums;    /* of weights, per class; or NULL                          */
    int64_t               *crowd;   /* per person: the smallest class it has a row in; or NULL */
    int64_t                persons; /* length of crowd                                         */
} scene;

/* ---- Options ---- */

static bool bad_fraction(kn_fraction f)
{
    return f.denominator == 0 || f.numerator > f.denominator;
}

static kn_status check_options(const kn_risk_options *o, kn_error *err)
{
    if (o->quasi_count < 1) return kn_fail(err, KN_USAGE, "the set of quasi-identifiers is empty");
    if (o->missing == KN_MISSING_WILDCARD)
        return kn_fail(err, KN_USAGE,
                       "risk is not measured with missing cells as wildcards: choose \"value\" or \"drop\"");
    if (bad_fraction(o->threshold)) return kn_fail(err, KN_USAGE, "the risk threshold must lie between 0 and 1");
    if (o->sampled && (bad_fraction(o->sampling) || o->sampling.numerator == 0))
        return kn_fail(err, KN_USAGE, "the sampling fraction must be greater than 0 and at most 1");
    if (!o->sampled && o->sampling.numerator > 0)
        return kn_fail(err, KN_USAGE, "a sampling fraction was given for a table that is no sample");
    if (o->entity && (o->population || o->sampled || o->weight))
        return kn_fail(err, KN_USAGE, "an entity column cannot be combined with %s: those count rows as persons",
                       o->population ? "a population"
                       : o->sampled  ? "a sampling fraction"
                                     : "sampling weights");
    return KN_OK;
}

/* A column beside S. */
static kn_status find_other(int *out, const scene *s, const char *name, const char *role, kn_error *err)
{
    *out = kn_table_find(s->table, name);
    if (*out < 0) return kn_table_no_column(s->table, "there is", name, err);
    for (int i = 0; i < s->o->quasi_count; i++)
        if (s->columns[i] == *out)
            return kn_fail(err, KN_USAGE, "column \"%s\" cannot be both the %s and a quasi-identifier", name, role);
    if (s->table->columns[*out].missing > 0)
        return kn_fail(err, KN_INPUT, "the %s column \"%s\" has %lld missing cells", role, name,
                       (long long)s->table->columns[*out].missing);
    return KN_OK;
}

/* ---- Classes ---- */

/* Classes by S with their distinct persons, and for each person the smallest of its classes. */
static kn_status group_persons(scene *s, kn_risk *r, kn_error *err)
{
    int      n = s->o->quasi_count, entity = -1;
    kn_freq *fine = NULL;
    int64_t *starts = NULL;
    if (s->table->counts) return kn_quasi_fail_counted(err);
    KN_TRY(find_other(&entity, s, s->o->entity, "entity", err));
    int *all = kn_alloc_array(s->ctx, (size_t)n + 1, sizeof *all);
    if (!all) return kn_fail_memory(err, s->ctx, "measuring risk");
    for (int i = 0; i < n; i++) all[i] = s->columns[i];
    all[n] = entity;
    kn_status st = kn_freq_of_table(&fine, s->ctx, s->table, all, n + 1, err);
    kn_free(all);
    if (st != KN_OK) return st;
    r->missing_rows = kn_quasi_missing(fine, s->table, s->columns, n, s->o->missing == KN_MISSING_DROP, NULL, NULL);
    st = kn_freq_fold(&s->freq, &starts, fine, n, err);
    s->persons = s->table->columns[entity].dict.count;
    if (st == KN_OK) {
        s->crowd = kn_alloc_array_zero(s->ctx, (size_t)s->persons + 1, sizeof *s->crowd);
        if (!s->crowd) st = kn_fail_memory(err, s->ctx, "measuring risk");
    }
    for (int64_t i = 0; st == KN_OK && i < s->freq->classes; i++) {
        int64_t size = starts[i + 1] - starts[i];
        for (int64_t j = starts[i]; j < starts[i + 1]; j++) {
            int64_t *crowd = &s->crowd[kn_freq_code(fine, j, n)];
            if (*crowd == 0 || size < *crowd) *crowd = size;
        }
    }
    kn_free(starts);
    kn_freq_free(fine);
    return st;
}

static kn_status group_weighted(scene *s, kn_error *err)
{
    int weight = -1;
    KN_TRY(find_other(&weight, s, s->o->weight, "weight", err));
    const kn_column *column = &s->table->columns[weight];
    if (column->type != KN_TYPE_INTEGER && column->type != KN_TYPE_DECIMAL)
        return kn_fail(err, KN_INPUT, "column \"%s\" cannot be a weight: it is not a number", column->name);
    /* Values are in order: the first is the smallest. */
    if (column->dict.count > 0 &&
        (column->dict.integers ? (double)column->dict.integers[0] : column->dict.decimals[0]) <= 0)
        return kn_fail(err, KN_INPUT, "the weight column \"%s\" has a weight that is not greater than 0", column->name);
    return kn_freq_weights(&s->freq, &s->sums, s->ctx, s->table, s->columns, s->o->quasi_count, weight, err);
}

static kn_status group(scene *s, kn_risk *r, kn_error *err)
{
    bool drop = s->o->missing == KN_MISSING_DROP;
    if (s->o->entity) {
        KN_TRY(group_persons(s, r, err));
    } else {
        if (s->o->weight)
            KN_TRY(group_weighted(s, err));
        else
            KN_TRY(kn_freq_of_table(&s->freq, s->ctx, s->table, s->columns, s->o->quasi_count, err));
        r->missing_rows = kn_quasi_missing(s->freq, s->table, s->columns, s->o->quasi_count, drop, NULL, s->sums);
    }
    r->rows = kn_table_total(s->table);
    r->dropped = drop ? r->missing_rows : 0;
    r->classes = s->freq->classes;
    return KN_OK;
}

/* ---- Attackers ---- */

/* 1/size > threshold, exactly. */
static bool above(kn_fraction threshold, int64_t size)
{
    return (kn_u128)threshold.denominator > (kn_u128)threshold.numerator * (kn_u128)(uint64_t)size;
}

static void finish_summary(kn_risk_summary *summary, int64_t count)
{
    if (count == 0) return;
    summary->average = summary->expected / (double)count;
    summary->at_risk_share = (double)summary->at_risk / (double)count;
}

/* `count` records of risk 1/size each, the risks adding up to `expected`. */
static void add_records(kn_risk_summary *summary, kn_fraction threshold, int64_t size, int64_t count, double expected)
{
    double risk = 1 / (double)size;
    if (risk > summary->highest) summary->highest = risk;
    if (above(threshold, size)) summary->at_risk += count;
    summary->expected += expected;
}

static void prosecutor(const scene *s, kn_risk *r)
{
    kn_fraction t = s->o->threshold;
    if (s->crowd) {
        for (int64_t i = 0; i < s->persons; i++) {
            if (s->crowd[i] == 0) continue; /* all rows set aside */
            r->records++;
            r->sample_uniques += s->crowd[i] == 1;
            add_records(&r->prosecutor, t, s->crowd[i], 1, 1 / (double)s->crowd[i]);
        }
    } else {
        r->records = s->freq->rows;
        for (int64_t i = 0; i < s->freq->classes; i++) {
            r->sample_uniques += s->freq->counts[i] == 1;
            add_records(&r->prosecutor, t, s->freq->counts[i], s->freq->counts[i], 1);
        }
    }
    finish_summary(&r->prosecutor, r->records);
    r->marketer = r->prosecutor.average;
}

static kn_status journalist(const scene *s, kn_risk *r, kn_error *err)
{
    const kn_freq *freq = s->freq;
    kn_population  p;
    KN_TRY(kn_population_match(&p, s->ctx, s->table, s->columns, freq, s->o->population, s->o->quasi,
                               s->o->missing == KN_MISSING_DROP, err));
    r->has_population = true;
    r->population_rows = p.rows;
    r->population_dropped = p.dropped;
    r->population_classes = p.classes;
    r->population_uniques = p.uniques;
    for (int64_t i = 0; i < freq->classes; i++) {
        int64_t f = freq->counts[i], size = p.sizes[i];
        if (size == 0) r->absent_rows += f;
        r->shared_uniques +=
            f == 1 && size == 1; /* as the population has them: whom it lacks is nobody's unique there */
        if (size > 0 && size < f) r->exceeding_rows += f;
        if (size < f) size = f; /* whoever is in the table is in the population */
        add_records(&r->journalist, s->o->threshold, size, f, (double)f / (double)size);
    }
    kn_free(p.sizes);
    finish_summary(&r->journalist, r->records);
    r->marketer = r->journalist.average;
    return KN_OK;
}

/* ---- By weights ---- */

/* E[1/F | f] where F given f is negative binomial and p = f/F̂ the share of the class that was drawn. For f ≥ 3 the usual
 * approximation; near p = 1 the closed forms cancel, so f = 2 is summed as a series there. */
static double individual_risk(int64_t f, double population)
{
    double n = (double)f, p = n / population, q = 1 - p;
    if (!(q > 0)) return 1 / n;
    if (f == 1) return p / q * -log1p(-q);
    if (f > 2) return p / (n - q);
    if (q > 0.1) return p / q - p / q * (p / q) * -log(p);
    double sum = 0, power = 1;
    for (int k = 1; k < 20; k++, power *= q) sum += power / (k * (k + 1.0));
    return p * sum;
}

static void individual(const scene *s, kn_risk *r)
{
    double threshold = (double)s->o->threshold.numerator / (double)s->o->threshold.denominator;
    r->weighted = true;
    for (int64_t i = 0; i < s->freq->classes; i++) {
        int64_t f = s->freq->counts[i];
        double  risk = individual_risk(f, s->sums[i]);
        r->weight_sum += s->sums[i];
        if (risk > r->individual.highest) r->individual.highest = risk;
        if (risk > threshold) r->individual.at_risk += f;
        r->individual.expected += risk * (double)f;
    }
    finish_summary(&r->individual, r->records);
}

/* ---- By a sampling fraction ---- */

static kn_status estimate(const scene *s, kn_risk *r, kn_error *err)
{
    kn_fraction       f = s->o->sampling;
    kn_size_histogram h;
    kn_u128           population = ((kn_u128)(uint64_t)r->records * f.denominator + f.numerator / 2) / f.numerator;
    if (population > ((kn_u128)1 << 53)) return kn_fail(err, KN_USAGE, "the sampling fraction is too small");
    KN_TRY(kn_size_histogram_make(&h, s->ctx, s->freq->counts, s->freq->counts, s->freq->classes, err));
    r->sampled = true;
    r->population_size = (int64_t)population;
    r->estimates[KN_UNIQUES_ZAYATZ] = kn_uniques_zayatz(&h, r->population_size);
    r->estimates[KN_UNIQUES_PITMAN] = kn_uniques_pitman(&h, r->population_size);
    bool small = (kn_u128)f.numerator * 10 <= f.denominator; /* Dankar et al. (2012): Pitman up to 0.1 */
    r->recommended = small && !isnan(r->estimates[KN_UNIQUES_PITMAN].uniques) ? KN_UNIQUES_PITMAN : KN_UNIQUES_ZAYATZ;
    double share = (double)f.numerator / (double)f.denominator, pairs = 0;
    for (int64_t i = 0; i < h.count && h.sizes[i] <= 2; i++)
        if (h.sizes[i] == 2) pairs = (double)h.classes[i];
    double single = share * (double)r->sample_uniques, wrong = 2 * (1 - share) * pairs;
    r->intrusion = single + wrong > 0 ? single / (single + wrong) : NAN;
    kn_size_histogram_free(&h);
    return KN_OK;
}

static kn_status measure(scene *s, kn_risk *r, kn_error *err)
{
    KN_TRY(kn_quasi_find(&s->columns, s->ctx, s->table, "", s->o->quasi, s->o->quasi_count, err));
    KN_TRY(group(s, r, err));
    prosecutor(s, r);
    if (s->o->population) KN_TRY(journalist(s, r, err));
    if (s->o->sampled) KN_TRY(estimate(s, r, err));
    if (s->o->weight) individual(s, r);
    return KN_OK;
}

kn_status kn_risk_measure(kn_risk **out, kn_context *ctx, const kn_table *table, const kn_risk_options *options,
                          kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_risk_options, KN_RISK_OPTIONS_INIT, options, "risk options", err);
    KN_TRY(check_options(options, err));
    kn_risk *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, ctx, "measuring risk");
    r->threshold = options->threshold;
    scene     s = {.ctx = ctx, .table = table, .o = options};
    kn_status st = measure(&s, r, err);
    kn_free(s.columns);
    kn_freq_free(s.freq);
    KN_FREE(s.sums, s.crowd);
    if (st != KN_OK) {
        kn_risk_free(r);
        return st;
    }
    *out = r;
    return KN_OK;
}

void kn_risk_free(kn_risk *risk)
{
    kn_free(risk);
}
