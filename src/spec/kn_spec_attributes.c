/* kn_spec_attributes.c: `attributes:`: role, type, hierarchy of each column.
 *
 * Each declaration of an attribute adds to earlier ones, so that a release file and later changes can be combined.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <string.h>

#include "kn_error.h"
#include "kn_field.h"
#include "kn_value.h"

enum { MOST_ATTRIBUTES = 65535 }; /* columns of a table */

/* An attribute while its mapping is read, and the values that can only be judged together. */
typedef struct draft {
    kn_attribute   attribute;
    const kn_yaml *role, *format, *hierarchy, *cuts, *weight, *pseudonym, *level, *separator;
} draft;

static kn_status read_role(kn_reader *r, const kn_yaml *value, void *target)
{
    static const kn_role roles[] = {KN_ROLE_IDENTIFIER, KN_ROLE_QUASI, KN_ROLE_SENSITIVE, KN_ROLE_KEEP,
                                    KN_ROLE_WEIGHT,     KN_ROLE_COUNT, KN_ROLE_SET};
    enum { ROLES = sizeof roles / sizeof *roles };
    const char *names[ROLES];
    size_t      found = 0;
    draft      *d = target;
    for (size_t i = 0; i < ROLES; i++) names[i] = kn_role_name(roles[i]);
    KN_TRY(kn_read_word(r, value, names, ROLES, "a role", &found));
    d->attribute.role = roles[found];
    d->attribute.has_role = true;
    d->role = value;
    return KN_OK;
}

static kn_status read_type(kn_reader *r, const kn_yaml *value, void *target)
{
    static const kn_type types[] = {KN_TYPE_TEXT, KN_TYPE_INTEGER,  KN_TYPE_DECIMAL,
                                    KN_TYPE_DATE, KN_TYPE_DATETIME, KN_TYPE_AUTO};
    enum { TYPES = sizeof types / sizeof *types };
    const char *names[TYPES];
    size_t      found = 0;
    for (size_t i = 0; i < TYPES; i++) names[i] = kn_type_name(types[i]);
    KN_TRY(kn_read_word(r, value, names, TYPES, "a type", &found));
    ((draft *)target)->attribute.type = types[found];
    return KN_OK;
}

static kn_status read_format(kn_reader *r, const kn_yaml *value, void *target)
{
    draft *d = target;
    d->format = value;
    return kn_read_text(r, value, "a date format", &d->attribute.format);
}

static kn_status read_attribute_hierarchy(kn_reader *r, const kn_yaml *value, void *target)
{
    draft *d = target;
    d->hierarchy = value;
    d->attribute.has_hierarchy = true;
    return kn_read_hierarchy(r, value, &d->attribute.hierarchy);
}

static kn_status read_cuts(kn_reader *r, const kn_yaml *value, void *target)
{
    draft *d = target;
    d->cuts = value;
    return kn_read_either(r, value, "hierarchy", "order", "a way to cut", &d->attribute.cut_by_order);
}

static kn_status read_weight(kn_reader *r, const kn_yaml *value, void *target)
{
    draft *d = target;
    d->weight = value;
    return kn_read_ratio(r, value, &d->attribute.weight);
}

static kn_status read_min_level(kn_reader *r, const kn_yaml *value, void *target)
{
    draft *d = target;
    d->level = value;
    return kn_read_level(r, value, &d->attribute.min_level);
}

static kn_status read_max_level(kn_reader *r, const kn_yaml *value, void *target)
{
    draft *d = target;
    d->level = value;
    return kn_read_level(r, value, &d->attribute.max_level);
}

/* One character that no item, number or label is likely to hold; the mark of a suppressed cell and quotes are none. */
static kn_status read_separator(kn_reader *r, const kn_yaml *value, void *target)
{
    draft *d = target;
    d->separator = value;
    KN_TRY(kn_read_text(r, value, "a separator", &d->attribute.separator));
    const char *text = d->attribute.separator;
    bool        plain = text[0] > ' ' && text[0] != 0x7f && text[1] == '\0';
    if (plain && !strchr("*\"'", text[0]) && !isalnum((unsigned char)text[0])) return KN_OK;
    return kn_field_fail(r, value, "a separator is one character, such as ; or |: no letter, digit, blank, quote or *");
}

static kn_status read_pseudonym(kn_reader *r, const kn_yaml *value, void *target)
{
    static const kn_key keys[] = {{"key-file", kn_read_path, offsetof(draft, attribute.pseudonym_key_file)},
                                  KN_KEYS_END};
    draft              *d = target;
    d->pseudonym = value;
    KN_TRY(kn_read_map(r, value, keys, target));
    return value->count > 0 ? KN_OK : kn_field_fail(r, value, "a pseudonym needs a key-file");
}

/* What excludes each other. A role set later (kn_spec_set_role) leaves what it does not need unused. */
static kn_status check_draft(kn_reader *r, const draft *d)
{
    const kn_attribute *a = &d->attribute;
    const char         *reason = NULL;
    if (d->format && a->type != KN_TYPE_DATE && a->type != KN_TYPE_DATETIME)
        return kn_field_fail(r, d->format, "a format goes with type: date or type: datetime");
    if (d->format && !kn_format_check(a->format, a->type, &reason)) return kn_field_fail(r, d->format, "%s", reason);
    if (!d->role) return KN_OK;
    if (d->hierarchy && a->role != KN_ROLE_QUASI && a->role != KN_ROLE_SENSITIVE && a->role != KN_ROLE_SET)
        return kn_field_fail(r, d->hierarchy, "only a quasi-identifier, a sensitive column or a set has a hierarchy");
    if (d->separator && a->role != KN_ROLE_SET)
        return kn_field_fail(r, d->separator, "only a set (role: set) has a separator");
    if (d->cuts && a->role != KN_ROLE_QUASI) return kn_field_fail(r, d->cuts, "only a quasi-identifier has cuts");
    if (d->weight && a->role != KN_ROLE_QUASI)
        return kn_field_fail(r, d->weight, "only a quasi-identifier has a weight");
    if (d->level && a->role != KN_ROLE_QUASI)
        return kn_field_fail(r, d->level, "only a quasi-identifier has a min-level or a max-level");
    if (d->pseudonym && a->role != KN_ROLE_IDENTIFIER)
        return kn_field_fail(r, d->pseudonym, "a pseudonym stands for an identifier");
    return KN_OK;
}

/* Reads into a draft: a mapping, or a role alone. */
static kn_status read_draft(kn_reader *r, const kn_yaml *value, draft *d)
{
    static const kn_key keys[] = {{"role", read_role, 0},
                                  {"type", read_type, 0},
                                  {"format", read_format, 0},
                                  {"hierarchy", read_attribute_hierarchy, 0},
                                  {"cuts", read_cuts, 0},
                                  {"weight", read_weight, 0},
                                  {"pseudonym", read_pseudonym, 0},
                                  {"min-level", read_min_level, 0},
                                  {"max-level", read_max_level, 0},
                                  {"separator", read_separator, 0},
                                  KN_KEYS_END};
    kn_type             type = d->attribute.type;
    if (value->kind == KN_YAML_TEXT && !kn_yaml_missing(value)) return read_role(r, value, d);
    KN_TRY(kn_read_map(r, value, keys, d));
    if (d->attribute.type != type && !d->format) d->attribute.format = NULL; /* it belonged to the type before */
    return check_draft(r, d);
}

static kn_status read_one(kn_reader *r, const kn_yaml *key, const char *name, int index, const kn_yaml *value)
{
    kn_spec *spec = &r->inner->state.spec;
    draft    d = {0};
    if (!*name) return kn_field_fail(r, key, "the name of a column is empty");
    if (index >= 0) {
        d.attribute = spec->attributes[index];
    } else {
        const char *copy = kn_arena_strndup(&r->inner->arena, name, strlen(name));
        if (!copy) return kn_field_memory(r);
        d.attribute = kn_attribute_new(copy);
        d.attribute.line = kn_field_place(r, key).line;
        d.attribute.column = kn_field_place(r, key).column;
    }
    KN_TRY(read_draft(r, value, &d));
    if (index < 0 && spec->attribute_count == MOST_ATTRIBUTES)
        return kn_field_fail(r, key, "more than %d columns", MOST_ATTRIBUTES);
    return kn_spec_put_attribute(r->inner, index, &d.attribute) ? KN_OK : kn_field_memory(r);
}

kn_status kn_read_attribute_alone(kn_reader *r, const kn_yaml *key, const kn_yaml *value, kn_attribute *out)
{
    draft       d = {0};
    const char *name = kn_arena_strndup(&r->inner->arena, key->text, key->size);
    if (!name) return kn_field_memory(r);
    if (!*name) return kn_field_fail(r, key, "the name of a column is empty");
    d.attribute = kn_attribute_new(name);
    d.attribute.line = kn_field_place(r, key).line;
    d.attribute.column = kn_field_place(r, key).column;
    KN_TRY(read_draft(r, value, &d));
    d.attribute.hierarchy.decimal = r->inner->state.spec.csv.decimal;
    *out = d.attribute;
    return KN_OK;
}

kn_status kn_read_attribute(kn_reader *r, const kn_yaml *key, const char *name, const kn_yaml *value)
{
    return read_one(r, key, name, kn_spec_find(&r->inner->state.spec, name), value);
}

kn_status kn_read_attributes(kn_reader *r, const kn_yaml *value, void *target)
{
    (void)target;
    bool first = r->inner->state.spec.attribute_count == 0; /* keys are unique: no need to search for each */
    KN_TRY(kn_want_map(r, value, "a mapping of columns"));
    for (const kn_yaml *key = value->first; key; key = key->next) {
        int index = first ? -1 : kn_spec_find(&r->inner->state.spec, key->text);
        KN_TRY(read_one(r, key, key->text, index, key->value));
    }
    return KN_OK;
}
