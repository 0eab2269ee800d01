/* kn_model.c: one interface to all models.
 *
 * Cost: that of the model's own function; see the family files.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_model.h"

#include <math.h>

static double ratio_double(kn_ratio ratio)
{
    return (double)ratio.numerator / (double)ratio.denominator;
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
