/* table/population.c: how many people of a population each released class may be about.
 *
 * The population's distinct combinations of values are counted, and each is added to every class whose cells stand
 * for it. A population that the hierarchy of the only quasi-identifier carries is one of counted rows; of several see
 * table/people.c. Without any each original stands for as many people as its weight, in units of 10^-d where d
 * is the number of decimals the weights need (at most six, further ones are cut off).
 *
 * Cost: one grouping and one search per combination.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"

enum { MOST_DECIMALS = 6 };

typedef struct crowd {
    kn_verifier     *v;
    const kn_vtable *table;   /* the population                                     */
    bool             weights; /* the originals with weights instead of a population */
    kn_vgroups       groups;
    int64_t         *people; /* per group */
} crowd;

static kn_status group_people(crowd *c, kn_error *err)
{
    kn_verifier *v = c->v;
    kn_vkey     *keys = kn_alloc_array_zero(v->ctx, (size_t)v->quasi_count + 1, sizeof *keys);
    if (!keys) return kn_fail_memory(err, v->ctx, WHAT);
    if (c->weights) keys[0].omit = v->dropped;
    for (int i = 0; i < v->quasi_count; i++) {
        const kn_vquasi *q = &v->quasi[i];
        keys[i + 1].column = c->weights ? q->original : q->population;
    }
    const kn_vtable *t = c->weights ? v->original : c->table;
    kn_status        st = kn_vgroup(&c->groups, v->ctx, t->rows, t->counts, keys, v->quasi_count + 1, err);
    kn_free(keys);
    return st;
}

/* ---- Weights ---- */

static bool weight_of(const kn_verifier *v, kn_string text, kn_decimal *d)
{
    return !kn_v_is_missing(v->spec, text) && kn_parse_declared_decimal(kn_value_trim(text), v->spec->csv.decimal, d) &&
           !d->negative;
}

/* floor(d × 10^decimals); false where it does not fit. */
static bool scaled(const kn_decimal *d, int decimals, int64_t *out)
{
    size_t  digits = d->before.size + d->after.size;
    int64_t places = digits ? d->exponent + decimals : 0;
    *out = 0;
    for (int64_t i = 0; i < places; i++) {
        char c = '0';
        if ((size_t)i < digits)
            c = (size_t)i < d->before.size ? d->before.data[i] : d->after.data[(size_t)i - d->before.size];
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, c - '0', out)) return false;
    }
    return true;
}

/* One attempt with this many decimals; false: a sum exceeds 64 bits. */
static bool weigh(crowd *c, int decimals)
{
    kn_verifier *v = c->v;
    int64_t      total = 0;
    memset(c->people, 0, ((size_t)c->groups.count + 1) * sizeof *c->people);
    for (int64_t row = 0; row < v->original->rows; row++) {
        uint32_t   g = c->groups.of_row[row];
        kn_decimal d;
        int64_t    w = 0;
        if (g == KN_V_NONE) continue;
        if (!weight_of(v, v->weight->texts[kn_vcode(v->weight, row)], &d)) continue;
        if (!scaled(&d, decimals, &w) || __builtin_mul_overflow(w, kn_vcount(v->original, row), &w) ||
            __builtin_add_overflow(total, w, &total))
            return false;
        c->people[g] += w;
    }
    return true;
}

static kn_status weigh_people(crowd *c, int64_t *unit, kn_error *err)
{
    kn_verifier *v = c->v;
    int          most = 0;
    for (uint32_t t = 0; t < v->weight->count; t++) {
        kn_decimal d;
        if (v->original == v->release && kn_string_equal(v->weight->texts[t], kn_string_of("*")))
            continue; /* suppressed */
        if (!weight_of(v, v->weight->texts[t], &d))
            return kn_fail(err, KN_INPUT, "the column of weights holds something that is not a positive number");
        int64_t needed = (int64_t)(d.before.size + d.after.size) - d.exponent;
        if (d.before.size + d.after.size > 0 && needed > most)
            most = needed > MOST_DECIMALS ? MOST_DECIMALS : (int)needed;
    }
    for (int decimals = most; decimals >= 0; decimals--) {
        if (!weigh(c, decimals)) continue;
        for (*unit = 1; decimals > 0; decimals--) *unit *= 10;
        return KN_OK;
    }
    return kn_fail(err, KN_INPUT, "the sum of the weights is too large");
}

/* ---- Classes ---- */

typedef struct adding {
    const kn_verifier *v;
    int64_t           *people;
    int64_t            count;
    bool               any;
} adding;

static bool add_people(void *arg, uint32_t class_number)
{
    adding *a = arg;
    a->any = true;
    if (a->v->shown[class_number] > 0) a->people[class_number] += a->count;
    return true;
}

/* A class of suppressed rows alone may be about anybody. */
static void add_everybody(const kn_verifier *v, const crowd *c, int64_t *people, bool *absent)
{
    int64_t all = 0;
    for (uint32_t g = 0; g < c->groups.count; g++) all += c->people ? c->people[g] : c->groups.rows[g];
    for (uint32_t k = 0; k < v->classes.count; k++) {
        if (v->shown[k] > 0) continue;
        people[k] = all;
        *absent = false;
    }
}

/* Releases that are taken together are their own original: the people of a row are of the class that it is in. */
static void add_own(const crowd *c, int64_t *people, bool *absent)
{
    const kn_verifier *v = c->v;
    add_everybody(v, c, people, absent);
    for (uint32_t g = 0; g < c->groups.count; g++) {
        uint32_t k = v->classes.of_row[c->groups.first[g]];
        if (k != KN_V_NONE && v->shown[k] > 0) people[k] += c->people[g];
    }
}

static kn_status add_all(crowd *c, int64_t *people, bool *absent, kn_error *err)
{
    kn_verifier *v = c->v;
    kn_vcover    cover;
    kn_status    st = kn_vcover_make(&cover, v, true, err);
    uint32_t    *values = kn_arena_array(&cover.room, (size_t)v->quasi_count + 1, sizeof *values);
    if (st == KN_OK && !values) st = kn_fail_memory(err, v->ctx, WHAT);
    for (uint32_t g = 0; st == KN_OK && g < c->groups.count; g++) {
        for (int i = 0; i < v->quasi_count; i++) {
            const kn_vquasi *q = &v->quasi[i];
            int64_t          row = c->groups.first[g];
            values[i] = c->weights ? q->domain.of_original[kn_vcode(q->original, row)]
                                   : q->domain.of_population[kn_vcode(q->population, row)];
        }
        adding a = {v, people, c->people ? c->people[g] : c->groups.rows[g], false};
        (void)kn_vcover_each(&cover, values, add_people, &a);
        if (!a.any && a.count > 0) *absent = true;
    }
    if (st == KN_OK) add_everybody(v, c, people, absent);
    kn_arena_free(&cover.room);
    return st;
}

kn_status kn_verify_population(kn_verifier *v, int64_t *people, int64_t *unit, bool *absent, kn_error *err)
{
    bool  carried = !v->population && v->quasi[0].people;
    crowd c = {.v = v, .table = carried ? v->quasi[0].people : v->population, .weights = !carried && !v->population};
    *unit = 1;
    *absent = false;
    if (carried && v->original == v->release)
        return kn_fail(err, KN_USAGE, "what several releases tell together of a population is not known");
    if (carried && v->quasi_count > 1) return kn_verify_fewest_people(v, people, err);
    if (carried) KN_TRY(kn_verify_one_count(v, &v->quasi[0], err));
    if (c.weights && !v->weight)
        return kn_fail(err, KN_USAGE, "k-map and delta-presence need a population, or k-map a column of weights");
    kn_status st = group_people(&c, err);
    if (st == KN_OK && c.weights) {
        c.people = kn_alloc_array(v->ctx, (size_t)c.groups.count + 1, sizeof *c.people);
        st = c.people ? weigh_people(&c, unit, err) : kn_fail_memory(err, v->ctx, WHAT);
    }
    if (st == KN_OK && v->original == v->release)
        add_own(&c, people, absent);
    else if (st == KN_OK)
        st = add_all(&c, people, absent, err);
    kn_vgroups_free(&c.groups);
    kn_free(c.people);
    return st;
}
