/* private_parts.c: what private files of all shapes are made of (kn_private_parts.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_private_parts.h"

#include <math.h>

json_t *kn_json_reached(const kn_release_model *models, int count, bool *ok)
{
    json_t *a = json_array();
    for (int i = 0; i < count; i++) {
        json_t *o = kn_json_model(&models[i].model, ok);
        kn_json_set(o, "reached", kn_json_number(models[i].reached), ok);
        kn_json_set(o, "original", kn_json_number(models[i].original), ok);
        kn_json_append(a, o, ok);
    }
    return a;
}

json_t *kn_json_counters(const kn_release_counter *counters, int count, bool *ok)
{
    json_t *o = json_object();
    for (int i = 0; i < count; i++) {
        double value = counters[i].value;
        bool   whole = fabs(value) < 9e15 && value == floor(value);
        kn_json_set(o, counters[i].name, whole ? json_integer((json_int_t)value) : kn_json_number(value), ok);
    }
    return o;
}

json_t *kn_json_chosen(const kn_advice *advice, bool *ok)
{
    json_t *o = json_object(), *among = json_array();
    for (int i = 0; i < advice->candidate_count; i++) {
        const kn_advice_candidate *c = &advice->candidates[i];
        if (c->state != KN_ADVICE_KEPT && c->state != KN_ADVICE_STOPPED) continue;
        json_t *one = json_object();
        kn_json_set(one, "method", kn_json_text(kn_method_name(c->method)), ok);
        kn_json_set(one, "loss", kn_json_number(c->loss), ok);
        kn_json_set(one, "suppressed", json_integer(c->suppressed), ok);
        kn_json_append(among, one, ok);
    }
    kn_json_set(o, "by", kn_json_text("auto"), ok);
    kn_json_set(o, "metric", kn_json_text(advice->metric), ok);
    kn_json_set(o, "among", among, ok);
    return o;
}
