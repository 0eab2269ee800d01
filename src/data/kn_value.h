/* kn_value.h: what a cell's text means as a number, a date or a time.
 *
 * Types are inferred from the *distinct* texts of a column: a column is of a type when every one of its values is, under
 * one reading. A text that could lose something as a number stays text: a leading zero (02138), a plus sign, more than
 * one reading of a date (03/04/2020 as day/month and month/day). A type the user declares is read less strictly: the
 * user asked for the value, so 007 is then 7. docs/types.md explains the same to users.
 *
 * Nothing here depends on the process's locale or on TZ. Everything may be called from any thread; a kn_timezone does not
 * change once opened. Spaces and tabs around a value are never part of it.
 * SPDX-License-Identifier: Apache-2.0
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

static inline bool kn_type_is_number(kn_type type)
{
    return type == KN_TYPE_INTEGER || type == KN_TYPE_DECIMAL;
}

/* [-]digits without leading zeros, within int64. "-0" is not an integer (no other integer has two spellings); it is a
 * decimal. */
bool kn_parse_integer(kn_string text, int64_t *out);

/* The same for a declared integer: leading zeros, a plus sign and "-0" are allowed too. */
bool kn_parse_declared_integer(kn_string text, int64_t *out);

/* A decimal number held exactly: its sign, its significant digits and the power of ten of the first of them. Borrows
 * from the text it was read from. Zero has no digits, exponent 0 and no sign. */
typedef struct kn_decimal {
    kn_string before, after; /* significant digits, split at the decimal mark; no leading or trailing zeros          */
    int64_t   exponent;      /* value = ±0.d1d2d3... × 10^exponent */
    bool      negative;
    double    nearest; /* the nearest double: always finite; 0 where the value is too small for one */
} kn_decimal;

/* [-]digits[mark digits][e[±]digits], without superfluous leading zeros (the exponent may have them); ".5" and "5." are
 * allowed, "inf" and "nan" are not. With decimal ',' the mark is a comma; thousands separators are never accepted. A
 * number too large for a double and an exponent beyond ±999999999 are refused. With `out` NULL it is only checked, which
 * is faster. */
bool kn_parse_decimal(kn_string text, char mark, kn_decimal *out);

/* The same for a declared decimal: leading zeros and a plus sign are allowed too. */
bool kn_parse_declared_decimal(kn_string text, char mark, kn_decimal *out);

/* Exact order by value: negative, 0 or positive. */
int kn_decimal_compare(const kn_decimal *a, const kn_decimal *b);

/* ---- Dates and times ---- */

/* Days since 1970-01-01 in the proleptic Gregorian calendar, years 0001 to 9999. The first needs a date that exists;
 * the second maps days outside those years to their first or last day. */
int64_t kn_days_from_civil(int year, int month, int day);
void    kn_civil_from_days(int64_t days, int *year, int *month, int *day);

/* Days of a month, 28 to 31. */
int kn_days_in_month(int year, int month);

/* Reads a date (result: days since 1970-01-01) or a time (microseconds since then, UTC) by a pattern of literal
 * characters and
 *     %Y  the year, four digits, from 0001
 *     %m %d %H %M %S  two digits; one or two where the pattern does not begin with %Y and no other number touches
 *         %S may have a fraction of one to six digits after '.' or ','; there is no second 60 and no hour 24
 *     %b  an English month name, short or long, in any case
 *     %z  Z, ±hh, ±hhmm or ±hh:mm; at the end of the pattern it may be missing from the text (with a space before it)
 *     %%  a percent sign
 * A ":%S" at the end of the pattern or before its last "%z" may be missing from the text. The whole text must match.
 * false, too, where kn_format_check refuses the pattern. */
bool kn_parse_date(kn_string text, const char *format, int64_t *days);
bool kn_parse_datetime(kn_string text, const char *format, const kn_timezone *zone, int64_t *micros);

/* Is `format` a pattern as above that gives a whole date (or, for KN_TYPE_DATETIME, a date and at least the hour)?
 * `reason` (may be NULL) says why not: a static string. */
bool kn_format_check(const char *format, kn_type type, const char **reason);

/* "UTC", a fixed offset ("+02:00") or a name of the system's time zone database ("Europe/Paris"): the folder in the
 * environment variable TZDIR, else /usr/share/zoneinfo. Names may not leave that folder. KN_USAGE: no such name; KN_IO:
 * there is no database; KN_INPUT: its file is damaged. */
KN_CHECK kn_status kn_timezone_open(kn_timezone **out, kn_context *ctx, const char *name, kn_error *err);
void               kn_timezone_free(kn_timezone *zone);

/* The same from the bytes of a TZif file (RFC 8536), which are not trusted; `name` is for messages. */
KN_CHECK kn_status kn_timezone_parse(kn_timezone **out, kn_context *ctx, const char *name, const void *data,
                                     size_t size, kn_error *err);

/* Seconds east of UTC for a local wall-clock time in the zone (seconds since 1970 as if it were UTC). A time that occurs
 * twice is taken as the first; one that is skipped is moved forward. At most 26 hours either way. `zone` NULL: 0. */
int32_t kn_timezone_offset(const kn_timezone *zone, int64_t local_seconds);

/* The same for a moment: seconds since 1970 in UTC. */
int32_t kn_timezone_offset_at(const kn_timezone *zone, int64_t seconds);

/* ---- Columns ---- */

/* The type of a column from its distinct values, and for dates the pattern that fits them all (static string, else
 * NULL). No values: text. `ambiguous` is set where two date patterns fit with different results; the type is then text.
 * `rules` may be NULL: decimal point and UTC. The result does not depend on the number of threads or the order of the
 * values. */
KN_CHECK kn_status kn_infer_type(kn_type *type, const char **format, bool *ambiguous, kn_context *ctx,
                                 const kn_string *values, size_t count, const kn_value_rules *rules, kn_error *err);

/* The known patterns of dates, from 0 to the first NULL; static strings. */
const char *kn_date_pattern(int number);

/* Reads all values as a declared type (every inferred type may be read as if it were declared). INTEGER, DATE and
 * DATETIME fill integers[count]; DECIMAL fills decimals[count], which borrow from the values. `format` is for dates and
 * times only; NULL means whichever known pattern fits all values (for a date %Y%m%d too). `rules` may be NULL.
 *
 * A value that does not parse: KN_INPUT, *first_bad is the lowest such index (without a format: the first value at which
 * no known pattern fits all so far, or, if two fit, the first that they read differently), and the message is general:
 * the caller knows the column and the row. A pattern that makes no sense, or any other type: KN_USAGE. */
KN_CHECK kn_status kn_parse_values(kn_context *ctx, const kn_string *values, size_t count, kn_type type,
                                   const char *format, const kn_value_rules *rules, int64_t *integers,
                                   kn_decimal *decimals, size_t *first_bad, kn_error *err);

/* The text without the spaces and tabs around it; its data is never NULL. */
static inline kn_string kn_value_trim(kn_string text)
{
    if (text.size == 0) text.data = "";
    while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t')) text.size--;
    return text;
}

#endif
