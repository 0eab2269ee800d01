/* hierarchy_build.c: built hierarchies, derived again from docs/hierarchies.md: masks, ranges, breaks, calendars,
 * prefixes, suppression.
 *
 * Numbers are decimal digit strings here, not scaled integers: a value and the bounds of ranges and breaks are written
 * with the same number of decimals, so that they are integers of at most 38 digits. Cost: O(values × levels).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

enum { LEVELS = KN_HIERARCHY_MAX_LEVELS, MOST_DIGITS = 36, DAY_MICROS_E6 = 86400 };

/* What the kinds share: writes the labels of one value above the value itself. */
typedef struct builder {
    kn_context              *ctx;
    const kn_attribute      *attribute;
    const kn_hierarchy_spec *spec;
    const kn_vdomain        *domain;
    kn_buffer                text;
    size_t                   ends[LEVELS + 1]; /* of the labels in `text` */
    uint32_t                 levels;
    bool                     star; /* a root "*" above them */
    /* masks */
    size_t longest;
    /* prefixes */
    uint32_t parts;
    /* ranges and breaks */
    int      decimals;
    kn_i128 *numbers; /* widths, with the origin first; or all cut points */
    int     *begins;  /* breaks: where a level's points begin            */
} builder;

static void end_label(builder *b)
{
    size_t begin = b->levels ? b->ends[b->levels - 1] : 0;
    if (b->text.size == begin) kn_buffer_char(&b->text, '*');
    if (b->levels < LEVELS) b->ends[b->levels++] = b->text.size;
}

/* ---- Masks ---- */

static size_t count_characters(kn_string s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.size; i++) n += (s.data[i] & 0xc0) != 0x80;
    return n;
}

static void mask_value(builder *b, kn_string value)
{
    const char *mask = b->spec->mask ? b->spec->mask : "*";
    size_t      step = b->spec->mask_step > 0 ? (size_t)b->spec->mask_step : 1, length = count_characters(value);
    size_t      width = b->spec->mask_pad ? b->longest : length, levels = (b->longest + step - 1) / step;
    for (size_t level = 1; level <= levels; level++) {
        size_t hidden = level * step < width ? level * step : width, at = 0;
        size_t shown = width - hidden < length ? width - hidden : length; /* characters of the value that remain */
        if (b->spec->mask_left)
            for (size_t i = shown; i < width; i++) kn_buffer_add(&b->text, mask);
        size_t from = b->spec->mask_left ? length - shown : 0;
        for (size_t i = 0; i < value.size; i++) {
            at += (value.data[i] & 0xc0) != 0x80;
            if (at > from && at <= from + shown) kn_buffer_char(&b->text, value.data[i]);
        }
        if (!b->spec->mask_left)
            for (size_t i = shown; i < width; i++) kn_buffer_add(&b->text, mask);
        end_label(b);
    }
}

/* Is a root added, since masked values of different lengths would never meet? */
static void measure_lengths(builder *b)
{
    size_t shortest = SIZE_MAX;
    for (uint32_t v = 0; v < b->domain->count; v++) {
        size_t n = count_characters(b->domain->spelling[v]);
        if (n > b->longest) b->longest = n;
        if (n < shortest) shortest = n;
    }
    b->star = b->longest == 0 || (!b->spec->mask_pad && shortest != b->longest);
}

/* ---- Prefixes ---- */

/* Bytes of the first `parts` parts; *found: how many there are, at most that many. */
static size_t first_parts(kn_string value, const char *separator, uint32_t parts, uint32_t *found)
{
    size_t length = strlen(separator);
    *found = 1;
    for (size_t at = 1; at + length <= value.size;) {
        if (memcmp(value.data + at, separator, length) != 0) {
            at++;
            continue;
        }
        if (*found == parts) return at;
        ++*found;
        at += length;
    }
    return value.size;
}

static void prefix_value(builder *b, kn_string value)
{
    for (uint32_t parts = b->parts - 1; parts >= 1; parts--) {
        uint32_t found;
        kn_buffer_append(&b->text, value.data, first_parts(value, b->spec->separator, parts, &found));
        end_label(b);
    }
}

/* ---- Calendars ---- */

/* Year, month and day of a day number, by stepping through 400-year cycles, years and months. */
static void civil(int64_t days, int *year, int *month, int *day)
{
    static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t          left = days + 719162; /* since 0001-01-01 */
    int64_t          cycles = left / 146097;
    left %= 146097;
    *year = (int)(cycles * 400) + 1;
    for (;; ++*year) {
        bool leap = (*year % 4 == 0 && *year % 100 != 0) || *year % 400 == 0;
        if (left < 365 + leap) break;
        left -= 365 + leap;
    }
    for (*month = 1;; ++*month) {
        bool    leap = (*year % 4 == 0 && *year % 100 != 0) || *year % 400 == 0;
        int64_t length = lengths[*month - 1] + (leap && *month == 2);
        if (left < length) break;
        left -= length;
    }
    *day = (int)left + 1;
}

/* A moment as the clocks of the input's time zone show it: days begin at their midnight. */
static int64_t on_the_clock(const kn_vdomain *d, uint32_t value)
{
    int64_t n = d->integers[value], second = n / 1000000 - (n % 1000000 < 0);
    return d->type == KN_TYPE_DATETIME ? n + (int64_t)kn_timezone_offset_at(d->rules.timezone, second) * 1000000 : n;
}

static int64_t day_of(const kn_vdomain *d, uint32_t value)
{
    int64_t n = on_the_clock(d, value), micros = (int64_t)DAY_MICROS_E6 * 1000000;
    if (d->type == KN_TYPE_DATE) return n;
    return n >= 0 ? n / micros : -((-n + micros - 1) / micros);
}

static void calendar_value(builder *b, uint32_t value)
{
    int      year, month, day;
    unsigned steps = b->spec->calendar ? b->spec->calendar : ~0u;
    civil(day_of(b->domain, value), &year, &month, &day);
    if ((steps & KN_CALENDAR_DAY) && b->domain->type == KN_TYPE_DATETIME) {
        kn_buffer_format(&b->text, "%04d-%02d-%02d", year, month, day);
        end_label(b);
    }
    if (steps & KN_CALENDAR_MONTH) {
        kn_buffer_format(&b->text, "%04d-M%02d", year, month);
        end_label(b);
    }
    if (steps & KN_CALENDAR_QUARTER) {
        kn_buffer_format(&b->text, "%04d-Q%d", year, (month - 1) / 3 + 1);
        end_label(b);
    }
    if (steps & KN_CALENDAR_YEAR) {
        kn_buffer_format(&b->text, "%04d", year);
        end_label(b);
    }
    if (steps & KN_CALENDAR_DECADE) {
        int decade = year - year % 10;
        if (b->domain->type == KN_TYPE_DATE)
            kn_buffer_format(&b->text, "[%04d-01-01, %04d-12-31]", decade, decade + 9);
        else
            kn_buffer_format(&b->text, "[%04d-01-01, %04d-01-01)", decade, decade + 10);
        end_label(b);
    }
}

/* ---- Ranges and breaks ---- */

static bool is_time(const builder *b)
{
    return b->domain->type == KN_TYPE_DATE || b->domain->type == KN_TYPE_DATETIME;
}

/* Decimals that a number needs. */
static int decimals_of(const kn_decimal *d)
{
    int64_t n = (int64_t)(d->before.size + d->after.size) - d->exponent;
    return n > 0 && d->before.size + d->after.size > 0 ? (n < 100 ? (int)n : 100) : 0;
}

/* floor(d × 10^decimals); false: too many digits. */
static bool whole(const kn_decimal *d, int decimals, kn_i128 *out)
{
    int64_t digits = (int64_t)(d->before.size + d->after.size), wanted = d->exponent + decimals;
    kn_i128 n = 0;
    *out = 0;
    if (digits == 0) return true;
    if (wanted > MOST_DIGITS) return false;
    for (int64_t i = 0; i < wanted; i++) {
        char c = '0';
        if (i < digits) c = (size_t)i < d->before.size ? d->before.data[i] : d->after.data[(size_t)i - d->before.size];
        n = n * 10 + (c - '0');
    }
    bool rest = digits > (wanted > 0 ? wanted : 0);
    *out = d->negative ? -n - (rest ? 1 : 0) : n;
    return true;
}

static bool number_of(const builder *b, const char *text, kn_decimal *out)
{
    (void)b;
    return kn_parse_declared_decimal(kn_string_of(text), '.', out);
}

static kn_status bad_number(const builder *b, kn_error *err)
{
    return kn_fail(err, KN_INPUT, "column \"%s\": a number of its hierarchy cannot be read", b->attribute->name);
}

/* A bound of the spec: a number times 10^decimals, a day, or a day's first microsecond. */
static kn_status read_bound(const builder *b, const char *text, kn_i128 *out, kn_error *err)
{
    kn_decimal d;
    int64_t    days;
    if (is_time(b)) {
        if (!kn_parse_date(kn_string_of(text), "%Y-%m-%d", &days)) return bad_number(b, err);
        *out = b->domain->type == KN_TYPE_DATE ? (kn_i128)days : (kn_i128)days * DAY_MICROS_E6 * 1000000;
        return KN_OK;
    }
    return number_of(b, text, &d) && whole(&d, b->decimals, out) ? KN_OK : bad_number(b, err);
}

static kn_status note_decimals(builder *b, const char *text, kn_error *err)
{
    kn_decimal d;
    if (is_time(b)) return KN_OK;
    if (!number_of(b, text, &d)) return bad_number(b, err);
    int n = decimals_of(&d);
    if (n > b->decimals) b->decimals = n;
    return KN_OK;
}

static bool value_number(const builder *b, uint32_t value, kn_i128 *out)
{
    if (b->domain->decimals) return whole(&b->domain->decimals[value], b->decimals, out);
    *out = on_the_clock(b->domain, value);
    for (int i = 0; i < b->decimals; i++) *out *= 10;
    return true;
}

static void write_number(builder *b, kn_i128 n)
{
    char digits[48];
    int  at = (int)sizeof digits, behind = b->decimals;
    if (is_time(b)) {
        int year, month, day;
        civil((int64_t)(b->domain->type == KN_TYPE_DATE ? n : n / ((kn_i128)DAY_MICROS_E6 * 1000000)), &year, &month,
              &day);
        kn_buffer_format(&b->text, "%04d-%02d-%02d", year, month, day);
        return;
    }
    if (n < 0) kn_buffer_char(&b->text, '-');
    kn_u128 m = (kn_u128)(n < 0 ? -n : n);
    while (behind > 0 && m % 10 == 0) {
        m /= 10;
        behind--;
    }
    for (int i = 0; i <= behind || m > 0; i++, m /= 10) {
        if (i == behind && behind > 0) digits[--at] = b->domain->rules.decimal == ',' ? ',' : '.';
        digits[--at] = (char)('0' + (int)(m % 10));
    }
    kn_buffer_append(&b->text, digits + at, sizeof digits - (size_t)at);
}

/* The numbers n with low <= n < high; closed where numbers are whole. */
static void write_interval(builder *b, kn_i128 low, kn_i128 high)
{
    bool closed = b->domain->type == KN_TYPE_INTEGER || b->domain->type == KN_TYPE_DATE;
    if (b->domain->type == KN_TYPE_INTEGER && low + 1 == high) {
        write_number(b, low);
        return;
    }
    kn_buffer_char(&b->text, '[');
    write_number(b, low);
    kn_buffer_add(&b->text, ", ");
    write_number(b, closed ? high - 1 : high);
    kn_buffer_char(&b->text, closed ? ']' : ')');
}

/* What is below the lowest cut point. */
static void write_below(builder *b, kn_i128 point)
{
    bool closed = b->domain->type == KN_TYPE_INTEGER || b->domain->type == KN_TYPE_DATE;
    kn_buffer_add(&b->text, "(-inf, ");
    write_number(b, closed ? point - 1 : point);
    kn_buffer_char(&b->text, closed ? ']' : ')');
}

static bool range_value(builder *b, uint32_t value)
{
    kn_i128 n;
    if (!value_number(b, value, &n)) return false;
    for (int i = 1; i <= b->spec->width_count; i++) {
        kn_i128 width = b->numbers[i], past = (n - b->numbers[0]) % width;
        if (past < 0) past += width;
        write_interval(b, n - past, n - past + width);
        end_label(b);
    }
    return true;
}

static bool break_value(builder *b, uint32_t value)
{
    kn_i128 n;
    if (!value_number(b, value, &n)) return false;
    for (int l = 0; l < b->spec->break_count; l++) {
        const kn_i128 *points = b->numbers + b->begins[l];
        int            count = b->begins[l + 1] - b->begins[l], below = 0;
        while (below < count && points[below] <= n) below++;
        if (below == 0) {
            write_below(b, points[0]);
        } else if (below == count) {
            kn_buffer_char(&b->text, '[');
            write_number(b, points[count - 1]);
            kn_buffer_add(&b->text, ", inf)");
        } else {
            write_interval(b, points[below - 1], points[below]);
        }
        end_label(b);
    }
    return true;
}

static kn_status read_widths(builder *b, kn_error *err)
{
    const char *origin = b->spec->origin ? b->spec->origin : "0";
    KN_TRY(note_decimals(b, origin, err));
    for (int i = 0; i < b->spec->width_count; i++) KN_TRY(note_decimals(b, b->spec->widths[i], err));
    b->numbers = kn_alloc_array(b->ctx, (size_t)b->spec->width_count + 1, sizeof *b->numbers);
    if (!b->numbers) return kn_fail_memory(err, b->ctx, "verifying");
    KN_TRY(read_bound(b, origin, &b->numbers[0], err));
    for (int i = 0; i < b->spec->width_count; i++) {
        KN_TRY(read_bound(b, b->spec->widths[i], &b->numbers[i + 1], err));
        if (b->numbers[i + 1] <= 0) return bad_number(b, err);
    }
    return KN_OK;
}

static kn_status read_points(builder *b, kn_error *err)
{
    size_t total = 0;
    for (int l = 0; l < b->spec->break_count; l++) {
        for (int i = 0; i < b->spec->breaks[l].count; i++) KN_TRY(note_decimals(b, b->spec->breaks[l].points[i], err));
        total += (size_t)b->spec->breaks[l].count;
        if (b->spec->breaks[l].count < 1) return bad_number(b, err);
    }
    b->numbers = kn_alloc_array(b->ctx, total + 1, sizeof *b->numbers);
    b->begins = kn_alloc_array(b->ctx, (size_t)b->spec->break_count + 1, sizeof *b->begins);
    if (!b->numbers || !b->begins) return kn_fail_memory(err, b->ctx, "verifying");
    int n = 0;
    for (int l = 0; l < b->spec->break_count; l++) {
        b->begins[l] = n;
        for (int i = 0; i < b->spec->breaks[l].count; i++, n++)
            KN_TRY(read_bound(b, b->spec->breaks[l].points[i], &b->numbers[n], err));
    }
    b->begins[b->spec->break_count] = n;
    return KN_OK;
}

/* ---- All kinds ---- */

static kn_status prepare(builder *b, kn_error *err)
{
    bool ordered = b->domain->integers || b->domain->decimals;
    b->star = true;
    switch (b->spec->kind) {
    case KN_HIERARCHY_MASK: measure_lengths(b); return KN_OK;
    case KN_HIERARCHY_PREFIX:
        for (uint32_t v = 0; v < b->domain->count; v++) {
            uint32_t found;
            (void)first_parts(b->domain->spelling[v], b->spec->separator, UINT32_MAX, &found);
            if (found > b->parts) b->parts = found;
        }
        return KN_OK;
    case KN_HIERARCHY_CALENDAR: ordered = is_time(b); break;
    default: break;
    }
    if (b->spec->kind == KN_HIERARCHY_SUPPRESS) return KN_OK;
    if (!ordered && b->domain->count > 0)
        return kn_fail(err, KN_INPUT, "column \"%s\": its values are not what its hierarchy needs", b->attribute->name);
    if (b->spec->kind == KN_HIERARCHY_RANGES) return read_widths(b, err);
    if (b->spec->kind == KN_HIERARCHY_BREAKS) return read_points(b, err);
    return KN_OK;
}

static bool label_value(builder *b, uint32_t value)
{
    kn_string text = b->domain->spelling[value];
    kn_buffer_clear(&b->text);
    b->levels = 0;
    switch (b->spec->kind) {
    case KN_HIERARCHY_MASK: mask_value(b, text); return true;
    case KN_HIERARCHY_PREFIX: prefix_value(b, text); return true;
    case KN_HIERARCHY_CALENDAR: calendar_value(b, value); return true;
    case KN_HIERARCHY_RANGES: return range_value(b, value);
    case KN_HIERARCHY_BREAKS: return break_value(b, value);
    default: return true;
    }
}

static kn_status add_value(builder *b, kn_vtree_maker *maker, uint32_t value, kn_error *err)
{
    kn_string path[LEVELS + 2];
    uint32_t  n = 0;
    if (!label_value(b, value)) return bad_number(b, err);
    if (b->text.failed) return kn_fail_memory(err, b->ctx, "verifying");
    path[n++] = b->domain->spelling[value];
    for (uint32_t l = 0; l < b->levels; l++) {
        size_t begin = l ? b->ends[l - 1] : 0;
        path[n++] = (kn_string){b->text.data + begin, b->ends[l] - begin};
    }
    if (b->star) path[n++] = (kn_string){"*", 1};
    return kn_vtree_add(maker, path, n, 0, err);
}

kn_status kn_vtree_build(kn_vtree_maker *maker, kn_context *ctx, const kn_attribute *attribute,
                         const kn_vdomain *domain, kn_error *err)
{
    builder b = {.ctx = ctx, .attribute = attribute, .spec = &attribute->hierarchy, .domain = domain};
    kn_buffer_init(&b.text, ctx);
    kn_status st = prepare(&b, err);
    for (uint32_t v = 0; st == KN_OK && v < domain->count; v++) st = add_value(&b, maker, v, err);
    kn_buffer_free(&b.text);
    kn_free(b.numbers);
    kn_free(b.begins);
    return st;
}
