/* kn_hierarchy_by_type.c: which hierarchy a column gets if its owner gives none (kn_hierarchy_by_type.h).
 *
 *     integers, decimals   ranges; their widths are round numbers, the narrowest about a twentieth of what most of the
 *                          different values span, the widest less than what all of them span
 *     dates, times         the calendar, all steps
 *     codes                mask, in at most six steps: texts with equally many characters, a digit in each, and at most one
 *                          character that is neither a letter nor a digit
 *     anything else        value -> *: also at most two values, and numbers too large or too close to each other
 *
 * One pass over the different values.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_hierarchy_by_type.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kn_error.h"
#include "kn_table.h"

enum { MOST_WIDTHS = 8, STEPS = 25, LONGEST_CODE = 24, MASK_LEVELS = 6, EDGE = 20 };

/* ---- Numbers ---- */

/* A round number: 1, 2, 4 or 5 times a power of ten. */
typedef struct width {
    int digit, power;
} width;

static double value_of(width w)
{
    char text[24];
    snprintf(text, sizeof text, "%de%d", w.digit, w.power);
    return strtod(text, NULL);
}

/* The narrowest that divides the span into no more than STEPS parts. */
static width first_width(double span, bool whole)
{
    static const int digits[] = {1, 2, 5};
    for (int power = (int)floor(log10(span / STEPS)) - 1;; power++)
        for (int i = 0; i < 3; i++) {
            width  w = {digits[i], power};
            double value = value_of(w);
            if (value * STEPS >= span && (!whole || value >= 2)) return w;
        }
}

/* 1, 2, 10, 20, ...; 5, 10, 20, 100, ...: each a multiple of the one before. */
static width next_width(width w)
{
    return w.digit == 1 ? (width){2, w.power} : (width){1, w.power + 1};
}

static const char *width_text(kn_arena *arena, width w)
{
    char text[40];
    int  size = w.power < 0 ? snprintf(text, sizeof text, "%.*f", -w.power, value_of(w))
                            : snprintf(text, sizeof text, "%.0f", value_of(w));
    return kn_arena_strndup(arena, text, (size_t)size);
}

static double number_at(const kn_dictionary *dict, uint32_t code)
{
    return dict->integers ? (double)dict->integers[code] : dict->decimals[code];
}

/* Can bounds on the grid of a width be computed exactly (kn_hierarchy_ranges.c)? */
static bool fits(width w, double least, double most)
{
    double decimals = w.power < 0 ? value_of((width){1, -w.power}) : 1;
    return fmax(fabs(least), fabs(most)) * decimals < 1e17;
}

/* False: the numbers are too large, or too close to each other. */
static bool widths_of(kn_hierarchy_spec *out, kn_arena *arena, const kn_column *column)
{
    const kn_dictionary *dict = &column->dict;
    uint32_t             last = dict->count - 1;
    double               least = number_at(dict, 0), most = number_at(dict, last), span = most - least;
    double               usual = number_at(dict, last - last / EDGE) - number_at(dict, last / EDGE);
    if (!(fabs(least) < 1e12 && fabs(most) < 1e12) || !(usual >= 1e-9)) return false;
    width w = first_width(usual, column->type == KN_TYPE_INTEGER);
    if (!fits(w, least, most)) return false;
    const char **widths = kn_arena_array(arena, MOST_WIDTHS + 1, sizeof *widths);
    int          count = 0;
    for (; widths && (count == 0 || (value_of(w) < span && count < MOST_WIDTHS)); w = next_width(w)) {
        width twice = {4, w.power}; /* before the last step, which would be one of five */
        widths[count++] = width_text(arena, w);
        if (w.digit == 2 && value_of(next_width(w)) >= span && value_of(twice) < span)
            widths[count++] = width_text(arena, twice);
    }
    out->kind = KN_HIERARCHY_RANGES;
    out->widths = widths;
    out->width_count = count;
    return true;
}

/* ---- Texts ---- */

static bool is_letter(unsigned char c)
{
    return c >= 0x80 || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The characters of a code; 0: it is none. */
static int characters_of(kn_string text)
{
    int characters = 0, digits = 0, others = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool          digit = c >= '0' && c <= '9';
        characters += (c & 0xc0) != 0x80;
        digits += digit;
        others += c == '*' ? 2 : !digit && !is_letter(c); /* hidden already: a label would look like a value */
    }
    return digits > 0 && others <= 1 ? characters : 0;
}

/* The length of all texts, if they are codes and equally long; else 0. */
static int code_length(const kn_dictionary *dict)
{
    int length = characters_of(kn_dictionary_text(dict, 0));
    for (uint32_t v = 1; v < dict->count; v++)
        if (characters_of(kn_dictionary_text(dict, v)) != length) return 0;
    return length >= 2 && length <= LONGEST_CODE ? length : 0;
}

/* ---- All of them ---- */

kn_status kn_hierarchy_by_type(kn_hierarchy_spec *out, kn_arena *arena, const kn_column *column, kn_error *err)
{
    kn_hierarchy_spec rule = KN_HIERARCHY_SPEC_INIT;
    int               length = 0;
    bool              enough = column->dict.count > 2;
    rule.kind = KN_HIERARCHY_SUPPRESS;
    switch (column->type) {
    case KN_TYPE_INTEGER:
    case KN_TYPE_DECIMAL: (void)(enough && widths_of(&rule, arena, column)); break;
    case KN_TYPE_DATE:
    case KN_TYPE_DATETIME:
        if (enough) rule.kind = KN_HIERARCHY_CALENDAR;
        break;
    case KN_TYPE_AUTO:
    case KN_TYPE_TEXT: length = enough ? code_length(&column->dict) : 0; break;
    }
    if (length > 0) {
        rule.kind = KN_HIERARCHY_MASK;
        rule.mask_step = (length + MASK_LEVELS - 1) / MASK_LEVELS;
    }
    *out = rule;
    return arena->failed ? kn_fail_memory(err, arena->ctx, "choosing a hierarchy") : KN_OK;
}
