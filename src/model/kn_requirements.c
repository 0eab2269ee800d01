/* kn_requirements.c: all the promises of a release, compiled for one table.
 *
 * What decides most classes is checked first: the size, then the number of different values that any of the models
 * implies (entropy l, (c,l) and alpha need a number of values; t and beta bound the share of the table's rows whose
 * values a class may lack; delta needs all of them), then the people of the population, then the models themselves,
 * the cheapest first.
 *
 * Cost of making: one grouping per sensitive column, and one for the persons. Of a question: O(1) for a class that is
 * too small, else that of the models; nothing is allocated.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_requirements.h"

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_sort.h"

#define WHAT "preparing the privacy models"

/* ---- Which models ---- */

/* The order in which models are checked: those that k, distinct and k_map cover, then by cost. One that the list lacks is
 * checked last: it must never count as covered. */
static int rank_of(kn_model_kind kind)
{
    static const int rank[KN_MODEL_KINDS] = {
        [KN_MODEL_K] = 1,          [KN_MODEL_MAX_RISK] = 2,        [KN_MODEL_DISTINCT] = 3,
        [KN_MODEL_K_MAP] = 4,      [KN_MODEL_PRESENCE] = 5,        [KN_MODEL_ALPHA_K] = 6,
        [KN_MODEL_T_EQUAL] = 7,    [KN_MODEL_BETA_BASIC] = 8,      [KN_MODEL_RECURSIVE] = 9,
        [KN_MODEL_DELTA] = 10,     [KN_MODEL_BETA_ENHANCED] = 11,  [KN_MODEL_ENTROPY] = 12,
        [KN_MODEL_T_ORDERED] = 13, [KN_MODEL_T_HIERARCHICAL] = 14, [KN_MODEL_AVERAGE_RISK] = 15,
    };
    return rank[kind] > 0 ? rank[kind] : KN_MODEL_KINDS + 1;
}

static bool is_covered(kn_model_kind kind)
{
    return rank_of(kind) <= rank_of(KN_MODEL_K_MAP);
}

int64_t kn_size_for_risk(kn_ratio risk)
{
    uint64_t size = risk.denominator / risk.numerator + (risk.denominator % risk.numerator != 0);
    return size > INT64_MAX ? INT64_MAX : (int64_t)size;
}

static bool at_least(kn_ratio a, kn_ratio b)
{
    return kn_quotient_compare(kn_quotient_of(a), kn_quotient_of(b)) >= 0;
}

/* What a model requires of sizes and of the population. */
static void add_sizes(kn_requirements *r, const kn_model *m)
{
    int64_t k = 0;
    if (m->kind == KN_MODEL_K || m->kind == KN_MODEL_ALPHA_K) k = m->k;
    if (m->kind == KN_MODEL_MAX_RISK) k = kn_size_for_risk(m->bound);
    if (k > r->k) r->k = k;
    if (m->kind == KN_MODEL_K_MAP && m->k > r->k_map) r->k_map = m->k;
    if (m->kind == KN_MODEL_K_MAP || m->kind == KN_MODEL_PRESENCE) r->population = true;
    if (m->kind == KN_MODEL_PRESENCE && m->low.numerator > 0) r->absent_fails = true;
}

/* Puts the models that look at a class in their order; the rest is remembered otherwise. */
static void take_models(kn_requirements *r, const kn_requirements_options *o)
{
    r->k = 1;
    for (int i = 0; i < o->model_count; i++) {
        const kn_model *m = &o->models[i];
        if (m->kind == KN_MODEL_AVERAGE_RISK) {
            if (!r->has_average || at_least(r->average, m->bound)) r->average = m->bound;
            r->has_average = true;
            continue;
        }
        add_sizes(r, m);
        int at = r->model_count++;
        for (; at > 0 && rank_of(r->models[at - 1].kind) > rank_of(m->kind); at--) {
            r->models[at] = r->models[at - 1];
            r->asked[at] = r->asked[at - 1];
        }
        r->models[at] = *m;
        r->asked[at] = i;
    }
    r->k_only = r->entity < 0 && !r->has_average;
    for (int i = 0; i < r->model_count; i++) {
        kn_model_kind kind = r->models[i].kind;
        r->covered += is_covered(kind);
        r->k_only = r->k_only && (kind == KN_MODEL_K || kind == KN_MODEL_MAX_RISK);
    }
}

/* ---- The sensitive columns ---- */

static kn_status find_sensitive(kn_requirements *r, const kn_table *table, kn_error *err)
{
    for (int i = 0; i < r->model_count; i++) {
        const kn_model *m = &r->models[i];
        r->sensitive_of[i] = -1;
        if (!m->attribute) continue;
        int column = kn_table_find(table, m->attribute), s = 0;
        if (column < 0) return kn_fail_column(table, kn_model_name(m->kind), m->attribute, err);
        if (column == r->entity)
            return kn_fail(err, KN_USAGE, "%s: column \"%s\" says whose row it is and cannot be sensitive",
                           kn_model_name(m->kind), m->attribute);
        while (s < r->sensitive_count && r->sensitive[s] != column) s++;
        if (s == r->sensitive_count) r->sensitive[r->sensitive_count++] = column;
        r->sensitive_of[i] = s;
    }
    return KN_OK;
}

/* The rows of each value in the whole table, or its distinct persons. */
static kn_status count_values(int64_t *counts, const kn_requirements *r, const kn_table *table, int column,
                              kn_error *err)
{
    kn_freq *freq = NULL;
    int64_t *persons = NULL;
    if (r->entity < 0)
        KN_TRY(kn_freq_of_table(&freq, r->ctx, table, &column, 1, err));
    else
        KN_TRY(kn_freq_distinct(&freq, &persons, r->ctx, table, &column, 1, r->entity, err));
    for (int64_t i = 0; i < freq->classes; i++)
        counts[kn_freq_code(freq, i, 0)] = persons ? persons[i] : freq->counts[i];
    kn_freq_free(freq);
    kn_free(persons);
    return KN_OK;
}

static kn_status make_reference(kn_requirements *r, int s, const kn_table *table, const kn_requirements_options *o,
                                kn_error *err)
{
    const kn_column    *column = &table->columns[r->sensitive[s]];
    const kn_hierarchy *hierarchy = o->hierarchies ? o->hierarchies[r->sensitive[s]] : NULL;
    if (hierarchy && (!hierarchy->leaf_of_code || hierarchy->codes != column->dict.count))
        return kn_fail(err, KN_USAGE, "the hierarchy given for column \"%s\" is not bound to it", column->name);
    int64_t *counts = kn_alloc_array_zero(r->ctx, (size_t)column->dict.count + 1, sizeof *counts);
    if (!counts) return kn_fail_memory(err, r->ctx, WHAT);
    kn_status st = count_values(counts, r, table, r->sensitive[s], err);
    if (st != KN_OK) {
        kn_free(counts);
        return st;
    }
    KN_TRY(kn_reference_make(&r->references[s], r->ctx, counts, column->dict.count, hierarchy, err));
    if (r->references[s].occurring < 2)
        return kn_fail(err, KN_INPUT, "column \"%s\" has the same value in all rows: no release can hide it",
                       column->name);
    return KN_OK;
}

static kn_status check_model(const kn_requirements *r, int i, kn_error *err)
{
    const kn_model *m = &r->models[i];
    if (r->sensitive_of[i] < 0) return KN_OK;
    const kn_reference *reference = &r->references[r->sensitive_of[i]];
    if (m->kind == KN_MODEL_T_HIERARCHICAL && !reference->hierarchy)
        return kn_fail(err, KN_USAGE, "%s: hierarchical distance on column \"%s\" needs a hierarchy",
                       kn_model_name(m->kind), m->attribute);
    bool     diversity = m->kind >= KN_MODEL_DISTINCT && m->kind <= KN_MODEL_RECURSIVE;
    kn_ratio occurring = {reference->occurring, 1};
    if (diversity && !at_least(occurring, m->l))
        return kn_fail(err, KN_INPUT, "%s: l is greater than the number of different values of column \"%s\" (%u)",
                       kn_model_name(m->kind), m->attribute, reference->occurring);
    return KN_OK;
}

/* ---- How many different values a class needs ---- */

/* Can a class whose values make up at most `top` of the reference's rows satisfy the model? What it lacks, N - top, must
 * be moved at least by the smallest distance; and beta allows it N at most from (1 + beta) top. */
static bool share_suffices(const kn_model *m, const kn_reference *r, int64_t top)
{
    kn_u128 all = (kn_u128)r->rows, steps = 1;
    switch (m->kind) {
    case KN_MODEL_T_ORDERED: steps = r->values > 2 ? r->values - 1 : 1; break;
    case KN_MODEL_BETA_BASIC:
    case KN_MODEL_BETA_ENHANCED:
        return (kn_u128)top * ((kn_u128)m->bound.numerator + m->bound.denominator) >= all * m->bound.denominator;
    default: break;
    }
    kn_quotient moved = {all - (kn_u128)top, all * steps};
    return kn_quotient_compare(moved, kn_quotient_of(m->bound)) <= 0;
}

static int64_t values_for_share(const kn_model *m, const kn_reference *r, const kn_sort_record *codes)
{
    int64_t top = 0;
    for (uint32_t i = 0; i < r->occurring; i++) {
        top += r->counts[codes[i].id];
        if (share_suffices(m, r, top)) return (int64_t)i + 1;
    }
    return r->occurring;
}

/* The least number of different values with which a class can satisfy the model. `codes`: the most frequent first. */
static int64_t implied_values(const kn_model *m, const kn_reference *r, const kn_sort_record *codes)
{
    uint64_t whole;
    switch (m->kind) {
    case KN_MODEL_DISTINCT:
    case KN_MODEL_RECURSIVE: return (int64_t)(m->l.numerator / m->l.denominator);
    case KN_MODEL_ENTROPY: /* as kn_entropy_reached compares: by the nearest double, and never more than the values */
        whole = m->l.numerator / m->l.denominator;
        return (int64_t)whole + ((double)whole < (double)m->l.numerator / (double)m->l.denominator);
    case KN_MODEL_ALPHA_K: return kn_size_for_risk(m->bound);
    case KN_MODEL_DELTA: return r->occurring;
    case KN_MODEL_T_EQUAL:
    case KN_MODEL_T_ORDERED:
    case KN_MODEL_BETA_BASIC:
    case KN_MODEL_BETA_ENHANCED: return values_for_share(m, r, codes);
    default: return 1; /* hierarchical: two values may share a leaf, at no distance */
    }
}

static kn_status find_distinct(kn_requirements *r, int s, kn_error *err)
{
    const kn_reference *reference = &r->references[s];
    kn_sort_record     *codes = kn_alloc_array(r->ctx, (size_t)reference->occurring, sizeof *codes);
    size_t              count = 0;
    if (!codes) return kn_fail_memory(err, r->ctx, WHAT);
    for (uint32_t c = 0; c <= reference->values; c++)
        if (reference->counts[c] > 0) codes[count++] = (kn_sort_record){UINT64_MAX - (uint64_t)reference->counts[c], c};
    kn_status st = kn_sort_records(r->ctx, codes, count, NULL, NULL, err);
    r->distinct[s] = 1;
    for (int i = 0; i < r->model_count && st == KN_OK; i++) {
        if (r->sensitive_of[i] != s) continue;
        int64_t needed = implied_values(&r->models[i], reference, codes);
        if (needed > r->distinct[s]) r->distinct[s] = needed;
    }
    kn_free(codes);
    return st;
}

/* ---- Making ---- */

static kn_status count_persons(kn_requirements *r, const kn_table *table, kn_error *err)
{
    r->rows = r->persons = kn_table_total(table);
    if (r->entity < 0) return KN_OK;
    kn_freq *freq = NULL;
    KN_TRY(kn_freq_of_table(&freq, r->ctx, table, &r->entity, 1, err));
    r->persons = freq->classes;
    kn_freq_free(freq);
    return KN_OK;
}

static kn_status make(kn_requirements *r, const kn_table *table, const kn_requirements_options *o, kn_error *err)
{
    size_t models = (size_t)o->model_count;
    r->models = kn_arena_array(&r->arena, models, sizeof *r->models);
    r->asked = kn_arena_array(&r->arena, models, sizeof *r->asked);
    r->sensitive_of = kn_arena_array(&r->arena, models, sizeof *r->sensitive_of);
    r->sensitive = kn_arena_array(&r->arena, models, sizeof *r->sensitive);
    r->distinct = kn_arena_array(&r->arena, models, sizeof *r->distinct);
    r->references = kn_arena_array_zero(&r->arena, models, sizeof *r->references);
    if (r->arena.failed) return kn_fail_memory(err, r->ctx, WHAT);
    take_models(r, o);
    KN_TRY(find_sensitive(r, table, err));
    if (table->rows == 0) return kn_fail(err, KN_INPUT, "the table has no rows");
    KN_TRY(count_persons(r, table, err));
    for (int s = 0; s < r->sensitive_count; s++) KN_TRY(make_reference(r, s, table, o, err));
    for (int i = 0; i < r->model_count; i++) KN_TRY(check_model(r, i, err));
    for (int s = 0; s < r->sensitive_count; s++) KN_TRY(find_distinct(r, s, err));
    return KN_OK;
}

static kn_status check_linked(const kn_model *m, kn_error *err)
{
    switch (m->kind) {
    case KN_MODEL_K:
    case KN_MODEL_MAX_RISK:
    case KN_MODEL_AVERAGE_RISK:
    case KN_MODEL_ALPHA_K:
    case KN_MODEL_DISTINCT:
    case KN_MODEL_ENTROPY:
    case KN_MODEL_RECURSIVE: return KN_OK;
    default:
        return kn_fail(err, KN_USAGE,
                       "%s cannot be promised where the released columns show which rows are one person's; leave the "
                       "column out that links them, or ask for l-diversity",
                       kn_model_name(m->kind));
    }
}

kn_status kn_requirements_make(kn_requirements **out, kn_context *ctx, const kn_table *table,
                               const kn_requirements_options *options, kn_error *err)
{
    *out = NULL;
    for (int i = 0; i < options->model_count; i++) KN_TRY(kn_model_check(&options->models[i], err));
    if (options->entity >= table->column_count) return kn_fail(err, KN_USAGE, "there is no column %d", options->entity);
    for (int i = 0; i < options->model_count && options->linked; i++) KN_TRY(check_linked(&options->models[i], err));
    kn_requirements *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, ctx, WHAT);
    r->ctx = ctx;
    kn_arena_init(&r->arena, ctx);
    r->entity = options->entity < 0 ? -1 : options->entity;
    r->linked = r->entity >= 0 && options->linked;
    kn_status st = make(r, table, options, err);
    if (st != KN_OK)
        kn_requirements_free(r);
    else
        *out = r;
    return st;
}

void kn_requirements_free(kn_requirements *r)
{
    if (!r) return;
    for (int s = 0; s < r->sensitive_count; s++) kn_reference_free(&r->references[s]);
    kn_arena_free(&r->arena);
    kn_free(r);
}

/* ---- Scratch ---- */

kn_status kn_requirements_scratch_make(kn_requirements_scratch *out, const kn_requirements *r, kn_error *err)
{
    *out = (kn_requirements_scratch){NULL, 0};
    if (r->sensitive_count == 0) return KN_OK;
    out->per_sensitive = kn_alloc_array_zero(r->ctx, (size_t)r->sensitive_count, sizeof *out->per_sensitive);
    if (!out->per_sensitive) return kn_fail_memory(err, r->ctx, WHAT);
    out->count = r->sensitive_count;
    for (int s = 0; s < out->count; s++) {
        kn_status st = kn_scratch_make(&out->per_sensitive[s], &r->references[s], err);
        if (st == KN_OK) continue;
        kn_requirements_scratch_free(out);
        return st;
    }
    return KN_OK;
}

void kn_requirements_scratch_free(kn_requirements_scratch *scratch)
{
    for (int s = 0; s < scratch->count; s++) kn_scratch_free(&scratch->per_sensitive[s]);
    kn_free(scratch->per_sensitive);
    *scratch = (kn_requirements_scratch){NULL, 0};
}

/* ---- Asking ---- */

/* The people of the class among those of the population; nobody there: infinite. */
static kn_quotient presence_of(const kn_class_view *view)
{
    return (kn_quotient){(kn_u128)view->persons * (kn_u128)view->population_unit, (kn_u128)view->population};
}

static kn_quotient alpha_of(const kn_class_view *view, int s)
{
    return (kn_quotient){kn_alpha_reached(&view->histograms[s]).numerator, (kn_u128)view->persons};
}

static bool mapped(const kn_class_view *view, int64_t k)
{
    return (kn_u128)view->population >= (kn_u128)k * (kn_u128)view->population_unit;
}

bool kn_requirements_holds_one(const kn_requirements *r, int model, const kn_class_view *view,
                               kn_requirements_scratch *scratch)
{
    const kn_model *m = &r->models[model];
    int             s = r->sensitive_of[model];
    kn_quotient     bound = kn_quotient_of(m->bound);
    switch (m->kind) {
    case KN_MODEL_K: return view->persons >= m->k;
    case KN_MODEL_MAX_RISK: return view->persons >= kn_size_for_risk(m->bound);
    case KN_MODEL_K_MAP: return mapped(view, m->k);
    case KN_MODEL_PRESENCE:
        return kn_quotient_compare(presence_of(view), bound) <= 0 &&
               kn_quotient_compare(presence_of(view), kn_quotient_of(m->low)) >= 0;
    case KN_MODEL_ALPHA_K: return view->persons >= m->k && kn_quotient_compare(alpha_of(view, s), bound) <= 0;
    default: return kn_model_satisfied(m, &view->histograms[s], &r->references[s], &scratch->per_sensitive[s]);
    }
}

double kn_requirements_reached(const kn_requirements *r, int model, const kn_class_view *view,
                               kn_requirements_scratch *scratch)
{
    const kn_model *m = &r->models[model];
    int             s = r->sensitive_of[model];
    switch (m->kind) {
    case KN_MODEL_K: return (double)view->persons;
    case KN_MODEL_MAX_RISK: return 1 / (double)view->persons;
    case KN_MODEL_K_MAP: return (double)view->population / (double)view->population_unit;
    case KN_MODEL_PRESENCE: return kn_quotient_double(presence_of(view));
    case KN_MODEL_ALPHA_K: return kn_quotient_double(alpha_of(view, s));
    default: return kn_model_reached(m, &view->histograms[s], &r->references[s], &scratch->per_sensitive[s]);
    }
}

bool kn_requirements_hold_monotone_part(const kn_requirements *r, const kn_class_view *view)
{
    if (view->rows == 0) return !(r->absent_fails && view->population > 0);
    if (view->persons < r->k) return false;
    for (int s = 0; s < r->sensitive_count; s++)
        if (view->histograms[s].values < r->distinct[s]) return false;
    return r->k_map == 0 || mapped(view, r->k_map);
}

bool kn_requirements_hold(const kn_requirements *r, const kn_class_view *view, kn_requirements_scratch *scratch)
{
    if (!kn_requirements_hold_monotone_part(r, view)) return false;
    if (view->rows == 0) return true;
    for (int i = r->covered; i < r->model_count; i++)
        if (!kn_requirements_holds_one(r, i, view, scratch)) return false;
    return true;
}

bool kn_requirements_monotone(const kn_requirements *r, bool suppressing)
{
    /* Average risk: if classes of a good cut merge, those with only suppressed rows can be suppressed again, and the
     * others are fewer and have more persons. With an entity they may have fewer. */
    if (r->has_average && r->entity >= 0) return false;
    if (r->linked && r->sensitive_count > 0) return false;
    for (int i = 0; i < r->model_count; i++) {
        const kn_model *m = &r->models[i];
        bool            most_only = m->kind == KN_MODEL_PRESENCE && m->low.numerator == 0;
        if (m->kind == KN_MODEL_AVERAGE_RISK) continue;
        if (!kn_model_monotone(m->kind, suppressing || (r->entity >= 0 && !most_only))) return false;
    }
    return true;
}

/* ---- Average risk ---- */

static int64_t median(int64_t a, int64_t b, int64_t c)
{
    if (a > b) {
        int64_t t = a;
        a = b;
        b = t;
    }
    return c < a ? a : c > b ? b : c;
}

/* Moves the sizes >= pivot to the end; returns where they begin. */
static int64_t part(int64_t *sizes, int64_t begin, int64_t end, int64_t pivot, kn_u128 *sum)
{
    *sum = 0;
    for (int64_t i = begin; i < end;) {
        if (sizes[i] < pivot) {
            i++;
            continue;
        }
        int64_t kept = sizes[i];
        *sum += (kn_u128)kept;
        sizes[i] = sizes[--end];
        sizes[end] = kept;
    }
    return end;
}

/* Classes of at least some size are on average the larger, the larger that size: so it is found like a median, by
 * partitioning what is undecided. Every other pivot halves the span of values, which bounds the rounds for any input. */
kn_average_cut kn_requirements_average_cut(const kn_requirements *r, int64_t *sizes, int64_t count)
{
    if (!r->has_average || count == 0) return (kn_average_cut){0, 0};
    int64_t begin = 0, end = count, low = 0, high = 0; /* sizes <= low are suppressed, sizes > high stay */
    kn_u128 persons = 0;                               /* in sizes[end .. count - 1], which stay */
    for (int64_t i = 0; i < count; i++)
        if (sizes[i] > high) high = sizes[i];
    for (int round = 0; begin < end; round++) {
        int64_t pivot = median(sizes[begin], sizes[begin + (end - begin) / 2], sizes[end - 1]);
        if (round % 2) pivot = low + (high - low + 1) / 2;
        kn_u128     sum = 0;
        int64_t     middle = part(sizes, begin, end, pivot, &sum);
        kn_quotient risk = {(kn_u128)(count - middle), persons + sum};
        if (kn_quotient_compare(risk, kn_quotient_of(r->average)) <= 0) {
            end = middle;
            persons += sum;
            high = pivot - 1;
        } else { /* what is below the pivot goes, and the pivot with it */
            begin = part(sizes, middle, end, pivot + 1, &sum);
            low = pivot;
        }
    }
    if (end == count) return (kn_average_cut){INT64_MAX, 0};
    kn_average_cut cut = {0, 0};
    for (int64_t i = 0; i < end; i++)
        if (sizes[i] > cut.size) cut.size = sizes[i];
    if (cut.size == 0) return cut;
    /* Some of that size may stay: each takes away some of what is left to spare. Of a class of n persons that is
     * denominator - n × numerator, which is positive here: they raise the average. */
    kn_u128 spare = persons * r->average.numerator - (kn_u128)(count - end) * r->average.denominator;
    kn_u128 each = r->average.denominator - (kn_u128)(uint64_t)cut.size * r->average.numerator;
    for (int64_t i = 0; i < end; i++) cut.count += sizes[i] == cut.size;
    cut.count -= (int64_t)(spare / each);
    return cut;
}

/* The size of which fewer than `wanted` are smaller, and at least `wanted` no larger: by halving the span of values. */
static kn_average_cut smallest(const int64_t *sizes, int64_t count, int64_t wanted)
{
    int64_t low = 1, high = INT64_MAX;
    while (low < high) {
        int64_t middle = low + (high - low) / 2, within = 0;
        for (int64_t i = 0; i < count; i++) within += sizes[i] <= middle;
        if (within >= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    kn_average_cut cut = {low, wanted};
    for (int64_t i = 0; i < count; i++) cut.count -= sizes[i] < low;
    return cut;
}

kn_average_cut kn_requirements_average_cut_together(const kn_requirements *r, int64_t *sizes, int64_t count,
                                                    int64_t outside)
{
    kn_average_cut cut = kn_requirements_average_cut(r, sizes, count);
    if (!r->has_average || (cut.size == 0 && outside == 0)) return cut; /* nothing goes: no class more */
    kn_u128 persons = (kn_u128)(uint64_t)outside;
    for (int64_t i = 0; i < count; i++) persons += (kn_u128)(uint64_t)sizes[i];
    kn_u128 classes = persons * r->average.numerator / r->average.denominator; /* as many may be released */
    if (classes > (kn_u128)(uint64_t)count) return (kn_average_cut){0, 0};
    if (classes == 0) return (kn_average_cut){INT64_MAX, 0};
    return smallest(sizes, count, count + 1 - (int64_t)classes);
}
