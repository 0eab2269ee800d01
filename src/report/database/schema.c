/* database/schema.c: the schema of a database drawn around its table of persons.
 *
 * One box per table: its name, its rows, its columns with keys marked. Boxes are in ranks from left to right:
 * persons, then the tables below them, level by level, then those that no key leads from. A line goes from each
 * foreign key to the table it refers to; one that breaks a rule is drawn as such. The picture has its own colours for
 * light and dark.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_schema_svg.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_svg.h"

enum {
    BOX_WIDTH = 210,
    GAP_X = 90,
    GAP_Y = 26,
    LINE = 19,
    TITLE = 46,
    MARGIN = 16,
    MOST_COLUMNS = 14,
    NAME_COLUMNS = 24
};

typedef struct box {
    int    rank;
    double x, y, height;
} box;

static const char style[] =
    "<style>\n"
    ":root{color-scheme:light dark}\n"
    "svg{font:14px system-ui,sans-serif;background:#fff}\n"
    "text{fill:#1d2733}.m{fill:#5b6875;font-size:12px}.h{font-weight:600}\n"
    ".b{fill:#f4f6f8;stroke:#8b98a5}.p{fill:#dcecff;stroke:#2d6cb4;stroke-width:2}\n"
    ".x{fill:#ffe9e4;stroke:#b5432b}.r{fill:#eaf6ea;stroke:#3b7d3b}.o{fill:#fff;stroke:#8b98a5;stroke-dasharray:4 3}\n"
    ".e{stroke:#5b6875;stroke-width:1.5}.w{stroke:#b5432b;stroke-width:1.5;stroke-dasharray:5 3}\n"
    "@media (prefers-color-scheme:dark){svg{background:#14191f}text{fill:#e6ebf0}.m{fill:#9aa7b4}\n"
    ".b{fill:#212932}.p{fill:#173454}.x{fill:#47231b}.r{fill:#1c3320}.o{fill:#14191f}}\n"
    "</style>\n";

static int rank_of(const kn_schema *s, int table)
{
    int rank = 0;
    for (int t = table; t != s->person && rank <= s->table_count; rank++) {
        if (s->tables[t].parent < 0) return s->table_count + 1;
        t = s->tables[t].parent;
    }
    return rank > s->table_count ? s->table_count + 1 : rank; /* a circle leads nowhere */
}

static int shown_columns(const kn_schema_table *t)
{
    return t->column_count <= MOST_COLUMNS ? t->column_count : MOST_COLUMNS;
}

/* Ranks that hold a table follow each other without gaps; returns how many there are. */
static int close_ranks(box *boxes, int count)
{
    int ranks = 0;
    for (int rank = 0; rank <= count + 1; rank++) {
        bool used = false;
        for (int t = 0; t < count; t++)
            if (boxes[t].rank == rank) {
                boxes[t].rank = ranks;
                used = true;
            }
        ranks += used;
    }
    return ranks;
}

static double place(const kn_schema *s, box *boxes, int *ranks)
{
    double height = 0;
    for (int t = 0; t < s->table_count; t++) {
        boxes[t].rank = rank_of(s, t);
        boxes[t].height =
            TITLE + LINE * (shown_columns(&s->tables[t]) + (s->tables[t].column_count > MOST_COLUMNS)) + 6;
    }
    *ranks = close_ranks(boxes, s->table_count);
    for (int rank = 0; rank < *ranks; rank++) {
        double y = MARGIN;
        for (int t = 0; t < s->table_count; t++) {
            if (boxes[t].rank != rank) continue;
            boxes[t].x = MARGIN + rank * (BOX_WIDTH + GAP_X);
            boxes[t].y = y;
            y += boxes[t].height + GAP_Y;
        }
        if (y > height) height = y;
    }
    return height - GAP_Y + MARGIN;
}

static void draw_links(kn_buffer *to, const kn_schema *s, const box *boxes)
{
    for (int t = 0; t < s->table_count; t++)
        for (int l = 0; l < s->tables[t].link_count; l++) {
            const kn_schema_link *link = &s->tables[t].links[l];
            if (link->target < 0) continue;
            const box *from = &boxes[t], *up = &boxes[link->target];
            bool       fine = s->tables[t].place != KN_SCHEMA_PROBLEM;
            fine = fine &&
                   (s->tables[t].place != KN_SCHEMA_PERSON || s->tables[link->target].place == KN_SCHEMA_REFERENCE);
            int  column = link->columns[0] < MOST_COLUMNS ? link->columns[0] : MOST_COLUMNS;
            bool left = up->rank < from->rank;
            kn_svg_line(to, fine ? "e" : "w", left ? from->x : from->x + BOX_WIDTH, from->y + TITLE + LINE * column + 4,
                        left ? up->x + BOX_WIDTH : up->x + (up->rank > from->rank ? 0 : BOX_WIDTH), up->y + 22);
        }
}

static void draw_columns(kn_buffer *to, const kn_schema_table *t, const box *b)
{
    double y = b->y + TITLE + 8;
    for (int c = 0; c < shown_columns(t); c++, y += LINE) {
        const kn_schema_column *column = &t->columns[c];
        kn_svg_text(to, column->key ? "h" : NULL, KN_SVG_START, b->x + 12, y);
        kn_html_text_fit(to, column->name, NAME_COLUMNS - 8);
        kn_svg_text_end(to);
        kn_svg_label(to, "m", KN_SVG_END, b->x + BOX_WIDTH - 12, y,
                     column->key       ? column->foreign ? "key, names" : "key"
                     : column->foreign ? "names"
                                       : kn_type_name(column->type));
    }
    if (t->column_count <= MOST_COLUMNS) return;
    kn_svg_text(to, "m", KN_SVG_START, b->x + 12, y);
    kn_html_count(to, t->column_count - MOST_COLUMNS, "more column", "more columns");
    kn_svg_text_end(to);
}

static void draw_table(kn_buffer *to, const kn_schema_table *t, const box *b)
{
    static const char *const fills[] = {"p", "b", "x", "o", "r"}; /* in the order of kn_schema_place */
    kn_svg_rect(to, fills[t->place], b->x, b->y, BOX_WIDTH, b->height, 6);
    kn_svg_text(to, "h", KN_SVG_START, b->x + 12, b->y + 20);
    kn_html_text_fit(to, t->name, NAME_COLUMNS);
    kn_svg_text_end(to);
    kn_svg_text(to, "m", KN_SVG_START, b->x + 12, b->y + 36);
    kn_html_count(to, t->rows, "row", "rows");
    if (t->place == KN_SCHEMA_PERSON) kn_buffer_add(to, ", persons");
    if (t->place == KN_SCHEMA_REFERENCE) kn_buffer_add(to, ", reference");
    if (t->orphans > 0) {
        kn_buffer_add(to, ", ");
        kn_html_integer(to, t->orphans);
        kn_buffer_add(to, " nobody's");
    }
    kn_svg_text_end(to);
    draw_columns(to, t, b);
}

kn_status kn_schema_svg(kn_buffer *to, const kn_schema *s, kn_error *err)
{
    int  ranks = 0;
    box *boxes = kn_alloc_array_zero(to->ctx, (size_t)s->table_count + 1, sizeof *boxes);
    if (!boxes) return kn_fail_memory(err, to->ctx, "drawing a schema");
    double height = place(s, boxes, &ranks);
    kn_svg_begin(to, NULL, 2 * MARGIN + ranks * (BOX_WIDTH + GAP_X) - GAP_X, height, "The schema",
                 s->snowflake ? "Tables and their foreign keys: a snowflake around the table of persons."
                              : "Tables and their foreign keys: not a snowflake around the table of persons.");
    kn_buffer_add(to, style);
    draw_links(to, s, boxes);
    for (int t = 0; t < s->table_count; t++) draw_table(to, &s->tables[t], &boxes[t]);
    kn_svg_end(to);
    kn_free(boxes);
    return to->failed ? kn_fail_memory(err, to->ctx, "drawing a schema") : KN_OK;
}
