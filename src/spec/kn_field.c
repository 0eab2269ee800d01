/* kn_field.c: texts, numbers, words and lists of a release file; unknown keys and what was probably meant.
 *
 * Numbers are read from their text and never pass through binary floating point. Quotes make no difference, except
 * that nothing, ~ and null without quotes are no value.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_field.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kn_error.h"
#include "kn_memory.h"
#include "kn_nearest.h"
#include "kn_value.h"

enum { LONGEST_NAME = 32, LIST_TEXT = 500 };

kn_status kn_field_fail(kn_reader *r, const kn_yaml *node, const char *format, ...)
{
    char    message[700];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return kn_yaml_fail(&r->origin, node, r->err, "%s", message);
}

kn_status kn_field_memory(kn_reader *r)
{
    return kn_fail_memory(r->err, r->inner->ctx, r->origin.name);
}

kn_place kn_field_place(const kn_reader *r, const kn_yaml *node)
{
    return r->from_file ? (kn_place){node->line, node->column} : (kn_place){0, 0};
}

/* ---- Names ---- */

/* The known name that was probably meant: a third of its characters may be wrong. NULL: none, also if the text cannot
 * be shown. */
static const char *nearest(const char *text, size_t size, const char *const *names, size_t count)
{
    kn_nearest near = {.text = text};
    for (size_t i = 0; i < size; i++)
        if (text[i] < 0x20 || text[i] > 0x7E) return NULL;
    for (size_t i = 0; i < count && strlen(text) == size; i++) kn_nearest_try(&near, names[i]);
    return near.best;
}

/* "a, b and c". */
static void list_names(char *out, const char *const *names, size_t count)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used < LIST_TEXT; i++)
        used += (size_t)snprintf(out + used, LIST_TEXT - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? " and "
                                                  : ", ",
                                 names[i]);
}

static bool find_name(const kn_yaml *node, const char *const *names, size_t count, size_t *out)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == node->size && memcmp(names[i], node->text, node->size) == 0) {
            *out = i;
            return true;
        }
    return false;
}

kn_status kn_read_key(kn_reader *r, const kn_yaml *key, const char *const *names, size_t count, size_t *out)
{
    if (find_name(key, names, count, out)) return KN_OK;
    const char *meant = nearest(key->text, key->size, names, count);
    if (meant) return kn_field_fail(r, key, "unknown key '%s'; did you mean '%s'?", key->text, meant);
    char known[LIST_TEXT];
    list_names(known, names, count);
    return kn_field_fail(r, key, "unknown key; known here %s %s", count == 1 ? "is" : "are", known);
}

kn_status kn_read_word(kn_reader *r, const kn_yaml *value, const char *const *names, size_t count, const char *what,
                       size_t *out)
{
    KN_TRY(kn_want_text(r, value, what));
    if (find_name(value, names, count, out)) return KN_OK;
    const char *meant = nearest(value->text, value->size, names, count);
    if (meant) return kn_field_fail(r, value, "'%s' is not %s; did you mean '%s'?", value->text, what, meant);
    char known[LIST_TEXT];
    list_names(known, names, count);
    return kn_field_fail(r, value, "not %s; there %s %s", what, count == 1 ? "is" : "are", known);
}

kn_status kn_read_either(kn_reader *r, const kn_yaml *value, const char *first, const char *second, const char *what,
                         bool *out)
{
    const char *const words[] = {first, second};
    size_t            found = 0;
    KN_TRY(kn_read_word(r, value, words, 2, what, &found));
    *out = found == 1;
    return KN_OK;
}

kn_status kn_read_map(kn_reader *r, const kn_yaml *map, const kn_key *keys, void *target)
{
    char        what[LONGEST_NAME + 32];
    const char *names[KN_FIELDS + 1];
    size_t      count = 0, found = 0;
    while (keys[count].name) {
        names[count] = keys[count].name;
        count++;
    }
    snprintf(what, sizeof what, "a mapping like {%s: ...}", names[0]);
    KN_TRY(kn_want_map(r, map, what));
    for (const kn_yaml *key = map->first; key; key = key->next) {
        KN_TRY(kn_read_key(r, key, names, count, &found));
        KN_TRY(keys[found].read(r, key->value, (char *)target + keys[found].offset));
    }
    return KN_OK;
}

/* ---- Kinds ---- */

bool kn_yaml_missing(const kn_yaml *value)
{
    static const char *const none[] = {"", "~", "null", "Null", "NULL"};
    size_t                   found;
    return value->kind == KN_YAML_TEXT && value->plain && find_name(value, none, 5, &found);
}

static kn_status refuse_kind(kn_reader *r, const kn_yaml *value, const char *what)
{
    if (kn_yaml_missing(value)) return kn_field_fail(r, value, "%s is missing here", what);
    return kn_field_fail(r, value, "%s is expected here, not %s", what,
                         value->kind == KN_YAML_TEXT   ? "a single value"
                         : value->kind == KN_YAML_LIST ? "a list"
                                                       : "a mapping");
}

kn_status kn_want_text(kn_reader *r, const kn_yaml *value, const char *what)
{
    return value->kind == KN_YAML_TEXT && !kn_yaml_missing(value) ? KN_OK : refuse_kind(r, value, what);
}

kn_status kn_want_map(kn_reader *r, const kn_yaml *value, const char *what)
{
    return value->kind == KN_YAML_MAP ? KN_OK : refuse_kind(r, value, what);
}

/* ---- Values ---- */

kn_status kn_read_bool(kn_reader *r, const kn_yaml *value, void *target)
{
    static const char *const words[] = {"true", "false", "True", "False", "TRUE", "FALSE", "yes", "no"};
    size_t                   found = 0;
    KN_TRY(kn_want_text(r, value, "true or false"));
    if (!find_name(value, words, 8, &found)) return kn_field_fail(r, value, "neither true nor false");
    *(bool *)target = found % 2 == 0;
    return KN_OK;
}

kn_status kn_read_whole(kn_reader *r, const kn_yaml *value, int64_t low, int64_t high, int64_t *out)
{
    KN_TRY(kn_want_text(r, value, "a whole number"));
    if (kn_parse_integer((kn_string){value->text, value->size}, out) && *out >= low && *out <= high) return KN_OK;
    if (high == INT64_MAX) return kn_field_fail(r, value, "not a whole number of at least %" PRId64, low);
    return kn_field_fail(r, value, "not a whole number from %" PRId64 " to %" PRId64, low, high);
}

kn_status kn_read_positive(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_whole(r, value, 1, INT64_MAX, target);
}

kn_status kn_read_seed(kn_reader *r, const kn_yaml *value, uint64_t *out)
{
    KN_TRY(kn_want_text(r, value, "a whole number"));
    uint64_t number = 0;
    bool     good = value->size > 0;
    for (size_t i = 0; good && i < value->size; i++) {
        unsigned digit = (unsigned)(unsigned char)value->text[i] - '0';
        good = digit <= 9 && number <= (UINT64_MAX - digit) / 10;
        number = number * 10 + digit;
    }
    if (!good) return kn_field_fail(r, value, "not a whole number from 0 to %" PRIu64, UINT64_MAX);
    *out = number;
    return KN_OK;
}

kn_status kn_read_ratio(kn_reader *r, const kn_yaml *value, void *target)
{
    KN_TRY(kn_want_text(r, value, "a number"));
    if (kn_ratio_parse(value->text, target)) return KN_OK;
    return kn_field_fail(r, value, "not a number like 2, 0.15 or 15%% (at most 18 digits)");
}

kn_status kn_read_text(kn_reader *r, const kn_yaml *value, const char *what, const char **out)
{
    KN_TRY(kn_want_text(r, value, what));
    if (value->size == 0) return kn_field_fail(r, value, "%s is empty", what);
    *out = kn_arena_strndup(&r->inner->arena, value->text, value->size);
    return *out ? KN_OK : kn_field_memory(r);
}

kn_status kn_read_path(kn_reader *r, const kn_yaml *value, void *target)
{
    const char **out = target, *text;
    KN_TRY(kn_read_text(r, value, "a path", &text));
    *out = text;
    if (text[0] == '/' || strcmp(text, "-") == 0 || !*r->folder || kn_memory_is(r->inner->ctx, text)) return KN_OK;
    size_t before = strlen(r->folder);
    char  *joined = kn_arena_bytes(&r->inner->arena, before + value->size + 1);
    if (!joined) return kn_field_memory(r);
    memcpy(joined, r->folder, before);
    memcpy(joined + before, text, value->size + 1);
    *out = joined;
    return KN_OK;
}

kn_status kn_read_delimiter(kn_reader *r, const kn_yaml *value, void *target)
{
    KN_TRY(kn_want_text(r, value, "a delimiter"));
    const char *text = value->text;
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0) text = "\t";
    if (text[0] == '\0' || text[1] != '\0' || strchr("\"\r\n", text[0]) || (unsigned char)text[0] > 0x7E)
        return kn_field_fail(r, value, "not one ASCII character that may stand between cells (or tab)");
    *(char *)target = text[0];
    return KN_OK;
}

kn_status kn_read_list(kn_reader *r, const kn_yaml *value, const char *what, kn_read_fn read, const char *const **out,
                       int *count)
{
    if (value->kind == KN_YAML_MAP || kn_yaml_missing(value)) return refuse_kind(r, value, what);
    size_t         n = value->kind == KN_YAML_LIST ? value->count : 1;
    const kn_yaml *item = value->kind == KN_YAML_LIST ? value->first : value;
    const char   **list = kn_arena_alloc(&r->inner->arena, (n + 1) * sizeof *list);
    if (!list) return kn_field_memory(r);
    for (size_t i = 0; i < n; i++, item = item->next) KN_TRY(read(r, item, &list[i]));
    list[n] = NULL;
    *out = list;
    *count = (int)n;
    return KN_OK;
}
