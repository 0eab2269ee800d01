/* kn_answer_notes.c: notes for the user: on a table that was read, on what a release drops. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kn_answer.h"
#include "kn_table.h"

static void put_nearly(kn_document *doc, const kn_table *table, int column, const kn_nearly *n)
{
    const char *name = kn_table_name(table, column);
    uint32_t    distinct = table->columns[column].dict.count;
    int64_t     row = kn_nearly_row(n, table, column);
    char        what[100], how[160];
    bool        commas = n->mark == ',' && table->columns[column].mark != ',';
    if (n->format) {
        snprintf(what, sizeof what, "dates of the form %s", n->format);
        snprintf(how, sizeof how,
                 "write the cells alike, or name by --na, in a release file 'na:', what stands for a missing value");
    } else {
        snprintf(what, sizeof what, "numbers%s", commas ? " with a decimal comma" : "");
        snprintf(how, sizeof how, "--na, in a release file 'na:', names what stands for a missing value%s",
                 commas ? ", and --decimal , the mark" : "");
    }
    kn_put_note(doc,
                "column \"%s\" is text because of %" PRIu32 " of its %" PRIu32 " different values (first: row %" PRId64
                "): the others are %s; %s",
                name, n->others, distinct, row, what, how);
}

void kn_note_table(kn_document *doc, const kn_table *table)
{
    kn_nearly nearly;
    bool      commas = kn_table_decimal_commas(table);
    for (int c = 0; c < kn_table_columns(table); c++) {
        const char *name = kn_table_name(table, c);
        int64_t     respelled = kn_table_respelled(table, c);
        if (kn_table_unnamed(table, c))
            kn_put_note(doc, "a column without a name is called \"%s\", after its place", name);
        if (respelled > 0)
            kn_put_note(doc,
                        "column \"%s\": %" PRId64
                        " spellings of a number or date were read as equal to another one (like "
                        "1.0 and 1.00); --type '%s:text' tells them apart",
                        name, respelled, name);
        if (kn_table_ambiguous_dates(table, c))
            kn_put_note(doc,
                        "column \"%s\" has dates that can be read as day/month or month/day, and stays text; "
                        "--type '%s:date:%%d/%%m/%%Y' decides",
                        name, name);
        if (commas && kn_column_decimal_commas(&table->columns[c]))
            kn_put_note(doc,
                        "column \"%s\" has numbers with a decimal comma, which stay text; --decimal , reads them as "
                        "numbers, in a release file 'decimal: \",\"', which 'kanon init' writes",
                        name);
        else if (kn_column_nearly(&nearly, &table->columns[c]))
            put_nearly(doc, table, c, &nearly);
    }
}

void kn_note_dropped(kn_document *doc, const char *const *dropped, int count)
{
    size_t size = sizeof "not declared, so dropped: ", used;
    if (count == 0) return;
    for (int i = 0; i < count; i++) size += strlen(dropped[i]) + sizeof ", \"\"";
    char *text = kn_document_take(doc, size);
    if (!text) return;
    used = (size_t)snprintf(text, size, "not declared, so dropped: ");
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s\"%s\"", i ? ", " : "", dropped[i]);
    kn_put_notes(doc, (const char *const *)&text, 1);
}

const char *kn_count_text(char *out, int64_t count)
{
    char digits[32];
    int  n = snprintf(digits, sizeof digits, "%" PRId64, count), used = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && digits[i - 1] != '-' && (n - i) % 3 == 0) out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}
