/* kn_spec_hierarchy.c: `hierarchy:` of an attribute: a path, a word, or a mapping with one kind and its options.
 *
 * Whether a hierarchy fits the column is checked when it is built; here only its text is.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_error.h"
#include "kn_field.h"
#include "kn_utf8.h"
#include "kn_value.h"

static kn_status read_mask(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_either(r, value, "right", "left", "a side", target);
}

static kn_status read_step(kn_reader *r, const kn_yaml *value, void *target)
{
    int64_t step = 0;
    KN_TRY(kn_read_whole(r, value, 1, 1000, &step));
    *(int *)target = (int)step;
    return KN_OK;
}

static kn_status read_character(kn_reader *r, const kn_yaml *value, void *target)
{
    KN_TRY(kn_want_text(r, value, "a character"));
    if (kn_utf8_length(value->text, value->size) != 1) return kn_field_fail(r, value, "not one character");
    return kn_read_text(r, value, "a character", target);
}

static kn_status read_number(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_decimal number;
    KN_TRY(kn_want_text(r, value, "a number"));
    if (!kn_parse_declared_decimal((kn_string){value->text, value->size}, '.', &number))
        return kn_field_fail(r, value, "not a number like 5 or 0.5");
    return kn_read_text(r, value, "a number", target);
}

static kn_status read_width(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_decimal width;
    KN_TRY(kn_want_text(r, value, "a width"));
    bool number = kn_parse_declared_decimal((kn_string){value->text, value->size}, '.', &width);
    if (!number || width.negative || width.before.size + width.after.size == 0)
        return kn_field_fail(r, value, "not a width: a number greater than 0");
    return kn_read_text(r, value, "a width", target);
}

static kn_status read_ranges(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_hierarchy_spec *h = target;
    KN_TRY(kn_read_list(r, value, "a list of widths", read_width, &h->widths, &h->width_count));
    return h->width_count > 0 ? KN_OK : kn_field_fail(r, value, "a list of widths is expected here");
}

static kn_status read_point(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_string  text = {value->text, value->size};
    kn_decimal number;
    int64_t    days;
    KN_TRY(kn_want_text(r, value, "a cut point"));
    if (!kn_parse_declared_decimal(text, '.', &number) && !kn_parse_date(text, "%Y-%m-%d", &days))
        return kn_field_fail(r, value, "not a cut point: a number, or a day like 2020-12-31");
    return kn_read_text(r, value, "a cut point", target);
}

/* [[18, 65], [18]]; [18, 65] is one level. */
static kn_status read_breaks(kn_reader *r, const kn_yaml *value, void *target)
{
    static const char *const what = "a list of lists of cut points";
    kn_hierarchy_spec       *h = target;
    if (value->kind != KN_YAML_LIST || value->count == 0) return kn_field_fail(r, value, "%s is expected here", what);
    bool               one = value->first->kind != KN_YAML_LIST;
    size_t             count = one ? 1 : value->count;
    kn_hierarchy_cuts *levels = kn_arena_alloc(&r->inner->arena, count * sizeof *levels);
    if (!levels) return kn_field_memory(r);
    const kn_yaml *level = one ? value : value->first;
    for (size_t i = 0; i < count; i++, level = level->next) {
        if (level->kind != KN_YAML_LIST || level->count == 0)
            return kn_field_fail(r, level, "a list of cut points is expected here");
        KN_TRY(kn_read_list(r, level, what, read_point, &levels[i].points, &levels[i].count));
    }
    h->breaks = levels;
    h->break_count = (int)count;
    return KN_OK;
}

/* all, one step or a list of steps. */
static kn_status read_calendar(kn_reader *r, const kn_yaml *value, void *target)
{
    static const char *const steps[] = {"day", "month", "quarter", "year", "decade"};
    kn_hierarchy_spec       *h = target;
    h->calendar = 0;
    if (value->kind == KN_YAML_TEXT && strcmp(value->text, "all") == 0) return KN_OK;
    if (value->kind == KN_YAML_LIST && value->count == 0)
        return kn_field_fail(r, value, "a list of calendar steps is expected here");
    for (const kn_yaml *step = value->kind == KN_YAML_LIST ? value->first : value; step; step = step->next) {
        size_t found = 0;
        KN_TRY(kn_read_word(r, step, steps, 5, "a calendar step", &found));
        h->calendar |= 1u << found;
        if (value->kind != KN_YAML_LIST) break;
    }
    return KN_OK;
}

static kn_status read_prefix(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_text(r, value, "a separator", target);
}

#define AT(member) offsetof(kn_hierarchy_spec, member)

/* The kinds first; then their options. */
static const struct part {
    kn_key            key;
    kn_hierarchy_kind kind;
    bool              option;
} parts[] = {
    {{"file", kn_read_path, AT(path)}, KN_HIERARCHY_FILE, false},
    {{"taxonomy", kn_read_path, AT(path)}, KN_HIERARCHY_TAXONOMY, false},
    {{"mask", read_mask, AT(mask_left)}, KN_HIERARCHY_MASK, false},
    {{"ranges", read_ranges, 0}, KN_HIERARCHY_RANGES, false},
    {{"breaks", read_breaks, 0}, KN_HIERARCHY_BREAKS, false},
    {{"calendar", read_calendar, 0}, KN_HIERARCHY_CALENDAR, false},
    {{"prefix", read_prefix, AT(separator)}, KN_HIERARCHY_PREFIX, false},
    {{"delimiter", kn_read_delimiter, AT(delimiter)}, KN_HIERARCHY_FILE, true},
    {{"step", read_step, AT(mask_step)}, KN_HIERARCHY_MASK, true},
    {{"pad", kn_read_bool, AT(mask_pad)}, KN_HIERARCHY_MASK, true},
    {{"character", read_character, AT(mask)}, KN_HIERARCHY_MASK, true},
    {{"origin", read_number, AT(origin)}, KN_HIERARCHY_RANGES, true},
    {{"population", kn_read_path, AT(population)}, KN_HIERARCHY_SUPPRESS, true}, /* of any kind; alone: of this one */
};
enum { PARTS = sizeof parts / sizeof *parts };

static const char *kind_name(kn_hierarchy_kind kind)
{
    for (size_t i = 0; i < PARTS; i++)
        if (!parts[i].option && parts[i].kind == kind) return parts[i].key.name;
    return "";
}

/* One kind, and options of that kind only. */
static kn_status find_kind(kn_reader *r, const kn_yaml *map, const size_t *which, kn_hierarchy_kind *out)
{
    const kn_yaml *kind = NULL, *key = map->first;
    for (size_t i = 0; key; key = key->next, i++) {
        if (parts[which[i]].option) continue;
        if (kind)
            return kn_field_fail(r, key, "a hierarchy is of one kind: '%s' and '%s' exclude each other",
                                 kind_name(*out), parts[which[i]].key.name);
        kind = key;
        *out = parts[which[i]].kind;
    }
    if (!kind && map->count == 1 && parts[which[0]].kind == KN_HIERARCHY_SUPPRESS) {
        *out = KN_HIERARCHY_SUPPRESS;
        return KN_OK;
    }
    if (!kind)
        return kn_field_fail(r, map,
                             "a hierarchy needs one of file, taxonomy, mask, ranges, breaks, calendar and prefix");
    key = map->first;
    for (size_t i = 0; key; key = key->next, i++) {
        const struct part *part = &parts[which[i]];
        if (part->option && part->kind != *out && part->kind != KN_HIERARCHY_SUPPRESS)
            return kn_field_fail(r, key, "'%s' goes with '%s', not with '%s'", part->key.name, kind_name(part->kind),
                                 kind_name(*out));
    }
    return KN_OK;
}

/* A kind without its value looks like a path: 'ranges' is hardly a file of that name. */
static kn_status refuse_kind(kn_reader *r, const kn_yaml *value)
{
    static const struct {
        const char *name, *file, *option, *python;
    } ways[] = {
        {"ranges", "{ranges: [5, 10]}", "ranges=5,10", "kn.ranges(5, 10)"},
        {"mask", "{mask: right}", "mask=right", "kn.mask(\"right\")"},
        {"breaks", "{breaks: [18, 65]}", "breaks=18,65", "kn.breaks([18, 65])"},
        {"calendar", "{calendar: all}", "calendar", "kn.calendar()"},
        {"prefix", "{prefix: \".\"}", "prefix=.", "kn.prefix(\".\")"},
        {"taxonomy", "{taxonomy: FILE}", "taxonomy=FILE", "kn.taxonomy(FILE)"},
        {"file", "the file's name", "FILE", "its path"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(value->text, ways[i].name) == 0)
            return kn_field_fail(r, value,
                                 "'%s' is a kind of hierarchy and needs more: write %s (--hierarchy COLUMN:%s, in "
                                 "Python %s); a file of that name is ./%s",
                                 ways[i].name, ways[i].file, ways[i].option, ways[i].python, ways[i].name);
    return KN_OK;
}

kn_status kn_read_hierarchy(kn_reader *r, const kn_yaml *value, kn_hierarchy_spec *out)
{
    kn_hierarchy_spec h = KN_HIERARCHY_SPEC_INIT;
    if (value->kind == KN_YAML_TEXT && strcmp(value->text, "suppress") == 0) {
        h.kind = KN_HIERARCHY_SUPPRESS;
    } else if (value->kind == KN_YAML_TEXT) {
        KN_TRY(refuse_kind(r, value));
        KN_TRY(kn_read_path(r, value, &h.path));
        h.kind = KN_HIERARCHY_FILE;
    } else {
        const char *names[PARTS];
        size_t      which[PARTS], used = 0;
        KN_TRY(kn_want_map(r, value, "a path or a mapping like {mask: right}"));
        for (size_t i = 0; i < PARTS; i++) names[i] = parts[i].key.name;
        for (const kn_yaml *key = value->first; key; key = key->next) /* no key occurs twice: at most PARTS   */
            KN_TRY(kn_read_key(r, key, names, PARTS, &which[used++]));
        KN_TRY(find_kind(r, value, which, &h.kind));
        used = 0;
        for (const kn_yaml *key = value->first; key; key = key->next) {
            const kn_key *k = &parts[which[used++]].key;
            KN_TRY(k->read(r, key->value, (char *)&h + k->offset));
        }
    }
    *out = h;
    return KN_OK;
}
