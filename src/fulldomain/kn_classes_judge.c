/* kn_classes_judge.c: which classes may be released, and whether what must be suppressed is within the budget.
 *
 * Interface: kn_evaluate.h. If class sizes suffice this is one pass over the counts. Otherwise each part is folded:
 * in key order the values of one class are adjacent, so a pass gives every class its rows, its persons and its
 * histograms; the population is merged in, or bounded. Classes are judged in parallel; the results are added in order.
 *
 * A node is good if
 *   - the rows of the classes that fail, and of those suppressed for average risk, are within the budget;
 *   - with `keep-sensitive` these rows, if there are any, satisfy the requirements as one class whose cells are "*": its
 *     population is everybody. Average risk counts it among the released classes;
 *   - with delta-presence and min > 0 nobody of the population is known to be absent: no class of the population is without
 *     a row, and nothing is suppressed.
 *
 * Cost: O(entries of the set) and the models' own; memory in proportion to the classes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_classes.h"
#include "kn_error.h"
#include "kn_group.h"
#include "kn_parallel.h"

#define WHAT "judging classes"

enum { GRAIN = 4096 }; /* classes judged by one worker at a time */

/* ---- Classes as the requirements see them ---- */

typedef struct class_histograms {
    int64_t  *starts; /* classes + 1 */
    uint32_t *codes;
    int64_t  *counts; /* borrowed from the part, or `owned` */
    int64_t  *owned;
} class_histograms;

typedef struct class_views {
    const kn_evaluator *evaluator;
    const kn_classes   *set;
    const kn_freq      *classes; /* by the quasi-identifiers alone: the first part, or `folded` */
    kn_freq            *folded;
    int64_t            *starts;     /* of the classes in the first part; NULL where it has no extra column     */
    class_histograms   *histograms; /* per sensitive column                                                    */
    int64_t            *population; /* per class; NULL: none                                                   */
    int64_t             everybody;  /* of the population                                                       */
    bool                absent;     /* a class of the population without a row fails                           */
} class_views;

static void views_free(class_views *v)
{
    int sensitive = v->evaluator->problem->requirements->sensitive_count;
    for (int s = 0; s < sensitive && v->histograms; s++)
        KN_FREE(v->histograms[s].starts, v->histograms[s].codes, v->histograms[s].owned);
    KN_FREE(v->histograms, v->population, v->starts);
    kn_freq_free(v->folded);
}

/* The histogram of the column after the quasi-identifiers: of rows, or of the persons in the next column. */
static kn_status make_histograms(class_histograms *h, const kn_classes *set, const kn_freq *part, bool persons,
                                 kn_error *err)
{
    int            quasi = set->attribute_count;
    kn_freq       *pairs = NULL, *classes = NULL; /* (class, value) */
    const kn_freq *from = part;
    if (persons) {
        KN_TRY(kn_freq_fold(&pairs, &h->owned, part, quasi + 1, err));
        for (int64_t i = 0; i < pairs->classes; i++) h->owned[i] = h->owned[i + 1] - h->owned[i];
        from = pairs;
    }
    h->counts = persons ? h->owned : part->counts;
    kn_status st = kn_freq_fold(&classes, &h->starts, from, quasi, err);
    if (st == KN_OK) {
        h->codes = kn_alloc_array(set->ctx, (size_t)from->classes + 1, sizeof *h->codes);
        if (!h->codes) st = kn_fail_memory(err, set->ctx, WHAT);
    }
    for (int64_t i = 0; i < from->classes && st == KN_OK; i++) h->codes[i] = kn_freq_code(from, i, quasi);
    kn_freq_free(classes);
    kn_freq_free(pairs);
    return st;
}

static int compare_keys(const uint64_t *a, const uint64_t *b, int words)
{
    for (int w = 0; w < words; w++)
        if (a[w] != b[w]) return a[w] < b[w] ? -1 : 1;
    return 0;
}

/* Both sets are in key order and have the same layout: they hold numbers of the same levels. */
static kn_status merge_population(class_views *v, kn_error *err)
{
    const kn_freq         *classes = v->classes, *people = v->set->population;
    const kn_requirements *r = v->evaluator->problem->requirements;
    kn_class_view          nobody = {.population_unit = v->evaluator->problem->population->unit};
    int                    words = classes->layout.words;
    if (!KN_ALLOC_ZERO(v->set->ctx, v->population, (size_t)classes->classes + 1))
        return kn_fail_memory(err, v->set->ctx, WHAT);
    v->everybody = people->rows;
    for (int64_t i = 0, p = 0; p < people->classes; p++) {
        const uint64_t *key = people->keys + p * words;
        int             order = 1;
        while (i < classes->classes && (order = compare_keys(classes->keys + i * words, key, words)) < 0) i++;
        if (i < classes->classes && order == 0) {
            v->population[i] = people->counts[p];
            continue;
        }
        nobody.population = people->counts[p];
        if (!kn_requirements_hold(r, &nobody, NULL)) v->absent = true;
    }
    return KN_OK;
}

/* The fewest people that each class can have, by what the hierarchies carry. */
static kn_status bound_population(class_views *v, kn_error *err)
{
    const kn_classes *set = v->set;
    int64_t           total = v->evaluator->problem->population->total;
    if (!KN_ALLOC_ZERO(set->ctx, v->population, (size_t)v->classes->classes + 1))
        return kn_fail_memory(err, set->ctx, WHAT);
    v->everybody = total;
    for (int64_t i = 0; i < v->classes->classes; i++) {
        v->population[i] = total;
        for (int f = 0; f < set->attribute_count; f++) {
            const kn_evaluator_attribute *a = &v->evaluator->attributes[set->attributes[f]];
            int                           level = set->levels[set->attributes[f]];
            uint32_t                      code = a->levels[level].item[kn_freq_code(v->classes, i, f)];
            uint32_t                      node = kn_hierarchy_of_code(a->hierarchy, code, (uint32_t)level);
            v->population[i] = kn_population_both(v->population[i], kn_hierarchy_people(a->hierarchy, node), total);
        }
    }
    return KN_OK;
}

static kn_status views_make(class_views *v, const kn_evaluator *e, const kn_classes *set, kn_error *err)
{
    const kn_requirements *r = e->problem->requirements;
    bool                   entity = r->entity >= 0;
    *v = (class_views){.evaluator = e, .set = set, .classes = set->parts[0]};
    if (!KN_ALLOC_ZERO(set->ctx, v->histograms, (size_t)r->sensitive_count + 1))
        return kn_fail_memory(err, set->ctx, WHAT);
    if (e->parts[0].extra_count > 0) {
        KN_TRY(kn_freq_fold(&v->folded, &v->starts, set->parts[0], set->attribute_count, err));
        v->classes = v->folded;
    }
    for (int s = 0; s < r->sensitive_count; s++)
        KN_TRY(make_histograms(&v->histograms[s], set, set->parts[entity + s], entity, err));
    if (r->population && e->problem->population && e->problem->population->apart) return bound_population(v, err);
    return set->population ? merge_population(v, err) : KN_OK;
}

static int64_t persons_of(const class_views *v, int64_t i)
{
    bool entity = v->evaluator->problem->requirements->entity >= 0;
    return entity ? v->starts[i + 1] - v->starts[i] : v->classes->counts[i];
}

/* One class; `histograms` has space for all sensitive columns. */
static kn_class_view view_of(const class_views *v, int64_t i, kn_histogram *histograms)
{
    const kn_fulldomain_problem *p = v->evaluator->problem;
    bool                         entity = p->requirements->entity >= 0;
    kn_class_view                view = {.rows = v->classes->counts[i],
                                         .persons = persons_of(v, i),
                                         .population = v->population ? v->population[i] : 0,
                                         .population_unit = p->population ? p->population->unit : 1,
                                         .histograms = histograms};
    for (int s = 0; s < p->requirements->sensitive_count; s++) {
        const class_histograms *h = &v->histograms[s];
        int64_t                 first = h->starts[i], values = h->starts[i + 1] - first, rows = view.rows;
        if (entity) {
            rows = 0;
            for (int64_t j = first; j < first + values; j++) rows += h->counts[j];
        }
        histograms[s] = (kn_histogram){h->codes + first, h->counts + first, values, rows};
    }
    return view;
}

/* ---- Asking every class ---- */

enum { FATE_IMPOSSIBLE = 4 }; /* added to the fate: the monotone part fails too */

typedef struct asking {
    const class_views *views;
    uint8_t           *fates;
    bool               monotone_part; /* wanted */
} asking;

static kn_status ask_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    const asking           *a = arg;
    const kn_evaluator     *e = a->views->evaluator;
    const kn_requirements  *r = e->problem->requirements;
    kn_requirements_scratch scratch;
    kn_histogram           *histograms = kn_alloc_array(e->ctx, (size_t)r->sensitive_count + 1, sizeof *histograms);
    if (!histograms) return kn_fail_memory(err, e->ctx, WHAT);
    kn_status st = kn_requirements_scratch_make(&scratch, r, err);
    for (int64_t i = begin; i < end && st == KN_OK; i++) {
        kn_class_view view = view_of(a->views, i, histograms);
        if (kn_requirements_hold(r, &view, &scratch)) continue;
        a->fates[i] = KN_CLASS_FAILS;
        if (a->monotone_part && !kn_requirements_hold_monotone_part(r, &view)) a->fates[i] |= FATE_IMPOSSIBLE;
    }
    if (st == KN_OK) kn_requirements_scratch_free(&scratch);
    kn_free(histograms);
    return st;
}

/* Some of the classes that hold and have that many persons must be suppressed: those with the fewest rows, of equal ones the first in the
 * order of their cells. `rows` is scratch. */
static void give_up(const class_views *v, uint8_t *fates, kn_average_cut cut, int64_t *rows)
{
    while (cut.count > 0) {
        int64_t least = INT64_MAX, tied = 0;
        for (int64_t i = 0; i < v->classes->classes; i++) {
            if (fates[i] != KN_CLASS_RELEASED || persons_of(v, i) != cut.size) continue;
            if (v->classes->counts[i] < least) {
                least = v->classes->counts[i];
                tied = 0;
            }
            if (v->classes->counts[i] == least) rows[tied++] = i;
        }
        for (int64_t i = 0; i < tied && cut.count > 0; i++, cut.count--) fates[rows[i]] = KN_CLASS_AVERAGE;
    }
}

/* Average risk: the smallest of the classes that hold are suppressed too. With an entity, whose rows may be in
 * several classes, the persons kept together cannot be added up: they count as suppressed. */
static kn_status cut_for_average(const class_views *v, uint8_t *fates, kn_error *err)
{
    const kn_fulldomain_problem *p = v->evaluator->problem;
    const kn_requirements       *r = p->requirements;
    int64_t                      count = 0, outside = 0;
    if (!r->has_average) return KN_OK;
    int64_t *sizes = kn_alloc_array(v->set->ctx, (size_t)v->classes->classes + 1, sizeof *sizes);
    if (!sizes) return kn_fail_memory(err, v->set->ctx, WHAT);
    for (int64_t i = 0; i < v->classes->classes; i++) {
        if (fates[i] == KN_CLASS_RELEASED)
            sizes[count++] = persons_of(v, i);
        else
            outside += persons_of(v, i);
    }
    bool           together = p->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE && r->entity < 0;
    kn_average_cut cut = together ? kn_requirements_average_cut_together(r, sizes, count, outside)
                                  : kn_requirements_average_cut(r, sizes, count);
    for (int64_t i = 0; i < v->classes->classes; i++)
        if (fates[i] == KN_CLASS_RELEASED && persons_of(v, i) < cut.size) fates[i] = KN_CLASS_AVERAGE;
    give_up(v, fates, cut, sizes);
    kn_free(sizes);
    return KN_OK;
}

/* ---- Adding up ---- */

kn_u128 kn_classes_row_cost(const kn_evaluator *e, const kn_classes *set, const kn_freq *classes, int64_t i)
{
    kn_u128 cost = 0;
    for (int a = 0; a < set->attribute_count; a++) {
        int q = set->attributes[a];
        cost += e->attributes[q].levels[set->levels[q]].cost[kn_freq_code(classes, i, a)];
    }
    return cost;
}

/* The cost of the cells of a class. */
static kn_u128 cells_of(const kn_evaluator *e, const kn_classes *set, const kn_freq *classes, int64_t i)
{
    return kn_classes_row_cost(e, set, classes, i) * (kn_u128)classes->counts[i];
}

bool kn_classes_cost_cells(const kn_evaluator *e, const kn_classes *set)
{
    const kn_objective *o = e->problem->objective;
    return o && o->cells && set->attribute_count == e->problem->quasi_count;
}

static void add_up(kn_verdict *out, const kn_evaluator *e, const kn_classes *set, const kn_freq *classes,
                   const uint8_t *fates)
{
    kn_node_sums *sums = &out->sums;
    bool          cells = kn_classes_cost_cells(e, set);
    *sums = (kn_node_sums){0};
    if (cells) sums->cells = kn_objective_cells_of_node(e->problem->objective, set->levels);
    for (int64_t i = 0; i < classes->classes; i++) {
        int64_t rows = classes->counts[i];
        kn_u128 square = (kn_u128)rows * (kn_u128)rows;
        if (fates[i] == KN_CLASS_RELEASED) {
            sums->rows += rows;
            sums->classes++;
            sums->squares += square;
            continue;
        }
        sums->suppressed += rows;
        sums->suppressed_squares += square;
        if (fates[i] == KN_CLASS_AVERAGE) out->average_suppressed += rows;
        if (cells) sums->cells -= cells_of(e, set, classes, i);
    }
}

/* Sizes only: one pass without fates. */
static void judge_sizes(kn_verdict *out, const kn_evaluator *e, const kn_classes *set)
{
    const kn_fulldomain_problem *p = e->problem;
    const kn_freq               *classes = set->parts[0];
    kn_node_sums                 sums = {0};
    int64_t                      k = p->requirements->k;
    bool                         cells = kn_classes_cost_cells(e, set);
    if (cells) sums.cells = kn_objective_cells_of_node(p->objective, set->levels);
    for (int64_t i = 0; i < classes->classes; i++) {
        int64_t rows = classes->counts[i];
        kn_u128 square = (kn_u128)rows * (kn_u128)rows;
        if (rows >= k) {
            sums.classes++;
            sums.squares += square;
            continue;
        }
        sums.suppressed += rows;
        sums.suppressed_squares += square;
        if (cells && sums.suppressed <= p->budget) sums.cells -= cells_of(e, set, classes, i);
    }
    sums.rows = classes->rows - sums.suppressed;
    bool within = sums.suppressed <= p->budget;
    bool kept = p->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE && sums.suppressed > 0;
    if (cells && !within) sums.cells = 0; /* the loss of a node that is not good is not needed */
    *out = (kn_verdict){.good = within && (!kept || sums.suppressed >= k), .possible = within, .sums = sums};
}

/* ---- keep-sensitive: the suppressed rows as one class ---- */

/* The columns after the quasi-identifiers, of some entries of a part. */
typedef struct extra_keys {
    const kn_freq   *part;
    const int64_t   *entries;
    const kn_layout *layout;
    int              first; /* of the extra columns */
} extra_keys;

static void fill_extras(const void *arg, int64_t begin, int n, uint64_t *keys)
{
    const extra_keys *x = arg;
    int               words = x->layout->words;
    memset(keys, 0, (size_t)n * (size_t)words * sizeof *keys);
    for (int i = 0; i < n; i++)
        for (int c = 0; c < x->layout->columns; c++) {
            kn_field field = x->layout->fields[c];
            uint64_t code = kn_freq_code(x->part, x->entries[begin + i], x->first + c);
            if (field.bits) keys[i * words + field.word] |= code << field.shift;
        }
}

static kn_status group_extras(kn_freq *out, const kn_freq *part, int first, const int64_t *entries, int64_t *counts,
                              int64_t count, kn_error *err)
{
    uint32_t cardinalities[2] = {0, 0};
    int      extras = part->layout.columns - first;
    for (int c = 0; c < extras; c++) {
        uint8_t bits = part->layout.fields[first + c].bits;
        cardinalities[c] = bits >= 32 ? UINT32_MAX : (uint32_t)1 << bits;
    }
    KN_TRY(kn_layout_make(&out->layout, out->ctx, cardinalities, extras, err));
    const extra_keys keys = {part, entries, &out->layout, first};
    kn_key_source    source = {.fill = fill_extras,
                               .arg = &keys,
                               .items = count,
                               .counts = counts,
                               .words = out->layout.words,
                               .bits = kn_layout_bits(&out->layout)};
    for (int64_t i = 0; i < count; i++) source.total += counts[i];
    const kn_group_options quiet = {.quiet = true};
    return kn_group_run(out, &source, &quiet, err);
}

/* The entries of a part in suppressed classes, grouped by the extra columns alone. */
static kn_status suppressed_extras(kn_freq **out, const class_views *v, const kn_freq *part, const uint8_t *fates,
                                   kn_error *err)
{
    kn_context *ctx = v->set->ctx;
    int         first = v->set->attribute_count;
    kn_freq    *folded = NULL;
    int64_t    *starts = NULL, count = 0;
    KN_TRY(kn_freq_fold(&folded, &starts, part, first, err));
    int64_t *entries = kn_alloc_array(ctx, (size_t)part->classes + 1, sizeof *entries);
    int64_t *counts = kn_alloc_array(ctx, (size_t)part->classes + 1, sizeof *counts);
    *out = kn_alloc_zero(ctx, sizeof **out);
    kn_status st = entries && counts && *out ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) {
        (*out)->ctx = ctx;
        for (int64_t i = 0; i < folded->classes; i++)
            for (int64_t j = starts[i]; j < starts[i + 1] && fates[i] != KN_CLASS_RELEASED; j++) {
                entries[count] = j;
                counts[count++] = part->counts[j];
            }
        st = group_extras(*out, part, first, entries, counts, count, err);
    }
    KN_FREE(entries, counts, starts);
    kn_freq_free(folded);
    if (st == KN_OK) return KN_OK;
    kn_freq_free(*out);
    *out = NULL;
    return st;
}

/* The histogram of one sensitive column over the suppressed rows; the caller frees its arrays. */
static kn_status suppressed_histogram(kn_histogram *out, const class_views *v, int s, const uint8_t *fates,
                                      kn_error *err)
{
    bool     entity = v->evaluator->problem->requirements->entity >= 0;
    kn_freq *pairs = NULL, *values = NULL;
    int64_t *starts = NULL;
    KN_TRY(suppressed_extras(&pairs, v, v->set->parts[entity + s], fates, err));
    kn_status st = kn_freq_fold(&values, &starts, pairs, 1, err);
    uint32_t *codes = NULL;
    int64_t  *counts = NULL;
    if (st == KN_OK) {
        codes = kn_alloc_array(v->set->ctx, (size_t)values->classes + 1, sizeof *codes);
        counts = kn_alloc_array(v->set->ctx, (size_t)values->classes + 1, sizeof *counts);
        if (!codes || !counts) st = kn_fail_memory(err, v->set->ctx, WHAT);
    }
    *out = (kn_histogram){codes, counts, 0, 0};
    for (int64_t i = 0; st == KN_OK && i < values->classes; i++) {
        codes[i] = kn_freq_code(values, i, 0);
        counts[i] = entity ? starts[i + 1] - starts[i] : values->counts[i];
        out->rows += counts[i];
        out->values++;
    }
    kn_free(starts);
    kn_freq_free(values);
    kn_freq_free(pairs);
    return st;
}

static kn_status suppressed_persons(int64_t *out, const class_views *v, int64_t rows, const uint8_t *fates,
                                    kn_error *err)
{
    *out = rows;
    if (v->evaluator->problem->requirements->entity < 0) return KN_OK;
    kn_freq *persons = NULL;
    KN_TRY(suppressed_extras(&persons, v, v->set->parts[0], fates, err));
    *out = persons->classes;
    kn_freq_free(persons);
    return KN_OK;
}

/* Average risk of the release with the suppressed rows as one more class. */
static bool average_with(const class_views *v, const uint8_t *fates, int64_t suppressed_persons_count)
{
    const kn_requirements *r = v->evaluator->problem->requirements;
    if (!r->has_average) return true;
    kn_quotient risk = {1, (kn_u128)suppressed_persons_count};
    for (int64_t i = 0; i < v->classes->classes; i++) {
        if (fates[i] != KN_CLASS_RELEASED) continue;
        risk.numerator++;
        risk.denominator += (kn_u128)persons_of(v, i);
    }
    return kn_quotient_compare(risk, kn_quotient_of(r->average)) <= 0;
}

static kn_status suppressed_hold(bool *out, const class_views *v, int64_t rows, const uint8_t *fates, kn_error *err)
{
    const kn_fulldomain_problem *p = v->evaluator->problem;
    const kn_requirements       *r = p->requirements;
    kn_context                  *ctx = v->set->ctx;
    kn_histogram *histograms = kn_alloc_array_zero(ctx, (size_t)r->sensitive_count + 1, sizeof *histograms);
    if (!histograms) return kn_fail_memory(err, ctx, WHAT);
    kn_class_view           view = {.rows = rows,
                                    .population = v->everybody,
                                    .population_unit = p->population ? p->population->unit : 1,
                                    .histograms = histograms};
    kn_requirements_scratch scratch;
    kn_status               st = suppressed_persons(&view.persons, v, rows, fates, err);
    for (int s = 0; s < r->sensitive_count && st == KN_OK; s++)
        st = suppressed_histogram(&histograms[s], v, s, fates, err);
    if (st == KN_OK) {
        st = kn_requirements_scratch_make(&scratch, r, err);
        if (st == KN_OK) {
            *out = kn_requirements_hold(r, &view, &scratch) && average_with(v, fates, view.persons);
            kn_requirements_scratch_free(&scratch);
        }
    }
    for (int s = 0; s < r->sensitive_count; s++) {
        kn_free((void *)(uintptr_t)histograms[s].codes); /* owned here, though a histogram only borrows */
        kn_free((void *)(uintptr_t)histograms[s].counts);
    }
    kn_free(histograms);
    return st;
}

/* ---- The verdict ---- */

static kn_status decide(kn_verdict *out, class_views *v, uint8_t *fates, kn_error *err)
{
    const kn_fulldomain_problem *p = v->evaluator->problem;
    int64_t                      impossible = 0;
    asking                       asked = {v, fates, !v->evaluator->monotone};
    KN_TRY(kn_parallel_for(v->set->ctx, v->classes->classes, GRAIN, ask_range, &asked, err));
    for (int64_t i = 0; i < v->classes->classes; i++) {
        if (fates[i] & FATE_IMPOSSIBLE) impossible += v->classes->counts[i];
        fates[i] &= (uint8_t)~FATE_IMPOSSIBLE;
    }
    KN_TRY(cut_for_average(v, fates, err));
    *out = (kn_verdict){0};
    add_up(out, v->evaluator, v->set, v->classes, fates);
    int64_t budget = p->requirements->absent_fails ? 0 : p->budget; /* suppressed people become absent ones */
    out->good = out->sums.suppressed <= budget && !v->absent;
    if (out->good && out->sums.suppressed > 0 && p->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE)
        KN_TRY(suppressed_hold(&out->good, v, out->sums.suppressed, fates, err));
    out->possible = v->evaluator->monotone ? out->good : impossible <= p->budget && !v->absent;
    return KN_OK;
}

kn_status kn_classes_decide(kn_verdict *out, uint8_t **fates, kn_freq **folded, const kn_evaluator *e,
                            const kn_classes *set, kn_error *err)
{
    class_views v = {0};
    uint8_t    *decided = NULL;
    kn_status   st = views_make(&v, e, set, err);
    if (st == KN_OK) {
        decided = kn_alloc_array_zero(set->ctx, (size_t)v.classes->classes + 1, sizeof *decided);
        st = decided ? decide(out, &v, decided, err) : kn_fail_memory(err, set->ctx, WHAT);
    }
    if (st == KN_OK && fates) {
        *fates = decided;
        decided = NULL;
    }
    if (st == KN_OK && folded) {
        *folded = v.folded;
        v.folded = NULL;
    }
    kn_free(decided);
    views_free(&v);
    return st;
}

kn_status kn_classes_each(const kn_evaluator *e, const kn_classes *set, kn_class_fn each, void *arg, kn_error *err)
{
    class_views v = {0};
    if (e->problem->requirements->linked) return kn_classes_each_linked(e, set, each, arg, err);
    kn_status     st = views_make(&v, e, set, err);
    size_t        sensitive = (size_t)e->problem->requirements->sensitive_count;
    kn_histogram *histograms = kn_alloc_array(set->ctx, sensitive + 1, sizeof *histograms);
    if (st == KN_OK && !histograms) st = kn_fail_memory(err, set->ctx, WHAT);
    bool cells = kn_classes_cost_cells(e, set);
    for (int64_t i = 0; st == KN_OK && i < v.classes->classes; i++) {
        kn_class_view view = view_of(&v, i, histograms);
        each(arg, &view, i, view.rows, cells ? kn_classes_row_cost(e, set, v.classes, i) : 0);
    }
    kn_free(histograms);
    views_free(&v);
    return st;
}

kn_status kn_classes_judge(kn_verdict *out, const kn_evaluator *e, const kn_classes *set, kn_error *err)
{
    if (e->problem->requirements->linked) return kn_classes_decide_linked(out, NULL, NULL, e, set, err);
    if (!e->sizes_only) return kn_classes_decide(out, NULL, NULL, e, set, err);
    judge_sizes(out, e, set);
    return KN_OK;
}

int64_t kn_classes_count(const kn_classes *set)
{
    const kn_freq *part = set->parts[0];
    int            quasi = set->attribute_count;
    if (part->layout.columns == quasi) return part->classes;
    int64_t classes = 0; /* in key order: a class begins where a quasi-identifier differs from the entry before */
    for (int64_t i = 0; i < part->classes; i++) {
        bool same = i > 0;
        for (int c = 0; c < quasi && same; c++) same = kn_freq_code(part, i, c) == kn_freq_code(part, i - 1, c);
        classes += !same;
    }
    return classes;
}
