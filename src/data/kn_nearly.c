/* kn_nearly.c: columns that are text because of a few cells: "unknown" among ages, a date or two in another form.
 *
 * Interface: kn_column_nearly, kn_nearly_row, kn_fail_type (kn_table.h). At least ten different values are needed, and
 * - of a column of numbers, at most three that are none (and one in ten), none of which has a digit: 02138 or 12-14
 *   among whole numbers say that these are codes;
 * - of a column of dates, at most one in five that is not of the form of the others.
 * None of them may have a *, which says that this is a release. Numbers may have the decimal mark of the table, or a comma. Dates that
 * two forms fit equally well are left alone: how they would be read is not known.
 *
 * Cost: a reading is given up after 64 values if half of these lack it, and then as soon as too many do; else one pass. No
 * allocation.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_error.h"
#include "kn_table.h"
#include "kn_value.h"

enum { LEAST = 10, MOST_WORDS = 3, PROBES = 64 };

static bool fits(kn_string text, const kn_nearly *r)
{
    int64_t day;
    text = kn_value_trim(text);
    return r->format ? kn_parse_date(text, r->format, &day) : kn_parse_decimal(text, r->mark, NULL);
}

/* Among numbers, a digit says that these are codes; a * anywhere, that this is a release. */
static bool says_no(kn_string text, const kn_nearly *r)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == '*' || (!r->format && text.data[i] >= '0' && text.data[i] <= '9')) return true;
    return false;
}

/* Are half of some values, from all over the column, as they should be? Of plain text none is. */
static bool is_likely(const kn_dictionary *dict, const kn_nearly *r)
{
    uint32_t looked = dict->count < PROBES ? dict->count : PROBES, fitting = 0;
    for (uint32_t i = 0; i < looked; i++)
        fitting += fits(kn_dictionary_text(dict, (uint32_t)((uint64_t)i * dict->count / looked)), r);
    return 2 * fitting >= looked;
}

/* How many values are otherwise; 0: too many. */
static uint32_t count_others(const kn_dictionary *dict, const kn_nearly *r)
{
    uint32_t others = 0, most = r->format ? dict->count / 5 : dict->count / 10;
    if (!r->format && most > MOST_WORDS) most = MOST_WORDS;
    if (!is_likely(dict, r)) return 0;
    for (uint32_t v = 0; v < dict->count; v++) {
        kn_string text = kn_dictionary_text(dict, v);
        if (fits(text, r)) continue;
        if (++others > most || says_no(text, r)) return 0;
    }
    return others;
}

/* Readings: numbers with the mark of the table, with a comma, and all patterns of dates. */
bool kn_column_nearly(kn_nearly *out, const kn_column *c)
{
    bool tied = false;
    *out = (kn_nearly){0};
    if (c->type != KN_TYPE_TEXT || c->asked || c->ambiguous_date || c->dict.count < LEAST) return false;
    for (int p = -2; p < 0 || kn_date_pattern(p); p++) {
        kn_nearly r = {.format = kn_date_pattern(p), .mark = p == -1 || c->mark == ',' ? ',' : '.'};
        r.others = count_others(&c->dict, &r);
        if (r.others == 0 || (out->others > 0 && r.others > out->others)) continue;
        tied = out->format && r.others == out->others;
        if (r.others != out->others) *out = r;
    }
    return out->others > 0 && !tied;
}

int64_t kn_nearly_row(const kn_nearly *r, const kn_table *table, int column)
{
    const kn_column *c = &table->columns[column];
    for (int64_t row = 0; row < table->rows; row++) {
        uint32_t code = kn_column_code(c, row);
        if (code < c->dict.count && !fits(kn_dictionary_text(&c->dict, code), r)) return kn_table_number(table, row);
    }
    return 0;
}

kn_status kn_fail_type(const kn_column *column, bool numbers, bool dates, const char *need, kn_error *err)
{
    kn_nearly n;
    bool      nearly = kn_column_nearly(&n, column) && (n.format ? dates : numbers), one = n.others == 1;
    if (!nearly)
        return kn_fail(err, KN_USAGE, "column \"%s\" is of type %s; %s", column->name, kn_type_name(column->type),
                       need);
    return kn_fail(err, KN_USAGE, "column \"%s\" is of type text because %lu of its %lu different values %s%s; %s",
                   column->name, (unsigned long)n.others, (unsigned long)column->dict.count,
                   n.format ? (one ? "is no date of the form " : "are no dates of the form ")
                            : (one ? "is no number" : "are no numbers"),
                   n.format ? n.format : "", need);
}
