/* table/cut.c: what a cut of the rows into classes reaches: sizes and every model, before and after.
 *
 * Rows are grouped by the cut's columns alone (sizes), with the entity (persons) and with each sensitive column
 * (histograms, of persons where there is an entity). The groupings run over the same classes in the same order, so
 * that class i is the same in all of them. People of a population are counted by looking up their combination,
 * generalized to the levels of the node, among those of the classes; if combinations are not known, the fewest that
 * there can be count.
 *
 * Cost: a grouping of the rows per sensitive column. Without sensitive columns one. Groupings and classes take all threads.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_hash.h"
#include "kn_parallel.h"
#include "kn_table_run.h"

static const char measuring[] = "measuring classes";

enum { MOST_RANGES = 64, LEAST_CLASSES = 1 << 13 /* of a range */ };

typedef struct classes {
    kn_table_run        *run;
    const kn_cut        *cut;
    kn_freq             *freq;
    int64_t             *persons;    /* per class                     */
    kn_class_histograms *histograms; /* per sensitive column          */
    int64_t             *people;     /* of the population; NULL: none */
} classes;

/* ---- Grouping ---- */

static kn_status group(classes *c, kn_error *err)
{
    kn_context   *ctx = c->run->all.ctx;
    const kn_cut *cut = c->cut;
    int           sensitive = c->run->requirements->sensitive_count;
    c->histograms = kn_alloc_array_zero(ctx, (size_t)sensitive + 1, sizeof *c->histograms);
    if (!c->histograms) return kn_fail_memory(err, ctx, measuring);
    if (cut->entity >= 0) {
        KN_TRY(kn_freq_distinct(&c->freq, &c->persons, ctx, cut->table, cut->columns, cut->column_count, cut->entity,
                                err));
    } else {
        /* Only histograms and rows that are left out need the order. */
        kn_group_options options = {.unsorted = sensitive == 0 && cut->leave_out < 0};
        KN_TRY(kn_freq_of_table_with(&c->freq, ctx, cut->table, cut->columns, cut->column_count, &options, err));
    }
    for (int s = 0; s < sensitive; s++) {
        kn_freq *same = NULL;
        if (cut->entity >= 0)
            KN_TRY(kn_freq_person_histograms(&same, &c->histograms[s], ctx, cut->table, cut->columns, cut->column_count,
                                             cut->sensitive[s], cut->entity, err));
        else
            KN_TRY(kn_freq_histograms(&same, &c->histograms[s], ctx, cut->table, cut->columns, cut->column_count,
                                      cut->sensitive[s], err));
        kn_freq_free(same);
    }
    return KN_OK;
}

/* ---- The population ---- */

typedef struct tuples {
    int       quasi_count;
    uint32_t *nodes; /* per class: a node per quasi-identifier */
    int64_t  *slots; /* class + 1; 0: free                     */
    size_t    mask;
} tuples;

static uint64_t hash_tuple(const uint32_t *nodes, int count)
{
    return kn_hash_bytes(nodes, (size_t)count * sizeof *nodes);
}

/* The slot of this tuple, or the free one where it belongs. */
static int64_t *find_slot(const tuples *t, const uint32_t *nodes)
{
    size_t size = (size_t)t->quasi_count * sizeof *nodes;
    for (size_t at = (size_t)(hash_tuple(nodes, t->quasi_count) & t->mask);; at = (at + 1) & t->mask) {
        int64_t *slot = &t->slots[at];
        if (*slot == 0 || memcmp(t->nodes + (*slot - 1) * t->quasi_count, nodes, size) == 0) return slot;
    }
}

static uint32_t node_at(const classes *c, int q, uint32_t leaf)
{
    return kn_hierarchy_ancestor(c->run->hierarchies[q], leaf, c->cut->levels ? (uint32_t)c->cut->levels[q] : 0);
}

static void class_tuple(const classes *c, int64_t i, uint32_t *nodes)
{
    const kn_table_run *run = c->run;
    int64_t             row = c->cut->first_rows ? c->cut->first_rows[kn_freq_code(c->freq, i, 0)] : 0;
    for (int q = 0; q < run->quasi_count; q++) {
        uint32_t code =
            c->cut->first_rows ? kn_column_code(&run->table->columns[run->quasi[q]], row) : kn_freq_code(c->freq, i, q);
        nodes[q] = node_at(c, q, run->hierarchies[q]->leaf_of_code[code]);
    }
}

/* The fewest people that the nodes of a class can have in common. */
static int64_t fewest(const kn_table_run *run, const uint32_t *nodes)
{
    int64_t total = run->population->total, people = total;
    for (int q = 0; q < run->quasi_count; q++)
        people = kn_population_both(people, kn_hierarchy_people(run->hierarchies[q], nodes[q]), total);
    return people;
}

static kn_status count_people(classes *c, kn_error *err)
{
    kn_table_run            *run = c->run;
    const kn_population_set *all = run->population;
    tuples                   t = {.quasi_count = run->quasi_count};
    size_t                   slots = 4, n = (size_t)c->freq->classes, quasi = (size_t)run->quasi_count;
    while (slots < 2 * n) slots *= 2;
    t.mask = slots - 1;
    t.slots = kn_alloc_array_zero(run->all.ctx, slots, sizeof *t.slots);
    t.nodes = kn_alloc_array(run->all.ctx, (n + 1) * quasi, sizeof *t.nodes);
    c->people = kn_alloc_array_zero(run->all.ctx, n + 1, sizeof *c->people);
    bool ok = t.slots && t.nodes && c->people;
    for (size_t i = 0; ok && i < n; i++) {
        int64_t code = kn_freq_code(c->freq, (int64_t)i, 0);
        if (code == c->cut->starred) c->people[i] = all->total;
        if (code == c->cut->leave_out || code == c->cut->starred) continue;
        class_tuple(c, (int64_t)i, t.nodes + i * quasi);
        *find_slot(&t, t.nodes + i * quasi) = (int64_t)i + 1;
        if (all->apart) c->people[i] = fewest(run, t.nodes + i * quasi);
    }
    uint32_t *nodes = ok ? t.nodes + n * quasi : NULL; /* one more tuple, as scratch */
    for (int64_t p = 0; ok && p < all->count; p++) {
        for (size_t q = 0; q < quasi; q++) nodes[q] = node_at(c, (int)q, all->leaves[(size_t)p * quasi + q]);
        int64_t found = *find_slot(&t, nodes);
        if (found > 0) c->people[found - 1] += all->counts[p];
    }
    kn_free(t.slots);
    kn_free(t.nodes);
    return ok ? KN_OK : kn_fail_memory(err, run->all.ctx, measuring);
}

/* ---- Models ---- */

void kn_cut_worse(double *reached, const kn_model *model, double value, bool first)
{
    bool larger = kn_model_larger_is_stronger(model->kind);
    if (first || (larger ? value < *reached : value > *reached)) *reached = value;
}

static void view_class(const classes *c, int64_t i, kn_class_view *view, kn_histogram *histograms)
{
    *view = (kn_class_view){.rows = c->freq->counts[i], .persons = c->persons ? c->persons[i] : c->freq->counts[i]};
    view->population = c->people ? c->people[i] : 0;
    view->population_unit = c->people ? c->run->population->unit : 1;
    view->histograms = histograms;
    for (int s = 0; s < c->run->requirements->sensitive_count; s++) {
        const kn_class_histograms *h = &c->histograms[s];
        int64_t                    begin = h->starts[i], end = h->starts[i + 1];
        histograms[s] = (kn_histogram){h->codes + begin, h->counts + begin, end - begin, 0};
        for (int64_t j = begin; j < end; j++) histograms[s].rows += h->counts[j];
    }
}

/* What the classes [begin, end) reach. */
static kn_status reach_part(const classes *c, int64_t begin, int64_t end, kn_cut_figures *out, kn_error *err)
{
    const kn_requirements  *r = c->run->requirements;
    kn_requirements_scratch scratch = {0};
    kn_histogram *histograms = kn_alloc_array(c->run->all.ctx, (size_t)r->sensitive_count + 1, sizeof *histograms);
    if (!histograms) return kn_fail_memory(err, c->run->all.ctx, measuring);
    kn_status st = kn_requirements_scratch_make(&scratch, r, err);
    for (int64_t i = begin; st == KN_OK && i < end; i++) {
        kn_class_view view;
        if ((int64_t)kn_freq_code(c->freq, i, 0) == c->cut->leave_out) continue;
        view_class(c, i, &view, histograms);
        for (int m = 0; m < r->model_count; m++)
            kn_cut_worse(&out->reached[r->asked[m]], &r->models[m], kn_requirements_reached(r, m, &view, &scratch),
                         out->classes == 0);
        if (out->classes == 0 || view.persons < out->k) out->k = view.persons;
        out->persons += view.persons;
        if (kn_requirements_hold(r, &view, &scratch)) out->good_rows += view.rows;
        out->classes++;
    }
    kn_requirements_scratch_free(&scratch);
    kn_free(histograms);
    return st;
}

typedef struct reaching {
    const classes  *c;
    int64_t         grain;
    kn_cut_figures *parts; /* per range */
} reaching;

static kn_status reach_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const reaching *r = arg;
    (void)worker;
    return reach_part(r->c, begin, end, &r->parts[begin / r->grain], err);
}

/* Adds what other classes reach: the worst, the smallest and sums, whatever their order. */
static void add_reached(const kn_requirements *r, kn_cut_figures *out, const kn_cut_figures *part)
{
    if (part->classes == 0) return;
    for (int m = 0; m < r->model_count; m++)
        kn_cut_worse(&out->reached[r->asked[m]], &r->models[m], part->reached[r->asked[m]], out->classes == 0);
    if (out->classes == 0 || part->k < out->k) out->k = part->k;
    out->persons += part->persons;
    out->good_rows += part->good_rows;
    out->classes += part->classes;
}

static kn_status reach(const classes *c, kn_cut_figures *out, kn_error *err)
{
    kn_context *ctx = c->run->all.ctx;
    int64_t     n = c->freq->classes;
    size_t      models = (size_t)c->run->all.spec->model_count + 1;
    reaching    r = {c, n / MOST_RANGES + 1 > LEAST_CLASSES ? n / MOST_RANGES + 1 : LEAST_CLASSES, NULL};
    double     *reached = kn_alloc_array_zero(ctx, MOST_RANGES * models, sizeof *reached);
    r.parts = kn_alloc_array_zero(ctx, MOST_RANGES, sizeof *r.parts);
    kn_status st = reached && r.parts ? KN_OK : kn_fail_memory(err, ctx, measuring);
    for (size_t i = 0; st == KN_OK && i < MOST_RANGES; i++) r.parts[i].reached = reached + i * models;
    if (st == KN_OK) st = kn_parallel_for(ctx, n, r.grain, reach_range, &r, err);
    for (size_t i = 0; st == KN_OK && i < MOST_RANGES; i++) add_reached(c->run->requirements, out, &r.parts[i]);
    KN_FREE(reached, r.parts);
    return st;
}

static kn_status count_sizes(const classes *c, kn_cut_figures *out, kn_error *err)
{
    int64_t n = c->freq->classes;
    /* Rows outside every class have the highest code: they are the last. */
    if (n > 0 && (int64_t)kn_freq_code(c->freq, n - 1, 0) == c->cut->leave_out) n--;
    return kn_release_sizes_of(&c->run->all, c->persons ? c->persons : c->freq->counts, c->freq->counts, n, &out->sizes,
                               &out->size_count, err);
}

static kn_status measure_rows(kn_table_run *run, const kn_cut *cut, kn_cut_figures *out, kn_error *err)
{
    classes   c = {.run = run, .cut = cut};
    kn_status st = group(&c, err);
    if (st == KN_OK && run->population) st = count_people(&c, err);
    if (st == KN_OK) st = reach(&c, out, err);
    if (st == KN_OK) st = count_sizes(&c, out, err);
    for (int s = 0; c.histograms && s < run->requirements->sensitive_count; s++)
        kn_class_histograms_free(&c.histograms[s]);
    kn_free(c.histograms);
    kn_free(c.people);
    kn_free(c.persons);
    kn_freq_free(c.freq);
    return st;
}

kn_status kn_cut_measure(kn_table_run *run, const kn_cut *cut, kn_cut_figures *out, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    *out = (kn_cut_figures){0};
    out->reached = kn_release_alloc(&run->all, run->all.arena, (size_t)spec->model_count, sizeof *out->reached, err);
    if (!out->reached) return KN_MEMORY;
    KN_TRY(run->linked ? kn_cut_measure_linked(run, cut, out, err) : measure_rows(run, cut, out, err));
    for (int m = 0; m < spec->model_count; m++)
        if (out->classes == 0)
            out->reached[m] = NAN; /* nothing is left that it is about */
        else if (spec->models[m].kind == KN_MODEL_AVERAGE_RISK)
            out->reached[m] = (double)out->classes / (double)out->persons;
    return KN_OK;
}
