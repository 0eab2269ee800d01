/* kn_spec_levels.c: `levels:`, combined with min-level and max-level: the levels that a full-domain method may use.
 *
 * `levels` names quasi-identifiers ({age: 2}, or as texts age=2) or gives one level for each, in the order of their
 * declaration. Names and numbers are checked when the spec is complete, since roles may come later. The job checks
 * whether the hierarchies have such levels.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_error.h"
#include "kn_field.h"
#include "kn_nearest.h"

enum { MOST_LEVEL = KN_HIERARCHY_MAX_LEVELS - 1 };

typedef struct asked_levels {
    int          count;
    const char **names;
    int         *levels;
} asked_levels;

kn_status kn_read_level(kn_reader *r, const kn_yaml *value, int64_t *out)
{
    return kn_read_whole(r, value, 0, MOST_LEVEL, out);
}

static kn_status read_next(kn_reader *r, const kn_yaml *value, asked_levels *to)
{
    int64_t level = 0;
    KN_TRY(kn_read_level(r, value, &level));
    to->levels[to->count] = (int)level;
    return KN_OK;
}

/* "age=2", as in an option: the name ends at the last "=". */
static kn_status read_named(kn_reader *r, const kn_yaml *value, asked_levels *to)
{
    const char *sign = strrchr(value->text, '=');
    kn_yaml     level = *value;
    level.text = sign + 1;
    level.size = value->size - (size_t)(sign + 1 - value->text);
    to->names[to->count] = kn_arena_strndup(&r->inner->arena, value->text, (size_t)(sign - value->text));
    if (!to->names[to->count]) return kn_field_memory(r);
    return read_next(r, &level, to);
}

static kn_status read_one(kn_reader *r, const kn_yaml *item, bool map, asked_levels *to)
{
    const char *text = item->text;
    if (map) {
        to->names[to->count] = kn_arena_strndup(&r->inner->arena, item->text, item->size);
        if (!to->names[to->count]) return kn_field_memory(r);
        KN_TRY(read_next(r, item->value, to));
    } else if (item->kind == KN_YAML_TEXT && text && strchr(text, '=')) {
        KN_TRY(read_named(r, item, to));
    } else {
        KN_TRY(read_next(r, item, to));
    }
    to->count++;
    return KN_OK;
}

kn_status kn_read_levels(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec     *spec = target;
    bool         map = value->kind == KN_YAML_MAP;
    asked_levels asked = {0};
    if (!map && value->kind != KN_YAML_LIST)
        return kn_field_fail(r, value, "a mapping of quasi-identifiers to levels is expected here: {age: 2, zip: 1}");
    size_t count = value->count > 0 ? (size_t)value->count : 1;
    asked.names = kn_arena_array_zero(&r->inner->arena, count, sizeof *asked.names);
    asked.levels = kn_arena_array_zero(&r->inner->arena, count, sizeof *asked.levels);
    if (!asked.names || !asked.levels) return kn_field_memory(r);
    for (const kn_yaml *item = value->first; item; item = item->next) KN_TRY(read_one(r, item, map, &asked));
    for (int i = 1; i < asked.count; i++)
        if (!asked.names[i] != !asked.names[0])
            return kn_field_fail(r, value,
                                 "give every level with its quasi-identifier, or one for each in their order");
    spec->level_count = asked.count;
    spec->level_names = asked.names;
    spec->levels = asked.levels;
    return KN_OK;
}

/* ---- Together ---- */

/* The index of an attribute's level; -1: none. */
static int level_of(const kn_spec *spec, int attribute)
{
    int quasi = 0;
    if (spec->attributes[attribute].role != KN_ROLE_QUASI) return -1;
    for (int i = 0; i < attribute; i++) quasi += spec->attributes[i].role == KN_ROLE_QUASI;
    for (int i = 0; i < spec->level_count; i++)
        if (spec->level_names[i] ? strcmp(spec->level_names[i], spec->attributes[attribute].name) == 0 : i == quasi)
            return i;
    return -1;
}

bool kn_spec_level_bounds(const kn_spec *spec, int attribute, int *low, int *high)
{
    const kn_attribute *a = kn_spec_attribute_at(spec, attribute);
    *low = *high = -1;
    if (!a || a->role != KN_ROLE_QUASI) return false;
    int at = level_of(spec, attribute);
    *low = at >= 0 ? spec->levels[at] : (int)a->min_level;
    *high = at >= 0 ? spec->levels[at] : (int)a->max_level;
    return *low >= 0 || *high >= 0;
}

bool kn_spec_has_level_bounds(const kn_spec *spec)
{
    int low, high;
    for (int i = 0; i < spec->attribute_count; i++)
        if (kn_spec_level_bounds(spec, i, &low, &high)) return true;
    return false;
}

/* ---- Do they fit? ---- */

static kn_status check_names(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    kn_place       place = inner->state.places[KN_FIELD_LEVELS];
    const char    *said = inner->state.said[KN_FIELD_LEVELS];
    int            quasi = 0;
    for (int i = 0; i < spec->attribute_count; i++) quasi += spec->attributes[i].role == KN_ROLE_QUASI;
    if (spec->level_count > 0 && !spec->level_names[0] && spec->level_count != quasi)
        return kn_spec_fail_place(
            inner, place, err,
            "%s: there are %d levels and %d quasi-identifiers; give one for each, in the order in "
            "which they were declared, or name them: age=2",
            said, spec->level_count, quasi);
    for (int i = 0; i < spec->level_count; i++) {
        const char *name = spec->level_names[i];
        int         at = name ? kn_spec_find(spec, name) : 0;
        if (!name || (at >= 0 && spec->attributes[at].role == KN_ROLE_QUASI && level_of(spec, at) == i)) continue;
        if (at >= 0 && spec->attributes[at].role == KN_ROLE_QUASI)
            return kn_spec_fail_place(inner, place, err, "%s: column \"%s\" is named twice", said, name);
        if (at >= 0)
            return kn_spec_fail_place(inner, place, err, "%s: column \"%s\" is %s; only quasi-identifiers have levels",
                                      said, name, kn_role_name(spec->attributes[at].role));
        kn_nearest near = {.text = name};
        for (int q = 0; q < spec->attribute_count; q++)
            if (spec->attributes[q].role == KN_ROLE_QUASI) kn_nearest_try(&near, spec->attributes[q].name);
        return kn_spec_fail_place(inner, place, err, "%s: there is no quasi-identifier \"%s\"%s%s%s", said, name,
                                  KN_MEANT(near));
    }
    return KN_OK;
}

kn_status kn_spec_check_levels(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    KN_TRY(check_names(inner, err));
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        kn_place            place = {a->line, a->column};
        if (a->role != KN_ROLE_QUASI && (a->min_level >= 0 || a->max_level >= 0))
            return kn_spec_fail_place(inner, place, err,
                                      "column \"%s\": only a quasi-identifier has a min-level or a max-level", a->name);
        if (a->max_level >= 0 && a->min_level > a->max_level)
            return kn_spec_fail_place(inner, place, err, "column \"%s\": min-level %d is above max-level %d", a->name,
                                      (int)a->min_level, (int)a->max_level);
        int at = level_of(spec, i);
        if (at < 0) continue;
        if (spec->levels[at] < a->min_level || (a->max_level >= 0 && spec->levels[at] > a->max_level))
            return kn_spec_fail_place(inner, inner->state.places[KN_FIELD_LEVELS], err,
                                      "%s: level %d of column \"%s\" is not between its min-level and its max-level",
                                      inner->state.said[KN_FIELD_LEVELS], spec->levels[at], a->name);
    }
    return KN_OK;
}
