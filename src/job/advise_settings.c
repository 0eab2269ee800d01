/* advise_settings.c: what other promises about tree records would cost: the chosen method with other k, m and n, one changed at a time, and
 * with and without a budget for suppression.
 *
 * Interface: kn_job_advise.h, kanon/advise.h. Time: at most what is left of the limit, shared as among methods. A setting that is stopped
 * shows its best so far.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_alloc.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_job_advise.h"
#include "kn_job_texts.h"

enum { MOST = 16 };

static const kn_fraction nothing = {0, 1}, some = {5, 100};

static bool same_share(kn_fraction a, kn_fraction b)
{
    if (a.numerator == 0 || b.numerator == 0) return a.numerator == b.numerator;
    return (kn_u128)a.numerator * b.denominator == (kn_u128)b.numerator * a.denominator;
}

static bool same(const kn_advice_setting *a, kn_kmn kmn, kn_fraction share)
{
    return a->kmn.k == kmn.k && a->kmn.m == kmn.m && a->kmn.n == kmn.n && same_share(a->suppression, share);
}

/* Adds one that is neither asked for nor listed. More relations than there are between m values are none more. */
static void add(kn_advice_setting *list, int *count, const kn_spec *asked, kn_kmn kmn, kn_fraction share)
{
    kn_advice_setting own = {.kmn = asked->kmn, .suppression = asked->suppression};
    int               most = kmn.m * (kmn.m - 1) / 2;
    if (kmn.n > most) kmn.n = most;
    if (same(&own, kmn, share) || *count == MOST) return;
    for (int i = 0; i < *count; i++)
        if (same(&list[i], kmn, share)) return;
    list[(*count)++] = (kn_advice_setting){.kmn = kmn,
                                           .suppression = share,
                                           .state = KN_ADVICE_LATE,
                                           .loss = NAN,
                                           .node_survival = NAN,
                                           .relation_survival = NAN};
}

static int list_settings(kn_advice_setting *list, const kn_spec *asked)
{
    static const int64_t ks[] = {2, 5, 10};
    kn_kmn               own = asked->kmn;
    kn_fraction          share = asked->suppression;
    int                  count = 0;
    for (int i = 0; i < 3; i++) add(list, &count, asked, (kn_kmn){ks[i], own.m, own.n}, share);
    for (int m = 1; m <= 3; m++) add(list, &count, asked, (kn_kmn){own.k, m, own.n}, share);
    for (int n = 0; n <= 1; n++) add(list, &count, asked, (kn_kmn){own.k, own.m, n}, share);
    if (asked->strict_structure) return count; /* which allows no budget */
    add(list, &count, asked, own, nothing);
    add(list, &count, asked, own, some);
    return count;
}

static kn_status try_one(kn_advice_setting *s, const kn_advice *advice, const kn_advisor *a, double seconds,
                         kn_arena *arena, kn_error *err)
{
    kn_advice_candidate c = {.loss = NAN, .node_survival = NAN, .relation_survival = NAN};
    kn_spec             spec = kn_advice_spec(advice, a->spec);
    kn_error            why = KN_ERROR_INIT;
    double              begin = kn_clock_seconds();
    spec.kmn = s->kmn;
    spec.suppression = s->suppression;
    spec.time_limit = seconds;
    kn_status st = a->attempt(a->run, &spec, &c, arena, &why);
    s->seconds = kn_clock_seconds() - begin;
    s->state = st == KN_OK ? c.state : KN_ADVICE_REFUSED;
    if (st == KN_OK && (c.state == KN_ADVICE_KEPT || c.state == KN_ADVICE_STOPPED)) {
        s->loss = c.loss;
        s->node_survival = c.node_survival;
        s->relation_survival = c.relation_survival;
    }
    if (st == KN_OK || st == KN_USAGE || (st == KN_MEMORY && kn_memory_limited(a->ctx))) return KN_OK;
    if (err) *err = why;
    return st;
}

kn_status kn_advice_settings(kn_advice *advice, const kn_advisor *a, double seconds, kn_arena *arena, kn_error *err)
{
    double             end = kn_clock_seconds() + seconds;
    kn_advice_setting *list = kn_job_alloc(a->ctx, arena, MOST, sizeof *list, err);
    if (!list) return KN_MEMORY;
    int count = list_settings(list, a->spec);
    advice->settings = list;
    advice->setting_count = count;
    for (int i = 0; i < count; i++) {
        double left = (end - kn_clock_seconds()) / (count - i);
        if (kn_cancelled(a->ctx)) return kn_fail_cancelled(err);
        if (left > 0) KN_TRY(try_one(&list[i], advice, a, left, arena, err));
    }
    return KN_OK;
}

const kn_advice_setting *kn_advice_setting_at(const kn_advice *advice, int index)
{
    return index >= 0 && index < advice->setting_count ? &advice->settings[index] : NULL;
}
