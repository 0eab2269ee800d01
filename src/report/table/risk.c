/* table/risk.c: risk and class sizes of a release, before and after.
 *
 * Everything follows from the two lists of class sizes: a record's risk is 1 / (size of its class), so the average is
 * classes / records and the highest 1 / k. Sizes are put into bins of powers of two. Cost: linear in the distinct sizes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_release_report.h"
#include "kn_svg.h"

enum { MOST_BINS = 64 };

/* A class smaller than this is too small; where no crowd was asked for, one that stands alone. */
static int64_t enough(const kn_release_page *page)
{
    return page->asked < 2 ? 2 : page->asked;
}

/* What a list of class sizes says. */
typedef struct summary {
    int64_t rows, records, classes; /* records: persons where an entity is given */
    int64_t below;                  /* rows in classes that are too small        */
    int64_t unique;                 /* rows of records that stand alone          */
    int64_t k;
} summary;

static summary sum_up(const kn_size_count *sizes, int count, int64_t asked)
{
    summary s = {.k = count > 0 ? sizes[0].size : 0};
    for (int i = 0; i < count; i++) {
        s.rows += sizes[i].rows;
        s.records += sizes[i].size * sizes[i].classes;
        s.classes += sizes[i].classes;
        if (sizes[i].size < asked) s.below += sizes[i].rows;
        if (sizes[i].size == 1) s.unique += sizes[i].rows;
    }
    return s;
}

/* ---- Figures ---- */

typedef enum figure { ROWS, CLASSES, SMALLEST, HIGHEST, AVERAGE, BELOW, UNIQUE, FIGURES } figure;

static void write_figure(kn_buffer *to, const summary *s, figure f)
{
    switch (f) {
    case ROWS: kn_html_integer(to, s->rows); break;
    case CLASSES: kn_html_integer(to, s->classes); break;
    case SMALLEST: kn_html_integer(to, s->k); break;
    case HIGHEST: kn_html_percent(to, s->k > 0 ? 1.0 / (double)s->k : 0); break;
    case AVERAGE: kn_html_percent(to, s->records > 0 ? (double)s->classes / (double)s->records : 0); break;
    case BELOW: kn_html_share(to, s->below, s->rows); break;
    default: kn_html_share(to, s->unique, s->rows); break;
    }
}

/* Are those who stand in classes persons? In a database they are; of one table they are rows, also where classes count
 * persons. */
static bool of_persons(const kn_release_page *page)
{
    return kn_spec_shape(page->spec) == KN_SHAPE_DATABASE;
}

static void figure_name(kn_buffer *to, const kn_release_page *page, figure f)
{
    static const char *const names[] = {" that are shown", "Classes", "Smallest class (k)", "Highest risk",
                                        "Average risk",    NULL,      " that stand alone"};
    if (f == ROWS || f == BELOW || f == UNIQUE) kn_buffer_add(to, of_persons(page) ? "Persons" : "Rows");
    if (f != BELOW) {
        kn_html_text(to, names[f]);
        return;
    }
    kn_buffer_add(to, " in classes smaller than ");
    kn_html_integer(to, page->asked);
}

void kn_release_risk(kn_buffer *to, const kn_release_page *page)
{
    static const char *const titles[] = {"Figure", "Before", "After", "What it means"};
    bool                     persons = of_persons(page);
    const char *const        meanings[] = {
               persons ? "Those left out are not among them." : "Suppressed rows are not among them.",
        "Different looks on the quasi-identifiers.",
        "The smallest crowd that somebody hides in.",
        persons              ? "The chance to pick the right one of the smallest class."
        : page->spec->entity ? "1 divided by the persons in the smallest class."
                             : "The chance to pick the right row of the smallest class.",
        "Of a hundred people looked for, so many would be found.",
        "How many are easier to find than was asked for.",
        "Whoever knows their quasi-identifiers finds them for sure.",
    };
    const kn_release_result *r = page->result;
    summary                  before = sum_up(r->head.sizes_before, r->head.size_count_before, enough(page));
    summary                  after = sum_up(r->head.sizes, r->head.size_count, enough(page));
    kn_html_table            t;
    if (r->head.size_count_before == 0) return;
    kn_html_section(to, "How likely is somebody found?");
    kn_html_table_begin(&t, to, r->head.found ? "lrrw" : "lrw",
                        r->head.found ? titles : (const char *[]){"Figure", "Now", titles[3]});
    for (int f = 0; f < FIGURES; f++) {
        if (f == BELOW && page->asked < 2) continue;
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        figure_name(to, page, (figure)f);
        kn_html_table_cell(&t);
        write_figure(to, &before, (figure)f);
        if (r->head.found) {
            kn_html_table_cell(&t);
            write_figure(to, &after, (figure)f);
        }
        kn_html_table_cell(&t);
        kn_html_text(to, meanings[f]);
    }
    kn_html_table_end(&t);
    kn_html_section_end(to);
}

/* ---- The picture ---- */

typedef struct bin {
    int64_t low, high;
    int64_t rows[2], below[2]; /* before, after */
} bin;

typedef struct histogram {
    bin     bins[MOST_BINS];
    int     count;
    int64_t total[2];
    double  most; /* the largest share of rows in a bin */
} histogram;

static void add_sizes(bin *b, int which, const kn_size_count *sizes, int count, int *at, int64_t asked)
{
    for (; *at < count && sizes[*at].size <= b->high; ++*at) {
        b->rows[which] += sizes[*at].rows;
        if (sizes[*at].size < asked) b->below[which] += sizes[*at].rows;
    }
}

static double share_of(const histogram *h, const bin *b, int which)
{
    return h->total[which] > 0 ? (double)b->rows[which] / (double)h->total[which] : 0;
}

static void fill(histogram *h, const kn_release_page *page)
{
    const kn_release_result *r = page->result;
    int                      i = 0, j = 0;
    *h = (histogram){0};
    for (int64_t low = 1; i < r->head.size_count_before || j < r->head.size_count; low *= 2) {
        bin b = {.low = low, .high = low > INT64_MAX / 2 ? INT64_MAX : low * 2 - 1};
        add_sizes(&b, 0, r->head.sizes_before, r->head.size_count_before, &i, enough(page));
        add_sizes(&b, 1, r->head.sizes, r->head.size_count, &j, enough(page));
        h->total[0] += b.rows[0];
        h->total[1] += b.rows[1];
        if (b.rows[0] + b.rows[1] > 0 || h->count > 0) h->bins[h->count++] = b;
        if (b.high == INT64_MAX) break;
    }
    for (int n = 0; n < h->count; n++)
        for (int which = 0; which < 2; which++) h->most = fmax(h->most, share_of(h, &h->bins[n], which));
}

static bool empty_bin(const bin *b)
{
    return b->rows[0] + b->rows[1] == 0;
}

/* A run of empty bins is one line of dots. */
static bool hidden(const histogram *h, int i)
{
    return i > 0 && empty_bin(&h->bins[i]) && empty_bin(&h->bins[i - 1]);
}

static void bin_label(kn_buffer *to, const bin *b)
{
    kn_html_integer(to, b->low);
    if (b->high > b->low) {
        kn_buffer_add(to, "–");
        kn_html_integer(to, b->high);
    }
}

static void bar_title(kn_buffer *to, const kn_release_page *page, const histogram *h, const bin *b, int which)
{
    kn_buffer_add(to, which == 0 ? "<title>Before, classes of " : "<title>After, classes of ");
    bin_label(to, b);
    kn_buffer_format(to, " %s: ", kn_release_unit(page, b->high));
    kn_html_count(to, b->rows[which], of_persons(page) ? "person" : "row", of_persons(page) ? "persons" : "rows");
    kn_buffer_add(to, ", ");
    kn_html_share(to, b->rows[which], h->total[which]);
    kn_buffer_add(to, " of all</title>");
}

/* One bar: first the rows in classes too small, then the others. */
static void draw_bar(kn_buffer *to, const kn_release_page *page, const histogram *h, const bin *b, int which, double x,
                     double y, double room)
{
    enum { HEIGHT = 12 };
    double length = h->most > 0 ? room * share_of(h, b, which) / h->most : 0;
    if (b->rows[which] > 0 && length < 2) length = 2;
    double bad = b->rows[which] > 0 ? length * (double)b->below[which] / (double)b->rows[which] : 0;
    kn_svg_rect(to, "track", x, y, room, HEIGHT, 3);
    if (bad > 0) {
        kn_svg_rect_open(to, which == 0 ? "f1" : "bad", x, y, bad, HEIGHT, 3);
        bar_title(to, page, h, b, which);
        kn_buffer_add(to, "</rect>\n");
    }
    if (bad < length) {
        kn_svg_rect_open(to, which == 0 ? "f3" : "f4", x + bad, y, length - bad, HEIGHT, 3);
        bar_title(to, page, h, b, which);
        kn_buffer_add(to, "</rect>\n");
    }
}

static void draw_bin(kn_buffer *to, const kn_release_page *page, const histogram *h, const bin *b, double y,
                     double left, double width, bool wide)
{
    double column = wide ? 80 : 62, end = width - 2 * column - 6;
    kn_svg_text(to, NULL, KN_SVG_END, left - 10, y + 19);
    bin_label(to, b);
    kn_svg_text_end(to);
    for (int which = 0; which < 2; which++) {
        draw_bar(to, page, h, b, which, left, y + which * 14, end - left);
        kn_svg_text(to, which ? "b" : "m", KN_SVG_END, width - (1 - which) * column, y + 19);
        kn_html_share(to, b->rows[which], h->total[which]);
        kn_svg_text_end(to);
    }
}

static int digits_of(int64_t value)
{
    int n = 1;
    for (; value >= 10; value /= 10) n++;
    return n + (n - 1) / 3;
}

static void draw(kn_buffer *to, const kn_release_page *page, const histogram *h, bool wide)
{
    enum { TOP = 26, PITCH = 38 };
    double     width = wide ? 760 : 340, y = TOP;
    const bin *last = &h->bins[h->count - 1];
    int        columns = digits_of(last->low) + (last->high > last->low ? 1 + digits_of(last->high) : 0), lines = 0;
    double     left = kn_svg_text_width(columns > 9 ? columns : 9) + 12;
    for (int i = 0; i < h->count; i++) lines += !hidden(h, i);
    kn_svg_begin(to, wide ? "wide" : "narrow", width, TOP + lines * PITCH, "Class sizes before and after",
                 of_persons(page)
                     ? "Two bars for each range of class sizes: the share of the persons in such classes in the "
                       "original and in the release."
                     : "Two bars for each range of class sizes: the share of the rows in such classes in the original "
                       "and in the release.");
    kn_svg_label(to, "m s", KN_SVG_END, left - 10, 14, page->spec->entity ? "Persons" : "Class size");
    kn_svg_label(to, "m s", KN_SVG_END, width - (wide ? 80 : 62), 14, "Before");
    kn_svg_label(to, "m s", KN_SVG_END, width, 14, "After");
    for (int i = 0; i < h->count; i++) {
        if (hidden(h, i)) continue;
        if (empty_bin(&h->bins[i]) && i + 1 < h->count && empty_bin(&h->bins[i + 1]))
            kn_svg_label(to, "m", KN_SVG_END, left - 10, y + 19, "⋯");
        else
            draw_bin(to, page, h, &h->bins[i], y, left, width, wide);
        y += PITCH;
    }
    kn_svg_end(to);
}

static void key_item(kn_buffer *to, const char *fill, const char *text)
{
    kn_buffer_format(to,
                     "<li><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><rect class=\"%s\" width=\"16\" "
                     "height=\"16\" rx=\"4\"/></svg><span>%s</span></li>",
                     fill, text);
}

static void key(kn_buffer *to, const kn_release_page *page, const histogram *h)
{
    bool asked = page->asked >= 2;
    bool below[2] = {false, false}, fine[2] = {false, false};
    for (int i = 0; i < h->count; i++)
        for (int which = 0; which < 2; which++) {
            below[which] |= h->bins[i].below[which] > 0;
            fine[which] |= h->bins[i].below[which] < h->bins[i].rows[which];
        }
    kn_buffer_add(to, "<ul class=\"key\">");
    if (below[0]) key_item(to, "f1", asked ? "before, in classes too small" : "before, standing alone");
    if (fine[0]) key_item(to, "f3", asked ? "before, in classes large enough" : "before, not alone");
    if (below[1]) key_item(to, "f0", asked ? "after, in classes too small" : "after, standing alone");
    if (fine[1]) key_item(to, "f4", "after");
    kn_buffer_add(to, "</ul>\n");
}

void kn_release_sizes(kn_buffer *to, const kn_release_page *page)
{
    histogram h;
    if (!page->result->head.found) return;
    fill(&h, page);
    if (h.count == 0) return;
    kn_html_section(to, "How large are the crowds?");
    kn_buffer_format(to,
                     "<p>%s look the same on the quasi-identifiers form a class: a crowd to hide in. The upper "
                     "bar is the original, the lower one the release; each shows what share of its %s in classes of "
                     "such a size.</p>\n<figure>\n",
                     of_persons(page)     ? "Persons that"
                     : page->spec->entity ? "Persons whose rows"
                                          : "Rows that",
                     of_persons(page) ? "persons are" : "rows are");
    draw(to, page, &h, true);
    draw(to, page, &h, false);
    key(to, page, &h);
    kn_buffer_add(to, "</figure>\n");
    kn_html_section_end(to);
}
