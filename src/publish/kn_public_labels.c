/* kn_public_labels.c: what the texts of a released quasi-identifier show: which levels of their hierarchy they can be
 * on, and what they lost (docs/certificate.md has both tables). The column's original values are not known here: a
 * loss is measured over the hierarchy file's leaves, or over what the column itself shows. Where no hierarchy was given
 * and one was chosen by type, neither it nor the type is known here, and a text that may be a label or a value is said to
 * be neither.
 *
 * Two passes over the distinct texts: what each is (and so the span and the members of the whole column), then its
 * loss. Cost: linear in the texts and, for a file, in the hierarchy.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_hierarchy.h"
#include "kn_interner.h"
#include "kn_public.h"
#include "kn_table.h"
#include "kn_value.h"

typedef enum kind { VALUE, STAR, LABEL, INTERVAL, SET, MASKED, CALENDAR, UNREADABLE } kind;

typedef struct text_facts {
    kind     kind;
    double   low, high; /* INTERVAL, CALENDAR, and VALUE where it is a number or a day; NAN: not      */
    bool     year;      /* four digits, where no hierarchy was given: a number, or a year of dates     */
    double   share;     /* LABEL: covered leaves - 1; MASKED: hidden share; SET: members               */
    int      level;     /* the lowest that it can be on; -1: none                                      */
    uint64_t levels[4]; /* LABEL: every level that it is on, as bits                                   */
} text_facts;

typedef struct reader {
    kn_context              *ctx;
    const kn_public_reader  *files;
    const kn_attribute      *attribute;
    const kn_hierarchy_spec *rule; /* NULL: none */
    char                     decimal;
    bool          ranges, dates, codes; /* without a rule: labels of ranges, periods, masks may occur       */
    bool          numbers;              /* it shows a number that is no year                                */
    kn_hierarchy *file;                 /* NULL: none */
    kn_interner   labels;
    uint64_t     *label_levels; /* 4 per label of the file, by the interner's id        */
    uint32_t     *label_cover;  /* the fewest leaves that it stands for, by the same id */
    kn_interner   members;
    double        least, most; /* what the column shows; INFINITY, -INFINITY: no number */
} reader;

/* ---- Hierarchy files ---- */

static kn_status index_file(reader *r, kn_error *err)
{
    KN_TRY(r->files->hierarchy(&r->file, r->files->state, r->attribute, err));
    const kn_hierarchy *h = r->file;
    r->label_levels = kn_alloc_array_zero(r->ctx, (size_t)h->label_count + 1, 4 * sizeof *r->label_levels);
    r->label_cover = kn_alloc_array_zero(r->ctx, (size_t)h->label_count + 1, sizeof *r->label_cover);
    if (!r->label_levels || !r->label_cover) return kn_fail_memory(err, r->ctx, "reading the release");
    for (uint32_t level = 0; level <= h->height; level++)
        for (uint32_t node = kn_hierarchy_level_first(h, (int)level); node != KN_NODE_NONE;
             node = kn_hierarchy_level_next(h, (int)level, node)) {
            uint32_t id = kn_intern_borrowed(&r->labels, kn_hierarchy_text(h, node));
            if (id == KN_ID_FAILED) return kn_fail_memory(err, r->ctx, "reading the release");
            uint32_t cover = kn_hierarchy_cover(h, node);
            r->label_levels[4 * (size_t)(id - 1) + level / 64] |= (uint64_t)1 << level % 64;
            if (r->label_cover[id - 1] == 0 || cover < r->label_cover[id - 1]) r->label_cover[id - 1] = cover;
        }
    return KN_OK;
}

/* ---- One text ---- */

static bool same(double a, double b)
{
    return a == b || (isfinite(a) && isfinite(b) && fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b))));
}

static bool is_number(const reader *r, kn_string text)
{
    kn_decimal decimal;
    return kn_parse_declared_decimal(text, r->decimal, &decimal);
}

/* A number with this decimal mark, or the days of a date. */
static double number_marked(const reader *r, kn_string text, char mark)
{
    kn_decimal decimal;
    int64_t    days;
    if (kn_parse_declared_decimal(text, mark, &decimal)) return decimal.nearest;
    if (kn_parse_date(text, "%Y-%m-%d", &days)) return (double)days;
    if (r->attribute->format && kn_parse_date(text, r->attribute->format, &days)) return (double)days;
    return NAN;
}

static double number_of(const reader *r, kn_string text)
{
    return number_marked(r, text, r->decimal);
}

/* Numbers of a rule have a point, whatever mark the column has. */
static double number_given(const reader *r, const char *text)
{
    return number_marked(r, kn_string_of(text), '.');
}

static int level_of_range(const reader *r, const text_facts *t, bool closed)
{
    double width = t->high - t->low + (closed ? 1 : 0);
    for (int i = 0; i < r->rule->width_count; i++) {
        double given = number_given(r, r->rule->widths[i]);
        if (same(width, given)) return i + 1;
    }
    return -1;
}

/* Is it between neighbouring points of the i-th list? An open end is beyond the first or last point. */
static int level_of_break(const reader *r, const text_facts *t, bool closed)
{
    double high = t->high + (closed && isfinite(t->high) ? 1 : 0);
    for (int i = 0; i < r->rule->break_count; i++) {
        const kn_hierarchy_cuts *cuts = &r->rule->breaks[i];
        for (int p = 0; p <= cuts->count; p++) {
            double low = p > 0 ? number_given(r, cuts->points[p - 1]) : -INFINITY;
            double end = p < cuts->count ? number_given(r, cuts->points[p]) : INFINITY;
            if (same(low, t->low) && same(end, high)) return i + 1;
        }
    }
    return -1;
}

/* The steps above days, lowest first; labels do not show whether a column held times or days. */
static int calendar_level(unsigned steps, unsigned step)
{
    int level = 0;
    if (steps == 0) steps = KN_CALENDAR_MONTH | KN_CALENDAR_QUARTER | KN_CALENDAR_YEAR | KN_CALENDAR_DECADE;
    for (unsigned s = KN_CALENDAR_MONTH; s <= step; s *= 2) level += (steps & s) != 0;
    return step > KN_CALENDAR_DECADE || (steps & step) ? level : -1;
}

/* [low, high], [low, high), and with an end that is open (-inf, high], [low, inf). */
static bool read_interval(reader *r, kn_string text, text_facts *t)
{
    if (text.size < 5 || (text.data[0] != '[' && text.data[0] != '(')) return false;
    char end = text.data[text.size - 1];
    if (end != ']' && end != ')') return false;
    size_t middle = 1;
    while (middle + 2 < text.size && memcmp(text.data + middle, ", ", 2) != 0) middle++;
    if (middle + 2 >= text.size) return false;
    kn_string low = {text.data + 1, middle - 1}, high = {text.data + middle + 2, text.size - middle - 3};
    t->low = kn_string_equal(low, kn_string_of("-inf")) ? -INFINITY : number_of(r, low);
    t->high = kn_string_equal(high, kn_string_of("inf")) ? INFINITY : number_of(r, high);
    t->kind = isnan(t->low) || isnan(t->high) ? UNREADABLE : INTERVAL;
    bool closed = end == ']';
    t->level = 0; /* in a column whose rule makes no intervals it is a value that looks like one */
    if (r->ranges && t->kind == INTERVAL) t->level = -1;
    r->numbers = r->numbers || is_number(r, low) || is_number(r, high);
    if (r->rule && r->rule->kind == KN_HIERARCHY_RANGES) t->level = level_of_range(r, t, closed);
    if (r->rule && r->rule->kind == KN_HIERARCHY_BREAKS) t->level = level_of_break(r, t, closed);
    if (r->rule && r->rule->kind == KN_HIERARCHY_CALENDAR)
        t->level = t->kind == UNREADABLE ? -1 : calendar_level(r->rule->calendar, KN_CALENDAR_DECADE);
    return true;
}

/* Members are counted by their spelling without quotes. */
static kn_status read_set(reader *r, kn_string text, text_facts *t, bool *is_set, kn_error *err)
{
    kn_buffer member;
    *is_set = text.size >= 2 && text.data[0] == '{' && text.data[text.size - 1] == '}';
    if (!*is_set) return KN_OK;
    t->kind = SET;
    kn_buffer_init(&member, r->ctx);
    bool quoted = false, ok = true;
    for (size_t i = 1; i < text.size; i++) {
        char c = text.data[i];
        if (c == '"') {
            if (quoted && i + 1 < text.size && text.data[i + 1] == '"')
                kn_buffer_char(&member, text.data[i++]);
            else
                quoted = !quoted;
        } else if ((c == ';' && !quoted) || i + 1 == text.size) {
            kn_string name = {member.size > 0 ? member.data : "", member.size};
            ok = ok && !member.failed && kn_intern(&r->members, name) != KN_ID_FAILED;
            t->share += 1;
            member.size = 0;
        } else
            kn_buffer_char(&member, c);
    }
    kn_buffer_free(&member);
    return ok ? KN_OK : kn_fail_memory(err, r->ctx, "reading the release");
}

static size_t characters(kn_string text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.size; i++) n += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return n;
}

static bool read_mask(const reader *r, kn_string text, text_facts *t)
{
    if (!r->codes && (!r->rule || r->rule->kind != KN_HIERARCHY_MASK)) return false;
    const char *mask = r->rule && r->rule->mask ? r->rule->mask : "*";
    bool        left = r->rule && r->rule->mask_left;
    size_t      size = strlen(mask), hidden = 0, begin = 0, end = text.size;
    while (end - begin >= size && memcmp(left ? text.data + begin : text.data + end - size, mask, size) == 0) {
        if (left)
            begin += size;
        else
            end -= size;
        hidden++;
    }
    if (hidden == 0) return false;
    size_t step = r->rule && r->rule->mask_step > 0 ? (size_t)r->rule->mask_step : 1;
    t->kind = MASKED;
    t->share = (double)hidden / (double)characters(text);
    t->level = r->rule ? (int)((hidden + step - 1) / step) : -1;
    return true;
}

static int digits(kn_string text, size_t from, size_t count)
{
    int value = 0;
    if (text.size < from + count) return -1;
    for (size_t i = from; i < from + count; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return -1;
        value = 10 * value + (text.data[i] - '0');
    }
    return value;
}

static bool set_days(text_facts *t, int year, int month, int last_year, int last_month)
{
    if (year < 1 || last_year > 9999 || month < 1 || last_month > 12) return false;
    t->low = (double)kn_days_from_civil(year, month, 1);
    t->high = (double)kn_days_from_civil(last_year, last_month, kn_days_in_month(last_year, last_month));
    return true;
}

/* 2024-M03, 2024-Q1, 2024; a decade is an interval. */
static bool read_calendar(const reader *r, kn_string text, text_facts *t)
{
    if (!r->dates && (!r->rule || r->rule->kind != KN_HIERARCHY_CALENDAR)) return false;
    int      year = digits(text, 0, 4), month = digits(text, 6, 2), quarter = digits(text, 6, 1);
    unsigned step = 0;
    bool     good = false;
    if (year < 1) return false;
    if (text.size == 4) {
        step = KN_CALENDAR_YEAR;
        good = set_days(t, year, 1, year, 12);
    } else if (text.size == 7 && text.data[4] == '-' && text.data[5] == 'Q' && quarter >= 1 && quarter <= 4) {
        step = KN_CALENDAR_QUARTER;
        good = set_days(t, year, 3 * quarter - 2, year, 3 * quarter);
    } else if (text.size == 8 && text.data[4] == '-' && text.data[5] == 'M' && month >= 1 && month <= 12) {
        step = KN_CALENDAR_MONTH;
        good = set_days(t, year, month, year, month);
    }
    if (!good) return false;
    bool sure = r->rule || r->attribute->type != KN_TYPE_AUTO;
    t->year = !sure && text.size == 4;
    t->kind = sure ? CALENDAR : UNREADABLE;
    t->level = r->rule ? calendar_level(r->rule->calendar, step) : -1;
    return !t->year; /* the other texts decide */
}

static bool read_label(const reader *r, kn_string text, text_facts *t)
{
    uint32_t id = r->file ? kn_interner_find(&r->labels, text) : 0;
    if (id == 0) return false;
    t->kind = LABEL;
    t->share = (double)r->label_cover[id - 1] - 1;
    memcpy(t->levels, &r->label_levels[4 * (size_t)(id - 1)], sizeof t->levels);
    return true;
}

static int level_of_star(const reader *r)
{
    if (!r->rule) return 1;
    switch (r->rule->kind) {
    case KN_HIERARCHY_RANGES: return r->rule->width_count + 1;
    case KN_HIERARCHY_BREAKS: return r->rule->break_count + 1;
    case KN_HIERARCHY_CALENDAR: return calendar_level(r->rule->calendar, 2 * KN_CALENDAR_DECADE) + 1;
    case KN_HIERARCHY_FILE:
    case KN_HIERARCHY_TAXONOMY: return (int)r->file->height;
    case KN_HIERARCHY_MASK:
    case KN_HIERARCHY_PREFIX:
    case KN_HIERARCHY_GROUPS:
    case KN_HIERARCHY_SUPPRESS: break;
    }
    return 1;
}

static kn_status read_text(reader *r, kn_string text, text_facts *t, kn_error *err)
{
    bool is_set = false;
    *t = (text_facts){.kind = VALUE, .low = NAN, .high = NAN};
    if (read_label(r, text, t)) {
        if (text.size == 1 && text.data[0] == '*') t->kind = STAR;
        return KN_OK;
    }
    t->levels[0] = 1; /* what the file does not know is a value */
    if (text.size == 1 && text.data[0] == '*') {
        t->kind = STAR;
        t->level = level_of_star(r);
        t->levels[0] = 0;
        t->levels[t->level / 64] |= (uint64_t)1 << t->level % 64;
        return KN_OK;
    }
    if (read_interval(r, text, t) || read_mask(r, text, t) || read_calendar(r, text, t)) return KN_OK;
    KN_TRY(read_set(r, text, t, &is_set, err));
    if (is_set) return KN_OK;
    t->kind = VALUE;
    t->level = 0;
    t->low = t->high = number_of(r, text);
    r->numbers = r->numbers || (!t->year && is_number(r, text));
    if (kn_intern(&r->members, text) == KN_ID_FAILED) return kn_fail_memory(err, r->ctx, "reading the release");
    return KN_OK;
}

/* ---- The column ---- */

static double loss_of(const reader *r, const text_facts *t)
{
    switch (t->kind) {
    case VALUE: return 0;
    case STAR: return 1;
    case LABEL: return r->file->leaves > 1 ? t->share / (double)(r->file->leaves - 1) : 0;
    case INTERVAL:
    case CALENDAR:
        if (isinf(t->low) || isinf(t->high)) break; /* its width is unknown            */
        return r->most > r->least ? (t->high - t->low) / (r->most - r->least) : 0;
    case SET: return r->members.count > 1 ? (t->share - 1) / (double)(r->members.count - 1) : 0;
    case MASKED: return t->share;
    case UNREADABLE: break; /* an interval of something without a number */
    }
    return NAN;
}

static void widen(reader *r, const text_facts *t)
{
    if (t->kind != VALUE && t->kind != INTERVAL && t->kind != CALENDAR) return;
    if (isfinite(t->low)) {
        r->least = fmin(r->least, t->low);
        r->most = fmax(r->most, t->low);
    }
    if (isfinite(t->high)) {
        r->least = fmin(r->least, t->high);
        r->most = fmax(r->most, t->high);
    }
}

/* The lowest level that every text can be on. */
static int column_level(const reader *r, const text_facts *facts, const int64_t *counts, uint32_t count)
{
    uint64_t all[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    int      highest = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (counts[i] == 0) continue;
        if (!r->file && facts[i].level < 0) return -1;
        if (!r->file && facts[i].level > highest) highest = facts[i].level;
        for (int w = 0; w < 4; w++) all[w] &= facts[i].levels[w];
    }
    if (!r->file) return highest;
    for (int l = 0; l < 256; l++)
        if (all[l / 64] >> l % 64 & 1) return l;
    return -1;
}

static kn_status read_column(reader *r, kn_public_column *out, const kn_column *texts, const int64_t *counts,
                             int64_t suppressed, text_facts *facts, kn_error *err)
{
    uint32_t count = texts->dict.count;
    int64_t  shown = counts[count];
    double   loss = (double)suppressed;
    for (uint32_t i = 0; i < count; i++) {
        if (counts[i] == 0) continue;
        KN_TRY(read_text(r, kn_dictionary_text(&texts->dict, i), &facts[i], err));
        widen(r, &facts[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (counts[i] == 0) continue;
        if (facts[i].year && !r->numbers) {
            facts[i].kind = UNREADABLE;
            facts[i].level = -1;
        }
        shown += counts[i];
        out->labels++;
        if (facts[i].kind == STAR) out->stars += counts[i];
        loss += (double)counts[i] * loss_of(r, &facts[i]);
    }
    out->cells = shown + suppressed;
    out->lm = out->cells > 0 ? loss / (double)out->cells : 0;
    if (r->rule && r->rule->kind == KN_HIERARCHY_PREFIX) out->lm = NAN;
    out->level = column_level(r, facts, counts, count);
    return KN_OK;
}

kn_status kn_public_labels(kn_public_column *out, kn_context *ctx, const kn_public_reader *files,
                           const kn_column *texts, const int64_t *counts, int64_t suppressed, char decimal,
                           bool by_type, kn_error *err)
{
    const kn_attribute *a = out->attribute;
    reader r = {.ctx = ctx, .files = files, .attribute = a, .decimal = decimal, .least = INFINITY, .most = -INFINITY};
    if (a->has_hierarchy) r.rule = &a->hierarchy;
    by_type = by_type && !a->has_hierarchy;
    r.ranges = by_type && a->type != KN_TYPE_TEXT;
    r.codes = by_type && (a->type == KN_TYPE_AUTO || a->type == KN_TYPE_TEXT);
    r.dates = by_type && (a->type == KN_TYPE_AUTO || a->type == KN_TYPE_DATE || a->type == KN_TYPE_DATETIME);
    kn_interner_init(&r.labels, ctx);
    kn_interner_init(&r.members, ctx);
    text_facts *facts = kn_alloc_array_zero(ctx, (size_t)texts->dict.count + 1, sizeof *facts);
    kn_status   st = facts ? KN_OK : kn_fail_memory(err, ctx, "reading the release");
    bool        file = r.rule && (r.rule->kind == KN_HIERARCHY_FILE || r.rule->kind == KN_HIERARCHY_TAXONOMY);
    if (st == KN_OK && file) st = index_file(&r, err);
    if (st == KN_OK) st = read_column(&r, out, texts, counts, suppressed, facts, err);
    kn_free(facts);
    kn_free(r.label_levels);
    kn_free(r.label_cover);
    kn_interner_free(&r.members);
    kn_interner_free(&r.labels);
    kn_hierarchy_free(r.file);
    return st;
}
