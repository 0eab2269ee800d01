/* hierarchy_by_type.c: the hierarchy that a quasi-identifier has although none was given, derived again from the values of
 * the original by docs/hierarchies.md: ranges of numbers, the calendar of dates and times, masks of codes, else a value
 * or *.
 *
 * Round widths are tried from the smallest on, as texts with an exponent. Cost: O(values).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

enum { LOWEST = -12, HIGHEST = 13, MOST_LEVELS = 8, PARTS = 25, CODE_LEVELS = 6, CODE_MOST = 24 };

/* ---- Numbers ---- */

static double number_of(int digit, int exponent, char text[16])
{
    kn_decimal d;
    snprintf(text, 16, "%de%d", digit, exponent);
    return kn_parse_declared_decimal(kn_string_of(text), '.', &d) ? d.nearest : NAN;
}

static double value_at(const kn_vdomain *d, uint32_t value)
{
    return d->integers ? (double)d->integers[value] : d->decimals[value].nearest;
}

/* The first of 1, 2, 5, 10, 20, 50 ... of which PARTS cover the span; false: there is none. */
static bool narrowest(double span, bool whole, int *digit, int *exponent)
{
    char text[16];
    for (*exponent = LOWEST; *exponent <= HIGHEST; ++*exponent)
        for (*digit = 1; *digit <= 5; *digit += *digit == 2 ? 3 : 1) {
            double w = number_of(*digit, *exponent, text);
            if (w * PARTS >= span && !(whole && w < 2)) return true;
        }
    return false;
}

static bool add_width(kn_arena *arena, const char **widths, int *count, int digit, int exponent)
{
    char text[16];
    (void)number_of(digit, exponent, text);
    widths[*count] = kn_arena_strndup(arena, text, strlen(text));
    return widths[(*count)++] != NULL;
}

/* From the narrowest on, each a multiple of the one before, below the span. */
static kn_status list_widths(kn_hierarchy_spec *spec, kn_context *ctx, kn_arena *arena, double span, int digit,
                             int exponent, kn_error *err)
{
    char         text[16];
    int          count = 0;
    const char **widths = kn_arena_array(arena, MOST_LEVELS + 1, sizeof *widths);
    bool         ok = widths != NULL;
    while (ok && (count == 0 || (count < MOST_LEVELS && number_of(digit, exponent, text) < span))) {
        ok = add_width(arena, widths, &count, digit, exponent);
        int next_digit = digit == 1 ? 2 : 1, next_exponent = exponent + (digit != 1);
        if (ok && digit == 2 && number_of(next_digit, next_exponent, text) >= span &&
            number_of(4, exponent, text) < span)
            ok = add_width(arena, widths, &count, 4, exponent);
        digit = next_digit;
        exponent = next_exponent;
    }
    spec->kind = KN_HIERARCHY_RANGES;
    spec->widths = widths;
    spec->width_count = count;
    return ok ? KN_OK : kn_fail_memory(err, ctx, "verifying");
}

static kn_status choose_ranges(kn_hierarchy_spec *spec, kn_arena *arena, const kn_vdomain *d, kn_error *err)
{
    uint32_t aside = (d->count - 1) / 20; /* values on either side that are not the usual ones */
    double   low = value_at(d, 0), high = value_at(d, d->count - 1);
    double   usual = value_at(d, d->count - 1 - aside) - value_at(d, aside);
    char     text[16];
    int      digit = 0, exponent = 0;
    if (!(low > -1e12 && high < 1e12 && usual >= 1e-9)) return KN_OK;
    if (!narrowest(usual, d->type == KN_TYPE_INTEGER, &digit, &exponent)) return KN_OK;
    double farthest = high > -low ? high : -low, scale = exponent < 0 ? number_of(1, -exponent, text) : 1;
    if (!(farthest * scale < 1e17)) return KN_OK;
    return list_widths(spec, d->ctx, arena, high - low, digit, exponent, err);
}

/* ---- Codes ---- */

/* Letters, at least one digit, at most one other character and no *: how many characters; else 0. */
static int code_size(kn_string s)
{
    int size = 0, digits = 0, signs = 0;
    for (size_t i = 0; i < s.size; i++) {
        int  c = (unsigned char)s.data[i];
        bool plain = c > 127 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (c == '*') return 0;
        if (c >= '0' && c <= '9')
            digits++;
        else
            signs += !plain;
        size += (c & 0xc0) != 0x80;
    }
    return digits == 0 || signs > 1 ? 0 : size;
}

static void choose_mask(kn_hierarchy_spec *spec, const kn_vdomain *d)
{
    int size = code_size(d->spelling[0]);
    for (uint32_t v = 1; v < d->count; v++)
        if (code_size(d->spelling[v]) != size) return;
    if (size < 2 || size > CODE_MOST) return;
    spec->kind = KN_HIERARCHY_MASK;
    spec->mask_step = size % CODE_LEVELS ? size / CODE_LEVELS + 1 : size / CODE_LEVELS;
}

/* ---- All types ---- */

kn_status kn_vtree_by_type(kn_hierarchy_spec *out, kn_arena *arena, const kn_vdomain *domain, kn_error *err)
{
    kn_hierarchy_spec none = KN_HIERARCHY_SPEC_INIT;
    *out = none;
    out->kind = KN_HIERARCHY_SUPPRESS;
    if (domain->count < 3) return KN_OK;
    if (domain->type == KN_TYPE_DATE || domain->type == KN_TYPE_DATETIME)
        out->kind = KN_HIERARCHY_CALENDAR;
    else if (domain->integers || domain->decimals)
        return choose_ranges(out, arena, domain, err);
    else
        choose_mask(out, domain);
    return KN_OK;
}
