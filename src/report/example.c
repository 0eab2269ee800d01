/* example.c: what is done to a column, shown on a value that is made up (kn_example.h).
 *
 * Only the rule of a hierarchy is known here, never a value: ranges are shown on 47, masks on 20103, calendars on a day of 2024.
 * A page that may be published can show the same. Cost: constant.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_example.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_html.h"
#include "kn_report_words.h"

enum { MOST_LABEL = 64, NUMBER = 47 };

/* A whole number that is short enough to count with. */
static bool whole(const char *text, long *out)
{
    char *end;
    errno = 0;
    *out = strtol(text, &end, 10);
    return *text && !*end && errno == 0 && strlen(text) <= 6;
}

static bool range(char label[MOST_LABEL], const kn_hierarchy_spec *h, int level)
{
    long width, origin = 0;
    if (!whole(h->widths[level - 1], &width) || width < 1 || (h->origin && !whole(h->origin, &origin))) return false;
    long below = NUMBER - origin, low = origin + (below >= 0 ? below / width : -((width - 1 - below) / width)) * width;
    snprintf(label, MOST_LABEL, "[%ld, %ld]", low, low + width - 1);
    return true;
}

static bool masked(char label[MOST_LABEL], const kn_hierarchy_spec *h, int level)
{
    int hidden = level * (h->mask_step > 0 ? h->mask_step : 1), size = (int)strlen(label);
    if (h->mask && strlen(h->mask) != 1) return false;
    for (int i = 0; i < size && i < hidden; i++) label[h->mask_left ? i : size - 1 - i] = h->mask ? h->mask[0] : '*';
    return true;
}

/* How many levels below the one that shows nothing, and the value; 0: there is no example. */
static int levels(const kn_hierarchy_spec *h, const char **value)
{
    static const char *const values[] = {"47", "20103", "2024-03-05", "F"};
    int                      count = 0;
    switch (h->kind) {
    case KN_HIERARCHY_RANGES: *value = values[0]; return h->width_count;
    case KN_HIERARCHY_MASK:
        *value = values[1];
        return ((int)strlen(values[1]) - 1) / (h->mask_step > 0 ? h->mask_step : 1);
    case KN_HIERARCHY_CALENDAR:
        *value = h->calendar & 1 ? NULL : values[2]; /* days of times: the first level is a day */
        for (unsigned step = 1; step < 5; step++) count += h->calendar == 0 || h->calendar >> step & 1;
        return count;
    case KN_HIERARCHY_SUPPRESS: *value = values[3]; return 0;
    case KN_HIERARCHY_FILE:
    case KN_HIERARCHY_TAXONOMY:
    case KN_HIERARCHY_BREAKS:
    case KN_HIERARCHY_PREFIX:
    case KN_HIERARCHY_GROUPS: break;
    }
    *value = NULL;
    return 0;
}

static bool calendar(char label[MOST_LABEL], const kn_hierarchy_spec *h, int level)
{
    static const char *const steps[] = {"", "2024-M03", "2024-Q1", "2024", "[2020-01-01, 2029-12-31]"};
    for (unsigned step = 1; step < 5; step++)
        if ((h->calendar == 0 || h->calendar >> step & 1) && --level == 0)
            snprintf(label, MOST_LABEL, "%s", steps[step]);
    return level <= 0;
}

/* What the value is on a level from 1. */
static bool label_of(char label[MOST_LABEL], const kn_hierarchy_spec *h, int level, int count, const char *value)
{
    bool nothing = level > count;
    snprintf(label, MOST_LABEL, "%s", nothing && h->kind != KN_HIERARCHY_MASK ? "*" : value);
    if (nothing && h->kind != KN_HIERARCHY_MASK) return true;
    if (h->kind == KN_HIERARCHY_RANGES) return range(label, h, level);
    return h->kind == KN_HIERARCHY_MASK ? masked(label, h, level) : calendar(label, h, level);
}

bool kn_example(kn_buffer *to, const kn_hierarchy_spec *h, int level)
{
    const char *value;
    char        label[MOST_LABEL];
    int         count = levels(h, &value), first = level > 0 ? level : 1, last = level > 0 ? level : count + 1;
    if (!value || level == 0) return false;
    for (int i = first; i <= last; i++)
        if (!label_of(label, h, i, count, value)) return false;
    kn_buffer_add(to, "<code>");
    kn_html_text(to, value);
    for (int i = first; i <= last; i++) {
        (void)label_of(label, h, i, count, value);
        kn_buffer_add(to, " → ");
        kn_html_text(to, label);
    }
    kn_buffer_add(to, "</code>");
    return true;
}

/* ---- Columns ---- */

void kn_columns_begin(kn_html_table *t, kn_buffer *to)
{
    static const char *const titles[] = {"Column", "Role", "What was done"};
    kn_html_table_begin(t, to, "llw", titles);
}

static void coarser(kn_buffer *to, const kn_attribute *a, int level, kn_method method)
{
    if (level == 0) {
        kn_buffer_add(to, "As it was.");
        return;
    }
    kn_buffer_add(to, level > 0 ? "Made coarser: " : "Made coarser as far as each class needs: ");
    bool ordered = !a->has_hierarchy || a->cut_by_order;
    if (level < 0 && ordered && kn_method_family(method) == KN_FAMILY_PARTITION) {
        kn_buffer_add(to, "a value, or an interval or set that it lies in: <code>47 → [40, 49]</code>, "
                          "<code>F → {F;M}</code>.");
        return;
    }
    if (a->has_hierarchy && kn_example(to, &a->hierarchy, level)) {
        kn_buffer_char(to, '.');
        return;
    }
    if (level > 0) kn_buffer_format(to, "level %d of ", level);
    kn_buffer_add(to, a->has_hierarchy &&
                              (a->hierarchy.kind == KN_HIERARCHY_FILE || a->hierarchy.kind == KN_HIERARCHY_TAXONOMY)
                          ? "its hierarchy file."
                      : level > 0 || a->has_hierarchy
                          ? "its hierarchy."
                          : "a hierarchy by its type: <code>47 → [40, 49]</code>, <code>20103 → 201**</code>, <code>F "
                            "→ *</code>.");
}

void kn_columns_row(kn_html_table *t, const char *table, const kn_attribute *a, int level, kn_method method,
                    bool anatomy)
{
    kn_buffer *to = t->to;
    kn_html_table_row(t);
    kn_html_table_cell(t);
    if (table) {
        kn_html_name(to, table);
        kn_buffer_char(to, '.');
    }
    kn_html_name(to, a->name);
    kn_html_table_cell(t);
    kn_html_text(to, kn_words_role(a->role));
    kn_html_table_cell(t);
    switch (a->role) {
    case KN_ROLE_QUASI:
        if (anatomy)
            kn_buffer_add(to, "As it was.");
        else
            coarser(to, a, level, method);
        break;
    case KN_ROLE_SENSITIVE: kn_buffer_add(to, anatomy ? "Listed by groups." : "As it was."); break;
    case KN_ROLE_KEEP: kn_buffer_add(to, "As it was, covered by no promise."); break;
    case KN_ROLE_WEIGHT: kn_buffer_add(to, "A sampling weight, as it was."); break;
    case KN_ROLE_COUNT: kn_buffer_add(to, "How many rows a row stands for."); break;
    case KN_ROLE_SET: kn_buffer_add(to, "Items made broader within each class."); break;
    case KN_ROLE_IDENTIFIER:
        kn_buffer_add(to, a->pseudonym_key_file ? "Replaced by a keyed code (a pseudonym)." : "Left out.");
        break;
    }
}
