/* kn_hierarchy_build.c: hierarchies over the values of a column: masks, ranges, breaks, calendars, prefixes,
 * suppression.
 *
 * Each kind is a function that writes the label of one value at one level; the rest is shared. In every kind a
 * value's label at a level determines its label at the next, so the result is always a tree. A root "*" is added on
 * top, except above masks that end in one label. kn_hierarchy_ranges.c assigns numbers to ranges.
 *
 * Cost: O(values × levels) labels. Limits: KN_HIERARCHY_MAX_LEVELS levels.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_hierarchy_build.h"

#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"

/* ---- Shared: from labels to paths ---- */

static kn_status add_value(const kn_label_builder *b, kn_hierarchy_maker *maker, uint32_t code, kn_buffer *text,
                           size_t *ends, kn_path_field *path, kn_error *err)
{
    kn_buffer_clear(text);
    for (uint32_t level = 1; level <= b->levels; level++) {
        size_t begin = text->size;
        b->label(b, code, level, text);
        if (text->size == begin) kn_buffer_char(text, '*'); /* an empty label would look like a missing cell */
        ends[level] = text->size;
    }
    if (text->failed) return kn_fail_memory(err, b->ctx, "building a hierarchy");
    path[0] = (kn_path_field){kn_dictionary_text(&b->column->dict, code), 0, 0};
    for (uint32_t level = 1; level <= b->levels; level++) {
        size_t begin = level == 1 ? 0 : ends[level - 1];
        path[level] = (kn_path_field){{text->data + begin, ends[level] - begin}, 0, 0};
    }
    uint32_t count = b->levels + 1;
    if (b->star) path[count++] = (kn_path_field){{"*", 1}, 0, 0};
    return kn_hierarchy_maker_add(maker, path, count, err);
}

static kn_status add_values(const kn_label_builder *b, kn_hierarchy_maker *maker, kn_error *err)
{
    kn_buffer text;
    kn_buffer_init(&text, b->ctx);
    size_t        *ends = kn_alloc_array(b->ctx, (size_t)b->levels + 1, sizeof *ends);
    kn_path_field *path = kn_alloc_array(b->ctx, (size_t)b->levels + 2, sizeof *path);
    kn_status      status = ends && path ? KN_OK : kn_fail_memory(err, b->ctx, "building a hierarchy");
    for (uint32_t code = 0; status == KN_OK && code < b->column->dict.count; code++) {
        if (code % 4096 == 0 && kn_cancelled(b->ctx))
            status = kn_fail_cancelled(err);
        else
            status = add_value(b, maker, code, &text, ends, path, err);
    }
    kn_buffer_free(&text);
    KN_FREE(ends, path);
    return status;
}

static kn_status make(kn_hierarchy **out, const kn_label_builder *b, const char *name, kn_error *err)
{
    if (b->levels + b->star >= KN_HIERARCHY_MAX_LEVELS)
        return kn_fail(err, KN_USAGE, "column \"%s\": the hierarchy would have more than %d levels", b->column->name,
                       KN_HIERARCHY_MAX_LEVELS);
    kn_hierarchy_maker *maker = NULL;
    KN_TRY(kn_hierarchy_maker_create(&maker, b->ctx, name, false, err));
    return kn_hierarchy_maker_finish(out, maker, b->column, add_values(b, maker, err), err);
}

/* ---- Masks ---- */

typedef struct mask_builder {
    kn_label_builder base;
    const char      *mask;
    bool             left, pad;
    size_t           step, longest; /* in characters */
    size_t           filled;        /* with pad: up to this many */
} mask_builder;

/* Characters of valid UTF-8: bytes that do not continue one. */
static size_t characters(kn_string text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.size; i++) n += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return n;
}

/* The byte at which character number `index` begins, or the end. */
static size_t character_at(kn_string text, size_t index)
{
    size_t i = 0;
    for (; i < text.size; i++) {
        if (((unsigned char)text.data[i] & 0xc0) == 0x80) continue;
        if (index-- == 0) break;
    }
    return i;
}

static void mask_label(const kn_label_builder *base, uint32_t code, uint32_t level, kn_buffer *out)
{
    const mask_builder *b = (const mask_builder *)base;
    kn_string           text = kn_dictionary_text(&base->column->dict, code);
    size_t              length = characters(text), width = b->pad && length < b->filled ? b->filled : length;
    size_t              masked = b->step * level < width ? b->step * level : width;
    size_t              kept = width - masked < length ? width - masked : length;
    if (b->left) {
        for (size_t i = kept; i < width; i++) kn_buffer_add(out, b->mask);
        size_t from = character_at(text, length - kept);
        kn_buffer_append(out, text.data + from, text.size - from);
    } else {
        kn_buffer_append(out, text.data, character_at(text, kept));
        for (size_t i = kept; i < width; i++) kn_buffer_add(out, b->mask);
    }
}

static kn_status build_mask(kn_hierarchy **out, kn_label_builder base, const kn_hierarchy_spec *spec, kn_error *err)
{
    const char *mask = spec->mask ? spec->mask : "*";
    if (characters(kn_string_of(mask)) != 1) return kn_fail(err, KN_USAGE, "mask: the mask is one character");
    if (spec->mask_width < 0) return kn_fail(err, KN_USAGE, "mask: the width is a number of characters");
    if (spec->mask_step < 0) return kn_fail(err, KN_USAGE, "mask: the step is a positive number of characters");
    mask_builder b = {.base = base,
                      .mask = mask,
                      .left = spec->mask_left,
                      .pad = spec->mask_pad,
                      .step = spec->mask_step ? (size_t)spec->mask_step : 1};
    size_t       shortest = SIZE_MAX;
    for (uint32_t c = 0; c < base.column->dict.count; c++) {
        size_t length = characters(kn_dictionary_text(&base.column->dict, c));
        if (length > b.longest) b.longest = length;
        if (length < shortest) shortest = length;
    }
    b.filled = spec->mask_width ? (size_t)spec->mask_width : b.longest;
    bool   apart = b.longest > b.filled || (!b.pad && shortest != b.filled);
    size_t most = b.pad && b.filled > b.longest ? b.filled : b.longest;
    size_t levels = most / b.step + (most % b.step != 0);
    b.base.levels = levels < KN_HIERARCHY_MAX_LEVELS ? (uint32_t)levels : KN_HIERARCHY_MAX_LEVELS;
    b.base.label = mask_label;
    b.base.star = levels == 0 || apart;
    return make(out, &b.base, spec->mask_left ? "mask left" : "mask right", err);
}

/* ---- Calendars ---- */

typedef struct calendar_builder {
    kn_label_builder base;
    unsigned         steps[5];
} calendar_builder;

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Days are whole, so that both ends belong to it; times go up to the next decade. */
static void decade_label(kn_buffer *out, int first, kn_type type)
{
    if (type == KN_TYPE_DATE)
        kn_buffer_format(out, "[%04d-01-01, %04d-12-31]", first, first + 9);
    else
        kn_buffer_format(out, "[%04d-01-01, %04d-01-01)", first, first + 10);
}

static void calendar_label(const kn_label_builder *base, uint32_t code, uint32_t level, kn_buffer *out)
{
    const calendar_builder *b = (const calendar_builder *)base;
    int64_t                 days = base->times ? base->times[code] : base->column->dict.integers[code];
    if (base->column->type == KN_TYPE_DATETIME) days = floor_divide(days, INT64_C(86400000000));
    int year, month, day;
    kn_civil_from_days(days, &year, &month, &day);
    switch (b->steps[level - 1]) {
    case KN_CALENDAR_DAY: kn_buffer_format(out, "%04d-%02d-%02d", year, month, day); break;
    case KN_CALENDAR_MONTH:
        kn_buffer_format(out, "%04d-M%02d", year, month);
        break; /* a spreadsheet turns 2024-03 into a day */
    case KN_CALENDAR_QUARTER: kn_buffer_format(out, "%04d-Q%d", year, (month + 2) / 3); break;
    case KN_CALENDAR_YEAR: kn_buffer_format(out, "%04d", year); break;
    default: decade_label(out, year / 10 * 10, base->column->type); break;
    }
}

static kn_status build_calendar(kn_hierarchy **out, kn_label_builder base, const kn_hierarchy_spec *spec, kn_error *err)
{
    kn_type type = base.column->type;
    if (type != KN_TYPE_DATE && type != KN_TYPE_DATETIME)
        return kn_fail_type(base.column, false, true, "a calendar needs dates or times", err);
    unsigned all = KN_CALENDAR_DAY | KN_CALENDAR_MONTH | KN_CALENDAR_QUARTER | KN_CALENDAR_YEAR | KN_CALENDAR_DECADE;
    unsigned wanted = spec->calendar ? spec->calendar : all;
    if (wanted & ~all) return kn_fail(err, KN_USAGE, "calendar: there is no such step");
    if (type == KN_TYPE_DATE) wanted &= ~(unsigned)KN_CALENDAR_DAY;
    calendar_builder b = {.base = base};
    for (unsigned step = KN_CALENDAR_DAY; step <= KN_CALENDAR_DECADE; step *= 2)
        if (wanted & step) b.steps[b.base.levels++] = step;
    b.base.label = calendar_label;
    return make(out, &b.base, "calendar", err);
}

/* ---- Prefixes ---- */

typedef struct prefix_builder {
    kn_label_builder base;
    kn_string        separator;
    uint32_t         parts; /* of the value that has most */
} prefix_builder;

/* The first `parts` parts of a text, and how many there were. A separator at the very beginning belongs to the first
 * part, so that no part list starts with an empty one (/usr/bin -> /usr). */
static size_t prefix_of(kn_string text, kn_string separator, uint32_t parts, uint32_t *seen)
{
    *seen = 1;
    for (size_t i = 1; i + separator.size <= text.size; i++) {
        if (memcmp(text.data + i, separator.data, separator.size) != 0) continue;
        if (*seen == parts) return i;
        ++*seen;
        i += separator.size - 1;
    }
    return text.size;
}

static void prefix_label(const kn_label_builder *base, uint32_t code, uint32_t level, kn_buffer *out)
{
    const prefix_builder *b = (const prefix_builder *)base;
    kn_string             text = kn_dictionary_text(&base->column->dict, code);
    uint32_t              seen;
    kn_buffer_append(out, text.data, prefix_of(text, b->separator, b->parts - level, &seen));
}

static kn_status build_prefix(kn_hierarchy **out, kn_label_builder base, const kn_hierarchy_spec *spec, kn_error *err)
{
    if (!spec->separator || !*spec->separator) return kn_fail(err, KN_USAGE, "prefix: a separator is needed");
    prefix_builder b = {.base = base, .separator = kn_string_of(spec->separator), .parts = 1};
    for (uint32_t c = 0; c < base.column->dict.count; c++) {
        uint32_t seen;
        (void)prefix_of(kn_dictionary_text(&base.column->dict, c), b.separator, UINT32_MAX, &seen);
        if (seen > b.parts) b.parts = seen;
    }
    b.base.levels = b.parts - 1 < KN_HIERARCHY_MAX_LEVELS ? b.parts - 1 : KN_HIERARCHY_MAX_LEVELS;
    b.base.label = prefix_label;
    return make(out, &b.base, "prefix", err);
}

/* ---- All kinds ---- */

/* What the clocks of a time zone show at each value, as if it were UTC. Free it. */
static kn_status local_times(int64_t **out, kn_context *ctx, const kn_column *column, const char *name, kn_error *err)
{
    enum { SECOND = 1000000 };
    kn_timezone *zone = NULL;
    KN_TRY(kn_timezone_open(&zone, ctx, name, err));
    *out = kn_alloc_array(ctx, (size_t)column->dict.count + 1, sizeof **out);
    for (uint32_t code = 0; *out && code < column->dict.count; code++) {
        int64_t moment = column->dict.integers[code];
        (*out)[code] = moment + (int64_t)SECOND * kn_timezone_offset_at(zone, floor_divide(moment, SECOND));
    }
    kn_timezone_free(zone);
    return *out ? KN_OK : kn_fail_memory(err, ctx, "building a hierarchy");
}

static kn_status build(kn_hierarchy **out, kn_label_builder base, const kn_hierarchy_spec *spec, kn_error *err)
{
    const kn_column  *column = base.column;
    kn_hierarchy_kind kind = spec->kind;
    bool typed = kind == KN_HIERARCHY_RANGES || kind == KN_HIERARCHY_BREAKS || kind == KN_HIERARCHY_CALENDAR;
    if (typed && column->dict.count == 0) kind = KN_HIERARCHY_SUPPRESS; /* a column without a value has no type */
    switch (kind) {
    case KN_HIERARCHY_MASK: return build_mask(out, base, spec, err);
    case KN_HIERARCHY_CALENDAR: return build_calendar(out, base, spec, err);
    case KN_HIERARCHY_PREFIX: return build_prefix(out, base, spec, err);
    case KN_HIERARCHY_SUPPRESS: return make(out, &base, "suppress", err);
    case KN_HIERARCHY_RANGES:
    case KN_HIERARCHY_BREAKS: {
        kn_interval_builder intervals;
        kn_status           status = kn_interval_builder_init(&intervals, base, spec, err);
        if (status == KN_OK)
            status = make(out, &intervals.base, spec->kind == KN_HIERARCHY_RANGES ? "ranges" : "breaks", err);
        kn_interval_builder_free(&intervals);
        return status;
    }
    case KN_HIERARCHY_GROUPS: /* kn_hierarchy_build_groups */
    case KN_HIERARCHY_FILE:
    case KN_HIERARCHY_TAXONOMY: break;
    }
    return kn_fail(err, KN_USAGE, "this kind of hierarchy is not built from the values of a column");
}

kn_status kn_hierarchy_build(kn_hierarchy **out, kn_context *ctx, const kn_column *column,
                             const kn_hierarchy_spec *spec, kn_error *err)
{
    bool     days = spec->kind == KN_HIERARCHY_CALENDAR || spec->kind == KN_HIERARCHY_BREAKS;
    int64_t *times = NULL;
    if (days && spec->timezone && column->type == KN_TYPE_DATETIME)
        KN_TRY(local_times(&times, ctx, column, spec->timezone, err));
    kn_status status =
        build(out, (kn_label_builder){.ctx = ctx, .column = column, .times = times, .star = true}, spec, err);
    kn_free(times);
    return status;
}
