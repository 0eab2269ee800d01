/* kn_svg.h: pictures inside a page (kn_html.h), as SVG without scripts.
 *
 * Colours come from the page's style sheet by class, so that a picture follows light, dark and print. Coordinates are
 * written with one decimal, whatever the locale. A picture has a title and a description for those who do not see it;
 * marks carry a title of their own, which browsers show on hovering.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SVG_H
#define KN_SVG_H

#include "kn_html.h"

typedef enum kn_svg_anchor { KN_SVG_START = 0, KN_SVG_MIDDLE, KN_SVG_END } kn_svg_anchor;

/* Opens a picture; `class_name` says on which widths it is shown ("wide", "narrow"). Both texts are escaped. */
void kn_svg_begin(kn_buffer *to, const char *class_name, double width, double height, const char *title,
                  const char *description);
void kn_svg_end(kn_buffer *to);

/* A rectangle, open for a <title>: then append "</rect>". `radius` 0: square corners. */
void kn_svg_rect_open(kn_buffer *to, const char *class_name, double x, double y, double width, double height,
                      double radius);
void kn_svg_rect(kn_buffer *to, const char *class_name, double x, double y, double width, double height, double radius);
void kn_svg_line(kn_buffer *to, const char *class_name, double x1, double y1, double x2, double y2);
void kn_svg_circle(kn_buffer *to, const char *class_name, double x, double y, double radius);

/* Opens a text at its baseline: append escaped text, then kn_svg_text_end. */
void kn_svg_text(kn_buffer *to, const char *class_name, kn_svg_anchor anchor, double x, double y);
void kn_svg_text_end(kn_buffer *to);
void kn_svg_label(kn_buffer *to, const char *class_name, kn_svg_anchor anchor, double x, double y, const char *text);

/* How wide a text of so many columns is about, in the pictures' ordinary size. */
double kn_svg_text_width(int columns);

/* A staircase from left to right: at points[i].x it goes to points[i].y. Without `floor` (NaN) a line, else the area
 * between the line and y = floor. The last step reaches to x = right. */
typedef struct kn_svg_point {
    double x, y;
} kn_svg_point;

void kn_svg_steps(kn_buffer *to, const char *class_name, const kn_svg_point *points, int64_t count, double right,
                  double floor);

#endif
