/* kn_infer.c: the type of a column from its distinct values, and reading all values as a type.
 *
 * Interface: kn_infer_type, kn_date_pattern, kn_parse_values.
 *
 * Every reading that is still possible (integer, decimal, each known pattern of a date or a time) is a bit. A value
 * clears the bits of the readings that it does not have; if nothing is left, the column is text. Clearing commutes,
 * so ranges of values are checked in parallel and in any order with the same result. For dates, each pair of patterns
 * that ever read a value differently is remembered: if both survive, the column is ambiguous.
 *
 * Cost: one pass; nearly all bits are cleared by the first few values, which are checked before any thread is woken,
 * so plain text costs almost nothing. No allocation.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdatomic.h>
#include <stdint.h>

#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_value.h"

/* The readings in the order of preference. */
typedef struct pattern {
    kn_type     type;
    const char *format;
} pattern;

static const pattern patterns[] = {
    {KN_TYPE_INTEGER, NULL},
    {KN_TYPE_DECIMAL, NULL},
    {KN_TYPE_DATE, "%Y-%m-%d"},
    {KN_TYPE_DATE, "%Y/%m/%d"},
    {KN_TYPE_DATE, "%Y.%m.%d"},
    {KN_TYPE_DATE, "%d.%m.%Y"},
    {KN_TYPE_DATE, "%d/%m/%Y"},
    {KN_TYPE_DATE, "%m/%d/%Y"},
    {KN_TYPE_DATE, "%d-%m-%Y"},
    {KN_TYPE_DATE, "%m-%d-%Y"},
    {KN_TYPE_DATE, "%d %b %Y"},
    {KN_TYPE_DATE, "%d-%b-%Y"},
    {KN_TYPE_DATE, "%Y%m%d"}, /* only where a date is declared: it is an integer otherwise */
    {KN_TYPE_DATETIME, "%Y-%m-%dT%H:%M:%S%z"},
    {KN_TYPE_DATETIME, "%Y-%m-%d %H:%M:%S%z"},
    {KN_TYPE_DATETIME, "%d.%m.%Y %H:%M:%S"},
    {KN_TYPE_DATETIME, "%d/%m/%Y %H:%M:%S"},
    {KN_TYPE_DATETIME, "%m/%d/%Y %H:%M:%S"},
};

enum {
    PATTERNS = sizeof patterns / sizeof *patterns,
    INTEGER_BIT = 1,
    DECIMAL_BIT = 2,
    FIRST_DATE = 2,
    DECLARED_ONLY = 12,
    ALL_DATES = (1 << PATTERNS) - 1 - INTEGER_BIT - DECIMAL_BIT,
    GRAIN = 16384,
    LOOK = 1024, /* values between two checks of what other threads have found */
    PRIME = 64   /* values checked before threads are used                    */
};

static const kn_value_rules default_rules = {'.', NULL};

/* What is still possible after some values. */
typedef struct candidates {
    uint32_t alive;
    uint32_t differ[PATTERNS]; /* differ[p] has bit q > p: p and q read some value differently */
} candidates;

/* Tries the date patterns among `alive` and returns those that fit. */
static uint32_t fit_dates(candidates *c, uint32_t alive, kn_string text)
{
    int64_t  values[PATTERNS];
    uint32_t fitting = 0;
    for (uint32_t left = alive; left; left &= left - 1) {
        int            p = __builtin_ctz(left);
        const pattern *known = &patterns[p];
        bool           fits = known->type == KN_TYPE_DATE ? kn_parse_date(text, known->format, &values[p])
                                                          : kn_parse_datetime(text, known->format, NULL, &values[p]);
        if (fits) fitting |= (uint32_t)1 << p;
    }
    if ((fitting & (fitting - 1)) == 0) return fitting; /* nothing to disagree with */
    for (uint32_t left = fitting; left; left &= left - 1) {
        int p = __builtin_ctz(left);
        for (uint32_t others = left & (left - 1); others; others &= others - 1) {
            int q = __builtin_ctz(others);
            if (values[p] != values[q]) c->differ[p] |= (uint32_t)1 << q;
        }
    }
    return fitting;
}

/* Clears the readings that `text` does not have. */
static void look_at(candidates *c, kn_string text, char decimal)
{
    int64_t  integer;
    uint32_t alive = c->alive;
    text = kn_value_trim(text);
    if ((alive & INTEGER_BIT) && !kn_parse_integer(text, &integer)) alive &= ~(uint32_t)INTEGER_BIT;
    /* An integer is a decimal. */
    if ((alive & (INTEGER_BIT | DECIMAL_BIT)) == DECIMAL_BIT && !kn_parse_decimal(text, decimal, NULL))
        alive &= ~(uint32_t)DECIMAL_BIT;
    uint32_t dates = alive & ALL_DATES;
    if (dates) {
        /* All known patterns begin with a digit. */
        bool may_be = text.size > 0 && text.data[0] >= '0' && text.data[0] <= '9';
        alive = (alive & ~dates) | (may_be ? fit_dates(c, dates, text) : 0);
    }
    c->alive = alive;
}

/* ---- In parallel ---- */

typedef struct inference {
    const kn_string *values;
    char             decimal;
    _Atomic uint32_t alive;
    _Atomic uint32_t differ[PATTERNS];
} inference;

static kn_status infer_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    inference *job = arg;
    candidates c = {0};
    (void)worker;
    (void)err;
    c.alive = atomic_load_explicit(&job->alive, memory_order_relaxed);
    for (int64_t i = begin; i < end && c.alive; i++) {
        if ((i - begin) % LOOK == LOOK - 1) c.alive &= atomic_load_explicit(&job->alive, memory_order_relaxed);
        look_at(&c, job->values[i], job->decimal);
    }
    atomic_fetch_and_explicit(&job->alive, c.alive, memory_order_relaxed);
    for (int p = FIRST_DATE; p < PATTERNS; p++)
        if (c.differ[p]) atomic_fetch_or_explicit(&job->differ[p], c.differ[p], memory_order_relaxed);
    return KN_OK;
}

/* Clears from c->alive what does not fit all values. */
static kn_status eliminate(candidates *c, kn_context *ctx, const kn_string *values, size_t count, char decimal,
                           kn_error *err)
{
    size_t primed = count < PRIME ? count : PRIME;
    for (size_t i = 0; i < primed && c->alive; i++) look_at(c, values[i], decimal);
    if (primed == count || c->alive == 0) return KN_OK;

    inference job = {.values = values + primed, .decimal = decimal, .alive = c->alive};
    for (int p = 0; p < PATTERNS; p++) atomic_init(&job.differ[p], c->differ[p]);
    KN_TRY(kn_parallel_for(ctx, (int64_t)(count - primed), GRAIN, infer_range, &job, err));
    c->alive = atomic_load(&job.alive);
    for (int p = 0; p < PATTERNS; p++) c->differ[p] = atomic_load(&job.differ[p]);
    return KN_OK;
}

/* A pattern that survived together with the first survivor and reads some value differently; -1: none. The others may
 * differ only if one of them differs from the first. */
static int rival_of(const candidates *c)
{
    int      first = __builtin_ctz(c->alive);
    uint32_t rivals = c->alive & c->differ[first];
    return rivals ? __builtin_ctz(rivals) : -1;
}

kn_status kn_infer_type(kn_type *type, const char **format, bool *ambiguous, kn_context *ctx, const kn_string *values,
                        size_t count, const kn_value_rules *rules, kn_error *err)
{
    candidates c = {.alive = (uint32_t)(ALL_DATES | INTEGER_BIT | DECIMAL_BIT) & ~((uint32_t)1 << DECLARED_ONLY)};
    *type = KN_TYPE_TEXT;
    *format = NULL;
    *ambiguous = false;
    if (count == 0) return KN_OK;
    if (!rules) rules = &default_rules;
    KN_TRY(eliminate(&c, ctx, values, count, rules->decimal, err));
    if (c.alive == 0) return KN_OK;
    if (rival_of(&c) >= 0) {
        *ambiguous = true;
        return KN_OK;
    }
    *type = patterns[__builtin_ctz(c.alive)].type;
    *format = patterns[__builtin_ctz(c.alive)].format;
    return KN_OK;
}

const char *kn_date_pattern(int number)
{
    return number >= 0 && number < DECLARED_ONLY - FIRST_DATE ? patterns[FIRST_DATE + number].format : NULL;
}

/* ---- Reading a column ---- */

typedef struct parse_job {
    const kn_string      *values;
    kn_type               type;
    const char           *format;
    const kn_value_rules *rules;
    int64_t              *integers;
    kn_decimal           *decimals;
    _Atomic int64_t       first_bad; /* the lowest so far */
} parse_job;

static kn_status fail_value(kn_error *err, kn_type type, const char *format)
{
    switch (type) {
    case KN_TYPE_INTEGER: return kn_fail(err, KN_INPUT, "a value is not an integer");
    case KN_TYPE_DECIMAL: return kn_fail(err, KN_INPUT, "a value is not a decimal number");
    default: break;
    }
    const char *what = type == KN_TYPE_DATE ? "date" : "date and time";
    if (format) return kn_fail(err, KN_INPUT, "a value is not a %s of the form %s", what, format);
    return kn_fail(err, KN_INPUT,
                   "no known pattern of a %s fits all values up to this one; give a format, or declare it text", what);
}

static kn_status parse_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    parse_job *job = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        kn_string text = job->values[i];
        bool      ok = false;
        switch (job->type) {
        case KN_TYPE_INTEGER: ok = kn_parse_declared_integer(text, &job->integers[i]); break;
        case KN_TYPE_DECIMAL: ok = kn_parse_declared_decimal(text, job->rules->decimal, &job->decimals[i]); break;
        case KN_TYPE_DATE: ok = kn_parse_date(text, job->format, &job->integers[i]); break;
        default: ok = kn_parse_datetime(text, job->format, job->rules->timezone, &job->integers[i]); break;
        }
        if (ok) continue;
        /* Every range below a failing one is run to its end, so the lowest index is found for any number of threads. */
        int64_t lowest = atomic_load(&job->first_bad);
        while (i < lowest && !atomic_compare_exchange_weak(&job->first_bad, &lowest, i)) {
        }
        return fail_value(err, job->type, job->format);
    }
    return KN_OK;
}

/* The error of a column that no known pattern fits, or several in different ways: one value after the other, to say
 * where. */
static kn_status fail_dates(kn_context *ctx, uint32_t start, const candidates *all, const kn_string *values,
                            size_t count, kn_type type, size_t *first_bad, kn_error *err)
{
    int        first = all->alive ? __builtin_ctz(all->alive) : 0, rival = all->alive ? rival_of(all) : 0;
    candidates c = {.alive = start};
    for (size_t i = 0; i < count; i++) {
        if (i % LOOK == 0 && kn_cancelled(ctx)) return kn_fail_cancelled(err);
        look_at(&c, values[i], '.');
        *first_bad = i;
        if (c.alive == 0) return fail_value(err, type, NULL);
        if (all->alive && (c.differ[first] >> rival & 1))
            return kn_fail(err, KN_INPUT, "a value is a different %s by %s and by %s: give a format",
                           type == KN_TYPE_DATE ? "date" : "time", patterns[first].format, patterns[rival].format);
    }
    return kn_fail(err, KN_INTERNAL, "the pattern of a date was lost");
}

/* The known pattern of a declared date or time. */
static kn_status find_format(const char **format, kn_context *ctx, const kn_string *values, size_t count, kn_type type,
                             size_t *first_bad, kn_error *err)
{
    uint32_t start = 0;
    for (int p = FIRST_DATE; p < PATTERNS; p++)
        if (patterns[p].type == type) start |= (uint32_t)1 << p;
    candidates c = {.alive = start};
    KN_TRY(eliminate(&c, ctx, values, count, '.', err));
    if (c.alive == 0 || rival_of(&c) >= 0) return fail_dates(ctx, start, &c, values, count, type, first_bad, err);
    *format = patterns[__builtin_ctz(c.alive)].format;
    return KN_OK;
}

kn_status kn_parse_values(kn_context *ctx, const kn_string *values, size_t count, kn_type type, const char *format,
                          const kn_value_rules *rules, int64_t *integers, kn_decimal *decimals, size_t *first_bad,
                          kn_error *err)
{
    const char *reason;
    bool        dates = type == KN_TYPE_DATE || type == KN_TYPE_DATETIME;
    if (!dates && type != KN_TYPE_INTEGER && type != KN_TYPE_DECIMAL)
        return kn_fail(err, KN_USAGE, "only numbers, dates and times are parsed");
    if (format && !kn_format_check(format, type, &reason)) return kn_fail(err, KN_USAGE, "format: %s", reason);
    if (count == 0) return KN_OK;
    if (dates && !format) KN_TRY(find_format(&format, ctx, values, count, type, first_bad, err));

    parse_job job = {.values = values,
                     .type = type,
                     .format = format,
                     .rules = rules ? rules : &default_rules,
                     .integers = integers,
                     .decimals = decimals,
                     .first_bad = INT64_MAX};
    kn_status st = kn_parallel_for(ctx, (int64_t)count, GRAIN, parse_range, &job, err);
    if (st == KN_INPUT) *first_bad = (size_t)atomic_load(&job.first_bad);
    return st;
}
