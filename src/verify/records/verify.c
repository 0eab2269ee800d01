/* records/verify.c: does a release of tree records keep its promises? The order of the checks, and the report.
 *
 * Interface: kn_vrecords_verify (kn_verify_records.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_verify_records.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_options.h"

#define WORK_LIMIT INT64_C(20000000000)
/* Without a limit of the user's: more than this of one record takes minutes, however few records there are. */
#define RECORD_LIMIT INT64_C(50000000)

/* ---- The report ---- */

void kn_vrecords_problem(kn_records_verifier *v, const char *format, ...)
{
    kn_vrecords_report *r = v->report;
    va_list             args;
    r->base.outcome = KN_OUTCOME_FAILS;
    r->failed = true;
    va_start(args, format);
    kn_verify_problem_add(r->list, &r->base.problem_count, &r->base.more_problems, &r->arena, format, args);
    va_end(args);
}

void kn_vrecords_open(kn_records_verifier *v, const char *sentence)
{
    kn_verify_open_add(v->report->open, &v->report->base.open_count, &v->report->arena, sentence);
}

kn_status kn_vrecords_no_memory(const kn_records_verifier *v, kn_error *err)
{
    return kn_fail_memory(err, v->ctx, "verifying");
}

void kn_records_verify_report_free(kn_records_verify_report *report)
{
    if (!report) return;
    kn_vrecords_report *r = (kn_vrecords_report *)report;
    kn_free(r->models);
    kn_arena_free(&r->arena);
    kn_free(r);
}

static kn_status make_report(kn_records_verifier *v, kn_error *err)
{
    kn_vrecords_report *r = kn_alloc_zero(v->ctx, sizeof *r);
    if (!r) return kn_vrecords_no_memory(v, err);
    v->report = r;
    r->ctx = v->ctx;
    kn_arena_init(&r->arena, v->ctx);
    r->base.kmn = v->spec->kmn;
    r->base.semantics = v->spec->semantics;
    r->base.strict = v->spec->strict_structure;
    for (int c = 0; c < v->spec->class_count; c++) r->base.absent = r->base.absent || v->spec->classes[c].negative;
    r->base.assignment = KN_ASSIGNMENT_UNDECIDED;
    r->base.problems = r->list;
    r->base.open = r->open;
    r->base.rpd = r->base.rpd_original = NAN;
    r->base.model_count = v->spec->model_count;
    r->models = kn_alloc_array_zero(v->ctx, (size_t)v->spec->model_count + 1, sizeof *r->models);
    if (!r->models) return kn_vrecords_no_memory(v, err);
    r->base.models = r->models;
    for (int i = 0; i < v->spec->model_count; i++) {
        const char *attribute = v->spec->models[i].attribute;
        r->models[i] = (kn_verified_model){.model = v->spec->models[i], .reached = NAN};
        if (!attribute) continue;
        r->models[i].model.attribute = kn_arena_strndup(&r->arena, attribute, strlen(attribute));
        if (!r->models[i].model.attribute) return kn_vrecords_no_memory(v, err);
    }
    return KN_OK;
}

/* ---- Promises ---- */

static int find_class(const kn_spec *spec, const char *name)
{
    for (int i = 0; i < spec->class_count; i++)
        if (strcmp(spec->classes[i].name, name) == 0) return i;
    return -1;
}

/* Which class each model is about. A promise that nothing here can check is not kept. */
static void take_models(kn_records_verifier *v)
{
    const kn_spec *spec = v->spec;
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        int             c = m->attribute ? find_class(spec, m->attribute) : -1;
        if (m->kind != KN_MODEL_DISTINCT || c < 0 || !spec->classes[c].sensitive) {
            kn_vrecords_problem(v, "promise %d: this cannot be said of tree records", i + 1);
            continue;
        }
        kn_vclass *class = &v->classes[c];
        kn_u128 asked = (kn_u128)m->l.numerator * (class->l.denominator ? class->l.denominator : 1),
                before = (kn_u128) class->l.numerator * m->l.denominator;
        if (class->model >= 0 && asked <= before) continue; /* the stricter one decides for both */
        class->l = m->l;
        class->model = i;
        v->diverse = true;
    }
}

static kn_status make_classes(kn_records_verifier *v, kn_error *err)
{
    v->class_count = v->spec->class_count;
    v->classes = kn_alloc_array_zero(v->ctx, (size_t)v->class_count + 1, sizeof *v->classes);
    if (!v->classes) return kn_vrecords_no_memory(v, err);
    for (int c = 0; c <= v->class_count; c++) {
        v->classes[c] = (kn_vclass){.spec = c < v->class_count ? &v->spec->classes[c] : NULL,
                                    .top = KN_V_NONE,
                                    .top_label = KN_V_NONE,
                                    .l = {0, 1},
                                    .model = -1};
        kn_texts_init(&v->classes[c].texts, v->ctx);
    }
    take_models(v);
    return KN_OK;
}

/* ---- Figures and form ---- */

/* Nodes and the pairs of one above the other. */
static void count_nodes(const kn_vforest *f, int64_t *nodes, int64_t *relations)
{
    *nodes = (int64_t)f->start[f->count];
    *relations = 0;
    for (int64_t r = 0; r < f->count; r++)
        for (uint64_t i = f->start[r]; i < f->start[r + 1]; i++)
            for (uint32_t p = f->parent[i]; p != KN_V_NONE; p = f->parent[f->start[r] + p]) ++*relations;
}

static void tell_form(void *arg, const char *sentence)
{
    kn_vrecords_problem(arg, "%s", sentence);
}

/* How the release's file is written: whoever knows the writers says it. */
static kn_status check_form(kn_records_verifier *v, kn_error *err)
{
    const kn_records_verify_options *o = v->options;
    return o->look_at_form ? o->look_at_form(o->form_state, tell_form, v, err) : KN_OK;
}

/* ---- All of it ---- */

static kn_status check(kn_records_verifier *v, kn_error *err)
{
    kn_records_verify_report *r = &v->report->base;
    r->records = v->release.count;
    count_nodes(&v->original, &r->nodes_original, &r->relations_original);
    count_nodes(&v->release, &r->nodes, &r->relations);
    KN_TRY(kn_vrecords_count(v, err));
    if (v->spec->strict_structure) KN_TRY(kn_vrecords_strict(v, err));
    KN_TRY(kn_vrecords_classes(v, err));
    KN_TRY(kn_vrecords_match(v, err));
    if (v->whole && r->decided) KN_TRY(kn_vrecords_absent(v, err));
    KN_TRY(kn_vrecords_measure(v, err));
    r->outcome = kn_verify_outcome(v->report->failed, r->assignment, r->decided, r->models, r->model_count);
    r->ok = r->outcome == KN_OUTCOME_HOLDS;
    if (r->assignment == KN_ASSIGNMENT_UNDECIDED)
        kn_vrecords_open(
            v, "whether every released record is one of the original, each another one; give the row map (--map)");
    return KN_OK;
}

static void verifier_free(kn_records_verifier *v)
{
    kn_vrecords_classes_free(v);
    kn_vforest *forests[] = {&v->original, &v->release, &v->raised};
    for (int i = 0; i < 3; i++) {
        kn_free(forests[i]->start);
        kn_free(forests[i]->parent);
        kn_free(forests[i]->label);
    }
    kn_free(v->class_of);
    kn_free(v->map);
    kn_free(v->image);
}

kn_status kn_vrecords_check_spec(const kn_spec *spec, kn_error *err)
{
    if (kn_spec_shape(spec) != KN_SHAPE_RECORDS || spec->class_count < 1)
        return kn_fail(err, KN_USAGE, "the release file lists no classes of tree records");
    if (spec->kmn.k < 1 || spec->kmn.m < 1 || spec->kmn.n < 0)
        return kn_fail(err, KN_USAGE, "no promise was given: k-mn with k, m at least 1 and n at least 0");
    return KN_OK;
}

kn_status kn_vrecords_verify(kn_records_verify_report **out, kn_context *ctx, const kn_spec *spec,
                             const kn_vteller *original, const kn_vteller *release,
                             const kn_records_verify_options *options, kn_error *err)
{
    *out = NULL;
    KN_OPTIONS(kn_records_verify_options, KN_RECORDS_VERIFY_OPTIONS_INIT, options, "verification options", err);
    KN_TRY(kn_vrecords_check_spec(spec, err));
    kn_records_verifier v = {.ctx = ctx, .spec = spec, .options = options};
    v.work_limit = v.options->work_limit > 0 ? v.options->work_limit : WORK_LIMIT;
    v.record_limit = v.options->work_limit > 0 ? v.options->work_limit : RECORD_LIMIT;
    kn_status st = make_report(&v, err);
    if (v.options->time_limit > 0) kn_deadline_set(ctx, v.options->time_limit);
    if (st == KN_OK) st = make_classes(&v, err);
    if (st == KN_OK) st = kn_vrecords_read(&v, original, release, err);
    if (st == KN_OK) st = check_form(&v, err);
    if (st == KN_OK) st = check(&v, err);
    st = kn_verify_in_time(ctx, v.options->time_limit, st, err);
    verifier_free(&v);
    if (st != KN_OK)
        kn_records_verify_report_free(v.report ? &v.report->base : NULL);
    else
        *out = &v.report->base;
    return st;
}
