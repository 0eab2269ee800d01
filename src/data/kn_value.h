/* kn_value.h: what a cell's text means as a number, a date or a time.
 *
 * Types are inferred from the *distinct* texts of a column: a column is of a type when every one of its values is, under
 * one reading. A text that could lose something as a number stays text: a leading zero (02138), a plus sign, more than
 * one reading of a date (03/04/2020 as day/month and month/day).
 */
#ifndef KN_VALUE_H
#define KN_VALUE_H

#include <kanon/table.h>

#include "kn_string.h"

typedef struct kn_timezone kn_timezone;

/* How cells are to be read. */
typedef struct kn_value_rules {
    char               decimal;  /* '.' or ','                              */
    const kn_timezone *timezone; /* of times that carry none; NULL: UTC     */
} kn_value_rules;

/* ---- Numbers ---- */

/* [-]digits without leading zeros, within int64; spaces (ASCII) around it are allowed. */
bool kn_parse_integer(kn_string text, int64_t *out);

/* A decimal number held exactly: its sign, its significant digits and the power of ten of the first of them. Borrows
 * from the text it was read from. Zero has no digits. */
typedef struct kn_decimal {
    kn_string before, after; /* significant digits, split where the decimal mark stood; no leading or trailing zeros */
    int64_t   exponent;      /* value = ±0.d1d2d3... × 10^exponent */
    bool      negative;
    double    nearest;       /* the nearest double */
} kn_decimal;

/* [-]digits[mark digits][e[±]digits], without superfluous leading zeros; ".5" and "5." are allowed, "inf" and "nan" are
 * not. With decimal ',' the mark is a comma; thousands separators are never accepted. */
bool kn_parse_decimal(kn_string text, char mark, kn_decimal *out);

/* Exact order by value: negative, 0 or positive. */
int kn_decimal_compare(const kn_decimal *a, const kn_decimal *b);

/* ---- Dates and times ---- */

/* Days since 1970-01-01 in the proleptic Gregorian calendar, years 0001 to 9999. */
int64_t kn_days_from_civil(int year, int month, int day);
void    kn_civil_from_days(int64_t days, int *year, int *month, int *day);

/* Reads a date (result: days since 1970-01-01) or a time (microseconds since then, UTC) by a pattern of literal
 * characters and %Y %m %d %H %M %S (seconds with an optional fraction) %z (Z, ±hh, ±hhmm, ±hh:mm; optional where the text ends before it)
 * %b (English month name, short or long) %%. The whole text must match; surrounding spaces are allowed. */
bool kn_parse_date(kn_string text, const char *format, int64_t *days);
bool kn_parse_datetime(kn_string text, const char *format, const kn_timezone *zone, int64_t *micros);

/* Is `format` a pattern as above that gives a whole date (or, for KN_TYPE_DATETIME, date and time)? `reason` says why not. */
bool kn_format_check(const char *format, kn_type type, const char **reason);

/* "UTC", a fixed offset ("+02:00") or a name of the system's time zone database ("Europe/Paris"). Names may not leave
 * the database's folder. */
KN_CHECK kn_status kn_timezone_open(kn_timezone **out, kn_context *ctx, const char *name, kn_error *err);
void               kn_timezone_free(kn_timezone *zone);

/* Seconds east of UTC for a local wall-clock time in the zone (seconds since 1970 as if it were UTC). A time that occurs
 * twice is taken as the first; one that is skipped is moved forward. */
int32_t kn_timezone_offset(const kn_timezone *zone, int64_t local_seconds);

/* ---- Inference ---- */

/* The type of a column from its distinct values, and for dates the pattern that fits them all (static string, else
 * NULL). No values: text. `ambiguous` is set where two date patterns fit with different results; the type is then text. */
KN_CHECK kn_status kn_infer_type(kn_type *type, const char **format, bool *ambiguous, kn_context *ctx,
                                 const kn_string *values, size_t count, const kn_value_rules *rules, kn_error *err);

#endif
