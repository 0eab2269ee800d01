/* kn_hierarchy_groups.c: hierarchies of categories: groups of neighbours in an order, or of values with a common
 * prefix.
 *
 * Values are sorted: in their own order, in one that the caller gives, or by frequency, the most frequent first.
 * Neighbours then form groups of `fan_out`, and these groups again, until one is left; with `group_rows` the first
 * groups are as small as possible with at least so many rows each. Groups in an order are labelled with their first
 * and last value, as an interval; groups by frequency with all their values, as a set, because a reader would not see
 * them as neighbours. Common prefixes get shorter level by level, at lengths that leave fewer groups.
 *
 * Interface: kn_hierarchy.h. Cost: O(values × levels), and sorting. The hierarchy depends on the values and, by
 * frequency or with `group_rows`, on how often they occur: it should be written to a file and reviewed before it is
 * used.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hierarchy.h"

#define WHAT "building a hierarchy"

enum { USUAL_FAN_OUT = 4, MOST_GROUP_LEVELS = 64 };

typedef struct groups {
    kn_context              *ctx;
    const kn_column         *column;
    const kn_hierarchy_spec *spec;
    uint32_t                 count; /* values                                                          */
    int64_t                 *rows;  /* of each value                                                   */
    uint32_t                *order; /* the values, sorted                                              */
    int                      levels;
    uint32_t                *group[MOST_GROUP_LEVELS];  /* per position: its group at level 1, 2, ...  */
    size_t                   length[MOST_GROUP_LEVELS]; /* PREFIX: bytes kept at level 1, ...          */
} groups;

static kn_string text_of(const groups *g, uint32_t value)
{
    return kn_dictionary_text(&g->column->dict, value);
}

/* ---- The order ---- */

static kn_status count_rows(groups *g, const kn_table *table, kn_error *err)
{
    g->rows = kn_alloc_array_zero(g->ctx, (size_t)g->count + 1, sizeof *g->rows);
    g->order = kn_alloc_array(g->ctx, (size_t)g->count + 1, sizeof *g->order);
    if (!g->rows || !g->order) return kn_fail_memory(err, g->ctx, WHAT);
    for (int64_t r = 0; r < table->rows; r++) g->rows[kn_column_code(g->column, r)] += kn_table_weight(table, r);
    for (uint32_t v = 0; v < g->count; v++) g->order[v] = v;
    return KN_OK;
}

typedef struct ranked {
    int64_t  key;
    uint32_t value;
} ranked;

static int by_key(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* The position of a value in the given order; -1: none. */
static int64_t place_of(const groups *g, uint32_t value)
{
    kn_string text = text_of(g, value);
    for (int i = 0; i < g->spec->order_count; i++)
        if (strlen(g->spec->order[i]) == text.size && memcmp(g->spec->order[i], text.data, text.size) == 0) return i;
    return -1;
}

static kn_status put_in_row(groups *g, kn_error *err)
{
    bool frequent = g->spec->group_by == KN_GROUP_BY_FREQUENCY;
    if (!frequent && g->spec->order_count == 0) return KN_OK;
    ranked *list = kn_alloc_array(g->ctx, (size_t)g->count + 1, sizeof *list);
    if (!list) return kn_fail_memory(err, g->ctx, WHAT);
    uint32_t unplaced = 0;
    for (uint32_t v = 0; v < g->count; v++) {
        list[v] = (ranked){frequent ? -g->rows[v] : place_of(g, v), v};
        unplaced += !frequent && list[v].key < 0;
    }
    qsort(list, g->count, sizeof *list, by_key);
    for (uint32_t i = 0; i < g->count; i++) g->order[i] = list[i].value;
    kn_free(list);
    if (unplaced == 0) return KN_OK;
    return kn_fail(err, KN_INPUT, "column \"%s\": %u of its %u values are not in the order that was given",
                   g->column->name, unplaced, g->count);
}

/* ---- Groups of neighbours ---- */

/* The number of groups at the highest level so far. */
static uint32_t top_groups(const groups *g)
{
    if (g->levels == 0) return g->count;
    return g->group[g->levels - 1][g->count - 1] + 1;
}

static kn_status new_level(groups *g, kn_error *err)
{
    uint32_t *level = kn_alloc_array(g->ctx, (size_t)g->count + 1, sizeof *level);
    if (!level) return kn_fail_memory(err, g->ctx, WHAT);
    g->group[g->levels++] = level;
    return KN_OK;
}

/* Joins neighbours until a group has `group_rows` rows; the remainder joins the last group. */
static kn_status join_by_rows(groups *g, kn_error *err)
{
    int64_t  rows = 0, total = 0, seen = 0;
    uint32_t number = 0;
    KN_TRY(new_level(g, err));
    for (uint32_t i = 0; i < g->count; i++) total += g->rows[g->order[i]];
    for (uint32_t i = 0; i < g->count; i++) {
        if (rows >= g->spec->group_rows && total - seen >= g->spec->group_rows) {
            number++;
            rows = 0;
        }
        rows += g->rows[g->order[i]];
        seen += g->rows[g->order[i]];
        g->group[0][i] = number;
    }
    return KN_OK;
}

/* Joins neighbours into as few groups as `fan_out` allows, of sizes as equal as possible. */
static kn_status join_neighbours(groups *g, uint32_t fan_out, kn_error *err)
{
    uint32_t below = top_groups(g), many = (below + fan_out - 1) / fan_out;
    KN_TRY(new_level(g, err));
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t at = g->levels == 1 ? i : g->group[g->levels - 2][i];
        uint64_t number =
            g->levels % 2 ? (uint64_t)at * many : ((uint64_t)at + 1) * many - 1; /* small groups alternate */
        g->group[g->levels - 1][i] = (uint32_t)(number / below);
    }
    return KN_OK;
}

static kn_status make_groups(groups *g, kn_error *err)
{
    uint32_t fan_out = g->spec->fan_out > 0 ? (uint32_t)g->spec->fan_out : USUAL_FAN_OUT;
    if (g->spec->group_rows > 0 && g->count > 1) KN_TRY(join_by_rows(g, err));
    while (g->count > 0 && top_groups(g) > fan_out) KN_TRY(join_neighbours(g, fan_out, err));
    if (g->levels > 0 && top_groups(g) == 1) kn_free(g->group[--g->levels]);
    return KN_OK;
}

/* ---- Common beginnings ---- */

/* The length of a prefix that does not split a character. */
static size_t beginning(kn_string text, size_t length)
{
    if (length >= text.size) return text.size;
    while (length > 0 && ((unsigned char)text.data[length] & 0xc0) == 0x80) length--;
    return length;
}

static uint32_t beginnings(const groups *g, size_t length)
{
    uint32_t many = g->count > 0;
    for (uint32_t v = 1; v < g->count; v++) { /* texts are in byte order */
        kn_string a = text_of(g, v - 1), b = text_of(g, v);
        size_t    m = beginning(a, length), n = beginning(b, length);
        many += m != n || memcmp(a.data, b.data, n) != 0;
    }
    return many;
}

static void choose_lengths(groups *g)
{
    size_t   longest = 0;
    uint32_t last = g->count;
    for (uint32_t v = 0; v < g->count; v++) longest = text_of(g, v).size > longest ? text_of(g, v).size : longest;
    for (size_t length = longest; length-- > 1 && g->levels < MOST_GROUP_LEVELS;) {
        uint32_t many = beginnings(g, length);
        if (many > 1 && many <= last - (last + 3) / 4) {
            g->length[g->levels++] = length;
            last = many;
        }
    }
}

/* ---- Labels ---- */

static void add_text(const groups *g, kn_buffer *to, uint32_t value)
{
    kn_string text = text_of(g, value);
    kn_buffer_append(to, text.data, text.size);
}

static void prefix_label(const groups *g, uint32_t value, int level, kn_buffer *to)
{
    kn_string text = text_of(g, value);
    size_t    kept = beginning(text, g->length[level]);
    kn_buffer_append(to, text.data, kept);
    if (kept < text.size) kn_buffer_char(to, '*');
}

/* The first position of a group; group numbers ascend. */
static uint32_t group_begin(const groups *g, int level, uint32_t number)
{
    uint32_t low = 0, high = g->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->group[level][middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void group_label(const groups *g, uint32_t position, int level, kn_buffer *to)
{
    uint32_t number = g->group[level][position];
    uint32_t first = group_begin(g, level, number), last = group_begin(g, level, number + 1) - 1;
    bool     set = g->spec->group_by == KN_GROUP_BY_FREQUENCY;
    if (first == last) {
        add_text(g, to, g->order[first]);
        return;
    }
    kn_buffer_char(to, set ? '{' : '[');
    add_text(g, to, g->order[first]);
    for (uint32_t i = set ? first + 1 : last; i <= last; i++) {
        kn_buffer_add(to, set ? ";" : ", ");
        add_text(g, to, g->order[i]);
    }
    kn_buffer_char(to, set ? '}' : ']');
}

static kn_status add_value(const groups *g, kn_hierarchy_maker *maker, uint32_t position, kn_buffer *text,
                           kn_error *err)
{
    kn_path_field path[MOST_GROUP_LEVELS + 2];
    size_t        ends[MOST_GROUP_LEVELS + 1] = {0};
    uint32_t      value = g->order[position], count = 1;
    kn_buffer_clear(text);
    for (int l = 0; l < g->levels; l++) {
        if (g->spec->group_by == KN_GROUP_BY_PREFIX)
            prefix_label(g, value, l, text);
        else
            group_label(g, position, l, text);
        ends[l + 1] = text->size;
    }
    if (text->failed) return kn_fail_memory(err, g->ctx, WHAT);
    path[0] = (kn_path_field){text_of(g, value), 0, 0};
    for (int l = 0; l < g->levels; l++)
        path[count++] = (kn_path_field){{text->data + ends[l], ends[l + 1] - ends[l]}, 0, 0};
    path[count++] = (kn_path_field){{"*", 1}, 0, 0};
    return kn_hierarchy_maker_add(maker, path, count, err);
}

/* Adds the values in sorted order, so that neighbours are neighbours in the file; the caller binds the hierarchy. */
static kn_status add_values(const groups *g, kn_hierarchy_maker *maker, kn_error *err)
{
    kn_buffer text;
    kn_status st = KN_OK;
    kn_buffer_init(&text, g->ctx);
    for (uint32_t i = 0; i < g->count && st == KN_OK; i++) {
        st = i % 1024 == 0 && kn_cancelled(g->ctx) ? kn_fail_cancelled(err) : KN_OK;
        if (st == KN_OK) st = add_value(g, maker, i, &text, err);
    }
    kn_buffer_free(&text);
    return st;
}

static kn_status arrange(groups *g, const kn_table *table, kn_error *err)
{
    if (g->spec->fan_out == 1 || g->spec->fan_out < 0)
        return kn_fail(err, KN_USAGE, "groups: a group has at least 2 members");
    if (g->spec->group_rows < 0) return kn_fail(err, KN_USAGE, "groups: a group has at least 1 row");
    if (g->spec->order_count > 0 && g->spec->group_by != KN_GROUP_BY_ORDER)
        return kn_fail(err, KN_USAGE, "groups: an order is for groups by order");
    if (g->spec->group_by == KN_GROUP_BY_PREFIX && (g->spec->fan_out > 0 || g->spec->group_rows > 0))
        return kn_fail(err, KN_USAGE, "groups: common beginnings have no fan-out and no number of rows");
    KN_TRY(count_rows(g, table, err));
    KN_TRY(put_in_row(g, err));
    if (g->spec->group_by != KN_GROUP_BY_PREFIX) return make_groups(g, err);
    if (g->column->type != KN_TYPE_TEXT && g->count > 0)
        return kn_fail(err, KN_USAGE, "column \"%s\" is of type %s; common beginnings need text", g->column->name,
                       kn_type_name(g->column->type));
    choose_lengths(g);
    return KN_OK;
}

kn_status kn_hierarchy_build_groups(kn_hierarchy **out, kn_context *ctx, const kn_table *table, int column,
                                    const kn_hierarchy_spec *spec, kn_error *err)
{
    const kn_column    *c = &table->columns[column];
    groups              g = {.ctx = ctx, .column = c, .spec = spec, .count = c->dict.count};
    kn_hierarchy_maker *maker = NULL;
    kn_status           st = arrange(&g, table, err);
    if (st == KN_OK) st = kn_hierarchy_maker_create(&maker, ctx, "groups", false, err);
    if (maker) st = kn_hierarchy_maker_finish(out, maker, NULL, add_values(&g, maker, err), err);
    for (int l = 0; l < g.levels; l++) kn_free(g.group[l]);
    KN_FREE(g.rows, g.order);
    return st;
}
