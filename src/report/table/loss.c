/* table/loss.c: the tables of a release report: promises asked and reached, what each column lost, every
 * metric with its meaning, the counters of the search. Cost: linear in what is listed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "kn_html.h"
#include "kn_release_report.h"

/* ---- Promises ---- */

static void ratio(kn_buffer *to, kn_ratio r)
{
    kn_release_asked(to, r.denominator ? (double)r.numerator / (double)r.denominator : 0);
}

static void parameter(kn_buffer *to, const char *name, kn_ratio value)
{
    kn_buffer_format(to, "%s = ", name);
    ratio(to, value);
}

static void parameters(kn_buffer *to, const kn_model *m)
{
    static const char *const bounds[KN_MODEL_KINDS] = {
        [KN_MODEL_T_EQUAL] = "t",        [KN_MODEL_T_ORDERED] = "t",      [KN_MODEL_T_HIERARCHICAL] = "t",
        [KN_MODEL_ALPHA_K] = "alpha",    [KN_MODEL_BETA_BASIC] = "beta",  [KN_MODEL_BETA_ENHANCED] = "beta",
        [KN_MODEL_DELTA] = "delta",      [KN_MODEL_PRESENCE] = "at most", [KN_MODEL_MAX_RISK] = "risk",
        [KN_MODEL_AVERAGE_RISK] = "risk"};
    bool first = true;
    if (m->kind == KN_MODEL_K || m->kind == KN_MODEL_K_MAP || (m->kind == KN_MODEL_ALPHA_K && m->k > 0)) {
        kn_buffer_add(to, "k = ");
        kn_html_integer(to, m->k);
        first = false;
    }
    if (m->kind == KN_MODEL_DISTINCT || m->kind == KN_MODEL_ENTROPY || m->kind == KN_MODEL_RECURSIVE) {
        parameter(to, "l", m->l);
        first = false;
    }
    if (m->kind == KN_MODEL_RECURSIVE) {
        kn_buffer_add(to, ", ");
        parameter(to, "c", m->c);
    }
    if (m->kind == KN_MODEL_PRESENCE) {
        parameter(to, "at least", m->low);
        first = false;
    }
    if (!bounds[m->kind]) return;
    if (!first) kn_buffer_add(to, ", ");
    parameter(to, bounds[m->kind], m->bound);
}

static void model_name(kn_buffer *to, const kn_model *m)
{
    const char *variant = kn_model_variant(m->kind);
    kn_html_text(to, kn_model_name(m->kind));
    if (variant) kn_buffer_format(to, ", %s", variant);
    if (m->attribute) {
        kn_buffer_add(to, " of ");
        kn_html_name(to, m->attribute);
    }
}

static const char *meaning_of(kn_model_kind kind)
{
    static const char *const meanings[KN_MODEL_KINDS] = {
        [KN_MODEL_K] = "Every class has at least k members.",
        [KN_MODEL_DISTINCT] = "Every class has at least l different values.",
        [KN_MODEL_ENTROPY] = "The values of every class are as evenly spread as l equally frequent ones.",
        [KN_MODEL_RECURSIVE] = "In no class does the most frequent value outweigh the rarer ones more than c times.",
        [KN_MODEL_T_EQUAL] = "No class differs from the whole table by more than t.",
        [KN_MODEL_T_ORDERED] = "No class differs from the whole table by more than t; near values count as near.",
        [KN_MODEL_T_HIERARCHICAL] =
            "No class differs from the whole table by more than t; values of one group count as near.",
        [KN_MODEL_ALPHA_K] = "No value has more than the share alpha of a class.",
        [KN_MODEL_BETA_BASIC] = "Knowing the class makes no value more likely by more than the factor 1 + beta.",
        [KN_MODEL_BETA_ENHANCED] = "The same as basic, with a tighter bound for frequent values.",
        [KN_MODEL_DELTA] = "Knowing the class moves the share of no value by more than delta (logarithm).",
        [KN_MODEL_K_MAP] = "At least k people of the population look like each released row.",
        [KN_MODEL_PRESENCE] = "How sure somebody can be that a person of the population is in the table.",
        [KN_MODEL_MAX_RISK] = "Nobody is found with a greater chance.",
        [KN_MODEL_AVERAGE_RISK] = "People are found with this chance at most, on average."};
    return meanings[kind];
}

static bool asks_average(const kn_release_head *h)
{
    for (int i = 0; i < h->model_count; i++)
        if (h->models[i].model.kind == KN_MODEL_AVERAGE_RISK) return true;
    return false;
}

/* What a column of sets promises. */
static void items_row(kn_html_table *t, const kn_release_page *page)
{
    const kn_release_items *items = page->result->items;
    kn_html_table_row(t);
    kn_html_table_cell(t);
    kn_buffer_add(t->to, "k-mn of ");
    kn_html_name(t->to, items->name);
    kn_html_table_cell(t);
    kn_buffer_format(t->to, "k = %lld, m = %d", (long long)page->spec->kmn.k, items->m);
    kn_html_table_cell(t);
    kn_buffer_add(t->to, "–");
    if (page->result->head.found) {
        kn_html_table_cell(t);
        kn_html_integer(t->to, items->k);
    }
    kn_html_table_cell(t);
    kn_buffer_add(t->to, "Whoever also knows up to m items of a set finds at least k rows.");
}

/* What is not known, or about nothing, has no figure. */
static void put_reached(kn_buffer *to, double value)
{
    if (isnan(value))
        kn_buffer_add(to, "–");
    else
        kn_release_figure(to, value);
}

void kn_release_models(kn_buffer *to, const kn_release_page *page)
{
    static const char *const titles[] = {"Promise", "Asked", "Original", "Release", "What it means"};
    const kn_release_result *r = page->result;
    kn_html_table            t;
    kn_html_section(to, "What was asked, and what was reached");
    kn_buffer_add(to, asks_average(&r->head)
                          ? "<p>Each figure is that of the worst class, an average that of all.</p>\n"
                          : "<p>Each figure is that of the worst class.</p>\n");
    kn_html_table_begin(&t, to, r->head.found ? "llrrw" : "llrw",
                        r->head.found ? titles : (const char *[]){titles[0], titles[1], titles[2], titles[4]});
    for (int i = 0; i < r->head.model_count; i++) {
        const kn_release_model *m = &r->head.models[i];
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        model_name(to, &m->model);
        kn_html_table_cell(&t);
        parameters(to, &m->model);
        kn_html_table_cell(&t);
        /* Estimated by weights, the worst class of the original may be one row, and the figure its weight. */
        put_reached(to, m->model.kind == KN_MODEL_K_MAP ? NAN : m->original);
        if (r->head.found) {
            kn_html_table_cell(&t);
            put_reached(to, m->reached);
        }
        kn_html_table_cell(&t);
        kn_html_text(to, meaning_of(m->model.kind));
    }
    if (r->items) items_row(&t, page);
    kn_html_table_end(&t);
    if (kn_spec_shape(page->spec) != KN_SHAPE_TABLE) {
        kn_html_section_end(to);
        return;
    }
    kn_buffer_add(to, "<p>Rows that may be suppressed: at most ");
    if (page->spec->suppression_is_count)
        kn_html_count(to, page->spec->suppression_rows, "row", "rows");
    else {
        kn_fraction f = page->spec->suppression;
        ratio(to, (kn_ratio){f.numerator * (f.numerator < UINT64_MAX / 100 ? 100 : 1), f.denominator});
        kn_buffer_add(to, "\u00A0%");
    }
    kn_buffer_add(to, ".</p>\n");
    kn_html_section_end(to);
}

/* ---- Columns ---- */

static void decimal(kn_buffer *to, double value)
{
    if (isnan(value))
        kn_buffer_add(to, "–");
    else
        kn_html_decimal(to, value, 4);
}

void kn_release_columns(kn_buffer *to, const kn_release_page *page)
{
    static const char *const titles[] = {"Column", "Level", "Loss (lm)", "ncp", "prec", "Bits lost"};
    const kn_release_result *r = page->result;
    kn_html_table            t;
    if (!r->head.found || r->attribute_count == 0) return;
    kn_html_section(to, "What each column lost");
    kn_buffer_add(
        to, "<p>A loss of 0 means that the column is shown as it was, 1 that nothing is left of it; prec counts the "
            "other way round. Rows that were suppressed count as lost.</p>\n");
    kn_html_table_begin(&t, to, "lrrrrr", titles);
    for (int i = 0; i < r->attribute_count; i++) {
        const kn_release_attribute *a = &r->attributes[i];
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        kn_html_name(to, a->name);
        kn_html_table_cell(&t);
        if (a->level < 0)
            kn_buffer_add(to, "–");
        else
            kn_buffer_format(to, "%d of %d", a->level, a->height);
        kn_html_table_cell(&t);
        decimal(to, a->lm);
        kn_html_table_cell(&t);
        decimal(to, a->ncp);
        kn_html_table_cell(&t);
        decimal(to, a->prec);
        kn_html_table_cell(&t);
        kn_release_figure(to, isnan(a->entropy) ? a->entropy : round(a->entropy));
    }
    kn_html_table_end(&t);
    kn_html_section_end(to);
}

/* ---- Metrics ---- */

void kn_release_metrics(kn_buffer *to, const kn_release_page *page)
{
    static const char *const titles[] = {"Metric", "Value", "What it means"};
    static const char *const meanings[KN_METRICS] = {
        [KN_METRIC_LM] = "Mean over all cells of the values a cell may stand for, from 0 (one) to 1 (all).",
        [KN_METRIC_NCP] =
            "Mean over all cells of the share of the column’s values a cell may stand for; 0 for one value.",
        [KN_METRIC_PREC] = "1 less the mean of level / highest level. Larger is better.",
        [KN_METRIC_ENTROPY] = "Bits that would be needed to get the original cells back from the released ones.",
        [KN_METRIC_DM] = "Sum of squared class sizes; a suppressed row counts as many as there are rows.",
        [KN_METRIC_DM_STAR] = "Sum of squared class sizes; suppressed rows count as the classes they were.",
        [KN_METRIC_C_AVG] = "How many times larger than k a class is on average."};
    kn_html_table t;
    if (!page->result->head.found) return;
    kn_html_section(to, "Every metric");
    if (kn_method_family(page->result->head.method) == KN_FAMILY_FULL_DOMAIN)
        kn_buffer_format(to, "<p>The search looked at <b>%s</b>. Smaller is better unless said.</p>\n",
                         kn_metric_name(page->result->utility));
    else
        kn_buffer_add(to, "<p>Smaller is better unless said.</p>\n");
    kn_html_table_begin(&t, to, "lrw", titles);
    for (int i = 0; i < KN_METRICS; i++) {
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        kn_html_text(to, kn_metric_name((kn_metric)i));
        kn_html_table_cell(&t);
        kn_release_figure(to, page->result->metrics[i]);
        kn_html_table_cell(&t);
        kn_html_text(to, meanings[i]);
    }
    kn_html_table_end(&t);
    kn_html_section_end(to);
}

/* ---- Counters ---- */

void kn_release_counters(kn_buffer *to, const kn_release_page *page)
{
    static const char *const titles[] = {"Counter", "Value"};
    const kn_release_result *r = page->result;
    kn_html_table            t;
    if (r->head.counter_count == 0) return;
    kn_html_section(to, "How it was found");
    kn_buffer_format(to, "<p>Method <b>%s</b>", kn_method_name(r->head.method));
    if (r->lattice > 0) {
        kn_buffer_add(to, ", among ");
        kn_release_figure(to, r->lattice);
        kn_buffer_add(to, r->lattice == 1 ? " choice of levels" : " choices of levels");
    }
    kn_buffer_add(to, r->head.complete ? ".</p>\n" : ", ended by the time limit.</p>\n");
    kn_buffer_add(to, "<details><summary>Counters of the search</summary>\n");
    kn_html_table_begin(&t, to, "lr", titles);
    for (int i = 0; i < r->head.counter_count; i++) {
        /* A time would make two equal runs differ. */
        if (strstr(r->head.counters[i].name, "second")) continue;
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        kn_html_text(to, r->head.counters[i].name);
        kn_html_table_cell(&t);
        kn_release_figure(to, r->head.counters[i].value);
    }
    kn_html_table_end(&t);
    kn_buffer_add(to, "</details>\n");
    kn_html_section_end(to);
}
