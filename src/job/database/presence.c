/* database/presence.c: delta-presence of a database (kn_presence.h): classes are made larger until it holds.
 *
 * Larger classes show less, so that more people may be one of them: k is doubled until the promise holds, all persons in one
 * class being the last attempt, and then halved between the last that failed and the first that held, to an eighth. A larger k
 * need not be better, so each attempt is measured, and the last that held is taken.
 *
 * Cost: a search and a measurement (kn_presence_measure) per attempt, about twice the doublings.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_presence.h"

#include <stdio.h>

#include "kn_database_run.h"
#include "kn_error.h"

typedef struct attempt {
    bool        made; /* a plan */
    bool        holds;
    kn_presence presence;
} attempt;

static kn_status judge(const kn_database_run *run, attempt *a, kn_error *err)
{
    const kn_spec          *spec = run->all.spec;
    const kn_presence_input in = {.people = run->people->forest,
                                  .tables = run->people->tables,
                                  .width = run->people->width,
                                  .leaves = run->people->leaves,
                                  .db = run->db,
                                  .plan = run->plan};
    KN_TRY(kn_presence_measure(&a->presence, run->all.ctx, &in, err));
    a->holds = true;
    for (int i = 0; i < spec->model_count; i++)
        if (spec->models[i].kind == KN_MODEL_PRESENCE)
            a->holds = a->holds && kn_presence_holds(&a->presence, &spec->models[i]);
    return KN_OK;
}

/* One that does not hold leaves the plan that was there before, and its figures. */
static kn_status try(kn_database_run *run, kn_database_cluster cluster, int64_t k, attempt *a, kn_error *err)
{
    kn_database_plan *before = run->plan;
    kn_release_head   head = *run->all.head; /* with the counters of the plan */
    *a = (attempt){0};
    run->plan = NULL;
    kn_status st = cluster(run, k, &a->made, err);
    if (st == KN_OK && a->made) st = judge(run, a, err);
    if (!a->holds) {
        kn_database_plan *failed = run->plan;
        run->plan = before;
        *run->all.head = head;
        before = failed;
    }
    kn_database_plan_free(before);
    return st;
}

static kn_status tell(kn_database_run *run, const attempt *last, const char **why, kn_error *err)
{
    char text[300];
    if (last->presence.lacking)
        snprintf(
            text, sizeof text,
            "delta-presence: the population has fewer people who may be some persons of the database than there are "
            "of these; everybody in the database belongs to its population");
    else
        snprintf(
            text, sizeof text,
            "delta-presence: with all persons in one class, the chance that somebody of the population is among them "
            "is from %.4g to %.4g",
            last->presence.least, last->presence.most);
    *why = kn_release_text(&run->all, text, err);
    return *why ? KN_OK : KN_MEMORY;
}

kn_status kn_database_run_present(kn_database_run *run, kn_database_cluster cluster, bool *found, const char **why,
                                  kn_error *err)
{
    int64_t all = run->forest->entities, failed = run->k - 1, k = run->k;
    attempt a;
    for (;;) {
        KN_TRY(try(run, cluster, k, &a, err));
        *found = a.holds;
        if (a.holds) break;
        if (k == all) return a.made ? tell(run, &a, why, err) : KN_OK;
        failed = k;
        k = k < all / 2 ? 2 * k : all;
    }
    while (k - failed > 1 + failed / 8) {
        int64_t middle = failed + (k - failed) / 2;
        KN_TRY(try(run, cluster, middle, &a, err));
        if (a.holds)
            k = middle;
        else
            failed = middle;
    }
    return KN_OK;
}
