/* kn_model_terms.c: privacy models as a request names them: their names, and whether their parameters make sense.
 *
 * Interface: kanon/models.h, kn_model_terms.h. Cost: a walk through the list of models.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_model_terms.h"

#include <string.h>

#include "kn_error.h"
#include "kn_exact.h"

/* ---- Names ---- */

static const struct {
    const char *name, *variant;
    bool        of_column; /* a promise about a sensitive column */
} names[KN_MODEL_KINDS] = {
    [KN_MODEL_K] = {"k", NULL, false},
    [KN_MODEL_DISTINCT] = {"l-diversity", "distinct", true},
    [KN_MODEL_ENTROPY] = {"l-diversity", "entropy", true},
    [KN_MODEL_RECURSIVE] = {"l-diversity", "recursive", true},
    [KN_MODEL_T_EQUAL] = {"t-closeness", "equal", true},
    [KN_MODEL_T_ORDERED] = {"t-closeness", "ordered", true},
    [KN_MODEL_T_HIERARCHICAL] = {"t-closeness", "hierarchical", true},
    [KN_MODEL_ALPHA_K] = {"alpha-k", NULL, true},
    [KN_MODEL_BETA_BASIC] = {"beta-likeness", "basic", true},
    [KN_MODEL_BETA_ENHANCED] = {"beta-likeness", "enhanced", true},
    [KN_MODEL_DELTA] = {"delta-disclosure", NULL, true},
    [KN_MODEL_K_MAP] = {"k-map", NULL, false},
    [KN_MODEL_PRESENCE] = {"delta-presence", NULL, false},
    [KN_MODEL_MAX_RISK] = {"max-risk", NULL, false},
    [KN_MODEL_AVERAGE_RISK] = {"average-risk", NULL, false},
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
    return names[kind].of_column;
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
