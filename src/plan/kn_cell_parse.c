/* kn_cell_parse.c: reading released cells. See the header for the notation and which reading wins.
 *
 * Labels are found through a hash table over the hierarchy's labels, the nodes of a label through a chain in ascending
 * order of level. Values and the ends of intervals are found by bisection in the dictionary, numbers exactly (as
 * decimals of any length).
 *
 * Cost: O(labels + nodes) to make; a text O(length), an interval O(places to cut × log values). Memory: 4 bytes per
 * node and about 12 per label.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_cell_parse.h"

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_sort.h"

#define NONE KN_NODE_NONE

enum { FORMATS = 3 };

struct kn_cell_parser {
    kn_context         *ctx;
    const kn_column    *column;
    const kn_hierarchy *h; /* NULL: none */
    char                decimal;
    const kn_timezone  *timezone;
    const char         *formats[FORMATS]; /* of dates and times, in this order; NULL: none         */
    uint32_t           *slots;            /* hash table of label numbers                           */
    size_t              slot_count;       /* a power of two                                        */
    uint32_t           *first_node;       /* per label                                             */
    uint32_t           *next_node;        /* per node: the next with the same label, not lower     */
    bool                foreign;          /* kn_cell_parser_foreign                                */
};

/* ---- Making one ---- */

void kn_cell_parser_free(kn_cell_parser *p)
{
    if (!p) return;
    KN_FREE(p->slots, p->first_node, p->next_node, p);
}

void kn_cell_parser_foreign(kn_cell_parser *p)
{
    p->foreign = true;
}

static kn_string label_text(const kn_hierarchy *h, uint32_t label)
{
    uint64_t begin = h->label_offsets[label];
    return (kn_string){h->label_bytes + begin, (size_t)(h->label_offsets[label + 1] - begin)};
}

static kn_status index_labels(kn_cell_parser *p, kn_error *err)
{
    const kn_hierarchy *h = p->h;
    p->slot_count = 16;
    while (p->slot_count / 2 < h->label_count) p->slot_count *= 2;
    p->slots = kn_alloc_array(p->ctx, p->slot_count, sizeof *p->slots);
    p->first_node = kn_alloc_array(p->ctx, (size_t)h->label_count + 1, sizeof *p->first_node);
    p->next_node = kn_alloc_array(p->ctx, h->nodes, sizeof *p->next_node);
    if (!p->slots || !p->first_node || !p->next_node) return kn_fail_memory(err, p->ctx, "reading released cells");
    for (size_t i = 0; i < p->slot_count; i++) p->slots[i] = NONE;
    for (uint32_t label = 0; label < h->label_count; label++) {
        kn_string text = label_text(h, label);
        size_t    at = kn_hash_bytes(text.data, text.size) & (p->slot_count - 1);
        while (p->slots[at] != NONE) at = (at + 1) & (p->slot_count - 1);
        p->slots[at] = label;
        p->first_node[label] = NONE;
    }
    /* Backwards, so that chains ascend. "Missing" has a label for show only. */
    for (uint32_t node = h->nodes; node-- > 0;) {
        if (node == h->leaves) continue;
        p->next_node[node] = p->first_node[h->label[node]];
        p->first_node[h->label[node]] = node;
    }
    return KN_OK;
}

/* The pattern that fits all values of a column of dates, as the reader found it. */
static kn_status find_format(kn_cell_parser *p, kn_error *err)
{
    const kn_dictionary *dict = &p->column->dict;
    kn_string           *texts = kn_alloc_array(p->ctx, (size_t)dict->count + 1, sizeof *texts);
    if (!texts) return kn_fail_memory(err, p->ctx, "reading released cells");
    for (uint32_t c = 0; c < dict->count; c++) texts[c] = kn_dictionary_text(dict, c);
    kn_value_rules rules = {p->decimal, p->timezone};
    kn_type        type = KN_TYPE_AUTO;
    const char    *format = NULL;
    bool           ambiguous = false;
    kn_status      st = kn_infer_type(&type, &format, &ambiguous, p->ctx, texts, dict->count, &rules, err);
    if (st == KN_OK && type == p->column->type) p->formats[0] = format;
    kn_free(texts);
    return st;
}

static kn_status choose_formats(kn_cell_parser *p, const char *given, kn_error *err)
{
    bool date = p->column->type == KN_TYPE_DATE;
    if (!date && p->column->type != KN_TYPE_DATETIME) return KN_OK;
    p->formats[0] = given;
    p->formats[1] = date ? "%Y-%m-%d" : "%Y-%m-%dT%H:%M:%S%z";
    p->formats[2] = date ? "%Y%m%d" : "%Y-%m-%d %H:%M:%S%z";
    return given ? KN_OK : find_format(p, err);
}

kn_status kn_cell_parser_make(kn_cell_parser **out, kn_context *ctx, const kn_column *column,
                              const kn_hierarchy *hierarchy, const kn_cell_rules *rules, kn_error *err)
{
    kn_cell_parser *p = kn_alloc_zero(ctx, sizeof *p);
    if (!p) return kn_fail_memory(err, ctx, "reading released cells");
    p->ctx = ctx;
    p->column = column;
    p->h = hierarchy;
    p->decimal = rules->decimal;
    p->timezone = rules->timezone;
    kn_status st = choose_formats(p, rules->format, err);
    if (st == KN_OK && hierarchy) st = index_labels(p, err);
    if (st != KN_OK)
        kn_cell_parser_free(p);
    else
        *out = p;
    return st;
}

/* ---- Labels ---- */

/* The lowest node with that label; NONE: there is none. */
static uint32_t find_label(const kn_cell_parser *p, kn_string text)
{
    if (!p->h) return NONE;
    size_t at = kn_hash_bytes(text.data, text.size) & (p->slot_count - 1);
    while (p->slots[at] != NONE) {
        if (kn_string_equal(label_text(p->h, p->slots[at]), text)) return p->first_node[p->slots[at]];
        at = (at + 1) & (p->slot_count - 1);
    }
    return NONE;
}

static uint32_t smallest_cover(const kn_cell_parser *p, uint32_t node)
{
    uint32_t best = node;
    for (; node != NONE; node = p->next_node[node])
        if (kn_hierarchy_cover(p->h, node) < kn_hierarchy_cover(p->h, best)) best = node;
    return best;
}

/* Is this what a leaf below it looks like at that level? */
static bool stands_on(const kn_hierarchy *h, uint32_t node, uint32_t level)
{
    return kn_hierarchy_ancestor(h, h->first[node], level) == node;
}

static uint32_t on_level(const kn_cell_parser *p, uint32_t node, uint32_t level)
{
    while (node != NONE && !stands_on(p->h, node, level)) node = p->next_node[node];
    return node;
}

/* ---- Values and ends of intervals ---- */

typedef struct value {
    kn_decimal number;
    int64_t    time;
} value;

static bool is_number(const kn_column *column)
{
    return column->type == KN_TYPE_INTEGER || column->type == KN_TYPE_DECIMAL;
}

static bool is_ordered(const kn_column *column)
{
    return is_number(column) || column->type == KN_TYPE_DATE || column->type == KN_TYPE_DATETIME;
}

static bool read_value(const kn_cell_parser *p, kn_string text, value *out)
{
    text = kn_value_trim(text);
    if (is_number(p->column)) return kn_parse_declared_decimal(text, p->decimal, &out->number);
    for (int i = 0; i < FORMATS; i++) {
        if (!p->formats[i]) continue;
        if (p->column->type == KN_TYPE_DATE ? kn_parse_date(text, p->formats[i], &out->time)
                                            : kn_parse_datetime(text, p->formats[i], p->timezone, &out->time))
            return true;
    }
    return false;
}

static int compare_values(const kn_cell_parser *p, const value *a, const value *b)
{
    if (is_number(p->column)) return kn_decimal_compare(&a->number, &b->number);
    return a->time < b->time ? -1 : a->time > b->time;
}

/* A code's value against another. */
static int compare_code(const kn_cell_parser *p, uint32_t code, const value *b)
{
    const kn_dictionary *dict = &p->column->dict;
    value                a = {.time = 0};
    if (!is_number(p->column))
        a.time = dict->integers[code];
    else if (!kn_parse_declared_decimal(kn_dictionary_text(dict, code), p->decimal, &a.number))
        return -1; /* cannot be: the column was read by the same rules */
    return compare_values(p, &a, b);
}

/* How many codes are smaller than the value, or (`or_equal`) not greater. */
static uint32_t count_below(const kn_cell_parser *p, const value *limit, bool or_equal)
{
    uint32_t low = 0, high = p->column->dict.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int      c = compare_code(p, middle, limit);
        if (c < 0 || (or_equal && c == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t find_text(const kn_dictionary *dict, kn_string text)
{
    uint32_t low = 0, high = dict->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (kn_string_compare(kn_dictionary_text(dict, middle), text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < dict->count && kn_string_equal(kn_dictionary_text(dict, low), text) ? low : NONE;
}

static uint32_t find_code(const kn_cell_parser *p, kn_string text)
{
    if (!is_ordered(p->column)) return find_text(&p->column->dict, text);
    value v;
    if (!read_value(p, text, &v)) return NONE;
    uint32_t code = count_below(p, &v, false);
    return code < p->column->dict.count && compare_code(p, code, &v) == 0 ? code : NONE;
}

/* ---- Intervals ---- */

typedef struct interval {
    value low, high;
    bool  open_low, open_high;
    bool  no_low, no_high; /* -inf, inf */
} interval;

static bool starts_with(kn_string text, size_t at, kn_string part)
{
    return text.size - at >= part.size && memcmp(text.data + at, part.data, part.size) == 0;
}

static bool is_text(kn_string text, const char *wanted)
{
    return kn_string_equal(kn_value_trim(text), kn_string_of(wanted));
}

/* Reads both ends; false: they are none, or the low one lies above the high one. */
static bool read_ends(const kn_cell_parser *p, kn_string low, kn_string high, interval *out)
{
    out->no_low = out->open_low && is_text(low, "-inf");
    out->no_high = out->open_high && is_text(high, "inf");
    if (!out->no_low && !read_value(p, low, &out->low)) return false;
    if (!out->no_high && !read_value(p, high, &out->high)) return false;
    return out->no_low || out->no_high || compare_values(p, &out->low, &out->high) <= 0;
}

/* How many ways there are to cut `body` at `separator`; the first fills in the ends. */
static int cut(const kn_cell_parser *p, kn_string body, kn_string separator, interval *out)
{
    int ways = 0;
    for (size_t at = 1; at + separator.size < body.size && ways < 2; at++) {
        interval found = *out;
        if (!starts_with(body, at, separator)) continue;
        kn_string left = {body.data, at}, right = {body.data + at + separator.size, body.size - at - separator.size};
        if (!read_ends(p, left, right, &found)) continue;
        if (ways++ == 0) *out = found;
    }
    return ways;
}

static bool read_interval(const kn_cell_parser *p, kn_string text, interval *out)
{
    static const char *const separators[] = {", ", ",", "-"};
    char                     first = text.data[0], last = text.data[text.size - 1];
    bool                     bracketed =
        text.size > 2 && (first == '[' || first == '(' || first == ']') && (last == ']' || last == ')' || last == '[');
    *out = (interval){.open_low = false};
    if (bracketed) {
        out->open_low = first != '[';
        out->open_high = last != ']';
        text.data++;
        text.size -= 2;
    }
    for (int i = bracketed ? 0 : 2; i < 3; i++) {
        int ways = cut(p, text, kn_string_of(separators[i]), out);
        if (ways > 0) return ways == 1;
    }
    return false;
}

static kn_cell range_cell(const kn_cell_parser *p, const interval *in, const kn_cell_members *members)
{
    uint32_t begin = in->no_low ? 0 : count_below(p, &in->low, in->open_low);
    uint32_t end = in->no_high ? p->column->dict.count : count_below(p, &in->high, !in->open_high);
    if (begin >= end) return (kn_cell){KN_CELL_SET, (uint32_t)members->count, 0};
    if (end - begin == 1) return (kn_cell){KN_CELL_VALUE, begin, 0};
    return (kn_cell){KN_CELL_RANGE, begin, end - 1};
}

/* ---- Sets ---- */

void kn_cell_members_free(kn_cell_members *members)
{
    kn_free(members->codes);
    *members = (kn_cell_members){.ctx = members->ctx};
}

static int compare_codes(const void *arg, const void *a, const void *b)
{
    (void)arg;
    return kn_compare_u32(a, b);
}

/* Sorts and leaves out what is there twice; returns how many are left. */
static size_t sort_codes(uint32_t *codes, size_t count)
{
    size_t kept = 0;
    kn_sort_in_place(codes, count, sizeof *codes, compare_codes, NULL);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || codes[kept - 1] != codes[i]) codes[kept++] = codes[i];
    return kept;
}

/* By spelling with its spaces, which belong to a text, then without them. */
static uint32_t find_spelling(const kn_cell_parser *p, kn_string text)
{
    uint32_t code = find_code(p, text);
    return code != NONE ? code : find_code(p, kn_value_trim(text));
}

/* One member: a code, "missing", or a leaf of the hierarchy that no row has (which adds nothing, like any value that a foreign
 * column lacks). */
static bool read_member(const kn_cell_parser *p, kn_string text, bool quoted, uint32_t *code)
{
    *code = text.size > 0 || quoted ? find_spelling(p, text) : NONE; /* an empty text stands in quotes */
    if (*code == NONE && kn_value_trim(text).size == 0) *code = p->column->dict.count;
    if (*code != NONE || p->foreign) return true;
    uint32_t node = find_label(p, text);
    if (node == NONE) node = find_label(p, kn_value_trim(text));
    return node != NONE && node < p->h->leaves;
}

/* Where the member in quotes that begins at `from` ends; 0: it does not. What stands in it is put together in `room`. */
static size_t quoted_end(kn_string body, size_t from, char *room, size_t *size)
{
    *size = 0;
    for (size_t at = from + 1; at < body.size; at++) {
        if (body.data[at] == '"' && (at + 1 == body.size || body.data[at + 1] != '"'))
            return at + 1 == body.size || body.data[at + 1] == ';' ? at + 1 : 0;
        room[(*size)++] = body.data[at];
        at += body.data[at] == '"';
    }
    return 0;
}

/* The member at `from`, which ends before `*end`. */
static kn_string member_at(kn_string body, size_t from, char *room, size_t *end)
{
    size_t size = 0;
    *end = from < body.size && body.data[from] == '"' ? quoted_end(body, from, room, &size) : 0;
    if (*end > 0) return (kn_string){room, size};
    const char *semicolon = from < body.size ? memchr(body.data + from, ';', body.size - from) : NULL;
    *end = semicolon ? (size_t)(semicolon - body.data) : body.size;
    return (kn_string){body.data + from, *end - from};
}

static kn_status read_members(const kn_cell_parser *p, kn_string body, char *room, kn_cell_members *members, bool *fits,
                              kn_error *err)
{
    size_t end = 0;
    *fits = true;
    for (size_t at = 0; *fits && at <= body.size; at = end + 1) {
        uint32_t  code = NONE;
        kn_string text = member_at(body, at, room, &end);
        *fits = read_member(p, text, text.data == room, &code);
        if (code == NONE) continue;
        if (members->count >= UINT32_MAX ||
            !KN_GROW(members->ctx, &members->codes, &members->capacity, members->count + 1))
            return kn_fail_memory(err, members->ctx, "reading released cells");
        members->codes[members->count++] = code;
    }
    return KN_OK;
}

static kn_status read_set(kn_cell *out, const kn_cell_parser *p, kn_string body, kn_cell_members *members, bool *fits,
                          kn_error *err)
{
    size_t start = members->count;
    char  *room = kn_alloc_array(members->ctx, body.size + 1, 1);
    if (!room) return kn_fail_memory(err, members->ctx, "reading released cells");
    kn_status st = read_members(p, body, room, members, fits, err);
    kn_free(room);
    if (st != KN_OK) return st;
    if (!*fits) {
        members->count = start;
        return KN_OK;
    }
    members->count = start + (members->count > start ? sort_codes(members->codes + start, members->count - start) : 0);
    *out = (kn_cell){KN_CELL_SET, (uint32_t)start, (uint32_t)(members->count - start)};
    if (out->b == 1) *out = (kn_cell){KN_CELL_VALUE, members->codes[--members->count], 0};
    return KN_OK;
}

/* ---- Cells ---- */

static kn_status no_cell(kn_error *err)
{
    return kn_fail(err, KN_INPUT, "neither a value, a label of the hierarchy, an interval, a set nor \"*\"");
}

kn_status kn_cell_parse(kn_cell *out, const kn_cell_parser *p, kn_string text, kn_cell_members *members, kn_error *err)
{
    kn_string spelled = text;
    uint32_t  node = text.data ? find_label(p, text) : NONE;
    if (node == NONE && text.size > 0) {
        text = kn_value_trim(text);
        node = find_label(p, text);
    }
    if (node != NONE) {
        *out = (kn_cell){KN_CELL_NODE, smallest_cover(p, node), 0};
        return KN_OK;
    }
    if (text.size == 0) { /* an empty cell may be a value: then missing ones are spelled otherwise */
        uint32_t empty = spelled.data ? find_spelling(p, spelled) : NONE;
        *out = (kn_cell){KN_CELL_VALUE, empty != NONE ? empty : p->column->dict.count, 0};
        return KN_OK;
    }
    if (text.size == 1 && text.data[0] == '*') {
        *out = (kn_cell){KN_CELL_STAR, 0, 0};
        return KN_OK;
    }
    uint32_t code = find_spelling(p, spelled);
    if (code != NONE) {
        *out = (kn_cell){KN_CELL_VALUE, code, 0};
        return KN_OK;
    }
    if (text.size > 2 && text.data[0] == '{' && text.data[text.size - 1] == '}') {
        bool fits;
        KN_TRY(read_set(out, p, (kn_string){text.data + 1, text.size - 2}, members, &fits, err));
        return fits ? KN_OK : no_cell(err);
    }
    interval in;
    if (!is_ordered(p->column) || !read_interval(p, text, &in)) return no_cell(err);
    *out = range_cell(p, &in, members);
    return KN_OK;
}

/* ---- Columns ---- */

/* The cell of a text at a level: `cell` is its reading alone. NONE in `node`: it cannot be of that level. */
static bool fits_level(const kn_cell_parser *p, kn_string text, const kn_cell *cell, uint32_t level, uint32_t *node)
{
    const kn_hierarchy *h = p->h;
    if (cell->kind == KN_CELL_VALUE) {
        *node = h->leaf_of_code[cell->a];
        return kn_hierarchy_ancestor(h, *node, level) == *node;
    }
    if (cell->kind != KN_CELL_NODE) return false;
    uint32_t first = find_label(p, text);
    *node = on_level(p, first != NONE ? first : find_label(p, kn_value_trim(text)), level);
    return *node != NONE;
}

static bool all_fit(const kn_cell_parser *p, const kn_string *texts, const kn_cell *cells, size_t count, uint32_t level)
{
    uint32_t node;
    for (size_t i = 0; i < count; i++)
        if (!fits_level(p, texts[i], &cells[i], level, &node)) return false;
    return true;
}

/* Is the node on one of the levels? */
static bool on_any(const kn_hierarchy *h, uint32_t node, const bool *levels)
{
    for (uint32_t level = 0; level <= h->height; level++)
        if (levels[level] && stands_on(h, node, level)) return true;
    return false;
}

/* A label of several nodes becomes the set of all values that any of them covers. */
static kn_status join_readings(kn_cell *cell, const kn_cell_parser *p, kn_string text, const bool *levels,
                               kn_cell_members *members, kn_error *err)
{
    const kn_hierarchy *h = p->h;
    uint32_t            first = find_label(p, text);
    size_t              start = members->count;
    if (first == NONE) first = find_label(p, kn_value_trim(text));
    if (cell->kind != KN_CELL_NODE || first == NONE || p->next_node[first] == NONE) return KN_OK;
    for (uint32_t code = 0; code <= p->column->dict.count; code++) {
        uint32_t node = first;
        while (node != NONE && !(on_any(h, node, levels) && kn_hierarchy_covers(h, node, h->leaf_of_code[code])))
            node = p->next_node[node];
        if (node == NONE) continue;
        if (members->count >= UINT32_MAX ||
            !KN_GROW(members->ctx, &members->codes, &members->capacity, members->count + 1))
            return kn_fail_memory(err, members->ctx, "reading released cells");
        members->codes[members->count++] = code;
    }
    *cell = (kn_cell){KN_CELL_SET, (uint32_t)start, (uint32_t)(members->count - start)};
    return KN_OK;
}

/* Every reading of the column's labels, on the levels that all texts can be of, or on any. */
static kn_status join_column(kn_cell *cells, const kn_cell_parser *p, const kn_string *texts, size_t count,
                             kn_cell_members *members, kn_error *err)
{
    bool levels[KN_HIERARCHY_MAX_LEVELS + 1], some = false;
    for (uint32_t level = 0; level <= p->h->height; level++) {
        levels[level] = all_fit(p, texts, cells, count, level);
        some = some || levels[level];
    }
    for (uint32_t level = 0; level <= p->h->height && !some; level++) levels[level] = true;
    for (size_t i = 0; i < count; i++) KN_TRY(join_readings(&cells[i], p, texts[i], levels, members, err));
    return KN_OK;
}

kn_status kn_cell_parse_column(kn_cell *cells, int *level, const kn_cell_parser *p, const kn_string *texts,
                               size_t count, kn_cell_members *members, size_t *first_bad, kn_error *err)
{
    if (level) *level = -1;
    for (size_t i = 0; i < count; i++) {
        *first_bad = i;
        KN_TRY(kn_cell_parse(&cells[i], p, texts[i], members, err));
    }
    if (!p->h || count == 0) return KN_OK;
    if (p->foreign) return join_column(cells, p, texts, count, members, err);
    uint32_t found = 0;
    while (found <= p->h->height && !all_fit(p, texts, cells, count, found)) found++;
    if (found > p->h->height) return KN_OK;
    if (level) *level = (int)found;
    for (size_t i = 0; i < count; i++) {
        uint32_t node;
        if (cells[i].kind == KN_CELL_NODE && fits_level(p, texts[i], &cells[i], found, &node)) cells[i].a = node;
    }
    return KN_OK;
}
