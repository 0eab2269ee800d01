/* kn_hierarchy_ranges.c: assigns numbers and dates to ranges (by widths) and breaks (by cut points).
 *
 * Everything is exact: with s the most decimals any width, origin or cut point has, numbers are multiplied by 10^s
 * and rounded down, which changes nothing about which side of a bound (a multiple of 10^-s) they are on.
 *
 * Labels: integers and dates get closed intervals ([20, 24]), decimals and times half-open ones ([0.5, 1)), outermost
 * breaks an infinite end ((-inf, 17], [65, inf)). No label depends on the values of the data: ranges are on the grid
 * of the widths, breaks at the given points. Cost: O(1) per label of ranges, O(log points) of breaks. Limits:
 * |number| × 10^s below 10^18.
 * SPDX-License-Identifier: Apache-2.0
 */

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_fault.h"
#include "kn_hierarchy_build.h"

enum { MOST_DIGITS = 18, MOST_DECIMALS = 15 };

/* ---- Numbers ---- */

static size_t digit_count(const kn_decimal *d)
{
    return d->before.size + d->after.size;
}

static int64_t digit(const kn_decimal *d, size_t i)
{
    return (i < d->before.size ? d->before.data[i] : d->after.data[i - d->before.size]) - '0';
}

/* floor(d × 10^scale); false: it has more than 18 digits. */
static bool scale_down(const kn_decimal *d, int scale, int64_t *out)
{
    size_t n = digit_count(d);
    if (n == 0) {
        *out = 0;
        return true;
    }
    if (d->exponent > MOST_DIGITS) return false;
    int64_t whole = d->exponent < -MOST_DIGITS ? 0 : d->exponent + scale; /* digits before the point      */
    if (whole > MOST_DIGITS) return false;
    int64_t m = 0;
    for (int64_t i = 0; i < whole; i++) m = m * 10 + ((size_t)i < n ? digit(d, (size_t)i) : 0);
    bool rest = whole < 0 || (size_t)whole < n;
    *out = d->negative ? -m - rest : m;
    return true;
}

/* How many decimals a number needs. */
static int64_t decimals_of(const kn_decimal *d)
{
    int64_t n = (int64_t)digit_count(d);
    return n > d->exponent ? n - d->exponent : 0;
}

/* At least `digits` digits; printf would take most of the time of building ranges. */
static void append_digits(uint64_t m, int digits, kn_buffer *out)
{
    char text[20];
    int  at = (int)sizeof text;
    for (; m > 0 || digits > 0; m /= 10, digits--) text[--at] = (char)('0' + m % 10);
    kn_buffer_append(out, text + at, sizeof text - (size_t)at);
}

static void append_number(const kn_interval_builder *b, int64_t scaled, kn_buffer *out)
{
    kn_type type = b->base.column->type;
    if (type == KN_TYPE_DATE || type == KN_TYPE_DATETIME) {
        int64_t days = type == KN_TYPE_DATE ? scaled : scaled / INT64_C(86400000000); /* points are whole days */
        int     year, month, day;
        kn_civil_from_days(days, &year, &month, &day);
        kn_buffer_format(out, "%04d-%02d-%02d", year, month, day);
        return;
    }
    uint64_t m = scaled < 0 ? 0 - (uint64_t)scaled : (uint64_t)scaled, unit = 1;
    int      scale = b->scale;
    for (; scale > 0 && m % 10 == 0; scale--) m /= 10;
    for (int i = 0; i < scale; i++) unit *= 10;
    if (scaled < 0) kn_buffer_char(out, '-');
    append_digits(m / unit, 1, out);
    if (scale == 0) return;
    kn_buffer_char(out, b->decimal);
    append_digits(m % unit, scale, out);
}

/* ---- Labels ---- */

static int64_t value_of(const kn_interval_builder *b, uint32_t code)
{
    if (b->base.times) return b->base.times[code];
    return b->values ? b->values[code] : b->base.column->dict.integers[code];
}

/* From `low` up to, not including, `high`, in the notation of the column's type; NULL: there is no such end. */
static void append_interval(const kn_interval_builder *b, const int64_t *low, const int64_t *high, kn_buffer *out)
{
    kn_type type = b->base.column->type;
    bool    whole = type == KN_TYPE_INTEGER || type == KN_TYPE_DATE; /* between two neighbours there is nothing */
    if (type == KN_TYPE_INTEGER && low && high && *high - 1 == *low) {
        append_number(b, *low, out);
        return;
    }
    kn_buffer_add(out, low ? "[" : "(-inf");
    if (low) append_number(b, *low, out);
    kn_buffer_add(out, high ? ", " : ", inf");
    if (high) append_number(b, whole ? *high - 1 : *high, out);
    kn_buffer_char(out, high && whole ? ']' : ')');
}

static int64_t range_begin(int64_t value, int64_t origin, int64_t width)
{
    int64_t offset = (value - origin) % width;
    return value - (offset < 0 ? offset + width : offset);
}

static void range_label(const kn_label_builder *base, uint32_t code, uint32_t level, kn_buffer *out)
{
    const kn_interval_builder *b = (const kn_interval_builder *)base;
    int64_t                    width = b->widths[level - 1], low = range_begin(value_of(b, code), b->origin, width);
    if (kn_fault("hierarchy-interval-off")) low++;
    int64_t high = low + width;
    append_interval(b, &low, &high, out);
}

static void break_label(const kn_label_builder *base, uint32_t code, uint32_t level, kn_buffer *out)
{
    const kn_interval_builder *b = (const kn_interval_builder *)base;
    const int64_t             *points = b->points + b->begins[level - 1];
    size_t                     count = b->begins[level] - b->begins[level - 1], low = 0, high = count;
    int64_t                    value = value_of(b, code);
    while (low < high) { /* how many points are <= value */
        size_t middle = (low + high) / 2;
        if (points[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    append_interval(b, low > 0 ? &points[low - 1] : NULL, low < count ? &points[low] : NULL, out);
}

/* ---- Setting up ---- */

static kn_status out_of_range(const kn_interval_builder *b, kn_error *err)
{
    return kn_fail(err, KN_INPUT, "column \"%s\" has numbers that are too large for ranges", b->base.column->name);
}

/* A number of the spec: a date in columns of dates and times. First round (`scaled` NULL): finds the scale. */
static kn_status read_number(kn_interval_builder *b, const char *text, const char *what, int64_t *scaled, kn_error *err)
{
    kn_type type = b->base.column->type;
    int64_t days;
    if (type == KN_TYPE_DATE || type == KN_TYPE_DATETIME) {
        if (!kn_parse_date(kn_string_of(text), "%Y-%m-%d", &days))
            return kn_fail(err, KN_USAGE, "%s: \"%s\" is not a date (YYYY-MM-DD)", what, text);
        if (scaled) *scaled = type == KN_TYPE_DATE ? days : days * INT64_C(86400000000);
        return KN_OK;
    }
    kn_decimal d;
    if (!kn_parse_decimal(kn_string_of(text), '.', &d))
        return kn_fail(err, KN_USAGE, "%s: \"%s\" is not a number", what, text);
    int64_t decimals = decimals_of(&d);
    if (decimals > (type == KN_TYPE_INTEGER ? 0 : MOST_DECIMALS))
        return kn_fail(err, KN_USAGE, "column \"%s\" is of type %s; %s: \"%s\" has too many decimals for it",
                       b->base.column->name, kn_type_name(type), what, text);
    if (decimals > b->scale) b->scale = (int)decimals;
    if (scaled && !scale_down(&d, b->scale, scaled))
        return kn_fail(err, KN_USAGE, "%s: \"%s\" is too large", what, text);
    return KN_OK;
}

/* The column's numbers, rounded down to the scale. */
static kn_status scale_values(kn_interval_builder *b, kn_error *err)
{
    const kn_column *column = b->base.column;
    if (column->type != KN_TYPE_DECIMAL) return KN_OK;
    b->values = kn_alloc_array(b->base.ctx, column->dict.count, sizeof *b->values);
    if (!b->values) return kn_fail_memory(err, b->base.ctx, "building a hierarchy");
    for (uint32_t c = 0; c < column->dict.count; c++) {
        kn_decimal d;
        if (!kn_parse_declared_decimal(kn_dictionary_text(&column->dict, c), b->decimal, &d))
            return kn_fail(err, KN_USAGE, "column \"%s\" has numbers with another decimal mark than '%c'", column->name,
                           b->decimal);
        if (!scale_down(&d, b->scale, &b->values[c])) return out_of_range(b, err);
    }
    return KN_OK;
}

static kn_status set_widths(kn_interval_builder *b, const kn_hierarchy_spec *spec, kn_error *err)
{
    const char *origin = spec->origin ? spec->origin : "0";
    if (spec->width_count < 1) return kn_fail(err, KN_USAGE, "ranges: at least one width is needed");
    KN_TRY(read_number(b, origin, "ranges: the origin", NULL, err));
    for (int i = 0; i < spec->width_count; i++) KN_TRY(read_number(b, spec->widths[i], "ranges", NULL, err));
    KN_TRY(read_number(b, origin, "ranges: the origin", &b->origin, err));
    b->widths = kn_alloc_array(b->base.ctx, (size_t)spec->width_count, sizeof *b->widths);
    if (!b->widths) return kn_fail_memory(err, b->base.ctx, "building a hierarchy");
    for (int i = 0; i < spec->width_count; i++) {
        KN_TRY(read_number(b, spec->widths[i], "ranges", &b->widths[i], err));
        if (b->widths[i] <= 0) return kn_fail(err, KN_USAGE, "ranges: a width is greater than 0");
        if (i > 0 && (b->widths[i] <= b->widths[i - 1] || b->widths[i] % b->widths[i - 1] != 0))
            return kn_fail(err, KN_USAGE, "ranges: width %s is not a multiple of the one before, %s", spec->widths[i],
                           spec->widths[i - 1]);
    }
    b->base.levels = (uint32_t)spec->width_count;
    b->base.label = range_label;
    return scale_values(b, err);
}

/* Codes are in the order of their values, so the ends show whether any range leaves the 64 bits. */
static kn_status check_ends(const kn_interval_builder *b, kn_error *err)
{
    uint32_t count = b->base.column->dict.count;
    int64_t  width = b->widths[b->base.levels - 1], ignored;
    int64_t  ends[2] = {count ? value_of(b, 0) : 0, count ? value_of(b, count - 1) : 0};
    for (int i = 0; i < 2; i++)
        if (__builtin_sub_overflow(ends[i], b->origin, &ignored) || __builtin_sub_overflow(ends[i], width, &ignored) ||
            __builtin_add_overflow(ends[i], width, &ignored))
            return out_of_range(b, err);
    return KN_OK;
}

/* One level's points: ascending, and each one of the level below's. */
static kn_status check_points(const kn_interval_builder *b, int level, kn_error *err)
{
    const int64_t *points = b->points + b->begins[level];
    size_t         count = b->begins[level + 1] - b->begins[level], below = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && points[i] <= points[i - 1])
            return kn_fail(err, KN_USAGE, "breaks: the points of level %d do not ascend", level + 1);
        if (level == 0) continue;
        const int64_t *lower = b->points + b->begins[level - 1];
        size_t         lower_count = b->begins[level] - b->begins[level - 1];
        while (below < lower_count && lower[below] < points[i]) below++;
        if (below == lower_count || lower[below] != points[i])
            return kn_fail(err, KN_USAGE, "breaks: a point of level %d is not one of level %d", level + 1, level);
    }
    return KN_OK;
}

static kn_status set_points(kn_interval_builder *b, const kn_hierarchy_spec *spec, kn_error *err)
{
    size_t total = 0;
    if (spec->break_count < 1) return kn_fail(err, KN_USAGE, "breaks: at least one level is needed");
    for (int l = 0; l < spec->break_count; l++) {
        const kn_hierarchy_cuts *cuts = &spec->breaks[l];
        if (cuts->count < 1) return kn_fail(err, KN_USAGE, "breaks: level %d has no points", l + 1);
        for (int i = 0; i < cuts->count; i++) KN_TRY(read_number(b, cuts->points[i], "breaks", NULL, err));
        total += (size_t)cuts->count;
    }
    b->points = kn_alloc_array(b->base.ctx, total, sizeof *b->points);
    b->begins = kn_alloc_array(b->base.ctx, (size_t)spec->break_count + 1, sizeof *b->begins);
    if (!b->points || !b->begins) return kn_fail_memory(err, b->base.ctx, "building a hierarchy");
    b->begins[0] = 0;
    for (int l = 0; l < spec->break_count; l++) {
        const kn_hierarchy_cuts *cuts = &spec->breaks[l];
        for (int i = 0; i < cuts->count; i++)
            KN_TRY(read_number(b, cuts->points[i], "breaks", &b->points[b->begins[l] + (size_t)i], err));
        b->begins[l + 1] = b->begins[l] + (size_t)cuts->count;
        KN_TRY(check_points(b, l, err));
    }
    b->base.levels = (uint32_t)spec->break_count;
    b->base.label = break_label;
    return scale_values(b, err);
}

kn_status kn_interval_builder_init(kn_interval_builder *b, kn_label_builder base, const kn_hierarchy_spec *spec,
                                   kn_error *err)
{
    kn_type type = base.column->type;
    bool    ranges = spec->kind == KN_HIERARCHY_RANGES;
    bool    number = type == KN_TYPE_INTEGER || type == KN_TYPE_DECIMAL;
    *b = (kn_interval_builder){.base = base, .decimal = spec->decimal ? spec->decimal : '.'};
    if (!number && (ranges || (type != KN_TYPE_DATE && type != KN_TYPE_DATETIME)))
        return kn_fail_type(base.column, true, !ranges,
                            ranges ? "ranges need integers or decimals" : "breaks need numbers, dates or times", err);
    if (!ranges) return set_points(b, spec, err);
    KN_TRY(set_widths(b, spec, err));
    return check_ends(b, err);
}

void kn_interval_builder_free(kn_interval_builder *b)
{
    KN_FREE(b->values, b->widths, b->points, b->begins);
}
