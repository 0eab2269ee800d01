/* kn_figures.c: applies every privacy model to classes and keeps the worst figure of each.
 *
 * The worst is a minimum or maximum and the rest are counts of classes and rows, so it does not matter which worker
 * adds up which classes. Cost: per class O(its values × (log values + height)); with missing sensitive cells the
 * ordered distance costs O(values of the column × log) per class.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_figures.h"

#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"

#define WHAT "measuring privacy models"

/* ---- The question ---- */

static kn_status check_options(const kn_model_options *o, kn_error *err)
{
    if (o->quasi_count < 1) return kn_fail(err, KN_USAGE, "the set of quasi-identifiers is empty");
    if (o->sensitive_count < 1) return kn_fail(err, KN_USAGE, "there is no sensitive column");
    if (o->missing != KN_MISSING_VALUE && o->missing != KN_MISSING_DROP)
        return kn_fail(err, KN_USAGE, "with missing cells as wildcards there are no classes to look into");
    return KN_OK;
}

static kn_status find_columns(int *out, const kn_table *table, const char *const *names, int count, const char *what,
                              kn_error *err)
{
    for (int i = 0; i < count; i++) {
        out[i] = kn_table_find(table, names[i]);
        if (out[i] < 0) return kn_table_no_column(table, "there is", names[i], err);
        for (int j = 0; j < i; j++)
            if (out[j] == out[i])
                return kn_fail(err, KN_USAGE, "column \"%s\" is named twice among the %s", names[i], what);
    }
    return KN_OK;
}

static kn_status check_roles(const kn_inquiry *q, kn_error *err)
{
    const kn_model_options *o = q->options;
    for (int s = 0; s < o->sensitive_count; s++) {
        const kn_column *column = &q->table->columns[q->sensitive[s]];
        for (int i = 0; i < o->quasi_count; i++)
            if (q->quasi[i] == q->sensitive[s])
                return kn_fail(err, KN_USAGE, "column \"%s\" cannot be both sensitive and a quasi-identifier",
                               column->name);
        const kn_hierarchy *h = o->hierarchies ? o->hierarchies[s] : NULL;
        if (h && (!h->leaf_of_code || h->codes != column->dict.count))
            return kn_fail(err, KN_USAGE, "the hierarchy given for column \"%s\" is not bound to it", column->name);
    }
    return KN_OK;
}

static kn_status find_subjects(kn_inquiry *q, kn_error *err)
{
    const kn_model_options *o = q->options;
    for (int i = 0; i < o->requirement_count; i++) {
        const kn_model *m = &o->requirements[i];
        KN_TRY(kn_model_check(m, err));
        if (m->kind == KN_MODEL_K_MAP || m->kind == KN_MODEL_PRESENCE || m->kind == KN_MODEL_AVERAGE_RISK)
            return kn_fail(err, KN_USAGE,
                           "%s: it cannot be measured on the classes of a table alone; ask for it in a release",
                           kn_model_name(m->kind));
        q->subject[i] = 0;
        if (!kn_model_needs_attribute(m->kind)) continue;
        int column = kn_table_find(q->table, m->attribute), s = 0;
        if (column < 0) return kn_table_no_column(q->table, "there is", m->attribute, err);
        while (s < o->sensitive_count && q->sensitive[s] != column) s++;
        if (s == o->sensitive_count)
            return kn_fail(err, KN_USAGE, "%s: column \"%s\" is not among the sensitive ones", kn_model_name(m->kind),
                           m->attribute);
        if (m->kind == KN_MODEL_T_HIERARCHICAL && !(o->hierarchies && o->hierarchies[s]))
            return kn_fail(err, KN_USAGE, "%s: hierarchical distance on column \"%s\" needs a hierarchy",
                           kn_model_name(m->kind), m->attribute);
        q->subject[i] = s;
    }
    return KN_OK;
}

static kn_status make_reference(kn_inquiry *q, int s, kn_error *err)
{
    const kn_column *column = &q->table->columns[q->sensitive[s]];
    kn_freq         *freq = NULL;
    KN_TRY(kn_freq_of_table(&freq, q->ctx, q->table, &q->sensitive[s], 1, err));
    int64_t *counts = kn_alloc_array_zero(q->ctx, (size_t)column->dict.count + 1, sizeof *counts);
    for (int64_t i = 0; i < freq->classes && counts; i++) counts[kn_freq_code(freq, i, 0)] = freq->counts[i];
    kn_freq_free(freq);
    if (!counts) return kn_fail_memory(err, q->ctx, WHAT);
    return kn_reference_make(&q->references[s], q->ctx, counts, column->dict.count,
                             q->options->hierarchies ? q->options->hierarchies[s] : NULL, err);
}

kn_status kn_inquiry_begin(kn_inquiry *q, kn_context *ctx, const kn_table *table, const kn_model_options *o,
                           kn_error *err)
{
    *q = (kn_inquiry){.ctx = ctx, .table = table, .options = o};
    KN_TRY(check_options(o, err));
    size_t sensitive = (size_t)o->sensitive_count, workers = (size_t)kn_context_threads(ctx);
    q->quasi = kn_alloc_array(ctx, (size_t)o->quasi_count, sizeof *q->quasi);
    q->sensitive = kn_alloc_array(ctx, sensitive, sizeof *q->sensitive);
    q->references = kn_alloc_array_zero(ctx, sensitive, sizeof *q->references);
    q->scratch = kn_alloc_array_zero(ctx, sensitive * workers, sizeof *q->scratch);
    q->subject = kn_alloc_array(ctx, (size_t)o->requirement_count + 1, sizeof *q->subject);
    if (!q->quasi || !q->sensitive || !q->references || !q->scratch || !q->subject)
        return kn_fail_memory(err, ctx, WHAT);
    KN_TRY(find_columns(q->quasi, table, o->quasi, o->quasi_count, "quasi-identifiers", err));
    KN_TRY(find_columns(q->sensitive, table, o->sensitive, o->sensitive_count, "sensitive columns", err));
    KN_TRY(check_roles(q, err));
    KN_TRY(find_subjects(q, err));
    for (int s = 0; s < o->sensitive_count; s++) {
        KN_TRY(make_reference(q, s, err));
        for (size_t w = 0; w < workers; w++)
            KN_TRY(kn_scratch_make(&q->scratch[w * sensitive + (size_t)s], &q->references[s], err));
    }
    return KN_OK;
}

void kn_inquiry_end(kn_inquiry *q)
{
    size_t sensitive = q->options ? (size_t)q->options->sensitive_count : 0;
    for (size_t i = 0; q->scratch && i < sensitive * (size_t)kn_context_threads(q->ctx); i++)
        kn_scratch_free(&q->scratch[i]);
    for (size_t s = 0; q->references && s < sensitive; s++) kn_reference_free(&q->references[s]);
    KN_FREE(q->quasi, q->sensitive, q->references, q->scratch, q->subject);
}

/* ---- The classes ---- */

static double worse(const kn_model *m, double a, double b)
{
    return kn_model_larger_is_stronger(m->kind) ? fmin(a, b) : fmax(a, b);
}

void kn_tally_begin(kn_tally *t, kn_model_verdict *verdicts, int count)
{
    *t = (kn_tally){.smallest = INT64_MAX, .verdicts = verdicts};
    t->figures.distinct_l = INT64_MAX;
    t->figures.entropy_l = INFINITY;
    for (int i = 0; i < count; i++) verdicts[i] = (kn_model_verdict){.reached = NAN}; /* fmin and fmax ignore it  */
}

static void add_figures(kn_model_figures *f, const kn_histogram *h, const kn_reference *r, kn_scratch *scratch)
{
    if (h->values < f->distinct_l) f->distinct_l = kn_distinct_reached(h);
    f->entropy_l = fmin(f->entropy_l, kn_entropy_reached(h));
    f->recursive_c2 = fmax(f->recursive_c2, kn_quotient_double(kn_recursive_reached(h, 2)));
    f->recursive_c3 = fmax(f->recursive_c3, kn_quotient_double(kn_recursive_reached(h, 3)));
    f->t_equal = fmax(f->t_equal, kn_quotient_double(kn_t_equal_reached(h, r)));
    f->t_ordered = fmax(f->t_ordered, kn_quotient_double(kn_t_ordered_reached(h, r, scratch)));
    if (r->hierarchy)
        f->t_hierarchical = fmax(f->t_hierarchical, kn_quotient_double(kn_t_hierarchical_reached(h, r, scratch)));
    f->alpha = fmax(f->alpha, kn_quotient_double(kn_alpha_reached(h)));
    double beta = kn_quotient_double(kn_beta_reached(h, r)), delta = kn_delta_present(h, r);
    bool   within = kn_beta_within_log(h, r), lacks = kn_lacks_value(h, r);
    f->beta = fmax(f->beta, beta);
    f->beta_enhanced = fmax(f->beta_enhanced, within ? beta : INFINITY);
    f->delta_present = fmax(f->delta_present, delta);
    f->delta = fmax(f->delta, lacks ? INFINITY : delta);
    f->log_classes += !within;
    f->lacking_classes += lacks;
}

static bool set_aside(const kn_class_list *list, int64_t i)
{
    for (int c = 0; list->missing && c < list->classes->layout.columns; c++)
        if (list->missing[c] != UINT32_MAX && kn_freq_code(list->classes, i, c) == list->missing[c]) return true;
    return false;
}

void kn_tally_add(kn_tally *t, const kn_inquiry *q, int sensitive, const kn_class_list *list, int64_t begin,
                  int64_t end, int worker)
{
    const kn_model_options *o = q->options;
    const kn_reference     *r = &q->references[sensitive];
    kn_scratch             *scratch = &q->scratch[worker * o->sensitive_count + sensitive];
    for (int64_t i = begin; i < end; i++) {
        int64_t      first = list->histograms.starts[i], rows = list->classes->counts[i];
        kn_histogram h = {list->histograms.codes + first, list->histograms.counts + first,
                          list->histograms.starts[i + 1] - first, rows};
        if (set_aside(list, i)) {
            t->dropped += rows;
            continue;
        }
        t->classes++;
        if (rows < t->smallest) t->smallest = rows;
        add_figures(&t->figures, &h, r, scratch);
        for (int m = 0; m < o->requirement_count; m++) {
            if (q->subject[m] != sensitive) continue;
            const kn_model *model = &o->requirements[m];
            t->verdicts[m].reached = worse(model, t->verdicts[m].reached, kn_model_reached(model, &h, r, scratch));
            if (kn_model_satisfied(model, &h, r, scratch)) continue;
            t->verdicts[m].classes++;
            t->verdicts[m].rows += rows;
            list->violates[i] = 1;
        }
    }
}

void kn_tally_merge(kn_tally *t, const kn_tally *other, const kn_inquiry *q, int sensitive)
{
    kn_model_figures       *f = &t->figures;
    const kn_model_figures *g = &other->figures;
    t->classes += other->classes;
    t->dropped += other->dropped;
    if (other->smallest < t->smallest) t->smallest = other->smallest;
    if (g->distinct_l < f->distinct_l) f->distinct_l = g->distinct_l;
    f->entropy_l = fmin(f->entropy_l, g->entropy_l);
    f->recursive_c2 = fmax(f->recursive_c2, g->recursive_c2);
    f->recursive_c3 = fmax(f->recursive_c3, g->recursive_c3);
    f->t_equal = fmax(f->t_equal, g->t_equal);
    f->t_ordered = fmax(f->t_ordered, g->t_ordered);
    f->t_hierarchical = fmax(f->t_hierarchical, g->t_hierarchical);
    f->alpha = fmax(f->alpha, g->alpha);
    f->beta = fmax(f->beta, g->beta);
    f->beta_enhanced = fmax(f->beta_enhanced, g->beta_enhanced);
    f->delta = fmax(f->delta, g->delta);
    f->delta_present = fmax(f->delta_present, g->delta_present);
    f->log_classes += g->log_classes;
    f->lacking_classes += g->lacking_classes;
    for (int m = 0; m < q->options->requirement_count; m++) {
        if (q->subject[m] != sensitive) continue;
        const kn_model *model = &q->options->requirements[m];
        t->verdicts[m].reached = worse(model, t->verdicts[m].reached, other->verdicts[m].reached);
        t->verdicts[m].classes += other->verdicts[m].classes;
        t->verdicts[m].rows += other->verdicts[m].rows;
    }
}

void kn_tally_end(kn_tally *t, const kn_inquiry *q, int sensitive)
{
    bool hierarchy = q->references[sensitive].hierarchy;
    if (t->classes == 0) {
        t->smallest = 0;
        t->figures = (kn_model_figures){.distinct_l = 0};
    }
    if (!hierarchy) t->figures.t_hierarchical = NAN;
    for (int m = 0; m < q->options->requirement_count; m++) {
        if (q->subject[m] != sensitive) continue;
        if (t->classes == 0) t->verdicts[m].reached = 0;
        t->verdicts[m].holds = t->classes > 0 && t->verdicts[m].classes == 0; /* no class shows nothing */
    }
}

void kn_count_violations(const kn_freq *classes, const uint8_t *violates, int64_t *class_count, int64_t *rows)
{
    *class_count = *rows = 0;
    for (int64_t i = 0; i < classes->classes; i++) {
        *class_count += violates[i];
        *rows += violates[i] ? classes->counts[i] : 0;
    }
}
