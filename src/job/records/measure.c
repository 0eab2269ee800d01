/* records/measure.c: kn_measure_records of kanon/measure.h: what a release of tree records lost, from the files alone.
 *
 * Which released record is whose is said by a row map, or follows from the values shown: whatever was moved, a record shows the images of
 * its values. Records with the same images are interchangeable for what depends on values as long as none of them is left out, or all
 * were equal; for what depends on relations where all of them, or all that became of them, are equal, or none was moved. Where single nodes were given up, or
 * may have been, since records are left out, too, it is not known.
 *
 * Cost: reading, sorting the records by what they show, and for each node of the original the nodes of the released record.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/database.h>
#include <kanon/measure.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_options.h"
#include "kn_records_run.h"
#include "kn_sort.h"
#include "kn_spec_records.h"
#include "kn_tree.h"
#include "kn_verify_rowmap.h"

#define NONE UINT32_MAX

static const char what[] = "measuring a release";

/* The report with what it points to. */
typedef struct report {
    kn_records_measure_report report;
    kn_arena                  arena;
} report;

typedef struct job {
    kn_context               *ctx;
    const kn_spec            *spec;
    const kn_measure_options *options;
    report                   *to;
    kn_records               *original, *released;
    bool                     *shown;       /* per value: a released record shows it                         */
    int64_t                  *original_of; /* per released record, then those that are left out             */
    bool                      nodes_known, relations_known;
} job;

void kn_records_measure_report_free(kn_records_measure_report *public_part)
{
    if (!public_part) return;
    report *r = (report *)public_part;
    kn_arena_free(&r->arena);
    kn_free(r);
}

/* ---- Reading ---- */

static kn_status read_both(job *j, kn_error *err)
{
    const kn_measure_options *o = j->options;
    kn_records               *read = NULL;
    KN_TRY(kn_records_read_original(&j->original, j->ctx, j->spec, o->originals, o->original_count, err));
    KN_TRY(kn_records_read_release(&read, j->ctx, o->release ? o->release : j->spec->output,
                                   o->original_count > 0 ? o->originals[0] : NULL, j->spec, err));
    kn_status st = kn_records_translate(&j->released, j->ctx, read, j->original->vocabulary, false, err);
    kn_records_free(read);
    if (st == KN_OK && j->released->count > j->original->count)
        st = kn_fail(err, KN_INPUT, "the release has more records (%lld) than the original (%lld)",
                     (long long)j->released->count, (long long)j->original->count);
    return st;
}

/* ---- Whose record is it? ---- */

/* The original records that no released one comes from, behind the others. */
static kn_status add_left_out(job *j, kn_error *err)
{
    bool   *used = kn_alloc_array_zero(j->ctx, (size_t)j->original->count + 1, sizeof *used);
    int64_t at = j->released->count;
    if (!used) return kn_fail_memory(err, j->ctx, what);
    for (int64_t r = 0; r < at; r++) used[j->original_of[r]] = true;
    for (int64_t r = 0; r < j->original->count; r++)
        if (!used[r]) j->original_of[at++] = r;
    kn_free(used);
    return KN_OK;
}

static kn_status check_map(const job *j, const int64_t *map, int64_t count, kn_error *err)
{
    bool *used = kn_alloc_array_zero(j->ctx, (size_t)j->original->count + 1, sizeof *used);
    bool  good = count == j->released->count;
    if (!used) return kn_fail_memory(err, j->ctx, what);
    for (int64_t r = 0; r < count && good; r++) {
        good = map[r] < j->original->count && !used[map[r]];
        if (good) used[map[r]] = true;
    }
    kn_free(used);
    return good ? KN_OK : kn_fail(err, KN_INPUT, "%s: it is not a row map of this release", j->options->map);
}

static kn_status take_map(job *j, kn_error *err)
{
    int64_t    *map = NULL, count = 0;
    const char *release = j->options->release ? j->options->release : j->spec->output;
    if (j->spec->table_count > 0 && release && kn_database_named(release))
        return kn_fail(err, KN_USAGE, "the row map of a released database is for verify; leave --map out");
    kn_status st = kn_vrowmap_take(&map, &count, j->ctx, NULL, 0, j->options->map, "record", err);
    if (st == KN_OK) st = check_map(j, map, count, err);
    for (int64_t r = 0; r < count && st == KN_OK; r++) j->original_of[r] = map[r];
    j->nodes_known = j->relations_known = st == KN_OK;
    kn_free(map);
    return st;
}

/* What a value shows as; NONE: nothing. False: as several. */
static bool find_image(const job *j, uint32_t value, uint32_t *image)
{
    const kn_vocabulary *v = j->original->vocabulary;
    bool                 one = true;
    *image = NONE;
    for (uint32_t u = value; u != NONE; u = v->parent[u]) {
        if (!j->shown[u] || (u == 0 && v->sensitive[v->cls[value]])) continue;
        one = one && *image == NONE;
        if (*image == NONE) *image = u;
    }
    return one;
}

/* What records show, or would show if nothing was moved. */
typedef struct faces {
    const kn_records *records;
    uint64_t         *start; /* of each the values, ascending, each once */
    uint32_t         *values;
    uint32_t         *order; /* the records, sorted by these, then by where they stand */
} faces;

static void faces_free(faces *f)
{
    KN_FREE(f->start, f->values, f->order);
}

static int compare_numbers(const uint32_t *a, uint64_t n, const uint32_t *b, uint64_t m)
{
    for (uint64_t i = 0; i < n && i < m; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return n < m ? -1 : n > m;
}

static int compare_faces(const faces *a, int64_t i, const faces *b, int64_t k)
{
    return compare_numbers(a->values + a->start[i], a->start[i + 1] - a->start[i], b->values + b->start[k],
                           b->start[k + 1] - b->start[k]);
}

static int compare_records(const kn_records *x, int64_t a, const kn_records *y, int64_t b)
{
    uint64_t n = x->start[a + 1] - x->start[a], m = y->start[b + 1] - y->start[b];
    int      order = compare_numbers(x->value + x->start[a], n, y->value + y->start[b], m);
    return order != 0 ? order : compare_numbers(x->parent + x->start[a], n, y->parent + y->start[b], m);
}

static int by_face(const void *arg, const void *a, const void *b)
{
    const faces *f = arg;
    uint32_t     i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int          order = compare_faces(f, i, f, k);
    if (order == 0) order = compare_records(f->records, i, f->records, k);
    return order != 0 ? order : i < k ? -1 : i > k;
}

static kn_status make_faces(faces *out, const job *j, const kn_records *x, kn_error *err)
{
    uint64_t at = 0;
    out->records = x;
    out->start = kn_alloc_array_zero(j->ctx, (size_t)x->count + 1, sizeof *out->start);
    out->values = kn_alloc_array(j->ctx, (size_t)x->nodes + 1, sizeof *out->values);
    out->order = kn_alloc_array(j->ctx, (size_t)x->count + 1, sizeof *out->order);
    if (!out->start || !out->values || !out->order) return kn_fail_memory(err, j->ctx, what);
    for (int64_t r = 0; r < x->count; r++) {
        uint64_t first = at, kept = at;
        for (uint64_t i = x->start[r]; i < x->start[r + 1]; i++) out->values[at++] = x->value[i];
        qsort(out->values + first, at - first, sizeof *out->values, kn_compare_u32);
        for (uint64_t i = first; i < at; i++)
            if (i == first || out->values[i] != out->values[i - 1]) out->values[kept++] = out->values[i];
        out->start[r + 1] = at = kept;
        out->order[r] = (uint32_t)r;
    }
    kn_sort_in_place(out->order, (size_t)x->count, sizeof *out->order, by_face, out);
    return KN_OK;
}

static bool all_same(const kn_records *x, const uint32_t *order, int64_t from, int64_t to)
{
    for (int64_t i = from + 1; i < to; i++)
        if (compare_records(x, order[from], x, order[i]) != 0) return false;
    return true;
}

/* Are all of them there as they were, but for their values? Then nothing was moved, for moving only takes relations away. */
static bool unmoved(const faces *before, int64_t at, const faces *after, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        if (compare_records(before->records, before->order[at + i - from], after->records, after->order[i]) != 0)
            return false;
    return true;
}

static int64_t face_end(const faces *f, int64_t from, int64_t count)
{
    int64_t end = from + 1;
    while (end < count && compare_faces(f, f->order[from], f, f->order[end]) == 0) end++;
    return end;
}

/* Released records and originals of one face belong together, in any order. */
static kn_status pair_faces(job *j, const faces *before, const faces *after, bool *paired, kn_error *err)
{
    int64_t count = j->original->count;
    j->nodes_known = j->relations_known = true;
    for (int64_t i = 0, at = 0, end; at < count || i < j->released->count; at = end) {
        int     order = -1;
        int64_t last = i;
        if (i < j->released->count)
            order = at < count ? compare_faces(before, before->order[at], after, after->order[i]) : 1;
        end = at < count ? face_end(before, at, count) : at;
        if (order == 0) last = face_end(after, i, j->released->count);
        if ((order > 0 || last - i > end - at) && j->spec->suppression.numerator > 0) {
            *paired = false; /* single nodes were given up */
            return KN_OK;
        }
        if (order > 0 || last - i > end - at)
            return kn_fail(err, KN_INPUT,
                           "record %lld of the release shows what no record of the original can, or one that another "
                           "released record comes from",
                           (long long)after->order[order > 0 ? i : i + end - at] + 1);
        if (last > i && !all_same(j->original, before->order, at, end)) {
            if (last - i < end - at) j->nodes_known = j->relations_known = false;
            if (!all_same(j->released, after->order, i, last) && !unmoved(before, at, after, i, last))
                j->relations_known = false;
        }
        for (int64_t r = i; r < last; r++) j->original_of[after->order[r]] = before->order[at + r - i];
        i = last;
    }
    return KN_OK;
}

static kn_status assign(job *j, kn_error *err)
{
    kn_vocabulary *v = j->original->vocabulary;
    kn_records    *shown = NULL;
    faces          before = {0}, after = {0};
    bool           one = true, paired = true;
    uint32_t      *image = kn_alloc_array(j->ctx, (size_t)v->nodes + 1, sizeof *image);
    if (!image) return kn_fail_memory(err, j->ctx, what);
    for (uint64_t i = 0; i < j->original->nodes && one; i++)
        one = find_image(j, j->original->value[i], &image[j->original->value[i]]);
    kn_status st = KN_OK;
    for (int64_t r = 0; r < j->released->count; r++) j->original_of[r] = r;
    if (one) st = kn_records_image(&shown, j->ctx, j->original, image, v, err);
    if (one && st == KN_OK) st = make_faces(&before, j, shown, err);
    if (one && st == KN_OK) st = make_faces(&after, j, j->released, err);
    if (one && st == KN_OK) st = pair_faces(j, &before, &after, &paired, err);
    if (j->spec->suppression.numerator > 0 && j->released->count < j->original->count) paired = false;
    if (st == KN_OK && !paired) {
        for (int64_t r = 0; r < j->released->count; r++) j->original_of[r] = r;
        j->nodes_known = j->relations_known = false;
    }
    faces_free(&before);
    faces_free(&after);
    kn_records_free(shown);
    kn_free(image);
    return st;
}

/* ---- Classes ---- */

/* What a node shows in a record; 0: nothing. */
static uint32_t shown_in(const kn_records *x, int64_t record, uint32_t value)
{
    uint32_t found = 0;
    for (uint64_t i = x->start[record]; i < x->start[record + 1]; i++)
        if (kn_vocabulary_covers(x->vocabulary, x->value[i], value) && x->value[i] > found) found = x->value[i];
    return found;
}

/* Adds a node of the original; `released`: -1, left out. How broad it became. */
static double add_node(kn_measured_class *c, const job *j, uint32_t value, int64_t released)
{
    const kn_vocabulary *v = j->original->vocabulary;
    uint32_t             shown = released < 0 ? 0 : shown_in(j->released, released, value);
    c->kept += shown == value;
    c->generalized += shown != value && shown != 0;
    c->suppressed += shown == 0;
    return shown == 0 ? 1 : (double)(v->leaves[shown] - 1) / (double)v->leaves[v->top[v->cls[value]]];
}

static double weight_of(const job *j, int cls)
{
    kn_ratio weight = j->spec->classes[cls].weight;
    return weight.denominator == 0 ? 1 : (double)weight.numerator / (double)weight.denominator;
}

static kn_status add_nodes(job *j, kn_measured_class *classes, kn_error *err)
{
    const kn_records *x = j->original;
    double            lost = 0, all = 0;
    int64_t          *released_of = kn_alloc_array(j->ctx, (size_t)x->count + 1, sizeof *released_of);
    if (!released_of) return kn_fail_memory(err, j->ctx, what);
    for (int64_t r = 0; r < x->count; r++) released_of[j->original_of[r]] = r < j->released->count ? r : -1;
    for (int64_t r = 0; r < x->count; r++)
        for (uint64_t i = x->start[r]; i < x->start[r + 1]; i++) {
            int    cls = x->vocabulary->cls[x->value[i]];
            double breadth = add_node(&classes[cls], j, x->value[i], released_of[r]);
            classes[cls].loss += breadth;
            lost += weight_of(j, cls) * breadth;
            all += weight_of(j, cls);
        }
    kn_free(released_of);
    j->to->report.loss = all > 0 ? lost / all : 0;
    return KN_OK;
}

static kn_status count_values(job *j, kn_measured_class *classes, kn_error *err)
{
    const kn_vocabulary *v = j->original->vocabulary;
    bool                *had = kn_alloc_array_zero(j->ctx, (size_t)v->nodes + 1, sizeof *had);
    if (!had) return kn_fail_memory(err, j->ctx, what);
    for (uint64_t i = 0; i < j->original->nodes; i++) {
        had[j->original->value[i]] = true;
        classes[v->cls[j->original->value[i]]].nodes++;
    }
    for (uint32_t u = 0; u < v->nodes; u++) {
        j->to->report.values += had[u];
        j->to->report.values_released += j->shown[u];
        if (!had[u]) continue;
        classes[v->cls[u]].values++;
        classes[v->cls[u]].values_kept += j->shown[u];
    }
    kn_free(had);
    return KN_OK;
}

static kn_status tell_classes(job *j, kn_error *err)
{
    const kn_vocabulary *v = j->original->vocabulary;
    kn_arena            *arena = &j->to->arena;
    kn_measured_class   *classes = kn_arena_array_zero(arena, (size_t)v->class_count, sizeof *classes);
    if (!classes) return kn_fail_memory(err, j->ctx, what);
    for (int c = 0; c < v->class_count; c++)
        classes[c].name = kn_arena_strndup(arena, v->class_names[c], strlen(v->class_names[c]));
    if (arena->failed) return kn_fail_memory(err, j->ctx, what);
    KN_TRY(count_values(j, classes, err));
    if (j->nodes_known) KN_TRY(add_nodes(j, classes, err));
    for (int c = 0; c < v->class_count; c++) {
        if (j->nodes_known && classes[c].nodes > 0) classes[c].loss /= (double)classes[c].nodes;
        if (j->nodes_known) continue;
        classes[c].kept = classes[c].generalized = classes[c].suppressed = -1;
        classes[c].loss = NAN;
    }
    j->to->report.classes = classes;
    j->to->report.class_count = v->class_count;
    return KN_OK;
}

/* ---- All together ---- */

static kn_status tell(job *j, kn_error *err)
{
    kn_records_measure_report *r = &j->to->report;
    kn_tree_metrics            m;
    kn_tree_metrics_options    options = KN_TREE_METRICS_OPTIONS_INIT;
    options.mine = j->spec->support.numerator > 0 && j->nodes_known;
    if (options.mine) options.support = (double)j->spec->support.numerator / (double)j->spec->support.denominator;
    KN_TRY(kn_tree_measure(&m, j->ctx, j->original, j->released, j->original_of, &options, err));
    r->records = j->original->count;
    r->released = j->released->count;
    r->suppressed = r->records - r->released;
    r->nodes = m.nodes_original;
    r->nodes_released = m.nodes;
    r->relations = m.relations_original;
    r->relations_released = m.relations;
    r->rpd = m.rpd;
    r->rpd_original = m.rpd_original;
    r->ml2 = m.ml2;
    r->dml2 = m.dml2;
    r->loss = NAN;
    r->node_survival = j->nodes_known ? m.node_survival : NAN;
    r->relation_survival = j->relations_known ? m.relation_survival : NAN;
    r->relation_unchanged = j->relations_known ? m.relation_unchanged : NAN;
    return tell_classes(j, err);
}

static kn_status run(job *j, kn_error *err)
{
    KN_TRY(read_both(j, err));
    j->original_of = kn_alloc_array(j->ctx, (size_t)j->original->count + 1, sizeof *j->original_of);
    j->shown = kn_alloc_array_zero(j->ctx, (size_t)j->original->vocabulary->nodes + 1, sizeof *j->shown);
    if (!j->original_of || !j->shown) return kn_fail_memory(err, j->ctx, what);
    for (uint64_t i = 0; i < j->released->nodes; i++) j->shown[j->released->value[i]] = true;
    KN_TRY(j->options->map ? take_map(j, err) : assign(j, err));
    KN_TRY(add_left_out(j, err));
    return tell(j, err);
}

kn_status kn_measure_records(kn_records_measure_report **out, kn_context *ctx, const kn_spec *spec,
                             const kn_measure_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    if (!spec) return kn_fail(err, KN_USAGE, "measure: the spec is missing");
    KN_OPTIONS(kn_measure_options, KN_MEASURE_OPTIONS_INIT, options, "measure options", err);
    if (!options->release && !spec->output) return kn_fail(err, KN_USAGE, "measure: no release is named");
    job j = {.ctx = ctx, .spec = spec, .options = options, .to = kn_alloc_zero(ctx, sizeof(report))};
    if (!j.to) return kn_fail_memory(err, ctx, what);
    kn_arena_init(&j.to->arena, ctx);
    kn_status st = run(&j, err);
    kn_records_free(j.released); /* it borrows the original's vocabulary */
    kn_records_free(j.original);
    KN_FREE(j.shown, j.original_of);
    if (st == KN_OK)
        *out = &j.to->report;
    else
        kn_records_measure_report_free(&j.to->report);
    return st;
}
