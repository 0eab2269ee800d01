/* advise_words.c: what an advice says in words: why a method is not tried, why the chosen one is, and when another is
 * preferable. Sentences name methods and figures, never a value of the data.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kn_error.h"
#include "kn_job_advise.h"
#include "kn_job_texts.h"
#include "kn_spec.h"

/* ---- Not tried ---- */

static bool of_population(const kn_spec *spec)
{
    for (int i = 0; i < spec->model_count; i++)
        if (spec->models[i].kind == KN_MODEL_K_MAP || spec->models[i].kind == KN_MODEL_PRESENCE) return true;
    return spec->population != NULL;
}

static const char *not_for_table(const kn_spec *spec, kn_method method, kn_advice_state optimal)
{
    if (kn_method_family(method) != KN_FAMILY_FULL_DOMAIN && of_population(spec))
        return "only methods with one level for a whole column know of a population";
    if (kn_method_family(method) != KN_FAMILY_FULL_DOMAIN && kn_spec_has_level_bounds(spec))
        return "levels are asked for, which only methods with one level for a whole column have";
    switch (method) {
    case KN_METHOD_SAMARATI: return "it takes a node of the least height; optimal's never loses more";
    case KN_METHOD_BOTTOM_UP:
    case KN_METHOD_BOTTOM_UP_ROLLUP:
    case KN_METHOD_INCOGNITO:
    case KN_METHOD_INCOGNITO_SUPERROOTS:
    case KN_METHOD_INCOGNITO_CUBE: return "it ends at the same node as optimal, later";
    case KN_METHOD_DATAFLY: return "it goes one greedy way through the lattice; optimal never loses more";
    case KN_METHOD_HEURISTIC:
        return optimal == KN_ADVICE_KEPT || optimal == KN_ADVICE_NONE ? "optimal has gone through the whole lattice"
                                                                      : NULL;
    case KN_METHOD_MONDRIAN_WORKLOAD:
        if (!spec->workload) return "no workload is given";
        return strcmp(spec->workload, "-") == 0 ? "the workload is a stream, which can be read once only" : NULL;
    case KN_METHOD_KMSD_AG: return spec->dependency_count > 0 ? NULL : "without a dependency it is kmsd";
    default: return NULL;
    }
}

static bool diverse(const kn_spec *spec)
{
    for (int i = 0; i < spec->model_count; i++)
        if (spec->models[i].kind != KN_MODEL_K) return true;
    return spec->anatomy;
}

const char *kn_advice_left_out(const kn_advisor *a, kn_method method, kn_advice_state optimal)
{
    switch (kn_method_family(method)) {
    case KN_FAMILY_RELATIONAL:
        if (method == KN_METHOD_DMIRACLE) return diverse(a->spec) ? NULL : "no diversity of sensitive values is asked";
        return diverse(a->spec) ? "it promises nothing of sensitive values" : NULL;
    case KN_FAMILY_TREE:
        return method == KN_METHOD_ACS && a->cuts >= KN_CUTS_MANY ? "it would look at more than 2,000 cuts" : NULL;
    default: return not_for_table(a->spec, method, optimal);
    }
}

/* ---- Sentences ---- */

typedef struct speech {
    kn_advice  *advice;
    kn_context *ctx;
    kn_arena   *arena;
    kn_status   status;
    kn_error   *err;
} speech;

KN_PRINTF(2, 3)
static void say(speech *s, const char *format, ...)
{
    va_list args;
    if (s->status != KN_OK) return;
    va_start(args, format);
    s->status =
        kn_job_add_note(s->ctx, s->arena, &s->advice->sentences, &s->advice->sentence_count, s->err, format, args);
    va_end(args);
}

typedef struct figure {
    char text[48];
} figure;

static bool is_share(const kn_advice *advice)
{
    static const char *const shares[] = {"lm", "ncp", "prec"};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        if (strcmp(advice->metric, shares[i]) == 0) return true;
    return false;
}

/* "12.3 %", or the figure as it is. */
static figure loss_of(const kn_advice *advice, const kn_advice_candidate *c)
{
    figure f;
    if (is_share(advice))
        snprintf(f.text, sizeof f.text, "%.1f %%", 100 * c->loss);
    else if (c->loss == floor(c->loss) && fabs(c->loss) < 1e15)
        snprintf(f.text, sizeof f.text, "%.0f", c->loss);
    else
        snprintf(f.text, sizeof f.text, "%.4g", c->loss);
    return f;
}

/* "12.3 % and gives up 4 rows" */
typedef struct loss_text {
    char text[120];
} loss_text;

static loss_text loss_and_rows(const kn_advice *advice, const kn_advice_candidate *c)
{
    loss_text t;
    bool      persons = advice->shape == KN_SHAPE_DATABASE;
    figure    loss = loss_of(advice, c);
    if (advice->shape == KN_SHAPE_RECORDS)
        snprintf(t.text, sizeof t.text, "%s", loss.text);
    else if (c->suppressed == 0)
        snprintf(t.text, sizeof t.text, "%s and %s", loss.text, persons ? "leaves nobody out" : "gives up no row");
    else
        snprintf(t.text, sizeof t.text, "%s and %s %lld %s", loss.text, persons ? "leaves out" : "gives up",
                 (long long)c->suppressed,
                 c->suppressed == 1 ? (persons ? "person" : "row") : (persons ? "persons" : "rows"));
    return t;
}

static bool has_release(const kn_advice_candidate *c)
{
    return c->state == KN_ADVICE_KEPT || c->state == KN_ADVICE_STOPPED;
}

/* The best of the others than `without`; NULL: none. `family`: only of that one; -1: of any. */
static const kn_advice_candidate *best_of(const kn_advice *advice, int family, int without)
{
    const kn_advice_candidate *best = NULL;
    for (int i = 0; i < advice->candidate_count; i++) {
        const kn_advice_candidate *c = &advice->candidates[i];
        if (i == without || !has_release(c) || (family >= 0 && (int)kn_method_family(c->method) != family)) continue;
        if (!best || c->loss < best->loss) best = c;
    }
    return best;
}

static const kn_advice_candidate *with_release(const kn_advice *advice, kn_method method)
{
    for (int i = 0; i < advice->candidate_count; i++)
        if (advice->candidates[i].method == method && has_release(&advice->candidates[i]))
            return &advice->candidates[i];
    return NULL;
}

static void say_why(speech *s, const kn_advice_candidate *c)
{
    const kn_advice           *advice = s->advice;
    const kn_advice_candidate *next = best_of(advice, -1, advice->chosen);
    const char                *name = kn_method_name(c->method);
    if (!next)
        say(s, "%s is the only one with a release: by %s it loses %s.", name, advice->metric,
            loss_and_rows(advice, c).text);
    else if (next->loss == c->loss)
        say(s, "By %s no method loses less than %s: %s. Of equal ones it gives up least, or is the simplest.",
            advice->metric, name, loss_and_rows(advice, c).text);
    else
        say(s, "By %s, %s loses least: %s. The next best, %s, loses %s.", advice->metric, name,
            loss_and_rows(advice, c).text, kn_method_name(next->method), loss_and_rows(advice, next).text);
}

/* One that may still be preferable. */
static void prefer(speech *s, const kn_advice_candidate *c, const char *where)
{
    if (c)
        say(s, "%s loses %s: choose it where %s.", kn_method_name(c->method), loss_and_rows(s->advice, c).text, where);
}

static void say_table(speech *s, const kn_advice_candidate *c)
{
    const kn_advice *advice = s->advice;
    kn_family        family = kn_method_family(c->method);
    if (family == KN_FAMILY_PARTITION)
        say(s,
            "The ranges and groups of %s differ from class to class, and show the smallest and largest value of each.",
            kn_method_name(c->method));
    if (family != KN_FAMILY_FULL_DOMAIN)
        prefer(s, best_of(advice, KN_FAMILY_FULL_DOMAIN, advice->chosen),
               "a column must show one level throughout, which is easier to read, to group by and to join");
    else
        prefer(s, best_of(advice, KN_FAMILY_PARTITION, advice->chosen),
               "values as narrow as each crowd allows count more than uniform columns");
    if (family == KN_FAMILY_PARTITION && c->method != KN_METHOD_MONDRIAN_1D)
        prefer(s, with_release(advice, KN_METHOD_MONDRIAN_1D), "one value must become the same in all rows");
    if (c->method != KN_METHOD_MONDRIAN_WORKLOAD)
        prefer(s, with_release(advice, KN_METHOD_MONDRIAN_WORKLOAD),
               "the answers to your queries count more than the whole");
    if (c->method != KN_METHOD_KMSD_AG)
        prefer(s, with_release(advice, KN_METHOD_KMSD_AG),
               "dependencies shall decide how columns are blurred together");
}

static void say_database(speech *s, const kn_advice_candidate *c)
{
    if (c->method == KN_METHOD_BITMAP)
        say(s, "bitmap keeps equal values only and is there to compare; look at what it deletes before you take it.");
    if (c->method == KN_METHOD_DMIRACLE)
        say(s, "dmiracle alone promises diversity of sensitive values; its option diversity says at whose cost.");
}

static void say_trees(speech *s, const kn_advice_candidate *c)
{
    const kn_advice_candidate *ocs = with_release(s->advice, KN_METHOD_OCS);
    if (ocs && c->relation_survival < ocs->relation_survival)
        say(s,
            "ocs loses %s: choose it where relations must stay; it keeps %.1f %% of them, between the same or broader "
            "values, %s %.1f %%.",
            loss_of(s->advice, ocs).text, 100 * ocs->relation_survival, kn_method_name(c->method),
            100 * c->relation_survival);
    if (strcmp(s->advice->metric, "rpd") == 0)
        say(s, "rpd may fall where a relation vanishes: look at what survives too, or give a support to go by dml2.");
}

static void say_unfinished(speech *s)
{
    char   names[300] = "";
    size_t used = 0;
    int    count = 0;
    for (int i = 0; i < s->advice->candidate_count; i++) {
        const kn_advice_candidate *c = &s->advice->candidates[i];
        if (c->state != KN_ADVICE_LATE && c->state != KN_ADVICE_STOPPED) continue;
        if (used < sizeof names)
            used +=
                (size_t)snprintf(names + used, sizeof names - used, count ? ", %s" : "%s", kn_method_name(c->method));
        count++;
    }
    if (count > 0)
        say(s, "The time limit of %g seconds was too short for %s: a longer one may change the choice.",
            s->advice->limit, names);
}

kn_status kn_advice_explain(kn_advice *advice, kn_context *ctx, kn_arena *arena, kn_error *err)
{
    const kn_advice_candidate *c = &advice->candidates[advice->chosen];
    speech                     s = {advice, ctx, arena, KN_OK, err};
    say_why(&s, c);
    switch (advice->shape) {
    case KN_SHAPE_TABLE: say_table(&s, c); break;
    case KN_SHAPE_DATABASE: say_database(&s, c); break;
    case KN_SHAPE_RECORDS: say_trees(&s, c); break;
    }
    say_unfinished(&s);
    return s.status;
}
