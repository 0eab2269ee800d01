/* kn_workload_eval_condition.c: predicates on one column → intervals of keys, and how much of a cell they hold.
 *
 * A number between two integers (age > 17.5) is read as the integer below it and the knowledge that it is none. Infinite
 * ends are the smallest and the largest key.
 *
 * Cost: O(values × log values) to make; a bisection to ask.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_workload_eval_condition.h"

#include <math.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_error.h"

static const char what[] = "reading a workload's conditions";

/* ---- Lines ---- */

/* The pattern that fits all values of a column of dates, as its reader found it. */
static kn_status find_format(kn_value_line *line, kn_context *ctx, const kn_dictionary *dict, kn_error *err)
{
    kn_string *texts = kn_alloc_array(ctx, (size_t)dict->count + 1, sizeof *texts);
    if (!texts) return kn_fail_memory(err, ctx, what);
    for (uint32_t c = 0; c < dict->count; c++) texts[c] = kn_dictionary_text(dict, c);
    kn_value_rules rules = {line->decimal, line->timezone};
    kn_type        type = KN_TYPE_AUTO;
    const char    *format = NULL;
    bool           ambiguous = false;
    kn_status      st = kn_infer_type(&type, &format, &ambiguous, ctx, texts, dict->count, &rules, err);
    if (st == KN_OK && type == line->type) line->formats[0] = format;
    kn_free(texts);
    return st;
}

kn_status kn_value_line_make(kn_value_line *out, kn_context *ctx, const kn_column *column, const char *format,
                             char decimal, const kn_timezone *timezone, kn_error *err)
{
    *out = (kn_value_line){.name = column->name, .type = column->type, .decimal = decimal, .timezone = timezone};
    bool date = column->type == KN_TYPE_DATE;
    if (!date && column->type != KN_TYPE_DATETIME) return KN_OK;
    out->formats[0] = format;
    out->formats[1] = date ? "%Y-%m-%d" : "%Y-%m-%dT%H:%M:%S%z";
    out->formats[2] = date ? "%Y%m%d" : "%Y-%m-%d %H:%M:%S%z";
    return format ? KN_OK : find_format(out, ctx, &column->dict, err);
}

/* Doubles in the order of integers; both zeros are one. */
static int64_t key_of_double(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

double kn_line_number(const kn_value_line *line, int64_t key)
{
    if (line->type != KN_TYPE_DECIMAL) return (double)key;
    double  value;
    int64_t bits = key < 0 ? INT64_MIN - key : key;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int64_t kn_line_key_of_code(const kn_value_line *line, const kn_dictionary *dict, uint32_t code)
{
    return line->type == KN_TYPE_DECIMAL ? key_of_double(dict->decimals[code]) : dict->integers[code];
}

/* A text as the largest key not above it; *exact: it is that key. */
static bool floor_key(const kn_value_line *line, kn_string text, char mark, int64_t *key, bool *exact)
{
    kn_decimal number;
    text = kn_value_trim(text);
    *exact = true;
    if (line->type == KN_TYPE_DATE || line->type == KN_TYPE_DATETIME) {
        for (int i = 0; i < KN_LINE_FORMATS; i++)
            if (line->formats[i] &&
                (line->type == KN_TYPE_DATE ? kn_parse_date(text, line->formats[i], key)
                                            : kn_parse_datetime(text, line->formats[i], line->timezone, key)))
                return true;
        return false;
    }
    if (line->type == KN_TYPE_INTEGER && kn_parse_declared_integer(text, key)) return true;
    if (!kn_parse_declared_decimal(text, mark, &number)) return false;
    if (line->type == KN_TYPE_DECIMAL) {
        *key = key_of_double(number.nearest);
        return true;
    }
    double below = floor(number.nearest);
    bool   fits = below >= -0x1p63 && below < 0x1p63;
    *key = fits ? (int64_t)below : below < 0 ? INT64_MIN : INT64_MAX;
    *exact = fits && below == number.nearest;
    return true;
}

bool kn_line_key(const kn_value_line *line, kn_string text, int64_t *key)
{
    bool exact;
    return floor_key(line, text, line->decimal, key, &exact) && exact;
}

/* ---- Making conditions ---- */

typedef struct maker {
    kn_arena            *arena;
    const kn_value_line *line;
    const char          *path;
    kn_error            *err;
} maker;

typedef struct interval_list {
    size_t       count;
    kn_interval *items;
} interval_list;

static kn_status make_list(interval_list *out, const maker *m, size_t most)
{
    out->count = 0;
    out->items = kn_arena_alloc(m->arena, (most + 1) * sizeof *out->items);
    return out->items ? KN_OK : kn_fail_memory(m->err, m->arena->ctx, what);
}

static void add_interval(interval_list *list, int64_t low, int64_t high)
{
    if (low <= high) list->items[list->count++] = (kn_interval){low, high};
}

/* Numbers of a workload have a decimal point; where the data has a comma, that is understood too. */
static kn_status read_literal(const maker *m, const kn_literal *literal, int64_t *key, bool *exact)
{
    kn_string text = kn_string_of(literal->text);
    if (floor_key(m->line, text, '.', key, exact)) return KN_OK;
    if (m->line->decimal != '.' && floor_key(m->line, text, m->line->decimal, key, exact)) return KN_OK;
    const char *article = m->line->type == KN_TYPE_INTEGER ? "an" : "a";
    return kn_fail_at(m->err, KN_INPUT, m->path, literal->line, literal->column,
                      "column \"%s\" is compared with a value that is not %s %s", m->line->name, article,
                      kn_type_name(m->line->type));
}

static kn_status add_at_least(interval_list *list, const maker *m, const kn_literal *literal, bool above)
{
    int64_t key;
    bool    exact;
    KN_TRY(read_literal(m, literal, &key, &exact));
    if (above || !exact) {
        if (key == INT64_MAX) return KN_OK;
        key++;
    }
    add_interval(list, key, INT64_MAX);
    return KN_OK;
}

static kn_status add_at_most(interval_list *list, const maker *m, const kn_literal *literal, bool below)
{
    int64_t key;
    bool    exact;
    KN_TRY(read_literal(m, literal, &key, &exact));
    if (below && exact) {
        if (key == INT64_MIN) return KN_OK;
        key--;
    }
    add_interval(list, INT64_MIN, key);
    return KN_OK;
}

static int by_low(const void *a, const void *b)
{
    const kn_interval *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

static kn_status add_equal(interval_list *list, const maker *m, const kn_predicate *predicate)
{
    size_t kept = 0;
    for (int i = 0; i < predicate->value_count; i++) {
        int64_t key;
        bool    exact;
        KN_TRY(read_literal(m, &predicate->values[i], &key, &exact));
        if (exact) add_interval(list, key, key);
    }
    qsort(list->items, list->count, sizeof *list->items, by_low);
    for (size_t i = 0; i < list->count; i++) {
        int64_t low = list->items[i].low, end = kept > 0 ? list->items[kept - 1].high : INT64_MIN;
        bool    follows = kept > 0 && (low <= end || low - 1 == end);
        /* Points that touch are one interval, so that a cell over both lies inside. Doubles next to each other too. */
        if (follows)
            list->items[kept - 1].high = list->items[i].high;
        else
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return KN_OK;
}

static void intersect(interval_list *out, const interval_list *a, const interval_list *b)
{
    out->count = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        int64_t low = a->items[i].low > b->items[j].low ? a->items[i].low : b->items[j].low;
        bool    a_ends = a->items[i].high <= b->items[j].high;
        add_interval(out, low, a_ends ? a->items[i].high : b->items[j].high);
        if (a_ends)
            i++;
        else
            j++;
    }
}

static void complement(interval_list *out, const interval_list *of)
{
    int64_t from = INT64_MIN;
    out->count = 0;
    for (size_t i = 0; i < of->count; i++) {
        if (of->items[i].low > INT64_MIN) add_interval(out, from, of->items[i].low - 1);
        if (of->items[i].high == INT64_MAX) return;
        from = of->items[i].high + 1;
    }
    add_interval(out, from, INT64_MAX);
}

/* The values that satisfy one predicate; `out` has space for its values and two more. */
static kn_status list_predicate(interval_list *out, const maker *m, const kn_predicate *p)
{
    interval_list plain, other, bound;
    size_t        most = (size_t)p->value_count + 2;
    KN_TRY(make_list(&plain, m, most));
    KN_TRY(make_list(&other, m, most));
    KN_TRY(make_list(&bound, m, most));
    switch (p->comparison) {
    case KN_COMPARE_NULL: break;
    case KN_COMPARE_LESS: KN_TRY(add_at_most(&plain, m, &p->values[0], true)); break;
    case KN_COMPARE_AT_MOST: KN_TRY(add_at_most(&plain, m, &p->values[0], false)); break;
    case KN_COMPARE_GREATER: KN_TRY(add_at_least(&plain, m, &p->values[0], true)); break;
    case KN_COMPARE_AT_LEAST: KN_TRY(add_at_least(&plain, m, &p->values[0], false)); break;
    case KN_COMPARE_BETWEEN:
        KN_TRY(add_at_least(&other, m, &p->values[0], false));
        KN_TRY(add_at_most(&bound, m, &p->values[1], false));
        intersect(&plain, &other, &bound);
        break;
    default: KN_TRY(add_equal(&plain, m, p)); break;
    }
    bool turned = p->negated || p->comparison == KN_COMPARE_UNEQUAL;
    if (turned)
        complement(out, &plain);
    else
        *out = plain;
    return KN_OK;
}

static bool allows_null(const kn_predicate *p)
{
    return p->comparison == KN_COMPARE_NULL && !p->negated;
}

kn_status kn_condition_make(kn_condition *out, kn_arena *arena, const kn_value_line *line,
                            const kn_predicate *const *predicates, int count, const char *path, kn_error *err)
{
    maker                m = {arena, line, path, err};
    size_t               most = 1;
    interval_list        now, next, one;
    const kn_predicate **kept = kn_arena_alloc(arena, (size_t)count * sizeof *kept);
    if (!kept) return kn_fail_memory(err, arena->ctx, what);
    memcpy(kept, predicates, (size_t)count * sizeof *kept);
    *out = (kn_condition){.line = line, .null = true, .predicate_count = count, .predicates = kept};
    for (int i = 0; i < count; i++) {
        out->null = out->null && allows_null(predicates[i]);
        most += (size_t)predicates[i]->value_count + 2;
    }
    if (!kn_line_ordered(line)) return KN_OK;
    KN_TRY(make_list(&now, &m, most));
    KN_TRY(make_list(&next, &m, most));
    add_interval(&now, INT64_MIN, INT64_MAX);
    for (int i = 0; i < count; i++) {
        KN_TRY(make_list(&one, &m, (size_t)predicates[i]->value_count + 2));
        KN_TRY(list_predicate(&one, &m, predicates[i]));
        intersect(&next, &now, &one);
        interval_list swap = now;
        now = next;
        next = swap;
    }
    out->interval_count = (int)now.count;
    out->intervals = now.items;
    return KN_OK;
}

/* ---- Asking ---- */

/* The first interval that does not end before the key. */
static int first_from(const kn_condition *c, int64_t key)
{
    int low = 0, high = c->interval_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (c->intervals[middle].high < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool kn_condition_holds_key(const kn_condition *c, int64_t key)
{
    int i = first_from(c, key);
    return i < c->interval_count && c->intervals[i].low <= key;
}

static bool text_satisfies(const kn_predicate *p, kn_string text)
{
    if (p->comparison == KN_COMPARE_NULL) return p->negated;
    int  first = kn_string_compare(text, kn_string_of(p->values[0].text));
    bool holds = false;
    switch (p->comparison) {
    case KN_COMPARE_UNEQUAL: return first != 0;
    case KN_COMPARE_LESS: return first < 0;
    case KN_COMPARE_AT_MOST: return first <= 0;
    case KN_COMPARE_GREATER: return first > 0;
    case KN_COMPARE_AT_LEAST: return first >= 0;
    case KN_COMPARE_BETWEEN: holds = first >= 0 && kn_string_compare(text, kn_string_of(p->values[1].text)) <= 0; break;
    default:
        for (int i = 0; !holds && i < p->value_count; i++)
            holds = kn_string_equal(text, kn_string_of(p->values[i].text));
    }
    return holds != p->negated;
}

bool kn_condition_holds_text(const kn_condition *c, kn_string text)
{
    for (int i = 0; i < c->predicate_count; i++)
        if (!text_satisfies(c->predicates[i], text)) return false;
    return true;
}

/* How much there is between two keys: whole numbers, or length. */
static double measure_of(const kn_value_line *line, int64_t low, int64_t high)
{
    if (line->type == KN_TYPE_DECIMAL) return kn_line_number(line, high) - kn_line_number(line, low);
    return (double)high - (double)low + 1;
}

kn_overlap kn_condition_overlap(const kn_condition *c, const kn_value_line *line, int64_t low, int64_t high)
{
    static const kn_interval everything = {INT64_MIN, INT64_MAX};
    const kn_interval       *intervals = c ? c->intervals : &everything;
    int                      count = c ? c->interval_count : 1, first = c ? first_from(c, low) : 0;
    kn_overlap               o = {.share = 0, .mean = NAN};
    double                   all = measure_of(line, low, high), sum = 0, held = 0;
    for (int i = first; i < count && intervals[i].low <= high; i++) {
        int64_t from = intervals[i].low > low ? intervals[i].low : low;
        int64_t to = intervals[i].high < high ? intervals[i].high : high;
        double  part = measure_of(line, from, to);
        if (!o.touches) o.low = from;
        o.high = to;
        o.touches = true;
        o.inside = from == low && to == high;
        held += part;
        sum += part * (kn_line_number(line, from) / 2 + kn_line_number(line, to) / 2);
    }
    if (!o.touches) return o;
    o.share = o.inside ? 1 : all > 0 ? held / all : 0;
    /* Points of a decimal interval have no length: their middle stands for them. */
    o.mean = held > 0 ? sum / held : kn_line_number(line, o.low) / 2 + kn_line_number(line, o.high) / 2;
    return o;
}
