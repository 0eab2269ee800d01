/* records/page.c: a release of tree records as one page of HTML: the verdict in plain words, what happened to values
 * and relations, what may be published.
 *
 * Interface: kn_records_report_render (kn_records_report.h). The page is for the owner of the data: it shows figures
 * of the original, and the values of its classes in pictures; no time; removed relations are counted and not named.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_records_report.h"

#include <math.h>
#include <string.h>

#include "kn_error.h"
#include "kn_example.h"
#include "kn_html.h"
#include "kn_records_picture.h"
#include "kn_release_report.h"
#include "kn_report_words.h"

static void heading(kn_buffer *to, const kn_spec *spec, const kn_records_result *r, const char *title)
{
    kn_release_heading(to, title, kn_release_file_name(spec->output));
    kn_html_count(to, r->records, "record", "records");
    kn_buffer_add(to, " · ");
    kn_html_count(to, spec->class_count, "class", "classes");
    kn_release_method(to, r->head.method, r->head.advice);
    kn_buffer_add(to, "</p>\n</header>\n");
}

/* "up to 2 values of a person's record and up to 1 relation between them" */
static void knowledge(kn_buffer *to, const kn_spec *spec, kn_kmn kmn)
{
    kn_buffer_add(to, "up to ");
    kn_html_count(to, kmn.m, "value", "values");
    kn_buffer_add(to, " of a person’s record");
    if (kn_spec_has_sensitive_class(spec)) kn_buffer_add(to, " (sensitive ones aside)");
    if (kmn.n == 0) return;
    kn_buffer_add(to, ", and up to ");
    kn_html_count(to, kmn.n, "relation", "relations");
    kn_buffer_add(to, " between them (which stands above which),");
}

static void verdict(kn_buffer *to, const kn_spec *spec, const kn_records_result *r)
{
    bool alone = r->head.k == 1;
    kn_buffer_format(to, "<div class=\"verdict %s\">\n<p class=\"answer\">",
                     !r->head.found ? "risk"
                     : alone        ? "plain"
                                    : "safe");
    if (!r->head.found) {
        kn_buffer_add(to, "No: there is no release that keeps what was asked.</p>\n<p>");
        kn_html_text(to, r->head.reason);
        kn_buffer_add(to, ". Nothing was written.</p>\n</div>\n");
        return;
    }
    if (r->head.k == 0) {
        kn_buffer_add(to, "The records show no value that somebody is taken to know, so k promises nothing");
    } else {
        kn_buffer_add(to, "Whoever knows ");
        knowledge(to, spec, r->kmn);
        kn_buffer_add(to, alone ? " may find a single record" : " finds nobody, or at least ");
        if (!alone) kn_html_count(to, r->head.k, "record", "records");
    }
    kn_buffer_add(to, ".</p>\n<p>");
    bool absent = false;
    for (int c = 0; c < spec->class_count; c++) {
        if (!spec->classes[c].negative) continue;
        kn_buffer_add(to, absent ? ", "
                                 : "That holds for somebody, too, who knows that values are absent, each as one of "
                                   "the values that are known: of ");
        kn_html_name(to, spec->classes[c].name);
        absent = true;
    }
    if (absent) kn_buffer_add(to, ". ");
    if (r->kmn.n > 1)
        kn_buffer_add(to,
                      spec->semantics == KN_SEMANTICS_PATHS
                          ? "That holds for somebody who also knows which of these relations lie on one path. "
                          : "Relations are taken one by one: that several of them lie on one path is not counted as "
                            "known. ");
    if (r->head.largest_share > 0) {
        kn_buffer_add(to, "Of the records that somebody finds, at most ");
        kn_html_percent(to, r->head.largest_share);
        kn_buffer_add(to, " have any one sensitive value. ");
    }
    if (!r->head.complete) kn_buffer_add(to, "The time limit ended the search: a release that loses less may exist. ");
    kn_buffer_add(
        to, "A relation that is not there says nothing: it may have been taken away. The written file was read again "
            "and every promise checked before it got its name.</p>\n</div>\n");
}

static void tiles(kn_buffer *to, const kn_records_result *r)
{
    kn_buffer_add(to, "<dl class=\"tiles\">\n");
    kn_release_tile(to, "Records", (double)r->records);
    if (r->head.found) {
        if (r->head.k > 0) kn_release_tile(to, "Fewest that somebody finds", (double)r->head.k);
        kn_release_tile(to, "Relations that vanished", (double)r->disassociations);
        kn_records_share_tile(to, "Nodes that show their own value", r->node_survival);
    }
    kn_buffer_add(to, "</dl>\n");
}

static void loss_row(kn_html_table *t, const char *name, int64_t before, int64_t after, double survive)
{
    kn_html_table_row(t);
    kn_html_table_cell(t);
    kn_html_text(t->to, name);
    kn_html_table_cell(t);
    kn_html_integer(t->to, before);
    kn_html_table_cell(t);
    kn_html_integer(t->to, after);
    kn_html_table_cell(t);
    if (!isnan(survive)) kn_html_percent(t->to, survive);
}

static void loss(kn_buffer *to, const kn_spec *spec, const kn_records_result *r)
{
    static const char *const moved[KN_DISASSOCIATES] = {
        "the lower one moved up", "the lower one moved up, with all that was below it",
        "the upper one left the path, and what had led to the lower one moved up"};
    static const char *const titles[] = {"Figure", "Original", "Release", "As they were"};
    kn_html_table            t;
    if (!r->head.found) return;
    kn_html_section(to, "What became of values and relations");
    kn_buffer_add(
        to, "<p>Values were replaced by groups, the same everywhere; siblings that became equal were merged. Where a "
            "relation between two values was rare, it vanished everywhere: ");
    kn_buffer_format(to, "%s.</p>\n", moved[spec->disassociation]);
    kn_records_picture(to, r);
    kn_html_table_begin(&t, to, "lrrr", titles);
    loss_row(&t, "Different values", r->values_original, r->values, NAN);
    loss_row(&t, "Nodes", r->nodes_original, r->nodes, r->node_survival);
    loss_row(&t, "Relations", r->relations_original, r->relations,
             r->relations_original > 0 ? r->relation_unchanged : NAN);
    kn_html_table_end(&t);
    if (r->relations_original > 0) {
        kn_buffer_add(
            to, "<p>A node or relation stayed as it was where the record still shows the very values. Between the "
                "same or broader values ");
        kn_html_percent(to, r->relation_survival);
        kn_buffer_add(to, " of the relations are still there.</p>\n");
    }
    kn_html_section_end(to);
}

static void metric(kn_html_table *t, const char *name, double value, const char *meaning)
{
    if (isnan(value)) return;
    kn_html_table_row(t);
    kn_html_table_cell(t);
    kn_html_text(t->to, name);
    kn_html_table_cell(t);
    kn_release_figure(t->to, value);
    kn_html_table_cell(t);
    kn_html_text(t->to, meaning);
}

static void metrics(kn_buffer *to, const kn_records_result *r)
{
    static const char *const titles[] = {"Metric", "Value", "What it means"};
    kn_html_table            t;
    if (!r->head.found) return;
    kn_html_section(to, "Every metric");
    kn_html_table_begin(&t, to, "lrw", titles);
    metric(&t, "rpd", r->rpd, "How few paths the shown ones may stand for; larger is coarser.");
    metric(&t, "rpd of the original", r->rpd_original, "The same before.");
    metric(&t, "ml2", r->ml2, "Share of the frequent subtrees that are not frequent any more, over all levels.");
    metric(&t, "dml2", r->dml2, "The same by how far they changed.");
    kn_html_table_end(&t);
    kn_html_section_end(to);
}

static void classes(kn_buffer *to, const kn_spec *spec, const kn_records_result *r)
{
    static const char *const titles[] = {"Class", "Role", "What was done"};
    kn_html_table            t;
    kn_html_section(to, "What was done to each class");
    if (r->head.found && spec->class_count > 0) {
        kn_buffer_add(
            to, "<p>Examples are made up: they show the rule, not the data. A value is made as broad in every record "
                "alike.</p>\n");
        kn_html_table_begin(&t, to, "llw", titles);
        for (int i = 0; i < spec->class_count; i++) {
            const kn_spec_class *c = &spec->classes[i];
            kn_html_table_row(&t);
            kn_html_table_cell(&t);
            kn_html_name(to, c->name);
            kn_html_table_cell(&t);
            kn_html_text(to, c->sensitive ? "sensitive" : "quasi-identifier");
            kn_html_table_cell(&t);
            if (c->sensitive)
                kn_buffer_add(to, "As it was.");
            else {
                kn_buffer_add(to, "Made broader as far as needed: ");
                if (!c->has_hierarchy || !kn_example(to, &c->hierarchy, -1))
                    kn_buffer_add(to, c->has_hierarchy ? "by its hierarchy"
                                                       : "a value, or a group that it lies in: <code>D12 → "
                                                         "D1*</code>");
                kn_buffer_char(to, '.');
            }
        }
        kn_html_table_end(&t);
    }
    kn_release_dropped(to, &r->head, "Of no class, left out");
    kn_html_section_end(to);
}

static void files(kn_buffer *to, const kn_spec *spec, const kn_records_result *r)
{
    const kn_release_files f = {kn_release_file_name(spec->output), NULL,
                                "What was promised and what the release shows.",
                                "Every figure, and which relations vanished: each is one that some few had.",
                                "Who is who. It undoes the release."};
    if (!f.name || !r->head.found) return;
    kn_release_files_begin(to, spec, &f);
    kn_html_section_end(to);
}

kn_status kn_records_report_render(kn_buffer *to, const kn_spec *spec, const kn_records_result *r, const char *version,
                                   kn_error *err)
{
    if (!spec || !r) return kn_fail(err, KN_USAGE, "release report: the spec or the result is missing");
    const char             *title = r->head.found ? "Release report" : "Release report: no release";
    const kn_release_result like = {.head = r->head};
    const kn_release_page   page = {spec, &like, 0};
    kn_html_begin(to, title);
    heading(to, spec, r, title);
    verdict(to, spec, r);
    tiles(to, r);
    kn_records_words(to, spec, r);
    kn_html_notes(to, r->head.notes, r->head.note_count);
    if (r->head.model_count > 0) kn_release_models(to, &page);
    classes(to, spec, r);
    loss(to, spec, r);
    kn_release_distribution_section(to, &r->head, true);
    metrics(to, r);
    files(to, spec, r);
    kn_release_counters(to, &page);
    if (r->head.found) kn_words_limits(to, KN_SHAPE_RECORDS, false);
    kn_release_footer(to, &r->head, version);
    kn_html_end(to);
    return to->failed ? kn_fail_memory(err, to->ctx, "writing a report") : KN_OK;
}
