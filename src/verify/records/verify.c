/* records/verify.c: does a release of tree records keep its promises? The order of the checks, and the report.
 *
 * Interface: kn_vrecords_verify (kn_verify_records.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_verify_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_options.h"

#define WORK_LIMIT INT64_C(20000000000)
/* Without a limit set by the user: more than this for one record takes minutes, however few records there are. */
#define RECORD_LIMIT INT64_C(50000000)

/* ---- The report ---- */

typedef struct report {
    kn_records_verify_report base;
    kn_vnotes                notes;
} report;

kn_status kn_vrecords_no_memory(const kn_records_verifier *v, kn_error *err)
{
    return kn_fail_memory(err, v->ctx, "verifying");
}

void kn_records_verify_report_free(kn_records_verify_report *public)
{
    if (!public) return;
    kn_arena_free(&((report *)public)->notes.arena);
    kn_free(public);
}

static kn_status make_report(kn_records_verifier *v, kn_error *err)
{
    report *r = kn_alloc_zero(v->ctx, sizeof *r);
    if (!r) return kn_vrecords_no_memory(v, err);
    v->report = &r->base;
    v->notes = &r->notes;
    r->base.kmn = v->spec->kmn;
    r->base.semantics = v->spec->semantics;
    r->base.strict = v->spec->strict_structure;
    for (int c = 0; c < v->spec->class_count; c++) r->base.absent = r->base.absent || v->spec->classes[c].negative;
    r->base.rpd = r->base.rpd_original = r->base.loss = NAN;
    return kn_vnotes_init(v->notes, KN_VHEAD(v->report), v->ctx, v->spec, err);
}

/* ---- Promises ---- */

static int find_class(const kn_spec *spec, const char *name)
{
    for (int i = 0; i < spec->class_count; i++)
        if (strcmp(spec->classes[i].name, name) == 0) return i;
    return -1;
}

/* Which class each model is about. A promise that cannot be checked here is not kept. */
static void take_models(kn_records_verifier *v)
{
    const kn_spec *spec = v->spec;
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        int             c = m->attribute ? find_class(spec, m->attribute) : -1;
        bool            spread = kn_vspread_asked(m);
        if ((m->kind != KN_MODEL_DISTINCT && !spread) || c < 0 || !spec->classes[c].sensitive) {
            kn_vproblem(v->notes, "promise %d cannot be made about tree records", i + 1);
            continue;
        }
        kn_vclass *class = &v->classes[c];
        v->diverse = true;
        v->spread = v->spread || spread;
        if (spread) {
            if (class->model < 0) class->model = i; /* its values are counted; no share is asked */
            continue;
        }
        kn_u128 asked = (kn_u128)m->l.numerator * (class->l.denominator ? class->l.denominator : 1),
                before = (kn_u128) class->l.numerator * m->l.denominator;
        if (class->model >= 0 && asked <= before) continue; /* the stricter one decides for both */
        class->l = m->l;
        class->model = i;
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

/* How the release's file is written, checked by a function that knows the writers. */
static kn_status check_form(kn_records_verifier *v, kn_error *err)
{
    const kn_records_verify_options *o = v->options;
    return o->look_at_form ? o->look_at_form(o->form_state, kn_vproblem_sentence, v->notes, err) : KN_OK;
}

/* ---- All of it ---- */

static int64_t share_of(kn_fraction share, int64_t count)
{
    return share.denominator == 0 ? 0 : (int64_t)((kn_u128)share.numerator * (kn_u128)count / share.denominator);
}

static kn_status check(kn_records_verifier *v, kn_error *err)
{
    kn_records_verify_report *r = v->report;
    r->records = v->release.count;
    count_nodes(&v->original, &r->nodes_original, &r->relations_original);
    v->spare_nodes = share_of(v->spec->suppression, r->nodes_original);
    v->spare_records = share_of(v->spec->suppression, v->original.count);
    count_nodes(&v->release, &r->nodes, &r->relations);
    KN_TRY(kn_vrecords_count(v, err));
    if (v->spec->strict_structure) KN_TRY(kn_vrecords_strict(v, err));
    KN_TRY(kn_vrecords_classes(v, err));
    KN_TRY(kn_vrecords_match(v, err));
    if (v->whole && r->decided) KN_TRY(kn_vrecords_absent(v, err));
    if (v->whole && r->decided) KN_TRY(kn_vrecords_unrelated(v, err));
    KN_TRY(kn_vrecords_measure(v, err));
    kn_vnotes_judge(v->notes, r->decided);
    if (r->assignment == KN_ASSIGNMENT_UNDECIDED)
        kn_vopen(v->notes, "whether %s; give the row map (--map)",
                 v->budget_open ? "no more was given up than the suppression budget allows"
                                : "every released record is one of the original, each another one");
    return KN_OK;
}

static void verifier_free(kn_records_verifier *v)
{
    kn_vrecords_classes_free(v);
    kn_vforest *forests[] = {&v->original, &v->release};
    for (int i = 0; i < 2; i++) {
        kn_free(forests[i]->start);
        kn_free(forests[i]->parent);
        kn_free(forests[i]->label);
    }
    kn_free(v->map);
    kn_arena_free(&v->arena);
}

kn_status kn_vrecords_check_spec(const kn_spec *spec, kn_error *err)
{
    if (spec->class_count < 1) return kn_fail(err, KN_USAGE, "the release file lists no classes of tree records");
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
    kn_records_verifier v = {.ctx = ctx, .spec = spec, .options = options, .arena = {.ctx = ctx}};
    v.work_limit = v.options->work_limit > 0 ? v.options->work_limit : WORK_LIMIT;
    v.record_limit = v.options->work_limit > 0 ? v.options->work_limit : RECORD_LIMIT;
    kn_status st = make_report(&v, err);
    if (v.options->time_limit > 0) kn_deadline_set(ctx, v.options->time_limit);
    if (st == KN_OK) st = make_classes(&v, err);
    if (release->begin) release->begin(release->state, &v);
    if (st == KN_OK) st = kn_vrecords_read(&v, original, release, err);
    if (st == KN_OK) st = check_form(&v, err);
    if (st == KN_OK) st = check(&v, err);
    st = kn_verify_in_time(ctx, v.options->time_limit, st, err);
    verifier_free(&v);
    if (st == KN_OK)
        *out = v.report;
    else
        kn_records_verify_report_free(v.report);
    return st;
}
