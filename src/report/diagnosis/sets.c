/* diagnosis/sets.c: what is known of the subsets of a list of columns, and the section that shows it.
 *
 * Up to KN_REPORT_LEVELS columns every set has a place in a map, filled from the list of sets or from the borders; since
 * adding a column never makes a crowd larger, what breaks breaks upwards and what holds holds downwards. Cost: 2^columns
 * times columns. Above that only lists are shown.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_report.h"
#include "kn_svg.h"

enum { MOST_CHIPS = 60, MOST_BARS = 12, MOST_FOUND = 400 };
static const int64_t no_value = INT64_MIN;

/* ---- The map ---- */

static uint32_t mask_of(kn_column_set set)
{
    uint32_t mask = 0;
    for (int i = 0; i < set.count; i++) mask |= (uint32_t)1 << set.columns[i];
    return mask;
}

/* What an answer says of its set: its k, or the rows to remove. */
static int64_t value_of(const kn_set_map *map, const kn_set_answer *a)
{
    if (map->by_removal) return a->removed;
    return a->k == 0 && a->step_count > 0 ? a->steps[0].k : a->k;
}

static bool holds(const kn_set_map *map, int64_t value)
{
    return map->by_removal ? value == 0 : value >= map->asked;
}

static void fill(kn_set_map *map)
{
    const kn_sets_diagnosis *d = map->in->sets;
    for (int64_t i = 0; map->value && i < d->set_count; i++) {
        uint32_t mask = mask_of(d->sets[i].set);
        map->value[mask] = value_of(map, &d->sets[i]);
        map->state[mask] = holds(map, map->value[mask]) ? KN_SET_HOLDS : KN_SET_BREAKS;
    }
    for (int64_t i = 0; i < d->maximal_count; i++) map->state[mask_of(d->maximal[i])] = KN_SET_HOLDS;
    for (int64_t i = 0; i < d->minimal_count; i++) map->state[mask_of(d->minimal_violating[i])] = KN_SET_BREAKS;
}

static void close_up_and_down(kn_set_map *map)
{
    uint32_t count = (uint32_t)1 << map->columns;
    for (uint32_t set = 1; set < count; set++)
        for (int c = 0; c < map->columns; c++)
            if ((set >> c & 1) && map->state[set ^ (uint32_t)1 << c] == KN_SET_BREAKS) map->state[set] = KN_SET_BREAKS;
    for (uint32_t set = count; set-- > 0;)
        for (int c = 0; c < map->columns; c++)
            if (!(set >> c & 1) && map->state[set | (uint32_t)1 << c] == KN_SET_HOLDS) map->state[set] = KN_SET_HOLDS;
}

kn_status kn_set_map_make(kn_set_map *out, kn_context *ctx, const kn_report_input *in, kn_error *err)
{
    *out = (kn_set_map){.in = in, .columns = in->over_count};
    if (!in->sets) return KN_OK;
    bool listed = in->sets->set_count > 0;
    out->by_removal = listed && in->suppress_mode == KN_SUPPRESS_ASKED && in->k > 0;
    out->by_k = listed && !out->by_removal;
    out->asked = in->k > 0 ? in->k + (in->at_most ? 1 : 0) : 2;
    if (in->over_count > KN_REPORT_LEVELS) return KN_OK;
    size_t count = (size_t)1 << in->over_count;
    out->state = kn_alloc_zero(ctx, count);
    if (listed) out->value = kn_alloc_array(ctx, count, sizeof *out->value);
    if (!out->state || (listed && !out->value)) return kn_fail_memory(err, ctx, "drawing sets of columns");
    for (size_t i = 0; listed && i < count; i++) out->value[i] = no_value;
    fill(out);
    close_up_and_down(out);
    return KN_OK;
}

void kn_set_map_free(kn_set_map *map)
{
    kn_free(map->state);
    kn_free(map->value);
    *map = (kn_set_map){0};
}

static int step_of_k(int64_t k)
{
    static const int64_t from[] = {2, 5, 10, 50};
    int                  step = 0;
    while (step < 4 && k >= from[step]) step++;
    return step;
}

static int step_of_removal(int64_t removed, int64_t rows)
{
    double share = rows > 0 ? (double)removed / (double)rows : 0;
    if (removed < 0 || share > 0.2) return 0;
    return removed == 0 ? 4 : share <= 0.01 ? 3 : share <= 0.05 ? 2 : 1;
}

int kn_set_map_step(const kn_set_map *map, uint32_t set)
{
    if (map->value && map->value[set] == no_value) return -1;
    if (map->by_k) return step_of_k(map->value[set]);
    if (map->by_removal) return step_of_removal(map->value[set], map->in->sets->rows);
    return map->state[set] == KN_SET_HOLDS ? 3 : map->state[set] == KN_SET_BREAKS ? 0 : -1;
}

bool kn_set_map_border(const kn_set_map *map, uint32_t set)
{
    kn_set_state state = (kn_set_state)map->state[set];
    if (set == 0 || state == KN_SET_UNKNOWN) return false;
    for (int c = 0; c < map->columns; c++) {
        uint32_t bit = (uint32_t)1 << c, other = set ^ bit;
        if (state == KN_SET_BREAKS && (set & bit) && map->state[other] != KN_SET_HOLDS &&
            (other != 0 || map->state[0] == KN_SET_BREAKS))
            return false;
        if (state == KN_SET_HOLDS && !(set & bit) && map->state[other] != KN_SET_BREAKS) return false;
    }
    return true;
}

/* ---- Lists ---- */

static void write_set(kn_buffer *to, const kn_report_input *in, kn_column_set set)
{
    if (set.count == 0) kn_buffer_add(to, "no column at all");
    for (int i = 0; i < set.count; i++) {
        if (i > 0) kn_buffer_add(to, "<i>+</i>");
        kn_html_name(to, in->over[set.columns[i]]);
    }
}

static void write_chips(kn_buffer *to, const kn_report_input *in, const char *kind, const kn_column_set *sets,
                        int64_t count, bool more)
{
    kn_buffer_format(to, "<ul class=\"sets %s\">\n", kind);
    for (int64_t i = 0; i < count && i < MOST_CHIPS; i++) {
        kn_buffer_add(to, "<li>");
        write_set(to, in, sets[i]);
        kn_buffer_add(to, "</li>\n");
    }
    if (count == 0) kn_buffer_add(to, "<li class=\"more\">none</li>\n");
    if (count > MOST_CHIPS || more) {
        kn_buffer_add(to, "<li class=\"more\">and ");
        if (more)
            kn_buffer_add(to, "more");
        else
            kn_html_integer(to, count - MOST_CHIPS);
        kn_buffer_add(to, more ? "</li>\n" : " more</li>\n");
    }
    kn_buffer_add(to, "</ul>\n");
}

/* How many of the sets hold each column, the most first. */
typedef struct tally {
    int     column;
    int64_t sets;
} tally;

static int more_sets_first(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    if (x->sets != y->sets) return x->sets > y->sets ? -1 : 1;
    return x->column - y->column;
}

static void draw_tally(kn_buffer *to, const kn_report_input *in, const tally *counts, int lines, bool wide)
{
    enum { PITCH = 27, HEIGHT = 18 };
    double width = wide ? 760 : 340, left = wide ? 190 : 120, end = width - 60;
    kn_svg_begin(to, wide ? "wide" : "narrow", width, lines * PITCH,
                 "The columns that occur in most of these combinations",
                 "A bar for each column; its length is the number of combinations that hold it.");
    for (int i = 0; i < lines; i++) {
        double y = i * PITCH, length = (end - left) * (double)counts[i].sets / (double)counts[0].sets;
        kn_svg_text(to, NULL, KN_SVG_END, left - 10, y + 14);
        kn_html_text_fit(to, in->over[counts[i].column], wide ? 24 : 15);
        kn_svg_text_end(to);
        kn_svg_rect(to, "track", left, y, end - left, HEIGHT, 3);
        kn_svg_rect_open(to, "bad", left, y, length > 2 ? length : 2, HEIGHT, 3);
        kn_buffer_add(to, "<title>");
        kn_html_text(to, in->over[counts[i].column]);
        kn_buffer_add(to, ": ");
        kn_html_integer(to, counts[i].sets);
        kn_buffer_add(to, "</title></rect>\n");
        kn_svg_text(to, "b", KN_SVG_END, width, y + 14);
        kn_html_integer(to, counts[i].sets);
        kn_svg_text_end(to);
    }
    kn_svg_end(to);
}

static void write_tally(kn_buffer *to, const kn_report_input *in, const kn_column_set *sets, int64_t count)
{
    int n = in->over_count, lines = 0;
    if (count < 3 || n < 3) return;
    tally *counts = kn_alloc_array_zero(to->ctx, (size_t)n, sizeof *counts);
    if (!counts) {
        to->failed = true;
        return;
    }
    for (int c = 0; c < n; c++) counts[c].column = c;
    for (int64_t i = 0; i < count; i++)
        for (int j = 0; j < sets[i].count; j++) counts[sets[i].columns[j]].sets++;
    qsort(counts, (size_t)n, sizeof *counts, more_sets_first);
    while (lines < n && lines < MOST_BARS && counts[lines].sets > 0) lines++;
    if (lines > 1) {
        kn_buffer_add(to, "<h3>The columns that occur in most of them</h3>\n<figure>\n");
        draw_tally(to, in, counts, lines, true);
        draw_tally(to, in, counts, lines, false);
        kn_buffer_add(to, "</figure>\n");
    }
    kn_free(counts);
}

static bool contains(kn_column_set set, kn_column_set part)
{
    int i = 0;
    for (int j = 0; j < part.count; j++, i++) {
        while (i < set.count && set.columns[i] < part.columns[j]) i++;
        if (i == set.count || set.columns[i] != part.columns[j]) return false;
    }
    return true;
}

/* The smallest listed sets that break, smaller ones first; the list of sets comes in that order. */
static int64_t find_minimal(const kn_set_map *map, kn_column_set *found, bool *more)
{
    const kn_sets_diagnosis *d = map->in->sets;
    int64_t                  count = 0;
    *more = false;
    for (int64_t i = 0; i < d->set_count; i++) {
        if (holds(map, value_of(map, &d->sets[i]))) continue;
        bool minimal = true;
        for (int64_t j = 0; minimal && j < count; j++) minimal = !contains(d->sets[i].set, found[j]);
        if (!minimal) continue;
        if (count == MOST_FOUND) {
            *more = true;
            break;
        }
        found[count++] = d->sets[i].set;
    }
    return count;
}

/* ---- The section ---- */

static void write_breaking_title(kn_buffer *to, const kn_set_map *map)
{
    kn_buffer_add(to, "<h3>");
    if (map->by_removal)
        kn_buffer_add(to, "The smallest combinations for which rows would have to go");
    else if (map->asked == 2)
        kn_buffer_add(to, "The smallest combinations on which somebody is one of a kind");
    else {
        kn_buffer_add(to, "The smallest combinations with a crowd smaller than ");
        kn_html_integer(to, map->asked);
    }
    kn_buffer_add(to, "</h3>\n");
}

static void write_lists(kn_buffer *to, const kn_set_map *map)
{
    const kn_sets_diagnosis *d = map->in->sets;
    if (map->by_k || map->by_removal) {
        kn_column_set found[MOST_FOUND];
        bool          more;
        int64_t       count = find_minimal(map, found, &more);
        write_breaking_title(to, map);
        write_chips(to, map->in, "risk", found, count, more);
        write_tally(to, map->in, found, count);
        return;
    }
    write_breaking_title(to, map);
    kn_buffer_add(to, "<p>Whoever knows all columns of one of these, or more than that, is a threat.</p>\n");
    write_chips(to, map->in, "risk", d->minimal_violating, d->minimal_count, false);
    write_tally(to, map->in, d->minimal_violating, d->minimal_count);
    kn_buffer_add(to, "<h3>The largest combinations that are still safe</h3>\n"
                      "<p>Somebody may know all columns of one of these, or fewer.</p>\n");
    write_chips(to, map->in, "safe", d->maximal, d->maximal_count, false);
}

/* Every set with its figure, where they are few. */
static void write_table(kn_buffer *to, const kn_set_map *map)
{
    const kn_sets_diagnosis *d = map->in->sets;
    const char              *titles[] = {"Columns", map->by_removal ? "Rows to remove" : "Smallest crowd (k)"};
    kn_html_table            t;
    if (d->set_count == 0 || d->set_count > 128) return;
    kn_buffer_add(to, "<details><summary>Every combination as a table</summary>\n");
    kn_html_table_begin(&t, to, "lr", titles);
    for (int64_t i = 0; i < d->set_count; i++) {
        int64_t value = value_of(map, &d->sets[i]);
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        write_set(to, map->in, d->sets[i].set);
        kn_html_table_cell(&t);
        if (value < 0)
            kn_buffer_add(to, "all");
        else
            kn_html_integer(to, value);
    }
    kn_html_table_end(&t);
    kn_buffer_add(to, "</details>\n");
}

static void write_intro(kn_buffer *to, const kn_set_map *map)
{
    const kn_report_input *in = map->in;
    kn_buffer_add(to, "<p>What somebody else knows about a person may be any of these ");
    kn_html_count(to, in->over_count, "column", "columns");
    kn_buffer_add(to, ". Each combination of them was looked at on its own: how small is the smallest crowd it leaves? "
                      "Knowing more columns never makes a crowd larger.");
    if (in->suppress_mode == KN_SUPPRESS_GIVEN) {
        kn_buffer_add(to, " For each of them, up to ");
        kn_html_count(to, in->sets->budget, "row", "rows");
        kn_buffer_add(to, " may be removed, the smallest crowds first.");
    }
    kn_buffer_add(to, "</p>\n");
    if (in->sets->complete) return;
    kn_buffer_add(to, "<p><strong>This answer is partial:</strong> ");
    kn_html_text(to, in->sets->why_partial ? in->sets->why_partial : "the search was cut short");
    kn_buffer_add(to, ". What is shown is right; what is not shown is not known.</p>\n");
}

void kn_report_sets(kn_buffer *to, const kn_set_map *map)
{
    if (!map->in->sets || map->in->sets->rows == 0) return; /* without rows there is no border */
    kn_html_section(to, "Which information threatens the table?");
    write_intro(to, map);
    if (map->state && map->columns <= KN_REPORT_PICTURE)
        kn_report_lattice(to, map);
    else if (map->state)
        kn_report_levels(to, map);
    write_lists(to, map);
    write_table(to, map);
    kn_html_section_end(to);
}
