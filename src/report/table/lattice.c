/* table/lattice.c: the lattice of a release as pictures: how far each column was taken, and where the chosen
 * node stands among all others.
 *
 * A node is one level per quasi-identifier; its height is their sum. A small lattice is drawn whole, a row per height, the
 * most general node at the top, lines between nodes one step apart. A larger one is summed up: a bar per height (or per few
 * heights) with the number of its nodes, which is a product of polynomials, so that 10^20 nodes cost no more than ten.
 * Minimal good nodes are shown where the run listed them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "kn_release_report.h"
#include "kn_svg.h"

enum { MOST_NODES = 64, MOST_HEIGHT = 1024, MOST_BARS = 26, MOST_BOXES = 24 };

static bool has_levels(const kn_release_result *r)
{
    if (!r->found || r->level_count == 0 || r->level_count != r->attribute_count) return false;
    for (int i = 0; i < r->attribute_count; i++)
        if (r->attributes[i].height < 0 || r->levels[i] < 0 || r->levels[i] > r->attributes[i].height) return false;
    return true;
}

static int height_of(const int *levels, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) sum += levels[i];
    return sum;
}

static int top_height(const kn_release_result *r)
{
    int sum = 0;
    for (int i = 0; i < r->attribute_count; i++) sum += r->attributes[i].height;
    return sum;
}

/* ---- The levels of each column ---- */

static void ladder_row(kn_buffer *to, const kn_release_attribute *a, int level, double left, double room, double y)
{
    int    shown = a->height + 1 > MOST_BOXES ? MOST_BOXES : a->height + 1;
    double pitch = room / shown < 44 ? room / shown : 44;
    /* Where not every level has a box of its own, a box stands for several. */
    for (int i = 0; i < shown; i++) {
        int  from = i * (a->height + 1) / shown, next = (i + 1) * (a->height + 1) / shown;
        bool here = level >= from && level < next;
        kn_svg_rect_open(to, here ? "f4" : next <= level ? "f3" : "track", left + i * pitch, y, pitch - 3, 22, 4);
        kn_buffer_format(to, "<title>level %d</title></rect>\n", here ? level : from);
        if (!here) continue;
        kn_svg_text(to, "i4 b", KN_SVG_MIDDLE, left + i * pitch + (pitch - 3) / 2, y + 15.5);
        if (pitch > 24) kn_buffer_format(to, "%d", level);
        kn_svg_text_end(to);
    }
    kn_svg_text(to, "m", KN_SVG_START, left + shown * pitch + 7, y + 15.5);
    kn_buffer_format(to, "%d of %d", level, a->height);
    kn_svg_text_end(to);
}

static void ladder(kn_buffer *to, const kn_release_result *r, bool wide)
{
    enum { PITCH = 30 };
    double width = wide ? 760 : 340, left = wide ? 210 : 116;
    kn_svg_begin(to, wide ? "wide" : "narrow", width, r->attribute_count * PITCH, "The level of each column",
                 "A row of boxes for each column, one per level from the values themselves to nothing at all; the "
                 "chosen level is filled.");
    for (int i = 0; i < r->attribute_count; i++) {
        kn_svg_text(to, NULL, KN_SVG_END, left - 10, i * PITCH + 15.5);
        kn_html_text_fit(to, r->attributes[i].name, (int)((left - 12) / 7.4));
        kn_svg_text_end(to);
        ladder_row(to, &r->attributes[i], r->levels[i], left, width - left - 66, i * PITCH);
    }
    kn_svg_end(to);
}

/* ---- The whole lattice ---- */

typedef struct picture {
    const kn_release_result *r;
    int                      nodes, height;
    double                   x[MOST_NODES], y[MOST_NODES]; /* middle of a box */
    double                   box, width, bottom;
} picture;

/* The level of one column in a node; nodes are numbered with the last column running fastest. */
static int level_in(const kn_release_result *r, int node, int column)
{
    for (int i = r->attribute_count - 1; i > column; i--) node /= r->attributes[i].height + 1;
    return node % (r->attributes[column].height + 1);
}

static int node_height(const kn_release_result *r, int node)
{
    int sum = 0;
    for (int i = 0; i < r->attribute_count; i++) sum += level_in(r, node, i);
    return sum;
}

static int node_number(const kn_release_result *r, const int *levels)
{
    int node = 0;
    for (int i = 0; i < r->attribute_count; i++) node = node * (r->attributes[i].height + 1) + levels[i];
    return node;
}

static int text_columns(const kn_release_result *r)
{
    int columns = r->attribute_count - 1;
    for (int i = 0; i < r->attribute_count; i++)
        columns += r->attributes[i].height >= 100 ? 3 : r->attributes[i].height >= 10 ? 2 : 1;
    return columns;
}

/* Places the boxes; false where the lattice is too large to be drawn. */
static bool place(picture *p, const kn_release_result *r)
{
    enum { PITCH = 66, LEFT = 64, WIDTH = 940, GAP = 8 };
    int per_height[MOST_NODES] = {0}, placed[MOST_NODES] = {0}, most = 0;
    *p = (picture){.r = r, .nodes = 1, .height = top_height(r), .width = WIDTH};
    for (int i = 0; i < r->attribute_count; i++) {
        p->nodes *= r->attributes[i].height + 1;
        if (p->nodes > MOST_NODES) return false;
    }
    p->box = kn_svg_text_width(text_columns(r)) + 16;
    for (int n = 0; n < p->nodes; n++) {
        int h = node_height(r, n);
        if (++per_height[h] > most) most = per_height[h];
    }
    if (p->nodes < 2 || most * (p->box + GAP) > WIDTH - LEFT) return false;
    for (int n = 0; n < p->nodes; n++) {
        int    h = node_height(r, n);
        double pitch = (WIDTH - LEFT) / per_height[h];
        if (pitch > p->box + 70) pitch = p->box + 70;
        double start = LEFT + (WIDTH - LEFT - pitch * per_height[h]) / 2;
        p->x[n] = start + pitch * (placed[h]++ + 0.5);
        p->y[n] = 20 + (p->height - h) * PITCH;
    }
    p->bottom = 20 + p->height * PITCH + 24;
    return true;
}

static void draw_lines(kn_buffer *to, const picture *p)
{
    for (int n = 0; n < p->nodes; n++) {
        int step = 1;
        for (int i = p->r->attribute_count - 1; i >= 0; i--) {
            if (level_in(p->r, n, i) < p->r->attributes[i].height)
                kn_svg_line(to, "e", p->x[n], p->y[n] - 14, p->x[n + step], p->y[n + step] + 14);
            step *= p->r->attributes[i].height + 1;
        }
    }
}

static bool coarser(const picture *p, int node)
{
    for (int i = 0; i < p->r->attribute_count; i++)
        if (level_in(p->r, node, i) < p->r->levels[i]) return false;
    return true;
}

static bool listed(const picture *p, int node)
{
    for (int64_t s = 0; s < p->r->solution_count; s++)
        if (node_number(p->r, p->r->solutions[s].levels) == node) return true;
    return false;
}

/* The kinds of node, in the order of the key. */
typedef enum kind { CHOSEN, MINIMAL, COARSER, OTHER, KINDS } kind;

static kind kind_of(const picture *p, int node)
{
    if (node == node_number(p->r, p->r->levels)) return CHOSEN;
    if (listed(p, node)) return MINIMAL;
    return coarser(p, node) ? COARSER : OTHER;
}

static void draw_node(kn_buffer *to, const picture *p, int node)
{
    static const char *const groups[] = {"n border", "n", "n", "n u"}, *const fills[] = {"f4", "f3", "f2", "fu"},
                             *const inks[] = {"i4 b", "i3", "i2", "m"};
    kind                            k = kind_of(p, node);
    kn_buffer_format(to, "<g class=\"%s\"><title>", groups[k]);
    for (int i = 0; i < p->r->attribute_count; i++) {
        if (i > 0) kn_buffer_add(to, ", ");
        kn_html_text(to, p->r->attributes[i].name);
        kn_buffer_format(to, " %d", level_in(p->r, node, i));
    }
    kn_buffer_add(to, "</title>");
    kn_svg_rect(to, fills[k], p->x[node] - p->box / 2, p->y[node] - 14, p->box, 28, 8);
    kn_svg_text(to, inks[k], KN_SVG_START, p->x[node], p->y[node] + 4.5);
    for (int i = 0; i < p->r->attribute_count; i++) kn_buffer_format(to, i ? ",%d" : "%d", level_in(p->r, node, i));
    kn_svg_text_end(to);
    kn_buffer_add(to, "</g>\n");
}

static void key_item(kn_buffer *to, const char *fill, const char *text)
{
    kn_buffer_format(to,
                     "<li><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><rect class=\"%s\" width=\"16\" "
                     "height=\"16\" rx=\"4\"/></svg><span>%s</span></li>",
                     fill, text);
}

static void draw_whole(kn_buffer *to, const picture *p)
{
    bool seen[KINDS] = {false};
    kn_buffer_add(to, "<figure>\n<div class=\"scroll\">\n");
    kn_svg_begin(
        to, "keep", p->width, p->bottom, "All choices of levels",
        "A box for each choice of one level per column; the most general stands at the top. Lines join choices "
        "that differ by one step in one column.");
    draw_lines(to, p);
    for (int h = 0; h <= p->height; h++) {
        char text[32];
        snprintf(text, sizeof text, "height %d", h);
        kn_svg_label(to, "m s", KN_SVG_START, 0, 20 + (p->height - h) * 66 + 4, text);
    }
    for (int n = 0; n < p->nodes; n++) {
        draw_node(to, p, n);
        seen[kind_of(p, n)] = true;
    }
    kn_svg_end(to);
    kn_buffer_add(to, "</div>\n<ul class=\"key\">");
    key_item(to, "f4", "chosen");
    if (seen[MINIMAL]) key_item(to, "f3", "keeps the promises too, and none below it does");
    if (seen[COARSER]) key_item(to, "f2", "blurs at least as much as the chosen one in every column");
    if (seen[OTHER]) key_item(to, "fu", "other choices");
    kn_buffer_add(to, "</ul>\n");
    kn_buffer_add(to, "<figcaption>The numbers are the levels of the columns in the order above; height is their "
                      "sum.</figcaption>\n</figure>\n");
}

/* ---- A bar per height ---- */

/* counts[h]: how many nodes have height h. */
static void count_heights(double *counts, const kn_release_result *r)
{
    int top = 0;
    counts[0] = 1;
    for (int i = 0; i < r->attribute_count; i++) {
        int height = r->attributes[i].height;
        for (int h = top + 1; h <= top + height; h++) counts[h] = 0;
        top += height;
        /* A running sum from the highest down: every node gets 0 .. height steps more. */
        for (int h = top; h >= 0; h--) {
            double sum = 0;
            for (int step = 0; step <= height && step <= h; step++) sum += counts[h - step];
            counts[h] = sum;
        }
    }
}

typedef struct bars {
    int    count, per_bar, chosen;
    double nodes[MOST_BARS], most;
    double minimal[MOST_BARS];
} bars;

static void fill_bars(bars *b, const kn_release_result *r, const double *counts, int top)
{
    *b = (bars){.per_bar = (top + MOST_BARS) / MOST_BARS};
    b->count = top / b->per_bar + 1;
    for (int h = 0; h <= top; h++) b->nodes[h / b->per_bar] += counts[h];
    for (int i = 0; i < b->count; i++) b->most = fmax(b->most, b->nodes[i]);
    b->chosen = height_of(r->levels, r->level_count) / b->per_bar;
    for (int64_t s = 0; s < r->solution_count; s++)
        b->minimal[height_of(r->solutions[s].levels, r->level_count) / b->per_bar]++;
}

/* 12,345 or, where that is long, 3.5e19. */
static void short_count(kn_buffer *to, double value)
{
    if (value < 1e7) {
        kn_html_integer(to, (int64_t)value);
        return;
    }
    int exponent = (int)floor(log10(value));
    kn_html_decimal(to, value / pow(10, exponent), 1);
    kn_buffer_format(to, "e%d", exponent);
}

static void draw_bars(kn_buffer *to, const bars *b, int top, bool wide)
{
    enum { TOP = 26, PITCH = 25 };
    double width = wide ? 760 : 340, left = wide ? 96 : 72, end = width - (wide ? 240 : 146);
    kn_svg_begin(to, wide ? "wide" : "narrow", width, TOP + b->count * PITCH, "Choices of levels by height",
                 "A bar for each height: how many choices of levels have it. The bar of the chosen one is filled.");
    kn_svg_label(to, "m s", KN_SVG_END, left - 10, 14, "Height");
    kn_svg_label(to, "m s", KN_SVG_START, end + 10, 14, "Choices");
    for (int i = 0; i < b->count; i++) {
        double y = TOP + (b->count - 1 - i) * PITCH, length = (end - left) * b->nodes[i] / b->most;
        int    from = i * b->per_bar, to_height = (i + 1) * b->per_bar - 1 > top ? top : (i + 1) * b->per_bar - 1;
        kn_svg_text(to, i == b->chosen ? "b" : NULL, KN_SVG_END, left - 10, y + 13);
        kn_buffer_format(to, to_height > from ? "%d–%d" : "%d", from, to_height);
        kn_svg_text_end(to);
        kn_svg_rect(to, "track", left, y, end - left, 17, 3);
        kn_svg_rect(to, i == b->chosen ? "f4" : "f3", left, y, length > 2 ? length : 2, 17, 3);
        kn_svg_text(to, i == b->chosen ? "b" : "m", KN_SVG_START, end + 10, y + 13);
        short_count(to, b->nodes[i]);
        if (b->minimal[i] > 0 && wide) {
            kn_buffer_add(to, " · ");
            short_count(to, b->minimal[i]);
            kn_buffer_add(to, " minimal");
        }
        if (i == b->chosen) kn_buffer_add(to, " · chosen");
        kn_svg_text_end(to);
    }
    kn_svg_end(to);
}

static void draw_summary(kn_buffer *to, const kn_release_result *r)
{
    double counts[MOST_HEIGHT + 1];
    int    top = top_height(r);
    bars   b;
    if (top > MOST_HEIGHT) return;
    count_heights(counts, r);
    fill_bars(&b, r, counts, top);
    kn_buffer_add(to, "<figure>\n");
    draw_bars(to, &b, top, true);
    draw_bars(to, &b, top, false);
    kn_buffer_add(to, "<figcaption>Height is the sum of the levels: 0 leaves every column as it is, the highest shows "
                      "nothing of any.");
    if (r->solution_count > 0)
        kn_buffer_add(to, " Minimal are those that keep every promise while none below them does.");
    kn_buffer_add(to, "</figcaption>\n</figure>\n");
}

void kn_release_lattice(kn_buffer *to, const kn_release_page *page)
{
    const kn_release_result *r = page->result;
    picture                  p;
    if (!has_levels(r)) return;
    kn_html_section(to, "Where the release stands among all choices");
    kn_buffer_add(to,
                  "<p>Every column is shown at one level for all rows. Level 0 is the value itself; each step joins "
                  "values, and the last shows nothing.</p>\n<figure>\n");
    ladder(to, r, true);
    ladder(to, r, false);
    kn_buffer_add(to, "</figure>\n<p>Together they are one of ");
    kn_release_figure(to, r->lattice > 0 ? r->lattice : 1);
    kn_buffer_add(to, r->lattice > 1 ? " choices" : " choice");
    if (r->solution_count > 0) {
        kn_buffer_add(to, "; ");
        kn_html_count(to, r->solution_count, "choice keeps", "choices keep");
        kn_buffer_add(to, " the promises without any finer one doing so");
    }
    kn_buffer_add(to, ".</p>\n");
    if (place(&p, r))
        draw_whole(to, &p);
    else
        draw_summary(to, r);
    kn_html_section_end(to);
}
