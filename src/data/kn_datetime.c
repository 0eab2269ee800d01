/* kn_datetime.c: the calendar, and dates and times read by a pattern.
 *
 * Interface: kn_days_from_civil, kn_civil_from_days, kn_parse_date, kn_parse_datetime, kn_format_check.
 *
 * A pattern is matched with the text, without backtracking: each piece decides by itself how much it consumes. That is
 * enough because a number is of variable width only where no digit can follow it.
 *
 * Cost: some ten steps per field, without allocation. Limits: the proleptic Gregorian calendar, years 0001 to 9999; no
 * two-digit years, no names of weekdays, no leap seconds.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <string.h>

#include "kn_value.h"

enum {
    DAYS_TO_1970 = 719468, /* from 0000-03-01, where the counting below begins    */
    FIRST_DAY = -719162,   /* 0001-01-01 */
    LAST_DAY = 2932896     /* 9999-12-31 */
};

/* ---- The calendar ---- */

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int kn_days_in_month(int year, int month)
{
    static const char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Years are counted from March, so that the leap day is the last of its year and the months before it have a fixed
 * pattern: month i (March is 0) begins on day (153 i + 2) / 5. Days from 0000-03-01 to the start of such a year: */
static int32_t year_start(int32_t year)
{
    return year * 365 + year / 4 - year / 100 + year / 400;
}

int64_t kn_days_from_civil(int year, int month, int day)
{
    int m = (month + 9) % 12;
    return year_start(year - (month <= 2)) + (153 * m + 2) / 5 + (day - 1) - DAYS_TO_1970;
}

void kn_civil_from_days(int64_t days, int *year, int *month, int *day)
{
    if (days < FIRST_DAY) days = FIRST_DAY;
    if (days > LAST_DAY) days = LAST_DAY;
    int32_t n = (int32_t)days + DAYS_TO_1970;
    /* A year's start is never two days away from its number times the mean length, so the estimate is off by one year
     * at most: begin one above and step down. */
    int32_t y = (int32_t)((int64_t)n * 400 / 146097) + 1, start = year_start(y);
    while (start > n) start = year_start(--y);
    int32_t in_year = n - start, m = (5 * in_year + 2) / 153;
    *day = in_year - (153 * m + 2) / 5 + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = y + (m >= 10);
}

/* ---- Reading ---- */

enum { SEEN_YEAR = 1, SEEN_MONTH = 2, SEEN_DAY = 4, SEEN_HOUR = 8, SEEN_MINUTE = 16, SEEN_SECOND = 32, SEEN_ZONE = 64 };
enum { WHOLE_DATE = SEEN_YEAR | SEEN_MONTH | SEEN_DAY };

typedef struct reading {
    const char *at, *end; /* the rest of the text     */
    unsigned    seen;     /* fields of the pattern so far */
    int         year, month, day, hour, minute, second, micros;
    bool        has_offset;
    int32_t     offset; /* seconds east of UTC */
} reading;

/* Between `least` and `most` digits, as many as there are. */
static bool read_number(reading *r, int least, int most, int *out)
{
    int n = 0, value = 0;
    while (n < most && r->at < r->end && kn_is_digit(*r->at)) {
        value = value * 10 + (*r->at++ - '0');
        n++;
    }
    *out = value;
    return n >= least;
}

static bool read_in_range(reading *r, int least_digits, int low, int high, int *out)
{
    return read_number(r, least_digits, 2, out) && *out >= low && *out <= high;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool read_month_name(reading *r)
{
    static const char *const names[] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};
    for (int m = 0; m < 12; m++) {
        size_t left = (size_t)(r->end - r->at), n = 0, length = strlen(names[m]);
        while (n < length && n < left && lower(r->at[n]) == names[m][n]) n++;
        if (n < 3) continue;
        r->at += n == length ? n : 3; /* the whole name or its first three letters; the rest must match the pattern */
        r->month = m + 1;
        return true;
    }
    return false;
}

/* The fraction of a second, if one follows. `next` is what follows in the pattern. */
static bool read_fraction(reading *r, char next)
{
    if (r->end - r->at < 2 || (*r->at != '.' && *r->at != ',') || *r->at == next || !kn_is_digit(r->at[1])) return true;
    r->at++;
    int scale = 100000;
    for (; r->at < r->end && kn_is_digit(*r->at); r->at++, scale /= 10) {
        if (scale == 0) return false; /* a seventh digit would be lost */
        r->micros += (*r->at - '0') * scale;
    }
    return true;
}

static bool read_offset(reading *r)
{
    if (r->at == r->end) return true;
    r->has_offset = true;
    char sign = *r->at++;
    if (sign == 'Z') return true;
    if (sign != '+' && sign != '-') return false;
    int hours, minutes = 0;
    if (!read_number(r, 2, 2, &hours) || hours > 23) return false;
    bool colon = r->at < r->end && *r->at == ':';
    if (colon) r->at++;
    if (colon || (r->at < r->end && kn_is_digit(*r->at)))
        if (!read_number(r, 2, 2, &minutes) || minutes > 59) return false;
    r->offset = (hours * 60 + minutes) * 60 * (sign == '-' ? -1 : 1);
    return true;
}

/* Which field a conversion gives; 0: none. */
static unsigned field_of(char conversion)
{
    switch (conversion) {
    case 'Y': return SEEN_YEAR;
    case 'm':
    case 'b': return SEEN_MONTH;
    case 'd': return SEEN_DAY;
    case 'H': return SEEN_HOUR;
    case 'M': return SEEN_MINUTE;
    case 'S': return SEEN_SECOND;
    case 'z': return SEEN_ZONE;
    default: return 0;
    }
}

static bool is_number_field(const char *piece)
{
    return piece[0] == '%' && piece[1] != 'b' && piece[1] != 'z' && field_of(piece[1]) != 0;
}

/* Reads one field. `rest` is the pattern after the conversion; `two_digits`: one digit is not enough. */
static bool read_field(reading *r, char conversion, const char *rest, bool two_digits)
{
    unsigned field = field_of(conversion);
    if (field == 0 || (r->seen & field)) return false;
    r->seen |= field;
    int least = two_digits || is_number_field(rest) || kn_is_digit(rest[0]) ? 2 : 1;
    switch (conversion) {
    case 'Y': return read_number(r, 4, 4, &r->year) && r->year >= 1;
    case 'm': return read_in_range(r, least, 1, 12, &r->month);
    case 'd': return read_in_range(r, least, 1, 31, &r->day);
    case 'H': return read_in_range(r, least, 0, 23, &r->hour);
    case 'M': return read_in_range(r, least, 0, 59, &r->minute);
    case 'S': return read_in_range(r, least, 0, 59, &r->second) && read_fraction(r, rest[0]);
    case 'b': return read_month_name(r);
    default: return read_offset(r);
    }
}

/* How many of the pattern's next characters may be missing from the text, which continues with something else? */
static size_t left_out(const reading *r, const char *format)
{
    bool ended = r->at == r->end;
    if (format[0] == ':' && format[1] == '%' && format[2] == 'S' && (ended || *r->at != ':') &&
        (format[3] == '\0' || strcmp(format + 3, "%z") == 0 || strcmp(format + 3, " %z") == 0))
        return 3;
    if (ended && strcmp(format, " %z") == 0) return 3;
    return 0;
}

static bool match(reading *r, kn_string text, const char *format)
{
    text = kn_value_trim(text);
    *r = (reading){.at = text.data, .end = text.data + text.size};
    bool year_first = format[0] == '%' && format[1] == 'Y', after_number = false;
    for (const char *f = format; *f;) {
        size_t skip = *f == ':' || *f == ' ' ? left_out(r, f) : 0;
        if (skip) {
            unsigned field = field_of(f[skip - 1]);
            if (r->seen & field) return false;
            r->seen |= field;
            f += skip;
        } else if (*f != '%') {
            if (r->at == r->end || *r->at++ != *f++) return false;
        } else if (f[1] == '%') {
            if (r->at == r->end || *r->at++ != '%') return false;
            f += 2;
        } else {
            if (!read_field(r, f[1], f + 2, year_first || after_number)) return false;
            after_number = is_number_field(f);
            f += 2;
            continue;
        }
        after_number = false;
    }
    return r->at == r->end && (r->seen & WHOLE_DATE) == WHOLE_DATE && r->day <= kn_days_in_month(r->year, r->month);
}

bool kn_parse_date(kn_string text, const char *format, int64_t *days)
{
    reading r;
    if (!match(&r, text, format) || r.seen != WHOLE_DATE) return false;
    *days = kn_days_from_civil(r.year, r.month, r.day);
    return true;
}

bool kn_parse_datetime(kn_string text, const char *format, const kn_timezone *zone, int64_t *micros)
{
    reading r;
    if (!match(&r, text, format) || !(r.seen & SEEN_HOUR)) return false;
    if ((r.seen & SEEN_SECOND) && !(r.seen & SEEN_MINUTE)) return false;
    int64_t local = kn_days_from_civil(r.year, r.month, r.day) * 86400 + r.hour * 3600 + r.minute * 60 + r.second;
    int32_t offset = r.has_offset ? r.offset : kn_timezone_offset(zone, local);
    *micros = (local - offset) * 1000000 + r.micros;
    return true;
}

/* ---- Checking a pattern ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static const char *fault(const char *format, kn_type type)
{
    if (type != KN_TYPE_DATE && type != KN_TYPE_DATETIME) return "only dates and times have a format";
    if (!format || !*format) return "the format is empty";
    if (is_space(format[0]) || is_space(format[strlen(format) - 1])) return "a format cannot begin or end with a space";
    unsigned seen = 0;
    for (const char *f = format; *f; f++) {
        if (*f != '%') continue;
        f++;
        if (*f == '%') continue;
        if (*f == 'y') return "years have four digits: %Y, not %y";
        unsigned field = field_of(*f);
        if (field == 0) return "only %Y %m %b %d %H %M %S %z and %% are known";
        if (seen & field) return "a part of the date is given twice";
        seen |= field;
    }
    if ((seen & WHOLE_DATE) != WHOLE_DATE) return "a date needs %Y, %m (or %b) and %d";
    if (type == KN_TYPE_DATE) return seen == WHOLE_DATE ? NULL : "a date has no time of day: the type is datetime";
    if (!(seen & SEEN_HOUR)) return "a time needs %H";
    if ((seen & SEEN_SECOND) && !(seen & SEEN_MINUTE)) return "%S needs %M";
    return NULL;
}

bool kn_format_check(const char *format, kn_type type, const char **reason)
{
    const char *why = fault(format, type);
    if (why && reason) *reason = why;
    return why == NULL;
}
