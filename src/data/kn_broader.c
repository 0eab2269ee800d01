/* kn_broader.c: the broader rows of references. Interface: kn_broader.h.
 *
 * A group is a value of one of the columns, or a broader row of another reference. Each row begins a path of groups; a group has
 * one group above it for all its rows, or the columns are refused. So a path is one number per row and one per group, and a
 * group's size tells whether it has the rows of the one below.
 *
 * Cost: rows × (groups + columns × depth). Memory: 16 bytes per row and group, a text per cell of the broader rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_broader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_sort.h"
#include "kn_tuple.h"

#define WHAT "reading a reference"

#define TOP 0 /* the group of everything; others are the interner's ids, from 1 */
#define UNKNOWN UINT32_MAX

enum { KEY_TEXT = 40, MOST_KEY = 18 /* digits */ };

typedef struct widening {
    kn_context              *ctx;
    const kn_database       *refs;
    const kn_database_table *t;
    int                      table;
    uint32_t                 rows;
    kn_broader              *out;
    kn_interner              names; /* of groups: level and number */
    size_t                   capacity;
    uint32_t                *up;    /* per group, from 1: the one above; UNKNOWN                */
    uint32_t                *size;  /* per group                                                */
    uint32_t                *least; /* per group: the first of its rows in the order of keys    */
    uint32_t                *first; /* per row: its narrowest group                             */
    uint32_t                *rank;  /* per row: its place in the order of keys                  */
    uint32_t                *place; /* per group: its number among the broader rows; UNKNOWN    */
    uint32_t               **joins; /* per link that climbs: the target's rows; NULL            */
} widening;

void kn_broader_free(kn_broader *b)
{
    if (!b) return;
    kn_arena_free(&b->arena);
    kn_free(b);
}

static kn_status no_memory(const widening *w, kn_error *err)
{
    return kn_fail_memory(err, w->ctx, WHAT);
}

/* ---- Links ---- */

const kn_foreign_key *kn_reference_link(const kn_database_table *t, int column)
{
    for (int i = 0; i < t->foreign_count; i++)
        for (int c = 0; t->foreign[i].reference >= 0 && c < t->foreign[i].column_count; c++)
            if (t->foreign[i].columns[c] == column) return &t->foreign[i];
    return NULL;
}

/* Marks in `seen` the references that one leads to. `stack` has one entry per reference. */
static void reach(const kn_database *refs, int from, bool *seen, int *stack)
{
    int top = 0;
    memset(seen, 0, (size_t)refs->table_count * sizeof *seen);
    stack[top++] = from;
    while (top > 0) {
        const kn_database_table *t = &refs->tables[stack[--top]];
        for (int i = 0; i < t->foreign_count; i++) {
            int next = t->foreign[i].target;
            if (next < 0 || seen[next]) continue;
            seen[next] = true;
            stack[top++] = next;
        }
    }
}

/* A link climbs if it refers by one column to the key of a reference that does not lead back. */
static kn_status find_climbing(kn_database *refs, kn_error *err)
{
    bool *seen = kn_alloc_array(refs->ctx, (size_t)refs->table_count + 1, sizeof *seen);
    int  *stack = kn_alloc_array(refs->ctx, (size_t)refs->table_count + 1, sizeof *stack);
    for (int t = 0; seen && stack && t < refs->table_count; t++)
        for (int i = 0; i < refs->tables[t].foreign_count; i++) {
            kn_foreign_key *f = &refs->tables[t].foreign[i];
            f->climbs = false;
            if (f->target < 0 || f->target == t || f->column_count != 1) continue;
            const kn_database_table *to = &refs->tables[f->target];
            reach(refs, f->target, seen, stack);
            f->climbs = to->key_count == 1 && f->target_columns[0] == to->key[0] && !seen[t];
        }
    bool ok = seen && stack;
    KN_FREE(seen, stack);
    return ok ? KN_OK : kn_fail_memory(err, refs->ctx, WHAT);
}

/* The link of a column that climbs; -1: none. */
static int link_of(const widening *w, int column)
{
    for (int i = 0; i < w->t->foreign_count; i++)
        if (w->joins[i] && w->t->foreign[i].columns[0] == column) return i;
    return -1;
}

/* ---- Keys ---- */

static uint64_t number_of(kn_string text)
{
    uint64_t number = 0;
    if (text.size == 0 || text.size > MOST_KEY || (text.data[0] == '0' && text.size > 1)) return UINT64_MAX;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return UINT64_MAX;
        number = number * 10 + (uint64_t)(text.data[i] - '0');
    }
    return number;
}

static bool is_uuid(kn_string text)
{
    bool good = text.size == 36;
    for (size_t i = 0; good && i < 36; i++) {
        char c = text.data[i];
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        good = dash ? c == '-' : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    }
    return good;
}

static kn_string key_of(const widening *w, uint32_t row)
{
    const kn_column *c = &w->t->table->columns[w->t->key[0]];
    return kn_dictionary_text(&c->dict, kn_column_code(c, row));
}

/* By their keys: codes of a text column are in the order of texts. */
static int compare_keys(const void *arg, uint64_t a, uint64_t b)
{
    const widening *w = arg;
    for (int i = 0; i < w->t->key_count; i++) {
        const kn_column *c = &w->t->table->columns[w->t->key[i]];
        uint32_t         x = kn_column_code(c, (int64_t)a), y = kn_column_code(c, (int64_t)b);
        if (x != y) return x < y ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

static kn_status rank_rows(widening *w, kn_error *err)
{
    kn_sort_record *order = kn_alloc_array(w->ctx, (size_t)w->rows + 1, sizeof *order);
    bool            numbers = w->t->key_count == 1, uuids = numbers && w->rows > 0;
    if (!order) return no_memory(w, err);
    for (uint32_t r = 0; r < w->rows; r++) {
        numbers = numbers && number_of(key_of(w, r)) != UINT64_MAX;
        uuids = uuids && is_uuid(key_of(w, r));
    }
    w->out->kind = numbers ? KN_REFERENCE_NUMBERS : uuids ? KN_REFERENCE_UUIDS : KN_REFERENCE_TEXTS;
    for (uint32_t r = 0; r < w->rows; r++) order[r] = (kn_sort_record){numbers ? number_of(key_of(w, r)) : 0, r};
    kn_status st = kn_sort_records(w->ctx, order, w->rows, compare_keys, w, err);
    for (uint32_t i = 0; st == KN_OK && i < w->rows; i++) w->rank[order[i].id] = i;
    kn_free(order);
    return st;
}

static bool is_key(const widening *w, kn_string text)
{
    const kn_column *c = &w->t->table->columns[w->t->key[0]];
    for (uint32_t v = 0; v < c->dict.count; v++)
        if (kn_string_equal(kn_dictionary_text(&c->dict, v), text)) return true;
    return false;
}

static kn_status name_rows(widening *w, kn_error *err)
{
    kn_broader *b = w->out;
    uint64_t    next = 1;
    for (uint32_t r = 0; b->kind == KN_REFERENCE_NUMBERS && r < w->rows; r++)
        if (number_of(key_of(w, r)) >= next) next = number_of(key_of(w, r)) + 1;
    for (uint32_t g = 0; g < b->count; g++) {
        char text[KEY_TEXT];
        int  size;
        do {
            size = b->kind == KN_REFERENCE_NUMBERS ? snprintf(text, sizeof text, "%" PRIu64, next)
                   : b->kind == KN_REFERENCE_UUIDS
                       ? snprintf(text, sizeof text, "00000000-0000-4000-8000-%012" PRIx64, next)
                       : snprintf(text, sizeof text, "*%" PRIu64, next);
            next++;
        } while (b->kind != KN_REFERENCE_NUMBERS && is_key(w, (kn_string){text, (size_t)size}));
        const char *copy = kn_arena_strndup(&b->arena, text, (size_t)size);
        if (!copy) return no_memory(w, err);
        b->keys[g] = (kn_string){copy, (size_t)size};
    }
    return KN_OK;
}

/* ---- Groups ---- */

static uint32_t group_of(widening *w, uint32_t level, uint32_t number)
{
    uint32_t name[2] = {level, number};
    uint32_t id = kn_intern(&w->names, (kn_string){(const char *)name, sizeof name});
    if (id == KN_ID_FAILED || id < w->capacity) return id;
    size_t     more = w->capacity * 2 + 64;
    uint32_t **arrays[] = {&w->up, &w->size, &w->least};
    for (int i = 0; i < 3; i++) {
        uint32_t *array = kn_realloc_array(w->ctx, *arrays[i], more, sizeof *array);
        if (!array) return KN_ID_FAILED;
        *arrays[i] = array;
        for (size_t g = w->capacity; g < more; g++) array[g] = i == 1 ? 0 : UNKNOWN;
    }
    w->capacity = more;
    return id;
}

/* The next group on a row's path; `below` is where it was, UNKNOWN: at the row itself. */
static kn_status climb(widening *w, uint32_t row, uint32_t *below, uint32_t group, kn_error *err)
{
    uint32_t *to = *below == UNKNOWN ? &w->first[row] : &w->up[*below];
    if (*to != UNKNOWN && *to != group)
        return kn_fail(
            err, KN_INPUT,
            "%s: table \"%s\": groups must be named from the narrowest to the broadest: rows that share a value "
            "of one must share that of the next (groups:)",
            w->refs->source, w->t->name);
    *to = group;
    *below = group;
    if (group == TOP) return KN_OK;
    w->size[group]++;
    if (w->rank[row] < w->least[group]) w->least[group] = w->rank[row];
    return KN_OK;
}

static kn_status walk_row(widening *w, uint32_t row, kn_error *err)
{
    uint32_t below = UNKNOWN;
    for (int i = 0; i < w->t->group_count; i++) {
        const kn_column *c = &w->t->table->columns[w->t->groups[i]];
        uint32_t         code = kn_column_code(c, row);
        int              link = i + 1 == w->t->group_count ? link_of(w, w->t->groups[i]) : -1;
        if (code == c->dict.count) break;
        uint32_t group = group_of(w, (uint32_t)i, code);
        if (group == KN_ID_FAILED) return no_memory(w, err);
        KN_TRY(climb(w, row, &below, group, err));
        uint32_t at = link < 0 ? KN_ROW_NONE : w->joins[link][row];
        if (at >= KN_ROW_MISSING) continue;
        const kn_broader *b = w->refs->tables[w->t->foreign[link].target].broader;
        for (at = b->above[at]; at + 1 < b->count; at = b->above[b->rows + at]) {
            group = group_of(w, (uint32_t)w->t->group_count, at);
            if (group == KN_ID_FAILED) return no_memory(w, err);
            KN_TRY(climb(w, row, &below, group, err));
        }
    }
    return climb(w, row, &below, TOP, err);
}

/* Numbers the groups that are broader than what is below them. */
static kn_status number_groups(widening *w, kn_error *err)
{
    size_t          count = w->names.count;
    kn_sort_record *order = kn_alloc_array(w->ctx, count + 1, sizeof *order);
    size_t          kept = 0;
    w->place = kn_alloc_array(w->ctx, count + 1, sizeof *w->place);
    if (!order || !w->place) {
        kn_free(order);
        return no_memory(w, err);
    }
    for (size_t g = 0; g <= count; g++) w->place[g] = 0;
    for (size_t g = 1; g <= count; g++) /* the one above has the same rows */
        if (w->up[g] != TOP && w->size[w->up[g]] == w->size[g]) w->place[w->up[g]] = UNKNOWN;
    for (size_t g = 1; g <= count; g++)
        if (w->size[g] > 1 && w->place[g] != UNKNOWN)
            order[kept++] = (kn_sort_record){(uint64_t)w->least[g] << 32 | w->size[g], g};
        else
            w->place[g] = UNKNOWN;
    kn_status st = kn_sort_records(w->ctx, order, kept, NULL, NULL, err);
    for (size_t i = 0; st == KN_OK && i < kept; i++) w->place[order[i].id] = (uint32_t)i;
    w->place[TOP] = (uint32_t)kept;
    w->out->count = (uint32_t)kept + 1;
    kn_free(order);
    return st;
}

/* The next numbered group from `group` on. */
static uint32_t numbered(const widening *w, uint32_t group)
{
    while (group != TOP && w->place[group] == UNKNOWN) group = w->up[group];
    return w->place[group];
}

static kn_status place_groups(widening *w, kn_error *err)
{
    kn_broader *b = w->out;
    b->above = kn_arena_array(&b->arena, (size_t)b->rows + b->count, sizeof *b->above);
    b->keys = kn_arena_array(&b->arena, b->count, sizeof *b->keys);
    b->cells =
        kn_arena_array_zero(&b->arena, (size_t)b->count * (size_t)w->t->table->column_count + 1, sizeof *b->cells);
    if (b->arena.failed) return no_memory(w, err);
    for (uint32_t r = 0; r < w->rows; r++) b->above[r] = numbered(w, w->first[r]);
    for (size_t g = 1; g <= w->names.count; g++)
        if (w->place[g] != UNKNOWN) b->above[b->rows + w->place[g]] = numbered(w, w->up[g]);
    b->above[b->rows + b->count - 1] = KN_ROW_NONE;
    return w->t->labels ? KN_OK : name_rows(w, err);
}

/* The value that the rows of each group share, or the label of the group that their targets are in. */
static kn_status label_groups(widening *w, kn_interner *seen, kn_error *err)
{
    kn_broader *b = w->out;
    b->labels = kn_arena_array(&b->arena, b->count, sizeof *b->labels);
    if (!b->labels) return no_memory(w, err);
    b->labels[b->count - 1] = (kn_string){"*", 1};
    for (size_t g = 1; g <= w->names.count; g++) {
        uint32_t name[2]; /* level and number */
        if (w->place[g] == UNKNOWN) continue;
        memcpy(name, w->names.texts[g - 1].data, sizeof name);
        bool             own = name[0] < (uint32_t)w->t->group_count;
        int              column = w->t->groups[own ? (int)name[0] : w->t->group_count - 1];
        const kn_column *c = &w->t->table->columns[column];
        kn_string        text = own ? kn_dictionary_text(&c->dict, name[1])
                                    : w->refs->tables[w->t->foreign[link_of(w, column)].target].broader->labels[name[1]];
        size_t           before = strlen(c->name), between = own ? 2 : 1;
        char            *label = kn_arena_bytes(&b->arena, before + between + text.size + 1);
        if (!label) return no_memory(w, err);
        memcpy(label, c->name, before);
        memcpy(label + before, own ? ": " : ".", between);
        memcpy(label + before + between, text.data, text.size);
        b->labels[w->place[g]] = (kn_string){label, before + between + text.size};
        size_t   known = seen->count;
        uint32_t id = kn_intern_borrowed(seen, b->labels[w->place[g]]);
        if (id == KN_ID_FAILED) return no_memory(w, err);
        if (id <= known && w->t->labels)
            return kn_fail(err, KN_INPUT,
                           "%s: table \"%s\": two of its groups would have the same label; rename one of the columns",
                           w->refs->source, w->t->name);
    }
    return KN_OK;
}

/* ---- What the rows of a group share ---- */

/* The lowest broader row above two, rows or broader rows of another reference. */
static uint32_t common(const kn_broader *b, uint32_t one, uint32_t other)
{
    for (uint32_t a = one; a != KN_ROW_NONE;) {
        for (uint32_t c = other; c != KN_ROW_NONE;) {
            if (a == c) return a;
            c = b->above[c] == KN_ROW_NONE ? KN_ROW_NONE : b->rows + b->above[c];
        }
        a = b->above[a] == KN_ROW_NONE ? KN_ROW_NONE : b->rows + b->above[a];
    }
    return b->rows + b->count - 1;
}

/* What a column shows, so far: a code, a row of the target, UNKNOWN, or that rows differ. */
#define DIFFERENT (UINT32_MAX - 1)

static void share_column(const widening *w, int column, uint32_t *shown)
{
    const kn_column  *c = &w->t->table->columns[column];
    int               link = link_of(w, column);
    const kn_broader *to = link < 0 ? NULL : w->refs->tables[w->t->foreign[link].target].broader;
    const kn_broader *b = w->out;
    for (uint32_t g = 0; g < b->count; g++) shown[g] = UNKNOWN;
    for (uint32_t r = 0; r < w->rows; r++) {
        uint32_t code = kn_column_code(c, r), value = code;
        if (to) value = w->joins[link][r] < KN_ROW_MISSING ? w->joins[link][r] : DIFFERENT;
        if (code == c->dict.count) value = DIFFERENT; /* missing, as what rows do not share */
        for (uint32_t g = b->above[r]; g + 1 < b->count; g = b->above[b->rows + g]) {
            if (shown[g] == UNKNOWN)
                shown[g] = value;
            else if (shown[g] == DIFFERENT || value == DIFFERENT)
                shown[g] = DIFFERENT;
            else if (shown[g] != value)
                shown[g] = to ? common(to, shown[g], value) : DIFFERENT;
        }
    }
}

static void show_column(const widening *w, int column, const uint32_t *shown)
{
    const kn_column         *c = &w->t->table->columns[column];
    int                      link = link_of(w, column), columns = w->t->table->column_count;
    const kn_database_table *to = link < 0 ? NULL : &w->refs->tables[w->t->foreign[link].target];
    for (uint32_t g = 0; g + 1 < w->out->count; g++) {
        kn_string *cell = &w->out->cells[(size_t)g * (size_t)columns + (size_t)column];
        if (shown[g] >= DIFFERENT) continue;
        if (!to) {
            *cell = kn_dictionary_text(&c->dict, shown[g]);
        } else if (shown[g] < to->broader->rows) {
            const kn_column *key = &to->table->columns[to->key[0]];
            *cell = kn_dictionary_text(&key->dict, kn_column_code(key, shown[g]));
        } else if (shown[g] - to->broader->rows + 1 < to->broader->count && !to->labels) {
            *cell = to->broader->keys[shown[g] - to->broader->rows];
        }
        if (!cell->data && cell->size == 0 && !to) cell->data = "";
    }
}

static kn_status fill_cells(widening *w, kn_error *err)
{
    uint32_t *shown = kn_alloc_array(w->ctx, (size_t)w->out->count + 1, sizeof *shown);
    int       columns = w->t->table->column_count;
    if (!shown) return no_memory(w, err);
    for (int c = 0; c < columns; c++) {
        if (c == w->t->key[0]) continue;
        share_column(w, c, shown);
        show_column(w, c, shown);
    }
    kn_free(shown);
    for (uint32_t g = 0; g < w->out->count; g++)
        w->out->cells[(size_t)g * (size_t)columns + (size_t)w->t->key[0]] = w->out->keys[g];
    return KN_OK;
}

/* ---- One reference ---- */

/* What is not said: the column of the only link that climbs. */
static kn_status settle_groups(kn_database *refs, int table, kn_error *err)
{
    kn_database_table *t = &refs->tables[table];
    int                only = -1, links = 0;
    for (int i = 0; t->group_count < 0 && i < t->foreign_count; i++) {
        if (!t->foreign[i].climbs || !kn_reference_copied(&t->columns[t->foreign[i].columns[0]])) continue;
        only = t->foreign[i].columns[0];
        links++;
    }
    for (int i = 0; i < t->group_count; i++)
        if (!kn_reference_copied(&t->columns[t->groups[i]]))
            return kn_fail(err, KN_INPUT, "%s: table \"%s\": column \"%s\" is left out and cannot be one of its groups",
                           refs->source, t->name, t->table->columns[t->groups[i]].name);
    if (t->group_count >= 0) return KN_OK;
    t->groups = kn_alloc_array(refs->ctx, 1, sizeof *t->groups);
    if (!t->groups) return kn_fail_memory(err, refs->ctx, WHAT);
    t->groups[0] = only;
    t->group_count = links == 1;
    return KN_OK;
}

static kn_status prepare(widening *w, kn_error *err)
{
    size_t n = (size_t)w->rows + 1;
    kn_arena_init(&w->out->arena, w->ctx);
    w->out->rows = w->rows;
    w->first = kn_alloc_array(w->ctx, n, sizeof *w->first);
    w->rank = kn_alloc_array(w->ctx, n, sizeof *w->rank);
    w->joins = kn_alloc_array_zero(w->ctx, (size_t)w->t->foreign_count + 1, sizeof *w->joins);
    if (!w->first || !w->rank || !w->joins) return no_memory(w, err);
    memset(w->first, 0xff, n * sizeof *w->first);
    for (int i = 0; i < w->t->foreign_count; i++)
        if (w->t->foreign[i].climbs) KN_TRY(kn_database_join(&w->joins[i], w->refs, w->table, i, NULL, err));
    return rank_rows(w, err);
}

static kn_status widen(kn_database *refs, int table, kn_error *err)
{
    kn_database_table *t = &refs->tables[table];
    if (t->broader) return KN_OK;
    for (int i = 0; i < t->foreign_count; i++)
        if (t->foreign[i].climbs) KN_TRY(widen(refs, t->foreign[i].target, err));
    KN_TRY(settle_groups(refs, table, err));
    widening    w = {.ctx = refs->ctx, .refs = refs, .t = t, .table = table, .rows = (uint32_t)t->table->rows};
    kn_interner seen; /* labels */
    w.out = t->broader = kn_alloc_zero(refs->ctx, sizeof *w.out);
    if (!w.out) return no_memory(&w, err);
    kn_interner_init(&w.names, refs->ctx);
    kn_interner_init(&seen, refs->ctx);
    kn_status st = prepare(&w, err);
    for (uint32_t r = 0; st == KN_OK && r < w.rows; r++) st = walk_row(&w, r, err);
    if (st == KN_OK) st = number_groups(&w, err);
    if (st == KN_OK) st = place_groups(&w, err);
    if (st == KN_OK) st = label_groups(&w, &seen, err);
    if (st == KN_OK && !t->labels) st = fill_cells(&w, err);
    for (int i = 0; w.joins && i < t->foreign_count; i++) kn_free(w.joins[i]);
    KN_FREE(w.joins, w.first, w.rank, w.place, w.up, w.size, w.least);
    kn_interner_free(&w.names);
    kn_interner_free(&seen);
    return st;
}

/* A column that refers to two rows could show only one of two broader rows, and one of a key has new values. */
static kn_status check_columns(const kn_database *db, int table, int link, kn_error *err)
{
    const kn_database_table *t = &db->tables[table];
    const kn_foreign_key    *f = &t->foreign[link];
    for (int i = 0; i < f->column_count; i++) {
        bool twice = t->columns[f->columns[i]].foreign || t->columns[f->columns[i]].joined;
        for (int o = 0; o < t->foreign_count; o++)
            for (int c = 0; o != link && t->foreign[o].reference >= 0 && c < t->foreign[o].column_count; c++)
                twice = twice || t->foreign[o].columns[c] == f->columns[i];
        if (twice)
            return kn_fail(err, KN_INPUT,
                           "%s: table \"%s\", column \"%s\" is part of two foreign keys, of which one refers to the "
                           "reference \"%s\"; leave one of them out by a column that only it has (ignore: [...])",
                           db->source, t->name, t->table->columns[f->columns[i]].name, f->target_name);
    }
    return KN_OK;
}

/* The rows that a release adds to a reference, and to those whose broader rows these show. */
static void want_rows(kn_database *refs, int table, bool direct)
{
    kn_database_table *t = &refs->tables[table];
    if (t->labels) return;
    t->broader->added = direct || t->broader->added == t->broader->count ? t->broader->count : t->broader->count - 1;
    if (t->broader->wanted) return;
    t->broader->wanted = true;
    for (int i = 0; i < t->foreign_count; i++)
        if (t->foreign[i].climbs) want_rows(refs, t->foreign[i].target, false);
}

kn_status kn_references_widen(kn_database *db, kn_error *err)
{
    kn_database *refs = db->references;
    if (!refs) return KN_OK;
    KN_TRY(find_climbing(refs, err));
    for (int t = 0; t < db->table_count; t++)
        for (int i = 0; i < db->tables[t].foreign_count; i++) {
            int to = db->tables[t].foreign[i].reference;
            if (to < 0) continue;
            KN_TRY(check_columns(db, t, i, err));
            if (refs->tables[to].key_count > 1) refs->tables[to].labels = true;
        }
    for (int t = 0; t < db->table_count; t++)
        for (int i = 0; i < db->tables[t].foreign_count; i++) {
            int to = db->tables[t].foreign[i].reference;
            if (to < 0) continue;
            KN_TRY(widen(refs, to, err));
            want_rows(refs, to, true);
        }
    return KN_OK;
}

/* ---- Quasi-identifiers ---- */

kn_status kn_table_new_name(char **out, kn_context *ctx, const kn_table *table, const char *name, const char *ending,
                            kn_error *err)
{
    size_t end = strlen(name) + strlen(ending), most = end + (size_t)table->column_count + 1;
    *out = kn_alloc(ctx, most + 1);
    if (!*out) return kn_fail_memory(err, ctx, WHAT);
    snprintf(*out, most, "%s%s", name, ending);
    for (; kn_table_find(table, *out) >= 0; end++) memcpy(*out + end, "_", 2);
    return KN_OK;
}

kn_status kn_reference_prepare(kn_database *db, int table, int column, kn_error *err)
{
    kn_database_table    *t = &db->tables[table];
    const kn_foreign_key *f = kn_reference_link(t, column);
    if (!db->references->tables[f->reference].labels) return KN_OK;
    if (f->column_count > 1 && t->columns[column].whole < 0) {
        KN_TRY(kn_tuple_column(db->ctx, t->table, f->columns, f->column_count, -1, err));
        for (int i = 0; i < f->column_count; i++) {
            t->columns[f->columns[i]].whole = column;
            t->columns[f->columns[i]].part = i;
        }
    }
    kn_free(t->columns[column].label);
    return kn_table_new_name(&t->columns[column].label, db->ctx, t->table, t->table->columns[column].name, "_label",
                             err);
}

/* ---- The hierarchy ---- */

static kn_status add_path(kn_hierarchy_maker *m, const kn_database_table *t, uint32_t row, kn_buffer *room,
                          kn_error *err)
{
    const kn_broader *b = t->broader;
    kn_path_field     path[KN_HIERARCHY_MAX_LEVELS];
    uint32_t          count = 0;
    (void)kn_tuple_text(room, t->table, t->key, t->key_count, row); /* no key is missing */
    if (room->failed) return kn_fail_memory(err, b->arena.ctx, WHAT);
    path[count++] = (kn_path_field){{room->data ? room->data : "", room->size}, 0, 0};
    for (uint32_t g = b->above[row]; g != KN_ROW_NONE && count < KN_HIERARCHY_MAX_LEVELS; g = b->above[b->rows + g])
        path[count++] = (kn_path_field){t->labels ? b->labels[g] : b->keys[g], 0, 0};
    return kn_hierarchy_maker_add(m, path, count, err);
}

kn_status kn_reference_hierarchy(kn_hierarchy **out, const kn_database *db, int table, int column, kn_error *err)
{
    const kn_database_table *t = &db->tables[table],
                            *to = &db->references->tables[kn_reference_link(t, column)->reference];
    kn_hierarchy_maker *m = NULL;
    uint32_t           *leaves = NULL, lacking = 0;
    KN_TRY(kn_hierarchy_maker_create(&m, db->ctx, to->name, false, err));
    kn_status st = KN_OK;
    kn_buffer room;
    kn_buffer_init(&room, db->ctx);
    for (uint32_t r = 0; st == KN_OK && r < to->broader->rows; r++) st = add_path(m, to, r, &room, err);
    kn_buffer_free(&room);
    KN_TRY(kn_hierarchy_maker_finish(out, m, NULL, st, err));
    KN_TRY(kn_hierarchy_find_leaves(&leaves, &lacking, *out, &t->table->columns[column], '.', err));
    if (lacking == 0) return kn_hierarchy_set_leaves(*out, &t->table->columns[column], leaves, err);
    kn_free(leaves);
    return kn_fail(err, KN_INPUT,
                   "%s: table \"%s\", column \"%s\": %" PRIu32
                   " %s no row of the reference \"%s\"; add the rows, or leave "
                   "the link out (ignore:)",
                   db->source, t->name, t->table->columns[column].name, lacking,
                   lacking == 1 ? "value refers to" : "values refer to", to->name);
}
