/* svg.c: pictures inside a page (kn_svg.h). Everything is appended at once; cost linear in what is written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_svg.h"

#include <math.h>

/* One decimal, none where it is 0. */
static void number(kn_buffer *to, double value)
{
    double tenths = round(value * 10);
    if (!(fabs(tenths) < 1e15)) tenths = 0;
    kn_html_decimal(to, tenths / 10, fmod(tenths, 10) != 0);
}

/* ` name="value"` */
static void attribute(kn_buffer *to, const char *name, double value)
{
    kn_buffer_format(to, " %s=\"", name);
    number(to, value);
    kn_buffer_char(to, '"');
}

static void element(kn_buffer *to, const char *name, const char *class_name)
{
    kn_buffer_format(to, "<%s", name);
    if (class_name && *class_name) kn_buffer_format(to, " class=\"%s\"", class_name);
}

void kn_svg_begin(kn_buffer *to, const char *class_name, double width, double height, const char *title,
                  const char *description)
{
    element(to, "svg", class_name);
    kn_buffer_add(to, " xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 ");
    number(to, width);
    kn_buffer_char(to, ' ');
    number(to, height);
    kn_buffer_add(to, "\">\n<title>");
    kn_html_text(to, title);
    kn_buffer_add(to, "</title>\n<desc>");
    kn_html_text(to, description);
    kn_buffer_add(to, "</desc>\n");
}

void kn_svg_end(kn_buffer *to)
{
    kn_buffer_add(to, "</svg>\n");
}

void kn_svg_rect_open(kn_buffer *to, const char *class_name, double x, double y, double width, double height,
                      double radius)
{
    element(to, "rect", class_name);
    attribute(to, "x", x);
    attribute(to, "y", y);
    attribute(to, "width", width);
    attribute(to, "height", height);
    if (radius > 0) attribute(to, "rx", radius);
    kn_buffer_char(to, '>');
}

void kn_svg_rect(kn_buffer *to, const char *class_name, double x, double y, double width, double height, double radius)
{
    kn_svg_rect_open(to, class_name, x, y, width, height, radius);
    kn_buffer_add(to, "</rect>\n");
}

void kn_svg_line(kn_buffer *to, const char *class_name, double x1, double y1, double x2, double y2)
{
    element(to, "line", class_name);
    attribute(to, "x1", x1);
    attribute(to, "y1", y1);
    attribute(to, "x2", x2);
    attribute(to, "y2", y2);
    kn_buffer_add(to, "/>\n");
}

void kn_svg_circle(kn_buffer *to, const char *class_name, double x, double y, double radius)
{
    element(to, "circle", class_name);
    attribute(to, "cx", x);
    attribute(to, "cy", y);
    attribute(to, "r", radius);
    kn_buffer_add(to, "/>\n");
}

void kn_svg_text(kn_buffer *to, const char *class_name, kn_svg_anchor anchor, double x, double y)
{
    element(to, "text", class_name);
    attribute(to, "x", x);
    attribute(to, "y", y);
    if (anchor == KN_SVG_MIDDLE) kn_buffer_add(to, " text-anchor=\"middle\"");
    if (anchor == KN_SVG_END) kn_buffer_add(to, " text-anchor=\"end\"");
    kn_buffer_char(to, '>');
}

void kn_svg_text_end(kn_buffer *to)
{
    kn_buffer_add(to, "</text>\n");
}

void kn_svg_label(kn_buffer *to, const char *class_name, kn_svg_anchor anchor, double x, double y, const char *text)
{
    kn_svg_text(to, class_name, anchor, x, y);
    kn_html_text(to, text);
    kn_svg_text_end(to);
}

double kn_svg_text_width(int columns)
{
    return columns * 7.4;
}

void kn_svg_steps(kn_buffer *to, const char *class_name, const kn_svg_point *points, int64_t count, double right,
                  double floor)
{
    if (count == 0) return;
    bool area = !isnan(floor);
    element(to, "path", class_name);
    kn_buffer_add(to, " d=\"M");
    number(to, points[0].x);
    kn_buffer_char(to, ' ');
    number(to, area ? floor : points[0].y);
    for (int64_t i = 0; i < count; i++) {
        kn_buffer_char(to, 'H');
        number(to, points[i].x);
        kn_buffer_char(to, 'V');
        number(to, points[i].y);
    }
    kn_buffer_char(to, 'H');
    number(to, right);
    if (area) {
        kn_buffer_char(to, 'V');
        number(to, floor);
        kn_buffer_char(to, 'Z');
    }
    kn_buffer_add(to, "\"/>\n");
}
