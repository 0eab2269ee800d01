/* kn_draft_baskets.c: a first release file for baskets: lines of values, of different numbers, or lists of them in JSON.
 *
 * A text file may be a table or baskets, and its name does not say. It is drafted as baskets if its lines cannot be rows of one
 * table: of those in its first 64 KB at least a quarter, and two, have another number of delimiters than most. No delimiter makes all lines
 * rows; the first of , ; tab | by which they differ so is that of the baskets, or a blank, between numbers.
 *
 * Cost: the beginning of the file is read once more. Memory: the different values.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/diagnose.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_draft.h"
#include "kn_error.h"
#include "kn_feed.h"
#include "kn_interner.h"
#include "kn_records_scan.h"
#include "kn_source.h"

enum { LOOKED_AT = 1 << 16, MOST_VALUES = 64, FEW_RECORDS = 20 };

typedef struct baskets {
    kn_drafting *d;
    int64_t      records;
    int64_t      values; /* of the current record */
    kn_feed      feed;
    kn_interner  firsts; /* the first values of records */
} baskets;

/* Lists of JSON are known by the name of their file. */
static kn_records_options reading(const kn_drafting *d, const kn_spec_class *item)
{
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    options.form = d->listed ? KN_RECORDS_AUTO : KN_RECORDS_BASKETS;
    options.classes = item;
    options.class_count = 1;
    options.delimiter = d->delimiter;
    return options;
}

static kn_status on_record(void *state, kn_string id, const kn_records_place *place, kn_error *err)
{
    baskets *b = state;
    (void)id, (void)place, (void)err;
    b->values = 0;
    b->records++;
    return KN_OK;
}

static kn_status on_node(void *state, int64_t parent, int cls, kn_string value, const kn_records_place *place,
                         kn_error *err)
{
    baskets *b = state;
    (void)parent, (void)cls, (void)place;
    if (b->values++ == 0 && kn_intern(&b->firsts, value) == KN_ID_FAILED) return kn_draft_memory(b->d, err);
    return kn_feed_cell(&b->feed, value, err);
}

static kn_status on_ignored(void *state, kn_string name, kn_error *err)
{
    (void)state, (void)name, (void)err;
    return KN_OK;
}

/* ---- Is it baskets? ---- */

/* How many lines have so many delimiters (the last: or more), outside quotes. */
typedef struct counts {
    int64_t lines, of[MOST_VALUES + 1];
    bool    numbers; /* nothing but digits and delimiters */
} counts;

static void end_line(counts *c, int64_t found, bool empty)
{
    if (empty) return;
    c->lines++;
    c->of[found < MOST_VALUES ? found : MOST_VALUES]++;
}

/* A last line that is cut off does not count. */
static counts count_lines(const char *text, size_t size, char delimiter)
{
    counts  c = {.numbers = true};
    int64_t found = 0;
    bool    quoted = false, empty = true;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"') quoted = !quoted;
        if (text[i] == '\n' && !quoted) {
            end_line(&c, found, empty);
            found = 0;
            empty = true;
            continue;
        }
        if (text[i] == '\r') continue;
        c.numbers = c.numbers && (text[i] == delimiter || (text[i] >= '0' && text[i] <= '9'));
        found += text[i] == delimiter && !quoted;
        empty = false;
    }
    return c;
}

static int64_t most_of(const counts *c)
{
    int64_t most = 0;
    for (int i = 0; i <= MOST_VALUES; i++)
        if (c->of[i] > most) most = c->of[i];
    return most;
}

static bool are_rows(const counts *c)
{
    return c->lines > 0 && most_of(c) == c->lines && c->of[0] == 0;
}

static bool are_ragged(const counts *c)
{
    int64_t others = c->lines - most_of(c);
    return c->of[0] < c->lines && others >= 2 && 4 * others >= c->lines;
}

/* The beginning of the file; 0: it cannot be read, which whoever drafts it will say. */
static size_t begin_of(const kn_drafting *d, char *to, size_t room)
{
    kn_source *source = NULL;
    kn_error   why = KN_ERROR_INIT;
    size_t     size = 0, got = 1;
    if (kn_source_open(&source, d->ctx, d->inputs[0], &why) != KN_OK) return 0;
    while (size < room && got > 0)
        if (kn_source_read(source, to + size, room - size, &got, &why) == KN_OK)
            size += got;
        else
            got = size = 0;
    kn_source_free(source);
    return size;
}

bool kn_draft_is_baskets(kn_drafting *d)
{
    static const char delimiters[] = ",;\t| ";
    const char        given = d->options->csv ? d->options->csv->delimiter : '\0';
    char             *text = kn_alloc(d->ctx, LOOKED_AT);
    size_t            size = text ? begin_of(d, text, LOOKED_AT) : 0;
    bool              rows = false;
    for (const char *c = delimiters; *c && !rows; c++) { /* 1,5;2 has commas that delimit nothing */
        counts found = count_lines(text, size, *c);
        rows = (!given || *c == given) && *c != ' ' && are_rows(&found);
    }
    for (const char *c = delimiters; *c && !rows && !d->delimiter; c++) {
        counts found = count_lines(text, size, *c);
        if (given && *c != given) continue;
        if (are_ragged(&found) && (*c != ' ' || found.numbers)) d->delimiter = *c; /* words have blanks, too */
    }
    kn_free(text);
    return d->delimiter != '\0';
}

/* ---- The draft ---- */

/* A class's name that is none of its values, since it stands for all of them. */
static const char *class_name(const kn_table *values)
{
    static const char *const names[] = {"item", "items", "value", "any item"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool taken = false;
        for (uint32_t v = 0; v < values->columns[0].dict.count && !taken; v++)
            taken = kn_string_equal(kn_dictionary_text(&values->columns[0].dict, v), kn_string_of(names[i]));
        if (!taken) return names[i];
    }
    return "any of the items";
}

static kn_status write(baskets *b, const kn_table *values, kn_error *err)
{
    kn_drafting   *d = b->d;
    kn_buffer     *to = &d->text;
    kn_draft_rule  rule;
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    const char    *name = class_name(values);
    if (b->records < 2) return kn_fail(err, KN_INPUT, "%s: it has fewer than 2 records", d->inputs[0]);
    bool lines = kn_records_form_of(d->inputs[0]) == KN_RECORDS_JSON_LINES;
    if (d->delimiter != ',') csv.delimiter = d->delimiter;
    KN_TRY(kn_draft_rule_of(&rule, d, values, 0, NULL, false, err));
    KN_TRY(kn_draft_opening(d, &csv, !d->listed ? "release.txt" : lines ? "release.jsonl" : "release.json", err));
    kn_buffer_format(to, "\nclasses:  # each %s is a record: what somebody has, such as the items of a basket\n  ",
                     d->listed ? "list" : "line");
    kn_draft_quote(to, name);
    kn_buffer_add(to, ": {");
    if (rule.hierarchy) kn_buffer_format(to, "hierarchy: %s", rule.hierarchy);
    kn_buffer_format(to, "}  # others may know it; to be safe (%s)\n", rule.why);
    KN_TRY(kn_draft_add_column(d, NULL, name, "quasi", "others may know it; to be safe", rule.hierarchy, err));
    if (b->records >= FEW_RECORDS && (int64_t)b->firsts.count == b->records)
        KN_TRY(kn_draft_note(d, err,
                             "no two %s begin with the same value: if that is the number of a basket or a person, "
                             "remove it from the file",
                             d->listed ? "lists" : "lines"));
    int64_t k = d->options->k > 0 ? d->options->k : b->records < FEW_RECORDS ? 2 : 5;
    kn_buffer_format(
        to,
        "\nprivacy:\n  - k-mn: {k: %lld, m: 2, n: 0}  # whoever knows 2 values of somebody finds nobody or at "
        "least so many\n"
        "suppression: 5%%  # so many values and records may be given up where a rare one would blur "
        "everybody's\n"
        "\nmethod: auto  # the methods that fit are tried, and the one that loses least is taken\n",
        (long long)k);
    return to->failed ? kn_draft_memory(d, err) : KN_OK;
}

kn_status kn_draft_baskets(kn_drafting *d, kn_error *err)
{
    kn_spec_class       item = {.name = "item"};
    baskets             b = {.d = d};
    kn_records_sink     sink = {&b, on_record, on_node, on_ignored};
    kn_records_options  options = reading(d, &item);
    kn_catalog_column   column = {.name = "item"};
    kn_catalog_table    table = {.name = "records", .column_count = 1, .columns = &column};
    kn_csv_options      csv = KN_CSV_OPTIONS_INIT;
    kn_database_options as = KN_DATABASE_OPTIONS_INIT;
    kn_table           *values = NULL;
    as.csv = &csv;
    kn_interner_init(&b.firsts, d->ctx);
    kn_status st = kn_feed_open(&b.feed, d->ctx, d->inputs[0], &table, err);
    if (st == KN_OK) st = kn_records_scan(d->ctx, d->inputs[0], &options, &sink, NULL, err);
    if (st == KN_OK) st = kn_feed_finish(&values, &b.feed, NULL, &as, err);
    if (st == KN_OK) st = write(&b, values, err);
    kn_feed_abort(&b.feed);
    kn_table_free(values);
    kn_interner_free(&b.firsts);
    return st;
}
