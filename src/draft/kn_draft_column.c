/* kn_draft_column.c: chooses a hierarchy for a column by its type, its name and its values.
 *
 *     integers, decimals   ranges whose widths are round numbers, the narrowest about a twentieth of what most values span
 *     dates, times         the calendar; weeks (breaks at Mondays) where all lie within a few months
 *     codes                prefix where all have a separator, else mask: texts with digits, postal codes whatever their type
 *     two values           value -> *: there is nothing in between
 *     other texts          categories: groups of neighbours, in a file that is to be edited
 *
 * Rules contain no value of the data; files do. Cost: one pass over the distinct values.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_draft.h"
#include "kn_error.h"
#include "kn_hierarchy.h"
#include "kn_hierarchy_file.h"
#include "kn_names.h"
#include "kn_value.h"

enum { MOST_WIDTHS = 8, STEPS = 25, FEW_DAYS = 100, LONGEST_CODE = 24 };

typedef struct looking {
    kn_drafting     *d;
    const kn_column *column;
    const kn_table  *table;
    int              number; /* of the column */
    uint32_t         count;
} looking;

static kn_status set_rule(kn_draft_rule *out, const looking *l, kn_buffer *text, const char *why, kn_error *err)
{
    const char *made = kn_buffer_text(text);
    out->hierarchy = made ? kn_arena_strndup(l->d->arena, made, text->size) : NULL;
    out->why = why;
    return out->hierarchy ? KN_OK : kn_draft_memory(l->d, err);
}

static kn_status fixed_rule(kn_draft_rule *out, const looking *l, const char *rule, const char *why, kn_error *err)
{
    out->hierarchy = kn_arena_strndup(l->d->arena, rule, strlen(rule));
    out->why = why;
    return out->hierarchy ? KN_OK : kn_draft_memory(l->d, err);
}

/* ---- Numbers ---- */

static double number_at(const looking *l, uint32_t code)
{
    const kn_dictionary *dict = &l->column->dict;
    return dict->integers ? (double)dict->integers[code] : dict->decimals[code];
}

/* A round number: 1, 2 or 5 times a power of ten. */
typedef struct width {
    int digit, power;
} width;

static double value_of(width w)
{
    return w.digit * pow(10, w.power);
}

static width first_width(double span, bool whole)
{
    static const int digits[] = {1, 2, 5};
    int              power = (int)floor(log10(span / STEPS)) - 1;
    for (;; power++)
        for (int i = 0; i < 3; i++) {
            width w = {digits[i], power};
            if (whole && value_of(w) < 2) continue;
            if (span / value_of(w) <= STEPS) return w;
        }
}

/* 1, 2, 10, 20, 100 ...; 5, 10, 20, 100 ...: each a multiple of the previous one. */
static width next_width(width w)
{
    if (w.digit == 1) return (width){2, w.power};
    return (width){1, w.power + 1};
}

static void add_width(kn_buffer *to, width w, int times)
{
    char text[40];
    snprintf(text, sizeof text, "%.*f", w.power < 0 ? -w.power : 0, times * value_of(w));
    kn_buffer_add(to, text);
}

static kn_status number_rule(kn_draft_rule *out, const looking *l, kn_error *err)
{
    uint32_t last = l->count - 1;
    double   least = number_at(l, 0), most = number_at(l, last), span = most - least;
    double   usual = number_at(l, last - last / 20) - number_at(l, last / 20);
    bool     whole = l->column->type == KN_TYPE_INTEGER;
    if (!(fmax(fabs(least), fabs(most)) < 1e12) || !(span > 0) || span < 1e-9)
        return fixed_rule(out, l, "suppress", "its numbers are too large or too small for ranges", err);
    width     w = first_width(usual > 0 ? usual : span, whole);
    int       many = 0;
    kn_buffer text;
    kn_buffer_init(&text, l->d->ctx);
    kn_buffer_add(&text, "{ranges: [");
    do {
        if (many > 0) kn_buffer_add(&text, ", ");
        add_width(&text, w, 1);
        many++;
        width next = next_width(w);
        bool  between = w.digit == 2 && value_of(next) >= span && 2 * value_of(w) < span; /* 40 after 20 */
        if (between) {
            kn_buffer_add(&text, ", ");
            add_width(&text, w, 2);
        }
        w = next;
    } while (value_of(w) < span && many < MOST_WIDTHS);
    kn_buffer_add(&text, "]}");
    kn_status st = set_rule(out, l, &text, "ranges with round bounds", err);
    kn_buffer_free(&text);
    return st;
}

/* ---- Dates and times ---- */

enum { MICROSECONDS_PER_SECOND = 1000000, SECONDS_PER_DAY = 86400 };

static int64_t day_at(const looking *l, uint32_t code)
{
    int64_t value = l->column->dict.integers[code];
    if (l->column->type == KN_TYPE_DATE) return value;
    int64_t unit = (int64_t)MICROSECONDS_PER_SECOND * SECONDS_PER_DAY;
    return value >= 0 ? value / unit : -((unit - 1 - value) / unit);
}

/* Appends every `step`-th day from the first Monday (1970-01-05 was one) after the first day, up to the last. */
static int add_days(kn_buffer *to, int64_t first, int64_t last, int64_t step)
{
    int64_t monday = first + 7 - ((first - 4) % 7 + 7) % 7;
    int     many = 0;
    if (step < 7) monday = first + 1;
    while (step > 7 && (monday - 4) % step != 0) monday += 7; /* also a break of the level below */
    kn_buffer_char(to, '[');
    for (int64_t day = monday; day <= last; day += step) {
        int year, month, of_month;
        kn_civil_from_days(day, &year, &month, &of_month);
        kn_buffer_format(to, "%s%04d-%02d-%02d", many++ ? ", " : "", year, month, of_month);
    }
    kn_buffer_char(to, ']');
    return many;
}

static kn_status week_rule(kn_draft_rule *out, const looking *l, int64_t first, int64_t last, kn_error *err)
{
    kn_buffer text, level;
    kn_status st = KN_OK;
    int       levels = 0;
    bool      times = l->column->type == KN_TYPE_DATETIME;
    kn_buffer_init(&text, l->d->ctx);
    kn_buffer_init(&level, l->d->ctx);
    kn_buffer_add(&text, "{breaks: [");
    for (int64_t step = times ? 1 : 7; step <= 28; step = step == 1 ? 7 : 2 * step) {
        kn_buffer_clear(&level);
        if (add_days(&level, first, last, step) == 0) break;
        kn_buffer_add(&text, levels++ ? ", " : "");
        kn_buffer_append(&text, level.data, level.size);
    }
    kn_buffer_add(&text, "]}");
    if (levels > 0)
        st = set_rule(out, l, &text, times ? "days, then weeks from Monday on" : "weeks from Monday on", err);
    if (levels == 0) st = fixed_rule(out, l, "suppress", "all within a week: there is little in between", err);
    kn_buffer_free(&level);
    kn_buffer_free(&text);
    return st;
}

static kn_status date_rule(kn_draft_rule *out, const looking *l, kn_error *err)
{
    int64_t first = day_at(l, 0), last = day_at(l, l->count - 1), days = last - first;
    bool    times = l->column->type == KN_TYPE_DATETIME;
    if (days < FEW_DAYS) return week_rule(out, l, first, last, err);
    char text[80];
    snprintf(text, sizeof text, "{calendar: [%smonth%s%s%s]}", times ? "day, " : "", days < 1500 ? ", quarter" : "",
             days > 366 ? ", year" : "", days > 5500 ? ", decade" : "");
    return fixed_rule(out, l, text, "the calendar", err);
}

/* ---- Codes ---- */

static bool is_code_name(const char *name)
{
    static const char *const words[] = {"zip",  "zipcode", "postcode", "postal", "plz",    "postleitzahl", "codepostal",
                                        "code", "icd",     "cp",       "codigo", "código", "kode"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (kn_name_says(name, words[i])) return true;
    return false;
}

typedef struct spellings {
    bool     digits; /* every text has one                           */
    size_t   shortest, longest;
    char     separator; /* inside every text; 0: none                   */
    uint32_t heads;     /* distinct parts before it                     */
} spellings;

static bool has_separator(const looking *l, char c)
{
    for (uint32_t v = 0; v < l->count; v++) {
        kn_string   text = kn_dictionary_text(&l->column->dict, v);
        const char *at = text.size > 2 ? memchr(text.data + 1, c, text.size - 2) : NULL;
        if (!at) return false;
    }
    return l->count > 0;
}

/* Texts are in byte order, so equal prefixes are adjacent. */
static uint32_t count_heads(const looking *l, char c)
{
    uint32_t  heads = 0;
    kn_string last = {NULL, 0};
    for (uint32_t v = 0; v < l->count; v++) {
        kn_string   text = kn_dictionary_text(&l->column->dict, v);
        const char *at = memchr(text.data + 1, c, text.size - 1);
        size_t      size = at ? (size_t)(at - text.data) : text.size;
        heads += heads == 0 || size != last.size || memcmp(last.data, text.data, size) != 0;
        last = (kn_string){text.data, size};
    }
    return heads;
}

static spellings look_at_spellings(const looking *l)
{
    static const char separators[] = "./:-_ ";
    spellings         s = {.digits = l->count > 0, .shortest = SIZE_MAX};
    for (uint32_t v = 0; v < l->count; v++) {
        kn_string text = kn_dictionary_text(&l->column->dict, v);
        bool      digit = false;
        for (size_t i = 0; i < text.size; i++) digit |= isdigit((unsigned char)text.data[i]) != 0;
        s.digits &= digit;
        if (text.size < s.shortest) s.shortest = text.size;
        if (text.size > s.longest) s.longest = text.size;
    }
    for (const char *c = separators; *c && !s.separator; c++)
        if (has_separator(l, *c)) s.separator = *c;
    if (s.separator) s.heads = count_heads(l, s.separator);
    return s;
}

/* A rule for codes; out->hierarchy stays NULL if the values are not codes. */
static kn_status code_rule(kn_draft_rule *out, const looking *l, bool named, kn_error *err)
{
    spellings s = look_at_spellings(l);
    if (l->column->ambiguous_date)
        return fixed_rule(out, l, "{mask: left}", "dates that can be read in two ways: say which (type: date, format:)",
                          err);
    if (s.separator && s.heads > 1 && s.heads < l->count && (s.digits || s.separator != ' ')) {
        char text[32];
        snprintf(text, sizeof text, "{prefix: \"%c\"}", s.separator);
        return fixed_rule(out, l, text, "cut from the right, part by part", err);
    }
    if (s.digits && s.longest <= LONGEST_CODE && s.longest > 1 && (named || s.shortest == s.longest))
        return fixed_rule(out, l, s.shortest == s.longest ? "{mask: right}" : "{mask: right, pad: true}",
                          "a code: masked from the right", err);
    return KN_OK;
}

/* ---- Categories ---- */

/* A file name made of the names of a table and a column: letters, digits, - and _ are kept. */
static char *file_name(const looking *l, const char *owner)
{
    kn_buffer name;
    kn_buffer_init(&name, l->d->ctx);
    if (owner) kn_buffer_format(&name, "%s.", owner);
    kn_buffer_add(&name, l->column->name);
    for (size_t i = 0; i < name.size; i++) {
        unsigned char c = (unsigned char)name.data[i];
        if (!isalnum(c) && c < 0x80 && c != '-' && c != '_' && (c != '.' || i == 0)) name.data[i] = '_';
    }
    size_t size = name.size;
    for (int again = 2; !name.failed; again++) {
        const char *text;
        bool        taken = false;
        kn_buffer_add(&name, ".dgh");
        text = kn_buffer_text(&name);
        for (int i = 0; text && i < l->d->draft->file_count; i++) taken |= strcmp(l->d->files[i].name, text) == 0;
        if (!taken) break;
        name.size = size;
        kn_buffer_format(&name, "-%d", again);
    }
    const char *text = kn_buffer_text(&name);
    char       *made = text ? kn_arena_strndup(l->d->arena, text, name.size) : NULL;
    kn_buffer_free(&name);
    return made;
}

static kn_status add_file(const looking *l, const char *name, const kn_hierarchy *h, kn_error *err)
{
    kn_drafting *d = l->d;
    size_t       count = (size_t)d->draft->file_count;
    kn_buffer    text;
    kn_buffer_init(&text, d->ctx);
    kn_hierarchy_format(h, ';', &text);
    const char *made = kn_buffer_text(&text);
    char       *stays = made ? kn_arena_strndup(d->arena, made, text.size) : NULL;
    bool        room = stays && KN_GROW(d->ctx, &d->files, &d->file_capacity, count + 1);
    if (room) d->files[count] = (kn_draft_file){name, stays, text.size};
    d->draft->file_count += room;
    kn_buffer_free(&text);
    return room ? KN_OK : kn_draft_memory(d, err);
}

static kn_status category_rule(kn_draft_rule *out, const looking *l, const char *owner, kn_error *err)
{
    static const char why[] = "groups of neighbours: put together what belongs together";
    if (!l->d->options->files) {
        out->why = "a category: kanon init -o writes a hierarchy to edit";
        return KN_OK;
    }
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    kn_hierarchy     *h = NULL;
    char             *name = file_name(l, owner);
    if (!name) return kn_draft_memory(l->d, err);
    spec.kind = KN_HIERARCHY_GROUPS;
    if (l->count <= 4) spec.fan_out = 2;
    KN_TRY(kn_hierarchy_make(&h, l->d->ctx, l->table, l->number, &spec, false, err));
    kn_status st = add_file(l, name, h, err);
    kn_hierarchy_free(h);
    if (st != KN_OK) return st;
    kn_buffer text;
    kn_buffer_init(&text, l->d->ctx);
    kn_draft_quote(&text, name);
    st = set_rule(out, l, &text, why, err);
    kn_buffer_free(&text);
    return st;
}

/* ---- All of them ---- */

static kn_status choose_rule(kn_draft_rule *out, kn_drafting *d, const kn_table *table, int column, const char *owner,
                             bool category, kn_error *err)
{
    const kn_column *c = &table->columns[column];
    looking          l = {d, c, table, column, c->dict.count};
    bool             code = is_code_name(c->name);
    *out = (kn_draft_rule){NULL, NULL, ""};
    if (c->type != KN_TYPE_TEXT) out->type = kn_type_name(c->type);
    if (l.count <= 2) return fixed_rule(out, &l, "suppress", "there is nothing between a value and *", err);
    if (category) return category_rule(out, &l, owner, err);
    if (c->type == KN_TYPE_TEXT || (c->type == KN_TYPE_INTEGER && code)) {
        KN_TRY(code_rule(out, &l, code, err));
        if (out->hierarchy) out->type = "text";
        if (out->hierarchy) return KN_OK;
    }
    switch (c->type) {
    case KN_TYPE_INTEGER:
    case KN_TYPE_DECIMAL: return number_rule(out, &l, err);
    case KN_TYPE_DATE:
    case KN_TYPE_DATETIME: return date_rule(out, &l, err);
    case KN_TYPE_AUTO:
    case KN_TYPE_TEXT: break;
    }
    return category_rule(out, &l, owner, err);
}

/* No release file over such a column would run. */
static kn_status refuse_star(kn_drafting *d, const kn_column *c, kn_error *err)
{
    for (uint32_t v = 0; v < c->dict.count; v++) {
        if (!kn_string_equal(kn_dictionary_text(&c->dict, v), (kn_string){"*", 1})) continue;
        d->star = true;
        bool class = d->draft->shape == KN_SHAPE_RECORDS;
        return kn_fail(err, KN_INPUT,
                       "%s \"%s\" of the data holds the value *, which stands for any value in a release; write it "
                       "otherwise%s",
                       class ? "class" : "column", c->name,
                       class ? "" : ", or name it as a spelling of missing cells (na)");
    }
    return KN_OK;
}

kn_status kn_draft_rule_of(kn_draft_rule *out, kn_drafting *d, const kn_table *table, int column, const char *owner,
                           bool category, kn_error *err)
{
    KN_TRY(refuse_star(d, &table->columns[column], err));
    return choose_rule(out, d, table, column, owner, category, err);
}

kn_status kn_draft_rule_alone(const char **out, kn_context *ctx, kn_arena *arena, const kn_table *table, int column,
                              kn_error *err)
{
    kn_init_options options = KN_INIT_OPTIONS_INIT;
    kn_draft        none = {0};
    kn_drafting     d = {.ctx = ctx, .options = &options, .arena = arena, .draft = &none};
    kn_draft_rule   rule;
    KN_TRY(choose_rule(&rule, &d, table, column, NULL, false, err));
    *out = rule.hierarchy;
    return KN_OK;
}
