/* distributions.c: the columns of a release before and after, as pictures: for the owner's page of every shape.
 *
 * Numbers and dates are drawn as a histogram, two bars for each range; other values line by line, the most frequent first. Every
 * picture has a title, a description and a table of the same figures. Cost: linear in the bars; columns beyond MOST_PICTURES
 * are listed without a picture, so that a page of a wide table stays small.
 *
 * Values of the data are on this page: they are escaped, and cut where they are long.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_release_distributions.h"
#include "kn_release_report.h"
#include "kn_report_words.h"
#include "kn_svg.h"

enum { MOST_PICTURES = 60 };

#define WIDE_LETTER 9.4 /* of a value, which may be written in capitals */

static double share(double part, int64_t whole)
{
    return whole > 0 ? part / (double)whole : 0;
}

static double before_of(const kn_release_distribution *d, const kn_release_bar *bar)
{
    return share((double)bar->before, d->before);
}

static double after_of(const kn_release_distribution *d, const kn_release_bar *bar)
{
    return share(bar->after, d->after);
}

/* Of the bars that are drawn: the others have figures only, which may dwarf every value. */
static double largest_share(const kn_release_distribution *d)
{
    double most = 0;
    for (int i = 0; i < d->bar_count; i++)
        if (d->bars[i].kind != KN_BAR_OTHERS)
            most = fmax(most, fmax(before_of(d, &d->bars[i]), after_of(d, &d->bars[i])));
    return most;
}

/* ---- Words ---- */

static bool is_value(const kn_release_bar *bar)
{
    return bar->kind == KN_BAR_VALUE || bar->kind == KN_BAR_RANGE;
}

/* What a bar stands for; of the others how many they are. */
static const char *bar_label(char *scratch, size_t size, const kn_release_distribution *d, const kn_release_bar *bar)
{
    static const char *const words[KN_BAR_KINDS] = {
        [KN_BAR_ABSENT] = "not in the original", [KN_BAR_MISSING] = "missing", [KN_BAR_STAR] = "*"};
    if (is_value(bar)) return bar->label && *bar->label ? bar->label : "(empty)";
    if (bar->kind != KN_BAR_OTHERS) return words[bar->kind];
    snprintf(scratch, size, "%lld others", (long long)d->folded);
    return scratch;
}

static void column_name(kn_buffer *to, const kn_release_distribution *d)
{
    if (d->table) {
        kn_html_name(to, d->table);
        kn_buffer_char(to, '.');
    }
    kn_html_name(to, d->name);
}

static void bar_title(kn_buffer *to, const kn_release_distribution *d, const kn_release_bar *bar)
{
    char scratch[40];
    kn_buffer_add(to, "<title>");
    kn_html_text(to, bar_label(scratch, sizeof scratch, d, bar));
    kn_buffer_add(to, ": before ");
    kn_html_percent(to, before_of(d, bar));
    kn_buffer_add(to, ", after ");
    kn_html_percent(to, after_of(d, bar));
    kn_buffer_add(to, "</title>");
}

static void titled_rect(kn_buffer *to, const char *fill, const kn_release_distribution *d, const kn_release_bar *bar,
                        double x, double y, double width, double height)
{
    kn_svg_rect_open(to, fill, x, y, width, height, 2);
    bar_title(to, d, bar);
    kn_buffer_add(to, "</rect>\n");
}

static void begin_picture(kn_buffer *to, const kn_release_distribution *d, bool wide, double width, double height)
{
    kn_buffer title;
    kn_buffer_init(&title, to->ctx);
    kn_buffer_format(&title, "%s%s%s before and after", d->table ? d->table : "", d->table ? "." : "", d->name);
    const char *text = kn_buffer_text(&title);
    to->failed = to->failed || !text;
    kn_svg_begin(to, wide ? "wide" : "narrow", width, height, text ? text : "",
                 d->ordered ? "Two bars for each number, date or range of them, in their order: its share "
                              "of the original and of the release. The table below has the same figures."
                            : "Two bars for each of the most frequent values: its share of the original and "
                              "of the release. The table below has the same figures.");
    kn_buffer_free(&title);
}

/* ---- Values line by line ---- */

static void draw_line(kn_buffer *to, const kn_release_distribution *d, const kn_release_bar *bar, double most, double y,
                      double left, double width, double column)
{
    enum { HEIGHT = 10 };
    char         scratch[40];
    double       end = width - 2 * column - 6;
    const double shares[] = {before_of(d, bar), after_of(d, bar)};
    kn_svg_text(to, is_value(bar) ? NULL : "m", KN_SVG_END, left - 10, y + 16);
    kn_html_text_fit(to, bar_label(scratch, sizeof scratch, d, bar), (int)((left - 12) / WIDE_LETTER));
    kn_svg_text_end(to);
    for (int which = 0; which < 2; which++) {
        bool   drawn = bar->kind != KN_BAR_OTHERS;
        double length = drawn && most > 0 ? (end - left) * shares[which] / most : 0;
        if (drawn && shares[which] > 0 && length < 2) length = 2;
        if (drawn) kn_svg_rect(to, "track", left, y + which * (HEIGHT + 1), end - left, HEIGHT, 2);
        if (length > 0)
            titled_rect(to, which == 0 ? "f3" : "f4", d, bar, left, y + which * (HEIGHT + 1), length, HEIGHT);
        kn_svg_text(to, which ? "b" : "m", KN_SVG_END, width - (1 - which) * column, y + 16);
        kn_html_percent(to, shares[which]);
        kn_svg_text_end(to);
    }
}

static void draw_lines(kn_buffer *to, const kn_release_distribution *d, bool wide)
{
    enum { TOP = 24, PITCH = 30 };
    double width = wide ? 760 : 340, left = wide ? 232 : 124, column = wide ? 80 : 66, most = largest_share(d);
    begin_picture(to, d, wide, width, TOP + d->bar_count * PITCH);
    kn_svg_label(to, "m s", KN_SVG_END, left - 10, 13, "Value");
    kn_svg_label(to, "m s", KN_SVG_END, width - column, 13, "Before");
    kn_svg_label(to, "m s", KN_SVG_END, width, 13, "After");
    for (int i = 0; i < d->bar_count; i++) draw_line(to, d, &d->bars[i], most, TOP + i * PITCH, left, width, column);
    kn_svg_end(to);
}

/* ---- A histogram ---- */

/* Where the bars of a histogram stand: first the values, then what is none. */
typedef struct frame {
    double width, left, bottom, height, pitch, rest, rest_pitch;
    int    values, others;
} frame;

static frame frame_of(const kn_release_distribution *d, bool wide)
{
    frame f = {.width = wide ? 760 : 340, .left = wide ? 62 : 56, .height = 150};
    for (int i = 0; i < d->bar_count; i++) is_value(&d->bars[i]) ? f.values++ : f.others++;
    f.bottom = 14 + f.height;
    f.rest_pitch = wide ? 76 : 58;
    f.rest = f.width - f.others * f.rest_pitch;
    f.pitch = f.values > 0 ? (f.rest - f.left) / f.values : 0;
    if (f.pitch > 70) f.pitch = 70;
    return f;
}

static void draw_scale(kn_buffer *to, const frame *f, double most)
{
    for (int i = 0; i <= 2; i++) {
        double y = f->bottom - f->height * i / 2;
        kn_svg_line(to, i ? "grid" : "axis", f->left, y, f->width, y);
        kn_svg_text(to, "m s", KN_SVG_END, f->left - 8, y + 4);
        kn_html_percent(to, most * i / 2);
        kn_svg_text_end(to);
    }
}

static void draw_pair(kn_buffer *to, const frame *f, const kn_release_distribution *d, const kn_release_bar *bar,
                      double most, double x, double pitch)
{
    const double shares[] = {before_of(d, bar), after_of(d, bar)};
    double       gap = pitch > 30 ? 4 : pitch > 12 ? 2 : 1, width = (fmin(pitch, 44) - gap) / 2;
    x += (pitch - 2 * width) / 2;
    for (int which = 0; which < 2; which++) {
        double height = most > 0 ? f->height * shares[which] / most : 0;
        if (shares[which] > 0 && height < 1) height = 1;
        if (height > 0)
            titled_rect(to, which == 0 ? "f3" : "f4", d, bar, x + which * width, f->bottom - height, width, height);
    }
}

/* An end of a bar: of a range its low or its high one. */
static void end_text(kn_buffer *to, const kn_release_bar *bar, bool high, int columns)
{
    static const char *const between[] = {"–", " to "};
    char                     text[64];
    const char              *from = bar->label;
    size_t                   size = strlen(from);
    for (int i = 0; bar->kind == KN_BAR_RANGE && i < 2; i++) {
        const char *at = strstr(bar->label, between[i]);
        if (!at) continue;
        if (high) from = at + strlen(between[i]);
        size = high ? strlen(from) : (size_t)(at - from);
        break;
    }
    snprintf(text, sizeof text, "%.*s", (int)size, from);
    kn_html_text_fit(to, text, columns);
}

/* The smallest and the largest number or date; each has half of the room. */
static void draw_ends(kn_buffer *to, const frame *f, const kn_release_distribution *d)
{
    double end = f->left + f->values * f->pitch, half = (end - f->left) / (f->values > 1 ? 2 : 1) - 6;
    int    columns = (int)(half / 6.8);
    if (f->values == 0) return;
    for (int i = 0; i < 2 && i < f->values; i++) {
        bool alone = f->values == 1;
        kn_svg_text(to, "m s",
                    alone    ? KN_SVG_MIDDLE
                    : i == 0 ? KN_SVG_START
                             : KN_SVG_END,
                    alone    ? f->left + f->pitch / 2
                    : i == 0 ? f->left
                             : end,
                    f->bottom + 17);
        end_text(to, &d->bars[i == 0 ? 0 : f->values - 1], i == 1, columns);
        kn_svg_text_end(to);
    }
}

static void draw_histogram(kn_buffer *to, const kn_release_distribution *d, bool wide)
{
    static const char *const words[KN_BAR_KINDS] = {
        [KN_BAR_OTHERS] = "others", [KN_BAR_ABSENT] = "absent", [KN_BAR_MISSING] = "missing", [KN_BAR_STAR] = "*"};
    frame  f = frame_of(d, wide);
    double most = largest_share(d);
    begin_picture(to, d, wide, f.width, f.bottom + 24);
    draw_scale(to, &f, most);
    for (int i = 0; i < d->bar_count; i++) {
        const kn_release_bar *bar = &d->bars[i];
        double                x = is_value(bar) ? f.left + i * f.pitch : f.rest + (i - f.values) * f.rest_pitch;
        draw_pair(to, &f, d, bar, most, x, is_value(bar) ? f.pitch : f.rest_pitch);
        if (!is_value(bar))
            kn_svg_label(to, "m s", KN_SVG_MIDDLE, x + f.rest_pitch / 2, f.bottom + 17, words[bar->kind]);
    }
    draw_ends(to, &f, d);
    kn_svg_end(to);
}

/* ---- The same as tables ---- */

static void cells(kn_buffer *to, double count)
{
    if (count == floor(count) && count < 9e15)
        kn_html_integer(to, (int64_t)count);
    else
        kn_html_decimal(to, count, 2);
}

static void bars_table(kn_buffer *to, const kn_release_distribution *d, const char *unit)
{
    char          before[40], after[40], scratch[40];
    kn_html_table t;
    snprintf(before, sizeof before, "%s before", unit);
    snprintf(after, sizeof after, "%s after", unit);
    kn_buffer_add(to, "<details><summary>The same as a table</summary>\n");
    kn_html_table_begin(&t, to, "lrrrr", (const char *const[]){"Value", before, "Share", after, "Share"});
    for (int i = 0; i < d->bar_count; i++) {
        const kn_release_bar *bar = &d->bars[i];
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        kn_html_name(to, bar_label(scratch, sizeof scratch, d, bar));
        kn_html_table_cell(&t);
        kn_html_integer(to, bar->before);
        kn_html_table_cell(&t);
        kn_html_percent(to, before_of(d, bar));
        kn_html_table_cell(&t);
        cells(to, bar->after);
        kn_html_table_cell(&t);
        kn_html_percent(to, after_of(d, bar));
    }
    kn_html_table_end(&t);
    kn_buffer_add(to, "</details>\n");
}

static void distance(kn_buffer *to, const kn_release_distribution *d)
{
    if (isnan(d->distance))
        kn_buffer_add(to, "nothing is left");
    else
        kn_html_percent(to, d->distance);
}

static void overview(kn_buffer *to, const kn_release_distributions *all, const char *what)
{
    kn_html_table t;
    kn_html_table_begin(&t, to, "lrlr", (const char *const[]){what, "Distance", "Role", "Different values"});
    for (int i = 0; i < all->count; i++) {
        const kn_release_distribution *d = &all->list[i];
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        column_name(to, d);
        kn_html_table_cell(&t);
        distance(to, d);
        kn_html_table_cell(&t);
        kn_html_text(to, kn_words_role(d->role));
        kn_html_table_cell(&t);
        kn_html_integer(to, d->values);
    }
    kn_html_table_end(&t);
}

/* ---- The section ---- */

static void key_item(kn_buffer *to, const char *fill, const char *text)
{
    kn_buffer_format(to,
                     "<li><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><rect class=\"%s\" width=\"16\" "
                     "height=\"16\" rx=\"4\"/></svg><span>%s</span></li>",
                     fill, text);
}

static void introduce(kn_buffer *to, const kn_release_distributions *all, const char *unit, bool records)
{
    kn_buffer_format(to,
                     "<p>The share of the %s that hold each value. A value of the release that stands for several, "
                     "an interval or a group, is shared by them evenly: the release does not say which it was. "
                     "Values that a hierarchy has and the original has not are together one bar.%s</p>\n"
                     "<p><b>Distance</b> is the share of the %s that would have to change to make the release look "
                     "like the original (total variation): 0\u00A0%% is the same, 100\u00A0%% nothing in common. "
                     "Where numbers and dates are drawn in ranges it is taken by range, elsewhere by value.</p>\n",
                     unit, records ? "" : " What shows <b>*</b> says nothing and has a bar of its own.", unit);
    if (all->stars > 0) {
        kn_buffer_add(to, "<p>");
        kn_html_count(to, all->stars, "node of the release shows * and is of no class any more: it is",
                      "nodes of the release show * and are of no class any more: they are");
        kn_buffer_add(to, " in no picture.</p>\n");
    }
}

static void draw_one(kn_buffer *to, const kn_release_distribution *d, const char *unit)
{
    kn_buffer_add(to, "<h3>");
    column_name(to, d);
    kn_buffer_add(to, " · distance ");
    distance(to, d);
    kn_buffer_add(to, "</h3>\n<figure>\n");
    for (int narrow = 0; narrow < 2; narrow++) (d->ordered ? draw_histogram : draw_lines)(to, d, narrow == 0);
    if (d->folded > 0) {
        kn_buffer_add(to, "<figcaption>The ");
        kn_html_integer(to, d->values - d->folded);
        kn_buffer_add(to, " most frequent of ");
        kn_html_count(to, d->values, "value; ", "values; ");
        kn_html_count(to, d->folded, "is folded into “others”, which has no bar.",
                      "are folded into “others”, which has no bar.");
        kn_buffer_add(to, "</figcaption>\n");
    }
    bars_table(to, d, unit);
    kn_buffer_add(to, "</figure>\n");
}

void kn_release_distribution_section(kn_buffer *to, const kn_release_head *head, bool records)
{
    const kn_release_distributions *all = head->distributions;
    const char                     *unit = records ? "nodes" : "cells", *title = records ? "Nodes" : "Cells";
    if (!head->found || !all) return;
    kn_html_section(to, records ? "Each class before and after" : "Each column before and after");
    if (all->count > 0) {
        introduce(to, all, unit, records);
        overview(to, all, records ? "Class" : "Column");
        kn_buffer_add(to, "<ul class=\"key\">");
        key_item(to, "f3", "before");
        key_item(to, "f4", "after");
        kn_buffer_add(to, "</ul>\n");
    }
    for (int i = 0; i < all->count && i < MOST_PICTURES; i++)
        if (all->list[i].bar_count > 0) draw_one(to, &all->list[i], title);
    if (all->count > MOST_PICTURES) {
        kn_buffer_add(to, "<p>The first ");
        kn_html_count(to, MOST_PICTURES, "column is", "columns are");
        kn_buffer_add(to, " drawn; the figures of all of them are in the private file.</p>\n");
    }
    if (all->left_out) {
        kn_buffer_add(to, "<p>");
        kn_html_text(to, all->left_out);
        kn_buffer_add(to, "</p>\n");
    }
    kn_html_section_end(to);
}
