/* diagnosis/verdict.c: the answer in plain words at the top of a report, its main figures, the words it uses and how
 * missing cells were treated. Written for somebody who has never heard of k-anonymity. Cost: linear in the class sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kn_html.h"
#include "kn_report.h"

/* ---- The verdict ---- */

typedef enum tone { PLAIN, SAFE, RISK } tone;

static void open_verdict(kn_buffer *to, tone t)
{
    static const char *const classes[] = {"verdict", "verdict safe", "verdict risk"};
    kn_buffer_format(to, "<div class=\"%s\">\n<p class=\"answer\">", classes[t]);
}

static void rows_with_share(kn_buffer *to, int64_t rows, int64_t all)
{
    kn_html_count(to, rows, "row", "rows");
    kn_buffer_add(to, " (");
    kn_html_share(to, rows, all);
    kn_buffer_add(to, ")");
}

/* "age, sex and race" */
static void column_names(kn_buffer *to, const char *const *names, int count)
{
    enum { MOST = 12 };
    int shown = count > MOST ? MOST - 1 : count;
    for (int i = 0; i < shown; i++) {
        if (i > 0) kn_buffer_add(to, i + 1 == count ? " and " : ", ");
        kn_html_name(to, names[i]);
    }
    if (shown < count) {
        kn_buffer_add(to, " and ");
        kn_html_integer(to, count - shown);
        kn_buffer_add(to, " more");
    }
}

static void crowd_of(kn_buffer *to, const kn_report_input *in, int64_t size)
{
    kn_buffer_add(to, "at least ");
    kn_html_count(to, size, kn_report_unit(in, 1), kn_report_unit(in, 2));
}

/* A chance can be told of rows alone: one person may have most rows of a crowd. */
static void found_among(kn_buffer *to, const kn_report_input *in, int64_t k)
{
    kn_buffer_add(to, in->entity ? " of a person finds rows of at least "
                                 : " of a person guesses their row right with a chance of at most 1 in ");
    kn_html_integer(to, k);
    if (in->entity) kn_buffer_add(to, " persons");
}

/* No k was asked for: say what the table's own k means. */
static void own_k(kn_buffer *to, const kn_report_input *in)
{
    const kn_diagnosis *d = in->diagnosis;
    open_verdict(to, d->k == 1 ? RISK : PLAIN);
    if (d->k == 1) {
        rows_with_share(to, d->unique_rows, kn_report_rows(d));
        kn_buffer_add(to, d->unique_rows == 1 ? " is one of a kind." : " are one of a kind.");
        kn_buffer_add(to, "</p>\n<p>Whoever knows ");
        column_names(to, in->quasi, in->quasi_count);
        kn_buffer_add(to, " of such a person finds their row, and with it everything else that stands in it.</p>\n");
    } else {
        kn_buffer_add(to, "Nobody stands alone: everybody hides among ");
        crowd_of(to, in, d->k);
        kn_buffer_add(to, ".</p>\n<p>Whoever knows ");
        column_names(to, in->quasi, in->quasi_count);
        found_among(to, in, d->k);
        kn_buffer_add(to, ".</p>\n");
    }
    if (in->suppress_mode == KN_SUPPRESS_GIVEN) {
        kn_buffer_add(to, d->suppressed > 0 ? "<p>Removing " : "<p>Removing rows, up to ");
        rows_with_share(to, d->suppressed > 0 ? d->suppressed : d->budget, kn_report_rows(d));
        kn_buffer_add(to, d->suppressed > 0 ? " raises the smallest crowd to " : ", leaves the smallest crowd at ");
        kn_html_integer(to, d->k_after);
        kn_buffer_add(to, ".</p>\n");
    }
    kn_buffer_add(to, "</div>\n");
}

/* At least k? Without suppression, within a budget, or: at what price? */
static void at_least(kn_buffer *to, const kn_report_input *in)
{
    const kn_diagnosis *d = in->diagnosis;
    int64_t             rows = kn_report_rows(d), needed = kn_report_removal(d, in->k);
    bool                now = d->k >= in->k, after = !now && d->k_after >= in->k;
    bool                priced = !now && in->suppress_mode == KN_SUPPRESS_ASKED && needed >= 0;
    open_verdict(to, now || after ? SAFE : RISK);
    if (now || after) {
        kn_buffer_add(to,
                      now ? "Yes: everybody hides among " : "Yes, with some rows removed: everybody left hides among ");
        crowd_of(to, in, in->k);
        kn_buffer_add(to, ".</p>\n<p>");
        if (after) {
            rows_with_share(to, d->suppressed, rows);
            kn_buffer_add(to, d->suppressed == 1 ? " has" : " have");
            kn_buffer_add(to, " to go. ");
        }
        kn_buffer_add(to, "Whoever knows ");
        column_names(to, in->quasi, in->quasi_count);
        found_among(to, in, now ? d->k : d->k_after);
        kn_buffer_add(to, ".</p>\n</div>\n");
        return;
    }
    kn_buffer_add(to, priced ? "Not as it is: " : "No: ");
    rows_with_share(to, needed < 0 ? rows : needed, rows);
    kn_buffer_add(to, needed == 1 ? " stands in a crowd smaller than " : " stand in crowds smaller than ");
    kn_html_integer(to, in->k);
    kn_buffer_add(to, ".</p>\n<p>");
    if (needed < 0) {
        kn_buffer_add(
            to, "No crowd is that large: removing rows does not help, the values themselves must be made coarser.");
    } else {
        kn_buffer_add(to, priced ? "Removing them is enough, and fewer are not. " : "");
        if (in->suppress_mode == KN_SUPPRESS_GIVEN) {
            kn_buffer_add(to, "Only ");
            rows_with_share(to, d->budget, rows);
            kn_buffer_add(to, " may be removed, which is not enough. ");
        }
        kn_buffer_add(to, "Whoever knows ");
        column_names(to, in->quasi, in->quasi_count);
        kn_buffer_add(to, " of such a person can narrow them down to fewer others than was asked for.");
    }
    kn_buffer_add(to, "</p>\n</div>\n");
}

static void at_most(kn_buffer *to, const kn_report_input *in)
{
    const kn_diagnosis *d = in->diagnosis;
    int64_t             k = in->suppress_mode == KN_SUPPRESS_GIVEN ? d->k_after : d->k;
    open_verdict(to, PLAIN);
    kn_buffer_add(to, k <= in->k ? "Yes: the smallest crowd has " : "No: the smallest crowd has ");
    kn_html_count(to, k, kn_report_unit(in, 1), kn_report_unit(in, 2));
    kn_buffer_add(to, k <= in->k ? ", no more than " : ", more than ");
    kn_html_integer(to, in->k);
    kn_buffer_add(to, ".</p>\n<p>Looked at: ");
    column_names(to, in->quasi, in->quasi_count);
    kn_buffer_add(to, ".</p>\n</div>\n");
}

/* The smallest figure among the listed sets. */
static int64_t lowest_k(const kn_sets_diagnosis *s)
{
    int64_t low = INT64_MAX;
    for (int64_t i = 0; i < s->set_count; i++) {
        int64_t k = s->sets[i].k == 0 && s->sets[i].step_count > 0 ? s->sets[i].steps[0].k : s->sets[i].k;
        if (k < low) low = k;
    }
    return low;
}

/* Only subsets were looked at, and each got a figure. */
static void listed_sets(kn_buffer *to, const kn_report_input *in)
{
    const kn_sets_diagnosis *s = in->sets;
    if (in->k > 0) {
        int64_t free = 0;
        for (int64_t i = 0; i < s->set_count; i++) free += s->sets[i].removed == 0;
        open_verdict(to, free == s->set_count ? SAFE : PLAIN);
        kn_html_integer(to, free);
        kn_buffer_add(to, " of ");
        kn_html_count(to, s->set_count, "combination", "combinations");
        kn_buffer_add(to, " of columns hide everybody among ");
        crowd_of(to, in, in->k);
        kn_buffer_add(to,
                      " as the table is.</p>\n<p>For the others rows would have to go; how many is shown below.</p>\n");
    } else {
        int64_t low = lowest_k(s);
        open_verdict(to, low == 1 ? RISK : PLAIN);
        if (low == 1)
            kn_buffer_add(to,
                          "Some combinations of these columns single somebody out.</p>\n<p>Whoever knows them of that "
                          "person finds their row, and with it everything else that stands in it.</p>\n");
        else {
            kn_buffer_add(to, "Whatever of these columns somebody knows, everybody hides among ");
            crowd_of(to, in, low);
            kn_buffer_add(to, ".</p>\n");
        }
    }
    kn_buffer_add(to, "</div>\n");
}

/* Only subsets were looked at, for a given k. */
static void borders(kn_buffer *to, const kn_report_input *in)
{
    const kn_sets_diagnosis *s = in->sets;
    int64_t                  k = in->k + (in->at_most ? 1 : 0);
    bool                     safe = s->minimal_count == 0 && s->complete;
    open_verdict(to, safe ? SAFE : s->minimal_count > 0 ? RISK : PLAIN);
    if (s->minimal_count > 0) {
        kn_buffer_add(to, s->complete ? "No: " : "No: at least ");
        kn_html_count(to, s->minimal_count, "combination", "combinations");
        kn_buffer_add(to, s->minimal_count == 1 ? " of columns is" : " of columns are");
        kn_buffer_add(to, " enough to narrow somebody down to a crowd smaller than ");
        kn_html_integer(to, k);
        kn_buffer_add(to, s->minimal_count == 1 ? ".</p>\n<p>And so is everything that includes it. "
                                                : ".</p>\n<p>And so is everything that includes one of them. ");
        if (s->minimal_violating[0].count > 0) {
            kn_buffer_add(to, "The smallest needs ");
            kn_html_count(to, s->minimal_violating[0].count, "column", "columns");
            kn_buffer_add(to, ".");
        }
        kn_buffer_add(to, "</p>\n</div>\n");
        return;
    }
    kn_buffer_add(to, safe ? "Yes: whatever of these columns somebody knows, everybody hides among "
                           : "None was found so far: in all combinations that were looked at, everybody hides among ");
    crowd_of(to, in, k);
    kn_buffer_add(to, ".</p>\n<p>Looked at: the combinations of ");
    column_names(to, in->over, in->over_count);
    kn_buffer_add(to, ".</p>\n</div>\n");
}

void kn_report_verdict(kn_buffer *to, const kn_report_input *in)
{
    const kn_diagnosis *d = in->diagnosis;
    if (d ? d->size_count == 0 : in->sets->rows == 0) {
        open_verdict(to, PLAIN);
        kn_buffer_add(to, "Undecided: there are no rows to look at.</p>\n<p>");
        kn_buffer_add(to, d && d->dropped > 0
                              ? "Every row has a missing cell among the quasi-identifiers and was set aside."
                              : "The table is empty: it shows nothing about anybody, neither danger nor safety.");
        kn_buffer_add(to, "</p>\n</div>\n");
        return;
    }
    if (!d) {
        if (in->sets->set_count > 0)
            listed_sets(to, in);
        else
            borders(to, in);
        return;
    }
    if (in->k == 0 || (in->k == 1 && !in->at_most)) /* every table keeps a k of 1 */
        own_k(to, in);
    else if (in->at_most)
        at_most(to, in);
    else
        at_least(to, in);
}

/* ---- The main figures ---- */

static void tile_begin(kn_buffer *to, const char *name)
{
    kn_buffer_add(to, "<div class=\"tile\"><dt>");
    kn_html_text(to, name);
    kn_buffer_add(to, "</dt><dd>");
}

static void tile_end(kn_buffer *to)
{
    kn_buffer_add(to, "</dd></div>\n");
}

static void tile(kn_buffer *to, const char *name, int64_t value)
{
    tile_begin(to, name);
    kn_html_integer(to, value);
    tile_end(to);
}

void kn_report_tiles(kn_buffer *to, const kn_report_input *in)
{
    const kn_diagnosis *d = in->diagnosis;
    kn_buffer_add(to, "<dl class=\"tiles\">\n");
    if (d) {
        tile(to, d->dropped > 0 ? "Rows looked at" : "Rows", kn_report_rows(d));
        if (in->entity) tile(to, "Persons", d->persons);
        tile(to, "Smallest crowd (k)", d->k);
        tile_begin(to, "Rows that stand alone");
        kn_html_share(to, d->unique_rows, kn_report_rows(d));
        tile_end(to);
        if (!in->entity) tile(to, "Classes: different looks", d->classes);
    } else {
        tile(to, "Rows", in->sets->rows);
        tile(to, "Columns combined", in->over_count);
        if (in->sets->set_count > 0) {
            tile(to, "Combinations looked at", in->sets->set_count);
        } else if (in->sets->rows > 0) {
            tile(to, "Smallest combinations that break it", in->sets->minimal_count);
            tile(to, "Largest combinations that are safe", in->sets->maximal_count);
        }
    }
    kn_buffer_add(to, "</dl>\n");
}

/* ---- The words ---- */

static void word(kn_buffer *to, const char *name, const char *meaning)
{
    kn_buffer_add(to, "<dt>");
    kn_html_text(to, name);
    kn_buffer_add(to, "</dt><dd>");
    kn_html_text(to, meaning);
    kn_buffer_add(to, "</dd>\n");
}

void kn_report_words(kn_buffer *to, const kn_report_input *in)
{
    kn_html_section(to, "What the words mean");
    kn_buffer_add(to, "<dl class=\"words\">\n");
    word(to, "Quasi-identifiers",
         "Columns that somebody else may know about a person: age, sex, place. None of them is a name, but together "
         "they can "
         "point to one person.");
    word(
        to, in->missing == KN_MISSING_WILDCARD ? "Crowd" : "Class, crowd",
        in->missing == KN_MISSING_WILDCARD
            ? "All rows that a row may be confused with, judging by the quasi-identifiers."
            : "All rows that look exactly the same on the quasi-identifiers. Somebody who knows only those cannot tell "
              "them apart.");
    word(to, "k",
         in->entity
             ? "The number of persons in the smallest crowd. A table is 5-anonymous when every crowd has at least 5 "
               "persons: "
               "whoever looks for one person is left with at least 5."
             : "The number of rows in the smallest crowd. A table is 5-anonymous when every crowd has at least 5 rows: "
               "whoever looks for one person is left with at least 5 rows to choose from.");
    word(to, "Risk",
         in->entity
             ? "1 divided by the persons in a crowd: 1 in 5 in a crowd of 5, certainty in a crowd of 1."
             : "The chance to pick the right row of a crowd: 1 in 5 in a crowd of 5, certainty in a crowd of 1.");
    if (in->sets) word(to, "Combination", "A set of columns that somebody might know, one or several of those listed.");
    kn_buffer_add(to, "</dl>\n");
    kn_html_section_end(to);
}

/* ---- Missing cells ---- */

void kn_report_missing(kn_buffer *to, const kn_report_input *in)
{
    static const char *const meaning[] = {
        "A missing cell counts as a value of its own: two rows that both miss it look the same in it.",
        "A missing cell agrees with any value: a row’s crowd are all rows it may equal.",
        "Rows with a missing cell are set aside and are in none of the figures above."};
    kn_html_section(to, "Missing cells");
    kn_buffer_add(to, "<p>");
    if (in->diagnosis && in->diagnosis->missing_rows == 0)
        kn_buffer_add(to, "No cell is missing among the quasi-identifiers.");
    else {
        if (in->diagnosis) {
            kn_html_count(to, in->diagnosis->missing_rows, "row has", "rows have");
            kn_buffer_add(to, " at least one missing cell among the quasi-identifiers. ");
        }
        kn_buffer_add(to, meaning[in->diagnosis ? in->missing : KN_MISSING_VALUE]);
    }
    kn_buffer_add(to, "</p>\n");
    kn_html_section_end(to);
}
