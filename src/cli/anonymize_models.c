/* anonymize_models.c: promises and figures in words, for releases of every shape. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "anonymize.h"

enum { MODEL_SIZE = 400 };

static double ratio_value(kn_ratio r)
{
    return r.denominator ? (double)r.numerator / (double)r.denominator : 0;
}

static const char *bound_name(kn_model_kind kind)
{
    static const char *const names[KN_MODEL_KINDS] = {
        [KN_MODEL_T_EQUAL] = "t",        [KN_MODEL_T_ORDERED] = "t",     [KN_MODEL_T_HIERARCHICAL] = "t",
        [KN_MODEL_ALPHA_K] = "alpha",    [KN_MODEL_BETA_BASIC] = "beta", [KN_MODEL_BETA_ENHANCED] = "beta",
        [KN_MODEL_DELTA] = "delta",      [KN_MODEL_PRESENCE] = "max",    [KN_MODEL_MAX_RISK] = "risk",
        [KN_MODEL_AVERAGE_RISK] = "risk"};
    return names[kind];
}

static bool has_k(const kn_model *m)
{
    return m->kind == KN_MODEL_K || m->kind == KN_MODEL_K_MAP || (m->kind == KN_MODEL_ALPHA_K && m->k > 0);
}

static bool has_l(kn_model_kind kind)
{
    return kind == KN_MODEL_DISTINCT || kind == KN_MODEL_ENTROPY || kind == KN_MODEL_RECURSIVE;
}

/* "l-diversity of diagnosis: distinct, l = 3" */
static void model_words(char *out, const kn_model *m)
{
    const char *variant = kn_model_variant(m->kind), *bound = bound_name(m->kind), *between = ": ";
    size_t      used = (size_t)snprintf(out, MODEL_SIZE, "%s", kn_model_name(m->kind));
    if (m->attribute && used < MODEL_SIZE)
        used += (size_t)snprintf(out + used, MODEL_SIZE - used, " of %.200s", m->attribute);
    if (variant && used < MODEL_SIZE) {
        used += (size_t)snprintf(out + used, MODEL_SIZE - used, ": %s", variant);
        between = ", ";
    }
    if (has_k(m) && used < MODEL_SIZE) {
        used += (size_t)snprintf(out + used, MODEL_SIZE - used,
                                 m->kind == KN_MODEL_K ? "%.0s = %" PRId64 : "%sk = %" PRId64, between, m->k);
        between = ", ";
    }
    if (has_l(m->kind) && used < MODEL_SIZE)
        used += (size_t)snprintf(out + used, MODEL_SIZE - used, ", l = %g", ratio_value(m->l));
    if (m->kind == KN_MODEL_RECURSIVE && used < MODEL_SIZE)
        used += (size_t)snprintf(out + used, MODEL_SIZE - used, ", c = %g", ratio_value(m->c));
    if (m->kind == KN_MODEL_PRESENCE && used < MODEL_SIZE) {
        used += (size_t)snprintf(out + used, MODEL_SIZE - used, ": min = %g", ratio_value(m->low));
        between = ", ";
    }
    if (bound && used < MODEL_SIZE)
        (void)snprintf(out + used, MODEL_SIZE - used, "%s%s = %g", between, bound, ratio_value(m->bound));
}

void cli_text_table_figure(cli_text_table *t, double value)
{
    char number[CLI_NUMBER_SIZE];
    if (isnan(value))
        cli_text_table_text(t, "none");
    else if (isinf(value))
        cli_text_table_text(t, "no bound");
    else if (fabs(value) < 9e15 && value == floor(value))
        cli_text_table_text(t, cli_format_integer(number, (int64_t)value));
    else
        cli_text_table_format(t, "%.6g", value);
}

void cli_models_print(const kn_release_model *models, int count, bool found, FILE *out)
{
    static const char *const titles[] = {"asked", "original", "release"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(found ? 3 : 2, titles, aligns);
    for (int i = 0; i < count; i++) {
        char words[MODEL_SIZE];
        model_words(words, &models[i].model);
        cli_text_table_text(t, words);
        cli_text_table_figure(t, models[i].original);
        if (found) cli_text_table_figure(t, models[i].reached);
    }
    fputc('\n', out);
    cli_text_table_print(t, out, 2);
    cli_text_table_free(t);
}
