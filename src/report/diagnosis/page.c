/* diagnosis/page.c: a diagnosis as one page of HTML: checks the input and puts the parts in order.
 *
 * Interface: kn_report_render (kn_report.h). The parts stand in verdict.c (words), sizes.c (class
 * sizes), sets.c and lattice.c (sets of columns). Nothing depends on time, locale, threads or
 * addresses: equal input gives equal bytes. Cost: linear in the class sizes and the sets listed, plus 2^n for n ≤ 20
 * columns searched.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_error.h"
#include "kn_html.h"
#include "kn_report.h"

static kn_status check(const kn_report_input *in, kn_error *err)
{
    if (!in->diagnosis && !in->sets) return kn_fail(err, KN_USAGE, "report input: there is no diagnosis to report");
    if (in->diagnosis && in->quasi_count < 1)
        return kn_fail(err, KN_USAGE, "report input: the names of the quasi-identifiers are missing");
    if (in->sets && in->over_count < 1)
        return kn_fail(err, KN_USAGE, "report input: the names of the columns searched are missing");
    if (in->k < 0) return kn_fail(err, KN_USAGE, "k must be at least 1");
    return KN_OK;
}

/* A file without its folder: where somebody keeps their data is not the reader's business. */
static const char *shown_name(const char *path)
{
    if (strcmp(path, "-") == 0) return "standard input";
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void write_names(kn_buffer *to, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (i > 0) kn_buffer_add(to, ", ");
        kn_html_name(to, names[i]);
    }
}

static void write_heading(kn_buffer *to, const kn_report_input *in, const char *title)
{
    enum { MOST_FILES = 5 };
    kn_buffer_add(to, "<header>\n<h1>");
    kn_html_text(to, title);
    kn_buffer_add(to, "</h1>\n<p class=\"about\">");
    for (int i = 0; i < in->input_count && i < MOST_FILES; i++) {
        if (i > 0) kn_buffer_add(to, ", ");
        kn_html_name(to, shown_name(in->inputs[i]));
    }
    if (in->input_count > MOST_FILES) {
        kn_buffer_add(to, " and ");
        kn_html_integer(to, in->input_count - MOST_FILES);
        kn_buffer_add(to, " more");
    }
    if (in->input_count > 0) kn_buffer_add(to, " · ");
    kn_html_count(to, in->diagnosis ? in->diagnosis->rows : in->sets->rows, "row", "rows");
    kn_buffer_add(to, " · ");
    kn_html_count(to, in->diagnosis ? in->quasi_count : in->over_count, "quasi-identifier", "quasi-identifiers");
    if (in->entity) {
        kn_buffer_add(to, " · a person is a value of ");
        kn_html_name(to, in->entity);
    }
    kn_buffer_add(to, "</p>\n</header>\n");
}

static void write_columns(kn_buffer *to, const kn_report_input *in)
{
    kn_html_section(to, "What was looked at");
    if (in->diagnosis) {
        kn_buffer_add(to, "<p>Quasi-identifiers: ");
        write_names(to, in->quasi, in->quasi_count);
        kn_buffer_add(to, ".</p>\n");
    }
    if (in->sets) {
        kn_buffer_add(to, "<p>Combinations of: ");
        write_names(to, in->over, in->over_count);
        kn_buffer_add(to, ".</p>\n");
    }
    kn_html_section_end(to);
}

static void write_section(kn_buffer *to, const kn_report_section *s)
{
    static const char *const titles[] = {"Figure", "Value", "What it means"};
    bool                     words = false;
    for (int i = 0; i < s->figure_count; i++) words |= s->figures[i].meaning != NULL;
    kn_html_section(to, s->title);
    if (s->intro) {
        kn_buffer_add(to, "<p>");
        kn_html_text(to, s->intro);
        kn_buffer_add(to, "</p>\n");
    }
    kn_html_table t;
    if (s->figure_count > 0) {
        kn_html_table_begin(&t, to, words ? "lrw" : "lr", titles);
        for (int i = 0; i < s->figure_count; i++) {
            kn_html_table_row(&t);
            kn_html_table_cell(&t);
            kn_html_text(to, s->figures[i].name);
            kn_html_table_cell(&t);
            kn_html_text(to, s->figures[i].value);
            if (!words) continue;
            kn_html_table_cell(&t);
            kn_html_text(to, s->figures[i].meaning ? s->figures[i].meaning : "");
        }
        kn_html_table_end(&t);
    }
    kn_html_section_end(to);
}

static void write_footer(kn_buffer *to, const kn_report_input *in)
{
    kn_buffer_add(to, "<footer><p>Made by kanon");
    if (in->version) {
        kn_buffer_char(to, ' ');
        kn_html_text(to, in->version);
    }
    kn_buffer_add(to,
                  ". This page holds names of columns and counts, no value from the data; it loads nothing and sends "
                  "nothing.</p></footer>\n");
}

kn_status kn_report_render(kn_buffer *to, const kn_report_input *input, kn_error *err)
{
    KN_TRY(check(input, err));
    const char *title = input->title ? input->title : "Privacy report";
    kn_set_map  map;
    kn_status   st = kn_set_map_make(&map, to->ctx, input, err);
    if (st == KN_OK) {
        kn_html_begin(to, title);
        write_heading(to, input, title);
        kn_report_verdict(to, input);
        kn_report_tiles(to, input);
        kn_report_words(to, input);
        kn_html_notes(to, input->notes, input->note_count);
        if (input->diagnosis) {
            kn_report_histogram(to, input);
            kn_report_staircase(to, input);
        }
        kn_report_sets(to, &map);
        for (int i = 0; i < input->section_count; i++) write_section(to, &input->sections[i]);
        write_columns(to, input);
        kn_report_missing(to, input);
        write_footer(to, input);
        kn_html_end(to);
        if (to->failed) st = kn_fail_memory(err, to->ctx, "writing a report");
    }
    kn_set_map_free(&map);
    return st;
}
