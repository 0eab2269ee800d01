/* kn_classes_linked.c: judging a set if the rows of a person stay linked: persons are released or suppressed as a whole.
 *
 * Interface: kn_evaluate.h, kn_classes.h. The first part of a set counts rows by class and person, so the signature
 * of every person (kn_linked.h) follows from it, whether the set was scanned, rolled up or projected. A signature
 * fails if any of its positions does; all rows of its persons are then suppressed. A class keeps the rows of the
 * others.
 *
 * Generalizing or dropping an attribute maps equal signatures to equal ones: the number of persons who look like
 * somebody only grows, so that sizes are upward closed with and without suppression.
 *
 * Cost: O(entries of the set) and a sort of the entries per sensitive column.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_classes.h"
#include "kn_error.h"
#include "kn_linked.h"

#define WHAT "judging persons"

typedef struct judging {
    const kn_evaluator  *evaluator;
    const kn_classes    *set;
    kn_freq             *classes; /* by the quasi-identifiers alone */
    int64_t             *starts;
    kn_linked            linked;
    kn_class_histograms *histograms; /* per sensitive column        */
    uint8_t             *fates;      /* per signature               */
    int64_t             *released;   /* rows per class              */
} judging;

static kn_status prepare(judging *j, kn_error *err)
{
    const kn_classes      *set = j->set;
    const kn_requirements *r = j->evaluator->problem->requirements;
    const kn_column       *entity = &j->evaluator->problem->table->columns[r->entity];
    KN_TRY(kn_freq_fold(&j->classes, &j->starts, set->parts[0], set->attribute_count, err));
    KN_TRY(kn_linked_make(&j->linked, set->parts[0], j->starts, j->classes->classes, entity->dict.count + 1, err));
    if (!KN_ALLOC_ZERO(set->ctx, j->histograms, (size_t)r->sensitive_count + 1) ||
        !KN_ALLOC_ZERO(set->ctx, j->fates, (size_t)j->linked.signatures + 1) ||
        !KN_ALLOC_ZERO(set->ctx, j->released, (size_t)j->classes->classes + 1))
        return kn_fail_memory(err, j->set->ctx, WHAT);
    for (int s = 0; s < r->sensitive_count; s++)
        KN_TRY(kn_linked_histograms(&j->histograms[s], &j->linked, set->parts[1 + s], set->attribute_count,
                                    j->classes->classes, err));
    return KN_OK;
}

/* A position of a signature; `histograms` has space for all sensitive columns. */
static kn_class_view view_of(const judging *j, int64_t s, int64_t p, kn_histogram *histograms)
{
    const kn_linked *l = &j->linked;
    for (int h = 0; h < j->evaluator->problem->requirements->sensitive_count; h++) {
        int64_t begin = j->histograms[h].starts[p], end = j->histograms[h].starts[p + 1];
        histograms[h] =
            (kn_histogram){j->histograms[h].codes + begin, j->histograms[h].counts + begin, end - begin, l->persons[s]};
    }
    return (kn_class_view){
        .rows = l->persons[s] * l->each[p], .persons = l->persons[s], .population_unit = 1, .histograms = histograms};
}

/* Every position of a signature must hold. `*possible`: its monotone part does. */
static bool signature_holds(const judging *j, int64_t s, kn_histogram *histograms, kn_requirements_scratch *scratch,
                            bool *possible)
{
    const kn_requirements *r = j->evaluator->problem->requirements;
    const kn_linked       *l = &j->linked;
    bool                   holds = true;
    *possible = true;
    for (int64_t p = l->starts[s]; p < l->starts[s + 1] && *possible; p++) {
        kn_class_view view = view_of(j, s, p, histograms);
        *possible = view.persons >= r->k;
        holds = holds && kn_requirements_hold(r, &view, scratch);
    }
    return holds && *possible;
}

/* Some of the signatures with that many persons must be suppressed: those with the fewest rows, of equal ones the first. */
static void give_up(judging *j, kn_average_cut cut)
{
    const kn_linked *l = &j->linked;
    for (; cut.count > 0; cut.count--) {
        int64_t least = -1;
        for (int64_t s = 0; s < l->signatures; s++)
            if (j->fates[s] == KN_CLASS_RELEASED && l->persons[s] == cut.size &&
                (least < 0 || l->rows[s] < l->rows[least]))
                least = s;
        if (least < 0) return;
        j->fates[least] = KN_CLASS_AVERAGE;
    }
}

/* The smallest of the signatures that hold are suppressed too, until the average risk is low enough. */
static kn_status cut_for_average(judging *j, kn_error *err)
{
    const kn_requirements *r = j->evaluator->problem->requirements;
    const kn_linked       *l = &j->linked;
    if (!r->has_average) return KN_OK;
    int64_t *sizes = kn_alloc_array(j->set->ctx, (size_t)l->signatures + 1, sizeof *sizes), count = 0;
    if (!sizes) return kn_fail_memory(err, j->set->ctx, WHAT);
    for (int64_t s = 0; s < l->signatures; s++)
        if (j->fates[s] == KN_CLASS_RELEASED) sizes[count++] = l->persons[s];
    kn_average_cut cut = kn_requirements_average_cut(r, sizes, count);
    kn_free(sizes);
    for (int64_t s = 0; s < l->signatures; s++)
        if (j->fates[s] == KN_CLASS_RELEASED && l->persons[s] < cut.size) j->fates[s] = KN_CLASS_AVERAGE;
    give_up(j, cut);
    return KN_OK;
}

static kn_status ask(judging *j, int64_t *impossible, kn_error *err)
{
    const kn_requirements  *r = j->evaluator->problem->requirements;
    kn_requirements_scratch scratch;
    kn_histogram *histograms = kn_alloc_array(j->set->ctx, (size_t)r->sensitive_count + 1, sizeof *histograms);
    if (!histograms) return kn_fail_memory(err, j->set->ctx, WHAT);
    kn_status st = kn_requirements_scratch_make(&scratch, r, err);
    for (int64_t s = 0; s < j->linked.signatures && st == KN_OK; s++) {
        bool possible;
        if (!signature_holds(j, s, histograms, &scratch, &possible)) j->fates[s] = KN_CLASS_FAILS;
        if (!possible) *impossible += j->linked.rows[s];
    }
    if (st == KN_OK) kn_requirements_scratch_free(&scratch);
    kn_free(histograms);
    return st == KN_OK ? cut_for_average(j, err) : st;
}

static void add_up(kn_verdict *out, judging *j)
{
    const kn_linked *l = &j->linked;
    kn_node_sums    *sums = &out->sums;
    bool             cells = kn_classes_cost_cells(j->evaluator, j->set);
    for (int64_t s = 0; s < l->signatures; s++) {
        if (j->fates[s] != KN_CLASS_RELEASED) {
            sums->suppressed += l->rows[s];
            if (j->fates[s] == KN_CLASS_AVERAGE) out->average_suppressed += l->rows[s];
            continue;
        }
        sums->rows += l->rows[s];
        for (int64_t p = l->starts[s]; p < l->starts[s + 1]; p++)
            j->released[l->classes[p]] += l->persons[s] * l->each[p];
    }
    if (cells) sums->cells = kn_objective_cells_of_node(j->evaluator->problem->objective, j->set->levels);
    for (int64_t i = 0; i < j->classes->classes; i++) {
        int64_t rows = j->classes->counts[i], kept = j->released[i];
        kn_u128 square = (kn_u128)kept * (kn_u128)kept;
        sums->classes += kept > 0;
        sums->squares += square;
        sums->suppressed_squares += (kn_u128)rows * (kn_u128)rows - square;
        if (cells && kept < rows)
            sums->cells -= kn_classes_row_cost(j->evaluator, j->set, j->classes, i) * (kn_u128)(rows - kept);
    }
}

static kn_status decide(kn_verdict *out, judging *j, kn_error *err)
{
    const kn_fulldomain_problem *p = j->evaluator->problem;
    int64_t                      impossible = 0;
    KN_TRY(prepare(j, err));
    KN_TRY(ask(j, &impossible, err));
    *out = (kn_verdict){0};
    add_up(out, j);
    out->good = out->sums.suppressed <= p->budget;
    out->possible = j->evaluator->monotone ? out->good : impossible <= p->budget;
    return KN_OK;
}

static kn_status take_fates(kn_linked_fates *out, judging *j, kn_error *err)
{
    const kn_linked *l = &j->linked;
    if (!KN_ALLOC_ZERO(j->set->ctx, out->persons, (size_t)l->codes + 1)) return kn_fail_memory(err, j->set->ctx, WHAT);
    for (uint32_t p = 0; p < l->codes; p++)
        out->persons[p] = l->of_person[p] != KN_LINKED_NOBODY && j->fates[l->of_person[p]] != KN_CLASS_RELEASED;
    out->released = j->released;
    j->released = NULL;
    return KN_OK;
}

void kn_linked_fates_free(kn_linked_fates *fates)
{
    KN_FREE(fates->persons, fates->released);
    *fates = (kn_linked_fates){0};
}

static void judging_free(judging *j)
{
    for (int s = 0; s < j->evaluator->problem->requirements->sensitive_count && j->histograms; s++)
        kn_class_histograms_free(&j->histograms[s]);
    KN_FREE(j->histograms, j->fates, j->released, j->starts);
    kn_freq_free(j->classes);
    kn_linked_free(&j->linked);
}

kn_status kn_classes_each_linked(const kn_evaluator *e, const kn_classes *set, kn_class_fn each, void *arg,
                                 kn_error *err)
{
    judging          j = {.evaluator = e, .set = set};
    const kn_linked *l = &j.linked;
    size_t           sensitive = (size_t)e->problem->requirements->sensitive_count;
    kn_status        st = prepare(&j, err);
    kn_histogram    *histograms = kn_alloc_array(set->ctx, sensitive + 1, sizeof *histograms);
    if (st == KN_OK && !histograms) st = kn_fail_memory(err, set->ctx, WHAT);
    for (int64_t s = 0; st == KN_OK && s < l->signatures; s++)
        for (int64_t p = l->starts[s]; p < l->starts[s + 1]; p++) {
            kn_class_view view = view_of(&j, s, p, histograms);
            each(arg, &view, s, l->rows[s], 0);
        }
    kn_free(histograms);
    judging_free(&j);
    return st;
}

kn_status kn_classes_decide_linked(kn_verdict *out, kn_linked_fates *fates, kn_freq **folded, const kn_evaluator *e,
                                   const kn_classes *set, kn_error *err)
{
    judging   j = {.evaluator = e, .set = set};
    kn_status st = decide(out, &j, err);
    if (st == KN_OK && fates) st = take_fates(fates, &j, err);
    if (st == KN_OK && folded) {
        *folded = j.classes;
        j.classes = NULL;
    }
    judging_free(&j);
    return st;
}
