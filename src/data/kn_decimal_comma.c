/* kn_decimal_comma.c: columns that are text only because the decimal mark of their numbers is a comma.
 *
 * Interface: kn_table_decimal_commas, kn_column_decimal_commas.
 *
 * A comma may also separate thousands (1,234). It does not if some number of the table has other than three digits
 * after it, or if the file has semicolons between its cells: who writes those has the comma for numbers.
 *
 * Cost: columns of text end at their first value that is no such number. No allocation.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_table.h"

/* "12,5": digits, at most one comma with digits on both sides, an optional sign. `fraction`: the number of digits
 * after the comma. */
static bool is_comma_number(kn_string text, size_t *fraction)
{
    size_t begin = text.size > 0 && (text.data[0] == '-' || text.data[0] == '+'), comma = text.size;
    for (size_t i = begin; i < text.size; i++) {
        if (text.data[i] == ',' && comma == text.size && i > begin)
            comma = i;
        else if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    }
    *fraction = comma < text.size ? text.size - comma - 1 : 0;
    return text.size > begin && comma + 1 != text.size;
}

/* Are all values numbers, some of them with a comma? `clear`: some comma cannot separate thousands. */
static bool comma_numbers(const kn_column *column, bool *clear)
{
    bool commas = false;
    if (column->type != KN_TYPE_TEXT) return false;
    *clear = false;
    for (uint32_t v = 0; v < column->dict.count; v++) {
        size_t fraction = 0;
        if (!is_comma_number(kn_dictionary_text(&column->dict, v), &fraction)) return false;
        commas |= fraction > 0;
        *clear |= fraction > 0 && fraction != 3;
    }
    return commas;
}

bool kn_table_decimal_commas(const kn_table *table)
{
    for (int c = 0; c < table->column_count; c++) {
        bool clear = false;
        if (comma_numbers(&table->columns[c], &clear) && (clear || table->delimiter == ';')) return true;
    }
    return false;
}

bool kn_column_decimal_commas(const kn_column *column)
{
    bool clear = false;
    return comma_numbers(column, &clear);
}
