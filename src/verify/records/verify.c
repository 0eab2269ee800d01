/* records/verify.c: does a release of tree records keep its promises? The order of the checks, the report, and the two
 * files as numbers.
 *
 * Interface: kn_verify_records_pair (kanon/verify.h). Records are seen through kanon/records.h alone.
 * Cost here: O(nodes) look-ups of labels; 8 bytes per node and file.
 */
#include "kn_verify_records.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_extras.h"

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

/* ---- The two files as numbers ---- */

static kn_status make_forest(kn_records_verifier *v, kn_vforest *f, const kn_records *records, uint16_t **classes,
                             kn_error *err)
{
    f->count = kn_records_count(records);
    f->start = kn_alloc_array(v->ctx, (size_t)f->count + 1, sizeof *f->start);
    if (!f->start) return kn_vrecords_no_memory(v, err);
    uint64_t nodes = 0;
    for (int64_t r = 0; r < f->count; r++) {
        f->start[r] = nodes;
        nodes += kn_records_size(records, r);
    }
    f->start[f->count] = nodes;
    f->parent = kn_alloc_array(v->ctx, nodes + 1, sizeof *f->parent);
    f->label = kn_alloc_array(v->ctx, nodes + 1, sizeof *f->label);
    *classes = kn_alloc_array(v->ctx, nodes + 1, sizeof **classes);
    return f->parent && f->label && *classes ? KN_OK : kn_vrecords_no_memory(v, err);
}

/* A node's label as its number inside its class; the class beside it. */
static kn_status take_node(kn_records_verifier *v, kn_vforest *f, uint16_t *classes, const kn_records *records,
                           int64_t record, uint32_t node, kn_error *err)
{
    uint64_t at = f->start[record] + node;
    int64_t  parent = kn_records_parent(records, record, node);
    int      cls = kn_records_class(records, record, node);
    if (parent >= (int64_t)node)
        return kn_fail(err, KN_INPUT, "record %" PRId64 ": node %" PRIu32 " is out of order", record + 1, node + 1);
    kn_string text;
    text.data = kn_records_label(records, record, node, &text.size);
    f->parent[at] = parent < 0 ? KN_V_NONE : (uint32_t)parent;
    classes[at] = (uint16_t)(cls < 0 || cls >= v->class_count ? v->class_count : cls);
    f->label[at] = kn_texts_add(&v->classes[classes[at]].texts, text, true);
    return f->label[at] == KN_V_NONE ? kn_vrecords_no_memory(v, err) : KN_OK;
}

static kn_status take_records(kn_records_verifier *v, kn_vforest *f, uint16_t **classes, const kn_records *records,
                              kn_error *err)
{
    KN_TRY(make_forest(v, f, records, classes, err));
    for (int64_t r = 0; r < f->count; r++) {
        uint32_t size = (uint32_t)(f->start[r + 1] - f->start[r]);
        for (uint32_t i = 0; i < size; i++) KN_TRY(take_node(v, f, *classes, records, r, i, err));
    }
    return KN_OK;
}

/* Numbers inside classes become numbers over all classes. */
static kn_status number_labels(kn_records_verifier *v, const uint16_t *original, const uint16_t *release, kn_error *err)
{
    uint64_t total = 0;
    for (int c = 0; c <= v->class_count; c++) {
        v->classes[c].first = (uint32_t)total;
        total += v->classes[c].texts.count;
    }
    if (total >= KN_V_MISSING) return kn_fail(err, KN_INPUT, "there are too many different values to verify");
    v->labels = (uint32_t)total;
    const kn_vclass *none = &v->classes[v->class_count];
    uint32_t         star = kn_texts_find(&none->texts, kn_string_of("*"));
    v->star = star == KN_V_NONE ? KN_V_NONE : none->first + star;
    v->class_of = kn_alloc_array(v->ctx, total + 1, sizeof *v->class_of);
    if (!v->class_of) return kn_vrecords_no_memory(v, err);
    for (int c = 0; c <= v->class_count; c++)
        for (uint32_t i = 0; i < v->classes[c].texts.count; i++) v->class_of[v->classes[c].first + i] = (uint16_t)c;
    for (uint64_t i = 0; i < v->original.start[v->original.count]; i++)
        v->original.label[i] += v->classes[original[i]].first;
    for (uint64_t i = 0; i < v->release.start[v->release.count]; i++)
        v->release.label[i] += v->classes[release[i]].first;
    return KN_OK;
}

static kn_status load(kn_records_verifier *v, const kn_records *original, const kn_records *release, kn_error *err)
{
    uint16_t *of_original = NULL, *of_release = NULL;
    kn_status st = take_records(v, &v->original, &of_original, original, err);
    if (st == KN_OK) st = take_records(v, &v->release, &of_release, release, err);
    if (st == KN_OK) st = number_labels(v, of_original, of_release, err);
    kn_free(of_original);
    kn_free(of_release);
    return st;
}

/* Nodes and the pairs of one above the other. */
static void count_nodes(const kn_vforest *f, int64_t *nodes, int64_t *relations)
{
    *nodes = (int64_t)f->start[f->count];
    *relations = 0;
    for (int64_t r = 0; r < f->count; r++)
        for (uint64_t i = f->start[r]; i < f->start[r + 1]; i++)
            for (uint32_t p = f->parent[i]; p != KN_V_NONE; p = f->parent[f->start[r] + p]) ++*relations;
}

/* Whatever the reader passes over, others read. */
static void check_nothing_else(kn_records_verifier *v, const kn_records *original, const kn_records *release)
{
    for (int i = 0; i < kn_records_ignored(release); i++)
        kn_vrecords_problem(v, "the release holds \"%s\", which is nothing of a class",
                            kn_records_ignored_name(release, i));
    const char *namespaces = kn_records_namespaces(release);
    if (namespaces[0] && strcmp(namespaces, kn_records_namespaces(original)) != 0)
        kn_vrecords_problem(v, "the release declares XML namespaces other than those around the original's records");
    if (kn_records_merged(release) > 0)
        kn_vrecords_problem(v, "the release says how often: %" PRId64 " %s the value of a sibling",
                            kn_records_merged(release), kn_records_merged(release) == 1 ? "node has" : "nodes have");
}

static void tell_form(void *arg, const char *sentence)
{
    kn_vrecords_problem(arg, "%s", sentence);
}

/* The bytes that the release was read from. */
static kn_status check_form(kn_records_verifier *v, const kn_records *original, const kn_records *release,
                            kn_error *err)
{
    const kn_spec *spec = v->spec;
    if (!v->options->release) return KN_OK;
    return kn_records_extras(v->ctx, v->options->release, release, original, spec->classes, spec->class_count,
                             tell_form, v, err);
}

/* Siblings of one label would be one node (section II-A), and counting would not see that there are two. */
static kn_status check_siblings(kn_records_verifier *v, const kn_vforest *f, const char *what, kn_error *err)
{
    uint64_t *last = kn_alloc_array_zero(v->ctx, (size_t)v->labels + 1, sizeof *last); /* node + 1 that has it */
    if (!last) return kn_vrecords_no_memory(v, err);
    for (int64_t r = 0; r < f->count; r++)
        for (uint64_t i = f->start[r]; i < f->start[r + 1]; i++) {
            uint64_t before = last[f->label[i]];
            /* Most labels stand once in a record; where one does not, all earlier nodes are looked at. */
            bool twice = false;
            for (uint64_t j = before; !twice && before > f->start[r] && j-- > f->start[r];)
                twice = f->label[j] == f->label[i] && f->parent[j] == f->parent[i];
            if (twice)
                kn_vrecords_problem(v, "record %" PRId64 " of the %s, node %" PRIu64 ": a sibling has the same value",
                                    r + 1, what, i - f->start[r] + 1);
            last[f->label[i]] = i + 1;
        }
    kn_free(last);
    return KN_OK;
}

/* ---- All of it ---- */

static kn_status check(kn_records_verifier *v, kn_error *err)
{
    kn_records_verify_report *r = &v->report->base;
    r->records = v->release.count;
    count_nodes(&v->original, &r->nodes_original, &r->relations_original);
    count_nodes(&v->release, &r->nodes, &r->relations);
    KN_TRY(check_siblings(v, &v->release, "release", err));
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

kn_status kn_vrecords_check_options(const kn_spec *spec, const kn_records_verify_options *options, kn_error *err)
{
    if (options && options->size < sizeof *options)
        return kn_fail(err, KN_USAGE, "verification options: the size field is not set");
    if (kn_spec_shape(spec) != KN_SHAPE_RECORDS || spec->class_count < 1)
        return kn_fail(err, KN_USAGE, "the release file lists no classes of tree records");
    if (spec->kmn.k < 1 || spec->kmn.m < 1 || spec->kmn.n < 0)
        return kn_fail(err, KN_USAGE, "no promise was given: k-mn with k, m at least 1 and n at least 0");
    return KN_OK;
}

kn_status kn_verify_records_pair(kn_records_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                 const kn_records *original, const kn_records *release,
                                 const kn_records_verify_options *options, kn_error *err)
{
    *out = NULL;
    const kn_records_verify_options plain = KN_RECORDS_VERIFY_OPTIONS_INIT;
    KN_TRY(kn_vrecords_check_options(spec, options, err));
    kn_records_verifier v = {.ctx = ctx, .spec = spec, .options = options ? options : &plain};
    v.work_limit = v.options->work_limit > 0 ? v.options->work_limit : WORK_LIMIT;
    v.record_limit = v.options->work_limit > 0 ? v.options->work_limit : RECORD_LIMIT;
    kn_status st = make_report(&v, err);
    if (v.options->time_limit > 0) kn_deadline_set(ctx, v.options->time_limit);
    if (st == KN_OK) st = make_classes(&v, err);
    if (st == KN_OK) st = load(&v, original, release, err);
    if (st == KN_OK) check_nothing_else(&v, original, release);
    if (st == KN_OK) st = check_form(&v, original, release, err);
    if (st == KN_OK) st = check(&v, err);
    st = kn_verify_in_time(ctx, v.options->time_limit, st, err);
    verifier_free(&v);
    if (st != KN_OK)
        kn_records_verify_report_free(v.report ? &v.report->base : NULL);
    else
        *out = &v.report->base;
    return st;
}
