/* database/page.c: a release of a database as one page of HTML: the verdict in plain words, what happened to each
 * table, crowds before and after, what may be published.
 *
 * Interface: kn_database_report_render (kn_database_report.h). The sections on promises, risk and crowds are those of
 * a table's release. The page is for the owner of the data: it shows figures of the original, and the
 * values of its columns in pictures; no time, no seed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_database_report.h"

#include <string.h>

#include "kn_error.h"
#include "kn_example.h"
#include "kn_html.h"
#include "kn_release_report.h"
#include "kn_report_words.h"

static const char *shown_output(const kn_database_result *r)
{
    return kn_release_file_name(r->beside);
}

static void heading(kn_buffer *to, const kn_database_result *r, const char *title)
{
    kn_release_heading(to, title, shown_output(r));
    kn_html_count(to, r->head.found ? r->persons : r->persons_in, "person", "persons");
    kn_buffer_add(to, " · ");
    kn_html_count(to, r->table_count, "table", "tables");
    kn_release_method(to, r->head.method, r->head.advice);
    kn_buffer_add(to, "</p>\n</header>\n");
}

static void left_out(kn_buffer *to, const kn_database_result *r)
{
    if (r->head.suppressed == 0) {
        kn_buffer_add(to, "Nobody is left out. ");
        return;
    }
    kn_html_count(to, r->head.suppressed, "person", "persons");
    kn_buffer_add(to, " (");
    kn_html_share(to, r->head.suppressed, r->persons_in);
    kn_buffer_add(to, r->head.suppressed == 1 ? ") stood out too much and is left out. "
                                              : ") stood out too much and are left out. ");
}

/* An anatomy hides values, not persons. */
static void verdict_of_anatomy(kn_buffer *to, const kn_database_result *r)
{
    kn_buffer_add(to, "Which sensitive value belongs to whom is hidden among at least ");
    kn_html_count(to, r->head.k, "person", "persons");
    kn_buffer_add(
        to, "; who is in the release is not.</p>\n<p>Quasi-identifiers are published as they are: whoever knows "
            "them may find a person’s rows, and knows that the person takes part. Each row names a group, and the "
            "sensitive values of a group are listed without saying which row has which. Whoever learns from all "
            "groups which values go with which quasi-identifiers may still guess better than the list of one "
            "group suggests. ");
}

static void verdict(kn_buffer *to, const kn_spec *spec, const kn_database_result *r)
{
    bool alone = !spec->anatomy && r->head.k < 2;
    kn_buffer_format(to, "<div class=\"verdict %s\">\n<p class=\"answer\">",
                     !r->head.found ? "risk"
                     : alone        ? "plain"
                                    : "safe");
    if (!r->head.found) {
        kn_buffer_add(to, "No: there is no release that keeps what was asked.</p>\n<p>");
        kn_html_text(to, r->head.reason);
        kn_buffer_add(to, ". Nothing was written. Ask for less, or give the columns hierarchies that reach "
                          "further.</p>\n</div>\n");
        return;
    }
    if (spec->anatomy)
        verdict_of_anatomy(to, r);
    else if (alone)
        kn_buffer_add(to,
                      "What was asked is kept, and it leaves somebody alone in the release.</p>\n<p>Whoever knows "
                      "everything about such a person that stands in the quasi-identifiers, in whichever table, and "
                      "that the person is in the release, finds their rows. ");
    else {
        kn_buffer_add(to, "Everybody hides among at least ");
        kn_html_count(to, r->head.k, "person", "persons");
        kn_buffer_add(to,
                      ", across all tables.</p>\n<p>Whoever knows everything about a person that stands in the "
                      "quasi-identifiers, in whichever table and however they are joined, finds nobody or at least ");
        kn_html_integer(to, r->head.k);
        kn_buffer_add(to, " persons; in the original it was ");
        kn_html_integer(to, r->head.k_before);
        kn_buffer_add(to, ". ");
    }
    left_out(to, r);
    if (r->head.largest_share > 0) {
        kn_buffer_add(to, "A sensitive value of which something is promised belongs to at most ");
        kn_html_percent(to, r->head.largest_share);
        kn_buffer_add(to, spec->anatomy ? " of those who share a group. " : " of those who look alike. ");
    }
    kn_buffer_add(to, "What was written was read again and every promise checked before it was given its "
                      "name.</p>\n</div>\n");
}

static void tiles(kn_buffer *to, const kn_spec *spec, const kn_database_result *r)
{
    kn_buffer_add(to, "<dl class=\"tiles\">\n");
    if (r->head.found) {
        kn_release_tile(to, spec->anatomy ? "Persons who share a group, at least" : "Smallest crowd (k)",
                        (double)r->head.k);
        if (!spec->anatomy) kn_release_tile(to, "Smallest crowd before", (double)r->head.k_before);
        kn_release_tile(to, "Persons left out", (double)r->head.suppressed);
        kn_release_tile(to, "Information lost (lm)", r->lm);
    } else {
        kn_release_tile(to, "Persons", (double)r->persons_in);
        kn_release_tile(to, "Smallest crowd (k)", (double)r->head.k_before);
    }
    kn_buffer_add(to, "</dl>\n");
}

static void tables(kn_buffer *to, const kn_database_result *r)
{
    static const char *const titles[] = {"Table", "Rows", "Released", "Deleted", "Of nobody", "Lost"};
    kn_html_table            t;
    kn_html_section(to, "What became of the tables");
    kn_buffer_add(
        to, "<p>A row that the others of a crowd have no counterpart for is deleted: it would point at its owner. "
            "Rows whose keys lead to no person are never released. Lost: the share of information in the "
            "quasi-identifiers, a deleted cell counting in full; of a table without them, or with a weight, what its "
            "deleted rows weigh counts, too.</p>\n");
    kn_html_table_begin(&t, to, r->head.found ? "lrrrrr" : "lr", titles);
    for (int i = 0; i < r->table_count; i++) {
        const kn_release_table *table = &r->tables[i];
        const int64_t           counts[] = {table->rows_in, table->rows, table->deleted, table->orphans};
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        kn_html_name(to, table->name);
        for (int c = 0; c < (r->head.found ? 4 : 1); c++) {
            kn_html_table_cell(&t);
            kn_html_integer(to, counts[c]);
        }
        if (!r->head.found) continue;
        kn_html_table_cell(&t);
        if (table->cells == 0) {
            kn_buffer_add(to, "–");
            continue;
        }
        kn_html_percent(to, table->lm);
    }
    kn_html_table_end(&t);
    kn_html_section_end(to);
}

static void columns(kn_buffer *to, const kn_spec *spec, const kn_database_result *r)
{
    kn_html_table t;
    kn_html_section(to, "What was done to each column");
    if (r->head.found) {
        kn_buffer_add(to, "<p>Examples are made up: they show the rule, not the data.</p>\n");
        kn_columns_begin(&t, to);
        for (int i = 0; i < spec->table_count; i++)
            for (int c = 0; c < spec->tables[i].attribute_count; c++)
                kn_columns_row(&t, spec->tables[i].name, &spec->tables[i].attributes[c], -1, r->head.method,
                               spec->anatomy);
        kn_html_table_end(&t);
    }
    kn_release_dropped(to, &r->head, "Not declared, left out");
    kn_buffer_add(to, "<p>Keys were drawn anew, the same wherever a key stands: the tables join as before, and none is "
                      "that of the original.");
    (void)kn_words_references(to, spec, " References are copied, their keys, too: ");
    kn_buffer_add(to, "</p>\n");
    kn_html_section_end(to);
}

static void files(kn_buffer *to, const kn_spec *spec, const kn_database_result *r)
{
    const kn_release_files f = {shown_output(r), "its certificate", "What was promised and what the release shows.",
                                "Every figure, and the seed of the new keys, which would undo them.",
                                "Who is who. It undoes the release."};
    if (!f.name || !r->head.found) return;
    kn_release_files_begin(to, spec, &f);
    kn_html_section_end(to);
}

kn_status kn_database_report_render(kn_buffer *to, const kn_spec *spec, const kn_database_result *r,
                                    const char *version, kn_error *err)
{
    if (!spec || !r) return kn_fail(err, KN_USAGE, "release report: the spec or the result is missing");
    const char *title = r->head.found ? "Release report" : "Release report: no release";
    /* The sections that are the same for a table take what they need from its kind of result. */
    kn_spec counted = *spec;
    if (!counted.entity) counted.entity = "person";
    const kn_release_result like = {.head = r->head};
    const kn_release_page   page = {&counted, &like, kn_release_crowd(spec)};
    kn_html_begin(to, title);
    heading(to, r, title);
    verdict(to, spec, r);
    tiles(to, spec, r);
    kn_words_begin(to, KN_SHAPE_DATABASE, true, spec->anatomy);
    kn_words_end(to);
    kn_html_notes(to, r->head.notes, r->head.note_count);
    if (r->head.model_count > 0) kn_release_models(to, &page);
    columns(to, spec, r);
    tables(to, r);
    if (!spec->anatomy) { /* its persons can be distinguished, by design */
        kn_release_sizes(to, &page);
        kn_release_risk(to, &page);
    }
    kn_release_distribution_section(to, &r->head, false);
    files(to, spec, r);
    kn_release_counters(to, &page);
    if (r->head.found) kn_words_limits(to, KN_SHAPE_DATABASE, spec->anatomy);
    kn_release_footer(to, &r->head, version);
    kn_html_end(to);
    return to->failed ? kn_fail_memory(err, to->ctx, "writing a report") : KN_OK;
}
