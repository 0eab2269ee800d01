/* kn_model.c: the list of models: names, parameters, and one way to ask any of them. Exact numbers.
 *
 * Cost of a question: that of the model's own function; see the family files.
 */
#include "kn_model.h"

#include <math.h>
#include <string.h>

#include "kn_error.h"

/* ---- Exact numbers ---- */

bool kn_ratio_parse(const char *text, kn_ratio *out)
{
    uint64_t number = 0, denominator = 1;
    int      digits = 0, decimals = 0;
    bool     mark = false;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !mark); text++) {
        if (*text == '.') {
            mark = true;
            continue;
        }
        if (++digits > 18) return false;
        number = number * 10 + (uint64_t)(*text - '0');
        decimals += mark;
    }
    if (digits == 0) return false;
    if (*text == '%') {
        decimals += 2;
        text++;
    }
    if (*text || decimals > 18) return false;
    for (int i = 0; i < decimals; i++) denominator *= 10;
    *out = (kn_ratio){number, denominator};
    return true;
}

static int order(kn_u128 a, kn_u128 b)
{
    return a < b ? -1 : a > b;
}

/* Products where they fit; otherwise by whole parts and the reciprocals of what remains (Euclid's algorithm). */
int kn_quotient_compare(kn_quotient a, kn_quotient b)
{
    if (a.denominator == 0 || b.denominator == 0) return (a.denominator == 0) - (b.denominator == 0);
    for (int sign = 1;; sign = -sign) {
        if (((a.numerator | b.denominator) >> 64) == 0 && ((b.numerator | a.denominator) >> 64) == 0)
            return sign * order(a.numerator * b.denominator, b.numerator * a.denominator);
        kn_u128 whole_a = a.numerator / a.denominator, whole_b = b.numerator / b.denominator;
        if (whole_a != whole_b) return sign * order(whole_a, whole_b);
        kn_u128 rest_a = a.numerator % a.denominator, rest_b = b.numerator % b.denominator;
        if (rest_a == 0 || rest_b == 0) return sign * order(rest_a, rest_b);
        a = (kn_quotient){a.denominator, rest_a};
        b = (kn_quotient){b.denominator, rest_b};
    }
}

double kn_quotient_double(kn_quotient q)
{
    return q.denominator == 0 ? INFINITY : (double)q.numerator / (double)q.denominator;
}

static double ratio_double(kn_ratio ratio)
{
    return (double)ratio.numerator / (double)ratio.denominator;
}

/* ---- Names ---- */

static const struct {
    const char *name, *variant;
} names[KN_MODEL_KINDS] = {
    [KN_MODEL_K] = {"k", NULL},
    [KN_MODEL_DISTINCT] = {"l-diversity", "distinct"},
    [KN_MODEL_ENTROPY] = {"l-diversity", "entropy"},
    [KN_MODEL_RECURSIVE] = {"l-diversity", "recursive"},
    [KN_MODEL_T_EQUAL] = {"t-closeness", "equal"},
    [KN_MODEL_T_ORDERED] = {"t-closeness", "ordered"},
    [KN_MODEL_T_HIERARCHICAL] = {"t-closeness", "hierarchical"},
    [KN_MODEL_ALPHA_K] = {"alpha-k", NULL},
    [KN_MODEL_BETA_BASIC] = {"beta-likeness", "basic"},
    [KN_MODEL_BETA_ENHANCED] = {"beta-likeness", "enhanced"},
    [KN_MODEL_DELTA] = {"delta-disclosure", NULL},
    [KN_MODEL_K_MAP] = {"k-map", NULL},
    [KN_MODEL_PRESENCE] = {"delta-presence", NULL},
    [KN_MODEL_MAX_RISK] = {"max-risk", NULL},
    [KN_MODEL_AVERAGE_RISK] = {"average-risk", NULL},
};

const char *kn_model_name(kn_model_kind kind)
{
    return names[kind].name;
}

const char *kn_model_variant(kn_model_kind kind)
{
    return names[kind].variant;
}

bool kn_model_parse(const char *name, const char *variant, kn_model_kind *out)
{
    for (int i = 0; i < KN_MODEL_KINDS; i++) {
        if (strcmp(name, names[i].name) != 0) continue;
        if (variant && (!names[i].variant || strcmp(variant, names[i].variant) != 0)) continue;
        *out = (kn_model_kind)i;
        return true;
    }
    return false;
}

/* ---- Parameters ---- */

static const char *wrong_l(const kn_model *m)
{
    if (m->l.denominator == 0 || m->l.numerator < m->l.denominator) return "l must be at least 1";
    if (m->kind != KN_MODEL_ENTROPY && m->l.numerator % m->l.denominator != 0) return "l must be a whole number";
    if (m->kind == KN_MODEL_RECURSIVE && (m->c.denominator == 0 || m->c.numerator == 0))
        return "c must be greater than 0";
    return NULL;
}

static const char *wrong_bound(const kn_model *m)
{
    bool none = m->bound.denominator == 0, zero = none || m->bound.numerator == 0;
    bool above_one = !none && m->bound.numerator > m->bound.denominator;
    switch (m->kind) {
    case KN_MODEL_ALPHA_K:
        if (m->k < 0) return "k must be at least 1";
        return zero || above_one ? "alpha must be greater than 0 and at most 1" : NULL;
    case KN_MODEL_BETA_BASIC:
    case KN_MODEL_BETA_ENHANCED: return zero ? "beta must be greater than 0" : NULL;
    case KN_MODEL_DELTA: return zero ? "delta must be greater than 0" : NULL;
    case KN_MODEL_MAX_RISK:
    case KN_MODEL_AVERAGE_RISK: return zero || above_one ? "risk must be greater than 0 and at most 1" : NULL;
    default: return none || above_one ? "t must be between 0 and 1" : NULL;
    }
}

static const char *wrong_presence(const kn_model *m)
{
    if (m->bound.denominator == 0 || m->bound.numerator == 0 || m->bound.numerator > m->bound.denominator)
        return "max must be greater than 0 and at most 1";
    /* x / 0 is greater than any max */
    return kn_quotient_compare(kn_quotient_of(m->low), kn_quotient_of(m->bound)) > 0 ? "min must be at most max" : NULL;
}

/* Models without a sensitive column. */
static const char *wrong_size(const kn_model *m)
{
    if (m->kind == KN_MODEL_K || m->kind == KN_MODEL_K_MAP) return m->k < 1 ? "k must be at least 1" : NULL;
    return m->kind == KN_MODEL_PRESENCE ? wrong_presence(m) : wrong_bound(m);
}

bool kn_model_needs_attribute(kn_model_kind kind)
{
    return kind >= KN_MODEL_DISTINCT && kind <= KN_MODEL_DELTA;
}

kn_status kn_model_check(const kn_model *m, kn_error *err)
{
    if ((int)m->kind < 0 || m->kind >= KN_MODEL_KINDS) return kn_fail(err, KN_USAGE, "there is no such privacy model");
    const char *wrong = NULL, *name = names[m->kind].name;
    if (kn_model_needs_attribute(m->kind)) {
        if (!m->attribute)
            wrong = "it needs a sensitive column";
        else
            wrong = m->kind <= KN_MODEL_RECURSIVE ? wrong_l(m) : wrong_bound(m);
    } else if (m->attribute) {
        return kn_fail(err, KN_USAGE, "%s: %s is of a table, not of a column", name, name);
    } else {
        wrong = wrong_size(m);
    }
    return wrong ? kn_fail(err, KN_USAGE, "%s: %s", name, wrong) : KN_OK;
}

bool kn_model_larger_is_stronger(kn_model_kind kind)
{
    return kind == KN_MODEL_K || kind == KN_MODEL_DISTINCT || kind == KN_MODEL_ENTROPY || kind == KN_MODEL_K_MAP;
}

bool kn_model_monotone(kn_model_kind kind, bool suppressing)
{
    return !suppressing || kind == KN_MODEL_K || kind == KN_MODEL_DISTINCT || kind == KN_MODEL_K_MAP ||
           kind == KN_MODEL_MAX_RISK;
}

/* ---- Any model ---- */

static double enhanced(const kn_histogram *h, const kn_reference *r)
{
    return kn_beta_within_log(h, r) ? kn_quotient_double(kn_beta_reached(h, r)) : INFINITY;
}

static uint64_t whole_l(const kn_model *m)
{
    return m->l.numerator / m->l.denominator;
}

double kn_model_reached(const kn_model *m, const kn_histogram *h, const kn_reference *r, kn_scratch *scratch)
{
    switch (m->kind) {
    case KN_MODEL_K: return (double)h->rows;
    case KN_MODEL_DISTINCT: return (double)kn_distinct_reached(h);
    case KN_MODEL_ENTROPY: return kn_entropy_reached(h);
    case KN_MODEL_RECURSIVE: return kn_quotient_double(kn_recursive_reached(h, whole_l(m)));
    case KN_MODEL_T_EQUAL: return kn_quotient_double(kn_t_equal_reached(h, r));
    case KN_MODEL_T_ORDERED: return kn_quotient_double(kn_t_ordered_reached(h, r, scratch));
    case KN_MODEL_T_HIERARCHICAL: return kn_quotient_double(kn_t_hierarchical_reached(h, r, scratch));
    case KN_MODEL_ALPHA_K: return kn_quotient_double(kn_alpha_reached(h));
    case KN_MODEL_BETA_BASIC: return kn_quotient_double(kn_beta_reached(h, r));
    case KN_MODEL_BETA_ENHANCED: return enhanced(h, r);
    case KN_MODEL_DELTA: return kn_delta_reached(h, r);
    case KN_MODEL_MAX_RISK: return 1 / (double)h->rows;
    default: break; /* of the population, of the whole release: see kn_requirements */
    }
    return NAN;
}

static bool at_most(kn_quotient reached, kn_ratio bound)
{
    return kn_quotient_compare(reached, kn_quotient_of(bound)) <= 0;
}

bool kn_model_satisfied(const kn_model *m, const kn_histogram *h, const kn_reference *r, kn_scratch *scratch)
{
    switch (m->kind) {
    case KN_MODEL_K: return h->rows >= m->k;
    case KN_MODEL_DISTINCT: return (uint64_t)kn_distinct_reached(h) >= whole_l(m);
    case KN_MODEL_ENTROPY: return kn_entropy_reached(h) >= ratio_double(m->l);
    case KN_MODEL_RECURSIVE: return kn_quotient_compare(kn_recursive_reached(h, whole_l(m)), kn_quotient_of(m->c)) < 0;
    case KN_MODEL_T_EQUAL: return at_most(kn_t_equal_reached(h, r), m->bound);
    case KN_MODEL_T_ORDERED: return at_most(kn_t_ordered_reached(h, r, scratch), m->bound);
    case KN_MODEL_T_HIERARCHICAL: return at_most(kn_t_hierarchical_reached(h, r, scratch), m->bound);
    case KN_MODEL_ALPHA_K: return h->rows >= m->k && at_most(kn_alpha_reached(h), m->bound);
    case KN_MODEL_BETA_BASIC: return at_most(kn_beta_reached(h, r), m->bound);
    case KN_MODEL_BETA_ENHANCED: return at_most(kn_beta_reached(h, r), m->bound) && kn_beta_within_log(h, r);
    case KN_MODEL_DELTA: return kn_delta_reached(h, r) < ratio_double(m->bound);
    case KN_MODEL_MAX_RISK: return at_most((kn_quotient){1, (kn_u128)h->rows}, m->bound);
    default: break; /* of the population, of the whole release: see kn_requirements */
    }
    return false;
}
