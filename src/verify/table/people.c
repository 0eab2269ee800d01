/* table/people.c: the population that hierarchies carry, and how many of it a released class has at least.
 *
 * Each file has a line "leaf;people" per leaf. The people of a released cell are those of all values that it stands
 * for. How many people a class of several quasi-identifiers has in common is not known; if cell i has c_i of the N
 * people, N - c_i are elsewhere, and at least N - Σ (N - c_i) people have all of the cells (Fréchet's lower bound).
 *
 * Cost: one pass over the lines and the texts that cover them, and one over the classes' cells.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"

kn_status kn_verify_read_people(kn_verifier *v, kn_error *err)
{
    for (int i = 0; i < v->quasi_count; i++) {
        kn_vquasi     *q = &v->quasi[i];
        const char    *path = q->attribute->has_hierarchy ? q->attribute->hierarchy.population : NULL;
        kn_csv_options csv = v->spec->csv;
        char           where[300];
        if (!path) continue;
        csv.delimiter = 0;
        csv.no_header = true;
        kn_vread_options read = {.csv = &csv, .all = true};
        KN_TRY(kn_vtable_read(&q->people, v->ctx, &path, 1, &read, err));
        if (q->people->column_count != 2)
            return kn_fail(err, KN_INPUT, "%s: a line of a population is a leaf and its number of people", path);
        snprintf(where, sizeof where, "%.200s: people are counted", path);
        KN_TRY(kn_verify_take_counts(v, q->people, &q->people->columns[1], where, err));
        q->population = &q->people->columns[0];
    }
    return KN_OK;
}

/* The people of each value of the domain, and last of missing cells. */
static kn_status count_values(const kn_verifier *v, const kn_vquasi *q, int64_t *people, kn_error *err)
{
    for (int64_t row = 0; row < q->people->rows; row++) {
        uint32_t value = q->domain.of_population[kn_vcode(q->population, row)];
        int64_t *here = &people[value == KN_V_MISSING ? q->domain.count : value];
        if (*here > 0) return kn_fail(err, KN_INPUT, "%s: a leaf has two counts", q->attribute->hierarchy.population);
        *here = q->people->counts[row];
    }
    if (q->people->total != v->quasi[0].people->total)
        return kn_fail(err, KN_INPUT, "%s: not as many people as in %s", q->attribute->hierarchy.population,
                       v->quasi[0].attribute->hierarchy.population);
    return KN_OK;
}

/* Takes away from each class the people that have none of a cell's values. */
static kn_status take_away(kn_vcover *cover, int i, int64_t *people, kn_error *err)
{
    kn_verifier     *v = cover->v;
    const kn_vquasi *q = &v->quasi[i];
    kn_arena         room = {.ctx = v->ctx};
    int64_t         *of_value = kn_arena_array_zero(&room, (size_t)q->domain.count + 1, sizeof *of_value);
    int64_t         *of_text = kn_arena_array_zero(&room, (size_t)q->release->count + 1, sizeof *of_text);
    kn_status        st = room.failed ? kn_fail_memory(err, v->ctx, WHAT) : count_values(v, q, of_value, err);
    for (uint32_t value = 0; st == KN_OK && value <= q->domain.count; value++)
        for (uint32_t t = cover->starts[i][value]; t < cover->starts[i][value + 1]; t++)
            of_text[cover->lists[i][t]] += of_value[value];
    for (uint32_t k = 0; st == KN_OK && k < v->classes.count; k++) {
        if (v->shown[k] == 0) continue; /* suppressed rows alone may be about anybody */
        int64_t elsewhere = q->people->total - of_text[kn_vcode(q->release, v->classes.first[k])];
        people[k] = elsewhere < people[k] ? people[k] - elsewhere : 0;
    }
    kn_arena_free(&room);
    return st;
}

kn_status kn_verify_one_count(const kn_verifier *v, const kn_vquasi *q, kn_error *err)
{
    int64_t  *of_value = kn_alloc_array_zero(v->ctx, (size_t)q->domain.count + 1, sizeof *of_value);
    kn_status st = of_value ? count_values(v, q, of_value, err) : kn_fail_memory(err, v->ctx, WHAT);
    kn_free(of_value);
    return st;
}

kn_status kn_verify_fewest_people(kn_verifier *v, int64_t *people, kn_error *err)
{
    kn_vcover cover;
    kn_status st = kn_vcover_make(&cover, v, true, err);
    for (uint32_t k = 0; st == KN_OK && k < v->classes.count; k++) people[k] = v->quasi[0].people->total;
    for (int i = 0; st == KN_OK && i < v->quasi_count; i++) {
        if (v->quasi[i].people)
            st = take_away(&cover, i, people, err);
        else
            st = kn_fail(err, KN_USAGE, "column \"%s\": its hierarchy carries no population",
                         v->quasi[i].attribute->name);
    }
    kn_arena_free(&cover.room);
    return st;
}
