/* table/page.c: a release as one page of HTML: the parts in order, the verdict in plain words, what is published with
 * it and by which rules.
 *
 * Interface: kn_release_report_render (kn_release_report.h). Pictures and tables are in risk.c, loss.c, lattice.c
 * and distributions.c. The page is for the owner of the data: it shows figures of the original, and the values of its
 * columns in pictures; no time, no seed. Cost: linear in the class sizes, the solutions listed and, for a lattice drawn whole, its nodes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_release_report.h"

#include <kanon/recipe.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_error.h"
#include "kn_example.h"
#include "kn_html.h"
#include "kn_names.h"
#include "kn_report_words.h"

const char *kn_release_unit(const kn_release_page *page, int64_t count)
{
    if (page->spec->entity) return count == 1 ? "person" : "persons";
    return count == 1 ? "row" : "rows";
}

void kn_release_figure(kn_buffer *to, double value)
{
    if (isnan(value))
        kn_buffer_add(to, "none");
    else if (isinf(value))
        kn_buffer_add(to, "no bound");
    else if (fabs(value) < 9e15 && value == floor(value))
        kn_html_integer(to, (int64_t)value);
    else if (fabs(value) < 9e10)
        kn_html_decimal(to, value, fabs(value) < 0.01 ? 6 : 4);
    else {
        int exponent = (int)floor(log10(fabs(value)));
        kn_html_decimal(to, value / pow(10, exponent), 3);
        kn_buffer_format(to, "e%d", exponent);
    }
}

void kn_release_asked(kn_buffer *to, double value)
{
    int digits = 0;
    for (double scaled = value; digits < 6 && fabs(scaled - round(scaled)) > 1e-9 * fmax(1, scaled); digits++)
        scaled = value * pow(10, digits + 1);
    if (digits == 0)
        kn_release_figure(to, value);
    else
        kn_html_decimal(to, value, digits);
}

const char *kn_release_file_name(const char *path)
{
    if (!path || strcmp(path, "-") == 0) return NULL;
    const char *mark = strrchr(path, '#'), *file = kn_name_sqlite(path);
    if (kn_name_server(path)) return mark ? mark + 1 : "release"; /* nothing of its connection */
    if (file) path = file;
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* A highest risk asks for a crowd, too: its reciprocal. */
static int64_t crowd_of(const kn_model *m)
{
    if (m->kind == KN_MODEL_K || m->kind == KN_MODEL_ALPHA_K) return m->k;
    if (m->kind != KN_MODEL_MAX_RISK || m->bound.numerator == 0) return 0;
    return (int64_t)((m->bound.denominator + m->bound.numerator - 1) / m->bound.numerator);
}

int64_t kn_release_crowd(const kn_spec *spec)
{
    int64_t k = 0;
    for (int i = 0; i < spec->model_count; i++)
        if (crowd_of(&spec->models[i]) > k) k = crowd_of(&spec->models[i]);
    return k;
}

/* "age, sex and zip" */
static void quasi_names(kn_buffer *to, const kn_release_page *page)
{
    enum { MOST = 12 };
    int count = page->result->attribute_count, shown = count > MOST ? MOST - 1 : count;
    for (int i = 0; i < shown; i++) {
        if (i > 0) kn_buffer_add(to, i + 1 == count ? " and " : ", ");
        kn_html_name(to, page->result->attributes[i].name);
    }
    if (shown < count) {
        kn_buffer_add(to, " and ");
        kn_html_integer(to, count - shown);
        kn_buffer_add(to, " more");
    }
}

/* ---- The top ---- */

void kn_release_method(kn_buffer *to, kn_method method, const kn_advice *advice)
{
    int count = 0;
    kn_buffer_format(to, " · method %s", kn_method_name(method));
    if (!advice) return;
    kn_buffer_add(to, ", chosen by auto");
    for (int i = 0; i < advice->candidate_count; i++) {
        const kn_advice_candidate *c = &advice->candidates[i];
        if (c->state != KN_ADVICE_KEPT && c->state != KN_ADVICE_STOPPED) continue;
        /* Two digits: enough to understand the choice, little about releases that nobody was shown. */
        if (count++ == 0) kn_buffer_format(to, " by %s among ", advice->metric);
        kn_buffer_format(to, count > 1 ? ", %s (%.2g)" : "%s (%.2g)", kn_method_name(c->method), c->loss);
    }
}

void kn_release_heading(kn_buffer *to, const char *title, const char *name)
{
    kn_buffer_add(to, "<header>\n<h1>");
    kn_html_text(to, title);
    kn_buffer_add(to, "</h1>\n<p class=\"about\">");
    if (!name) return;
    kn_html_name(to, name);
    kn_buffer_add(to, " · ");
}

static void write_heading(kn_buffer *to, const kn_release_page *page, const char *title)
{
    const kn_release_result *r = page->result;
    kn_release_heading(to, title, kn_release_file_name(page->spec->output));
    kn_html_count(to, r->head.found ? r->rows : r->rows_in, "row", "rows");
    kn_buffer_add(to, " · ");
    kn_html_count(to, r->attribute_count, "quasi-identifier", "quasi-identifiers");
    kn_release_method(to, r->head.method, r->head.advice);
    if (page->spec->entity) {
        kn_buffer_add(to, " · a person is a value of ");
        kn_html_name(to, page->spec->entity);
    }
    kn_buffer_add(to, "</p>\n</header>\n");
}

static void open_verdict(kn_buffer *to, const char *tone)
{
    kn_buffer_format(to, "<div class=\"verdict %s\">\n<p class=\"answer\">", tone);
}

static void refused(kn_buffer *to, const kn_release_page *page)
{
    open_verdict(to, "risk");
    kn_buffer_add(to, page->result->head.complete ? "No: there is no release that keeps what was asked."
                                                  : "None was found within the time limit.");
    kn_buffer_add(to, "</p>\n<p>");
    if (page->result->head.reason) kn_html_text(to, page->result->head.reason);
    kn_buffer_add(to, " Nothing was written. Ask for less, allow more rows to be suppressed, or give the columns "
                      "hierarchies that reach further.</p>\n</div>\n");
}

static void suppressed_words(kn_buffer *to, const kn_release_page *page)
{
    const kn_release_result *r = page->result;
    if (r->head.suppressed == 0) {
        kn_buffer_add(to, "No row had to be suppressed. ");
        return;
    }
    kn_html_count(to, r->head.suppressed, "row", "rows");
    kn_buffer_add(to, " (");
    kn_html_share(to, r->head.suppressed, r->rows_in - r->missing_dropped);
    kn_buffer_add(to, r->head.suppressed == 1 ? ") stood out too much and was suppressed. "
                                              : ") stood out too much and were suppressed. ");
}

/* What was asked holds, and did not ask for crowds: a k of 1, a population that the release is a sample of. */
static void somebody_alone(kn_buffer *to, const kn_release_page *page)
{
    open_verdict(to, "plain");
    kn_buffer_add(to, "What was asked is kept, and it leaves somebody alone in the release.</p>\n<p>Whoever knows ");
    quasi_names(to, page);
    kn_buffer_add(to, " of such a person, and that the person is in the release, finds ");
    kn_buffer_add(to, page->spec->entity ? "no rows but theirs. " : "the row. ");
}

/* Rows of one person need not be equally many: a chance can be told of rows alone. */
static void everybody_hides(kn_buffer *to, const kn_release_page *page)
{
    const kn_release_head *h = &page->result->head;
    bool                   persons = page->spec->entity != NULL;
    open_verdict(to, "safe");
    kn_buffer_add(to, "Everybody hides among at least ");
    kn_html_count(to, h->k, kn_release_unit(page, 1), kn_release_unit(page, 2));
    kn_buffer_add(to, ".</p>\n<p>Whoever knows ");
    quasi_names(to, page);
    kn_buffer_add(to, persons ? " of a person finds rows of at least "
                              : " of a person guesses their row right with a chance of at most 1 in ");
    kn_html_integer(to, h->k);
    kn_buffer_add(to, persons ? " persons; in the original it was " : "; in the original it was 1 in ");
    kn_html_integer(to, h->k_before);
    kn_buffer_add(to, ". ");
    if (!page->result->items) return;
    kn_buffer_add(to, "Whoever also knows up to ");
    kn_html_count(to, page->result->items->m, "item", "items");
    kn_buffer_add(to, " of the person’s set still finds at least ");
    kn_html_count(to, page->result->items->k, "row", "rows");
    kn_buffer_add(to, ". ");
}

static void verdict(kn_buffer *to, const kn_release_page *page)
{
    const kn_release_result *r = page->result;
    if (!r->head.found) {
        refused(to, page);
        return;
    }
    if (r->head.classes == 0) {
        open_verdict(to, "safe");
        kn_buffer_add(to, "Nobody can be found: the release shows no row that was not suppressed.</p>\n<p>");
    } else if (r->head.k < 2)
        somebody_alone(to, page);
    else
        everybody_hides(to, page);
    suppressed_words(to, page);
    if (!r->head.complete)
        kn_buffer_add(to, "The time limit ended the search: a release that loses less may exist. ");
    else if (r->optimal)
        kn_buffer_format(to, "No other choice of levels loses less by the metric %s. ", kn_metric_name(r->utility));
    if (!r->optimal && !isnan(r->loss_bound)) /* never rounded up */
        kn_buffer_format(to, "No choice of levels loses less than %.6g by the metric %s. ", r->loss_bound * (1 - 5e-6),
                         kn_metric_name(r->utility));
    kn_buffer_add(to, "The written file was read again and every promise checked before it got its "
                      "name.</p>\n</div>\n");
}

void kn_release_tile(kn_buffer *to, const char *name, double value)
{
    kn_buffer_add(to, "<div class=\"tile\"><dt>");
    kn_html_text(to, name);
    kn_buffer_add(to, "</dt><dd>");
    kn_release_figure(to, value);
    kn_buffer_add(to, "</dd></div>\n");
}

static void tiles(kn_buffer *to, const kn_release_page *page)
{
    const kn_release_result *r = page->result;
    kn_buffer_add(to, "<dl class=\"tiles\">\n");
    if (r->head.found) {
        kn_release_tile(to, "Smallest crowd (k)", r->head.classes > 0 ? (double)r->head.k : (double)NAN);
        kn_release_tile(to, "Smallest crowd before", (double)r->head.k_before);
        kn_release_tile(to, "Rows suppressed", (double)r->head.suppressed);
        kn_release_tile(to, "Information lost (lm)", r->metrics[KN_METRIC_LM]);
    } else {
        kn_release_tile(to, "Rows", (double)r->rows_in);
        kn_release_tile(to, "Smallest crowd (k)", (double)r->head.k_before);
        kn_release_tile(to, "Quasi-identifiers", r->attribute_count);
        if (r->lattice > 0) kn_release_tile(to, "Choices of levels", r->lattice);
    }
    kn_buffer_add(to, "</dl>\n");
}

/* ---- The rules ---- */

void kn_release_word(kn_buffer *to, const char *name, const char *meaning)
{
    kn_buffer_add(to, "<dt>");
    kn_html_text(to, name);
    kn_buffer_add(to, "</dt><dd>");
    kn_html_text(to, meaning);
    kn_buffer_add(to, "</dd>\n");
}

static void count_roles(const kn_spec *spec, int *counts, int *pseudonyms)
{
    memset(counts, 0, (KN_ROLE_SET + 1) * sizeof *counts);
    *pseudonyms = 0;
    for (int i = 0; i < spec->attribute_count; i++) {
        counts[spec->attributes[i].role]++;
        *pseudonyms += spec->attributes[i].role == KN_ROLE_IDENTIFIER && spec->attributes[i].pseudonym_key_file;
    }
}

static int level_of(const kn_release_page *page, const char *name)
{
    for (int i = 0; i < page->result->attribute_count; i++)
        if (strcmp(page->result->attributes[i].name, name) == 0) return page->result->attributes[i].level;
    return -1;
}

static void columns(kn_buffer *to, const kn_release_page *page)
{
    kn_html_table t;
    kn_html_section(to, "What was done to each column");
    if (page->result->head.found) {
        kn_buffer_add(to, "<p>Examples are made up: they show the rule, not the data.</p>\n");
        kn_columns_begin(&t, to);
        for (int i = 0; i < page->spec->attribute_count; i++) {
            const kn_attribute *a = &page->spec->attributes[i];
            kn_columns_row(&t, NULL, a, level_of(page, a->name), page->result->head.method, false);
        }
        kn_html_table_end(&t);
    }
    kn_release_dropped(to, &page->result->head, "Not declared, left out");
    kn_html_section_end(to);
}

static void rules(kn_buffer *to, const kn_release_page *page)
{
    static const char *const suppressed[] = {
        "They show * in every column, so that they reveal nothing, not even their sensitive value.",
        "They are left out of the release.",
        "They show * in every quasi-identifier and form one class of their own, which keeps every promise too."};
    static const char *const missing[] = {
        "A missing cell is a value of its own: two rows that both miss it look the same in it.",
        "When risk was measured, a missing cell agreed with any value.",
        "Rows with a missing quasi-identifier were left out."};
    int counts[KN_ROLE_SET + 1], pseudonyms;
    count_roles(page->spec, counts, &pseudonyms);
    kn_html_section(to, "The rules of this release");
    kn_buffer_add(to, "<dl class=\"words\">\n");
    kn_release_word(to, "Suppressed rows", suppressed[page->spec->suppressed]);
    kn_release_word(to, "Order of the rows",
                    page->spec->keep_order
                        ? "As in the original. Whoever knows that order can tell rows apart that look the same."
                        : "Sorted by what is released, so that the order reveals nothing about the original.");
    kn_release_word(to, "Missing cells", missing[page->spec->missing]);
    if (page->spec->entity)
        kn_release_word(to, "Persons",
                        "Several rows may be about one person: classes count different persons, not rows.");
    if (pseudonyms > 0)
        kn_release_word(
            to, "Pseudonyms",
            "Made with a secret key. Whoever has another release made with the same key can join the two, row by row.");
    kn_buffer_add(to, "</dl>\n<p>");
    if (page->result->missing_cells > 0)
        kn_html_count(to, page->result->missing_cells, "cell of the quasi-identifiers is",
                      "cells of the quasi-identifiers are");
    else
        kn_buffer_add(to, "No cell of the quasi-identifiers is");
    kn_buffer_add(to, " missing in the original.</p>\n");
    if (page->result->missing_dropped > 0) {
        kn_buffer_add(to, "<p>");
        kn_html_count(to, page->result->missing_dropped, "row was", "rows were");
        kn_buffer_add(to, " left out for a missing quasi-identifier.</p>\n");
    }
    if (page->result->average_suppressed > 0) {
        kn_buffer_add(to, "<p>");
        kn_html_count(to, page->result->average_suppressed, "of the suppressed rows was",
                      "of the suppressed rows were");
        kn_buffer_add(to, " suppressed only to bring the average risk down: the smallest classes go first.</p>\n");
    }
    kn_html_section_end(to);
}

static void file_row(kn_html_table *t, const char *file, const char *ending, const char *audience, const char *meaning)
{
    kn_html_table_row(t);
    kn_html_table_cell(t);
    kn_html_text(t->to, file);
    kn_html_text(t->to, ending);
    kn_html_table_cell(t);
    kn_html_text(t->to, audience);
    kn_html_table_cell(t);
    kn_html_text(t->to, meaning);
}

/* What the names of the files beside a release begin with: of a folder without its slash, of a table of a SQLite file
 * FILE.TABLE. */
static void find_base(char *out, size_t size, const kn_spec *spec, const char *name)
{
    snprintf(out, size, "%s", name);
    size_t end = strlen(out);
    while (end > 1 && out[end - 1] == '/') out[--end] = '\0';
    char *mark = kn_name_sqlite(spec->output) && kn_spec_shape(spec) == KN_SHAPE_TABLE ? strrchr(out, '#') : NULL;
    if (mark) *mark = '.';
}

void kn_release_files_begin(kn_buffer *to, const kn_spec *spec, const kn_release_files *f)
{
    static const char *const titles[] = {"File", "For", "What it holds"};
    const char              *public_page = kn_release_file_name(spec->public_report);
    char                     base[1024];
    kn_html_table            t;
    find_base(base, sizeof base, spec, f->name);
    kn_html_section(to, "What may be published, and what may not");
    kn_html_table_begin(&t, to, "llw", titles);
    file_row(&t, f->name, "", "everybody", "The release.");
    file_row(&t, f->certificate ? f->certificate : base, f->certificate ? "" : ".certificate.json", "everybody",
             f->in_certificate);
    if (public_page) file_row(&t, public_page, "", "everybody", "What the release promises and how to read it.");
    file_row(&t, "this page", "", "you alone", "How it stood before and after: it describes the original.");
    file_row(&t, base, ".private.json", "you alone", f->in_private);
    if (spec->keep_rowmap) file_row(&t, base, ".rowmap", "you alone", f->in_map);
    if (spec->keep_recipe)
        file_row(&t, base, ".recipe.json", "you alone", "What was decided, to be used again on other rows.");
    if (kn_names_labelled(spec->inputs, spec->input_count))
        file_row(&t, base, ".labels.csv", "you alone", "The codes of the original and what they mean.");
    kn_html_table_end(&t);
}

static void files(kn_buffer *to, const kn_release_page *page)
{
    const kn_release_files f = {
        kn_release_file_name(page->spec->output), NULL,
        "What was promised and what the release shows, with its fingerprint (SHA-256).",
        "Every figure, the seed and fingerprints of the original: they would confirm guesses about it.",
        "Which released row is which original row. It undoes the release."};
    if (!f.name || !page->result->head.found) return;
    kn_release_files_begin(to, page->spec, &f);
    if (page->result->head.sha256[0]) {
        kn_buffer_add(to, "<p class=\"about\">SHA-256 of the release: ");
        kn_html_name(to, page->result->head.sha256);
        kn_buffer_add(to, "</p>\n");
    }
    kn_html_section_end(to);
}

static void words(kn_buffer *to, const kn_release_page *page)
{
    kn_words_begin(to, KN_SHAPE_TABLE, page->spec->entity != NULL, false);
    kn_release_word(
        to, "Level",
        "How coarse a column is shown: 0 is the value itself, every step joins values, the highest shows nothing.");
    kn_words_end(to);
}

void kn_release_dropped(kn_buffer *to, const kn_release_head *head, const char *title)
{
    for (int i = 0; i < head->dropped_count; i++) {
        if (i == 0)
            kn_buffer_format(to, "<p>%s: ", title);
        else
            kn_buffer_add(to, ", ");
        kn_html_name(to, head->dropped[i]);
    }
    if (head->dropped_count > 0) kn_buffer_add(to, ".</p>\n");
}

/* Pictures of columns show values; nothing else does. */
void kn_release_footer(kn_buffer *to, const kn_release_head *head, const char *version)
{
    bool values = head && head->found && kn_release_distribution_at(head, 0);
    kn_buffer_add(to, "<footer><p>Made by kanon");
    if (version) {
        kn_buffer_char(to, ' ');
        kn_html_text(to, version);
    }
    kn_buffer_add(to, values ? ". This page shows values of the original: it is for its owner alone"
                             : ". This page holds names of columns and counts, no value from the data");
    kn_buffer_add(to, "; it loads nothing and sends nothing.</p></footer>\n");
}

kn_status kn_release_report_render(kn_buffer *to, const kn_spec *spec, const kn_release_result *result,
                                   const char *version, kn_error *err)
{
    if (!spec || !result) return kn_fail(err, KN_USAGE, "release report: the spec or the result is missing");
    const kn_release_page page = {spec, result, kn_release_crowd(spec)};
    const char           *title = result->head.found ? "Release report" : "Release report: no release";
    kn_html_begin(to, title);
    write_heading(to, &page, title);
    verdict(to, &page);
    tiles(to, &page);
    words(to, &page);
    kn_html_notes(to, result->head.notes, result->head.note_count);
    kn_release_models(to, &page);
    columns(to, &page);
    kn_release_sizes(to, &page);
    kn_release_risk(to, &page);
    kn_release_columns(to, &page);
    kn_release_distribution_section(to, &result->head, false);
    kn_release_lattice(to, &page);
    kn_release_metrics(to, &page);
    rules(to, &page);
    files(to, &page);
    kn_release_counters(to, &page);
    if (result->head.found) kn_words_limits(to, KN_SHAPE_TABLE, false);
    kn_release_footer(to, &result->head, version);
    kn_html_end(to);
    return to->failed ? kn_fail_memory(err, to->ctx, "writing a report") : KN_OK;
}
