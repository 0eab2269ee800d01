/* diagnosis/lattice.c: the picture of all subsets of a few columns: a row per number of columns, a box per set, a line
 * between sets that differ by one column; and, for more columns, a bar per number of columns.
 *
 * With up to four columns a box on a wide screen holds the names; otherwise a letter stands for each column. Cost: one
 * pass over the sets and their lines, at most 63 and 192.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_report.h"
#include "kn_svg.h"

enum { NAMED_COLUMNS = 4, LINE = 17 };

/* Classes of the style sheet for a step of colour; -1: not known. */
static const char *fill_of(int step)
{
    static const char *const fills[] = {"fu", "f0", "f1", "f2", "f3", "f4"};
    return fills[step + 1];
}

static const char *ink_of(int step, bool bold)
{
    static const char *const inks[2][6] = {{"m", "i0", "i1", "i2", "i3", "i4"},
                                           {"m b", "i0 b", "i1 b", "i2 b", "i3 b", "i4 b"}};
    return inks[bold][step + 1];
}

typedef struct box {
    double x, y, width, height; /* x: its middle; y: its top */
} box;

typedef struct picture {
    const kn_set_map *map;
    bool              wide, named;
    double            width, height, left;
    box               boxes[1 << KN_REPORT_PICTURE];
} picture;

static int level_of(uint32_t set)
{
    return __builtin_popcount(set);
}

/* The next set with as many columns, in the order AB, AC, AD, BC, ...; 0 after the last one. The first has the lowest
 * columns. Written over column numbers, since the order of masks would be another. */
static uint32_t next_set(uint32_t set, int columns)
{
    int c = columns - 1, tail = 0;
    while (c >= 0 && (set >> c & 1)) {
        c--;
        tail++;
    }
    while (c >= 0 && !(set >> c & 1)) c--;
    if (c < 0) return 0;
    uint32_t kept = set & (((uint32_t)1 << c) - 1);
    for (int i = 0; i <= tail; i++) kept |= (uint32_t)1 << (c + 1 + i);
    return kept;
}

static int sets_of_size(int columns, int size)
{
    int n = 1;
    for (int i = 1; i <= size; i++) n = n * (columns - size + i) / i;
    return n;
}

static bool has_figure(const kn_set_map *map)
{
    return map->value != NULL;
}

/* A figure as short as it must be to fit: 12,345, 12k, 1.2M. */
static void short_integer(kn_buffer *to, int64_t value, double room)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
    int                      digits = 1, unit = 0;
    for (int64_t v = value; v >= 10; v /= 10) digits++;
    if (kn_svg_text_width(digits + (digits - 1) / 3) <= room) {
        kn_html_integer(to, value);
        return;
    }
    double shown = (double)value;
    for (; shown >= 999.5; unit++) shown /= 1000;
    kn_html_decimal(to, shown, shown < 9.95 && unit > 0);
    kn_buffer_add(to, units[unit]);
}

static void place(picture *p)
{
    int    n = p->map->columns;
    double y = 8, room = p->width - p->left;
    for (int level = 1; level <= n; level++) {
        int    count = sets_of_size(n, level);
        double pitch = room / count, gap = p->wide ? 6 : 5;
        double height = (p->named ? level : 1) * LINE + (has_figure(p->map) ? LINE - 2 : 0) + 12;
        double width = p->named ? 150 : p->wide ? 20 + 11.0 * level : 16 + 9.0 * level;
        if (width < 54 && has_figure(p->map)) width = 54;
        if (width > pitch - gap) width = pitch - gap;
        double most = p->named ? 190 : p->wide ? 110 : 70;
        if (pitch > most) pitch = most;
        double   x = p->left + (room - pitch * count) / 2 + pitch / 2;
        uint32_t set = ((uint32_t)1 << level) - 1;
        for (int i = 0; i < count; i++, set = next_set(set, n), x += pitch) p->boxes[set] = (box){x, y, width, height};
        y += height + (p->named ? 44 : p->wide ? 58 : 46);
    }
    p->height = y - (p->named ? 44 : p->wide ? 58 : 46) + 8;
}

static void draw_lines(kn_buffer *to, const picture *p)
{
    uint32_t count = (uint32_t)1 << p->map->columns;
    for (uint32_t set = 1; set < count; set++)
        for (int c = 0; c < p->map->columns; c++) {
            uint32_t   more = set | (uint32_t)1 << c;
            const box *a = &p->boxes[set], *b = &p->boxes[more];
            if (more != set) kn_svg_line(to, "e", a->x, a->y + a->height, b->x, b->y);
        }
}

static void draw_levels(kn_buffer *to, const picture *p)
{
    for (int level = 1; level <= p->map->columns; level++) {
        const box *b = &p->boxes[((uint32_t)1 << level) - 1];
        char       text[32];
        snprintf(text, sizeof text, p->wide ? level == 1 ? "%d column" : "%d columns" : "%d", level);
        kn_svg_label(to, "m s", KN_SVG_START, 0, b->y + b->height / 2 + 4, text);
    }
}

static void set_names(kn_buffer *to, const kn_set_map *map, uint32_t set)
{
    bool first = true;
    for (int c = 0; c < map->columns; c++) {
        if (!(set >> c & 1)) continue;
        if (!first) kn_buffer_add(to, " + ");
        kn_html_text(to, map->in->over[c]);
        first = false;
    }
}

static void write_figure(kn_buffer *to, const kn_set_map *map, uint32_t set, bool named, double room)
{
    if (named) kn_buffer_add(to, map->by_k ? "k = " : "remove ");
    if (map->value[set] < 0)
        kn_buffer_add(to, "all");
    else
        short_integer(to, map->value[set], room);
}

static void box_title(kn_buffer *to, const kn_set_map *map, uint32_t set)
{
    kn_buffer_add(to, "<title>");
    set_names(to, map, set);
    if (map->value && kn_set_map_step(map, set) >= 0) {
        kn_buffer_add(to, map->by_k ? ": smallest crowd " : ": rows to remove ");
        write_figure(to, map, set, false, 1000);
    } else if (map->state[set] == KN_SET_UNKNOWN)
        kn_buffer_add(to, ": not known");
    else {
        kn_buffer_add(to, map->state[set] == KN_SET_HOLDS ? ": smallest crowd at least " : ": smallest crowd below ");
        kn_html_integer(to, map->asked);
    }
    kn_buffer_add(to, "</title>");
}

static void draw_box(kn_buffer *to, const picture *p, uint32_t set)
{
    const kn_set_map *map = p->map;
    const box        *b = &p->boxes[set];
    int               step = kn_set_map_step(map, set);
    const char       *ink = ink_of(step, false);
    kn_buffer_format(to, "<g class=\"n%s%s%s\">", step < 0 ? " u" : "", kn_set_map_border(map, set) ? " border" : "",
                     p->wide ? "" : " small");
    box_title(to, map, set);
    kn_svg_rect(to, fill_of(step), b->x - b->width / 2, b->y, b->width, b->height, p->named ? 9 : 8);
    double y = b->y + 19;
    if (p->named) {
        for (int c = 0; c < map->columns; c++) {
            if (!(set >> c & 1)) continue;
            kn_svg_text(to, ink, KN_SVG_START, b->x, y);
            kn_html_text_fit(to, map->in->over[c], (int)((b->width - 12) / 7.4));
            kn_svg_text_end(to);
            y += LINE;
        }
    } else {
        char letters[KN_REPORT_PICTURE + 1] = "";
        int  n = 0;
        for (int c = 0; c < map->columns; c++)
            if (set >> c & 1) letters[n++] = (char)('A' + c);
        kn_svg_label(to, ink, KN_SVG_START, b->x, y, letters);
        y += LINE;
    }
    if (has_figure(map) && step >= 0) {
        kn_svg_text(to, ink_of(step, true), KN_SVG_START, b->x, y - 2);
        write_figure(to, map, set, p->named, b->width - 4);
        kn_svg_text_end(to);
    }
    kn_buffer_add(to, "</g>\n");
}

static void draw(kn_buffer *to, const kn_set_map *map, bool wide)
{
    int     n = map->columns;
    picture p = {.map = map, .wide = wide, .named = wide && n <= NAMED_COLUMNS, .width = wide ? 940 : 340};
    p.left = wide ? 76 : 16;
    place(&p);
    const char *class_name = n > 5 ? "keep" : wide ? "wide" : "narrow";
    kn_svg_begin(to, class_name, p.width, p.height, "All combinations of the columns",
                 "A box for each combination, from single columns at the top to all columns at the bottom; lines join "
                 "combinations that differ by one column. The colour of a box says how safe the combination is.");
    draw_lines(to, &p);
    draw_levels(to, &p);
    for (uint32_t set = 1; set < (uint32_t)1 << n; set++) draw_box(to, &p, set);
    kn_svg_end(to);
}

/* ---- What the colours and letters mean ---- */

static void key_item(kn_buffer *to, int step)
{
    kn_buffer_format(to,
                     "<li><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><rect class=\"%s\" width=\"16\" "
                     "height=\"16\" rx=\"4\"/></svg><span>",
                     fill_of(step));
}

static void colour_key(kn_buffer *to, const kn_set_map *map, bool borders)
{
    static const char *const by_k[] = {"1: somebody is one of a kind", "2 to 4", "5 to 9", "10 to 49", "50 or more"};
    static const char *const by_removal[] = {"more than 20\u00A0% of the rows", "up to 20\u00A0%", "up to 5\u00A0%",
                                             "up to 1\u00A0%", "no row"};
    bool                     unknown = false;
    for (uint32_t set = 1; set < (uint32_t)1 << map->columns && !unknown; set++)
        unknown = kn_set_map_step(map, set) < 0;
    kn_buffer_add(to, "<ul class=\"key\">");
    if (map->value) kn_buffer_add(to, map->by_k ? "<li>Smallest crowd:</li>" : "<li>To be removed:</li>");
    for (int step = 0; step <= 4; step++) {
        if (!map->value && step != 0 && step != 3) continue;
        key_item(to, step);
        if (map->value)
            kn_buffer_add(to, map->by_k ? by_k[step] : by_removal[step]);
        else {
            kn_buffer_add(to, step == 0 ? "breaks it: a crowd smaller than " : "safe: every crowd has at least ");
            kn_html_integer(to, map->asked);
        }
        kn_buffer_add(to, "</span></li>");
    }
    if (unknown) {
        key_item(to, -1);
        kn_buffer_add(to, "not known</span></li>");
    }
    kn_buffer_add(to, "</ul>\n");
    if (borders)
        kn_buffer_add(to, "<figcaption>An outline marks the border between the two: the largest combinations that are "
                          "still safe and the smallest that are not.</figcaption>\n");
}

static void letter_key(kn_buffer *to, const kn_set_map *map)
{
    kn_buffer_format(to, "<ul class=\"key%s\">", map->columns <= NAMED_COLUMNS ? " narrow" : "");
    for (int c = 0; c < map->columns; c++) {
        kn_buffer_format(to, "<li><span><b>%c</b> ", 'A' + c);
        kn_html_name(to, map->in->over[c]);
        kn_buffer_add(to, "</span></li>");
    }
    kn_buffer_add(to, "</ul>\n");
}

void kn_report_lattice(kn_buffer *to, const kn_set_map *map)
{
    kn_buffer_add(to, "<figure>\n");
    letter_key(to, map);
    kn_buffer_add(to, "<div class=\"scroll\">\n");
    draw(to, map, true);
    if (map->columns <= 5) draw(to, map, false);
    kn_buffer_add(to, "</div>\n");
    colour_key(to, map, true);
    kn_buffer_add(to, "</figure>\n");
}

/* ---- One bar per level ---- */

typedef struct level {
    int64_t sets, steps[6]; /* sets by colour; the last: not known */
    int64_t low, high;      /* figures */
} level;

static void count_levels(level *levels, const kn_set_map *map)
{
    for (int i = 0; i <= map->columns; i++) levels[i] = (level){.low = INT64_MAX, .high = INT64_MIN};
    for (uint32_t set = 1; set < (uint32_t)1 << map->columns; set++) {
        level *l = &levels[level_of(set)];
        int    step = kn_set_map_step(map, set);
        l->sets++;
        l->steps[step < 0 ? 5 : step]++;
        if (step < 0 || !map->value) continue;
        int64_t value = map->value[set] < 0 ? INT64_MAX : map->value[set];
        if (value < l->low) l->low = value;
        if (value > l->high) l->high = value;
    }
}

static void level_figure(kn_buffer *to, const kn_set_map *map, const level *l, bool wide)
{
    if (map->value && l->steps[5] == l->sets) {
        kn_buffer_add(to, "not known");
    } else if (map->value) {
        kn_buffer_add(to, map->by_k ? "k " : "");
        kn_html_integer(to, l->low == INT64_MAX ? map->in->sets->rows : l->low);
        if (l->high > l->low) {
            kn_buffer_add(to, "–");
            kn_html_integer(to, l->high == INT64_MAX ? map->in->sets->rows : l->high);
        }
        if (map->by_removal && wide) kn_buffer_add(to, " rows");
    } else {
        kn_html_integer(to, l->steps[3]);
        kn_buffer_add(to, " of ");
        kn_html_integer(to, l->sets);
        kn_buffer_add(to, " safe");
    }
}

static void draw_level(kn_buffer *to, const level *l, double left, double end, double y)
{
    static const int order[] = {4, 3, 2, 1, 0, 5};
    double           x = left;
    for (int i = 0; i < 6; i++) {
        int64_t sets = l->steps[order[i]];
        double  length = (end - left) * (double)sets / (double)l->sets;
        if (sets == 0) continue;
        kn_svg_rect_open(to, fill_of(order[i] == 5 ? -1 : order[i]), x, y, length > 1.5 ? length - 1 : 1.5, 20, 2);
        kn_buffer_add(to, "<title>");
        kn_html_count(to, sets, "combination", "combinations");
        kn_buffer_add(to, " of ");
        kn_html_integer(to, l->sets);
        kn_buffer_add(to, "</title></rect>\n");
        x += length;
    }
}

static void draw_bars(kn_buffer *to, const kn_set_map *map, const level *levels, bool wide)
{
    enum { PITCH = 30 };
    double width = wide ? 760 : 340, left = wide ? 96 : 26, end = width - (wide ? 170 : 124);
    kn_svg_begin(
        to, wide ? "wide" : "narrow", width, map->columns * PITCH, "Combinations by their number of columns",
        "A bar for each number of columns; its parts are the combinations of so many columns, coloured by how safe "
        "they are.");
    for (int i = 1; i <= map->columns; i++) {
        double y = (i - 1) * PITCH;
        char   text[32];
        snprintf(text, sizeof text, wide ? i == 1 ? "%d column" : "%d columns" : "%d", i);
        kn_svg_label(to, NULL, KN_SVG_END, left - 10, y + 15, text);
        draw_level(to, &levels[i], left, end, y);
        kn_svg_text(to, "m", KN_SVG_START, end + 12, y + 15);
        level_figure(to, map, &levels[i], wide);
        kn_svg_text_end(to);
    }
    kn_svg_end(to);
}

void kn_report_levels(kn_buffer *to, const kn_set_map *map)
{
    level levels[KN_REPORT_LEVELS + 1];
    count_levels(levels, map);
    kn_buffer_add(to, "<figure>\n");
    draw_bars(to, map, levels, true);
    draw_bars(to, map, levels, false);
    colour_key(to, map, false);
    kn_buffer_add(to, "<figcaption>Each bar is all combinations of so many columns.</figcaption>\n</figure>\n");
}
