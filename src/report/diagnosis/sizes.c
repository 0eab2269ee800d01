/* diagnosis/sizes.c: the pictures of one diagnosis: how many rows stand in classes of which size, and which k is reached
 * by removing how many rows.
 *
 * Sizes are put into bins of powers of two. The staircase keeps a step only where it moves the line by a pixel or so;
 * its first and its last step are always kept, so a million sizes make a picture of a few hundred points. Each picture is
 * drawn twice, for wide and for narrow screens. Cost: linear in the number of distinct sizes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kn_report.h"
#include "kn_svg.h"

int64_t kn_report_rows(const kn_diagnosis *d)
{
    int64_t rows = 0;
    for (int64_t i = 0; i < d->size_count; i++) rows += d->sizes[i].rows;
    return rows;
}

int64_t kn_report_removal(const kn_diagnosis *d, int64_t k)
{
    int64_t removed = 0;
    for (int64_t i = 0; i < d->size_count; i++) {
        if (d->sizes[i].size >= k) return removed;
        removed += d->sizes[i].rows;
    }
    return d->size_count == 0 ? 0 : -1;
}

const char *kn_report_unit(const kn_report_input *in, int64_t count)
{
    if (in->entity) return count == 1 ? "person" : "persons";
    return count == 1 ? "row" : "rows";
}

/* ---- Histogram ---- */

enum { MOST_BINS = 64 };

typedef struct bin {
    int64_t low, high; /* sizes */
    int64_t classes, rows;
    int64_t below; /* of the rows, in classes smaller than what was asked */
} bin;

typedef struct histogram {
    bin     bins[MOST_BINS];
    int     count;
    int64_t total, most; /* rows: in all, in the fullest bin */
    int64_t limit;       /* classes smaller than this are marked */
} histogram;

static void fill_histogram(histogram *h, const kn_report_input *in)
{
    const kn_diagnosis *d = in->diagnosis;
    *h = (histogram){.limit = in->k > 0 && !in->at_most ? in->k : 2};
    int64_t i = 0;
    for (int64_t low = 1; i < d->size_count; low *= 2) {
        bin b = {.low = low, .high = low > INT64_MAX / 2 ? INT64_MAX : low * 2 - 1};
        for (; i < d->size_count && d->sizes[i].size <= b.high; i++) {
            b.classes += d->sizes[i].classes;
            b.rows += d->sizes[i].rows;
            if (d->sizes[i].size < h->limit) b.below += d->sizes[i].rows;
        }
        h->total += b.rows;
        if (b.rows > h->most) h->most = b.rows;
        /* Empty bins below the smallest class say nothing. */
        if (b.classes > 0 || h->count > 0) h->bins[h->count++] = b;
        if (b.high == INT64_MAX) break;
    }
}

/* A long run of empty bins is shown as one line of dots. */
static bool skipped(const histogram *h, int i)
{
    return i > 0 && h->bins[i].classes == 0 && h->bins[i - 1].classes == 0;
}

static void bin_label(kn_buffer *to, const bin *b)
{
    kn_html_integer(to, b->low);
    if (b->high > b->low) {
        kn_buffer_add(to, "–");
        kn_html_integer(to, b->high);
    }
}

static int digits_of(int64_t value)
{
    int n = 1;
    for (; value >= 10; value /= 10) n++;
    return n + (n - 1) / 3;
}

static void bin_title(kn_buffer *to, const kn_report_input *in, const histogram *h, const bin *b)
{
    kn_buffer_add(to, "<title>");
    kn_html_count(to, b->classes, "class", "classes");
    kn_buffer_add(to, " of ");
    bin_label(to, b);
    kn_buffer_format(to, " %s: ", kn_report_unit(in, b->high));
    kn_html_count(to, b->rows, "row", "rows");
    kn_buffer_add(to, ", ");
    kn_html_share(to, b->rows, h->total);
    kn_buffer_add(to, " of all</title>");
}

/* One bar: what is below the limit first, then the rest. */
static void draw_bin(kn_buffer *to, const kn_report_input *in, const histogram *h, const bin *b, double x, double y,
                     double room)
{
    enum { HEIGHT = 18 };
    double length = h->most > 0 ? room * (double)b->rows / (double)h->most : 0;
    if (b->rows > 0 && length < 2) length = 2;
    double bad = b->rows > 0 ? length * (double)b->below / (double)b->rows : 0;
    kn_svg_rect(to, "track", x, y, room, HEIGHT, 3);
    if (bad > 0) {
        kn_svg_rect_open(to, "bad", x, y, bad, HEIGHT, 3);
        bin_title(to, in, h, b);
        kn_buffer_add(to, "</rect>\n");
    }
    if (bad < length) {
        double gap = bad > 0 && length - bad > 2 ? 1.5 : 0;
        kn_svg_rect_open(to, "bar", x + bad + gap, y, length - bad - gap, HEIGHT, 3);
        bin_title(to, in, h, b);
        kn_buffer_add(to, "</rect>\n");
    }
}

static void draw_row(kn_buffer *to, const kn_report_input *in, const histogram *h, const bin *b, double y, double left,
                     double width, bool wide)
{
    double end = width - (wide ? 190 : 76);
    kn_svg_text(to, b->classes ? NULL : "m", KN_SVG_END, left - 10, y + 14);
    bin_label(to, b);
    kn_svg_text_end(to);
    draw_bin(to, in, h, b, left, y, end - left);
    if (wide) {
        kn_svg_text(to, "m", KN_SVG_END, width - 74, y + 14);
        kn_html_integer(to, b->rows);
        kn_svg_text_end(to);
    }
    kn_svg_text(to, b->rows ? "b" : "m", KN_SVG_END, width, y + 14);
    kn_html_share(to, b->rows, h->total);
    kn_svg_text_end(to);
}

static void draw_histogram(kn_buffer *to, const kn_report_input *in, const histogram *h, bool wide)
{
    enum { TOP = 30, PITCH = 27 };
    double      width = wide ? 760 : 340;
    const bin  *last = &h->bins[h->count - 1];
    int         columns = digits_of(last->low) + (last->high > last->low ? 1 + digits_of(last->high) : 0);
    double      left = kn_svg_text_width(columns > 10 ? columns : 10) + 12;
    double      y = TOP;
    int         lines = 0;
    const char *what = in->missing == KN_MISSING_WILDCARD ? "Crowd size" : in->entity ? "Persons" : "Class size";
    for (int i = 0; i < h->count; i++) lines += !skipped(h, i);
    kn_svg_begin(to, wide ? "wide" : "narrow", width, TOP + lines * PITCH,
                 "How many rows stand in crowds of which size",
                 "A bar for each range of class sizes; its length is the number of rows in such classes.");
    kn_svg_label(to, "m s", KN_SVG_END, left - 10, 14, what);
    if (wide) kn_svg_label(to, "m s", KN_SVG_END, width - 74, 14, "Rows");
    kn_svg_label(to, "m s", KN_SVG_END, width, 14, "Share");
    for (int i = 0; i < h->count; i++) {
        if (skipped(h, i)) continue;
        bool run = h->bins[i].classes == 0 && i + 1 < h->count && h->bins[i + 1].classes == 0;
        if (run)
            kn_svg_label(to, "m", KN_SVG_END, left - 10, y + 14, "⋯");
        else
            draw_row(to, in, h, &h->bins[i], y, left, width, wide);
        y += PITCH;
    }
    kn_svg_end(to);
}

static void key_item(kn_buffer *to, const char *class_name)
{
    kn_buffer_format(to,
                     "<li><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><rect class=\"%s\" width=\"16\" "
                     "height=\"16\" rx=\"4\"/></svg><span>",
                     class_name);
}

static void histogram_key(kn_buffer *to, const kn_report_input *in, const histogram *h)
{
    const char *crowd = in->missing == KN_MISSING_WILDCARD ? "crowds" : "classes";
    kn_buffer_add(to, "<ul class=\"key\">");
    if (h->bins[0].below > 0) {
        key_item(to, "f0");
        if (h->limit == 2)
            kn_buffer_add(to, "rows that stand alone");
        else {
            kn_buffer_format(to, "rows in %s smaller than the ", crowd);
            kn_html_integer(to, h->limit);
            kn_buffer_add(to, " asked for");
        }
        kn_buffer_add(to, "</span></li>");
    }
    key_item(to, "f4");
    kn_buffer_add(to, h->limit == 2 ? "rows that share their looks with others" : "rows in crowds large enough");
    kn_buffer_add(to, "</span></li></ul>\n");
}

static void histogram_table(kn_buffer *to, const kn_report_input *in, const histogram *h)
{
    const char   *titles[] = {in->entity ? "Persons in the class" : "Size", "Classes", "Rows", "Share of rows"};
    kn_html_table t;
    kn_buffer_add(to, "<details><summary>The same as a table</summary>\n");
    kn_html_table_begin(&t, to, "rrrr", titles);
    for (int i = 0; i < h->count; i++) {
        if (h->bins[i].classes == 0) continue;
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        bin_label(to, &h->bins[i]);
        kn_html_table_cell(&t);
        kn_html_integer(to, h->bins[i].classes);
        kn_html_table_cell(&t);
        kn_html_integer(to, h->bins[i].rows);
        kn_html_table_cell(&t);
        kn_html_share(to, h->bins[i].rows, h->total);
    }
    kn_html_table_end(&t);
    kn_buffer_add(to, "</details>\n");
}

void kn_report_histogram(kn_buffer *to, const kn_report_input *in)
{
    histogram h;
    fill_histogram(&h, in);
    if (h.count == 0) return;
    kn_html_section(to, "How large are the crowds?");
    if (in->missing == KN_MISSING_WILDCARD)
        kn_buffer_add(to,
                      "<p>A row’s crowd are all the rows it may be confused with: those that agree on every "
                      "quasi-identifier, a missing cell agreeing with anything. The longer the bars at the top, the "
                      "more rows can be told apart from almost everybody else.</p>\n");
    else
        kn_buffer_add(
            to, "<p>Rows that look the same on the quasi-identifiers form a class: a crowd to hide in. The longer "
                "the bars at the top, the more rows stand in small crowds and are easy to find.</p>\n");
    kn_buffer_add(to, "<figure>\n");
    draw_histogram(to, in, &h, true);
    draw_histogram(to, in, &h, false);
    histogram_key(to, in, &h);
    kn_buffer_add(to, "</figure>\n");
    histogram_table(to, in, &h);
    kn_html_section_end(to);
}

/* ---- Staircase ---- */

enum { MOST_POINTS = 1200, MOST_TICKS = 8 };

/* The picture's frame: share of rows removed to the right, k upwards, k on a logarithmic scale. */
typedef struct frame {
    double  width, left, right, top, bottom;
    double  most;      /* share at the right edge */
    double  step;      /* between ticks           */
    double  low, high; /* log k at the bottom and the top */
    int64_t rows;
    bool    wide;
} frame;

static double x_of(const frame *f, int64_t removed)
{
    double share = f->rows > 0 ? (double)removed / (double)f->rows : 0;
    return f->left + (f->right - f->left) * share / f->most;
}

static double y_of(const frame *f, double k)
{
    return f->bottom - (f->bottom - f->top) * (log(k) - f->low) / (f->high - f->low);
}

/* A round step of which about five fit. */
static double round_step(double most)
{
    double power = 1e-6;
    while (power * 10 <= most / 5 * 1.0000001) power *= 10;
    if (power * 5 <= most / 5 * 1.0000001) return power * 5;
    if (power * 2 <= most / 5 * 1.0000001) return power * 2;
    return power;
}

static frame make_frame(const kn_report_input *in, double width, double height, bool wide)
{
    const kn_diagnosis *d = in->diagnosis;
    frame               f = {.width = width,
                             .left = wide ? 66 : 46,
                             .right = width - (wide ? 84 : 14),
                             .top = 40, /* below the title and the name of a line at the very top */
                             .bottom = height - 50,
                             .rows = kn_report_rows(d),
                             .wide = wide};
    int64_t             last = f.rows - d->sizes[d->size_count - 1].rows, top = d->sizes[d->size_count - 1].size;
    if (in->suppress_mode == KN_SUPPRESS_GIVEN && d->budget > last) last = d->budget;
    if (in->k > top) top = in->k;
    double share = (double)last / (double)f.rows;
    f.step = round_step(share > 1e-5 ? share : 1e-5);
    f.most = ceil(share / f.step - 1e-9) * f.step;
    if (f.most < f.step) f.most = f.step;
    /* The width of the numbers on both sides. */
    double number = kn_svg_text_width(digits_of(top));
    if (number + 18 > f.left) f.left = number + 18;
    if (wide && number + 58 > width - f.right) f.right = width - number - 58;
    f.low = log((double)d->sizes[0].size);
    f.high = log((double)top);
    if (f.high - f.low < 0.1) f.high = f.low + 0.1;
    return f;
}

/* 1, 2, 5, 10, ... between the ends; powers of ten alone, or every second one, where those are too many. */
static int k_ticks(int64_t *ticks, int64_t low, int64_t high)
{
    static const int64_t leading[] = {1, 2, 5};
    for (int kind = 0; kind < 6; kind++) {
        int     n = 0, decade = 0;
        int64_t power = 1;
        for (;; power *= 10, decade++) {
            for (int i = 0; i < (kind == 0 ? 3 : 1); i++) {
                if (power > INT64_MAX / leading[i]) continue;
                int64_t tick = power * leading[i];
                if (tick < low || tick > high || (kind > 1 && decade % kind != 0)) continue;
                if (n < MOST_TICKS) ticks[n] = tick;
                n++;
            }
            if (power > high / 10) break;
        }
        if (n <= MOST_TICKS && n >= 3) return n;
        if (n < 3) break;
    }
    ticks[0] = low;
    ticks[1] = high;
    return 2;
}

static void draw_k_axis(kn_buffer *to, const frame *f, const kn_diagnosis *d)
{
    int64_t ticks[MOST_TICKS];
    int     n = k_ticks(ticks, d->sizes[0].size, llround(exp(f->high)));
    for (int i = 0; i < n; i++) {
        double y = y_of(f, (double)ticks[i]);
        kn_svg_line(to, "grid", f->left, y, f->right, y);
        kn_svg_text(to, "m", KN_SVG_END, f->left - 9, y + 4.5);
        kn_html_integer(to, ticks[i]);
        kn_svg_text_end(to);
        if (!f->wide) continue;
        kn_svg_text(to, "m", KN_SVG_START, f->right + 10, y + 4.5);
        kn_buffer_add(to, "1 in ");
        kn_html_integer(to, ticks[i]);
        kn_svg_text_end(to);
    }
    kn_svg_label(to, "m s", KN_SVG_START, 0, 12, "Smallest crowd left (k)");
    if (f->wide) kn_svg_label(to, "m s", KN_SVG_END, f->width, 12, "Highest risk left");
}

static void draw_share_axis(kn_buffer *to, const frame *f)
{
    int digits = 0;
    for (double step = f->step * 100; step < 0.9999999 && digits < 4; step *= 10) digits++;
    int count = (int)lround(f->most / f->step);
    int every = !f->wide && count > 5 ? 2 : 1;
    for (int i = 0; i <= count; i += every) {
        double x = f->left + (f->right - f->left) * i / count;
        kn_svg_line(to, "axis", x, f->bottom, x, f->bottom + 5);
        /* On a narrow screen the last label leans against the edge. */
        bool edge = i == count && !f->wide;
        kn_svg_text(to, "m", edge ? KN_SVG_END : KN_SVG_MIDDLE, edge ? f->width : x, f->bottom + 20);
        kn_html_decimal(to, i * f->step * 100, i == 0 ? 0 : digits);
        kn_buffer_add(to, "\u00A0%");
        kn_svg_text_end(to);
    }
    kn_svg_line(to, "axis", f->left, f->bottom, f->right, f->bottom);
    kn_svg_label(to, "m s", KN_SVG_END, f->right, f->bottom + 42, "Share of the rows removed");
}

/* The steps as points, thinned to what the eye can tell apart. */
static int64_t thin_steps(kn_svg_point *points, const frame *f, const kn_diagnosis *d)
{
    int64_t count = 0, removed = 0;
    for (int64_t i = 0; i < d->size_count; i++) {
        kn_svg_point p = {x_of(f, removed), y_of(f, (double)d->sizes[i].size)};
        removed += d->sizes[i].rows;
        bool end = i == 0 || i + 1 == d->size_count;
        bool near = count > 0 && p.x - points[count - 1].x < 0.7 && points[count - 1].y - p.y < 0.7;
        if (!end && (near || count + 1 >= MOST_POINTS)) continue;
        points[count++] = p;
    }
    return count;
}

/* A dot and what it costs, beside it on a side with space. */
static void dot_label(kn_buffer *to, const frame *f, double x, double y, bool ok, int64_t removed)
{
    double length = kn_svg_text_width(digits_of(removed) + 22), at = x + 12;
    if (at + length > f->right) at = x - 12 - length >= f->left ? x - 12 - length : f->right - length;
    if (at < f->left) at = f->left;
    kn_svg_circle(to, ok ? "dot ok" : "dot", x, y, 5.5);
    kn_svg_text(to, "b halo", KN_SVG_START, at, y + 26 > f->bottom ? y - 28 : y + 21);
    kn_buffer_add(to, "remove ");
    kn_html_count(to, removed, "row", "rows");
    kn_buffer_add(to, " (");
    kn_html_share(to, removed, f->rows);
    kn_buffer_add(to, ")");
    kn_svg_text_end(to);
}

/* The k asked for as a line, named at the end that the staircase leaves free, and where the staircase meets it. */
static void draw_asked(kn_buffer *to, const kn_report_input *in, const frame *f)
{
    const kn_diagnosis *d = in->diagnosis;
    int64_t             removed = kn_report_removal(d, in->k);
    double              x = removed < 0 ? f->right : x_of(f, removed), y = y_of(f, (double)in->k);
    bool                right = x < (f->left + f->right) / 2;
    kn_svg_line(to, "ask", f->left, y, f->right, y);
    kn_svg_text(to, "b asktext halo", right ? KN_SVG_END : KN_SVG_START, right ? f->right - 4 : f->left + 8, y - 8);
    kn_buffer_add(to, "asked: k = ");
    kn_html_integer(to, in->k);
    kn_svg_text_end(to);
    if (removed >= 0) dot_label(to, f, x, y, in->suppress_mode == KN_SUPPRESS_ASKED || d->holds, removed);
}

/* What is allowed and what was asked for. */
static void draw_marks(kn_buffer *to, const kn_report_input *in, const frame *f)
{
    const kn_diagnosis *d = in->diagnosis;
    if (in->suppress_mode == KN_SUPPRESS_GIVEN && d->budget > 0) {
        double x = x_of(f, d->budget);
        bool   left = x > (f->left + f->right) / 2;
        kn_svg_line(to, "allow", x, f->top - 6, x, f->bottom);
        kn_svg_text(to, "m halo", left ? KN_SVG_END : KN_SVG_START, left ? x - 7 : x + 7, f->bottom - 8);
        kn_buffer_add(to, "allowed: ");
        kn_html_share(to, d->budget, f->rows);
        kn_svg_text_end(to);
    }
    if (in->k > d->sizes[0].size)
        draw_asked(to, in, f);
    else if (d->suppressed > 0)
        dot_label(to, f, x_of(f, d->suppressed), y_of(f, (double)d->k_after), true, d->suppressed);
}

static void draw_staircase(kn_buffer *to, const kn_report_input *in, bool wide)
{
    double       width = wide ? 760 : 340, height = wide ? 360 : 300;
    frame        f = make_frame(in, width, height, wide);
    kn_svg_point points[MOST_POINTS];
    int64_t      count = thin_steps(points, &f, in->diagnosis);
    kn_svg_begin(
        to, wide ? "wide" : "narrow", width, height, "What removing rows reaches",
        "A staircase: the more of the rows in small classes are removed, the larger is the smallest class left.");
    draw_k_axis(to, &f, in->diagnosis);
    draw_share_axis(to, &f);
    kn_svg_steps(to, "area", points, count, f.right, f.bottom);
    kn_svg_steps(to, "curve", points, count, f.right, (double)NAN);
    draw_marks(to, in, &f);
    kn_svg_end(to);
}

/* The k people usually ask for and the one asked for, ascending; those below the table's own cost nothing. */
static int usual_k(int64_t *out, const kn_report_input *in)
{
    static const int64_t usual[] = {2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, INT64_MAX};
    const kn_diagnosis  *d = in->diagnosis;
    int                  n = 0;
    bool                 open = in->k > d->k;
    for (int i = 0; i < 11; i++) {
        if (open && in->k <= usual[i]) {
            out[n++] = in->k;
            open = false;
        }
        if (usual[i] > d->k && usual[i] != in->k && kn_report_removal(d, usual[i]) >= 0) out[n++] = usual[i];
    }
    return n;
}

static void staircase_table(kn_buffer *to, const kn_report_input *in)
{
    const char   *titles[] = {"Everybody hides among at least", "Rows to remove", "Share of rows"};
    int64_t       ks[12], rows = kn_report_rows(in->diagnosis);
    int           n = usual_k(ks, in);
    kn_html_table t;
    if (n == 0) return;
    kn_html_table_begin(&t, to, "rrr", titles);
    for (int i = 0; i < n; i++) {
        int64_t removed = kn_report_removal(in->diagnosis, ks[i]);
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        kn_buffer_add(to, ks[i] == in->k ? "asked: " : "");
        kn_html_integer(to, ks[i]);
        kn_html_table_cell(&t);
        kn_html_integer(to, removed < 0 ? rows : removed);
        kn_html_table_cell(&t);
        kn_html_share(to, removed < 0 ? rows : removed, rows);
    }
    kn_html_table_end(&t);
}

void kn_report_staircase(kn_buffer *to, const kn_report_input *in)
{
    const kn_diagnosis *d = in->diagnosis;
    if (d->size_count == 0) return;
    kn_html_section(to, "What would removing rows reach?");
    if (in->missing == KN_MISSING_WILDCARD) {
        kn_buffer_add(to,
                      "<p>Not drawn: where missing cells agree with anything, crowds overlap, and removing some rows "
                      "makes others stand out.</p>\n");
    } else if (d->size_count == 1) {
        kn_buffer_add(to, "<p>Nothing: all classes have the same size, ");
        kn_html_count(to, d->k, kn_report_unit(in, 1), kn_report_unit(in, 2));
        kn_buffer_add(to, ". Removing some of them leaves the smallest crowd as it is.</p>\n");
    } else {
        kn_buffer_add(
            to, "<p>Taking out the rows in the smallest crowds makes the smallest crowd left larger. Each step of "
                "the line is a class size: follow it to the right to see how many rows it costs to go up.");
        kn_buffer_add(to, in->entity ? "</p>\n<figure>\n"
                                     : " Somebody who finds a crowd of k guesses right with a chance of 1 in "
                                       "k.</p>\n<figure>\n");
        draw_staircase(to, in, true);
        draw_staircase(to, in, false);
        kn_buffer_add(to, "<figcaption>The scale on the left is logarithmic: equal distances mean equal "
                          "factors.</figcaption>\n</figure>\n");
        staircase_table(to, in);
    }
    kn_html_section_end(to);
}
