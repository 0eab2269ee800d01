/* verify_records_testing.h: small random forests with hierarchies, plans and mutations of releases, and what the verifier of
 * tree records must say of them by plain enumeration. Everything belongs to one context.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_RECORDS_TESTING_H
#define VERIFY_RECORDS_TESTING_H

#include <kanon/verify.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_records_plan.h"
#include "kn_rng.h"
#include "kn_verify_records.h"
#include "kn_vocabulary_make.h"
#include "spread_testing.h"
#include "testing.h"

#define ROOT KN_RECORDS_ROOT

enum { CLASSES = 4, RECORDS = 40, NODES = 16 };

/* ---- Records that can be changed ---- */

typedef struct tree {
    uint32_t       size;
    kn_record_node nodes[NODES * 4];
} tree;

typedef struct trees {
    int  count;
    tree tree[RECORDS + 2];
} trees;

static inline kn_records *make_records(kn_context *ctx, kn_vocabulary *v, const trees *t)
{
    kn_error    err = KN_ERROR_INIT;
    kn_records *r = NULL;
    uint64_t    nodes = 0, at = 0;
    for (int i = 0; i < t->count; i++) nodes += t->tree[i].size;
    assert_ok(kn_records_create(&r, ctx, v, false, t->count, nodes, &err), err);
    for (int i = 0; i < t->count; i++) {
        r->start[i] = at;
        for (uint32_t j = 0; j < t->tree[i].size; j++, at++) {
            r->parent[at] = t->tree[i].nodes[j].parent;
            r->value[at] = t->tree[i].nodes[j].value;
        }
    }
    r->start[t->count] = at;
    return r;
}

/* Records that are in memory, told as a file's are. */
static inline kn_status tell_records(void *state, const kn_records_sink *sink, kn_records_layout *layout, kn_error *err)
{
    const kn_records *r = state;
    kn_records_place  nowhere = {"memory", 0, 0};
    *layout = (kn_records_layout){.form = r->layout.form};
    for (int64_t i = 0; i < kn_records_count(r); i++) {
        kn_status st = sink->record(sink->state, (kn_string){NULL, 0}, &nowhere, err);
        for (uint32_t n = 0; st == KN_OK && n < kn_records_size(r, i); n++) {
            kn_string text;
            text.data = kn_records_label(r, i, n, &text.size);
            st = sink->node(sink->state, kn_records_parent(r, i, n), kn_records_class(r, i, n), text, &nowhere, err);
        }
        if (st != KN_OK) return st;
    }
    return KN_OK;
}

static inline kn_status verify_in_memory(kn_records_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                         const kn_records *original, const kn_records *release,
                                         const kn_records_verify_options *options, kn_error *err)
{
    kn_vteller from = {(void *)(uintptr_t)original, tell_records, NULL}, to = {(void *)(uintptr_t)release, tell_records, NULL};
    return kn_vrecords_verify(out, ctx, spec, &from, &to, options, err);
}

static inline void read_records(trees *out, const kn_records *r)
{
    out->count = (int)r->count;
    for (int i = 0; i < out->count; i++) {
        out->tree[i].size = (uint32_t)(r->start[i + 1] - r->start[i]);
        for (uint32_t j = 0; j < out->tree[i].size; j++)
            out->tree[i].nodes[j] = (kn_record_node){r->parent[r->start[i] + j], r->value[r->start[i] + j]};
    }
}

static inline void canonical(tree *t)
{
    uint64_t scratch[(NODES * 4 * KN_RECORD_SCRATCH) / 8 + 1];
    t->size = kn_record_canonical(t->nodes, t->size, scratch);
}

static inline bool above(const tree *t, uint32_t a, uint32_t b)
{
    for (uint32_t p = t->nodes[b].parent; p != ROOT; p = t->nodes[p].parent)
        if (p == a) return true;
    return false;
}

/* ---- A random problem ---- */

typedef struct problem {
    kn_context      *ctx;
    kn_spec_class    classes[CLASSES];
    char             names[CLASSES][8];
    bool             built[CLASSES]; /* its domain is what the records hold */
    int              class_count;
    kn_model         models[CLASSES];
    kn_spec          spec;
    kn_vocabulary   *vocabulary;
    kn_records      *original, *release;
    kn_records_plan *plan;
    int64_t         *original_of;
} problem;

static inline void free_problem(problem *p)
{
    kn_records_free(p->release);
    kn_records_free(p->original);
    kn_records_plan_free(p->plan);
    kn_vocabulary_free(p->vocabulary);
    kn_free(p->original_of);
}

/* Lines of a hierarchy: below `top` groups of leaves, some leaves directly below it. */
static inline size_t write_class(char *out, size_t room, kn_rng *rng, int c, bool top)
{
    size_t n = 0;
    int    groups = 1 + (int)kn_rng_below(rng, 3);
    for (int g = 0; g < groups; g++) {
        int leaves = 1 + (int)kn_rng_below(rng, 3);
        for (int l = 0; l < leaves; l++) {
            bool flat = kn_rng_below(rng, 5) == 0;
            n += (size_t)snprintf(out + n, room - n, "c%dg%dl%d", c, g, l);
            if (!flat) n += (size_t)snprintf(out + n, room - n, ";c%dg%d", c, g);
            n += (size_t)snprintf(out + n, room - n, top ? ";Top%d;*\n" : ";*\n", c);
        }
    }
    return n;
}

static const char *const numbers[] = {"3", "8", "12", "27", "41"};
static const char *const codes[] = {"aa1", "aa2", "ab1", "b11"};

/* A class whose hierarchy is no file: ranges, masks, or none at all. */
static inline void build_class(problem *p, kn_rng *rng, int c)
{
    static const char *const widths[] = {"10", "20"};
    kn_hierarchy_spec        h = KN_HIERARCHY_SPEC_INIT;
    int                      kind = (int)kn_rng_below(rng, 3);
    h.kind = kind == 0 ? KN_HIERARCHY_RANGES : KN_HIERARCHY_MASK;
    h.widths = widths;
    h.width_count = 2;
    p->classes[c].has_hierarchy = kind < 2;
    p->classes[c].hierarchy = h;
    p->built[c] = true;
}

static inline void make_classes(problem *p, kn_rng *rng)
{
    static char text[1 << 14];
    bool        shared = kn_rng_below(rng, 3) == 0;
    char        name[40];
    const char *all = NULL;
    size_t      n = 0;
    p->class_count = 2 + (int)kn_rng_below(rng, 3);
    if (p->class_count > CLASSES) p->class_count = CLASSES;
    for (int c = 0; shared && c < p->class_count; c++) n += write_class(text + n, sizeof text - n, rng, c, true);
    snprintf(name, sizeof name, "shared.dgh");
    if (shared) all = testing_file(name, text, n);
    for (int c = 0; c < p->class_count; c++) {
        kn_hierarchy_spec h = KN_HIERARCHY_SPEC_INIT;
        bool              top = kn_rng_below(rng, 2) == 0;
        snprintf(p->names[c], sizeof p->names[c], shared && c == 0 ? "Top%d" : "C%d", c);
        snprintf(name, sizeof name, "class%d.dgh", c);
        if (!shared) n = write_class(text, sizeof text, rng, c, top);
        h.path = shared ? all : testing_file(name, text, n);
        p->classes[c] = (kn_spec_class){.name = p->names[c], .has_hierarchy = true, .hierarchy = h};
        if (!shared && kn_rng_below(rng, 3) == 0) build_class(p, rng, c);
    }
}

static inline void make_vocabulary(problem *p)
{
    kn_error             err = KN_ERROR_INIT;
    kn_vocabulary_leaves leaves[CLASSES];
    kn_string            first[CLASSES], all[CLASSES][8];
    char                 texts[CLASSES][16];
    kn_spec_class        classes[CLASSES]; /* with the hierarchies that the values suggest where there is none */
    kn_arena             rules = {.ctx = p->ctx};
    for (int c = 0; c < p->class_count; c++) { /* a value of each, for the shared file */
        bool ranges = p->classes[c].has_hierarchy ? p->classes[c].hierarchy.kind == KN_HIERARCHY_RANGES : c % 2 == 1;
        const char *const *values = ranges ? numbers : codes;
        int                count = ranges ? sizeof numbers / sizeof *numbers : sizeof codes / sizeof *codes;
        snprintf(texts[c], sizeof texts[c], "c%dg0l0", c);
        first[c] = kn_string_of(texts[c]);
        leaves[c] = (kn_vocabulary_leaves){1, &first[c]};
        for (int i = 0; i < count; i++) all[c][i] = kn_string_of(values[i]);
        if (p->built[c]) leaves[c] = (kn_vocabulary_leaves){count, all[c]};
    }
    memcpy(classes, p->classes, sizeof classes);
    assert_ok(kn_vocabulary_by_type(classes, p->class_count, leaves, &rules, &err), err);
    assert_ok(kn_vocabulary_make(&p->vocabulary, p->ctx, classes, p->class_count, leaves, &err), err);
    kn_arena_free(&rules);
}

static inline uint32_t random_leaf(const kn_vocabulary *v, kn_rng *rng, uint32_t from)
{
    for (;;) {
        uint32_t n = from + (uint32_t)kn_rng_below(rng, v->end[from] - from);
        if (v->end[n] == n + 1) return n;
    }
}

static inline void random_tree(const problem *p, kn_rng *rng, tree *t)
{
    const kn_vocabulary *v = p->vocabulary;
    uint32_t             most = 1 + (uint32_t)kn_rng_below(rng, 6);
    t->size = 0;
    for (int tries = 0; tries < 20 && t->size < most; tries++) {
        uint32_t parent = t->size && kn_rng_below(rng, 3) ? (uint32_t)kn_rng_below(rng, t->size) : ROOT;
        int      low = parent == ROOT ? 0 : v->cls[t->nodes[parent].value] + 1;
        if (low >= p->class_count) continue;
        int c = low + (int)kn_rng_below(rng, (uint64_t)(p->class_count - low));
        t->nodes[t->size++] = (kn_record_node){parent, random_leaf(v, rng, v->top[c])};
    }
    canonical(t);
}

/* Every leaf of the built domains, side by side: they are what the records hold. */
static inline void add_built(const problem *p, tree *t)
{
    const kn_vocabulary *v = p->vocabulary;
    for (int c = 0; c < p->class_count; c++)
        for (uint32_t n = v->top[c]; p->built[c] && n < v->end[v->top[c]]; n++)
            if (v->end[n] == n + 1) t->nodes[t->size++] = (kn_record_node){ROOT, n};
    canonical(t);
}

/* A random cut, from "*" downwards, and random disassociations of relations between its values. */
static inline void random_plan(problem *p, kn_rng *rng)
{
    const kn_vocabulary *v = p->vocabulary;
    kn_error             err = KN_ERROR_INIT;
    uint32_t             cut[256] = {0};
    int                  size = 1, steps = (int)kn_rng_below(rng, 12);
    for (int s = 0; s < steps; s++) {
        int      i = (int)kn_rng_below(rng, (uint64_t)size);
        uint32_t u = cut[i];
        if (v->end[u] == u + 1) continue;
        cut[i] = cut[--size];
        for (uint32_t c = u + 1; c < v->end[u]; c = v->end[c]) cut[size++] = c;
    }
    int count = size < 2 ? 0 : (int)kn_rng_below(rng, 5);
    assert_ok(kn_records_plan_create(&p->plan, p->ctx, v, count, &err), err);
    kn_records_plan_set_cut(p->plan, v, cut, size);
    size = 0; /* sensitive leaves are in it too */
    for (uint32_t n = 0; n < v->nodes; n++)
        if (p->plan->image[n] == n) cut[size++] = n;
    for (int i = 0; i < count; i++) {
        uint32_t a = cut[kn_rng_below(rng, (uint64_t)size)], b = cut[kn_rng_below(rng, (uint64_t)size)];
        for (int tries = 0; tries < 20 && (a == b || v->cls[a] >= v->cls[b]); tries++) {
            a = cut[kn_rng_below(rng, (uint64_t)size)];
            b = cut[kn_rng_below(rng, (uint64_t)size)];
        }
        if (a == b) b = cut[a == cut[0] ? 1 : 0];
        p->plan->disassociations[i] = (kn_disassociation){a, b};
    }
    p->plan->how = (kn_disassociate)kn_rng_below(rng, KN_DISASSOCIATES);
}

static inline void set_spec(problem *p, kn_kmn kmn, kn_semantics semantics, bool strict)
{
    p->spec.method = KN_METHOD_GCS;
    p->spec.class_count = p->class_count;
    p->spec.classes = p->classes;
    p->spec.models = p->models;
    p->spec.kmn = kmn;
    p->spec.semantics = semantics;
    p->spec.strict_structure = strict;
}

/* The record without some of its nodes and what hangs below them. */
static inline tree without_some(const tree *from, kn_rng *rng)
{
    tree     t = {.size = 0};
    uint32_t moved[NODES * 4];
    for (uint32_t i = 0; i < from->size; i++) {
        uint32_t up = from->nodes[i].parent;
        moved[i] = UINT32_MAX - 1;
        if ((up != ROOT && moved[up] == UINT32_MAX - 1) || kn_rng_below(rng, 5) == 0) continue;
        t.nodes[t.size] = (kn_record_node){up == ROOT ? ROOT : moved[up], from->nodes[i].value};
        moved[i] = t.size++;
    }
    canonical(&t);
    return t;
}

/* `absent`: with negative classes, and records that have and lack much of the same. */
static inline void random_absent_problem(problem *p, kn_context *ctx, kn_rng *rng, int most_records, bool absent)
{
    kn_error err = KN_ERROR_INIT;
    static trees t;
    *p = (problem){.ctx = ctx};
    make_classes(p, rng);
    make_vocabulary(p);
    t.count = 1 + (int)kn_rng_below(rng, (uint64_t)most_records);
    for (int i = 0; i < t.count; i++) {
        random_tree(p, rng, &t.tree[i]);
        if (i > 0 && absent && i % 8) t.tree[i] = without_some(&t.tree[i - i % 8], rng);
        if (i > 0 && kn_rng_below(rng, 3) == 0) t.tree[i] = t.tree[kn_rng_below(rng, (uint64_t)i)];
    }
    add_built(p, &t.tree[0]);
    int secret = kn_rng_below(rng, 2) == 0 ? (int)kn_rng_below(rng, (uint64_t)p->class_count) : -1;
    if (secret >= 0) p->classes[secret].sensitive = p->vocabulary->sensitive[secret] = true;
    p->original = make_records(ctx, p->vocabulary, &t);
    random_plan(p, rng);
    assert_ok(kn_records_apply(&p->release, &p->original_of, ctx, p->original, p->plan, &err), err);
    kn_kmn kmn = {1 + (int64_t)kn_rng_below(rng, 4), 1 + (int)kn_rng_below(rng, 3), (int)kn_rng_below(rng, 3)};
    set_spec(p, kmn, kn_rng_below(rng, 2) ? KN_SEMANTICS_PAIRS : KN_SEMANTICS_PATHS, kn_rng_below(rng, 2) == 0);
    if (secret >= 0 && kn_rng_below(rng, 2) == 0) {
        static const kn_model_kind kinds[] = {KN_MODEL_DISTINCT, KN_MODEL_DISTINCT, KN_MODEL_ENTROPY, KN_MODEL_RECURSIVE};
        p->models[0] = (kn_model){.kind = kinds[kn_rng_below(rng, 4)],
                                  .attribute = p->names[secret],
                                  .l = {1 + kn_rng_below(rng, 3), 1},
                                  .c = {1 + kn_rng_below(rng, 5), 2}};
        if (p->models[0].kind == KN_MODEL_ENTROPY) p->models[0].l = (kn_ratio){10 + kn_rng_below(rng, 20), 10};
        p->spec.model_count = 1;
    }
    bool all = kn_rng_below(rng, 3) == 0;
    for (int c = 0; c < p->class_count && absent; c++)
        p->classes[c].negative = !p->classes[c].sensitive && (all || kn_rng_below(rng, 2) == 0);
}

static inline void random_problem(problem *p, kn_context *ctx, kn_rng *rng, int most_records)
{
    random_absent_problem(p, ctx, rng, most_records, false);
}

/* ---- The naive twin: the release alone ---- */

typedef struct naive {
    int64_t k, combinations, violations, uniform;
    double  share;
} naive;

typedef struct attack {
    uint32_t labels[8];
    int      label_count;
    int      above[8], below[8]; /* of labels */
    int      relation_count;
    bool     lacks;               /* that values are absent may be known, too          */
    bool     occurs[256];         /* in the original: a value stands for those below it */
    bool     absent[256];
    int      absent_count;
    naive    lacking; /* what those find who know absences, or, where they may, nothing at all */
} attack;

static inline bool assignable(const tree *t, const attack *a, uint32_t *nodes, int at)
{
    if (at == a->label_count) {
        for (int r = 0; r < a->relation_count; r++)
            if (a->above[r] != a->below[r] && !above(t, nodes[a->above[r]], nodes[a->below[r]])) return false;
        return true;
    }
    for (nodes[at] = 0; nodes[at] < t->size; nodes[at]++)
        if (t->nodes[nodes[at]].value == a->labels[at] && assignable(t, a, nodes, at + 1)) return true;
    return false;
}

static inline bool supports(const tree *t, const attack *a, kn_semantics semantics)
{
    for (int i = 0; i < a->label_count; i++) {
        bool there = false;
        for (uint32_t n = 0; n < t->size; n++) there = there || t->nodes[n].value == a->labels[i];
        if (!there) return false;
    }
    for (int r = 0; r < a->relation_count; r++) {
        bool there = false;
        for (uint32_t x = 0; x < t->size; x++)
            for (uint32_t y = 0; y < t->size; y++)
                there = there || (t->nodes[x].value == a->labels[a->above[r]] &&
                                  t->nodes[y].value == a->labels[a->below[r]] && above(t, x, y));
        if (!there) return false;
    }
    uint32_t nodes[8] = {0};
    return semantics == KN_SEMANTICS_PAIRS || assignable(t, a, nodes, 0);
}

/* Can the record lack what is known to be absent: is each of its values shown for another one, too? */
static inline bool may_lack(const problem *p, const tree *t, const attack *a)
{
    for (uint32_t n = 0; n < t->size && a->absent_count > 0; n++) {
        bool     other = false;
        uint32_t u = t->nodes[n].value;
        for (uint32_t x = u; x < p->vocabulary->end[u]; x++)
            other = other || (a->occurs[x] && !a->absent[x] && (u != 0 || x == 0 || !p->classes[p->vocabulary->cls[x]].sensitive));
        if (!other) return false;
    }
    return true;
}

static inline void judge_attack(const problem *p, const trees *t, const attack *a, int sensitive, kn_ratio l, naive *out)
{
    int64_t found = 0, with[256] = {0};
    for (int i = 0; i < t->count; i++) {
        if (!supports(&t->tree[i], a, p->spec.semantics) || !may_lack(p, &t->tree[i], a)) continue;
        found++;
        for (uint32_t value = 0; sensitive >= 0 && value < p->vocabulary->nodes; value++) {
            bool has = false;
            for (uint32_t n = 0; n < t->tree[i].size; n++) has = has || t->tree[i].nodes[n].value == value;
            with[value] += has && p->vocabulary->cls[value] == sensitive;
        }
    }
    if (found == 0) return;
    out->combinations++;
    if (out->k == 0 || found < out->k) out->k = found;
    out->violations += found < p->spec.kmn.k;
    bool spread = sensitive >= 0 && p->models[0].kind != KN_MODEL_DISTINCT;
    if (spread) out->uniform += !naive_spread(&p->models[0], with, (int)p->vocabulary->nodes, found);
    for (uint32_t value = 0; value < p->vocabulary->nodes && value < 256; value++) {
        if ((double)with[value] / (double)found > out->share) out->share = (double)with[value] / (double)found;
        out->uniform += !spread && with[value] * (int64_t)l.numerator > found;
    }
}

static inline bool is_negative(const problem *p, uint32_t value, int hidden)
{
    int cls = p->vocabulary->cls[value];
    return value != 0 && cls != hidden && p->classes[cls].negative;
}

/* Every set of values of the original that may be known to be absent beside the attack. */
static inline void attack_absent(const problem *p, const trees *t, attack *a, uint32_t from, int sensitive, kn_ratio l)
{
    if (a->label_count + a->absent_count == p->spec.kmn.m) return;
    for (uint32_t value = from; value < p->vocabulary->nodes; value++) {
        if (!a->occurs[value] || !is_negative(p, value, sensitive)) continue;
        a->absent[value] = true;
        a->absent_count++;
        judge_attack(p, t, a, sensitive, l, &a->lacking);
        attack_absent(p, t, a, value + 1, sensitive, l);
        a->absent[value] = false;
        a->absent_count--;
    }
}

static inline void attack_relations(const problem *p, const trees *t, attack *a, int first, int sensitive, kn_ratio l,
                                    naive *out)
{
    judge_attack(p, t, a, sensitive, l, out);
    if (a->lacks) attack_absent(p, t, a, 1, sensitive, l);
    if (a->relation_count == p->spec.kmn.n) return;
    for (int pair = first; pair < a->label_count * a->label_count; pair++) {
        a->above[a->relation_count] = pair / a->label_count;
        a->below[a->relation_count++] = pair % a->label_count;
        attack_relations(p, t, a, pair + 1, sensitive, l, out);
        a->relation_count--;
    }
}

static inline void attack_labels(const problem *p, const trees *t, attack *a, uint32_t from, int hidden, int sensitive,
                                 kn_ratio l, naive *out)
{
    bool anywhere = a->label_count == 0;
    for (int i = 0; i < t->count && !anywhere; i++) anywhere = supports(&t->tree[i], a, KN_SEMANTICS_PAIRS);
    if (!anywhere) return; /* nor with more labels or relations */
    if (a->label_count > 0) attack_relations(p, t, a, 0, sensitive, l, out);
    if (a->label_count == 0 && a->lacks) {
        judge_attack(p, t, a, sensitive, l, &a->lacking);
        attack_absent(p, t, a, 1, sensitive, l);
    }
    if (a->label_count == p->spec.kmn.m) return;
    for (uint32_t value = from; value < p->vocabulary->nodes; value++) {
        if (hidden >= 0 && p->vocabulary->cls[value] == hidden) continue;
        a->labels[a->label_count++] = value;
        attack_labels(p, t, a, value + 1, hidden, sensitive, l, out);
        a->label_count--;
    }
}

/* The sensitive class; -1: none. */
static inline int hidden_class(const problem *p)
{
    for (int c = 0; c < p->class_count; c++)
        if (p->classes[c].sensitive) return c;
    return -1;
}

/* `o` (NULL: nothing is known to be absent): the original. */
static inline naive attack_lacking(const problem *p, const trees *o, const trees *t, naive *lacking)
{
    naive    out = {0};
    attack   a = {.label_count = 0};
    int      hidden = hidden_class(p);
    kn_ratio l = p->spec.model_count ? p->models[0].l : (kn_ratio){0, 1};
    for (int i = 0; o && i < o->count; i++)
        for (uint32_t n = 0; n < o->tree[i].size; n++) {
            a.occurs[o->tree[i].nodes[n].value] = true;
            a.lacks = a.lacks || is_negative(p, o->tree[i].nodes[n].value, hidden);
        }
    attack_labels(p, t, &a, 0, hidden, p->spec.model_count ? hidden : -1, l, &out);
    *lacking = a.lacking;
    return out;
}

static inline naive attack_all(const problem *p, const trees *t)
{
    naive lacking;
    return attack_lacking(p, NULL, t, &lacking);
}

/* S1: rare positions where only a moved node can stand. */
static inline int64_t rare_positions(const problem *p, const trees *o, const trees *t, int hidden)
{
    const kn_vocabulary *v = p->vocabulary;
    int64_t              rare = 0;
    for (uint32_t a = 0; a <= v->nodes; a++) /* v->nodes: the root */
        for (uint32_t b = 1; b < v->nodes; b++) {
            if (a == 0) continue; /* "*" has no class */
            int64_t records = 0, holders = 0;
            bool    usual = false;
            for (int i = 0; i < o->count; i++)
                for (uint32_t n = 0; n < o->tree[i].size; n++) {
                    uint32_t up = o->tree[i].nodes[n].parent;
                    bool     same = up == ROOT ? a == v->nodes : a < v->nodes && v->cls[o->tree[i].nodes[up].value] == v->cls[a];
                    usual = usual || (same && v->cls[o->tree[i].nodes[n].value] == v->cls[b]);
                }
            for (int i = 0; i < t->count; i++) {
                bool here = false, has = false;
                for (uint32_t n = 0; n < t->tree[i].size; n++) {
                    uint32_t up = t->tree[i].nodes[n].parent;
                    if (t->tree[i].nodes[n].value != b) continue;
                    has = true;
                    here = here || (up == ROOT ? a == v->nodes : a < v->nodes && t->tree[i].nodes[up].value == a);
                }
                records += here;
                holders += has;
            }
            bool excepted = a == v->nodes && hidden >= 0 && v->cls[b] == hidden && holders < p->spec.kmn.k;
            rare += !usual && !excepted && records > 0 && records < p->spec.kmn.k;
        }
    return rare;
}

/* ---- The naive twin: against the original ---- */

/* What suppression may take of so many. */
static inline int64_t naive_spare(const problem *p, int64_t count)
{
    return p->spec.suppression.denominator ? (int64_t)p->spec.suppression.numerator * count / (int64_t)p->spec.suppression.denominator
                                           : 0;
}

static inline int64_t count_nodes(const trees *t)
{
    int64_t nodes = 0;
    for (int i = 0; i < t->count; i++) nodes += t->tree[i].size;
    return nodes;
}

/* Images by the vocabulary, ROOT for values that are nowhere shown: false where the released values are no cut for the
 * original's, or too many are missing. */
static inline bool naive_images(const problem *p, const trees *o, const trees *t, uint32_t *image)
{
    const kn_vocabulary *v = p->vocabulary;
    bool                 shown[256] = {false}, used[256] = {false};
    int64_t              spare = naive_spare(p, count_nodes(o)), given_up = 0;
    for (int i = 0; i < t->count; i++)
        for (uint32_t n = 0; n < t->tree[i].size; n++) shown[t->tree[i].nodes[n].value] = true;
    for (int i = 0; i < o->count; i++)
        for (uint32_t n = 0; n < o->tree[i].size; n++) {
            int      count = 0;
            uint32_t x = o->tree[i].nodes[n].value;
            for (uint32_t u = 0; u < v->nodes; u++)
                if (shown[u] && kn_vocabulary_covers(v, u, x) && (u == x || !p->classes[v->cls[x]].sensitive)) {
                    image[x] = u;
                    count++;
                }
            if (count > 1) return false;
            if (count == 0 && (p->classes[v->cls[x]].sensitive ? naive_spare(p, o->count) : spare) == 0) return false;
            if (count == 0) image[x] = ROOT;
            given_up += count == 0;
            if (count == 1) used[image[x]] = true;
        }
    if (given_up > spare) return false;
    for (uint32_t u = 0; u < v->nodes; u++)
        if (shown[u] && !used[u]) return false;
    return true;
}

/* Is every node above the place of x one that something above x has become? Those above x have their places. */
static inline bool keeps_relations(const tree *o, const tree *t, const uint32_t *place, uint32_t x)
{
    for (uint32_t y = t->nodes[place[x]].parent; y != ROOT; y = t->nodes[y].parent) {
        bool kept = false;
        for (uint32_t a = o->nodes[x].parent; a != ROOT; a = o->nodes[a].parent) kept = kept || place[a] == y;
        if (!kept) return false; /* a relation was invented */
    }
    return true;
}

/* Every map of the nodes to places, tried in full; with `single` a node may be missing (ROOT), unless it is sensitive. */
static inline bool try_places(const problem *p, const tree *o, const tree *t, bool single, uint32_t *place, uint32_t at)
{
    if (at < o->size) {
        uint32_t value = o->nodes[at].value;
        for (place[at] = 0; place[at] < t->size; place[at]++)
            if (t->nodes[place[at]].value == value && keeps_relations(o, t, place, at) &&
                try_places(p, o, t, single, place, at + 1))
                return true;
        place[at] = ROOT;
        return single && (value == 0 || !p->classes[p->vocabulary->cls[value]].sensitive) &&
               try_places(p, o, t, single, place, at + 1);
    }
    for (uint32_t y = 0; y < t->size; y++) {
        bool taken = false;
        for (uint32_t x = 0; x < o->size; x++) taken = taken || place[x] == y;
        if (!taken) return false;
    }
    return true;
}

static inline bool shows_value(const tree *t, uint32_t value)
{
    for (uint32_t n = 0; n < t->size; n++)
        if (t->nodes[n].value == value) return true;
    return false;
}

/* How many nodes of the original are missing if it became `t`; -1: it cannot have. */
static inline int64_t became(const problem *p, const tree *original, const uint32_t *image, const tree *t, bool single)
{
    tree     o = {.size = 0};
    uint32_t place[NODES * 4], moved[NODES * 4];
    int64_t  missing = 0;
    for (uint32_t n = 0; n < original->size; n++) {
        kn_record_node node = original->nodes[n];
        uint32_t       up = node.parent == ROOT ? ROOT : moved[node.parent];
        moved[n] = up;
        if (image[node.value] == ROOT && p->classes[p->vocabulary->cls[node.value]].sensitive) return -1;
        if (image[node.value] == ROOT) continue;
        moved[n] = o.size;
        o.nodes[o.size++] = (kn_record_node){up, image[node.value]};
        missing += !shows_value(t, image[node.value]);
    }
    canonical(&o);
    for (uint32_t y = 0; y < t->size; y++)
        if (!shows_value(&o, t->nodes[y].value)) return -1;
    return try_places(p, &o, t, single, place, 0) ? missing : -1;
}

/* The least that the released records from `at` on can lack in all; -1: there is no assignment. */
static inline int64_t try_originals(int count, int originals, int64_t (*lack)[RECORDS + 2], bool *used, int at, int64_t budget)
{
    int64_t best = -1;
    if (budget < 0) return -1;
    if (at == count) return 0;
    for (int i = 0; i < originals && best != 0; i++) {
        if (used[i] || lack[at][i] < 0) continue;
        used[i] = true;
        int64_t rest = try_originals(count, originals, lack, used, at + 1, budget - lack[at][i]);
        if (rest >= 0 && (best < 0 || rest + lack[at][i] < best)) best = rest + lack[at][i];
        if (best >= 0 && best - 1 < budget) budget = best - 1;
        used[i] = false;
    }
    return best;
}

/* `map` NULL: any assignment. */
static inline bool naive_assignment(const problem *p, const trees *o, const trees *t, const int64_t *map)
{
    uint32_t       image[256];
    static int64_t lack[RECORDS + 2][RECORDS + 2];
    bool           used[RECORDS + 2] = {false};
    int64_t        spare = naive_spare(p, count_nodes(o)), left = spare;
    if (o->count < t->count || o->count - t->count > naive_spare(p, o->count) || !naive_images(p, o, t, image)) return false;
    for (int i = 0; i < o->count; i++)
        for (uint32_t n = 0; n < o->tree[i].size; n++) left -= image[o->tree[i].nodes[n].value] == ROOT;
    if (map) {
        for (int i = 0; i < t->count; i++) {
            if (map[i] < 0 || map[i] >= o->count || used[map[i]]) return false;
            used[map[i]] = true;
            int64_t missing = became(p, &o->tree[map[i]], image, &t->tree[i], spare > 0);
            if (missing < 0) return false;
            left -= missing;
        }
        return left >= 0;
    }
    for (int i = 0; i < t->count; i++)
        for (int j = 0; j < o->count; j++) lack[i][j] = became(p, &o->tree[j], image, &t->tree[i], spare > 0);
    return try_originals(t->count, o->count, lack, used, 0, left) >= 0;
}

/* Without a map it depends on the records how many nodes of the original are missing where several of a record show one value, or where
 * records are left out: only then it may be undecided. */
static inline bool naive_vague(const problem *p, const trees *o, const trees *t, const int64_t *map)
{
    uint32_t image[256];
    bool     several = o->count != t->count;
    if (map || naive_spare(p, count_nodes(o)) == 0 || !naive_images(p, o, t, image)) return false;
    for (int i = 0; i < o->count; i++)
        for (uint32_t n = 0; n < o->tree[i].size; n++)
            for (uint32_t x = 0; x < n; x++) {
                uint32_t one = image[o->tree[i].nodes[n].value];
                several = several || (one != ROOT && one == image[o->tree[i].nodes[x].value]);
            }
    return several;
}

/* Equation 3 with the vocabulary's own depths. */
static inline double naive_rpd(const problem *p, const trees *t)
{
    const kn_vocabulary *v = p->vocabulary;
    double               all = 0;
    for (int i = 0; i < t->count; i++) {
        double   sum = 0;
        int      leaves = 0;
        const tree *r = &t->tree[i];
        for (uint32_t n = 0; n < r->size; n++) {
            bool inner = false;
            for (uint32_t c = 0; c < r->size; c++) inner = inner || r->nodes[c].parent == n;
            if (inner) continue;
            double product = 1;
            for (uint32_t x = n; x != ROOT; x = r->nodes[x].parent) {
                int    depth = 1;
                double domain = 0;
                for (uint32_t y = r->nodes[x].parent; y != ROOT; y = r->nodes[y].parent) depth++;
                uint32_t u = r->nodes[x].value;
                for (uint32_t w = 1; u > 0 && w < v->nodes; w++)
                    domain += v->cls[w] == v->cls[u] &&
                              (v->end[u] == u + 1 ? v->end[w] == w + 1
                                                  : v->depth[w] == v->depth[u] ||
                                                        (v->depth[w] < v->depth[u] && v->end[w] == w + 1));
                product *= depth * (u == 0 ? 1 : domain);
            }
            sum += 1 / product;
            leaves++;
        }
        all += leaves ? sum / leaves : 0;
    }
    return t->count ? all / t->count : 0;
}

#endif
