/* table/models.c: every promise of the spec, checked for every class of the release.
 *
 * Sizes and histograms come from the release alone; only what classes are compared with (the shares in the whole
 * table, the population) comes from elsewhere. With an entity, persons are counted instead of rows: through the row
 * map, or by the entity's column where the release shows it (as a pseudonym); without either the promise cannot be
 * proved. If the rows of a person stay linked, the classes checked are the positions of linked.c: their size is the
 * number of persons who show the same with all their rows.
 *
 * Cost: a grouping per sensitive column, then the models' own (formulas.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_sort.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"

/* The histograms of all classes for one sensitive column: class c has entries starts[c] .. starts[c + 1] - 1. */
typedef struct histograms {
    const kn_vcopy *copy;
    int64_t        *starts;
    uint32_t       *values;
    int64_t        *counts;
    int64_t        *reference; /* per value, and missing at the end */
    int64_t        *node_counts;
    kn_vreference   r;
} histograms;

typedef struct asking {
    kn_verifier      *v;
    kn_arena          room;
    const kn_vgroups *classes; /* what is checked: classes of rows, or positions of persons */
    kn_vlinked        linked;
    bool              persons; /* count persons, by this key of released rows and that of originals */
    kn_vkey           person, original_person;
    int64_t          *sizes; /* per class */
    int64_t          *people;
    int64_t           unit;
    bool              absent;
    histograms       *h;           /* per copied column; only sensitive ones that a model names are made */
    uint32_t         *node_values; /* linked: scratch for one histogram */
    int64_t          *node_counts;
} asking;

/* ---- Sizes ---- */

/* The person of a released row. false: unknown. */
static bool find_person(asking *a)
{
    kn_verifier *v = a->v;
    if (!v->entity) return true;
    a->persons = true;
    a->original_person = (kn_vkey){.column = v->entity, .translate = v->entities.of_original};
    if (v->map_ok) /* suppressed rows, which may be a class, show no pseudonym */
        a->person = (kn_vkey){.column = v->entity, .translate = v->entities.of_original, .rows = v->map};
    else if (v->entity_release)
        a->person = (kn_vkey){.column = v->entity_release};
    else
        return false;
    return true;
}

static kn_status count_sizes(asking *a, kn_error *err)
{
    kn_verifier *v = a->v;
    if (v->linked) {
        KN_TRY(kn_vlinked_make(&a->linked, v, &a->person, err));
        KN_TRY(kn_vlinked_whole(v, err));
        a->classes = &a->linked.positions;
    }
    a->sizes = kn_arena_array_zero(&a->room, (size_t)a->classes->count + 1, sizeof *a->sizes);
    if (!a->sizes) return kn_fail_memory(err, a->v->ctx, WHAT);
    for (uint32_t c = 0; c < a->classes->count; c++) {
        if (v->linked) a->sizes[c] = a->linked.persons[a->linked.signature_of[c]];
        if (!a->persons) a->sizes[c] = a->classes->rows[c];
    }
    if (!a->persons || v->linked) return KN_OK;
    kn_vkey    keys[2] = {{.direct = v->classes.of_row}, a->person};
    kn_vgroups g = {0};
    kn_status  st = kn_vgroup(&g, v->ctx, v->release->rows, v->release->counts, keys, 2, err);
    for (uint32_t i = 0; st == KN_OK && i < g.count; i++) a->sizes[v->classes.of_row[g.first[i]]]++;
    kn_vgroups_free(&g);
    return st;
}

/* ---- Histograms ---- */

/* A value that the original does not have is still a separate value. */
static uint32_t value_of(const kn_vcopy *c, uint32_t text)
{
    uint32_t value = c->of_release[text];
    return value == KN_V_NONE ? c->domain.count + text : value;
}

/* Distinct (class, value) with their rows, or distinct persons. */
static kn_status group_values(asking *a, const kn_vcopy *c, const uint32_t *values, kn_vgroups *g, kn_error *err)
{
    kn_verifier *v = a->v;
    kn_vkey      keys[3] = {{.direct = a->classes->of_row}, {.column = c->release, .translate = values}, a->person};
    KN_TRY(kn_vgroup(g, v->ctx, v->release->rows, v->release->counts, keys, 2, err));
    if (!a->persons || v->linked) return KN_OK; /* in a position every row counts */
    kn_vgroups fine = {0};
    kn_status  st = kn_vgroup(&fine, v->ctx, v->release->rows, v->release->counts, keys, 3, err);
    for (uint32_t i = 0; st == KN_OK && i < g->count; i++) g->rows[i] = 0;
    for (uint32_t i = 0; st == KN_OK && i < fine.count; i++) g->rows[g->of_row[fine.first[i]]]++;
    kn_vgroups_free(&fine);
    return st;
}

static kn_status arrange(asking *a, histograms *h, const uint32_t *values, const kn_vgroups *g, kn_error *err)
{
    kn_verifier    *v = a->v;
    kn_sort_record *order = kn_alloc_array(v->ctx, (size_t)g->count + 1, sizeof *order);
    h->starts = kn_arena_array_zero(&a->room, (size_t)a->classes->count + 2, sizeof *h->starts);
    h->values = kn_arena_array(&a->room, (size_t)g->count + 1, sizeof *h->values);
    h->counts = kn_arena_array(&a->room, (size_t)g->count + 1, sizeof *h->counts);
    kn_status st = order && !a->room.failed ? KN_OK : kn_fail_memory(err, a->v->ctx, WHAT);
    for (uint32_t i = 0; st == KN_OK && i < g->count; i++) {
        uint32_t c = a->classes->of_row[g->first[i]], value = values[kn_vcode(h->copy->release, g->first[i])];
        order[i] = (kn_sort_record){(uint64_t)c << 32 | value, i};
        h->starts[c + 1]++;
    }
    if (st == KN_OK) st = kn_sort_records(v->ctx, order, g->count, NULL, NULL, err);
    for (uint32_t i = 0; st == KN_OK && i < g->count; i++) {
        h->values[i] = (uint32_t)order[i].key;
        h->counts[i] = g->rows[order[i].id];
    }
    for (uint32_t c = 0; st == KN_OK && c < a->classes->count; c++) h->starts[c + 1] += h->starts[c];
    kn_free(order);
    return st;
}

static kn_status make_histograms(asking *a, histograms *h, kn_error *err)
{
    const kn_vcopy *c = h->copy;
    uint32_t       *values = kn_alloc_array(a->v->ctx, (size_t)c->release->count + 1, sizeof *values);
    if (!values) return kn_fail_memory(err, a->v->ctx, WHAT);
    for (uint32_t t = 0; t < c->release->count; t++) values[t] = value_of(c, t);
    kn_vgroups g = {0};
    kn_status  st = group_values(a, c, values, &g, err);
    if (st == KN_OK) st = arrange(a, h, values, &g, err);
    kn_vgroups_free(&g);
    kn_free(values);
    return st;
}

/* ---- The reference ---- */

static kn_status count_reference(asking *a, histograms *h, kn_error *err)
{
    kn_verifier      *v = a->v;
    const kn_vdomain *d = &h->copy->domain;
    h->reference = kn_arena_array_zero(&a->room, (size_t)d->count + 1, sizeof *h->reference);
    if (!h->reference) return kn_fail_memory(err, a->v->ctx, WHAT);
    kn_vkey    keys[2] = {{.column = h->copy->original, .translate = d->of_original}, a->original_person};
    kn_vgroups g = {0};
    uint32_t  *whose = NULL;
    kn_status  st = KN_OK;
    if (a->persons) {
        st = kn_vgroup(&g, v->ctx, v->original->rows, v->original->counts, keys, 2, err);
        whose = g.of_row;
    }
    /* With persons only the first row of each (value, person) counts. */
    uint8_t *seen = st == KN_OK && whose ? kn_alloc_zero(v->ctx, (size_t)g.count + 1) : NULL;
    if (st == KN_OK && whose && !seen) st = kn_fail_memory(err, a->v->ctx, WHAT);
    const kn_vcolumn *original = h->copy->original;
    for (uint32_t text = 0; st == KN_OK && original->rows && text < original->count; text++) {
        uint32_t value = d->of_original[text];
        h->reference[value == KN_V_MISSING ? d->count : value] += original->rows[text];
    }
    for (int64_t row = 0; st == KN_OK && row < v->original->rows; row++) {
        if (v->dropped && v->dropped[row]) continue;
        if (whose && (whose[row] == KN_V_NONE || seen[whose[row]])) continue;
        if (whose) seen[whose[row]] = 1;
        uint32_t value = d->of_original[kn_vcode(h->copy->original, row)];
        h->reference[value == KN_V_MISSING ? d->count : value] += a->persons ? 1 : kn_vcount(v->original, row);
    }
    kn_free(seen);
    kn_vgroups_free(&g);
    return st;
}

static kn_status prepare_tree(asking *a, histograms *h, kn_error *err)
{
    const kn_vtree *t = h->copy->tree;
    kn_vreference  *r = &h->r;
    if (!t) return KN_OK;
    h->node_counts = kn_arena_array_zero(&a->room, (size_t)t->nodes + 1, sizeof *h->node_counts);
    r->node_scratch = kn_arena_array_zero(&a->room, (size_t)t->nodes + 1, sizeof *r->node_scratch);
    r->touched = kn_arena_array(&a->room, (size_t)t->nodes + 1, sizeof *r->touched);
    if (a->room.failed) return kn_fail_memory(err, a->v->ctx, WHAT);
    for (uint32_t value = 0; value < h->copy->domain.count; value++)
        for (uint32_t node = t->leaf_of_value[value]; node != KN_V_NONE; node = t->parent[node])
            h->node_counts[node] += h->reference[value];
    for (uint32_t node = 0; node < t->nodes; node++)
        if (t->parent[node] != KN_V_NONE)
            r->node_sum += (kn_u128)h->node_counts[node] * (t->level[t->parent[node]] - t->level[node]);
    r->tree = t;
    r->node_counts = h->node_counts;
    return KN_OK;
}

static kn_status prepare_sensitive(asking *a, histograms *h, kn_error *err)
{
    KN_TRY(make_histograms(a, h, err));
    KN_TRY(count_reference(a, h, err));
    kn_vreference *r = &h->r;
    r->values = h->copy->domain.count;
    r->counts = h->reference;
    for (uint32_t value = 0; value <= r->values; value++) r->total += h->reference[value];
    r->breaks = kn_arena_array(&a->room, 2 * (2 * (size_t)r->values + 2), sizeof *r->breaks);
    if (!r->breaks) return kn_fail_memory(err, a->v->ctx, WHAT);
    return prepare_tree(a, h, err);
}

/* ---- Models ---- */

static histograms *sensitive_of(asking *a, const kn_model *m)
{
    for (int i = 0; m->attribute && i < a->v->copy_count; i++)
        if (strcmp(a->v->copies[i].attribute->name, m->attribute) == 0) return &a->h[i];
    return NULL;
}

static bool needs_people(const kn_model *m)
{
    return m->kind == KN_MODEL_K_MAP || m->kind == KN_MODEL_PRESENCE;
}

static bool larger_is_better(kn_model_kind kind)
{
    return kind == KN_MODEL_K || kind == KN_MODEL_DISTINCT || kind == KN_MODEL_ENTROPY || kind == KN_MODEL_K_MAP;
}

/* One class and one model. */
static bool holds(const asking *a, const kn_model *m, const histograms *h, uint32_t c, double *reached)
{
    int64_t size = a->sizes[c];
    if (m->kind == KN_MODEL_K_MAP) {
        *reached = (double)a->people[c] / (double)a->unit;
        return (kn_u128)a->people[c] >= (kn_u128)m->k * (kn_u128)a->unit;
    }
    if (m->kind == KN_MODEL_PRESENCE) {
        kn_u128 here = (kn_u128)size * (kn_u128)a->unit, there = (kn_u128)a->people[c];
        *reached = there == 0 ? INFINITY : (double)((long double)here / (long double)there);
        return kn_v_compare(here, there, m->bound.numerator, m->bound.denominator) <= 0 &&
               kn_v_compare(here, there, m->low.numerator, m->low.denominator) >= 0;
    }
    kn_vhistogram one = {0};
    if (h) {
        int64_t begin = h->starts[c], end = h->starts[c + 1];
        one = (kn_vhistogram){h->values + begin, h->counts + begin, (uint32_t)(end - begin), 0};
        for (int64_t i = begin; i < end; i++) one.total += h->counts[i];
        if (a->v->linked) kn_vlinked_deal(&one, a->node_values, a->node_counts, size);
    }
    return kn_vmodel_holds(m, size, h ? &one : NULL, h ? &h->r : NULL, reached);
}

static void name_model(const kn_model *m, char *out, size_t size)
{
    const char *variant = kn_model_variant(m->kind);
    snprintf(out, size, "%s%s%s%s%s%s%s", kn_model_name(m->kind), variant ? " (" : "", variant ? variant : "",
             variant ? ")" : "", m->attribute ? " of column \"" : "", m->attribute ? m->attribute : "",
             m->attribute ? "\"" : "");
}

static void ask_average(asking *a, const kn_model *m, kn_verified_model *out)
{
    kn_u128 persons = 0;
    bool    linked = a->v->linked;
    int64_t classes = linked ? a->linked.signatures : a->classes->count;
    for (int64_t c = 0; c < classes; c++) persons += (kn_u128)(linked ? a->linked.persons[c] : a->sizes[c]);
    if (classes > 0) out->reached = (double)((long double)classes / (long double)persons);
    out->holds = classes == 0 || kn_v_compare((kn_u128)classes, persons, m->bound.numerator, m->bound.denominator) <= 0;
    if (!out->holds)
        kn_vproblem(a->v->notes, "average-risk: it is %.6g over the release, more than was promised", out->reached);
}

static void ask(asking *a, const kn_model *m, kn_verified_model *out)
{
    const histograms *h = sensitive_of(a, m);
    char              name[400];
    int64_t           first = -1;
    out->holds = true;
    if (m->kind == KN_MODEL_AVERAGE_RISK) {
        ask_average(a, m, out);
        return;
    }
    uint32_t before = KN_V_NONE; /* the class of persons that failed last */
    int64_t  all = a->v->linked ? a->linked.signatures : a->classes->count;
    for (uint32_t c = 0; c < a->classes->count; c++) {
        double   reached = NAN;
        bool     good = holds(a, m, h, c, &reached);
        bool     worse = larger_is_better(m->kind) ? reached < out->reached : reached > out->reached;
        uint32_t whole = a->v->linked ? a->linked.signature_of[c] : c;
        if (c == 0 || worse) out->reached = reached;
        if (good || whole == before) continue;
        before = whole;
        out->holds = false;
        if (out->classes++ == 0) first = a->classes->first[c];
    }
    name_model(m, name, sizeof name);
    if (out->classes > 0)
        kn_vproblem(a->v->notes,
                    "%s: %" PRId64 " class%s of %" PRId64 " fail%s, the first in row %" PRId64
                    "%s; the worst reaches %.6g",
                    name, out->classes, out->classes == 1 ? "" : "es", all, out->classes == 1 ? "s" : "", first + 1,
                    a->v->linked ? " (a class: persons who show the same with all their rows)" : "", out->reached);
    if (m->kind == KN_MODEL_PRESENCE && a->absent && m->low.numerator > 0) {
        out->holds = false;
        kn_vproblem(a->v->notes, "%s: somebody of the population is in no class and thereby known to be absent", name);
    }
}

static kn_status prepare(asking *a, kn_error *err)
{
    kn_verifier *v = a->v;
    bool         people = false;
    a->h = kn_arena_array_zero(&a->room, (size_t)v->copy_count + 1, sizeof *a->h);
    if (!a->h) return kn_fail_memory(err, a->v->ctx, WHAT);
    for (int i = 0; i < v->spec->model_count; i++) {
        const kn_model *m = &v->spec->models[i];
        histograms     *h = sensitive_of(a, m);
        people = people || needs_people(m);
        if (!h || h->copy) continue;
        h->copy = &v->copies[h - a->h];
        KN_TRY(prepare_sensitive(a, h, err));
    }
    if (v->linked) {
        a->node_values = kn_arena_array(&a->room, (size_t)v->release->rows + 1, sizeof *a->node_values);
        a->node_counts = kn_arena_array(&a->room, (size_t)v->release->rows + 1, sizeof *a->node_counts);
        if (a->room.failed) return kn_fail_memory(err, a->v->ctx, WHAT);
    }
    if (!people || v->linked) return KN_OK;
    a->people = kn_arena_array_zero(&a->room, (size_t)v->classes.count + 1, sizeof *a->people);
    if (!a->people) return kn_fail_memory(err, a->v->ctx, WHAT);
    return kn_verify_population(v, a->people, &a->unit, &a->absent, err);
}

kn_status kn_verify_models(kn_verifier *v, bool *counted, kn_error *err)
{
    asking            a = {.v = v, .room = {.ctx = v->ctx}, .classes = &v->classes, .unit = 1};
    kn_verify_report *report = v->report;
    *counted = find_person(&a);
    if (!*counted) {
        kn_vopen(v->notes, "persons cannot be counted: the release does not say whose row is whose; give the row map");
        for (int i = 0; i < v->spec->model_count; i++) v->notes->models[i].reached = NAN;
        return KN_OK;
    }
    kn_status st = count_sizes(&a, err);
    if (st == KN_OK) st = prepare(&a, err);
    for (uint32_t c = 0; st == KN_OK && c < a.classes->count; c++)
        if (c == 0 || a.sizes[c] < report->k) report->k = a.sizes[c];
    for (int i = 0; st == KN_OK && i < v->spec->model_count; i++) {
        const kn_model *m = &v->spec->models[i];
        if (!v->linked || !needs_people(m)) ask(&a, m, &v->notes->models[i]); /* refused: kn_verify_find_links */
    }
    kn_arena_free(&a.room);
    kn_arena_free(&a.linked.room);
    return st;
}
