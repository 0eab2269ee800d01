/* records/picture.c: the report of tree records: its glossary, and bars of what is left of values, nodes and relations.
 *
 * Interface: kn_records_picture.h. The bars are drawn twice, for wide screens and for phones; the style sheet shows one.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_records_picture.h"

#include <math.h>

#include "kn_release_report.h"
#include "kn_report_words.h"
#include "kn_svg.h"

void kn_records_share_tile(kn_buffer *to, const char *name, double share)
{
    if (isnan(share)) return;
    kn_buffer_add(to, "<div class=\"tile\"><dt>");
    kn_html_text(to, name);
    kn_buffer_add(to, "</dt><dd>");
    kn_html_percent(to, share);
    kn_buffer_add(to, "</dd></div>\n");
}

void kn_records_words(kn_buffer *to, const kn_spec *spec, const kn_records_result *r)
{
    bool sensitive = kn_spec_has_sensitive_class(spec);
    kn_words_begin(to, KN_SHAPE_RECORDS, false, false);
    if (r->head.found && r->disassociations > 0)
        kn_release_word(
            to, "Vanished relation",
            "One that too few records had. The lower value moved up, in every record: it is still there, but not "
            "what it stood below.");
    if (sensitive)
        kn_release_word(to, "Sensitive", "A value that nobody is taken to know, and that nobody should learn.");
    kn_words_end(to);
}

typedef struct bar {
    const char *name;
    double      left; /* share; NaN: there was nothing */
} bar;

static void draw(kn_buffer *to, const bar *bars, int count, bool wide)
{
    double width = wide ? 760 : 340, from = wide ? 230 : 0, to_right = width - 72, step = wide ? 34 : 52,
           y = wide ? 8 : 20;
    kn_svg_begin(
        to, wide ? "wide" : "narrow", width, count * step + 6, "What is left",
        "Bars: the share of the different values, of the nodes and of the relations that the release still shows.");
    for (int i = 0; i < count; i++, y += step) {
        kn_svg_label(to, "m", wide ? KN_SVG_END : KN_SVG_START, wide ? from - 14 : 0, wide ? y + 15 : y - 6,
                     bars[i].name);
        kn_svg_rect(to, "track", from, y, to_right - from, 20, 3);
        if (bars[i].left > 0) kn_svg_rect(to, "bar", from, y, (to_right - from) * bars[i].left, 20, 3);
        kn_svg_text(to, "b", KN_SVG_END, width, y + 15);
        kn_html_percent(to, bars[i].left);
        kn_svg_text_end(to);
    }
    kn_svg_end(to);
}

void kn_records_picture(kn_buffer *to, const kn_records_result *r)
{
    const bar all[] = {{"Different values",
                        r->values_original > 0 ? fmin(1, (double)r->values / (double)r->values_original) : (double)NAN},
                       {"Nodes that show their own value", r->node_survival},
                       {"Relations that are still there", r->relation_survival}};
    bar       shown[3];
    int       count = 0;
    for (int i = 0; i < 3; i++)
        if (!isnan(all[i].left)) shown[count++] = all[i];
    if (!r->head.found || count == 0) return;
    kn_buffer_add(to, "<figure>\n");
    draw(to, shown, count, true);
    draw(to, shown, count, false);
    kn_buffer_add(to, "</figure>\n");
}
